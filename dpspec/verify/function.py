"""A plain function named on the command line, `module:name`, and how it is sampled.

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
from typing import Annotated, Any

import attrs

from dpspec.errors import DpspecError
from dpspec.params import Integer, Rational, Truth, define, did_you_mean, parameters
from dpspec.verify.sampled.calls import Function
from dpspec.verify.sampled.engine import DRAWS, ERROR


class FunctionError(DpspecError):
    """A plain function given as module:name cannot be had: no such module or name, or it takes other arguments."""

    code = "function"


@define
class Sampling:
    """How a plain function is sampled, where it cannot be enumerated.

    Args:
        seed: the seed of all draws; the same seed, the same verdict.
        error: the probability of refuting a true claim, at most.
        draws: how many times the function may be called.
        seconds: a limit on the time.
        bits: also look at which doubles can be reached.

    >>> Sampling(error="1e-6").options
    ['--seed', '0', '--error', '1/1000000']
    """

    seed: Annotated[int, Integer(low=0)] = 0
    error: Annotated[Fraction, Rational(low=0, high=1, open_low=True, open_high=True)] = Fraction(ERROR)
    draws: Annotated[int, Integer(low=1)] = DRAWS
    seconds: Annotated[Fraction, Rational(low=0, open_low=True)] | None = None
    bits: Annotated[bool, Truth()] = False

    @property
    def keywords(self) -> dict[str, Any]:
        """The keyword arguments of `verify_claim`."""
        return {p.name: getattr(self, p.name) for p in parameters(Sampling)}

    @property
    def options(self) -> list[str]:
        """The same on the command line; without what is so anyway, but always with the seed."""
        words: list[str] = []
        for p in parameters(Sampling):
            value = getattr(self, p.name)
            if value is True:
                words += [f"--{p.name}"]
            elif p.name == "seed" or value != p.default:
                words += [f"--{p.name}", str(value)]
        return words


@attrs.frozen(kw_only=True)
class NamedFunction:
    """A plain function with its name.

    Args:
        path: where it is, as `module:name`.
        call: the function `(dataset, numpy Generator) -> output`.
        sampling: how it is sampled.
    """

    path: str
    call: Function
    sampling: Sampling = attrs.field(factory=Sampling)


def load_function(path: str, sampling: Sampling | None = None) -> NamedFunction:
    """Import a function; the current directory comes before what is installed.

    Args:
        path: `module:name`, such as `survey:survey` for the function `survey` of survey.py.
        sampling: how it is sampled.

    Raises:
        FunctionError: it cannot be had, or does not take two arguments.

    >>> load_function("random:nothing")
    Traceback (most recent call last):
    ...
    dpspec.verify.function.FunctionError: function=random:nothing: random has no such name: write it as module:name
    """
    module, colon, name = path.partition(":")
    if not (module and colon and name):
        raise FunctionError("function", "must be written module:name", "such as survey:survey for survey.py", value=path)
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
        raise FunctionError("function", f"there is no module {problem.name}", advice, value=path) from None
    except (Exception, SystemExit) as problem:
        raise _broken(path, problem) from problem


def _broken(path: str, problem: BaseException) -> FunctionError:
    rule = f"its module cannot be imported: {type(problem).__name__}: {problem}"
    return FunctionError("function", rule, "mend it so that `import` works", value=path)


def _check_arguments(call: Any, path: str) -> None:
    if not callable(call):
        raise FunctionError("function", "is no function", "name one of two arguments: a dataset and a generator", value=path)
    try:
        inspect.signature(call).bind("dataset", "generator")
    except TypeError as problem:
        rule = f"cannot be called with a dataset and a numpy Generator: {problem}"
        raise FunctionError("function", rule, "give it two arguments", value=path) from None
    except ValueError:  # a function of an extension module does not say what it takes
        return
