"""Faults of sampling and training: batches, rates, and clipping and noise of gradients."""

from __future__ import annotations

import numpy as np

from benchmarks.faults.entry import Fault, lists, rows


def shuffled_batches(dataset, rng):
    order = rng.permutation(len(dataset))
    return [dataset[place] + rng.normal(0, 0.3) for place in order]


def poisson_batches(dataset, rng):
    steps = []
    for _ in range(4):
        batch = [value for value in dataset if rng.random() < 0.25]
        steps.append(sum(batch) + rng.normal(0, 0.3))
    return steps


def divided_by_expected_size(dataset, rng):
    expected = max(1, int(0.5 * len(dataset)))
    batch = [value for value in dataset if rng.random() < 0.5]
    return (sum(batch) + rng.laplace(0, 1)) / expected


def divided_by_public_size(dataset, rng):
    expected = 2
    batch = [value for value in dataset if rng.random() < 0.5]
    return (sum(batch) + rng.laplace(0, 1)) / expected


def two_of_three(dataset, rng):
    batch = rng.choice(len(dataset), size=2, replace=False)
    total = sum(dataset[place] for place in batch)
    return float(total + rng.laplace(0, 1))


def one_of_three(dataset, rng):
    batch = rng.choice(len(dataset), size=1, replace=False)
    total = sum(dataset[place] for place in batch)
    return float(total + rng.laplace(0, 1))


def drawn_with_replacement(dataset, rng):
    batch = rng.integers(0, len(dataset), size=2)
    total = sum(dataset[place] for place in batch)
    return float(total + rng.laplace(0, 0.5))


def drawn_without_replacement(dataset, rng):
    batch = rng.permutation(len(dataset))[:2]
    total = sum(dataset[place] for place in batch)
    return float(total + rng.laplace(0, 0.5))


def empty_batch_raises(dataset, rng):
    batch = [value for value in dataset if rng.random() < 0.5]
    if not batch:
        raise ValueError("the loader returned an empty batch")
    return sum(batch) + int(rng.geometric(0.6)) - int(rng.geometric(0.6))


def empty_batch_is_zero(dataset, rng):
    batch = [value for value in dataset if rng.random() < 0.5]
    return sum(batch) + int(rng.geometric(0.6)) - int(rng.geometric(0.6))


def batch_mean_clipped(dataset, rng):
    gradient = float(np.clip(np.mean(dataset), -1, 1))
    return gradient + rng.laplace(0, 2 / len(dataset))


def each_example_clipped(dataset, rng):
    gradient = float(np.mean(np.clip(dataset, -1, 1)))
    return gradient + rng.laplace(0, 2 / len(dataset))


def noise_for_the_mean(dataset, rng):
    clipped = [max(-1.0, min(1.0, gradient)) for gradient in dataset]
    return sum(clipped) + rng.laplace(0, 2 / len(clipped))


def noise_for_the_sum(dataset, rng):
    clipped = [max(-1.0, min(1.0, gradient)) for gradient in dataset]
    return (sum(clipped) + rng.laplace(0, 2)) / len(clipped)


def gradient_accumulated_twice(dataset, rng):
    kept = np.mean(dataset)
    clipped = np.clip(dataset, -1, 1).mean() + rng.laplace(0, 0.5)
    return float(kept + clipped)


def gradient_accumulated_once(dataset, rng):
    clipped = np.clip(dataset, -1, 1).mean() + rng.laplace(0, 0.5)
    return float(clipped)


