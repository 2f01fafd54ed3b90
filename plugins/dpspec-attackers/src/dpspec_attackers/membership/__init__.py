"""Membership attacks: the meaning of a budget for an attacker who knows all records but one (thesis, chapter 5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpspec.plugin import late_names

if TYPE_CHECKING:
    from dpspec_attackers.membership.composition import (
        METHODS as METHODS,
        Releases as Releases,
        advanced as advanced,
        basic as basic,
        largest_epsilon as largest_epsilon,
        lattice as lattice,
        lattice_delta as lattice_delta,
        optimal as optimal,
        optimal_delta as optimal_delta,
        total as total,
    )
    from dpspec_attackers.membership.posterior import (
        approximate_of_loss as approximate_of_loss,
        difference_bound as difference_bound,
        expected_posterior as expected_posterior,
        highest_posterior as highest_posterior,
        highest_ratio as highest_ratio,
        largest_change as largest_change,
        largest_ratio as largest_ratio,
        loss_bound as loss_bound,
        loss_of_approximate as loss_of_approximate,
        loss_of_difference as loss_of_difference,
        loss_of_difference_criterion as loss_of_difference_criterion,
        loss_of_posterior as loss_of_posterior,
        loss_of_ratio as loss_of_ratio,
        loss_of_zcdp as loss_of_zcdp,
        loss_of_zcdp_tail as loss_of_zcdp_tail,
        lowest_posterior as lowest_posterior,
        lowest_ratio as lowest_ratio,
        posterior_cdf as posterior_cdf,
        posterior_law as posterior_law,
        two_sided_loss as two_sided_loss,
        worst_priors as worst_priors,
    )
    from dpspec_attackers.membership.strong import StrongMembership as StrongMembership
    from dpspec_attackers.membership.targets import (
        MembershipDifference as MembershipDifference,
        MembershipPosterior as MembershipPosterior,
        MembershipRatio as MembershipRatio,
        max_queries as max_queries,
        spent_loss as spent_loss,
    )

_HOMES = {
    "dpspec_attackers.membership.composition": (
        "METHODS",
        "Releases",
        "advanced",
        "basic",
        "largest_epsilon",
        "lattice",
        "lattice_delta",
        "optimal",
        "optimal_delta",
        "total",
    ),
    "dpspec_attackers.membership.posterior": (
        "approximate_of_loss",
        "difference_bound",
        "expected_posterior",
        "highest_posterior",
        "highest_ratio",
        "largest_change",
        "largest_ratio",
        "loss_bound",
        "loss_of_approximate",
        "loss_of_difference",
        "loss_of_difference_criterion",
        "loss_of_posterior",
        "loss_of_ratio",
        "loss_of_zcdp",
        "loss_of_zcdp_tail",
        "lowest_posterior",
        "lowest_ratio",
        "posterior_cdf",
        "posterior_law",
        "two_sided_loss",
        "worst_priors",
    ),
    "dpspec_attackers.membership.strong": ("StrongMembership",),
    "dpspec_attackers.membership.targets": (
        "MembershipDifference",
        "MembershipPosterior",
        "MembershipRatio",
        "max_queries",
        "spent_loss",
    ),
}
__all__ = [name for names in _HOMES.values() for name in names]
__getattr__, __dir__ = late_names(__name__, _HOMES)
