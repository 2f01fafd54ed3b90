"""The tutorials, run as they are written, in a clean environment."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.packaging.conftest import Clean

pytestmark = pytest.mark.slow

TUTORIALS = sorted((Path(__file__).parents[2] / "docs" / "tutorials").glob("*.md"))
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LIBRARIES = "other libraries"
"""What the heading of the one chapter ends with that needs more than dpspec."""


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_a_tutorial_runs(page, clean, tmp_path, monkeypatch):
    monkeypatch.setattr(clean, "work", tmp_path)
    blocks = chapters(page, with_libraries=False)
    run(clean, blocks, at_least=4)
    if any("pip install -e dpspec-hello" in text for _, text in blocks):
        clean.uninstall("dpspec-hello")


def test_the_chapter_on_libraries_runs(tmp_path):
    """In this environment: `.ci/run` has one of its own with what the chapter needs."""
    pytest.importorskip("pandas")
    pytest.importorskip("opendp")
    (page,) = (page for page in TUTORIALS if chapters(page, with_libraries=True))
    files = [block for block in chapters(page, with_libraries=False) if re.match(r"# file: survey/", block[1])]
    run(Clean(home=Path(sys.executable).parents[1], work=tmp_path), [*files, *chapters(page, with_libraries=True)], at_least=3)


def chapters(page: Path, *, with_libraries: bool) -> list[tuple[str, str]]:
    """The blocks of the chapter on other libraries of a tutorial, or of all its others."""
    parts = re.split(r"^## ", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    wanted = [part for part in parts if part.partition("\n")[0].endswith(LIBRARIES) is with_libraries]
    return FENCE.findall("".join(wanted))


def run(clean: Clean, blocks: list[tuple[str, str]], at_least: int) -> None:
    """Write the files, run the commands and snippets, and hold what they print against what stands behind them."""
    printed = ""
    ran = 0
    for language, text in blocks:
        name = re.match(r"# file: (\S+)\n", text)
        if name:
            (clean.work / name[1]).parent.mkdir(exist_ok=True)
            (clean.work / name[1]).write_text(text, encoding="utf-8")
        elif language == "toml":
            pytest.fail("a file of the tutorial begins with its name")
        elif language == "sh":
            printed = shell(clean, text)
            ran += 1
        elif language == "python":
            (clean.work / "snippet.py").write_text(text, encoding="utf-8")
            done = clean.run("python", "snippet.py")
            assert done.code == 0, done.err
            ran += 1
        else:
            assert language == "text"
            assert alike(printed, text), f"the tutorial says\n{text}\nbut this was printed:\n{printed}"
    assert ran >= at_least


def shell(clean, text: str) -> str:
    """Run a block; `pip install -e` becomes an install from the folder without a network."""
    lines = text.splitlines()
    for line in [line for line in lines if line.startswith("pip install")]:
        *_, folder = shlex.split(line)
        clean.install(clean.work / folder)
        lines.remove(line)
    path = f"{clean.home / 'bin'}{os.pathsep}{os.environ['PATH']}"
    inherited = {key: value for key, value in os.environ.items() if not key.startswith(("DPSPEC_", "PYTHON"))}
    done = subprocess.run(
        ["bash", "-c", "\n".join(lines)], cwd=clean.work, env={**inherited, "PATH": path}, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
    )  # fmt: skip
    return done.stdout


def alike(printed: str, told: str) -> bool:
    """Line by line; a line `...` stands for any lines, `...` at the end of a line for its rest."""
    parts = []
    for line in told.splitlines():
        if line == "...":
            parts.append(r"(?:.*\n)*?")
        else:
            head, dots, _ = line.partition("...")
            parts.append(re.escape(head) + (".*" if dots else "") + r"\n")
    return re.fullmatch("".join(parts), printed if printed.endswith("\n") else printed + "\n") is not None


@pytest.mark.parametrize(
    ("printed", "told", "same"),
    [
        ("a\nb\n", "a\nb\n", True),
        ("a\nb\n", "a\n...\n", True),
        ("a\nb\nc\n", "...\nc\n", True),
        ("ab\n", "a...\n", True),
        ("a\nb\n", "b\n", False),
    ],
)
def test_what_counts_as_alike(printed, told, same):
    assert alike(printed, told) is same
