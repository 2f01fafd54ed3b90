"""One run of a sampler along a prescribed path of choices, and the chains of states that its loops make.

A run is a sequence of choices, each between finitely many options of known probability. The first ones are prescribed,
the others take the first option and leave the rest for later runs: depth-first search by running again.

A uniform draw is split only where the sampler compares it.

`random()` has infinitely many values, but a sampler that only evaluates `random() < p` needs two. A `Uniform` represents
a U + b, with U uniform on an interval that each comparison cuts in two.

Absorbing Markov chains are solved exactly, from one-step probabilities between states to the law of where they end:

    P(end | i) = sum_j T[i, j] P(end | j) + T[i, end]

States are eliminated one after the other: state j is left out by dividing its row by 1 - T[j, j], the sum of its other
entries, and putting it in place of j everywhere else (Kleene). Nothing is ever rounded but enclosures.
"""

from __future__ import annotations

import functools
import math
import operator
import sys
import types
from collections.abc import Callable, Hashable, Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, NoReturn

import attrs
import numpy as np

from dpspec import DpspecError
from dpspec.plugin.judges import Enclosed, Exponential, NotEnumerableError, Placeholder, Probability
from dpspec_code.automatic.widths import RecordBound

PREFIX = "_dpspec_"
"""The prefix of the names of the question functions that rewritten code calls."""
Choices = tuple[tuple[int, int], ...]
"""For every choice the option taken and the number of options."""


class Stop(BaseException):
    """Ends a run from inside the sampler.

    The path records that it was raised (`Path.ended`), and any value or exception of the sampler afterwards is
    ignored: `except BaseException`, `finally: return` and `__exit__` make no outcome of it.

    Args:
        fault: the error that the caller shall get.
        state: the state that was reached, when the run ends because its future is that of a state.
        beyond: whether the run ends in the cut-off tail of an endless draw.
    """

    def __init__(self, *, fault: DpspecError | None = None, state: Hashable = None, beyond: bool = False) -> None:
        super().__init__()
        self.fault, self.state, self.beyond = fault, state, beyond


def _place_in_code() -> tuple[str | None, int | None]:
    """The name of the file and the line of the code that is enumerated, from which this was called; None without such code."""
    frame: types.FrameType | None = sys._getframe(2)
    while frame is not None:
        of_user = not str(frame.f_globals.get("__name__")).startswith("dpspec")
        if of_user and any(name.startswith(PREFIX) for name in frame.f_code.co_names):
            return Path(frame.f_code.co_filename).name, frame.f_lineno
        frame = frame.f_back
    return None, None


@attrs.define
class EntryCoin:
    """The comparison of the uniform number of one entry of a dataset with a threshold, tried both ways.

    Args:
        threshold: the probability that it is below.
        below: which way is tried.
        asked: whether it was evaluated this way.
    """

    threshold: Fraction
    below: bool = True
    asked: bool = True


MOST_CHOICES = 10_000
"""A run with more choices is given up."""


