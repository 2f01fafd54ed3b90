"""Routes against the printed and recomputed numbers of the reference."""

from __future__ import annotations

import math
from decimal import Decimal, getcontext

import pytest
from dpspec_divergences import MultDelta
from dpspec_divergences.routes import (
    Amplification,
    ApproximateForProbabilistic,
    ApproximateToZcdp,
    DNorBudget,
    LaplaceUnionBound,
    PureToZcdpRoute,
    Ratio,
    ShuffleAmplification,
    Sum,
    ZcdpToApproximateBunSteinkeRoute,
    ZcdpToApproximateCksRoute,
    ZcdpToApproximateRoute,
    pure_spec,
    zcdp_spec,
)

from dpspec import installed
from dpspec.base.errors import BudgetParameterError, ParameterError
from dpspec.base.exact import ln, number, sqrt
from dpspec.blocks.budget import UniformBudget

SPEC = zcdp_spec(rho="2.63")


def rounds_to(bracket, printed):
    """Both ends of a bracket round to the printed number."""
    digits = len(printed.partition(".")[2])
    return {f"{float(end):.{digits}f}" for end in (bracket.lower, bracket.upper)} == {printed}


def by_decimals(rho, delta):
    getcontext().prec = 40
    return Decimal(rho) + 2 * (Decimal(rho) * -Decimal(delta).ln()).sqrt()


@pytest.mark.reference("B-O13")
@pytest.mark.reference("B-X5")
@pytest.mark.parametrize(("rho", "epsilon"), [
    ("0.07", "2.6091"), ("2.56", "17.9153"), ("7.70", "34.3307"), ("4.96", "26.3336"), ("15.29", "52.8168"),
])  # fmt: skip
def test_epsilon_of_the_allocation_table(rho, epsilon):
    assert rounds_to(ZcdpToApproximateRoute(rho=rho, delta="1e-10").value(SPEC), epsilon)


@pytest.mark.reference("B-O14")
@pytest.mark.parametrize(("rho", "epsilon"), [("2.63", "18.1938"), ("12.66", "46.8072"), ("19.776", "62.4543")])
def test_epsilon_of_the_sums(rho, epsilon):
    assert rounds_to(ZcdpToApproximateRoute(rho=rho, delta="1e-10").value(SPEC), epsilon)


@pytest.mark.parametrize(("rho", "delta"), [("0.3", "1e-5"), ("7", "0.01"), ("0.001", "1e-30")])
def test_the_bracket_holds_the_value_to_thirty_digits(rho, delta):
    value = ZcdpToApproximateRoute(rho=rho, delta=delta).value(SPEC)
    expected = number(str(by_decimals(rho, delta)))
    assert value.upper.as_fraction() - value.lower.as_fraction() < 10**-30
    assert abs(value.lower.as_fraction() - expected.as_fraction()) < 10**-30


@pytest.mark.reference("B-O15")
@pytest.mark.parametrize(("epsilon", "rho"), [
    ("2.70", "0.0748"), ("17.90", "2.5562"), ("34.33", "7.6997"), ("26.34", "4.9620"), ("52.83", "15.2959"),
])  # fmt: skip
def test_rho_behind_the_printed_epsilon(epsilon, rho):
    assert rounds_to(ApproximateToZcdp(epsilon=epsilon, delta="1e-10").value(SPEC), rho)


def test_the_two_conversions_are_inverse():
    rho = ApproximateToZcdp(epsilon="7/3", delta="1e-6").value(SPEC)
    back = [ZcdpToApproximateRoute(rho=end, delta="1e-6").value(SPEC) for end in (rho.lower, rho.upper)]
    assert back[0].lower <= number("7/3") <= back[1].upper
    assert abs(float(back[0].lower) - 7 / 3) < 1e-12


@pytest.mark.reference("B-O16")
@pytest.mark.reference("B-X1")
@pytest.mark.parametrize(("rho", "root"), [("2.63", "1.62173"), ("15.29", "3.91024"), ("19.776", "4.44702")])
def test_budgets_of_d_nor(rho, root):
    value = DNorBudget(rho=rho).value(SPEC)
    assert value.lower == sqrt(rho)
    assert rounds_to(value, root)


