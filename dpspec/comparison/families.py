"""Families of mechanisms that separate two specifications, each with its argument why it satisfies the premise.

*Cuts*, for spaces that can be listed: all datasets in two parts, answered as plainly as the premise allows across them.

For a set U of datasets let m be the least of what the premise allows between a dataset in U and one outside. Two laws N_0, N_1
with d_Pr(N_0, N_1) <= m, both ways, make a mechanism that satisfies the premise: N_1 in U, N_0 outside. Between x and x' the
widest cut is found by joining datasets in the order of what the premise allows between them, until x and x' would be joined.

*Numbers* that a unit of change moves by at most 1, answered as plainly as the budget allows.

Such numbers are a count of records, the distance d(x, .) from a dataset x (by the triangle inequality, for any metric with whole
numbers), and whether the dataset is x. With laws N_0, N_1, ... whose divergence is at most eps from one number to the next,
d_Pr(N_f(z), N_f(z')) <= eps |f(z) - f(z')| <= eps d(z, z'): by the triangle inequality of d_Pr, because f is cut at 1, or because
answers to three numbers were held against each other two by two.

*Outside*: a specification does not constrain datasets that are not in its space.

So S => S' with spaces X and X' means that every mechanism that satisfies S on X satisfies S' on X', for every extension to the
datasets of X' that X lacks: a family of laws P_x over both spaces. A mechanism that identifies those datasets, and outputs a
constant on X, satisfies S with budget 0. It violates S' wherever S' allows less than that between such a dataset and another one.

A dataset of both spaces is the same value made of the same records: with the same units, and attributes of the same names.

*Truths*, where the premise imposes no constraint: the invariants, or which datasets are in reach of x.

The invariants are constant in every universe, so that publishing them has budget 0 for any divergences (Bailie, Gong and Meng
2023, theorem on the universes of invariants). And where d is a metric, "at finite distance from x" is the same answer for any two
datasets at finite distance from each other.

*Events*, on small spaces: one event, as likely at every dataset as the premise allows when its probability at one of them is
given.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import ClassVar

import attrs

from dpspec.base.errors import DpspecError, NotEnumerableError
from dpspec.base.exact import Number, in_few_digits, number
from dpspec.base.memo import memoize
from dpspec.blocks.input_divergence import InputDivergence
from dpspec.blocks.multiverse import Multiverse
from dpspec.blocks.parts import listing_size, miniature_of
from dpspec.blocks.space import Dataset, DatasetSpace, Pair, Record, is_dataset
from dpspec.comparison.answers import SOURCES, TRUTH, Answered, Candidate, Source
from dpspec.grammar.mechanism import Mechanism, ReleaseInvariants
from dpspec.grammar.spec import PrivacySpec
from dpspec.laws.law import Answers, FiniteLaw, Law
from dpspec.reason.event_by_event import broken
from dpspec.reason.rules import determined
from dpspec.reason.small_spaces import SmallCase, allowance, cases, labeller, own_pairs, pairs, product

LISTED = 64
"""Spaces of at most this many datasets are cut."""

CASES = 60
"""At most this many kinds of pairs are tried."""


def cuts(premise: PrivacySpec, conclusion: PrivacySpec, sources: Sequence[Source] = SOURCES) -> Iterator[Candidate]:
    """Ask on which side of the widest cut between x and x' the dataset lies."""
    links = _links(premise)
    if links is None:
        return
    for source, case in ((s, c) for s in sources for c in itertools.islice(cases(premise, conclusion), CASES)):
        found = _widest(links, case.left, case.right)
        if found is None or case.allowed.upper.is_infinite:
            continue
        side, width = found
        for answers in source(premise.output_divergence, width):
            yield Candidate(
                mechanism=Answered(value=partial(_is_among, side), answers=answers),
                words=f'ask "is it {_named(side)}?", 1 if so and 0 if not, and answer {answers.words}',
                argument=(
                    f"of all pairs of datasets, one in the set and one outside, none is allowed less than {in_few_digits(width)}"
                ),
                pair=(case.left, case.right),
            )


