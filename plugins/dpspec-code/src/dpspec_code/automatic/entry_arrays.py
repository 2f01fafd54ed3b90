"""Lists and arrays of the entries of a dataset, of which only the kinds are known.

A dataset as a list may represent all lists: the possible *kinds* v of its entries are known, and the count of each is a
symbol N_v. Code may count and sum them (`len`, `count`, `sum` of a generator expression, `bincount`, ...),

    sum(f(v) for v in x if g(v))  =  sum over v with g(v) of f(v) N_v,

and any other operation on them, such as one that depends on their order, ends the run. While the entries are summed, nothing may
be drawn, assigned or changed, so that the contribution of an entry depends on its kind alone. One exception: `rng.random() < q`,
evaluated once for each entry to keep it or leave it out, makes a sample, in which each entry is included independently, and whose
counts are symbols of their own.
"""

from __future__ import annotations

import collections
import copy
import dis
import functools
import math
import operator
import statistics
import types
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, NoReturn

import attrs
import numpy as np

from dpspec.plugin.judges import NotEnumerableError
from dpspec_code.automatic.entry_places import Place, Places, SampleMask
from dpspec_code.automatic.entry_rows import LEFT_OUT, WholeRows, of_rows
from dpspec_code.automatic.formulas import COUNT, SAMPLED, Affine, NoiseDraw, reading
from dpspec_code.automatic.noise import (
    LARGEST,
    FloatOrInteger,
    FloatOrZero,
    NoisyNumber,
    drawn_number,
    rounding,
    span_of,
)
from dpspec_code.automatic.path import LEAST, RandomPath, exact
from dpspec_code.automatic.sensitivities import NAMES as STATISTICS, statistic_of
from dpspec_code.automatic.spellings import NARROW, axis_of, by_place, entry_type, number_type
from dpspec_code.automatic.widths import ROUGH, RecordBound


