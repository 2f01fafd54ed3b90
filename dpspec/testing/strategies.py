"""Hypothesis strategies drawn from the typed blocks, and the search for a minimal witness that they allow.

datasets(space)         elements of X, shrinking towards the smallest
universes(spec)         universes of the multiverse
pairs(spec)             two datasets of one universe at finite distance
from_params(cls)        objects of a declared class, parameters inside their domains
"""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, find, settings
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample, Unsatisfiable

from dpspec.blocks.multiverse import Universe
from dpspec.blocks.space import Dataset, DatasetSpace
from dpspec.errors import NotReachedError
from dpspec.mechanism import Mechanism
from dpspec.params import parameters
from dpspec.spec import PrivacySpec
from dpspec.testing.reduction import reduced
from dpspec.testing.walks import LISTED, drawn_datasets, first_datasets, grouped, pairs_in_universe
from dpspec.verify.exhaustive import verify
from dpspec.verify.verdict import Outcome, Witness

DRAWN = LISTED
"""A space that is larger is not listed; datasets and pairs are drawn cell by cell."""


def datasets(space: DatasetSpace) -> st.SearchStrategy[Dataset]:
    """Datasets of the space; of a large one, small datasets with any categories."""
    size = space.cardinality()
    listed = size is not None and size <= DRAWN
    return st.sampled_from(first_datasets(space)) if listed else drawn_datasets(space)


def universes(spec: PrivacySpec) -> st.SearchStrategy[Universe]:
    """Universes of a space that can be listed; of a larger one, what they hold of a miniature."""
    return st.sampled_from(grouped(spec, first_datasets(spec.space)))


def pairs(spec: PrivacySpec) -> st.SearchStrategy[tuple[Dataset, Dataset]]:
    """Two different datasets of one universe at finite distance: what a claim is about."""
    return pairs_in_universe(spec)


def from_params(cls: type) -> st.SearchStrategy[Any]:
    """Objects of a class made by `dpspec.define`, each declared parameter drawn inside its domain."""
    return st.builds(cls, **{p.name: p.domain.strategy() for p in parameters(cls) if p.required})


def find_witness(mechanism: Mechanism, spec: PrivacySpec, *, examples: int = 500) -> Witness | None:
    """Search for two datasets that refute the claim and shrink them to a minimal pair.

    It looks at drawn pairs only, so None is no proof; `dpspec.verify.exhaustive.verify` gives one on a space that can
    be listed. The search is a function of its arguments: no seed, no database, no deadline. The pair stays inside one
    universe while it shrinks, and no record can be dropped from it (`dpspec.testing.reduction`).

    Raises:
        NotReachedError: when no two datasets of one universe were met.
    """

    met: set[bool] = set()

    def refutes(pair: tuple[Dataset, Dataset]) -> bool:
        met.add(True)
        return verify(mechanism, spec, datasets=pair).outcome is Outcome.REFUTED

    quiet = settings(
        derandomize=True, database=None, deadline=None, max_examples=examples, suppress_health_check=list(HealthCheck)
    )
    drawn = pairs(spec)
    try:
        pair = find(drawn, refutes, settings=quiet)
    except (NoSuchExample, Unsatisfiable):
        if met or drawn.is_empty:
            return None
        raise NotReachedError(
            "multiverse", "no two datasets of one universe at finite distance were drawn", "list the datasets instead"
        ) from None
    return verify(mechanism, spec, datasets=reduced(pair, refutes, spec)).witness
