"""What a class promises about its objects, and which promises a derived class keeps.

Every kind of block defines its objects by a few methods (a distance, a divergence, universes, a value). It may also promise
properties of them: that a distance is a metric, that it is bounded by another, that a budget is one number everywhere. Proofs and
rules rely on promises without evaluating the methods. A derived class inherits both, and may override a method and not the
promise:

    class Lighter(Hamming):
        def distance(self, left, right, space): ...  # half the distance: price, bounds and name are now false

One rule, applied when the class is created, prevents this: **an inherited promise is withdrawn where the class overrides what the
promise is about.** It is replaced by what is true of every object of the kind: *unknown*, *not promised*. A class whose
overriding methods have the property states the promise again.

Overriding any member of an ancestor counts as a change, including helpers of its methods. These do not count: stating a promise,
implementing an abstract method, giving a parameter another default, and overriding a member that the kind lists in its `_asides`.

A kind derives from `Promising` and lists its promises in `_promised`. Code that depends on the class of *another* object ("the
other one is a Hamming distance") calls `is_a`, which applies the same rule.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from types import MappingProxyType, MemberDescriptorType
from typing import Any, ClassVar, TypeGuard, TypeVar

Described = TypeVar("Described")


class Promising:
    """The base of every kind of object whose classes make promises.

    >>> class Voice(Promising):
    ...     _promised = {"is_loud": False}
    ...     is_loud = False
    ...     def says(self): ...
    >>> class Shout(Voice):
    ...     is_loud = True
    ...     def says(self): return "HEY"
    >>> class Again(Shout): times = 2
    >>> class Whisper(Shout):
    ...     def says(self): return "hey"
    >>> Again.is_loud, Whisper.is_loud, is_a(Again(), Shout), is_a(Whisper(), Shout)
    (True, False, True, False)
    """

    _promised: ClassVar[Mapping[str, Any]] = MappingProxyType({})
    """The members by which classes promise properties of their objects, each with the member of the class that replaces it where
    nothing is promised. A class may add promises of its own."""
    _restated: ClassVar[frozenset[str]] = frozenset()
    """Those of them that say once more what the object is, as the list of universes does: replacing one is a change, too."""
    _asides: ClassVar[frozenset[str]] = frozenset({"check", "examples"})
    """Members that are neither a promise nor what one is about."""

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        for kind in cls.__mro__[1:] if _first_complete(cls) else ():
            for name, unknown in vars(kind).get("_promised", {}).items():
                if _replaced(cls, _place(cls, name), name):
                    setattr(cls, name, unknown)
        if _first_complete(cls) and _bears_the_name_of_another(cls):
            cls.name = re.sub("(?<=.)(?=[A-Z])", "-", cls.__name__).lower()  # type: ignore[attr-defined]
        if "__init__" in vars(cls) and "__eq__" not in vars(cls) and cls.__eq__ is not object.__eq__:
            for name in ("__eq__", "__hash__"):  # its state beyond the inherited parameters is unknown
                setattr(cls, name, getattr(object, name))


def is_a(thing: object, *kinds: Callable[..., Described]) -> TypeGuard[Described]:
    """Whether an object is an instance of one of the classes, directly or by a derived class that overrides nothing.

    Use it where an argument depends on the class of an object ("the other one counts in whole records").
    """
    order = type(thing).__mro__
    return any(not _replaced(type(thing), order.index(kind)) for kind in kinds if kind in order)


def is_promised(thing: Promising, name: str) -> bool:
    """Whether the promise that the object states under a name is valid, for promises that are parameters and cannot be
    withdrawn."""
    cls = type(thing)
    return not _replaced(cls, _place(cls, name), name)


def _bears_the_name_of_another(cls: type) -> bool:
    """Whether a class is known by the name of what it has changed: rules go by names, too."""
    name = getattr(cls, "name", None)
    named = [place for place, base in enumerate(cls.__mro__) if name is not None and vars(base).get("name") == name]
    return bool(named) and bool(_replaced(cls, named[-1]))


def _place(cls: type, name: str) -> int:
    """The place, in the order of resolution, of the class that states a promise; behind all where none does."""
    order = cls.__mro__
    return next((place for place, base in enumerate(order) if name in vars(base)), len(order))


def _looked_up(cls: type, place: int, promise: str = "") -> frozenset[str]:
    """The members that the classes before the given place override.

    What a kind or another abstract class states, it states of whatever completes it: so it is stated by the first complete class.
    """
    order = cls.__mro__
    place = min(place, _first_complete(cls))
    if place == 0:
        return frozenset()
    inherited = {name for base in order[place:] for name in vars(base)}
    names = {name for base in order[:place] for name in vars(base)} & inherited - _neutral(cls) - {promise}
    return frozenset(n for n in names if not n.startswith("__") and _is_replaced(n, order[:place], order[place:]))


_replaced: Callable[..., frozenset[str]] = lru_cache(maxsize=8192)(_looked_up)
"""The same function, cached: there are few classes of blocks, and each is looked up often."""


def _first_complete(cls: type) -> int:
    """The place of the first class that left nothing open, the highest up; 0 where that is no other than this one."""
    kinds = ((at, base) for at, base in enumerate(cls.__mro__) if at and base is not Promising and issubclass(base, Promising))
    return max((at for at, base in kinds if not getattr(base, "__abstractmethods__", ())), default=0)


def _neutral(cls: type) -> frozenset[str]:
    """The names of the promises and asides of all kinds that the class belongs to."""

    def declared(names: str) -> set[str]:
        return {name for base in cls.__mro__ for name in vars(base).get(names, ())}

    neutral = declared("_promised") | declared("_asides") | {"name", "_promised", "_restated", "_asides", "_abc_impl"}
    neutral.add("_attrs_cached_hash")  # room for a hash, which every class has anew
    return frozenset(neutral - declared("_restated"))


def _is_replaced(name: str, below: tuple[type, ...], above: tuple[type, ...]) -> bool:
    """Whether it is more than what was left open, or another default of a parameter."""
    new, old = (next(vars(base)[name] for base in order if name in vars(base)) for order in (below, above))
    if getattr(old, "__isabstractmethod__", False):
        return False
    return not isinstance(old, MemberDescriptorType) or hasattr(new, "__get__")
