"""The walk on integer tables finds exactly what the plain walk over all pairs finds."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any, ClassVar

import pytest
from dpspec_census.swapping import DerangementSwapping, PermutationSwapping, Swapping
from dpspec_divergences import Mult
from hypothesis import given, strategies as st

from dpspec.base.errors import PluginContractError
from dpspec.base.exact import Bracket, ln, number
from dpspec.base.params import define
from dpspec.grammar.spec import PrivacySpec
from dpspec.laws import FiniteDichotomy, FiniteLaw
from dpspec.laws.dichotomy import Dichotomy
from dpspec.verifier.exhaustive import verify
from dpspec.verifier.verdict import Outcome
from reproductions.swapping_universes import instance, partitions
from tests.verify.toys import Toy, bits_spec

MARGINS = [(r, s) for n in range(1, 5) for r in partitions(n) for s in partitions(n) if r >= s]


@define
class PlainMult(Mult):
    """The multiplicative distance without its score: every pair is compared as an exact number."""

    def score(self, pair: Dichotomy) -> None:
        return None


@define
class Upside(Mult):
    """Broken: a score that falls where the divergence grows."""

    def score(self, pair: Dichotomy) -> tuple[int, int] | None:
        top, bottom = super().score(pair) or (0, 0)
        return bottom, top


@define
class OneWay(Mult):
    """Asymmetric: only P against Q."""

    is_symmetric: ClassVar[bool] = False

    def evaluate(self, pair: Dichotomy, *, precision: int = 64) -> Bracket:
        return pair.max_log_ratio(precision=precision)

    def score(self, pair: Dichotomy) -> None:
        return None


def both(mechanism: Any, spec: PrivacySpec, datasets: Any = None) -> Any:
    """The verdict of both walks, which must be equal."""
    fast, plain = (verify(mechanism, spec.replace(output_divergence=d), datasets=datasets) for d in (Mult(), PlainMult()))
    assert fast.universes == plain.universes
    assert fast.witness == plain.witness
    assert (fast.outcome, fast.scope) == (plain.outcome, plain.scope)
    return fast


@pytest.mark.slow
@pytest.mark.parametrize("cls", [DerangementSwapping, PermutationSwapping])
@pytest.mark.parametrize("rate", ["1/4", "3/5"])
def test_both_walks_agree_on_every_small_swapping_universe(cls: type[Swapping], rate: str) -> None:
    refuted = 0
    for margins in MARGINS:
        space, datasets = instance((margins,))
        mechanism = cls(match=("stratum",), swap=("swap",), swap_rate=rate)
        for claim in mechanism.claims(space):
            for budget in (claim.spec.budget, _small()):
                verdict = both(mechanism, claim.spec.replace(budget=budget), datasets)
                refuted += verdict.outcome is Outcome.REFUTED
    assert refuted > 0


def _small() -> Any:
    return bits_spec(epsilon="1/10").budget


@st.composite
def tables(draw: st.DrawFn) -> dict[tuple[int, ...], FiniteLaw]:
    """A law for each of the four datasets of two bits; zeros and equal laws are frequent."""
    laws = {}
    for bits in itertools.product((0, 1), repeat=2):
        weights = draw(st.lists(st.integers(0, 3), min_size=3, max_size=3).filter(any))
        laws[bits] = FiniteLaw.from_weights(dict(enumerate(weights)))
    return laws


@given(tables(), st.sampled_from(["0", "1/2*ln(2)", "ln(2)", "ln(3)", "2", "inf"]), st.booleans())
def test_both_walks_agree_on_any_table(laws: Any, epsilon: str, ordered: bool) -> None:
    both(Toy(lambda x: laws[x]), bits_spec(length=2, epsilon=epsilon, d_x=("hamming-ordered" if ordered else "hamming", {})))


@given(tables())
def test_the_score_grows_with_the_divergence(laws: Any) -> None:
    scored = []
    for left, right in itertools.permutations(laws.values(), 2):
        pair = left.against(right)
        top, bottom = Mult().score(pair) or (0, 1)
        scored.append((top, bottom, Mult().evaluate(pair).lower))
    for (a, b, one), (c, d, two) in itertools.combinations(scored, 2):
        assert (a * d > c * b) == (one > two)
        assert (a * d == c * b) == (one == two)


def test_the_largest_ratio_by_hand() -> None:
    assert FiniteDichotomy((1, 0), (1, 1), 1, 2).largest_ratio()[1] == 0
    assert FiniteDichotomy((1, 1), (1, 0), 2, 1).largest_ratio()[1] == 0
    top, bottom = FiniteDichotomy((3, 1), (1, 3), 4, 4).largest_ratio()
    assert Fraction(top, bottom) == 3


def test_a_score_that_does_not_grow_is_found_out() -> None:
    laws = {(0, 0): "1/2", (0, 1): "1/3", (1, 0): "1/8", (1, 1): "1/2"}
    toy = Toy(lambda x: FiniteLaw.bernoulli(laws[x]))
    assert verify(toy, bits_spec(length=2).replace(output_divergence=PlainMult())).outcome is not Outcome.UNDECIDED
    with pytest.raises(PluginContractError, match="declares score, and that is false"):
        verify(toy, bits_spec(length=2).replace(output_divergence=Upside()))


def test_asymmetric_divergences_compare_both_orders() -> None:
    laws = {(0,): FiniteLaw.of({0: "1/2", 1: "1/2"}), (1,): FiniteLaw.of({0: "1/8", 1: "7/8"})}
    spec = bits_spec(length=1).replace(output_divergence=OneWay())
    verdict = verify(Toy(lambda x: laws[x]), spec)
    assert verdict.universes[0].pairs == 2
    assert verdict.constant.lower == ln(4)
    assert verdict.universes[0].attained == ((0,), (1,))


def test_a_law_is_not_asked_for_where_nothing_is_compared() -> None:
    def law(bits: Any) -> FiniteLaw:
        if bits == (0, 0):
            raise AssertionError("never compared")
        return FiniteLaw.point(0)

    verdict = verify(Toy(law), bits_spec(length=2), datasets=[(1, 1), (0, 1)])
    assert verdict.constant.upper == number(0)
