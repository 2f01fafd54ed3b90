"""Divergences that cannot compare all laws: a comparison goes on without the mechanisms that they cannot judge."""

from fractions import Fraction

from dpspec.api import compare
from dpspec.base.exact import ln
from dpspec.blocks.budget import UniformBudget
from dpspec.comparison.compare import Answer
from tests.verify.toys import bits_spec, block


def test_laws_that_a_divergence_cannot_compare_are_passed_over() -> None:
    """Steps of a curve have no formula for integer noise: coins separate."""
    steps = bits_spec().replace(
        output_divergence=block("output_divergences", "trade-off", epsilon=ln(3), delta=Fraction(1, 10)),
        budget=UniformBudget(parameter="steps", value=1),  # type: ignore[arg-type]
    )
    pure = bits_spec(epsilon="ln(3)")
    assert compare(steps, pure).forward.answer is Answer.SEPARATED
    assert compare(pure, steps).forward.answer is Answer.IMPLIES  # by the events of three bits
    assert compare(steps, steps).forward.answer is Answer.IMPLIES
