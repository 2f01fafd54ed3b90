"""Noise as a symbol: numbers of plain code that represent formulas of independent draws.

`rng.laplace()` has infinitely many values, but code that only adds, rounds, compares and returns what it drew needs none of them.
A `NoisyNumber` represents a formula (`dpspec_code.automatic.formulas`). Comparing two of them is a choice of the run whose
condition is recorded. The type of each number is that of the same operation on numbers of the same types.
"""

from __future__ import annotations

import math
import operator
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from fractions import Fraction
from typing import Any, NoReturn

import attrs
import numpy as np

from dpspec.plugin.judges import NotEnumerableError, Placeholder
from dpspec_code.automatic.domains import NumberRange, ends_of, has_value
from dpspec_code.automatic.formulas import (
    ARITHMETIC,
    CONTINUOUS,
    NORMAL,
    STATISTIC,
    Affine,
    Applied,
    Condition,
    Hole,
    NoiseDraw,
    NoiseFormula,
    Plain,
    affine_of,
    arithmetic,
    difference,
    implied,
    is_about_data,
    is_rounded,
    reading,
)
from dpspec_code.automatic.path import RandomPath, Uniform
from dpspec_code.automatic.widths import LONGEST_LIST, REACH, UNIT, WHOLE_DOUBLES, RecordBound

_QUOTIENT = Fraction(1 << 90)
"""A Gaussian draw of numpy's generator is 0 or at least 2^-60 or so, and at most 64."""
LARGEST = Fraction(1 << 100)
"""Numbers beyond, or below its inverse, may leave the range of doubles when many are summed up or multiplied."""
_FARTHEST = Fraction(1 << 30)
"""An answer farther from 0 than so many sizes of its noise has lost last bits of the noise to rounding."""


class FloatOrZero(float):
    """A sample of a sum of floats, which is the integer 0 when there is nothing to sum; or of floats and integers, which is an
    integer where no float occurs."""

    def _combined(self, other: Any, name: str) -> Any:
        found = getattr(float, name)(float(self), other)
        return found if isinstance(other, (float, np.floating)) and not isinstance(other, FloatOrZero) else FloatOrZero(found)

    def __add__(self, other: Any) -> Any:
        return self._combined(other, "__add__")

    def __radd__(self, other: Any) -> Any:
        return self._combined(other, "__radd__")

    def __sub__(self, other: Any) -> Any:
        return self._combined(other, "__sub__")

    def __rsub__(self, other: Any) -> Any:
        return self._combined(other, "__rsub__")

    def __mul__(self, other: Any) -> Any:
        return self._combined(other, "__mul__")

    def __rmul__(self, other: Any) -> Any:
        return self._combined(other, "__rmul__")


class FloatOrInteger(np.float64):
    """A sample of a number of numpy that is a double or an integer of 64 bits, which the entries of the dataset decide."""


_PARTIAL = ("truediv", "floordiv", "mod", "pow")
"""Operators that have no value for some numbers."""
_OBSERVED = frozenset({"raise", "call", "print", "log"})
"""What numpy may do where a function has no value, so that it is seen."""
_NUMBERS = (float, np.float64, int, np.int64, FloatOrZero, FloatOrInteger)


# --- what numbers of a fixed width hold -----------------------------------------------------------


@attrs.frozen
class Span:
    """The range of a number on datasets of n records: between low - down n and high + up n.

    Args:
        low, high: its ends without records.
        down, up: what one record takes away, or adds, at most.
        lowest, highest: the symbols of the counts that do.
    """

    low: Fraction
    high: Fraction
    down: Fraction = Fraction(0)
    up: Fraction = Fraction(0)
    lowest: int | None = None
    highest: int | None = None

    def largest(self, records: int) -> Fraction:
        """How far from 0 it is at most."""
        return max(self.high + self.up * records, self.down * records - self.low)


def span_of(affine: Affine, *, alone: bool, drawn: bool = True) -> Span:
    """Where an affine expression lies.

    Args:
        affine: the expression.
        alone: whether n bounds each count by itself, in both directions, and not the sum of all.
        drawn: whether draws count.

    >>> women, men = (NoiseDraw(-number, "count", Fraction(0)) for number in (1, 2))
    >>> span = span_of(Affine(Fraction(5), ((women, Fraction(2)), (men, Fraction(-3)))), alone=False)
    >>> str(span.down), str(span.up), span.highest
    ('3', '2', -1)
    """
    low = high = affine.constant
    steps: dict[str, list[tuple[Fraction, int]]] = {}
    for noise, factor in affine.terms:
        if noise.kind == STATISTIC:
            low, high = low + min(factor, Fraction(0)), high + max(factor, Fraction(0))
        elif noise.is_count:
            steps.setdefault(noise.kind, []).append((factor, noise.number))
        elif drawn:
            ends = sorted(factor * end for end in _reach(noise))
            low, high = low + ends[0], high + ends[1]
    if alone:
        listed = [one for kind in steps.values() for one in kind]
        most = sum((abs(factor) for factor, _ in listed), Fraction(0))
        far = max(listed, key=lambda one: abs(one[0]))[1] if listed else None
        return Span(low, high, most, most, far, far)
    tops = [max(kind) for kind in steps.values()]
    bottoms = [min(kind) for kind in steps.values()]
    up = sum((max(factor, Fraction(0)) for factor, _ in tops), Fraction(0))
    down = sum((max(-factor, Fraction(0)) for factor, _ in bottoms), Fraction(0))
    return Span(low, high, down, up, min(bottoms, default=(0, None))[1], max(tops, default=(0, None))[1])


