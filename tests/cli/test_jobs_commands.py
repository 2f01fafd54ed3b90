"""`--jobs` of every command on many files: the bytes and the exit code of one job, also where a file ends its process."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from dpspec.cli import main

SPECS = Path(__file__).parents[2] / "specs"
LINTED = ["ledger-2020", "lint/part-differs", "lint/mixed-neighbours", "lint", "bad", "inference"]
WHOLE = ["whole/inference", "whole/swapping-2020"]
"""Among them are files that are not decided against each other: the exit code 3."""
COMMANDS = {
    "check": (["check", *LINTED, "no-such-file"], 2),
    "check-json": (["check", *LINTED, "--format", "json"], 2),
    "check-sarif": (["check", *LINTED, "--format", "sarif"], 2),
    "lint": (["lint", *LINTED], 1),
    "lint-json": (["lint", *LINTED, "--format", "json"], 1),
    "lint-sarif": (["lint", *LINTED, "--format", "sarif"], 1),
    "lint-missing": (["lint", "inference", "no-such-file"], 2),
    "compare": (["compare", *WHOLE], 3),
    "compare-json": (["compare", *WHOLE, "--format", "json"], 3),
    "compare-twice": (["compare", "inference", "inference/../inference"], 2),
    "report": (["report", "inference", "bad", "--out", "OUT/report.html"], 2),
    "report-markdown": (["report", "inference", "swapping-2020", "--out", "OUT/report.md", "--format", "json"], 0),
    "site": (["site", "inference", "swapping-2020", "bad", "--out", "OUT/site"], 2),
    "catalogue": (["catalogue", "deployments", "--publisher", "google"], 0),
    "catalogue-json": (["catalogue", "deployments", "--publisher", "google", "--format", "json"], 0),
    "catalogue-csv": (["catalogue", "deployments", "--publisher", "google", "--verdict", "verified", "--format", "csv"], 0),
}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the folders of specs, as links, from which short paths lead to real files; of two of them, what is quick."""
    for name in ("bad", "lint", "ledger-2020", "deployments"):
        (tmp_path / name).symlink_to(SPECS / name)
    (tmp_path / "whole").symlink_to(SPECS)
    for folder, pattern in (("inference", "[!m]*"), ("swapping-2020", "*-state-*")):
        (tmp_path / folder).mkdir()
        for path in (SPECS / folder).glob(pattern):
            (tmp_path / folder / path.name).symlink_to(path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def ran(place: Path, words: list[str]) -> tuple[int, str, str, dict[str, bytes]]:
    """The exit code, both outputs and the written files of a command."""
    shutil.rmtree(place / "OUT", ignore_errors=True)
    (place / "OUT").mkdir()
    done = CliRunner().invoke(main, words)
    written = {str(path.relative_to(place)): path.read_bytes() for path in (place / "OUT").rglob("*") if path.is_file()}
    return done.exit_code, done.stdout, done.stderr, written


SLOW = {"check-json", "lint-missing", "compare"}
"""One form of some commands; the others are long."""


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.slow if n in SLOW else pytest.mark.long) for n in COMMANDS])
def test_jobs_change_no_byte(place: Path, name: str) -> None:
    words, code = COMMANDS[name]
    one, *others = (ran(place, [*words, "--jobs", jobs]) for jobs in ("1", "3"))
    assert one[0] == code
    assert one[1] or one[2]
    assert bool(one[3]) == ("OUT" in str(words))
    for several in others:
        assert several == one


@pytest.mark.long
def test_a_lock_is_the_same_from_any_number_of_jobs(place: Path) -> None:
    locks = []
    for jobs in ("1", "2", "5"):
        assert CliRunner().invoke(main, ["lock", "inference", "swapping-2020", "--jobs", jobs]).exit_code == 0
        locks.append((place / "dpspec.lock").read_bytes())
    assert locks[0] == locks[1] == locks[2]
    checks = [CliRunner().invoke(main, ["verify", "--locked", "--all", "--jobs", jobs]) for jobs in ("1", "2")]
    assert checks[0].stdout == checks[1].stdout
    assert checks[0].exit_code == checks[1].exit_code


