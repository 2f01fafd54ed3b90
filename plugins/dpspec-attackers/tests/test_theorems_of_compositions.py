"""Theorems about several releases over random worlds: adaptive composition, the formulas for many, and from rho to epsilon."""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest
from dpspec_attackers.membership import Releases, total
from dpspec_divergences import DNor, MultDelta
from hypothesis import assume, strategies as st

from dpspec import installed
from dpspec.base.exact import ln
from dpspec.grammar.rule import Conversion
from tests.risk.theorems import (
    RATIOS,
    SHARES,
    both,
    excess,
    exponential,
    in_worlds,
    joint,
    laws,
    moment,
    pairs,
    stages,
    theorem,
    top,
)

CONVERSIONS = [rule for rule in installed().registry.classes("rules") if issubclass(rule, Conversion)]

TO_APPROXIMATE = {cls.name: cls() for cls in CONVERSIONS}["zcdp-to-approximate"]


def concentration(pair):
    """The least rho of the pair in this order, enclosed."""
    return laws(pair)[0].against(laws(pair)[1]).concentration()


# -- adaptive composition -------------------------------------------------------------------------


@theorem("K-T15", "K-T16", "Z-T25", worlds=stages(), ratios=st.tuples(RATIOS, RATIOS))
def basic_composition(worlds, ratios):
    """epsilons add and deltas add, though the second mechanism is chosen by what the first said."""
    first, later = worlds
    together = joint(first, later)
    for one, whole, rest in zip(both(first), both(together), zip(*map(both, later), strict=True), strict=True):
        spent = excess(one, ratios[0]) + max(excess(pair, ratios[1]) for pair in rest)
        assert excess(whole, ratios[0] * ratios[1]) <= spent
        tops = [top(pair) for pair in rest]
        if top(one) is not None and None not in tops:
            assert top(whole) <= top(one) * max(tops)


@theorem("K-T14", "Z-T26", worlds=stages(1))
def renyi_composition(worlds):
    """gamma adds at each order, and rho."""
    first, later = worlds
    together = joint(first, later)
    for order in (2, 3):
        assert moment(together, order) <= moment(first, order) * max(moment(pair, order) for pair in later)
    spent = concentration(first).upper.enclose(96) + max(concentration(pair).upper for pair in later).enclose(96)
    assert not concentration(together).lower.enclose(96) > spent


# -- many releases of one kind --------------------------------------------------------------------


@theorem("Z-T25", "Z-P12", "K-T16", pair=pairs(size=3), ratio=RATIOS, times=st.integers(2, 4), slack=SHARES)
def composition_by_formula(pair, ratio, times, slack):
    """Advanced composition in both readings, and the optimal one on its lattice and between: what each says is kept."""
    delta = max(excess(way, ratio) for way in both(pair))
    allowed = times * delta + slack
    assume(allowed < 1)
    releases = Releases(times=times, epsilon=ln(ratio), delta_each=delta, delta=allowed)
    together = pair
    for _ in range(times - 1):
        together = joint(together, [pair] * len(together[0]))
    for method in ("advanced", "advanced-dwork", "optimal", "optimal-lattice"):
        spent = total(releases, method).upper
        if not spent.is_infinite:
            above = exponential(spent)[1]
            assert max(excess(way, above) for way in both(together)) <= allowed, method


# -- from one budget to another -------------------------------------------------------------------


@theorem("Z-T1", "Z-T24", pair=pairs(1), delta=SHARES)
def concentrated_privacy_is_approximate(pair, delta):
    """(rho + 2 sqrt(rho ln(1/delta)), delta), with the least rho of both orders."""
    rho = max(concentration(way).upper for way in both(pair))
    if rho > 0:
        spent = TO_APPROXIMATE.convert(DNor(), rho, MultDelta(delta=delta)).upper
        assert max(excess(way, exponential(spent)[1]) for way in both(pair)) <= delta


@theorem("Z-T1", "Z-T24", "K-T14", pair=pairs(1))
def pure_privacy_is_concentrated(pair):
    """rho = epsilon tanh(epsilon/2), which is at most epsilon^2/2; order by order, and as the supremum over all orders."""
    ratio = max(top(way) for way in both(pair))
    rho = ln(ratio) * ((ratio - 1) / (ratio + 1))
    for way in both(pair):
        assert concentration(way).lower <= rho
        for order in (2, 3):
            assert ln(moment(way, order)) <= rho * order * (order - 1)


@theorem("Z-T25", "K-T15", pair=pairs(1, size=3), other=pairs(1, size=3))
def the_order_of_releases_does_not_matter(pair, other):
    """What composition is about is the product law: its excess at any loss is that of the product the other way round."""
    one, two = joint(pair, [other] * len(pair[0])), joint(other, [pair] * len(other[0]))
    for a, b in itertools.product((1, 2, 5), (1, 3)):
        assert excess(one, Fraction(a, b)) == excess(two, Fraction(a, b))
        assert excess(one, Fraction(a, b)) >= excess(pair, Fraction(a, b))


THEOREMS = (
    basic_composition, renyi_composition, composition_by_formula, concentrated_privacy_is_approximate,
    pure_privacy_is_concentrated, the_order_of_releases_does_not_matter,
)  # fmt: skip


@pytest.mark.spread(3)
@pytest.mark.parametrize(("declared", "count"), in_worlds(*THEOREMS, slow=[renyi_composition]))
def test_in_random_worlds(declared, count):
    declared.check(count)
