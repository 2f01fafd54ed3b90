"""The equivalent forms of one call of numpy: types by name, options by keyword, axes from the end.

Each is normalised to one form, with positional arguments and without options, or not at all (None): then the call is rejected.
Nothing here computes with numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

NumberType = type[np.float64] | type[np.int64]

_OF_CHARACTERS: dict[str, NumberType] = {"d": np.float64, "l": np.int64}
_TYPES = (float, int, np.float64, np.int64)
_NAMED = (type(np.dtype(float)), type(np.dtype(np.int64)))


def number_type(given: Any) -> NumberType | None:
    """The type of numbers of 64 bits that a `dtype` names; None for any other.

    >>> [number_type(one) for one in (float, "f8", np.dtype("int64"))]
    [<class 'numpy.float64'>, <class 'numpy.float64'>, <class 'numpy.int64'>]
    >>> [number_type(one) for one in ("float32", ">f8", bool, None)]
    [None, None, None, None]
    """
    if not (type(given) is str or type(given) in _NAMED or any(given is one for one in _TYPES)):
        return None
    try:
        found = np.dtype(given)
    except (TypeError, ValueError, SyntaxError):
        return None
    return _OF_CHARACTERS.get(found.char) if found.isnative else None


NARROW = (np.int8, np.int16, np.int32)
"""Integers of fewer bits than 64, of which numpy sums up arrays in 64 bits."""
_NARROW_NAMED = tuple(type(np.dtype(kind)) for kind in NARROW)


def entry_type(given: Any) -> Any:
    """The type that a `dtype` names, of the numbers of an array of entries: of 64 bits, or an integer of fewer; None for others.

    >>> [entry_type(one) for one in ("int32", np.int8, float, "uint8", "float32")]
    [<class 'numpy.int32'>, <class 'numpy.int8'>, <class 'numpy.float64'>, None, None]
    """
    found = number_type(given)
    if found is not None or not (type(given) is str or type(given) in _NARROW_NAMED or any(given is one for one in NARROW)):
        return found
    try:
        named = np.dtype(given)
    except (TypeError, ValueError, SyntaxError):
        return None
    return next((kind for kind in NARROW if named == np.dtype(kind) and named.isnative), None)


_PLACES: dict[str, tuple[str, ...]] = {
    "clip": ("a", "a_min", "a_max"),
    "round": ("a", "decimals"),
    "around": ("a", "decimals"),
    "maximum": ("x1", "x2"),
    "minimum": ("x1", "x2"),
    "where": ("condition", "x", "y"),
    "full": ("shape", "fill_value"),
}
"""The names of arguments that are read by their places."""
_OTHER_NAMES = {"min": "a_min", "max": "a_max"}
_NOTHING: dict[str, tuple[Any, ...]] = {
    "keepdims": (False,), "out": (None,), "copy": (True, None), "order": ("K", None), "casting": ("same_kind",), "subok": (True,),
}  # fmt: skip
"""Options with which a call says what it would say without them; others that are None are none."""


def by_place(name: str, args: Sequence[Any], options: Mapping[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a call with those that may be named in their places, and what options are left.

    A method is treated as the function of the same name, with its array as the first argument.

    >>> by_place("clip", (7,), {"min": 0, "max": None, "out": None})
    ((7, 0, None), {})
    """
    left = {key: value for key, value in options.items() if not _is_nothing(key, value) or (name == "asarray" and value is True)}
    places = _PLACES.get(name, ())
    found = list(args)
    for place in places[len(found) :]:
        key = next((one for one in left if one == place or _OTHER_NAMES.get(one) == place), None)
        if key is not None:
            found.append(left.pop(key))
        elif name == "clip":
            found.append(None)
        else:
            break
    return tuple(found), left


def _is_nothing(key: str, value: Any) -> bool:
    return any(value is one or (type(value) is str and value == one) for one in _NOTHING.get(key, ()))


def axis_of(given: Any, dimensions: int) -> int | None:
    """An axis counted from the first; None where it is none of an array of so many dimensions."""
    if type(given) is not int or not -dimensions <= given < dimensions:
        return None
    return given % dimensions
