"""Models of OpenDP: twenty mechanisms as they are installed, what must not be verified, and the models against the library.

The comparisons with draws fail on a right model with probability at most 1e-9 each.
"""

# ruff: noqa: PLW0108 (functions of a user's that call the library)

from __future__ import annotations

import contextlib
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

import dpspec
from dpspec import Outcome

dp = pytest.importorskip("opendp.prelude")
dp.enable_features("contrib", "honest-but-curious")

INT, FLOAT = dp.atom_domain(T=int), dp.atom_domain(T=float, nan=False)
INTS, FLOATS = dp.vector_domain(INT), dp.vector_domain(FLOAT)
LISTS = (INTS, dp.symmetric_distance())
TEN = (dp.vector_domain(FLOAT, size=10), dp.symmetric_distance())
ONE, ONE_FLOAT = dp.absolute_distance(T=int), dp.absolute_distance(T=float)

VALUES = dpspec.value_lists(values=(0, 1, 2))
PARTS = dpspec.value_lists(values=(0.0, 0.5, 1.0), least=10, most=10)
BIT = dpspec.bit_vectors(length=1)
ONE_OF_THREE = dpspec.value_lists(values=(0, 1, 2), least=1, most=1)

laplace = dp.m.make_laplace(INT, ONE, scale=1.0)
laplace_of_double = dp.m.make_laplace(FLOAT, ONE_FLOAT, scale=2.0)
geometric = dp.m.make_geometric(INT, ONE, scale=1.0)
laplace_of_list = dp.m.make_laplace(INTS, dp.l1_distance(T=int), scale=2.0)
laplace_of_doubles = dp.m.make_laplace(FLOATS, dp.l1_distance(T=float), scale=2.0)
noise = dp.m.make_noise(INT, ONE, dp.max_divergence(), scale=1.0)
gaussian = dp.m.make_gaussian(FLOAT, ONE_FLOAT, scale=2.0)
gaussian_of_list = dp.m.make_gaussian(INTS, dp.l2_distance(T=float), scale=2.0)
response = dp.m.make_randomized_response_bool(0.75)
response_of_three = dp.m.make_randomized_response([0, 1, 2], 0.5)
noisy_max = dp.m.make_noisy_max(INTS, dp.linf_distance(T=int), dp.max_divergence(), scale=1.0)
counted = LISTS >> dp.t.then_count() >> dp.m.then_laplace(1.0)
counted_as_gaussian = LISTS >> dp.t.then_count() >> dp.m.then_gaussian(1.0)
summed = LISTS >> dp.t.then_clamp((0, 2)) >> dp.t.then_sum() >> dp.m.then_laplace(2.0)
histogram = LISTS >> dp.t.then_count_by_categories(categories=[0, 1]) >> dp.m.then_laplace(1.0)
both = dp.c.make_composition([
    LISTS >> dp.t.then_count() >> dp.m.then_laplace(2.0),
    LISTS >> dp.t.then_clamp((0, 2)) >> dp.t.then_sum() >> dp.m.then_laplace(4.0),
])  # fmt: skip
at_least_zero = counted >> (lambda value: max(value, 0))
mean = TEN >> dp.t.then_clamp((0.0, 1.0)) >> dp.t.then_mean() >> dp.m.then_laplace(0.1)
sum_of_doubles = TEN >> dp.t.then_clamp((0.0, 1.0)) >> dp.t.then_sum() >> dp.m.then_laplace(1.0)


def made_inside(x):
    measurement = dp.m.make_laplace(dp.atom_domain(T=int), dp.absolute_distance(T=int), scale=0.5)
    return measurement.invoke(len(x))


