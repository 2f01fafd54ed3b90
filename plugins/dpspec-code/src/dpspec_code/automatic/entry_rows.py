"""Arrays of more than one dimension with an axis of the entries of a dataset, such as a matrix with one row for each.

Of such an array A the part A_v that belongs to one entry of kind v is known: as A, with length 1 along the axis of the entries.
What numpy does with each part by itself it does with the whole, and sums along the axis of the entries are

    sum over the entries of A  =  sum over v of A_v N_v.

An operation is read where the parts decide its result: the axis of the entries of all arrays is the same one after broadcasting,
counted from the last, and other arrays have length 1 there. Anything else ends the run.

**Last digits.** numpy adds up fewer than 8 numbers one after the other, and more of them in an order that depends on how an array
lies in memory; exponentials and products of matrices are computed in several ways. What was made so is *rough*: the last digits
of a part may be others in another array. It may be scaled, bounded and summed, but neither compared, nor rounded, nor subtracted
from a number of its size.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import attrs
import numpy as np

from dpspec_code.automatic.noise import array_of
from dpspec_code.automatic.spellings import axis_of, entry_type, number_type

EntryList = Any
"""A list of the entries: `WholeList` of `dpspec_code.automatic.entry_arrays`, which makes arrays of rows."""
LEFT_OUT: Any = object()
"""In the place of a kind whose entries are left out."""
_SEQUENTIAL = 8
"""numpy adds up fewer numbers than this one after the other, however they lie in memory (`pairwise_sum` in its source)."""
_NUMBERS = "lqd?bhi"
"""Types of the numbers of an array, by their characters: integers of up to 64 bits with a sign, doubles and truth values."""
_MARK = 10_007
"""A length that no other axis has, by which the axis of the entries is found again."""


@attrs.frozen(eq=False, repr=False)
class WholeRows:  # noqa: PLW1641 (it has one, which refuses)
    """An array with an axis of the entries.

    Args:
        source: the list of the entries that it was made of.
        parts: of each kind an array with length 1 along the axis of the entries; LEFT_OUT for one that is left out.
        axis: the axis of the entries, counted from the last, which is -1.
        is_rough: whether last digits may be others.
        is_loose: whether an array without entries has another shape or type, as `np.array([])` has.
        base: the array of which this one is a view; None where it has numbers of its own.
    """

    source: EntryList
    parts: tuple[Any, ...]
    axis: int
    is_rough: bool = False
    is_loose: bool = False
    base: Any = None

    __array_ufunc__ = None

    # -- what it is made of -------------------------------------------------------------------------

    @classmethod
    def of(cls, listed: EntryList, dtype: Any = None) -> WholeRows:
        """np.array(listed, dtype), for a list whose entries are rows of numbers."""
        kind = None if dtype is None else entry_type(dtype) or listed.refuse("was made an array of another type")
        parts = tuple(one if one is LEFT_OUT else np.array([one], dtype=kind) for one in listed.kinds)
        known = [part for part in parts if part is not LEFT_OUT]
        if len({(part.dtype, part.shape) for part in known}) != 1 or known[0].dtype.char not in _NUMBERS or known[0].ndim < 2:
            listed.refuse("was made an array whose type or shape depends on which entries occur")
        return cls(listed, parts, -known[0].ndim, listed.is_rough, is_loose=listed.may_be_empty())

    @classmethod
    def of_column(cls, listed: EntryList) -> WholeRows:
        """An array of one dimension, as one with an axis of the entries."""
        listed.check_one_type()
        parts = tuple(one if one is LEFT_OUT else np.array([one]) for one in listed.kinds)
        if any(part is not LEFT_OUT and part.dtype.char not in _NUMBERS for part in parts):
            listed.refuse("is no array of numbers of 64 bits")
        is_loose = listed.is_loose and any(part is not LEFT_OUT and part.dtype.char != "d" for part in parts)
        return cls(listed, parts, -1, listed.is_rough, is_loose, base=listed)

    @property
    def path(self) -> Any:
        """The run."""
        return self.source.path

    @property
    def _known(self) -> list[Any]:
        found = [part for part in self.parts if part is not LEFT_OUT]
        return found or self._refuse("has no entry that may occur")

    @property
    def ndim(self) -> int:
        """How many dimensions it has."""
        return int(self._known[0].ndim)

    @property
    def entries_at(self) -> int:
        """The axis of the entries, counted from the first, which is 0."""
        return self.ndim + self.axis

    @property
    def lengths(self) -> list[int]:
        """Its lengths, 1 for that of the entries."""
        return list(self._known[0].shape)

    @property
    def shape(self) -> tuple[Any, ...]:
        """Its lengths, that of the entries a count."""
        self.check_shape()
        found: list[Any] = self.lengths
        found[self.entries_at] = self._column(self.parts).size()
        return tuple(found)

    def _column(self, parts: Sequence[Any]) -> EntryList:
        """A list of one number for each entry."""
        kinds = tuple(part if part is LEFT_OUT else np.ravel(part)[0] for part in parts)
        return attrs.evolve(
            self.source, kinds=kinds, is_array=True, alone=None, is_loose=False, is_rough=self.is_rough, base=self
        )

    def check_shape(self) -> None:
        """End the run where a dataset without entries would give an array of another shape."""
        if self.is_loose:
            self._refuse(
                "has another shape or type where it has no entries (write np.array(x, dtype=float).reshape(-1, columns))"
            )

    def _made(self, parts: Sequence[Any], axis: int, *, is_rough: bool, base: Any = None) -> Any:
        """What was made of it part by part; of one dimension, a list of the entries."""
        known = [part for part in parts if part is not LEFT_OUT]
        if any(part.dtype.char not in _NUMBERS for part in known):
            self._refuse("became an array of what are no numbers of 64 bits")
        if len({(part.dtype, part.shape) for part in known}) > 1 or known[0].shape[axis] != 1:
            self._refuse("became an array that is not made entry by entry")
        made = WholeRows(self.source, tuple(parts), axis, is_rough and known[0].dtype.char == "d", base=base)
        return made if made.ndim > 1 else attrs.evolve(made._column(made.parts), base=base)

    # -- computing ----------------------------------------------------------------------------------

    def by_part(self, function: Callable[..., Any], given: Sequence[Any], options: dict[str, Any] | None = None) -> Any:
        """function(*given) of numpy, which looks at each number by itself; arrays among what is given are broadcast."""
        columns = [self._operand(one) for one in given]
        rows = [one for one in columns if type(one) is WholeRows]
        axis = rows[0].axis
        for one in rows:
            one.check_shape()
            if one.axis != axis or not one.is_aligned(self):
                self._refuse("was used in a computation with other entries than its own, or along another axis")
        for one in columns:
            if type(one) is np.ndarray and one.ndim >= -axis and one.shape[axis] != 1:
                self._refuse("was used in a computation with numbers for each of its entries")
        is_rough = any(one.is_rough for one in rows)
        found: list[Any] = []
        for place, part in enumerate(self.parts):
            if part is LEFT_OUT:
                found.append(part)
                continue
            row = [one.parts[place] if type(one) is WholeRows else one for one in columns]
            made = function(*row, **(options or {}))
            if is_rough and not keeps_digits(function, row, made):
                self._refuse("was compared, rounded or subtracted, where its last digits may be others")
            found.append(made)
        return self._made(found, axis, is_rough=is_rough or not is_settled(function, columns))

    def _operand(self, one: Any) -> Any:
        """An operand as numpy knows it, or as such an array."""
        if type(one) is WholeRows:
            return one
        if type(one) is type(self.source):
            return one.rows()
        if type(one) in (list, tuple):
            one = np.array(one)
        if type(one) is np.ndarray and one.dtype.char in _NUMBERS:
            return one
        if type(one) in (int, float, bool, np.int64, np.float64, np.bool_, type(None)):
            return one
        return self._refuse("was used in a computation with what is neither a number nor made of its entries")

    def is_aligned(self, other: WholeRows) -> bool:
        """Whether both are made of the same entries of the dataset, in one order."""
        pairs = zip(self.parts, other.parts, strict=True)
        return self.source.counts is other.source.counts and all((one is LEFT_OUT) == (two is LEFT_OUT) for one, two in pairs)

    def reduced(self, name: str, given: Sequence[Any], options: dict[str, Any]) -> Any:
        """sum, mean, max, linalg.norm and others, of all numbers or along axes."""
        if name not in _REDUCED:
            return NotImplemented
        self.check_shape()
        left, places = dict(options), ("ord", "axis") if name == "norm" else ("axis",)
        left.update(zip(places, given, strict=False))
        axis, keeps, kind, order = (left.pop(key, None) for key in ("axis", "keepdims", "dtype", "ord"))
        axes = self._axes(axis)
        if left or len(given) > len(places) or keeps not in (None, False, True) or axes is None:
            return NotImplemented
        if (order is not None and name != "norm") or (name == "norm" and len(axes) != 1):
            return NotImplemented
        if kind is not None and (number_type(kind) is not np.float64 or name not in ("sum", "mean")):
            return NotImplemented
        if self.entries_at in axes:
            return self._over_entries(name, axes, keeps=bool(keeps), as_doubles=kind is not None)
        return self._inside(name, axes, keeps=bool(keeps), as_doubles=kind is not None, order=order)

    def _axes(self, axis: Any) -> tuple[int, ...] | None:
        """Axes counted from the first; None where they are none."""
        if axis is None:
            return tuple(range(self.ndim))
        listed = axis if type(axis) is tuple else (axis,)
        found = [place for place in (axis_of(one, self.ndim) for one in listed) if place is not None]
        return tuple(found) if found and len(set(found)) == len(listed) else None

    def _inside(self, name: str, axes: tuple[int, ...], *, keeps: bool, as_doubles: bool, order: Any) -> Any:
        """What each entry has along other axes than that of the entries."""
        options: dict[str, Any] = {"axis": axes[0] if len(axes) == 1 else axes}
        options |= {"dtype": np.float64} if as_doubles else {}
        options |= {"ord": order} if name == "norm" else {}
        parts = [one if one is LEFT_OUT else np.asarray(_REDUCED[name](one, **options)) for one in self.parts]
        if self.is_rough and (name not in _BOUNDED or any(bool((one < 0).any()) for one in self._known)):
            self._refuse(f"was asked for {name}, where its last digits may be others")
        length = int(np.prod([self.lengths[place] for place in axes]))
        sums_up = self._known[0].dtype.char == "d" and name not in _EXACT_OF_MANY and length >= _SEQUENTIAL
        after = [place for place in range(self.entries_at, self.ndim) if keeps or place not in axes]
        shaped = [one if one is LEFT_OUT or not keeps else np.expand_dims(one, axes) for one in parts]
        return self._made(shaped, -len(after), is_rough=self.is_rough or sums_up)

    def _over_entries(self, name: str, axes: tuple[int, ...], *, keeps: bool, as_doubles: bool) -> Any:
        """A sum, a mean or a number over all entries."""
        if name not in ("sum", "mean", "average", "count_nonzero"):
            return NotImplemented
        kind = np.float64 if name in ("mean", "average") or as_doubles else None
        counted = [one if one is LEFT_OUT or name != "count_nonzero" else one != 0 for one in self.parts]
        if name == "count_nonzero" and self.is_rough:
            self._refuse("was counted, where its last digits may be others")
        total = self.totals([one if one is LEFT_OUT else np.sum(one, axis=axes, dtype=kind) for one in counted])
        if name in ("mean", "average"):
            number = self._column(self.parts).size()
            if type(number) is not int or not number:
                self._refuse("was divided by how many entries it has")
            total = total / np.int64(number * int(np.prod([self.lengths[place] for place in axes])))
        if not keeps:
            return total
        boxed = total if type(total) is np.ndarray else array_of([total], ())
        return np.expand_dims(boxed, axes).copy()

    def totals(self, parts: Sequence[Any]) -> Any:
        """sum over v of parts[v] N_v: an array, or a number where the parts are numbers."""
        first = next(part for part in parts if part is not LEFT_OUT)
        flat = [part if part is LEFT_OUT else np.ravel(part) for part in parts]
        found = []
        for place in range(np.size(first)):
            column = self._column([part if part is LEFT_OUT else part[place] for part in flat])
            found.append(column.total(column.kinds))
        return array_of(found, np.shape(first)) if np.ndim(first) else found[0]

    def contracted(self, subscripts: str, given: Sequence[Any]) -> Any:
        """np.einsum, where one letter is that of the entries in all arrays made of them."""
        if type(subscripts) is not str or not _is_contraction(subscripts, len(given)):
            return NotImplemented
        sides, _, shown = subscripts.replace(" ", "").partition("->")
        operands = [self._operand(one) for one in given]
        letters = [side[one.axis] for side, one in zip(sides.split(","), operands, strict=True) if _fits(side, one)]
        rows = [one for one in operands if type(one) is WholeRows]
        if len(letters) < len(rows) or len(set(letters)) > 1 or not all(one.is_aligned(self) for one in rows):
            return NotImplemented
        letter = letters[0]
        for one in rows:
            one.check_shape()
            if one.is_rough and any(bool((part < 0).any()) for part in one._known):
                self._refuse("was multiplied and summed, where its last digits may be others")
        sides_of = list(zip(sides.split(","), operands, strict=True))
        if any(side.count(letter) != 1 for side, one in sides_of if type(one) is WholeRows):
            return NotImplemented
        plain = [
            self._constant(one, side.index(letter)) if type(one) is np.ndarray and letter in side else one
            for side, one in sides_of
        ]
        parts = [
            part if part is LEFT_OUT
            else np.asarray(np.einsum(subscripts, *(one.parts[place] if type(one) is WholeRows else one for one in plain)))
            for place, part in enumerate(self.parts)
        ]  # fmt: skip
        if any(part is not LEFT_OUT and part.dtype.char not in "lqd" for part in parts):
            self._refuse("was multiplied as an array of truth values or of narrow integers, of which the product is another one")
        is_rough = any(one.is_rough for one in rows) or bool(set(sides) - set(shown) - {letter, ","})
        if letter in shown:
            return self._made(parts, shown.index(letter) - len(shown), is_rough=is_rough)
        made = attrs.evolve(self, is_rough=is_rough)
        return made.totals([part if part is LEFT_OUT else part[()] for part in parts])

    def _constant(self, plain: Any, axis: int) -> Any:
        """An array with a number for each entry, where all are the same: with length 1 along that axis."""
        number = self._column(self.parts).size()
        first = plain.take([0], axis=axis) if plain.shape[axis] else plain
        if type(number) is not int or plain.shape[axis] != number or not (plain == first).all():
            self._refuse("was multiplied with numbers for each of its entries")
        return first

    # -- shapes ---------------------------------------------------------------------------------------

    def reshaped(self, given: Sequence[Any]) -> Any:
        """reshape, where each entry keeps its numbers together."""
        shape = list(given[0] if len(given) == 1 and type(given[0]) in (tuple, list) else given)
        inside = [one for one in shape if not self._is_length(one)]
        if self.is_loose and (
            self._known[0].dtype.char != "d" or not shape or not self._is_length(shape[0]) or len(inside) != len(shape) - 1
        ):
            self.check_shape()
        if self.entries_at and (self.ndim, self.lengths[0]) != (2, 1):
            self._refuse("was brought into another shape, along another axis than the first")
        if len(inside) != len(shape) - 1 or any(type(one) is not int or one < 1 for one in inside):
            self._refuse("was brought into a shape that is not given in numbers")
        place = next(place for place, one in enumerate(shape) if self._is_length(one))
        if any(one != 1 for one in shape[:place]):
            self._refuse("was brought into a shape in which the entries do not come first")
        lengths = [1 if axis == place else one for axis, one in enumerate(shape)]
        if int(np.prod(lengths)) != self._known[0].size:
            self._refuse("was brought into a shape in which an entry does not keep its numbers together")
        parts = [one if one is LEFT_OUT else one.reshape(lengths) for one in self.parts]
        return self._made(parts, place - len(shape), is_rough=self.is_rough, base=self)

    def _is_length(self, given: Any) -> bool:
        """Whether it says how many entries there are."""
        return (type(given) is int and given == -1) or self._column(self.parts).is_size(given)

    def is_of(self, kind: Any) -> bool:
        """Whether its numbers are of a type."""
        return bool(self._known[0].dtype == kind)

    def converted(self, kind: Any) -> Any:
        """Its numbers as those of a type, in an array of its own."""
        made = [one if one is LEFT_OUT else one.astype(kind) for one in self.parts]
        if self._known[0].dtype.char == "d" and kind is not np.float64 and self.is_rough:
            self._refuse("was rounded, where its last digits may be others")
        loose = self.is_loose and (kind is not np.float64 or self.ndim > 1)
        return attrs.evolve(self, parts=tuple(made), is_loose=loose, base=None)

    def listed(self) -> EntryList:
        """It as what is walked through: one line for each entry."""
        if self.entries_at:
            self._refuse("was walked through along another axis than that of the entries")
        self.check_shape()
        if self.is_rough:
            self._refuse("was used entry by entry, where its last digits may be others")
        kinds = tuple(one if one is LEFT_OUT else one[0] for one in self.parts)
        return attrs.evolve(self.source, kinds=kinds, is_array=False, alone=None, is_loose=False, base=self)

    def shaped(self, name: str, given: Sequence[Any]) -> Any:
        """transpose, atleast_2d, reshape or expand_dims."""
        if name == "reshape":
            return self.reshaped(given)
        if name == "expand_dims":
            place = axis_of(given[0], self.ndim + 1) if len(given) == 1 else None
            return NotImplemented if place is None else self[(*[slice(None)] * place, None)]
        if given:
            return NotImplemented
        if name == "transpose":
            return self.turned()
        return self if self.ndim > 1 else self[None, :]

    def turned(self) -> Any:
        """Its transpose."""
        self.check_shape()
        parts = [one if one is LEFT_OUT else one.T for one in self.parts]
        return self._made(parts, -1 - self.entries_at, is_rough=self.is_rough, base=self)

    def __getitem__(self, place: Any) -> Any:
        self.check_shape()
        listed = list(place) if type(place) is tuple else [place]
        if sum(one is ... for one in listed) == 1:
            at = next(axis for axis, one in enumerate(listed) if one is ...)
            addressed = sum(one is not None and one is not ... for one in listed)
            listed[at : at + 1] = [slice(None)] * (self.ndim - addressed)
        axis, masks, several = 0, [], 0
        for at, one in enumerate(listed):
            if one is None:
                continue
            if axis == self.entries_at and type(one) in (WholeRows, type(self.source)):
                masks.append(one)
                listed[at] = slice(None)
            elif axis == self.entries_at and not (type(one) is slice and one == slice(None)):
                self._refuse("was asked for some of its entries by their places")
            elif type(one) not in (int, slice) and not (type(one) in (list, np.ndarray) and np.ndim(one) == 1):
                self._refuse("was asked for numbers at places that are not given in numbers")
            several += type(one) in (list, np.ndarray)
            axis += 1
        if several and (several > 1 or any(type(one) is int for one in listed)):
            self._refuse("was asked for numbers at several lists of places")
        marked = self.lengths
        marked[self.entries_at] = _MARK
        shape = np.broadcast_to(np.int8(0), marked)[tuple(listed)].shape
        parts = [one if one is LEFT_OUT else one[tuple(listed)] for one in self.parts]
        base = None if several or masks else self
        found = self._made(parts, shape.index(_MARK) - len(shape), is_rough=self.is_rough, base=base)
        return self._kept(found, masks[0]) if masks else found

    def _kept(self, found: Any, mask: Any) -> Any:
        """The entries for which a mask holds."""
        if type(mask) is WholeRows or type(found) is not WholeRows:
            return found[mask] if type(mask) is not WholeRows else self._refuse("was asked for numbers by a mask of several axes")
        kept = self._column(self.parts).selected(mask)
        return attrs.evolve(
            found, parts=tuple(LEFT_OUT if kind is LEFT_OUT else part for kind, part in zip(kept.kinds, found.parts, strict=True))
        )

    # -- operators ------------------------------------------------------------------------------------

    def _operated(self, function: Callable[..., Any], left: Any, right: Any) -> Any:
        return self.by_part(function, [left, right])

    def __eq__(self, other: object) -> Any:
        return self._operated(operator.eq, self, other)

    def __ne__(self, other: object) -> Any:
        return self._operated(operator.ne, self, other)

    def __lt__(self, other: Any) -> Any:
        return self._operated(operator.lt, self, other)

    def __le__(self, other: Any) -> Any:
        return self._operated(operator.le, self, other)

    def __gt__(self, other: Any) -> Any:
        return self._operated(operator.gt, self, other)

    def __ge__(self, other: Any) -> Any:
        return self._operated(operator.ge, self, other)

    def __add__(self, other: Any) -> Any:
        return self._operated(operator.add, self, other)

    def __radd__(self, other: Any) -> Any:
        return self._operated(operator.add, other, self)

    def __sub__(self, other: Any) -> Any:
        return self._operated(operator.sub, self, other)

    def __rsub__(self, other: Any) -> Any:
        return self._operated(operator.sub, other, self)

    def __mul__(self, other: Any) -> Any:
        return self._operated(operator.mul, self, other)

    def __rmul__(self, other: Any) -> Any:
        return self._operated(operator.mul, other, self)

    def __truediv__(self, other: Any) -> Any:
        return self._operated(operator.truediv, self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return self._operated(operator.truediv, other, self)

    def __pow__(self, other: Any) -> Any:
        return self._operated(operator.pow, self, other)

    def __and__(self, other: Any) -> Any:
        return self._operated(operator.and_, self, other)

    def __or__(self, other: Any) -> Any:
        return self._operated(operator.or_, self, other)

    def __neg__(self) -> Any:
        return self.by_part(operator.neg, [self])

    def __abs__(self) -> Any:
        return self.by_part(np.absolute, [self])

    def __invert__(self) -> Any:
        return self.by_part(operator.invert, [self])

    def __matmul__(self, other: Any) -> Any:
        return self.multiplied(self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return self.multiplied(other, self)

    def multiplied(self, left: Any, right: Any) -> Any:
        """left @ right, in at most two dimensions."""
        one, two = self._operand(left), self._operand(right)
        subscripts = _MATMUL.get(
            (np.ndim(one) if type(one) is np.ndarray else one.ndim, np.ndim(two) if type(two) is np.ndarray else two.ndim)
        )
        found = NotImplemented if subscripts is None else self.contracted(subscripts, [left, right])
        return self._refuse("was multiplied in a way that is not read") if found is NotImplemented else found

    def changed(self, function: Callable[[Any, Any], Any], other: Any) -> WholeRows:
        """The array after function(it, other) was put in its place; no other name knows it. Its type and shape stay."""
        made = self.by_part(function, [self, other])
        if type(made) is not WholeRows or made._known[0].dtype != self._known[0].dtype or made.lengths != self.lengths:
            self._refuse("was changed in place into another type or shape")
        return attrs.evolve(made, base=self.base)

    def replaced(self, made: Any) -> WholeRows:
        """The array with the numbers of another one of its type and shape, which no other name knows."""
        if type(made) is not WholeRows or not made.is_aligned(self) or made.axis != self.axis:
            self._refuse("was changed in place into another shape")
        if made._known[0].dtype != self._known[0].dtype or made.lengths != self.lengths:
            self._refuse("was changed in place into another type or shape")
        return attrs.evolve(made, base=self.base)

    def assigned(self, place: Any, value: Any) -> WholeRows:
        """The array after it[place] = value, which no other name knows: as numpy converts the value."""
        self.check_shape()
        target = self[place] if type(place) is not WholeRows else self
        given = self._operand(value)
        if type(given) is WholeRows and (not given.is_aligned(_rows_of(target)) or given.axis != _rows_of(target).axis):
            self._refuse("was changed in place by other entries than its own")
        if type(given) is np.ndarray and given.ndim >= -_rows_of(target).axis and given.shape[_rows_of(target).axis] != 1:
            self._refuse("was changed in place by numbers for each of its entries")
        if type(place) is WholeRows and (type(given) in (WholeRows, np.ndarray) or place.lengths != self.lengths):
            self._refuse("was changed in place, by a mask, into more than one number")
        index = place if type(place) is tuple else (place,)
        masks = [one for one in index if type(one) in (WholeRows, type(self.source))]
        plain = tuple(slice(None) if one in masks else one for one in index) if not masks or type(place) is not WholeRows else ()
        kept = _rows_of(target).parts
        parts = []
        for at, part in enumerate(self.parts):
            if part is LEFT_OUT or kept[at] is LEFT_OUT:
                parts.append(part)
                continue
            made = part.copy()
            made[place.parts[at] if type(place) is WholeRows else plain] = given.parts[at] if type(given) is WholeRows else given
            parts.append(made)
        is_rough = self.is_rough or (type(given) is WholeRows and given.is_rough)
        return attrs.evolve(self, parts=tuple(parts), is_rough=is_rough)

    def _other(self, *_: Any) -> NoReturn:
        self._refuse("was asked for more than sums of its entries")

    __contains__ = __hash__ = __len__ = __iter__ = __reversed__ = __bool__ = __mod__ = __floordiv__ = _other
    __str__ = __repr__ = __format__ = __reduce_ex__ = __dir__ = __array__ = _other

    def refused(self, name: str) -> NoReturn:
        """End the run at the access of an attribute."""
        self._refuse(f"was asked for {name}")

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        self.refused(name)

    def _refuse(self, what: str) -> NoReturn:
        end: Callable[[str], NoReturn] = self.source.refuse
        end(what)


def _rows_of(made: Any) -> WholeRows:
    """An array with an axis of the entries, of one dimension or more."""
    found: WholeRows = made if type(made) is WholeRows else made.rows()
    return found


# --- what numpy does number by number ---------------------------------------------------------------


def _identities(*names: str) -> frozenset[int]:
    """Functions of numpy, and operators of Python, by their names."""
    found = [getattr(module, name) for module in (np, operator) for name in names if hasattr(module, name)]
    return frozenset(map(id, found))


_SCALING = _identities(
    "multiply", "mul", "divide", "truediv", "sqrt", "square", "maximum", "minimum", "clip", "absolute", "negative", "neg",
    "positive", "where", "reciprocal", "fmax", "fmin",
)  # fmt: skip
"""Of numbers whose last digits may be others, these have results of which no more digits are."""
_ADDING = _identities("add", "subtract", "sub")
_SETTLED = _SCALING | _ADDING | _identities(
    "equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "eq", "ne", "lt", "le", "gt", "ge", "floor", "ceil",
    "rint", "trunc", "sign", "floor_divide", "logical_and", "logical_or", "logical_not", "logical_xor", "bitwise_and",
    "bitwise_or", "invert", "and_", "or_", "isnan", "isfinite", "isinf", "nan_to_num",
)  # fmt: skip
"""What is correctly rounded, or exact (IEEE 754), in an array of whatever length."""
_POWERS = _identities("power", "pow")


def keeps_digits(function: Any, given: Sequence[Any], made: Any) -> bool:
    """Whether a result has all digits that what was given has, but for the last ones: nothing is cancelled, or jumps."""
    if id(function) in _SCALING:
        return True
    if id(function) not in _ADDING:
        return False
    sizes = [np.abs(np.asarray(one, dtype=float)) for one in given]
    return bool((2 * np.abs(made) >= np.maximum(*sizes)).all())


def is_settled(function: Any, given: Sequence[Any]) -> bool:
    """Whether the last digits of a result are the same in every array."""
    if id(function) in _POWERS:
        return type(given[1]) in (int, float) and given[1] in (0, 1, 2)
    return id(function) in _SETTLED


_REDUCED: dict[str, Callable[..., Any]] = {
    name: getattr(np, name)
    for name in (
        "sum",
        "mean",
        "average",
        "max",
        "min",
        "amax",
        "amin",
        "all",
        "any",
        "count_nonzero",
        "argmax",
        "argmin",
        "prod",
    )
} | {"norm": np.linalg.norm}
"""Functions that make one number of several."""
_BOUNDED = ("sum", "mean", "average", "max", "min", "amax", "amin", "norm")
"""Those that keep all digits but the last ones of numbers that are not negative."""
_EXACT_OF_MANY = ("max", "min", "amax", "amin", "all", "any", "count_nonzero", "argmax", "argmin")
_MATMUL = {(1, 2): "i,ij->j", (2, 1): "ij,j->i", (2, 2): "ij,jk->ik", (1, 1): "i,i->"}


def _is_contraction(subscripts: str, number: int) -> bool:
    """Whether it says the letters of every array, and of the result."""
    sides, arrow, shown = subscripts.replace(" ", "").partition("->")
    letters = set(sides) - {","}
    listed = sides.split(",")
    plain = arrow and all(one.isalpha() and one.isascii() for one in letters) and set(shown) <= letters
    return (
        bool(plain)
        and len(listed) == number
        and len(set(shown)) == len(shown)
        and all(len(set(one)) == len(one) for one in listed)
    )


def _fits(side: str, one: Any) -> bool:
    """Whether it is an array of the entries with as many axes as letters."""
    return type(one) is WholeRows and one.ndim == len(side)


def of_rows(name: str, function: Any, args: Sequence[Any], options: dict[str, Any]) -> Any:  # noqa: PLR0911 (one line per function)
    """function(*args, **options) of numpy where some argument is such an array; NotImplemented where it is not read."""
    rows = next(one for one in args if type(one) is WholeRows)
    first = args[0]
    if name in ("array", "asarray") and first is rows and options.keys() | set(args[1:]) and len(args) + len(options) == 2:
        kind = entry_type(options.get("dtype", args[-1]))
        is_same = kind is not None and rows.is_of(kind)
        return (
            rows.converted(kind)
            if kind is not None and not (is_same and name == "asarray")
            else rows
            if is_same
            else NotImplemented
        )
    if name in _REDUCED and first is rows:
        return rows.reduced(name, args[1:], options)
    if name == "einsum" and not options:
        return rows.contracted(first, args[1:])
    if options:
        return NotImplemented
    if name in ("dot", "matmul") and len(args) == 2:
        return rows.multiplied(*args)
    if name in ("array", "asarray", "copy") and len(args) == 1 and first is rows:
        return rows if name == "asarray" else attrs.evolve(rows, base=None)
    if name in ("transpose", "atleast_2d", "atleast_1d", "reshape", "expand_dims") and first is rows:
        return rows.shaped(name, args[1:])
    if name in ("clip", "where", "nan_to_num") or (isinstance(function, np.ufunc) and function.nin == len(args)):
        is_one = getattr(function, "nout", 1) == 1 and getattr(function, "signature", None) is None
        return rows.by_part(function, args) if is_one else NotImplemented
    return NotImplemented
