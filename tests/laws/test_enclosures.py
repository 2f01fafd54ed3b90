"""Certified quadrature: against closed forms, against exact laws, and the sparse vector technique with its known loss."""

import math
from fractions import Fraction

import attrs
import pytest
from flint import acb, arb, ctx

from dpspec.base.errors import ParameterError
from dpspec.laws.enclosures import EnclosedLaw, IntegralLaw, LaplaceNoise, QuadratureAnswer, first_above, integral
from dpspec.laws.law import FiniteLaw, NotALaw


def sparse(answers, query_scale="4/3"):
    """Sparse vector, variant 4, one positive answer, epsilon = 1: threshold noise 4, query noise 4/3."""
    return first_above(answers, threshold=0, threshold_scale=4, query_scale=query_scale)


def test_an_integral_is_split_at_its_kinks():
    ends = tuple(Fraction(k) for k in (-3, -1, 0, 2))
    laplace = LaplaceNoise.of(0, 1)
    area = integral(laplace.density, ends, 100)
    exact = 1 - (arb(-3).exp() + arb(-2).exp()) / 2
    assert area.overlaps(exact)
    assert float(area.rad()) < 1e-28


def test_cumulative_probabilities_of_laplace_noise():
    noise = LaplaceNoise.of("1/2", 2)
    for point in (-3, 0.5, 4):
        inside = Fraction(point)
        value = noise.below(acb(point), inside).real
        expected = math.exp((point - 0.5) / 2) / 2 if point <= 0.5 else 1 - math.exp(-(point - 0.5) / 2) / 2
        assert abs(float(value) - expected) < 1e-15
    for bits in (10, 64, 200):
        assert math.exp(-noise.reach(bits) / 2) <= 2.0**-bits
    with pytest.raises(ParameterError):
        LaplaceNoise.of(0, 0)


def test_one_query_against_the_closed_form():
    """P(L2 - L1 < t) = 1 - (2 + t) e^-t / 4 for t >= 0 and two Laplace variables of scale 1."""
    law = first_above((-2,), threshold=0, threshold_scale=1, query_scale=1)
    below = 1 - (2 + arb(2)) * arb(-2).exp() / 4
    assert law.mass(1, 90).overlaps(below)
    assert law.mass(0, 90).overlaps(1 - below)
    assert float(law.mass(0, 90).rad()) < 1e-25


def test_masses_sum_to_one_and_narrow_with_precision():
    law = sparse((3, 0, "1/2"))
    for precision in (32, 64, 128):
        with ctx.workprec(200):
            total = sum((law.mass(o, precision) for o in range(4)), arb(0))
        assert total.contains(1)
        assert float(total.rad()) < 2.0 ** (8 - precision)
    assert law.mass(17, 64).is_zero()


def test_the_loss_of_sparse_vector_variant_four_is_enclosed_to_1e_15():
    left, right = sparse((4, 4, 4, 4, 2)), sparse((3, 3, 3, 3, 3))
    loss = right.against(left).max_log_ratio(precision=64)
    back = left.against(right).max_log_ratio(precision=64)
    top = max((loss, back), key=lambda bracket: float(bracket.lower))
    width = top.upper.enclose(128) - top.lower.enclose(128)
    assert float(width.upper()) < 1e-15
    assert float(top.lower) == pytest.approx(1.739701701727842679, abs=4e-16)
    assert top.lower > 1  # the claim of the variant


def test_equal_laws_are_equal_and_compare_as_identical():
    one, two = sparse((1, 2)), sparse(("1", 2))
    assert one == two
    assert hash(one) == hash(two)
    assert one.against(two).is_identical
    assert one != sparse((2, 1))


def test_against_an_exact_finite_law():
    law = sparse((0,))
    exact = FiniteLaw.of({0: "1/2", 1: "1/2"})
    ratio = law.against(exact).max_log_ratio(precision=80)
    assert float(ratio.upper) < 1e-20
    assert law.against(FiniteLaw.of({0: 1})).max_log_ratio().upper.is_infinite


@attrs.frozen
class Forgetful(QuadratureAnswer):
    """Lists one of two outcomes only."""

    @property
    def outcomes(self):
        return ("up",)

    @property
    def kinks(self):
        return ()

    def given(self, outcome, z, inside):
        return LaplaceNoise.of(0, 1).below(z, inside)


def test_outcomes_that_are_left_out_are_noticed():
    with pytest.raises(NotALaw):
        IntegralLaw(LaplaceNoise.of(0, 1), Forgetful())


def test_equal_bounds_that_are_shared_are_one_cell_with_the_same_divergences():
    """A law of many equal probabilities holds one object for their bounds; the same bounds as separate objects give the same."""
    few, many = (Fraction(1, 4), Fraction(1, 4) + Fraction(1, 2**70)), (Fraction(3, 400) - Fraction(1, 2**80), Fraction(3, 400))
    turned = (Fraction(1, 2), Fraction(1, 2) + Fraction(1, 2**70)), (Fraction(1, 200) - Fraction(1, 2**80), Fraction(1, 200))
    shared = [EnclosedLaw({0: one, **dict.fromkeys(range(1, 101), other)}) for one, other in ((few, many), turned)]
    separate = [EnclosedLaw({key: (low, high) for key, (low, high) in law.bounds.items()}) for law in shared]
    pairs = [one.against(other) for one, other in (shared, separate)]
    assert len(pairs[0].cells(64)) == 2 < len(pairs[1].cells(64))
    for measure in (lambda pair: pair.max_log_ratio(), lambda pair: pair.hockey_stick("1/4")):
        merged, listed = map(measure, pairs)
        assert merged.lower <= listed.upper
        assert listed.lower <= merged.upper
        assert float(merged.upper) == pytest.approx(float(listed.upper), abs=1e-15)
