"""Faults of selection: sparse vectors, noisy maxima, exponential mechanisms, thresholds, and cells that are left out."""

from __future__ import annotations

import math

import numpy as np

from benchmarks.faults.entry import Fault, answers, lists, rows

ABOVE, BELOW = "above", "below"


def svt_value_released(answers, rng):
    threshold = rng.laplace(0, 2)
    out = []
    for answer in answers:
        noisy = answer + rng.laplace(0, 2)
        if noisy >= threshold:
            out.append(noisy)
            break
        out.append(BELOW)
    return out


def svt_fresh_value_released(answers, rng):
    threshold = rng.laplace(0, 3)
    out = []
    for answer in answers:
        if answer + rng.laplace(0, 6) >= threshold:
            out.append(answer + rng.laplace(0, 3))
            break
        out.append(BELOW)
    return out


def svt_three_quarters_for_queries(answers, rng):
    epsilon = 1.0
    threshold = rng.laplace(0, 1 / (epsilon / 4))
    out = []
    for answer in answers:
        if answer + rng.laplace(0, 1 / (3 * epsilon / 4)) >= threshold:
            out.append(ABOVE)
            break
        out.append(BELOW)
    return out


def svt_half_and_half(answers, rng):
    epsilon = 1.0
    threshold = rng.laplace(0, 1 / (epsilon / 2))
    out = []
    for answer in answers:
        if answer + rng.laplace(0, 2 / (epsilon / 2)) >= threshold:
            out.append(ABOVE)
            break
        out.append(BELOW)
    return out


def svt_without_query_noise(dataset, rng):
    threshold = 1 + rng.laplace(0, 2)
    return [ABOVE if dataset.count(item) >= threshold else BELOW for item in ("a", "b", "c")]


def svt_until_first(dataset, rng):
    threshold = 1 + rng.laplace(0, 2)
    for place, item in enumerate(("a", "b", "c")):
        if dataset.count(item) + rng.laplace(0, 4) >= threshold:
            return place
    return None


def svt_never_stops(answers, rng):
    threshold = rng.laplace(0, 2)
    return [bool(answer + rng.laplace(0, 2) >= threshold) for answer in answers]


def svt_stops_at_once(answers, rng):
    threshold = rng.laplace(0, 2)
    out = []
    for answer in answers:
        out.append(bool(answer + rng.laplace(0, 4) >= threshold))
        if out[-1]:
            break
    return out


def maximum_with_value(answers, rng):
    noisy = [answer + rng.laplace(0, 2) for answer in answers]
    return max(noisy)


def maximum_by_place(answers, rng):
    noisy = [answer + rng.laplace(0, 2) for answer in answers]
    return noisy.index(max(noisy))


SPLITS = (("age", 30), ("age", 60), ("pay", 2), ("pay", 5))


def balance(dataset, split):
    column, cut = split
    values = [row[("age", "pay").index(column)] for row in dataset]
    return -abs(sum(1 if value >= cut else -1 for value in values))


def exponential_choice(scores, epsilon, rng):
    top = max(scores)
    weights = np.exp([epsilon * (score - top) / 2 for score in scores])
    return int(rng.choice(len(scores), p=weights / weights.sum()))


def best_split_per_column_first(dataset, rng):
    finalists = [max((s for s in SPLITS if s[0] == column), key=lambda s: balance(dataset, s)) for column in ("age", "pay")]
    return finalists[exponential_choice([balance(dataset, s) for s in finalists], 1.0, rng)]


def best_split_of_all(dataset, rng):
    return SPLITS[exponential_choice([balance(dataset, s) for s in SPLITS], 1.0, rng)]


CANDIDATES = (10, 20, 30)


def median_scores(dataset):
    return [-abs(sum(x < c for x in dataset) - len(dataset) / 2) for c in CANDIDATES]


def median_that_underflows(dataset, rng):
    epsilon = 8.0
    weights = np.exp([epsilon * score for score in median_scores(dataset)])
    with np.errstate(invalid="ignore"):
        chances = weights / weights.sum()
    return CANDIDATES[rng.choice(3, p=chances)]


def median_shifted(dataset, rng):
    epsilon = 8.0
    scores = median_scores(dataset)
    weights = np.exp([epsilon * max(score - max(scores), -40.0) for score in scores])
    return CANDIDATES[rng.choice(3, p=weights / weights.sum())]


def best_of_three_for_one(dataset, rng):
    runs = [sum(dataset) + rng.laplace(0, 1) for _ in range(3)]
    return max(runs)


