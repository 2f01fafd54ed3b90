"""What each of two promises leaves to one attacker, on the datasets that a common yardstick compares."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import attrs

from dpspec.exact import Bracket, Number
from dpspec.risk.allowed import allowed_power
from dpspec.rules.budgets import constant_of
from dpspec.spec import PrivacySpec
from dpspec.yardstick.yardstick import Side, Yardstick

LEVEL = Fraction(1, 20)
"""Five false alarms in a hundred."""


@attrs.frozen(kw_only=True)
class Attack:
    """One promise against an attacker who tests two datasets at distance 1.

    Args:
        spec: the promise in the common universes and distance, in its own output divergence: nothing is lost by conversion.
        power: the largest power of a test of the level, over all mechanisms that keep it; None where the budget is no number.
        loss: the largest |ln| of a likelihood ratio, by e to which posterior odds may differ from prior odds; None when
            the promise bounds none.
    """

    spec: PrivacySpec
    power: Bracket | None
    loss: Number | None


def attacks(found: Sequence[Yardstick], level: Fraction = LEVEL) -> tuple[tuple[Attack, Attack], ...]:
    """For each input divergence of a common yardstick, what the two sides leave to the attacker there."""
    first = {one.spec.input_divergence: one for one in reversed([one for one in found if one.is_common])}
    return tuple((_attack(one.left, level), _attack(one.right, level)) for one in reversed(first.values()))


def _attack(side: Side, level: Fraction) -> Attack:
    chain = [side.derivation.premise, *(step.after for step in side.derivation.steps)]
    spec = next(one for one in reversed(chain) if one.output_divergence == side.derivation.premise.output_divergence)
    constant = constant_of(spec)
    if constant is None:
        return Attack(spec=spec, power=None, loss=None)
    divergence = spec.output_divergence
    return Attack(spec=spec, power=allowed_power(divergence, constant, level), loss=divergence.largest_loss(constant))
