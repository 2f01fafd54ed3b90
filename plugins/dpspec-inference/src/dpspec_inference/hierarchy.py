"""The two-level attacker: the noisy counts of a block, of the group around it, and of the other blocks (Kazan 2025).

X1 is the count of the block, `known` or `known` + 1, and X2 >= X1 that of the group; the other d blocks have X2 - X1 together.
Released are x1*, x2* and the sum y1* of the other blocks, with noise of scale 1/(2 rho1), 1/(2 rho2) and d/(2 rho1); the last one
is the sum of d draws, which is a discrete Gaussian to 1e-12 and better at the budgets in question (Kazan 2025). The posterior is

    P[X1 = k1 | D]  proportional to  P[X1 = k1] e^(-rho1 (x1* - k1)^2)
                                     sum over k2 of P[X2 = k2 | X1 = k1] e^(-rho2 (x2* - k2)^2 - (rho1/d) (y1* - (k2 - k1))^2),

summed here with a bound of what is left out. That is where the thesis's printed posteriors differ: they are those of a
chain that forgets k2 >= k1 when it draws X1; see `dpspec_inference.hierarchy`.

**Markov chains** for this posterior: Gibbs sampling, and the chain that reproduces what the thesis printed (Kazan 2025).

Both draw X1 given X2 and X2 given X1 in turn, from their full conditionals. The Gibbs sampler gives X1 = k1 no weight where k1 >
k2; its law is the posterior that `TwoLevels.posterior` sums. The printed tables follow from the chain without that
indicator, whose two conditionals belong to no joint law; its stationary law is P1 = T01/(T01 + T10). Everything here is in
floats.

**Success**: how often this attacker bets on the true count, over all releases (Kazan 2025).

The success is a sum over the lattice of releases (x1*, x2*, y1*), of the probability of each given the true counts, where the
posterior of the truth exceeds 1/2; no simulation. Everything here is in floats: these are illustrations, whose errors are those
of rounding.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from enum import Enum
from fractions import Fraction
from itertools import accumulate

import attrs
import numpy as np
from dpspec_attackers.counts import as_probability, read_prior
from flint import arb, ctx

from dpspec.plugin import Bracket, Floats, ParameterError, exact
from dpspec_inference.block import read_rho

_MOST_TERMS = 1 << 16


def lattice_sum(rate: Fraction, centre: Fraction, low: int | None, high: int | None) -> arb:
    """The sum over low <= k <= high of exp(-rate (k - centre)^2), at the precision in force; None for an end at infinity.

    What is left out beyond a term t of a falling sequence is at most t / (1 - the next ratio).

    >>> lattice_sum(Fraction(1, 2), Fraction(0), None, None).overlaps(1 + 2 * sum((arb(-k * k) / 2).exp() for k in range(1, 30)))
    True
    """
    if low is not None and high is not None and low > high:
        return arb(0)
    middle = round(centre)
    start = middle if low is None else max(low, middle)
    start = start if high is None else min(start, high)
    above = _falling(rate, start - centre, None if high is None else high - start)
    below = _falling(rate, centre - start + 1, None if low is None else start - 1 - low)
    return above + below


def _falling(rate: Fraction, offset: Fraction, last: int | None) -> arb:
    """The sum over 0 <= i <= last of exp(-rate (offset + i)^2), for an infinite number of terms unless `last` is given.

    Terms are products: their ratios fall by the factor exp(-2 rate) each time.
    """
    if last is not None and last < 0:
        return arb(0)
    total, negligible = arb(0), arb(2) ** (-ctx.prec)
    with ctx.workprec(ctx.prec + 32):
        power, point = -exact.ball(rate), exact.ball(offset)
        term, ratio, fall = (power * point * point).exp(), (power * (2 * point + 1)).exp(), (2 * power).exp()
        for i in range(_MOST_TERMS):
            total += term
            if i == last:
                return total
            if term < negligible * total and ratio < 1:
                rest = term * ratio / (1 - ratio)
                return total + arb(0).union(rest)
            term *= ratio
            ratio *= fall
    raise ParameterError("rho", f"is so small that more than {_MOST_TERMS} counts matter", "take a larger one", value=str(rate))


# --- the two-level attacker -----------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class LargerCount:
    """The prior of the group's count X2, given X1 = k1 (Kazan 2025, Sections 2.8 and 2.9).

    Uniform on the integers from `least` to `most`; from k1 on, where it is nested. Without an upper end it is improper, and may
    be used because the posterior is proper. Where k1 cuts it, its normaliser depends on k1, and so belongs to the belief about
    X1.


    Args:
        least: the lower end; None for no other than k1, or than minus infinity.
        most: the upper end; None for infinity.
        nested: whether X2 >= X1 is respected.
    """

    least: int | None = None
    most: int | None = None
    nested: bool = True

    def support(self, k1: int) -> tuple[int | None, int | None]:
        """The ends of the possible values, given k1."""
        if not self.nested:
            return self.least, self.most
        return (k1 if self.least is None else max(self.least, k1)), self.most

    def weight(self, k1: int) -> Fraction:
        """The probability of each value given k1; 1 where the prior is improper, 0 where no value is possible."""
        low, high = self.support(k1)
        if low is None or high is None:
            return Fraction(1)
        return Fraction(1, high - low + 1) if high >= low else Fraction(0)


UNIFORM = LargerCount()
"""Uniform on k1, k1 + 1, ... (2.30): given X1, nothing is known of the other blocks."""
ANY_INTEGER = LargerCount(nested=False)
"""Uniform on all integers: the posterior has a closed form."""


def up_to(most: int) -> LargerCount:
    """Uniform on k1, ..., most (2.31)."""
    return LargerCount(most=most)


def known_to_be(value: int) -> LargerCount:
    """The group's count is known."""
    return LargerCount(least=value, most=value)


