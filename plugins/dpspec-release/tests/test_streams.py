"""Tables in partitions: releases that read counts take them batch by batch, with the bytes of the whole table."""

from __future__ import annotations

import csv
import hashlib
import itertools
import os
import pickle
import random
from collections import Counter

import numpy as np
import polars as pl
import pytest
from dpspec_noise import Geometric, KAryResponse, RandomisedResponse
from dpspec_release import batches, draw as engine
from dpspec_release.write import write, write_utility
from dpspec_tables import formats

from dpspec import installed, read
from dpspec.base.errors import DpspecError, PluginContractError, ReleaseError, TableError
from dpspec.base.randomness import PlacedRandomness, SeededRandomness
from dpspec.blocks.invariant import Marginal
from dpspec.grammar.mechanism import Kept, counts_read, releases_records
from dpspec.grammar.table_batches import cells_wanted
from dpspec.grammar.tables import CountedTable, Table
from dpspec.plugin import workers
from dpspec.plugin.releases import count_cells, given_sources

pytestmark = pytest.mark.usefixtures("unverified")

REGIONS, COUNTIES = ("north", "south"), {"n1": "north", "n2": "north", "s1": "south"}
HEADER = ("region", "county", "age", "sex")

SPEC = """\
schema = 1
id = "noisy"
title = "Counts with noise"
[space]
type = "records"
attributes = [
  {{ name = "region", categories = ["north", "south"] }},
  {{ name = "county", categories = ["n1", "n2", "s1"], within = "region", parents = ["north", "north", "south"] }},
  {{ name = "age", count = 5 }},
  {{ name = "sex", categories = ["f", "m"] }},
]
[multiverse]
invariants = [{invariants}]
[input_divergence]
type = "symmetric-difference"
[output_divergence]
type = "mult"
[budget]
epsilon = "inf"
[mechanism]
{mechanism}
"""

TINY = 'ratio = "1/1000000000000"'
"""Noise that is 0 but for 2 of 10^12 draws: what is released are the true counts."""
QUERIES = """queries = [
  { type = "marginal", attributes = ["age", "sex"] },
  { type = "marginal", attributes = ["sex", "age"], where = { sex = ["m"], county = ["n1", "s1"] } },
  { type = "marginal", attributes = ["county", "region"] },
  { type = "marginal", attributes = [] },
  { type = "clipped-sum", attribute = "age", least = 1, most = 3 },
  { type = "distinct-count", attributes = ["county", "age"], where = { sex = ["f"] } },
  { type = "weighted-sums", attributes = ["sex"], sums = ["a", "b"], weights = [
    { cell = ["f"], adds = [2, 1] }, { cell = ["m"], adds = [-1, 3] },
  ] },
]"""
SWAP = 'type = "permutation-swapping"\nmatch = ["region"]\nswap = ["county"]\nswap_rate = "1/2"\nunit = "person"'
TOP = 'type = "top-coding"\ncolumn = "age"\ntop = "3"\nunit = "person"'
"""It holds the whole table."""
COUNTY = '{ type = "marginal", attributes = ["county"] }'
COUNTS_BY_AGE = '{ type = "geometric", ratio = "1/2", queries = [{ type = "marginal", attributes = ["age"] }] }'
FEW_OF_THE_NORTH = (
    '{ type = "post-processed", at_least = 0, mechanism = { type = "geometric", ratio = "1/2", queries = ['
    '{ type = "marginal", attributes = ["age", "sex"], where = { sex = ["f", "m"] } }, '
    '{ type = "distinct-count", attributes = ["age"] }] } }'
)
TABLES = 'unit = "person"\ntables = [["age", "county"], ["county"], ["age"], []]'
TABLES_WITHOUT_AGE = 'unit = "person"\ntables = [["county", "sex"], ["sex"], []]'
ROWS = """rows = [
  { count = 1, changes = { -1 = "1/2", 1 = "1/2" } },
  { count = 2, changes = { -2 = "1/4", 0 = "1/4", 1 = "1/2" } },
]"""
ROWS_OF_FIVE = 'rows = [{ count = 1, changes = { -1 = "2/5", 0 = "1/5", 1 = "2/5" } }]'
LEVELS = """populations = [{ name = "all", most = 2, groups = [
  { name = "young", where = { age = ["0", "1"] } },
  { name = "women", where = { sex = ["f"] } },
  { name = "women of the north", where = { sex = ["f"], region = ["north"] } },
] }]
levels = [
  { population = "all", geography = "county", share = "1/2", tables = [["sex", "age"]] },
  { population = "all", share = "1/2", choice = "1/3", thresholds = [100], tables = [[], ["sex", "region"]] },
]"""
MECHANISMS = {
    "geometric": f'type = "geometric"\nratio = "1/3"\n{QUERIES}',
    "discrete-gaussian": f'type = "discrete-gaussian"\nvariance = "7"\nsensitivities = [1, 1, 1, 1, 3, 1, 4]\n{QUERIES}',
    "wide": f'type = "geometric"\nepsilon = "1/1000000"\n{QUERIES}',
    "composed": f"""type = "composed"
parts = [
  {COUNTS_BY_AGE},
  {{ type = "filtered", where = {{ region = ["north"], sex = ["f"] }}, mechanism = {FEW_OF_THE_NORTH} }},
]""",
    "parallel": f"""type = "parallel"
attribute = "sex"
parts = [
  {{ categories = ["f"], mechanism = {COUNTS_BY_AGE} }},
  {{ categories = ["m"], mechanism = {{ type = "exponential", rate = "1/8", query = {COUNTY} }} }},
]""",
    "repeated": """type = "repeated"
times = 2
mechanism = { type = "geometric", ratio = "1/2", queries = [{ type = "marginal", attributes = ["county"] }] }""",
    "threshold": """type = "threshold-release"
ratio = "1/2"
threshold = 3
query = { type = "marginal", attributes = ["age", "county"] }""",
    "conventional-rounding": f'type = "conventional-rounding"\nbase = 5\nredact_up_to = 3\n{TABLES}',
    "random-rounding": f'type = "random-rounding"\nbase = 3\n{TABLES}',
    "controlled-rounding": 'type = "controlled-rounding"\nrows = "age"\ncolumns = "county"\nbase = 5\nunit = "person"',
    "cell-key": f'type = "cell-key"\nkeys = 4\n{ROWS}\n{TABLES}',
    "kept-cell-key": f'type = "kept-cell-key"\nkeys = 5\nkey = "age"\n{ROWS_OF_FIVE}\n{TABLES_WITHOUT_AGE}',
    "threshold-suppression": f'type = "cell-suppression"\nthreshold = 20\n{TABLES}',
    "suppression-of-sums": 'type = "cell-suppression"\np_percent = 10\ndominance = { contributions = 2, percent = 5 }\n'
    f'value = "age"\n{TABLES_WITHOUT_AGE}',
    "safetab": f'type = "safetab-geometric"\nbudget = "ln(4)"\nunit = "person"\n{LEVELS}',
}


