"""Flavours of the trust model: local (no one is trusted), shuffled, known features, and attackers without knowledge.

The shuffler makes reports without the names of those who made them.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Annotated, Any, ClassVar, cast

import attrs
from dpspec_divergences import DifferInOnePosition, HammingOrdered, Mult, MultDelta, Neighbour
from dpspec_noise import RandomisedResponse

from dpspec.plugin import (
    Attribute,
    BitVectors,
    Bracket,
    Dataset,
    DatasetSpace,
    Example,
    FiniteLaw,
    Flavour,
    IncompatibleBlocksError,
    InputDivergence,
    Law,
    Marginal,
    Mechanism,
    Number,
    OrderedRecords,
    OutputDivergence,
    PrivacySpec,
    Randomness,
    Registered,
    Table,
    Trivial,
    UniformBudget,
    blocks,
    define,
    errors,
    exact,
    grammar,
    is_a,
    laws,
    ln,
    sorting,
)
from dpspec_flavours.mechanisms import ListedLaw, ListedLaws, NearbyDataset
from dpspec_flavours.networks.blowfish import Policy
from dpspec_flavours.standards import between_neighbours, common


def _nameless(reports: Any) -> Hashable:
    return tuple(sorted(reports, key=repr))


@define
class Shuffled(Mechanism):
    """The shuffled output of a mechanism that answers with a sequence: the multiset of its reports (Cheu et al. 2019).

    A uniformly random order of the reports and their multiset determine the same laws up to randomness that is free of the
    data, so that every output divergence gives both the same number. Where every dataset has n records at least, the others
    hide one of them: n - 1 of them may be clones of what it says (Feldman, McMillan and Talwar 2021). Pure privacy gains nothing,
    as all others may happen to say what is rare.

    Args:
        mechanism: gives a sequence of reports, one for each person.

    >>> mechanism = Shuffled(mechanism=RandomisedResponse(keep_probability="3/4"))
    >>> mechanism.law((0, 1), BitVectors(length=2))
    FiniteLaw({(0, 1): 5/8, (0, 0): 3/16, (1, 1): 3/16})
    """

    name: ClassVar[str] = "shuffled"

    mechanism: Annotated[Mechanism, Registered("mechanisms")]

    def check(self, space: DatasetSpace) -> None:
        self.mechanism.check(space)
        # without records there are no reports, and a sequence of reports inside another one, as of `composed`, is an entry
        small = space if self._view(space) is None else blocks.resized(space, 0, 0) or blocks.resized(space, 2, 2)
        if small is not None:
            for dataset in grammar.first_datasets(small):
                self._reports(dataset, small)

    def law(self, dataset: Dataset, space: DatasetSpace) -> Law:
        return self._reports(space.dataset(dataset), space).push_forward(_nameless)

    def _reports(self, dataset: Dataset, space: DatasetSpace) -> FiniteLaw:
        """The law of the sequence of reports: an answer for each record, or records of a dataset of the space.

        Other tuples are no sequences of reports. Shuffled counts of cells, for example, would hide which cell has which count,
        while a table is released in which each record still says its cell.
        """
        law = self.mechanism.law(dataset, space)
        if self._view(space) is not None and not isinstance(law, FiniteLaw):
            rule = "has more reports than its law is listed for"
            raise errors.NotEnumerableError(f"mechanism {self.name}", rule, "take fewer records")
        if not isinstance(law, FiniteLaw) or not self._are_reports(law.support, dataset, space):
            rule = "needs reports that come in a sequence, finitely many in all"
            raise IncompatibleBlocksError(
                f"mechanism {self.name}", rule, "shuffle randomised response", value=str(self.mechanism)
            )
        return law

    def _are_reports(self, outcomes: Iterable[Hashable], dataset: Dataset, space: DatasetSpace) -> bool:
        if grammar.answers_queries(self.mechanism) or not space.is_ordered:
            return False
        if not all(isinstance(outcome, tuple) for outcome in outcomes):
            return False
        view = self._view(space)
        if view is not None:
            records = sum(view.table.cell_of(record, space) is not None for record in view.read(dataset, space))
            return all(len(cast("tuple[Hashable, ...]", outcome)) == records for outcome in outcomes)
        made = self._made(space)
        by_record = made is not None and [type(view) for view in made.views] == [grammar.Report]
        return by_record or all(blocks.is_dataset(outcome, space) for outcome in outcomes)

    def _view(self, space: DatasetSpace) -> grammar.Report | None:
        """How each record is answered for, where the mechanism says that it is made of nothing else."""
        found = self._made(space)
        views = () if found is None or found.reads or found.is_sampled else found.views
        return cast("grammar.Report", views[0]) if [type(view) for view in views] == [grammar.Report] else None

    def _made(self, space: DatasetSpace) -> grammar.Structure | None:
        try:
            return grammar.stated_structure(self.mechanism, space)
        except grammar.NoStructure:
            return None

    def structure(self, space: DatasetSpace) -> grammar.Structure:
        """How often each report comes, bounded from above; others hide a record where there is a report of each record."""
        view, found = self._view(space), self._made(space)
        if view is None or found is None:
            raise grammar.NoStructure("it is not made of one report for each record, and of nothing else")
        least = grammar.records_read(view, space)[0] if found.states(view, self.mechanism) else 0
        shuffled = ShuffledReports(view.table, view.laws, min(max(0, least - 1), MOST_OTHERS))
        stated = grammar.SizeHypothesis(view=shuffled, by=self)
        return grammar.Structure(views=(shuffled,), publishes_views=False, hypotheses=(stated,))

    def check_release(self, space: DatasetSpace) -> None:
        self.mechanism.check_release(space)

    def release(self, table: Table, space: DatasetSpace, source: Randomness) -> Table:
        """The reports sorted by their texts, as the law lists them: the data determine no more than in a random order."""
        self.check(space)
        return sorting.sorted_records(self.mechanism.release(table, space, source), key=repr)

    @classmethod
    def examples(cls) -> Iterable[tuple[Shuffled, DatasetSpace]]:
        """What the conformance kit checks it with."""
        yield cls(mechanism=RandomisedResponse(keep_probability=Fraction(3, 4))), BitVectors(length=2)


MOST_OTHERS = 2_000
"""So many others are counted as hiding a record; more of them hide it better."""


@attrs.frozen
class ShuffledReports(grammar.View):
    """Reports in random order: a bound from above.

    Let a report be biased by (a, b): of categories v and w, some outcomes have probability a under v and b < a under w, all in
    one ratio, some the other way round, and the rest are equally likely under both. Let A and B be the laws of the former two,
    when they occur. As no ratio is beyond a/b, a report of any category contains the mixture b A + b B. So each of the others is
    a clone with probability 2b, by a published random bit: a draw from A or B, with equal probabilities. The record itself is, by
    another random bit, biased with probability a + b, to A with probability a/(a + b) under v and b/(a + b) under w. The output
    is computed from the number of draws from A among these and from what the coins leave, which v and w do not change (Feldman,
    McMillan and Talwar 2021, Theorem 3.1, for this shape).

    Args:
        table: the categories.
        laws: of one report, of two categories; any two have the same divergence.
        others: there are at least so many others among the records that are read; fewer clones are never harder to see through.
    """

    table: Marginal
    laws: grammar.LawPair
    others: int

    def changed(self, counts: grammar.CountChanges) -> tuple[grammar.Case, ...] | None:
        if counts != (-1, 1):
            return ((),) if not counts else None
        before, after = self._among(self.others)
        if not self.others:
            return (((before, after),),)
        least = self.others + 1
        return (((grammar.SizedLaw(law=before, least=least), grammar.SizedLaw(law=after, least=least)),),)

    def _among(self, others: int) -> grammar.LawPair:
        """The laws of one record replaced among so many others."""
        leaning = leaning_of(*self.laws)
        if leaning is None or not others:
            return self.laws
        a, b = leaning
        return _Cloned(a, b, others), _Cloned(b, a, others)

    def between(self, before: Sequence[Hashable], after: Sequence[Hashable], space: DatasetSpace) -> grammar.Case | None:
        if len(before) != len(after) or None in (*before, *after):
            return None
        gone = (Counter(before) - Counter(after)).total()
        if gone != 1:  # what was reported before it was shuffled
            return (self.laws,) * gone
        return (self._among(min(len(before) - 1, MOST_OTHERS)),)


def leaning_of(one: Law, other: Law) -> tuple[Fraction, Fraction] | None:
    """(a, b) of the laws of one report of two categories; None where they have another shape, or an outcome identifies a
    category.

    >>> leaning_of(FiniteLaw.of({"x": "1/2", "y": "1/4", "z": "1/4"}), FiniteLaw.of({"x": "1/4", "y": "1/2", "z": "1/4"}))
    (Fraction(1, 2), Fraction(1, 4))
    """
    if not is_a(one, FiniteLaw) or not is_a(other, FiniteLaw):
        return None
    both = [(one.probability(o), other.probability(o)) for o in dict.fromkeys((*one.support, *other.support))]
    a, b = (sum((pair[side] for pair in both if pair[0] > pair[1]), Fraction(0)) for side in (0, 1))
    ratios = {max(p / q, q / p) for p, q in both if p != q and p and q}
    against = sum((p for p, q in both if p < q), Fraction(0))
    return (a, b) if b and ratios == {a / b} and against == b and all(p and q for p, q in both) else None


@attrs.frozen
class _Cloned(Law):
    """The number of clones among the others, whether the record is biased, and the draws from A among them all.

    Args:
        ours, theirs: the probabilities of A and B for the record, where it is biased.
        others: how many others there are.
    """

    ours: Fraction
    theirs: Fraction
    others: int

    def against(self, other: Law) -> laws.Dichotomy:
        if self == other:
            return laws.IDENTICAL
        if not is_a(other, _Cloned) or (other.ours, other.theirs, other.others) != (self.theirs, self.ours, self.others):
            raise errors.NoFormulaError("shuffled reports", "are compared with those of two categories", "compare others by laws")
        top = Bracket.exactly(ln(max(self.ours, self.theirs) / min(self.ours, self.theirs)))
        return laws.Sandwich.of(self._cells, top, top)

    def _cells(self, precision: int) -> tuple[laws.Cell, ...]:
        """Cells of few numbers of clones, each standing for larger ones up to the next, and of draws from A among them."""
        ratio = (exact.ball(self.ours) / exact.ball(self.theirs)).log()
        widest = -abs(ratio), abs(ratio)
        neither = exact.ball(1 - self.ours - self.theirs)
        cells = [laws.Cell(neither, neither, exact.ball(Fraction(0)), exact.ball(Fraction(0)))]
        for masses, is_rest in _clone_masses(self.ours, self.theirs, self.others):
            p, q = map(exact.ball, masses)
            cells.append(laws.Cell(p, q, *widest) if is_rest else laws.Cell.atom(p, q))
        return tuple(cells)


@lru_cache(maxsize=64)
def _clone_masses(ours: Fraction, theirs: Fraction, others: int) -> tuple[tuple[tuple[Fraction, Fraction], bool], ...]:
    """P and Q of a number of clones and of draws from A, for a biased record; of those far out together."""
    found: list[tuple[tuple[Fraction, Fraction], bool]] = []
    for clones, probability in _few_clones(others, 2 * min(ours, theirs)).items():
        far = 5 * math.isqrt(clones) + 10
        low, high = max(0, clones // 2 - far), min(clones + 1, clones // 2 + far)
        ways = math.comb(clones, low - 1) if low else 0  # of clones, with one draw from A less
        p = q = probability * (ours + theirs)
        for drawn in range(low, high + 1):
            same = math.comb(clones, drawn)
            one, other = (probability * Fraction(a * ways + b * same, 2**clones) for a, b in ((ours, theirs), (theirs, ours)))
            found.append(((one, other), False))
            p, q, ways = p - one, q - other, same
        if p or q:
            found.append(((p, q), True))
    return tuple(found)


@lru_cache(maxsize=64)
def _few_clones(others: int, probability: Fraction) -> dict[int, Fraction]:
    """Numbers of clones, each with the probability of at least so many and of fewer than the next."""
    mean, deviation = others * probability, math.isqrt(int(others * probability * (1 - probability))) + 1
    step = max(1, deviation // 2)
    floors = sorted(
        {0, *(n for n in range(int(mean) - 9 * deviation, min(others, int(mean) + 4 * deviation) + 1, step) if n > 0)}
    )
    top, bottom = probability.numerator, probability.denominator
    weights = [math.comb(others, n) * top**n * (bottom - top) ** (others - n) for n in range(others + 1)]
    return {
        low: Fraction(sum(weights[low:high]), bottom**others) for low, high in zip(floors, (*floors[1:], others + 1), strict=True)
    }


# --- free-lunch, label, local and shuffle privacy -------------------------------------------------


_ANSWER = Attribute(name="answer", categories=("no", "unsure", "yes"))


def _people(count: int, *attributes: Attribute) -> OrderedRecords:
    return OrderedRecords(attributes=attributes or (_ANSWER,), least=count, most=count)


def _spec(
    space: OrderedRecords, distance: InputDivergence, epsilon: Number, standard: OutputDivergence | None = None
) -> PrivacySpec:
    return PrivacySpec(
        space=space,
        multiverse=Trivial(),
        input_divergence=distance,
        output_divergence=standard or Mult(),
        budget=UniformBudget(parameter="epsilon", value=epsilon),
    )


class FreeLunchPrivacy(Flavour):
    """Free-lunch privacy: P_x(S) <= e^epsilon P_x'(S) for all datasets x, x', whatever their distance.

    It protects whatever the attacker may assume about the data, and so lets nothing be learnt about everybody together either:
    Kifer
    and Machanavajjhala introduce it to show that.

    >>> from dpspec import verify
    >>> flavour = FreeLunchPrivacy()
    >>> [verify(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "free-lunch-privacy"
    title: ClassVar[str] = "Free-lunch privacy: every two datasets are neighbours"
    citation: ClassVar[str] = "Kifer and Machanavajjhala, SIGMOD 2011"
    changes: ClassVar[tuple[str, ...]] = ("input_divergence",)

    def spec(self) -> PrivacySpec:
        return _spec(_people(2), self._any(), ln(4))

    def _any(self) -> InputDivergence:
        return blocks.WithinDistance(of=HammingOrdered(), most=2)

    def compared(self) -> PrivacySpec:
        return common(input_divergence=self._any())

    def satisfied_by(self) -> Example:
        return Example(
            title="the data with odds 4 : 1 against each other dataset",
            mechanism=NearbyDataset(distance=self._any(), rate=ln(4)),
            because="randomised response of the dataset as a whole: every two laws have the ratio 4",
        )

    def broken_by(self) -> Example:
        return Example(
            title="randomised response of each person, with odds 4 : 1",
            mechanism=NearbyDataset(distance=HammingOrdered(), rate=ln(4)),
            because="that is ln(4)-differentially private, but two persons together are distinguished with the ratio 16",
        )


class LabelDP(Flavour):
    """Label differential privacy: P_x(S) <= e^(epsilon d(x, x')) P_x'(S), d counts the labels that differ.

    The features are known to everybody: d is infinite where they differ, which is a Blowfish policy whose edges join the labels
    of
    one feature.

    >>> from dpspec import verify
    >>> flavour = LabelDP()
    >>> [verify(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "label-dp"
    title: ClassVar[str] = "Label differential privacy: features are public, labels are not"
    citation: ClassVar[str] = "Chaudhuri and Hsu, COLT 2011; Ghazi, Golowich, Kumar, Manurangsi and Zhang, NeurIPS 2021"
    changes: ClassVar[tuple[str, ...]] = ("space", "input_divergence")

    def spec(self) -> PrivacySpec:
        age = Attribute(name="age", categories=("young", "old"))
        return _spec(_people(2, age, _ANSWER), self._labels(), ln(3))

    def _labels(self) -> Policy:
        return _same_age(itertools.combinations(_ANSWER.values(), 2))

    def _steps(self) -> Policy:
        return _same_age(itertools.pairwise(_ANSWER.values()))

    def satisfied_by(self) -> Example:
        return Example(
            title="the age of each person as it is, and the answer with odds 3 : 1 against each other one",
            mechanism=NearbyDataset(distance=self._labels(), rate=ln(3)),
            because="an answer has likelihood ratio 3, and the ages are the same in both datasets",
        )

    def broken_by(self) -> Example:
        return Example(
            title="the age as it is, and the answer with odds 3 : 1 for each step on the scale no, unsure, yes",
            mechanism=NearbyDataset(distance=self._steps(), rate=ln(3)),
            because="any two answers are neighbours, and from no to yes are two steps, at likelihood ratio 3 each",
        )


def _same_age(pairs: Iterable[tuple[Any, Any]]) -> Policy:
    """The policy that joins these pairs of answers, the age being the same."""
    return Policy(edges=tuple(((age, one), (age, other)) for one, other in pairs for age in ("young", "old")))


class LocalDP(Flavour):
    """Local differential privacy: P_v(S) <= e^epsilon P_v'(S) for all values v, v' of one person, who trusts no other party.

    The dataset is one record, and the mechanism is what its owner runs before anything is sent. A protocol in one round
    satisfies it when the randomiser of each person does; that these run separately is a property of the program, not of its laws.

    >>> from dpspec import verify
    >>> flavour = LocalDP()
    >>> [verify(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "local-dp"
    title: ClassVar[str] = "Local differential privacy: each person randomises their own record"
    citation: ClassVar[str] = "Kasiviswanathan, Lee, Nissim, Raskhodnikova and Smith, FOCS 2008"
    changes: ClassVar[tuple[str, ...]] = ("space",)

    def spec(self) -> PrivacySpec:
        return _spec(_people(1, Attribute(name="drink", categories=_DRINKS)), HammingOrdered(), ln(3))

    def satisfied_by(self) -> Example:
        return Example(
            title="the drink with odds 3 : 1 against each other one",
            mechanism=NearbyDataset(distance=HammingOrdered(), rate=ln(3)),
            because="randomised response with four answers: 1/2, and 1/6 for each wrong one",
        )

    def broken_by(self) -> Example:
        return Example(
            title="for each drink yes or no, each answered truthfully with probability 3/4",
            mechanism=_each_drink(Fraction(3, 4)),
            because="another drink changes two of the four answers, at likelihood ratio 3 each",
        )


_DRINKS = ("coffee", "tea", "water", "wine")


def _each_drink(keep: Fraction) -> ListedLaws:
    """Randomised response on each entry of the indicator of a drink."""
    rows = []
    for drink in _DRINKS:
        law = []
        for answers in itertools.product((0, 1), repeat=len(_DRINKS)):
            right = sum(answer == (drink == other) for answer, other in zip(answers, _DRINKS, strict=True))
            law.append(("".join(map(str, answers)), keep**right * (1 - keep) ** (len(_DRINKS) - right)))
        rows.append(ListedLaw(dataset=((drink,),), law=tuple(law)))
    return ListedLaws(laws=tuple(rows))


class ShuffleDP(Flavour):
    """Differential privacy in the shuffle model: the multiset of all reports is (epsilon, delta)-private on neighbours.

    Who trusts a shuffler to take the names off can send a less noisy report. The shuffler is a part of the mechanism.

    >>> from dpspec import verify
    >>> flavour = ShuffleDP()
    >>> [verify(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "shuffle-dp"
    title: ClassVar[str] = "Shuffle privacy: the reports of three persons without their names"
    citation: ClassVar[str] = "Cheu, Smith, Ullman, Zeber and Zhilyaev, EUROCRYPT 2019"
    changes: ClassVar[tuple[str, ...]] = ("output_divergence", "input_divergence")

    def spec(self) -> PrivacySpec:
        near = Neighbour(relation=DifferInOnePosition())
        return _spec(_people(3), near, ln(2), MultDelta(delta=_DELTA))

    def _reports(self) -> NearbyDataset:
        return NearbyDataset(distance=HammingOrdered(), rate=ln(4))

    def compared(self) -> PrivacySpec:
        return between_neighbours(MultDelta(delta=Fraction(1, 100)), ln(3))

    def satisfied_by(self) -> Example:
        return Example(
            title="the number of each answer among three reports, each true with odds 4 : 1 against each other answer",
            mechanism=Shuffled(mechanism=self._reports()),
            because=f"one person is hidden among the errors of the others: at e^epsilon = 2 the excess is {_DELTA}, not 1/3",
        )

    def broken_by(self) -> Example:
        return Example(
            title="the same reports, each with the name of its person",
            mechanism=self._reports(),
            because="a report alone has the likelihood ratio 4, and the excess 4/6 - 2 x 1/6 = 1/3",
        )


_DELTA = Fraction(41, 216)


# --- flavours about who is trusted with what ------------------------------------------------------
