"""Specification files as pytest items: which there are, how each ends, and what is said about it."""

from __future__ import annotations

import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import pytest

pytest_plugins = "pytester"

WRONG = "1"
RIGHT = "ln(3)"


def properties(xml, test):
    """The JUnit properties of one item."""
    (case,) = [case for case in ElementTree.parse(xml).iter("testcase") if case.get("name") == test]
    return {entry.get("name"): entry.get("value") for entry in case.iter("property")}


def test_one_item_per_obligation(project, spec):
    run = project(warner=spec(numbers=[("half", "ln(2)"), ("a half", "ln(2)")])).runpytest("--collect-only", "-q")
    run.stdout.fnmatch_lines([
        "warner.dpspec.toml::reads",
        "warner.dpspec.toml::claim",
        "warner.dpspec.toml::number: amplified by half",
        "warner.dpspec.toml::number: amplified by a half",
    ])  # fmt: skip


MINIATURE = '[[miniature]]\ntitle = "one person :: alone"\n[miniature.space]\ntype = "bit-vectors"\nlength = 1\n'


def test_nothing_is_proved_while_files_are_collected(project, spec, monkeypatch):
    """A proof may take seconds, and each worker of xdist collects all files, also those that it verifies nothing of."""
    proved = []
    monkeypatch.setattr("dpspec.verifier.obligations.judged_unlisted", lambda *given: proved.append(given))
    found = project(warner=spec() + MINIATURE).runpytest("--collect-only", "-q")
    found.stdout.fnmatch_lines(["warner.dpspec.toml::claim", "warner.dpspec.toml::claim on miniature: one person : alone"])
    assert proved == []


@pytest.mark.slow
def test_a_miniature_is_an_item_of_its_own(project, spec):
    small = MINIATURE + MINIATURE
    unproved = spec().replace('type = "mult"', 'type = "mult-delta"\ndelta = 0')  # not known as a metric: no proof
    pytester = project(warner=unproved + small)
    run = pytester.runpytest("-v", "-rs")
    run.assert_outcomes(passed=1, skipped=3)
    run.stdout.fnmatch_lines([
        "warner.dpspec.toml::claim SKIPPED*",
        "warner.dpspec.toml::claim on miniature: one person : alone SKIPPED*",
        "warner.dpspec.toml::claim on miniature: one person : alone (2) SKIPPED*",
        "SKIPPED * no verdict on the whole space, only on miniatures: *",
        "SKIPPED * holds on miniatures only: verified: constant ln(3)*",
    ])  # fmt: skip
    accepted = pytester.runpytest("-v", "-o", "dpspec_accept=miniature recorded")
    accepted.assert_outcomes(passed=1, skipped=1)
    accepted.stdout.fnmatch_lines([
        "warner.dpspec.toml::claim on miniature: one person : alone MINIATURE*", "*1 passed, 1 skipped, 2 miniature*",
    ])  # fmt: skip


def test_a_claim_on_record_as_refuted_is_neither_passed_nor_failed(project, spec):
    recorded = spec(epsilon=WRONG) + '[claim]\nverdict = "refuted"\nbecause = "ln(3) is larger"\n'
    pytester = project(warner=recorded)
    run = pytester.runpytest("-rs")
    run.assert_outcomes(passed=1, skipped=1)
    run.stdout.fnmatch_lines(["SKIPPED * known false (confirmed): *"])
    pytester.runpytest("-o", "dpspec_accept=recorded").stdout.fnmatch_lines(["*1 passed, 1 recorded*"])


def test_a_claim_that_is_filed_as_undecided_is_no_pass(project, spec):
    unproved = spec().replace('type = "mult"', 'type = "mult-delta"\ndelta = 0')
    filed = unproved.replace("length = 2", "length = 30") + '[claim]\nverdict = "undecided"\nbecause = "too large"\n'
    run = project(warner=filed).runpytest("-rs")
    run.assert_outcomes(passed=1, skipped=1)
    run.stdout.fnmatch_lines(["SKIPPED * nothing was checked: *"])


