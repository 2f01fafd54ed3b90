"""Sorting with DuckDB: the order is that of numpy, and nothing is left in the folder."""

from __future__ import annotations

import contextlib
import stat
import sys

import numpy as np
import pytest
from dpspec_release import spill

from dpspec.base.errors import LibraryError, MissingLibraryError, ReleaseError

MEMORY = spill.LEAST


def rows(count, seed=1):
    random = np.random.default_rng(seed)
    few = random.integers(-3, 3, count)
    words = random.integers(0, 1 << 64, count, dtype=np.uint64)
    words[: min(count, 2)] = [0, (1 << 64) - 1][:count]
    return {"few": few, "words": words, "place": np.arange(count)}


def batches(columns, size):
    count = len(columns["few"])
    for begin in range(0, count, size):
        yield {name: column[begin : begin + size] for name, column in columns.items()}
    yield {name: column[:0] for name, column in columns.items()}


@pytest.mark.parametrize("count", [0, 1, 5000])
def test_rows_are_sorted_as_numbers(tmp_path, count):
    given = rows(count)
    with spill.spilling(tmp_path / "spill", MEMORY) as sorter:
        found = sorter.sorted(batches(given, 700), ("few", "words"))
        assert len(found) == count
        order = np.lexsort((given["words"], given["few"]))
        whole = found.between(0, count)
        for name, column in given.items():
            assert whole[name].dtype == column.dtype
            assert np.array_equal(whole[name], column[order])
        parts = [place for batch in found.batches(0, count, 999) for place in batch["place"].tolist()]
        assert parts == order.tolist()
        assert list(found.between(0, min(count, 2), ("words",))) == ["words"]
        found.forget()


@pytest.mark.parametrize("by", [("few", "words"), ("words",), ("few", "place"), ("place", "few", "words"), ("few",)])
def test_more_rows_than_are_sorted_at_once_are_sorted_range_by_range(tmp_path, monkeypatch, by):
    """Every range is sorted by itself, and the whole is in order; also where few values are, or where numbers have 64 bits."""
    given = rows(5000)
    with spill.spilling(tmp_path / "spill", MEMORY) as sorter:
        sorter._at_once = 12_000
        found = sorter.sorted(batches(given, 700), by)
        ranges = sorter._ranges(found._name, by, 24)
        assert len(ranges) == 10 if by != ("few",) else 1 < len(ranges) < 8
        count = "SELECT count(*) FROM "
        sizes = [sorter._database.execute(count + f"{found._name} {one}").fetchall()[0][0] for one in ranges]
        assert sum(sizes) == 5000
        assert max(sizes) < (600 if by != ("few",) else 2000)
        whole = found.between(0, 5000)
        order = np.lexsort([whole[name] for name in reversed(by)])
        assert all(np.array_equal(whole[name], whole[name][order]) for name in by)
        assert sorted(whole["place"].tolist()) == list(range(5000))
        assert np.array_equal(given["words"][whole["place"]], whole["words"])


def test_more_rows_than_are_counted_at_once_are_counted_range_by_range(tmp_path):
    random = np.random.default_rng(3)
    given = {"one": random.integers(-9, 9, 5000), "two": random.integers(0, 3, 5000), "three": random.integers(0, 2, 5000)}
    with spill.spilling(tmp_path / "spill", MEMORY) as sorter:
        sorter._at_once = 12_000
        found = sorter.counted([given], "times")
        kinds, times = np.unique(np.stack([*given.values()], axis=1), axis=0, return_counts=True)
        whole = found.between(0, len(found))
        assert np.array_equal(np.stack([whole[name] for name in given], axis=1), kinds)
        assert np.array_equal(whole["times"], times)


def limit(sorter):
    """The limit of the library in bytes, as it rounds it."""
    ((found,),) = sorter._database.execute("SELECT current_setting('memory_limit')").fetchall()
    return float(found.removesuffix(" MiB")) * 2**20


@pytest.mark.parametrize(("per_value", "left"), [(0.0, 1.0), (spill.SHARE * 400, 0.76), (1e6, 0.5)])
def test_the_library_has_its_memory_only_while_it_sorts(tmp_path, monkeypatch, per_value, left):
    """While rows are read or written down, what makes them needs memory; and tables take some that is no part of its limit.

    Without either, 500 million records took 1.2 times the memory of 50 million.
    """
    memory, seen = 2 * spill.LEAST, []
    monkeypatch.setattr(spill, "PER_VALUE", per_value)
    ranges = spill.SpillSorter._ranges
    monkeypatch.setattr(spill.SpillSorter, "_ranges", lambda own, *args: seen.append(limit(own)) or ranges(own, *args))
    with spill.spilling(tmp_path / "spill", memory) as sorter:

        def written():
            for batch in batches(rows(32_000), 16_000):
                seen.append(limit(sorter))
                yield batch
            sorter.sorted([rows(10)], ("few",)).forget()
            seen.append(limit(sorter))

        found = sorter.sorted(written(), ("words",))
        seen.append(limit(sorter))
        assert len(found) == 32_000
    reading = pytest.approx(memory * spill.SHARE * spill.READING, rel=0.01)
    assert [*seen[:3], seen[4], seen[6]] == [reading] * 5
    assert seen[5] == pytest.approx(memory * spill.SHARE * left, rel=0.01)


