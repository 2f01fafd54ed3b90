"""What an entry of the corpus holds, and how its claim becomes a specification."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import attrs
from dpspec_divergences import (
    AddRemove,
    DifferInOnePosition,
    DNor,
    HammingOrdered,
    Mult,
    MultDelta,
    Neighbour,
    SymmetricDifference,
    UserMetric,
)

from dpspec import IntegerCounts, PrivacySpec, Trivial, UniformBudget
from dpspec.blocks.lists import ValueLists

Function = Callable[[Any, Any], Any]
"""(dataset, numpy Generator) -> output."""
Space = ValueLists | IntegerCounts


def lists(*values: Any, most: int | None = None) -> ValueLists:
    """Lists of any length, or up to one; a record more or less is one unit."""
    return ValueLists(values=values, most=most, ordered=False)


def rows(*values: Any, length: int) -> ValueLists:
    """Lists of one length, in order; another value in one row is one unit."""
    return ValueLists(values=values, least=length, most=length, ordered=True)


def sequences(*values: Any, most: int | None = None) -> ValueLists:
    """Lists whose order the code can see; a record more or less is one unit all the same."""
    return ValueLists(values=values, most=most, ordered=True)


def answers(length: int, *, most: int = 10) -> IntegerCounts:
    """True answers of queries; one unit moves each of them by at most 1."""
    return IntegerCounts(length=length, low=-most, high=most)


def largest_change(left: Any, right: Any) -> int:
    return max(abs(a - b) for a, b in zip(left, right, strict=True))


def is_fixed(space: Space) -> bool:
    """Whether all datasets have one length."""
    return isinstance(space, ValueLists) and space.least == space.most


def specification(space: Space, claim: tuple[Any, ...]) -> PrivacySpec:
    """A claim such as ("pure", epsilon) on a space, with the metric that goes with it."""
    kind, size, *rest = claim
    metric: Any
    if isinstance(space, IntegerCounts):
        metric = UserMetric(function=largest_change, label="largest change of an answer")
    elif kind == "approximate":
        metric = Neighbour(relation=DifferInOnePosition() if is_fixed(space) else AddRemove())
    else:
        metric = HammingOrdered() if is_fixed(space) else SymmetricDifference()
    divergence = {"pure": Mult, "approximate": lambda: MultDelta(delta=rest[0]), "concentrated": DNor}[kind]()
    return PrivacySpec(
        space=space,
        multiverse=Trivial(),
        input_divergence=metric,
        output_divergence=divergence,
        budget=UniformBudget(parameter="rho" if kind == "concentrated" else "epsilon", value=size),
    )


@attrs.frozen(kw_only=True)
class Fault:
    """A published violation, rewritten: facts, no code of others.

    Args:
        name: what it is called here.
        source: who published it: author, year and title, or library and issue.
        fault: what was wrong.
        space: which datasets the claim speaks about.
        claim: ("pure", epsilon), ("approximate", epsilon, delta) or ("concentrated", rho).
        wrong: the code with the fault, which breaks the claim.
        mended: the code without it, which keeps the claim.
        pair, event: two datasets and an event whose probabilities under `wrong` break the claim; no engine is told.
        because: the same in words, with figures.
        holds: why the mended one keeps the claim.
        rare: a bound on the smaller probability in closed form, where draws cannot show it.
        bits: whether the claim speaks about doubles; otherwise noise is real-valued.
    """

    name: str
    source: str
    fault: str
    space: Space
    claim: tuple[Any, ...]
    wrong: Function
    mended: Function
    pair: tuple[Any, Any]
    event: Callable[[Any], bool]
    because: str
    holds: str
    rare: float | None = None
    bits: bool = False

    @property
    def fixed(self) -> bool:
        """Whether a unit is a changed row, and not a record more or less."""
        return is_fixed(self.space)

    @property
    def spec(self) -> PrivacySpec:
        """The claim as the five blocks."""
        return specification(self.space, self.claim)

    @property
    def size(self) -> float:
        """The epsilon or rho as a float."""
        size = self.claim[1]
        return math.log(float(size[3:-1])) if isinstance(size, str) and size.startswith("ln(") else float(Fraction(size))
