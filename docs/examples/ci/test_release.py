"""Copy to tests/ of a project: a function whose law nobody reads off its code, and the fault that would have been found."""

from dpspec_divergences import Mult, SymmetricDifference

from dpspec import PrivacySpec, Trivial, UniformBudget
from dpspec.blocks.lists import ValueLists

SPEC = PrivacySpec(
    space=ValueLists(values=(0, 1), most=6, ordered=False),
    multiverse=Trivial(),
    input_divergence=SymmetricDifference(),
    output_divergence=Mult(),
    budget=UniformBudget(parameter="epsilon", value=1),
)


def release(answers, generator):
    """The number of answers, with noise of heavy tails: its loss is at most 0.77, which its author has on paper."""
    return len(answers) + 1.5 * generator.standard_t(3)


def test_release(assert_not_refuted):
    assert_not_refuted(release, SPEC, loss="1.8", mass="0.1")
