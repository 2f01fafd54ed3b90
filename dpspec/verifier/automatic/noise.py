"""NoiseDraw as a symbol: numbers of plain code that are functions of independent continuous or endless draws.

`rng.laplace()` has infinitely many values, but code that only adds, rounds, compares and returns what it drew needs none of them.
A `NoisyNumber` number stands for an expression in independent draws W_1, W_2, ... with known laws:

    affine     c + a_1 W_1 + a_2 W_2 + ...      with exact rational numbers
    applied    f(e_1, e_2, ...)                 for a known function f, such as round, exp or a quotient

Comparing two of them is a choice of the run whose condition is written down. So the runs of a sampler are the leaves of a
tree: each with its conditions, and an output with expressions in its places (`TreeEnd`). What such trees say about the law is in
`dpspec.verifier.automatic.aligned`.

A parameter that is a double is a real number. One that prints with at most 12 digits is that decimal; one that was computed and
lies within 8 units in the last place of a fraction with a denominator up to 1,000 is that fraction; any other is the double
itself. The type of each number is that of a sample, on which the same operations are run.
"""

from __future__ import annotations

import math
import operator
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any, NoReturn

import attrs
import numpy as np

from dpspec.base.errors import NotEnumerableError
from dpspec.verifier.automatic.path import RandomPath, exact
from dpspec.verifier.observed import Observed, Placeholder

_SIMPLE = 1_000
_ULPS = 8
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


def reading(value: Any) -> Fraction | None:
    """A number of the code as the rational that it is read as; None for what is none.

    >>> reading(0.1), reading(1 / 0.3), reading(math.sqrt(2)) == Fraction(math.sqrt(2))
    (Fraction(1, 10), Fraction(10, 3), True)
    """
    if isinstance(value, np.generic):
        if value.dtype.char not in "?bBhHiIlLqQd":
            return None
        value = value.item()
    if type(value) is float and math.isfinite(value):
        typed = exact(value)
        if isinstance(typed, Fraction):
            return typed
        simple = Fraction(value).limit_denominator(_SIMPLE)
        near = abs(simple - Fraction(value)) <= abs(Fraction(value)) * Fraction(_ULPS, 1 << 53)
        return simple if near else Fraction(value)
    found = exact(value)
    return found if isinstance(found, Fraction) else None


@attrs.frozen(order=True, cache_hash=True)
class NoiseDraw:
    """One independent draw, centered at 0, or an unknown number of the dataset.

    Args:
        number: which draw of the run it is; negative for a number of the dataset.
        kind: the method of numpy's Generator, or `count`, or `sampled count`.
        size: its scale; the variance of `normal`, the success probability of `geometric`.
    """

    number: int
    kind: str
    size: Fraction

    @property
    def is_count(self) -> bool:
        """Whether it is no draw but an unknown number of the dataset, or of a sample of it."""
        return self.kind in (COUNT, SAMPLED)


COUNT = "count"
SAMPLED = "sampled count"
"""The number of entries of a kind in a sample, each there by itself with a probability that is its size."""
CONTINUOUS = frozenset({"laplace", "normal", "exponential", "gumbel"})


def variance_of(deviation: Any) -> Fraction | None:
    """The square of a standard deviation, read as the fraction that it is the root of where there is one.

    >>> variance_of(2.0), variance_of(math.sqrt(2))
    (Fraction(4, 1), Fraction(2, 1))
    """
    read = reading(deviation)
    if read is None or read.denominator <= _SIMPLE or exact(deviation) == read:
        return None if read is None else read**2
    square = (read**2).limit_denominator(_SIMPLE)
    return square if abs(square - read**2) <= square * Fraction(2 * _ULPS, 1 << 53) else read**2


NoiseTerms = tuple[tuple[NoiseDraw, Fraction], ...]


@attrs.frozen
class Affine:
    """constant + sum of a_i W_i, the a_i other than 0."""

    constant: Fraction
    terms: NoiseTerms = ()

    def plus(self, other: Affine, times: Fraction = Fraction(1)) -> Affine:
        """self + times other."""
        found = dict(self.terms)
        for noise, factor in other.terms:
            found[noise] = found.get(noise, Fraction(0)) + times * factor
        return Affine(self.constant + times * other.constant, tuple(sorted((n, f) for n, f in found.items() if f)))

    def scaled(self, factor: Fraction) -> Affine:
        """factor times it."""
        return Affine(Fraction(0)).plus(self, factor)

    def joined(self, first: NoiseDraw, second: NoiseDraw, together: NoiseDraw) -> Affine:
        """The same with one draw in the place of two, which it holds in one ratio."""
        terms = dict(self.terms)
        factor = terms.pop(first, None)
        terms.pop(second, None)
        if factor is not None:
            terms[together] = factor
        return Affine(self.constant, tuple(sorted(terms.items())))


