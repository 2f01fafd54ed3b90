"""Standards that are no straight lines, on two datasets: entropies and concentrated privacy against all others.

Random laws of two outcomes on a grid keep A and break B by a margin, or not: whoever does shows that A does not imply B. What is
said to separate is held against the formulas here. Numbers are floats with a margin of 10^-6, far above their rounding.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import attrs
import numpy as np
import pytest

from dpspec.api import compare
from dpspec.base.exact import number
from dpspec.comparison.compare import Answer
from dpspec.laws.law import FiniteLaw
from tests.compare.test_rules import ONE_BIT, budget, d_pr, d_x, spec

MARGIN = 1e-6
Array = Any


def _renyi(p: Array, q: Array, order: float) -> Array:
    """D_alpha of two laws, outcomes along the first axis."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        terms = np.where(p > 0, np.where(q > 0, np.exp(np.log(q) + order * (np.log(p) - np.log(q))), np.inf), 0)
        return np.log(terms.sum(axis=0)) / (order - 1)


def _kl(p: Array, q: Array) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(p > 0, np.where(q > 0, p * np.log(p / q), np.inf), 0).sum(axis=0)


def _both(one: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
    return lambda p, q: np.maximum(one(p, q), one(q, p))


ORDERS = 1 + np.logspace(-3, 2, 60)

CURVED: dict[str, tuple[Any, Callable[[Array, Array], Array], tuple[str, ...]]] = {
    "kl": (d_pr("f-divergence", generator="kl", direction="both"), _both(_kl), ("0", "1/50", "1/5", "1", "3")),
    "chi-squared": (
        d_pr("f-divergence", generator="chi-squared", direction="both"), _both(lambda p, q: np.expm1(_renyi(p, q, 2))),
        ("0", "1/10", "1", "8"),
    ),
    "hellinger": (
        d_pr("f-divergence", generator="hellinger", direction="both"), lambda p, q: 1 - np.sqrt(p * q).sum(axis=0),
        ("0", "1/50", "1/4", "9/10"),
    ),
    "renyi": (d_pr("renyi", order=2), _both(lambda p, q: _renyi(p, q, 2)), ("0", "1/10", "1", "ln(3)", "4")),
    "zcdp": (
        d_pr("d-nor"), _both(lambda p, q: np.max([_renyi(p, q, a) / a for a in ORDERS], axis=0)), ("0", "1/50", "1/2", "2"),
    ),
}  # fmt: skip
STRAIGHT: dict[str, tuple[Any, Callable[[Array, Array], Array], tuple[str, ...]]] = {
    "mult": (d_pr("mult"), _both(lambda p, q: _log(p, q).max(axis=0)), ("0", "1/2", "ln(2)", "3")),
    "variation": (d_pr("total-variation"), lambda p, q: abs(p - q).sum(axis=0) / 2, ("0", "1/10", "1/3", "1")),
    "hockey": (
        d_pr("hockey-stick", epsilon="ln(2)"), _both(lambda p, q: np.maximum(p - 2 * q, 0).sum(axis=0)), ("0", "1/10", "1/3"),
    ),
    "approximate": (
        d_pr("hockey-stick", epsilon=5), _both(lambda p, q: np.maximum(p - np.exp(5) * q, 0).sum(axis=0)), ("0", "1/10", "1/3"),
    ),
}  # fmt: skip


def _log(p: Array, q: Array) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(p > 0, np.where(q > 0, np.log(p / q), np.inf), -np.inf)


@attrs.frozen
class Side:
    """One standard with a budget."""

    name: str
    value: str

    @property
    def spec(self) -> Any:
        made = (CURVED | STRAIGHT)[self.name][0]
        return spec(ONE_BIT, NEAR, made).replace(budget=budget(made, self.value))

    def size(self, p: Array, q: Array) -> Array:
        return (CURVED | STRAIGHT)[self.name][1](p, q)


NEAR = d_x("neighbour", "differ-in-one-position")
_GRID = 1 / (1 + np.exp(-np.linspace(-12, 12, 241)))
_P, _Q = (np.stack([side, 1 - side]) for side in np.meshgrid(_GRID, _GRID))


def separable(left: Side, right: Side) -> bool:
    """Whether a law of two outcomes on the grid keeps the one and breaks the other by a margin."""
    given, asked = (float(number(side.value)) for side in (left, right))
    if given:
        kept = left.size(_P, _Q) <= given * (1 - MARGIN)
    else:  # equal laws, but for hockey sticks
        kept = left.size(_P, _Q) <= 0 if left.name in ("hockey", "approximate") else (_P == _Q).all(axis=0)
    return bool((kept & (right.size(_P, _Q) > asked + MARGIN)).any())


def sides(*tables: Any) -> list[Side]:
    return [Side(name, value) for table in tables for name, (_, _, values) in table.items() for value in values]


def directions(seed: object, count: int, lefts: list[Side], rights: list[Side]) -> Counter[str]:
    source, counted = random.Random(f"{seed}"), Counter[str]()
    for _ in range(count):
        left, right = source.choice(lefts), source.choice(rights)
        if left == right:
            continue
        said = compare(left.spec, right.spec).forward
        counted[said.answer.value] += 1
        if said.answer is Answer.IMPLIES:
            assert not separable(left, right), (left, right)
        elif said.separation is not None:
            laws = [said.separation.run.law(x, ONE_BIT) for x in ((0,), (1,))]
            if all(isinstance(law, FiniteLaw) for law in laws):
                counted["checked"] += 1
                outcomes = sorted({o for law in laws for o in law.support}, key=repr)
                p, q = (np.array([float(law.probability(o)) for o in outcomes]) for law in laws)
                assert left.size(p, q) <= float(number(left.value)) + MARGIN, (left, right)
                assert right.size(p, q) > float(number(right.value)) - MARGIN, (left, right)
        else:
            counted[f"unknown {left.name} {right.name}"] += 1
    return counted


@pytest.mark.long
def test_curved_standards_on_two_datasets() -> None:
    counted = directions("long", 200, sides(CURVED, STRAIGHT), sides(CURVED))
    counted += directions("back", 50, sides(CURVED), sides(STRAIGHT))
    print(f"\n{dict(counted)}", flush=True)
    assert counted[Answer.UNKNOWN.value] <= 12
