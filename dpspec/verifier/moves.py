"""Changes of a whole unit, and exchanges between two: the costliest that are found, from how a mechanism is made.

A *move* gives one record of the largest unit other values of some attributes; all that lies in the record moves with it, such as
the persons of a household that moves to another block. An *exchange* gives two records each other's values. An exchange keeps
every table of the moved attributes by themselves, so that it can stay inside a universe where no move does.

The records that are tried have few kinds. What is found is a lower bound of the largest number over all such changes.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import cast

import attrs

from dpspec.base.errors import AttackerMisfitError, NoFormulaError, NotReachedError, count
from dpspec.base.exact import INFINITY, Number
from dpspec.blocks.parts import Changes, nesting_of
from dpspec.blocks.space import MEMBERS, Attribute, Dataset, Pair, Record
from dpspec.grammar.mechanism import Mechanism, stated_structure
from dpspec.grammar.sizes import NoStructure
from dpspec.grammar.spec import PrivacySpec
from dpspec.risks.candidates import differing_invariants, is_small, measured_datasets
from dpspec.risks.mechanism_pairs import pair_of_views
from dpspec.verifier.changes import pairs_of
from dpspec.verifier.secrets import SecretChange, changed_attribute, check_names, may_differ, reacts

MOST_TRIED = 48
"""The largest number of pairs of datasets whose laws are compared."""
MOST_LOOKED_AT = 2_000
"""The largest number of pairs of which it is checked whether they lie in one universe."""
FEW_CATEGORIES = 8
"""Of an attribute with at most so many categories all are tried, of another the first and the last."""
MOST_KINDS = 24
"""The largest number of kinds of records that are tried, for each of the two records of an exchange."""
FIRST_PARENTS = 64
"""The number of categories of a coarser attribute that are searched for one that contains two finer ones."""

Values = Mapping[str, Hashable]
Places = tuple[Values, Values]


def unit_change(
    mechanism: Mechanism,
    spec: PrivacySpec,
    moved: Sequence[str],
    within: str | None = None,
    change: tuple[str, str] | None = None,
    *,
    members: int = 1,
    exchange: bool = False,
) -> SecretChange:
    """The costliest change of one record of the largest unit, or exchange between two, that is found in one universe.

    Args:
        mechanism, spec: the mechanism, which states its structure, and the specification.
        moved: attributes of the largest unit; what lies within them changes with them.
        within: a coarser attribute, inside whose category they stay.
        change: two categories of one of these attributes.
        members: how many records lie in each record that moves, where the unit holds others.
        exchange: whether two records exchange their values.

    Raises:
        AttackerMisfitError: no such attribute, or `within` is not coarser.
        NoFormulaError: the mechanism does not state how it is made, or its answers cannot be compared.
        NotReachedError: no two datasets of one universe differ so, with the invariants in which they differ.
    """
    try:
        structure = stated_structure(mechanism, spec.space)
    except NoStructure as fault:
        raise NoFormulaError(f"mechanism {mechanism.name}", str(fault), "ask about datasets that are named") from fault
    if structure is None or structure.is_sampled:
        check_names(moved, within, spec.space, "exchange" if exchange else "move")
        rule = "does not state how its answers are made of records" if structure is None else "reads a sample of the records"
        raise NoFormulaError(f"mechanism {mechanism.name}", rule, "ask about datasets that are named")
    if not spec.space.units or Changes.found_in(spec.space) is None:
        rule = "has no records of a unit that can change"
        raise AttackerMisfitError(f"space {spec.space.name}", rule, "ask about datasets that are named")
    unit = spec.space.units[0]
    _check_members(spec, members)
    known = {attribute.name: attribute for attribute in spec.space.attributes_of(unit)}
    given = {name: attribute for name, attribute in known.items() if name != MEMBERS}
    free = may_differ(moved, within, given, "exchange" if exchange else "move")
    split = None if change is None else (changed_attribute(change, moved, given), change)
    best: tuple[tuple[object, ...], SecretChange] | None = None
    apart: list[Pair] = []
    places = _places(known, free, split)
    trials = _pairs(spec, known, places, members=members, exchange=exchange)
    compared = 0
    for left, right in itertools.islice(trials, MOST_LOOKED_AT):
        if compared >= MOST_TRIED:
            break
        if not spec.multiverse.share_universe(left, right, spec.space):
            apart += [(left, right)] if len(apart) < MOST_KINDS else []
            continue
        distance = spec.distance(left, right)
        if distance.is_infinite or distance == 0:
            continue
        compared += 1
        laws = pair_of_views(structure, spec, left, right)
        if laws is None:
            continue
        cost = spec.output_divergence.evaluate(laws)
        if best is None or (cost.lower, cost.upper) > best[0]:
            reacting = tuple(view for view in structure.views if reacts(view, (left, right), spec))
            found = SecretChange(
                attributes=free, pair=(left, right), reacting=reacting, measured=len(structure.views), distance=distance,
                is_worst=False,
            )  # fmt: skip
            best = (cost.lower, cost.upper), found
    differing = differing_invariants(spec, apart)
    if best is not None:
        return attrs.evolve(best[1], distinguishing=differing)
    listed = ", ".join(map(str, differing))
    which = "of one universe, at a finite distance above 0, that were tried"
    rule = f"change in no two datasets {which}{f': they differ in {listed}' if listed else ''}"
    advice = "what is published distinguishes them with certainty" if listed else "name further attributes"
    raise NotReachedError(f"attributes {', '.join(free)}", rule, advice if exchange else f"{advice}; try --exchange")


@attrs.frozen(kw_only=True, slots=False)
class AskedChange:
    """A condition on two datasets: that they differ by one change, or exchange, that is asked about.

    Args:
        spec: the specification.
        unit: the unit of the records that change.
        free: the attributes that may differ.
        change: an attribute and the two of its categories that are exchanged for each other; None for any.
        members: how many records lie in each record that changes; None where that is not asked.
        exchange: whether two records exchange their values.
    """

    spec: PrivacySpec
    unit: str
    free: tuple[str, ...]
    change: tuple[str, tuple[str, str]] | None = None
    members: int | None = None
    exchange: bool = False

    def __call__(self, left: Dataset, right: Dataset) -> bool:
        """Whether the two differ so: in one record, or in two that exchanged their values."""
        changed = self._changed(left, right)
        if len(changed) != (2 if self.exchange else 1):
            return False
        if self.members is not None and not self._have_members([before for before, _ in changed]):
            return False
        if not self.exchange:
            return self._agree(*changed[0]) and self._is_of_categories(*changed[0])
        (one, _), (other, _) = changed
        after = Counter(record for _, record in changed)
        made = self._with_values_of(one, other), self._with_values_of(other, one)
        in_place = not self.spec.space.is_ordered or made == tuple(record for _, record in changed)
        return Counter(made) == after and in_place and self._is_of_categories(one, other)

    @cached_property
    def _names(self) -> tuple[str, ...]:
        return tuple(attribute.name for attribute in self.spec.space.attributes_of(self.unit))

    def _changed(self, left: Dataset, right: Dataset) -> list[tuple[Record, Record]]:
        """The records that differ, before and after; of datasets without an order, in any order."""
        before, after = (self.spec.space.records(dataset, self.unit) for dataset in (left, right))
        if len(before) != len(after):
            return []
        if self.spec.space.is_ordered:
            return [(one, other) for one, other in zip(before, after, strict=True) if one != other]
        gone, come = Counter(before), Counter(after)
        return list(zip((gone - come).elements(), (come - gone).elements(), strict=True))

    def _agree(self, one: Record, other: Record) -> bool:
        return all(a == b for name, a, b in zip(self._names, one, other, strict=True) if name not in self.free)

    def _with_values_of(self, one: Record, other: Record) -> Record:
        """A record with the free values of another one."""
        return tuple(b if name in self.free else a for name, a, b in zip(self._names, one, other, strict=True))

    def _is_of_categories(self, one: Record, other: Record) -> bool:
        if self.change is None:
            return True
        place = self._names.index(self.change[0])
        return {str(one[place]), str(other[place])} == set(self.change[1])

    def _have_members(self, records: Sequence[Record]) -> bool:
        """Whether the records hold so many each; one of them may be empty where another one is not."""
        if MEMBERS not in self._names:
            return True
        held = {len(cast("tuple[object, ...]", record[self._names.index(MEMBERS)])) for record in records}
        return self.members in held and held <= {self.members, 0}


def asked_change(
    spec: PrivacySpec,
    kind: str,
    free: tuple[str, ...],
    *,
    named: Sequence[str],
    change: tuple[str, str] | None,
    members: int,
) -> AskedChange:
    """The condition of a question about secrets, moves or exchanges.

    Args:
        spec: the specification.
        kind: secret, move or exchange.
        free: the attributes that may differ: those that are named, with those that follow from them.
        named: the attributes that are asked about.
        change: two categories of one of them, if they are given.
        members: how many records lie in each record that moves.
    """
    steps = spec.input_divergence.record_steps(spec.space)
    unit = steps.unit if kind == "secret" and steps is not None else spec.space.units[0]
    known = {attribute.name: attribute for attribute in spec.space.attributes_of(unit)}
    split = None if change is None else (changed_attribute(change, named, known), change)
    inside = None if kind == "secret" else members
    return AskedChange(spec=spec, unit=unit, free=free, change=split, members=inside, exchange=kind == "exchange")


def farthest_asked(spec: PrivacySpec, asked: AskedChange, distance: Number) -> Number:
    """The largest distance of two datasets that differ as is asked, of a space that can be listed; otherwise the given one."""
    if not is_small(spec):
        return distance
    near = measured_datasets(spec).near(INFINITY)
    share = spec.multiverse.share_universe
    far = (spec.distance(*pair) for pair in near if (asked(*pair) or asked(*pair[::-1])) and share(*pair, spec.space))
    return max((one for one in far if not one.is_infinite), default=distance)


def _check_members(spec: PrivacySpec, members: int) -> None:
    units = spec.space.units
    if len(units) < 2:
        if members != 1:
            rule = f"belongs to units that hold others; a {units[0]} record holds none"
            raise AttackerMisfitError("members", rule, "leave it out", value=members)
        return
    most = nesting_of(spec.space).most_within(units[1], units[0])
    if members < 0 or (most is not None and members > most):
        rule = "must be a number from 0" if most is None else f"must be a number from 0 to {most}"
        raise AttackerMisfitError("members", rule, "such as --members 3", value=members)


def in_words(found: SecretChange, spec: PrivacySpec, *, members: int, exchange: bool) -> str:
    """The change in words."""
    unit, names = spec.space.units[0], ", ".join(found.attributes)
    holding = f" of {members}" if len(spec.space.units) > 1 else ""
    what = f"two {unit} records{holding} exchange {names}" if exchange else f"one {unit} record{holding} changes {names}"
    return f"the costliest change found where {what}: {len(found.reacting)} of {count(found.measured, 'measurement')} react"


def _pairs(
    spec: PrivacySpec, known: Mapping[str, Attribute], places: Iterable[Places], *, members: int, exchange: bool
) -> Iterator[Pair]:
    """Pairs of datasets that differ by such a change, those first whose values differ in the coarsest attribute."""
    for two in places:
        for records in _records(spec, known, two, members=members, exchange=exchange):
            gone, come = zip(*records, strict=True)
            for left, right in pairs_of(gone, come, spec.space, spec.space.units[0]):
                if left != right:
                    yield left, right
                    break


def _places(
    known: Mapping[str, Attribute], free: Sequence[str], split: tuple[str, tuple[str, str]] | None
) -> Iterator[Places]:  # fmt: skip
    """Two sets of values of the moved attributes and of what they lie within, for each attribute in which they can part.

    Args:
        known: the attributes of the unit.
        free: those that may differ.
        split: the attribute in which they part, with its two categories.
    """
    nested = [name for name in known if name in free or any(name in _outer(other, known) for other in free)]
    if split is not None:
        one, other = (_with_outer(known, split[0], category) for category in split[1])
        if all(one[name] == other[name] for name in one if name not in free):
            both = _completed(known, nested, one), _completed(known, nested, other)
            if None not in both:
                yield both  # type: ignore[misc]
        return
    for name in sorted(free, key=lambda one: len(_outer(one, known))):
        for start in _chains(known, [*reversed(_outer(name, known))]):
            two = _siblings(known, name, start)
            if two is None:
                continue
            sides = [{**start, name: value} for value in two]
            whole = [_completed(known, nested, side) for side in sides]
            if None not in whole:
                yield whole[0], whole[1]  # type: ignore[misc]
                break


def _outer(name: str, known: Mapping[str, Attribute]) -> tuple[str, ...]:
    """The attributes that contain an attribute, the next coarser one first."""
    within = known[name].within
    return () if within is None else (within, *_outer(within, known))


def _chains(known: Mapping[str, Attribute], names: Sequence[str]) -> Iterator[dict[str, Hashable]]:
    """Values of attributes that lie in each other, the coarsest first; the first categories of the last one."""
    if not names:
        yield {}
        return
    *coarser, last = names
    attribute = known[last]
    for value in itertools.islice(attribute.values(), FIRST_PARENTS):
        values: dict[str, Hashable] = {last: value}
        finer = attribute
        for name in reversed(coarser):
            values[name] = finer.parent(values[finer.name], known[name])
            finer = known[name]
        yield values


def _with_outer(known: Mapping[str, Attribute], name: str, category: str) -> dict[str, Hashable]:
    """A category of an attribute with those that it lies in."""
    values: dict[str, Hashable] = {name: category}
    finer = known[name]
    for outer in _outer(name, known):
        values[outer] = finer.parent(values[finer.name], known[outer])
        finer = known[outer]
    return values


def _siblings(known: Mapping[str, Attribute], name: str, start: Values) -> tuple[Hashable, Hashable] | None:
    """Two categories of an attribute in one category of the coarser one."""
    attribute = known[name]
    inside = attribute.values() if attribute.within is None else (
        attribute.children(str(start[attribute.within]), known[attribute.within])
    )  # fmt: skip
    two = tuple(itertools.islice(inside, 2))
    return (two[0], two[1]) if len(two) > 1 else None


def _completed(known: Mapping[str, Attribute], names: Sequence[str], values: Values) -> dict[str, Hashable] | None:
    """The same with the first category of each finer attribute."""
    found = dict(values)
    for name in sorted(names, key=lambda one: len(_outer(one, known))):
        if name in found:
            continue
        within = known[name].within
        inside = known[name].values() if within is None else known[name].children(str(found[within]), known[within])
        first = next(iter(inside), None)
        if first is None:
            return None
        found[name] = first
    return found


def _records(
    spec: PrivacySpec, known: Mapping[str, Attribute], places: Places, *, members: int, exchange: bool
) -> Iterator[tuple[tuple[Record, Record], ...]]:
    """The records that change, each before and after: one, or two that exchange."""
    here, there = places
    kinds = list(itertools.islice(_kinds(spec, known, here, members), MOST_KINDS))
    if not exchange:
        yield from (((_made(known, here, kind), _made(known, there, kind)),) for kind in kinds)
        return
    pairs = sorted(itertools.product(range(len(kinds)), repeat=2), key=lambda two: -_unlike(kinds[two[0]], kinds[two[1]]))
    for one, other in pairs:
        if kinds[one] != kinds[other] or spec.space.is_ordered:  # equal records at two places exchange them as well
            yield tuple(
                (_made(known, before, kinds[place]), _made(known, after, kinds[place]))
                for place, before, after in ((one, here, there), (other, there, here))
            )


def _unlike(one: Values, other: Values) -> int:
    return sum(one[name] != other[name] for name in one)


def _kinds(spec: PrivacySpec, known: Mapping[str, Attribute], fixed: Values, members: int) -> Iterator[Values]:
    """Values of the attributes that stay, few of each; the records inside are equal, or there are none."""
    names = [name for name in known if name not in fixed]
    options: list[list[Hashable]] = []
    for name in names:
        if name == MEMBERS:
            options.append([*_inside(spec, members), ()])
            continue
        attribute = known[name]
        few = attribute.size <= FEW_CATEGORIES
        options.append(list(attribute.values()) if few else [attribute.category(0), attribute.category(-1)])
    ranked = sorted(itertools.islice(itertools.product(*options), 4096), key=lambda row: row.count(()))
    for chosen in _spread(ranked):
        kind = dict(zip(names, chosen, strict=True))
        whole: dict[str, Hashable] = {**fixed, **kind}
        nested = (a for a in known.values() if a.within is not None and a.name in kind)
        if all(a.parent(kind[a.name], known[str(a.within)]) == whole[str(a.within)] for a in nested):
            yield kind


def _spread(rows: Sequence[tuple[Hashable, ...]]) -> Iterator[tuple[Hashable, ...]]:
    """The rows, from both ends in turn: the first kinds differ in as much as they can."""
    for place in range((len(rows) + 1) // 2):
        yield rows[place]
        if place != len(rows) - 1 - place:
            yield rows[-1 - place]


def _inside(spec: PrivacySpec, members: int) -> Iterator[tuple[Record, ...]]:
    """Equal records inside one, some of the first and some of the last kind."""
    if len(spec.space.units) < 2 or not members:
        return
    outer = {attribute.name for attribute in spec.space.attributes_of(spec.space.units[0])}
    own = [a for a in spec.space.attributes_of(spec.space.units[1]) if a.name not in outer]
    for place in (0, -1):
        values = tuple(attribute.category(place) for attribute in own)
        yield (values,) * members


def _made(known: Mapping[str, Attribute], places: Values, kind: Values) -> Record:
    values = {**places, **kind}
    return tuple(values[name] for name in known)
