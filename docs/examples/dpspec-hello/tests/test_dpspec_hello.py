"""The plugin, judged by the exact engine. The budgets are worked by hand: 5 = (1/2 + 1/8) / (1/8), and
12/5 = (1/2)^2 / (1/8) + (1/2)^2 / (5/8)."""

from pathlib import Path

import dpspec_hello
import pytest

from dpspec import Outcome, load_plugins
from dpspec.verifier.entry import verify_claim
from dpspec.api import read_spec
from dpspec.blocks.budget import UniformBudget

PLUGINS = load_plugins(names=["divergences"], modules=[("hello", dpspec_hello)])
CLAIM = read_spec(Path(__file__).parents[1] / "hello.dpspec.toml", PLUGINS.registry)


def judged(divergence: object, **budget: str) -> Outcome:
    (parameter, value), = budget.items()
    spec = CLAIM.spec.replace(output_divergence=divergence, budget=UniformBudget(parameter=parameter, value=value))
    return verify_claim(dpspec_hello.HelloCount(lie="1/2"), spec).outcome


@pytest.mark.parametrize(("epsilon", "outcome"), [("ln(5)", Outcome.VERIFIED), ("ln(4.99)", Outcome.REFUTED)])
def test_pure_budget(epsilon: str, outcome: Outcome) -> None:
    assert judged(CLAIM.spec.output_divergence, epsilon=epsilon) is outcome


@pytest.mark.parametrize(("budget", "outcome"), [("12/5", Outcome.VERIFIED), ("2.39", Outcome.REFUTED)])
def test_chi_squared_budget(budget: str, outcome: Outcome) -> None:
    assert judged(dpspec_hello.HelloChiSquared(), chi_squared=budget) is outcome


def test_the_file_holds() -> None:
    assert CLAIM.mechanism is not None
    assert verify_claim(CLAIM.mechanism, CLAIM.spec).outcome is Outcome.VERIFIED
