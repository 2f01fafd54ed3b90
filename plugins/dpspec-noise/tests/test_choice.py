"""Report noisy max: its exact law against quadrature and sums, its loss against random changes of counts, and its releases.

Sampler tests draw n = 2,000 and reject at level 1e-9; a probability that is off by 0.09 is missed with chance below 1e-4.
"""

from __future__ import annotations

import itertools
import math
import random
from decimal import Decimal, localcontext
from fractions import Fraction as F

import numpy as np
import pytest
from dpspec_noise import AboveThreshold, ExponentialMechanism, Filtered, NoisyMax, choice
from scipy import integrate, stats

from dpspec.api import verify
from dpspec.base.errors import IncompatibleBlocksError, ParameterError
from dpspec.base.exact import number
from dpspec.base.randomness import SeededRandomness
from dpspec.blocks.invariant import Marginal
from dpspec.blocks.records import UnorderedRecords
from dpspec.blocks.space import Attribute
from dpspec.grammar.tables import Table
from dpspec.grammar.views import cells_of
from dpspec.laws import exact_exponential
from dpspec.laws.exponential import Exponential
from dpspec.laws.products import product_of
from dpspec.verifier.law_check import LawComparison
from dpspec.verifier.proof import UNCONFIRMED
from dpspec.verifier.verdict import Outcome

COLOUR = Attribute(name="colour", categories=("red", "blue", "green"))
NOISES = ("laplace", "exponential", "geometric")


def noisy_max(noise, rate="1/2"):
    return NoisyMax(query=Marginal(attributes=("colour",)), noise=noise, rate=rate)


def density(noise, rate):
    return {
        "laplace": lambda w: rate / 2 * math.exp(-rate * abs(w)),
        "exponential": lambda w: rate * math.exp(-rate * w) if w >= 0 else 0.0,
    }[noise]


def below(noise, rate):
    if noise == "laplace":
        return lambda w: math.exp(rate * w) / 2 if w < 0 else 1 - math.exp(-rate * w) / 2
    return lambda w: 1 - math.exp(-rate * w) if w >= 0 else 0.0


def by_quadrature(noise, rate, counts):
    f, less = density(noise, rate), below(noise, rate)
    for own in range(len(counts)):

        def integrand(z, own=own):
            return f(z - counts[own]) * math.prod(less(z - n) for place, n in enumerate(counts) if place != own)

        yield integrate.quad(integrand, -60, 70, points=sorted(set(counts)), limit=400)[0]


def by_sums(rate, counts):
    support = np.arange(-150, 151)
    masses = np.exp(-rate * abs(support))
    masses /= masses.sum()
    sums = np.concatenate(([0], np.cumsum(masses)))
    for own in range(len(counts)):
        yield math.fsum(
            p * math.prod(sums[min(max(t - n - (place < own) + 151, 0), 301)] for place, n in enumerate(counts) if place != own)
            for p, t in zip(masses, support + counts[own], strict=True)
        )


@pytest.mark.parametrize(
    "make", [lambda t: ExponentialMechanism(query=t, rate=1), lambda t: NoisyMax(query=t, rate=1, noise="laplace")]
)
def test_a_choice_among_no_cells_is_refused(make):
    """Its law does not exist, and a proof ended with a traceback."""
    nothing = Marginal(attributes=("colour",), where={"colour": ()})
    with pytest.raises(IncompatibleBlocksError, match="chooses among no cells"):
        make(nothing).check(UnorderedRecords(attributes=(COLOUR,)))


@pytest.mark.parametrize("noise", NOISES)
def test_the_law_is_that_of_the_largest_noisy_count(noise):
    lot = random.Random(7)
    for _ in range(10):
        counts, rate = [lot.randint(0, 4) for _ in range(lot.randint(1, 4))], lot.choice((F(1, 2), F(3, 2)))
        found = noisy_max(noise, rate).probabilities(counts)
        assert sum(found, exact_exponential(0) * 0) == 1
        wanted = by_sums(float(rate), counts) if noise == "geometric" else by_quadrature(noise, float(rate), counts)
        assert all(abs(float(p.enclose(64)) - q) < 1e-6 for p, q in zip(found, wanted, strict=True))


