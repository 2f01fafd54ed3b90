"""`dpspec compare` of many specifications, and its yardsticks."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET

import pytest
from dpspec_checker.check import check_derivation

PAIR = ("topdown-2020-pl-dhc.dpspec.toml", "swapping-2020-county-tract.dpspec.toml")


@pytest.mark.long
def test_a_directory_gives_the_order_of_all_its_files(run, specs, tmp_path):
    ran = run("compare", specs, "--picture", tmp_path / "order.svg", "--format", "json")
    data = ran.json("order")
    assert len(data["specifications"]) == len(list(specs.glob("*.dpspec.toml"))) == len(data["matrix"])
    assert not any(None in row for row in data["implies"])
    assert ran.code == 0
    assert ["topdown-2020-pl", "topdown-2020-dhc-persons"] in data["covers"]
    assert ET.parse(tmp_path / "order.svg").getroot().tag.endswith("svg")


@pytest.mark.long
@pytest.mark.parametrize("columns", [40, 80, 100])
def test_the_matrix_fits_the_page(run, specs, columns):
    files = sorted(specs.glob("topdown*.dpspec.toml")) + sorted(specs.glob("swapping*.dpspec.toml"))
    ran = run("compare", *files, COLUMNS=str(columns))
    assert ran.code == 0
    assert "incomparable" in ran.out
    assert all(len(line) <= columns for line in ran.out.splitlines() if line.strip()[:1].isdigit() and ">=" in line)


def test_one_pair_of_many_is_explained(run, specs):
    ran = run("compare", specs, "--explain", "topdown-2020-pl", specs / PAIR[1])
    assert ran.code == 0
    assert "Neither promise contains the other" in ran.out
    ran = run("compare", specs, "--explain", "topdown-2020-p", "topdown-2020-dhc")
    assert ran.code == 2
    assert "did you mean topdown-2020-pl" in ran.err


@pytest.mark.slow
def test_the_yardstick_of_the_census_pair(run, specs):
    arguments = ("compare", *(specs / name for name in PAIR), "--yardstick", "--largest-household", 10, "--delta", "1e-10")
    data = run(*arguments, "--format", "json").json("yardsticks")
    first = data["yardsticks"][0]
    assert first["common"]
    assert (first["parameter"], first["value"]) == ("rho", "1529")
    for side in ("left", "right"):
        assert check_derivation(first[side]["derivation"]).accepted
    assert data["attacks"][0]["left"]["log_odds_at_most"] is None
    assert data["attacks"][0]["right"]["log_odds_at_most"] == "ln(65456463)"
    ran = run(*arguments)
    assert ran.code == 0
    assert "no household has more than 10 persons" in ran.out
    assert all(len(line) <= 100 for line in ran.out.splitlines())


def test_without_the_assumption_there_is_none(run, specs):
    ran = run("compare", *(specs / name for name in PAIR), "--yardstick")
    assert ran.code == 3
    assert "none found" in ran.out
    assert "which the space does not state" in " ".join(ran.out.split())


def test_a_yardstick_needs_a_common_space(run, specs):
    ran = run("compare", specs / PAIR[0], specs / "randomised-response.dpspec.toml", "--yardstick", "--format", "json")
    assert ran.code == 2
    assert json.loads(ran.out)["errors"][0]["code"] == "no-yardstick"


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (("--yardstick",), "of two files"),
        (("--delta", "1e-6"), "of two files"),
        (("--derivation", "d.json"), "of two files"),
    ],
)
def test_what_is_of_two_files(run, specs, options, word):
    ran = run("compare", specs, *options)
    assert ran.code == 2
    assert word in ran.err


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (("--explain", "a", "b"), "of many files"),
        (("--delta", "1e-6"), "belongs to --yardstick"),
        (("--yardstick", "--derivation", "d.json"), "--format json"),
        (("--yardstick", "--largest-household", "0"), "0 is not in the range"),
    ],
)
def test_what_does_not_go_with_two_files(run, specs, options, word):
    ran = run("compare", *(specs / name for name in PAIR), *options)
    assert ran.code == 2
    assert word in ran.err


def test_one_file_is_nothing_to_compare(run, specs):
    ran = run("compare", specs / PAIR[0])
    assert ran.code == 2
    assert "nothing to be compared with" in ran.err
