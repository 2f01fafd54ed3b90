"""Neighbour relations given as they are: a list of pairs of datasets."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Annotated, ClassVar

from dpspec.blocks.input_divergence import Relation
from dpspec.blocks.space import Dataset, DatasetSpace
from dpspec.errors import ParameterError
from dpspec.params import Data, Items, define


@define
class ListedPairs(Relation):
    """An arbitrary relation R on the datasets, as a list of its pairs: the R of generic privacy (Kifer and Machanavajjhala 2011).

    Two datasets are neighbours when the pair is listed in one order or the other.

    Args:
        pairs: the pairs, each as two datasets in the way in which the space reads them.

    >>> from dpspec.blocks.vectors import BitVectors
    >>> swap = ListedPairs(pairs=[[[0, 1], [1, 0]]])
    >>> swap.related((1, 0), (0, 1), BitVectors(length=2)), swap.related((0, 0), (0, 1), BitVectors(length=2))
    (True, False)
    """

    name: ClassVar[str] = "listed-pairs"

    pairs: Annotated[tuple[tuple[Dataset, ...], ...], Items(Items(Data()), least=1)]

    def __attrs_post_init__(self) -> None:
        for place, pair in enumerate(self.pairs):
            if len(pair) != 2:
                raise ParameterError(f"pairs[{place}]", "must be two datasets", "write [[...], [...]]", value=pair)

    def check(self, space: DatasetSpace) -> None:
        for place, (left, right) in enumerate(self.pairs):
            if space.dataset(left) == space.dataset(right):
                raise ParameterError(f"pairs[{place}]", "must be two different datasets", "leave the pair out", value=left)

    def related(self, left: Dataset, right: Dataset, space: DatasetSpace) -> bool:
        return frozenset((left, right)) in _related(self, space)

    @classmethod
    def examples(cls) -> Iterator[ListedPairs]:
        """What the conformance kit checks divergences with."""
        yield cls(pairs=(((0, 0), (0, 1)), ((1, 0), (0, 1))))

    def __str__(self) -> str:
        return f"a list of {len(self.pairs)} pairs"


@lru_cache(maxsize=64)
def _related(relation: ListedPairs, space: DatasetSpace) -> frozenset[frozenset[Dataset]]:
    """The pairs in canonical form."""
    return frozenset(frozenset(space.dataset(side) for side in pair) for pair in relation.pairs)
