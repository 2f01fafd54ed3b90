"""Data laws, (secret, prior) pairs and their averages, against brute force from the definitions."""

from __future__ import annotations

import doctest
import itertools
import math
from fractions import Fraction
from pathlib import Path

import pytest
from dpspec_divergences import Hamming, HammingOrdered, Mult, Neighbour, Path as Steps, SymmetricDifference, TotalVariation
from dpspec_flavours.mechanisms import ListedLaws, NearbyDataset
from dpspec_flavours.secrets.averages import Averaged, Subsampled, diameter, radius
from dpspec_flavours.secrets.distances import DataVariation, DataWasserstein, DiscriminativePairs, bottleneck
from dpspec_flavours.secrets.pufferfish import (
    PAIRS,
    AmplificationBySampling,
    BayesianDP,
    CloseAdversaries,
    DistributionalPrivacy,
    NoiselessPrivacy,
    PartialKnowledge,
    Pufferfish,
)
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
from dpspec_noise import Geometric, RandomisedResponse
from hypothesis import given, settings, strategies as st

from dpspec import installed
from dpspec.api import compare
from dpspec.base.errors import DpspecError, IncompatibleBlocksError, NotEnumerableError, NotInSpaceError, ParameterError
from dpspec.base.exact import ln, number
from dpspec.blocks.budget import UniformBudget
from dpspec.blocks.invariant import LinearMap, Marginal
from dpspec.blocks.multiverse import LevelSets, Trivial
from dpspec.blocks.records import ContingencyTables, OrderedRecords, UnorderedRecords
from dpspec.blocks.space import Attribute
from dpspec.blocks.vectors import BitVectors, IntegerCounts
from dpspec.grammar.mechanism import ReleaseInvariants
from dpspec.grammar.spec import PrivacySpec
from dpspec.laws.law import FiniteLaw, NotALaw
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


def loss(left, right):
    """sup of |ln(P(o)/Q(o))|, as the largest ratio, from two tables of probabilities."""
    outcomes = {o for o in (*left, *right) if left.get(o, 0) or right.get(o, 0)}
    if any(not left.get(o) or not right.get(o) for o in outcomes):
        return math.inf
    return max(max(left[o] / right[o], right[o] / left[o]) for o in outcomes)


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


@pytest.mark.reference("B-D30")
def test_the_marginal_of_the_prior_says_the_same_as_the_pairs():
    """Attackers of different priors are not compared: held by the multiverse, or by the relation."""
    flavour = Pufferfish()
    prior = Marginal(attributes=("prior",), unit="scenario")
    spec = flavour.spec().replace(multiverse=LevelSets(invariants=(prior,)), input_divergence=Hamming(unit="scenario"))
    for example in (flavour.satisfied_by(), flavour.broken_by()):
        one, two = verify(example.mechanism, flavour.spec()), verify(example.mechanism, spec)
        assert one.outcome is two.outcome
        assert one.constant == two.constant


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


def test_a_passive_attacker_sees_records_beside_the_output():
    """Of two bits the second is seen: a copy gives the first away however noisy the output, an independent one does not."""
    space = next(iter(Secrets.examples()))
    mechanism = Averaged(mechanism=response(Fraction(3, 4)), seen=(1,))
    laws = {x: mechanism.law(x, space) for x in space.datasets()}
    assert {known for known, _ in laws["first is 1", "copy"].support} == {((1,),)}
    assert Mult().between(laws["first is 0", "copy"], laws["first is 1", "copy"]).upper.is_infinite
    assert Mult().between(laws["first is 0", "coins"], laws["first is 1", "coins"]).upper == ln(3)


