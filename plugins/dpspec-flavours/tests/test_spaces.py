"""Data laws, (secret, prior) pairs and their averages, against brute force from the definitions."""

from __future__ import annotations

import doctest
import itertools
import math
from fractions import Fraction
from pathlib import Path

import pytest
from dpspec_divergences import Hamming, HammingOrdered, Mult, Neighbour, Path as Steps, SymmetricDifference
from dpspec_flavours.mechanisms import ListedLaws, NearbyDataset
from dpspec_flavours.secrets.averages import Averaged, Subsampled
from dpspec_flavours.secrets.distances import DataVariation, DiscriminativePairs
from dpspec_flavours.secrets.spaces import (
    DataEvent,
    DataLaw,
    DataLaws,
    DataProbability,
    IndependentRecords,
    Secrets,
    bits,
    values_at,
)
from dpspec_noise import RandomisedResponse
from hypothesis import given, strategies as st

from dpspec import installed
from dpspec.base.errors import DpspecError, IncompatibleBlocksError, NotEnumerableError, NotInSpaceError, ParameterError
from dpspec.base.exact import ln, number
from dpspec.blocks.budget import UniformBudget
from dpspec.blocks.invariant import LinearMap
from dpspec.blocks.multiverse import Trivial
from dpspec.blocks.records import ContingencyTables, UnorderedRecords
from dpspec.blocks.space import Attribute
from dpspec.blocks.vectors import BitVectors, IntegerCounts
from dpspec.grammar.spec import PrivacySpec
from dpspec.laws.law import NotALaw
from dpspec.specfile import read_text, to_toml
from dpspec.specfile.document import flavour_document
from dpspec.verifier.exhaustive import verify
from dpspec.verifier.verdict import Outcome

BLOCKS = {
    kind: tuple(cls for cls in installed().registry.classes(kind) if cls.__module__.startswith("dpspec_flavours.secrets"))
    for kind in ("flavours", "multiverses", "budgets", "mechanisms")
}

REGISTRY = installed().registry
FLAVOURS = BLOCKS["flavours"]
BIT, PAIR = BitVectors(length=1), BitVectors(length=2)
HALF = Fraction(1, 2)


def response(keep):
    return RandomisedResponse(keep_probability=keep)


def listed(label, weights, values):
    total = sum(weights)
    rows = tuple(DataProbability(value=v, probability=Fraction(w, total)) for v, w in zip(values, weights, strict=True) if w)
    return DataLaw(label=label, listed=rows)


# --- spaces --------------------------------------------------------------------------------------

weights = st.lists(st.integers(0, 4), min_size=4, max_size=4).filter(any)
DATA = tuple(itertools.product((0, 1), repeat=2))


@given(weights)
def test_an_element_stands_for_the_prior_given_the_secret(drawn):
    space = Secrets(base=PAIR, secrets=values_at(1, "second"), priors=(listed("prior", drawn, DATA),))
    table = {z: Fraction(w, sum(drawn)) for z, w in zip(DATA, drawn, strict=True)}
    for bit in (0, 1):
        element, mass = (f"second is {bit}", "prior"), sum(p for z, p in table.items() if z[1] == bit)
        if mass == 0:
            assert element not in set(space.datasets())
        else:
            expected = {z: p / mass for z, p in table.items() if z[1] == bit and p}
            assert dict(space.data_law(element).probabilities()) == expected


def test_independent_records_are_the_product_that_a_list_would_be():
    half, third = bits(HALF), bits(Fraction(1, 3))
    product = DataLaw(label="p", independent=(half, third)).law(PAIR)
    table = {(a, b): HALF * (Fraction(1, 3) if b else Fraction(2, 3)) for a, b in DATA}
    assert dict(product.probabilities()) == table
    big = DataLaw(label="many", independent=(bits(HALF, 10),)).law(BitVectors(length=10))
    assert len(big.support) == 1024


def test_the_order_of_independent_records_is_lost_in_a_multiset():
    sex = UnorderedRecords(attributes=(Attribute(name="sex", categories=("f", "m")),), least=2, most=2)
    record = DataProbability(value=("f",), probability=HALF), DataProbability(value=("m",), probability=HALF)
    law = DataLaw(label="p", independent=(IndependentRecords(record=record, times=2),)).law(sex)
    assert dict(law.probabilities()) == {
        (("f",), ("f",)): Fraction(1, 4),
        (("f",), ("m",)): HALF,
        (("m",), ("m",)): Fraction(1, 4),
    }


