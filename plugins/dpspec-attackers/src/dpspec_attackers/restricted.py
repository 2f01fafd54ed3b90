"""The attacker who is after some attributes only, and knows all others: per-attribute semantics (K-D29, K-D26 class g)."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Annotated, Any, ClassVar

from dpspec.attacker import AttackerModel, Relation, RiskStatement
from dpspec.blocks.budget import UniformBudget
from dpspec.blocks.space import Dataset
from dpspec.errors import AttackerMisfitError, NotReachedError
from dpspec.exact import Number, largest
from dpspec.laws.power import largest_power
from dpspec.mechanism import Mechanism
from dpspec.params import Exact, Items, Rational, Text, define
from dpspec.risk.allowed import allowed_power
from dpspec.risk.candidates import Candidates, candidates_within
from dpspec.risk.pairs import Pairs, pairs_within
from dpspec.spec import PrivacySpec
from dpspec_attackers.knowledge import AttributesOnly
from dpspec_attackers.semantics import at, said
from dpspec_attackers.tester import LEVELS

POWER = "power against the secret attributes"


@define
class AttributeRestricted(AttackerModel):
    """A tester of two datasets that differ in one record, and in that record in the secret attributes alone.

    A specification by itself promises no more about one attribute than about the whole record: a mechanism may spend all of its
    budget there. When only some queries of a release can react to the attributes, the budget of those queries replaces the whole.
    Which ones can is a judgement of the user, and the budgets of several such scenarios share queries and must not be added.

    Args:
        attributes: the secret attributes.
        reacting: the budget of the queries that can react, in the parameter of the specification; without it the whole budget.
        levels: the levels at which the power is shown, in (0, 1).
        distance: how far apart the two datasets may be, in the unit of the input divergence.
    """

    name: ClassVar[str] = "attribute-restricted"
    title: ClassVar[str] = "wants some attributes of a record and knows all others"
    knowledge: ClassVar[str] = "every other record, and every attribute of the target's record but the secret ones"
    target: ClassVar[str] = "the secret attributes of one record"
    observation: ClassVar[str] = "the whole release, processed in any way"
    assumption: ClassVar[str] = "only the secret attributes are protected; correlated ones tell about them (K-S22)"
    source: ClassVar[str] = "K-D26 class g, K-D29, K-A12"

    attributes: Annotated[tuple[str, ...], Items(Text(), least=1)]
    reacting: Annotated[Number, Exact(0, "inf", open_high=True)] | None = None
    levels: Annotated[tuple[Fraction, ...], Items(Rational(0, 1, open_low=True, open_high=True), least=1)] = LEVELS  # type: ignore[assignment]
    distance: Annotated[Number, Exact(0, "inf", open_low=True, open_high=True)] = 1  # type: ignore[assignment]

    def worst_case(self, spec: PrivacySpec) -> tuple[RiskStatement, ...]:
        return self._candidates(spec).stated(partial(self._allowed, spec))

    def _candidates(self, spec: PrivacySpec) -> Candidates:
        self._places(spec)
        promised = spec
        if self.reacting is not None:
            promised = spec.replace(budget=UniformBudget(parameter=spec.budget.parameter, value=self.reacting))
        return candidates_within(promised, self.distance, partial(self._differ_only_there, spec))

    def _allowed(self, spec: PrivacySpec, bound: Number) -> tuple[RiskStatement, ...]:
        known = f"{self.assumption}; the two datasets are at distance {self.distance} at most"
        if self.reacting is not None:
            known = f"{known}; only queries worth {spec.budget.parameter} = {self.reacting} react to them, as the user judges"
        theorem = f"{AttributesOnly.theorem}; largest power of two laws that {spec.output_divergence.name} allows at this bound"
        powers = ((level, allowed_power(spec.output_divergence, bound, level)) for level in self.levels)
        return tuple(said(POWER, at(level=level), Relation.AT_MOST, power, theorem, known, trivial=1) for level, power in powers)

    def under(self, mechanism: Mechanism, spec: PrivacySpec) -> tuple[RiskStatement, ...]:
        found, about = self._candidates(spec), partial(self._allowed, spec)
        if found.bound is None:
            return tuple(found.published(about))
        looked = pairs_within(spec, self.distance)
        kept = tuple(pair for pair in looked.pairs if self._differ_only_there(spec, *pair))
        if not kept:
            rule = "make no difference between two datasets within the distance"
            raise NotReachedError(f"attributes {', '.join(self.attributes)}", rule, "ask for a larger distance")
        pairs = list(Pairs(pairs=kept, complete=looked.complete, scope="").dichotomies(mechanism, spec))
        relation = Relation.EQUALS if looked.complete else Relation.AT_LEAST
        theorem = f"likelihood-ratio test, {len(kept):,} ordered pairs that differ in the attributes alone"
        own = (
            said(POWER, at(level=level), relation, power, theorem, self.assumption, trivial=1)
            for level, power in ((level, largest(largest_power(p, level) for p in pairs)) for level in self.levels)
        )
        return (*found.published(about), *found.left_open(own))

    def _places(self, spec: PrivacySpec) -> tuple[str, tuple[int, ...]]:
        """The unit, and where its secret attributes stand in a record."""
        for unit in spec.space.units:
            names = [attribute.name for attribute in spec.space.attributes_of(unit)]
            if set(self.attributes) <= set(names):
                return unit, tuple(names.index(name) for name in self.attributes)
        known = sorted({a.name for unit in spec.space.units for a in spec.space.attributes_of(unit)})
        rule = f"are not all attributes of one unit of the space {spec.space.name}"
        raise AttackerMisfitError("attributes", rule, f"known: {', '.join(known) or 'none'}", value=", ".join(self.attributes))

    def _differ_only_there(self, spec: PrivacySpec, left: Dataset, right: Dataset) -> bool:
        unit, places = self._places(spec)
        sides = [spec.space.records(x, unit) for x in (left, right)]
        hidden = [tuple(_without(record, places) for record in side) for side in sides]
        if not spec.space.is_ordered:
            hidden = [tuple(sorted(side, key=repr)) for side in hidden]
        return hidden[0] == hidden[1]


def _without(record: tuple[Any, ...], places: tuple[int, ...]) -> tuple[Any, ...]:
    return tuple(value for place, value in enumerate(record) if place not in places)
