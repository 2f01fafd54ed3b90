"""Plain functions that were written after the engine was finished, by the descriptions of a public zoo alone, and run once.

    python benchmarks/unseen.py [--seconds 30] [--baseline]

Twenty are wrong and ten right. After they were run only the parts of the time were changed; see docs/zoo.md for the figures.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
from collections.abc import Callable
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import zoo as public
from dpspec_code.child_process import Clock

from dpspec.verifier.entry import verify_claim

Box = tuple[str, str, tuple[Any, ...], Callable[..., Any]]
ADD, CHANGE, LINF = "add_remove", "change_one", "linf"


def geometric(rng: Any, ratio: float) -> int:
    return int(rng.geometric(1 - ratio)) - int(rng.geometric(1 - ratio))


def wide_histogram(x: list[int], rng: Any) -> Any:
    """Thirty cells; the noise of one of them was forgotten to be scaled."""
    counts = np.bincount(x, minlength=30)
    return tuple(float(count + rng.laplace(0, 0.4 if cell == 22 else 1.0)) for cell, count in enumerate(counts))


def retried(x: list[int], rng: Any) -> Any:
    for tries in range(50):
        value = len(x) + geometric(rng, math.exp(-1))
        if value >= len(x):
            return value, tries
    return None


def sparse(q: list[int], rng: Any) -> Any:
    """Above threshold 1 with noise on the answers alone."""
    return tuple(bool(answer + rng.laplace(0, 2.0) >= 1) for answer in q)


def sorted_response(x: list[int], rng: Any) -> Any:
    return [x[0]] + [bit ^ int(rng.random() < 0.27) for bit in x[1:]]


def mode_or_tie(x: list[int], rng: Any) -> Any:
    counts = [x.count(value) for value in (0, 1, 2)]
    noisy = [count + rng.laplace(0, 2.0) for count in counts]
    return "tie" if counts.count(max(counts)) > 1 else int(np.argmax(noisy))


def trimmed(x: list[float], rng: Any) -> Any:
    kept = sorted(x)[1:-1]
    return float(np.mean(kept)) + rng.laplace(0, 1 / len(x)) if kept else 0.0


def digits(x: list[int], rng: Any) -> Any:
    return round(len(x) + 1000 * rng.laplace(0, 1.0)) * 2 + len(x) % 2


def shuffled_partly(x: list[int], rng: Any) -> Any:
    rest = list(x[1:])
    rng.shuffle(rest)
    return [x[0], *rest]


def private_batch(x: list[int], rng: Any) -> Any:
    if len(x) > 8:
        return float(sum(x))
    return sum(x) + rng.laplace(0, 1.0)


def twice(x: list[int], rng: Any) -> Any:
    return [sum(x) + geometric(rng, math.exp(-0.6)) for _ in range(2)]


def variance(x: list[float], rng: Any) -> Any:
    return float(np.var(x)) + rng.laplace(0, 10.0)


WRONG: dict[str, Box] = {
    "count with scale 0.8": ("list of records", ADD, ("pure", 1.0), lambda x, rng: len(x) + rng.laplace(0, 0.8)),
    "one cell of thirty": ("list of integers in 0..29, length 1", CHANGE, ("pure", 2.0), wide_histogram),
    "retry tells": ("list of records", ADD, ("pure", 1.0), retried),
    "threshold without noise": ("4 query answers", LINF, ("pure", 1.0), sparse),
    "first bit is true": ("list of 0/1, length 5", CHANGE, ("pure", 1.0), sorted_response),
    "a tie is told": ("list over {0,1,2}", ADD, ("pure", 1.0), mode_or_tie),
    "trimmed mean": ("list of numbers in [0,1], length 6", CHANGE, ("pure", 1.0), trimmed),
    "parity in the last digit": ("list of records", ADD, ("pure", 1.0), digits),
    "the first is not shuffled": ("list over {0,1,2}, length 4", CHANGE, ("pure", 1.0), shuffled_partly),
    "late branch": ("list over {0,1}", ADD, ("pure", 1.0), private_batch),
    "variance": ("list of numbers in [0,10], length 4", CHANGE, ("pure", 1.0), variance),
    "max with noise of a mean": (
        "list of integers in 0..10, length 5", CHANGE, ("pure", 1.0), lambda x, rng: max(x) + rng.laplace(0, 2.0),
    ),
    "gaussian as pure": ("list over {0,1}", ADD, ("pure", 2.0), lambda x, rng: sum(x) + rng.normal(0, 1.5)),
    "uniform noise": ("list of records", ADD, ("approx", 1.0, 0.05), lambda x, rng: len(x) + rng.uniform(-5, 5)),
    "zcdp, half the variance": ("list of records", ADD, ("zcdp", 0.5), lambda x, rng: len(x) + rng.normal(0, math.sqrt(0.5))),
    "distinct values": ("list of integers in 0..5", ADD, ("pure", 0.5), lambda x, rng: len(set(x)) + rng.laplace(0, 1.0)),
    "response, three values": (
        "one value in {0..2}", CHANGE, ("pure", 1.0), lambda x, rng: x[0] if rng.random() < 0.5 else int(rng.integers(3)),
    ),
    "a log of the empty": ("list of numbers in [0,1]", ADD, ("pure", 1.0), lambda x, rng: math.log(len(x)) + rng.laplace(0, 3.0)),
    "two releases": ("list over {0,1}, length 3", CHANGE, ("pure", 1.0), twice),
    "keys that are kept": (
        "list of keys from {a..e}", ADD, ("approx", 1.0, 0.001),
        lambda x, rng: sorted(k for k in set(x) if x.count(k) + rng.laplace(0, 1.0) > 3),
    ),
}  # fmt: skip


def binned_mean(x: list[float], rng: Any) -> Any:
    return round(sum(min(1.0, max(0.0, value)) for value in x) + rng.laplace(0, 1.0), 2)


def noisy_sort(x: list[int], rng: Any) -> Any:
    return sorted(bit ^ int(rng.random() < 1 / (1 + math.e)) for bit in x)


def flipped_sample(x: list[int], rng: Any) -> Any:
    return x[int(rng.integers(4))] ^ int(rng.random() < 0.2)


def blurred(x: list[int], rng: Any) -> Any:
    return 7 * ((sum(x) + round(rng.laplace(0, 5.5))) // 7)


def two_counts(x: list[int], rng: Any) -> Any:
    return len(x) + geometric(rng, math.exp(-0.5)), sum(x) + geometric(rng, math.exp(-0.5))


RIGHT: dict[str, Box] = {
    "count": ("list of records", ADD, ("pure", 1.0), lambda x, rng: round(len(x) + rng.laplace(0, 1.0), 1)),
    "clipped sum": ("list of numbers in [0,1]", ADD, ("pure", 1.0), binned_mean),
    "responses, sorted": ("list of 0/1, length 5", CHANGE, ("pure", 1.0), noisy_sort),
    "heavy tails": ("list of records", ADD, ("pure", 0.5), lambda x, rng: len(x) + 2.4 * rng.standard_t(3)),
    "two halves": ("list over {0,1}", ADD, ("pure", 1.0), two_counts),
    "gaussian": ("list of records", ADD, ("zcdp", 0.5), lambda x, rng: len(x) + rng.normal(0, 1.0)),
    "largest of four": (
        "4 query answers", LINF, ("pure", 1.0), lambda q, rng: int(np.argmax([a + rng.gumbel(0, 2.0) for a in q])),
    ),
    "one of a sample": ("list over {0,1}, length 4", CHANGE, ("pure", 2.0), flipped_sample),
    "nothing": ("list of numbers in [0,1]", ADD, ("pure", 0.1), lambda _, rng: rng.normal()),
    "blurred total": ("list of integers in 0..5", ADD, ("pure", 1.0), blurred),
}  # fmt: skip


def entries() -> dict[str, Any]:
    """In the form of an entry of the zoo."""
    both = [(name, "bug", box) for name, box in WRONG.items()] + [(name, "ok", box) for name, box in RIGHT.items()]
    return {
        name: SimpleNamespace(
            fn=fn, data=data, metric=metric, claim=claim, universe="", verdict=verdict, witness=None, level="real"
        )
        for name, verdict, (data, metric, claim, fn) in both
    }


def work(task: tuple[str, float, bool]) -> tuple[str, str, str, float]:
    """One of them: its name, outcome and method, and seconds."""
    name, seconds, baseline = task
    boxes = entries()
    if baseline:
        _, refuted, took = public.plainly(name, boxes, 0)
        return name, "refuted" if refuted else "not refuted", "two-sample tests", took
    clock = Clock(seconds)
    verdict = verify_claim(boxes[name].fn, public.spec_of(boxes[name], boxes), seconds=Fraction(seconds))
    return name, verdict.outcome.value, verdict.method, clock.spent()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--baseline", action="store_true")
    given = parser.parse_args()
    names = [*WRONG, *RIGHT]
    found: dict[str, str] = {}
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        for name, outcome, method, seconds in pool.imap_unordered(work, [(n, given.seconds, given.baseline) for n in names]):
            found[name] = outcome
            print(f"{'wrong' if name in WRONG else 'right'} | {name} | {outcome} | {method} | {seconds:.1f}", flush=True)
    wrong = sum(found[name] == "refuted" for name in WRONG)
    false = sum(found[name] == "refuted" for name in RIGHT)
    verified = sum(found[name] == "verified" for name in found if name in RIGHT)
    print(f"{wrong} of {len(WRONG)} wrong ones refuted; {false} of {len(RIGHT)} right ones refuted, {verified} verified")


if __name__ == "__main__":
    main()
