"""What a specification file obliges itself to: its claim, on the whole space or on miniatures, and every number that it prints.

Each obligation is judged on its own, and ends with a word.
"""

from __future__ import annotations

import functools
import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import attrs

from dpspec.base.errors import ContradictedError, DpspecError, count
from dpspec.base.exact import Bracket
from dpspec.base.types import Progress
from dpspec.base.words import Word
from dpspec.extension.hooks import Registry
from dpspec.extension.loader import origins
from dpspec.grammar.mechanism import Mechanism
from dpspec.grammar.plugin_calls import guarded
from dpspec.grammar.spec import PrivacySpec, blocks_of
from dpspec.specfile.document import Expectation, Miniature, PromisedBeside, SecretMechanism, SpecDocument
from dpspec.verifier.exhaustive import MOST_WALKED, as_guarantee
from dpspec.verifier.functions import NamedFunction
from dpspec.verifier.mechanisms import judged, judged_unlisted
from dpspec.verifier.miniatures import EFFORT, Grown, exchanged, grown
from dpspec.verifier.sensitivity import Missing
from dpspec.verifier.verdict import Outcome, Verdict, witness_in_words


@attrs.frozen(kw_only=True)
class Obligation:
    """One thing that a file obliges itself to.

    Args:
        name: what it is: a claim on a space, a counterexample, or a printed number.
        word: how it ended. A claim that is filed as refuted, and is, has a word of its own; a counterexample that is refuted
            holds.
        detail: the finding in one line.
        miniature: for a claim on a miniature, its title.
        exchanged: the blocks of that miniature that are not those of the claim.
        grown: what became of its constant while its sizes were raised.
        recorded: for a claim, the verdict that the file records for it.
        spec, subject: for a claim, the specification and the mechanism or function that it is about.
        verdict: for a claim, the engine's verdict.
        value: for a printed number, the recomputed one.
        replay: the command that shows a refutation again, where there is one.
        unproved: for a claim on a miniature, the step that a proof on the whole space lacks.
    """

    name: str
    word: Word
    detail: str
    miniature: str | None = None
    exchanged: tuple[str, ...] = ()
    grown: tuple[Grown, ...] = ()
    recorded: Outcome | None = None
    spec: PrivacySpec | None = None
    subject: Mechanism | NamedFunction | None = None
    verdict: Verdict | None = None
    value: Bracket | None = None
    replay: str | None = None
    unproved: str = ""

Judge = Callable[[Registry | None, Progress | None], Obligation]


@attrs.frozen(kw_only=True)
class Judgement:
    """An obligation that has not been verified yet.

    Args:
        name: its name; no two judgements of a file have the same name.
        judge: verifies it; its arguments are the registry for provenance and the progress callback, or None for either.
        missing: why there is no such obligation after all, as far as only a proof shows it; empty where there is. A claim that is
            proved on the whole space is one beside its miniatures, and where it is not, the miniatures are all there is.
    """

    name: str
    judge: Judge
    missing: Callable[[], str] = str


def judgements(document: SpecDocument) -> tuple[Judgement, ...]:
    """The obligations of a file, each to be verified independently."""
    stated = (
        *claims(document),
        *_counterexamples(document),
        *(_number(expectation, document) for expectation in document.expectations),
        *unaccounted(document),
    )
    times: Counter[str] = Counter()
    distinct = []
    for judgement in stated:
        times[judgement.name] += 1
        again = times[judgement.name] > 1
        distinct.append(attrs.evolve(judgement, name=f"{judgement.name} ({times[judgement.name]})") if again else judgement)
    return tuple(distinct)


def claims(document: SpecDocument, *, effort: int = EFFORT, most: int = MOST_WALKED) -> Iterator[Judgement]:
    """The claim of a file, on each of its miniatures or on the whole space; nothing for a file of printed numbers alone.

    Args:
        document: the file.
        effort: the number of datasets and pairs that are checked while the sizes that a miniature lowers are raised; 0 to skip
            this.
        most: a space of more datasets is not enumerated.
    """
    recorded = recorded_outcome(document)
    if document.miniatures:
        whole = functools.cache(lambda: _on_whole(document))  # not before a judgement needs it: a proof may take seconds
        if document.mechanism is not None:
            yield _proved(whole, document, recorded)
        for miniature in document.miniatures:
            name = f"claim on miniature: {miniature.title}"
            yield (
                nothing_to_judge(name)
                if miniature.mechanism is None
                else _as_second(_on_miniature(name, document, miniature, recorded, effort=effort, most=most), whole)
            )
    elif document.secret is not None:
        yield _of_secret(document.secret, document.spec, recorded, most)
    elif document.mechanism is not None:
        yield _claim("claim", document.spec, document.mechanism, recorded, most)
    elif document.spec.budget.unpublished() is not None:
        word = Word.UNCHECKED if recorded is Outcome.UNDECIDED else Word.UNDECIDED
        yield _judgement("claim", word, f"undecided: {document.spec.budget.unpublished()}")
    elif document.claim is not None or document.deployment is not None or not document.expectations:
        yield nothing_to_judge("claim")
    yield from (_besides(part, recorded, most) for part in document.parts)


