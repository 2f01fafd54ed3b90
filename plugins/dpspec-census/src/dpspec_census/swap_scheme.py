"""The variables of a swap and what they keep (B-D22 to B-D24).

A record of the swapping unit reads (j, l, k): j its *match* category (the stratum), l the *rest* (all that is held),
k its *swap* category. A swap exchanges values k inside a stratum, so it keeps

    c_Swap = (n_jl, n_jk),        the counts of match x rest and of match x swap.

Several match, rest or swap attributes stand for their combination.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Annotated, Any

import attrs

from dpspec.blocks.households import Households
from dpspec.blocks.invariant import Marginal
from dpspec.blocks.multisets import Multisets
from dpspec.blocks.multiverse import LevelSets
from dpspec.blocks.space import Attribute, Dataset, DatasetSpace, Record
from dpspec.errors import IncompatibleBlocksError, ParameterError
from dpspec.params import Items, Text, define, did_you_mean

Pairs = tuple[tuple[Record, Record], ...]
"""The records of one stratum, each as its pair (rest, swap)."""


@define
class SwapScheme:
    """Which attributes are matched on, which are swapped, and the unit whose records they are.

    Args:
        match: the attributes that form the strata; () for one stratum.
        swap: the attributes whose values move, all together.
        unit: the unit that one record is.

    >>> scheme = SwapScheme(match=("state",), swap=("county",))
    >>> scheme.match, scheme.swap, scheme.unit
    (('state',), ('county',), 'household')
    """

    match: Annotated[tuple[str, ...], Items(Text())] = ()
    swap: Annotated[tuple[str, ...], Items(Text(), least=1)]
    unit: Annotated[str, Text()] = "household"

    def __attrs_post_init__(self) -> None:
        named = (*self.match, *self.swap)
        if len(set(named)) < len(named):
            raise ParameterError("swap", "must not name an attribute twice, nor one of match", value=named)

    # -- fit with a space ---------------------------------------------------------------------------

    def check(self, space: DatasetSpace) -> None:
        """Raise IncompatibleBlocksError unless swapped records of the unit are again a dataset of the space."""
        if not isinstance(space, Multisets):
            raise IncompatibleBlocksError(
                f"space {space.name}", "has no unordered records; a swap releases a multiset (B-S8)",
                "use the space records or contingency-tables",
            )  # fmt: skip
        if isinstance(space, Households) and self.unit != space.units[0]:
            raise IncompatibleBlocksError(
                "unit", "cannot be swapped between households; whole households are", f"write unit = {space.units[0]}",
                value=self.unit,
            )  # fmt: skip
        attributes = {a.name: a for a in space.attributes_of(self.unit)}
        for name in (*self.match, *self.swap):
            if name not in attributes:
                raise IncompatibleBlocksError(
                    f"{self.unit} attribute", f"is unknown to the space {space.name}", did_you_mean(name, attributes), value=name
                )
        self._check_nesting(attributes)

    def _check_nesting(self, attributes: Mapping[str, Attribute]) -> None:
        """A nested attribute moves together with the one it lies within, or one of the two is fixed in a stratum."""
        fixed = set(self.match)
        for name in self.match:
            coarser = attributes[name].within
            while coarser is not None:
                fixed.add(coarser)
                coarser = attributes[coarser].within
        for name, attribute in attributes.items():
            within = attribute.within
            if within is None or {name, within} & fixed or (name in self.swap) == (within in self.swap):
                continue
            raise IncompatibleBlocksError(
                f"swap of {', '.join(self.swap)}", f"would tear {name} from {within}, in which it lies",
                f"match on {within}, or swap both", value=name,
            )  # fmt: skip

    def rest(self, space: DatasetSpace) -> tuple[str, ...]:
        """The held attributes: all of the unit's that are neither matched on nor swapped."""
        return tuple(a.name for a in space.attributes_of(self.unit) if a.name not in (*self.match, *self.swap))

    # -- the invariants -----------------------------------------------------------------------------

    def invariants(self, space: DatasetSpace) -> tuple[Marginal, Marginal]:
        """c_Swap: the tables match x rest and match x swap (B-D23)."""
        self.check(space)
        return (
            Marginal(attributes=(*self.match, *self.rest(space)), unit=self.unit),
            Marginal(attributes=(*self.match, *self.swap), unit=self.unit),
        )

    def multiverse(self, space: DatasetSpace) -> LevelSets:
        """The level sets of c_Swap (B-D7)."""
        return LevelSets(invariants=self.invariants(space))

    # -- records in and out -------------------------------------------------------------------------

    def strata(self, dataset: Dataset, space: DatasetSpace) -> dict[Record, Pairs]:
        """The records of every stratum as pairs (rest, swap), by the match category."""
        names = [a.name for a in space.attributes_of(self.unit)]
        parts = [[names.index(name) for name in part] for part in (self.match, self.rest(space), self.swap)]
        found: dict[Record, list[tuple[Record, Record]]] = defaultdict(list)
        for record in space.records(dataset, self.unit):
            match, rest, swap = (tuple(record[place] for place in places) for places in parts)
            found[match].append((rest, swap))
        return {match: tuple(pairs) for match, pairs in found.items()}

    def joined(self, match: Record, pairs: Iterable[tuple[Record, Record]], space: DatasetSpace) -> tuple[Record, ...]:
        """The inverse of `strata` for one stratum: whole records, in the order of the space's attributes."""
        names = [a.name for a in space.attributes_of(self.unit)]
        order = [(*self.match, *self.rest(space), *self.swap).index(name) for name in names]
        return tuple(tuple((*match, *rest, *swap)[place] for place in order) for rest, swap in pairs)

    def dataset(self, records: Iterable[Record], space: DatasetSpace) -> Dataset:
        """The dataset of the space with these records of the unit."""
        if not isinstance(space, Multisets):
            raise IncompatibleBlocksError(f"space {space.name}", "has no unordered records")
        cells: Any = tuple(records)
        if isinstance(space, Households):
            cells = tuple((record[:-1], record[-1]) for record in cells)
        return space.of(cells)


