"""Reachable doubles: textbook noise is refuted by its last bits, noise on a grid and exact discrete noise are not."""

import math
import random
from fractions import Fraction

import numpy as np
import pytest
from dpspec_code.bits import OutputLattice, exponents, refute_bits

from dpspec.base.errors import IncompatibleBlocksError, ParameterError
from dpspec.blocks.lists import ValueLists
from dpspec.verifier.outputs import Outcomes
from dpspec.verifier.verdict import Outcome
from tests.verify.toys import bits_spec, block

RECORDS = ValueLists(values=(0,), ordered=False)


def claim(epsilon="1", space=RECORDS, d_pr=("mult", {}), parameter="epsilon"):
    spec = bits_spec(epsilon=epsilon, d_pr=d_pr, parameter=parameter)
    return spec.replace(space=space, input_divergence=block("input_divergences", "symmetric-difference", unit="person"))


def textbook(rng, scale=1.0):
    u = rng.random()
    return -scale * math.copysign(1.0, u - 0.5) * math.log(1 - 2 * abs(u - 0.5)) if u else 0.0


def counting(noise):
    return lambda x, rng: len(x) + noise(rng)


def on_grid(rng):
    return round(textbook(rng) * 2**10) / 2**10


def discrete(rng):
    ratio = 1 - math.exp(-1)
    return float(rng.geometric(ratio) - rng.geometric(ratio))


WRONG = {
    "textbook Laplace": (counting(textbook), claim()),
    "textbook Laplace at half the budget": (counting(lambda rng: textbook(rng, 2.0)), claim("1/2")),
    "numpy's Laplace": (counting(lambda rng: rng.laplace()), claim()),
    "in a tuple": (lambda x, rng: (float(len(x) > 3), len(x) + textbook(rng)), claim()),
    "under zero-concentrated privacy": (counting(textbook), claim("1/2", d_pr=("d-nor", {}), parameter="rho")),
}


@pytest.mark.spread(2)
@pytest.mark.parametrize("name", WRONG)
def test_textbook_noise_is_refuted_with_an_event_in_words(name):
    function, spec = WRONG[name]
    verdict = refute_bits(function, spec)
    assert verdict.outcome is Outcome.REFUTED
    witness = verdict.witness
    assert witness is not None
    assert (witness.left, witness.right, witness.distance) == ((), (0,), 1)
    assert "multiple of 2^-5" in witness.event.text
    assert witness.divergence.lower > witness.bound * witness.distance
    assert witness.event.left.upper < witness.event.right.lower or witness.event.right.upper < witness.event.left.lower
    assert "1e-09" in witness.note


@pytest.mark.slow
@pytest.mark.parametrize("noise", [on_grid, discrete])
def test_noise_on_a_coarse_lattice_is_not_refuted(noise):
    verdict = refute_bits(counting(noise), claim())
    assert verdict.outcome is Outcome.UNDECIDED
    assert "no proof" in verdict.reason


@pytest.mark.long
@pytest.mark.statistical
def test_right_mechanisms_are_rarely_refuted_at_a_loose_error():
    """40 runs at error 1e-2, tight claims: 7 or more refutations have probability below 2e-7."""
    pair = [((), (0,))]
    runs = [
        refute_bits(counting(noise), claim(), seed=seed, error="1/100", given=pair)
        for seed in range(20)
        for noise in (on_grid, discrete)
    ]
    assert sum(run.outcome is Outcome.REFUTED for run in runs) <= 6


def test_the_same_seed_gives_the_same_verdict_and_draws_are_limited():
    function = counting(textbook)
    assert refute_bits(function, claim(), seed=3) == refute_bits(function, claim(), seed=3)
    assert refute_bits(function, claim(), draws=1000).outcome is Outcome.UNDECIDED


def test_outputs_of_other_kinds_are_no_crash():
    for output in (None, "text", float("nan"), float("inf"), [], 2**80, 1e300):
        assert refute_bits(lambda x, rng, output=output: output, claim(), given=[((), (0,))]).outcome is Outcome.UNDECIDED


def test_bad_arguments():
    with pytest.raises(ParameterError, match="error"):
        refute_bits(counting(textbook), claim(), error=0)
    apart = claim().replace(input_divergence=block("input_divergences", "hamming", unit="person"))
    with pytest.raises(IncompatibleBlocksError):
        refute_bits(counting(textbook), apart, given=[((), (0,))])


def test_exponents_are_those_of_the_rational_number():
    source = random.Random(2)
    values = [math.ldexp(source.random() * 2 - 1, source.randint(-50, 50)) for _ in range(500)] + [1.0, -0.5, 3.0, 6.0]
    high, low = exponents(np.array(values))
    for value, above, grid in zip(values, high, low, strict=True):
        exact = abs(Fraction(value))
        assert Fraction(2) ** (int(above) - 1) <= exact < Fraction(2) ** int(above)
        assert (exact / Fraction(2) ** int(grid)).denominator == 1
        assert (exact / Fraction(2) ** int(grid)).numerator % 2 == 1


def test_an_event_counts_what_its_words_say():
    event = OutputLattice(place=0, alone=True, shift=1, size=-1, below=True, grid=-3, multiple=False)
    assert str(event) == "|out - 1| < 2^-1, and out - 1 is no multiple of 2^-3"
    assert event.count(Outcomes.of([1.0, 1.0625, 1.125, 0.9375, 1.5625])) == 2
    exact = OutputLattice(place=1, alone=False, shift=-2, size=1, below=False, grid=0, multiple=True)
    assert str(exact) == "2^0 <= |out[1] + 2| < 2^1, and out[1] + 2 is a multiple of 2^0"
    assert exact.count(Outcomes.of([(0.0, -1.0), (0.0, -0.5), (0.0, 0.0), (0.0, -3.0)])) == 2
