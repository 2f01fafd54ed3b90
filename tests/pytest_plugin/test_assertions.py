"""`assert_satisfies` in ordinary tests, as a function and as a fixture."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest

from dpspec import Outcome, UniformBudget
from dpspec.api import read
from dpspec.testing import ClaimNotHeld, assert_satisfies

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


def test_undecided_is_no_pass_unless_asked_for(document):
    def silent(dataset, generator):
        return generator.normal()

    with pytest.raises(ClaimNotHeld, match=r"undecided\n *reason *not refuted"):
        assert_satisfies(silent, document, draws=200)
    assert assert_satisfies(silent, document, draws=200, undecided="pass").outcome is Outcome.UNDECIDED


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
            assert_satisfies(lambda dataset, generator: generator.normal(), "warner.dpspec.toml", draws=200)
    """)
    run = pytester.runpytest("test_the_fixture_leaves_undecided_as_configured.py", "-o", f"dpspec_undecided={choice}", "-rs")
    run.assert_outcomes(**outcomes)
    run.stdout.fnmatch_lines(["*undecided: not refuted*"] if choice == "skip" else ["*ClaimNotHeld: undecided*"])
