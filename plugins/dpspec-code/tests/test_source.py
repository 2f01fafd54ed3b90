"""The source of randomness whose draws are enumerated, for release code."""

from __future__ import annotations

import contextlib
import math
from fractions import Fraction

import numpy as np
import pytest
from dpspec_code.automatic import enumerate_law, release_function

from dpspec.base.errors import NotEnumerableError
from dpspec.base.randomness import SeededRandomness
from dpspec.blocks.records import UnorderedRecords
from dpspec.grammar.mechanism import Mechanism
from dpspec.grammar.tables import Table

SPACE = UnorderedRecords(attributes=[{"name": "sex", "categories": ["f", "m"]}], most=40)


def released(draw, records=3):
    """The law of what is left of a table whose records are chosen by `draw(source, count)`."""

    class Chosen(Mechanism):
        name = "chosen"

        def law(self, dataset, space):
            raise AssertionError("the stated law is not asked")

        def release(self, table, space, source):
            rows = list(table.records())
            return Table.from_records([rows[place] for place in draw(source, len(rows))], table.attributes)

    dataset = SPACE.dataset([("f",)] * (records - 1) + [("m",)])
    return dict(enumerate_law(release_function(Chosen(), SPACE), dataset, read=False).probabilities())


def one_group(count):
    return np.zeros(count, dtype=np.int64)


def selected(source, count, odds, *, single):
    return np.flatnonzero(source.placed().selected_at(odds, 0, np.arange(count), one_group(count), single=single))


@pytest.mark.parametrize("at_places", [False, True])
def test_a_coin_has_two_sides_however_its_probability_is_written(at_places):
    odds = Fraction(1, 1_000_003)

    def kept(source, count):
        coins = source.placed().bernoulli_at(odds, 0, np.arange(count)) if at_places else source.bernoulli(odds, count)
        return np.flatnonzero(coins)

    law = released(kept)
    assert law[SPACE.dataset([])] == (1 - odds) ** 3
    assert law[SPACE.dataset([("f",)])] == 2 * odds * (1 - odds) ** 2
    assert sum(law.values()) == 1


def test_a_coin_that_a_release_refuses_is_refused():
    odds = Fraction(1, 1 << 63)
    with pytest.raises(Exception, match="denominator"):
        released(lambda source, count: np.flatnonzero(source.bernoulli(odds, count)))


@pytest.mark.parametrize("single", [False, True])
def test_selections_have_the_law_of_coins_that_are_thrown_again_for_one_alone(single):
    odds = Fraction(2, 7)
    law = released(lambda source, count: selected(source, count, odds, single=single))
    assert sum(law.values()) == 1
    left = 1 if single else 1 - 3 * odds * (1 - odds) ** 2
    assert law[SPACE.dataset([("f",), ("f",), ("m",)])] == odds**3 / left
    assert law.get(SPACE.dataset([("m",)]), 0) == (odds * (1 - odds) ** 2 if single else 0)


def test_arrangements_are_equally_likely():
    def first(source, count):
        return source.permutation(count)[:1]

    assert released(first)[SPACE.dataset([("m",)])] == Fraction(1, 3)

    def displaced(source, count):
        return source.placed().deranged_at((0, 1), np.arange(count), one_group(count), np.arange(count))[:1]

    assert released(displaced)[SPACE.dataset([("m",)])] == Fraction(1, 2)  # the first record is not the first again


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda source, count: source.permutation(count), "40! arrangements"),
        (lambda source, count: source.placed().permuted_at(0, np.arange(count), one_group(count)), "40! arrangements"),
        (lambda source, count: selected(source, count, Fraction(1, 2), single=True), "2^40 results"),
        (lambda source, count: selected(source, count, Fraction(1, 2), single=False), "2^40 selections"),
        (lambda source, count: source.below(math.factorial(20), 1), "2432902008176640000^1 results"),
    ],
)
def test_more_results_than_can_be_listed_are_refused_before_they_are_made(draw, message):
    with pytest.raises(NotEnumerableError) as raised:
        released(draw, records=40)
    assert message in str(raised.value)


HALF = Fraction(1, 2)
ONE = np.asarray([0])


