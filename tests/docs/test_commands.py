"""Every command on a page is one that there is, and every page with commands is run, or it says here why not."""

from __future__ import annotations

import re
import shlex
import sys
import tomllib
from pathlib import Path

import click
import pytest

from dpspec.base.words import Word
from dpspec.report.text import counted
from tests.packaging.conftest import Clean
from tests.packaging.test_tutorial import FENCE, TUTORIALS, run

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *(page for page in DOCS.rglob("*.md") if not {"deployments", "examples"} & set(page.parts))]
RUN = {
    "five-blocks.md": None, "diff.md": None, "lock.md": None, "from-a-table.md": None, "study.md": None, "accounts.md": None,
    "rules.md": ROOT, "inference.md": ROOT, "score.md": ROOT,
}  # fmt: skip
"""Pages that are run whole, in a folder of their own or in the checkout; the tutorials are run in a clean environment."""
SLOW = {"five-blocks.md", "from-a-table.md", "inference.md", "rules.md", "score.md"}
LONG = {"accounts.md", "study.md"}
NOT_RUN = {
    "proofs.md": "minutes of processor; `pytest specs` judges the files, and the tests of dpspec-checker read proofs",
    "pictures.md": "tests/report/test_gallery.py draws them; the command lines are read here",
    "reports.md": "reports on whole folders take minutes; the tests of dpspec-report make smaller ones",
    "registry.md": "records of the registry are not in the repository; the tests of dpspec-deployments have ones of their own",
    "hunt.md": "a function is refuted where there is a jail; the tests of dpspec-hunt check more of them",
    "tradeoff.md": "its command is run by the tutorial on the choice of a design",
    "releasing.md": "a million dwellings; the tests of dpspec-release draw smaller ones",
    "workers.md": "needs a cluster with certificates; the tests of dpspec-release run on local workers",
    "scale.md": "a table larger than memory, and workers; the tests of dpspec-release read small partitions",
    "synthetic-tables.md": "fifty million rows; the tests of dpspec-release make fewer",
    "releases/rhode-island-2010.md": "the table is not in the repository; reproductions/tests has a small one",
}
SPAN = re.compile(r"`(dpspec [^`\n]+)`")
LINE = re.compile(r"^(?:\$ )?(?:pip install .* && )?(dpspec .*)$", re.MULTILINE)


def commands(page: Path) -> list[str]:
    """The command lines in running text and in the blocks of a page."""
    text = page.read_text(encoding="utf-8")
    blocks = [block for language, block in FENCE.findall(text) if language == "sh"]
    return [*SPAN.findall(FENCE.sub("", text)), *(line for block in blocks for line in LINE.findall(block))]


def fault(line: str) -> str | None:
    """What is wrong with a command line; None when every word that dpspec must know is one."""
    from dpspec.cli import main
    from dpspec.cli.framework import OpenGroup

    words = shlex.split(re.split(r" *[|>#;]", line)[0].replace("...", "")) if line.count('"') % 2 == 0 else line.split()
    command: click.Command = main
    for word in words[1:]:
        if isinstance(command, click.Group) and not word.startswith("-"):
            found = command.every_command() if isinstance(command, OpenGroup) else command.commands
            if word not in found:
                return None if word.isupper() else f"{line}: there is no command {word}"
            command = found[word]
        elif word.startswith("--"):
            known = {name for option in command.params for name in option.opts} | {"--help", "--version"}
            if word.partition("=")[0] not in known:
                return f"{line}: {command.name} has no option {word}"
    return None


@pytest.mark.parametrize(
    ("line", "right"),
    [
        ("dpspec verify specs --witnesses DIR", True),
        ("dpspec rules compare A B", True),
        ("dpspec verfy specs", False),
        ("dpspec verify specs --witness DIR", False),
        ("dpspec registry imprt RECORD.yaml", False),
    ],
)
def test_what_is_a_command(line, right):
    assert (fault(line) is None) is right


def test_every_command_on_a_page_is_one_that_there_is():
    words = tomllib.loads((ROOT / "dpspec" / "report" / "glossary.toml").read_text(encoding="utf-8"))["word"]
    lines = [line for page in PAGES for line in commands(page)] + [word["command"] for word in words if "command" in word]
    assert len(lines) > 150
    assert [found for line in lines if line.startswith("dpspec ") and (found := fault(line))] == []


def test_printed_counts_of_files_have_the_words_that_are_printed():
    """Of the pages that no test runs, too: a report was shown with words of an earlier version."""
    shown = [line for page in PAGES for line in re.findall(r"^[1-9][\d,]* files?: (\d.*)$", page.read_text(), re.MULTILINE)]
    assert len(shown) > 5
    words = {counted(word, number).removeprefix(f"{number} ") for word in Word for number in (1, 2)}
    words |= {"as locked", "worse", "verified in this run"}  # of `dpspec lock`
    parts = [part.strip() for line in shown for part in re.split(r"[,;]", line)]
    assert [part for part in parts if part.lstrip("0123456789 ") not in words and part not in words] == []


RUN_FILE = re.compile(
    r"python (?:-m ((?:tests|benchmarks|reproductions)\b[\w.]*\w)|([\w/-]+/[\w-]+\.py))"
    r"|pytest [^`\n]*?((?:tests|plugins|reproductions)/[\w/.-]+\.py)"
)


def test_every_file_of_the_checkout_that_a_page_runs_is_there():
    missing, found = set(), 0
    for page in PAGES:
        for module, *files in RUN_FILE.findall(page.read_text(encoding="utf-8")):
            path = module.replace(".", "/") if module else "".join(files)
            found += 1
            if not (ROOT / path).exists() and not (ROOT / f"{path}.py").exists():
                missing.add((page.name, path))
    assert found > 60
    assert not missing


def test_every_page_with_commands_is_run_or_says_why_not():
    with_commands = {
        page.relative_to(DOCS).as_posix()
        for page in PAGES
        if page.is_relative_to(DOCS)
        and page not in TUTORIALS
        and any(language == "sh" for language, _ in FENCE.findall(page.read_text()))
    }
    assert with_commands == {*RUN, *NOT_RUN}


@pytest.mark.parametrize("page", [
    pytest.param(page, marks=[*[pytest.mark.slow] * (page in SLOW), *[pytest.mark.long] * (page in LONG)]) for page in RUN
])
def test_a_page_runs(page, tmp_path):
    here = Clean(home=Path(sys.executable).parents[1], work=RUN[page] or tmp_path)
    blocks = FENCE.findall((DOCS / page).read_text(encoding="utf-8"))
    if RUN[page]:
        blocks = [(language, text) for language, text in blocks if language != "toml"]
    else:
        blocks = [(language, text) for language, text in blocks if language != "toml" or text.startswith("# file: ")]
    run(here, blocks, at_least=1)
