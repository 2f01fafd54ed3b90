"""Faults before the noise: bounds, bins, domains and scales read from the data, records dropped or filled in by others."""

from __future__ import annotations

import math

import numpy as np

from benchmarks.faults.entry import Fault, lists, rows


def bounds_from_data(dataset, rng):
    lower, upper = np.nanmin(dataset), np.nanmax(dataset)
    mean = float(np.mean(np.clip(dataset, lower, upper)))
    return mean + rng.laplace(0, (upper - lower) / len(dataset))


def bounds_given(dataset, rng):
    lower, upper = 0, 6
    mean = float(np.mean(np.clip(dataset, lower, upper)))
    return mean + rng.laplace(0, (upper - lower) / len(dataset))


def bins_from_data(dataset, rng):
    counts, _ = np.histogram(dataset, bins=3)
    return [int(count) + rng.laplace() for count in counts]


def bins_given(dataset, rng):
    counts, _ = np.histogram(dataset, bins=[0, 3, 6, 9])
    return [int(count) + rng.laplace() for count in counts]


def synthesise(counts, rng):
    values = sorted(counts)
    weights = np.array([max(counts[value], 0.0) + 0.01 for value in values])
    return [values[place] for place in rng.choice(len(values), size=3, p=weights / weights.sum())]


def synthetic_observed_domain(dataset, rng):
    observed = sorted(set(dataset)) or ["nobody"]
    return synthesise({value: dataset.count(value) + rng.laplace() for value in observed}, rng)


def synthetic_public_domain(dataset, rng):
    return synthesise({value: dataset.count(value) + rng.laplace() for value in ("blue", "green", "red")}, rng)


def synthetic_by_copying(dataset, rng):
    return [dataset[place] for place in rng.integers(0, len(dataset), size=2)]


def synthetic_by_response(dataset, rng):
    answers = [value if rng.random() < 0.5 else int(rng.integers(0, 3)) for value in dataset]
    return [answers[place] for place in rng.integers(0, len(answers), size=2)]


def scaled_by_maximum(dataset, rng):
    largest = max(dataset, default=1)
    return sum(value / largest for value in dataset) + rng.laplace(0, 1)


def scaled_by_public_maximum(dataset, rng):
    largest = 40
    return sum(value / largest for value in dataset) + rng.laplace(0, 1)


def near_duplicates_removed(dataset, rng):
    kept = [x for i, x in enumerate(dataset) if not any(abs(x - y) <= 1 for j, y in enumerate(dataset) if i != j)]
    return len(kept) + rng.laplace(0, 1)


def exact_duplicates_once(dataset, rng):
    kept = set(dataset)
    return len(kept) + rng.laplace(0, 1)


def missing_by_mean(dataset, rng):
    seen = [value for value in dataset if value is not None]
    fill = sum(seen) / len(seen) if seen else 0.0
    return sum(fill if value is None else value for value in dataset) + rng.laplace(0, 1)


def missing_by_constant(dataset, rng):
    fill = 0.5
    return sum(fill if value is None else value for value in dataset) + rng.laplace(0, 1)


EDGES = (0.0, 10.0, 100.0)


def bin_of(value):
    for place in range(len(EDGES) - 1):
        if EDGES[place] <= value < EDGES[place + 1]:
            return place
    raise ValueError("the value is outside of the range that can be binned")


def odd_values_raise(dataset, rng):
    counts = [0, 0]
    for value in dataset:
        if not math.isnan(value):
            counts[bin_of(value)] += 1
    return [count + rng.laplace(0, 1) for count in counts]


def odd_values_dropped(dataset, rng):
    counts = [0, 0]
    for value in dataset:
        if math.isfinite(value):
            counts[bin_of(min(max(value, 0.0), 99.0))] += 1
    return [count + rng.laplace(0, 1) for count in counts]


def clipped_at_own_quantile(dataset, rng):
    bound = float(np.quantile(dataset, 0.75)) if dataset else 0.0
    return sum(min(value, bound) for value in dataset) + rng.laplace(0, max(bound, 1.0))


