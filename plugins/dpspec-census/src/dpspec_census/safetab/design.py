"""The design of an adaptive release: population groups, and what is asked of them at each iteration level (B-A7)."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated

from dpspec.errors import ParameterError
from dpspec.params import Integer, Items, Nested, Pairs, Rational, Text, define


@define
class PopulationGroup:
    """The persons with certain attributes, such as a set of detailed race codes.

    Args:
        name: the group's name.
        where: for some attributes, the categories that belong to the group; a person has to meet all of them.

    >>> PopulationGroup(name="Samoan", where={"race": ["samoan", "samoan+tongan"]}).where
    (('race', ('samoan', 'samoan+tongan')),)
    """

    name: Annotated[str, Text()]
    where: Annotated[tuple[tuple[str, tuple[str, ...]], ...], Pairs(Items(Text(), least=1))] = ()


@define
class PopulationLevel:
    """Groups of one level of detail, which may overlap.

    Args:
        name: the level's name, such as detailed or regional.
        most: in how many groups of the level one person counts. Of a person in more of them the first ones in the order of the
            list are kept, so that the number holds whatever the data.
        groups: the groups.
    """

    name: Annotated[str, Text()]
    most: Annotated[int, Integer(1)]
    groups: Annotated[tuple[PopulationGroup, ...], Items(Nested(PopulationGroup), least=1)]

    def __attrs_post_init__(self) -> None:
        names = [group.name for group in self.groups]
        if len(set(names)) != len(names):
            raise ParameterError(f"population level {self.name}", "names a group twice", "give every group its own name")


@define
class IterationLevel:
    """One population level crossed with one level of geography.

    Args:
        population: the name of the population level.
        geography: the attribute whose categories are the geographic units; without it there is one, the whole.
        share: the part of the whole budget that is spent here.
        choice: the part of that share that is spent on the noisy total which chooses the table; the rest is spent on the table.
        tables: the attributes of each table that may be chosen, the coarsest first; the empty table is the total alone.
        thresholds: table number k + 1 is chosen from the noisy total thresholds[k] on; one less than there are tables.

    >>> level = IterationLevel(population="detailed", geography="state", share="1/2", choice="1/10",
    ...                        tables=[[], ["sex", "age4"]], thresholds=[5000])
    >>> str(level.choice_share), str(level.table_share)
    ('1/20', '9/20')
    """

    population: Annotated[str, Text()]
    geography: Annotated[str, Text()] | None = None
    share: Annotated[Fraction, Rational(0, 1, open_low=True)]
    choice: Annotated[Fraction, Rational(0, 1, open_high=True)] = Fraction(0)
    tables: Annotated[tuple[tuple[str, ...], ...], Items(Items(Text()), least=1)]
    thresholds: Annotated[tuple[int, ...], Items(Integer())] = ()

    def __attrs_post_init__(self) -> None:
        subject = f"iteration level {self}"
        if len(self.thresholds) + 1 != len(self.tables):
            raise ParameterError(subject, f"needs {len(self.tables) - 1} thresholds between its tables", value=self.thresholds)
        if any(low >= high for low, high in zip(self.thresholds, self.thresholds[1:], strict=False)):
            raise ParameterError(subject, "thresholds must grow", "order the tables from coarse to fine", value=self.thresholds)
        if bool(self.choice) != bool(self.thresholds):
            hint = "give choice with thresholds, or neither"
            raise ParameterError(subject, "spends on a choice exactly when there is one", hint, value=str(self.choice))

    @property
    def choice_share(self) -> Fraction:
        """The part of the whole budget that the noisy total spends."""
        return self.share * self.choice

    @property
    def table_share(self) -> Fraction:
        """The part of the whole budget that the table spends."""
        return self.share - self.choice_share

    @property
    def place(self) -> str:
        """The level of geography in words."""
        return self.geography or "whole"

    def __str__(self) -> str:
        return f"{self.population} x {self.place}"
