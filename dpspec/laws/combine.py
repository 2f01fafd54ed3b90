"""Laws made of laws: products, images, mixtures, and adaptive laws.

`product`, `push_forward` and `mixture` choose the simplest representation: finite laws stay finite and exact.

An adaptive law draws a first outcome i, then from a law that depends on i; both are seen:

    P(i, y) = w_i P_i(y),     so that  ln(dP/dQ)(i, y) = ln(w_i / v_i) + ln(dP_i/dQ_i)(y)

for P with the probabilities w_i and Q with v_i. The supports of different i are disjoint, and every functional of the pair is a
sum over i. Composition bounds it: the loss of the first outcome, plus the largest loss of what may follow (Bun and Steinke 2016).
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Sequence
from fractions import Fraction
from typing import Any, TypeVar, cast

import attrs
from flint import arb, ctx

from dpspec.base.errors import NoFormulaError, ParameterError
from dpspec.base.exact import INFINITY, ZERO, Bracket, Number, NumberLike, largest, ln, number, rational
from dpspec.base.log_linear import ball
from dpspec.base.memo import memoize
from dpspec.laws.atoms import IDENTICAL, Between, Sandwich
from dpspec.laws.dichotomy import INFINITE, NOTHING, WORK_OF_CELLS, BallDichotomy, Cell, Cells, Dichotomy, rational_end, total
from dpspec.laws.law import AtomicLaw, FiniteLaw, KnownLaw, Law, NotALaw, OutputValue, Parts, atomic, general
from dpspec.laws.numeric import hull, positive
from dpspec.laws.one_of import InOneOf
from dpspec.laws.products import UnionDichotomy, power, product_of
from dpspec.laws.samples import drawn, sampled

_MOST_OUTCOMES = 1 << 14
_LEAST_PRECISION = 8
_LISTED = 1 << 18
"""Above so many outcomes a product is not listed."""


def product(laws: Sequence[Law]) -> Law:
    """The law of independent draws, a tuple with one entry for every law.

    >>> product([FiniteLaw.bernoulli("1/2"), FiniteLaw.point("x")])
    FiniteLaw({(1, 'x'): 1/2, (0, 'x'): 1/2})
    """
    finite, outcomes = list[FiniteLaw](), 1
    for law in laws:
        if not isinstance(law, FiniteLaw) or outcomes * len(law.weights) > _MOST_OUTCOMES:
            return Product(tuple(laws))
        finite.append(law)
        outcomes *= len(law.weights)
    return FiniteLaw.product(finite)


def push_forward(law: Law, function: Callable[[Any], OutputValue]) -> Law:
    """The law of function(X): post-processing of X."""
    return law.push_forward(function) if isinstance(law, FiniteLaw) else PushForward(law, function)


def mixture(weights: Sequence[NumberLike], laws: Sequence[Law]) -> Law:
    """The law that draws from laws[i] with probability weights[i]; components of weight 0 and equal ones are joined."""
    joined: dict[Law, Fraction] = {}
    for weight, law in zip(_weights(weights), laws, strict=True):
        if weight:
            joined[law] = joined.get(law, Fraction(0)) + weight
    finite = [law for law in joined if isinstance(law, FiniteLaw)]
    if len(finite) == len(joined):
        return FiniteLaw.mixture(list(joined.values()), finite)
    return next(iter(joined)) if len(joined) == 1 else Mixture(tuple(joined.values()), tuple(joined))


@attrs.frozen(cache_hash=True)
class Product(AtomicLaw):
    """Independent draws from several laws."""

    laws: tuple[Law, ...]

    def factors(self) -> tuple[Law, ...]:
        return self.laws

    def window(self, precision: int) -> Sequence[OutputValue]:
        """The product of the windows of the factors, taken smaller when it would be too long.

        Raises:
            NoFormulaError: when it is too long to be listed even so.
        """
        while True:
            windows = [atomic(law).window(precision) for law in self.laws]
            outcomes = math.prod(map(len, windows))
            if outcomes <= _MOST_OUTCOMES or (precision <= _LEAST_PRECISION and outcomes <= _LISTED):
                return list(itertools.product(*windows))
            if precision <= _LEAST_PRECISION:
                raise NoFormulaError("product of laws", f"has {outcomes} outcomes to list", "compare the factors one by one")
            precision //= 2

    def mass(self, outcome: OutputValue, precision: int = 64) -> arb:
        if not isinstance(outcome, tuple) or len(outcome) != len(self.laws):
            return arb(0)
        total = arb(1)
        with ctx.workprec(precision + 32):
            for law, entry in zip(self.laws, outcome, strict=True):
                total *= atomic(law).mass(entry, precision)
        return total

    def masses(self, outcomes: Collection[OutputValue], precision: int = 64) -> list[arb]:
        """Products of the masses of the factors, each of which is computed once for each of its own outcomes."""
        known: list[dict[tuple[type, OutputValue], arb]] = [{} for _ in self.laws]
        found = []
        with ctx.workprec(precision + 32):
            for outcome in outcomes:
                total = arb(0)
                if isinstance(outcome, tuple) and len(outcome) == len(self.laws):
                    total = arb(1)
                    for law, entry, masses in zip(self.laws, outcome, known, strict=True):
                        key = type(entry), entry
                        if key not in masses:
                            masses[key] = atomic(law).mass(entry, precision)
                        total *= masses[key]
                found.append(total)
        return found

    def closed_against(self, other: Law) -> Dichotomy | None:
        """Factors that are one object are identical, and drop out; of a long vector all are but a few."""
        if not isinstance(other, Product) or len(other.laws) != len(self.laws):
            return None
        differing = ((mine, theirs) for mine, theirs in zip(self.laws, other.laws, strict=True) if mine is not theirs)
        return product_of(mine.against(theirs) for mine, theirs in differing)


@attrs.frozen
class PushForward(AtomicLaw):
    """The law of function(X).

    The divergence of two images under the same function object is at most that of the laws they come from (data processing), and
    at least that of the images that can be listed.
    """

    law: Law
    function: Callable[[Any], OutputValue]

    def window(self, precision: int) -> Sequence[OutputValue]:
        return list(_images(self, precision)[0])

    def mass(self, outcome: OutputValue, precision: int = 64) -> arb:
        images, rest = _images(self, precision)
        with ctx.workprec(precision + 32):
            known = images.get(outcome, arb(0))
            return known if rest.is_zero() else hull(known, known + rest)

    def closed_against(self, other: Law) -> Dichotomy | None:
        if not isinstance(other, PushForward) or other.function != self.function:
            return None
        parent = self.law.against(other.law)
        if parent.is_identical:
            return IDENTICAL
        try:
            listed = general(self, other)
        except NoFormulaError:
            return Between((IDENTICAL,), (parent,))
        return Between((listed,), (parent, listed))


@memoize(maxsize=256)
def _images(law: PushForward, precision: int) -> tuple[dict[OutputValue, arb], arb]:
    """The masses of the images of a window, and what lies outside it."""
    images: dict[OutputValue, arb] = {}
    source = atomic(law.law)
    with ctx.workprec(precision + 32):
        for outcome in source.window(precision):
            image = law.function(outcome)
            images[image] = images.get(image, arb(0)) + source.mass(outcome, precision)
        if isinstance(source, FiniteLaw):
            return images, arb(0)
        return images, positive(1 - sum(images.values(), arb(0)))


def _weights(weights: Sequence[NumberLike]) -> tuple[Fraction, ...]:
    read = tuple(rational(weight, "weight") for weight in weights)
    if any(weight < 0 for weight in read):
        raise NotALaw("weights", "must be at least 0", "probabilities are never negative", value=min(read))
    if sum(read) != 1:
        raise NotALaw("weights", "must sum to exactly 1", 'write exact ratios such as "1/3"', value=str(sum(read)))
    return read


@attrs.frozen
class Mixture(KnownLaw):
    """The law that draws from laws[i] with probability weights[i]."""

    weights: tuple[Fraction, ...] = attrs.field(converter=_weights)
    laws: tuple[Law, ...]

    def __attrs_post_init__(self) -> None:
        if len(self.weights) != len(self.laws):
            raise ParameterError("weights", "need one law each", value=f"{len(self.weights)} weights, {len(self.laws)} laws")

    def parts(self) -> Parts:
        return tuple(
            (weight * inner, part)
            for weight, law in zip(self.weights, self.laws, strict=True)
            if weight
            for inner, part in _known(law).parts()
        )

    def closed_against(self, other: Law) -> Dichotomy | None:
        """Of a mixture of two laws and one of these, as on a sample; of others between the mixtures themselves, cut into cells,
        and the union in which the component is shown."""
        if len(self.laws) == 2 and other in self.laws:
            place = self.laws.index(other)
            return sampled(other.against(self.laws[1 - place]), self.weights[1 - place]).reverse()
        theirs = other.laws if isinstance(other, Mixture) and other.weights == self.weights else (other,) * len(self.laws)
        try:
            union = UnionDichotomy(self.weights, tuple(mine.against(its) for mine, its in zip(self.laws, theirs, strict=True)))
        except NoFormulaError:
            return None
        try:
            merged = general(self, _known(other))
        except NoFormulaError:
            return Between((IDENTICAL,), (union,))
        uncut = any(isinstance(pair, Between) and not isinstance(pair, Sandwich) for pair in union.pairs)
        return Between((merged,), (merged, union) if uncut else (union, merged))  # the first one goes into products


def _known(law: Law) -> KnownLaw:
    if not isinstance(law, KnownLaw):
        raise NoFormulaError(type(law).__name__, "cannot be decomposed", "derive the law from AtomicLaw")
    return law


# --- repetitions and samples ----------------------------------------------------------------------


_MOST_REPEATED = 16
"""The largest number of repetitions of a finite law in a product."""


def repeated(law: Law, times: int) -> Law:
    """The law of so many independent draws.

    >>> repeated(FiniteLaw.bernoulli("1/2"), 2) == product([FiniteLaw.bernoulli("1/2")] * 2)
    True
    """
    if times == 1:
        return law
    return product([law] * times) if isinstance(law, FiniteLaw) and times <= _MOST_REPEATED else Repeated(law, times)


@attrs.frozen(cache_hash=True)
class Repeated(Law):
    """Independent draws from one law, of which only the number is stored.

    Two of them are compared where one draw is known in closed form: cells of many draws take minutes, and say little.

    >>> from dpspec.laws.continuous import GaussianLaw
    >>> str(Repeated(GaussianLaw(0, 1), 100).against(Repeated(GaussianLaw(1, 1), 100)).mu_squared)
    '100'
    """

    law: Law
    times: int

    def against(self, other: Law) -> Dichotomy:
        if self == other:
            return IDENTICAL
        if isinstance(other, Mixture):
            return other.against(self).reverse()
        if not isinstance(other, Repeated) or other.times != self.times:
            raise NoFormulaError("repeated law", "is compared with one of as many draws only", "compare single draws")
        pair = self.law.against(other.law)
        if isinstance(pair, (Between, BallDichotomy)) and not isinstance(self.law, (InOneOf, OnDrawn)):
            rule = "is not composed where one draw is known through cells only"
            raise NoFormulaError("repeated law", rule, "compare single draws, or datasets that differ in one record alone")
        return power(pair, self.times)


@attrs.frozen(cache_hash=True)
class _OnPart(Law):
    """The answers of a release on a part of the records that is drawn: what the ways of drawing share."""

    rate: Fraction
    without: tuple[Law, ...]
    joining: tuple[Law, ...] | None = None

    def _moved(self, other: Law, misfit: NoFormulaError) -> Dichotomy:
        """The pair of the answers that move, without and with the record, whichever side has it.

        Raises:
            NoFormulaError: the misfit, where the other law is not that of the same release on the other dataset.
        """
        if type(other) is not type(self) or not isinstance(other, _OnPart):
            raise misfit
        if (other.rate, other.without) != (self.rate, self.without) or (self.joining is None) == (other.joining is None):
            raise misfit
        moved = zip(self.without, self.joining or other.joining or (), strict=True)
        return product_of(before.against(after) for before, after in moved)


@attrs.frozen(cache_hash=True)
class OnSample(_OnPart):
    """The answers of a release on a sample of the records, conditional on the other records of the sample.

    Two of them, of datasets that differ in one record that takes part with a probability, are what bounds the two laws of the
    release: given the others in the sample, these are M(S) and (1 - rate) M(S) + rate M(S with the record).

    Args:
        rate: the probability with which the record takes part.
        without: the laws of the answers that move, without the record.
        joining: the same with it; None where it is not in the dataset.

    >>> coin, other = FiniteLaw.bernoulli("1/4"), FiniteLaw.bernoulli("3/4")
    >>> one, two = OnSample(Fraction(1, 2), (coin,)), OnSample(Fraction(1, 2), (coin,), (other,))
    >>> str(two.against(one).max_log_ratio())
    'ln(2)'
    """

    def against(self, other: Law) -> Dichotomy:
        if self == other:
            return IDENTICAL
        rule = "is compared where one record is added or removed only"
        found = sampled(self._moved(other, NoFormulaError("law on a sample", rule, "use add-remove")), self.rate)
        return found if self.joining is None else found.reverse()


@attrs.frozen(cache_hash=True)
class OnDrawn(_OnPart):
    """The answers of a release on a sample of a fixed size, drawn without replacement: what bounds them for one record replaced.

    Args:
        rate: the share of the records that are drawn.
        without, joining: the laws of the changed answers, on two samples that differ in one record; no two such samples have a
            larger divergence. `joining` is None for the one of the two datasets, whichever it is.

    >>> coin, other = FiniteLaw.bernoulli("1/4"), FiniteLaw.bernoulli("3/4")
    >>> one, two = OnDrawn(Fraction(1, 2), (coin,)), OnDrawn(Fraction(1, 2), (coin,), (other,))
    >>> str(one.against(two).max_log_ratio()), str(two.against(one).max_log_ratio())
    ('ln(2)', 'ln(2)')
    """

    def against(self, other: Law) -> Dichotomy:
        if self == other:
            return IDENTICAL
        misfit = NoFormulaError("law on a sample of a fixed size", "is compared where one record is replaced", "use replace-one")
        return drawn(self._moved(other, misfit), self.rate)


def is_on_sample(law: Law) -> bool:
    """Whether a law, or the one that it repeats, is one on a sample."""
    return is_on_sample(law.law) if isinstance(law, Repeated) else isinstance(law, (OnSample, OnDrawn))


# --- adaptive laws --------------------------------------------------------------------------------


_GRID = (1, 2, 3, 4, 6, 8, 12, 16, 32, 64)
"""The orders at which the supremum over all orders is bounded from below."""

_SHOWN = 64
"""The precision at which it is decided whether the probabilities are exact."""

Chances = tuple[tuple[Bracket, Bracket], ...]
"""(w_i, v_i) for every first outcome i."""

Loss = Callable[[Dichotomy], Bracket]
"""A functional that adds up under composition."""

Value = TypeVar("Value")


@attrs.frozen(cache_hash=True)
class Adaptive(Law):
    """The law of the pair (i, Y): i is drawn from `first`, Y from the law that `then` holds for i.

    Args:
        first: a law with finitely many outcomes, each of them in `then`.
        then: every first outcome with the law that follows it.

    >>> coin, noise = FiniteLaw.bernoulli("1/2"), FiniteLaw.bernoulli("3/4")
    >>> one = Adaptive(coin, ((0, noise), (1, coin)))
    >>> two = Adaptive(FiniteLaw.bernoulli("3/4"), ((0, coin), (1, coin)))
    >>> one.against(two).max_log_ratio().lower == ln(3)
    True
    """

    first: Law
    then: tuple[tuple[OutputValue, Law], ...]

    def against(self, other: Law) -> Dichotomy:
        if self == other:
            return IDENTICAL
        if not isinstance(other, Adaptive) or self.labels != other.labels:
            raise NoFormulaError("adaptive law", "is compared with one of the same first outcomes only", "compare the stages")
        return _pair(self, other)

    @property
    def labels(self) -> tuple[OutputValue, ...]:
        """The first outcomes."""
        return tuple(label for label, _ in self.then)


@memoize(maxsize=4096)
def _pair(one: Adaptive, two: Adaptive) -> AdaptiveDichotomy:
    """Kept, since a release compares the same few laws for many groups."""

    def chances(precision: int) -> Chances:
        return tuple((_chance(one.first, i, precision), _chance(two.first, i, precision)) for i in one.labels)

    pairs = tuple(mine.against(its) for (_, mine), (_, its) in zip(one.then, two.then, strict=True))
    return AdaptiveDichotomy(one.first.against(two.first), chances, pairs)


def _chance(law: Law, outcome: OutputValue, precision: int) -> Bracket:
    """P(outcome), exact for a finite law."""
    if isinstance(law, FiniteLaw):
        return Bracket.exactly(law.probability(outcome))
    return Bracket.around(atomic(law).mass(outcome, precision), least=0)


@attrs.frozen(eq=False)
class AdaptiveDichotomy(Dichotomy):
    """The pair of two adaptive laws.

    Args:
        first: the pair of the laws of the first outcome.
        chances: the probabilities (w_i, v_i), at a precision in bits.
        pairs: the pair (P_i, Q_i) that follows each first outcome.
    """

    first: Dichotomy
    chances: Callable[[int], Chances]
    pairs: tuple[Dichotomy, ...]
    _known: dict[Any, Any] = attrs.field(factory=dict, repr=False)

    @property
    def is_identical(self) -> bool:
        return self.first.is_identical and all(pair.is_identical for pair in self.pairs)

    def signature(self) -> Hashable:
        chances = self.chances(_SHOWN)
        if not all(p.is_exact and q.is_exact for p, q in chances):
            return self
        return AdaptiveDichotomy, frozenset(
            Counter((p.lower, q.lower, pair.signature()) for (p, q), pair in zip(chances, self.pairs, strict=True)).items()
        )

    @property
    def work(self) -> int:
        return self.first.work + sum(pair.work + WORK_OF_CELLS for pair in self.pairs)

    def reverse(self) -> AdaptiveDichotomy:
        def turned(precision: int) -> Chances:
            return tuple((q, p) for p, q in self.chances(precision))

        def made() -> AdaptiveDichotomy:
            return AdaptiveDichotomy(self.first.reverse(), turned, tuple(pair.reverse() for pair in self.pairs))

        return self._once("reverse", made)

    # -- functionals ------------------------------------------------------------------------------

    def max_log_ratio(self, *, precision: int = 64) -> Bracket:
        return self._once(("largest", precision), lambda: self._max_log_ratio(precision))

    def _max_log_ratio(self, precision: int) -> Bracket:
        def loss(pair: Dichotomy) -> Bracket:
            return pair.max_log_ratio(precision=precision)

        best = NOTHING
        for (p, q), pair in self._possible(precision):
            inner = loss(pair)
            lower = total((_log_ratio(p.lower, q.upper), inner)).lower if p.lower > 0 else ZERO
            best |= Bracket(lower=lower, upper=total((_log_ratio(p.upper, q.lower), inner)).upper)
        return _between(best.lower, min(best.upper, self._composed(loss)))

    def singular_mass(self, *, precision: int = 64) -> Bracket:
        known = self.first.singular_mass(precision=precision).upper == 0
        lower = upper = Fraction(0)
        for (p, q), pair in self._possible(precision):
            inner = pair.singular_mass(precision=precision)
            alone = q.upper == 0, not known and q.lower == 0
            lower += rational_end(p.lower, -1) * (1 if alone[0] else rational_end(inner.lower, -1))
            upper += rational_end(p.upper, 1) * (1 if alone[1] else rational_end(inner.upper, 1))
        return Bracket(lower=number(lower), upper=number(min(upper, Fraction(1))))

    def _renyi(self, order: Fraction, precision: int) -> Bracket:
        """ln(sum_i w_i^alpha v_i^(1 - alpha) e^((alpha - 1) D_i)) / (alpha - 1); sum_i w_i (ln(w_i/v_i) + D_i) for alpha = 1."""

        def loss(pair: Dichotomy) -> Bracket:
            return pair.renyi(order, precision=precision)

        def made() -> Bracket:
            found = self._mean(loss, precision) if order == 1 else self._moment(order - 1, loss, precision)
            return _between(found.lower, min(found.upper, self._composed(loss)))

        return self._once((order, precision), made)

    def _mean(self, loss: Loss, precision: int) -> Bracket:
        later = (_times(p, loss(pair)) for (p, _), pair in self._possible(precision))
        return total((self._relative_entropy(precision), *later))

    def _relative_entropy(self, precision: int) -> Bracket:
        """sum_i w_i ln(w_i/v_i), from the probabilities where all of them are known to be positive."""
        chances = self.chances(precision)
        if not all(p.lower > 0 and q.lower > 0 for p, q in chances):
            return self.first.renyi(1, precision=precision)
        with ctx.workprec(precision + 32):
            joint = [(_enclosed(p), _enclosed(q)) for p, q in chances]
            return Bracket.around(sum((p * (p / q).log() for p, q in joint), arb(0)), least=0)

    def _moment(self, power: Fraction, loss: Loss, precision: int) -> Bracket:
        """A term grows with w_i and D_i and falls with v_i."""
        low, high, bounded = arb(0), arb(0), True
        with ctx.workprec(precision + 32):
            exponent = ball(power)
            for (p, q), pair in self._possible(precision):
                value = loss(pair)
                if p.lower > 0 and (q.upper == 0 or value.lower.is_infinite):
                    return INFINITE
                if p.lower > 0:
                    low += _term(p.lower, q.upper, value.lower, exponent)
                if q.lower == 0 or value.upper.is_infinite:
                    bounded = False
                else:
                    high += _term(p.upper, q.lower, value.upper, exponent)
            upper = Bracket.around(high.log() / exponent, least=0).upper if bounded else INFINITY
            return Bracket(lower=Bracket.around(low.log() / exponent, least=0).lower if low > 0 else ZERO, upper=upper)

    def _concentration(self, precision: int) -> Bracket:
        """At most the first stage's and the largest of the second's, by composition at every order."""

        def made() -> Bracket:
            lower = max(self.renyi(order, precision=precision).lower / order for order in _GRID)
            return _between(lower, self._composed(lambda pair: pair.concentration(precision=precision)))

        return self._once(("concentration", precision), made)

    def _hockey_stick(self, epsilon: Number, precision: int) -> Bracket:
        return self._picture.hockey_stick(epsilon, precision=precision)

    def _epsilon_at(self, delta: Fraction, precision: int) -> Bracket:
        return self._picture.epsilon_at(delta, precision=precision)

    def cells(self, precision: int) -> Cells:
        with ctx.workprec(precision + 32):
            return tuple(
                Cell.atom(_enclosed(p), _enclosed(q)).times(cell)
                for (p, q), pair in zip(self.chances(precision), self.pairs, strict=True)
                for cell in pair.cells(precision)
            )

    # -- parts ------------------------------------------------------------------------------------

    def _possible(self, precision: int) -> list[tuple[tuple[Bracket, Bracket], Dichotomy]]:
        """The first outcomes that P may have, with the pairs that follow them."""
        joint = zip(self.chances(precision), self.pairs, strict=True)
        return [(chance, pair) for chance, pair in joint if chance[0].upper > 0]

    def _composed(self, loss: Loss) -> Number:
        """The first stage's loss plus the largest of the second's: no functional that adds up is larger."""
        return total((loss(self.first), largest(loss(pair) for pair in self.pairs))).upper

    @property
    def _picture(self) -> Sandwich:
        return self._once("picture", lambda: Sandwich.of(self.cells))

    def _once(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """The cached value, computed at first use."""
        if key not in self._known:
            self._known[key] = make()
        return cast("Value", self._known[key])


def _between(lower: Number, upper: Number) -> Bracket:
    """The bracket of two ends, exact when they are equal."""
    return Bracket.exactly(lower) if lower == upper else Bracket(lower=lower, upper=upper)


def _enclosed(chance: Bracket) -> arb:
    """A ball around a probability."""
    return hull(chance.lower.enclose(ctx.prec), chance.upper.enclose(ctx.prec))


def _log_ratio(p: Number, q: Number) -> Bracket:
    """ln(p/q) for p > 0, infinite for q = 0."""
    return Bracket.exactly(ln(p.as_fraction() / q.as_fraction())) if q > 0 else INFINITE


def _times(chance: Bracket, value: Bracket) -> Bracket:
    """The product of a probability and a loss."""
    lower = ZERO if value.lower.is_infinite else number(chance.lower.as_fraction() * rational_end(value.lower, -1))
    if value.upper.is_infinite:
        return Bracket(lower=INFINITY if value.lower.is_infinite and chance.lower > 0 else lower, upper=INFINITY)
    return Bracket(lower=lower, upper=number(chance.upper.as_fraction() * rational_end(value.upper, 1)))


def _term(p: Number, q: Number, loss: Number, exponent: arb) -> arb:
    """p^alpha q^(1 - alpha) e^((alpha - 1) loss) for alpha - 1 = exponent."""
    mass = p.enclose(ctx.prec)
    return mass * (exponent * ((mass / q.enclose(ctx.prec)).log() + loss.enclose(ctx.prec))).exp()
