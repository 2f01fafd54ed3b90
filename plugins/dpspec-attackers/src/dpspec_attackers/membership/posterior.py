"""Posteriors of membership under a bounded privacy loss, for an attacker who knows all other records (Kazan 2025).

With prior p that the target is in the data and the loss L = ln(P_x/P_x-i) of the released outcome, the posterior is
X = p/(p + (1 - p) e^-L). So |L| <= epsilon says

    p/(p + (1 - p) e^epsilon) <= X <= p/(p + (1 - p) e^-epsilon),  e^-epsilon <= X/p <= e^epsilon,  |X - p| <= tanh(epsilon/4).

The law of the posterior under one mechanism, instead of a bound, follows from the privacy loss of a pair (P_x, P_x-i) (Kazan
2025,
).

The outcome is drawn from the left law of the pair. With the target in the data (left = P_x) the posterior is p/(p + (1 - p)
e^-L); with the pair turned round it is drawn without the target, and L changes its sign.

How far the loss goes, but for a probability `failure`, is bounded under each standard (Kazan 2025).

`failure` (delta' of the thesis) is the probability that a statement about the posterior does not hold. It has to be above the
delta of approximate privacy, and may be far above it. Statements are composed and post-processed first and converted last.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Literal

from dpspec_divergences import MultDelta
from dpspec_divergences.output import between, crossing
from flint import arb, ctx, fmpq

from dpspec import installed
from dpspec.plugin import Bracket, Conversion, Number, OutputDivergence, ParameterError, errors, exact, grammar, laws, ln, number
from dpspec_attackers.numeric import WORKING, as_bracket, fmpq_of, in_decay, minus_log

HALF = Fraction(1, 2)


def prior_of(value: exact.NumberLike, subject: str = "prior") -> Fraction:
    """A prior strictly between 0 and 1.

    Raises:
        CertainTargetError: for 0 and 1, which no release can change.
        ParameterError: outside [0, 1].
    """
    read = exact.rational(value, subject)
    if read in (0, 1):
        raise errors.CertainTargetError(subject, "leaves nothing to learn: it is certain before the release", value=str(value))
    if not 0 < read < 1:
        raise ParameterError(subject, "must lie in (0, 1)", "write a probability such as 1/2", value=str(value))
    return read


def highest_posterior(prior: exact.NumberLike, loss: exact.NumberLike | Bracket) -> Bracket:
    """U = p/(p + (1 - p) e^-loss).

    >>> str(highest_posterior("1/2", "ln(3)"))
    '3/4'
    """
    p, rest = _weights(prior)
    return in_decay(loss, lambda y: p / (p + rest * y))


def lowest_posterior(prior: exact.NumberLike, loss: exact.NumberLike | Bracket) -> Bracket:
    """L = p/(p + (1 - p) e^loss) = 1 - U(1 - p, loss).

    >>> str(lowest_posterior("1/2", "ln(3)"))
    '1/4'
    """
    p, rest = _weights(prior)
    return in_decay(loss, lambda y: p * y / (p * y + rest))


def highest_ratio(prior: exact.NumberLike, loss: exact.NumberLike | Bracket) -> Bracket:
    """U/p = 1/(p + (1 - p) e^-loss), which goes to e^loss as p goes to 0.

    >>> str(highest_ratio("1/2", "ln(3)"))
    '3/2'
    """
    p, rest = _weights(prior)
    return in_decay(loss, lambda y: 1 / (p + rest * y))


def lowest_ratio(prior: exact.NumberLike, loss: exact.NumberLike | Bracket) -> Bracket:
    """L/p = 1/(p + (1 - p) e^loss).

    >>> str(lowest_ratio("1/2", "ln(3)"))
    '1/2'
    """
    p, rest = _weights(prior)
    return in_decay(loss, lambda y: y / (p * y + rest))


def difference_bound(loss: exact.NumberLike | Bracket) -> Bracket:
    """B = (e^(loss/2) - 1)/(e^(loss/2) + 1) = tanh(loss/4): the largest |X - p| over all priors (Kazan 2025, Lemma 30).

    >>> str(difference_bound("2*ln(3/2)"))
    '1/5'
    """
    return in_decay(loss, lambda y: (1 - y) / (1 + y), part=HALF)


def worst_priors(loss: exact.NumberLike | Bracket) -> tuple[Bracket, Bracket]:
    """The priors of the largest rise and of the largest fall, 1/(1 + e^(loss/2)) and 1/(1 + e^(-loss/2)) (Kazan 2025).

    >>> [str(prior) for prior in worst_priors("ln(9)")]
    ['1/4', '3/4']
    """
    return in_decay(loss, lambda y: y / (1 + y), part=HALF), in_decay(loss, lambda y: 1 / (1 + y), part=HALF)


def largest_change(prior: exact.NumberLike, loss: exact.NumberLike | Bracket) -> Bracket:
    """max(U - p, p - L): how far the posterior can be from this prior, either way (Kazan 2025, Section 5.4.4).

    >>> str(largest_change("1/4", "ln(9)"))
    '1/2'
    """
    p = exact.rational(prior, "prior")
    up, down = highest_posterior(p, loss), lowest_posterior(p, loss)
    rise, fall = Bracket(lower=up.lower - p, upper=up.upper - p), Bracket(lower=-down.upper + p, upper=-down.lower + p)
    return rise | fall


def largest_ratio(prior: exact.NumberLike, loss: exact.NumberLike | Bracket) -> Bracket:
    """max(X/p, (1 - X)/(1 - p)) at most: membership and its contrary alike (Kazan 2025, Section 5.4.4).

    >>> str(largest_ratio("1/4", "ln(9)"))
    '3'
    """
    return highest_ratio(prior, loss) | highest_ratio(1 - exact.rational(prior, "prior"), loss)


def loss_of_difference(difference: exact.NumberLike) -> Bracket:
    """2 ln((1 + b)/(1 - b)): the loss up to which |X - p| <= b for all priors (Kazan 2025, Corollary 34, inverted)."""
    b = exact.rational(difference, "difference")
    if not 0 < b < 1:
        raise ParameterError(
            "difference", "must lie in (0, 1)", "write a change of probability such as 1/5", value=str(difference)
        )
    return Bracket.exactly(ln((1 + b) / (1 - b)) * 2)


def loss_of_posterior(posterior: exact.NumberLike, prior: exact.NumberLike) -> Bracket:
    """logit(posterior) - logit(prior): the loss up to which this prior stays at most at that posterior (Kazan 2025, Corollary
    32, inverted)."""
    u, p = exact.rational(posterior, "posterior"), prior_of(prior)
    if not p < u < 1:
        rule = f"must lie between the prior {p} and 1"
        raise ParameterError("posterior", rule, "some outcome always raises the belief above the prior", value=str(posterior))
    return Bracket.exactly(ln(u * (1 - p) / ((1 - u) * p)))


def loss_of_ratio(ratio: exact.NumberLike) -> Bracket:
    """ln(ratio): the loss up to which 1/ratio <= X/p <= ratio for all priors (Kazan 2025, Corollary 33)."""
    value = exact.rational(ratio, "ratio")
    if value <= 1:
        raise ParameterError("ratio", "must be above 1: some outcome always raises the belief", value=str(ratio))
    return Bracket.exactly(ln(value))


def _weights(prior: exact.NumberLike) -> tuple[fmpq, fmpq]:
    p = exact.rational(prior, "prior")
    if not 0 <= p <= 1:
        raise ParameterError("prior", "must lie in [0, 1]", value=str(prior))
    return fmpq_of(p), fmpq_of(1 - p)


# --- the law of the posterior ---------------------------------------------------------------------


Side = Literal["in", "out"]
"""Whether the target is in the data from which the outcome is drawn."""

_BITS = 40


def posterior_law(pair: laws.Dichotomy, prior: exact.NumberLike, drawn: Side = "in") -> tuple[tuple[Fraction, Fraction], ...]:
    """The posteriors with their probabilities, rising, for a pair (P_x, P_x-i) of finitely many rational atoms.

    >>> from dpspec.plugin import FiniteLaw
    >>> posterior_law(FiniteLaw.bernoulli("3/4").against(FiniteLaw.bernoulli("1/4")), "1/2")
    ((Fraction(1, 4), Fraction(1, 4)), (Fraction(3, 4), Fraction(3, 4)))
    """
    p = prior_of(prior)
    atoms = laws.exact_atoms_of(pair)
    if atoms is None:
        raise errors.NoFormulaError(
            type(pair).__name__, "has no finite list of rational probabilities", "use posterior_cdf, which encloses"
        )
    found: dict[Fraction, Fraction] = {}
    for inside, outside in atoms:
        mass = inside if drawn == "in" else outside
        if mass:
            value = p * inside / (p * inside + (1 - p) * outside)
            found[value] = found.get(value, Fraction(0)) + mass
    return tuple(sorted(found.items()))


def expected_posterior(pair: laws.Dichotomy, prior: exact.NumberLike, drawn: Side = "in") -> Fraction:
    """E X, exactly, for a pair of finitely many rational atoms."""
    return sum((value * mass for value, mass in posterior_law(pair, prior, drawn)), Fraction(0))


def posterior_cdf(pair: laws.Dichotomy, prior: exact.NumberLike, posterior: exact.NumberLike, drawn: Side = "in") -> Bracket:
    """P(X <= posterior), in a bracket, for every pair: a statement about the privacy loss.

    >>> from dpspec.plugin import laws
    >>> posterior_cdf(laws.GaussianShift(number(1)), "1/2", "0.188473").upper.decimal(3)
    '0.025'
    """
    p, x = prior_of(prior), exact.rational(posterior, "posterior")
    if not 0 < x < 1:
        raise ParameterError("posterior", "must lie in (0, 1)", value=str(posterior))
    loss = ln(x / (1 - x)) - ln(p / (1 - p))
    if drawn == "in":
        return laws.PrivacyLoss(pair).cdf(loss)
    return laws.PrivacyLoss(pair.reverse()).at_least(-loss)


def two_sided_loss(pair: laws.Dichotomy, failure: Fraction) -> Bracket:
    """The least e with P(|L| > e) <= failure, the outcome drawn from the left law (Kazan 2025, Definition 10)."""
    return _least_loss(pair, failure, is_one_sided=False)


def one_sided_loss(pair: laws.Dichotomy, failure: Fraction) -> Bracket:
    """The least e >= 0 with P(L > e) <= failure, the outcome drawn from the left law; drawn from the right one it is rarer.

    >>> from dpspec.plugin import FiniteLaw
    >>> one, other = FiniteLaw.of({"a": "1"}), FiniteLaw.of({"a": "1/2", "b": "1/2"})
    >>> str(one_sided_loss(one.against(other), Fraction(0))), str(two_sided_loss(other.against(one), Fraction(0)))
    ('ln(2)', 'inf')
    """
    return _least_loss(pair, failure, is_one_sided=True)


def _least_loss(pair: laws.Dichotomy, failure: Fraction, *, is_one_sided: bool) -> Bracket:
    if pair.is_identical:
        return Bracket.exactly(0)
    atoms = laws.exact_atoms_of(pair)
    if atoms is not None:
        return Bracket.exactly(_quantile(atoms, failure, is_one_sided=is_one_sided))
    top = pair.max_log_ratio()
    if not is_one_sided:
        top |= pair.reverse().max_log_ratio()
    if failure == 0:
        return top
    loss = laws.PrivacyLoss(pair)
    low, high = Fraction(0), Fraction(1)

    def beyond(e: Fraction) -> Bracket:
        up = loss.above(e)
        if is_one_sided:
            return up
        down = loss.at_least(-e)
        return Bracket(lower=up.lower + (-down.upper + 1), upper=up.upper + (-down.lower + 1))

    while beyond(high).upper > failure:
        if high > 1 << 20:
            return Bracket(lower=number(0), upper=top.upper)
        low, high = (high if beyond(high).lower > failure else low), 2 * high
    certain, step = low, high
    for _ in range(_BITS):
        step /= 2
        if beyond(certain + step).lower > failure:
            certain += step
    for _ in range(_BITS):
        middle = (certain + high) / 2
        if beyond(middle).upper > failure:
            break
        high = middle
    return Bracket(lower=number(certain), upper=min(number(high), top.upper))


def _quantile(atoms: tuple[tuple[Fraction, Fraction], ...], failure: Fraction, *, is_one_sided: bool) -> Number:
    sizes = sorted(((number(0) if is_one_sided and p < q else _size(p, q), p) for p, q in atoms if p), reverse=True)
    spent = Fraction(0)
    for size, mass in sizes:
        spent += mass
        if spent > failure:
            return size
    return number(0)


def _size(p: Fraction, q: Fraction) -> Number:
    loss = ln(p / q) if q else exact.INFINITY
    return -loss if loss < 0 else loss


# --- how far the loss goes ------------------------------------------------------------------------


_GOLDEN = (math.sqrt(5) - 1) / 2


def loss_of_approximate(epsilon: exact.NumberLike | Bracket, delta: exact.NumberLike, failure: exact.NumberLike) -> Bracket:
    """epsilon' = ln(delta' e^epsilon + delta) - ln(delta' - delta) (Kazan 2025); at delta = 0 it is epsilon, without failure.

    Raises:
        FailureProbabilityError: unless delta < failure <= 1 (or delta = 0).

    >>> loss_of_approximate(1, "1e-6", "1e-3").upper.decimal(7)
    '1.001368'
    """
    d, f = exact.rational(delta, "delta"), exact.rational(failure, "failure")
    if d == 0:
        return as_bracket(epsilon)
    _check(d, f)
    small, large = fmpq_of(d), fmpq_of(f)
    return minus_log(epsilon, lambda y: (large - small) * y / (large + small * y))


def approximate_of_loss(loss: exact.NumberLike | Bracket, delta: exact.NumberLike, failure: exact.NumberLike) -> Bracket:
    """epsilon = ln(((delta' - delta) e^epsilon' - delta)/delta'): the budget under which the loss stays so far (inverse of
    Theorem 35).

    Raises:
        ParameterError: where not even epsilon = 0 keeps it at this delta.

    >>> approximate_of_loss("2*ln(3/2)", "1e-6", "1/100").upper.decimal(7)
    '0.8107858'
    """
    d, f = exact.rational(delta, "delta"), exact.rational(failure, "failure")
    if d == 0:
        return as_bracket(loss)
    _check(d, f)
    small, large = fmpq_of(d), fmpq_of(f)
    found = minus_log(loss, lambda y: large * y / (large - small - small * y))
    if found.lower < 0:
        rule = f"is too large: with failure {f} it alone exceeds the tolerated loss"
        raise ParameterError("delta", rule, "lower delta, or tolerate a larger failure", value=str(delta))
    return found


def loss_of_difference_criterion(epsilon: exact.NumberLike | Bracket) -> Bracket:
    """epsilon~ = ln(3 e^(epsilon/2) - 1) - ln(3 - e^(epsilon/2)), the loss that |X - p| <= tanh(epsilon/4) for all p implies
    (Kazan 2025, Theorem 31).

    Raises:
        ParameterError: at epsilon >= 2 ln 3, where nothing follows (not said in print).

    >>> str(loss_of_difference_criterion("ln(4)"))
    'ln(5)'
    """
    ends = as_bracket(epsilon)
    if ends.upper >= number("2*ln(3)"):
        raise ParameterError("epsilon", "must be below 2 ln 3, beyond which nothing follows", value=str(epsilon))
    return minus_log(ends, lambda y: (3 * y - 1) / (3 - y), part=Fraction(1, 2))


def loss_of_zcdp(rho: exact.NumberLike, failure: exact.NumberLike) -> Bracket:
    """The least epsilon' over delta in (0, failure), by epsilon = rho + 2 sqrt(rho ln(1/delta)) and Kazan 2025, Theorem 35.

    Any delta gives a valid number; the best is found in doubles and the number at it is enclosed.

    >>> loss_of_zcdp("7/100", "1/100").upper.decimal(6)
    '1.58414'
    """
    return _best(lambda delta: _simple(number(rho, "rho"), delta), exact.rational(failure, "failure"))


def loss_of_zcdp_tail(rho: exact.NumberLike, failure: exact.NumberLike) -> Bracket:
    """The epsilon' with (1 + e^-epsilon') e^(-(epsilon' - rho)^2/(4 rho)) = failure: below `loss_of_zcdp`, and not in the thesis.

    P(L > e) <= e^(-(e - rho)^2/(4 rho)) for the loss of either order (Kifer et al. 2022, Section 5.3), and P(L < -e) = E_Q[e^L; L
    < -e] is at most e^-e times that of the other order.

    >>> loss_of_zcdp_tail("7/100", "1/100").upper.decimal(6)
    '1.23655'
    """
    budget, share = number(rho, "rho"), exact.rational(failure, "failure")
    if budget == 0:
        return Bracket.exactly(0)
    with ctx.workprec(WORKING):
        scale = budget.enclose(WORKING)
        limit = -arb(fmpq_of(share)).log()

        def excess(e: arb) -> arb:
            return limit + (1 + (-e - scale).exp()).log() - e * e / (4 * scale)

        low, high = crossing(excess, Fraction(0))
        return Bracket.around(scale + between(low, high))


def loss_bound(divergence: OutputDivergence, budget: Number, failure: Fraction) -> tuple[Bracket, str]:
    """epsilon' with P(|L| <= epsilon') >= 1 - failure for all laws within a budget of any divergence, and by what it follows.

    Args:
        divergence: d_Pr.
        budget: for one pair of laws, in the first of its `budget_parameters`.
        failure: the probability that the statement fails; 0 for pure privacy.

    Raises:
        FailureProbabilityError: when the divergence has a delta that is not below `failure`.
        NoFormulaError: when no formula leads from the divergence to pure or to approximate privacy.
    """
    bound = divergence.lipschitz(divergence.budget_parameters[0], budget)
    pure = grammar.divergence_bound(MultDelta(delta=Fraction(0)), divergence)
    if pure is not None:
        return Bracket.exactly(bound * pure[0]), "Kazan 2025, Corollary 32"
    own: Fraction | None = getattr(divergence, "delta", None)
    if own is not None and failure <= own:
        _check(own, failure)
    if not failure:
        raise errors.FailureProbabilityError(
            "failure", f"must be above 0 for {divergence.name}", "write one such as 1/100", value="0"
        )
    if own is not None and (at_own := grammar.divergence_bound(MultDelta(delta=own), divergence)) is not None:
        return loss_of_approximate(bound * at_own[0], own, failure), "Kazan 2025, Theorem 35"
    arrows = _arrows(divergence)
    if not arrows:
        rule = "is led to approximate privacy by no registered formula"
        raise errors.NoFormulaError(divergence.name, rule, "state the guarantee in epsilon and delta, or in rho")

    def approximate(delta: Fraction) -> Bracket | None:
        found = [value for arrow in arrows if (value := arrow.converted(divergence, budget, MultDelta(delta=delta))) is not None]
        return min(found, key=lambda value: value.upper, default=None)

    return _best(
        approximate, failure
    ), f"Kazan 2025, Theorem 35 and Example 7, through {' or '.join(sorted({arrow.name for arrow in arrows}))}"


def _arrows(divergence: OutputDivergence) -> list[Conversion]:
    """The registered conversions from a divergence to approximate privacy, for every mechanism."""
    registered = (cls for cls in installed().registry.classes("rules") if issubclass(cls, Conversion))
    known = [cls() for cls in registered if cls.mechanism is None]
    return [arrow for arrow in known if arrow.source == divergence.name and arrow.target == MultDelta.name]


def _best(approximate: Callable[[Fraction], Bracket | None], failure: Fraction) -> Bracket:
    """The least of Theorem 35 over delta = failure e^-s, by golden section on s in doubles; infinite where nothing is known."""

    def at(s: float) -> tuple[Fraction, Bracket]:
        delta = failure * Fraction(math.exp(-s)).limit_denominator(10**12)
        found = approximate(delta)
        return delta, Bracket.exactly(exact.INFINITY) if found is None else loss_of_approximate(found, delta, failure)

    low, high = 1e-4, 12.0
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    here, there = at(left)[1], at(right)[1]
    for _ in range(24):
        if here.upper < there.upper:
            high, right, there = right, left, here
            left = high - _GOLDEN * (high - low)
            here = at(left)[1]
        else:
            low, left, here = left, right, there
            right = low + _GOLDEN * (high - low)
            there = at(right)[1]
    return min(here, there, key=lambda value: value.upper)


def _simple(rho: Number, delta: Fraction) -> Bracket:
    with ctx.workprec(WORKING):
        size = rho.enclose(WORKING)
        return Bracket.around(size + 2 * (size * -arb(fmpq_of(delta)).log()).sqrt(), least=0)


def _check(delta: Fraction, failure: Fraction) -> None:
    if not delta < failure <= 1:
        rule = f"must lie above delta = {delta}, and be at most 1"
        raise errors.FailureProbabilityError(
            "failure", rule, "a statement may fail with 1/100 while delta is 1e-6", value=str(failure)
        )
