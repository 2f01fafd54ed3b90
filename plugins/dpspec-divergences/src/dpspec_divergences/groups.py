"""Group privacy where the output divergence is no metric: approximate privacy, whose delta grows with the group.

Where it is a metric (pure, concentrated, Gaussian privacy, curves), neighbours extend to paths and the budget is multiplied by
the length k, so that rho grows with k^2: no rule of its own is needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import ClassVar

from dpspec.blocks.budget import UniformBudget
from dpspec.exact import Number, dyadic
from dpspec.laws.numeric import rational_exponential
from dpspec.params import define
from dpspec.rule import Rule, Step
from dpspec.spec import PrivacySpec
from dpspec_divergences.output import MultDelta

MOST = 10_000
"""Larger groups are not looked at: delta is then above 1 for every epsilon that is worth stating."""

LARGEST = 200
"""Above this epsilon the delta of a group is taken to be 1, which it is for every delta that is not below e^-200."""


@define
class ApproximateGroups(Rule):
    """(epsilon, delta) on neighbours gives (k epsilon, delta sum of e^(i epsilon) over i < k) on datasets k steps apart.

    P_0(S) <= e^epsilon P_1(S) + delta <= ... <= e^(k epsilon) P_k(S) + delta sum of e^(i epsilon), i < k, along a path of k
    neighbours inside the universe, here the whole space. The new distance is one of neighbours too, each k old steps apart.

    >>> from dpspec.exact import ln
    >>> str(group_delta(Fraction(1, 100), ln(2), 3))
    '7/100'
    """

    name: ClassVar[str] = "approximate-groups"
    citation: ClassVar[str] = "standard group privacy, K-section 6 (external); B-S2, B-S3"
    hypotheses: ClassVar[Mapping[str, str]] = {
        "steps": "new neighbours are at most k old steps apart",
        "paths inside": "the path runs inside the universe, here the whole space",
        "epsilon grows": "the new epsilon is at least k times the old one",
        "delta grows": "the new delta is at least the old one times the sum of e^(i epsilon) over i < k",
    }

    def propose(self, premise: PrivacySpec, goal: PrivacySpec) -> Iterator[Step]:
        source, target, value = premise.output_divergence, goal.output_divergence, premise.budget.uniform()
        if not isinstance(source, MultDelta) or not isinstance(target, MultDelta) or value is None or value.is_infinite:
            return
        steps = self._steps(premise, goal)
        if steps is None or group_delta(source.delta, value, steps) > target.delta:
            return
        budget = UniformBudget(parameter=premise.budget.parameter, value=value * steps)
        yield Step(
            rule=self.name,
            block="input divergence",
            before=premise,
            after=premise.replace(input_divergence=goal.input_divergence, output_divergence=target, budget=budget),
            reason=f"{steps} neighbours in a row: epsilon times {steps}, delta times the sum of e^(i epsilon) for i < {steps}",
            citation=self.citation,
            parameters={"steps": steps},
        )

    def _steps(self, premise: PrivacySpec, goal: PrivacySpec) -> int | None:
        """How many old steps make one new one, along paths that stay in the one universe."""
        new, path = goal.input_divergence, premise.input_divergence.path_form()
        if path is None or not new.is_neighbour_form or new == premise.input_divergence or premise.space != goal.space:
            return None
        if premise.multiverse.invariants != ():
            return None
        known = path.bounded_by(new, goal.space) or new.bounds(path, goal.space)
        if known is None or not known[0].is_rational or not 1 <= known[0] <= MOST:
            return None
        return int(known[0].as_fraction())


def group_delta(delta: Fraction, epsilon: Number, steps: int) -> Fraction:
    """delta (1 + e^epsilon + ... + e^((k-1) epsilon)) for k steps, rounded up where it is irrational; at most 1."""
    if not delta or steps == 1:
        return delta
    if epsilon > LARGEST:
        return Fraction(1)
    ratio = rational_exponential(epsilon)
    if ratio is None:
        ratio = dyadic(epsilon.enclose(128).exp().upper())
    total, next_one = Fraction(0), delta
    for _ in range(steps):
        total, next_one = total + next_one, next_one * ratio
        if total >= 1:
            return Fraction(1)
    return total
