"""Numbers of every size against closed forms, in a process that may use 2 GiB: right, finite, below their trivial limits.

The oracles are the textbook formulas of Laplace, Gaussian and binary pairs in 50 to 400 digits of `decimal`, or their limits.
"""

from __future__ import annotations

import json
import math
import os
import resource
import subprocess
import sys
import textwrap
from decimal import Decimal, getcontext
from fractions import Fraction

import pytest

from dpspec.base.errors import NumericalError, ParameterError
from dpspec.base.exact import MOST_DIGITS, Bracket, number
from dpspec.base.log_linear import MOST_BITS, ceiling_of, floor_of
from dpspec.laws.continuous import GaussianLaw, LaplaceLaw
from dpspec.laws.integers import DiscreteGaussianLaw, TwoSidedGeometricLaw
from dpspec.laws.law import FiniteLaw
from dpspec.laws.loss import compose

LIMIT = 2 << 30
"""Bytes of address space: what every command is promised to work inside of."""


def run(code: str, *arguments: str, seconds: int = 900) -> subprocess.CompletedProcess[str]:
    """A program in a process of its own, under the limit."""

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (LIMIT, LIMIT))

    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "POLARS_MAX_THREADS"), "1")
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), *arguments], capture_output=True, text=True, timeout=seconds,
        check=False, preexec_fn=limited, env={**os.environ, **threads},
    )  # fmt: skip


MAIN = "import sys; from dpspec.cli import main; sys.exit(main())"
CONVERSIONS = [
    "mu=0.00005 --to hockey-stick --at epsilon=25",
    "mu=1e-300 --to hockey-stick --at epsilon=1e9",
    "epsilon=1e9 --to rho",
    "epsilon=1e-400 --to rho",
    "rho=1e-30 --to epsilon --delta 1e-400",
    "rho=1e9 --to epsilon --delta 1e-10",
    "epsilon=ln(1e3000) --to rho",
    "epsilon=1e9 delta=1e-400 --to distance",
]
REFUSED = ["epsilon=1e999999999 --to rho", "epsilon=ln(1e5000) --to rho", "epsilon=1e-999999999 --to rho"]


@pytest.mark.long
@pytest.mark.parametrize("line", CONVERSIONS + REFUSED)
def test_a_conversion_of_any_size_ends_within_the_memory(line):
    ran = run(MAIN, "convert", *line.split(), "--format", "json")
    assert "MemoryError" not in ran.stderr + ran.stdout
    assert "Traceback" not in ran.stderr
    if line in REFUSED:
        assert ran.returncode == 2
        assert str(MOST_DIGITS) in ran.stderr + ran.stdout
    else:
        if ran.returncode == 3:
            assert "is beyond the formulas" in ran.stderr  # in one line: so much is not converted
            return
        assert ran.returncode == 0, ran.stderr
        for path in json.loads(ran.stdout)["paths"]:
            assert path["value"]["upper"] != "inf"


FILE = """
schema = 1
id = "one-count"
title = "One count"
[space]
type = "bit-vectors"
length = 1
[multiverse]
invariants = []
[input_divergence]
type = "hamming-ordered"
[output_divergence]
type = "hockey-stick"
epsilon = 30
[budget]
delta = "1e-10"
[mechanism]
type = "gaussian"
variance = 1000000
queries = [{ type = "linear-map", rows = [[1]], label = "sum" }]
"""


@pytest.mark.long
def test_a_file_of_25_lines_does_not_fill_the_memory(tmp_path):
    path = tmp_path / "one.dpspec.toml"
    path.write_text(FILE, encoding="utf-8")
    ran = run(MAIN, "verify", str(path), "--format", "json")
    assert ran.returncode == 0, ran.stderr
    assert '"verified"' in ran.stdout


# --- sizes -----------------------------------------------------------------------------------------------------------


def test_no_end_of_a_bracket_is_longer_than_can_be_worked_with():
    from flint import arb

    for power in (1, 10**3, 10**6, 10**12, 10**30):
        for ball in (arb(-power).exp(), arb(power).exp(), -arb(-power).exp(), -arb(power).exp()):
            low, high = floor_of(ball), ceiling_of(ball)
            for end in (low, high):
                assert end is None or max(end.numerator.bit_length(), end.denominator.bit_length()) <= 2 * MOST_BITS
            assert low is None or arb(low.numerator) / low.denominator <= ball.upper()
            assert high is None or arb(high.numerator) / high.denominator >= ball.lower()
            assert (low is None or high is None) or low <= high
    tiny = Bracket.around(arb(-(10**12)).exp(), least=0)
    assert tiny.lower == 0 < tiny.upper < Bracket.exactly("1e-3900").upper