@attrs.frozen(kw_only=True)
class Released:
    """D = (x1*, x2*, y1*): the noisy counts of the block, of the group, and of the other blocks together."""

    block: int
    group: int
    others: int


@attrs.frozen(kw_only=True)
class TwoLevels:
    """The knowledge of the attacker, and the budgets of the counts.

    Args:
        rho_block: rho1, of every block.
        rho_group: rho2, of the group.
        others: d, the number of *other* blocks.
        prior: p, the probability of X1 = known + 1.
        known: the count without the target.
        larger: the prior of X2 given X1.

    >>> attack = TwoLevels(rho_block="0.09922635", rho_group="0.2464845", others=27, prior="1/2")
    >>> attack.posterior(Released(block=2, group=1, others=-1)).lower.decimal(5)
    '0.50329'
    """

    rho_block: Fraction = attrs.field(converter=read_rho)
    rho_group: Fraction = attrs.field(converter=read_rho)
    others: int = attrs.field(validator=attrs.validators.ge(1))
    prior: Fraction = attrs.field(converter=read_prior)
    known: int = 0
    larger: LargerCount = UNIFORM

    @property
    def choices(self) -> tuple[tuple[int, Fraction], ...]:
        """The two values of X1 with their prior probabilities."""
        return (self.known, 1 - self.prior), (self.known + 1, self.prior)

    def posterior(self, released: Released, *, precision: int = 64) -> Bracket:
        """P[X1 = known + 1 | D], rigorously (Kazan 2025, equations 2.16 to 2.19).

        Raises:
            ParameterError: when the prior of X2 rules out both values of X1.
        """
        with ctx.workprec(precision + 64):
            left, right = (self._joint(k1, p, released) for k1, p in self.choices)
            return as_probability(_share(right, left + right))

    def larger_posterior(self, value: int, released: Released, *, precision: int = 64) -> Bracket:
        """P[X2 = value | D] (Kazan 2025, Table 2.8)."""
        with ctx.workprec(precision + 64):
            whole = sum((self._joint(k1, p, released) for k1, p in self.choices), arb(0))
            part = sum((self._joint(k1, p, released, only=value) for k1, p in self.choices), arb(0))
            return as_probability(_share(part, whole))

    def bell(self, k1: int, released: Released) -> tuple[Fraction, Fraction]:
        """The rate and the centre of X2 given X1 and D, which is proportional to exp(-rate (k2 - centre)^2) (Kazan 2025)."""
        of_others = self.rho_block / self.others
        rate = self.rho_group + of_others
        return rate, (self.rho_group * released.group + of_others * (released.others + k1)) / rate

    def height(self, k1: int, released: Released) -> Fraction:
        """What of the exponent does not depend on k2: -rho1 (x1* - k1)^2 - rho_e (x2* - y1* - k1)^2 (worked out here)."""
        together = self.rho_block * self.rho_group / (self.others * self.rho_group + self.rho_block)
        apart = released.group - released.others - k1
        return -self.rho_block * (released.block - k1) ** 2 - together * apart**2

    def _joint(self, k1: int, prior: Fraction, released: Released, only: int | None = None) -> arb:
        low, high = self.larger.support(k1)
        if only is not None:
            possible = (low is None or low <= only) and (high is None or only <= high)
            low, high = (only, only) if possible else (1, 0)
        rate, centre = self.bell(k1, released)
        factor = exact.ball(prior * self.larger.weight(k1)) * exact.ball(self.height(k1, released)).exp()
        return factor * lattice_sum(rate, centre, low, high)


