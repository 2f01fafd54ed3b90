"""Every hypothesis of every rule is needed: where it is dropped, a mechanism keeps the premise and breaks the conclusion."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, ClassVar

import pytest

from dpspec.api import compare
from dpspec.base.exact import Number, number
from dpspec.base.params import define
from dpspec.blocks.budget import Budget, BudgetTable
from dpspec.blocks.input_divergence import InputDivergence
from dpspec.blocks.invariant import LinearMap, Marginal
from dpspec.blocks.multiverse import LevelSets, Multiverse
from dpspec.blocks.records import UnorderedRecords
from dpspec.blocks.vectors import BitVectors
from dpspec.comparison.compare import Answer
from dpspec.extension import installed
from dpspec.grammar.rule import Conversion
from dpspec.grammar.spec import PrivacySpec
from dpspec.laws.integers import TwoSidedGeometricLaw
from dpspec.laws.law import FiniteLaw
from dpspec.reason.search import rules_of, search
from dpspec.verifier.exhaustive import verify
from dpspec.verifier.verdict import Outcome
from tests.compare.test_rules import (
    ADDED,
    BITS,
    COUNTS,
    HALF,
    HAMMING,
    MULT,
    ORDERED,
    PAIRS,
    REPLACED,
    SEX,
    SYMMETRIC,
    TWO,
    A,
    B,
    C,
    D,
    by_list,
    d_pr,
    d_x,
    spec,
    table,
)  # fmt: skip
from tests.verify.toys import Toy

THREE, BIT = BitVectors(length=3), BitVectors(length=1)
SMALL = UnorderedRecords(attributes=(SEX,), most=1)
ONE = UnorderedRecords(attributes=(SEX,), least=1, most=1)
STEPS = d_x("neighbour", "differ-in-one-position")
VARIATION, ZCDP, KL = d_pr("total-variation"), d_pr("d-nor"), d_pr("f-divergence", generator="kl", direction="both")
MOST = d_pr("mult-delta", delta="9/10")
ONES = LevelSets(invariants=(LinearMap(rows=((1, 1, 1),)),))
ONES_AND_FIRST = LevelSets(invariants=(LinearMap(rows=((1, 1, 1), (1, 0, 0))),))
SIZES = LevelSets(invariants=(Marginal(attributes=()),))


@define
class SizeOfTheSpace(InputDivergence):
    """The number of datasets of the space, between any two of them."""

    name: ClassVar[str] = "size-of-the-space"

    def distance(self, left: Any, right: Any, space: Any) -> Number:
        return number(0 if left == right else space.cardinality())


@define
class OneEachWhereMany(Multiverse):
    """Every dataset in a universe of its own where there are more than three, else all in one."""

    name: ClassVar[str] = "one-each-where-many"
    invariants: ClassVar[None] = None

    def labels(self, dataset: Any, space: Any) -> tuple[Any, ...]:
        return (dataset if space.cardinality() > 3 else "all",)


@define
class NothingWhereFew(Budget):
    """10 where the space has more than three datasets, else 0."""

    name: ClassVar[str] = "nothing-where-few"
    parameter: ClassVar[str] = "epsilon"  # type: ignore[misc]

    def at(self, universe: Any, space: Any) -> Number:
        return number(10 if space.cardinality() > 3 else 0)


def says(chance: Callable[[Any], Any]) -> Toy:
    """Yes with a probability."""
    return Toy(lambda x: FiniteLaw.bernoulli(Fraction(chance(x))))


TELLS = Toy(FiniteLaw.point)


def tells(value: Callable[[Any], Any]) -> Toy:
    return Toy(lambda x: FiniteLaw.point(value(x)))


COIN = says(lambda x: "2/3" if x[0] else "1/3")
MANY = spec(TWO, SYMMETRIC, value=10)
"""Two records at most: 6 datasets, of which a space of one record has 3."""

Dropped = tuple[PrivacySpec, PrivacySpec, Toy]
LEFT_ONLY = table(spec(BITS, ORDERED, multiverse=by_list(left=(A, B), right=(C, D))), left="inf", right=0)

DROPPED: dict[tuple[str, str], Dropped] = {
    ("larger-budget", "no smaller"): (spec(BIT, ORDERED, value="ln(2)"), spec(BIT, ORDERED, value="ln(3/2)"), COIN),
    ("larger-budgets", "in every universe"): (LEFT_ONLY, table(LEFT_ONLY, left=0, right=9), tells(lambda x: x[1] * (1 - x[0]))),
    ("finer-universes", "inside"): (
        spec(THREE, ORDERED, multiverse=ONES, value=0), spec(THREE, ORDERED, value=0), tells(sum),
    ),
    ("finer-universes", "one budget"): (
        spec(THREE, ORDERED, multiverse=ONES).replace(budget=BudgetTable(
            parameter="epsilon", values=tuple((((n,),), number("inf" if n == 1 else 0)) for n in range(4)))),
        spec(THREE, ORDERED, multiverse=ONES_AND_FIRST, value=0),
        tells(lambda x: x if sum(x) == 1 else None),
    ),
    ("listed-universes", "shared"): (
        spec(BITS, ORDERED, multiverse=by_list(one=(A, B), two=(C, D)), value=0),
        spec(BITS, ORDERED, multiverse=by_list(one=(A, C)), value=0),
        tells(lambda x: x[0]),
    ),
    ("listed-universes", "no smaller"): (
        table(spec(BITS, ORDERED, multiverse=by_list(one=(A, B), two=(C, D))), one="inf", two=0),
        table(spec(BITS, ORDERED, multiverse=by_list(three=(A, B))), three=1),
        tells(lambda x: x[1] * (1 - x[0])),
    ),
    ("smaller-space", "part"): (spec(SMALL, SYMMETRIC, value=0), spec(TWO, SYMMETRIC, value=0), tells(lambda x: len(x) == 2)),
    ("smaller-space", "distances do not shrink"): (
        spec(TWO, SizeOfTheSpace(), value="ln(2)"), spec(SMALL, SizeOfTheSpace(), value="ln(2)"),
        says(lambda x: "16/17" if x == () else "1/17"),
    ),
    ("smaller-space", "universes of invariants"): (
        spec(TWO, SYMMETRIC, multiverse=OneEachWhereMany(), value=0),
        spec(SMALL, SYMMETRIC, multiverse=OneEachWhereMany(), value=0),
        TELLS,
    ),
    ("smaller-space", "one budget"): (
        MANY.replace(budget=NothingWhereFew()), spec(SMALL, SYMMETRIC).replace(budget=NothingWhereFew()),
        says(lambda x: "2/3" if x == () else "1/3"),
    ),
    ("input-domination", "constant"): (
        spec(PAIRS, HAMMING, value="ln(2)"), spec(PAIRS, SYMMETRIC, value="1/4 ln(2)"),
        says(lambda x: "2/3" if x == (("old",), ("old",)) else "1/3"),
    ),
    ("input-domination", "rescaled"): (
        spec(TWO, SYMMETRIC, value="ln(2)"), spec(TWO, d_x("within-distance", of=SYMMETRIC, most=2), value="ln(2)"),
        Toy(lambda x: TwoSidedGeometricLaw(center=len(x), decay=number("ln(2)"))),
    ),
    ("domination-inside-universes", "constant inside"): (
        spec(COUNTS, HAMMING, multiverse=SIZES, value="ln(2)"), spec(COUNTS, SYMMETRIC, multiverse=SIZES, value="1/4 ln(2)"),
        says(lambda x: "2/3" if x[0] == 2 else "1/3"),
    ),
    ("domination-inside-universes", "fixed numbers"): (spec(TWO, HAMMING, value=0), spec(TWO, SYMMETRIC, value=0), tells(len)),
    ("domination-inside-universes", "rescaled"): (
        spec(COUNTS, HAMMING, multiverse=SIZES, value="ln(2)"), spec(COUNTS, SYMMETRIC, multiverse=SIZES, value="49/100 ln(2)"),
        says(lambda x: "2/3" if x[0] else "1/3"),
    ),
    ("neighbours-to-paths", "triangle inequality"): (
        spec(BITS, STEPS, HALF, value=0), spec(BITS, ORDERED, HALF, value=0), says(lambda x: Fraction(sum(x), 10)),
    ),
    ("neighbours-to-paths", "paths inside"): (
        spec(THREE, STEPS, multiverse=ONES, value=0), spec(THREE, ORDERED, multiverse=ONES, value=0), TELLS,
    ),
    ("neighbours-to-paths", "same neighbours"): (
        spec(PAIRS, ADDED, value=0), spec(PAIRS, d_x("path", "replace-one"), value=0), TELLS,
    ),
    ("output-domination", "constant"): (
        spec(BIT, ORDERED, value="ln(2)"), spec(BIT, ORDERED, VARIATION, value="1/4 ln(2)"), COIN,
    ),
    ("output-domination", "rescaled"): (
        spec(BIT, ORDERED, ZCDP, value="1/2"), spec(BIT, ORDERED, VARIATION, value="1/8"), COIN,
    ),
    ("equal-laws", "separates laws"): (spec(BITS, ORDERED, MOST, value=0), spec(BITS, ORDERED, VARIATION, value=0),
        says(lambda x: "9/10" if x == A else 0)),
    ("equal-laws", "budget 0"): (spec(BIT, ORDERED, value="ln(2)"), spec(BIT, ORDERED, VARIATION, value=0), COIN),
    ("conversion", "formula"): (spec(BIT, STEPS, value="ln(2)"), spec(BIT, STEPS, VARIATION, value="33/100"), COIN),
    ("conversion", "neighbours"): (
        spec(BITS, ORDERED, value="ln(2)"), spec(BITS, ORDERED, KL, value="1/3 ln(2)"),
        Toy(lambda x: TwoSidedGeometricLaw(center=sum(x), decay=number("ln(2)"))),
    ),
    ("conversion", "apart"): (  # (ln(2)/2) tanh(ln 2) = 0.20794, where two persons of different sex are at distance 1
        spec(ONE, HAMMING, multiverse=SIZES, value="ln(2)"), spec(ONE, HAMMING, ZCDP, multiverse=SIZES, value="2080/10000"),
        says(lambda x: "2/3" if x == (("f",),) else "1/3"),
    ),
    ("conversion", "one budget"): (
        table(spec(BITS, STEPS, multiverse=by_list(left=(A, B), right=(C, D))), left="ln(2)", right="ln(3)"),
        spec(BITS, STEPS, VARIATION, multiverse=by_list(left=(A, B), right=(C, D)), value="1/3"),
        says(lambda x: 0 if x[0] == 0 else "3/4" if x[1] else "1/4"),
    ),
    ("conversion", "any mechanism"): (
        spec(BIT, STEPS, ZCDP, value="11/20"), spec(BIT, STEPS, d_pr("gaussian-trade-off"), value="sqrt(11/10)"),
        says(lambda x: "3/4" if x[0] else "1/4"),
    ),
    ("approximate-groups", "steps"): (
        spec(SMALL, ADDED, HALF, value=0), spec(SMALL, REPLACED, HALF, value=0),
        says(lambda x: {(): "1/10", (("f",),): "2/10"}.get(x, 0)),
    ),
    ("approximate-groups", "paths inside"): (
        spec(PAIRS, ADDED, HALF, multiverse=SIZES, value=0),
        spec(PAIRS, REPLACED, d_pr("mult-delta", delta="2/10"), multiverse=SIZES, value=0),
        TELLS,
    ),
    ("approximate-groups", "epsilon grows"): (
        spec(SMALL, ADDED, d_pr("mult-delta", delta="1/20"), value="ln(2)"),
        spec(SMALL, REPLACED, d_pr("mult-delta", delta="3/20"), value="ln(2)"),
        says(lambda x: {(): "9/20", (("f",),): "29/40"}.get(x, "1/5")),
    ),
    ("approximate-groups", "delta grows"): (
        spec(SMALL, ADDED, HALF, value="ln(2)"), spec(SMALL, REPLACED, d_pr("mult-delta", delta="2/10"), value="2*ln(2)"),
        says(lambda x: {(): "1/10", (("f",),): "3/10"}.get(x, 0)),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("rule", "hypothesis"), DROPPED)
def test_without_the_hypothesis_the_conclusion_is_false(rule: str, hypothesis: str) -> None:
    premise, conclusion, mechanism = DROPPED[rule, hypothesis]
    kept = verify(mechanism, premise)
    assert kept.outcome is Outcome.VERIFIED, kept
    assert verify(mechanism, conclusion).outcome is Outcome.REFUTED
    assert not search(premise, conclusion, rules_of(installed().registry)).arrived


def test_every_hypothesis_is_dropped_once() -> None:
    """Those of conversions once for all of them: they share the hypotheses, and differ in the formula."""
    stated = {
        ("conversion" if isinstance(rule, Conversion) else rule.name, name)
        for rule in rules_of(installed().registry)
        for name in rule.hypotheses
    }
    assert stated == set(DROPPED)
    assert all(rule.hypotheses for rule in rules_of(installed().registry))


def test_budgets_of_zero_and_equal_laws() -> None:
    """What was called equivalent once: laws that are within (0, 9/10), or within a factor of e^5, are not equal."""
    for outputs, other in ((MOST, VARIATION), (d_pr("hockey-stick", epsilon=5), KL), (d_pr("pbdp", delta=1), MULT)):
        found = compare(spec(BITS, ORDERED, outputs, value=0), spec(BITS, ORDERED, other, value=0))
        assert found.forward.answer is not Answer.IMPLIES
        assert found.backward.answer is Answer.IMPLIES
