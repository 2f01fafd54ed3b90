"""The five blocks together: what they promise of a pair, and what every mechanism satisfies."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest
from dpspec_divergences import DNor, Hamming, HammingOrdered, L1Distance, Mult, MultDelta, SymmetricDifference, TotalVariation

from dpspec.base.errors import (
    BudgetParameterError,
    EmptyLedgerError,
    IncompatibleBlocksError,
    MixedLedgerError,
    NotInSpaceError,
    NotInUniverseError,
    PluginContractError,
)
from dpspec.base.exact import INFINITY, ZERO, Number, number, sqrt
from dpspec.base.params import define
from dpspec.blocks.budget import BudgetTable, OpenBudget, UniformBudget
from dpspec.blocks.input_divergence import InputDivergence
from dpspec.blocks.invariant import Marginal
from dpspec.blocks.multiverse import ExplicitUniverses, LevelSets, Trivial
from dpspec.blocks.records import Households, UnorderedRecords
from dpspec.blocks.space import Attribute, Dataset, DatasetSpace
from dpspec.blocks.vectors import BitVectors
from dpspec.grammar.spec import (
    PrivacySpec,
    allowed_to_all,
    blocks_of,
    check_kinds,
    check_number,
    compares_sizes,
    key_of_blocks,
    least_constant,
)

BITS = BitVectors(length=2)
A, B, C, D = (0, 0), (0, 1), (1, 0), (1, 1)
LISTED = ExplicitUniverses(universes_by_label=(("ab", (A, B)), ("abc", (A, B, C)), ("d", (D,))))
TABLE = BudgetTable(parameter="epsilon", values=(("ab", number(2)), ("abc", number(3)), ("d", number(5))))
SEX = Attribute(name="sex", categories=("f", "m"))
PEOPLE = UnorderedRecords(attributes=(SEX,), most=3)


def spec(divergence: Any = None, budget: Any = 1, space: Any = BITS, d_x: Any = None, multiverse: Any = None) -> PrivacySpec:
    divergence = divergence or Mult()
    if not hasattr(budget, "parameter"):
        budget = UniformBudget(parameter=divergence.budget_parameters[0], value=budget)
    return PrivacySpec(
        space=space, multiverse=multiverse or Trivial(), input_divergence=d_x or HammingOrdered(), output_divergence=divergence,
        budget=budget,
    )  # fmt: skip


def test_the_least_promise_about_a_pair() -> None:
    given = spec(budget=TABLE, multiverse=LISTED)
    assert [given.allowance(*pair) for pair in ((A, B), (B, A), (A, C), (B, C), (A, A))] == [number(n) for n in (2, 2, 3, 6, 0)]
    with pytest.raises(NotInUniverseError):
        given.allowance(A, D)
    with pytest.raises(NotInSpaceError):
        given.allowance(A, (0, 2))
    rooted = spec(DNor(), 2)
    assert rooted.allowance(A, D) == 2 * sqrt(2)


def test_blocks_that_do_not_fit_are_refused_together() -> None:
    with pytest.raises(IncompatibleBlocksError):
        spec(multiverse=Mult())
    with pytest.raises(BudgetParameterError, match="takes rho"):
        spec(DNor(), UniformBudget(parameter="epsilon", value=1))


def test_numbers_of_plugins_are_exact_and_not_negative() -> None:
    for good in (ZERO, INFINITY, number("1/3"), number("ln(2)")):
        check_number(good, "it", "a number")
    for bad in (1, 1.0, number(-1), number("-ln(2)"), None):
        with pytest.raises(PluginContractError):
            check_number(bad, "it", "a number")

    @define
    class Whole(HammingOrdered):
        name: ClassVar[str] = "whole"

        def distance(self, left: Dataset, right: Dataset, space: DatasetSpace) -> Number:
            return 1  # type: ignore[return-value]

    with pytest.raises(PluginContractError):
        spec(d_x=Whole()).distance(A, B)


def test_keys_and_names_of_blocks() -> None:
    assert list(blocks_of(spec())) == ["space", "multiverse", "input_divergence", "output_divergence", "budget"]
    assert key_of_blocks(spec()) == key_of_blocks(spec())
    assert key_of_blocks(spec()) != key_of_blocks(spec(budget=2))


def test_bounded_and_unbounded_neighbours() -> None:
    total = LevelSets(invariants=(Marginal(attributes=()),))
    cases = [
        (spec(space=PEOPLE, d_x=SymmetricDifference()), True),
        (spec(space=PEOPLE, d_x=Hamming()), False),
        (spec(space=PEOPLE, d_x=SymmetricDifference(), multiverse=total), None),
        (spec(), None),
    ]
    assert [compares_sizes(given) for given, _ in cases] == [answer for _, answer in cases]
    unbounded, bounded = cases[0][0], cases[1][0]
    check_kinds([("a", unbounded), ("b", cases[2][0])])
    with pytest.raises(EmptyLedgerError):
        check_kinds([])
    with pytest.raises(MixedLedgerError, match=r"unbounded neighbours \(one:.*bounded ones \(two:"):
        check_kinds([("two", bounded), ("one", unbounded)])


def test_a_distance_without_a_unit_is_bounded_when_it_is_so_for_some_unit() -> None:
    homes = Households(household=(SEX,), person=(Attribute(name="age", count=2),), most=2, members=2)

    @define
    class SameHomes(InputDivergence):
        """Datasets with equally many households are at distance 1."""

        name: ClassVar[str] = "same-homes"

        def distance(self, left: Dataset, right: Dataset, space: DatasetSpace) -> Number:
            sizes = [len(space.records(x, "household")) for x in (left, right)]
            return ZERO if left == right else number(1) if sizes[0] == sizes[1] else INFINITY

    given = spec(space=homes, d_x=SameHomes())
    assert SameHomes().counted_unit() is None
    assert compares_sizes(given) is False


@pytest.mark.parametrize(
    ("divergence", "budget", "d_x", "allowed"),
    [
        (TotalVariation(), 0, None, False),
        (MultDelta(delta="99/100"), 9, None, False),
        (TotalVariation(), 1, None, True),
        (TotalVariation(), "99/100", None, False),
        (Mult(), INFINITY, None, True),
        (Mult(), 10**6, None, False),
        (DNor(), INFINITY, None, True),
    ],
)
def test_what_every_mechanism_satisfies(divergence: Any, budget: Any, d_x: Any, allowed: bool) -> None:
    assert (allowed_to_all(spec(divergence, budget, d_x=d_x)) is not None) is allowed


def test_the_least_distance_counts() -> None:
    """Half a unit apart, half the budget; two units apart, twice of it."""

    @define
    class Scaled(HammingOrdered):
        name: ClassVar[str] = "scaled"
        times: ClassVar[str] = "1/2"

        def distance(self, left: Dataset, right: Dataset, space: DatasetSpace) -> Number:
            return super().distance(left, right, space) * number(self.times)

        def least_distance(self, space: DatasetSpace) -> Number:
            return number(self.times)

    @define
    class Double(Scaled):
        name: ClassVar[str] = "double"
        times: ClassVar[str] = "2"

        def least_distance(self, space: DatasetSpace) -> Number:
            return number(self.times)

    assert allowed_to_all(spec(TotalVariation(), 1, d_x=Scaled())) is None
    assert allowed_to_all(spec(TotalVariation(), 2, d_x=Scaled())) is not None
    assert allowed_to_all(spec(TotalVariation(), "1/2", d_x=Double())) is not None
    assert allowed_to_all(spec(TotalVariation(), "1/2", d_x=HammingOrdered()), number(1)) is not None
    reals = L1Distance()
    assert reals.least_distance(BITS) is None or allowed_to_all(spec(TotalVariation(), 1)) is not None


class Both(MultDelta):
    """Every event is bounded twice, and only one of the bounds allows all."""

    name: ClassVar[str] = "both"

    def event_bounds(self, bound: Number) -> Any:
        return ((bound, number(1)), (bound, number("1/2")))


def test_all_bounds_of_an_event_have_to_allow_it() -> None:
    assert allowed_to_all(spec(Both(delta="1/2"), 1)) is None


def test_the_least_constant_of_a_budget() -> None:
    assert least_constant(spec(DNor(), 2)) == sqrt(2)
    assert least_constant(spec(budget=TABLE, multiverse=LISTED)) in (None, number(2))
    assert least_constant(spec(budget=OpenBudget(parameter="epsilon", at_least="1/2", at_most=8))) == number(8)
    assert least_constant(spec(budget=OpenBudget(parameter="epsilon", at_least="1/2"))) == number("1/2")
    assert least_constant(spec(budget=OpenBudget(parameter="epsilon"))) is None


def test_both_orders_are_covered_where_one_side_is_symmetric() -> None:
    @define
    class OneWay(HammingOrdered):
        name: ClassVar[str] = "one-way"
        is_symmetric: ClassVar[bool] = False

    class Forwards(Mult):
        name: ClassVar[str] = "forwards"
        is_symmetric: ClassVar[bool] = False

    found = [spec(d_pr, d_x=d_x).covers_both_orders for d_pr in (Mult(), Forwards()) for d_x in (HammingOrdered(), OneWay())]
    assert found == [True, True, True, False]