def unbounded_log_odds(attack: TwoLevels, released: Released) -> float:
    """logit p + rho1 (2 x - 1) + rho_e (2 (x2* - y1* - known) - 1), the log odds under `ANY_INTEGER` (worked out here);
    a float."""
    x, apart = released.block - attack.known, released.group - released.others - attack.known
    together = attack.rho_block * attack.rho_group / (attack.others * attack.rho_group + attack.rho_block)
    return math.log(attack.prior / (1 - attack.prior)) + float(attack.rho_block * (2 * x - 1) + together * (2 * apart - 1))


def _share(part: arb, whole: arb) -> arb:
    if not whole > 0:
        raise ParameterError("larger", "rules out both values of the block's count", "widen the prior of the group's count")
    return part / whole


# --- Markov chains --------------------------------------------------------------------------------


_REACH = 10.0


@attrs.frozen(kw_only=True)
class ChainDraws:
    """The draws of a chain.

    Args:
        ones: how often X1 was known + 1.
        larger: how often X2 had each value.
        sweeps: how often both were drawn.
    """

    ones: int
    larger: tuple[tuple[int, int], ...]
    sweeps: int

    @property
    def posterior(self) -> float:
        """The estimate of P[X1 = known + 1 | D]."""
        return self.ones / self.sweeps


def values(attack: TwoLevels, released: Released) -> range:
    """The counts of the group that matter, to 10 scale lengths around the centres."""
    centres = [attack.bell(k1, released) for k1, _ in attack.choices]
    reach = _REACH / math.sqrt(2 * float(centres[0][0])) + 1
    lows = [math.floor(float(centre) - reach) for _, centre in centres]
    highs = [math.ceil(float(centre) + reach) for _, centre in centres]
    ends = [attack.larger.support(k1) for k1, _ in attack.choices]
    floor = min((low for low, _ in ends if low is not None), default=None)
    top = max((high for _, high in ends if high is not None), default=None)
    low, high, wide = min(lows), max(highs), math.ceil(reach)
    if floor is not None:
        low, high = max(low, floor), max(high, floor + wide)
    if top is not None:
        low, high = min(low, top - wide), min(high, top)
        low = low if floor is None else max(low, floor)
    return range(low, high + 1)


def larger_given(attack: TwoLevels, released: Released, k1: int, counts: Floats) -> Floats:
    """P[X2 = k2 | X1 = k1, D] for the given counts (Kazan 2025, equations 2.25 to 2.29)."""
    rate, centre = attack.bell(k1, released)
    low, high = attack.larger.support(k1)
    possible = (counts >= (-math.inf if low is None else low)) & (counts <= (math.inf if high is None else high))
    if not possible.any():
        raise ParameterError("larger", "leaves no count of the group for a value of the block's", "widen the prior", value=k1)
    exponent = np.where(possible, -float(rate) * (counts - float(centre)) ** 2, -math.inf)
    weights = np.exp(exponent - exponent.max())
    return np.asarray(weights / weights.sum())


def one_given(attack: TwoLevels, released: Released, counts: Floats, *, nested: bool = True) -> Floats:
    """P[X1 = known + 1 | X2 = k2, D] for the given counts (Kazan 2025); without the indicator k1 <= k2 when not `nested`."""
    from scipy.special import expit

    d, rho = attack.others, float(attack.rho_block)
    centre = (d * released.block + (counts - released.others)) / (d + 1)
    one, other = attack.known + 1, attack.known
    gain = (d + 1) / d * rho * ((other - centre) ** 2 - (one - centre) ** 2)
    weights = [float(attack.larger.weight(k1)) for k1, _ in attack.choices]
    if nested and not all(weights):
        return np.full(len(counts), float(weights[1] > 0))
    ratio = math.log(attack.prior / (1 - attack.prior)) + (math.log(weights[1] / weights[0]) if nested else 0.0)
    found = np.asarray(expit(gain + ratio))
    if nested and attack.larger.nested:
        found[counts < one] = 0.0
    return found


