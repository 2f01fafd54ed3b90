"""From tolerated risk to budget, for attackers whose other records are independent of the target (thesis, chapter 3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpspec.plugin import late_names

if TYPE_CHECKING:
    from dpspec_attackers.profiles.profile import (
        Region as Region,
        RiskProfile as RiskProfile,
        absolute_bound as absolute_bound,
        epsilon_at as epsilon_at,
        exact_probability as exact_probability,
        flip_probability as flip_probability,
        least_epsilon as least_epsilon,
        naive_epsilon as naive_epsilon,
        risk_bound as risk_bound,
        standard_deviation as standard_deviation,
        variance as variance,
    )
    from dpspec_attackers.profiles.standard_profiles import (
        Box as Box,
        Constant as Constant,
        Difference as Difference,
        FixedP as FixedP,
        FixedQ as FixedQ,
        FromFunction as FromFunction,
        OneMissing as OneMissing,
        Point as Point,
        TwoDimensional as TwoDimensional,
        curve as curve,
        lee_clifton as lee_clifton,
        recommend_epsilon as recommend_epsilon,
        sensitivities as sensitivities,
        surface as surface,
        utility_table as utility_table,
        wood_bound as wood_bound,
    )

_HOMES = {
    "dpspec_attackers.profiles.standard_profiles": (
        "Box",
        "Constant",
        "Difference",
        "FixedP",
        "FixedQ",
        "FromFunction",
        "OneMissing",
        "Point",
        "TwoDimensional",
        "curve",
        "lee_clifton",
        "recommend_epsilon",
        "sensitivities",
        "surface",
        "utility_table",
        "wood_bound",
    ),
    "dpspec_attackers.profiles.profile": (
        "Region",
        "RiskProfile",
        "absolute_bound",
        "epsilon_at",
        "exact_probability",
        "flip_probability",
        "least_epsilon",
        "naive_epsilon",
        "risk_bound",
        "standard_deviation",
        "variance",
    ),
}
__all__ = [name for names in _HOMES.values() for name in names]
__getattr__, __dir__ = late_names(__name__, _HOMES)
