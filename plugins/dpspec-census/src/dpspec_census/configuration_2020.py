"""The privacy-loss allocation of the 2020 P.L. 94-171 file, with the exact fractions of its configuration.

A query in a unit of a level gets rho* = base rho x share of the level x share of the query within it, and independent discrete
Gaussian noise of variance 1/rho* in each of its cells. A replaced person moves at most two cells by 1 in each (level, query), at
half a rho* on either path; so what is spent along one path, from a block to the nation, adds up to the whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from math import prod

import attrs

LEVELS = ("us", "state", "county", "tract", "block-group", "block")
"""From large to small; the block groups are those of the disclosure avoidance system."""

BASE = {"person": Fraction(256, 100), "household": Fraction(7, 100)}
"""rho of the person tables and of the housing-unit table (Kifer et al. 2022, Table 3)."""

LEVEL_SHARES = {
    "person": tuple(Fraction(part, 4099) for part in (104, 1440, 447, 687, 1256, 165)),
    "household": tuple(map(Fraction, ("1/205", "1/205", "7/82", "364/1025", "1759/4100", "99/820"))),
}
"""The share of every level (Kifer et al. 2022, Table 4)."""

_SIZES = {"cenrace": 63, "hispanic": 2, "votingage": 2, "hhinstlevels": 3, "hhgq": 8}
_COLUMNS = (4097, 4097, 4097, 4102, 4099, 4097)


@attrs.frozen(kw_only=True)
class Query:
    """A query of the workload.

    Args:
        name: its name, lower-kebab.
        unit: person or household.
        variables: the variables of its cells; none for a total.
        shares: its share within each level.
    """

    name: str
    unit: str
    variables: tuple[str, ...]
    shares: tuple[Fraction, ...]

    @property
    def cells(self) -> int:
        """The number of its cells in one geographic unit."""
        return prod(_SIZES.get(variable, 2) for variable in self.variables)


def _person(variables: str, shares: str) -> Query:
    """A person query; its six shares are written over the denominators of Table 5, or as fractions of their own."""
    read = [
        Fraction(text) if "/" in text else Fraction(int(text), below)
        for text, below in zip(shares.split(), _COLUMNS, strict=True)
    ]
    named = tuple(variables.split())
    return Query(name="-x-".join(named) or "total", unit="person", variables=named, shares=tuple(read))


_SINGLE = "26 6 10 5 3 5"
QUERIES = (
    _person("", "0 3773 3126 1567 1705 5"),
    _person("cenrace", "52 6 10 4/2051 3 9"),
    _person("hispanic", _SINGLE),
    _person("votingage", _SINGLE),
    _person("hhinstlevels", _SINGLE),
    _person("hhgq", _SINGLE),
    _person("hispanic cenrace", "130 12 28 1933 1055 21"),
    _person("votingage cenrace", "130 12 28 10/2051 9 21"),
    _person("votingage hispanic", _SINGLE),
    _person("votingage hispanic cenrace", "26/241 2/241 101 67 24 71"),
    _person("hhgq votingage hispanic cenrace", "189/241 230 754 241/2051 1288 3945"),
    Query(name="occupancy", unit="household", variables=("occupancy",), shares=(Fraction(1),) * 6),
)
"""The queries with their shares within the levels (Kifer et al. 2022, Section 8.1 and Table 5)."""


def rho_star(query: Query, level: str) -> Fraction:
    """rho* of a query in each unit of a level (Kifer et al. 2022, Section 8.1).

    >>> float(rho_star(QUERIES[7], "state")), float(rho_star(QUERIES[-1], "county"))
    (0.0026341458709009617, 0.005975609756097561)
    """
    place = LEVELS.index(level)
    return BASE[query.unit] * LEVEL_SHARES[query.unit][place] * query.shares[place]


def spent(chosen: Callable[[Query, str], bool]) -> Fraction:
    """rho of the (query, level) pairs that are chosen, along one path from a block to the nation (Kifer et al. 2022)."""
    return sum((rho_star(query, level) for level in LEVELS for query in QUERIES if chosen(query, level)), Fraction(0))


def spending(unit: str | None = None) -> Iterator[tuple[Query, str]]:
    """The (query, level) pairs that spend anything, from the nation down; of one unit, or of both."""
    for level in LEVELS:
        for query in QUERIES:
            if rho_star(query, level) and unit in (None, query.unit):
                yield query, level


@attrs.frozen(kw_only=True)
class Scenario:
    """A secret with the queries that react to it, as a case study prints it (Kifer et al. 2022, Section 8.2).

    Args:
        kept: the part that is to stay secret.
        whole: levels of which every query counts, that of the housing units too.
        variables: at the other levels, the queries that ask for one of these count; none there when it is empty.
        printed: rho as printed.
    """

    kept: str
    whole: tuple[str, ...]
    variables: tuple[str, ...]
    printed: Fraction

    def counts(self, query: Query, level: str) -> bool:
        """Whether a query at a level reacts to the secret."""
        return level in self.whole or not set(self.variables).isdisjoint(query.variables)

    @property
    def rho(self) -> Fraction:
        """rho as the fractions give it."""
        return spent(self.counts)


_LEAST, _LOCAL = ("block",), ("block-group", "block")


def _scenario(kept: str, whole: tuple[str, ...], variables: str, printed: str) -> Scenario:
    return Scenario(kept=kept, whole=whole, variables=tuple(variables.split()), printed=Fraction(printed))


SCENARIOS: Mapping[str, Scenario] = {
    "A": _scenario("block within block group", _LEAST, "", "0.1115"),
    "B": _scenario("block within tract", _LOCAL, "", "0.926"),
    "C": _scenario("race", (), "cenrace", "0.952"),
    "D": _scenario("ethnicity", (), "hispanic", "0.945"),
    "E": _scenario("race, and block within tract", _LOCAL, "cenrace", "1.32"),
    "F": _scenario("voting age, and block within block group", _LEAST, "votingage", "0.555"),
    "G": _scenario("voting age and race, and block within block group", _LEAST, "votingage cenrace", "0.969"),
    "H": _scenario("voting age and ethnicity, and block within block group", _LEAST, "votingage hispanic", "0.968"),
}
"""The eight scenarios; the printed rho of C to H does not follow from the tables."""

PRINTED_FAIRFAX = Fraction("0.0175")
"""rho* of votingage x cenrace in a county as printed; the tables give 0.0019079."""
