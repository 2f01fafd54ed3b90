"""Census-like tables of any size with invented records: dwellings of a country, and a synthetic state for TopDown (Kifer et
al. 2022).

Places are nested geography whose finest units have sizes with a Pareto tail. The state has five levels of geography, 10,000
blocks, persons of 2,016 kinds, and housing units.

The counts of kinds and the levels are those of the redistricting file. No joint table of them is printed in the sources, so every
probability below is ours, chosen so that most cells of a block are empty, as they are in a census.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

import attrs

from dpspec.plugin import Attribute, Integers, define, late_module, tables
from dpspec_census.massachusetts import COUNTIES, DWELLINGS_BY_SIZE, PRINTED, TENURES

if TYPE_CHECKING:
    import numpy as np

    from dpspec.plugin import Table
else:
    np = late_module("numpy")


TAIL = 1.5
"""The index of the Pareto law of block sizes: P(size > s) falls as s^-1.5. Ours; it gives a few blocks of many hundreds."""

EMPTY = 0.3
"""The share of blocks without records. Ours."""


def hierarchy(sizes: Mapping[str, int]) -> tuple[Attribute, ...]:
    """Nested attributes, the coarsest first, each dealt out evenly and in order over the one above it.

    >>> [a.within for a in hierarchy({"state": 1, "county": 3, "tract": 9})]
    [None, 'state', 'county']
    """
    names = list(sizes)
    coarser = [None, *names[:-1]]
    return tuple(Attribute(name=name, count=sizes[name], within=above) for name, above in zip(names, coarser, strict=True))


@attrs.frozen(kw_only=True, eq=False)
class Places:
    """The locations of the records of a table, which are sorted by their blocks.

    Args:
        levels: the attributes, the coarsest first.
        ends: how many records there are up to each unit of the finest level.
    """

    levels: tuple[Attribute, ...]
    ends: Integers

    @classmethod
    def of(cls, levels: tuple[Attribute, ...], rows: int, seed: int) -> Places:
        """So many records dealt out in proportion to random sizes; the proportions depend on the seed alone."""
        generator = np.random.default_rng([seed, len(levels)])
        blocks = levels[-1].size
        weights = generator.pareto(TAIL, blocks) + 1
        weights[generator.random(blocks) < EMPTY] = 0
        weights[0] += 1
        total = np.cumsum(weights)
        return cls(levels=levels, ends=np.floor(total / total[-1] * rows).astype(np.int64))

    def codes(self, piece: range) -> dict[str, Integers]:
        """The codes of all levels for some of the records."""
        first, last = (int(np.searchsorted(self.ends, place, side="right")) for place in (piece.start, piece.stop - 1))
        upto = np.minimum(self.ends[first : last + 1], piece.stop)
        finest = np.repeat(np.arange(first, last + 1), np.diff(upto, prepend=piece.start))
        return coarsened(finest, self.levels)


def coarsened(finest: Integers, levels: Sequence[Attribute]) -> dict[str, Integers]:
    """The codes of every level from those of the finest, by the rule of evenly dealt categories."""
    codes = {levels[-1].name: finest}
    for fine, coarse in zip(levels[::-1], levels[-2::-1], strict=False):
        codes[coarse.name] = codes[fine.name] * coarse.size // fine.size
    return codes


def drawn(generator: np.random.Generator, probabilities: Sequence[float], count: int) -> Integers:
    """Independent categories with these probabilities, up to a common factor."""
    ends = np.cumsum(np.asarray(probabilities, dtype=np.float64))
    return np.minimum(np.searchsorted(ends / ends[-1], generator.random(count), side="right"), len(ends) - 1)


# --- dwellings of a country -----------------------------------------------------------------------


GEOGRAPHY = {"state": 51, "county": 3143, "tract": 84_000, "block-group": 240_000, "block": 8_100_000}
"""Units of each level, those of the 2020 Census rounded, as in the files of `specs/`."""

OWNED = tuple(PRINTED[county, "owned"] / (PRINTED[county, "owned"] + PRINTED[county, "rented"]) for county in COUNTIES)
"""The share of owners in the 14 counties of Massachusetts in 1940 (Bailie, Gong and Meng 2023)."""


@define
class SyntheticDwellings(tables.SizedBuilder):
    """Occupied dwellings with the geography of a country.

    A county takes the printed share of owners of one of 14 counties, in turn; household sizes are drawn by the proportions of
    `DWELLINGS_BY_SIZE`, independent of everything else.
    """

    name: ClassVar[str] = "synthetic-dwellings"
    own_size: ClassVar[int] = 10_000_000
    source: ClassVar[str] = (
        "shares of owners are those of 14 counties in 1940 (Bailie, Gong and Meng 2023); numbers of units of geography are "
        "rounded ones of 2020; block "
        "sizes with a Pareto tail and household sizes are ours"
    )
    attributes: ClassVar[tuple[Attribute, ...]] = (
        *hierarchy(GEOGRAPHY),
        Attribute(name="size", categories=tuple(DWELLINGS_BY_SIZE)),
        Attribute(name="tenure", categories=TENURES),
    )

    def batches(self, rows: int, seed: int = tables.SEED) -> Iterator[Table]:
        import numpy as np

        from dpspec.plugin import Table

        places, owned = Places.of(self.attributes[: len(GEOGRAPHY)], rows, seed), np.asarray(OWNED)
        for piece in tables.pieces(rows):
            generator = np.random.default_rng([seed, piece.start, 0])
            columns = places.codes(piece)
            columns["size"] = drawn(generator, tuple(DWELLINGS_BY_SIZE.values()), len(piece))
            columns["tenure"] = (generator.random(len(piece)) >= owned[columns["county"] % len(owned)]).astype(np.int64)
            yield Table(
                attributes=self.attributes, codes={a.name: tables.compact(columns[a.name], a.size) for a in self.attributes}
            )


# --- a synthetic state for TopDown ----------------------------------------------------------------


STATE_GEOGRAPHY = {"state": 1, "county": 20, "tract": 200, "block-group": 1000, "block": 10_000}
LEVELS = hierarchy(STATE_GEOGRAPHY)

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
"""The probability of the most frequent race of the tract; all others follow 1/k^2 over the 63. Ours."""


@define
class SyntheticPersons(tables.SizedBuilder):
    """Persons of a state: block, household or group quarter, voting age, Hispanic origin, race."""

    name: ClassVar[str] = "synthetic-persons"
    own_size: ClassVar[int] = 400_000
    source: ClassVar[str] = (
        "the 2,016 kinds of persons and the levels from state to block are those of the 2020 redistricting file (Kifer et al. "
        "2022, Section 8.1); "
        "all frequencies are ours"
    )
    attributes: ClassVar[tuple[Attribute, ...]] = (
        *LEVELS,
        Attribute(name="hhgq", categories=HHGQ),
        Attribute(name="voting-age", categories=("minor", "adult")),
        Attribute(name="hispanic", categories=("no", "yes")),
        Attribute(name="race", count=RACES),
    )

    def batches(self, rows: int, seed: int = tables.SEED) -> Iterator[Table]:
        import numpy as np

        from dpspec.plugin import Table

        places = Places.of(LEVELS, rows, seed)
        for piece in tables.pieces(rows):
            generator = np.random.default_rng([seed, piece.start, 1])
            columns = places.codes(piece)
            kind = columns["hhgq"] = _quarters(generator, columns["block"])
            grown = (kind > 0) & (kind != HHGQ.index("juvenile"))
            columns["voting-age"] = ((generator.random(len(piece)) < ADULT) | grown).astype(np.int64)
            share = 0.02 + 0.6 * (columns["tract"] * 37 % 101 / 101) ** 3
            columns["hispanic"] = (generator.random(len(piece)) < share).astype(np.int64)
            columns["race"] = _races(generator, columns["tract"])
            yield Table(
                attributes=self.attributes, codes={a.name: tables.compact(columns[a.name], a.size) for a in self.attributes}
            )


def _quarters(generator: np.random.Generator, block: Integers) -> Integers:
    """Households everywhere, and in some blocks group quarters of one type."""
    import numpy as np

    here = (block % GQ_BLOCKS == 1) & (generator.random(len(block)) < GQ_SHARE)
    return np.where(here, 1 + block // GQ_BLOCKS % (len(HHGQ) - 1), 0)


def _races(generator: np.random.Generator, tract: Integers) -> Integers:
    """The race of the tract for most persons, any of the 63 for the others."""
    import numpy as np

    falling = tuple(1 / (k + 1) ** 2 for k in range(RACES))
    usual = drawn(np.random.default_rng(RACES), falling, STATE_GEOGRAPHY["tract"])[tract]
    return np.where(generator.random(len(tract)) < AT_HOME, usual, drawn(generator, falling, len(tract)))


@define
class SyntheticHousingUnits(tables.SizedBuilder):
    """Housing units of the same state: a block has the more of them the more persons `SyntheticPersons` puts there."""

    name: ClassVar[str] = "synthetic-housing-units"
    own_size: ClassVar[int] = 170_000
    source: ClassVar[str] = (
        "occupancy and the levels from state to block are those of the 2020 redistricting file (Kifer et al. 2022, Section "
        "8.1); all frequencies "
        "are ours"
    )
    attributes: ClassVar[tuple[Attribute, ...]] = (*LEVELS, Attribute(name="occupancy", categories=("occupied", "vacant")))

    def batches(self, rows: int, seed: int = tables.SEED) -> Iterator[Table]:
        import numpy as np

        from dpspec.plugin import Table

        places = Places.of(LEVELS, rows, seed)
        for piece in tables.pieces(rows):
            generator = np.random.default_rng([seed, piece.start, 2])
            columns = places.codes(piece)
            columns["occupancy"] = (generator.random(len(piece)) >= OCCUPIED).astype(np.int64)
            yield Table(
                attributes=self.attributes, codes={a.name: tables.compact(columns[a.name], a.size) for a in self.attributes}
            )