def spec(folder, mechanism, invariants=""):
    path = folder / "noisy.dpspec.toml"
    path.write_text(SPEC.format(mechanism=mechanism, invariants=invariants), encoding="utf-8")
    return path


def people(count=400, seed=3):
    lot = random.Random(seed)
    rows = []
    for _ in range(count):
        county = lot.choice([*COUNTIES])
        rows.append((COUNTIES[county], county, str(lot.randrange(5)), lot.choice("ffm")))
    return rows


def as_file(path, rows, columns=HEADER):
    values = {name: [row[HEADER.index(name)] for row in rows] for name in columns}
    frame = pl.DataFrame(values, schema=dict.fromkeys(columns, pl.String))
    {".csv": frame.write_csv, ".parquet": frame.write_parquet, ".arrow": frame.write_ipc}[path.suffix](path)


def partitioned(folder, rows, parts, suffix=".parquet", seed=None):
    """The rows in so many files; with a seed in another order, and other columns first in every second file."""
    folder.mkdir()
    rows = [*rows]
    if seed is not None:
        random.Random(seed).shuffle(rows)
    for place in range(parts):
        columns = HEADER if seed is None or place % 2 else HEADER[::-1]
        as_file(folder / f"part-{place:03}{suffix}", rows[place::parts], columns)
    return folder


def released(path, table, out, *, whole=False, **options):
    """The digests of the tables that are released, and the report without the name of the table."""
    registry = installed().registry
    with pytest.MonkeyPatch.context() as patch:
        if whole:
            patch.setattr(engine, "counts_wanted", lambda *_: None)
        else:
            patch.setattr(engine, "given_table", lambda *_: pytest.fail("the whole table was read"))
        options = {"unverified": True, "seed": 5, "suffix": ".csv", **options}
        release = engine.draw(read(path), str(table), registry, out, engine.Options(**options))
        report = write(release, registry, out)
        utility = {key: value for key, value in write_utility(release).items() if key != "folder"}
    files = {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in out.glob("*.csv")}
    return files, {key: value for key, value in report.items() if key != "table"}, utility


def answers(out):
    with (out / "released.csv").open(encoding="utf-8") as file:
        rows = [*csv.reader(file)][1:]
    return [row[-2] for row in rows]


# --- the same bytes -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MECHANISMS)
def test_the_release_is_that_of_the_whole_table(tmp_path, name):
    rows, path = people(), spec(tmp_path, MECHANISMS[name])
    as_file(tmp_path / "whole.csv", rows)
    expected = released(path, tmp_path / "whole.csv", tmp_path / "expected", whole=True)
    assert expected == released(path, tmp_path / "whole.csv", tmp_path / "one")
    folder = partitioned(tmp_path / "in", rows, 7, seed=1)
    assert expected == released(path, folder, tmp_path / "seven")


@pytest.mark.spread(0, slow=3)
@pytest.mark.parametrize("name", MECHANISMS)
def test_any_number_of_partitions_of_any_format_gives_the_same_release(tmp_path, name):
    rows, path = people(), spec(tmp_path, MECHANISMS[name])
    as_file(tmp_path / "whole.csv", rows)
    expected = released(path, tmp_path / "whole.csv", tmp_path / "expected", whole=True)
    for parts, suffix in itertools.product((1, 7, 200), (".csv", ".parquet")):
        folder = partitioned(tmp_path / f"in-{parts}{suffix}", rows, parts, suffix, seed=parts)
        assert expected == released(path, folder, tmp_path / f"out-{parts}{suffix}")


@pytest.mark.parametrize(("parts", "suffix"), [(1, ".csv"), (7, ".arrow"), pytest.param(200, ".parquet", marks=pytest.mark.slow)])
def test_neither_partitions_nor_their_order_nor_batches_change_a_byte(tmp_path, monkeypatch, parts, suffix):
    rows, path = people(), spec(tmp_path, MECHANISMS["composed"], '{ type = "marginal", attributes = ["region"] }')
    as_file(tmp_path / "whole.parquet", rows)
    expected = released(path, tmp_path / "whole.parquet", tmp_path / "expected", whole=True)
    for batch, seed in ((1 << 18, None), (3, 1), (50, 2)):
        monkeypatch.setattr(formats, "BATCH", batch)
        folder = partitioned(tmp_path / f"in-{batch}", rows, parts, suffix, seed)
        assert expected == released(path, folder, tmp_path / f"out-{batch}")