MECHANISMS = {
    "laplace": (lambda x: laplace(len(x)), VALUES, "add-remove", 1),
    "laplace of a double": (lambda x: laplace_of_double(float(len(x))), VALUES, "add-remove", "1/2"),
    "geometric": (lambda x: geometric(x.count(1)), VALUES, "add-remove", 1),
    "laplace of a list": (lambda x: laplace_of_list([x.count(0), x.count(1), x.count(2)]), VALUES, "replace-one", 1),
    "laplace of doubles": (lambda x: laplace_of_doubles([float(x.count(0)), float(x.count(1))]), VALUES, "add-remove", "1/2"),
    "noise": (lambda x: noise(len(x)), VALUES, "add-remove", 1),
    "gaussian": (lambda x: gaussian(float(len(x))), VALUES, "add-remove", "rho 1/8"),
    "gaussian of a list": (lambda x: gaussian_of_list([x.count(0), x.count(1)]), VALUES, "replace-one", "rho 1/4"),
    "randomised response": (lambda x: response(x[0] == 1), BIT, "hamming-ordered", "ln(3)"),
    "randomised response of three": (lambda x: response_of_three(x[0]), ONE_OF_THREE, "replace-one", "ln(2)"),
    "noisy max": (lambda x: noisy_max([x.count(0), x.count(1), x.count(2)]), VALUES, "replace-one", 2),
    "count": (lambda x: counted(x), VALUES, "add-remove", 1),
    "gaussian count": (lambda x: counted_as_gaussian(x), VALUES, "add-remove", "rho 1/2"),
    "clamped sum": (lambda x: summed(x), VALUES, "add-remove", 1),
    "histogram": (lambda x: histogram(x), VALUES, "add-remove", 1),
    "composition": (lambda x: both(x), VALUES, "add-remove", 1),
    "post-processed": (lambda x: at_least_zero(x), VALUES, "add-remove", 1),
    "mean of doubles": (lambda x: mean(x), PARTS, "replace-one", 1),
    "sum of doubles": (lambda x: sum_of_doubles(x), PARTS, "replace-one", 1),
    "made inside": (made_inside, VALUES, "add-remove", 2),
}
UNREAD = ()
"""Right ones that are not verified, with the reason in the test."""


def claim(space, distance, budget, of=Fraction(1)):
    """A specification, at a part of its budget."""
    text = str(budget)
    if text.startswith("rho "):
        return dpspec.spec(space=space, distance=distance, standard="d-nor", rho=str(Fraction(text[4:]) * of))
    exact = {"ln(2)": math.log(2), "ln(3)": math.log(3)}
    epsilon = text if of == 1 else str(Fraction(exact.get(text) or Fraction(text)).limit_denominator(10_000) * of)
    return dpspec.spec(space=space, distance=distance, standard="mult", epsilon=epsilon)


@pytest.mark.spread(3, slow=2)
@pytest.mark.parametrize("name", MECHANISMS)
def test_a_mechanism_is_verified_under_its_models_and_refuted_at_four_fifths(name):
    function, space, distance, budget = MECHANISMS[name]
    found = dpspec.verify(function, claim(space, distance, budget))
    assert found.outcome is (Outcome.UNDECIDED if name in UNREAD else Outcome.VERIFIED), found.reason
    assert any(one.startswith("model of opendp 0.16 `make_") for one in found.assumptions), found.assumptions
    less = dpspec.verify(function, claim(space, distance, budget, Fraction(4, 5)))
    assert less.outcome is Outcome.REFUTED, less.reason


def test_where_the_numbers_of_the_library_end_is_a_finding_and_no_refutation():
    found = dpspec.verify(lambda x: counted(x), claim(VALUES, "add-remove", 1))
    assert found.scope.startswith("all datasets of fewer than 2,147,483,648 records")
    assert [one.code for one in found.findings] == ["breaks"]


# --- what must not be verified ----------------------------------------------------------------------


class Doubled(dp.Measurement):
    """A class of the user's."""

    _type_ = dp.Measurement._type_

    def __call__(self, argument):
        return laplace(2 * argument)

    def __del__(self):
        """It points to no measurement of the library that would have to be freed."""


def by_the_data(x):
    scale = 1.0 / max(len(x), 1)
    return dp.m.make_laplace(dp.atom_domain(T=int), dp.absolute_distance(T=int), scale=scale)(len(x))


def bounds_of_the_data(x):
    low, high = min(x, default=0), max(x, default=0)
    clamped = LISTS >> dp.t.then_clamp((low, high)) >> dp.t.then_sum() >> dp.m.then_laplace(2.0)
    return clamped(x)


def twice(x):
    return [laplace(len(x)) for _ in range(2)]


def three_times(x):
    total = 0
    for _ in range(3):
        total += counted(x)
    return total


def unless_lucky(x):
    found = laplace(len(x))
    return len(x) if found == 0 else found


WRONG = {
    "the sensitivity is 2": (lambda x: laplace(sum(x)), VALUES, "add-remove", 1),
    "the scale is half": (made_inside, VALUES, "add-remove", 1),
    "the scale depends on the data": (by_the_data, VALUES, "add-remove", 1),
    "the bounds depend on the data": (bounds_of_the_data, VALUES, "add-remove", 1),
    "spent twice": (twice, VALUES, "add-remove", 1),
    "spent in a loop": (three_times, VALUES, "add-remove", 2),
    "the truth now and then": (unless_lucky, VALUES, "add-remove", 5),
    "no clamp": (
        lambda x: (LISTS >> dp.t.then_clamp((0, 1)) >> dp.t.then_sum() >> dp.m.then_laplace(1.0))([2 * v for v in x])
        + sum(x), VALUES, "add-remove", 1,
    ),
    "as the neighbours are": (lambda x: histogram(x), VALUES, "replace-one", 1),
    "beside the truth": (lambda x: (laplace(len(x)), len(x)), VALUES, "add-remove", 1),
}  # fmt: skip