def _is_among(side: frozenset[Dataset], dataset: Dataset) -> int:
    return int(dataset in side)


def _named(side: frozenset[Dataset], shown: int = 4) -> str:
    members = sorted(side, key=repr)
    if len(members) == 1:
        return f"the dataset {members[0]}"
    more = f" and {len(members) - shown} more" if len(members) > shown else ""
    return "one of the datasets " + ", ".join(map(str, members[:shown])) + more


Links = tuple[tuple[Number, Dataset, Dataset], ...]


@memoize(maxsize=64)
def _links(premise: PrivacySpec) -> Links | None:
    """The bounds of the premise between any two datasets of its space, the least first; None when they are too many to list."""
    size = listing_size(premise.space)
    if size is None or size > LISTED:
        return None
    try:
        found = [
            (min(allowance(premise, (x, y)).lower, allowance(premise, (y, x)).lower), x, y)
            for x, y in itertools.combinations(premise.space.datasets(), 2)
        ]
    except DpspecError:  # a universe without a budget
        return None
    return tuple(sorted(found, key=lambda link: link[0]))


def _widest(links: Links, left: Dataset, right: Dataset) -> tuple[frozenset[Dataset], Number] | None:
    """The datasets that are joined with the left before the right is, and the least that is allowed across."""
    group: dict[Dataset, frozenset[Dataset]] = {left: frozenset([left]), right: frozenset([right])}
    for width, tied in itertools.groupby(links, key=lambda link: link[0]):
        before = group[left]
        for _, x, y in tied:
            joined = group.get(x, frozenset([x])) | group.get(y, frozenset([y]))
            group.update(dict.fromkeys(joined, joined))
        if right in group[left]:
            return (before, width) if width > 0 else None
    return None


# --- numbers --------------------------------------------------------------------------------------


CASES_TRIED = 40
"""At most this many kinds of pairs are tried."""


ONE = number(1)


