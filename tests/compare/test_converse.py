"""What is left of a promise without one of its invariants: the converse of the theorem on TopDown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dpspec import commands
from dpspec.api import read
from dpspec.base.errors import ParameterError, UnknownNameError
from dpspec.blocks.invariant import FunctionInvariant, Marginal
from dpspec.blocks.multiverse import LevelSets, Trivial, determines
from dpspec.blocks.records import UnorderedRecords
from dpspec.blocks.space import Attribute
from dpspec.comparison.converse import Remaining, without_invariant
from dpspec.laws.law import FiniteLaw
from dpspec.specfile.document import SpecDocument
from tests.compare.test_rules import HAMMING, SYMMETRIC, d_pr, spec
from tests.verify.toys import Toy

ROOT = Path(__file__).parents[2]
PEOPLE = UnorderedRecords(attributes=(Attribute(name="sex", count=2), Attribute(name="age", count=2)), most=2)
TOTAL, SEX, AGE, BOTH = (Marginal(attributes=names) for names in ((), ("sex",), ("age",), ("sex", "age")))


def document(*held: Marginal, inputs: Any = SYMMETRIC, outputs: Any = None, mechanism: Any = None) -> SpecDocument:
    multiverse = LevelSets(invariants=held) if held else Trivial()
    return SpecDocument(id="x", title="x", spec=spec(PEOPLE, inputs, outputs, multiverse=multiverse), mechanism=mechanism)


@pytest.mark.reference("B-T13")
@pytest.mark.parametrize("place", [1, 2, 3, 4])
def test_topdown_without_any_of_its_invariants_has_no_finite_budget(place: int) -> None:
    found = without_invariant(read(ROOT / "specs/topdown-2020-pl-persons.dpspec.toml"), str(place))
    assert found.answer is Remaining.INFINITE
    assert found.published is not None
    assert not found.published.distance.is_infinite
    held = found.published.spec.multiverse
    assert held.share_universe(found.published.left, found.published.right, found.published.spec.space)
    assert place == 1 or (found.own is not None and found.own.budget.is_infinite)


def test_one_that_the_others_determine_is_dropped_for_nothing() -> None:
    found = without_invariant(document(BOTH, SEX), "person by sex")
    assert (found.answer, found.published) == (Remaining.SAME, None)
    assert without_invariant(document(SEX, TOTAL), "2").answer is Remaining.SAME


def test_hypotheses_are_not_assumed() -> None:
    """Datasets of different size are never compared by the Hamming distance; a total variation is at most 1 (B-S11, B-S12)."""
    assert without_invariant(document(TOTAL, inputs=HAMMING), "1").answer is Remaining.UNKNOWN
    assert without_invariant(document(TOTAL), "1").answer is Remaining.INFINITE
    found = without_invariant(document(SEX, inputs=HAMMING, outputs=d_pr("total-variation")), "1")
    assert found.answer is Remaining.LEAST
    assert found.published is not None
    assert str(found.published.budget) == "1"


def test_what_is_not_decided_is_unknown() -> None:
    """The total does not determine whether there are more than 99 women; no search finds the two datasets that show it."""
    people = UnorderedRecords(attributes=PEOPLE.attributes)
    crowd = FunctionInvariant(function=lambda records: len(records) > 99 and records[99][0] == "1", label="many women")
    assert determines((TOTAL,), (crowd,), people).answer is None
    promised = spec(people, SYMMETRIC, multiverse=LevelSets(invariants=(TOTAL, crowd)))
    found = without_invariant(SpecDocument(id="x", title="x", spec=promised), "many women")
    assert (found.answer, found.published) == (Remaining.UNKNOWN, None)


def test_a_mechanism_that_does_not_publish_it_is_told_from_a_release_that_does() -> None:
    constant = Toy(lambda x: FiniteLaw.point(0))
    found = without_invariant(document(SEX, inputs=HAMMING, mechanism=constant), "1")
    assert found.answer is Remaining.INFINITE
    assert found.own is not None
    assert str(found.own.budget) == "0"


@pytest.mark.parametrize(
    ("given", "named", "fault", "said"),
    [
        (document(SEX), "2", UnknownNameError, "from 1 to 1.*known: .person by sex"),
        (document(SEX), "person by sx", UnknownNameError, "person by sex"),
        (document(), "1", ParameterError, "this file has none"),
    ],
)
def test_bad_names_have_a_line_each(given: SpecDocument, named: str, fault: type[Exception], said: str) -> None:
    with pytest.raises(fault, match=said):
        without_invariant(given, named)


def test_the_command_says_the_answer_first() -> None:
    path = ROOT / "specs/topdown-2020-pl-persons.dpspec.toml"
    found = commands.explain(path, without="person by state")
    assert str(found).splitlines()[0] == "Without person by state: no finite budget"
    assert found["without"]["published"]["budget"] == "inf"
    with pytest.raises(ParameterError, match="this is no file"):
        commands.explain("hamming", without=1)
    with pytest.raises(ParameterError, match="does not go with an audience"):
        commands.explain(path, "public", without=1)