def test_infinite_laws_are_averaged_too():
    """A geometric count of two fair bits, given the first: a bracket around what 200 terms give."""
    total = LinearMap(rows=((1, 1),), label="ones")
    noisy = Averaged(mechanism=Geometric(queries=(total,), ratio=HALF, neighbours="differ-in-one-position"))
    space = next(iter(Secrets.examples()))
    left, right = (noisy.law((f"first is {bit}", "coins"), space) for bit in (0, 1))

    def mass(k, bit):
        return sum(HALF * Fraction(1, 3) * HALF ** abs(k - bit - other) for other in (0, 1))

    top = max(max(mass(k, 0) / mass(k, 1), mass(k, 1) / mass(k, 0)) for k in range(-60, 60))
    found = Mult().between(left, right)
    assert float(found.lower) <= math.log(top) + 1e-12
    assert float(found.upper) >= math.log(top) - 1e-12
    assert found.upper <= ln(2)


@pytest.mark.reference("B-A10")
@given(st.integers(0, 3), st.fractions(0, 1, max_denominator=6), st.booleans())
def test_a_sample_is_drawn_as_its_definition_says(size, rate, fixed):
    """Poisson: every subset with p^k (1-p)^(n-k); else all subsets of the size, equally likely."""
    space = OrderedRecords(attributes=(Attribute(name="a", categories=("x", "y")),), most=3)
    keep = ListedLaws(laws=[{"dataset": list(x), "law": {repr(x): 1}} for x in space.datasets()])
    frame = (("x",), ("y",), ("x",))
    mechanism = Subsampled(mechanism=keep, size=size) if fixed else Subsampled(mechanism=keep, rate=rate)
    expected: dict = {}
    for kept in itertools.product((False, True), repeat=3):
        k = sum(kept)
        chance = Fraction(k == size, math.comb(3, size)) if fixed else rate**k * (1 - rate) ** (3 - k)
        drawn = repr(tuple(r for r, yes in zip(frame, kept, strict=True) if yes))
        expected[drawn] = expected.get(drawn, 0) + chance
    assert dict(mechanism.law(frame, space).probabilities()) == {o: p for o, p in expected.items() if p}


def test_datasets_without_a_length_are_refused(monkeypatch):
    """Those of a stranger may be plain numbers; the error was one of Python."""
    monkeypatch.setattr("dpspec.plugin.grammar.first_datasets", lambda space: iter((0, 1)))
    keep = NearbyDataset(distance=HammingOrdered(), rate=1)
    with pytest.raises(IncompatibleBlocksError, match="no sequence of its records"):
        Subsampled(mechanism=keep, size=1).check(BIT)


def test_a_sample_larger_than_the_dataset_is_all_of_it():
    space = OrderedRecords(attributes=(Attribute(name="a", categories=("x",)),), most=2)
    mechanism = Subsampled(mechanism=NearbyDataset(distance=HammingOrdered(), rate=1), size=5)
    assert mechanism.law((("x",),), space) == FiniteLaw.point((("x",),))


@pytest.mark.reference("B-T21")
@pytest.mark.parametrize("frame", [1, 2, 3, 4])
def test_amplification_is_the_exact_formula(frame):
    """ln(1 + 1/n (e^eps - 1)) is attained by a sample of one."""
    mechanism = Subsampled(mechanism=response(Fraction(3, 4)), size=1, samples=BIT)
    found = verify(mechanism, AmplificationBySampling().spec().replace(space=BitVectors(length=frame))).constant
    assert found.lower == found.upper == ln(1 + Fraction(2, frame))


@pytest.mark.reference("B-T21")
def test_amplification_needs_a_mechanism_that_ignores_the_order():
    """Two of three records: the formula holds for multisets, and fails where the answers stand in the order of the records."""
    sex = Attribute(name="sex", categories=("f", "m"))
    frame, sample = (UnorderedRecords(attributes=(sex,), least=n, most=n) for n in (3, 2))
    inner = NearbyDataset(distance=Hamming(), rate=ln(3))
    spec = AmplificationBySampling().spec().replace(space=sample, input_divergence=Hamming())
    alone = verify(inner, spec).constant
    assert alone.lower == alone.upper == ln(Fraction(9, 13) * 5)
    both = verify(Subsampled(mechanism=inner, size=2, samples=sample), spec.replace(space=frame)).constant
    assert both.upper <= ln(1 + Fraction(2, 3) * Fraction(32, 13))
    ordered = Subsampled(mechanism=response(Fraction(3, 4)), size=2, samples=PAIR)
    found = verify(ordered, AmplificationBySampling().spec().replace(space=BitVectors(length=3))).constant
    assert found.lower > ln(1 + Fraction(2, 3) * 2)


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


