"""Models of diffprivlib: mechanisms are read by what they hold, tools by their arguments.

diffprivlib is written in Python. Its noise is made of uniform numbers of the operating system's generator: Laplace noise is

    ln(1 - U_1) cos(pi U_2) + ln(1 - U_3) cos(pi U_4)

which for real uniform numbers has the Laplace law exactly, for E cos(pi U) with exponential E has the characteristic function
(1 + t^2)^(-1/2) (Holohan and Braghin 2021). Gaussian noise is the sum of two Gaussian draws over sqrt(2).
"""

from __future__ import annotations

import random
import sys
import types
from collections.abc import Callable, Hashable
from functools import partial
from typing import Any, ClassVar

from dpspec.plugin import ModelledCall, late_module
from dpspec_adapters import diffprivlib_laws as laws
from dpspec_adapters.models import UNTESTED, Library, Model, ModelDraws, is_plain

np: Any = late_module("numpy")

_SOURCE = "text of diffprivlib 0.6"
_REAL = "uniform numbers and the functions of them are taken as real numbers"
_LAPLACE = f"Laplace noise, as a sum of two products of a logarithm and a cosine of uniform numbers; {_REAL}"
_GEOMETRIC = f"whole numbers with probabilities proportional to e^(-|k| epsilon / sensitivity), from one uniform number; {_REAL}"
_CHOICE = f"one of the candidates with probabilities proportional to e^(epsilon utility / sensitivity / 2); {_REAL}"
_SIZE = "the number of entries is public: bounds and sensitivity are made of it"

_COMMON = frozenset({"epsilon", "delta", "random_state", "_rng"})
_HELD: dict[str, frozenset[str]] = {
    "Laplace": frozenset({"sensitivity", "_scale"}),
    "LaplaceTruncated": frozenset({"sensitivity", "_scale", "lower", "upper"}),
    "Geometric": frozenset({"sensitivity", "_scale"}),
    "GeometricTruncated": frozenset({"sensitivity", "_scale", "lower", "upper"}),
    "Gaussian": frozenset({"sensitivity", "_scale"}),
    "GaussianAnalytic": frozenset({"sensitivity", "_scale"}),
    "GaussianDiscrete": frozenset({"sensitivity", "_scale"}),
    "Binary": frozenset({"value0", "value1"}),
    "Exponential": frozenset({"sensitivity", "utility", "candidates", "measure", "monotonic", "_probabilities"}),
    "PermuteAndFlip": frozenset({"sensitivity", "utility", "candidates", "measure", "monotonic", "_probabilities"}),
    "ExponentialCategorical": frozenset({
        "_balanced_tree", "_utility_values", "_sensitivity", "_domain_values", "_normalising_constant",
    }),
    "ExponentialHierarchical": frozenset({
        "_balanced_tree", "_utility_values", "_sensitivity", "_domain_values", "_normalising_constant", "hierarchy",
        "_list_hierarchy",
    }),
}  # fmt: skip
"""The attributes of an object of each class, other than those of all objects."""
_HOMES = {
    "Laplace": "laplace", "LaplaceTruncated": "laplace", "Geometric": "geometric", "GeometricTruncated": "geometric",
    "Gaussian": "gaussian", "GaussianAnalytic": "gaussian", "GaussianDiscrete": "gaussian", "Binary": "binary",
    "Exponential": "exponential", "PermuteAndFlip": "exponential", "ExponentialCategorical": "exponential",
    "ExponentialHierarchical": "exponential",
}  # fmt: skip
_TOOLS = {
    "count_nonzero": ("diffprivlib.tools.utils", ("array", "epsilon")),
    "sum": ("diffprivlib.tools.utils", ("array", "epsilon", "bounds")),
    "mean": ("diffprivlib.tools.utils", ("array", "epsilon", "bounds")),
}
"""The tools with their modules, and the arguments of which a model is known."""
_READ = frozenset({"epsilon", "delta", "sensitivity", "lower", "upper"})
"""Attributes of mechanisms that code may look up."""


