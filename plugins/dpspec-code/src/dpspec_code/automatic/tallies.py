"""Loops that add up the entries of a dataset of which only the kinds are known, and arrays that are filled with drawn numbers.

    for v in x:                      is        total = start + sum over kinds v of f(v) N_v
        total += f(v)

where N_v is how many entries are of kind v. The body is run twice for each kind. The first time, `+=` adds f(v) N_v, a symbol.
The second time it adds nothing and compares: every `+=` has to be called with the same numbers again, although all earlier sums
are symbols now.

**Theorem.** If no statement of the body changes anything but by such `+=` (and variables that are set anew for each entry and not
read after it), and both rounds go through without a question about a symbol, then the loop does for every dataset, in whichever
order its entries come, what it does here.

*Proof.* By induction over the entries. Let the variables that are added to have the values of the induction before an entry of
kind v. What the body computes from them on its way is a function of them. Were it not constant, it would hold a symbol in the
second round, where all of them are symbols but those that nothing is ever added to, or whose additions cancel; or in the first
round, where N_v is a symbol that none of the earlier kinds has and that occurs in all that was changed within this body. A symbol
is neither compared nor added nor used as a key without ending the run. So the body adds f(v), as it did here.

`break`, `return`, and all that leaves a loop early is refused by how the loop is written; errors are refused when they happen.
"""

from __future__ import annotations

import ast
import collections
import functools
import operator
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any, NoReturn, Protocol

import attrs
import numpy as np

from dpspec.plugin.judges import NotEnumerableError, UnobservableError, observed
from dpspec_code.automatic.arrays import holds_drawn
from dpspec_code.automatic.entry_arrays import GrownCounts, WholeList
from dpspec_code.automatic.entry_places import Places
from dpspec_code.automatic.entry_rows import LEFT_OUT, WholeRows
from dpspec_code.automatic.formulas import CONTINUOUS, Affine, reading
from dpspec_code.automatic.noise import (
    LARGEST,
    FloatOrZero,
    NoisyNumber,
    array_of,
    difference_of,
    drawn_number,
    rounding,
    span_of,
)
from dpspec_code.automatic.path import RandomPath
from dpspec_code.automatic.widths import UNIT

# --- which loops ------------------------------------------------------------------------------------


_LEAVES = (
    ast.While, ast.Try, ast.TryStar, ast.With, ast.Return, ast.Raise, ast.Assert, ast.Yield, ast.YieldFrom, ast.Await, ast.Delete,
    ast.Global, ast.Nonlocal, ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Match,
    ast.AsyncFor, ast.AsyncWith,
)  # fmt: skip


def tallied_names(loop: ast.For, live: frozenset[str]) -> frozenset[str] | None:
    """The variables that a loop adds to; None where it does something else that is seen of it later.

    Args:
        loop: the loop, as it is written.
        live: the variables whose values count when a round starts, or when the loop is over.

    >>> def names(text, live):
    ...     found = tallied_names(ast.parse(text).body[0], frozenset(live))
    ...     return None if found is None else sorted(found)
    >>> names("for v in x:\\n w = v * v\\n t += w", {"t"})
    ['t']
    >>> names("for v in x:\\n w = v\\n t += w", {"t", "w"}) is None
    True
    """
    if loop.orelse or _breaks(loop.body) or any(isinstance(node, _LEAVES) for node in ast.walk(loop)):
        return None
    stored = [node.id for node in ast.walk(loop) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    steps = [step[0] for node in ast.walk(loop) if (step := added_to(node)) is not None]
    alone = {name for name in live.intersection(steps) if stored.count(name) == steps.count(name)}
    return None if (set(stored) - alone) & live else frozenset(alone)


def added_to(node: ast.AST) -> tuple[str, ast.expr, str] | None:
    """The variable of `a += e`, `a -= e`, `a = a + e` or `a = a - e`, with e and its sign; None for anything else."""
    match node:
        case ast.AugAssign(target=ast.Name(id=name), op=op, value=value):
            return (name, value, sign_of(op)) if sign_of(op) else None
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.BinOp(left=ast.Name(id=same), op=op, right=value)):
            return (name, value, sign_of(op)) if same == name and sign_of(op) else None
    return None