@pytest.mark.reference("B-O17")
@pytest.mark.parametrize(("numbers", "total"), [
    (("0.07", "2.56"), "2.63"), (("7.70", "4.96"), "12.66"), (("0.07", "2.56", "7.70", "4.96"), "15.29"),
])  # fmt: skip
def test_rho_adds(numbers, total):
    assert Sum(numbers=numbers).value(SPEC).lower == number(total)


@pytest.mark.reference("B-X5")
def test_epsilon_does_not_add():
    assert Sum(numbers=("2.70", "17.90", "34.33", "26.34")).value(SPEC).lower == number("81.27")


def test_a_sum_without_exact_form_is_bracketed():
    value = Sum(numbers=("sqrt(2)", "sqrt(3)", "ln(5)")).value(SPEC)
    assert not value.is_exact
    assert abs(float(value.lower) - (math.sqrt(2) + math.sqrt(3) + math.log(5))) < 1e-12


@pytest.mark.reference("B-O29")
@pytest.mark.reference("B-T21")
@pytest.mark.parametrize(("fraction", "epsilon", "amplified"), [
    ("0.1", "1", "0.158565"), ("0.01", "1", "0.017037"), ("1/2", "ln(3)", "0.693147"), ("0.1", "0.1", "0.010462"),
])  # fmt: skip
def test_amplification(fraction, epsilon, amplified):
    assert rounds_to(Amplification(fraction=fraction, epsilon=epsilon).value(SPEC), amplified)


@pytest.mark.reference("B-O29")
@pytest.mark.reference("B-O30")
def test_amplification_of_a_logarithm_is_exact():
    assert Amplification(fraction="1/2", epsilon="ln(3)").value(SPEC).lower == ln(2)
    assert Amplification(fraction=1, epsilon="2/3").value(SPEC).lower == number("2/3")
    assert Amplification(fraction=0, epsilon="2/3").value(SPEC).upper == 0


@pytest.mark.reference("B-O31")
@pytest.mark.reference("B-N7")
def test_the_union_bound_of_the_lecture():
    assert rounds_to(LaplaceUnionBound(count=10000, delta="0.05", epsilon=1).value(SPEC), "12.2061")


@pytest.mark.reference("B-O32")
@pytest.mark.reference("B-T18")
def test_the_union_bound_scales_with_sensitivity_over_epsilon():
    assert rounds_to(LaplaceUnionBound(count=5, delta="0.05", epsilon="1/2").value(SPEC), "9.210340")
    assert LaplaceUnionBound(count=5, delta="0.05", sensitivity=3, epsilon="1/2").value(SPEC).lower == ln(100) * 6
    assert rounds_to(LaplaceUnionBound(count=5, delta="0.05", epsilon="ln(2)").value(SPEC), "6.6439")


def test_pure_to_concentrated():
    assert PureToZcdpRoute(epsilon="3/5").value(SPEC).lower == number("9/50")
    assert rounds_to(PureToZcdpRoute(epsilon="ln(3)").value(SPEC), "0.603474")


@pytest.mark.reference("B-X7")
def test_ratio():
    assert Ratio(numerator="ln(16)", denominator=2).value(SPEC).lower == ln(4)
    assert rounds_to(Ratio(numerator="ln(16)", denominator="ln(3)").value(SPEC), "2.5237")
    with pytest.raises(ParameterError):
        Ratio(numerator=1, denominator=0)


def test_parameters_left_out_are_read_from_the_specification():
    assert rounds_to(ZcdpToApproximateRoute(delta="1e-10").value(SPEC), "18.1938")
    assert DNorBudget().value(SPEC).lower == sqrt("2.63")
    assert Amplification(fraction="1/2").value(pure_spec(epsilon="ln(3)")).lower == ln(2)
    assert LaplaceUnionBound(count=5, delta="0.05").value(pure_spec(epsilon="1/2")).lower == ln(100) * 2
    approximate = SPEC.replace(
        output_divergence=MultDelta(delta="1e-10"), budget=UniformBudget(parameter="epsilon", value="2.70")
    )
    assert rounds_to(ApproximateToZcdp().value(approximate), "0.0748")


