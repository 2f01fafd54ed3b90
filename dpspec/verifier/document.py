"""Verification of a specification file, and the status of its claim.

The claim is verified on every miniature or on the whole space, and every published number is recomputed. The claim status
accompanies the claim in every report, sum and release.
"""

from __future__ import annotations

import itertools
import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import attrs

from dpspec.base.display import Showable
from dpspec.base.errors import ContradictedError, DpspecError, count
from dpspec.base.exact import Bracket, Number
from dpspec.base.log import log
from dpspec.base.types import Progress
from dpspec.base.words import Word, joint_word, worst_word
from dpspec.blocks.space import Dataset, Pair
from dpspec.extension.hooks import Registry
from dpspec.extension.loader import origins
from dpspec.grammar.mechanism import Mechanism
from dpspec.grammar.spec import PrivacySpec, blocks_of
from dpspec.specfile.document import Expectation, Miniature, PromisedBeside, SecretMechanism, SpecDocument
from dpspec.verifier.exhaustive import MOST_WALKED, refute_on
from dpspec.verifier.functions import NamedFunction, function_judge, verify_named
from dpspec.verifier.mechanisms import judged, judged_unlisted
from dpspec.verifier.miniatures import EFFORT, Grown, exchanged, grown
from dpspec.verifier.plugin_calls import guarded
from dpspec.verifier.proof import METHOD, WHOLE
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


@attrs.frozen(kw_only=True)
class FileReport(Showable):
    """The result of the verification of one file."""

    document: SpecDocument
    obligations: tuple[Obligation, ...]

    @property
    def word(self) -> Word:
        """The worst word of the obligations: `holds` only where something was checked, and all of it is true."""
        return worst_word(obligation.word for obligation in self.obligations)

    @property
    def scope(self) -> str:
        """The extent of the verification of the claim itself, and whether blocks of it are stand-ins."""
        made_up = self.document.stand_ins
        if all(obligation.verdict is None for obligation in self.obligations):
            return "printed numbers only"
        return f"{self._examined}; {_made_up(made_up)}" if made_up else self._examined

    @property
    def _examined(self) -> str:
        if any(obligation.verdict is not None and obligation.verdict.method == "sampled" for obligation in self.obligations):
            return "by sampling; not every pair was checked"
        derived = [o.verdict for o in self.obligations if o.verdict is not None and o.verdict.method == METHOD]
        if derived:
            proved = [verdict.scope.partition(";")[0] for verdict in derived if verdict.proof]
            restricted = [scope for scope in proved if scope != WHOLE]
            if proved:
                return f"{(restricted or proved)[0]}, by a proof"
            shown = any(result.attained is not None for verdict in derived for result in verdict.universes)
            return "a pair of the whole space" if shown or any(verdict.witness for verdict in derived) else "no pair was decided"
        return "miniatures only; the whole space was not checked" if self.document.miniatures else "the whole space"

    @property
    def standing(self) -> Standing:
        """The status of the claim, without the numbers and counterexamples."""
        judged = [one for one in self.obligations if one.name.startswith(("claim", "part: "))]
        return _stands(self.document, judged, grown=True)


def _made_up(blocks: Sequence[str]) -> str:
    return f"the {' and the '.join(blocks)} {'stand in for others' if len(blocks) > 1 else 'stands in for another'}"


Judge = Callable[[Registry | None, Progress | None], Obligation]


@attrs.frozen(kw_only=True)
class Judgement:
    """An obligation that has not been verified yet.

    Args:
        name: its name; no two judgements of a file have the same name.
        judge: verifies it; its arguments are the registry for provenance and the progress callback, or None for either.
    """

    name: str
    judge: Judge


def verify_document(document: SpecDocument, *, registry: Registry | None = None, progress: Progress | None = None) -> FileReport:
    """Judge everything that a specification file states."""
    found = FileReport(
        document=document, obligations=tuple(judgement.judge(registry, progress) for judgement in judgements(document))
    )
    log("verify", "INFO", "%s: %s", document.id, found.word.word)
    return found


