"""The order of many specifications: who implies whom, who is equivalent, and which arrows a figure needs.

S <= S' in strength when S' implies S. Implication is reflexive and transitive, so equivalent specifications form classes, and the
classes are partially ordered; the Hasse diagram has an arrow from a class to each one that it implies with none between.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, overload

import attrs

from dpspec.base.display import Showable
from dpspec.base.errors import (
    ParameterError,
)
from dpspec.base.exact import ZERO, Number
from dpspec.base.types import Progress
from dpspec.blocks.space import Dataset
from dpspec.comparison import families
from dpspec.comparison.compare import (
    Answer,
    Compare,
    Comparison,
    Promised,
    answer_about_all,
    answer_of_one,
    budget_at,
    direction_of,
)
from dpspec.comparison.separations import OUTSIDE, MechanismJudge, search_separation
from dpspec.grammar.mechanism import Mechanism
from dpspec.grammar.rule import Rule
from dpspec.grammar.spec import PrivacySpec
from dpspec.specfile.document import Coverage, SpecDocument
from dpspec.verifier.standing import Standing
from dpspec.verifier.verdict import Outcome


@attrs.frozen(kw_only=True)
class Order(Showable):
    """The answers of all pairs of specifications.

    Args:
        names: what the specifications are called.
        answers: in row i and column j whether i implies j; on the diagonal it does.
        comparisons: of each pair i < j, in the order of `itertools.combinations`; computed when they are read, where the answers
            were found without them.
        settled: the cells (i, j) that were compared and left open, and that others answered, each with a k through which.
        about: the files, for whoever shows the order; empty where there are none.
        standings: the claim status of each file; empty where no claim was checked.
    """

    names: tuple[str, ...]
    answers: tuple[tuple[Answer, ...], ...]
    comparisons: Sequence[Comparison] = attrs.field(eq=False, repr=False)
    settled: tuple[tuple[int, int, int], ...] = ()
    about: tuple[SpecDocument, ...] = attrs.field(default=(), eq=False, repr=False)
    standings: tuple[Standing, ...] = attrs.field(default=(), eq=False, repr=False)

    def __len__(self) -> int:
        return len(self.names)

    def implies(self, i: int, j: int) -> bool:
        return self.answers[i][j] is Answer.IMPLIES

    @property
    def unknown(self) -> tuple[tuple[int, int], ...]:
        """The pairs i, j of which it is not known whether i implies j."""
        every = itertools.permutations(range(len(self)), 2)
        return tuple((i, j) for i, j in every if self.answers[i][j] is Answer.UNKNOWN)

    @property
    def classes(self) -> tuple[tuple[int, ...], ...]:
        """The specifications that imply each other, together; in the order of their first ones."""
        found: dict[int, list[int]] = {}
        for i in range(len(self)):
            first = next(j for j in range(i + 1) if self.implies(i, j) and self.implies(j, i))
            found.setdefault(first, []).append(i)
        return tuple(map(tuple, found.values()))

    @property
    def covers(self) -> tuple[tuple[int, int], ...]:
        """The arrows of the Hasse diagram, as places in `classes`: a implies b, and no third class lies between."""
        firsts = [members[0] for members in self.classes]
        below = [{b for b, j in enumerate(firsts) if a != b and self.implies(i, j)} for a, i in enumerate(firsts)]
        return tuple((a, b) for a, held in enumerate(below) for b in sorted(held) if not any(b in below[c] for c in held))

    @property
    def levels(self) -> tuple[tuple[int, ...], ...]:
        """The classes by the length of the longest chain of arrows that leads to them, so that every arrow goes onwards."""
        depth, covers = [0] * len(self.classes), self.covers
        for _ in depth:
            for a, b in covers:
                depth[b] = max(depth[b], depth[a] + 1)
        return tuple(tuple(c for c, d in enumerate(depth) if d == level) for level in range(max(depth, default=-1) + 1))


def order(specs: Sequence[tuple[str, Any]], compare: Compare, progress: Progress | None = None) -> Order:
    """Compare every two specifications, with the argument for each answer.

    Args:
        specs: names and specifications, or files of several promises; at least one.
        compare: what compares two of them.
        progress: called with (done, in all).

    Raises:
        ParameterError: for no specification, or a name that comes twice.
    """
    names = _names(specs)
    known = Implications(size=len(names))
    cells = list(itertools.combinations(range(len(names)), 2))
    comparisons = []
    answers = [[Answer.IMPLIES if i == j else Answer.UNKNOWN for j in range(len(names))] for i in range(len(names))]
    for done, (i, j) in enumerate(cells):
        found = compare(specs[i][1], specs[j][1])
        for one, other, direction in ((i, j, found.forward), (j, i, found.backward)):
            answers[one][other] = direction.answer
            known.add(one, other, direction.answer)
        comparisons.append(found)
        if progress is not None:
            progress(done + 1, len(cells))
    settled = []
    for i, j in itertools.permutations(range(len(names)), 2):  # an open cell that others answer, and one through which
        if answers[i][j] is Answer.UNKNOWN and (answer := known.answer(i, j)) is not Answer.UNKNOWN:
            answers[i][j] = answer
            settled.append((i, j, known.through(i, j)))
    return Order(names=names, answers=tuple(map(tuple, answers)), comparisons=tuple(comparisons), settled=tuple(settled))


def order_of_many(
    specs: Sequence[tuple[str, Any]], answers: SharedAnswers, compare: Compare, progress: Progress | None = None
) -> Order:
    """The same order for many specifications: only the answers, and only those that do not follow from others.

    Specifications that make equal promises are compared once. Those that differ in the number of the budget alone are compared
    first, each with the next larger number, so that the answers among them follow.

    Args:
        specs: names and specifications, or files of several promises; at least one.
        answers: what answers one direction.
        compare: what compares two of them with the argument, for a reader of `Order.comparisons`.
        progress: called with (done, in all).

    Raises:
        ParameterError: for no specification, or a name that comes twice.
    """
    names, promises = _names(specs), [promises_of(spec) for _, spec in specs]
    classes = _equal(promises, answers)
    firsts = [promises[members[0]] for members in classes]
    known, left_open = Implications(size=len(classes)), set[tuple[int, int]]()
    cells = list(dict.fromkeys((*_neighbours(firsts), *itertools.combinations(range(len(classes)), 2))))
    for done, cell in enumerate(cells):
        for i, j in (cell, cell[::-1]):
            if known.answer(i, j) is Answer.UNKNOWN:
                found = answers.of_products(firsts[i], firsts[j])
                known.add(i, j, found)
                if found is Answer.UNKNOWN:
                    left_open.add((i, j))
        if progress is not None:
            progress(done + 1, len(cells))
    place = {i: c for c, members in enumerate(classes) for i in members}
    rows = [[known.answer(place[i], place[j]) for j in range(len(names))] for i in range(len(names))]
    settled = tuple(
        (i, j, classes[known.through(place[i], place[j])][0])
        for i, j in itertools.permutations(range(len(names)), 2)
        if (place[i], place[j]) in left_open and rows[i][j] is not Answer.UNKNOWN
    )
    pairs_ = list(itertools.combinations([spec for _, spec in specs], 2))
    return Order(names=names, answers=tuple(map(tuple, rows)), comparisons=_Comparisons(pairs_, compare), settled=settled)


def promises_of(spec: Any) -> tuple[Promised, ...]:
    """All promises of a specification, or of a file, each with what it covers."""
    return ((Coverage(), spec),) if isinstance(spec, PrivacySpec) else tuple(spec.promises)


def _equal(promises: Sequence[tuple[Promised, ...]], answers: SharedAnswers) -> list[list[int]]:
    """The specifications that make equal promises, together.

    Equal text is not enough where a number was not published: two such numbers may differ, and then neither implies the other.
    """
    classes, place = list[list[int]](), dict[tuple[Promised, ...], int]()
    for i, promised in enumerate(promises):
        first = place.get(promised)
        if first is not None and answers.of_products(promised, promised) is Answer.IMPLIES:
            classes[first].append(i)
        else:
            place.setdefault(promised, len(classes))
            classes.append([i])
    return classes


def _neighbours(promises: Sequence[tuple[Promised, ...]]) -> Iterator[tuple[int, int]]:
    """Pairs of single promises that differ in the number of the budget alone, each with the next larger number."""
    alike: dict[tuple[object, ...], list[tuple[Number, int]]] = {}
    for i, promised in enumerate(promises):
        _, spec = promised[0]
        value = spec.budget.uniform() if len(promised) == 1 else None
        if value is not None:
            blocks = (spec.space, spec.multiverse, spec.input_divergence, spec.output_divergence, spec.budget.parameter)
            alike.setdefault(blocks, []).append((value, i))
    for held in alike.values():
        in_order = [i for _, i in sorted(held, key=lambda item: item[0])]
        yield from ((min(pair), max(pair)) for pair in itertools.pairwise(in_order))


@attrs.frozen
class _Comparisons(Sequence[Comparison]):
    """The comparisons of pairs, each computed when it is read."""

    pairs: Sequence[tuple[Any, Any]]
    compare: Compare
    found: dict[int, Comparison] = attrs.field(factory=dict)

    def __len__(self) -> int:
        return len(self.pairs)

    @overload
    def __getitem__(self, place: int) -> Comparison: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Comparison]: ...
    def __getitem__(self, place: int | slice) -> Comparison | Sequence[Comparison]:
        if isinstance(place, slice):
            return tuple(self[i] for i in range(len(self))[place])
        index = range(len(self))[place]
        if index not in self.found:
            self.found[index] = self.compare(*self.pairs[index])
        return self.found[index]


@attrs.define(kw_only=True)
class SharedAnswers:
    """The answers between many specifications, without their arguments.

    Each pair of equal specifications is compared once. Two spaces mostly differ, and then a mechanism that publishes which
    dataset it is, where the space of the premise does not have it, separates most pairs: it is tried before any derivation. It
    depends on the space of the premise alone, and it is verified once for each premise, and once for each pair of datasets of a
    conclusion.

    Args:
        rules: what derivations may be made of.
        judge: the exact engine.
    """

    rules: Sequence[Rule]
    judge: MechanismJudge
    known: dict[tuple[PrivacySpec, PrivacySpec], Answer] = attrs.field(init=False, factory=dict)
    judged: dict[tuple[object, ...], tuple[Outcome, str]] = attrs.field(init=False, factory=dict)

    def of_products(self, premise: Sequence[Promised], conclusion: Sequence[Promised]) -> Answer:
        """Whether all promises of the one file imply all promises of the other, as in `compare_products`."""
        return answer_about_all(
            [
                answer_of_one(
                    premise,
                    covers,
                    {i: self.of(spec, goal) for i, (covered, spec) in enumerate(premise) if covered.includes(covers)},
                    self.of,
                )
                for covers, goal in conclusion
            ]
        )

    def of(self, premise: PrivacySpec, conclusion: PrivacySpec) -> Answer:
        """Whether the one specification implies the other."""
        answer = self.known.get((premise, conclusion))
        if answer is None:
            outside = premise.space != conclusion.space and self._separated_outside(premise, conclusion)
            answer = Answer.SEPARATED if outside else direction_of(premise, conclusion, self.rules, self.judge).answer
            self.known[premise, conclusion] = answer
        return answer

    def _separated_outside(self, premise: PrivacySpec, conclusion: PrivacySpec) -> bool:
        if conclusion.budget.unpublished() is not None:
            return False
        least = ((spec, budget_at(spec.budget, spec.budget.least(), ZERO)) for spec in (premise, conclusion))
        given, asked = (spec if spec.budget == budget else spec.replace(budget=budget) for spec, budget in least)
        return search_separation(given, asked, self._judge_once, {OUTSIDE: families.outside}).separation is not None

    def _judge_once(self, mechanism: Mechanism, spec: PrivacySpec, datasets: tuple[Dataset, ...]) -> tuple[Outcome, str]:
        """The verdict of the exact engine for a mechanism on some datasets; equal laws on the same datasets are verified once."""
        asked = mechanism, spec, datasets
        if asked not in self.judged:
            laws = spec, datasets, tuple(mechanism.law(dataset, spec.space) for dataset in datasets)
            if laws not in self.judged:
                self.judged[laws] = self.judge(mechanism, spec, datasets)
            self.judged[asked] = self.judged[laws]
        return self.judged[asked]


def _names(specs: Sequence[tuple[str, Any]]) -> tuple[str, ...]:
    names = tuple(name for name, _ in specs)
    if not names or len(set(names)) < len(names):
        raise ParameterError("specifications", "must be at least one, each with a name of its own", value=", ".join(names))
    return names


@attrs.define(kw_only=True)
class Implications:
    """The answers between numbered specifications that follow from known ones by transitivity.

    Implication is transitive: let i => k and k => j. Of a mechanism that satisfies i, extend the laws in any way to the datasets
    that only k has. It satisfies k, since i does not constrain those datasets and implies k for every extension to
    them, and so it satisfies j. From this, k => i with k =/=> j gives i =/=> j, and so does j => k with i =/=> k.

    The rows are sets of numbers, kept as the bits of integers.

    Args:
        size: how many specifications there are.
    """

    size: int
    implied: list[int] = attrs.field(init=False)
    implying: list[int] = attrs.field(init=False)
    separated: list[int] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.implied = [1 << i for i in range(self.size)]
        self.implying = [1 << i for i in range(self.size)]
        self.separated = [0] * self.size

    def add(self, i: int, j: int, answer: Answer) -> None:
        """Record an answer, and what follows from it by transitivity."""
        if answer is Answer.SEPARATED:
            self.separated[i] |= 1 << j
        elif answer is Answer.IMPLIES and not self.implied[i] >> j & 1:
            above, below = self.implying[i], self.implied[j]
            for k in _members(above):
                self.implied[k] |= below
            for k in _members(below):
                self.implying[k] |= above

    def answer(self, i: int, j: int) -> Answer:
        """Whether i implies j, as far as the recorded answers decide it."""
        if self.implied[i] >> j & 1:
            return Answer.IMPLIES
        below = self.implied[j]
        if any(self.separated[k] & below for k in _members(self.implying[i])):
            return Answer.SEPARATED
        return Answer.UNKNOWN

    def through(self, i: int, j: int) -> int:
        """A third specification through which an answer about i and j follows that was not recorded itself."""
        return next((k for k in range(self.size) if k not in (i, j) and self._follows(i, j, k)), j)

    def _follows(self, i: int, j: int, k: int) -> bool:
        if self.implied[i] >> k & 1 and self.implied[k] >> j & 1:
            return True
        return (bool(self.implied[k] >> i & 1) and self.answer(k, j) is Answer.SEPARATED) or (
            bool(self.implied[j] >> k & 1) and self.answer(i, k) is Answer.SEPARATED
        )


def _members(row: int) -> Iterator[int]:
    """The numbers in a row."""
    while row:
        lowest = row & -row
        yield lowest.bit_length() - 1
        row ^= lowest
