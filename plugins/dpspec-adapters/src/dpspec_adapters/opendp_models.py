"""Models of OpenDP: measurements are read as the chain of constructors that made them.

OpenDP keeps with each object the constructor that made it and its arguments, other objects among them. A measurement is read as
these constructors, each by its law. That they made this very object is checked by making it again: domains, metrics, measures
and maps of both have to be the same.
"""

from __future__ import annotations

import re
import sys
import types
from collections.abc import Callable, Hashable
from functools import partial
from typing import Any, ClassVar, cast

from dpspec.plugin import ModelledCall
from dpspec_adapters import opendp_laws as laws
from dpspec_adapters.models import ON_DATA, UNTESTED, Library, Model, ModelDraws, is_plain

_SOURCE = "documentation of OpenDP 0.16"
_WHOLE_LAW = (
    "noise on whole numbers with probabilities proportional to {law}, added exactly; that the result stays within the type is "
    "post-processing, which is left out"
)
_REAL_LAW = (
    "on doubles the law of {law} noise on real numbers; the library draws the noise on multiples of 2^-1074, adds it exactly and "
    "rounds to the nearest double, so that likelihood ratios differ by a factor of e^(2^-1000) at most for scales from 2^-60 on"
)
_LAPLACE = f"{_WHOLE_LAW.format(law='e^(-|k| / scale)')}; {_REAL_LAW.format(law='Laplace')}"
_GAUSSIAN = f"{_WHOLE_LAW.format(law='e^(-k^2 / (2 scale^2))')}; {_REAL_LAW.format(law='Gaussian')}"
_EXACT = "a function of the data, on numbers that are computed exactly"

_ENDS = {
    **{f"i{bits}": (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) for bits in (8, 16, 32, 64, 128)},
    **{f"u{bits}": (0, (1 << bits) - 1) for bits in (8, 16, 32, 64, 128)},
}
_KINDS = ("Measurement", "Transformation", "Function", "Domain", "Metric", "Measure", "_PartialConstructor")
_CALLED = ("Measurement", "Transformation", "Function")
_CONSTRUCTORS = ("opendp.domains", "opendp.metrics", "opendp.measures")
_MAKERS = ("opendp.measurements", "opendp.transformations", "opendp.combinators")


