"""One registry of rules, one search: what a yardstick or a ledger derives, a comparison derives."""

from __future__ import annotations

import itertools

import pytest

from dpspec.api import find_yardsticks, read
from dpspec.base.errors import DpspecError
from dpspec.comparison.composition import Part, compose
from dpspec.extension import installed
from dpspec.reason.search import rules_of, search
from tests.attacks.questions import questions

RULES = rules_of(installed().registry)
COUNTS = pytest.mark.parametrize("count", [12, pytest.param(400, marks=pytest.mark.long)])


@COUNTS
def test_what_a_yardstick_derives_a_comparison_derives(count: int) -> None:
    derived = 0
    for asked in itertools.islice(questions("yardsticks"), count):
        try:
            found = find_yardsticks(asked.left, asked.right)
        except DpspecError:  # no common universes
            continue
        for one in (one for one in found if one.is_common):
            for side in (asked.left, asked.right):
                derived += 1
                assert search(side, one.spec, RULES).arrived, (side, one.spec)
    assert derived > count / 2


@COUNTS
def test_what_a_ledger_derives_a_comparison_derives(count: int) -> None:
    derived = 0
    for asked in itertools.islice(questions("ledgers"), 3 * count):
        parts = [Part(id="one", spec=asked.left), Part(id="two", spec=asked.right)]
        try:
            found = compose(parts)
        except (DpspecError, ArithmeticError):  # no common blocks
            continue
        for line in found.lines:
            derived += 1
            assert search(line.part.spec, line.spec, RULES).arrived, line
    assert derived > count / 2


def test_the_census_yardsticks_are_implied() -> None:
    """With `domination-inside-universes`: per household, on households of at most ten persons."""
    names = ("topdown-2020-pl-dhc", "swapping-2020-county-tract")
    topdown, swapping = (read(f"specs/{name}.dpspec.toml").spec for name in names)
    common = [one for one in find_yardsticks(topdown, swapping, largest_household=10) if one.is_common]
    found = [search(side, one.spec, RULES) for one in common for side in (topdown, swapping)]
    assert found
    assert all(one.arrived for one in found)
    assert "domination-inside-universes" in {step.rule for one in found for step in one.derivation.steps}
