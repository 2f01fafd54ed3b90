"""Comparing specifications: in each direction derived, separated or unknown, block by block; and the order of many (Bailie,
Gong, Meng and Drechsler 2024).

Where no derivation is found, each block in which the nearest specification still differs from the goal is named. What separates
two specifications is a mechanism that satisfies the one and not the other.

Families propose mechanisms, each with its argument why it satisfies the premise on the whole space. What they propose is
believed about nothing: the exact engine runs every separating mechanism, on the two datasets against the conclusion, and on a
small instance around them against the premise.

The order of many specifications says who implies whom, who is equivalent, and which arrows a picture needs.

S <= S' in strength when S' implies S. Implication is reflexive and transitive, so equivalent specifications form classes and the
classes a partial order; its Hasse diagram has an arrow from a class to each one that it implies with none between.
"""

from __future__ import annotations

import enum
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NoReturn, overload

import attrs

from dpspec.base.display import Showable
from dpspec.base.errors import (
    DpspecError,
    Faults,
    IncompatibleBlocksError,
    NoFormulaError,
    NotEnumerableError,
    ParameterError,
    count,
)
from dpspec.base.exact import INFINITY, ZERO, Bracket, Number, number
from dpspec.base.memo import key_of, memoize
from dpspec.base.promises import is_a
from dpspec.base.types import Progress
from dpspec.blocks.budget import Budget, settled, stands_for
from dpspec.blocks.input_divergence import InputDivergence
from dpspec.blocks.invariant import Marginal
from dpspec.blocks.output_divergence import OutputDivergence
from dpspec.blocks.parts import nesting_of
from dpspec.blocks.records import on_one_schema
from dpspec.blocks.space import MEMBERS, Dataset, DatasetSpace
from dpspec.comparison import families
from dpspec.comparison.answers import Candidate, CandidateFamily, Source, extremal_answers, searched_answers
from dpspec.grammar.mechanism import Mechanism
from dpspec.grammar.rule import Conversion, Rule, Step
from dpspec.grammar.spec import PrivacySpec
from dpspec.reason.rules import LISTED, bound_of, compared_pairs, constant_of, determined, promise_for
from dpspec.reason.search import MOVING_BLOCKS, Derivation, conversion_paths, moved, search
from dpspec.reason.small_spaces import allowance, entries, own_pairs
from dpspec.specfile.document import SpecDocument
from dpspec.verifier.document import Standing
from dpspec.verifier.verdict import Outcome


class Answer(enum.Enum):
    """Whether one specification implies another."""

    IMPLIES = "implies"
    SEPARATED = "does not imply"
    UNKNOWN = "unknown"

    def __bool__(self) -> NoReturn:
        raise TypeError(f"an answer is not a truth value: compare it, as in `answer is Answer.{self.name}`")


class Implication(enum.Enum):
    """The relation of two specifications."""

    EQUIVALENT = "equivalent"
    IMPLIES = "implies"
    IMPLIED_BY = "implied by"
    INCOMPARABLE = "incomparable"
    DIFFERENT_DATA = "different data"
    UNKNOWN = "unknown"


@attrs.frozen(kw_only=True)
class Argument:
    """One line of the argument about S => S': a step that was found, or what is missing.

    Args:
        block: which of the five.
        holds: True, False, or None when it could not be decided.
        reason: the argument, with its source.
        factor: for a divergence, the constant by which it passes to the budget, as exact text.
        rule: for a step, the rule that it applies.
    """

    block: str
    holds: bool | None
    reason: str
    factor: str = "1"
    rule: str | None = None


@attrs.frozen(kw_only=True)
class Separation:
    """A mechanism that satisfies the one specification and not the other, checked by the exact engine.

    Args:
        mechanism: what it does, in words.
        argument: why it satisfies the first specification on the whole space.
        left, right: two datasets at which it breaks the second one.
        checks: what the engine said, for the first specification on the instance and for the second one on the two datasets.
        run: the mechanism itself.
        instance: the datasets of the first space, the two among them where it has them, on which the first half was checked.
        kind: "mechanism", or "space" where one of the two is a dataset of the second space and not of the first, so that the
            first specification does not constrain its law.
    """

    mechanism: str
    argument: str
    left: Dataset
    right: Dataset
    checks: tuple[str, str]
    run: Mechanism = attrs.field(repr=False)
    instance: tuple[Dataset, ...]
    kind: str = "mechanism"


