"""Risk profiles: the relative disclosure risk that is tolerated, as a function r*(p, q) of the attacker's priors (Kazan 2025).

A profile requires r(p, q, t) <= r*(p, q) for every outcome t and all priors that it covers. The budget that follows is the
least epsilon(p, q) of `epsilon_at` over them (Kazan 2025).

What a pure budget says about an attacker with independent records (Kazan 2025):

The target is in the data with prior p; if so, its value lies in a set S with prior q. Between the prior and the posterior of
both together, P(value in S and included), is the relative disclosure risk

    r <= 1 / (p q + p (1 - q) e^(-2 epsilon) + (1 - p) e^(-epsilon)),

for epsilon-DP with records added or removed, when the belief about the other records depends neither on the target's inclusion
nor on its value (Kazan 2025, Assumption 2).

The release that such a budget describes is a count with geometric noise (Kazan 2025); no data are needed for it.

With r = e^-epsilon the noise K has P(K = k) = (1 - r)/(1 + r) r^|k|.

Where no closed form is known, the least epsilon of a profile is found by branch and bound over the priors, certified.

r <= r* says 1/r*(p, q) <= G(p, q, y) with y = e^-epsilon and G = p q + p (1 - q) y^2 + (1 - p) y, which never falls in q nor in y
and is linear in p. So for a profile that never grows with p or q, in a box [p0, p1] x [q0, q1],

    epsilon(p, q) >= min over p' in {p0, p1} of the epsilon at (p', q0) for the ratio r*(p1, q1):

one evaluation of the closed form (Kazan 2025, Theorem 5) at two points, in ball arithmetic. No box is dropped but by this bound.
"""

from __future__ import annotations

import heapq
import math
from abc import abstractmethod
from fractions import Fraction
from itertools import count
from typing import Any

import attrs
from flint import arb, ctx

from dpspec.plugin import (
    Bracket,
    Number,
    ParameterError,
    Rational,
    RiskStatement,
    Sense,
    Tolerance,
    errors,
    exact,
    grammar,
    ln,
    number,
)
from dpspec_attackers.numeric import WORKING, fmpq_of, in_decay


@attrs.frozen
class Multiple(Rational):
    """A rational number above 1; one below 1 has an error of its own, since no release keeps it."""

    def read(self, value: Any, subject: str) -> Fraction:
        if exact.rational(value, subject) < 1:
            rule = "is below 1: some outcome always raises the belief, so that no budget keeps it"
            raise errors.ProfileBelowOneError(subject, rule, "tolerate more than the prior itself", value=str(value))
        return super().read(value, subject)


MULTIPLE = Multiple(1, open_low=True)


# --- what a pure budget says ----------------------------------------------------------------------


CellPoint = tuple[Fraction, Fraction]
"""Priors (p, q)."""

INDEPENDENCE = (
    "the attacker's belief about the other records depends neither on whether the target is included nor on its value (Kazan "
    "2025, Assumption 2); "
    "without it the risk is unbounded"
)


def prior(value: exact.NumberLike, subject: str) -> Fraction:
    """A prior in (0, 1].

    Raises:
        CertainTargetError: for 0, which no release can change.
        ParameterError: outside [0, 1].
    """
    read = value.as_fraction() if isinstance(value, Number) else exact.rational(value, subject)
    if read == 0:
        raise errors.CertainTargetError(
            subject, "must be above 0: what has no probability before has none after any release", value="0"
        )
    if not 0 < read <= 1:
        raise ParameterError(subject, "must lie in (0, 1]", "write a probability such as 1/20", value=str(value))
    return read


def risk_bound(p: exact.NumberLike, q: exact.NumberLike, epsilon: exact.NumberLike | Bracket) -> Bracket:
    """The largest relative disclosure risk r (Kazan 2025, Theorem 4).

    Args:
        p: prior that the target is included.
        q: prior that its value lies in S, if it is.
        epsilon: the pure budget for one record added or removed.

    >>> str(risk_bound(1, "3/10", "ln(2)")), risk_bound("1/2", 1, 1).upper.decimal(8)
    ('40/19', '1.4621172')
    """
    included, inside = prior(p, "p"), prior(q, "q")
    both, other, out = (fmpq_of(w) for w in (included * inside, included * (1 - inside), 1 - included))
    return in_decay(epsilon, lambda y: 1 / (both + other * y * y + out * y))


