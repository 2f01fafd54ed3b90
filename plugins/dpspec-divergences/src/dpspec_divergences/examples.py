"""Small specifications for documentation and tests."""

from __future__ import annotations

from dpspec.plugin import BitVectors, PrivacySpec, Trivial, UniformBudget, exact, number
from dpspec_divergences.counting import HammingOrdered
from dpspec_divergences.output import DNor, Mult


def zcdp_spec(*, rho: exact.NumberLike) -> PrivacySpec:
    """rho-zCDP of three bits, one per person.

    >>> str(zcdp_spec(rho="2.63").budget)
    'rho = 263/100'
    """
    return PrivacySpec(
        space=BitVectors(length=3),
        multiverse=Trivial(),
        input_divergence=HammingOrdered(),
        output_divergence=DNor(),
        budget=UniformBudget(parameter="rho", value=number(rho)),
    )


def pure_spec(*, epsilon: exact.NumberLike) -> PrivacySpec:
    """epsilon-DP of three bits, one per person.

    >>> pure_spec(epsilon=1).output_divergence.name
    'mult'
    """
    return zcdp_spec(rho=0).replace(output_divergence=Mult(), budget=UniformBudget(parameter="epsilon", value=number(epsilon)))
