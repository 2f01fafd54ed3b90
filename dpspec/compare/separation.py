"""What separates two specifications: a mechanism that satisfies the one and not the other.

Families propose mechanisms, each with its argument why it satisfies the premise on the whole space. What they propose is
believed about nothing: the exact engine runs every separating mechanism, on the two datasets against the conclusion, and on a
small instance around them against the premise.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from functools import partial

import attrs

from dpspec.blocks.space import Dataset
from dpspec.compare.comparison import Separation
from dpspec.compare.separations import cuts, numbers, outside, releases, single
from dpspec.compare.separations.answers import Source, extremal_answers, searched_answers
from dpspec.compare.separations.candidate import Candidate, Family
from dpspec.compare.separations.pairs import Pair, pairs
from dpspec.errors import NoRouteError
from dpspec.mechanism import Mechanism
from dpspec.spec import PrivacySpec

Judge = Callable[[Mechanism, PrivacySpec, tuple[Dataset, ...]], tuple[str, str]]
"""Runs the exact engine on some datasets; returns the outcome and a line that describes it."""

INSTANCE = 10
"""On so many datasets of its space the premise is checked, where it has so many that it compares."""


def _by(family: Callable[..., Iterator[Candidate]], source: Source) -> Family:
    return partial(family, sources=(source,))


FAMILIES: dict[str, Family] = {
    "which dataset it is, where the space of the premise does not have it": outside.outside,
    "the invariants of the premise, published": releases.invariants,
    "a count, the distance from x, or whether the dataset is x, each with the least noise": _by(
        numbers.answered, extremal_answers
    ),
    "who is in reach of x by the input divergence": releases.reach,
    "a cut of all datasets in two": _by(cuts.cuts, extremal_answers),
    "one event, as likely as the premise allows": single.events,
    "the same numbers with coins, leaks and noise, as strong as they can be": _by(numbers.answered, searched_answers),
    "the same cuts so": _by(cuts.cuts, searched_answers),
}
"""What may separate, in the order in which it is tried, by what it is called in an answer that found nothing."""


@attrs.frozen(kw_only=True)
class Hunt:
    """What the search for a separation found.

    Args:
        separation: a separating mechanism; None when none was found.
        tried: what was tried, in words, with the number of mechanisms of each family.
    """

    separation: Separation | None
    tried: tuple[str, ...] = ()


def separate(premise: PrivacySpec, conclusion: PrivacySpec, judge: Judge) -> Separation | None:
    """A mechanism that satisfies `premise` and not `conclusion`, or None when none was found."""
    return hunt(premise, conclusion, judge).separation


def hunt(premise: PrivacySpec, conclusion: PrivacySpec, judge: Judge) -> Hunt:
    """Look for what separates two specifications, and say what was tried."""
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


def _checked(candidate: Candidate, premise: PrivacySpec, conclusion: PrivacySpec, judge: Judge) -> Separation | None:
    """The candidate as a separation, when the engine finds that it satisfies the premise and breaks the conclusion."""
    left, right = candidate.pair
    try:
        second, second_line = judge(candidate.mechanism, conclusion, candidate.pair)
        if second != "refuted":
            return None
        instance = _instance(premise, conclusion, candidate.pair)
        first, first_line = judge(candidate.mechanism, premise, instance)
    except NoRouteError:  # one of the divergences cannot compare these laws
        return None
    if first != "verified":
        return None
    return Separation(
        mechanism=candidate.words,
        argument=candidate.argument,
        left=left,
        right=right,
        checks=(first_line, second_line),
        run=candidate.mechanism,
        instance=instance,
        kind=candidate.kind,
    )


def _instance(premise: PrivacySpec, conclusion: PrivacySpec, pair: Pair) -> tuple[Dataset, ...]:
    """The two datasets, as far as the premise has them, and some that it compares with each other."""
    shared = [x for x in pair if outside.has(premise.space, conclusion.space, x)]
    compared = itertools.chain.from_iterable(pairs(premise, premise))
    known = dict.fromkeys(itertools.chain(shared, itertools.islice(compared, 4 * INSTANCE)))
    return tuple(itertools.islice(known, INSTANCE))
