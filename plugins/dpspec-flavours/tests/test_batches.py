"""Batches of a dataset: bounds from both sides, and the difference to Poisson samples."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction as F
from statistics import NormalDist
from typing import Any

import pytest

import dpspec as dp
from dpspec.base.errors import IncompatibleBlocksError
from dpspec.laws.continuous import GaussianLaw, GaussianShift
from dpspec.laws.one_of import InOneOf
from dpspec.plugin import laws, number
from dpspec.verifier.proof import Missing, derive
from dpspec.verifier.verdict import Outcome

KINDS = ("plus", "null", "minus")
SUMS = dp.weighted_sums(
    attributes=["kind"], sums=["gradient"],
    weights=[{"cell": ["plus"], "adds": [1]}, {"cell": ["minus"], "adds": [-1]}],
)  # fmt: skip


def step(sigma: object) -> dp.Mechanism:
    """The sum of gradients -1, 0 and 1, with Gaussian noise."""
    return dp.gaussian(queries=[SUMS], variance=F(sigma) ** 2, sensitivity=2)


def exactly(records: int) -> dp.DatasetSpace:
    return dp.records(kind=KINDS, least=records, most=records)


def judged(mechanism: dp.Mechanism, space: dp.DatasetSpace, epsilon: object, delta: str = "1e-5") -> dp.Verdict:
    promise = dp.spec(space=space, distance="replace-one", standard="approximate", epsilon=epsilon, delta=delta)
    return dp.verify(mechanism, promise)


def epsilon_of_poisson(rate: F, sigma: F, steps: int, delta: F) -> F:
    """An epsilon of Poisson samples at delta, for one record added or removed."""
    pair = laws.power(laws.sampled(GaussianShift(number(1 / sigma**2)), rate), steps)
    return max(way.epsilon_at(delta).upper.as_fraction() for way in (pair, pair.reverse()))


@pytest.mark.parametrize(("batches", "sigma"), [(100, 1), (1_000, F(1, 2))])
def test_shuffled_batches_that_are_accounted_as_poisson_are_refuted(batches: int, sigma: F) -> None:
    """The budget of Poisson samples for one record added, doubled for one replaced, at a delta far below: not enough.

    A record replaced is one removed and one added, so epsilon at d is a budget of 2 epsilon at (1 + e^epsilon) d.
    """
    small = F(1, 10**6)
    poisson = epsilon_of_poisson(F(1, batches), F(sigma), batches, small)
    assert math.exp(poisson) + 1 <= 1e-3 / float(small) / 1.0001
    claim = 2 * poisson
    found = judged(dp.batched(mechanism=step(sigma), batches=batches, assignment="shuffled"), exactly(3 * batches), claim)
    assert found.outcome is Outcome.REFUTED
    left, right = found.witness.left, found.witness.right
    assert len(left) == len(right) == 3 * batches
    assert found.witness.divergence.lower > claim


def test_the_same_budget_is_not_refuted_for_samples() -> None:
    """One gradient of 0 or 1: the run with Poisson samples keeps the budget that shuffled batches of -1, 0 and 1 do not."""
    run = dp.sgd(steps=100, rate="1/100", noise_multiplier=1)
    assert dp.verify(run).word.label == "holds"
    batches = dp.batched(mechanism=step(1), batches=100, assignment="shuffled")
    assert judged(batches, exactly(300), run.spec.budget.uniform()).outcome is Outcome.REFUTED


def test_batches_cost_at_most_one_release_about_all_records() -> None:
    """delta = Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu), mu = 2/sigma (Balle and Wang 2018)."""
    batches = dp.batched(mechanism=step(2), batches=10, assignment="shuffled")
    upper = judged(batches, exactly(30), 100).constant.upper
    normal, epsilon = NormalDist(), float(upper.enclose(64))
    assert normal.cdf(0.5 - epsilon) - math.exp(epsilon) * normal.cdf(-0.5 - epsilon) == pytest.approx(1e-5, rel=1e-6)
    assert judged(batches, exactly(30), upper).outcome is Outcome.VERIFIED


def test_between_the_bounds_nothing_is_claimed() -> None:
    batches = dp.batched(mechanism=step(1), batches=100, assignment="shuffled")
    found = judged(batches, exactly(300), 8)
    assert found.outcome is Outcome.UNDECIDED
    assert found.constant.lower < 8 < found.constant.upper


@pytest.mark.long
def test_several_epochs() -> None:
    epochs = dp.repeated(mechanism=dp.batched(mechanism=step(1), batches=100, assignment="shuffled"), times=2)
    once = judged(dp.batched(mechanism=step(1), batches=100, assignment="shuffled"), exactly(300), 100).constant
    often = judged(epochs, exactly(300), 100).constant
    assert once.lower < often.lower < often.upper
    assert once.upper < often.upper
    assert judged(epochs, exactly(300), once.lower).outcome is Outcome.REFUTED


@pytest.mark.parametrize("shifts", [(0, 1), (2, 1), (-1, 1), (0, -2)], ids=str)
def test_the_largest_output_is_no_more_than_all_outputs_show(shifts: tuple[int, int]) -> None:
    """Two outputs on a grid: the hockey stick of the two mixtures is at least the lower end, and at most the upper one."""
    step, points = 0.05, [-8 + 0.05 * i for i in range(int(17 / 0.05))]
    density = lambda x, at: math.exp(-((x - at) ** 2) / 2) / math.sqrt(2 * math.pi)  # noqa: E731
    plain, one, other = ([density(x, at) for x in points] for at in (0, *shifts))
    for epsilon in (0.0, 0.5, 1.5):
        gamma, true = math.exp(epsilon), 0.0
        for i, j in itertools.product(range(len(points)), repeat=2):
            here = (plain[i] * one[j] + one[i] * plain[j]) / 2
            there = (plain[i] * other[j] + other[i] * plain[j]) / 2
            true += max(0.0, here - gamma * there) * step**2
        both = (InOneOf(GaussianLaw(0, 1), GaussianLaw(at, 1), 2) for at in shifts)
        found = next(both).against(next(both)).hockey_stick(F(epsilon))
        assert float(found.lower.enclose(64)) <= true + 1e-6
        assert true - 1e-6 <= float(found.upper.enclose(64))
        assert float(found.lower.enclose(64)) > true / 5


def test_the_law_of_small_datasets_is_that_of_all_ways() -> None:
    """The ways are listed here by permutations."""
    space = dp.records(kind=("a", "b"), least=4, most=4)
    noise = dp.geometric(queries=[dp.marginal(attributes=["kind"])], ratio="1/2")
    answers = dp.batched(mechanism=noise, batches=2, assignment="shuffled")
    ways: dict[Any, int] = {}
    for order in itertools.permutations(["a", "a", "b", "b"]):
        way = tuple(tuple(sorted(part)) for part in (order[:2], order[2:]))
        ways[way] = ways.get(way, 0) + 1
    made: dict[Any, int] = {}
    for way in answers._ways([("a",), ("a",), ("b",), ("b",)]):
        plain = tuple(tuple(kind for (kind,) in batch) for batch in way)
        made[plain] = made.get(plain, 0) + 1
    assert {way: F(times, sum(ways.values())) for way, times in ways.items()} == {
        way: F(times, sum(made.values())) for way, times in made.items()
    }
    assert answers.batch_space(space).most == 2


@pytest.mark.parametrize(
    ("space", "assignment"),
    [
        (dp.records(kind=KINDS), "shuffled"),
        (dp.records(kind=KINDS, least=7, most=7), "shuffled"),
        (dp.records(kind=KINDS, least=6, most=9), "shuffled"),
        (dp.ordered_records(kind=KINDS), "independent"),
    ],
    ids=["any number", "not a multiple", "no fixed number", "ordered"],
)
def test_spaces_without_batches_are_refused(space: dp.DatasetSpace, assignment: str) -> None:
    with pytest.raises(IncompatibleBlocksError):
        dp.batched(mechanism=step(1), batches=3, assignment=assignment).check(space)


def test_what_reads_its_place_or_draws_a_sample_has_no_proof() -> None:
    sampled = dp.batched(mechanism=dp.subsampled(mechanism=step(1), rate="1/2"), batches=2, assignment="shuffled")
    promise = dp.spec(space=exactly(4), distance="replace-one", standard="approximate", epsilon=100, delta="1e-5")
    assert isinstance(derive(sampled, promise), Missing)


@pytest.mark.parametrize("apart", ["add-remove", "symmetric-difference"])
def test_what_depends_on_the_other_records_is_not_compared_with_all_of_them(apart: str) -> None:
    """Two equal records are one kind, and one in each of two batches: the author was blamed for ln(3) above ln(2)."""
    kinds = dp.geometric(queries=dp.distinct_count(attributes=["kind"]), ratio="1/2")
    batches = dp.batched(mechanism=kinds, batches=2, assignment="independent")
    space, divergence = dp.records(kind=KINDS[:2]), dp.symmetric_difference()
    near = dp.neighbour(relation=dp.add_remove()) if apart == "add-remove" else divergence
    laws = [batches.law(space.dataset([["plus"]] * count), space) for count in (0, 2)]
    assert float(dp.mult().between(*laws).lower) > math.log(2.99)
    found = dp.verify(batches, dp.spec(space=space, distance=near, standard="pure", epsilon="ln(2)"))
    assert found.outcome is (Outcome.VERIFIED if apart == "add-remove" else Outcome.UNDECIDED)
