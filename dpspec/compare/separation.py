"""What separates two specifications: a mechanism that satisfies the one and not the other.

Two families are tried. (1) Releasing the invariants of S exactly: its law is constant in every universe of S, so
it has budget 0 there for any divergences, and it breaks S' at any two datasets of one universe of S' whose
invariants differ, when d_Pr' is infinite for laws that never agree (B-T10, B-S11, B-S12). (2) Asking a yes/no question
about one dataset through a coin: P_x(yes) = a, P_z(yes) = b for every z != x. With d >= m on all pairs it
satisfies S when d_Pr(a, b) <= eps m, and it breaks S' at a pair with d_Pr'(a, b) > eps' d'(x, z).
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
from dpspec.laws.law import Law
from dpspec.mechanism import Mechanism, ReleaseInvariants
from dpspec.spec import PrivacySpec

WALKED = 5_000
"""At most this many datasets of each miniature are looked at."""

Judge = Callable[[Mechanism, PrivacySpec, tuple[Dataset, Dataset]], tuple[str, str]]
"""Runs the exact engine on two datasets; returns the outcome and a line that describes it."""


@attrs.frozen(kw_only=True)
class DatasetQuestion(Mechanism):
    """Asks "is the dataset x?" and answers yes with probability `yes` when it is, `no` when it is not."""

    name: ClassVar[str] = "dataset-question"

    dataset: Dataset
    yes: Fraction
    no: Fraction

    def law(self, dataset: Dataset, space: DatasetSpace) -> Law:
        return FiniteLaw.bernoulli(self.yes if dataset == self.dataset else self.no)


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
    for pair in itertools.islice(_pairs(premise, conclusion), 8):
        bound = conclusion.output_divergence.lipschitz(conclusion.budget.parameter, allowed)
        for yes, no in _coins():
            laws = FiniteLaw.bernoulli(yes), FiniteLaw.bernoulli(no)
            if _between(premise, laws).upper > limit:
                continue
            reached = _between(conclusion, laws).lower
            if bound.is_infinite or reached <= bound * conclusion.distance(*pair):
                continue
            mechanism = DatasetQuestion(dataset=pair[0], yes=yes, no=no)
            words = f'ask "is the dataset x?" and answer yes with probability {yes} if so, {no} if not'
            yield mechanism, pair, words, f"its divergence is at most {limit}, and no two datasets are closer than {least}"
            return


def _between(spec: PrivacySpec, laws: tuple[Law, Law]) -> Bracket:
    """d_Pr of two laws, the larger of both directions."""
    return spec.output_divergence.between(*laws) | spec.output_divergence.between(*reversed(laws))


def _coins() -> Iterator[tuple[Fraction, Fraction]]:
    """Pairs (a, b): randomised response from weak to strong, then coins with a side that only x can show."""
    for step in range(1, 400):
        odds = Fraction(100 + step * step, 100)
        yield odds / (1 + odds), 1 / (1 + odds)
    for exponent in range(1, 40):
        yield Fraction(1, 2**exponent), Fraction(0)


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
