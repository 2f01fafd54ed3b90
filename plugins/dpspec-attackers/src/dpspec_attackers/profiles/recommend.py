"""`recommend_epsilon`, and what is drawn of profiles: curves, surfaces, tables of utility."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction

import attrs

from dpspec.exact import Bracket, NumberLike, rational
from dpspec.tolerance import Recommendation
from dpspec_attackers.profiles.function import FromFunction
from dpspec_attackers.profiles.profile import RiskProfile
from dpspec_attackers.profiles.utility import DISTANCES, exact_probability, flip_probability, standard_deviation

Profile = RiskProfile | Callable[[Fraction, Fraction], object]


def recommend_epsilon(profile: Profile) -> Recommendation:
    """The largest pure epsilon that keeps a risk profile, given by its type or as any function (p, q) -> r* (Z-A8).

    It takes no data. Round its result down, never up (Z-S17).

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
    """A profile, its epsilon, and what geometric noise of it does to a count (Z-A9)."""

    label: str
    epsilon: Bracket
    standard_deviation: Bracket
    exact: Bracket
    flips: tuple[tuple[int, Bracket], ...]


def utility_table(profiles: Mapping[str, RiskProfile], distances: Iterable[int] = DISTANCES) -> tuple[UtilityRow, ...]:
    """One row for each profile (Z-N3.1, Z-N3.5, Z-F3.2).

    Args:
        profiles: by their labels.
        distances: hypothetical numbers of counts between the truth and a threshold, never the true one.
    """
    steps = tuple(distances)
    found = {label: profile.recommend().value for label, profile in profiles.items()}
    return tuple(
        UtilityRow(
            label=label,
            epsilon=epsilon,
            standard_deviation=standard_deviation(epsilon),
            exact=exact_probability(epsilon),
            flips=tuple((step, flip_probability(epsilon, step)) for step in steps),
        )
        for label, epsilon in found.items()
    )


def curve(
    profile: RiskProfile, places: Iterable[tuple[NumberLike, NumberLike]]
) -> tuple[tuple[Fraction, Fraction, Bracket], ...]:
    """(p, q, epsilon(p, q)) along a line of priors, for a picture such as Z-F3.1; infinity where nothing is asked."""
    points = ((rational(p, "p"), rational(q, "q")) for p, q in places)
    return tuple((p, q, profile.epsilon_at(p, q)) for p, q in points)


def surface(profile: RiskProfile, ps: Iterable[NumberLike], qs: Iterable[NumberLike]) -> tuple[tuple[Bracket, ...], ...]:
    """epsilon(p, q) on a grid, a row for each q, for a picture such as Z-F3.5."""
    columns = [rational(p, "p") for p in ps]
    return tuple(tuple(profile.epsilon_at(p, rational(q, "q")) for p in columns) for q in qs)
