"""Mechanisms of OpenDP 0.16, as its users put them together."""

from __future__ import annotations

import opendp.prelude as dp

dp.enable_features("contrib", "floating-point", "honest-but-curious")

INT, FLOAT = dp.atom_domain(T=int), dp.atom_domain(T=float, nan=False)
ONE, ONE_FLOAT = dp.absolute_distance(T=int), dp.absolute_distance(T=float)
INTS = dp.vector_domain(INT)
FLOATS = dp.vector_domain(FLOAT)
LISTS = INTS, dp.symmetric_distance()
TEN = dp.vector_domain(FLOAT, size=10), dp.symmetric_distance()

laplace = dp.m.make_laplace(INT, ONE, scale=1.0)
laplace_of_two = dp.m.make_laplace(INT, ONE, scale=2.0)
laplace_of_half = dp.m.make_laplace(INT, ONE, scale=0.5)
laplace_double = dp.m.make_laplace(FLOAT, ONE_FLOAT, scale=4.0)
geometric = dp.m.make_geometric(INT, ONE, scale=2.0)
laplace_list = dp.m.make_laplace(INTS, dp.l1_distance(T=int), scale=1.0)
laplace_list_of_two = dp.m.make_laplace(INTS, dp.l1_distance(T=int), scale=2.0)
laplace_doubles = dp.m.make_laplace(FLOATS, dp.l1_distance(T=float), scale=1.0)
pure_noise = dp.m.make_noise(INT, ONE, dp.max_divergence(), scale=2.0)
gaussian = dp.m.make_gaussian(FLOAT, ONE_FLOAT, scale=1.0)
gaussian_integer = dp.m.make_gaussian(INT, ONE, scale=2.0)
gaussian_list = dp.m.make_gaussian(INTS, dp.l2_distance(T=float), scale=1.0)
response = dp.m.make_randomized_response_bool(0.75)
response_of_three = dp.m.make_randomized_response([0, 1, 2], 0.6)
largest = dp.m.make_noisy_max(INTS, dp.linf_distance(T=int), dp.max_divergence(), scale=2.0)

counted = LISTS >> dp.t.then_count() >> dp.m.then_laplace(1.0)
counted_with_little_noise = LISTS >> dp.t.then_count() >> dp.m.then_laplace(0.5)
counted_gaussian = LISTS >> dp.t.then_count() >> dp.m.then_gaussian(2.0)
summed = LISTS >> dp.t.then_clamp((0, 2)) >> dp.t.then_sum() >> dp.m.then_laplace(2.0)
summed_with_little_noise = LISTS >> dp.t.then_clamp((0, 2)) >> dp.t.then_sum() >> dp.m.then_laplace(1.0)
summed_and_rounded = summed >> (lambda value: 5 * (value // 5))
tabulated = LISTS >> dp.t.then_count_by_categories(categories=[0, 1]) >> dp.m.then_laplace(1.0)
averaged = TEN >> dp.t.then_clamp((0.0, 1.0)) >> dp.t.then_mean() >> dp.m.then_laplace(0.2)
summed_doubles = TEN >> dp.t.then_clamp((0.0, 1.0)) >> dp.t.then_sum() >> dp.m.then_laplace(2.0)
both = dp.c.make_composition([
    LISTS >> dp.t.then_count() >> dp.m.then_laplace(2.0),
    LISTS >> dp.t.then_clamp((0, 2)) >> dp.t.then_sum() >> dp.m.then_laplace(4.0),
])  # fmt: skip


def count_of_a_measurement(x):
    return counted(x)


def count_of_laplace(x):
    return laplace(len(x))


def count_of_geometric(x):
    return geometric(x.count(1))


def count_of_doubles(x):
    return laplace_double(float(len(x)))


def count_of_pure_noise(x):
    return pure_noise(len(x))


def count_of_gaussian(x):
    return gaussian(float(len(x)))


def count_of_integer_gaussian(x):
    return gaussian_integer(len(x))


def count_of_a_gaussian_measurement(x):
    return counted_gaussian(x)


def clamped_sum(x):
    return summed(x)


def rounded_sum(x):
    return summed_and_rounded(x)


def categories(x):
    return tabulated(x)


def list_of_counts(x):
    return laplace_list([x.count(0), x.count(1), x.count(2)])


def list_of_doubles(x):
    return laplace_doubles([float(x.count(0)), float(x.count(1))])


def list_with_gaussian(x):
    return gaussian_list([x.count(0), x.count(1)])


def mean_of_ten(x):
    return averaged(x)


def sum_of_ten(x):
    return summed_doubles(x)


def response_of_a_bit(x):
    return response(x[0] == 1)


def response_of_one_of_three(x):
    return response_of_three(x[0])


def place_of_the_largest(x):
    return largest([x.count(0), x.count(1), x.count(2)])


def composition(x):
    return both(x)


def two_measurements(x):
    return laplace_of_two(len(x)), laplace_of_two(x.count(2))


def at_least_zero(x):
    return max(0, laplace(len(x)))


def sum_as_a_count(x):
    return laplace(sum(x))


def too_little_noise(x):
    return laplace_of_half(len(x))


def too_little_noise_in_a_chain(x):
    return counted_with_little_noise(x)


def clamped_sum_with_the_noise_of_a_count(x):
    return summed_with_little_noise(x)


def counts_for_replacement(x):
    return laplace_list([x.count(0), x.count(1), x.count(2)])


def two_at_the_budget_of_one(x):
    return [laplace(len(x)) for _ in range(2)]


def noise_by_the_data(x):
    scale = 1.0 / max(len(x), 1)
    return dp.m.make_laplace(dp.atom_domain(T=int), dp.absolute_distance(T=int), scale=scale)(len(x))


def true_count_next_to_the_noisy_one(x):
    return laplace(len(x)), len(x)
