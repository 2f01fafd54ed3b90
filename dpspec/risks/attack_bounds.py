"""The largest power of a test, over all pairs of laws within a bound of an output divergence: exact or in a bracket.

A test turns the output into one bit. By data processing (Bailie et al. 2024), power p at level a is possible exactly when the
laws (p, 1 - p) and (a, 1 - a) of that bit are within the bound, in both orders; and if some p >= a exceeds the bound, so does
every larger p. The largest power is therefore enclosed by bisection. Each end is proved by an exact pair of laws, and the lower
end is attained by a mechanism. For concentrated privacy this covers every order alpha > 1 and the limit alpha -> 1, which can be
the one that binds."""

from __future__ import annotations

import math
from fractions import Fraction

import attrs
from flint import arb, ctx

from dpspec.base.errors import NoFormulaError, ParameterError
from dpspec.base.exact import Bracket, Number, NumberLike, rational
from dpspec.base.log_linear import ball, dyadic
from dpspec.base.memo import memoize
from dpspec.blocks.output_divergence import OutputDivergence
from dpspec.grammar.spec import PrivacySpec
from dpspec.laws.law import FiniteLaw

BITS = 48
_GUARD = 64
_KEPT = 4096
"""The risk of a file, its label and its report show the same numbers, each found by halving an interval."""
_SPARE = 16
"""A divergence is known to about half the bits that it is computed with."""


@memoize(maxsize=_KEPT)
def allowed_power(divergence: OutputDivergence, bound: Number, level: NumberLike, *, bits: int = BITS) -> Bracket:
    """The largest power at a level of any test between two laws with d_Pr(P, Q) <= bound (Kifer et al. 2022).

    Args:
        divergence: d_Pr, which processing of the output never raises.
        bound: in units of `lipschitz`.
        level: the largest probability of rejecting the hypothesis when it is true, in [0, 1].
        bits: the bracket has a width of about 2^-bits, where no closed form is known; few are enough for a picture.

    Raises:
        ParameterError: for a level outside [0, 1].
    """
    at = rational(level, "level")
    if not 0 <= at <= 1:
        raise ParameterError("level", "must lie in [0, 1]", "it is a probability", value=level)
    if at == 1 or (bound == 0 and divergence.separates_laws()):
        return Bracket.exactly(at)
    if bound.is_infinite:
        return Bracket.exactly(1)
    top = _stated(divergence, bound, at)
    low, high = (at, Fraction(1)) if top is None else top
    if low == at or _within(divergence, low, at, bound) is not True:
        low, high = _narrowed(divergence, bound, at, high, bits)
    return Bracket(lower=Bracket.exactly(low).lower, upper=Bracket.exactly(high).upper)


def power_at_step(spec: PrivacySpec, constant: Number, level: NumberLike) -> Bracket:
    """The largest power at a level of a test between two datasets, where one is at distance 1 from the other, in either order.

    Where neither d_X nor d_Pr is symmetric, the two may be compared in one order alone, and either of them may be the truth.

    Args:
        spec: the specification.
        constant: the Lipschitz constant of their universe.
        level: as in `allowed_power`.
    """
    return allowed_power(spec.of_unordered_pairs.output_divergence, constant, level)


def _stated(divergence: OutputDivergence, bound: Number, level: Fraction) -> tuple[Fraction, Fraction] | None:
    """The bound of the divergence itself, which is never too small, as (low, high) around it."""
    try:
        with ctx.workprec(BITS + _GUARD):
            said: arb = divergence.largest_probability(ball(level), bound.enclose(BITS + _GUARD))
    except NoFormulaError:
        return None
    if not said.is_finite():
        return None
    low, high = dyadic(said.lower()), dyadic(said.upper())
    return min(max(low, level), Fraction(1)), min(high, Fraction(1))


def _narrowed(
    divergence: OutputDivergence, bound: Number, level: Fraction, high: Fraction, bits: int
) -> tuple[Fraction, Fraction]:
    """Narrow [level, high] where a place between them is certainly allowed or certainly not.

    The place is where a chord says that the divergence meets the bound (regula falsi; an end that stays counts half), a little
    towards the middle, so that the other end comes near too; each third time it is the middle. Each end is proved by itself.
    """
    low = level
    excess = [_Excess(True, -float(bound)), _excess(divergence, high, level, bound, bits)]
    if excess[1].is_allowed:
        return high, high
    step, last, turns = Fraction(1, 1 << bits), None, 0
    while high - low > step:
        middle = (low + high) / 2 if turns % 3 == 2 else _chord(low, high, excess[0].by, excess[1].by, step)
        middle = Fraction(round(middle * (1 << bits + 1)), 1 << bits + 1)
        found = _excess(divergence, middle, level, bound, bits)
        if found.is_allowed is None or not low < middle < high:
            break
        side = 0 if found.is_allowed else 1
        low, high = (middle, high) if found.is_allowed else (low, middle)
        excess[side] = found
        if side == last:
            excess[1 - side] = attrs.evolve(excess[1 - side], by=excess[1 - side].by / 2)
        last, turns = side, turns + 1
    return low, high


def _chord(low: Fraction, high: Fraction, under: float, over: float, step: Fraction) -> Fraction:
    """The zero of a chord, moved half a step towards the middle."""
    if not (under < 0 < over < math.inf):
        return (low + high) / 2
    place = low + (high - low) * Fraction(under / (under - over))
    place += step / 2 if place < (low + high) / 2 else -step / 2
    return min(max(place, low + step / 2), high - step / 2)


