"""A number that a unit of change moves by at most 1, answered as plainly as the budget allows.

Such numbers are a count of records, the distance d(x, .) from a dataset x (by the triangle inequality, for any metric with whole
numbers), and whether the dataset is x. With laws N_0, N_1, ... that are at most eps apart from one number to the next,
d_Pr(N_f(z), N_f(z')) <= eps |f(z) - f(z')| <= eps d(z, z'): by the triangle inequality of d_Pr, because f is cut at 1, or because
answers to three numbers were held against each other two by two.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import attrs

from dpspec.blocks.space import Dataset, DatasetSpace, Record
from dpspec.compare.separations.answers import SOURCES, Source
from dpspec.compare.separations.candidate import Answered, Candidate
from dpspec.compare.separations.pairs import Case, cases, product
from dpspec.errors import NotEnumerableError
from dpspec.exact import Number, number
from dpspec.laws.answers import Answers
from dpspec.spec import PrivacySpec

CASES = 40
"""At most this many kinds of pairs are tried."""


ONE = number(1)


@attrs.frozen(kw_only=True)
class Numbered:
    """A number f of the dataset with |f(z) - f(z')| <= d(z, z') / unit in the premise.

    Args:
        value: f.
        words: what it is.
        question: what is asked where only yes or no can be answered; without it, the words are that question.
        reason: why it moves no faster.
        most: 1 where it is a question of yes or no.
        unit: the least distance at which it moves by 1.
    """

    value: Callable[[Dataset], int]
    words: str
    reason: str
    question: str = ""
    most: int | None = None
    unit: Number = ONE


def answered(premise: PrivacySpec, conclusion: PrivacySpec, sources: Sequence[Source] = SOURCES) -> Iterator[Candidate]:
    """Answer a number that the premise lets move slowly: at a pair where the conclusion allows less than that moves it."""
    for source, case in ((s, c) for s in sources for c in itertools.islice(_telling(premise, conclusion), CASES)):
        for numbered in _numbers(premise, case):
            kept = numbered if premise.budget.uniform() is not None else _within_universe(numbered, premise, case.left)
            if kept is None or kept.value(case.left) == kept.value(case.right):
                continue
            for answers in source(premise.output_divergence, product(case.rate, kept.unit).lower):
                yield _candidate(case, kept, answers)


def _telling(premise: PrivacySpec, conclusion: PrivacySpec) -> Iterator[Case]:
    """Cases about which the conclusion says something."""
    return (
        case
        for case in cases(premise, conclusion)
        if not case.allowed.upper.is_infinite and case.near != 0 and (case.together or premise.budget.uniform() is not None)
    )


def _candidate(case: Case, numbered: Numbered, answers: Answers) -> Candidate:
    caps = (answers.most,) if (answers.most or 1) > 1 else (numbered.most, answers.most)
    most = min((m for m in caps if m is not None), default=None)

    def value(dataset: Dataset) -> int:
        found = numbered.value(dataset)
        return found if most is None else min(found, most)

    asked = f'ask "{numbered.question or numbered.words}?"'
    words = f"{asked} and answer {answers.words}" if answers.most == 1 else f"{numbered.words}, {answers.words}"
    if answers.most is None and numbered.most == 1:
        words = f"{asked}, 1 if so and 0 if not, {answers.words}"
    return Candidate(
        mechanism=Answered(value=value, answers=answers),
        words=words,
        argument=f"{numbered.reason}, and the answer spends at most {case.rate} on each {numbered.unit} of distance",
        pair=(case.left, case.right),
    )


def _within_universe(numbered: Numbered, premise: PrivacySpec, x: Dataset) -> Numbered | None:
    """The number in the universe of x, and 0 in all others: where budgets differ by universe."""
    if premise.multiverse.invariants is None:
        return None
    universe = premise.multiverse.labels(x, premise.space)

    def value(dataset: Dataset) -> int:
        return numbered.value(dataset) if premise.multiverse.labels(dataset, premise.space) == universe else 0

    where = "(inside the universe of x, elsewhere 0)"
    asked = numbered.question and f"{numbered.question}, and in the universe of x"
    return attrs.evolve(numbered, value=value, words=f"{numbered.words} {where}", question=asked)


def _numbers(premise: PrivacySpec, case: Case) -> Iterator[Numbered]:
    adds_up = premise.output_divergence.is_metric
    divergence, space = premise.input_divergence, premise.space
    if adds_up and divergence.counted_unit() is not None and divergence.is_symmetric:
        yield from _count(case, str(divergence.counted_unit()), space)
    if adds_up and divergence.is_metric and divergence.is_symmetric and divergence.is_integral:
        yield from _distance(premise, case, most=None)
    elif divergence.is_metric and divergence.is_symmetric and divergence.is_integral:
        yield from _distance(premise, case, most=1)
    elif divergence.is_neighbour_form and divergence.path_form() is not None:
        yield from _path(premise, case)
    least = divergence.least_distance(space)
    if least is not None:
        reason = f"no two datasets are closer than {least}"
        yield Numbered(value=partial(_is, case.left), words="is the dataset x", reason=reason, most=1, unit=least)


def _is(x: Dataset, dataset: Dataset) -> int:
    return int(dataset == x)


def _distance(premise: PrivacySpec, case: Case, most: int | None) -> Iterator[Numbered]:
    """d(x, .), or whether it is above 0 where steps do not add up."""
    if case.near.is_infinite:
        return
    divergence, space = premise.input_divergence, premise.space

    def value(dataset: Dataset) -> int:
        found = divergence.distance(case.left, dataset, space)
        return 0 if found.is_infinite else int(found.as_fraction())

    words = f"the distance from x by {divergence}"
    question = f"is it at a positive distance from x by {divergence}"
    reason = "the distance from x changes by no more than the dataset does, by the triangle inequality, and in whole numbers"
    yield Numbered(value=value, words=words, question=question, reason=reason, most=most)


def _path(premise: PrivacySpec, case: Case) -> Iterator[Numbered]:
    """The number of steps from x: neighbours are at most one step further."""
    path, space = premise.input_divergence.path_form(), premise.space
    if path is None or not (path.is_metric and path.is_symmetric and path.is_integral):
        return

    def value(dataset: Dataset) -> int:
        found = path.distance(case.left, dataset, space)
        return 0 if found.is_infinite else int(found.as_fraction())

    try:
        if path.distance(case.left, case.right, space).is_infinite:
            return
    except NotEnumerableError:
        return
    reason = "a neighbour is at most one step further from x"
    yield Numbered(
        value=value, words=f"the distance from x by {path}", question="is the dataset another one than x", reason=reason
    )


def _count(case: Case, unit: str, space: DatasetSpace) -> Iterator[Numbered]:
    """The number of records equal to one whose number differs the most."""
    left, right = (Counter(space.records(x, unit)) for x in (case.left, case.right))
    changed = sorted((left | right).keys(), key=lambda record: (-abs(left[record] - right[record]), repr(record)))
    for record in changed[:1]:

        def value(dataset: Dataset, record: Record = record) -> int:
            return space.records(dataset, unit).count(record)

        what = f"{unit} records with {_described(record, unit, space)}"
        yield Numbered(
            value=value,
            words=f"count the {what}",
            question=f"are there any {what}",
            reason="one unit of distance changes the count by at most 1",
        )


def _described(record: Record, unit: str, space: DatasetSpace) -> str:
    attributes = space.attributes_of(unit)
    if len(attributes) != len(record):  # a space may describe no attributes, and records may differ in length
        return " ".join(map(str, record))
    return ", ".join(f"{a.name} = {value}" for a, value in zip(attributes, record, strict=True))
