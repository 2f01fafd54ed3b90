"""Laws made of laws: products, images, mixtures, repetitions and samples.

`product`, `push_forward` and `mixture` choose the simplest representation: finite laws stay finite and exact.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection, Sequence
from fractions import Fraction
from typing import Any

import attrs
from flint import arb, ctx

from dpspec.base.errors import NoFormulaError, ParameterError
from dpspec.base.exact import NumberLike, rational
from dpspec.base.memo import memoize
from dpspec.base.work import spend
from dpspec.laws.atoms import IDENTICAL, Between, Sandwich
from dpspec.laws.dichotomy import BallDichotomy, Dichotomy
from dpspec.laws.law import AtomicLaw, FiniteLaw, KnownLaw, Law, NotALaw, OutputValue, Parts, atomic, general
from dpspec.laws.numeric import hull, positive, spend_on_balls
from dpspec.laws.one_of import InOneOf
from dpspec.laws.products import UnionDichotomy, power, product_of
from dpspec.laws.samples import drawn, sampled

_MOST_OUTCOMES = 1 << 14
_LEAST_PRECISION = 8
_LISTED = 1 << 18
"""Above so many outcomes a product is not listed."""
_WORK_OF_A_FACTOR = 4
"""Units of work of one law of a product: of noise around an answer."""
_WORK_OF_AN_IMAGE = 4
"""So many exponentials take as long as to find one image and its mass."""


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

    def __attrs_post_init__(self) -> None:
        spend(_WORK_OF_A_FACTOR * len(self.laws))

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
                spend(outcomes)
                return list(itertools.product(*windows))
            if precision <= _LEAST_PRECISION:
                raise NoFormulaError("product of laws", "has too many outcomes to list", "compare the factors one by one")
            precision //= 2

    def mass(self, outcome: OutputValue, precision: int = 64) -> arb:
        return self.masses((outcome,), precision)[0]

    def masses(self, outcomes: Collection[OutputValue], precision: int = 64) -> list[arb]:
        """Products of the masses of the factors, each of which is computed once for each of its own outcomes."""
        fitting = [outcome for outcome in outcomes if isinstance(outcome, tuple) and len(outcome) == len(self.laws)]
        known: list[dict[tuple[type, OutputValue], arb]] = []
        found = []
        with ctx.workprec(precision + 32):
            for place, law in enumerate(self.laws):
                own = {(type(outcome[place]), outcome[place]): outcome[place] for outcome in fitting}
                known.append(dict(zip(own, atomic(law).masses(tuple(own.values()), precision), strict=True)))
            for outcome in outcomes:
                total = arb(0)
                if isinstance(outcome, tuple) and len(outcome) == len(self.laws):
                    total = arb(1)
                    for entry, masses in zip(outcome, known, strict=True):
                        total *= masses[type(entry), entry]
                found.append(total)
        return found

    def closed_against(self, other: Law) -> Dichotomy | None:
        """Factors that are one object are identical, and drop out; of a long vector all are but a few."""
        if not isinstance(other, Product) or len(other.laws) != len(self.laws):
            return None
        differing = [(mine, theirs) for mine, theirs in zip(self.laws, other.laws, strict=True) if mine is not theirs]
        spend(_WORK_OF_A_FACTOR * len(differing))
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
        return self.masses((outcome,), precision)[0]

    def masses(self, outcomes: Collection[OutputValue], precision: int = 64) -> list[arb]:
        """The masses, with the images of a window looked up once: to find them again takes a hash of the whole law."""
        images, rest = _images(self, precision)
        with ctx.workprec(precision + 32):
            known = [images.get(outcome, arb(0)) for outcome in outcomes]
            return known if rest.is_zero() else [hull(mass, mass + rest) for mass in known]

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
        outcomes = source.window(precision)
        spend_on_balls(_WORK_OF_AN_IMAGE * len(outcomes))
        for outcome, mass in zip(outcomes, source.masses(outcomes, precision), strict=True):
            image = law.function(outcome)
            images[image] = images.get(image, arb(0)) + mass
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
        closed = other.closed_against(self) if isinstance(other, Mixture) else None
        if closed is not None:
            return closed.reverse()
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