def counted_up(node: ast.Assign) -> tuple[str, ast.expr, ast.Call, ast.expr, str] | None:
    """Of `d[k] = d.get(k, 0) + e`: d, k, d.get(k, 0), e and the sign; None for anything else."""
    match node:
        case ast.Assign(
            targets=[ast.Subscript(value=ast.Name(id=name), slice=place)],
            value=ast.BinOp(
                left=ast.Call(
                    func=ast.Attribute(value=ast.Name(id=same), attr="get"), args=[asked, ast.Constant(value=0)], keywords=[]
                ) as before, op=op, right=by,
            ),
        ) if name == same and sign_of(op) and _is_one_place(place, asked, by):  # fmt: skip
            return name, place, before, by, sign_of(op)
    return None


def stepped_entry(node: ast.Assign) -> tuple[str, ast.expr, ast.expr, str] | None:
    """Of `h[k] = h[k] + e`: h, k, e and the sign; None for anything else."""
    match node:
        case ast.Assign(
            targets=[ast.Subscript(value=ast.Name(id=name), slice=place)],
            value=ast.BinOp(left=ast.Subscript(value=ast.Name(id=same), slice=asked), op=op, right=by),
        ) if name == same and sign_of(op) and _is_one_place(place, asked, by):  # fmt: skip
            return name, place, by, sign_of(op)
    return None


def _is_one_place(place: ast.expr, asked: ast.expr, by: ast.expr) -> bool:
    """Whether two places are written alike and are one: nothing is called there or between them that may change what is named."""
    calling = (ast.Call, ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)
    calls = any(isinstance(one, calling) for written in (place, by) for one in ast.walk(written))
    return not calls and ast.dump(place) == ast.dump(asked)


def sign_of(operator_of: ast.operator) -> str:
    """How an operator that adds is written, + or -; nothing for any other."""
    return SIGNS[type(operator_of)] if isinstance(operator_of, (ast.Add, ast.Sub)) else ""


def _breaks(body: Sequence[ast.stmt]) -> bool:
    """Whether a `break` among these statements leaves the loop that they are the body of."""
    for statement in body:
        if isinstance(statement, ast.Break):
            return True
        if isinstance(statement, ast.If) and (_breaks(statement.body) or _breaks(statement.orelse)):
            return True
        if isinstance(statement, ast.For) and _breaks(statement.orelse):
            return True
    return False


# --- a loop while it runs ---------------------------------------------------------------------------


