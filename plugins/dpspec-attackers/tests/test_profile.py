"""Chapter 3 of the thesis: the closed forms against the certified search, over random profiles; and errors."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from dpspec_attackers.profiles import (
    Box,
    Constant,
    Difference,
    FixedP,
    FixedQ,
    Point,
    TwoDimensional,
    curve,
    epsilon_at,
    flip_probability,
    least_epsilon,
    naive_epsilon,
    recommend_epsilon,
    risk_bound,
    surface,
)
from hypothesis import assume, given, settings, strategies as st

from dpspec.base.errors import CertainTargetError, ParameterError, ProfileBelowOneError, ProfileNotMonotoneError
from dpspec.base.exact import rounded_down
from tests.risk.attacking import near
from tests.risk.theorems import in_worlds, theorem

PRIORS = st.fractions(Fraction(1, 64), 1, max_denominator=64)
RATIOS = st.fractions(Fraction(65, 64), 12, max_denominator=64)
POSTERIORS = st.fractions(0, Fraction(63, 64), max_denominator=64)


@st.composite
def profiles(draw):
    ratio, posterior, p, q = draw(RATIOS), draw(POSTERIORS), draw(PRIORS), draw(PRIORS)
    other_p, other_q = draw(PRIORS), draw(PRIORS)
    return draw(
        st.sampled_from(
            (
                Constant(ratio=ratio),
                FixedQ(ratio=ratio, posterior=posterior, q=q),
                FixedP(ratio=ratio, posterior=posterior, p=p),
                Box(ratio=ratio, p_low=min(p, other_p), p_high=max(p, other_p), q_low=min(q, other_q), q_high=max(q, other_q)),
                Box(ratio=ratio, p_high=p, q_high=q),
                Point(ratio=ratio, p=p, q=q if p < 1 else Fraction(1, 2)),
                TwoDimensional(ratio=ratio, posterior=posterior),
                Difference(difference=draw(st.fractions(Fraction(1, 64), Fraction(63, 64), max_denominator=64))),
            )
        )
    )


@pytest.mark.slow
@pytest.mark.reference("Z-P7", "Z-D34", "Z-N3.4", "Z-T10", "Z-T11", "Z-T12", "Z-T47", "Z-T48", "Z-T49", "Z-T50", "Z-T51", "Z-A8")
@settings(max_examples=25)
@given(profile=profiles())
def test_closed_forms_lie_in_the_certified_bracket(profile):
    closed, (found, _, _) = profile.recommend().value, least_epsilon(profile)
    assert found.lower <= closed.upper
    assert closed.lower <= found.upper
    if not closed.upper.is_infinite:
        # where p or q goes to 0 the infimum is approached, and a search of finitely many priors stays above it
        assert float(found.upper) - float(found.lower) < 0.1


@pytest.mark.reference("Z-P7", "Z-T12", "Z-T11", "Z-T48", "Z-T9")
@pytest.mark.parametrize("profile", [
    FixedQ(ratio=3, posterior="1/4", q="3/10"), FixedQ(ratio=3, posterior="1/4", q="1/4"),
    FixedQ(ratio=3, posterior="9/10", q="1/5"), FixedQ(ratio=3, posterior="9/10", q="1/3"),
    FixedP(ratio=3, posterior="3/20", p="1/20"), FixedP(ratio=3, posterior="9/10", p="1/5"),
    Box(ratio=3, p_low="1/10", p_high="1/2", q_low="3/10"), Box(ratio=3, p_low="1/10", p_high="1/2", q_low="1/4"),
    Box(ratio=3, p_low="1/10", p_high="1/2", q_low="1/5", q_high="1/2"),
])  # fmt: skip
def test_closed_forms_on_each_side_of_their_cases(profile):
    closed, (found, _, _) = profile.recommend().value, least_epsilon(profile)
    assert found.lower <= closed.upper
    assert closed.lower <= found.upper
    assert float(found.upper) - float(found.lower) < 1e-6


@theorem(
    "Z-P6", "Z-D33", "Z-P7", "Z-T10", "Z-T11", "Z-T12", "Z-T47", "Z-T48", "Z-T49", "Z-T50", "Z-T51", "Z-T54",
    profile=profiles(), p=PRIORS, q=PRIORS,
)  # fmt: skip
def a_recommendation_keeps_its_profile(profile, p, q):
    """No prior in the region of a profile is at more than it tolerates, and where it binds the two are equal."""
    found = profile.recommend()
    if not profile.where().contains(p, q) or found.value.lower.is_infinite:
        return
    tolerated = profile.tolerated(p, q)
    assert risk_bound(p, q, found.value.lower).lower <= tolerated
    places = dict(found.at)
    if found.attained:
        here = Fraction(places["p"]), Fraction(places["q"])
        assert near(risk_bound(*here, found.value), float(profile.tolerated(*here)), 1e-9), "equality where it binds"


THEOREMS = (a_recommendation_keeps_its_profile,)


@pytest.mark.slow
@pytest.mark.parametrize(("declared", "count"), in_worlds(*THEOREMS))
def test_over_random_profiles(declared, count):
    declared.check(count)


@pytest.mark.reference("Z-T54", "Z-T6", "Z-P7")
@given(ratio=RATIOS, posterior=POSTERIORS, prior=PRIORS)
def test_profiles_with_a_floor_allow_more_than_the_naive_rule(ratio, posterior, prior):
    naive = naive_epsilon(ratio).lower
    for profile in (
        FixedQ(ratio=ratio, posterior=posterior, q=prior),
        FixedP(ratio=ratio, posterior=posterior, p=prior),
        TwoDimensional(ratio=ratio, posterior=posterior),
    ):
        assert profile.recommend().value.upper >= naive


@pytest.mark.slow
@pytest.mark.reference("Z-P6")
@given(ratio=RATIOS, more=RATIOS, posterior=POSTERIORS, larger=POSTERIORS, prior=PRIORS)
def test_who_tolerates_more_may_spend_more(ratio, more, posterior, larger, prior):
    assume(ratio <= more and posterior <= larger)
    for make in (
        lambda r, a: TwoDimensional(ratio=r, posterior=a),
        lambda r, a: FixedQ(ratio=r, posterior=a, q=prior),
        lambda r, a: FixedP(ratio=r, posterior=a, p=prior),
    ):
        assert make(ratio, posterior).recommend().value.lower <= make(more, larger).recommend().value.upper


@pytest.mark.reference("Z-O100", "Z-T8", "Z-T9", "Z-X8")
@given(p=PRIORS, q=PRIORS, ratio=RATIOS, step=st.fractions(Fraction(1, 10**6), Fraction(1, 100), max_denominator=10**6))
def test_lemmas_8_and_9(p, q, ratio, step):
    """Signs of the derivatives as monotonicity between exact points; item 4 of Lemma 9 only where q < 1/(p ratio) (Z-X8)."""
    assume(p + step < 1 and q + step < 1 and ratio * (p + step) * (q + step) < Fraction(98, 100))
    here = epsilon_at(p, q, ratio)
    assert epsilon_at(p, q + step, ratio).lower > here.upper
    beside, knee = epsilon_at(p + step, q, ratio), 1 / (ratio + 1)
    if q < knee:
        assert beside.upper < here.lower
    elif q > knee:
        assert beside.lower > here.upper
    else:
        assert beside.lower <= here.upper
        assert here.lower <= beside.upper
    posterior = Fraction(99, 100)
    at = [epsilon_at(x, y, posterior / (x * y)) for x, y in ((p, q), (p + step, q), (p, q + step))]
    assert at[1].upper < at[0].lower
    assert at[2].upper < at[0].lower


@pytest.mark.reference("Z-T8")
def test_the_printed_derivative():
    """(3.96), against a difference quotient of exact brackets."""
    p, q, posterior, step = Fraction(1, 5), Fraction(3, 10), Fraction(1, 4), Fraction(1, 10**9)
    ends = [float(epsilon_at(x, q, posterior / (x * q)).lower) for x in (p - 1000 * step, p + 1000 * step)]
    slope = (ends[1] - ends[0]) / float(2000 * step)
    printed = -1 / (float(p) * math.sqrt(float((1 - p) ** 2 + 4 * p**2 * q * (1 - q) * (1 / posterior - 1))))
    assert slope == pytest.approx(printed, rel=1e-5)


# --- the search ----------------------------------------------------------------------------------


@pytest.mark.reference("Z-T47", "Z-A8")
def test_any_function_by_branch_and_bound():
    found = recommend_epsilon(lambda p, q: 1 + Fraction(1, 2) / (p + q))
    assert found.method == "branch and bound"
    assert float(found.value.upper) - float(found.value.lower) < 1e-6
    brute = min(
        float(epsilon_at(Fraction(i, 40), Fraction(j, 40), 1 + Fraction(20, i + j)).lower)
        for i in range(1, 41)
        for j in range(1, 41)
        if (1 + Fraction(20, i + j)) * i * j < 1600
    )
    assert float(found.value.lower) <= brute
    assert brute - float(found.value.lower) < 0.01
    assert "checked where it was evaluated" in found.theorem


@pytest.mark.slow
@pytest.mark.reference("Z-S16", "Z-D33")
def test_a_profile_that_asks_nothing():
    found = recommend_epsilon(lambda p, q: 3 / (p * q))
    assert found.value.upper.is_infinite
    assert found.value.lower > 5
    assert "nothing is required" in found.binding
    assert recommend_epsilon(lambda p, q: None).value.lower.is_infinite


@pytest.mark.reference("Z-S21", "Z-D33")
def test_errors_teach():
    with pytest.raises(ProfileBelowOneError, match="tolerates a posterior below the prior"):
        recommend_epsilon(lambda p, q: Fraction(1, 4) / (p * q))
    for small in (lambda: Constant(ratio="1/2"), lambda: TwoDimensional(posterior="1/4", ratio="0.99")):
        with pytest.raises(ProfileBelowOneError, match=r"ratio=.*below 1"):
            small()
    with pytest.raises(ParameterError, match="ratio=1:"):
        Constant(ratio=1)
    with pytest.raises(ProfileNotMonotoneError, match="must not tolerate more for a larger prior"):
        recommend_epsilon(lambda p, q: 2 + p)
    with pytest.raises(ParameterError, match="must be a number, infinity or None"):
        recommend_epsilon(lambda p, q: "much")
    with pytest.raises(CertainTargetError, match="must be above 0"):
        risk_bound(0, 1, 1)
    with pytest.raises(ParameterError, match="must lie in"):
        risk_bound("3/2", 1, 1)
    with pytest.raises(CertainTargetError, match="knows everything before the release"):
        Point(ratio=2, p=1, q=1)
    with pytest.raises(ParameterError, match="must be at least 1"):
        epsilon_at("1/2", 1, "1/2")
    with pytest.raises(ParameterError, match="at most p_high"):
        Box(ratio=2, p_low="1/2", p_high="1/4")
    with pytest.raises(ParameterError, match="distance"):
        flip_probability(1, 0)


@pytest.mark.reference("Z-S18", "Z-S20", "Z-D30", "Z-S17")
def test_what_a_recommendation_says_with_its_number():
    found = FixedQ(posterior="1/4", ratio=3, q=1).recommend()
    assert "without it the risk is unbounded" in found.assumption
    assert found.not_covered == ("attackers whose priors are not 0 < p <= 1 and q = 1",)
    assert TwoDimensional(posterior="1/4", ratio=3).recommend().not_covered == ()
    assert found.stated == "1.299"
    assert Fraction(rounded_down(found.value.lower, 3)) < found.value.lower, "1.29, not 1.30"


@pytest.mark.reference("Z-F3.3", "Z-F3.4", "Z-D34", "Z-S16", "Z-S18")
def test_curves_of_the_figures():
    """Profiles along a line: epsilon is infinite where nothing is asked, least where the closed form says."""
    places = [(Fraction(k, 100), 1) for k in range(1, 68)]
    for ratio in ("3/2", 3, 6):
        profile = FixedQ(posterior="1/4", ratio=ratio, q=1)
        values = [value.lower for _, _, value in curve(profile, places)]
        assert min(values) >= profile.recommend().value.upper * Fraction(999_999, 1_000_000)
        assert values[66].is_infinite == (Fraction(67, 100) * max(Fraction(25, 67), Fraction(ratio)) >= 1)
    for posterior in ("1/40", "3/20", "3/10"):
        profile = FixedP(posterior=posterior, ratio=3, p="1/20")
        values = [value.lower for _, _, value in curve(profile, [("1/20", Fraction(k, 100)) for k in range(1, 101)])]
        assert float(min(values)) == pytest.approx(float(profile.recommend().value.lower), abs=2e-3)
    ((_, _, nothing),) = curve(FixedP(posterior="1/4", ratio=3, p="1/20"), [("1/2", 1)])
    assert nothing.lower.is_infinite, "other attackers are not covered"


@pytest.mark.reference("Z-F3.5", "Z-N3.b")
def test_surface():
    grid = surface(TwoDimensional(posterior="1/4", ratio=3), ("1/100", "1/2", 1), ("1/100", "1/12", 1))
    assert [len(row) for row in grid] == [3, 3, 3]
    least = TwoDimensional(posterior="1/4", ratio=3).recommend().value
    assert min(value.upper for row in grid for value in row) == least.upper