def _of_secret(secret: SecretMechanism, spec: PrivacySpec, recorded: Outcome, most: int) -> Judgement:
    """A claim about a mechanism with secret parameters: true, or false, of all that it may be; else it is not decided."""

    def judge(registry: Registry | None, progress: Progress | None) -> Obligation:
        def verdict_of(mechanism: Mechanism) -> Verdict:
            found = _claim("claim", spec, mechanism, recorded, most).judge(registry, progress).verdict
            assert found is not None  # noqa: S101 - a claim about a mechanism has one
            return found

        return attrs.evolve(obligation_of("claim", _of_all(secret, verdict_of), recorded, spec), recorded=recorded, spec=spec)

    return Judgement(name="claim", judge=judge)


def _of_all(secret: SecretMechanism, verdict_of: Callable[[Mechanism], Verdict]) -> Verdict:
    """The verdict of all that a mechanism with secret parameters may be."""
    ends = secret.ends()
    most, least = (None, None) if ends is None else map(verdict_of, ends)
    if most is not None and most.outcome is Outcome.VERIFIED:
        return _for_all(most, secret, "the most revealing of them")
    if least is not None and least.outcome is Outcome.REFUTED:
        return _for_all(least, secret, "the least revealing of them")
    found = [(said, verdict_of(mechanism)) for said, mechanism in secret.candidates()]
    outcomes = {verdict.outcome for _, verdict in found}
    if secret.is_listed and len(outcomes) == 1:
        worst_of_all = max((verdict for _, verdict in found), key=lambda verdict: verdict.constant.upper)
        return _for_all(worst_of_all, secret, f"each of {len(found)}")
    reason = (
        _where_it_changes(found)
        if len(outcomes) > 1
        else f"{outcomes.pop().value} at each of the {len(found)} values that were tried, and nothing is shown between them"
    )
    return Verdict(outcome=Outcome.UNDECIDED, method="none", scope="nothing", reason=f"{secret}: {reason}")


def _for_all(verdict: Verdict, secret: SecretMechanism, looked: str) -> Verdict:
    """The verdict of one mechanism as that of all which a secret one may be."""
    return attrs.evolve(verdict, scope=f"{verdict.scope}; {secret}: {looked} was checked")


def _where_it_changes(found: Sequence[tuple[str, Verdict]]) -> str:
    """Between which of the values that were tried the verdict becomes another one."""
    changes = [
        f"{before.outcome.value} at {one} and {after.outcome.value} at {other}"
        for (one, before), (other, after) in itertools.pairwise(found)
        if before.outcome is not after.outcome
    ]
    return "; ".join(changes)


def _besides(part: PromisedBeside, recorded: Outcome, most: int) -> Judgement:
    """A further promise for the same product: it has to hold as well."""
    name, held = f"part: {part}", recorded if part.verdict is None else Outcome(part.verdict)
    if part.share is not None:
        word = Word.UNCHECKED if held is Outcome.UNDECIDED else Word.UNDECIDED
        return _judgement(name, word, f"undecided: it is unknown which units are among the {part.share} that are protected")
    if part.mechanism is not None:
        return _claim(name, part.spec, part.mechanism, held, most)
    if part.spec.budget.unpublished() is not None:
        word = Word.UNCHECKED if held is Outcome.UNDECIDED else Word.UNDECIDED
        return _judgement(name, word, f"undecided: {part.spec.budget.unpublished()}")
    return nothing_to_judge(name)


def _claim(name: str, spec: PrivacySpec, mechanism: Mechanism, recorded: Outcome, most: int = MOST_WALKED) -> Judgement:
    """A claim about every dataset of a space."""

    def judge(registry: Registry | None, progress: Progress | None) -> Obligation:
        verdict = judged(mechanism, spec, most=most, registry=registry, progress=progress)
        return attrs.evolve(obligation_of(name, verdict, recorded, spec), recorded=recorded, spec=spec, subject=mechanism)

    return Judgement(name=name, judge=judge)


