"""Random plain programs, enumerated against real runs with numpy's generator.

Each program is compared on one of its two datasets. A right law misfits with probability at most 1e-9 over all programs of a run
(Chernoff's bound, each outcome at its part of the error); 100,000 runs notice a probability that is wrong by 2 % nearly always.
The long profile takes the seed 1; run it alone by

    PYTHONPATH=. python plugins/dpspec-code/tests/attacks/test_random_code.py 2000 100000 1

or its halves, in two processes, by the same with `0 2` and `1 2` behind.
What was done so far stands in the last line that it prints.
"""

from __future__ import annotations

import math
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dpspec_code.automatic import enumerate_law

from dpspec.base.errors import NotEnumerableError
from dpspec.verifier.observation import observed, observed_raise
from tests.attacks.plain import module_of
from tests.attacks.random_code import programs

ERROR = 1e-9
_QUICK = (int, str, type(None))
"""Types of which equal values look the same."""


def counted(function: Any, bit: int, runs: int, seed: list[int]) -> dict[Any, int]:
    """What is seen in real runs, and how often; outcomes that are written alike and of one type are looked at once."""
    rng = np.random.default_rng(seed)
    written: dict[Any, int] = {}
    first: dict[Any, Any] = {}
    for _ in range(runs):
        try:
            output = function([bit], rng)
            kind = type(output)
            key = (kind, output if kind in _QUICK else repr(output))
            if key not in first:
                first[key] = observed(output)
        except ValueError as problem:
            frames = problem.__traceback__.tb_next  # type: ignore[union-attr]
            key = (ValueError, repr(problem), frames.tb_lineno)  # type: ignore[union-attr]
            if key not in first:  # without the frame of this loop, which is not of the program
                first[key] = observed_raise(problem.with_traceback(frames))
        written[key] = written.get(key, 0) + 1
    found: dict[Any, int] = {}
    for key, times in written.items():
        found[first[key]] = found.get(first[key], 0) + times
    return found


def misfits(law: Any, seen: dict[Any, int], runs: int, most: float) -> list[str]:
    """Outcomes whose count is too far from what the law says."""
    found = []
    rest = float(getattr(law, "rest", 0))
    for outcome in {*law.support, *seen}:
        listed = outcome in set(law.support)
        ball = law.mass(outcome, 64) if listed else None
        low, high = (0.0, rest) if ball is None else (float(ball.lower()), min(1.0, float(ball.upper()) + 1e-15))
        share = seen.get(outcome, 0) / runs
        chance = min(max(share, low, 0.0), high)
        distance = sum(p * math.log(p / q) if q > 0 else math.inf for p, q in ((share, chance), (1 - share, 1 - chance)) if p > 0)
        if runs * distance > most:
            found.append(f"{outcome!r}: {share} seen, {low} to {high} enumerated")
    return found


def compared(
    count: int, runs: int, seed: int, part: int = 0, of: int = 1, *, folder: Path, tell: Any = None, paths: int = 1000
) -> tuple[int, list[str]]:
    """How many of some programs (or of one part of so many) could be enumerated, and what does not fit."""
    texts = programs(count, seed).rstrip().split("\n\n\n")  # a file for each: the engine reads the file of a function
    done, wrong = 0, []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for place in range(part, count, of):
            module = module_of(f"{texts[place]}\n", folder, f"dpspec_random_program_{seed}_{place}")
            function, bit = getattr(module, f"p{place}"), place % 2
            try:
                law: Any = enumerate_law(function, [bit], most_paths=paths)
            except NotEnumerableError:
                continue
            done += 1
            most = math.log(2 * count * (len(law.support) + 1) / ERROR)
            seen = counted(function, bit, runs, [seed, place])
            wrong += [f"p{place} on [{bit}]: {what}" for what in misfits(law, seen, runs, most)]
            if tell is not None:
                tell(place, done, wrong)
    return done, wrong


@pytest.mark.slow
@pytest.mark.statistical
def test_random_programs_have_the_law_that_is_read_off_them(tmp_path: Path) -> None:
    """30 programs with 1,000 runs each."""
    done, wrong = compared(30, 1_000, 0, folder=tmp_path, paths=200)
    assert wrong == []
    assert done >= 18


@pytest.mark.long
@pytest.mark.statistical
def test_two_thousand_random_programs(tmp_path: Path) -> None:
    done, wrong = compared(2_000, 100_000, 1, folder=tmp_path)
    assert wrong == []
    assert done >= 1_600


def test_a_law_of_another_program_is_noticed(tmp_path: Path) -> None:
    text = "def p0(x, rng):\n    return int(rng.integers(4))\n\n\ndef p1(x, rng):\n    return int(rng.integers(5))\n"
    module = module_of(text, tmp_path, "dpspec_random_programs_two")
    seen = counted(module.p1, 0, 2_000, [0])
    assert misfits(enumerate_law(module.p0, [0]), seen, 2_000, 25.0)
    assert not misfits(enumerate_law(module.p1, [0]), seen, 2_000, 25.0)


if __name__ == "__main__":
    asked = [int(word) for word in sys.argv[1:]]

    def tell(place: int, done: int, wrong: list[str]) -> None:
        print(f"up to program {place}: {done} enumerated and run {asked[1]:,} times each, misfits {wrong}", flush=True)

    with tempfile.TemporaryDirectory() as held:
        compared(*asked, folder=Path(held), tell=tell)
