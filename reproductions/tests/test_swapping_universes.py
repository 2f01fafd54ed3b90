"""The page of the swapping theorem is what its command prints, and says what is true."""

import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest
from dpspec_census.swapping import DerangementSwapping, PermutationSwapping

from dpspec.base.exact import ln
from dpspec.verifier.verdict import Outcome
from reproductions.swapping_universes import judge, tables, universes

PAGE = Path(__file__).parents[2] / "docs" / "swapping-universes.md"
PAIR = (((1, 1), (1, 1)),)


@pytest.mark.long
@pytest.mark.reference("B-T11", "B-X2", "B-S20")
def test_the_page_is_what_the_command_prints() -> None:
    made = subprocess.run([sys.executable, "-m", "reproductions.swapping_universes"], capture_output=True, text=True, check=True)
    assert made.stdout == PAGE.read_text(encoding="utf-8")


@pytest.mark.reference("B-O47")
def test_the_universes_hold_all_tables_with_their_margins() -> None:
    assert [len(list(tables(margins))) for margins in [((2, 1), (2, 1)), ((1, 1, 1), (1, 1, 1)), ((2, 2), (2, 2))]] == [2, 6, 3]
    assert sum(1 for _ in universes()) == 108


@pytest.mark.reference("B-O42", "B-T11")
def test_the_derangement_version_keeps_its_budget_on_two_records() -> None:
    found = judge(DerangementSwapping, Fraction(1, 5), PAIR)
    assert found.constant == ln(4)
    assert dict(found.budgets)["swapping theorem, full form"] == ln(12)
    assert set(found.verdicts) == {Outcome.VERIFIED}


@pytest.mark.reference("B-O43", "B-T11", "B-X2")
def test_the_permutation_version_breaks_the_printed_budget_between_one_half_and_three_quarters() -> None:
    assert judge(PermutationSwapping, Fraction(1, 5), PAIR).constant == ln(7)
    found = judge(PermutationSwapping, Fraction(3, 5), PAIR)
    assert found.constant == ln(Fraction(41, 9)) / 2
    assert found.budgets[0][1] == ln(2)
    assert found.verdicts == (Outcome.REFUTED,)
