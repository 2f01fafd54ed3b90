"""What attackers say of a mechanism itself is the largest number over all candidates; and limits under further divergences."""

from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction
from random import Random

import attrs
import pytest
from dpspec_attackers.counts import BlockKnowledge, Hierarchical, Uniqueness
from dpspec_attackers.full_knowledge import StrongestAttacker
from dpspec_attackers.independent_records import IndependentRecord
from dpspec_attackers.membership import StrongMembership
from dpspec_attackers.tester import AttributeRestricted, FrequentistTester
from dpspec_divergences.counting import SymmetricDifference

from dpspec.base.errors import DpspecError
from dpspec.base.exact import number
from dpspec.blocks.budget import UniformBudget
from dpspec.blocks.multiverse import Trivial
from dpspec.blocks.records import UnorderedRecords
from dpspec.blocks.space import Attribute
from dpspec.blocks.vectors import BitVectors
from dpspec.extension.loader import installed
from dpspec.grammar.attacker import Sense
from dpspec.grammar.spec import PrivacySpec
from dpspec.laws.law import FiniteLaw
from tests.attacks import bayes

INFINITE = "infinite"
CERTAIN = (bayes.TOLD, bayes.STRANGE)


def numbers(w, lot):
    """Attackers, quantities, places and the truth over all candidates of one universe; None where there are none."""
    reach, laws, space = lot.choice([1, 1, 2, 3]), w.laws, w.spec.space
    near = [(x, y) for x, y in itertools.permutations(w.datasets, 2) if w.near(x, y, reach) and bayes._share(w.spec, x, y)]
    level, prior, factor = bayes._prior(lot), bayes._prior(lot), Fraction(lot.choice([5, 6, 8, 12, 20]), 4)

    def most(values):
        found = list(values)
        return INFINITE if None in found else max(found, default=None)

    def powers(pairs):
        return most(bayes.power(laws[x], laws[y], level) for x, y in pairs)

    tester = FrequentistTester(levels=[level], distance=reach)
    yield tester, "power", {"level": str(level)}, powers(near)
    gain = "advantage of the best test, power minus level"
    yield tester, gain, {}, most(bayes.variation(laws[x], laws[y]) for x, y in near)
    strongest = StrongestAttacker(priors=[prior], factors=[factor], distance=reach)
    yield strongest, "posterior odds by prior odds", {}, most(bayes.top_ratio(laws[x], laws[y]) for x, y in near)
    grown = most(sum((p for o, p in laws[x].items() if p > factor * laws[y].get(o, 0)), Fraction(0)) for x, y in near)
    yield strongest, "probability that belief in the truth grows by the factor", {"factor": str(factor)}, grown
    for times, attacker in (
        (1, BlockKnowledge(priors=[prior], distance=reach)), (2, Uniqueness(priors=[prior], distance=reach, levels=[2])),
    ):  # fmt: skip
        joint = {x: law if times == 1 else {(a, b): law[a] * law[b] for a in law for b in law} for x, law in laws.items()}
        means = [bayes._bayes_means(joint[x], joint[y], prior) for x, y in near]
        yield attacker, "mean posterior of the truth", {"prior": str(prior)}, most(mean for mean, _ in means)
        yield attacker, "right bets", {"prior": str(prior)}, most(right for _, right in means)
    same_size = [(x, y) for x, y in near if isinstance(space, BitVectors) or len(x) == len(y)]
    restricted = AttributeRestricted(attributes=[space.attributes_of("person")[0].name], levels=[level], distance=reach)
    yield restricted, "power against the secret attributes", {"level": str(level)}, powers(same_size)
    if space.is_ordered:
        groups = {}  # of each two values of the first entry, in both orders
        for x, y in near:
            if x[1:] == y[1:] and x[0] != y[0] and w.spec.distance(x, y) <= reach:
                groups.setdefault((x[0], y[0]), []).append((x, y))
        if groups:
            mixed = [
                [bayes.mix([(Fraction(1, len(pairs)), laws[pair[side]]) for pair in pairs]) for side in (0, 1)]
                for pairs in groups.values()
            ]
            mean, right = (max(found) for found in zip(*(bayes._bayes_means(*shares, prior) for shares in mixed), strict=True))
            attacker = Hierarchical(priors=[prior], distance=reach)
            yield attacker, "mean posterior of the truth", {"prior": str(prior)}, mean
            yield attacker, "right bets", {"prior": str(prior)}, right
        return
    yield from of_records(w, lot, prior)