def test_the_counts_are_those_of_a_loop(tmp_path):
    rows = people()
    path = spec(tmp_path, f'type = "geometric"\n{TINY}\n{QUERIES}')
    released(path, partitioned(tmp_path / "in", rows, 7, seed=1), tmp_path / "out")
    women = [row for row in rows if row[3] == "f"]
    where = Counter((row[3], row[2]) for row in rows if row[3] == "m" and row[1] in ("n1", "s1"))
    table, counties = Counter((row[2], row[3]) for row in rows), Counter(row[1] for row in rows)
    expected = [
        *(table[str(age), sex] for age in range(5) for sex in "fm"),
        *(where["m", str(age)] for age in range(5)),
        *(counties[county] for county in COUNTIES),
        len(rows),
        sum(min(max(int(row[2]), 1), 3) for row in rows),
        len({(row[1], row[2]) for row in women}),
        2 * len(women) - (len(rows) - len(women)),
        len(women) + 3 * (len(rows) - len(women)),
    ]  # fmt: skip
    assert answers(tmp_path / "out") == [str(count) for count in expected]


def test_subfolders_hold_partitions_and_what_engines_write_beside_them_is_passed_over(tmp_path):
    rows, path = people(), spec(tmp_path, MECHANISMS["geometric"])
    folder = partitioned(tmp_path / "in", rows, 4)
    expected = released(path, folder, tmp_path / "expected")
    (folder / "_SUCCESS").touch()
    (folder / ".part-000.parquet.crc").touch()
    (folder / "2020").mkdir()
    (folder / "part-003.parquet").rename(folder / "2020" / "part-003.parquet")
    assert expected == released(path, folder, tmp_path / "out")


def by_folders(folder, rows, columns=("region", "county"), suffix=".parquet"):
    """The rows as Spark's `partitionBy` writes them: a folder for each value, and files without these columns."""
    others = [name for name in HEADER if name not in columns]
    cells = {tuple(row[HEADER.index(name)] for name in columns) for row in rows}
    for cell in sorted(cells):
        place = folder.joinpath(*(f"{name}={value}" for name, value in zip(columns, cell, strict=True)))
        place.mkdir(parents=True)
        own = [row for row in rows if tuple(row[HEADER.index(name)] for name in columns) == cell]
        as_file(place / f"part-0{suffix}", own, others)
    return folder


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
@pytest.mark.parametrize("columns", [("region",), ("region", "county"), ("sex", "age", "region")])
def test_folders_that_state_a_value_give_it_to_all_records_below(tmp_path, columns, suffix):
    rows, path = people(), spec(tmp_path, MECHANISMS["geometric"])
    expected = released(path, partitioned(tmp_path / "in", rows, 3), tmp_path / "expected")
    folder = by_folders(tmp_path / "by", rows, columns, suffix)
    assert released(path, folder, tmp_path / "out") == expected
    assert released(path, folder, tmp_path / "processes", workers="threads")[0] == expected[0]


def test_a_folder_states_a_column_that_is_recoded_and_feeds_two_attributes(tmp_path):
    path, rows = of_two_attributes(tmp_path), people()
    released(path, by_folders(tmp_path / "in", rows, ("age",)), tmp_path / "out")
    table = Counter((int(row[2]) > 2, row[2]) for row in rows)
    assert sorted(answers(tmp_path / "out")) == sorted(str(table[old, str(age)]) for age in range(5) for old in (False, True))


def test_a_column_of_the_file_agrees_with_the_name_of_its_folder(tmp_path):
    rows, path = people(), spec(tmp_path, MECHANISMS["geometric"])
    women = [row for row in rows if row[3] == "f"]
    expected = released(path, partitioned(tmp_path / "in", women, 3), tmp_path / "expected")
    (tmp_path / "again").mkdir()
    (tmp_path / "in").rename(tmp_path / "again" / "sex=f")
    assert released(path, tmp_path / "again", tmp_path / "out") == expected
    (tmp_path / "again" / "sex=f").rename(tmp_path / "again" / "sex=m")
    (tmp_path / "wrong").mkdir()
    message = wrong(path, tmp_path / "again", tmp_path / "wrong" / "out")
    assert "sex=m/part-000.parquet row 1, column sex: is not the value that its folder states" in message
    assert f"({len(women)} records)" in message


def test_links_to_folders_are_followed_and_those_that_lead_back_are_refused(tmp_path):
    rows, path = people(), spec(tmp_path, MECHANISMS["geometric"])
    expected = released(path, partitioned(tmp_path / "in", rows, 3), tmp_path / "expected")
    folder = by_folders(tmp_path / "by", rows, ("region",))
    (folder / "region=south").rename(tmp_path / "elsewhere")
    (folder / "region=south").symlink_to(tmp_path / "elsewhere")
    assert released(path, folder, tmp_path / "out") == expected
    (folder / "region=north" / "age=1").symlink_to(folder)
    (tmp_path / "wrong").mkdir()
    assert "is a link to a folder that it is in" in wrong(path, folder, tmp_path / "wrong" / "out")


def test_a_folder_whose_column_begins_with_an_underscore_is_read(tmp_path):
    path = spec(tmp_path, f'type = "geometric"\n{TINY}\nqueries = [{{ type = "marginal", attributes = ["age", "sex"] }}]')
    expected = released(path, partitioned(tmp_path / "in", people(), 3), tmp_path / "expected")
    text = path.read_text(encoding="utf-8").replace('{ name = "sex",', '{ name = "sex", column = "_sex",')
    path.write_text(text, encoding="utf-8")
    folder = by_folders(tmp_path / "by", people(), ("sex",))
    for sex in "fm":
        (folder / f"sex={sex}").rename(folder / f"_sex={sex}")
    assert released(path, folder, tmp_path / "out")[0] == expected[0]


@pytest.mark.parametrize("inner", ["region=north", "%72egion=south"])
def test_folders_that_state_a_column_twice_are_refused(tmp_path, inner):
    rows, path = people(), spec(tmp_path, MECHANISMS["geometric"])
    folder = by_folders(tmp_path / "in", rows, ("region",))
    (folder / "region=north" / inner).mkdir()
    (folder / "region=north" / "part-0.parquet").rename(folder / "region=north" / inner / "part-0.parquet")
    assert "state one column twice" in wrong(path, folder, tmp_path / "out")


