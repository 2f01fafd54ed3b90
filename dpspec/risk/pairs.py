"""Pairs of datasets of one universe that an attacker may tell apart by the release, and which ones are looked at."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

import attrs

from dpspec.blocks.space import Dataset
from dpspec.errors import NotEnumerableError, NotReachedError
from dpspec.exact import Number, NumberLike, number
from dpspec.laws.dichotomy import Dichotomy
from dpspec.mechanism import Mechanism
from dpspec.plural import count
from dpspec.risk.candidates import MOST_LISTED
from dpspec.spec import PrivacySpec

FEW = 48
"""Of a larger one, so many of the smallest datasets are looked at."""


@attrs.frozen(kw_only=True)
class Pairs:
    """Ordered pairs of datasets within a distance, both in one universe.

    Args:
        pairs: the pairs (x, x').
        complete: whether these are all of the specification.
        scope: which they are, in words.
    """

    pairs: tuple[tuple[Dataset, Dataset], ...]
    complete: bool
    scope: str

    def dichotomies(self, mechanism: Mechanism, spec: PrivacySpec) -> Iterator[Dichotomy]:
        """The pairs of laws of a mechanism, equal ones once."""
        laws = {x: mechanism.law(x, spec.space) for pair in self.pairs for x in pair}
        seen = set()
        for left, right in self.pairs:
            key = laws[left], laws[right]
            if key not in seen:
                seen.add(key)
                yield laws[left].against(laws[right])


def pairs_within(spec: PrivacySpec, distance: NumberLike = 1, datasets: Iterable[Dataset] | None = None) -> Pairs:
    """The ordered pairs of different datasets at most a distance apart; of a large space, those of its smallest datasets.

    Args:
        spec: the specification.
        distance: the largest distance, in the unit of the input divergence.
        datasets: look only at these.

    Raises:
        NotReachedError: when there is none among the datasets that are looked at.
        NotEnumerableError: when the space is too large even for a look at its smallest datasets.
    """
    reach, size = number(distance, "distance"), spec.space.cardinality()
    complete = datasets is None and size is not None and size <= MOST_LISTED
    if datasets is not None:
        looked = list(dict.fromkeys(spec.space.dataset(x) for x in datasets))
    elif complete:
        looked = list(spec.space.datasets())
    elif size is None and not spec.space.cells():
        rule = "has too many datasets to be listed, so a mechanism's own law is looked at for named datasets only"
        advice = f"write --set 'datasets=[X, Y]', each as `dpspec explain {spec.space.name}` says"
        raise NotEnumerableError(f"space {spec.space.name}", rule, advice)
    else:
        looked = list(itertools.islice(spec.space.datasets(), FEW))
    found = tuple(
        (left, right)
        for left, right in itertools.permutations(looked, 2)
        if _is_near(spec, left, right, reach) and spec.multiverse.share_universe(left, right, spec.space)
    )
    if not found:
        rule = f"holds no two datasets of one universe within distance {reach} among the {len(looked):,} that were looked at"
        raise NotReachedError("space", rule, "name others (--set 'datasets=[X, Y]'), or ask about a larger distance")
    scope = "all" if complete else "only"
    return Pairs(pairs=found, complete=complete, scope=f"{scope} {count(len(found), 'ordered pair')} of {len(looked):,} datasets")


def _is_near(spec: PrivacySpec, left: Dataset, right: Dataset, reach: Number) -> bool:
    """In one order or the other: whoever compares the two compares them both ways."""
    if spec.distance(left, right) <= reach:
        return True
    return not spec.input_divergence.is_symmetric and spec.distance(right, left) <= reach