def largest_log_ratio(mechanism, counts, others):
    ratios = [one / other for one, other in zip(mechanism.probabilities(counts), mechanism.probabilities(others), strict=True)]
    return max(max(ratio, 1 / ratio) for ratio in ratios)


@pytest.mark.parametrize("noise", NOISES)
def test_no_change_of_counts_is_dearer_than_its_span(noise):
    """The bound is held against exact laws, of counts that go up and down by up to three."""
    lot, mechanism = random.Random(8), noisy_max(noise, "ln(2)" if noise != "laplace" else "1/2")
    for _ in range(40 if noise != "laplace" else 15):
        counts = [lot.randint(3, 6) for _ in range(lot.randint(2, 4))]
        changes = [lot.choice((0, 0, 1, -1, 2, -3)) for _ in counts]
        span = max(0, *changes) - min(0, *changes)
        found = largest_log_ratio(mechanism, counts, [n + by for n, by in zip(counts, changes, strict=True)])
        assert found <= exact_exponential(mechanism.rate * span)


def test_exponential_noise_attains_both_bounds_and_the_others_come_near():
    for noise, near in (("exponential", 1), ("laplace", F(9, 10)), ("geometric", F(9, 10))):
        mechanism = noisy_max(noise)
        for counts, others, losses in (([0, 40], [1, 40], 1), ([0, 40], [1, 39], 2)):
            found = largest_log_ratio(mechanism, counts, others)
            bound = mechanism.rate * losses
            assert exact_exponential(bound * near) <= found <= exact_exponential(bound)


def test_ties_of_whole_noisy_counts_go_to_the_first():
    first, second = noisy_max("geometric", "ln(3)").probabilities([0, 0])
    assert (first.rational(), second.rational()) == (F(21, 32), F(11, 32))  # two equal whole numbers have probability 5/16


def test_a_rate_without_an_exact_law_is_refused():
    for noise, rate in (("laplace", "ln(2)"), ("exponential", number(2).sqrt())):
        with pytest.raises(ParameterError):
            noisy_max(noise, rate)


@pytest.mark.statistical
@pytest.mark.parametrize(
    "noise", [pytest.param("laplace", marks=pytest.mark.slow), "exponential", pytest.param("geometric", marks=pytest.mark.slow)]
)
def test_releases_follow_the_law(noise):
    mechanism, space, source = noisy_max(noise, "1"), UnorderedRecords(attributes=(COLOUR,)), SeededRandomness(9)
    table = Table.from_records([("blue",), ("blue",), ("green",)], (COLOUR,))
    rows = [list(mechanism.release(table, space, source).records()) for _ in range(2_000)]
    assert {(row[0], *row[2:]) for (row,) in rows} == {("person by colour", "", "chosen")}  # its count is not published
    drawn = [row[1] for (row,) in rows]
    expected = np.array([float(p.enclose(64)) for p in mechanism.probabilities([0, 2, 1])]) * len(drawn)
    observed = np.array([drawn.count(colour) for colour in COLOUR.categories])
    assert ((observed - expected) ** 2 / expected).sum() < stats.chi2.isf(1e-9, 2)


# --- enclosed laws of many cells --------------------------------------------------------------------


