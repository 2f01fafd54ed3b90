"""Chapter 4 of the thesis: a noisy mean and variance of bounded data."""

from __future__ import annotations

import math

import numpy as np
from dpspec_attackers.inference import quadrature
from dpspec_attackers.inference.model import Informative, NoisyMoments
from dpspec_attackers.inference.tgm import TruncatedGammaMixture

from dpspec.report.curves import Panel
from reproduce.layout import Page, Table, curve


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
                heading="Z-N4.a, Z-N4.b: posteriors by quadrature, on 0 to 100",
                columns=("prior", "E mu", "root of E sigma^2", "infeasible", "printed infeasible"),
                rows=tuple(rows),
                remark="The informative rows are those of the stated prior. The printed conditionals leave out a factor of it, "
                "and belong to no joint law (Z-X9).",
            ),
        ),
        panels=(
            Panel(
                title="Z-F4.6: density",
                axis="x",
                lines=(curve("TGM(2, 2, 1, 1)", mixture), curve("Gamma(2, 2)", gamma, dashed=True)),
            ),
            Panel(title="Z-F4.1, Z-F4.3: marginal density of mu, per unit", axis="mu on 0 to 100", lines=tuple(marginals)),
        ),
    )
