"""What the examples for CI contain is run here, word by word, in a small project."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ACTIONS = ROOT / "docs" / "examples" / "ci" / "github-actions.yml"
RELEASE = ACTIONS.with_name("test_release.py")
HOOKS = ROOT / ".pre-commit-hooks.yaml"
CONFIGURED = ROOT / "docs" / "examples" / "ci" / "pre-commit-config.yaml"


@pytest.fixture
def run(tmp_path):
    """Runs a command of an example in the folder of the project, with the programs of this environment."""
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    inherited = {key: value for key, value in os.environ.items() if not key.startswith(("PYTEST_", "DPSPEC_"))}

    def call(command):
        return subprocess.run(
            ["bash", "-c", command], cwd=tmp_path, env={**inherited, "PATH": path}, capture_output=True, text=True, check=False
        )

    return call


def commands(pattern, file):
    return re.findall(pattern, file.read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "code"), [("ln(3)", 0), pytest.param("1", 1, marks=pytest.mark.long)])
def test_the_action(tmp_path, run, spec, epsilon, code):
    (tmp_path / "specs").mkdir()
    (tmp_path / "specs" / "warner.dpspec.toml").write_text(spec(epsilon=epsilon), encoding="utf-8")
    (tmp_path / "tests").mkdir()
    shutil.copy(RELEASE, tmp_path / "tests")
    install, check, judge = commands(r"^ *- run: (.*)$", ACTIONS)
    assert install == "(cd dpspec-source && pip install -r requirements.txt pytest)"
    assert "-e ." in (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    assert run(check).returncode == 0
    done = run(judge)
    assert done.returncode == code, done.stdout
    assert "Traceback" not in done.stdout + done.stderr
    assert "passed" in done.stdout
    filed = (tmp_path / "privacy.xml").read_text(encoding="utf-8")
    assert "not refuted: a loss of 9/5 or more per unit distance" in filed
    assert 'name="outcome" value="undecided"' in filed


@pytest.mark.slow
@pytest.mark.parametrize("file", [HOOKS, CONFIGURED], ids=lambda file: file.name)
def test_the_hooks(tmp_path, run, spec, file):
    """pre-commit calls the entry with the names of the changed files that match."""
    names = ["one.dpspec.toml", "two.dpspec.toml"]
    texts = dict(zip(names, (spec("one"), spec("two").replace('"mult"', '"mul"')), strict=True))
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    (check, *_) = commands(r"^ *entry: (.*)$", file)
    for pattern in commands(r"^ *files: (.*)$", file):
        assert all(re.search(pattern, name) for name in names)
        assert not re.search(pattern, "pyproject.toml")
    assert check == "dpspec check"
    assert run(f"{check} {names[0]}").returncode == 0
    done = run(f"{check} {shlex.join(names)}")
    assert done.returncode == 2
    assert "did you mean mult?" in done.stderr


@pytest.mark.slow
def test_the_verifying_hook(tmp_path, run, spec):
    (tmp_path / "wrong.dpspec.toml").write_text(spec(epsilon="1"), encoding="utf-8")
    (entry,) = commands(r"^ *entry: (.* verify)$", HOOKS)
    assert run(f"{entry} wrong.dpspec.toml").returncode == 1
