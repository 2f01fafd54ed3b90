"""Theorems over random worlds: some worlds always, 20,000 with ``--profile long``; Hypothesis shrinks what refutes one.

A theorem is a function that asserts it in one world, with a strategy for each of its arguments. What it is about is computed
here in fractions from the definitions, by sums over outcomes, and shares nothing with the package.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import attrs
import pytest
from flint import arb, ctx
from hypothesis import given, settings, strategies as st

from dpspec.base.exact import Number
from dpspec.laws.law import FiniteLaw

LONG = 20_000


@attrs.frozen
class Theorem:
    """A function that asserts a theorem, the IDs of the theorem, and the worlds that its arguments are drawn from."""

    ids: tuple[str, ...]
    worlds: dict[str, st.SearchStrategy[Any]]
    holds: Callable[..., None]

    def check(self, count: int | None) -> None:
        """In so many worlds; as many as the profile says for None."""
        test = given(**self.worlds)(self.holds)
        (settings(max_examples=count)(test) if count else test)()


def theorem(*ids: str, **worlds: st.SearchStrategy[Any]) -> Callable[[Callable[..., None]], Theorem]:
    """Declare what follows as a theorem."""
    return lambda holds: Theorem(ids=ids, worlds=worlds, holds=holds)


def in_worlds(*theorems: Theorem, slow: Sequence[Theorem] = ()) -> list[Any]:
    """The parameters (theorem, count) of one test for all of them; those in `slow` run by default in no world."""
    found = []
    for one in theorems:
        mark, name = pytest.mark.reference(*one.ids), one.holds.__name__
        found.append(pytest.param(one, None, marks=(mark, pytest.mark.slow) if one in slow else mark, id=name))
        found.append(pytest.param(one, LONG, marks=(mark, pytest.mark.long), id=f"{name}-many"))
    return found


# -- worlds ---------------------------------------------------------------------------------------

Side = tuple[Fraction, ...]
Pair = tuple[Side, Side]

PRIORS = st.integers(1, 31).map(lambda k: Fraction(k, 32))
RATIOS = st.integers(33, 384).map(lambda k: Fraction(k, 32))
SHARES = st.integers(1, 63).map(lambda k: Fraction(k, 64))


def _normed(weights: Sequence[int]) -> Side:
    return tuple(Fraction(weight, sum(weights)) for weight in weights)


def pairs(least: int = 0, size: int = 4) -> st.SearchStrategy[Pair]:
    """The probabilities of at most `size` outcomes under two laws; with `least` = 1 all are possible under both."""
    weights = st.lists(st.integers(least, 12), min_size=4, max_size=2 * size)
    sides = weights.map(lambda drawn: (drawn[0 : len(drawn) // 2 * 2 : 2], drawn[1::2]))
    return sides.filter(lambda both: all(map(any, both))).map(lambda both: (_normed(both[0]), _normed(both[1])))


def stages(least: int = 0) -> st.SearchStrategy[tuple[Pair, list[Pair]]]:
    """An adaptive composition: a pair of laws on three outcomes, and after each of its outcomes another such pair."""
    sides = st.lists(st.integers(least, 12), min_size=24, max_size=24).map(
        lambda drawn: [drawn[k : k + 3] for k in range(0, 24, 3)]
    )
    normed = sides.filter(lambda all_sides: all(map(any, all_sides))).map(lambda all_sides: [_normed(side) for side in all_sides])
    return normed.map(lambda made: ((made[0], made[1]), [(made[k], made[k + 1]) for k in (2, 4, 6)]))


def joint(first: Pair, later: Sequence[Pair]) -> Pair:
    """Both outcomes together."""
    made = [tuple(a * b for a, after in zip(first[side], later, strict=True) for b in after[side]) for side in (0, 1)]
    return made[0], made[1]


def laws(pair: Pair) -> tuple[FiniteLaw, FiniteLaw]:
    """The same two laws as the package has them."""
    one, other = (FiniteLaw.of({i: mass for i, mass in enumerate(side) if mass}) for side in pair)
    return one, other


def both(pair: Pair) -> tuple[Pair, Pair]:
    """The pair in both orders."""
    return pair, (pair[1], pair[0])


# -- definitions, written out ---------------------------------------------------------------------


def tail(pair: Pair, factor: Fraction) -> Fraction:
    """P(L > ln factor)."""
    return sum((p for p, q in zip(*pair, strict=True) if p > factor * q), Fraction(0))


def excess(pair: Pair, factor: Fraction) -> Fraction:
    """sup over events of P(S) - factor Q(S), the delta of approximate privacy."""
    return sum((max(p - factor * q, Fraction(0)) for p, q in zip(*pair, strict=True)), Fraction(0))


def top(pair: Pair) -> Fraction | None:
    """The largest P/Q; None for infinity."""
    found = [p / q if q else None for p, q in zip(*pair, strict=True) if p]
    return None if None in found else max(ratio for ratio in found if ratio is not None)


def moment(pair: Pair, order: int) -> Fraction | None:
    """e^((order - 1) D) of the Renyi divergence, for a whole order; None for infinity."""
    if any(p and not q for p, q in zip(*pair, strict=True)):
        return None
    return sum((p**order / q ** (order - 1) for p, q in zip(*pair, strict=True) if p), Fraction(0))


def pbdp(pair: Pair, factor: Fraction) -> Fraction:
    """sup of P(A = 1) over randomised events with P(A = 1) > factor Q(A = 1): the likeliest outcomes first, the last in part."""
    atoms = sorted(((p, q) for p, q in zip(*pair, strict=True) if p), key=lambda atom: atom[1] / atom[0])
    seen = spare = Fraction(0)
    for p, q in atoms:
        gain = p - factor * q
        if spare + gain < 0:
            return seen + p * spare / -gain
        if spare + gain == 0 == seen:
            return Fraction(0)
        seen, spare = seen + p, spare + gain
    return seen


def processed(pair: Pair, kernel: Sequence[Side]) -> Pair:
    """The pair after a randomised map; `kernel` has the law of the new outcome for each old one."""
    made = [
        tuple(sum((mass * row[k] for mass, row in zip(side, kernel, strict=True)), Fraction(0)) for k in range(len(kernel[0])))
        for side in pair
    ]
    return made[0], made[1]


def exponential(loss: Number) -> tuple[Fraction, Fraction]:
    """Rational numbers below and above e^loss."""
    with ctx.workprec(192):
        ball = loss.enclose(192).exp()
        low, high = ball.lower(), ball.upper()
    return _fraction(low), _fraction(high)


def _fraction(end: arb) -> Fraction:
    mantissa, exponent = end.man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
