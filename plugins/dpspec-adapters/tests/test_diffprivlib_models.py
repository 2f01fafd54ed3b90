"""Models of diffprivlib: twenty mechanisms as they are installed, what must not be verified, and the models against the library.

The comparisons with draws fail on a right model with probability at most 1e-9 each.
"""
# ruff: noqa: PLW0108 (functions of a user's that call the library)

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

import dpspec
from dpspec import Outcome

diffprivlib = pytest.importorskip("diffprivlib")
from diffprivlib import mechanisms, tools  # noqa: E402 (where it is installed)

VALUES = dpspec.value_lists(values=(0, 1, 2))
TWENTY = dpspec.value_lists(values=(0, 1, 2), least=20, most=20)
PARTS = dpspec.value_lists(values=(0.0, 0.5, 1.0), least=20, most=20)
LABEL = dpspec.value_lists(values=("no", "yes"), least=1, most=1)
COLOURS = dpspec.value_lists(values=("blue", "green", "red"), least=1, most=1)

laplace = mechanisms.Laplace(epsilon=1, sensitivity=1)
with_delta = mechanisms.Laplace(epsilon=1, delta=0.1, sensitivity=1)
truncated = mechanisms.LaplaceTruncated(epsilon=0.5, sensitivity=1, lower=0, upper=100)
geometric = mechanisms.Geometric(epsilon=1, sensitivity=1)
geometric_of_sum = mechanisms.Geometric(epsilon=1, sensitivity=2)
geometric_truncated = mechanisms.GeometricTruncated(epsilon=1, sensitivity=1, lower=0, upper=50)
gaussian = mechanisms.Gaussian(epsilon=1, delta=0.01, sensitivity=1)
analytic = mechanisms.GaussianAnalytic(epsilon=1, delta=0.01, sensitivity=1)
discrete = mechanisms.GaussianDiscrete(epsilon=1, delta=0.01, sensitivity=1)
binary = mechanisms.Binary(epsilon=1, value0="no", value1="yes")
UTILITIES = [["blue", "green", 1], ["blue", "red", 1], ["green", "red", 1]]
categorical = mechanisms.ExponentialCategorical(epsilon=1, utility_list=UTILITIES)
hierarchical = mechanisms.ExponentialHierarchical(epsilon=1, hierarchy=["blue", "green", "red"])


def chosen(x):
    return mechanisms.Exponential(epsilon=2, sensitivity=1, utility=[x.count(0), x.count(1), x.count(2)]).randomise()


def chosen_by_name(x):
    counts = [x.count(0), x.count(1)]
    return mechanisms.Exponential(epsilon=1, sensitivity=1, utility=counts, candidates=["a", "b"], monotonic=True).randomise()


def made_inside(x):
    return mechanisms.Laplace(epsilon=2, sensitivity=1).randomise(len(x))


MECHANISMS = {
    "laplace": (lambda x: laplace.randomise(len(x)), VALUES, "add-remove", 1),
    "laplace with delta": (lambda x: with_delta.randomise(len(x)), VALUES, "add-remove", "delta 1/10 epsilon 1"),
    "laplace of a sum": (lambda x: laplace.randomise(sum(x)), VALUES, "add-remove", 2),
    "laplace of a histogram": (
        lambda x: [laplace.randomise(x.count(v)) for v in (0, 1, 2)], VALUES, "replace-one", 2,
    ),
    "made inside": (made_inside, VALUES, "add-remove", 2),
    "truncated laplace": (lambda x: truncated.randomise(len(x)), VALUES, "add-remove", "1/2"),
    "geometric": (lambda x: geometric.randomise(len(x)), VALUES, "add-remove", 1),
    "geometric of a sum": (lambda x: geometric_of_sum.randomise(sum(x)), VALUES, "add-remove", 1),
    "truncated geometric": (lambda x: geometric_truncated.randomise(x.count(1)), VALUES, "add-remove", 1),
    "gaussian": (lambda x: gaussian.randomise(len(x)), VALUES, "add-remove", "rho 0.0517814"),
    "analytic gaussian": (lambda x: analytic.randomise(len(x)), VALUES, "add-remove", "delta 1/100 epsilon 1.000001"),
    "discrete gaussian": (lambda x: discrete.randomise(len(x)), VALUES, "add-remove", "delta 1/100 epsilon 1.0001"),
    "binary": (lambda x: binary.randomise(x[0]), LABEL, "replace-one", 1),
    "exponential": (chosen, VALUES, "replace-one", 2),
    "exponential of names": (chosen_by_name, VALUES, "add-remove", 1),
    "categorical": (lambda x: categorical.randomise(x[0]), COLOURS, "replace-one", 1),
    "hierarchical": (lambda x: hierarchical.randomise(x[0]), COLOURS, "replace-one", 1),
    "count of what is not zero": (lambda x: tools.count_nonzero(x), TWENTY, "replace-one", 1),
    "sum": (lambda x: tools.sum(x, epsilon=1, bounds=(0, 1)), PARTS, "replace-one", 1),
    "mean": (lambda x: tools.mean(x, epsilon=0.5, bounds=(0.0, 1.0)), PARTS, "replace-one", "1/2"),
}  # fmt: skip