@attrs.define(eq=False)
class EntryTally:
    """One walk of a loop through all entries at once.

    Args:
        listed: the list.
        number: which loop it is.
        frame: the call that it is in.
        shown: what it walks through, where these are places.
    """

    listed: WholeList
    number: int
    frame: types.FrameType | None
    shown: Places | None = None
    _place: int = 0
    _compares: bool = False
    _asked: dict[int, list[Any]] = attrs.field(factory=dict)
    _left: list[Any] = attrs.field(factory=list)

    @property
    def path(self) -> RandomPath:
        """The run."""
        return self.listed.path

    def __iter__(self) -> Iterator[Any]:
        path = self.path
        if path.counting:
            self.refuse("walks through the dataset twice at once")
        self.listed.check_type()
        path.counting, path.tally = True, self
        known = [(place, kind) for place, kind in enumerate(self.listed.kinds) if kind is not LEFT_OUT]
        for compares in (False, True):
            self._compares = compares
            for place, kind in known:
                self._place, self._left = place, self._asked.setdefault(place, [])[::-1]
                yield kind if self.shown is None else self.shown.shown(place, kind)
                if path.coin is not None:
                    self.refuse("samples entries in a loop")
                if self._compares and self._left:
                    self.refuse(_TOLD)
        path.counting, path.tally, self.frame = False, None, None

    def is_of(self, numbers: Sequence[int], frame: types.FrameType) -> bool:
        """Whether a step belongs to this loop."""
        return self.number in numbers and frame is self.frame

    def grown(self, value: Any, by: Any, place: str, sign: int) -> Any:
        """What a variable is after a step: value + sign by N_v, or in the second round what it is."""
        if type(by) not in (int, bool, float, np.int64, np.float64):
            self.refuse(_TOLD if type(by) is NoisyNumber else f"adds up a {type(by).__name__}")
        factor = reading(by)
        if factor is None or (factor and not 1 / LARGEST <= abs(factor) <= LARGEST):
            self.refuse("adds up numbers so large or small that sums of doubles fail")
        step = (place, type(by), factor, sign)
        if self._compares:
            if not self._left or self._left.pop() != step:
                self.refuse(_TOLD)
            return value
        self._asked[self._place].append(step)
        sample = self._type_of(value, by)
        if not factor and type(value) is not NoisyNumber:
            return value
        before = value.expression if type(value) is NoisyNumber else Affine(self._read(value))
        if not isinstance(before, Affine):
            self.refuse("adds to a function of what was drawn")
        count = self.listed.counts[self._place].expression
        made = before.plus(count, sign * factor)  # type: ignore[arg-type]  # a count is affine
        error = self._lost(value, before, by, made) if isinstance(sample, float) else Fraction(0)
        if made.terms:
            return drawn_number(self.path, made, sample, error)
        if isinstance(sample, float):
            self.refuse("takes away again what it added")
        return type(sample)(made.constant)

    def grown_array(self, array: Any, by: Any, sign: int, *, in_place: bool) -> Any:
        """The same of an array, number by number; the one that grows is opened, and no other name knows it."""
        if array is None or type(by) is not np.ndarray or by.shape != array.shape or by.dtype.char not in "ld":
            self.refuse("adds to an array what is no array of numbers of its shape, or to one that has another name")
        known = {type(one.sample if type(one) is NoisyNumber else one) for one in array.flat}
        if known not in ({np.float64}, {np.int64}) or (known == {np.int64} and by.dtype.char != "l"):
            self.refuse("adds to an array numbers of another type")
        parts = [
            self.grown(one, add, repr(place), sign) for place, (one, add) in enumerate(zip(array.flat, by.flat, strict=True))
        ]
        found = array if in_place else np.empty(array.shape, dtype=object)
        for place, part in zip(np.ndindex(array.shape), parts, strict=True):
            found[place] = part
        return found

    def appended(self, value: Any, by: Any, *, alone: bool) -> WholeList:
        """A list of one value for each entry, or for some: the values of every kind."""
        try:
            step = ("append", type(by), observed(by))
        except UnobservableError:
            self.refuse(f"appends a {type(by).__name__}")
        if self._compares:
            if not self._left or self._left.pop() != step:
                self.refuse(_TOLD)
            return value  # type: ignore[no-any-return]  # the list that grew in the first round
        if not alone or holds_drawn(by) or (type(value) is list and value):
            self.refuse("appends to a list that has another name or other entries")
        self._asked[self._place].append(step)
        if type(value) is list:
            left_out = (LEFT_OUT,) * len(self.listed.kinds)
            value = attrs.evolve(self.listed, kinds=left_out, is_array=False, alone=None, is_loose=False, growing=self)
        return value.grown(self, self._place, by)  # type: ignore[no-any-return]  # it is one

    @property
    def is_over(self) -> bool:
        """Whether the loop has ended."""
        return self.frame is None

    def _lost(self, value: Any, before: Affine, by: Any, made: Affine) -> Fraction:
        """How far a double may be from a sum, by what was rounded on the way."""
        if type(value) is NoisyNumber:
            error = value.error if isinstance(value.sample, float) else rounding(before, self.path.bound)
        else:
            error = Fraction(0)
        inexact = isinstance(by, float) and Fraction(float(by)) != reading(by)
        size = span_of(made, alone=self.path.bound.alone, drawn=False).largest(self.path.bound.seen)
        return error + rounding(made, self.path.bound) + (size * UNIT if inexact else Fraction(0))

    def _read(self, value: Any) -> Fraction:
        found = reading(value)
        if found is None:
            self.refuse(f"adds to a {type(value).__name__}")
        return found

    def _type_of(self, value: Any, by: Any) -> Any:
        """A number of the type that the sum has, whether there are such entries or not."""
        sample = value.sample if type(value) is NoisyNumber else value
        kind, other = type(sample), int if type(by) is bool else type(by)
        if (kind, other) in _KEEPS:
            return sample
        if kind in (int, FloatOrZero) and other in (int, float):
            return FloatOrZero(1.0)
        return self.refuse("has a sum whose type depends on what is summed")

    def refuse(self, what: str) -> NoReturn:
        """End the run."""
        self.path.refuse(NotEnumerableError("a loop", f"{what}, which depends on more than counts", "have it sampled"))


