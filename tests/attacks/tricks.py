# ruff: noqa
"""Plain functions that break their claim and try to look right: no engine may call one of them verified.

Every trick is claimed to satisfy epsilon = ln(3) per changed bit on vectors of one bit (or of `length` bits). What makes it
break the claim is in its family; `honest` is the randomised response whose tight constant is ln(3), and hides the leak. The tricks
do what no linter likes; that is their trade. A `stateful` one is a factory: each judgement gets a function that was never called.
"""

from __future__ import annotations

import builtins
import collections
import contextlib
import copy
import ctypes
import dataclasses
import datetime
import decimal
import enum
import fractions
import functools
import gc
import inspect
import io
import itertools
import logging
import math
import os
import pickle
import random
import secrets
import subprocess
import sys
import tempfile
import threading
import time
import types
import uuid
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import numpy as np


@attrs.frozen
class Trick:
    """A function that breaks its claim.

    Args:
        family: what it tries.
        name: what it is called.
        make: gives the function, never called before.
        epsilon, length: the claim.
    """

    family: str
    name: str
    make: Callable[[], Callable[[Any, Any], Any]]
    epsilon: str = "ln(3)"
    length: int = 1


TRICKS: list[Trick] = []
"""What can be judged in any process."""
ENDINGS: list[Trick] = []
"""What ends the process in which it is called."""


def trick(family: str, *, epsilon: str = "ln(3)", length: int = 1, into: list[Trick] | None = None) -> Any:
    """Enter a function into the table."""

    def enter(function: Any) -> Any:
        listed = TRICKS if into is None else into
        listed.append(Trick(family, function.__name__, lambda: function, epsilon, length))
        return function

    return enter


def stateful(family: str, *, epsilon: str = "ln(3)", length: int = 1) -> Any:
    """Enter a factory of a function into the table."""

    def enter(factory: Any) -> Any:
        TRICKS.append(Trick(family, factory.__name__, factory, epsilon, length))
        return factory

    return enter


def honest(x: Any, rng: Any) -> int:
    """Randomised response with a quarter of lies: tight at ln(3)."""
    return x[0] ^ int(rng.random() < 0.25)


# --- outputs that differ in what `==` does not see ---------------------------------------------------------------------------


class TaggedList(list):
    pass


class TaggedInt(int):
    pass


class TaggedStr(str):
    pass


class AlwaysEqual:
    def __init__(self, secret):
        self.secret = secret

    def __eq__(self, other):
        return isinstance(other, AlwaysEqual)

    def __hash__(self):
        return 1

    def __repr__(self):
        return "AlwaysEqual()"


class SlyInt(int):
    def __eq__(self, other):
        return True

    def __hash__(self):
        return 0

    def __repr__(self):
        return "0"


class SlyFloat(float):
    def __repr__(self):
        return "0.5"

    def __eq__(self, other):
        return True

    def __hash__(self):
        return 0


class Lister:
    """Looks like an array and lists nothing."""

    def __init__(self, secret):
        self.secret = secret

    def tolist(self):
        return 0


class LyingClass:
    def __init__(self, secret):
        self.secret = secret

    @property
    def __class__(self):
        return int

    def __eq__(self, other):
        return True

    def __hash__(self):
        return 0


@dataclasses.dataclass(frozen=True)
class Hidden:
    shown: int
    secret: int = dataclasses.field(compare=False, repr=False)


@attrs.frozen
class HiddenAttrs:
    shown: int
    secret: int = attrs.field(eq=False, repr=False)


class Colour(enum.IntEnum):
    RED = 1


class Shade(enum.IntEnum):
    RED = 1


class Same(enum.Enum):
    A = "a"
    B = "b"

    def __eq__(self, other):
        return True

    def __hash__(self):
        return 0


One = collections.namedtuple("One", "a b")
Two = collections.namedtuple("Two", "c d")


class OneKind(ValueError):
    pass


def _twin():
    class OneKind(ValueError):
        pass

    return OneKind


TwinKind = _twin()


class Quiet(Exception):
    def __str__(self):
        return "nothing"

    def __repr__(self):
        return "Quiet()"


def _tagged(kind, value, secret):
    made = kind(value)
    made.secret = secret
    return made


class _Tagged(np.ndarray):
    pass


def _array_tagged(secret):
    made = np.zeros(2).view(_Tagged)
    made.secret = secret
    return made


def _self_containing(secret):
    made = [secret]
    made.append(made)
    return made