class OpenDP(Library):
    """Measurements and transformations of OpenDP, and what is chained of them."""

    name: ClassVar[str] = "opendp"
    versions: ClassVar[tuple[str, ...]] = ("0.16.",)
    modules: ClassVar[tuple[str, ...]] = (
        "opendp.mod", "opendp.core", "opendp.measurements", "opendp.transformations", "opendp.combinators", "opendp.domains",
        "opendp.metrics", "opendp.measures", "opendp._convert",
    )  # fmt: skip
    models: ClassVar[tuple[Model, ...]] = (
        Model(primitive="make_laplace", law=_LAPLACE, source=_SOURCE),
        Model(primitive="make_geometric", law=_WHOLE_LAW.format(law="e^(-|k| / scale)"), source=_SOURCE),
        Model(primitive="make_gaussian", law=_GAUSSIAN, source=_SOURCE),
        Model(
            primitive="make_noise",
            law=f"as `make_laplace`, or as `make_gaussian` for zCDP: {_LAPLACE}",
            source=_SOURCE,
            tested=UNTESTED,
        ),
        Model(primitive="make_randomized_response_bool", law="the truth with a probability, else its opposite", source=_SOURCE),
        Model(
            primitive="make_randomized_response",
            law="the truth with a probability, else one of the other categories, each equally often",
            source=_SOURCE,
        ),
        Model(
            primitive="make_noisy_max",
            law="the place of the largest number with exponential noise, or with Gumbel noise for zCDP",
            source="McKenna and Sheldon 2020; documentation of OpenDP 0.16",
        ),
        Model(
            primitive="make_report_noisy_max_gumbel",
            law="the place of the largest number with Gumbel noise",
            source="documentation of OpenDP 0.16",
            tested=UNTESTED,
        ),
        *(
            Model(primitive=name, law=_EXACT, source=_SOURCE, tested=ON_DATA)
            for name in ("make_count", "make_count_by_categories", "make_clamp", "make_sum", "make_mean", "make_is_equal")
        ),
    )

    def __init__(self, *, reads: bool = True) -> None:
        super().__init__(reads=reads)
        if not reads:
            _look_up_symbols()
        module = sys.modules["opendp.mod"]
        self._kinds = tuple(kind for name in _KINDS if isinstance(kind := vars(module).get(name), type))
        self._known: dict[int, tuple[Any, bool]] = {}

    # -- objects ----------------------------------------------------------------------------------

    def owns(self, thing: Any) -> bool:
        return issubclass(type(thing), self._kinds)

    def _is_own(self, thing: Any) -> bool:
        """Whether something is an object of a class of the library itself."""
        return type(thing) in self._kinds or (self.owns(thing) and type(thing).__module__ == "opendp.mod")

    def attribute(self, owner: Any, name: str, draws: Any) -> Any:
        if not self._is_own(owner) or name not in ("invoke", "map") or name in vars(owner):
            self.refuse(f"{type(owner).__name__}.{name} has no model")
        return getattr(owner, name)

    def printed(self, value: Any) -> Hashable:
        return self._written(value)

    def _written(self, value: Any) -> Hashable:
        """The constructors that made an object."""
        if not self.owns(value):
            if type(value) in (list, tuple):
                return tuple(map(self._written, value))
            return repr(value) if is_plain(value) else id(value)
        made = vars(value).get("__opendp_dict__")
        if not made or not self._is_own(value):
            return id(value)
        kept = {key: one for key, one in vars(value).items() if key != "__opendp_dict__" and type(value).__name__ in _CALLED}
        arguments = [(key, self._written(one)) for key, one in made.get("__kwargs__", {}).items()]
        return id(value), made.get("__function__"), tuple(arguments), tuple(sorted(kept))

    # -- calls ------------------------------------------------------------------------------------

    def called(self, function: Any, args: tuple[Any, ...], options: dict[str, Any], draws: Any) -> ModelledCall | None:
        if type(function) is types.MethodType and self.owns(function.__self__):
            name = function.__func__.__name__
            if name == "map" and all(map(is_plain, args)) and not options:
                return ModelledCall(None, value=function(*args))
            if name != "invoke":
                self.refuse(f"{type(function.__self__).__name__}.{name} has no model")
            function = function.__self__
        if self.owns(function):
            if len(args) != 1 or options:
                self.refuse("a measurement is called with its data")
            return ModelledCall(self.stage(function, draws), args)
        if type(function) is types.FunctionType and str(function.__module__).partition(".")[0] == "opendp":
            return self._constructed(function, function.__module__, args, options)
        return None

    def _constructed(self, function: Any, module: str, args: tuple[Any, ...], options: dict[str, Any]) -> ModelledCall:
        """An object that is made while code is read."""
        name = function.__name__
        is_maker = module in _MAKERS and name.startswith(("make_", "then_"))
        if not (is_maker or module in _CONSTRUCTORS) or id(vars(sys.modules[module]).get(name)) != id(function):
            self.refuse(f"{module}.{name} has no model")
        if not all(map(self._is_fixed, (*args, *options.values()))):
            self.refuse(f"{name} is given numbers that the data or draws decide, or a function of yours")
        return ModelledCall(None, value=function(*args, **options))

    def _is_fixed(self, value: Any) -> bool:
        if type(value) in (list, tuple):
            return all(map(self._is_fixed, value))
        return self._is_own(value) or is_plain(value)

    # -- what an object was made of ---------------------------------------------------------------

    def stage(self, thing: Any, draws: Any) -> Callable[[Any], Any]:
        """The law of a measurement or a transformation, as a function of its data.

        Raises:
            NotEnumerableError: some constructor has no model.
        """
        if not self._is_own(thing) or type(thing).__name__ not in _CALLED:
            self.refuse(f"an object of {type(thing).__module__}.{type(thing).__qualname__} is not one of the library")
        if self.reads and not self._is_as_made(thing):
            self.refuse("a measurement is not what its record of constructors says")
        return self._stage(thing, draws)

    def _is_as_made(self, thing: Any) -> bool:
        if id(thing) not in self._known or self._known[id(thing)][0] is not thing:
            self._known[id(thing)] = thing, _is_same(thing, self._made_again(thing))
        return self._known[id(thing)][1]

    def _made_again(self, thing: Any) -> Any:
        """An object as its record of constructors says."""
        if type(thing) in (list, tuple):
            return type(thing)(map(self._made_again, thing))
        made = vars(thing).get("__opendp_dict__") if self.owns(thing) else None
        if not made:
            return thing
        module = sys.modules.get(f"opendp.{made['__module__']}")
        maker = vars(module).get(made["__function__"]) if module is not None else None
        if type(maker) is not types.FunctionType and not hasattr(maker, "__wrapped__"):
            self.refuse(f"{made['__function__']} has no model")
        return cast("Any", maker)(**{key: self._made_again(one) for key, one in made.get("__kwargs__", {}).items()})

    def _stage(self, thing: Any, draws: Any) -> Callable[[Any], Any]:  # noqa: PLR0911 (one line per constructor)
        made = vars(thing).get("__opendp_dict__") or {}
        name, given = str(made.get("__function__")), made.get("__kwargs__", {})
        if name in ("make_chain_mt", "make_chain_tt"):
            after = given["measurement1" if name == "make_chain_mt" else "transformation1"]
            return partial(laws.chained, self._stage(given["transformation0"], draws), self._stage(after, draws))
        if name == "make_chain_pm":
            return partial(laws.chained, self._stage(given["measurement0"], draws), self._stage(given["postprocess1"], draws))
        if name == "make_composition":
            return partial(laws.composed, tuple(self._stage(one, draws) for one in given["measurements"]))
        if name in ("make_pureDP_to_zCDP", "make_zCDP_to_approxDP", "make_fix_delta", "make_approximate"):
            return self._stage(given["measurement"], draws)
        if name in ("make_metric_bounded", "make_metric_unbounded", "make_unordered", "make_identity"):
            return laws.same
        if name == "new_function":
            return given["function"]  # type: ignore[no-any-return]  # of the user's, which is read in its turn
        make: Any = getattr(self, f"_{name}", None)
        if make is None:
            self.refuse(f"{name} has no model")
        self.using(name)
        return cast("Callable[[Any], Any]", make(given, draws))

    def _added(self, given: dict[str, Any], draws: Any, law: str) -> Callable[[Any], Any]:
        """Noise on what a domain holds."""
        kind, is_list = _carried(given["input_domain"])
        if given.get("k") is not None:
            self.refuse("noise on a stated grid (k) has no model")
        if kind in _ENDS:
            check = partial(laws.whole_numbers if is_list else laws.whole_number, *_ENDS[kind], draws)
            find = f"{law}_on_whole{'s' if is_list else ''}"
        elif kind == "f64":
            check = partial(laws.real_numbers if is_list else laws.real_number, draws)
            find = f"{law}_on_real{'s' if is_list else ''}"
        else:
            self.refuse(f"noise on numbers of type {kind} has no model")
        return partial(getattr(laws, find), given["scale"], check, draws)

    def _make_laplace(self, given: dict[str, Any], draws: Any) -> Callable[[Any], Any]:
        return self._added(given, draws, "laplace")

    def _make_gaussian(self, given: dict[str, Any], draws: Any) -> Callable[[Any], Any]:
        return self._added(given, draws, "gaussian")

    def _make_geometric(self, given: dict[str, Any], draws: Any) -> Callable[[Any], Any]:
        if given.get("bounds") is not None:
            self.refuse("make_geometric with bounds has no model")
        return self._added(given, draws, "laplace")

    def _make_noise(self, given: dict[str, Any], draws: Any) -> Callable[[Any], Any]:
        return self._added(given, draws, self._by_measure(given, "laplace", "gaussian"))

    def _by_measure(self, given: dict[str, Any], pure: str, concentrated: str) -> str:
        known = {"MaxDivergence": pure, "ZeroConcentratedDivergence": concentrated}
        measure = str(given["output_measure"])
        if measure not in known:
            self.refuse(f"the measure {measure} has no model")
        return known[measure]

    def _make_randomized_response_bool(self, given: dict[str, Any], draws: Any) -> Callable[[Any], Any]:
        return partial(laws.randomized_bit, given["prob"], draws)

    def _make_randomized_response(self, given: dict[str, Any], draws: Any) -> Callable[[Any], Any]:
        return partial(laws.randomized_category, tuple(given["categories"]), given["prob"], draws)

    def _make_noisy_max(self, given: dict[str, Any], draws: Any) -> Callable[[Any], Any]:
        law = getattr(laws, self._by_measure(given, "largest_with_exponential", "largest_with_gumbel"))
        return self._largest(given, draws, law, negate=bool(given["negate"]))

    def _make_report_noisy_max_gumbel(self, given: dict[str, Any], draws: Any) -> Callable[[Any], Any]:
        return self._largest(given, draws, laws.largest_with_gumbel, negate=given["optimize"] != "max")

    def _largest(self, given: dict[str, Any], draws: Any, law: Callable[..., Any], *, negate: bool) -> Callable[[Any], Any]:
        kind, is_list = _carried(given["input_domain"])
        if not is_list or kind not in _ENDS:
            self.refuse(f"the largest of numbers of type {kind} has no model")
        found: Callable[[Any], Any] = partial(law, given["scale"], draws)
        found = partial(laws.chained, laws.negated, found) if negate else found
        return partial(laws.chained, partial(laws.whole_numbers, *_ENDS[kind], draws), found)

    def _make_count(self, given: dict[str, Any], draws: Any) -> Callable[[Any], Any]:
        check = self._listed(_carried(given["input_domain"])[0], draws)
        return partial(laws.chained, check, partial(laws.count, self._ends(str(given["TO"]))[1], draws))

    def _make_count_by_categories(self, given: dict[str, Any], draws: Any) -> Callable[[Any], Any]:
        kind = re.search(r"<(\w+)>|\(T?=?(\w+)\)", str(given["MO"]))
        high = self._ends("" if kind is None else kind[1] or kind[2])[1]
        check = self._listed(_carried(given["input_domain"])[0], draws)
        counts = partial(laws.count_by_categories, tuple(given["categories"]), bool(given["null_category"]), high, draws)
        return partial(laws.chained, check, counts)

    def _make_clamp(self, given: dict[str, Any], draws: Any) -> Callable[[Any], Any]:
        kind, is_list = _carried(given["input_domain"])
        if not is_list:
            self.refuse("make_clamp of a single number has no model")
        check = self._listed(kind, draws)
        return partial(laws.chained, check, partial(laws.clamp, *given["bounds"]))

    def _listed(self, kind: str, draws: Any) -> Callable[[Any], Any]:
        """A list of numbers of a type, as the library takes it."""
        if kind in ("bool", "String"):
            return partial(laws.entries, bool if kind == "bool" else str, draws)
        return partial(laws.real_numbers, draws) if kind == "f64" else partial(laws.whole_numbers, *self._ends(kind), draws)

    def _make_sum(self, given: dict[str, Any], draws: Any) -> Callable[[Any], Any]:
        kind, _ = _carried(given["input_domain"])
        if kind == "f64":
            found = partial(laws.sum_of_real, self._size(given), draws)
        else:
            found = partial(laws.sum_of_whole, *self._ends(kind), draws)
        return partial(laws.chained, self._listed(kind, draws), found)

    def _make_mean(self, given: dict[str, Any], draws: Any) -> Callable[[Any], Any]:
        kind, _ = _carried(given["input_domain"])
        if kind != "f64":
            self.refuse(f"the mean of numbers of type {kind} has no model")
        return partial(laws.chained, self._listed(kind, draws), partial(laws.mean_of_real, self._size(given), draws))

    def _size(self, given: dict[str, Any]) -> int:
        """How many entries a list has, as its domain says."""
        size = re.search(r"size=(\d+)", str(given["input_domain"]))
        if size is None:
            self.refuse("sums and means of doubles have a model for lists of a stated size")
        return int(size[1])

    def _make_is_equal(self, given: dict[str, Any], draws: Any) -> Callable[[Any], Any]:
        check = self._listed(_carried(given["input_domain"])[0], draws)
        return partial(laws.chained, check, partial(laws.is_equal, given["value"]))

    def _ends(self, kind: str) -> tuple[int, int]:
        if kind not in _ENDS:
            self.refuse(f"numbers of type {kind} have no model")
        return _ENDS[kind]

    # -- runs -------------------------------------------------------------------------------------

    def patches(self, draws: ModelDraws) -> list[tuple[Any, str, Any]]:
        measurement = sys.modules["opendp.mod"].Measurement

        def invoke(thing: Any, arg: Any) -> Any:
            return self.stage(thing, draws)(arg)

        return [(measurement, "__call__", invoke), (measurement, "invoke", invoke)]


