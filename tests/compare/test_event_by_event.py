"""Event by event: inequalities are rounded on the safe side, and what follows from them is what no event breaks."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any, ClassVar

import pytest
from dpspec_divergences import DifferInOnePosition, HammingOrdered, Mult, MultDelta, Neighbour, TotalVariation

from dpspec.base.exact import INFINITY, ZERO, Number, number
from dpspec.base.params import define
from dpspec.blocks.budget import BudgetTable, UniformBudget
from dpspec.blocks.input_divergence import InputDivergence
from dpspec.blocks.multiverse import ExplicitUniverses, Trivial
from dpspec.blocks.space import Dataset, DatasetSpace
from dpspec.blocks.vectors import BitVectors
from dpspec.grammar.spec import PrivacySpec
from dpspec.reason.event_by_event import broken, event_by_event, lines

BIT, BITS = BitVectors(length=1), BitVectors(length=2)
NO, YES = (0,), (1,)


@define
class OneWay(InputDivergence):
    """What was added is compared, what was taken away is not."""

    name: ClassVar[str] = "one-way"

    def distance(self, left: Dataset, right: Dataset, space: DatasetSpace) -> Number:
        if left == right:
            return ZERO
        return number(1) if left < right else INFINITY  # type: ignore[operator]  # both are tuples


def spec(divergence: Any, value: Any, space: Any = BIT, d_x: Any = None, multiverse: Any = None) -> PrivacySpec:
    return PrivacySpec(
        space=space, multiverse=multiverse or Trivial(), input_divergence=d_x or HammingOrdered(), output_divergence=divergence,
        budget=UniformBudget(parameter=divergence.budget_parameters[0], value=value),
    )  # fmt: skip


def delta_of(ratio: Fraction, other: Fraction) -> Fraction:
    """The hockey stick of randomised response with odds `ratio`, at another ratio: a single formula."""
    return max((ratio - other) / (ratio + 1), Fraction(0))


@pytest.mark.parametrize("ratio", [Fraction(3), Fraction(3, 2)])
@pytest.mark.parametrize("other", [Fraction(1), Fraction(5, 4), Fraction(2), Fraction(4)])
def test_approximate_from_pure_privacy_at_equality(ratio: Fraction, other: Fraction) -> None:
    premise, delta = spec(Mult(), f"ln({ratio})"), delta_of(ratio, other)
    assert event_by_event(premise, spec(MultDelta(delta=delta), f"ln({other})")) is not None
    if delta:
        goal = spec(MultDelta(delta=delta - Fraction(1, 10**9)), f"ln({other})")
        assert event_by_event(premise, goal) is None
        found = list(broken(premise, goal))
        assert found
        for event in found:
            p, q = (event.probabilities.get(x, Fraction(1)) for x in event.pair)
            assert p <= ratio * q
            assert 1 - q <= ratio * (1 - p)
            assert p > other * q + delta - Fraction(1, 10**9)


def test_a_delta_holds_for_the_complement_too() -> None:
    """p <= r q + s for every event is 1 - q <= r (1 - p) + s: total variation of (ln 3, 1/10) is 0.55 on one bit."""
    premise, most = spec(MultDelta(delta="1/10"), "ln(3)"), Fraction(11, 20)
    grid = (Fraction(k, 1000) for k in range(1001))
    best = max(min(3 * q + Fraction(1, 10), 1 - (1 - q - Fraction(1, 10)) / 3) - q for q in grid)
    assert best == most
    assert event_by_event(premise, spec(TotalVariation(), most)) is not None
    assert event_by_event(premise, spec(TotalVariation(), most - Fraction(1, 10**9))) is None


def test_two_steps_of_a_path_add_their_deltas() -> None:
    """At distance 2 the ratios multiply, and the first delta is multiplied by the second ratio."""
    premise = spec(MultDelta(delta="1/100"), "ln(2)", BITS, Neighbour(relation=DifferInOnePosition()))
    near = ExplicitUniverses(universes_by_label=(("far", ((0, 0), (1, 1))),))
    for delta, follows in (("3/100", True), ("299/10000", False)):
        goal = spec(MultDelta(delta=delta), "ln(2)", BITS, None, near)  # e^(2 eps) = 4 at distance 2
        assert (event_by_event(premise, goal) is not None) is follows


def test_irrational_ratios_are_rounded_up_where_given_and_down_where_asked() -> None:
    one = spec(Mult(), 1)
    for up, good in ((True, lambda r: r > math.e and r < math.e + 1e-9), (False, lambda r: r < math.e and r > math.e - 1e-9)):
        found = lines(one, up=up)
        assert found is not None
        ratios = [ratio for held in found.values() for ratio, _ in held]
        assert len(ratios) == 2
        # e lies between the partial sums of its series
        partial = sum((Fraction(1, math.factorial(k)) for k in range(30)), Fraction(0))
        assert all((ratio > partial) is up for ratio in ratios)
        assert all(good(float(ratio)) or abs(float(ratio) - math.e) < 1e-12 for ratio in ratios)


def test_a_distance_between_two_bounds_is_rounded_too() -> None:
    """ln(2) sqrt(2) has no exact form: what is given may be more, and what is asked may be less."""

    @define
    class Diagonal(OneWay):
        name: ClassVar[str] = "diagonal"
        is_symmetric: ClassVar[bool] = True

        def distance(self, left: Dataset, right: Dataset, space: DatasetSpace) -> Number:
            return ZERO if left == right else number("sqrt(2)")

    given, asked = (lines(spec(Mult(), "ln(2)", d_x=Diagonal()), up=up) for up in (True, False))
    assert given is not None
    assert asked is not None
    with localcontext(prec=60):
        true = Fraction((Decimal(2).ln() * Decimal(2).sqrt()).exp())
    for pair in itertools.permutations((NO, YES)):
        (upper, _), (lower, _) = *given[pair], *asked[pair]  # type: ignore[index]
        assert true * (1 - Fraction(1, 10**12)) < lower < true < upper < true * (1 + Fraction(1, 10**12))
    same = spec(Mult(), "ln(2)", d_x=Diagonal())
    assert event_by_event(same, same.replace(output_divergence=MultDelta(delta="1/1000"))) is not None


@pytest.mark.parametrize(("divergence", "both"), [(Mult(), True), (MultDelta(delta="1/10"), True), (TotalVariation(), True)])
def test_a_symmetric_divergence_bounds_both_orders_of_a_pair(divergence: Any, both: bool) -> None:
    assert divergence.is_symmetric is both
    found = lines(spec(divergence, "1/2", d_x=OneWay()), up=False)
    assert found is not None
    assert set(found) == {(NO, YES), (YES, NO)}
    assert found[NO, YES] == found[YES, NO]


@define
class Forwards(MultDelta):
    """P against Q, and not Q against P."""

    name: ClassVar[str] = "forwards"
    is_symmetric: ClassVar[bool] = False

    def event_bounds(self, bound: Number) -> Any:
        return ((bound, number(self.delta)),)


def test_one_order_of_one_order_is_all_that_is_given() -> None:
    found = lines(spec(Forwards(delta="1/10"), "ln(2)", d_x=OneWay()), up=True)
    assert found == {(NO, YES): ((Fraction(2), Fraction(1, 10)),)}


def test_budgets_by_universe_count_where_both_datasets_are() -> None:
    halves = ExplicitUniverses(universes_by_label=(("low", ((0, 0), (0, 1))), ("all", ((0, 0), (0, 1), (1, 0)))))
    table = BudgetTable(parameter="epsilon", values=(("low", number("ln(2)")), ("all", number("ln(3)"))))
    given = spec(Mult(), 1, BITS, None, halves).replace(budget=table)
    found = lines(given, up=True)
    assert found is not None
    ratio = {frozenset(pair): held[0][0] for pair, held in found.items()}
    wanted: Mapping[frozenset[Any], Fraction] = {
        frozenset({(0, 0), (0, 1)}): Fraction(2), frozenset({(0, 0), (1, 0)}): Fraction(3),
        frozenset({(0, 1), (1, 0)}): Fraction(9),
    }  # fmt: skip
    assert ratio == wanted


def test_large_spaces_and_other_spaces_are_not_decided() -> None:
    large = spec(Mult(), 1, BitVectors(length=5))
    assert lines(large, up=True) is None
    assert event_by_event(large, large) is None
    assert event_by_event(spec(Mult(), 1), spec(Mult(), 1, BITS)) is None
    assert list(broken(spec(Mult(), 1), spec(Mult(), 1, BITS))) == []
