"""Tables behind a swap: moments by listing all permutations, unbiased under the stated law, coverage over simulated swaps."""

from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from dpspec_inference.model import ReleasedData
from dpspec_inference.swapped import KINDS, SwappedTable, patterns, variance_of_count

import dpspec as dp
from dpspec.plugin import Table, errors, randomness, tables, workers

RATE = Fraction(2, 7)


def matchings(left):
    if not left:
        yield {}
        return
    one = left[0]
    for other in left[1:]:
        for rest in matchings([each for each in left[1:] if each != other]):
            yield {**rest, one: other, other: one}


def moves(kind, chosen):
    """All ways in which the selected records may move, equally likely."""
    if kind == "pair":
        if len(chosen) % 2 == 0:
            yield from matchings(list(chosen))
        else:
            for kept in chosen:
                yield from matchings([each for each in chosen if each != kept])
        return
    for image in itertools.permutations(chosen):
        if kind == "permute" or all(a != b for a, b in zip(chosen, image, strict=True)):
            yield dict(zip(chosen, image, strict=True))


def listed(kind, size):
    """The law of the permutation, by the algorithm as it is stated."""
    law = Counter()
    for count in range(size + 1):
        for chosen in itertools.combinations(range(size), count):
            if kind == "derange" and count == 1:
                continue
            found = list(moves(kind, chosen))
            for moved in found:
                law[tuple(moved.get(i, i) for i in range(size))] += RATE**count * (1 - RATE) ** (size - count) / len(found)
    whole = sum(law.values())
    return {sigma: chance / whole for sigma, chance in law.items()}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [1, 2, 3, 4, pytest.param(5, marks=pytest.mark.slow)])
def test_mean_and_variance_of_every_table_cell(kind, size):
    law, found = listed(kind, size), patterns(kind, size, RATE)
    for values, rows in itertools.product(itertools.product((0, 1), repeat=size), repeat=2):
        held, r, c = sum(a * b for a, b in zip(values, rows, strict=True)), sum(rows), sum(values)
        counts = [(sum(values[sigma[i]] for i in range(size) if rows[i]), chance) for sigma, chance in law.items()]
        mean = sum(count * chance for count, chance in counts)
        variance = sum(count**2 * chance for count, chance in counts) - mean**2
        assert found.stays * held + found.moves_to * (r * c - held) == pytest.approx(float(mean), abs=1e-12)
        assert variance_of_count(found, held, r, c) == pytest.approx(float(variance), abs=1e-10)


def swap(kind, rate, **more):
    names = {"derange": "derangement-swapping", "permute": "permutation-swapping", "pair": "pair-swapping"}
    people = {"size": ["1", "2", "3"], "tenure": ["o", "r"], "county": ["n", "s"]}
    unit = {"unit": "household"}
    return dp.build(
        space={"type": "records", **unit, "attributes": [{"name": name, "categories": c} for name, c in people.items()]},
        multiverse={
            "invariants": [{"type": "marginal", **unit, "attributes": ["size", other]} for other in ("tenure", "county")]
        },
        input_divergence={"type": "hamming", **unit},
        output_divergence={"type": "mult"},
        budget={"epsilon": 9},
        mechanism={"type": names[kind], "match": ["size"], "swap": ["county"], "swap_rate": rate, **unit, **more},
    )


def table_of(document, rows):
    attributes = tuple(document.spec.space.attributes_of("household"))
    codes = {a.name: tables.compact(np.array([row[k] for row in rows]), a.size) for k, a in enumerate(attributes)}
    return Table(attributes=attributes, codes=codes)


def released(document, table):
    return ReleasedData(spec=document.spec, mechanism=document.mechanism, tables=(table,))


@pytest.mark.parametrize("kind", KINDS)
def test_the_estimates_are_unbiased_under_the_law_that_the_mechanism_states(kind):
    """The mean of the estimates over all outputs of `law`, which shares no code with the moments."""
    document = swap(kind, "1/4")
    truth = [(0, 0, 0), (0, 0, 1), (0, 1, 1), (0, 1, 1), (1, 0, 1), (1, 1, 0)]
    space = document.spec.space
    values = [list(a.values()) for a in space.attributes_of("household")]
    dataset = space.dataset([tuple(values[k][code] for k, code in enumerate(row)) for row in truth])
    sums, model = Counter(), SwappedTable(attributes=("county", "tenure"))
    law = document.mechanism.law(dataset, space)
    for outcome in law.support:
        rows = [tuple(values[k].index(value) for k, value in enumerate(record)) for record in outcome]
        for one in model.infer(released(document, table_of(document, rows))).estimates:
            sums[one.name] += float(law.probability(outcome)) * one.value
    true = Counter(", ".join((values[2][row[2]], values[1][row[1]])) for row in truth)
    assert {name: round(total, 9) for name, total in sums.items() if round(total, 9)} == true


