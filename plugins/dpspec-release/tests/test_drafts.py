"""`dpspec new spec --from TABLE`: the file passes check, runs on its table, and says what was read off the data."""

import itertools
import json
import random
import re

import polars as pl
import pytest
from click.testing import CliRunner
from dpspec_release import drafts

from dpspec.cli import main
from dpspec.extension import installed
from dpspec.specfile import read, to_toml
from dpspec.specfile.reader import read_text
from dpspec.specfile.table_input import formats_of

GEOGRAPHY = "county,tract,block,age\n" + "".join(
    f"C{t // 4},T{t},B{t}{b},{(7 * t + 5 * b + k) % 90}\n" for t in range(8) for b in range(3) for k in range(20)
)


def begin(run, folder, table, *options, name="drafted"):
    done = run("new", "spec", name, "--from", table, "--dir", folder, *options)
    assert done.code == 0, done
    return folder / f"{name}.dpspec.toml", done


def written(folder, text, name="table.csv"):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def released(run, spec, table, out, *options):
    done = run("release", spec, table, "--out", out, *options, "--format", "json")
    assert done.code == 0, done
    return done.json("release")


MESSY = (
    " record, sex, age, income, town, note\n"
    + "".join(
        f"{1000 + i}, {'mf'[i % 2]}, {i % 90}, {i * 317.5 % 99000}, {'NSEW'[i % 4]},{'' if i % 3 else ' x'}\n" for i in range(400)
    )
)  # fmt: skip


def test_a_messy_table_becomes_a_file_that_runs_on_it(run, tmp_path):
    table = written(tmp_path, MESSY)
    spec, done = begin(run, tmp_path, table, "--no-ask")
    assert run("check", spec).code == 0
    document = read(spec, installed().registry)
    names = {a.name: a for a in document.spec.space.attributes_of("person")}
    assert names["sex"].column == " sex"
    assert names["age"].count == 90
    assert names["income"].band("317.5") is not None
    assert names["note"].categories == ("x", "not stated")
    assert "column ' record' is left out: it is different in each record" in done.out
    assert document.layout.strip
    assert document.layout.unused == (" record",)
    assert released(run, spec, table, tmp_path / "out")["released"]
    assert run("verify", spec).code == 0


def test_the_file_says_what_was_read_off_the_data(run, tmp_path):
    spec, done = begin(run, tmp_path, written(tmp_path, GEOGRAPHY), "--no-ask")
    assert "READ OFF THE TABLE" in spec.read_text(encoding="utf-8")
    assert "warning: the categories of 4 attributes were read off the table" in done.out
    found = run("lint", spec, "--format", "json").json("lint")["findings"]
    assert [one["code"] for one in found] == ["observed-categories"]
    lines = spec.read_text(encoding="utf-8").splitlines()
    assert lines[found[0]["line"] - 1].startswith("observed = ")


def test_an_empty_line_is_told(run, tmp_path):
    _, done = begin(run, tmp_path, written(tmp_path, "a,b\n1,2\n2,2\n\n", "survey.data"), "--no-ask")
    assert "in up to 1 record nothing stands at all" in done.out


def test_a_codebook_gives_nothing_away(run, tmp_path):
    table = written(tmp_path, "sex,age\n1,3\n2,44\n1,71\n")
    rows = "column,value,label\nsex,1,male\nsex,2,female\nage,..17,minor\nage,18..64,adult\nage,65..,old\n"
    spec, done = begin(run, tmp_path, table, "--codebook", written(tmp_path, rows, "codes.csv"))
    assert "read off" not in done.out
    assert "READ OFF" not in spec.read_text(encoding="utf-8")
    assert run("lint", spec).code == 0
    document = read(spec, installed().registry)
    formats = formats_of(installed().registry)
    from dpspec.grammar.table_files import read_table

    found = read_table(table, document.spec.space.attributes, formats, layout=document.layout)
    assert list(found.records()) == [("male", "minor"), ("female", "adult"), ("male", "old")]