@pytest.mark.spread(3, slow=2)
@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_one_is_not_verified(name):
    function, space, distance, budget = WRONG[name]
    assert dpspec.verify(function, claim(space, distance, budget)).outcome is not Outcome.VERIFIED


def is_unread(function, words):
    """No model is used: what is left is to have it sampled, which may refute it."""
    found = dpspec.verify(function, claim(VALUES, "add-remove", 500), seconds=10)
    assert found.method == "sampled"
    assert found.outcome is Outcome.REFUTED or words in found.reason, found.reason


def test_a_measurement_whose_record_was_changed_is_not_read():
    forged = dp.m.make_laplace(INT, ONE, scale=0.01)
    forged.__opendp_dict__ = laplace.__opendp_dict__
    is_unread(lambda x: forged(len(x)), "not what its record of constructors says")


def test_a_class_of_the_users_is_not_read():
    other = Doubled()
    other.__opendp_dict__ = laplace.__opendp_dict__
    is_unread(lambda x: other(len(x)), "is not one of the library")


def test_a_changed_library_is_not_read(monkeypatch):
    import opendp.core
    from dpspec_adapters import models

    def truth(this, arg):
        return arg

    def invoke(self, arg):
        return arg

    models.changed_since_install.cache_clear()
    monkeypatch.setattr(opendp.core, "measurement_invoke", truth)
    assert models.changed_since_install("opendp", ("0.16.",), ("opendp.core",)).startswith("opendp.core.measurement_invoke was")
    is_unread(lambda x: laplace(len(x)), "opendp.core.measurement_invoke was replaced after it was imported")
    monkeypatch.undo()
    models.changed_since_install.cache_clear()
    monkeypatch.setattr(dp.Measurement, "invoke", invoke)
    is_unread(lambda x: laplace.invoke(len(x)), "opendp.mod.Measurement.invoke was replaced after it was imported")
    models.changed_since_install.cache_clear()


def test_another_version_is_not_read(monkeypatch):
    from dpspec_adapters import opendp_models

    monkeypatch.setattr(opendp_models.OpenDP, "versions", ("0.15.",))
    is_unread(lambda x: laplace(len(x)), "version 0.16.0 is not one for which its models were tested (0.15)")


@pytest.mark.parametrize(("function", "space"), [
    (lambda x: counted([str(v) for v in x]), VALUES),  # a list of texts where the domain is one of whole numbers
    (lambda x: laplace(float(len(x))), VALUES),  # a double, which the library refuses
    (lambda x: laplace(laplace(len(x))), VALUES),  # what is beyond the type is refused, and noise may lead there
    (lambda x: mean(x), dpspec.value_lists(values=(0.0, 1.0), least=9, most=10)),  # the domain says that there are ten
    (lambda x: response_of_three(len(x)), VALUES),  # a value that is no category
])  # fmt: skip
def test_of_data_that_a_domain_does_not_hold_nothing_is_said(function, space):
    distance = "add-remove"
    with contextlib.suppress(dpspec.DpspecError):  # one that raises on most datasets is refused as bad input
        assert dpspec.verify(function, claim(space, distance, 500), seconds=5).outcome is not Outcome.VERIFIED


@pytest.mark.parametrize("make", [
    lambda: dp.m.make_laplace(FLOAT, ONE_FLOAT, scale=1.0, k=0),
    lambda: dp.m.make_canonical_noise(FLOAT, ONE_FLOAT, d_in=1.0, d_out=(1.0, 1e-6)),
])  # fmt: skip
def test_what_has_no_model_is_not_read(make):
    made = make()
    is_unread(lambda x: made(float(len(x))), "has no model")


# --- the models against the library -------------------------------------------------------------------

DRAWS = 20_000
WIDTH = math.sqrt(math.log(2 / 1e-9) / (2 * DRAWS))
"""No empirical distribution function is farther from its law, but with probability 1e-9 (Massart 1990)."""