@pytest.mark.parametrize(
    ("folder", "told"),
    [
        ("region=nowhere", "part-0.parquet row 1, column region: is no category of the space (120 records"),
        ("region=__HIVE_DEFAULT_PARTITION__", "row 1, column region: is missing"),
        ("year=2026", "column=year: is no attribute of the space"),
        ("regions=north", "column=region: is missing from the table: did you mean regions?"),
    ],
)
def test_what_is_wrong_with_the_name_of_a_folder_is_told(tmp_path, folder, told):
    rows, path = people(), spec(tmp_path, MECHANISMS["geometric"])
    made = by_folders(tmp_path / "in", rows, ("region",))
    place = made / "region=south"
    if folder.startswith("year"):
        (made / folder).mkdir()
        for name in ("north", "south"):
            (made / f"region={name}").rename(made / folder / f"region={name}")
    else:
        place.rename(made / folder)
    assert told in wrong(path, made, tmp_path / "out")


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".arrow"])
def test_folders_may_state_all_columns_of_files_with_others(tmp_path, suffix):
    """The files have a name only, which is not used, and tells how many records there are."""
    path = spec(tmp_path, f'type = "geometric"\n{TINY}\nqueries = [{{ type = "marginal", attributes = ["sex", "age"] }}]')
    text = path.read_text(encoding="utf-8")
    path.write_text(f'{text}\n[table]\nunused = ["name"]\n', encoding="utf-8")
    for sex, names in (("f", ["a", "0", "c"]), ("m", ["d", "0"])):
        place = tmp_path / "in" / "region=north" / "county=n1" / "age=3" / f"sex={sex}"
        place.mkdir(parents=True)
        frame = pl.DataFrame({"name": names})
        write_to = {".csv": frame.write_csv, ".parquet": frame.write_parquet, ".arrow": frame.write_ipc}[suffix]
        write_to(place / f"part-0{suffix}")
    released(path, tmp_path / "in", tmp_path / "out")
    with (tmp_path / "out" / "released.csv").open(encoding="utf-8") as file:
        found = {(row["sex"], row["age"]): row["value"] for row in csv.DictReader(file)}
    assert {cell: value for cell, value in found.items() if value != "0"} == {("f", "3"): "3", ("m", "3"): "2"}


def of_two_attributes(tmp_path):
    """A specification with two attributes of the column `age`."""
    path = spec(tmp_path, f'type = "geometric"\n{TINY}\nqueries = [{{ type = "marginal", attributes = ["old", "age"] }}]')
    old = '{ name = "old", categories = ["no", "yes"], column = "age", recode = { "..2" = "no", "3.." = "yes" } }'
    text = path.read_text(encoding="utf-8").replace('  { name = "sex"', f'  {old},\n  {{ name = "sex"')
    path.write_text(text, encoding="utf-8")
    return path


def test_what_is_wrong_is_counted_for_each_attribute_of_a_column(tmp_path, monkeypatch):
    monkeypatch.setattr(formats, "BATCH", 7)
    monkeypatch.setattr(formats.Csv, "batches", uneven(monkeypatch, formats.Csv.batches))
    rows = [(*row[:2], "-1" if place % 50 == 3 else row[2], row[3]) for place, row in enumerate(people())]
    folder = tmp_path / "in"
    folder.mkdir()
    as_file(folder / "part.csv", rows)
    message = wrong(of_two_attributes(tmp_path), folder, tmp_path / "out")
    assert "part.csv row 4, column age: is no category of the space (8 records" in message
    assert "column old" not in message


def uneven(monkeypatch, read):
    """A reader whose batches have other sizes each time that a file is read, until the test ends.

    Two files that are read in step end in any order, so that a reader which put back what it found would leave what another set.
    """
    sizes = itertools.cycle([7, 5, 11])

    def batches(self, path, attributes):
        monkeypatch.setattr(formats, "BATCH", next(sizes))
        yield from read(self, path, attributes)

    return batches


def test_two_attributes_of_one_column_are_read_in_step(tmp_path, monkeypatch):
    monkeypatch.setattr(formats.Parquet, "batches", uneven(monkeypatch, formats.Parquet.batches))
    path, rows = of_two_attributes(tmp_path), people()
    released(path, partitioned(tmp_path / "in", rows, 3), tmp_path / "out")
    table = Counter((int(row[2]) > 2, row[2]) for row in rows)
    assert sorted(answers(tmp_path / "out")) == sorted(str(table[old, str(age)]) for age in range(5) for old in (False, True))


def test_a_folder_is_a_table_for_other_mechanisms_too(tmp_path):
    rows = people()
    path = spec(tmp_path, SWAP)
    as_file(tmp_path / "whole.parquet", rows)
    registry, options = installed().registry, engine.Options(unverified=True, seed=1)
    for name in ("whole.parquet", "in"):
        if name == "in":
            partitioned(tmp_path / "in", rows, 1)
        out = tmp_path / f"out-{name}"
        write(engine.draw(read(path), str(tmp_path / name), registry, out, options), registry, out)
    first, second = (tmp_path / f"out-{name}" / "released.parquet" for name in ("whole.parquet", "in"))
    assert first.read_bytes() == second.read_bytes()


def sent(thing):
    """What arrives in another process."""
    return pickle.loads(pickle.dumps(thing))  # noqa: S301 - written in the same expression


class Elsewhere(workers.Workers):
    """Two workers, to which kernels and results travel as bytes."""

    name = "elsewhere"
    parts = 2

    def map(self, kernel, parts):
        for part in parts:
            yield sent(sent(kernel)(sent(part)))


def counted_elsewhere(tmp_path, folder, *, change=None):
    path = spec(tmp_path, MECHANISMS["geometric"])
    document, registry, seen = read(path), installed().registry, []
    source = given_sources(str(folder), document, "person", registry)[0]
    wanted = engine.counts_wanted(document.mechanism, document.spec, "person", source.attributes)

    def told(rows):
        if change is not None and not seen:
            change()
        seen.append(rows)

    return count_cells(source, wanted, told, Elsewhere()), count_cells(source, wanted), seen


