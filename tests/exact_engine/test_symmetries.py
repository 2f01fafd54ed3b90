"""Declared symmetries change no finding, save comparisons, and are not believed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import attrs
import pytest
from dpspec_census.swapping import DerangementSwapping, PermutationSwapping
from dpspec_divergences import MultDelta

from dpspec.base.errors import PluginContractError
from dpspec.base.exact import Bracket
from dpspec.base.params import define
from dpspec.blocks.space import Dataset, DatasetSpace
from dpspec.grammar.mechanism import Mechanism, Symmetry
from dpspec.laws import FiniteLaw
from dpspec.laws.dichotomy import Dichotomy
from dpspec.laws.law import Law
from dpspec.verifier.exhaustive import verify
from dpspec.verifier.symmetries import orbits, permutations
from dpspec.verifier.verdict import Outcome
from reproductions.swapping_universes import instance, partitions
from tests.verify.toys import bits_spec

MARGINS = [(r, s) for n in range(2, 5) for r in partitions(n) for s in partitions(n) if r >= s]
CALLS: list[int] = []


@define
class Counted(MultDelta):
    """Approximate privacy, counting how often it is evaluated."""

    def evaluate(self, pair: Dichotomy, *, precision: int = 64) -> Bracket:
        CALLS.append(1)
        return MultDelta.evaluate(self, pair, precision=precision)


@define
class SilentDerangement(DerangementSwapping):
    def symmetries(self, space: DatasetSpace) -> tuple[Symmetry, ...]:
        return ()


@define
class SilentPermutation(PermutationSwapping):
    def symmetries(self, space: DatasetSpace) -> tuple[Symmetry, ...]:
        return ()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("declared", "silent"), [(DerangementSwapping, SilentDerangement), (PermutationSwapping, SilentPermutation)]
)
@pytest.mark.parametrize("epsilon", ["1/10", "5"])
def test_the_symmetric_walk_finds_the_same_on_every_small_universe(declared: Any, silent: Any, epsilon: str) -> None:
    made = [0, 0]
    for margins in MARGINS:
        space, datasets = instance((margins,))
        verdicts, calls = [], []
        for cls in (declared, silent):
            mechanism = cls(match=("stratum",), swap=("swap",), swap_rate="2/5")
            claim = mechanism.claims(space)[0]
            budget = bits_spec(epsilon=epsilon).budget
            spec = claim.spec.replace(output_divergence=Counted(delta="1/50"), budget=budget)
            CALLS.clear()
            verdicts.append(verify(mechanism, spec, datasets=datasets))
            calls.append(len(CALLS))
        fast, plain = verdicts
        assert fast.universes == plain.universes
        assert fast.witness == plain.witness
        made = [before + now for before, now in zip(made, calls, strict=True)]
    assert 2 * made[0] < made[1]


@attrs.frozen
class Flipped(Mechanism):
    """Reports each bit with probabilities of its own; declares whatever it is told to."""

    name: ClassVar[str] = "flipped"

    chances: tuple[str, ...]
    turn: Callable[[Any], Any]

    def law(self, dataset: Dataset, space: DatasetSpace) -> Law:
        bits: Any = dataset
        return FiniteLaw.product([FiniteLaw.bernoulli(self.chances[i] if b else "1/4") for i, b in enumerate(bits)])

    def symmetries(self, space: DatasetSpace) -> tuple[Symmetry, ...]:
        return (Symmetry(label="turned round", dataset=self.turn, outcome=self.turn),)


def test_a_false_declaration_is_the_mechanisms_fault() -> None:
    spec = bits_spec(length=2, epsilon=5).replace(output_divergence=MultDelta(delta="1/50"))
    turn: Callable[[Any], Any] = lambda x: x[::-1]  # noqa: E731
    assert verify(Flipped(("3/4", "3/4"), turn), spec).outcome is Outcome.VERIFIED
    with pytest.raises(PluginContractError, match="turned round"):
        verify(Flipped(("3/4", "2/3"), turn), spec)
    with pytest.raises(PluginContractError, match="turned round"):
        verify(Flipped(("3/4", "3/4"), lambda x: (x[0], x[0] ^ x[1])), spec)


def test_a_symmetry_that_changes_distances_is_found_out() -> None:
    with pytest.raises(PluginContractError, match="changes distances"):
        orbits([(0, 1)], [(1, 2, 0)], ordered=False, subject="toy")
    assert orbits([(0, 1), (1, 0)], [(1, 0)], ordered=True, subject="toy") == [[0, 1]]


def test_symmetries_that_leave_the_universe_or_move_nothing_are_left_out() -> None:
    out = Symmetry(label="out", dataset=lambda x: x + 1, outcome=lambda y: y)
    still = Symmetry(label="still", dataset=lambda x: x, outcome=lambda y: y)
    assert permutations((out, still), (0, 1, 2), lambda x: FiniteLaw.point(0), "toy") == ()
