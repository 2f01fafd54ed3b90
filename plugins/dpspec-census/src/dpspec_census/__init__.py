"""dpspec plugin: the mechanisms of censuses (swapping, TopDown, disclosure control), the swapping budget, and census tables."""

from __future__ import annotations

from dpspec.extension import hookimpl
from dpspec.extension.hooks import Register
from dpspec_census.disclosure import DISCLOSURE, PossibleOutputs
from dpspec_census.hierarchy.by_levels import TopdownByLevels
from dpspec_census.massachusetts import Massachusetts1940
from dpspec_census.safetab import Safetab, SafetabGeometric
from dpspec_census.swap_budget import (
    LeastSwappingBudgetRoute,
    StratumSizes,
    SwappingBudget,
    SwappingBudgetRoute,
    SwapRateForBudgetRoute,
    SwapScheme,
    least_budget,
    nominal_budget,
    swap_rates,
)
from dpspec_census.swapping import DerangementSwapping, PermutationSwapping
from dpspec_census.synthetic import SyntheticDwellings, SyntheticHousingUnits, SyntheticPersons
from dpspec_census.topdown import Measurement, Topdown, TopdownNoise

__all__ = [
    "DISCLOSURE",
    "DerangementSwapping",
    "LeastSwappingBudgetRoute",
    "Massachusetts1940",
    "Measurement",
    "PermutationSwapping",
    "PossibleOutputs",
    "Safetab",
    "SafetabGeometric",
    "StratumSizes",
    "SwapRateForBudgetRoute",
    "SwapScheme",
    "SwappingBudget",
    "SwappingBudgetRoute",
    "SyntheticDwellings",
    "SyntheticHousingUnits",
    "SyntheticPersons",
    "Topdown",
    "TopdownByLevels",
    "TopdownNoise",
    "least_budget",
    "nominal_budget",
    "swap_rates",
]

DPSPEC_API = 1


@hookimpl
def dpspec_register_mechanisms(register: Register) -> None:
    swapping, safetab = (DerangementSwapping, PermutationSwapping), (Safetab, SafetabGeometric)
    for mechanism in (*swapping, *safetab, Topdown, TopdownByLevels, TopdownNoise, *DISCLOSURE):
        register(mechanism)


@hookimpl
def dpspec_register_invariants(register: Register) -> None:
    register(PossibleOutputs)


@hookimpl
def dpspec_register_budgets(register: Register) -> None:
    register(SwappingBudget)


@hookimpl
def dpspec_register_routes(register: Register) -> None:
    for route in (SwappingBudgetRoute, LeastSwappingBudgetRoute, SwapRateForBudgetRoute):
        register(route)


@hookimpl
def dpspec_register_tables(register: Register) -> None:
    for table in (Massachusetts1940, SyntheticDwellings, SyntheticHousingUnits, SyntheticPersons):
        register(table)
