"""Small mechanisms with laws that are written down by hand."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, ClassVar

import attrs

from dpspec.blocks.budget import UniformBudget
from dpspec.blocks.multiverse import Multiverse, Trivial
from dpspec.blocks.space import Dataset, DatasetSpace
from dpspec.blocks.vectors import BitVectors
from dpspec.extension import installed
from dpspec.grammar.mechanism import Mechanism
from dpspec.grammar.spec import PrivacySpec
from dpspec.laws.law import FiniteLaw, Law


@attrs.frozen
class Toy(Mechanism):
    """A mechanism from a function of the dataset to a law."""

    name: ClassVar[str] = "toy"

    function: Callable[[Any], Any]

    def law(self, dataset: Dataset, space: DatasetSpace) -> Law:
        return self.function(dataset)  # type: ignore[no-any-return]


def response(keep: Fraction | str) -> Toy:
    """Randomised response on bits, as a product written out."""
    p = Fraction(keep)

    def law(bits: tuple[int, ...]) -> FiniteLaw:
        outcomes = itertools.product((0, 1), repeat=len(bits))
        return FiniteLaw.of({t: math.prod(p if a == b else 1 - p for a, b in zip(bits, t, strict=True)) for t in outcomes})

    return Toy(law)


def block(kind: str, name: str, **parameters: Any) -> Any:
    """A registered block of the first-party plugins."""
    return installed().registry.get(kind, name)(**parameters)


def bits_spec(
    length: int = 3,
    *,
    epsilon: Any = "ln(3)",
    multiverse: Multiverse | None = None,
    d_x: tuple[str, dict[str, Any]] = ("hamming-ordered", {}),
    d_pr: tuple[str, dict[str, Any]] = ("mult", {}),
    parameter: str = "epsilon",
) -> PrivacySpec:
    """A specification on {0, 1}^n."""
    return PrivacySpec(
        space=BitVectors(length=length),
        multiverse=multiverse or Trivial(),
        input_divergence=block("input_divergences", d_x[0], **d_x[1]),
        output_divergence=block("output_divergences", d_pr[0], **d_pr[1]),
        budget=UniformBudget(parameter=parameter, value=epsilon),
    )
