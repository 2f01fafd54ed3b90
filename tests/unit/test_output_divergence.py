"""What every output divergence has, and the sum of budgets: exact or rounded up."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, ClassVar

import pytest
from dpspec_divergences import DNor, Mult, MultDelta

from dpspec.base.errors import NoFormulaError, PluginContractError
from dpspec.base.exact import INFINITY, ZERO, Bracket, Number, number, sqrt
from dpspec.blocks.output_divergence import OutputDivergence, added, total
from dpspec.laws.law import FiniteLaw


class Bare(OutputDivergence):
    """A divergence that says nothing of itself."""

    name: ClassVar[str] = "bare"
    answer: Any = Bracket.exactly(1)

    def evaluate(self, pair: Any, *, precision: int = 64) -> Any:
        return self.answer


class Doubled(Bare):
    """Its constant is twice its budget, and it does not say how to come back."""

    name: ClassVar[str] = "doubled"

    def lipschitz(self, parameter: str, value: Number) -> Number:
        return value * 2


class Halved(Bare):
    """Its constant is half its budget."""

    name: ClassVar[str] = "halved"

    def lipschitz(self, parameter: str, value: Number) -> Number:
        return value / 2


def test_sums_are_exact_or_rounded_up() -> None:
    assert total([]) == ZERO
    assert total([number("1/3"), number("1/6")]) == number("1/2")
    assert total([number("1/3")] * 5 + [number(1)]) == number("8/3")
    one = number("1/7")
    assert total([one] * 7) == number(1)
    assert total([one, number(2), one]) == number("16/7")  # equal objects apart from each other count too
    rough = total([sqrt(2), sqrt(3), sqrt(5)]).as_fraction()
    assert rough > Fraction(math.sqrt(2)) + Fraction(math.sqrt(3)) + Fraction(math.sqrt(5)) - Fraction(1, 10**14)
    assert float(rough) == pytest.approx(math.sqrt(2) + math.sqrt(3) + math.sqrt(5), rel=1e-14)
    # above the truth: bounds of the roots by integers
    digits = 10**20
    below = Fraction(sum(math.isqrt(n * digits**2) for n in (2, 3, 5)), digits)
    assert rough >= below


def test_budgets_of_one_divergence_add_up_and_of_two_do_not() -> None:
    found = added(Mult(), [(Mult(), number(1)), (Mult(), number("1/2"))], "epsilons add", "somebody")
    assert found is not None
    assert (found.divergence, found.value, found.rule, found.citation) == (Mult(), number("3/2"), "epsilons add", "somebody")
    assert added(Mult(), [(Mult(), number(1)), (DNor(), number(1))], "", "") is None
    assert added(MultDelta(delta="1/10"), [(MultDelta(delta="1/5"), number(1))], "", "") is None


def test_what_evaluate_returns_is_checked() -> None:
    p, q = FiniteLaw.bernoulli("1/2"), FiniteLaw.bernoulli("1/3")
    assert Bare().between(p, q) == Bracket.exactly(1)
    for answer in (1, number(1), None, Bracket(lower=0, upper=1)):  # type: ignore[arg-type]  # no numbers
        bare = Bare()
        bare.answer = answer
        with pytest.raises(PluginContractError, match="bare"):
            bare.between(p, q)


def test_a_budget_for_a_constant_is_enough_or_infinite() -> None:
    assert Bare().budget_for("epsilon", number(3)) == number(3)
    assert Doubled().budget_for("epsilon", number(3)) == number(3)  # more than needed, and enough
    assert Halved().budget_for("epsilon", number(3)) == INFINITY
    assert DNor().budget_for("rho", sqrt(2)) == number(2)


def test_nothing_is_promised_by_default() -> None:
    bare, pair = Bare(), FiniteLaw.point(0).against(FiniteLaw.point(1))
    assert not any((bare.is_symmetric, bare.is_metric, bare.keeps_mixtures, bare.separates_laws()))
    assert bare.budget_parameters == ("epsilon",)
    one = number(1)
    unknown = [
        bare.score(pair), bare.event_bounds(one), bare.largest_loss(one), bare.composed([(bare, one)]), bare.worst_pairs(one),
        bare.bounded_by(Mult()), bare.bounds(Mult()),
    ]  # fmt: skip
    assert unknown == [None] * 7
    assert list(bare.extremal(one)) == []
    assert bare.bounded_by(bare) == (one, "the same output divergence")
    assert bare.in_words() == "bare"
    with pytest.raises(NoFormulaError):
        bare.largest_probability(one.enclose(), one.enclose())


class Louder(Mult):
    """Half of it, so that what was promised of the whole is no longer said."""

    name: ClassVar[str] = "louder"

    def evaluate(self, pair: Any, *, precision: int = 64) -> Bracket:
        return Bracket.exactly(0)


def test_promises_do_not_outlive_what_they_are_about() -> None:
    assert (Mult().is_metric, Mult().separates_laws()) == (True, True)
    assert (Louder().is_metric, Louder().is_symmetric, Louder().separates_laws()) == (False, False, False)
    assert Louder().event_bounds(number(1)) is None
    assert Louder().bounded_by(Mult()) is None
