"""What is shown of a value: as the command line prints it, as HTML and Markdown of which nothing is markup, as data."""

from __future__ import annotations

import copy
import html.parser
import json
import pickle
import re
import subprocess
import sys
from pathlib import Path

import pytest

import dpspec as dp
from dpspec.base.display import Showable

SPECS = Path(__file__).parents[2] / "specs"
RESPONSE = SPECS / "randomised-response.dpspec.toml"
NASTY = "<script>alert('1')</script>|*a*_b_[c](d)\n# `e` & \x1b[31m\u202e"


def response(epsilon: str = "ln(3)") -> dp.PrivacySpec:
    return dp.spec(space=dp.bit_vectors(length=2), distance="hamming-ordered", standard="pure", epsilon=epsilon)


def answer() -> dp.Mechanism:
    return dp.randomised_response(keep_probability="3/4")


def shown_values() -> dict[str, Showable]:
    spec = response()
    return {
        "specification": spec,
        "document": dp.read(RESPONSE),
        "verified": dp.verify(answer(), spec),
        "refuted": dp.verify(answer(), response("1")),
        "function": dp.verify(lambda dataset, rng: sum(dataset), spec),
        "file": dp.verify(RESPONSE),
        "comparison": dp.compare(spec, response("1")),
        "derivation": dp.compare(response("1"), spec).forward.derivation,
        "conversions": dp.convert({"rho": "1"}, "epsilon", delta="1e-6"),
        "ledger": dp.ledger(spec, response("1")),
        "account": dp.compose(spec, times=[3], delta="1e-6"),
        "risk": dp.risk(spec, "tester", mechanism=answer()),
        "panel": dp.risk(spec, mechanism=answer()),
        "order": dp.order(RESPONSE, response("1")),
    }  # fmt: skip


@pytest.fixture(scope="module")
def values() -> dict[str, Showable]:
    return shown_values()