def test_partitions_that_workers_count_give_the_same_counts(tmp_path):
    rows = people()
    there, here, seen = counted_elsewhere(tmp_path, partitioned(tmp_path / "in", rows, 7, seed=1))
    assert seen[-1] == len(there) == len(here) == len(rows)
    assert len(seen) == 7
    for one, counts in here.found.items():
        assert np.array_equal(counts.every(), there.found[one].every())


def test_what_is_wrong_is_placed_as_without_workers(tmp_path):
    folder = partitioned(tmp_path / "in", people(), 3)
    for name in ("part-001.parquet", "part-002.parquet"):
        pl.read_parquet(folder / name).with_columns(pl.lit("secret").alias("sex")).write_parquet(folder / name)
    first, second = (len(people()[place::3]) for place in (1, 2))
    with pytest.raises(TableError, match=rf"part-001.parquet row 1, column sex: .* \({first + second} records") as caught:
        counted_elsewhere(tmp_path, folder)
    assert "secret" not in str(caught.value)


def test_a_worker_that_has_another_file_at_the_path_refuses_it(tmp_path, monkeypatch):
    """The driver sees no change: what is another is the file on the machine of the worker."""
    folder, counted = partitioned(tmp_path / "in", people(), 3), Elsewhere.map

    def elsewhere(self, kernel, parts):
        return counted(self, kernel, ({**part, "state": part["state"] + 1} for part in parts))

    monkeypatch.setattr(Elsewhere, "map", elsewhere)
    with pytest.raises(TableError, match="changed while it was read"):
        counted_elsewhere(tmp_path, folder)


def test_a_worker_refuses_a_partition_that_is_not_the_one_of_the_driver(tmp_path):
    folder = partitioned(tmp_path / "in", people(), 3)
    last = folder / "part-002.parquet"
    with pytest.raises(TableError, match="changed while it was read"):
        counted_elsewhere(tmp_path, folder, change=lambda: as_file(last, people(seed=4)))


# --- record by record -----------------------------------------------------------------------------


def local(mechanism):
    """A mechanism that releases each record by itself, in place of the one that counts."""
    text = SPEC.replace('type = "records"', 'type = "ordered-records"').replace("symmetric-difference", "hamming-ordered")
    return text.format(mechanism=mechanism, invariants=TOTAL)


TOTAL = '{ type = "marginal", attributes = [] }'
BITS = """\
schema = 1
id = "bits"
title = "Bits"
[space]
type = "bit-vectors"
length = 400
[multiverse]
type = "trivial"
[input_divergence]
type = "hamming-ordered"
[output_divergence]
type = "mult"
[budget]
epsilon = "inf"
[mechanism]
{mechanism}
"""
LOCAL = {
    "k-ary-response": local('type = "k-ary-response"\nattribute = "age"\nkeep_probability = "1/3"'),
    "irrational": local('type = "k-ary-response"\nattribute = "county"\nepsilon = 1'),
    "unary-encoding": local('type = "unary-encoding"\nattribute = "age"\nform = "symmetric"\nepsilon = "ln(81)"\nhashes = 2'),
    "hadamard-response": local('type = "hadamard-response"\nattribute = "age"\nepsilon = "ln(3)"'),
    "count-mean-sketch": local(
        'type = "count-mean-sketch"\nattribute = "age"\nepsilon = "ln(9)"\nwidth = 3\nhashes = [[0, 1], [1, 1, 1]]'
    ),
    "randomised-response": BITS.format(mechanism='type = "randomised-response"\nkeep_probability = "2/3"'),
    "lecture-randomised-response": BITS.format(mechanism='type = "lecture-randomised-response"'),
}


@pytest.fixture
def small_batches(monkeypatch):
    """Batches of 33 records and fewer, where a release has 400."""
    monkeypatch.setattr(batches, "MOST_RECORDS", 33)


def of_records(folder, name):
    """The file of a specification, the records of its table, and its columns."""
    path = folder / "noisy.dpspec.toml"
    path.write_text(LOCAL[name], encoding="utf-8")
    if "bit-vectors" not in LOCAL[name]:
        return path, people(), HEADER
    return path, [(str(age % 2),) for _, _, age, _ in ((*row[:2], int(row[2]), row[3]) for row in people())], ("bit",)


def in_parts(folder, rows, columns, parts, suffix):
    """The rows in the order of the files, some of which have few records or none."""
    folder.mkdir()
    cuts = sorted(random.Random(parts).choices(range(len(rows) + 1), k=parts - 1))
    for place, (start, end) in enumerate(itertools.pairwise([0, *cuts, len(rows)])):
        values = {name: [row[at] for row in rows[start:end]] for at, name in enumerate(columns)}
        frame = pl.DataFrame(values, schema=dict.fromkeys(columns, pl.String))
        file = folder / f"part-{place:03}{suffix}"
        {".csv": frame.write_csv, ".parquet": frame.write_parquet, ".arrow": frame.write_ipc}[suffix](file)
    return folder


@pytest.mark.parametrize("name", LOCAL)
@pytest.mark.spread(1, slow=1)
def test_records_are_released_as_of_the_whole_table(tmp_path, monkeypatch, small_batches, name):
    path, rows, columns = of_records(tmp_path, name)
    (only,) = in_parts(tmp_path / "one", rows, columns, 1, ".csv").iterdir()
    expected = released(path, only, tmp_path / "expected", whole=True)
    for parts, suffix in ((1, ".csv"), (7, ".parquet"), (200, ".csv")):
        monkeypatch.setattr(formats, "BATCH", {1: 1 << 18, 7: 13, 200: 50}[parts])
        folder = in_parts(tmp_path / f"in-{parts}", rows, columns, parts, suffix)
        assert expected == released(path, folder, tmp_path / f"out-{parts}")
    document = read(path)
    held = Table.from_records(rows, tuple(a for a in document.spec.space.attributes_of(document.spec.space.units[0])))
    alone = document.mechanism.release(held, document.spec.space, SeededRandomness(5))
    with (tmp_path / "expected" / "released.csv").open(encoding="utf-8") as file:
        header, *found = csv.reader(file)
    assert header == [a.name for a in alone.attributes]
    assert [tuple(row) for row in found] == [*alone.records()]


