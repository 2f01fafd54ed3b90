"""Noisy counts of a block: the block-knowledge attacker, post-processed counts, and the uniqueness attacker (thesis, chapter 2).

**Enclosures.** Many posteriors at once, each between two doubles that are proved to enclose it.

A posterior is v = 1 / (1 + e^-z), z = logit p + L, L the loss of an outcome. With u = 2^-53 the rounding of one operation, z
is computed within (6 (ln a + ln b) + 6 |L| + 8) u, where p/(1 - p) = a/b in integers; an error of z is a relative one of e^-z
and of v, and exp, the sum and the quotient add their own. A mean sums the ends with positive weights e^(-rho j^2), which costs
n u more for n terms; what lies beyond the last outcome is bounded by a geometric sum, as in `sums`. Every error is counted twice,
which covers e^x - 1 <= 2 x and the rounding of the bounds themselves; where it exceeds 1/4, only 0 and 1 are said.

**The mean posterior** of one noisy count, summed outcome by outcome (Kazan 2025).

With w_j = e^(-rho j^2) and r_j = e^(-rho (2 j + 1)), the outcome 1 + j above the known count has the weight w_j and the posterior
1 / (1 + o r_j), o = (1 - p)/p; the outcome 1 - j has the same weight and the posterior r_(j-1) / (r_(j-1) + o).

**The block-knowledge attacker** knows all records of a block but one, and sees the noisy count of a cell (Kazan 2025).

The true count is `known` + 1 when the target has the attributes in question, and `known` otherwise; p is the prior probability of
what is true, the former. The release is the count with discrete Gaussian noise, P(noise = k) proportional to exp(-rho k^2). Only
the difference of a released value from `known` matters (Kazan 2025, Section 2.6.1), so outcomes are represented by it.

**Post-processed counts**: the released block count is fitted to the known count of its group (Kazan 2025).

The fit moves the noisy counts as little as possible so that they add up to x2, which gives the block (Kazan 2025, equation 2.41)

    tau = (d x1* + (x2 - y1*)) / (d + 1),       then 0 if tau < 0, x2 if tau > x2, else the nearest integer.

The thesis claims that this never raises the marginal risk (Kazan 2025, Section 2.11). It can, against an attacker who saw x1*
alone, because the fitted count also carries y1*. Data processing bounds it by the risk to an attacker who sees (x1*, y1*)
(`ceiling`).

**The uniqueness attacker**: one variable of the target is unknown, and its other attributes are unique at several levels (Kazan
2025).

At each of these levels the count of the guessed combination is 1 if the guess is right and 0 if not. So every level is one more
release about the same secret, and the log odds add up.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction

import attrs
import numpy as np
from dpspec_attackers.counts import as_probability, believed, expected_posterior, expected_risk, read_prior
from flint import arb, ctx
from numpy.typing import NDArray

from dpspec.plugin import Bracket, Floats, ParameterError, Rational, exact, laws, ln, number

_FAR = 700.0
"""Beyond this |z| an end is 0 or 1: doubles reach no farther."""
_NEGLIGIBLE, _DEEPEST = 48.0, 192.0
"""Outcomes whose weight is below e^-48 are bounded together; no weight that is summed is below e^-192."""
_MOST = 1 << 20
"""The outcomes on either side that are summed at most; with more noise than that the result is wide, and true."""

_MOST_ERROR = 0.25
"""Larger relative errors are no bounds any more."""


@attrs.frozen(eq=False)
class Intervals:
    """Probabilities, each between two doubles.

    Args:
        lower, upper: arrays of one shape.
    """

    lower: Floats
    upper: Floats

    def bracket(self, *place: int) -> Bracket:
        """One of them, its ends as exact numbers."""
        return Bracket(lower=number(Fraction(float(self.lower[place]))), upper=number(Fraction(float(self.upper[place]))))


def posteriors(released: Sequence[int], rho: Fraction, priors: Sequence[Fraction]) -> Intervals:
    """The belief in the true count after every released value, represented by its difference from the known count (Kazan 2025).

    Args:
        released: x* - known, up to 2^50 either way.
        rho: the budget of the count, positive.
        priors: in (0, 1).

    Returns:
        A row for each prior, a column for each released value.

    >>> found = posteriors([4], Fraction("0.0992"), [Fraction(1, 5)])
    >>> found.bracket(0, 0).lower.decimal(12), found.bracket(0, 0).upper.decimal(12)
    ('0.333611795761', '0.333611795761')
    """
    return _believed(float(rho) * (2.0 * np.asarray(released, dtype=np.float64) - 1.0), priors)


def mean_posteriors(rho: Fraction, priors: Sequence[Fraction]) -> Intervals:
    """The same averaged over the noise around the true count (Kazan 2025, equations 2.5 and 2.6), for every prior.

    >>> found = mean_posteriors(Fraction("0.0992"), [Fraction(1, 2)])
    >>> found.bracket(0).lower.decimal(12), found.bracket(0).upper.decimal(12)
    ('0.52366037284', '0.523660372841')
    """
    places, weights, rest = _noise(rho)
    believed = _believed(float(rho) * (2.0 * places + 1.0), priors)
    whole = float(weights.sum()) + rest
    error = (8 * _DEEPEST + 2 * len(places) + 16) * laws.UNIT + 2 * laws.EXP_ERROR
    return Intervals(
        believed.lower @ weights / whole * (1 - 2 * error),
        np.minimum((believed.upper @ weights + rest) / whole * (1 + 2 * error), 1.0),
    )


def masses(released: Sequence[int], rho: Fraction) -> Intervals:
    """P(X* = known + released) when the count is known + 1.

    >>> masses([1], Fraction("0.0992")).bracket(0).upper.decimal(6)
    '0.177697'
    """
    places, weights, rest = _noise(rho)
    whole = float(weights.sum())
    powers = float(rho) * (np.asarray(released, dtype=np.float64) - 1.0) ** 2
    value = np.exp(-np.minimum(powers, _FAR))
    error = (4 * (powers + _DEEPEST) + len(places) + 16) * laws.UNIT + 2 * laws.EXP_ERROR
    low, high = value / (whole + rest) * (1 - 2 * error), value / whole * (1 + 2 * error)
    return Intervals(np.where(powers > _FAR, 0.0, low), np.minimum(high, 1.0))


def _believed(losses: Floats, priors: Sequence[Fraction]) -> Intervals:
    """v for every prior (rows) and loss (columns)."""
    logs = np.array([(math.log(p.numerator), math.log(p.denominator - p.numerator)) for p in priors])
    z = (logs[:, 0] - logs[:, 1])[:, None] + losses
    error = (6 * (logs[:, :1] + logs[:, 1:]) + 6 * np.abs(losses) + 16) * laws.UNIT + laws.EXP_ERROR
    value = 1.0 / (1.0 + np.exp(np.minimum(np.maximum(-z, -_FAR), _FAR)))
    vague = error > _MOST_ERROR
    return Intervals(
        np.where(vague | (z < -_FAR), 0.0, value * (1 - 2 * error)),
        np.where(vague | (z > _FAR), 1.0, np.minimum(value * (1 + 2 * error), 1.0)),
    )


def _noise(rho: Fraction) -> tuple[Floats, Floats, float]:
    """Outcomes around the true count, their weights e^(-rho j^2), and a bound of the sum of all other weights."""
    spent = float(rho)
    reach = min(math.ceil(math.sqrt(_NEGLIGIBLE / spent)), _MOST) if spent < _NEGLIGIBLE else 0
    places = np.arange(-reach, reach + 1, dtype=np.float64)
    after = math.exp(-min(spent * (reach + 1) ** 2, _FAR)) / -math.expm1(-spent * (2 * reach + 3))
    return places, np.exp(-spent * places**2), 2 * after * (1 + 2.0**-30)


# --- the mean posterior ---------------------------------------------------------------------------


_REACH = 9.0


def summed_mean_posteriors(rho: Fraction, priors: Sequence[Fraction], *, precision: int = 64) -> tuple[Bracket, ...]:
    """The mean posterior for every prior; what lies beyond the last outcome is bounded by a geometric sum."""
    with ctx.workprec(precision + 32):
        odds = [exact.ball((1 - p) / p) for p in priors]
        negligible = arb(2) ** (-precision - 16)
        fall = exact.ball(-2 * rho).exp()
        weight, ratio = arb(1), exact.ball(-rho).exp()
        whole, sums = arb(1), [1 / (1 + o * ratio) for o in odds]
        while True:
            weight *= ratio
            before, ratio = ratio, ratio * fall
            if weight < negligible and ratio < 1:
                break
            whole += 2 * weight
            # 1/(1 + o r) + b/(b + o), with one quotient
            both = [(before + o, 1 + o * ratio) for o in odds]
            sums = [
                total + weight * (one + before * other) / (one * other) for total, (one, other) in zip(sums, both, strict=True)
            ]
        rest = arb(0).union((2 * weight / (1 - ratio)).upper())
        whole += rest
        return tuple(as_probability((total + rest) / whole) for total in sums)


def realised_risks(released: Floats, rho: float, prior: float) -> Floats:
    """R' of many released counts, represented by their differences from the known count (Kazan 2025, equation 2.4), in floats.

    >>> [round(float(risk), 3) for risk in realised_risks(np.array([1.0, 5.0]), 0.0992263, 0.5)]
    [1.05, 1.419]
    """
    from scipy.special import expit

    return np.asarray(expit(math.log(prior / (1 - prior)) + rho * (2.0 * released - 1)) / prior)


def risk_curve(rhos: Floats, prior: float) -> Floats:
    """R against rho (Kazan 2025, Figure 2.2), in floats.

    >>> [round(float(risk), 4) for risk in risk_curve(np.array([0.1, 1.0, 10.0]), 0.5)]
    [1.0477, 1.3535, 1.9998]
    """
    from scipy.special import expit

    reach = math.ceil(_REACH / math.sqrt(2 * float(rhos.min()))) + 2
    points = np.arange(1 - reach, 2 + reach)
    weights = np.exp(-rhos[:, None] * (points - 1.0) ** 2)
    posteriors = expit(math.log(prior / (1 - prior)) + rhos[:, None] * (2.0 * points - 1))
    return np.asarray((weights * posteriors).sum(axis=1) / weights.sum(axis=1) / prior)


def success_curve(rhos: Floats, prior: float) -> Floats:
    """How often the bet on the likelier count is right, against rho (Kazan 2025, Figure 2.3), in floats.

    >>> [round(float(share), 4) for share in success_curve(np.array([0.25, 0.5, 1.0]), 0.2)]
    [0.0355, 0.3005, 0.2179]
    """
    reach = math.ceil(_REACH / math.sqrt(2 * float(rhos.min()))) + 2
    points = np.arange(1 - reach, 2 + reach)
    weights = np.exp(-rhos[:, None] * (points - 1.0) ** 2)
    right = math.log(prior / (1 - prior)) + rhos[:, None] * (2.0 * points - 1) > 0
    return np.asarray((weights * right).sum(axis=1) / weights.sum(axis=1))


# --- the block-knowledge attacker -----------------------------------------------------------------


EQUIVALENT = {
    "attributes": "the prior probability that the target has the attributes that are true of it",
    "response": "the prior probability that the target answered at all; all other records of the block are known",
    "misreport": "the prior probability that the target answered correctly; all other records of the block are known",
    "unknown-variable": "the prior probability of the true value of one variable of the target, all others known",
}
"""The meaning of p in attacks with the same formulas (Kazan 2025, Section 2.6.2)."""


def read_rho(rho: exact.NumberLike) -> Fraction:
    """The budget of one count, positive and rational.

    Raises:
        ParameterError: for anything else.
    """
    return Rational(0, open_low=True).read(rho, "rho")


def pair(rho: exact.NumberLike) -> laws.DiscreteGaussianShift:
    """The two laws of the released count: noise around `known` + 1, the truth, and around `known`."""
    return laws.DiscreteGaussianShift(1, 1 / (2 * read_rho(rho)))


def mass(released: int, rho: exact.NumberLike, *, precision: int = 64) -> Bracket:
    """P(X* = known + released) when the count is known + 1; the printed table has it for the count `known`.

    >>> mass(1, "0.0992").lower.decimal(4)
    '0.1777'
    """
    law = laws.DiscreteGaussianLaw(1, 1 / (2 * read_rho(rho)))
    return as_probability(law.mass(released, precision))


def posterior(released: int, rho: exact.NumberLike, prior: exact.NumberLike, *, precision: int = 64) -> Bracket:
    """sigma(logit p + rho (2 (x* - known) - 1)), the belief in the true count after one released value (Kazan 2025).

    Args:
        released: x* - known.
        rho: the budget of the count.
        prior: p.

    >>> posterior(4, "0.0992", "1/5").lower.decimal(3)
    '0.334'
    """
    return ball_posteriors([released], read_rho(rho), [read_prior(prior)], precision=precision)[0]


def ball_posteriors(
    released: Sequence[int], rho: Fraction, priors: Sequence[Fraction], *, precision: int = 64
) -> tuple[Bracket, ...]:
    """The same for all priors and, for each of them, all released values."""
    with ctx.workprec(precision + 32):
        falls = [exact.ball(rho * (1 - 2 * value)).exp() for value in released]
        return tuple(as_probability(1 / (1 + exact.ball((1 - p) / p) * fall)) for p in priors for fall in falls)


def realised_risk(released: int, rho: exact.NumberLike, prior: exact.NumberLike, *, precision: int = 64) -> Bracket:
    """R' = posterior / prior, between 0 and 1/p; above 1 exactly when x* >= known + 1 (Kazan 2025, equation 2.4)."""
    p = read_prior(prior)
    return posterior(released, rho, p, precision=precision).scaled(1 / p)


