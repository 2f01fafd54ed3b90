"""Pairs of spaces that count over cells: inside one universe, whatever the space, and never by listing too much."""

import itertools
import math

import numpy as np
import pytest
from dpspec_code.sampled.calls import Calls, datasets, pairs
from dpspec_code.sampled.engine import refute
from dpspec_code.sampled.rays import jumps
from dpspec_divergences import UserMetric

import dpspec as dp
from dpspec.blocks.invariant import Marginal
from dpspec.blocks.lists import ValueLists
from dpspec.blocks.multiverse import LevelSets
from dpspec.blocks.records import ContingencyTables, Households, UnorderedRecords
from dpspec.blocks.space import Attribute
from dpspec.blocks.vectors import IntegerCounts
from dpspec.verifier.verdict import Outcome
from tests.sampled.toys import CountingClock, claim


def attributes(*counts):
    return tuple(Attribute(name=f"a{place}", count=count) for place, count in enumerate(counts))


MARGINS = LevelSets(invariants=(Marginal(attributes=("a0",)), Marginal(attributes=("a1",))))
DWELLINGS = LevelSets(invariants=(Marginal(attributes=("a0",), unit="household"), Marginal(attributes=("age",), unit="person")))
PERSON = (Attribute(name="age", count=2),)
SPACES = [
    (UnorderedRecords(attributes=attributes(3, 3)), MARGINS),
    (ContingencyTables(attributes=attributes(3, 3)), MARGINS),
    (UnorderedRecords(attributes=attributes(3, 3), least=20, most=20), MARGINS),
    (UnorderedRecords(attributes=attributes(60, 50)), MARGINS),
    (UnorderedRecords(attributes=attributes(2000, 1000, 1000)), MARGINS),
    (Households(household=attributes(3), person=PERSON), DWELLINGS),
    (Households(household=attributes(3), person=PERSON, most=2, members=2), DWELLINGS),
]


@pytest.mark.parametrize(("space", "multiverse"), SPACES, ids=str)
def test_pairs_lie_in_one_universe(space, multiverse):
    spec = claim(space, multiverse=multiverse)
    found = pairs(datasets(spec, 0), spec)
    assert found
    for pair in found:
        assert pair.left == space.dataset(pair.left) != pair.right == space.dataset(pair.right)
        assert multiverse.share_universe(pair.left, pair.right, space)


def test_a_leak_under_margins_is_found_among_many_kinds_of_records():
    """Of 3,000 kinds, with both margins published: the smallest two datasets of one universe have two records each."""
    spec = claim(UnorderedRecords(attributes=attributes(60, 50)), multiverse=MARGINS)
    verdict = refute(lambda x, rng: sum(first == second for first, second in x), spec, draws=20_000)
    assert verdict.outcome is Outcome.REFUTED
    assert len(verdict.witness.left) == len(verdict.witness.right) == 2


ORDERS = [(0, 1, 2, 3, 7), (7, 3, 2, 1, 0), (2, 7, 0, 3, 1)]


def test_what_is_tried_is_the_same_however_values_are_listed():
    tried = [datasets(claim(ValueLists(values=values, most=6)), 0) for values in ORDERS]
    assert tried[0] == tried[1] == tried[2]


NEEDLES = {
    "a value": lambda x: 7 in x,
    "a place": lambda x: len(x) > 2 and x[2] == 3,
    "a count": lambda x: sum(x) >= 12,
    "a length": lambda x: len(x) == 5,
    "a repeat": lambda x: len(set(x)) < len(x),
    "all values": lambda x: len(set(x)) == 5,
    "a tie": lambda x: x.count(0) == x.count(7) > 0,
    "order": lambda x: x != sorted(x),
}


@pytest.mark.spread(3, slow=3)
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name == "all values" else name for name in NEEDLES]
)
@pytest.mark.parametrize("values", ORDERS, ids=str)
def test_a_needle_is_found_however_values_are_listed(name, values):
    ordered = name in ("a place", "order")
    spec = claim(ValueLists(values=values, most=6, ordered=ordered), epsilon="1/4")
    needle = NEEDLES[name]
    found = refute(lambda x, rng: needle(list(x)) if rng.random() < 0.5 else rng.random() < 0.5, spec, draws=60_000)
    assert found.outcome is Outcome.REFUTED
    assert found.witness.distance == 1