def test_a_budget_of_another_kind_is_refused():
    with pytest.raises(BudgetParameterError, match="zcdp-to-approximate: needs rho, and the budget is epsilon"):
        ZcdpToApproximateRoute(delta="1e-10").value(pure_spec(epsilon=1))
    with pytest.raises(BudgetParameterError, match="needs a delta above 0"):
        ApproximateToZcdp().value(pure_spec(epsilon=1))


@pytest.mark.parametrize("faulty", [{"delta": 0}, {"delta": 2}, {"delta": "1e-10", "rho": -1}])
def test_parameters_outside_their_domain_are_refused(faulty):
    with pytest.raises(ParameterError):
        ZcdpToApproximateRoute(**faulty)


def shuffled_delta(epsilon_0, reports, others, epsilon):
    """The hockey stick between the numbers of ones in shuffled randomised responses, one true answer 0 or 1, `others` ones."""
    p = math.exp(epsilon_0) / (1 + math.exp(epsilon_0))

    def counts(chances):
        law = [1.0]
        for chance in chances:
            law = [
                (law[k] if k < len(law) else 0) * (1 - chance) + (law[k - 1] if k else 0) * chance for k in range(len(law) + 1)
            ]
        return law

    rest = [p] * others + [1 - p] * (reports - 1 - others)
    left, right = counts([p, *rest]), counts([1 - p, *rest])
    both = ((left, right), (right, left))
    return max(sum(max(a - math.exp(epsilon) * b, 0) for a, b in zip(one, other, strict=True)) for one, other in both)


@pytest.mark.parametrize(("epsilon", "reports", "delta"), [("1/2", 300, "1/1000"), ("1", 500, "1/100"), ("1/10", 200, "1/100")])
@pytest.mark.parametrize("others", [0, 100])
def test_shuffled_randomised_response_keeps_the_amplified_epsilon(epsilon, reports, delta, others):
    """The exact law of the count, against the bound: it must keep it, and without shuffling it would not be needed."""
    bound = ShuffleAmplification(reports=reports, delta=delta, epsilon=epsilon).value(SPEC)
    local = float(number(epsilon))
    assert shuffled_delta(local, reports, others, float(bound.upper)) <= float(number(delta))
    assert shuffled_delta(local, reports, others, 0) > 0


def test_shuffle_amplification_by_floats_and_its_hypothesis():
    e, n, d = 1.0, 10**6, 1e-6
    noise = 8 * math.sqrt(math.exp(e) * math.log(4 / d) / n) + 8 * math.exp(e) / n
    found = ShuffleAmplification(reports=n, delta="1e-6", epsilon=1).value(SPEC)
    assert float(found.lower) == pytest.approx(math.log(1 + (math.exp(e) - 1) / (math.exp(e) + 1) * noise), rel=1e-12)
    assert ShuffleAmplification(reports=1000, delta="1e-2", epsilon=0).value(SPEC).upper < number("1e-30")
    for epsilon, reports in ((1, 600), ("inf", 10**9), (12, 10**6)):  # ln(600/(16 ln(4e6))) = 0.90
        with pytest.raises(ParameterError, match="beyond which the theorem says nothing"):
            ShuffleAmplification(reports=reports, delta="1e-6", epsilon=epsilon).value(SPEC)


def test_everything_is_registered():
    registry = installed().registry
    routes = {cls.name for cls in registry.classes("routes")}
    assert {
        "d-nor-budget",
        "sum",
        "ratio",
        "amplification",
        "laplace-union-bound",
        "approximate-to-zcdp",
        "pure-to-zcdp",
    } <= routes
    assert {"zcdp-to-approximate", "zcdp-to-approximate-cks", "zcdp-to-approximate-bun-steinke"} <= routes
    assert {"replace-one", "add-remove", "differ-in-one-position"} <= set(registry.names("relations"))
    assert {"hamming", "hamming-ordered", "symmetric-difference", "neighbour", "path"} <= set(registry.names("input_divergences"))
    assert {"mult", "mult-delta", "d-nor", "renyi", "total-variation"} <= set(registry.names("output_divergences"))


