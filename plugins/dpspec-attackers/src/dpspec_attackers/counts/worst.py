"""The worst mean posterior, and the most right bets, that an output divergence allows within a bound.

Let g(q) be the largest P(S) over events with Q(S) = q that is allowed; g is concave. The pair of laws whose best tests have just
that power is at least as informative as every allowed pair (Blackwell), so it has the largest mean of any convex function of the
likelihood ratio. g is evaluated at levels that get denser where the result is still open. Between two of them the likelihood
ratio lies between the slopes next door, which encloses what the piece can add.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

import attrs
from flint import arb, ctx

from dpspec.blocks.output_divergence import OutputDivergence
from dpspec.exact import Bracket, Number, NumberLike, ball, dyadic, number
from dpspec.laws.numeric import positive
from dpspec_attackers.counts.belief import as_probability, read_prior
from dpspec_attackers.semantics import pure_bound

_PRECISION = 96
_MOST_LEVELS = 4000
_PASSES = 40
_WIDTH = Fraction(1, 10**5)
_START = tuple(Fraction(1, 1 << i) for i in range(48, 0, -1))


@attrs.frozen
class _Piece:
    """The part of g between two levels: its masses p and q, and bounds of dP/dQ on it."""

    level: Fraction
    p: arb
    q: arb
    least: arb
    most: arb


def worst_posterior(divergence: OutputDivergence, bound: Number, prior: NumberLike) -> Bracket:
    """The largest E_P[ p P / (p P + (1 - p) Q) ] over all laws with d_Pr(P, Q) <= bound, in a bracket.

    Args:
        divergence: d_Pr, whose `largest_probability` is g.
        bound: in units of `lipschitz`.
        prior: p.

    Raises:
        NoRouteError: when the divergence does not say g.

    >>> from dpspec_divergences import Mult
    >>> worst_posterior(Mult(), number("ln(3)"), "1/2").upper.decimal()
    '0.625'
    """
    p = read_prior(prior)
    if bound.is_infinite:
        return Bracket.exactly(1)
    if pure_bound(divergence, bound) == 0:
        return Bracket.exactly(p)
    with ctx.workprec(_PRECISION):
        levels = sorted({*_START, *(1 - level for level in _START)} | {Fraction(0), Fraction(1)})
        powers = {level: _power(divergence, bound, level) for level in levels}
        for _ in range(_PASSES):
            pieces = _pieces(levels, powers)
            ends = [_ends(piece, p) for piece in pieces]
            gaps = [(dyadic((high - low).upper()), piece) for (low, high), piece in zip(ends, pieces, strict=True)]
            wide = [piece for gap, piece in gaps if gap > _WIDTH / len(pieces)]
            if sum(gap for gap, _ in gaps) <= _WIDTH or not wide or len(levels) > _MOST_LEVELS:
                break
            levels = _refined(levels, {piece.level for piece in wide}, powers, divergence, bound)
        apart = positive(powers[Fraction(0)])
        low, high = (sum((pair[side] for pair in ends), apart) for side in (0, 1))
        return as_probability(low.lower().union(high.upper()))


def worst_bet(divergence: OutputDivergence, bound: Number, prior: NumberLike) -> Bracket:
    """The largest max over S of p P(S) + (1 - p) (1 - Q(S)) over all laws with d_Pr(P, Q) <= bound, in a bracket.

    How often somebody bets rightly who bets on what is likelier, when the truth is drawn from the prior.

    >>> from dpspec_divergences import Mult
    >>> worst_bet(Mult(), number("ln(3)"), "1/2").upper.decimal()
    '0.75'
    """
    p = read_prior(prior)
    if bound.is_infinite:
        return Bracket.exactly(1)
    with ctx.workprec(_PRECISION):
        levels = sorted({*_START, *(1 - level for level in _START)} | {Fraction(0), Fraction(1)})
        powers = {level: _power(divergence, bound, level) for level in levels}
        least, most = max(p, 1 - p), Fraction(1)
        for _ in range(_PASSES):
            pieces = _pieces(levels, powers)
            shown = (dyadic((ball(p) * powers[level] + ball((1 - p) * (1 - level))).lower()) for level in levels)
            least = max(least, *shown)
            tops = [(_top(piece, powers[piece.level], p), piece) for piece in pieces]
            most = max(least, *(top for top, _ in tops))
            open_pieces = {piece.level for top, piece in tops if top > least + _WIDTH}
            if not open_pieces or len(levels) > _MOST_LEVELS:
                break
            levels = _refined(levels, open_pieces, powers, divergence, bound)
        return Bracket(lower=number(min(least, Fraction(1))), upper=number(min(most, Fraction(1))))


@lru_cache(maxsize=1 << 14)
def _power(divergence: OutputDivergence, bound: Number, level: Fraction) -> arb:
    """g at a level, at least the level itself."""
    if level == 1:
        return arb(1)
    with ctx.workprec(_PRECISION):
        return divergence.largest_probability(ball(level), bound.enclose(_PRECISION)).max(ball(level)).min(arb(1))


def _refined(
    levels: Sequence[Fraction], chosen: set[Fraction], powers: dict[Fraction, arb], divergence: OutputDivergence, bound: Number
) -> list[Fraction]:
    """The levels with the middles of the chosen pieces, at which g is added to `powers`."""
    new = [(low + high) / 2 for low, high in itertools.pairwise(levels) if low in chosen]
    powers.update({level: _power(divergence, bound, level) for level in new})
    return sorted([*levels, *new])


def _pieces(levels: Sequence[Fraction], powers: dict[Fraction, arb]) -> list[_Piece]:
    steps = list(itertools.pairwise(levels))
    masses = [(positive(powers[high] - powers[low]), ball(high - low)) for low, high in steps]
    slopes = [p / q for p, q in masses]
    before = [arb.pos_inf(), *slopes[:-1]]
    after = [*slopes[1:], arb(0)]
    return [
        _Piece(low, p, q, positive(least.lower()), most.upper())
        for (low, _), (p, q), least, most in zip(steps, masses, after, before, strict=True)
    ]


def _mean(ratio: arb, prior: Fraction) -> arb:
    """p t^2 / (p t + 1 - p): what an outcome with dP/dQ = t adds to the mean posterior, per unit of Q; convex in t."""
    return ball(prior) * ratio**2 / (ball(prior) * ratio + ball(1 - prior))


def _ends(piece: _Piece, prior: Fraction) -> tuple[arb, arb]:
    """What a piece adds: at least that of its mean ratio (Jensen), at most that of its extreme ratios (the chord)."""
    low = piece.q * _mean(piece.p / piece.q, prior)
    at_least = _mean(piece.least, prior)
    rise = piece.p - piece.least * piece.q
    if not piece.most.is_finite():
        return low, (piece.q * at_least + positive(rise))
    width = piece.most - piece.least
    if not width > 0:
        return low, (piece.q * _mean(piece.most, prior)).max(low)
    return low, piece.q * at_least + positive(rise) * (_mean(piece.most, prior) - at_least) / width


def _top(piece: _Piece, start: arb, prior: Fraction) -> Fraction:
    """An upper bound of p g(q) + (1 - p) (1 - q) on a piece, g being below the two lines that its neighbours continue."""
    p, rest = ball(prior), ball(1 - prior)
    base = p * start + rest * (1 - ball(piece.level))
    end = base + p * piece.p - rest * piece.q
    bounds = [base, end]
    if not piece.most.is_finite():
        bounds.append(end - (p * piece.least - rest) * piece.q)
    elif piece.most - piece.least > 0:
        place = positive((piece.p - piece.least * piece.q) / (piece.most - piece.least)).min(piece.q)
        bounds.append(base + (p * piece.most - rest) * place)
    else:
        bounds.append(base + (p * piece.most - rest) * piece.q)
    return max(dyadic(value.upper()) for value in bounds)
