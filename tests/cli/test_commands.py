"""Every command: what it prints, its JSON, its exit code."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

BAD = sorted((Path(__file__).parents[2] / "specs" / "bad").glob("*.toml"))
MASSACHUSETTS = "swapping-1940-massachusetts.dpspec.toml"


# --- check ---------------------------------------------------------------------------------------


def test_check_reads_every_specification(run, specs):
    ran = run("check", specs, "--format", "json")
    assert ran.code == 0
    assert {file["outcome"] for file in ran.json("check")["files"]} == {"valid"}
    assert len(ran.json("check")["files"]) == len(list(specs.glob("*.dpspec.toml")))


def test_check_gives_each_bad_file_its_code(run):
    assert len(BAD) > 40
    wrong = []
    for path in BAD:
        ran = run("check", path, "--format", "json")
        (file,) = ran.json("check")["files"]
        coded = path.name.partition("--")[0] in [error["code"] for error in file["errors"]]
        placed = all(line.startswith(f"{path}:") for line in ran.err.splitlines())
        if not (coded and placed and ran.code == 2):
            wrong.append(path.name)
    assert wrong == []


def test_check_reports_all_faults_of_a_file_with_their_lines(run, response):
    path = response(extra='[extra]\nnothing = 1\n[claim]\nverdict = "maybe"\nbecause = "x"\n')
    ran = run("check", path)
    assert ran.code == 2
    assert f"{path}:17: " in ran.err
    assert f"{path}:20: " in ran.err


def test_check_refuses_two_files_of_one_id(run, response, tmp_path):
    first, second = response(), tmp_path / "second.dpspec.toml"
    second.write_text(first.read_text(encoding="utf-8"), encoding="utf-8")
    files = run("check", tmp_path, "--format", "json").json("check")["files"]
    outcomes = {Path(file["path"]).name: [error["code"] for error in file.get("errors", [])] for file in files}
    assert outcomes == {first.name: [], second.name: ["duplicate-id"]}
    assert run("check", first, first).code == 0


# --- verify --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("epsilon", "length", "code", "word"),
    [("ln(3)", 2, 0, "holds"), ("1", 2, 1, "refuted"), ("ln(3)", 20, 0, "holds"), ("-1", 2, 2, "invalid")],
)
def test_verify_tells_by_its_exit_code(run, response, epsilon, length, code, word):
    path = response(epsilon=epsilon, length=length)
    ran = run("verify", path)
    assert ran.code == code
    assert ran.out.startswith(f"{path}: {word}")
    assert run("verify", path, "--format", "json").json("verify")["exit_code"] == code


def test_verify_shows_the_witness(run, response):
    ran = run("verify", response(epsilon="1"))
    assert "x  = (0, 0)" in ran.out
    assert "x' = (0, 1)" in ran.out
    assert "d_X = 1, d_Pr = ln(3) (about 1.09861), allowed 1 x 1" in ran.out


def test_verify_json_has_exact_constants(run, response):
    (file,) = run("verify", response(), "--format", "json").json("verify")["files"]
    (obligation,) = file["obligations"]
    (universe,) = obligation["verdict"]["universes"]
    assert universe["constant"] == {"lower": "ln(3)", "upper": "ln(3)"}
    assert universe["bound"] == "ln(3)"
    assert universe["tight"]
    assert {entry["role"]: entry["distribution"] for entry in obligation["verdict"]["provenance"]}["mechanism"] == "dpspec-noise"


def test_verify_goes_on_after_a_bad_file(run, response, tmp_path):
    good = response()
    (tmp_path / "bad.dpspec.toml").write_text("schema = 1", encoding="utf-8")
    ran = run("verify", tmp_path, "--format", "json")
    outcomes = {Path(file["path"]).name: file["outcome"] for file in ran.json("verify")["files"]}
    assert outcomes == {"bad.dpspec.toml": "invalid", good.name: "holds"}
    assert ran.code == 2


def test_a_missed_number_fails(run, response):
    row = '[[expect]]\nwhat = "{what}"\nrho = "{rho}"\ntolerance = "0.001"\nbecause = "printed with three digits"\n'
    row += 'route = {{ type = "pure-to-zcdp", epsilon = "1" }}\n'
    assert run("verify", response(extra=row.format(what="right", rho="0.5"))).code == 0
    ran = run("verify", response(extra=row.format(what="wrong", rho="0.6")))
    assert ran.code == 1
    assert "missed number: wrong" in ran.out


# --- compare -------------------------------------------------------------------------------------


def test_compare_the_census_pair(run, specs):
    pair = specs / "topdown-2020-pl.dpspec.toml", specs / "swapping-2020-county-tract.dpspec.toml"
    data = run("compare", *pair, "--format", "json").json("compare")
    assert data["relation"] != "equivalent"
    assert data["backward"]["answer"] == "does not imply"
    assert data["backward"]["separation"]["checks"][0].startswith("verified")
    assert data["backward"]["separation"]["checks"][1].startswith("refuted")
    assert data["blocks"]["left"]["budget"] == {"parameter": "rho", "value": "263/100", "text": "rho = 2.63"}


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_compare_fits_the_terminal(run, specs, columns):
    pair = specs / "topdown-2020-pl.dpspec.toml", specs / "swapping-2020-county-tract.dpspec.toml"
    ran = run("compare", *pair, COLUMNS=str(columns))
    assert max(map(len, ran.out.splitlines())) <= columns
    for word in ("dataset space", "Does A imply B?", "Does B imply A?", "Beware", "rho = 2.63", "Relation:"):
        assert word in ran.out


def test_a_specification_is_equivalent_to_itself_and_weaker_than_a_stricter_one(run, response, tmp_path):
    loose = response(epsilon="2")
    strict = tmp_path / "strict.dpspec.toml"
    strict.write_text(loose.read_text(encoding="utf-8").replace('epsilon = "2"', 'epsilon = "1"'), encoding="utf-8")
    assert run("compare", loose, loose, "--format", "json").json("compare")["relation"] == "equivalent"
    assert run("compare", strict, loose, "--format", "json").json("compare")["relation"] == "implies"
    ran = run("compare", loose, strict)
    assert ran.code == 0
    assert "A is implied by B" in ran.out


# --- explain, plugins, new, schema ---------------------------------------------------------------


@pytest.mark.parametrize("name", ["hamming", "divergences:hamming", "permutation-swapping", "unknown-key", "plugin-load", "sum"])
def test_explain_a_name(run, name):
    (meaning, *_) = run("explain", name, "--format", "json").json("explain")["meanings"]
    assert meaning["definition"]
    assert meaning["class"].rpartition(".")[2] in run("explain", name).out.replace("\n", "")


@pytest.mark.parametrize("name", ["pair-by-pair", "event-by-event"])
def test_explain_an_argument_that_derivations_name(run, name):
    """Two arguments of comparisons are no registered rules, and stand in derivations like rules."""
    (meaning,) = run("explain", name, "--format", "json").json("explain")["meanings"]
    assert meaning["kind"] == "rule"
    assert "premise" in meaning["definition"]


def test_explain_gives_the_parameters_with_their_meaning(run):
    (meaning,) = run("explain", "permutation-swapping", "--format", "json").json("explain")["meanings"]
    rate = next(p for p in meaning["parameters"] if p["name"] == "swap_rate")
    assert rate["domain"] == "rational in [0, 1]"
    assert rate["required"]
    assert rate["meaning"]


@pytest.mark.slow
def test_explain_a_file(run, specs):
    path = specs / "topdown-2020-pl.dpspec.toml"
    data = run("explain", path, "--format", "json").json("explain")["file"]
    assert set(data["blocks"]) == {"dataset space", "multiverse", "input divergence", "output divergence", "budget"}
    assert {number["route"] for number in data["numbers"]} >= {"zcdp-to-approximate"}
    assert "The promise is that for any two datasets of one universe" in run("explain", path).out  # also of one that is false


def test_explain_suggests(run):
    ran = run("explain", "haming")
    assert ran.code == 2
    assert "did you mean hamming" in ran.err


@pytest.mark.slow
def test_every_registered_name_can_be_explained(run):
    from dpspec import installed

    for entry in installed().registry:
        assert run("explain", entry.qualified_name, "--format", "json").json("explain")["meanings"]


def test_plugins(run):
    data = run("plugins", "--format", "json").json("plugins")
    found = {plugin["plugin"]: plugin for plugin in data["plugins"]}
    assert {"core", "census", "divergences", "noise"} <= set(found)
    assert "hamming" in found["divergences"]["registers"]["input_divergences"]
    assert "dpspec-divergences" in run("plugins").out


def test_new_spec_passes_check(run, tmp_path):
    data = run("new", "spec", "my-release", "--dir", tmp_path, "--format", "json").json("new")
    assert run("check", *data["written"]).code == 0
    again = run("new", "spec", "my-release", "--dir", tmp_path)
    assert again.code == 2
    assert "exists already" in again.err


@pytest.mark.parametrize("name", ["My Plugin", "../up", "", "1st", "class"])
@pytest.mark.parametrize("what", ["spec", "plugin"])
def test_new_refuses_names_that_are_none(run, tmp_path, what, name):
    if what == "spec" and name in ("1st", "class"):
        pytest.skip("a file may be called so")
    assert run("new", what, name, "--dir", tmp_path).code == 2
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_schemas_are_schemas(run):
    for of in ("spec", "output"):
        jsonschema.Draft202012Validator.check_schema(json.loads(run("schema", of).out))
