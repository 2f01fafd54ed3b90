"""Telling the truth where the premise asks for nothing: the invariants, or which datasets are in reach of x.

The invariants are constant in every universe, so that publishing them has budget 0 for any divergences (B-T10). And where d is
a metric, "at finite distance from x" is the same answer for any two datasets at finite distance from each other.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from dpspec.blocks.space import Dataset
from dpspec.compare.separations.answers import TRUTH
from dpspec.compare.separations.candidate import Answered, Candidate
from dpspec.compare.separations.pairs import Pair, cases, pairs
from dpspec.mechanism import ReleaseInvariants
from dpspec.rules.universes import determined
from dpspec.spec import PrivacySpec

TRIED = 3
"""At most this many pairs are tried for each release."""


def invariants(premise: PrivacySpec, conclusion: PrivacySpec) -> Iterator[Candidate]:
    """Publish the invariants of the premise: at two datasets of one universe of the conclusion that differ in them."""
    held = premise.multiverse.invariants
    if not held or premise.space != conclusion.space:
        return
    mechanism = ReleaseInvariants(invariants=held)
    words = "publish exactly: " + "; ".join(str(invariant) for invariant in held)
    argument = "constant in every universe, so it has budget 0 for any divergences (B-T10)"
    for pair in _told_apart(premise, conclusion):
        yield Candidate(mechanism=mechanism, words=words, argument=argument, pair=pair)


def _told_apart(premise: PrivacySpec, conclusion: PrivacySpec) -> Iterator[Pair]:
    coarse, fine = premise.multiverse.invariants or (), conclusion.multiverse.invariants
    if fine is not None:
        found = determined(fine, coarse, conclusion.space)
        if found.answer is True:
            return
        if found.witness is not None and not conclusion.distance(*found.witness).is_infinite:
            yield found.witness
    apart = (pair for pair in pairs(premise, conclusion) if not premise.multiverse.share_universe(*pair, premise.space))
    for _, pair in zip(range(TRIED), apart, strict=False):
        yield pair


def reach(premise: PrivacySpec, conclusion: PrivacySpec) -> Iterator[Candidate]:
    """Say whether the dataset is at finite distance from x: at a dataset that is, for the conclusion, and not for the premise."""
    divergence = premise.input_divergence
    metric = divergence if divergence.is_metric else divergence.path_form()
    if metric is None or not (metric.is_metric and metric.is_symmetric):
        return
    words = f"finite distance by {metric}"
    apart = (case for case in cases(premise, conclusion) if case.near.is_infinite)
    far = (case for case in apart if metric.distance(case.left, case.right, premise.space).is_infinite)
    for _, case in zip(range(TRIED), far, strict=False):

        def value(dataset: Dataset, x: Dataset) -> int:
            return int(not metric.distance(x, dataset, premise.space).is_infinite)

        yield Candidate(
            mechanism=Answered(value=partial(value, x=case.left), answers=TRUTH),
            words=f"say truthfully whether the dataset is at {words} from x",
            argument="two datasets at a finite distance from each other are both in reach of x, or both not",
            pair=(case.left, case.right),
        )
