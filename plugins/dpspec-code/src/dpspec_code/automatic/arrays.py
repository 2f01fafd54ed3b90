"""Models of known functions on drawn numbers, and on arrays of them.

numpy and Python look at drawn numbers (`dpspec_code.automatic.noise`) one by one here, by the same comparisons and
operations that they make of doubles.
"""

from __future__ import annotations

import bisect
import functools
import math
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import attrs
import numpy as np

from dpspec.plugin.judges import NotEnumerableError
from dpspec_code.automatic.formulas import CONTINUOUS, Affine, Applied
from dpspec_code.automatic.noise import (
    FloatOrInteger,
    FloatOrZero,
    NoisyNumber,
    WeightedUniform,
    array_of,
    difference_of,
    largest_of_counts,
    one_by_one,
)
from dpspec_code.automatic.path import Uniform
from dpspec_code.automatic.spellings import axis_of, by_place, number_type


def holds_drawn(value: Any, depth: int = 3) -> bool:
    """Whether a value is a drawn number or holds one."""
    kind = type(value)
    if kind is NoisyNumber:
        return True
    if kind is np.ndarray:
        return bool(value.dtype.hasobject) and any(type(part) is NoisyNumber for part in value.flat)
    if kind in (list, tuple, dict) and depth:
        return any(holds_drawn(part, depth - 1) for part in (value.values() if kind is dict else value))
    return False


class _OtherTypeError(Exception):
    """A value is none of which numpy makes an array of 64 bits."""


_HELD = (int, float, bool, np.bool_, np.int64, np.float64)
"""Types of the plain numbers of which numpy makes an array of 64 bits, next to drawn ones: of a text it makes one of texts, of
None or a fraction one of objects, of integers without a sign one of doubles."""


def _held(parts: Iterable[Any]) -> list[Any]:
    """Some numbers, of which numpy makes an array of 64 bits."""
    listed = list(parts)
    if any(type(part) not in (NoisyNumber, *_HELD) for part in listed):
        raise _OtherTypeError
    return listed


def _listed(values: Any) -> list[Any]:
    """The numbers of an array or a list, as numpy would hold them."""
    parts = (values if type(values) is np.ndarray else _asarray(values)).ravel()
    if all(type(part) is NoisyNumber for part in parts):
        return list(parts)
    kind = _kind_of(parts)
    return [part if type(part) is NoisyNumber else kind(part) for part in parts]


def _kind_of(parts: Iterable[Any]) -> type[np.int64 | np.float64]:
    """The type of the numbers of an array of such numbers: integers of 64 bits where all are whole, else doubles."""
    listed = _held(parts)
    for part in listed:
        if type(part) is NoisyNumber and type(part.sample) is FloatOrInteger:  # what is done with the array depends on it
            part.path.refuse(NotEnumerableError("an array", "has numbers whose type the data decide", "give it a dtype"))
    samples = [part.sample if type(part) is NoisyNumber else part for part in listed]
    if not all(isinstance(sample, (int, np.integer, np.bool_)) for sample in samples):
        return np.float64
    if any(type(part) is int and not -(1 << 63) <= part < 1 << 63 for part in listed):
        raise _OtherTypeError
    return np.int64


def _asarray(values: Any, kind: type | None = None) -> Any:
    """The numbers as an array of a type, or of that which numpy would choose."""
    parts = _held(values.ravel() if type(values) is np.ndarray else _flat(values))
    if type(values) is np.ndarray and kind is None:
        return values.copy()
    made = _kind_of(parts) if kind is None else kind
    if kind is None and made is np.float64 and all(map(_may_be_integer, parts)):
        made = FloatOrInteger
    name = "int" if made is np.int64 else "float"
    found = np.empty(values.shape if type(values) is np.ndarray else _shape(values), dtype=object)
    flat = found.reshape(-1)
    for place, part in enumerate(parts):
        flat[place] = part.applied(made, name, [part]) if type(part) is NoisyNumber else made(part)
    return found


def _may_be_integer(part: Any) -> bool:
    """Whether a number is an integer, or a sum of floats, which is the integer 0 where there is nothing to sum."""
    sample = part.sample if type(part) is NoisyNumber else part
    return type(sample) is FloatOrZero or not isinstance(sample, float)