@attrs.frozen(eq=False, repr=False)
class WholeList:  # noqa: PLW1641 (it has one, which refuses)
    """A list of the dataset, or what is made of it entry by entry.

    Args:
        path: the run.
        kinds: what an entry is, for each kind of the dataset; LEFT_OUT for one that is left out.
        counts: how many entries of the dataset are of each kind.
        is_array: whether it is an array of numpy.
        alone: of an array whose type depends on which entries occur, what an entry is where no others do; `kinds` says what it is
            where all occur.
        sizes: how many entries a dataset has at least and at most.
        is_loose: whether an array without entries is one of doubles, as `np.array([])` is, though others are not.
        is_rough: whether last digits of its numbers may be others, as `dpspec_code.automatic.entry_rows` says.
        base: the array of which this one is a view; None where it has numbers of its own.
        growing: the loop that appends its entries; None for other lists.

    The entries are in the order of the dataset, whatever was derived from them and left out; a sorted list has `counts` of its
    own. Two that leave out the same kinds of the same `counts` are therefore *aligned*, entry by entry.
    """

    path: RandomPath
    _kinds: tuple[Any, ...]
    counts: tuple[NoisyNumber, ...]
    is_array: bool = False
    alone: tuple[Any, ...] | None = None
    sizes: tuple[int, int | None] = (0, None)
    is_loose: bool = False
    is_rough: bool = False
    base: Any = None
    growing: Any = None

    __array_ufunc__ = None

    @property
    def kinds(self) -> tuple[Any, ...]:
        """What an entry is, for each kind of the dataset."""
        if self.growing is not None and not self.growing.is_over:
            self.refuse("was used before the loop was over that appends to it")
        return self._kinds

    def grown(self, loop: Any, place: int, value: Any) -> WholeList:
        """It with one more entry for each of a kind, as a loop appends them."""
        if self.growing is not loop or self._kinds[place] is not LEFT_OUT:
            self.refuse("was appended to more than once for an entry, or in more than one loop")
        return attrs.evolve(self, kinds=(*self._kinds[:place], value, *self._kinds[place + 1 :]))

    def __iter__(self) -> WholeListWalk:
        return self.walk()

    def walk(self, shown: Places | None = None) -> WholeListWalk:
        """A walk through its entries, or through their places."""
        if self.path.counting:
            self.refuse("was walked through twice at once")
        self.check_type()
        return WholeListWalk(self, shown)

    def check_type(self) -> None:
        """End the run where the entries have no type, or no digits, of their own."""
        self.check_one_type()
        if self.is_rough:
            self.refuse("was used entry by entry, where the last digits of its numbers may be others")

    def check_one_type(self) -> None:
        """End the run where the entries have no type of their own."""
        if self.alone is not None:
            self.refuse("is an array of doubles or of integers, by what occurs, and was used entry by entry")

    @property
    def has_rows(self) -> bool:
        """Whether it is a list of rows of numbers."""
        known = [kind for kind in self.kinds if kind is not LEFT_OUT]
        return (
            bool(known) and not self.is_array and all(type(kind) in (tuple, list, np.ndarray) and np.ndim(kind) for kind in known)
        )

    def rows(self) -> WholeRows:
        """It as an array with an axis of the entries."""
        if self.has_rows:
            return WholeRows.of(self)
        return WholeRows.of_column(self if self.is_array else self.array())

    def may_be_empty(self) -> bool:
        """Whether it has no entries on some dataset."""
        return not (self.sizes[0] and self._is_whole())

    def is_size(self, given: Any) -> bool:
        """Whether a number is how many entries it has."""
        size = self.size()
        if type(given) is not NoisyNumber or type(size) is not NoisyNumber:
            return type(given) in (int, np.int64) and type(size) is int and given == size
        return bool(given.expression == size.expression)

    def total(self, parts: Sequence[Any]) -> Any:
        """sum of parts[v] N_v, without what is left out."""
        known = [(part, count) for part, count in zip(parts, self.counts, strict=True) if part is not LEFT_OUT]
        sample = self._sample([part for part, _ in known])
        found = Affine(Fraction(0))
        for part, count in known:
            factor = count._part(part)
            if part and not 1 / LARGEST <= abs(factor.constant) <= LARGEST:  # type: ignore[union-attr]  # it is affine
                self.refuse("has entries that are so large or small that sums of doubles fail")
            found = found.plus(count.expression, factor.constant)  # type: ignore[arg-type,union-attr]  # both are affine
        error = rounding(found, self.path.bound) if isinstance(sample, float) else Fraction(0)
        if self.is_rough:
            error += span_of(found, alone=self.path.bound.alone, drawn=False).largest(self.path.bound.seen) * ROUGH
        return drawn_number(self.path, found, sample, error)

    def _sample(self, parts: Sequence[Any]) -> Any:
        """A number of the type that a sum of some of these numbers has."""
        kinds = {type(part) for part in parts}
        if self.alone is not None:
            return self._sample_of_either(kinds)
        if self.is_array and len(kinds) == 1 and kinds <= {np.int64, np.float64, np.bool_, *NARROW}:
            return FloatOrInteger(1) if self.is_loose and kinds != {np.float64} else np.sum(np.array(parts))
        if not self.is_array and kinds <= {int, bool}:
            return 1
        if not self.is_array and float in kinds and kinds <= {float, int, bool} and all(map(math.isfinite, parts)):
            return FloatOrZero(1.0)
        return self.refuse("has a sum whose type depends on what is summed")

    def _sample_of_either(self, kinds: set[type]) -> Any:
        """The same of an array whose type depends on which entries occur."""
        kinds |= {type(part) for part in self.alone or () if part is not LEFT_OUT}
        if kinds <= {np.int64, np.bool_}:
            return np.int64(1)
        return FloatOrInteger(1) if kinds <= {np.int64, np.float64} else self.refuse("is an array of several types")

    def size(self) -> Any:
        """len(it)."""
        least, most = self.sizes
        return least if least == most and self._is_whole() else self.number_of(lambda _: True)

    def _is_whole(self) -> bool:
        """Whether it has all entries of the dataset."""
        return not any(kind is LEFT_OUT for kind in self.kinds)

    def check_sum_of_python(self) -> None:
        """End the run where Python's `sum` is applied to the numbers of an array that may be empty: of none it is its own 0."""
        if self.is_array and not (self.sizes[0] and self._is_whole()):
            self.refuse("is an array that may have no entries, of which Python's sum is an integer of Python's")
        if any(type(kind) in NARROW for kind in self.kinds):
            self.refuse("is an array of integers of fewer than 64 bits, which wrap around in Python's sum")

    def mean(self) -> Any:
        """Its mean, where every dataset has equally many entries."""
        size = self.size()
        if type(size) is not int or not size:
            self.refuse("was divided by how many entries it has")
        self.check_type()
        return self.mapped(np.float64).total([_as(np.float64, kind) for kind in self.kinds]) / np.int64(size)

    def is_aligned(self, other: WholeList) -> bool:
        """Whether the entries of both are made of the same entries of the dataset, in one order."""
        pairs = zip(self.kinds, other.kinds, strict=True)
        return self.counts is other.counts and all((one is LEFT_OUT) == (two is LEFT_OUT) for one, two in pairs)

    def by_entry(self, function: Callable[..., Any], given: Sequence[Any]) -> Any:
        """function(*given) of numpy, which looks at each entry by itself; arrays among what is given have to be aligned."""
        listed = [one for one in given if type(one) is WholeList]
        if any(one.is_rough for one in listed):
            return self.rows().by_part(function, given)
        if not all(type(one) in (*_SINGLE, WholeList) for one in given) or not all(one.is_array for one in listed):
            self.refuse("was used in a computation with more than one number")
        for one in listed:
            one.check_integers(function)
        if len(listed) == 1:
            return self.mapped(lambda kind: _of_one(function, [kind if type(one) is WholeList else one for one in given]))
        if not all(map(self.is_aligned, listed)) or any(one.alone is not None for one in listed):
            self.refuse("was used in a computation with other entries than its own")
        columns = [one.kinds if type(one) is WholeList else [one] * len(self.kinds) for one in given]
        rows = zip(self.kinds, zip(*columns, strict=True), strict=True)
        made = tuple(LEFT_OUT if kind is LEFT_OUT else _of_one(function, row) for kind, row in rows)
        return attrs.evolve(self, kinds=made, is_loose=any(one.stays_loose(made) for one in listed))

    def stays_loose(self, kinds: Sequence[Any]) -> bool:
        """Whether what is made of it is loose, too: a comparison gives truth values, whether there are entries or not."""
        pairs = [(one, two) for one, two in zip(self.kinds, kinds, strict=True) if one is not LEFT_OUT]
        return self.is_loose and not all(type(two) is np.bool_ and type(one) is not np.bool_ for one, two in pairs)

    def check_integers(self, function: Any) -> None:
        """End the run where an array that may be one of doubles is given to a function of integers, which raises then."""
        if self.is_loose and any(function is one for one in _OF_INTEGERS):
            self.refuse("is an array of doubles where it has no entries (give it a dtype), and was used as one of integers")

    def changed(self, function: Callable[[Any, Any], Any], other: Any) -> WholeList:
        """The array after function(it, other) was put in its place; no other name knows it. Its type stays what it is."""
        made = self._operated(function, other) if self.is_array and self.alone is None else self.refused("a change in place")
        if type(made) is not WholeList:
            self.refuse("was changed in place into another shape")
        if any(type(one) is not type(two) for one, two in zip(self.kinds, made.kinds, strict=True)):
            self.refuse("was changed in place into another type")
        return made

    def replaced(self, made: Any) -> WholeList:
        """The array with the numbers of another one of its type, which no other name knows."""
        if type(made) is not WholeList or not (self.is_array and made.is_array and self.is_aligned(made)):
            self.refuse("was changed in place into another shape")
        known = [(one, two) for one, two in zip(self.kinds, made.kinds, strict=True) if one is not LEFT_OUT]
        if self.alone is not None or made.alone is not None or any(type(one) is not type(two) for one, two in known):
            self.refuse("was changed in place into another type")
        return attrs.evolve(made, base=self.base, is_loose=self.is_loose)

    def assigned(self, mask: Any, value: Any) -> WholeList:
        """The array after it[mask] = value, which no other name knows: as numpy converts the value."""
        kept = self.selected(mask)
        made = value if type(value) is WholeList else None
        if made is None and type(value) not in (int, float, bool, np.int64, np.float64, np.bool_):
            self.refuse("was changed in place by what is no number")
        if made is not None and (made.alone is not None or not made.is_array or not made.is_aligned(kept)):
            self.refuse("was changed in place by other entries than its own")
        kinds = list(self.kinds)
        for place, kind in enumerate(kept.kinds):
            if kind is not LEFT_OUT:
                box = np.array([kinds[place]])
                box[:] = value if made is None else made.kinds[place]
                kinds[place] = box[0]
        is_rough = self.is_rough or (made is not None and made.is_rough)
        return attrs.evolve(self, kinds=tuple(kinds), is_rough=is_rough)

    def places(self, value: Any, length: int) -> list[tuple[int, Any]]:
        """What is added at each place of an array of a length, by `np.add.at` with these places and a value for each."""
        table = self if self.is_array else self.array()
        if self.is_array:  # an empty list is a list of no places, whatever type its array has
            table.check_integers(operator.and_)
        table.check_type()
        known = [kind for kind in table.kinds if kind is not LEFT_OUT]
        if any(type(kind) is not np.int64 or not -length <= kind < length for kind in known):
            self.refuse("was used as places that an array does not have")
        made = value if type(value) is not WholeList or value.is_array else value.array()
        if type(made) is WholeList and not (made.is_aligned(table) and made.alone is None):
            self.refuse("was used as places of other entries than its own")
        if type(made) not in (WholeList, int, float, np.int64, np.float64):
            self.refuse("was used as places of what is no number")
        found: list[tuple[int, Any]] = []
        for at in range(length):
            at_it = [kind is not LEFT_OUT and kind % length == at for kind in table.kinds]
            added = [made.kinds[place] if type(made) is WholeList else made for place in range(len(at_it))]
            numbers = [np.array([one])[0] if holds else LEFT_OUT for holds, one in zip(at_it, added, strict=True)]
            shown = attrs.evolve(table, kinds=tuple(numbers), is_loose=False)
            found.append((at, shown.total(shown.kinds) if any(at_it) else None))
        return found

    def selected(self, mask: Any) -> WholeList:
        """it[mask], for an array of truth values that was made of it."""
        if type(mask) is SampleMask and self.is_array and self.counts is mask.listed.counts and self._is_whole():
            self.check_type()
            return attrs.evolve(self, counts=mask.counts, sizes=(0, None), base=None)
        if type(mask) is not WholeList or not (self.is_array and mask.is_array and self.is_aligned(mask)):
            self.refuse("was asked for more than sums and counts of its entries")
        known = [kind for kind in mask.kinds if kind is not LEFT_OUT]
        if self.alone is not None or mask.alone is not None or any(type(kind) is not np.bool_ for kind in known):
            self.refuse("was asked for some of its entries")
        kept = [keeps is not LEFT_OUT and bool(keeps) for keeps in mask.kinds]
        return attrs.evolve(self, kinds=tuple(kind if keeps else LEFT_OUT for kind, keeps in zip(self.kinds, kept, strict=True)))

    def sample_mask(self, threshold: Any) -> SampleMask:
        """Who is in a sample, where each entry takes part with a probability."""
        rate = exact(threshold) if isinstance(threshold, (int, float, Fraction)) else None
        if self.path.counting or not isinstance(rate, Fraction) or not LEAST <= rate <= 1 - LEAST:
            self.refuse("has uniform numbers for its entries that were used for more than to take a sample")
        return SampleMask(self, self._sampled([rate] * len(self.kinds)))

    def _sampled(self, probabilities: Sequence[Fraction]) -> tuple[NoisyNumber, ...]:
        """How many entries of each kind are in a sample, in which an entry takes part with the probability of its kind."""
        if self.path.sampled:
            self.refuse("was sampled more than once")
        self.path.sampled = True
        symbols = (NoiseDraw(-place - 1, SAMPLED, probability) for place, probability in enumerate(probabilities))
        return tuple(NoisyNumber(self.path, Affine(Fraction(0), ((one, Fraction(1)),)), 1) for one in symbols)

    def __bool__(self) -> bool:
        """Whether a list has entries; for arrays, numpy requires one."""
        if self.is_array:
            self._other()
        return bool(self.size() > 0)

    def count(self, value: Any) -> Any:
        """How many entries equal a value."""
        if any(one is not LEFT_OUT and one != one for one in (*self.kinds, value)):  # noqa: PLR0124 (NaN is not)
            self.refuse("counts what is not equal to itself")
        return self.number_of(lambda kind: kind == value)

    def number_of(self, test: Callable[[Any], Any]) -> NoisyNumber:
        """How many entries pass a test, as an integer of Python's, which has no end."""
        if self.is_rough:
            self.check_type()
        found: NoisyNumber = attrs.evolve(self, is_array=False, alone=None).total(
            [_once(kind, int(bool(test(kind)))) for kind in self.kinds]
        )
        return found.retyped(1)

    def mapped(self, function: Callable[[Any], Any]) -> WholeList:
        """function of every entry of an array."""
        if not self.is_array:
            self.refuse("is a list and was used as an array")
        kinds = tuple(LEFT_OUT if kind is LEFT_OUT else function(kind) for kind in self.kinds)
        if self.alone is None:
            return attrs.evolve(self, kinds=kinds, is_loose=self.stays_loose(kinds))
        alone = tuple(LEFT_OUT if kind is LEFT_OUT else function(kind) for kind in self.alone)
        pairs = [(one, other) for one, other in zip(kinds, alone, strict=True) if one is not LEFT_OUT]
        if any(reading(one) is None or reading(one) != reading(other) for one, other in pairs):
            self.refuse("is an array of doubles or of integers, by what occurs, which differ in what is done")
        return attrs.evolve(self, kinds=kinds, alone=None if all(type(one) is type(other) for one, other in pairs) else alone)

    def as_list(self) -> WholeList:
        """list(it)."""
        self.check_type()
        return attrs.evolve(self, is_array=False, is_loose=False, base=None, growing=None)

    def in_order(self) -> WholeList:
        """sorted(it): a list of the same entries, which is aligned with no other."""
        if any(kind is not LEFT_OUT and type(kind) not in (int, float, bool, str) for kind in self.kinds):
            self.refuse("was sorted, and has entries that are no numbers or texts")
        try:
            sorted(kind for kind in self.kinds if kind is not LEFT_OUT)
        except TypeError:
            self.refuse("was sorted, and has entries that are not compared with each other")
        return attrs.evolve(self.as_list(), counts=(*self.counts,))

    def is_true_of(self, *, some: bool) -> bool:
        """any(it), or all(it): whether some entries are true, or none is not."""
        number = self.number_of(lambda kind: bool(kind) is some)
        return bool(number > 0) is some

    def converted(self, dtype: Any = None, *, copied: bool) -> WholeList:
        """np.array(it, dtype), or np.asarray, which gives an array of the type back as it is."""
        known = {type(kind) for kind in self.kinds if kind is not LEFT_OUT}
        is_same = self.is_array and self.alone is None and (dtype is None or known == {entry_type(dtype)})
        if copied or not is_same:
            return attrs.evolve(self, base=None) if is_same and dtype is None else self.array(dtype)
        return attrs.evolve(self, is_loose=False, base=self) if self.is_loose and dtype is not None else self

    def array(self, dtype: Any = None) -> WholeList:
        """The entries as an array of numbers."""
        dtype = None if dtype is None else entry_type(dtype) or self.refuse("was made an array of another type")
        self.check_type()
        entries = [kind for kind in self.kinds if kind is not LEFT_OUT]
        whole = np.array(entries, dtype=dtype)
        single = [np.array([entry], dtype=dtype) for entry in entries]
        if dtype is None and whole.ndim == 1 and all(array.dtype.char == "U" for array in (whole, *single)):
            return self._texts(whole)
        if any(array.ndim != 1 or array.dtype.char not in "lqd?bhi" for array in (whole, *single)):
            self.refuse("was made an array of what are no numbers of 64 bits")
        types = {array.dtype for array in single}
        if len(types) > 2 or (len(types) > 1 and any(map(_differ, whole, single))):
            self.refuse("was made an array whose type depends on which entries occur")
        made, alone = (
            tuple(LEFT_OUT if kind is LEFT_OUT else next(parts) for kind in self.kinds)
            for parts in (iter(whole), iter([array[0] for array in single]))
        )
        loose = dtype is None and not (self.sizes[0] and self._is_whole())
        return attrs.evolve(self, kinds=made, is_array=True, alone=alone if len(types) > 1 else None, is_loose=loose)

    def _texts(self, whole: Any) -> WholeList:
        """An array of texts, which are compared with others: numpy looks at no NUL at the end of one."""
        parts = iter(whole)
        made = tuple(kind if kind is LEFT_OUT else next(parts) for kind in self.kinds)
        if any(kind is not LEFT_OUT and str(part) != kind for kind, part in zip(self.kinds, made, strict=True)):
            self.refuse("was made an array of texts that end in NUL")
        return attrs.evolve(self, kinds=made, is_array=True, is_loose=self.may_be_empty())

    def _operated(self, function: Callable[[Any, Any], Any], other: Any, *, turned: bool = False) -> Any:
        given = [other, self] if turned else [self, other]
        if type(other) in (WholeRows, np.ndarray) or self.is_rough:
            return self.rows().by_part(function, given)
        if type(other) is WholeList:
            return self.by_entry(function, given)
        if type(other) is str and (function is operator.eq or function is operator.ne) and "\0" not in other:
            if any(kind is not LEFT_OUT and type(kind) is not np.str_ for kind in self.kinds):
                self.refuse("is no array of texts, and was compared with one")
            return self.mapped(lambda kind: np.bool_(function(str(kind), other)))
        if type(other) not in (int, float, bool, np.int64, np.float64):
            self.refuse("was used in a computation with more than one number")
        self.check_integers(function)
        return self.mapped(lambda kind: _of_one(function, [other, kind] if turned else [kind, other]))

    def __eq__(self, other: object) -> Any:
        return self._operated(operator.eq, other)

    def __ne__(self, other: object) -> Any:
        return self._operated(operator.ne, other)

    def __lt__(self, other: Any) -> Any:
        return self._operated(operator.lt, other)

    def __le__(self, other: Any) -> Any:
        return self._operated(operator.le, other)

    def __gt__(self, other: Any) -> Any:
        return self._operated(operator.gt, other)

    def __ge__(self, other: Any) -> Any:
        return self._operated(operator.ge, other)

    def __add__(self, other: Any) -> Any:
        return self._operated(operator.add, other)

    def __radd__(self, other: Any) -> Any:
        return self._operated(operator.add, other, turned=True)

    def __sub__(self, other: Any) -> Any:
        return self._operated(operator.sub, other)

    def __rsub__(self, other: Any) -> Any:
        return self._operated(operator.sub, other, turned=True)

    def __mul__(self, other: Any) -> Any:
        return self._operated(operator.mul, other)

    def __rmul__(self, other: Any) -> Any:
        return self._operated(operator.mul, other, turned=True)

    def __truediv__(self, other: Any) -> Any:
        return self._operated(operator.truediv, other)

    def __rtruediv__(self, other: Any) -> Any:
        return self._operated(operator.truediv, other, turned=True)

    def __floordiv__(self, other: Any) -> Any:
        return self._operated(operator.floordiv, other)

    def __mod__(self, other: Any) -> Any:
        return self._operated(operator.mod, other)

    def __pow__(self, other: Any) -> Any:
        return self._operated(operator.pow, other)

    def __and__(self, other: Any) -> Any:
        return self._operated(operator.and_, other)

    def __or__(self, other: Any) -> Any:
        return self._operated(operator.or_, other)

    def __neg__(self) -> Any:
        return self.mapped(operator.neg)

    def __invert__(self) -> Any:
        self.check_integers(operator.invert)
        return self.mapped(operator.invert)

    def __abs__(self) -> Any:
        return self.mapped(abs)

    def __getitem__(self, place: Any) -> Any:
        if type(place) is Place:
            return self._entry_at(place)
        return self.rows()[place] if type(place) is tuple and self.is_array else self.selected(place)

    def _entry_at(self, place: Place) -> Any:
        """The entry at hand in a walk through the places of a list that is aligned with it."""
        if not self.is_aligned(place.listed):
            self.refuse("was asked for entries at places of another list")
        self.check_type()
        return self.kinds[place.number]

    def __rmatmul__(self, other: Any) -> Any:
        return self.rows().multiplied(other, self)

    def __matmul__(self, other: Any) -> Any:
        if type(other) is not WholeList or self.is_rough or other.is_rough:
            return self.rows().multiplied(self, other)
        products = self.by_entry(np.multiply, [self, other])
        if any(type(kind) in (np.bool_, *NARROW) for kind in products.kinds):
            self.refuse("was multiplied as an array of truth values or of narrow integers, of which the product is another one")
        return _sums(products, "sum")

    def _other(self, *_: Any) -> NoReturn:
        self.refuse("was asked for more than sums and counts of its entries")

    __contains__ = __hash__ = __len__ = __reversed__ = _other
    __str__ = __repr__ = __format__ = __reduce_ex__ = __dir__ = __array__ = _other

    def refused(self, name: str) -> NoReturn:
        """End the run at the access of an attribute."""
        self.refuse(f"was asked for {name}")

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        self.refused(name)

    def refuse(self, what: str) -> NoReturn:
        self.path.refuse(NotEnumerableError("dataset", f"{what}, which depends on more than counts", "have it sampled"))


