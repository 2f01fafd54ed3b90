"""Chapter 4 of the thesis: a noisy mean and variance of bounded data."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from dpspec_inference import gibbs, gibbs as likelihood, quadrature, regression as regression_gibbs
from dpspec_inference.moments import Bounds, Informative, NoisyMoments, RegressionSums, TruncatedGammaMixture
from dpspec_inference.regression import NoisyRegression

from dpspec.report.figures import CurveLine, CurvePanel
from reproduce.layout import Page, Table, curve

EXAMPLE_5 = RegressionSums(n=46, x=12.231293, xx=4.804202, y=16.022571, xy=5.735709, yy=7.963661)
LIKELIHOODS = {
    "Figure 4.10": NoisyMoments(mean=0.43, variance=0.28, n=50, epsilon_mean=0.25, epsilon_variance=0.25),
    "Figure 4.11": NoisyMoments.on(
        Bounds(low=0, high=25), mean=-1.3, variance=4.8**2, n=50, epsilon_mean=0.25, epsilon_variance=0.25
    ),
}
"""Example 5, Figure 4.5: the confidential sums; Figures 4.10 and 4.11: two releases on which the kinds of constraint differ."""


def scatter(name: str, x: Sequence[float], y: Sequence[float]) -> CurveLine:
    """Draws as dots."""
    return curve(name, list(zip(map(float, x), map(float, y), strict=True)), joined=False)


def by_constraint() -> tuple[CurvePanel, ...]:
    """Figures 4.10 and 4.11: the feasible mean and variance of the statistics, or every value in [0, 1]."""
    made = []
    edge = [(k / 40, k / 40 * (1 - k / 40)) for k in range(41)]
    for name, data in LIKELIHOODS.items():
        draws = {
            "statistics feasible": gibbs.sample(data, constrained=True, sweeps=1, warmup=300, chains=60),
            "values in [0, 1]": likelihood.sample_by_imputation(data, constrained=True, sweeps=1, warmup=300, chains=60),
        }
        lines = [scatter(kind, drawn.mu[0], drawn.s2[0]) for kind, drawn in draws.items()]
        made.append(CurvePanel(title=f"{name}: draws of sigma^2", axis="mu", lines=(*lines, curve("largest variance", edge))))
    return tuple(made)


def by_kind_of_constraint() -> Table:
    """The same two releases by quadrature, for feasible statistics."""
    rows = []
    for (name, data), told in zip(LIKELIHOODS.items(), ("spread over the feasible set", "mode near the boundary"), strict=True):
        grid = quadrature.constrained(data)
        low = grid.mass[grid.s2 < 0.05].sum()
        rows.append((name, f"{grid.mean:.3f}", f"{grid.variance:.3f}", f"{100 * low:.0f}%", told))
    return Table(
        heading="Figures 4.10 and 4.11: statistics kept feasible, on 0 to 1",
        columns=("figure", "E mu", "E sigma^2", "P(sigma^2 < 1/20)", "as printed"),
        rows=tuple(rows),
        remark="Where every value is kept in [0, 1] instead, sigma^2 is small for both (the charts). Of Figure 4.10 it is not "
        "legible whether the released variance is 0.28 or its square; the former is taken. Figure 4.7 is a drawing of which "
        "variable depends on which, the hours of computation are not repeated, and Example 5 is one release of data that the "
        "source does "
        "not have: Figure 4.5 shows draws of the exact sampler for a release without noise instead. The study of Figure 4.12 is "
        "a "
        "test of the long profile.",
    )


def of_regression() -> tuple[CurvePanel, ...]:
    """Figure 4.5, at a release that happens to equal the confidential sums."""
    sums, lines = [], []
    for constrained in (False, True):
        name = "constrained" if constrained else "unconstrained"
        drawn = regression_gibbs.sample(
            NoisyRegression(sums=EXAMPLE_5, epsilon=0.1), constrained=constrained, sweeps=1, warmup=600, chains=60
        )
        sums.append(scatter(name, drawn.sums[2, 0], drawn.sums[4, 0]))
        lines.append(scatter(name, drawn.theta[1, 0], drawn.theta[0, 0]))
    sums.append(scatter("confidential", [EXAMPLE_5.y], [EXAMPLE_5.yy]))
    lines.append(scatter("least squares", [0.9506515], [0.0955408]))
    return (
        CurvePanel(title="Figure 4.5: draws of Y'Y", axis="Y'1", lines=tuple(sums)),
        CurvePanel(title="Figure 4.5: draws of the intercept", axis="slope", lines=tuple(lines), bottom=-0.4),
    )


def page() -> Page:
    """Chapter 4 of the thesis, Example 4, by quadrature."""
    data = NoisyMoments(mean=0.343, variance=0.4716**2, n=43, epsilon_mean=0.25, epsilon_variance=0.25)
    lead = Informative(mean=0.125, variance=0.038**2)
    grids = {
        "uniform": quadrature.unconstrained(data),
        "uniform, constrained": quadrature.constrained(data),
        "informative": quadrature.unconstrained(data, lead, points=1000),
        "informative, constrained": quadrature.constrained(data, lead, points=128),
    }
    printed = {"uniform": "> 50%", "informative": "> 10%"}
    rows = [
        (name, f"{100 * g.mean:.2f}", f"{100 * math.sqrt(g.variance):.2f}", f"{100 * g.infeasible:.1f}%", printed.get(name, ""))
        for name, g in grids.items()
    ]
    law = TruncatedGammaMixture(shape=2, rate=2, noise=1, released=1)
    places = [i / 20 for i in range(1, 81)]
    mixture = [(x, float(law.density(x))) for x in places]
    gamma = [(x, 4 * x * math.exp(-2 * x)) for x in places]
    marginals = []
    for name, grid in grids.items():
        masses, edges = np.histogram(100 * grid.mu, bins=40, range=(-20, 100), weights=grid.mass)
        marginals.append(curve(name, [(float(a) + 1.5, float(m) / 3) for a, m in zip(edges, masses, strict=False)]))
    return Page(
        name="thesis-chapter-4",
        title="A noisy mean and variance of bounded data (thesis, chapter 4, Example 4)",
        tables=(
            Table(
                heading="Example 4: posteriors by quadrature, on 0 to 100",
                columns=("prior", "E mu", "root of E sigma^2", "infeasible", "printed infeasible"),
                rows=tuple(rows),
                remark="The informative rows are those of the stated prior. The printed conditionals leave out a factor of it, "
                "and belong to no joint law.",
            ),
            by_kind_of_constraint(),
        ),
        panels=(
            CurvePanel(
                title="Figure 4.6: density",
                axis="x",
                lines=(curve("TGM(2, 2, 1, 1)", mixture), curve("Gamma(2, 2)", gamma, dashed=True)),
            ),
            CurvePanel(
                title="Figures 4.1 and 4.3: marginal density of mu, per unit", axis="mu on 0 to 100", lines=tuple(marginals)
            ),
            *of_regression(),
            *by_constraint(),
        ),
    )