def plain_like(values: Any) -> Any:
    """An array of the shape and type of an array or a list of drawn numbers, of zeros."""
    array = values if type(values) is np.ndarray else _asarray(values)
    return np.zeros(array.shape, dtype=_kind_of(array.ravel()))


def as_doubles(values: Any) -> Any:
    """The numbers as an array of doubles."""
    return _asarray(values, np.float64)


def _shape(values: Any) -> tuple[int, ...]:
    if type(values) not in (list, tuple):
        return ()
    inner = {_shape(part) for part in values}
    if len(inner) > 1:
        raise TypeError("numbers in rows of different lengths")
    return (len(values), *(inner.pop() if inner else ()))


def _flat(values: Any) -> Iterator[Any]:
    if type(values) in (list, tuple):
        for part in values:
            yield from _flat(part)
    else:
        yield values


def _largest(values: Any, *, least: bool = False) -> int:
    """The first place of the largest number, or the smallest."""
    parts = _listed(values)
    drawn = [part for part in parts if type(part) is NoisyNumber]
    if len(drawn) == len(parts) > 2 and all(isinstance(part.sample, float) for part in drawn):
        return drawn[0].best_of(drawn, least=least)
    return one_by_one(parts, least=least)


def _extreme(values: Any, *, least: bool) -> Any:
    parts = _listed(values)
    known = largest_of_counts(parts, least=least)
    return parts[_largest(values, least=least)] if known is None else known


def _clipped(value: Any, low: Any, high: Any) -> Any:
    if type(value) is np.ndarray:
        return array_of([_clipped(part, low, high) for part in _listed(value)], value.shape)
    kind = _kind_of(one for one in (value, low, high) if one is not None)
    number, low, high = (None if one is None else _of_kind(one, kind) for one in (value, low, high))
    if low is not None and number < low:
        return low
    return high if high is not None and number > high else number


def _of_kind(value: Any, kind: type[np.int64 | np.float64]) -> Any:
    """A number as one of numpy's of a type."""
    return next(iter(_asarray([value], kind)))


def _of_numpy(value: Any) -> Any:
    """A number as numpy takes it: one of Python's becomes one of 64 bits."""
    is_of_numpy = isinstance(value.sample if type(value) is NoisyNumber else value, (np.int64, np.float64, np.bool_))
    return value if is_of_numpy else _of_kind(value, _kind_of([value]))


def _summed(values: Any) -> Any:
    first, *parts = _listed(values)
    for part in parts:
        first = first + part
    return first


def _running(values: Any) -> Any:
    parts: list[Any] = []
    for part in _listed(values):
        parts.append(parts[-1] + part if parts else part)
    return array_of(parts, (len(parts),))


def _item(value: Any, place: int = 0) -> Any:
    parts = value.ravel() if type(value) is np.ndarray else [value]
    if len(parts) != 1 or place != 0:
        raise ValueError("can only convert an array of size 1 to a Python scalar")
    return _python(parts[0])


def _chosen(condition: Any, one: Any, other: Any) -> Any:
    """np.where of a condition that is plain: each number comes from one of the two, in the type that both have together."""
    boxes = [_boxed(part) for part in (one, other)]
    kind = _kind_of(part for box in boxes for part in box.ravel())
    asked, *boxes = np.broadcast_arrays(_boxed(condition), *(_asarray(box, kind) for box in boxes))
    if any(type(part) not in (bool, np.bool_) for part in asked.ravel()):
        return NotImplemented
    triples = zip(*(box.ravel() for box in (asked, *boxes)), strict=True)
    return array_of([left if holds else right for holds, left, right in triples], asked.shape)


def _ranked(values: Any) -> Any:
    """np.argsort in one dimension, where no two of the numbers are ever equal."""
    parts = _listed(values)
    if np.ndim(values) != 1 or not all(type(part) is NoisyNumber for part in parts):
        return NotImplemented
    for place, part in enumerate(parts):
        apart = [difference_of(part, other) for other in parts[:place]]
        if not all(isinstance(one, Affine) and any(noise.kind in CONTINUOUS for noise, _ in one.terms) for one in apart):
            return NotImplemented
    key: Callable[[int], Any] = functools.cmp_to_key(lambda one, other: -1 if parts[one] < parts[other] else 1)
    order = sorted(range(len(parts)), key=key)
    return np.array(order, dtype=np.int64)


