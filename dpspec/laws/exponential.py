"""Finite laws with probabilities in Q(e^r), r rational: randomised response at epsilon = 1, the exponential mechanism.

Their exact numbers are the elements of Q(e^(1/k)), k = 1, 2, ..., quotients

    (sum_i a_i e^(r_i)) / (sum_j b_j e^(s_j))      with rational a_i, b_j, r_i, s_j.

e^(1/k) is transcendental, so such a sum is 0 only when it is the empty one, and two quotients are equal only when they
are equal as rational functions: zero is recognised exactly, and every other sign is found by ball arithmetic.
Randomised response at epsilon = 1 keeps with probability e/(1 + e), the exponential mechanism weighs by
e^(epsilon score / 2); their likelihood ratios c e^r have the exact logarithm ln(c) + r, so that a claim is decided at equality.
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import total_ordering

import attrs
from flint import arb, ctx, fmpq, fmpq_poly

from dpspec.base.errors import NumericalError, ParameterError
from dpspec.base.exact import Bracket, Number, NumberLike, ln, number, rational
from dpspec.base.log_linear import ball
from dpspec.base.work import spend
from dpspec.laws.atoms import IDENTICAL
from dpspec.laws.dichotomy import INFINITE, BallDichotomy, Cell, Cells, Dichotomy
from dpspec.laws.law import AtomicLaw, FiniteLaw, Law, NotALaw, OutputValue, refuse_nan
from dpspec.laws.numeric import rational_exponential

Terms = tuple[tuple[Fraction, Fraction], ...]
"""Pairs (r, a) of the sum of a e^r, with different r in ascending order and no a equal to 0."""

_ONE: Terms = ((Fraction(0), Fraction(1)),)


MOST_STEPS = 1 << 12
"""Polynomials of a higher degree, in the largest e^g of which all terms are powers, are not divided by their common factor."""

MOST_TERMS = 1 << 16
"""A product of two sums with more terms, before equal powers are gathered, has no exact form here."""


_ORDER_PRECISIONS = (128, 512)
"""Two numbers are ordered by enclosures with so many bits where these are disjoint, and exactly otherwise."""


@total_ordering
@attrs.frozen(eq=False, repr=False)
class Exponential:
    """An exact real number of the field Q(e^r : r rational), in lowest terms unless their exponents differ by too much
    (`MOST_STEPS`).

    Rational numbers and c e^r always are in lowest terms.

    Use `exponential` to make e^x; the four operations and the order do the rest, also with integers and fractions.

    >>> e = exact_exponential(1)
    >>> keep = e / (1 + e)
    >>> str(keep / (1 - keep)), keep > Fraction(73, 100), keep + 1 / (1 + e) == 1
    ('e^(1)', True, True)
    """

    top: Terms = ()
    bottom: Terms = _ONE
    _enclosures: dict[int, arb] = attrs.field(factory=dict, init=False)

    def __reduce__(self) -> tuple[type[Exponential], tuple[Terms, Terms]]:
        return Exponential, (self.top, self.bottom)  # enclosures are not copied to other processes

    # -- arithmetic -------------------------------------------------------------------------------

    def __add__(self, other: object) -> Exponential:
        their = read(other)
        if their is None:
            return NotImplemented
        if self.bottom == their.bottom:
            return _lowest(_sum(self.top, their.top), self.bottom)
        return _lowest(_sum(_times(self.top, their.bottom), _times(their.top, self.bottom)), _times(self.bottom, their.bottom))

    __radd__ = __add__

    def __neg__(self) -> Exponential:
        return Exponential(tuple((r, -a) for r, a in self.top), self.bottom)

    def __sub__(self, other: object) -> Exponential:
        their = read(other)
        return NotImplemented if their is None else self + -their

    def __rsub__(self, other: object) -> Exponential:
        return -self + other

    def __mul__(self, other: object) -> Exponential:
        their = read(other)
        if their is None:
            return NotImplemented
        return _lowest(_times(self.top, their.top), _times(self.bottom, their.bottom))

    __rmul__ = __mul__

    def __truediv__(self, other: object) -> Exponential:
        their = read(other)
        if their is None:
            return NotImplemented
        if not their.top:
            raise ZeroDivisionError("division of an exponential number by 0")
        if self.bottom == their.bottom:
            return _lowest(self.top, their.top)
        return _lowest(_times(self.top, their.bottom), _times(self.bottom, their.top))

    def __rtruediv__(self, other: object) -> Exponential:
        their = read(other)
        return NotImplemented if their is None else their / self

    def __pow__(self, power: int) -> Exponential:
        if self.bottom == _ONE and len(self.top) == 1:
            ((exponent, factor),) = self.top
            return Exponential(((exponent * power, factor**power),))
        base = self if power >= 0 else 1 / self
        return math.prod([base] * abs(power), start=Exponential(_ONE))

    # -- order ------------------------------------------------------------------------------------

    def sign(self) -> int:
        """-1, 0 or 1, decided exactly."""
        return _sign(self.top) * _sign(self.bottom)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        their = read(other)
        if their is None:
            return NotImplemented
        if (self.top, self.bottom) == (their.top, their.bottom):
            return True
        return self._ends() == their._ends() and _times(self.top, their.bottom) == _times(their.top, self.bottom)

    def __lt__(self, other: object) -> bool:
        their = read(other)
        if their is None:
            return NotImplemented
        for precision in _ORDER_PRECISIONS:  # the exact difference of two long sums takes a thousand times as long
            difference = self.enclose(precision) - their.enclose(precision)
            if difference < 0 or difference > 0:
                return bool(difference < 0)
        return (self - their).sign() < 0

    def __hash__(self) -> int:
        return self._hash

    @functools.cached_property
    def _hash(self) -> int:
        constant = self.rational()
        return hash(self._ends()) if constant is None else hash(constant)

    def _ends(self) -> tuple[Fraction, ...]:
        """The lowest and the highest terms, top over bottom: a common factor does not change them."""
        pairs = [(self.top[end], self.bottom[end]) for end in (0, -1)] if self.top else []
        return tuple(part for (r, a), (s, b) in pairs for part in (r - s, a / b))

    # -- value ------------------------------------------------------------------------------------

    def rational(self) -> Fraction | None:
        """The value when it is a rational number, else None."""
        if not self.top:
            return Fraction(0)
        return self.top[0][1] if self.bottom == _ONE and len(self.top) == 1 and not self.top[0][0] else None

    def log(self) -> Number | None:
        """ln of a positive value c e^r, which is ln(c) + r; None when the value has another form."""
        if self.bottom != _ONE or len(self.top) != 1 or self.top[0][1] <= 0:
            return None
        power, factor = self.top[0]
        return ln(factor) + power

    def enclose(self, precision: int = 64) -> arb:
        """A ball that contains the value, computed with `precision` bits."""
        known = self._enclosures.get(precision)
        if known is None:
            with ctx.workprec(precision):
                known = self._enclosures[precision] = _enclose(self.top) / _enclose(self.bottom)
        return known

    def __float__(self) -> float:
        return float(self.enclose())

    def __str__(self) -> str:
        shown = _text(self.top)
        return shown if self.bottom == _ONE else f"({shown})/({_text(self.bottom)})"

    def __repr__(self) -> str:
        return f"<{self}>"


Weight = Exponential | Fraction | int


def exact_exponential(power: NumberLike) -> Exponential:
    """e^x for x = r + ln(q) with rational r and q: the number q e^r.

    Raises:
        ParameterError: for other x, such as ln(2)/2.

    >>> str(exact_exponential("1/2")), str(exact_exponential("1 + ln(3)"))
    ('e^(1/2)', '3*e^(1)')
    """
    value = number(power, "power")
    whole = Fraction(0) if value.is_infinite or value.root != 1 else value.rational_part
    factor = None if value.is_infinite or value.root != 1 else rational_exponential(value - whole)
    if factor is None:
        raise ParameterError("power", "must be a rational number plus logarithms of rationals", value=str(value))
    return Exponential(((whole, factor),))


# --- sums of exponentials ---------------------------------------------------------------------------------------------


def total(summands: Iterable[Exponential]) -> Exponential:
    """The sum of many elements, in one pass over the terms of those with one denominator.

    >>> str(total([exact_exponential(1), exact_exponential(2), exact_exponential(1)]))
    '2*e^(1) + e^(2)'
    """
    tops: dict[Terms, list[tuple[Fraction, Fraction]]] = {}
    for one in summands:
        tops.setdefault(one.bottom, []).extend(one.top)
    return sum((_lowest(_collected(terms), bottom) for bottom, terms in tops.items()), Exponential())


def read(value: object) -> Exponential | None:
    """An operand as an element of the field; None for other types."""
    if isinstance(value, Exponential):
        return value
    try:
        constant = rational(value)
    except ParameterError:
        return None
    return Exponential(((Fraction(0), constant),)) if constant else Exponential()


_WORK_OF_A_TERM = 8
"""Units of work of one term of a sum of powers: a few operations on fractions."""
_BITS_PER_UNIT = 64
"""So many bits of their factors take a unit more."""


def _collected(terms: Iterable[tuple[Fraction, Fraction]]) -> Terms:
    found: dict[Fraction, Fraction] = {}
    for power, factor in terms:
        found[power] = found.get(power, Fraction(0)) + factor
    bits = sum(factor.numerator.bit_length() + factor.denominator.bit_length() for factor in found.values())
    spend(_WORK_OF_A_TERM * len(found) + bits // _BITS_PER_UNIT)
    return tuple(sorted((power, factor) for power, factor in found.items() if factor))


def _sum(left: Terms, right: Terms) -> Terms:
    return _collected((*left, *right))


def _times(left: Terms, right: Terms) -> Terms:
    if right == _ONE:
        return left
    if left == _ONE:
        return right
    if len(left) * len(right) > MOST_TERMS:
        raise NumericalError("number", f"is a sum of more than {MOST_TERMS:,} powers of e", "choose rounder parameters")
    return _collected((r + s, a * b) for r, a in left for s, b in right)


def _lowest(top: Terms, bottom: Terms) -> Exponential:
    """The quotient without common factors, the lowest term of the denominator being 1."""
    if not top:
        return Exponential()
    spend(_WORK_OF_A_TERM * (len(top) + len(bottom)))
    if len(bottom) > 1:
        top, bottom = _without_common_factor(top, bottom)
    power, factor = bottom[0]
    if not power and factor == 1:
        return Exponential(top, bottom)
    scaled = [tuple((r - power, a / factor) for r, a in terms) for terms in (top, bottom)]
    return Exponential(*scaled)


def _without_common_factor(top: Terms, bottom: Terms) -> tuple[Terms, Terms]:
    """Both divided by their greatest common divisor as polynomials in t = e^g, or by the whole denominator if that is one."""
    if len(top) == 1:
        return top, bottom
    spend(_WORK_OF_A_TERM * (len(top) + len(bottom)))
    step = _step(top, bottom)
    if max(terms[-1][0] - terms[0][0] for terms in (top, bottom)) > MOST_STEPS * step:
        (r, a), (s, b) = top[0], bottom[0]
        if len(top) == len(bottom) and _times(bottom, ((r - s, a / b),)) == top:
            return ((r - s, a / b),), _ONE
        return top, bottom
    polynomials = [_polynomial(terms, step) for terms in (top, bottom)]
    common = polynomials[0].gcd(polynomials[1])
    if common.degree() == 0:
        return top, bottom
    reduced = [_terms(p // common, terms[0][0], step) for p, terms in zip(polynomials, (top, bottom), strict=True)]
    return reduced[0], reduced[1]


def _step(*sums: Terms) -> Fraction:
    """The largest g such that every exponent of a sum lies a whole multiple of g above its lowest one."""
    apart = [power - terms[0][0] for terms in sums for power, _ in terms[1:]]
    scale = math.lcm(*(each.denominator for each in apart))
    return Fraction(math.gcd(*(int(each * scale) for each in apart)), scale)


def _polynomial(terms: Terms, step: Fraction) -> fmpq_poly:
    """sum a e^r as a polynomial in t = e^step, divided by its lowest power of t."""
    lowest = terms[0][0]
    degree = int((terms[-1][0] - lowest) / step)
    spend(_WORK_OF_A_TERM * (degree + len(terms)))
    coefficients = [fmpq(0)] * (degree + 1)
    for power, factor in terms:
        coefficients[int((power - lowest) / step)] = fmpq(factor.numerator, factor.denominator)
    return fmpq_poly(coefficients)


def _terms(polynomial: fmpq_poly, lowest: Fraction, step: Fraction) -> Terms:
    listed = ((i, polynomial[i]) for i in range(polynomial.degree() + 1))
    return tuple((lowest + i * step, Fraction(int(c.p), int(c.q))) for i, c in listed if c != 0)


def _enclose(terms: Terms) -> arb:
    return sum((ball(factor) * ball(power).exp() for power, factor in terms), arb(0))


def _sign(terms: Terms) -> int:
    """The sign of a sum: 0 only for the empty one, since e^(1/k) is transcendental; so the loop ends."""
    if len({factor > 0 for _, factor in terms}) < 2:
        return 0 if not terms else 1 if terms[0][1] > 0 else -1
    precision = 64
    while True:
        with ctx.workprec(precision):
            enclosure = _enclose(terms)
        if enclosure > 0 or enclosure < 0:
            return 1 if enclosure > 0 else -1
        precision *= 2


def _text(terms: Terms) -> str:
    def one(power: Fraction, factor: Fraction) -> str:
        if not power:
            return str(factor)
        return f"e^({power})" if factor == 1 else f"{factor}*e^({power})"

    return " + ".join(one(power, factor) for power, factor in terms) or "0"


# --- laws -----------------------------------------------------------------------------------------


_WORK_OF_A_HASH = 8
"""Units of work of the hash of one probability."""


@attrs.frozen
class ExponentialLaw(AtomicLaw):
    """A law on finitely many outcomes with probabilities in Q(e^r); use `finite_law` to make one."""

    probabilities: tuple[tuple[OutputValue, Exponential], ...] = attrs.field(eq=False)
    _masses: frozenset[tuple[OutputValue, Exponential]] = attrs.field(init=False, repr=False)
    """The same in no order: what laws are compared by. A set keeps the hashes, which are costly here, of its members."""

    @_masses.default
    def _unordered(self) -> frozenset[tuple[OutputValue, Exponential]]:
        spend(_WORK_OF_A_HASH * len(self.probabilities))
        return frozenset(self.probabilities)

    @property
    def support(self) -> tuple[OutputValue, ...]:
        """The outcomes of positive probability."""
        return tuple(outcome for outcome, _ in self.probabilities)

    def probability(self, outcome: OutputValue) -> Exponential:
        """P(outcome), 0 outside the support."""
        return dict(self.probabilities).get(outcome, Exponential())

    def window(self, precision: int) -> Sequence[OutputValue]:
        return self.support

    def mass(self, outcome: OutputValue, precision: int = 64) -> arb:
        return _positive_ball(dict(self.probabilities).get(outcome), precision)

    def closed_against(self, other: Law) -> Dichotomy | None:
        if isinstance(other, FiniteLaw):
            theirs = {outcome: _exact(p) for outcome, p in other.probabilities()}
        elif isinstance(other, ExponentialLaw):
            theirs = dict(other.probabilities)
        else:
            return None
        mine = dict(self.probabilities)
        if _same(mine, theirs):
            return IDENTICAL
        outcomes = dict.fromkeys((*mine, *theirs))
        spend(_WORK_OF_A_HASH * len(outcomes))
        pairs = _counted(list(map(mine.get, outcomes)), list(map(theirs.get, outcomes)))

        def cells(precision: int) -> Cells:
            balls = ((_positive_ball(p, precision), _positive_ball(q, precision), times) for (p, q), times in pairs.values())
            return tuple(Cell.atom(p * times, q * times) for p, q, times in balls)

        listed = [pair for pair, _ in pairs.values()]
        made_of = frozenset((key, times) for key, (_, times) in pairs.items())
        return BallDichotomy(cells, _top(listed), _top([(q, p) for p, q in listed]), made_of)


def finite_law(weights: Mapping[OutputValue, Weight], *, normalise: bool = False) -> FiniteLaw | ExponentialLaw:
    """The law with these probabilities, rational or in Q(e^r); a `FiniteLaw` when all of them are rational.

    Args:
        weights: an exact probability for every outcome.
        normalise: whether they are only proportional to the probabilities.

    Raises:
        NotALaw: when one is negative, or when they do not sum to exactly 1 and may not be normalised.

    >>> from fractions import Fraction
    >>> from dpspec.laws.exponential import exact_exponential
    >>> law = finite_law({k: exact_exponential(Fraction(score, 2)) for k, score in enumerate([3, 1])}, normalise=True)
    >>> other = finite_law({k: exact_exponential(Fraction(score, 2)) for k, score in enumerate([1, 3])}, normalise=True)
    >>> str(law.against(other).max_log_ratio())
    '1'
    """
    refuse_nan(weights)
    read: dict[int, Exponential] = {}  # a weight that many outcomes share is one object, and is read once
    for outcome, weight in weights.items():
        if id(weight) not in read:
            exact = read[id(weight)] = _exact(weight, f"weight of {outcome!r}")
            if exact.sign() < 0:
                rule = "must be at least 0"
                raise NotALaw(f"weight of {outcome!r}", rule, "probabilities are never negative", value=str(exact))
    often = Counter(map(id, weights.values()))
    total = sum((read[place] * times for place, times in often.items()), Exponential())
    if not total.top or not (normalise or total == 1):
        raise NotALaw("probabilities", "must sum to exactly 1", "write exact numbers, or ask to normalise", value=str(total))
    scaled = {place: weight / total if normalise else weight for place, weight in read.items() if weight.top}
    kept = {outcome: scaled[id(weight)] for outcome, weight in weights.items() if id(weight) in scaled}
    rationals = {place: known for place, p in scaled.items() if (known := p.rational()) is not None}
    if len(rationals) < len(scaled):
        return ExponentialLaw(tuple(kept.items()))
    common = math.lcm(*(p.denominator for p in rationals.values()))
    whole = {place: p.numerator * (common // p.denominator) for place, p in rationals.items()}
    return FiniteLaw.from_weights({outcome: whole[id(weights[outcome])] for outcome in kept})


def _exact(value: object, subject: str = "probability") -> Exponential:
    found = read(value)
    if found is None:
        raise NumericalError(subject, "must be rational or made with `exponential`", value=value)
    return found


Probabilities = tuple[Exponential | None, Exponential | None]
"""The probabilities of one outcome under two laws; None for 0."""


def _counted(
    mine: Sequence[Exponential | None], theirs: Sequence[Exponential | None]
) -> dict[Hashable, tuple[Probabilities, int]]:  # fmt: skip
    """The different pairs of probabilities, and how often each occurs: equal numbers are mostly one object, and hashed once."""
    often = Counter(zip(map(id, mine), map(id, theirs), strict=True))
    objects = {(id(p), id(q)): (p, q) for p, q in zip(mine, theirs, strict=True)}
    found: dict[Hashable, tuple[Probabilities, int]] = {}
    for key, pair in objects.items():
        written = tuple(None if number is None else (number.top, number.bottom) for number in pair)
        found[written] = pair, often[key] + found.get(written, (pair, 0))[1]
    return found


def _same(mine: Mapping[OutputValue, Exponential], theirs: Mapping[OutputValue, Exponential]) -> bool:
    """Whether they are seen to be equal; False as well for numbers that are too long to be compared exactly."""
    try:
        return mine == theirs
    except NumericalError:
        return False


def _positive_ball(value: Exponential | None, precision: int) -> arb:
    """A ball around a probability that excludes 0 exactly where the probability is not 0."""
    if value is None:
        return arb(0)
    found = value.enclose(precision + 32)
    while not found > 0:
        precision *= 2
        found = value.enclose(precision)
    return found


def _top(pairs: Sequence[tuple[Exponential | None, Exponential | None]]) -> Bracket | None:
    """sup ln(p/q) where it is infinite or of the form ln(c) + r, else None: the cells then enclose it to any precision.

    Only quotients that may be the largest by their enclosures are computed exactly.
    """
    if any(p is not None and q is None for p, q in pairs):
        return INFINITE
    listed = [(p, q) for p, q in pairs if p is not None and q is not None]
    with ctx.workprec(_ORDER_PRECISIONS[-1]):
        enclosed = [_positive_ball(p, _ORDER_PRECISIONS[0]) / _positive_ball(q, _ORDER_PRECISIONS[0]) for p, q in listed]
        least = max((quotient.lower() for quotient in enclosed), default=arb(0))
        chosen = [pair for pair, quotient in zip(listed, enclosed, strict=True) if not quotient.upper() < least]
    try:
        exact = max(p / q for p, q in chosen).log()
    except NumericalError:  # the exact form is too long
        return None
    return None if exact is None else Bracket.exactly(exact)