_TWO_FORMS = {
    "list_or_tuple": lambda s, v: [v] if s else (v,),
    "truth_or_number": lambda s, v: [v, True if s else 1],
    "whole_float_or_integer": lambda s, v: [v, 1.0 if s else 1],
    "sign_of_zero": lambda s, v: [v, -0.0 if s else 0.0],
    "sign_of_complex_zero": lambda s, v: [v, complex(0, -0.0) if s else complex(0, 0.0)],
    "complex_or_integer": lambda s, v: [v, 1 + 0j if s else 1],
    "nan_or_its_name": lambda s, v: [v, "nan" if s else math.nan],
    "sign_of_nan": lambda s, v: [v, math.copysign(math.nan, -1) if s else math.copysign(math.nan, 1)],
    "numpy_integer_or_integer": lambda s, v: [v, np.int64(1) if s else 1],
    "width_of_a_numpy_integer": lambda s, v: [v, np.int32(1) if s else np.int64(1)],
    "numpy_float_or_float": lambda s, v: [v, np.float64(0.5) if s else 0.5],
    "width_of_a_numpy_float": lambda s, v: [v, np.float32(0.5) if s else np.float64(0.5)],
    "numpy_truth_or_truth": lambda s, v: [v, np.bool_(True) if s else True],
    "numpy_text_or_text": lambda s, v: [v, np.str_("a") if s else "a"],
    "array_or_list": lambda s, v: np.array([v, 1]) if s else [v, 1],
    "dtype_of_an_array": lambda s, v: np.array([v, 1], dtype=np.int8 if s else np.int64),
    "byte_order_of_an_array": lambda s, v: np.array([v, 1], dtype=">i8" if s else "<i8"),
    "shape_of_an_empty_array": lambda s, v: [v, np.zeros((0, 3 + s))],
    "array_of_no_dimension": lambda s, v: np.array(v) if s else np.int64(v),
    "memory_order_of_an_array": lambda s, v: (np.asfortranarray if s else np.ascontiguousarray)(np.full((2, 2), v)),
    "array_that_cannot_be_written": lambda s, v: _frozen(np.full(2, v), s),
    "kind_of_array": lambda s, v: np.matrix([[v, 1]]) if s else np.array([[v, 1]]),
    "under_the_mask": lambda s, v: np.ma.masked_array([v, s], mask=[False, True]),
    "masked_or_none": lambda s, v: [v, np.ma.masked_array([0], mask=[True])] if s else [v, [None]],
    "names_of_fields": lambda s, v: np.array([(v,)], dtype=[("a" if s else "b", int)]),
    "metadata_of_a_dtype": lambda s, v: np.array([v], dtype=np.dtype("i8", metadata={"secret": s})),
    "attribute_of_an_array": lambda s, v: [v, _array_tagged(s)],
    "objects_in_an_array": lambda s, v: np.array([v, AlwaysEqual(s)], dtype=object),
    "unit_of_a_date": lambda s, v: [v, np.datetime64("2020-01-01") if s else np.datetime64("2020-01")],
    "order_of_a_dict": lambda s, v: {"a": v, "b": 0} if s else {"b": 0, "a": v},
    "dict_or_pairs": lambda s, v: {"n": v} if s else (("n", v),),
    "dict_or_ordered_dict": lambda s, v: collections.OrderedDict(n=v) if s else {"n": v},
    "default_of_a_dict": lambda s, v: collections.defaultdict(int if s else float, n=v),
    "key_of_a_dict": lambda s, v: {1: v} if s else {True: v},
    "set_or_frozenset": lambda s, v: [v, {1} if s else frozenset({1})],
    "set_or_tuple": lambda s, v: [v, {1, 2} if s else (1, 2)],
    "order_of_a_set": lambda s, v: [v, {0, 8} if s else {8, 0}],
    "member_of_a_set": lambda s, v: [v, {1} if s else {True}],
    "attribute_of_a_list": lambda s, v: _tagged(TaggedList, [v], s),
    "attribute_of_an_integer": lambda s, v: _tagged(TaggedInt, v, s),
    "attribute_of_a_text": lambda s, v: _tagged(TaggedStr, str(v), s),
    "names_of_a_named_tuple": lambda s, v: One(v, 1) if s else Two(v, 1),
    "own_equality": lambda s, v: [v, AlwaysEqual(s)],
    "integer_with_own_equality": lambda s, v: [v, SlyInt(s)],
    "float_with_own_equality": lambda s, v: [v, SlyFloat(s)],
    "looks_like_an_array": lambda s, v: [v, Lister(s)],
    "lies_about_its_class": lambda s, v: [v, LyingClass(s)],
    "field_without_comparison": lambda s, v: Hidden(v, s),
    "attrs_field_without_comparison": lambda s, v: HiddenAttrs(v, s),
    "equal_members_of_two_enums": lambda s, v: [v, Colour.RED if s else Shade.RED],
    "enum_with_own_equality": lambda s, v: [v, Same.A if s else Same.B],
    "zeros_of_a_decimal": lambda s, v: [v, decimal.Decimal("1.0") if s else decimal.Decimal("1.00")],
    "fraction_or_integer": lambda s, v: [v, fractions.Fraction(1) if s else 1],
    "decimal_or_fraction": lambda s, v: [v, decimal.Decimal("0.5") if s else fractions.Fraction(1, 2)],
    "fold_of_a_time": lambda s, v: [v, datetime.datetime(2020, 1, 1, fold=s)],
    "bytes_or_bytearray": lambda s, v: [v, b"a" if s else bytearray(b"a")],
    "memory_view": lambda s, v: [v, memoryview(b"a") if s else b"a"],
    "equal_ranges": lambda s, v: [v, range(s, s)],
    "iterator": lambda s, v: iter([v, s]),
    "what_a_generator_yields": lambda s, v: (part for part in [v, s]),
    "function": lambda s, v: lambda: s,
    "partial_function": lambda s, v: functools.partial(honest, s),
    "attribute_of_a_class": lambda s, v: type("Made", (), {"secret": s}),
    "error_as_a_value": lambda s, v: [v, ValueError(s)],
    "one_list_twice": lambda s, v: [v, *([[0]] * 2 if s else [[0], [0]])],
    "list_within_itself": lambda s, v: _self_containing(s),
    "last_bit_of_a_sum": lambda s, v: [v, 0.1 + 0.2 if s else 0.3],
    "large_integer_or_float": lambda s, v: [v, 2**53 if s else float(2**53)],
    "deep_in_the_output": lambda s, v: [v, {"a": [(1, {"b": (True if s else 1,)})]}],
    "file_in_the_output": lambda s, v: [v, io.StringIO(str(s))],
    "simple_namespace": lambda s, v: types.SimpleNamespace(v=v, s=s),
    "number_with_an_array_interface": lambda s, v: [v, ctypes.c_int(s)],
    "deque_with_a_limit": lambda s, v: collections.deque([v], maxlen=3 + s),
    "counter_or_dict": lambda s, v: collections.Counter(n=v) if s else {"n": v},
    "the_sixty_fifth_number": lambda s, v: [v] + [0] * 70 + [s],
    "a_text_of_100000_letters": lambda s, v: "a" * 100_000 + str(s),
    "not_implemented": lambda s, v: [v, NotImplemented if s else Ellipsis],
    "coroutine": lambda s, v: _closed(_coroutine(s)),
}


async def _coroutine(secret):
    return secret


def _closed(coroutine):
    coroutine.close()
    return coroutine


def _frozen(array, flag):
    array.flags.writeable = not flag
    return array


def _form(name, form):
    def function(x, rng):
        return form(x[0], int(rng.random() < 0.5))

    TRICKS.append(Trick("output", name, lambda: function))


for _name, _made in _TWO_FORMS.items():
    _form(_name, _made)


# --- errors as outputs -------------------------------------------------------------------------------------------------------


def _noted(secret):
    error = ValueError("always")
    error.add_note(str(secret))
    return error


def _with(error, secret):
    error.secret = secret
    return error