def _product(one: Any, other: Any) -> Any:
    """np.dot of two vectors, or of a matrix and a vector."""
    boxes = [_boxed(part) for part in (one, other)]
    if boxes[0].ndim not in (1, 2) or boxes[1].ndim != 1 or boxes[0].shape[-1] != boxes[1].shape[0] or not boxes[1].size:
        return NotImplemented
    rows = boxes[0].reshape(-1, boxes[1].size)
    kind = _kind_of(part for box in boxes for part in box.ravel())
    found = [_dotted(row, boxes[1], kind) for row in rows]
    return found[0] if boxes[0].ndim == 1 else array_of(found, (len(found),))


def _dotted(row: Any, column: Any, kind: Any) -> Any:
    total: Any = kind(0)
    for one, other in zip(_asarray(row, kind), _asarray(column, kind), strict=True):
        if all(type(part) is NoisyNumber or part for part in (one, other)):  # what is 0 adds nothing
            total = total + one * other
    return total


def _moved(function: Any, args: Sequence[Any], options: dict[str, Any]) -> Any:
    """A function of numpy that moves the entries of arrays of one type, and does not look at them."""
    arrays = [one for one in _arrays_in(args[0]) if type(one) is np.ndarray]
    kinds = {_kind_of(array.ravel()) for array in arrays}
    given = [args[0]] if type(args[0]) is np.ndarray else args[0]
    if len(kinds) != 1 or type(given) not in (list, tuple) or len(arrays) != len(given) or options.keys() - {"axis"}:
        return NotImplemented
    if any(type(part) not in (NoisyNumber, *kinds) for array in arrays for part in array.ravel()):
        return NotImplemented
    if any(not array.dtype.hasobject for array in arrays):
        return NotImplemented
    return function(*args, **options)


def _arrays_in(given: Any) -> Sequence[Any]:
    return [given] if type(given) is np.ndarray else given if type(given) in (list, tuple) else []


def _python_or_double(value: Any, kind: Any) -> Any:
    """value.astype(kind) and the like: always an array, or a number, of its own."""
    made = number_type(kind)
    if made is None:
        return NotImplemented
    return _asarray(value, made) if type(value) is np.ndarray else next(iter(_asarray([value], made)))


def _python(value: Any) -> Any:
    """The numbers of an array as Python's own, in lists."""
    if type(value) is np.ndarray:
        return [_python(part) for part in value]
    made = int if isinstance(value.sample if type(value) is NoisyNumber else value, (int, np.integer)) else float
    return value.applied(made, made.__name__, [value]) if type(value) is NoisyNumber else made(value)


_OF_ARRAYS: dict[str, Callable[..., Any]] = {
    "argmax": lambda a: np.int64(_largest(a)),
    "argmin": lambda a: np.int64(_largest(a, least=True)),
    "max": lambda a: _extreme(a, least=False),
    "amax": lambda a: _extreme(a, least=False),
    "min": lambda a: _extreme(a, least=True),
    "amin": lambda a: _extreme(a, least=True),
    "clip": _clipped,
    "sum": _summed,
    "mean": lambda a: _summed(as_doubles(a)) / np.int64(len(_listed(a))),
    "cumsum": _running,
    "array": lambda a, kind=None: _converted(a, kind, copied=True),
    "asarray": lambda a, kind=None: _converted(a, kind, copied=False),
    "astype": _python_or_double,
    "item": _item,
    "where": _chosen,
    "argsort": _ranked,
    "dot": _product,
    "matmul": _product,
    "inner": _product,
    "tolist": _python,
    "maximum": lambda a, b: _larger(max, a, b),
    "minimum": lambda a, b: _larger(min, a, b),
}
"""What functions of numpy and methods of arrays do with drawn numbers, without options."""
_REDUCED = frozenset({"argmax", "argmin", "max", "amax", "min", "amin", "sum", "mean", "cumsum"})
"""The functions that may be applied along an axis."""
_MOVING = frozenset({
    "atleast_1d", "atleast_2d", "reshape", "ravel", "transpose", "squeeze", "expand_dims", "stack", "vstack", "hstack",
    "column_stack", "concatenate", "flip", "roll", "tile", "copy",
})  # fmt: skip
_OPERATORS = {"add": operator.add, "subtract": operator.sub, "multiply": operator.mul, "divide": operator.truediv,
              "true_divide": operator.truediv, "negative": operator.neg, "absolute": abs, "abs": abs,
              "fabs": lambda number: abs(_of_kind(number, np.float64)),
              "less": operator.lt, "greater": operator.gt, "less_equal": operator.le, "greater_equal": operator.ge}  # fmt: skip
