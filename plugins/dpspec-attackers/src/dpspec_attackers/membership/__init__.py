"""What a budget means to an attacker who knows all records but one (thesis, chapter 5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpspec.plugin import late_names

if TYPE_CHECKING:
    from dpspec_attackers.membership.composition import METHODS, Releases, advanced, basic, largest_epsilon, lattice, lattice_delta, optimal, optimal_delta, total
    from dpspec_attackers.membership.posterior import approximate_of_loss, difference_bound, expected_posterior, highest_posterior, highest_ratio, largest_change, largest_ratio, loss_bound, loss_of_approximate, loss_of_difference, loss_of_difference_criterion, loss_of_posterior, loss_of_ratio, loss_of_zcdp, loss_of_zcdp_tail, lowest_posterior, lowest_ratio, posterior_cdf, posterior_law, two_sided_loss, worst_priors
    from dpspec_attackers.membership.strong import StrongMembership
    from dpspec_attackers.membership.targets import MembershipDifference, MembershipPosterior, MembershipRatio, max_queries, spent_loss

_HOMES = {
    "dpspec_attackers.membership.composition": ("METHODS", "Releases", "advanced", "basic", "largest_epsilon", "lattice", "lattice_delta", "optimal", "optimal_delta", "total"),
    "dpspec_attackers.membership.posterior": ("approximate_of_loss", "difference_bound", "expected_posterior", "highest_posterior", "highest_ratio", "largest_change", "largest_ratio", "loss_bound", "loss_of_approximate", "loss_of_difference", "loss_of_difference_criterion", "loss_of_posterior", "loss_of_ratio", "loss_of_zcdp", "loss_of_zcdp_tail", "lowest_posterior", "lowest_ratio", "posterior_cdf", "posterior_law", "two_sided_loss", "worst_priors"),
    "dpspec_attackers.membership.strong": ("StrongMembership",),
    "dpspec_attackers.membership.targets": ("MembershipDifference", "MembershipPosterior", "MembershipRatio", "max_queries", "spent_loss"),
}
__all__ = ["METHODS", "MembershipDifference", "MembershipPosterior", "MembershipRatio", "Releases", "StrongMembership", "advanced", "approximate_of_loss", "basic", "difference_bound", "expected_posterior", "highest_posterior", "highest_ratio", "largest_change", "largest_epsilon", "largest_ratio", "lattice", "lattice_delta", "loss_bound", "loss_of_approximate", "loss_of_difference", "loss_of_difference_criterion", "loss_of_posterior", "loss_of_ratio", "loss_of_zcdp", "loss_of_zcdp_tail", "lowest_posterior", "lowest_ratio", "max_queries", "optimal", "optimal_delta", "posterior_cdf", "posterior_law", "spent_loss", "total", "two_sided_loss", "worst_priors"]  # noqa: RUF022
__getattr__, __dir__ = late_names(__name__, _HOMES)
