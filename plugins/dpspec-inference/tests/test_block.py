"""The block-knowledge attacker: printed tables of the thesis beside what follows from the formulas (chapter 2)."""

import math
from fractions import Fraction

import pytest
from dpspec_attackers.counts import expected_posterior, right_on_average, right_when_true
from dpspec_inference import block, block as uniqueness
from hypothesis import given, strategies as st

from dpspec.base.errors import CertainTargetError, ParameterError
from dpspec.laws.integers import DiscreteGaussianLaw, DiscreteGaussianShift
from dpspec.laws.law import FiniteLaw
from dpspec.laws.loss import PrivacyLoss

pytestmark = pytest.mark.slow

RHO = Fraction(256, 100) * Fraction(165, 4099) * Fraction(3945, 4097)
PRIORS = ("1/2", "1/5", "1/10", "1/50", "1/864")


def middle(bracket):
    """The middle of a bracket, whose width is checked too."""
    low, high = float(bracket.lower), float(bracket.upper)
    assert high - low <= 1e-6
    return (low + high) / 2


def plain(rho, prior, reach=80):
    """The masses, posteriors and sums of the attack by a loop over floats, as the definitions say."""
    rho, p = float(rho), float(Fraction(prior))
    weights = {x: math.exp(-rho * (x - 1) ** 2) for x in range(1 - reach, 2 + reach)}
    whole = sum(weights.values())
    found = {}
    for x, weight in weights.items():
        loss = min(max(-rho * (x - 1) ** 2 + rho * x**2, -700), 700)
        found[x] = (weight / whole, p / (p + (1 - p) * math.exp(-loss)))
    return found


@pytest.mark.reference("Z-O4", "Z-X1", "Z-D3")
def test_the_printed_masses_are_those_of_the_other_count():
    """Table 2.4 lists the law of the released value when the count is 0, and calls it the one for 1."""
    assert [middle(block.mass(x, RHO)) for x in range(1, 6)] == pytest.approx(
        [0.17772, 0.16093, 0.11950, 0.07276, 0.03633], abs=1e-5
    )
    printed = [0.161, 0.119, 0.073, 0.036, 0.015]
    assert [middle(block.mass(x + 1, RHO)) for x in range(1, 6)] == pytest.approx(printed, abs=6e-4)
    assert abs(middle(block.mass(1, RHO)) - printed[0]) > 0.016


@pytest.mark.reference("Z-O5", "Z-D15", "Z-F2.1")
def test_posteriors_for_a_prior_of_one_half():
    expected = [0.52479, 0.57388, 0.62155, 0.66699, 0.70952]
    assert [middle(block.posterior(x, RHO, "1/2")) for x in range(1, 6)] == pytest.approx(expected, abs=1e-5)
    curve = [0.2513, 0.2905, 0.3330, 0.3785, 0.4261, 0.4752, 0.5248, 0.5739, 0.6215, 0.6670, 0.7095, 0.7487, 0.7841]
    assert [middle(block.posterior(x, RHO, "1/2")) for x in range(-5, 8)] == pytest.approx(curve, abs=6e-5)


@pytest.mark.reference("Z-O6", "Z-N2.4")
def test_posteriors_at_four():
    found = [middle(block.posterior(4, RHO, p)) for p in ("1/5", "1/10", "1/50")]
    assert found == pytest.approx([0.33365, 0.18203, 0.03927], abs=1e-5)


@pytest.mark.reference("Z-O7", "Z-D16")
def test_realised_risks_at_five():
    found = [middle(block.realised_risk(5, RHO, p)) for p in PRIORS]
    assert found == pytest.approx([1.4190, 1.8956, 2.1346, 2.3740, 2.4385], abs=1e-4)