_OF_NUMBERS = frozenset({
    "round", "around", "floor", "ceil", "rint", "trunc", "exp", "log", "log1p", "expm1", "sqrt", "sin", "cos", "tan", "tanh",
    "square", "sign",
})  # fmt: skip
"""Functions of numpy, and methods of the same names, that look at each number by itself."""
_PLAIN = frozenset(map(id, (float, int, round, *(getattr(math, name) for name in (
    "floor", "ceil", "trunc", "exp", "log", "log1p", "expm1", "sqrt", "sin", "cos", "tan", "tanh", "pow", "log2", "log10")
))))  # fmt: skip
"""Functions of Python that look at single numbers."""


def _by_part(function: Any, *given: Any) -> Any:
    """A function of numpy of each number, in arrays of one shape."""
    arrays = np.broadcast_arrays(*(_boxed(one if type(one) in (list, tuple, np.ndarray) else _of_numpy(one)) for one in given))
    parts = [function(*one) for one in zip(*(array.ravel() for array in arrays), strict=True)]
    return parts[0] if not arrays[0].shape else array_of(parts, arrays[0].shape)


def _larger(function: Any, *given: Any) -> Any:
    """The larger of two numbers, or the smaller, in the type that both have together."""
    kind = _kind_of(part for one in given for part in _boxed(one).ravel())
    return _by_part(function, *(_asarray(_boxed(one), kind) for one in given))


def _boxed(value: Any) -> Any:
    if type(value) is np.ndarray and value.dtype not in (np.dtype(object), *map(np.dtype, _HELD)):
        raise _OtherTypeError
    if type(value) in (list, tuple, np.ndarray):
        return _asarray(value) if type(value) is not np.ndarray else value
    box = np.empty((), dtype=object)
    box[()] = value
    return box


def answered(function: Any, name: str, given: Sequence[Any], options: dict[str, Any] | None = None) -> Any:
    """function(*given, **options) where some arguments are or hold drawn numbers; NotImplemented where it is not modelled."""
    try:
        return _answered(function, name, given, options)
    except _OtherTypeError:
        return NotImplemented


def _answered(  # noqa: PLR0911, PLR0912 (one line per kind of function)
    function: Any, name: str, given: Sequence[Any], options: dict[str, Any] | None
) -> Any:
    if id(function) in _PLAIN and not options:
        made = next((one for one in given if type(one) is NoisyNumber), None)
        return NotImplemented if made is None else made.applied(function, name, given)
    if function in (bisect.bisect, bisect.bisect_left, bisect.bisect_right) and len(given) == 2 and not options:
        return _place_among(given[0], given[1])
    if function is np.linalg.norm:
        return _sum_of_weights(given, options or {})
    of_numpy = getattr(function, "__module__", None) == "numpy" or isinstance(function, np.ufunc)
    of_array = type(getattr(function, "__self__", None)) is np.ndarray
    if not of_numpy and not of_array and function is not np.float64:
        return NotImplemented
    if name in ("zeros_like", "ones_like", "full_like") and of_numpy and not any(map(holds_drawn, given[1:])):
        return function(plain_like(given[0]), *given[1:], **(options or {}))
    args, left = by_place(name, given, options or {})
    if name in _MOVING and of_numpy:
        return _moved(function, args, left)
    if name in _REDUCED:
        return _reduced(name, args, left)
    if name in ("array", "asarray", "astype") and left.keys() == {"dtype"}:
        args, left = (*args, left["dtype"]), {}
    if name == "searchsorted" and len(args) == 2 and left in ({}, {"side": "left"}, {"side": "right"}):
        found = _place_among(*args)
        return found if found is NotImplemented else np.int64(found)
    if left:
        return NotImplemented
    if function is np.float64:
        return args[0].applied(np.float64, "float", args) if len(args) == 1 and type(args[0]) is NoisyNumber else NotImplemented
    if name in _OF_ARRAYS:
        return _OF_ARRAYS[name](*args)
    if name in _OPERATORS:
        return _by_part(_OPERATORS[name], *args)
    if name in _OF_NUMBERS:
        return _by_part(lambda one, *rest: _single(name, one, *rest), args[0], *args[1:])
    return NotImplemented


