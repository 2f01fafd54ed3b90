"""The first-party plugin of attacker models, and of the disclosure risks that follow from a budget."""

from dpspec.extension import Register, hookimpl
from dpspec.grammar.attacker import AttackerModel, Tolerance
from dpspec_attackers.chamber import InformationChamber
from dpspec_attackers.counts import BlockKnowledge, Hierarchical, Uniqueness
from dpspec_attackers.independent import IndependentRecord
from dpspec_attackers.membership import TARGETS, StrongMembership
from dpspec_attackers.profiles import PROFILES
from dpspec_attackers.sampling import Journalist, NosyNeighbour, Outsider
from dpspec_attackers.strongest import ArbitraryPrior, StrongestAttacker
from dpspec_attackers.tester import AttributeRestricted, CompoundTester, FrequentistTester

DPSPEC_API = 1

ATTACKERS: tuple[type[AttackerModel], ...] = (
    FrequentistTester,
    CompoundTester,
    StrongestAttacker,
    ArbitraryPrior,
    InformationChamber,
    Outsider,
    NosyNeighbour,
    Journalist,
    AttributeRestricted,
    IndependentRecord,
    StrongMembership,
    BlockKnowledge,
    Hierarchical,
    Uniqueness,
)  # fmt: skip


@hookimpl
def dpspec_register_attackers(register: Register) -> None:
    for attacker in ATTACKERS:
        register(attacker)


TOLERANCES: tuple[type[Tolerance], ...] = (*PROFILES, *TARGETS)


@hookimpl
def dpspec_register_tolerances(register: Register) -> None:
    for tolerance in TOLERANCES:
        register(tolerance)
