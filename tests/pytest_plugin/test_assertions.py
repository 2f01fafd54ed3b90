"""`assert_satisfies` in ordinary tests, as a function and as a fixture."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest

from dpspec import Outcome, UniformBudget
from dpspec.api import read
from dpspec.base.errors import ParameterError
from dpspec.testing import ClaimNotHeld, assert_not_refuted, assert_satisfies

pytest_plugins = "pytester"


@pytest.fixture
def document(tmp_path, spec):
    path = tmp_path / "warner.dpspec.toml"
    path.write_text(spec(), encoding="utf-8")
    return read(path)


def test_a_right_claim_gives_the_verdict(document):
    for form in (document, document.spec, document.path):
        assert assert_satisfies(document.mechanism, form).outcome is Outcome.VERIFIED


def test_a_wrong_claim_names_bound_and_witness(document):
    strict = document.spec.replace(budget=UniformBudget(parameter="epsilon", value=1))
    with pytest.raises(AssertionError) as failure:
        assert_satisfies(document.mechanism, strict)
    text = str(failure.value)
    assert text.startswith("randomised-response does not satisfy the specification")
    assert "ln(3) (about 1.09861), allowed 1" in text
    assert "x  = (0, 0)" in text
    assert failure.value.verdict.outcome is Outcome.REFUTED


@pytest.mark.slow
def test_undecided_is_no_pass_unless_asked_for(document):
    def silent(dataset, generator):
        return generator.standard_t(3)

    with pytest.raises(ClaimNotHeld, match=r"undecided\n *reason *not refuted"):
        assert_satisfies(silent, document, draws=200)
    assert assert_satisfies(silent, document, draws=200, undecided="pass").outcome is Outcome.UNDECIDED


def heavy(scale):
    """Noise that nobody reads off the code; its loss per unit distance is 1.15/scale or so."""
    return lambda dataset, generator: sum(dataset) + scale * generator.standard_t(3)


@pytest.mark.slow
def test_what_is_not_refuted_passes_only_where_the_fault_would_have_been_found(document):
    """Claimed ln(3): a loss of 2 at events of a fifth takes some thousand draws, one of 1.0987 billions, on any machine."""
    verdict = assert_not_refuted(heavy(1.5), document, loss=2, mass="0.2", draws=3_000, seconds=600)
    assert verdict.outcome is Outcome.UNDECIDED
    assert verdict.reason.startswith("not refuted: a loss of 2 or more per unit distance at one of")
    assert "verified" not in verdict.reason.partition("; nor was it verified")[0]
    with pytest.raises(ClaimNotHeld, match=r"was not checked closely enough(.|\n)*could have been missed"):
        assert_not_refuted(heavy(1.5), document, loss="1.0987", mass="0.05", draws=3_000, seconds=600)
    with pytest.raises(ClaimNotHeld, match=r"does not satisfy the specification(.|\n)*witness"):
        assert_not_refuted(heavy(0.3), document, loss=2, mass="0.2", draws=60_000, seconds=600)


def test_a_loss_that_is_allowed_is_no_fault_to_look_for(document):
    with pytest.raises(ParameterError, match="must be more than is allowed"):
        assert_not_refuted(heavy(1.5), document, loss=1, draws=2_000)


def test_a_plain_function_is_judged_by_its_exact_law(document):
    def hasty(bits, generator):
        return [bit ^ int(generator.random() < 0.125) for bit in bits]

    with pytest.raises(ClaimNotHeld, match=r"^hasty does not satisfy the specification") as failure:
        assert_satisfies(hasty, document)
    assert failure.value.verdict.method == "exhaustive"
    assert str(failure.value.verdict.constant) == "ln(7)"


def test_the_fixtures(project, spec):
    pytester = project(warner=spec())
    pytester.makepyfile("""
        import pytest
        from dpspec import UniformBudget

        def test_right(assert_satisfies, dpspec_spec):
            document = dpspec_spec("warner.dpspec.toml")
            assert_satisfies(document.mechanism, document)

        def test_wrong(assert_satisfies, dpspec_spec):
            document = dpspec_spec("warner.dpspec.toml")
            assert_satisfies(document.mechanism, document.spec.replace(budget=UniformBudget(parameter="epsilon", value=1)))
    """)
    xml = pytester.path / "out.xml"
    run = pytester.runpytest("test_the_fixtures.py", f"--junitxml={xml}")
    run.assert_outcomes(passed=1, failed=1)
    run.stdout.fnmatch_lines(["*witness *x  = (0, 0)"])
    constants = [entry.get("value") for entry in ElementTree.parse(xml).iter("property") if entry.get("name") == "constant"]
    assert constants == ["ln(3)", "ln(3)"]


@pytest.mark.parametrize(("choice", "outcomes"), [("skip", {"skipped": 1}), ("fail", {"failed": 1})])
def test_the_fixture_leaves_undecided_as_configured(project, spec, choice, outcomes):
    pytester = project(warner=spec())
    pytester.makepyfile("""
        def test_open(assert_satisfies):
            assert_satisfies(lambda dataset, generator: generator.standard_t(3), "warner.dpspec.toml", draws=200)
    """)
    run = pytester.runpytest("test_the_fixture_leaves_undecided_as_configured.py", "-o", f"dpspec_undecided={choice}", "-rs")
    run.assert_outcomes(**outcomes)
    run.stdout.fnmatch_lines(["*undecided: not refuted*"] if choice == "skip" else ["*ClaimNotHeld: undecided*"])
