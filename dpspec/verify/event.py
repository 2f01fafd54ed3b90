"""The event that tells two laws apart best: what a person looks at in a refutation."""

from __future__ import annotations

from fractions import Fraction

from dpspec.exact import Bracket
from dpspec.laws.finite import FiniteLaw
from dpspec.laws.law import Law
from dpspec.verify.verdict import Event


def telling_event(left: Law, right: Law) -> Event | None:
    """The single outcome with the most extreme likelihood ratio, either way, with both its probabilities.

    Outcomes that only one of the two laws can produce come first, the likeliest of them; ties go to the outcome
    whose text is smallest. None for laws that are not finite.

    >>> str(telling_event(FiniteLaw.of({0: "3/4", 1: "1/4"}), FiniteLaw.of({0: "1/2", 1: "1/2"})).text)
    'the outcome 1'
    """
    if not (isinstance(left, FiniteLaw) and isinstance(right, FiniteLaw)):
        return None

    def rank(outcome: object) -> tuple[int, Fraction, str]:
        p, q = sorted((left.probability(outcome), right.probability(outcome)))
        return (0, -q, repr(outcome)) if p == 0 else (1, p / q, repr(outcome))

    outcome = min({*left.support, *right.support}, key=rank)
    return Event(
        text=f"the outcome {outcome}",
        left=Bracket.exactly(left.probability(outcome)),
        right=Bracket.exactly(right.probability(outcome)),
    )