@pytest.mark.reference("Z-N2.4", "Z-A1")
def test_the_table_of_a_policy_maker_row_by_row():
    rows = """
        .525 .216 .109 .022 | 1.05 1.08 1.09 1.10 1.10
        .574 .252 .130 .027 | 1.15 1.26 1.30 1.34 1.35
        .622 .291 .154 .032 | 1.24 1.46 1.54 1.62 1.64
        .667 .334 .182 .039 | 1.33 1.67 1.82 1.96 2.00
        .710 .379 .213 .047 | 1.42 1.90 2.13 2.37 2.44"""
    for row, line in zip(block.table(RHO, PRIORS, range(1, 6)), rows.strip().split("\n"), strict=True):
        beliefs, risks = ([float(text) for text in half.split()] for half in line.split("|"))
        assert [middle(b) for b in row.posteriors[:4]] == pytest.approx(beliefs, abs=5.1e-4)
        assert [middle(b) for b in row.risks] == pytest.approx(risks, abs=5.1e-3)


@pytest.mark.reference("Z-O8", "Z-O9", "Z-N2.5", "Z-D17", "Z-X2", "Z-S5")
def test_marginal_posteriors_and_risks():
    """The text says that the risks end at 1.21; the table and the sum say 1.22."""
    posteriors = [middle(block.marginal_posterior(RHO, p)) for p in PRIORS]
    assert posteriors == pytest.approx([0.523666, 0.225423, 0.116761, 0.024159, 0.001411], abs=1e-6)
    risks = [middle(block.marginal_risk(RHO, p)) for p in PRIORS]
    assert risks == pytest.approx([1.04733, 1.12712, 1.16761, 1.20797, 1.21883], abs=1e-5)
    assert round(risks[-1], 2) == 1.22


CURVE = """
0.01 1.0050 1.0128 1.0163 1.0194 1.0202
0.1 1.0477 1.1281 1.1690 1.2097 1.2207
0.25 1.1119 1.3178 1.4437 1.5965 1.6455
0.5 1.2041 1.6191 1.9349 2.4550 2.6986
1 1.3535 2.1453 2.9219 4.9689 7.0293
2 1.6239 3.0973 4.6060 9.9274 35.302
5 1.9736 4.8373 9.3694 37.422 130.84
10 1.9998 4.9989 9.9955 49.887 831.39
"""


@pytest.mark.reference("Z-F2.2", "Z-O13")
@pytest.mark.parametrize("line", CURVE.strip().split("\n"))
def test_marginal_risk_against_rho(line):
    rho, *risks = line.split()
    for prior, risk in zip(PRIORS, risks, strict=True):
        assert float(block.marginal_risk(rho, prior).lower) == pytest.approx(float(risk), rel=5e-5)


@pytest.mark.reference("Z-O13")
def test_the_limits_of_the_risk():
    assert middle(block.marginal_risk("1/10000", "1/2")) == pytest.approx(1, abs=1e-4)
    assert middle(block.marginal_risk(10, "1/2")) == pytest.approx(1.9998, abs=1e-4)


@pytest.mark.reference("Z-O101", "Z-X20", "Z-S8")
def test_the_risk_is_not_monotone_in_rho_for_a_tiny_prior():
    found = [float(block.marginal_risk(rho, "1/864").lower) for rho in ("2", "2.8", "3.2088")]
    assert found == pytest.approx([35.3019, 53.6464, 52.8498], abs=1e-3)
    assert block.marginal_risk("3.2088", "1/864").upper < block.marginal_risk("2.8", "1/864").lower


@pytest.mark.reference("Z-O10", "Z-D18")
def test_success_probabilities():
    assert middle(block.success_probability(RHO, "1/2")) == pytest.approx(0.588860, abs=1e-6)
    assert middle(block.success_probability(RHO, "1/5")) == pytest.approx(0.00175219, abs=1e-8)
    assert middle(block.success_probability(RHO, "1/10")) == pytest.approx(1.20568e-6, abs=1e-10)


@pytest.mark.reference("Z-O11", "Z-F2.3", "Z-S8")
def test_success_against_rho():
    found = [middle(block.success_probability(rho, "1/5")) for rho in ("0.25", "0.5", "0.6", "1", "2")]
    assert found == pytest.approx([0.0355, 0.300529, 0.281490, 0.2179, 0.8933], abs=1e-4)
    assert found[2] < found[1]
    halves = [middle(block.success_probability(rho, "1/2")) for rho in ("0.05", "0.1", "0.25", "0.5", "1", "2", "5")]
    assert halves == pytest.approx([0.5631, 0.5892, 0.6410, 0.6995, 0.7821, 0.8933, 0.9934], abs=6e-5)


