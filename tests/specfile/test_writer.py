"""What is written reads back as an equal object: all specifications of the repository, and random ones."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from dpspec.base.errors import NotWritableError
from dpspec.base.exact import ln, number, sqrt
from dpspec.blocks.budget import BudgetTable, UniformBudget
from dpspec.blocks.invariant import FunctionInvariant, LinearMap, Marginal
from dpspec.blocks.multiverse import ExplicitUniverses, LevelSets, Trivial
from dpspec.blocks.records import UnorderedRecords
from dpspec.blocks.space import Attribute
from dpspec.blocks.vectors import BitVectors
from dpspec.extension import installed
from dpspec.grammar.spec import PrivacySpec
from dpspec.specfile import read, read_text, spec_files, to_toml

REGISTRY = installed().registry
SPECS = Path(__file__).parents[2] / "specs"


@pytest.mark.parametrize("path", spec_files(SPECS), ids=lambda path: path.name.split(".")[0])
def test_every_specification_survives_writing_and_reading(path: Path) -> None:
    document = read(path, REGISTRY)
    written = to_toml(document, REGISTRY)
    assert read_text(written, REGISTRY) == document
    assert to_toml(read_text(written, REGISTRY), REGISTRY) == written


def make(kind: str, name: str, **parameters: Any) -> Any:
    return REGISTRY.get(kind, name)(**parameters)


names = st.text(min_size=1, max_size=6)
amounts = st.one_of(
    st.fractions(0, 50, max_denominator=1000).map(number),
    st.fractions(Fraction(1, 9), 9, max_denominator=9).map(lambda r: ln(max(r, 1 / r)) * Fraction(2, 3)),
    st.fractions(0, 50, max_denominator=100).map(sqrt),
    st.just(number("inf")),
)


@st.composite
def record_specs(draw: st.DrawFn) -> PrivacySpec:
    labels = draw(st.lists(names.filter(lambda n: n != "members"), min_size=1, max_size=3, unique=True))
    attributes = tuple(
        Attribute(name=label, categories=tuple(draw(st.lists(names, min_size=1, max_size=3, unique=True)))) for label in labels
    )
    unit = draw(names)
    space = UnorderedRecords(
        attributes=attributes, least=draw(st.integers(0, 2)), most=draw(st.none() | st.integers(2, 5)), unit=unit
    )
    held = draw(st.lists(st.sets(st.sampled_from(labels)).map(sorted), max_size=3))
    first = attributes[0]
    where = draw(st.booleans())
    marginals = tuple(
        Marginal(attributes=tuple(chosen), unit=unit, where={first.name: first.categories[:1]} if where else {})
        for chosen in held
    )
    return PrivacySpec(
        space=space,
        multiverse=LevelSets(invariants=marginals) if marginals else Trivial(),
        input_divergence=make("input_divergences", draw(st.sampled_from(["hamming", "symmetric-difference"])), unit=unit),
        output_divergence=make("output_divergences", "mult"),
        budget=UniformBudget(parameter="epsilon", value=draw(amounts)),
    )


@st.composite
def vector_specs(draw: st.DrawFn) -> PrivacySpec:
    length = draw(st.integers(1, 4))
    rows = draw(st.lists(st.lists(st.integers(-2, 2), min_size=length, max_size=length), min_size=1, max_size=2))
    bits = st.lists(st.integers(0, 1), min_size=length, max_size=length)
    multiverse = draw(
        st.one_of(
            st.just(Trivial()),
            st.builds(lambda label: LevelSets(invariants=(LinearMap(rows=rows, label=label),)), names),
            st.dictionaries(names, st.lists(bits, max_size=3), min_size=1, max_size=3).map(
                lambda table: ExplicitUniverses(universes_by_label=tuple(table.items()))
            ),
        )
    )
    space = BitVectors(length=length)
    labels = (
        [label for label, _ in multiverse.universes_by_label] if isinstance(multiverse, ExplicitUniverses)
        else dict.fromkeys(label for dataset in space.datasets() for label in multiverse.labels(dataset, space))
    )  # fmt: skip
    table = [(label, draw(amounts)) for label in labels]
    return PrivacySpec(
        space=space,
        multiverse=multiverse,
        input_divergence=make("input_divergences", "hamming-ordered", unit="person"),
        output_divergence=make("output_divergences", "d-nor"),
        budget=BudgetTable(parameter="rho", values=tuple(table)),
    )


@pytest.mark.slow
@given(record_specs() | vector_specs(), names)
def test_a_random_specification_survives_writing_and_reading(spec: PrivacySpec, title: str) -> None:
    document = read_text(to_toml(spec, REGISTRY, id="random", title=title), REGISTRY)
    assert document.spec == spec
    assert (document.id, document.title) == ("random", title)


def test_a_nested_relation_is_written_as_a_table() -> None:
    spec = read(SPECS / "randomised-response.dpspec.toml", REGISTRY).spec
    relation = make("relations", "differ-in-one-position")
    spec = spec.replace(input_divergence=make("input_divergences", "path", relation=relation))
    text = to_toml(spec, REGISTRY, id="path")
    assert 'relation = { type = "differ-in-one-position"' in text
    assert read_text(text, REGISTRY).spec == spec
    bare = text.replace('{ type = "differ-in-one-position" }', '"differ-in-one-position"')
    assert read_text(bare, REGISTRY).spec == spec


def test_what_only_python_can_say_is_not_written() -> None:
    spec = read(SPECS / "randomised-response.dpspec.toml", REGISTRY).spec
    parity = FunctionInvariant(function=lambda x: sum(x) % 2, label="parity")
    with pytest.raises(NotWritableError, match="parity: has no form"):
        to_toml(spec.replace(multiverse=LevelSets(invariants=(parity,))), REGISTRY, id="parity")