@attrs.frozen
class Plain:
    """A number beside expressions, with its type."""

    kind: str
    value: float


@attrs.frozen
class Applied:
    """A known function of expressions and of plain numbers."""

    function: str
    arguments: tuple[Affine | Applied | Plain, ...]


NoiseFormula = Affine | Applied


@attrs.frozen
class Condition:
    """An expression compared with 0, and how it turned out.

    Args:
        left: the expression.
        relation: `lt` for left < 0; `eq` for left = 0.
        holds: whether it does.
    """

    left: NoiseFormula
    relation: str
    holds: bool


@attrs.frozen
class Hole:
    """What is seen of a drawn number in an output: its type and its expression."""

    kind: str
    expression: NoiseFormula

    def __repr__(self) -> str:
        return f"a drawn {self.kind}"


@attrs.frozen
class TreeEnd:
    """Where a run ends that drew noise.

    Args:
        seen: the output with holes, as an observer sees it.
        conditions: what the noise had to be for the run to get there.
    """

    seen: Hashable
    conditions: tuple[Condition, ...]

    @cached_property
    def last_draw(self) -> int:
        """The number of the last draw that it speaks of."""
        return max((noise.number for one in _expressions(self) for part in affine_of(one) for noise, _ in part.terms), default=0)


def affine_of(expression: Affine | Applied | Plain) -> Iterator[Affine]:
    """All affine expressions inside one, in order."""
    if isinstance(expression, Affine):
        yield expression
    elif isinstance(expression, Applied):
        for argument in expression.arguments:
            yield from affine_of(argument)


def rewritten(expression: Any, change: Callable[[Affine], Affine]) -> Any:
    """An expression with every affine part changed."""
    if isinstance(expression, Affine):
        return change(expression)
    if isinstance(expression, Applied):
        return attrs.evolve(expression, arguments=tuple(rewritten(one, change) for one in expression.arguments))
    return expression


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
        left = _difference(*(self._part(one) for one in pair))
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
            [_difference(*((one, two) if least else (two, one))) for two in map(_formula, numbers)]
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
        expression = _arithmetic(function, self._part(left), self._part(right))
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
        if same and len(parts) == 1 and isinstance(self.expression, Affine):
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
    if isinstance(formula, Applied) and len(formula.arguments) == 2 and formula.function in _ARITHMETIC:
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
    return _difference(made._part(left), made._part(right))


def _difference(left: NoiseFormula, right: NoiseFormula) -> NoiseFormula:
    if isinstance(left, Affine) and isinstance(right, Affine):
        return left.plus(right, Fraction(-1))
    return Applied("sub", (left, right))


def _arithmetic(function: Callable[[Any, Any], Any], left: NoiseFormula, right: NoiseFormula) -> NoiseFormula:
    """The expression of an operation, affine where it stays so."""
    if isinstance(left, Affine) and isinstance(right, Affine):
        if function is operator.add:
            return left.plus(right)
        if function is operator.sub:
            return left.plus(right, Fraction(-1))
        if function is operator.mul and not (left.terms and right.terms):
            return right.scaled(left.constant) if right.terms else left.scaled(right.constant)
        if function is operator.truediv and not right.terms and right.constant:
            return left.scaled(1 / right.constant)
    return Applied(function.__name__, (left, right))


def implied(conditions: Sequence[Condition], left: NoiseFormula, relation: str) -> bool | None:
    """What is known of a comparison from earlier ones of the same expression, up to its constant.

    >>> step = NoiseDraw(1, "laplace", Fraction(1))
    >>> below = Condition(Affine(Fraction(-2), ((step, Fraction(1)),)), "lt", holds=True)
    >>> implied([below], Affine(Fraction(-3), ((step, Fraction(1)),)), "lt")
    True
    """
    for known in conditions:
        if known.left == left and known.relation == relation:
            return known.holds
        if not (isinstance(left, Affine) and isinstance(known.left, Affine) and relation == known.relation == "lt"):
            continue
        if known.left.terms == left.terms:
            if known.holds and left.constant <= known.left.constant:
                return True
            if not known.holds and left.constant >= known.left.constant:
                return False
        elif known.left.scaled(Fraction(-1)).terms == left.terms:
            # -e + c < 0 says e > c, so that e + k < 0 fails for k >= -c.
            if known.holds and left.constant + known.left.constant >= 0:
                return False
            if not known.holds and left.constant + known.left.constant < 0:
                return True
    return None