def enclosed(noise, counts, rate="1/2"):
    """The probabilities of the cells as bounds, whatever the number of cells."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(choice, "MOST_SUMMED", 0)
        patch.setattr(choice, "FEW_PLACES", 0)
        for kept in (choice._probabilities_by_count, choice._probabilities_by_place):
            kept.cache_clear()
        found = noisy_max(noise, rate).probabilities(counts)
        for kept in (choice._probabilities_by_count, choice._probabilities_by_place):
            kept.cache_clear()
    assert all(isinstance(bounds, tuple) and 0 <= bounds[0] <= bounds[1] <= 1 for bounds in found)
    assert all(high - low < F(1, 2**150) for low, high in found)
    return found


def test_permute_and_flip_over_subsets_lies_within_the_enclosures():
    """P(c) = p_c times the sum over sets S of others of (-1)^|S| prod p_j / (|S| + 1), in decimals with 60 digits."""
    counts = [4, 0, 0, 1, 7, 2, 2, 0]
    with localcontext() as context:
        context.prec = 60
        p = [(Decimal(count - max(counts)) / 2).exp() for count in counts]
        for own, (low, high) in enumerate(enclosed("exponential", counts)):
            others = [q for place, q in enumerate(p) if place != own]
            sets = itertools.chain.from_iterable(itertools.combinations(others, size) for size in range(len(p)))
            exact = p[own] * sum((-1) ** len(chosen) * math.prod(chosen, start=Decimal(1)) / (len(chosen) + 1) for chosen in sets)
            assert low - F(1, 10**55) <= F(exact) <= high + F(1, 10**55)


@pytest.mark.parametrize("gap", [0, 1, 3, 40])
def test_the_larger_of_two_with_laplace_noise_lies_within_the_enclosures(gap):
    """The difference of two Laplace variables exceeds d >= 0 with probability (1/2 + r d/4) e^(-r d)."""
    with localcontext() as context:
        context.prec = 60
        rest = (Decimal("0.5") + Decimal(gap) / 8) * (Decimal(-gap) / 2).exp()
    (low, high), (first, last) = enclosed("laplace", [gap, 0])
    assert low - F(1, 10**55) <= 1 - F(rest) <= high + F(1, 10**55)
    assert first - F(1, 10**55) <= F(rest) <= last + F(1, 10**55)


def test_sums_of_geometric_noise_lie_within_the_enclosures():
    """P(chosen) as a sum over noisy counts from -200 to 200, in fractions: the rest is below 2^-180."""
    counts, r = [2, 0, 1, 0, 0, 2, 5], F(1, 2)

    def mass(w):
        return (1 - r) / (1 + r) * r ** abs(w)

    def at_most(w):
        return 1 - r ** (w + 1) / (1 + r) if w >= 0 else r**-w / (1 + r)

    for own, (low, high) in enumerate(enclosed("geometric", counts, "ln(2)")):
        exact = sum(
            mass(t - counts[own]) * math.prod(at_most(t - n - (j < own)) for j, n in enumerate(counts) if j != own)
            for t in range(-200, 200)
        )
        assert low - F(1, 2**150) <= exact <= high + F(1, 2**150)


@pytest.mark.parametrize("noise", ["laplace", "exponential"])
def test_many_cells_are_symmetric_and_sum_to_one(noise):
    found = noisy_max(noise).probabilities([0] * 999 + [9])
    assert len(set(found)) == 2
    assert sum(low for low, _ in found) <= 1 <= sum(high for _, high in found)
    assert sum(high - low for low, high in found) < F(1, 2**150)


def file_of(tmp_path, noise, cells, epsilon="1/2"):
    path = tmp_path / "largest.dpspec.toml"
    path.write_text(
        f"""
