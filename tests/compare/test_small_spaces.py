"""Small spaces: what two specifications say about pairs of datasets, against a list of all pairs."""

from __future__ import annotations

import itertools
import math
from typing import Any, ClassVar

import pytest
from dpspec_divergences import DNor, HammingOrdered, Mult, SymmetricDifference

from dpspec.base.exact import INFINITY, Number, number, sqrt
from dpspec.base.params import define
from dpspec.blocks.budget import BudgetTable, UniformBudget
from dpspec.blocks.invariant import Marginal
from dpspec.blocks.multiverse import ExplicitUniverses, LevelSets, Trivial
from dpspec.blocks.records import UnorderedRecords
from dpspec.blocks.space import Attribute, Dataset, DatasetSpace
from dpspec.blocks.vectors import BitVectors
from dpspec.grammar.spec import PrivacySpec
from dpspec.reason import small_spaces
from dpspec.reason.small_spaces import allowance, cases, constant, entries, first_datasets, own_pairs, pairs, product, universes

BITS = BitVectors(length=2)
SEX = Attribute(name="sex", categories=("f", "m"))
A, B, C, D = (0, 0), (0, 1), (1, 0), (1, 1)
LISTED = ExplicitUniverses(universes_by_label=(("ab", (A, B)), ("abc", (A, B, C)), ("d", (D,))))
TABLE = BudgetTable(parameter="epsilon", values=(("ab", number(2)), ("abc", number(3)), ("d", number(5))))


def spec(space: Any = BITS, multiverse: Any = None, d_x: Any = None, budget: Any = None, d_pr: Any = None) -> PrivacySpec:
    return PrivacySpec(
        space=space, multiverse=multiverse or Trivial(), input_divergence=d_x or HammingOrdered(),
        output_divergence=d_pr or Mult(), budget=budget or UniformBudget(parameter="epsilon", value=1),
    )  # fmt: skip


def test_the_allowance_is_the_least_of_the_universes_that_hold_both() -> None:
    given = spec(multiverse=LISTED, budget=TABLE)
    found = {pair: allowance(given, pair) for pair in itertools.product((A, B, C, D), repeat=2)}
    finite = {(A, B): 2, (A, C): 3, (B, C): 6}
    for (x, y), bracket in found.items():
        wanted = 0 if x == y else finite.get((x, y), finite.get((y, x), math.inf))
        assert bracket.lower is bracket.upper or bracket.lower == bracket.upper
        assert float(bracket.lower) == wanted


def test_a_budget_counts_as_its_lipschitz_constant() -> None:
    assert constant(spec(d_pr=DNor(), budget=UniformBudget(parameter="rho", value="1/2"))) == sqrt(2) / 2
    assert constant(spec()) == number(1)
    assert constant(spec(multiverse=LISTED, budget=TABLE)) is None
    exact = product(number("1/2"), number(4))
    assert exact.lower == exact.upper == number(2)
    rough = product(number("ln(2)"), sqrt(2))
    assert rough.lower < rough.upper
    assert float(rough.lower) == pytest.approx(math.log(2) * math.sqrt(2), rel=1e-12)


def test_one_case_of_each_kind_and_none_is_left_out() -> None:
    premise, conclusion = spec(multiverse=LISTED, budget=TABLE), spec(d_x=SymmetricDifference(), space=BITS)
    rates = {A: 2, B: 2, C: 3, D: 5}  # the least over the universes of the first dataset
    together = {frozenset((A, B)), frozenset((A, C)), frozenset((B, C))}
    wanted = set()
    for x, y in itertools.permutations((A, B, C, D), 2):
        ones = sum(x), sum(y)
        between = 2 * abs(ones[0] - ones[1])  # bits as a multiset: one that is set replaces one that is not
        if between:
            near = sum(a != b for a, b in zip(x, y, strict=True))
            wanted.add((near, frozenset((x, y)) in together, rates[x], between))
        else:
            wanted.add((2, frozenset((x, y)) in together, rates[x], 0))
    found = [(float(c.near), c.together, float(c.rate), float(c.allowed.lower)) for c in cases(premise, conclusion)]
    assert set(found) == wanted
    assert len(found) == len(wanted)


def test_pairs_are_of_one_universe_at_finite_distance_the_closest_first() -> None:
    people = UnorderedRecords(attributes=(SEX,), most=3)
    total = LevelSets(invariants=(Marginal(attributes=()),))
    given = spec(people, total, SymmetricDifference())
    found = list(pairs(given, given))
    every = [
        pair for pair in itertools.combinations(people.datasets(), 2)
        if len(pair[0]) == len(pair[1]) and pair[0] != pair[1]  # type: ignore[arg-type]
    ]  # fmt: skip
    first = found[: len(every)]
    assert {frozenset(pair) for pair in first} == {frozenset(pair) for pair in every}
    distances = [given.distance(*pair) for pair in first]
    assert distances == sorted(distances)
    assert all(len(x) == len(y) for x, y in found)  # type: ignore[arg-type]
    assert list(own_pairs(given)) == found
    assert list(own_pairs(given)) == found  # what is remembered is read again


def test_universes_of_one_dataset_are_left_out() -> None:
    assert universes(BITS, BITS, LISTED) == ([A, B], [A, B, C])
    people = UnorderedRecords(attributes=(SEX,), most=2)
    by_size = universes(people, people, LevelSets(invariants=(Marginal(attributes=()),)))
    assert [len(held) for held in by_size] == [2, 3]


@define
class OneWay(HammingOrdered):
    """Infinite from a larger dataset to a smaller one."""

    name: ClassVar[str] = "one-way"
    is_symmetric: ClassVar[bool] = False

    def distance(self, left: Dataset, right: Dataset, space: DatasetSpace) -> Number:
        return INFINITY if left > right else super().distance(left, right, space)  # type: ignore[operator]


def test_a_pair_that_is_compared_one_way_is_found() -> None:
    class Upwards(OneWay):
        def distance(self, left: Dataset, right: Dataset, space: DatasetSpace) -> Number:
            return super().distance(right, left, space)

    for d_x in (OneWay(), Upwards()):
        given = spec(d_x=d_x)
        assert {frozenset(pair) for pair in pairs(given, given)} == set(map(frozenset, itertools.combinations((A, B, C, D), 2)))


def test_datasets_are_listed_as_far_as_limits_allow(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [entries(x) for x in ((), (1, 2), ("abc",), (("f",), ("m", "x")), "abc", 5)] == [1, 3, 2, 1 + 2 + 3, 4, 1]
    wide = BitVectors(length=10)
    assert len(list(first_datasets(wide))) == 1024
    monkeypatch.setattr(small_spaces, "WALKED", 7)
    assert len(list(first_datasets(wide))) == 7
    monkeypatch.setattr(small_spaces, "LABELLED", 10)
    assert len(list(first_datasets(wide, invariants=5))) == 3
    monkeypatch.setattr(small_spaces, "ENTRIES", 22)
    assert len(list(first_datasets(wide, invariants=1))) == 2
