"""The largest power that a divergence allows: attained by two laws within the bound in both orders, and by none above."""

import itertools
from fractions import Fraction
from typing import ClassVar

import attrs
import pytest
from dpspec_attackers.full_knowledge import StrongestAttacker
from dpspec_attackers.tester import FrequentistTester
from dpspec_deployments.catalogue import power_of
from dpspec_divergences import DNor, FDivergence, Mult, Renyi

from dpspec.api import build
from dpspec.base.errors import NoFormulaError
from dpspec.base.exact import Bracket, ln, number
from dpspec.base.words import Word
from dpspec.blocks.output_divergence import OutputDivergence
from dpspec.comparison.ablation import ablate
from dpspec.laws.dichotomy import Dichotomy
from dpspec.laws.law import FiniteLaw
from dpspec.laws.trade_off import largest_power
from dpspec.report.audience import audience_data
from dpspec.risks import risk
from dpspec.risks.attack_bounds import allowed_excess, allowed_power, power_at_step
from dpspec.verifier.standing import Standing


@attrs.frozen
class OneWay(OutputDivergence):
    """A stranger's divergence: the largest log-ratio of P to Q, not of Q to P, which says nothing of the power it allows."""

    name: ClassVar[str] = "one-way"
    is_symmetric: ClassVar[bool] = False

    def evaluate(self, pair: Dichotomy, *, precision: int = 64) -> Bracket:
        return pair.max_log_ratio(precision=precision)

    def largest_probability(self, q: object, bound: object) -> object:
        raise NoFormulaError("divergence", "does not say which probabilities it allows")


STEP = Fraction(1, 2**20)


@pytest.mark.parametrize(
    "divergence", [OneWay(), Renyi(order=2), Renyi(order="3/2"), FDivergence(generator="kl", direction="forward")], ids=str
)
@pytest.mark.parametrize("level", ["1/20", "1/2", "9/10"])
def test_both_orders_are_within_the_bound_and_a_little_more_power_is_not(divergence: OutputDivergence, level: str) -> None:
    bound = ln(2)
    power = allowed_power(divergence, bound, level)
    held = FiniteLaw.bernoulli(level)

    def farther_order(chance: Fraction) -> Bracket:
        law = FiniteLaw.bernoulli(chance)
        return max((divergence.between(law, held), divergence.between(held, law)), key=lambda value: value.lower)

    assert farther_order(power.lower.as_fraction()).lower <= bound
    assert farther_order(power.upper.as_fraction() + STEP).upper > bound


@pytest.mark.parametrize("level", ["1/1000000", "1/1000", "1/20", "1/2", "999/1000"])
@pytest.mark.parametrize("bound", ["1/50", "1", "3"])
@pytest.mark.parametrize("bits", [16, 48])
def test_concentrated_privacy_is_narrowed_in_few_steps(monkeypatch, level: str, bound: str, bits: int) -> None:
    """Halving alone takes as many steps as bits; the bracket is as narrow as asked, and each end is proved by a pair of laws."""
    asked: list[int] = []
    between = DNor.between
    monkeypatch.setattr(DNor, "between", lambda *laws, **bits: (asked.append(1), between(*laws, **bits))[1])
    power = allowed_power(DNor(), number(bound), level, bits=bits)
    assert len(asked) <= 13 + bits // 6
    low, high = power.lower.as_fraction(), power.upper.as_fraction()
    assert high - low <= Fraction(1, 2 ** min(bits, 45))
    held = FiniteLaw.bernoulli(level)
    assert DNor().between(FiniteLaw.bernoulli(low), held).lower <= number(bound)
    assert high == 1 or DNor().between(FiniteLaw.bernoulli(high), held).upper >= number(bound)


def test_the_order_that_binds_may_be_the_second() -> None:
    """Of P(S) = x and Q(S) = 9/10 the ratio of P to Q is at most 10/9; that of the complements, Q to P, is at most 2."""
    assert allowed_power(OneWay(), ln(2), "9/10").upper.as_fraction() <= Fraction(19, 20) + STEP
    assert allowed_excess(OneWay(), ln(2), Bracket.exactly(Fraction(3, 2))).upper <= number("3/4") + number(STEP)


ONE_SIDED = {
    "space": {"type": "records", "most": 2, "attributes": [{"name": "kind", "categories": ["open", "secret"]}]},
    "input_divergence": {"type": "one-sided", "attribute": "kind", "sensitive": ["secret"]},
    "output_divergence": {"type": "mult-one-way"},
    "budget": {"epsilon": "ln(3)"},
    "mechanism": {"type": "open-sample", "attribute": "kind", "sensitive": ["secret"], "keep_probability": "2/3"},
}


def test_a_promise_in_one_direction_limits_a_test_in_the_other_less() -> None:
    """A sample of the open records: one that is left out is never seen, and one that takes the place of a secret one may be."""
    found = build(**ONE_SIDED)
    own = found.mechanism
    assert own is not None
    pair = own.law((("open",),), found.spec.space).against(own.law((("secret",),), found.spec.space))
    most = max(largest_power(way, Fraction(1, 20)).lower for way in (pair, pair.reverse()))
    stated = power_at_step(found.spec, ln(3), "1/20"), power_of(found.spec), ablate(found.spec, found.spec, own).steps[0].power
    assert all(value is not None and value.upper >= most for value in stated)
    both = found.spec.replace(output_divergence=Mult())
    assert power_at_step(both, ln(3), "1/20") == allowed_power(Mult(), ln(3), "1/20")


def test_a_promise_in_one_direction_limits_all_but_posterior_odds() -> None:
    """It was said to set no limit. All (p, q) of a grid with P(S) <= 3 Q(S) for an event and its complement are within it."""
    found = build(**ONE_SIDED)
    grid = [Fraction(n, 60) for n in range(61)]
    allowed = [(p, q) for p, q in itertools.product(grid, repeat=2) if p <= 3 * q and 1 - p <= 3 * (1 - q)]
    ways = [*allowed, *((q, p) for p, q in allowed)]
    power, most = power_at_step(found.spec, ln(3), "1/20"), Fraction(41, 60)
    assert max(p for p, q in ways if q == Fraction(1, 20)) <= most <= power.upper.as_fraction() <= most + STEP
    rows = {(row.quantity, dict(row.at).get("factor")): row for row in risk(found.spec, StrongestAttacker(factors=["6"])).rows}
    (grown,) = rows["probability that belief in the truth grows by the factor", "6"].worst
    most = Fraction(12, 17)
    assert max(p for p, q in ways if p >= 6 * q) <= most <= grown.value.upper.as_fraction() <= most + STEP
    assert rows["posterior odds by prior odds", None].worst[0].is_vacuous
    assert [row.worst[0].value for row in risk(found.spec, FrequentistTester(levels=["1/20"])).rows] == [power]
    sentences = " ".join(audience_data(found, "public", Standing(word=Word.VERIFIED, reason="of the test"))["sentences"])
    assert "they find it in at most 69 of 100 cases" in sentences