def absolute_bound(p: exact.NumberLike, q: exact.NumberLike, epsilon: exact.NumberLike | Bracket) -> Bracket:
    """The largest posterior that the target is included with a value in S: p q r (Kazan 2025, Definition 6).

    >>> str(absolute_bound("1/2", 1, "ln(3)"))
    '3/4'
    """
    return risk_bound(p, q, epsilon).scaled(prior(p, "p") * prior(q, "q"))


def epsilon_at(p: exact.NumberLike, q: exact.NumberLike, ratio: exact.NumberLike) -> Bracket:
    """The epsilon up to which r stays at most `ratio`, at one pair of priors (Kazan 2025): the inverse of `risk_bound`.

    epsilon = -ln( 2c / (b + sqrt(b^2 + 4 a c)) ), a = p (1 - q), b = 1 - p, c = 1/ratio - p q: the rationalised root, in which
    nothing cancels. Infinite when the ratio is at least 1/(p q), which no posterior can exceed.

    >>> str(epsilon_at(1, "1/12", 3)), str(epsilon_at("1/2", 1, "3/2"))
    ('1/2*ln(11/3)', 'ln(3)')
    """
    least = exact.rational(ratio, "ratio")
    if least < 1:
        raise ParameterError("ratio", "must be at least 1: some outcome always raises the belief", value=str(ratio))
    return root(prior(p, "p"), prior(q, "q"), least)


def root(p: Fraction, q: Fraction, ratio: Fraction) -> Bracket:
    """`epsilon_at` for p and q in [0, 1], 0 included, where it is the limit."""
    a, b, c = p * (1 - q), 1 - p, 1 / ratio - p * q
    if c <= 0:
        return Bracket.exactly(exact.INFINITY)
    square = b * b + 4 * a * c
    if b == 0:
        return Bracket.exactly(ln(a / c) * Fraction(1, 2))
    whole = _root(square)
    if whole is not None:
        return Bracket.exactly(ln((b + whole) / (2 * c)))
    with ctx.workprec(WORKING):
        return Bracket.around(((exact.ball(b) + exact.ball(square).sqrt()) / exact.ball(2 * c)).log(), least=0)


def decay_root(p: Fraction, q: Fraction, inverse_ratio: Fraction, precision: int) -> arb:
    """e^(-epsilon) of `root` as a ball, 0 where epsilon is infinite; at the working precision."""
    c = inverse_ratio - p * q
    if c <= 0:
        return arb(0)
    with ctx.workprec(precision):
        rest = exact.ball(1 - p)
        return exact.ball(2 * c) / (rest + (rest * rest + exact.ball(4 * p * (1 - q) * c)).sqrt())


def _root(value: Fraction) -> Fraction | None:
    top, bottom = math.isqrt(value.numerator), math.isqrt(value.denominator)
    return Fraction(top, bottom) if top * top == value.numerator and bottom * bottom == value.denominator else None


def naive_epsilon(ratio: exact.NumberLike) -> Bracket:
    """ln(ratio)/2, which keeps a relative risk for all priors at once: r <= e^(2 epsilon) (Kazan 2025, Corollary 6).

    >>> str(naive_epsilon(9))
    'ln(3)'
    """
    value = number(ratio)
    return Bracket.exactly(ln(value.as_fraction()) * Fraction(1, 2))


# --- noisy counts ---------------------------------------------------------------------------------


_BY_NOISE = "Kazan 2025, Definition 4 and Section 3.5"
NOISE = "two-sided geometric noise of this epsilon on a count that one record changes by 1"
DISTANCES = (1, 2, 4, 8)
"""Differences of counts from a threshold, for which the probability of crossing it is reported."""


def variance(epsilon: exact.NumberLike | Bracket) -> Bracket:
    """2 r / (1 - r)^2.

    >>> str(variance("ln(3)"))
    '3/2'
    """
    return in_decay(epsilon, lambda r: 2 * r / ((1 - r) * (1 - r)))