def _on_whole(document: SpecDocument) -> Verdict | Missing:
    """The claim of a file with miniatures, verified on the whole space by the structure of the mechanism."""
    if document.mechanism is None:
        return Missing(step="structure", reason="the file names no mechanism on the whole space")
    try:
        return judged_unlisted(document.mechanism, document.spec)
    except ContradictedError:
        raise
    except DpspecError as fault:
        return Missing(step="structure", reason=str(fault))


def _proved(whole: Callable[[], Verdict | Missing], document: SpecDocument, recorded: Outcome) -> Judgement:
    """The result for a claim that was verified on the whole space."""

    def missing() -> str:
        found = whole()
        return str(found) if isinstance(found, Missing) else ""

    def judge(registry: Registry | None, _: Progress | None) -> Obligation:
        found = whole()
        assert isinstance(found, Verdict)  # noqa: S101 - nothing is missing
        blocks = {"mechanism": document.mechanism, **blocks_of(document.spec)}
        verdict = attrs.evolve(found, provenance=origins(blocks, registry))
        held = obligation_of("claim", verdict, recorded, document.spec)
        return attrs.evolve(held, recorded=recorded, spec=document.spec, subject=document.mechanism)

    return Judgement(name="claim", judge=judge, missing=missing)


def _as_second(judgement: Judgement, whole: Callable[[], Verdict | Missing]) -> Judgement:
    """A verified miniature in addition to a proof is further evidence; without a proof it says nothing about the whole space."""

    def judge(registry: Registry | None, progress: Progress | None) -> Obligation:
        small, found = judgement.judge(registry, progress), whole()
        if isinstance(found, Missing):
            return attrs.evolve(small, unproved=str(found))
        proved = found.outcome is Outcome.VERIFIED and small.word is Word.MINIATURE
        return attrs.evolve(small, word=Word.HOLDS) if proved else small

    return attrs.evolve(judgement, judge=judge)


def _on_miniature(
    name: str, document: SpecDocument, miniature: Miniature, recorded: Outcome, *, effort: int, most: int
) -> Judgement:  # fmt: skip
    """The result for a claim about a large space, verified on a small one: at best it holds there."""
    assert miniature.mechanism is not None  # noqa: S101 - ensured by the caller
    whole = _claim(name, miniature.spec, miniature.mechanism, recorded, most)

    def judge(registry: Registry | None, progress: Progress | None) -> Obligation:
        found = attrs.evolve(whole.judge(registry, progress), miniature=miniature.title)
        others = exchanged(document, miniature)
        if others:
            return _of_another_claim(found, others)
        if found.verdict is None or found.verdict.outcome is not Outcome.VERIFIED:
            return found
        if effort == 0:
            return attrs.evolve(found, word=Word.MINIATURE) if found.word is Word.HOLDS else found
        return _grown(found, document, miniature, registry, effort)

    return attrs.evolve(whole, judge=judge)


def _of_another_claim(found: Obligation, others: tuple[str, ...]) -> Obligation:
    """A miniature with a block of its own tests another claim: that may fail, but shows nothing about the one on file."""
    blocks = " and another ".join(others)
    words = f"the miniature has another {blocks} than the claim: what it tests is another claim ({found.detail})"
    as_recorded = found.word not in (Word.REFUTED, Word.MISSED)
    return attrs.evolve(found, word=Word.UNCHECKED if as_recorded else Word.MISSED, detail=words, exchanged=others)


def _grown(found: Obligation, document: SpecDocument, miniature: Miniature, registry: Registry | None, effort: int) -> Obligation:
    """A verified miniature whose sizes are raised: one that hides what the claim is about holds nothing."""
    assert found.verdict is not None and miniature.mechanism is not None  # noqa: S101, PT018 - ensured by the caller
    space = document.spec.space
    lines = tuple(grown(found.verdict, miniature.spec, miniature.mechanism, space, registry=registry, effort=effort))
    growing = [line for line in lines if line.grows]
    small = attrs.evolve(found, grown=lines, word=Word.MINIATURE if found.word is Word.HOLDS else found.word)
    refuted = next((line.refuted for line in growing if line.refuted is not None), None)
    if refuted is not None and document.mechanism is not None:  # a larger part of the claim itself
        spec, verdict = refuted
        against = obligation_of(found.name, verdict, Outcome.VERIFIED if found.recorded is None else found.recorded, spec)
        return attrs.evolve(small, word=against.word, detail=against.detail, verdict=verdict, spec=spec)
    if growing:
        words = "; ".join(f"the constant grows with {line.size} ({line})" for line in growing)
        return attrs.evolve(small, word=Word.UNDECIDED, detail=f"undecided: {words}: the miniature says nothing about the claim")
    return small