def marginal_posterior(rho: exact.NumberLike, prior: exact.NumberLike, *, precision: int = 64) -> Bracket:
    """Pi: the posterior averaged over the noise around the true count (Kazan 2025, equations 2.5 and 2.6).

    >>> marginal_posterior("0.0992", "1/2").lower.decimal(3)
    '0.524'
    """
    return summed_mean_posteriors(read_rho(rho), [read_prior(prior)], precision=precision)[0]


def marginal_risk(rho: exact.NumberLike, prior: exact.NumberLike, *, precision: int = 64) -> Bracket:
    """R = Pi / p (Kazan 2025, equations 2.5 and 2.6); not monotone in rho for a small p."""
    p = read_prior(prior)
    return marginal_posterior(rho, p, precision=precision).scaled(1 / p)


def threshold(rho: exact.NumberLike, prior: exact.NumberLike) -> int:
    """The least x* - known at which the posterior exceeds 1/2: floor(1/2 + logit(1 - p) / (2 rho)) + 1, exactly (Kazan 2025).

    >>> [threshold("0.0992", p) for p in ("1/2", "1/5", "1/864")]
    [1, 8, 35]
    """
    r, p = read_rho(rho), read_prior(prior)
    odds = ln((1 - p) / p)
    place = math.floor(0.5 + float(odds) / (2 * float(r))) + 1
    while odds < number(r * (2 * place - 3)):
        place -= 1
    while not odds < number(r * (2 * place - 1)):
        place += 1
    return place


