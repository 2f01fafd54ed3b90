"""The converse of a promise inside universes: what is left of it where one of the invariants is not held fixed.

The laws of a release that publishes c(x) exactly have no output in common on x and x' with c(x) != c(x'). So where d_Pr is
infinite between such laws, and two datasets at a finite distance agree on all other invariants and differ in c, no finite
budget holds without c (Bailie, Gong and Meng 2023, theorem on the universes of invariants, and the converse of the theorem
on TopDown). Where the other invariants determine c, its universes are the same without it, and the promise stays as it is.
Two hypotheses are checked and not assumed: that the two datasets are at a finite distance, and that the output divergence is
infinite between the two laws, as the exact engine computes them.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import NoReturn

import attrs

from dpspec.base.errors import DpspecError, ParameterError, UnknownNameError
from dpspec.base.exact import Number
from dpspec.base.params import did_you_mean
from dpspec.blocks.invariant import Invariant
from dpspec.blocks.multiverse import LevelSets, Multiverse, Trivial, determines
from dpspec.blocks.space import Dataset
from dpspec.comparison.families import invariants
from dpspec.extension import Registry
from dpspec.grammar.mechanism import Mechanism, ReleaseInvariants
from dpspec.grammar.spec import PrivacySpec
from dpspec.specfile.document import SpecDocument
from dpspec.verifier.exhaustive import verify

TRIED = 4
"""The largest number of pairs of datasets that are verified."""


@attrs.frozen(kw_only=True)
class TwoReleases:
    """Two datasets that agree on all other invariants, and the divergence of the laws of a release on them.

    Args:
        of: whose laws they are.
        left, right: the two datasets.
        spec: the specification without the invariant, on whose space they are.
        distance: d_X between them, finite.
        budget: the Lipschitz constant that they ask for at least.
    """

    of: str
    left: Dataset
    right: Dataset
    spec: PrivacySpec
    distance: Number
    budget: Number


class Remaining(enum.Enum):
    """Bounds on the budget that is needed where an invariant is not held fixed."""

    SAME = "determined"
    INFINITE = "no finite budget"
    LEAST = "at least"
    UNKNOWN = "unknown"

    def __bool__(self) -> NoReturn:
        raise TypeError(f"an answer is not a truth value: compare it, as in `answer is Remaining.{self.name}`")

    @property
    def words(self) -> str:
        """The answer for a reader; a number follows where it is at least one."""
        return {Remaining.SAME: "the promise stays as it is", Remaining.LEAST: "a budget of at least"}.get(self, self.value)


@attrs.frozen(kw_only=True)
class WithoutInvariant:
    """The remaining promise without one of its invariants.

    Args:
        dropped: the invariant.
        answer: the same budget, as the others determine it; none; at least a number; or unknown.
        reason: why, in words.
        published: two datasets that a release which publishes the invariant distinguishes.
        own: the same for the mechanism of the file, on its space or on a miniature of it; None where its laws are not computed.
    """

    dropped: Invariant
    answer: Remaining
    reason: str
    published: TwoReleases | None = None
    own: TwoReleases | None = None

    @property
    def is_bounded(self) -> bool:
        """Whether the answer is a least budget."""
        return self.answer is Remaining.LEAST


def without_invariant(document: SpecDocument, named: str, registry: Registry | None = None) -> WithoutInvariant:
    """The remaining promise of a file where one of its invariants is not held fixed.

    Args:
        document: the file.
        named: the invariant: its number in the file, from 1, or its text, such as "person by state".
        registry: where laws are looked up.

    Raises:
        ParameterError: the universes of the file are not those of invariants.
        UnknownNameError: no invariant of the file goes by that.
    """
    spec = document.spec
    dropped = _named(spec, named)
    others = _others(spec.multiverse, dropped)
    found = determines(others, (dropped,), spec.space)
    if found.answer is True:
        reason = f"the other invariants determine it ({found.reason}), so that the universes are the same without it"
        return WithoutInvariant(dropped=dropped, answer=Remaining.SAME, reason=reason)
    published = _most_distinguished(
        spec, dropped, ReleaseInvariants(invariants=(dropped,)), f"publish exactly: {dropped}", registry
    )
    if published is None:
        reason = "no two datasets were found that are at a finite distance, agree on all other invariants, and differ in it"
        return WithoutInvariant(dropped=dropped, answer=Remaining.UNKNOWN, reason=reason)
    own = _of_file(document, dropped, registry)
    if published.budget.is_infinite:
        answer, reason = Remaining.INFINITE, "every release that publishes it exactly distinguishes two datasets with certainty"
    else:
        answer = Remaining.LEAST
        reason = f"{spec.output_divergence.in_words()} is finite between laws that have no output in common"
    return WithoutInvariant(dropped=dropped, answer=answer, reason=reason, published=published, own=own)


def _named(spec: PrivacySpec, named: str) -> Invariant:
    held = spec.multiverse.induced_by()
    if not held:
        rule = "names an invariant, and this file has none" if held == () else "needs universes that are those of invariants"
        raise ParameterError("without", rule, "leave it out", value=named)
    by_name = {**{str(place): one for place, one in enumerate(held, 1)}, **{str(one): one for one in held}}
    if named not in by_name:
        advice = did_you_mean(named, [str(one) for one in held])
        rule = f"is no number from 1 to {len(held)}, and no invariant of this file"
        raise UnknownNameError("without", rule, advice, value=named)
    return by_name[named]


def _others(multiverse: Multiverse, dropped: Invariant) -> tuple[Invariant, ...]:
    return tuple(one for one in multiverse.induced_by() or () if one != dropped)


def _most_distinguished(
    spec: PrivacySpec, dropped: Invariant, mechanism: Mechanism, words: str, registry: Registry | None
) -> TwoReleases | None:
    """The pair on which the mechanism has the largest constant, among the first at a finite distance that differ in the
    invariant."""
    others = _others(spec.multiverse, dropped)
    wider = spec.replace(multiverse=LevelSets(invariants=others) if others else Trivial())
    best: TwoReleases | None = None
    for _, candidate in zip(range(TRIED), invariants(spec, wider), strict=False):
        left, right = candidate.pair
        distance = wider.distance(left, right)
        if distance.is_infinite or not wider.multiverse.share_universe(left, right, wider.space):
            continue
        verdict = verify(mechanism, wider, datasets=candidate.pair, registry=registry)
        if not verdict.universes or len(verdict.vacuous) == len(verdict.universes):
            continue
        found = TwoReleases(of=words, left=left, right=right, spec=wider, distance=distance, budget=verdict.constant.lower)
        if found.budget.is_infinite:
            return found
        best = found if best is None or best.budget < found.budget else best
    return best


def _of_file(document: SpecDocument, dropped: Invariant, registry: Registry | None) -> TwoReleases | None:
    """The same for the mechanism of the file, on its space, else on the first miniature on which its laws are computed."""
    tried: Sequence[tuple[PrivacySpec, Mechanism | None, str]] = (
        (document.spec, document.mechanism, "the mechanism of the file"),
        *((one.spec, one.mechanism, f"the mechanism of the file on a miniature ({one.title})") for one in document.miniatures),
    )
    for spec, mechanism, words in tried:
        if mechanism is None or dropped not in (spec.multiverse.induced_by() or ()):
            continue
        try:
            found = _most_distinguished(spec, dropped, mechanism, words, registry)
        except DpspecError:  # its laws are not computed there
            continue
        if found is not None:
            return found
    return None
