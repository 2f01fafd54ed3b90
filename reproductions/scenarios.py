"""What a rho, and the noise of 2020, say about one secret: powers, Bayesian curves, scenarios (Kifer et al. 2022).

Powers and class c are those of Gaussian noise, mu = sqrt(2 rho), which the discrete noise of the census attains to many digits;
`power_bound`, class b and class d hold for every mechanism with that rho.

Two datasets are neighbours of a scenario when they differ in one person's record, and there only in what is to stay secret: some
attributes, or the block within a larger unit. Only queries that can answer differently for such a pair count. Their rho* add up
to the rho of the scenario, every statement of zCDP and of Gaussian privacy then holds with that rho, mu = sqrt(2 rho). The noise
is discrete; its own powers are enclosed by `exact_power`, and agree with the Gaussian ones to many digits.
"""

from __future__ import annotations

from collections.abc import Collection
from fractions import Fraction

import attrs
from dpspec_census.configuration_2020 import LEVELS, QUERIES, SCENARIOS, Query, rho_star
from dpspec_divergences import DNor
from dpspec_divergences.trade_off import GaussianTradeOff
from flint import arb, ctx

from dpspec.base.errors import ParameterError
from dpspec.base.exact import Bracket, NumberLike, number, rational
from dpspec.base.log_linear import ball
from dpspec.base.params import Rational
from dpspec.laws.dichotomy import Dichotomy
from dpspec.laws.integers import DiscreteGaussianShift
from dpspec.laws.loss import compose
from dpspec.laws.numeric import normal_cdf
from dpspec.laws.trade_off import largest_power
from dpspec.risks.attack_bounds import allowed_power

_PRECISION = 128
_BITS = 60


def power(rho: NumberLike, level: NumberLike) -> Bracket:
    """Phi(Phi^-1(level) + sqrt(2 rho)): how often a test of Gaussian noise of this rho finds the secret (Kifer et al. 2022).

    >>> power("2.63", "0.05").upper.decimal()
    '0.741706'
    """
    with ctx.workprec(_PRECISION):
        return Bracket.around(GaussianTradeOff().largest_probability(_open(level, "level"), _mu(rho)), least=0)


def power_bound(rho: NumberLike, level: NumberLike) -> Bracket:
    """The largest power that rho-zCDP alone allows, whatever the mechanism (Kifer et al. 2022, Table 6).

    >>> power_bound("0.1115", "0.05").upper.decimal(4)
    '0.1402'
    """
    return allowed_power(DNor(), number(rational(rho)).sqrt(), rational(level))


def epsilon_given_truth(rho: NumberLike, delta: NumberLike) -> Bracket:
    """ln(delta / Phi(Phi^-1(delta) - sqrt(2 rho))): class c of knowledge (Kifer et al. 2022, Theorem 3).

    With probability at least 1 - delta over the noise, the belief in the true record of somebody who knows all others does not
    exceed e^epsilon times the belief that the same attacker would have without that record in the data.

    >>> epsilon_given_truth("0.1115", "0.01").upper.decimal()
    '1.36007'
    """
    with ctx.workprec(_PRECISION):
        return Bracket.around(_epsilon(_open(delta, "delta"), _mu(rho)), least=0)


def delta_given_truth(rho: NumberLike, epsilon: NumberLike) -> Bracket:
    """The delta of class c at an epsilon, by halving.

    >>> delta_given_truth("0.1115", 1).upper.decimal()
    '0.0705793'
    """
    goal, low, high = rational(epsilon, "epsilon"), Fraction(0), Fraction(1)
    with ctx.workprec(2 * _PRECISION):
        mu = _mu(rho)
        for _ in range(2 * _BITS):
            middle = (low + high) / 2
            found = _epsilon(ball(middle), mu)
            if found > ball(goal):
                low = middle
            elif found < ball(goal):
                high = middle
            else:
                break
            if low and high - low < low / 2**_BITS:
                break
    return Bracket(lower=number(low), upper=number(high))


def epsilon_of_predictive(rho: NumberLike, delta: NumberLike) -> Bracket:
    """2 sqrt(rho ln(1/delta)) - rho, or ln(1/delta) where that is at most rho: class b of knowledge, over the predictive law."""
    r, slack = _rho(rho), _open(delta, "delta")
    with ctx.workprec(_PRECISION):
        log = -slack.log()
        return Bracket.around(2 * (ball(r) * log).sqrt() - ball(r) if log > ball(r) else log, least=0)


def epsilon_any_prior(rho: NumberLike, delta: NumberLike) -> Bracket:
    """rho + 2 sqrt(rho ln(1/delta)): class d of knowledge, for a prior of all other records that is correct."""
    r, slack = _rho(rho), _open(delta, "delta")
    with ctx.workprec(_PRECISION):
        return Bracket.around(ball(r) + 2 * (-ball(r) * slack.log()).sqrt(), least=0)


def _epsilon(delta: arb, mu: arb) -> arb:
    """delta over the largest probability of an event under the other law, as a logarithm."""
    quantile = arb(2).sqrt() * (2 * delta - 1).erfinv()
    return (delta / normal_cdf(quantile - mu)).log()


def _rho(value: NumberLike) -> Fraction:
    return Rational(0, open_low=True).read(value, "rho")


def _mu(rho: NumberLike) -> arb:
    return ball(2 * _rho(rho)).sqrt()


