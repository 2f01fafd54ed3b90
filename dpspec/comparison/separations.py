"""Separations: a mechanism that satisfies one specification and not the other.

Families propose mechanisms, each with its argument why it satisfies the premise on the whole space. Nothing that they propose is
believed: the exact engine runs every separating mechanism, on the two datasets against the conclusion, and on a small instance
around them against the premise.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import attrs

from dpspec.base.errors import (
    ContradictedError,
    DpspecError,
    NoFormulaError,
    NotEnumerableError,
    WorkLimitError,
)
from dpspec.base.exact import INFINITY, Bracket, Number, in_few_digits
from dpspec.base.memo import key_of, memoize
from dpspec.base.work import limited
from dpspec.blocks.space import Dataset
from dpspec.comparison import families
from dpspec.comparison.answers import Candidate, CandidateFamily, Source, extremal_answers, searched_answers
from dpspec.comparison.one_schema import describe_different_data
from dpspec.extension import Registry, is_foreign
from dpspec.grammar.mechanism import Mechanism
from dpspec.grammar.rule import Rule
from dpspec.grammar.spec import PrivacySpec
from dpspec.reason.search import Derivation
from dpspec.reason.small_spaces import allowance, entries, own_pairs
from dpspec.verifier.exhaustive import verify
from dpspec.verifier.verdict import Outcome


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
    run: Mechanism = attrs.field(repr=False, eq=False)
    instance: tuple[Dataset, ...]
    kind: str = "mechanism"

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

MOST_OF_FAMILY, MOST_OF_ALL = 500_000, 1_000_000
"""Units of `dpspec.base.work`, of about one microsecond each, of one family of candidates, and of the whole search."""

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
    if families is None:
        families = OF_DIFFERENT_DATA if describe_different_data(premise.space, conclusion.space) else FAMILIES
    tried, kept = [], _KeptPairs(conclusion)
    try:
        with limited(MOST_OF_ALL):
            for words, family in families.items():
                found, said = _in_family(family, premise, conclusion, judge, kept)
                if found is not None:
                    return SeparationSearch(separation=found)
                tried.append(f"{words}: {said}")
    except WorkLimitError:
        tried.append("more would exceed the work limit")
    return SeparationSearch(separation=None, tried=tuple(tried))


def _in_family(
    family: CandidateFamily, premise: PrivacySpec, conclusion: PrivacySpec, judge: MechanismJudge, kept: _KeptPairs
) -> tuple[Separation | None, str]:
    """The first candidate of a family that separates the two, and what was tried, in words."""
    proposed, problem = 0, ""
    try:
        with limited(MOST_OF_FAMILY):
            for candidate in family(premise, conclusion):
                proposed += 1
                if kept.undecided >= MOST_UNDECIDED:
                    problem = f"; stopped after {MOST_UNDECIDED} whose laws no precision decides"
                    break
                found = None if kept.holds(candidate) else _checked(candidate, premise, conclusion, judge, kept)
                if found is not None:
                    return found, ""
    except NotEnumerableError as fault:  # a block that needs the list of a space that has none
        problem = f"; stopped: {fault}"
    except WorkLimitError:
        problem = "; stopped: more would exceed the work limit"
    return None, (f"{proposed} mechanisms" if proposed else "nothing to try") + problem


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


def exact_judge(registry: Registry | None = None) -> MechanismJudge:
    """The exact engine, as comparisons use it to check a mechanism on some datasets."""

    def judge(mechanism: Mechanism, spec: PrivacySpec, datasets: tuple[Dataset, ...]) -> tuple[Outcome, str]:
        verdict = verify(mechanism, spec, datasets=datasets, registry=registry)
        if verdict.witness is not None:
            seen = verdict.witness
            allowed = seen.allowed if seen.distance == 0 else f"{in_few_digits(seen.bound)} x {in_few_digits(seen.distance)}"
            found = f"refuted: d_Pr = {seen.divergence.outward(7)} > {allowed} at d_X = {in_few_digits(seen.distance)}"
        elif verdict.vacuous and len(verdict.vacuous) == len(verdict.universes):
            found = f"{verdict.outcome.value}: no two of the datasets share a universe, so the guarantee says nothing about them"
        else:
            found = f"{verdict.outcome.value}: constant {verdict.constant.outward(7)} on {verdict.scope}"
        return verdict.outcome, found

    return judge


def check_foreign(derivation: Derivation, rules: Sequence[Rule], judge: MechanismJudge) -> None:
    """Look for a mechanism that separates two specifications, in spite of a derivation by rules of plugins.

    The derivation as a whole is tried, and each step of such a rule. What is derived by the rules of the first-party packages
    alone is not tried.

    Raises:
        ContradictedError: there is one, so that one of the rules is false.
    """
    foreign = {rule.name for rule in rules if is_foreign(rule)}
    steps = [step for step in derivation.steps if step.rule in foreign]
    tried = dict.fromkeys((step.before, step.after) for step in steps)
    for premise, conclusion in [(derivation.premise, derivation.conclusion), *tried] if steps else []:
        if premise.budget.unpublished() is not None or conclusion.budget.unpublished() is not None:
            continue
        contrary = search_separation(premise, conclusion, judge).separation
        if contrary is not None:
            rule = f"leads to a false implication: a mechanism keeps the premise and breaks the conclusion ({contrary.mechanism})"
            names = ", ".join(dict.fromkeys(step.rule for step in steps))
            raise ContradictedError(f"rule {names}", rule, "report it to the plugin's author")


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