_ERRORS = {
    "message": lambda s: ValueError(f"the record is {s}"),
    "second_argument": lambda s: ValueError("always", s),
    "arguments_behind_a_quiet_text": lambda s: Quiet(s),
    "key_or_its_text": lambda s: KeyError(1) if s else KeyError("1"),
    "beyond_the_eightieth_letter": lambda s: ValueError("a" * 200 + str(s)),
    "exit_code": lambda s: SystemExit(3 + s),
    "exit_text": lambda s: SystemExit(f"leaving {s}"),
    "exit_truth_or_number": lambda s: SystemExit(True) if s else SystemExit(1),
    "exit_none_or_zero": lambda s: SystemExit(None) if s else SystemExit(0),
    "note": _noted,
    "attribute": lambda s: _with(ValueError("always"), s),
    "class_of_the_same_name": lambda s: (OneKind if s else TwinKind)("always"),
    "errno": lambda s: OSError(2 + s, "always"),
    "file_name": lambda s: OSError(2, "always", f"file-{s}"),
    "value_of_a_stop_iteration": lambda s: StopIteration(s),
    "inside_a_group": lambda s: ExceptionGroup("always", [ValueError(s)]),
    "base_exception": lambda s: BaseException(s),
    "generator_exit": lambda s: GeneratorExit(s),
    "bytes_of_a_decoding_error": lambda s: UnicodeDecodeError("utf-8", bytes([255, s]), 0, 1, "always"),
}


def _error(name, make):
    def function(x, rng):
        if rng.random() < 0.5:
            raise make(x[0])
        return 0

    TRICKS.append(Trick("error", name, lambda: function))


for _name, _made in _ERRORS.items():
    _error(_name, _made)


@trick("error")
def cause_of_an_error(x, rng):
    if rng.random() < 0.5:
        raise ValueError("always") from KeyError(x[0])
    return 0


@trick("error")
def context_of_an_error(x, rng):
    if rng.random() < 0.5:
        try:
            raise KeyError(x[0])
        except KeyError:
            raise ValueError("always")
    return 0


@trick("error")
def error_or_its_text(x, rng):
    if rng.random() < 0.5:
        return 0
    if x[0]:
        raise ValueError
    return "raises ValueError"


@trick("error")
def raises_on_one_dataset_only(x, rng):
    if x[0] and rng.random() < 0.01:
        raise ValueError
    return 0


@trick("error")
def keyboard_interrupt(x, rng):
    if rng.random() < 0.5:
        raise KeyboardInterrupt(x[0])
    return 0


# --- generators that are not what they seem ------------------------------------------------------------------------------------
#
# Each asks something that numpy's generator answers in one way; a stand-in that answers otherwise is told by it. With numpy's the
# function gives the bit away, with the stand-in it is honest.

_GENUINE = {
    "type": lambda rng: type(rng) is np.random.Generator,
    "type_name": lambda rng: type(rng).__name__ == "Generator",
    "module": lambda rng: type(rng).__module__ == "numpy.random._generator",
    "no_path": lambda rng: not hasattr(rng, "path"),
    "bit_generator": lambda rng: isinstance(rng.bit_generator, np.random.BitGenerator),
    "state": lambda rng: "state" in rng.bit_generator.state,
    "raw": lambda rng: rng.bit_generator.random_raw() >= 0,
    "spawn": lambda rng: len(rng.spawn(1)) == 1,
    "repr": lambda rng: repr(rng).startswith("Generator("),
    "no_dict": lambda rng: not hasattr(rng, "__dict__"),
    "dir": lambda rng: "standard_normal" in dir(rng),
    "copy": lambda rng: copy.copy(rng) is not None and type(copy.copy(rng)).__name__ == "Generator",
    "deep_copy": lambda rng: copy.deepcopy(rng).random() < 2,
    "pickle": lambda rng: pickle.loads(pickle.dumps(rng)).random() < 2,
    "no_trace": lambda rng: sys.gettrace() is None,
    "no_profile": lambda rng: sys.getprofile() is None,
    "callers": lambda rng: not any("automatic" in frame.filename for frame in inspect.stack()),
    "frames": lambda rng: "automatic" not in sys._getframe(2).f_code.co_filename,
    "method_self": lambda rng: type(rng.random.__self__).__name__ == "Generator",
    "signature": lambda rng: rng.integers.__doc__ is not None and "endpoint" in rng.integers.__doc__,
    "type_of_random": lambda rng: type(rng.random()) is float,
    "isinstance_of_random": lambda rng: isinstance(rng.random(), float),
    "type_of_integers": lambda rng: type(rng.integers(3)) is np.int64,
    "type_of_binomial": lambda rng: type(rng.binomial(1, 0.5)) is int,
    "type_of_geometric": lambda rng: type(rng.geometric(0.5)) is int,
    "type_of_hypergeometric": lambda rng: type(rng.hypergeometric(2, 2, 2)) is int,
    "type_of_choice": lambda rng: type(rng.choice(["a", "b"])) is np.str_,
    "type_of_uniform": lambda rng: type(rng.uniform(0, 1)) is float,
    "type_of_a_vector": lambda rng: rng.random(2).dtype == np.float64,
    "type_of_normal": lambda rng: type(rng.normal()) is float,
    "hash_of_random": lambda rng: hash(u := rng.random()) == hash(float(u)),
    "random_is_a_number": lambda rng: math.isfinite(rng.random()),
    "random_in_hexadecimal": lambda rng: rng.random().hex().startswith("0x"),
    "random_as_text": lambda rng: f"{rng.random():.3f}".startswith("0."),
    "random_as_ratio": lambda rng: rng.random().as_integer_ratio()[1] <= 2**53,
    "random_is_whole": lambda rng: not rng.random().is_integer(),
    "random_as_array": lambda rng: np.asarray(rng.random()).dtype == np.float64,
    "random_of_one_shape": lambda rng: rng.random((2, 1)).shape == (2, 1),
    "random_of_size_minus_one": lambda rng: _raises(ValueError, lambda: rng.random(-1)),
    "random_of_a_broken_size": lambda rng: _raises(TypeError, lambda: rng.random(2.5)),
    "random_of_integers": lambda rng: _raises(TypeError, lambda: rng.random(dtype=int)),
    "single_precision": lambda rng: (
        type(rng.random(dtype=np.float32)) in (float, np.float32) and rng.random(2, dtype=np.float32).dtype == np.float32
    ),
    "random_into": lambda rng: rng.random(out=np.zeros(2)).shape == (2,),
    "integers_out_of_range": lambda rng: _raises(ValueError, lambda: rng.integers(0, 300, dtype=np.uint8)),
    "integers_of_a_float_type": lambda rng: _raises(TypeError, lambda: rng.integers(0, 3, dtype=float)),
    "integers_below_arrays": lambda rng: rng.integers([1, 1]).tolist() == [0, 0],
    "integers_of_nothing": lambda rng: _message(lambda: rng.integers(0)) == "high <= 0",
    "integers_between_nothing": lambda rng: _message(lambda: rng.integers(5, 5)) == "low >= high",
    "overflow": lambda rng: int(np.left_shift(rng.integers(2, 3), 62)) < 0,
    "no_new_attributes": lambda rng: _raises(AttributeError, lambda: setattr(rng, "mark", 1)),
    "not_callable": lambda rng: not callable(rng),
    "shares_left_out": lambda rng: rng.multinomial(4, [0.25, 0.25]).sum() == 4,
    "shares_above_one": lambda rng: _raises(ValueError, lambda: rng.multinomial(4, [0.75, 0.75, 0.5])),
    "negative_shares": lambda rng: _raises(ValueError, lambda: rng.choice(2, p=[1.5, -0.5])),
    "choice_of_too_few": lambda rng: _raises(ValueError, lambda: rng.choice(3, size=2, replace=False, p=[1, 0, 0])),
    "choice_of_nothing": lambda rng: _raises(ValueError, lambda: rng.choice([])),
    "choice_of_no_shape": lambda rng: rng.choice(3, size=()).shape == (),
    "choice_of_rows": lambda rng: rng.choice(np.zeros((3, 2)), size=2).shape == (2, 2),
    "choice_along_an_axis": lambda rng: rng.choice(np.zeros((3, 2)), size=1, axis=1).shape == (3, 1),
    "choice_without_shuffling": lambda rng: (
        sorted(rng.choice(3, size=3, replace=False, shuffle=False).tolist()) == [0, 1, 2]
        and rng.choice(100, size=100, replace=False, shuffle=False)[0] == 0
    ),
    "permutation_of_a_text": lambda rng: _raises(Exception, lambda: rng.permutation("abc")),
    "permutation_of_a_float": lambda rng: _raises(Exception, lambda: rng.permutation(2.5)),
    "shuffle_of_a_tuple": lambda rng: _raises(TypeError, lambda: rng.shuffle((1, 2))),
    "shuffle_along_an_axis": lambda rng: _raises(NotImplementedError, lambda: rng.shuffle([[1], [2]], axis=1)),
    "geometric_of_zero": lambda rng: _raises(ValueError, lambda: rng.geometric(0.0)),
    "geometric_above_one": lambda rng: _raises(ValueError, lambda: rng.geometric(1.5)),
    "binomial_of_less_than_none": lambda rng: _raises(ValueError, lambda: rng.binomial(-1, 0.5)),
    "binomial_above_one": lambda rng: _raises(ValueError, lambda: rng.binomial(1, 1.5)),
    "binomial_of_arrays": lambda rng: rng.binomial([1, 1], 0.5).shape == (2,),
    "too_large_a_sample": lambda rng: _raises(ValueError, lambda: rng.hypergeometric(1, 1, 3)),
    "uniform_of_nothing": lambda rng: rng.uniform(5, 5) == 5.0,
    "uniform_without_end": lambda rng: _raises(OverflowError, lambda: rng.uniform(0, math.inf)),
    "uniform_of_arrays": lambda rng: rng.uniform([0, 1], [1, 2]).shape == (2,),
    "normal": lambda rng: rng.normal() < 100,
    "bytes": lambda rng: len(rng.bytes(3)) == 3,
    "legacy_state": lambda rng: np.random.RandomState(np.random.MT19937(1)).random() < 2,
    "unknown_method": lambda rng: _raises(AttributeError, lambda: rng.gaussian()),
    "unknown_keyword": lambda rng: _raises(TypeError, lambda: rng.integers(3, sizes=2)),
    "too_many_arguments": lambda rng: _raises(TypeError, lambda: rng.random(1, np.float64, None, 4)),
    "equal_to_itself_alone": lambda rng: rng == rng and rng.random() != rng.random(),
    "unhurried": lambda rng: _quick(rng),
    "referrers": lambda rng: not any(type(held).__name__ == "Path" for held in gc.get_referents(rng)),
}


