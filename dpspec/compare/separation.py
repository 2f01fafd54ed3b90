"""What separates two specifications: a mechanism that satisfies the one and not the other.

Two families are tried. (1) Releasing the invariants of S exactly: its law is constant in every universe of S, so
it has budget 0 there for any divergences, and it breaks S' at any two datasets of one universe of S' whose
invariants differ, when d_Pr' is infinite for laws that never agree (B-T10, B-S11, B-S12). (2) Asking a question about
one dataset: P_x = A, and P_z = B for every z != x. With d >= m on all pairs it satisfies S when d_Pr(A, B) <= eps m,
and it breaks S' at a pair with d_Pr'(A, B) > eps' d'(x, z). (3) Counting the records of the unit of d that have some
value, with integer noise: when d bounds such counts and d_Pr obeys the triangle inequality, it satisfies S as soon as
d_Pr of the noise and the noise shifted by 1 is at most eps.
Every separation is run through the exact engine on the two datasets before it is believed.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from functools import partial
from typing import ClassVar

import attrs

from dpspec.blocks.determination import miniatures
from dpspec.blocks.space import Dataset, DatasetSpace, Record
from dpspec.compare.comparison import Separation
from dpspec.errors import NoRouteError, NumericalError
from dpspec.exact import INFINITY, Bracket, Number, number
from dpspec.laws.finite import FiniteLaw
from dpspec.laws.integers import DiscreteGaussian, TwoSidedGeometric
from dpspec.laws.law import Law
from dpspec.mechanism import Mechanism, ReleaseInvariants
from dpspec.spec import PrivacySpec

WALKED = 5_000
"""At most this many datasets of each miniature are looked at."""

CHANGES = 500
"""At most this many pairs of them are tried for a count that differs."""

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


@attrs.frozen(kw_only=True)
class NoisyCount(Mechanism):
    """The number of records of a unit equal to a given one, plus integer noise."""

    name: ClassVar[str] = "noisy-count"

    unit: str
    record: Record
    noise: Callable[[int], Law]

    def law(self, dataset: Dataset, space: DatasetSpace) -> Law:
        return self.noise(space.records(dataset, self.unit).count(self.record))


def separate(premise: PrivacySpec, conclusion: PrivacySpec, judge: Judge) -> Separation | None:
    """A mechanism that satisfies `premise` and not `conclusion`, or None when none was found."""
    if premise.space != conclusion.space:
        return None
    for found in itertools.chain(*(family(premise, conclusion) for family in (_by_invariants, _by_question, _by_count))):
        mechanism, pair, words, argument = found
        try:
            first, first_line = judge(mechanism, premise, pair)
            second, second_line = judge(mechanism, conclusion, pair)
        except NoRouteError:  # one of the divergences cannot compare these laws
            continue
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
    limit = _product(premise.output_divergence.lipschitz(premise.budget.parameter, given), least).lower
    bound = conclusion.output_divergence.lipschitz(conclusion.budget.parameter, allowed)
    if bound.is_infinite:
        return
    pairs = list(itertools.islice(_pairs(premise, conclusion), 8))
    for yes, no, words in _answers():
        if _between(premise, yes, no).upper > limit:
            continue
        reached = _between(conclusion, yes, no).lower
        for pair in pairs:
            if reached > _product(bound, conclusion.distance(*pair)).upper:
                mechanism = DatasetQuestion(dataset=pair[0], yes=yes, no=no)
                argument = f"the divergence of its two answers is at most {limit}, and no two datasets are closer than {least}"
                yield mechanism, pair, f'ask "is the dataset x?" and answer {words}', argument
                return


def _product(rate: Number, distance: Number) -> Bracket:
    """rate x distance: exact, or between two bounds where it has no exact form, such as ln(2) sqrt(2)."""
    try:
        return Bracket.exactly(rate * distance)
    except NumericalError:
        return Bracket.around(rate.enclose() * distance.enclose(), least=0)


def _by_count(premise: PrivacySpec, conclusion: PrivacySpec) -> Iterator[Candidate]:
    unit, given = premise.input_divergence.counted_unit(), premise.budget.uniform()
    if unit is None or given is None or not premise.output_divergence.is_metric:
        return
    limit = premise.output_divergence.lipschitz(premise.budget.parameter, given)
    noises = [_least_noise(family, premise, limit) for family in _noises()]
    changed = (
        (pair, record)
        for pair in itertools.islice(_pairs(premise, conclusion), CHANGES)
        for record in _changed_record(pair, unit, premise.space)
    )
    for pair, record in itertools.islice(changed, 8):
        for found in noises:
            if found is not None:
                noise, words = found
                mechanism = NoisyCount(unit=unit, record=record, noise=noise)
                what = f"count the {unit} records with {_described(record, unit, premise.space)}, plus {words}"
                argument = f"a {unit} changes the count by at most 1, and the noise spends at most {limit} on that"
                yield mechanism, pair, what, argument


def _described(record: Record, unit: str, space: DatasetSpace) -> str:
    attributes = space.attributes_of(unit)
    if len(attributes) != len(record):  # a space may describe no attributes, and records may differ in length
        return " ".join(map(str, record))
    return ", ".join(f"{a.name} = {value}" for a, value in zip(attributes, record, strict=True))


def _changed_record(pair: tuple[Dataset, Dataset], unit: str, space: DatasetSpace) -> Iterator[Record]:
    """The first record whose count differs between the two datasets."""
    left, right = (Counter(space.records(x, unit)) for x in pair)
    yield from sorted((record for record in left | right if left[record] != right[record]), key=repr)[:1]


Noise = Callable[[int], Law]


def _least_noise(family: Iterable[tuple[Noise, str]], premise: PrivacySpec, limit: Number) -> tuple[Noise, str] | None:
    """The first noise of a family, from little to much, with which a count changed by 1 stays within the limit."""
    return next((found for found in family if _between(premise, found[0](1), found[0](0)).upper <= limit), None)


def _noises() -> Iterator[Iterator[tuple[Noise, str]]]:
    """Families of integer noise, each from little to much."""
    powers = [Fraction(2) ** exponent for exponent in range(-4, 12)]
    yield ((partial(_gaussian, v), f"discrete Gaussian noise of variance {v}") for v in powers)
    yield ((partial(_geometric, number(1 / v)), f"two-sided geometric noise of decay {1 / v}") for v in powers)


def _gaussian(variance: Fraction, center: int) -> Law:
    return DiscreteGaussian(center=center, variance=variance)


def _geometric(decay: Number, center: int) -> Law:
    return TwoSidedGeometric(center=center, decay=decay)


def _between(spec: PrivacySpec, yes: Law, no: Law) -> Bracket:
    """d_Pr of two laws, the larger of both directions; anything where the divergence cannot compare them."""
    try:
        forward = spec.output_divergence.between(yes, no)
        return forward if spec.output_divergence.is_symmetric else forward | spec.output_divergence.between(no, yes)
    except NoRouteError:
        return Bracket(lower=number(0), upper=INFINITY)


def _answers() -> Iterator[tuple[Law, Law, str]]:
    """Pairs of answers: a coin from weak to strong, integer noise from much to little, a side that only x can show."""
    for step in range(1, 60):
        odds = Fraction(100 + 2 * step * step, 100)
        a, b = odds / (1 + odds), 1 / (1 + odds)
        yield FiniteLaw.bernoulli(a), FiniteLaw.bernoulli(b), f"yes with probability {a} if so, {b} if not"
    for exponent in range(10, -8, -2):
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