def both(first, second):
    """The law of whether two coins fell alike, as the number of records that are left: one, or none."""

    def kept(source, count):
        run = source.placed()
        return np.flatnonzero(first(source, run) == second(source, run))

    return released(kept, records=1)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (lambda source, run: run.bernoulli_at(HALF, 0, ONE), lambda source, run: run.bernoulli_at(HALF, 0, ONE)),
        (lambda source, run: run.below_at(2, 0, ONE), lambda source, run: run.below_at(2, 0, ONE)),
        (lambda source, run: run.spawn("a").bernoulli(HALF, 1), lambda source, run: run.spawn("a").bernoulli(HALF, 1)),
        (
            lambda source, run: run.spawn("a").placed().bernoulli_at(HALF, 0, ONE),
            lambda source, run: run.spawn("a").placed().bernoulli_at(HALF, 0, ONE),
        ),
    ],
)
def test_what_is_drawn_from_the_same_words_is_the_same(first, second):
    """As in a release: noise that is drawn twice alike cancels, and a law with two noises would promise too much."""
    assert both(first, second) == {SPACE.dataset([("m",)]): 1}
    real = SeededRandomness(1)
    run = real.placed()
    assert (first(real, run) == second(real, run)).all()


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (lambda source, run: run.bernoulli_at(HALF, 0, ONE), lambda source, run: run.bernoulli_at(HALF, 1, ONE)),
        (lambda source, run: run.bernoulli_at(HALF, 0, ONE), lambda source, run: run.bernoulli_at(HALF, 0, ONE + 1)),
        (lambda source, run: run.bernoulli_at(HALF, 0, ONE), lambda source, run: source.placed().bernoulli_at(HALF, 0, ONE)),
        (lambda source, run: run.bernoulli_at(HALF, 0, ONE), lambda source, run: source.bernoulli(HALF, 1)),
        (lambda source, run: source.bernoulli(HALF, 1), lambda source, run: source.bernoulli(HALF, 1)),
        (lambda source, run: run.spawn("1").bernoulli(HALF, 1), lambda source, run: run.spawn(1).bernoulli(HALF, 1)),
        (
            lambda source, run: run.spawn("a").placed().bernoulli_at(HALF, 0, ONE),
            lambda source, run: run.spawn("a", "b").placed().bernoulli_at(HALF, 0, ONE),
        ),
    ],
)
def test_what_is_drawn_from_other_words_is_independent(first, second):
    assert both(first, second)[SPACE.dataset([("m",)])] == HALF


@pytest.mark.parametrize(
    "draw",
    [
        lambda source, run: [run.bernoulli_at(HALF, 0, ONE), run.bernoulli_at(Fraction(1, 3), 0, ONE)],
        lambda source, run: [run.bernoulli_at(HALF, 0, ONE), run.below_at(2, 0, ONE)],
        lambda source, run: [run.spawn("a").below(3, 1), run.spawn("a").below(4, 1)],
        lambda source, run: [run.spawn("a").below(3, 1), run.spawn("a").bernoulli(HALF, 1)],
        lambda source, run: [run.bernoulli_at(HALF, 7, ONE), run.permuted_at(7, np.arange(2), np.zeros(2, dtype=np.int64))],
        lambda source, run: [run.permuted_at(7, np.arange(2), np.zeros(2, dtype=np.int64)), run.bernoulli_at(HALF, 7, ONE)],
        lambda source, run: run.permuted_at(7, np.zeros(2, dtype=np.int64), np.zeros(2, dtype=np.int64)),
        lambda source, run: [
            run.selected_at(HALF, 0, np.arange(2), np.zeros(2, dtype=np.int64), single=False),
            run.bernoulli_at(HALF, 5, ONE),  # which the selection may take when it is drawn again
        ],
        lambda source, run: run.deranged_at((3, 3), np.arange(2), np.zeros(2, dtype=np.int64), np.arange(2)),
        lambda source, run: run.bernoulli_at(HALF, 1 << 32, ONE),
    ],
)
def test_different_things_from_the_same_words_are_refused(draw):
    with pytest.raises(NotEnumerableError, match=r"depend on each other|belongs to the samplers"):
        released(lambda source, count: [place for place in range(count) if draw(source, source.placed())])


def test_certain_coins_are_certain():
    for odds, left in ((Fraction(3, 2), 3), (Fraction(-1, 2), 0), (1, 3)):
        law = released(lambda source, count, odds=odds: np.flatnonzero(source.bernoulli(odds, count)))
        assert [len(dataset) for dataset in law] == [left]


def test_code_that_draws_again_and_again_is_left_early():
    """Each run is longer than the one before: swaps with rates of their own for records, which redraw, took half an hour."""
    runs = []

    def again(source, count):
        runs.append(count)
        while not source.bernoulli(HALF, 1)[0]:
            continue
        return []

    with pytest.raises(NotEnumerableError, match="random choices without an end"):
        released(again)
    assert len(runs) < 1_000


@pytest.mark.parametrize(
    "draw",
    [
        lambda source, run: source.words(1),
        lambda source, run: run.words_at(0, ONE),
        lambda source, run: source.permutation(40),
        lambda source, run: source.below(math.factorial(20), 1),
        lambda source, run: [run.bernoulli_at(HALF, 0, ONE), run.below_at(2, 0, ONE)],
        lambda source, run: [run.spawn("a").below(3, 1), run.spawn("a").below(4, 1)],
        lambda source, run: run.bernoulli_at(HALF, -1, ONE),
        lambda source, run: run.deranged_at((0, 1), ONE, ONE, ONE),
    ],
)
def test_code_that_catches_what_cannot_be_enumerated_does_not_go_on(draw):
    """In a release nothing is raised, so what the code does with the error is no part of its law."""

    def caught(source, count):
        with contextlib.suppress(Exception):
            draw(source, source.placed())
        return []

    with pytest.raises(NotEnumerableError):
        released(caught)
