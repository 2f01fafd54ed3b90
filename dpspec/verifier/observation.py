"""The observable outcome of one call: the value that it returns, the exception that it raises, the text that it prints.

Every engine distinguishes outcomes by `observed` alone: the enumerating one and the second opinion as it is, the sampling one
through `dpspec.verifier.outputs.atom`, which is made of it. Two calls have the same outcome when these agree:

    type     1, True, 1.0, np.int64(1) and Fraction(1) are five outcomes; so are a list and a tuple of equal parts
    value    with the sign of zero and the bits of NaN; a Decimal with its trailing zeros
    order    of lists, of the entries of a dict, and of a set as it is iterated
    arrays   dtype with its byte order, shape, strides, every bit; whether it may be written to and is aligned; the array that it
             is a view of (`base`), with everything that this array holds, and where in it the view begins
    raised   type, arguments, text, notes and attributes of the exception; its traceback: file, function, line and columns of each
             frame of the user's code; the same of its cause and of its context, also where the context is suppressed, and of all
             exceptions of a group; SystemExit with its code
    printed  the text that went to standard output

Not part of the outcome is what belongs to the process and not to the value: addresses, the variables that the frames of a
traceback hold, spare bytes, reference counts, time, and what is written to standard error.
An outcome that cannot be compared in this way is refused with `UnobservableError` and never guessed: iterators, functions,
objects with methods of their own for comparing, masked and structured arrays, arrays over foreign memory, one list in two places.
"""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import enum
import itertools
import math
import os
import struct
import sys
import types
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import cache, lru_cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import attrs

from dpspec.base.errors import NotEnumerableError
from dpspec.base.lazy import late_module
from dpspec.extension.packages import JUDGES, contributed

if TYPE_CHECKING:
    import numpy as np
else:
    np = late_module("numpy")

_ITSELF = (int, str, bytes, type(None))
_DEEPEST = 100
_LONGEST = 14_000
"""The largest number of bits of an integer that Python converts to text under its default limit."""
_PLACES = (types.GetSetDescriptorType, types.MemberDescriptorType)
_MUTABLE = (list, dict, set, bytearray, collections.deque)
_OWN = ("__str__", "__repr__", "__eq__", "__ne__", "__hash__", "__getattribute__", "__getattr__", "args")


class UnobservableError(NotEnumerableError):
    """An outcome of plain code cannot be compared: an iterator, an object of an unknown kind, one list in two places."""

    code = "unobservable"

    def __init__(self, value: Any, rule: str, advice: str = "return numbers, texts, or lists and tables of them") -> None:
        super().__init__(f"output of type {type(value).__name__}", rule, advice)


