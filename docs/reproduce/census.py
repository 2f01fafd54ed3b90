"""Section 8 of the frequentist and Bayesian source: scenarios of the 2020 Census."""

from __future__ import annotations

from fractions import Fraction

import attrs
from dpspec_census.configuration_2020 import SCENARIOS

from dpspec.report.figures import CurvePanel
from reproduce.layout import Page, Table, bound, curve, falling, middle, shown
from reproductions import scenarios, scenarios as scenario_curves


def page() -> Page:
    """Section 8 of the frequentist source: scenarios."""
    levels = ("0.01", "0.05", "0.10")
    printed = {
        "A": "0.03 / 0.12 / 0.21", "B": "0.17 / 0.39 / 0.53", "C": "0.17 / 0.40 / 0.54", "D": "0.17 / 0.39 / 0.54",
        "E": "0.24 / 0.49 / 0.63", "F": "0.10 / 0.28 / 0.41", "G": "as C", "H": "as C",
    }  # fmt: skip
    rows = [
        (
            line.name, line.kept, shown(float(line.rho), 6), str(float(line.printed_rho)), "" if line.recomputes else "differs",
            " / ".join(shown(value, 3) for value in line.at_rho), " / ".join(shown(value, 3) for value in line.at_printed),
            printed[line.name],
        )
        for line in scenarios.compared(levels=levels)
    ]  # fmt: skip
    table6 = [
        (a, shown(scenario_curves.power("0.1115", a)), shown(scenarios.exact_power(scenarios.CASES["A"], a)),
         shown(scenario_curves.power_bound("0.1115", a)), text)
        for a, text in zip(levels, ("0.03, 0.03, 0.04", "0.12, 0.12, 0.14", "0.21, 0.21, 0.24"), strict=True)
    ]  # fmt: skip
    deltas = [Fraction(i, 40) for i in range(1, 40)]
    tests = [Fraction(i, 40) for i in range(1, 40)]
    chosen = {letter: SCENARIOS[letter].printed for letter in "ABEF"}
    powers = [
        curve(f"{k}, rho {float(r)}", [(float(a), middle(scenario_curves.power(r, a))) for a in tests]) for k, r in chosen.items()
    ]
    beliefs = [
        falling(f"{k}, rho {float(r)}", sorted((middle(scenario_curves.epsilon_given_truth(r, d)), float(d)) for d in deltas))
        for k, r in chosen.items()
    ]
    classes = {
        "b: predictive": scenario_curves.epsilon_of_predictive,
        "c: the true record": scenario_curves.epsilon_given_truth,
        "d: any prior": scenario_curves.epsilon_any_prior,
    }
    three = [falling(name, sorted((middle(f("0.1115", d)), float(d)) for d in deltas)) for name, f in classes.items()]
    block = [
        bound("zCDP bound", [(float(a), scenario_curves.power_bound("0.1115", a)) for a in tests[1::2]]),
        attrs.evolve(powers[0], name="Gaussian"),
        curve(
            "discrete noise",
            [(a / 10, middle(scenarios.exact_power(scenarios.CASES["A"], f"{a}/10"))) for a in range(1, 10)],
            dashed=True,
        ),
    ]
    return Page(
        name="census-scenarios",
        title="Scenarios of the 2020 Census (frequentist and Bayesian semantics, section 8)",
        tables=(
            Table(
                heading="Section 8.2: what is to stay secret, its rho, and the power at levels 0.01, 0.05 and 0.10",
                columns=("", "secret", "rho", "printed rho", "", "power", "power at the printed rho", "printed power"),
                rows=tuple(rows),
                remark="The printed rho of C to H is too small by 0.057 to 0.059; two entries of the nation, together 0.0579, "
                "explain four of the six. The printed powers follow from the printed rho.",
            ),
            Table(
                heading="Table 6: scenario A",
                columns=("level", "Gaussian", "discrete noise", "zCDP bound", "printed"),
                rows=tuple(table6),
            ),
        ),
        panels=(
            CurvePanel(title="Figure 6: power in scenario A", axis="level", lines=tuple(block)),
            CurvePanel(title="Figures 6, 10, 12 and 14: power of Gaussian noise", axis="level", lines=tuple(powers)),
            CurvePanel(title="Figures 8, 11, 13 and 15: delta of class c", axis="epsilon", lines=tuple(beliefs), powers=True),
            CurvePanel(
                title="Figures 7 to 9: delta in scenario A, by class of knowledge",
                axis="epsilon",
                lines=tuple(three),
                powers=True,
            ),
        ),
    )
