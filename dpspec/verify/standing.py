"""How the claim of a specification file stands: what goes wherever the claim goes, into every report, sum and release."""

from __future__ import annotations

import attrs

from dpspec.errors import DpspecError
from dpspec.extension.registry import Registry
from dpspec.specfile.document import SpecDocument
from dpspec.verify.document import Obligation, claims
from dpspec.verify.exhaustive import Progress
from dpspec.verify.growth import EFFORT
from dpspec.verify.verdict import Outcome, Verdict
from dpspec.verify.words import Word, joint_word

QUICK = 500
"""Datasets that are walked where the standing of a claim is only told on the way, as `explain` and `compare` do."""

TOLD = {
    Word.VERIFIED: "the claim is verified",
    Word.DERIVED: "the claim is verified by a derivation",
    Word.MINIATURE: "the claim holds on miniatures only",
    Word.RECORDED: "the claim is recorded as refuted, and is",
    Word.UNCHECKED: "the claim was never checked",
    Word.UNDECIDED: "the claim is undecided",
    Word.REFUTED: "the claim is refuted",
    Word.PLUGIN: "the claim was not judged: a plugin failed",
}
"""Each standing as the beginning of a sentence."""


@attrs.frozen(kw_only=True)
class Standing:
    """How a claim stands.

    Args:
        word: verified, derived, miniature, recorded, unchecked, undecided, refuted or plugin (not judged, for a plugin failed).
        reason: what was looked at, what was found, or why nothing was.
        verdicts: the verdicts behind it: one on the whole space, or one for each miniature.
    """

    word: Word
    reason: str
    verdicts: tuple[Verdict, ...] = ()

    @property
    def exit_code(self) -> int:
        """The exit code of the word."""
        return self.word.exit_code

    @property
    def is_false(self) -> bool:
        """Whether the claim was refuted, on record or not: nothing may be built on it."""
        return self.word in (Word.REFUTED, Word.RECORDED)

    @property
    def sentence(self) -> str:
        """For a reader: how the claim stands, and why."""
        return f"{TOLD[self.word]}: {self.reason}"

    def __str__(self) -> str:
        return self.sentence


def standing(
    document: SpecDocument,
    registry: Registry | None = None,
    *,
    most: int | None = None,
    effort: int = EFFORT,
    progress: Progress | None = None,
) -> Standing:
    """Judge the claim of a file, and nothing else that it states: whether its mechanism satisfies its specification.

    What the file records of its claim is not believed; a claim that is found refuted is told apart by whether it is on record.

    Args:
        document: the file.
        registry: where the provenance of the blocks is looked up.
        most: spaces with more datasets than this are not walked, and the claim is then told as never checked; without it, what
            `dpspec verify` does.
        effort: how many datasets and pairs are looked at while the sizes that a miniature lowers are raised; with 0 they are not.
        progress: called with (done, in all).
    """
    large = None if most is None else _too_large(document, most)
    if large is not None:
        return Standing(word=Word.UNCHECKED, reason=large)
    found: list[Obligation] = []
    try:
        found += (duty.judge(registry, progress) for duty in claims(document, effort=effort))
    except DpspecError as fault:
        word = Word.UNDECIDED if fault.exit_code == Word.UNDECIDED.exit_code else Word.PLUGIN
        return Standing(word=word, reason=str(fault))
    if not found:
        return Standing(word=Word.UNCHECKED, reason="the file names no mechanism that would satisfy it")
    words = [_of_claim(obligation) for obligation in found]
    worst = joint_word(words)
    reason = next(_reason(one) for one, word in zip(found, words, strict=True) if word is worst)
    if worst is Word.MINIATURE and effort == 0:
        reason += "; whether the constant grows with what they lower is told by dpspec verify"
    return Standing(word=worst, reason=reason, verdicts=tuple(one.verdict for one in found if one.verdict is not None))


def _too_large(document: SpecDocument, most: int) -> str | None:
    """Why the claim is not looked at here, when a space has too many datasets."""
    small = [(miniature.spec.space, miniature.mechanism) for miniature in document.miniatures]
    judged = small or [(document.spec.space, document.mechanism)]
    sizes = [space.cardinality() for space, mechanism in judged if mechanism is not None]
    if all(size is None or size <= most for size in sizes):  # of infinitely many none is walked
        return None
    return f"not in this run, which walks no more than {most} datasets; run: dpspec verify {document.path or 'FILE'}"


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
        return str(verdict.witness)
    where = "" if found.miniature is None else f" ({found.miniature})"
    return f"constant {verdict.constant}, {verdict.scope}{where}"
