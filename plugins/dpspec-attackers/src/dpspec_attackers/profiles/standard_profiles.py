"""The named risk profiles, with their closed forms, and what others derive from a tolerated risk.

Printed profiles (Kazan 2025), profiles about one attacker alone (Kazan 2025), one given as a Python
function, and the rules of Lee and Clifton 2011 and Wood et al. (Kazan 2025).

Every closed form is a value of `root` at the binding priors, so that nothing cancels (Kazan 2025).
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TypeVar

import attrs

from dpspec.plugin import Bracket, Integer, ParameterError, Rational, define, errors, exact, grammar, ln, params
from dpspec_attackers.numeric import fmpq_of, in_decay
from dpspec_attackers.profiles.profile import (
    DISTANCES,
    MULTIPLE,
    CellPoint,
    Region,
    RiskProfile,
    exact_probability,
    flip_probability,
    root,
    standard_deviation,
)

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy


Closed = tuple[Bracket, CellPoint, str]

MultipleOfPrior = Annotated[Fraction, MULTIPLE]
Posterior = Annotated[Fraction, Rational(0, 1, open_high=True)]
PriorProbability = Annotated[Fraction, Rational(0, 1, open_low=True)]
ONE, ZERO = Fraction(1), Fraction(0)


@define
class Constant(RiskProfile):
    """r* = ratio for all priors: epsilon = ln(ratio)/2, approached as q -> 0 at p = 1 (Kazan 2025, Theorem 10).

    >>> str(Constant(ratio=9).recommend().value)
    'ln(3)'
    """

    name: ClassVar[str] = "constant"
    title: ClassVar[str] = "the posterior is at most so many times the prior, for every attacker"
    source: ClassVar[str] = "Kazan 2025, Theorem 10, Sections 3.3 and 3.4"

    ratio: MultipleOfPrior

    def tolerated(self, p: Fraction, q: Fraction) -> Fraction:
        return self.ratio

    def closed_form(self) -> Closed:
        return root(ONE, ZERO, self.ratio), (ONE, ZERO), "Kazan 2025, Theorem 10"


@define
class FixedQ(RiskProfile):
    """r* = max(posterior/(p q), ratio) for one prior q of the value; q = 1: inclusion is the secret (Kazan 2025, Theorem 12).

    >>> [FixedQ(posterior="1/4", ratio=ratio, q=1).recommend().value.upper.decimal(3) for ratio in ("3/2", 3, 6)]
    ['0.511', '1.3', '2.04']
    """

    name: ClassVar[str] = "fixed-q"
    title: ClassVar[str] = (
        "a bounded posterior, or a bounded ratio where that allows more, for attackers with one prior q of the value"
    )
    source: ClassVar[str] = "Kazan 2025, Theorem 12, Sections 3.3 and 3.4"

    posterior: Posterior
    ratio: MultipleOfPrior
    q: PriorProbability = Fraction(1)

    def where(self) -> Region:
        return Region(q_low=self.q, q_high=self.q)

    def tolerated(self, p: Fraction, q: Fraction) -> Fraction:
        return max(self.posterior / (p * q), self.ratio)

    def closed_form(self) -> Closed:
        """Lemma 9: at q > 1/(ratio + 1) a constant ratio binds at the least p, below it at p = 1."""
        knee = self.posterior / self.ratio
        if self.q < knee:
            return root(ONE, self.q, self.posterior / self.q), (ONE, self.q), "Kazan 2025, Theorem 12"
        if self.q <= 1 / (self.ratio + 1):
            return root(ONE, self.q, self.ratio), (ONE, self.q), "Kazan 2025, Theorem 12"
        if self.posterior == 0:
            return Bracket.exactly(ln(self.ratio)), (ZERO, self.q), "Kazan 2025, Theorem 12 as posterior -> 0"
        p = knee / self.q
        return root(p, self.q, self.ratio), (p, self.q), "Kazan 2025, Theorem 12"


@define
class FixedP(RiskProfile):
    """r* = max(posterior/(p q), ratio) for one prior p of inclusion, such as the rate of a sample (Kazan 2025, Theorem 11).

    The trap of Theorem 11 is at p = posterior/ratio, where the printed form cancels; here it is one case of a stable root:

    >>> FixedP(posterior="3/20", ratio=3, p="1/20").recommend().value.upper.decimal(8)
    '1.2098379'
    """

    name: ClassVar[str] = "fixed-p"
    title: ClassVar[str] = (
        "a bounded posterior, or a bounded ratio where that allows more, for attackers with one prior p of inclusion"
    )
    source: ClassVar[str] = "Kazan 2025, Theorem 11, Sections 3.3 and 3.4"

    posterior: Posterior
    ratio: MultipleOfPrior
    p: PriorProbability

    def where(self) -> Region:
        return Region(p_low=self.p, p_high=self.p)

    def tolerated(self, p: Fraction, q: Fraction) -> Fraction:
        return max(self.posterior / (p * q), self.ratio)

    def closed_form(self) -> Closed:
        knee = self.posterior / self.ratio
        if self.p < knee:
            return root(self.p, ONE, self.posterior / self.p), (self.p, ONE), "Kazan 2025, Theorem 11"
        q = knee / self.p
        return root(self.p, q, self.ratio), (self.p, q), "Kazan 2025, Theorem 11"


@define
class TwoDimensional(RiskProfile):
    """r* = max(posterior/(p q), ratio) for all priors: epsilon = 1/2 ln((ratio - posterior)/(1 - posterior)).

    >>> str(TwoDimensional(posterior="1/4", ratio=3).recommend().value)
    '1/2*ln(11/3)'
    """

    name: ClassVar[str] = "two-dimensional"
    title: ClassVar[str] = "a bounded posterior, or a bounded ratio where that allows more, for every attacker"
    source: ClassVar[str] = "Kazan 2025, Sections 3.3 and 3.4"

    posterior: Posterior
    ratio: MultipleOfPrior

    def tolerated(self, p: Fraction, q: Fraction) -> Fraction:
        return max(self.posterior / (p * q), self.ratio)

    def closed_form(self) -> Closed:
        q = self.posterior / self.ratio
        return root(ONE, q, self.ratio), (ONE, q), "Kazan 2025, Section 3.4"


@define
class Box(RiskProfile):
    """r* = ratio for priors in a box, nothing outside (Kazan 2025, equation 3.28).

    >>> Box(p_low=0, p_high="7/10", q_low=0, q_high="9/10", ratio=2).recommend().value.upper.decimal(7)
    '0.4191415'
    """

    name: ClassVar[str] = "box"
    title: ClassVar[str] = "the posterior is at most so many times the prior, for attackers whose priors lie in a box"
    source: ClassVar[str] = "Kazan 2025, equation 3.28, Sections 3.3 and 3.4"

    ratio: MultipleOfPrior
    p_low: Annotated[Fraction, Rational(0, 1)] = Fraction(0)
    p_high: PriorProbability = Fraction(1)
    q_low: Annotated[Fraction, Rational(0, 1)] = Fraction(0)
    q_high: PriorProbability = Fraction(1)

    def __attrs_post_init__(self) -> None:
        for name, low, high in (("p", self.p_low, self.p_high), ("q", self.q_low, self.q_high)):
            if low > high:
                raise ParameterError(f"{name}_low", f"must be at most {name}_high", f"{name}_high is {high}", value=str(low))

    def where(self) -> Region:
        return Region(p_low=self.p_low, p_high=self.p_high, q_low=self.q_low, q_high=self.q_high)

    def tolerated(self, p: Fraction, q: Fraction) -> Fraction:
        return self.ratio

    def closed_form(self) -> Closed:
        """Least at the least q; there at the largest p while q <= 1/(ratio + 1), else at the least (Lemma 9)."""
        p = self.p_high if self.q_low <= 1 / (self.ratio + 1) else self.p_low
        return root(p, self.q_low, self.ratio), (p, self.q_low), "Kazan 2025, equation 3.28"


@define
class Difference(RiskProfile):
    """Posterior - prior <= difference for all priors: epsilon = ln((1 + b)/(1 - b)), at p = 1, q = (1 - b)/2 (Kazan 2025).

    On the line q = 1 alone it is twice that; see the tolerance membership-difference.

    >>> str(Difference(difference="1/5").recommend().value)
    'ln(3/2)'
    """

    name: ClassVar[str] = "difference"
    title: ClassVar[str] = "the posterior is above the prior by at most so much, for every attacker"
    source: ClassVar[str] = "Kazan 2025, Sections 3.3 and 3.4, equations 3.31 and 3.32"

    difference: Annotated[Fraction, Rational(0, 1, open_low=True, open_high=True)]

    def tolerated(self, p: Fraction, q: Fraction) -> Fraction:
        return 1 + self.difference / (p * q)

    def closed_form(self) -> Closed:
        q = (1 - self.difference) / 2
        return root(ONE, q, self.tolerated(ONE, q)), (ONE, q), "Kazan 2025, equations 3.31 and 3.32"


# --- one attacker alone ---------------------------------------------------------------------------


@define
class Point(RiskProfile):
    """r* = ratio for one attacker (p, q), nothing for others; at (1/2, 1) it is ln(ratio/(2 - ratio)) (Kazan 2025, Section 3.4).

    >>> str(Point(ratio="3/2").recommend().value)
    'ln(3)'
    """

    name: ClassVar[str] = "point"
    title: ClassVar[str] = "the posterior is at most so many times the prior, for one attacker"
    source: ClassVar[str] = "Kazan 2025, Sections 3.3 and 3.4"

    ratio: MultipleOfPrior
    p: PriorProbability = Fraction(1, 2)
    q: PriorProbability = Fraction(1)

    def __attrs_post_init__(self) -> None:
        if self.p * self.q == 1:
            raise errors.CertainTargetError("p", "is 1 and so is q: this attacker knows everything before the release", value="1")

    def where(self) -> Region:
        return Region(p_low=self.p, p_high=self.p, q_low=self.q, q_high=self.q)

    def tolerated(self, p: Fraction, q: Fraction) -> Fraction:
        return self.ratio

    def closed_form(self) -> Closed:
        return root(self.p, self.q, self.ratio), (self.p, self.q), "Kazan 2025, Theorem 5 and Section 3.4"


@define
class OneMissing(RiskProfile):
    """One of n known individuals is missing from the data; who it is, is believed with probability at most `posterior`
    (Kazan 2025, equation 3.40).

    r*(1/n, 1) = n posterior: epsilon = ln((n - 1) posterior/(1 - posterior)).

    >>> str(OneMissing(size=4, posterior="1/3").recommend().value)
    'ln(3/2)'
    """

    name: ClassVar[str] = "one-missing"
    title: ClassVar[str] = "one of n known individuals is missing: a bounded posterior for who it is"
    source: ClassVar[str] = "Kazan 2025, Section 3.11.1 and equation 3.40"

    size: Annotated[int, Integer(2)]
    posterior: Annotated[Fraction, Rational(0, 1, open_low=True, open_high=True)]

    def __attrs_post_init__(self) -> None:
        if self.size * self.posterior < 1:
            rule = f"is below the prior 1/{self.size}, which everybody has before anything is released"
            raise errors.ProfileBelowOneError("posterior", rule, f"tolerate at least 1/{self.size}", value=str(self.posterior))

    def where(self) -> Region:
        p = Fraction(1, self.size)
        return Region(p_low=p, p_high=p, q_low=ONE, q_high=ONE)

    def tolerated(self, p: Fraction, q: Fraction) -> Fraction:
        return self.size * self.posterior

    def closed_form(self) -> Closed:
        p = Fraction(1, self.size)
        return root(p, ONE, self.size * self.posterior), (p, ONE), "Kazan 2025, equation 3.40"


# --- a Python function ----------------------------------------------------------------------------


ProfileFunction = Callable[[Fraction, Fraction], object]


@attrs.frozen
class FunctionOfPriors(params.Domain):
    """A function of two priors, given as it is or as the text module:name; the current directory is looked through first."""

    python = "str | Callable[..., NumberLike]"

    def read(self, value: Any, subject: str) -> ProfileFunction:
        if callable(value):
            return value  # type: ignore[no-any-return]
        module, colon, name = str(value).partition(":")
        if not (module and colon and name):
            raise ParameterError(
                subject,
                f"must be {errors.with_article(self.describe())}",
                "such as profiles:cautious for profiles.py",
                value=value,
            )
        if os.getcwd() not in sys.path:
            sys.path.insert(0, os.getcwd())
        try:
            found = getattr(importlib.import_module(module), name)
        except (ImportError, AttributeError) as problem:
            raise ParameterError(subject, f"cannot be imported: {problem}", "run dpspec in its folder", value=value) from problem
        return self.read(found, subject) if callable(found) else _refuse(subject, value)

    def describe(self) -> str:
        return "function (p, q) -> tolerated ratio, or its place written module:name"

    def schema(self) -> dict[str, Any]:
        return {"type": "string", "description": self.describe()}

    def strategy(self) -> SearchStrategy[Any]:
        from hypothesis import strategies as st

        return st.just(_twice)


def _twice(*_: Fraction) -> object:
    """A profile that tolerates twice the prior."""
    return 2


def _refuse(subject: str, value: object) -> ProfileFunction:
    raise ParameterError(subject, "is no function", "name one that takes p and q", value=value)


@define
class FromFunction(RiskProfile):
    """Any function (p, q) -> r*, of exact rationals, that never grows with p or q; None or infinity where nothing is asked.

    Args:
        function: called with two Fractions in (0, 1]; what it returns is read as an exact number.
        region: the priors that it speaks about.

    >>> profile = FromFunction(function=lambda p, q: max(Fraction(1, 4) / (p * q), 3))
    >>> found = profile.recommend()
    >>> found.value.lower.decimal(7), found.method
    ('0.6496415', 'branch and bound')
    """

    name: ClassVar[str] = "function"
    title: ClassVar[str] = "a tolerated ratio given by a function of the priors"
    source: ClassVar[str] = "Kazan 2025, Section 3.2.3 and equation 3.15"

    function: Annotated[ProfileFunction, FunctionOfPriors()]
    region: Region = attrs.field(factory=Region)

    def where(self) -> Region:
        return self.region

    def tolerated(self, p: Fraction, q: Fraction) -> Fraction | None:
        value: Any = self.function(p, q)
        if value is None or value == float("inf"):
            return None
        try:
            return exact.rational(value, "ratio")
        except ParameterError as fault:
            raise ParameterError(
                "ratio", "must be a number, infinity or None", f"the profile was evaluated at p = {p}, q = {q}", value=value
            ) from fault


# --- what others derive ---------------------------------------------------------------------------


RecordType = TypeVar("RecordType")


def lee_clifton(size: int, posterior: exact.NumberLike, change: exact.NumberLike = 1, spread: exact.NumberLike = 1) -> Bracket:
    """(change/spread) ln((n - 1) posterior/(1 - posterior)): one of n public individuals is missing, Laplace noise (Kazan 2025).

    At change = spread it is what the profile `one-missing` gives from the budget alone, for any mechanism (Kazan 2025).

    Args:
        size: n, the number of individuals.
        posterior: the largest tolerated belief in who is missing, at least 1/n.
        change, spread: the two sensitivities, from the population; see `sensitivities`.

    >>> str(lee_clifton(4, "1/3")), str(lee_clifton(4, "1/3", change=2, spread=4))
    ('ln(3/2)', '1/2*ln(3/2)')
    """
    largest, widest = exact.rational(change, "change"), exact.rational(spread, "spread")
    if largest <= 0 or widest <= 0:
        raise ParameterError("change, spread", "must be above 0", "take them from `sensitivities`", value=f"{change}, {spread}")
    found = OneMissing(size=size, posterior=exact.rational(posterior, "posterior")).recommend().value
    return found.scaled(largest / widest)


def sensitivities(
    population: Sequence[RecordType], statistic: Callable[[tuple[RecordType, ...]], exact.NumberLike]
) -> tuple[Fraction, Fraction]:
    """The two sensitivities of Lee and Clifton, over a *public* population: (change, spread) (Kazan 2025, Section 3.11.1).

    change = max abs(T(Y1) - T(Y2)) over Y2 in Y1 in P of sizes n - 2 and n - 1; spread = the same over Y1, Y2 of size n - 1.

    >>> sensitivities((1, 2, 4, 9), sum)
    (Fraction(9, 1), Fraction(8, 1))
    """
    size = len(population)
    if size < 3:
        raise ParameterError("population", "must hold at least three individuals", value=size)

    def value(kept: tuple[int, ...]) -> Fraction:
        return exact.rational(statistic(tuple(population[i] for i in kept)), "statistic")

    without_one = {kept: value(kept) for kept in combinations(range(size), size - 1)}
    change = max(
        abs(whole - value(kept[:place] + kept[place + 1 :])) for kept, whole in without_one.items() for place in range(size - 1)
    )
    return change, max(without_one.values()) - min(without_one.values())


def wood_bound(without: exact.NumberLike, epsilon: exact.NumberLike | Bracket) -> Bracket:
    """a0/(a0 + e^(-2 epsilon)(1 - a0)): the largest posterior with the target in, where it is a0 with the target out
    (Kazan 2025, Section 3.11.2).

    It has the shape of the bound for p = 1 here, with the prior q in the place of a0 (Kazan 2025, equation 3.45).

    >>> wood_bound("1/100", "1/2").upper.decimal(6)
    '0.0267236'
    """
    base = exact.rational(without, "without")
    if not 0 <= base <= 1:
        raise ParameterError("without", "must lie in [0, 1]", value=str(without))
    a, rest = fmpq_of(base), fmpq_of(1 - base)
    if base == 0:
        return Bracket.exactly(0)
    return in_decay(epsilon, lambda y: a / (a + y * y * rest))


# --- `recommend_epsilon`, and what is drawn of profiles -------------------------------------------


Profile = RiskProfile | Callable[[Fraction, Fraction], object]


def recommend_epsilon(profile: Profile) -> grammar.Recommendation:
    """The largest pure epsilon that keeps a risk profile, given by its type or as any function (p, q) -> r* (Kazan 2025).

    It takes no data. Round its result down, never up.

    Raises:
        ProfileBelowOneError: where r* < 1.
        ProfileNotMonotoneError: where r* was seen to grow with p or q.

    >>> from dpspec_attackers.profiles import TwoDimensional
    >>> found = recommend_epsilon(TwoDimensional(posterior="1/4", ratio=3))
    >>> str(found.value), found.at
    ('1/2*ln(11/3)', (('p', '1'), ('q', '1/12')))
    """
    return (profile if isinstance(profile, RiskProfile) else FromFunction(function=profile)).recommend()


@attrs.frozen(kw_only=True)
class UtilityRow:
    """A profile, its epsilon, and what geometric noise of it does to a count (Kazan 2025, Section 3.5)."""

    label: str
    epsilon: Bracket
    standard_deviation: Bracket
    exact: Bracket
    flips: tuple[tuple[int, Bracket], ...]


def utility_table(profiles: Mapping[str, RiskProfile]) -> tuple[UtilityRow, ...]:
    """One row for each profile (Kazan 2025, Figure 3.2, Tables 3.1 and 3.5).

    Args:
        profiles: by their labels.
    """
    found = {label: profile.recommend().value for label, profile in profiles.items()}
    return tuple(
        UtilityRow(
            label=label,
            epsilon=epsilon,
            standard_deviation=standard_deviation(epsilon),
            exact=exact_probability(epsilon),
            flips=tuple((step, flip_probability(epsilon, step)) for step in DISTANCES),
        )
        for label, epsilon in found.items()
    )


def curve(
    profile: RiskProfile, places: Iterable[tuple[exact.NumberLike, exact.NumberLike]]
) -> tuple[tuple[Fraction, Fraction, Bracket], ...]:
    """(p, q, epsilon(p, q)) along a line of priors, for a picture such as Kazan 2025, Figure 3.1; infinity where nothing is
    asked."""
    points = ((exact.rational(p, "p"), exact.rational(q, "q")) for p, q in places)
    return tuple((p, q, profile.epsilon_at(p, q)) for p, q in points)


def surface(
    profile: RiskProfile, ps: Iterable[exact.NumberLike], qs: Iterable[exact.NumberLike]
) -> tuple[tuple[Bracket, ...], ...]:
    """epsilon(p, q) on a grid, a row for each q, for a picture such as Kazan 2025, Figure 3.5."""
    columns = [exact.rational(p, "p") for p in ps]
    return tuple(tuple(profile.epsilon_at(p, exact.rational(q, "q")) for p in columns) for q in qs)