@pytest.mark.reference("Z-O12", "Z-D18")
def test_thresholds():
    assert [block.threshold(RHO, p) for p in PRIORS] == [1, 8, 12, 21, 35]
    assert [block.threshold(rho, "1/5") for rho in ("0.5", "0.6")] == [2, 2]


@pytest.mark.reference("Z-O14", "Z-F2.8", "Z-S3", "Z-D3")
def test_the_variance_is_not_the_scale():
    def variance(scale):
        weights = {k: math.exp(-(k**2) / (2 * scale)) for k in range(-40, 41)}
        return sum(k * k * w for k, w in weights.items()) / sum(weights.values())

    assert [variance(0.5), variance(1.0)] == pytest.approx([0.498979131, 0.999999788768], abs=1e-9)
    assert [variance(s) for s in (0.05, 0.1, 0.2, 0.3, 0.75)] == pytest.approx(
        [9.08e-5, 0.013297, 0.141320, 0.281054, 0.749983], abs=1e-6
    )
    law = DiscreteGaussianLaw(0, "1/2")
    assert sum(k * k * float(law.mass(k).mid()) for k in range(-20, 21)) == pytest.approx(0.498979131, abs=1e-9)


@pytest.mark.reference("Z-O15", "Z-T2", "Z-D20", "Z-F2.9")
@pytest.mark.parametrize(
    ("rho", "times", "expected"), [(float(RHO), 27, 0), (float(RHO), 5, 0), (1, 5, 0.0010805), (1, 27, 0.0005656), (2, 5, 0.058)]
)
def test_a_sum_of_noise_is_nearly_one_noise(rho, times, expected):
    import numpy as np

    reach = math.ceil(12 / math.sqrt(2 * rho)) + 3
    one = np.exp(-rho * np.arange(-reach, reach + 1) ** 2.0)
    one /= one.sum()
    summed = np.ones(1)
    for _ in range(times):
        summed = np.convolve(summed, one)
    points = np.arange(len(summed)) - len(summed) // 2
    approximate = np.exp(-rho / times * points**2.0)
    approximate /= approximate.sum()
    distance = np.abs(summed - approximate).sum() / 2
    assert distance == pytest.approx(expected, abs=1e-12 if not expected else 1e-6 if rho == 1 else 1e-3)


@pytest.mark.reference("Z-O16", "Z-P2", "Z-D2")
@pytest.mark.parametrize(("rho", "order", "expected"), [(RHO, 2, 0.1984527), (2, Fraction(3, 2), 2.942461), (2, 5, 10)])
def test_renyi_divergences_of_one_count(rho, order, expected):
    assert float(DiscreteGaussianShift(1, 1 / (2 * Fraction(rho))).renyi(order).upper) == pytest.approx(expected, abs=1e-6)


@pytest.mark.reference("Z-P2")
@given(st.fractions("1/50", 3, max_denominator=50), st.integers(1, 4), st.fractions("11/10", 12, max_denominator=10))
def test_renyi_divergence_of_a_shift_is_at_most_rho_alpha_squared_distance(rho, distance, order):
    assert DiscreteGaussianShift(distance, 1 / (2 * rho)).renyi(order).upper <= rho * order * distance**2


