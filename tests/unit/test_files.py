"""Files are written whole or not at all, and what is no file is not read."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from dpspec.base.errors import NotAFileError, ReleaseError, UnreadableFileError
from dpspec.base.files import (
    IS_WINDOWS,
    check_regular,
    flags,
    private_folder,
    read_bytes,
    whole,
    write_bytes,
    write_folder,
    write_whole,
)

on_posix = pytest.mark.skipif(IS_WINDOWS, reason="Windows has no such files")


def test_a_file_is_read_as_far_as_asked(tmp_path: Path) -> None:
    path = tmp_path / "some"
    path.write_bytes(b"12345")
    assert [read_bytes(path, most) for most in (None, 2, 4, 5, 6)] == [b"12345", b"123", b"12345", b"12345", b"12345"]


@on_posix
def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(NotAFileError):
        read_bytes(tmp_path / "pipe")
    with pytest.raises(NotAFileError):
        check_regular(tmp_path / "pipe")
    with pytest.raises(NotAFileError):
        read_bytes(tmp_path)
    with pytest.raises(UnreadableFileError):
        read_bytes(tmp_path / "none")
    with pytest.raises(UnreadableFileError):
        check_regular(tmp_path / "no\0name")


def test_what_fails_while_it_is_written_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "file"
    write_whole(path, "old")

    def failing() -> None:
        with whole(path) as part:
            part.write_text("half")
            assert path.read_text() == "old"
            raise KeyError

    with pytest.raises(KeyError):
        failing()
    assert path.read_text() == "old"
    write_bytes(path, b"new")
    assert path.read_bytes() == b"new"
    assert os.listdir(path.parent) == ["file"]


@on_posix
def test_modes_and_leftovers(tmp_path: Path) -> None:
    dead, alive = (tmp_path / f".{'0' * 16}.{process}.part" for process in (2**22 + 5, os.getpid()))
    for left in (dead, alive):
        left.write_text("")
    with whole(tmp_path / "secret", mode=0o640) as part:
        assert stat.S_IMODE(part.stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "secret").stat().st_mode) == 0o640
    assert (dead.exists(), alive.exists()) == (False, True)


def test_a_folder_appears_with_all_its_files_or_not_at_all(tmp_path: Path) -> None:
    write_folder(tmp_path / "new" / "here", {"a": "1", "b/c": "2"})
    assert (tmp_path / "new" / "here" / "b" / "c").read_text() == "2"
    with pytest.raises(ReleaseError, match="exists already"):
        write_folder(tmp_path / "new" / "here", {"a": "3"})
    with pytest.raises(ReleaseError, match="cannot be written"):
        write_folder(tmp_path / "other", {"a": "1", "a/b": "2"})
    assert sorted(os.listdir(tmp_path)) == ["new"]
    with pytest.raises(ReleaseError):
        write_bytes(tmp_path / "new" / "here", b"a folder is there")


@on_posix
def test_a_private_folder_is_for_its_owner_and_no_link(tmp_path: Path) -> None:
    (tmp_path / "open").mkdir(mode=0o755)
    private_folder(tmp_path / "open")
    assert stat.S_IMODE((tmp_path / "open").stat().st_mode) == 0o700
    (tmp_path / "link").symlink_to(tmp_path / "open")
    with pytest.raises(ReleaseError):
        private_folder(tmp_path / "link")


def test_unknown_flags_are_left_out() -> None:
    assert flags("O_WRONLY", "O_CREAT", "O_NOTHING") == os.O_WRONLY | os.O_CREAT
