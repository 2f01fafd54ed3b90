"""Products and unions of dichotomies: independent releases, and a hidden choice between pairs."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction

import attrs
from flint import arb, ctx

from dpspec.errors import NumericalError
from dpspec.exact import INFINITY, ZERO, Bracket, Number, ball, ln, number
from dpspec.laws.atoms import IDENTICAL
from dpspec.laws.balls import Cell, Cells
from dpspec.laws.convolved import Convolved
from dpspec.laws.cumulant import Cumulant, CumulantSum, supremum
from dpspec.laws.dichotomy import INFINITE, Dichotomy
from dpspec.laws.numeric import hull
from dpspec.laws.sandwich import Between, Sandwich
from dpspec.laws.sums import add_up, rational_end, total

_CELLS_PER_BIT = 4
_GRID = (1, 2, 3, 4, 6, 8, 12, 16, 32, 64)


def product_of(factors: Iterable[Dichotomy]) -> Dichotomy:
    """The pair of product laws (P_1 x P_2 x ..., Q_1 x Q_2 x ...) in its simplest form.

    Identical factors drop out; exact atoms are multiplied out and Gaussian shifts joined to one.

    >>> from dpspec.laws.shifts import GaussianShift
    >>> str(product_of([GaussianShift(number(1)), IDENTICAL, GaussianShift(number(3))]).concentration())
    '2'
    """
    kept: list[Dichotomy] = []
    for factor in factors:
        if factor.is_identical:
            continue
        joined = next(((i, j) for i, old in enumerate(kept) if (j := old.joined(factor)) is not None), None)
        if joined is None:
            kept.append(factor)
        else:
            kept[joined[0]] = joined[1]
    if not kept:
        return IDENTICAL
    if len(kept) == 1:
        return kept[0]
    if any(factor.below() is not factor for factor in kept):
        below = product_of(factor.below() for factor in kept)
        return Between((below,), (product_of(factor.above() for factor in kept),))
    return ProductDichotomy(tuple(kept))


@attrs.frozen(eq=False)
class ProductDichotomy(Convolved):
    """Independent factors of different kinds.

    Log-ratios add, so max_log_ratio and Renyi divergences are sums; the hockey stick conditions on the exact atoms of one
    factor when the other is in closed form, convolves losses that are known finely, and goes through common cells otherwise.
    """

    factors: tuple[Dichotomy, ...]
    _picture: list[Sandwich] = attrs.field(factory=list, repr=False)

    def releases(self) -> tuple[tuple[Dichotomy, int], ...]:
        counts: dict[Dichotomy, int] = {}
        for factor in self.factors:
            for pair, times in factor.releases():
                counts[pair] = counts.get(pair, 0) + times
        return tuple(counts.items())

    def reverse(self) -> Dichotomy:
        return ProductDichotomy(tuple(factor.reverse() for factor in self.factors))

    @property
    def is_linear_in_order(self) -> bool:
        return all(factor.is_linear_in_order for factor in self.factors)

    def max_log_ratio(self, *, precision: int = 64) -> Bracket:
        return total(factor.max_log_ratio(precision=precision) for factor in self.factors)

    def singular_mass(self, *, precision: int = 64) -> Bracket:
        masses = [factor.singular_mass(precision=precision) for factor in self.factors]
        return Bracket(
            lower=number(1 - _escape(mass.lower for mass in masses)), upper=number(1 - _escape(mass.upper for mass in masses))
        )

    def _renyi(self, order: Fraction, precision: int) -> Bracket:
        return total(factor.renyi(order, precision=precision) for factor in self.factors)

    def _concentration(self, precision: int) -> Bracket:
        sups = [factor.concentration(precision=precision) for factor in self.factors]
        if any(sup.lower.is_infinite for sup in sups):
            return INFINITE
        bound = total(sups)
        curved = [factor for factor in self.factors if not factor.is_linear_in_order]
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
        flat = [factor for factor in self.factors if factor.is_linear_in_order]
        tops = [factor.max_log_ratio(precision=precision).upper for factor in curved]
        makers = [factor.cumulant(precision) for factor in curved]
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
        if all(factor.is_gaussian for factor in flat):
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
            atoms = finite.exact_atoms()
            if atoms is None or len(atoms) > _CELLS_PER_BIT * precision or other.exact_atoms() is not None:
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
    def _cut(self) -> Sandwich:
        if not self._picture:
            self._picture.append(Sandwich.of(self.cells))
        return self._picture[0]

    def cells(self, precision: int) -> Cells:
        limit = _CELLS_PER_BIT * precision
        with ctx.workprec(precision + 32):
            pictures = [compress(factor.cells(precision), limit) for factor in self.factors]
            return functools.reduce(
                lambda left, right: compress([one.times(two) for one in left for two in right], limit), pictures
            )


def compress(cells: Sequence[Cell], limit: int) -> Cells:
    """At most about `limit` cells: neighbours in the order of the ratio are joined, and keep the whole range of both."""
    if len(cells) <= limit:
        return tuple(cells)
    groups: dict[tuple[bool, bool, bool, bool], list[Cell]] = {}
    for cell in cells:
        kind = (cell.low.is_finite(), cell.high.is_finite(), cell.p.is_zero(), cell.q.is_zero())
        groups.setdefault(kind, []).append(cell)
    joined: list[Cell] = []
    for group in groups.values():
        group.sort(key=lambda cell: float(cell.low) if cell.low.is_finite() else float(cell.high))
        size = -(-len(group) * len(groups) // limit)
        joined += [_join(group[i : i + size]) for i in range(0, len(group), size)]
    return tuple(joined)


def _join(cells: Sequence[Cell]) -> Cell:
    p, q = sum((cell.p for cell in cells), arb(0)), sum((cell.q for cell in cells), arb(0))
    low = functools.reduce(arb.min, (cell.low for cell in cells))
    return Cell(p, q, low, functools.reduce(arb.max, (cell.high for cell in cells)))


def _escape(masses: Iterable[Number]) -> Fraction:
    """prod_i (1 - mass_i)."""
    product = Fraction(1)
    for mass in masses:
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

    def reverse(self) -> UnionDichotomy:
        return UnionDichotomy(self.weights, tuple(pair.reverse() for pair in self.pairs))

    def _largest(self, functional: Callable[[Dichotomy], Bracket]) -> Bracket:
        values = [functional(pair) for pair in self.pairs]
        return Bracket(lower=max(value.lower for value in values), upper=max(value.upper for value in values))

    def _mean(self, functional: Callable[[Dichotomy], Bracket]) -> Bracket:
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