class Strict(html.parser.HTMLParser):
    """Every tag that is opened is closed, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.seen.add(tag)
        if tag not in {"br", "img"}:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_every_value_has_its_pages(values) -> None:
    for name, value in values.items():
        text = str(value)
        assert text.strip(), name
        assert "\x1b" not in text, name
        assert not re.search(r"\b(PrivacySpec|Verdict|UniverseResult|Number)\(", text), name
        assert repr(value) != text
        parser = Strict()
        parser.feed(value._repr_html_())
        assert not parser.open
        assert parser.seen <= {
            "div",
            "p",
            "span",
            "table",
            "thead",
            "tbody",
            "tfoot",
            "tr",
            "th",
            "td",
            "br",
            "img",
        }
        assert value.to_markdown().strip()
        assert json.loads(json.dumps(value.to_dict())) == value.to_dict(), name
        assert f"{value}" == text
        assert f"{value:.5}" == text[:5]


def test_values_are_copied_and_sent(values) -> None:
    for name, value in values.items():
        assert copy.copy(value) == value, name
        if name in {"specification", "document", "verified", "refuted", "function", "file", "risk"}:
            assert pickle.loads(pickle.dumps(value)) == value, name  # noqa: S301 - our own


def test_pictures_where_there_are_some(values, tmp_path: Path) -> None:
    for name in ("risk", "order", "comparison"):
        plot = values[name].plot()
        assert isinstance(plot, dp.Figure)
        assert plot._repr_svg_() == plot.svg == plot._repr_mimebundle_()["image/svg+xml"]
        assert plot.svg.startswith("<svg")
        assert len(repr(plot)) < 120
        assert plot.alt in plot._repr_mimebundle_()["text/plain"]
        plot.save(tmp_path / f"{name}.svg")
        assert (tmp_path / f"{name}.svg").read_text(encoding="utf-8") == plot._repr_svg_()
        assert 'src="data:image/svg+xml;base64,' in values[name]._repr_html_()
    with pytest.raises(dp.DpspecError, match="is not drawn"):
        values["verified"].plot()


@pytest.mark.parametrize(
    ("arguments", "call"),
    [
        (["verify", str(RESPONSE)], lambda: dp.verify(RESPONSE)),
        (["convert", "rho=1", "--to", "epsilon", "--delta", "1e-6"], lambda: dp.convert({"rho": "1"}, "epsilon", delta="1e-6")),
        (["compare", str(RESPONSE), str(RESPONSE)], lambda: dp.compare(RESPONSE, RESPONSE)),
        pytest.param(
            ["risk", str(RESPONSE), "--attacker", "tester"], lambda: dp.risk(RESPONSE, "tester"), marks=pytest.mark.slow
        ),
        pytest.param(["risk", str(RESPONSE)], lambda: dp.risk(RESPONSE), marks=pytest.mark.slow),
        (["compose", f"{RESPONSE}=2", "--delta", "1e-6"], lambda: dp.compose(RESPONSE, times=[2], delta="1e-6")),
        (["ledger", str(RESPONSE)], lambda: dp.ledger(RESPONSE)),
    ],
)
def test_str_is_what_the_command_prints(arguments, call, run) -> None:
    value = call()
    assert run(*arguments).out == f"{value}\n"
    assert json.loads(run(*arguments, "--format", "json").out) == value.to_dict()


def test_names_with_markup_stay_text() -> None:
    """In the terminal, in HTML and in Markdown: a name is a name."""
    space = dp.records(attributes={NASTY: ["<b>", "|"], "b": 2}, most=2)
    spec = dp.spec(space=space, distance="hamming", standard="pure", epsilon=1, invariants=dp.marginal(attributes="b"))
    values = [spec, dp.verify(dp.release_invariants(invariants=dp.marginal(attributes=NASTY)), spec), dp.compare(spec, spec)]
    for value in values:
        assert "\x1b" not in str(value)
        assert "\u202e" not in str(value)
        page = value._repr_html_()
        assert "<script" not in page
        assert "<b>" not in page
        assert "\x1b" not in page
        assert "\u202e" not in page
        markdown = value.to_markdown()
        assert not re.search(r"(?<!\\)<(?!br>)", markdown), markdown
        assert not re.search(r"(?<!\\)\[c", markdown)
        assert "\\*a\\*" in markdown
        for line in markdown.splitlines():
            assert not line.startswith("#")


def test_tables_keep_their_columns_in_markdown(values) -> None:
    for name, value in values.items():
        for block in re.split(r"\n\n+", value.to_markdown()):
            rows = [line for line in block.splitlines() if line.startswith("|")]
            assert len({len(re.findall(r"(?<!\\)\|", row)) for row in rows}) <= 1, name


def test_a_specification_of_a_huge_space_is_shown_at_once() -> None:
    spec = dp.spec(space=dp.records(a=10**9, b=10**9, c=10**9), distance="hamming", standard="pure", epsilon="ln(3)")
    assert "1,000,000,000" in str(spec)
    assert spec.to_dict()["budget"] == {"epsilon": "ln(3)"}


def test_the_tables_of_a_specification_build_it_again() -> None:
    spec = response()
    assert dp.build(**{key: value for key, value in spec.to_dict().items() if key not in {"schema", "id", "title"}}).spec == spec


def test_a_verdict_without_witness_or_specification() -> None:
    from dpspec.verifier.verdict import Outcome, Verdict

    bare = Verdict(outcome=Outcome.UNDECIDED, method="none", scope="nothing", reason="<nobody> looked")
    assert str(bare).splitlines()[0] == "undecided"
    assert "&lt;nobody&gt;" in bare._repr_html_()


def test_nothing_of_a_report_is_loaded_before_something_is_shown() -> None:
    code = "import sys, dpspec.verifier.verdict, dpspec.comparison.compare; print(any('report' in name for name in sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"


# --- brackets -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lower", "upper", "width", "midpoint"),
    [("1/4", "3/4", "1/2", "1/2"), ("ln(3)", "ln(3)", "0", "ln(3)"), ("0", "inf", "inf", "inf"), ("inf", "inf", "0", "inf")],
)
def test_width_and_midpoint(lower, upper, width, midpoint) -> None:
    found = dp.Bracket(lower=dp.number(lower), upper=dp.number(upper))
    assert (str(found.width), str(found.midpoint)) == (width, midpoint)


def test_width_is_never_too_small_and_midpoints_lie_inside() -> None:
    for lower, upper in (("1", "ln(3)"), ("ln(3)", "sqrt(2)"), ("ln(3)", "10986122886681098/10000000000000000")):
        found = dp.Bracket(lower=dp.number(lower), upper=dp.number(upper))
        assert found.lower + found.width >= found.upper
        assert found.lower <= found.midpoint <= found.upper
        assert float(found.width) < float(found.upper) - float(found.lower) + 1e-9


# --- errors in notebooks --------------------------------------------------------------------------


def test_an_error_is_one_box_in_a_notebook() -> None:
    with pytest.raises(dp.DpspecError) as caught:
        dp.laplace(epsilom=1, wrong="\x1b[31m")
    lines = caught.value._render_traceback_()
    assert lines[0].startswith("+-- faults ")
    assert lines[-1].startswith("+-- dpspec explain unknown-key says more ")
    assert len({len(lines[0]), len(lines[-1])}) == 1
    assert all(line.startswith("| ") for line in lines[1:-1])
    assert not any("\x1b" in line for line in lines)


# --- answers first --------------------------------------------------------------------------------


def test_answers_come_first_and_reasons_on_demand(values) -> None:
    first = {
        "verified": "verified",
        "refuted": "refuted",
        "comparison": "Relation: A is implied by B",
        "conversions": "epsilon at most ",
        "account": "epsilon ",
    }
    for name, says in first.items():
        assert str(values[name]).splitlines()[0].startswith(says), name
    assert "any mechanism" in "\n".join(str(values["risk"]).splitlines()[:4])
    for name in ("comparison", "conversions", "panel", "risk"):
        told = values[name].to_text(verbose=True)
        assert len(told) > len(str(values[name])), name
        assert told.splitlines()[0] == str(values[name]).splitlines()[0]
        assert len(values[name].to_markdown(verbose=True)) > len(values[name].to_markdown())


def test_what_a_refutation_rests_on_is_there_by_default(values) -> None:
    assert "witness  x  = (0, 0)" in str(values["refuted"])
    assert "x' = (0, 1)" in str(values["refuted"])
    text = str(values["comparison"])
    assert "dataset space" in text
    assert "on the pair" in text
    assert "engine on B" not in text or "refuted" in text
    assert "Assumes: " in str(values["risk"])


def test_the_steps_of_a_proof_are_told_on_demand() -> None:
    spec = dp.spec(space=dp.records(colour=10), distance="add-remove", standard="pure", epsilon=1)
    found = dp.verify(dp.laplace(queries=dp.marginal(attributes="colour"), epsilon=1), spec)
    assert "2 steps: sensitivity, noise (--verbose shows them)" in str(found)
    assert "each of which moves at most 1" in " ".join(found.to_text(verbose=True).split())


def test_the_command_takes_verbose(run) -> None:
    arguments = ("convert", "rho=1", "--to", "epsilon", "--delta", "1e-6")
    found = dp.convert({"rho": "1"}, "epsilon", delta="1e-6")
    assert run(*arguments, "-v").out == found.to_text(verbose=True) + "\n"


def test_lists_are_lists_in_markdown() -> None:
    total = {"type": "linear-map", "rows": [[1, 1]], "label": "sum"}
    space = dp.bit_vectors(length=2)
    held = dp.spec(space=space, distance="hamming-ordered", standard="pure", epsilon="ln(3)", invariants=total)
    markdown = dp.compare(response(), held).to_markdown()
    assert "\n- two budgets are comparable only" in markdown
