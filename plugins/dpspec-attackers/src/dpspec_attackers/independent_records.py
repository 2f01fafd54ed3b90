"""The attacker with independent records: unsure about inclusion, value and the others, who are independent of the target
(Kazan 2025, Section 3.2.1).

Bayes is exact for this attacker, who is unsure whether a target is in the data, with which value, and about the others (Kazan
2025, chapter 3).

A belief is a probability of (record, others), the record being None when the target is not included. Assumption 2 (Kazan 2025)
requires that the others have one law given every (record, included) and given that the target is not included; without it the
risk has no bound that depends on epsilon alone. Assumption 1 (Kazan 2025), that the attacker knows the mechanism, is built in.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping
from fractions import Fraction
from functools import partial
from typing import Annotated, ClassVar

import attrs

from dpspec.plugin import (
    AttackerModel,
    Bracket,
    Dataset,
    FiniteLaw,
    Mechanism,
    Number,
    PrivacySpec,
    Rational,
    RiskStatement,
    Sense,
    define,
    errors,
    risks,
)
from dpspec_attackers.membership.strong import (
    inclusion_candidates,
    inclusion_pairs,
    replacement_candidates,
    replacement_pairs,
    value_pairs,
)
from dpspec_attackers.numeric import fmpq_of, in_decay
from dpspec_attackers.profiles.profile import INDEPENDENCE, risk_bound
from dpspec_attackers.semantics import loss_bound, said

LawFamily = tuple[FiniteLaw | None, tuple[FiniteLaw, ...], int]
"""For the same others: the law without the target (None when it is certainly included), and the laws with each of its values."""

Likelihoods = tuple[tuple[int, ...], tuple[int, ...]]
"""The probability of an outcome by each of these laws, as a weight and a total, and that without the target."""


@define
class IndependentRecord(AttackerModel):
    """An attacker who believes with probability p that the target is in the data, and then with q that its value lies in a set S.

    The relative risk, posterior by prior of "included, with a value in S", is at most 1/(p q + p (1 - q) e^(-2 epsilon) +
    (1 - p) e^(-epsilon)) for pure privacy with records added or removed (Kazan 2025, Theorem 4), for every S and every outcome.
    Where all have one size, only p = 1 is possible, and the bound is 1/(q + (1 - q) e^-epsilon) with the epsilon of a replaced
    record.

    Args:
        inclusion: p, the probability with which the record is in the data, in (0, 1].
        value: q, the probability of its value given that it is in, in (0, 1]; p and q are not both 1.

    >>> from dpspec_divergences.routes import pure_spec
    >>> [str(said.value) for said in IndependentRecord(value="1/2").worst_case(pure_spec(epsilon="ln(3)"))]
    ['3/2', '3/4']
    """

    name: ClassVar[str] = "independent-record"
    title: ClassVar[str] = "unsure about inclusion and value, with others that are independent of the target"
    knowledge: ClassVar[str] = (
        "a prior of inclusion, a prior of the value, and any belief about the others that is independent of both"
    )
    target: ClassVar[str] = "whether the target is in the data with a value in a set S"
    observation: ClassVar[str] = "the whole release"
    assumption: ClassVar[str] = INDEPENDENCE
    source: ClassVar[str] = "Kazan 2025, Section 3.2, Lemma 3 and Theorem 4"
    in_panel: ClassVar[bool] = True

    inclusion: Annotated[Fraction, Rational(0, 1, open_low=True)] = Fraction(1)
    value: Annotated[Fraction, Rational(0, 1, open_low=True)] = Fraction(1, 2)

    def __attrs_post_init__(self) -> None:
        if self.inclusion * self.value == 1:
            raise errors.CertainTargetError("value", "is 1 and so is inclusion: nothing is left to learn", value="1")

    def worst_case(self, spec: PrivacySpec) -> tuple[RiskStatement, ...]:
        found, is_replaced = self._candidates(spec)
        return found.stated(partial(self._allowed, spec, is_replaced))

    def _allowed(self, spec: PrivacySpec, is_replaced: bool, bound: Number) -> tuple[RiskStatement, ...]:
        loss = loss_bound(spec.output_divergence, bound)
        theorem = (
            "Kazan 2025, Theorem 4" if not loss.is_infinite else "no posterior exceeds 1: without pure privacy nothing follows"
        )
        if is_replaced:
            q, rest = fmpq_of(self.value), fmpq_of(1 - self.value)
            risk = in_decay(loss, lambda y: 1 / (q + rest * y))
            return self._said(Sense.AT_MOST, risk, f"{theorem} with a replaced record")
        return self._said(Sense.AT_MOST, risk_bound(self.inclusion, self.value, loss), theorem)

    def _candidates(self, spec: PrivacySpec) -> tuple[risks.Candidates, bool]:
        """With and without the record, or, where only p = 1 makes sense, with another record in its place.

        The way from one value to another leads through the data without the record; where what is published bars it, the two
        values are compared directly.
        """
        try:
            found = inclusion_candidates(spec)
        except errors.AttackerMisfitError:
            if self.inclusion != 1:
                raise
            return replacement_candidates(spec), True
        if self.inclusion == 1 and not found.is_plain:
            return replacement_candidates(spec), True
        return found, False

    def under(self, mechanism: Mechanism, spec: PrivacySpec) -> tuple[RiskStatement, ...]:
        """The largest risk over all S, all outcomes and all beliefs with these p and q, by exact Bayes.

        1/r is linear over linear in the belief about the others, so that a sure belief about them is worst; and a single value
        in S against a single one outside.
        """
        candidates, is_replaced = self._candidates(spec)
        certain = tuple(candidates.published(partial(self._allowed, spec, is_replaced)))
        if candidates.bound is None:
            return certain
        included = value_pairs if self.inclusion == 1 else inclusion_pairs  # the others alone may be too few for the space
        pairs = (replacement_pairs if is_replaced else included)(spec)
        complete, scope, work, compared = pairs.complete, pairs.scope, 0, set[Likelihoods]()
        computed = set[int]()  # laws are kept by the table, so that none takes the place of another
        families = _families(pairs.pairs, risks.laws_of(mechanism, spec), spec, replaced=self.inclusion == 1)
        for place, (without, laws, excess) in enumerate(families):
            if work > risks.MOST_WORK:
                complete, scope = False, f"{scope}; {place:,} beliefs compared, more would exceed the limit of work"
                break
            outcomes = dict.fromkeys(outcome for law in laws for outcome in law.support)
            work += sum(map(risks.size_with_entries, laws)) + excess
            for law in laws:
                if id(law) not in computed:
                    computed.add(id(law))
                    work += risks.work_of_law(law)
            everyone = laws if without is None else (*laws, without)
            columns = ([law.weights.get(outcome, 0) for outcome in outcomes] for law in everyone)
            totals = tuple(law.total for law in everyone)
            compared |= {(weights, totals) for weights in zip(*columns, strict=True)}
        found = [risk for weights, totals in compared for risk in self._risks(weights, totals)]
        if not found:
            raise errors.NoFormulaError("value", "below 1 needs two different values of the target", "ask with value = 1")
        relation = Sense.EQUALS if complete else Sense.AT_LEAST
        own = self._said(relation, Bracket.exactly(max(found)), f"exact Bayes (Kazan 2025, Definition 5), {scope}")
        return (*certain, *candidates.left_open(own))

    def _risks(self, weights: tuple[int, ...], totals: tuple[int, ...]) -> Iterator[Fraction]:
        """The risk of each value at one outcome, against the value that makes the outcome least probable."""
        both, other, out = self.inclusion * self.value, self.inclusion * (1 - self.value), 1 - self.inclusion
        masses = [Fraction(weight, total) for weight, total in zip(weights, totals, strict=True)]
        missing = masses.pop() if out else Fraction(0)
        if other and len(masses) == 1:
            return
        least, next_least = (*heapq.nsmallest(2, masses), Fraction(0))[:2]
        for seen in dict.fromkeys(masses):
            if seen:
                yield seen / (both * seen + other * (next_least if seen == least else least) + out * missing)

    def _said(self, relation: Sense, risk: Bracket, theorem: str) -> tuple[RiskStatement, ...]:
        at = (("inclusion", str(self.inclusion)), ("value", str(self.value)))
        both = self.inclusion * self.value
        shown = (("posterior by prior, largest", risk, 1 / both), ("posterior, largest", risk.scaled(both), Fraction(1)))
        return tuple(said(name, at, relation, value, theorem, self.assumption, trivial=most) for name, value, most in shown)


def _families(
    pairs: tuple[tuple[Dataset, Dataset], ...], table: risks.SharedLaws, spec: PrivacySpec, *, replaced: bool
) -> Iterator[LawFamily]:
    """For the same others: the law without the target, those with each of its values, and the excess work of computing them."""
    read = set[Dataset]()

    def law(dataset: Dataset) -> FiniteLaw:
        made = table.law(dataset)
        if not isinstance(made, FiniteLaw):
            raise errors.NoFormulaError(
                f"law {type(made).__name__}", "is not finite, so that Bayes is not exact", "ask for the worst case"
            )
        return made

    def excess(*datasets: Dataset) -> int:
        new = [dataset for dataset in dict.fromkeys(datasets) if dataset not in read]
        read.update(new)
        return sum(map(table.excess, new))

    if replaced:
        yield from ((None, (law(left), law(right)), excess(left, right)) for left, right in pairs)
        return
    found: dict[Dataset, dict[Dataset, None]] = defaultdict(dict)
    for left, right in pairs:
        small, large = sorted((left, right), key=spec.space.magnitude)
        found[small][large] = None
    yield from ((law(small), tuple(map(law, larger)), excess(small, *larger)) for small, larger in found.items())


# --- beliefs --------------------------------------------------------------------------------------


PairKey = tuple[Hashable, Hashable]
"""(record, others); the record is None when the target is not included."""
LawOf = Callable[[Hashable, Hashable], FiniteLaw]
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

    masses: Mapping[PairKey, Fraction]

    def __attrs_post_init__(self) -> None:
        total = sum(self.masses.values(), Fraction(0))
        if total != 1 or any(mass < 0 for mass in self.masses.values()):
            raise errors.PriorError("belief", "must be probabilities that sum to 1", "scale them", value=f"sum {total}")

    @classmethod
    def independent(cls, values: Mapping[Hashable, Fraction], others: Mapping[Hashable, Fraction], inclusion: Fraction) -> Belief:
        """The belief with given laws of the value and of the others, which obeys Assumption 2."""
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
        """Whether Assumption 2 holds: given any record, and given none, the others have one law."""
        laws: dict[Hashable, dict[Hashable, Fraction]] = {}
        for (record, others), mass in self.masses.items():
            if mass:
                laws.setdefault(record, {})[others] = mass
        scaled = [{o: m / sum(law.values()) for o, m in law.items()} for law in laws.values()]
        return all(law == scaled[0] for law in scaled)

    def likelihood(self, laws: LawOf, outcome: Hashable, given: Callable[[Hashable], bool]) -> Fraction:
        """P(outcome | the record fulfils a condition), None being no record.

        Raises:
            CertainTargetError: when the condition has no probability.
        """
        held = {place: mass for place, mass in self.masses.items() if mass and given(place[0])}
        weight = sum(held.values(), Fraction(0))
        if not weight:
            raise errors.CertainTargetError("belief", "gives a condition no probability, so nothing can be conditioned on it")
        return sum((mass * laws(*place).probability(outcome) for place, mass in held.items()), Fraction(0)) / weight

    def posterior(self, laws: LawOf, secret: set[Hashable], outcome: Hashable) -> Fraction:
        """a = P(value in S and included | outcome) (Kazan 2025, Definition 6)."""
        seen = sum((mass * laws(*place).probability(outcome) for place, mass in self.masses.items() if mass), Fraction(0))
        if not seen:
            raise errors.CertainTargetError("outcome", "cannot happen under this belief", value=outcome)
        return self._secret(secret) * self.likelihood(laws, outcome, lambda record: record in secret) / seen

    def relative_risk(self, laws: LawOf, secret: set[Hashable], outcome: Hashable) -> Fraction:
        """r = posterior / prior of "value in S and included" (Kazan 2025, Definition 5)."""
        prior = self._secret(secret)
        if not 0 < prior < 1:
            raise errors.CertainTargetError("belief", "is certain about the secret before any release", value=str(prior))
        return self.posterior(laws, secret, outcome) / prior

    def _secret(self, secret: set[Hashable]) -> Fraction:
        return sum((mass for (record, _), mass in self.masses.items() if record in secret), Fraction(0))