@attrs.frozen(kw_only=True)
class Direction:
    """The question S => S': does every mechanism that satisfies S satisfy S'?

    Args:
        answer: derived, separated or unknown.
        steps: the steps of the derivation; without one, those to the nearest specification, and what is missing then.
        derivation: when derived, the whole chain as data.
        separation: when separated, the mechanism that shows it.
        tried: when unknown, what was tried in search of one.
    """

    answer: Answer
    steps: tuple[Argument, ...]
    derivation: Derivation | None = None
    separation: Separation | None = None
    tried: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class Comparison(Showable):
    """Both directions between two specifications, and the notes that keep a reader from comparing budgets only.

    Args:
        left, right: the two specifications.
        forward, backward: whether the left one implies the right one, and the right one the left one.
        notes: what keeps a reader from comparing budgets only.
        restated: what was added to the schema of each, where the two were restated on one; empty for specifications as they are.
        about: the two files and the status of their claims, for display; empty where it was not checked.
    """

    left: PrivacySpec
    right: PrivacySpec
    forward: Direction
    backward: Direction
    notes: tuple[str, ...]
    restated: tuple[str, ...] = ()
    about: tuple[tuple[SpecDocument, Standing], ...] = attrs.field(default=(), eq=False, repr=False)

    def __bool__(self) -> NoReturn:
        raise TypeError("a comparison is not a truth value: use comparison.relation")

    @property
    def relation(self) -> Implication:
        """The two answers in one word."""
        forward, backward = self.forward.answer, self.backward.answer
        if Answer.IMPLIES in (forward, backward):
            if forward is backward:
                return Implication.EQUIVALENT
            return Implication.IMPLIES if forward is Answer.IMPLIES else Implication.IMPLIED_BY
        if describe_different_data(self.left.space, self.right.space):
            return Implication.DIFFERENT_DATA
        return Implication.UNKNOWN if Answer.UNKNOWN in (forward, backward) else Implication.INCOMPARABLE


# --- one schema -----------------------------------------------------------------------------------


def describe_different_data(left: DatasetSpace, right: DatasetSpace) -> bool:
    """Whether neither space is known to be a part of the other, and no common schema is known, so that budgets mean nothing to
    each other."""
    if left == right or left.includes(right) is not None or right.includes(left) is not None:
        return False
    return on_one_schema(left, right) is None


def restated(left: PrivacySpec, right: PrivacySpec) -> tuple[PrivacySpec, PrivacySpec, tuple[str, ...]]:
    """Two specifications on one schema, where each has the attributes that it lacks and the other one has; and what was added.

    Its invariants, distance and budget stay as they are written. Let M satisfy a specification on the schema that it lacks the
    attributes in, and forget them first: x -> M(forgetting(x)). Tables over its own attributes do not change by that, so two
    datasets of one universe stay in one universe; and records that are equal stay equal, so that no number of records that are
    replaced, added or removed grows. So this satisfies the specification as restated, and whatever that implies.

    Unchanged are specifications on spaces of which one is a part of the other, or of different data; and those with invariants
    that are no marginals, with a distance that is no price of changing records, or with a budget that differs by universe.
    """
    if left.space.includes(right.space) is not None or right.space.includes(left.space) is not None:
        return left, right, ()
    spaces = on_one_schema(left.space, right.space)
    if spaces is None:
        return left, right, ()
    found, notes = [], []
    for letter, spec, space in (("A", left, spaces[0]), ("B", right, spaces[1])):
        if spec.space == space:
            found.append(spec)
            continue
        if not _forgets(spec):
            return left, right, ()
        try:
            found.append(spec.replace(space=space))
        except (IncompatibleBlocksError, Faults):  # a block that names an attribute in another sense
            return left, right, ()
        added = [a for unit in space.units for a in _own(space, unit) if a not in _own(spec.space, unit)]
        notes.append(f"{letter} is restated with the attributes that its schema lacks: {', '.join(dict.fromkeys(added))}")
    return found[0], found[1], tuple(notes)