def far(drawn, below):
    """How far the empirical distribution function of whole numbers is from a distribution function."""
    counts, at, most = Counter(drawn), 0, 0.0
    for value in sorted(counts):
        most = max(most, abs(at / len(drawn) - below(value - 1)))
        at += counts[value]
        most = max(most, abs(at / len(drawn) - below(value)))
    return most


def below_laplace(scale):
    ratio = math.exp(-1 / scale)
    return lambda k: 1 - ratio ** (k + 1) / (1 + ratio) if k >= 0 else ratio ** (-k) / (1 + ratio)


def below_gaussian(deviation):
    weights = [math.exp(-(k**2) / (2 * deviation**2)) for k in range(-100, 101)]
    sums = np.cumsum(weights) / sum(weights)
    return lambda k: 0.0 if k < -100 else 1.0 if k > 100 else float(sums[k + 100])


@pytest.mark.parametrize(("measurement", "below"), [
    (dp.m.make_laplace(INT, ONE, scale=3.0), below_laplace(3.0)),
    (dp.m.make_geometric(INT, ONE, scale=0.5), below_laplace(0.5)),
    (dp.m.make_gaussian(INT, ONE, scale=2.0), below_gaussian(2.0)),
])  # fmt: skip
def test_noise_on_whole_numbers_has_the_law_of_its_model(measurement, below):
    assert far([measurement(0) for _ in range(DRAWS)], below) < WIDTH


def test_noise_on_doubles_has_the_law_of_its_model():
    def below_real_laplace(value):
        return 0.5 * math.exp(value / 2) if value < 0 else 1 - 0.5 * math.exp(-value / 2)

    for made, below in (
        (dp.m.make_laplace(FLOAT, ONE_FLOAT, scale=2.0), below_real_laplace),
        (dp.m.make_gaussian(FLOAT, ONE_FLOAT, scale=2.0), lambda v: 0.5 * math.erfc(-v / math.sqrt(8))),
    ):
        drawn = sorted(made(0.0) for _ in range(DRAWS))
        assert max(abs(place / DRAWS - below(value)) for place, value in enumerate(drawn)) < WIDTH + 1 / DRAWS


def near(hits, chance):
    assert abs(hits / DRAWS - chance) < WIDTH


def test_randomised_responses_and_the_noisy_maximum_have_the_laws_of_their_models():
    near(sum(response(True) for _ in range(DRAWS)), 0.75)
    seen = Counter(response_of_three(1) for _ in range(DRAWS))
    for value, chance in ((0, 0.25), (1, 0.5), (2, 0.25)):
        near(seen[value], chance)
    # with exponential noise of scale 1, the smaller of two numbers 1 apart wins with probability e^-1 / 2
    seen = Counter(noisy_max([3, 2]) for _ in range(DRAWS))
    near(seen[1], math.exp(-1) / 2)
    gumbel = dp.m.make_noisy_max(INTS, dp.linf_distance(T=int), dp.zero_concentrated_divergence(), scale=1.0)
    near(Counter(gumbel([3, 2]) for _ in range(DRAWS))[1], 1 / (1 + math.e))


def test_transformations_are_the_functions_of_their_models():
    from dpspec_adapters import opendp_laws as laws
    from dpspec_adapters.models import ModelDraws

    generator, draws = np.random.default_rng(3), ModelDraws(np.random.default_rng(3))
    for _ in range(100):
        values = [int(value) for value in generator.integers(-3, 6, size=10)]
        doubles = [float(value) for value in generator.normal(size=10)]
        clamped = LISTS >> dp.t.then_clamp((0, 2))
        assert clamped(values) == laws.clamp(0, 2, values)
        assert (clamped >> dp.t.then_sum())(values) == laws.sum_of_whole(-100, 100, draws, laws.clamp(0, 2, values))
        assert (LISTS >> dp.t.then_count())(values) == laws.count(100, draws, values)
        by = (LISTS >> dp.t.then_count_by_categories(categories=[0, 1, 2]))(values)
        assert by == laws.count_by_categories((0, 1, 2), True, 100, draws, values)
        assert (LISTS >> dp.t.then_is_equal(1))(values) == laws.is_equal(1, values)
        in_bounds = TEN >> dp.t.then_clamp((0.0, 1.0))
        clamped_doubles = laws.clamp(0.0, 1.0, doubles)
        assert (in_bounds >> dp.t.then_sum())(doubles) == pytest.approx(laws.sum_of_real(10, draws, clamped_doubles))
        assert (in_bounds >> dp.t.then_mean())(doubles) == pytest.approx(laws.mean_of_real(10, draws, clamped_doubles))
