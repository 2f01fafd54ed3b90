"""The same sources give the same wheels, whenever and wherever they are built; locked.txt has the versions of constraints.txt."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BUILT = ("pyproject.toml", "README.md", "LICENSE", "dpspec", "plugins", "packaging")

pytest.importorskip("flit_core")


def build(checkout: Path, target: Path, **environment: str) -> dict[str, str]:
    """The SHA-256 of each wheel that the script builds from a checkout."""
    inherited = {key: value for key, value in os.environ.items() if key != "SOURCE_DATE_EPOCH"}
    command = [sys.executable, str(checkout / "packaging" / "wheels.py"), str(target)]
    subprocess.run(command, check=True, capture_output=True, env={**inherited, **environment})
    return {wheel.name: hashlib.sha256(wheel.read_bytes()).hexdigest() for wheel in target.glob("*.whl")}


def other_checkout(folder: Path) -> Path:
    """The same sources in another place, with other dates and bytecode beside them."""
    folder.mkdir()
    ignored = shutil.ignore_patterns("__pycache__", "tests")
    for name in BUILT:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=ignored, copy_function=shutil.copyfile)
        else:
            shutil.copyfile(source, folder / name)
    for place, path in enumerate(sorted(folder.rglob("*.py"))):
        os.utime(path, (10**9 + place, 10**9 + place))
    bytecode = folder / "dpspec" / "__pycache__"
    bytecode.mkdir()
    (bytecode / "left.cpython-311.pyc").write_bytes(b"left behind")
    return folder


@pytest.mark.slow
def test_wheels_are_the_same_bytes(tmp_path: Path) -> None:
    first = build(ROOT, tmp_path / "first", TZ="Asia/Tokyo")
    checkout = other_checkout(tmp_path / "checkout")
    second = build(checkout, tmp_path / "second", TZ="America/Lima", LC_ALL="C", PYTHONHASHSEED="7")
    assert len(first) == 1 + len(list((ROOT / "plugins").glob("*/pyproject.toml")))
    assert first == second
    sums = (tmp_path / "first" / "SHA256SUMS").read_text(encoding="utf-8")
    assert sums == "".join(f"{first[name]}  {name}\n" for name in sorted(first))
    dated = build(checkout, tmp_path / "dated", SOURCE_DATE_EPOCH="1700000000")
    assert set(dated.values()).isdisjoint(first.values())
    with zipfile.ZipFile(next((tmp_path / "dated").glob("dpspec-*.whl"))) as wheel:
        assert {entry.date_time[0] for entry in wheel.infolist()} == {2023}


def versions(path: Path) -> dict[str, str]:
    found = re.findall(r"^([A-Za-z0-9_.-]+)==([^\s;\\]+)", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[-_.]+", "-", name).lower(): version for name, version in found}


def test_locked_versions_are_those_of_the_constraints() -> None:
    assert versions(ROOT / "packaging" / "locked.txt") == versions(ROOT / "constraints.txt")


def test_every_locked_version_has_hashes_and_no_address() -> None:
    text = (ROOT / "packaging" / "locked.txt").read_text(encoding="utf-8")
    entries = re.split(r"^(?=[A-Za-z0-9])", re.sub(r"^#.*\n", "", text, flags=re.MULTILINE), flags=re.MULTILINE)[1:]
    assert len(entries) > 100
    assert all(re.search(r"--hash=sha256:[0-9a-f]{64}\b", entry) for entry in entries)
    assert "://" not in text