def _forgets(spec: PrivacySpec) -> bool:
    """Whether what it promises stays promised of a mechanism that forgets attributes which its schema lacks."""
    held, steps = spec.multiverse.induced_by(), spec.input_divergence.record_steps(spec.space)
    one = spec.budget.uniform() is not None or spec.budget.unpublished() is not None
    return held is not None and all(is_a(c, Marginal) for c in held) and steps is not None and one


def _own(space: DatasetSpace, unit: str) -> list[str]:
    return [attribute.name for attribute in space.attributes_of(unit) if attribute.name != MEMBERS]


# --- what is missing ------------------------------------------------------------------------------


def gaps(nearest: PrivacySpec, goal: PrivacySpec, rules: Sequence[Rule]) -> Iterator[Argument]:
    """One finding for each block that differs, with what would be needed; those after an open one wait for it."""
    if nearest.space != goal.space:
        yield _space(nearest, goal)
        return
    looked: list[Callable[[PrivacySpec, PrivacySpec], Argument | None]] = [_multiverse, _input, partial(_output, rules), _budget]
    yield from (finding for look in looked if (finding := look(nearest, goal)) is not None)


def _space(nearest: PrivacySpec, goal: PrivacySpec) -> Argument:
    if nearest.space.includes(goal.space) is None:
        reason = "two different dataset spaces; that of the premise is not known to hold all datasets of that of the conclusion"
    elif nearest.multiverse.induced_by() is None or nearest.budget.uniform() is None:
        reason = "on the smaller space, only universes of invariants with one budget are known to stay what they are"
    else:
        reason = f"the distance ({nearest.input_divergence.in_words()}) is not known to be as large on the smaller space"
    return Argument(block="space", holds=None, reason=reason)


def _multiverse(nearest: PrivacySpec, goal: PrivacySpec) -> Argument | None:
    if nearest.multiverse == goal.multiverse:
        return None
    coarse, fine = nearest.multiverse.induced_by(), goal.multiverse.induced_by()
    if coarse is not None and fine is not None:
        found = determined(fine, coarse, goal.space)
        if found.answer is True:
            return Argument(block="multiverse", holds=None, reason="a budget that differs by universe, and other universes")
        return Argument(block="multiverse", holds=found.answer, reason=found.reason)
    pairs = compared_pairs(goal)
    if pairs is None:
        reason = f"universes that are not induced by invariants are compared on at most {LISTED} datasets only"
        return Argument(block="multiverse", holds=None, reason=reason)
    for _, left, right in pairs:
        if not nearest.multiverse.share_universe(left, right, nearest.space):
            reason = f"{left} and {right} share a universe of the conclusion and none of the premise"
            return Argument(block="multiverse", holds=False, reason=reason)
    return Argument(block="multiverse", holds=None, reason="a budget that differs by universe, and other universes")


def _input(nearest: PrivacySpec, goal: PrivacySpec) -> Argument | None:
    smaller, larger = nearest.input_divergence, goal.input_divergence
    if smaller == larger:
        return None
    if bound_of(smaller, goal) is not None:
        reason = "a budget of this kind, one for each universe, is not rescaled"
    else:
        ours, theirs = f"the premise ({smaller.in_words()})", f"the conclusion ({larger.in_words()})"
        reason = f"unknown how many changes of {ours} make one of {theirs} at most{_size(smaller, larger, goal.space)}"
    return Argument(block="input divergence", holds=None, reason=reason)


def _size(smaller: InputDivergence, larger: InputDivergence, space: DatasetSpace) -> str:
    """A size that the space does not state, where the two count different units."""
    ours, theirs = smaller.counted_unit(), larger.counted_unit()
    if ours is None or theirs is None or ours == theirs:
        return ""
    within = space.units.index(ours) > space.units.index(theirs)
    most = nesting_of(space).most_changed(ours, theirs)
    if most is None and within:
        return f"; missing: the largest number of {ours} records that one {theirs} changes, which the space does not state"
    if most is None:
        return f"; nothing bounds the number of {ours} records that change with one {theirs}"
    return "" if space.fixes_size(ours) else f"; not all datasets have equally many {ours} records"


def _output(rules: Sequence[Rule], nearest: PrivacySpec, goal: PrivacySpec) -> Argument | None:
    source, target = nearest.output_divergence, goal.output_divergence
    if source == target:
        return None
    return Argument(block="output divergence", holds=None, reason=_unconverted(nearest, target, rules))