def test_a_comment_of_the_file_has_no_count_of_the_table(run, tmp_path):
    """With a codebook for all attributes nothing was marked, but the file had the numbers of texts and records of a column."""
    rows = "".join(f"f,{n % 83}\n" if n % 7 == 0 else f"m,text {n % 83}\n" for n in range(581))
    codes = written(tmp_path, "column,value,label\nsex,f,female\nsex,m,male\n", "codes.csv")
    spec, done = begin(run, tmp_path, written(tmp_path, "sex,note\n" + rows), "--codebook", codes)
    assert "READ OFF" not in spec.read_text(encoding="utf-8")
    for text in (spec.read_text(encoding="utf-8"), done.out):
        assert "holds more than 60 different texts, and numbers: declare them in a codebook" in text
        assert not {"166", "83", "581"} & {*re.findall(r"\d+", text)}


def test_a_nesting_that_was_found_is_marked_as_read_off_the_table(run, tmp_path):
    """The codebook says nothing of it, and the comment was neither marked nor warned about."""
    codes = "column,value\n" + "".join(f"tract,T{t}\n" for t in range(8)) + "county,C0\ncounty,C1\n"
    codes += "age,0..\n" + "".join(f"block,B{t}{b}\n" for t in range(8) for b in range(3))
    table = written(tmp_path, GEOGRAPHY)
    spec, done = begin(run, tmp_path, table, "--codebook", written(tmp_path, codes, "codes.csv"), "--no-ask")
    text = spec.read_text(encoding="utf-8")
    assert "# READ OFF THE TABLE: each tract lies in one county of it" in text
    assert "which attribute lies in which was READ OFF THE TABLE" in text
    assert "comments of the file state 2 nestings of attributes, read off the table" in done.out
    assert "observed" not in text


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("column,value\nsec,1\n", "codebook=sec: names no column of the table: did you mean sex"),
        ("column,value\nsex,1\nsex,1\n", ": names a value of sex twice"),
        ("a,b\n1,2\n", "line 2: is no line of a codebook"),
        ("", "is empty"),
        ("column,value,label\nsex,0..9,low\nsex,5..,high\n", "recodes two ranges that overlap"),
    ],
)
def test_a_codebook_that_is_none(run, tmp_path, rows, said):
    table = written(tmp_path, "sex,age\n1,3\n2,44\n1,71\n")
    done = run("new", "spec", "--from", table, "--codebook", written(tmp_path, rows, "codes.csv"), "--dir", tmp_path)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert said in done.err


# --- nesting --------------------------------------------------------------------------------------


def answered(folder, table, answers, *options):
    arguments = ["new", "spec", "drafted", "--from", str(table), "--dir", str(folder), *options]
    done = CliRunner().invoke(main, arguments, input=answers)
    assert done.exit_code == 0, done.stderr
    attributes = read(folder / "drafted.dpspec.toml", installed().registry).spec.space.attributes_of("person")
    return {a.name: a.within for a in attributes if a.within}, done.stderr


@pytest.mark.parametrize(
    ("answers", "nested"),
    [
        ("y\ny\n", {"tract": "county", "block": "tract"}),
        ("n\nyes\n", {"block": "tract"}),
        ("\nmaybe\nY\n", {"block": "tract"}),
        ("n\n?\n?\n?\n", {}),
    ],
)
def test_what_looks_nested_is_asked_about(tmp_path, answers, nested):
    found, said = answered(tmp_path, written(tmp_path, GEOGRAPHY), answers)
    assert found == nested
    assert said.count("Each tract lies in one county") == 1
    assert "block lies in one county" not in said  # it follows


