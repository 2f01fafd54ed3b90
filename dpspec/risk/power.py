"""What a promise leaves to one attacker who tests x against x': the largest power at a level, and how far odds may change.

The attacker has to decide between two datasets and sees one release. At level a (the probability of a false alarm, Q(S)) no test
has more power than sup { P(S) : d_Pr(P, Q) <= b, Q(S) <= a }, over all mechanisms that keep the promise (K-D23, K-T17, K-T19).
"""

from __future__ import annotations

from fractions import Fraction

from flint import ctx

from dpspec.blocks.output_divergence import OutputDivergence
from dpspec.errors import NoRouteError, ParameterError
from dpspec.exact import Bracket, Number, ball, number

BITS = 128


def largest_power(divergence: OutputDivergence, allowance: Number, level: Fraction) -> Bracket | None:
    """The largest power of a test of level `level` between laws that are at most `allowance` apart; None when none is known.

    The upper end is a bound for every mechanism; some divergences know only a bound, which is then a little above the least one.

    Args:
        divergence: how the laws are compared.
        allowance: how far apart they may be, in units of its Lipschitz constant.
        level: the probability of a false alarm, in (0, 1).

    Raises:
        ParameterError: a level outside (0, 1).

    >>> from dpspec.exact import ln
    >>> from dpspec.extension import installed
    >>> pure = installed().registry.get("output_divergences", "mult")
    >>> largest_power(pure(), ln(3), Fraction(1, 20)).upper.decimal(4)
    '0.15'
    """
    if not 0 < level < 1:
        raise ParameterError("level", "must lie in (0, 1)", "write 1/20 for 5 %", value=str(level))
    if allowance.is_infinite:
        return Bracket.exactly(1)
    try:
        with ctx.workprec(BITS):
            found = divergence.largest_probability(ball(level), allowance.enclose(BITS))
    except NoRouteError:
        return None
    bracket, one = Bracket.around(found, least=level), number(1)
    return Bracket(lower=min(bracket.lower, one), upper=min(bracket.upper, one))