def _open(value: NumberLike, subject: str) -> arb:
    return ball(Rational(0, 1, open_low=True, open_high=True).read(value, subject))


# --- scenarios of 2020 ----------------------------------------------------------------------------


ATTRIBUTES = ("cenrace", "hispanic", "votingage", "hhgq")
"""What the person queries tell apart; the three household levels are read off hhgq."""


@attrs.frozen(kw_only=True)
class Secret:
    """What is to stay secret about one person.

    Args:
        attributes: those that may be otherwise; see `ATTRIBUTES`.
        within: the level of the unit inside which the person's block may be another one, such as "tract"; None when the block is
            no secret, and "nation" for any block.

    Raises:
        ParameterError: for an unknown attribute or level, and when nothing is secret.

    >>> secret = Secret(attributes=("cenrace",), within="tract")
    >>> float(secret.rho), float(SCENARIOS["E"].printed)
    (1.3786839275164668, 1.32)
    """

    attributes: tuple[str, ...] = ()
    within: str | None = None

    def __attrs_post_init__(self) -> None:
        for attribute in self.attributes:
            if attribute not in ATTRIBUTES:
                raise ParameterError("attributes", f"must be some of {', '.join(ATTRIBUTES)}", value=attribute)
        if self.within is not None and self.within not in ("nation", *LEVELS[1:-1]):
            raise ParameterError("within", f"must be one of nation, {', '.join(LEVELS[1:-1])}", value=self.within)
        if not self.attributes and self.within is None:
            raise ParameterError("secret", "must have an attribute or a level in it", 'write within="tract"')

    @property
    def moving(self) -> tuple[str, ...]:
        """The levels at which the person may be in another unit."""
        if self.within is None:
            return ()
        return LEVELS[1 if self.within == "nation" else LEVELS.index(self.within) + 1 :]

    def reacts(self, query: Query, level: str) -> bool:
        """Whether the answers of a query at a level can differ between neighbours.

        All of them can where the person may be in another unit, the number of occupied housing units too.
        """
        named = {*self.attributes, *(["hhinstlevels"] if "hhgq" in self.attributes else [])}
        return level in self.moving or not named.isdisjoint(query.variables)

    def reacting(self) -> tuple[tuple[Query, str], ...]:
        """The (query, level) pairs that react and spend anything."""
        return tuple((q, at) for at in LEVELS for q in QUERIES if rho_star(q, at) and self.reacts(q, at))

    @property
    def rho(self) -> Fraction:
        """The sum of their rho*, exactly (Kifer et al. 2022, Section 8)."""
        return sum((rho_star(query, level) for query, level in self.reacting()), Fraction(0))

    def pair(self) -> Dichotomy:
        """The laws of all reacting answers of two neighbours: in each two cells differ by 1, the variance is 1/rho*
        (Kifer et al. 2022, Section 8.1)."""
        return compose((DiscreteGaussianShift(1, 1 / rho_star(query, level)), 2) for query, level in self.reacting())


CASES = {
    "A": Secret(within="block-group"),
    "B": Secret(within="tract"),
    "C": Secret(attributes=("cenrace",)),
    "D": Secret(attributes=("hispanic",)),
    "E": Secret(attributes=("cenrace",), within="tract"),
    "F": Secret(attributes=("votingage",), within="block-group"),
    "G": Secret(attributes=("votingage", "cenrace"), within="block-group"),
    "H": Secret(attributes=("votingage", "hispanic"), within="block-group"),
}
"""The eight scenarios of the case study; what is printed for them is in `configuration_2020.SCENARIOS`."""


def exact_power(secret: Secret, level: NumberLike) -> Bracket:
    """The power of the best test of the discrete noise itself, in a bracket about 1e-5 wide (Kifer et al. 2022, Table 6)."""
    at = Rational(0, 1, open_low=True, open_high=True).read(level, "level")
    return largest_power(secret.pair(), at)


@attrs.frozen(kw_only=True)
class ScenarioLine:
    """One scenario in a table.

    Args:
        name, kept: the letter, and what is to stay secret.
        printed_rho, rho: as printed, and from the fractions of the tables.
        at_printed, at_rho: powers at the levels, for either.
    """

    name: str
    kept: str
    printed_rho: Fraction
    rho: Fraction
    at_printed: tuple[Bracket, ...]
    at_rho: tuple[Bracket, ...]

    @property
    def recomputes(self) -> bool:
        """Whether the printed rho is within 1/1000 of what the tables give; those that are not are more than 1/20 away."""
        return abs(self.printed_rho - self.rho) <= Fraction(1, 1000)


def compared(
    names: Collection[str] = tuple(CASES), levels: Collection[str] = ("0.01", "0.05", "0.10")
) -> tuple[ScenarioLine, ...]:
    """The scenarios with their rho and powers recomputed beside what is printed (Kifer et al. 2022, Table 6 and Section 8.2)."""
    return tuple(
        ScenarioLine(
            name=name,
            kept=SCENARIOS[name].kept,
            printed_rho=SCENARIOS[name].printed,
            rho=CASES[name].rho,
            at_printed=tuple(power(SCENARIOS[name].printed, level) for level in levels),
            at_rho=tuple(power(CASES[name].rho, level) for level in levels),
        )
        for name in names
    )