@pytest.mark.parametrize(("answers", "nested", "left"), [("", {}, 2), ("y\n", {"tract": "county"}, 1)])
def test_the_end_of_the_input_leaves_the_rest_as_comments(tmp_path, answers, nested, left):
    found, said = answered(tmp_path, written(tmp_path, GEOGRAPHY), answers)
    assert found == nested
    assert f"no answer: {left} nestings" in said
    assert "where that is so by definition" in (tmp_path / "drafted.dpspec.toml").read_text(encoding="utf-8")


def test_nesting_by_options_asks_nothing(tmp_path):
    found, said = answered(
        tmp_path, written(tmp_path, GEOGRAPHY), "", "--no-ask", "--within", "block=tract", "--within", "tract=county"
    )
    assert found == {"block": "tract", "tract": "county"}
    assert "?" not in said


@pytest.mark.parametrize(
    ("within", "said"),
    [
        ("tract=block", "do not each occur and lie in one block"),
        ("tract=tract", "do not each occur"),
        ("tact=county", "did you mean tract"),
        ("tract", "must be FINER=COARSER"),
    ],
)
def test_a_nesting_that_is_none(run, tmp_path, within, said):
    done = run("new", "spec", "--from", written(tmp_path, GEOGRAPHY), "--within", within, "--dir", tmp_path)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert said in done.err


def test_an_accident_of_few_records_is_not_asked_about(tmp_path):
    found, said = answered(tmp_path, written(tmp_path, "a,b\n1,x\n2,x\n3,y\n"), "")
    assert (found, "lies in one" in said) == ({}, False)


# --- bad tables -----------------------------------------------------------------------------------