def _unconverted(nearest: PrivacySpec, target: OutputDivergence, rules: Sequence[Rule]) -> str:
    """The reason why no step leads to another output divergence: no formula, none for as much, or none that applies here."""
    source, distance = nearest.output_divergence, nearest.input_divergence
    between = f"from {source.in_words()} to {target.in_words()}"
    amount = nearest.budget.uniform()
    if amount is None:
        return f"a budget that differs by universe is not converted {between}"
    found = conversion_paths(nearest, target, rules)
    usable = [path for path in found if not path.known]
    if usable:
        value = usable[0].value.upper.decimal(6)
        number_ = f"{target.budget_parameters[0]} about {value} by {' and '.join(usable[0].names)}"
        known = f"{count(len(usable), 'conversion')} {between} {'is' if len(usable) == 1 else 'are'} known, the best {number_}"
        if distance.is_neighbour_form:
            return f"{known}; it does not apply to a budget stated as {nearest.budget.parameter}"
        return (
            f"{known}, for neighbours only: datasets at distance 1. The distance ({distance.in_words()}) also compares datasets "
            "that are further apart"
        )
    if found:
        return f"the conversions {between} need to know the mechanism: {found[0].known[0].needs}"
    ends = {rule.target for rule in rules if isinstance(rule, Conversion) and rule.source == source.name}
    if target.name in ends:
        return f"no conversion {between} gives a finite number for {nearest.budget.parameter} = {amount.plain()}"
    return f"neither a factor nor a conversion is known {between}"


def _budget(nearest: PrivacySpec, goal: PrivacySpec) -> Argument | None:
    if nearest.input_divergence != goal.input_divergence or nearest.output_divergence != goal.output_divergence:
        return Argument(block="budget", holds=None, reason="not comparable until the divergences are")
    if nearest.budget == goal.budget:
        return None
    given, allowed = constant_of(nearest), constant_of(goal)
    if given is None or allowed is None:
        reason = "budgets that differ by universe are compared in each, on spaces that can be listed, and one is larger"
        return Argument(block="budget", holds=None, reason=reason)
    holds = given <= allowed
    return Argument(block="budget", holds=holds, reason=f"{given} {'<=' if holds else '>'} {allowed} as Lipschitz constants")


# --- separations ----------------------------------------------------------------------------------


MechanismJudge = Callable[[Mechanism, PrivacySpec, tuple[Dataset, ...]], tuple[Outcome, str]]
"""Runs the exact engine on some datasets; returns the outcome and a line that describes it."""

INSTANCE = 10
"""On so many datasets of its space the premise is checked, where it has so many that it compares."""

INSTANCE_ENTRIES = 100_000
"""... and on fewer where they are large: together with the pair itself they hold at most this many entries."""


def _by(family: Callable[..., Iterator[Candidate]], source: Source) -> CandidateFamily:
    return partial(family, sources=(source,))


MOST_UNDECIDED = 24
"""After so many candidates whose laws no precision decides, no further ones are checked."""

OUTSIDE = "which dataset it is, where the space of the premise does not have it"

FAMILIES: dict[str, CandidateFamily] = {
    "the invariants of the premise, published": families.invariants,
    "a count, the distance from x, or whether the dataset is x, each with the least noise": _by(
        families.answered, extremal_answers
    ),
    "who is in reach of x by the input divergence": families.reach,
    "a cut of all datasets in two": _by(families.cuts, extremal_answers),
    "one event, as likely as the premise allows": families.events,
    "the same numbers with coins, leaks and noise, as strong as they can be": _by(families.answered, searched_answers),
    "the same cuts so": _by(families.cuts, searched_answers),
    OUTSIDE: families.outside,
}
"""What may separate, in the order in which it is tried, by what it is called in an answer that found nothing. What one space
lacks comes last: it says nothing about the promises."""

OF_DIFFERENT_DATA: dict[str, CandidateFamily] = {OUTSIDE: families.outside, **FAMILIES}
"""The same where the two describe different data: there is no more to be said."""


@attrs.frozen(kw_only=True)
class SeparationSearch:
    """The result of the search for a separation.

    Args:
        separation: a separating mechanism; None when none was found.
        tried: what was tried, in words, with the number of mechanisms of each family.
    """

    separation: Separation | None
    tried: tuple[str, ...] = ()


