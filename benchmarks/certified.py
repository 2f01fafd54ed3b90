"""How fast certified numerics are, against their targets.

    python benchmarks/certified.py [--write benchmarks/certified.json]

Every line is the best of several runs on this machine with cold caches, and its target.
"""

from __future__ import annotations

import math
import sys
from fractions import Fraction
from typing import Any

from dpspec_divergences import AddRemove, MultDelta, Neighbour
from timing import Case, run

from dpspec.blocks.budget import UniformBudget
from dpspec.blocks.lists import ValueLists
from dpspec.blocks.multiverse import Trivial
from dpspec.grammar.mechanism import Mechanism
from dpspec.grammar.spec import PrivacySpec
from dpspec.laws import GaussianLaw, enclosed as quadrature
from dpspec.laws.enclosed import IntegralLaw, first_above
from dpspec.verifier.entry import verify_claim
from dpspec.verifier.verdict import Outcome

CLASSIC = Fraction(math.sqrt(2 * math.log(1250)) / 10) ** 2
"""The variance of the classic Gaussian calibration at epsilon = 10, delta = 1/1000, as its double."""


def classic_gaussian() -> str:
    """P16: delta(10) of the classic calibration at epsilon = 10, where 1/1000 is claimed."""
    spent = GaussianLaw(0, CLASSIC).against(GaussianLaw(1, CLASSIC)).hockey_stick(10, precision=64)
    assert spent.lower > Fraction(1, 1000)  # noqa: S101
    return f"delta(10) = {spent}: refuted"


class Classic(Mechanism):
    """The number of records with the noise of the classic calibration."""

    name = "classic-gaussian"

    def law(self, dataset: Any, space: Any) -> GaussianLaw:
        return GaussianLaw(len(dataset), CLASSIC)


def classic_claim() -> str:
    """P16 as a claim through the one entry: up to one record, every pair."""
    spec = PrivacySpec(
        space=ValueLists(values=(0,), least=0, most=1, ordered=False),
        multiverse=Trivial(),
        input_divergence=Neighbour(relation=AddRemove()),
        output_divergence=MultDelta(delta="1/1000"),
        budget=UniformBudget(parameter="epsilon", value=10),
    )
    verdict = verify_claim(Classic(), spec)
    assert verdict.outcome is Outcome.REFUTED  # noqa: S101
    return f"epsilon at 1/1000 = {verdict.constant}: refuted"


def sparse_vector() -> str:
    """P37: the loss of sparse vector, variant 4, from its densities: all outcomes, both ways, one pair."""
    quadrature._mass.cache_clear()
    left, right = _variant_four((4, 4, 4, 4, 2)), _variant_four((3, 3, 3, 3, 3))
    ways = [one.against(two).max_log_ratio(precision=64) for one, two in ((left, right), (right, left))]
    loss = max(ways, key=lambda bracket: float(bracket.lower))
    width = float((loss.upper.enclose(128) - loss.lower.enclose(128)).upper())
    assert width < 1e-15  # noqa: S101
    return f"loss = {float(loss.lower):.16g}, width {width:.1e}"


def long_sparse_vector() -> str:
    """The same for 40 queries, 41 outcomes."""
    quadrature._mass.cache_clear()
    left, right = _variant_four((4,) * 39 + (2,)), _variant_four((3,) * 40)
    return f"loss = {right.against(left).max_log_ratio(precision=64)}"


def _variant_four(answers: tuple[int, ...]) -> IntegralLaw:
    return first_above(answers, threshold=0, threshold_scale=4, query_scale="4/3")


CASES: tuple[Case, ...] = (
    (classic_gaussian, 0.01, 20),
    (classic_claim, 0.01, 20),
    (sparse_vector, 1, 5),
    (long_sparse_vector, 10, 2),
)

if __name__ == "__main__":
    sys.exit(run(CASES, __doc__, ("dpspec", "dpspec-divergences", "python-flint")))
