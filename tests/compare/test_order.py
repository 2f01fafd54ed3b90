"""The order of many specifications: answers, classes, arrows, and the pictures of them."""

from __future__ import annotations

import itertools
import random
import xml.etree.ElementTree as ET
from fractions import Fraction
from pathlib import Path

import pytest
from dpspec_divergences import HammingOrdered, Mult

from dpspec import PrivacySpec, compare, read
from dpspec.api import order_specs
from dpspec.base.errors import ParameterError, UnknownNameError
from dpspec.blocks.budget import UniformBudget
from dpspec.blocks.multiverse import Trivial
from dpspec.blocks.vectors import BitVectors
from dpspec.comparison.compare import Answer, Comparison, Direction
from dpspec.comparison.order import Order, order
from dpspec.report import order as words

ROOT = Path(__file__).parents[2]
YES, NO, OPEN = Answer.IMPLIES, Answer.SEPARATED, Answer.UNKNOWN


def spec(epsilon: int | Fraction) -> PrivacySpec:
    return PrivacySpec(
        space=BitVectors(length=2), multiverse=Trivial(), input_divergence=HammingOrdered(), output_divergence=Mult(),
        budget=UniformBudget(parameter="epsilon", value=epsilon),
    )  # fmt: skip


def told(relation: set[tuple[int, int]], size: int, unknown: set[tuple[int, int]] = frozenset()) -> Order:
    """The order of `size` things with given implications, found from a comparison that is told the answers."""
    specs = {spec(i + 1): i for i in range(size)}

    def answer(i: int, j: int) -> Direction:
        return Direction(answer=OPEN if (i, j) in unknown else YES if (i, j) in relation else NO, steps=())

    def compared(left: PrivacySpec, right: PrivacySpec) -> Comparison:
        i, j = specs[left], specs[right]
        return Comparison(left=left, right=right, forward=answer(i, j), backward=answer(j, i), notes=())

    return order([(f"s{i}", single) for single, i in specs.items()], compared)


def closed(relation: set[tuple[int, int]], size: int) -> set[tuple[int, int]]:
    """The transitive closure, by Warshall's three loops."""
    found = set(relation)
    for k, i, j in itertools.product(range(size), repeat=3):
        if (i, k) in found and (k, j) in found:
            found.add((i, j))
    return {(i, j) for i, j in found if i != j}


def test_a_chain_by_hand() -> None:
    """Of epsilon = 1, 2, 3 and 2 again, each implies the larger ones; the equal ones are one class."""
    found = order([("one", spec(1)), ("two", spec(2)), ("three", spec(3)), ("again", spec(Fraction(4, 2)))], compare)
    assert found.classes == ((0,), (1, 3), (2,))
    assert found.covers == ((0, 1), (1, 2))
    assert found.levels == ((0,), (1,), (2,))
    assert not found.unknown
    assert [[words.order_mark(found, i, j)[0] for j in range(4)] for i in range(4)] == [
        ["=", ">=", ">=", ">="],
        ["<=", "=", ">=", "="],
        ["<=", "<=", "=", "<="],
        ["<=", "=", ">=", "="],
    ]


@pytest.mark.parametrize("seed", range(40))
def test_the_arrows_give_back_the_order(seed: int) -> None:
    """Random preorders of 7: closing the arrows between the classes gives all implications, and no arrow can be left out."""
    lot, size = random.Random(seed), 7
    pairs = list(itertools.permutations(range(size), 2))
    relation = closed(set(lot.sample(pairs, lot.randrange(len(pairs) // 2))), size)
    found = told(relation, size)
    assert sorted(itertools.chain(*found.classes)) == list(range(size))
    between = closed(set(found.covers), len(found.classes))
    again = {(i, j) for a, b in between for i in found.classes[a] for j in found.classes[b]}
    again |= {pair for members in found.classes for pair in itertools.permutations(members, 2)}
    assert again == relation
    for left_out in found.covers:
        assert closed(set(found.covers) - {left_out}, len(found.classes)) != between
    assert all(a < b for c, d in found.covers for a, b in [(level_of(found, c), level_of(found, d))])


def level_of(found: Order, place: int) -> int:
    return next(depth for depth, held in enumerate(found.levels) if place in held)


def test_what_others_answer_is_settled() -> None:
    """0 => 1 => 2 gives 0 => 2; 1 => 0 and 1 =/=> 3 give 0 =/=> 3."""
    relation = closed({(0, 1), (1, 0), (1, 2)}, 4)
    found = told(relation, 4, unknown={(0, 2), (0, 3)})
    assert found.answers[0][2] is YES
    assert found.answers[0][3] is NO
    assert {cell[:2] for cell in found.settled} == {(0, 2), (0, 3)}
    assert not found.unknown


def test_what_nothing_answers_stays_unknown() -> None:
    found = told(set(), 3, unknown={(0, 1)})
    assert found.unknown == ((0, 1),)
    assert words.exit_code(found) == 3
    assert words.order_mark(found, 0, 1)[0] == words.order_mark(found, 1, 0)[0] == "?"


def test_half_answers_have_signs_of_their_own() -> None:
    found = told({(0, 1)}, 2, unknown={(1, 0)})
    assert [words.order_mark(found, 0, 1)[0], words.order_mark(found, 1, 0)[0]] == [">=?", "<=?"]


def test_bad_input() -> None:
    with pytest.raises(ParameterError, match="name of its own"):
        order([("a", spec(1)), ("a", spec(2))], compare)
    with pytest.raises(ParameterError, match="at least one"):
        order([], compare)


def census() -> list:
    return [read(path) for path in sorted((ROOT / "specs").glob("topdown-2020-*.dpspec.toml"))]


@pytest.mark.slow
def test_progress_and_reports_of_the_census_files() -> None:
    documents, seen = census(), []
    found = order_specs(documents, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(n, 21) for n in range(1, 22)]
    text, data = str(found), words.order_data(found, documents)
    assert "incomparable" in text
    assert ["topdown-2020-pl-persons", "topdown-2020-pl"] in data["covers"]
    row, column = (data["specifications"].index(one) for one in data["specifications"] if "persons" in one["id"])
    assert data["matrix"][row][column] in ("implies", "implied by")
    figure = ET.fromstring(words.order_figure(found, documents).svg)
    boxes = list(figure.iter("{http://www.w3.org/2000/svg}rect"))
    assert len(boxes) == len(found.classes) + 1
    arrows = list(figure.iter("{http://www.w3.org/2000/svg}polygon"))
    assert len(arrows) == len(found.covers)
    assert words.chosen(documents, "topdown-2020-pl").id == "topdown-2020-pl"
    with pytest.raises(UnknownNameError, match="did you mean topdown-2020-pl"):
        words.chosen(documents, "topdown-2020-p")
