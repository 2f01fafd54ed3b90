"""Finite laws with probabilities in Q(e^r): randomised response at epsilon = 1, the exponential mechanism.

Likelihood ratios c e^r have the exact logarithm ln(c) + r, so that a claim is decided at equality; every other ratio is
enclosed, as finely as asked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs
from flint import arb

from dpspec.errors import NumericalError
from dpspec.exact import Bracket
from dpspec.laws.atoms import IDENTICAL
from dpspec.laws.balls import BallDichotomy, Cell, Cells
from dpspec.laws.dichotomy import INFINITE, Dichotomy
from dpspec.laws.exponential import Exponential, Weight
from dpspec.laws.exponential import read as read_number
from dpspec.laws.finite import FiniteLaw, Outcome
from dpspec.laws.law import Law, NotALaw
from dpspec.laws.route import AtomicLaw


@attrs.frozen
class ExponentialLaw(AtomicLaw):
    """A law on finitely many outcomes with probabilities in Q(e^r); use `finite_law` to make one."""

    probabilities: tuple[tuple[Outcome, Exponential], ...] = attrs.field(eq=frozenset, hash=False)

    def __hash__(self) -> int:
        return hash(frozenset(self.probabilities))

    @property
    def support(self) -> tuple[Outcome, ...]:
        """The outcomes of positive probability."""
        return tuple(outcome for outcome, _ in self.probabilities)

    def probability(self, outcome: Outcome) -> Exponential:
        """P(outcome), 0 outside the support."""
        return dict(self.probabilities).get(outcome, Exponential())

    def window(self, precision: int) -> Sequence[Outcome]:
        return self.support

    def mass(self, outcome: Outcome, precision: int = 64) -> arb:
        return _positive_ball(dict(self.probabilities).get(outcome), precision)

    def closed_against(self, other: Law) -> Dichotomy | None:
        if isinstance(other, FiniteLaw):
            theirs = {outcome: _exact(p) for outcome, p in other.probabilities()}
        elif isinstance(other, ExponentialLaw):
            theirs = dict(other.probabilities)
        else:
            return None
        mine = dict(self.probabilities)
        if _same(mine, theirs):
            return IDENTICAL
        pairs = [(mine.get(outcome), theirs.get(outcome)) for outcome in dict.fromkeys((*mine, *theirs))]

        def cells(precision: int) -> Cells:
            return tuple(Cell.atom(_positive_ball(p, precision), _positive_ball(q, precision)) for p, q in pairs)

        return BallDichotomy(cells, _top(pairs), _top([(q, p) for p, q in pairs]))


def finite_law(weights: Mapping[Outcome, Weight], *, normalise: bool = False) -> FiniteLaw | ExponentialLaw:
    """The law with these probabilities, rational or in Q(e^r); a `FiniteLaw` when all of them are rational.

    Args:
        weights: an exact probability for every outcome.
        normalise: whether they are only proportional to the probabilities.

    Raises:
        NotALaw: when one is negative, or when they do not sum to exactly 1 and may not be normalised.

    >>> from fractions import Fraction
    >>> from dpspec.laws.exponential import exponential
    >>> law = finite_law({k: exponential(Fraction(score, 2)) for k, score in enumerate([3, 1])}, normalise=True)
    >>> other = finite_law({k: exponential(Fraction(score, 2)) for k, score in enumerate([1, 3])}, normalise=True)
    >>> str(law.against(other).max_log_ratio())
    '1'
    """
    read = {outcome: _exact(weight, f"weight of {outcome!r}") for outcome, weight in weights.items()}
    for outcome, weight in read.items():
        if weight.sign() < 0:
            raise NotALaw(f"weight of {outcome!r}", "must be at least 0", "probabilities are never negative", value=str(weight))
    total = sum(read.values(), Exponential())
    if not total.top or not (normalise or total == 1):
        raise NotALaw("probabilities", "must sum to exactly 1", "write exact numbers, or ask to normalise", value=str(total))
    kept = {outcome: weight / total if normalise else weight for outcome, weight in read.items() if weight.top}
    rationals = {outcome: p.rational() for outcome, p in kept.items()}
    known = {outcome: p for outcome, p in rationals.items() if p is not None}
    return FiniteLaw.of(known) if len(known) == len(kept) else ExponentialLaw(tuple(kept.items()))


def _exact(value: object, subject: str = "probability") -> Exponential:
    found = read_number(value)
    if found is None:
        raise NumericalError(subject, "must be rational or made with `exponential`", value=value)
    return found


def _same(mine: Mapping[Outcome, Exponential], theirs: Mapping[Outcome, Exponential]) -> bool:
    """Whether they are seen to be equal; False as well for numbers that are too long to be compared exactly."""
    try:
        return mine == theirs
    except NumericalError:
        return False


def _positive_ball(value: Exponential | None, precision: int) -> arb:
    """A ball around a probability that excludes 0 exactly where the probability is not 0."""
    if value is None:
        return arb(0)
    found = value.enclose(precision + 32)
    while not found > 0:
        precision *= 2
        found = value.enclose(precision)
    return found


def _top(pairs: Sequence[tuple[Exponential | None, Exponential | None]]) -> Bracket | None:
    """sup ln(p/q) where it is infinite or of the form ln(c) + r, else None: the cells then enclose it as finely as asked."""
    if any(p is not None and q is None for p, q in pairs):
        return INFINITE
    try:
        exact = max(p / q for p, q in pairs if p is not None and q is not None).log()
    except NumericalError:  # the exact form is too long
        return None
    return None if exact is None else Bracket.exactly(exact)