def of_records(w, lot, prior):
    """The same of a record that may be left out of a collection."""
    laws, known, letters = w.laws, set(w.datasets), [(c,) for c in w.spec.space.attributes_of("person")[0].categories]
    inclusion, value, risks = lot.choice([Fraction(1), Fraction(1, 2)]), Fraction(lot.randint(1, 9), 10), []
    included = []
    for size in range(max(map(len, known))):
        for others in itertools.combinations_with_replacement(sorted(letters), size):
            larger = [x for x in (tuple(sorted((*others, letter))) for letter in letters) if x in known]
            included += [(x, others) for x in larger if others in known and bayes._share(w.spec, x, others)]
            for x, y in itertools.permutations(larger, 2):
                compared = [(x, y)] if inclusion == 1 else [(x, others), (y, others)]
                if any(other not in known or not bayes._share(w.spec, one, other) for one, other in compared):
                    continue
                parts = [(inclusion * value, laws[x]), (inclusion * (1 - value), laws[y])]
                whole = bayes.mix(parts if inclusion == 1 else [*parts, (1 - inclusion, laws[others])])
                risks += [laws[x][o] / whole[o] for o in laws[x] if laws[x][o]]
    independent = IndependentRecord(inclusion=inclusion, value=value)
    yield independent, "posterior by prior, largest", {}, max(risks, default=None)
    ratios = [bayes.top_ratio(laws[x], laws[y]) for x, y in included]  # what speaks for the record alone
    if ratios and None not in ratios:
        top = prior * max(ratios) / (prior * max(ratios) + 1 - prior)
        yield StrongMembership(priors=[prior]), "largest posterior of membership", {"prior": str(prior)}, top


def differing(seeds):
    """What is said of a mechanism and differs from the truth, and how many numbers were compared."""
    wrong, compared = [], 0
    for seed in seeds:
        lot = Random(seed)
        w = bayes.world(lot)
        for attacker, quantity, at, truth in numbers(w, lot):
            try:
                said = attacker.under(bayes.Listed(w.laws), w.spec)
            except DpspecError:
                continue
            for one in said:
                places = dict(one.at)
                if one.quantity != quantity or not at.items() <= places.items() or places.get("candidates") in CERTAIN:
                    continue
                compared += 1
                if not is_true(one, truth):
                    wrong.append((seed, attacker, quantity, one.relation, str(one.value), str(truth)))
    return wrong, compared


def is_true(said, truth):
    if truth is None:
        return False
    if truth == INFINITE:
        return said.relation is Sense.AT_LEAST or said.value.upper.is_infinite
    return said.value.lower <= number(truth) and (said.relation is Sense.AT_LEAST or number(truth) <= said.value.upper)


@pytest.mark.parametrize("seeds", [
    range(12), pytest.param(range(12, 200), marks=pytest.mark.slow), pytest.param(range(200, 5_000), marks=pytest.mark.long),
], ids=["few", "more", "many"])  # fmt: skip
def test_numbers_of_a_mechanism_are_those_of_all_candidates(seeds):
    wrong, compared = differing(seeds)
    assert wrong == []
    assert compared > 6 * len(seeds)


# --- limits under other divergences -----------------------------------------------------------------------


def divergence_of(lot):
    """A divergence that the other worlds do not have."""
    name, parameters = lot.choice([
        ("d-nor", {}), ("gaussian-trade-off", {}), ("pbdp", {"delta": lot.choice(["1/10", "1/3", "1/100"])}),
        ("renyi", {"order": lot.choice(["11/10", "3/2", 2, 20])}), ("hockey-stick", {"epsilon": lot.choice(["ln(2)", "1/2"])}),
        ("f-divergence", {"generator": lot.choice(["kl", "chi-squared", "hellinger", "jensen-shannon", "triangular"]),
                          "direction": lot.choice(["both", "forward", "backward"])}),
        ("trade-off", {"epsilon": lot.choice(["ln(2)", "ln(3)"]), "delta": lot.choice(["0", "1/20"])}),
    ])  # fmt: skip
    return installed().registry.get("output_divergences", name)(**parameters)


