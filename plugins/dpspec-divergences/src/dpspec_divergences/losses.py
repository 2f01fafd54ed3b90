"""Output divergences of the privacy loss L = ln(dP/dQ), outcome drawn from P: its tail, and the tail that post-processing keeps.

Of the two only the second, `pbdp`, is registered as a block: the raw tail grows under post-processing (Kifer et
al. 2022, Example 4.9), so that no specification should be written with it. It is here because the literature states guarantees
with it, and converts from them.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, ClassVar

from flint import arb, ctx

from dpspec.plugin import Bound, Bracket, Number, OutputDivergence, Rational, Text, define, errors, exact, is_a, laws, ln, number
from dpspec_divergences.output import MultDelta, Named, both_ways, by_hockey_stick, is_pure

GUARD = 32
"""Bits by which the working precision exceeds the requested one."""


@define
class Pbdp(Named):
    """Probabilistically bounded privacy: the least epsilon whose loss is exceeded with probability delta at most, however the
    output is processed (Kifer et al. 2022, Definitions 5.2 to 5.4).

    d(P, Q) = ln(delta / a), where a is the least level at which a test of P against Q has the power delta,
    a = T(P, Q)^-1(1 - delta); the larger of the two orders (Kifer et al. 2022, Section 5.2). It says: an event that has
    probability e^-epsilon delta at most under one law has probability delta at most under the other. The numbers for all delta
    together are the trade-off function; one alone is not convex (Kifer et al. 2022, Example 5.6): mixing two mechanisms may break
    it. No metric; its budget is epsilon.

    Args:
        delta: the probability, in (0, 1].

    >>> from dpspec.plugin import FiniteLaw
    >>> laws = FiniteLaw.bernoulli("3/4"), FiniteLaw.bernoulli("1/4")
    >>> [str(Pbdp(delta=delta).between(*laws)) for delta in ("1/10", "9/10")]
    ['ln(3)', 'ln(9/7)']
    """

    name: ClassVar[str] = "pbdp"
    is_symmetric: ClassVar[bool] = True

    delta: Annotated[Fraction, Rational(0, 1, open_low=True)]

    def evaluate(self, pair: laws.Dichotomy, *, precision: int = 64) -> Bracket:
        """The least epsilon.

        Raises:
            NoFormulaError: for other laws than Gaussians of one variance and those with finitely many rational atoms.
        """
        if pair.is_identical:
            return laws.NOTHING
        if laws.growth_of(pair).is_gaussian:
            return _gaussian(pair.concentration(precision=precision), self.delta, precision)
        if pair.below() is not pair:
            low, high = (self.evaluate(end, precision=precision) for end in (pair.below(), pair.above()))
            return Bracket(lower=low.lower, upper=high.upper)
        return both_ways(pair, self._one_way)

    def separates_laws(self) -> bool:
        """A convex curve that touches 1 - a between its ends is 1 - a; at delta = 1 only the end is evaluated."""
        return self.delta < 1

    def _one_way(self, pair: laws.Dichotomy) -> Bracket:
        level = laws.TradeOff.of(pair).inverse().at(1 - self.delta)
        return Bracket.exactly(ln(self.delta / level)) if level else laws.INFINITE

    def largest_probability(self, q: arb, bound: arb) -> arb:
        """Through approximate privacy at the same numbers, which it implies."""
        return by_hockey_stick(q, bound, self.delta)

    def _bounded(self, other: OutputDivergence) -> Bound | None:
        if is_pure(other):
            return number(1), "the likelihood ratio of any test is at most the largest one"
        if is_a(other, Pbdp) and other.delta <= self.delta:
            return number(1), "power over level never increases along a trade-off curve"
        return None

    def bounds(self, other: OutputDivergence) -> Bound | None:
        if is_a(other, MultDelta) and other.delta >= self.delta:
            return number(1), "pbdp implies approximate privacy with the same two numbers"
        return None

    def in_words(self) -> str:
        return f"probabilistically bounded differential privacy (delta = {number(self.delta).plain()})"

    def __str__(self) -> str:
        return f"{self.name} (delta = {number(self.delta).plain()})"


def _gaussian(rho: Bracket, delta: Fraction, precision: int) -> Bracket:
    """ln delta - ln Phi(Phi^-1(delta) - mu), mu = sqrt(2 rho) (Kifer et al. 2022, Example 5.10)."""
    if delta == 1:
        return laws.NOTHING  # the power 1 is reached at level 1 only
    with ctx.workprec(precision + GUARD + delta.denominator.bit_length()):
        mu = (2 * rho.lower.enclose(ctx.prec)).sqrt().union((2 * rho.upper.enclose(ctx.prec)).sqrt())
        root = arb(2).sqrt()
        start = root * exact.ball(2 * delta - 1).erfinv()
        level = ((mu - start) / root).erfc() / 2
        return Bracket.around(exact.ball(delta).log() - level.log(), least=0)


def pbdp_delta(pair: laws.Dichotomy, epsilon: exact.NumberLike, *, precision: int = 64) -> Bracket:
    """The least delta at which the pair has `pbdp` at most epsilon, for laws with finitely many rational atoms.

    The largest power that is above e^epsilon times its level, in either order: where the curve meets the ray, or 0.

    >>> from dpspec.plugin import laws
    >>> pair = laws.FiniteDichotomy((3, 1), (1, 3), 4, 4)
    >>> pbdp_delta(pair, "ln(2)").upper.decimal(), str(pbdp_delta(pair, "ln(3)"))
    ('0.8', '0')
    """
    return both_ways(pair, lambda way: _meets_ray(laws.TradeOff.of(way), number(epsilon), precision))


def _meets_ray(curve: laws.TradeOff, epsilon: Number, precision: int) -> Bracket:
    with ctx.workprec(precision + GUARD):
        ratio = epsilon.enclose(ctx.prec).exp()
        for (a, b), (c, d) in zip(reversed(curve.knots[:-1]), reversed(curve.knots[1:]), strict=True):
            if _log_ratio(a, 1 - b) > epsilon:  # the last knot above the ray: the piece after it crosses
                rise = exact.ball((b - d) / (c - a))
                return Bracket.around(ratio * (exact.ball(1 - b) - rise * exact.ball(a)) / (ratio - rise), least=0)
    return laws.NOTHING


def _log_ratio(level: Fraction, power: Fraction) -> Number:
    """ln(power / level), and 0 for 0/0."""
    if level == 0:
        return exact.INFINITY if power else number(0)
    return ln(power / level)


@define
class LossTail(Named):
    """The tail of the privacy loss, "probabilistic differential privacy": the least epsilon with P(L > epsilon) <= delta.

    One side (Kifer et al. 2022, Section 5.2), or both, P(|L| > epsilon) <= delta (Kazan 2025, Definition 10); the larger of the
    two orders. It is not registered as a
    block: post-processing can raise it (Kifer et al. 2022, Example 4.9), so that it is no promise about what is published. `pbdp`
    is the least number above it that post-processing keeps, and `mult-delta` at the same delta lies below it (Kazan 2025).

    Args:
        delta: the probability, in [0, 1).
        sides: one (losses above epsilon), or both (gains too).

    >>> from dpspec.plugin import FiniteLaw
    >>> laws = FiniteLaw.bernoulli("3/4"), FiniteLaw.bernoulli("1/4")
    >>> str(LossTail(delta="1/10").between(*laws)), str(LossTail(delta="8/10").between(*laws))
    ('ln(3)', '0')
    """

    name: ClassVar[str] = "probabilistic"
    is_symmetric: ClassVar[bool] = True

    delta: Annotated[Fraction, Rational(0, 1, open_high=True)]
    sides: Annotated[str, Text(("one", "both"))] = "one"

    def evaluate(self, pair: laws.Dichotomy, *, precision: int = 64) -> Bracket:
        """The least epsilon.

        Raises:
            NoFormulaError: for laws other than Gaussians of one variance, on one side, and finitely many rational atoms.
        """
        if laws.growth_of(pair).is_gaussian and self.sides == "one":
            return self._gaussian(pair.concentration(precision=precision), precision)
        return both_ways(pair, self._one_way)

    def separates_laws(self) -> bool:
        return self.delta == 0

    def _one_way(self, pair: laws.Dichotomy) -> Bracket:
        atoms = laws.exact_atoms_of(pair)
        if atoms is None:
            rule = "has no finite list of rational probabilities, so that the tail of its loss is not known exactly"
            raise errors.NoFormulaError(type(pair).__name__, rule, "use laws with finitely many rational probabilities, or pbdp")
        losses = sorted(((self._size(p, q), p) for p, q in atoms if p), reverse=True)
        spent = Fraction(0)
        for loss, mass in losses:
            spent += mass
            if spent > self.delta:
                return Bracket.exactly(max(loss, number(0)))
        return laws.NOTHING

    def _size(self, p: Fraction, q: Fraction) -> Number:
        loss = ln(p / q) if q else exact.INFINITY
        return -loss if self.sides == "both" and loss < 0 else loss

    def _gaussian(self, rho: Bracket, precision: int) -> Bracket:
        """rho + sqrt(2 rho) Phi^-1(1 - delta)."""
        with ctx.workprec(precision + GUARD + self.delta.denominator.bit_length()):
            size = rho.lower.enclose(ctx.prec).union(rho.upper.enclose(ctx.prec))
            return Bracket.around(size + 2 * size.sqrt() * exact.ball(1 - 2 * self.delta).erfinv(), least=0)

    def in_words(self) -> str:
        side = "one side" if self.sides == "one" else "both sides"
        return f"probabilistic differential privacy (delta = {number(self.delta).plain()}, {side})"

    def __str__(self) -> str:
        return f"{self.name} (delta = {number(self.delta).plain()}, {self.sides} side{'s' if self.sides == 'both' else ''})"


def rounded(lower: Number, upper: Number, precision: int = 96) -> Bracket:
    """The bracket with dyadic ends just outside, for ends whose exact form is too long to read."""
    if upper.is_infinite:
        return Bracket(
            lower=number(exact.dyadic(lower.enclose(precision).lower())) if not lower.is_infinite else lower, upper=upper
        )
    with ctx.workprec(precision):
        return Bracket.around(lower.enclose(precision).union(upper.enclose(precision)), least=0)
