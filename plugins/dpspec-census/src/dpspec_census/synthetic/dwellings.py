"""Dwellings of a whole country by block, household size and tenure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from dpspec.blocks.space import Attribute
from dpspec.builder import SEED, SizedBuilder, pieces
from dpspec.params import define
from dpspec_census.massachusetts import COUNTIES, DWELLINGS_BY_SIZE, PRINTED, TENURES
from dpspec_census.synthetic.places import Places, drawn, hierarchy

if TYPE_CHECKING:
    from dpspec.table import Table

GEOGRAPHY = {"state": 51, "county": 3143, "tract": 84_000, "block-group": 240_000, "block": 8_100_000}
"""Units of each level, those of the 2020 Census rounded, as in the files of `specs/`."""

OWNED = tuple(PRINTED[county, "owned"] / (PRINTED[county, "owned"] + PRINTED[county, "rented"]) for county in COUNTIES)
"""The share of owners in the 14 counties of Massachusetts in 1940 (B-N5)."""


@define
class SyntheticDwellings(SizedBuilder):
    """Occupied dwellings with the geography of a country.

    A county takes the printed share of owners of one of 14 counties, in turn; household sizes are drawn by the proportions of
    `DWELLINGS_BY_SIZE`, independent of everything else.
    """

    name: ClassVar[str] = "synthetic-dwellings"
    own_size: ClassVar[int] = 10_000_000
    source: ClassVar[str] = (
        "shares of owners are those of 14 counties in 1940 (B-N5); numbers of units of geography are rounded ones of 2020; block "
        "sizes with a Pareto tail and household sizes are ours"
    )
    attributes: ClassVar[tuple[Attribute, ...]] = (
        *hierarchy(GEOGRAPHY),
        Attribute(name="size", categories=tuple(DWELLINGS_BY_SIZE)),
        Attribute(name="tenure", categories=TENURES),
    )

    def batches(self, rows: int, seed: int = SEED) -> Iterator[Table]:
        import numpy as np

        from dpspec.table import Table, compact

        places, owned = Places.of(self.attributes[: len(GEOGRAPHY)], rows, seed), np.asarray(OWNED)
        for piece in pieces(rows):
            lot = np.random.default_rng([seed, piece.start, 0])
            columns = places.codes(piece)
            columns["size"] = drawn(lot, tuple(DWELLINGS_BY_SIZE.values()), len(piece))
            columns["tenure"] = (lot.random(len(piece)) >= owned[columns["county"] % len(owned)]).astype(np.int64)
            yield Table(attributes=self.attributes, codes={a.name: compact(columns[a.name], a.size) for a in self.attributes})
