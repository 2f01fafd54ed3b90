"""OpenDP measurements (0.16): a plain function to run, and the claim that the privacy map states.

    map(d_in) = d_out     is read as     D(M(x), M(x')) <= d_out  for all x, x' with d(x, x') <= d_in

with d the input metric and D the output measure. OpenDP proves the maps of its own constructors and takes those of users
on trust; here all are claims to be judged.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dpspec_divergences import DNor, Mult, MultDelta

from dpspec.blocks.budget import UniformBudget
from dpspec.blocks.multiverse import Trivial
from dpspec.blocks.output_divergence import OutputDivergence
from dpspec.blocks.space import DatasetSpace
from dpspec.errors import IncompatibleBlocksError
from dpspec.exact import number
from dpspec.spec import PrivacySpec
from dpspec_adapters.metrics import SCALARS, within
from dpspec_adapters.stated import misfit, outward

Function = Callable[[Any, Any], Any]


def opendp_claim(
    measurement: Any,
    space: DatasetSpace,
    *,
    at: Any = 1,
    read: Callable[[Any], Any] | None = None,
    see: Callable[[Any], Any] | None = None,
    fixed: bool = False,
    unit: str = "person",
) -> tuple[Function, PrivacySpec]:
    """A measurement as a function (dataset, generator) -> output, and what its privacy map states at one distance.

    Args:
        measurement: an OpenDP measurement.
        space: the datasets of its input domain that are tried.
        at: d_in, the input distance at which the privacy map is evaluated.
        read: a dataset as the argument that the measurement takes; by default the list itself, its only entry for scalars.
        see: what is looked at of an output; a claim that holds for the output holds for every function of it.
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
        read = _only_entry if metric in SCALARS else list
    seen = see if see is not None else _whole
    return _function(lambda dataset: seen(measurement(read(dataset))), fixed=fixed), spec


def _only_entry(dataset: Any) -> Any:
    (entry,) = dataset
    return entry


def _whole(output: Any) -> Any:
    return output


def _function(release: Callable[[Any], Any], *, fixed: bool) -> Function:
    """The release as a function of the dataset and a generator.

    OpenDP draws from the operating system, so a call is no function of the generator. It becomes one when its outputs are
    kept under the bits that the generator gave: the same bits, the same output; other bits, an independent one. That is all
    that sampling asks for, save that another process draws other outputs.
    """
    if fixed:
        return lambda dataset, _: release(dataset)
    kept: dict[tuple[str, bytes], Any] = {}

    def run(dataset: Any, generator: Any) -> Any:
        key = (repr(dataset), generator.bytes(16))
        if key not in kept:
            kept[key] = release(dataset)
        return kept[key]

    return run


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
