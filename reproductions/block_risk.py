"""Disclosure risk of the 2020 block counts: the tables of the thesis recomputed beside what is printed (Kazan 2025).

A cell of the most detailed histogram (group quarters x voting age x Hispanic x race, 2,016 cells) gets the rho* of its level.
That is the rho of *one* count: a replaced person moves two of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import attrs
from dpspec_census.configuration_2020 import LEVELS, QUERIES, rho_star
from dpspec_inference import block, block as uniqueness

from dpspec.base.exact import Bracket, NumberLike

DETAILED = max(QUERIES, key=lambda query: query.cells)
"""The most detailed person query."""
PRIORS = ("1/2", "1/5", "1/10", "1/50", "1/864")
"""Prior probabilities of the truth; 864 is the number of cells of the 1940 histogram."""

PRINTED_RHO = {
    "us": "0.0509",
    "state": "0.0505",
    "county": "0.0514",
    "tract": "0.0504",
    "block-group": "0.2465",
    "block": "0.0992",
}
"""Kazan 2025, Table 2.2."""
PRINTED_MASS = ("0.161", "0.119", "0.073", "0.036", "0.015")
"""Kazan 2025, Table 2.4, for the released values 1 to 5: the law around 0, not around the true count 1."""
PRINTED_POSTERIOR = (
    ("0.525", "0.216", "0.109", "0.022"),
    ("0.574", "0.252", "0.130", "0.027"),
    ("0.622", "0.291", "0.154", "0.032"),
    ("0.667", "0.334", "0.182", "0.039"),
    ("0.710", "0.379", "0.213", "0.047"),
)
"""Kazan 2025, Table 2.4, by released value and prior; none for the last prior."""
PRINTED_RISK = (
    ("1.05", "1.08", "1.09", "1.10", "1.10"),
    ("1.15", "1.26", "1.30", "1.34", "1.35"),
    ("1.24", "1.46", "1.54", "1.62", "1.64"),
    ("1.33", "1.67", "1.82", "1.96", "2.00"),
    ("1.42", "1.90", "2.13", "2.37", "2.44"),
)
"""Kazan 2025, Table 2.4."""
PRINTED_MARGINAL = (("0.524", "1.05"), ("0.225", "1.13"), ("0.117", "1.17"), ("0.024", "1.21"), ("0.0014", "1.22"))
"""Kazan 2025, Table 2.5: marginal posterior and risk, by prior."""


@attrs.frozen(kw_only=True)
class RiskEntry:
    """One number of a table.

    Args:
        table: the ID of the table.
        place: which number of it.
        value: as recomputed.
        printed: as printed; empty where nothing is.
    """

    table: str
    place: str
    value: Bracket
    printed: str = ""

    @property
    def agrees(self) -> bool:
        """Whether the printed number is the recomputed one rounded to its digits."""
        if not self.printed:
            return True
        half = Fraction(1, 2 * 10 ** len(self.printed.partition(".")[2]))
        return self.value.lower - half <= Fraction(self.printed) <= self.value.upper + half


def detailed_rho(level: str) -> Fraction:
    """rho of one cell of the most detailed histogram in a unit of a level (Kazan 2025, Table 2.2).

    >>> float(detailed_rho("block"))
    0.09922635422547502
    """
    return rho_star(DETAILED, level)


def budgets() -> tuple[RiskEntry, ...]:
    """The rho of the detailed cells, level by level."""
    return tuple(
        RiskEntry(table="Table 2.2", place=level, value=Bracket.exactly(detailed_rho(level)), printed=PRINTED_RHO[level])
        for level in LEVELS
    )


def released_counts(rho: NumberLike | None = None) -> tuple[RiskEntry, ...]:
    """The policy-maker's table: released 1 to 5 with probability, posteriors and risks, for a true count of 1 (Kazan 2025)."""
    made = []
    rows = block.table(detailed_rho("block") if rho is None else rho, PRIORS, range(1, 6))
    for row, mass, posteriors, risks in zip(rows, PRINTED_MASS, PRINTED_POSTERIOR, PRINTED_RISK, strict=True):
        made.append(RiskEntry(table="Table 2.4", place=f"probability of {row.released}", value=row.mass, printed=mass))
        for kind, values, printed in (("posterior", row.posteriors, (*posteriors, "")), ("risk", row.risks, risks)):
            for prior, value, text in zip(PRIORS, values, printed, strict=True):
                made.append(
                    RiskEntry(table="Table 2.4", place=f"{kind} at {row.released}, prior {prior}", value=value, printed=text)
                )
    return tuple(made)


def marginal_risks(rho: NumberLike | None = None) -> tuple[RiskEntry, ...]:
    """Posterior and risk averaged over the noise, by prior (Kazan 2025, Table 2.5)."""
    spent = detailed_rho("block") if rho is None else rho
    made = []
    for prior, (posterior, risk) in zip(PRIORS, PRINTED_MARGINAL, strict=True):
        value = block.marginal_posterior(spent, prior)
        made.append(RiskEntry(table="Table 2.5", place=f"posterior, prior {prior}", value=value, printed=posterior))
        made.append(
            RiskEntry(
                table="Table 2.5", place=f"risk, prior {prior}", value=value.scaled(Fraction(1) / Fraction(prior)), printed=risk
            )
        )
    return tuple(made)


def unique_at(priors: Sequence[str] = PRIORS) -> tuple[RiskEntry, ...]:
    """The risk to a target that is unique at the smallest 1 to 6 levels (Kazan 2025); the thesis has it as a curve only."""
    rhos = [detailed_rho(level) for level in reversed(LEVELS)]
    return tuple(
        RiskEntry(
            table="Figure 2.7",
            place=f"{count + 1} levels, prior {prior}",
            value=uniqueness.uniqueness_marginal_posterior(rhos[: count + 1], prior).scaled(Fraction(1) / Fraction(prior)),
        )
        for prior in priors
        for count in range(len(rhos))
    )


def markdown(entries: Sequence[RiskEntry]) -> str:
    """A table of entries: place, recomputed, printed, and whether they agree."""
    lines = ["| place | recomputed | printed | |", "|---|---|---|---|"]
    for entry in entries:
        remark = "" if entry.agrees else "differs"
        lines.append(f"| {entry.place} | {entry.value.lower.decimal()} | {entry.printed} | {remark} |")
    return "\n".join(lines) + "\n"