@attrs.frozen(kw_only=True)
class StratumSizes:
    """The sizes n_j of the strata of one dataset.

    Args:
        largest: max n_j over all strata; 0 for no records (S24's "maximum stratum size").
        largest_varied: b = max n_j over the strata that hold at least two different records; 0 for none (B-D24).
    """

    largest: int
    largest_varied: int

    @classmethod
    def of(cls, dataset: Dataset, space: DatasetSpace, match: tuple[str, ...], unit: str) -> StratumSizes:
        """Read from the records of a dataset; both are constant inside a universe of c_Swap (B-S6, B-S10).

        >>> from dpspec.blocks.records import UnorderedRecords
        >>> space = UnorderedRecords(attributes=[{"name": "size", "count": 3}, {"name": "tenure", "count": 2}])
        >>> StratumSizes.of((("1", "0"), ("1", "0"), ("1", "0"), ("2", "0"), ("2", "1")), space, ("size",), "person")
        StratumSizes(largest=3, largest_varied=2)
        """
        sizes = cls.by_stratum(dataset, space, match, unit).values()
        return cls(
            largest=max((size.largest for size in sizes), default=0),
            largest_varied=max((size.largest_varied for size in sizes), default=0),
        )

    @classmethod
    def by_stratum(cls, dataset: Dataset, space: DatasetSpace, match: tuple[str, ...], unit: str) -> dict[Record, StratumSizes]:
        """The size of each stratum, by its match category."""
        names = [a.name for a in space.attributes_of(unit)]
        places = [names.index(name) for name in match]
        strata: dict[Record, list[Record]] = defaultdict(list)
        for record in space.records(dataset, unit):
            strata[tuple(record[place] for place in places)].append(record)
        return {
            key: cls(largest=len(held), largest_varied=len(held) if len(set(held)) > 1 else 0) for key, held in strata.items()
        }
