"""`dpspec check-plugin`."""

from __future__ import annotations


def test_a_conforming_plugin(run):
    ran = run("check-plugin", "core")
    assert ran.code == 0, ran.out
    assert ran.out.startswith("core: conforms")
    assert "passed level sets partition the space: " in " ".join(ran.out.split())


def test_json_has_every_result(run):
    data = run("check-plugin", "core", "--format", "json").json("check-plugin")
    assert data["conforms"]
    checks = {result["check"] for result in data["results"]}
    assert {"check_law_is_normalised", "check_plugin_loads", "check_parameters_refuse_nan"} <= checks


def test_an_expected_failure_that_passes_is_a_fault(run):
    ran = run("check-plugin", "core", "--expect", "check_plugin_loads=it needs a licence")
    assert ran.code == 1
    assert "PASSED AFTER ALL plugin loads" in " ".join(ran.out.split())
    assert "it was expected because it needs a licence" in " ".join(ran.out.split())


def test_names_that_do_not_exist(run):
    for arguments in (["core", "--expect", "check_nothing=why"], ["cor"], ["core", "--expect", "check_plugin_loads"]):
        assert run("check-plugin", *arguments).code == 2