@attrs.define
class RandomPath:
    """The choices of one run.

    Args:
        forced: the prescribed choices.
        start: how many of them lead to the state from which probabilities are counted.
        most_choices: a run with more choices is given up.
        conditions: the evaluated conditions on drawn noise, with their results (`dpspec_code.automatic.formulas`).
        counting: whether entries of a symbolic dataset are being summed, when nothing may be drawn.
        coin: the comparison of the uniform number of the current entry, by which samples are taken.
        sampled: whether a sample was taken.
        bound: the largest number of records of a symbolic dataset.
        races: the number of draws of Gumbel noise that represent choices.
        tally: the loop that adds up such entries (`dpspec_code.automatic.tallies`).
        elsewhere: the replacements for the functions of modules that draw, by the names of the modules; under the empty name,
            the one for a generator without a seed.
        made: the draws that the code made of others (`dpspec_code.automatic.formulas.MadeDraw`).
        whole: the dataset, where it is a symbolic list.
        by_places: whether `range(len(x))` is one of places where the number of entries is fixed.
        ended: what ended the run before its time. What comes after it is worthless, also when the sampler, or a library that
            it calls, has caught it and gone on.
    """

    forced: Choices
    start: int = 0
    most_choices: int = MOST_CHOICES
    taken: list[tuple[int, int]] = attrs.field(factory=list)
    mass: Probability = Fraction(1)
    siblings: list[Choices] = attrs.field(factory=list)
    draws: int = 0
    conditions: list[Any] = attrs.field(factory=list)
    counting: bool = False
    coin: EntryCoin | None = None
    sampled: bool = False
    bound: RecordBound = attrs.field(factory=RecordBound)
    races: int = 0
    tally: Any = None
    ended: Stop | None = None
    elsewhere: dict[str, Any] = attrs.field(factory=dict)
    made: list[Any] = attrs.field(factory=list)
    whole: Any = None
    by_places: bool = False

    def end(self, stop: Stop) -> NoReturn:
        """End the run; the first end counts."""
        if stop.state is not None and self.conditions:
            rule = "redraws noise until it meets a condition, where its law cannot be read off"
            stop = Stop(fault=NotEnumerableError("sampler", rule, "have it sampled, or give its law by hand"))
        self.ended = self.ended or stop
        raise self.ended

    def refuse(self, fault: DpspecError) -> NoReturn:
        """End the run because of something that cannot be enumerated; the fault says in which line of the code it happened."""
        if self.ended is None and fault.line is None:
            fault.file, fault.line = _place_in_code()
        self.end(Stop(fault=fault))

    def going(self) -> None:
        """Raise again what ended the run, if it has ended."""
        if self.ended is not None:
            raise self.ended

    def choose(self, probabilities: Sequence[Probability], *, beyond: Probability | None = None) -> int:
        """The number of the option taken; `beyond` is the probability of a last option that ends the run."""
        last = len(probabilities)
        option = self._forced(last)
        if option is None:
            options = [number for number, probability in enumerate(probabilities) if probability != 0]
            option = self._first(options if beyond is None else [*options, last], last)
        if len(self.taken) > self.start:
            probability = probabilities[option] if option < last else beyond
            self.mass = self.mass if probability is None or probability == 1 else probability * self.mass
        if option == last:
            self.end(Stop(beyond=True))
        return option

    def uniform(self, count: int) -> int:
        """One of `count` equally likely options."""
        option = self._forced(count)
        if option is None:
            option = self._first(range(count), count)
        if len(self.taken) > self.start:
            self.mass = self.mass * Fraction(1, count)
        return option

    def branch(self, count: int) -> int:
        """One of several alternatives, whose probabilities are determined by conditions."""
        option = self._forced(count)
        return self._first(range(count), count) if option is None else option

    def _forced(self, width: int) -> int | None:
        """The prescribed option at this place, if there is one."""
        self.going()
        if self.counting:
            self.refuse(NotEnumerableError("sampler", "draws for each entry of the dataset", "have it sampled"))
        place = len(self.taken)
        if place >= len(self.forced):
            return None
        self.taken.append(self.forced[place])
        option, before = self.forced[place]
        if before != width:
            self.refuse(changed())
        return option

    def _first(self, options: Sequence[int], width: int) -> int:
        """The first of several options; the others are left for later runs."""
        if len(self.taken) >= self.most_choices:
            rule = f"made {len(self.taken)} random choices without an end"
            self.refuse(NotEnumerableError("sampler", rule, "bound its loops, or give its law by hand"))
        before = tuple(self.taken)
        self.siblings += [(*before, (other, width)) for other in options[1:]]
        self.taken.append((options[0], width))
        return options[0]

    def fresh(self) -> int:
        """The number of the next symbolic draw."""
        if self.counting:
            self.refuse(NotEnumerableError("sampler", "draws for each entry of the dataset", "have it sampled"))
        self.draws += 1
        return self.draws