def coverage(kind, simulations):
    document = swap(kind, "3/10")
    source = np.random.default_rng(7)
    rows = [(int(source.integers(3)), t := int(source.integers(2)), int(source.random() < 0.3 + 0.4 * t)) for _ in range(300)]
    table = table_of(document, rows)
    true = Counter((row[2], row[1]) for row in rows)
    model, held, errors_ = SwappedTable(attributes=("county", "tenure")), 0, []
    for seed in range(simulations):
        run = workers.Run(source=randomness.SeededRandomness(seed))
        swapped = document.mechanism.run(table, document.spec.space, run).main
        one = model.infer(released(document, swapped)).estimates[0]
        held += one.interval[0] <= true[0, 0] <= one.interval[1]
        errors_.append((one.value - true[0, 0]) / one.standard_error)
    return held / simulations, np.array(errors_)


@pytest.mark.statistical
@pytest.mark.spread(0, slow=1)
@pytest.mark.parametrize("kind", KINDS)
def test_coverage_of_the_intervals_in_1000_simulated_swaps(kind):
    """Level 95 %; the standard error of the coverage is 0.7 %, and 4 of these on either side are allowed."""
    share, errors_ = coverage(kind, 1000)
    assert 0.95 - 0.028 <= share <= 0.95 + 0.028
    assert abs(errors_.mean()) < 4 / 1000**0.5
    assert 0.9 < errors_.std() < 1.1


def test_what_a_release_does_not_determine():
    """Where all six records always move by a uniform permutation, every table has the same law of the release."""
    document = swap("permute", 1)
    table = table_of(document, [(0, k % 2, k % 2) for k in range(6)])
    with pytest.raises(errors.UndeterminedModelError, match="as likely as getting another"):
        SwappedTable().infer(released(document, table))


def test_published_totals_have_no_error():
    document = swap("derange", "1/4")
    table = table_of(document, [(k % 3, k % 2, (k // 2) % 2) for k in range(30)])
    for attributes in (("county",), ("county", "size"), ("tenure", "size")):
        for one in SwappedTable(attributes=attributes).infer(released(document, table)).estimates:
            assert one.standard_error == pytest.approx(0, abs=1e-6)
            assert one.value == pytest.approx(round(one.value), abs=1e-9)


@pytest.mark.parametrize("kind", ["derangement-swapping", "permutation-swapping", "pair-swapping"])
def test_estimates_are_unbiased_where_strata_have_rates_of_their_own(kind):
    """The mean over the listed law of the swap is the confidential table, and the rate of one stratum alone would not give it."""
    people = [("county", ["n", "s"]), ("tenure", ["o", "r"]), ("size", ["1", "2"])]
    promise = dp.spec(
        space=dp.records(unit="household", **dict(people)), distance="hamming", standard="pure", epsilon=9, unit="household",
        invariants=[dp.marginal(unit="household", attributes=["size", name]) for name in ("tenure", "county")],
    )  # fmt: skip
    rates = [{"stratum": ["2"], "swap_rate": "3/5"}]
    make = getattr(dp, kind.replace("-", "_"))
    mechanism = make(match=["size"], swap=["county"], swap_rate="1/5", unit="household", rates=rates)
    records = [("n", "o", "1"), ("s", "r", "1"), ("n", "r", "1"), ("n", "o", "2"), ("s", "r", "2"), ("s", "o", "2")]
    attributes = tuple(promise.space.attributes_of("household"))
    mean, spread, said = Counter(), Counter(), Counter()
    for outcome, probability in mechanism.law(promise.space.dataset(records), promise.space).probabilities():
        released = ReleasedData(spec=promise, mechanism=mechanism, tables=(Table.from_records(outcome, attributes),))
        for cell in SwappedTable().infer(released).estimates:
            mean[cell.name] += cell.value * float(probability)
            spread[cell.name] += cell.value**2 * float(probability)
            said[cell.name] += cell.variance * float(probability)
    truth = Counter(f"{county}, {tenure}" for county, tenure, _ in records)
    assert {name: pytest.approx(value, abs=1e-9) for name, value in mean.items()} == {name: truth[name] for name in mean}
    assert all(said[name] > (spread[name] - mean[name] ** 2) / 3 for name in mean)
