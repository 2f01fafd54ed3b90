"""Small worlds for the tests of attackers: specifications, random mechanisms and priors."""

from __future__ import annotations

from fractions import Fraction

import attrs
from dpspec_divergences import HammingOrdered, Mult
from hypothesis import strategies as st

from dpspec.blocks.budget import UniformBudget
from dpspec.blocks.multiverse import Trivial
from dpspec.blocks.records import OrderedRecords
from dpspec.blocks.space import Attribute
from dpspec.blocks.vectors import BitVectors
from dpspec.grammar.mechanism import Mechanism
from dpspec.grammar.spec import PrivacySpec
from dpspec.laws.law import FiniteLaw


def bits(length=2, divergence=None, **budget):
    """A specification on bits of some people, by default ln(3)-pure."""
    ((parameter, value),) = (budget or {"epsilon": "ln(3)"}).items()
    return PrivacySpec(
        space=BitVectors(length=length),
        multiverse=Trivial(),
        input_divergence=HammingOrdered(unit="person"),
        output_divergence=divergence or Mult(),
        budget=UniformBudget(parameter=parameter, value=value),
    )


def letters(length=2, least=None, **budget):
    """The same for records a, b, c."""
    letter = Attribute(name="letter", categories=("a", "b", "c"))
    space = OrderedRecords(attributes=(letter,), least=length if least is None else least, most=length)
    return bits(length, **budget).replace(space=space)


@attrs.frozen
class Listed(Mechanism):
    """A mechanism by its laws."""

    laws: dict

    name = "listed"

    def law(self, dataset, space):
        return self.laws[space.dataset(dataset)]


@st.composite
def mechanisms(draw, space, outcomes=3, low=1):
    """Any mechanism with a few outcomes, all of positive probability."""
    weights = st.lists(st.integers(low, 6), min_size=outcomes, max_size=outcomes)
    return Listed({x: FiniteLaw.from_weights(dict(enumerate(draw(weights.filter(any))))) for x in space.datasets()})


@st.composite
def priors(draw, space, low=0):
    """Any prior, dependent records included, that leaves every value of the first record possible."""
    datasets = list(space.datasets())
    size = len(datasets)
    weights = draw(st.lists(st.integers(low, 5), min_size=size, max_size=size).filter(lambda found: _open(datasets, found)))
    return tuple((x, Fraction(weight, sum(weights))) for x, weight in zip(datasets, weights, strict=True) if weight)


def _open(datasets, weights):
    return len({x[0] for x, weight in zip(datasets, weights, strict=True) if weight}) > 1


def budget_of(mechanism, spec, divergence):
    """The least bound of a divergence that the mechanism satisfies for neighbours, as an upper end."""
    values = [
        divergence.between(mechanism.law(x, spec.space), mechanism.law(y, spec.space)).upper
        for x in spec.space.datasets()
        for y in spec.space.datasets()
        if x != y and spec.distance(x, y) == 1
    ]
    return max(values)


def near(found, printed, tolerance=1e-6):
    """Whether the whole bracket lies near a number; the brackets here are narrower than 1e-8."""
    return abs(float(found.lower) - printed) < tolerance and abs(float(found.upper) - printed) < tolerance
