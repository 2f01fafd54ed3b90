"""Products of outputs of which exactly one, at an unknown index, has another law: a record in one of many batches."""

from __future__ import annotations

import math
from collections.abc import Hashable
from fractions import Fraction

import attrs
from flint import arb, ctx

from dpspec.base.errors import NotEnumerableError
from dpspec.base.log_linear import ball
from dpspec.laws.atoms import IDENTICAL, Between, Sandwich
from dpspec.laws.continuous import GaussianLaw
from dpspec.laws.dichotomy import Cell, Cells, Dichotomy
from dpspec.laws.law import Law
from dpspec.laws.numeric import normal_cdf

_STEPS = 16
"""The number of thresholds for each standard deviation."""
_MOST_CELLS = 1 << 12
_GUARD = 128


@attrs.frozen(cache_hash=True)
class InOneOf(Law):
    """(Y_1, ..., Y_B), independent, all with the law `plain` but one, drawn uniformly, which has the law `other`.

    Two of them with the same `plain` are compared from above by the laws of the one place: what is published can be simulated
    from it, with a place drawn uniformly. From below, for Gaussian laws, by the largest output in units of its noise, max Y_i:
    with F the distribution function of `plain` and G that of `other`, it has F(t)^(B - 1) G(t). Chua, Ghazi, Kamath, Kumar,
    Manurangsi, Sinha and Zhang 2024 show with such events that shuffled batches can spend more than sampled ones.

    Args:
        plain: the law of all places but one.
        other: the law of that one.
        count: B.

    >>> one, two = (InOneOf(GaussianLaw(0, 1), GaussianLaw(at, 1), 10) for at in (0, 2))
    >>> found = two.against(one).hockey_stick(1)
    >>> found.lower.decimal(2), found.upper.decimal(2)
    ('0.18', '0.51')
    """

    plain: Law
    other: Law
    count: int

    def against(self, other: Law) -> Dichotomy:
        if self == other:
            return IDENTICAL
        if not isinstance(other, InOneOf) or (other.plain, other.count) != (self.plain, self.count):
            raise NotEnumerableError("law of many batches", "is compared only where records are alike but one")
        above = self.other.against(other.other)
        gaussian = [law for law in (self.plain, self.other, other.other) if isinstance(law, GaussianLaw)]
        if self.count == 1 or len(gaussian) < 3 or len({law.accuracy for law in gaussian}) > 1:
            return above if self.count == 1 else Between((IDENTICAL,), (above,))
        shifts = [law.center - gaussian[0].center for law in gaussian[1:]]
        return Between((Sandwich.of(_Largest(shifts[0], shifts[1], gaussian[0], self.count).cells),), (above,))


@attrs.frozen(cache_hash=True)
class InBatches(Law):
    """The law of a release about batches of some records, too many to list all assignments: it is compared with itself alone.

    Args:
        released: what is released about a batch.
        records: the records, in the order of their names.
        count: the number of batches.
        assignment: how records get into batches.
    """

    released: Hashable
    records: tuple[Hashable, ...]
    count: int
    assignment: str

    def against(self, other: Law) -> Dichotomy:
        if self == other:
            return IDENTICAL
        raise NotEnumerableError("law of many batches", "is compared only where records are alike but one")


@attrs.frozen
class _Largest:
    """The cells of max Y_i, cut at thresholds; from below only: what is merged says less.

    Args:
        shift, other_shift: how far the one place lies from the others, under P and under Q.
        plain: the law of the others.
        count: B.
    """

    shift: Fraction
    other_shift: Fraction
    plain: GaussianLaw
    count: int

    def cells(self, precision: int) -> Cells:
        working = precision + _GUARD
        with ctx.workprec(working):
            scale = self.plain.accuracy.enclose(working).sqrt()
            moved = [ball(shift) * scale for shift in (self.shift, self.other_shift)]
            if min(float(at.mid()) for at in moved) < 0 and max(float(at.mid()) for at in moved) <= 0:
                moved = [-at for at in moved]  # by symmetry the smallest output is the largest one of the mirror image
            reach = math.ceil(math.sqrt(2 * precision)) + 1
            last = max(math.ceil(float(at.upper())) for at in moved) + reach
            first = min(-reach, *(math.floor(float(at.lower())) - reach for at in moved))
            steps = max(1, min(_STEPS, _MOST_CELLS // (last - first)))
            before = (arb(0), arb(0))
            found: list[Cell] = []
            for place in range(first * steps, last * steps + 1):
                t = arb(place) / steps
                whole = normal_cdf(t) ** (self.count - 1)
                here = whole * normal_cdf(t - moved[0]), whole * normal_cdf(t - moved[1])
                found.append(Cell.atom(here[0] - before[0], here[1] - before[1]))
                before = here
            found.append(Cell.atom(1 - before[0], 1 - before[1]))
            return tuple(cell for cell in found if not (cell.p.is_zero() and cell.q.is_zero()))
