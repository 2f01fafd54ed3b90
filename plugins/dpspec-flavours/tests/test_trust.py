"""Free-lunch, label, local and shuffle privacy: their numbers by brute force, from the definitions."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction as F

import pytest
from dpspec_divergences import DifferInOnePosition, HammingOrdered, HockeyStick, MultDelta, Neighbour, TotalVariation
from dpspec_flavours.networks.points import MetricPoints
from dpspec_flavours.trust import FreeLunchPrivacy, LabelDP, LocalDP, Shuffled, ShuffleDP, leaning_of
from dpspec_noise import (
    ComposedMechanism,
    ExponentialMechanism,
    Filtered,
    Geometric,
    KAryResponse,
    Parallel,
    PostProcessed,
    RandomisedResponse,
    RepeatedMechanism,
)

from dpspec.base.errors import IncompatibleBlocksError
from dpspec.base.exact import ln
from dpspec.base.randomness import SeededRandomness
from dpspec.blocks.budget import UniformBudget
from dpspec.blocks.invariant import LinearMap, Marginal
from dpspec.blocks.multiverse import Trivial
from dpspec.blocks.records import OrderedRecords
from dpspec.blocks.space import Attribute
from dpspec.blocks.vectors import BitVectors
from dpspec.grammar.spec import PrivacySpec
from dpspec.grammar.tables import Table
from dpspec.laws.law import FiniteLaw
from dpspec.reason.search import derive
from dpspec.verifier import proof
from dpspec.verifier.exhaustive import verify
from dpspec.verifier.sensitivity import Missing


def constants(flavour):
    return [verify(example.mechanism, flavour.spec()).constant for example in (flavour.satisfied_by(), flavour.broken_by())]


@pytest.mark.parametrize(
    ("cls", "kept", "broken"),
    [(FreeLunchPrivacy, ln(4), ln(16)), (LabelDP, ln(3), ln(9)), (LocalDP, ln(3), ln(9))],
    ids=lambda value: getattr(value, "name", None),
)
def test_what_keeps_it_spends_it_all(cls, kept, broken):
    flavour = cls()
    assert flavour.spec().budget.uniform() == kept
    assert [found.lower for found in constants(flavour)] == [kept, broken]


def test_every_two_datasets_are_neighbours():
    spec = FreeLunchPrivacy().spec()
    distances = {spec.distance(x, y) for x, y in itertools.permutations(spec.space.datasets(), 2)}
    assert [float(distance) for distance in distances] == [1]


def test_features_are_public_and_labels_are_counted():
    spec = LabelDP().spec()
    for x, y in itertools.product(spec.space.datasets(), repeat=2):
        (ages, answers), (others, said) = (zip(*data, strict=True) for data in (x, y))
        found = spec.distance(x, y)
        if ages != others:
            assert found.is_infinite
        else:
            assert found == sum(a != b for a, b in zip(answers, said, strict=True))


def reports(truth):
    """The multiset of the reports of three persons, each true with odds 4 : 1 : 1; a sum over all 27 answers."""
    law = Counter()
    for said in itertools.product(range(3), repeat=3):
        law[tuple(sorted(said))] += F(4 ** sum(map(int.__eq__, said, truth)), 6**3)
    return law


def test_the_excess_of_shuffled_reports_by_brute_force():
    worst = F(0)
    for x, y in itertools.permutations(itertools.product(range(3), repeat=3), 2):
        if sum(a != b for a, b in zip(x, y, strict=True)) == 1:
            p, q = reports(x), reports(y)
            worst = max(worst, sum(max(p[o] - 2 * q[o], F(0)) for o in p | q))
    assert worst == F(41, 216)
    flavour = ShuffleDP()
    assert flavour.spec().output_divergence.delta == worst
    near = flavour.spec().replace(
        output_divergence=HockeyStick(epsilon=ln(2)), budget=UniformBudget(parameter="delta", value=F(1))
    )
    assert [verify(e.mechanism, near).constant.lower for e in (flavour.satisfied_by(), flavour.broken_by())] == [worst, F(1, 3)]


def test_shuffling_is_post_processing_and_loses_the_order():
    space, response = BitVectors(length=2), RandomisedResponse(keep_probability=F(3, 4))
    shuffled = Shuffled(mechanism=response)
    assert shuffled.law((0, 1), space) == shuffled.law((1, 0), space)
    for x, y in itertools.permutations(space.datasets(), 2):
        before, after = (TotalVariation().between(m.law(x, space), m.law(y, space)) for m in (response, shuffled))
        assert after.lower <= before.upper


def test_only_sequences_of_reports_are_shuffled():
    counts = Geometric(queries=(LinearMap(rows=((1, 1),), label="total"),), ratio=F(1, 2))
    for asked in (Shuffled(mechanism=counts).check, lambda space: Shuffled(mechanism=counts).law((0, 1), space)):
        with pytest.raises(IncompatibleBlocksError, match="sequence"):
            asked(BitVectors(length=2))


def test_two_answers_are_no_reports_where_a_pair_is_a_dataset():
    """The cells that two mechanisms choose are a pair of texts, as a dataset of two points is. They were refused when drawn."""
    chosen = ExponentialMechanism(query=Marginal(attributes=("point",), unit="location"), rate="0")
    with pytest.raises(IncompatibleBlocksError, match="sequence"):
        Shuffled(mechanism=ComposedMechanism(parts=(chosen, chosen))).check(MetricPoints(grid=(2,), count=2))


def test_a_sequence_inside_another_is_not_shuffled():
    """`composed` of one part answers with the sequence of reports as its only entry, whose order no shuffle changes."""
    answer, area = (Attribute(name=name, categories=("x", "y")) for name in ("answer", "area"))
    reports, area_x = KAryResponse(attribute="answer", keep_probability="3/4"), {"area": ("x",)}
    one_part = ComposedMechanism(parts=(reports,))
    wrong = (
        one_part, Parallel(attribute="area", parts=[{"categories": ["x"], "mechanism": reports}]),
        Filtered(mechanism=one_part, where=area_x), ComposedMechanism(parts=(Filtered(mechanism=reports, where=area_x),)),
        PostProcessed(mechanism=one_part, at_least=0),
    )  # fmt: skip
    for least, most in ((0, 2), (3, 3), (1_000, None)):
        space = OrderedRecords(attributes=(answer, area), least=least, most=most)
        for mechanism in (reports, Filtered(mechanism=reports, where=area_x), PostProcessed(mechanism=reports, at_least=0)):
            Shuffled(mechanism=mechanism).check(space)
        for mechanism in wrong:
            with pytest.raises(IncompatibleBlocksError, match="sequence"):
                Shuffled(mechanism=mechanism).check(space)
    for length in (1, 2, 50):
        with pytest.raises(IncompatibleBlocksError, match="sequence"):
            Shuffled(mechanism=ComposedMechanism(parts=(RandomisedResponse(keep_probability="3/4"),))).check(
                BitVectors(length=length)
            )


def test_free_lunch_is_the_strongest():
    """It implies pure privacy at the same epsilon, on the same datasets."""
    spec = FreeLunchPrivacy().spec()
    pure = spec.replace(input_divergence=HammingOrdered())
    assert derive(spec, pure) is not None
    assert derive(pure, spec) is None


# --- shuffled reports at full size ----------------------------------------------------------------


def test_shuffled_reports_are_released_as_their_law_lists_them():
    space, answer = _answers(least=0), Attribute(name="answer", categories=("no", "yes"))
    truth = Shuffled(mechanism=KAryResponse(keep_probability="1"))
    for records in ([("yes",), ("no",), ("yes",)], [("no",), ("yes",), ("yes",)]):
        made = truth.release(Table.from_records(records, (answer,)), space, SeededRandomness(4))
        assert truth.law(tuple(records), space) == FiniteLaw.of({tuple(made.records()): 1})


def _answers(least):
    return OrderedRecords(attributes=(Attribute(name="answer", categories=("no", "yes")),), least=least)


def _derived(least, epsilon, delta="1/1000000"):
    spec = PrivacySpec(
        space=_answers(least), multiverse=Trivial(), input_divergence=Neighbour(relation=DifferInOnePosition()),
        output_divergence=MultDelta(delta=delta), budget=UniformBudget(parameter="epsilon", value=epsilon),
    )  # fmt: skip
    return proof.derive(Shuffled(mechanism=KAryResponse(epsilon="ln(3)")), spec)


def test_more_people_hide_one_better():
    bounds = [_derived(least, 2).constant.upper for least in (1, 4, 30, 200)]
    assert bounds == sorted(bounds, reverse=True)
    assert bounds[0] > 2 * bounds[-1]


def test_the_bound_is_that_of_clones_summed_up_here():
    """A hundred people, floats: clones with probability 2b = 1/2, the record leans for certain (k = 2, a = 3/4, b = 1/4)."""
    n, a, b = 100, 0.75, 0.25
    for epsilon in (0.2, 0.5, 1.0):
        stick = 0.0
        for clones in range(n):
            chance = math.comb(n - 1, clones) * 0.5 ** (n - 1)
            ways = [math.comb(clones, k) * 0.5**clones if 0 <= k <= clones else 0.0 for k in range(-1, clones + 2)]
            for less, same in itertools.pairwise(ways):
                stick += chance * max(a * less + b * same - math.exp(epsilon) * (b * less + a * same), 0)
        spec = PrivacySpec(
            space=_answers(n), multiverse=Trivial(), input_divergence=Neighbour(relation=DifferInOnePosition()),
            output_divergence=HockeyStick(epsilon=str(epsilon)), budget=UniformBudget(parameter="delta", value=1),
        )  # fmt: skip
        found = float(proof.derive(Shuffled(mechanism=KAryResponse(epsilon="ln(3)")), spec).constant.upper)
        assert stick <= found <= 1.25 * stick + 1e-9  # few numbers of clones stand for all


def test_laws_of_another_shape_have_no_leaning():
    law = FiniteLaw.of
    pairs = [({1: "1/2", 2: "1/2"}, {1: "1/3", 2: "2/3"}), ({1: "1"}, {2: "1"}), ({1: "1/2", 2: "1/2"}, {1: "1/2", 2: "1/2"})]
    assert [leaning_of(law(one), law(other)) for one, other in pairs] == [None] * 3


def test_reports_that_are_shuffled_many_times_leave_a_step_open():
    """The law of the clones is known through cells, which are not composed: the proof ends there, and not in an error."""
    spec = PrivacySpec(
        space=_answers(1_000), multiverse=Trivial(), input_divergence=Neighbour(relation=DifferInOnePosition()),
        output_divergence=MultDelta(delta="1/1000000"), budget=UniformBudget(parameter="epsilon", value=1),
    )  # fmt: skip
    mechanism = RepeatedMechanism(mechanism=Shuffled(mechanism=KAryResponse(epsilon="ln(3)")), times=2)
    found = proof.derive(mechanism, spec)
    assert isinstance(found, Missing)
    assert found.step == "noise"