def changed() -> NotEnumerableError:
    """The fault of code that is not a function of its dataset and its choices."""
    return NotEnumerableError(
        "sampler",
        "behaves differently when it is run again with the same choices",
        "remove what it keeps between calls, and every other source of randomness",
    )


# --- uniform draws --------------------------------------------------------------------------------


_DIGITS = 12
"""A double that prints with more digits was computed, not typed: only one in 10,000 computed ones prints shorter."""
_ULPS = 8
_EXACT = "?bBhHiIlLqQdO"
"""Kinds of numpy's numbers with which a double stays one."""
LEAST = Fraction(1, 1 << 40)
"""Events of a smaller probability are not evaluated: a double has steps of 2^-53, a real number has none."""


def exact(value: Any) -> Probability | None:
    """A parameter of a draw as an exact number, or None for what is none.

    A float that prints with at most 12 digits is that decimal. One with more digits is the result of a computation in
    floating point, whose exact value is not known: it is enclosed with 8 units in the last place to either side.

    >>> str(exact(0.1)), exact(2 / 3).low < Fraction(2, 3) < exact(2 / 3).high
    ('1/10', True)
    """
    if isinstance(value, (Exponential, Enclosed)):
        return value
    if isinstance(value, np.generic):
        value = value.item()
    if type(value) in (int, bool, Fraction):
        return Fraction(value)
    if type(value) is Decimal and value.is_finite():
        return Fraction(value)
    if type(value) is not float or not math.isfinite(value):
        return None
    digits = Decimal(repr(float(value))).as_tuple().digits
    if len(digits) <= _DIGITS:
        return Fraction(repr(float(value)))
    middle = Fraction(value)
    slack = abs(middle) * Fraction(_ULPS, 2**53)
    return Enclosed(middle - slack, middle + slack) if middle > 0 else None


@attrs.define(eq=False)
class _Draw:
    """One uniform draw on [low, high), as far as it is known by now.

    Args:
        path, number: which draw it is.
        low, high: its ends.
        taken: what was made of it: noise, after which nothing else is.
    """

    path: RandomPath
    number: int
    low: Probability = Fraction(0)
    high: Probability = Fraction(1)
    taken: Hashable = None

    def below(self, threshold: Probability, *, closed: bool = False) -> bool:
        """Whether U < threshold, or U <= threshold when closed: a choice, unless it is settled."""
        if closed and self.low == threshold:
            refuse(self.path, "was compared with <= or > at its least value, which has probability 0 or 2^-53")
        if at_least(self.low, threshold):
            return False
        if at_least(threshold, self.high):
            return True
        if self.taken is not None:
            refuse(self.path, "was compared after noise was made of it")
        probabilities = _split(self.low, threshold, self.high)
        if probabilities is None:
            refuse(self.path, "was asked about an event of probability below 2^-40")
        if self.path.choose(probabilities) == 0:
            self.high = threshold
            return True
        self.low = threshold
        return False


@functools.lru_cache(maxsize=1 << 12)
def _split(low: Probability, threshold: Probability, high: Probability) -> list[Probability] | None:
    """The probabilities of the two parts of an interval; None where one is too small to be evaluated."""
    parts = [minus(threshold, low), minus(high, threshold)]
    whole = minus(high, low)
    return [_ratio(part, whole) for part in parts] if all(at_least(part, LEAST) for part in parts) else None


@attrs.define(eq=False)
class _EntryDraw(_Draw):
    """A uniform draw for each entry of a symbolic dataset: one comparison determines whether the entry is in a sample."""

    def below(self, threshold: Probability, *, closed: bool = False) -> bool:
        path = self.path
        if not path.counting or not isinstance(threshold, Fraction) or not LEAST <= threshold <= 1 - LEAST:
            refuse(path, "was drawn for each entry of the dataset, and asked for more than who is in a sample")
        if path.coin is None:
            path.coin = EntryCoin(threshold)
            return True
        if path.coin.asked or path.coin.threshold != threshold:
            refuse(path, "was drawn for each entry of the dataset, and asked for more than who is in a sample")
        path.coin.asked = True
        return path.coin.below


