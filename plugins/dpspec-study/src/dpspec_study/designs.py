"""The designs that are proposed for a question, as tables of a specification file.

Each design is the draft with its own last four blocks and its mechanism. Noise and swapping have a parameter that is solved for,
so that all have the same risk; the range of the search lies around the value of a Gaussian of the same variance. The others have
no such parameter: what a test finds out at worst about a rounded, perturbed, suppressed or coarsened table is 1, or is not known
from above. They are proposed with parameters that are usual in practice, and a claim that is filed as refuted: where two datasets
are distinguished with certainty, no finite budget holds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from statistics import NormalDist
from typing import Any

import attrs
from dpspec_census.disclosure.cell_key import designed
from dpspec_disclosure.tradeoff import GRID

from dpspec.plugin import Attribute
from dpspec_study.question import Question

ANY_FINITE = 1_000
"""The epsilon of a claim that is filed as refuted; it represents any finite number, as in specs/disclosure."""
BASE, THRESHOLD = 3, 3
"""Counts are rounded to multiples of this; smaller counts than this are suppressed."""
KEYS, KEY_VARIANCE, KEY_LARGEST = 64, 1, 3
"""Cell keys, the variance of a perturbed count, and its largest change."""
POINTS = 4
"""Values of a parameter in the figure."""
SPREAD = 4
"""A parameter is looked for between this fraction and this multiple of the Gaussian value."""
START_RATE = Fraction(1, 10)
RATES = (Fraction(1, 100), Fraction(99, 100))


@attrs.frozen(kw_only=True)
class Proposal:
    """A design before its parameter is solved for.

    Args:
        name: the id of its file.
        title: what it does, in one line.
        tables: its file as data.
        varied: the parameter that is solved for, as `dpspec tradeoff --vary` names it; "" for none.
        values: the first and the last value that are evaluated.
    """

    name: str
    title: str
    tables: Mapping[str, Any]
    varied: str = ""
    values: tuple[Fraction, Fraction] | None = None

    @property
    def vary(self) -> str:
        """As `dpspec tradeoff --vary` takes it; "" where nothing varies."""
        return "" if self.values is None else f"{self.varied}={self.values[0]}..{self.values[1]}:{POINTS}"

    def at(self, value: Fraction) -> Mapping[str, Any]:
        """The file as data at a value of the parameter, its budget with it."""
        tables = {**self.tables, "mechanism": {**self.tables["mechanism"], self.varied.removeprefix("mechanism."): str(value)}}
        budget = {"variance": {"rho": str(1 / value)}, "mechanism.epsilon": {"epsilon": str(value)}}.get(self.varied)
        if budget is None:
            budget = {**self.tables["budget"], "swap_rate": str(value)}
        return {**tables, "budget": budget}


def proposals(draft: Mapping[str, Any], attributes: Sequence[Attribute], question: Question) -> tuple[Proposal, ...]:
    """The designs for a question.

    Args:
        draft: the drafted file as data.
        attributes: of its space, in the order of the file.
        question: what is to be published, in the names of the attributes.
    """
    # In standard deviations, the shift of a normal law that a test at the level finds with the tolerated power.
    shift = NormalDist().inv_cdf(float(1 - question.level)) + NormalDist().inv_cdf(float(question.risk))
    variance, epsilon = 4 / shift**2, math.sqrt(2) * shift
    counted = {"type": "marginal", "unit": question.unit, "attributes": list(question.columns)}
    noisy = {"queries": [counted], "unit": question.unit, "neighbours": "replace-one"}
    published = {"tables": [list(question.columns)], "unit": question.unit}
    made = _Maker(draft, question)
    gaussian = made.design(
        "discrete-gaussian", "discrete Gaussian noise on every count", "d-nor", {"rho": "1"},
        {"type": "discrete-gaussian", **noisy, "sensitivities": ["sqrt(2)"], "variance": 1},
    )  # fmt: skip
    geometric = made.design(
        "geometric", "two-sided geometric noise on every count", "mult", {"epsilon": 1},
        {"type": "geometric", **noisy, "sensitivity": 2, "epsilon": 1},
    )  # fmt: skip
    return (
        attrs.evolve(gaussian, varied="variance", values=_range(variance)),
        attrs.evolve(geometric, varied="mechanism.epsilon", values=_range(epsilon)),
        _swap(made, attributes, question),
        made.refuted(
            "cell-keys", "a small random change of every count that is not 0, by cell keys",
            {"type": "cell-key", **published, "keys": KEYS, "rows": [
                {"count": row.count, "changes": {change: str(p) for change, p in row.changes if p}}
                for row in designed(Fraction(KEY_VARIANCE), KEY_LARGEST, KEYS)
            ]},
        ),
        made.refuted(
            "rounding", f"every count rounded at random to a multiple of {BASE}",
            {"type": "random-rounding", **published, "base": BASE},
        ),
        made.refuted(
            "suppression", f"counts from 1 to {THRESHOLD - 1} suppressed",
            {"type": "cell-suppression", **published, "threshold": THRESHOLD},
        ),
        _coarse(made, attributes, question),
    )  # fmt: skip


@attrs.frozen
class _Maker:
    """The draft, and what every design has of it."""

    draft: Mapping[str, Any]
    question: Question

    def design(self, name: str, title: str, standard: str, budget: Mapping[str, Any], mechanism: Mapping[str, Any]) -> Proposal:
        """A design that publishes nothing exactly."""
        counts = " x ".join(self.question.columns)
        tables = {
            **{key: self.draft[key] for key in ("schema", "space", "table") if key in self.draft},
            "id": name, "title": f"{counts}: {title}", "multiverse": {"invariants": []},
            "input_divergence": {"type": "hamming", "unit": self.question.unit},
            "output_divergence": {"type": standard}, "budget": dict(budget), "mechanism": dict(mechanism),
        }  # fmt: skip
        return Proposal(name=name, title=title, tables=tables)

    def refuted(self, name: str, title: str, mechanism: Mapping[str, Any]) -> Proposal:
        """A design without a finite budget, filed as such."""
        found = self.design(name, title, "mult", {"epsilon": ANY_FINITE}, mechanism)
        because = f"epsilon = {ANY_FINITE} represents any finite number: the design can distinguish two tables with certainty"
        return attrs.evolve(found, tables={**found.tables, "claim": {"verdict": "refuted", "because": because}})


def _swap(made: _Maker, attributes: Sequence[Attribute], question: Question) -> Proposal:
    """Records that agree in the matched columns exchange the others; what it keeps is published exactly.

    By derangements: the printed budget holds for them at every rate below 1, and for permutations not (docs/swapping-theorem.md,
    theorem 4).
    """
    moved = {"match": list(question.match), "swap_rate": str(START_RATE), "unit": question.unit}
    title = f"records{' of equal ' + ', '.join(question.match) if question.match else ''} exchange {', '.join(question.exchange)}"
    found = made.design(
        "swapping", title, "mult", {"type": "swapping", "form": "s23-full", **moved},
        {"type": "derangement-swapping", "swap": list(question.exchange), **moved},
    )  # fmt: skip
    rest = [a.name for a in attributes if a.name not in (*question.match, *question.exchange)]
    kept = [[*question.match, *rest], [*question.match, *question.exchange]]
    invariants = [{"type": "marginal", "unit": question.unit, "attributes": names} for names in kept]
    tables = {**found.tables, "multiverse": {"invariants": invariants}}
    return attrs.evolve(found, tables=tables, varied="mechanism.swap_rate", values=RATES)


def _coarse(made: _Maker, attributes: Sequence[Attribute], question: Question) -> Proposal:
    """The column with the most categories, among those that are not exchanged, with its neighbours joined in pairs."""
    widest = max((a for a in attributes if a.name in question.held), key=lambda a: a.size)
    values = [str(value) for value in widest.values()]
    pairs = [values[place : place + 2] for place in range(0, len(values), 2)]
    groups: dict[str, list[str]] = {}
    for pair in pairs:
        label = " or ".join(pair)
        while label in groups:
            label += "_"
        groups[label] = pair
    mechanism = {"type": "coarsening", "unit": question.unit, "recodings": [{"attribute": widest.name, "groups": groups}]}
    return made.refuted("coarsening", f"neighbouring categories of {widest.name} joined in pairs", mechanism)


def _range(centre: float) -> tuple[Fraction, Fraction]:
    """The ends of a search around a value, such that every value that is tried is a multiple of a power of ten.

    >>> [str(end) for end in _range(1.44)]
    ['9/25', '259/25']
    """
    step = Fraction(10) ** math.ceil(math.log10((SPREAD - 1 / SPREAD) * centre / GRID))
    first = round(centre / SPREAD / float(step)) * step
    return first, first + GRID * step