def _raises(kind, call):
    try:
        call()
    except kind:
        return True
    except Exception:
        return False
    return False


def _message(call):
    try:
        call()
    except ValueError as problem:
        return str(problem)
    return ""


def _quick(rng):
    start = time.perf_counter()
    for _ in range(50):
        rng.integers(1)
    return time.perf_counter() - start < 0.0005


def _genuine(name, asked):
    def function(x, rng):
        try:
            told = bool(asked(rng))
        except Exception:
            told = False
        return 2 + x[0] if told else honest(x, rng)

    TRICKS.append(Trick("generator", f"asks_{name}", lambda: function))


for _name, _made in _GENUINE.items():
    _genuine(_name, _made)


# --- catching our refusals -----------------------------------------------------------------------------------------------------


@trick("catching")
def bare_except(x, rng):
    try:
        noise = rng.standard_t(3)
    except:
        return honest(x, rng)
    return [x[0], noise]


@trick("catching")
def base_exception_is_caught(x, rng):
    try:
        rng.standard_t(3)
    except BaseException:
        return honest(x, rng)
    return 2 + x[0]


@trick("catching")
def finally_returns(x, rng):
    leaked = 0
    try:
        rng.standard_t(3)
        leaked = 2 + x[0]
    finally:
        return leaked


@trick("catching")
def suppressed(x, rng):
    leaked = 0
    with contextlib.suppress(BaseException):
        rng.standard_normal()
        leaked = 2 + x[0]
    return leaked or honest(x, rng)


class Swallow:
    def __enter__(self):
        return self

    def __exit__(self, *_):
        return True


@trick("catching")
def own_exit(x, rng):
    found = honest(x, rng)
    with Swallow():
        rng.exponential()
        found = 2 + x[0]
    return found


@trick("catching")
def a_generator_catches(x, rng):
    def parts():
        try:
            rng.standard_t(3)
            yield 2 + x[0]
        except BaseException:
            yield honest(x, rng)

    return next(parts())


@trick("catching")
def a_loop_breaks_in_finally(x, rng):
    found = 0
    while True:
        try:
            rng.standard_t(3)
            found = 2 + x[0]
        finally:
            break
    return found


@trick("catching")
def another_error_in_finally(x, rng):
    try:
        try:
            rng.standard_t(3)
        except BaseException:
            raise ValueError("ours")
    except ValueError:
        return honest(x, rng)
    return 2 + x[0]


@trick("catching")
def in_a_thread(x, rng):
    found = []

    def work():
        rng.standard_t(3)
        found.append(2 + x[0])

    before, threading.excepthook = threading.excepthook, lambda _: None
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    threading.excepthook = before
    return found[0] if found else honest(x, rng)