def _counterexamples(document: SpecDocument) -> Iterator[Judgement]:
    """Each counterexample as a claim that has to be refuted, on the first miniature or else the whole space."""
    spec = document.miniatures[0].spec if document.miniatures else document.spec
    for found in document.counterexamples:
        judgement = _claim(f"counterexample: {found.title}", spec, found.mechanism, Outcome.REFUTED)
        yield attrs.evolve(judgement, judge=_as_it_must(judgement.judge))


def _as_it_must(judge: Judge) -> Judge:
    """A counterexample that is refuted is as the file states: that holds, and says nothing about the claim."""

    def judged(registry: Registry | None, progress: Progress | None) -> Obligation:
        found = judge(registry, progress)
        return attrs.evolve(found, word=Word.HOLDS) if found.word is Word.RECORDED else found

    return judged


def nothing_to_judge(name: str) -> Judgement:
    return _judgement(name, Word.UNCHECKED, "the file names no mechanism, so there is nothing to verify")


def _judgement(name: str, word: Word, detail: str) -> Judgement:
    """The result without verification, because the file states it."""
    return Judgement(name=name, judge=lambda _, __: Obligation(name=name, word=word, detail=detail))


def unaccounted(document: SpecDocument) -> Iterator[Judgement]:
    """Each step outside of the guarantee: with one of them no promise is known to hold of what was released."""
    recorded = recorded_outcome(document)
    if recorded is Outcome.REFUTED:  # what is false does not become open
        return
    word = Word.UNCHECKED if recorded is Outcome.UNDECIDED else Word.UNDECIDED
    for step in document.unaccounted:
        yield _judgement(f"unaccounted: {step.step}", word, f"outside of what was checked: {step.effect}")


def _number(expectation: Expectation, document: SpecDocument) -> Judgement:
    return Judgement(name=f"number: {expectation.what}", judge=lambda _, __: _printed(expectation, document))


def recorded_outcome(document: SpecDocument) -> Outcome:
    """The verdict that a file records for its claim: without one, that it is true."""
    return Outcome.VERIFIED if document.claim is None else Outcome(document.claim.verdict)


def obligation_of(name: str, verdict: Verdict, recorded: Outcome, spec: PrivacySpec) -> Obligation:
    """A claim is held against the verdict that the file records for it."""
    verdict = as_guarantee(verdict, spec)
    found = verdict.outcome
    as_recorded = found is recorded
    if found is Outcome.UNDECIDED:
        word = Word.UNCHECKED if as_recorded else Word.UNDECIDED
        return Obligation(name=name, word=word, detail=f"undecided: {verdict.reason}", verdict=verdict)
    note = "" if recorded is Outcome.VERIFIED else " (as recorded)" if as_recorded else f" (recorded as {recorded.value})"
    if found is Outcome.VERIFIED:
        vacuous = f"; {count(len(verdict.vacuous), 'universe')} vacuous" if verdict.vacuous else ""
        detail = f"verified{note}: {verdict.constant_in_words}, {verdict.scope}{vacuous}"
        better = as_recorded or recorded is Outcome.UNDECIDED  # a proof may come after the file that lacked it
        return Obligation(name=name, word=Word.HOLDS if better else Word.MISSED, detail=detail, verdict=verdict)
    word = Word.RECORDED if as_recorded else Word.REFUTED
    return Obligation(name=name, word=word, detail=f"refuted{note}: {witness_in_words(verdict.witness, spec)}", verdict=verdict)

_MET = {True: Word.HOLDS, False: Word.MISSED, None: Word.UNDECIDED}


def _printed(expectation: Expectation, document: SpecDocument) -> Obligation:
    value: Bracket = guarded(expectation.route.name, lambda: expectation.value(document.spec))
    shown = value.lower.decimal(6)
    wrong = "" if expectation.corrected is None else f" (an erratum, corrected to {expectation.corrected.decimal(8)})"
    detail = f"{expectation.parameter} = {expectation.printed.decimal(8)} printed{wrong}, {shown} by {expectation.route.name}"
    return Obligation(name=f"number: {expectation.what}", word=_MET[expectation.is_met_by(value)], detail=detail, value=value)
