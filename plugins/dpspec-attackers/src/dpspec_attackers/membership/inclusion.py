"""Datasets with and without one record: what a specification allows about them, and which there are."""

from __future__ import annotations

import attrs
from dpspec_divergences.counting import HammingOrdered, SymmetricDifference, exchange
from dpspec_divergences.relations import AddRemove

from dpspec.blocks.space import Dataset
from dpspec.errors import AttackerMisfitError, NotReachedError
from dpspec.exact import Number, number
from dpspec.risk.candidates import Candidates, candidates_within
from dpspec.risk.pairs import Pairs, pairs_within
from dpspec.spec import PrivacySpec


def inclusion_distance(spec: PrivacySpec) -> tuple[Number, str]:
    """The largest distance of two datasets that differ by one record added or removed, and the unit of that record.

    Raises:
        AttackerMisfitError: when the space fixes the number of records, or the distance of such datasets is not known to be
            finite.
    """
    divergence = spec.input_divergence
    relation = getattr(divergence, "relation", None)
    unit = divergence.counted_unit() or getattr(divergence if relation is None else relation, "unit", None)
    if unit is None or unit not in spec.space.units:
        rule = "counts no records of one unit, so that it is not said whose membership is protected"
        raise AttackerMisfitError(f"input_divergence {divergence.name}", rule, "use symmetric-difference with a unit")
    advice = "ask an attacker about values, or protect records that are added or removed (symmetric-difference)"
    if spec.space.fixes_size(unit):
        rule = f"fixes the number of {unit} records: nobody is in or out of the data"
        raise AttackerMisfitError(f"space {spec.space.name}", rule, advice)
    if relation is not None and AddRemove(unit=unit).within(relation) is not None:
        return number(1), unit
    found = divergence.bounded_by(SymmetricDifference(unit=unit), spec.space)
    if found is None or found[0].is_infinite:
        rule = f"promises nothing about datasets with one {unit} record more or less"
        raise AttackerMisfitError(f"input_divergence {divergence.name}", rule, advice)
    return found[0], unit


def inclusion_candidates(spec: PrivacySpec) -> Candidates:
    """What a specification says about a dataset with and without one record."""
    distance, unit = inclusion_distance(spec)

    def by_one(left: Dataset, right: Dataset) -> bool:
        return sum(exchange(left, right, spec.space, unit)) == 1

    return candidates_within(spec, distance, by_one)


def inclusion_pairs(spec: PrivacySpec) -> Pairs:
    """The ordered pairs of datasets of one universe that differ by one record.

    Raises:
        NotReachedError: when there is none.
    """
    distance, unit = inclusion_distance(spec)
    near = pairs_within(spec, distance)

    def by_one(left: Dataset, right: Dataset) -> bool:
        return sum(exchange(left, right, spec.space, unit)) == 1

    kept = tuple((left, right) for left, right in near.pairs if by_one(left, right))
    if not kept:
        raise NotReachedError("space", f"holds no two datasets of one universe that differ by one {unit} record")
    return attrs.evolve(near, pairs=kept, scope=f"{near.scope}, of these {len(kept)} with one {unit} record more or less")


def replacement_distance(spec: PrivacySpec) -> Number:
    """The largest distance of two datasets of one size in which one record differs.

    Raises:
        AttackerMisfitError: when it is not known to be finite.
    """
    unit = spec.input_divergence.counted_unit()
    found = None if unit is None else spec.input_divergence.bounded_by(HammingOrdered(unit=unit), spec.space)
    if found is None or found[0].is_infinite:
        rule = "does not say how far apart two datasets are in which one record differs"
        raise AttackerMisfitError(f"input_divergence {spec.input_divergence.name}", rule, "use hamming with a unit")
    return found[0]


def replacement_candidates(spec: PrivacySpec) -> Candidates:
    """What a specification says about two datasets of one size in which one record differs."""
    unit = spec.input_divergence.counted_unit() or ""

    def one(left: Dataset, right: Dataset) -> bool:
        return exchange(left, right, spec.space, unit) == (1, 1)

    return candidates_within(spec, replacement_distance(spec), one)


def replacement_pairs(spec: PrivacySpec) -> Pairs:
    """The ordered pairs of datasets of one universe in which one record differs, and nothing else."""
    unit = spec.input_divergence.counted_unit() or ""
    near = pairs_within(spec, replacement_distance(spec))

    def one(left: Dataset, right: Dataset) -> bool:
        return exchange(left, right, spec.space, unit) == (1, 1)

    return attrs.evolve(near, pairs=tuple((left, right) for left, right in near.pairs if one(left, right)))
