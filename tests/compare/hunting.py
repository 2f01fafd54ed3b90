"""Hunting counterexamples to derived implications: random finite mechanisms that satisfy the premise with nothing to spare."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction

from dpspec.blocks.budget import BudgetTable, UniformBudget
from dpspec.blocks.space import Dataset
from dpspec.grammar.rule import Step
from dpspec.grammar.spec import PrivacySpec
from dpspec.laws.law import FiniteLaw
from dpspec.verifier.exhaustive import verify
from dpspec.verifier.verdict import Outcome
from tests.verify.toys import Toy


def random_mechanism(source: random.Random, spec: PrivacySpec, outcomes: int = 3) -> Toy:
    """A law for every dataset, drawn from few so that many agree: powers of 2 as weights, sometimes a 0."""
    spread, kinds = source.choice((1, 2, 4)), source.choice((2, 3, 100))
    empty = source.random() < 0.2

    def weights() -> dict[int, int]:
        drawn = {z: 0 if empty and source.random() < 0.2 else 2 ** source.randint(0, spread) for z in range(outcomes)}
        return drawn if any(drawn.values()) else {0: 1}

    pool = [weights() for _ in range(min(kinds, 12))]
    laws: dict[Dataset, FiniteLaw] = {}
    for dataset in spec.space.datasets():
        same = next((known for known in laws if spec.distance(known, dataset) == 0), None)  # as vacant homes are for persons
        drawn = source.choice(pool)
        law = FiniteLaw.of({z: Fraction(w, sum(drawn.values())) for z, w in drawn.items() if w})
        laws[dataset] = law if same is None else laws[same]
    return Toy(laws.__getitem__)


def tight(spec: PrivacySpec, mechanism: Toy) -> PrivacySpec | None:
    """The specification with the least budget that the mechanism keeps, per universe where the budget is by universe."""
    parameter, divergence = spec.budget.parameter, spec.output_divergence
    loose = spec.replace(budget=UniformBudget(parameter=parameter, value="inf"))
    verdict = verify(mechanism, loose)
    if verdict.outcome is not Outcome.VERIFIED or verdict.constant.upper.is_infinite:
        return None
    if isinstance(spec.budget, BudgetTable):
        rows = tuple((u.label, divergence.budget_for(parameter, u.constant.upper)) for u in verdict.universes)
        return spec.replace(budget=BudgetTable(parameter=parameter, values=rows))
    return spec.replace(budget=UniformBudget(parameter=parameter, value=divergence.budget_for(parameter, verdict.constant.upper)))


def contradicted(mechanism: Toy, steps: tuple[Step, ...]) -> Iterator[Step]:
    """The steps whose conclusion the mechanism breaks, though it keeps the premise."""
    for step in steps:
        if verify(mechanism, step.after).outcome is Outcome.REFUTED:
            yield step
            return
