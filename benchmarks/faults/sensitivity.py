"""Faults of sensitivity: clipping forgotten or done per part, bounds used wrongly, integers that wrap, neighbours mixed up."""

from __future__ import annotations

import math

import numpy as np

from benchmarks.faults.entry import Fault, lists, rows, sequences


def lower_bound_twice(dataset, rng):
    bounds = (-1, 3)
    sensitivity = max(abs(bounds[0]), abs(bounds[0])) ** 2
    return sum(x * x for x in dataset) + rng.laplace(0, sensitivity)


def both_bounds(dataset, rng):
    bounds = (-1, 3)
    sensitivity = max(abs(bounds[0]), abs(bounds[1])) ** 2
    return sum(x * x for x in dataset) + rng.laplace(0, sensitivity)


def clipped_and_forgotten(dataset, rng):
    clipped = [(min(x, 2), min(y, 2)) for x, y in dataset]
    products = sum(x * y for (x, y), _ in zip(dataset, clipped, strict=True))
    return products + rng.laplace(scale=4.0)


def clipped_and_used(dataset, rng):
    clipped = [(min(x, 2), min(y, 2)) for x, y in dataset]
    products = sum(x * y for x, y in clipped)
    return products + rng.laplace(scale=4.0)


def small_integer_total(dataset, rng):
    total = np.array(dataset, dtype=np.int8).sum(dtype=np.int8)
    return float(total) + rng.laplace(0.0, 100.0)


def python_total(dataset, rng):
    total = sum(dataset)
    return float(total) + rng.laplace(0.0, 100.0)


def count_in_one_byte(dataset, rng):
    counter = np.zeros(1, dtype=np.int8)
    for row in dataset:
        counter += np.int8(row)
    return int(counter[0]) + int(rng.geometric(0.5)) - int(rng.geometric(0.5))


def count_in_python(dataset, rng):
    counter = 0
    for row in dataset:
        counter += row
    return counter + int(rng.geometric(0.5)) - int(rng.geometric(0.5))


def overflow_raises(dataset, rng):
    total = sum(dataset)
    if total > 127:
        raise OverflowError("the sum does not fit")
    return total + rng.laplace(0.0, 50.0)


def overflow_saturates(dataset, rng):
    total = min(sum(dataset), 127)
    return total + rng.laplace(0.0, 50.0)


def rounded_then_noisy(dataset, rng):
    total = sum(dataset)
    return 4 * round(total / 4) + rng.laplace(0, 1)


def noisy_then_rounded(dataset, rng):
    total = sum(dataset)
    return 4 * round((total + rng.laplace(0, 1)) / 4)


def mean_over_private_size(dataset, rng):
    n = max(1, len(dataset))
    return sum(dataset) / n + rng.laplace(0, 10 / n)


def mean_of_noisy_parts(dataset, rng):
    total = sum(dataset) + rng.laplace(0, 20)
    n = max(1.0, len(dataset) + rng.laplace(0, 2))
    return total / n


def variance_over_private_size(dataset, rng):
    n = len(dataset)
    if n == 0:
        return rng.laplace(0, 1)
    sensitivity = (5 / n) ** 2 * (n - 1)
    return float(np.var(dataset)) + rng.laplace(0, sensitivity)


def variance_of_noisy_parts(dataset, rng):
    n = max(1.0, len(dataset) + rng.laplace(0, 3))
    total = sum(dataset) + rng.laplace(0, 15)
    squares = sum(x * x for x in dataset) + rng.laplace(0, 75)
    return max(0.0, squares / n - (total / n) ** 2)


def distinct_then_bounded(dataset, rng):
    owned, seen = [[] for _ in dataset], set()
    for user, keys in enumerate(dataset):
        for key in keys:
            if key not in seen:
                seen.add(key)
                owned[user].append(key)
    kept = sum(len(keys[:1]) for keys in owned)
    return kept + rng.laplace(0, 1)


def bounded_then_distinct(dataset, rng):
    kept = set()
    for keys in dataset:
        kept.update(keys[:1])
    return len(kept) + rng.laplace(0, 1)


def microbatch_once(dataset, rng):
    total = 0.0
    for start in range(0, len(dataset), 2):
        total += float(np.clip(np.mean(dataset[start : start + 2]), -1.0, 1.0))
    return total + rng.laplace(0, 1.0)


