"""Hypothesis strategies drawn from the typed blocks, and the search for a minimal witness that they allow.

datasets(space)         elements of X, shrinking towards the smallest
universes(spec)         universes of the multiverse
pairs(spec)             two datasets of one universe at finite distance
from_params(cls)        objects of a declared class, parameters inside their domains
"""

from __future__ import annotations

import itertools
from typing import Any

from hypothesis import HealthCheck, find, settings
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample

from dpspec.blocks.multiverse import Universe
from dpspec.blocks.space import Dataset, DatasetSpace
from dpspec.mechanism import Mechanism
from dpspec.params import parameters
from dpspec.spec import PrivacySpec
from dpspec.verify.exhaustive import verify
from dpspec.verify.verdict import Outcome, Witness

DRAWN = 2_000
"""A space that is larger is drawn from through its first this many datasets, or through a miniature."""


def datasets(space: DatasetSpace) -> st.SearchStrategy[Dataset]:
    """Datasets of the space; of a large one, small datasets only."""
    return st.sampled_from(_small(space))


def _small(space: DatasetSpace) -> tuple[Dataset, ...]:
    size = space.cardinality()
    if size is not None and size <= DRAWN:
        return tuple(space.datasets())
    everything: dict[str, frozenset[str]] = {a.name: frozenset() for unit in space.units for a in space.attributes_of(unit)}
    small = space.miniature(everything, 3) or space
    return tuple(itertools.islice(small.datasets(), DRAWN))


def universes(spec: PrivacySpec) -> st.SearchStrategy[Universe]:
    """Universes with at least one drawn dataset, cut down to the datasets that `datasets` draws."""
    members: dict[Any, list[Dataset]] = {}
    for dataset in _small(spec.space):
        for label in spec.multiverse.labels(dataset, spec.space):
            members.setdefault(label, []).append(dataset)
    return st.sampled_from([Universe(label=label, datasets=tuple(held)) for label, held in members.items()])


def pairs(spec: PrivacySpec) -> st.SearchStrategy[tuple[Dataset, Dataset]]:
    """Two different datasets of one universe at finite distance: what a claim is about."""
    return (
        universes(spec)
        .filter(lambda universe: len(universe) > 1)
        .flatmap(lambda universe: st.tuples(st.sampled_from(universe.datasets), st.sampled_from(universe.datasets)))
        .filter(lambda pair: pair[0] != pair[1] and not spec.distance(*pair).is_infinite)
    )


def from_params(cls: type) -> st.SearchStrategy[Any]:
    """Objects of a class made by `dpspec.define`, each declared parameter drawn inside its domain."""
    return st.builds(cls, **{p.name: p.domain.strategy() for p in parameters(cls) if p.required})


def find_witness(mechanism: Mechanism, spec: PrivacySpec, *, examples: int = 500) -> Witness | None:
    """Search for two datasets that refute the claim and shrink them to a minimal pair.

    It looks at drawn pairs only, so None is no proof; `dpspec.verify.exhaustive.verify` gives one on a space that can
    be listed. The search is a function of its arguments: no seed, no database, no deadline.
    """

    def refutes(pair: tuple[Dataset, Dataset]) -> bool:
        return verify(mechanism, spec, datasets=pair).outcome is Outcome.REFUTED

    quiet = settings(
        derandomize=True, database=None, deadline=None, max_examples=examples, suppress_health_check=list(HealthCheck)
    )
    try:
        pair = find(pairs(spec), refutes, settings=quiet)
    except NoSuchExample:
        return None
    return verify(mechanism, spec, datasets=pair).witness