def test_a_word_that_cannot_be_accepted_is_refused(project, spec):
    run = project(warner=spec()).runpytest("-o", "dpspec_accept=refuted")
    assert run.ret == pytest.ExitCode.USAGE_ERROR
    run.stderr.fnmatch_lines(["*dpspec_accept=refuted: must be one of recorded, miniature, unchecked, undecided*"])


def test_a_right_claim_passes(project, spec):
    project(warner=spec(numbers=[("half", "ln(2)")])).runpytest().assert_outcomes(passed=3)


def test_a_wrong_claim_fails_with_its_witness_and_no_traceback(project, spec):
    run = project(warner=spec(epsilon=WRONG)).runpytest()
    run.assert_outcomes(passed=1, failed=1)
    run.stdout.fnmatch_lines([
        "*warner.dpspec.toml: claim*", "refuted", "*constant *ln(3)*allowed 1", "*witness *x  = (0, 0)", "*x' = (0, 1)",
        "*d_X = 1, d_Pr = ln(3)*", "*event *the outcome (0, 0) has probability 9/16 at x and 3/16 at x'",
    ])  # fmt: skip
    run.stdout.no_fnmatch_line("*Traceback*")
    run.stdout.no_fnmatch_line("*pytest_plugin.py*")
    run.stdout.fnmatch_lines(["FAILED warner.dpspec.toml::claim*"])


def test_a_wrong_claim_leaves_a_witness_file_where_asked(project, spec):
    pytester = project(warner=spec(epsilon=WRONG))
    run = pytester.runpytest("-o", "dpspec_witnesses=found")
    (file,) = (pytester.path / "found").iterdir()
    run.stdout.fnmatch_lines([f"  replay: dpspec verify --replay *{file.name}"])


def test_a_missed_number_fails_with_both_numbers(project, spec):
    run = project(warner=spec(numbers=[("half", "0.7")])).runpytest()
    run.assert_outcomes(passed=2, failed=1)
    run.stdout.fnmatch_lines(["*number: amplified by half is not met: epsilon = 0.7 printed, 0.693147 by amplification*"])


def test_a_file_that_cannot_be_read_fails_with_every_fault_and_its_line(project, spec):
    run = project(warner=spec().replace('"mult"', '"mul"').replace("hamming-ordered", "haming-ordered")).runpytest()
    run.assert_outcomes(failed=1)
    run.stdout.fnmatch_lines(
        ["*warner.dpspec.toml:8: *did you mean hamming-ordered?", "*warner.dpspec.toml:10: *did you mean mult?"]
    )
    run.stdout.no_fnmatch_line("*Traceback*")


@pytest.mark.parametrize(("choice", "outcomes"), [
    ((), {"passed": 1, "skipped": 1}),
    (("-o", "dpspec_undecided=skip"), {"passed": 1, "skipped": 1}),
    (("-o", "dpspec_undecided=fail"), {"passed": 1, "failed": 1}),
])  # fmt: skip
def test_undecided_is_skipped_or_fails_as_configured(project, spec, choice, outcomes):
    run = project(open=spec(mechanism=False)).runpytest("-rs", *choice)
    run.assert_outcomes(**outcomes)
    run.stdout.fnmatch_lines(["*nothing was checked: the file names no mechanism*"])
    if "skipped" in outcomes:
        run.stdout.fnmatch_lines(["SKIPPED * open.dpspec.toml:1: nothing was checked: *"])


def test_another_word_for_undecided_is_refused(project, spec):
    run = project(warner=spec()).runpytest("-o", "dpspec_undecided=pass")
    assert run.ret == pytest.ExitCode.USAGE_ERROR
    run.stderr.fnmatch_lines(["*dpspec_undecided=pass: must be skip or fail"])


def test_a_plugin_that_raises_is_a_failure_without_traceback(project, spec, monkeypatch):
    from dpspec.base.errors import PluginContractError
    from dpspec.verifier import mechanisms

    def broken(*_, **__):
        raise PluginContractError("mechanism silent", "raised ZeroDivisionError: in the law")

    monkeypatch.setattr(mechanisms, "verify", broken)
    run = project(warner=spec()).runpytest()
    run.assert_outcomes(passed=1, failed=1)
    run.stdout.fnmatch_lines(["mechanism silent: raised ZeroDivisionError: in the law"])
    run.stdout.no_fnmatch_line("*Traceback*")


