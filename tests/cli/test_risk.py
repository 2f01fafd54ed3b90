"""`dpspec risk`: both sides, the assumption of every number, pictures and errors."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from dpspec.extension import installed


def test_risk_as_text(run, response):
    ran = run("risk", response(), "--attacker", "tester")
    assert ran.code == 0
    for text in ("any mechanism", "this mechanism", "at most 0.15 (1)", "Assumes: none", "likelihood-ratio test"):
        assert text in ran.out


def test_risk_as_json(run, specs):
    ran = run("risk", specs / "topdown-2020-pl.dpspec.toml", "--attacker", "tester", "--set", "levels=[0.05]", "--format", "json")
    data = ran.json("risk")
    assert data["attacker"]["parameters"] == {"levels": "0.05", "distance": "1", "datasets": ""}
    assert [row["at"][0] for row in data["rows"]] == [{"name": "level", "value": "1/20"}, {"name": "distance", "value": "1"}]
    assert data["rows"][0]["worst_case"][0]["relation"] == "at most"
    assert data["rows"][0]["worst_case"][0]["assumption"] == "none"
    assert data["mechanism"] is None


def test_a_mechanism_beyond_its_specification_exits_with_1(run, response):
    ran = run("risk", response(epsilon="ln(2)"), "--attacker", "tester")
    assert ran.code == 1
    assert "beyond the worst case" in ran.out


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_risk_fits_the_terminal(run, response, columns):
    assert max(map(len, run("risk", response(), "--attacker", "tester", COLUMNS=str(columns)).out.splitlines())) <= columns


def test_the_picture_is_a_chart(run, response, tmp_path):
    path = tmp_path / "power.svg"
    assert run("risk", response(), "--attacker", "tester", "--picture", path).code == 0
    tree = ET.fromstring(path.read_text(encoding="utf-8"))
    # The bound as steps above it; the mechanism's own values are known at their levels only, and are points.
    assert len(tree.findall(".//{http://www.w3.org/2000/svg}polyline")) == 1
    assert len(tree.findall(".//{http://www.w3.org/2000/svg}circle[@r='4']")) == 5


def test_the_picture_is_a_png_by_its_ending(run, response, tmp_path):
    pytest.importorskip("resvg_py")
    path = tmp_path / "power.png"
    assert run("risk", response(), "--attacker", "tester", "--picture", path).code == 0
    assert path.read_bytes().startswith(b"\x89PNG")


def test_a_picture_that_cannot_be_drawn_is_refused_before_any_work(run, tmp_path):
    ran = run("risk", tmp_path / "absent.toml", "--attacker", "tester", "--picture", "power.pdf", "--format", "json")
    assert [fault["code"] for fault in ran.json("failure")["errors"]] == ["picture"]
    assert ran.code == 2
    assert "neither .svg nor .png" in ran.err


@pytest.mark.parametrize(("settings", "error"), [
    (("--attacker", "testr"), "unknown-name"),
    (("--attacker", "tester", "--set", "level=1/2"), "unknown-key"),
    (("--attacker", "tester", "--set", "levels=[2]"), "parameter"),
    (("--attacker", "tester", "--set", "levels"), "parameter"),
    (("--attacker", "tester", "--set", "levels=[1/2"), "parameter"),
    (("--attacker", "tester", "--set", "distance=1", "--set", "distance=2"), "parameter"),
])  # fmt: skip
def test_bad_questions(run, response, settings, error):
    ran = run("risk", response(), *settings, "--format", "json")
    assert [fault["code"] for fault in ran.json("failure")["errors"]] == [error]
    assert ran.code == 2


def test_an_attacker_that_can_be_asked_about_nothing(run, specs):
    ran = run("risk", specs / "swapping-2020-county-tract.dpspec.toml", "--attacker", "tester")
    assert ran.code == 0
    told = " ".join(ran.out.split())
    assert "mechanism open: space households: has too many datasets to be listed" in told
    assert "write --set 'datasets=[X, Y]', each as `dpspec explain households` says" in told


HERE, THERE = "['0','0','0','0','0','occupied']", "['0','0','1','3','102','occupied']"
"""Two blocks of one county, in different tracts."""


def test_named_datasets_of_a_large_space_are_told_apart(run, specs):
    """A person lives in one of two blocks or in the other: two households change, and the swap seldom hides which."""
    somebody = "[['0','0']]"
    datasets = f"datasets=[[[{HERE},{somebody}],[{THERE},[]]],[[{HERE},[]],[{THERE},{somebody}]]]"
    ran = run("risk", specs / "swapping-2020-county-tract.dpspec.toml", "--attacker", "tester", "--set", "levels=[0.05]",
              "--set", "distance=2", "--set", datasets)  # fmt: skip
    assert ran.code == 0
    assert "at least 379/380" in ran.out
    nearer = run("risk", specs / "swapping-2020-county-tract.dpspec.toml", "--attacker", "tester", "--set", datasets)
    assert "or ask about a larger distance" in " ".join(nearer.out.split())


# --- explain --audience ------------------------------------------------------------------------------------


@pytest.mark.reference("Z-A22")
def test_a_specification_told_to_two_audiences(run, specs):
    public = run("explain", specs / "topdown-2020-pl.dpspec.toml", "--audience", "public")
    technical = run("explain", specs / "topdown-2020-pl.dpspec.toml", "--audience", "technical")
    assert public.code == technical.code == 0
    for word in ("95 of 100 cases", "yours", "Some facts are published exactly"):
        assert word in " ".join(public.out.split())
    for jargon in ("divergence", "likelihood", "epsilon", "prior", "rho"):
        assert jargon not in public.out
    for word in ("posterior", "at most 0.946584", "universe", "post-processing"):
        assert word in technical.out


def test_an_audience_as_json(run, response):
    data = run("explain", response(), "--audience", "public", "--format", "json").json("explain")["audience"]
    assert data["audience"] == "public"
    assert [row["what"] for row in data["numbers"]][1] == "power of the best test at level 1/20"


def test_only_a_file_has_an_audience(run):
    assert run("explain", "hamming", "--audience", "public").code == 2


# --- every attacker ----------------------------------------------------------------------------------------

ATTACKERS = installed().registry.names("attackers")
SETTINGS = {
    "attribute-restricted": ['attributes=["bit"]'],
    "information-chamber": ["prior=uniform"],
    "nosy-neighbour": ["population=3"],
    "journalist": ["population=3"],
    "sampling-outsider": ["population=3"],
}


@pytest.mark.parametrize("name", ATTACKERS)
def test_every_attacker_answers_or_says_why_not(run, response, name):
    settings = [part for setting in SETTINGS.get(name, ()) for part in ("--set", setting)]
    ran = run("risk", response(), "--attacker", name, *settings, "--format", "json")
    assert ran.code in {0, 1, 2, 3}
    if ran.code < 2:
        assert all(said["assumption"] for row in ran.json("risk")["rows"] for said in row["worst_case"] + row["own_law"])
    else:
        assert ran.json("failure")["errors"]


@pytest.mark.parametrize("name", ["tester", "strongest", "arbitrary-prior", "compound-tester", *SETTINGS])
def test_randomised_response_stays_within_its_worst_case(run, response, name):
    settings = [part for setting in SETTINGS.get(name, ()) for part in ("--set", setting)]
    assert run("risk", response(), "--attacker", name, *settings).code == 0


@pytest.mark.parametrize("name", ATTACKERS)
def test_every_attacker_is_explained(run, name):
    assert run("explain", name).code == 0
