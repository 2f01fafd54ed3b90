"""Frequentist and Bayesian semantics of a budget: the tables of sections 4 to 7, and Figures 1 to 5."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from dpspec_attackers.semantics import exponential, posterior
from dpspec_divergences import Mult
from dpspec_divergences.losses import pbdp_delta

from dpspec.base.exact import Bracket, number
from dpspec.laws.dichotomy import Dichotomy
from dpspec.laws.law import FiniteLaw
from dpspec.laws.loss import PrivacyLoss
from dpspec.risks.attack_bounds import allowed_power
from reproduce import semantic_curves
from reproduce.layout import Page, Table, beside, middle, shown
from reproduce.semantic_curves import LEVELS, RHO, discrete_power
from reproductions import scenarios as scenario_curves

E = Fraction("2.71828182845904523536028747135")
TRUE, FALSE = (FiniteLaw.of({1: x / (1 + E), 0: 1 - x / (1 + E)}) for x in (E, Fraction(1)))
"""Randomised response at epsilon = 1, to 30 digits."""

TABLE_1 = """
0.01 0.011 0.016 0.027 0.074 0.550
0.05 0.055 0.820 0.136 0.370 0.983
0.10 0.111 0.165 0.272 0.739 0.984
"""
TABLE_2 = {"0.01": ("0.49", "0.49", "0.70"), "0.05": ("0.74", "0.74", "0.95"), "0.10": ("0.84", "0.84", "0.96")}

Row = tuple[str, Bracket | float, str]


def page() -> Page:
    """Sections 4 to 7."""
    return Page(
        name="semantics",
        title="What a budget means to a tester and to a Bayesian",
        tables=(table_1(), table_2(), caption(), tails(), coin(), wrong_prior(), *semantic_curves.tables()),
        panels=semantic_curves.charts(),
    )


def listed(heading: str, rows: Sequence[Row], remark: str, last: str = "printed") -> Table:
    """What, the recomputed number, and what is said of it."""
    texts = tuple((what, shown(value, 6), said) for what, value, said in rows)
    return Table(heading=heading, columns=("what", "recomputed", last), rows=texts, remark=remark)


def table_1() -> Table:
    """The largest power at a level under pure privacy."""
    epsilons = ("0.1", "0.5", "1", "2", "4")
    return semantic_curves.compared(
        "Table 1: the largest power under pure privacy, the printed one in brackets",
        ("level", *(f"epsilon {epsilon}" for epsilon in epsilons)),
        lambda level: [allowed_power(Mult(), number(epsilon), level) for epsilon in epsilons],
        TABLE_1,
        "0.820 is a misprint of 0.082; why 0.370 and 0.550 were printed is not known.",
    )


def table_2() -> Table:
    """Production settings."""
    rows = []
    for level, printed in TABLE_2.items():
        found = scenario_curves.power(RHO, level), discrete_power(level), scenario_curves.power_bound(RHO, level)
        rows.append((level, *(beside(x, text) for x, text in zip(found, printed, strict=True))))
    return Table(
        heading="Table 2: power at rho = 2.63, the printed one in brackets",
        columns=("level", "Gaussian", "discrete noise", "zCDP bound"),
        rows=tuple(rows),
        remark="The source samples the discrete noise; here it is the middle of a bracket of width 0.0002 at most.",
    )


def caption() -> Table:
    """The caption of Figure 1."""
    rows = [(a, shown(scenario_curves.power("1.315", a)), shown(scenario_curves.power(RHO, a)), TABLE_2[a][0]) for a in LEVELS]
    return Table(
        heading="Figure 1, the caption: variance 1/2.63, the count changing by 1",
        columns=("level", "power, variance 1/2.63", "power, variance 1/5.26", "printed in Table 2"),
        rows=tuple(rows),
        remark="The variance of the caption would be rho = 1.315; rho = 2.63 at a change of 1 asks for 1/5.26.",
    )


def tails() -> Table:
    """Two copies of randomised response."""
    two = FiniteLaw.product([TRUE, TRUE]).against(FiniteLaw.product([FALSE, FALSE]))
    one, nothing = TRUE.against(FALSE), FiniteLaw.point(0).against(FiniteLaw.point(0))
    loss, half = PrivacyLoss(two), "1/2"
    rows: list[Row] = [
        ("P(L = 2)", loss.above("1.9"), "0.534447"),
        ("P(L = 0)", middle(loss.above("-1/2")) - middle(loss.above("1/2")), "0.393224"),
        ("P(L = -2)", loss.cdf("-1.9"), "0.0723295"),
        ("P(L > 1/2), nothing kept", PrivacyLoss(nothing).above(half), "0"),
        ("P(L > 1/2), both copies", loss.above(half), "0.534447"),
        ("P(L > 1/2), the first copy kept", PrivacyLoss(one).above(half), "0.731059"),
        ("pbdp delta at 1/2, both copies", pbdp_delta(two, half), "0.941988"),
        ("pbdp delta at 1/2, the first copy kept", pbdp_delta(one, half), "0.813676"),
    ]
    remark = "The tail grows when a copy is dropped, pbdp does not (Example 4.9). The source prints the formulas."
    return listed("Example 4.9: two copies of randomised response, epsilon 1", rows, remark, "reference")


def coin() -> Table:
    """Mixing two mechanisms breaks pbdp at one delta."""
    first = FiniteLaw.of({2: E / (1 + E), -2: 1 / (1 + E)}), FiniteLaw.of({-2: E / (1 + E), 2: 1 / (1 + E)})
    second = FiniteLaw.point(0), FiniteLaw.of({1: "0.01", 0: "0.99"})
    mixed = tuple(FiniteLaw.mixture(["1/2", "1/2"], pair) for pair in zip(first, second, strict=True))
    seen = [float(law.probability(1) + law.probability(-2) / 20) for law in mixed]
    pairs: list[tuple[str, Dichotomy, str]] = [
        (name, laws[0].against(laws[1]), text)
        for name, laws, text in (("M1", first, "at most 0.02"), ("M2", second, "at most 0.02"), ("the coin", mixed, "above 0.02"))
    ]
    e = middle(exponential(number("-1.01")))
    rows: list[Row] = [
        ("P(A = 1), first dataset", seen[0], "below 0.0068"),
        ("e^-1.01 0.02", 0.02 * e, "above that"),
        ("P(A = 1), second dataset", seen[1], "above 0.023"),
        ("0.99 e^-1.01 0.02 + 0.01", 0.99 * 0.02 * e + 0.01, "at most 0.02"),
        *((f"least pbdp delta of {name} at 1.01", pbdp_delta(pair, "1.01"), text) for name, pair, text in pairs),
    ]
    remark = "Everything printed holds. The coin's least delta is more than twenty times that of either mechanism (Example 5.6)."
    return listed("Example 5.6: a fair coin between two mechanisms with (1.01, 0.02)-pbdp", rows, remark)


def wrong_prior() -> Table:
    """A perceived breach."""
    doubt = posterior(exponential(number("-100.8")), Fraction(99, 100))
    rows: list[Row] = [
        ("1 - posterior", doubt, "posterior about 1"),
        ("counterfactual posterior", 0.01, "0.01"),
        ("ratio", (1 - middle(doubt)) / 0.01, "about 100"),
    ]
    remark = "The odds 1/99 are multiplied by e^(101.3 - 1/2). The prior is wrong, and only pure privacy bounds the ratio."
    return listed("Example 7.1: a wrong prior, and a count of 101.3 with unit Gaussian noise", rows, remark)
