"""Laws made of laws: products, images and mixtures.

`product`, `push_forward` and `mixture` choose the simplest representation: finite laws stay finite and exact.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

import attrs
from flint import arb, ctx

from dpspec.errors import NoRouteError, ParameterError
from dpspec.exact import NumberLike, rational
from dpspec.laws.atoms import IDENTICAL
from dpspec.laws.dichotomy import Dichotomy
from dpspec.laws.finite import FiniteLaw
from dpspec.laws.law import Law, NotALaw
from dpspec.laws.numeric import hull, positive
from dpspec.laws.products import UnionDichotomy, product_of
from dpspec.laws.route import AtomicLaw, KnownLaw, Outcome, Parts, atomic, general
from dpspec.laws.sandwich import Between

_MOST_OUTCOMES = 1 << 14
_LEAST_PRECISION = 8
_LISTED = 1 << 18
"""Above so many outcomes a product is not listed."""


def product(laws: Sequence[Law]) -> Law:
    """The law of independent draws, a tuple with one entry for every law.

    >>> product([FiniteLaw.bernoulli("1/2"), FiniteLaw.point("x")])
    FiniteLaw({(1, 'x'): 1/2, (0, 'x'): 1/2})
    """
    finite = [law for law in laws if isinstance(law, FiniteLaw)]
    if len(finite) == len(laws) and math.prod(len(law.weights) for law in finite) <= _MOST_OUTCOMES:
        return FiniteLaw.product(finite)
    return Product(tuple(laws))


def push_forward(law: Law, function: Callable[[Any], Outcome]) -> Law:
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


@attrs.frozen
class Product(AtomicLaw):
    """Independent draws from several laws."""

    laws: tuple[Law, ...]

    def window(self, precision: int) -> Sequence[Outcome]:
        """The product of the windows of the factors, taken smaller when it would be too long.

        Raises:
            NoRouteError: when it is too long to be listed even so.
        """
        while True:
            windows = [atomic(law).window(precision) for law in self.laws]
            outcomes = math.prod(map(len, windows))
            if outcomes <= _MOST_OUTCOMES or (precision <= _LEAST_PRECISION and outcomes <= _LISTED):
                return list(itertools.product(*windows))
            if precision <= _LEAST_PRECISION:
                raise NoRouteError("product of laws", f"has {outcomes} outcomes to list", "compare the factors one by one")
            precision //= 2

    def mass(self, outcome: Outcome, precision: int = 64) -> arb:
        if not isinstance(outcome, tuple) or len(outcome) != len(self.laws):
            return arb(0)
        total = arb(1)
        with ctx.workprec(precision + 32):
            for law, entry in zip(self.laws, outcome, strict=True):
                total *= atomic(law).mass(entry, precision)
        return total

    def closed_against(self, other: Law) -> Dichotomy | None:
        if not isinstance(other, Product) or len(other.laws) != len(self.laws):
            return None
        return product_of(mine.against(theirs) for mine, theirs in zip(self.laws, other.laws, strict=True))


@attrs.frozen
class PushForward(AtomicLaw):
    """The law of function(X).

    Two images under the same function object are at most as far apart as the laws they come from (data processing), and
    at least as far as the images that can be listed.
    """

    law: Law
    function: Callable[[Any], Outcome]

    def window(self, precision: int) -> Sequence[Outcome]:
        return list(_images(self, precision)[0])

    def mass(self, outcome: Outcome, precision: int = 64) -> arb:
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
        except NoRouteError:
            return Between((IDENTICAL,), (parent,))
        return Between((listed,), (parent, listed))


@lru_cache(maxsize=256)
def _images(law: PushForward, precision: int) -> tuple[dict[Outcome, arb], arb]:
    """The masses of the images of a window, and what lies outside it."""
    images: dict[Outcome, arb] = {}
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
        """Between the mixtures themselves, cut into cells, and the union in which the component is shown."""
        theirs = other.laws if isinstance(other, Mixture) and other.weights == self.weights else (other,) * len(self.laws)
        try:
            union = UnionDichotomy(self.weights, tuple(mine.against(its) for mine, its in zip(self.laws, theirs, strict=True)))
        except NoRouteError:
            return None
        try:
            merged = general(self, _known(other))
        except NoRouteError:
            return Between((IDENTICAL,), (union,))
        return Between((merged,), (union, merged))


def _known(law: Law) -> KnownLaw:
    if not isinstance(law, KnownLaw):
        raise NoRouteError(type(law).__name__, "cannot be taken apart", "derive the law from AtomicLaw")
    return law