# --- the improved formulas -----------------------------------------------------------------------


def by_search(rho, delta):
    """The improved formula by a fine search over the orders, in doubles."""
    orders = [1 + 10 ** (step / 20_000) for step in range(-20_000, 60_000)]
    return min(rho * a + math.log(1 - 1 / a) - math.log(delta * a) / (a - 1) for a in orders)


@pytest.mark.parametrize(("rho", "delta"), [("2.56", "1e-10"), ("0.07", "1e-10"), ("0.3", "1e-5"), ("30", "0.1")])
def test_the_best_order_is_found(rho, delta):
    found = ZcdpToApproximateCksRoute(rho=rho, delta=delta).value(SPEC)
    assert found.upper.as_fraction() - found.lower.as_fraction() < 1e-15
    assert float(found.upper) == pytest.approx(max(by_search(float(rho), float(delta)), 0), rel=1e-7)


@pytest.mark.parametrize(("rho", "delta"), [("2.56", "1e-10"), ("0.07", "1e-10"), ("0.3", "1e-5"), ("1/10", "1e-3")])
def test_the_integral_over_the_tail_gives_delta_back(rho, delta):
    found = ZcdpToApproximateBunSteinkeRoute(rho=rho, delta=delta).value(SPEC)
    size = float(number(rho))
    beyond = float(found.upper) - size
    slope = 1 + beyond / (2 * size)
    bound = math.exp(-(beyond**2) / (4 * size)) * 2 / (slope + math.sqrt(slope**2 + 4 / (math.pi * size)))
    assert bound == pytest.approx(float(delta), rel=1e-9)
    assert ZcdpToApproximateCksRoute(rho=rho, delta=delta).value(SPEC).upper < found.lower
    assert found.upper < ZcdpToApproximateRoute(rho=rho, delta=delta).value(SPEC).lower


@pytest.mark.reference("Z-N3.c")
@pytest.mark.reference("B-N2")
def test_17_14_and_26_34_come_from_two_formulas():
    """The best known formula for the persons of P.L. 94-171, the simple one for those of the DHC; both rho have two decimals."""
    tight = [ZcdpToApproximateCksRoute(rho=rho, delta="1e-10").value(SPEC) for rho in ("2.555", "2.565")]
    assert tight[0].lower < number("17.14") < tight[1].upper
    simple = [ZcdpToApproximateRoute(rho=rho, delta="1e-10").value(SPEC) for rho in ("4.955", "4.965")]
    assert simple[0].lower < number("26.34") < simple[1].upper
    for row, rho in ((ZcdpToApproximateRoute, ("2.555", "2.565")), (ZcdpToApproximateBunSteinkeRoute, ("2.555", "2.565"))):
        assert row(rho=rho[0], delta="1e-10").value(SPEC).lower > number("17.14")
    assert ZcdpToApproximateCksRoute(rho="4.965", delta="1e-10").value(SPEC).upper < number("26.34")


@pytest.mark.reference("Z-T35")
def test_a_probabilistic_target_and_back():
    from dpspec_divergences.from_entropy import ApproximateToProbabilistic
    from dpspec_divergences.losses import LossTail

    needed = ApproximateForProbabilistic(delta="1e-6", probability="1e-3", epsilon=2).value(SPEC)
    target = LossTail(delta="1e-3", sides="both")
    back = ApproximateToProbabilistic().convert(MultDelta(delta="1e-6"), needed.upper, target)
    assert float(back.upper) == pytest.approx(2, abs=1e-12)
    with pytest.raises(ParameterError, match="above delta"):
        ApproximateForProbabilistic(delta="0.1", probability="0.1")


def test_a_question_between_divergences_is_asked_where_there_is_one():
    asked = ZcdpToApproximateRoute(delta="1e-10").question(SPEC)
    assert (asked.value, asked.goal) == (number("2.63"), MultDelta(delta="1e-10"))
    assert ZcdpToApproximateRoute(delta=1).question(SPEC) is None
    assert Sum(numbers=(1,)).question(SPEC) is None
