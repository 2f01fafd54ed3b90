"""The plugin, judged by the exact engine, and by Hypothesis. The budgets are worked by hand: 5 = (1/2 + 1/8) / (1/8), and
12/5 = (1/2)^2 / (1/8) + (1/2)^2 / (5/8)."""

from fractions import Fraction
from pathlib import Path

import dpspec_hello
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpspec import Outcome, UniformBudget, read, verify
from dpspec.plugin import number
from dpspec.testing import pairs

CLAIM = read(Path(__file__).parents[1] / "hello.dpspec.toml")


def judged(divergence: object, **budget: str) -> Outcome:
    (parameter, value), = budget.items()
    spec = CLAIM.spec.replace(output_divergence=divergence, budget=UniformBudget(parameter=parameter, value=value))
    return verify(dpspec_hello.HelloCount(lie="1/2"), spec).outcome


@pytest.mark.parametrize(("epsilon", "outcome"), [("ln(5)", Outcome.VERIFIED), ("ln(4.99)", Outcome.REFUTED)])
def test_pure_budget(epsilon: str, outcome: Outcome) -> None:
    assert judged(CLAIM.spec.output_divergence, epsilon=epsilon) is outcome


@pytest.mark.parametrize(("budget", "outcome"), [("12/5", Outcome.VERIFIED), ("2.39", Outcome.REFUTED)])
def test_chi_squared_budget(budget: str, outcome: Outcome) -> None:
    assert judged(dpspec_hello.HelloChiSquared(), chi_squared=budget) is outcome


def test_the_file_holds() -> None:
    assert CLAIM.mechanism is not None
    assert verify(CLAIM.mechanism, CLAIM.spec).outcome is Outcome.VERIFIED


@given(st.fractions(Fraction(1, 100), 1), pairs(CLAIM.spec))
def test_the_lipschitz_bound(lie: Fraction, pair: tuple[object, object]) -> None:
    """d_Pr(P_x, P_x') <= epsilon d_X(x, x') for any share of lies: epsilon = ln((1 - lie + c) / c) with c = lie / (n + 1)."""
    spec, mechanism, (left, right) = CLAIM.spec, dpspec_hello.HelloCount(lie=lie), pair
    by_chance = lie / (spec.space.length + 1)
    allowed = number(f"ln({(1 - lie + by_chance) / by_chance})") * spec.distance(left, right)
    told = (mechanism.law(x, spec.space) for x in (left, right))
    assert spec.output_divergence.between(*told).upper <= allowed
