"""Evidence of a miniature for a claim: which blocks it exchanges, and whether the constant grows with a size that it lowers.

A *miniature* of a space is the same space with smaller sizes: fewer records at most, fewer members of a household, fewer
categories or blocks, fewer coordinates. Everything else is equal; whatever is not is no miniature of it but another space.

A claim on a large space is verified on a small one. That is evidence for the claim only if everything but the sizes of the space
is as claimed, and if the sizes do not matter. The engine raises each lowered size on its own, one step after the other, as far as
the work limit allows, and finally all of them together by one step. Where the budget is one number for all universes, a constant
(sup d_Pr / d_X) that grows with a size means that the miniature hides the effect that the claim is about. A budget that differs
by universe is meant to follow the size; there the used share of the budget is reported.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import attrs

from dpspec.base.errors import DpspecError, count
from dpspec.base.exact import Bracket, largest
from dpspec.base.params import evolve, parameters
from dpspec.blocks.space import Attribute, DatasetSpace
from dpspec.extension.hooks import Registry
from dpspec.grammar.mechanism import Mechanism
from dpspec.grammar.spec import PrivacySpec
from dpspec.specfile.document import Miniature, SpecDocument
from dpspec.verifier.exhaustive import per_unit, verify
from dpspec.verifier.verdict import Outcome, UniverseResult, Verdict

Attributes = tuple[Attribute, ...]


@attrs.frozen(kw_only=True)
class Size:
    """A size that the small space has lowered.

    Args:
        name: the parameter, or the attribute whose categories are counted.
        here: the size in the small space.
        claimed: the size in the large one; None where that has no bound.
        larger: the small space with this size raised by one step.
    """

    name: str
    here: int
    claimed: int | None
    larger: DatasetSpace


def lowered(small: DatasetSpace, claimed: DatasetSpace) -> Mapping[str, Size] | None:
    """The sizes that a small space lowers, by their names; None when it is no miniature of the claimed one.

    >>> from dpspec.blocks.vectors import BitVectors
    >>> found = lowered(BitVectors(length=2), BitVectors(length=20))
    >>> [(size.name, size.here, size.claimed, str(size.larger.length)) for size in found.values()]
    [('length', 2, 20, '3')]
    >>> lowered(BitVectors(length=2, unit="household"), BitVectors(length=20)) is None
    True
    """
    if type(small) is not type(claimed) or _is_larger(small.cardinality(), claimed.cardinality()):
        return None
    sizes: dict[str, Size] = {}
    for parameter in parameters(type(claimed)):
        here, there = getattr(small, parameter.name), getattr(claimed, parameter.name)
        if here == there:
            continue
        found = _of_parameter(parameter.name, here, there, small, claimed)
        if found is None:
            return None
        sizes |= found
    return sizes


def _is_larger(size: int | None, than: int | None) -> bool:
    return than is not None and (size is None or size > than)


def _of_parameter(name: str, here: Any, there: Any, small: DatasetSpace, claimed: DatasetSpace) -> Mapping[str, Size] | None:
    """The sizes behind one parameter that differs; None when the difference is none of size."""

    def raised(value: Any) -> DatasetSpace:
        return evolve(small, **{name: value})

    if type(here) is int and (there is None or type(there) is int):
        beyond = evolve(claimed, **{name: here}).includes(claimed) is not None
        step = here + 1 if there is None or here < there else here - 1
        return None if beyond else {name: Size(name=name, here=here, claimed=there, larger=raised(step))}
    if isinstance(here, DatasetSpace) and isinstance(there, DatasetSpace):
        inner = lowered(here, there)
        return None if inner is None else {key: attrs.evolve(size, larger=raised(size.larger)) for key, size in inner.items()}
    if isinstance(here, tuple) and isinstance(there, tuple):
        if all(isinstance(entry, Attribute) for entry in (*here, *there)):
            return _of_attributes(here, there, raised)
        missing = [entry for entry in there if entry not in here]
        if missing and all(entry in there for entry in here):
            return {name: Size(name=name, here=len(here), claimed=len(there), larger=raised((*here, missing[0])))}
    return None


# --- attributes ----------------------------------------------------------------------------------


def _of_attributes(here: Attributes, there: Attributes, raised: Callable[[Any], DatasetSpace]) -> Mapping[str, Size] | None:
    """The attributes with fewer categories; None unless they are the same attributes, each a part of the claimed one."""
    if [(a.name, a.within) for a in here] != [(a.name, a.within) for a in there]:
        return None
    claimed = {attribute.name: attribute for attribute in there}
    sizes: dict[str, Size] = {}
    for attribute in here:
        full = claimed[attribute.name]
        if attribute == full:
            continue
        if not _is_part(attribute, full, {a.name: a for a in here}, claimed):
            return None
        if attribute.size < full.size:
            larger = raised(_with_one_more(attribute.name, here, claimed))
            sizes[attribute.name] = Size(name=attribute.name, here=attribute.size, claimed=full.size, larger=larger)
    return sizes


def _is_part(attribute: Attribute, full: Attribute, here: Mapping[str, Attribute], claimed: Mapping[str, Attribute]) -> bool:
    """Whether an attribute has no category of its own: fewer by count, or some of those that are listed, under their parents."""
    if attribute.size > full.size:
        return False
    if attribute.count is not None and full.count is not None:
        return True
    try:
        for category in attribute.values():
            full.index(category)
            if attribute.within is not None:
                coarser = attribute.within
                if attribute.parent(category, here[coarser]) != full.parent(category, claimed[coarser]):
                    return False
    except DpspecError:
        return False
    return True


def _with_one_more(name: str, here: Attributes, claimed: Mapping[str, Attribute]) -> Attributes:
    """One more category of an attribute, with a child in each finer one, and its parent in the coarser one."""
    if all(attribute.count is not None for attribute in _chain(name, here)):
        counts = {name: next(a.size for a in here if a.name == name) + 1}
        before = {attribute.name: attribute.size for attribute in here}
        for attribute in here:  # a coarser one precedes those that lie within it; each of its parts keeps its content
            coarser = attribute.within
            if coarser in counts:
                counts[attribute.name] = counts[coarser] * -(-attribute.size // before[coarser])
        return tuple(evolve(a, count=counts[a.name]) if a.name in counts else a for a in here)
    return _listed(name, here, claimed)


def _chain(name: str, here: Attributes) -> Iterator[Attribute]:
    """An attribute and all that lie within it."""
    inside = {name}
    for attribute in here:
        if attribute.name in inside or attribute.within in inside:
            inside.add(attribute.name)
            yield attribute


def _listed(name: str, here: Attributes, claimed: Mapping[str, Attribute]) -> Attributes:
    """The same where categories are listed: the first one of the claimed attribute that is missing, under its own parent."""
    kept = {attribute.name: list(attribute.values()) for attribute in here}
    missing = next(itertools.islice((c for c in claimed[name].values() if c not in set(kept[name])), 1))
    added = {name: missing}
    kept[name].append(missing)
    child = name
    while (coarser := claimed[child].within) is not None:
        parent = claimed[child].parent(added[child], claimed[coarser])
        added[coarser] = parent
        if parent not in kept[coarser]:
            kept[coarser].append(parent)
        child = coarser
    for attribute in here:
        if attribute.within in added and attribute.name not in added:
            children = claimed[attribute.name].children(added[attribute.within], claimed[attribute.within])
            first = next(iter(children), None)
            if first is not None:
                added[attribute.name] = first
                kept[attribute.name] = [*kept[attribute.name], *([first] if first not in kept[attribute.name] else [])]
    return tuple(
        a if tuple(a.values()) == tuple(kept[a.name]) else
        claimed[a.name].restricted(kept[a.name], None if a.within is None else claimed[a.within])
        for a in here
    )  # fmt: skip


# --- raising the sizes ----------------------------------------------------------------------------


DATASETS, STEPS = 500, 3
"""A size is raised by at most so many steps, while the space has at most so many datasets."""
EFFORT, REFINED = 2_000, 5
"""... and while the growth of one miniature looks at no more than so many datasets and pairs of them, together; where a
constant is a bracket, whose laws take longer, each counts so many times."""

TOGETHER = "all sizes together"


@attrs.frozen(kw_only=True)
class Grown:
    """The constants while one size was raised.

    Args:
        size: the name of the size.
        values: the size in the miniature and at each step, in words.
        constants: the constant in the miniature and at each step, in words.
        grows: whether the claim was refuted, or the constant seen to grow towards a size that was not reached.
        refuted: the specification and the verdict of the step at which the claim was refuted.
        stopped: why it was raised no further; nothing when the claimed size was reached.
    """

    size: str
    values: tuple[str, ...]
    constants: tuple[str, ...]
    grows: bool
    refuted: tuple[PrivacySpec, Verdict] | None = None
    stopped: str = ""

    def __str__(self) -> str:
        """In one line."""
        if len(self.values) == 1:
            return f"{self.size} = {self.values[0]} could not be raised: {self.stopped}"
        raised = f"{self.size} = {', '.join(self.values)}"
        if self.refuted is not None:
            return f"{raised}: refuted at the last of these"
        steady = len(set(self.constants)) == 1
        constant_words = f"the constant stays {self.constants[0]}" if steady else f"the constant is {', '.join(self.constants)}"
        return f"{raised}: {constant_words}{f'; no further: {self.stopped}' if self.stopped else ''}"


def exchanged(document: SpecDocument, miniature: Miniature) -> tuple[str, ...]:
    """The blocks of a miniature that differ from the claimed ones, other than in the sizes of the space."""
    found = [] if lowered(miniature.spec.space, document.spec.space) is not None else ["space"]
    blocks = [field.name for field in attrs.fields(PrivacySpec) if field.name != "space"]
    found += [name for name in blocks if getattr(miniature.spec, name) != getattr(document.spec, name)]
    if document.mechanism is not None and miniature.mechanism != document.mechanism:
        found.append("mechanism")
    return tuple(found)


def grown(
    verdict: Verdict,
    spec: PrivacySpec,
    mechanism: Mechanism,
    claimed: DatasetSpace,
    *,
    registry: Registry | None = None,
    effort: int = EFFORT,
) -> Iterator[Grown]:
    """The results of a verified miniature when each size that it lowers is raised.

    Args:
        verdict: of the miniature.
        spec, mechanism: the miniature.
        claimed: the space of the claim.
        registry: where the provenance of the blocks is looked up.
        effort: the number of datasets and pairs of them that are checked while all sizes are raised.
    """
    constants = [result.constant for result in verdict.universes]
    effort //= 1 if all(constant.is_exact for constant in constants) else REFINED
    walk = _Raised(
        mechanism=mechanism, claimed=claimed, registry=registry, uniform=spec.budget.uniform() is not None, left=effort
    )  # fmt: skip
    sizes = lowered(spec.space, claimed) or {}
    for name in sorted(sizes, key=lambda name: not hasattr(claimed, name)):  # the plain numbers before the attributes
        yield walk.one(name, verdict, spec)
    if len(sizes) > 1:
        yield walk.together(verdict, spec)


@attrs.define(kw_only=True)
class _Raised:
    """Raises sizes of one miniature; `left` is the number of datasets and pairs that may still be checked."""

    mechanism: Mechanism
    claimed: DatasetSpace
    registry: Registry | None
    uniform: bool
    left: int

    def one(self, name: str, verdict: Verdict, spec: PrivacySpec) -> Grown:
        """One size, step by step."""
        size = self.sizes(spec)[name]
        values, found, stopped, is_whole = [str(size.here)], [verdict], f"{STEPS} steps were taken", False
        for _ in range(STEPS):
            larger = spec.replace(space=size.larger)
            judged = self.judged(larger)
            if isinstance(judged, str):
                stopped = judged
                break
            spec, left = larger, self.sizes(larger)
            is_whole, size = name not in left, left.get(name, size)
            found.append(judged)
            values.append(str(size.claimed) if is_whole else str(size.here))
            if judged.outcome is Outcome.REFUTED or is_whole:
                stopped = ""
                break
        return self.of(name, values, found, spec, stopped, is_whole=is_whole)

    def together(self, verdict: Verdict, spec: PrivacySpec) -> Grown:
        """All sizes by one step."""
        for name in self.sizes(spec):
            size = self.sizes(spec).get(name)
            spec = spec if size is None else spec.replace(space=size.larger)
        judged = self.judged(spec)
        if isinstance(judged, str):
            return self.of(TOGETHER, ["as they are"], [verdict], spec, judged, is_whole=False)
        return self.of(TOGETHER, ["as they are", "one step more"], [verdict, judged], spec, "", is_whole=not self.sizes(spec))

    def of(self, name: str, values: list[str], found: list[Verdict], spec: PrivacySpec, stopped: str, *, is_whole: bool) -> Grown:
        """The line about one size; `spec` is that of the last verdict."""
        loads = [self.load(verdict) for verdict in found]
        refuted = (spec, found[-1]) if found[-1].outcome is Outcome.REFUTED else None
        larger = any(load.lower > loads[0].upper for load in loads[1:])
        grows = refuted is not None or (larger and self.uniform and not is_whole)
        constants = tuple(map(self.constant_in_words, found))
        return Grown(size=name, values=tuple(values), constants=constants, grows=grows, refuted=refuted, stopped=stopped)

    def sizes(self, spec: PrivacySpec) -> dict[str, Size]:
        return dict(lowered(spec.space, self.claimed) or {})

    def judged(self, spec: PrivacySpec) -> Verdict | str:
        """The verdict on a larger space, or why there is none."""
        size, most = spec.space.cardinality(), min(DATASETS, self.left)
        if size is None or size > most:  # before any method of a possibly huge space is called
            held = "infinitely many datasets, or too many to count" if size is None else count(size, "dataset")
            return f"the space has {held}, above the {most:,} that are left to check"
        try:
            found = verify(self.mechanism, spec, most_datasets=most, most_pairs=self.left - size, registry=self.registry)
        except DpspecError as fault:
            return str(fault)
        if found.outcome is Outcome.UNDECIDED:
            return found.reason
        self.left -= size + sum(n * (n - 1) // 2 for n in (result.datasets or 0 for result in found.universes))
        return found

    def load(self, verdict: Verdict) -> Bracket:
        """The constant; in shares of the budget of each universe where that differs by universe."""
        return verdict.constant if self.uniform else largest(map(_share, verdict.universes))

    def constant_in_words(self, verdict: Verdict) -> str:
        load = self.load(verdict)
        return str(load) if self.uniform else f"{load.scaled(100).upper.decimal(4)} % of the budget"


def _share(result: UniverseResult) -> Bracket:
    return Bracket.exactly(0) if result.bound.is_infinite else per_unit(result.constant, result.bound)
