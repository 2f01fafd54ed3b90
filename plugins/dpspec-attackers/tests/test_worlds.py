"""Every Bayesian theorem over many random worlds, in fractions: 20,000 of them with ``--profile long``, 300 otherwise.

Two other records, three values of the target, three outcomes; pure privacy as the largest ratio, Renyi privacy at order 2 as
e^gamma = sum P^2/Q. Nothing here is shared with what it tests but the worlds.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from random import Random

import pytest
from dpspec_attackers.chamber import family
from dpspec_attackers.tester import mixed
from dpspec_attackers.worlds import Counterfactual, World

from dpspec.laws.law import FiniteLaw
from dpspec.laws.trade_off import largest_power

OTHERS, RECORDS, OUTCOMES = range(2), range(3), range(3)
MANY = [60, pytest.param(300, marks=pytest.mark.slow), pytest.param(20_000, marks=pytest.mark.long)]


def worlds(count: int) -> Iterator[tuple[Random, World]]:
    """Random worlds, with dependence, in which the target's record is open."""
    lot = Random(63)
    for _ in range(count):
        keys = list(itertools.product(OTHERS, RECORDS))
        weights = {key: lot.choice((0, 0, 1, 2, 5, 50)) for key in keys}
        weights[0, 0] += 1
        weights[lot.choice(OTHERS), 1] += 1
        total = sum(weights.values())
        laws = {key: FiniteLaw.from_weights({t: lot.choice((1, 1, 2, 3, 8)) for t in OUTCOMES}) for key in keys}
        yield lot, World(prior={key: Fraction(weight, total) for key, weight in weights.items() if weight}, laws=laws)


def pairs(world: World) -> Iterator[tuple[FiniteLaw, FiniteLaw]]:
    for d in OTHERS:
        for r, s in itertools.permutations(RECORDS, 2):
            yield world.laws[d, r], world.laws[d, s]


def top_ratio(world: World) -> Fraction:
    """e^epsilon."""
    return max(p.probability(t) / q.probability(t) for p, q in pairs(world) for t in OUTCOMES)


def second_moment(world: World) -> Fraction:
    """e^gamma at order 2."""
    return max(sum(p.probability(t) ** 2 / q.probability(t) for t in OUTCOMES) for p, q in pairs(world))


@pytest.mark.reference("K-T24", "K-T25", "K-T26", "K-A10", "K-D24", "K-D25")
@pytest.mark.parametrize("count", MANY)
def test_ratios_of_posteriors(count):
    for _, world in worlds(count):
        top, marginal = top_ratio(world), world.marginal()
        assert marginal == world.marginal(Counterfactual.SAMPLED)
        for record in world.records:
            assert all(1 / top <= ratio <= top for ratio in world.ratios(record).values())
            assert all(1 / top**2 <= ratio <= top**2 for ratio in world.ratios(record, Counterfactual.DEFAULT, 0).values())


@pytest.mark.reference("K-T28", "K-T29")
@pytest.mark.parametrize("count", MANY)
def test_tails_under_the_true_record(count):
    """Class d at order 2, and the sharper bound of class c, which mixing over the others keeps."""
    for lot, world in worlds(count):
        top, moment = top_ratio(world), second_moment(world)
        factor = Fraction(lot.randint(11, 50), 10)
        for record in world.records:
            law, ratios = world.given_record(record), world.ratios(record)
            seen = sum(law[t] for t, ratio in ratios.items() if ratio >= factor)
            assert seen * factor <= moment
            assert seen <= (factor * (1 - 1 / top) / (factor - 1 / top) if factor <= top else 0)


@pytest.mark.reference("K-T27", "K-T31")
@pytest.mark.parametrize("count", MANY)
def test_tails_under_the_prediction(count):
    """Class b and its lower tail at order 2: the others are known, the outcome is drawn from the mixture."""
    for lot, world in worlds(count):
        known = {r: mass for (d, r), mass in world.prior.items() if d == 0}
        total = sum(known.values())
        alone = World(prior={(0, r): mass / total for r, mass in known.items()}, laws=world.laws)
        moment, law = second_moment(world), alone.marginal()
        factor = Fraction(lot.randint(11, 50), 10)
        for record in alone.records:
            ratios = alone.ratios(record)
            above = sum(law[t] for t, ratio in ratios.items() if ratio >= factor)
            below = sum(law[t] for t, ratio in ratios.items() if ratio <= 1 / factor)
            assert above * factor**2 <= moment
            assert above * factor <= 1
            assert below * factor <= moment


