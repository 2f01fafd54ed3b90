"""Implication pair by pair: every pair of datasets of a small space that the conclusion compares.

`dpspec.reason.search.ARGUMENTS` says how.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from dpspec.base.errors import DpspecError, NumericalError, count
from dpspec.base.exact import INFINITY, Number
from dpspec.base.memo import memoize
from dpspec.blocks.parts import listing_size
from dpspec.blocks.space import Pair
from dpspec.grammar.declarations import listed_datasets
from dpspec.grammar.rule import Conversion, Rule, Step
from dpspec.grammar.spec import PrivacySpec
from dpspec.reason.small_spaces import allowance

PAIRWISE_LISTED = 16
"""Spaces of at most this many datasets are listed."""

PAIR_BY_PAIR = "pair-by-pair"

DistanceTable = dict[Pair, Number]


def pair_by_pair(premise: PrivacySpec, goal: PrivacySpec, rules: Sequence[Rule]) -> Step | None:
    """The step from the premise to the goal in one, when it holds on each pair; None when that is not seen."""
    if premise.space != goal.space or not _listable(premise) or not _listable(goal):
        return None
    granted, asked = _table(premise, paths=True), _table(goal, paths=False)
    if granted is None or asked is None:
        return None
    wanted = {(granted.get(pair, INFINITY), allowed) for pair, allowed in asked.items()}
    for name, converted in _formulas(premise, goal, rules):
        if all(_follows(premise, goal, row, converted) for row in wanted):
            return Step(
                rule=PAIR_BY_PAIR,
                block=next(block for block in PAIRWISE_BLOCKS if getattr(premise, block) != getattr(goal, block)).replace(
                    "_", " "
                ),
                before=premise,
                after=goal,
                reason=f"on each of {count(len(asked), 'pair')} that the conclusion compares" + (f", by {name}" if name else ""),
                citation="Bailie et al. 2024, definition of a specification",
                parameters={"pairs": len(asked)} | ({"conversion": name} if name else {}),
            )
    return None

PAIRWISE_BLOCKS = ("multiverse", "input_divergence", "output_divergence", "budget")


def _listable(spec: PrivacySpec) -> bool:
    """Whether the space is small, and a bound on one order of two datasets is one on the other."""
    size = listing_size(spec.space)
    both = spec.output_divergence.is_symmetric or spec.input_divergence.is_symmetric
    return size is not None and size <= PAIRWISE_LISTED and both


@memoize(maxsize=256)
def _table(spec: PrivacySpec, *, paths: bool) -> DistanceTable | None:
    """The finite bounds between two datasets, in either order; None where there is a universe without a budget.

    Args:
        paths: whether these are given bounds, rounded up and along paths, or required ones, rounded down.
    """
    datasets = listed_datasets(spec.space)
    try:
        brackets = {pair: allowance(spec, pair) for pair in itertools.permutations(datasets, 2)}
    except DpspecError:
        return None
    bounds = {pair: bracket.upper if paths else bracket.lower for pair, bracket in brackets.items()}
    found = {(x, y): min(bound, bounds[y, x]) for (x, y), bound in bounds.items()}
    if paths and spec.output_divergence.is_metric:
        for middle, (x, y) in itertools.product(datasets, itertools.permutations(datasets, 2)):
            if middle not in (x, y):
                found[x, y] = min(found[x, y], _sum(found[x, middle], found[middle, y]))
    return {(x, y): found[x, y] for x, y in itertools.combinations(datasets, 2) if not found[x, y].is_infinite}


def _sum(one: Number, other: Number) -> Number:
    """The sum; infinite where it has no exact form, so that it is of no use."""
    try:
        return one + other
    except NumericalError:
        return INFINITY


def _formulas(premise: PrivacySpec, goal: PrivacySpec, rules: Sequence[Rule]) -> Iterator[tuple[str, Conversion | None]]:
    source, target = premise.output_divergence, goal.output_divergence
    if source == target:
        yield "", None
        return
    for rule in rules:
        if not isinstance(rule, Conversion) or rule.mechanism is not None:
            continue
        if rule.source == source.name and target in rule.targets(source, target):
            yield rule.name, rule


def _follows(premise: PrivacySpec, goal: PrivacySpec, row: tuple[Number, Number], by: Conversion | None) -> bool:
    """Whether the given bounds imply the required ones."""
    granted, allowed = row
    if by is None or granted.is_infinite:
        return granted <= allowed
    source, target = premise.output_divergence, goal.output_divergence
    if granted == 0 and source.separates_laws():
        return True  # the laws are equal, and at 0 from each other by any divergence
    found = by.converted(source, source.budget_for(source.budget_parameters[0], granted), target)
    return found is not None and target.lipschitz(target.budget_parameters[0], found.upper) <= allowed
