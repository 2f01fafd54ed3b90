"""Verification of a specification file: its obligations (`dpspec.verifier.obligations`), and what they say together."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

import attrs

from dpspec.base.display import Showable
from dpspec.base.log import log
from dpspec.base.types import Progress
from dpspec.base.words import Word, worst_word
from dpspec.extension.hooks import Registry
from dpspec.grammar.mechanism import Mechanism
from dpspec.specfile.document import SpecDocument
from dpspec.verifier.functions import NamedFunction, function_judge, verify_named
from dpspec.verifier.obligations import Judgement, Obligation, claims, judgements, nothing_to_judge, obligation_of, unaccounted
from dpspec.verifier.proof import METHOD, WHOLE
from dpspec.verifier.standing import Standing, standing_from
from dpspec.verifier.verdict import Outcome


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
        return standing_from(self.document, judged, grown=True)


def _made_up(blocks: Sequence[str]) -> str:
    return f"the {' and the '.join(blocks)} {'stand in for others' if len(blocks) > 1 else 'stands in for another'}"


def verify_document(document: SpecDocument, *, registry: Registry | None = None, progress: Progress | None = None) -> FileReport:
    """Judge everything that a specification file states."""
    found = FileReport(document=document, obligations=_judged(judgements(document), registry, progress))
    log("verify", "INFO", "%s: %s", document.id, found.word.word)
    return found


def _judged(stated: Sequence[Judgement], registry: Registry | None, progress: Progress | None) -> tuple[Obligation, ...]:
    return tuple(judgement.judge(registry, progress) for judgement in stated if not judgement.missing())


def verify_release(document: SpecDocument, *, registry: Registry | None = None, progress: Progress | None = None) -> FileReport:
    """Judge the claim of a file on the code that releases real tables, run on every choice of its randomness.

    Counterexamples and published numbers are not verified again.
    """
    miniatures = tuple(attrs.evolve(m, mechanism=_code(m.mechanism)) for m in document.miniatures)
    parts = tuple(attrs.evolve(part, mechanism=_code(part.mechanism)) for part in document.parts)
    # code whose parameters are secret cannot be run: no value is the published one
    code = attrs.evolve(document, mechanism=_code(document.mechanism), miniatures=miniatures, parts=parts, secret=None)
    held = _judged((*claims(code), *unaccounted(code)), registry, progress)
    return FileReport(document=code, obligations=held or (nothing_to_judge("claim").judge(registry, progress),))


def _code(mechanism: Mechanism | None) -> Mechanism | None:
    return None if mechanism is None else function_judge().release_code(mechanism)


def verify_function(
    function: NamedFunction, document: SpecDocument, *, registry: Registry | None = None, progress: Progress | None = None
) -> FileReport:
    """Judge a plain function against the five blocks of a file, whatever else the file states."""
    spec = document.spec
    verdict = verify_named(function, spec, registry=registry, progress=progress)
    held = obligation_of(f"function {function.path}", verdict, Outcome.VERIFIED, spec)
    words = ["dpspec", "verify", str(document.path), "--function", function.path, *function.sampling.options]
    again = None if verdict.witness is None else shlex.join(words)
    blocks = SpecDocument(id=document.id, title=document.title, path=document.path, spec=spec)
    return FileReport(
        document=blocks, obligations=(attrs.evolve(held, recorded=Outcome.VERIFIED, spec=spec, subject=function, replay=again),)
    )


