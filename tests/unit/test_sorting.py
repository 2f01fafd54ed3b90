"""Orders of records: packed into columns of integers, and the same for a release, for the law of a shuffle and for bounds."""

from __future__ import annotations

import itertools
import random
from typing import Any

import numpy as np
import pytest

from dpspec.blocks.space import Attribute
from dpspec.grammar.sorting import PIECE, Packing, SortedRows, memory_of_piece, ranks, sorted_records
from dpspec.grammar.tables import NumberRange, Table
from dpspec.grammar.workers import Columns


def attributes(*sizes: int) -> tuple[Attribute, ...]:
    return tuple(Attribute(name=f"a{place}", count=size) for place, size in enumerate(sizes))


SMALL, WIDE = attributes(3, 1, 4), attributes(1 << 40, 1 << 22, 1 << 2, 1 << 62)


@pytest.mark.parametrize("given", [SMALL, WIDE, attributes(2)])
def test_packed_records_are_ordered_as_their_codes_and_come_back(given: tuple[Attribute, ...]) -> None:
    packing, generator = Packing(attributes=given, name="key"), np.random.default_rng(1)
    codes = {a.name: generator.integers(0, a.size, size=300, dtype=np.int64) for a in given}
    for a in given:
        codes[a.name][:2] = 0, a.size - 1
    packed = packing.packed(codes)
    assert tuple(packed) == packing.columns
    back = packing.codes(packed)
    assert all((back[a.name] == codes[a.name]).all() for a in given)
    rows = list(zip(*(codes[a.name].tolist() for a in given), strict=True))
    keys = list(zip(*(packed[name].tolist() for name in packing.columns), strict=True))
    order = sorted(range(300), key=lambda place: rows[place])
    assert [keys[place] for place in order] == sorted(keys)
    assert (len(set(keys)) == len(set(rows))) is True


def test_a_column_has_as_many_attributes_as_63_bits_can_number() -> None:
    groups = [[a.name for a in group] for group in Packing(attributes=WIDE, name="key").groups()]
    assert groups == [["a0", "a1"], ["a2"], ["a3"]]  # 2^62 fits, 2^64 does not, and neither does 2^2 2^62
    assert len(Packing(attributes=attributes(1 << 40, 1 << 23), name="key").groups()) == 2  # 2^63 numbers
    assert Packing(attributes=(), name="key").columns == ()
    assert memory_of_piece(WIDE) - memory_of_piece(SMALL) == 2 * 24 * PIECE


class Listed(SortedRows):
    """Rows in memory."""

    def __len__(self) -> int:
        return 7

    def between(self, begin: int, end: int, columns: object = ()) -> Columns:
        return {"x": np.arange(begin, end)}

    def forget(self) -> None:
        return


@pytest.mark.parametrize(("begin", "end", "size"), [(0, 7, 3), (2, 5, 3), (2, 5, 1), (3, 3, 2), (0, 7, 100)])
def test_batches_are_all_rows_once(begin: int, end: int, size: int) -> None:
    batches = [batch["x"].tolist() for batch in Listed().batches(begin, end, size)]
    assert list(itertools.chain(*batches)) == list(range(begin, end))
    assert all(0 < len(batch) <= size for batch in batches)


TEXTS = Attribute(name="a", categories=("b", "a!", "a", "'", '"', "10", "9", "\t"))
FEW, MANY = Attribute(name="few", categories=("x", "y")), Attribute(name="many", count=10**12)


@pytest.mark.parametrize("key", [str, repr])
@pytest.mark.parametrize("attributes", [(TEXTS,), (FEW, TEXTS), (TEXTS, MANY), (MANY, FEW), (NumberRange("n", 5, 20), TEXTS)])
def test_records_are_in_the_order_of_python(attributes: tuple[Attribute, ...], key: Any) -> None:
    """Of texts and of codes, also of attributes that are too many to list."""
    source = random.Random(f"{attributes}")
    sizes = [min(a.size, 10**3) for a in attributes]
    codes = {a.name: np.array([source.randrange(size) for _ in range(40)]) for a, size in zip(attributes, sizes, strict=True)}
    table = Table(attributes=attributes, codes=codes)
    by_text = sorted(table.records(), key=lambda record: [key(value) for value in record])
    assert list(sorted_records(table, key=key).records()) == by_text
    by_code = sorted(zip(*(codes[a.name].tolist() for a in attributes), strict=True))
    found = sorted_records(table)
    assert [tuple(int(found.codes[a.name][place]) for a in attributes) for place in range(40)] == by_code
    for attribute in attributes:
        ranked = ranks(attribute, codes[attribute.name], key)
        for (one, x), (other, y) in itertools.combinations(zip(ranked, codes[attribute.name], strict=True), 2):
            before, after = key(attribute.category(int(x))), key(attribute.category(int(y)))
            assert (one < other) == (before < after)
            assert (one == other) == (before == after)
