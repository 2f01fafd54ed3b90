"""The total budget of k releases of one data collection, by each composition theorem (Kazan 2025).

All of them are valid; the optimal one is never above the others at the same delta (Kazan 2025). Basic composition can beat the
advanced one, so that the least of several should be reported (Kazan 2025).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Literal

import attrs
from flint import arb, ctx, fmpz

from dpspec.plugin import Bracket, Number, ParameterError, exact, number
from dpspec_attackers.numeric import WORKING, fmpq_of, largest_where

Reading = Literal["dwork", "tight"]


def _epsilon(value: exact.NumberLike) -> Number:
    return number(value, "epsilon")


def _delta(value: exact.NumberLike) -> Fraction:
    return exact.rational(value, "delta")


@attrs.frozen(kw_only=True)
class Releases:
    """k releases of one kind, each (epsilon, delta_each)-private, and the delta that is allowed for all of them.

    Args:
        times: k.
        epsilon: of each; any exact number above 0.
        delta_each: of each.
        delta: of all together.
    """

    times: int
    epsilon: Number = attrs.field(converter=_epsilon)
    delta_each: Fraction = attrs.field(default=Fraction(0), converter=_delta)
    delta: Fraction = attrs.field(default=Fraction(0), converter=_delta)

    def __attrs_post_init__(self) -> None:
        if self.times < 1:
            raise ParameterError("times", "must be at least 1", value=self.times)
        if self.epsilon < 0 or self.epsilon.is_infinite:
            raise ParameterError("epsilon", "must be a finite number of at least 0", value=str(self.epsilon))
        if not 0 <= self.delta_each < 1 or not 0 <= self.delta < 1:
            raise ParameterError("delta", "must lie in [0, 1)", value=f"{self.delta_each}, {self.delta}")
        if not self.affordable:
            rule = f"is below what {self.times} releases with delta = {self.delta_each} each need"
            raise ParameterError("delta", rule, f"allow {self.times * self.delta_each}", value=str(self.delta))

    @property
    def affordable(self) -> bool:
        """Whether delta covers the deltas of the parts, added up."""
        return self.times * self.delta_each <= self.delta

    @property
    def left(self) -> Fraction:
        """The delta that is left for the epsilons: 1 - (1 - delta)/(1 - delta_each)^k."""
        return 1 - (1 - self.delta) / (1 - self.delta_each) ** self.times


def basic(releases: Releases) -> Bracket:
    """k epsilon (Kazan 2025, Theorem 25, part 1).

    >>> str(basic(Releases(times=28, epsilon="1/20")))
    '7/5'
    """
    return Bracket.exactly(releases.epsilon * releases.times)


def advanced(releases: Releases, reading: Reading = "tight") -> Bracket:
    """k epsilon c + sqrt(2 k epsilon^2 ln(1/(delta - k delta_each))) (Kazan 2025, Theorem 25, part 2).

    c is e^epsilon - 1 as Dwork and others have it, and (e^epsilon - 1)/(e^epsilon + 1) in the tight reading, which alone
    reproduces the printed results. Infinite where delta does not exceed the sum of the deltas.
    """
    rest = releases.delta - releases.times * releases.delta_each
    if rest <= 0:
        return Bracket.exactly("inf")
    with ctx.workprec(WORKING):
        e = releases.epsilon.enclose(WORKING)
        slope = e.expm1() if reading == "dwork" else (e / 2).tanh()
        return Bracket.around(releases.times * e * slope + e * (2 * releases.times * -arb(fmpq_of(rest)).log()).sqrt(), least=0)


def optimal_delta(times: int, epsilon: Number, total: exact.NumberLike) -> Bracket:
    """delta_0: the least delta at which k pure releases are (total, delta)-private together, exactly attained
    (Kazan 2025, Theorem 25, part 3).

    With i of k randomised responses turned round the loss is (k - 2 i) epsilon: the hockey stick of two binomial laws.

    >>> optimal_delta(2, number("ln(3)"), 0).upper.decimal()
    '0.5'
    """
    with ctx.workprec(WORKING + 2 * times):
        factor = number(total).enclose(ctx.prec).exp()
        gains = [p - factor * q for p, q in _events(times, epsilon)]
        best = arb(0)
        for gain in gains:
            best = best.max(gain)
        return Bracket.around(best, least=0)


def optimal(releases: Releases) -> Bracket:
    """The least epsilon of k releases together at this delta: ln max (P(S) - delta_0)/Q(S) over the events S (Kairouz and
    others).

    >>> optimal(Releases(times=100, epsilon="1/20", delta="1e-6")).upper.decimal()
    '2.20753'
    """
    slack = releases.left
    with ctx.workprec(WORKING + 2 * releases.times):
        best = arb(1)
        for p, q in _events(releases.times, releases.epsilon):
            best = best.max((p - fmpq_of(slack)) / q)
        return Bracket.around(best.log(), least=0)


def lattice_delta(times: int, epsilon: Number, step: int) -> Bracket:
    """delta_l of Kazan 2025, Theorem 25, as printed, at the total (k - 2 l) epsilon.

    >>> lattice_delta(2, number("ln(3)"), 1).upper.decimal()
    '0.5'
    """
    if not 0 <= 2 * step <= times:
        raise ParameterError("step", f"must lie between 0 and {times // 2}", value=step)
    with ctx.workprec(WORKING + 2 * times):
        e = epsilon.enclose(ctx.prec)
        total = arb(0)
        for i in range(step):
            total += arb(fmpz.bin_uiui(times, i)) * ((e * (times - i)).exp() - (e * (times - 2 * step + i)).exp())
        return Bracket.around(total / (1 + e.exp()) ** times, least=0)


def lattice(releases: Releases) -> Bracket:
    """The least (k - 2 l) epsilon with delta_l within delta: not monotone in k, and never below `optimal`."""
    best = 0
    for step in range(1, releases.times // 2 + 1):
        if lattice_delta(releases.times, releases.epsilon, step).upper > releases.left:
            break
        best = step
    return Bracket.exactly(releases.epsilon * (releases.times - 2 * best))


def _events(times: int, epsilon: Number) -> list[tuple[arb, arb]]:
    """(P(S), Q(S)) for the events S_m that at most m of the answers are turned round, m = 0, ..., k; at the working precision."""
    e = epsilon.enclose(ctx.prec)
    scale = (1 + e.exp()) ** times
    powers = [(e * i).exp() for i in range(times + 1)]
    found, p, q = [], arb(0), arb(0)
    for i in range(times + 1):
        ways = arb(fmpz.bin_uiui(times, i)) / scale
        p, q = p + ways * powers[times - i], q + ways * powers[i]
        found.append((p, q))
    return found


# --- composition by name --------------------------------------------------------------------------


METHODS: dict[str, Callable[[Releases], Bracket]] = {
    "basic": basic,
    "advanced": advanced,
    "advanced-dwork": lambda releases: advanced(releases, "dwork"),
    "optimal-lattice": lattice,
    "optimal": optimal,
}
"""Every composition of (epsilon, delta)-private releases by its name."""


def total(releases: Releases, method: str) -> Bracket:
    """The epsilon of all releases together by a named method.

    Raises:
        ParameterError: for a method that is not known.
    """
    return method_of(method)(releases)


def method_of(name: str) -> Callable[[Releases], Bracket]:
    """A method by its name."""
    if name not in METHODS:
        raise ParameterError("method", f"must be one of {', '.join(METHODS)}", value=name)
    return METHODS[name]


def largest_epsilon(allowed: Number, times: int, delta_each: Fraction, delta: Fraction, method: str) -> Bracket:
    """The largest epsilon of each of k releases that are (allowed, delta)-private together (Kazan 2025, Example 8).

    >>> largest_epsilon(number(1), 10, Fraction(0), Fraction(0), "basic").lower.decimal()
    '0.1'
    """
    compose = method_of(method)
    releases = Releases(times=times, epsilon=number(0), delta_each=delta_each, delta=delta)
    if method == "basic":
        return Bracket.exactly(allowed * Fraction(1, times))
    if method == "optimal-lattice":
        return _largest_on_lattice(allowed, releases)
    high = Fraction(allowed.enclose().upper().__float__()).limit_denominator(1 << 40) + 1

    def keeps(epsilon: Fraction) -> bool:
        return epsilon == 0 or compose(attrs.evolve(releases, epsilon=number(epsilon))).upper <= allowed

    return largest_where(keeps, high)


def _largest_on_lattice(allowed: Number, releases: Releases) -> Bracket:
    """For each l the smaller of allowed/(k - 2 l) and the epsilon where delta_l uses up delta; the largest of these."""
    times, best = releases.times, Bracket.exactly(0)
    for step in range((times + 1) // 2):
        most = Bracket.exactly(allowed * Fraction(1, times - 2 * step))
        top = Fraction(float(most.upper)) * Fraction(1025, 1024)
        by_delta = largest_where(lambda e, step=step: lattice_delta(times, number(e), step).upper <= releases.left, top)  # type: ignore[misc]
        lower, upper = min(most.lower, by_delta.lower), min(most.upper, by_delta.upper)
        if lower > best.lower:
            best = Bracket(lower=lower, upper=upper)
    return best
