"""All commands agree about every specification file of this repository."""

from __future__ import annotations

import hashlib
import itertools
import tomllib
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

import dpspec as dp
from tests.consistency.contradictions import contradictions, implication_contradictions
from tests.consistency.shared import shared_answers

SPECS = Path(__file__).parents[2] / "specs"
FILES = [
    path.relative_to(SPECS).as_posix()
    for path in sorted(SPECS.rglob("*.dpspec.toml"))
    if path.relative_to(SPECS).parts[0] != "bad" and not path.name.startswith("ledger--")
]  # fmt: skip


QUICK = (
    "disclosure/cell-suppression-p-percent", "disclosure/conventional-rounding", "deployments/twitter-openmined",
    "flavours/approximate-dp", "flavours/one-sided-dp", "gaussian-lecture", "mechanisms/composed-two",
    "mechanisms/mistakes/sampled-times-rate", "mechanisms/users-five-views", "swapping-2020-county-tract",
)  # fmt: skip
"""The default run takes these: at most a second each, and every status that a claim can have."""
ALIKE = ("deployments", "flavours", "mechanisms", "mechanisms/mistakes")
"""Of these folders with many similar files the slow run takes a fortieth, of the others a twentieth; with `--profile long` all
files are compared."""


def marked(name: str) -> Any:
    if name.removesuffix(".dpspec.toml") in QUICK:
        return name
    share = 40 if str(Path(name).parent) in ALIKE else 20
    is_long = hashlib.sha256(name.encode()).digest()[0] % share > 0
    return pytest.param(name, marks=pytest.mark.long if is_long else pytest.mark.slow)


@pytest.mark.spread(6)
@pytest.mark.parametrize("name", [marked(name) for name in FILES])
def test_all_commands_agree_about_a_file(name: str) -> None:
    with shared_answers():
        assert list(contradictions(SPECS / name)) == []


def pairs_about_one_space(most: int) -> list[tuple[str, str]]:
    """Pairs of files of one folder with the same dataset space and universes: `most` of each folder, chosen by their digest."""
    groups = defaultdict(list)
    for name in FILES:
        data = tomllib.loads((SPECS / name).read_text(encoding="utf-8"))
        groups[str(Path(name).parent), repr(data["space"]), repr(data.get("multiverse"))].append(name)
    folders = defaultdict(list)
    for (folder, _, _), names in groups.items():
        folders[folder] += itertools.combinations(names, 2)
    return [pair for pairs in folders.values() for pair in sorted(pairs, key=digest)[:most]]


def digest(pair: tuple[str, str]) -> bytes:
    return hashlib.sha256(repr(pair).encode()).digest()


@pytest.mark.spread(6, slow=25)
@pytest.mark.parametrize(("first", "second"), pairs_about_one_space(40))
def test_no_mechanism_contradicts_an_implication(first: str, second: str) -> None:
    assert list(implication_contradictions(dp.read(SPECS / first), dp.read(SPECS / second))) == []