_OF_INTEGERS: tuple[Any, ...] = (
    operator.and_, operator.or_, operator.invert, np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.invert, np.left_shift,
    np.right_shift, np.gcd, np.lcm,
)  # fmt: skip
"""What numpy refuses of doubles."""
_SINGLE = (int, float, bool, np.int64, np.float64, np.bool_, *NARROW, type(None))


def _of_one(function: Callable[..., Any], given: Sequence[Any]) -> Any:
    """function of numpy of one entry, as in an array: types are those of arrays and not of numbers."""
    found = function(*(np.array([one]) if isinstance(one, np.generic) else one for one in given))
    return found[0]


def _as(kind: type, value: Any) -> Any:
    return value if value is LEFT_OUT else kind(value)


def _differ(number: Any, alone: Any) -> bool:
    """Whether a number in an array with others is another one than in an array by itself."""
    return reading(number) is None or reading(number) != reading(alone[0])


def _once(kind: Any, value: Any) -> Any:
    return LEFT_OUT if kind is LEFT_OUT else value


@attrs.define(eq=False)
class WholeListWalk:
    """Walks through the kinds, and knows where it is."""

    listed: WholeList
    shown: Places | None = None
    place: int = -1

    def __iter__(self) -> WholeListWalk:
        return self

    def __next__(self) -> Any:
        path = self.listed.path
        if not path.counting:
            self.listed.refuse("was walked through")
        if path.coin is not None and path.coin.below:  # the same entry once more, with its uniform number on the other side
            path.coin.below, path.coin.asked = False, False
            entry = self.listed.kinds[self.place]
            return entry if self.shown is None else self.shown.shown(self.place, entry)
        path.coin = None
        while self.place + 1 < len(self.listed.kinds):
            self.place += 1
            entry = self.listed.kinds[self.place]
            if entry is not LEFT_OUT:
                return entry if self.shown is None else self.shown.shown(self.place, entry)
        raise StopIteration