@attrs.frozen(repr=False, cache_hash=True)
class Observed:
    """The observation of a value that is no int, text, None or tuple; those are observed as themselves.

    Args:
        kind: what it is, such as ``list``, ``np.int64`` or ``raises``.
        content: what distinguishes it from others of its kind.
        write: writes it as text; not part of the comparison, and neither are the remaining fields.
        parts: of a collection, its observed parts; together with the kind they determine it.
        number: of a number its value, where it is a double.
    """

    kind: str
    content: Hashable
    write: Callable[[], str] = attrs.field(eq=False)
    parts: Sequence[Any] | None = attrs.field(eq=False, default=None)
    number: float | None = attrs.field(eq=False, default=None)

    @property
    def text(self) -> str:
        """The written form."""
        return self.write()

    def __repr__(self) -> str:
        return self.text

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy in another process is written as this one is."""
        return _copied, (self.kind, self.content, self.text, self.parts, self.number)


class Placeholder:
    """A number that is known by an expression only; an enumeration puts it where code draws noise."""

    sample: Any
    """A number of its type."""

    def sight(self, kind: str = "") -> Hashable:
        """The observation of it, or of an entry of an array that is observed as a number of some type."""
        raise NotImplementedError


def _copied(kind: str, content: Hashable, text: str, parts: Sequence[Any] | None, number: float | None) -> Observed:
    return Observed(kind, content, lambda: text, parts, number)


class _Comparison:
    """The mode of comparison of outcomes: by observation, or by value alone."""

    by_value = False


comparison = _Comparison()


@contextlib.contextmanager
def compared_by_value(by_value: bool = True) -> Iterator[None]:
    """Compare outcomes by value, while the context is open: numbers that are equal are one outcome, whatever their types.

    Lists and arrays of equal values are one outcome, too; so are exceptions of one type and message. What was printed counts.

    >>> with compared_by_value():
    ...     observed(0) == observed(np.int64(0)) == observed(False), observed([1]) == observed(np.array([1.0]))
    (True, True)
    """
    before, comparison.by_value = comparison.by_value, by_value
    try:
        yield
    finally:
        comparison.by_value = before


def plain_value(value: Any) -> Any:
    """The value without the type of its numbers: doubles where they are exact, lists for arrays.

    >>> plain_value((True, np.int64(2), np.array([0.5]), "a"))
    (1.0, 2.0, [0.5], 'a')
    """
    kind = type(value)
    if issubclass(kind, Placeholder):
        raise UnobservableError(value, "is drawn noise, which is not compared by value", "have it sampled")
    if kind is np.ndarray:
        return plain_value(value.tolist())
    if issubclass(kind, np.generic):
        value = value.item()
        kind = type(value)
    if kind in (bool, int, float):
        return float(value) + 0.0 if kind is float or abs(value) < 2**53 else value
    if kind in (list, tuple):
        return kind(map(plain_value, value))
    return {plain_value(key): plain_value(held) for key, held in value.items()} if kind is dict else value


def observed(value: Any, printed: str = "") -> Hashable:
    """The observation of a returned value; two observations are equal exactly if no observer can distinguish the values.

    Args:
        value: the value.
        printed: what was printed on the way.

    Raises:
        UnobservableError: it cannot be compared.

    >>> observed((1, "a")), observed([1, True, -0.0])
    ((1, 'a'), [1, True, -0.0])
    >>> observed([1]) == observed((1,)), observed(0.0) == observed(-0.0), observed(1) == observed(True)
    (False, False, False)
    """
    seen = _sight(plain_value(value) if comparison.by_value else value, {}, 0)
    return seen if not printed else Observed("printed", (seen, printed), lambda: f"{seen!r} after printing {printed!r}")


def observed_raise(problem: BaseException, printed: str = "") -> Hashable:
    """The observation of an exception.

    >>> observed_raise(ValueError("no", 1))
    raises ValueError: ('no', 1)
    """
    seen = _raised_by_value(problem) if comparison.by_value else _raised(problem, {}, 0)
    return seen if not printed else Observed("printed", (seen, printed), lambda: f"{seen!r} after printing {printed!r}")


def steady(value: Any) -> bool:
    """Whether the hash of a value is the same in every process, so that a set of such values is iterated in one order.

    >>> steady((1, 0.5)), steady("a"), steady(None)
    (True, False, False)
    """
    kind = type(value)
    if kind in (tuple, frozenset):
        return all(map(steady, value))
    if kind in (float, np.float64, np.float32, np.float16):
        return not math.isnan(value)
    return kind in (int, bool, Fraction, Decimal) or issubclass(kind, (np.integer, np.bool_))


def _sight(value: Any, inside: dict[int, Any], depth: int) -> Hashable:
    kind = type(value)
    if kind in _ITSELF:
        if kind is int and value.bit_length() > _LONGEST:
            raise UnobservableError(value, f"has more than {_LONGEST} bits, which Python does not write as text")
        seen: Hashable = value
        return seen
    if depth > _DEEPEST:
        raise UnobservableError(value, "is nested too deeply to be compared")
    if kind in _MUTABLE or (kind not in _LOOKS and kind is np.ndarray):  # numpy is not imported for plain values
        if id(value) in inside:
            raise UnobservableError(value, "holds one object in two places, which a copy of it would not show", "return copies")
        inside[id(value)] = value
    look = _LOOKS.get(kind) or _look(value, kind)
    return look(value, inside, depth + 1)


Look = Callable[[Any, dict[int, Any], int], Hashable]


def _look(value: Any, kind: type) -> Look:  # noqa: PLR0911 - one return for each kind
    """The comparison for a value whose type is not one of the few that are known by name."""
    if kind is np.ndarray:
        return _array
    if issubclass(kind, np.generic):
        return _scalar
    if issubclass(kind, Placeholder):
        return lambda value, _inside, _depth: value.sight()
    if isinstance(value, BaseException):
        return _raised
    if isinstance(value, enum.Enum) and _is_known(kind):
        return _member
    if issubclass(kind, tuple) and hasattr(kind, "_fields") and not getattr(value, "__dict__", None) and _is_known(kind):
        return _named
    if dataclasses.is_dataclass(kind) and _is_known(kind):
        return _record
    raise UnobservableError(value, "is no plain value by which outcomes are distinguished")


def _is_known(kind: type) -> bool:
    """Whether a class is the one that its module has under its name: one that was made on the way may differ each time."""
    found: Any = sys.modules.get(kind.__module__)
    for name in kind.__qualname__.split("."):
        found = getattr(found, name, None)
    return found is kind


def _parts(values: Iterable[Any], inside: dict[int, Any], depth: int) -> tuple[Hashable, ...]:
    return tuple(_sight(value, inside, depth) for value in values)


def _written(parts: Iterable[Hashable]) -> str:
    return ", ".join(map(repr, parts))


def _truth(value: bool, _inside: Any, _depth: int) -> Hashable:
    return Observed("bool", bool(value), lambda: repr(value))


def _float(value: float, _inside: Any, _depth: int) -> Hashable:
    return Observed("float", struct.pack(">d", value), lambda: repr(value), number=value)


def _complex(value: complex, _inside: Any, _depth: int) -> Hashable:
    return Observed("complex", struct.pack(">dd", value.real, value.imag), lambda: repr(value))


def _exact(value: Any, _inside: Any, _depth: int) -> Hashable:
    """Numbers and ranges whose text says everything."""
    text = repr(value)
    return Observed(type(value).__name__, text, lambda: text)


def _tuple(value: tuple[Any, ...], inside: dict[int, Any], depth: int) -> Hashable:
    return _parts(value, inside, depth)


def _list(value: Any, inside: dict[int, Any], depth: int) -> Hashable:
    parts = _parts(value, inside, depth)
    kind = "list" if type(value) is list else "deque" if value.maxlen is None else f"deque of at most {value.maxlen}"
    return Observed(kind, parts, lambda: f"[{_written(parts)}]" if kind == "list" else f"{kind}([{_written(parts)}])", parts)


def _set(value: Any, inside: dict[int, Any], depth: int) -> Hashable:
    if len(value) > 1 and not all(map(steady, value)):
        raise UnobservableError(value, "is a set whose order changes from one process to the next", "return it sorted, as a list")
    parts, kind = _parts(value, inside, depth), type(value).__name__
    return Observed(
        kind, parts, lambda: f"{{{_written(parts)}}}" if parts and kind == "set" else f"{kind}([{_written(parts)}])", parts
    )


def _table(value: Any, inside: dict[int, Any], depth: int) -> Hashable:
    entries = tuple((_sight(key, inside, depth), _sight(held, inside, depth)) for key, held in value.items())
    kind = type(value).__name__
    if getattr(value, "__dict__", None):
        raise UnobservableError(value, "has attributes in addition to its entries", "return dict(it)")
    if kind == "defaultdict":
        made = value.default_factory
        if made is not None and made not in (int, float, str, list, dict, set, bool):
            raise UnobservableError(value, "makes its entries by a function of its own", "return dict(it)")
        kind = f"defaultdict of {getattr(made, '__name__', None)}"

    def write() -> str:
        text = "{" + ", ".join(f"{key!r}: {held!r}" for key, held in entries) + "}"
        return text if kind == "dict" else f"{kind}({text})"

    return Observed(kind, entries, write, entries)


def _bytes(value: bytearray, _inside: Any, _depth: int) -> Hashable:
    content = bytes(value)
    return Observed("bytearray", content, lambda: f"bytearray({content!r})")


def _scalar(value: np.generic, _inside: Any, _depth: int) -> Hashable:
    kind = value.dtype
    if kind.kind not in "biufcSUMm" or kind.char in "gG" or type(value) is not kind.type or kind.metadata:
        raise UnobservableError(value, "is a number of numpy whose bits cannot be compared")
    plain: Any = value.item()
    number = float(plain) if kind.kind == "f" or (kind.kind in "iu" and abs(plain) < 2**53) else None
    name = f"np.{type(value).__name__}"
    return Observed(name, (kind.str, value.tobytes()), lambda: f"{name}({plain!r})", number=number)


def _array(value: Any, inside: dict[int, Any], depth: int) -> Hashable:
    kind = value.dtype
    if kind.hasobject and any(issubclass(type(part), Placeholder) for part in value.flat):
        return _drawn_array(value, inside, depth)
    if kind.metadata or kind.kind not in "biufcSUMmO" or kind.char in "gG":
        raise UnobservableError(
            value, f"is an array of {kind}, whose bits cannot be compared", "return an array of numbers or texts"
        )
    layout, behind = _layout(value, inside, depth)
    known, listed = value.tobytes(), value.tolist()
    flat: Any = value.ravel().tolist()
    parts: Any = (*_parts(flat, inside, depth), *behind.parts) if kind.hasobject else [*flat, *behind.parts]
    content = parts if kind.hasobject else known + behind.content  # their lengths are in the kind
    name, numbers = f"array of {kind.str}{value.shape}{layout}", parts if kind.kind in "biufO" else None
    return Observed(name, content, lambda: f"array({listed!r}, dtype={kind}{layout})", numbers)


def _drawn_array(value: Any, inside: dict[int, Any], depth: int) -> Hashable:
    """An array of placeholders and plain numbers, as the array of numbers that it represents."""
    kinds = {np.dtype(type(part.sample)) for part in value.flat if issubclass(type(part), Placeholder)}
    if len(kinds) > 1:
        raise UnobservableError(value, "is an array of drawn numbers of several types")
    kind = kinds.pop()
    entry = type(kind.type(0).item()).__name__
    layout, behind = _layout(value, inside, depth)
    own = tuple(p.sight(entry) if issubclass(type(p), Placeholder) else kind.type(p).item() for p in value.flat)
    parts = (*own, *behind.parts)
    return Observed(f"array of {kind.str}{value.shape}{layout}", parts, lambda: f"array of {len(own)} drawn numbers", parts)


class _Behind(NamedTuple):
    """The content of the base array that a view of it does not show."""

    content: bytes = b""
    parts: Sequence[Any] = ()


def _layout(value: Any, inside: dict[int, Any], depth: int) -> tuple[str, _Behind]:
    """The memory layout of an array and the array that it is a view of, in words; and the content of that which it does not show.

    Strides and offsets are counted in entries where they can be.
    """
    size = value.dtype.itemsize or 1
    strides = [step // size if step % size == 0 else Fraction(step, size) for step in value.strides]
    rising, falling = (_contiguous(shape) for shape in (value.shape[::-1], value.shape))
    layout = "" if strides == rising[::-1] else ", order='F'" if strides == falling else f", strides={(*map(str, strides),)}"
    layout += "" if value.flags.writeable else ", read-only"
    layout += "" if value.flags.aligned else ", unaligned"
    base = value.base
    if base is None:
        return (layout if value.flags.owndata else f"{layout}, without data of its own"), _Behind()
    if type(base) in (bytes, bytearray):
        return f"{layout}, of {len(base)} {type(base).__name__}", _Behind(bytes(base), list(base))
    if type(base) is not np.ndarray:
        raise UnobservableError(value, f"shows the memory of an object of type {type(base).__name__}", "return a copy of it")
    begins = value.__array_interface__["data"][0] - base.__array_interface__["data"][0]
    layout += f", a view from {begins // size if begins % size == 0 else Fraction(begins, size)}"
    if id(base) in inside:
        return f"{layout} of array {list(inside).index(id(base))}", _Behind()
    whole: Any = _sight(base, inside, depth)
    if not begins and value.nbytes == base.nbytes and base.flags.forc and value.flags.forc:
        return f"{layout} of {whole.kind}", _Behind()
    if base.dtype.hasobject:
        return f"{layout} of {whole.kind}", _Behind(parts=whole.parts)
    return f"{layout} of {whole.kind}", _Behind(whole.content, list(whole.content) if whole.parts is None else whole.parts)


def _contiguous(shape: Sequence[int]) -> list[int]:
    """The strides of a contiguous array, in entries, the fastest dimension first."""
    steps = [1]
    for length in shape[:-1]:
        steps.append(steps[-1] * max(length, 1))
    return steps[: len(shape)]


def _member(value: enum.Enum, inside: dict[int, Any], depth: int) -> Hashable:
    return Observed(_called(type(value)), (value.name, _sight(value.value, inside, depth)), lambda: str(value.name))


def _named(value: tuple[Any, ...], inside: dict[int, Any], depth: int) -> Hashable:
    parts, kind = _parts(tuple.__iter__(value), inside, depth), type(value)
    return Observed(_called(kind), parts, lambda: f"{kind.__name__}({_written(parts)})", parts)


def _record(value: Any, inside: dict[int, Any], depth: int) -> Hashable:
    """A dataclass: its type and everything that it holds."""
    kind = type(value)
    if not all("__dataclass_fields__" in vars(base) for base in kind.__mro__ if base is not object) or id(value) in inside:
        raise UnobservableError(value, "is not a plain dataclass, or occurs in two places")
    inside[id(value)] = value
    held = dict(getattr(value, "__dict__", {}))
    for field in dataclasses.fields(value):
        held.setdefault(field.name, getattr(value, field.name))
    held |= {name: part for name, part in _in_places(value) if name not in held}
    parts = tuple((name, _sight(part, inside, depth)) for name, part in held.items())
    return Observed(
        _called(kind), parts, lambda: f"{kind.__name__}({', '.join(f'{name}={part!r}' for name, part in parts)})", parts
    )


def _raised(problem: BaseException, inside: dict[int, Any], depth: int) -> Hashable:
    kind = type(problem)
    if depth > _DEEPEST:
        raise UnobservableError(problem, "has too many causes to be compared")
    if any(name in vars(base) for base in kind.__mro__ if base.__module__ != "builtins" for name in _OWN):
        raise UnobservableError(problem, "is an exception that writes or compares itself", "raise a plain one")
    if not _is_known(kind):
        raise UnobservableError(problem, "is an exception of a class that was made on the way", "raise a plain one")
    if id(problem) in inside:
        return Observed("raises again", list(inside).index(id(problem)), lambda: f"the same {kind.__name__}")
    inside[id(problem)] = problem
    frames = _frames(problem)
    arguments = _parts(problem.args, inside, depth + 1)
    held = tuple((name, _sight(part, inside, depth + 1)) for name, part in vars(problem).items())
    held += tuple((name, _sight(part, inside, depth + 1)) for name, part in _in_places(problem))
    cause, context = (
        None if one is None else _raised(one, inside, depth + 1) for one in (problem.__cause__, problem.__context__)
    )
    message = str(problem)

    def write() -> str:
        text = f"raises {kind.__name__}"
        text += f": {_written(arguments)}" if len(arguments) == 1 else f": {arguments!r}" if arguments else ""
        text += f" at {frames[-1].place}" if frames else ""
        behind, how = (cause, "from") if cause is not None else (context, "while handling")
        return text if behind is None else f"{text} ({how} {str(behind).removeprefix('raises ')})"

    known = (_called(kind), arguments, message, held, frames, cause, context, problem.__suppress_context__)
    return Observed("raises", known, write)


def _raised_by_value(problem: BaseException) -> Hashable:
    """An exception by its type and message."""
    kind, message = type(problem), str(problem)
    known = (_called(kind), (), message, (), (), None, None, False)
    return Observed("raises", known, lambda: f"raises {kind.__name__}" + (f": {message!r}" if message else ""))


@attrs.frozen(cache_hash=True)
class Frame:
    """A frame of a traceback, as Python prints it.

    Args:
        file, function: its code.
        line, last_line, column, last_column: the expression that was being evaluated.
    """

    file: str
    function: str
    line: int | None
    last_line: int | None
    column: int | None
    last_column: int | None

    @property
    def place(self) -> str:
        """The file without its folder, the line and the columns."""
        columns = "" if self.column is None else f":{self.column}"
        return f"{os.path.basename(self.file)}:{self.line}{columns}"


def _in_places(value: Any) -> list[tuple[str, Any]]:
    """The state of an object outside its dictionary: slots, and the fields of Python's own exceptions, such as an exit code."""
    return [(name, getattr(value, name)) for name in _place_names(cast("Hashable", type(value))) if hasattr(value, name)]


