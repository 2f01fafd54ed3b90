"""Run-time checks that rewritten code calls before every step: each returns what the code itself would compute, or ends the run.

Three kinds of code are distinguished. *Code of the user's* is rewritten in its turn when it is called for the first time, and its
global names, defaults, shared variables and class attributes become *roots*: whatever they hold must be the same
after each run as before the first, or the run is no function of its dataset and its choices. *Known callables*
(see there) are called when their arguments are such that the answer depends on nothing else: no text that
holds an address, no set whose order changes from process to process, no symbolic draw that a C function would look through.
*Everything else* is refused.
"""

from __future__ import annotations

import builtins
import collections
import dataclasses
import enum
import functools
import io
import math
import operator
import random
import re
import string
import sys
import types
import typing
from collections.abc import Callable, Hashable, Iterator
from typing import Any, NoReturn

import numpy as np

from dpspec.plugin import LibraryModels
from dpspec.plugin.judges import Cut, NotEnumerableError, steady
from dpspec_code.automatic import generator as known
from dpspec_code.automatic.arrays import DrawnItem, answered, holds_drawn, plain_like
from dpspec_code.automatic.entry_arrays import (
    GrownCounts,
    WholeList,
    WholeListMethod,
    WholeListWalk,
    WholeRowsMethod,
    attribute_of,
    of_listed,
    parts_of,
    source_of,
)
from dpspec_code.automatic.entry_places import SYMBOLS, EntryUniforms, Places
from dpspec_code.automatic.entry_rows import WholeRows
from dpspec_code.automatic.generator import MODELLED, EnumeratingGenerator
from dpspec_code.automatic.inversion import OF_UNIFORM, of_uniform
from dpspec_code.automatic.loops import LoopEntry, state_of
from dpspec_code.automatic.noise import NoisyNumber, largest_of_counts, one_by_one
from dpspec_code.automatic.path import PREFIX, RandomPath, Stop, Uniform, changed
from dpspec_code.automatic.rewriting import all_codes, global_names, rewritten
from dpspec_code.automatic.roots import (
    GENERATORS,
    LIBRARIES,
    METACLASSES,
    METHOD_KINDS,
    NUMBERS,
    PLACES,
    Roots,
    Unknown,
    is_function_of_library,
    is_generated,
    is_library,
    is_of_library,
)
from dpspec_code.automatic.spellings import number_type
from dpspec_code.automatic.tallies import LoopSteps, Unwritten, place_of, unwritten

_builtins = operator.attrgetter("__builtins__")  # what a function takes for `builtins`; the type has no such name for mypy
_HARMLESS = (int, float, str, bool, type(None), np.int64, np.float64, np.bool_)
_STEPS_OF_PYTHON = frozenset(map(id, (int, math.floor, math.trunc)))
"""Which a drawn number answers, and not a uniform number alone."""
_OUTSIDE = "is not known to depend on its arguments alone"
_ADVICE = "use plain Python, math and numpy, or have it sampled"