def separate(premise: PrivacySpec, conclusion: PrivacySpec, judge: MechanismJudge) -> Separation | None:
    """A mechanism that satisfies `premise` and not `conclusion`, or None when none was found."""
    return search_separation(premise, conclusion, judge).separation


def search_separation(
    premise: PrivacySpec,
    conclusion: PrivacySpec,
    judge: MechanismJudge,
    families: Mapping[str, CandidateFamily] | None = None,
) -> SeparationSearch:
    """Look for what separates two specifications, and say what was tried.

    Of candidates that put the same two laws on their pair only the one with the least allowance is checked. No more candidates
    are checked after `MOST_UNDECIDED` whose laws no precision decides: these are the ones that take long.
    """
    tried, kept = [], _KeptPairs(conclusion)
    if families is None:
        families = OF_DIFFERENT_DATA if describe_different_data(premise.space, conclusion.space) else FAMILIES
    for words, family in families.items():
        proposed, problem = 0, ""
        try:
            for candidate in family(premise, conclusion):
                proposed += 1
                if kept.undecided >= MOST_UNDECIDED:
                    problem = f"; stopped after {MOST_UNDECIDED} whose laws no precision decides"
                    break
                found = None if kept.holds(candidate) else _checked(candidate, premise, conclusion, judge, kept)
                if found is not None:
                    return SeparationSearch(separation=found)
        except NotEnumerableError as fault:  # a block that needs the list of a space that has none
            problem = f"; stopped: {fault}"
        tried.append((f"{words}: {proposed} mechanisms" if proposed else f"{words}: nothing to try") + problem)
    return SeparationSearch(separation=None, tried=tuple(tried))


class _KeptPairs:
    """Pairs of laws that do not break the conclusion, with the least allowance at which that was found."""

    def __init__(self, conclusion: PrivacySpec) -> None:
        self._conclusion = conclusion
        self._allowed: dict[object, Number] = {}
        self.undecided = 0

    def holds(self, candidate: Candidate) -> bool:
        """Whether the pair of laws of a candidate does not break the conclusion at a smaller allowance."""
        found = self._of(candidate)
        return found is not None and self._allowed.get(found[0], INFINITY) <= found[1].lower

    def add(self, candidate: Candidate, outcome: Outcome) -> None:
        """Keep that a candidate does not break the conclusion."""
        self.undecided += outcome is Outcome.UNDECIDED
        found = self._of(candidate)
        if found is not None:
            key, allowed = found
            self._allowed[key] = min(self._allowed.get(key, INFINITY), allowed.upper)

    def _of(self, candidate: Candidate) -> tuple[object, Bracket] | None:
        """The two laws as a key, and what the conclusion allows between them; None where one of these is not known."""
        try:
            left, right = (candidate.mechanism.law(dataset, self._conclusion.space) for dataset in candidate.pair)
            both = tuple(key_of(pair.signature()) for pair in (left.against(right), right.against(left)))
            there = allowance(self._conclusion, candidate.pair)
            if self._conclusion.input_divergence.is_symmetric:  # both orders are compared at one distance
                return frozenset(both), there
            return (both, allowance(self._conclusion, candidate.pair[::-1])), there
        except DpspecError:  # a universe without a budget, or a law that is not known
            return None


def _checked(
    candidate: Candidate, premise: PrivacySpec, conclusion: PrivacySpec, judge: MechanismJudge, kept: _KeptPairs
) -> Separation | None:
    """The candidate as a separation, when the engine finds that it satisfies the premise and breaks the conclusion."""
    left, right = candidate.pair
    try:
        second, second_line = judge(candidate.mechanism, conclusion, candidate.pair)
        if second is not Outcome.REFUTED:
            kept.add(candidate, second)
            return None
        both = tuple(x for x in candidate.pair if families.has(premise.space, conclusion.space, x))
        instance = _instance_with(premise, both)
        try:
            first, first_line = judge(candidate.mechanism, premise, instance)
        except NotEnumerableError:  # a distance that is known for neighbours alone
            instance = tuple(x for x in candidate.pair if x in instance)
            first, first_line = judge(candidate.mechanism, premise, instance)
    except NoFormulaError:  # one of the divergences cannot compare these laws
        return None
    if first is not Outcome.VERIFIED:
        return None
    return Separation(
        mechanism=candidate.words,
        argument=candidate.argument,
        left=left,
        right=right,
        checks=(first_line, second_line),
        run=candidate.mechanism,
        instance=instance,
        kind=candidate.kind,
    )


