"""Reading tables: every fault counted, the first of each kind with its row, in every format; households with their persons."""

from __future__ import annotations

import itertools
import os
import pickle
import re
import shutil

import numpy as np
import polars as pl
import pytest
from dpspec_tables import Arrow, Csv, Parquet, formats
from hypothesis import given, strategies as st

from dpspec.base.errors import DpspecError, Faults, NotAFileError, TableError
from dpspec.blocks.space import Attribute
from dpspec.grammar.table_batches import TableSource
from dpspec.grammar.table_files import read_households, read_table
from dpspec.grammar.tables import NumberedAttribute, NumberRange, Table, codes_read

BY_SUFFIX = {suffix: cls() for cls in (Csv, Parquet, Arrow) for suffix in cls.suffixes}
SUFFIXES = [".csv", ".parquet", ".arrow", ".feather"]
COUNTY = Attribute(name="county", categories=("a", "b"))
BLOCK = Attribute(name="block", categories=("a1", "a2", "b1"), within="county", parents=("a", "a", "b"))
AGE = Attribute(name="age", count=100)
SEX = Attribute(name="sex", categories=("1", "2"))


def written(path, columns):
    """A file of the columns, written by Polars alone."""
    frame = pl.DataFrame(columns, strict=False)
    {".csv": frame.write_csv, ".parquet": frame.write_parquet}.get(path.suffix, frame.write_ipc)(path)
    return path


def faults(path, attributes, **keywords):
    """The lines that a user reads."""
    with pytest.raises(DpspecError) as raised:
        read_table(path, attributes, BY_SUFFIX, **keywords)
    problem = raised.value
    return [str(fault) for fault in problem.faults] if isinstance(problem, Faults) else [str(problem)]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_texts_and_integers_are_read_in_every_format(tmp_path, suffix):
    columns = {"age": [3, 99, 0], "sex": [2, 1, 1], "county": ["b", "a", "a"]}
    table = read_table(written(tmp_path / f"t{suffix}", columns), [COUNTY, AGE, SEX], BY_SUFFIX)
    assert {name: column.tolist() for name, column in table.codes.items()} == {
        "county": [1, 0, 0], "age": [3, 99, 0], "sex": [1, 0, 0],
    }  # fmt: skip
    assert {column.dtype for column in table.codes.values()} == {np.dtype(np.uint8)}


@pytest.mark.parametrize(
    "rows",
    [
        "1,3,x\n2,4,x,1,5,x\n1,6,x\n",  # two records in one line
        "1,3,x\n2,4,x,\n",
        '1,3,"x"a\n2,4,x\n',
        '1,3,x"a\n2,4,x\n1,5,x"b\n1,6,x\n',  # a quote that opens in one record and closes in another
        '1,3,"x\n2,4,x\n',
    ],
)
def test_a_line_that_is_no_record_is_refused_whatever_is_read_of_it(tmp_path, rows):
    path = tmp_path / "t.csv"
    path.write_text(f"sex,age,note\n{rows}", encoding="utf-8")
    for attributes in ([SEX], [AGE], [SEX, AGE]):
        (fault,) = faults(path, attributes, keep=("sex", "age", "note"))
        assert "t.csv: cannot be read" in fault
    with pytest.raises(TableError, match="cannot be read"):
        Csv().identifiers(path, "sex")


def test_names_that_look_like_those_of_duplicate_columns_are_read(tmp_path):
    attributes = [Attribute(name=name, categories=("f", "m")) for name in ("a", "a_duplicated_0", "_duplicated_1")]
    path = written(tmp_path / "t.csv", {a.name: ["f", "m"] for a in attributes})
    assert read_table(path, attributes, BY_SUFFIX).codes["a_duplicated_0"].tolist() == [0, 1]