@pytest.mark.parametrize("space", [*DataLaws.examples(), *Secrets.examples()], ids=str)
def test_the_grammar_of_spaces_holds_for_elements(space):
    elements = list(space.datasets())
    assert len(elements) == space.cardinality() == len(set(elements))
    assert [space.order(x) for x in elements] == sorted(space.order(x) for x in elements)
    for x in elements:
        assert space.dataset(list(x)) == x
        assert space.from_vector(space.vector(x)) == x
        assert space.records(x, "scenario") == (x,)
        assert space.magnitude(x) == max(map(sum, space.data_law(x).support))
    names = [attribute.name for attribute in space.attributes_of("scenario")]
    assert names == list(space.labels)
    assert all(Hamming(unit="scenario").distance(x, y, space) == int(x != y) for x in elements for y in elements)
    total = LinearMap(rows=((1,) * len(elements),), label="one element")
    assert {total.answers(x, space) for x in elements} == {(1,)}


def _known(background: DataEvent) -> Secrets:
    """Attackers who know nothing, or one fact."""
    coins = DataLaw(label="coins", independent=(bits(HALF, 2),))
    return Secrets(
        base=PAIR, secrets=values_at(0, "first"), priors=(coins,), backgrounds=(DataEvent(label="nothing"), background)
    )


def test_a_background_may_be_a_record_of_the_space_that_no_prior_has() -> None:
    certain = DataLaw(label="second is 0", independent=(bits(HALF), bits(Fraction(0))))
    coins = DataLaw(label="coins", independent=(bits(HALF, 2),))
    known = DataEvent(label="second is 1", position=1, values=(1,))
    space = Secrets(base=PAIR, secrets=values_at(0, "first"), priors=(certain, coins), backgrounds=(known,))
    assert {prior for _, _, prior in space.laws()} == {"coins"}
    lone = DataEvent(label="either", position=1, values=(0, 1))
    assert len(Secrets(base=PAIR, secrets=values_at(0, "first"), priors=(certain,), backgrounds=(lone,)).laws()) == 2


