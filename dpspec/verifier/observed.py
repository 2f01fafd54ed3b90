"""What an observer sees of one call: the value that it returns, the exception that it raises, the text that it prints.

Both engines tell outcomes apart by `observed` alone, the enumerated one as it stands and the sampled one through
`dpspec.verifier.expression.atom`, which is made of it. Two calls look the same when these agree:

    type     1, True, 1.0, np.int64(1) and Fraction(1) are five outcomes; so are a list and a tuple of equal parts
    value    with the sign of zero and the bits of NaN; a Decimal with its trailing zeros
    order    of lists, of the entries of a dict, and of a set as it is iterated
    arrays   dtype with its byte order, shape, the order in memory that a saved file records (C or Fortran), every bit
    raised   type, arguments, text, notes and attributes of the exception, the lines of the user's code that Python
             prints for it, and the same of its cause or context; SystemExit with its code
    printed  the text that went to standard output

Not seen is what belongs to the process and not to the value: addresses, what the frames of a traceback hold, spare bytes,
reference counts, time.
What cannot be compared in this way is refused with `UnobservableError` and never guessed: iterators, functions,
objects with methods of their own for comparing, masked and structured arrays, one list in two places.
"""

from __future__ import annotations

import collections
import dataclasses
import enum
import math
import struct
import sys
import traceback
import types
from collections.abc import Callable, Hashable, Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import attrs
import numpy as np

from dpspec.base.errors import NotEnumerableError

_ITSELF = (int, str, bytes, type(None))
_DEEPEST = 100
_OURS = str(Path(__file__).parents[1] / "_").removesuffix("_")
_LONGEST = 14_000
"""Bits of an integer that Python writes as text without being asked twice."""
_PLACES = (types.GetSetDescriptorType, types.MemberDescriptorType)
_MUTABLE = (list, dict, set, bytearray, collections.deque, np.ndarray)
_OWN = ("__str__", "__repr__", "__eq__", "__ne__", "__hash__", "__getattribute__", "__getattr__", "args")


class UnobservableError(NotEnumerableError):
    """An outcome of plain code cannot be compared: an iterator, an object of an unknown kind, one list in two places."""

    code = "unobservable"

    def __init__(self, value: Any, rule: str, advice: str = "return numbers, texts, or lists and tables of them") -> None:
        super().__init__(f"output of type {type(value).__name__}", rule, advice)


@attrs.frozen(repr=False, cache_hash=True)
class Observed:
    """What is seen of a value that is no int, text, None or tuple; those are seen as themselves.

    Args:
        kind: what it is, such as ``list``, ``np.int64`` or ``raises``.
        content: what tells it apart from others of its kind.
        write: how it is written; it tells nothing apart, nor do the others.
        parts: of a collection what its parts are seen as; together with the kind they say everything.
        number: of a number its value, where it is a double.
    """

    kind: str
    content: Hashable
    write: Callable[[], str] = attrs.field(eq=False)
    parts: Sequence[Any] | None = attrs.field(eq=False, default=None)
    number: float | None = attrs.field(eq=False, default=None)

    @property
    def text(self) -> str:
        """How it is written."""
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
        """What is seen of it, or of an entry of an array that is seen as a number of some type."""
        raise NotImplementedError


def _copied(kind: str, content: Hashable, text: str, parts: Sequence[Any] | None, number: float | None) -> Observed:
    return Observed(kind, content, lambda: text, parts, number)


