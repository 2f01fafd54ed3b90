"""Plain functions that satisfy their claim, with the true constants, worked out by hand.

So that refusing everything is no way out: none of these may be refuted, and nearly all have to be verified. `constant` is the
tight one on vectors of `length` bits (epsilon per changed bit); the claim is exactly that.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import attrs
import numpy as np


@attrs.frozen
class Right:
    """A function that satisfies its claim.

    Args:
        name: what it is called.
        function: the function.
        constant: its tight constant, which is what is claimed.
        length: of the vectors of bits that it takes.
    """

    name: str
    function: Callable[[Any, Any], Any]
    constant: str
    length: int


RIGHT: list[Right] = []


def right(constant: str, *, length: int = 1) -> Any:
    """Enter a function into the table."""

    def enter(function: Any) -> Any:
        RIGHT.append(Right(function.__name__, function, constant, length))
        return function

    return enter


# --- randomised response: lies with probability 1/4, ratio 3 -------------------------------------------------------------------


@right("ln(3)", length=2)
def by_comparison(x, rng):
    return [bit ^ int(rng.random() < 0.25) for bit in x]


@right("ln(3)")
def by_comparison_from_above(x, rng):
    return x[0] if rng.random() >= 0.25 else 1 - x[0]


@right("ln(3)", length=3)
def by_integers(x, rng):
    return tuple(bit if rng.integers(4) else 1 - bit for bit in x)


@right("ln(3)", length=2)
def by_a_vector_of_integers(x, rng):
    return np.array(x) ^ (rng.integers(0, 4, size=len(x)) == 0)


@right("ln(3)", length=2)
def by_a_vector_of_uniforms(x, rng):
    return (np.array(x) ^ (rng.random(len(x)) < 0.25)).tolist()


@right("ln(3)", length=2)
def by_choice(x, rng):
    return [int(rng.choice([bit, bit, bit, 1 - bit])) for bit in x]


@right("ln(3)")
def by_choice_with_probabilities(x, rng):
    return int(rng.choice(2, p=[0.75, 0.25] if x[0] == 0 else [0.25, 0.75]))


@right("ln(3)")
def by_two_coins(x, rng):
    """Warner's: one coin says whether the truth is told, the other is the answer else."""
    if rng.integers(2):
        return x[0]
    return int(rng.integers(2))


@right("ln(3)", length=2)
def with_early_return(x, rng):
    answers = {}
    for place, bit in enumerate(x):
        if rng.random() < 0.5:
            answers[f"q{place}"] = bit
            continue
        answers[f"q{place}"] = 1 if rng.random() < 0.5 else 0
    return answers


@right("ln(3)")
def in_words(x, rng):
    truth, lie = ("yes", "no") if x[0] else ("no", "yes")
    return truth if rng.random() < 0.75 else lie


@right("ln(3)")
def yes_or_none(x, rng):
    told = bool(x[0]) if rng.random() < 0.75 else not x[0]
    return {"answer": "yes"} if told else None


@right("ln(3)")
def an_error_is_an_answer(x, rng):
    """The two outcomes are a number and an error, with probabilities 3/4 and 1/4."""
    if (x[0] == 1) == (rng.random() < 0.75):
        raise ValueError("declined")
    return 0


# --- more than two answers ------------------------------------------------------------------------------------------------------


@right("ln(3)", length=2)
def one_of_four_cells(x, rng):
    """k-ary response: truth 3/6, each of three others 1/6, on the cell of both bits: ratio 3."""
    cell = 2 * x[0] + x[1]
    drawn = rng.integers(6)
    return cell if drawn < 3 else (cell + int(drawn) - 2) % 4


@right("ln(2)", length=2)
def unary_encoding(x, rng):
    """Each bit is told wrongly with 1/3: ratio 2."""
    return [bit ^ int(rng.integers(3) == 0) for bit in x]


@right("ln(3)", length=2)
def report_noisy_max(x, rng):
    """Which of two votes plus noise of {0, 1, 2} is larger, ties to the first: P(first) = 6/9, 8/9, 3/9, 6/9 for votes
    00, 10, 01, 11; the second: 3/9, 1/9, 6/9, 3/9: ratios up to 3 from 00 to 10."""
    noisy = [vote + int(rng.integers(3)) for vote in x]
    return int(np.argmax(noisy))


@right("ln(2)")
def exponential_mechanism(x, rng):
    """Weights 2^score, scores (x, 1 - x, 0): the sum is 4 on both datasets, so the ratio is 2."""
    weights = [2 ** x[0], 2 ** (1 - x[0]), 1]
    drawn = int(rng.integers(sum(weights)))
    for answer, weight in enumerate(weights):
        if drawn < weight:
            return answer
        drawn -= weight
    raise AssertionError("the weights are used up")