@lru_cache(maxsize=512)
def _place_names(kind: Any) -> tuple[str, ...]:
    found = {name for base in kind.__mro__ for name, place in vars(base).items() if isinstance(place, _PLACES)}
    return tuple(sorted(name for name in found - {"args"} if not (name.startswith("__") and name.endswith("__"))))


@cache
def _callers() -> tuple[str, ...]:
    """The folders of dpspec and of the packages that verify functions: their code calls the code under test."""
    packages = {"dpspec", *(place.module.partition(".")[0] for place in contributed(JUDGES).values())}
    found = (find_spec(package) for package in sorted(packages))
    folders = (folder for spec in found if spec is not None for folder in spec.submodule_search_locations or ())
    return tuple(os.path.join(folder, "") for folder in folders)


def _frames(problem: BaseException) -> tuple[Frame, ...]:
    """The frames of its traceback, without those of dpspec, which called the code.

    How deep a recursion without end goes depends on how deep its caller is: of its frames each is kept once.
    """
    found: list[Frame] = []
    trace = problem.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if not code.co_filename.startswith(_callers()):
            found.append(_frame(code, trace.tb_lasti, trace.tb_lineno))
        trace = trace.tb_next
    return tuple(dict.fromkeys(found) if isinstance(problem, RecursionError) else found)


