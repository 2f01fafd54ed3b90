"""`dpspec check-plugin`."""

from __future__ import annotations

import pytest


@pytest.mark.slow
def test_a_conforming_plugin(run):
    ran = run("check-plugin", "tables")
    assert ran.code == 0, ran.out
    assert ran.out.startswith("tables: conforms")


@pytest.mark.long
def test_what_was_passed_is_said(run):
    ran = run("check-plugin", "marginal")
    assert ran.code == 0, ran.out
    assert "passed level sets partition the space: " in " ".join(ran.out.split())


@pytest.mark.slow
def test_json_has_every_result(run):
    data = run("check-plugin", "randomised-response", "--format", "json").json("check-plugin")
    assert data["conforms"]
    checks = {result["check"] for result in data["results"]}
    assert {"check_law_is_normalised", "check_plugin_loads", "check_parameters_refuse_nan"} <= checks


@pytest.mark.slow
def test_an_expected_failure_that_passes_is_a_fault(run):
    ran = run("check-plugin", "tables", "--expect", "check_plugin_loads=it needs a licence")
    assert ran.code == 1
    assert "PASSED AFTER ALL plugin loads" in " ".join(ran.out.split())
    assert "it was expected because it needs a licence" in " ".join(ran.out.split())


def test_names_that_do_not_exist(run):
    for arguments in (["core", "--expect", "check_nothing=why"], ["cor"], ["core", "--expect", "check_plugin_loads"]):
        assert run("check-plugin", *arguments).code == 2


@pytest.mark.slow
def test_a_registered_name_is_checked_alone(run):
    ran = run("check-plugin", "hamming", "--format", "json")
    assert ran.code == 0
    results = ran.json("check-plugin")["results"]
    asked = {(row["check"], row["subject"].split(" ")[0]) for row in results if row["status"] == "passed"}
    assert any(check == "check_distance_is_symmetric" for check, _ in asked)
    assert not any("geometric" in subject for _, subject in asked)


@pytest.mark.slow
def test_every_kind_has_a_name_that_can_be_asked_for():
    """One registered name of each kind: some check of its own kind is among its cases (workers: in full)."""
    from dpspec.extension import KINDS, installed
    from dpspec.testing.check import declared_checks
    from dpspec.testing.conformance import cases

    checked = {check.kind for check in declared_checks()}
    for kind in KINDS:
        if kind in checked:
            names = [e.qualified_name for e in installed().registry if e.kind == kind]
            assert any(case.check.kind == kind for name in names for case in cases(name, level="full")), kind