@right("ln(3)")
def subset_of_answers(x, rng):
    """A pair of three categories, with the own one or without: 2 pairs hold it, weight 3 each of 7, 1 does not, weight 1."""
    pairs = [(a, b) for a, b in itertools.combinations(range(3), 2)]
    chances = [Fraction(3 if x[0] in pair else 1, 7) for pair in pairs]
    drawn, total = Fraction(int(rng.integers(7)), 7), Fraction(0)
    for pair, chance in zip(pairs, chances, strict=True):
        total += chance
        if drawn < total:
            return pair
    return pairs[-1]


# --- noise ------------------------------------------------------------------------------------------------------------


@right("ln(2)", length=2)
def truncated_geometric(x, rng):
    """The count on 0..2 by the Markov chain of the geometric mechanism with ratio 1/2, in thirds and sixths."""
    table = {0: (4, 1, 1), 1: (2, 2, 2), 2: (1, 1, 4)}
    drawn = int(rng.integers(6))
    for answer, weight in enumerate(table[sum(x)]):
        drawn -= weight
        if drawn < 0:
            return answer
    return 2


@right("ln(2)", length=2)
def clamped_geometric_noise(x, rng):
    """Two-sided geometric noise of ratio 1/2, drawn bit by bit and clamped to 0..2: the ends carry ratio 2."""
    noise = 0
    if rng.integers(3):
        noise = 1
        while noise < 4 and rng.integers(2):
            noise += 1
        if rng.integers(2):
            noise = -noise
    return max(0, min(2, sum(x) + noise))


@right("ln(2)", length=2)
def thresholded(x, rng):
    """P(yes) = 1/6, 1/3, 2/3 for a count of 0, 1, 2."""
    return int(rng.integers(6)) < (1, 2, 4)[sum(x)]


@right("ln(3)", length=2)
def binomial_noise_is_not_needed(x, rng):
    """Parity, told rightly with 3/4."""
    return sum(x) % 2 ^ int(rng.integers(4) == 3)


# --- selection and order ----------------------------------------------------------------------------------------------


@right("ln(3/2)", length=2)
def one_of_two_candidates(x, rng):
    """Weights 1 + vote: P(first) = 1/2, 2/3 or 1/3."""
    weights = [1 + x[0], 1 + x[1]]
    return "first" if rng.integers(sum(weights)) < weights[0] else "second"


@right("ln(2)", length=2)
def one_record_is_sampled_and_flipped(x, rng):
    """A record of two, told with lies of 1/4: P(1) = 1/4, 1/2, 3/4: ratio 2."""
    return x[int(rng.integers(2))] ^ int(rng.random() < 0.25)


@right("ln(3)", length=2)
def shuffled_reports(x, rng):
    """Order adds nothing to what two reports tell: the count of ones has ratio 3 at its ends."""
    reports = [bit ^ int(rng.integers(4) == 0) for bit in x]
    rng.shuffle(reports)
    return reports


@right("ln(3)", length=2)
def permuted_reports(x, rng):
    reports = [bit ^ int(rng.integers(4) == 0) for bit in x]
    return tuple(int(reports[k]) for k in rng.permutation(2))


@right("ln(3)", length=2)
def sorted_reports(x, rng):
    return sorted(bit ^ int(rng.integers(4) == 0) for bit in x)


@right("ln(3)", length=3)
def the_first_report_only(x, rng):
    return [x[0] ^ int(rng.integers(4) == 0), *rng.permutation(3).tolist()]


# --- composition ------------------------------------------------------------------------------------------------------


@right("ln(9)")
def told_twice(x, rng):
    return [x[0] ^ int(rng.random() < 0.25), x[0] ^ int(rng.random() < 0.25)]


@right("ln(6)")
def two_parts(x, rng):
    first = x[0] ^ int(rng.random() < 0.25)
    second = x[0] ^ int(rng.integers(3) == 0)
    return {"first": first, "second": second}


@right("ln(9)")
def adaptive(x, rng):
    """The second question is asked only after a yes: the worst path has both ratios."""
    first = x[0] ^ int(rng.random() < 0.25)
    return [first] if not first else [first, x[0] ^ int(rng.random() < 0.25)]


# --- loops and recursion ----------------------------------------------------------------------------------------------


@right("ln(3)")
def fair_from_unfair(x, rng):
    """Von Neumann's fair coin twice makes a quarter of lies."""

    def fair():
        while True:
            first, second = rng.integers(3) == 0, rng.integers(3) == 0
            if first != second:
                return int(first)

    return x[0] ^ (fair() & fair())


