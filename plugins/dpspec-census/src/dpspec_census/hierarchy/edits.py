"""Edit constraints: what one released table demands of another, such as a person in every occupied group quarters.

    least x units <= persons <= most x units      in every node of the smallest level,

persons and units counted in groups of cells. The units are those of the table that was *fitted before*, never of the
confidential one; where their number is an invariant the two are equal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from dpspec.params import Integer, Items, Pairs, Text, define

if TYPE_CHECKING:
    from dpspec_census.hierarchy.cells import Cells
    from dpspec_census.hierarchy.family import Counts


@define
class EditConstraint:
    """least x (units of a kind) <= (records of a kind) <= most x (units of a kind), in every node.

    Args:
        unit, where: the records that are bounded.
        of_unit, of_where: the units that bound them; their table is fitted first.
        least: of each unit at least so many records.
        most: of each unit at most so many; without it any number, but none where there is no unit.
    """

    unit: Annotated[str, Text()] = "person"
    where: Annotated[tuple[tuple[str, tuple[str, ...]], ...], Pairs(Items(Text()))] = ()
    of_unit: Annotated[str, Text()] = "household"
    of_where: Annotated[tuple[tuple[str, tuple[str, ...]], ...], Pairs(Items(Text()))] = ()
    least: Annotated[int, Integer(0)] = 0
    most: Annotated[int, Integer(0)] | None = None

    def __str__(self) -> str:
        return f"{self.unit} {_words(self.where)} per {self.of_unit} {_words(self.of_where)}"

    def limits(self, cells: Cells, fitted: Any) -> tuple[Counts, Counts]:
        """The bounds in every node of the smallest level.

        Args:
            cells, fitted: of the unit that bounds, the counts of shape (nodes, cells).
        """
        import numpy as np

        from dpspec_census.hierarchy.family import UNBOUNDED

        units = np.asarray(fitted @ cells.where(self.of_where).astype(np.int64)).ravel()
        high = np.where(units > 0, UNBOUNDED, 0) if self.most is None else self.most * units
        return self.least * units, np.asarray(high, dtype=np.int64)


def _words(where: tuple[tuple[str, tuple[str, ...]], ...]) -> str:
    return " and ".join(f"{name} {' or '.join(categories)}" for name, categories in where) or "in all"
