"""What separates two specifications: a mechanism that satisfies the one and not the other.

Two families are tried. (1) Releasing the invariants of S exactly: its law is constant in every universe of S, so
it has budget 0 there for any divergences, and it breaks S' at any two datasets of one universe of S' whose
invariants differ, when d_Pr' is infinite for laws that never agree (B-T10, B-S11, B-S12). (2) Asking a question about
one dataset: P_x = A, and P_z = B for every z != x. With d >= m on all pairs it satisfies S when d_Pr(A, B) <= eps m,
and it breaks S' at a pair with d_Pr'(A, B) > eps' d'(x, z).
Every separation is run through the exact engine on the two datasets before it is believed.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import ClassVar

import attrs

from dpspec.blocks.determination import miniatures
from dpspec.blocks.space import Dataset, DatasetSpace
from dpspec.compare.comparison import Separation
from dpspec.exact import INFINITY, Bracket, number
from dpspec.laws.finite import FiniteLaw
from dpspec.laws.integers import DiscreteGaussian
from dpspec.laws.law import Law
from dpspec.mechanism import Mechanism, ReleaseInvariants
from dpspec.spec import PrivacySpec

WALKED = 5_000
"""At most this many datasets of each miniature are looked at."""

Judge = Callable[[Mechanism, PrivacySpec, tuple[Dataset, Dataset]], tuple[str, str]]
"""Runs the exact engine on two datasets; returns the outcome and a line that describes it."""


@attrs.frozen(kw_only=True)
class DatasetQuestion(Mechanism):
    """Asks "is the dataset x?": one law of the answer when it is, another when it is not."""

    name: ClassVar[str] = "dataset-question"

    dataset: Dataset
    yes: Law
    no: Law

    def law(self, dataset: Dataset, space: DatasetSpace) -> Law:
        return self.yes if dataset == self.dataset else self.no


def separate(premise: PrivacySpec, conclusion: PrivacySpec, judge: Judge) -> Separation | None:
    """A mechanism that satisfies `premise` and not `conclusion`, or None when none was found."""
    if premise.space != conclusion.space:
        return None
    for found in itertools.chain(_by_invariants(premise, conclusion), _by_question(premise, conclusion)):
        mechanism, pair, words, argument = found
        first, first_line = judge(mechanism, premise, pair)
        second, second_line = judge(mechanism, conclusion, pair)
        if first == "verified" and second == "refuted":
            return Separation(mechanism=words, argument=argument, left=pair[0], right=pair[1], checks=(first_line, second_line))
    return None


Candidate = tuple[Mechanism, tuple[Dataset, Dataset], str, str]


def _by_invariants(premise: PrivacySpec, conclusion: PrivacySpec) -> Iterator[Candidate]:
    held = premise.multiverse.invariants
    if not held or not conclusion.output_divergence.separates_disjoint:
        return
    for pair in _pairs(premise, conclusion):
        labels = [premise.multiverse.labels(x, premise.space) for x in pair]
        if labels[0] != labels[1]:
            mechanism = ReleaseInvariants(invariants=held)
            words = "publish exactly: " + "; ".join(str(invariant) for invariant in held)
            yield mechanism, pair, words, "constant in every universe, so it has budget 0 for any divergences (B-T10)"
            return


def _by_question(premise: PrivacySpec, conclusion: PrivacySpec) -> Iterator[Candidate]:
    least = premise.input_divergence.least_distance(premise.space)
    given, allowed = premise.budget.uniform(), conclusion.budget.uniform()
    if least is None or given is None or allowed is None:
        return
    limit = premise.output_divergence.lipschitz(premise.budget.parameter, given) * least
    bound = conclusion.output_divergence.lipschitz(conclusion.budget.parameter, allowed)
    if bound.is_infinite:
        return
    for pair in itertools.islice(_pairs(premise, conclusion), 8):
        for yes, no, words in _answers():
            if _between(premise, yes, no).upper > limit:
                continue
            if _between(conclusion, yes, no).lower <= bound * conclusion.distance(*pair):
                continue
            mechanism = DatasetQuestion(dataset=pair[0], yes=yes, no=no)
            argument = f"the divergence of its two answers is at most {limit}, and no two datasets are closer than {least}"
            yield mechanism, pair, f'ask "is the dataset x?" and answer {words}', argument
            return


def _between(spec: PrivacySpec, yes: Law, no: Law) -> Bracket:
    """d_Pr of two laws, the larger of both directions."""
    return spec.output_divergence.between(yes, no) | spec.output_divergence.between(no, yes)


def _answers() -> Iterator[tuple[Law, Law, str]]:
    """Pairs of answers: a coin from weak to strong, integer noise from much to little, a side that only x can show."""
    for step in range(1, 60):
        odds = Fraction(100 + 2 * step * step, 100)
        a, b = odds / (1 + odds), 1 / (1 + odds)
        yield FiniteLaw.bernoulli(a), FiniteLaw.bernoulli(b), f"yes with probability {a} if so, {b} if not"
    for exponent in range(20, -8, -2):
        variance = Fraction(2) ** exponent
        noise = f"1 if so, 0 if not, plus discrete Gaussian noise of variance {variance}"
        yield DiscreteGaussian(center=1, variance=variance), DiscreteGaussian(center=0, variance=variance), noise
    for exponent in range(40, 0, -1):
        a = Fraction(1, 2**exponent)
        yield FiniteLaw.bernoulli(a), FiniteLaw.bernoulli(0), f"yes with probability {a} if so, never if not"


def _pairs(premise: PrivacySpec, conclusion: PrivacySpec) -> Iterator[tuple[Dataset, Dataset]]:
    """Pairs of small datasets of one universe of the conclusion at finite positive distance, the closest first."""
    space = conclusion.space
    invariants = (*(premise.multiverse.invariants or ()), *(conclusion.multiverse.invariants or ()))
    size = space.cardinality()
    spaces = [space] if size is not None and size <= WALKED else list(miniatures(invariants, space))
    for small in spaces:
        yield from _pairs_in(small, conclusion)


def _pairs_in(small: DatasetSpace, conclusion: PrivacySpec) -> Iterator[tuple[Dataset, Dataset]]:
    members: dict[object, list[Dataset]] = {}
    for dataset in itertools.islice(small.datasets(), WALKED):
        for label in conclusion.multiverse.labels(dataset, conclusion.space):
            members.setdefault(label, []).append(dataset)
    found = [
        (distance, pair)
        for held in members.values()
        for pair in itertools.combinations(held[:60], 2)
        if number(0) < (distance := conclusion.distance(*pair)) < INFINITY
    ]
    found.sort(key=lambda entry: entry[0])
    return (pair for _, pair in found)
