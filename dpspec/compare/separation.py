"""What separates two specifications: a mechanism that satisfies the one and not the other.

Families propose mechanisms, each with its argument why it satisfies the premise on the whole space. What they propose is
believed about nothing: the exact engine runs every separating mechanism on the two datasets, against both specifications.
"""

from __future__ import annotations

from collections.abc import Callable

import attrs

from dpspec.blocks.space import Dataset
from dpspec.compare.comparison import Separation
from dpspec.compare.separations import cuts, numbers, outside, releases
from dpspec.compare.separations.candidate import Candidate, Family
from dpspec.errors import NoRouteError
from dpspec.mechanism import Mechanism
from dpspec.spec import PrivacySpec

Judge = Callable[[Mechanism, PrivacySpec, tuple[Dataset, Dataset]], tuple[str, str]]
"""Runs the exact engine on two datasets; returns the outcome and a line that describes it."""

FAMILIES: dict[str, Family] = {
    "the invariants of the premise, published": releases.invariants,
    "who is in reach of x by the input divergence": releases.reach,
    "a count, the distance from x, or whether the dataset is x, each with the least noise": numbers.answered,
    "a cut of all datasets in two": cuts.cuts,
}
"""What may separate, in the order in which it is tried, by what it is called in an answer that found nothing."""


@attrs.frozen(kw_only=True)
class Hunt:
    """What the search for a separation found.

    Args:
        separation: a separating mechanism, or a dataset on which none is defined; None when none was found.
        tried: what was tried, in words, with the number of mechanisms of each family.
    """

    separation: Separation | None
    tried: tuple[str, ...] = ()


def separate(premise: PrivacySpec, conclusion: PrivacySpec, judge: Judge) -> Separation | None:
    """A mechanism that satisfies `premise` and not `conclusion`, or None when none was found."""
    return hunt(premise, conclusion, judge).separation


def hunt(premise: PrivacySpec, conclusion: PrivacySpec, judge: Judge) -> Hunt:
    """Look for what separates two specifications, and say what was tried."""
    stranger = outside.outside(premise.space, conclusion.space)
    if stranger is not None:
        return Hunt(separation=_undefined(stranger))
    tried = []
    for words, family in FAMILIES.items():
        count = 0
        for candidate in family(premise, conclusion):
            count += 1
            found = _checked(candidate, premise, conclusion, judge)
            if found is not None:
                return Hunt(separation=found)
        tried.append(f"{words}: {count} mechanisms" if count else f"{words}: nothing to try")
    return Hunt(separation=None, tried=tuple(tried))


def _undefined(stranger: Dataset) -> Separation:
    return Separation(
        mechanism="none is needed: no mechanism of the one is defined on all of the other",
        argument="a mechanism of the premise has a law for each dataset of its own space, and x is none of them",
        left=stranger,
        right=stranger,
        checks=("x is no dataset of its space", "x is a dataset of its space, for which a law is asked"),
        kind="space",
    )


def _checked(candidate: Candidate, premise: PrivacySpec, conclusion: PrivacySpec, judge: Judge) -> Separation | None:
    """The candidate as a separation, when the engine finds that it satisfies the premise and breaks the conclusion."""
    try:
        second, second_line = judge(candidate.mechanism, conclusion, candidate.pair)
        if second != "refuted":
            return None
        first, first_line = judge(candidate.mechanism, premise, candidate.pair)
    except NoRouteError:  # one of the divergences cannot compare these laws
        return None
    if first != "verified":
        return None
    left, right = candidate.pair
    checks = (first_line, second_line)
    return Separation(mechanism=candidate.words, argument=candidate.argument, left=left, right=right, checks=checks)
