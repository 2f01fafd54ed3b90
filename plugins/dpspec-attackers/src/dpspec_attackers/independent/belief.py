"""Exact Bayes for an attacker who is unsure whether a target is in the data, with which value, and about the others (Z-D28 to
Z-D32).

A belief is a probability of (record, others), the record being None when the target is not included. Assumption 2 (Z-D30) asks
that the others have one law given every (record, included) and given that the target is not included; without it the risk has
no bound that depends on epsilon alone. Assumption 1 (Z-D29), that the attacker knows the mechanism, is built in.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from fractions import Fraction

import attrs

from dpspec.errors import CertainTargetError, PriorError
from dpspec.laws.finite import FiniteLaw

Place = tuple[Hashable, Hashable]
"""(record, others); the record is None when the target is not included."""
Laws = Callable[[Hashable, Hashable], FiniteLaw]
"""(record, others) -> P_x, the law of the release."""


@attrs.frozen
class Belief:
    """A prior of the target's record and the others.

    >>> belief = Belief.independent({1: Fraction(1, 2), 0: Fraction(1, 2)}, {(): Fraction(1)}, Fraction(1, 3))
    >>> belief.inclusion, belief.value({1}), belief.is_independent
    (Fraction(1, 3), Fraction(1, 2), True)

    Raises:
        PriorError: when the probabilities do not sum to 1 or one is negative.
    """

    masses: Mapping[Place, Fraction]

    def __attrs_post_init__(self) -> None:
        total = sum(self.masses.values(), Fraction(0))
        if total != 1 or any(mass < 0 for mass in self.masses.values()):
            raise PriorError("belief", "must be probabilities that sum to 1", "scale them", value=f"sum {total}")

    @classmethod
    def independent(cls, values: Mapping[Hashable, Fraction], others: Mapping[Hashable, Fraction], inclusion: Fraction) -> Belief:
        """The belief with given laws of the value and of the others, which obeys Z-D30."""
        inside = {(y, o): inclusion * v * m for y, v in values.items() for o, m in others.items()}
        return cls({**inside, **{(None, o): (1 - inclusion) * m for o, m in others.items()}})

    @property
    def inclusion(self) -> Fraction:
        """p = P(included)."""
        return sum((mass for (record, _), mass in self.masses.items() if record is not None), Fraction(0))

    def value(self, secret: set[Hashable]) -> Fraction:
        """q = P(value in S, if included)."""
        return self._secret(secret) / self.inclusion

    @property
    def is_independent(self) -> bool:
        """Whether Z-D30 holds: given any record, and given none, the others have one law."""
        laws: dict[Hashable, dict[Hashable, Fraction]] = {}
        for (record, others), mass in self.masses.items():
            if mass:
                laws.setdefault(record, {})[others] = mass
        scaled = [{o: m / sum(law.values()) for o, m in law.items()} for law in laws.values()]
        return all(law == scaled[0] for law in scaled)

    def likelihood(self, laws: Laws, outcome: Hashable, given: Callable[[Hashable], bool]) -> Fraction:
        """P(outcome | the record fulfils a condition), None being no record.

        Raises:
            CertainTargetError: when the condition has no probability.
        """
        held = {place: mass for place, mass in self.masses.items() if mass and given(place[0])}
        weight = sum(held.values(), Fraction(0))
        if not weight:
            raise CertainTargetError("belief", "gives a condition no probability, so nothing can be conditioned on it")
        return sum((mass * laws(*place).probability(outcome) for place, mass in held.items()), Fraction(0)) / weight

    def posterior(self, laws: Laws, secret: set[Hashable], outcome: Hashable) -> Fraction:
        """a = P(value in S and included | outcome) (Z-D6)."""
        seen = sum((mass * laws(*place).probability(outcome) for place, mass in self.masses.items() if mass), Fraction(0))
        if not seen:
            raise CertainTargetError("outcome", "cannot happen under this belief", value=outcome)
        return self._secret(secret) * self.likelihood(laws, outcome, lambda record: record in secret) / seen

    def relative_risk(self, laws: Laws, secret: set[Hashable], outcome: Hashable) -> Fraction:
        """r = posterior / prior of "value in S and included" (Z-D5)."""
        prior = self._secret(secret)
        if not 0 < prior < 1:
            raise CertainTargetError("belief", "is certain about the secret before any release", value=str(prior))
        return self.posterior(laws, secret, outcome) / prior

    def _secret(self, secret: set[Hashable]) -> Fraction:
        return sum((mass for (record, _), mass in self.masses.items() if record in secret), Fraction(0))
