"""Outputs of every kind as atoms and events; the space of plain lists."""

from __future__ import annotations

import math

import numpy as np
import pytest
from dpspec_code.sampled.events import (
    WHOLE,
    Atoms,
    Both,
    Combination,
    Extreme,
    Ranges,
    Remainder,
    Shapes,
    Whole,
    both,
    merged,
    projections,
)

from dpspec.base.errors import NotInSpaceError, ParameterError
from dpspec.blocks.lists import ValueLists
from dpspec.blocks.space import presented
from dpspec.verifier.outputs import Outcomes, Raised, atom, written
from tests.verify.toys import block

ODD = [
    3, 3.0, True, None, math.nan, math.inf, -math.inf, "text", b"raw", (1, 2), [1, 2], (1, 2.0), {"a": 1}, {1, 2},
    np.array([1.5, 2]),
    np.float64(0.25), np.int64(7), np.bool_(True), Raised("ValueError", "no"), object, 2**70, 1j,
    (None, (math.nan, 1.0)), (), [],
]  # fmt: skip


def test_different_outputs_are_different_atoms_and_equal_ones_are_equal():
    atoms = [atom(output) for output in ODD]
    assert len({*atoms}) == len(ODD)
    assert atom(np.bool_(True)) != atom(True)
    assert atom(math.nan) == atom(float("nan"))
    assert atom((0.0, math.nan)) == atom((0.0, float("nan")))
    assert atom(0.0) != atom(-0.0)
    assert atom(object()) == atom(object())
    assert all(written(a) for a in atoms)


def test_numbers_are_grouped_by_shape_through_cutting_and_joining():
    outputs = [1.0, (2.0, None), 3.0, "a", (4.0, None), 5.0]
    whole = Outcomes.of(outputs)
    joined = Outcomes.of(outputs[:2]) + Outcomes.of(outputs[2:])
    for given in (whole, joined, whole.kept(np.ones(6, dtype=bool)), whole.part(0)):
        assert len(given) == 6
        rows, matrix = given.groups[("float",)]
        assert rows.tolist() == [0, 2, 5]
        assert matrix.tolist() == [[1.0], [3.0], [5.0]]
    assert whole.part(1, None, 2).groups[("float",)][0].tolist() == [2]
    assert whole.kept(np.array([False, True, True, False, False, True])).groups[("float",)][0].tolist() == [1, 2]


def test_events_count_and_read():
    outcomes = Outcomes.of([(1.0, 2.5), (3.0, 0.0), (-1.0, 7.25), None])
    shape = ("tuple", ("float",), ("float",))
    difference = Ranges(shape, 2, Combination((0, 1), (1.0, -1.0)), ((-math.inf, 0.0),))
    assert difference.count(outcomes) == 2
    assert str(difference) == "out[0] - out[1] < 0"
    assert Ranges(shape, 2, Extreme(largest=True), ((2.5, math.inf),)).count(outcomes) == 3
    assert Ranges(shape, 2, Remainder(1), ((0.4, 1.0),)).count(outcomes) == 1
    assert str(Ranges(shape, 2, Remainder(1), ((0.4, 1.0),), alone=False)) == "out is (#, #) and 0.4 <= out[1] % 1 < 1"
    inside = Both(difference, Ranges(shape, 2, Combination((0,), (1.0,)), ((0.0, math.inf),)))
    assert (inside.count(outcomes), str(inside)) == (1, "out[0] - out[1] < 0 and out[0] >= 0")
    assert Atoms(frozenset([atom(None)])).count(outcomes) == Shapes(frozenset([("None",)])).count(outcomes) == 1
    assert str(Shapes(frozenset([("None",)]))) == "out is None"
    assert str(Shapes(frozenset([("raises", "ValueError", "empty")]))) == "raises ValueError (empty)"


def test_two_ranges_of_one_number_become_one():
    first, second = (Ranges(("float",), 1, Combination((0,), (1.0,)), (ends,)) for ends in ((0.0, math.inf), (-1.0, 2.0)))
    assert str(both(first, second)) == "0 <= out < 2"
    assert both(first, Shapes(frozenset())) == Both(first, Shapes(frozenset()))


def test_neighbouring_cells_are_joined():
    assert merged([0, 1, 3], np.array([1.0, 2.0, 3.0])) == ((-math.inf, 2.0), (3.0, math.inf))


# --- lists of values -----------------------------------------------------------------------------

NAN = float("nan")


def test_values_are_told_apart_by_their_text():
    space = ValueLists(values=(1, 1.0, True, None, NAN, (0, 1)), most=2)
    assert space.dataset([float("nan"), 1.0]) == (NAN, 1.0)
    assert [type(v) for v in space.dataset([True, 1])] == [bool, int]
    metric = block("input_divergences", "hamming-ordered")
    assert metric.distance(space.dataset([NAN, 1]), space.dataset([NAN, True]), space) == 1
    assert metric.distance(space.dataset([NAN]), space.dataset([float("nan")]), space) == 0


def test_multisets_have_one_form_and_the_counted_cardinality():
    space = ValueLists(values=("a", "b", "c"), most=3, ordered=False)
    listed = list(space.datasets())
    assert len(listed) == space.cardinality() == 20
    assert len({*listed}) == 20
    assert space.dataset(["c", "a"]) == ("a", "c")
    metric = block("input_divergences", "symmetric-difference")
    assert metric.distance((), ("a", "c"), space) == 2
    assert [*map(space.magnitude, listed)] == sorted(map(space.magnitude, listed))
    assert ValueLists(values=(0, 1), least=1, most=3).cardinality() == 14
    assert ValueLists(values=(0, 1)).cardinality() is None


def test_a_list_is_presented_afresh():
    space = ValueLists(values=(0, 1))
    dataset = space.dataset([0, 1])
    presented(dataset).append(7)
    assert dataset == (0, 1)
    assert presented(dataset) == [0, 1]


@pytest.mark.parametrize("value", [[2], [0] * 4, "0", {"a": 1}, None, []])
def test_other_things_are_no_datasets(value):
    with pytest.raises(NotInSpaceError):
        ValueLists(values=(0, 1), least=1, most=3).dataset(value)


@pytest.mark.parametrize("values", [(), (0, 0), ({1: 1},), "ab", 3])
def test_bad_values_are_refused(values):
    with pytest.raises(ParameterError):
        ValueLists(values=values)


@pytest.mark.parametrize("count", [1, 2, 3, 4, 7, 30])
def test_every_number_that_is_looked_at_has_words_and_is_the_same_read_from_its_data(count):
    rng = np.random.default_rng(count)
    matrix = np.round(rng.normal(size=(40, count)) * 3) / 2
    shape, outputs = ("list", *(("float",),) * count), [list(map(float, row)) for row in matrix]
    outcomes = Outcomes.of(outputs)
    for projection in [*projections(matrix), *map(Whole, WHOLE)]:
        event = Ranges(shape, count, projection, ((0.5, 3.0),))
        assert str(event).strip()
        assert "{" not in str(event)
        assert sum(map(event.expression.holds, outputs)) == event.count(outcomes), str(event)
