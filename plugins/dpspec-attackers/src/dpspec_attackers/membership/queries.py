"""How many releases a budget allows before a tolerated loss is used up (Z-A19)."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from dpspec.exact import Bracket, NumberLike, rational
from dpspec_attackers.membership.composition import Releases
from dpspec_attackers.membership.losses import loss_of_approximate
from dpspec_attackers.membership.methods import total
from dpspec_attackers.membership.targets import ZCDP

MOST_RELEASES = 4096


def spent_loss(releases: Releases, method: str, failure: NumberLike = 0) -> Bracket:
    """The privacy loss of k releases together, but for the probability `failure`: compose first, convert last (Z-S34).

    For the methods zcdp and zcdp-tail the budget of `releases` is rho.

    >>> spent_loss(Releases(times=7, epsilon="1/100"), "zcdp", "1/100").upper.decimal(6)
    '1.58414'
    """
    if method in ZCDP:
        return ZCDP[method](releases.epsilon * releases.times, failure)
    delta = Fraction(0) if method == "basic" and not releases.delta_each else releases.delta
    return loss_of_approximate(total(releases, method), delta, failure)


def max_queries(
    tolerated: Bracket,
    budget: NumberLike,
    method: str,
    *,
    delta_each: NumberLike = 0,
    delta: NumberLike = 0,
    failure: NumberLike = 0,
) -> int:
    """The largest k such that 1, 2, ..., k releases keep a tolerated loss; at most 4,096 are tried (Z-A19).

    Args:
        tolerated: the loss, from `loss_of_posterior`, `loss_of_difference` or `loss_of_ratio`.
        budget: the epsilon (or rho) of each release.
        method: a composition: basic, advanced, advanced-dwork, optimal-lattice, optimal, zcdp, zcdp-tail.
        delta_each, delta, failure: of each release, of all together, and of the statement.

    >>> from dpspec_attackers.membership.posterior import loss_of_posterior
    >>> max_queries(loss_of_posterior("4/5", "1/2"), "1/20", "basic")
    27
    """
    each = rational(delta_each, "delta_each")

    def keeps(times: int) -> bool:
        share = max(rational(delta, "delta"), times * each)
        return (
            spent_loss(Releases(times=times, epsilon=budget, delta_each=each, delta=share), method, failure).upper
            <= tolerated.lower
        )

    return _last(keeps)


def _last(keeps: Callable[[int], bool]) -> int:
    found = 0
    while found < MOST_RELEASES and keeps(found + 1):
        found += 1
    return found