def gibbs(attack: TwoLevels, released: Released, *, sweeps: int = 10_000, seed: int = 0) -> ChainDraws:
    """Gibbs sampling, started at X1 = known and a drawn X2 (Kazan 2025, Section 2.3.2).

    >>> attack = TwoLevels(rho_block="0.09922635", rho_group="0.2464845", others=27, prior="1/2")
    >>> abs(gibbs(attack, Released(block=2, group=1, others=-1), sweeps=2000, seed=1).posterior - 0.5033) < 0.06
    True
    """
    counts = values(attack, released)
    grid = np.array(counts, dtype=float)
    tables = [list(accumulate(larger_given(attack, released, k1, grid).tolist())) for k1, _ in attack.choices]
    probabilities = one_given(attack, released, grid).tolist()
    last = len(counts) - 1
    uniforms = np.random.default_rng(seed).random((sweeps, 2)).tolist()
    one, ones, visited = 0, 0, Counter[int]()
    for for_larger, for_one in uniforms:
        place = min(bisect_right(tables[one], for_larger), last)
        one = int(for_one < probabilities[place])
        ones += one
        visited[place] += 1
    seen = tuple((counts[place], times) for place, times in sorted(visited.items()))
    return ChainDraws(ones=ones, larger=seen, sweeps=sweeps)


@attrs.frozen(kw_only=True)
class Stationary:
    """The law in which a chain stays: P[X1 = known + 1], and the law of X2."""

    posterior: float
    larger: tuple[tuple[int, float], ...]


def stationary(attack: TwoLevels, released: Released, *, nested: bool = False) -> Stationary:
    """The stationary law of the chain, P1 = T01/(T01 + T10); by default of the one without the indicator (Kazan 2025).

    With it, the law is the posterior: that is what the chain was meant to sample.

    >>> attack = TwoLevels(rho_block="0.09922635", rho_group="0.2464845", others=27, prior="1/2")
    >>> released = Released(block=2, group=1, others=-1)
    >>> round(stationary(attack, released).posterior, 4), round(stationary(attack, released, nested=True).posterior, 4)
    (0.5777, 0.5033)
    """
    counts = values(attack, released)
    grid = np.array(counts, dtype=float)
    laws = [larger_given(attack, released, k1, grid) for k1, _ in attack.choices]
    probabilities = one_given(attack, released, grid, nested=nested)
    up, down = float(laws[0] @ probabilities), float(laws[1] @ (1 - probabilities))
    share = up / (up + down)
    mixed = (1 - share) * laws[0] + share * laws[1]
    return Stationary(posterior=share, larger=tuple(zip(counts, mixed.tolist(), strict=True)))


# --- success --------------------------------------------------------------------------------------


_SUCCESS_REACH = 9.0
_TIE = 1e-9


class BetMethod(Enum):
    """Whose posterior is meant: the true one, or that of the chain that forgets X1 <= X2."""

    EXACT = "exact"
    NO_NESTING = "no-nesting"


@attrs.frozen(kw_only=True)
class BetRegion:
    """The releases that are counted: ranges of x2* and y1*, ends included; None for all (the thesis: (-3, 5) and (-30, 30))."""

    group: tuple[int, int] | None = None
    others: tuple[int, int] | None = None


@attrs.frozen(kw_only=True)
class Success:
    """Probabilities over the releases, given the true counts.

    Args:
        right: of a bet on the true count of the block.
        ties: of a posterior of exactly 1/2 (no bet).
        corrected: right, where the block's count alone says otherwise.
        spoiled: wrong, where the block's count alone says what is right.
        mass: of the releases that were counted.
    """

    right: float
    ties: float
    corrected: float
    spoiled: float
    mass: float


def success(
    attack: TwoLevels, truth: tuple[int, int], *, method: BetMethod = BetMethod.EXACT, region: BetRegion | None = None
) -> Success:
    """The success of the attacker when the counts of the block and of the group are `truth`.

    Args:
        attack: what the attacker knows, and the budgets.
        truth: (x1, x2), x1 one of the two values that the attacker takes for possible.
        method: whose posterior is used.
        region: which releases are counted; all by default.

    >>> attack = TwoLevels(rho_block="0.09922635", rho_group="0.2464845", others=27, prior="1/2")
    >>> round(success(attack, (1, 10)).right, 4), round(success(attack, (1, 1)).right, 4)
    (0.5897, 0.3182)
    """
    x1, x2 = truth
    block, mass_block = _noise(x1, attack.rho_block, None)
    region = region or BetRegion()
    group, mass_group = _noise(x2, attack.rho_group, region.group)
    others, mass_others = _noise(x2 - x1, attack.rho_block / attack.others, region.others)
    odds = log_odds(attack, block, group, others, method)
    weights = mass_block[:, None, None] * mass_group[None, :, None] * mass_others[None, None, :]
    sign = 1 if x1 == attack.known + 1 else -1
    alone = math.log(attack.prior / (1 - attack.prior)) + float(attack.rho_block) * (2 * (block - attack.known) - 1)
    right, right_alone = sign * odds > _TIE, (sign * alone > _TIE)[:, None, None]
    return Success(
        right=float(weights[right].sum()),
        ties=float(weights[np.abs(odds) <= _TIE].sum()),
        corrected=float((weights * (right & ~right_alone)).sum()),
        spoiled=float((weights * (~right & right_alone)).sum()),
        mass=float(weights.sum()),
    )