# --- distances -----------------------------------------------------------------------------------


def couplings(supply, demand):
    """Every joint table of integers with given margins."""
    if len(supply) == 1:
        yield (tuple(demand),)
        return
    for row in itertools.product(*(range(d + 1) for d in demand)):
        if sum(row) == supply[0]:
            for rest in couplings(supply[1:], [d - r for d, r in zip(demand, row, strict=True)]):
                yield (row, *rest)


def laws_on(points):
    return st.lists(st.integers(0, 2), min_size=points, max_size=points).filter(any)


@settings(max_examples=40, deadline=None)
@given(laws_on(3), laws_on(3), st.lists(st.integers(0, 4), min_size=9, max_size=9))
def test_the_bottleneck_is_the_least_over_all_couplings(one, two, costs):
    """Margins are scaled to a common total; extreme points of the transport polytope are integral."""
    table = {(x, y): costs[3 * x + y] for x in range(3) for y in range(3)}
    common = math.lcm(sum(one), sum(two))
    supply, demand = [w * common // sum(one) for w in one], [w * common // sum(two) for w in two]
    best = min(
        max((table[x, y] for x in range(3) for y in range(3) if joint[x][y]), default=0) for joint in couplings(supply, demand)
    )
    left, right = (FiniteLaw.from_weights(dict(enumerate(w))) for w in (one, two))
    assert bottleneck(left, right, lambda x, y: number(table[x, y])) == best


def test_the_bottleneck_is_infinite_when_nothing_joins_the_laws():
    law = FiniteLaw.uniform
    assert bottleneck(law([0, 1]), law([0, 2]), lambda x, y: number(0 if x == y else "inf")).is_infinite


def test_a_flow_is_taken_back_where_it_stands_in_the_way():
    """0 goes first to 0; 1 can only go to 0, so that 0 has to be moved on to 1."""
    near = {(0, 0), (0, 1), (1, 0)}
    law = FiniteLaw.uniform([0, 1])
    assert bottleneck(law, law, lambda x, y: number(0 if (x, y) in near else 5)) == 0


@given(weights, weights)
def test_total_variation_is_the_largest_difference_over_events(one, two):
    space = DataLaws(base=PAIR, data_laws=(listed("one", one, DATA), listed("two", two, DATA)))
    gaps = [Fraction(a, sum(one)) - Fraction(b, sum(two)) for a, b in zip(one, two, strict=True)]
    best = max(
        abs(sum(gap for gap, yes in zip(gaps, event, strict=True) if yes)) for event in itertools.product((0, 1), repeat=4)
    )
    assert DataVariation().distance(("one",), ("two",), space) == best


@settings(max_examples=30, deadline=None)
@given(weights, weights, st.sampled_from([Fraction(2, 3), Fraction(3, 4)]))
def test_what_the_two_distances_promise_holds(one, two, keep):
    """eps per step of the data gives eps per unit of data-wasserstein; total variation never grows."""
    space = DataLaws(base=PAIR, data_laws=(listed("one", one, DATA), listed("two", two, DATA)))
    mechanism = Averaged(mechanism=response(keep))
    left, right = (mechanism.law((label,), space) for label in ("one", "two"))
    moved = DataWasserstein(distance_of_data=HammingOrdered()).distance(("one",), ("two",), space)
    assert Mult().between(left, right).upper <= ln(keep / (1 - keep)) * moved
    assert TotalVariation().between(left, right).upper <= DataVariation().distance(("one",), ("two",), space)


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


def test_one_distance_of_data_is_bounded_by_another():
    space = next(iter(DataLaws.examples()))
    ordered, plain = (DataWasserstein(distance_of_data=d) for d in (HammingOrdered(), Hamming()))
    assert plain.bounded_by(ordered, space)[0] == 1
    assert ordered.bounded_by(plain, space) is None
    assert DataVariation().bounded_by(ordered, space)[0] == 1
    assert DataVariation().bounded_by(Hamming(unit="scenario"), space)[0] == 1
    assert ordered.bounded_by(DataVariation(), space) is None
    assert ordered.least_distance(space) == 1


@pytest.mark.reference("B-D10")
def test_more_pairs_of_secrets_are_a_stronger_promise():
    """Neighbours of all pairs imply neighbours of one pair and not conversely; steps imply neighbours."""
    spec = NoiselessPrivacy().spec().replace(output_divergence=Mult())
    first, all_of_them = (DiscriminativePairs(pairs=pairs) for pairs in ([["first is 1", "first is 0"]], PAIRS))
    few, many = Neighbour(relation=first), Neighbour(relation=all_of_them)
    assert many.bounded_by(few, spec.space)[0] == 1
    assert few.bounded_by(many, spec.space) is None
    assert few.bounded_by(Neighbour(relation=DiscriminativePairs(pairs=[PAIRS[0]])), spec.space)[0] == 1
    assert Steps(relation=all_of_them).bounded_by(few, spec.space)[0] == 1
    compared = compare(spec, spec.replace(input_divergence=few))
    assert compared.forward.answer.name == "IMPLIES"
    assert compared.backward.answer.name != "IMPLIES"


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


@pytest.mark.reference("B-D30")
@pytest.mark.parametrize("keep", [Fraction(2, 3), Fraction(3, 4), Fraction(4, 5)])
def test_pufferfish_by_its_definition(keep):
    """max over priors and answers of Pr(answers | s, theta) / Pr(answers | s', theta), from the joint law."""
    worst = 1
    for equal in (HALF, Fraction(3, 4), Fraction(1)):
        given_first = []
        for first in (0, 1):
            table: dict = {}
            for second, answers in itertools.product((0, 1), DATA):
                prior = equal if first == second else 1 - equal
                chance = math.prod(keep if a == b else 1 - keep for a, b in zip((first, second), answers, strict=True))
                table[answers] = table.get(answers, 0) + prior * chance
            given_first.append(table)
        worst = max(worst, loss(*given_first))
    mechanism = Averaged(mechanism=response(keep))
    found = verify(mechanism, Pufferfish().spec()).constant
    assert found.lower == found.upper == ln(worst)


@pytest.mark.reference("B-D30")
def test_independent_priors_do_not_see_what_correlation_costs():
    """The mechanism that breaks the flavour is right when the priors are independent."""
    spec = Pufferfish().spec()
    independent = Secrets(base=PAIR, secrets=spec.space.secrets, priors=spec.space.priors[:1])
    assert verify(Pufferfish().broken_by().mechanism, spec.replace(space=independent)).outcome is Outcome.VERIFIED


@pytest.mark.reference("B-D30")
def test_noiseless_privacy_by_its_definition():
    """All events of the count: P(S) <= 2 Q(S) + 1/4, with equality for some S, given one of three fair bits."""
    tables = [{k: Fraction(math.comb(2, k - bit), 4) if 0 <= k - bit <= 2 else Fraction(0) for k in range(4)} for bit in (0, 1)]
    gaps = []
    for event in itertools.product((0, 1), repeat=4):
        p, q = (sum(t[k] for k in range(4) if event[k]) for t in tables)
        gaps += [p - 2 * q, q - 2 * p]
    assert max(gaps) == Fraction(1, 4)
    one = NoiselessPrivacy().broken_by().mechanism.mechanism.invariants[0].rows
    for row in one:
        alone = Averaged(mechanism=ReleaseInvariants(invariants=(LinearMap(rows=(row,), label="count"),)))
        expected = Outcome.VERIFIED if row == (1, 1, 1) else Outcome.REFUTED
        assert verify(alone, NoiselessPrivacy().spec()).outcome is expected


@pytest.mark.reference("B-D30")
def test_partial_knowledge_asks_less_than_knowing_all_and_more_than_knowing_nothing():
    mechanism = PartialKnowledge().satisfied_by().mechanism
    inner = mechanism.mechanism
    left, right = (inner.law((bit, 0, 0), BitVectors(length=3)) for bit in (0, 1))
    assert Mult().between(left, right).upper == ln(Fraction(5, 3))
    spec = PartialKnowledge().spec()
    ignorant = Secrets(base=spec.space.base, secrets=spec.space.secrets, priors=spec.space.priors)
    assert str(verify(mechanism, spec.replace(space=ignorant)).constant) == "ln(7/5)"
    broken = PartialKnowledge().broken_by().mechanism
    assert verify(broken, spec.replace(space=ignorant)).outcome is Outcome.VERIFIED


@pytest.mark.reference("K-D43")
def test_bayesian_privacy_is_stricter_than_privacy_at_the_same_number():
    plain = PrivacySpec(
        space=PAIR, multiverse=Trivial(), input_divergence=HammingOrdered(), output_divergence=Mult(),
        budget=UniformBudget(parameter="epsilon", value=ln(3)),
    )  # fmt: skip
    inner = BayesianDP().broken_by().mechanism.mechanism
    assert verify(inner, plain).outcome is Outcome.VERIFIED


@pytest.mark.reference("K-D43")
@pytest.mark.parametrize("keep", [Fraction(3, 5), Fraction(2, 3), Fraction(3, 4), Fraction(9, 10)])
def test_close_adversaries_degrade_by_at_most_twice_their_error(keep):
    """Delta is the largest log-ratio of the two laws of the data given a secret."""
    spec = CloseAdversaries().spec()
    laws = {x: spec.space.data_law(x) for x in spec.space.datasets()}
    error = max(Mult().between(laws[secret, "believed"], laws[secret, "close"]).upper for secret in ("first is 0", "first is 1"))
    assert error == ln(Fraction(3, 2))
    assert ln(3) + error * 2 == ln(Fraction(27, 4))
    mechanism = Averaged(mechanism=response(keep))
    found = {result.label: result.constant.upper for result in verify(mechanism, spec).universes}
    assert found["close"] <= found["believed"] + error * 2


@pytest.mark.reference("B-D30")
def test_distributional_privacy_by_its_definition():
    """The loss of every pair of laws over its total variation, from binomials."""
    chances = {"a quarter": Fraction(1, 4), "a half": HALF, "three quarters": Fraction(3, 4)}
    spec, mechanism = DistributionalPrivacy().spec(), DistributionalPrivacy().satisfied_by().mechanism
    for (left, p), (right, q) in itertools.combinations(chances.items(), 2):
        yes = {label: Fraction(1, 4) + c / 2 for label, c in chances.items()}
        ratio = max(yes[right] / yes[left], (1 - yes[left]) / (1 - yes[right]))
        variation = sum(abs(math.prod(p if b else 1 - p for b in z) - math.prod(q if b else 1 - q for b in z)) for z in DATA) / 2
        assert spec.distance((left,), (right,)) == variation
        found = Mult().between(mechanism.law((left,), spec.space), mechanism.law((right,), spec.space))
        assert found.upper == ln(ratio) * 2


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


@settings(max_examples=50, deadline=None)
@given(st.lists(st.lists(st.integers(1, 5), min_size=3, max_size=3), min_size=1, max_size=3))
def test_the_radius_is_the_least_for_which_a_simulator_exists(rows):
    """At the radius some law lies within it of all laws; below it none does, by the intervals for each outcome."""
    laws = [FiniteLaw.from_weights(dict(enumerate(row))) for row in rows]
    found = float(radius(laws))

    def room(eps):
        columns = [[float(law.probability(o)) for law in laws] for o in range(3)]
        lows, highs = [max(c) * math.exp(-eps) for c in columns], [min(c) * math.exp(eps) for c in columns]
        return all(a <= b for a, b in zip(lows, highs, strict=True)) and sum(lows) <= 1 <= sum(highs)

    assert room(found + 1e-9)
    assert found < 1e-9 or not room(found - 1e-9)
    assert found <= float(diameter(laws)) + 1e-12 <= 2 * found + 1e-9
