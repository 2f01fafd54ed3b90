"""What plain code may use: callables, types and attributes that are functions of their arguments and of nothing else.

Everything is named; what is not named here, nor written in Python where it can be read, ends the enumeration. Nothing in
these tables draws, keeps state between calls, looks at time, addresses, files or the interpreter, or leaves memory unwritten
(`numpy.empty` does).
"""

from __future__ import annotations

import abc
import bisect
import builtins
import cmath
import collections
import collections.abc
import copy
import dataclasses
import decimal
import enum
import fractions
import functools
import heapq
import itertools
import json
import math
import numbers
import operator
import re
import statistics
import string
import types
import typing
from collections.abc import Iterable
from types import ModuleType
from typing import Any

import numpy as np

_BUILTINS = """abs all any ascii bin bool bytearray bytes callable chr complex dict divmod enumerate filter float format
frozenset getattr hasattr hex int isinstance issubclass iter len list map max min next oct ord pow print range repr reversed round
set slice sorted str sum tuple type zip property staticmethod classmethod super"""
_NUMPY = """all allclose amax amin any append apply_along_axis arange argmax argmin argsort argwhere around array array2string
array_equal array_split asarray ascontiguousarray atleast_1d atleast_2d average bincount broadcast_to choose clip column_stack
compress concatenate convolve copy corrcoef count_nonzero cov cross cumprod cumsum delete diag diagonal diff digitize dot
ediff1d einsum equal expand_dims extract eye flatnonzero flip fliplr flipud full full_like gradient histogram hstack identity imag
indices inner insert interp intersect1d isclose isin isreal iscomplex isscalar ix_ kron lexsort linspace logspace matmul max
mean median meshgrid min moveaxis nan_to_num nanargmax nanargmin nanmax nanmean nanmedian nanmin nanprod nanstd nansum nanvar
ndim nonzero ones ones_like outer packbits pad partition percentile prod ptp quantile ravel ravel_multi_index real repeat
reshape roll rollaxis rot90 round searchsorted select setdiff1d setxor1d shape size sort split squeeze stack std sum swapaxes
take take_along_axis tensordot tile trace transpose trapezoid tri tril triu union1d unique unpackbits unravel_index unwrap var
vdot vsplit vstack where zeros zeros_like"""
_ARRAY = """T all any argmax argmin argsort astype choose clip compress conj conjugate copy cumprod cumsum diagonal dot dtype fill
flat flatten imag item itemsize max mean min nbytes ndim nonzero prod ptp put ravel real repeat reshape round searchsorted shape
size sort squeeze std sum swapaxes take tolist trace transpose var"""

_MODULES: dict[ModuleType, str] = {
    builtins: _BUILTINS,
    np: _NUMPY,
    operator: " ".join(
        name for name in operator.__all__ if name not in ("attrgetter", "methodcaller", "call", "setitem", "delitem")
    ),
    functools: "reduce partial cmp_to_key",
    itertools: " ".join(name for name in dir(itertools) if not name.startswith("_")),
    math: " ".join(name for name in dir(math) if not name.startswith("_")),
    cmath: " ".join(name for name in dir(cmath) if not name.startswith("_")),
    bisect: "bisect bisect_left bisect_right insort insort_left insort_right",
    heapq: "heapify heappop heappush heappushpop heapreplace merge nlargest nsmallest",
    collections: "Counter OrderedDict defaultdict deque",
    fractions: "Fraction",
    decimal: "Decimal",
    statistics: "mean fmean median median_low median_high mode multimode pvariance variance pstdev stdev geometric_mean",
    copy: "copy deepcopy",
    dataclasses: "replace asdict astuple",
    json: "dumps loads",
    re: "match fullmatch search findall split sub",
}

READABLE = frozenset({*_MODULES, numbers, typing, enum, abc, string, collections.abc, types})
"""Modules whose attributes may be looked up; calling what is found is another question."""


def _named() -> dict[int, Any]:
    found = [getattr(module, name) for module, names in _MODULES.items() for name in names.split() if hasattr(module, name)]
    found += [value for value in vars(np).values() if isinstance(value, np.ufunc)]
    found += [value for value in vars(np).values() if isinstance(value, type) and issubclass(value, np.generic)]
    found += [np.errstate, np.iinfo, np.finfo, np.dtype, np.ndindex, np.ndenumerate]
    found += [value for value in vars(builtins).values() if isinstance(value, type) and issubclass(value, BaseException)]
    return {id(value): value for value in found}


