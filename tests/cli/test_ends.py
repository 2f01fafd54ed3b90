"""However a command ends, it says so in one line with a code of its own, and never with 1, which means refuted."""

from __future__ import annotations

import errno
import os
import signal
import socket
import subprocess
import sys

import pytest
from click.testing import CliRunner

from dpspec.base.errors import CheckpointError, NotAFileError
from dpspec.base.files import read_bytes, whole
from dpspec.cli import main
from dpspec.grammar.workers import Folder

LONG = "a" * 300


class PanicException(BaseException):
    """As a library raises it that was written in Rust."""


def one_line(code, err):
    assert code in (2, 4)
    assert err.count("\n") == 1
    assert "Traceback" not in err


@pytest.mark.parametrize(("problem", "code", "said"), [
    (PanicException("cell 4711"), 4, "library: panicked (PanicException in test_ends.py"),
    (SystemExit(1), 4, "library: ended the process"), (GeneratorExit(), 4, "library: ended the process"),
    (MemoryError(), 4, "memory: is full"), (RecursionError(), 4, "is at fault"),
    (ZeroDivisionError("cell 4711"), 4, "dpspec: is at fault (ZeroDivisionError in test_ends.py"),
    (OSError(errno.ENOSPC, "No space left on device"), 4, "system: refused (No space left on device)"),
    (PermissionError(errno.EACCES, "Permission denied", "x"), 2, "file=x: cannot be used (Permission denied)"),
    (OSError(errno.EROFS, "Read-only file system", "x"), 2, "file=x: cannot be used (Read-only file system)"),
])  # fmt: skip
def test_what_nobody_foresees_is_told_in_one_line(monkeypatch, response, problem, code, said):
    def broken(*_: object, **__: object) -> None:
        raise problem

    monkeypatch.setattr("dpspec.verifier.document.verify_document", broken)
    ended = CliRunner().invoke(main, ["verify", str(response())])
    one_line(ended.exit_code, ended.stderr)
    assert ended.exit_code == code
    assert said in ended.stderr
    assert "4711" not in ended.stderr


def test_a_plugin_that_ends_the_process_is_named(monkeypatch, response):
    monkeypatch.setattr("dpspec.verifier.document.verify_document", lambda *_, **__: sys.exit(0))
    monkeypatch.setattr("dpspec.cli.framework.plugin_of", lambda problem: ("strange", "__init__.py, line 7"))
    ended = CliRunner().invoke(main, ["verify", str(response())])
    one_line(ended.exit_code, ended.stderr)
    assert "plugin strange: ended the process (__init__.py, line 7)" in ended.stderr


COMMANDS = [
    ["check"], ["verify"], ["lint"], ["ledger"], ["compose", "--delta", "1e-6"], ["compare", "@"], ["check-derivation"],
    ["verify", "--replay"], ["explain"],
]  # fmt: skip


@pytest.fixture(params=["pipe", "socket", "device", "long"])
def odd(request, tmp_path):
    path = tmp_path / "odd"
    if request.param == "pipe":
        os.mkfifo(path)
    if request.param == "socket":
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(str(path))
            yield path
        return
    yield {"device": "/dev/zero", "long": tmp_path / LONG}.get(request.param, path)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_what_is_no_file_is_refused_by_every_command(run, odd, command):
    ran = run(*[odd if word == "@" else word for word in command], odd)
    assert ran.code == 2
    assert "Traceback" not in ran.err


@pytest.mark.spread(1)
def test_a_table_that_is_no_file_is_refused(run, specs, odd, tmp_path):
    ran = run("release", specs / "swapping-1940-massachusetts.dpspec.toml", odd, "--out", tmp_path / "out")
    one_line(ran.code, ran.err)
    assert not (tmp_path / "out.confidential").exists()


def test_a_pipe_is_not_waited_for_and_not_written_over(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(NotAFileError):
        read_bytes(tmp_path / "pipe")
    with pytest.raises(OSError, match="is no file"), whole(tmp_path / "pipe"):
        pass


@pytest.mark.parametrize("damage", [b"", b"PK\x03\x04", b"\x00" * 100])
@pytest.mark.parametrize("name", ["run.json", "key", "one.npz"])
def test_a_damaged_checkpoint_is_told(tmp_path, name, damage):
    import numpy as np

    folder = Folder(tmp_path / "f", {"table": "t"})
    folder.begin(bytes(32))
    folder.save("one", {"counts": np.arange(5)})
    (tmp_path / "f" / name).write_bytes(damage)
    with pytest.raises(CheckpointError, match="is damaged"):
        folder.load("one") if name == "one.npz" else folder.resume()


def test_a_stage_may_have_any_name(tmp_path):
    import numpy as np

    folder = Folder(tmp_path / "f", {})
    folder.begin(bytes(32))
    for name in (LONG, "../../x", "a/b", "\x00"):
        folder.save(name, {"counts": np.arange(len(name))})
        assert len(folder.load(name)["counts"]) == len(name)
    assert [path.name for path in tmp_path.iterdir()] == ["f"]


@pytest.mark.spread(1)
@pytest.mark.parametrize(("shell", "codes"), [
    ("{} explain syntax > /dev/full", (4,)), ("{} plugins >&-", (0,)), ("{} --help > /dev/full", (4,)),
    ("{} nonsense", (2,)),
])  # fmt: skip
def test_an_output_that_takes_nothing_is_no_refutation(shell, codes):
    command = shell.format(f'"{sys.executable}" -m dpspec')
    ended = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert ended.returncode in codes
    assert "Traceback" not in ended.stderr


def test_an_interruption_while_it_starts_is_no_refutation(monkeypatch):
    def stopped(*_: object, **__: object) -> None:
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr("click.Group.make_context", stopped)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell in the background has it ignored
    try:
        assert CliRunner().invoke(main, ["check", "x"]).exit_code == 130
    finally:
        signal.signal(signal.SIGINT, before)
