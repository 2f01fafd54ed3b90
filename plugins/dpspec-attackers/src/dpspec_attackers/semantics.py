"""Common parts of the attackers: the pure budget behind a specification, beliefs after a likelihood ratio, and statements."""

from __future__ import annotations

from fractions import Fraction

from dpspec_divergences import Mult
from flint import arb, ctx

from dpspec.plugin import Bracket, Number, OutputDivergence, RiskStatement, Sense, exact, grammar, laws, ln, number, risks

BITS = 128
FACTORS = ("2", "5", "10")
PRIORS = ("1/100", "1/10", "1/2")
NO_BOUND = Bracket.exactly(exact.INFINITY)
NOTHING = Bracket.exactly(0)


def pure_bound(divergence: OutputDivergence, bound: Number) -> Number:
    """The largest log-ratio of two laws that the divergence allows, within a bound in both orders; infinity when it bounds none.

    It adds along a chain of datasets, as bounds do: so of other divergences than those that a log-ratio bounds in proportion, the
    statement on events is used only where its rate is the bound itself. Of one pair more may be known: see `loss_bound`.

    >>> from dpspec_divergences import DNor, Mult
    >>> [str(pure_bound(DNor(), number(bound))) for bound in (0, 1)], str(pure_bound(Mult(), ln(3)))
    (['0', 'inf'], 'ln(3)')
    """
    if bound.is_infinite:
        return exact.INFINITY
    if bound == 0 and divergence.separates_laws():
        return number(0)
    known = grammar.divergence_bound(Mult(), divergence)
    if known is not None:
        return known[0] * bound
    of_events = divergence.event_bounds(bound) or ()
    return bound if any(rate == bound and slack == 0 for rate, slack in of_events) else exact.INFINITY


def loss_bound(divergence: OutputDivergence, bound: Number) -> Number:
    """The largest log-ratio of the laws of one pair of datasets, whose divergence is within a bound in both orders.

    It need not add along a chain: a hockey stick of 0 is a log-ratio within epsilon, and two of them are one within twice that.

    >>> from dpspec_divergences import HockeyStick
    >>> [str(found(HockeyStick(epsilon="ln(3)"), number(0))) for found in (loss_bound, pure_bound)]
    ['ln(3)', 'inf']
    """
    if bound.is_infinite:
        return exact.INFINITY
    rates = (rate for rate, slack in divergence.event_bounds(bound) or () if slack == 0)
    return min([pure_bound(divergence, bound), *rates])


def exponential(exponent: Number) -> Bracket:
    """e^x, exactly where it is rational.

    >>> str(exponential(ln(3))), str(exponential(ln(1)))
    ('3', '1')
    """
    if exponent.is_infinite:
        return NO_BOUND
    exact = Fraction(1) if exponent == 0 else laws.rational_exponential(exponent)
    if exact is not None:
        return Bracket.exactly(exact)
    with ctx.workprec(BITS):
        return Bracket.around(exponent.enclose(BITS).exp(), least=0)


def posterior(ratio: Bracket, prior: Fraction) -> Bracket:
    """prior ratio / (prior ratio + 1 - prior): the belief after a likelihood ratio (Bailie et al. 2024), growing with it.

    >>> str(posterior(Bracket.exactly(3), Fraction(1, 4)))
    '1/2'
    """
    if ratio.lower.is_infinite:
        return Bracket.exactly(1)
    if ratio.is_exact and ratio.lower.is_rational:
        odds = ratio.lower.as_fraction() * prior
        return Bracket.exactly(odds / (odds + 1 - prior))
    with ctx.workprec(BITS):
        ends = [_belief(end, prior) for end in (ratio.lower, ratio.upper)]
        return Bracket.around(ends[0].union(ends[1]), least=0)


def _belief(ratio: Number, prior: Fraction) -> arb:
    if ratio.is_infinite:
        return arb(1)
    odds = ratio.enclose(BITS) * exact.ball(prior)
    return odds / (odds + exact.ball(1 - prior))


def growth(divergence: OutputDivergence, bound: Number, factor: Fraction) -> Bracket:
    """The largest probability, under the true data, that the release speaks `factor`-fold for them; 0 where none does."""
    if bound.is_infinite:
        return Bracket.exactly(1)
    pure = loss_bound(divergence, bound)
    if not pure.is_infinite and ln(factor) > pure:
        return NOTHING
    return risks.allowed_excess(divergence, bound, Bracket.exactly(factor))


def at(**places: object) -> tuple[tuple[str, str], ...]:
    """Places by name; an underscore stands for a blank."""
    return tuple((name.replace("_", " "), str(value)) for name, value in places.items())


def said(  # noqa: PLR0917 - a statement has six parts
    quantity: str,
    places: tuple[tuple[str, str], ...],
    relation: Sense,
    value: Bracket | exact.NumberLike,
    theorem: str,
    assumption: str,
    *,
    trivial: exact.NumberLike | None = None,
) -> RiskStatement:
    """A statement."""
    return RiskStatement(
        quantity=quantity,
        at=places,
        relation=relation,
        value=value if isinstance(value, Bracket) else Bracket.exactly(value),
        theorem=theorem,
        assumption=assumption,
        trivial=None if trivial is None else number(trivial),
    )