@pytest.mark.reference("Z-O28", "Z-D24", "Z-A4", "Z-F2.7")
def test_uniqueness_at_one_to_six_levels():
    parts = ((165, 3945, 4097), (1256, 1288, 4099), (687, 241, 2051), (447, 754, 4097), (1440, 230, 4097), (104, 189, 241))
    rhos = [Fraction(256, 100) * Fraction(share, 4099) * Fraction(top, below) for share, top, below in parts]
    curves = {
        "1/2": (1.0473, 1.1491, 1.1677, 1.1860, 1.2034, 1.2203),
        "1/50": (1.2080, 1.8927, 2.0648, 2.2518, 2.4470, 2.6552),
        "1/864": (1.2188, 1.9897, 2.1986, 2.4335, 2.6880, 2.9709),
    }
    for prior, risks in curves.items():
        found = [
            uniqueness.uniqueness_marginal_posterior(rhos[: count + 1], prior).scaled(1 / Fraction(prior)) for count in range(6)
        ]
        assert [float(b.lower) for b in found] == pytest.approx(risks, abs=6e-5)
    found = [middle(uniqueness.uniqueness_marginal_posterior(rhos[: count + 1], "1/2")) for count in range(6)]
    assert found == pytest.approx([0.52367, 0.57455, 0.58385, 0.59300, 0.60169, 0.61017], abs=1e-5)


@pytest.mark.reference("Z-D24")
def test_two_levels_on_a_grid_agree_with_a_double_loop():
    first, second, p = Fraction(1, 10), Fraction(7, 10), "1/5"
    one, two = plain(first, "1/2", 40), plain(second, "1/2", 20)
    found = sum(
        a * b / (1 + 4 * math.exp(-float(first) * (2 * x - 1) - float(second) * (2 * y - 1)))
        for x, (a, _) in one.items()
        for y, (b, _) in two.items()
    )
    bracket = uniqueness.uniqueness_marginal_posterior((first, second), p)
    assert float(bracket.lower) - 1e-12 <= found <= float(bracket.upper) + 1e-12
    assert middle(bracket) == pytest.approx(found, abs=1e-7)


@pytest.mark.reference("Z-O29", "Z-T44", "Z-D25", "Z-A5", "Z-S11")
def test_risks_of_releases_in_turn_multiply():
    first, second = block.conditional_risks([(2, RHO), (3, RHO)], "1/2")
    assert [middle(first), middle(second)] == pytest.approx([1.1477501, 1.1999982], abs=1e-7)
    assert middle(first) * middle(second) == pytest.approx(1.3772980, abs=1e-7)
    assert 2 * middle(uniqueness.posterior_at_levels((2, 3), (RHO, RHO), "1/2")) == pytest.approx(1.3772980, abs=1e-7)


@pytest.mark.reference("Z-P4", "Z-T44")
@given(
    st.lists(st.tuples(st.integers(-3, 4), st.fractions("1/20", 2, max_denominator=20)), min_size=1, max_size=4),
    st.fractions("1/20", "19/20", max_denominator=20),
)
def test_the_product_of_conditional_risks_is_the_joint_risk_in_any_order(releases, prior):
    joint = uniqueness.posterior_at_levels([x for x, _ in releases], [rho for _, rho in releases], prior).scaled(1 / prior)
    for order in (releases, releases[::-1]):
        product = math.prod(middle(risk) for risk in block.conditional_risks(order, prior))
        assert product == pytest.approx(middle(joint), rel=1e-9)


@pytest.mark.reference("Z-O98", "Z-T27", "Z-P1")
def test_the_loss_of_a_released_count_is_rho_times_two_x_minus_one():
    loss = PrivacyLoss(block.pair(RHO))
    for x in range(-3, 6):
        assert middle(loss.at_least(RHO * (2 * x - 2))) == pytest.approx(
            sum(mass for y, (mass, _) in plain(RHO, "1/2").items() if y >= x), abs=1e-12
        )
        assert middle(block.posterior(x, RHO, "1/2")) == pytest.approx(1 / (1 + math.exp(-float(RHO) * (2 * x - 1))), abs=1e-15)


@pytest.mark.reference("Z-D15", "Z-D17", "Z-D18", "Z-A1", "Z-P3", "Z-D22")
@given(st.fractions("1/50", 2, max_denominator=50), st.fractions("1/40", "39/40", max_denominator=40))
def test_every_quantity_agrees_with_the_definitions(rho, prior):
    cases = plain(rho, prior)
    assert middle(block.marginal_posterior(rho, prior)) == pytest.approx(sum(m * b for m, b in cases.values()), abs=1e-9)
    risk = block.marginal_risk(rho, prior)
    assert risk.lower >= 1 or float(risk.lower) == pytest.approx(1, abs=1e-12)
    assert risk.upper <= 1 / prior
    threshold = block.threshold(rho, prior)
    if -70 < threshold < 70:
        assert cases[threshold][1] > 0.5 - 1e-12
        assert cases[threshold - 1][1] <= 0.5 + 1e-12
        success = sum(mass for x, (mass, _) in cases.items() if x >= threshold)
        assert middle(block.success_probability(rho, prior)) == pytest.approx(success, abs=1e-9)
    assert block.realised_risk(1, rho, prior).lower > 1
    assert block.realised_risk(0, rho, prior).upper < 1


