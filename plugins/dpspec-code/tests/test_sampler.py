"""Automatic laws: plain samplers against laws that are written down by hand."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from dpspec_census.stratum import derangement_weights, permutation_weights
from dpspec_code.automatic import Sampler, enumerate_law
from dpspec_code.automatic.sampler import RunCounter

from dpspec.base.errors import NotEnumerableError
from dpspec.base.exact import ln
from dpspec.laws import FiniteLaw
from dpspec.laws.enclosures import EnclosedLaw
from dpspec.laws.exponential import ExponentialLaw, exact_exponential, finite_law
from dpspec.verifier.exhaustive import verify
from dpspec.verifier.observation import observed
from dpspec.verifier.verdict import Outcome
from tests.verify.toys import bits_spec, response

# --- samplers, written as anybody would write them ------------------------------------------------------------------------


def plain(value: Any) -> Any:
    """A value without the types of its parts, so that laws can be compared with laws by hand."""
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return tuple(map(plain, value))
    return tuple(sorted((plain(key), plain(part)) for key, part in value.items())) if isinstance(value, dict) else value


def valued(law: Any) -> Any:
    """The law of the values alone: the outcomes of `enumerate_law` tell a list from a tuple, and 1 from numpy's 1."""
    names = {"np": np, "array": np.array, **{kind: kind for kind in ("int64", "bool", "float64")}}

    def value(seen: Any) -> Any:
        if repr(seen).startswith("raises"):
            return repr(seen).partition(" at ")[0]
        return plain(eval(repr(seen), dict(names)))  # noqa: S307 (our own text)

    return law.push_forward(value)


def flip(bits: tuple[int, ...], rng: Any) -> list[int]:
    return [bit if rng.random() < 0.75 else 1 - bit for bit in bits]


def flip_as_array(bits: tuple[int, ...], rng: Any) -> Any:
    return np.array(bits) ^ (rng.random(len(bits)) >= 0.75).astype(int)


def flip_by_binomial(bits: tuple[int, ...], rng: Any) -> Any:
    return tuple(bit ^ rng.binomial(1, 0.25) for bit in bits)


def deranged(records: tuple[tuple[int, int], ...], rng: Any, rate: float = 0.2) -> tuple[tuple[int, int], ...]:
    """The swapping listing: select, redraw when exactly one is selected, deal out the swap values by a derangement."""
    while True:
        selected = [i for i in range(len(records)) if rng.random() < rate]
        if len(selected) != 1:
            break
    while True:
        order = rng.permutation(len(selected))
        if all(order[i] != i for i in range(len(selected))):
            break
    values = [records[selected[k]][1] for k in order]
    swapped = list(records)
    for i, value in zip(selected, values, strict=True):
        swapped[i] = (records[i][0], value)
    return tuple(sorted(swapped))


def permuted(records: tuple[tuple[int, int], ...], rng: Any) -> tuple[tuple[int, int], ...]:
    selected = [i for i in range(len(records)) if rng.random() < 0.2]
    values = [records[i][1] for i in selected]
    rng.shuffle(values)
    swapped = list(records)
    for i, value in zip(selected, values, strict=True):
        swapped[i] = (records[i][0], value)
    return tuple(sorted(swapped))


def noisy_max(answers: tuple[int, ...], rng: Any) -> Any:
    return int(np.argmax([answer + rng.integers(-1, 2) for answer in answers]))


def clamped_count(bits: tuple[int, ...], rng: Any) -> int:
    return min(4, max(0, sum(bits) + int(rng.integers(-2, 2, endpoint=True))))


def fair_from_unfair(bit: int, rng: Any) -> int:
    """Von Neumann's coin."""
    while True:
        first, second = rng.random() < 0.7, rng.random() < 0.7
        if first != second:
            return bit if first else 1 - bit


def gambler(stake: int, rng: Any) -> str:
    """A random walk between 0 and 4 with steps up of probability 2/3."""
    while 0 < stake < 4:
        stake += 1 if rng.random() * 3 < 2 else -1
    return "ruined" if stake == 0 else "rich"


# --- against laws by hand ---------------------------------------------------------------------------------------------------


