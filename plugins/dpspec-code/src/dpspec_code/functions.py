"""Plain functions: loaded from a file by name, and called with datasets and randomness of the types that they expect.

A plain function is named on the command line, `module:name`.
Specification files hold no import paths: what code is run is said by the person who runs it.
"""

from __future__ import annotations

import importlib
import inspect
import operator
import os
import sys
from fractions import Fraction
from types import ModuleType
from typing import Any, cast

from dpspec import installed
from dpspec.plugin import AdaptedFunction, DatasetAdapter, DatasetSpace, GeneratorAdapter, Registry
from dpspec.plugin.judges import (
    FunctionError,
    NamedFunction,
    PlainFunction,
    Sampling,
    WantedShapeError,
    annotated,
    did_you_mean,
    parameters_of,
    parts_of,
    presented,
    text_of,
)


def load_function(path: str, sampling: Sampling | None = None) -> NamedFunction:
    """Import a function into this process; the current directory comes before what is installed.

    Args:
        path: `module:name`, such as `survey:survey` for the function `survey` of survey.py.
        sampling: how it is sampled.

    Raises:
        FunctionError: it cannot be had, or takes neither a dataset and a generator nor a dataset.

    >>> load_function("random:nothing")
    Traceback (most recent call last):
    ...
    dpspec.verifier.functions.FunctionError: function=random:nothing: random has no such name: write it as module:name
    """
    module, name = parts_of(path)
    found = _imported(module, path)
    try:
        call = operator.attrgetter(name)(found)
    except AttributeError:
        known = [key for key, value in vars(found).items() if inspect.isfunction(value) and not key.startswith("_")]
        advice = did_you_mean(name, known) or "write it as module:name"
        raise FunctionError("function", f"{module} has no such name", advice, value=path) from None
    _check_arguments(call, path)
    return NamedFunction(path=path, call=call, sampling=sampling or Sampling())


def _imported(module: str, path: str) -> ModuleType:
    here = os.getcwd()
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as problem:
        if problem.name is None or not f"{module}.".startswith(f"{problem.name}."):
            raise _broken(path, problem) from problem
        advice = f"run dpspec in the folder of {problem.name}.py, or install it"
        if module.endswith(".py"):
            stem = module.removesuffix(".py").rpartition("/")[2]
            advice = f"name the module, not its file: {stem}:{path.partition(':')[2]}, in the folder of {stem}.py"
        raise FunctionError("function", f"there is no module {problem.name}", advice, value=path) from None
    except Exception as problem:
        raise _broken(path, problem) from problem
    except BaseException as problem:  # the module's own SystemExit or KeyboardInterrupt, for an interruption is a signal
        raise _broken(path, problem) from None


def _broken(path: str, problem: BaseException) -> FunctionError:
    return cannot_import(path, f"{type(problem).__name__}: {text_of(problem)}".rstrip(": "))


def cannot_import(path: str, why: str) -> FunctionError:
    """The error for a module that cannot be imported."""
    return FunctionError("function", f"its module cannot be imported: {why}", "fix it so that `import` works", value=path)


def _check_arguments(call: Any, path: str) -> None:
    if not callable(call):
        raise FunctionError("function", "is no function", "name one of two arguments: a dataset and a generator", value=path)
    _arguments(call, path)