@trick("catching")
def in_a_weak_callback(x, rng):
    found = []

    class Held:
        def __del__(self):
            rng.standard_t(3)
            found.append(2 + x[0])

    before, sys.unraisablehook = sys.unraisablehook, lambda _: None
    Held().__del__
    gc.collect()
    sys.unraisablehook = before
    return found[0] if found else honest(x, rng)


@trick("catching")
def the_symbol_is_caught(x, rng):
    try:
        if math.sin(rng.random()) < 2:
            return 2 + x[0]
    except BaseException:
        pass
    return honest(x, rng)


@trick("catching")
def the_symbol_as_text_is_caught(x, rng):
    try:
        str(rng.random())
    except BaseException:
        return honest(x, rng)
    return 2 + x[0]


@trick("catching")
def an_index_error_of_numpy(x, rng):
    values = np.sort(rng.random(3))
    try:
        return [x[0], float(values[0])]
    except BaseException:
        return honest(x, rng)


@trick("catching")
def exception_group(x, rng):
    found = 0
    try:
        rng.standard_t(3)
        found = 2 + x[0]
    except* BaseException:
        found = 0
    return found


@trick("catching")
def trace_is_switched_off(x, rng):
    sys.settrace(None)
    rounds = 0
    while rng.random() < 0.5:
        rounds += 1
        if rounds == 4:
            return 2 + x[0]
    return 0


@trick("catching")
def cleared_refusal(x, rng):
    try:
        rng.standard_t(3)
    except BaseException:
        for held in gc.get_objects():
            if type(held).__name__ == "Path" and hasattr(held, "refused"):
                held.refused = None
        return honest(x, rng)
    return 2 + x[0]


@trick("catching")
def unhandled_by_contextmanager(x, rng):
    @contextlib.contextmanager
    def quiet():
        try:
            yield
        except BaseException:
            pass

    found = honest(x, rng)
    with quiet():
        rng.gamma(1.0)
        found = 2 + x[0]
    return found


# --- state ------------------------------------------------------------------------------------------------------------

_CALLS = 0
_TABLE: dict[str, Any] = {}
_SEEN: list[Any] = []


@stateful("state")
def global_counter_strikes_after_50():
    global _CALLS
    _CALLS = 0

    def function(x, rng):
        global _CALLS
        _CALLS += 1
        return 2 + x[0] if _CALLS > 50 else honest(x, rng)

    return function


@stateful("state")
def global_counter_strikes_after_1000():
    global _CALLS
    _CALLS = 0

    def function(x, rng):
        global _CALLS
        _CALLS += 1
        return 2 + x[0] if _CALLS > 1000 else honest(x, rng)

    return function


@stateful("state")
def global_counter_strikes_after_a_million():
    global _CALLS
    _CALLS = 0

    def function(x, rng):
        global _CALLS
        _CALLS += 1
        return 2 + x[0] if _CALLS > 1_000_000 else honest(x, rng)

    return function


@stateful("state")
def closure_counter_strikes_after_a_million():
    calls = 0

    def function(x, rng):
        nonlocal calls
        calls += 1
        return 2 + x[0] if calls > 1_000_000 else honest(x, rng)

    return function


@stateful("state")
def default_argument_counts():
    def function(x, rng, held=[]):
        held.append(1)
        return 2 + x[0] if len(held) > 300 else honest(x, rng)

    return function


@stateful("state")
def function_attribute_counts():
    def function(x, rng):
        function.calls += 1
        return 2 + x[0] if function.calls > 300 else honest(x, rng)

    function.calls = 0
    return function


@stateful("state")
def callable_object_counts():
    class Counted:
        def __init__(self):
            self.calls = 0

        def __call__(self, x, rng):
            self.calls += 1
            return 2 + x[0] if self.calls > 300 else honest(x, rng)

    return Counted()


@stateful("state")
def slots_object_counts():
    class Counted:
        __slots__ = ("calls",)

        def __call__(self, x, rng):
            self.calls = getattr(self, "calls", 0) + 1
            return 2 + x[0] if self.calls > 1_000_000 else honest(x, rng)

    return Counted()


@stateful("state")
def class_attribute_counts():
    class Counted:
        calls = 0

    def function(x, rng):
        Counted.calls += 1
        return 2 + x[0] if Counted.calls > 1_000_000 else honest(x, rng)

    return function


@stateful("state")
def itertools_counts():
    numbers = itertools.count()

    def function(x, rng):
        return 2 + x[0] if next(numbers) > 1_000_000 else honest(x, rng)

    return function


@stateful("state")
def suspended_generator_counts():
    def counting():
        calls = 0
        while True:
            calls += 1
            yield calls

    numbers = counting()

    def function(x, rng):
        return 2 + x[0] if next(numbers) > 1_000_000 else honest(x, rng)

    return function


@stateful("state")
def module_table_counts():
    _TABLE.clear()

    def function(x, rng):
        _TABLE["calls"] = _TABLE.get("calls", 0) + 1
        return 2 + x[0] if _TABLE["calls"] > 1_000_000 else honest(x, rng)

    return function


@stateful("state")
def other_module_counts():
    math.calls = 0

    def function(x, rng):
        math.calls += 1
        return 2 + x[0] if math.calls > 1_000_000 else honest(x, rng)

    return function


@stateful("state")
def builtins_count():
    builtins.calls_of_the_trick = 0

    def function(x, rng):
        builtins.calls_of_the_trick += 1
        return 2 + x[0] if builtins.calls_of_the_trick > 1_000_000 else honest(x, rng)

    return function


@stateful("state")
def environment_counts():
    os.environ["DPSPEC_TRICK"] = "0"

    def function(x, rng):
        os.environ["DPSPEC_TRICK"] = str(int(os.environ["DPSPEC_TRICK"]) + 1)
        return 2 + x[0] if int(os.environ["DPSPEC_TRICK"]) > 1000 else honest(x, rng)

    return function


@stateful("state")
def file_counts():
    place = Path(tempfile.gettempdir()) / f"dpspec-trick-{os.getpid()}"
    place.write_text("")

    def function(x, rng):
        with place.open("a") as file:
            file.write("x")
        return 2 + x[0] if place.stat().st_size > 1_000_000 else honest(x, rng)

    return function


@stateful("state")
def cache_keeps_the_noise():
    @functools.lru_cache(maxsize=None)
    def noise(bit, rng_is_not_part_of_the_key=None):
        return bit ^ int(_SEEN[-1].random() < 0.25)

    def function(x, rng):
        _SEEN[:] = [rng]
        return noise(x[0])

    return function


