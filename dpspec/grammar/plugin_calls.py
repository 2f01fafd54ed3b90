"""Calls of a plugin's code by the engines and by what attackers use: what it raises becomes an error that names the plugin."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dpspec.base.errors import TO_ITS_AUTHOR, DpspecError, PluginContractError, raised_at
from dpspec.blocks.space import Dataset, DatasetSpace
from dpspec.grammar.mechanism import Mechanism
from dpspec.laws.law import Law, NotALaw


def computed_law(mechanism: Mechanism, dataset: Dataset, space: DatasetSpace) -> Law:
    """P_x; whatever the plugin raises becomes a PluginContractError that names it."""
    subject = f"mechanism {mechanism.name}"
    try:
        law = guarded(mechanism.name, lambda: mechanism.law(dataset, space))
    except NotALaw as fault:  # the fault is in law(), and not in the file that names the mechanism
        rule = f"law() returned no probability distribution at {raised_at(fault)}"
        raise PluginContractError(subject, rule, f"{fault.subject} {fault.rule} (found: {fault.value})") from fault
    if not isinstance(law, Law):
        raise PluginContractError(subject, "law() must return a Law", value=law)
    return law


def guarded(name: str, call: Callable[[], Any]) -> Any:
    """Call into a plugin; its own errors pass, any other exception is reported with the plugin's name."""
    try:
        return call()
    except DpspecError:
        raise
    except Exception as problem:
        raise PluginContractError(
            name, f"raised {type(problem).__name__}: {problem} ({raised_at(problem)})", TO_ITS_AUTHOR
        ) from problem