@pytest.mark.parametrize(("length", "place"), [(12, 3), (20, 17), (40, 0)])
def test_each_place_of_a_long_list_is_changed(length, place):
    spec = claim(ValueLists(values=(1, 0), least=length, most=length))
    found = refute(lambda x, rng: x[place] if rng.random() < 0.5 else 0, spec, draws=100_000)
    assert found.outcome is Outcome.REFUTED
    assert found.witness.distance == 1


@pytest.mark.spread(0, slow=1)
@pytest.mark.parametrize(("kind", "values"), [(np.int8, (0, 5)), (np.uint8, (0, 9)), (np.int16, (0, 900))])
def test_sums_that_wrap_are_reached(kind, values):
    """A sum in few bits falls by hundreds at one length alone, which is not among the small ones."""
    spec = claim(ValueLists(values=values, ordered=False), epsilon=1)
    scale = float(values[1])
    assert (
        refute(lambda x, rng: float(np.array(x, kind).sum(dtype=kind)) + rng.laplace(0, scale), spec, draws=400_000).outcome
        is Outcome.REFUTED
    )


@pytest.mark.slow
@pytest.mark.parametrize("order", [(0, 1, 2, 3, 4, 5), (5, 3, 1, 0, 2, 4)])
def test_answers_that_move_apart_are_found_in_every_order_of_coordinates(order):
    metric = UserMetric(function=lambda x, y: max(abs(a - b) for a, b in zip(x, y, strict=True)), label="largest change")
    spec = claim(IntegerCounts(length=6, low=-20, high=20), metric=metric)
    up = {order[place] for place in (0, 1, 2)}

    def needle(q, rng):
        return int(all((a > 0) == (place in up) for place, a in enumerate(q))) if rng.random() < 0.5 else 0

    assert refute(needle, spec, draws=150_000).outcome is Outcome.REFUTED


# --- rays ------------------------------------------------------------------------------------------


def along_rays(function, space, metric="symmetric-difference"):
    claim = dp.spec(space=space, distance=metric, standard="pure", epsilon=1)
    return jumps(Calls(function=function, space=claim.space, claim="rays", seed=0, draws=1 << 30), claim)


def jumping(function, space, metric="symmetric-difference"):
    return [(pair.left, pair.right) for pair in along_rays(function, space, metric).pairs]


def small_counter(dataset, rng):
    return int(np.int8(len(dataset) % 256 - 256 * (len(dataset) % 256 > 127))) + rng.laplace()


def raises_at_last(dataset, rng):
    if len(dataset) > 186:
        raise LookupError
    return rng.random()


def weights(epsilon):
    """The exponential mechanism with exp(epsilon u / 2), as it is written first: right, until its weights overflow or vanish."""

    def raised(x, rng):
        w = np.array([math.exp(epsilon * sum(v == k for v in x) / 2) for k in range(2)])
        return int(rng.choice(2, p=w / w.sum()))

    def silent(x, rng):
        w = np.exp(np.array([epsilon * sum(v == k for v in x) / 2 for k in range(2)]))
        return int(np.searchsorted(np.cumsum(w), rng.random() * w.sum()))

    def vanishing(x, rng):
        w = [math.exp(-epsilon * (len(x) + (x.count(k))) / 2) for k in range(2)]
        return rng.choice(2, p=[one / sum(w) for one in w])

    return raised, silent, vanishing


def test_a_counter_that_wraps_is_seen_where_it_wraps():
    found = jumping(small_counter, dp.value_lists(values=[0, 1]))
    assert any(len(left) % 256 == 127 and len(right) == len(left) + 1 for left, right in found)


def test_an_error_beyond_a_length_is_seen_at_that_length():
    assert ((0,) * 186, (0,) * 187) in jumping(raises_at_last, dp.value_lists(values=[0, 1]))


FADING = dp.spec(space=dp.value_lists(values=[0, 1]), distance="symmetric-difference", standard="pure", epsilon=1)