def _look_up_symbols() -> None:
    """Look up the native functions of all constructors, once for the process: any other look-up is what the user's code does."""
    library = sys.modules["opendp._lib"].lib
    for module in (*_MAKERS, *_CONSTRUCTORS, "opendp.core", "opendp.data"):
        for name, held in vars(sys.modules.get(module, sys)).items():
            if type(held) is types.FunctionType and held.__module__ == module:
                getattr(library, f"{module.replace('.', '_')}__{name}", None)


def _carried(domain: Any) -> tuple[str, bool]:
    """The type of the numbers of a domain, and whether it is one of lists."""
    kind = str(domain.carrier_type)
    inside = re.fullmatch(r"Vec<(\w+)>", kind)
    return (inside[1], True) if inside else (kind, False)


def _is_same(thing: Any, again: Any) -> bool:
    """Whether two measurements or transformations say the same of themselves."""
    if type(thing).__name__ == "Function":
        return True
    parts = ("input_domain", "input_metric", "output_measure", "output_domain", "output_metric")
    if any(str(getattr(thing, part, "")) != str(getattr(again, part, "")) for part in parts):
        return False
    answers = [[_mapped(one, by) for by in (1, 2, 1.0, 0.5, (1, 1))] for one in (thing, again)]
    return answers[0] == answers[1] and any(not isinstance(answer, str) for answer in answers[0])


def _mapped(thing: Any, by: Any) -> Any:
    try:
        return thing.map(by)
    except Exception as problem:  # an input distance of another type
        return type(problem).__name__