def claim(space, distance, budget, of=Fraction(1)):
    """A specification, at a part of its budget."""
    text = str(budget)
    if text.startswith("rho "):
        return dpspec.spec(space=space, distance=distance, standard="d-nor", rho=str(Fraction(text[4:]) * of))
    if text.startswith("delta "):
        _, delta, _, epsilon = text.split()
        return dpspec.spec(
            space=space, distance=distance, standard="mult-delta", delta=delta, epsilon=str(Fraction(epsilon) * of)
        )  # fmt: skip
    return dpspec.spec(space=space, distance=distance, standard="mult", epsilon=str(Fraction(text) * of))


@pytest.mark.spread(3, slow=2)
@pytest.mark.parametrize("name", MECHANISMS)
def test_a_mechanism_is_verified_under_its_models_and_refuted_at_four_fifths(name):
    function, space, distance, budget = MECHANISMS[name]
    found = dpspec.verify(function, claim(space, distance, budget))
    assert found.outcome is Outcome.VERIFIED, found.reason
    assert any(one.startswith("model of diffprivlib 0.6 `") for one in found.assumptions), found.assumptions
    less = dpspec.verify(function, claim(space, distance, budget, Fraction(4, 5)))
    assert less.outcome is Outcome.REFUTED, less.reason


# --- what must not be verified ----------------------------------------------------------------------


class Quiet(mechanisms.Laplace):
    """A class of the user's, which adds no noise."""

    def randomise(self, value):
        return value


seeded = mechanisms.Laplace(epsilon=1, sensitivity=1, random_state=42)
given = mechanisms.Laplace(epsilon=1, sensitivity=1, random_state=np.random.RandomState(7))
quiet = Quiet(epsilon=1, sensitivity=1)
patched = mechanisms.Laplace(epsilon=1, sensitivity=1)
patched.randomise = lambda value: value
changed = mechanisms.Laplace(epsilon=1, sensitivity=1)
changed.epsilon = 100.0


def twice(x):
    return [laplace.randomise(len(x)) for _ in range(2)]


def by_the_data(x):
    return mechanisms.Laplace(epsilon=max(len(x), 1), sensitivity=1).randomise(len(x))


def assigned(x):
    mechanism = mechanisms.Laplace(epsilon=1, sensitivity=1)
    mechanism.epsilon = 50.0
    return mechanism.randomise(len(x))


