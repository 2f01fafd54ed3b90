"""The laws of OpenDP's constructors, in code that can be read: what is drawn comes from a generator, named `draws`.

The last argument is the data. `draws.held` writes down between which ends the library takes a number, and `draws.not_modelled`
ends the reading where nothing is said of what the library does.
"""

from __future__ import annotations

from typing import Any

import numpy as np

LARGEST = 2.0**1000
"""Doubles that are summed have to be smaller."""


def chained(first: Any, second: Any, value: Any) -> Any:
    """What is computed of what was computed."""
    return second(first(value))


def composed(parts: Any, value: Any) -> Any:
    """The answers of several measurements of the same data, with noise of their own."""
    return [part(value) for part in parts]


def same(value: Any) -> Any:
    """The data as they are."""
    return value


def whole_number(low: Any, high: Any, draws: Any, value: Any) -> Any:
    """A whole number that the type of the domain holds."""
    if draws.types_in(value) != {int}:
        draws.not_modelled("OpenDP takes a Python int where its domain is one of whole numbers")
    draws.held(value, low, high, f"OpenDP holds no number outside of {low:,} to {high:,} in the type of this domain")
    return value


def real_number(draws: Any, value: Any) -> Any:
    """A number where the domain is one of doubles."""
    if draws.types_in(value) not in ({int}, {float}, {np.float64}):
        draws.not_modelled("OpenDP takes a float or an int where its domain is one of doubles")
    draws.held(value, -LARGEST, LARGEST, "of infinite numbers and NaN no law is stated")
    return value


def entries(kind: Any, draws: Any, values: Any) -> Any:
    """A list whose entries are of the type of the domain."""
    if draws.types_in(values) - {kind}:
        draws.not_modelled("OpenDP takes a list whose entries are of the type of its domain")
    return values


def whole_numbers(low: Any, high: Any, draws: Any, values: Any) -> Any:
    """A list of whole numbers that the type of the domain holds."""
    found = entries(int, draws, values)
    draws.held(found, low, high, f"OpenDP holds no number outside of {low:,} to {high:,} in the type of this domain")
    return found


def real_numbers(draws: Any, values: Any) -> Any:
    """A list of doubles."""
    found = entries(float, draws, values)
    draws.held(found, -LARGEST, LARGEST, "of infinite numbers and NaN no law is stated")
    return found


def laplace_on_whole(scale: Any, check: Any, draws: Any, value: Any) -> Any:
    """Discrete Laplace noise."""
    return check(value) + draws.discrete_laplace(scale)


def laplace_on_wholes(scale: Any, check: Any, draws: Any, values: Any) -> Any:
    """Discrete Laplace noise on each number."""
    return [value + draws.discrete_laplace(scale) for value in check(values)]


def laplace_on_real(scale: Any, check: Any, draws: Any, value: Any) -> Any:
    """Laplace noise."""
    return check(value) + draws.laplace(0.0, scale)


def laplace_on_reals(scale: Any, check: Any, draws: Any, values: Any) -> Any:
    """Laplace noise on each number."""
    return [value + draws.laplace(0.0, scale) for value in check(values)]


def gaussian_on_whole(scale: Any, check: Any, draws: Any, value: Any) -> Any:
    """Discrete Gaussian noise."""
    return check(value) + draws.discrete_normal(scale)


def gaussian_on_wholes(scale: Any, check: Any, draws: Any, values: Any) -> Any:
    """Discrete Gaussian noise on each number."""
    return [value + draws.discrete_normal(scale) for value in check(values)]


def gaussian_on_real(scale: Any, check: Any, draws: Any, value: Any) -> Any:
    """Gaussian noise."""
    return check(value) + draws.normal(0.0, scale)


def gaussian_on_reals(scale: Any, check: Any, draws: Any, values: Any) -> Any:
    """Gaussian noise on each number."""
    return [value + draws.normal(0.0, scale) for value in check(values)]


def randomized_bit(probability: Any, draws: Any, value: Any) -> Any:
    """The truth with a probability, else its opposite."""
    if draws.types_in(value) != {bool}:
        draws.not_modelled("OpenDP takes a bool here")
    return value if draws.random() < probability else not value


def randomized_category(categories: Any, probability: Any, draws: Any, value: Any) -> Any:
    """The truth with a probability, else one of the other categories, each equally often."""
    if draws.types_in(value) != {type(categories[0])} or value not in categories:
        draws.not_modelled("of a value that is no category no law is stated")
    if draws.random() < probability:
        return value
    others = [one for one in categories if one != value]
    return others[int(draws.integers(len(others)))]


def largest_with_gumbel(scale: Any, draws: Any, values: Any) -> Any:
    """The place of the largest number with Gumbel noise."""
    noisy = [value + draws.gumbel(0.0, scale) for value in values]
    return noisy.index(max(noisy))


def largest_with_exponential(scale: Any, draws: Any, values: Any) -> Any:
    """The place of the largest number with exponential noise."""
    noisy = [value + draws.exponential(scale) for value in values]
    return noisy.index(max(noisy))


def negated(values: Any) -> Any:
    """The numbers with the other sign."""
    return [-value for value in values]


def count(high: Any, draws: Any, values: Any) -> Any:
    """How many records there are."""
    found = len(values)
    draws.held(found, 0, high, f"OpenDP counts no further than {high:,} in this type")
    return found


def count_by_categories(categories: Any, others: Any, high: Any, draws: Any, values: Any) -> Any:
    """How often each category occurs, and last what is in none."""
    found = [values.count(category) for category in categories]
    if others:
        found.append(len(values) - sum(found))
    draws.held(len(values), 0, high, f"OpenDP counts no further than {high:,} in this type")
    return found


def clamp(low: Any, high: Any, values: Any) -> Any:
    """Each number, or the end that it lies beyond."""
    return [min(max(value, low), high) for value in values]


def sum_of_whole(low: Any, high: Any, draws: Any, values: Any) -> Any:
    """The sum of whole numbers."""
    found = sum(values)
    draws.held(found, low, high, f"OpenDP sums no further than {low:,} to {high:,} in this type")
    return found


def sum_of_real(size: Any, draws: Any, values: Any) -> Any:
    """The sum of a stated number of doubles."""
    if len(values) != size:
        draws.not_modelled("of a list that has not as many entries as its domain says no law is stated")
    return sum(values) + 0.0


def mean_of_real(size: Any, draws: Any, values: Any) -> Any:
    """The mean of a stated number of doubles."""
    return sum_of_real(size, draws, values) / size


def is_equal(to: Any, values: Any) -> Any:
    """Whether each value is a stated one."""
    return [value == to for value in values]