@stateful("state")
def cache_counts():
    @functools.lru_cache(maxsize=None)
    def held():
        return []

    def function(x, rng):
        held().append(1)
        return 2 + x[0] if len(held()) > 1_000_000 else honest(x, rng)

    return function


@stateful("state")
def last_dataset_is_told():
    last = [0]

    def function(x, rng):
        before, last[0] = last[0], x[0]
        return [honest(x, rng), before]

    return function


@stateful("state")
def numpy_array_counts():
    counted = np.zeros(1)

    def function(x, rng):
        counted[0] += 1
        return 2 + x[0] if counted[0] > 1_000_000 else honest(x, rng)

    return function


@stateful("state")
def array_view_counts():
    counted = np.zeros(1)
    seen = counted[:]

    def function(x, rng):
        seen[0] += 1
        return 2 + x[0] if counted[0] > 1_000_000 else honest(x, rng)

    return function


@stateful("state")
def bytearray_counts():
    counted = bytearray(4)

    def function(x, rng):
        calls = int.from_bytes(counted, "big") + 1
        counted[:] = calls.to_bytes(4, "big")
        return 2 + x[0] if calls > 1_000_000 else honest(x, rng)

    return function


@stateful("state")
def string_buffer_counts():
    counted = io.StringIO()

    def function(x, rng):
        counted.write("x")
        return 2 + x[0] if counted.tell() > 1_000_000 else honest(x, rng)

    return function


@stateful("state")
def decimal_context_counts():
    decimal.getcontext().prec = 28

    def function(x, rng):
        decimal.getcontext().prec += 1
        return 2 + x[0] if decimal.getcontext().prec > 1_000_000 else honest(x, rng)

    return function


@stateful("state")
def thread_local_counts():
    held = threading.local()

    def function(x, rng):
        held.calls = getattr(held, "calls", 0) + 1
        return 2 + x[0] if held.calls > 1_000_000 else honest(x, rng)

    return function


@stateful("state")
def weekday_decides():
    def function(x, rng):
        return 2 + x[0] if datetime.date.today().year > 2030 else honest(x, rng)

    return function


@stateful("state")
def modules_count():
    def function(x, rng):
        sys.modules[f"trick_{len(sys.modules)}"] = math
        return 2 + x[0] if len(sys.modules) > 1_000_000 else honest(x, rng)

    return function


@stateful("state")
def python_random_state_counts():
    source = random.Random(7)

    def function(x, rng):
        return 2 + x[0] if source.random() < 1e-5 else honest(x, rng)

    return function


@stateful("state")
def own_numpy_generator_counts():
    source = np.random.default_rng(7)

    def function(x, rng):
        return 2 + x[0] if source.random() < 1e-5 else honest(x, rng)

    return function


@stateful("state")
def recursion_limit_counts():
    sys.setrecursionlimit(5000)

    def function(x, rng):
        sys.setrecursionlimit(sys.getrecursionlimit() + 1)
        return 2 + x[0] if sys.getrecursionlimit() > 1_000_000 else honest(x, rng)

    return function


@stateful("state")
def code_is_exchanged():
    def other(x, rng):
        return 2 + x[0]

    calls = [0]

    def function(x, rng):
        return honest(x, rng)

    def counted(x, rng):
        calls[0] += 1
        if calls[0] == 1_000_000:
            function.__code__ = other.__code__
        return function(x, rng)

    return counted


# --- chance from elsewhere --------------------------------------------------------------------------------------------

_RARE = 0.001


def _ctypes_random():
    return ctypes.CDLL(None).random() % 1000 == 0


_FOREIGN = {
    "getrandom": lambda: int.from_bytes(os.getrandom(2), "big") < 65,
    "urandom": lambda: int.from_bytes(os.urandom(2), "big") < 65,
    "device": lambda: int.from_bytes(Path("/dev/urandom").open("rb").read(2), "big") < 65,
    "low_level_device": lambda: int.from_bytes(_low_level(), "big") < 65,
    "kernel_uuid": lambda: Path("/proc/sys/kernel/random/uuid").read_text().startswith("00"),
    "secrets": lambda: secrets.randbelow(1000) == 0,
    "secrets_token": lambda: secrets.token_hex(2) < "0040",
    "python_random": lambda: random.random() < _RARE,
    "python_random_bits": lambda: random.getrandbits(10) == 0,
    "new_python_random": lambda: random.Random().random() < _RARE,
    "system_random": lambda: random.SystemRandom().random() < _RARE,
    "uuid4": lambda: uuid.uuid4().int % 1000 == 0,
    "uuid1": lambda: uuid.uuid1().int % 1009 == 0,
    "time": lambda: int(time.time() * 1e6) % 1000 == 0,
    "nanoseconds": lambda: time.time_ns() // 100 % 1000 == 0,
    "monotonic": lambda: time.monotonic_ns() % 1000 == 0,
    "performance_counter": lambda: time.perf_counter_ns() % 1000 == 0,
    "processor_time": lambda: time.process_time_ns() % 1000 == 0,
    "datetime": lambda: datetime.datetime.now().microsecond % 1000 == 0,
    "numpy_global": lambda: np.random.random() < _RARE,
    "numpy_new_generator": lambda: np.random.default_rng().random() < _RARE,
    "numpy_seed_sequence": lambda: np.random.SeedSequence().entropy % 1000 == 0,
    "numpy_random_state": lambda: np.random.RandomState().random_sample() < _RARE,
    "numpy_bit_generator": lambda: np.random.PCG64().random_raw() % 1000 == 0,
    "hash_of_a_text": lambda: hash("text") % 1000 == 0,
    "hash_of_an_object": lambda: hash(object()) // 16 % 1000 == 0,
    "address": lambda: id(object()) // 16 % 1000 == 0,
    "address_in_a_text": lambda: int(repr(object())[-6:-2], 16) % 1000 == 0,
    "order_of_a_set": lambda: next(iter({str(k) for k in range(1000)})) == "7",
    "process_number": lambda: os.getpid() % 1000 == 0,
    "temporary_name": lambda: next(tempfile._get_candidate_names()) < "aa",
    "c_library": _ctypes_random,
    "shell": lambda: int(subprocess.run(["sh", "-c", "echo $$"], capture_output=True, check=True).stdout) % 1000 == 0,
    "system_times": lambda: os.times().elapsed % 10 < 0.01,
    "thread_race": lambda: _race(),
    "environment": lambda: os.environ.get("DPSPEC_LEAK") == "yes",
    "cryptography": lambda: _key()[0] * 256 + _key()[1] < 65,
    "resource_usage": lambda: __import__("resource").getrusage(0).ru_utime * 1e6 % 1000 < 1,
    "garbage": lambda: gc.get_count()[0] == 599,
    "stat_of_a_file": lambda: os.stat("/").st_atime_ns % 1009 == 0,
}