_TOLD = "adds up numbers that depend on the sums so far"
_KEEPS = frozenset({
    (int, int), (float, int), (float, float), (np.int64, int), (np.int64, np.int64),
    *((np.float64, other) for other in (int, float, np.int64, np.float64)),
})  # fmt: skip
"""Types that a sum keeps, with the types of what is added."""


# --- questions --------------------------------------------------------------------------------------


class _Asking(Protocol):
    """What the questions of a run say of other things."""

    path: RandomPath

    def operand(self, things: Any) -> Any:
        """What may be added in place."""

    def item(self, thing: Any) -> Any:
        """What may have an entry assigned."""

    def shown(self, value: Any) -> Any:
        """What may be written as text."""

    def product(self, left: Any, right: Any) -> Any:
        """left @ right."""

    def call(self, function: Any, /, *args: Any, **options: Any) -> Any:
        """A call."""

    def get(self, owner: Any, name: str) -> Any:
        """An attribute."""

    def refuse(self, what: str) -> NoReturn:
        """End the run."""


@attrs.define(eq=False)
class LoopSteps:
    """Called before a loop, a `+=` and an assignment to an entry."""

    asking: _Asking

    def answers(self) -> dict[str, Any]:
        """The questions. None has options: how often an array is known is counted as it is in a plain call."""
        return {
            "tally": self.tally, "grown": self.grown,
            "grown_in": self.grown_in, "put": self.put, "changed": self.changed, "appended": self.appended, "into": self.into,
            "added_at": self.added_at,
        }  # fmt: skip

    @staticmethod
    def tally(things: Any, number: int) -> Any:
        """What a loop that only adds up walks through: for a dataset, or the places of its entries, a walk of its own."""
        if type(things) is Places:
            return EntryTally(things.listed, number, sys._getframe(1), things)
        return EntryTally(things, number, sys._getframe(1)) if type(things) is WholeList else things

    def _active(self, numbers: Sequence[int], frame: types.FrameType) -> EntryTally | None:
        found: EntryTally | None = self.asking.path.tally
        return found if found is not None and found.is_of(numbers, frame) else None

    def grown(self, value: Any, by: Any, step: str, numbers: Sequence[int]) -> Any:
        """value += by, value -= by, and value + by, value - by where that becomes the value."""
        alone = len(step) == 1 or sys.getrefcount(value) <= _references()
        tally = self._active(numbers, sys._getframe(1))
        if tally is not None and type(value) is np.ndarray:
            return tally.grown_array(opened(value, alone=alone), by, _SIGN[step[0]], in_place=len(step) > 1)
        return self._stepped(value, by, step, alone=alone) if tally is None else tally.grown(value, by, "", _SIGN[step[0]])

    def appended(self, value: Any, by: Any, numbers: Sequence[int]) -> Any:
        """value.append(by); what is to be known as value."""
        alone = sys.getrefcount(value) <= _references()
        tally = self._active(numbers, sys._getframe(1))
        if tally is not None and type(value) in (list, WholeList):
            return tally.appended(value, by, alone=alone)
        self.asking.call(self.asking.get(value, "append"), by)
        return value

    def _stepped(self, value: Any, by: Any, step: str, *, alone: bool) -> Any:
        return self._changed(value, by, step[0], alone=alone) if len(step) > 1 else _PLAINLY[step](value, by)

    def _in_place(self, value: Any, by: Any, sign: str) -> Any:
        """A step that is no sum of a loop; what other names may know is not changed while a loop adds up."""
        path = self.asking.path
        if type(value) in (WholeList, WholeRows):
            value.refused("a change in place")
        if path.counting and type(value) not in _UNCHANGING:
            rule = f"changes a {type(value).__name__} in place, which depends on more than counts"
            path.refuse(NotEnumerableError("a loop", rule, "have it sampled"))
        return _IN_PLACE[sign](value, by)

    def changed(self, value: Any, by: Any, sign: str) -> Any:
        """value += by, and the same of any other operator."""
        alone = sys.getrefcount(value) <= _references()
        return self._changed(value, by, sign, alone=alone)

    def _changed(self, value: Any, by: Any, sign: str, *, alone: bool) -> Any:
        """value += by, and the same of any other operator; of an array of drawn numbers, entry by entry.

        Args:
            value: what is changed.
            by: the number, or what else, on the right.
            sign: the operator.
            alone: whether no other name knows the value.
        """
        if sign == "%" and isinstance(value, (str, bytes)):
            by = self.asking.shown(by)
        elif sign not in _OF_SETS:  # the order of a set does not matter to those
            by = self.asking.operand(by)
        if type(value) in (WholeList, WholeRows) and alone and _is_unshared(value) and not self.asking.path.counting:
            return value.changed(_PLAINLY[sign], by)
        if type(value) is not np.ndarray or self.asking.path.counting or not (holds_drawn(value) or holds_drawn(by)):
            return self._in_place(value, by, sign)
        array = opened(value, alone=alone)
        computed = self.asking.product if sign == "@" else _PLAINLY[sign]
        parts = None if array is None else computed(array, _asarray_of(by))
        if parts is None or parts.shape != array.shape or any(entry_for(array, part) is None for part in parts.flat):
            rule = "is added in place to an array that is not of doubles, or that has another name"
            self.asking.path.refuse(NotEnumerableError("a drawn number", rule, "make a new array"))
        array[...] = parts
        return array

    def grown_in(  # noqa: PLR0917 (no options: see `answers`)
        self, held: Any, place: Any, value: Any, by: Any, step: str, numbers: Sequence[int]
    ) -> Any:
        """held[place] += by, or -= by, where held[place] is value; what is to be known as held."""
        alone = sys.getrefcount(held) <= _references()
        tally = self._active(numbers, sys._getframe(1))
        if tally is None:
            return self._assigned(self._stepped(value, by, step, alone=False), held, place, alone=alone)
        made = tally.grown(value, by, repr(place), _SIGN[step[0]])
        if made is value and (type(held) in (list, np.ndarray, GrownCounts) or (type(held) is dict and place in held)):
            return held
        if type(held) is np.ndarray:
            return self._filled(made, held, place, alone=alone)
        if type(held) is GrownCounts:
            held.counts[place] = made
        elif type(held) is list or (type(held) is dict and place in held):
            held[place] = made
        else:
            return self._counter(made, held, place, alone=alone)
        return held

    def _counter(self, made: Any, held: Any, place: Any, *, alone: bool) -> Any:
        """A counter with its first value, where it was empty and no other name knows it."""
        kinds: dict[Any, Any] = {collections.Counter: int, dict: None}
        factory = kinds.get(type(held), getattr(held, "default_factory", bool))
        left = len(held) - (type(held) is collections.defaultdict)  # which has the value by now
        if left or not alone or factory not in (None, int, float) or (type(held) is collections.defaultdict and factory is None):
            rule = f"adds to the entries of a {type(held).__name__}, whose keys depend on which of them occur"
            self.asking.path.refuse(NotEnumerableError("a loop", rule, "start from all values, or have it sampled"))
        return GrownCounts(self.asking.path, {place: made}, None if factory is None else factory())

    def put(self, value: Any, held: Any, place: Any) -> Any:
        """held[place] = value; what is to be known as held."""
        alone = type(held) in (np.ndarray, WholeList, WholeRows) and sys.getrefcount(held) <= _references()
        if type(held) in (WholeList, WholeRows):
            if self.asking.path.counting or not (alone and _is_unshared(held)):
                held.refused("a change in place")
            return held.assigned(place, value)
        return self._assigned(value, held, place, alone=alone)

    def into(self, held: Any, function: Any, /, *args: Any, **options: Any) -> Any:
        """function(*args, out=held, **options); what is to be known as held, which may be among the arguments."""
        alone = sys.getrefcount(held) <= _references() + sum(one is held for one in args)
        writes = isinstance(function, np.ufunc) or any(function is one for one in _WRITING)
        if type(held) not in (np.ndarray, WholeList, WholeRows) or self.asking.path.counting or not writes:
            self.asking.call(function, *args, out=held, **options)
            return held
        made = self.asking.call(function, *args, **options)
        if type(held) in (WholeList, WholeRows):
            return held.replaced(made) if alone and _is_unshared(held) else held.refused("a change in place")
        if not (holds_drawn(made) or holds_drawn(held) or is_open(held)) and type(made) is np.ndarray:
            return self._copied(made, held)
        array = opened(held, alone=alone)
        parts = made if type(made) is np.ndarray and array is not None and made.shape == array.shape else None
        if parts is None or any(entry_for(array, part) is None for part in parts.flat):
            self._refuse_array("is written into an array that is not of doubles, or of another shape, or that has another name")
        array[...] = np.array([*map(functools.partial(entry_for, array), parts.flat), None], dtype=object)[:-1].reshape(
            array.shape
        )
        return array

    def _copied(self, made: Any, held: Any) -> Any:
        """Plain numbers in the place of others."""
        if made.shape != held.shape or not np.can_cast(made.dtype, held.dtype, "same_kind"):
            self._refuse_array("is written into an array of another type or shape")
        held[...] = made
        return held

    def _refuse_array(self, rule: str) -> NoReturn:
        self.asking.path.refuse(NotEnumerableError("an array", rule, "make a new array"))

    def added_at(self, held: Any, function: Any, place: Any, value: Any) -> Any:
        """function.at(held, place, value), for the ufunc `add`; what is to be known as held."""
        alone = sys.getrefcount(held) <= _references()
        if function is not np.add or type(held) is not np.ndarray or type(place) is not WholeList or self.asking.path.counting:
            return self._added_plainly(held, function, place, value)
        array = opened(held, alone=alone)
        if array is None or array.ndim != 1:
            self._refuse_array("is added to at places, and is not of doubles or whole numbers, or has another name")
        for at, parts in place.places(value, len(array)):
            known = entry_for(array, array[at] + parts) if parts is not None else array[at]
            if known is None:
                self._refuse_array("is added to at places by numbers of another type")
            array[at] = known
        return array

    def _added_plainly(self, held: Any, function: Any, place: Any, value: Any) -> Any:
        """The same for arrays without symbols, unchanged."""
        if not isinstance(function, np.ufunc):
            self.asking.call(self.asking.get(function, "at"), held, place, value)
            return held
        if any(map(_holds_symbols, (held, place, value))) or self.asking.path.counting:
            self.asking.refuse("calls `at` with what depends on the dataset, in a way that is not read")
        function.at(held, place, value)
        return held

    def _assigned(self, value: Any, held: Any, place: Any, *, alone: bool) -> Any:
        is_array = type(held) is np.ndarray and not self.asking.path.counting
        if is_array and (holds_drawn(value) or holds_drawn(held) or is_open(held)):
            return self._filled(value, held, place, alone=alone)
        self.asking.item(held)
        held[place] = value
        return held

    def _filled(self, value: Any, held: Any, place: Any, *, alone: bool) -> Any:
        """The array with one entry, which may be a symbol."""
        array = opened(held, alone=alone)
        if array is not None and type(array[place]) is np.ndarray and array[place].size:
            return self._filled_with_many(array, value, place)
        known = None if array is None or isinstance(array[place], np.ndarray) else entry_for(array, value)
        if known is None:
            rule = "is put into an array that is not of doubles, or is cut there, or that has another name"
            self.asking.path.refuse(NotEnumerableError("a drawn number", rule, "make a list"))
        array[place] = known
        is_plain = alone and not is_open(array) and not holds_drawn(array)
        return array.astype(type(known)) if is_plain else array

    def _filled_with_many(self, array: Any, value: Any, place: Any) -> Any:
        """The array, opened, with several entries, which may be symbols."""
        target = array[place]
        parts = np.empty(target.shape, dtype=object)
        try:
            parts[...] = _asarray_of(value) if type(value) in (list, tuple, np.ndarray) else array_of([value], ())
        except ValueError:
            self._refuse_array("is filled with numbers of another shape")
        known = [entry_for(array, part) for part in parts.flat]
        if any(part is None for part in known):
            self._refuse_array("is filled with numbers of another type")
        for at, part in zip(np.ndindex(parts.shape), known, strict=True):
            parts[at] = part
        array[place] = parts
        return array