def _reach(noise: NoiseDraw) -> tuple[Fraction, Fraction]:
    """Between what a draw of numpy's generator lies."""
    if noise.kind == "geometric":
        return Fraction(1), REACH / noise.size + 1
    if noise.kind == "cauchy":  # a quotient of two Gaussian draws, the second of which may be next to 0
        return -_QUOTIENT, _QUOTIENT
    far = REACH * scale_of(noise)
    return (Fraction(0) if noise.kind == "exponential" else -far), far


def scale_of(noise: NoiseDraw) -> Fraction:
    """A number that the values of a draw are scaled by, or more."""
    if noise.kind == "geometric":
        return Fraction(1)
    return Fraction(math.isqrt(math.ceil(noise.size * (1 << 40))) + 1, 1 << 20) if noise.kind in NORMAL else noise.size


def rounding(affine: Affine, bound: RecordBound) -> Fraction:
    """What a number of the data loses at most when it becomes a double."""
    if not any(noise.is_count for noise, _ in affine.terms):
        return Fraction(0)
    size = span_of(affine, alone=bound.alone, drawn=False).largest(bound.seen)
    exact = all(noise.is_count and noise.kind != STATISTIC for noise, _ in affine.terms) and size <= WHOLE_DOUBLES * _grid(affine)
    return Fraction(0) if exact else size * UNIT


def _grid(affine: Affine) -> Fraction:
    """The largest power of two that all values are multiples of; 0 where there is none."""
    factors = [one for one in (affine.constant, *(factor for _, factor in affine.terms)) if one]
    below = math.lcm(*(factor.denominator for factor in factors))
    if below & (below - 1):
        return Fraction(0)
    whole = math.gcd(*(int(factor * below) for factor in factors))
    return Fraction(whole & -whole, below)


def _inside(formula: NoiseFormula) -> Affine | None:
    """The affine expression that a number is, or that it is rounded from; None for other functions."""
    found = formula.arguments[0] if is_rounded(formula) else formula  # type: ignore[union-attr]  # it is applied
    return found if isinstance(found, Affine) else None


# --- numbers that code computes with --------------------------------------------------------------


def _one_like(sample: Any) -> Any:
    """1 as a number of the type of another one."""
    return type(sample)(1)