def _ratio(part: Probability, whole: Probability) -> Probability:
    if isinstance(part, Enclosed) or isinstance(whole, Enclosed):
        found = Enclosed.of(part) / Enclosed.of(whole)
        return Enclosed(found.low, min(found.high, Fraction(1)))
    return part / whole


def minus(left: Probability, right: Probability) -> Probability:
    """left - right, for left >= right."""
    if isinstance(left, Enclosed) or isinstance(right, Enclosed):
        mine, their = Enclosed.of(left), Enclosed.of(right)
        return Enclosed(mine.low - their.high, mine.high - their.low)
    return left - right


def at_least(left: Probability, right: Probability) -> bool:
    """Whether left >= right, as far as the enclosures settle it; equal enclosures are equal thresholds."""
    if isinstance(left, Enclosed) or isinstance(right, Enclosed):
        return left == right or Enclosed.of(left).low >= Enclosed.of(right).high
    return left >= right


@attrs.frozen(eq=False, repr=False)
class Uniform:
    """scale U + shift for a symbolic uniform draw U: it can be compared, scaled, shifted and floored, and nothing else.

    Args:
        draw: U.
        scale, shift: the affine function of it.
        scalar: whether the number is one of numpy's, whose comparisons give numpy's truth values.
    """

    draw: _Draw
    scale: Fraction = Fraction(1)
    shift: Fraction = Fraction(0)
    scalar: bool = False

    __array_ufunc__ = None
    """numpy leaves its operators to this class."""

    @classmethod
    def on(
        cls, path: RandomPath, *, scalar: bool = False, low: Fraction = Fraction(0), high: Fraction = Fraction(1)
    ) -> Uniform:
        """A new draw between two ends."""
        draw = _EntryDraw(path, 0) if path.counting else _Draw(path, path.fresh())
        return cls(draw, high - low, low, scalar)

    def known(self) -> tuple[object, ...]:
        """Its known properties, which distinguish states."""
        draw = self.draw
        return draw.number, draw.low, draw.high, draw.taken, self.scale, self.shift, self.scalar

    def make(self, use: Hashable) -> bool:
        """Make something of the draw, after which nothing else is made of it; whether that is done for the first time.

        Args:
            use: what is made, and of which function of the draw.
        """
        if type(self.draw) is not _Draw or self.draw.taken not in (None, use):
            self.refuse("was used in two ways that depend on each other")
        is_first, self.draw.taken = self.draw.taken is None, use
        return is_first

    def is_between_0_and_1(self) -> bool:
        """Whether it lies between 0 and 1, and anywhere there, by what is known of it by now."""
        low, high = self.draw.low, self.draw.high
        if not isinstance(low, Fraction) or not isinstance(high, Fraction):
            return False
        return sorted(self.scale * end + self.shift for end in (low, high)) == [0, 1]

    def as_float(self) -> Uniform:
        """float(it)."""
        return Uniform(self.draw, self.scale, self.shift)

    def as_scalar(self) -> Uniform:
        """np.float64(it)."""
        return Uniform(self.draw, self.scale, self.shift, scalar=True)

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """Called by isinstance alone, which would otherwise not recognise it as a float."""
        self.refuse("was asked for its type")

    # -- questions --------------------------------------------------------------------------------

    def __lt__(self, other: object) -> Any:
        return self._truth(other, operator.lt, lambda one: self._below(one, closed=False))

    def __le__(self, other: object) -> Any:
        return self._truth(other, operator.le, lambda one: self._below(one, closed=True))

    def __gt__(self, other: object) -> Any:
        return self._truth(other, operator.gt, lambda one: not self._below(one, closed=True))

    def __ge__(self, other: object) -> Any:
        return self._truth(other, operator.ge, lambda one: not self._below(one, closed=False))

    def __eq__(self, other: object) -> Any:
        self.refuse("was compared with ==, which holds with probability 0 or 2^-53")

    __ne__ = __eq__

    def __hash__(self) -> NoReturn:  # noqa: PLE0309
        self.refuse("was hashed")

    def __bool__(self) -> NoReturn:  # noqa: PLE0304
        self.refuse("was used as a truth value")

    def _truth(self, other: object, compare: Callable[[Any, Any], Any], question: Callable[[object], bool]) -> Any:
        """The answer in the type in which numpy and Python give it; a drawn number answers itself."""
        if issubclass(type(other), Placeholder):
            return NotImplemented
        if type(other) is np.ndarray and other.ndim == 1 and other.dtype.hasobject:
            return np.array([bool(compare(self, one)) for one in other], dtype=np.bool_)
        if type(other) is np.ndarray and other.ndim == 1 and other.dtype.char in _EXACT:
            return np.array([question(one) for one in other.ravel()], dtype=np.bool_).reshape(other.shape).copy()
        answer = question(other)
        return np.bool_(answer) if self.scalar or isinstance(other, np.generic) else answer

    def _below(self, other: object, *, closed: bool) -> bool:
        """Whether scale U + shift < other, or <= other when closed."""
        if type(other) is Uniform:  # tested first: its class must not be accessed
            self.refuse("was compared with another random number")
        if isinstance(other, np.generic) and other.dtype.char not in _EXACT:
            self.refuse("was compared in single precision")
        threshold = exact(other)
        if threshold is None:
            if type(other) is float and math.isinf(other):
                return other > 0
            if not isinstance(other, (float, np.floating)) or not other < 0:
                self.refuse(f"was compared with {type(other).__name__}")
            threshold = Fraction(float(other))
        if self.scale == 1 and not self.shift:
            return self.draw.below(threshold, closed=closed)
        if isinstance(threshold, Enclosed):
            self.refuse("was scaled and compared with a number that was computed in floating point")
        place = (threshold - self.shift) / self.scale
        if self.scale > 0:
            return self.draw.below(place, closed=closed)
        return not self.draw.below(place, closed=not closed)

    def __floor__(self) -> int:
        ends = sorted((self.shift, self.shift + self.scale))
        for whole in range(ends[0].__floor__() + 1, ends[1].__ceil__() + 1):
            if self._below(whole, closed=False):
                return whole - 1
        return ends[1].__ceil__() - 1

    def __int__(self) -> int:
        return self.__floor__() if not self._below(0, closed=False) else -((-self).__floor__())

    __trunc__ = __int__

    # -- arithmetic -------------------------------------------------------------------------------

    def _affine(self, scale: Any, shift: Any, other: Any) -> Uniform:
        if type(other) is bool or not isinstance(other, (int, float, Fraction, np.integer, np.floating)):
            self.refuse(f"was used in a computation with {type(other).__name__}")
        if isinstance(other, np.generic) and other.dtype.char not in _EXACT:
            self.refuse("was used in a computation in single precision")
        if type(other) is Fraction and self.scalar:
            self.refuse("is a number of numpy and was used in a computation with a Fraction")
        factor, summand = exact(scale), exact(shift)
        if not isinstance(factor, Fraction) or not isinstance(summand, Fraction) or not factor:
            self.refuse("was used in a computation with a number that is not exact")
        size, most = abs(self.scale * factor), Fraction(1 << 20)
        if not 1 / most <= size <= most or abs(self.shift * factor + summand) > most * size:
            self.refuse("was scaled or shifted so far that the rounding of doubles matters")
        scalar = self.scalar or isinstance(other, np.generic)
        return Uniform(self.draw, self.scale * factor, self.shift * factor + summand, scalar)

    def __add__(self, other: Any) -> Uniform:
        return self._affine(1, other, other)

    def __sub__(self, other: Any) -> Uniform:
        return NotImplemented if issubclass(type(other), Placeholder) else (-self).__add__(other).__neg__()

    def __rsub__(self, other: Any) -> Uniform:
        return (-self).__add__(other)

    def __neg__(self) -> Uniform:
        return self._affine(-1, 0, 0)

    def __abs__(self) -> Uniform:
        return -self if self._below(0, closed=False) else self

    def __mul__(self, other: Any) -> Uniform:
        return NotImplemented if issubclass(type(other), Placeholder) else self._affine(other, 0, other)

    __radd__, __rmul__ = __add__, __mul__

    def __truediv__(self, other: Any) -> Uniform:
        divisor = exact(other)
        if not isinstance(divisor, Fraction) or not divisor:
            self.refuse("was divided by a number that is not exact")
        return self._affine(1 / divisor, 0, other)

    def _number(self, *_: Any) -> NoReturn:
        self.refuse("was used as a number")

    __float__ = __complex__ = __index__ = __round__ = __pow__ = __rpow__ = __rtruediv__ = _number
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __divmod__ = __rdivmod__ = __pos__ = __ceil__ = _number

    def _text(self, *_: Any) -> NoReturn:
        self.refuse("was written as text")

    __str__ = __repr__ = __format__ = __reduce_ex__ = __dir__ = _text

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        self.refuse(f"was asked for {name}")

    def refuse(self, what: str) -> NoReturn:
        """End the run: the operation on the number is not supported."""
        refuse(self.draw.path, what)


