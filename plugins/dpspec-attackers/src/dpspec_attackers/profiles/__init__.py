"""From tolerated risk to budget, for attackers whose other records are independent of the target (thesis, chapter 3)."""

from dpspec_attackers.profiles.named import (
    Box,
    Constant,
    Difference,
    FixedP,
    FixedQ,
    FromFunction,
    OneMissing,
    Point,
    TwoDimensional,
    curve,
    lee_clifton,
    recommend_epsilon,
    sensitivities,
    surface,
    utility_table,
    wood_bound,
)
from dpspec_attackers.profiles.profile import (
    Region,
    RiskProfile,
    absolute_bound,
    epsilon_at,
    exact_probability,
    flip_probability,
    least_epsilon,
    naive_epsilon,
    risk_bound,
    standard_deviation,
    variance,
)

PROFILES: tuple[type[RiskProfile], ...] = (
    Constant, FixedQ, FixedP, TwoDimensional, Box, Difference, Point, OneMissing, FromFunction,
)  # fmt: skip
"""The registered risk profiles."""

__all__ = [
    "PROFILES", "Box", "Constant", "Difference", "FixedP", "FixedQ", "FromFunction", "OneMissing", "Point", "Region",
    "RiskProfile", "TwoDimensional", "absolute_bound", "curve", "epsilon_at", "exact_probability", "flip_probability",
    "least_epsilon", "lee_clifton", "naive_epsilon", "recommend_epsilon", "risk_bound", "sensitivities", "standard_deviation",
    "surface", "utility_table", "variance", "wood_bound",
]  # fmt: skip
