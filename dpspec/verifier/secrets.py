"""The worst change of one record that touches nothing but some attributes, from how a mechanism is made.

An attacker who knows all but some attributes of one record compares datasets that differ there alone. Which answers react is
computed from the tables that the mechanism reads: an answer reacts where the record leaves or enters one of its cells. Changes
are enumerated by their patterns (`dpspec.verifier.changes`); of those that keep the invariants the costliest is taken for which
two datasets of one universe are found.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import attrs

from dpspec.base.errors import AttackerMisfitError, DpspecError, NoFormulaError, NotReachedError
from dpspec.base.exact import Number
from dpspec.base.params import did_you_mean
from dpspec.blocks.invariant import Invariant, Marginal
from dpspec.blocks.space import MEMBERS, Attribute, DatasetSpace, Pair
from dpspec.grammar.mechanism import Mechanism, stated_structure
from dpspec.grammar.sizes import NoStructure
from dpspec.grammar.spec import PrivacySpec
from dpspec.grammar.structure import Structure
from dpspec.grammar.views import Case, NoisyCount, Report, View, cells_of
from dpspec.risks.mechanism_pairs import FARTHEST
from dpspec.verifier.changes import (
    MOST_PATTERNS,
    AttributeChange,
    Pattern,
    SeenAttributes,
    options_of,
    pairs_of,
    read_by,
    records_of,
    seen_by,
)
from dpspec.verifier.components import Ties, names_read
from dpspec.verifier.sensitivity import MissingStep, RecordChange, Sensitivity

if TYPE_CHECKING:
    from dpspec.verifier.standing import Standing

TRIED = 12
"""The number of patterns of one cost that are turned into datasets."""


@attrs.frozen(kw_only=True)
class SecretChange:
    """The worst change of a secret.

    Args:
        attributes: the attributes that may differ: the secret ones, with those that follow from them.
        pair: two datasets of one universe that differ there alone.
        reacting: the measurements of the mechanism whose answers differ on them.
        measured: the number of measurements.
        distance: the distance of the two datasets.
        is_worst: whether every other change of the secret moves some of the same answers, and no others, and the pair shows how
            far these can move: of some answers, such as the largest of several, that depends on the other records.
        distinguishing: the invariants in which datasets differ that were tried and share no universe.
    """

    attributes: tuple[str, ...]
    pair: Pair
    reacting: tuple[View, ...]
    measured: int
    distance: Number
    is_worst: bool
    distinguishing: tuple[Invariant, ...] = ()


def worst_change(
    mechanism: Mechanism,
    spec: PrivacySpec,
    secret: Sequence[str],
    within: str | None = None,
    change: tuple[str, str] | None = None,
) -> SecretChange:
    """The change of one record that differs in the secret attributes alone, and moves the laws the most.

    Args:
        mechanism, spec: the mechanism, which states its structure, and the specification.
        secret: attributes of the unit of the input divergence.
        within: a coarser attribute, inside whose category the secret one stays.
        change: two categories of one secret attribute; the record changes from the first to the second.

    Raises:
        AttackerMisfitError: no such attribute, or `within` is not coarser than a secret attribute.
        NoFormulaError: the mechanism does not state how it is made, or its answers cannot be compared.
        NotReachedError: no two datasets of one universe differ there alone.
    """
    try:
        structure = stated_structure(mechanism, spec.space)
    except NoStructure as fault:
        raise NoFormulaError(f"mechanism {mechanism.name}", str(fault), "ask about datasets that are named") from fault
    if structure is None:
        check_names(secret, within, spec.space)
        rule = "does not state how its answers are made of records"
        raise NoFormulaError(f"mechanism {mechanism.name}", rule, "ask about datasets that are named")
    try:
        return _worst(structure, spec, secret, within, change)
    except MissingStep as fault:
        raise NoFormulaError(f"mechanism {mechanism.name}", str(fault.missing), "ask about datasets that are named") from fault


def _worst(
    structure: Structure, spec: PrivacySpec, secret: Sequence[str], within: str | None, change: tuple[str, str] | None
) -> SecretChange:  # fmt: skip
    sensitivity, larger = _of_the_unit(structure, spec)
    unit = sensitivity.steps.unit
    known = {attribute.name: attribute for attribute in spec.space.attributes_of(unit)}
    free = may_differ(secret, within, known)
    shared = {attribute.name for other in larger for attribute in spec.space.attributes_of(other)}
    unread = dict.fromkeys(free, ())  # an attribute that nothing reads may differ as well
    columns = sensitivity.singled_out(unit, {**unread, **_singled(change, secret, known)})
    found: dict[Case, list[Pattern]] = {}
    published: dict[Marginal, None] = {}
    tables = [table for view in sensitivity.views if view.table.unit == unit for table in read_by(view)]
    tables += [*sensitivity.fixed(unit)]
    for pattern in _patterns(columns, free, change, [names_read(table) for table in tables]):
        if telling := [table for table in sensitivity.fixed(unit) if seen_by(table, pattern, columns)]:
            published |= dict.fromkeys(telling)
            continue
        for laws in sensitivity.cases(pattern):
            found.setdefault(laws, []).append(pattern)
    changes = [
        RecordChange(patterns=tuple(patterns), price=sensitivity.steps.replaced, laws=laws) for laws, patterns in found.items()
    ]
    costs = sensitivity.costs(changes, 64)
    for candidate, _ in costs:
        pair = _realised(sensitivity, candidate, columns, free)
        if pair is not None:
            views = structure.views
            reacting = tuple(view for view in views if reacts(view, pair, spec))
            moved = Counter(candidate.laws)
            worst = all(not Counter(other.laws) - moved for other in changes)
            return SecretChange(
                attributes=free,
                pair=pair,
                reacting=reacting,
                measured=len(views),
                distance=spec.distance(*pair),
                is_worst=worst and sensitivity.is_replaced and not shared & set(free) and _attains(views, candidate, pair, spec),
            )
    difference = f": they differ in {', '.join(map(str, published))}" if published else ""
    advice = "what is published distinguishes them with certainty; leave out --within, or name further attributes"
    rule = f"differ alone in no two datasets of one universe{difference}"
    raise NotReachedError(f"attributes {', '.join(free)}", rule, advice if difference else advice.partition("; ")[2])


def farthest_pairs(mechanism: Mechanism | None, spec: PrivacySpec, standing: Standing) -> tuple[tuple[Pair, ...], str]:
    """Two datasets on which a mechanism has numbers of its own, and which they are in words.

    First those with the largest divergence in the verification of the claim. Where these are at distance 0 and refute the claim,
    no budget applies to them; then the costliest change of the content of one record, if one is found.

    Args:
        mechanism, spec: the mechanism and the specification.
        standing: the claim status, with the verdicts behind it.
    """
    found, unit = standing.farthest(spec), spec.input_divergence.counted_unit()
    if mechanism is None or unit not in spec.space.units or not found or any(spec.distance(*pair) > 0 for pair in found):
        return found, FARTHEST
    outer = spec.space.units[: spec.space.units.index(unit)]
    shared = {attribute.name for other in outer for attribute in spec.space.attributes_of(other)}
    own = [attribute.name for attribute in spec.space.attributes_of(unit) if attribute.name not in shared | {MEMBERS}]
    try:
        return (worst_change(mechanism, spec, own).pair,), "the costliest change of one record that is found"
    except DpspecError:
        return found, FARTHEST


def _of_the_unit(structure: Structure, spec: PrivacySpec) -> tuple[Sensitivity, tuple[str, ...]]:
    """The effect of changes of one record on the answers about its unit and smaller ones; and the larger units of other answers.

    Two datasets that differ in attributes of one person alone have the same households, so that tables of households are equal on
    them. Where the attribute is one of the household, such as its block, a household of one person may move with it.
    """
    steps = spec.input_divergence.record_steps(spec.space)
    units = spec.space.units
    outer = units[: units.index(steps.unit)] if steps is not None and steps.unit in units else ()
    larger = tuple(unit for unit in outer if any(view.table.unit == unit for view in structure.views))
    views = tuple(view for view in structure.views if view.table.unit not in larger)
    return Sensitivity(structure=attrs.evolve(structure, views=views), spec=spec), larger


def check_names(names: Sequence[str], within: str | None, space: DatasetSpace, called: str = "secret") -> None:
    """Raise AttackerMisfitError for a name that no unit has, before a mechanism without structure is blamed."""
    known = {attribute.name: attribute for unit in space.units for attribute in space.attributes_of(unit)}
    if known:
        may_differ(names, within, known, called)


def may_differ(
    secret: Sequence[str], within: str | None, known: Mapping[str, Attribute], called: str = "secret"
) -> tuple[str, ...]:  # fmt: skip
    """The attributes that may differ: the secret ones, what lies within them, and what they lie within, up to a coarser one.

    Args:
        secret: the attributes that were named.
        within: the coarser attribute, if any.
        known: the attributes of the unit.
        called: the option by which they were named, for a message.
    """
    for name in (*secret, *(() if within is None else (within,))):
        if name not in known:
            advice = did_you_mean(name, known) or f"known: {', '.join(known)}"
            raise AttackerMisfitError(called if name in secret else "within", "is no attribute of the unit", advice, value=name)
    outer = {name: _outer(name, known) for name in known}
    if within is not None and not any(within in outer[name] for name in secret):
        rule = f"is not coarser than {', '.join(secret)}"
        raise AttackerMisfitError("within", rule, "name an attribute in which a secret one lies", value=within)
    kept = set() if within is None else {within, *outer[within]}
    free = {name for name in known if name in secret or set(secret) & set(outer[name])}
    free |= {name for one in secret for name in outer[one]}
    return tuple(name for name in known if name in free - kept)


def _outer(name: str, known: Mapping[str, Attribute]) -> tuple[str, ...]:
    """The attributes that contain an attribute, the next coarser one first."""
    found: list[str] = []
    while (within := known[name].within) is not None:
        found.append(within)
        name = within
    return tuple(found)


def _singled(
    change: tuple[str, str] | None, secret: Sequence[str], known: Mapping[str, Attribute]
) -> Mapping[str, tuple[frozenset[str], ...]]:  # fmt: skip
    """The two categories of a change, as sets of their own."""
    if change is None:
        return {}
    name = changed_attribute(change, secret, known)
    return {name: tuple(frozenset({category}) for category in change)}


def changed_attribute(change: tuple[str, str], secret: Sequence[str], known: Mapping[str, Attribute]) -> str:
    """The attribute of which both are categories."""
    for name in secret:
        values = set(known[name].categories or map(str, range(known[name].size)))
        if set(change) <= values:
            return name
    rule = f"are not two categories of one of {', '.join(secret)}"
    raise AttackerMisfitError("change", rule, "write --change A,B", value=", ".join(change))


def _patterns(
    columns: SeenAttributes, free: Sequence[str], change: tuple[str, str] | None, read: Sequence[set[str]]
) -> Iterator[Pattern]:
    """The patterns that change nothing but the free attributes.

    A table that reads no free attribute sees no change, so only attributes that are read together with a free one are combined.

    Args:
        columns: the attributes.
        free: those that may differ.
        change: two categories of one of them, where the record changes from the first to the second.
        read: the attributes that each table reads.
    """
    ties = Ties.of(columns, [names for names in read if names & set(free)])
    roots = {ties.root(name) for name in free if name in columns.attributes}
    part = attrs.evolve(columns, attributes={n: a for n, a in columns.attributes.items() if ties.root(n) in roots})
    rest: dict[str, AttributeChange] = {}
    waiting = [name for name in columns.attributes if ties.root(name) not in roots]
    while waiting:
        name = waiting.pop(0)
        outer = columns.attributes[name].within
        if outer in waiting:
            waiting.append(name)
        else:  # it stays what it is
            rest[name] = options_of(name, rest.get(str(outer)), columns)[0]
    trees = [list(itertools.islice(_below(name, None, part, free), MOST_PATTERNS + 1)) for name in part.roots()]
    if math.prod(map(len, trees)) > MOST_PATTERNS:
        raise MissingStep("sensitivity", f"conditions cut the records into more than {MOST_PATTERNS:,} patterns")
    for chosen in itertools.product(*trees):
        pattern = {**rest, **{name: kept for one in chosen for name, kept in one.items()}}
        moved = {name: kept for name, kept in pattern.items() if not kept.equal}
        if not moved or not set(moved) <= set(free):
            continue
        if change is None or any(
            kept.before == columns.class_of(name, change[0]) and kept.after == columns.class_of(name, change[1])
            for name, kept in moved.items()
            if frozenset({change[0]}) in columns.named[name]
        ):
            yield pattern


def _below(
    name: str, outer: AttributeChange | None, columns: SeenAttributes, free: Sequence[str]
) -> Iterator[dict[str, AttributeChange]]:  # fmt: skip
    """The possible changes of an attribute and of those within it, where nothing changes but the free ones."""
    for kept in options_of(name, outer, columns):
        if kept.equal or name in free:
            inner = [list(_below(other, kept, columns, free)) for other in columns.inner(name)]
            for parts in itertools.product(*inner):
                yield {name: kept, **{other: one for part in parts for other, one in part.items()}}


def _realised(
    sensitivity: Sensitivity, change: RecordChange, columns: SeenAttributes, free: Sequence[str]
) -> Pair | None:  # fmt: skip
    """Two datasets of one universe with such a change of one record."""
    spec, unit = sensitivity.spec, sensitivity.steps.unit
    names = [attribute.name for attribute in spec.space.attributes_of(unit)]
    for pattern in change.patterns[:TRIED]:
        records = records_of(pattern, columns, spec.space, unit)
        if records is None or any(one != two and name not in free for name, one, two in zip(names, *records, strict=True)):
            continue
        for left, right in pairs_of(records[:1], records[1:], spec.space, unit):
            apart = left != right and spec.multiverse.share_universe(left, right, spec.space)
            if apart and not spec.distance(left, right).is_infinite:
                return left, right
    return None


def reacts(view: View, pair: Pair, spec: PrivacySpec) -> bool:
    """Whether some answer of a view has different laws on two datasets."""
    return _differs(_case_on(view, pair, spec))


def _differs(case: Case | None) -> bool:
    return case is None or any(one != other for one, other in case)


def _case_on(view: View, pair: Pair, spec: PrivacySpec) -> Case | None:
    before, after = (cells_of(view, side, spec.space) for side in pair)
    return view.between(before, after, spec.space)


EXACT = (NoisyCount, Report)
"""Views whose answers depend on the change alone: counts with noise that is the same around each of them, and single reports."""


def _attains(views: Sequence[View], change: RecordChange, pair: Pair, spec: PrivacySpec) -> bool:
    """Whether the laws on a pair are those of a change, which no dataset goes beyond, and not ones that these can simulate."""
    if all(type(view) in EXACT for view in views):
        return True
    cases = list(filter(_differs, (_case_on(view, pair, spec) for view in views)))
    return None not in cases and Counter(itertools.chain.from_iterable(filter(None, cases))) == Counter(change.laws)
