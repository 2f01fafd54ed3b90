# ruff: noqa
"""Tricks whose leak is too rare for a second opinion: the engine itself has to see through them (a second table of the zoo)."""

from __future__ import annotations

import abc, collections, dataclasses, functools, math, operator, os, sys, time, typing, itertools, types, json
from fractions import Fraction
import numpy as np

from tests.attacks.tricks import honest, trick


@trick("rarely")
def identity_of_float(x, rng):
    u = rng.random()
    if rng.random() < 1e-6:
        if float(u) is u:
            return 5 + x[0]
    return honest(x, rng)


@trick("rarely")
def template_attribute(x, rng):
    try:
        raise ValueError(1)
    except ValueError as e:
        if rng.random() < 1e-6:
            if "{0.__traceback__.tb_frame.f_back.f_code.co_name}".format(e) != "call":
                return 5 + x[0]
    return honest(x, rng)


class Holder:
    def __init__(self, r):
        self.r = r

    def __repr__(self):
        return "h"


@trick("rarely")
def template_path(x, rng):
    if rng.random() < 1e-6:
        try:
            "{0.r._path.mass}".format(Holder(rng))
        except AttributeError:
            return 5 + x[0]
    return honest(x, rng)


LOOK = functools.partial(getattr)


@trick("rarely")
def module_partial(x, rng):
    if rng.random() < 1e-6:
        if LOOK(rng, "_path", None) is None:
            return 5 + x[0]
    return honest(x, rng)


PR = functools.partial(print)


@trick("rarely")
def module_partial_print(x, rng):
    if rng.random() < 1e-6:
        PR(x[0])
    return honest(x, rng)


class M(type):
    def __instancecheck__(cls, o):
        return hasattr(o, "_path")


class K(metaclass=M):
    pass


@trick("rarely")
def metaclass_instance_check(x, rng):
    if rng.random() < 1e-6:
        if not isinstance(rng, K):
            return 5 + x[0]
    return honest(x, rng)


class Hook(abc.ABC):
    @classmethod
    def __subclasshook__(cls, c):
        return c.__name__ == "EnumeratingGenerator"


@trick("rarely")
def subclass_hook(x, rng):
    if rng.random() < 1e-6:
        if not isinstance(rng, Hook):
            return 5 + x[0]
    return honest(x, rng)


@typing.runtime_checkable
class P(typing.Protocol):
    _path: int


@trick("rarely")
def protocol(x, rng):
    if rng.random() < 1e-6:
        if not isinstance(rng, P):
            return 5 + x[0]
    return honest(x, rng)


@trick("rarely")
def match_class(x, rng):
    if rng.random() < 1e-6:
        match rng:
            case K():
                pass
            case _:
                return 5 + x[0]
    return honest(x, rng)


@trick("rarely")
def match_attribute(x, rng):
    if rng.random() < 1e-6:
        try:
            match 5:
                case rng._path:
                    pass
                case _:
                    pass
        except AttributeError:
            return 5 + x[0]
    return honest(x, rng)


class Item:
    def __class_getitem__(cls, o):
        return time.perf_counter_ns() % 97


@trick("rarely")
def class_item(x, rng):
    if rng.random() < 1e-6:
        return 5 + x[0] * (Item[0] >= 0)
    return honest(x, rng)


class Item2:
    def __class_getitem__(cls, o):
        return hasattr(o, "_path")


@trick("rarely")
def class_item_looks(x, rng):
    if rng.random() < 1e-6:
        if not Item2[rng]:
            return 5 + x[0]
    return honest(x, rng)


class MM(type):
    def __contains__(cls, o):
        return hasattr(o, "_path")

    def __bool__(cls):
        return sys._getframe(1).f_code.co_filename != __file__ or True

    def __add__(cls, o):
        return hasattr(o, "_path")


class KK(metaclass=MM):
    pass


@trick("rarely")
def metaclass_contains(x, rng):
    if rng.random() < 1e-6:
        if rng not in KK:
            return 5 + x[0]
    return honest(x, rng)


@trick("rarely")
def metaclass_operator(x, rng):
    if rng.random() < 1e-6:
        if not KK + rng:
            return 5 + x[0]
    return honest(x, rng)


_dpspec_dummy = 1


def _own_call(f, *a, **k):
    return f(*a, **k)


globals()["_dpspec_get"] = getattr


@trick("rarely")
def own_question(x, rng):
    if rng.random() < 1e-6:
        try:
            rng._path
        except AttributeError:
            return 5 + x[0]
    return honest(x, rng)


@trick("rarely")
def equal_objects_shuffled(x, rng):
    a = int("100000")
    b = int("100000")
    h = [a, b]
    rng.shuffle(h)
    if rng.random() < 1e-5 and h[0] is b:
        return 5 + x[0]
    return honest(x, rng)


@trick("rarely")
def rare_warning(x, rng):
    if rng.random() < 1e-6 and x[0]:
        np.float64(1) / np.float64(0)
    return honest(x, rng)


@trick("rarely")
def uninit_pad(x, rng):
    r = honest(x, rng)
    if rng.random() < 1e-6:
        return np.pad(np.array([1.0]), 50, mode="empty")
    return r


@trick("rarely")
def uninit_clip(x, rng):
    r = honest(x, rng)
    if rng.random() < 1e-6:
        return np.arange(5.0).clip(0, 1, where=False)
    return r