def success_probability(rho: exact.NumberLike, prior: exact.NumberLike, *, precision: int = 64) -> Bracket:
    """P(X* >= threshold) for the true count: how often the bet on the likelier count is right (Kazan 2025).

    It is not monotone in rho when p < 1/2, because the threshold jumps.

    >>> success_probability("1/2", "1/5").lower.decimal(4), success_probability("3/5", "1/5").lower.decimal(4)
    ('0.3005', '0.2815')
    """
    r = read_rho(rho)
    return as_probability(laws.DiscreteGaussianLaw(1, 1 / (2 * r)).tail(threshold(r, prior), precision)[1])


@attrs.frozen(kw_only=True)
class Row:
    """One released value in the table of a policy-maker (Kazan 2025, Table 2.4).

    Args:
        released: x* - known.
        mass: how likely that is, the true count being known + 1.
        posteriors: the belief afterwards, for each prior.
        risks: those over the priors.
    """

    released: int
    mass: Bracket
    posteriors: tuple[Bracket, ...]
    risks: tuple[Bracket, ...]


def table(rho: exact.NumberLike, priors: Sequence[exact.NumberLike], released: Iterable[int]) -> tuple[Row, ...]:
    """Released values with their probability, posteriors and risks (Kazan 2025), each enclosed to about twelve digits.

    >>> [row.risks[0].lower.decimal(3) for row in table("0.0992", ["1/2"], (1, 2, 3))]
    ['1.05', '1.15', '1.24']
    """
    r, beliefs, values = read_rho(rho), [read_prior(p) for p in priors], tuple(released)
    likely, known = masses(values, r), posteriors(values, r, beliefs)
    found = [[known.bracket(row, column) for row in range(len(beliefs))] for column in range(len(values))]
    return tuple(
        Row(
            released=value,
            mass=likely.bracket(column),
            posteriors=tuple(found[column]),
            risks=tuple(after.scaled(1 / before) for after, before in zip(found[column], beliefs, strict=True)),
        )
        for column, value in enumerate(values)
    )


