"""A lock of specification files as a pytest item; in processes of their own, as locks need modules that other tests do not."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytest_plugins = "pytester"
LOCKED = ("-p", "no:xdist", "-o", "dpspec_locked=true", "-o", "dpspec_specs=false")


@pytest.fixture(scope="module")
def lock(tmp_path_factory, spec):
    """The lock of the specification of these tests, which is made once."""
    folder = tmp_path_factory.mktemp("lock")
    (folder / "warner.dpspec.toml").write_text(spec(), encoding="utf-8")
    subprocess.run([sys.executable, "-m", "dpspec", "lock", "warner.dpspec.toml"], cwd=folder, check=True)
    return (folder / "dpspec.lock").read_bytes()


@pytest.fixture
def locked(project, spec, lock):
    """A project with the specification and its lock."""
    pytester = project(warner=spec())
    (pytester.path / "dpspec.lock").write_bytes(lock)
    return pytester


def test_a_lock_is_an_item_where_it_is_asked_for(locked):
    locked.runpytest_subprocess("-v", *LOCKED).stdout.fnmatch_lines(["dpspec.lock::locked PASSED*"])
    assert "dpspec.lock" not in locked.runpytest("-v", "-p", "no:xdist").stdout.str()


def test_a_result_that_became_worse_fails_with_its_file(locked, spec):
    (locked.path / "warner.dpspec.toml").write_text(spec(epsilon="1"), encoding="utf-8")
    run = locked.runpytest_subprocess("-v", *LOCKED)
    run.assert_outcomes(failed=1)
    run.stdout.fnmatch_lines(["*warner.dpspec.toml*"])
    assert "Traceback" not in run.stdout.str()


def test_a_file_that_is_no_lock_fails(project, spec):
    pytester = project(warner=spec())
    (pytester.path / "dpspec.lock").write_text("nonsense\n", encoding="utf-8")
    run = pytester.runpytest_subprocess("-v", *LOCKED)
    run.assert_outcomes(failed=1)
    assert "Traceback" not in run.stdout.str()
