"""The structure of a mechanism: independent queries of the records, so that its constant follows on spaces too large to list.

The output of such a mechanism is a collection of independent *views*, which are randomised queries of the records of one unit. It
may also contain values computed from them and from facts read from the data:

    T(x) = (t, f(t, c(x))),   t_1, t_2, ... independent, the law of t_i a function of the counts of the cells of view i.

When a dataset changes by one record, only the cells that the record leaves or enters change. So the laws of two datasets
differ in the few answers of those cells, and all others cancel. A mechanism states its structure in `Mechanism.structure`.
The verifier derives bounds from it, and compares it with the law that the mechanism states.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import attrs

from dpspec.base.exact import Bracket, Number
from dpspec.base.memo import key_of
from dpspec.blocks.input_divergence import InputDivergence
from dpspec.blocks.invariant import Invariant
from dpspec.blocks.output_divergence import OutputDivergence
from dpspec.blocks.space import DatasetSpace, Pair
from dpspec.grammar.sizes import NoStructure
from dpspec.grammar.views import DrawnView, OfView, SampledView, View

if TYPE_CHECKING:
    from dpspec.laws.dichotomy import Dichotomy


@attrs.frozen(kw_only=True)
class SizeHypothesis:
    """A mechanism states that it reads, in every dataset of the space, all records that the table of a view counts.

    Answers that depend on the number of records (`SizedLaw`) prove something only about the mechanism that states this. One that
    applies another mechanism states it anew by `Structure.restated`; where it forgets, the statement names the inner mechanism
    alone, and nothing is proved about the outer one.

    Args:
        view: the view.
        by: the mechanism that states it.
    """

    view: View
    by: object


@attrs.frozen(kw_only=True)
class Structure:
    """The decomposition of the output of a mechanism into independent views and values computed from them.

    Args:
        views: its independent parts t.
        reads: facts c(x) that what is computed from t also reads; () when nothing is.
        publishes_views: whether t itself is part of the output. If not, the views bound the output from above only.
        sampled: the probability with which each record of the largest unit takes part, independently of all others, before
            the views are evaluated (Poisson sampling).
        drawn: the number of records of the largest unit (all, where there are fewer) that are drawn without replacement, before
            the views are evaluated; None where no sample of a fixed size is drawn.
        drawn_by: the mechanism that draws them, from all records of the dataset. The share of the records that are drawn follows
            from the number of records of the space only for that mechanism.
        hypotheses: the mechanism that states that it reads all records of a view, for the views where that matters.
        is_mixture: whether the output is a mixture over random choices that are not published, such as that of batches, and the
            views are those after each choice. Then one change may be another case of a view (`View.changed`) for each choice.
    """

    views: tuple[View, ...]
    reads: tuple[Invariant, ...] = ()
    publishes_views: bool = True
    sampled: Fraction = Fraction(1)
    drawn: int | None = None
    drawn_by: object = None
    hypotheses: tuple[SizeHypothesis, ...] = ()
    is_mixture: bool = False

    @property
    def is_sampled(self) -> bool:
        """Whether records take part with a probability below 1: in the sample that all views read, or in one that a view
        draws."""
        return self.sampled < 1 or self.drawn is not None or any(view.on_sample for view in self.views)

    def states(self, view: View, by: object) -> bool:
        """Whether a mechanism states that it reads all records of a view: one statement for each equal view."""
        return key_of(view) in self._stated(by)

    def _stated(self, by: object) -> set[object]:
        """The views of which a mechanism states that, as keys."""
        stated = Counter(key_of(hypothesis.view) for hypothesis in self.hypotheses if hypothesis.by == by)
        return {key for key, times in Counter(map(key_of, self.views)).items() if times <= stated[key]}

    def restated(self, of: object, by: object, views: Callable[[View], View] | None = None) -> Structure:
        """The structure of a mechanism that applies another one to all records, or to those that the changed views read.

        What the other one did not state for itself is not stated again.

        Args:
            of: the mechanism whose structure this is.
            by: the mechanism that applies it.
            views: the view of the records that are left, for each view; without it all records are.
        """
        changed = self.views if views is None else tuple(map(views, self.views))
        both = zip(self.views, changed, strict=True)
        own = self._stated(of)
        stated = tuple(SizeHypothesis(view=after, by=by) for before, after in both if key_of(before) in own)
        return attrs.evolve(self, views=changed, hypotheses=stated, drawn_by=by if self.drawn_by == of else None)


def own_samples(structure: Structure) -> tuple[SampledView | DrawnView, ...]:
    """The distinct views that draw samples of their own."""
    found, views = dict[SampledView | DrawnView, None](), list(structure.views)
    while views:
        view = views.pop()
        if isinstance(view, (SampledView, DrawnView)):
            found[view] = None
        views += [view.view] if isinstance(view, OfView) else []
    return tuple(found)


def structure_for(mechanism: Any, space: DatasetSpace) -> Structure | NoStructure | None:
    """The structure of a mechanism, with those hypotheses only that it states for itself; or the reason why it has none."""
    try:
        found: Structure | None = mechanism.structure(space)
    except NoStructure as none:
        return none
    return None if found is None else found.restated(of=mechanism, by=mechanism)


@attrs.frozen(kw_only=True)
class ProvedBound:
    """A theorem that bounds the constant of a mechanism, where its output does not consist of independent views.

    It is proved inside the universes of some invariants, for one input and one output divergence; of others it says nothing.

    Args:
        holds: whether the constant of every universe is proved to be within the budget of that universe.
        invariants, input_divergence, output_divergence: what the theorem speaks about.
        pair: two datasets that show how far the constant reaches, small enough to be written down; None where there are none.
        probabilities: where the laws of the pair are too large to be computed, those of one outcome on the two datasets, exactly:
            what they differ by is what the laws differ by at least. None where the laws are to be computed.
        outcome: that outcome, in words.
        reached: what the theorem shows d_Pr / d_X to be on some pair of the space, where none is written down.
        says, citation: the theorem, and where it is proved.
    """

    holds: bool
    invariants: tuple[Invariant, ...]
    input_divergence: InputDivergence
    output_divergence: OutputDivergence
    pair: Pair | None
    probabilities: tuple[Fraction, Fraction] | None = None
    outcome: str = ""
    reached: Bracket | None = None
    says: str
    citation: str


@attrs.frozen(kw_only=True)
class NearestLaws:
    """A theorem on the laws of a mechanism on two datasets of one universe at the least possible distance.

    Args:
        distance: their distance, by the input divergence of the specification.
        pairs: pairs of laws of such datasets, in both orders, or limits of such pairs; () where none is written down.
        above: pairs of laws; the pair of any two such datasets is a post-processing of one of them. () where that is not known.
        scope, citation: which datasets these are, and where that is proved.
        exchanged: the attributes that two records exchange between the two datasets, where these differ by one exchange.
    """

    distance: Number
    pairs: tuple[Dichotomy, ...]
    above: tuple[Dichotomy, ...]
    scope: str
    citation: str
    exchanged: tuple[str, ...] = ()
