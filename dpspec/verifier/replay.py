"""Verdicts and witnesses as JSON and back, and a witness replayed: does it still refute?

A witness file is self-contained: it holds the specification with its mechanism as the text of a specification file, and the
witness. Replaying reads the text, computes the two laws anew, and judges the pair; nothing recorded is believed. About a plain
function it holds the name and how it was sampled; who replays it names the function again, and it is run on fresh draws.
"""

from __future__ import annotations

import hashlib
import json
import re
import shlex
from fractions import Fraction
from pathlib import Path
from typing import Any

import attrs

from dpspec.base.display import Showable
from dpspec.base.errors import MissingKeyError, SpecFileError, SpecSyntaxError, UnreadableFileError
from dpspec.base.files import read_bytes, write_whole
from dpspec.base.params import build
from dpspec.base.types import Progress
from dpspec.extension.hooks import Registry
from dpspec.grammar.functions import PlainFunction
from dpspec.grammar.mechanism import Mechanism
from dpspec.grammar.plugin_calls import computed_law
from dpspec.grammar.spec import PrivacySpec
from dpspec.specfile.document import SpecDocument
from dpspec.specfile.reader import read_text
from dpspec.specfile.writer import to_toml
from dpspec.verifier.codec import from_data, to_data
from dpspec.verifier.document import FileReport
from dpspec.verifier.entry import verify_claim
from dpspec.verifier.event import with_probabilities
from dpspec.verifier.exhaustive import NOTHING, NOTHING_GIVEN, asked_of
from dpspec.verifier.functions import NamedFunction, Sampling, function_judge
from dpspec.verifier.obligations import Obligation
from dpspec.verifier.proof import on_pair, on_pair_of_theorem
from dpspec.verifier.verdict import Event, Outcome, Verdict, Witness

MOST_BYTES = 50_000_000
FORMAT = 1
"""The version of the witness file."""


def witness_file(witness: Witness, document: SpecDocument, registry: Registry, function: NamedFunction | None = None) -> str:
    """The text of a witness file.

    Args:
        witness: what was found.
        document: the specification and the mechanism about which it was found.
        registry: the names of their classes.
        function: the plain function about which it was found, when it was one.

    Raises:
        NotWritableError: when the mechanism or a block has no form in a specification file.
    """
    bare = SpecDocument(id=document.id, title=document.title, spec=document.spec, mechanism=document.mechanism)
    content = {"format": FORMAT, "kind": "dpspec-witness", "specification": to_toml(bare, registry), "witness": to_data(witness)}
    if function is not None:
        sampling = {key: _text(value) for key, value in function.sampling.keywords.items() if value is not None}
        content["function"] = {"path": function.path, "sampling": sampling}
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def _text(value: Any) -> Any:
    return str(value) if isinstance(value, Fraction) else value


def keep_witnesses(report: FileReport, directory: str | Path, registry: Registry) -> FileReport:
    """Write a witness file for every refuted claim; the report then has the command that replays each.

    Args:
        report: what was found about a file.
        directory: where to write; it is made when it is missing. Each file is written whole or not at all.
        registry: the names of the classes.

    Raises:
        ReleaseError: the directory cannot be written.
        NotWritableError: when the mechanism or a block has no form in a specification file.
    """
    kept = (keep_witness(obligation, report.document, Path(directory), registry) for obligation in report.obligations)
    return attrs.evolve(report, obligations=tuple(kept))


def keep_witness(obligation: Obligation, document: SpecDocument, directory: Path, registry: Registry) -> Obligation:
    """The same for one obligation; without a witness it stays as it is."""
    witness = None if obligation.verdict is None else obligation.verdict.witness
    if witness is None or obligation.spec is None:
        return obligation
    subject = obligation.subject
    mechanism, function = (None, subject) if isinstance(subject, NamedFunction) else (subject, None)
    judged = SpecDocument(id=document.id, title=document.title, spec=obligation.spec, mechanism=mechanism)
    text = witness_file(witness, judged, registry, function)
    named = re.sub(r"[^a-z0-9]+", "-", f"{document.id} {obligation.name}".lower()).strip("-")
    path = directory / f"{named[:60]}-{hashlib.sha256(text.encode()).hexdigest()[:8]}.json"
    write_whole(path, text)
    words = ["dpspec", "verify", "--replay", str(path), *(["--function", function.path] if function else [])]
    return attrs.evolve(obligation, replay=shlex.join(words))


