"""Paths of conversions: every one, best first, with formulas of a plugin that goes in circles."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import ClassVar

import pytest

from dpspec.base.errors import MissingKeyError, NoFormulaError, ParameterError, UnknownKeyError, UnknownNameError
from dpspec.base.exact import Bracket, number
from dpspec.base.params import build
from dpspec.extension import installed
from dpspec.grammar.rule import Conversion
from dpspec.reason.conversions import LONGEST, convert, equations, paths, registered

REGISTRY = installed().registry


def divergence(name, **parameters):
    return build(REGISTRY.get("output_divergences", name), parameters, name)


def ask(given, to, *, at="", **more):
    return convert(REGISTRY, equations(given.split()), to, equations(at.split()), **more)


# --- the census question -------------------------------------------------------------------------


@pytest.mark.reference("B-N2", "K-N14")
def test_every_path_from_rho_to_epsilon_best_first():
    found = ask("rho=2.63", "epsilon", at="delta=1e-10")
    numbers = {path.names: path.value.upper.decimal(7) for path in found.paths}
    assert found.goal == divergence("mult-delta", delta="1e-10")
    assert found.alike == ("pbdp",)
    assert numbers["zcdp-to-approximate",] == "18.1938"
    assert numbers["zcdp-to-approximate-bun-steinke",] == "17.72674"
    assert numbers["zcdp-to-approximate-cks",] == "17.43058"
    assert numbers["zcdp-to-gaussian", "gaussian-to-approximate"] == "16.74198"
    implied = [path for path in found.paths if not path.known]
    assert found.paths[: len(implied)] == tuple(implied)
    assert implied[0].names == ("zcdp-to-approximate-cks",)
    for group in (implied, found.paths[len(implied) :]):
        assert [path.value.upper for path in group] == sorted(path.value.upper for path in group)


def test_a_known_mechanism_ranks_first_and_others_are_left_out():
    found = ask("rho=2.63", "epsilon", at="delta=1e-10", mechanism="gaussian")
    assert found.paths[0].names == ("zcdp-to-gaussian", "gaussian-to-approximate")
    assert found.paths[0].tight
    assert not any("discrete" in name for path in found.paths for name in path.names)


def test_a_path_is_tight_only_when_its_last_step_is_and_what_comes_before_is_the_mechanism():
    found = {path.names: path for path in ask("rho=2.63", "epsilon", at="delta=1e-10").paths}
    assert not found["zcdp-to-renyi", "renyi-to-approximate-cks"].tight
    assert "renyi-to-approximate-cks" in found["zcdp-to-renyi", "renyi-to-approximate-cks"].sense
    assert ask("epsilon=1", "rho").paths[0].tight


def test_the_best_order_on_the_way_is_taken():
    found = {path.names: path for path in ask("rho=2.63", "epsilon", at="delta=1e-10").paths}
    path = found["zcdp-to-renyi", "renyi-to-approximate"]
    orders = [Fraction(n, 4) for n in (5, 6, 8, 10, 12, 14, 16, 20, 24, 32, 48, 64)]
    by_hand = min(2.63 * float(a) + 23.02585093 / (float(a) - 1) for a in orders)
    assert float(path.value.upper) == pytest.approx(by_hand, abs=1e-7)


@pytest.mark.parametrize(("given", "to", "at", "number_"), [
    ("epsilon=1", "rho", "", "0.462117"), ("epsilon=1", "mu", "", "1.23204"), ("epsilon=1", "distance", "", "0.462117"),
    ("epsilon=1 delta=1e-6", "distance", "", "0.462118"), ("mu=1", "rho", "", "0.5"), ("mu=1", "epsilon", "order=3", "1.5"),
    ("rho=1", "divergence", "generator=kl direction=both", "1"), ("epsilon=1 order=4", "epsilon", "delta=1e-6", "4.85539"),
    ("distance=0.1", "pbdp", "delta=0.2", "0.693147"), ("epsilon=ln(4)", "trade-off", "epsilon=ln(2)", "3"),
])  # fmt: skip
def test_other_questions(given, to, at, number_):
    assert ask(given, to, at=at).paths[0].value.upper.decimal() == number_


@pytest.mark.parametrize("rho", ["1/1000", "1/2", "100", "300", "1e400"])
def test_a_delta_and_a_budget_beyond_the_range_of_doubles(rho):
    """At 1e-400 the formula rho + 2 sqrt(rho ln(1/delta)) is above the best one, and both are numbers."""
    found = {path.names: path.value.upper for path in ask(f"rho={rho}", "epsilon", at="delta=1e-400").paths}
    simple = found["zcdp-to-approximate",]
    assert simple.decimal() == {"1/1000": "1.92041", "1/2": "43.4193", "100": "706.971", "300": "1351.3"}.get(rho, "1.00000e+400")
    assert all(value <= simple for names, value in found.items() if names[-1] == "zcdp-to-approximate-discrete-gaussian")


# --- bad input -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("given", "to", "at", "error", "says"), [
    ("rho=2.63", "epsilon", "", MissingKeyError, "delta"),
    ("rho=2.63", "epsilon", "delta=2", ParameterError, "delta"),
    ("rho=2.63", "epsilon", "delta=0", ParameterError, "leave it out"),
    ("rho=2.63", "epsilon", "delta=-1", ParameterError, "delta"),
    ("rho=2.63", "epsilon", "delta=1", ParameterError, "delta"),
    ("rho=2.63", "epsilon", "delta=x", ParameterError, "delta"),
    ("rho=-1", "epsilon", "delta=1e-10", ParameterError, "at least 0"),
    ("rho=inf", "epsilon", "delta=1e-10", ParameterError, "finite"),
    ("rho=much", "epsilon", "delta=1e-10", ParameterError, "rho"),
    ("roh=1", "epsilon", "delta=1e-10", UnknownNameError, "did you mean rho"),
    ("rho=1", "epsilonn", "delta=1e-10", UnknownNameError, "did you mean epsilon"),
    ("rho=1", "epsilon", "delta=1e-10 size=3", MissingKeyError, "takes delta"),
    ("rho=1", "mult-delta", "delta=1e-10 size=3", UnknownKeyError, "size"),
    ("rho=1 delta=1e-5", "epsilon", "delta=1e-10", MissingKeyError, "d-nor takes nothing"),
    ("epsilon=1 delta=1e-6", "rho", "", NoFormulaError, "by any registered formula"),
    ("rho=1", "rho", "", NoFormulaError, "was given"),
    ("", "rho", "", MissingKeyError, "by its name"),
])  # fmt: skip
def test_bad_questions_are_told_apart(given, to, at, error, says):
    with pytest.raises(error, match=says):
        ask(given, to, at=at)


def test_an_unknown_mechanism_is_told():
    with pytest.raises(UnknownNameError, match="discrete-gaussian"):
        ask("rho=1", "epsilon", at="delta=1e-5", mechanism="discrete-gausian")


@pytest.mark.parametrize(("texts", "says"), [(["rho"], "a name and a value"), (["=1"], "a name"), (["rho=1", "rho=2"], "twice")])
def test_equations_are_names_and_values(texts, says):
    with pytest.raises(ParameterError, match=says):
        equations(texts)


# --- a plugin in circles -------------------------------------------------------------------------


class Around(Conversion):
    """Leads everywhere, itself among it."""

    name: ClassVar[str] = "around"
    citation: ClassVar[str] = "none"
    source: ClassVar[str] = "mult"
    target: ClassVar[str] = "d-nor"
    formula: ClassVar[str] = "the same"

    def convert(self, source, value, target):
        return Bracket.exactly(value)

    def converted(self, source, value, target):
        """Without a trial of the formula, which is false: the walk alone is tested."""
        return self.convert(source, value, target)

    def targets(self, source, goal) -> Iterator:
        yield from (divergence("mult"), divergence("renyi", order=2), divergence("total-variation"), goal)


def test_circles_end():
    arrows = []
    for place, source in enumerate(("mult", "renyi", "total-variation", "d-nor")):
        arrows.append(type(f"Around{place}", (Around,), {"name": f"around-{place}", "source": source})())
    found = paths(arrows, divergence("mult"), number(1), divergence("d-nor"))
    assert 0 < len(found) < 20
    assert max(len(path.legs) for path in found) <= LONGEST
    for path in found:
        names = [leg.target.name for leg in path.legs]
        assert len(names) == len(set(names))


def test_formulas_for_known_mechanisms_are_told_apart_from_the_others():
    kinds = {arrow.name: arrow for arrow in registered(REGISTRY) if arrow.mechanism is not None}
    assert set(kinds) == {"zcdp-to-gaussian", "zcdp-to-approximate-discrete-gaussian"}
    assert all(arrow.needs.startswith("the mechanism adds") for arrow in kinds.values())
