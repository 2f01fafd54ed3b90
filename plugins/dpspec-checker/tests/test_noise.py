"""The checker of proofs accepts what is derived, says what it does not know, and accepts no corruption of what it knows."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from typing import Any

import pytest
from dpspec_checker import numbers
from dpspec_checker.noise import divergence_below, response, two_laws
from dpspec_checker.numbers import Rejected, UnknownFormula
from dpspec_divergences import DNor, HockeyStick, Mult, MultDelta, Renyi, TotalVariation

from dpspec.base.exact import number
from dpspec.grammar.views import law_data
from dpspec.laws import exact_exponential, finite_law, product
from dpspec.laws.continuous import GaussianLaw, LaplaceLaw
from dpspec.laws.integers import DiscreteGaussianLaw, TwoSidedGeometricLaw

# --- its own arithmetic --------------------------------------------------------------------------


def shown(chosen: dict[str, Any], answers: list[tuple[dict[str, str], int]], bound: Fraction, rate: str = "1") -> bool:
    """Whether the checker sees that d_Pr of some answers is at most a bound."""
    case = Counter((json.dumps(law), shift) for law, shift in answers)
    return divergence_below(chosen, Fraction(rate))(case, Fraction(1), numbers.read(str(bound)))


LAPLACE, GEOMETRIC = {"family": "LaplaceLaw", "decay": "1/2"}, {"family": "TwoSidedGeometricLaw", "decay": "1/2"}
GAUSSIAN, DISCRETE = {"family": "GaussianLaw", "accuracy": "1/3"}, {"family": "DiscreteGaussianLaw", "variance": "3"}
LAWS = {
    "LaplaceLaw": lambda center: LaplaceLaw(center, 2), "GaussianLaw": lambda center: GaussianLaw(center, 3),
    "TwoSidedGeometricLaw": lambda center: TwoSidedGeometricLaw(center, number("1/2")),
    "DiscreteGaussianLaw": lambda center: DiscreteGaussianLaw(center, 3),
}  # fmt: skip


@pytest.mark.parametrize("shift", [1, 2, 5])
@pytest.mark.parametrize(("law", "chosen", "divergence"), [
    (law, chosen, divergence) for law, divergences in {
        "LaplaceLaw": ("mult", "renyi", "mult-delta", "hockey-stick"),
        "TwoSidedGeometricLaw": ("mult", "renyi", "mult-delta", "hockey-stick"),
        "GaussianLaw": ("d-nor", "renyi", "mult-delta", "hockey-stick"), "DiscreteGaussianLaw": ("d-nor",),
    }.items() for chosen, divergence in (
        ({"type": "mult"}, Mult()), ({"type": "d-nor"}, DNor()), ({"type": "renyi", "order": 3}, Renyi(order=3)),
        ({"type": "mult-delta", "delta": "1/100"}, MultDelta(delta="1/100")),
        ({"type": "hockey-stick", "epsilon": "1/5"}, HockeyStick(epsilon="1/5")),
    ) if chosen["type"] in divergences
])  # fmt: skip
def test_a_divergence_is_that_of_the_exact_engine(law: str, chosen: dict[str, Any], divergence: Any, shift: int) -> None:
    """A bound just above is shown, one just below is not."""
    known = {one["family"]: one for one in (LAPLACE, GEOMETRIC, GAUSSIAN, DISCRETE)}[law]
    exact = divergence.between(LAWS[law](0), LAWS[law](shift))
    middle = Fraction(str(float(exact.upper)))
    assert shown(chosen, [(known, shift)], middle * Fraction(1001, 1000) + Fraction(1, 10**9))
    assert not shown(chosen, [(known, shift)], middle * Fraction(999, 1000) - Fraction(1, 10**9)) or middle == 0


def finite(*weights: Any) -> dict[int, Any]:
    """The probabilities of outcomes 0, 1, ..., up to their sum."""
    return dict(enumerate(weights))


E, ROOT_E = exact_exponential(1), exact_exponential("1/2")
FINITE = {
    "mirrored": (finite(9, 1, 6), finite(1, 9, 6)),
    "far": (finite(3, 1, 2923), finite(1, 3, 2923)),
    "crooked": (finite(3, 2, 1), finite(1, 2, 3)),
    "asymmetric": (finite(6, 3, 1), finite(2, 4, 4)),
    "new": (finite(1, 0), finite(99, 1)),
    "powers of e": (finite(E, 1, 2), finite(1, E, 2)),
    "roots": (finite(ROOT_E, 1), finite(1, ROOT_E)),
}


@pytest.mark.parametrize("name", FINITE)
@pytest.mark.parametrize(("chosen", "divergence"), [
    ({"type": "mult"}, Mult()), ({"type": "d-nor"}, DNor()), ({"type": "total-variation"}, TotalVariation()),
    ({"type": "renyi", "order": 3}, Renyi(order=3)), ({"type": "renyi", "order": "5/2"}, Renyi(order="5/2")),
    ({"type": "mult-delta", "delta": "1/10"}, MultDelta(delta="1/10")),
    ({"type": "hockey-stick", "epsilon": "1/5"}, HockeyStick(epsilon="1/5")),
    ({"type": "hockey-stick", "epsilon": "ln(5/4)"}, HockeyStick(epsilon="ln(5/4)")),
])  # fmt: skip
@pytest.mark.parametrize("times", [1, 2])
def test_laws_of_few_outcomes_are_as_far_apart_as_the_engine_says(
    name: str, chosen: dict[str, Any], divergence: Any, times: int
) -> None:  # fmt: skip
    """For one pair of laws, and for two independent ones of it."""
    laws = [finite_law(weights, normalise=True) for weights in FINITE[name]]
    text = two_laws(*(json.loads(json.dumps(law_data(law))) for law in laws))
    exact = divergence.between(*(product([law] * times) for law in laws))
    case, above = Counter({(text, 0): times}), exact.upper
    below = divergence_below(chosen, Fraction(1))
    if chosen["type"] == "d-nor" and "FiniteLaw" not in str(type(laws[0])):
        with pytest.raises(UnknownFormula):
            below(case, Fraction(1), numbers.read("2"))
        return
    if above.is_infinite:
        assert not below(case, Fraction(1), numbers.read("1000"))
        return
    middle = Fraction(str(float(above)))
    assert below(case, Fraction(1), numbers.read(str(middle * Fraction(1001, 1000) + Fraction(1, 10**9))))
    assert middle == 0 or not below(case, Fraction(1), numbers.read(str(middle * Fraction(999, 1000))))


def test_two_laws_are_read_whatever_way_they_are_written() -> None:
    weights = {"family": "FiniteLaw", "weights": {"a": "2", "b": "4"}, "total": "6"}
    chances = {"family": "ExponentialLaw", "probabilities": {"a": "1/3", "b": "(2*e^(1))/(3*e^(1))"}}
    assert two_laws(weights, chances) == two_laws(chances, weights)
    assert response(numbers.read("1/2")) == two_laws(
        *({"family": "ExponentialLaw", "probabilities": {t: f"({w})/(1 + e^(1/2))" for t, w in zip("ab", row, strict=True)}}
          for row in (("1", "e^(1/2)"), ("e^(1/2)", "1")))
    )  # fmt: skip
    for wrong in ({**weights, "total": "7"}, {**chances, "probabilities": {"a": "e^(1)"}}):
        with pytest.raises(Rejected):
            two_laws(weights, wrong)


@pytest.mark.parametrize("shifts", [(1,), (3,), (1, -1), (1, 2, -1)])
@pytest.mark.parametrize("variance", ["1/2", "3", "40"])
def test_discrete_gaussians_under_delta_are_as_the_engine_says(shifts: tuple[int, ...], variance: str) -> None:
    """sup of P(S) - e^epsilon Q(S), of one answer and of several; with sums over all outcomes that matter."""
    noise = {"family": "DiscreteGaussianLaw", "variance": variance}
    near, far = ([DiscreteGaussianLaw(c, Fraction(variance)) for c in centers] for centers in ((0,) * len(shifts), shifts))
    for epsilon in ("1/5", "1", "0"):
        exact = HockeyStick(epsilon=epsilon).between(product(near), product(far))
        chosen = {"type": "hockey-stick", "epsilon": epsilon}
        low, high = (Fraction(str(float(end))) for end in (exact.lower, exact.upper))
        assert shown(chosen, [(noise, shift) for shift in shifts], high * Fraction(1001, 1000) + Fraction(1, 10**9))
        assert low < Fraction(1, 10**6) or not shown(chosen, [(noise, s) for s in shifts], low * Fraction(999, 1000))