def refuse(path: RandomPath, what: str) -> NoReturn:
    """End a run that needs an unsupported operation on a symbolic draw."""
    path.refuse(
        NotEnumerableError(
            "random()",
            f"{what}, so it has infinitely many values that matter",
            "compare it with thresholds, or draw integers; continuous noise needs a law written by hand",
        )
    )


# --- absorbing Markov chains ----------------------------------------------------------------------


TransitionRow = dict[Hashable, Probability]


def solve(rows: dict[Hashable, TransitionRow], start: Hashable) -> TransitionRow:
    """The law of the end of a chain, for ends that have no row.

    >>> half = Fraction(1, 2)
    >>> solve({"toss": {"toss": half, "heads": half / 2, "tails": half / 2}}, "toss")
    {'heads': Fraction(1, 2), 'tails': Fraction(1, 2)}
    """
    rows = {state: dict(row) for state, row in rows.items()}
    sources: dict[Hashable, set[Hashable]] = {state: set() for state in rows}
    for state, row in rows.items():
        for target in row:
            if target in rows:
                sources[target].add(state)
    for state in reversed(list(rows)):
        row = _left(state, rows[state])
        if state == start:
            rows[state] = row
            continue
        del rows[state]
        for source in sources[state] - {state}:
            if source in rows and state in rows[source]:
                _substitute(rows[source], state, row)
                for target in row:
                    if target in sources:
                        sources[target].add(source)
    return _left(start, rows[start])


def _left(state: Hashable, row: TransitionRow) -> TransitionRow:
    """The row given that the state is left."""
    if state not in row:
        return row
    others = {target: probability for target, probability in row.items() if target != state}
    if not others:
        raise NotEnumerableError("sampler", "never ends in one of its loops", "give every loop a way out")
    leaving = sum(others.values(), Fraction(0))
    if isinstance(leaving, Enclosed) or isinstance(row[state], Enclosed):
        bounds = Enclosed.of(leaving)
        return {target: _at_most_one(Enclosed.of(probability) / bounds) for target, probability in others.items()}
    return {target: probability / leaving for target, probability in others.items()}


def _at_most_one(value: Enclosed) -> Enclosed:
    return Enclosed(value.low, min(value.high, Fraction(1)))


def _substitute(row: TransitionRow, state: Hashable, into: TransitionRow) -> None:
    weight = row.pop(state)
    for target, probability in into.items():
        row[target] = row[target] + weight * probability if target in row else weight * probability