def conditional_risks(
    releases: Iterable[tuple[int, exact.NumberLike]], prior: exact.NumberLike, *, precision: int = 64
) -> tuple[Bracket, ...]:
    """R' of every release in turn, the posterior before it being its prior (Kazan 2025, Section 2.10).

    Their product is the risk of all releases together: exactly so, for the same attack on releases that are independent given
    the count (Kazan 2025, equations 2.32 to 2.39).

    Args:
        releases: pairs (x* - known, rho).

    >>> [risk.lower.decimal(4) for risk in conditional_risks([(2, "0.0992"), (3, "0.0992")], "1/2")]
    ['1.148', '1.2']
    """
    p, risks = read_prior(prior), []
    loss = Fraction(0)
    with ctx.workprec(precision + 32):
        before = exact.ball(p)
        for released, rho in releases:
            loss += read_rho(rho) * (2 * released - 1)
            after = believed(p, exact.ball(loss))
            risks.append(Bracket.around(after / before, least=0))
            before = after
    return tuple(risks)


# --- post-processed counts ------------------------------------------------------------------------


def fitted(block: int, others: int, total: int, d: int) -> int:
    """The published count of the block (Kazan 2025, Section 2.11); halves go to the even neighbour.

    Args:
        block: x1*.
        others: y1*, the noisy sum of the other blocks.
        total: x2, the published count of the group.
        d: the number of other blocks.

    >>> [fitted(*case, 27) for case in ((2, -1, 1), (0, 0, 5), (3, 4, 10), (-4, 2, 6), (1, 0, 3))]
    [1, 0, 3, 0, 1]
    """
    tau = Fraction(d * block + total - others, d + 1)
    return 0 if tau < 0 else total if tau > total else round(tau)


