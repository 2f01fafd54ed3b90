"""The rules of inference that ship with the core, block by block.

Not included here, because they are not statements about two specifications:

* Post-processing that reads only invariants (Bailie, Gong and Meng 2023). If T satisfies S inside the universes of c, so does any
  f(T(x), c(x)): the mechanism changes and S does not. Outside those universes nothing follows, and no rule here makes a universe
  larger.
* Amplification by secret sampling (Bailie et al. 2024). T(sample(x)) satisfies another specification than T, on another
  space, and the statement names the scheme and the neighbour relation together: a property of a mechanism, verified by the exact
  engine.
* Composition. Two mechanisms go in: a ledger composes them.

What the datasets of a small space say one by one, where no argument from the form of two blocks is at hand.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import attrs

from dpspec.base.errors import DpspecError, NotInUniverseError, count as count_of
from dpspec.base.exact import ZERO, Number, number, rounded_product
from dpspec.base.memo import memoize
from dpspec.base.params import define
from dpspec.blocks.budget import Budget, BudgetTable, UniformBudget, stands_for
from dpspec.blocks.invariant import Invariant, Marginal
from dpspec.blocks.multiverse import Determination, Universe, determines, shared_labels
from dpspec.blocks.output_divergence import OutputDivergence
from dpspec.blocks.parts import Nesting, listing_size, nesting_of
from dpspec.blocks.space import Attribute, Dataset, DatasetSpace, Record
from dpspec.blocks.units import most_within
from dpspec.grammar.declarations import (
    check_budget_within,
    check_determined,
    check_part,
    distance_bound,
    divergence_bound,
    listed_universes,
)
from dpspec.grammar.rule import Rule, Step
from dpspec.grammar.spec import PrivacySpec

LISTED = 200
"""Universes are compared pair by pair on spaces of at most this many datasets."""

UniversePair = tuple[Universe, Dataset, Dataset]


def compared_pairs(spec: PrivacySpec) -> Iterator[UniversePair] | None:
    """Every pair at finite distance with each universe that holds it; None when there are too many datasets to list."""
    size = listing_size(spec.space)
    if size is None or size > LISTED:
        return None
    pairs = ((u, x, y) for u in listed_universes(spec.multiverse, spec.space) for x, y in itertools.combinations(u.datasets, 2))
    return ((u, x, y) for u, x, y in pairs if not spec.distance(x, y).is_infinite or not spec.distance(y, x).is_infinite)


def compared_universes(spec: PrivacySpec) -> Iterator[Universe] | None:
    """The universes with a pair of datasets at finite distance; None when there are too many datasets to list."""
    pairs = compared_pairs(spec)
    return None if pairs is None else (universe for universe, _ in itertools.groupby(pairs, key=lambda pair: pair[0]))


# --- block 5: a larger budget is a weaker promise --------------------------------------------------


_OTHERS = ("space", "multiverse", "input_divergence", "output_divergence")


def constant_of(spec: PrivacySpec) -> Number | None:
    """The Lipschitz constant of a budget that is one number for all universes."""
    value = spec.budget.uniform()
    return None if value is None else spec.output_divergence.lipschitz(spec.budget.parameter, number(value))


def _number_in_words(value: Number) -> str:
    """The number for people: in exact form while that is short."""
    text = str(value)
    return text if len(text) <= 30 else f"{value.decimal(12)}..."


@define
class LargerBudget(Rule):
    """eps <= eps' and d_Pr <= eps d_X give d_Pr <= eps' d_X, for one number each, the other blocks as they are."""

    name: ClassVar[str] = "larger-budget"
    citation: ClassVar[str] = "Bailie et al. 2024, definition of a specification"
    hypotheses: ClassVar[Mapping[str, str]] = {
        "no smaller": "the Lipschitz constant of the new budget is at least that of the old one",
    }

    def propose(self, premise: PrivacySpec, goal: PrivacySpec) -> Iterator[Step]:
        given, allowed = constant_of(premise), constant_of(goal)
        if premise.budget == goal.budget or premise.output_divergence != goal.output_divergence:
            return
        if given is not None and allowed is not None and given <= allowed:
            same = given == premise.budget.uniform()
            yield Step(
                rule=self.name,
                block="budget",
                before=premise,
                after=premise.replace(budget=goal.budget),
                reason=f"{_number_in_words(given)} <= {_number_in_words(allowed)}" + ("" if same else " as Lipschitz constants"),
                citation=self.citation,
            )


@define
class LargerBudgets(Rule):
    """eps_D <= eps'_D in every universe D in which two datasets are compared.

    That is seen from the two budgets themselves, from a number that the new one is at least wherever a universe holds two
    different datasets, or on the list of a small space.
    """

    name: ClassVar[str] = "larger-budgets"
    citation: ClassVar[str] = "Bailie et al. 2024, definition of a specification"
    hypotheses: ClassVar[Mapping[str, str]] = {
        "in every universe": "the new budget is at least the old one in every universe with datasets at finite distance",
    }

    def propose(self, premise: PrivacySpec, goal: PrivacySpec) -> Iterator[Step]:
        same = all(getattr(premise, block) == getattr(goal, block) for block in _OTHERS)
        if premise.budget == goal.budget or not same:
            return
        if constant_of(premise) is not None and constant_of(goal) is not None:
            return
        reason = premise.budget.within(goal.budget)
        if reason is not None:
            check_budget_within(premise.budget, goal.budget, premise.multiverse, premise.space)
        reason = reason or _at_least(premise, goal) or _listed(premise, goal)
        if reason is not None:
            yield Step(rule=self.name, block="budget", before=premise, after=goal, reason=reason, citation=self.citation)


def _at_least(premise: PrivacySpec, goal: PrivacySpec) -> str | None:
    """One number, at most what the other budget is at least in every universe with two different datasets."""
    given = constant_of(premise)
    least = None if given is None else goal.budget.least_between(goal.multiverse, goal.space)
    if given is None or least is None:
        return None
    constant = goal.output_divergence.lipschitz(goal.budget.parameter, least[0])
    return f"{_number_in_words(given)} <= {_number_in_words(constant)}, {least[1]}" if given <= constant else None


def _listed(premise: PrivacySpec, goal: PrivacySpec) -> str | None:
    """The comparison universe by universe, where they can be listed."""
    universes = compared_universes(premise)
    if universes is None:
        return None
    count = 0
    for universe in universes:
        try:
            if not premise.bound(universe) <= goal.bound(universe):
                return None
        except NotInUniverseError:  # a table without a number for the universe
            return None
        count += 1
    return f"no budget is larger in any of {count_of(count, 'universe')} with datasets to compare"


# --- block 5: the budget after a change of divergence ----------------------------------------------


def rescaled(budget: Budget, source: OutputDivergence, target: OutputDivergence, factor: Number) -> Budget | None:
    """The budget of `target` whose Lipschitz constants are `factor` times those of a budget of `source`, rounded up.

    None for a budget that is neither one number nor a table of numbers, unless it may stay as it is.
    """
    if source == target and factor == 1:
        return budget
    parameter = budget.parameter if source == target else target.budget_parameters[0]

    def grown(value: Number) -> Number:
        return target.budget_for(parameter, rounded_product(source.lipschitz(budget.parameter, value), factor))

    value = budget.uniform()
    if value is not None:
        return UniformBudget(parameter=parameter, value=grown(number(value)))
    values = budget.by_label()
    if values is not None:
        return BudgetTable(parameter=parameter, values=tuple((label, grown(entry)) for label, entry in values))
    return budget if source == target and factor <= 1 else None


# --- block 3: distances that bound each other, neighbours joined to paths -------------------------


@define
class InputDomination(Rule):
    """d <= c d' on the space, for a constant c, turns a budget eps per unit of d into c eps per unit of d'.

    d_Pr <= eps d <= c eps d'. The constant is proved by one of the two divergences (`bounded_by`, `bounds`): fixed sizes halve
    the symmetric difference, a stated largest household bounds what a household changes, a stated degree what a node does.
    """

    name: ClassVar[str] = "input-domination"
    citation: ClassVar[str] = "Bailie et al. 2024, the five building blocks and perverse guide to a smaller epsilon"
    hypotheses: ClassVar[Mapping[str, str]] = {
        "constant": "d <= c d' for all datasets of the space",
        "rescaled": "the new budget is at least c times the old one in every universe",
    }

    def propose(self, premise: PrivacySpec, goal: PrivacySpec) -> Iterator[Step]:
        if premise.input_divergence == goal.input_divergence or premise.space != goal.space:
            return
        known = distance_bound(premise.input_divergence, goal.input_divergence, goal.space)
        if known is None:
            return
        budget = rescaled(premise.budget, premise.output_divergence, premise.output_divergence, known[0])
        if budget is None:
            return
        yield Step(
            rule=self.name,
            block="input divergence",
            before=premise,
            after=premise.replace(input_divergence=goal.input_divergence, budget=budget),
            reason=known[1],
            citation=self.citation,
            parameters={"constant": str(known[0])},
        )


@define
class NeighboursToPaths(Rule):
    """A bound for neighbours is one for every path of k neighbours, k times as large.

    Two conditions: the output divergence obeys the triangle inequality, and the path stays inside the universe, which is sure
    where the universe is the whole space.
    """

    name: ClassVar[str] = "neighbours-to-paths"
    citation: ClassVar[str] = "Bailie, Gong and Meng 2023, path metric"
    hypotheses: ClassVar[Mapping[str, str]] = {
        "triangle inequality": "d_Pr(P, R) <= d_Pr(P, Q) + d_Pr(Q, R) for all laws",
        "paths inside": "a shortest path of neighbours between two datasets of a universe runs inside it",
        "same neighbours": "the new distance counts steps between the neighbours of the old one",
    }

    def propose(self, premise: PrivacySpec, goal: PrivacySpec) -> Iterator[Step]:
        given = premise.input_divergence
        path = given.path_form() if given.is_neighbour_form else None
        if path is None or given == goal.input_divergence:
            return
        if premise.multiverse.induced_by() != () or not premise.output_divergence.is_metric:
            return
        yield Step(
            rule=self.name,
            block="input divergence",
            before=premise,
            after=premise.replace(input_divergence=path),
            reason=f"{premise.output_divergence.in_words()} obeys the triangle inequality, and paths stay in the one universe",
            citation=self.citation,
        )


# --- block 3: distances that bound each other inside a universe alone -----------------------------


class InsideUniverse(DatasetSpace, Nesting):
    """A space as two datasets of one universe see it: it fixes the number of every unit whose total the invariants determine."""

    name: ClassVar[str] = "inside-universe"

    def __init__(self, space: DatasetSpace, invariants: tuple[Invariant, ...]) -> None:
        self.whole, self.invariants = space, invariants
        self.is_ordered = space.is_ordered  # type: ignore[misc]  # as in the space itself

    def fixes_size(self, unit: str) -> bool:
        return self.whole.fixes_size(unit) or _fixes(self.invariants, unit, self.whole)

    @property
    def units(self) -> tuple[str, ...]:
        return self.whole.units

    def dataset(self, value: Any) -> Dataset:
        return self.whole.dataset(value)

    def datasets(self) -> Iterator[Dataset]:
        return self.whole.datasets()

    def cardinality(self) -> int | None:
        return self.whole.cardinality()

    def magnitude(self, dataset: Dataset) -> int:
        return self.whole.magnitude(dataset)

    def attributes_of(self, unit: str) -> tuple[Attribute, ...]:
        return self.whole.attributes_of(unit)

    def records(self, dataset: Dataset, unit: str) -> tuple[Record, ...]:
        return self.whole.records(dataset, unit)

    def is_told_by(self, unit: str) -> bool:
        return self.whole.is_told_by(unit)

    def most_within(self, inner: str, outer: str) -> int | None:
        return nesting_of(self.whole).most_within(inner, outer)

    def most_changed(self, unit: str, per: str) -> int | None:
        return nesting_of(self.whole).most_changed(unit, per)


@memoize(maxsize=256)
def _fixes(invariants: tuple[Invariant, ...], unit: str, space: DatasetSpace) -> bool:
    total = Marginal(unit=unit, attributes=())
    try:
        return determines(invariants, (total,), space).answer is True
    except DpspecError:  # a space without records of attributes
        return False


def fixed_units(spec: PrivacySpec) -> tuple[str, ...]:
    """The units whose number is the same in all datasets of a universe."""
    invariants = spec.multiverse.induced_by()
    if not invariants:
        return tuple(unit for unit in spec.space.units if spec.space.fixes_size(unit))
    inside = InsideUniverse(spec.space, invariants)
    return tuple(unit for unit in spec.space.units if inside.fixes_size(unit))


@define
class DominationInside(Rule):
    """d <= c d' for all pairs of one universe, though not on the whole space, since the invariants fix numbers of records.

    With |x| = |x'| the unordered Hamming distance is half the symmetric difference, and a household replaced changes at most as
    many persons as the largest household has: neither is true of datasets of different size, which no universe holds.
    """

    name: ClassVar[str] = "domination-inside-universes"
    citation: ClassVar[str] = "Bailie et al. 2024, definition of a specification"
    hypotheses: ClassVar[Mapping[str, str]] = {
        "constant inside": "d <= c d' for all datasets that share a universe",
        "fixed numbers": "the invariants determine the numbers of records that the constant needs, and stay",
        "rescaled": "the new budget is at least c times the old one in every universe",
    }

    def propose(self, premise: PrivacySpec, goal: PrivacySpec) -> Iterator[Step]:
        smaller, larger, invariants = premise.input_divergence, goal.input_divergence, premise.multiverse.induced_by()
        if smaller == larger or premise.space != goal.space or not invariants:
            return
        inside = InsideUniverse(premise.space, invariants)
        known = distance_bound(smaller, larger, premise.space, multiverse=premise.multiverse, inside=inside)
        budget = (
            None if known is None else rescaled(premise.budget, premise.output_divergence, premise.output_divergence, known[0])
        )
        if known is None or budget is None:
            return
        yield Step(
            rule=self.name,
            block="input divergence",
            before=premise,
            after=premise.replace(input_divergence=larger, budget=budget),
            reason=f"{known[1]}; inside each universe, whose invariants fix the number of {smaller.counted_unit()}s",
            citation=self.citation,
            parameters={"constant": str(known[0])},
        )


# --- block 4: divergences that bound each other, and equal laws -----------------------------------


@define
class OutputDomination(Rule):
    """d_Pr' <= k d_Pr for all laws turns the Lipschitz constant L of a budget into k L.

    The constant is proved by one of the two divergences. A bound that is not linear (a delta that grows, a square) is a
    `Conversion`.
    """

    name: ClassVar[str] = "output-domination"
    citation: ClassVar[str] = "Bailie et al. 2024, the five building blocks and perverse guide to a smaller epsilon"
    hypotheses: ClassVar[Mapping[str, str]] = {
        "constant": "d_Pr' <= k d_Pr for all laws",
        "rescaled": "the new Lipschitz constant is at least k times the old one in every universe",
    }

    def propose(self, premise: PrivacySpec, goal: PrivacySpec) -> Iterator[Step]:
        source, target = premise.output_divergence, goal.output_divergence
        known = None if source == target else divergence_bound(target, source)
        budget = None if known is None else rescaled(premise.budget, source, target, known[0])
        if known is None or budget is None:
            return
        yield Step(
            rule=self.name,
            block="output divergence",
            before=premise,
            after=premise.replace(output_divergence=target, budget=budget),
            reason=known[1],
            citation=self.citation,
            parameters={"constant": str(known[0])},
        )


@define
class EqualLaws(Rule):
    """A budget of 0 requires d_Pr(P_x, P_x') = 0 at every finite distance, and so equal laws where only they are at 0.

    Equal laws are at 0 by every output divergence. (0, delta)-privacy and hockey sticks above epsilon = 0 ask for less.
    """

    name: ClassVar[str] = "equal-laws"
    citation: ClassVar[str] = "Bailie et al. 2024, the five building blocks"
    hypotheses: ClassVar[Mapping[str, str]] = {
        "separates laws": "d_Pr(P, Q) = 0 for P = Q alone",
        "budget 0": "the old budget is 0 in every universe",
    }

    def propose(self, premise: PrivacySpec, goal: PrivacySpec) -> Iterator[Step]:
        source, target = premise.output_divergence, goal.output_divergence
        if source == target or constant_of(premise) != ZERO or not source.separates_laws():
            return
        budget = UniformBudget(parameter=target.budget_parameters[0], value=ZERO)
        yield Step(
            rule=self.name,
            block="output divergence",
            before=premise,
            after=premise.replace(output_divergence=target, budget=budget),
            reason=f"only equal laws are at 0 by {source.in_words()}, and they are at 0 by every output divergence",
            citation=self.citation,
        )


# --- block 1: some of all datasets ----------------------------------------------------------------


@define
class SmallerSpace(Rule):
    """X' is a part of X, made of the same records; a mechanism on X is one on X' too, and its laws there are the same.

    The input divergence must satisfy d <= d' on X', since a distance may depend on the whole space (shortest paths get longer),
    and of the universes that invariants cut them out, since D'_c(x) is then D_c(x) within X'. The budget is one number.
    """

    name: ClassVar[str] = "smaller-space"
    citation: ClassVar[str] = "Bailie et al. 2024, definition of a specification"
    hypotheses: ClassVar[Mapping[str, str]] = {
        "part": "every dataset of the new space is one of the old space, made of the same records",
        "distances do not shrink": "d(x, x') on the new space is at least d(x, x') on the old one",
        "universes of invariants": "the universe of x on the new space is that on the old one, cut to the new space",
        "one budget": "the budget is the same number in all universes of both spaces",
    }

    def propose(self, premise: PrivacySpec, goal: PrivacySpec) -> Iterator[Step]:
        if premise.space == goal.space or premise.budget.uniform() is None or premise.multiverse.induced_by() is None:
            return
        reason = premise.space.includes(goal.space)
        if reason is None or not premise.input_divergence.grows_on_subspaces:
            return
        try:
            after = premise.replace(space=goal.space)
        except DpspecError:  # an invariant names a category that the smaller space lacks
            return
        check_part(premise.input_divergence, premise.space, goal.space)
        yield Step(rule=self.name, block="space", before=premise, after=after, reason=reason, citation=self.citation)


# --- block 2: smaller universes -------------------------------------------------------------------


@memoize(maxsize=512)
def determined(fine: tuple[Invariant, ...], coarse: tuple[Invariant, ...], space: DatasetSpace) -> Determination:
    """`determines`, cached: a search evaluates the same invariants more than once."""
    found = determines(fine, coarse, space)
    if found.answer is True:
        check_determined(fine, coarse, space)
    return found


@define
class FinerUniverses(Rule):
    """Every universe of the conclusion lies in one of the premise: it is the whole space, or its invariants are determined.

    The budget is one number, so that it is the same in every universe.
    """

    name: ClassVar[str] = "finer-universes"
    citation: ClassVar[str] = (
        "Bailie, Gong and Meng 2023, theorem on the universes of invariants; Bailie et al. 2024, perverse guide to a smaller "
        "epsilon"
    )
    hypotheses: ClassVar[Mapping[str, str]] = {
        "inside": "every universe of the conclusion lies in a universe of the premise",
        "one budget": "the budget is the same number in all universes",
    }

    def propose(self, premise: PrivacySpec, goal: PrivacySpec) -> Iterator[Step]:
        if premise.multiverse == goal.multiverse or premise.space != goal.space or premise.budget.uniform() is None:
            return
        coarse, fine = premise.multiverse.induced_by(), goal.multiverse.induced_by()
        if coarse == ():
            reason = "the premise protects across the whole space"
        elif coarse is None or fine is None:
            return
        else:
            found = determined(fine, coarse, goal.space)
            if found.answer is not True:
                return
            reason = f"its invariants determine those of the premise ({found.reason})"
        yield Step(
            rule=self.name,
            block="multiverse",
            before=premise,
            after=premise.replace(multiverse=goal.multiverse),
            reason=reason,
            citation=self.citation,
        )


@define
class ListedUniverses(Rule):
    """Every two datasets that the conclusion compares share a universe of the premise, with a budget that is no larger.

    The promise is about pairs of datasets, so no universe need be contained in another one. On spaces that can be listed.
    """

    name: ClassVar[str] = "listed-universes"
    citation: ClassVar[str] = "Bailie et al. 2024, definition of a specification"
    hypotheses: ClassVar[Mapping[str, str]] = {
        "shared": "every two datasets that the conclusion compares share a universe of the premise",
        "no smaller": "in one that they share, the budget of the premise is at most that of the conclusion",
    }

    def propose(self, premise: PrivacySpec, goal: PrivacySpec) -> Iterator[Step]:
        if premise.multiverse == goal.multiverse or premise.space != goal.space:
            return
        keeps = premise.budget.uniform() is not None
        if not keeps and premise.output_divergence != goal.output_divergence:
            return
        after = premise.replace(multiverse=goal.multiverse, budget=premise.budget if keeps else goal.budget)
        pairs = compared_pairs(after)
        if pairs is None:
            return
        count = 0
        try:
            bounds = {universe.label: premise.bound(universe) for universe in listed_universes(premise.multiverse, premise.space)}
            for universe, left, right in pairs:
                count += 1
                shared = shared_labels(premise.multiverse, left, right, premise.space)
                allowed = after.bound(universe)
                if not any(bounds[label] <= allowed for label in shared if label in bounds):
                    return
        except NotInUniverseError:  # a table without a number for a universe
            return
        yield Step(
            rule=self.name,
            block="multiverse",
            before=premise,
            after=after,
            reason=f"{count_of(count, 'pair')} that the conclusion compares, and each shares a universe of the premise",
            citation=self.citation,
        )


# --- the unit that a promise is for ---------------------------------------------------------------


@attrs.frozen(kw_only=True)
class UnitPromise:
    """The promise for one unit that a promise for another unit implies.

    Args:
        unit: the other unit.
        most: how many of the promise's own units it holds at most.
        budget: the promise for it; None where none follows.
        reason: why.
    """

    unit: str
    most: int | None
    budget: Budget | None
    reason: str


def promise_for(spec: PrivacySpec, unit: str, *, called: str | None = None) -> UnitPromise:
    """The promise of a specification for another unit than it counts, which holds so many of its own units at most.

    Where k of its own units change, two datasets are at most k times the price of one change apart (`unit_price`). The laws of
    datasets at k steps have at most k times the divergence of neighbours, where d_Pr obeys the triangle inequality (group
    privacy: Dwork and Roth 2014, Theorem 2.2, for epsilon; Bun and Steinke 2016, Proposition 1.9, for rho, which grows with k^2).
    Approximate privacy does not: there (epsilon, delta) becomes (k epsilon, k e^((k - 1) epsilon) delta).

    Args:
        spec: the promise.
        unit: the other unit.
        called: the counted unit in the terms of the dataset space, where that has another name for it.
    """
    own = called or spec.input_divergence.counted_unit()
    most = None if own is None else most_within(own, unit)
    if most is None or own is None:
        return UnitPromise(unit=unit, most=None, budget=None, reason=f"nothing bounds how many of {own} one {unit} holds")
    reason = f"one {unit} lies in one {own}" if most == 1 else f"one {unit} holds at most {most} of {own}"
    price = spec.input_divergence.unit_price(spec.space)
    if price is None:
        lacks = f", and nothing bounds the distance of two datasets that differ in one {own}"
        return UnitPromise(unit=unit, most=most, budget=None, reason=reason + lacks)
    reason += f", each at a distance of at most {price}" if price > 1 else ""
    if price <= 1 and most == 1:
        return UnitPromise(unit=unit, most=1, budget=spec.budget, reason=reason)
    budget, lacks = _grown(spec, price * most)
    return UnitPromise(unit=unit, most=most, budget=budget, reason=f"{reason}{lacks}")


def _grown(spec: PrivacySpec, steps: Number) -> tuple[Budget | None, str]:
    """The budget for datasets so many steps apart; None where none follows, and why."""
    budget, value, standard = spec.budget, spec.budget.uniform(), spec.output_divergence
    if not standard.is_metric:
        return None, f", and {standard.in_words()} does not add up along a path"
    if spec.input_divergence.is_neighbour_form and spec.multiverse.induced_by() != ():
        return None, ", and a path of neighbours may leave the universe"
    if value is None:
        return None, f"; {budget.unpublished() or 'the budget differs'}"
    constant = rounded_product(standard.lipschitz(budget.parameter, value), steps)
    return stands_for(budget, number(standard.budget_for(budget.parameter, constant))), ""
