"""What a bounded privacy loss says about membership, for an attacker who knows all other records (Z-T27 to Z-T32, Z-T61).

With prior p that the target is in the data and the loss L = ln(P_x/P_x-i) of the released outcome, the posterior is
X = p/(p + (1 - p) e^-L). So |L| <= epsilon says

    p/(p + (1 - p) e^epsilon) <= X <= p/(p + (1 - p) e^-epsilon),  e^-epsilon <= X/p <= e^epsilon,  |X - p| <= tanh(epsilon/4).
"""

from __future__ import annotations

from fractions import Fraction

from flint import fmpq

from dpspec.errors import CertainTargetError, ParameterError
from dpspec.exact import Bracket, NumberLike, ln, rational
from dpspec_attackers.numeric import fmpq_of, in_decay

HALF = Fraction(1, 2)


def prior_of(value: NumberLike, subject: str = "prior") -> Fraction:
    """A prior strictly between 0 and 1.

    Raises:
        CertainTargetError: for 0 and 1, which no release can change.
        ParameterError: outside [0, 1].
    """
    read = rational(value, subject)
    if read in (0, 1):
        raise CertainTargetError(subject, "leaves nothing to learn: it is certain before the release", value=str(value))
    if not 0 < read < 1:
        raise ParameterError(subject, "must lie in (0, 1)", "write a probability such as 1/2", value=str(value))
    return read


def highest_posterior(prior: NumberLike, loss: NumberLike | Bracket) -> Bracket:
    """U = p/(p + (1 - p) e^-loss).

    >>> str(highest_posterior("1/2", "ln(3)"))
    '3/4'
    """
    p, rest = _weights(prior)
    return in_decay(loss, lambda y: p / (p + rest * y))


def lowest_posterior(prior: NumberLike, loss: NumberLike | Bracket) -> Bracket:
    """L = p/(p + (1 - p) e^loss) = 1 - U(1 - p, loss).

    >>> str(lowest_posterior("1/2", "ln(3)"))
    '1/4'
    """
    p, rest = _weights(prior)
    return in_decay(loss, lambda y: p * y / (p * y + rest))


def highest_ratio(prior: NumberLike, loss: NumberLike | Bracket) -> Bracket:
    """U/p = 1/(p + (1 - p) e^-loss), which goes to e^loss as p goes to 0.

    >>> str(highest_ratio("1/2", "ln(3)"))
    '3/2'
    """
    p, rest = _weights(prior)
    return in_decay(loss, lambda y: 1 / (p + rest * y))


def lowest_ratio(prior: NumberLike, loss: NumberLike | Bracket) -> Bracket:
    """L/p = 1/(p + (1 - p) e^loss).

    >>> str(lowest_ratio("1/2", "ln(3)"))
    '1/2'
    """
    p, rest = _weights(prior)
    return in_decay(loss, lambda y: y / (p * y + rest))


def difference_bound(loss: NumberLike | Bracket) -> Bracket:
    """B = (e^(loss/2) - 1)/(e^(loss/2) + 1) = tanh(loss/4): the largest |X - p| over all priors (Z-T30).

    >>> str(difference_bound("2*ln(3/2)"))
    '1/5'
    """
    return in_decay(loss, lambda y: (1 - y) / (1 + y), part=HALF)


def worst_priors(loss: NumberLike | Bracket) -> tuple[Bracket, Bracket]:
    """The priors of the largest rise and of the largest fall, 1/(1 + e^(loss/2)) and 1/(1 + e^(-loss/2)) (Z-T30, Z-D49).

    >>> [str(prior) for prior in worst_priors("ln(9)")]
    ['1/4', '3/4']
    """
    return in_decay(loss, lambda y: y / (1 + y), part=HALF), in_decay(loss, lambda y: 1 / (1 + y), part=HALF)


def largest_change(prior: NumberLike, loss: NumberLike | Bracket) -> Bracket:
    """max(U - p, p - L): how far the posterior can be from this prior, either way (Z-D49).

    >>> str(largest_change("1/4", "ln(9)"))
    '1/2'
    """
    p = rational(prior, "prior")
    up, down = highest_posterior(p, loss), lowest_posterior(p, loss)
    rise, fall = Bracket(lower=up.lower - p, upper=up.upper - p), Bracket(lower=-down.upper + p, upper=-down.lower + p)
    return rise | fall


def largest_ratio(prior: NumberLike, loss: NumberLike | Bracket) -> Bracket:
    """max(X/p, (1 - X)/(1 - p)) at most: membership and its contrary alike (Z-D49, Z-T61).

    >>> str(largest_ratio("1/4", "ln(9)"))
    '3'
    """
    return highest_ratio(prior, loss) | highest_ratio(1 - rational(prior, "prior"), loss)


def loss_of_difference(difference: NumberLike) -> Bracket:
    """2 ln((1 + b)/(1 - b)): the loss up to which |X - p| <= b for all priors (Z-T34 inverted)."""
    b = rational(difference, "difference")
    if not 0 < b < 1:
        raise ParameterError(
            "difference", "must lie in (0, 1)", "write a change of probability such as 1/5", value=str(difference)
        )
    return Bracket.exactly(ln((1 + b) / (1 - b)) * 2)


def loss_of_posterior(posterior: NumberLike, prior: NumberLike) -> Bracket:
    """logit(posterior) - logit(prior): the loss up to which this prior stays at most at that posterior (Z-T32 inverted)."""
    u, p = rational(posterior, "posterior"), prior_of(prior)
    if not p < u < 1:
        rule = f"must lie between the prior {p} and 1"
        raise ParameterError("posterior", rule, "some outcome always raises the belief above the prior", value=str(posterior))
    return Bracket.exactly(ln(u * (1 - p) / ((1 - u) * p)))


def loss_of_ratio(ratio: NumberLike) -> Bracket:
    """ln(ratio): the loss up to which 1/ratio <= X/p <= ratio for all priors (Z-T33)."""
    value = rational(ratio, "ratio")
    if value <= 1:
        raise ParameterError("ratio", "must be above 1: some outcome always raises the belief", value=str(ratio))
    return Bracket.exactly(ln(value))


def _weights(prior: NumberLike) -> tuple[fmpq, fmpq]:
    p = rational(prior, "prior")
    if not 0 <= p <= 1:
        raise ParameterError("prior", "must lie in [0, 1]", value=str(prior))
    return fmpq_of(p), fmpq_of(1 - p)
