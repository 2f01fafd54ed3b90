"""Chapter 5 of the thesis: what a budget says about membership."""

from __future__ import annotations

import math
from fractions import Fraction

from dpspec_attackers import membership as member

from dpspec.base.exact import Bracket, number
from dpspec.report.figures import CurvePanel
from reproduce.layout import Page, Table, curve, middle, shown


def page() -> Page:
    """Chapter 5 of the thesis: membership."""
    small, large = member.loss_of_approximate("1/10", "1e-7", "1/100"), member.loss_of_approximate("9/5", "1e-6", "1/20")
    week, month = (member.loss_of_zcdp(Fraction(k, 100), "1/100") for k in (7, 30))
    worst = Fraction(float(member.worst_priors(large)[0].lower))
    stops = [
        1 + member.max_queries(loss, "1/100", "zcdp", failure="1/100")
        for loss in (member.loss_of_posterior("99/100", "1/2"), member.loss_of_difference("98/100"))
    ]
    rows: list[tuple[str, str, str, str]] = [
        ("Example 6: posterior from 1/2, least", shown(member.lowest_posterior("1/2", small)), "48%", "47.5%"),
        ("Example 6: posterior from 1/2, largest", shown(member.highest_posterior("1/2", small)), "52%", "52.5%"),
        ("Example 6: largest change", shown(member.difference_bound(small)), "2%", "2.5%, rounded down"),
        ("Example 7: posterior after a week", shown(member.highest_posterior("1/2", week)), "83%", ""),
        ("Example 7: posterior after a month", shown(member.highest_posterior("1/2", month)), "96%", ""),
        ("Example 7: largest change after a week", shown(member.difference_bound(week)), "38%", ""),
        ("Example 7: largest change after a month", shown(member.difference_bound(month)), "67%", "16% to 84%"),
        ("Example 7: first day above 99%", str(stops[0]), "58", ""),
        ("Example 7: first day of a change above 98%", str(stops[1]), "202", ""),
    ]  # fmt: skip
    common = {"difference": "1/5", "releases": 12, "delta_each": "1e-8", "delta": "1e-6", "failure": "1/100"}
    for method, text, why in (
        ("basic", "0.068", ""),
        ("optimal-lattice", "0.135", "its delta is 9e-3"),
        ("optimal", "", ""),
    ):
        found = member.MembershipDifference(**common, method=method).recommend()  # type: ignore[arg-type]
        rows.append((f"Example 8: epsilon of each month, {method}", shown(found.value), text, why))
    for place, value, text in (
        ("posterior from 1/2", member.highest_posterior("1/2", large), "86%"),
        ("posterior from 1/10", member.highest_posterior("1/10", large), "40%"),
        ("worst prior", member.worst_priors(large)[0], "29%"),
        ("posterior from it", member.highest_posterior(worst, large), "71%"),
        ("largest change", member.difference_bound(large), "42%"),
    ):
        rows.append((f"Example 9: {place}", shown(value), text, ""))
    firsts = [("basic", "28"), ("advanced", "51"), ("advanced-dwork", "51"), ("optimal-lattice", "96"), ("optimal", "")]
    crossing = tuple((m, str(first_beyond(m, convert=False)), str(first_beyond(m, convert=True)), text) for m, text in firsts)
    return Page(
        name="thesis-chapter-5",
        title="What a budget says about membership (thesis, chapter 5)",
        tables=(
            Table(
                heading="Examples 6 to 9",
                columns=("what", "recomputed", "printed", ""),
                rows=tuple(rows),
            ),
            Table(
                heading="Figure 5.3: the first number of releases at 1/20 whose posterior can exceed 80%, delta = 1/1000",
                columns=("composition", "as it is", "converted by theorem 35", "printed"),
                rows=crossing,
                remark="51 is that of the tight reading, not converted.",
            ),
        ),
        panels=membership_charts(large),
    )


def first_beyond(method: str, *, convert: bool) -> int:
    delta = "0" if method == "basic" else "1/1000"
    for times in range(1, 400):
        spent = member.total(member.Releases(times=times, epsilon=number("1/20"), delta=Fraction(delta)), method)
        loss = member.loss_of_approximate(spent, delta, "1/20") if convert else spent
        if member.highest_posterior("1/2", loss).lower > Fraction(4, 5):
            return times
    raise ValueError(method)


def membership_charts(loss: Bracket) -> tuple[CurvePanel, ...]:
    fails = [Fraction(2 + k * k, 10**6) for k in range(0, 32)]
    curves = [(math.log10(f), middle(member.loss_of_approximate(1, "1e-6", f))) for f in fails]
    counts_of = (*range(1, 100, 4), 100)

    def spent(method: str) -> list[tuple[float, float]]:
        made = [member.Releases(times=k, epsilon=number("1/20"), delta=Fraction(1, 10**6)) for k in counts_of]
        return [(k, middle(member.total(r, method))) for k, r in zip(counts_of, made, strict=True)]

    days = [(k, member.loss_of_zcdp(Fraction(k, 100), "1/100")) for k in (1, *range(5, 205, 5))]
    priors = [Fraction(k, 50) for k in range(1, 50)]
    return (
        CurvePanel(title="Figure 5.1: loss but for a failure, epsilon 1", axis="log10 failure", lines=(curve("loss", curves),)),
        CurvePanel(
            title="Figure 5.2: epsilon of k releases at 1/20", axis="k", lines=tuple(curve(m, spent(m)) for m in member.METHODS)
        ),
        CurvePanel(
            title="Figures 5.4 and 5.5: daily releases of rho = 1/100",
            axis="days",
            lines=(
                curve("posterior from 1/2", [(k, middle(member.highest_posterior("1/2", e))) for k, e in days]),
                curve("largest change", [(k, middle(member.difference_bound(e))) for k, e in days]),
            ),
        ),
        CurvePanel(
            title="Figure 5.6: largest ratio either way",
            axis="prior",
            lines=(curve("ratio", [(float(p), middle(member.largest_ratio(p, loss))) for p in priors]),),
        ),
        CurvePanel(
            title="Figure 5.7: largest change",
            axis="prior",
            lines=(curve("change", [(float(p), middle(member.largest_change(p, loss))) for p in priors]),),
        ),
    )