def standard_deviation(epsilon: exact.NumberLike | Bracket) -> Bracket:
    """sqrt(2 r) / (1 - r), the root mean squared error too.

    >>> str(standard_deviation("ln(3)"))
    'sqrt(3/2)'
    """
    return variance(epsilon).sqrt()


def exact_probability(epsilon: exact.NumberLike | Bracket) -> Bracket:
    """P(K = 0) = (1 - r) / (1 + r): the released count is the true one.

    >>> str(exact_probability("ln(3)"))
    '1/2'
    """
    return in_decay(epsilon, lambda r: (1 - r) / (1 + r))


def flip_probability(epsilon: exact.NumberLike | Bracket, distance: int) -> Bracket:
    """P(K <= -k) = r^k / (1 + r) for k >= 1: the release falls on the other side of a threshold k counts away.

    >>> str(flip_probability("ln(9)", 1))
    '1/10'
    """
    if distance < 1:
        raise ParameterError("distance", "must be a whole number of at least 1 count", value=distance)
    # r^k / (1 + r) rises in r for k >= 1
    return in_decay(epsilon, lambda r: r**distance / (1 + r))


def rounded_distance(rate: exact.NumberLike, size: int, per: int = 1000) -> int:
    """The distance in counts of a rate from its threshold: round(rate size / per).

    >>> [rounded_distance(rate, 4012) for rate in ("1/4", "1/2", 1, 2)]
    [1, 2, 4, 8]
    """
    return round(Fraction(str(rate)) * size / per)


def consequences(epsilon: exact.NumberLike | Bracket) -> tuple[RiskStatement, ...]:
    """The row of a utility table as statements."""

    def said(quantity: str, at: tuple[tuple[str, str], ...], value: Bracket) -> RiskStatement:
        return RiskStatement(quantity=quantity, at=at, relation=Sense.EQUALS, value=value, theorem=_BY_NOISE, assumption=NOISE)

    return (
        said("standard deviation of the noise", (), standard_deviation(epsilon)),
        said("probability that the count is exact", (), exact_probability(epsilon)),
        *(
            said("probability of crossing a threshold", (("counts away", str(k)),), flip_probability(epsilon, k))
            for k in DISTANCES
        ),
    )


# --- branch and bound -----------------------------------------------------------------------------


PRECISION = 96
CLOSE = 1e-9
"""The width in epsilon at which the search ends."""
MOST_BOXES = 6_000
"""Where it ends before, with a wider bracket that is as certain."""
NOTHING_ASKED = 2.0**-64
"""Where y is certainly below it, no attacker imposes a constraint."""


@attrs.frozen
class _Box:
    p_low: Fraction
    p_high: Fraction
    q_low: Fraction
    q_high: Fraction

    def halves(self) -> tuple[_Box, _Box]:
        """Cut across the longer side, at a point whose denominator stays small."""
        if self.p_high - self.p_low >= self.q_high - self.q_low:
            p = (self.p_low + self.p_high) / 2
            return attrs.evolve(self, p_high=p), attrs.evolve(self, p_low=p)
        q = (self.q_low + self.q_high) / 2
        return attrs.evolve(self, q_high=q), attrs.evolve(self, q_low=q)

    @property
    def is_point(self) -> bool:
        return self.p_low == self.p_high and self.q_low == self.q_high


