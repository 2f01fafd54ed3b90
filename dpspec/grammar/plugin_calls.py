"""Calls of a plugin's code by the engines and by what attackers use: what it raises becomes an error that names the plugin."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dpspec.base.errors import TO_ITS_AUTHOR, ContradictedError, DpspecError, NoFormulaError, PluginContractError, raised_at
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


def check_again(mechanism: Mechanism, laws: Mapping[Dataset, Law], space: DatasetSpace) -> None:
    """Compute laws of a plugin once more, in the opposite order: they depend on the dataset alone.

    A verdict would be about laws that the mechanism has at some call, such as the first one, and not about what it releases.

    Args:
        mechanism: the mechanism.
        laws: the laws that were computed, by dataset.
        space: the dataset space.

    Raises:
        ContradictedError: a law is certainly another one than before.
    """
    subject, advice = f"mechanism {mechanism.name}", "let law() depend on the dataset and the parameters alone"
    for dataset, before in reversed([*laws.items()]):
        try:
            again = computed_law(mechanism, dataset, space)
        except PluginContractError:
            raise
        except DpspecError as fault:
            rule = f"has no law of a dataset when it is computed again, and had one before ({fault})"
            raise ContradictedError(subject, rule, advice, value=str(dataset)) from fault
        if guarded(mechanism.name, lambda: _certainly_differ(before, again)):  # noqa: B023 - it is called at once
            raise ContradictedError(subject, "has another law of a dataset when it is computed again", advice, value=str(dataset))


def _certainly_differ(one: Law, other: Law) -> bool:
    if one is other or one == other:
        return False
    try:
        between = one.against(other)
        return not between.is_identical and between.total_variation().lower > 0
    except NoFormulaError:  # the two cannot be compared
        return False


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
