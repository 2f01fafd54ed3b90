"""Faults of the generator and around it: seeds, keys used twice, responses that are redrawn or biased, time that tells."""

from __future__ import annotations

import numpy as np

from benchmarks.faults.entry import Fault, lists, rows


def one_key_for_all(dataset, rng):
    key = int(rng.integers(2**31))
    means = [sum(row[column] for row in dataset) for column in (0, 1)]
    return [mean + np.random.default_rng(key).laplace(0, 2) for mean in means]


def a_key_for_each(dataset, rng):
    means = [sum(row[column] for row in dataset) for column in (0, 1)]
    return [mean + rng.laplace(0, 2) for mean in means]


def seeded_with_four_bits(dataset, rng):
    seed = int(rng.integers(16))
    return len(dataset) + float(np.random.default_rng(seed).laplace(0, 1))


def seeded_by_caller(dataset, rng):
    return len(dataset) + float(rng.laplace(0, 1))


def seeded_by_random_state(dataset, rng, random_state=42):
    rng = np.random.default_rng(random_state)
    return sum(dataset) + rng.laplace(0, 4)


def unseeded(dataset, rng, random_state=None):
    if random_state is not None:
        rng = np.random.default_rng(random_state)
    return sum(dataset) + rng.laplace(0, 4)


def report(bit, rng):
    return bit if rng.random() < 0.75 else 1 - bit


def reports_drawn_daily(dataset, rng):
    return [[report(bit, rng) for _ in range(3)] for bit in dataset]


def reports_remembered(dataset, rng):
    out = []
    for bit in dataset:
        permanent = report(bit, rng)
        out.append([permanent for _ in range(3)])
    return out


def budget_renewed_daily(dataset, rng):
    return [dataset.count("emoji") + rng.laplace(0, 1) for _ in range(4)]


def budget_split_over_days(dataset, rng):
    return [dataset.count("emoji") + rng.laplace(0, 4) for _ in range(4)]


def unary_bit_kept_too_often(dataset, rng):
    (value,) = dataset
    bits = [int(rng.random() < 0.25) for _ in range(3)]
    if rng.random() < 0.75:
        bits[value] = 1
    return bits


def unary_bit_kept(dataset, rng):
    (value,) = dataset
    bits = [int(rng.random() < 0.25) for _ in range(3)]
    bits[value] = int(rng.random() < 0.75)
    return bits


def lie_may_be_the_truth(dataset, rng):
    return [bit if rng.random() < 0.75 else bool(rng.integers(2)) for bit in dataset]


def lie_is_the_other(dataset, rng):
    return [bit if rng.random() < 0.75 else not bit for bit in dataset]


def steps_of_sampler(rng):
    steps = 0
    while rng.random() < 0.5:
        steps += 1
    return steps


def noise_and_its_time(dataset, rng):
    up, down = steps_of_sampler(rng), steps_of_sampler(rng)
    return {"answer": len(dataset) + up - down, "steps": up + down}


def noise_alone(dataset, rng):
    up, down = steps_of_sampler(rng), steps_of_sampler(rng)
    return {"answer": len(dataset) + up - down}


def loop_over_records(dataset, rng):
    steps, total = 0, 0
    for value in dataset:
        steps += 1
        if value == "target":
            steps += 100
        total += 1
    return total + rng.laplace(0, 1), steps


def loop_padded(dataset, rng):
    steps, total = 1000, 0
    for _ in dataset:
        total += 1
    return total + rng.laplace(0, 1), steps