@memoize(maxsize=1024)
def _instance_with(premise: PrivacySpec, shared: tuple[Dataset, ...]) -> tuple[Dataset, ...]:
    compared = itertools.chain.from_iterable(own_pairs(premise))
    known = dict.fromkeys(itertools.chain(shared, itertools.islice(compared, 4 * INSTANCE)))
    held, left = list[Dataset](), INSTANCE_ENTRIES
    for dataset in itertools.islice(known, INSTANCE):
        left -= entries(dataset)
        if dataset in shared or left > 0:
            held.append(dataset)
    return tuple(held)


# --- two specifications ---------------------------------------------------------------------------


def compare(left: PrivacySpec, right: PrivacySpec, *, rules: Sequence[Rule], judge: MechanismJudge) -> Comparison:
    """Decide, in each direction, whether every mechanism that satisfies the one specification satisfies the other.

    Args:
        left, right: the two specifications.
        rules: the rules that derivations may use.
        judge: the exact engine, which checks each separating mechanism on its two datasets.
    """
    return Comparison(
        left=left,
        right=right,
        forward=_direction(left, right, rules, judge),
        backward=_direction(right, left, rules, judge),
        notes=perverse_notes(left, right),
    )


def _direction(premise: PrivacySpec, conclusion: PrivacySpec, rules: Sequence[Rule], judge: MechanismJudge) -> Direction:
    if premise.budget.unpublished() is not None or conclusion.budget.unpublished() is not None:
        return _without_numbers(premise, conclusion, rules, judge)
    premise, conclusion = (spec.replace(budget=settled(spec.budget)) for spec in (premise, conclusion))
    found = search(premise, conclusion, rules)
    steps = tuple(_finding(step) for step in found.derivation.steps)
    if found.arrived:
        same = Argument(block="all five", holds=True, reason="the same specification")
        return Direction(answer=Answer.IMPLIES, steps=steps or (same,), derivation=found.derivation)
    steps += tuple(gaps(found.derivation.conclusion, conclusion, rules))
    searched = search_separation(premise, conclusion, judge)
    answer = Answer.UNKNOWN if searched.separation is None else Answer.SEPARATED
    return Direction(answer=answer, steps=steps, separation=searched.separation, tried=searched.tried)


def compare_products(left: Sequence[PrivacySpec], right: Sequence[PrivacySpec], compare: Compare) -> Comparison:
    """The same for products, each of which makes all of several promises, the first one standing for it.

    A product implies another when each promise of that one follows from one of its own. What separates single promises does not
    separate products of several: a mechanism that keeps the one may break the others.
    """
    table = [[compare(one, other) for other in right] for one in left]
    if len(left) == len(right) == 1:
        return table[0][0]
    across = [[table[i][j] for i in range(len(left))] for j in range(len(right))]
    return attrs.evolve(
        table[0][0],
        forward=_of_product([[found.forward for found in column] for column in across], ("A", "B")),
        backward=_of_product([[found.backward for found in row] for row in table], ("B", "A")),
    )


def _of_product(wanted: Sequence[Sequence[Direction]], names: tuple[str, str]) -> Direction:
    """Whether one product implies another: for each promise of the second, the directions from all promises of the first."""
    steps, answers = [], []
    for place, found in enumerate(wanted):
        by = next((i for i, one in enumerate(found) if one.answer is Answer.IMPLIES), None)
        alone = len(found) == 1 and found[0].answer is Answer.SEPARATED
        answers.append(Answer.IMPLIES if by is not None else Answer.SEPARATED if alone else Answer.UNKNOWN)
        how = (
            f"follows from promise {by + 1} of {names[0]}" if by is not None else f"follows from no single promise of {names[0]}"
        )
        holds = True if by is not None else False if alone else None
        steps.append(Argument(block=f"promise {place + 1} of {names[1]}", holds=holds, reason=how))
    answer = _of_all(answers)
    separation = next((found[0].separation for found in wanted if len(found) == 1 and found[0].separation is not None), None)
    return Direction(answer=answer, steps=tuple(steps), separation=separation if answer is Answer.SEPARATED else None)


