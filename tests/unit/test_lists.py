"""Spaces of lists, and distances of numbers and of texts. Walks and axioms are the conformance kit's; here are the edges."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from dpspec_divergences import EditDistance, HammingOrdered, L1Distance, L2Distance, LInfinityDistance, edits, metric

from dpspec import (
    BitVectors,
    BoundedIntegers,
    BoundedReals,
    ClippedVectors,
    IntegerCounts,
    Outcome,
    Texts,
    TimeSeries,
    ValueLists,
    build,
    number,
    verify,
)
from dpspec.base.errors import IncompatibleBlocksError, NotInSpaceError, ParameterError
from dpspec.blocks.bounded import NumberRange
from dpspec.extension import load_plugins
from dpspec.plugin import hookimpl

REALS = BoundedReals(low="-0.1", high=2)


# --- which datasets there are ---------------------------------------------------------------------


def test_reals_are_the_doubles_between_the_ends():
    assert REALS.dataset([-0.1, 0, 2, 1 / 3, -0.0]) == (-0.1, 0.0, 2.0, 1 / 3, 0.0)
    assert math.copysign(1, REALS.dataset([-0.0])[0]) == 1
    for wrong in (-0.2, math.nextafter(2.0, 3), math.nan, math.inf, "1", True, None):
        with pytest.raises(NotInSpaceError):
            REALS.dataset([wrong])
    assert REALS.dataset(np.array([0.5])) == (0.5,)


def test_every_double_comes_up_once():
    listed = list(itertools.islice(NumberRange(low="-0.1", high=2).numbers(), 300))
    assert len(set(listed)) == 300
    assert listed[:3] == [-0.1, 2.0, 0.0]
    assert {1.0, 0.5, 1.75} < set(listed)
    assert list(NumberRange(low=1, high=1).numbers()) == [1.0]
    tiny = NumberRange(low=0, high=Fraction(1, 1 << 40))
    assert float(tiny.high) / 2 in set(itertools.islice(tiny.numbers(), 5))


def test_a_grid_is_what_is_written():
    grid = BoundedReals(low=0, high="0.35", step="0.1", most=1)
    assert list(grid.datasets()) == [(), (0.0,), (0.1,), (0.2,), (0.3,)]
    assert grid.cardinality() == 5
    with pytest.raises(NotInSpaceError, match="in steps of 1/10"):
        grid.dataset([0.15])


@pytest.mark.parametrize("space", [
    BoundedReals(low=0, high=1), BoundedReals(low=0, high=1, ordered=False, least=1),
    ClippedVectors(dimension=2, norm="l2"), TimeSeries(length=2, low=0, high=1, least=1, most=2),
    BoundedIntegers(low=0, high=1), BoundedIntegers(low=-(10**12), high=10**12, most=2), Texts(alphabet="ab"),
])  # fmt: skip
def test_endless_spaces_are_listed_without_repetition_and_lengthen(space):
    listed = list(itertools.islice(space.datasets(), 400))
    assert len(set(listed)) == 400 == sum(space.dataset(dataset) == dataset for dataset in listed)
    assert max(map(len, listed)) >= 2
    assert space.cardinality() is None


@pytest.mark.parametrize(("norm", "inside", "outside"), [
    ("l1", (0.5, 0.5), (0.5, 0.5000001)), ("l2", (0.6, 0.79), (0.6, 0.8000001)), ("l-infinity", (1, -1), (0, 1.0000001)),
])  # fmt: skip
def test_vectors_are_clipped_exactly(norm, inside, outside):
    space = ClippedVectors(dimension=2, norm=norm, most=1)
    assert space.dataset([inside]) == (tuple(map(float, inside)),)
    with pytest.raises(NotInSpaceError, match="clip it"):
        space.dataset([outside])
    assert all(space.dataset([vector]) for vector in space.telling())


def test_vectors_of_many_dimensions_are_listed_at_once():
    space = ClippedVectors(dimension=1_000, norm="l1", least=1, most=1)
    assert len(list(itertools.islice(space.datasets(), 50))) == 50
    assert len(space.telling()) >= 7


def test_units_of_time_series_lie_in_each_other():
    space = TimeSeries(length=3, low=0, high=1, whole=True, least=2, most=2)
    dataset = space.dataset([[0, 1, 1], [0, 0, 0]])
    other = space.dataset([[0, 1, 0], [0, 0, 0]])
    assert [HammingOrdered(unit=unit).distance(dataset, other, space) for unit in space.units] == [1, 1]
    assert HammingOrdered(unit="event").distance(dataset, space.dataset([[1, 0, 0], [0, 0, 0]]), space) == 3
    assert space.most_within("event", "person") == 3
    with pytest.raises(ParameterError):
        TimeSeries(length=1, low=0, high="1/2", whole=True)


def test_texts_are_texts():
    space = Texts(alphabet="ab", most=2)
    assert space.dataset("ba") == space.dataset(["b", "a"]) == "ba"
    for wrong in ("abc", "aaa", 1, ["ab"]):
        with pytest.raises(NotInSpaceError):
            space.dataset(wrong)


def test_values_of_a_file_are_doubles_and_tuples():
    document = build(
        space={"type": "value-lists", "values": [["f", 30], ["m", 2.5]], "named": ["sex", "age"], "most": 1},
        input_divergence={"type": "symmetric-difference"}, output_divergence={"type": "mult"}, budget={"epsilon": 1},
    )  # fmt: skip
    space = document.spec.space
    assert space.values == (("f", 30), ("m", 2.5))
    assert type(space.values[1][1]) is float
    assert space.columns() == ("sex", "age")
    assert space.rows(space.dataset([["f", 30]])) == (("f", 30),)
    with pytest.raises(ParameterError, match="one for each part"):
        ValueLists(values=(1, 2), named=("a", "b"))


# --- distances ------------------------------------------------------------------------------------


def test_norms_are_exact():
    left, right = (0.1, 0.2), (0.3, 0.0)
    first, second = (abs(Fraction(a) - Fraction(b)) for a, b in zip(left, right, strict=True))
    assert L1Distance().distance(left, right, REALS) == number(first + second)
    assert L2Distance().distance((0, 0), (3, 4), IntegerCounts(length=2)) == 5
    assert str(L2Distance().distance((0, 0), (1, 1), BitVectors(length=2))) == "sqrt(2)"
    assert LInfinityDistance().distance(left, right, REALS) == number(max(first, second))
    assert L1Distance().distance((0.0,), (0.0, 0.0), REALS).is_infinite


def test_unordered_numbers_are_matched_at_the_least_price():
    """Against all orders, on every pair of a small space."""
    space = BoundedIntegers(low=0, high=3, least=2, most=3, ordered=False)
    for divergence in (L1Distance(), L2Distance(), LInfinityDistance()):
        for left, right in itertools.combinations(itertools.islice(space.datasets(), 26), 2):
            if len(left) == len(right):
                orders = [divergence.distance(order, right, space) for order in itertools.permutations(left)]
                assert divergence.distance(left, right, space) == min(orders)


def test_norms_need_numbers_in_an_order():
    for space in (Texts(alphabet="ab"), ValueLists(values=("a", 1)), ClippedVectors(dimension=2, ordered=False)):
        with pytest.raises(IncompatibleBlocksError):
            L2Distance().check(space)
    L2Distance().check(ClippedVectors(dimension=2))


def reference_edits(left, right, replacing):
    """The definition, without a table."""
    if not left or not right:
        return len(left) + len(right)
    here = 0 if left[0] == right[0] else replacing
    return min(
        here + reference_edits(left[1:], right[1:], replacing),
        1 + reference_edits(left[1:], right, replacing),
        1 + reference_edits(left, right[1:], replacing),
    )


@pytest.mark.parametrize("replacing", [1, 2])
def test_edits_are_counted_as_defined(replacing):
    for left, right in itertools.product(itertools.islice(Texts(alphabet="ab").datasets(), 31), repeat=2):
        assert edits(left, right, replacing) == reference_edits(left, right, replacing)


def test_a_text_code_is_verified_and_refuted_under_edit_distance():
    """One letter changes the parity of the letters a; it is told wrongly once in four times, and once in five."""
    document = build(
        space={"type": "texts", "alphabet": "ab", "most": 3}, input_divergence={"type": "edit-distance", "unit": "letter"},
        output_divergence={"type": "mult"}, budget={"epsilon": "ln(3)"},
    )  # fmt: skip
    right = verify(lambda text, rng: (text.count("a") + int(rng.random() < 0.25)) % 2, document)
    assert (right.outcome, str(right.constant)) == (Outcome.VERIFIED, "ln(3)")
    wrong = verify(lambda text, rng: (text.count("a") + int(rng.random() < 0.2)) % 2, document)
    assert (wrong.outcome, wrong.witness.left, wrong.witness.right) == (Outcome.REFUTED, "", "a")


def test_a_clipped_sum_is_verified_on_any_number_of_records():
    document = build(
        space={"type": "bounded-reals", "low": -1, "high": 1, "step": "1/2"}, input_divergence={"type": "hamming"},
        output_divergence={"type": "mult"}, budget={"epsilon": 1},
    )  # fmt: skip

    def clipped(numbers, rng):
        return sum(min(max(x, 0.0), 1.0) for x in numbers) + rng.laplace(scale=1.0)

    verdict = verify(clipped, document)
    assert (verdict.outcome, verdict.method, str(verdict.constant)) == (Outcome.VERIFIED, "derived", "1")


@pytest.mark.statistical
def test_a_mean_that_is_not_clipped_is_refuted():
    """A number moves it by 2, the noise allows for 1; 60,000 draws at most, wrong with probability at most 1e-9."""
    document = build(
        space={"type": "bounded-reals", "low": -1, "high": 1, "most": 4}, input_divergence={"type": "hamming"},
        output_divergence={"type": "mult"}, budget={"epsilon": 1},
    )  # fmt: skip
    assert verify(lambda xs, rng: sum(xs) + rng.laplace(scale=1.0), document, draws=60_000).outcome is Outcome.REFUTED


def test_a_function_is_an_input_divergence_by_name():
    def gap(left, right):
        """The difference of two totals."""
        return abs(sum(left) - sum(right))

    class Plugin:
        DPSPEC_API = 1

        @staticmethod
        @hookimpl
        def dpspec_register_input_divergences(register):
            register(metric("total-gap", gap))

    registry = load_plugins(modules=[("mine", Plugin())]).registry
    registered = registry.get("input_divergences", "total-gap")
    assert registered() == registered()
    assert registered.__doc__ == "The difference of two totals."
    assert registered().distance((0, 1), (3, 4), IntegerCounts(length=2)) == 6
    assert not registered().is_metric
    with pytest.raises(ParameterError, match="must be a function"):
        metric("total-gap", 3)


def test_edit_distance_is_bounded_by_positions():
    space = Texts(alphabet="ab", least=2, most=2)
    bound = EditDistance(unit="letter").bounded_by(HammingOrdered(unit="letter"), space)
    assert bound is not None
    assert bound[0] == 1
