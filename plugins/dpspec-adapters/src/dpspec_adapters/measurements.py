"""Measurements of OpenDP and events of dp-accounting, as functions to run and claims to verify.

An OpenDP measurement (0.16) is a plain function, and the claim that its privacy map states:

    map(d_in) = d_out     is read as     D(M(x), M(x')) <= d_out  for all x, x' with d(x, x') <= d_in

with d the input metric and D the output measure. OpenDP proves the maps of its own constructors and takes those of users
on trust; here all are claims to be verified.

Input metrics of OpenDP are relations between datasets, at a distance of at most:

    SymmetricDistance        multisets, records added or removed        InsertDeleteDistance   sequences, the same
    ChangeOneDistance        multisets of one size, records replaced    HammingDistance        sequences, the same
    AbsoluteDistance, L1Distance, L2Distance                            vectors of numbers
    DiscreteDistance                                                    all different datasets

An event of dp-accounting is a pair of laws, and the accountant's (epsilon, delta) the claim.

An event is a release whose value moves by at most its sensitivity. Its dataset here is one bit: 0 and 1 are the two inputs,
and the noise is centred at 0 or at the sensitivity. A composition is the product of its parts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from importlib import import_module
from importlib.util import find_spec
from typing import Any, ClassVar, cast

import attrs
from dpspec_divergences import (
    AddRemove,
    DifferInOnePosition,
    DNor,
    Hamming,
    HammingOrdered,
    Mult,
    MultDelta,
    Neighbour,
    ReplaceOne,
    SymmetricDifference,
    UserRelation,
    edits,
)

from dpspec.plugin import (
    AdaptedFunction,
    BitVectors,
    Dataset,
    DatasetSpace,
    FiniteLaw,
    IncompatibleBlocksError,
    InputDivergence,
    Law,
    Mechanism,
    OutputDivergence,
    PrivacySpec,
    Relation,
    Trivial,
    UniformBudget,
    errors,
    exact,
    laws,
    number,
)
from dpspec_adapters.functions import Native

SCALARS = ("AbsoluteDistance",)
"""The metrics of single numbers."""

_ONE_STEP: dict[str, Callable[[str], Relation]] = {
    "SymmetricDistance": lambda unit: AddRemove(unit=unit),
    "ChangeOneDistance": lambda unit: ReplaceOne(unit=unit),
    "HammingDistance": lambda unit: DifferInOnePosition(unit=unit),
}
_COUNTING: dict[str, Callable[[str], InputDivergence]] = {
    "SymmetricDistance": lambda unit: SymmetricDifference(unit=unit),
    "ChangeOneDistance": lambda unit: Hamming(unit=unit),
    "HammingDistance": lambda unit: HammingOrdered(unit=unit),
}
_VECTORS: dict[str, int] = {"AbsoluteDistance": 1, "L1Distance": 1, "L2Distance": 2}
"""The power of the differences that is added up."""


def within(metric: str, at: Any, space: DatasetSpace, unit: str) -> InputDivergence:
    """1 for different datasets at most `at` apart in the metric, infinity beyond.

    The relations that have a registered name are used where they say the same: one step, between datasets that the metric
    distinguishes.

    Raises:
        IncompatibleBlocksError: for a metric without a counterpart, or one that is not defined on the space.
    """
    ordered_as_the_metric = space.is_ordered == (metric == "HammingDistance")
    if at == 1 and metric in _ONE_STEP and ordered_as_the_metric:
        return Neighbour(relation=_ONE_STEP[metric](unit))
    close = _closeness(metric, at, space, unit)
    return Neighbour(relation=UserRelation(function=close, label=f"{metric} at most {at}"))


def _closeness(metric: str, at: Any, space: DatasetSpace, unit: str) -> Callable[[Any, Any], bool]:
    if metric == "DiscreteDistance":
        return lambda left, right: at >= 1 or left == right
    limit = exact.rational(at, "d_in")
    if metric in _COUNTING:
        counting = _COUNTING[metric](unit)
        counting.check(space)
        return lambda left, right: counting.distance(left, right, space) <= limit
    if metric == "InsertDeleteDistance":
        if not space.is_ordered:
            raise IncompatibleBlocksError("InsertDeleteDistance", "needs a space of sequences", value=space.name)
        return lambda left, right: insert_delete(space.records(left, unit), space.records(right, unit)) <= limit
    if metric in _VECTORS:
        power = _VECTORS[metric]
        return lambda left, right: _difference(left, right, power) <= limit**power
    known = ", ".join((*_COUNTING, "InsertDeleteDistance", *_VECTORS, "DiscreteDistance"))
    raise IncompatibleBlocksError("input metric", "has no relation here", f"known: {known}", value=metric)


def insert_delete(left: Sequence[Any], right: Sequence[Any]) -> int:
    """The least number of entries to insert and delete that turns one sequence into the other.

    >>> insert_delete("abc", "bcd"), insert_delete("abc", "cba"), insert_delete("", "ab")
    (2, 4, 2)
    """
    return edits(left, right, replacing=2)


def _difference(left: Sequence[Any], right: Sequence[Any], power: int) -> Fraction:
    """The sum of the differences of two vectors of numbers, each to the power."""
    differences = (abs(Fraction(a) - Fraction(b)) for a, b in zip(left, right, strict=True))
    return sum((difference**power for difference in differences), Fraction(0))


# --- shared ---------------------------------------------------------------------------------------


def outward(value: Any, subject: str) -> Fraction:
    """A stated bound as an exact rational that is nowhere below it: the double itself, or the decimal that it prints.

    Raises:
        IncompatibleBlocksError: for what is no finite number of at least 0: nothing is promised then.

    >>> outward(0.1, "epsilon") >= Fraction(0.1), outward(0.5, "epsilon")
    (True, Fraction(1, 2))
    """
    if isinstance(value, bool) or not isinstance(value, (int, float, Fraction)) or not math.isfinite(value) or value < 0:
        raise IncompatibleBlocksError(subject, "must be a finite number of at least 0 to be a claim", value=value)
    return max(Fraction(value), exact.rational(value, subject))


def misfit(given: object, wanted: str, library: str, extra: str) -> errors.PluginError:
    """The error for an object that is not of the library, which says so when the library is not installed at all."""
    if find_spec(library) is None:
        return errors.PluginError(library, "is not installed", f'pip install "dpspec-adapters[{extra}]"')
    return errors.PluginError("object to wrap", f"must be {wanted}", f"it is a {type(given).__name__}")


# --- OpenDP ---------------------------------------------------------------------------------------


MeasurementFunction = Callable[[Any, Any], Any]


def opendp_claim(
    measurement: Any,
    space: DatasetSpace,
    *,
    at: Any = 1,
    read: Callable[[Any], Any] | None = None,
    see: Callable[[Any], Any] | None = None,
    fixed: bool = False,
    unit: str = "person",
) -> tuple[MeasurementFunction, PrivacySpec]:
    """A measurement as a function (dataset, generator) -> output, and what its privacy map states at one distance.

    Args:
        measurement: an OpenDP measurement.
        space: the datasets of its input domain that are tried.
        at: d_in, the input distance at which the privacy map is evaluated.
        read: a dataset as the argument that the measurement takes; by default the list itself, its only entry for scalars.
        see: the function of an output that is observed; a claim that holds for the output holds for every function of it.
        fixed: that what is seen is a function of the dataset, so that its law is exact and nothing need be sampled.
        unit: what one record is.

    Raises:
        PluginError: when it is no measurement, or OpenDP is not installed.
        IncompatibleBlocksError: when the metric or the measure has no counterpart, or the map promises nothing.
    """
    parts = ("input_metric", "output_measure", "map")
    if not callable(measurement) or not all(hasattr(measurement, part) for part in parts):
        raise misfit(measurement, "an OpenDP measurement", "opendp", "opendp")
    metric = str(measurement.input_metric).partition("(")[0]
    divergence, parameter, bound = _standard(str(measurement.output_measure), measurement.map(at))
    spec = PrivacySpec(
        space=space,
        multiverse=Trivial(),
        input_divergence=within(metric, at, space, unit),
        output_divergence=divergence,
        budget=UniformBudget(parameter=parameter, value=number(bound)),
    )
    if read is None:
        read = _only_entry if metric in SCALARS else _entries
    seen = see if see is not None else _whole
    return _function(lambda dataset: seen(measurement(read(dataset))), space, fixed=fixed), spec


def _only_entry(dataset: Any) -> Any:
    (entry,) = dataset
    return entry


def _entries(dataset: Any) -> Any:
    return [entry for entry in dataset]  # noqa: C416 (in a form that is read for all datasets at once)


def _whole(output: Any) -> Any:
    return output


def _function(release: Callable[[Any], Any], space: DatasetSpace, *, fixed: bool) -> MeasurementFunction:
    """The release as a function of the dataset and a generator, which it leaves alone.

    OpenDP draws from the operating system in code of its own, where no seed reaches: its calls cannot be made again.
    """
    if fixed:
        return lambda dataset, _: release(dataset)
    return AdaptedFunction(release, space, None, Native(), takes=1)


def _standard(measure: str, bound: Any) -> tuple[OutputDivergence, str, Any]:
    """The output divergence of a measure, the parameter of its budget, and its value."""
    if measure == "MaxDivergence":
        return Mult(), "epsilon", outward(bound, "epsilon")
    if measure == "ZeroConcentratedDivergence":
        return DNor(), "rho", outward(bound, "rho")
    if measure == "Approximate(MaxDivergence)":
        delta = outward(bound[1], "delta")
        if delta >= 1:
            raise IncompatibleBlocksError("delta", "must be below 1 to be a claim", value=float(delta))
        return MultDelta(delta=delta), "epsilon", outward(bound[0], "epsilon")
    known = "known: MaxDivergence, ZeroConcentratedDivergence, Approximate(MaxDivergence)"
    raise IncompatibleBlocksError("output measure", "has no output divergence here", known, value=measure)


# --- dp-accounting --------------------------------------------------------------------------------


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
        parts = tuple(_law(part, bit) for part in _parts(self.event))
        return parts[0] if len(parts) == 1 else laws.product(parts or (FiniteLaw.point(0),))

    def __str__(self) -> str:
        return str(self.event)


def event_claim(event: Any, delta: Any, *, accountant: Any = None) -> tuple[EventLaws, PrivacySpec]:
    """An event as a mechanism on one bit, and the epsilon that the accountant states for it at delta.

    Args:
        event: a DpEvent, a tree of noise events and compositions.
        delta: the delta at which the accountant is evaluated, in [0, 1).
        accountant: a fresh accountant; by default the one of privacy-loss distributions. It has to speak of the two inputs
            above: for randomised response, of a replaced bucket (REPLACE_ONE), not of one exchanged for a special input.

    Raises:
        PluginError: when it is no event, or dp-accounting is not installed.
        IncompatibleBlocksError: when an event has no laws here, or the accountant promises nothing.
    """
    if not type(event).__name__.endswith("DpEvent"):
        raise misfit(event, "a DpEvent", "dp_accounting", "dp-accounting")
    asked = outward(float(exact.rational(delta, "delta")), "delta")
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
        raise errors.PluginError("accountant", "gave no epsilon for the event", text) from problem


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
        scale = exact.rational(event.noise_multiplier, "noise_multiplier")
        if scale == 0:
            return FiniteLaw.point(bit)
        return laws.GaussianLaw(bit, scale**2) if kind == "GaussianDpEvent" else laws.LaplaceLaw(bit, scale)
    if kind == "DiscreteLaplaceDpEvent":
        return laws.TwoSidedGeometricLaw(
            bit * event.sensitivity, number(exact.rational(event.noise_parameter, "noise_parameter"))
        )
    if kind == "RandomizedResponseDpEvent":
        spread = exact.rational(event.noise_parameter, "noise_parameter") / event.num_buckets
        probabilities = dict.fromkeys(range(event.num_buckets), spread)
        return FiniteLaw.of({**probabilities, bit: 1 - spread * (event.num_buckets - 1)})
    raise IncompatibleBlocksError("event", "has no laws here", f"known: {_KNOWN}", value=kind)
