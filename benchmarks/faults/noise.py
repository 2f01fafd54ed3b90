"""Faults of the noise itself: doubles, calibration, one-sided and censored noise, noise that is no noise."""

from __future__ import annotations

import math
import zlib

import numpy as np

from benchmarks.faults.entry import Fault, lists, rows


def laplace_inverse(dataset, rng):
    u = rng.random() - 0.5
    noise = -math.copysign(1.0, u) * math.log(1 - 2 * abs(u)) / math.log(2)
    return len(dataset) + noise


def geometric_difference(dataset, rng):
    return len(dataset) + int(rng.geometric(0.5)) - int(rng.geometric(0.5))


def box_muller(dataset, rng):
    u, v = 1.0 - rng.random(), rng.random()
    return sum(dataset) + 4.0 * math.sqrt(-2.0 * math.log(u)) * math.cos(2.0 * math.pi * v)


def discrete_laplace(t, rng):
    ratio = math.exp(-1 / t)
    return int(rng.geometric(1 - ratio)) - int(rng.geometric(1 - ratio))


def discrete_gaussian(sigma, rng):
    t = math.floor(sigma) + 1
    while True:
        y = discrete_laplace(t, rng)
        if rng.random() < math.exp(-((abs(y) - sigma * sigma / t) ** 2) / (2 * sigma * sigma)):
            return y


def integer_gaussian(dataset, rng):
    return sum(dataset) + discrete_gaussian(4, rng)


def mean_drawn_again(dataset, rng):
    mean = sum(dataset) / 2
    while True:
        noisy = mean + rng.laplace(0.0, 0.5)
        if 0.0 <= noisy <= 1.0:
            return noisy


def mean_clipped(dataset, rng):
    mean = sum(dataset) / 2
    return float(np.clip(mean + rng.laplace(0.0, 0.5), 0.0, 1.0))


def classical_gaussian(dataset, rng):
    epsilon, delta = 10.0, 0.01
    sigma = math.sqrt(2 * math.log(1.25 / delta)) / epsilon
    return len(dataset) + rng.normal(0.0, sigma)


def numerical_gaussian(dataset, rng):
    return len(dataset) + rng.normal(0.0, 0.4)


def scale_squared(dataset, rng):
    sigma = 0.5
    return sum(dataset) + rng.normal(scale=sigma**2)


def scale_plain(dataset, rng):
    sigma = 0.5
    return sum(dataset) + rng.normal(scale=sigma)


def normal_cdf(t):
    return 0.5 * (1 + math.erf(t / math.sqrt(2)))


def balle_wang_root(epsilon, delta):
    """The v with Phi(-sqrt(epsilon v)) - e^epsilon Phi(-sqrt(epsilon (v + 2))) = delta, from above."""
    low, high = 0.0, 100.0
    for _ in range(80):
        v = (low + high) / 2
        reached = normal_cdf(-math.sqrt(epsilon * v)) - math.exp(epsilon) * normal_cdf(-math.sqrt(epsilon * (v + 2)))
        low, high = (v, high) if reached > delta else (low, v)
    return high + 1e-6


def analytic_minus(dataset, rng):
    v = balle_wang_root(1.0, 0.01)
    sigma = (math.sqrt(1 + v / 2) - math.sqrt(v / 2)) / math.sqrt(2 * 1.0)
    return sum(dataset) + rng.normal(0, sigma)


def analytic_plus(dataset, rng):
    v = balle_wang_root(1.0, 0.01)
    sigma = (math.sqrt(1 + v / 2) + math.sqrt(v / 2)) / math.sqrt(2 * 1.0)
    return sum(dataset) + rng.normal(0, sigma)


def censored_noise(dataset, rng):
    lower, upper = 0, 3
    noise = int(rng.geometric(0.5) - rng.geometric(0.5))
    noise = max(-(upper - lower), min(upper - lower, noise))
    return len(dataset) + noise


def clamped_answer(dataset, rng):
    lower, upper = 0, 3
    count = max(lower, min(upper, len(dataset)))
    noise = int(rng.geometric(0.5) - rng.geometric(0.5))
    return max(lower, min(upper, count + noise))


