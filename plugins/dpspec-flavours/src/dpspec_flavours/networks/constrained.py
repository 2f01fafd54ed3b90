"""The neighbours of a Blowfish policy whose constraints force several records to change together."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from functools import lru_cache
from typing import Annotated, ClassVar

from dpspec_divergences.counting import check_ordered

from dpspec.blocks.input_divergence import Relation
from dpspec.blocks.invariant import Invariant, Marginal
from dpspec.blocks.multiverse import LevelSets
from dpspec.blocks.space import Dataset, DatasetSpace, Record
from dpspec.errors import NotEnumerableError
from dpspec.params import Data, Items, Registered, Text, define
from dpspec_flavours.networks.policy import as_record, check_edges, check_values

LISTED = 2000
"""The datasets are listed, so that the space may have no more than this."""

Secret = tuple[int, Record, Record]


@define
class PolicyNeighbours(Relation):
    """Two datasets that meet the same constraints and differ in as few secrets as these allow (He et al., SIGMOD 2014).

    A secret in which x and x' differ is (i, x_i, x'_i) with an edge between the two values; T(x, x') is the set of these, and
    D(x, x') the set of all (i, x_i, x'_i) with x_i != x'_i. Then x and x' are neighbours when the invariants agree on
    them, T(x, x') is not empty, and no x'' on which the invariants agree, too, has (a) a non-empty T(x, x'') that is a proper
    part of T(x, x'), or (b) the same T and a D(x, x'') that is a proper part of D(x, x'). It may hold in one order only.

    Without constraints these are the datasets at `policy` distance 1. With constraints a neighbour pays once for all the records
    that have to change together, which no sum over records expresses.

    Args:
        edges: the policy graph, as in `policy`.
        constraints: the invariants that are public.
        unit: what one record is.

    >>> from dpspec.blocks.vectors import BitVectors
    >>> same_total = PolicyNeighbours(edges=[["0", "1"]], constraints=[Marginal(attributes=("bit",))])
    >>> space = BitVectors(length=2)
    >>> same_total.related((0, 1), (1, 0), space), same_total.related((0, 1), (1, 1), space)
    (True, False)
    """

    name: ClassVar[str] = "policy-neighbours"
    is_symmetric: ClassVar[bool] = False

    edges: Annotated[tuple[tuple[Record | str, ...], ...], Items(Items(Data()), least=1)]
    constraints: Annotated[tuple[Invariant, ...], Items(Registered("invariants"))] = ()
    unit: Annotated[str, Text()] = "person"

    def __attrs_post_init__(self) -> None:
        check_edges(self.edges)

    def check(self, space: DatasetSpace) -> None:
        check_ordered(self.name, space, self.unit, "neighbours of another relation")
        check_values(self.edges, space.attributes_of(self.unit))
        LevelSets(invariants=self.constraints).check(space)
        size = space.cardinality()
        if size is None or size > LISTED:
            rule = f"looks for smaller changes among all datasets, and the space has more than {LISTED}"
            raise NotEnumerableError(self.name, rule, "choose a smaller space", value=size)

    def related(self, left: Dataset, right: Dataset, space: DatasetSpace) -> bool:
        return right in _neighbours(self, left, space)

    @classmethod
    def examples(cls) -> Iterator[PolicyNeighbours]:
        """What the conformance kit checks divergences with."""
        yield cls(edges=(("0", "1"),), constraints=(Marginal(attributes=("bit",)),))

    def __str__(self) -> str:
        held = "; ".join(map(str, self.constraints))
        return f"{self.name} of {len(self.edges)} edges ({self.unit})" + (f" under {held}" if held else "")


@lru_cache(maxsize=LISTED)
def _neighbours(relation: PolicyNeighbours, left: Dataset, space: DatasetSpace) -> frozenset[Dataset]:
    """Every x' that is a neighbour of one x."""
    edges = frozenset(frozenset((as_record(one), as_record(other))) for one, other in relation.edges)
    ours = space.records(left, relation.unit)
    changes: list[tuple[frozenset[Secret], frozenset[Secret], Dataset]] = []
    for other in _universes(relation, space)[_label(relation, left, space)]:
        theirs = space.records(other, relation.unit)
        if len(ours) == len(theirs):
            changed = frozenset((i, a, b) for i, (a, b) in enumerate(zip(ours, theirs, strict=True)) if a != b)
            secrets = frozenset(entry for entry in changed if frozenset(entry[1:]) in edges)
            changes.append((secrets, changed, other))
    telling = [entry for entry in changes if entry[0]]
    return frozenset(
        other
        for secrets, changed, other in telling
        if not any(fewer < secrets or (fewer == secrets and less < changed) for fewer, less, _ in telling)
    )


@lru_cache(maxsize=16)
def _universes(relation: PolicyNeighbours, space: DatasetSpace) -> dict[Hashable, list[Dataset]]:
    held: dict[Hashable, list[Dataset]] = {}
    for dataset in space.datasets():
        held.setdefault(_label(relation, dataset, space), []).append(dataset)
    return held


def _label(relation: PolicyNeighbours, dataset: Dataset, space: DatasetSpace) -> Hashable:
    return LevelSets(invariants=relation.constraints).labels(dataset, space)[0]