class _ProfileSearch:
    """The state: boxes by their largest possible y, and the largest y that some attacker certainly requires."""

    def __init__(self, profile: RiskProfile) -> None:
        self.profile = profile
        self.asked: dict[CellPoint, Fraction | None] = {}
        self.best, self.place = arb(0), (profile.where().p_high, profile.where().q_high)

    def ratio(self, p: Fraction, q: Fraction) -> Fraction | None:
        """r*(p, q), evaluated once for each argument and checked there."""
        if (p, q) not in self.asked:
            found = self.profile.tolerated(p, q)
            if found is not None and found < 1:
                raise errors.ProfileBelowOneError(
                    self.profile.name, "must be at least 1: some outcome always raises the belief",
                    "tolerate at least the prior itself", value=f"{found} at p = {p}, q = {q}",
                )  # fmt: skip
            self.asked[p, q] = found
        return self.asked[p, q]

    def attain(self, p: Fraction, q: Fraction) -> None:
        """Take note of what one attacker asks for."""
        ratio = self.ratio(p, q)
        if ratio is not None:
            found = decay_root(p, q, 1 / ratio, PRECISION)
            if found.lower() > self.best.lower():
                self.best, self.place = found, (p, q)

    def bound(self, box: _Box) -> arb | None:
        """No attacker of the box asks for a larger y; None where the box asks for nothing."""
        corner = self.ratio(box.p_high, box.q_high)
        for p, q in ((box.p_low, box.q_high), (box.p_high, box.q_low)):
            if p and q:
                self._check(self.ratio(p, q), corner, (p, q), (box.p_high, box.q_high))
        if corner is None:
            return None
        return decay_root(box.p_low, box.q_low, 1 / corner, PRECISION).max(
            decay_root(box.p_high, box.q_low, 1 / corner, PRECISION)
        )

    def _check(self, small: Fraction | None, large: Fraction | None, at: CellPoint, beyond: CellPoint) -> None:
        if small is not None and (large is None or large > small):
            shown = "nothing" if large is None else f"{float(large):.6g}"
            raise errors.ProfileNotMonotoneError(
                self.profile.name, "must not tolerate more for a larger prior",
                "make it fall with p and q, or ask for one region after the other and take the least epsilon",
                value=f"{float(small):.6g} at ({at[0]}, {at[1]}), {shown} at ({beyond[0]}, {beyond[1]})",
            )  # fmt: skip


def least_epsilon(profile: RiskProfile) -> tuple[Bracket, CellPoint, str]:
    """The infimum of epsilon over the region of a profile in a bracket, the priors that bind, and what it rests on.

    Raises:
        ProfileBelowOneError: when r* < 1 somewhere it was evaluated.
        ProfileNotMonotoneError: when r* was seen to grow with p or q.
    """
    where = profile.where()
    search, order = _ProfileSearch(profile), count()
    root = _Box(where.p_low, where.p_high, where.q_low, where.q_high)
    with ctx.workprec(PRECISION):
        waiting: list[tuple[float, int, arb, _Box]] = []

        def enter(box: _Box) -> None:
            for p in {box.p_low, box.p_high}:
                for q in {box.q_low, box.q_high}:
                    if p and q:
                        search.attain(p, q)
            most = search.bound(box)
            if most is not None and most.upper() > search.best.lower():
                heapq.heappush(waiting, (-float(most.upper()), next(order), most.upper(), box))

        enter(root)
        most = search.best.upper()
        while waiting:
            _, _, most, box = heapq.heappop(waiting)
            if box.is_point or most <= search.best.lower() * (1 + CLOSE) or most < NOTHING_ASKED or next(order) > MOST_BOXES:
                break
            for half in box.halves():
                enter(half)
        else:
            most = search.best.upper()
        return _bracket(search.best, most.max(search.best.upper())), search.place, _RESTS_ON


_RESTS_ON = "Kazan 2025, Theorem 5 and equation 3.15; r* never grows with p or q (checked where it was evaluated)"


def _bracket(least: arb, most: arb) -> Bracket:
    """epsilon = -ln y for the y between two ends."""
    if most == 0:
        return Bracket.exactly(exact.INFINITY)
    lower = number(exact.dyadic((-most.log()).lower()))
    upper = exact.INFINITY if not least > 0 else number(exact.dyadic((-least.log()).upper()))
    return Bracket(lower=max(lower, number(0)), upper=max(upper, number(0)))


# --- profiles -------------------------------------------------------------------------------------


ADJACENCY = "pure epsilon-DP for one record added or removed (for records replaced, write the distance of two changes)"


@attrs.frozen(kw_only=True)
class Region:
    """The priors that a profile speaks about: p_low <= p <= p_high and q_low <= q <= q_high; 0 itself stands for the limit."""

    p_low: Fraction = Fraction(0)
    p_high: Fraction = Fraction(1)
    q_low: Fraction = Fraction(0)
    q_high: Fraction = Fraction(1)

    @property
    def is_everything(self) -> bool:
        return self == Region()

    def contains(self, p: Fraction, q: Fraction) -> bool:
        return self.p_low <= p <= self.p_high and self.q_low <= q <= self.q_high and p > 0 and q > 0

    def __str__(self) -> str:
        return f"{_range('p', self.p_low, self.p_high)} and {_range('q', self.q_low, self.q_high)}"


