"""Random programs with numbers of a fixed width: what is proved for all datasets, against what they do on long ones.

The oracle runs each program with numpy and without its noise on datasets of up to 2^17 equal entries, and looks for two that
differ by one entry and whose results differ by more than the claim allows. Laplace noise of scale b on results
at a distance d has a loss of exactly d / b. The oracle shares nothing with the engine. 2,000 programs take about five minutes:

    PYTHONPATH=. python plugins/dpspec-code/tests/attacks/test_random_integers.py 2000 1
"""

from __future__ import annotations

import contextlib
import itertools
import math
import random
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest
from dpspec_code.automatic.noise import NoisyNumber
from dpspec_code.automatic.symbolic import NoConstant, WholeProof, whole_tree

from dpspec.base.errors import DpspecError
from dpspec.blocks.lists import ValueLists
from dpspec.verifier.verdict import Outcome
from tests.attacks.plain import module_of, spec_of
from tests.attacks.random_integers import SIZES, VALUES, Writer

LONGEST = 1 << 17
"""So many entries are run."""
SHORT = 1 << 10
"""... by default."""
SLACK = 1.001
"""What roundings may add to a loss without being a fault."""


class WithoutNoise:
    """A generator whose noise is 0."""

    def laplace(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return loc + (0.0 if size is None else np.zeros(size))


# --- the oracle ------------------------------------------------------------------------------------


@attrs.define
class Runs:
    """What a program does without noise on lists of equal entries.

    Args:
        function: the program.
        entry: the entry.
        known: what it did, by the number of entries.
    """

    function: Any
    entry: Any
    known: dict[int, Any] = attrs.field(factory=dict)

    def on(self, size: int) -> Any:
        """Its result, or the type of the error that it raises."""
        if size not in self.known:
            try:
                with np.errstate(all="ignore"):
                    self.known[size] = float(self.function([self.entry] * size, WithoutNoise()))
            except Exception as problem:  # what it raises is what is seen
                self.known[size] = type(problem).__name__
        return self.known[size]

    def step(self, size: int) -> float:
        """How far its results lie apart on lists of so many entries and of one more."""
        one, other = self.on(size), self.on(size + 1)
        if one == other or all(isinstance(found, float) and math.isnan(found) for found in (one, other)):
            return 0.0
        if isinstance(one, str) or isinstance(other, str):
            return math.inf
        apart = abs(one - other)
        return math.inf if math.isnan(apart) else apart

    def largest_step(self, most: int) -> tuple[float, int]:
        """The largest step that is found on lists of at most so many entries, and where it is: next to powers of two, and where
        the results leave the line that the first ones lie on."""
        sizes = {size for power in range(18) for size in ((1 << power) - 2, (1 << power) - 1, 1 << power) if 0 <= size < most}
        sizes |= self._bends(sorted(sizes | {most - 1}), most)
        return max(((self.step(size), size) for size in sizes), default=(0.0, 0))

    def _bends(self, sizes: list[int], most: int) -> set[int]:
        """Where it does not go on as it began, between two sizes, by halving."""
        if any(isinstance(self.on(size), str) for size in (1, 2) if size <= most) or most < 3:
            return set()
        start, slope = self.on(1), self.on(2) - self.on(1)

        def goes_on(size: int) -> bool:
            found = self.on(size)
            line = start + (size - 1) * slope
            return not isinstance(found, str) and abs(found - line) <= 0.01 * abs(slope) + 1e-9 * abs(line)

        for left, right in itertools.pairwise([one for one in sizes if one >= 1]):
            if goes_on(left) and not goes_on(right):
                last, first = left, right
                while first - last > 1:
                    middle = (last + first) // 2
                    last, first = (middle, first) if goes_on(middle) else (last, middle)
                return {last}
        return set()


def worst(function: Any, values: tuple[Any, ...], most: int) -> tuple[float, Any, int]:
    """The largest step of a program on lists of at most so many entries, with the number of entries and the entry."""
    return max(((*Runs(function, entry).largest_step(most), entry) for entry in values), key=lambda one: one[0])


# --- programs against the oracle -------------------------------------------------------------------


@attrs.define
class Tally:
    """What came of some programs.

    Args:
        programs: how many there were.
        verified: how many were verified.
        wrong: how many break their claim, by the oracle.
        missed: how many keep it as far as the oracle sees, and were not verified.
        false: what is verified and breaks its claim.
    """

    programs: int = 0
    verified: int = 0
    wrong: int = 0
    missed: int = 0
    false: list[str] = attrs.field(factory=list)


def program(writer: Writer, place: int, folder: Path, seed: int) -> tuple[Any, str, tuple[Any, ...], int | None] | None:
    """A random program whose noise has the size of the step of one entry; None where there is none."""
    lot = writer.lot
    values, most = lot.choice(VALUES), lot.choice(SIZES)
    state = lot.getstate()
    header = "from collections import Counter\n\nimport numpy as np\n\n\n"
    name = f"dpspec_random_integers_{seed}_{place}"
    rough = module_of(f"{header}{writer.program('program', '1.0')}\n", folder, f"{name}_rough").program
    steps = [Runs(rough, entry).step(0) for entry in values]
    step = max(steps)
    if not 1e-9 < step < 1e9:
        return None
    lot.setstate(state)
    text = writer.program("program", repr(step))
    return module_of(f"{header}{text}\n", folder, name).program, text, values, most


def is_verified(function: Any, values: tuple[Any, ...], most: int | None) -> bool:
    """Whether the proof for all datasets alone verifies it: without real runs, which may tell more."""
    spec = spec_of(ValueLists(values=values, most=most, ordered=False), "1.01", distance="symmetric-difference")
    try:
        return WholeProof.of(whole_tree(function, spec, most_paths=200), spec).verdict().outcome is Outcome.VERIFIED
    except (NoConstant, DpspecError):
        return False


def tallied(count: int, seed: int, folder: Path, *, longest: int = LONGEST, tell: Any = None) -> Tally:
    """What comes of some random programs, run on lists of at most so many entries."""
    writer, found = Writer(random.Random(seed)), Tally()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for place in range(count):
            made = program(writer, place, folder, seed)
            while made is None:
                made = program(writer, place, folder, seed)
            function, text, values, most = made
            found.programs += 1
            verified = is_verified(function, values, most)
            step, size, entry = worst(function, values, longest if most is None else min(most, longest))
            scale = max(Runs(function, one).step(0) for one in values)
            breaks = step > 1.01 * SLACK * scale
            found.verified, found.wrong = found.verified + verified, found.wrong + breaks
            found.missed += not breaks and not verified
            if verified and breaks:
                found.false.append(
                    f"{text}\n    # values {values}, most {most}: {size:,} and {size + 1:,} entries {entry!r} are {step} apart"
                )
            if tell is not None and place % 100 == 99:
                tell(found)
    return found


def test_no_random_program_is_verified_that_breaks_its_claim_on_a_long_dataset(tmp_path: Path) -> None:
    found = tallied(60, 0, tmp_path, longest=SHORT)
    assert found.false == []
    assert found.verified >= 20
    assert found.wrong >= 8


@pytest.mark.parametrize(
    ("programs", "verified", "wrong"),
    [pytest.param(150, 25, 15, marks=pytest.mark.long), pytest.param(600, 100, 80, marks=pytest.mark.long)],
)
def test_many_random_programs_with_numbers_of_a_fixed_width(programs: int, verified: int, wrong: int, tmp_path: Path) -> None:
    found = tallied(programs, 2, tmp_path)
    assert found.false == []
    assert found.verified >= verified
    assert found.wrong >= wrong


@pytest.mark.parametrize(("guard", "seed"), [("_check_integer", 0), ("check_double", 1)])
def test_without_a_guard_the_programs_find_the_fault(
    guard: str, seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(NoisyNumber, guard, lambda *_: None)
    assert tallied(30 if seed == 0 else 60, seed, tmp_path, longest=SHORT).false


def test_the_oracle_finds_where_integers_wrap_around() -> None:
    assert Runs(lambda x, rng: (np.array(x) * 10**16).sum() / 10**16, 1).largest_step(LONGEST) == (pytest.approx(1843.6744), 922)
    assert Runs(lambda x, rng: sum(x) / 3, 1).largest_step(LONGEST)[0] == pytest.approx(1 / 3)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as held, contextlib.suppress(KeyboardInterrupt):
        total = tallied(
            int(sys.argv[1]),
            int(sys.argv[2]),
            Path(held),
            tell=lambda now: print(attrs.evolve(now, false=len(now.false)), flush=True),
        )
        print("\n\n".join(total.false) or "no false verdict")