_WRITING = (np.clip, np.sum, np.mean, np.cumsum, np.dot, np.matmul, np.round)
"""Functions of numpy that are no ufuncs, and write what they compute into `out` as they would return it."""


def _holds_symbols(value: Any) -> bool:
    listed = type(value) in (WholeList, WholeRows, NoisyNumber)
    return listed or holds_drawn(value) or (type(value) is np.ndarray and value.dtype.hasobject)


def _asarray_of(by: Any) -> Any:
    return np.asarray(by, dtype=object) if type(by) in (list, tuple) else by


_IN_PLACE: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.iadd, "-": operator.isub, "*": operator.imul, "/": operator.itruediv, "//": operator.ifloordiv,
    "%": operator.imod, "**": operator.ipow, "@": operator.imatmul, "<<": operator.ilshift, ">>": operator.irshift,
    "|": operator.ior, "&": operator.iand, "^": operator.ixor,
}  # fmt: skip
_PLAINLY: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv, "%": operator.mod,
    "**": operator.pow, "@": operator.matmul, "<<": operator.lshift, ">>": operator.rshift, "|": operator.or_,
    "&": operator.and_, "^": operator.xor,
}  # fmt: skip
_SIGN = {"+": 1, "-": -1}
_OF_SETS = ("|", "&", "^", "-")
"""Operators of sets."""
_UNCHANGING = (int, float, bool, str, tuple, np.int64, np.float64, np.bool_, NoisyNumber)
"""Types of values that a step in place makes anew."""
SIGNS: dict[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**", ast.MatMult: "@",
    ast.LShift: "<<", ast.RShift: ">>", ast.BitOr: "|", ast.BitAnd: "&", ast.BitXor: "^",
}  # fmt: skip
"""Operators of steps in place, as they are written."""