def source_of(generator: Any) -> WholeListWalk | None:
    """The walk through a dataset behind a generator expression; None for what is none."""
    while type(generator) is types.GeneratorType and generator.gi_code.co_name == "<genexpr>" and generator.gi_frame is not None:
        if writes(generator.gi_code):
            return None
        generator = generator.gi_frame.f_locals.get(".0")
    return generator if type(generator) is WholeListWalk else None


WRITES = frozenset({
    "STORE_DEREF", "STORE_GLOBAL", "STORE_NAME", "DELETE_DEREF", "DELETE_GLOBAL", "DELETE_NAME", "DELETE_SUBSCR", "DELETE_ATTR",
})  # fmt: skip
"""Instructions by which code changes what outlives a step of a generator expression."""


@functools.lru_cache(maxsize=1 << 10)
def writes(code: types.CodeType) -> bool:
    """Whether code, or code inside it, changes what outlives it."""
    inside = (one for one in code.co_consts if isinstance(one, types.CodeType))
    return any(one.opname in WRITES for one in dis.get_instructions(code)) or any(map(writes, inside))


def parts_of(generator: Any, walk: WholeListWalk) -> WholeList:
    """What a generator expression makes of each kind, and of how many entries: of all, or of a sample."""
    listed = walk.listed
    path = listed.path
    parts: list[Any] = [LEFT_OUT] * len(listed.kinds)
    probabilities: list[Fraction] = [Fraction(1)] * len(parts)
    path.counting, path.coin = True, None
    for part in generator:
        if parts[walk.place] is not LEFT_OUT:
            listed.refuse("has entries that give several values")
        parts[walk.place] = part
        if path.coin is not None:
            probabilities[walk.place] = path.coin.threshold if path.coin.below else 1 - path.coin.threshold
    path.counting, path.coin = False, None
    if all(probability == 1 for probability in probabilities):
        return attrs.evolve(listed, kinds=tuple(parts), is_array=False)
    return attrs.evolve(listed, kinds=tuple(parts), counts=listed._sampled(probabilities), is_array=False, sizes=(0, None))