def _of_all(answers: Sequence[Answer]) -> Answer:
    """The answer about a product, from those about each of its promises."""
    if Answer.SEPARATED in answers:
        return Answer.SEPARATED
    return Answer.UNKNOWN if Answer.UNKNOWN in answers else Answer.IMPLIES


def _without_numbers(premise: PrivacySpec, conclusion: PrivacySpec, rules: Sequence[Rule], judge: MechanismJudge) -> Direction:
    """The same where no number of a budget is published: what holds whatever the numbers are, and else the other four blocks.

    Larger budgets ask less, so the premise implies whatever it implies at its largest number, and does not imply what it does not
    at its least one; for the conclusion it is the other way round.
    """
    least = premise.replace(budget=_at(premise.budget, premise.budget.least(), ZERO))
    largest = premise.replace(budget=_at(premise.budget, premise.budget.uniform(), INFINITY))
    hardest = conclusion.replace(budget=_at(conclusion.budget, conclusion.budget.least(), ZERO))
    found = search(largest, hardest, rules)
    if found.arrived:
        whatever = Argument(block="budget", holds=True, reason="whatever the numbers are that were not published")
        steps = tuple(_finding(step) for step in found.derivation.steps)
        return Direction(answer=Answer.IMPLIES, steps=(*steps, whatever), derivation=found.derivation)
    searched = SeparationSearch(separation=None)
    if conclusion.budget.unpublished() is None:
        searched = search_separation(least, hardest, judge)
    answer = Answer.UNKNOWN if searched.separation is None else Answer.SEPARATED
    steps = tuple(_other_blocks(premise, conclusion, rules))
    return Direction(answer=answer, steps=steps, separation=searched.separation, tried=searched.tried)


def _at(budget: Budget, value: Number | None, otherwise: Number) -> Budget:
    """The budget at a number; one that differs by universe stays what it is."""
    if budget.unpublished() is None:
        return settled(budget)
    return stands_for(budget, otherwise if value is None else value)


def _other_blocks(premise: PrivacySpec, conclusion: PrivacySpec, rules: Sequence[Rule]) -> Iterator[Argument]:
    """Whether the premise can be brought to the conclusion in the four blocks that are no number, one by one."""
    here, goal = (spec.replace(budget=_at(spec.budget, None, number(1))) for spec in (premise, conclusion))
    for block in MOVING_BLOCKS:
        if getattr(here, block) == getattr(goal, block):
            yield Argument(block=block.replace("_", " "), holds=True, reason="the same")
            continue
        steps = moved(here, block, goal, rules)
        if steps is None:
            missing = [gap for gap in gaps(here, goal, rules) if gap.block == block.replace("_", " ")]
            yield from missing or [Argument(block=block.replace("_", " "), holds=None, reason="no step to it is known")]
            if block == "space":
                break
            if block != "output_divergence":
                try:
                    here = here.replace(**{block: getattr(goal, block)})
                except (IncompatibleBlocksError, Faults):  # it belongs to a space that cannot be reached from here
                    break
            continue
        for step in steps:
            at_number = isinstance(next((rule for rule in rules if rule.name == step.rule), None), Conversion)
            reason = "a conversion is known; what it gives depends on the number" if at_number else step.reason
            yield attrs.evolve(_finding(step), reason=reason)
        here = steps[-1].after if steps else here
    missing_in = [
        f"{name}: {spec.budget.unpublished()}"
        for name, spec in (("premise", premise), ("conclusion", conclusion))
        if spec.budget.unpublished() is not None
    ]
    yield Argument(block="budget", holds=None, reason="; ".join(missing_in))


def _finding(step: Step) -> Argument:
    factor = str(step.parameters.get("constant", "1"))
    return Argument(block=step.block, holds=True, reason=step.reason, factor=factor, rule=step.rule)


