"""The strongest specifications that two others both imply, block by block, with both budgets in them and each route.

In fixed blocks (X, D, d_X, d_Pr) a smaller budget is a stronger promise. If A implies budget a there, and B implies b, both imply
max(a, b), and nothing smaller follows *from these two derivations*. So "strongest" means: the least budget that the registered
rules derive, one step for each block. That it is the least one that holds is not claimed; conversions that are tight are marked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import attrs

from dpspec.blocks.budget import UniformBudget
from dpspec.compare.derivation import Derivation
from dpspec.compare.gaps import gaps
from dpspec.compare.search import search
from dpspec.conversion import Conversion
from dpspec.exact import INFINITY, Number, number
from dpspec.ledger.moving import BLOCKS, moved
from dpspec.rule import Rule
from dpspec.rules.budgets import LargerBudget, constant_of
from dpspec.spec import PrivacySpec
from dpspec.yardstick.blocks import Blocks


@attrs.frozen(kw_only=True)
class Side:
    """What one of the two specifications promises in the blocks of a yardstick.

    Args:
        derivation: the steps from the specification to these blocks; its conclusion has the least budget that was derived.
        missing: where no rule leads there, what is missing; empty otherwise.
        tight: the names of the conversions on the way that some mechanism attains, between neighbours.
    """

    derivation: Derivation
    missing: tuple[str, ...] = ()
    tight: tuple[str, ...] = ()

    @property
    def reaches(self) -> bool:
        return not self.missing

    @property
    def budget(self) -> Number | None:
        """Its budget there, in the first number that the output divergence takes; None when it does not get there."""
        spec = self.derivation.conclusion
        constant = constant_of(spec)
        if self.missing or constant is None:
            return None
        first, value = spec.output_divergence.budget_parameters[0], spec.budget.uniform()
        if spec.budget.parameter == first and value is not None:
            return number(value)
        return spec.output_divergence.budget_for(first, constant)


@attrs.frozen(kw_only=True)
class Yardstick:
    """One choice of blocks, and what two specifications promise in them.

    Args:
        spec: the blocks with the larger of the two budgets, infinite where one side does not reach them.
        left, right: the two sides.
        follows_from: the place, among those found, of a yardstick that implies this one; None when none does.
    """

    spec: PrivacySpec
    left: Side
    right: Side
    follows_from: int | None = None

    @property
    def is_common(self) -> bool:
        """Whether both specifications imply it, with a finite budget."""
        return self.left.reaches and self.right.reaches

    def proofs(self) -> tuple[Derivation, Derivation]:
        """For a common yardstick: the derivation of it, joint budget and all, from each of the two specifications."""
        return self._proof(self.left.derivation), self._proof(self.right.derivation)

    def _proof(self, derivation: Derivation) -> Derivation:
        larger = tuple(LargerBudget().propose(derivation.conclusion, self.spec))
        return derivation.then(Derivation(premise=derivation.conclusion, steps=larger[:1]))


def yardsticks(left: PrivacySpec, right: PrivacySpec, blocks: Blocks, rules: Sequence[Rule]) -> tuple[Yardstick, ...]:
    """Every choice of blocks that at least one of two specifications reaches: first those that both imply, strongest first.

    Args:
        left, right: the two specifications.
        blocks: what to try.
        rules: the registered rules, of which the steps are, and which say which yardstick follows from which.

    >>> from dpspec.compare.search import rules_of
    >>> from dpspec.extension import installed
    >>> from dpspec.specfile import new_spec, read_text
    >>> from dpspec.yardstick.blocks import found_blocks
    >>> survey = read_text(new_spec("survey"), installed().registry).spec
    >>> twice = survey.replace(budget=UniformBudget(parameter="epsilon", value="2*ln(3)"))
    >>> blocks = found_blocks(survey, twice, registry=installed().registry)
    >>> best = yardsticks(survey, twice, blocks, rules_of(installed().registry))[0]
    >>> str(best.left.budget), str(best.right.budget), str(best.spec.budget)
    ('ln(3)', '2*ln(3)', 'epsilon = 2*ln(3)')
    """
    found = []
    for divergence in blocks.inputs:
        for standard in blocks.outputs:
            budget = UniformBudget(parameter=standard.budget_parameters[0], value=INFINITY)
            frame = PrivacySpec(
                space=blocks.space, multiverse=blocks.multiverse, input_divergence=divergence, output_divergence=standard,
                budget=budget,
            )  # fmt: skip
            one, two = (_side(spec, frame, rules) for spec in (left, right))
            if one.reaches or two.reaches:
                found.append(Yardstick(spec=_joint(frame, one, two), left=one, right=two))
    common = [one for one in found if one.is_common]
    return (*_ranked(common, rules), *(one for one in found if not one.is_common))


def _side(spec: PrivacySpec, frame: PrivacySpec, rules: Sequence[Rule]) -> Side:
    derivation = Derivation(premise=spec, steps=())
    for block in BLOCKS:
        here = derivation.conclusion
        steps = moved(here, block, frame, rules)
        if steps is None:
            return Side(derivation=derivation, missing=tuple(_missing(here, frame, block)))
        derivation = derivation.then(Derivation(premise=here, steps=steps))
    if constant_of(derivation.conclusion) is None:
        return Side(derivation=derivation, missing=("a budget that differs by universe is no single number",))
    known = {rule.name: rule for rule in rules if isinstance(rule, Conversion)}
    near = [step for step in derivation.steps if step.before.input_divergence.is_neighbour_form and step.rule in known]
    ends = [(step.rule, step.before.output_divergence, step.after.output_divergence) for step in near]
    return Side(derivation=derivation, tight=tuple(name for name, start, end in ends if known[name].attained(start, end)))


def _missing(here: PrivacySpec, frame: PrivacySpec, block: str) -> Iterator[str]:
    """What is open in the block at which the way ends."""
    reasons = [gap.reason for gap in gaps(here, frame) if gap.block == block.replace("_", " ") and gap.holds is not True]
    yield from reasons or [f"no rule changes the {block.replace('_', ' ')} so far"]


def _joint(frame: PrivacySpec, left: Side, right: Side) -> PrivacySpec:
    budgets = [side.budget for side in (left, right)]
    worst = max(INFINITY if budget is None else budget for budget in budgets)
    return frame.replace(budget=UniformBudget(parameter=frame.budget.parameter, value=worst))


def _ranked(found: Sequence[Yardstick], rules: Sequence[Rule]) -> Iterator[Yardstick]:
    """Those that no other one implies, then the others, each with the place of one that does."""

    def implies(one: Yardstick, other: Yardstick) -> bool:
        return one is not other and search(one.spec, other.spec, rules).arrived

    below = {i: [j for j, other in enumerate(found) if implies(other, one)] for i, one in enumerate(found)}
    first = [i for i, held in below.items() if all(i in below[j] and i < j for j in held)]
    places = [*first, *(i for i in below if i not in first)]
    for i in places:
        above = next((places.index(j) for j in below[i] if j in first), None)
        yield attrs.evolve(found[i], follows_from=None if i in first else above)