def test_equal_rows_are_counted(tmp_path):
    given = {"one": np.asarray([3, -1, 3, 3, -1]), "two": np.asarray([0, 5, 0, 1, 5])}
    with spill.spilling(tmp_path / "spill", MEMORY) as sorter:
        found = sorter.counted([given, {name: column[:1] for name, column in given.items()}], "times")
        assert {name: column.tolist() for name, column in found.between(0, 3).items()} == {
            "one": [-1, 3, 3], "two": [5, 0, 1], "times": [2, 3, 1]
        }  # fmt: skip


@pytest.mark.parametrize("problem", [None, ValueError, KeyboardInterrupt])
def test_only_the_owner_can_read_the_folder_and_it_is_removed(tmp_path, problem):
    folder = tmp_path / "out.confidential" / "spill"
    (folder / "left by a killed run").mkdir(parents=True)
    with contextlib.nullcontext() if problem is None else pytest.raises(problem), spill.spilling(folder, MEMORY) as sorter:
        found = sorter.sorted(batches(rows(100), 10), ("few",))
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert {path.name for path in folder.iterdir()} <= {"rows.duckdb", "rows.duckdb.wal", "temporary"}
        assert len(found) == 100
        if problem is not None:
            raise problem
    assert not folder.exists()


def test_what_the_library_says_is_not_repeated(tmp_path):
    with pytest.raises(LibraryError) as caught, spill.spilling(tmp_path / "spill", MEMORY) as sorter:
        sorter.sorted([{"few": np.asarray(["secret"])}, {"few": np.asarray([1]), "more": np.asarray([1])}], ("few",))
    assert "secret" not in str(caught.value)
    assert "cannot sort the table" in str(caught.value)
    assert not (tmp_path / "spill").exists()


def test_an_interruption_that_the_library_notices_is_one(tmp_path):
    """DuckDB raises RuntimeError where a signal interrupts a query."""

    class Interrupted:
        def __getattr__(self, name):
            raise RuntimeError("Query interrupted")

    with pytest.raises(KeyboardInterrupt), spill.spilling(tmp_path / "spill", MEMORY):
        spill.SpillSorter(spill.duckdb(), Interrupted(), MEMORY, tmp_path).sorted([rows(3)], ("few",))
    with pytest.raises(RuntimeError, match="other"), spill.spilling(tmp_path / "spill", MEMORY):
        raise RuntimeError("other")
    assert not (tmp_path / "spill").exists()


def test_memory_that_does_not_suffice_is_told(tmp_path):
    with pytest.raises(ReleaseError, match="does not suffice to sort"), spill.spilling(tmp_path / "spill", 1_000_000) as sorter:
        sorter.sorted(batches(rows(200_000), 100_000), ("words",))


def test_without_the_library_one_line_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(MissingLibraryError, match=r'pip install "dpspec-release\[spill\]", or give --memory'):
        spill.duckdb()


# --- rows by place --------------------------------------------------------------------------------


def test_rows_by_place_are_read_and_replaced(tmp_path):
    """As columns in memory are; numbers have 64 bits with a sign."""
    random = np.random.default_rng(1)
    given = {name: random.integers(-(1 << 63), (1 << 63) - 1, 1000, endpoint=True) for name in "ab"}
    given["a"][:2] = [-(1 << 63), (1 << 63) - 1]
    with spill.spilling(tmp_path / "spill", MEMORY) as sorter:
        parts = [{name: given[name][begin : begin + 300] for name in "ba"} for begin in (0, 300, 600, 900, 1200)]
        found = sorter.placed(parts, ("a", "b"))
        empty = sorter.placed([], ("c",))
        assert (len(found), len(empty), len(empty.between(0, 0)["c"])) == (1000, 0, 0)
        for _ in range(50):
            begin, end = sorted(random.integers(0, 1001, 2).tolist())
            other = {name: random.integers(0, 9, end - begin) for name in "ab"}
            found.replace(begin, other)
            for name in "ab":
                given[name][begin:end] = other[name]
            place = int(random.integers(0, 1000))
            assert found.at(place) == tuple(int(given[name][place]) for name in "ab")
            assert all(np.array_equal(found.between(begin, 1000)[name], given[name][begin:]) for name in "ab")
        assert len(found) == 1000
        with pytest.raises(ValueError, match="rows 990 to 1001 of 1000"):
            found.between(990, 1001)
        assert {stat.S_IMODE(file.stat().st_mode) for file in (tmp_path / "spill").glob("rows?")} == {0o600}
        found.forget()
        assert len([*(tmp_path / "spill").glob("rows?")]) == 1
    assert not (tmp_path / "spill").exists()


def test_a_full_disk_is_reported_for_rows_by_place(tmp_path, monkeypatch):
    class Full:
        def __getattr__(self, name):
            raise OSError(28, "No space left on device")

        def close(self):
            pass

    with spill.spilling(tmp_path / "spill", MEMORY) as sorter:
        found = sorter.placed([{"a": np.arange(3)}], ("a",))
        found.close()
        monkeypatch.setattr(found, "_file", Full())
        for failing in (lambda: found.replace(3, {"a": np.arange(3)}), lambda: found.at(0)):
            with pytest.raises(ReleaseError, match="has no room"):
                failing()
    assert not (tmp_path / "spill").exists()