class Questions:
    """Answers the questions of one enumeration.

    Args:
        state: makes the end of a run of the state of a redraw loop.
        models: of libraries that the code calls.
    """

    def __init__(self, state: Callable[[Hashable], Hashable], models: LibraryModels | None = None) -> None:
        self._models, self._draws = models, None
        self.path = RandomPath(forced=())
        self.printed: list[str] = []
        self.symbolic = False
        self._state = state
        self._exchanged: list[tuple[types.FunctionType, types.CodeType]] = []
        self._codes: dict[int, types.CodeType] = {}
        self._vetted: dict[type, None] = {}
        self._roots = Roots(self._class, self._print_of)
        self._before: dict[str, Any] = {}
        self._ends_in: list[types.FunctionType] = []
        self._last_call: types.FrameType | types.FunctionType | None = None

    def __enter__(self) -> Questions:
        for name, answer in self._answers().items():
            self._before[PREFIX + name] = vars(builtins).get(PREFIX + name)
            setattr(builtins, PREFIX + name, answer)
        return self

    def __exit__(self, *_: object) -> None:
        for name, answer in self._before.items():
            if answer is None:
                delattr(builtins, name)
            else:
                setattr(builtins, name, answer)
        for function, code in reversed(self._exchanged):
            function.__code__ = code

    def _answers(self) -> dict[str, Any]:
        return {
            "call": self.call, "tail": self.tail, "get": self.get, "each": self.each, "pairs": self.pairs, "shown": self.shown,
            "matched": self.matched, "modulo": self.modulo, "product": self.product, "places": self.places,
            "enter": self.enter, "item": self.item, "owner": self.owner, "callable": self.allowed, "context": self.context,
            "same": self.same, "refuse": self.refuse, "import": self.imported, "raised": self.raised, "loop": self.loop,
            "round": self.round, "listed": self.listed, "locals": builtins.locals, "operand": self.operand,
            "among": self.among, "read": self.read, "shares": self.shares,
            **LoopSteps(self).answers(),
        }  # fmt: skip

    # -- refusing -----------------------------------------------------------------------------------

    def refuse(self, what: str) -> NoReturn:
        self._stop("sampler", what)

    def _stop(self, subject: str, rule: str) -> NoReturn:
        self.path.refuse(NotEnumerableError(subject, rule, _ADVICE))

    def enter(self) -> None:
        """Called where code could continue after an exception: the exception that ended the run is raised again."""
        problem = sys.exc_info()[1]
        if problem is not None:
            self.caught(problem)
        if type(self._last_call) is types.FunctionType and sys._getframe(1).f_code is self._last_call.__code__:
            self._last_call = sys._getframe(1)
        self.path.going()

    def caught(self, problem: BaseException) -> None:
        """End the run when an exception is ours, or says more about the enumeration than about the code."""
        if isinstance(problem, Stop):
            self.path.end(problem)
        if isinstance(problem, Cut):
            self.refuse("did not end in time")
        if self.path.counting:
            self.refuse("raised an error for some entries of the dataset, which depends on more than counts")
        if isinstance(problem, (RecursionError, MemoryError, KeyboardInterrupt)):
            self.refuse(f"raised {type(problem).__name__}, which depends on the machine")
        odd = (TypeError, AttributeError, ValueError, ArithmeticError) if self.symbolic else (TypeError, AttributeError)
        if (self.path.draws or self.symbolic) and isinstance(problem, odd):
            self.refuse("raised where random() was a symbol and not a float, so the error may be ours")
        if any(name in str(problem.args) for name in ("EnumeratingGenerator", "Uniform'", "NoisyNumber'", PREFIX)):
            self.refuse("raised an error that names what stands in for the generator")

    # -- calls --------------------------------------------------------------------------------------

    def call(  # noqa: PLR0911, PLR0912, PLR0915 (one question after the other)
        self, function: Any, /, *args: Any, **options: Any
    ) -> Any:
        """function(*args, **options)."""
        if function is print and not self.path.counting:
            return self._print(args, options)
        if function is getattr or function is hasattr:
            return self._looked_up(function, args, options)
        if function is np.random.default_rng and len(args) == 1 and type(args[0]) is EnumeratingGenerator:
            return args[0]
        if self.path.elsewhere:
            function = self._drawing(function)
            if function is np.random.default_rng and not options and args in ((), (None,)):
                return self.path.elsewhere[""]
        shape = _unwritten_shape(function, args, options) if function is np.empty or function is np.empty_like else None
        if shape is not None:
            return unwritten(self.path, shape)
        if type(function) is functools.partial:  # its content is checked, wherever it was created
            return self.call(function.func, *function.args, *args, **{**function.keywords, **options})
        if function is isinstance or function is issubclass:
            self._classes(args[1:], of_generator=type(args[0]) is EnumeratingGenerator)
        of_generator = type(function) is types.MethodType and type(function.__self__) is EnumeratingGenerator
        if of_generator and function.__name__ in known.OF_MODELS and not self.path.counting:
            return function(*args, **options)
        modelled = self._modelled(lambda models: models.called(function, args, options, self._draws))
        if modelled is not None:
            if self.path.counting:
                self.refuse("calls a library while it sums up the dataset")
            return modelled.value if modelled.function is None else self.call(modelled.function, *modelled.arguments)
        if self.path.counting:
            for one in args:
                self._goes_on(one, _unheld().call)
            self._counted(function, args, options)
        found = self._walked(function, args, options)
        if found is not NotImplemented:
            return found
        if type(function) in (WholeListMethod, WholeRowsMethod, DrawnItem) or not callable(function) or self._follow(function):
            return function(*args, **options)
        name = getattr(function, "__name__", "")
        listed = of_listed(function, name, args, options)
        if listed is not NotImplemented:
            return listed
        drawn = of_uniform(function, args, options) if id(function) in OF_UNIFORM else NotImplemented
        drawn = self._of_drawn(function, name, args, options) if drawn is NotImplemented else drawn
        if drawn is not NotImplemented:
            return drawn
        if function is type and len(args) != 1:
            self.refuse("makes a class while it runs")
        if isinstance(function, np.ufunc) and options.keys() - {"axis", "dtype", "keepdims"}:
            self._stop(f"numpy.{name}", "with such options leaves memory unwritten or writes elsewhere")
        if any(type(given) is str and given == "empty" for given in (*args, *options.values())) and function is np.pad:
            self._stop("numpy.pad", "with such an option leaves memory unwritten")
        if name in ("clip", "outer") and "where" in options:
            self._stop(f"numpy.{name}", "with such options leaves memory unwritten")
        if name in ("format", "format_map"):
            self._template(function, args)
        if name in _WALKING_PARTS and not options:
            args = tuple(self.pairs(given) if _is_walked(given) else given for given in args)
        of_symbols = name == "astype" and _symbols(function.__self__)
        if of_symbols and (holds_drawn(function.__self__) or args not in ((int,), (np.int64,))):
            self._stop("ndarray.astype", "into a type that is no double and no integer of 64 bits, or with options")
        calling = id(function) in known.CALLING or name in ("sort", "partial")
        for given in (*args, *options.values()):
            if type(given) not in _HARMLESS:
                self._given(function, given, keyed=bool(options))
        if calling:
            args = tuple(self._guarded(given) for given in args)
            options = {key: self._guarded(given) for key, given in options.items()}
        return function(*args, **options)

    def _modelled(self, ask: Callable[[LibraryModels], Any]) -> Any:
        """What the models of libraries answer; None where there are none."""
        if self._models is None:
            return None
        try:
            return ask(self._models)
        except NotEnumerableError as problem:
            self.path.refuse(problem)

    def _print_of(self, value: Any) -> Any:
        """The print of an object of a library that is modelled, or for which something else draws; NotImplemented for others."""
        if self._distribution(value):
            return id(value)
        return NotImplemented if self._models is None else self._models.printed(value)

    def _distribution(self, value: Any) -> str:
        """The name by which a module of distributions holds an object in whose place something else draws; empty for others."""
        held = self.path.elsewhere.get(_DISTRIBUTIONS)
        if held is None or not type(value).__module__.startswith(_DISTRIBUTIONS):
            return ""
        names = (name for name in vars(type(held)) if not name.startswith("_")) if type(held) is not str else ()
        return next((name for name in names if getattr(sys.modules[_DISTRIBUTIONS], name, None) is value), "")

    def _drawing(self, function: Any) -> Any:
        """A function that draws from the generator of a whole module, or its replacement."""
        owner = getattr(function, "__self__", None) if type(function) in (types.MethodType, types.BuiltinFunctionType) else None
        module = next((module for module, held in _GLOBAL_GENERATORS.items() if owner is held), None)
        return function if module is None else self._standing_in(module, function.__name__)

    def _standing_in(self, module: str, name: str) -> Any:
        held = self.path.elsewhere.get(module)
        if type(held) is str:
            self._stop(f"{module}.{name}", held)
        if name.startswith("_") or name not in vars(type(held)):
            self._stop(f"{module}.{name}", _OUTSIDE)
        return self.get(held, name)

    def tail(self, function: Any, /, *args: Any, **options: Any) -> Any:
        """function(*args, **options), of which a call returns what it returns.

        Where nothing but the end of the run is left to be done outside, and the function is one that the run went through before,
        the law of what follows depends on the arguments alone, and on the variables around a function that is made in each run
        anew: the run ends in a state, as at the head of a loop.
        """
        if type(function) is not types.FunctionType or self._last_call is not sys._getframe(1):
            return self.call(function, *args, **options)
        path = self.path
        if any(function is one for one in self._ends_in) and len(path.taken) > path.start and not path.conditions:
            state = state_of((function, args, tuple(sorted(options.items()))))
            if state is not None and not self.printed and self._roots.unchanged():
                path.end(Stop(state=self._state(state)))
        self._ends_in.append(function)
        self._last_call = function
        return self.call(function, *args, **options)

    def _best(self, args: tuple[Any, ...], key: Any, *, least: bool) -> Any:
        """max or min of several values, where what is compared is drawn: one choice of the place, and not one after the other."""
        values = args[0] if len(args) == 1 else args
        chosen = [*values] if type(values) in _LISTED else []
        if not chosen or (key is None and not any(type(one) is NoisyNumber for one in chosen)):
            return NotImplemented
        known = largest_of_counts(chosen, least=least) if key is None else None
        if known is not None:
            return known
        keys = chosen if key is None else [self.call(key, one) for one in chosen]
        drawn = [one for one in keys if type(one) is NoisyNumber]
        if len(drawn) == len(keys) > 1 and all(isinstance(one.sample, float) for one in drawn):
            return chosen[drawn[0].best_of(drawn, least=least)]
        return chosen[one_by_one(keys, least=least)]

    def _of_drawn(self, function: Any, name: str, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """What a known callable does with drawn numbers, where that is modelled."""
        owner = getattr(function, "__self__", None)
        if type(owner) is list and name == "index" and len(args) == 1 and not options and holds_drawn(owner):
            found = place_of(owner, args[0])
            return NotImplemented if found is None else found
        if type(owner) is EnumeratingGenerator and name == "choice" and holds_drawn(options.get("p", args[3:4])):
            return function(*args, **options)
        if type(owner) is EnumeratingGenerator and name in known.LOCATED:
            return function(*args, **options) if _is_located(args, options) else NotImplemented
        of_array = type(owner) is np.ndarray and owner.dtype.hasobject and holds_drawn(owner)
        given = (owner, *args) if of_array else args
        if id(function) in known.OF_SYMBOLS - _STEPS_OF_PYTHON:
            return NotImplemented
        if not any(map(holds_drawn, given)):
            return NotImplemented
        return answered(function, name, given, options)

    def _counted(self, function: Any, args: tuple[Any, ...], options: dict[str, Any]) -> None:
        """Called while entries of a dataset are summed: nothing that outlives the entry may change."""
        plain = not options and not any(map(callable, args))
        of_text = type(getattr(function, "__self__", None)) is str
        if of_text and any(isinstance(one, collections.defaultdict) for one in args):
            self.refuse("looks up keys of a defaultdict in a text while it sums up the dataset")
        if plain and (id(function) in known.PURE or (type(function) is type and function in _LAZY)) and len(args) <= 3:
            return
        if plain and isinstance(function, np.ufunc) and len(args) == function.nin:
            return
        if options.keys() <= {"axis", "dtype", "ord", "keepdims"} and _makes_of_row(function, len(args)):
            return
        if plain and _asks_constant(function):
            return
        if (_is_random(function) or self._stands_in_for_random(function)) and not args and not options:
            return
        if plain and _asks_counter(function):
            return
        if type(function) is not types.FunctionType:
            self.refuse(f"calls {getattr(function, '__name__', 'something')} while it sums up the dataset")

    def _stands_in_for_random(self, function: Any) -> bool:
        """Whether it is the replacement of `random.random` or `numpy.random.random`, which draws one uniform number."""
        owner = function.__self__ if type(function) is types.MethodType else None
        known = owner is not None and any(owner is one for one in self.path.elsewhere.values())
        return known and function.__name__ in ("random", "random_sample", "rand")

    def listed(self, generator: Any) -> Any:
        """A list comprehension."""
        walk = source_of(generator)
        if walk is not None:
            return parts_of(generator, walk)
        try:
            return list(generator)
        except RuntimeError as problem:
            if isinstance(problem.__cause__, StopIteration) and problem.args == ("generator raised StopIteration",):
                raise problem.__cause__ from None
            raise

    def judged(self, function: Any, *args: Any) -> Any:
        """function(*args), where the function is the one that is enumerated: what it holds itself is a root."""
        self._root(getattr(function, "__qualname__", type(function).__name__), function)
        self._draws = args[-1]
        self._ends_in, self._last_call = [function], function if type(function) is types.FunctionType else None
        return self.call(function, *args)

    def _walked(self, function: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """Builtins that walk through the dataset, or compare what is drawn; NotImplemented for other calls."""
        if (function is max or function is min) and options.keys() <= {"key"}:
            return self._best(args, options.get("key"), least=function is min)
        if (function is map or function is filter) and len(args) == 2 and not options and type(args[1]) in (WholeList, WholeRows):
            return self._mapped(function is filter, args[0], self.each(args[1]))
        if (function is list or function is any or function is all) and len(args) == 1 and not options:
            walk = source_of(args[0])
            if walk is not None:
                return self.listed(args[0]) if function is list else parts_of(args[0], walk).is_true_of(some=function is any)
        if self.path.whole is not None and _is_random(function) and self._is_of_each_entry(args, options):
            return EntryUniforms(self.path.whole)
        if args and type(args[0]) is WholeList and not self.path.counting:
            return self._of_whole(function, args, options)
        return NotImplemented

    @staticmethod
    def _of_whole(function: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """A builtin that is given the dataset, or what is made of it, as a whole; NotImplemented for others."""
        listed = args[0]
        if function is list and len(args) == 1:
            return listed.as_list()
        if function is sorted and len(args) == 1 and options.keys() <= {"reverse"}:
            return listed.in_order()
        if function is isinstance and len(args) == 2:
            return isinstance(np.empty(0) if listed.is_array else [], args[1])
        if function is enumerate and all(type(one) is int for one in (*args[1:], *options.values())):
            return Places(listed, with_entries=True)
        return NotImplemented

    def _is_of_each_entry(self, args: tuple[Any, ...], options: dict[str, Any]) -> bool:
        """Whether numbers are drawn of which there are as many as entries in the dataset."""
        if len(args) + len(options) != 1 or options.keys() - {"size"}:
            return False
        (shape,) = (*args, *options.values())
        size = shape[0] if type(shape) is tuple and len(shape) == 1 else shape
        return type(size) is NoisyNumber and self.path.whole.is_size(size)

    def places(self, counts: Any, sizes: Any, things: Any) -> Any:
        """range(len(things)), as `counts(sizes(things))` is written."""
        is_of_entries = counts is range and sizes is len and type(things) is WholeList
        if is_of_entries and (self.path.by_places or type(things.size()) is NoisyNumber):
            return Places(things, with_entries=False)
        return self.call(counts, self.call(sizes, things))

    def _mapped(self, chooses: bool, function: Any, listed: Any) -> Iterator[Any]:
        """map(function, listed), or filter: as the comprehension that does the same."""
        if not chooses:
            return (self.call(function, entry) for entry in listed)
        return (entry for entry in listed if (self.call(function, entry) if function is not None else entry))

    def allowed(self, function: Any) -> Any:
        """A callable that may be called later on: a decorator."""
        self._follow(function)
        return function

    def _guarded(self, given: Any) -> Any:
        """A known callable that is passed to another one is checked as well when it is called."""
        asks = callable(given) and (not self._follow(given) or type(given) is functools.partial)
        return functools.partial(self.call, given) if asks else given

    def _classes(self, given: Any, *, of_generator: bool) -> None:
        """The classes of isinstance and issubclass: whether something belongs to one may be decided by code of the user's."""
        for kind in given:
            if isinstance(kind, (tuple, types.UnionType)):
                self._classes(kind if isinstance(kind, tuple) else typing.get_args(kind), of_generator=of_generator)
            elif isinstance(kind, type) and type(kind) is not type:
                hooked = any("__subclasshook__" in vars(base) for base in kind.__mro__ if not is_of_library(base))
                if of_generator or type(kind) not in METACLASSES or hooked or getattr(kind, "_is_protocol", False):
                    self._stop(_word(kind), "decides by code of its own what belongs to it")

    def _template(self, function: Any, args: tuple[Any, ...]) -> None:
        """A text with fields; one that looks up an attribute of its arguments depends on more than their values."""
        text = getattr(function, "__self__", None)
        text = args[0] if not isinstance(text, str) and args else text
        if function is not format and isinstance(text, str):
            try:
                fields = [field for _, field, _, _ in string.Formatter().parse(text) if field]
            except ValueError:
                return
            if any("." in field for field in fields) or re.search(r"{[^{}]*:[^{}]*{[^{}]*\.", text):
                self.refuse("looks up attributes in a text that is filled in")

    def same(self, left: Any, right: Any) -> bool:
        """left is right: of numbers and texts, which of several equal ones it is says nothing about the value."""
        for one in (left, right):
            if type(one) in (Uniform, NoisyNumber, WholeList, WholeRows, *SYMBOLS) or (
                type(one) in NUMBERS and type(one) not in (bool, type(None), type(...))
            ):
                self.refuse("asks by `is` which of several equal numbers or texts one is")
            if isinstance(one, np.generic) and not isinstance(one, np.bool_):
                self.refuse("asks by `is` which of several equal numbers or texts one is")
        return left is right

    def _print(self, args: tuple[Any, ...], options: dict[str, Any]) -> None:
        if options.keys() - {"sep", "end", "flush"}:
            self.refuse("prints into a file")
        for given in args:
            self.shown(given)
        text = io.StringIO()
        print(*args, **{**options, "file": text})  # noqa: T201 (what the user's code prints)
        self.printed.append(text.getvalue())

    def _looked_up(self, function: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        if len(args) < 2 or type(args[1]) is not str or options:
            return function(*args, **options)
        if type(args[0]) is EnumeratingGenerator and args[1] in known.OF_MODELS:
            self._stop(f"rng.{args[1]}", _OUTSIDE)
        try:
            found = self.get(args[0], args[1])
        except AttributeError:
            return function(*args)
        return True if function is hasattr else found

    def _follow(self, function: Any) -> bool:  # noqa: PLR0911 (one line per kind of callable)
        """Whether a callable is code of the user's, which is rewritten then; refuses what is neither that nor known."""
        kind = type(function)
        if kind is types.FunctionType:
            if id(function.__code__) in self._codes:
                return True
            if id(function) in known.CALLABLES:
                return False
            self._read(function)
            return True
        if id(function) in known.CALLABLES or kind in (EnumeratingGenerator, Uniform, NoisyNumber):
            return False
        if kind is types.MethodType:
            return self._follow_method(function)
        if kind is types.BuiltinFunctionType or kind in METHOD_KINDS:
            self._builtin(function)
            return False
        if isinstance(function, type):
            self._class(function)
            return True
        if kind is functools.partial:
            for part in (function.func, *function.args, *function.keywords.values()):
                if callable(part):
                    self._follow(part)
            return True
        if hasattr(kind, "__call__") and kind not in known.TYPES:  # noqa: B004 (the type decides)
            self._class(kind)
            return True
        return False

    def _follow_method(self, method: types.MethodType) -> bool:
        owner = method.__self__
        kind = owner if isinstance(owner, type) else type(owner)
        if kind is EnumeratingGenerator:
            return False
        if kind is Questions:
            return True
        if kind in known.TYPES:
            return False
        self._class(kind)
        if type(method.__func__) is types.FunctionType and not is_function_of_library(method.__func__):
            self._follow(method.__func__)
        return True

    def _builtin(self, function: Any) -> None:
        """A function of C: of a module only by name, a method by the type of its object."""
        owner = getattr(function, "__self__", None)
        if owner is None and hasattr(function, "__objclass__"):
            owner = function.__objclass__
        if owner is None or isinstance(owner, types.ModuleType):
            module = getattr(function, "__module__", None) or getattr(owner, "__name__", "")
            self._stop(f"{module}.{function.__name__}", _OUTSIDE)
        self._attribute(owner, function.__name__)

    def _given(self, function: Any, given: Any, *, keyed: bool) -> None:  # noqa: PLR0912 (one branch per kind of argument)
        """An argument of a known callable."""
        kind, name = type(given), getattr(function, "__name__", type(function).__name__)
        which = id(function)
        of_container = isinstance(getattr(function, "__self__", None), (list, dict, set))
        if kind is EnumeratingGenerator:
            if function is not isinstance:
                self._stop(name, "is given the generator itself")
        elif kind is types.MethodType and type(given.__self__) is EnumeratingGenerator:
            if which not in known.CALLING:
                self._stop(name, "is given a method of the generator")
        elif kind in (WholeList, WholeRows, WholeListWalk, GrownCounts):
            self._stop(name, "is given the dataset as a whole, of which only counts are known")
        elif kind in SYMBOLS:
            given.listed.refuse(given.asked)
        elif kind is Uniform or kind is NoisyNumber:
            if which not in known.OF_SYMBOLS and not of_container:
                self._stop(*_unread(given, name))
        elif kind is np.ndarray:
            if given.dtype.hasobject and which not in known.OF_SYMBOLS and _symbols(given):
                self._stop(*_unread(given, name))
        elif issubclass(kind, (set, frozenset)):
            ordered = which in known.ORDERED and all(type(one) is str for one in given) and not keyed
            if which not in known.UNORDERED and not ordered and not issubclass(type(getattr(function, "__self__", None)), set):
                self.each(given)
        elif kind in (list, tuple, dict):
            if _symbols(given) and which not in known.OF_SYMBOLS and not of_container:
                self._stop(*_unread(given, name))
        elif callable(given) and function is not isinstance and function is not issubclass:
            asked = isinstance(given, type) or which in known.CALLING or of_container or function is callable or name == "sort"
            if not self._follow(given) and not asked:
                self._stop(name, f"is given {getattr(given, '__name__', 'a callable')} to call")
        if which in known.SHOWING or name in ("format", "format_map"):
            self.shown(given)

    # -- attributes ---------------------------------------------------------------------------------

    def get(self, owner: Any, name: str) -> Any:
        """owner.name."""
        if type(owner) in SYMBOLS:
            owner.listed.refuse(owner.asked)
        modelled = self._modelled(lambda models: models.attribute(owner, name, self._draws))
        if modelled is not None and modelled is not NotImplemented:
            return modelled
        drawing = isinstance(owner, types.ModuleType) and owner.__name__ in self.path.elsewhere
        if drawing and getattr(owner, name, None) is not np.random.default_rng:
            return self._standing_in(owner.__name__, name)
        distribution = self._distribution(owner) if _DISTRIBUTIONS in self.path.elsewhere else ""
        if distribution:
            return self.get(self._standing_in(_DISTRIBUTIONS, distribution), name)
        if type(owner) in (WholeList, WholeRows, GrownCounts):
            found = attribute_of(owner, name)
            return WholeListMethod(owner, name) if found is NotImplemented else found
        if type(owner) is NoisyNumber and name == "item" and isinstance(owner.sample, np.generic):
            return DrawnItem(owner)
        self._attribute(owner, name)
        found = getattr(owner, name)
        if isinstance(owner, types.ModuleType):
            self._of_module(owner, name, found)
        return found

    def _attribute(self, owner: Any, name: str) -> None:  # noqa: PLR0912 (one branch per kind of owner)
        """Refuse an attribute that says more than the value of its owner."""
        kind = type(owner)
        special = name.startswith("__") and name.endswith("__") and name not in known.METHODS
        if kind is EnumeratingGenerator:
            adapts = name in known.OF_MODELS and str(sys._getframe(2).f_globals.get("__name__")).startswith("dpspec_")
            if name not in MODELLED and not adapts:
                owner.give_up(NotEnumerableError(f"rng.{name}", "has no finite list of values", _ADVICE))
        elif kind is Uniform or kind is NoisyNumber:
            self._stop("random()", f"was asked for {name}, so it has infinitely many values that matter")
        elif special or kind is functools.partial:
            self._stop(f"{_word(owner)}.{name}", _OUTSIDE)
        elif issubclass(kind, (set, frozenset)) and name in ("pop", "__iter__"):
            self.each(owner)
        elif issubclass(kind, np.generic) and name in _OF_MEMORY:
            self._stop(f"{_word(owner)}.{name}", _OUTSIDE)
        elif kind in known.TYPES or kind is super or isinstance(owner, types.ModuleType):
            if name.startswith("_") and kind is not super and not special and name not in known.METHODS:
                self._stop(f"{_word(owner)}.{name}", _OUTSIDE)
            if isinstance(owner, types.ModuleType):
                self._held_by_module(owner, name)
        elif kind is np.ndarray:
            if name not in (known.SYMBOLIC_ARRAY if owner.dtype.hasobject and _symbols(owner) else known.ARRAY):
                self._stop(f"ndarray.{name}", _OUTSIDE)
        elif isinstance(owner, type):
            self._of_class(owner, name)
        elif isinstance(owner, np.ufunc):
            if name not in known.OF_TYPES or id(owner) not in known.CALLABLES:  # np.frompyfunc makes one of any code
                self._stop(f"ufunc.{name}", _OUTSIDE)
        elif kind in (types.FunctionType, types.MethodType, types.BuiltinFunctionType) or kind in METHOD_KINDS:
            if name != "__name__":
                self._stop(f"{owner.__name__}.{name}", "is an attribute of a function, which it keeps between calls")
        elif isinstance(owner, BaseException) and name not in known.EXCEPTION and kind.__module__ == "builtins":
            self._stop(f"{kind.__name__}.{name}", _OUTSIDE)
        elif kind is types.GeneratorType:
            if name not in ("send", "throw", "close"):
                self._stop(f"generator.{name}", _OUTSIDE)
        elif not isinstance(owner, BaseException) or kind.__module__ != "builtins":
            self._class(kind)

    def _of_class(self, owner: type, name: str) -> None:
        if owner in known.TYPES or owner in known.BASES:
            if name not in known.OF_TYPES and name not in known.METHODS and type(getattr(owner, name, None)) not in METHOD_KINDS:
                self._stop(f"{owner.__name__}.{name}", _OUTSIDE)
        elif name != "__name__":
            self._class(owner)

    def _of_module(self, owner: types.ModuleType, name: str, found: Any) -> None:
        """What a module holds: of a known one plain values and what may be called, of the user's own a root."""
        if owner in known.READABLE:
            return
        root = owner.__name__.partition(".")[0]
        if root in sys.stdlib_module_names or root in LIBRARIES:
            if not (isinstance(found, type) and issubclass(found, GENERATORS)) and name not in ("random", "default_rng"):
                self._stop(f"{owner.__name__}.{name}", _OUTSIDE)
        else:
            self._root(f"{owner.__name__}.{name}", found)

    def _held_by_module(self, owner: types.ModuleType, name: str) -> None:
        """Refuse an attribute that code of a module makes when it is asked for: a class of modules, or its `__getattr__`."""
        if owner not in known.READABLE and (type(owner) is not types.ModuleType or name not in vars(owner)):
            self._stop(f"{owner.__name__}.{name}", "is not held by the module, which may make it anew each time")

    def owner(self, thing: Any) -> Any:
        """What gets an attribute assigned: an object of a class of the user's, and nothing that outlives the run unseen."""
        kind = type(thing)
        if self.path.counting:
            self.refuse("assigns while it sums up the dataset")
        if self._models is not None and self._models.printed(thing) is not NotImplemented:
            self._stop(_word(thing), "is an object of a library, and gets an attribute assigned")
        if isinstance(thing, (type, types.ModuleType, types.FunctionType, enum.Enum)) or kind in (
            EnumeratingGenerator,
            Uniform,
            NoisyNumber,
            np.ndarray,
        ):
            self._stop(_word(thing), "gets an attribute assigned, which it keeps between calls")
        if not isinstance(thing, BaseException):
            self._class(kind)
        return thing

    def item(self, thing: Any) -> Any:
        """What gets an element assigned; an array of symbolic draws would not turn it into a double."""
        if self.path.counting:
            self.refuse("assigns while it sums up the dataset")
        if type(thing) is np.ndarray and _symbols(thing):
            self._stop("random()", "is in an array whose elements are assigned")
        return thing

    def context(self, thing: Any) -> Any:
        """What a `with` statement enters."""
        if type(thing) is not np.errstate:
            self._class(type(thing))
        return thing

    def raised(self, thing: Any) -> Any:
        """What a `raise` statement raises; an interrupt would be taken for that of the person at the keyboard."""
        if isinstance(thing, type) and issubclass(thing, BaseException):
            self._follow(thing)
            thing = thing()
        if isinstance(thing, KeyboardInterrupt):
            self.refuse("raises KeyboardInterrupt")
        return thing

    def imported(self, name: str) -> None:
        if name not in sys.modules:
            self.refuse(f"imports {name or 'from its package'} while it runs")

    # -- sets, texts, loops -------------------------------------------------------------------------

    def each(self, things: Any) -> Any:
        """What is walked through."""
        self._goes_on(things, _unheld().each)
        return self._each(things)

    def _goes_on(self, things: Any, unheld: int) -> None:
        """End a run that sums up the dataset where it uses an iterator that has a name: it goes on where the last entry left it.

        Args:
            things: what is walked through.
            unheld: how often an iterator without a name is referenced here.
        """
        if self.path.counting and hasattr(type(things), "__next__") and sys.getrefcount(things) > unheld:
            self.refuse("goes on through an iterator while it sums up the dataset")

    def among(self, things: Any) -> Any:
        """What is looked through for a value."""
        self._goes_on(things, _unheld().each)
        return things

    def read(self, thing: Any) -> Any:
        """What an entry is read of; a defaultdict gets the key that is asked for, and has it from then on."""
        if not self.path.counting or not isinstance(thing, collections.defaultdict):
            return thing
        if type(thing) is not collections.defaultdict:
            self.refuse("reads a defaultdict of a class of its own while it sums up the dataset")
        return dict(thing)

    def shares(self) -> None:
        """Called in a function that assigns variables of the function around it."""
        if self.path.counting:
            self.refuse("assigns to variables of others while it sums up the dataset")

    def _each(self, things: Any) -> Any:
        """The same for what is made for one entry: the order of a set of texts changes from one process to the next."""
        if issubclass(type(things), (set, frozenset)) and len(things) > 1 and not all(map(steady, things)):
            self._stop("set", "is walked through in an order that changes from one process to the next")
        if type(things) in (tuple, list) and any(type(part) in (set, frozenset, tuple, list) for part in things):
            self._inside(things)
        if type(things) in (EnumeratingGenerator, Uniform, NoisyNumber):
            self._stop("generator", "was walked through")
        return things.listed() if type(things) is WholeRows else things

    def matched(self, things: Any) -> Any:
        """What is matched with patterns: these ask a type of C's, and not an object, whether it is a sequence or a mapping."""
        if _is_of_dataset(things):
            self.refuse("matches the dataset as a whole with patterns")
        return self.each(things)

    def operand(self, things: Any) -> Any:
        """What is added in place: walked through where it is added to a list."""
        return things if type(things) in (Uniform, NoisyNumber, WholeRows) else self._each(things)

    def _inside(self, things: Any, depth: int = 3) -> None:
        """The iterated value may be split further."""
        for part in things:
            if type(part) in (set, frozenset):
                self.each(part)
            elif depth and type(part) in (tuple, list):
                self._inside(part, depth - 1)

    def pairs(self, things: Any) -> Any:
        """What is walked through when each part is walked through as well."""
        self._goes_on(things, _unheld().each)
        things = self._each(things)
        if type(things) in (WholeList, Places):
            return things
        return map(self._each, things) if hasattr(type(things), "__iter__") or hasattr(type(things), "__getitem__") else things

    def modulo(self, left: Any, right: Any) -> Any:
        """left % right."""
        if isinstance(left, (str, bytes)):
            self.shown(right)
            return left % self.read(right)
        return left % right

    def product(self, left: Any, right: Any) -> Any:
        """left @ right; of drawn numbers, what is multiplied with 0 is left out."""
        if holds_drawn(left) or holds_drawn(right):
            found = answered(np.matmul, "matmul", [left, right])
            if found is not NotImplemented:
                return found
        return left @ right

    def shown(self, value: Any) -> Any:
        """A value whose text says nothing but the value."""
        kind = type(value)
        if kind in SYMBOLS:
            value.listed.refuse(value.asked)
        if issubclass(kind, (list, tuple, set, frozenset, dict, collections.deque)):
            self.each(value)
            for part in (*value, *value.values()) if isinstance(value, dict) else value:
                self.shown(part)
        elif isinstance(value, BaseException):
            self.shown(value.args)
        elif kind is np.ndarray:
            if value.dtype.hasobject:
                self._stop("array of objects", "is written as text")
        elif not (
            (kind in NUMBERS and kind is not slice)
            or issubclass(kind, np.generic)
            or (isinstance(value, type) and type(value) is type)
        ):
            written = next((base for base in kind.__mro__ if "__repr__" in vars(base) or "__str__" in vars(base)), object)
            if kind in (EnumeratingGenerator, Uniform, NoisyNumber) or written is object or kind in known.TYPES:
                self._stop(_word(value), "is written as text, which may hold its address")
            self._class(kind)
        return value

    def loop(self, number: int, live: tuple[str, ...], names: dict[str, Any]) -> LoopEntry:
        """A `while` loop is entered."""
        return LoopEntry.at(number, live, tuple(self.path.taken), names)

    def round(self, entry: LoopEntry, names: dict[str, Any]) -> bool:
        """A round of a loop starts."""
        self.path.going()
        if len(self.path.taken) > max(self.path.start, len(entry.pinned)):
            state = entry.state(names)
            if state is not None and not self.printed and self._roots.unchanged():
                self.path.end(Stop(state=self._state(state)))
        return True

    # -- code and classes of the user's, and what they keep -------------------------------------------

    def _read(self, function: types.FunctionType) -> None:
        """Exchange the code of a function for its rewritten form; what it can reach becomes a root."""
        where = f"{function.__module__}.{function.__qualname__}"
        if self._is_library(function) or vars(builtins) is not _builtins(function):
            self._stop(where, _OUTSIDE)
        if any(name.startswith(PREFIX) for name in (*function.__globals__, *function.__code__.co_freevars)):
            self._stop(where, "uses names that begin like those of what is asked of it")
        code = rewritten(function.__code__, function.__globals__)
        if code is None:
            self._stop(where, "has no source that says what its code does")
        before = function.__code__
        function.__code__ = code
        self._exchanged.append((function, before))
        self._codes |= {id(one): one for one in all_codes(code)}
        self._root(f"defaults of {where}", (function.__defaults__, function.__kwdefaults__))
        self._root(f"attributes of {where}", {key: held for key, held in vars(function).items() if key != "__wrapped__"})
        for name, cell in zip(before.co_freevars, function.__closure__ or (), strict=True):
            self._root(f"{where} <{name}>", cell)
        for name in sorted(global_names(before) & function.__globals__.keys()):
            self._root(f"{function.__module__}.{name}", function.__globals__[name])

    @staticmethod
    def _is_library(function: types.FunctionType) -> bool:
        return is_library(function.__module__ or "")

    def _class(self, kind: type) -> None:
        """Look through a class of the user's: its methods are rewritten, its attributes are roots."""
        if kind in self._vetted:
            return
        if kind in (type(sys), types.FunctionType) or type(kind) not in (type, *METACLASSES):
            self._stop(_word(kind), _OUTSIDE)
        self._vetted[kind] = None
        for base in kind.__mro__:
            if base not in known.BASES:
                if isinstance(sys.modules.get(base.__module__), types.ModuleType) and is_library(base.__module__):
                    self._stop(f"{base.__module__}.{base.__qualname__}", _OUTSIDE)
                for field in vars(base).get("__dataclass_fields__", {}).values():
                    if field.default_factory is not dataclasses.MISSING:
                        self._follow(field.default_factory)
                for name, held in [*vars(base).items()]:
                    self._of_body(base, name, held)
                if isinstance(base, type(enum.Enum)):
                    self._root(f"{base.__module__}.{base.__qualname__}", [dict(vars(one)) for one in base.__members__.values()])

    def _of_body(self, base: type, name: str, held: Any) -> None:
        where = f"{base.__module__}.{base.__qualname__}.{name}"
        if name in ("__del__", "__getattribute__", "__class__", "__reduce__", "__reduce_ex__"):
            self._stop(where, _OUTSIDE)
        if isinstance(held, (staticmethod, classmethod)):
            held = held.__func__
        parts = [held.fget, held.fset, held.fdel] if isinstance(held, property) else [held]
        for part in parts:
            if type(part) is types.FunctionType:
                if not is_generated(part, base) and id(part.__code__) not in self._codes:
                    self._read(part)
            elif (
                type(part) not in PLACES
                and name != "_abc_impl"
                and not (name.startswith("__") and name.endswith("__"))
                and not isinstance(base, type(enum.Enum))
            ):
                self._root(where, part)

    def _root(self, name: str, value: Any) -> None:
        """Remember what a name holds before the first run."""
        try:
            self._roots.remember(name, value)
        except Unknown as problem:
            self._stop(name, f"holds {problem}, which may change between calls")

    def check_roots(self) -> None:
        """End the run if something that outlives it is not as it was."""
        if not self._roots.unchanged():
            self.path.refuse(changed())


@dataclasses.dataclass(frozen=True)
class _References:
    """How often something that has no name is referenced in a question.

    Args:
        each: in one about it alone.
        call: in one about the arguments of a call.
    """

    each: int
    call: int


@functools.cache
def _unheld() -> _References:
    """The number of references that are counted to an iterator without a name."""

    class Asked:
        def each(self, things: Any) -> int:
            return self.goes_on(things)

        def call(self, _function: Any, /, *args: Any) -> int:
            return max([self.goes_on(one) for one in args])

        def goes_on(self, things: Any) -> int:
            return sys.getrefcount(things)

    asked = Asked()
    return _References(asked.each(iter(())), asked.call(None, iter(())))


_GLOBAL_GENERATORS: dict[str, Any] = {"random": random.random.__self__, "numpy.random": np.random.laplace.__self__}  # type: ignore[attr-defined]
"""Those whose methods are the functions of a module."""
_DISTRIBUTIONS = "scipy.stats"
_LAZY = (range, enumerate, zip)
_LISTED: tuple[type, ...] = (list, tuple, range, dict, type({}.keys()), type({}.values()), type({}.items()))
_WALKING_PARTS = ("from_iterable", "starmap", "dict", "OrderedDict", "defaultdict", "update")
_OF_MEMORY = frozenset({
    "base", "ctypes", "data", "dump", "dumps", "flags", "getfield", "setfield", "setflags", "strides", "tofile", "view",
})  # fmt: skip


def _asks_constant(function: Any) -> bool:
    """Whether it is a method of a value that does not change, or the place of something in a list."""
    if type(function) is not types.BuiltinFunctionType:
        return False
    kind = type(function.__self__)
    return kind in (str, int, float, bytes, tuple) or (kind is list and function.__name__ == "index")


def _makes_of_row(function: Any, given: int) -> bool:
    """Whether a function makes a new value of a row of numbers, or gives it back, where so many arguments are given by place."""
    if type(function) is types.BuiltinFunctionType and type(function.__self__) is np.ndarray:
        return given <= known.METHODS_OF_ROWS.get(function.__name__, -1)
    return given <= known.OF_ROWS.get(id(function), -1)


def _unwritten_shape(function: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """The shape of an array of doubles that `np.empty` or `np.empty_like`, the function, makes; None of other arrays."""
    if options.keys() - {"dtype"} or len(args) + len(options) > 2:
        return None
    if function is np.empty:
        kind = options.get("dtype", args[1] if len(args) == 2 else float)
        return args[0] if args and number_type(kind) is np.float64 else None
    if len(args) != 1 or type(args[0]) is not np.ndarray or _symbols_but_drawn(args[0]):
        return None
    like = plain_like(args[0]) if args[0].dtype.hasobject else args[0]
    return like.shape if number_type(options.get("dtype", like.dtype)) is np.float64 else None


def _is_located(args: tuple[Any, ...], options: dict[str, Any]) -> bool:
    """Whether of the arguments of a draw the location alone holds drawn numbers."""
    place = options.get("loc", args[0] if args else None)
    others = (*args[1:], *(value for key, value in options.items() if key != "loc"))
    return holds_drawn(place) and not any(map(holds_drawn, others)) and not ("loc" in options and args)


def _is_random(function: Any) -> bool:
    """Whether it is the method of the generator that gives one uniform number."""
    owner = getattr(function, "__self__", None) if type(function) is types.MethodType else None
    return type(owner) is EnumeratingGenerator and function.__func__ is EnumeratingGenerator.random


def _asks_counter(method: Any) -> bool:
    """Whether it is the method `get` of a dict or of a counter."""
    if type(method) is WholeListMethod:
        return type(method.listed) is GrownCounts and method.name == "get"
    owners = (dict, collections.Counter, collections.defaultdict)
    return type(method) is types.BuiltinFunctionType and method.__name__ == "get" and type(method.__self__) in owners


def _unread(given: Any, name: str) -> tuple[str, str]:
    """What is said of numbers that were given to a function that does not know symbols."""
    if holds_drawn(given):
        return "a number with noise, or a count of the dataset,", f"was given to {name}, which is not read"
    return "random()", f"was given to {name}, so it has infinitely many values that matter"


def _is_walked(given: Any) -> bool:
    """Whether a value is consumed by iteration and not by its keys."""
    return not callable(given) and hasattr(type(given), "__iter__") and not hasattr(type(given), "keys")


def _symbols(value: Any, depth: int = 3) -> bool:
    """Whether a container holds symbolic draws."""
    if type(value) is np.ndarray:
        return value.dtype.hasobject and any(type(part) in (Uniform, NoisyNumber, Unwritten) for part in value.flat)
    parts: Iterator[Any] = iter(value.values() if type(value) is dict else value)
    return any(
        type(part) in (Uniform, NoisyNumber)
        or (depth > 0 and type(part) in (list, tuple, dict, np.ndarray) and _symbols(part, depth - 1))
        for part in parts
    )


def _is_of_dataset(value: Any, depth: int = 9) -> bool:
    """Whether a value represents a list or a table of the dataset, or holds one that does."""
    if type(value) in (WholeList, WholeRows, WholeListWalk, GrownCounts, *SYMBOLS):
        return True
    parts = value.values() if type(value) is dict else value if type(value) in (list, tuple) else ()
    return any(depth == 0 or _is_of_dataset(part, depth - 1) for part in parts)


def _symbols_but_drawn(value: Any) -> bool:
    """Whether an array holds symbols that are no drawn numbers."""
    return value.dtype.hasobject and any(type(part) in (Uniform, Unwritten) for part in value.flat)


def _word(value: Any) -> str:
    """What a value is, for people."""
    if isinstance(value, types.ModuleType):
        return value.__name__
    return value.__name__ if isinstance(value, type) else type(value).__name__
