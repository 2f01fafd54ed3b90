"""The relation of a new promise to an old one, from the two answers of `compare`."""

from __future__ import annotations

import enum
from collections.abc import Mapping

import attrs

from dpspec import DpspecError, SpecDocument
from dpspec.plugin import PrivacySpec, specfile
from dpspec.plugin.applications import Answer, Direction, Registry, allowed_to_all, blocks_of, compared, pair_in_words
from dpspec_guard.labels import renamed
from dpspec_guard.promise import grouped, paired_parts


class Effect(enum.Enum):
    """The effect of a change on a promise; the word, and whether the old promise follows from the new one (None: unknown)."""

    EQUAL = ("equal", True)
    STRONGER = ("stronger", True)
    NOT_WEAKER = ("stronger or equal", True)
    WEAKER = ("weaker", False)
    INCOMPARABLE = ("incomparable", False)
    NOT_STRONGER = ("weaker or incomparable", False)
    UNDECIDED = ("undecided", None)

    def __init__(self, word: str, keeps: bool | None) -> None:
        self.word, self.keeps = word, keeps


_EFFECTS = {
    (Answer.IMPLIES, Answer.IMPLIES): Effect.EQUAL,
    (Answer.IMPLIES, Answer.SEPARATED): Effect.STRONGER,
    (Answer.IMPLIES, Answer.UNKNOWN): Effect.NOT_WEAKER,
    (Answer.SEPARATED, Answer.IMPLIES): Effect.WEAKER,
    (Answer.SEPARATED, Answer.SEPARATED): Effect.INCOMPARABLE,
    (Answer.SEPARATED, Answer.UNKNOWN): Effect.NOT_STRONGER,
}
"""By the answers to "does NEW imply OLD?" and "does OLD imply NEW?"."""


@attrs.frozen(kw_only=True)
class SeparatingPair:
    """Two datasets on which a mechanism keeps one promise and breaks the other.

    Args:
        left, right: the datasets, in words.
        mechanism: what it does.
        argument: why it keeps the one.
        check: what the exact engine found against the other.
        is_outside: whether one of the two is no dataset of the promise that the mechanism keeps, which does not constrain it.
    """

    left: str
    right: str
    mechanism: str
    argument: str
    check: str
    is_outside: bool


@attrs.frozen(kw_only=True)
class Implied:
    """Whether one promise implies another.

    Args:
        answer: derived, separated or unknown.
        reasons: for derived the steps; otherwise what is missing, and what was tried.
        pair: where it is separated by a mechanism, the datasets.
    """

    answer: Answer
    reasons: tuple[str, ...] = ()
    pair: SeparatingPair | None = None


@attrs.frozen(kw_only=True)
class Relation:
    """The relation of a new promise to an old one.

    Args:
        kept: whether NEW implies OLD.
        gained: whether OLD implies NEW.
        notes: what was restated, so that both are about one schema.
    """

    kept: Implied
    gained: Implied
    notes: tuple[str, ...] = ()

    @property
    def effect(self) -> Effect:
        """Both answers in one word: undecided wherever it is unknown whether NEW implies OLD.

        >>> Relation(kept=Implied(answer=Answer.UNKNOWN), gained=Implied(answer=Answer.IMPLIES)).effect.word
        'undecided'
        """
        return _EFFECTS.get((self.kept.answer, self.gained.answer), Effect.UNDECIDED)


def relation(old: SpecDocument, new: SpecDocument, registry: Registry) -> Relation:
    """How the promises of a file relate to those that it made before; both answers are those of `dpspec compare`.

    A promise about a view of the system, or to a share of the units, is compared with promises about the same view and to
    the same share, or to all. One that has no counterpart is lost. A promise that did not change implies itself, also where its
    number is not published, so that `compare` cannot relate it to another one.
    """
    old = _with_titles_of(old, new)
    if _are_same(old, new):
        same = Implied(answer=Answer.IMPLIES, reasons=("the promise is the same",))
        return Relation(kept=same, gained=same)
    old, notes = renamed(old, new, registry)
    before, after = grouped(old), grouped(new)
    if before.keys() == after.keys() == {specfile.Coverage()}:
        found_one = _plain(old, new, registry)
        return attrs.evolve(found_one, notes=(*notes, *found_one.notes))
    found: dict[tuple[specfile.Coverage, specfile.Coverage], Relation] = {}

    def of(one: specfile.Coverage, other: specfile.Coverage) -> Relation:
        if (one, other) not in found:
            found[one, other] = _plain(before[one], after[other], registry)
        return found[one, other]

    kept = [
        _best(group, one, {other: of(group, other).kept for other in after if other.includes(group)}, after, registry)
        for group, one in before.items()
    ]
    gained = [
        _best(group, one, {other: of(other, group).gained for other in before if other.includes(group)}, before, registry)
        for group, one in after.items()
    ]
    return Relation(kept=_all_of(kept), gained=_all_of(gained), notes=notes)


def _with_titles_of(old: SpecDocument, new: SpecDocument) -> SpecDocument:
    """OLD, its parts under the titles of their versions in NEW: a release is known by the title of its part."""
    titles = {id(one): other.title for one, other in paired_parts(old.parts, new.parts) if one is not None and other is not None}
    return attrs.evolve(old, parts=tuple(attrs.evolve(part, title=titles.get(id(part), part.title)) for part in old.parts))