def verify_release(document: SpecDocument, *, registry: Registry | None = None, progress: Progress | None = None) -> FileReport:
    """Judge the claim of a file on the code that releases real tables, run on every choice of its randomness.

    Counterexamples and published numbers are not verified again.
    """
    miniatures = tuple(attrs.evolve(m, mechanism=_code(m.mechanism)) for m in document.miniatures)
    parts = tuple(attrs.evolve(part, mechanism=_code(part.mechanism)) for part in document.parts)
    # code whose parameters are secret cannot be run: no value is the published one
    code = attrs.evolve(document, mechanism=_code(document.mechanism), miniatures=miniatures, parts=parts, secret=None)
    judged = (*claims(code), *_unaccounted(code))
    held = tuple(judgement.judge(registry, progress) for judgement in judged)
    return FileReport(document=code, obligations=held or (_nothing_to_judge("claim").judge(registry, progress),))


def _code(mechanism: Mechanism | None) -> Mechanism | None:
    return None if mechanism is None else function_judge().release_code(mechanism)


def verify_function(
    function: NamedFunction, document: SpecDocument, *, registry: Registry | None = None, progress: Progress | None = None
) -> FileReport:
    """Judge a plain function against the five blocks of a file, whatever else the file states."""
    spec = document.spec
    verdict = verify_named(function, spec, registry=registry, progress=progress)
    held = _recorded(f"function {function.path}", verdict, Outcome.VERIFIED, spec)
    words = ["dpspec", "verify", str(document.path), "--function", function.path, *function.sampling.options]
    again = None if verdict.witness is None else shlex.join(words)
    blocks = SpecDocument(id=document.id, title=document.title, path=document.path, spec=spec)
    return FileReport(
        document=blocks, obligations=(attrs.evolve(held, recorded=Outcome.VERIFIED, spec=spec, subject=function, replay=again),)
    )