def world_of(lot):
    """A world whose laws keep a budget of such a divergence, which is hardly larger than they need."""
    while True:
        w, divergence = bayes.world(lot), divergence_of(lot)
        spec = w.spec.replace(
            output_divergence=divergence, budget=UniformBudget(parameter=divergence.budget_parameters[0], value=0)
        )
        needed = [Fraction(0)]
        for x, y in itertools.permutations(w.datasets, 2):
            far = spec.distance(x, y)
            if not bayes._share(spec, x, y) or far.is_infinite:
                continue
            sides = [FiniteLaw.of(w.laws[z]) for z in (x, y)]
            value = max(divergence.between(*pair).upper for pair in (sides, sides[::-1]))
            if value.is_infinite or (far == 0 and value > 0):
                break
            if far > 0:
                needed.append(Fraction(int(float(value) / float(far) * 10**9) + 2, 10**9))
        else:
            budget = divergence.budget_for(spec.budget.parameter, number(max(needed)))
            return attrs.evolve(w, spec=spec.replace(budget=UniformBudget(parameter=spec.budget.parameter, value=budget)))


def below_the_truth(seeds):
    below, tight = [], Counter()
    for seed in seeds:
        lot = Random(seed)
        w = world_of(lot)
        for question in bayes.questions(w, lot):
            try:
                said = bayes.limit(question, question.attacker.worst_case(w.spec))
            except DpspecError:
                continue
            if said is not None:
                tight[bayes.attained(question, said)] += 1
                if not bayes.holds(question, said):
                    below.append((seed, w.spec, question, said))
    return below, tight


@pytest.mark.parametrize("seeds", [
    pytest.param(range(5, 15), marks=pytest.mark.long), pytest.param([*range(5), *range(15, 500)], marks=pytest.mark.long),
], ids=["more", "many"])  # fmt: skip
def test_no_limit_under_another_divergence_is_below_the_truth(seeds):
    below, tight = below_the_truth(seeds)
    assert below == []
    assert tight[True] > tight.total() / 6


# --- membership, but for some outcomes --------------------------------------------------------------------


def exceptions(seeds):
    """Limits of membership that outcomes of more than the probability of failure exceed, and how many limits there were."""
    wrong, limits = [], 0
    space = UnorderedRecords(attributes=(Attribute(name="letter", categories=("a",)),), least=0, most=1)
    for seed in seeds:
        lot = Random(seed)
        divergence, failure, prior = divergence_of(lot), Fraction(lot.choice([1, 5, 20, 40]), 100), bayes._prior(lot)
        outcomes = range(lot.choice([2, 3, 4]))
        weights = [[lot.choice([1, 1, 2, 3, 20, 100]) for _ in outcomes] for _ in range(2)]
        inside, outside = ({o: Fraction(w, sum(one)) for o, w in enumerate(one)} for one in weights)
        sides = [FiniteLaw.of(inside), FiniteLaw.of(outside)]
        bound = max(divergence.between(*pair).upper for pair in (sides, sides[::-1]))
        parameter = divergence.budget_parameters[0]
        budget = divergence.budget_for(parameter, number(Fraction(int(float(bound) * 10**9) + 2, 10**9)))
        spec = PrivacySpec(
            space=space, multiverse=Trivial(), input_divergence=SymmetricDifference(), output_divergence=divergence,
            budget=UniformBudget(parameter=parameter, value=budget),
        )  # fmt: skip
        after = {o: prior * inside[o] / (prior * inside[o] + (1 - prior) * outside[o]) for o in outcomes}
        try:
            said = StrongMembership(priors=[prior], failure=failure).worst_case(spec)
        except DpspecError:
            continue
        for one in said:
            beyond = {
                "largest posterior of membership": [o for o in outcomes if number(after[o]) > one.value.upper],
                "least posterior of membership": [o for o in outcomes if number(after[o]) < one.value.lower],
                "largest posterior by prior": [o for o in outcomes if number(after[o] / prior) > one.value.upper],
            }.get(one.quantity, [])
            limits += 1
            if any(sum(law[o] for o in beyond) > failure for law in (inside, outside)):
                wrong.append((seed, divergence, one))
    return wrong, limits


@pytest.mark.parametrize("seeds", [
    pytest.param(range(60), marks=pytest.mark.slow), pytest.param(range(60, 3_000), marks=pytest.mark.long),
], ids=["more", "many"])  # fmt: skip
def test_outcomes_beyond_a_limit_of_membership_are_as_rare_as_is_said(seeds):
    wrong, limits = exceptions(seeds)
    assert wrong == []
    assert limits > len(seeds)
