"""`dpspec convert`, and what `dpspec explain` says about printed numbers."""

from __future__ import annotations

import pytest

from dpspec.base.exact import number

CENSUS = ("rho=2.63", "--to", "epsilon", "--delta", "1e-10")


def test_convert_as_text(run):
    ran = run("convert", *CENSUS)
    assert ran.code == 0
    lines = ran.out.splitlines()
    answer = "epsilon at most 17.4306 of approximate differential privacy (delta = 1e-10), for every mechanism"
    assert lines[:2] == [answer, "with rho = 2.63 of zero-concentrated differential privacy"]
    assert lines[6].split()[:5] == ["at", "most", "17.4306", "zcdp-to-approximate-cks", "no"]
    for text in ("at most 18.1939", "Only when the mechanism adds Gaussian noise", "at most 16.74", "--to pbdp"):
        assert text in ran.out
    assert "through" not in ran.out
    told = " ".join(run("convert", *CENSUS, "--verbose").out.split())
    for text in (answer, "through", "not tight: ", "Corollary 13"):
        assert text in told


def test_a_printed_limit_is_rounded_up(run):
    """The mu of epsilon = 1/3 is 0.41694619...: randomised response is above the nearest decimal, 0.416946."""
    for source, to, upper in (("epsilon=1/3", "mu", "mu"), ("epsilon=2", "rho", "rho"), ("mu=1", "epsilon", "epsilon")):
        given = ("convert", source, "--to", to, *(("--delta", "1e-5") if to == "epsilon" else ()))
        exact = run(*given, "--format", "json").json("convert")["paths"][0]["value"]["upper"]
        printed = run(*given).out.split(f"{upper} at most ")[1].split()[0]
        assert number(printed) >= number(exact)
        assert number(printed) - number(exact) < number("1e-5")


def test_convert_as_json(run):
    data = run("convert", *CENSUS, "--format", "json").json("convert")
    assert data["given"] == {"divergence": "d-nor", "parameter": "rho", "value": "263/100"}
    assert [step["rule"] for step in data["paths"][0]["steps"]] == ["zcdp-to-approximate-cks"]
    assert data["paths"][0]["needs"] == []
    assert data["paths"][-1]["needs"] != []
    assert data["alike"] == ["pbdp"]


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_convert_fits_the_terminal(run, columns):
    assert max(map(len, run("convert", *CENSUS, COLUMNS=str(columns)).out.splitlines())) <= columns


def test_convert_with_a_known_mechanism_and_other_parameters(run):
    known = run("convert", *CENSUS, "--mechanism", "gaussian", "--format", "json").json("convert")
    assert [step["rule"] for step in known["paths"][0]["steps"]] == ["zcdp-to-gaussian", "gaussian-to-approximate"]
    other = run("convert", "rho=1", "--to", "divergence", "--at", "generator=kl", "--at", "direction=both", "--format", "json")
    assert other.json("convert")["paths"][0]["value"] == {"lower": "1", "upper": "1"}
    given = run("convert", "epsilon=1", "delta=1e-6", "--from", "pbdp", "--to", "mult-delta", "--delta", "1e-6")
    assert "of probabilistically bounded differential privacy (delta = 1e-6)" in given.out


@pytest.mark.parametrize(("arguments", "code", "error"), [
    (("rho=2.63", "--to", "epsilon"), 2, "missing-key"),
    (("rho=2.63", "--to", "epsilon", "--delta", "2"), 2, "parameter"),
    (("rho=-1", "--to", "epsilon", "--delta", "1e-10"), 2, "parameter"),
    (("roh=1", "--to", "epsilon", "--delta", "1e-10"), 2, "unknown-name"),
    (("epsilon=1", "delta=1e-6", "--to", "rho"), 3, "no-formula"),
    (("rho", "--to", "epsilon"), 2, "parameter"),
    (("mu=1e30", "--to", "epsilon", "--delta", "1e-5"), 3, "no-formula"),
    (("rho=1", "--to", "epsilon", "--delta", "1e-5", "--mechanism", "none"), 2, "unknown-name"),
])  # fmt: skip
def test_bad_questions(run, arguments, code, error):
    ran = run("convert", *arguments, "--format", "json")
    assert [fault["code"] for fault in ran.json("failure")["errors"]] == [error]
    assert ran.code == code


def test_a_number_beyond_the_formulas_is_called_too_large_and_nothing_missing(run):
    ran = run("convert", "mu=1e30", "--to", "epsilon", "--delta", "1e-5")
    assert "mu=1e+30: is beyond the formulas from gaussian-trade-off to epsilon" in ran.err
    assert "order" not in ran.err


# --- explain -------------------------------------------------------------------------------------


def numbers(run, path):
    return {row["printed"]: row for row in run("explain", path, "--format", "json").json("explain")["file"]["numbers"]}


@pytest.mark.slow
@pytest.mark.reference("B-N2", "B-X5")
def test_17_14_and_26_34_are_of_two_formulas(run, specs):
    """17.14 for the persons of P.L. 94-171 and 26.34 for those of the DHC are no two numbers of one scale."""
    redistricting = numbers(run, specs / "topdown-2020-pl.dpspec.toml")["857/50"]
    housing = numbers(run, specs / "topdown-2020-dhc-persons.dpspec.toml")["1317/50"]

    def given(row):
        return {rule for f in row["formulas"] if f["reproduced"] and len(f["rules"]) == 1 for rule in f["rules"]}

    assert given(redistricting) == {"zcdp-to-approximate-cks"}
    assert given(housing) == {"zcdp-to-approximate"}
    assert redistricting["reproduced"] is housing["reproduced"] is True
    ran = run("explain", specs / "topdown-2020-dhc-persons.dpspec.toml", COLUMNS="120")
    assert "25.4125" in ran.out
    assert "zcdp-to-approximate-cks" in ran.out


def test_a_number_that_no_formula_gives_is_told(run, response):
    row = """
[[expect]]
what = "an epsilon from nowhere"
epsilon = "11"
tolerance = "0.01"
because = "made up"
route = { type = "zcdp-to-approximate", rho = "1", delta = "1e-5" }
"""
    found = run("explain", response(extra=row), COLUMNS="120")
    assert "no known formula" in found.out
