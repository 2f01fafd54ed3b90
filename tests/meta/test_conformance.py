"""The kit is checked itself: every check has a toy that passes it, and one that fails it and nothing else."""

from __future__ import annotations

import importlib
import itertools
import sys

import pytest

from dpspec.base.errors import DpspecError, PluginContractError, UnknownNameError
from dpspec.extension import installed
from dpspec.testing import Status, check_plugin, run_checks
from dpspec.testing.check import Context, Subjects, check, declared_checks
from dpspec.testing.checks.risk import worlds
from tests.meta.toys import ALSO, MODULES, RIGHT, TOYS, Mute, module_text, plugin

CHECKS = {declared.name: declared for declared in declared_checks()}


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Makes a module of a text, importable here and in other processes."""

    def make(name, text):
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
        monkeypatch.syspath_prepend(str(tmp_path))
        monkeypatch.setattr(sys, "dont_write_bytecode", True)
        return importlib.import_module(name)

    return make


def failed(results):
    return {result.check for result in results if result.status is Status.FAILED}


def level_of(name):
    return CHECKS[name].level


def test_every_check_has_a_toy_that_fails_it():
    assert set(TOYS) | set(MODULES) == set(CHECKS)
    assert not set(TOYS) & set(MODULES)


@pytest.mark.spread(4, slow=10)
@pytest.mark.parametrize("name", TOYS)
def test_a_broken_toy_fails_its_check_and_nothing_else(name):
    kind, cls = TOYS[name]
    results = run_checks("toy", level=level_of(name), module=plugin(kind, cls))
    assert failed(results) == {name}, [str(result) for result in results if result.status is Status.FAILED]


@pytest.mark.spread(2, slow=5)
@pytest.mark.parametrize(("name", "kind", "cls"), ALSO, ids=lambda value: getattr(value, "__name__", value))
def test_so_do_its_other_broken_toys(name, kind, cls):
    results = run_checks("toy", level=level_of(name), module=plugin(kind, cls))
    assert failed(results) == {name}, [str(result) for result in results if result.status is Status.FAILED]


@pytest.mark.slow
@pytest.mark.parametrize("name", MODULES)
def test_a_broken_module_fails_its_check_and_nothing_else(name, module):
    results = run_checks("toy", module=module(f"toy_{name}", MODULES[name]))
    assert failed(results) == {name}, [str(result) for result in results if result.status is Status.FAILED]


@pytest.mark.long
def test_every_check_has_a_toy_that_passes_it(module):
    passed = set()
    for kind, cls in RIGHT.items():
        results = check_plugin("toy", level="full", module=plugin(kind.split()[0], cls))
        passed |= {result.check for result in results if result.status is Status.PASSED}
    results = check_plugin("toy", module=module("toy_right", module_text()))
    passed |= {result.check for result in results if result.status is Status.PASSED}
    assert passed == set(CHECKS)


def test_refuted_claims_are_reported_and_are_no_fault():
    results = run_checks("toy", module=plugin("mechanisms", RIGHT["mechanisms"]))
    (told,) = {result.detail for result in results if result.check == "check_claims_can_be_judged"}
    assert told == "epsilon = 1, which is wrong is refuted"


def test_an_attacker_who_says_nothing_of_mechanisms_is_not_said_to_hold_them():
    results = run_checks("toy", module=plugin("attackers", Mute))
    (found,) = [result for result in results if result.check == "check_attacker_holds_its_own_mechanisms"]
    assert found.status is Status.NOT_APPLICABLE, str(found)
    assert not failed(results)


def test_mechanisms_that_attackers_are_tried_with_use_up_their_budgets():
    subjects = Subjects(registry=installed().registry)
    context = Context(
        registry=subjects.registry, level="fast", placed=subjects.placed, values=subjects.values, members=subjects.members
    )
    for world in worlds(context, "tight", 5):
        spec, laws = world.spec, world.mechanism.laws
        pairs = [pair for pair in itertools.permutations(laws, 2) if spec.multiverse.share_universe(*pair, spec.space)]
        left = [
            spec.budget.value * spec.distance(x, y).as_fraction() - spec.output_divergence.between(laws[x], laws[y]).upper
            for x, y in pairs
        ]
        assert min(left) == 0, str(spec.multiverse)


def test_every_check_says_what_it_means():
    assert [name for name, declared in CHECKS.items() if len(declared.call.__doc__) <= 80] == []


# --- expected failures ---------------------------------------------------------------------------

BROKEN = "check_distance_is_symmetric"


def broken():
    return plugin(*TOYS[BROKEN])


def test_a_fault_is_an_error_that_names_check_and_subject():
    with pytest.raises(PluginContractError, match=f"{BROKEN} of toy-distance on bit-vectors.*declare is_symmetric = False"):
        check_plugin("toy", module=broken())


def test_an_expected_failure_is_no_fault():
    results = check_plugin("toy", module=broken(), expected_failures={BROKEN: "to be mended"})
    (found,) = {result.detail.partition(":")[0] for result in results if result.status is Status.EXPECTED_FAILURE}
    assert found == "to be mended"


def test_an_expected_failure_that_passes_is_a_fault():
    with pytest.raises(PluginContractError, match="check_plugin_loads of toy: no subject fails it any more"):
        check_plugin("toy", module=broken(), expected_failures={BROKEN: "known", "check_plugin_loads": "known"})


def test_names_that_do_not_exist_are_refused():
    with pytest.raises(UnknownNameError, match="did you mean check_distance_is_symmetric"):
        run_checks("toy", module=broken(), expected_failures={"check_distance_is_symetric": "typo"})
    with pytest.raises(UnknownNameError, match="is not installed"):
        run_checks("no-such-plugin")


def test_a_check_needs_a_name_of_its_own_and_a_docstring():
    def check_plugin_loads(subject, context):
        """Taken."""

    def check_something(subject, context):
        pass

    for function in (check_plugin_loads, check_something):
        with pytest.raises(DpspecError, match="needs a name"):
            check("plugins")(function)
