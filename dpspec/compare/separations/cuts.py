"""Spaces that can be listed: a cut of all datasets in two, answered as plainly as the premise allows across it.

For a set U of datasets let m be the least of what the premise allows between a dataset in U and one outside. Two laws N_0, N_1
with d_Pr(N_0, N_1) <= m, both ways, make a mechanism that satisfies the premise: N_1 in U, N_0 outside. Between x and x' the
widest cut is found by joining datasets in the order of what the premise allows between them, until x and x' would be joined.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from functools import lru_cache

from dpspec.blocks.space import Dataset
from dpspec.compare.separations.answers import SOURCES, Source
from dpspec.compare.separations.candidate import Answered, Candidate
from dpspec.compare.separations.pairs import allowance, cases
from dpspec.errors import DpspecError
from dpspec.exact import Number
from dpspec.spec import PrivacySpec

LISTED = 64
"""Spaces of at most this many datasets are cut."""

CASES = 60
"""At most this many kinds of pairs are tried."""


def cuts(premise: PrivacySpec, conclusion: PrivacySpec, sources: Sequence[Source] = SOURCES) -> Iterator[Candidate]:
    """Ask on which side of the widest cut between x and x' the dataset lies."""
    links = _links(premise)
    if links is None:
        return
    for source, case in ((s, c) for s in sources for c in itertools.islice(cases(premise, conclusion), CASES)):
        found = _widest(links, case.left, case.right)
        if found is None or case.allowed.upper.is_infinite:
            continue
        side, width = found
        for answers in source(premise.output_divergence, width):

            def value(dataset: Dataset, side: frozenset[Dataset] = side) -> int:
                return int(dataset in side)

            yield Candidate(
                mechanism=Answered(value=value, answers=answers),
                words=f'ask "is it {_named(side)}?", 1 if so and 0 if not, and answer {answers.words}',
                argument=f"of all pairs of datasets, one in the set and one outside, none is allowed less than {width}",
                pair=(case.left, case.right),
            )


def _named(side: frozenset[Dataset], shown: int = 4) -> str:
    members = sorted(side, key=repr)
    if len(members) == 1:
        return f"the dataset {members[0]}"
    more = f" and {len(members) - shown} more" if len(members) > shown else ""
    return "one of the datasets " + ", ".join(map(str, members[:shown])) + more


Links = tuple[tuple[Number, Dataset, Dataset], ...]


@lru_cache(maxsize=64)
def _links(premise: PrivacySpec) -> Links | None:
    """What the premise allows between any two datasets of its space, the least first; None when they are too many to list."""
    size = premise.space.cardinality()
    if size is None or size > LISTED:
        return None
    try:
        found = [
            (min(allowance(premise, (x, y)).lower, allowance(premise, (y, x)).lower), x, y)
            for x, y in itertools.combinations(premise.space.datasets(), 2)
        ]
    except DpspecError:  # a universe without a budget
        return None
    return tuple(sorted(found, key=lambda link: link[0]))


def _widest(links: Links, left: Dataset, right: Dataset) -> tuple[frozenset[Dataset], Number] | None:
    """The datasets that are joined with the left before the right is, and the least that is allowed across."""
    group: dict[Dataset, frozenset[Dataset]] = {left: frozenset([left]), right: frozenset([right])}
    for width, tied in itertools.groupby(links, key=lambda link: link[0]):
        before = group[left]
        for _, x, y in tied:
            joined = group.get(x, frozenset([x])) | group.get(y, frozenset([y]))
            group.update(dict.fromkeys(joined, joined))
        if right in group[left]:
            return (before, width) if width > 0 else None
    return None