def _place_among(values: Any, wanted: Any) -> Any:
    """Where a uniform number would be put into sums of weights in order, of which it is equal to none."""
    if type(wanted) not in (Uniform, WeightedUniform) or type(values) not in (list, np.ndarray) or np.ndim(values) != 1:
        return NotImplemented
    low, high = 0, len(values)
    while low < high:  # as both libraries search, which matters where the sums are not in order
        middle = (low + high) // 2
        if wanted < values[middle]:
            high = middle
        else:
            low = middle + 1
    return low


def _sum_of_weights(given: Sequence[Any], options: dict[str, Any]) -> Any:
    """np.linalg.norm(values, ord=1) of weights e^a in one dimension, of which none is negative: their sum."""
    order = options.get("ord", given[1] if len(given) == 2 else None)
    if len(given) + len(options) != 2 or options.keys() - {"ord"} or type(order) is not int or order != 1:
        return NotImplemented
    parts = _listed(given[0])
    formulas = [one.expression if type(one) is NoisyNumber else None for one in parts]
    if np.ndim(given[0]) != 1 or not all(isinstance(one, Applied) and one.function == "exp" for one in formulas):
        return NotImplemented
    return _summed(as_doubles(parts))


def _converted(values: Any, kind: Any, *, copied: bool) -> Any:
    """np.array and np.asarray; the second returns an array unchanged if it has the requested type."""
    made = None if kind is None else number_type(kind)
    if kind is not None and made is None:
        return NotImplemented
    if not copied and type(values) is np.ndarray and (made is None or _kind_of(values.ravel()) is made):
        return values
    return _asarray(values, made)


def _reduced(name: str, args: Sequence[Any], options: dict[str, Any]) -> Any:
    """A function that makes one number of all, or of those along an axis."""
    (values, *rest), left = args, dict(options)
    axis = rest.pop(0) if rest else left.pop("axis", None)
    kind, keeps = left.pop("dtype", None), left.pop("keepdims", False)
    of_type = kind is None or (number_type(kind) is np.float64 and name in ("sum", "mean", "cumsum"))
    if rest or left or keeps not in (True, False) or not of_type:
        return NotImplemented
    values = values if kind is None and type(values) is np.ndarray else _asarray(values, None if kind is None else np.float64)
    place = None if axis is None else axis_of(axis, values.ndim)
    if (axis is not None and place is None) or (values.ndim > 1 and place is not None and name == "cumsum"):
        return NotImplemented
    if place is not None and values.ndim > 1:
        return _along(name, values, place, keeps=keeps)
    found = _OF_ARRAYS[name](values)
    return _boxed(found).reshape((1,) * values.ndim).copy() if keeps else found


def _along(name: str, values: Any, place: int, *, keeps: bool) -> Any:
    """A function of each line along an axis, where all its values are drawn."""
    moved = np.moveaxis(values, place, -1)
    parts = [_OF_ARRAYS[name](row) for row in moved.reshape(-1, moved.shape[-1])]
    if not all(type(part) is NoisyNumber for part in parts):
        return NotImplemented
    found = array_of(parts, moved.shape[:-1])
    return np.expand_dims(found, place).copy() if keeps else found


def _single(name: str, one: Any, *rest: Any) -> Any:
    function = getattr(np, name)
    return one.applied(function, name, [one, *rest]) if type(one) is NoisyNumber else function(one, *rest)


@attrs.frozen(eq=False, repr=False)
class DrawnItem:
    """The method `item` of a drawn number of numpy's."""

    number: NoisyNumber

    def __call__(self) -> Any:
        return _python(self.number)
