"""Classes that cannot work are refused when they are registered, by their name; first-party names are not for others."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace
from typing import ClassVar

import pytest

from dpspec import spec
from dpspec.base.errors import PluginContractError, PluginLoadError
from dpspec.extension.loader import load_plugins
from dpspec.plugin import AttackerModel, BitVectors, FiniteLaw, Mechanism, define, hookimpl
from dpspec.verifier.exhaustive import verify


class Bare(Mechanism):
    """Lacks the decorator."""

    name: ClassVar[str] = "bare"

    def law(self, dataset, space):
        return FiniteLaw.point(0)


@define
class Lawless(Mechanism):
    """Has no law."""

    name: ClassVar[str] = "lawless"


@define
class Untitled(AttackerModel):
    """Says nothing of itself."""

    name: ClassVar[str] = "untitled"

    def under(self, *given, **also):
        return ()

    def worst_case(self, *given, **also):
        return ()


@define
class ThreeQuarters(Mechanism):
    """Its probabilities sum to 3/4."""

    name: ClassVar[str] = "three-quarters"

    def law(self, dataset, space):
        return FiniteLaw.of({0: Fraction(1, 2), 1: Fraction(1, 4)})


@define
class Negative(Mechanism):
    """One probability is below 0."""

    name: ClassVar[str] = "negative"

    def law(self, dataset, space):
        return FiniteLaw.of({0: Fraction(3, 2), 1: Fraction(-1, 2)})


def loaded(cls: type, kind: str = "mechanisms", name: str | None = None):
    """What becomes of a plugin that registers one class."""

    @hookimpl
    def hook(register):
        register(cls, name=name)

    module = SimpleNamespace(**{f"dpspec_register_{kind}": hook})
    return next(info for info in load_plugins(modules=[("demo", module)]).infos if info.provenance.plugin == "demo")


@pytest.mark.parametrize(
    ("cls", "kind", "words"),
    [
        (Bare, "mechanisms", ["mechanism bare", "@define", "class Bare"]),
        (Lawless, "mechanisms", ["mechanism lawless", "lacks law()"]),
        (Untitled, "attackers", ["attacker untitled", "ClassVar[str]", "class Untitled"]),
    ],
)
def test_a_class_that_cannot_work_is_refused_by_name(cls, kind, words):
    info = loaded(cls, kind)
    assert info.status == "failed"
    assert isinstance(info.error, PluginContractError)
    assert [word for word in ["plugin demo", *words] if word not in str(info.error)] == []


@pytest.mark.parametrize("name", ["laplace", "randomised-response", "topdown"])
def test_a_first_party_name_is_not_for_others(name):
    info = loaded(ThreeQuarters, name=name)
    assert info.status == "failed"
    assert f'such as "demo-{name}"' in str(info.error)


def test_a_name_of_its_own_is_accepted():
    assert loaded(ThreeQuarters).status == "loaded"


@pytest.mark.parametrize("cls", [ThreeQuarters, Negative])
def test_a_law_that_is_none_is_a_fault_of_the_class(cls):
    claim = spec(space=BitVectors(length=1), distance="hamming-ordered", standard="pure", epsilon=1)
    with pytest.raises(PluginContractError) as raised:
        verify(cls(), claim)
    place = __file__.rpartition("/")[2]
    assert f"mechanism {cls.name}: law() returned no probability distribution at {place}:" in str(raised.value)


def test_a_first_party_plugin_keeps_its_name():
    """A stranger's plugin of the same name is refused, and the first-party one still works."""
    infos = [info for info in load_plugins(modules=[("noise", SimpleNamespace())]).infos if info.provenance.plugin == "noise"]
    assert {info.provenance.distribution: info.status for info in infos} == {"dpspec-noise": "loaded", "local code": "failed"}


@pytest.mark.parametrize("problem", [SystemExit(0), GeneratorExit(), KeyError("x")])
def test_a_plugin_that_ends_the_process_does_not_take_the_others_down(problem):
    @hookimpl
    def hook(register):
        raise problem

    infos = load_plugins(modules=[("demo", SimpleNamespace(dpspec_register_mechanisms=hook))]).infos
    (demo,) = (info for info in infos if info.provenance.plugin == "demo")
    assert demo.status == "failed"
    assert f"plugin demo: raised {type(problem).__name__}" in str(demo.error)
    assert all(info.status == "loaded" for info in infos if info is not demo)


def test_a_class_whose_module_ends_the_process_is_fatal_only_to_what_names_it(tmp_path, monkeypatch):
    (tmp_path / "ends_the_process.py").write_text("import sys\nsys.exit(0)\n", encoding="ascii")
    monkeypatch.syspath_prepend(tmp_path)
    names = hookimpl(lambda: {"mechanisms": {"ending": "ends_the_process:Ending"}}, specname="dpspec_names")
    registry = load_plugins(modules=[("demo", SimpleNamespace(DPSPEC_API=1, dpspec_names=names))]).registry
    with pytest.raises(PluginLoadError, match="cannot load ending: SystemExit"):
        registry.get("mechanisms", "ending")