def judgements(document: SpecDocument) -> tuple[Judgement, ...]:
    """The obligations of a file, each to be verified independently."""
    stated = (
        *claims(document),
        *_counterexamples(document),
        *(_number(expectation, document) for expectation in document.expectations),
        *_unaccounted(document),
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
    recorded = _recorded_outcome(document)
    if document.miniatures:
        whole = _on_whole(document)
        if not isinstance(whole, Missing):
            yield _proved(whole, document, recorded)
        for miniature in document.miniatures:
            name = f"claim on miniature: {miniature.title}"
            yield (
                _nothing_to_judge(name)
                if miniature.mechanism is None
                else _as_second(_on_miniature(name, document, miniature, recorded, effort=effort, most=most), whole)
            )
    elif document.secret is not None:
        yield _of_secret(document.secret, document.spec, recorded, most)
    elif document.mechanism is not None:
        yield _claim("claim", document.spec, document.mechanism, recorded, most)
    elif document.spec.budget.unpublished() is not None:
        word = Word.UNCHECKED if recorded is Outcome.UNDECIDED else Word.UNDECIDED
        yield _told("claim", word, f"undecided: {document.spec.budget.unpublished()}")
    elif document.claim is not None or document.deployment is not None or not document.expectations:
        yield _nothing_to_judge("claim")
    yield from (_besides(part, recorded, most) for part in document.parts)


def _of_secret(secret: SecretMechanism, spec: PrivacySpec, recorded: Outcome, most: int) -> Judgement:
    """A claim about a mechanism with secret parameters: true, or false, of all that it may be; else it is not decided."""

    def judge(registry: Registry | None, progress: Progress | None) -> Obligation:
        def verdict_of(mechanism: Mechanism) -> Verdict:
            found = _claim("claim", spec, mechanism, recorded, most).judge(registry, progress).verdict
            assert found is not None  # noqa: S101 - a claim about a mechanism has one
            return found

        return attrs.evolve(_recorded("claim", _of_all(secret, verdict_of), recorded, spec), recorded=recorded, spec=spec)

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
        return _told(name, word, f"undecided: it is unknown which units are among the {part.share} that are protected")
    if part.mechanism is not None:
        return _claim(name, part.spec, part.mechanism, held, most)
    if part.spec.budget.unpublished() is not None:
        word = Word.UNCHECKED if held is Outcome.UNDECIDED else Word.UNDECIDED
        return _told(name, word, f"undecided: {part.spec.budget.unpublished()}")
    return _nothing_to_judge(name)


def _claim(name: str, spec: PrivacySpec, mechanism: Mechanism, recorded: Outcome, most: int = MOST_WALKED) -> Judgement:
    """A claim about every dataset of a space."""

    def judge(registry: Registry | None, progress: Progress | None) -> Obligation:
        verdict = judged(mechanism, spec, most=most, registry=registry, progress=progress)
        return attrs.evolve(_recorded(name, verdict, recorded, spec), recorded=recorded, spec=spec, subject=mechanism)

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


def _proved(found: Verdict, document: SpecDocument, recorded: Outcome) -> Judgement:
    """The result for a claim that was verified on the whole space."""

    def judge(registry: Registry | None, _: Progress | None) -> Obligation:
        blocks = {"mechanism": document.mechanism, **blocks_of(document.spec)}
        verdict = attrs.evolve(found, provenance=origins(blocks, registry))
        held = _recorded("claim", verdict, recorded, document.spec)
        return attrs.evolve(held, recorded=recorded, spec=document.spec, subject=document.mechanism)

    return Judgement(name="claim", judge=judge)


def _as_second(judgement: Judgement, whole: Verdict | Missing) -> Judgement:
    """A verified miniature in addition to a proof is further evidence; without a proof it says nothing about the whole space."""

    def judge(registry: Registry | None, progress: Progress | None) -> Obligation:
        small = judgement.judge(registry, progress)
        if isinstance(whole, Missing):
            return attrs.evolve(small, unproved=str(whole))
        proved = whole.outcome is Outcome.VERIFIED and small.word is Word.MINIATURE
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
        against = _recorded(found.name, verdict, Outcome.VERIFIED if found.recorded is None else found.recorded, spec)
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


def _nothing_to_judge(name: str) -> Judgement:
    return _told(name, Word.UNCHECKED, "the file names no mechanism, so there is nothing to verify")


def _told(name: str, word: Word, detail: str) -> Judgement:
    """The result without verification, because the file states it."""
    return Judgement(name=name, judge=lambda _, __: Obligation(name=name, word=word, detail=detail))


def _unaccounted(document: SpecDocument) -> Iterator[Judgement]:
    """Each step outside of the guarantee: with one of them no promise is known to hold of what was released."""
    recorded = _recorded_outcome(document)
    if recorded is Outcome.REFUTED:  # what is false does not become open
        return
    word = Word.UNCHECKED if recorded is Outcome.UNDECIDED else Word.UNDECIDED
    for step in document.unaccounted:
        yield _told(f"unaccounted: {step.step}", word, f"outside of what was checked: {step.effect}")


def _number(expectation: Expectation, document: SpecDocument) -> Judgement:
    return Judgement(name=f"number: {expectation.what}", judge=lambda _, __: _printed(expectation, document))


def _recorded_outcome(document: SpecDocument) -> Outcome:
    """The verdict that a file records for its claim: without one, that it is true."""
    return Outcome.VERIFIED if document.claim is None else Outcome(document.claim.verdict)


def _recorded(name: str, verdict: Verdict, recorded: Outcome, spec: PrivacySpec) -> Obligation:
    """A claim is held against the verdict that the file records for it."""
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


# --- claim status ---------------------------------------------------------------------------------


QUICK = 500
"""The largest number of datasets that are enumerated where the claim status is a side result, as in `explain` and `compare`."""

STANDING_WORDS = {
    Word.VERIFIED: "the claim is verified",
    Word.DERIVED: "the claim is verified by a derivation",
    Word.MINIATURE: "the claim holds on miniatures only",
    Word.RECORDED: "the claim is known to be false (confirmed)",
    Word.UNCHECKED: "the claim was never checked",
    Word.UNDECIDED: "the claim is undecided",
    Word.REFUTED: "the claim is refuted",
    Word.PLUGIN: "the claim was not checked: a plugin failed",
}
"""Each standing as the beginning of a sentence."""


@attrs.frozen(kw_only=True)
class Standing:
    """The status of a claim.

    Args:
        word: verified, derived, miniature, recorded, unchecked, undecided, refuted or plugin (not verified, for a plugin failed).
        reason: the scope and result of the verification, or why there was none.
        verdicts: the verdicts behind it: one on the whole space, or one for each miniature.
        constant: the Lipschitz constant that is proved of the mechanism on the whole space of the claim, at most that of the
            budget; None where the claim is not verified there.
    """

    word: Word
    reason: str
    verdicts: tuple[Verdict, ...] = ()
    constant: Number | None = None

    @property
    def exit_code(self) -> int:
        """The exit code of the word."""
        return self.word.exit_code

    @property
    def is_false(self) -> bool:
        """Whether the claim was refuted, on record or not: nothing may be built on it."""
        return self.word in (Word.REFUTED, Word.RECORDED)

    def farthest(self, spec: PrivacySpec) -> tuple[Pair, ...]:
        """The datasets of a specification on which the verdicts about it found the largest constant."""
        of = [verdict.tightest for verdict in self.verdicts if verdict.spec is None or verdict.spec == spec]
        return tuple(found.attained for found in of if found is not None and found.attained is not None)

    @property
    def sentence(self) -> str:
        """In words: the status of the claim, and the reason."""
        return f"{STANDING_WORDS[self.word]}: {self.reason}"

    def __str__(self) -> str:
        return self.sentence


def standing(
    document: SpecDocument,
    registry: Registry | None = None,
    *,
    most: int | None = None,
    effort: int = EFFORT,
    also: Sequence[Dataset] = (),
    progress: Progress | None = None,
) -> Standing:
    """Judge the claim of a file, and nothing else that it states: whether its mechanism satisfies its specification.

    The recorded status in the file is not trusted; a refuted claim that the file records as refuted has a status of its own.

    Args:
        document: the file.
        registry: where the provenance of the blocks is looked up.
        most: spaces with more datasets than this are not walked: a claim that neither a proof nor a pair decides is then reported
            as never checked; without it, what `dpspec verify` does.
        effort: the number of datasets and pairs that are checked while the sizes that a miniature lowers are raised; 0 to skip
            this.
        also: datasets whose laws are compared as well, such as those that an attacker names: a pair of them may refute the claim.
        progress: called with (done, in all).
    """
    found: list[Obligation] = []
    limit = MOST_WALKED if most is None else most
    try:
        found += (judgement.judge(registry, progress) for judgement in claims(document, effort=effort, most=limit))
    except DpspecError as fault:
        word = Word.UNDECIDED if fault.exit_code == Word.UNDECIDED.exit_code else Word.PLUGIN
        return Standing(word=word, reason=str(fault))
    refuted = _refuted_on(document, also, registry)
    found += [] if refuted is None else [refuted]
    stands = _stands(document, found, grown=effort > 0)
    large = None if most is None else _too_large(document, most)
    open_ones = [verdict for verdict in stands.verdicts if verdict.outcome is Outcome.UNDECIDED]
    if large is not None and stands.word is Word.UNDECIDED and open_ones:
        return Standing(word=Word.UNCHECKED, reason=large)
    return stands


def claim_of(document: SpecDocument) -> SpecDocument:
    """The document without what its standing does not depend on: its name and path, and texts for people.

    Documents with equal claims have equal standings.
    """
    claim = document.claim
    return attrs.evolve(
        document, id="", title="", path=None, text=None, sha256=None, layout=None, ledger=None,
        claim=None if claim is None else attrs.evolve(claim, because="", source=""),
        counterexamples=(), explained=(), changes=(), source=(), sources=(),
    )  # fmt: skip


def _refuted_on(document: SpecDocument, datasets: Sequence[Dataset], registry: Registry | None) -> Obligation | None:
    """The claim, where two of some datasets refute it."""
    if document.mechanism is None or document.secret is not None or len(datasets) < 2:
        return None
    tried = refute_on(document.mechanism, document.spec, [datasets], registry=registry)
    recorded = _recorded_outcome(document)
    if not isinstance(tried, Verdict):
        return None
    return attrs.evolve(_recorded("claim", tried, recorded, document.spec), spec=document.spec)


def _stands(document: SpecDocument, found: Sequence[Obligation], *, grown: bool) -> Standing:
    """The status of a claim whose obligations were verified, with the sizes of miniatures raised or not."""
    if not found:
        return Standing(word=Word.UNCHECKED, reason="the file names no mechanism that would satisfy it")
    words = [_of_claim(obligation) for obligation in found]
    worst = joint_word(words)
    reason = next(_reason(one) for one, word in zip(found, words, strict=True) if word is worst)
    if worst is Word.MINIATURE and not grown:
        reason += "; dpspec verify checks whether the constant grows with what they lower"
    if document.unaccounted and (worst.is_good or worst is Word.MINIATURE):
        steps = "; ".join(map(str, document.unaccounted))
        worst, reason = Word.UNDECIDED, f"the mechanism keeps it ({reason}), but the guarantee does not cover: {steps}"
    verdicts = tuple(one.verdict for one in found if one.verdict is not None)
    return Standing(word=worst, reason=reason, verdicts=verdicts, constant=_proved_constant(document, found, worst))


def _proved_constant(document: SpecDocument, found: Sequence[Obligation], word: Word) -> Number | None:
    """The least Lipschitz constant that is known of a verified claim: of the very specification of the file, on all datasets."""
    own = [one for one in found if one.name == "claim" and one.spec == document.spec]
    verdict = own[0].verdict if len(own) == 1 and word is Word.VERIFIED else None
    if verdict is None or verdict.outcome is not Outcome.VERIFIED or not verdict.universes:
        return None
    return None if len(verdict.vacuous) == len(verdict.universes) else verdict.constant.upper


def _too_large(document: SpecDocument, most: int) -> str | None:
    """The reason why the claim is not verified here, when a space has too many datasets."""
    small = [(miniature.spec.space, miniature.mechanism) for miniature in document.miniatures]
    judged = small or [(document.spec.space, document.mechanism)]
    sizes = [space.cardinality() for space, mechanism in judged if mechanism is not None]
    if all(size is None or size <= most for size in sizes):  # of infinitely many none is walked
        return None
    return f"not in this run, which checks no more than {most} datasets; run: dpspec verify {document.path or 'FILE'}"


def _of_claim(found: Obligation) -> Word:
    """The standing that an obligation shows: what the file records of its claim does not count, but for a refuted one."""
    if found.word is Word.HOLDS:
        return Word.VERIFIED
    if found.word is Word.MISSED and found.verdict is not None and found.verdict.outcome is Outcome.VERIFIED:
        return Word.VERIFIED if found.miniature is None else Word.MINIATURE
    return found.word


def _reason(found: Obligation) -> str:
    verdict = found.verdict
    if verdict is None or verdict.outcome is Outcome.UNDECIDED or found.word in (Word.UNCHECKED, Word.UNDECIDED):
        return found.detail.removeprefix("undecided: ")
    if verdict.outcome is Outcome.REFUTED:
        return witness_in_words(verdict.witness, found.spec)
    where = "" if found.miniature is None else f" ({found.miniature})"
    return f"{verdict.constant_in_words}, {verdict.scope}{where}"