# --- arrays that are filled with drawn numbers --------------------------------------------------------


@functools.cache
def _references() -> int:
    """The number of references that are counted in a call with an array that has one name in the calling code."""

    class Asked:
        def question(self, _value: Any, array: Any, _place: Any) -> int:
            return sys.getrefcount(array)

    def asking(question: Callable[[Any, Any, Any], int]) -> int:
        array = np.zeros(1)
        return question(None, array, 0)

    return asking(Asked().question)


def _is_unshared(value: WholeList | WholeRows) -> bool:
    """Whether no other name knows the numbers of an array: nor the arrays of which it is a view."""
    while value.base is not None:
        value = value.base
        if sys.getrefcount(value) > 3:  # the array that is a view of it, the variable above, and the question itself
            return False
    return True


def opened(array: Any, *, alone: bool) -> Any:
    """The array as one whose entries may be symbols; None where the difference would be observable.

    An array of doubles or of whole numbers is copied, so it may be known by one name only.
    """
    if array.dtype.hasobject:
        return array
    if not alone or array.base is not None or array.dtype not in (np.dtype(float), np.dtype(np.int64)):
        return None
    found = np.empty(array.shape, dtype=object)
    flat = found.reshape(-1)
    for place, part in enumerate(array.ravel()):
        flat[place] = part
    return found