WRONG = {
    "the sensitivity is 2": (lambda x: laplace.randomise(sum(x)), VALUES, "add-remove", 1),
    "the epsilon is 2": (made_inside, VALUES, "add-remove", 1),
    "spent twice": (twice, VALUES, "add-remove", 1),
    "epsilon of the data": (by_the_data, VALUES, "add-remove", 1),
    "changed after it was made": (lambda x: changed.randomise(len(x)), VALUES, "add-remove", 1),
    "assigned while it runs": (assigned, VALUES, "add-remove", 1),
    "the number of entries is not public": (lambda x: tools.count_nonzero(x), VALUES, "add-remove", 1),
    "bounds of the data": (lambda x: tools.mean(x, epsilon=0.5, bounds=(min(x), max(x))), PARTS, "replace-one", "1/2"),
    "no bounds": (lambda x: tools.sum(x, epsilon=1), PARTS, "replace-one", 1),
    "a count of a seed": (lambda x: tools.count_nonzero(x, random_state=1), TWENTY, "replace-one", 1),
    "a seed": (lambda x: seeded.randomise(len(x)), VALUES, "add-remove", 50),
    "a generator": (lambda x: given.randomise(len(x)), VALUES, "add-remove", 50),
    "a class of the user's": (lambda x: quiet.randomise(len(x)), VALUES, "add-remove", 50),
    "a patched object": (lambda x: patched.randomise(len(x)), VALUES, "add-remove", 50),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:Bounds have not been specified")
@pytest.mark.spread(3, slow=2)
@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_one_is_not_verified(name):
    function, space, distance, budget = WRONG[name]
    assert dpspec.verify(function, claim(space, distance, budget), seconds=10).outcome is not Outcome.VERIFIED


@pytest.mark.parametrize("other", [
    lambda self, value: value, mechanisms.LaplaceFolded.randomise, mechanisms.Gaussian.randomise, mechanisms.Laplace.bias,
])  # fmt: skip
def test_a_changed_library_is_found(monkeypatch, other):
    from dpspec_adapters.models import changed_since_install

    changed_since_install.cache_clear()
    monkeypatch.setattr(mechanisms.Laplace, "randomise", other)
    why = changed_since_install("diffprivlib", ("0.6.",), ("diffprivlib.mechanisms.laplace",))
    assert why == "diffprivlib.mechanisms.laplace.Laplace.randomise was replaced after it was imported"
    monkeypatch.undo()
    changed_since_install.cache_clear()
    assert not changed_since_install("diffprivlib", ("0.6.",), ("diffprivlib.mechanisms.laplace",))


def test_what_a_module_imports_is_looked_at(monkeypatch):
    import diffprivlib.mechanisms.laplace as home
    from dpspec_adapters.models import changed_since_install

    changed_since_install.cache_clear()
    monkeypatch.setattr(home, "DPMechanism", object)
    why = changed_since_install("diffprivlib", ("0.6.",), ("diffprivlib.mechanisms.laplace",))
    assert why == "diffprivlib.mechanisms.laplace.DPMechanism was replaced after it was imported"
    changed_since_install.cache_clear()
    assert "version" in changed_since_install("diffprivlib", ("0.5.",), ("diffprivlib.mechanisms.laplace",))
    changed_since_install.cache_clear()


# --- the models against the library -------------------------------------------------------------------

DRAWS = 20_000
WIDTH = math.sqrt(math.log(2 / 1e-9) / (2 * DRAWS))
"""No empirical distribution function is farther from its law, but with probability 1e-9 (Massart 1990)."""


def far(drawn, below, before):
    """How far an empirical distribution function is from one that is continuous, or steps at whole numbers."""
    counts, at, most = Counter(drawn), 0, 0.0
    for value in sorted(counts):
        most = max(most, abs(at / len(drawn) - before(value)))
        at += counts[value]
        most = max(most, abs(at / len(drawn) - below(value)))
    return most


def below_laplace(scale):
    return lambda v: 0.5 * math.exp(v / scale) if v < 0 else 1 - 0.5 * math.exp(-v / scale)


def below_normal(deviation):
    return lambda v: 0.5 * math.erfc(-v / deviation / math.sqrt(2))


def below_geometric(epsilon):
    ratio = math.exp(-epsilon)
    return lambda k: 1 - ratio ** (k + 1) / (1 + ratio) if k >= 0 else ratio ** (-k) / (1 + ratio)


@pytest.mark.parametrize(("mechanism", "below"), [
    (laplace, below_laplace(1.0)),
    (with_delta, below_laplace(1 / (1 - math.log(0.9)))),
    (gaussian, below_normal(math.sqrt(2 * math.log(125)))),
    (analytic, below_normal(analytic._scale)),
])  # fmt: skip
def test_noise_on_doubles_has_the_law_of_its_model(mechanism, below):
    assert far([float(mechanism.randomise(0)) for _ in range(DRAWS)], below, below) < WIDTH


def test_noise_on_whole_numbers_has_the_law_of_its_model():
    below = below_geometric(0.5)
    drawn = [geometric_of_sum.randomise(0) for _ in range(DRAWS)]
    assert far(drawn, below, lambda k: below(k - 1)) < WIDTH
    weights = np.exp(-np.arange(-200, 201) ** 2 / (2 * discrete._scale**2))
    sums = np.cumsum(weights) / weights.sum()
    drawn = [discrete.randomise(0) for _ in range(DRAWS)]
    assert far(drawn, lambda k: sums[k + 200], lambda k: sums[k + 199]) < WIDTH


def near(hits, chance):
    assert abs(hits / DRAWS - chance) < WIDTH


def test_choices_have_the_laws_of_their_models():
    e = math.e
    near(sum(binary.randomise("no") == "no" for _ in range(DRAWS)), e / (e + 1))
    seen = Counter(categorical.randomise("blue") for _ in range(DRAWS))
    near(seen["blue"], e / (e + 2))
    near(seen["red"], 1 / (e + 2))
    utility = [3, 2, 0]
    weights = [math.exp(one) for one in utility]
    chosen_of_three = mechanisms.Exponential(epsilon=2, sensitivity=1, utility=utility)
    seen = Counter(int(chosen_of_three.randomise()) for _ in range(DRAWS))
    for place in range(3):
        near(seen[place], weights[place] / sum(weights))
    flip = mechanisms.PermuteAndFlip(epsilon=2, sensitivity=1, utility=[3, 2])
    near(Counter(flip.randomise() for _ in range(DRAWS))[1], math.exp(-1) / 2)
