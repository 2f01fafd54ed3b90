"""Composition by name, and the largest epsilon of each release for what all may spend together (Z-A19, Z-A20)."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import attrs

from dpspec.errors import ParameterError
from dpspec.exact import Bracket, Number, number
from dpspec_attackers.membership.composition import Releases, advanced, basic, lattice, lattice_delta, optimal
from dpspec_attackers.numeric import largest_where

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
    """The largest epsilon of each of k releases that are (allowed, delta)-private together (step 3 of Z-A20).

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