@pytest.mark.parametrize(("way", "last"), [pytest.param(0, 1419, marks=pytest.mark.slow), (2, 1490)])
def test_weights_that_no_double_holds_are_told(way, last):
    """exp(u / 2) ends at u = 1419, and exp(-u / 2) at 1490."""
    function = weights(1.0)[way]
    found = along_rays(function, dp.value_lists(values=[0, 1]))
    assert not found.pairs
    assert last in {len(pair.left) for pair, _ in found.broken}
    told = refute(function, FADING, draws=40_000)
    assert told.outcome is Outcome.UNDECIDED
    assert [notice.code for notice in told.findings] == ["breaks"]


@pytest.mark.long
@pytest.mark.parametrize("way", [0, 2])
def test_weights_that_no_double_holds_refute_a_claim_about_doubles_alone(way):
    assert refute(weights(1.0)[way], FADING, draws=40_000, bits=True).outcome is Outcome.REFUTED


def test_an_overflow_that_no_output_shows_is_told_from_a_jump():
    """All weights but one overflow: the answer goes over to the other value from one record to the next."""

    def answers(x, rng):
        w = np.exp(np.array([len(x) / 2.0, 0.0]))
        return int(np.argmax(np.isfinite(w))) if len(x) > 300 else rng.random()

    found = along_rays(answers, dp.value_lists(values=[0]))
    assert (300, 301) in {(len(pair.left), len(pair.right)) for pair in found.pairs}
    assert (1419, 1420) in {(len(pair.left), len(pair.right)) for pair, _ in found.broken}


@pytest.mark.parametrize("problem", [
    pytest.param(ValueError, marks=pytest.mark.slow), OverflowError, pytest.param(ZeroDivisionError, marks=pytest.mark.slow),
])  # fmt: skip
def test_what_the_code_raises_by_a_statement_is_no_limit_of_computers(problem):
    def refuses(x, rng):
        if len(x) > 700:
            raise problem("too long")
        return rng.random()

    claim_of = dp.spec(space=dp.value_lists(values=[0, 1]), distance="symmetric-difference", standard="pure", epsilon=1)
    assert refute(refuses, claim_of, draws=40_000).outcome is Outcome.REFUTED


def test_a_number_of_few_bits_that_wraps_is_no_limit_of_doubles():
    """numpy says of a single integer that it overflows, too."""

    def wraps(x, rng):
        total = np.int8(0)
        for _ in x:
            total = total + np.int8(1)
        return float(total) + rng.laplace()

    found = along_rays(wraps, dp.value_lists(values=[0, 1]))
    assert not found.broken
    assert any(len(pair.left) % 256 == 127 for pair in found.pairs)


def test_answers_that_are_cut_to_a_byte_are_seen_in_vectors():
    def cut(answers, rng):
        return [int(np.array(one).astype(np.int8)) + rng.laplace() for one in answers]

    found = jumping(cut, dp.integer_counts(length=2), "l-infinity")
    assert any(left[0] % 256 == 127 and right[0] == left[0] + 1 for left, right in found)


def test_a_plain_count_jumps_nowhere():
    assert not jumping(lambda dataset, rng: len(dataset) + rng.laplace(), dp.value_lists(values=[0, 1]))


def test_how_long_a_call_takes_is_no_jump():
    """Each of the six rays is left at its first call that is cut, and no other call is made on it."""
    clock = CountingClock()

    def quadratic(dataset, rng):
        clock.work(len(dataset) ** 2)
        return len(dataset) + rng.laplace()

    calls, spec = timed(quadratic, clock)
    with calls.guarded():
        assert jumps(calls, spec).pairs == ()
    assert 0 < calls.endless <= 6


@pytest.mark.parametrize("every", [2, 3, 5])
def test_calls_that_are_cut_now_and_then_are_no_jump(every):
    """Beyond 40 records some calls reach their limit, and not always the first of a dataset."""
    clock, made = CountingClock(), itertools.count()

    def uneven(dataset, rng):
        clock.work(math.inf if len(dataset) > 40 and not next(made) % every else 1)
        return len(dataset) + rng.laplace()

    calls, spec = timed(uneven, clock)
    with calls.guarded():
        assert jumps(calls, spec).pairs == ()


def timed(function, clock):
    spec = dp.spec(space=dp.value_lists(values=[0, 1]), distance="symmetric-difference", standard="pure", epsilon=1)
    return Calls(function=function, space=spec.space, claim="rays", seed=0, draws=1 << 30, limit=10_000, clock=clock), spec