def _bins(listed: WholeList, least: int) -> Any:
    listed.check_integers(operator.and_)
    kinds = [kind for kind in listed.kinds if kind is not LEFT_OUT]
    if type(least) is not int or any(type(kind) not in (int, np.int64, *NARROW) or not 0 <= kind < least for kind in kinds):
        listed.refuse("was counted in bins of which there may be more")
    found = np.empty(least, dtype=object)
    for place in range(least):
        found[place] = listed.count(place).retyped(np.int64(1))
    return found


def _histogram(listed: WholeList, bins: Any = 10, range: Any = None) -> tuple[Any, Any]:
    """np.histogram, where the data do not decide where the bins end."""
    if isinstance(bins, str) or (np.ndim(bins) == 0 and range is None):
        listed.refuse("was counted in bins that depend on the entries")
    if listed.is_rough:
        listed.check_type()
    known = [LEFT_OUT if kind is LEFT_OUT else np.histogram([kind], bins=bins, range=range) for kind in listed.kinds]
    edges = np.histogram([], bins=bins, range=range)[1]
    found = np.empty(len(edges) - 1, dtype=object)
    for place in np.arange(len(found)):
        parts = [one if one is LEFT_OUT else int(one[0][place]) for one in known]
        found[place] = attrs.evolve(listed, is_array=False, alone=None).total(parts).retyped(np.int64(1))
    return found, edges


