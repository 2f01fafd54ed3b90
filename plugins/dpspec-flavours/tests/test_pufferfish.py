"""Flavours about what attackers believe, each against its definition."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pytest
from dpspec_divergences import Hamming, HammingOrdered, Mult, Neighbour, Path as Steps
from dpspec_flavours.secrets.averages import Averaged
from dpspec_flavours.secrets.distances import DiscriminativePairs
from dpspec_flavours.secrets.pufferfish import (
    PAIRS,
    BayesianDP,
    DistributionalPrivacy,
    NoiselessPrivacy,
    PartialKnowledge,
    Pufferfish,
)
from dpspec_flavours.secrets.spaces import (
    Secrets,
)

from dpspec.api import compare
from dpspec.base.exact import ln
from dpspec.blocks.budget import UniformBudget
from dpspec.blocks.invariant import LinearMap, Marginal
from dpspec.blocks.multiverse import LevelSets, Trivial
from dpspec.blocks.vectors import BitVectors
from dpspec.grammar.mechanism import ReleaseInvariants
from dpspec.grammar.spec import PrivacySpec
from dpspec.verifier.exhaustive import verify
from dpspec.verifier.verdict import Outcome

PAIR = BitVectors(length=2)
HALF = Fraction(1, 2)
DATA = tuple(itertools.product((0, 1), repeat=2))


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