_COMPREHENSIONS = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"})
"""Names of frames that the place in the file distinguishes already; the enumerating engine writes one as another."""
_known_frames: dict[tuple[int, int], tuple[types.CodeType, Frame]] = {}
"""By the identity of a code object, since equal ones may lie in other lines, and the number of an instruction."""
_MOST_FRAMES = 4096


def _frame(code: types.CodeType, instruction: int, line: int) -> Frame:
    """The frame in which an instruction of some code was being run."""
    key = id(code), instruction
    known = _known_frames.get(key)
    if known is None or known[0] is not code:
        if len(_known_frames) >= _MOST_FRAMES:
            _known_frames.clear()
        first, last, column, last_column = next(itertools.islice(code.co_positions(), instruction // 2, None), (None,) * 4)
        name = "<comprehension>" if code.co_name in _COMPREHENSIONS else code.co_name
        known = code, Frame(code.co_filename, name, line if first is None else first, last, column, last_column)
        _known_frames[key] = known
    return known[1]


def _called(kind: type) -> str:
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


_LOOKS: dict[type, Look] = {
    bool: _truth, float: _float, complex: _complex, Fraction: _exact, Decimal: _exact, range: _exact, tuple: _tuple, list: _list,
    collections.deque: _list, set: _set, frozenset: _set, dict: _table, collections.OrderedDict: _table,
    collections.Counter: _table, collections.defaultdict: _table, bytearray: _bytes,
}  # fmt: skip
