"""A synthetic state for TopDown: five levels of geography, 10,000 blocks, persons of 2,016 kinds, and housing units (K-D39).

The counts of kinds and the levels are those of the redistricting file. No joint table of them is printed in the sources, so every
chance below is ours, chosen so that most cells of a block are empty, as they are in a census.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from dpspec.blocks.space import Attribute
from dpspec.builder import SEED, SizedBuilder, pieces
from dpspec.params import define
from dpspec_census.synthetic.places import Places, drawn, hierarchy

if TYPE_CHECKING:
    import numpy as np

    from dpspec.table import Table
    from dpspec_census.synthetic.places import Integers

GEOGRAPHY = {"state": 1, "county": 20, "tract": 200, "block-group": 1000, "block": 10_000}
LEVELS = hierarchy(GEOGRAPHY)

HHGQ = (
    "household", "correctional", "juvenile", "nursing", "other-institutional", "college", "military", "other-noninstitutional",
)  # fmt: skip
"""Households and seven major types of group quarters."""

GQ_BLOCKS, GQ_SHARE = 50, 0.8
"""One block in 50 holds a group quarter, of one type, in which four of five of its persons live. Ours."""

ADULT, OCCUPIED = 0.78, 0.9
"""The shares of persons of voting age and of occupied units. Ours."""

RACES = 63
"""All combinations of six races but the empty one."""

AT_HOME = 0.85
"""The chance that a person is of the most frequent race of the tract; all others follow 1/k^2 over the 63. Ours."""


@define
class SyntheticPersons(SizedBuilder):
    """Persons of a state: block, household or group quarter, voting age, Hispanic origin, race."""

    name: ClassVar[str] = "synthetic-persons"
    own_size: ClassVar[int] = 400_000
    source: ClassVar[str] = (
        "the 2,016 kinds of persons and the levels from state to block are those of the 2020 redistricting file (K-D38, K-D39); "
        "all frequencies are ours"
    )
    attributes: ClassVar[tuple[Attribute, ...]] = (
        *LEVELS,
        Attribute(name="hhgq", categories=HHGQ),
        Attribute(name="voting-age", categories=("minor", "adult")),
        Attribute(name="hispanic", categories=("no", "yes")),
        Attribute(name="race", count=RACES),
    )

    def batches(self, rows: int, seed: int = SEED) -> Iterator[Table]:
        import numpy as np

        from dpspec.table import Table, compact

        places = Places.of(LEVELS, rows, seed)
        for piece in pieces(rows):
            lot = np.random.default_rng([seed, piece.start, 1])
            columns = places.codes(piece)
            kind = columns["hhgq"] = _quarters(lot, columns["block"])
            grown = (kind > 0) & (kind != HHGQ.index("juvenile"))
            columns["voting-age"] = ((lot.random(len(piece)) < ADULT) | grown).astype(np.int64)
            share = 0.02 + 0.6 * (columns["tract"] * 37 % 101 / 101) ** 3
            columns["hispanic"] = (lot.random(len(piece)) < share).astype(np.int64)
            columns["race"] = _races(lot, columns["tract"])
            yield Table(attributes=self.attributes, codes={a.name: compact(columns[a.name], a.size) for a in self.attributes})


def _quarters(lot: np.random.Generator, block: Integers) -> Integers:
    """Households everywhere, and in some blocks group quarters of one type."""
    import numpy as np

    here = (block % GQ_BLOCKS == 1) & (lot.random(len(block)) < GQ_SHARE)
    return np.where(here, 1 + block // GQ_BLOCKS % (len(HHGQ) - 1), 0)


def _races(lot: np.random.Generator, tract: Integers) -> Integers:
    """The race of the tract for most persons, any of the 63 for the others."""
    import numpy as np

    falling = tuple(1 / (k + 1) ** 2 for k in range(RACES))
    usual = drawn(np.random.default_rng(RACES), falling, GEOGRAPHY["tract"])[tract]
    return np.where(lot.random(len(tract)) < AT_HOME, usual, drawn(lot, falling, len(tract)))


@define
class SyntheticHousingUnits(SizedBuilder):
    """Housing units of the same state: a block has the more of them the more persons `SyntheticPersons` puts there."""

    name: ClassVar[str] = "synthetic-housing-units"
    own_size: ClassVar[int] = 170_000
    source: ClassVar[str] = (
        "occupancy and the levels from state to block are those of the 2020 redistricting file (K-D38, K-D39); all frequencies "
        "are ours"
    )
    attributes: ClassVar[tuple[Attribute, ...]] = (*LEVELS, Attribute(name="occupancy", categories=("occupied", "vacant")))

    def batches(self, rows: int, seed: int = SEED) -> Iterator[Table]:
        import numpy as np

        from dpspec.table import Table, compact

        places = Places.of(LEVELS, rows, seed)
        for piece in pieces(rows):
            lot = np.random.default_rng([seed, piece.start, 2])
            columns = places.codes(piece)
            columns["occupancy"] = (lot.random(len(piece)) >= OCCUPIED).astype(np.int64)
            yield Table(attributes=self.attributes, codes={a.name: compact(columns[a.name], a.size) for a in self.attributes})