@pytest.mark.reference("B-T4", "B-T5", "K-D27")
@pytest.mark.parametrize("count", MANY)
def test_odds_move_by_the_likelihood_ratio(count):
    for _, world in worlds(count):
        top = top_ratio(world)
        for d in {d for d, _ in world.prior}:
            held = world.given_others(d)
            for r, s in itertools.permutations(held, 2):
                for t in OUTCOMES:
                    after = held[r] * world.laws[d, r].probability(t), held[s] * world.laws[d, s].probability(t)
                    assert 1 / top <= (after[0] / after[1]) / (held[r] / held[s]) <= top


@pytest.mark.reference("K-T17", "K-T22", "K-D22")
@pytest.mark.parametrize("count", MANY)
def test_powers(count):
    """No test of two mixtures, the others drawn from any law, has more power than pure privacy allows pointwise."""
    for lot, world in worlds(count):
        top, level = top_ratio(world), Fraction(lot.randint(1, 19), 20)
        one, other = lot.sample(world.records, 2)
        found = largest_power(mixed(world, one).against(mixed(world, other)), level).upper
        assert found <= min(top * level, 1 - (1 - level) / top)


@pytest.mark.reference("K-T18", "K-T19", "K-A6")
@pytest.mark.parametrize("count", MANY)
def test_powers_by_approximate_and_by_renyi_privacy(count):
    """p <= min(F a + delta, 1 - (1 - a - delta)/F), and a two-outcome test is a Renyi bound of its own, at order 2."""
    for lot, world in worlds(count):
        factor, level = Fraction(lot.randint(10, 40), 10), Fraction(lot.randint(1, 19), 20)
        moment = second_moment(world)
        delta = max(
            sum(max(Fraction(0), p.probability(t) - factor * q.probability(t)) for t in OUTCOMES) for p, q in pairs(world)
        )
        for p, q in pairs(world):
            power = largest_power(p.against(q), level).upper.as_fraction()
            assert power <= factor * level + delta
            assert power <= 1 - (1 - level - delta) / factor
            assert level**2 * (1 - power) + (1 - level) ** 2 * power <= moment * power * (1 - power) or power == 1
            assert power**2 * (1 - level) + (1 - power) ** 2 * level <= moment * level * (1 - level)


@pytest.mark.reference("B-T9", "B-T7", "B-X9")
@pytest.mark.parametrize("count", MANY)
def test_families(count):
    """Three bits with any prior: posterior by prior stays within the ratio to the power of the family's size."""
    lot = Random(9)
    cube = list(itertools.product((0, 1), repeat=3))
    for _ in range(count):
        weights = {x: lot.choice((0, 0, 1, 3, 40)) for x in cube}
        weights[0, 0, 0] += 1
        weights[1, lot.choice((0, 1)), lot.choice((0, 1))] += 1
        total = sum(weights.values())
        prior = {x: Fraction(weight, total) for x, weight in weights.items() if weight}
        shown = {x: Fraction(lot.randint(1, 9), 10) for x in cube}
        top = max(
            max(shown[x] / shown[y], (1 - shown[x]) / (1 - shown[y]))
            for x, y in itertools.permutations(cube, 2)
            if sum(a != b for a, b in zip(x, y, strict=True)) == 1
        )
        size = len(family(prior, 0))
        laws = {((None, *x[1:]), x[0]): FiniteLaw.bernoulli(shown[x]) for x in cube}
        world = World(prior={((None, *x[1:]), x[0]): mass for x, mass in prior.items()}, laws=laws)
        for record in world.records:
            assert all(1 / top**size <= ratio <= top**size for ratio in world.posterior_to_prior(record).values())