def test_exact_forms_have_a_bounded_size():
    long = Fraction(3**10_000, 5**7_000)
    found = Bracket.exactly(long)
    assert not found.is_exact
    assert found.lower < long < found.upper
    assert float(found.upper.enclose() / found.lower.enclose()) == pytest.approx(1)
    assert len(str(number(long))) > 4300
    assert number(str(number(Fraction(3**2000, 5**1000)))) == Fraction(3**2000, 5**1000)


LONG = ["1e999999999", "1e-999999999", "ln(1e999999999)", "1e99999*ln(2)", "sqrt(1e999999999)", "1e5000"]


@pytest.mark.parametrize("text", LONG)
def test_a_number_that_is_too_long_is_refused_at_once(text):
    with pytest.raises(ParameterError, match=str(MOST_DIGITS)):
        number(text)


# --- values ----------------------------------------------------------------------------------------------------------


def decimal_of(value) -> Decimal:
    return Decimal(value.as_fraction().numerator) / Decimal(value.as_fraction().denominator)


def holds(bracket: Bracket, truth: Decimal, slack: str = "1e-40") -> bool:
    low, high = (end.enclose(400) for end in (bracket.lower, bracket.upper))
    room = abs(truth) * Decimal(slack) + Decimal("1e-300")
    return (
        Decimal(low.lower().str(60, radius=False)) <= truth + room and Decimal(high.upper().str(60, radius=False)) >= truth - room
    )


SHIFTS = ("1e-9", "1e-3", "1/2", "1", "3", "50", "1e3")
ORDERS = (2, 3, 64, 10**6)


def laplace(t):
    return LaplaceLaw(0, 1).against(LaplaceLaw(Fraction(t), 1))


@pytest.mark.parametrize("t", SHIFTS)
def test_laplace_pairs_by_their_formulas(t):
    getcontext().prec = 120
    pair, x = laplace(t), Decimal(Fraction(t).numerator) / Decimal(Fraction(t).denominator)
    for epsilon in (0, "1e-10", "1/3", 30, 10**9):
        e = Decimal(Fraction(epsilon).numerator) / Decimal(Fraction(epsilon).denominator)
        found = pair.hockey_stick(epsilon)
        assert holds(found, max(Decimal(0), 1 - ((e - x) / 2).exp()) if e < x else Decimal(0), "1e-15")
        assert found.upper <= 1
    for delta in ("1e-400", "1e-10", "1/10", "9/10"):
        d = Decimal(Fraction(delta).numerator) / Decimal(Fraction(delta).denominator)
        assert holds(pair.epsilon_at(delta), max(Decimal(0), x + 2 * (1 - d).ln()), "1e-15")
    for order in ORDERS:
        a = Decimal(order)
        mean = a / (2 * a - 1) + (a - 1) / (2 * a - 1) * (-(2 * a - 1) * x).exp()
        found = pair.renyi(order)
        assert holds(found, x + mean.ln() / (a - 1), "1e-12")
        assert found.upper <= number(Fraction(t))
    assert holds(pair.renyi(1), x - 1 + (-x).exp(), "1e-8")


@pytest.mark.parametrize("shift", ["1e9", "1e300"])
def test_huge_losses_stay_below_their_trivial_limits(shift):
    top = number(Fraction(Decimal(shift)))
    for times in (1, 3, 10**6):
        pair = compose([(LaplaceLaw(0, 1).against(LaplaceLaw(top.as_fraction(), 1)), times)])
        assert pair.hockey_stick(1).upper <= 1
        assert pair.renyi(2).upper <= top * times
        found = pair.epsilon_at("1/10")
        assert found.upper <= top * times
        assert found.lower <= found.upper