def best_of_three_for_three(dataset, rng):
    runs = [sum(dataset) + rng.laplace(0, 3) for _ in range(3)]
    return max(runs)


def votes_with_spent_epsilon(votes, rng):
    ones = sum(votes)
    counts = [len(votes) - ones, ones]
    label = int(np.argmax([count + rng.laplace(0, 2) for count in counts]))
    gap = abs(counts[0] - counts[1])
    spent = min(1.0, math.log1p((2 + gap) / (4 * math.exp(gap / 2))))
    return label, round(spent, 6)


def votes_alone(votes, rng):
    ones = sum(votes)
    counts = [len(votes) - ones, ones]
    return int(np.argmax([count + rng.laplace(0, 2) for count in counts]))


def gaussian_counts_laplace_threshold(dataset, rng):
    epsilon, delta = 1.0, 0.01
    sigma = math.sqrt(2 * math.log(1.25 / delta)) / epsilon
    threshold = 1 + math.log(1 / (2 * delta)) / epsilon
    released = {}
    for key in sorted(set(dataset)):
        noisy = dataset.count(key) + rng.normal(0, sigma)
        if noisy > threshold:
            released[key] = noisy
    return released


def gaussian_counts_gaussian_threshold(dataset, rng):
    epsilon, delta = 1.0, 0.005
    sigma = math.sqrt(2 * math.log(1.25 / delta)) / epsilon
    threshold = 1 + 2.6 * sigma
    released = {}
    for key in sorted(set(dataset)):
        noisy = dataset.count(key) + rng.normal(0, sigma)
        if noisy > threshold:
            released[key] = noisy
    return released


def count_keys(dataset):
    counts = {}
    for keys in dataset:
        for key in keys:
            counts[key] = counts.get(key, 0) + 1
    return counts


def threshold_for_one_key(dataset, rng):
    epsilon, delta = 1.0, 0.05
    noisy = {key: count + rng.laplace(0, 1 / epsilon) for key, count in sorted(count_keys(dataset).items())}
    return {key: value for key, value in noisy.items() if value > 1 + math.log(1 / (2 * delta)) / epsilon}


def threshold_for_two_keys(dataset, rng):
    epsilon, delta = 1.0 / 2, 0.05 / 2
    noisy = {key: count + rng.laplace(0, 1 / epsilon) for key, count in sorted(count_keys(dataset).items())}
    return {key: value for key, value in noisy.items() if value > 1 + math.log(1 / (2 * delta)) / epsilon}


def groups_of_five(dataset, rng):
    towns = sorted(set(dataset))
    return {town: dataset.count(town) + rng.laplace() for town in towns if dataset.count(town) >= 5}


def groups_by_noisy_count(dataset, rng):
    noisy = {town: dataset.count(town) + rng.laplace() for town in sorted(set(dataset))}
    return {town: count for town, count in noisy.items() if count > 1 + math.log(1 / (2 * 0.01))}


def noise_where_not_zero(dataset, rng):
    table = [[0, 0], [0, 0]]
    for row, column in dataset:
        table[row][column] += 1
    return [[count + rng.laplace() if count else 0 for count in row] for row in table]


def noise_everywhere(dataset, rng):
    table = [[0, 0], [0, 0]]
    for row, column in dataset:
        table[row][column] += 1
    return [[count + rng.laplace() for count in row] for row in table]


SVT = "Lyu, Su and Li 2017, Understanding the sparse vector technique for differential privacy, "

