"""Where two commands answer the same question about one specification file, and the answers contradict each other.

Each function yields sentences, one for each contradiction; a file without any yields nothing. Answers are taken from the public
functions behind the commands, so the text of a command cannot differ from what is compared here.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

import attrs
from dpspec_checker.proofs import WRONG
from dpspec_deployments.catalogue import catalogue_of
from dpspec_deployments.evidence import gather as gather_evidence

import dpspec as dp
from dpspec.base.errors import DpspecError
from dpspec.base.exact import number
from dpspec.base.words import Word
from dpspec.blocks.budget import UniformBudget
from dpspec.blocks.multiverse import LevelSets
from dpspec.comparison.compare import Answer, Implication
from dpspec.extension.loader import installed
from dpspec.grammar.mechanism import Mechanism
from dpspec.grammar.spec import PrivacySpec
from dpspec.specfile.document import SpecDocument
from dpspec.verifier.document import FileReport
from dpspec.verifier.verdict import Outcome

FALSE = (Word.REFUTED, Word.RECORDED)


def contradictions(path: Path) -> Iterator[str]:
    """Every contradiction about one file."""
    document = dp.read(path)
    report = dp.verify(document)
    yield from status_contradictions(document, report)
    yield from constant_contradictions(report)
    yield from proof_contradictions(report)
    yield from comparison_contradictions(document)
    yield from invariant_contradictions(document)
    yield from risk_contradictions(document, report)
    yield from ledger_contradictions(document, report)


# --- the status of the claim ------------------------------------------------------------------------


def status_contradictions(document: SpecDocument, report: FileReport) -> Iterator[str]:
    """`verify` is the reference. Another command may know less and say so; it never says anything else."""
    decided = report.standing.word
    for command, word in statuses(document):
        if word is not decided and not (word is Word.UNCHECKED and command in QUICK_COMMANDS):
            yield f"{command} reports the claim as {word.label!r}, verify as {decided.label!r}"


QUICK_COMMANDS = ("compare", "risk")
"""These do not enumerate large spaces, and then say that the claim was not checked in this run."""


def statuses(document: SpecDocument) -> Iterator[tuple[str, Word]]:
    registry = installed().registry
    yield "compare", dp.compare(document, document).about[0][1].word
    yield "label", Word[dp.label(document).to_dict()["standing"]["word"].upper()]
    yield "evidence", gather_evidence(document, registry).standing.word
    for entry in catalogue_of([document], registry):
        yield "catalogue", entry.standing.word
    with tempfile.TemporaryDirectory() as folder:
        (told,) = dp.write_report(document.path, out=Path(folder) / "report.md").value.files
    assert told.found is not None
    yield "report", told.found.standing.word


# --- constants --------------------------------------------------------------------------------------


def constant_contradictions(report: FileReport) -> Iterator[str]:
    """A verified claim also holds with its own constant as budget, and fails below a constant that is attained."""
    for obligation in report.obligations:
        verdict, spec, run = obligation.verdict, obligation.spec, obligation.subject
        if verdict is None or spec is None or not isinstance(run, Mechanism):
            continue
        finite = not any(universe.bound.is_infinite for universe in verdict.universes)
        if verdict.outcome is Outcome.VERIFIED and len(verdict.universes) == 1 and finite and verdict.constant.upper.is_infinite:
            yield f"{obligation.name}: verified with an infinite constant"
        if verdict.outcome is Outcome.REFUTED and verdict.witness is None:
            yield f"{obligation.name}: refuted without a witness"
        if verdict.outcome is Outcome.VERIFIED and obligation.word in FALSE:
            yield f"{obligation.name}: verified, and reported as {obligation.word.label!r}"
        yield from (f"{obligation.name}: {one}" for one in other_budgets(run, spec, verdict))


def other_budgets(run: Mechanism, spec: PrivacySpec, verdict: dp.Verdict) -> Iterator[str]:
    if verdict.outcome is Outcome.UNDECIDED:
        return
    bounds = {universe.bound for universe in verdict.universes}
    larger = scaled(spec, 2)
    if larger is not None and verdict.outcome is Outcome.VERIFIED:
        found = dp.verify(run, larger)
        if found.outcome is not Outcome.VERIFIED:
            yield f"verified, but {found.outcome.value} at twice the budget"
    half = verdict.constant.lower
    smaller = scaled(spec, "1/1000")
    if smaller is not None and len(bounds) == 1 and half > 0 and all(half * number(2) > bound for bound in bounds):
        found = dp.verify(run, smaller)
        if found.outcome is Outcome.VERIFIED:
            yield f"a constant of at least {half} is attained, but a thousandth of the budget is verified"


def scaled(spec: PrivacySpec, factor: int | str) -> PrivacySpec | None:
    """The same promise with a multiple of its budget; None where the budget is not one published number."""
    budget = spec.budget
    if not isinstance(budget, UniformBudget) or budget.unpublished() is not None:
        return None
    try:
        return spec.replace(budget=attrs.evolve(budget, value=budget.value * number(factor)))
    except DpspecError:
        return None


# --- proofs -----------------------------------------------------------------------------------------


def proof_contradictions(report: FileReport) -> Iterator[str]:
    """The independent checker calls no step wrong of a proof that `verify` wrote; it may not know a step."""
    if all(one.verdict is None or not one.verdict.proof for one in report.obligations):
        return
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder) / "verdict.json"
        written.write_text(json.dumps(report.to_dict()), encoding="utf-8")
        for proof in dp.check_proof(written).value:
            wrong = [f"{step.rule} ({step.reason})" for step in proof.steps if step.status == WRONG]
            yield from (f"check-proof calls a step of {proof.name} wrong: {step}" for step in wrong)


# --- comparison -------------------------------------------------------------------------------------


def comparison_contradictions(document: SpecDocument) -> Iterator[str]:
    """A promise implies itself, and every promise with a larger budget; never one with a smaller budget that can be exceeded."""
    if document.spec.budget.unpublished() is not None:
        return
    same = dp.compare(document, document)
    if same.relation is not Implication.EQUIVALENT:
        yield f"compare: the promise and itself are {same.relation.value}"
    larger = scaled(document.spec, 2)
    if larger is None:
        return
    found = dp.compare(document.spec, larger)
    if found.forward.answer is not Answer.IMPLIES:
        yield f"compare: the promise {found.forward.answer.value} the same promise at twice the budget"
    if found.backward.answer is Answer.IMPLIES and not promises_nothing_more(document.spec):
        yield "compare: twice the budget implies the budget"
    reverse = dp.compare(larger, document.spec)
    if (reverse.forward.answer, reverse.backward.answer) != (found.backward.answer, found.forward.answer):
        yield "compare: the order of the two files changes the answer"


def promises_nothing_more(spec: PrivacySpec) -> bool:
    """Whether the budget is 0 or infinite, so that twice of it is the same promise."""
    value = spec.budget.value  # type: ignore[attr-defined]  # the caller has a uniform budget
    return bool(value == 0 or value.is_infinite)


def invariant_contradictions(document: SpecDocument) -> Iterator[str]:
    """Without one of its invariants a promise covers more pairs: it implies the one on file, whose mechanism may break it."""
    spec, multiverse = document.spec, document.spec.multiverse
    if type(multiverse) is not LevelSets or not isinstance(spec.budget, UniformBudget) or spec.budget.unpublished() is not None:
        return
    for dropped in multiverse.invariants:
        rest = LevelSets(invariants=tuple(one for one in multiverse.invariants if one is not dropped))
        try:
            coarser = spec.replace(multiverse=rest)
        except DpspecError:
            continue
        found = dp.compare(coarser, spec)
        if found.forward.answer is not Answer.IMPLIES:
            yield f"compare: the promise without the invariant {dropped} {found.forward.answer.value} the promise with it"
        run = document.mechanism
        if found.backward.answer is not Answer.IMPLIES or run is None or dp.verify(run, spec).outcome is not Outcome.VERIFIED:
            continue
        if dp.verify(run, coarser).outcome is Outcome.REFUTED:
            yield f"compare: implies the promise without the invariant {dropped}, which verify refutes"


def implication_contradictions(first: SpecDocument, second: SpecDocument) -> Iterator[str]:
    """Where one promise implies another, every mechanism that is verified for the one is not refuted for the other."""
    found = dp.compare(first.spec, second.spec)
    for strong, weak, direction in ((first, second, found.forward), (second, first, found.backward)):
        if direction.answer is not Answer.IMPLIES or strong.mechanism is None or strong.spec == weak.spec:
            continue
        if dp.verify(strong.mechanism, strong.spec).outcome is not Outcome.VERIFIED:
            continue
        if dp.verify(strong.mechanism, weak.spec).outcome is Outcome.REFUTED:
            yield f"compare: {strong.id} implies {weak.id}, but verify refutes the mechanism of the first for the second"


# --- risk -------------------------------------------------------------------------------------------


def risk_contradictions(document: SpecDocument, report: FileReport) -> Iterator[str]:
    """A mechanism beyond the risk that its promise allows does not keep the promise."""
    try:
        panel = dp.risk(document)
    except DpspecError:
        return
    decided = report.standing.word
    for found in panel.reports:
        name, (_, status) = found.attacker.name, found.about
        if status.word is not decided and status.word is not Word.UNCHECKED:
            yield f"risk ({name}) reports the claim as {status.word.label!r}, verify as {decided.label!r}"
        if found.exceeded and decided not in FALSE:
            rows = ", ".join(row.quantity for row in found.exceeded)
            yield f"risk ({name}) finds the mechanism beyond its promise ({rows}), verify says {decided.label!r}"


# --- ledger -----------------------------------------------------------------------------------------


def ledger_contradictions(document: SpecDocument, report: FileReport) -> Iterator[str]:
    """The ledger of one release is its promise; a refuted promise is added only on request."""
    false = report.standing.word in FALSE
    try:
        total = dp.ledger(document)
    except DpspecError as fault:
        if fault.code == "refuted-part" and not false:
            yield f"ledger refuses the part as refuted, verify says {report.standing.word.label!r}"
        return
    if false:
        yield f"ledger adds the part without a word, verify says {report.standing.word.label!r}"
    if dp.compare(document.spec, total.spec).forward.answer is Answer.SEPARATED:
        yield "ledger: the promise does not imply its own total"
