"""Probabilities in Q(e^r): exact arithmetic, claims decided at equality, agreement with high-precision floats."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pytest
from hypothesis import given, strategies as st

from dpspec.base.errors import NoFormulaError, NumericalError, ParameterError
from dpspec.base.exact import ln, number
from dpspec.blocks.budget import UniformBudget
from dpspec.blocks.records import UnorderedRecords
from dpspec.blocks.space import Attribute
from dpspec.laws import FiniteLaw, LaplaceLaw, NotALaw
from dpspec.laws.exponential import Exponential, ExponentialLaw, exact_exponential, finite_law
from dpspec.verifier.exhaustive import verify
from dpspec.verifier.verdict import Outcome
from tests.verify.toys import Toy, bits_spec, block

E = exact_exponential(1)
TINY = Fraction(1, 10**40)


def response(power: str) -> Toy:
    """Randomised response that keeps a bit with probability e^x / (1 + e^x)."""
    keep = exact_exponential(power) / (1 + exact_exponential(power))

    def law(bits: tuple[int, ...]) -> object:
        outcomes = itertools.product((0, 1), repeat=len(bits))
        return finite_law({t: _product(keep if a == b else 1 - keep for a, b in zip(bits, t, strict=True)) for t in outcomes})

    return Toy(law)


def _product(factors: object) -> Exponential:
    return math.prod(factors, start=exact_exponential(0))  # type: ignore[call-overload, no-any-return]


def exponential_mechanism(power: str, scores: int = 3) -> Toy:
    """P24: weight e^(power x count) for every category."""

    def law(records: tuple[tuple[str, ...], ...]) -> object:
        counts = [sum(r == (str(k),) for r in records) for k in range(scores)]
        return finite_law({k: exact_exponential(Fraction(power) * count) for k, count in enumerate(counts)}, normalise=True)

    return Toy(law)


def test_the_field_is_exact() -> None:
    assert (E * E - 1) / (E - 1) == E + 1
    assert str((E * E - 1) / (E - 1)) == "1 + e^(1)"
    assert exact_exponential("1/2") * exact_exponential("1/3") == exact_exponential("5/6")
    assert E - E == 0
    assert (E - E).sign() == 0
    assert exact_exponential("ln(3)").rational() == 3
    assert (3 * exact_exponential("1/7") / 2).log() == ln(Fraction(3, 2)) + Fraction(1, 7)
    assert (E + 1).log() is None
    assert hash(exact_exponential(0)) == hash(1)
    with pytest.raises(ParameterError):
        exact_exponential("1/2*ln(2)")
    with pytest.raises(ZeroDivisionError):
        1 / (E - E)


def test_signs_that_doubles_cannot_see() -> None:
    near = exact_exponential(1) - Fraction(math.e)
    assert near.sign() == 1
    assert 0 < near < Fraction(1, 10**15)
    digits = Fraction("2.71828182845904523536028747135266249775724709369995957496696762772")
    assert digits < E < digits + Fraction(1, 10**64)
    assert exact_exponential("1/1000") - 1 - Fraction(1, 1000) - Fraction(1, 2 * 10**6) > 0


@given(st.lists(st.tuples(st.integers(-4, 4), st.integers(-5, 5)), min_size=1, max_size=4), st.integers(1, 3))
def test_the_order_agrees_with_balls(terms: list[tuple[int, int]], step: int) -> None:
    value = sum((factor * exact_exponential(Fraction(power, step)) for power, factor in terms), Exponential())
    enclosed = value.enclose(300)
    assert value.sign() == ((enclosed > 0) - (enclosed < 0) if not enclosed.contains(0) else 0)
    assert (value.sign() == 0) == (value == 0)


@pytest.mark.parametrize("power", ["1", "1/2", "3", "1/10"])
def test_randomised_response_is_tight_at_exactly_its_epsilon(power: str) -> None:
    """P42: the claim holds with equality; any smaller budget is refuted, by however little."""
    verdict = verify(response(power), bits_spec(length=2, epsilon=power))
    assert verdict.outcome is Outcome.VERIFIED
    assert verdict.universes[0].is_tight
    assert verdict.constant.lower == number(power)
    below = verify(response(power), bits_spec(length=2, epsilon=number(power) - TINY))
    assert below.outcome is Outcome.REFUTED
    assert below.witness is not None
    assert below.witness.event is not None
    above = verify(response(power), bits_spec(length=2, epsilon=number(power) + TINY))
    assert above.outcome is Outcome.VERIFIED
    assert not above.universes[0].is_tight


def test_one_bit_too_much_in_the_keep_probability_is_refuted() -> None:
    """The float nearest to e/(1+e) from above is not e/(1+e)."""
    above = math.nextafter(math.e / (1 + math.e), 1)
    law = {bit: FiniteLaw.of({bit: Fraction(above), 1 - bit: 1 - Fraction(above)}) for bit in (0, 1)}
    verdict = verify(Toy(lambda x: law[x[0]]), bits_spec(length=1, epsilon=1))
    assert verdict.outcome is Outcome.REFUTED
    fair = {bit: finite_law({bit: E / (1 + E) + (1 - E / (1 + E)) / 2, 1 - bit: 1 / (1 + E) / 2}) for bit in (0, 1)}
    assert verify(Toy(lambda x: fair[x[0]]), bits_spec(length=1, epsilon=1)).outcome is Outcome.REFUTED  # P43
    found = verify(Toy(lambda x: fair[x[0]]), bits_spec(length=1, epsilon=2)).constant
    assert found.lower < found.upper
    assert abs(float(found.lower) - math.log(2 * math.e + 1)) < 1e-15


@pytest.mark.slow
def test_the_exponential_mechanism_is_within_its_claim_and_its_toy_is_not() -> None:
    """P24 is right under add-remove; P25, without the factor 2, is wrong under replacement."""
    kinds = (Attribute(name="kind", categories=("0", "1", "2")),)
    spec = bits_spec(epsilon=1).replace(
        space=UnorderedRecords(attributes=kinds, most=4), input_divergence=block("input_divergences", "symmetric-difference")
    )
    verdict = verify(exponential_mechanism("1/2"), spec)
    assert verdict.outcome is Outcome.VERIFIED
    expected = max(
        abs(math.log(_softmax(x)[0] / _softmax(y)[0]))
        for x in itertools.product(range(5), repeat=3)
        for y in [(x[0] + 1, *x[1:])]
        if sum(y) <= 4
    )
    assert abs(float(verdict.constant.upper) - expected) < 1e-12
    two = (Attribute(name="kind", categories=("0", "1")),)
    replaced = spec.replace(
        space=UnorderedRecords(attributes=two, least=4, most=4), input_divergence=block("input_divergences", "hamming")
    )
    wrong = verify(exponential_mechanism("1", 2), replaced)
    assert wrong.outcome is Outcome.REFUTED
    assert verify(exponential_mechanism("1", 2), replaced.replace(budget=_two())).outcome is Outcome.VERIFIED


def _softmax(counts: tuple[int, ...]) -> list[float]:
    weights = [math.exp(count / 2) for count in counts]
    return [weight / sum(weights) for weight in weights]


def _two() -> UniformBudget:
    return UniformBudget(parameter="epsilon", value=2)


def test_a_clamped_geometric_is_tight() -> None:
    """P08 at epsilon = 1: n + two-sided geometric with ratio e^-1, clamped to [0, 4]."""
    r = exact_exponential(-1)

    def law(bits: tuple[int, ...]) -> object:
        n, inner = sum(bits), (1 - r) / (1 + r)
        weights = {k: inner * _power(r, abs(k - n)) for k in range(1, 4)}
        return finite_law({0: _power(r, n) / (1 + r), **weights, 4: _power(r, 4 - n) / (1 + r)})

    verdict = verify(Toy(law), bits_spec(length=4, epsilon=1))
    assert verdict.outcome is Outcome.VERIFIED
    assert verdict.universes[0].is_tight


def _power(base: Exponential, exponent: int) -> Exponential:
    return math.prod([base] * exponent, start=exact_exponential(0))


def test_laws_are_checked_and_rational_ones_stay_finite_laws() -> None:
    assert finite_law({"a": E, "b": E}, normalise=True) == FiniteLaw.uniform("ab")
    with pytest.raises(NotALaw, match="sum to exactly 1"):
        finite_law({0: E / (1 + E), 1: Fraction(269, 1000)})
    with pytest.raises(NotALaw, match="at least 0"):
        finite_law({0: 1 - E, 1: E})
    law = finite_law({0: E / (1 + E), 1: 1 / (1 + E)})
    assert isinstance(law, ExponentialLaw)
    assert law == finite_law({1: 1 / (1 + E), 0: E / (1 + E)})
    assert law.against(law).is_identical
    assert law.against(FiniteLaw.point(0)).max_log_ratio().lower.is_infinite
    assert FiniteLaw.point(0).against(law).max_log_ratio().upper.is_infinite is False
    with pytest.raises(NoFormulaError):
        law.against(LaplaceLaw(0, 1)).max_log_ratio()


@pytest.mark.parametrize("delta", ["0", "1/10"])
def test_the_other_functionals_are_enclosed(delta: str) -> None:
    p, q = (finite_law({0: a, 1: 1 - a}) for a in (E / (1 + E), 1 / (1 + E)))
    pair, keep = p.against(q), math.e / (1 + math.e)
    assert abs(float(pair.total_variation().lower) - (2 * keep - 1)) < 1e-12
    assert pair.hockey_stick(1).upper == 0
    assert abs(float(pair.renyi(2).upper) - math.log(keep**2 / (1 - keep) + (1 - keep) ** 2 / keep)) < 1e-12
    assert abs(float(pair.epsilon_at(delta).upper) - math.log((keep - float(Fraction(delta))) / (1 - keep))) < 1e-9


@pytest.mark.parametrize("far", [Fraction(10**15), Fraction(123456789, 10**9), 1 + Fraction(1, 10**15)])
def test_numbers_of_any_denominator_are_compared_exactly_in_little_memory(far):
    """A polynomial with a place for every multiple of the common unit of 1 and `far` has up to 10^15 of them."""
    x, y = exact_exponential(1), exact_exponential(far)
    long, same = (x + y) * (x + 1) / ((y + 1) * (x + 1)), (x + y) / (y + 1)
    assert (long, hash(long), long - same) == (same, hash(same), 0)
    assert long != (x + y) / (y + 2)
    assert 1 < long < x
    assert str((x + y) * (y - 1) / (y + x) + 1) == f"e^({far})"
    assert (3 * (x * x - y * y) / ((y - x) * (x + y))).rational() == -3
    assert (2 * y * (x + y) / (x + y)).log() == number("ln(2)") + far


def test_many_powers_that_do_not_belong_together_have_no_exact_form():
    total = sum(exact_exponential(Fraction(1, prime)) for prime in range(10**6, 10**6 + 300))
    with pytest.raises(NumericalError, match="powers of e"):
        total * total