class Unmade:
    """A mechanism whose utilities the data decide, so that no object of the library can be made while code is read.

    Args:
        scale: epsilon over sensitivity, and over 2 where utilities are not monotonic.
        candidates: what is chosen from; None for the places.
        utility: the utilities.
    """

    def __init__(self, scale: float, candidates: list[Any] | None, utility: list[Any]) -> None:
        self.scale, self.candidates, self.utility = scale, candidates, utility

    def randomise(self) -> None:
        """A call of it is read by the law of the exponential mechanism."""


class DiffPrivLib(Library):
    """Mechanisms and tools of diffprivlib."""

    name: ClassVar[str] = "diffprivlib"
    versions: ClassVar[tuple[str, ...]] = ("0.6.",)
    modules: ClassVar[tuple[str, ...]] = (
        "diffprivlib.mechanisms.base", *sorted({f"diffprivlib.mechanisms.{home}" for home in _HOMES.values()}),
        "diffprivlib.tools.utils", "diffprivlib.utils", "diffprivlib.validation", "diffprivlib.accountant",
    )  # fmt: skip
    models: ClassVar[tuple[Model, ...]] = (
        Model(primitive="Laplace", law=_LAPLACE, source="Holohan and Braghin 2021; text of diffprivlib 0.6"),
        Model(primitive="LaplaceTruncated", law=f"{_LAPLACE}; truncated to its bounds", source=_SOURCE, tested=UNTESTED),
        Model(primitive="Geometric", law=_GEOMETRIC, source=_SOURCE),
        Model(primitive="GeometricTruncated", law=f"{_GEOMETRIC}; truncated to its bounds", source=_SOURCE, tested=UNTESTED),
        Model(primitive="Gaussian", law=f"Gaussian noise, as a sum of two Gaussian draws; {_REAL}", source=_SOURCE),
        Model(primitive="GaussianAnalytic", law=f"Gaussian noise, as a sum of two Gaussian draws; {_REAL}", source=_SOURCE),
        Model(
            primitive="GaussianDiscrete",
            law=f"whole numbers with probabilities proportional to e^(-k^2 / (2 scale^2)); {_REAL}",
            source="Canonne, Kamath and Steinke 2020; text of diffprivlib 0.6",
        ),
        Model(primitive="Binary", law="a label, the other one with probability (1 - delta) / (e^epsilon + 1)", source=_SOURCE),
        Model(primitive="Exponential", law=_CHOICE, source=_SOURCE),
        Model(
            primitive="PermuteAndFlip",
            law="the first in random order that a coin of probability e^(epsilon (utility - largest) / sensitivity / 2) takes; "
            f"{_REAL}",
            source="McKenna and Sheldon 2020; text of diffprivlib 0.6",
        ),
        Model(primitive="ExponentialCategorical", law=_CHOICE, source=_SOURCE),
        Model(primitive="ExponentialHierarchical", law=_CHOICE, source=_SOURCE, tested=UNTESTED),
        Model(
            primitive="count_nonzero", law=f"the count with truncated geometric noise; {_SIZE}", source=_SOURCE,
            tested=UNTESTED,
        ),
        Model(
            primitive="sum", law=f"the sum of clipped values with truncated Laplace noise; {_SIZE}", source=_SOURCE,
            tested=UNTESTED,
        ),
        Model(
            primitive="mean", law=f"the mean of clipped values with truncated Laplace noise; {_SIZE}", source=_SOURCE,
            tested=UNTESTED,
        ),
    )

    def __init__(self, *, reads: bool = True) -> None:
        super().__init__(reads=reads)
        self._machine = sys.modules["diffprivlib.mechanisms.base"].DPMachine
        self._kinds = {name: vars(sys.modules[f"diffprivlib.mechanisms.{home}"]).get(name) for name, home in _HOMES.items()}

    def owns(self, thing: Any) -> bool:
        return issubclass(type(thing), (self._machine, Unmade))

    def attribute(self, owner: Any, name: str, draws: Any) -> Any:
        if type(owner) is Unmade and name == "randomise":
            return owner.randomise
        held = {} if type(owner) is Unmade else vars(owner)
        if name in _READ and is_plain(held.get(name)):
            return held.get(name)
        if name != "randomise" or name in held:
            self.refuse(f"{type(owner).__name__}.{name} has no model")
        return owner.randomise

    def printed(self, value: Any) -> Hashable:
        if type(value) is Unmade:
            return id(value)
        return id(value), tuple((key, id(one) if key == "_rng" else repr(one)) for key, one in vars(value).items())

    def called(self, function: Any, args: tuple[Any, ...], options: dict[str, Any], draws: Any) -> ModelledCall | None:
        if type(function) is types.MethodType and self.owns(function.__self__):
            owner, name = function.__self__, function.__func__.__name__
            if type(owner) is Unmade:
                return ModelledCall(partial(laws.exponential, owner.scale, owner.candidates, draws), (owner.utility,))
            if name != "randomise":
                self.refuse(f"{type(owner).__name__}.{name} has no model")
            if options.keys() - {"value"} or len(args) + len(options) > 1:
                self.refuse("randomise is called with one value")
            return ModelledCall(self.stage(owner, draws), (*args, *options.values()))
        if isinstance(function, type) and issubclass(function, self._machine):
            return self._constructed(function, args, options)
        if type(function) is types.FunctionType and str(function.__module__).partition(".")[0] == "diffprivlib":
            return self._tool(function, args, options, draws)
        return None

    # -- objects ----------------------------------------------------------------------------------

    def _name_of(self, kind: type) -> str:
        """The name of a class with a model."""
        name = kind.__name__
        if self._kinds.get(name) is not kind:
            self.refuse(f"{kind.__module__}.{kind.__qualname__} has no model")
        self.using(name)
        return name

    def _constructed(self, kind: type, args: tuple[Any, ...], options: dict[str, Any]) -> ModelledCall:
        """A mechanism that is made while code is read."""
        name = self._name_of(kind)
        if all(map(is_plain, (*args, *options.values()))):
            return ModelledCall(None, value=kind(*args, **options))
        utility = options.get("utility")
        others = {key: value for key, value in options.items() if key != "utility"}
        if name != "Exponential" or args or type(utility) is not list or not all(map(is_plain, others.values())):
            self.refuse(f"{name} is given numbers that the data or draws decide, or a generator")
        made = kind(**others, utility=[0.0] * len(utility))
        return ModelledCall(None, value=Unmade(self._scale_of(made), made.candidates, utility))

    def _scale_of(self, thing: Any) -> float:
        """The factor of utilities in an exponential mechanism."""
        if thing.measure is not None or not thing.sensitivity or not thing.epsilon:
            self.refuse("Exponential with a measure, without sensitivity or without epsilon has no model")
        return float(thing.epsilon / thing.sensitivity / (2 - thing.monotonic))

    def stage(self, thing: Any, draws: Any) -> Callable[..., Any]:
        """The law of a mechanism, as a function of its data.

        Raises:
            NotEnumerableError: it has no model.
        """
        name, held = self._name_of(type(thing)), vars(thing)
        if held.keys() != _HELD[name] | _COMMON:
            self.refuse(f"an object of {name} holds other attributes than the library gives it")
        source = held["_rng"]
        if type(source) is not random.SystemRandom or vars(source).keys() - {"gauss_next"}:
            self.refuse(f"{name} draws from a generator that was given to it (random_state), which may be seeded")
        make: Any = getattr(self, f"_{name.lower()}")
        return make(thing, draws)  # type: ignore[no-any-return]  # one of the methods below

    def _laplace(self, thing: Any, draws: Any) -> Callable[..., Any]:
        return partial(laws.laplace, float(thing.sensitivity / (thing.epsilon - np.log(1 - thing.delta))), draws)

    def _laplacetruncated(self, thing: Any, draws: Any) -> Callable[..., Any]:
        scale = float(thing.sensitivity / (thing.epsilon - np.log(1 - thing.delta)))
        return partial(laws.truncated_laplace, scale, thing.lower, thing.upper, draws)

    def _width(self, thing: Any) -> float:
        """The scale of geometric noise, as the object holds it."""
        if not -1e15 < thing._scale < 0:
            self.refuse("geometric noise without sensitivity or without epsilon has no model")
        return float(-1 / thing._scale)

    def _geometric(self, thing: Any, draws: Any) -> Callable[..., Any]:
        return partial(laws.geometric, self._width(thing), draws)

    def _geometrictruncated(self, thing: Any, draws: Any) -> Callable[..., Any]:
        return partial(laws.truncated_geometric, self._width(thing), thing.lower, thing.upper, draws)

    def _gaussian(self, thing: Any, draws: Any) -> Callable[..., Any]:
        return partial(laws.gaussian, float(thing._scale), draws)

    _gaussiananalytic = _gaussian

    def _gaussiandiscrete(self, thing: Any, draws: Any) -> Callable[..., Any]:
        if not thing._scale > 0:
            self.refuse("discrete Gaussian noise without sensitivity has no model")
        return partial(laws.discrete_gaussian, float(thing._scale), draws)

    def _binary(self, thing: Any, draws: Any) -> Callable[..., Any]:
        power = float(np.exp(thing.epsilon))
        return partial(laws.binary, thing.value0, thing.value1, (power + thing.delta) / (power + 1), draws)

    def _exponential(self, thing: Any, draws: Any) -> Callable[..., Any]:
        return partial(_without_value, laws.exponential, self._scale_of(thing), thing.candidates, draws, [*thing.utility])

    def _permuteandflip(self, thing: Any, draws: Any) -> Callable[..., Any]:
        scale = self._scale_of(thing)
        top = max(thing.utility)
        logarithms = [scale * float(utility - top) for utility in thing.utility]
        return partial(_without_value, laws.permute_and_flip, logarithms, thing.candidates, draws)

    def _exponentialcategorical(self, thing: Any, draws: Any) -> Callable[..., Any]:
        names = list(thing._normalising_constant)
        rows = {}
        for name in names:
            weights = [float(thing._get_prob(name, other)) for other in names]
            rows[name] = [weight / sum(weights) for weight in weights]
        return partial(laws.categorical, rows, draws)

    _exponentialhierarchical = _exponentialcategorical

    # -- tools ------------------------------------------------------------------------------------

    def _tool(self, function: Any, args: tuple[Any, ...], options: dict[str, Any], draws: Any) -> ModelledCall:
        """A call of a tool on the data."""
        name = function.__name__
        module, places = _TOOLS.get(name, ("", ()))
        if function.__module__ != module or id(vars(sys.modules[module]).get(name)) != id(function):
            self.refuse(f"{function.__module__}.{name} has no model")
        given = {**dict(zip(places, args, strict=False)), **options}
        if len(args) > len(places) or given.keys() - set(places) or len(given) < len(args) + len(options):
            self.refuse(f"{name} has a model with these arguments alone: {', '.join(places)}")
        data, epsilon = given.pop(places[0]), given.pop("epsilon", 1.0)
        if type(epsilon) not in (int, float) or not 0 < epsilon < 1e15 or not all(map(is_plain, given.values())):
            self.refuse(f"{name} is given numbers that the data decide, or no epsilon")
        self.using(name)
        if name == "count_nonzero":
            return ModelledCall(partial(laws.nonzero, 1 / float(epsilon), draws), (data,))
        bounds = given.get("bounds")
        if type(bounds) is not tuple or len(bounds) != 2 or not all(type(one) in (int, float) for one in bounds):
            self.refuse(f"{name} without bounds, or with other ones for each column, has no model: without, they are of the data")
        lower, upper = map(float, bounds)
        if not lower < upper:
            self.refuse(f"{name} with bounds that are not in order has no model")
        if name == "sum":
            return ModelledCall(partial(laws.bounded_sum, (upper - lower) / float(epsilon), lower, upper, draws), (data,))
        return ModelledCall(partial(laws.bounded_mean, float(epsilon), lower, upper, draws), (data,))

    # -- runs -------------------------------------------------------------------------------------

    def patches(self, draws: ModelDraws) -> list[tuple[Any, str, Any]]:
        def randomise(thing: Any, value: Any = None) -> Any:
            return self.stage(thing, draws)(*(() if value is None else (value,)))

        return [(kind, "randomise", randomise) for kind in self._kinds.values() if kind and "randomise" in vars(kind)]


def _without_value(law: Callable[..., Any], *given: Any) -> Any:
    """The law of a mechanism that is called without a value, or with None."""
    return law(*given)