@pytest.mark.reference("B-D1")
@pytest.mark.parametrize("sampler", [flip, flip_as_array, flip_by_binomial])
@pytest.mark.parametrize("bits", [(0,), (1, 0), (0, 1, 1)])
def test_randomised_response(sampler: Any, bits: tuple[int, ...]) -> None:
    assert valued(enumerate_law(sampler, bits)) == response("3/4").law(bits, bits_spec().space)


@pytest.mark.reference("B-O41", "B-S9")
@pytest.mark.parametrize(
    "cells",
    [
        (1, 0, 0, 1),
        (1, 1, 0, 1),
        *(pytest.param(cells, marks=pytest.mark.slow) for cells in [(2, 0, 0, 2), (1, 1, 0, 2), (1, 1, 1, 1)]),
    ],
)
def test_swapping_as_listed_has_the_counted_law(cells: tuple[int, ...]) -> None:
    records = tuple((k // 2, k % 2) for k, count in enumerate(cells) for _ in range(count))

    def table(outcome: Any) -> tuple[int, ...]:
        return tuple(outcome.count((k // 2, k % 2)) for k in range(4))

    assert enumerate_law(deranged, records).push_forward(table) == FiniteLaw.from_weights(derangement_weights(cells, 2, 1, 4))  # type: ignore[attr-defined]
    assert enumerate_law(permuted, records).push_forward(table) == FiniteLaw.from_weights(permutation_weights(cells, 2, 1, 4))  # type: ignore[attr-defined]


def test_a_forgotten_redraw_is_another_law() -> None:
    def without(records: Any, rng: Any) -> Any:
        selected = [i for i in range(2) if rng.random() < 0.2]
        return tuple(sorted(((0, 1), (1, 0)) if len(selected) == 2 else records))

    both = ((0, 0), (1, 1))
    assert enumerate_law(without, both).probability(((0, 1), (1, 0))) == Fraction(1, 25)  # type: ignore[attr-defined]
    assert enumerate_law(deranged, both).probability(((0, 1), (1, 0))) == Fraction(1, 17)  # type: ignore[attr-defined]


def test_report_noisy_max_and_a_clamped_count() -> None:
    counted: dict[int, int] = {}
    for noise in itertools.product((-1, 0, 1), repeat=3):
        noisy = [a + z for a, z in zip((1, 0, 0), noise, strict=True)]
        counted[noisy.index(max(noisy))] = counted.get(noisy.index(max(noisy)), 0) + 1
    assert enumerate_law(noisy_max, (1, 0, 0)) == FiniteLaw.from_weights(counted)
    assert enumerate_law(clamped_count, (1, 0, 0, 0)) == FiniteLaw.of({0: "2/5", 1: "1/5", 2: "1/5", 3: "1/5"})


def test_redraw_loops_are_solved_exactly() -> None:
    assert enumerate_law(fair_from_unfair, 1) == FiniteLaw.uniform([0, 1])
    ruin = {k: (Fraction(1, 2) ** k - Fraction(1, 2) ** 4) / (1 - Fraction(1, 2) ** 4) for k in range(5)}
    for stake in range(5):
        assert enumerate_law(gambler, stake) == FiniteLaw.of({"ruined": ruin[stake], "rich": 1 - ruin[stake]})


def test_a_loop_whose_state_is_hidden_is_not_taken_for_a_return() -> None:
    """The iterator, the generator and the caller's list are all state that the loop's own variables do not show."""

    def by_iterator(x: int, rng: Any) -> int:
        steps, heads = iter((0, 0, 0)), 0
        while next(steps, None) is not None:
            heads += bool(rng.random() < 0.5)
        return heads

    def endless(rng: Any) -> Any:
        while True:
            yield rng.integers(2)

    def by_generator(x: int, rng: Any) -> int:
        return sum(int(bit) for bit in itertools.islice(endless(rng), 3))

    def by_list(x: int, rng: Any) -> int:
        seen: list[int] = []

        def toss() -> None:
            while len(seen) < 3:
                seen.append(int(rng.integers(2)))

        toss()
        return sum(seen)

    def in_a_for_loop(x: int, rng: Any) -> int:
        total = 0
        for _ in (0, 0, 0):
            while True:
                value = int(rng.integers(3))
                if value != 2:
                    break
            total += value
        return total

    expected = FiniteLaw.of({k: Fraction(math.comb(3, k), 8) for k in range(4)})
    for sampler in (by_iterator, by_generator, by_list, in_a_for_loop):
        assert enumerate_law(sampler, 0) == expected


# --- every draw ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("draw", "expected"),
    [
        (lambda rng: rng.integers(3), {0: "1/3", 1: "1/3", 2: "1/3"}),
        (lambda rng: tuple(rng.integers(0, 2, size=2)), dict.fromkeys(itertools.product((0, 1), repeat=2), "1/4")),
        (lambda rng: rng.choice(["a", "b"], p=[0.2, 0.8]), {"a": "1/5", "b": "4/5"}),
        (lambda rng: sorted(rng.choice(3, size=2, replace=False)), {(0, 1): "1/3", (0, 2): "1/3", (1, 2): "1/3"}),
        (lambda rng: rng.choice(3, size=2, replace=False, p=[0.5, 0.5, 0])[0], {0: "1/2", 1: "1/2"}),
        (lambda rng: rng.permutation([1, 1, 0]), {(1, 1, 0): "1/3", (1, 0, 1): "1/3", (0, 1, 1): "1/3"}),
        (lambda rng: rng.permuted(np.array([[0, 1]]), axis=1), {((0, 1),): "1/2", ((1, 0),): "1/2"}),
        (lambda rng: rng.binomial(2, 0.1), {0: "81/100", 1: "18/100", 2: "1/100"}),
        (lambda rng: rng.multinomial(2, [0.5, 0.5]), {(0, 2): "1/4", (1, 1): "1/2", (2, 0): "1/4"}),
        (lambda rng: rng.hypergeometric(1, 2, 1), {0: "2/3", 1: "1/3"}),
        (lambda rng: int(6 * rng.random()) == 5, {False: "5/6", True: "1/6"}),
        (lambda rng: math.floor(rng.uniform(-1, 1)), {-1: "1/2", 0: "1/2"}),
        (lambda rng: (u := rng.random()) < 0.5 or u < 0.25, {True: "1/2", False: "1/2"}),
        (lambda rng: 0.25 <= rng.random() < 0.75, {True: "1/2", False: "1/2"}),
        (lambda rng: 1 / int(rng.integers(2)), {1.0: "1/2", "raises ZeroDivisionError: 'division by zero'": "1/2"}),
        (lambda rng: {"n": np.float64(rng.integers(2))}, {(("n", 0.0),): "1/2", (("n", 1.0),): "1/2"}),
        (lambda rng: isinstance(rng, np.random.Generator), {True: "1"}),
    ],
)
def test_draws(draw: Any, expected: dict[Any, str]) -> None:
    law = valued(enumerate_law(lambda _, rng: draw(rng), None))
    assert isinstance(law, FiniteLaw)
    assert {outcome: Fraction(p) for outcome, p in expected.items()} == dict(law.probabilities())


def test_a_shuffle_in_place_keeps_the_array() -> None:
    def sampler(x: Any, rng: Any) -> Any:
        array, listed = np.array(x), list(x)
        rng.shuffle(array)
        rng.shuffle(listed)
        return array.tolist(), listed

    law = enumerate_law(sampler, (0, 1, 1))
    assert len(law.support) == 9  # type: ignore[attr-defined]
    assert {p for _, p in law.probabilities()} == {Fraction(1, 9)}  # type: ignore[attr-defined]


def test_thresholds_that_are_exponentials_give_exact_laws() -> None:
    keep = exact_exponential(1) / (1 + exact_exponential(1))

    def sampler(bits: Any, rng: Any) -> Any:
        return [bit if rng.random() < keep else 1 - bit for bit in bits]

    law = enumerate_law(sampler, (0,))
    assert isinstance(law, ExponentialLaw)
    assert law == finite_law({observed([0]): keep, observed([1]): 1 - keep})
    verdict = verify(Sampler(sampler, "response"), bits_spec(length=2, epsilon=1))
    assert verdict.outcome is Outcome.VERIFIED
    assert verdict.universes[0].is_tight


def test_thresholds_that_were_computed_in_floating_point_are_enclosed() -> None:
    """P42 written with doubles is read as the law in powers of e that it stands for; P43 is refuted, by far."""
    keep = math.e / (1 + math.e)

    def right(bits: Any, rng: Any) -> Any:
        return [bit ^ (rng.random() >= keep) for bit in bits]

    def wrong(bits: Any, rng: Any) -> Any:
        return [bit if rng.random() < keep else int(rng.integers(2)) for bit in bits]

    def lopsided(bits: Any, rng: Any) -> Any:
        return [bit ^ (rng.random() >= keep + 1e-13) for bit in bits]

    kept = exact_exponential(1) / (1 + exact_exponential(1))
    law = enumerate_law(right, (0,))
    assert law == finite_law({observed([0]): kept, observed([1]): 1 - kept})
    assert verify(Sampler(right), bits_spec(length=1, epsilon=1)).outcome is Outcome.VERIFIED
    assert verify(Sampler(right), bits_spec(length=1, epsilon="0.9999999")).outcome is Outcome.REFUTED
    assert verify(Sampler(lopsided), bits_spec(length=1, epsilon=1)).outcome is Outcome.REFUTED, "by 1e-13, which no rounding is"
    refuted = verify(Sampler(wrong), bits_spec(length=1, epsilon=1))
    assert refuted.outcome is Outcome.REFUTED
    assert refuted.witness is not None
    assert refuted.witness.event is not None


@pytest.mark.slow
def test_endless_draws_leave_a_rest_that_is_bounded() -> None:
    def geometric(x: int, rng: Any) -> int:
        return x + int(rng.geometric(0.5)) - int(rng.geometric(0.5))

    def by_hand(x: int, rng: Any) -> int:
        while rng.random() < 0.5:
            x += 1
        return min(x, 3)

    law = enumerate_law(geometric, 0)
    assert isinstance(law, EnclosedLaw)
    assert law.bounds[0][0] <= Fraction(1, 3) <= law.bounds[0][1] + law.rest
    assert 0 < law.rest < Fraction(1, 2**60)
    shifted = law.against(enumerate_law(geometric, 1))
    assert shifted.max_log_ratio().upper.is_infinite
    assert shifted.max_log_ratio().lower <= ln(2)
    assert shifted.hockey_stick("7/10").upper < Fraction(1, 10**15)
    clamped = enumerate_law(by_hand, 0)
    assert isinstance(clamped, EnclosedLaw)
    assert abs(float(clamped.bounds[3][0]) - 1 / 8) < 1e-15


# --- what cannot be enumerated ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sampler", "message"),
    [
        (lambda x, rng: rng.standard_t(3), r"rng\.standard_t"),
        (lambda x, rng: rng.gamma(2, 1) + x, r"rng\.gamma"),
        (lambda x, rng: rng.bytes(2), r"rng\.bytes"),
        (lambda x, rng: math.log(1 + rng.random()), r"random\(\): was asked for a logarithm"),
        (lambda x, rng: rng.random() < rng.random(), "another random number"),
        (lambda x, rng: rng.integers(10**9), "over 1000000000 values"),
        pytest.param(lambda x, rng: [rng.integers(2) for _ in range(40)], "more than 2000 paths", marks=pytest.mark.long),
        (lambda x, rng: rng.permutation(12), "479001600 results"),
    ],
)
def test_what_cannot_be_enumerated_is_named(sampler: Any, message: str) -> None:
    with pytest.raises(NotEnumerableError, match=message):
        enumerate_law(sampler, 0, most_paths=2000)


@pytest.mark.slow
def test_endless_loops_and_hidden_state_are_errors() -> None:
    def never(x: int, rng: Any) -> int:
        while True:
            rng.integers(2)

    def walk(x: int, rng: Any) -> int:
        while x >= 0:
            x += 1 if rng.random() < 0.9 else -1
        return x

    calls, seen = itertools.count(), [0]

    def stateful(x: int, rng: Any) -> int:
        return int(rng.integers(2 + next(calls) % 2) + rng.integers(2))

    def counting(x: int, rng: Any) -> int:
        seen[0] += 1
        return int(rng.integers(2)) + (seen[0] > 50)

    with pytest.raises(NotEnumerableError, match="never ends"):
        enumerate_law(never, 0)
    with pytest.raises(NotEnumerableError, match="more than 300 paths"):
        enumerate_law(walk, 0, most_paths=300)
    with pytest.raises(NotEnumerableError, match="holds a value of type count, which may change"):
        enumerate_law(stateful, 0)
    with pytest.raises(NotEnumerableError, match="run again"):
        enumerate_law(counting, 0)


def test_other_randomness_and_a_changed_dataset_are_noticed() -> None:
    own = np.random.default_rng(0)

    def cheating(x: int, rng: Any) -> float:
        return float(own.random())

    def eating(x: list[int], rng: Any) -> int:
        return x.pop() + int(rng.integers(2))

    with pytest.raises(NotEnumerableError, match="holds a generator of its own"):
        enumerate_law(cheating, 0)
    given = [5]
    assert enumerate_law(eating, given) == FiniteLaw.uniform([5, 6])
    assert given == [5], "every run gets a copy"


def test_probabilities_below_the_resolution_of_doubles_refute_nothing() -> None:
    """P21 and P22: a table cut at 12 sigma is as good as uncut, one cut at 3 sigma is not."""

    def law(x: int, cut: int) -> Any:
        weights = np.exp(-(np.arange(-cut, cut + 1) ** 2) / 8)
        return enumerate_law(lambda n, rng: n + int(rng.choice(np.arange(-cut, cut + 1), p=weights / weights.sum())), x)

    fine = law(0, 24).against(law(1, 24))
    assert fine.max_log_ratio().lower < 4
    assert fine.max_log_ratio().upper.is_infinite
    assert fine.hockey_stick(4).upper < Fraction(1, 10**6)
    assert law(0, 6).against(law(1, 6)).max_log_ratio().lower.is_infinite


def test_a_sampler_cannot_swallow_the_errors_of_the_enumeration() -> None:
    def greedy(x: int, rng: Any) -> str:
        try:
            return str(rng.standard_t(3))
        except Exception:
            return "caught"

    with pytest.raises(NotEnumerableError):
        enumerate_law(greedy, 0)


def test_plain_code_is_verified_and_its_broken_version_refuted() -> None:
    def broken(bits: Any, rng: Any) -> Any:
        return [bit if i == 0 or rng.random() < 0.75 else 1 - bit for i, bit in enumerate(bits)]

    right = verify(Sampler(flip, "randomised response"), bits_spec(epsilon="ln(3)"))
    assert right.outcome is Outcome.VERIFIED
    assert right.universes[0].is_tight
    wrong = verify(Sampler(broken), bits_spec(epsilon="ln(3)"))
    assert wrong.outcome is Outcome.REFUTED
    assert wrong.constant.lower.is_infinite


# --- loops that end in the middle of a round only -------------------------------------------------------------------------


def redrawn_order(_: Any, rng: Any) -> list[int]:
    while True:
        order = rng.permutation(4).tolist()
        if order[0] != 0:
            break
    return order


def last_heads(_: Any, rng: Any) -> int:
    last = 0
    while True:
        if rng.random() < 0.5:
            last = 1
        if rng.random() < 0.5:
            break
    return last


def last_seen_by_handler(_: Any, rng: Any) -> int:
    last = 0
    try:
        while True:
            if rng.random() < 0.5:
                raise ValueError
            last = 1 - last
    except ValueError:
        return last


def test_what_a_round_writes_first_is_no_part_of_its_state() -> None:
    """24 orders from the start and 24 from the one state of the loop; with each of six rejected orders a state, 168."""
    counter = RunCounter(most=60)
    law = valued(enumerate_law(redrawn_order, [0], counter=counter))
    assert law == finite_law({order: Fraction(1, 18) for order in itertools.permutations(range(4)) if order[0]})


@pytest.mark.parametrize("function", [last_heads, last_seen_by_handler])
def test_what_a_round_may_not_write_is_part_of_its_state(function: Any) -> None:
    """P(1) by hand: 1/2 + 1/4 x is x for the first; 1/4 + 1/16 + ... for the second, of an odd number of rounds."""
    ones = Fraction(2, 3) if function is last_heads else Fraction(1, 3)
    assert valued(enumerate_law(function, [0])) == finite_law({0: 1 - ones, 1: ones})
