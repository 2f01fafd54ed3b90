"""The two-level attacker: the noisy counts of a block, of the group around it, and of the other blocks (Z-D19 to Z-D21, Z-T42).

X1 is the count of the block, `known` or `known` + 1, and X2 >= X1 that of the group; the other d blocks have X2 - X1 together.
Released are x1*, x2* and the sum y1* of the other blocks, with noise of scale 1/(2 rho1), 1/(2 rho2) and d/(2 rho1); the last one
is the sum of d draws, which is a discrete Gaussian to 1e-12 and better at the budgets in question (Z-T2, Z-O15). The posterior is

    P[X1 = k1 | D]  proportional to  P[X1 = k1] e^(-rho1 (x1* - k1)^2)
                                     sum over k2 of P[X2 = k2 | X1 = k1] e^(-rho2 (x2* - k2)^2 - (rho1/d) (y1* - (k2 - k1))^2),

summed here with a bound of what is left out. That is where the thesis's printed posteriors differ (Z-X3): they are those of a
chain that forgets k2 >= k1 when it draws X1; see `dpspec_attackers.counts.chains`.
"""

from __future__ import annotations

import math
from fractions import Fraction

import attrs
from flint import arb, ctx

from dpspec.errors import ParameterError
from dpspec.exact import Bracket, ball
from dpspec_attackers.counts.belief import as_probability, read_prior
from dpspec_attackers.counts.block import read_rho
from dpspec_attackers.counts.lattice import lattice_sum


@attrs.frozen(kw_only=True)
class LargerCount:
    """The prior of the group's count X2, given X1 = k1 (Z-D21).

    Uniform on the integers from `least` to `most`; from k1 on, where it is nested. Without an upper end it is improper, and may
    be used because the posterior is proper. Where k1 cuts it, its normaliser depends on k1, and so belongs to the belief about X1
    (Z-S9).

    Args:
        least: the lower end; None for no other than k1, or than minus infinity.
        most: the upper end; None for infinity.
        nested: whether X2 >= X1 is respected.
    """

    least: int | None = None
    most: int | None = None
    nested: bool = True

    def support(self, k1: int) -> tuple[int | None, int | None]:
        """The ends of the possible values, given k1."""
        if not self.nested:
            return self.least, self.most
        return (k1 if self.least is None else max(self.least, k1)), self.most

    def weight(self, k1: int) -> Fraction:
        """The probability of each value given k1; 1 where the prior is improper, 0 where no value is possible."""
        low, high = self.support(k1)
        if low is None or high is None:
            return Fraction(1)
        return Fraction(1, high - low + 1) if high >= low else Fraction(0)


UNIFORM = LargerCount()
"""Uniform on k1, k1 + 1, ... (2.30): given X1, nothing is known of the other blocks."""
ANY_INTEGER = LargerCount(nested=False)
"""Uniform on all integers: the posterior has a closed form."""


def up_to(most: int) -> LargerCount:
    """Uniform on k1, ..., most (2.31)."""
    return LargerCount(most=most)


def known_to_be(value: int) -> LargerCount:
    """The group's count is known."""
    return LargerCount(least=value, most=value)


@attrs.frozen(kw_only=True)
class Released:
    """D = (x1*, x2*, y1*): the noisy counts of the block, of the group, and of the other blocks together."""

    block: int
    group: int
    others: int


@attrs.frozen(kw_only=True)
class TwoLevels:
    """What the attacker knows, and the budgets of the counts.

    Args:
        rho_block: rho1, of every block.
        rho_group: rho2, of the group.
        others: d, the number of *other* blocks (Z-S10).
        prior: p, the probability of X1 = known + 1.
        known: the count without the target.
        larger: the prior of X2 given X1.

    >>> attack = TwoLevels(rho_block="0.09922635", rho_group="0.2464845", others=27, prior="1/2")
    >>> attack.posterior(Released(block=2, group=1, others=-1)).lower.decimal(5)
    '0.50329'
    """

    rho_block: Fraction = attrs.field(converter=read_rho)
    rho_group: Fraction = attrs.field(converter=read_rho)
    others: int = attrs.field(validator=attrs.validators.ge(1))
    prior: Fraction = attrs.field(converter=read_prior)
    known: int = 0
    larger: LargerCount = UNIFORM

    @property
    def choices(self) -> tuple[tuple[int, Fraction], ...]:
        """The two values of X1 with their prior probabilities."""
        return (self.known, 1 - self.prior), (self.known + 1, self.prior)

    def posterior(self, released: Released, *, precision: int = 64) -> Bracket:
        """P[X1 = known + 1 | D], rigorously (Z-T42).

        Raises:
            ParameterError: when the prior of X2 rules out both values of X1.
        """
        with ctx.workprec(precision + 64):
            left, right = (self._joint(k1, p, released) for k1, p in self.choices)
            return as_probability(_share(right, left + right))

    def larger_posterior(self, value: int, released: Released, *, precision: int = 64) -> Bracket:
        """P[X2 = value | D] (Z-N2.8)."""
        with ctx.workprec(precision + 64):
            whole = sum((self._joint(k1, p, released) for k1, p in self.choices), arb(0))
            part = sum((self._joint(k1, p, released, only=value) for k1, p in self.choices), arb(0))
            return as_probability(_share(part, whole))

    def bell(self, k1: int, released: Released) -> tuple[Fraction, Fraction]:
        """The rate and the centre of X2 given X1 and D, which is proportional to exp(-rate (k2 - centre)^2) (Z-T41)."""
        of_others = self.rho_block / self.others
        rate = self.rho_group + of_others
        return rate, (self.rho_group * released.group + of_others * (released.others + k1)) / rate

    def height(self, k1: int, released: Released) -> Fraction:
        """What of the exponent does not depend on k2: -rho1 (x1* - k1)^2 - rho_e (x2* - y1* - k1)^2 (own, Z-T42)."""
        together = self.rho_block * self.rho_group / (self.others * self.rho_group + self.rho_block)
        apart = released.group - released.others - k1
        return -self.rho_block * (released.block - k1) ** 2 - together * apart**2

    def _joint(self, k1: int, prior: Fraction, released: Released, only: int | None = None) -> arb:
        low, high = self.larger.support(k1)
        if only is not None:
            possible = (low is None or low <= only) and (high is None or only <= high)
            low, high = (only, only) if possible else (1, 0)
        rate, centre = self.bell(k1, released)
        factor = ball(prior * self.larger.weight(k1)) * ball(self.height(k1, released)).exp()
        return factor * lattice_sum(rate, centre, low, high)


def unbounded_log_odds(attack: TwoLevels, released: Released) -> float:
    """logit p + rho1 (2 x - 1) + rho_e (2 (x2* - y1* - known) - 1), the log odds under `ANY_INTEGER` (own, Z-T42); a float."""
    x, apart = released.block - attack.known, released.group - released.others - attack.known
    together = attack.rho_block * attack.rho_group / (attack.others * attack.rho_group + attack.rho_block)
    return math.log(attack.prior / (1 - attack.prior)) + float(attack.rho_block * (2 * x - 1) + together * (2 * apart - 1))


def _share(part: arb, whole: arb) -> arb:
    if not whole > 0:
        raise ParameterError("larger", "rules out both values of the block's count", "widen the prior of the group's count")
    return part / whole