@pytest.mark.spread(0, slow=1)
@pytest.mark.parametrize("command", ["check", "lint"])
def test_jobs_of_a_project(place: Path, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module = {"check": "dpspec.cli.framework", "lint": "dpspec.linter.look"}[command]
    asked = []
    monkeypatch.setattr(f"{module}.jobs_for", lambda jobs, *_: asked.append(jobs) or 1)
    (place / "pyproject.toml").write_text("[tool.dpspec]\njobs = 3\n", encoding="utf-8")
    CliRunner().invoke(main, [command, "inference"])
    CliRunner().invoke(main, [command, "inference", "--jobs", "2"])
    assert asked == [3, 2]


# --- a file that ends its process -----------------------------------------------------------------

PLUGIN = '''
"""A mechanism of a stranger, which ends every process but the first one of a command."""

import multiprocessing
import os
import signal
from typing import ClassVar

from dpspec.plugin import FiniteLaw, Mechanism, define, hookimpl

DPSPEC_API = 1


@define
class Ending(Mechanism):
    """A constant answer.

    Args: none.
    """

    name: ClassVar[str] = "ending"

    def check(self, space):
        if WHERE == "check":
            end()

    def law(self, dataset, space):
        end()
        return FiniteLaw.of({0: 1})


WHERE = os.environ.get("ENDING_WHERE")


def end():
    if multiprocessing.parent_process() is not None:
        os._exit(9) if os.environ.get("ENDING_HOW") == "exit" else os.kill(os.getpid(), signal.SIGKILL)


@hookimpl
def dpspec_register_mechanisms(register):
    register(Ending)
'''


@pytest.fixture
def stranger(tmp_path: Path) -> Path:
    """A folder with an installed plugin, and three specifications of which the second one ends its process."""
    made = tmp_path / "installed"
    (made / "ending-0.1.dist-info").mkdir(parents=True)
    (made / "ending.py").write_text(PLUGIN, encoding="utf-8")
    (made / "ending-0.1.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: ending\nVersion: 0.1\n", encoding="utf-8"
    )
    (made / "ending-0.1.dist-info" / "entry_points.txt").write_text("[dpspec]\nending = ending\n", encoding="utf-8")
    text = (SPECS / "randomised-response.dpspec.toml").read_text(encoding="utf-8")
    start = text.index("[mechanism]")
    rest = text.index("\n[", start)
    (tmp_path / "specs").mkdir()
    for name, body in (
        ("a", text), ("b", f'{text[:start]}[mechanism]\ntype = "ending"\n{text[rest:]}'), ("c", text),
    ):  # fmt: skip
        path = tmp_path / "specs" / f"{name}.dpspec.toml"
        path.write_text(body.replace('id = "randomised-response"', f'id = "{name}"'), encoding="utf-8")
    return tmp_path


def called(stranger: Path, words: list[str], how: str, where: str = "law") -> subprocess.CompletedProcess[str]:
    paths = os.pathsep.join(filter(None, (str(stranger / "installed"), os.environ.get("PYTHONPATH"))))
    environment = {**os.environ, "PYTHONPATH": paths, "ENDING_HOW": how, "ENDING_WHERE": where}
    return subprocess.run(
        [sys.executable, "-m", "dpspec", *words], cwd=stranger, env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.spread(0, slow=2)
@pytest.mark.parametrize("how", ["exit", "kill"])
@pytest.mark.parametrize("command", ["check", "verify"])
def test_a_file_that_ends_its_process_is_an_error_of_that_file(stranger: Path, command: str, how: str) -> None:
    done = called(stranger, [command, "specs", "--jobs", "2", "--format", "json"], how, "check")
    files = {Path(one["path"]).name[0]: one["outcome"] for one in json.loads(done.stdout)["files"]}
    good = "valid" if command == "check" else "holds"
    assert (done.returncode, files) == (4, {"a": good, "b": "plugin", "c": good})


@pytest.mark.slow
def test_lint_reports_a_file_that_ends_its_process(stranger: Path) -> None:
    shutil.copy(SPECS / "lint" / "no-provenance--one-block-left-out.dpspec.toml", stranger / "specs" / "d.dpspec.toml")
    done = called(stranger, ["lint", "specs", "--jobs", "2", "--format", "json"], "kill", "check")
    findings = {(Path(one["file"]).name[0], one["code"]) for one in json.loads(done.stdout)["findings"]}
    assert ("b", "library") in findings
    assert any(file == "d" for file, _ in findings)
    assert [code for file, code in findings if file == "b"] == ["library"]
    assert done.returncode == 4


@pytest.mark.slow
def test_compare_gives_all_answers_where_a_claim_ends_its_process(stranger: Path) -> None:
    one, two = (called(stranger, ["compare", "specs", "--format", "json", "--jobs", jobs], "kill") for jobs in ("1", "2"))
    left, right = json.loads(one.stdout), json.loads(two.stdout)
    assert (one.returncode, two.returncode) == (0, 4)
    assert left["matrix"] == right["matrix"]
    claims = [[one["claim"] for one in found["specifications"]] for found in (left, right)]
    assert claims[0][::2] == claims[1][::2]
    assert claims[1][1] == "not checked, since a plugin failed" != claims[0][1]


@pytest.mark.spread(0, slow=1)
@pytest.mark.parametrize("words", [["report", "specs", "--out", "page.md"], ["site", "specs", "--out", "site"]])
def test_a_page_says_that_a_file_ended_its_process(stranger: Path, words: list[str]) -> None:
    done = called(stranger, [*words, "--jobs", "2"], "kill")
    pages = "".join(path.read_text(encoding="utf-8") for path in stranger.rglob("*") if path.suffix in (".md", ".html"))
    assert done.returncode == 4
    assert "ended the process that checked this file" in pages


@pytest.mark.long
def test_a_lock_is_not_written_without_a_file_that_ended_its_process(stranger: Path) -> None:
    done = called(stranger, ["lock", "specs", "--jobs", "2"], "exit")
    assert done.returncode == 4
    assert "ended the process that verified this file" in done.stderr
    assert not (stranger / "dpspec.lock").exists()


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "killpg"), reason="the system has no groups of processes")
def test_an_interruption_ends_every_process(tmp_path: Path) -> None:
    """Control-C reaches the whole group; nothing of it is left, and one line is said."""
    command = [sys.executable, "-m", "dpspec", "verify", str(SPECS / "deployments"), "--jobs", "2"]
    begun = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True, cwd=tmp_path
    )
    assert begun.stdout is not None
    begun.stdout.readline()
    os.killpg(begun.pid, signal.SIGINT)
    _, said = begun.communicate(timeout=120)
    assert begun.returncode == 130
    assert said.splitlines()[0] == "interrupted"
    for _ in range(600):
        try:
            os.killpg(begun.pid, 0)
        except ProcessLookupError:
            break
        time.sleep(0.1)
    else:
        pytest.fail("a process is left")