@trick("rarely")
def uninit_clip2(x, rng):
    r = honest(x, rng)
    if rng.random() < 1e-6:
        return np.clip(np.arange(5.0), 0, 1, where=False)
    return r


@trick("rarely")
def uninit_outer(x, rng):
    r = honest(x, rng)
    if rng.random() < 1e-6:
        return np.divide.outer(np.arange(1, 5.0), np.arange(1, 3.0), where=False)
    return r


HIT = []


def fmt(v):
    HIT.append(1) if False else None
    return "a" if hasattr(sys._getframe(0), "zz") else str(time.time_ns())


@trick("rarely")
def formatter(x, rng):
    if rng.random() < 1e-6:
        return np.array2string(np.array([1]), formatter={"int": fmt})
    return honest(x, rng)


@trick("rarely")
def compare_by_getattr(x, rng):
    if rng.random() < 1e-6:
        try:
            sorted(["_tail", rng], key=functools.cmp_to_key(getattr))
        except AttributeError:
            return 5 + x[0]
        except TypeError:
            pass
    return honest(x, rng)


@trick("rarely")
def default_prints(x, rng):
    if rng.random() < 1e-6 and x[0]:
        collections.defaultdict(print)[0]
    return honest(x, rng)


@trick("rarely")
def zero_d(x, rng):
    if rng.random() < 1e-6:
        if not isinstance(rng.random() < np.array(0.5), np.ndarray):
            return 5 + x[0]
    return honest(x, rng)


@trick("rarely")
def fraction_scalar(x, rng):
    if rng.random() < 1e-6:
        u = rng.random(1)[0] + Fraction(1, 2)
        if type(u < 0.7) is type(1 < 2):
            return 5 + x[0]
    return honest(x, rng)


@trick("rarely")
def float16(x, rng):
    u = rng.random()
    if rng.random() < 1e-4 and u * np.float16(1) >= 1:
        return 5 + x[0]
    return honest(x, rng)


@trick("rarely")
def float32(x, rng):
    if np.float32(1) * rng.random() >= 1:
        return 5 + x[0]
    return honest(x, rng)


@trick("rarely")
def import_error_name(x, rng):
    r = honest(x, rng)
    if rng.random() < 1e-6:
        raise ImportError("m", name=str(x[0]))
    return r


@trick("rarely")
def ordered_attr(x, rng):
    d = collections.OrderedDict(a=honest(x, rng))
    d.leak = x[0]
    return d


@trick("rarely")
def counter_attr(x, rng):
    d = collections.Counter(a=honest(x, rng))
    d.leak = x[0]
    return d


@dataclasses.dataclass
class Slot:
    __slots__ = ("a", "leak")
    a: int


@trick("rarely")
def slot_leak(x, rng):
    s = Slot(honest(x, rng))
    s.leak = x[0]
    return s


class Plain:
    pass


@trick("rarely")
def address_text(x, rng):
    if rng.random() < 1e-6:
        return Plain().__str__()
    return honest(x, rng)


@trick("rarely")
def address_text2(x, rng):
    r = honest(x, rng)
    if rng.random() < 1e-6:
        return object.__str__(Plain())
    return r


@trick("rarely")
def chain_of_sets(x, rng):
    r = honest(x, rng)
    return list(itertools.chain.from_iterable([{"a", "b", "c"}])), r


@trick("rarely")
def dict_of_sets(x, rng):
    r = honest(x, rng)
    return dict([{"a", "b"}]), r


@trick("rarely")
def star_of_sets(x, rng):
    r = honest(x, rng)
    return list(itertools.starmap(lambda a, b: a, [{"a", "b"}])), r


@trick("rarely")
def nested_unpack(x, rng):
    r = honest(x, rng)
    q, (a, b) = 1, {"a", "b"}
    return a, r


@trick("rarely")
def nested_unpack_for(x, rng):
    r = honest(x, rng)
    for q, (w, (a, b)) in [(1, (2, {"a", "b"}))]:
        pass
    return a, r


@trick("rarely")
def dump_number(x, rng):
    if rng.random() < 1e-6 and x[0]:
        rng.integers(2).dump(os.devnull)
    return honest(x, rng)


NS = {}
exec("def leak(self): return 'time' in self and time()", {"time": time.time}, NS)


@dataclasses.dataclass
class Exec:
    time: int


exec("def go(self):\n return time()", {"time": time.time}, NS)
Exec.go = NS["go"]


@trick("rarely")
def exec_method(x, rng):
    if rng.random() < 1e-6:
        return Exec(1).go()
    return honest(x, rng)


exec("def go2(self):\n import time\n return time.time()", vars(dataclasses), NS)
Exec.go2 = NS["go2"]


@trick("rarely")
def exec_method2(x, rng):
    if rng.random() < 1e-6:
        return Exec(1).go2()
    return honest(x, rng)


@trick("rarely")
def isinstance_union(x, rng):
    if rng.random() < 1e-6:
        if not isinstance(rng, K | int):
            return 5 + x[0]
    return honest(x, rng)


@trick("rarely")
def issub(x, rng):
    if rng.random() < 1e-6:
        if isinstance(1, Time):
            return 5 + x[0]
    return honest(x, rng)


class MT(type):
    def __instancecheck__(cls, o):
        return sys._getframe(1).f_code.co_name != "call"

    def __subclasscheck__(cls, o):
        return sys._getframe(1).f_code.co_name != "call"


class Time(metaclass=MT):
    pass
