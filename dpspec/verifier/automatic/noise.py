"""Noise as a symbol: the numbers that plain code computes with, which stand for formulas of independent draws.

`rng.laplace()` has infinitely many values, but code that only adds, rounds, compares and returns what it drew needs none of them.
A `NoisyNumber` stands for a formula (`dpspec.verifier.automatic.formulas`). Comparing two of them is a choice of the run whose
condition is written down. The type of each number is that of a sample, on which the same operations are run.
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

from dpspec.base.errors import NotEnumerableError
from dpspec.verifier.automatic.formulas import (
    ARITHMETIC,
    CONTINUOUS,
    Affine,
    Applied,
    Condition,
    Hole,
    NoiseFormula,
    Plain,
    affine_of,
    arithmetic,
    difference,
    implied,
    is_rounded,
    reading,
)
from dpspec.verifier.automatic.path import RandomPath
from dpspec.verifier.observed import Placeholder

LARGEST = Fraction(1 << 100)
"""Numbers beyond, or below its inverse, may leave the range of doubles when many are summed up or multiplied."""
_FARTHEST = Fraction(1 << 30)
"""An answer farther from 0 than so many sizes of its noise has lost last bits of the noise to rounding."""


class FloatOrZero(float):
    """A sample of a sum of floats, which is the integer 0 when there is nothing to sum."""

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


_NUMBERS = (float, np.float64, int, np.int64, FloatOrZero)


# --- numbers that code computes with --------------------------------------------------------------


@attrs.frozen(eq=False, repr=False)
class NoisyNumber(Placeholder):
    """A number of a run that is an expression in its draws.

    Args:
        path: the run.
        expression: what it is.
        sample: a number of the type that it has, made by the same operations.
    """

    path: RandomPath
    expression: NoiseFormula
    sample: Any

    __array_ufunc__ = None
    """numpy leaves its operators to this class."""

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """isinstance answers as for the number that it stands for."""
        return type(self.sample)

    def retyped(self, sample: Any) -> NoisyNumber:
        """The same number as one of another type."""
        return NoisyNumber(self.path, self.expression, sample)

    def sight(self, kind: str = "") -> Hashable:
        return Hole(kind or _named(self.sample), self.expression)

    # -- questions --------------------------------------------------------------------------------

    def _compared(self, other: Any, relation: str, *, negated: bool = False, turned: bool = False) -> Any:
        """self < other or self = other, turned round and negated as is said."""
        if type(other) is np.ndarray:
            flat = [self._compared(one, relation, negated=negated, turned=turned) for one in other.ravel()]
            return np.array(flat, dtype=np.bool_).reshape(other.shape)
        sample = other.sample if type(other) is NoisyNumber else other
        if type(sample) not in (*_NUMBERS, bool, np.bool_, Fraction):
            self._refuse(f"was compared with {type(sample).__name__}")
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
        left = difference(*(self._part(one) for one in pair))
        if isinstance(left, Affine) and not left.terms:
            return left.constant < 0 if relation == "lt" else left.constant == 0
        whole = all(type(one.sample if type(one) is NoisyNumber else one) in (int, np.int64, bool, np.bool_) for one in pair)
        if relation == "eq" and not whole and isinstance(left, Affine):
            self._refuse("was compared with ==, which holds with probability 0 or that of a rounding")
        if all(noise.is_count for part in affine_of(left) for noise, _ in part.terms):
            self._refuse("was compared, which depends on the data alone")
        known = implied(self.path.conditions, left, relation)
        if known is not None:
            return known
        answer = self.path.branch(2) == 0
        self.path.conditions.append(Condition(left, relation, answer))
        return answer

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
        for one, turned in ((left, False), (right, True)):
            if type(one) is np.ndarray:
                other = right if one is left else left
                parts = [function(other, part) if turned else function(part, other) for part in one.ravel()]
                return array_of(parts, one.shape)
        sample = function(*(one.sample if type(one) is NoisyNumber else one for one in (left, right)))
        expression = arithmetic(function, self._part(left), self._part(right))
        return self._made(expression, sample)

    def _made(self, expression: NoiseFormula, sample: Any) -> Any:
        if type(sample) not in _NUMBERS:
            self._refuse(f"became a {type(sample).__name__}")
        if isinstance(expression, Affine):
            self._check_size(expression)
            if not expression.terms:
                self._refuse("was taken away from itself, which leaves last digits")
        return NoisyNumber(self.path, expression, sample)

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
        if len(parts) == 1 and (whole or (same and isinstance(self.expression, Affine))):
            return self._made(self.expression, sample)
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


def _formula(number: NoisyNumber) -> NoiseFormula:
    return number.expression


def one_by_one(numbers: Sequence[Any], *, least: bool) -> int:
    """The first place of the largest number, or the smallest, by comparing each with the best before it."""
    best = 0
    for place, one in enumerate(numbers[1:], start=1):
        if one < numbers[best] if least else one > numbers[best]:
            best = place
    return best


# --- chances that are weights of an exponential mechanism -----------------------------------------


LARGEST_SCORE = 700
"""Where e^a stays a double, and sums of a few."""


def scores_of(chances: Sequence[Any], largest: int | None) -> list[Affine] | None:
    """The numbers a_i of chances e^(a_i) / sum of e^(a_j), up to a number that all share; None for chances of another form.

    Weights that no double holds end the run: of scores that may be large, the largest has to be subtracted first.

    Args:
        chances: the chances.
        largest: how large a number of the dataset may be at most, or its opposite; None without a limit.
    """
    formulas = [one.expression for one in chances if type(one) is NoisyNumber]
    quotients = [one.arguments for one in formulas if isinstance(one, Applied) and one.function == "truediv"]
    if len(quotients) < len(chances) or len({whole for _, whole in quotients}) > 1:
        return None
    weights = [weight for weight, _ in quotients]
    if Counter(weights) != Counter(_summands(quotients[0][1])):
        return None
    found = [_linear(one.arguments[0]) for one in weights if isinstance(one, Applied) and one.function == "exp"]
    if len(found) < len(weights) or any(rest != found[0][1] for _, rest in found):
        return None
    scores, rest = [score for score, _ in found], found[0][1]
    sizes = [abs(one.constant) + sum(abs(factor) for _, factor in one.terms) * (largest or 0) for one in scores]
    if not _less_their_largest(scores, rest) and (rest or largest is None or max(sizes) > LARGEST_SCORE):
        made: NoisyNumber = chances[0]
        made._refuse("became a weight that no double holds where scores are large: subtract the largest score first")
    return scores


def _less_their_largest(scores: Sequence[Affine], rest: Mapping[Hashable, Fraction]) -> bool:
    """Whether the largest of them is subtracted from all."""
    if len(rest) != 1:
        return False
    ((atom, factor),) = rest.items()
    if not isinstance(atom, Applied) or atom.function != "max" or factor >= 0:
        return False
    subtracted = [one.scaled(-factor) for one in atom.arguments if isinstance(one, Affine)]
    return len(subtracted) == len(atom.arguments) and Counter(subtracted) == Counter(scores)


def _summands(formula: NoiseFormula | Plain) -> list[NoiseFormula | Plain]:
    """What is added up in it, without zeros."""
    if isinstance(formula, Applied) and formula.function == "add":
        return [part for one in formula.arguments for part in _summands(one)]
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


def largest_of_counts(parts: Sequence[Any], *, least: bool) -> NoisyNumber | None:
    """max or min of numbers that the data alone decide, which nobody may ask about; None for others."""
    drawn = [part for part in parts if type(part) is NoisyNumber]
    kinds = {type(part.sample if type(part) is NoisyNumber else part) for part in parts}
    inside = [noise for part in drawn for affine in affine_of(part.expression) for noise, _ in affine.terms]
    if len(parts) < 2 or not drawn or len(kinds) > 1 or not all(noise.is_count for noise in inside):
        return None
    formulas = tuple(drawn[0]._part(part) for part in parts)
    return NoisyNumber(drawn[0].path, Applied("min" if least else "max", formulas), drawn[0].sample)


def _named(sample: Any) -> str:
    return f"np.{type(sample).__name__}" if isinstance(sample, np.generic) else type(sample).__name__


def array_of(parts: Sequence[Any], shape: tuple[int, ...]) -> Any:
    """An array of drawn numbers, and of plain ones as doubles."""
    found = np.empty(len(parts), dtype=object)
    for place, part in enumerate(parts):
        found[place] = part
    return found.reshape(shape)


def difference_of(left: Any, right: Any) -> NoiseFormula:
    """The expression of left - right, of which one is a drawn number at least."""
    made = left if type(left) is NoisyNumber else right
    return difference(made._part(left), made._part(right))