def clipped_at_public_bound(dataset, rng):
    bound = 8.0
    return sum(min(value, bound) for value in dataset) + rng.laplace(0, max(bound, 1.0))


def extremes_kept_for_encoding(dataset, rng):
    top = sorted(dataset)[-2:]
    noisy = sum(dataset) / 5 + rng.laplace(0, 1)
    return {"mean": noisy, "max": min(top)}


def extremes_public_for_encoding(dataset, rng):
    noisy = sum(dataset) / 5 + rng.laplace(0, 1)
    return {"mean": noisy, "max": 5}


FAULTS = (
    Fault(
        name="bounds-from-data",
        source="diffprivlib, issues 20 (2020) and 87 (2023): bounds that are not given are read from the data, with a warning",
        fault="The scale of the noise is the observed range: 0 where all values agree.",
        space=rows(0, 1, 6, length=3),
        claim=("pure", 1),
        wrong=bounds_from_data,
        mended=bounds_given,
        pair=((1, 1, 1), (1, 1, 6)),
        event=lambda out: out == 1.0,
        because="[1, 1, 1] / [1, 1, 6]; the output is 1: 1 against 0",
        holds="a changed value moves the mean by at most 6/3, which is the scale; n is public",
    ),
    Fault(
        name="bins-from-data",
        source="SmartNoise SDK, issue 473 (2022): MWEM's bins are made by numpy.histogramdd from the original data",
        fault="The edges of the bins are the observed range cut in three: one record moves all others to other bins.",
        space=lists(0, 2, 4, 8, most=6),
        claim=("pure", 1),
        wrong=bins_from_data,
        mended=bins_given,
        pair=((0, 2, 2, 2), (0, 2, 2, 2, 8)),
        event=lambda out: out[0] <= 1 and out[2] >= 3,
        because="[0, 2, 2, 2] / [0, 2, 2, 2, 8]; counts 1, 0, 3 against 4, 0, 1: first at most 1 and last at least 3: 1/4 "
        "against e^-5 / 4",
        holds="a record is in one of three given bins, and the scale is 1",
    ),
    Fault(
        name="domain-from-data",
        source="Stadler, Oprisanu and Troncoso 2022, Synthetic data: anonymisation groundhog day; Annamalai, Ganev and De "
        "Cristofaro "
        "2024, What do you want from theory alone?; Reprosyn, issue 38 (2022)",
        fault="The categories of the synthetic data are those that occur: a category that is drawn was in the data.",
        space=lists("blue", "green", "red"),
        claim=("pure", 1),
        wrong=synthetic_observed_domain,
        mended=synthetic_public_domain,
        pair=(("blue", "red"), ("blue",)),
        event=lambda out: "red" in out,
        because="[blue, red] / [blue]; red is drawn: about 0.8 against 0",
        holds="three noisy counts of scale 1, one of which a record moves; drawing from them is post-processing",
    ),
    Fault(
        name="synthetic-by-copying",
        source="Stadler, Oprisanu and Troncoso 2022, Synthetic data: anonymisation groundhog day (records reproduced)",
        fault="Synthetic records are copies of drawn records: a value that nobody has is never seen.",
        space=rows(0, 1, 2, length=3),
        claim=("pure", "ln(4)"),
        wrong=synthetic_by_copying,
        mended=synthetic_by_response,
        pair=((2, 0, 0), (0, 0, 0)),
        event=lambda out: 2 in out,
        because="[2, 0, 0] / three 0; a 2 is seen: 5/9 against 0",
        holds="each record is kept with probability 2/3 and any other with 1/6, odds of 4; drawing from the responses is "
        "post-processing",
    ),
    Fault(
        name="scaled-by-maximum",
        source="diffprivlib, issue 20 (2020): data_norm, when it is not given, is the largest norm in the data",
        fault="Values are divided by the largest one, so that one record rescales all others.",
        space=lists(1, 2, 40),
        claim=("pure", 1),
        wrong=scaled_by_maximum,
        mended=scaled_by_public_maximum,
        pair=((1, 1, 1, 1), (1, 1, 1, 1, 40)),
        event=lambda out: out >= 4,
        because="four 1 / four 1 and a 40; 4 against 1.1: output at least 4: 1/2 against e^-2.9 / 2",
        holds="a value adds at most 40/40, and the scale is 1",
    ),
    Fault(
        name="near-duplicates-removed",
        source="Debenedetti, Severi, Carlini, Choquette-Choo, Jagielski, Nasr, Wallace and Tramer 2024, Privacy side "
        "channels in machine "
        "learning systems (deduplication of training data)",
        fault="Records near another one are removed before the count: one record removes two others.",
        space=lists(0, 1, 2, 5),
        claim=("pure", 1),
        wrong=near_duplicates_removed,
        mended=exact_duplicates_once,
        pair=((0, 2), (0, 1, 2)),
        event=lambda out: out >= 2,
        because="[0, 2] / [0, 1, 2]; 2 against 0: output at least 2: 1/2 against e^-2 / 2",
        holds="a record moves the number of different values by at most 1, and the scale is 1",
    ),
    Fault(
        name="imputed-by-mean",
        source="Das, Drechsler, Merrill and Merrill 2022, Imputation under differential privacy",
        fault="Missing values are filled in by the mean of the others, which one record moves for all of them.",
        space=lists(None, 0.0, 1.0),
        claim=("pure", 1),
        wrong=missing_by_mean,
        mended=missing_by_constant,
        pair=((None, None, None, 1.0), (None, None, None)),
        event=lambda out: out >= 4,
        because="three None and a 1 / three None; 4 against 0: output at least 4: 1/2 against e^-4 / 2",
        holds="a record adds at most 1, whatever the others are, and the scale is 1",
    ),
    Fault(
        name="odd-values-raise",
        source="SmartNoise SDK, issue 574 and pull request 580 (2023): approx_bounds is not robust to extremum values",
        fault="NaN is left out, but an infinite or negative value raises.",
        space=lists(3.0, 20.0, math.inf, math.nan, -2.0),
        claim=("pure", 1),
        wrong=odd_values_raise,
        mended=odd_values_dropped,
        pair=((), (math.inf,)),
        event=lambda out: isinstance(out, list),
        because="[] / [inf]; counts are returned: 1 against 0",
        holds="a record is in one of two given bins or in none, and the scale is 1",
    ),
    Fault(
        name="clipped-at-own-quantile",
        source="MOSTLY AI engine, pull request 103 (2025): DP protection for value ranges, which were quantiles and extremes "
        "of the data; "
        "Andrew, Thakkar, McMahan and Ramaswamy 2021, DP learning with adaptive clipping (what the quantile costs)",
        fault="The clipping bound is an exact quantile, which is not paid for and scales the noise.",
        space=lists(0.0, 1.0, 8.0),
        claim=("pure", 1),
        wrong=clipped_at_own_quantile,
        mended=clipped_at_public_bound,
        pair=((8.0,), ()),
        event=lambda out: abs(out) >= 6,
        because="[8] / []; absolute value at least 6: about 0.70 against e^-6 = 0.0025",
        holds="a clipped value adds at most 8, and the scale is 8",
    ),
    Fault(
        name="extreme-kept-for-encoding",
        source="MOSTLY AI engine, pull request 103 (2025): the reduced extremes that an encoding stores are values of records",
        fault="The second largest value is stored as it is, beside a noisy mean.",
        space=rows(0, 2, 5, length=5),
        claim=("pure", 1),
        wrong=extremes_kept_for_encoding,
        mended=extremes_public_for_encoding,
        pair=((0, 0, 0, 5, 5), (0, 0, 0, 0, 5)),
        event=lambda out: out["max"] == 5,
        because="[0, 0, 0, 5, 5] / [0, 0, 0, 0, 5]; the stored maximum is 5: 1 against 0",
        holds="a changed value moves the mean by at most 5/5, and the scale is 1",
    ),
)