# --- trees run with real draws --------------------------------------------------------------------


def has_holes(seen: Hashable) -> bool:
    """Whether an output holds drawn numbers."""
    if isinstance(seen, Hole):
        return True
    if isinstance(seen, Observed):
        return has_holes(seen.content)
    return isinstance(seen, tuple) and any(map(has_holes, seen))


Draws = Sequence[float | None]
"""What a run drew, by the number of the draw, from 1 on."""

_NEAR = 1e-7
"""What doubles may lose, relatively, on the way to an output of moderate size."""
_ARITHMETIC = {"add": operator.add, "sub": operator.sub, "mul": operator.mul, "truediv": operator.truediv,
               "floordiv": operator.floordiv, "mod": operator.mod, "pow": operator.pow}  # fmt: skip
_BUILTIN: dict[str, Callable[..., Any]] = {"round": round, "int": int, "float": float, "max": max, "min": min}


def value_at(expression: Affine | Applied | Plain, draws: Draws) -> float:
    """The value of an expression for some draws.

    >>> value_at(Affine(Fraction(1), ((NoiseDraw(1, "laplace", Fraction(1)), Fraction(2)),)), [0.25])
    1.5
    """
    if isinstance(expression, Plain):
        return expression.value
    if isinstance(expression, Affine):
        known = ((factor, draws[noise.number - 1]) for noise, factor in expression.terms)
        return math.fsum([float(expression.constant), *(float(factor) * (draw or 0.0) for factor, draw in known)])
    arguments = [value_at(one, draws) for one in expression.arguments]
    name = expression.function
    function = _ARITHMETIC.get(name) or _BUILTIN.get(name) or getattr(np, name, None) or getattr(math, name)
    found: float = function(*arguments)
    return found


def fits(leaf: TreeEnd, seen: Hashable, draws: Draws) -> bool:
    """Whether a run with these draws ends in a leaf, and shows what it says."""
    if leaf.last_draw > len(draws):
        return False
    try:
        for one in leaf.conditions:
            left = value_at(one.left, draws)
            holds = left < 0 if one.relation == "lt" else left == 0
            if holds != one.holds and abs(left) > _NEAR:
                return False
        return _shows(leaf.seen, seen, draws)
    except ArithmeticError:  # what no double holds, no run of the code shows as a number
        return False


def _expressions(leaf: TreeEnd) -> Iterator[NoiseFormula]:
    yield from (one.left for one in leaf.conditions)
    yield from holes_of(leaf.seen)


def holes_of(seen: Hashable) -> Iterator[NoiseFormula]:
    """The expressions of the drawn numbers in an output."""
    if isinstance(seen, Hole):
        yield seen.expression
    elif isinstance(seen, Observed):
        yield from holes_of(seen.content)
    elif isinstance(seen, tuple):
        for part in seen:
            yield from holes_of(part)


def _shows(expected: Hashable, seen: Hashable, draws: Draws) -> bool:
    """Whether an output is an expected one, up to the last digits of drawn numbers."""
    if isinstance(expected, Hole):
        kind, number = _number_of(seen)
        value = float(value_at(expected.expression, draws))
        return kind == expected.kind and number is not None and abs(number - value) <= _NEAR * max(1.0, abs(value))
    if isinstance(expected, Observed) and has_holes(expected):
        if not isinstance(seen, Observed) or seen.kind != expected.kind:
            return False
        ours, theirs = expected.content, seen.content if isinstance(seen.content, tuple) else tuple(seen.parts or ())
        return _shows(ours, theirs, draws)
    if isinstance(expected, tuple):
        if not isinstance(seen, tuple) or len(seen) != len(expected):
            return False
        return all(_shows(one, other, draws) for one, other in zip(expected, seen, strict=True))
    return expected == seen


def _number_of(seen: Hashable) -> tuple[str, float | None]:
    """The type and the value of a number as an observer sees it; parts of an array are plain."""
    if isinstance(seen, Observed):
        return seen.kind, seen.number
    return type(seen).__name__, float(seen) if isinstance(seen, (int, float)) else None
