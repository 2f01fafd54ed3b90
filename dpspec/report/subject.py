"""The subject of the curves of a specification: two datasets, the bound that holds for them, and the laws of the mechanism."""

from __future__ import annotations

from contextlib import suppress
from fractions import Fraction
from typing import TYPE_CHECKING

import attrs

from dpspec.base.errors import DpspecError
from dpspec.base.exact import Bracket, Number, NumberLike, number
from dpspec.grammar.views import Bounded, NoisyCount
from dpspec.laws.dichotomy import Dichotomy
from dpspec.laws.location import Location
from dpspec.report.audience import nearest
from dpspec.risks.candidates import ComparedPairs, candidates_within, is_small
from dpspec.risks.mechanism_pairs import BEFORE, evidence, nearest_pairs, own_pairs, structure_of
from dpspec.verifier.proof import derive
from dpspec.verifier.verdict import Verdict

if TYPE_CHECKING:
    from dpspec.grammar.spec import PrivacySpec
    from dpspec.specfile.document import SpecDocument

_MOST_PAIRS = 24
_MOST_LETTERS = 48


@attrs.frozen(kw_only=True)
class CurveSubject:
    """A specification and its mechanism, on two datasets at a distance.

    Args:
        name: its name in the legend.
        spec: the five blocks.
        distance: the largest distance of the datasets.
        bound: the bound of d_Pr; None where no universe contains two such datasets, or no number was published.
        reason: why there is none.
        own: pairs of laws of the mechanism; which they are, or why there are none.
    """

    name: str
    spec: PrivacySpec
    distance: Number
    bound: Number | None
    reason: str
    own: ComparedPairs
    known: dict[tuple[str, Fraction], Bracket] = attrs.field(factory=dict, eq=False, repr=False)

    @property
    def pairs(self) -> tuple[Dichotomy, ...]:
        """The pairs of laws that are drawn."""
        return (*self.own.pairs, *self.own.above)

    @property
    def complete(self) -> bool:
        """Whether no pair of laws has a larger divergence than these."""
        return self.own.complete or bool(self.own.above)

    @property
    def title(self) -> str:
        """The title of the curve of the mechanism in a legend."""
        if BEFORE in self.own.scope:
            return BEFORE
        return "what the mechanism does" if self.complete else "the mechanism, on some datasets"


def curve_subject(document: SpecDocument, distance: NumberLike | None = None, verdict: Verdict | None = None) -> CurveSubject:
    """The subject of curves: two datasets at the smallest distance that occurs in a universe, or at a given distance.

    Args:
        document: the file.
        distance: the distance of the datasets.
        verdict: the verdict on its claim on the whole space, if it is already known.

    Raises:
        ParameterError: for a distance that is no positive number.
    """
    spec = document.spec.of_unordered_pairs
    name = document.id if len(document.id) <= _MOST_LETTERS else document.id[: _MOST_LETTERS - 1] + "\N{HORIZONTAL ELLIPSIS}"
    asked = None if distance is None else number(distance, "distance")
    reason = spec.budget.unpublished() or ""
    bound, step = None, asked or number(1)
    try:
        if reason:
            pass
        elif asked is None:
            found = nearest(spec)
            bound, step = found.candidates.bound, number(found.distance)
            reason = found.candidates.reason
        else:
            candidates = candidates_within(spec, asked)
            bound, reason = candidates.bound, candidates.reason
    except DpspecError as fault:
        reason = str(fault)
    if bound is None and asked is None and document.mechanism is not None and not is_small(spec):
        stated = nearest_pairs(document.mechanism, spec)
        step = step if stated is None or stated.distance is None else stated.distance
    if bound is None and not reason:
        reason = f"no universe holds two different datasets within distance {step}, so that nothing is promised about such"
    return CurveSubject(name=name, spec=spec, distance=step, bound=bound, reason=reason, own=_own(document, step, verdict))


def _own(document: SpecDocument, distance: Number, verdict: Verdict | None) -> ComparedPairs:
    """Pairs of laws of the mechanism: all of a small space, else those of a theorem, of a proof, or of the smallest datasets."""
    mechanism, spec = document.mechanism, document.spec
    if mechanism is None:
        return _without_pairs("the file names no mechanism")
    proved = None
    if not is_small(spec):
        with suppress(DpspecError):
            proved = derive(mechanism, spec) if verdict is None else verdict
    attained = None if not isinstance(proved, Verdict) or proved.tightest is None else proved.tightest.attained
    try:
        with evidence(() if attained is None else (attained,)):
            found = own_pairs(mechanism, spec, distance)
    except DpspecError as fault:
        return _without_pairs(str(fault))
    kept = found.pairs[:_MOST_PAIRS]
    return attrs.evolve(found, pairs=kept, complete=found.complete and len(kept) == len(found.pairs))


def _without_pairs(reason: str) -> ComparedPairs:
    return ComparedPairs(pairs=(), complete=False, scope=reason)


def noise_laws(document: SpecDocument) -> tuple[Location, ...]:
    """The different laws of the noise on the counts of a mechanism; none where it adds no noise of a known kind."""
    structure = None if document.mechanism is None else structure_of(document.mechanism, document.spec)
    laws: dict[Location, None] = {}  # each once, in the order of the views
    for view in () if structure is None else structure.views:
        inner = view
        while isinstance(inner, Bounded):  # bounding a noisy count leaves its noise as it is
            inner = inner.view
        law = inner.noise(0) if isinstance(inner, NoisyCount) else None
        if isinstance(law, Location):
            laws[law] = None
    return tuple(laws)
