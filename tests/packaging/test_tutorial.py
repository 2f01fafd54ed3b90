"""The tutorials, run as they are written, in a clean environment from wheels: no checkout, no shell, nothing of POSIX alone."""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from pathlib import Path

import pytest

from tests.packaging.conftest import Clean

DOCS = Path(__file__).parents[2] / "docs"
TUTORIALS = [*sorted((DOCS / "tutorials").glob("*.md")), DOCS / "install.md"]
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"# file: (\S+?)(?:, a copy of (\S+))?\n")
LIBRARIES = "other libraries"
"""What the heading of the one chapter ends with that needs more than dpspec."""
UNPACKED = {"engineer": "survey-project"}
"""The archive of the site that a tutorial lets its reader unpack."""
SHOWN = "console"
"""Commands that are read here and not run: they have a place to fill in, or take something from an index."""
PROGRAMS = ("dpspec", "python", "pip", "pytest", "jupyter")
SHELLS_DIFFER = re.compile(r"[|<>$*?;&~`'\\!#%^(){}]")
"""What one shell of bash, PowerShell and the command prompt reads otherwise than another."""


@pytest.mark.slow
@pytest.mark.parametrize("page", [
    pytest.param(page, marks=pytest.mark.long) if page.stem == "decide" else page for page in TUTORIALS
], ids=lambda page: page.stem)  # fmt: skip
def test_a_tutorial_runs(page, clean, tmp_path, monkeypatch):
    monkeypatch.setattr(clean, "work", tmp_path)
    folder = UNPACKED.get(page.stem)
    if folder:
        shutil.copytree(DOCS / "examples" / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    blocks = chapters(page, with_libraries=False)
    try:
        run(clean, blocks, at_least=1 if page.stem == "install" else 4)
    finally:
        lines = [line.split() for language, text in blocks if language == "sh" for line in text.splitlines()]
        for name in {found[-1] for found in lines if found[0] == "pip"}:
            clean.uninstall(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["first-verdict", "own-mechanism"])
def test_a_first_notebook_runs(name, clean, tmp_path, monkeypatch):
    """Its cells, one after the other, where there is no checkout; the site runs all of them with Jupyter."""
    monkeypatch.setattr(clean, "work", tmp_path)
    text = (DOCS / "notebooks" / f"{name}.md").read_text(encoding="utf-8")
    cells = re.findall(r"^```\{code-cell\}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    (tmp_path / "cells.py").write_text("\n".join(cells) + "\nprint(len(verdict._repr_html_()) > 100)", encoding="utf-8")
    done = clean.run("python", "cells.py")
    assert (done.code, done.out.splitlines()[-1:]) == (0, ["True"]), done.err


@pytest.mark.slow
def test_the_chapter_on_libraries_runs(tmp_path):
    """In this environment: `.ci/run` has one of its own with what the chapter needs."""
    pytest.importorskip("pandas")
    pytest.importorskip("opendp")
    (page,) = (page for page in TUTORIALS if chapters(page, with_libraries=True))
    files = [block for block in chapters(page, with_libraries=False) if re.match(r"# file: survey\.", block[1])]
    run(Clean(home=Path(sys.executable).parents[1], work=tmp_path), [*files, *chapters(page, with_libraries=True)], at_least=3)


def chapters(page: Path, *, with_libraries: bool) -> list[tuple[str, str]]:
    """The blocks of the chapter on other libraries of a tutorial, or of all its others."""
    parts = re.split(r"^## ", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    wanted = [part for part in parts if part.partition("\n")[0].endswith(LIBRARIES) is with_libraries]
    return FENCE.findall("".join(wanted))


def run(clean: Clean, blocks: list[tuple[str, str]], at_least: int) -> None:
    """Write and edit the files, run the commands and snippets, and hold what they print against what stands behind them."""
    printed = ""
    ran = 0
    for language, text in blocks:
        name = FILE.match(text)
        if language == "diff":
            edit(clean.work, text)
        elif name:
            (clean.work / name[1]).parent.mkdir(exist_ok=True)
            (clean.work / name[1]).write_text(text, encoding="utf-8")
        elif language == "toml":
            pytest.fail("a file of the tutorial begins with its name")
        elif language == "sh":
            printed = "".join(command(clean, line) for line in text.splitlines())
            ran += 1
        elif language == "python":
            (clean.work / "snippet.py").write_text(text, encoding="utf-8")
            done = clean.run("python", "snippet.py")
            assert done.code == 0, done.err
            ran += 1
        elif language == "text":
            assert alike(printed, text), f"the tutorial says\n{text}\nbut this was printed:\n{printed}"
        else:
            assert language in ("yaml", "sql", SHOWN), f"who runs {language}?"
    assert ran >= at_least


def command(clean: Clean, line: str) -> str:
    """What one command prints, and its exit code when that is not 0; `pip install` takes nothing from an index."""
    program, *rest = words(line)
    if program == "pip":
        clean.install(*rest[1:])
        return ""
    done = clean.run(program, *rest, together=True)
    return done.out + (f"(exit code {done.code})\n" if done.code else "")


def words(line: str) -> list[str]:
    """The words of a command that means the same in every shell.

    Raises:
        ValueError: it does not.
    """
    found = shlex.split(line)
    if found[:1] and found[0] in PROGRAMS and not SHELLS_DIFFER.search(line):
        return found
    raise ValueError(f"{line}: works in some shells only: say it by {', '.join(PROGRAMS)}, a file or an edit")


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_every_command_works_in_every_shell(page):
    blocks = FENCE.findall(page.read_text(encoding="utf-8"))
    assert all(words(line) for language, text in blocks if language in ("sh", SHOWN) for line in text.splitlines())


@pytest.mark.parametrize(
    "line",
    [
        "sed -i.bak s/a/b/ file",
        "cat > file <<END",
        "ls out",
        "dpspec check a | python",
        "dpspec check a > b",
        "dpspec check *.toml",
        "dpspec check 'a b'",
        "NAME=1 dpspec check a",
        "dpspec check a && dpspec check b",
        "echo $?",
        "env/bin/dpspec check a",
        "# a comment",
    ],
)
def test_what_works_in_some_shells_only(line):
    with pytest.raises(ValueError, match="in some shells only"):
        words(line)


def edit(work: Path, text: str) -> None:
    """Replace lines of a file, or of a copy of one, as a block with - and + says; each run of - lines stands there once."""
    name, origin = FILE.match(text).groups()
    content = (work / (origin or name)).read_text(encoding="utf-8")
    for old, new in re.findall(r"((?:^-.*\n)*)((?:^\+.*\n)*)", text, re.MULTILINE):
        before, after = (re.sub(r"^[-+]", "", lines, flags=re.MULTILINE) for lines in (old, new))
        assert content.count(before) == 1 or not before, f"{origin or name} has not once\n{before}"
        content = content.replace(before, after) if before else content + after
    (work / name).write_text(content, encoding="utf-8")


@pytest.mark.parametrize(
    ("told", "made"),
    [
        ("# file: f\n-b\n+x\n+y\n", {"f": "a\nx\ny\nc\n"}),
        ("# file: f\n-a\n-b\n", {"f": "c\n"}),
        ("# file: g, a copy of f\n-a\n+d\n-c\n+e\n", {"f": "a\nb\nc\n", "g": "d\nb\ne\n"}),
        ("# file: f\n+d\n", {"f": "a\nb\nc\nd\n"}),
    ],
)
def test_what_an_edit_does(tmp_path, told, made):
    (tmp_path / "f").write_text("a\nb\nc\n", encoding="utf-8")
    edit(tmp_path, told)
    assert {path.name: path.read_text(encoding="utf-8") for path in tmp_path.iterdir()} == made


def test_an_edit_of_what_is_not_there(tmp_path):
    (tmp_path / "f").write_text("a\n", encoding="utf-8")
    with pytest.raises(AssertionError, match="has not once"):
        edit(tmp_path, "# file: f\n-b\n+c\n")


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
