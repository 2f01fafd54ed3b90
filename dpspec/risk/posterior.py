"""What one released outcome does to an attacker's belief, exactly (B-D26, B-T4 to B-T8).

For a prior pi over datasets, a secret (a set of datasets, such as "record 1 is a 1") and an outcome t of a finite law:

    LR(t)       = Pr(t | secret) / Pr(t | not secret),        theta = pi(secret),
    C_theta(t)  = pi(secret | t) / pi(secret) = LR / (LR theta + 1 - theta).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from fractions import Fraction

from dpspec.blocks.space import Dataset, DatasetSpace
from dpspec.errors import ParameterError
from dpspec.laws.finite import FiniteLaw
from dpspec.mechanism import Mechanism

Prior = Mapping[Dataset, Fraction]
Secret = Callable[[Dataset], bool]


def relative_risk(likelihood_ratio: Fraction, theta: Fraction) -> Fraction:
    """C_theta = LR / (LR theta + 1 - theta): the factor by which the belief in the secret grows.

    At theta = 0 it is the limit LR, its extreme value (B-S18).

    >>> relative_risk(Fraction(3), Fraction(1, 4))
    Fraction(2, 1)
    """
    if not 0 <= theta <= 1 or likelihood_ratio < 0:
        raise ParameterError("theta", "must lie in [0, 1], and the likelihood ratio must not be negative", value=theta)
    return likelihood_ratio / (likelihood_ratio * theta + 1 - theta)


def likelihood(mechanism: Mechanism, space: DatasetSpace, prior: Prior, secret: Secret, outcome: Hashable) -> Fraction:
    """Pr(T = outcome | secret), averaged over the prior given the secret.

    Raises:
        ParameterError: when the prior gives the secret no mass, or the law is not finite.
    """
    held = {x: mass for x, mass in prior.items() if secret(x) and mass}
    if not held:
        raise ParameterError("prior", "gives the secret no mass, so nothing can be conditioned on it (B-S18)")
    return sum((mass * _probability(mechanism, space, x, outcome) for x, mass in held.items()), Fraction(0)) / sum(held.values())


def likelihood_ratio(mechanism: Mechanism, space: DatasetSpace, prior: Prior, secret: Secret, outcome: Hashable) -> Fraction:
    """LR(t) of a secret against its contrary; raises ParameterError where the contrary rules the outcome out."""
    against = likelihood(mechanism, space, prior, lambda x: not secret(x), outcome)
    if not against:
        raise ParameterError("outcome", "cannot happen when the secret is false: the ratio is infinite", value=outcome)
    return likelihood(mechanism, space, prior, secret, outcome) / against


def _probability(mechanism: Mechanism, space: DatasetSpace, dataset: Dataset, outcome: Hashable) -> Fraction:
    law = mechanism.law(dataset, space)
    if not isinstance(law, FiniteLaw):
        raise ParameterError("law", "must be finite for an exact posterior", value=type(law).__name__)
    return law.probability(outcome)