_MORE_AXES = frozenset({"atleast_2d", "reshape", "expand_dims", "einsum"})
"""Functions of numpy that make an array of more than one dimension of one."""


_LOOKED_UP = {"digitize": 0, "isin": 0, "searchsorted": 1}
"""Functions of numpy that look up each entry among numbers, by the place of the entries among their arguments."""


def _looked_up(function: Any, args: Sequence[Any], options: dict[str, Any]) -> Any:
    """np.digitize, np.isin and np.searchsorted of the entries, among numbers that are no data."""
    place = _LOOKED_UP[function.__name__]
    listed, among = args[place], args[1 - place]
    is_plain = type(among) in (list, tuple) or (type(among) is np.ndarray and not among.dtype.hasobject)
    if (
        type(listed) is not WholeList
        or listed.has_rows
        or options
        or not is_plain
        or any(type(one) is NoisyNumber for one in np.ravel(np.asarray(among, dtype=object)))
    ):
        return NotImplemented
    table = listed if listed.is_array else listed.array()
    table.check_type()
    if any(type(kind) not in (np.int64, np.float64) for kind in table.kinds if kind is not LEFT_OUT):
        return NotImplemented

    def of_one(kind: Any) -> Any:
        given = [np.array([kind]), among]
        return function(*(given if place == 0 else reversed(given)))[0]

    made = table.mapped(of_one)
    return attrs.evolve(made, is_loose=False)


def _asks_for_axes(name: str, args: Sequence[Any]) -> bool:
    """Whether a function of numpy makes an array of more than one dimension of some list of the dataset, or is given one."""
    return any(type(one) is WholeList and (one.has_rows or name in _MORE_AXES) for one in args)


def _of_axes(function: Any, name: str, args: Sequence[Any], options: dict[str, Any], *, of_numpy: bool) -> Any:
    """function(*args, **options), where some argument is an array with an axis of the entries."""
    if function is len and len(args) == 1:
        return args[0].shape[0]
    if not of_numpy:
        return NotImplemented
    args, left = by_place(name, args, options)
    if name in ("array", "asarray") and type(args[0]) is WholeList:
        kind = left.pop("dtype", args[1] if len(args) == 2 else None)
        return WholeRows.of(args[0], kind) if not left and len(args) <= 2 else NotImplemented
    return of_rows(name, function, [one.rows() if type(one) is WholeList else one for one in args], left)


def _sum_of_python(given: Any, function: Any) -> Any:
    """sum(given) of a list of the dataset or of a walk through one, math.fsum(given) or statistics.fmean(given)."""
    if function is statistics.fmean:
        size = given.size() if type(given) is WholeList else None
        return _sum_of_python(given, math.fsum) / size if type(size) is int and size else NotImplemented
    walk = source_of(given)
    if walk is not None:
        given = attrs.evolve(parts_of(given, walk), is_array=walk.listed.is_array)
    if type(given) is not WholeList:
        return NotImplemented
    if function is math.fsum:
        known = {type(kind) for kind in given.kinds if kind is not LEFT_OUT}
        if not known <= {int, float, bool, np.float64, np.int64}:
            given.refuse("was summed by math.fsum, and is no list of numbers")
        given.check_type()
        return (
            attrs.evolve(given, kinds=tuple(_as(np.float64, kind) for kind in given.kinds), is_array=True)
            .total([_as(np.float64, kind) for kind in given.kinds])
            .retyped(1.0)
        )
    if any(type(kind) is np.ndarray for kind in given.kinds):
        return given.rows().reduced("sum", (0,), {})
    given.check_sum_of_python()
    return given.total(given.kinds)