@attrs.frozen(eq=False, repr=False)
class NoisyNumber(Placeholder):
    """A number of a run that is an expression in its draws.

    Args:
        path: the run.
        expression: what it is.
        sample: 1 in the type that it has: operations are run on it for the types of their results alone. No function of 1 is
            infinite or raises an error, which would be taken for an error of the code.
        error: how far doubles may be from it, by what of the data was rounded.
    """

    path: RandomPath
    expression: NoiseFormula
    sample: Any = attrs.field(converter=_one_like)
    error: Fraction = Fraction(0)

    __array_ufunc__ = None
    """numpy leaves its operators to this class."""

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """isinstance answers as for the number that it represents."""
        return type(self.sample)

    def retyped(self, sample: Any) -> NoisyNumber:
        """The same number as one of another type."""
        return drawn_number(self.path, self.expression, sample, self.error)

    # -- what its type holds ----------------------------------------------------------------------

    def check_width(self) -> None:
        """End the run where its type does not hold what it is; write down for how many records it does."""
        inside = _inside(self.expression)
        if inside is None:  # a function of what was checked before, whatever it does beyond
            return
        kind = type(self.sample)
        if kind in (np.int64, FloatOrInteger):
            self._check_integer(inside, np.int64)
        if isinstance(self.sample, float) and any(not noise.is_count for noise, _ in inside.terms):
            self.check_double(min(abs(factor) * scale_of(noise) for noise, factor in inside.terms if not noise.is_count))

    def _check_integer(self, inside: Affine, kind: type[np.integer[Any]]) -> None:
        span, ends = span_of(inside, alone=self.path.bound.alone), np.iinfo(kind)
        reason = f"numpy's {kind.__name__} wraps around"
        slack = 0 if inside is self.expression else 1
        for start, step, end, symbol in (
            (span.high, span.up, int(ends.max) - slack, span.highest),
            (-span.low, span.down, -int(ends.min) - slack, span.lowest),
        ):
            if start > end:
                self._refuse(f"may be beyond {end:,}, where {reason}")
            if step:
                self.path.bound.holds_up_to(math.floor((end - start) / step), symbol, reason)

    def check_double(self, scale: Fraction = Fraction(1)) -> None:
        """Record the rounding error bound of a double, before an operation on which the error has an effect: noise of a scale is
        added, or a function applied."""
        inside = _inside(self.expression)
        if inside is None or not isinstance(self.sample, float):
            return
        data = Affine(inside.constant, tuple(term for term in inside.terms if term[0].is_count))
        if data.terms:
            rounded, key = self.path.bound.rounded, (data, scale)
            rounded[key] = max(rounded.get(key, Fraction(0)), self.error)

    def _ends(self, formulas: Sequence[NoiseFormula | Plain]) -> dict[Affine, NumberRange]:
        """Between what the affine expressions inside some formulas lie."""
        bound = self.path.bound
        records = bound.most if bound.most is not None else math.inf if bound.alone else LONGEST_LIST
        found: dict[Affine, NumberRange] = {}
        for affine in (part for one in formulas for part in affine_of(one)):
            span = span_of(affine, alone=bound.alone)
            down, up = (records * step if step else Fraction(0) for step in (span.down, span.up))
            found[affine] = (span.low - down, span.high + up)
        return found

    def _check_domain(self, name: str, arguments: Sequence[NoiseFormula | Plain], sample: Any) -> None:
        """End the run where a function may have no value, and Python raises an error; numpy goes on with infinity or nan."""
        raises = not isinstance(sample, np.generic) or not _OBSERVED.isdisjoint(map(str, np.geterr().values()))
        if raises and not has_value(name, arguments, self._ends(arguments), self.path.conditions):
            advice = ": subtract the largest score first" if name == "exp" else ""
            self._refuse(f"was given to {name}, which may have no value there{advice}")

    def _check_finite(self) -> None:
        """End the run where it may be infinite or nan, and something asks for that."""
        if ends_of(self.expression, self._ends([self.expression])) is None:
            self._refuse("may be infinite or no number, and was compared with what is")

    def _converted(self) -> None:
        """Its value becomes an integer of 64 bits on the way."""
        inside = _inside(self.expression)
        if inside is not None:
            self._check_integer(inside, np.int64)

    def _lost(self, function: Callable[[Any, Any], Any], left: Any, right: Any, expression: NoiseFormula) -> Fraction:
        """How far the double of function(left, right) may be from it, by what of the data was rounded."""
        bound, errors, given = self.path.bound, [], (left, right)
        exact_quotient = function is operator.truediv and all(type(_plain(one)) is int for one in given)
        for one in given:
            error = one.error if type(one) is NoisyNumber else Fraction(0)
            inside = _inside(one.expression) if type(one) is NoisyNumber else None
            if inside is not None and not isinstance(one.sample, float) and not exact_quotient:
                error += rounding(inside, bound)
            errors.append(error)
        inside = _inside(expression)
        if inside is None:
            for one in given:
                if type(one) is NoisyNumber:
                    one.check_double()
            return Fraction(0)
        parts = [self._part(one) for one in given]
        if function is operator.mul and isinstance(parts[0], Affine) and isinstance(parts[1], Affine):
            errors = [errors[0] * abs(parts[1].constant), errors[1] * abs(parts[0].constant)]
            errors = [error for error, other in zip(errors, reversed(parts), strict=True) if not other.terms]  # type: ignore[union-attr]
        if function is operator.truediv and isinstance(parts[1], Affine) and parts[1].constant:
            errors = [errors[0] / abs(parts[1].constant)]
        read = [one for one in given if issubclass(type(one), float) and Fraction(float(one)) != reading(one)]
        size = span_of(inside, alone=bound.alone, drawn=False).largest(bound.seen) if read else Fraction(0)
        has_data = any(noise.is_count for noise, _ in inside.terms)
        return sum(errors, rounding(inside, bound)) + (size * UNIT if has_data else Fraction(0))

    def sight(self, kind: str = "") -> Hashable:
        return Hole(kind or _named(self.sample), self.expression)

    # -- questions --------------------------------------------------------------------------------

    def _compared(self, other: Any, relation: str, *, negated: bool = False, turned: bool = False) -> Any:
        """self < other or self = other, turned round and negated as is said."""
        if type(other) is Uniform:
            return _of_shares(other, self).compared(0, below=turned != negated, relation=relation)
        if type(other) is WeightedUniform:
            return NotImplemented
        if type(other) is np.ndarray and not other.ndim:
            return self._compared(other[()], relation, negated=negated, turned=turned)
        if type(other) is np.ndarray:
            flat = [self._compared(one, relation, negated=negated, turned=turned) for one in other.ravel()]
            return np.array(flat, dtype=np.bool_).reshape(other.shape).copy()  # an array of its own, as numpy's
        sample = other.sample if type(other) is NoisyNumber else other
        if type(sample) not in (*_NUMBERS, bool, np.bool_, Fraction):
            self._refuse(f"was compared with {type(sample).__name__}")
        if isinstance(sample, float) and not math.isfinite(sample):
            self._check_finite()
        if isinstance(sample, float) and math.isnan(sample):  # every comparison with it fails, but that it differs
            answer = relation != "eq" and negated
        elif isinstance(sample, float) and math.isinf(sample):
            answer = relation == "lt" and (sample > 0) != turned
        else:
            answer = self._asked(other, relation, turned=turned)
        answer = answer != negated
        return np.bool_(answer) if isinstance(self.sample, np.generic) or isinstance(sample, np.generic) else answer

    def _asked(self, other: Any, relation: str, *, turned: bool) -> bool:
        pair = (other, self) if turned else (self, other)
        if type(other) in (int, float) and other == 0 and self._is_sum_of_weights():
            return turned and relation == "lt"
        for one in pair:
            if type(one) is NoisyNumber:
                one.check_double()
        left = difference(*(self._part(one) for one in pair))
        if isinstance(left, Affine) and not left.terms:
            return left.constant < 0 if relation == "lt" else left.constant == 0
        whole = all(type(one.sample if type(one) is NoisyNumber else one) in (int, np.int64, bool, np.bool_) for one in pair)
        exact = whole or (relation == "lt" and all(map(_is_exact, pair)))
        if relation == "eq" and not whole and isinstance(left, Affine):
            self._refuse("was compared with ==, which holds with probability 0 or that of a rounding")
        symbols = [noise for part in affine_of(left) for noise, _ in part.terms]
        if all(noise.is_count for noise in symbols):
            inside = self.path.counting or self.path.tally is not None  # for each entry, of which only the kind is known
            if inside or not (exact and isinstance(left, Affine)) or any(noise.kind == STATISTIC for noise in symbols):
                self._refuse("was compared, which depends on the data alone")
            if sum(map(is_about_data, self.path.conditions)) == MOST_DECISIONS:
                self._refuse(f"was compared, which depends on the data alone, after {MOST_DECISIONS} such comparisons")
        known = implied(self.path.conditions, left, relation)
        if known is not None:
            return known
        answer = self.path.branch(2) == 0
        self.path.conditions.append(Condition(left, relation, answer))
        return answer

    def _is_sum_of_weights(self) -> bool:
        """Whether it is a sum of weights e^a, which is not 0 in doubles either."""
        weights = summands(self.expression)
        plain = all(isinstance(one, Applied) and one.function == "exp" for one in weights)
        return bool(weights) and plain and scores_of_weights(weights, self.path.bound.most, self) is not None

    def best_of(self, numbers: Sequence[NoisyNumber], *, least: bool) -> int:
        """The place of the largest of several numbers, or the smallest: one choice, and all it says of the others.

        Which of them are larger than which does not matter; two that are surely never equal are compared one by one.
        """
        differences = [
            [difference(*((one, two) if least else (two, one))) for two in map(_formula, numbers)]
            for one in map(_formula, numbers)
        ]
        plain = [part for i, row in enumerate(differences) for j, part in enumerate(row) if i != j]
        if not all(isinstance(part, Affine) and any(noise.kind in CONTINUOUS for noise, _ in part.terms) for part in plain):
            return one_by_one(numbers, least=least)
        place = self.path.branch(len(numbers))
        for other, left in enumerate(differences[place]):
            if other != place:
                self.path.conditions.append(Condition(left, "lt", holds=True))
        return place

    def __lt__(self, other: Any) -> Any:
        return self._compared(other, "lt")

    def __ge__(self, other: Any) -> Any:
        return self._compared(other, "lt", negated=True)

    def __gt__(self, other: Any) -> Any:
        return self._compared(other, "lt", turned=True)

    def __le__(self, other: Any) -> Any:
        return self._compared(other, "lt", turned=True, negated=True)

    def __eq__(self, other: object) -> Any:
        return self._compared(other, "eq")

    def __ne__(self, other: object) -> Any:
        return self._compared(other, "eq", negated=True)

    def __hash__(self) -> NoReturn:  # noqa: PLE0309
        self._refuse("was hashed")

    def __bool__(self) -> bool:
        return bool(self._compared(0, "eq", negated=True))

    # -- arithmetic -------------------------------------------------------------------------------

    def _part(self, value: Any) -> NoiseFormula:
        """An operand as an expression."""
        if type(value) is NoisyNumber:
            return value.expression
        found = reading(value)
        if found is None:
            self._refuse(f"was used in a computation with {type(value).__name__}")
        return Affine(found)

    def _combined(self, function: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
        """function(left, right), one of which this number is."""
        if type(left) is Uniform and function is operator.sub:
            return _of_shares(left, self)
        if Uniform in (type(left), type(right)) and function is operator.mul:
            return WeightedUniform(right if type(right) is Uniform else left, self, self.expression, ())
        if any(type(one) is np.ndarray and not one.ndim for one in (left, right)):  # numpy makes a number of it
            return function(*(one[()] if type(one) is np.ndarray else one for one in (left, right)))
        for one, turned in ((left, False), (right, True)):
            if type(one) is np.ndarray or (type(one) is list and self._makes_array_of(one)):
                other, listed = left if turned else right, one if isinstance(one, list) else one.ravel()
                shape = (len(one),) if isinstance(one, list) else one.shape
                return array_of([function(other, part) if turned else function(part, other) for part in listed], shape)
        sample = _sample_of(function, *map(_plain, (left, right)))
        expression = arithmetic(function, self._part(left), self._part(right))
        if type(sample) in (np.int64, FloatOrInteger):
            for one in (left, right):
                if type(one) is NoisyNumber and type(one.sample) is int:
                    one._converted()
        divides_by_weights = function is operator.truediv and type(right) is NoisyNumber and right._is_sum_of_weights()
        if isinstance(expression, Applied) and expression.function in _PARTIAL and not divides_by_weights:
            self._check_domain(expression.function, expression.arguments, sample)
        error = self._lost(function, left, right, expression) if isinstance(sample, float) else Fraction(0)
        return self._made(expression, sample, error)

    def _makes_array_of(self, values: list[Any]) -> bool:
        """Whether numpy computes with a list of numbers as an array, since this number is a double of numpy's."""
        return type(self.sample) is np.float64 and all(type(one) in (float, np.float64, NoisyNumber) for one in values)

    def _made(self, expression: NoiseFormula, sample: Any, error: Fraction = Fraction(0)) -> Any:
        if type(sample) not in _NUMBERS:
            self._refuse(f"became a {type(sample).__name__}")
        if isinstance(expression, Affine):
            self._check_size(expression)
            if not expression.terms and type(sample) is int and expression.constant.denominator == 1:
                return int(expression.constant)  # integers of Python are exact
            if not expression.terms:
                self._refuse("was taken away from itself, which leaves last digits")
        return drawn_number(self.path, expression, sample, error)

    def _check_size(self, expression: Affine) -> None:
        sizes = [abs(expression.constant), *(abs(factor) * (noise.size or 1) for noise, factor in expression.terms)]
        if any(size and not 1 / LARGEST <= size <= LARGEST for size in sizes):
            self._refuse("was scaled so far that doubles end")
        drawn = [(noise, factor) for noise, factor in expression.terms if not noise.is_count]
        sizes = [abs(factor) * (noise.size if noise.kind != "geometric" else 1) for noise, factor in drawn]
        if sizes and not all(Fraction(1, 1 << 60) < size for size in sizes):
            self._refuse("was scaled so far that the rounding of doubles matters")
        if sizes and abs(expression.constant) > _FARTHEST * min(sizes):
            self._refuse("was added to a number so large that the rounding of doubles matters")

    def __add__(self, other: Any) -> Any:
        return self._combined(operator.add, self, other)

    def __radd__(self, other: Any) -> Any:
        return self._combined(operator.add, other, self)

    def __sub__(self, other: Any) -> Any:
        return self._combined(operator.sub, self, other)

    def __rsub__(self, other: Any) -> Any:
        return self._combined(operator.sub, other, self)

    def __mul__(self, other: Any) -> Any:
        return self._combined(operator.mul, self, other)

    def __rmul__(self, other: Any) -> Any:
        return self._combined(operator.mul, other, self)

    def __truediv__(self, other: Any) -> Any:
        return self._combined(operator.truediv, self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return self._combined(operator.truediv, other, self)

    def __floordiv__(self, other: Any) -> Any:
        return self._combined(operator.floordiv, self, other)

    def __mod__(self, other: Any) -> Any:
        return self._combined(operator.mod, self, other)

    def __pow__(self, other: Any) -> Any:
        return self._combined(operator.pow, self, other)

    def __neg__(self) -> Any:
        return self._combined(operator.mul, -1 if isinstance(self.sample, (int, np.integer)) else -1.0, self)

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        return -self if self < 0 else self

    def applied(self, function: Callable[..., Any], name: str, arguments: Sequence[Any]) -> Any:
        """function(*arguments) of a known function, which this number is among."""
        sample = function(*(one.sample if type(one) is NoisyNumber else one for one in arguments))
        parts = tuple(one.expression if type(one) is NoisyNumber else self._beside(one) for one in arguments)
        same = name == "float" or (name == "int" and isinstance(self.sample, (int, np.integer)))
        whole = name in ("int", "float") and is_rounded(self.expression)
        unchanged = isinstance(self.expression, Affine) or (name == "float" and isinstance(self.sample, float))
        if len(parts) == 1 and (whole or (same and unchanged)):
            inside = _inside(self.expression)
            lost = isinstance(sample, float) and not isinstance(self.sample, float) and inside is not None
            return self._made(self.expression, sample, self.error + rounding(inside, self.path.bound) if lost else self.error)  # type: ignore[arg-type]
        for one in arguments:
            if type(one) is NoisyNumber:
                one.check_double()
        self._check_domain(name, parts, sample)
        return self._made(Applied(name, parts), sample)

    def _beside(self, value: Any) -> Plain:
        if type(value) not in _NUMBERS:
            self._refuse(f"was used in a computation with {type(value).__name__}")
        return Plain(_named(value), value.item() if isinstance(value, np.generic) else value)

    def _number(self, *_: Any) -> NoReturn:
        self._refuse("was used as a number")

    __float__ = __int__ = __index__ = __complex__ = __trunc__ = __floor__ = __ceil__ = __round__ = _number
    __rpow__ = __rfloordiv__ = __rmod__ = __divmod__ = __rdivmod__ = _number

    def _text(self, *_: Any) -> NoReturn:
        self._refuse("was written as text")

    __str__ = __repr__ = __format__ = __reduce_ex__ = __dir__ = _text

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        self._refuse(f"was asked for {name}")

    def _refuse(self, what: str) -> NoReturn:
        self.path.refuse(
            NotEnumerableError(
                "noise",
                f"{what}, where its law cannot be read off",
                "add, scale, round, compare and return it; other uses are sampled",
            )
        )


def drawn_number(path: RandomPath, expression: NoiseFormula, sample: Any, error: Fraction = Fraction(0)) -> NoisyNumber:
    """A number of a run that its type holds; else the run ends."""
    found = NoisyNumber(path, expression, sample, error)
    found.check_width()
    return found


def _is_exact(value: Any) -> bool:
    """Whether a double of the data, or a number, is what it is read as: no digit was lost on the way, nor is one here."""
    if type(value) is not NoisyNumber:
        return type(value) in (int, float, np.int64, np.float64) and Fraction(value) == reading(value)
    plain = isinstance(value.expression, Affine) and not value.error
    return plain and not rounding(value.expression, value.path.bound)  # type: ignore[arg-type]  # it is affine


def _plain(value: Any) -> Any:
    """A number of the type that a value has."""
    return value.sample if type(value) is NoisyNumber else value


def _sample_of(function: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    """function(left, right), of the type that it has whatever the entries of the dataset are."""
    found = function(*(np.float64(one) if type(one) is FloatOrInteger else one for one in (left, right)))
    if FloatOrInteger not in (type(left), type(right)) or function not in (operator.add, operator.sub, operator.mul):
        return found
    decided = any(isinstance(one, float) and type(one) not in (FloatOrInteger, FloatOrZero) for one in (left, right))
    return found if decided else FloatOrInteger(found)


def _formula(number: NoisyNumber) -> NoiseFormula:
    return number.expression


def one_by_one(numbers: Sequence[Any], *, least: bool) -> int:
    """The first place of the largest number, or the smallest, by comparing each with the best before it."""
    best = 0
    for place, one in enumerate(numbers[1:], start=1):
        if one < numbers[best] if least else one > numbers[best]:
            best = place
    return best


# --- probabilities that are weights of an exponential mechanism -----------------------------------


LARGEST_SCORE = 700
"""Where e^a stays a double, and sums of a few."""


def scores_of(probabilities: Sequence[Any], largest: int | None) -> list[Affine] | None:
    """The numbers a_i of probabilities e^(a_i) / sum of e^(a_j), up to a common constant; None for probabilities of another form.

    Weights that no double holds end the run: of scores that may be large, the largest has to be subtracted first.

    Args:
        probabilities: the probabilities.
        largest: an upper bound on a number of the dataset, or on its opposite; None without a limit.
    """
    formulas = [one.expression for one in probabilities if type(one) is NoisyNumber]
    quotients = [one.arguments for one in formulas if isinstance(one, Applied) and one.function == "truediv"]
    if len(quotients) < len(probabilities) or len({whole for _, whole in quotients}) > 1:
        return None
    weights = [weight for weight, _ in quotients]
    if Counter(weights) != Counter(summands(quotients[0][1])):
        return None
    return scores_of_weights(weights, largest, probabilities[0])


def scores_of_weights(weights: Sequence[NoiseFormula | Plain], largest: int | None, made: NoisyNumber) -> list[Affine] | None:
    """The numbers a_i of weights e^(a_i), up to a number that all share; None for weights of another form.

    Args:
        weights: the weights.
        largest: as of `scores_of`.
        made: a number of the run, which ends where no double holds the weights.
    """
    found = [_linear(one.arguments[0]) for one in weights if isinstance(one, Applied) and one.function == "exp"]
    if not found or len(found) < len(weights) or any(rest != found[0][1] for _, rest in found):
        return None
    scores, rest = [score for score, _ in found], found[0][1]
    sizes = [abs(one.constant) + sum(abs(factor) for _, factor in one.terms) * (largest or 0) for one in scores]
    if not _less_their_largest(scores, rest) and (rest or largest is None or max(sizes) > LARGEST_SCORE):
        made._refuse("became a weight that no double holds where scores are large: subtract the largest score first")
    return scores


_RACES = 1 << 20
"""Draws that represent choices have numbers from here on: no run of the code draws them."""


def winner_of(path: RandomPath, scores: Sequence[Affine]) -> int:
    """A place that is chosen by weights e^(a_i): that of the largest a_i with Gumbel noise (Yellott 1977)."""
    racing = []
    for score in scores:
        path.races += 1
        noise = NoiseDraw(_RACES + path.races, "gumbel", Fraction(1))
        racing.append(NoisyNumber(path, score.plus(Affine(Fraction(0), ((noise, Fraction(1)),))), np.float64(1)))
    return racing[0].best_of(racing, least=False)


def _less_their_largest(scores: Sequence[Affine], rest: Mapping[Hashable, Fraction]) -> bool:
    """Whether the largest of them is subtracted from all."""
    if len(rest) != 1:
        return False
    ((atom, factor),) = rest.items()
    if not isinstance(atom, Applied) or atom.function != "max" or factor >= 0:
        return False
    subtracted = [one.scaled(-factor) for one in atom.arguments if isinstance(one, Affine)]
    return len(subtracted) == len(atom.arguments) and Counter(subtracted) == Counter(scores)


def summands(formula: NoiseFormula | Plain) -> list[NoiseFormula | Plain]:
    """What is added up in it, without zeros."""
    if isinstance(formula, Applied) and formula.function == "add":
        return [part for one in formula.arguments for part in summands(one)]
    return [] if formula == Affine(Fraction(0)) else [formula]


def _linear(formula: NoiseFormula | Plain) -> tuple[Affine, dict[Hashable, Fraction]]:
    """It as an affine part and multiples of what is not affine."""
    if isinstance(formula, Affine):
        return formula, {}
    if isinstance(formula, Applied) and len(formula.arguments) == 2 and formula.function in ARITHMETIC:
        (one, rest), (other, more) = map(_linear, formula.arguments)
        plain = [not (part.terms or left) for part, left in ((one, rest), (other, more))]
        if formula.function in ("add", "sub"):
            sign = Fraction(1 if formula.function == "add" else -1)
            return one.plus(other, sign), _plus(rest, more, sign)
        if formula.function == "mul" and any(plain):
            factor, (part, left) = (one.constant, (other, more)) if plain[0] else (other.constant, (one, rest))
            return part.scaled(factor), _plus({}, left, factor)
        if formula.function == "truediv" and plain[1] and other.constant:
            return one.scaled(1 / other.constant), _plus({}, rest, 1 / other.constant)
    return Affine(Fraction(0)), {formula: Fraction(1)}


def _plus(one: dict[Hashable, Fraction], other: dict[Hashable, Fraction], times: Fraction) -> dict[Hashable, Fraction]:
    found = {key: one.get(key, Fraction(0)) + times * other.get(key, Fraction(0)) for key in (*one, *other)}
    return {key: factor for key, factor in found.items() if factor}


_BESIDE = Fraction(1, 1 << 50)
"""The probability that doubles miss the last of some weights, where code goes on as if it was none of them."""


@attrs.define(eq=False)
class _ChosenWeight:
    """What a uniform number says of weights on a line of their total length: in which of them it lies.

    Args:
        weights: the weights.
        winner: the place of the one, chosen by their sizes.
        below: sets of places, each within the next, whose comparisons were recorded.
    """

    weights: list[NoiseFormula | Plain]
    winner: int
    below: list[frozenset[int]]

    def is_in(self, part: Sequence[NoiseFormula | Plain]) -> bool | None:
        """Whether the chosen one is among some of them; None where these are not the first ones of any order of all."""
        asked, kinds = Counter(part), [Counter(self.weights[place] for place in one) for one in self.below]
        inside = next((one for one, kind in zip(self.below[::-1], kinds[::-1], strict=True) if kind <= asked), frozenset[int]())
        around = next((one for one, kind in zip(self.below, kinds, strict=True) if asked <= kind), None)
        if around is None or any(not (kind <= asked or asked <= kind) for kind in kinds):
            return None
        left = asked - Counter(self.weights[place] for place in inside)
        found = set(inside)
        for place in sorted(around - inside):
            if left[self.weights[place]] > 0:
                left[self.weights[place]] -= 1
                found.add(place)
        self.below = sorted({*self.below, frozenset(found)}, key=len)
        return self.winner in found


@attrs.frozen(eq=False, repr=False)
class WeightedUniform:
    """U T - S for a uniform number U between 0 and 1, a sum T of weights e^a, and some of these weights S.

    Compared with sums of some of the weights, which are the first ones of one order of all, it says which weight U T lies in: a
    choice by weights.

    Args:
        uniform: U.
        made: a number of the run.
        total: T.
        less: S.
    """

    uniform: Uniform
    made: NoisyNumber
    total: NoiseFormula | Plain
    less: tuple[NoiseFormula | Plain, ...]

    __array_ufunc__ = None
    """numpy leaves its operators to this class."""

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """Called by isinstance alone, which would otherwise not recognise it as a float."""
        self._refuse()

    def compared(self, other: Any, *, below: bool, relation: str = "lt") -> Any:
        """Whether it is below another number, or is not: which of them, equal it is with probability 0."""
        if type(other) is np.ndarray and other.ndim == 1:
            return np.array([bool(self.compared(one, below=below)) for one in other], dtype=np.bool_)
        plain = type(other) in (int, float) and other == 0
        if relation != "lt" or (type(other) is not NoisyNumber and not plain):
            self._refuse()
        part = self.less if plain else (*self.less, *summands(other.expression))
        of_numpy = self.uniform.scalar or isinstance(self.made.sample, np.generic)
        answer = self._is_below(part) is below
        return np.bool_(answer) if of_numpy else answer

    def _is_below(self, part: Sequence[NoiseFormula | Plain]) -> bool:
        """U T < the sum of some weights."""
        path, draw, weights = self.made.path, self.uniform.draw, summands(self.total)
        if not self.uniform.is_between_0_and_1() or self.uniform.scale != 1:
            self._refuse()
        if draw.taken is None:
            scores = scores_of_weights(weights, path.bound.most, self.made)
            if scores is None:
                self._refuse()
            places = frozenset(range(len(weights)))
            self.uniform.make(_ChosenWeight(weights, winner_of(path, scores), [frozenset(), places]))
        if Counter(part) == Counter(weights):  # doubles may come to a sum that is less than T: that does not go unseen
            return path.choose([1 - _BESIDE, _BESIDE]) == 0
        chosen = draw.taken
        answer = chosen.is_in(part) if type(chosen) is _ChosenWeight and chosen.weights == weights else None
        if answer is None:
            self._refuse()
        return answer

    def __lt__(self, other: Any) -> Any:
        return self.compared(other, below=True)

    def __gt__(self, other: Any) -> Any:
        return self.compared(other, below=False)

    __le__, __ge__ = __lt__, __gt__

    def __sub__(self, other: Any) -> WeightedUniform:
        if type(other) is not NoisyNumber:
            self._refuse()
        return WeightedUniform(self.uniform, self.made, self.total, (*self.less, *summands(other.expression)))

    def _refuse(self, *_: Any) -> NoReturn:
        self.made._refuse("was a sum of weights that a uniform number is compared with, and used in another way")

    __eq__ = __ne__ = __hash__ = __bool__ = __float__ = __int__ = __index__ = __complex__ = __round__ = __floor__ = _refuse
    __add__ = __radd__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __neg__ = __abs__ = __pow__ = _refuse
    __floordiv__ = __mod__ = __str__ = __repr__ = __format__ = __reduce_ex__ = _refuse

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        self._refuse()


def _of_shares(uniform: Uniform, shares: NoisyNumber) -> WeightedUniform:
    """U - (w_1 / T + w_2 / T + ...) as (U T - w_1 - w_2 - ...) / T, which has the same sign."""
    quotients = [
        one.arguments if isinstance(one, Applied) and one.function == "truediv" else None for one in summands(shares.expression)
    ]
    totals = {one[1] for one in quotients if one is not None}
    if None in quotients or len(totals) != 1:
        shares._refuse("was compared with a uniform number")
    less = tuple(part for one in quotients if one is not None for part in summands(one[0]))
    return WeightedUniform(uniform, shares, totals.pop(), less)


MOST_DECISIONS = 12
"""Comparisons of counts in one run: each may double the regions of datasets in which code decides alike."""


def largest_of_counts(parts: Sequence[Any], *, least: bool) -> NoisyNumber | None:
    """max or min of numbers that depend on the data alone, which may not be compared; None for others."""
    drawn = [part for part in parts if type(part) is NoisyNumber]
    kinds = {type(part.sample if type(part) is NoisyNumber else part) for part in parts}
    inside = [noise for part in drawn for affine in affine_of(part.expression) for noise, _ in affine.terms]
    if len(parts) < 2 or not drawn or len(kinds) > 1 or not all(noise.is_count and noise.kind != STATISTIC for noise in inside):
        return None
    formulas = tuple(drawn[0]._part(part) for part in parts)
    return drawn_number(drawn[0].path, Applied("min" if least else "max", formulas), drawn[0].sample)


def _named(sample: Any) -> str:
    return f"np.{type(sample).__name__}" if isinstance(sample, np.generic) else type(sample).__name__


_HELD = (np.float64, np.int64, np.bool_)
"""Types of the numbers of an array that are no symbols."""


def array_of(parts: Sequence[Any], shape: tuple[int, ...]) -> Any:
    """An array of drawn numbers, and of plain ones as doubles; where all are plain, one of their type."""
    if parts and all(type(part) in _HELD for part in parts):
        return np.array(parts).reshape(shape).copy()
    found = np.empty(len(parts), dtype=object)
    for place, part in enumerate(parts):
        found[place] = part
    return found.reshape(shape).copy()  # an array of its own, as numpy's


def difference_of(left: Any, right: Any) -> NoiseFormula:
    """The expression of left - right, of which one is a drawn number at least."""
    made = left if type(left) is NoisyNumber else right
    return difference(made._part(left), made._part(right))
