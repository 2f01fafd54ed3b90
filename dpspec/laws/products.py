"""Pairs whose loss is a sum of independent losses: products, unions and powers of dichotomies.

A product is two independent releases, a power one pair released independently many times, a union a hidden choice between pairs.
numpy is imported when one of them is evaluated.
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import attrs
from flint import arb, ctx

from dpspec.base.errors import NumericalError
from dpspec.base.exact import INFINITY, ZERO, Bracket, Number, ln, number
from dpspec.base.log_linear import ball, dyadic
from dpspec.base.memo import memoize
from dpspec.base.work import spend
from dpspec.laws.atoms import IDENTICAL, Between, FiniteDichotomy, Sandwich, compress
from dpspec.laws.continuous import GaussianShift
from dpspec.laws.cumulant import Cumulant, CumulantSum, Derivatives, supremum
from dpspec.laws.dichotomy import (
    INFINITE,
    WORK_OF_A_TRANSFORM,
    WORK_OF_CELLS,
    Cell,
    Cells,
    Composite,
    Dichotomy,
    Growth,
    Joinable,
    add_up,
    exact_atoms_of,
    gain_of,
    growth_of,
    joined,
    rational_end,
    releases_of,
    total,
)
from dpspec.laws.numeric import ball_exponential, binomial_tail, hull, spend_on_balls

if TYPE_CHECKING:
    from dpspec.laws.grid import TiltedCurve, Totals


TOO_FAR = (NumericalError, OverflowError, FloatingPointError)
"""Losses that doubles do not hold."""


class Convolved(Dichotomy, Composite):
    """A pair whose loss is a sum of independent losses: its hockey stick comes from their transforms, or from a grid.

    Pairs that are known through cells enter the grid as atoms, merged for the lower end and spread for the upper one.
    """

    @functools.cached_property
    def _known_curves(self) -> dict[int, TiltedCurve | None]:
        return {}

    @functools.cached_property
    def _known_ends(self) -> dict[tuple[str, int], Bracket]:
        """The largest log-ratio and the singular mass, which every point of a curve begins with."""
        return {}

    def _once(self, name: str, precision: int, made: Callable[[], Bracket]) -> Bracket:
        known = self._known_ends.get((name, precision))
        if known is None:
            known = self._known_ends[name, precision] = made()
        return known

    @functools.cached_property
    def _known_totals(self) -> dict[int, tuple[Totals, Totals]]:
        return {}

    def _curve(self, precision: int) -> TiltedCurve | None:
        """The composed loss by transforms, where they are known."""
        from dpspec.laws.contour import Contour

        if precision not in self._known_curves:
            self._known_curves[precision] = Contour.of(self.releases(), precision)
        return self._known_curves[precision]

    def totals(self, precision: int) -> tuple[Totals, Totals]:
        """The composed losses on a grid, of a pair below and of one above; mostly they are one."""
        from dpspec.laws.grid import Totals

        if precision not in self._known_totals:
            parts = self.releases()
            lower = [(pair.lowers[0] if isinstance(pair, Sandwich) else pair, times) for pair, times in parts]
            upper = [(pair.uppers[0] if isinstance(pair, Sandwich) else pair, times) for pair, times in parts]
            below = Totals.of(lower, precision)
            self._known_totals[precision] = below, below if lower == upper else Totals.of(upper, precision)
        return self._known_totals[precision]

    def _asked(self, functional: Callable[[TiltedCurve], Bracket], precision: int) -> Bracket:
        """The answer of the transforms; where they say little, also that of the grid.

        Raises:
            TOO_FAR: neither has one.
        """
        found = None
        try:
            curve = self._curve(precision)
            found = None if curve is None else functional(curve)
        except TOO_FAR:
            pass
        if found is not None and not found.upper.is_infinite and found.upper <= found.lower * 2:
            return found
        try:
            below, above = self.totals(precision)
            lower = functional(below)
            gridded = lower if above is below else Bracket(lower=lower.lower, upper=functional(above).upper)
        except TOO_FAR:
            if found is None:
                raise
            return found
        if found is None:
            return gridded
        return Bracket(lower=max(found.lower, gridded.lower), upper=min(found.upper, gridded.upper))

    def _hockey_stick(self, epsilon: Number, precision: int) -> Bracket:
        try:
            return self._asked(lambda curve: curve.hockey_stick(epsilon), precision)
        except TOO_FAR:
            return Bracket(lower=self._of_one(lambda pair: pair.hockey_stick(epsilon, precision=precision)), upper=number(1))

    def _epsilon_at(self, delta: Fraction, precision: int) -> Bracket:
        if self.singular_mass(precision=precision).lower > delta:
            return INFINITE
        top = self.max_log_ratio(precision=precision).upper
        try:
            return self._asked(lambda curve: curve.epsilon_at(delta, top), precision)
        except TOO_FAR:
            return Bracket(lower=self._of_one(lambda pair: pair.epsilon_at(delta, precision=precision)), upper=top)

    def _of_one(self, functional: Callable[[Dichotomy], Bracket]) -> Number:
        """A divergence of one release alone that is this large is a sufficient lower bound: the other releases are not
        evaluated."""
        return max(functional(pair).lower for pair, _ in self.releases())


# --- products and unions --------------------------------------------------------------------------


_CELLS_PER_BIT = 4
_WORK_OF_A_CELL = 2
"""So many exponentials take as long as to multiply two cells."""
_WORK_OF_A_MEAN = 16
"""Units of work of a value of one part of a union, next to that of the part itself."""
_FEW_FACTORS = 2
_GRID = (1, 2, 3, 4, 6, 8, 12, 16, 32, 64)


def product_of(factors: Iterable[Dichotomy]) -> Dichotomy:
    """The pair of product laws (P_1 x P_2 x ..., Q_1 x Q_2 x ...) in its simplest form.

    Identical factors drop out; finite pairs are multiplied out while there are at most 10^4 atoms, and Gaussian shifts joined
    to one.

    >>> from dpspec.laws.continuous import GaussianShift
    >>> str(product_of([GaussianShift(number(1)), IDENTICAL, GaussianShift(number(3))]).concentration())
    '2'
    """
    kept: list[Dichotomy] = []
    joinable: list[int] = []
    for factor in _multiplied_out([factor for factor in factors if not factor.is_identical]):
        found = next(((i, j) for i in joinable if (j := joined(kept[i], factor)) is not None), None)
        if found is None:
            joinable += [len(kept)] if isinstance(factor, Joinable) else []
            kept.append(factor)
        else:
            kept[found[0]] = found[1]
    if not kept:
        return IDENTICAL
    if len(kept) == 1:
        return kept[0]
    if any(factor.below() is not factor for factor in kept):
        below = product_of(factor.below() for factor in kept)
        return Between((below,), (product_of(factor.above() for factor in kept),))
    return ProductDichotomy(tuple(kept))


def product_of_powers(parts: Sequence[tuple[Dichotomy, int]]) -> Dichotomy:
    """Independent releases, each pair as often as it says: a few finite pairs are multiplied out, many stay as they are."""
    finite = [(pair, times) for pair, times in parts if isinstance(pair, FiniteDichotomy)]
    if len(finite) < 2 or have_few_atoms(finite):
        return product_of(power(pair, times) for pair, times in parts)
    return product_of(
        _unmultiplied(pair, times) if isinstance(pair, FiniteDichotomy) and times > 1 else power(pair, times)
        for pair, times in parts
    )


def _multiplied_out(factors: Sequence[Dichotomy]) -> Iterator[Dichotomy]:
    """The factors, the finite ones first as their product where that has few atoms."""
    finite = [factor for factor in factors if isinstance(factor, FiniteDichotomy)]
    if len(finite) < 2 or not have_few_atoms([(pair, 1) for pair in finite]):
        yield from factors
        return
    equal: dict[Hashable, list[FiniteDichotomy]] = {}
    for pair in finite:
        equal.setdefault((pair.p_weights, pair.q_weights, pair.p_total, pair.q_total), []).append(pair)
    yield functools.reduce(FiniteDichotomy.product, (_product_of_equal(pairs[0], len(pairs)) for pairs in equal.values()))
    yield from (factor for factor in factors if not isinstance(factor, FiniteDichotomy))


_STEP = 8
"""Of the products of equal pairs, those of so many more factors each are kept."""


def _product_of_equal(pair: FiniteDichotomy, times: int) -> FiniteDichotomy:
    """A pair multiplied with itself. The products of fewer factors are kept: a proof asks for those of nearly every number."""
    whole: list[FiniteDichotomy] = []
    for count in range(_STEP, times + 1, _STEP):  # each from the one before, which is kept by then
        whole = [_kept_product(pair.p_weights, pair.q_weights, pair.p_total, pair.q_total, count)]
    return functools.reduce(FiniteDichotomy.product, [*whole, *[pair] * (times % _STEP)])


@memoize(maxsize=256)
def _kept_product(
    p_weights: tuple[int, ...], q_weights: tuple[int, ...], p_total: int, q_total: int, times: int
) -> FiniteDichotomy:  # fmt: skip
    if times == _STEP:
        return _multiplied(FiniteDichotomy(p_weights, q_weights, p_total, q_total), _STEP)
    step = _kept_product(p_weights, q_weights, p_total, q_total, _STEP)
    return _kept_product(p_weights, q_weights, p_total, q_total, times - _STEP).product(step)


_MOST_ATOMS_OF_PRODUCT = 10_000
_MOST_BITS_OF_PRODUCT = 1 << 24
_APART = 2.0**-32
"""Losses that differ by less count as one: this decides only whether a product is multiplied out."""


def have_few_atoms(parts: Sequence[tuple[FiniteDichotomy, int]]) -> bool:
    """Whether the product of finite pairs, each as often as it says, has at most about 10^4 different likelihood ratios.

    The losses add, so that their sums are counted, in doubles.

    >>> toss, other = FiniteDichotomy((3, 1), (1, 3), 4, 4), FiniteDichotomy((5, 2), (2, 5), 7, 7)
    >>> have_few_atoms([(toss, 50), (other, 50)]), have_few_atoms([(toss, 200), (other, 200)])
    (True, False)
    """
    if _are_few_at_most(parts):
        return True
    import numpy as np

    sums, bits = np.zeros(1), 0
    for pair, times in sorted(parts, key=lambda part: part[1] * len(part[0].by_ratio)):
        losses = np.array([math.log(p) - math.log(q) for p, q in pair.by_ratio if p and q] or [0.0])
        bits += times * (pair.p_total.bit_length() + pair.q_total.bit_length())
        for _ in range(times):
            wider = np.unique(np.rint(np.add.outer(sums, losses).ravel() / _APART)) * _APART
            if len(wider) > _MOST_ATOMS_OF_PRODUCT or len(wider) * bits > _MOST_BITS_OF_PRODUCT:
                return False
            sums = wider
    return True


def _are_few_at_most(parts: Sequence[tuple[FiniteDichotomy, int]]) -> bool:
    """Whether the product of the numbers of likelihood ratios is small already: then no two sums have to be compared."""
    atoms, bits = 1, 0
    for pair, times in parts:
        ratios = max(len(pair.by_ratio), 1)
        if times * math.log(ratios) > math.log(_MOST_ATOMS_OF_PRODUCT):
            return False
        atoms, bits = atoms * ratios**times, bits + times * (pair.p_total.bit_length() + pair.q_total.bit_length())
    return atoms <= _MOST_ATOMS_OF_PRODUCT and atoms * bits <= _MOST_BITS_OF_PRODUCT


@attrs.frozen(eq=False)
class ProductDichotomy(Convolved, Growth):
    """Independent factors of different kinds.

    Log-ratios add, so max_log_ratio and Renyi divergences are sums; the hockey stick conditions on the exact atoms of one
    factor when the other is in closed form, convolves losses that are known finely, and goes through common cells otherwise.
    """

    factors: tuple[Dichotomy, ...]
    _picture: list[Sandwich] = attrs.field(factory=list, repr=False)

    def releases(self) -> tuple[tuple[Dichotomy, int], ...]:
        return self._releases

    @functools.cached_property
    def _releases(self) -> tuple[tuple[Dichotomy, int], ...]:
        counts: dict[Dichotomy, int] = {}
        for factor in self.factors:
            for pair, times in releases_of(factor):
                counts[pair] = counts.get(pair, 0) + times
        return tuple(counts.items())

    def signature(self) -> Hashable:
        return ProductDichotomy, frozenset(Counter(factor.signature() for factor in self.factors).items())

    @property
    def work(self) -> int:
        inner = sum(factor.work for factor in self.factors)
        if self.is_convolved:
            return inner + WORK_OF_A_TRANSFORM
        return (inner + WORK_OF_CELLS) * len(self.factors)  # the cells of each factor are multiplied with those of the others

    def reverse(self) -> Dichotomy:
        turned = tuple(factor.reverse() for factor in self.factors)
        same = all(one is other for one, other in zip(turned, self.factors, strict=True))
        return self if same else ProductDichotomy(turned)

    @property
    def is_linear_in_order(self) -> bool:
        return all(growth_of(factor).is_linear_in_order for factor in self.factors)

    def max_log_ratio(self, *, precision: int = 64) -> Bracket:
        return self._once("max_log_ratio", precision, lambda: total(self._largest_ratios(precision)))

    def _largest_ratios(self, precision: int) -> Iterator[Bracket]:
        """The largest ratios, those of equal factors together: thousands of equal answers are one multiple."""
        for factor, times in Counter(self.factors).items():
            found = factor.max_log_ratio(precision=precision)
            yield found if times == 1 or found.lower.is_infinite else found.scaled(times)

    def singular_mass(self, *, precision: int = 64) -> Bracket:
        return self._once("singular_mass", precision, lambda: self._singular_mass(precision))

    def _singular_mass(self, precision: int) -> Bracket:
        masses = [factor.singular_mass(precision=precision) for factor in self.factors]
        return Bracket(
            lower=number(1 - _escape(mass.lower for mass in masses)), upper=number(1 - _escape(mass.upper for mass in masses))
        )

    def _renyi(self, order: Fraction, precision: int) -> Bracket:
        return total(factor.renyi(order, precision=precision) for factor in self.factors)

    def _concentration(self, precision: int) -> Bracket:
        sups = [pair.concentration(precision=precision).scaled(times) for pair, times in Counter(self.factors).items()]
        if any(sup.lower.is_infinite for sup in sups):
            return INFINITE
        bound = total(sups)
        curved = [factor for factor in self.factors if not growth_of(factor).is_linear_in_order]
        if not curved:
            return bound
        joint = self._joint_supremum(curved, precision)
        grid = (self.renyi(order, precision=precision).lower / order for order in _GRID)
        lower = max(grid) if joint is None else joint.lower
        return Bracket(lower=lower, upper=bound.upper if joint is None else min(joint.upper, bound.upper))

    def _joint_supremum(self, curved: Sequence[Dichotomy], precision: int) -> Bracket | None:
        """The supremum over one common order, where every curved factor has a cumulant.

        Linear factors add their own supremum. Some reach it only at integer orders and in the limit 1: then the sum
        is exact only when the curved factors are largest in that limit.
        """
        flat = [factor for factor in self.factors if growth_of(factor).is_linear_in_order]
        tops = [factor.max_log_ratio(precision=precision).upper for factor in curved]
        makers = [growth_of(factor).cumulant(precision) for factor in curved]
        if any(top.is_infinite for top in tops) or any(maker is None for maker in makers):
            return None

        def make(working: int) -> Cumulant:
            return CumulantSum(tuple(maker(working) for maker in makers if maker is not None))

        top = functools.reduce(add_up, tops)
        found = supremum(make, top=top, precision=precision)
        constant = [factor.concentration(precision=precision) for factor in flat]
        if found is None:
            return total([*constant, *(factor.renyi(1, precision=precision) for factor in curved)])
        whole = total([*constant, found])
        if all(growth_of(factor).is_gaussian for factor in flat):
            return whole
        grid = (self.renyi(order, precision=precision).lower / order for order in _GRID)
        return Bracket(lower=max(grid), upper=whole.upper)

    def _hockey_stick(self, epsilon: Number, precision: int) -> Bracket:
        conditioned = self._conditioned(epsilon, precision) if len(self.factors) == 2 else None
        if conditioned is not None:
            return conditioned
        if self.is_convolved:
            return Convolved._hockey_stick(self, epsilon, precision)
        return self._cut.hockey_stick(epsilon, precision=precision)

    def _conditioned(self, epsilon: Number, precision: int) -> Bracket | None:
        """sum_i p_i H(epsilon - ln(p_i/q_i)) over the exact atoms of one factor, H the hockey stick of the other."""
        for finite, other in (self.factors, self.factors[::-1]):
            atoms = exact_atoms_of(finite)
            if atoms is None or len(atoms) > _CELLS_PER_BIT * precision or exact_atoms_of(other) is not None:
                continue
            try:
                thresholds = [None if not q else epsilon - ln(p / q) for p, q in atoms if p]
            except NumericalError:
                return None
            lower = upper = Fraction(0)
            for threshold, (p, _) in zip(thresholds, (atom for atom in atoms if atom[0]), strict=True):
                value = Bracket.exactly(1) if threshold is None else other.hockey_stick(threshold, precision=precision)
                lower, upper = lower + p * rational_end(value.lower, -1), upper + p * rational_end(value.upper, 1)
            return Bracket(lower=number(lower), upper=number(upper))
        return None

    def _epsilon_at(self, delta: Fraction, precision: int) -> Bracket:
        if len(self.factors) == 2 and self._conditioned(ZERO, precision) is not None:
            return Dichotomy._epsilon_at(self, delta, precision)
        if self.is_convolved:
            return Convolved._epsilon_at(self, delta, precision)
        return self._cut.epsilon_at(delta, precision=precision)

    @property
    def is_convolved(self) -> bool:
        """Whether the losses are known finely enough for a grid, or too many for anything else."""
        from dpspec.laws.pieces import has_fine_pieces

        parts = self.releases()
        return any(times > 1 for _, times in parts) or all(has_fine_pieces(pair) for pair, _ in parts)

    @property
    def is_blurred(self) -> bool:
        """Whether `cells` says less than the hockey stick: its cells are joined once per factor, and each time their ranges grow.

        Of 4 discrete Gaussian pairs P(L > ln 2) is between 0.009 and 0.42 by cells, between 0.0189 and 0.0192 by slopes of the
        hockey stick; of 128 it is between 0 and 1 by cells, after half a minute.
        """
        return len(self.factors) > _FEW_FACTORS and self.is_convolved

    @property
    def _cut(self) -> Sandwich:
        if not self._picture:
            self._picture.append(Sandwich.of(self._multiplied_cells))
        return self._picture[0]

    def cells(self, precision: int) -> Cells:
        return self._cut.cells(precision)

    def _multiplied_cells(self, precision: int) -> Cells:
        limit = _CELLS_PER_BIT * precision
        with ctx.workprec(precision + 32):
            pictures = [compress(factor.cells(precision), limit) for factor in self.factors]
            return functools.reduce(lambda left, right: compress(_joint(left, right), limit), pictures)


def _joint(left: Cells, right: Cells) -> list[Cell]:
    """The cells of the product of two pairs."""
    spend_on_balls(_WORK_OF_A_CELL * len(left) * len(right))
    return [one.times(two) for one in left for two in right]


def _escape(masses: Iterable[Number]) -> Fraction:
    """prod_i (1 - mass_i)."""
    product = Fraction(1)
    for mass in masses:
        if mass is not ZERO:
            product *= 1 - mass.as_fraction()
    return product


@attrs.frozen(eq=False)
class UnionDichotomy(Dichotomy):
    """A disjoint union: a public coin with weights w_i, shown with the outcome, chooses the pair (P_i, Q_i).

    It lies above the pair of mixtures (sum w_i P_i, sum w_i Q_i), which forgets the coin.
    """

    weights: tuple[Fraction, ...]
    pairs: tuple[Dichotomy, ...]

    @property
    def is_identical(self) -> bool:
        return all(pair.is_identical for pair in self.pairs)

    def signature(self) -> Hashable:
        shares: dict[Hashable, Fraction] = {}
        for weight, pair in zip(self.weights, self.pairs, strict=True):
            shares[pair.signature()] = shares.get(pair.signature(), Fraction(0)) + weight
        return UnionDichotomy, frozenset(shares.items())

    @property
    def work(self) -> int:
        return sum(pair.work for pair in self.pairs)

    def reverse(self) -> UnionDichotomy:
        return UnionDichotomy(self.weights, tuple(pair.reverse() for pair in self.pairs))

    def _largest(self, functional: Callable[[Dichotomy], Bracket]) -> Bracket:
        spend(_WORK_OF_A_MEAN * len(self.pairs))
        values = [functional(pair) for pair in self.pairs]
        return Bracket(lower=max(value.lower for value in values), upper=max(value.upper for value in values))

    def _mean(self, functional: Callable[[Dichotomy], Bracket]) -> Bracket:
        spend(_WORK_OF_A_MEAN * len(self.pairs))
        values = [functional(pair) for pair in self.pairs]
        if any(value.lower.is_infinite for value in values):
            return INFINITE
        lower = sum((w * rational_end(value.lower, -1) for w, value in zip(self.weights, values, strict=True)), Fraction(0))
        if any(value.upper.is_infinite for value in values):
            return Bracket(lower=number(lower), upper=INFINITY)
        upper = sum((w * rational_end(value.upper, 1) for w, value in zip(self.weights, values, strict=True)), Fraction(0))
        return Bracket(lower=number(lower), upper=number(upper))

    def max_log_ratio(self, *, precision: int = 64) -> Bracket:
        return self._largest(lambda pair: pair.max_log_ratio(precision=precision))

    def singular_mass(self, *, precision: int = 64) -> Bracket:
        return self._mean(lambda pair: pair.singular_mass(precision=precision))

    def _hockey_stick(self, epsilon: Number, precision: int) -> Bracket:
        return self._mean(lambda pair: pair.hockey_stick(epsilon, precision=precision))

    def _renyi(self, order: Fraction, precision: int) -> Bracket:
        """ln(sum_i w_i e^((alpha-1) D_i)) / (alpha - 1); the mean of the D_i for alpha = 1."""
        if order == 1:
            return self._mean(lambda pair: pair.renyi(1, precision=precision))
        values = [pair.renyi(order, precision=precision) for pair in self.pairs]
        if any(value.lower.is_infinite for value in values):
            return INFINITE
        with ctx.workprec(precision + 32):
            ends = [self._power_mean([v.lower for v in values], order), self._power_mean([v.upper for v in values], order)]
            bracket = Bracket.around(hull(*ends) if ends[1].is_finite() else ends[0], least=0)
        return bracket if ends[1].is_finite() else Bracket(lower=bracket.lower, upper=INFINITY)

    def _power_mean(self, values: Sequence[Number], order: Fraction) -> arb:
        exponent = ball(order - 1)
        total = arb(0)
        for weight, value in zip(self.weights, values, strict=True):
            total += ball(weight) * (exponent * value.enclose(ctx.prec)).exp()
        return total.log() / exponent

    def _concentration(self, precision: int) -> Bracket:
        """At most the largest of the parts, since D_alpha is at most the largest D_alpha of the parts."""
        upper = self._largest(lambda pair: pair.concentration(precision=precision)).upper
        lower = max(self.renyi(order, precision=precision).lower / order for order in _GRID)
        return Bracket(lower=lower, upper=upper)

    def cells(self, precision: int) -> Cells:
        with ctx.workprec(precision + 32):
            return tuple(
                Cell(cell.p * ball(weight), cell.q * ball(weight), cell.low, cell.high)
                for weight, pair in zip(self.weights, self.pairs, strict=True)
                for cell in pair.cells(precision)
            )


# --- powers ---------------------------------------------------------------------------------------


_MOST_BITS = 1 << 20
"""Finite pairs are multiplied out exactly as long as their weights stay below this many bits in all."""


def power(pair: Dichotomy, times: int) -> Dichotomy:
    """The pair, released `times` >= 1 times, in its simplest form.

    >>> power(FiniteDichotomy((3, 1), (1, 3), 4, 4), 2).atoms()
    ((Fraction(9, 16), Fraction(1, 16)), (Fraction(3, 8), Fraction(3, 8)), (Fraction(1, 16), Fraction(9, 16)))
    """
    if times == 1 or pair.is_identical:
        return pair
    if isinstance(pair, Between) and pair.below() is not pair:
        return Between(*(tuple(power(end, times) for end in ends) for ends in (pair.lowers, pair.uppers)))
    if isinstance(pair, GaussianShift):
        return GaussianShift(pair.mu_squared * times)
    if isinstance(pair, Power):
        return power(pair.pair, pair.times * times)
    if isinstance(pair, FiniteDichotomy):
        atoms = len(pair.by_ratio)
        # about how many bits the merged atoms have
        bits = math.comb(times + atoms - 1, atoms - 1) * times * (pair.p_total.bit_length() + pair.q_total.bit_length())
        return _multiplied(pair, times) if bits < _MOST_BITS else _unmultiplied(pair, times)
    return Power(pair, times)


def _unmultiplied(pair: FiniteDichotomy, times: int) -> Power:
    has_two_atoms = len(pair.by_ratio) == 2 and all(p and q for p, q in pair.by_ratio)
    return TwoAtomPower(pair, times) if has_two_atoms else Power(pair, times)


def _multiplied(pair: FiniteDichotomy, times: int) -> FiniteDichotomy:
    if times == 1:
        return pair
    half = _multiplied(pair, times // 2)
    return half.product(half).product(pair) if times % 2 else half.product(half)


@attrs.frozen(eq=False)
class Power(Convolved, Growth):
    """One pair, released `times` > 1 times.

    Losses add, so the largest log-ratio, Renyi divergences and their suprema are multiples; the hockey stick is convolved.
    """

    pair: Dichotomy
    times: int

    def releases(self) -> tuple[tuple[Dichotomy, int], ...]:
        return ((self.pair, self.times),)

    def signature(self) -> Hashable:
        return Power, self.pair.signature(), self.times

    @property
    def work(self) -> int:
        return self.pair.work + WORK_OF_A_TRANSFORM

    def reverse(self) -> Dichotomy:
        return power(self.pair.reverse(), self.times)

    @property
    def is_linear_in_order(self) -> bool:
        return growth_of(self.pair).is_linear_in_order

    def max_log_ratio(self, *, precision: int = 64) -> Bracket:
        return self._once(
            "max_log_ratio", precision, lambda: self.pair.max_log_ratio(precision=precision).scaled(self.times)
        )

    def singular_mass(self, *, precision: int = 64) -> Bracket:
        mass = self.pair.singular_mass(precision=precision)
        if mass.upper == 0:
            return mass
        with ctx.workprec(precision + 32):
            ends = [1 - (1 - end.enclose(precision + 32)) ** self.times for end in (mass.lower, mass.upper)]
            return Bracket.around(hull(*ends), least=0)

    def _renyi(self, order: Fraction, precision: int) -> Bracket:
        return self.pair.renyi(order, precision=precision).scaled(self.times)

    def _concentration(self, precision: int) -> Bracket:
        return self.pair.concentration(precision=precision).scaled(self.times)

    def cumulant(self, precision: int) -> Callable[[int], Cumulant] | None:
        make = growth_of(self.pair).cumulant(precision)
        return None if make is None else lambda working: _Multiple(make(working), self.times)


@attrs.frozen
class _Multiple(Cumulant):
    """The cumulant of a power."""

    single: Cumulant
    times: int

    @property
    def size(self) -> int:
        return self.single.size

    def value(self, s: arb) -> arb:
        return self.single.value(s) * self.times

    def derivatives(self, s: arb) -> Derivatives:
        first, second, third, fourth = (value * self.times for value in self.single.derivatives(s))
        return first, second, third, fourth


@attrs.frozen(eq=False)
class TwoAtomPower(Power):
    """One pair of two atoms, released n times.

    With X ~ Bin(n, p) under P and Bin(n, q) under Q the loss is l_x = x a + (n - x) b, a > b, and for l_(m-1) <= eps <= l_m

        hockey stick = P(X >= m) - e^eps Q(X >= m).
    """

    def _hockey_stick(self, epsilon: Number, precision: int) -> Bracket:
        working = precision + 64
        with ctx.workprec(working):
            high, low = self._losses(working)
            place = (epsilon.enclose(working) - low * self.times) / (high - low)
            factor = ball_exponential(epsilon, working)
            least = {math.floor(dyadic(end)) + 1 for end in (place.lower(), place.upper())}
            return gain_of([self._tails(m, working) for m in least], factor)

    def _epsilon_at(self, delta: Fraction, precision: int) -> Bracket:
        """ln((P(X >= m) - delta) / Q(X >= m)) for the m between whose losses it lies, found by halving."""
        working = precision + 64
        with ctx.workprec(working):
            slack = ball(delta)

            def excess(m: int) -> arb:
                p, q = self._tails(m, working)
                return p - self._loss(m, working).exp() * q - slack

            low, high = 0, self.times
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (middle, high) if excess(middle) > 0 else (low, middle)
            if not (excess(low) > 0 and excess(high) < 0):
                return Dichotomy._epsilon_at(self, delta, precision)
            p, q = self._tails(high, working)
            return Bracket.around(((p - slack) / q).log(), least=0)

    def _losses(self, precision: int) -> tuple[arb, arb]:
        one, other = self.pair.cells(precision)
        return (one.p / one.q).log(), (other.p / other.q).log()

    def _loss(self, place: int, precision: int) -> arb:
        high, low = self._losses(precision)
        return high * place + low * (self.times - place)

    def _tails(self, least: int, precision: int) -> tuple[arb, arb]:
        (p, q), _ = exact_atoms_of(self.pair) or ()
        return binomial_tail(self.times, p, least, precision), binomial_tail(self.times, q, least, precision)