FAULTS = (
    Fault(
        name="one-key-for-all-noise",
        source="JAX, pull request 3646 (2020): PRNG key reuse in the differential privacy example; diffprivlib, issue 31 (2020)",
        fault="Two answers get their noise from the same key: their difference is exact.",
        space=lists((0, 0), (0, 1), (1, 1)),
        claim=("pure", 1),
        wrong=one_key_for_all,
        mended=a_key_for_each,
        pair=((), ((0, 1),)),
        event=lambda out: abs(out[0] - out[1]) < 1e-9,
        because="[] / [(0, 1)]; both answers agree: 1 against 0",
        holds="two sums that move by at most 1 each, with independent Laplace noise of scale 2",
    ),
    Fault(
        name="short-seed",
        source="Garfinkel and Leclerc 2020, Randomness concerns when deploying differential privacy",
        fault="The generator is seeded with four bits: there are 16 answers for each count.",
        space=lists("r", most=4),
        claim=("pure", 1),
        wrong=seeded_with_four_bits,
        mended=seeded_by_caller,
        pair=((), ("r",)),
        event=lambda out: out in {float(np.random.default_rng(seed).laplace(0, 1)) for seed in range(16)},
        because="[] / [r]; one of the 16 answers of []: 1 against 0",
        holds="the count moves by 1, Laplace of scale 1 from the generator that is given",
    ),
    Fault(
        name="seed-left-in",
        source="diffprivlib, issue 31 (2020) and pull request 72 (2022): seeds for reproduction, at the cost of the guarantee",
        fault="A fixed random state is left in: the answer is a function of the data.",
        space=lists(1, 4),
        claim=("pure", 1),
        wrong=seeded_by_random_state,
        mended=unseeded,
        pair=((), (1,)),
        event=lambda out: out == seeded_by_random_state((), None),
        because="[] / [1]; the answer of []: 1 against 0",
        holds="a record adds at most 4, and the scale is 4",
    ),
    Fault(
        name="response-not-remembered",
        source="Erlingsson, Pihur and Korolova 2014, RAPPOR, section 3 (longitudinal reports without the permanent response)",
        fault="A person is asked three times and answers anew each time; the claim is for the person.",
        space=rows(0, 1, length=1),
        claim=("pure", "ln(3)"),
        wrong=reports_drawn_daily,
        mended=reports_remembered,
        pair=((1,), (0,)),
        event=lambda out: sum(out[0]) == 3,
        because="[1] / [0]; three ones: 27/64 against 1/64",
        holds="one response of odds 3 to 1, repeated",
    ),
    Fault(
        name="budget-renewed-daily",
        source="Tang, Korolova, Bai, Wang and Wang 2017, Privacy loss in Apple's implementation of differential privacy on "
        "macOS 10.12",
        fault="The budget is renewed every day, and the claim is for all four days.",
        space=lists("emoji", "text"),
        claim=("pure", 1),
        wrong=budget_renewed_daily,
        mended=budget_split_over_days,
        pair=(("emoji",), ()),
        event=lambda out: min(out) >= 1,
        because="[emoji] / []; all four at least 1: 1/16 against e^-4 / 16",
        holds="four answers of 1/4 each",
    ),
    Fault(
        name="unary-encoding-biased",
        source="Arcolezi and Gambs 2023, Revealing the true cost of local privacy: an auditing perspective; pure-LDP, issue "
        "11 (2023)",
        fault="The bit of the true value is set with probability p, and left to the noise of the zeros otherwise.",
        space=rows(0, 1, 2, length=1),
        claim=("pure", "ln(9)"),
        wrong=unary_bit_kept_too_often,
        mended=unary_bit_kept,
        pair=((0,), (1,)),
        event=lambda out: out == [1, 0, 0],
        because="[0] / [1]; bits 1, 0, 0: 13/16 3/4 3/4 against 1/4 3/16 3/4, odds of 13",
        holds="two bits differ, each with odds of 3",
    ),
    Fault(
        name="lie-may-be-the-truth",
        source="OpenDP, issue 480 (2022): in make_randomized_response_bool the lie could also be the truth",
        fault="With probability 1/4 a fair coin is told and not the opposite: the truth has probability 7/8.",
        space=rows(False, True, length=3),
        claim=("pure", "ln(3)"),
        wrong=lie_may_be_the_truth,
        mended=lie_is_the_other,
        pair=((True, False, False), (False, False, False)),
        event=lambda out: out[0],
        because="[1, 0, 0] / three 0; the first is told as 1: 7/8 against 1/8, odds of 7",
        holds="Warner 1965: odds of 3 for each bit",
    ),
    Fault(
        name="time-of-the-sampler",
        source="Jin, McMurtry, Rubinstein and Ohrimenko 2022, Are we there yet? Timing and floating-point attacks on DP systems",
        fault="How long the sampler took is seen beside the answer, and it tells how large the noise is.",
        space=lists("p", most=6),
        claim=("pure", "ln(2)"),
        wrong=noise_and_its_time,
        mended=noise_alone,
        pair=((), ("p",)),
        event=lambda out: out.get("steps", 0) == 0 and out["answer"] == 0,
        because="[] / [p]; no step and answer 0: 1/4 against 0",
        holds="two-sided geometric noise of ratio 1/2",
    ),
    Fault(
        name="time-of-the-query",
        source="Haeberlen, Pierce and Narayan 2011, Differential privacy under fire (timing channel)",
        fault="A query takes longer when it meets one person, and its time is seen.",
        space=lists("other", "target"),
        claim=("pure", 1),
        wrong=loop_over_records,
        mended=loop_padded,
        pair=(("target",), ()),
        event=lambda out: out[1] == 101,
        because="[target] / []; 101 steps: 1 against 0",
        holds="the count moves by 1, and the scale is 1; the time is padded",
    ),
)