def _range(name: str, low: Fraction, high: Fraction) -> str:
    if low == high:
        return f"{name} = {low}"
    return f"{low} < {name} <= {high}" if low == 0 else f"{low} <= {name} <= {high}"


class RiskProfile(Tolerance):
    """A risk profile; a subclass says where it speaks and what it tolerates there.

    The tolerated ratio must never grow with p or with q: one that did could not be bounded between two priors.

    Args:
        ratio: the tolerated posterior by prior of "included, with a value in S", above 1.
        posterior: the tolerated posterior of it, whatever the ratio is then.
        difference: the tolerated posterior less prior.
        p: the attacker's prior that the target is in the data; the share of a sample, for instance.
        q: the attacker's prior that its value lies in S, if it is in the data; 1 when inclusion itself is the secret.
        p_low, p_high, q_low, q_high: the ranges of these priors; 0 stands for the limit.
        size: n, the number of individuals.
    """

    def where(self) -> Region:
        """The priors that it speaks about; all others are not covered."""
        return Region()

    @abstractmethod
    def tolerated(self, p: Fraction, q: Fraction) -> Fraction | None:
        """r*(p, q) in the region, p and q above 0; None where nothing is asked."""

    def closed_form(self) -> tuple[Bracket, CellPoint, str] | None:
        """The budget, the binding priors (0 for a limit) and the theorem; None to search for them."""
        return None

    def recommend(self) -> grammar.Recommendation:
        """The largest epsilon that keeps the profile: by its closed form, else by branch and bound (Kazan 2025).

        Raises:
            ProfileBelowOneError: where r* < 1.
            ProfileNotMonotoneError: where r* was seen to grow with p or q.
        """
        region = self.where()
        ratio_in_worst = self.tolerated(region.p_high, region.q_high)
        if ratio_in_worst is not None and ratio_in_worst < 1:
            raise errors.ProfileBelowOneError(
                self.name, "tolerates a posterior below the prior, which is so before anything is released",
                "raise the tolerated posterior above the prior, or leave such attackers out",
                value=f"{ratio_in_worst} at p = {region.p_high}, q = {region.q_high}",
            )  # fmt: skip
        closed = self.closed_form()
        value, place, theorem = closed if closed is not None else least_epsilon(self)
        return recommendation(self, value, place, theorem, "closed form" if closed is not None else "branch and bound")

    def epsilon_at(self, p: Fraction, q: Fraction) -> Bracket:
        """The epsilon that the profile asks for at one pair of priors; infinity where it asks for nothing."""
        ratio = self.tolerated(p, q) if self.where().contains(p, q) else None
        return Bracket.exactly(exact.INFINITY) if ratio is None else epsilon_at(p, q, ratio)


def recommendation(profile: RiskProfile, value: Bracket, place: CellPoint, theorem: str, method: str) -> grammar.Recommendation:
    """The result in words."""
    p, q = place
    region = profile.where()
    ratio = profile.tolerated(p, q) if p and q else None
    approached = [f"{name} to 0" for name, prior in (("p", p), ("q", q)) if not prior]
    where = ", ".join(f"{name} = {prior}" if prior else f"{name} -> 0" for name, prior in (("p", p), ("q", q)))
    shown = "the tolerated ratio" if ratio is None else f"posterior by prior at most {ratio}"
    if value.upper.is_infinite:
        binding = "nothing is required: no posterior can exceed what is tolerated"
    else:
        binding = f"{shown} for {where}" + (f", approached as {' and '.join(approached)}" if approached else "")
    left_out = () if region.is_everything else (f"attackers whose priors are not {region}",)
    return grammar.Recommendation(
        parameter="epsilon",
        value=value,
        at=(("p", str(p)), ("q", str(q))),
        attained=not approached,
        binding=binding,
        method=method,
        theorem=theorem,
        assumption=f"{INDEPENDENCE}; {ADJACENCY}",
        not_covered=left_out,
        consequences=_noise(value),
    )


def _noise(value: Bracket) -> tuple[RiskStatement, ...]:
    return () if value.upper.is_infinite or value.lower == 0 else consequences(value)