BAD = {
    "both": lambda: DataLaw(label="p", listed=(DataProbability(value=0, probability=1),), independent=(bits(HALF),)),
    "none": lambda: DataLaw(label="p"),
    "twice": lambda: DataLaw(label="p", listed=(DataProbability(value=0, probability=HALF),) * 2),
    "sum": lambda: DataLaw(label="p", listed=(DataProbability(value=0, probability=HALF),)),
    "sum of a record": lambda: IndependentRecords(record=(DataProbability(value=0, probability=HALF),)),
    "not in the base": lambda: DataLaws(base=PAIR, data_laws=(DataLaw(label="p", independent=(bits(HALF),)),)),
    "too many": lambda: DataLaw(label="p", independent=(bits(HALF, 15),)).law(BitVectors(length=15)),
    "two of a label": lambda: DataLaws(base=BIT, data_laws=(DataLaw(label="p", independent=(bits(HALF),)),) * 2),
    "no value": lambda: DataEvent(label="e", position=0),
    "no position": lambda: DataEvent(label="e", values=(1,)),
    "both in an event": lambda: DataEvent(label="e", position=0, values=(1,), datasets=((0,),)),
    "impossible": lambda: Secrets(
        base=BIT,
        secrets=(DataEvent(label="s", position=0, values=(1,)),),
        priors=(DataLaw(label="p", independent=(bits(Fraction(0)),)),),
    ),
    "value of no record": lambda: _known(DataEvent(label="k", position=1, values=(0, 2))),
    "text for a number": lambda: _known(DataEvent(label="k", position=1, values=("1",))),
    "no such position": lambda: _known(DataEvent(label="k", position=2, values=(1,))),
    "no positions": lambda: DataEvent(label="e", position=0, values=(1,)).check(IntegerCounts(length=1, high=3)),
    "foreign dataset": lambda: DataEvent(label="e", datasets=((3,),)).check(BIT),
    "neither rate nor size": lambda: Subsampled(mechanism=response(HALF)),
    "rate and size": lambda: Subsampled(mechanism=response(HALF), rate=HALF, size=1),
    "one label": lambda: DiscriminativePairs(pairs=[["a", "a"]]),
    "three labels": lambda: DiscriminativePairs(pairs=[["a", "b", "c"]]),
    "unknown secret": lambda: DiscriminativePairs(pairs=[["frist is 0", "first is 1"]]).check(next(iter(Secrets.examples()))),
    "pairs of data": lambda: DiscriminativePairs(pairs=[["a", "b"]]).check(BIT),
    "variation of data": lambda: DataVariation().check(BIT),
    "position that none has": lambda: Averaged(mechanism=response(HALF), seen=(0, 2)).check(next(iter(Secrets.examples()))),
    "averaged data": lambda: Averaged(mechanism=response(HALF)).check(BIT),
    "sampled table": lambda: Subsampled(mechanism=response(HALF), size=1, samples=BIT).check(
        ContingencyTables(attributes=(Attribute(name="a", categories=("x", "y")),), most=2)
    ),
    "sampled counts": lambda: Subsampled(mechanism=response(HALF), size=1, samples=BIT).check(IntegerCounts(length=2, high=1)),
    "too many samples": lambda: Subsampled(mechanism=response(HALF), size=10, samples=BitVectors(length=10)).law(
        (0,) * 20, BitVectors(length=20)
    ),
}  # fmt: skip
RULES = {
    "both": "either a list of datasets or independent records", "none": "either a list of datasets", "twice": "probability twice",
    "sum": "sum to exactly 1", "sum of a record": "sum to exactly 1", "not in the base": "length 2", "too many": "than 16384",
    "two of a label": "label twice", "no value": "position with values", "no position": "position with values",
    "both in an event": "position with values", "impossible": "probability 0 under every prior", "no positions": "have none",
    "value of no record": "no record of bit-vectors has at position 1",
    "text for a number": "no record of bit-vectors has at position 1",
    "no such position": "no record of bit-vectors has at position 2",
    "foreign dataset": "bits 0 and 1", "neither rate nor size": "either a rate or a size", "rate and size": "either a rate",
    "one label": "two different labels", "three labels": "two different labels", "unknown secret": "did you mean 'first is 0'",
    "pairs of data": "elements of this space are the data", "variation of data": "elements of this space are the data",
    "position that none has": "at most 2 records",
    "averaged data": "averages over the data", "sampled table": "no sequence of its records",
    "sampled counts": "no sequence of its records", "too many samples": "more than 16384 samples",
}  # fmt: skip
KINDS = {
    **dict.fromkeys(("sum", "sum of a record"), NotALaw), **dict.fromkeys(("too many", "too many samples"), NotEnumerableError),
    **dict.fromkeys(("not in the base", "foreign dataset"), NotInSpaceError),
    **dict.fromkeys(
        ("no positions", "unknown secret", "pairs of data", "variation of data", "averaged data", "position that none has"),
        IncompatibleBlocksError,
    ),
    **dict.fromkeys(
        ("sampled table", "sampled counts"),
        IncompatibleBlocksError,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused_with_its_rule(case):
    with pytest.raises(KINDS.get(case, ParameterError), match=RULES[case]):
        BAD[case]()


@pytest.mark.parametrize("stranger", [("first is 2", "copy"), ("copy",), "first is 0", (0, 0), None, ("first is 0", ["copy"])])
def test_a_stranger_is_no_element(stranger):
    with pytest.raises(NotInSpaceError, match="must be a list of labels"):
        next(iter(Secrets.examples())).dataset(stranger)


# --- averages ------------------------------------------------------------------------------------


@given(weights, st.fractions(Fraction(1, 8), Fraction(7, 8), max_denominator=8))
def test_an_average_is_the_sum_over_the_data(drawn, keep):
    space = DataLaws(base=PAIR, data_laws=(listed("law", drawn, DATA),))
    expected: dict = {}
    for z, w in zip(DATA, drawn, strict=True):
        for o in DATA:
            chance = math.prod((keep if a == b else 1 - keep) for a, b in zip(z, o, strict=True))
            expected[o] = expected.get(o, 0) + Fraction(w, sum(drawn)) * chance
    found = Averaged(mechanism=response(keep)).law(("law",), space)
    assert dict(found.probabilities()) == {o: p for o, p in expected.items() if p}


def test_datasets_without_a_length_are_refused(monkeypatch):
    """Those of a stranger may be plain numbers; the error was one of Python."""
    monkeypatch.setattr("dpspec.plugin.grammar.first_datasets", lambda space: iter((0, 1)))
    keep = NearbyDataset(distance=HammingOrdered(), rate=1)
    with pytest.raises(IncompatibleBlocksError, match="no sequence of its records"):
        Subsampled(mechanism=keep, size=1).check(BIT)


@pytest.mark.reference("B-T21")
def test_poisson_amplification_is_for_one_record_more_and_not_for_one_replaced():
    """A record is kept with probability 1/2; whether one is x, y or absent is told with weights 1, 9 and 3."""
    space = UnorderedRecords(attributes=(Attribute(name="a", categories=("x", "y")),), most=1)
    laws = {(): "3/10", (("x",),): "1/10", (("y",),): "9/10"}
    laws = [{"dataset": list(z), "law": {"yes": p, "no": str(1 - Fraction(p))}} for z, p in laws.items()]
    sampled = Subsampled(mechanism=ListedLaws(laws=laws), rate=HALF)

    def constant(mechanism, distance):
        spec = PrivacySpec(
            space=space, multiverse=Trivial(), input_divergence=distance, output_divergence=Mult(),
            budget=UniformBudget(parameter="epsilon", value="inf"),
        )  # fmt: skip
        return verify(mechanism, spec).constant.lower

    inner = constant(ListedLaws(laws=laws), SymmetricDifference())
    assert inner == ln(7)
    assert constant(sampled, SymmetricDifference()) <= ln(1 + HALF * 6)
    between = constant(sampled, Hamming())
    assert between == ln(3)
    rates = {z: Fraction(3, 20) + Fraction(p) / 2 for z, p in (("x", "1/10"), ("y", "9/10"))}
    assert rates["y"] / rates["x"] == 3


@given(weights, weights)
def test_total_variation_is_the_largest_difference_over_events(one, two):
    space = DataLaws(base=PAIR, data_laws=(listed("one", one, DATA), listed("two", two, DATA)))
    gaps = [Fraction(a, sum(one)) - Fraction(b, sum(two)) for a, b in zip(one, two, strict=True)]
    best = max(
        abs(sum(gap for gap, yes in zip(gaps, event, strict=True) if yes)) for event in itertools.product((0, 1), repeat=4)
    )
    assert DataVariation().distance(("one",), ("two",), space) == best


def test_a_graph_of_secrets_counts_steps_and_never_changes_the_prior():
    record = tuple(DataProbability(value=v, probability=Fraction(1, 3)) for v in (0, 1, 2))
    three = IntegerCounts(length=1, high=2)
    priors = tuple(DataLaw(label=label, independent=(IndependentRecords(record=record),)) for label in ("p", "q"))
    secrets = tuple(DataEvent(label=text, datasets=((place,),)) for place, text in enumerate("abc"))
    space = Secrets(base=three, secrets=secrets, priors=priors)
    pairs = DiscriminativePairs(pairs=[["a", "b"], ["b", "c"]])
    steps, neighbours = Steps(relation=pairs), Neighbour(relation=pairs)
    assert str(steps.distance(("a", "p"), ("c", "p"), space)) == "2"
    assert neighbours.distance(("a", "p"), ("c", "p"), space).is_infinite
    assert all(d.distance(("a", "p"), ("b", "q"), space).is_infinite for d in (steps, neighbours))


# --- flavours ------------------------------------------------------------------------------------


@pytest.mark.reference("B-D30")
@pytest.mark.parametrize("cls", FLAVOURS, ids=lambda cls: cls.name)
def test_the_engine_tells_the_two_examples_apart(cls):
    flavour, spec = cls(), cls().spec()
    good, bad = (verify(e.mechanism, spec) for e in (flavour.satisfied_by(), flavour.broken_by()))
    assert (good.outcome, bad.outcome) == (Outcome.VERIFIED, Outcome.REFUTED)
    assert max(spec.space.magnitude(x) for x in (bad.witness.left, bad.witness.right)) <= 3


@pytest.mark.parametrize("cls", FLAVOURS, ids=lambda cls: cls.name)
def test_the_file_of_a_flavour_is_up_to_date_and_reads_back(cls):
    document = flavour_document(cls())
    assert read_text(to_toml(document, REGISTRY), REGISTRY) == document
    path = Path(__file__).parents[3] / "specs" / "flavours" / f"{cls.name}.dpspec.toml"
    assert read_text(path.read_text(encoding="utf-8"), REGISTRY) == document


CONSTANTS = {
    "pufferfish": "ln(4)", "noiseless-privacy": "ln(2)", "distributional-privacy": "4*ln(5/3)", "partial-knowledge": "ln(3/2)",
    "amplification-by-sampling": "ln(2)", "bayesian-dp": "ln(3)", "coupled-worlds": "ln(3)", "close-adversaries": "ln(21/5)",
    "restricted-sensitivity": "ln(3)",
}  # fmt: skip
"""The constants of the mechanisms that satisfy, by hand."""


@pytest.mark.reference("B-D30")
@pytest.mark.parametrize("cls", FLAVOURS, ids=lambda cls: cls.name)
def test_the_constants_are_those_found_by_hand(cls):
    verdict = verify(cls().satisfied_by().mechanism, cls().spec())
    assert verdict.constant.lower == verdict.constant.upper == number(CONSTANTS[cls.name])


def test_every_error_is_one_of_dpspec():
    assert all(issubclass(kind, DpspecError) for kind in KINDS.values())


# --- docs/beyond-the-five-blocks.md --------------------------------------------------------------

PAGE = Path(__file__).parents[3] / "docs" / "beyond-the-five-blocks.md"


@pytest.mark.reference("K-D43")
def test_the_examples_of_the_page_are_computed():
    found = doctest.testfile(str(PAGE), module_relative=False)
    assert found.failed == 0
    assert found.attempted > 20


def test_the_page_names_flavours_that_exist():
    text = PAGE.read_text(encoding="utf-8")
    assert all(f"`{cls.name}`" in text for cls in FLAVOURS)
