"""Comparisons on unlimited and very wide spaces: budgets are told apart, and the work is bounded."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import pytest
from dpspec_divergences import DNor, Hamming, Mult, MultDelta

import dpspec as dp
from dpspec.api import compare, compared, find_yardsticks
from dpspec.base.exact import number
from dpspec.blocks.budget import UniformBudget
from dpspec.blocks.input_divergence import InputDivergence
from dpspec.blocks.multisets import all_records, multisets_of
from dpspec.blocks.multiverse import Trivial
from dpspec.blocks.records import Households, OrderedRecords, UnorderedRecords
from dpspec.blocks.space import Attribute, DatasetSpace
from dpspec.blocks.vectors import BitVectors
from dpspec.comparison.compare import Answer
from dpspec.extension import installed
from dpspec.grammar.spec import PrivacySpec
from dpspec.reason.small_spaces import ENTRIES, entries, first_datasets

REGISTRY = installed().registry
SEX = Attribute(name="sex", categories=("f", "m"))
COUNTY = Attribute(name="county", categories=("n", "s"))
SPACES: dict[str, DatasetSpace] = {
    "records": UnorderedRecords(attributes=(SEX,)),
    "at least 1,000 records": UnorderedRecords(attributes=(SEX,), least=1000),
    "ordered-records": OrderedRecords(attributes=(SEX,)),
    "households": Households(household=(COUNTY,), person=(SEX,)),
}
PARAMETERS = {
    "mult-delta": {"delta": "1e-6"},
    "renyi": {"order": 2},
    "hockey-stick": {"epsilon": "1"},
    "pbdp": {"delta": "1e-6"},
    "trade-off": {"epsilon": "ln(3)", "delta": "1/10"},
    "f-divergence": {"generator": "kl", "direction": "forward"},
}
STANDARDS = [cls(**PARAMETERS.get(cls.name, {})) for cls in REGISTRY.classes("output_divergences")]
LARGE = {"total-variation": "1/2", "hockey-stick": "1/2"}


def spec(space, divergence, standard, value) -> PrivacySpec:
    budget = UniformBudget(parameter=standard.budget_parameters[0], value=number(value))
    return PrivacySpec(space=space, multiverse=Trivial(), input_divergence=divergence, output_divergence=standard, budget=budget)


def distances(space: DatasetSpace) -> list[InputDivergence]:
    make = REGISTRY.get
    relation = make("relations", "differ-in-one-position" if space.is_ordered else "replace-one")()
    found = [
        make("input_divergences", name)()
        for name in ("hamming", "symmetric-difference", *(["hamming-ordered"] if space.is_ordered else []))
    ]
    return [*found, *(make("input_divergences", name)(relation=relation) for name in ("neighbour", "path"))]


@pytest.mark.parametrize("space", SPACES.values(), ids=SPACES)
def test_a_larger_budget_is_separated_under_every_distance(space) -> None:
    for divergence in distances(space):
        found = compared(*map(dp.api.as_document, (spec(space, divergence, Mult(), 5), spec(space, divergence, Mult(), 1))))
        assert (found.forward.answer, found.backward.answer) == (Answer.SEPARATED, Answer.IMPLIES), str(divergence)


LISTS = REGISTRY.get("spaces", "value-lists")(values=(0, 1, 2))
COUNTS = REGISTRY.get("spaces", "integer-counts")(length=2)
ON_RECORDS = ("hamming", "symmetric-difference", "one-sided", "add-remove", "replace-one")
RELATED = {
    (form, name): REGISTRY.get("input_divergences", form)(relation=REGISTRY.get("relations", name)())
    for form in ("neighbour", "path")
    for name in ("add-remove", "replace-one", "differ-in-one-position")
}
METRICS = {name: REGISTRY.get("input_divergences", name) for name in ("hamming", "hamming-ordered", "symmetric-difference", "l1")}
WITHIN = REGISTRY.get("input_divergences", "within-distance")
DISTANCES: dict[str, InputDivergence] = {
    **{f"{form}, {name}": one for (form, name), one in RELATED.items()},
    **{name: make() for name, make in METRICS.items()},
    **{f"within, {name}": WITHIN(of=make(), most=2) for name, make in METRICS.items()},
    **{name: REGISTRY.get("input_divergences", name)() for name in ("l2", "l-infinity", "edit-distance")},
    "one-sided": REGISTRY.get("input_divergences", "one-sided")(attribute="sex", sensitive=("f",)),
    "policy": REGISTRY.get("input_divergences", "policy")(edges=[["0", "1"], ["1", "2"]]),
}
ON_LISTED_SPACES = {
    "node-distance", "metric", "window-events", "weight-distance", "personal-weights", "record-weights", "data-variation",
    "data-wasserstein",
}  # fmt: skip
"""These need graphs, points of a grid, streams, weights for each person or data laws: spaces that can be listed."""


def unlimited_space(name: str) -> DatasetSpace:
    words = name.split(", ")
    if words[-1] in ("l1", "l2", "l-infinity"):
        return COUNTS
    return SPACES["records"] if words[-1] in ON_RECORDS else LISTS


def test_every_registered_distance_is_among_them() -> None:
    named = {type(one).name for one in DISTANCES.values()}
    assert named | ON_LISTED_SPACES == {cls.name for cls in REGISTRY.classes("input_divergences")}
    assert all(unlimited_space(name).cardinality() is None for name in DISTANCES)


def wrongly_answered(name: str, standards: list[tuple[Any, Any]]) -> list[str]:
    """Pairs of standards of which a large budget is not separated from a tiny one under a distance."""
    space, divergence = unlimited_space(name), DISTANCES[name]
    found = []
    for one, other in standards:
        premise = spec(space, divergence, one, LARGE.get(one.name, "5"))
        answer = compare(premise, spec(space, divergence, other, "1/1000")).forward.answer
        found += [] if answer is Answer.SEPARATED else [f"{one.name} {answer.value} {other.name}"]
    return found


@pytest.mark.spread(10, slow=10)
@pytest.mark.parametrize("name", DISTANCES)
def test_a_large_budget_is_separated_from_a_tiny_one_of_the_next_standard(name) -> None:
    """By default a few standards; another distance begins with another one."""
    first = 3 * list(DISTANCES).index(name) % len(STANDARDS)
    chosen = [STANDARDS[(first + step) % len(STANDARDS)] for step in range(3)]
    assert wrongly_answered(name, list(itertools.pairwise(chosen))) == []


@pytest.mark.spread(0, slow=6)
@pytest.mark.parametrize("part", range(6))
@pytest.mark.parametrize("name", DISTANCES)
def test_every_standard_is_separated_from_every_other_under_every_distance(name, part) -> None:
    """A sixth of the pairs at a time, another one under the next distance."""
    begin = list(DISTANCES).index(name) + part
    pairs = [(one, other) for place, one in enumerate(STANDARDS) for other in STANDARDS[(begin + place) % 6 :: 6]]
    assert wrongly_answered(name, pairs) == []


def test_a_thousand_attributes_and_long_vectors_are_compared() -> None:
    wide = UnorderedRecords(attributes=tuple(Attribute(name=f"a{i}", count=2) for i in range(1000)))
    assert len(next(all_records(wide.attributes))) == 1000
    for space, divergence in ((wide, Hamming()), (BitVectors(length=30_000), REGISTRY.get("input_divergences", "hamming")())):
        found = compare(spec(space, divergence, Mult(), 5), spec(space, divergence, Mult(), 1))
        assert found.forward.answer is Answer.SEPARATED


def test_the_entries_that_are_listed_are_bounded() -> None:
    listed = list(first_datasets(BitVectors(length=100_000)))
    assert sum(map(entries, listed[:-1])) < ENTRIES


def test_multisets_of_more_kinds_than_memory_holds() -> None:
    def endless():
        number_ = 0
        while True:
            yield number_
            number_ += 1

    found = multisets_of(endless(), 3)
    assert [next(found) for _ in range(3)] == [(0, 0, 0), (0, 0, 1), (0, 0, 2)]


@pytest.mark.parametrize("rho", [pytest.param("1e-400", marks=pytest.mark.slow), "1e400"])
def test_budgets_beyond_all_doubles(rho) -> None:
    space = SPACES["records"]
    one, other = spec(space, Hamming(), DNor(), rho), spec(space, Hamming(), Mult(), 1)
    assert compare(one, other).forward.answer in Answer
    assert compare(other, one).forward.answer in Answer


def test_a_common_measure_names_the_conversions_that_are_known() -> None:
    space, delta = SPACES["records"], MultDelta(delta=Fraction(1, 10**6))
    found = find_yardsticks(spec(space, Hamming(), delta, 1), spec(space, Hamming(), DNor(), 1))
    best = next(one for one in found if one.is_common)
    assert best.spec.output_divergence == delta
    assert best.spec.input_divergence.is_neighbour_form
    converted = dp.convert({"rho": "1"}, "epsilon", delta="1e-6")
    assert best.right.budget == converted.paths[0].value.upper
    missing = " ".join(text for one in found for text in one.right.missing)
    assert "for neighbours only" in missing
    assert converted.paths[0].names[0] in missing