def microbatch_twice(dataset, rng):
    total = 0.0
    for start in range(0, len(dataset), 2):
        total += float(np.clip(np.mean(dataset[start : start + 2]), -1.0, 1.0))
    return total + rng.laplace(0, 2.0)


def clipped_per_parameter(dataset, rng):
    total = np.zeros(2)
    for gradient in dataset:
        total += np.clip(gradient, -1.0, 1.0)
    return (total + rng.normal(0.0, 1.0, size=2)).tolist()


def clipped_in_norm(dataset, rng):
    total = np.zeros(2)
    for gradient in dataset:
        total += np.array(gradient) / max(1.0, math.hypot(*gradient))
    return (total + rng.normal(0.0, 1.0, size=2)).tolist()


def join_by_observed_multiplicity(dataset, rng):
    counts = {key: dataset.count(key) for key in set(dataset)}
    joined = sum(count * count for count in counts.values())
    multiplicity = max(counts.values(), default=0)
    return joined + rng.laplace(0, 2 * multiplicity + 1)


def join_by_public_multiplicity(dataset, rng):
    counts = {key: min(2, dataset.count(key)) for key in set(dataset)}
    joined = sum(count * count for count in counts.values())
    return joined + rng.laplace(0, 3)


DURATION = {"lower": None, "upper": None}
BOUNDED = {"lower": 0, "upper": 60}


def total_of(dataset, column, rng):
    if column["upper"] is None:
        return float(sum(dataset))
    clipped = sum(min(max(value, column["lower"]), column["upper"]) for value in dataset)
    return clipped + rng.laplace(0, column["upper"])


def total_without_bounds(dataset, rng):
    return total_of(dataset, DURATION, rng)


def total_with_bounds(dataset, rng):
    return total_of(dataset, BOUNDED, rng)


def queries_over_dimensions(dataset, rng):
    epsilon, iterations, dimensions = 1.0, 2, 4
    scale = 2 * iterations / (epsilon * dimensions)
    measured = [sum(row[0] for row in dataset), sum(row[1] for row in dataset)]
    return [answer + rng.laplace(0, scale) for answer in measured]


def queries_over_iterations(dataset, rng):
    epsilon, iterations = 1.0, 2
    scale = 2 * iterations / epsilon
    measured = [sum(row[0] for row in dataset), sum(row[1] for row in dataset)]
    return [answer + rng.laplace(0, scale) for answer in measured]


def conditional_from(counts):
    positive = [max(count, 0.0) for count in counts]
    whole = sum(positive)
    return [count / whole if whole > 0 else 1 / len(counts) for count in positive]


def counts_with_noise_of_shares(dataset, rng):
    epsilon, n = 1.0, len(dataset)
    noise = rng.laplace(0, 2 / (n * epsilon), size=2)
    return conditional_from([dataset.count(value) + noise[value] for value in (0, 1)])


def counts_with_noise_of_counts(dataset, rng):
    epsilon = 1.0
    noise = rng.laplace(0, 2 / epsilon, size=2)
    return conditional_from([dataset.count(value) + noise[value] for value in (0, 1)])


def both_centres_for_one(dataset, rng):
    x_mean = sum(x for x, _ in dataset) / len(dataset)
    y_mean = sum(y for _, y in dataset) / len(dataset)
    epsilon = 1.0
    return x_mean + rng.laplace(0, 1 / (3 * epsilon)), y_mean + rng.laplace(0, 1 / (3 * epsilon))


def both_centres_for_both(dataset, rng):
    x_mean = sum(x for x, _ in dataset) / len(dataset)
    y_mean = sum(y for _, y in dataset) / len(dataset)
    epsilon = 1.0 / 2
    return x_mean + rng.laplace(0, 1 / (3 * epsilon)), y_mean + rng.laplace(0, 1 / (3 * epsilon))


def partitions_that_overlap(dataset, rng):
    wards = {"heart": 0, "lung": 0, "skin": 0}
    for diagnoses in dataset:
        for diagnosis in diagnoses:
            wards[diagnosis] += 1
    return {ward: count + rng.laplace(0, 1.0) for ward, count in wards.items()}


