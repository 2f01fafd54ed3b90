"""dpspec plugin: the mechanisms of censuses (swapping, TopDown, disclosure control), the swapping budget, and census tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpspec.plugin import Names, hookimpl, late_names

if TYPE_CHECKING:
    from dpspec_census.disclosure import PossibleOutputs as PossibleOutputs
    from dpspec_census.hierarchy.by_levels import TopdownByLevels as TopdownByLevels
    from dpspec_census.massachusetts import Massachusetts1940 as Massachusetts1940
    from dpspec_census.pair_swapping import PairSwapping as PairSwapping
    from dpspec_census.pre_noise import PreNoise as PreNoise
    from dpspec_census.risk_swapping import RiskSwapping as RiskSwapping
    from dpspec_census.safetab import Safetab as Safetab, SafetabGeometric as SafetabGeometric
    from dpspec_census.swap_budget import (
        LeastSwappingBudgetRoute as LeastSwappingBudgetRoute,
        StratumSizes as StratumSizes,
        SwappingBudget as SwappingBudget,
        SwappingBudgetRoute as SwappingBudgetRoute,
        SwapRateForBudgetRoute as SwapRateForBudgetRoute,
        SwapScheme as SwapScheme,
        least_budget as least_budget,
        nominal_budget as nominal_budget,
        swap_rates as swap_rates,
    )
    from dpspec_census.swap_constant import (
        SwapConstant as SwapConstant,
        derangement_constant as derangement_constant,
        permutation_constant as permutation_constant,
    )
    from dpspec_census.swap_law import exchange_law as exchange_law
    from dpspec_census.swap_pair import AttainingPair as AttainingPair, ConstantOfSpace as ConstantOfSpace
    from dpspec_census.swap_route import SwapConstantRoute as SwapConstantRoute
    from dpspec_census.swapping import DerangementSwapping as DerangementSwapping, PermutationSwapping as PermutationSwapping
    from dpspec_census.synthetic import (
        SyntheticDwellings as SyntheticDwellings,
        SyntheticHousingUnits as SyntheticHousingUnits,
        SyntheticPersons as SyntheticPersons,
    )
    from dpspec_census.topdown import Measurement as Measurement, Topdown as Topdown, TopdownNoise as TopdownNoise

DPSPEC_API = 1

NAMES: Names = {
    "invariants": {
        "possible-outputs": "dpspec_census.disclosure.tables:PossibleOutputs",
    },
    "budgets": {
        "swapping": "dpspec_census.swap_budget:SwappingBudget",
    },
    "mechanisms": {
        "derangement-swapping": "dpspec_census.swapping:DerangementSwapping",
        "pair-swapping": "dpspec_census.pair_swapping:PairSwapping",
        "permutation-swapping": "dpspec_census.swapping:PermutationSwapping",
        "pre-noise": "dpspec_census.pre_noise:PreNoise",
        "risk-swapping": "dpspec_census.risk_swapping:RiskSwapping",
        "safetab": "dpspec_census.safetab.adaptive:Safetab",
        "safetab-geometric": "dpspec_census.safetab.adaptive:SafetabGeometric",
        "topdown": "dpspec_census.topdown:Topdown",
        "topdown-by-levels": "dpspec_census.hierarchy.by_levels:TopdownByLevels",
        "topdown-noise": "dpspec_census.topdown:TopdownNoise",
        "bottom-coding": "dpspec_census.disclosure.recoding:BottomCoding",
        "cell-key": "dpspec_census.disclosure.cell_key:CellKey",
        "cell-suppression": "dpspec_census.disclosure.suppression:CellSuppression",
        "coarsening": "dpspec_census.disclosure.recoding:Coarsening",
        "controlled-rounding": "dpspec_census.disclosure.rounding:ControlledRounding",
        "conventional-rounding": "dpspec_census.disclosure.rounding:ConventionalRounding",
        "kept-cell-key": "dpspec_census.disclosure.cell_key:KeptCellKey",
        "random-rounding": "dpspec_census.disclosure.rounding:RandomRounding",
        "targeted-swapping": "dpspec_census.disclosure.targeted:TargetedSwapping",
        "top-coding": "dpspec_census.disclosure.recoding:TopCoding",
    },
    "routes": {
        "swap-constant": "dpspec_census.swap_route:SwapConstantRoute",
        "swapping-budget": "dpspec_census.swap_budget:SwappingBudgetRoute",
        "least-swapping-budget": "dpspec_census.swap_budget:LeastSwappingBudgetRoute",
        "swap-rate-for-budget": "dpspec_census.swap_budget:SwapRateForBudgetRoute",
    },
    "tables": {
        "massachusetts-1940": "dpspec_census.massachusetts:Massachusetts1940",
        "synthetic-dwellings": "dpspec_census.synthetic:SyntheticDwellings",
        "synthetic-housing-units": "dpspec_census.synthetic:SyntheticHousingUnits",
        "synthetic-persons": "dpspec_census.synthetic:SyntheticPersons",
    },
}
"""What this plugin brings; each is imported when something names it."""


@hookimpl
def dpspec_names() -> Names:
    return NAMES


_HOMES = {
    "dpspec_census.disclosure": ("PossibleOutputs",),
    "dpspec_census.hierarchy.by_levels": ("TopdownByLevels",),
    "dpspec_census.massachusetts": ("Massachusetts1940",),
    "dpspec_census.pair_swapping": ("PairSwapping",),
    "dpspec_census.pre_noise": ("PreNoise",),
    "dpspec_census.risk_swapping": ("RiskSwapping",),
    "dpspec_census.safetab": ("Safetab", "SafetabGeometric"),
    "dpspec_census.swap_budget": (
        "LeastSwappingBudgetRoute",
        "StratumSizes",
        "SwapRateForBudgetRoute",
        "SwapScheme",
        "SwappingBudget",
        "SwappingBudgetRoute",
        "least_budget",
        "nominal_budget",
        "swap_rates",
    ),
    "dpspec_census.swap_constant": ("SwapConstant", "derangement_constant", "permutation_constant"),
    "dpspec_census.swap_law": ("exchange_law",),
    "dpspec_census.swap_route": ("SwapConstantRoute",),
    "dpspec_census.swap_pair": ("AttainingPair", "ConstantOfSpace"),
    "dpspec_census.swapping": ("DerangementSwapping", "PermutationSwapping"),
    "dpspec_census.synthetic": ("SyntheticDwellings", "SyntheticHousingUnits", "SyntheticPersons"),
    "dpspec_census.topdown": ("Measurement", "Topdown", "TopdownNoise"),
}
__all__ = [name for names in _HOMES.values() for name in names]
__getattr__, __dir__ = late_names(__name__, _HOMES)