def test_a_column_that_stands_twice_is_refused(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("sex,age,age\n1,3,4\n", encoding="utf-8")
    (fault,) = faults(path, [AGE])
    assert "column 3: has a name that stands twice" in fault


def test_a_record_in_place_of_the_header_is_not_quoted(tmp_path):
    """A record with two equal values was called a repeated column, and quoted."""
    path = tmp_path / "t.csv"
    path.write_text("4711,3,4711\n4712,5,4711\n", encoding="utf-8")
    assert "471" not in "".join(faults(path, [AGE]))


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize(("values", "row", "said"), [
    ([5, -1, 7], 2, "age: is no category"), ([5, 7, 100], 3, "age: is no category"),
    ([1.5, 2.5, 3.5], 1, r"age: is no category of the space \(3 records; this is the first\)"),
    ([5, None, None], 2, r"age: is missing \(2 records"), ([2**40, 5, 5], 1, "age: is no category"),
])  # fmt: skip
def test_a_count_that_is_none_is_refused_in_every_format(tmp_path, suffix, values, row, said):
    (fault,) = faults(written(tmp_path / f"t{suffix}", {"age": values}), [AGE])
    assert re.search(rf"t\{suffix} row {row}, column {said}", fault)


@pytest.mark.parametrize("text", ["01", "+1", "1.0", " 1", "1 ", "one", "1e1", "0x1", "\u0661"])
def test_an_integer_is_written_in_one_way(tmp_path, text):
    path = tmp_path / "t.csv"
    path.write_text(f'age\n1\n"{text}"\n', encoding="utf-8")
    assert "row 2" in faults(path, [AGE])[0]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_all_faults_are_counted_and_the_first_of_each_kind_is_shown(tmp_path, suffix):
    columns = {"county": ["a", "x", "y", None, "a", None], "age": [1, 2, 300, 4, -5, 6]}
    assert [
        line.partition(": one of")[0].partition(": integers")[0]
        for line in faults(written(tmp_path / f"t{suffix}", columns), [COUNTY, AGE])
    ] == [
        f"t{suffix} row 2, column county: is no category of the space (2 records; this is the first)",
        f"t{suffix} row 4, column county: is missing (2 records; this is the first): every record needs every attribute",
        f"t{suffix} row 3, column age: is no category of the space (2 records; this is the first)",
    ]


def test_a_fault_beyond_the_first_batch_has_its_true_row(tmp_path):
    count = formats.BATCH + 12_345
    sexes = np.ones(count, dtype=np.int64)
    sexes[[-3, -1]] = 7
    seen = []
    for suffix in (".csv", ".parquet", ".arrow"):
        (fault,) = faults(written(tmp_path / f"t{suffix}", {"sex": sexes}), [SEX], progress=seen.append)
        assert fault.startswith(f"t{suffix} row {count - 2}, column sex: is no category of the space (2 records")
        assert seen[-1] == count
        assert len(seen) > 1
        seen.clear()


@given(st.lists(st.tuples(st.sampled_from(["a", "b", "c", ""]), st.integers(-2, 102)), min_size=1, max_size=40))
def test_the_counts_of_faults_are_those_of_the_file(tmp_path_factory, rows):
    path = written(
        tmp_path_factory.mktemp("t") / "t.parquet", {"county": [c or None for c, _ in rows], "age": [a for _, a in rows]}
    )
    wrong = {
        "county: is missing": [i for i, (c, _) in enumerate(rows, 1) if not c],
        "county: is no": [i for i, (c, _) in enumerate(rows, 1) if c == "c"],
        "age: is no": [i for i, (_, a) in enumerate(rows, 1) if not 0 <= a < 100],
    }
    wrong = {kind: found for kind, found in wrong.items() if found}
    if not wrong:
        assert read_table(path, [COUNTY, AGE], BY_SUFFIX).codes["age"].tolist() == [a for _, a in rows]
        return
    lines = faults(path, [COUNTY, AGE])
    assert len(lines) == len(wrong)
    for kind, found in wrong.items():
        (line,) = [line for line in lines if kind in line]
        assert f"row {found[0]}," in line
        assert len(found) == 1 or f"({len(found)} records" in line


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_geography_that_is_not_nested_is_refused(tmp_path, suffix):
    columns = {"county": ["a", "b", "b", "a"], "block": ["a2", "b1", "a1", "b1"]}
    path = written(tmp_path / f"t{suffix}", columns)
    assert faults(path, [COUNTY, BLOCK]) == [
        f"t{suffix} row 3, column block: does not lie in the county of its row (2 records): the geography must be nested"
    ]


def test_numbered_blocks_are_nested_in_order(tmp_path):
    tract, county = Attribute(name="tract", count=6, within="county"), Attribute(name="county", count=2)
    assert len(read_table(written(tmp_path / "t.csv", {"county": [0, 1], "tract": [2, 3]}), [tract, county], BY_SUFFIX)) == 2
    assert (
        "tract: does not lie in the county of its row"
        in faults(written(tmp_path / "t.csv", {"county": [1], "tract": [2]}), [tract, county])[0]
    )


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize(("columns", "said"), [
    ({"age": [1]}, ["column=county: is missing from the table"]),
    ({"county": ["a"], "age": [1], "note": [1]}, ["column=note: is no attribute of the space"]),
    ({"Age": [1], "county": ["a"]}, ["column=age: is missing", "column=Age: is no attribute"]),
])  # fmt: skip
def test_columns_are_those_of_the_space(tmp_path, suffix, columns, said):
    lines = faults(written(tmp_path / f"t{suffix}", columns), [COUNTY, AGE])
    assert [line[: len(start)] for line, start in zip(lines, said, strict=True)] == said


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_table_without_records_is_refused(tmp_path, suffix):
    assert "has no records" in faults(written(tmp_path / f"t{suffix}", {"age": pl.Series([], dtype=pl.Int64)}), [AGE])[0]


@pytest.mark.parametrize(("name", "content", "said"), [
    ("t.csv", b"", "is empty"), ("t.xlsx", b"x", "has no known table format"), ("t", b"age\n1\n", "has no known table format"),
    ("t.parquet", b"age\n1\n", "cannot be read"), ("t.arrow", b"age\n1\n", "cannot be read"),
    ("t.csv", b"age,age\n1,1\n", "column 2"), ("t.csv", b"age\n1,2\n", "cannot be read"), ("t.csv", b"age\n\xff\xfe\n", ""),
])  # fmt: skip
def test_a_file_that_is_no_such_table_is_refused_in_one_line(tmp_path, name, content, said):
    path = tmp_path / name
    path.write_bytes(content)
    (line,) = faults(path, [AGE])
    assert said in line
    assert "\n" not in line


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes among files")
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_pipe_or_device_in_the_place_of_a_file_is_refused_before_it_is_opened(tmp_path, suffix):
    (tmp_path / f"device{suffix}").symlink_to(os.devnull)
    os.mkfifo(tmp_path / f"pipe{suffix}")
    readers = (
        lambda path: TableSource.of(path, [SEX], BY_SUFFIX),
        BY_SUFFIX[suffix].header,
        BY_SUFFIX[suffix].records if suffix != ".csv" else BY_SUFFIX[suffix].header,
        lambda path: list(BY_SUFFIX[suffix].batches(path, [SEX])),
        lambda path: BY_SUFFIX[suffix].describe(path, ["sex"], 5),
        lambda path: BY_SUFFIX[suffix].identifiers(path, "sex"),
    )
    for path, read in itertools.product((tmp_path / f"device{suffix}", tmp_path / f"pipe{suffix}"), readers):
        with pytest.raises(NotAFileError, match="is a pipe, a socket or a device"):
            read(path)


def test_a_byte_order_mark_and_carriage_returns_are_no_part_of_names_or_values(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"\xef\xbb\xbfcounty,age\r\na,1\r\nb,2\r\n")
    assert read_table(path, [COUNTY, AGE], BY_SUFFIX).counts(["county", "age"]) == {("a", "1"): 1, ("b", "2"): 1}


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_what_is_written_is_read_again(tmp_path, suffix):
    table = Table(attributes=(COUNTY, AGE), codes={"county": np.asarray([0, 1, 1]), "age": np.asarray([5, 0, 99])})
    path = tmp_path / f"t{suffix}"
    BY_SUFFIX[suffix].write(table, path, {"dpspec": "a note"})
    again = read_table(path, [AGE, COUNTY], BY_SUFFIX)
    assert again.counts(["county", "age"]) == table.counts(["county", "age"])
    if suffix == ".parquet":
        assert pl.read_parquet_metadata(path)["dpspec"] == "a note"


# --- households with their persons ---------------------------------------------------------------


def directory(tmp_path, households, persons, suffix=".csv"):
    written(tmp_path / f"households{suffix}", households)
    written(tmp_path / f"persons{suffix}", persons)
    return tmp_path


HOUSEHOLDS = {"household_id": [7, 30, 5], "county": ["a", "b", "b"]}
PERSONS = {"household_id": [30, 7, 30], "age": [1, 2, 3]}


def read(folder):
    return read_households(folder, [COUNTY], [AGE], BY_SUFFIX)


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("texts", [(False, False), (True, True), (True, False), (False, True)])
def test_persons_find_their_household_whatever_the_identifiers_are(tmp_path, suffix, texts):
    """A household of which no person is told is vacant: household 5."""
    given_ = [
        {**columns, "household_id": [f"{i}" if text else i for i in columns["household_id"]]}
        for columns, text in zip((HOUSEHOLDS, PERSONS), texts, strict=True)
    ]
    table = read(directory(tmp_path, *given_, suffix))
    assert table.codes["county"].tolist() == [0, 1, 1]
    assert table.members.owner.tolist() == [1, 0, 1]
    assert table.of_members().counts(["county", "age"]) == {("b", "1"): 1, ("a", "2"): 1, ("b", "3"): 1}
    assert not np.isin(2, table.members.owner)


def test_numbers_find_households_of_which_some_have_names(tmp_path):
    folder = directory(tmp_path, {**HOUSEHOLDS, "household_id": ["x", "30", "7"]}, PERSONS, ".parquet")
    assert read(folder).members.owner.tolist() == [1, 2, 1]


@pytest.mark.parametrize(("households", "persons", "said"), [
    ({"household_id": [7, 30, 7]}, {}, "households.csv row 3, column household_id: is the identifier of an earlier household"),
    ({"household_id": [7, None, 5]}, {}, "households.csv row 2, column household_id: is missing (1 records)"),
    ({}, {"household_id": [30, 4, 9]}, "persons.csv row 2, column household_id: is the identifier of no household (2 such"),
    ({}, {"household_id": [None, None, 30]}, "persons.csv row 1, column household_id: is missing (2 records)"),
    ({"household_id": ["x", "y", "x"]}, {}, "households.csv row 3, column household_id: is the identifier of an earlier"),
])  # fmt: skip
def test_identifiers_that_tie_nothing_are_refused(tmp_path, households, persons, said):
    folder = directory(tmp_path, {**HOUSEHOLDS, **households}, {**PERSONS, **persons})
    with pytest.raises(TableError, match=re.escape(said)):
        read(folder)


@pytest.mark.parametrize("stem", ["households", "persons"])
def test_a_file_without_identifiers_is_refused(tmp_path, stem):
    folder = directory(tmp_path, HOUSEHOLDS, PERSONS)
    written(folder / f"{stem}.csv", {"county": ["a"]} if stem == "households" else {"age": [1]})
    with pytest.raises(TableError, match=rf"{stem}.csv column=household_id: is missing"):
        read(folder)


def test_the_faults_of_both_files_are_told_together(tmp_path):
    folder = directory(tmp_path, {**HOUSEHOLDS, "county": ["a", "x", "b"]}, {**PERSONS, "age": [1, 2, -3]})
    with pytest.raises(Faults) as raised:
        read(folder)
    assert [str(fault).partition(":")[0] for fault in raised.value.faults] == [
        "households.csv row 2, column county", "persons.csv row 3, column age",
    ]  # fmt: skip


@pytest.mark.parametrize("missing", [True, False])
def test_a_directory_has_one_file_of_each(tmp_path, missing):
    folder = directory(tmp_path, HOUSEHOLDS, PERSONS)
    if missing:
        (folder / "persons.csv").unlink()
    else:
        written(folder / "persons.parquet", PERSONS)
    with pytest.raises(TableError, match=r"needs exactly one file persons\.\*"):
        read(folder)


def test_reading_two_files_counts_on(tmp_path):
    seen = []
    read_households(directory(tmp_path, HOUSEHOLDS, PERSONS), [COUNTY], [AGE], BY_SUFFIX, progress=seen.append)
    assert seen == [3, 6]


# --- households in partitions ---------------------------------------------------------------------


def partitions(tmp_path, households=HOUSEHOLDS, persons=PERSONS):
    """Households by county, in folders that state it; persons in the folders of their households."""
    of = {30: "b", 7: "a", 5: "b", 4: "b", 9: "b"}
    for stem, columns in (("households", households), ("persons", persons)):
        for county in ("a", "b"):
            kept = [place for place, name in enumerate(columns["household_id"]) if of[name] == county]
            folder = tmp_path / stem / f"county={county}"
            folder.mkdir(parents=True)
            written(folder / "part-0.csv", {k: [v[i] for i in kept] for k, v in columns.items() if k != "county"})
    return tmp_path


def test_households_and_persons_may_be_folders_of_partitions(tmp_path):
    table = read(partitions(tmp_path))
    assert table.codes["county"].tolist() == [0, 1, 1]
    assert table.of_members().counts(["county", "age"]) == {("b", "1"): 1, ("a", "2"): 1, ("b", "3"): 1}


def test_one_of_both_may_be_a_file(tmp_path):
    folder = partitions(tmp_path / "in")
    shutil.rmtree(folder / "persons")
    written(folder / "persons.parquet", PERSONS)
    assert read(folder).of_members().counts(["county", "age"]) == {("b", "1"): 1, ("a", "2"): 1, ("b", "3"): 1}


@pytest.mark.parametrize(("households", "persons", "said"), [
    ({"household_id": [7, 30, 30]}, {}, "households/county=b/part-0.csv row 2, column household_id: is the identifier of an"),
    ({}, {"household_id": [30, 4, 9]}, "persons/county=b/part-0.csv row 2, column household_id: is the identifier of no"),
    ({}, {"age": [1, -2, 3]}, "persons/county=a/part-0.csv row 1, column age: is no category"),
])  # fmt: skip
def test_what_is_wrong_is_placed_in_its_partition(tmp_path, households, persons, said):
    with pytest.raises(DpspecError, match=re.escape(said)):
        read(partitions(tmp_path, {**HOUSEHOLDS, **households}, {**PERSONS, **persons}))


def test_a_folder_and_a_file_of_one_kind_are_refused(tmp_path):
    folder = partitions(tmp_path)
    written(folder / "households.csv", HOUSEHOLDS)
    with pytest.raises(TableError, match=r"needs exactly one file households\.\*.*, or a folder households"):
        read(folder)


def test_persons_in_the_folder_of_another_place_than_their_household_are_refused(tmp_path):
    folder = partitions(tmp_path)
    (folder / "persons" / "county=a").rename(folder / "persons" / "county=c")
    said = "persons/county=c/part-0.csv row 1, column county: is of a household that is not where the folder states (1"
    with pytest.raises(TableError, match=re.escape(said)):
        read(folder)


BIG = 2**53


@pytest.mark.parametrize("attribute", [
    NumberedAttribute("value", np.array([-3, 5, 17])),
    NumberedAttribute("value", np.array([5, -3, 17])),
    NumberedAttribute("value", np.array([-3, 5]), ("",)),
    NumberedAttribute("value", np.array([1, BIG + 1])),
    NumberedAttribute("value", np.array([5, 2**70], dtype=object)),
    NumberedAttribute("value", np.array([], dtype=np.int64)),
    Attribute(name="value", categories=("5", "17", "-3")),
])  # fmt: skip
@pytest.mark.parametrize("values", [
    pl.Series([5, 17, -3, -3]),
    pl.Series([5, 5], dtype=pl.Int8),
    pl.Series([5, 6]),
    pl.Series([5, None]),
    pl.Series([BIG, 1], dtype=pl.UInt64),
    pl.Series([BIG + 1, 2**63], dtype=pl.UInt64),
    pl.Series([5, 2**70], dtype=pl.Int128),
    pl.Series([5.0, 17.5]),
    pl.Series(["5", "17"]),
    pl.Series(["5", "17", "-3"], dtype=pl.Enum(["5", "17", "-3"])),
    pl.Series(["5", "17", "-3"], dtype=pl.Enum(["-3", "5", "17"])),
    pl.Series(["5", None], dtype=pl.Enum(["5", "17", "-3"])),
    pl.Series([], dtype=pl.Int64),
])  # fmt: skip
def test_columns_are_coded_alike_in_every_form(attribute, values):
    """The oracle compares texts, value by value."""
    places = {text: place for place, text in enumerate(attribute.values())}
    texts = values.cast(pl.String).to_list()
    found = formats.coded(values, attribute)
    assert found.codes.tolist() == [places.get(text, -1) if text is not None else -1 for text in texts]
    assert found.strangers == [text for text in texts if text not in places]


# --- numbers in a range ---------------------------------------------------------------------------


@pytest.mark.parametrize("format_", [Csv(), Parquet(), Arrow()])
@pytest.mark.parametrize("texts", [(), ("",), ("all", "some")])
def test_numbers_in_a_range_are_written_and_read_as_those_that_are_listed(tmp_path, format_, texts):
    """Of the same bytes, whether the numbers are listed or not, and read back by both."""
    numbers = np.asarray([-(1 << 61), -20, -1, 0, 7, 10**6])
    codes = np.asarray([5, 0, 0, 3, 2, 4, 1, *range(6, 6 + len(texts))])
    listed, whole = NumberedAttribute("value", numbers, texts), NumberRange("value", -(1 << 61), 1 << 61, texts)
    in_range = np.where(codes < 6, whole.codes_of(numbers[np.minimum(codes, 5)]), whole.length + codes - 6)
    files = []
    for attribute, own in ((listed, codes), (whole, in_range)):
        table = Table(attributes=(attribute,), codes={"value": own})
        files.append(tmp_path / f"{attribute.size}{format_.suffixes[0]}")
        format_.write(table, files[-1], {})
        assert format_.holds(files[-1], table)
    assert files[0].read_bytes() == files[1].read_bytes()
    for attribute, own in ((listed, codes), (whole, in_range)):
        (batch,) = format_.batches(files[0], [attribute])
        assert codes_read(attribute, batch["value"]).tolist() == own.tolist()


@pytest.mark.parametrize("text", ["01", "-0", "+1", " 1", "1.0", "x", "9223372036854775808", "100", "-6", ""])
def test_a_text_that_is_no_number_of_a_range_is_a_stranger(tmp_path, text):
    (tmp_path / "in.csv").write_text(f"value,other\n-5,1\n{text},1\n99,1\n")
    (batch,) = Csv().batches(tmp_path / "in.csv", [NumberRange("value", -5, 100)])
    assert batch["value"].codes.tolist() == [0, -1, 104]
    assert [value or "" for value in batch["value"].strangers] == [text]


def test_the_categories_of_a_range_are_its_numbers_and_texts():
    value = NumberRange("value", -1, 2, ("all",))
    assert [value.category(place) for place in range(value.size)] == list(value.values()) == ["-1", "0", "1", "all"]
    again = pickle.loads(pickle.dumps(value))  # noqa: S301 - our own
    assert (again.name, list(again.values())) == ("value", ["-1", "0", "1", "all"])
    assert value.is_missing(np.asarray([2, 3])).tolist() == [False, True]
