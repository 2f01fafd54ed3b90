"""Targeted record swapping on real tables: the same choices as in its law, each drawn exactly.

The risky records of a level are taken in the order of a uniform permutation, those that a former one has swapped left out: the
next one is then uniform among those that remain. A donor is drawn from all records of the same profile until one fits, which is
uniform among those that do; after a number of refusals the fitting ones are listed, and one of them is drawn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np
import numpy.typing as npt

from dpspec.randomness import Randomness
from dpspec.table import Codes, Table

if TYPE_CHECKING:
    from dpspec_census.disclosure.targeted import TargetedSwapping

TRIES = 32
"""So many records are drawn before the fitting ones are listed."""


def swapped(table: Table, mechanism: TargetedSwapping, source: Randomness) -> Table:
    """One draw of the swap on a table with one row for each record of the unit."""
    codes = {name: table.codes[name].copy() for name in mechanism.levels}
    moved = np.zeros(len(table), dtype=np.bool_)
    for level, name in enumerate(mechanism.levels):
        _, cell, sizes = np.unique(
            table.key((*mechanism.levels[: level + 1], *mechanism.risk)), return_inverse=True, return_counts=True
        )
        risky = np.flatnonzero((sizes[cell] < mechanism.k) & ~moved)
        # Records that have not moved are where they were, so pools may be made from the table as it came.
        pools = [
            Pools.of(table.key((*mechanism.levels[:level], *profile)), table.codes[name], moved) for profile in mechanism.similar
        ]
        for record in risky[source.permutation(len(risky))].tolist():
            donor = None if moved[record] else _donor(record, pools, source)
            if donor is not None:
                for moving in mechanism.levels[level:]:
                    column = codes[moving]
                    column[record], column[donor] = column[donor], column[record]
                moved[[record, donor]] = True
    return table.replace(codes)


def _donor(record: int, pools: list[Pools], source: Randomness) -> int | None:
    """A uniform donor from the first profile that has any."""
    for pool in pools:
        donor = pool.draw(record, source)
        if donor is not None:
            return donor
    return None


@attrs.define
class Pools:
    """The records by profile, inside the area of the level above.

    Args:
        profile: the number of the profile of every record.
        area: the area of every record at the level.
        moved: which records have been swapped; it changes while the level is worked through.
        members: the records of each profile.
    """

    profile: Codes
    area: Codes
    moved: npt.NDArray[np.bool_]
    members: list[Codes]

    @classmethod
    def of(cls, key: Codes, area: Codes, moved: npt.NDArray[np.bool_]) -> Pools:
        """From the key of the profile of every record. A profile that lives in one area only has no donors."""
        _, profile, sizes = np.unique(key, return_inverse=True, return_counts=True)
        order = np.argsort(profile, kind="stable")
        members = np.split(order, np.cumsum(sizes)[:-1])
        return cls(profile, area, moved, [held if np.ptp(area[held]) else held[:0] for held in members])

    def draw(self, record: int, source: Randomness) -> int | None:
        """A uniform record of the same profile that has not moved and lives in another area; None when there is none."""
        place = int(self.profile[record])
        held = self.members[place]
        if not len(held):
            return None
        for tried in source.below(len(held), TRIES).tolist():
            donor = int(held[tried])
            if not self.moved[donor] and self.area[donor] != self.area[record]:
                return donor
        self.members[place] = held = held[~self.moved[held]]
        fitting = held[self.area[held] != self.area[record]]
        return int(fitting[source.below(len(fitting), 1)[0]]) if len(fitting) else None
