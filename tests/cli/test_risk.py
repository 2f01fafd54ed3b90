"""`dpspec risk`: both sides, the assumption of every number, pictures and errors."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from dpspec.base.exact import Bracket, number
from dpspec.extension import installed
from dpspec.grammar.attacker import Sense
from dpspec.report.risk import in_words


def test_risk_as_text(run, response):
    ran = run("risk", response(), "--attacker", "tester")
    assert ran.code == 0
    for text in ("any mechanism", "this mechanism", "at most 0.15 (1)", "Assumes: none", "likelihood-ratio test"):
        assert text in ran.out


def test_risk_as_json(run, specs):
    ran = run("risk", specs / "topdown-2020-pl.dpspec.toml", "--attacker", "tester", "--set", "levels=[0.05]", "--format", "json")
    data = ran.json("risk")
    assert data["attacker"]["parameters"] == {"levels": "0.05", "distance": "1", "datasets": ""}
    told, left = data["rows"][:2], data["rows"][2:]
    for rows, kind in ((told, "distinguished by what is published"), (left, "left open by what is published")):
        assert [row["at"][0] for row in rows] == [{"name": "level", "value": "1/20"}, {"name": "distance", "value": "1"}]
        assert {row["at"][-1]["value"] for row in rows} == {kind}
    assert told[0]["worst_case"][0] | {"certain": True, "relation": "equals"} == told[0]["worst_case"][0]
    assert "person by state" in told[0]["worst_case"][0]["theorem"]
    assert left[0]["worst_case"][0]["relation"] == "at most"
    assert left[0]["worst_case"][0]["assumption"].startswith("both candidates are in one universe")
    assert data["mechanism"].startswith("topdown")


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
    ran = run("risk", tmp_path / "absent.toml", "--attacker", "tester", "--picture", "power.gif", "--format", "json")
    assert [fault["code"] for fault in ran.json("failure")["errors"]] == ["picture"]
    assert ran.code == 2
    assert "none of .svg, .png and .pdf" in ran.err


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


@pytest.fixture
def swapping(specs, tmp_path):
    """The swap of the 2020 files under the one number that is printed for it."""
    text = (specs / "swapping-2020" / "swapping-2020-county-tract-by-universe.dpspec.toml").read_text(encoding="utf-8")
    path = tmp_path / "printed.dpspec.toml"
    path.write_text(text.replace("\n\n[mechanism]", "\nlargest_stratum = 3445076\n\n[mechanism]"), encoding="utf-8")
    return path


@pytest.mark.slow
def test_a_swap_has_numbers_of_its_own_where_no_dataset_can_be_listed(run, swapping):
    ran = run("risk", swapping, "--attacker", "tester", "--set", "distance=2", "--verbose")
    assert ran.code == 1  # no swap at this rate keeps one number for strata of every size
    told = " ".join(ran.out.split())
    assert "at least" in told
    assert "docs/swapping-theorem.md, theorem 6" in told


HERE, THERE = "['0','0','0','0','0','occupied']", "['0','0','1','3','102','occupied']"
"""Two blocks of one county, in different tracts."""


def test_the_odds_of_one_swapped_household_belong_to_no_pair(run, specs):
    """Both margins are published: one household cannot change alone, so that the budget speaks about no pair at distance 1."""
    ran = run("risk", specs / "swapping-2020-county-tract.dpspec.toml", "--attacker", "strongest", "--format", "json")
    assert set(worst(ran, "posterior odds by prior odds")) == {TOLD}
    text = run("risk", specs / "swapping-2020-county-tract.dpspec.toml", "--attacker", "strongest").out
    assert "no two candidates are left open: one household record cannot change alone" in " ".join(text.split())


def test_named_datasets_of_a_large_space_are_told_apart(run, swapping):
    """A person lives in one of two blocks or in the other: two households change, and the swap seldom hides which."""
    somebody = "[['0','0']]"
    datasets = f"datasets=[[[{HERE},{somebody}],[{THERE},[]]],[[{HERE},[]],[{THERE},{somebody}]]]"
    ran = run("risk", swapping, "--attacker", "tester", "--set", "levels=[0.05]",
              "--set", "distance=2", "--set", datasets)  # fmt: skip
    assert ran.code == 0
    assert "at least 379/380" in ran.out
    nearer = run("risk", swapping, "--attacker", "tester", "--set", datasets)
    assert "or ask about a larger distance" in " ".join(nearer.out.split())


# --- what is published ---------------------------------------------------------------------------------------

TOTAL = """
schema = 1
id = "yes"
title = "Three answers, the number of yes published"
[space]
type = "bit-vectors"
length = 3
[multiverse]
invariants = [{ type = "linear-map", rows = [[1, 1, 1]], label = "number of yes" }]
[input_divergence]
type = "hamming-ordered"
unit = "person"
[output_divergence]
type = "mult"
[budget]
epsilon = 0
"""


@pytest.fixture
def total(tmp_path):
    path = tmp_path / "yes.dpspec.toml"
    path.write_text(TOTAL, encoding="utf-8")
    return path


def worst(ran, quantity, **at):
    """The worst case of a quantity at a place, by the kind of candidates."""
    rows = [({place["name"]: place["value"] for place in row["at"]}, row) for row in ran.json("risk")["rows"]]
    found = {
        place.get("candidates"): row["worst_case"][0]
        for place, row in rows
        if row["quantity"] == quantity and at.items() <= place.items() and row["worst_case"]
    }
    return {kind: (said["relation"], said["value"]["upper"]) for kind, said in found.items()}


TOLD, LEFT = "distinguished by what is published", "left open by what is published"


@pytest.mark.parametrize(("attacker", "quantity"), [
    ("strongest", "posterior belief in one of two candidates"),
    ("tester", "power"),
    ("attribute-restricted", "power against the secret attributes"),
    ("compound-tester", "power"),
    ("block-knowledge", "mean posterior of the truth"),
    ("hierarchical", "right bets"),
    ("uniqueness", "mean posterior of the truth"),
    ("independent-record", "posterior, largest"),
    ("nosy-neighbour", "posterior odds by prior odds"),
])  # fmt: skip
def test_what_a_total_tells_is_known_for_certain(run, total, attacker, quantity):
    """With all but one answer known the number of yes gives that one away; distance 1 belongs to no pair inside a universe."""
    settings = ("--set", 'attributes=["bit"]') if attacker == "attribute-restricted" else ()
    ran = run("risk", total, "--attacker", attacker, *settings, "--format", "json")
    assert worst(ran, quantity) == {TOLD: ("equals", "inf" if "odds" in quantity else "1")}
    assert "number of yes" in run("risk", total, "--attacker", attacker, *settings).out


def test_inside_a_universe_the_distances_count_that_occur_there(run, total):
    far = run("risk", total, "--attacker", "strongest", "--set", "distance=3", "--format", "json")
    assert worst(far, "posterior belief in one of two candidates", prior="1/2") == {
        TOLD: ("equals", "1"),
        LEFT: ("at most", "1/2"),
    }
    total.write_text(TOTAL.replace("epsilon = 0", 'epsilon = "ln(2)"'), encoding="utf-8")
    far = run("risk", total, "--attacker", "strongest", "--set", "distance=3", "--format", "json")
    assert worst(far, "posterior odds by prior odds") == {TOLD: ("equals", "inf"), LEFT: ("at most", "4")}


def test_a_prior_that_crosses_universes_has_no_bound(run, total):
    ran = run("risk", total, "--attacker", "arbitrary-prior", "--format", "json")
    assert worst(ran, "posterior by prior, largest") == {TOLD: ("equals", "inf"), LEFT: ("at most", "1")}


def test_a_budget_of_0_with_a_delta_is_no_silence(run, response):
    path = response(epsilon="0")
    text = path.read_text(encoding="utf-8").replace('type = "mult"', 'type = "mult-delta"\ndelta = "9/10"')
    path.write_text(text, encoding="utf-8")
    told = run("risk", path, "--attacker", "block-knowledge", "--set", 'priors=["1/2"]').out
    assert "at most 0.95" in told


def test_without_an_attacker_a_panel_is_shown(run, total, response):
    ran = run("risk", response())
    assert ran.code == 0
    for name in ("tester", "strongest", "arbitrary-prior", "strong-membership not evaluated"):
        assert name in ran.out
    data = run("risk", total, "--format", "json").json("risk-panel")
    assert [part["attacker"]["name"] for part in data["panel"]] == [
        "arbitrary-prior",
        "independent-record",
        "strongest",
        "tester",
    ]
    assert run("risk", response(epsilon="ln(2)")).code == 1
    assert run("risk", total, "--set", "distance=2").code == 2


def test_a_vacuous_limit_is_told_as_none(run, response):
    told = run("risk", response(epsilon="ln(1000000)"), "--attacker", "tester", "--set", "levels=[0.05]").out
    assert "sets no limit here" not in told
    assert "this promise sets no limit here" in " ".join(run("risk", response(epsilon="inf"), "--attacker", "tester").out.split())
    assert "never" in run("risk", response(), "--attacker", "strongest", "--set", "factors=[10]").out


ROWS = [("1", "owned", "Dukes"), ("1", "rented", "Nantucket"), ("2", "owned", "Dukes")]


def test_budgets_by_universe_are_those_of_a_table(run, specs, tmp_path):
    """A stratum of two: the budget of its universe is smaller than that of a longer file."""
    spec, found = specs / "swapping-derangement.dpspec.toml", []
    for times in (1, 5):
        table = tmp_path / f"{times}.csv"
        table.write_text("\n".join(["size,tenure,county", *(",".join(row) for row in ROWS * times)]) + "\n", encoding="utf-8")
        ran = run("risk", spec, "--attacker", "strongest", "--set", "distance=2", "--universe-of", table, "--format", "json")
        assert ran.code == 0
        found.append(number(worst(ran, "posterior odds by prior odds")[LEFT][1]))
    assert found[0] != found[1]
    open_ = run("risk", spec, "--attacker", "strongest", "--set", "distance=2", "--format", "json")
    assert open_.code == 0  # the swap has numbers of its own
    (unknown,) = open_.json("risk")["unknown"]
    assert unknown["side"] == "worst case"
    assert "--universe-of TABLE" in unknown["reason"]
    assert run("risk", spec, "--attacker", "strongest", "--universe-of", tmp_path / "none.csv").code == 2


def test_the_public_is_told_what_is_certain(run, total):
    told = " ".join(run("explain", total, "--audience", "public").out.split())
    for words in ("number of yes", "in 100 of 100 cases", "Never.", "It always shows in the facts that are published exactly"):
        assert words in told


def test_the_limits_for_the_public_are_those_of_a_distance(run, specs):
    """Two places on a map may be further apart than distance 1: the limit told is none for them."""
    path = specs / "flavours" / "geo-indistinguishability.dpspec.toml"
    told = " ".join(run("explain", path, "--audience", "public").out.split())
    assert "All this is about two ideas at distance 1 or less" in told
    assert "For ideas further apart the limits are weaker, or there are none." in told


@pytest.mark.parametrize("position", [0, 1])
def test_a_row_names_the_record_it_is_about(run, tmp_path, position):
    """The sum of two of three bits is published: it tells the first record, and nothing about the third."""
    place = 2 * position
    path = tmp_path / "some.dpspec.toml"
    path.write_text(
        'schema = 1\nid = "some"\ntitle = "some"\n[space]\ntype = "bit-vectors"\nlength = 3\n'
        '[multiverse]\ninvariants = [{ type = "linear-map", rows = [[1, 1, 0]] }]\n[input_divergence]\ntype = "hamming-ordered"\n'
        '[output_divergence]\ntype = "mult"\n[budget]\nepsilon = "ln(2)"\n',
        encoding="utf-8",
    )
    ran = run("risk", path, "--attacker", "arbitrary-prior", "--set", f"position={place}", "--format", "json")
    rows = [row for row in ran.json("risk")["rows"] if "largest" in row["quantity"] and "without" in row["quantity"]]
    (said,) = [statement for row in rows for statement in row["worst_case"]]
    assert said["assumption"].startswith(f"the target's is record {place + 1}; ")
    assert ("no two candidates are left open" in said["theorem"]) is (place == 0)


# --- explain --audience ------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.reference("Z-A22")
def test_a_specification_told_to_two_audiences(run, specs):
    public = run("explain", specs / "topdown-2020-pl.dpspec.toml", "--audience", "public")
    technical = run("explain", specs / "topdown-2020-pl.dpspec.toml", "--audience", "technical")
    assert public.code == technical.code == 0
    for word in ("95 of 100 cases", "yours", "Some facts are published exactly"):
        assert word in " ".join(public.out.split())
    for jargon in ("divergence", "likelihood", "epsilon", "prior", "rho"):
        assert jargon not in public.out
    for word in ("posterior", "at most 0.946585", "universe", "post-processing"):
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


@pytest.mark.spread(5, slow=6)
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


@pytest.mark.parametrize(
    ("relation", "lower", "upper", "words"),
    [
        (Sense.AT_MOST, "0.66666601", "0.66666612", "at most 0.666667"),
        (Sense.AT_LEAST, "0.66666692", "0.66666699", "at least 0.666666"),
        (Sense.AT_LEAST, "0.74711476", "0.74713327", "at least 0.747114"),
        (Sense.AT_LEAST, "0.99999999", "1", "at least 0.999999"),
        (Sense.AT_MOST, "0.1499999999999999999", "0.1500000000000000001", "at most 0.15"),
        (Sense.AT_MOST, "0", "1.3956124153168e-9", "at most 1.39562E-9"),
        (Sense.AT_LEAST, "1.3956189e-9", "1", "at least 1.39561E-9"),
        (Sense.AT_LEAST, "0.9999999999999", "1", "at least 0.999999"),
        (Sense.AT_MOST, "1/4", "1/4", "at most 0.25"),
    ],
)
def test_a_bound_is_rounded_to_the_side_on_which_it_stays_true(relation, lower, upper, words) -> None:
    """Rounded to the nearest, the sentence could be false: a power below 1 was "at least 1"."""
    assert in_words(relation, Bracket(lower=number(lower), upper=number(upper))) == words


def test_a_made_up_mechanism_is_not_taken_for_the_release(run, specs):
    """Neither the number nor the mechanism of these files is published: what is proved of a stand-in is named as such."""
    path = specs / "deployments" / "meta-urls.dpspec.toml"
    for options in ((), ("--attacker", "tester")):
        out = " ".join(run("risk", path, *options).out.split())
        assert "about the space and the mechanism of the file, in place of what is not published" in out
        found = run("risk", path, *options, "--format", "json").json("risk" if options else "risk-panel")
        assert found["stand_ins"] == ["space", "mechanism"]
    reasons = [one["reason"] for one in run("risk", path, "--format", "json").json("risk-panel")["not_asked"]]
    assert any("is not known: no number published" in reason for reason in reasons)
    assert not any("differs by universe" in reason for reason in reasons)
