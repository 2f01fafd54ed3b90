"""What is missing for one specification to imply another: each block in which the nearest derived specification still differs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from dpspec.base.errors import (
    count,
)
from dpspec.base.exact import limit_in_words
from dpspec.blocks.input_divergence import InputDivergence
from dpspec.blocks.output_divergence import OutputDivergence
from dpspec.blocks.parts import nesting_of
from dpspec.blocks.space import DatasetSpace
from dpspec.comparison.separations import Argument
from dpspec.grammar.declarations import distance_bound
from dpspec.grammar.rule import Conversion, Rule
from dpspec.grammar.spec import PrivacySpec
from dpspec.reason.rules import LISTED, compared_pairs, constant_of, determined
from dpspec.reason.search import conversion_paths


def gaps(nearest: PrivacySpec, goal: PrivacySpec, rules: Sequence[Rule]) -> Iterator[Argument]:
    """One finding for each block that differs, with what would be needed; those after an open one wait for it."""
    if nearest.space != goal.space:
        yield _space(nearest, goal)
        return
    looked: list[Callable[[PrivacySpec, PrivacySpec], Argument | None]] = [_multiverse, _input, partial(_output, rules), _budget]
    yield from (finding for look in looked if (finding := look(nearest, goal)) is not None)


def _space(nearest: PrivacySpec, goal: PrivacySpec) -> Argument:
    if nearest.space.includes(goal.space) is None:
        reason = "two different dataset spaces; that of the premise is not known to hold all datasets of that of the conclusion"
    elif nearest.multiverse.induced_by() is None or nearest.budget.uniform() is None:
        reason = "on the smaller space, only universes of invariants with one budget are known to stay what they are"
    else:
        reason = f"the distance ({nearest.input_divergence.in_words()}) is not known to be as large on the smaller space"
    return Argument(block="space", holds=None, reason=reason)


def _multiverse(nearest: PrivacySpec, goal: PrivacySpec) -> Argument | None:
    if nearest.multiverse == goal.multiverse:
        return None
    coarse, fine = nearest.multiverse.induced_by(), goal.multiverse.induced_by()
    if coarse is not None and fine is not None:
        found = determined(fine, coarse, goal.space)
        if found.answer is True:
            return Argument(block="multiverse", holds=None, reason="a budget that differs by universe, and other universes")
        return Argument(block="multiverse", holds=found.answer, reason=found.reason)
    pairs = compared_pairs(goal)
    if pairs is None:
        reason = f"universes that are not induced by invariants are compared on at most {LISTED} datasets only"
        return Argument(block="multiverse", holds=None, reason=reason)
    for _, left, right in pairs:
        if not nearest.multiverse.share_universe(left, right, nearest.space):
            reason = f"{left} and {right} share a universe of the conclusion and none of the premise"
            return Argument(block="multiverse", holds=False, reason=reason)
    return Argument(block="multiverse", holds=None, reason="a budget that differs by universe, and other universes")


def _input(nearest: PrivacySpec, goal: PrivacySpec) -> Argument | None:
    smaller, larger = nearest.input_divergence, goal.input_divergence
    if smaller == larger:
        return None
    if distance_bound(smaller, larger, goal.space) is not None:
        reason = "a budget of this kind, one for each universe, is not rescaled"
    else:
        ours, theirs = f"the premise ({smaller.in_words()})", f"the conclusion ({larger.in_words()})"
        reason = f"unknown how many changes of {ours} make one of {theirs} at most{_size(smaller, larger, goal.space)}"
    return Argument(block="input divergence", holds=None, reason=reason)


def _size(smaller: InputDivergence, larger: InputDivergence, space: DatasetSpace) -> str:
    """A size that the space does not state, where the two count different units."""
    ours, theirs = smaller.counted_unit(), larger.counted_unit()
    if ours is None or theirs is None or ours == theirs:
        return ""
    within = space.units.index(ours) > space.units.index(theirs)
    most = nesting_of(space).most_changed(ours, theirs)
    if most is None and within:
        return f"; missing: the largest number of {ours} records that one {theirs} changes, which the space does not state"
    if most is None:
        return f"; nothing bounds the number of {ours} records that change with one {theirs}"
    return "" if space.fixes_size(ours) else f"; not all datasets have equally many {ours} records"


def _output(rules: Sequence[Rule], nearest: PrivacySpec, goal: PrivacySpec) -> Argument | None:
    source, target = nearest.output_divergence, goal.output_divergence
    if source == target:
        return None
    return Argument(block="output divergence", holds=None, reason=_unconverted(nearest, target, rules))


def _unconverted(nearest: PrivacySpec, target: OutputDivergence, rules: Sequence[Rule]) -> str:
    """The reason why no step leads to another output divergence: no formula, none for as much, or none that applies here."""
    source, distance = nearest.output_divergence, nearest.input_divergence
    between = f"from {source.in_words()} to {target.in_words()}"
    amount = nearest.budget.uniform()
    if amount is None:
        return f"a budget that differs by universe is not converted {between}"
    found = conversion_paths(nearest, target, rules)
    usable = [path for path in found if not path.known]
    if usable:
        value = limit_in_words(usable[0].value.upper)
        number_ = f"{target.budget_parameters[0]} {value} by {' and '.join(usable[0].names)}"
        known = f"{count(len(usable), 'conversion')} {between} {'is' if len(usable) == 1 else 'are'} known, the best {number_}"
        if distance.is_neighbour_form:
            return f"{known}; it does not apply to a budget stated as {nearest.budget.parameter}"
        return (
            f"{known}, for neighbours only: datasets at distance 1. The distance ({distance.in_words()}) also compares datasets "
            "that are further apart"
        )
    if found:
        return f"the conversions {between} need to know the mechanism: {found[0].known[0].needs}"
    ends = {rule.target for rule in rules if isinstance(rule, Conversion) and rule.source == source.name}
    if target.name in ends:
        return f"no conversion {between} gives a finite number for {nearest.budget.parameter} = {amount.plain()}"
    return f"neither a factor nor a conversion is known {between}"


def _budget(nearest: PrivacySpec, goal: PrivacySpec) -> Argument | None:
    if nearest.input_divergence != goal.input_divergence or nearest.output_divergence != goal.output_divergence:
        return Argument(block="budget", holds=None, reason="not comparable until the divergences are")
    if nearest.budget == goal.budget:
        return None
    given, allowed = constant_of(nearest), constant_of(goal)
    if given is None or allowed is None:
        reason = "budgets that differ by universe are compared in each, on spaces that can be listed, and one is larger"
        return Argument(block="budget", holds=None, reason=reason)
    holds = given <= allowed
    return Argument(block="budget", holds=holds, reason=f"{given} {'<=' if holds else '>'} {allowed} as Lipschitz constants")
