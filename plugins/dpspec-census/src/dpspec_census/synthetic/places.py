"""Places of synthetic records: nested geography whose finest units have sizes with a Pareto tail."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs
import numpy as np
import numpy.typing as npt

from dpspec.blocks.space import Attribute

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

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
    """Where the records of a table are: they stand in the order of their blocks.

    Args:
        levels: the attributes, the coarsest first.
        ends: how many records there are up to each unit of the finest level.
    """

    levels: tuple[Attribute, ...]
    ends: Integers

    @classmethod
    def of(cls, levels: tuple[Attribute, ...], rows: int, seed: int) -> Places:
        """So many records dealt out in proportion to random sizes; the proportions depend on the seed alone."""
        lot = np.random.default_rng([seed, len(levels)])
        blocks = levels[-1].size
        weights = lot.pareto(TAIL, blocks) + 1
        weights[lot.random(blocks) < EMPTY] = 0
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


def drawn(lot: np.random.Generator, chances: Sequence[float], count: int) -> Integers:
    """Independent categories with these chances, in proportion."""
    ends = np.cumsum(np.asarray(chances, dtype=np.float64))
    return np.minimum(np.searchsorted(ends / ends[-1], lot.random(count), side="right"), len(ends) - 1)
