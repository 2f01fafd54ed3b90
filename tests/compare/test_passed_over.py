"""Divergences that cannot compare all laws: a comparison goes on without the mechanisms that they cannot judge."""

from dpspec.api import compare_specs
from dpspec.blocks.budget import UniformBudget
from dpspec.compare.comparison import Answer
from tests.verify.toys import bits_spec, block


def test_laws_that_a_divergence_cannot_compare_are_passed_over() -> None:
    """The Gaussian trade-off has no route for integer noise: other mechanisms separate, and where none does it stays open."""
    gaussian = bits_spec().replace(
        output_divergence=block("output_divergences", "gaussian-trade-off"), budget=UniformBudget(parameter="mu", value=2)
    )
    found = compare_specs(gaussian, bits_spec(epsilon="ln(3)"))
    assert found.forward.answer is Answer.SEPARATED
    assert found.backward.answer is Answer.IMPLIES
    generous = bits_spec().replace(
        output_divergence=block("output_divergences", "d-nor"), budget=UniformBudget(parameter="rho", value=3)
    )
    assert compare_specs(generous, gaussian).backward.answer is Answer.IMPLIES
    assert compare_specs(gaussian, bits_spec(epsilon=20)).forward.answer is Answer.UNKNOWN
