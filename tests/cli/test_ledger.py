"""`dpspec ledger`: the table, the JSON against its schema, the file it writes, and what it refuses."""

import pytest

SURVEY = """\
schema = 1
id = "{id}"
title = "A survey"
[space]
type = "records"
attributes = [{{ name = "kind", categories = ["a", "b"] }}]
[input_divergence]
type = "{distance}"
unit = "person"
[output_divergence]
type = "d-nor"
[budget]
rho = "{rho}"
"""


@pytest.fixture
def survey(tmp_path):
    def write(id, rho="1", distance="hamming"):
        path = tmp_path / f"{id}.dpspec.toml"
        path.write_text(SURVEY.format(id=id, rho=rho, distance=distance), encoding="utf-8")
        return path

    return write


def test_a_directory_is_summed(run, survey, tmp_path):
    survey("first", "2.56")
    survey("second", "0.07")
    data = run("ledger", tmp_path, "--format", "json").json("ledger")
    assert data["together"]["value"] == data["plain_sum"] == "263/100"
    assert [(part["id"], part["amount"]) for part in data["parts"]] == [("first", "64/25"), ("second", "7/100")]
    assert data["losses"] == []


RENEWED = '[deployment]\npublisher = "P"\nproduct = "X"\nyear = 2024\nperiod = "month"\n'


def test_a_budget_that_renews_is_said_to_be_counted_once(run, survey, tmp_path):
    """Only `catalogue --ledger` said so; the total of `ledger` read as that of all months."""
    path = survey("first")
    path.write_text(path.read_text(encoding="utf-8") + RENEWED, encoding="utf-8")
    told = "first: its budget is renewed after every month; each listed release counts for one month"
    assert told in run("ledger", path, survey("second"), "--format", "json").json("ledger")["losses"]
    for command in (["ledger", f"{path}=12"], ["catalogue", path, "--ledger"]):
        assert " ".join(run(*command).out.split()).count(told) == 1
    out = tmp_path / "year.dpspec.toml"
    run("ledger", f"{path}=12", "--out", out)
    assert told.removeprefix("first: ") in out.read_text(encoding="utf-8")


def test_the_steps_are_data(run, specs):
    data = run("ledger", specs / "ledger-2020", "--format", "json").json("ledger")
    assert data["together"]["value"] == "273737/100"
    steps = {part["id"]: [step["rule"] for step in part["steps"]] for part in data["parts"]}
    assert steps["ddhc-a"] == ["finer-universes", "domination-inside-universes"]
    assert steps["pl-housing-units"] == []


def test_the_table(run, specs):
    ran = run("ledger", specs / "ledger-2020")
    assert ran.code == 0
    lost = ("What was lost on the way", "one household replaced by another")
    for words in ("together", "2,737.37", "What adds up: rho adds", *lost):
        assert words in ran.out


def test_the_written_file_is_a_specification(run, survey, tmp_path):
    paths = survey("first", "2.56"), survey("second", "0.07")
    out = tmp_path / "out" / "both.dpspec.toml"
    assert run("ledger", *paths, "--out", out, "--format", "json").json("ledger")["written"] == str(out)
    assert run("check", out).code == 0
    assert 'rho = "2.63"' in out.read_text(encoding="utf-8")


def test_a_bad_name_writes_nothing(run, survey, tmp_path):
    ran = run("ledger", survey("first"), "--out", tmp_path / "Total.toml")
    assert ran.code == 2
    assert "must be named lower-kebab" in ran.err
    assert not (tmp_path / "Total.toml").exists()


def test_mixed_neighbours_and_the_way_out(run, survey):
    paths = survey("first"), survey("second", distance="symmetric-difference")
    ran = run("ledger", *paths, "--format", "json")
    assert ran.code == 2
    assert [error["code"] for error in ran.json("failure")["errors"]] == ["mixed-ledger"]
    data = run("ledger", *paths, "--like", paths[0], "--format", "json").json("ledger")
    assert data["together"]["value"] == "5"


@pytest.mark.slow
def test_what_is_missing_is_said(run, specs):
    paths = specs / "topdown-2020-pl-persons.dpspec.toml", specs / "topdown-2020-pl-housing-units.dpspec.toml"
    ran = run("ledger", *paths)
    assert ran.code == 2
    assert "the space states no largest number of persons that one household holds" in ran.err


def test_a_directory_without_files(run, tmp_path):
    assert run("ledger", tmp_path).code == 2


def test_two_files_of_one_id(run, survey, tmp_path):
    first = survey("first")
    second = tmp_path / "copy.dpspec.toml"
    second.write_text(first.read_text(encoding="utf-8"), encoding="utf-8")
    ran = run("ledger", first, second, "--format", "json")
    assert [error["code"] for error in ran.json("failure")["errors"]] == ["duplicate-id"]


def test_a_number_as_stated_has_its_delta(run, survey):
    """Two files with the same epsilon, one of which may fail: the row of that one was the same as the other's."""
    pure, failing = survey("pure"), survey("failing")
    for path, standard in ((pure, 'type = "mult"'), (failing, 'type = "mult-delta"\ndelta = "1/7"')):
        text = path.read_text(encoding="utf-8").replace('type = "d-nor"', standard).replace("rho =", "epsilon =")
        path.write_text(text, encoding="utf-8")
    data = run("ledger", pure, f"{failing}=2", "--format", "json").json("ledger")
    assert [part["standard"] for part in data["parts"]] == ["mult", "mult-delta (delta = 1/7)"]
    out = " ".join(run("ledger", pure, f"{failing}=2").out.split("together")[0].split())
    assert "(delta = 1/7)" in out
    assert "(delta = 2/7)" not in out


PURE = """\
schema = 1
id = "{id}"
title = "A count"
[space]
type = "records"
most = 2
attributes = [{{ name = "kind", categories = ["a", "b"] }}]
[multiverse]
invariants = [{{ type = "marginal", attributes = [] }}]
[input_divergence]
type = "{distance}"
[output_divergence]
type = "mult"
[budget]
epsilon = {epsilon}
"""
COUNT = '[mechanism]\ntype = "geometric"\nqueries = [{ type = "marginal", attributes = ["kind"] }]\nratio = "1/2"\n'


@pytest.fixture
def count(tmp_path):
    def write(id, epsilon, distance="hamming", mechanism=""):
        path = tmp_path / f"{id}.dpspec.toml"
        path.write_text(PURE.format(id=id, epsilon=epsilon, distance=distance) + mechanism, encoding="utf-8")
        return path

    return write


def test_a_promise_is_not_called_proved(run, count):
    """A part without a mechanism had a number *as proved*, and the total was *proved of the mechanisms of the files*."""
    files = count("checked", 2, mechanism=COUNT), count("stated", 3)
    text = " ".join(run("ledger", *files).out.split())
    assert "3 (promised)" in text
    assert "where nothing is, what is promised" in text
    assert "is proved of the mechanisms of the files." not in text
    parts = run("ledger", *files, "--format", "json").json("ledger")["parts"]
    assert [part["proved"] for part in parts] == ["ln(4)", None]


def test_numbers_for_another_unit_than_the_total_are_said_to_be(run, count):
    """Of one release, or of several for one unit, the reason was that its numbers *do not add up*."""
    one, like = count("replaced", 2), count("added", 1, distance="symmetric-difference")
    said = "they are for one person replaced by another, and the total is for one person added or removed"
    assert said in " ".join(run("ledger", one, "--like", like).out.split())