def of_listed(  # noqa: PLR0911 (one line per function)
    function: Any, name: str, args: Sequence[Any], options: dict[str, Any]
) -> Any:
    """function(*args) where one argument is a list of the dataset, or a walk through one; NotImplemented if not modelled."""
    first = args[0] if args else None
    if (function is sum or function is math.fsum or function is statistics.fmean) and len(args) == 1 and not options:
        return _sum_of_python(first, function)
    owner = getattr(function, "__self__", None) if type(function) is types.BuiltinFunctionType else function
    of_numpy = getattr(function, "__module__", None) in ("numpy", "numpy.linalg") or isinstance(owner, np.ufunc)
    if of_numpy and name in _LOOKED_UP and len(args) == 2 and not options:
        return _looked_up(function, args, options)
    if WholeRows in map(type, args) or (of_numpy and _asks_for_axes(name, args)):
        return _of_axes(function, name, args, options, of_numpy=of_numpy)
    if type(first) is not WholeList:
        if not of_numpy or not any(type(one) is WholeList for one in (*args, *options.values())):
            return NotImplemented
        args, options = by_place(name, args, options)
        tables = [one.array() if type(one) is WholeList and not one.is_array else one for one in args]
        return _of_table(function, name, tables, options) if any(type(one) is WholeList for one in tables) else NotImplemented
    if function is len and len(args) == 1:
        return first.size()
    if function is collections.Counter and len(args) == 1 and not options and not first.is_array:
        return GrownCounts.of(first)
    if of_numpy and name in ("array", "asarray") and len(args) + len(options) <= 2 and options.keys() <= {"dtype"}:
        return first.converted(*args[1:], *options.values(), copied=name == "array")
    if of_numpy and name == "histogram" and len(args) <= 2 and options.keys() <= {"bins", "range"}:
        return _histogram(first, *args[1:], **options)
    if of_numpy and name == "bincount" and len(args) == 1 and options.keys() == {"minlength"}:
        return _bins(first, options["minlength"])
    if not of_numpy:
        return NotImplemented
    args, left = by_place(name, args, options)
    return _of_table(function, name, [one.array() if type(one) is WholeList and not one.is_array else one for one in args], left)


_WITHOUT_NAN = {"nansum": "sum", "nanmean": "mean", "average": "mean"}
"""Functions of numpy that do what others do where all is a number, and nothing has a weight."""
_BY_ENTRY = frozenset({"clip", "where", "round", "around", "nan_to_num"})
"""Functions of numpy that are no ufuncs, and look at each entry by itself."""
_SAME = frozenset({"atleast_1d", "ravel", "squeeze", "transpose"})
"""Functions of numpy that give an array of one dimension back as it is."""


def _of_table(function: Any, name: str, args: Sequence[Any], options: dict[str, Any]) -> Any:
    """function(*args, **options) of numpy, where all lists among the arguments were made arrays."""
    table = next(one for one in args if type(one) is WholeList)
    name = "sum" if name == "reduce" and getattr(function, "__self__", None) is np.add else name
    if name in ("nansum", "nanmean", "average") and args[0] is table:
        has_nan = any(kind is not LEFT_OUT and kind != kind for kind in table.kinds)  # noqa: PLR0124 (NaN is not)
        name = name if has_nan else _WITHOUT_NAN[name]
    if name in ("sum", "mean", "count_nonzero"):
        return _reduced_table(table, name, args[1:], options) if args[0] is table else NotImplemented
    if options or name in STATISTICS:
        return statistic_of(table, name, args[1:], options) if name in STATISTICS and args[0] is table else NotImplemented
    if name in _SAME and len(args) == 1:
        return table
    if name in ("dot", "inner", "vdot", "matmul") and len(args) == 2:
        return args[0] @ args[1] if type(args[0]) is WholeList else NotImplemented
    if name in _BY_ENTRY or (isinstance(function, np.ufunc) and function.nin == len(args) and function.signature is None):
        return table.by_entry(function, args) if getattr(function, "nout", 1) == 1 else NotImplemented
    return _sums(table, name) if len(args) == 1 else NotImplemented


def _reduced_table(table: WholeList, name: str, args: Sequence[Any], options: dict[str, Any]) -> Any:
    """sum, mean and count_nonzero, with the options that say what they do without them."""
    left = dict(options)
    if left.get("keepdims") is True:
        return table.rows().reduced(name, args, left)
    axis, kind = (args[0] if len(args) == 1 else left.pop("axis", None)), left.pop("dtype", None)
    if left or len(args) > 1 or (axis is not None and axis_of(axis, 1) is None):
        return NotImplemented
    if kind is not None:
        made = number_type(kind)
        if made is not np.float64 or name == "count_nonzero":
            return NotImplemented
        table.check_type()
        table = table.mapped(np.float64)
    return table.mean() if name == "mean" else _sums(table, name)


def _sums(table: WholeList, name: str) -> Any:
    if name in ("sum", "count_nonzero"):
        if name == "sum":
            return table.total(table.kinds)
        return table.number_of(bool).retyped(np.count_nonzero(np.zeros(1)))
    return NotImplemented


@attrs.frozen(eq=False)
class WholeListMethod:
    """A method of a list or an array of the dataset, or of a counter of its entries."""

    listed: WholeList | GrownCounts
    name: str

    def __call__(self, *args: Any, **options: Any) -> Any:
        listed = self.listed
        if isinstance(listed, GrownCounts):
            return listed.get(*args) if self.name == "get" and not options else listed.refused()
        if self.name == "count" and not listed.is_array and len(args) == 1 and not options:
            return listed.count(*args)
        found = self._of_array(listed, args, options) if listed.is_array else NotImplemented
        return listed.refused(self.name) if found is NotImplemented else found

    def _of_array(  # noqa: PLR0911 (one line per method)
        self, table: WholeList, args: tuple[Any, ...], options: dict[str, Any]
    ) -> Any:
        given, left = by_place(self.name, (table, *args), options)
        if self.name in ("sum", "mean"):
            return _reduced_table(table, self.name, given[1:], left)
        if self.name in ("max", "min", "var"):
            return statistic_of(table, self.name, given[1:], left)
        if self.name == "reshape" and not left:
            return table.rows().reshaped(args)
        if self.name == "astype" and len(given) + len(left) == 2:
            kind = entry_type(left.get("dtype", given[-1]))
            if kind is None or left.keys() - {"dtype"}:
                return NotImplemented
            return attrs.evolve(table.by_entry(_cast(kind), [table]), is_loose=False)
        if left:
            return NotImplemented
        if self.name in ("ravel", "squeeze", "transpose") and len(given) == 1:
            return table
        if self.name in ("copy", "flatten") and len(given) == 1:
            return attrs.evolve(table)
        if self.name == "dot" and len(given) == 2:
            return table @ given[1]
        return table.by_entry(getattr(np, self.name), given) if self.name in ("clip", "round") else NotImplemented