@attrs.frozen
class _Excess:
    """Whether d_Pr of two bits is within a bound (None when a bracket is too wide to say), and about by how much it is above."""

    is_allowed: bool | None
    by: float


def _excess(divergence: OutputDivergence, power: Fraction, level: Fraction, bound: Number, bits: int = BITS) -> _Excess:
    """By how much d_Pr of the two bits is above the bound, the larger of both orders."""
    one, other = FiniteLaw.bernoulli(power), FiniteLaw.bernoulli(level)
    pairs = ((one, other),) if divergence.is_symmetric else ((one, other), (other, one))
    values = [divergence.between(*pair, precision=2 * bits + _SPARE) for pair in pairs]
    by = max(float(value.upper) for value in values) - float(bound)
    if all(value.upper <= bound for value in values):
        return _Excess(True, by)
    return _Excess(False if any(value.lower > bound for value in values) else None, by)


def _within(divergence: OutputDivergence, power: Fraction, level: Fraction, bound: Number) -> bool | None:
    """Whether d_Pr of the two bits is within the bound, in both orders; None when a bracket is too wide to say."""
    return _excess(divergence, power, level, bound).is_allowed


@memoize(maxsize=_KEPT)
def allowed_advantage(divergence: OutputDivergence, bound: Number) -> Bracket:
    """The largest power minus level of any test, the total variation, for a divergence that keeps its bound under mixtures.

    If power p at level a is allowed, so is 1 - a at 1 - p, the other way round, and the even mixture of the two: some (x, 1 - x)
    with the same difference. So the largest allowed x gives 2 x - 1.

    Args:
        divergence: d_Pr, bounded in both orders, which neither processing of the output nor mixing raises.
        bound: in units of `lipschitz`.

    >>> from dpspec.base.exact import ln
    >>> from dpspec.extension import installed
    >>> pure = installed().registry.get("output_divergences", "mult")()
    >>> allowed_advantage(pure, ln(3)).upper.decimal()
    '0.5'
    """
    if bound.is_infinite:
        return Bracket.exactly(1)
    if bound == 0 and divergence.separates_laws():
        return Bracket.exactly(0)
    low, high = Fraction(1, 2), Fraction(1)
    if _within(divergence, high, 1 - high, bound) is True:
        return Bracket.exactly(1)
    while high - low > Fraction(1, 1 << BITS):
        middle = (low + high) / 2
        decided = _within(divergence, middle, 1 - middle, bound)
        if decided is None:
            break
        low, high = (middle, high) if decided else (low, middle)
    return Bracket(lower=Bracket.exactly(2 * low - 1).lower, upper=Bracket.exactly(2 * high - 1).upper)


@memoize(maxsize=_KEPT)
def allowed_excess(divergence: OutputDivergence, bound: Number, factor: Bracket) -> Bracket:
    """The largest P(S) over all laws with d_Pr(P, Q) <= bound and all events S with P(S) >= F Q(S), for a factor F > 1.

    How often the release speaks F-fold for P when P is true, processed in the worst way: the delta of pbdp at epsilon = ln F
    (Kifer et al. 2022, Definition 5.4). Thinning an event keeps its ratio, so that what is allowed is an interval from 0
    on, and halving finds its end. Divided by F it is the largest Q(S).

    Args:
        divergence: d_Pr, which processing of the output never raises.
        bound: in units of `lipschitz`.
        factor: F, in a bracket.

    Raises:
        ParameterError: for a factor that is not certainly above 1.

    >>> from dpspec.base.exact import ln
    >>> from dpspec.extension import installed
    >>> pure = installed().registry.get("output_divergences", "mult")()
    >>> [allowed_excess(pure, ln(3), Bracket.exactly(factor)).upper.decimal() for factor in (2, 4)]
    ['0.8', '0']
    """
    if not factor.lower > 1 or factor.upper.is_infinite:
        raise ParameterError("factor", "must be finite and above 1", "a factor of 1 is no growth", value=str(factor))
    if (bound == 0 and divergence.separates_laws()) or _is_ruled_out(divergence, bound, factor):
        return Bracket.exactly(0)
    near, far = _rational_ends(factor)
    low, high = Fraction(0), Fraction(1)
    while high - low > Fraction(1, 1 << BITS):
        middle = (low + high) / 2
        if _within(divergence, middle, middle / far, bound) is True:
            low = middle
        elif _within(divergence, middle, middle / near, bound) is False:
            high = middle
        else:
            break
    if high == 1 and _within(divergence, high, high / far, bound) is True:
        low = high
    return Bracket(lower=Bracket.exactly(low).lower, upper=Bracket.exactly(high).upper)


def _is_ruled_out(divergence: OutputDivergence, bound: Number, factor: Bracket) -> bool:
    """Whether some e^a < F has P(S) <= e^a Q(S) for every event: then only P(S) = 0 is possible, however unlikely the event."""
    asked = None if bound.is_infinite else divergence.event_bounds(bound)
    with ctx.workprec(BITS + _GUARD):
        grown = factor.lower.enclose(BITS + _GUARD).log()
        return any(extra == 0 and bool(rate.enclose(BITS + _GUARD) < grown) for rate, extra in asked or ())


def _rational_ends(factor: Bracket) -> tuple[Fraction, Fraction]:
    """Rationals just below and above the factor; itself where it is one."""
    if factor.is_exact and factor.lower.is_rational:
        return factor.lower.as_fraction(), factor.lower.as_fraction()
    precision = 2 * BITS
    return dyadic(factor.lower.enclose(precision).lower()), dyadic(factor.upper.enclose(precision).upper())
