"""The sides of a diff that are git revisions: read from the object database, and nothing of the repository is run or changed."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from dpspec_guard.sources import RevisionError, sides

import dpspec as dp

STRONG = Path("specs/randomised-response.dpspec.toml").read_text(encoding="utf-8")
WEAK = STRONG.replace('epsilon = "ln(3)"', 'epsilon = "ln(4)"')


def git(place, *words):
    set_by_hand = {"HOME": str(place), "GIT_CONFIG_NOSYSTEM": "1", "PATH": os.environ["PATH"]}
    names = ["-c", "user.name=n", "-c", "user.email=n@example.org", "-c", "init.defaultBranch=main", "-c", "commit.gpgsign=false"]
    return subprocess.run(["git", *names, *words], cwd=place, check=True, capture_output=True, env=set_by_hand).stdout.decode()


def commit(place, message):
    git(place, "add", "-A")
    git(place, "commit", "-qm", message)


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """main with a strong promise; a branch that weakens it; and main then has another file, which the branch lacks."""
    git(tmp_path, "init", "-q")
    inner = tmp_path / "specs" / "inner"
    inner.mkdir(parents=True)
    (inner / "a.dpspec.toml").write_text(STRONG, encoding="utf-8")
    (tmp_path / "notes.toml").write_text("a = 1", encoding="utf-8")
    commit(tmp_path, "strong")
    git(tmp_path, "checkout", "-qb", "branch")
    (inner / "a.dpspec.toml").write_text(WEAK, encoding="utf-8")
    commit(tmp_path, "weak")
    git(tmp_path, "checkout", "-q", "main")
    other = STRONG.replace('"randomised-response"\ntitle', '"b"\ntitle')
    (tmp_path / "specs" / "b.dpspec.toml").write_text(other, encoding="utf-8")
    commit(tmp_path, "b")
    git(tmp_path, "checkout", "-q", "branch")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def files(*given):
    return [{name: file.content for name, file in side.files.items()} for side in sides(given)]


def test_a_range_reads_both_revisions(repository):
    old, new = files("main..branch")
    assert [*old] == ["specs/b.dpspec.toml", "specs/inner/a.dpspec.toml"]
    assert (old["specs/inner/a.dpspec.toml"], new["specs/inner/a.dpspec.toml"]) == (STRONG.encode(), WEAK.encode())
    assert [*new] == ["specs/inner/a.dpspec.toml"]


def test_a_range_of_three_dots_begins_at_the_merge_base(repository):
    assert [[*side] for side in files("main...branch")] == [["specs/inner/a.dpspec.toml"]] * 2
    found = dp.diff("main...branch")
    (row,), (finding,) = found["changes"], found["findings"]
    assert (row["title"], row["effect"], finding["file"]) == ("specs/inner/a.dpspec.toml", "weaker", "specs/inner/a.dpspec.toml")


def test_an_end_that_is_left_out_is_head(repository):
    assert files("main..") == files("main..HEAD")


def test_a_revision_against_a_folder_and_against_a_file(repository):
    assert [[*side] for side in files("main", "specs")] == [["b.dpspec.toml", "inner/a.dpspec.toml"], ["inner/a.dpspec.toml"]]
    assert files("main", "specs/inner/a.dpspec.toml") == [{"": STRONG.encode()}, {"": WEAK.encode()}]
    assert files("specs/inner/a.dpspec.toml", "main") == [{"": WEAK.encode()}, {"": STRONG.encode()}]


def test_paths_restrict_a_range(repository):
    assert [[*side] for side in files("main..branch", "specs/inner")] == [["a.dpspec.toml"]] * 2
    assert [[*side] for side in files("main..branch", "specs/inner", "specs/b.dpspec.toml")] == [
        ["specs/b.dpspec.toml", "specs/inner/a.dpspec.toml"], ["specs/inner/a.dpspec.toml"],
    ]  # fmt: skip


def test_the_working_folder_may_be_inside_the_repository(repository, monkeypatch):
    monkeypatch.chdir(repository / "specs")
    assert files("main..branch", "inner") == [{"a.dpspec.toml": STRONG.encode()}, {"a.dpspec.toml": WEAK.encode()}]


def test_nothing_is_checked_out_and_no_program_of_the_repository_runs(repository):
    marker = repository / "ran"
    program = f"sh -c 'touch {marker}; cat'"
    (repository / ".gitattributes").write_text("*.toml filter=x diff=x\n", encoding="utf-8")
    for key in ("filter.x.smudge", "filter.x.clean", "diff.x.textconv", "core.fsmonitor", "core.pager"):
        git(repository, "config", key, program)
    (repository / ".git" / "hooks" / "post-checkout").write_text(f"#!/bin/sh\ntouch {marker}\n", encoding="utf-8")
    before = {path: path.stat().st_mtime_ns for path in repository.rglob("*") if path.is_file()}
    assert dp.diff("main..branch").exit_code == 1
    assert not marker.exists()
    assert before == {path: path.stat().st_mtime_ns for path in repository.rglob("*") if path.is_file()}


@pytest.mark.parametrize("given", ["nobody..branch", "main..nobody", "--output=x..branch", "..nobody", "main..-x"])
def test_what_is_no_revision_is_refused(repository, given):
    with pytest.raises(RevisionError):
        sides([given])
    assert not (repository / "x").exists()


def test_outside_of_a_repository(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    with pytest.raises(RevisionError):
        sides(["main..HEAD"])


def test_a_link_in_git_is_not_followed(repository):
    (repository / "specs" / "inner" / "a.dpspec.toml").unlink()
    (repository / "specs" / "inner" / "a.dpspec.toml").symlink_to("/etc/hostname")
    commit(repository, "link")
    found = dp.diff("main...branch")
    assert (found.exit_code, found["findings"][0]["code"]) == (2, "unreadable")


def test_a_large_file_is_not_read(repository):
    (repository / "specs" / "inner" / "a.dpspec.toml").write_text("#" * 1_000_001, encoding="utf-8")
    commit(repository, "large")
    found = dp.diff("main...branch")
    assert (found.exit_code, "larger than 1,000,000" in found["findings"][0]["message"]) == (2, True)


def test_names_with_blanks_and_letters(repository):
    name = "wöchentlich, neu\n.dpspec.toml"
    (repository / "specs" / name).write_text(STRONG, encoding="utf-8")
    commit(repository, "name")
    assert f"specs/{name}" in files("main..branch")[1]


def test_hidden_folders_are_left_out_on_both_sides(repository):
    (repository / ".hidden").mkdir()
    (repository / ".hidden" / "c.dpspec.toml").write_text(STRONG, encoding="utf-8")
    commit(repository, "hidden")
    assert all(".hidden/c.dpspec.toml" not in side for side in files("branch", "."))


def test_without_git(repository, monkeypatch):
    monkeypatch.setenv("PATH", str(repository))
    with pytest.raises(RevisionError, match="is not installed"):
        sides(["main..branch"])