def test_specs_can_be_left_to_the_command_line(project, spec):
    pytester = project(warner=spec(), other=spec("other"))
    pytester.makeini("[pytest]\ndpspec_specs = false\n")
    assert pytester.runpytest().ret == pytest.ExitCode.NO_TESTS_COLLECTED
    pytester.runpytest("warner.dpspec.toml").assert_outcomes(passed=2)


def test_only_testpaths_are_searched(project, spec):
    pytester = project(outside=spec())
    pytester.makeini("[pytest]\ntestpaths = claims\n")
    pytester.mkdir("claims").joinpath("inside.dpspec.toml").write_text(spec("inside"), encoding="utf-8")
    run = pytester.runpytest("-v")
    run.assert_outcomes(passed=2)
    run.stdout.no_fnmatch_line("*outside*")


def test_one_item_can_be_chosen(project, spec):
    pytester = project(warner=spec(epsilon=WRONG, numbers=[("half", "ln(2)")]))
    pytester.runpytest("warner.dpspec.toml::number: amplified by half").assert_outcomes(passed=1)
    pytester.runpytest("-m", "dpspec(kind='claim')").assert_outcomes(failed=1, deselected=2)
    pytester.runpytest("-m", "not dpspec").assert_outcomes(deselected=3)


def test_junit_keeps_what_a_verdict_rests_on(project, spec):
    pytester = project(warner=spec(epsilon=WRONG, numbers=[("half", "ln(2)")]))
    xml = pytester.path / "out.xml"
    pytester.runpytest(f"--junitxml={xml}")
    claim = properties(xml, "claim")
    assert (claim["word"], claim["outcome"]) == ("refuted", "refuted")
    assert claim["method"] == "exhaustive"
    assert (claim["constant"], claim["bound"]) == ("ln(3)", "1")
    assert claim["scope"].startswith("all 6 pairs")
    assert "x = (0, 0), x' = (0, 1)" in claim["witness"]
    assert "dpspec-noise 0.1.0" in claim["plugins"]
    assert properties(xml, "number: amplified by half")["constant"] == "ln(2)"


def test_the_header_names_the_versions(project, spec):
    project(warner=spec()).runpytest().stdout.fnmatch_lines(["dpspec: 0.1.0, dpspec-*dpspec-noise 0.1.0*"])


def test_a_project_without_specifications_is_left_alone(project):
    pytester = project()
    pytester.makepyfile("def test_nothing():\n    pass")
    pytester.makefile(".toml", settings="no = 'specification'")
    pytester.runpytest("--strict-markers", "-W", "error").assert_outcomes(passed=1)


# --- in a process of its own ---------------------------------------------------------------------


def test_importing_the_plugin_needs_pytest_alone():
    code = "import sys, pytest; before = set(sys.modules); import dpspec.pytest_plugin; print(*sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    names = {name.partition(".")[0] for name in done.stdout.split()}
    assert names - set(sys.stdlib_module_names) == {"dpspec"}
    core = {name for name in done.stdout.split() if name.startswith("dpspec")}
    assert core == {"dpspec", "dpspec.base", "dpspec.base.lazy", "dpspec.pytest_plugin"}


def test_it_can_be_switched_off(project, spec):
    run = project(warner=spec(epsilon=WRONG)).runpytest_subprocess("-p", "no:dpspec")
    assert run.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    run.stdout.no_fnmatch_line("dpspec: *")


@pytest.mark.slow
def test_under_xdist_the_same_items_end_the_same_way(project, spec):
    pytester = project(
        right=spec("right", RIGHT, numbers=[("half", "ln(2)")]), wrong=spec("wrong", WRONG), open=spec(mechanism=False)
    )
    xml = pytester.path / "out.xml"
    run = pytester.runpytest_subprocess("-n", "2", f"--junitxml={xml}")
    run.assert_outcomes(passed=5, failed=1, skipped=1)
    run.stdout.fnmatch_lines(["*witness *x  = (0, 0)", "*x' = (0, 1)"])
    cases = [case for case in ElementTree.parse(xml).iter("testcase") if case.get("name") == "claim"]
    assert sum(case.find("properties") is not None for case in cases) >= 2