def observed(value: Any, printed: str = "") -> Hashable:
    """What is seen of a value that was returned, as something that is equal for equal sights alone.

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
    seen = _sight(value, {}, 0)
    return seen if not printed else Observed("printed", (seen, printed), lambda: f"{seen!r} after printing {printed!r}")


def observed_raise(problem: BaseException, printed: str = "") -> Hashable:
    """What is seen of an exception.

    >>> observed_raise(ValueError("no", 1))
    raises ValueError: ('no', 1)
    """
    seen = _raised(problem, {}, 0)
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
    if kind in _MUTABLE:
        if id(value) in inside:
            raise UnobservableError(value, "holds one object in two places, which a copy of it would not show", "return copies")
        inside[id(value)] = value
    look = _LOOKS.get(kind) or _look(value, kind)
    return look(value, inside, depth + 1)


Look = Callable[[Any, dict[int, Any], int], Hashable]


def _look(value: Any, kind: type) -> Look:
    """How a value is looked at whose type is not one of the few that are known by name."""
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
    raise UnobservableError(value, "is no plain value by which outcomes are told apart")


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
        raise UnobservableError(value, "has attributes beside its entries", "return dict(it)")
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
    return Observed(f"np.{type(value).__name__}", (kind.str, value.tobytes()), lambda: repr(value), number=number)


def _array(value: Any, inside: dict[int, Any], depth: int) -> Hashable:
    kind = value.dtype
    if kind.hasobject and any(issubclass(type(part), Placeholder) for part in value.flat):
        return _drawn_array(value)
    if kind.metadata or kind.kind not in "biufcSUMmO" or kind.char in "gG":
        raise UnobservableError(
            value, f"is an array of {kind}, whose bits cannot be compared", "return an array of numbers or texts"
        )
    order = ", order='F'" if value.flags.f_contiguous and not value.flags.c_contiguous else ""
    known, listed = value.tobytes(), value.tolist()
    flat: Any = value.ravel().tolist()
    parts = _parts(flat, inside, depth) if kind.hasobject else flat
    name = f"array of {kind.str}{value.shape}{order}"
    content = parts if kind.hasobject else known
    return Observed(name, content, lambda: f"array({listed!r}, dtype={kind}{order})", parts if kind.kind in "biufO" else None)


def _drawn_array(value: Any) -> Hashable:
    """An array of placeholders and plain numbers, as the array of numbers that it stands for."""
    kinds = {np.dtype(type(part.sample)) for part in value.flat if issubclass(type(part), Placeholder)}
    if len(kinds) > 1:
        raise UnobservableError(value, "is an array of drawn numbers of several types")
    kind = kinds.pop()
    entry = type(kind.type(0).item()).__name__
    parts = tuple(p.sight(entry) if issubclass(type(p), Placeholder) else kind.type(p).item() for p in value.flat)
    return Observed(f"array of {kind.str}{value.shape}", parts, lambda: f"array of {len(parts)} drawn numbers", parts)


def _member(value: enum.Enum, inside: dict[int, Any], depth: int) -> Hashable:
    return Observed(_called(type(value)), (value.name, _sight(value.value, inside, depth)), lambda: str(value.name))


def _named(value: tuple[Any, ...], inside: dict[int, Any], depth: int) -> Hashable:
    parts, kind = _parts(tuple.__iter__(value), inside, depth), type(value)
    return Observed(_called(kind), parts, lambda: f"{kind.__name__}({_written(parts)})", parts)


def _record(value: Any, inside: dict[int, Any], depth: int) -> Hashable:
    """A dataclass: its type and everything that it holds."""
    kind = type(value)
    if not all("__dataclass_fields__" in vars(base) for base in kind.__mro__ if base is not object) or id(value) in inside:
        raise UnobservableError(value, "is no plain dataclass, or stands in two places")
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
    arguments = _parts(problem.args, inside, depth + 1)
    held = tuple((name, _sight(part, inside, depth + 1)) for name, part in vars(problem).items())
    before = problem.__cause__ or (None if problem.__suppress_context__ else problem.__context__)
    held += tuple((name, _sight(part, inside, depth + 1)) for name, part in _in_places(problem))
    behind = None if before is None else _raised(before, inside, depth + 1)
    text = f"raises {kind.__name__}" + (
        f": {_written(arguments)}" if len(arguments) == 1 else f": {arguments!r}" if arguments else ""
    )
    known = (_called(kind), arguments, str(problem), held, _lines(problem), problem.__cause__ is None, behind)
    return Observed("raises", known, lambda: text)


def _in_places(value: Any) -> list[tuple[str, Any]]:
    """What an object keeps beside its dictionary: slots, and what Python's own exceptions hold, such as an exit code."""
    found = {name for base in type(value).__mro__ for name, place in vars(base).items() if isinstance(place, _PLACES)}
    names = sorted(name for name in found - {"args"} if not (name.startswith("__") and name.endswith("__")))
    return [(name, getattr(value, name)) for name in names if hasattr(value, name)]


def _lines(problem: BaseException) -> tuple[int, ...]:
    """The lines of its traceback, without those of dpspec, which called the code."""
    frames = (entry for entry in traceback.walk_tb(problem.__traceback__))
    return tuple(line for frame, line in frames if not frame.f_code.co_filename.startswith(_OURS))


def _called(kind: type) -> str:
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


_LOOKS: dict[type, Look] = {
    bool: _truth, float: _float, complex: _complex, Fraction: _exact, Decimal: _exact, range: _exact, tuple: _tuple, list: _list,
    collections.deque: _list, set: _set, frozenset: _set, dict: _table, collections.OrderedDict: _table,
    collections.Counter: _table, collections.defaultdict: _table, bytearray: _bytes, np.ndarray: _array,
}  # fmt: skip