@pytest.mark.spread(1, slow=1)
@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
def test_files_of_records_do_not_depend_on_partitions(tmp_path, monkeypatch, small_batches, suffix):
    path, rows, columns = of_records(tmp_path, "count-mean-sketch")
    digests, sizes, write_batches = set(), [], formats.PolarsFormat.write_batches

    def written(self, attributes, given, file, notes):
        sizes.append([])
        write_batches(self, attributes, ((batch, sizes[-1].append(len(batch)))[0] for batch in given), file, notes)

    monkeypatch.setattr(formats.PolarsFormat, "write_batches", written)
    for parts in (1, 7, 200):
        folder = in_parts(tmp_path / f"in-{parts}", rows, columns, parts, ".parquet")
        released(path, folder, tmp_path / f"out-{parts}", suffix=suffix)
        digests.add(hashlib.sha256((tmp_path / f"out-{parts}" / f"released{suffix}").read_bytes()).hexdigest())
    assert len(digests) == 1
    assert sizes == [[33] * 12 + [4]] * 3  # larger files show it where they are others


def test_what_is_reported_of_records_is_what_a_loop_finds(tmp_path, small_batches):
    path, rows, columns = of_records(tmp_path, "k-ary-response")
    _, report, utility = released(path, in_parts(tmp_path / "in", rows, columns, 7, ".csv"), tmp_path / "out")
    assert report["records"] == 400
    assert report["invariants"] == [{"invariant": "person total", "cells": 1, "held": True}]
    assert report["kept"] == [{"kept": "the number of records", "records": 400}]
    true = Counter(row[2] for row in rows)
    with (tmp_path / "out" / "released.csv").open(encoding="utf-8") as file:
        found = Counter(row[0] for row in [*csv.reader(file)][1:])
    (distance,) = utility["tables"]
    assert distance["attributes"] == ("age",)
    assert distance["largest_error"] == max(abs(true[age] - found[age]) for age in map(str, range(5))) > 0


class Places(PlacedRandomness):
    """Randomness by place that refuses to give a word twice."""

    fit_for_publication = False

    def __init__(self):
        self.source, self.seen = SeededRandomness(1).placed(), set()

    def words_at(self, stream, places):
        asked = {(stream, int(place)) for place in places}
        assert len(asked) == len(places)
        assert self.seen.isdisjoint(asked)
        self.seen |= asked
        return self.source.words_at(stream, places)

    def spawn(self, *path):
        raise AssertionError


@pytest.mark.parametrize("name", LOCAL)
def test_no_word_is_used_twice(tmp_path, name):
    """Two draws from one word would depend on each other."""
    path, rows, _ = of_records(tmp_path, name)
    document, source = read(path), Places()
    space = document.spec.space
    for first in (0, 150):
        batch = Table.from_records(rows[first : first + 150], space.attributes_of(space.units[0]))
        document.mechanism.release_batch(batch, first, space, source)
    assert source.seen


def test_a_class_with_a_release_of_its_own_is_not_released_in_batches():
    class Other(KAryResponse):
        def release(self, table, space, source):
            return super().release(table, space, source)

    class Reporting(KAryResponse):
        def run(self, table, space, run):
            return super().run(table, space, run)

    class StatesBoth(KAryResponse):
        def run(self, table, space, run):
            return super().run(table, space, run)

        def release_batch(self, batch, first, space, source):
            return super().release_batch(batch, first, space, source)

    class InStages(KAryResponse):
        resumable = True

    made = [cls(keep_probability="1/3") for cls in (KAryResponse, Other, Reporting, StatesBoth, InStages)]
    assert [releases_records(one) for one in made] == [True, False, False, False, False]


def test_a_table_that_changes_between_checking_and_drawing_is_refused(tmp_path, small_batches):
    path, rows, columns = of_records(tmp_path, "k-ary-response")
    folder = in_parts(tmp_path / "in", rows, columns, 3, ".parquet")

    def meanwhile(stage):
        if stage == "drawing":
            os.utime(folder / "part-000.parquet", ns=(1, 1))

    assert "changed while it was read" in wrong(path, folder, tmp_path / "out", stage=meanwhile)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda made: made.slice(1, len(made)), "one record for each"),
        (lambda made: None, "must return a Table"),
        (lambda made: 1 // 0, "raised ZeroDivisionError"),
    ],
)
def test_a_batch_that_is_no_release_of_its_records_is_refused(tmp_path, monkeypatch, small_batches, change, told):
    path, rows, columns = of_records(tmp_path, "k-ary-response")
    folder, drawn = in_parts(tmp_path / "in", rows, columns, 3, ".csv"), KAryResponse.drawn
    monkeypatch.setattr(KAryResponse, "drawn", lambda *given: change(drawn(*given)) if len(given[1]) else drawn(*given))
    assert told in wrong(path, folder, tmp_path / "out")


def test_a_batch_that_changes_what_is_kept_is_refused(tmp_path, monkeypatch, small_batches):
    path, rows, columns = of_records(tmp_path, "randomised-response")
    monkeypatch.setattr(RandomisedResponse, "keeps", lambda *_: (Kept(attributes=("bit",), in_order=True),), raising=False)
    message = wrong(path, in_parts(tmp_path / "in", rows, columns, 3, ".csv"), tmp_path / "out")
    assert "does not keep records by bit, in order" in message


@pytest.mark.parametrize("change", [lambda text: text.replace("1", "2", 1), lambda text: text + "0\n", lambda text: text[:-2]])
def test_records_that_are_not_read_back_are_refused(tmp_path, monkeypatch, small_batches, change):
    path, rows, columns = of_records(tmp_path, "k-ary-response")
    folder, write_batches = in_parts(tmp_path / "in", rows, columns, 3, ".csv"), formats.Csv.write_batches

    def written(self, attributes, given, file, notes):
        write_batches(self, attributes, given, file, notes)
        file.write_text(change(file.read_text()))

    monkeypatch.setattr(formats.Csv, "write_batches", written)
    assert "does not read what it has written" in wrong(path, folder, tmp_path / "out")


