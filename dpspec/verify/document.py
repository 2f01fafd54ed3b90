"""Verifying a specification file: its claim on every miniature (or the whole space), and every printed number."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Iterator

import attrs

from dpspec.exact import Bracket
from dpspec.extension.registry import Registry
from dpspec.mechanism import Mechanism
from dpspec.plural import count
from dpspec.spec import PrivacySpec
from dpspec.specfile.document import Expectation, SpecDocument
from dpspec.verify.automatic import ReleaseCode
from dpspec.verify.entry import verify_claim
from dpspec.verify.exhaustive import Progress, guarded, not_empty, verify
from dpspec.verify.function import NamedFunction
from dpspec.verify.verdict import Outcome, Verdict, worst


@attrs.frozen(kw_only=True)
class Obligation:
    """One thing that a file obliges itself to.

    Args:
        name: what it is: a claim on a space, or a printed number.
        outcome: whether it holds. A claim that is filed as refuted holds when the engine refutes it.
        detail: the finding in one line.
        recorded: for a claim, the verdict that the file records for it.
        spec, subject: for a claim, the specification and the mechanism or function that it is about.
        verdict: for a claim, the engine's verdict.
        value: for a printed number, the recomputed one.
        replay: the command that shows a refutation again, where there is one.
    """

    name: str
    outcome: Outcome
    detail: str
    recorded: str | None = None
    spec: PrivacySpec | None = None
    subject: Mechanism | NamedFunction | None = None
    verdict: Verdict | None = None
    value: Bracket | None = None
    replay: str | None = None


@attrs.frozen(kw_only=True)
class FileReport:
    """What was found about one file."""

    document: SpecDocument
    obligations: tuple[Obligation, ...]

    @property
    def outcome(self) -> Outcome:
        """The worst outcome of the obligations."""
        return worst(obligation.outcome for obligation in self.obligations)

    @property
    def scope(self) -> str:
        """How far the claim itself was examined."""
        if all(obligation.verdict is None for obligation in self.obligations):
            return "printed numbers only"
        if any(obligation.verdict is not None and obligation.verdict.method == "sampled" for obligation in self.obligations):
            return "by sampling; not every pair was looked at"
        return "miniatures only; the whole space was not walked" if self.document.miniatures else "the whole space"


@attrs.frozen(kw_only=True)
class Duty:
    """An obligation that has not been judged yet.

    Args:
        name: what it is; no two duties of a file have the same name.
        judge: judges it; takes the registry for provenance and who is told of the progress, or None for either.
    """

    name: str
    judge: Callable[[Registry | None, Progress | None], Obligation]


def verify_document(document: SpecDocument, *, registry: Registry | None = None, progress: Progress | None = None) -> FileReport:
    """Judge everything that a specification file states."""
    return FileReport(document=document, obligations=tuple(duty.judge(registry, progress) for duty in duties(document)))


def verify_release(document: SpecDocument, *, registry: Registry | None = None, progress: Progress | None = None) -> FileReport:
    """Judge the claim of a file on the code that releases real tables, run on every choice of its randomness.

    Counterexamples and printed numbers are not judged again.
    """
    miniatures = tuple(attrs.evolve(m, mechanism=_code(m.mechanism)) for m in document.miniatures)
    code = attrs.evolve(document, mechanism=_code(document.mechanism), miniatures=miniatures)
    return FileReport(document=code, obligations=tuple(duty.judge(registry, progress) for duty in _claims(code)))


def _code(mechanism: Mechanism | None) -> Mechanism | None:
    return None if mechanism is None else ReleaseCode(mechanism)


def verify_function(
    function: NamedFunction, document: SpecDocument, *, registry: Registry | None = None, progress: Progress | None = None
) -> FileReport:
    """Judge a plain function against the five blocks of a file, whatever else the file states."""
    spec = document.spec
    verdict = verify_claim(function.call, spec, registry=registry, progress=progress, **function.sampling.keywords)
    held = _recorded(f"function {function.path}", verdict, "verified")
    words = ["dpspec", "verify", str(document.path), "--function", function.path, *function.sampling.options]
    again = None if verdict.witness is None else shlex.join(words)
    blocks = SpecDocument(id=document.id, title=document.title, path=document.path, spec=spec)
    return FileReport(
        document=blocks, obligations=(attrs.evolve(held, recorded="verified", spec=spec, subject=function, replay=again),)
    )


def duties(document: SpecDocument) -> tuple[Duty, ...]:
    """What a file obliges itself to, each thing to be judged on its own."""
    stated = (
        *_claims(document),
        *_counterexamples(document),
        *(_number(expectation, document) for expectation in document.expectations),
    )
    times: Counter[str] = Counter()
    told_apart = []
    for duty in stated:
        times[duty.name] += 1
        again = times[duty.name] > 1
        told_apart.append(attrs.evolve(duty, name=f"{duty.name} ({times[duty.name]})") if again else duty)
    return tuple(told_apart)


def _claims(document: SpecDocument) -> Iterator[Duty]:
    instances = [(f"claim on miniature: {m.title}", m.spec, m.mechanism) for m in document.miniatures]
    if not instances:
        instances = [("claim", document.spec, document.mechanism)]
    recorded = "verified" if document.claim is None else document.claim.verdict
    for name, spec, mechanism in instances:
        if mechanism is not None:
            yield _claim(name, spec, mechanism, recorded)
        elif recorded != "undecided" and not document.expectations:
            yield _nothing_to_judge(name)


def _claim(name: str, spec: PrivacySpec, mechanism: Mechanism, recorded: str) -> Duty:
    def judge(registry: Registry | None, progress: Progress | None) -> Obligation:
        verdict = not_empty(verify(mechanism, spec, registry=registry, progress=progress))
        return attrs.evolve(_recorded(name, verdict, recorded), recorded=recorded, spec=spec, subject=mechanism)

    return Duty(name=name, judge=judge)


def _counterexamples(document: SpecDocument) -> Iterator[Duty]:
    """Each counterexample as a claim that has to be refuted, on the first miniature or else the whole space."""
    spec = document.miniatures[0].spec if document.miniatures else document.spec
    for found in document.counterexamples:
        yield _claim(f"counterexample: {found.title}", spec, found.mechanism, "refuted")


def _nothing_to_judge(name: str) -> Duty:
    detail = "the file names no mechanism, so there is nothing to judge"
    return Duty(name=name, judge=lambda _, __: Obligation(name=name, outcome=Outcome.UNDECIDED, detail=detail))


def _number(expectation: Expectation, document: SpecDocument) -> Duty:
    return Duty(name=f"number: {expectation.what}", judge=lambda _, __: _printed(expectation, document))


def _recorded(name: str, verdict: Verdict, recorded: str) -> Obligation:
    """A claim is held against the verdict that the file records for it."""
    found = verdict.outcome
    if found is Outcome.UNDECIDED:
        outcome = Outcome.VERIFIED if recorded == found.value else found
        return Obligation(name=name, outcome=outcome, detail=f"undecided: {verdict.reason}", verdict=verdict)
    as_recorded = found.value == recorded
    note = "" if recorded == "verified" else " (as recorded)" if as_recorded else f" (recorded as {recorded})"
    if found is Outcome.VERIFIED:
        vacuous = f"; {count(len(verdict.vacuous), 'universe')} vacuous" if verdict.vacuous else ""
        detail = f"verified{note}: constant {verdict.constant}, {verdict.scope}{vacuous}"
    else:
        detail = f"refuted{note}: {verdict.witness}"
    held = Outcome.VERIFIED if as_recorded else Outcome.REFUTED
    return Obligation(name=name, outcome=held, detail=detail, verdict=verdict)


def _printed(expectation: Expectation, document: SpecDocument) -> Obligation:
    value: Bracket = guarded(expectation.route.name, lambda: expectation.value(document.spec))
    met = expectation.is_met_by(value)
    outcome = Outcome.UNDECIDED if met is None else Outcome.VERIFIED if met else Outcome.REFUTED
    shown = value.lower.decimal(6)
    wrong = "" if expectation.corrected is None else f" (an erratum, corrected to {expectation.corrected.decimal(8)})"
    detail = f"{expectation.parameter} = {expectation.printed.decimal(8)} printed{wrong}, {shown} by {expectation.route.name}"
    return Obligation(name=f"number: {expectation.what}", outcome=outcome, detail=detail, value=value)
