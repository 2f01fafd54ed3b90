"""Events of dp-accounting: the pair of laws that an event stands for, and the accountant's (epsilon, delta) as the claim.

An event is a release whose value moves by at most its sensitivity. Its dataset here is one bit: 0 and 1 are the two inputs,
and the noise is centred at 0 or at the sensitivity. A composition is the product of its parts.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any, ClassVar, cast

import attrs
from dpspec_divergences import DifferInOnePosition, MultDelta, Neighbour

from dpspec.blocks.budget import UniformBudget
from dpspec.blocks.multiverse import Trivial
from dpspec.blocks.space import Dataset, DatasetSpace
from dpspec.blocks.vectors import BitVectors
from dpspec.errors import IncompatibleBlocksError, PluginError
from dpspec.exact import number, rational
from dpspec.laws.combine import product
from dpspec.laws.continuous import Gaussian, Laplace
from dpspec.laws.finite import FiniteLaw
from dpspec.laws.integers import TwoSidedGeometric
from dpspec.laws.law import Law
from dpspec.mechanism import Mechanism
from dpspec.spec import PrivacySpec
from dpspec_adapters.stated import misfit, outward

_MOST_PARTS = 1_000
_KNOWN = "GaussianDpEvent, LaplaceDpEvent, DiscreteLaplaceDpEvent, RandomizedResponseDpEvent, NoOpDpEvent, and compositions"


@attrs.frozen
class EventLaws(Mechanism):
    """The two laws of an event, on the datasets (0,) and (1,).

    Args:
        event: a DpEvent of dp-accounting.
    """

    name: ClassVar[str] = "dp-event"

    event: Any

    def law(self, dataset: Dataset, space: DatasetSpace) -> Law:
        (bit,) = cast("tuple[int]", space.dataset(dataset))
        laws = tuple(_law(part, bit) for part in _parts(self.event))
        return laws[0] if len(laws) == 1 else product(laws or (FiniteLaw.point(0),))

    def __str__(self) -> str:
        return str(self.event)


def event_claim(event: Any, delta: Any, *, accountant: Any = None) -> tuple[EventLaws, PrivacySpec]:
    """An event as a mechanism on one bit, and the epsilon that the accountant states for it at delta.

    Args:
        event: a DpEvent, a tree of noise events and compositions.
        delta: the delta at which the accountant is asked, in [0, 1).
        accountant: a fresh accountant; by default the one of privacy-loss distributions. It has to speak of the two inputs
            above: for randomised response, of a replaced bucket (REPLACE_ONE), not of one exchanged for a special input.

    Raises:
        PluginError: when it is no event, or dp-accounting is not installed.
        IncompatibleBlocksError: when an event has no laws here, or the accountant promises nothing.
    """
    if not type(event).__name__.endswith("DpEvent"):
        raise misfit(event, "a DpEvent", "dp_accounting", "dp-accounting")
    asked = outward(float(rational(delta, "delta")), "delta")
    mechanism, space = EventLaws(event), BitVectors(length=1)
    for bit in (0, 1):
        mechanism.law((bit,), space)
    epsilon = outward(_epsilon(event, float(asked), accountant), "epsilon")
    spec = PrivacySpec(
        space=space,
        multiverse=Trivial(),
        input_divergence=Neighbour(relation=DifferInOnePosition()),
        output_divergence=MultDelta(delta=asked),
        budget=UniformBudget(parameter="epsilon", value=number(epsilon)),
    )
    return mechanism, spec


def _epsilon(event: Any, delta: float, accountant: Any) -> float:
    """What the accountant states."""
    if accountant is None:
        try:
            accountant = import_module("dp_accounting.pld").PLDAccountant()
        except ImportError as problem:
            raise misfit(event, "a DpEvent", "dp_accounting", "dp-accounting") from problem
    relation = getattr(getattr(accountant, "neighboring_relation", None), "name", "")
    if relation == "REPLACE_SPECIAL":
        raise IncompatibleBlocksError("accountant", "speaks of a special input, not of 1", "use REPLACE_ONE", value=relation)
    try:
        accountant.compose(event)
        return float(accountant.get_epsilon(delta))
    except Exception as problem:
        text = f"{type(problem).__name__}: {problem}"
        raise PluginError("accountant", "gave no epsilon for the event", text) from problem


def _parts(event: Any) -> Iterator[Any]:
    """The noise events of a tree, in order."""
    kind = type(event).__name__
    if kind == "ComposedDpEvent":
        for inner in event.events:
            yield from _parts(inner)
    elif kind == "SelfComposedDpEvent":
        if event.count > _MOST_PARTS:
            raise IncompatibleBlocksError("event.count", f"must be at most {_MOST_PARTS} to be written out", value=event.count)
        inner_parts = tuple(_parts(event.event))
        for _ in range(event.count):
            yield from inner_parts
    elif kind != "NoOpDpEvent":
        yield event


def _law(event: Any, bit: int) -> Law:
    """The law of one noise event on one of the two inputs."""
    kind = type(event).__name__
    if kind in ("GaussianDpEvent", "LaplaceDpEvent"):
        scale = rational(event.noise_multiplier, "noise_multiplier")
        if scale == 0:
            return FiniteLaw.point(bit)
        return Gaussian(bit, scale**2) if kind == "GaussianDpEvent" else Laplace(bit, scale)
    if kind == "DiscreteLaplaceDpEvent":
        return TwoSidedGeometric(bit * event.sensitivity, number(rational(event.noise_parameter, "noise_parameter")))
    if kind == "RandomizedResponseDpEvent":
        spread = rational(event.noise_parameter, "noise_parameter") / event.num_buckets
        chances = dict.fromkeys(range(event.num_buckets), spread)
        return FiniteLaw.of({**chances, bit: 1 - spread * (event.num_buckets - 1)})
    raise IncompatibleBlocksError("event", "has no laws here", f"known: {_KNOWN}", value=kind)