@attrs.frozen(kw_only=True)
class Numbered:
    """A number f of the dataset with |f(z) - f(z')| <= d(z, z') / unit in the premise.

    Args:
        value: f: a function of a module, or a partial one, so that a comparison with it can be pickled.
        words: the statistic, in words.
        question: the question where only yes or no can be answered; by default, the words are that question.
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
    for source, case in ((s, c) for s in sources for c in itertools.islice(_telling(premise, conclusion), CASES_TRIED)):
        for numbered in _numbers(premise, case):
            kept = numbered if premise.budget.uniform() is not None else _within_universe(numbered, premise, case.left)
            if kept is None or kept.value(case.left) == kept.value(case.right):
                continue
            for answers in source(premise.output_divergence, product(case.rate, kept.unit).lower):
                yield _candidate(case, kept, answers)


def _telling(premise: PrivacySpec, conclusion: PrivacySpec) -> Iterator[SmallCase]:
    """Cases about which the conclusion says something."""
    return (
        case
        for case in cases(premise, conclusion)
        if not case.allowed.upper.is_infinite and case.near != 0 and (case.together or premise.budget.uniform() is not None)
    )


def _candidate(case: SmallCase, numbered: Numbered, answers: Answers) -> Candidate:
    caps = (answers.most,) if (answers.most or 1) > 1 else (numbered.most, answers.most)
    most = min((m for m in caps if m is not None), default=None)
    value = numbered.value if most is None else partial(_at_most, most, numbered.value)
    asked = f'ask "{numbered.question or numbered.words}?"'
    words = f"{asked} and answer {answers.words}" if answers.most == 1 else f"{numbered.words}, {answers.words}"
    if answers.most is None and numbered.most == 1:
        words = f"{asked}, 1 if so and 0 if not, {answers.words}"
    return Candidate(
        mechanism=Answered(value=value, answers=answers),
        words=words,
        argument=(
            f"{numbered.reason}, and the answer spends at most {in_few_digits(case.rate)} on each {in_few_digits(numbered.unit)} "
            "of distance"
        ),
        pair=(case.left, case.right),
    )


def _at_most(most: int, value: Callable[[Dataset], int], dataset: Dataset) -> int:
    return min(value(dataset), most)


def _within_universe(numbered: Numbered, premise: PrivacySpec, x: Dataset) -> Numbered | None:
    """The number in the universe of x, and 0 in all others: where budgets differ by universe."""
    if premise.multiverse.induced_by() is None:
        return None
    universe = premise.multiverse.labels(x, premise.space)
    value = partial(_in_universe, premise.multiverse, premise.space, universe, numbered.value)
    where = "(inside the universe of x, elsewhere 0)"
    asked = numbered.question and f"{numbered.question}, and in the universe of x"
    return attrs.evolve(numbered, value=value, words=f"{numbered.words} {where}", question=asked)


def _in_universe(
    multiverse: Multiverse, space: DatasetSpace, universe: tuple[Hashable, ...], value: Callable[[Dataset], int], dataset: Dataset
) -> int:
    return value(dataset) if multiverse.labels(dataset, space) == universe else 0


def _numbers(premise: PrivacySpec, case: SmallCase) -> Iterator[Numbered]:
    adds_up = premise.output_divergence.is_metric
    divergence, space = premise.input_divergence, premise.space
    if adds_up and divergence.counted_unit() is not None:
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


def _distance(premise: PrivacySpec, case: SmallCase, most: int | None) -> Iterator[Numbered]:
    """d(x, .), or whether it is above 0 where steps do not add up."""
    if case.near.is_infinite:
        return
    divergence = premise.input_divergence
    value = partial(_distance_from, case.left, divergence, premise.space)
    words = f"the distance from x by {divergence}"
    question = f"is it at a positive distance from x by {divergence}"
    reason = "the distance from x changes by no more than the dataset does, by the triangle inequality, and in whole numbers"
    yield Numbered(value=value, words=words, question=question, reason=reason, most=most)


def _distance_from(x: Dataset, divergence: InputDivergence, space: DatasetSpace, dataset: Dataset) -> int:
    """The distance in whole numbers, and 0 where it is infinite."""
    found = divergence.distance(x, dataset, space)
    return 0 if found.is_infinite else int(found.as_fraction())


def _path(premise: PrivacySpec, case: SmallCase) -> Iterator[Numbered]:
    """The number of steps from x: neighbours are at most one step further."""
    path, space = premise.input_divergence.path_form(), premise.space
    if path is None or not (path.is_metric and path.is_symmetric and path.is_integral):
        return
    try:
        if path.distance(case.left, case.right, space).is_infinite:
            return
    except NotEnumerableError:
        return
    reason = "a neighbour is at most one step further from x"
    value = partial(_distance_from, case.left, path, space)
    yield Numbered(
        value=value, words=f"the distance from x by {path}", question="is the dataset another one than x", reason=reason
    )


def _count(case: SmallCase, unit: str, space: DatasetSpace) -> Iterator[Numbered]:
    """The number of records equal to one whose number differs the most."""
    left, right = (Counter(space.records(x, unit)) for x in (case.left, case.right))
    changed = sorted((left | right).keys(), key=lambda record: (-abs(left[record] - right[record]), repr(record)))
    for record in changed[:1]:
        what = f"{unit} records with {_described(record, unit, space)}"
        yield Numbered(
            value=partial(_count_of, record, unit, space),
            words=f"count the {what}",
            question=f"are there any {what}",
            reason="one unit of distance changes the count by at most 1",
        )


def _count_of(record: Record, unit: str, space: DatasetSpace, dataset: Dataset) -> int:
    return space.records(dataset, unit).count(record)


def _described(record: Record, unit: str, space: DatasetSpace) -> str:
    attributes = space.attributes_of(unit)
    if len(attributes) != len(record):  # a space may describe no attributes, and records may differ in length
        return " ".join(map(str, record))
    return ", ".join(f"{a.name} = {value}" for a, value in zip(attributes, record, strict=True))


# --- outside a space ------------------------------------------------------------------------------


DATASETS_LISTED = 5_000
"""The largest number of datasets of a space, or of a small part of it, that are searched."""

NAMED = 64
"""The largest number of categories of an attribute that are searched one by one."""

TRIED = 6
"""At most this many pairs are tried, each with another allowance."""


@attrs.frozen(kw_only=True)
class TellOutside(Mechanism):
    """Say truthfully which dataset it is, where a space does not have it; on the space say nothing.

    Args:
        inside: the space.
    """

    name: ClassVar[str] = "tell-outside"

    inside: DatasetSpace

    def law(self, dataset: Dataset, space: DatasetSpace) -> Law:
        return FiniteLaw.point("inside" if has(self.inside, space, dataset) else ("outside", dataset))


def outside(premise: PrivacySpec, conclusion: PrivacySpec) -> Iterator[Candidate]:
    """Mechanisms that identify the datasets that the space of the premise lacks: one of them and another dataset of the
    conclusion."""
    if premise.space == conclusion.space:
        return
    seen: set[Hashable] = set()
    strange = itertools.islice(_strange(premise.space, conclusion), DATASETS_LISTED)
    for pair in itertools.chain.from_iterable((pair, pair[::-1]) for pair in strange):
        try:
            allowed = allowance(conclusion, pair)
        except DpspecError:  # a universe without a budget
            continue
        if not allowed.upper.is_infinite and allowed not in seen:
            seen.add(allowed)
            yield Candidate(
                mechanism=TellOutside(inside=premise.space),
                words="publish the dataset where the space of the premise does not have it, and nothing where it does",
                argument="the same law for all datasets of its space, and nothing is required of other datasets",
                pair=pair,
                kind="space",
            )
        if len(seen) == TRIED:
            return


def has(space: DatasetSpace, other: DatasetSpace, dataset: Dataset) -> bool:
    """Whether a dataset of the other space is one of the space: the same value, made of the same records."""
    if not is_dataset(dataset, space):
        return False
    if space == other or _attribute_names(space) == _attribute_names(other):
        return True
    # The empty dataset is the same everywhere.
    return bool(other.units) and not any(other.records(dataset, unit) for unit in other.units)


@memoize(maxsize=1024)
def _attribute_names(space: DatasetSpace) -> dict[str, tuple[str, ...]]:
    return {unit: tuple(a.name for a in space.attributes_of(unit)) for unit in space.units}


def _strange(space: DatasetSpace, conclusion: PrivacySpec) -> Iterator[Pair]:
    """Pairs in one universe of the conclusion, at least one of them not in the space: first among the smallest datasets."""
    for pair in own_pairs(conclusion):
        if not all(has(space, conclusion.space, x) for x in pair):
            yield pair
    labels = labeller(conclusion.multiverse, conclusion.space)
    for small in _parts(conclusion.space):
        listed = list(itertools.islice(small.datasets(), DATASETS_LISTED))
        strangers = (x for x in reversed(listed) if not has(space, conclusion.space, x))
        for x in itertools.islice(strangers, TRIED):
            yield from ((x, y) for y in reversed(listed) if y != x and not set(labels(x)).isdisjoint(labels(y)))


@memoize(maxsize=1024)
def _parts(space: DatasetSpace) -> tuple[DatasetSpace, ...]:
    """The space itself when it is small, else small parts of it: of few records, and of every category."""
    size = listing_size(space)
    if size is not None and size <= DATASETS_LISTED:
        return (space,)
    every = {a.name: frozenset(a.values()) for unit in space.units for a in space.attributes_of(unit) if a.size <= NAMED}
    smalls = [miniature_of(space, every, 1), *(miniature_of(space, {}, records) for records in range(2, 5))]
    return tuple(small for small in smalls if small is not None) or (space,)


# --- truths ---------------------------------------------------------------------------------------


TRUTHS_TRIED = 3
"""At most this many pairs are tried for each release."""


def invariants(premise: PrivacySpec, conclusion: PrivacySpec) -> Iterator[Candidate]:
    """Publish the invariants of the premise: at two datasets of one universe of the conclusion that differ in them."""
    held = premise.multiverse.induced_by()
    if not held or premise.space != conclusion.space:
        return
    mechanism = ReleaseInvariants(invariants=held)
    words = "publish exactly: " + "; ".join(str(invariant) for invariant in held)
    argument = "constant in every universe, so it has budget 0 for any divergences (Bailie, Gong and Meng 2023)"
    for pair in _distinguished_pairs(premise, conclusion):
        yield Candidate(mechanism=mechanism, words=words, argument=argument, pair=pair)


def _distinguished_pairs(premise: PrivacySpec, conclusion: PrivacySpec) -> Iterator[Pair]:
    coarse, fine = premise.multiverse.induced_by() or (), conclusion.multiverse.induced_by()
    if fine is not None:
        found = determined(fine, coarse, conclusion.space)
        if found.answer is True:
            return
        if found.witness is not None and not conclusion.distance(*found.witness).is_infinite:
            yield found.witness
    apart = (pair for pair in pairs(premise, conclusion) if not premise.multiverse.share_universe(*pair, premise.space))
    for _, pair in zip(range(TRUTHS_TRIED), apart, strict=False):
        yield pair


def reach(premise: PrivacySpec, conclusion: PrivacySpec) -> Iterator[Candidate]:
    """Say whether the dataset is at finite distance from x: at a dataset that is, for the conclusion, and not for the premise."""
    divergence = premise.input_divergence
    metric = divergence if divergence.is_metric else divergence.path_form()
    if metric is None or not (metric.is_metric and metric.is_symmetric):
        return
    words = f"finite distance by {metric}"
    apart = (case for case in cases(premise, conclusion) if case.near.is_infinite)
    far = (case for case in apart if _unconnected(metric, case, premise.space))
    for _, case in zip(range(TRUTHS_TRIED), far, strict=False):
        yield Candidate(
            mechanism=Answered(value=partial(_is_in_reach, case.left, metric, premise.space), answers=TRUTH),
            words=f"say truthfully whether the dataset is at {words} from x",
            argument="two datasets at a finite distance from each other are both in reach of x, or both not",
            pair=(case.left, case.right),
        )


def _is_in_reach(x: Dataset, metric: InputDivergence, space: DatasetSpace, dataset: Dataset) -> int:
    return int(not metric.distance(x, dataset, space).is_infinite)


def _unconnected(metric: InputDivergence, case: SmallCase, space: DatasetSpace) -> bool:
    """Whether the distance of the two datasets is infinite; unknown where paths cannot be searched."""
    try:
        return metric.distance(case.left, case.right, space).is_infinite
    except NotEnumerableError:
        return False


# --- events ---------------------------------------------------------------------------------------


EVENTS_TRIED = 400
"""At most this many events are tried."""
CHANCES_SHOWN = 6


@attrs.frozen(kw_only=True, eq=False)
class OneEvent(Mechanism):
    """Yes with a probability that depends on the dataset.

    Args:
        probabilities: the probabilities; 1 for datasets that are left out.
    """

    name: ClassVar[str] = "one-event"

    probabilities: Mapping[Dataset, Fraction]

    def law(self, dataset: Dataset, space: DatasetSpace) -> Law:
        return FiniteLaw.bernoulli(self.probabilities.get(dataset, Fraction(1)))


def events(premise: PrivacySpec, conclusion: PrivacySpec) -> Iterator[Candidate]:
    """Say yes with probabilities that keep every inequality of the premise, and that the conclusion may forbid."""
    for found in itertools.islice(broken(premise, conclusion), EVENTS_TRIED):
        yield Candidate(
            mechanism=OneEvent(probabilities=found.probabilities),
            words=f"say yes with probability {_probabilities_in_words(found.probabilities)}, and 1 for every other dataset",
            argument="neither the yes nor the no is likelier anywhere than the premise allows, pair by pair",
            pair=found.pair,
        )


def _probabilities_in_words(probabilities: Mapping[Dataset, Fraction]) -> str:
    listed = sorted(probabilities.items(), key=lambda item: repr(item[0]))
    more = f" and other ones for {len(listed) - CHANCES_SHOWN} more" if len(listed) > CHANCES_SHOWN else ""
    return ", ".join(f"{in_few_digits(probability)} for {dataset}" for dataset, probability in listed[:CHANCES_SHOWN]) + more
