"""The event that tells two laws apart best: what a person looks at in a refutation."""

from __future__ import annotations

from fractions import Fraction

from dpspec.exact import Bracket
from dpspec.laws.enclosed import EnclosedLaw
from dpspec.laws.exponential import Exponential
from dpspec.laws.exponential_law import ExponentialLaw
from dpspec.laws.finite import FiniteLaw, Outcome
from dpspec.laws.law import Law
from dpspec.verify.verdict import Event

Listed = FiniteLaw | ExponentialLaw | EnclosedLaw


def telling_event(left: Law, right: Law, *, both_ways: bool = True) -> Event | None:
    """The single outcome with the most extreme likelihood ratio, with both its probabilities: either way, or left over right.

    Outcomes that only one of the two laws can produce come first, the likeliest of them; ties go to the outcome
    whose text is smallest. None for laws whose outcomes are not listed.

    >>> str(telling_event(FiniteLaw.of({0: "3/4", 1: "1/4"}), FiniteLaw.of({0: "1/2", 1: "1/2"})).text)
    'the outcome 1'
    """
    if not isinstance(left, Listed) or not isinstance(right, Listed):
        return None
    laws = left, right

    def rank(outcome: Outcome) -> tuple[int, Fraction | Exponential, str]:
        q, p = (_weight(law, outcome) for law in laws)
        if both_ways:
            p, q = sorted((p, q))
        if q == 0:
            return 2, p, repr(outcome)
        return (0, -q, repr(outcome)) if p == 0 else (1, p / q, repr(outcome))

    outcome = min({*left.support, *right.support}, key=rank)
    return Event(text=f"the outcome {outcome}", left=_probability(left, outcome), right=_probability(right, outcome))


def _weight(law: Listed, outcome: Outcome) -> Fraction | Exponential:
    """The probability, or the middle of its enclosure."""
    if isinstance(law, EnclosedLaw):
        return sum(law.bounds.get(outcome, (Fraction(0),) * 2), Fraction(0)) / 2
    return law.probability(outcome)


def _probability(law: Listed, outcome: Outcome) -> Bracket:
    found = _weight(law, outcome)
    if isinstance(law, EnclosedLaw):
        low, high = law.bounds.get(outcome, (Fraction(0), Fraction(0)))
        return Bracket(lower=Bracket.exactly(low).lower, upper=Bracket.exactly(min(high + law.rest, Fraction(1))).upper)
    constant = found.rational() if isinstance(found, Exponential) else found
    if constant is not None:
        return Bracket.exactly(constant)
    return Bracket.around(law.mass(outcome), least=0)