CALLABLES = _named()
"""Callables by their identity."""

_WALKED: tuple[Iterable[Any], ...] = ([], (), {}, set(), "", "\u00e9", b"", range(0), bytearray(), {}.values(), {}.items())

TYPES: frozenset[type] = frozenset({
    bool, bytearray, bytes, complex, dict, float, frozenset, int, list, range, set, slice, str, tuple, type(None), type(...),
    enumerate, filter, map, zip, reversed, fractions.Fraction, decimal.Decimal, collections.Counter, collections.OrderedDict,
    collections.defaultdict, collections.deque, type({}.keys()), type({}.values()), type({}.items()), re.Pattern, re.Match,
    np.iinfo, np.finfo, np.dtype, operator.itemgetter,
    *(value for value in vars(itertools).values() if isinstance(value, type)),
    *map(type, map(iter, _WALKED)),
    *(value for value in vars(np).values() if isinstance(value, type) and issubclass(value, np.generic)),
})  # fmt: skip
"""Types whose public attributes are functions of the value."""

BASES: frozenset[Any] = frozenset({
    object, abc.ABC, typing.Generic, typing.Protocol, typing.NamedTuple, enum.Enum, enum.IntEnum, enum.Flag, enum.IntFlag,
    enum.StrEnum, enum.ReprEnum, *TYPES,
    *(value for value in vars(builtins).values() if isinstance(value, type) and issubclass(value, BaseException)),
})  # fmt: skip
"""Classes from which a class of the user's may inherit."""

ARRAY = frozenset(_ARRAY.split())
"""Attributes of arrays."""
SYMBOLIC_ARRAY = frozenset({"shape", "size", "ndim", "T", "reshape", "ravel", "flatten", "copy", "transpose", "astype"})
"""Attributes of an array of symbolic draws that are those of an array of doubles."""
OF_TYPES = frozenset({"fromkeys", "from_bytes", "fromhex", "maketrans", "from_iterable", "from_float", "from_decimal", "reduce",
                      "accumulate", "outer", "reduceat"})  # fmt: skip
"""What may be asked of a type, or of a ufunc."""
EXCEPTION = frozenset({"args", "code", "value", "add_note", "errno", "msg", "reason", "start", "end"})
"""Attributes of exceptions; a traceback has frames."""


def _identities(*callables: Any) -> frozenset[int]:
    return frozenset(map(id, callables))


OF_SYMBOLS = _identities(
    list, tuple, zip, enumerate, reversed, len, int, math.floor, math.trunc, iter, next, range, any, all, map, filter, sorted,
    min, max, sum, itertools.chain, itertools.islice, itertools.repeat,
)  # fmt: skip
"""Callables that do with a symbolic draw what they do with a double, or ask it something that it refuses."""
UNORDERED = _identities(len, set, frozenset, any, all, bool, isinstance, copy.copy, copy.deepcopy)
"""Callables for which the order of a set does not matter."""
ORDERED = _identities(sorted, min, max)
"""Callables for which it does not where no two elements are alike: of texts, without a key."""
CALLING = _identities(
    map, filter, sorted, min, max, functools.reduce, functools.partial, iter, heapq.merge, heapq.nlargest, heapq.nsmallest,
    bisect.bisect, bisect.bisect_left, bisect.bisect_right, np.apply_along_axis,
    *(value for value in vars(itertools).values() if isinstance(value, type)),
)  # fmt: skip
"""Callables that call their arguments."""
SHOWING = _identities(str, repr, ascii, format, json.dumps, np.array2string)
"""Callables that write their arguments as text."""
METHODS = frozenset({
    "__init__", "__new__", "__name__", "__len__", "__getitem__", "__contains__", "__eq__", "__lt__", "__le__", "__gt__", "__ge__",
    "__add__", "__sub__", "__mul__", "__iter__", "__next__", "__enter__", "__exit__", "__call__", "__post_init__", "__neg__",
    "__setitem__", "__str__",
})  # fmt: skip
"""Special methods that may be named."""