BAD = {
    "empty": ("", "is empty"),
    "header": ("a,b\n", "has no records"),
    "twice": ("a,b,a\n1,2,3\n", "column 3: has a name that stands twice"),
    "nameless": ("a,,\n1,2,3\n", "several columns without a name"),
    "wide": (",".join(map(str, range(10_000))) + "\n" + ",".join("1" * 10_000) + "\n", "has 10,000 columns"),
    "texts": ("a,b\n" + "".join(f"x{i},y{i}\n" for i in range(200)), "no column that can be an attribute"),
    "record": ("17,F,3.5\n18,M,4\n19,F,5\n", "its first line looks like a record"),
    "binary": ("\x00\x01,\x02\n\x03", "its first line holds bytes of 0"),
    "workbook": ("PK\x03\x04\x14,\n", "a workbook or another archive"),
    "nothing": ("\n\n", "is empty"),
    "semicolons": ("sex;income\nf;1,5\nm;2,5\n", "semicolons stand between its columns"),
    "tabs": ("sex\tage\nf\t1\n", "tabs stand between its columns"),
    "returns": ("sex,age\rf,1\rm,2\r", "a carriage return alone ends its lines"),
    "latin-1": ("stadt,k\nBonn,1\nKöln,2\n".encode("latin-1"), "line 3 is no text in UTF-8"),
    "utf-16": ("stadt,k\nKöln,1\n".encode("utf-16"), "it is text in UTF-16"),
    "ragged": ("a,b\n1,2\n1\n1,2,3\n", "3 values stand in line 4, and the first line names 2"),
    "quote": ('a,b\n1,2\n"1,2\n', "a quotation mark in line 3 or before it is not closed"),
    "blank name": ("a, b, b\n1,2,3\n", "column 3: has a name that stands twice"),
    "noise": (random.Random(1).randbytes(4000), "cannot be read"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_table_that_is_none_is_one_line(run, tmp_path, name):
    content, said = BAD[name]
    (tmp_path / "table.csv").write_bytes(content if isinstance(content, bytes) else content.encode())
    before = set(tmp_path.iterdir())
    done = run("new", "spec", "--from", tmp_path / "table.csv", "--dir", tmp_path)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1), done
    assert said in done.err
    assert set(tmp_path.iterdir()) == before


GOOD = {
    "with a byte order mark": ("\ufeffsex,age\n" + "f,1\nm,2\n" * 40, {"sex", "age"}),
    "with a semicolon in its one name": ("a;b\n" + "x\ny\n" * 40, {"a;b"}),
    "with the line ends of Windows": ("sex,age\r\n" + "f,1\r\nm,2\r\n" * 40, {"sex", "age"}),
    "of one category": ("sex,age\n" + "f,1\n" * 80, {"sex", "age"}),
    "with a line break in a name": ('"a\nb",k\n' + "f,1\nm,2\n" * 40, {"a\nb", "k"}),
    "with bytes of 0 in values": ("a,b\n" + "x\0,1\ny,2\n" * 40, {"a", "b"}),
}


@pytest.mark.parametrize("name", GOOD)
def test_a_table_that_is_odd_is_read_and_released(run, tmp_path, name):
    content, columns = GOOD[name]
    table = tmp_path / "table.csv"
    table.write_bytes(content.encode())
    spec, _ = begin(run, tmp_path, table, "--no-ask")
    assert {a.source for a in read(spec, installed().registry).spec.space.attributes_of("person")} == columns
    assert released(run, spec, table, tmp_path / "out")


def test_decimal_commas_are_told(run, tmp_path):
    rows = "".join(f'{"mf"[i % 2]},"{13 * i},{i % 10}"\n' for i in range(200))
    _, done = begin(run, tmp_path, written(tmp_path, "sex,income\n" + rows), "--no-ask")
    assert "column 'income' is left out: it holds numbers with a decimal comma" in done.out


def test_columns_that_say_the_same_are_one_line(run, tmp_path):
    names = [f"c {i}" for i in range(30)]
    table = written(
        tmp_path, ",".join([*names, "k"]) + "\n" + "".join(f"{','.join('ab'[i % 2] * 30)},{i % 5}\n" for i in range(100))
    )
    _, done = begin(run, tmp_path, table, "--no-ask")
    assert done.out.count("say the same of every record") == 1
    assert "warning: 'c 0', 'c 1', 'c 2' and 27 more say the same of every record" in done.out


def test_names_with_blanks_stand_in_quotes(run, tmp_path):
    table = written(tmp_path, "age, work class\n" + "".join(f"{i % 90}, {'xy'[i % 2]}\n" for i in range(200)))
    done = run("new", "spec", "--from", table, "--dir", tmp_path, "--column", " work clas")
    assert done.err == "column=' work clas': is not in the table: did you mean ' work class'?\n"
    spec, _ = begin(run, tmp_path, table, "--no-ask")
    spec.write_text(spec.read_text(encoding="utf-8").replace('"y"', '"z"'), encoding="utf-8")
    done = run("release", spec, table, "--out", tmp_path / "out")
    assert "table.csv row 2, column 'work class': is no category of the space" in done.err


def test_some_columns_of_many_are_taken(run, tmp_path):
    names = ",".join(f"c{i}" for i in range(1000))
    table = written(tmp_path, names + "\n" + "\n".join(",".join(str(i % 2) for i in range(j, j + 1000)) for j in range(9)))
    spec, _ = begin(run, tmp_path, table, "--column", "c7", "--column", "c9", "--no-ask")
    document = read(spec, installed().registry)
    assert [a.name for a in document.spec.space.attributes_of("person")] == ["c7", "c9"]
    assert released(run, spec, table, tmp_path / "out")


SCRIPTS = [
    "名前",
    "возраст",
    "عمر",
    "नाम",
    "\U0001f600",
    "a\u202eb",
    'O\'Neil "x"',
    "tab\tname",
    "=1+1",
    "members",
    "k=v",
    "#",
    " ",
]


def test_names_in_all_scripts(run, tmp_path):
    frame = pl.DataFrame({name: [f"{name}{i % 2}" for i in range(40)] for name in SCRIPTS})
    frame.write_parquet(tmp_path / "table.parquet")
    spec, done = begin(run, tmp_path, tmp_path / "table.parquet", "--no-ask")
    assert "\u202e" not in done.out
    assert run("check", spec).code == 0
    document = read(spec, installed().registry)
    assert document.layout.unused == (" ",)
    assert {a.source for a in document.spec.space.attributes_of("person")} == {*SCRIPTS} - {" "}
    assert released(run, spec, tmp_path / "table.parquet", tmp_path / "out")


def test_numbers_that_no_double_holds_are_left_out(run, tmp_path):
    rows = [f"{9 * 10**18 + i // 2},{i % 3}" for i in range(400)]
    spec, done = begin(run, tmp_path, written(tmp_path, "\n".join(["big,k", *rows])), "--no-ask")
    assert "'big' is left out: it holds numbers of more than 15 digits" in done.out
    assert run("check", spec).code == 0


def test_types_of_every_kind(run, tmp_path):
    n = 300
    frame = pl.DataFrame({
        "flag": [bool(i % 2) for i in range(n)],
        "when": pl.Series([20_000 + i % 5 for i in range(n)]).cast(pl.Date),
        "list": [[1] for _ in range(n)],
        "real": [i / 7 for i in range(n)],
        "odd": [float("nan") if i % 9 == 0 else 1.5 for i in range(n)],
        "none": [None] * n,
        "bytes": [b"x"] * n,
        "small": pl.Series([i % 3 for i in range(n)], dtype=pl.UInt8),
        "cat": pl.Series(["ab"[i % 2] for i in range(n)]).cast(pl.Categorical),
        "mixed": ["1" if i % 2 else "one" for i in range(n)],
        "below": [-5 * (i // 2) for i in range(n)],
    })  # fmt: skip
    for suffix, write in ((".parquet", frame.write_parquet), (".arrow", frame.write_ipc)):
        write(tmp_path / f"t{suffix}")
        spec, _ = begin(run, tmp_path, tmp_path / f"t{suffix}", "--no-ask", name=f"of-{suffix[1:]}")
        names = {a.name: a for a in read(spec, installed().registry).spec.space.attributes_of("person")}
        assert names.keys() == {"flag", "when", "real", "odd", "small", "cat", "mixed", "below"}
        assert released(run, spec, tmp_path / f"t{suffix}", tmp_path / f"out{suffix}")


@pytest.mark.slow
def test_many_values_are_counted_and_not_listed(run, tmp_path):
    """A column with as many values as there are records is looked at by the library; nothing of it is in the file."""
    draw = random.Random(1)
    n = 50_000
    frame = pl.DataFrame(
        {"text": [f"{draw.random()}x" for _ in range(n)], "real": [draw.random() for _ in range(n)], "k": [0, 1] * (n // 2)}
    )
    frame.write_parquet(tmp_path / "t.parquet")
    spec, done = begin(run, tmp_path, tmp_path / "t.parquet", "--no-ask")
    assert "'text' is left out" in done.out
    assert spec.stat().st_size < 4000
    assert released(run, spec, tmp_path / "t.parquet", tmp_path / "out")


# --- the draft ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("low", "high", "whole"), [(0, 420500, True), (-300, 5, True), (0.001, 0.002, False), (7, 7.5, False), (-1e9, 1e12, True)]
)
def test_bands_cover_every_number_once(low, high, whole):
    """Independent of the bands: the range of a number is found by comparing it with the names of the bands."""
    bands = drafts._bands(low, high, whole=whole)
    assert 2 <= len(bands) <= 14
    from dpspec.blocks.space import Attribute

    attribute = Attribute(name="x", categories=tuple(bands.values()), recode=bands)
    draw = random.Random(2)
    values = [low, high, *(low + (high - low) * draw.random() * 1.5 - (high - low) / 4 for _ in range(200))]
    for value in (round(v) if whole else v for v in values):
        name = attribute.band(format(value, "f"))
        assert name is not None
        words = name.split()
        if words[0] == "below":
            assert value < float(words[1])
        elif words[-1] == "more":
            assert float(words[0]) <= value
        else:
            assert float(words[0]) <= value
            assert value <= float(words[-1]) if whole else value < float(words[-1])


def test_without_a_name_it_is_called_after_the_table(run, tmp_path):
    table = written(tmp_path, "a\n1\n2\n", "Données 2011_x.csv")
    done = run("new", "spec", "--from", table, "--dir", tmp_path, "--format", "json")
    data = done.json("new")
    assert data["written"] == [str(tmp_path / "donnees-2011-x.dpspec.toml")]
    assert len(data["warnings"]) == 1
    schema = json.loads((tmp_path / ".dpspec" / "spec-1.schema.json").read_text(encoding="utf-8"))
    assert schema["$schema"].startswith("https://json-schema.org/")
    assert (
        (tmp_path / "donnees-2011-x.dpspec.toml")
        .read_text(encoding="utf-8")
        .startswith("#:schema ./.dpspec/spec-1.schema.json\n")
    )


def test_options_without_a_table_are_refused(run, tmp_path):
    assert run("new", "spec", "--dir", tmp_path).code == 2
    assert run("new", "spec", "x", "--column", "a", "--dir", tmp_path).code == 2


# --- the map in the file --------------------------------------------------------------------------

MAPPED = """\
schema = 1
id = "mapped"
title = "A table under other names"
[space]
type = "records"
most = 9
[[space.attributes]]
name = "sex"
column = "SEX"
categories = ["male", "female"]
recode = { "1" = "male", "2" = "female", "" = "female" }
[[space.attributes]]
name = "age"
column = "AGEP"
categories = ["minor", "adult"]
recode = { "..17" = "minor", "18.." = "adult" }
[[space.attributes]]
name = "single year"
column = "AGEP"
count = 120
[input_divergence]
type = "symmetric-difference"
[output_divergence]
type = "mult"
[budget]
epsilon = "ln(3)"
[mechanism]
type = "geometric"
ratio = "1/3"
queries = [{ type = "marginal", attributes = ["sex", "age"] }]
[table]
unused = ["SERIALNO"]
"""


def mapped(tmp_path, change=("", "")):
    path = tmp_path / "mapped.dpspec.toml"
    path.write_text(MAPPED.replace(*change), encoding="utf-8")
    return path


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_names_are_mapped_and_values_recoded(run, tmp_path, suffix):
    frame = pl.DataFrame({"SERIALNO": [7, 8, 9], "SEX": ["1", "2", None], "AGEP": [17, 18, 0]})
    getattr(frame, "write_csv" if suffix == ".csv" else "write_parquet")(tmp_path / f"t{suffix}")
    spec = mapped(tmp_path)
    from dpspec.grammar.table_files import read_table

    document = read(spec, installed().registry)
    found = read_table(
        tmp_path / f"t{suffix}", document.spec.space.attributes, formats_of(installed().registry), layout=document.layout
    )
    assert list(found.records()) == [("male", "minor", "17"), ("female", "adult", "18"), ("female", "minor", "0")]
    assert released(run, spec, tmp_path / f"t{suffix}", tmp_path / "out")


def test_the_map_is_no_part_of_the_promise(tmp_path):
    with_map = read(mapped(tmp_path), installed().registry)
    plain = MAPPED.replace('column = "SEX"\n', "").replace('recode = { "1" = "male", "2" = "female", "" = "female" }\n', "")
    assert read_text(plain, installed().registry).spec == with_map.spec


def test_the_map_is_written_and_read_again(tmp_path):
    document = read(mapped(tmp_path), installed().registry)
    again = read_text(to_toml(document, installed().registry), installed().registry)
    assert again.layout == document.layout
    for one, other in zip(document.spec.space.attributes, again.spec.space.attributes, strict=True):
        assert (one.column, one.recode) == (other.column, other.recode)


def test_a_microdata_release_speaks_the_words_of_the_space(run, tmp_path):
    """Swapped records are written under the names and categories of the space, and read again by the same file."""
    spec = mapped(tmp_path)
    text = MAPPED.split("[input_divergence]", maxsplit=1)[0] + (
        '[multiverse]\ninvariants = [{ type = "marginal", attributes = ["age", "single year", "sex"] }]\n'
        '[input_divergence]\ntype = "hamming"\n[output_divergence]\ntype = "mult"\n[budget]\nepsilon = "inf"\n'
        '[mechanism]\ntype = "permutation-swapping"\nmatch = ["age", "single year"]\nswap = ["sex"]\nswap_rate = "1/2"\n'
        'unit = "person"\n'
        '[table]\nunused = ["SERIALNO"]\n'
    )
    spec.write_text(text, encoding="utf-8")
    (tmp_path / "t.csv").write_text("SERIALNO,SEX,AGEP\n1,1,5\n2,2,5\n3,1,50\n", encoding="utf-8")
    released(run, spec, tmp_path / "t.csv", tmp_path / "out", "--unverified")
    rows = (tmp_path / "out" / "released.csv").read_text(encoding="utf-8").splitlines()
    assert rows[0] == "sex,age,single year"
    assert sorted(row.split(",")[1] for row in rows[1:]) == ["adult", "minor", "minor"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (('"2" = "female", ""', '"2" = "femal", ""'), "recodes '2' to no category: did you mean female"),
        (('"18.."', '"17.."'), "two ranges that overlap, ..17 and 17.."),
        (('"18.."', '"18..2"'), "is a range without numbers"),
        (('unused = ["SERIALNO"]', 'unused = ["SEX"]'), "is the column of the attribute sex"),
        (('unused = ["SERIALNO"]', 'observed = ["sx"]'), "names no attribute of the space: did you mean sex"),
        (('unused = ["SERIALNO"]', "strip = 1"), "must be true or false"),
        (('column = "SEX"', 'column = ""'), "must be a non-empty text"),
    ],
)
def test_a_map_that_is_wrong_has_its_line(run, tmp_path, change, said):
    done = run("check", mapped(tmp_path, change))
    assert done.code == 2
    assert said in done.err
    assert ".dpspec.toml:" in done.err


def test_all_columns_that_do_not_fit_are_one_message(run, tmp_path):
    (tmp_path / "t.csv").write_text("SERIALNO,Sex,AGEP,more,less\n1,1,500,2,3\n2,2,x,2,3\n", encoding="utf-8")
    done = run("release", mapped(tmp_path), tmp_path / "t.csv", "--out", tmp_path / "out")
    assert done.code == 2
    for said in (
        "column=SEX: is missing",
        "did you mean Sex",
        "column=more",
        "column=less",
        "column age",
        "column 'single year'",
    ):
        assert said in done.err, said
    assert "500" not in done.err  # what stands in a cell is confidential


def test_many_columns_that_do_not_fit_are_counted(run, tmp_path):
    (tmp_path / "t.csv").write_text(
        "SEX,AGEP," + ",".join(f"c{i}" for i in range(5000)) + "\n1,2" + ",1" * 5000 + "\n", encoding="utf-8"
    )
    done = run("release", mapped(tmp_path), tmp_path / "t.csv", "--out", tmp_path / "out")
    assert done.err.count("\n") == 21
    assert "4,980 more do not fit" in done.err


def test_a_value_outside_every_range_is_no_category(run, tmp_path):
    (tmp_path / "t.csv").write_text("SERIALNO,SEX,AGEP\n1,1,17.5\n2,3,5\n", encoding="utf-8")
    done = run("release", mapped(tmp_path), tmp_path / "t.csv", "--out", tmp_path / "out")
    assert "row 1, column age: is no category" in done.err
    assert "row 2, column sex: is no category" in done.err


# --- statistical packages -------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", [".sav", ".dta"])
def test_files_of_statistical_packages_bring_their_codebook(run, tmp_path, suffix):
    pyreadstat = pytest.importorskip("pyreadstat")
    frame = pl.DataFrame({"sex": [1.0, 2.0] * 50, "age": [float(i % 80) for i in range(100)], "town": ["A", "B"] * 50})
    path = tmp_path / f"survey{suffix}"
    {".sav": pyreadstat.write_sav, ".dta": pyreadstat.write_dta}[suffix](
        frame, str(path), variable_value_labels={"sex": {1: "male", 2: "female", 3: "other"}}
    )
    spec, _ = begin(run, tmp_path, path, "--no-ask")
    document = read(spec, installed().registry)
    sex = document.spec.space.attributes_of("person")[0]
    assert sex.categories == ("male", "female", "other")
    assert document.layout.observed == ("age", "town")
    assert released(run, spec, path, tmp_path / "out")["released"][0]["file"] == f"released{suffix}"
    path.write_bytes(path.read_bytes()[:100])
    assert run("release", spec, path, "--out", tmp_path / "again").err.count("\n") == 1


def test_columns_stand_for_themselves_in_every_order(run, tmp_path):
    rows = list(itertools.product("ab", "xyz")) * 10
    for order in itertools.permutations(range(2)):
        table = written(
            tmp_path, "\n".join(",".join(("one", "two")[i] if row is None else row[i] for i in order) for row in [None, *rows])
        )
        spec, _ = begin(run, tmp_path, table, "--no-ask", name="".join("ab"[i] for i in order))
        names = {a.name: a.categories for a in read(spec, installed().registry).spec.space.attributes_of("person")}
        assert names == {"one": ("a", "b"), "two": ("x", "y", "z")}


HOSTILE = [
    '"""',
    "'''",
    "a\nb",
    "\x1b[31mred",
    "\u202eright",
    "[x]",
    "# no comment",
    "\\",
    "..",
    "1..5",
    "..<",
    "\x7f",
    "a = 1",
    " ",
    "\ufeff",
    "{{",
    "%s",
]


def test_values_are_texts_and_nothing_else(run, tmp_path):
    """What a file would take for its own language, a terminal for a command, or a recode for a range."""
    values = HOSTILE * 3
    pl.DataFrame({"v": values, "w": list(reversed(values))}).write_parquet(tmp_path / "t.parquet")
    spec, done = begin(run, tmp_path, tmp_path / "t.parquet", "--no-ask")
    assert "\x1b" not in done.out + done.err
    document = read(spec, installed().registry)
    categories = document.spec.space.attributes_of("person")[0].categories
    assert {*categories} == {value.strip() for value in HOSTILE if value.strip()} | {"not stated"}
    assert released(run, spec, tmp_path / "t.parquet", tmp_path / "out")


def test_a_label_that_is_another_value_is_told(run, tmp_path):
    """1 means 2 by the codebook, and 2 is not in it: whether 2 is meant to stand for itself is not for the draft to say."""
    table = written(tmp_path, "sex\n1\n2\n1\n")
    _, done = begin(run, tmp_path, table, "--codebook", written(tmp_path, "column,value,label\nsex,1,2\n", "codes.csv"))
    assert "the codebook of sex may not name every value" in done.out


def test_what_is_written_is_what_the_schema_of_editors_takes(tmp_path):
    jsonschema = pytest.importorskip("jsonschema")
    import tomllib

    from dpspec.specfile.schema import language_schema

    document = read(mapped(tmp_path), installed().registry)
    data = tomllib.loads(to_toml(document, installed().registry))
    assert data["space"]["attributes"][0]["recode"] == {"": "female", "1": "male", "2": "female"}
    jsonschema.Draft202012Validator(language_schema(installed().registry)).validate(data)