def adapted(
    function: PlainFunction,
    space: DatasetSpace,
    *,
    dataset: str | None = None,
    generator: str | None = None,
    registry: Registry | None = None,
) -> PlainFunction:
    """The function as one of a dataset as it is and a numpy Generator; itself where that is what it takes.

    By default the annotations decide: that of the first parameter the type of the dataset, that of the second the source of
    randomness. A function of one parameter draws from the global generators (`system`).

    Args:
        function: a function of a dataset, and of a generator where it takes one.
        space: whose datasets it is handed.
        dataset, generator: names of adapters.
        registry: where they are looked up; without it, among all installed plugins.

    Raises:
        UnknownNameError: no such adapter. FunctionError: it takes other arguments.
        WantedShapeError: its annotation requires a type that datasets of the space do not have, and that no adapter makes.

    >>> from dpspec.plugin import BitVectors
    >>> def survey(answers: list, rng): ...
    >>> adapted(survey, BitVectors(length=2)) is survey
    True
    """
    if isinstance(function, AdaptedFunction):
        return function
    arguments = _arguments(function, name_of(function))
    wanted = [annotated(parameter, function) for parameter in arguments]
    wanted += [("", None)] * (2 - len(wanted))
    takes = 1 if len(arguments) == 1 else 2
    if dataset is None and generator is None and takes == 2 and not any(text for text, _ in wanted):
        return function
    known = registry or installed().registry
    if dataset is None:
        form = _for_annotation(known, "adapters", wanted[0][0])
        if form is None or form.name == "list":
            form = None
            _check_shape(function, wanted[0], space, known)
    else:
        form = known.get("adapters", dataset)()
    if generator is None:
        source = _for_annotation(known, "generators", wanted[1][0]) if takes == 2 else known.get("generators", "system")()
        source = source or known.get("generators", "numpy")()
    else:
        source = known.get("generators", generator)()
    if takes == 1 and source.is_handed:
        advice = f"give it a second argument, or leave out generator={source.name}"
        raise FunctionError("function", "takes no generator", advice, value=name_of(function))
    if form is None and source.name == "numpy":
        return function
    form, source = cast("DatasetAdapter | None", form), cast("GeneratorAdapter", source)
    return AdaptedFunction(function, space, form, source, takes=takes)


def name_of(function: PlainFunction) -> str:
    """What a function is called."""
    return str(getattr(function, "__qualname__", getattr(function, "__name__", type(function).__name__)))


def _arguments(function: Any, name: object) -> tuple[inspect.Parameter, ...]:
    """The one or two parameters by which the function is called; none where it does not say.

    Raises:
        FunctionError: it cannot be called so.
    """
    found = parameters_of(function)
    if found is None:
        return ()
    signature = inspect.signature(function)
    problem: TypeError | None = None
    for given in (("dataset", "generator"), ("dataset",)):
        try:
            signature.bind(*given)
        except TypeError as raised:
            problem = problem or raised
            continue
        if len(given) == 1 or _is_generator(found[: len(given)]):
            return found[: len(given)]
    rule = f"cannot be called with a dataset and a generator, nor with a dataset alone: {problem}"
    raise FunctionError("function", rule, "give it two arguments, or one", value=name)


def _is_generator(parameters: tuple[inspect.Parameter, ...]) -> bool:
    """Whether the second parameter is for a generator: what has a number or a text as default is not."""
    second = parameters[-1]
    return second.default is second.empty or not isinstance(second.default, (bool, int, float, str, tuple, Fraction))


def _for_annotation(registry: Registry, kind: str, text: str) -> Any:
    """The adapter that an annotation requires; None where none does."""
    found = (cls for cls in registry.classes(kind) if text and text in cls.annotations)
    return next((cls() for cls in found), None)


def _check_shape(function: PlainFunction, wanted: tuple[str, Any], space: DatasetSpace, registry: Registry) -> None:
    """Refuse a function that is annotated with a class of which datasets as they are handed over are no objects."""
    text, cls = wanted
    if cls is None or cls is Any or getattr(cls, "_is_protocol", False) or cls.__module__ in ("typing", "collections.abc"):
        return
    if issubclass(list, cls) or cls is tuple:  # a dataset is a tuple, of which code is handed a list that it may change
        return
    first = next(iter(space.datasets()), None)
    if first is None or isinstance(presented(first), cls):
        return
    shown = presented(first)
    forms = ", ".join(registry.names("adapters"))
    rule = f"wants a {text}, and a dataset of {space.name} is a {type(shown).__name__} such as {shown!r}"
    raise WantedShapeError(
        "function", rule, f"choose an adapter (--dataset, dataset=): {forms}; or annotate it so", value=name_of(function)
    )
