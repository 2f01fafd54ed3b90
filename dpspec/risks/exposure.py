"""The number of records of a table that its exact tables determine in all attributes, before any noise.

This is a property of the invariants alone. An installed package contributes the function `exposed_records` that counts them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import attrs

from dpspec.base.errors import DpspecError, count, percent
from dpspec.blocks.invariant import Marginal
from dpspec.blocks.space import Attribute
from dpspec.extension.packages import contributed, missing_package
from dpspec.grammar.spec import PrivacySpec
from dpspec.grammar.tables import Countable

FUNCTION = ("dpspec.functions", "exposed_records")
"""The entry point of the function that counts them."""

MOST_KINDS = 1 << 20
"""With more possible kinds of records, a release does not count: there it would cost more than the swap of a million records."""


@attrs.frozen(kw_only=True)
class ExposedRecords:
    """The records whose kind, by all attributes, has the same count in every table of the universe.

    The exact tables give them away. Their number depends on the exact tables alone, which are published; the number of all
    records, and of those that are undecided, depends on the table.

    Args:
        records: how many; None where that is not known.
        undecided: of so many records it was neither proved nor excluded.
        of: all records.
        is_total_public: whether an exact table counts all records.
        reason: why the number is not known.
    """

    records: int | None = None
    undecided: int = 0
    of: int = 0
    is_total_public: bool = False
    reason: str = ""

    @property
    def share(self) -> Fraction:
        """The share of the records; 0 where it is not known."""
        return Fraction(self.records or 0, self.of or 1)

    def public_data(self) -> dict[str, object]:
        """As JSON that may be published: nothing that depends on more of the table than what is published exactly.

        >>> ExposedRecords(records=0, of=7).public_data()["of"] is None
        True
        """
        of = self.of if self.is_total_public else None
        if self.records is None or self.undecided:
            note = self.reason or "of some records it was neither proved nor excluded; ask dpspec exposure"
            return {"records": None, "undecided": None, "of": of, "note": note}
        known = str(self) if of is not None else f"{count(self.records, 'record')} determined by what is published exactly"
        return {"records": self.records, "undecided": 0, "of": of, "note": known}

    def __str__(self) -> str:
        if self.records is None:
            return f"not counted: {self.reason}"
        open_ = f"; {self.undecided:,} undecided" if self.undecided else ""
        share = percent(self.records, self.of)
        found = f"{self.records:,} of {count(self.of, 'record')} ({share})"
        return f"{found} are determined in all attributes by the exact tables alone{open_}"


def counts_exposing(spec: PrivacySpec, attributes: Sequence[Attribute], most_kinds: int) -> tuple[Marginal, ...]:
    """The table of counts that `exposed_records` reads: of the attributes of the exact tables and those they lie within."""
    known, kinds = {a.name: a for a in attributes}, _kinds(spec, attributes)
    tables = [invariant.as_marginal() for invariant in spec.multiverse.induced_by() or ()]
    if not tables or not spec.space.units or kinds > most_kinds:
        return ()
    read: set[str] = set()
    for table in tables:
        where = () if table is None else table.where
        binding = [name for name, categories in where if name in known and not set(known[name].values()) <= set(categories)]
        pending = [*(() if table is None else table.attributes), *binding]
        while pending:
            name = pending.pop()
            if name in known and name not in read:
                read.add(name)
                pending += filter(None, [known[name].within])
    return (Marginal(attributes=tuple(name for name in known if name in read), unit=spec.space.units[0]),)


def _kinds(spec: PrivacySpec, attributes: Sequence[Attribute]) -> int:
    """The number of kinds of records by the attributes of the exact tables."""
    read = {name for invariant in spec.multiverse.induced_by() or () for name in invariant.mentions()}
    return math.prod(attribute.size for attribute in attributes if attribute.name in read)


def exposed_records(spec: PrivacySpec, table: Countable, *, most_kinds: int | None = None) -> ExposedRecords:
    """The records that the exact tables of a specification determine.

    Args:
        spec: the specification, whose invariants are the exact tables.
        table: the records of the largest unit.
        most_kinds: with more possible kinds of records, by the attributes of the exact tables, they are not counted.
    """
    published = spec.multiverse.induced_by()
    if not published:
        return ExposedRecords(records=0, of=len(table))
    tables = [invariant.as_marginal() for invariant in published]
    is_public = any(one is not None and one.unit == spec.space.units[0] and not one.where for one in tables)
    kinds = _kinds(spec, table.attributes)
    if most_kinds is not None and kinds > most_kinds:
        reason = f"there are {count(kinds, 'possible kind')} of records; ask dpspec exposure"
        return ExposedRecords(of=len(table), is_total_public=is_public, reason=reason)
    function = contributed(FUNCTION[0]).get(FUNCTION[1])
    if function is None:
        package = missing_package(FUNCTION[1], "functions")
        advice = "" if package is None else f": pip install {package}"
        return ExposedRecords(of=len(table), is_total_public=is_public, reason=f"no installed package counts them{advice}")
    try:
        found = function.load()(spec, table)
    except DpspecError:  # its message may say something of the table
        return ExposedRecords(of=len(table), is_total_public=is_public, reason="not counted; ask dpspec exposure")
    return ExposedRecords(records=found.yes, undecided=found.undecided, of=found.of, is_total_public=is_public)
