"""The workload: marginal queries, and a share of rho for each level and query, exactly.

    rho*(level, query) = rho x share of the level x share of the query within it,      sigma^2 = 1 / rho*

A query partitions the cells and a level the country, so replacing one record moves two answers by 1 in each (level,
query) or none: |dq|^2 / (2 sigma^2) = rho* (Kifer et al. 2022, Section 8.1).

The noisy answers of a family of nodes are their marginals plus independent discrete Gaussian noise, drawn exactly (Bailie, Gong
and Meng 2023, step 1).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated

import attrs

from dpspec.plugin import Items, Nested, ParameterError, Randomness, Rational, Text, define, late_module, laws
from dpspec_census import configuration_2020
from dpspec_census.hierarchy.family import Counts

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
else:
    np = late_module("numpy")

PRESETS = ("2020-pl-persons", "2020-pl-housing-units")
"""The allocations of the 2020 redistricting file (Kifer et al. 2022, Tables 3 to 5)."""
_UNITS = dict(zip(PRESETS, ("person", "household"), strict=True))


@define
class WeightedQuery:
    """A marginal query with its share of the budget of every level.

    Args:
        attributes: the attributes that define its answers; none for the total.
        shares: for every level, the share of the level's budget.
    """

    attributes: Annotated[tuple[str, ...], Items(Text())] = ()
    shares: Annotated[tuple[Fraction, ...], Items(Rational(0, 1), least=1)]

    def __str__(self) -> str:
        return " x ".join(self.attributes) or "total"


@define
class Tabulation:
    """The queries on one unit.

    Args:
        unit: the unit that is counted.
        rho: the budget of all levels together.
        level_shares: the share of every level; they add up to 1.
        queries: at every level their shares add up to 1.

    >>> total = {"attributes": [], "shares": ["1/4", "1"]}
    >>> by_age = {"attributes": ["age"], "shares": ["3/4", "0"]}
    >>> persons = Tabulation(rho="2", level_shares=["1/3", "2/3"], queries=[total, by_age])
    >>> [str(persons.rho_star(level, query)) for level in (0, 1) for query in persons.queries]
    ['1/6', '1/2', '4/3', '0']
    """

    unit: Annotated[str, Text()] = "person"
    rho: Annotated[Fraction, Rational(0, open_low=True)]
    level_shares: Annotated[tuple[Fraction, ...], Items(Rational(0, 1), least=1)]
    queries: Annotated[tuple[WeightedQuery, ...], Items(Nested(WeightedQuery), least=1)]

    def __attrs_post_init__(self) -> None:
        _adds_up("level_shares", self.level_shares)
        for query in self.queries:
            if len(query.shares) != len(self.level_shares):
                raise ParameterError(f"query {query}", "needs one share for each level", value=len(query.shares))
        for place, share in enumerate(self.level_shares):
            if share:
                _adds_up(f"shares at level {place + 1}", [query.shares[place] for query in self.queries])

    def rho_star(self, level: int, query: WeightedQuery) -> Fraction:
        """The budget of a query in every node of a level; 0 where the workload does not contain it."""
        return self.rho * self.level_shares[level] * query.shares[level]

    def asked(self, level: int) -> tuple[WeightedQuery, ...]:
        """The queries of a level."""
        return tuple(query for query in self.queries if self.rho_star(level, query))


def _adds_up(subject: str, shares: Sequence[Fraction]) -> None:
    total = sum(shares, Fraction(0))
    if total != 1:
        raise ParameterError(subject, "must add up to 1", "write them as fractions", value=str(total))


def preset(name: str, levels: Sequence[str]) -> Tabulation:
    """An allocation of 2020 on the levels that are there: each keeps the budget that it had, and rho is what they add up to.

    >>> str(preset("2020-pl-persons", ["us", "state", "county", "tract", "block-group", "block"]).rho)
    '64/25'

    Raises:
        ParameterError: a level or a name that 2020 did not have.
    """
    if name not in PRESETS:
        raise ParameterError("allocation", f"must be one of {', '.join(PRESETS)}", value=name)
    unknown = [level for level in levels if level not in configuration_2020.LEVELS]
    if unknown:
        known = ", ".join(configuration_2020.LEVELS)
        raise ParameterError("levels", "were none of the 2020 Census", f"known: {known}", value=unknown[0])
    unit = _UNITS[name]
    places = [configuration_2020.LEVELS.index(level) for level in levels]
    kept = [configuration_2020.LEVEL_SHARES[unit][place] for place in places]
    return Tabulation(
        unit=unit,
        rho=configuration_2020.BASE[unit] * sum(kept, Fraction(0)),
        level_shares=tuple(share / sum(kept, Fraction(0)) for share in kept),
        queries=tuple(
            WeightedQuery(attributes=query.variables, shares=tuple(query.shares[place] for place in places))
            for query in configuration_2020.QUERIES
            if query.unit == unit
        ),
    )


# --- noisy answers --------------------------------------------------------------------------------


@attrs.frozen(kw_only=True, eq=False)
class MeasuredQuery:
    """A query at every node of a level.

    Args:
        name: in words.
        answer: for every cell the answer that it is counted in.
        size: the number of answers.
        noise: the law of the noise on each answer.
        in_pass: the pass of the fit to which it belongs.
    """

    name: str
    answer: npt.NDArray[np.int64]
    size: int
    noise: laws.DiscreteGaussianLaw
    in_pass: int = 0

    def true(self, children: int, child: Counts, cell: Counts, count: Counts) -> Counts:
        """The answers of nodes that have these counts in these cells, shape (children, answers)."""
        total = np.zeros((children, self.size), dtype=np.int64)
        np.add.at(total, (child, self.answer[cell]), count)
        return total


def measured(asked: tuple[MeasuredQuery, ...], true: tuple[Counts, ...], source: Randomness) -> Counts:
    """The true answers to all queries with noise on each, shape (children, answers), one query after the other."""
    noisy = [
        answers + _noise(query.noise, answers.size, source).reshape(answers.shape)
        for query, answers in zip(asked, true, strict=True)
    ]
    return np.concatenate(noisy, axis=1)


def _noise(law: laws.DiscreteGaussianLaw, count: int, source: Randomness) -> Counts:
    """Exact draws: by the table of the law, or by rejection where that would be too large."""
    from dpspec_noise.samplers import discrete_gaussian, fits, inverted

    return inverted(law, count, source) if fits(law) else discrete_gaussian(source, count, variance=law.variance)