@pytest.mark.parametrize(
    "variance", ["1e-6", "1", pytest.param("1e6", marks=pytest.mark.long), "1e18", pytest.param("1e40", marks=pytest.mark.long)]
)
@pytest.mark.parametrize("law", [GaussianLaw, DiscreteGaussianLaw])
def test_gaussian_epsilons_are_finite_and_below_the_bound_of_bun_and_steinke(law, variance):
    """rho + 2 sqrt(rho ln(1/delta)), and at delta = 1e-400 too."""
    size = Fraction(Decimal(variance))
    pair = law(0, size).against(law(1, size))
    rho = 1 / (2 * size)
    for delta, log in (("1/10", math.log(10)), ("1e-10", 10 * math.log(10)), ("1e-400", 400 * math.log(10))):
        found = pair.epsilon_at(delta)
        assert not found.upper.is_infinite
        assert float(found.upper) <= (float(rho) + 2 * math.sqrt(float(rho) * log)) * (1 + 1e-6)
        below = pair.hockey_stick(found.upper)
        assert below.lower <= number(delta)
    far = pair.hockey_stick(10**9)
    assert far.upper <= 1
    if size >= 1:
        assert far.upper < number("1e-1000")


def three_laplace(epsilon: float, points: int = 60_001) -> float:
    """P(L > e) - e^e Q(L > e) of three unit Laplace pairs, by the law of the sum of losses on a fine midpoint grid."""
    import numpy as np

    step = 2 / (points - 1)
    inner = -1 + step * (np.arange(points - 1) + 0.5)
    single = np.exp((inner - 1) / 2) / 4 * step
    losses, masses = np.concatenate((inner, [-1, 1])), np.concatenate((single, [math.exp(-1) / 2, 0.5]))
    bins = 4001
    grid = np.linspace(-1, 1, bins)
    counts = np.zeros(bins)
    np.add.at(counts, np.rint((losses + 1) / 2 * (bins - 1)).astype(int), masses)
    total = np.convolve(np.convolve(counts, counts), counts)
    sums = np.linspace(-3, 3, len(total))
    assert grid.size == bins
    return float(np.sum(np.maximum(0, 1 - np.exp(epsilon - sums)) * total))


@pytest.mark.parametrize("delta", ["1/10", "1/2", "1/100", "39/100"])
def test_three_laplace_releases(delta):
    found = compose([(laplace("1"), 3)]).epsilon_at(delta)
    low, high = float(found.lower), float(found.upper)
    assert 0 < high - low < 1e-5
    assert three_laplace(low - 1e-3) > float(Fraction(delta)) > three_laplace(high + 1e-3)
    if delta == "1/10":
        assert low == pytest.approx(2.297, abs=1e-3)


PAIRS = {
    "tiny bits": (FiniteLaw.bernoulli("1e-300"), FiniteLaw.bernoulli("2e-300")),
    "far bits": (FiniteLaw.bernoulli("1e-300"), FiniteLaw.bernoulli(1 - Fraction(1, 10**300))),
    "long ratio": (
        TwoSidedGeometricLaw.with_ratio(0, Fraction(10**50, 10**50 + 1)),
        TwoSidedGeometricLaw.with_ratio(200, Fraction(10**50, 10**50 + 1)),
    ),
    "steep": (TwoSidedGeometricLaw(0, number(10**9)), TwoSidedGeometricLaw(1, number(10**9))),
    "wide": (DiscreteGaussianLaw(0, 10**20), DiscreteGaussianLaw(1, 10**20)),
}


@pytest.mark.long
@pytest.mark.parametrize("times", [1, 3, 10**6])
@pytest.mark.parametrize("name", PAIRS)
def test_every_functional_of_every_pair_is_below_its_trivial_limit(name, times):
    left, right = PAIRS[name]
    pair = compose([(left.against(right), times)])
    top = pair.max_log_ratio().upper
    for epsilon in (0, 1, 30, 10**9):
        assert 0 <= pair.hockey_stick(epsilon).lower <= pair.hockey_stick(epsilon).upper <= 1
    for delta in ("1/10", "1e-10", "1e-400"):
        found = pair.epsilon_at(delta)
        assert not found.upper.is_infinite
        assert found.upper <= top
    for order in (1, 2, 10**6):
        found = pair.renyi(order)
        assert not found.upper.is_infinite
        assert found.upper <= top


def test_what_has_no_lower_end_is_no_number():
    from flint import arb

    with pytest.raises(NumericalError):
        Bracket.around(arb("nan"))
