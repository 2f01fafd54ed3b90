"""What a release keeps is compared by integer keys: against multisets of Python objects, and without one sort per column."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from dpspec_release.kept import changed

from dpspec.blocks.space import Attribute
from dpspec.grammar.mechanism import Kept
from dpspec.grammar.tables import Members, Table

NARROW = (3, 2, 4)
WIDE = (1 << 40, 1 << 40, 3, 1 << 40)
"""Together far more combinations than 64 bits can number."""


def table(draw: np.random.Generator, sizes: tuple[int, ...], records: int, most_members: int) -> Table:
    attributes = tuple(Attribute(name=f"a{place}", count=size) for place, size in enumerate(sizes))
    codes = {a.name: draw.choice([0, 1, a.size - 1], records).astype(np.int64) for a in attributes}
    person = (Attribute(name="age", count=116), Attribute(name="race", count=63))
    owner = np.sort(np.repeat(np.arange(records), draw.integers(0, most_members + 1, records)))
    held = Table(attributes=person, codes={a.name: draw.integers(0, 2, len(owner)) for a in person})
    return Table(attributes=attributes, codes=codes, members=Members(table=held, owner=owner))


def shuffled(draw: np.random.Generator, given: Table) -> Table:
    """The same records in another order, the members of each in another order, too."""
    assert given.members is not None
    order = draw.permutation(len(given))
    place = np.empty(len(given), dtype=np.int64)
    place[order] = np.arange(len(given))
    mixed = draw.permutation(len(given.members.owner))
    owner = place[given.members.owner[mixed]]
    mixed = mixed[np.argsort(owner, kind="stable")]
    held = Table(attributes=given.members.table.attributes, codes={k: v[mixed] for k, v in given.members.table.codes.items()})
    members = Members(table=held, owner=np.sort(owner))
    return Table(attributes=given.attributes, codes={k: v[order] for k, v in given.codes.items()}, members=members)


def objects(given: Table, columns: tuple[str, ...], *, members: bool) -> Counter[Any]:
    """The records as Python objects: the oracle."""
    assert given.members is not None
    persons: list[list[tuple[int, ...]]] = [[] for _ in range(len(given))]
    rows = zip(*(column.tolist() for column in given.members.table.codes.values()), strict=True)
    for owner, row in zip(given.members.owner.tolist(), rows, strict=True):
        persons[owner].append(row)
    own = zip(*(given.codes[name].tolist() for name in columns), strict=True) if columns else ((),) * len(given)
    return Counter((row, tuple(sorted(held)) if members else ()) for row, held in zip(own, persons, strict=True))


@pytest.mark.parametrize("sizes", [NARROW, WIDE])
@pytest.mark.parametrize("members", [False, True])
@pytest.mark.parametrize("most_members", [1, 3, 30])
def test_tables_are_compared_as_multisets(sizes, members, most_members):
    draw = np.random.default_rng([len(sizes), members, most_members])
    for number in range(60):
        before = table(draw, sizes, records=int(draw.integers(0, 12)), most_members=most_members)
        after = shuffled(draw, before) if number % 2 else table(draw, sizes, len(before), most_members)
        if number % 4 == 3 and len(before):  # one value of one record, or of one member, differs
            codes = after.members.table.codes["age"] if number % 8 == 3 and len(after.members.owner) else after.codes["a0"]
            codes[0] = 1 - min(codes[0], 1)
        columns = tuple(a.name for a in before.attributes)[: int(draw.integers(0, len(sizes) + 1))]
        same = objects(before, columns, members=members) == objects(after, columns, members=members)
        assert changed(Kept(attributes=columns, members=members), before, after) is not same


def test_no_column_is_sorted_where_records_fit_64_bits(monkeypatch):
    """The cost of the check must stay below that of reading the file; one sort for each column made it thirteen times as slow."""
    draw = np.random.default_rng(0)
    before = table(draw, (22_000, 64, 8, 2, 12, 100, 6, 75), records=500, most_members=2)
    after = shuffled(draw, before)
    calls = []
    unique = np.unique
    monkeypatch.setattr(np, "unique", lambda *given, **options: calls.append(1) or unique(*given, **options))
    kept = Kept(attributes=tuple(a.name for a in before.attributes))
    assert not changed(kept, before, after)
    assert not calls
