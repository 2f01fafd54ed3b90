"""From tolerated risk to budget, for attackers whose other records are independent of the target (thesis, chapter 3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpspec.plugin import late_names

if TYPE_CHECKING:
    from dpspec_attackers.profiles.named import Box, Constant, Difference, FixedP, FixedQ, FromFunction, OneMissing, Point, TwoDimensional, curve, lee_clifton, recommend_epsilon, sensitivities, surface, utility_table, wood_bound
    from dpspec_attackers.profiles.profile import Region, RiskProfile, absolute_bound, epsilon_at, exact_probability, flip_probability, least_epsilon, naive_epsilon, risk_bound, standard_deviation, variance

_HOMES = {
    "dpspec_attackers.profiles.named": ("Box", "Constant", "Difference", "FixedP", "FixedQ", "FromFunction", "OneMissing", "Point", "TwoDimensional", "curve", "lee_clifton", "recommend_epsilon", "sensitivities", "surface", "utility_table", "wood_bound"),
    "dpspec_attackers.profiles.profile": ("Region", "RiskProfile", "absolute_bound", "epsilon_at", "exact_probability", "flip_probability", "least_epsilon", "naive_epsilon", "risk_bound", "standard_deviation", "variance"),
}
__all__ = ["Box", "Constant", "Difference", "FixedP", "FixedQ", "FromFunction", "OneMissing", "Point", "Region", "RiskProfile", "TwoDimensional", "absolute_bound", "curve", "epsilon_at", "exact_probability", "flip_probability", "least_epsilon", "lee_clifton", "naive_epsilon", "recommend_epsilon", "risk_bound", "sensitivities", "standard_deviation", "surface", "utility_table", "variance", "wood_bound"]  # noqa: RUF022
__getattr__, __dir__ = late_names(__name__, _HOMES)