@right("ln(2)")
def redrawn_until_it_fits(x, rng):
    """One of 0, 1, 2 of four equally likely numbers: P(0) = 1/3."""
    while True:
        drawn = rng.integers(4)
        if drawn < 3:
            break
    return x[0] ^ int(drawn == 0)


@right("ln(3)")
def by_recursion(x, rng):
    def flips(depth):
        return depth == 0 or (rng.integers(2) == 0 and flips(depth - 1))

    return x[0] ^ int(flips(2))


@right("ln(2)")
def ends_when_a_coin_says_so(x, rng):
    """P(an even number of tosses) = 1/3."""
    tosses = 1
    while rng.random() < 0.5:
        tosses = 3 - tosses
    return x[0] ^ int(tosses == 2)


@right("ln(3)")
def with_a_helper(x, rng):
    return _told(x[0], _lies(rng, 4))


def _lies(rng: Any, among: int) -> bool:
    return int(rng.integers(among)) == 0


def _told(bit: int, lie: bool) -> int:
    return 1 - bit if lie else bit


class Response:
    """Randomised response as an object."""

    def __init__(self, among: int) -> None:
        self.among = among

    def __call__(self, x: Any, rng: Any) -> int:
        return self.flip(x[0], rng)

    def flip(self, bit: int, rng: Any) -> int:
        return _told(bit, _lies(rng, self.among))


RIGHT.append(Right("as_an_object", Response(4), "ln(3)", 1))
RIGHT.append(Right("as_a_method", Response(3).__call__, "ln(2)", 1))
RIGHT.append(Right("as_a_lambda", lambda x, rng: [b ^ int(rng.integers(5) == 0) for b in x], "ln(4)", 2))


# --- forms of the output ----------------------------------------------------------------------------------------------


@right("ln(3)", length=2)
def as_an_array(x, rng):
    return np.array([bit ^ int(rng.integers(4) == 0) for bit in x], dtype=np.int8)


@right("ln(3)", length=2)
def as_a_table(x, rng):
    counted = Counter(bit ^ int(rng.integers(4) == 0) for bit in x)
    return {"zeros": counted[0], "ones": counted[1]}


@right("ln(3)", length=2)
def as_a_text(x, rng):
    return "".join(str(bit ^ int(rng.integers(4) == 0)) for bit in x)


@right("ln(3)")
def as_floats(x, rng):
    told = x[0] ^ int(rng.random() < 0.25)
    return (float(told), math.sqrt(told), -0.0 if told else 0.0)


@right("ln(3)")
def as_a_fraction(x, rng):
    return [Fraction(x[0] ^ int(rng.integers(4) == 0), 3), None, b"end"]


@right("ln(3)")
def nested(x, rng):
    told = x[0] ^ int(rng.integers(4) == 0)
    return {"a": [told, (told, {"b": np.int64(told)})], "c": [[], ()]}


@right("ln(3)")
def debiased(x, rng):
    """(told - 1/4) / (1/2), the unbiased estimate."""
    return ((x[0] ^ int(rng.integers(4) == 0)) - 0.25) / 0.5


# --- promises that say nothing, and nearly nothing --------------------------------------------------------------------


@right("0")
def pure_chance(x, rng):
    return int(rng.integers(6)) + 1


@right("0", length=2)
def a_masked_bit(x, rng):
    """The one-time pad."""
    return [bit ^ int(rng.integers(2)) for bit in x]


@right("ln(1000)")
def nearly_the_truth(x, rng):
    return x[0] ^ int(rng.integers(1001) == 0)


@right("ln(2)")
def a_binomial_threshold(x, rng):
    """Of two coins, thrown again when both fall on one: P(none) = 1/3."""
    while True:
        successes = int(rng.integers(2)) + int(rng.integers(2))
        if successes < 2:
            break
    return x[0] ^ int(successes == 0)


@right("ln(3)")
def a_multinomial_table(x, rng):
    told = int(rng.choice(4))
    table = [0, 0]
    table[x[0] if told else 1 - x[0]] += 1
    return table


@right("ln(2)", length=2)
def without_replacement(x, rng):
    """One of two records, a zero and a one: P(1) = (1 + count) / 4."""
    pool = [0, 1, *x]
    return int(rng.choice(pool, size=1, replace=False)[0])


# --- redraws until a name says so ------------------------------------------------------------------------------------------


@right("ln(3)")
def until_a_flag_is_set(x, rng):
    done = False
    while not done:
        drawn = int(rng.integers(8))
        done = drawn < 4
    return x[0] if drawn else 1 - x[0]


@right("ln(3)")
def until_something_is_there(x, rng):
    found = None
    while found is None:
        drawn = rng.integers(5)
        if drawn < 4:
            found = x[0] if drawn else 1 - x[0]
    return found
