"""Random plain programs, enumerated against real runs with numpy's generator.

Each program is compared on one of its two datasets. A right law misfits with probability at most 1e-9 over all programs of a run
(Chernoff's bound, each outcome at its part of the error); 100,000 runs notice a probability that is wrong by 2 % nearly always.
The long profile takes the seed 1; run it alone by

    python -m tests.attacks.test_random_code 2000 100000 1
"""

from __future__ import annotations

import importlib.util
import math
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpspec.errors import NotEnumerableError
from dpspec.verify.automatic import enumerate_law
from dpspec.verify.observed import observed, observed_raise
from tests.attacks.random_code import programs

ERROR = 1e-9


def module_of(text: str, folder: Path, name: str) -> Any:
    """A module from its text, in a file so that its source can be read."""
    path = folder / f"{name}.py"
    path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def counted(function: Any, bit: int, runs: int, seed: list[int]) -> dict[Any, int]:
    """What is seen in real runs, and how often; outcomes that are written alike and of one type are looked at once."""
    rng = np.random.default_rng(seed)
    written: dict[Any, int] = {}
    first: dict[Any, Any] = {}
    for _ in range(runs):
        try:
            output = function([bit], rng)
            key = (type(output), repr(output))
            if key not in first:
                first[key] = observed(output)
        except ValueError as problem:
            key = (ValueError, repr(problem), problem.__traceback__.tb_next.tb_lineno)  # type: ignore[union-attr]
            if key not in first:
                first[key] = observed_raise(problem)
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
        chance = min(max(share, max(low, 0.0)), high)
        distance = sum(p * math.log(p / q) if q > 0 else math.inf for p, q in ((share, chance), (1 - share, 1 - chance)) if p > 0)
        if runs * distance > most:
            found.append(f"{outcome!r}: {share} seen, {low} to {high} enumerated")
    return found


def compared(count: int, runs: int, seed: int, folder: Path, tell: Any = None, *, paths: int = 1000) -> tuple[int, list[str]]:
    """How many of some programs could be enumerated, and what does not fit."""
    text = programs(count, seed)
    module = module_of(text, folder, f"dpspec_random_programs_{seed}_{count}")
    done, wrong = 0, []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for place in range(count):
            function, bit = getattr(module, f"p{place}"), place % 2
            try:
                law: Any = enumerate_law(function, [bit], most_paths=paths)
            except NotEnumerableError:
                continue
            done += 1
            most = math.log(2 * count * (len(law.support) + 1) / ERROR)
            wrong += [f"p{place} on [{bit}]: {what}" for what in misfits(law, counted(function, bit, runs, [seed, place]), runs, most)]
            if tell is not None:
                tell(place, done, wrong)
    return done, wrong


@pytest.mark.statistical
def test_random_programs_have_the_law_that_is_read_off_them(tmp_path: Path) -> None:
    """30 programs with 1,000 runs each."""
    done, wrong = compared(30, 1_000, 0, tmp_path, paths=200)
    assert wrong == []
    assert done >= 18


@pytest.mark.long
@pytest.mark.statistical
def test_two_thousand_random_programs(tmp_path: Path) -> None:
    done, wrong = compared(2_000, 100_000, 1, tmp_path)
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
    with tempfile.TemporaryDirectory() as place:
        ended = compared(*asked, Path(place), lambda place, done, wrong: print(place + 1, done, wrong, flush=True))
    print("programs", asked[0], "enumerated", ended[0], "misfits", ended[1])
