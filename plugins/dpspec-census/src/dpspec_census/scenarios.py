"""What the 2020 noise says about one secret: scenarios of attribute-restricted neighbours (K section 8; K-D29, K-N12).

Two datasets are neighbours of a scenario when they differ in one person's record, and there only in what is to stay secret: some
attributes, or the block within a larger unit. Only queries that can answer differently for such a pair count. Their rho* add up
to the rho of the scenario, every statement of zCDP and of Gaussian privacy then holds with that rho, mu = sqrt(2 rho). The noise
is discrete; its own powers are enclosed by `exact_power`, and agree with the Gaussian ones to many digits (K-O22).
"""

from __future__ import annotations

from collections.abc import Collection
from fractions import Fraction

import attrs

from dpspec.errors import ParameterError
from dpspec.exact import Bracket, NumberLike
from dpspec.laws.composition import compose
from dpspec.laws.dichotomy import Dichotomy
from dpspec.laws.discrete_gaussian import DiscreteGaussianShift
from dpspec.laws.power import largest_power
from dpspec.params import Rational
from dpspec_census.configuration_2020 import LEVELS, QUERIES, SCENARIOS, Query, rho_star
from dpspec_census.scenario_curves import power

ATTRIBUTES = ("cenrace", "hispanic", "votingage", "hhgq")
"""What the person queries tell apart; the three household levels are read off hhgq."""


@attrs.frozen(kw_only=True)
class Secret:
    """What is to stay secret about one person.

    Args:
        attributes: those that may be otherwise; see `ATTRIBUTES`.
        within: the level of the unit inside which the person's block may be another one, such as "tract"; None when the block is
            no secret, and "nation" for any block.

    Raises:
        ParameterError: for an unknown attribute or level, and when nothing is secret.

    >>> secret = Secret(attributes=("cenrace",), within="tract")
    >>> float(secret.rho), float(SCENARIOS["E"].printed)
    (1.3786839275164668, 1.32)
    """

    attributes: tuple[str, ...] = ()
    within: str | None = None

    def __attrs_post_init__(self) -> None:
        for attribute in self.attributes:
            if attribute not in ATTRIBUTES:
                raise ParameterError("attributes", f"must be some of {', '.join(ATTRIBUTES)}", value=attribute)
        if self.within is not None and self.within not in ("nation", *LEVELS[1:-1]):
            raise ParameterError("within", f"must be one of nation, {', '.join(LEVELS[1:-1])}", value=self.within)
        if not self.attributes and self.within is None:
            raise ParameterError("secret", "must have an attribute or a level in it", 'write within="tract"')

    @property
    def moving(self) -> tuple[str, ...]:
        """The levels at which the person may be in another unit."""
        if self.within is None:
            return ()
        return LEVELS[1 if self.within == "nation" else LEVELS.index(self.within) + 1 :]

    def reacts(self, query: Query, level: str) -> bool:
        """Whether the answers of a query at a level can differ between neighbours.

        All of them can where the person may be in another unit, the number of occupied housing units too.
        """
        told = {*self.attributes, *(["hhinstlevels"] if "hhgq" in self.attributes else [])}
        return level in self.moving or not told.isdisjoint(query.variables)

    def reacting(self) -> tuple[tuple[Query, str], ...]:
        """The (query, level) pairs that react and spend anything."""
        return tuple((q, at) for at in LEVELS for q in QUERIES if rho_star(q, at) and self.reacts(q, at))

    @property
    def rho(self) -> Fraction:
        """The sum of their rho*, exactly (K-D29)."""
        return sum((rho_star(query, level) for query, level in self.reacting()), Fraction(0))

    def pair(self) -> Dichotomy:
        """The laws of all reacting answers of two neighbours: in each two cells differ by 1, the variance is 1/rho* (K-D38)."""
        return compose((DiscreteGaussianShift(1, 1 / rho_star(query, level)), 2) for query, level in self.reacting())


CASES = {
    "A": Secret(within="block-group"),
    "B": Secret(within="tract"),
    "C": Secret(attributes=("cenrace",)),
    "D": Secret(attributes=("hispanic",)),
    "E": Secret(attributes=("cenrace",), within="tract"),
    "F": Secret(attributes=("votingage",), within="block-group"),
    "G": Secret(attributes=("votingage", "cenrace"), within="block-group"),
    "H": Secret(attributes=("votingage", "hispanic"), within="block-group"),
}
"""The eight scenarios of the case study; what is printed for them is in `configuration_2020.SCENARIOS`."""


def exact_power(secret: Secret, level: NumberLike) -> Bracket:
    """The power of the best test of the discrete noise itself, in a bracket about 1e-5 wide (K-N11; K-O22)."""
    at = Rational(0, 1, open_low=True, open_high=True).read(level, "level")
    return largest_power(secret.pair(), at)


@attrs.frozen(kw_only=True)
class Line:
    """One scenario in a table.

    Args:
        name, kept: the letter, and what is to stay secret.
        printed_rho, rho: as printed, and from the fractions of the tables.
        at_printed, at_rho: powers at the levels, for either.
    """

    name: str
    kept: str
    printed_rho: Fraction
    rho: Fraction
    at_printed: tuple[Bracket, ...]
    at_rho: tuple[Bracket, ...]

    @property
    def recomputes(self) -> bool:
        """Whether the printed rho is within 1/1000 of what the tables give; those that are not are more than 1/20 away."""
        return abs(self.printed_rho - self.rho) <= Fraction(1, 1000)


def compared(names: Collection[str] = tuple(CASES), levels: Collection[str] = ("0.01", "0.05", "0.10")) -> tuple[Line, ...]:
    """The scenarios with their rho and powers recomputed beside what is printed (K-N11, K-O54, K-O55, K-E7)."""
    return tuple(
        Line(
            name=name,
            kept=SCENARIOS[name].kept,
            printed_rho=SCENARIOS[name].printed,
            rho=CASES[name].rho,
            at_printed=tuple(power(SCENARIOS[name].printed, level) for level in levels),
            at_rho=tuple(power(CASES[name].rho, level) for level in levels),
        )
        for name in names
    )
