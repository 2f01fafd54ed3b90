"""Help and hover: every public parameter has its type, and each number says what it is or in which unit it is counted."""

from __future__ import annotations

import inspect
import pydoc
import re

import pytest
from dpspec_lsp.server import hover

import dpspec as dp
from dpspec.base.params import Domain, Exact, Integer, Items, Pairs, Rational, parameters
from dpspec.constructors import KINDS, signature
from dpspec.report.explain import described_parameters
from dpspec.specfile.blocks import BLOCK_KINDS

REGISTRY = dp.installed().registry
ENTRIES = [entry for entry in REGISTRY if entry.fault is None and parameters(entry.cls)]
UNIT = re.compile(
    r"""\b(probabilit|share|rate\b|percent|chance          # numbers without a unit, in [0, 1]
    |delta|epsilon|rho|sigma|mu\b|budget|loss|nats|order    # numbers of privacy
    |prior|posterior|belief|ratio|power|level|weight        # and of attackers
    |count|number|how\ (many|much|often)|numbers            # counts of something
    |records?|persons?|people|households?|members|answers|integer|rows|positions?|place|entry|times?\b|functions|edges|seconds
    |values?|unit|distance|length|coordinates|dimension|norm|growth|coefficients|category|series|cell)""",
    re.VERBOSE,
)
ANY = {("verify", "subject"), ("verify", "against")}
"""What is of several types, each with a signature of its own (overloads)."""


def is_number(domain: Domain) -> bool:
    while isinstance(domain, (Items, Pairs)):
        domain = domain.item
    return isinstance(domain, (Rational, Exact, Integer))


def says_what_it_is(text: str) -> bool:
    """Whether a meaning names a unit or the kind of number; a letter alone is no meaning."""
    return UNIT.search(text) is not None and len(re.sub(r"\b[a-zA-Z](_\w)?\b,? ?", "", text).split()) >= 2


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: f"{entry.kind}-{entry.qualified_name}")
def test_every_registered_parameter_has_its_type_and_each_number_its_unit(entry) -> None:
    described, shown = described_parameters(entry.cls, REGISTRY), signature(entry.cls).parameters
    for p in parameters(entry.cls):
        written = str(shown[p.name].annotation)
        assert written.removesuffix(" | None") != "Any", (p.name, "has no type: say it as `python` of its domain")
        if is_number(p.domain):
            assert says_what_it_is(described.get(p.name, "")), (p.name, described.get(p.name))


CONSTRUCTED = [entry for entry in ENTRIES if entry.kind in KINDS]


@pytest.mark.parametrize("entry", CONSTRUCTED, ids=lambda entry: entry.qualified_name)
def test_help_and_hover_show_the_same(entry) -> None:
    """`help` of the constructor has each parameter with its domain and meaning; over a key of a file, an editor shows them."""
    name = entry.name.replace("-", "_")
    make = getattr(dp, name, None) or getattr(dp, name.removesuffix("_"))
    text = " ".join(pydoc.render_doc(make, renderer=pydoc.plaintext).split())
    table = {**BLOCK_KINDS, "mechanism": "mechanisms"}
    header = next((table for table, kind in table.items() if kind == entry.kind), None)
    for p in parameters(entry.cls):
        meaning = described_parameters(entry.cls, REGISTRY)[p.name].rstrip(".")
        assert f"{p.name}: {' '.join(meaning.split())}" in text
        assert p.domain.describe() in text
        if header is not None:
            written = f'[{header}]\ntype = "{entry.name}"\n{p.name} = 1\n'
            said = hover(written, written.rindex(p.name) + 1, REGISTRY) or ""
            assert p.domain.describe() in said
            assert meaning in said


FUNCTIONS = [name for name in dp.__all__ if inspect.isfunction(getattr(dp, name))]


def described(name: str) -> dict[str, str]:
    """The parameters that a docstring names under `Args:`, with what it says of them."""
    text = inspect.getdoc(getattr(dp, name)) or ""
    block = re.search(r"^Args:\n((?:    .*\n?|\n)+)", text, re.MULTILINE)
    found = re.findall(r"^    ([\w, ]+): (.*(?:\n {5,}.*)*)", block[1] if block else "", re.MULTILINE)
    return {one: " ".join(said.split()) for names, said in found for one in names.split(", ")}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_parameter_of_a_function_has_a_type_and_a_meaning(name) -> None:
    said = described(name)
    for p in inspect.signature(getattr(dp, name)).parameters.values():
        annotation = str(p.annotation)
        assert p.annotation is not inspect.Parameter.empty
        assert annotation != "Any" or p.kind is p.VAR_KEYWORD or (name, p.name) in ANY
        assert p.name in said, f"{name}({p.name}) is not told under Args:"
        if re.search(r"\b(NumberLike|int|float|Scalar|Number)\b", annotation):
            assert says_what_it_is(said[p.name]), (p.name, said[p.name])


def test_a_letter_is_no_meaning_and_a_number_without_a_unit_is_found() -> None:
    assert not says_what_it_is("n.")
    assert not says_what_it_is("p, in (0, 1].")
    assert not says_what_it_is("the largest; without it unbounded above.")
    assert says_what_it_is("n, the number of positions.")
    assert says_what_it_is("sigma^2, in counts squared.")