schema = 1
id = "largest"
title = "The most common category"
[space]
type = "records"
attributes = [{{ name = "category", count = {cells} }}]
[multiverse]
invariants = []
[input_divergence]
type = "symmetric-difference"
[output_divergence]
type = "mult"
[budget]
epsilon = "{epsilon}"
[mechanism]
type = "noisy-max"
query = {{ type = "marginal", attributes = ["category"] }}
noise = "{noise}"
rate = "1/2"
""",
        encoding="utf-8",
    )
    return path


@pytest.mark.spread(2, slow=2)
@pytest.mark.parametrize(
    ("noise", "cells", "least"),
    [("laplace", 1_000, 0.4999), ("exponential", 1_000, 0.4999), ("geometric", 20, 0.49), ("geometric", 1_000, 0)],
)
def test_many_cells_are_verified_with_a_bracket(tmp_path, noise, cells, least):
    (found,) = verify(file_of(tmp_path, noise, cells)).standing.verdicts
    assert found.outcome is Outcome.VERIFIED
    assert least <= float(found.constant.lower) <= float(found.constant.upper) == 0.5
    assert (UNCONFIRMED in found.assumptions) == (least == 0)


def test_a_claim_that_is_too_small_for_many_cells_is_refuted_by_a_pair(tmp_path):
    (found,) = verify(file_of(tmp_path, "laplace", 1_000, epsilon="0.49")).standing.verdicts
    assert found.outcome is Outcome.REFUTED
    assert found.witness.divergence.lower > number("0.49")


def test_without_a_lower_bound_a_smaller_claim_is_undecided(tmp_path):
    (found,) = verify(file_of(tmp_path, "geometric", 1_000, epsilon="0.49")).standing.verdicts
    assert found.outcome is Outcome.UNDECIDED
    assert "no pair bounds it from below" in found.reason


def test_exact_quotients_are_computed_of_the_largest_alone(monkeypatch):
    """Two laws of twenty cells have up to twenty quotients with hundreds of powers of e; enclosures tell the largest."""
    calls, divide = [], Exponential.__truediv__
    monkeypatch.setattr(Exponential, "__truediv__", lambda one, other: calls.append(1) or divide(one, other))
    one, other = (listed_law(noisy_max("laplace"), counts) for counts in ([0] * 20, [2, *[0] * 19]))
    calls.clear()
    assert float(one.against(other).max_log_ratio().upper) > 0
    assert len(calls) <= 4


def listed_law(mechanism, counts):
    return choice._law_of_counts(mechanism, tuple(enumerate(counts)))


def test_an_undecided_claim_without_a_pair_is_not_reported_as_one(tmp_path, monkeypatch):
    """Where neither law nor structure can be compared, nothing is decided, and no pair is named in the scope."""
    monkeypatch.setattr("dpspec.verifier.proof.compare_law", lambda *_: LawComparison())
    (report,) = [verify(file_of(tmp_path, "geometric", 1_000))]
    assert report.standing.verdicts[0].outcome is Outcome.UNDECIDED
    assert report.scope == "no pair was decided"


@pytest.mark.parametrize("rate", ["ln(2)", "1/3", "1 + ln(3)"])
def test_a_cell_is_chosen_among_counts_that_are_far_apart(rate):
    """Weights are no exact numbers: an error about one with too many digits showed the difference of two counts."""
    mechanism = ExponentialMechanism(query=Marginal(attributes=("colour",)), rate=rate)
    table = Table(attributes=(COLOUR,), codes={"colour": np.repeat([0, 1], [3, 100_000])})
    (chosen,) = mechanism.release(table, UnorderedRecords(attributes=(COLOUR,)), SeededRandomness(1)).records()
    assert "blue" in chosen


def test_the_exponential_mechanism_draws_its_law():
    mechanism = ExponentialMechanism(query=Marginal(attributes=("colour",)), rate="ln(2)")
    space, source = UnorderedRecords(attributes=(COLOUR,)), SeededRandomness(3)
    table = Table(attributes=(COLOUR,), codes={"colour": np.repeat([0, 1], [1, 2])})
    found = [next(mechanism.release(table, space, source).records()) for _ in range(2_000)]
    counts = [sum(colour in row for row in found) for colour in ("red", "blue", "green")]
    assert stats.chisquare(counts, [2_000 * share / 7 for share in (2, 4, 1)]).pvalue > 1e-9


# --- some of the records --------------------------------------------------------------------------


@pytest.mark.parametrize("noise", [*NOISES, "threshold"])
def test_a_condition_on_records_leaves_the_cells_that_have_none(noise):
    """The view of a filtered choice compares two datasets as its law does: all cells of the table are there."""
    table = Marginal(attributes=("colour",))
    mechanism = (
        AboveThreshold(query=table, threshold=0, threshold_scale=1, query_scale=2) if noise == "threshold" else noisy_max(noise)
    )
    space = UnorderedRecords(attributes=(COLOUR,))
    filtered = Filtered(mechanism=mechanism, where={"colour": ("green",)})
    (view,) = filtered.structure(space).views
    for left, right in itertools.product(([], ["green"], ["green", "green"], ["green", "red"]), repeat=2):
        sides = [space.dataset([(colour,) for colour in side]) for side in (left, right)]
        case = view.between(*(cells_of(view, side, space) for side in sides), space)
        stated = product_of([before.against(after) for before, after in case])
        by_law = filtered.law(sides[0], space).against(filtered.law(sides[1], space))
        for found, wanted in ((stated, by_law), (stated.reverse(), by_law.reverse())):
            ours, theirs = (float(way.total_variation(precision=64).lower) for way in (found, wanted))
            assert ours == pytest.approx(theirs, abs=1e-12)
            ours, theirs = (float(way.max_log_ratio(precision=64).lower) for way in (found, wanted))
            assert ours == pytest.approx(theirs, abs=1e-12)