def _cast(kind: Any) -> Callable[[Any], Any]:
    return lambda values: values.astype(kind)


@attrs.frozen(eq=False)
class WholeRowsMethod:
    """A method of an array of the dataset of more than one dimension."""

    rows: WholeRows
    name: str

    def __call__(self, *args: Any, **options: Any) -> Any:
        found: Any = NotImplemented
        if self.name == "reshape" and not options:
            return self.rows.reshaped(args)
        if self.name == "astype" and len(args) + len(options) == 1 and options.keys() <= {"dtype"}:
            kind = entry_type(options.get("dtype", args[0] if args else None))
            found = NotImplemented if kind is None else self.rows.converted(kind)
        elif self.name in ("copy", "transpose") and not args and not options:
            found = attrs.evolve(self.rows, base=None) if self.name == "copy" else self.rows.turned()
        elif self.name in ("clip", "round"):
            given, left = by_place(self.name, (self.rows, *args), options)
            found = NotImplemented if left else self.rows.by_part(getattr(np, self.name), given)
        elif self.name == "dot" and len(args) == 1 and not options:
            found = self.rows.multiplied(self.rows, args[0])
        else:
            found = self.rows.reduced(self.name, args, options)
        return self.rows.refused(self.name) if found is NotImplemented else found


def attribute_of(listed: WholeList | WholeRows | GrownCounts, name: str) -> Any:
    """An attribute of an array of the dataset, or a method of it."""
    found = _plain_attribute(listed, name)
    if found is not NotImplemented:
        return found
    return WholeRowsMethod(listed, name) if type(listed) is WholeRows else WholeListMethod(listed, name)  # type: ignore[arg-type]


def _plain_attribute(listed: WholeList | WholeRows | GrownCounts, name: str) -> Any:
    """An attribute of an array of the dataset that is no method; NotImplemented for others."""
    if type(listed) is WholeRows:
        plain: dict[str, Callable[[], Any]] = {"shape": lambda: listed.shape, "ndim": lambda: listed.ndim, "T": listed.turned}
        return plain[name]() if name in plain else NotImplemented
    if type(listed) is not WholeList or not listed.is_array:
        return NotImplemented
    known: dict[str, Callable[[], Any]] = {
        "size": listed.size, "shape": lambda: (listed.size(),), "ndim": lambda: 1, "T": lambda: listed,
    }  # fmt: skip
    return known[name]() if name in known else NotImplemented


@attrs.frozen(eq=False, repr=False)
class GrownCounts:
    """Counts of values: a counter, or a dict that was filled entry by entry. Its keys depend on the data.

    Args:
        path: the run.
        counts: the number of each value that may occur.
        missing: the value for other keys; None for a dict, of which only `get` with a 0 may be used.
    """

    path: RandomPath
    counts: dict[Any, Any]
    missing: int | float | None = 0

    @classmethod
    def of(cls, listed: WholeList) -> GrownCounts:
        """Counter(listed)."""
        return cls(listed.path, {kind: listed.count(kind) for kind in listed.kinds if kind is not LEFT_OUT})

    def __getitem__(self, key: Any) -> Any:
        if self.missing is None or type(key) is NoisyNumber:
            self._other()
        return self.counts.get(key, self.missing)

    def get(self, key: Any, default: Any = None) -> Any:
        """Its method of that name, where it says the same of a value that does not occur."""
        if type(default) is not int or default or type(self.missing) is float or type(key) is NoisyNumber:
            self._other()
        return self.counts.get(key, 0)

    def refused(self) -> NoReturn:
        """End the run at any other operation."""
        self._other()

    def _other(self, *_: Any) -> NoReturn:
        rule = "was asked for more than the numbers of given values, which depends on which of them occur"
        self.path.refuse(NotEnumerableError("a counter", rule, "start from all values, or have it sampled"))

    __iter__ = __contains__ = __len__ = __bool__ = __eq__ = __hash__ = __setitem__ = __delitem__ = __or__ = __add__ = _other
    __str__ = __repr__ = __format__ = __reduce_ex__ = __dir__ = __sub__ = __and__ = __reversed__ = _other


@attrs.frozen
class SymbolicDataset:
    """All datasets of a space at once.

    Args:
        kinds: of a list, what an entry may be; of counts, the cells.
        is_counts: whether the dataset is written as a list of its counts.
        handed: what the code gets for an entry of each kind, where that is something else, as a list or an array.
        bound: how many records a dataset may have, and for how many the code is exact.
        sizes: how many entries a dataset has at least and at most, where it is a list.
        by_places: whether a range over the places of entries is one of symbols, also where their number is fixed.
    """

    kinds: tuple[Any, ...]
    is_counts: bool
    handed: Any = None
    bound: RecordBound = attrs.field(factory=RecordBound)
    sizes: tuple[int, int | None] = (0, None)
    by_places: bool = False

    def at(self, path: RandomPath) -> Any:
        """What the code gets in a run."""
        path.bound, path.by_places = self.bound, self.by_places
        symbols = [NoiseDraw(-place - 1, COUNT, Fraction(0)) for place in range(len(self.kinds))]
        counts = tuple(NoisyNumber(path, Affine(Fraction(0), ((one, Fraction(1)),)), 1) for one in symbols)
        if self.is_counts:
            return list(counts)
        if self.handed is None:
            path.whole = WholeList(path, self.kinds, counts, sizes=self.sizes)
            return path.whole
        kinds = tuple(copy.deepcopy(one) for one in self.handed)
        if type(self.handed) is np.ndarray and self.handed.ndim > 1:
            parts = tuple(kind[np.newaxis] for kind in kinds)
            return WholeRows(WholeList(path, kinds, counts, sizes=self.sizes), parts, -self.handed.ndim)
        path.whole = WholeList(path, kinds, counts, type(self.handed) is np.ndarray, sizes=self.sizes)
        return path.whole