def _are_same(old: SpecDocument, new: SpecDocument) -> bool:
    """Whether both files make the same promises, each about the same release, view and share."""
    return all(one in new.promises for one in old.promises) and all(one in old.promises for one in new.promises)


def spec_relation(old: PrivacySpec, new: PrivacySpec, registry: Registry) -> Relation:
    """The same of five blocks."""
    first, second = (SpecDocument(id=name, title=name, spec=spec) for name, spec in (("old", old), ("new", new)))
    return relation(first, second, registry)


def alone(old: PrivacySpec, new: PrivacySpec, block: str, registry: Registry) -> Relation | str:
    """What one changed block does by itself: OLD with this block of NEW against OLD; or why that is no specification."""
    try:
        mixed = old.replace(**{block: blocks_of(new)[block]})
    except DpspecError as fault:
        return str(fault)
    return spec_relation(old, mixed, registry)


Groups = Mapping[specfile.Coverage, SpecDocument]
"""The promises of a file by what they cover."""


def _best(
    group: specfile.Coverage,
    document: SpecDocument,
    found: Mapping[specfile.Coverage, Implied],
    premise: Groups,
    registry: Registry,
) -> Implied:
    """What is known of a group and its promises from those of the other file that may imply it."""
    if not found:
        required = [allowed_to_all(spec) for _, spec in document.promises]
        reasons = tuple(f"budget: every mechanism satisfies it: {why}" for why in required if why is not None)
        if len(reasons) == len(required):
            return Implied(answer=Answer.IMPLIES, reasons=tuple(dict.fromkeys(reasons)))
        what = "" if group.release is None else f" about the release {group.release}"
        whose = "" if group.view is None else f" as the {group.view} sees it"
        whom = "" if group.share is None else f" for {group.share} of the units"
        return Implied(answer=Answer.SEPARATED, reasons=(f"no promise{what}{whose}{whom} is made on the other side",))
    known = [_with_others_kept(group, other, one, premise, registry) for other, one in found.items()]
    order = (Answer.IMPLIES, Answer.SEPARATED, Answer.UNKNOWN)
    return min(known, key=lambda one: order.index(one.answer))


def _with_others_kept(
    group: specfile.Coverage, kept: specfile.Coverage, found: Implied, premise: Groups, registry: Registry
) -> Implied:
    """What is known from one group of a file that keeps its other promises, too.

    A mechanism that keeps the promises of one group and breaks a promise separates the files where whatever keeps that group
    keeps all others that may constrain the same outputs. Else another group may exclude it.
    """
    if found.answer is not Answer.SEPARATED:
        return found
    for other, document in premise.items():
        if other == kept or not other.may_constrain(group):
            continue
        if compared(premise[kept], document, registry).forward.answer is not Answer.IMPLIES:
            reason = f"a mechanism that would separate them may break another promise of that side, about {other}"
            return Implied(answer=Answer.UNKNOWN, reasons=(reason,))
    return found


def _all_of(found: list[Implied]) -> Implied:
    """Whether all of several promises follow."""
    order = (Answer.SEPARATED, Answer.UNKNOWN, Answer.IMPLIES)
    worst = min(found, key=lambda one: order.index(one.answer))
    return attrs.evolve(worst, reasons=tuple(reason for one in found if one.answer is worst.answer for reason in one.reasons))


def _plain(old: SpecDocument, new: SpecDocument, registry: Registry) -> Relation:
    found = compared(old, new, registry, on_one_schema=True)
    kept = _implied(found.backward, found.left)
    gone = _dropped(old.spec, new.spec) if found.restated and kept.answer is Answer.IMPLIES else []
    if gone:
        reason = f"NEW has no longer the attributes {', '.join(gone)}: it implies OLD only where the release does not read them"
        kept = Implied(answer=Answer.UNKNOWN, reasons=(reason,))
    return Relation(
        kept=kept,
        gained=_implied(found.forward, found.right),
        notes=(*found.restated, *found.notes),
    )


def _dropped(old: PrivacySpec, new: PrivacySpec) -> list[str]:
    """The attributes that the records of OLD have and those of NEW have not."""
    before, after = (
        {(unit, attribute.name) for unit in space.units for attribute in space.attributes_of(unit)}
        for space in (old.space, new.space)
    )
    return sorted({name for _, name in before - after})


def _implied(direction: Direction, conclusion: PrivacySpec) -> Implied:
    steps = tuple(
        f"{step.block}: {step.reason}" for step in direction.steps if direction.answer is Answer.IMPLIES or step.holds is not True
    )
    separation = direction.separation
    if separation is None:
        tried = tuple(f"tried: {what}" for what in direction.tried)
        return Implied(answer=direction.answer, reasons=(*steps, *tried))
    left, right = pair_in_words(separation.left, separation.right, conclusion.space)
    pair = SeparatingPair(
        left=left, right=right, mechanism=separation.mechanism, argument=separation.argument, check=separation.checks[1],
        is_outside=separation.kind == "space",
    )  # fmt: skip
    return Implied(answer=direction.answer, reasons=steps, pair=pair)


__all__ = ["Effect", "Implied", "Relation", "SeparatingPair", "alone", "relation", "spec_relation"]