FAULTS = (
    Fault(
        name="shuffled-for-poisson",
        source="Chua, Ghazi, Kamath, Kumar, Manurangsi, Sinha and Zhang 2024, How private are DP-SGD implementations?",
        fault="Batches come from one shuffle, in which every record takes part once; the accountant assumes Poisson sampling.",
        space=rows(0, 1, length=4),
        claim=("approximate", 1, "3/5"),
        wrong=shuffled_batches,
        mended=poisson_batches,
        pair=((1, 0, 0, 0), (0, 0, 0, 0)),
        event=lambda out: max(out) >= 0.7,
        because="[1, 0, 0, 0] / four 0; the largest step is at least 0.7: 0.846 against 0.039, and 0.846 - e 0.039 = 0.740 "
        "above 0.6",
        holds="the dominating pair of four Poisson-sampled Gaussians (Zhu, Dong and Wang 2022): delta(1) = 0.535 and 0.077 "
        "the other way",
    ),
    Fault(
        name="expected-batch-of-private-size",
        source="Opacus, issues 571 (2023) and 819 (2026): the expected batch size is the rate times the private size",
        fault="The noisy sum is divided by int(rate times n), which differs between datasets of n and n + 1 records.",
        space=lists(0, 1),
        claim=("pure", "5/8"),
        wrong=divided_by_expected_size,
        mended=divided_by_public_size,
        pair=((0, 0, 0), (0, 0, 0, 0)),
        event=lambda out: abs(out) >= 3,
        because="three / four 0; absolute value at least 3: e^-3 against e^-6, a log-ratio of 3",
        holds="sampled with rate 1/2, Laplace of scale 1: ln((1 + e)/2) = 0.6202, below 5/8; the divisor is public",
    ),
    Fault(
        name="rate-of-another-size",
        source="Opacus, pull request 128 (2021): the sample rate computed from batch and sample size is not the one that is used",
        fault="Two of three records are drawn, and the claim is made for a rate of 1/2.",
        space=rows(0, 1, length=3),
        claim=("pure", "5/8"),
        wrong=two_of_three,
        mended=one_of_three,
        pair=((1, 0, 0), (0, 0, 0)),
        event=lambda out: out >= 1,
        because="[1, 0, 0] / three 0; output at least 1: (2/3 + e^-1 / 3)/2 = 0.395 against e^-1 / 2 = 0.184, a log-ratio of "
        "0.763",
        holds="sampled with rate 1/3, Laplace of scale 1: ln(1 + (e - 1)/3) = 0.4529",
    ),
    Fault(
        name="drawn-with-replacement",
        source="Balle, Barthe and Gaboardi 2018, Privacy amplification by subsampling (theorems 9 and 10 differ)",
        fault="The batch is drawn with replacement, so that a record can be in it twice; the claim is made for without.",
        space=rows(0, 1, length=4),
        claim=("pure", "29/20"),
        wrong=drawn_with_replacement,
        mended=drawn_without_replacement,
        pair=((1, 0, 0, 0), (0, 0, 0, 0)),
        event=lambda out: out >= 2,
        because="[1, 0, 0, 0] / four 0; output at least 2: 9/16 + 6/16 e^2 + 1/16 e^4 = 6.75 times as likely, a log-ratio of "
        "1.91",
        holds="sampled with rate 1/2, Laplace of scale 1/2: ln(1 + (e^2 - 1)/2) = 1.4338",
    ),
    Fault(
        name="empty-batch-raises",
        source="Opacus, issue 161 (2021): Poisson sampling can return an empty batch, which crashes the training loop",
        fault="A batch without records raises, and that nobody was drawn is told exactly.",
        space=lists(0, 1, most=4),
        claim=("pure", "ln(2)"),
        wrong=empty_batch_raises,
        mended=empty_batch_is_zero,
        pair=((0,), ()),
        event=lambda out: isinstance(out, int),
        because="[0] / []; an integer is returned: 1/2 against 0",
        holds="sampled with rate 1/2, two-sided geometric noise of ratio 2/5: ln((1 + 5/2)/2) = ln(7/4), below ln 2",
    ),
    Fault(
        name="batch-clipped-not-examples",
        source="TensorFlow Privacy, issues 81 (2019), 135 (2020): fewer microbatches than examples clip means of examples",
        fault="The mean of the batch is clipped, not each example, and the noise is made for examples of norm 1.",
        space=rows(-4, 0, 4, length=4),
        claim=("pure", 1),
        wrong=batch_mean_clipped,
        mended=each_example_clipped,
        pair=((4, 0, 0, 0), (0, 0, 0, 0)),
        event=lambda out: out >= 1,
        because="[4, 0, 0, 0] / four 0; output at least 1: 1/2 against e^-2 / 2",
        holds="a changed example moves the mean by at most 2/4, which is the scale",
    ),
    Fault(
        name="noise-of-the-mean-on-the-sum",
        source="Tramer, Terzis, Steinke, Song, Jagielski and Carlini 2022, Debugging differential privacy: a case study for "
        "privacy auditing",
        fault="The noise is divided by the batch size twice: it is made for a mean and added to a sum.",
        space=rows(-3.0, 0.0, 3.0, length=5),
        claim=("pure", 1),
        wrong=noise_for_the_mean,
        mended=noise_for_the_sum,
        pair=((3.0, 0.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0, 0.0)),
        event=lambda out: out >= 1,
        because="[3, 0, 0, 0, 0] / five 0; output at least 1: 1/2 against e^-2.5 / 2",
        holds="the clipped sum moves by at most 2, which is the scale; n is public",
    ),
    Fault(
        name="raw-gradient-added",
        source="Differentially-Private-Deep-Learning, issue 7 (2024): the average gradient stays in the buffer to which the "
        "noisy one is added",
        fault="The buffer holds the average gradient without clipping or noise, and the private gradient is added to it.",
        space=rows(-6, 0, 6, length=4),
        claim=("pure", 1),
        wrong=gradient_accumulated_twice,
        mended=gradient_accumulated_once,
        pair=((6, 0, 0, 0), (0, 0, 0, 0)),
        event=lambda out: out >= 1.75,
        because="[6, 0, 0, 0] / four 0; output at least 7/4: 1/2 against e^-3.5 / 2",
        holds="a changed example moves the clipped mean by at most 2/4, which is the scale",
    ),
)