def wishart_second_moment(dataset, rng):
    moment = sum(x * x for x in dataset)
    return moment + rng.gamma(shape=1.5, scale=4.0)


def laplace_second_moment(dataset, rng):
    moment = sum(x * x for x in dataset)
    return moment + rng.laplace(scale=4.0)


def sticky_count(dataset, rng):
    seed = zlib.crc32(repr(sorted(dataset)).encode())
    return dataset.count("yes") + np.random.default_rng(seed).laplace()


def fresh_count(dataset, rng):
    return dataset.count("yes") + rng.laplace()


def exponential_only_up(dataset, rng):
    return len(dataset) + rng.exponential(1.0)


def exponential_both_ways(dataset, rng):
    return len(dataset) + rng.exponential(1.0) - rng.exponential(1.0)


def finer_than_one(out):
    return not (out * 2.0**53).is_integer()


FAULTS = (
    Fault(
        name="laplace-in-doubles",
        source="Mironov 2012, On significance of the least significant bits for differential privacy",
        fault="Laplace noise by the inverse distribution function in doubles: which doubles can be reached depends on the count.",
        space=lists("a", "b"),
        claim=("pure", "ln(2)"),
        wrong=laplace_inverse,
        mended=geometric_difference,
        pair=((), ("a",)),
        event=finer_than_one,
        because="[] / [a]; the output is no multiple of 2^-53: about 1/4 against 0, since 1 + noise is rounded to that grid",
        holds="the difference of two geometric draws of ratio 1/2 is two-sided geometric: at most ln 2 for a count that "
        "moves by 1",
        bits=True,
    ),
    Fault(
        name="gaussian-in-doubles",
        source="Jin, McMurtry, Rubinstein and Ohrimenko 2022, Are we there yet? Timing and floating-point attacks on DP systems",
        fault="Box-Muller noise in doubles: which doubles can be reached depends on the sum.",
        space=lists(0, 1),
        claim=("approximate", 1, "1/1000"),
        wrong=box_muller,
        mended=integer_gaussian,
        pair=((0,), (0, 1)),
        event=finer_than_one,
        because="[0] / [0, 1]; the output is no multiple of 2^-53: about 0.09 against 0",
        holds="discrete Gaussian noise of sigma 4 has delta(1) below 1e-5 (Canonne, Kamath and Steinke 2020), far below 1/1000; "
        "what doubles add in its tails is below 1e-15",
        bits=True,
    ),
    Fault(
        name="laplace-drawn-again",
        source="Holohan, Antonatos, Braghin and Mac Aonghusa 2020, The bounded Laplace mechanism in differential privacy",
        fault="Laplace noise drawn again until the answer lies in [0, 1], with the scale of the unbounded mechanism: "
        "the normalising constant depends on the mean.",
        space=rows(0.0, 1.0, length=2),
        claim=("pure", 1),
        wrong=mean_drawn_again,
        mended=mean_clipped,
        pair=((0.0, 0.0), (0.0, 1.0)),
        event=lambda out: out <= 0.1,
        because="[0, 0] / [0, 1]; density at 0: 2 / (1 - e^-2) = 2.31 against e^-1 / (1 - e^-1) = 0.58, a log-ratio of 1.38",
        holds="the mean moves by 1/2, Laplace of scale 1/2 gives exactly 1, clipping looks at the noisy answer only",
    ),
    Fault(
        name="classical-gaussian-large-epsilon",
        source="SmartNoise SDK, issue 462 (2022); Balle and Wang 2018, Improving the Gaussian mechanism, theorem 4",
        fault="sigma = sqrt(2 ln(1.25/delta))/epsilon, which is proved for epsilon below 1 only, at epsilon = 10.",
        space=lists("a", "b"),
        claim=("approximate", 10, "1/100"),
        wrong=classical_gaussian,
        mended=numerical_gaussian,
        pair=(("a",), ()),
        event=lambda out: out >= 1.466,
        rare=1.21e-6,
        because="[a] / []; output at least 1.47: 0.0669 against 1.2e-6, and 0.0669 - e^10 1.2e-6 = 0.040 above 0.01",
        holds="sigma = 0.4 has delta(10) = Phi(-2.75) - e^10 Phi(-5.25) below 0.003",
    ),
    Fault(
        name="gaussian-scale-squared",
        source="SmartNoise Core, issue 316 (2020): the noise scale in the Gaussian mechanism should not be squared",
        fault="The standard deviation is squared before it is handed to the sampler.",
        space=lists(0, 1, most=4),
        claim=("concentrated", 2),
        wrong=scale_squared,
        mended=scale_plain,
        pair=((1,), ()),
        event=lambda out: out >= 0.75,
        because="[1] / []; sigma is 1/4, so that rho is 1/(2 sigma^2) = 8 for one unit; output at least 0.75: 0.841 against "
        "0.00135",
        holds="sigma = 1/2 gives 1/(2 sigma^2) = 2 for a sum that moves by 1",
    ),
    Fault(
        name="analytic-gaussian-sign",
        source="SmartNoise Core, issue 316 (2020): a sign in the analytic Gaussian mechanism was not set correctly",
        fault="The wrong one of the two roots is taken: sqrt(1 + v/2) - sqrt(v/2), which gives a sigma seven times too small.",
        space=lists(0, 1),
        claim=("approximate", 1, "1/100"),
        wrong=analytic_minus,
        mended=analytic_plus,
        pair=((1,), ()),
        event=lambda out: out >= 0.5,
        because="[1] / []; output at least 1/2: about 0.97 against 0.03, and 0.97 - e 0.03 is far above 0.01",
        holds="Balle and Wang 2018, theorem 8, with the root rounded up by 1e-6",
    ),
    Fault(
        name="censored-geometric",
        source="SmartNoise Core, issue 319 (2020): circumvention of the simple geometric mechanism",
        fault="The noise is cut at the width of the range, but the count is not brought into the range, nor is the answer.",
        space=lists("x", "y", most=6),
        claim=("pure", "ln(2)"),
        wrong=censored_noise,
        mended=clamped_answer,
        pair=(("x",), ()),
        event=lambda out: out == 4,
        because="[x] / []; 4 = 1 + 3 has probability 1/12 against 0",
        holds="a clamped count moves by at most 1, two-sided geometric noise of ratio 1/2 gives ln 2, clamping the answer is "
        "free",
    ),
    Fault(
        name="wishart-noise",
        source="diffprivlib, issue 23 and pull request 25 (2020): the Wishart mechanism does not satisfy the privacy it was "
        "used for",
        fault="Wishart (here one-dimensional: gamma) noise is never negative: an answer below the true moment never happens.",
        space=lists(0, 1, 2),
        claim=("pure", 1),
        wrong=wishart_second_moment,
        mended=laplace_second_moment,
        pair=((), (2,)),
        event=lambda out: out < 4,
        because="[] / [2]; output below 4: about 0.43 against 0",
        holds="a record adds at most 4 to the moment, and the scale is 4",
    ),
    Fault(
        name="sticky-noise",
        source="Gadotti, Houssiau, Rocher, Livshits and de Montjoye 2019, When the signal is in the noise: exploiting "
        "Diffix's sticky noise",
        fault="The noise is a function of the records that are counted: a dataset has one answer.",
        space=lists("yes", "no"),
        claim=("pure", 1),
        wrong=sticky_count,
        mended=fresh_count,
        pair=((), ("yes",)),
        event=lambda out: out == sticky_count([], None),
        because="[] / [yes]; the answer of []: 1 against 0",
        holds="the count moves by at most 1, Laplace of scale 1",
    ),
    Fault(
        name="one-sided-exponential",
        source="Dwork and Roth 2014, section 3.3; Ding, Wang, Wang, Zhang and Kifer 2018, Detecting violations of "
        "differential privacy "
        "(noisy max with exponential noise, the value released)",
        fault="One-sided exponential noise on an answer that is itself released.",
        space=lists("r", most=3),
        claim=("pure", 1),
        wrong=exponential_only_up,
        mended=exponential_both_ways,
        pair=((), ("r",)),
        event=lambda out: out < 1,
        because="[] / [r]; output below 1: 0.632 against 0",
        holds="the difference of two exponential draws of mean 1 is Laplace of scale 1",
    ),
)