FAULTS = (
    Fault(
        name="sparse-vector-value",
        source=SVT + "algorithm 3 (after Roth's lecture notes 2011)",
        fault="For an answer above the threshold the noisy value that was compared is released: it bounds the threshold's noise.",
        space=answers(4),
        claim=("pure", 1),
        wrong=svt_value_released,
        mended=svt_fresh_value_released,
        pair=((0, 0, 0, 0), (1, 1, 1, -1)),
        event=lambda out: len(out) == 4 and out[3] != BELOW and out[3] <= 0,
        because="[0, 0, 0, 0] / [1, 1, 1, -1]; three below, then a value of at most 0: 0.0016 against 0.00033, a log-ratio "
        "of 1.59",
        holds="their algorithm 7 with c = 1: a third each for threshold, comparisons and a fresh value",
    ),
    Fault(
        name="sparse-vector-quarter",
        source=SVT + "algorithm 4 (Lee and Clifton 2014)",
        fault="Three quarters of the budget go to the queries' noise, as if one step up and one down were not both possible: "
        "(1 + 6 c)/4 is kept.",
        space=answers(5),
        claim=("pure", 1),
        wrong=svt_three_quarters_for_queries,
        mended=svt_half_and_half,
        pair=((0, 0, 0, 0, 0), (1, 1, 1, 1, -1)),
        event=lambda out: out == [BELOW] * 4 + [ABOVE],
        because="[0, 0, 0, 0, 0] / [1, 1, 1, 1, -1]; four below, then above: 0.022 against 0.0039, a log-ratio of 1.7",
        holds="their algorithm 1 with c = 1",
    ),
    Fault(
        name="sparse-vector-bare-queries",
        source=SVT + "algorithm 5 (Stoddard, Chen and Machanavajjhala 2014)",
        fault="The queries get no noise, and there is no stop: the pattern of answers orders the counts.",
        space=lists("a", "b", "c"),
        claim=("pure", 1),
        wrong=svt_without_query_noise,
        mended=svt_until_first,
        pair=(("a",), ("a", "b")),
        event=lambda out: out[0] == ABOVE and out[1] == BELOW if isinstance(out, list) else out == 0,
        because="[a] / [a, b]; a above and b below: about 0.2 against 0",
        holds="their algorithm 1 with c = 1; every count moves by at most 1",
    ),
    Fault(
        name="sparse-vector-no-stop",
        source=SVT + "algorithm 6 (Chen, Xiao, Zhang and Xu 2015)",
        fault="Every query is answered, above or below, and nothing is paid for the answers above.",
        space=answers(6),
        claim=("pure", 1),
        wrong=svt_never_stops,
        mended=svt_stops_at_once,
        pair=((0,) * 6, (1, 1, 1, -1, -1, -1)),
        event=lambda out: out == [False] * 3 + [True] * 3,
        because="six 0 / [1, 1, 1, -1, -1, -1]; three below, then three above: 0.0072 against 0.00051, a log-ratio of 2.6",
        holds="their algorithm 1 with c = 1",
    ),
    Fault(
        name="noisy-max-value",
        source="Ding, Wang, Wang, Zhang and Kifer 2018, Detecting violations of differential privacy (noisy max, the value "
        "released)",
        fault="Report noisy max returns the noisy value and not the place.",
        space=answers(4),
        claim=("pure", 1),
        wrong=maximum_with_value,
        mended=maximum_by_place,
        pair=((0, 0, 0, 0), (1, 1, 1, 1)),
        event=lambda out: out <= 0,
        because="four 0 / four 1; output at most 0: (1/2)^4 against (e^-0.5 / 2)^4, a log-ratio of 2",
        holds="report noisy max with Laplace noise of scale 2/epsilon, for answers that move by at most 1 (Dwork and Roth "
        "2014, section 3.3)",
    ),
    Fault(
        name="best-per-column-first",
        source="DP-XGBoost, issue 3 (2023): the best split of each feature is taken without noise before the exponential "
        "mechanism",
        fault="The exponential mechanism chooses among candidates that were picked by exact maxima: the others have "
        "probability 0.",
        space=lists((20, 1), (40, 3), (70, 1), (70, 9), most=6),
        claim=("pure", 1),
        wrong=best_split_per_column_first,
        mended=best_split_of_all,
        pair=(((40, 3), (70, 9)), ((70, 9),)),
        event=lambda out: out == ("age", 60),
        because="[(40, 3), (70, 9)] / [(70, 9)]; the split at age 60: about 1/2 against 0, since a tie goes to age 30",
        holds="the exponential mechanism over all four splits, whose scores move by at most 1 and with the factor 2",
    ),
    Fault(
        name="quantile-underflow",
        source="SmartNoise SDK, issue 572 (2023), and diffprivlib, issue 107 (2026): all weights of the exponential "
        "mechanism underflow",
        fault="Weights e^(epsilon u) are taken without shifting by the largest: from 187 records on all are 0, and the draw "
        "raises.",
        space=lists(0, 15, 25),
        claim=("pure", 8),
        wrong=median_that_underflows,
        mended=median_shifted,
        pair=((0,) * 186, (0,) * 187),
        event=lambda out: out in CANDIDATES,
        bits=True,
        rare=0.0,
        because="186 zeros / 187 zeros; a candidate is returned: 1 against 0",
        holds="the exponential mechanism for a score that moves by at most 1/2, cut at 40 below the largest",
    ),
    Fault(
        name="best-of-three-runs",
        source="Liu and Talwar 2019, Private selection from private candidates; Papernot and Steinke 2022, Hyperparameter tuning",
        fault="A private computation is run three times, the best run is released, and one run is paid for.",
        space=lists(0, 1),
        claim=("pure", 1),
        wrong=best_of_three_for_one,
        mended=best_of_three_for_three,
        pair=((), (1,)),
        event=lambda out: out <= 0,
        because="[] / [1]; output at most 0: (1/2)^3 against (e^-1 / 2)^3",
        holds="three runs of 1/3 each; the maximum is post-processing",
    ),
    Fault(
        name="teachers-and-spent-epsilon",
        source="Papernot, Song, Mironov, Raghunathan, Talwar and Erlingsson 2018, Scalable private learning with PATE, "
        "section 2.4: "
        "the data-dependent epsilon is itself private",
        fault="The data-dependent bound on the privacy loss is released beside the label.",
        space=rows(0, 1, length=5),
        claim=("pure", 1),
        wrong=votes_with_spent_epsilon,
        mended=votes_alone,
        pair=((0, 0, 0, 0, 0), (0, 0, 0, 0, 1)),
        event=lambda out: out[1] < 0.2 if isinstance(out, tuple) else out == 0,
        because="five 0 / four 0 and a 1; the bound of a gap of 5 (0.134) against that of a gap of 3 (0.246): 1 against 0",
        holds="report noisy max: a changed vote moves two counts by 1, and the noise has scale 2",
    ),
    Fault(
        name="laplace-threshold-for-gaussian",
        source="SmartNoise SDK, issue 204 (2020): tau uses a Laplace formula, but the noise is Gaussian",
        fault="The threshold for rare keys is 1 + ln(1/(2 delta))/epsilon, but the counts have Gaussian noise of sigma 3.1.",
        space=lists("p", "q", "r"),
        claim=("approximate", 1, "1/100"),
        wrong=gaussian_counts_laplace_threshold,
        mended=gaussian_counts_gaussian_threshold,
        pair=(("p",), ()),
        event=lambda out: "p" in out,
        because="[p] / []; p is listed: 0.104 against 0",
        holds="a key of one person is listed with probability Phi(-2.6) < 0.0047; for other keys sigma 3.32 keeps (1, 0.005)",
    ),
    Fault(
        name="threshold-for-one-of-two-keys",
        source="Wilson, Zhang, Lam, Desfontaines et al. 2020, Differentially private SQL with bounded user contribution; "
        "SmartNoise SDK, issue 568 (2023): the threshold has to count the keys of a user",
        fault="A user has up to two keys, and noise and threshold are made for one.",
        space=lists(("a",), ("b",), ("a", "b")),
        claim=("approximate", 1, "1/20"),
        wrong=threshold_for_one_key,
        mended=threshold_for_two_keys,
        pair=((("a", "b"), ("a", "b"), ("a", "b")), (("a", "b"), ("a", "b"))),
        event=lambda out: out.get("a", 0) >= 3.31 and out.get("b", 0) >= 3.31,
        because="three (a, b) / two (a, b); both at least 3.31: 0.135 against 0.0182, and 0.135 - e 0.0182 = 0.085 above 0.05",
        holds="half of epsilon and of delta for each of the two keys",
    ),
    Fault(
        name="k-anonymous-groups",
        source="Korolova, Kenthapadi, Mishra and Ntoulas 2009, Releasing search queries and clicks privately; SmartNoise "
        "SDK, issue 309 "
        "(2020): that a rare group exists is disclosed",
        fault="Groups are shown from five people on, decided by the true count.",
        space=lists("north", "south"),
        claim=("approximate", 1, "1/100"),
        wrong=groups_of_five,
        mended=groups_by_noisy_count,
        pair=(("north",) * 5, ("north",) * 4),
        event=lambda out: "north" in out,
        because="five / four of north; north is shown: 1 against 0",
        holds="a group of one is shown with probability 0.01, the others have Laplace noise of scale 1",
    ),
    Fault(
        name="zeros-without-noise",
        source="Cormode, Procopiuc, Srivastava and Tran 2012, Differentially private summaries for sparse data: "
        "noise on the filled cells only is not private",
        fault="Empty cells of a contingency table get no noise.",
        space=lists((0, 0), (0, 1), (1, 0), (1, 1)),
        claim=("pure", 1),
        wrong=noise_where_not_zero,
        mended=noise_everywhere,
        pair=((), ((0, 1),)),
        event=lambda out: out[0][1] == 0,
        because="[] / [(0, 1)]; the cell is 0: 1 against 0",
        holds="a record moves one cell by 1, and every cell has Laplace noise of scale 1",
    ),
)
