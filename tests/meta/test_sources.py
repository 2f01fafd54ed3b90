"""No internal mark of a fact outside of the tests and of the page of sources: not in a file, not in what a command prints."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from dpspec import installed
from dpspec.base.errors import error_classes
from dpspec.cli import main
from dpspec.report.sources import citing, named, sources
from tests.references import ROOT

MARKS = re.compile(
    r"(?<![\w-])[BKZ]-(?:[ADEFNOPSTX][0-9]+(?:\.[0-9a-z]+)?[a-z]?(?![\w-])|section)"  # B-D15, Z-F2.4, K-section 6
    r"|(?<![\w-])[BKZ] section [0-9]|\bzoo R[0-9]|\breference digest|\(S2[34]\b|\bof S2[34]\b"
)
ALLOWED = re.compile(r"(tests/|plugins/[^/]+/tests/|reproductions/tests/|docs/reference/sources\.md$)")
BINARY = (".parquet", ".arrow", ".png", ".gz", ".zip", ".whl")


def repository() -> list[Path]:
    """The files under version control; without git, those that are no caches."""
    try:
        listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    except (OSError, subprocess.CalledProcessError):
        every = (path.relative_to(ROOT) for path in ROOT.rglob("*") if path.is_file())
        listed = [path.as_posix() for path in every if not any(part.startswith((".", "__")) for part in path.parts)]
    return [ROOT / name for name in listed if not ALLOWED.match(name) and not name.endswith(BINARY)]


@pytest.mark.slow
def test_no_file_has_an_internal_mark():
    found = [
        f"{path.relative_to(ROOT)}:{number}: {match[0]}"
        for path in repository()
        if path.is_file()
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), start=1)
        for match in MARKS.finditer(line)
    ]
    assert found == []


@pytest.mark.parametrize(
    "mark", ["(B-D15)", "K-T9, Z-A3", "Z-N4.a:", "B-X8b", "K-section 6", "K section 8", "zoo R8", "(S23, slides)"]
)
def test_the_marks_are_seen(mark):
    assert MARKS.search(mark)


@pytest.mark.parametrize("word", ["UTF-8", "B-spline", "A-B1", "K-1", "Z-score", "sub-B-D15", "Markov-K-D1x", "k-anonymity"])
def test_other_words_are_none(word):
    assert not MARKS.search(word)


def said(*arguments: object) -> str:
    return CliRunner().invoke(main, [str(argument) for argument in arguments]).output


def commands(group: click.Group, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    below = [
        inner for name, one in group.commands.items() if isinstance(one, click.Group) for inner in commands(one, (*path, name))
    ]
    return [path, *((*path, name) for name in group.commands), *below]


SPECS = ROOT / "specs"
OF_SPECS = [path for path in sorted(SPECS.rglob("*.dpspec.toml")) if not {"bad", "lint"} & set(path.relative_to(SPECS).parts)]


def marked(every: Iterable[tuple[object, ...]]) -> list[str]:
    return [f"{' '.join(map(str, of))}: {match[0]}" for of in every for match in MARKS.finditer(said(*of))]


@pytest.mark.long
def test_no_command_prints_one():
    assert marked([
        *(("explain", entry.qualified_name, "--format", "json") for entry in installed().registry),
        *(("explain", cls.code, "--format", "json") for cls in error_classes()),
        ("explain", "kifer-et-al-2022"),
        ("explain", SPECS / "topdown-2020-pl.dpspec.toml"),
        ("explain", SPECS / "randomised-response.dpspec.toml", "--audience", "technical"),
        ("explain", "flavours"),
        *((*path, "--help") for path in commands(main)),
        *((*path, "--format", "json") for path in [("plugins",), ("explain", "flavours")]),
        ("compare", SPECS / "topdown-2020-pl.dpspec.toml", SPECS / "swapping-2020-county-tract.dpspec.toml"),
        ("compare", SPECS / "topdown-2020-pl.dpspec.toml", SPECS / "topdown-2020-dhc.dpspec.toml", "--format", "json"),
        ("risk", SPECS / "randomised-response.dpspec.toml"),
        ("lint", SPECS / "ledger-2020", "--explained"),
        ("convert", "rho=2.63", "--to", "epsilon", "--delta", "1e-10"),
        ("recommend", "two-dimensional", "posterior=1/4", "ratio=3"),
        ("schema", "spec"),
        ("schema", "output"),
    ]) == []  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("path", OF_SPECS, ids=lambda path: path.relative_to(SPECS).as_posix())
def test_no_file_is_told_with_one(path):
    assert marked([("explain", path), ("check", path)]) == []


def test_every_citation_of_a_registered_name_leads_to_a_source():
    """What a class declares as its citation is found by `dpspec explain`, but for arguments that have no publication."""
    without = ("group privacy along paths of neighbours, a standard argument", "Pinsker's inequality")
    cited = {name for source in sources() for name, _ in citing(source, installed().registry)}
    declared = {entry.name: getattr(entry.cls, "citation", "") for entry in installed().registry}
    assert {name for name, text in declared.items() if text and name not in cited and text not in without} == set()


def test_a_source_is_written_once_and_can_be_found():
    assert len({source.key for source in sources()}) == len({(source.authors, source.year) for source in sources()})
    assert all(named(source.key) is source and named(str(source)) is source for source in sources())
    assert not [fact.says for source in sources() for fact in source.facts if MARKS.search(fact.says + fact.where)]