@pytest.mark.reference("Z-S4")
def test_no_overflow_at_large_budgets():
    assert float(block.posterior(-200, 10, "1/864").upper) < 1e-300
    assert block.posterior(200, 10, "1/864").upper <= 1
    assert float(block.marginal_risk(10, "1/864").lower) == pytest.approx(831.39, rel=1e-5)


@pytest.mark.reference("Z-D23")
def test_equivalent_attacks_are_named():
    assert sorted(block.EQUIVALENT) == ["attributes", "misreport", "response", "unknown-variable"]


weights = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=5).filter(
    lambda rows: any(a for a, _ in rows) and any(b for _, b in rows)
)


def worlds(rows):
    true, false = sum(a for a, _ in rows), sum(b for _, b in rows)
    return [(Fraction(a, true), Fraction(b, false)) for a, b in rows]


def laws(rows):
    return FiniteLaw.of({i: a for i, (a, _) in enumerate(rows)}).against(FiniteLaw.of({i: b for i, (_, b) in enumerate(rows)}))


def mean_posterior(rows, prior):
    return sum(a * prior * a / (prior * a + (1 - prior) * b) for a, b in rows if a)


@pytest.mark.reference("Z-T62", "Z-P5", "Z-P3")
@given(weights, st.fractions("1/20", "19/20", max_denominator=20), st.lists(st.integers(0, 2), min_size=5, max_size=5))
def test_the_mean_risk_is_at_least_1_and_no_postprocessing_raises_it(rows, prior, images):
    rows = worlds(rows)
    assert expected_posterior(laws(rows), prior).lower == mean_posterior(rows, prior)
    square = sum((prior * a) ** 2 / (prior * a + (1 - prior) * b) for a, b in rows if a or b)
    assert square / prior**2 == mean_posterior(rows, prior) / prior >= 1
    merged = [(sum(a for (a, _), i in zip(rows, images, strict=False) if i == k), sum(b for (_, b), i in zip(rows, images, strict=False) if i == k)) for k in range(3)]  # fmt: skip  # noqa: E501
    assert mean_posterior(merged, prior) <= mean_posterior(rows, prior)


@pytest.mark.reference("Z-D18")
@given(weights, st.fractions("1/20", "19/20", max_denominator=20))
def test_bets_on_the_likelier(rows, prior):
    rows = worlds(rows)
    right = sum(a for a, b in rows if prior * a > (1 - prior) * b)
    assert right_when_true(laws(rows), prior).lower == right
    average = sum(max(prior * a, (1 - prior) * b) for a, b in rows)
    assert right_on_average(laws(rows), prior).lower == average


@pytest.mark.parametrize(
    ("prior", "error"), [(0, CertainTargetError), (1, CertainTargetError), ("-1/2", ParameterError), ("3/2", ParameterError)]
)
def test_a_prior_must_leave_a_doubt(prior, error):
    with pytest.raises(error, match="prior"):
        block.posterior(1, RHO, prior)


@pytest.mark.parametrize("rho", [0, -1])
def test_a_budget_must_be_positive(rho):
    with pytest.raises(ParameterError, match="rho"):
        block.marginal_risk(rho, "1/2")


def test_levels_and_released_counts_go_together():
    with pytest.raises(ParameterError, match="one count for each of the 1 levels"):
        uniqueness.posterior_at_levels((1, 2), (1,), "1/2")
    with pytest.raises(ParameterError, match="at least one level"):
        uniqueness.uniqueness_marginal_posterior((), "1/2")
