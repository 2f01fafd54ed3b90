"""Chapter 3 of the thesis: from tolerated risk to epsilon."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from dpspec_attackers import profiles
from dpspec_attackers.profiles import Constant, FixedP, FixedQ, OneMissing, RiskProfile, TwoDimensional

from dpspec.report.figures import CurveLine, CurvePanel
from reproduce.layout import Page, Table, curve, middle, shown


def page() -> Page:
    """Chapter 3 of the thesis: from risk profiles to epsilon."""
    first = [("3/2", "0.51, 2.74, 25%"), ("3", "1.30, 1.02, 57%"), ("6", "2.04, 0.59, 77%")]
    one = [(f"ratio {r}, posterior 1/4, q = 1", FixedQ(posterior="1/4", ratio=r, q=1), text) for r, text in first]
    one += [(f"ratio {r}, constant", Constant(ratio=r), t) for r, t in (("3/2", "0.20"), ("3", "0.55"), ("6", "0.90"))]
    second = [
        ("1/40", "1/20", "1.09, 1.24, 50%"), ("3/20", "1/20", "1.21, 1.10, 54%"), ("3/10", "1/20", "2.10, 0.56, 78%"),
        ("1/40", "1/200", "1.63"), ("1/40", "1/2000", "3.94"),
    ]  # fmt: skip
    two = [(f"ratio 3, posterior {a}, p = {p}", FixedP(posterior=a, ratio=3, p=p), text) for a, p, text in second]
    other = [
        ("two-dimensional, ratio 3, posterior 1/4", TwoDimensional(posterior="1/4", ratio=3), "0.65 at (1, 0.083)"),
        ("one missing of 4, posterior 1/3", OneMissing(size=4, posterior="1/3"), "0.41"),
    ]
    grid = [(r, a) for r in ("6/5", "2", "5") for a in ("0", "1/10", "1/4", "1/2")]
    bars = profiles.utility_table({f"{r}, {a}": FixedQ(posterior=a, ratio=r, q=1) for r, a in grid})
    rows = tuple(
        (row.label, shown(row.epsilon), shown(row.standard_deviation), *(f"{middle(flip):.5f}" for _, flip in row.flips))
        for row in bars
    )
    return Page(
        name="thesis-chapter-3",
        title="From tolerated risk to epsilon (thesis, chapter 3)",
        tables=(
            recommended("Table 3.1, Example 1: inclusion is the secret", one),
            recommended("Table 3.5, Example 2: a sample of known rate", two, "The printed formula cancels at posterior 3/20."),
            recommended(
                "Sections 3.4 and 3.11.1: two profiles",
                other,
                "On a grid of 1/1000 the first is 0.6506 at (1, 0.084), which is too large.",
            ),
            Table(
                heading="Figure 3.2, Example 3: chance of crossing a threshold 1, 2, 4 or 8 counts away, inclusion is the secret",
                columns=("ratio, posterior", "epsilon", "RMSE", "1", "2", "4", "8"),
                rows=rows,
                remark="The chosen profile (5, 1/2) is printed with epsilon 2.20, RMSE 0.53 and a chance below 10%: it is "
                "10% exactly. At posterior 0 the printed bars are the limit ln(ratio) on the line q = 1.",
            ),
        ),
        panels=tolerated_charts(),
    )


def recommended(heading: str, cases: Sequence[tuple[str, RiskProfile, str]], remark: str = "") -> Table:
    """Epsilon, standard deviation and P(exact) of risk profiles beside the printed ones."""
    rows = []
    for label, profile, printed in cases:
        epsilon = profile.recommend().value
        found = (shown(epsilon, 5), shown(profiles.standard_deviation(epsilon)), shown(profiles.exact_probability(epsilon)))
        rows.append((label, *found, printed))
    columns = ("profile", "epsilon", "s.d. of the noise", "P(exact)", "printed")
    return Table(heading=heading, columns=columns, rows=tuple(rows), remark=remark)


def tolerated_charts() -> tuple[CurvePanel, ...]:
    def along(name: str, profile: RiskProfile, axis: str, values: Sequence[Fraction]) -> CurveLine:
        fixed = Fraction(1) if axis == "p" else profile.where().p_low
        points = profiles.curve(profile, [(x, fixed) if axis == "p" else (fixed, x) for x in values])
        kept = [(float(x), middle(e)) for x, (_, _, e) in zip(values, points, strict=True) if not e.upper.is_infinite]
        return curve(name, [(x, y) for x, y in kept if y <= 4])

    fine = [Fraction(k, 100) for k in range(1, 101)]
    wide = TwoDimensional(posterior="1/4", ratio=3)
    rows = [(f"q = {q}", [(p, wide.epsilon_at(p, Fraction(q))) for p in fine]) for q in ("1/100", "1/12", "1/4", "1")]
    return (
        CurvePanel(
            title="Figures 3.1 and 3.3: epsilon asked for by an attacker with prior p, q = 1",
            axis="p",
            lines=(
                along("posterior 1/10, ratio 3", FixedQ(posterior="1/10", ratio=3, q=1), "p", fine),
                *(along(f"posterior 1/4, ratio {r}", FixedQ(posterior="1/4", ratio=r, q=1), "p", fine) for r in ("3/2", 3, 6)),
            ),
        ),
        CurvePanel(
            title="Figures 3.1 and 3.4: epsilon asked for by an attacker with prior q, p = 1/20",
            axis="q",
            lines=tuple(
                along(f"posterior {a}, ratio 3", FixedP(posterior=a, ratio=3, p="1/20"), "q", fine)
                for a in ("1/40", "1/10", "3/20", "3/10")
            ),
        ),
        CurvePanel(
            title="Figure 3.5: epsilon of the two-dimensional profile",
            axis="p",
            lines=tuple(
                curve(name, [(float(p), middle(e)) for p, e in line if not e.upper.is_infinite and e.upper <= 4])
                for name, line in rows
            ),
        ),
    )
