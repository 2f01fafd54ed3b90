r"""Ablation: what each block of a specification contributes to the budget that a mechanism needs.

A specification A becomes B by exchanging blocks: space, multiverse, input divergence, output divergence. For each set S of
exchanged blocks let c(S) be the least Lipschitz constant of the mechanism,

    c(S) = sup d_Pr(P_x, P_x') / d_X(x, x')    over all x, x' of a common universe at finite non-zero distance,

with the blocks in S taken from B and the others from A. c of the empty set is what `verify` finds for A, c of all blocks what it
finds for B. The factor of a block b is c(S + b) / c(S); it depends on what was exchanged before, so it is given over all orders
in which every step is a specification that fits the mechanism. Constants of different output divergences are no multiples of each
other; there the steps are compared by the largest power at 5 % of a test between two datasets at distance 1 that the constant
allows.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction

import attrs

from dpspec.base.errors import DpspecError, Faults, IncompatibleBlocksError
from dpspec.base.exact import INFINITY, Bracket, Number, number
from dpspec.blocks.budget import UniformBudget
from dpspec.blocks.space import Dataset
from dpspec.grammar.mechanism import Mechanism
from dpspec.grammar.spec import PrivacySpec
from dpspec.risks.attack_bounds import power_at_step
from dpspec.verifier.measure import FINITE
from dpspec.verifier.mechanisms import judged
from dpspec.verifier.verdict import Outcome

BLOCKS = ("space", "multiverse", "input_divergence", "output_divergence")
"""The blocks that are exchanged; the budget is the quantity to be computed."""

LEVEL = Fraction(1, 20)
"""The level of the test whose power compares steps in different standards."""

_PRECISION = 96


@attrs.frozen(kw_only=True)
class AblationStep:
    """The mechanism under the blocks of A and B, some of them exchanged.

    Args:
        exchanged: the blocks that are those of B, in the order of `BLOCKS`.
        spec: the specification; its budget is infinite.
        parameter: the name of the budget.
        constant: the least Lipschitz constant; None where nothing was decided.
        power: the largest power at `LEVEL` that the constant allows between datasets at distance 1; None where it is not known.
        pair: for an infinite constant, two datasets that show it.
        is_vacuous: whether no universe has two datasets at a finite distance, so that every mechanism satisfies any budget.
        reason: why nothing was decided or is required, or why the blocks do not fit; empty otherwise.
    """

    exchanged: tuple[str, ...]
    spec: PrivacySpec | None
    parameter: str = ""
    constant: Bracket | None = None
    power: Bracket | None = None
    pair: tuple[Dataset, Dataset] | None = None
    is_vacuous: bool = False
    reason: str = ""

    @property
    def fits(self) -> bool:
        """Whether the blocks make a specification that fits the mechanism."""
        return self.spec is not None

    def budget(self) -> Bracket | None:
        """The least budget, in units of `parameter`."""
        if self.spec is None or self.constant is None:
            return None
        to = self.spec.output_divergence.budget_for
        return Bracket(lower=to(self.parameter, self.constant.lower), upper=to(self.parameter, self.constant.upper))


@attrs.frozen(kw_only=True)
class BlockFactor:
    """The contribution of one block, over all orders in which every step fits.

    Args:
        block: the block.
        smallest, largest: the factors by which its exchange multiplies the constant, as (lower end, upper end) each; None where
            the output divergence is exchanged, or a constant is zero, infinite or not known.
        mean: the geometric mean over the orders, about.
    """

    block: str
    smallest: tuple[float, float] | None
    largest: tuple[float, float] | None
    mean: float | None


@attrs.frozen(kw_only=True)
class Ablation:
    """The answer.

    Args:
        names: the names of A and B.
        mechanism: the mechanism that is evaluated.
        differing: the blocks in which A and B differ.
        steps: a step for each set of exchanged blocks, the smaller sets first.
        orders: the orders in which every step fits.
        factors: what each block contributes.
    """

    names: tuple[str, str]
    mechanism: Mechanism
    differing: tuple[str, ...]
    steps: tuple[AblationStep, ...]
    orders: tuple[tuple[str, ...], ...]
    factors: tuple[BlockFactor, ...]

    @property
    def exit_code(self) -> int:
        """0 where every step that fits is decided, else 3."""
        return 3 if any(step.fits and step.constant is None and not step.is_vacuous for step in self.steps) else 0


def ablate(left: PrivacySpec, right: PrivacySpec, mechanism: Mechanism, names: tuple[str, str] = ("A", "B")) -> Ablation:
    """The contribution of each block to the budget that a mechanism needs, from one specification to another.

    Args:
        left, right: A and B.
        mechanism: the mechanism, which has to fit both.
        names: what they are called.

    Raises:
        IncompatibleBlocksError: there is no order in which every step fits; the reason of one that does not is given.
    """
    differing = tuple(block for block in BLOCKS if getattr(left, block) != getattr(right, block))
    sets = [chosen for size in range(len(differing) + 1) for chosen in itertools.combinations(differing, size)]
    steps = {frozenset(chosen): _step(left, right, chosen, mechanism) for chosen in sets}
    orders = tuple(
        order
        for order in itertools.permutations(differing)
        if all(steps[frozenset(order[:done])].fits for done in range(len(order) + 1))
    )
    if not orders:
        rule = next(step.reason for step in steps.values() if not step.fits)
        raise IncompatibleBlocksError("blocks", f"cannot be exchanged one at a time in any order ({rule})")
    factors = tuple(_factor(block, orders, steps) for block in differing)
    return Ablation(
        names=names, mechanism=mechanism, differing=differing, steps=tuple(steps.values()), orders=orders, factors=factors
    )


def _step(left: PrivacySpec, right: PrivacySpec, chosen: tuple[str, ...], mechanism: Mechanism) -> AblationStep:
    blocks = {block: getattr(right if block in chosen else left, block) for block in BLOCKS}
    parameter = blocks["output_divergence"].budget_parameters[0]
    try:
        spec = PrivacySpec(**blocks, budget=UniformBudget(parameter=parameter, value=INFINITY))
        mechanism.check(spec.space)
    except (DpspecError, Faults) as fault:
        return AblationStep(exchanged=chosen, spec=None, reason=str(fault))
    verdict = judged(mechanism, spec)
    if verdict.universes and len(verdict.vacuous) == len(verdict.universes):
        reason = "every mechanism satisfies any budget: no universe has two datasets at a finite distance"
        return AblationStep(exchanged=chosen, spec=spec, parameter=parameter, is_vacuous=True, reason=reason)
    if verdict.outcome is Outcome.UNDECIDED:
        return AblationStep(exchanged=chosen, spec=spec, parameter=parameter, reason=verdict.reason or "undecided")
    constant, pair = verdict.constant, None
    if constant.upper.is_infinite:
        finite = judged(mechanism, spec.replace(budget=UniformBudget(parameter=parameter, value=number(FINITE))))
        if finite.witness is None or not finite.witness.divergence.lower.is_infinite:
            reason = finite.reason or "no finite bound is known"
            return AblationStep(exchanged=chosen, spec=spec, parameter=parameter, reason=reason)
        pair = finite.witness.left, finite.witness.right
    return AblationStep(
        exchanged=chosen, spec=spec, parameter=parameter, constant=constant, pair=pair, power=_power(spec, constant)
    )


def _power(spec: PrivacySpec, constant: Bracket) -> Bracket | None:
    try:
        low, high = (power_at_step(spec, end, LEVEL) for end in (constant.lower, constant.upper))
    except DpspecError:
        return None
    return Bracket(lower=low.lower, upper=high.upper)


def _factor(block: str, orders: Sequence[tuple[str, ...]], steps: dict[frozenset[str], AblationStep]) -> BlockFactor:
    found = []
    for order in orders:
        before = frozenset(order[: order.index(block)])
        found.append(None if block == "output_divergence" else _ratio(steps[before], steps[before | {block}]))
    ratios = [ratio for ratio in found if ratio is not None]
    if len(ratios) < len(found):
        return BlockFactor(block=block, smallest=None, largest=None, mean=None)
    mean = math.exp(sum(math.log(low * high) / 2 for low, high in ratios) / len(ratios))
    lows, highs = zip(*ratios, strict=True)
    return BlockFactor(block=block, smallest=(min(lows), min(highs)), largest=(max(lows), max(highs)), mean=mean)


def _ratio(before: AblationStep, after: AblationStep) -> tuple[float, float] | None:
    """c(S + b) / c(S) between two doubles; None where it is no positive number."""
    if before.constant is None or after.constant is None or before.constant.lower == 0 or after.constant.lower == 0:
        return None
    if before.constant.upper.is_infinite or after.constant.upper.is_infinite:
        return None
    return _quotient(after.constant.lower, before.constant.upper)[0], _quotient(after.constant.upper, before.constant.lower)[1]


def _quotient(above: Number, below: Number) -> tuple[float, float]:
    """A quotient of two positive numbers, between two doubles."""
    enclosed = above.enclose(_PRECISION) / below.enclose(_PRECISION)
    return math.nextafter(float(enclosed.lower()), 0), math.nextafter(float(enclosed.upper()), math.inf)
