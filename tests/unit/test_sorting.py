"""Orders of records: the same for a release, for the law of a shuffle, and for bounded contributions."""

from __future__ import annotations

import itertools
import random
from typing import Any

import numpy as np
import pytest

from dpspec.blocks.space import Attribute
from dpspec.grammar.sorting import ranks, sorted_records
from dpspec.grammar.tables import NumberRange, Table

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
