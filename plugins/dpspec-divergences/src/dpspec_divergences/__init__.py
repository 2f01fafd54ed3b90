"""The first-party plugin of divergences: relations, input and output divergences, and conversion routes."""

from dpspec.extension import Register, hookimpl
from dpspec.grammar.rule import Conversion
from dpspec_divergences.counting import (
    AddRemove,
    DifferInOnePosition,
    Hamming,
    HammingOrdered,
    ReplaceOne,
    SymmetricDifference,
    UserRelation,
)
from dpspec_divergences.f_divergence import FDivergence
from dpspec_divergences.from_entropy import FROM_ENTROPY, FROM_LOSSES
from dpspec_divergences.from_renyi import FROM_RENYI, FROM_ZCDP
from dpspec_divergences.losses import Pbdp
from dpspec_divergences.output import DNor, Mult, MultDelta, Renyi, TotalVariation
from dpspec_divergences.paths import Neighbour, Path, UserMetric
from dpspec_divergences.routes import CONVERSION_ROUTES, ROUTES
from dpspec_divergences.trade_off import GaussianTradeOff, HockeyStick, TradeOffSteps
from dpspec_divergences.worst_pairs import KNOWN, WORST_PAIRS, ApproximateGroups, GaussianToF

__all__ = [
    "AddRemove", "DNor", "DifferInOnePosition", "FDivergence", "GaussianTradeOff", "Hamming", "HammingOrdered", "HockeyStick",
    "Mult", "MultDelta", "Neighbour", "Path", "Pbdp", "Renyi", "ReplaceOne", "SymmetricDifference", "TotalVariation",
    "TradeOffSteps", "UserMetric", "UserRelation",
]  # fmt: skip

DPSPEC_API = 1

CONVERSIONS: tuple[type[Conversion], ...] = (
    *FROM_ZCDP,
    *FROM_RENYI,
    *FROM_ENTROPY,
    *FROM_LOSSES,
    *KNOWN,
    *WORST_PAIRS.values(),
    GaussianToF,
)
"""The formulas between output divergences, each a rule of inference."""

_OUTPUT_DIVERGENCES = (
    Mult, MultDelta, DNor, Renyi, TotalVariation, FDivergence, GaussianTradeOff, TradeOffSteps, HockeyStick, Pbdp,
)  # fmt: skip


@hookimpl
def dpspec_register_relations(register: Register) -> None:
    for relation in (ReplaceOne, AddRemove, DifferInOnePosition):
        register(relation)


@hookimpl
def dpspec_register_input_divergences(register: Register) -> None:
    for divergence in (Hamming, HammingOrdered, SymmetricDifference, Neighbour, Path):
        register(divergence)


@hookimpl
def dpspec_register_output_divergences(register: Register) -> None:
    for divergence in _OUTPUT_DIVERGENCES:
        register(divergence)


@hookimpl
def dpspec_register_routes(register: Register) -> None:
    for route in (*ROUTES, *CONVERSION_ROUTES):
        register(route)


@hookimpl
def dpspec_register_rules(register: Register) -> None:
    register(ApproximateGroups)
    for conversion in CONVERSIONS:
        register(conversion)