def perverse_notes(left: PrivacySpec, right: PrivacySpec) -> tuple[str, ...]:
    """Notes on a misleading comparison of two budgets: every other block in which the specifications differ."""
    notes = []
    if left.space != right.space:
        notes.append(
            "dataset space: a specification asks nothing of a dataset that its space lacks; A implies B when every mechanism "
            "that satisfies A satisfies B however it goes on over the datasets that only B has"
        )
    if left.multiverse != right.multiverse:
        notes.append(
            "multiverse: more invariants make smaller universes, and a smaller budget without more noise; "
            f"left holds {_count(left)}, right holds {_count(right)}"
        )
    if left.input_divergence != right.input_divergence:
        notes.append(
            "input divergence: a coarser count of change (persons for households, a day for a lifetime) shrinks the budget; "
            f"one change on the left: {left.input_divergence.in_words()}; on the right: {right.input_divergence.in_words()}"
        )
    notes += [f"unit: {note}" for pair in ((left, right), (right, left)) for note in _unit_notes(*pair)]
    if left.output_divergence != right.output_divergence:
        notes.append(
            "output divergence: a more lenient standard shrinks the number; "
            f"on the left: {left.output_divergence.in_words()}; on the right: {right.output_divergence.in_words()}"
        )
    if notes:
        notes.append("two budgets are comparable only when the other four blocks agree")
    return tuple(notes)


def _unit_notes(one: PrivacySpec, other: PrivacySpec) -> Iterator[str]:
    """The implied promise of the one for the unit of the other, where the two units are the same over different times."""
    unit = other.input_divergence.counted_unit()
    if unit is None or unit == one.input_divergence.counted_unit():
        return
    found = promise_for(one, unit)
    if found.most is not None:
        value = None if found.budget is None else found.budget.uniform()
        budget = "no number" if value is None else f"{one.budget.parameter} = {value.plain()}"
        yield f"from a promise per {one.input_divergence.counted_unit()} follows {budget} for one {unit} ({found.reason})"


def _count(spec: PrivacySpec) -> str:
    held = spec.multiverse.induced_by()
    return str(spec.multiverse) if held is None else f"{len(held)} invariants"


# --- many specifications --------------------------------------------------------------------------


Compare = Callable[[Any, Any], Comparison]
"""Compares two things that make promises: specifications, or files of several."""


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


def promises_of(spec: Any) -> tuple[PrivacySpec, ...]:
    """All promises of a specification, or of a file."""
    return (spec,) if isinstance(spec, PrivacySpec) else tuple(spec.promises)


def _equal(promises: Sequence[tuple[PrivacySpec, ...]], answers: SharedAnswers) -> list[list[int]]:
    """The specifications that make equal promises, together.

    Equal text is not enough where a number was not published: two such numbers may differ, and then neither implies the other.
    """
    classes, place = list[list[int]](), dict[tuple[PrivacySpec, ...], int]()
    for i, promised in enumerate(promises):
        first = place.get(promised)
        if first is not None and answers.of_products(promised, promised) is Answer.IMPLIES:
            classes[first].append(i)
        else:
            place.setdefault(promised, len(classes))
            classes.append([i])
    return classes


def _neighbours(promises: Sequence[tuple[PrivacySpec, ...]]) -> Iterator[tuple[int, int]]:
    """Pairs of single promises that differ in the number of the budget alone, each with the next larger number."""
    alike: dict[tuple[object, ...], list[tuple[Number, int]]] = {}
    for i, promised in enumerate(promises):
        spec = promised[0]
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

    def of_products(self, premise: Sequence[PrivacySpec], conclusion: Sequence[PrivacySpec]) -> Answer:
        """Whether all promises of the one file imply all promises of the other, as in `compare_products`."""
        alone, wanted = len(premise) == 1, []
        for goal in conclusion:
            found = [self.of(spec, goal) for spec in premise]
            implied = any(answer is Answer.IMPLIES for answer in found)
            wanted.append(Answer.IMPLIES if implied else found[0] if alone else Answer.UNKNOWN)
        return _of_all(wanted)

    def of(self, premise: PrivacySpec, conclusion: PrivacySpec) -> Answer:
        """Whether the one specification implies the other."""
        answer = self.known.get((premise, conclusion))
        if answer is None:
            outside = premise.space != conclusion.space and self._separated_outside(premise, conclusion)
            answer = Answer.SEPARATED if outside else _direction(premise, conclusion, self.rules, self.judge).answer
            self.known[premise, conclusion] = answer
        return answer

    def _separated_outside(self, premise: PrivacySpec, conclusion: PrivacySpec) -> bool:
        if conclusion.budget.unpublished() is not None:
            return False
        least = ((spec, _at(spec.budget, spec.budget.least(), ZERO)) for spec in (premise, conclusion))
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
