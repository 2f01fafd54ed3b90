"""Counts of cells from batches: any cut, any order, dense or not, the counts of a loop."""

from __future__ import annotations

import ctypes
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from dpspec.base.errors import ParameterError, TableError
from dpspec.base.memory import default_memory, read_size, size_text, spare_address_space
from dpspec.blocks.space import Attribute
from dpspec.grammar import table_counts
from dpspec.grammar.table_counts import CellCounter


def few(domain):
    return (Attribute(name="a", count=domain),)


@pytest.mark.slow
@given(st.data(), st.sampled_from([1, 5, 1 << 17, 1 << 40]), st.sampled_from([0, 1 << 16]), st.sampled_from([0, 1 << 26]))
@settings(max_examples=200, deadline=None)
def test_counts_do_not_depend_on_batches_or_counters(data, domain, always_dense, most_dense):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table_counts, "_ALWAYS_DENSE", always_dense)
        patch.setattr(table_counts, "MOST_DENSE", most_dense)
        keys = st.lists(st.integers(0, domain - 1) | st.integers(0, min(domain, 4) - 1), max_size=30)
        batches = data.draw(st.lists(st.tuples(st.integers(0, 2), keys), max_size=6))
        counters = [CellCounter(few(domain)) for _ in range(3)]
        for which, batch in batches:
            counters[which].add(np.asarray(batch, dtype=np.int64))
        for place in data.draw(st.permutations([1, 2])):
            counters[0].merge(counters[place])
        expected = Counter(key for _, batch in batches for key in batch)
        found, counts = counters[0].counts().occurring()
        assert dict(zip(found.tolist(), counts.tolist(), strict=True)) == expected
        assert found.tolist() == sorted(expected)
        assert counters[0].counts().records == sum(expected.values())
        if domain <= 1 << 17:
            assert counters[0].counts().every().tolist() == [expected[key] for key in range(domain)]


def test_what_was_counted_cannot_be_written_to():
    counter = CellCounter(few(3))
    counter.add(np.array([0, 2, 2]))
    with pytest.raises(ValueError, match="read-only"):
        counter.counts().every()[0] = 5


def test_more_cells_than_64_bits_number_are_refused():
    with pytest.raises(TableError, match="too many combinations"):
        CellCounter([Attribute(name=name, count=1 << 32) for name in ("a", "b")])


@pytest.mark.parametrize("text", ["", "0", "0GB", "-1GB", "4 PB", "4G5", "1e9", "nan", "half"])
def test_what_is_no_size_is_refused(text):
    with pytest.raises(ParameterError, match="is no size"):
        read_size(text)


@given(st.integers(1, 10**15))
def test_a_size_is_printed_rounded_up_and_by_two_percent_at_most(size):
    printed = read_size(size_text(size))
    assert size <= printed <= size * 1.1


def test_the_default_is_no_more_than_half_of_the_machine():
    found = default_memory()
    assert found is None or found > 1 << 26


def test_a_limited_address_space_halves_the_default(monkeypatch):
    resource = pytest.importorskip("resource")
    monkeypatch.setattr(resource, "getrlimit", lambda which: (1 << 27, 1 << 30))
    assert default_memory() == 1 << 26


@pytest.mark.parametrize("limited", [True, False])
def test_only_in_a_limited_address_space_the_c_library_is_told_to_spare_it(monkeypatch, limited):
    resource, told = pytest.importorskip("resource"), []

    class Library:
        mallopt = staticmethod(lambda *given: told.append(given))

    monkeypatch.setattr(ctypes, "CDLL", lambda name: Library())
    monkeypatch.setattr(resource, "getrlimit", lambda which: (1 << 27 if limited else resource.RLIM_INFINITY, 0))
    spare_address_space()
    assert told == ([(-8, 2)] if limited else [])
