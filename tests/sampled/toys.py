"""Small black boxes, right and wrong, and claims about them."""

from __future__ import annotations

import math
from typing import Any

from dpspec.blocks.budget import UniformBudget
from dpspec.blocks.lists import ValueLists
from dpspec.blocks.multiverse import Multiverse, Trivial
from dpspec.blocks.space import DatasetSpace
from dpspec.grammar.spec import PrivacySpec
from tests.verify.toys import block

BIT = ValueLists(values=(0, 1), least=1, most=1)
LISTS = ValueLists(values=(0, 1), most=3, ordered=False)


def claim(
    space: DatasetSpace = LISTS,
    *,
    epsilon: Any = 1,
    d_pr: tuple[str, dict[str, Any]] = ("mult", {}),
    metric: Any = None,
    parameter: str = "epsilon",
    multiverse: Multiverse | None = None,
) -> PrivacySpec:
    """A claim about lists: symmetric difference for multisets, positions that differ for sequences."""
    return PrivacySpec(
        space=space,
        multiverse=multiverse or Trivial(),
        input_divergence=metric or block("input_divergences", "hamming-ordered" if space.is_ordered else "symmetric-difference"),
        output_divergence=block("output_divergences", d_pr[0], **d_pr[1]),
        budget=UniformBudget(parameter=parameter, value=epsilon),
    )


def response(epsilon: float) -> Any:
    """Randomised response on the first bit, tight at epsilon."""
    keep = math.exp(epsilon) / (1 + math.exp(epsilon))
    return lambda x, rng: int(x[0] ^ (rng.random() >= keep))


def laplace_count(scale: float) -> Any:
    """The number of records with Laplace noise: tight at 1/scale."""
    return lambda x, rng: round(len(x) + rng.laplace(0, scale), 3)


def geometric_count(ratio: float) -> Any:
    """The number of records with two-sided geometric noise: tight at -ln(ratio)."""
    return lambda x, rng: len(x) + int(rng.geometric(1 - ratio)) - int(rng.geometric(1 - ratio))
