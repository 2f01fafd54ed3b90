"""Laws of the zoo's mechanisms, by the closed forms that its text gives: what `zoo.py --laws` hands to the exact engine.

Noise is taken before it is rounded to the grid of 2^-10. Where a part of the output refutes the claim by itself, the law of that
part is given, and the text says so; post-processing, which only helps, is left out.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

import attrs
import numpy as np
from flint import arb, ctx

from dpspec.base.exact import NumberLike
from dpspec.base.log_linear import ball
from dpspec.laws import (
    AtomicLaw,
    DiscreteGaussianLaw,
    FiniteLaw,
    GaussianLaw,
    LaplaceLaw,
    Law,
    TwoSidedGeometricLaw,
    mixture,
    product,
)
from dpspec.laws.enclosures import first_above
from dpspec.laws.exponential import Exponential, exact_exponential, finite_law

Data = Any
"""A dataset as the plain list that the mechanism gets."""


@attrs.frozen
class Given:
    """A law for every dataset.

    Args:
        text: which law it is, for the table.
        law: P_x.
        most: so many datasets are looked at.
    """

    text: str
    law: Callable[[Data], Law]
    most: int = 30


@attrs.frozen
class Shifted(AtomicLaw):
    """center + K, for a K with a rational mass at every integer, about 2^-|k|."""

    center: int
    noise: Callable[[int], Fraction]

    def window(self, precision: int) -> range:
        return range(self.center - precision, self.center + precision + 1)

    def mass(self, outcome: Any, precision: int) -> arb:
        with ctx.workprec(precision + 32):
            return ball(self.noise(outcome - self.center))


# --- noise -------------------------------------------------------------------------------------------


def laplace(centers: Iterable[NumberLike], scale: NumberLike) -> Law:
    """Independent Laplace noise on every center."""
    return product([LaplaceLaw(center, scale) for center in centers])


def laplace_or_point(center: NumberLike, scale: NumberLike) -> Law:
    """Laplace noise, or none when its scale is 0."""
    return LaplaceLaw(center, scale) if scale else FiniteLaw.point(center)


def counts(data: Data, categories: int) -> list[int]:
    return [data.count(k) for k in range(categories)]


def clipped(data: Data, low: float, high: float) -> Fraction:
    return sum((Fraction(min(max(value, low), high)) for value in data), Fraction(0))


def redrawn(data: Data) -> Law:
    """Two-sided geometric noise of ratio 1/2 on the number of ones, drawn again until the answer is in 0..4."""
    return FiniteLaw.from_weights({answer: 2 ** (4 - abs(answer - sum(data))) for answer in range(5)})


def one_sided(k: int) -> Fraction:
    return Fraction(1, 2 ** (k + 1)) if k >= 0 else Fraction(0)


def nearer_of_two(k: int) -> Fraction:
    """The mass of the nearer to 0 of two two-sided geometric draws of ratio 1/2."""
    reach = [Fraction(4, 3) / 2**m if m else Fraction(1) for m in (abs(k), abs(k) + 1)]
    return (reach[0] ** 2 - reach[1] ** 2) / (2 if k else 1)


def subsampled(data: Data) -> Law:
    ones = sum(data)
    weights = [Fraction(math.comb(ones, kept), 2**ones) for kept in range(ones + 1)]
    return mixture(weights, [TwoSidedGeometricLaw(kept, 1) for kept in range(ones + 1)])


def half_precision(data: Data) -> Law:
    base = np.float16(8192)
    for value in data:
        base = np.float16(base + np.float16(value))
    return LaplaceLaw(int(base) - 8192, 5)


# --- finitely many outcomes, with probabilities in Q(e^r) ----------------------------------------------


def chosen(scores: Iterable[NumberLike]) -> Law:
    """Option i with a probability proportional to e^(scores[i])."""
    return finite_law({i: exact_exponential(score) for i, score in enumerate(scores)}, normalise=True)


def kept(data: Data, epsilon: NumberLike) -> Law:
    """Every bit is kept with probability e^epsilon / (1 + e^epsilon), else flipped; None stays."""
    choices = [(None,) if bit is None else (0, 1) for bit in data]
    weights = {
        out: exact_exponential(Fraction(epsilon) * sum(a == b for a, b in zip(out, data, strict=True)))
        for out in itertools.product(*choices)
    }
    return finite_law(weights, normalise=True)


def one_hot(value: int) -> list[int]:
    return [int(value == k) for k in range(4)]


def answered(truth: int, options: int, weight: Exponential) -> Law:
    """The truth with this weight, any other option with weight 1."""
    return finite_law({option: weight if option == truth else exact_exponential(0) for option in range(options)}, normalise=True)


def permute_and_flip(answers: Data) -> Law:
    accept = [exact_exponential(Fraction(answer - max(answers), 2)) for answer in answers]
    found = dict.fromkeys(range(len(answers)), Exponential())
    for order in itertools.permutations(range(len(answers))):
        left = exact_exponential(0) * Fraction(1, math.factorial(len(answers)))
        for option in order:
            found[option] = found[option] + left * accept[option]
            left = left * (1 - accept[option])
    return finite_law(found)


def noisier_of_two(answers: Data) -> Law:
    """Which of two answers is the larger one under Laplace noise of scale 1: e^(-gap) (2 + gap) / 4 for the smaller."""
    gap = abs(answers[0] - answers[1])
    less = exact_exponential(-gap) * Fraction(2 + gap, 4)
    smaller = 0 if answers[0] < answers[1] else 1
    return finite_law({smaller: less, 1 - smaller: 1 - less})


def two_of(answers: Data) -> Law:
    """Two options one after the other, weighed by e^(answer / 2) each time."""
    weights = [exact_exponential(Fraction(answer, 2)) for answer in answers]
    whole = sum(weights, Exponential())
    orders = itertools.permutations(range(len(answers)), 2)
    return finite_law({(i, j): weights[i] / whole * (weights[j] / (whole - weights[i])) for i, j in orders})


# --- the table ---------------------------------------------------------------------------------------


def laws(zoo: Any) -> dict[str, Given]:
    """The laws that are given, by entry; the zoo's own module says how sensitive a median is, and one calibration."""
    e = exact_exponential(1)
    sigma = Fraction(math.ceil(zoo.analytic_sigma(1.0, 0.01) * 10**9), 10**9)
    classic = Fraction(math.sqrt(2 * math.log(1.25 / 1e-3)) / 10.0) ** 2
    beta = 1 / (2 * math.log(2 / 0.1))
    return {
        "P01": Given("Laplace(n, 1)", lambda x: LaplaceLaw(len(x), 1)),
        "P02": Given("Laplace(n, 1/2)", lambda x: LaplaceLaw(len(x), "1/2")),
        "P03": Given("Laplace(count, 1/2), three times", lambda x: laplace(counts(x, 3), "1/2")),
        "P04": Given("Laplace(count, 1), three times", lambda x: laplace(counts(x, 3), 1)),
        "P05": Given("Laplace(count, 1), three times", lambda x: laplace(counts(x, 3), 1)),
        "P06": Given("Laplace(clipped sum, 10)", lambda x: LaplaceLaw(clipped(x, -5, 10), 10)),
        "P07": Given("two-sided geometric, ratio 1/2", lambda x: TwoSidedGeometricLaw.with_ratio(sum(x), "1/2")),
        "P08": Given("the same, clamped to 0..4", lambda x: TwoSidedGeometricLaw.with_ratio(sum(x), "1/2").clamped(0, 4)),
        "P09": Given("the same, conditioned on 0..4", redrawn),
        "P10": Given("the same, clamped to 0..n", lambda x: TwoSidedGeometricLaw.with_ratio(sum(x), "1/2").clamped(0, len(x))),
        "P11": Given("n + one-sided geometric", lambda x: Shifted(len(x), one_sided)),
        "P12": Given(
            "first answer Laplace(count, 1), difference exact",
            lambda x: product([LaplaceLaw(x.count(0), 1), FiniteLaw.point(x.count(1) - x.count(0))]),
        ),
        "P13": Given("a point", lambda x: FiniteLaw.point(len(x))),
        "P15": Given("Gaussian(n, s^2), s rounded up at 1e-9", lambda x: GaussianLaw(len(x), sigma**2)),
        "P16": Given("Gaussian(n, s^2), s as its double", lambda x: GaussianLaw(len(x), classic)),
        "P17": Given("Gaussian(n, 1)", lambda x: GaussianLaw(len(x), 1)),
        "P18": Given("Gaussian(n, 4)", lambda x: GaussianLaw(len(x), 4)),
        "P19": Given("Gaussian(n, 2)", lambda x: GaussianLaw(len(x), 2)),
        "P20": Given("Gaussian(count, 4), three times", lambda x: product([GaussianLaw(c, 4) for c in counts(x, 3)])),
        "P21": Given("discrete Gaussian(n, 4)", lambda x: DiscreteGaussianLaw(len(x), 4)),
        "P22": Given(
            "weights e^(-k^2/8), |k| <= 6",
            lambda x: finite_law({len(x) + k: exact_exponential(Fraction(-k * k, 8)) for k in range(-6, 7)}, normalise=True),
        ),
        "P24": Given("weights e^(count/2)", lambda x: chosen(Fraction(c, 2) for c in counts(x, 3))),
        "P25": Given("weights e^count", lambda x: chosen(counts(x, 2))),
        "P26": Given("weights e^(votes/2)", lambda x: chosen((Fraction(sum(x), 2), Fraction(-sum(x), 2)))),
        "P28": Given("exponential noise: permute-and-flip", permute_and_flip),
        "P31": Given("closed form in the gap", noisier_of_two),
        "P32": Given("sum over the orders", permute_and_flip),
        "P33": Given("weights e^(answer/2), twice", two_of),
        "P34": Given(
            "integral over the threshold noise", lambda x: first_above(x, threshold=0, threshold_scale=2, query_scale=4), 20
        ),
        "P37": Given(
            "integral over the threshold noise", lambda x: first_above(x, threshold=0, threshold_scale=4, query_scale="4/3"), 20
        ),
        "P42": Given("keep e/(1+e)", lambda x: kept(x, 1)),
        "P43": Given("keep (2e+1)/(2e+2)", lambda x: answered(x[0], 2, 2 * e + 1)),
        "P44": Given("truth e/(e+3)", lambda x: answered(x[0], 4, e)),
        "P45": Given("truth e/(e+1)", lambda x: answered(x[0], 4, 3 * e)),
        "P46": Given("one-hot, keep e^(1/2)/(1+e^(1/2))", lambda x: kept(one_hot(x[0]), "1/2")),
        "P47": Given("one-hot, keep e/(1+e)", lambda x: kept(one_hot(x[0]), 1)),
        "P48": Given("keep e/(1+e), None stays", lambda x: kept(x, 1)),
        "P49": Given("Laplace(n, 1) and Laplace(ones, 1)", lambda x: laplace((len(x), sum(x)), 1)),
        "P50": Given("Laplace(count, 1) for each tag", lambda x: laplace([sum(k in tags for tags in x) for k in range(3)], 1)),
        "P51": Given("Laplace(prefix sum, 1), four times", lambda x: laplace(itertools.accumulate(x), 1)),
        "P52": Given("Laplace(element, 1), before summing", lambda x: laplace(x, 1)),
        "P53": Given("two-sided geometric, ratio 1/e", lambda x: TwoSidedGeometricLaw(sum(x[:2]), 1)),
        "P54": Given("binomial mixture of two-sided geometrics", subsampled, 5),
        "P55": Given(
            "the size alone: binomial",
            lambda x: FiniteLaw.from_weights({kept: math.comb(len(x), kept) for kept in range(len(x) + 1)}),
        ),
        "P56": Given("Laplace(mean, 1/n)", lambda x: LaplaceLaw(Fraction(sum(x)) / max(1, len(x)), Fraction(1, max(1, len(x))))),
        "P58": Given("Laplace(sum, range) or a point", lambda x: laplace_or_point(Fraction(sum(x)), Fraction(max(x) - min(x)))),
        "P60": Given("the keys alone: a point", lambda x: FiniteLaw.point(frozenset(x))),
        "P61": Given("the keys alone: a point", lambda x: FiniteLaw.point(frozenset(key for key in x if x.count(key) >= 3)), 60),
        "P62": Given(
            "Laplace(median, local sensitivity) or a point",
            lambda x: laplace_or_point(sorted(x)[1], max(max(x) - sorted(x)[1], sorted(x)[1] - min(x))),
        ),
        "P63": Given(
            "Laplace(median, 2 S), S as its double", lambda x: LaplaceLaw(sorted(x)[1], 2 * Fraction(zoo._smooth_med(x, beta)))
        ),
        "P64": Given("a point", lambda x: FiniteLaw.point(x[0] if len(set(x)) == 1 else "no")),
        "P67": Given(
            "the noisy counts, before post-processing", lambda x: product([TwoSidedGeometricLaw(c, "1/2") for c in counts(x, 3)])
        ),
        "P69": Given("the nearer of two, in closed form", lambda x: Shifted(len(x), nearer_of_two), 6),
        "P70": Given(
            "n exact, two-sided geometric", lambda x: product([FiniteLaw.point(len(x)), TwoSidedGeometricLaw(sum(x), 1)])
        ),
        "P71": Given(
            "n exact, two-sided geometric", lambda x: product([FiniteLaw.point(len(x)), TwoSidedGeometricLaw(sum(x), 1)])
        ),
        "P72": Given(
            "Laplace(clipped sum, 1), or NaN",
            lambda x: FiniteLaw.point("NaN") if any(v != v for v in x) else LaplaceLaw(clipped(x, 0, 1), 1),
        ),
        "P73": Given("Laplace(n, 1), or an exception", lambda x: LaplaceLaw(len(x), 1) if x else FiniteLaw.point("raises")),
        "P74": Given("Laplace(computed sum, 5)", half_precision),
        "P75": Given("keep e^(3/2)/(1+e^(3/2))", lambda x: kept(x, "3/2")),
        "P76": Given("keep e^(6/5)/(1+e^(6/5))", lambda x: kept(x, "6/5")),
        "P77": Given("keep e^(21/20)/(1+e^(21/20))", lambda x: kept(x, "21/20")),
    }
