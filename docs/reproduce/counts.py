"""Chapter 2 of the thesis: disclosure risk of block counts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import attrs
import numpy as np
from dpspec_inference import block, block as fitted, block as sums, hierarchy as chains
from dpspec_inference.hierarchy import BetMethod, BetRegion, Released, TwoLevels, known_to_be, success, up_to

from dpspec.report.figures import CurvePanel
from reproduce.layout import Page, Table, curve, middle, shown
from reproductions import block_risk

RHO, GROUP = block_risk.detailed_rho("block"), block_risk.detailed_rho("block-group")
ATTACK = TwoLevels(rho_block=RHO, rho_group=GROUP, others=27, prior="1/2")
SEEN = Released(block=2, group=1, others=-1)


def page() -> Page:
    """Chapter 2 of the thesis: block counts."""
    law = dict(chains.stationary(ATTACK, SEEN).larger)
    printed_law = ("11%", "40%", "30%", "14%", "4.6%", "0.7%")
    two_level = [("X1 = 1", ATTACK.posterior(SEEN), chains.stationary(ATTACK, SEEN).posterior, "57.0%")]
    two_level += [(f"X2 = {k}", ATTACK.larger_posterior(k, SEEN), law[k], text) for k, text in enumerate(printed_law)]
    region = BetRegion(group=(-3, 5), others=(-30, 30))
    exact, chain = (success(ATTACK, (1, 1), method=method, region=region) for method in BetMethod)
    cases = [
        ("success, x2 = 1", success(ATTACK, (1, 1)).right, success(ATTACK, (1, 1), method=BetMethod.NO_NESTING).right, "59.5%"),
        (
            "success, x2 = 10",
            success(ATTACK, (1, 10)).right,
            success(ATTACK, (1, 10), method=BetMethod.NO_NESTING).right,
            "59.05%",
        ),
        ("mass of the region", exact.mass, chain.mass, "over 99%"),
        ("corrected there", exact.corrected, chain.corrected, "2.48%"),
        ("spoiled there", exact.spoiled, chain.spoiled, "1.83%"),
    ]
    for words, larger, truth, text in (
        ("x2 = 1 known", known_to_be(1), (1, 1), "59%"),
        ("x2 = 25 believed, truth 1", known_to_be(25), (1, 1), "74%"),
        ("x2 = 25 believed, truth 0", known_to_be(25), (0, 0), "42%"),
        ("x2 at most 10", up_to(10), (1, 1), "59%"),
    ):
        attack = attrs.evolve(ATTACK, larger=larger)
        both = [success(attack, truth, method=method) for method in BetMethod]
        cases.append((f"success, {words}", both[0].right, both[1].right, text))
    return Page(
        name="thesis-chapter-2",
        title="Disclosure risk of block counts (thesis, chapter 2)",
        tables=(
            entries("Table 2.2: the budget of a cell of the most detailed histogram", block_risk.budgets()),
            entries(
                "Table 2.4: released values 1 to 5, the true count being 1",
                block_risk.released_counts(),
                "The printed probabilities are those for a true count of 0; everything else agrees.",
            ),
            entries("Table 2.5: averaged over the noise", block_risk.marginal_risks()),
            Table(
                heading="Tables 2.7 and 2.8: two levels, the release (2, 1, -1), d = 27, prior 1/2",
                columns=("what", "exact", "chain without k1 <= k2", "printed"),
                rows=tuple((a, f"{100 * middle(b):.2f}%", f"{100 * c:.2f}%", d) for a, b, c, d in two_level),
                remark="The printed tables are those of a chain that forgets X1 <= X2 when it draws X1; "
                "the stated model gives the exact column.",
            ),
            Table(
                heading="Section 2.4.3 and 2.9: how often the bet on the likelier count is right",
                columns=("what", "exact", "chain without k1 <= k2", "printed"),
                rows=tuple((a, f"{100 * b:.2f}%", f"{100 * c:.2f}%", d) for a, b, c, d in cases),
                remark="Ties are no bets: of 0.6% for x2 = 1 known, 0.5% and 0.6% for the two beliefs in 25.",
            ),
        ),
        panels=count_charts(),
    )


def entries(heading: str, found: Sequence[block_risk.RiskEntry], remark: str = "") -> Table:
    rows = tuple((e.place, shown(e.value, 5), e.printed, "" if e.agrees else "differs") for e in found)
    return Table(heading=heading, columns=("what", "recomputed", "printed", ""), rows=rows, remark=remark)


def count_charts() -> tuple[CurvePanel, ...]:
    rhos = np.geomspace(0.01, 10, 60)
    names = block_risk.PRIORS
    risks = [curve(f"prior {p}", [(math.log10(r), v) for r, v in zip(rhos, sums.risk_curve(rhos, float(Fraction(p))), strict=True)]) for p in names[:4]]  # fmt: skip  # noqa: E501
    bets = [curve(f"prior {p}", [(math.log10(r), v) for r, v in zip(rhos, sums.success_curve(rhos, float(Fraction(p))), strict=True)]) for p in names]  # fmt: skip  # noqa: E501
    posteriors = [curve(f"prior {p}", [(x, middle(block.posterior(x, RHO, p))) for x in range(-5, 8)]) for p in names]
    by_group = [
        curve(
            method.value,
            [(x2, success(ATTACK, (1, x2), method=method).right) for x2 in range(1, 11)],
            dashed=method is not BetMethod.EXACT,
        )
        for method in BetMethod
    ]
    unique = {e.place: middle(e.value) for e in block_risk.unique_at()}
    levels = [curve(f"prior {p}", [(count, unique[f"{count} levels, prior {p}"]) for count in range(1, 7)]) for p in names]
    totals = (1, 2, 5, 10, 20, 50, 75, 100)
    fits = [(math.log10(t), fitted.CountFit(rho=RHO, others=27, prior="1/2", total=t).marginal_risk()) for t in totals]
    flat = [("no fit", middle(block.marginal_risk(RHO, "1/2"))), ("sees both counts", middle(fitted.ceiling(RHO, 27, "1/2")))]
    return (
        CurvePanel(title="Figure 2.1: posterior", axis="released count", lines=tuple(posteriors)),
        CurvePanel(title="Figure 2.2: mean risk", axis="log10 rho", lines=tuple(risks)),
        CurvePanel(title="Figure 2.3: right bets", axis="log10 rho", lines=tuple(bets)),
        CurvePanel(title="Figure 2.5: right bets of the two-level attacker", axis="count of the group", lines=tuple(by_group)),
        CurvePanel(title="Figure 2.7: mean risk of a unique target", axis="levels", lines=tuple(levels)),
        CurvePanel(
            title="Figure 2.12: mean risk of a fitted count",
            axis="log10 of the published count of the group",
            lines=(curve("fitted", fits), *(curve(name, [(0, y), (2, y)], dashed=True) for name, y in flat)),
            bottom=1.03,
        ),
    )