def partitions_by_first(dataset, rng):
    wards = {"heart": 0, "lung": 0, "skin": 0}
    for diagnoses in dataset:
        if diagnoses:
            wards[diagnoses[0]] += 1
    return {ward: count + rng.laplace(0, 1.0) for ward, count in wards.items()}


FAULTS = (
    Fault(
        name="lower-bound-twice",
        source="diffprivlib, issues 105 (2026) and 104 (2025), linear regression: the sensitivity reads the lower bound twice",
        fault="max(|lower|, |lower|)^2 is taken for the sensitivity of a sum of squares.",
        space=lists(-1, 0, 3),
        claim=("pure", 1),
        wrong=lower_bound_twice,
        mended=both_bounds,
        pair=((3,), ()),
        event=lambda out: out >= 9,
        because="[3] / []; output at least 9: 1/2 against e^-9 / 2",
        holds="a record adds at most 9, and the scale is 9",
    ),
    Fault(
        name="covariance-not-clipped",
        source="SmartNoise SDK, issue 622 and pull request 624 (2026): covariance clipping bug",
        fault="The data are clipped, and then the unclipped data are used.",
        space=lists((0, 0), (2, 1), (9, 9)),
        claim=("pure", 1),
        wrong=clipped_and_forgotten,
        mended=clipped_and_used,
        pair=(((9, 9),), ()),
        event=lambda out: out >= 40,
        because="[(9, 9)] / []; output at least 40: above 0.99 against e^-10 / 2",
        holds="a clipped record adds at most 2 times 2, and the scale is 4",
    ),
    Fault(
        name="sum-wraps",
        source="Casacuberta, Shoemate, Vadhan and Wagaman 2022, Widespread underestimation of sensitivity in DP libraries",
        fault="A sum in one byte wraps around: one record can move it by 156 and not by 100.",
        space=lists(0, 50, 100),
        claim=("pure", 1),
        wrong=small_integer_total,
        mended=python_total,
        pair=((100,), (100, 100)),
        event=lambda out: out >= 100,
        because="[100] / [100, 100]; 200 wraps to -56; output at least 100: 1/2 against e^-1.56 / 2",
        holds="a record adds at most 100, and the scale is 100",
    ),
    Fault(
        name="count-wraps",
        source="Casacuberta, Shoemate, Vadhan and Wagaman 2022, Widespread underestimation of sensitivity in DP libraries",
        fault="A counter of one byte wraps from 127 to -128: one record moves it by 255.",
        space=lists(0, 1),
        claim=("pure", "ln(2)"),
        wrong=count_in_one_byte,
        mended=count_in_python,
        pair=((1,) * 127, (1,) * 128),
        event=lambda out: out > 0,
        because="127 ones / 128 ones; output above 0: almost 1 against 2^-128",
        holds="the count moves by at most 1, two-sided geometric noise of ratio 1/2 gives ln 2",
    ),
    Fault(
        name="overflow-raises",
        source="Google differential-privacy, issue 40 (2020): an error on overflow would be deterministic and depend on the data",
        fault="An overflow raises, and that a sum was too large is no noisy answer.",
        space=lists(0, 30, 50),
        claim=("pure", 1),
        wrong=overflow_raises,
        mended=overflow_saturates,
        pair=((50, 50), (30, 50, 50)),
        event=lambda out: isinstance(out, float),
        because="[50, 50] / [30, 50, 50]; a number is returned: 1 against 0",
        holds="a saturated sum moves by at most 50, and the scale is 50",
    ),
    Fault(
        name="rounded-before-noise",
        source="Casacuberta, Shoemate, Vadhan and Wagaman 2022, Widespread underestimation of sensitivity in DP libraries "
        "(rounding)",
        fault="The sum is rounded to a multiple of 4 before noise for a sensitivity of 1 is added.",
        space=lists(0, 1),
        claim=("pure", 1),
        wrong=rounded_then_noisy,
        mended=noisy_then_rounded,
        pair=((1, 1, 1), (1, 1)),
        event=lambda out: out >= 4,
        because="[1, 1, 1] / [1, 1]; 3/4 rounds to 1 and 2/4 to 0: output at least 4: 1/2 against e^-4 / 2",
        holds="the sum moves by at most 1, Laplace of scale 1; rounding looks at the noisy answer only",
    ),
    Fault(
        name="mean-over-private-size",
        source="SmartNoise Core, issues 355 and 356 (2021): the sensitivity of the mean takes n from the current dataset",
        fault="Records come and go, and the noise is scaled by the true number of them.",
        space=lists(0, 5, 10),
        claim=("pure", 1),
        wrong=mean_over_private_size,
        mended=mean_of_noisy_parts,
        pair=((0,), (0, 0)),
        event=lambda out: abs(out) >= 20,
        because="[0] / [0, 0]; absolute value at least 20: e^-2 against e^-4, a log-ratio of 2",
        holds="half of the budget for a sum that moves by at most 10, half for a count that moves by 1; the rest is "
        "post-processing",
    ),
    Fault(
        name="variance-over-private-size",
        source="SmartNoise SDK, issue 547 (2023): the sensitivity of the variance uses the exact n, safe only when n is public",
        fault="Records come and go, and the noise is scaled by ((upper - lower)/n)^2 (n - 1) with the true n; 0 for one record.",
        space=lists(0, 2, 5),
        claim=("pure", 1),
        wrong=variance_over_private_size,
        mended=variance_of_noisy_parts,
        pair=((2,), ()),
        event=lambda out: out == 0.0,
        because="[2] / []; the output is 0 exactly: 1 against 0",
        holds="a third of the budget each: count moves by 1, sum by 5, sum of squares by 25; the rest is post-processing",
    ),
    Fault(
        name="distinct-then-bounded",
        source="Google differential-privacy, pull request 84 (2021): a rare privacy bug in DistinctPerKey of Privacy on Beam",
        fault="Keys are attributed to the first user who has them, and only then bounded: an outlier takes the keys of "
        "others away.",
        space=sequences(("a",), ("b",), ("c",), ("a", "b", "c"), most=4),
        claim=("pure", 1),
        wrong=distinct_then_bounded,
        mended=bounded_then_distinct,
        pair=((("a",), ("b",), ("c",)), (("a", "b", "c"), ("a",), ("b",), ("c",))),
        event=lambda out: out >= 3,
        because="[a, b, c] / [abc, a, b, c]; 3 keys are kept against 1: output at least 3: 1/2 against e^-2 / 2",
        holds="each user has one key left, so that a user moves the number of different keys by at most 1",
    ),
    Fault(
        name="microbatch-replaced",
        source="TensorFlow Privacy, issues 620 (2025) and 81 (2019); Ponomareva et al. 2023, How to DP-fy ML, section 5.6: "
        "microbatches double the sensitivity",
        fault="The mean of a microbatch is clipped to [-1, 1], and the noise is made for a sensitivity of 1.",
        space=rows(-2, 0, 2, length=4),
        claim=("pure", 1),
        wrong=microbatch_once,
        mended=microbatch_twice,
        pair=((0, 2, 0, 0), (0, -2, 0, 0)),
        event=lambda out: out >= 1,
        because="[0, 2, 0, 0] / [0, -2, 0, 0]; 1 against -1: output at least 1: 1/2 against e^-2 / 2",
        holds="one clipped mean moves by at most 2, and the scale is 2",
    ),
    Fault(
        name="clipped-per-parameter",
        source="Fed-BioMed, issue 1443 (2025): the clip is not applied as a global norm of the gradient but per parameter",
        fault="Each of two coordinates is clipped to [-1, 1], so that a gradient has a norm of up to sqrt 2.",
        space=lists((0, 0), (3, 3), (3, -3)),
        claim=("concentrated", "1/2"),
        wrong=clipped_per_parameter,
        mended=clipped_in_norm,
        pair=(((3, 3),), ()),
        event=lambda out: out[0] + out[1] >= 4.2,
        because="[(3, 3)] / []; the sum of both is N(2, 2) against N(0, 2), which is rho = 1",
        holds="a clipped gradient has norm at most 1, and Gaussian noise of sigma 1 gives rho = 1/2",
    ),
    Fault(
        name="join-by-observed-multiplicity",
        source="McSherry 2018, Uber's differential privacy .. probably isn't; on Johnson, Near and Song 2018 (elastic "
        "sensitivity)",
        fault="The noise of a self-join is scaled by the largest multiplicity that is seen in the data.",
        space=lists("k", "m", most=5),
        claim=("pure", 1),
        wrong=join_by_observed_multiplicity,
        mended=join_by_public_multiplicity,
        pair=(("k",), ()),
        event=lambda out: abs(out) >= 6,
        because="[k] / []; absolute value at least 6: about 0.14 against e^-6 = 0.0025, a log-ratio of 4",
        holds="with multiplicities cut at 2, a record moves the sum of squares by at most 4 - 1 = 3, and the scale is 3",
    ),
    Fault(
        name="no-bounds-no-noise",
        source="SmartNoise SDK, issue 317 (2020): not specifying column bounds leaves a column with no noise applied",
        fault="Where a column has no bounds the sensitivity is None, and the exact sum is returned.",
        space=lists(0, 15, 45),
        claim=("pure", 1),
        wrong=total_without_bounds,
        mended=total_with_bounds,
        pair=((15,), ()),
        event=lambda out: out == 15.0,
        because="[15] / []; the output is 15: 1 against 0",
        holds="a clipped value lies in 0..60, and the scale is 60",
    ),
    Fault(
        name="scale-over-dimensions",
        source="SmartNoise SDK, issue 472 (2022): MWEM's Laplace noise is divided by the number of dimensions",
        fault="The scale 2 T / epsilon of T measurements is divided by the number of attributes.",
        space=lists((0, 0, 0, 0), (1, 0, 0, 1), (1, 1, 1, 1), most=5),
        claim=("pure", 1),
        wrong=queries_over_dimensions,
        mended=queries_over_iterations,
        pair=(((1, 1, 1, 1),), ()),
        event=lambda out: out[0] >= 1 and out[1] >= 1,
        because="[(1, 1, 1, 1)] / []; both at least 1: 1/4 against e^-2 / 4",
        holds="two counts that move by at most 1 each with scale 4: at most 1/2",
    ),
    Fault(
        name="noise-of-shares-on-counts",
        source="DataSynthesizer, issue 34 (2021), PrivBayes: wrong sensitivity of the conditional distributions",
        fault="Noise for shares, of scale 2/(n epsilon), is added to counts.",
        space=rows(0, 1, length=4),
        claim=("pure", 1),
        wrong=counts_with_noise_of_shares,
        mended=counts_with_noise_of_counts,
        pair=((0, 0, 0, 0), (0, 0, 0, 1)),
        event=lambda out: out[1] == 0.0,
        because="[0, 0, 0, 0] / [0, 0, 0, 1]; the second share is 0: 1/2 against e^-2 / 2",
        holds="a changed row moves two counts by 1 each, and the scale is 2; the rest is post-processing",
    ),
    Fault(
        name="centres-share-a-budget",
        source="diffprivlib, issue 104, item 2 (2025), linear regression: centring of X and y share a single budget slice",
        fault="Two means are released, each with the whole budget of the step.",
        space=rows((0, 0), (0, 1), (1, 0), (1, 1), length=3),
        claim=("pure", 1),
        wrong=both_centres_for_one,
        mended=both_centres_for_both,
        pair=(((1, 1), (0, 0), (0, 0)), ((0, 0), (0, 0), (0, 0))),
        event=lambda out: out[0] >= 1 / 3 and out[1] >= 1 / 3,
        because="[(1, 1), (0, 0), (0, 0)] / three (0, 0); both at least 1/3: 1/4 against e^-2 / 4",
        holds="each mean moves by at most 1/3 and has noise of scale 2/3: 1/2 each",
    ),
    Fault(
        name="partitions-overlap",
        source="McSherry 2009, Privacy integrated queries; Wilson, Zhang, Lam, Desfontaines et al. 2020, DP SQL with bounded "
        "user contribution",
        fault="Counts per diagnosis are taken for counts of disjoint parts, but a person has up to three diagnoses.",
        space=lists(("heart",), ("lung", "skin"), ("heart", "lung", "skin")),
        claim=("pure", 1),
        wrong=partitions_that_overlap,
        mended=partitions_by_first,
        pair=((("heart", "lung", "skin"),), ()),
        event=lambda out: min(out.values()) >= 1,
        because="[heart lung skin] / []; all three at least 1: 1/8 against e^-3 / 8",
        holds="a person is counted in one part only, and the scale is 1",
    ),
)