@attrs.frozen(eq=False, repr=False)
class Unwritten:
    """The content of memory that was not initialised: it may be moved, and never read."""

    path: RandomPath

    def _refuse(self, *_: Any) -> NoReturn:
        self.path.refuse(NotEnumerableError("numpy.empty", "is read where nothing was written", "start from np.zeros"))

    __bool__ = __float__ = __int__ = __index__ = __eq__ = __hash__ = __lt__ = __le__ = __gt__ = __ge__ = __repr__ = _refuse
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __neg__ = __abs__ = _refuse
    __str__ = __format__ = __round__ = __pow__ = __mod__ = __floordiv__ = _refuse


def unwritten(path: RandomPath, shape: Any) -> Any:
    """np.empty(shape)."""
    found = np.empty(shape, dtype=object)
    if not found.size:
        return np.empty(shape)
    flat = found.reshape(-1)
    for place in range(flat.size):
        flat[place] = Unwritten(path)
    return found


def is_open(array: Any) -> bool:
    """Whether some entry was never written."""
    return bool(array.dtype.hasobject) and any(type(part) is Unwritten for part in array.flat)


def entry_for(array: Any, value: Any) -> Any:
    """What an opened array holds when a number is assigned: a double or a whole number, as its other entries are; None for
    others."""
    kinds = {type(part.sample) if type(part) is NoisyNumber else type(part) for part in array.flat} - {Unwritten} or {np.float64}
    sample = value.sample if type(value) is NoisyNumber else value
    if kinds == {np.float64} and isinstance(sample, (int, float, np.int64)):
        return value.applied(np.float64, "float", [value]) if type(value) is NoisyNumber else np.float64(value)
    if kinds == {np.int64} and type(sample) in (int, np.int64):
        return value.retyped(np.int64(1)) if type(value) is NoisyNumber else np.int64(value)
    return None


def place_of(parts: Sequence[Any], value: Any) -> int | None:
    """parts.index(value) where two continuous draws are never equal; None where it cannot be said. Raises ValueError as it
    does."""
    for place, part in enumerate(parts):
        if part is value:
            return place
        if NoisyNumber not in (type(part), type(value)):
            if part == value:
                return place
            continue
        difference = difference_of(part, value)
        if difference is None or not isinstance(difference, Affine):
            return None
        if not difference.terms and not difference.constant:
            return place
        if difference.terms and not any(noise.kind in CONTINUOUS for noise, _ in difference.terms):
            return None
    raise ValueError(f"{value!r} is not in list")
