"""The plugin that ships with the core: the structural spaces, multiverses, invariants, neighbours and budgets, and
the mechanism that publishes invariants.

They come in by the same door as a stranger's.
"""

from __future__ import annotations

from dpspec.blocks.budget import UniformBudget
from dpspec.blocks.input_divergence import WithinDistance
from dpspec.blocks.invariant import LinearMap, Marginal
from dpspec.blocks.multiverse import ExplicitUniverses, LevelSets, Trivial
from dpspec.blocks.records import ContingencyTables, Households, OrderedRecords, UnorderedRecords
from dpspec.blocks.vectors import BitVectors, IntegerCounts
from dpspec.extension.hooks import Register, hookimpl
from dpspec.grammar.mechanism import ReleaseInvariants
from dpspec.grammar.workers import Embedded
from dpspec.reason.rules import (
    DominationInside,
    EqualLaws,
    FinerUniverses,
    InputDomination,
    LargerBudget,
    LargerBudgets,
    ListedUniverses,
    NeighboursToPaths,
    OutputDomination,
    SmallerSpace,
)

DPSPEC_API = 1


@hookimpl
def dpspec_register_spaces(register: Register) -> None:
    for space in (BitVectors, IntegerCounts, OrderedRecords, UnorderedRecords, ContingencyTables, Households):
        register(space)


@hookimpl
def dpspec_register_multiverses(register: Register) -> None:
    for multiverse in (Trivial, LevelSets, ExplicitUniverses):
        register(multiverse)


@hookimpl
def dpspec_register_invariants(register: Register) -> None:
    register(Marginal)
    register(LinearMap)


@hookimpl
def dpspec_register_input_divergences(register: Register) -> None:
    register(WithinDistance)


@hookimpl
def dpspec_register_budgets(register: Register) -> None:
    register(UniformBudget)


@hookimpl
def dpspec_register_mechanisms(register: Register) -> None:
    register(ReleaseInvariants)


@hookimpl
def dpspec_register_workers(register: Register) -> None:
    register(Embedded)


@hookimpl
def dpspec_register_rules(register: Register) -> None:
    for rule in (
        SmallerSpace, FinerUniverses, ListedUniverses, InputDomination, DominationInside, NeighboursToPaths, OutputDomination,
        EqualLaws, LargerBudget, LargerBudgets,
    ):  # fmt: skip
        register(rule)