def log_odds(attack: TwoLevels, block: Floats, group: Floats, others: Floats, method: BetMethod = BetMethod.EXACT) -> Floats:
    """The log odds of X1 = known + 1 for every release of a grid: an array over x1*, x2* and y1* (Kazan 2025)."""
    from scipy.special import logsumexp

    alone = math.log(attack.prior / (1 - attack.prior)) + float(attack.rho_block) * (2 * (block - attack.known) - 1)
    if method is BetMethod.NO_NESTING:
        return _no_nesting(attack, alone, group, others)
    evidence = [logsumexp(_exponents(attack, k1, group, others), axis=-1) for k1, _ in attack.choices]
    weights = [float(attack.larger.weight(k1)) for k1, _ in attack.choices]
    between = evidence[1] - evidence[0] + math.log(weights[1] / weights[0])
    return np.asarray(alone[:, None, None] + between[None, :, :])


def _no_nesting(attack: TwoLevels, alone: Floats, group: Floats, others: Floats) -> Floats:
    """ln(T01 / T10) of the chain without the indicator, from both full conditionals."""
    from scipy.special import logsumexp

    counts = _counts(attack, group, others)
    laws = []
    for k1, _ in attack.choices:
        exponents = _exponents(attack, k1, group, others)
        laws.append(np.exp(exponents - logsumexp(exponents, axis=-1, keepdims=True)))
    gap = others[:, None] - (counts[None, :] - attack.known)
    gain = float(attack.rho_block / attack.others) * (gap**2 - (gap + 1) ** 2)
    found = np.empty((len(alone), len(group), len(others)))
    for place, base in enumerate(alone):
        one = 1 / (1 + np.exp(-(base + gain)))
        up, down = (laws[0] * one).sum(axis=-1), (laws[1] * (1 - one)).sum(axis=-1)
        found[place] = np.log(up) - np.log(down)
    return found


def _exponents(attack: TwoLevels, k1: int, group: Floats, others: Floats) -> Floats:
    """-rho2 (x2* - k2)^2 - (rho1/d) (y1* - (k2 - k1))^2 over x2*, y1* and k2, minus infinity outside the support of k2."""
    counts = _counts(attack, group, others)
    low, high = attack.larger.support(k1)
    possible = (counts >= (-math.inf if low is None else low)) & (counts <= (math.inf if high is None else high))
    of_group = -float(attack.rho_group) * (group[:, None, None] - counts) ** 2
    of_others = -float(attack.rho_block / attack.others) * (others[None, :, None] - (counts - k1)) ** 2
    return np.where(possible, of_group + of_others, -math.inf)


def _counts(attack: TwoLevels, group: Floats, others: Floats) -> Floats:
    """All counts of the group that can matter for some release of the grid."""
    rate = float(attack.rho_group + attack.rho_block / attack.others)
    share = float(attack.rho_group) / rate
    reach = math.ceil(_SUCCESS_REACH / math.sqrt(2 * rate)) + 2
    low = math.floor(share * group.min() + (1 - share) * (others.min() + attack.known)) - reach
    high = math.ceil(share * group.max() + (1 - share) * (others.max() + attack.known + 1)) + reach
    ends = [attack.larger.support(k1) for k1, _ in attack.choices]
    floors = [end for end, _ in ends if end is not None]
    tops = [end for _, end in ends if end is not None]
    if floors:
        low, high = max(low, min(floors)), max(high, min(floors) + reach)
    if tops:
        low, high = min(low, max(tops)), min(high, max(tops))
    return np.arange(low, high + 1, dtype=float)


def _noise(centre: int, rho: Fraction, limits: tuple[int, int] | None) -> tuple[Floats, Floats]:
    """The released values that matter, and their probabilities: exp(-rho (x - centre)^2), normalised over all integers."""
    reach = math.ceil(_SUCCESS_REACH / math.sqrt(2 * float(rho))) + 2
    points = np.arange(centre - reach, centre + reach + 1, dtype=float)
    masses = np.exp(-float(rho) * (points - centre) ** 2)
    masses /= masses.sum()
    if limits is None:
        return points, masses
    inside = (points >= limits[0]) & (points <= limits[1])
    return points[inside], masses[inside]