@attrs.frozen(kw_only=True)
class CountFit:
    """The attack on a fitted count by an attacker who knows the true count of the group, for x1 = 1 and `known` = 0 (Kazan 2025).

    Args:
        rho: the budget of every block's count.
        others: d.
        prior: p, the probability of the truth.
        total: the published count of the group, to which the blocks are fitted.
        group: x2, its true count.
        half_up: round halves up instead of to the even neighbour, for comparison.
    """

    rho: Fraction = attrs.field(converter=read_rho)
    others: int
    prior: Fraction = attrs.field(converter=read_prior)
    total: int
    group: int = 1
    half_up: bool = False

    def marginal_risk(self) -> float:
        """The mean posterior over the prior, for the fitted count; a float.

        >>> rho = "0.09922635"
        >>> round(CountFit(rho=rho, others=27, prior="1/2", total=1).marginal_risk(), 4)
        1.0322
        """
        false, true = (self.law(k1) for k1 in (0, 1))
        p = float(self.prior)
        seen = true > 0
        posterior = p * true[seen] / (p * true[seen] + (1 - p) * false[seen])
        return float((posterior * true[seen]).sum() / p)

    def law(self, k1: int) -> NDArray[np.float64]:
        """P[fitted count = 0, ..., total | X1 = k1], the group publishing `total` (2.45)."""
        block, of_block = _fitted_noise(k1, float(self.rho))
        others, of_others = _fitted_noise(self.group - k1, float(self.rho) / self.others)
        top = self.others * block[:, None] + self.total - others[None, :]
        below = self.others + 1
        whole, rest = top // below, top % below
        up = (2 * rest > below) | ((2 * rest == below) & (self.half_up | (whole % 2 == 1)))
        published = np.where(top < 0, 0, np.where(top > self.total * below, self.total, whole + up))
        masses = of_block[:, None] * of_others[None, :]
        return np.bincount(published.ravel(), weights=masses.ravel(), minlength=self.total + 1).astype(np.float64)