@attrs.frozen(kw_only=True)
class Replay(Showable):
    """The result of the replay of a witness.

    Args:
        path: the file.
        recorded: the witness in the file.
        spec: the specification that it is held against.
        verdict: the judgement of its two datasets today.
        event: the recorded event with its probabilities of today; None where the file has none as data.
    """

    path: str
    recorded: Witness
    spec: PrivacySpec
    verdict: Verdict
    event: Event | None = None

    @property
    def outcome(self) -> Outcome:
        """Refuted when the pair still refutes the claim, verified when it is within the budget now; undecided on draws alone, and
        where the claim is no longer about the pair."""
        return self.verdict.outcome

    @property
    def is_unchanged(self) -> bool:
        """Whether the same distance, divergence, bound and event were found again."""
        return self.verdict.witness == self.recorded

    @property
    def sentence(self) -> str:
        """The result in one line."""
        if self.verdict.reason in {NOTHING, NOTHING_GIVEN}:
            return "the witness no longer refutes the claim, which is not about the two now: nothing was compared"
        if self.outcome is Outcome.UNDECIDED:
            return "the witness was not seen to refute the claim again"
        if self.outcome is Outcome.VERIFIED:
            return f"the witness no longer refutes the claim; it is within the budget: constant {self.verdict.constant}"
        if self.verdict.method == "sampled":
            return "refuted again, on fresh draws"
        return f"refuted, {'as recorded' if self.is_unchanged else 'with other numbers than recorded'}"

    @property
    def event_in_words(self) -> str:
        """The result for the recorded event itself; empty where the file has none as data."""
        if self.event is None:
            return ""
        shows = "still proves the refutation" if self.event.proves else "does not prove a refutation by itself"
        left, right = (end.outward(6) for end in (self.event.left, self.event.right))
        return f"{self.event.text} has probability {left} at x and {right} at x' now, and {shows}"


def replay(
    path: str | Path,
    *,
    registry: Registry | None = None,
    mechanism: Mechanism | PlainFunction | NamedFunction | None = None,
    spec: PrivacySpec | None = None,
    progress: Progress | None = None,
) -> Replay:
    """Judge the two datasets of a witness file anew.

    Args:
        path: the file.
        registry: where the names in its specification are looked up; without it, among all installed plugins.
        mechanism, spec: verify these instead of those in the file, such as a corrected mechanism. A witness about a plain
            function needs the function, or its name, which is imported in a sandbox: a file never makes dpspec import code.
        progress: called with (done, in all).

    Raises:
        SpecFileError, NotAFileError, SpecSyntaxError: the file cannot be read or is no witness file.
        MissingKeyError: the file is about a plain function, and none is given.
    """
    from dpspec.extension.loader import installed

    content = _content(Path(path))
    try:
        recorded, text = from_data(content["witness"]), str(content["specification"])
        if not isinstance(recorded, Witness):
            raise TypeError(f"its witness is {recorded!r}")
        function = dict(content.get("function", {}))
        sampling = build(Sampling, function.get("sampling", {}), f"{path}: sampling")
    except (KeyError, TypeError, ValueError, AttributeError) as problem:
        raise SpecSyntaxError(str(path), f"is no witness file: {problem!r}", "write one with `verify --witnesses`") from None
    if mechanism is None or spec is None:
        document = read_text(text, registry or installed().registry, str(path))
        mechanism, spec = mechanism or document.mechanism, spec or document.spec
    if mechanism is None:
        raise _missing(str(path), function.get("path"))
    if isinstance(mechanism, Mechanism):
        verdict, event = _judged_again(mechanism, spec, recorded, registry, progress)
    else:
        judge = function_judge()
        verdict, event = judge.replay(mechanism, spec, recorded, sampling, registry=registry, progress=progress)
    return Replay(path=str(path), recorded=recorded, spec=spec, verdict=verdict, event=event)


def _judged_again(
    mechanism: Mechanism, spec: PrivacySpec, recorded: Witness, registry: Registry | None, progress: Progress | None
) -> tuple[Verdict, Event | None]:
    """The verdict on the two datasets of a witness, and its event under the laws of today."""
    pair = (recorded.left, recorded.right)
    verdict = on_pair(mechanism, spec, pair) if recorded.event is None else None
    verdict = on_pair_of_theorem(mechanism, spec, pair) if verdict is None else verdict
    if verdict is None:
        verdict = verify_claim(mechanism, spec, datasets=pair, registry=registry, progress=progress)
    if recorded.event is None or recorded.event.expression is None or verdict.method == "none":
        return verdict, None
    left, right = (computed_law(mechanism, dataset, spec.space) for dataset in pair)
    return verdict, with_probabilities(recorded.event, left, right, asked_of(spec, recorded))


def _missing(path: str, function: object) -> MissingKeyError:
    if function is None:
        return MissingKeyError(f"{path}: mechanism", "is missing", "give the mechanism that is verified")
    return MissingKeyError(f"{path}: function", "is missing", f"the witness is about {function}: give --function {function}")


def _content(path: Path) -> dict[str, Any]:
    try:
        text = read_bytes(path, MOST_BYTES)
    except UnreadableFileError as problem:
        raise SpecFileError(str(path), problem.rule) from None
    if len(text) > MOST_BYTES:
        raise SpecSyntaxError(str(path), f"is larger than {MOST_BYTES:,} bytes", "no witness is so large")
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise SpecSyntaxError(str(path), f"is not JSON: {problem}") from None
    if not isinstance(content, dict) or content.get("kind") != "dpspec-witness" or content.get("format") != FORMAT:
        raise SpecSyntaxError(str(path), "is no witness file of format 1", "write one with `verify --witnesses`")
    return content
