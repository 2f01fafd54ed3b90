"""`--jobs`: several processes give the results of one, in the order of the files, also when one of them is ended."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import nullcontext
from pathlib import Path

import pytest
from click.testing import CliRunner

from dpspec.base import jobs as jobs_engine
from dpspec.base.jobs import FEW, in_order, jobs_for, processors
from dpspec.cli import main

SPECS = Path(__file__).parents[2] / "specs"
FILES = (
    "randomised-response.dpspec.toml",  # verified
    "gaussian-lecture.dpspec.toml",  # recorded as refuted
    "swapping-2020-county-tract.dpspec.toml",  # unchecked
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files that end in every way: one is no TOML, one has an unknown key."""
    made = tmp_path_factory.mktemp("specs")
    for name in FILES:
        shutil.copy(SPECS / name, made / name)
    text = (SPECS / FILES[0]).read_text()
    (made / "broken.dpspec.toml").write_text("schema = ")
    (made / "key.dpspec.toml").write_text(text.replace("[space]", "[space]\ncolour = 1"))
    (made / "wrong.dpspec.toml").write_text(text.replace('"ln(3)"', '"ln(2)"'))
    return made


SLOW = pytest.mark.slow


@pytest.mark.parametrize("form", ["text", pytest.param("json", marks=SLOW), pytest.param("sarif", marks=SLOW)])
def test_jobs_change_no_byte(folder: Path, form: str) -> None:
    run = CliRunner()
    given = [str(folder), str(folder / FILES[0]), "no-such-file.dpspec.toml", "--format", form]
    one, several = (run.invoke(main, ["verify", *given, "--jobs", jobs]) for jobs in ("1", "3"))
    assert several.exit_code == one.exit_code == 2
    assert several.stdout == one.stdout
    assert several.stderr == one.stderr
    assert "wrong.dpspec.toml" in one.stdout


@SLOW
def test_witnesses_are_written_by_any_process(folder: Path, tmp_path: Path) -> None:
    run = CliRunner()
    for jobs in ("1", "2"):
        run.invoke(main, ["verify", str(folder), "--jobs", jobs, "--witnesses", str(tmp_path / jobs)])
    one, two = ({file.name: file.read_bytes() for file in (tmp_path / jobs).iterdir()} for jobs in ("1", "2"))
    assert one
    assert one == two


def test_jobs_are_at_least_one(folder: Path) -> None:
    assert CliRunner().invoke(main, ["verify", str(folder), "--jobs", "0"]).exit_code == 2


def test_few_files_start_no_processes() -> None:
    assert jobs_for(None, FEW) == 1
    assert jobs_for(None, 1_000) == processors()
    assert jobs_for(64, 3) == 3


def _work(item: int) -> int:
    if item < 0:
        os._exit(9)
    if item == 13:
        raise ValueError("thirteen")
    return item * item


def _lost(item: int) -> int:
    return 10_000 - item


@pytest.mark.parametrize("jobs", [2, pytest.param(3, marks=pytest.mark.long)])
@pytest.mark.parametrize(
    "items",
    [[1, -2, 3, -4, 5], *(pytest.param(items, marks=SLOW) for items in ([-1, 2, 3], [1, 2, -3], [-1, -2], [*range(6), -6, 7]))],
)
def test_a_process_that_is_ended_costs_its_own_item(items: list[int], jobs: int) -> None:
    assert list(in_order(_work, items, jobs, _lost)) == [_lost(item) if item < 0 else _work(item) for item in items]


def test_a_process_may_end_before_all_items_are_submitted(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine the pool can be broken by its first item before it is given the second one."""

    class Broken:
        submitted = 0

        def submit(self, work, item):
            self.submitted += 1
            if self.submitted == 2:
                raise BrokenProcessPool("ended")
            found: Future[int] = Future()
            found.set_result(work(item))
            return found

    pools = iter([Broken()])
    real = jobs_engine.process_pool
    monkeypatch.setattr(jobs_engine, "process_pool", lambda jobs: nullcontext(one) if (one := next(pools, None)) else real(jobs))
    assert list(in_order(_work, [1, 2, 3], 2, _lost)) == [1, 4, 9]


def test_what_is_raised_elsewhere_is_raised_here() -> None:
    found = in_order(_work, [1, 13, 3], 2, _lost)
    assert next(found) == 1
    with pytest.raises(ValueError, match="thirteen"):
        next(found)


@SLOW
def test_a_script_without_a_guard_is_not_run_again(tmp_path: Path) -> None:
    """Before, each process ran the script of its parent, and every file was reported as lost."""
    script = tmp_path / "script.py"
    script.write_text(f"from dpspec.cli import main\nmain(['verify', {str(SPECS / 'inference')!r}, '--jobs', '2'])\n")
    ran = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert ran.returncode == 0
    assert "files: " in ran.stdout
    assert not ran.stderr
