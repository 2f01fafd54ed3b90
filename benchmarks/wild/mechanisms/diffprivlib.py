"""Mechanisms and tools of diffprivlib 0.6, as its users call them."""

from __future__ import annotations

from diffprivlib import mechanisms, tools

laplace = mechanisms.Laplace(epsilon=1, sensitivity=1)
laplace_of_two = mechanisms.Laplace(epsilon=1, sensitivity=2)
laplace_with_delta = mechanisms.Laplace(epsilon=1, delta=0.1, sensitivity=1)
truncated = mechanisms.LaplaceTruncated(epsilon=1, sensitivity=1, lower=0, upper=50)
geometric = mechanisms.Geometric(epsilon=1, sensitivity=1)
geometric_of_two = mechanisms.Geometric(epsilon=1, sensitivity=2)
geometric_truncated = mechanisms.GeometricTruncated(epsilon=1, sensitivity=1, lower=0, upper=20)
gaussian = mechanisms.Gaussian(epsilon=0.5, delta=0.01, sensitivity=1)
analytic = mechanisms.GaussianAnalytic(epsilon=1, delta=0.01, sensitivity=1)
discrete = mechanisms.GaussianDiscrete(epsilon=1, delta=0.01, sensitivity=1)
binary = mechanisms.Binary(epsilon=1, value0="no", value1="yes")
COLOURS = [["blue", "green", 1], ["blue", "red", 1], ["green", "red", 1]]
categorical = mechanisms.ExponentialCategorical(epsilon=1, utility_list=COLOURS)
hierarchical = mechanisms.ExponentialHierarchical(epsilon=1, hierarchy=["blue", "green", "red"])


def count_laplace(x):
    return laplace.randomise(len(x))


def count_laplace_with_delta(x):
    return laplace_with_delta.randomise(len(x))


def sum_laplace(x):
    return laplace_of_two.randomise(sum(x))


def count_made_inside(x):
    return mechanisms.Laplace(epsilon=1, sensitivity=1).randomise(len(x))


def count_truncated(x):
    return truncated.randomise(len(x))


def count_geometric(x):
    return geometric.randomise(len(x))


def sum_geometric(x):
    return geometric_of_two.randomise(sum(x))


def count_geometric_truncated(x):
    return geometric_truncated.randomise(x.count(1))


def count_gaussian(x):
    return gaussian.randomise(len(x))


def count_analytic(x):
    return analytic.randomise(len(x))


def count_discrete(x):
    return discrete.randomise(len(x))


def answer_binary(x):
    return binary.randomise(x[0])


def mode_by_exponential(x):
    return mechanisms.Exponential(epsilon=1, sensitivity=1, utility=[x.count(0), x.count(1), x.count(2)]).randomise()


def mode_by_monotonic_exponential(x):
    counts = [x.count(0), x.count(1)]
    return mechanisms.Exponential(epsilon=1, sensitivity=1, utility=counts, candidates=["a", "b"], monotonic=True).randomise()


def mode_by_permute_and_flip(x):
    return mechanisms.PermuteAndFlip(epsilon=1, sensitivity=1, utility=[x.count(0), x.count(1), x.count(2)]).randomise()


def colour_by_categories(x):
    return categorical.randomise(x[0])


def colour_by_hierarchy(x):
    return hierarchical.randomise(x[0])


def histogram_laplace(x):
    return [laplace.randomise(x.count(value)) for value in (0, 1, 2)]


def nonzero_tool(x):
    return tools.count_nonzero(x, epsilon=1)


def sum_tool(x):
    return tools.sum(x, epsilon=1, bounds=(0, 1))


def mean_tool(x):
    return tools.mean(x, epsilon=1, bounds=(0.0, 1.0))


def rounded_count(x):
    return max(0, round(laplace.randomise(len(x))))


def sum_with_the_sensitivity_of_a_count(x):
    return laplace.randomise(sum(x))


def geometric_sum_with_the_sensitivity_of_a_count(x):
    return geometric.randomise(sum(x))


def count_at_twice_the_budget(x):
    return mechanisms.Laplace(epsilon=2, sensitivity=1).randomise(len(x))


def histogram_for_replacement(x):
    return [laplace.randomise(x.count(value)) for value in (0, 1, 2)]


def two_counts_at_the_budget_of_one(x):
    return laplace.randomise(len(x)), geometric.randomise(len(x))


def mode_without_the_factor_two(x):
    counts = [x.count(0), x.count(1), x.count(2)]
    return mechanisms.Exponential(epsilon=1, sensitivity=1, utility=counts, monotonic=True).randomise()


def sensitivity_by_the_data(x):
    return mechanisms.Laplace(epsilon=1, sensitivity=max(x, default=0) + 1).randomise(sum(x))


def mean_tool_at_twice_the_budget(x):
    return tools.mean(x, epsilon=2, bounds=(0.0, 1.0))
