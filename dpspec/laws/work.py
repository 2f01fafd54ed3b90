"""The work of a law, in units that do not depend on the machine: searches are limited by it, and never by the clock."""

from __future__ import annotations

from collections.abc import Sequence

from dpspec.laws.law import Law, OutputValue

WORK_OF_A_LAW = 100
"""Units of work of any law that is computed; see `work_of`."""


def work_of(law: Law) -> int:
    """The amount of work to compute a law and to compare it: `WORK_OF_A_LAW`, and one unit for each answer of each outcome.

    Units do not depend on the machine. A law whose outcomes are not listed is compared in closed form, and counts as one outcome.

    >>> from dpspec.laws.law import FiniteLaw
    >>> work_of(FiniteLaw.uniform([(0, 1, 2), (0, 1, 3)]))
    109
    """
    outcomes = _listed(law)
    answers = len(outcomes[0]) if outcomes and isinstance(outcomes[0], tuple) else 1
    return WORK_OF_A_LAW + answers * (1 + len(outcomes))


def size_of(law: Law) -> int:
    """The number of outcomes that are enumerated when a law is compared with another one; those of equal factors once.

    >>> from dpspec.laws.law import FiniteLaw
    >>> size_of(FiniteLaw.bernoulli("1/2"))
    3
    """
    factors = {id(factor): factor for factor in law.factors()}
    return 1 + sum(len(_listed(factor)) for factor in factors.values())


def _listed(law: Law) -> Sequence[OutputValue]:
    """The outcomes of a law that lists them."""
    listed = getattr(law, "support", ())
    return listed if isinstance(listed, Sequence) else ()