def test_batches_that_do_not_fit_are_refused_before_anything_is_read(tmp_path, monkeypatch):
    path, rows, columns = of_records(tmp_path, "unary-encoding")
    folder = in_parts(tmp_path / "in", rows, columns, 3, ".csv")
    monkeypatch.setattr(formats.PolarsFormat, "batches", lambda *_: pytest.fail("a partition was read"))
    assert "its batches take at least" in wrong(path, folder, tmp_path / "out", memory=engine.MEMORY_OF_PROCESS + 10)


@pytest.mark.parametrize("spoil", ["other columns", "no files", "another kind of file", "a bad value in the last file"])
def test_what_is_wrong_with_records_is_told_in_one_line(tmp_path, small_batches, spoil):
    path, rows, columns = of_records(tmp_path, "k-ary-response")
    folder = in_parts(tmp_path / "in", rows, columns, 3, ".csv")
    if spoil == "other columns":
        (folder / "part-001.csv").write_text("sex\nf\n")
    elif spoil == "no files":
        for file in folder.iterdir():
            file.unlink()
    elif spoil == "another kind of file":
        (folder / "notes.txt").touch()
    else:
        with (folder / "part-002.csv").open("a") as file:
            file.write("north,n1,secret,f\n")
    with pytest.raises(DpspecError) as caught:
        released(path, folder, tmp_path / "out")
    assert caught.value.exit_code == 2
    assert "secret" not in str(caught.value)
    assert not (tmp_path / "out").exists()
    assert not (tmp_path / "out.confidential").exists()


# --- which mechanisms -----------------------------------------------------------------------------


class ReadsRecords(Geometric):
    """A class that changes what a release reads, and does not say so."""

    def release(self, table, space, source):
        return super().release(table.rows(table.codes["sex"] == 0), space, source)


def test_a_class_with_a_release_of_its_own_states_its_counts_for_itself(tmp_path):
    space = read(spec(tmp_path, MECHANISMS["geometric"])).spec.space
    queries = (Marginal(attributes=("sex",)),)
    wanted = [counts_read(cls(queries=queries, ratio="1/2"), space.attributes, space) for cls in (Geometric, ReadsRecords)]
    assert wanted == [queries, None]


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_release_reads_no_other_counts_than_are_stated(tmp_path, name):
    document = read(spec(tmp_path, MECHANISMS[name]))
    space, mechanism = document.spec.space, document.mechanism
    table = Table.from_records(people(), space.attributes)
    stated = counts_read(mechanism, table.attributes, space)
    found = {wanted: table.cells(*wanted) for wanted in cells_wanted(stated)}
    counted = CountedTable(attributes=table.attributes, records=len(table), found=found)
    first, second = (mechanism.run(given, space, workers.Run(source=SeededRandomness(2))) for given in (table, counted))
    assert {name: [*made.records()] for name, made in first.tables.items()} == {
        name: [*made.records()] for name, made in second.tables.items()
    }


def test_a_query_that_is_read_record_by_record_needs_the_table(tmp_path):
    space = read(spec(tmp_path, MECHANISMS["geometric"])).spec.space
    known = Geometric(queries=(Marginal(attributes=("sex",)), Marginal(attributes=("age",), unit="household")), ratio="1/2")
    assert counts_read(known, space.attributes, space) is None


def test_what_was_not_stated_is_not_read(tmp_path):
    space = read(spec(tmp_path, MECHANISMS["geometric"])).spec.space
    counted = CountedTable(attributes=space.attributes, records=3, found={})
    with pytest.raises(TableError, match="not among the counts that the mechanism says it reads"):
        counted.meeting([("sex", ["f"])]).cells(["age"])
    assert not isinstance(counted, Table)
    assert not hasattr(counted, "codes")


def test_a_mechanism_that_reads_more_than_it_states_ends_with_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr(Geometric, "counts_read", lambda self, attributes, space: (), raising=False)
    path = spec(tmp_path, MECHANISMS["geometric"])
    with pytest.raises((TableError, PluginContractError)):
        released(path, partitioned(tmp_path / "in", people(), 2), tmp_path / "out")
    assert not (tmp_path / "out").exists()


# --- bad input ------------------------------------------------------------------------------------


def wrong(path, table, out, **options):
    with pytest.raises(DpspecError) as caught:
        released(path, table, out, **options)
    assert not out.exists()
    assert not out.with_name("out.confidential").exists()
    return str(caught.value)


def test_a_partition_with_other_columns_is_named_before_anything_is_read(tmp_path, monkeypatch):
    path, folder = spec(tmp_path, MECHANISMS["geometric"]), partitioned(tmp_path / "in", people(), 3)
    as_file(folder / "part-001.parquet", people(), HEADER[:3])
    monkeypatch.setattr(formats.PolarsFormat, "batches", lambda *_: pytest.fail("a partition was read"))
    assert "part-001.parquet column=sex: is missing from the table" in wrong(path, folder, tmp_path / "out")


def test_an_unknown_column_of_a_partition_is_refused(tmp_path):
    path, folder = spec(tmp_path, MECHANISMS["geometric"]), partitioned(tmp_path / "in", people(), 3)
    last = folder / "part-002.parquet"
    pl.read_parquet(last).with_columns(pl.lit("secret").alias("name")).write_parquet(last)
    message = wrong(path, folder, tmp_path / "out")
    assert "part-002.parquet column=name: is no attribute of the space" in message
    assert "secret" not in message


