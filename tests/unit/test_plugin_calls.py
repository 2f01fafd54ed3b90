"""Calls of plugins: their own errors pass, and any other names the plugin."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import attrs
import pytest

from dpspec.base.errors import NotEnumerableError, PluginContractError
from dpspec.blocks.vectors import BitVectors
from dpspec.grammar.mechanism import Mechanism
from dpspec.grammar.plugin_calls import computed_law, guarded
from dpspec.laws.law import FiniteLaw

SPACE = BitVectors(length=1)


@attrs.frozen
class Made(Mechanism):
    """A mechanism of a function."""

    name: ClassVar[str] = "made"

    function: Callable[[Any], Any]

    def law(self, dataset: Any, space: Any) -> Any:
        return self.function(dataset)


def fails(problem: Exception) -> Callable[[Any], Any]:
    def function(_: Any) -> Any:
        raise problem

    return function


def test_a_law_is_returned_as_it_is() -> None:
    law = FiniteLaw.bernoulli("1/3")
    assert computed_law(Made(lambda _: law), (0,), SPACE) is law


def test_what_is_no_law_or_no_distribution_is_a_fault_of_the_plugin() -> None:
    with pytest.raises(PluginContractError, match="must return a Law"):
        computed_law(Made(lambda _: 1), (0,), SPACE)
    with pytest.raises(PluginContractError, match="no probability distribution at"):
        computed_law(Made(lambda _: FiniteLaw.of({0: "1/2"})), (0,), SPACE)


def test_errors_of_the_framework_pass_and_others_name_the_plugin() -> None:
    refusal = NotEnumerableError("it", "is too large")
    with pytest.raises(NotEnumerableError):
        computed_law(Made(fails(refusal)), (0,), SPACE)
    for problem in (ValueError("no"), KeyError(1), RecursionError()):
        with pytest.raises(PluginContractError, match=f"made.*raised {type(problem).__name__}") as told:
            computed_law(Made(fails(problem)), (0,), SPACE)
        assert told.value.__cause__ is problem
    with pytest.raises(KeyboardInterrupt):
        guarded("made", lambda: fails(KeyboardInterrupt())(0))  # type: ignore[arg-type]  # no Exception
    assert guarded("made", lambda: 3) == 3
