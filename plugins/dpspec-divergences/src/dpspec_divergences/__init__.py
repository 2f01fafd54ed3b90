"""The first-party plugin of divergences: relations, input and output divergences, and conversion routes."""

from dpspec.extension import Register, hookimpl
from dpspec_divergences.counting import Hamming, HammingOrdered, SymmetricDifference
from dpspec_divergences.f_divergence import FDivergence
from dpspec_divergences.output import DNor, Mult, MultDelta, Renyi, TotalVariation
from dpspec_divergences.paths import Neighbour, Path, UserMetric
from dpspec_divergences.relations import AddRemove, DifferInOnePosition, ReplaceOne, UserRelation
from dpspec_divergences.routes import ROUTES
from dpspec_divergences.trade_off import GaussianTradeOff, HockeyStick, TradeOffSteps

__all__ = [
    "AddRemove", "DNor", "DifferInOnePosition", "FDivergence", "GaussianTradeOff", "Hamming", "HammingOrdered", "HockeyStick",
    "Mult", "MultDelta", "Neighbour", "Path", "Renyi", "ReplaceOne", "SymmetricDifference", "TotalVariation", "TradeOffSteps",
    "UserMetric", "UserRelation",
]  # fmt: skip

DPSPEC_API = 1

_OUTPUT_DIVERGENCES = (
    Mult, MultDelta, DNor, Renyi, TotalVariation, FDivergence, GaussianTradeOff, TradeOffSteps, HockeyStick,
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
    for route in ROUTES:
        register(route)
