"""`dpspec recommend`: from a tolerated risk to a budget."""

from __future__ import annotations

from fractions import Fraction

import pytest

from dpspec.base.exact import number

TWO = ("two-dimensional", "posterior=1/4", "ratio=3")
TWELVE = ("membership-difference", "difference=1/5", "releases=12", "delta_each=1e-8", "delta=1e-6", "failure=1/100")


def test_text(run):
    ran = run("recommend", *TWO)
    assert ran.code == 0
    said_of_it = (
        "1/2*ln(11/3) (about 0.649641)",
        "state at most 0.6496",
        "p = 1, q = 1/12",
        "Section 3.4",
        "Assumption 2",
        "counts away 1",
    )
    for said in said_of_it:
        assert said in ran.out
    assert "not covered" not in ran.out
    assert "not covered" in run("recommend", "fixed-q", "posterior=1/4", "ratio=3").out


def test_json(run):
    data = run("recommend", *TWO, "--format", "json").json("recommend")
    assert data["budget"] == {
        "parameter": "epsilon",
        "value": {"lower": "1/2*ln(11/3)", "upper": "1/2*ln(11/3)"},
        "stated": "0.6496",
    }
    assert data["binding"]["at"] == [{"name": "p", "value": "1"}, {"name": "q", "value": "1/12"}]
    assert data["binding"]["attained"] is True
    assert len(data["consequences"]) == 6
    assert Fraction(data["budget"]["stated"]) < number("1/2*ln(11/3)")


@pytest.mark.reference("Z-O87", "Z-N5.5")
def test_several_releases(run):
    ran = run("recommend", *TWELVE)
    assert "about 0.0677671 of each release" in ran.out
    assert "with probability at least 0.99, after all releases" in " ".join(ran.out.split())
    data = run(
        "recommend", "membership-posterior", "posterior=0.9", "releases=30", "method=zcdp", "failure=1/100", "--format", "json"
    )
    assert data.json("recommend")["budget"]["parameter"] == "rho"


def test_a_function(run, tmp_path, monkeypatch):
    (tmp_path / "cautious_profile.py").write_text("def cautious(p, q):\n    return 1 + 1 / (2 * (p + q))\n\nnumber = 3\n")
    monkeypatch.chdir(tmp_path)
    data = run("recommend", "function", "function=cautious_profile:cautious", "--format", "json").json("recommend")
    assert data["method"] == "branch and bound"
    assert data["tolerance"]["parameters"] == {"function": "cautious_profile:cautious"}
    for wrong in ("cautious_profile:bold", "no_such_module:f", "cautious", "cautious_profile:number"):
        assert run("recommend", "function", f"function={wrong}").code == 2
    (tmp_path / "growing_profile.py").write_text(
        "def growing(p, q):\n    return 2 + p\n\ndef low(p, q):\n    return 1 / (2 * p)\n"
    )
    for name, code in (("growing", "profile-not-monotone"), ("low", "profile-below-one")):
        ran = run("recommend", "function", f"function=growing_profile:{name}", "--format", "json")
        assert [fault["code"] for fault in ran.json("failure")["errors"]] == [code]


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_it_fits_the_terminal(run, columns):
    for arguments in (TWO, TWELVE):
        assert max(map(len, run("recommend", *arguments, COLUMNS=str(columns)).out.splitlines())) <= columns


@pytest.mark.parametrize(("arguments", "error"), [
    (("constant", "ratio=1/2"), "profile-below-one"),
    (("constant", "ratio=1"), "parameter"),
    (("constant",), "missing-key"),
    (("constant", "ratio=2", "posterior=1/2"), "unknown-key"),
    (("constnt", "ratio=2"), "unknown-name"),
    (("constant", "ratio"), "parameter"),
    (("membership-posterior", "posterior=0.9", "prior=1"), "certain-target"),
    (("membership-posterior", "posterior=0.4"), "profile-below-one"),
    (("membership-difference", "difference=0.1", "delta=0.1", "failure=0.05"), "failure-probability"),
    (("one-missing", "size=4", "posterior=1/5"), "profile-below-one"),
    (("point", "ratio=2", "p=1", "q=1"), "certain-target"),
])  # fmt: skip
def test_bad_questions(run, arguments, error):
    ran = run("recommend", *arguments, "--format", "json")
    assert [fault["code"] for fault in ran.json("failure")["errors"]] == [error]
    assert ran.code == 2