@pytest.mark.parametrize(
    ("column", "value", "rule"),
    [
        ("sex", "secret", "is no category"),
        ("age", "77", "is no category"),
        ("age", None, "is missing"),
        ("county", "s1", "does not lie in"),
    ],
)
def test_a_value_that_does_not_fit_is_placed_and_not_told(tmp_path, column, value, rule):
    path, folder = spec(tmp_path, MECHANISMS["geometric"]), partitioned(tmp_path / "in", people(), 3)
    for place, row in ((1, 4), (2, 0)):
        file = folder / f"part-00{place}.parquet"
        frame = pl.read_parquet(file).with_row_index("row")
        fault = pl.when(pl.col("row") == row).then(pl.lit(value, dtype=pl.String)).otherwise(pl.col(column)).alias(column)
        region = pl.when(pl.col("row") == row).then(pl.lit("north")).otherwise(pl.col("region")).alias("region")
        frame.with_columns(fault, *([region] if rule.startswith("does") else [])).drop("row").write_parquet(file)
    message = wrong(path, folder, tmp_path / "out")
    assert f"part-001.parquet row 5, column {column}: {rule}" in message
    assert "(2 records" in message
    assert all(hidden not in message for hidden in ("secret", "77"))


@pytest.mark.parametrize(
    ("names", "told"),
    [
        ([], "holds no tables"),
        (["_SUCCESS"], "holds no tables"),
        (["part-000.parquet", "notes.txt"], "in=notes.txt: holds a file that is no table"),
        (["part-000.parquet", "part-001.csv"], "holds tables of several formats"),
    ],
)
def test_a_folder_that_is_no_table_is_refused(tmp_path, names, told):
    folder = tmp_path / "in"
    folder.mkdir()
    for name in names:
        as_file(folder / name, people(9)) if name.startswith("part") else (folder / name).touch()
    assert told in wrong(spec(tmp_path, MECHANISMS["geometric"]), folder, tmp_path / "out")


def test_partitions_without_records_are_refused(tmp_path):
    folder = partitioned(tmp_path / "in", [], 2)
    assert "has no records" in wrong(spec(tmp_path, MECHANISMS["geometric"]), folder, tmp_path / "out")


@pytest.mark.parametrize("change", ["written", "added", "removed"])
def test_a_table_that_changes_while_it_is_read_is_refused(tmp_path, change):
    path, folder = spec(tmp_path, MECHANISMS["geometric"]), partitioned(tmp_path / "in", people(), 3)
    changed = []

    def meanwhile(rows, _):
        if not changed:
            changed.append(rows)
            if change == "written":
                as_file(folder / "part-000.parquet", people(seed=4))
                os.utime(folder / "part-000.parquet", ns=(1, 1))
            elif change == "added":
                as_file(folder / "part-009.parquet", people(seed=4))
            else:
                (folder / "part-000.parquet").unlink()

    message = wrong(path, folder, tmp_path / "out", progress=meanwhile)
    assert changed
    assert ("cannot be read" if change == "removed" else "changed while it was read") in message


# --- memory ---------------------------------------------------------------------------------------


def test_a_whole_table_that_does_not_fit_is_refused_before_it_is_read(tmp_path, monkeypatch):
    path = spec(tmp_path, TOP)
    as_file(tmp_path / "in.parquet", people())
    monkeypatch.setattr(engine, "given_table", lambda *_: pytest.fail("the table was read"))
    options, registry = engine.Options(memory=200_000_000, unverified=True), installed().registry
    with pytest.raises(ReleaseError) as caught:
        engine.draw(read(path), str(tmp_path / "in.parquet"), registry, tmp_path / "out", options)
    refused = "--memory: is 200 MB, and the mechanism top-coding holds the whole table, which takes at least 251 MB: "
    assert str(caught.value).startswith(f"{refused}give --memory 251MB or more, or ")
    assert not (tmp_path / "out").exists()


def test_a_table_of_unknown_size_is_refused_while_it_is_read(tmp_path, monkeypatch):
    path, registry = spec(tmp_path, TOP), installed().registry
    as_file(tmp_path / "in.csv", people())
    monkeypatch.setattr(formats, "BATCH", 50)
    read_so_far = []
    memory = engine.MEMORY_OF_PROCESS + 175 * 4
    options = engine.Options(memory=memory, unverified=True, progress=lambda rows, _: read_so_far.append(rows))
    with pytest.raises(ReleaseError, match="holds the whole table"):
        engine.draw(read(path), str(tmp_path / "in.csv"), registry, tmp_path / "out", options)
    assert 0 < read_so_far[-1] <= 175
    assert not (tmp_path / "out").exists()


def test_what_fits_is_released(tmp_path):
    path, registry = spec(tmp_path, TOP), installed().registry
    as_file(tmp_path / "in.parquet", people())
    options = engine.Options(memory=engine.MEMORY_OF_PROCESS + 400 * 4, unverified=True, seed=1)  # four columns of one byte
    assert len(engine.draw(read(path), str(tmp_path / "in.parquet"), registry, tmp_path / "out", options).given) == 400


def test_counts_need_memory_for_their_cells_alone(tmp_path):
    path, folder = spec(tmp_path, MECHANISMS["threshold"]), partitioned(tmp_path / "in", people(), 2)
    cells = 8 * 5 * 3  # bytes of the counts, and three times as many of noisy numbers
    assert "its counts take at least" in wrong(path, folder, tmp_path / "out", memory=engine.MEMORY_OF_PROCESS + cells - 1)
    released(path, folder, tmp_path / "out", memory=engine.MEMORY_OF_PROCESS + 5 * cells)


def test_noisy_numbers_need_memory_as_well(tmp_path):
    queries = f'{COUNTY}, {{ type = "marginal", attributes = ["age"] }}'
    path = spec(tmp_path, f'type = "geometric"\nratio = "1/2"\nqueries = [{queries}]')
    folder, least = partitioned(tmp_path / "in", people(), 2), engine.MEMORY_OF_PROCESS + (3 + 5) * 24
    assert "its counts take at least" in wrong(path, folder, tmp_path / "out", memory=least)
    released(path, folder, tmp_path / "out", memory=least + 8 * (3 + 5 + 100))