def ceiling(rho: exact.NumberLike, others: int, prior: exact.NumberLike) -> Bracket:
    """The marginal risk to an attacker who sees (x1*, y1*) and knows x2: no fit of them can raise it.

    >>> ceiling("0.09922635", 27, "1/2").lower.decimal(5)
    '1.049'
    """
    r = read_rho(rho)
    pairs = [laws.DiscreteGaussianShift(1, 1 / (2 * r)), laws.DiscreteGaussianShift(1, others / (2 * r))]
    return expected_risk(laws.product_of(pairs), prior)


def _fitted_noise(centre: int, rho: float) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    reach = math.ceil(_REACH / math.sqrt(2 * rho)) + 2
    points = np.arange(centre - reach, centre + reach + 1)
    masses = np.exp(-rho * (points - centre) ** 2.0)
    return points, np.asarray(masses / masses.sum())


# --- the uniqueness attacker ----------------------------------------------------------------------


def posterior_at_levels(
    released: Sequence[int], rhos: Sequence[exact.NumberLike], prior: exact.NumberLike, *, precision: int = 64
) -> Bracket:
    """sigma(logit p + sum_j rho_j (2 x_j* - 1)): the belief in the right guess after one released count at each level (2.12).

    Args:
        released: x_j*, for every level.
        rhos: the budgets of the counts, level by level.
        prior: p, the probability of the true value.

    Raises:
        ParameterError: when there is not one released count for each budget.

    >>> posterior_at_levels((1, 2), ("0.0992", "0.2465"), "1/2").lower.decimal(4)
    '0.6982'
    """
    if len(released) != len(rhos):
        raise ParameterError("released", f"needs one count for each of the {len(rhos)} levels", value=tuple(released))
    loss = sum((read_rho(rho) * (2 * x - 1) for x, rho in zip(released, rhos, strict=True)), Fraction(0))
    with ctx.workprec(precision + 32):
        return as_probability(believed(read_prior(prior), exact.ball(loss)))


def levels(rhos: Sequence[exact.NumberLike]) -> laws.Dichotomy:
    """The two laws of the counts of all levels together.

    Raises:
        ParameterError: when there is no level.
    """
    if not rhos:
        raise ParameterError("rhos", "needs the budget of at least one level")
    return laws.product_of([pair(rho) for rho in rhos])


def uniqueness_marginal_posterior(rhos: Sequence[exact.NumberLike], prior: exact.NumberLike, *, precision: int = 64) -> Bracket:
    """Pi: that belief averaged over the noise of all levels (Kazan 2025, Section 2.6.3).

    >>> uniqueness_marginal_posterior(("0.0992", "0.2465"), "1/2").upper.decimal(4)
    '0.5745'
    """
    return expected_posterior(levels(rhos), prior, precision=precision)