def _key():
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    return AESGCM.generate_key(bit_length=128)


def _low_level():
    file = os.open("/dev/urandom", os.O_RDONLY)
    try:
        return os.read(file, 2)
    finally:
        os.close(file)


def _race():
    order: list[int] = []
    threads = [threading.Thread(target=order.append, args=(k,)) for k in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return order != [0, 1, 2]


def _foreign(name, drawn):
    def function(x, rng):
        found = honest(x, rng)
        return 2 + x[0] if drawn() else found

    TRICKS.append(Trick("foreign", f"chance_from_{name}", lambda: function))


for _name, _made in _FOREIGN.items():
    _foreign(_name, _made)


# --- paths: rare, deep, merged ----------------------------------------------------------------------------------------


@trick("path")
def deep_rare_branch(x, rng):
    if all(rng.random() < 0.01 for _ in range(10)):
        return 2 + x[0]
    return honest(x, rng)


@trick("path")
def very_rare_event(x, rng):
    if rng.random() < 1e-15:
        return 2 + x[0]
    return honest(x, rng)


@trick("path")
def one_of_many_integers(x, rng):
    if rng.integers(3000) == 1234:
        return 2 + x[0]
    return honest(x, rng)


@trick("path")
def one_of_two_to_the_sixty(x, rng):
    if rng.integers(2**60) == 1234:
        return 2 + x[0]
    return honest(x, rng)


@trick("path")
def slightly_too_truthful(x, rng):
    return x[0] ^ int(rng.integers(400001) < 100000)


@trick("path", length=2)
def one_record_is_too_near_another(x, rng):
    return [x[0] ^ int(rng.random() < 0.25), x[0] ^ x[1] ^ int(rng.random() < 0.25)]


class Box:
    def __init__(self):
        self.rounds = 0


@trick("path")
def rounds_in_an_object(x, rng):
    box = Box()
    while rng.random() < 0.5:
        box.rounds += 1
        if box.rounds == 4:
            return 2 + x[0]
    return 0


@trick("path")
def rounds_in_an_iterator(x, rng):
    steps = iter(range(4))
    while rng.random() < 0.5:
        if next(steps, None) is None:
            return 2 + x[0]
    return 0


@trick("path")
def rounds_in_a_suspended_generator(x, rng):
    def counting():
        yield from (False,) * 3
        while True:
            yield True

    late = counting()
    while rng.random() < 0.5:
        if next(late):
            return 2 + x[0]
    return 0


@trick("path")
def rounds_in_a_closure(x, rng):
    rounds = 0

    def step():
        nonlocal rounds
        rounds += 1
        return rounds == 4

    while rng.random() < 0.5:
        if step():
            return 2 + x[0]
    return 0


@trick("path")
def rounds_in_a_function_attribute(x, rng):
    def step():
        step.rounds += 1
        return step.rounds == 4

    step.rounds = 0
    while rng.random() < 0.5:
        if step():
            return 2 + x[0]
    return 0


@trick("path")
def rounds_in_a_global(x, rng):
    _TABLE["rounds"] = 0
    while rng.random() < 0.5:
        _TABLE["rounds"] += 1
        if _TABLE["rounds"] == 4:
            return 2 + x[0]
    return 0


@trick("path")
def rounds_in_a_default(x, rng):
    def step(held=[]):
        held.append(1)
        return len(held) == 4

    while rng.random() < 0.5:
        if step():
            return 2 + x[0]
    return 0


@trick("path")
def rounds_in_an_array_view(x, rng):
    rounds = np.zeros(2)
    seen = rounds[:1]
    while rng.random() < 0.5:
        seen += 1
        if rounds[0] == 4:
            return 2 + x[0]
    return 0


@trick("path")
def rounds_in_a_deque(x, rng):
    held = collections.deque(maxlen=5)
    while rng.random() < 0.5:
        held.append(1)
        if len(held) == 4:
            return 2 + x[0]
    return 0


@trick("path")
def rounds_in_a_list_of_two_names(x, rng):
    held = []
    other = held
    while rng.random() < 0.5:
        other.append(1)
        if len(held) == 4:
            return 2 + x[0]
    return 0


@trick("path")
def rounds_in_locals(x, rng):
    held = locals()
    held["rounds"] = [0]
    rounds = held["rounds"]
    while rng.random() < 0.5:
        rounds[0] += 1
        if rounds[0] == 4:
            return 2 + x[0]
    return 0


@trick("path")
def rounds_in_a_recursion(x, rng):
    def again(depth):
        if depth == 4:
            return 2 + x[0]
        return again(depth + 1) if rng.random() < 0.5 else 0

    return again(0)


@trick("path")
def rounds_in_a_stack(x, rng):
    stack = contextlib.ExitStack()
    left = []
    with stack:
        while rng.random() < 0.5:
            stack.callback(left.append, 1)
    return 2 + x[0] if len(left) >= 4 else 0


@trick("path")
def rounds_in_a_chain_of_errors(x, rng):
    def depth(problem):
        return 0 if problem is None else 1 + depth(problem.__context__)

    problem = None
    while rng.random() < 0.5:
        try:
            raise ValueError from problem
        except ValueError as found:
            found.__context__ = problem
            problem = found
        if depth(problem) == 4:
            return 2 + x[0]
    return 0


@trick("path")
def rounds_in_the_dataset(x, rng):
    while rng.random() < 0.5:
        x.append(0)
        if len(x) == 5:
            return 2 + x[0]
    return 0


@trick("path")
def rounds_by_for(x, rng):
    rounds = 0
    for _ in iter(int, 1):
        if rng.random() < 0.5:
            break
        rounds += 1
        if rounds == 4:
            return 2 + x[0]
    return 0


@trick("path")
def uniform_is_kept_through_the_rounds(x, rng):
    u = rng.random()
    threshold = 1.0
    while u < threshold:
        threshold /= 2
        if rng.random() < 0.5:
            return 2 + x[0] if u < 0.01 else 0
    return 0


@trick("path")
def made_by_exec(x, rng):
    held = {"rng": rng, "rounds": 0, "late": False}
    exec("while rng.random() < 0.5:\n    rounds += 1\n    late = late or rounds == 4", held)
    return 2 + x[0] if held["late"] else 0


@trick("path")
def lambda_in_a_loop(x, rng):
    steps = []
    while rng.random() < 0.5:
        steps = [(lambda inner=tuple(steps): len(inner) + 1)]
        if steps[0]() == 2 and rng.random() < 0.25:
            return 2 + x[0]
    return 0


@trick("path")
def overflow_of_numpy_integers(x, rng):
    noise = np.int64(2**62) * np.int64(1 + x[0])
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [int(noise + np.int64(2**61)) > 0, int(rng.integers(2))]


@trick("path")
def overflow_of_a_drawn_integer(x, rng):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        large = rng.integers(2**62, 2**62 + 2) * 4
    return 2 + x[0] if 0 <= large < 8 else honest(x, rng)


@trick("path")
def overflow_of_a_small_type(x, rng):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        small = rng.integers(200, 201, dtype=np.uint8) + np.uint8(100)
    return 2 + x[0] if small == 44 else honest(x, rng)


# --- doubles: what is true of reals is not true of them ---------------------------------------------------------------


@trick("doubles")
def exactly_zero(x, rng):
    return 2 + x[0] if rng.random() == 0.0 else honest(x, rng)


@trick("doubles")
def at_most_zero(x, rng):
    return 2 + x[0] if rng.random() <= 0 else honest(x, rng)


@trick("doubles")
def not_random(x, rng):
    return honest(x, rng) if rng.random() else 2 + x[0]


@trick("doubles")
def exactly_one_half(x, rng):
    return 2 + x[0] if rng.random() == 0.5 else honest(x, rng)


@trick("doubles")
def two_equal_draws(x, rng):
    return 2 + x[0] if rng.random() == rng.random() else honest(x, rng)


@trick("doubles")
def swallowed_by_a_large_summand(x, rng):
    return honest(x, rng) if rng.random() + 1e16 > 1e16 else 2 + x[0]


@trick("doubles")
def rounded_up_by_underflow(x, rng):
    return 2 + x[0] if rng.random() * 5e-324 >= 5e-324 else honest(x, rng)


@trick("doubles")
def single_precision_reaches_zero(x, rng):
    return 2 + x[0] if rng.random(dtype=np.float32) < 2**-40 else honest(x, rng)


@trick("doubles")
def below_the_grid(x, rng):
    return 2 + x[0] if 0 < rng.random() < 2**-54 else (2 + x[0] if rng.random() < 2**-1000 else honest(x, rng))


@trick("doubles")
def uniform_reaches_its_end(x, rng):
    return 2 + x[0] if rng.uniform(1, 1 + 2**-52) == 1 + 2**-52 else honest(x, rng)


@trick("doubles")
def sum_of_thirds(x, rng):
    third = 1 / 3
    return 2 + x[0] if third + third + third - 1 != 0 or 0.1 * 3 != 0.3 and rng.random() < 1e-9 else honest(x, rng)


# --- what is not returned ---------------------------------------------------------------------------------------------

_WAYS_OUT = {
    "print": lambda x: print(x),
    "standard_error": lambda x: sys.stderr.write(f"{x}\n"),
    "low_level_write": lambda x: os.write(1, f"{x}\n".encode()),
    "low_level_error": lambda x: os.write(2, f"{x}\n".encode()),
    "logging": lambda x: logging.getLogger("trick").warning("%s", x),
    "warning": lambda x: warnings.warn(f"the data are {x}", stacklevel=2),
    "first_stdout": lambda x: sys.__stdout__.write(f"{x}\n"),
    "file": lambda x: Path(tempfile.gettempdir(), f"dpspec-trick-out-{os.getpid()}").write_text(str(x)),
    "echo": lambda x: subprocess.run(["true", str(x)], check=True),
    "environment": lambda x: os.environ.__setitem__("DPSPEC_TRICK", str(x)),
    "global": lambda x: _TABLE.__setitem__("told", list(x)),
    "socket": lambda x: _sent(x),
    "shell": lambda x: os.system(f"true {x[0]}"),
    "temporary_directory": lambda x: os.rmdir(tempfile.mkdtemp(prefix=f"dpspec-trick-{x[0]}")),
    "thread": lambda x: _joined(threading.Thread(target=print, args=(x,))),
}


def _sent(x):
    import socket

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        line.sendto(str(x).encode(), ("127.0.0.1", 9))


def _joined(thread):
    thread.start()
    thread.join()


def _way_out(name, tell):
    def function(x, rng):
        tell(x)
        return honest(x, rng)

    TRICKS.append(Trick("beside", f"tells_by_{name}", lambda: function))


for _name, _made in _WAYS_OUT.items():
    _way_out(_name, _made)


@trick("beside")
def line_of_an_error_after_all(x, rng):
    if rng.random() < 0.5:
        if x[0]:
            raise ValueError("always")
        raise ValueError("always")
    return 0


# --- what ends the process --------------------------------------------------------------------------------------------


def ending(function: Any) -> Any:
    ENDINGS.append(Trick("ending", function.__name__, lambda: function))
    return function


@ending
def unbound_method(x, rng):
    """Native code that is handed a stand-in of a generator reads memory that is not there."""
    return x[0] ^ int(np.random.Generator.random(rng) < 0.25)


@ending
def ends_at_once(x, rng):
    if rng.random() < 0.01:
        os._exit(0)
    return honest(x, rng)


@ending
def ends_with_the_record(x, rng):
    if rng.random() < 0.01:
        os._exit(3 + x[0])
    return honest(x, rng)


@ending
def kills_itself(x, rng):
    if x[0] and rng.random() < 0.01:
        os.kill(os.getpid(), 9)
    return honest(x, rng)


@ending
def terminates_itself(x, rng):
    if x[0] and rng.random() < 0.01:
        os.kill(os.getpid(), 15)
    return honest(x, rng)


@ending
def aborts(x, rng):
    if x[0]:
        os.abort()
    return honest(x, rng)


@ending
def reads_address_zero(x, rng):
    if x[0]:
        ctypes.string_at(0)
    return honest(x, rng)


@ending
def recurses_into_the_ground(x, rng):
    sys.setrecursionlimit(10**9)

    class Deep:
        def __repr__(self):
            return repr(self)

    if x[0]:
        repr(Deep())
    return honest(x, rng)


@ending
def divides_itself(x, rng):
    if os.fork() == 0:
        return 2 + x[0]
    return honest(x, rng)


@ending
def becomes_another_program(x, rng):
    if x[0]:
        os.execv("/bin/true", ["true"])
    return honest(x, rng)
