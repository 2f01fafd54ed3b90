"""Signed exports: every other text of the rows, of the signature or of the key is refused."""

from __future__ import annotations

import json
import random
import shutil
import subprocess

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)
from dpspec_accounts.account import Account

from .test_verification import rechained, written


def private(path, key=None, protection=None):
    key = key or Ed25519PrivateKey.generate()
    path.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, protection or NoEncryption()))
    public = path.with_suffix(".public")
    public.write_bytes(key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    return path, public


@pytest.fixture
def signed(tmp_path, write, run):
    """An account that has spent 2, its signed export, and the public key."""
    account = Account.create(tmp_path / "a.db", write("year", epsilon="3"), as_promised=True)
    for _ in range(2):
        account.charge(write("week", epsilon="1"), {"table.csv": "ab" * 32})
    key, public = private(tmp_path / "key.pem")
    found = run("account", "export", tmp_path / "a.db", "--out", tmp_path / "e.json", "--sign", key, "--format", "json")
    assert found.json("account-export")["signed_by"] is not None
    return tmp_path / "e.json", public


def test_a_signed_export_is_that_of_its_key(signed, run):
    export, public = signed
    found = run("account", "verify", export, "--signed-by", public, "--format", "json").json("account-verify")
    assert (found["signer_expected"], len(found["signed_by"])) == (True, 64)
    assert "signed by the expected key" in run("account", "verify", export, "--signed-by", public).out
    assert "whose that is, an export does not show" in " ".join(run("account", "verify", export).out.split())


def forged(export, change):
    data = json.loads(export.read_text(encoding="utf-8"))
    change(data)
    export.write_text(json.dumps(data), encoding="utf-8")


def other_files(data):
    body = json.loads(data["events"][3]["body"])
    body["files"]["table.csv"] = "cd" * 32
    data["events"][3]["body"] = written(body)
    data["events"] = rechained(data["events"])


FORGERIES = {
    "the last charge is cut off": lambda data: data.update(events=data["events"][:4]),
    "all charges are cut off": lambda data: data.update(events=data["events"][:1]),
    "another hash of a file, with a new chain": other_files,
    "no signature": lambda data: data.pop("signature"),
    "an empty signature": lambda data: data.update(signature={}),
    "another signature": lambda data: data["signature"].update(value="0" * 128),
    "a signature that is no text": lambda data: data["signature"].update(value=None),
    "a short signature": lambda data: data["signature"].update(value="ab"),
    "another key": lambda data: data["signature"].update(public_key="ab" * 32),
    "one field more": lambda data: data["signature"].update(more="x"),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forgery_is_refused(signed, run, name):
    export, public = signed
    forged(export, FORGERIES[name])
    ran = run("account", "verify", export, "--signed-by", public)
    assert (ran.code, ran.out, ran.err.count("\n")) == (1, "", 1)
    assert "signature" in ran.err


def test_a_forger_signs_with_a_key_of_his_own(signed, tmp_path, run):
    export, public = signed
    key, own = private(tmp_path / "own.pem")
    again = run("account", "export", tmp_path / "a.db", "--out", export, "--sign", key)
    assert again.code == 0
    assert run("account", "verify", export, "--signed-by", own).code == 0
    assert "is that of another key" in run("account", "verify", export, "--signed-by", public).err


@pytest.mark.slow
def test_random_changes_of_a_signed_export_are_all_refused(signed, run):
    """400 changes of one character, of which those that leave the data as they are do not count."""
    export, public = signed
    text, source, refused = export.read_text(encoding="utf-8"), random.Random(7), 0
    data = json.loads(text)
    for _ in range(400):
        place = source.randrange(len(text))
        other = text[:place] + chr(source.randrange(32, 127)) + text[place + 1 :]
        try:
            same = json.loads(other) == data
        except ValueError:
            same = False
        export.write_text(other, encoding="utf-8")
        code = run("account", "verify", export, "--signed-by", public).code
        assert code == 0 if same else code in (1, 2)
        refused += not same
    assert refused > 300


@pytest.mark.parametrize("kind", ["missing", "empty", "text", "public", "elliptic", "password", "folder"])
def test_what_is_no_key(signed, tmp_path, run, kind):
    export, public = signed
    path = tmp_path / "bad.pem"
    if kind in ("empty", "text"):
        text = "-----BEGIN PRIVATE KEY-----\nx\n-----END PRIVATE KEY-----\n"
        path.write_text("" if kind == "empty" else text, encoding="utf-8")
    elif kind == "public":
        path = public
    elif kind == "elliptic":
        private(path, generate_private_key(SECP256R1()))
    elif kind == "password":
        private(path, protection=BestAvailableEncryption(b"hunter2"))
    elif kind == "folder":
        path.mkdir()
    before = export.read_bytes()
    calls = [("export", tmp_path / "a.db", "--out", export, "--sign", path)]
    calls += [("verify", export, "--signed-by", path)] if kind != "public" else []
    for call in calls:
        ran = run("account", *call)
        assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert export.read_bytes() == before


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")
def test_the_commands_that_make_a_key(tmp_path, write, run):
    for words in ("genpkey -algorithm ed25519 -out key.pem", "pkey -in key.pem -pubout -out public.pem"):
        subprocess.run(["openssl", *words.split()], cwd=tmp_path, check=True, capture_output=True)
    Account.create(tmp_path / "a.db", write("year", epsilon="3"))
    assert run("account", "export", tmp_path / "a.db", "--out", tmp_path / "e.json", "--sign", tmp_path / "key.pem").code == 0
    assert run("account", "verify", tmp_path / "e.json", "--signed-by", tmp_path / "public.pem").code == 0
