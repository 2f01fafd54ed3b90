"""What a class promises, and what becomes of it in the classes that are derived from it.

Every kind of block says what it is by a few methods (a distance, a divergence, universes, a value), and may promise things about
it: that it is a metric, that it is bounded by another, that it is one number everywhere. Proofs and rules lean on promises
without looking at what they are about. A derived class inherits both, and may change the one without a word about the other:

    class Lighter(Hamming):
        def distance(self, left, right, space): ...  # half as far: the price of a record, the bounds, the name are no longer true

One rule, applied when the class is made, so that whoever reads a promise need not know of it: **a promise that a class inherits
is withdrawn where the class changes what the promise is about.** What stands in its place is what is true of every object of the
kind: *unknown*, *not promised*. A class that promises the same of what it changed says it again.

What changes a thing is any member that replaces one of an ancestor, helpers of its methods included. These change nothing: to
promise something, to implement what was abstract, to give a parameter another default, and what a kind counts among its
`_asides`.

A kind derives from `Promising` and lists its promises in `_promised`. Where the class of an *other* object is asked for what it
is ("the other one is a Hamming distance"), `is_a` asks for it under the same rule.
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
    """The members by which classes promise something about what they are, each with what stands where nothing is promised: a
    member of the class, put in its place. A class may add those that it invents."""
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
            for name in ("__eq__", "__hash__"):  # what it keeps besides the parameters that it inherits, nobody knows
                setattr(cls, name, getattr(object, name))


def is_a(thing: object, *kinds: Callable[..., Described]) -> TypeGuard[Described]:
    """Whether an object is what one of the classes says: of it, or of a class derived from it that changed nothing.

    Where an argument goes by the class of an object ("the other one counts in whole records"), it is asked with this.
    """
    order = type(thing).__mro__
    return any(not _replaced(type(thing), order.index(kind)) for kind in kinds if kind in order)


def is_promised(thing: Promising, name: str) -> bool:
    """Whether what the object says under a name stands, for promises that are parameters and so cannot be withdrawn."""
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
    """What the classes before the given place replace of what was there.

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
"""The same, remembered: the classes of blocks are few, and asked often."""


def _first_complete(cls: type) -> int:
    """The place of the first class that left nothing open, the highest up; 0 where that is no other than this one."""
    complete = (at for at, base in enumerate(cls.__mro__) if at and _is_complete(base))
    return max(complete, default=0)


def _is_complete(cls: type) -> bool:
    return cls is not Promising and issubclass(cls, Promising) and not getattr(cls, "__abstractmethods__", ())


def _neutral(cls: type) -> frozenset[str]:
    """The names of the promises and asides of all kinds that the class belongs to."""

    def told(names: str) -> set[str]:
        return {name for base in cls.__mro__ for name in vars(base).get(names, ())}

    neutral = told("_promised") | told("_asides") | {"name", "_promised", "_restated", "_asides", "_abc_impl"}
    neutral.add("_attrs_cached_hash")  # room for a hash, which every class has anew
    return frozenset(neutral - told("_restated"))


def _is_replaced(name: str, below: tuple[type, ...], above: tuple[type, ...]) -> bool:
    """Whether it is more than what was left open, or another default of a parameter."""
    new, old = (next(vars(base)[name] for base in order if name in vars(base)) for order in (below, above))
    if getattr(old, "__isabstractmethod__", False):
        return False
    return not isinstance(old, MemberDescriptorType) or hasattr(new, "__get__")
