"""Priors over datasets as they are written: pairs of a dataset and its probability, which sum to exactly one."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import attrs

from dpspec.blocks.space import Dataset
from dpspec.errors import (
    AttackerMisfitError,
    CertainTargetError,
    CounterfactualError,
    NotEnumerableError,
    NotReachedError,
    PriorError,
)
from dpspec.exact import Number, rational
from dpspec.params import Data, Domain, Rational
from dpspec.risk.candidates import MOST_LISTED, Candidates, candidates_among, candidates_within, is_small
from dpspec.spec import PrivacySpec

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

Prior = tuple[tuple[Any, Fraction], ...]
"""Datasets with their probabilities; empty for the uniform prior over all datasets."""
_LOOKED = 64


@attrs.frozen
class InDoubt(Rational):
    """The prior of what an attacker wants to know: a rational strictly between 0 and 1; the ends have an error of their own."""

    def read(self, value: Any, subject: str) -> Fraction:
        if rational(value, subject) in (0, 1):
            raise CertainTargetError(subject, "leaves nothing to learn: it is certain before the release", value=str(value))
        return super().read(value, subject)


IN_DOUBT = InDoubt(0, 1, open_low=True, open_high=True)


@attrs.frozen
class Weighted(Domain):
    """A list of pairs [dataset, probability] whose probabilities are exact, not negative, and sum to one."""

    def read(self, value: Any, subject: str) -> Prior:
        if (isinstance(value, str) and value == "uniform") or (isinstance(value, tuple) and not value):
            return ()
        pairs = list(value.items()) if isinstance(value, Mapping) else value
        if isinstance(pairs, str) or not isinstance(pairs, Iterable):
            raise PriorError(subject, f"must be a {self.describe()}", "or write uniform", value=value)
        held: dict[Any, Fraction] = {}
        for pair in pairs:
            if not isinstance(pair, (list, tuple)) or len(pair) != 2:
                raise PriorError(subject, "must consist of pairs [dataset, probability]", value=pair)
            dataset, mass = Data().read(pair[0], subject), rational(pair[1], subject)
            if mass < 0:
                raise PriorError(f"{subject} of {dataset}", "must not be negative", "it is a probability", value=str(mass))
            if dataset in held:
                raise PriorError(f"{subject} of {dataset}", "is given twice", "write the sum")
            held[dataset] = mass
        if sum(held.values()) != 1:
            rule = "must sum to exactly 1"
            raise PriorError(subject, rule, 'write exact ratios such as "1/3"', value=str(sum(held.values(), Fraction(0))))
        return tuple((dataset, mass) for dataset, mass in held.items() if mass)

    def describe(self) -> str:
        return "list of pairs [dataset, probability] that sum to 1"

    def schema(self) -> dict[str, Any]:
        return {"type": ["array", "string"]}

    def strategy(self) -> SearchStrategy[Any]:
        from hypothesis import strategies as st

        return st.just(())


def prior_on(spec: PrivacySpec, prior: Prior) -> dict[Dataset, Fraction]:
    """The prior over canonical datasets of the space; the uniform one where none is given.

    Raises:
        PriorError: for what is no dataset of the space, or in different universes, where nothing is promised.
        NotEnumerableError: when there are too many datasets for a uniform prior.
    """
    if prior:
        return {spec.space.dataset(dataset): mass for dataset, mass in prior}
    size = spec.space.cardinality()
    if size is None or size > MOST_LISTED:
        rule = "has too many datasets for a uniform prior"
        raise NotEnumerableError(f"space {spec.space.name}", rule, "give a prior: pairs [dataset, probability]")
    return {dataset: Fraction(1, size) for dataset in spec.space.datasets()}


Split = tuple[Hashable, Hashable]
"""The other records, and the record of the target."""


def split(spec: PrivacySpec, dataset: Dataset, position: int) -> Split:
    """A dataset as the other records and the target's.

    Raises:
        AttackerMisfitError: when the space has no order, so that no position is a person, or no such position.
    """
    if not spec.space.is_ordered or not isinstance(dataset, tuple):
        rule = "has no positions, so that no record is the target's"
        raise AttackerMisfitError(f"space {spec.space.name}", rule, "use a space of ordered records")
    if not 0 <= position < len(dataset):
        raise AttackerMisfitError("position", f"must be from 0 to {len(dataset) - 1}", value=position)
    return (*dataset[:position], None, *dataset[position + 1 :]), dataset[position]


def target(spec: PrivacySpec, position: int) -> str:
    """Whose record it is, as the beginning of an assumption: what is published, or the distance, may treat places differently."""
    return f"the target's is record {position + 1}; " if spec.space.is_ordered else ""


def joined(others: Hashable, record: Hashable) -> tuple[Any, ...]:
    """The dataset of other records (None at the target's place) and the target's record."""
    return tuple(record if entry is None else entry for entry in others)  # type: ignore[attr-defined]


def replacing(spec: PrivacySpec, given: Number | None = None) -> Number:
    """How far apart two datasets are that differ in the record at one position: as given, or the largest that is met.

    One where replacing a record is one step, two where it is a removal and an addition.

    Raises:
        CounterfactualError: when the size may change, so that replacing a record is no neighbour by itself, and no distance is
            given; also when nothing is promised about a replaced record.
        AttackerMisfitError: when the space has no positions.
    """
    if given is not None:
        return given
    space = spec.space
    if not space.is_ordered:
        rule = "has no positions, so that no record is the target's"
        raise AttackerMisfitError(f"space {space.name}", rule, "use a space of ordered records, or give the distance")
    if not all(space.fixes_size(unit) for unit in space.units):
        rule = "is replaced by another, and the size of the data is not known to stay"
        raise CounterfactualError("the target's record", rule, "give the distance of a replacement, or a space of one size")
    looked = list(itertools.islice(space.datasets(), _LOOKED))
    found = [
        spec.distance(left, right)
        for left, right in itertools.combinations(looked, 2)
        if sum(a != b for a, b in zip(left, right, strict=True)) == 1  # type: ignore[call-overload]
    ]
    if not found or max(found).is_infinite:
        rule = "may be replaced by one at infinite distance, about which nothing is promised"
        raise CounterfactualError("the target's record", rule, "ask about a distance of replaced records")
    return max(found)


def replaced(spec: PrivacySpec, position: int, given: Number | None = None) -> Candidates:
    """Two candidates for the record at a position, the others the same: by distance where that is given.

    Of a space that can be walked the pairs are listed; of a larger one they are those within the distance of `replacing`.

    Raises:
        AttackerMisfitError, CounterfactualError: as `replacing`, and where the space has no such position.
        NotReachedError: when no record can be replaced by another.
    """
    reach = replacing(spec, given)
    if not is_small(spec) or not spec.space.is_ordered:
        return candidates_within(spec, reach)
    by_others: dict[Hashable, list[Dataset]] = {}
    for dataset in spec.space.datasets():
        if isinstance(dataset, tuple) and position < len(dataset):
            by_others.setdefault(split(spec, dataset, position)[0], []).append(dataset)
    pairs = [pair for held in by_others.values() for pair in itertools.combinations(held, 2)]
    if given is not None:
        pairs = [pair for pair in pairs if spec.distance(*pair) <= given or spec.distance(pair[1], pair[0]) <= given]
    if not pairs:
        raise NotReachedError(f"record {position}", "can be replaced by no other within the distance", "name another position")
    return candidates_among(spec, pairs)


def check_uncertain(mass: Fraction, what: str) -> None:
    """Raise CertainTargetError for a prior of 0 or 1 on what the attacker wants to know."""
    if mass in (0, 1):
        raise CertainTargetError(f"prior of {what}", "is certain, so that nothing is left to learn", value=str(mass))
