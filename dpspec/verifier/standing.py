"""The status of the claim of a file, which accompanies the claim in every report, sum and release."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import attrs

from dpspec.base.errors import DpspecError
from dpspec.base.exact import Number
from dpspec.base.types import Progress
from dpspec.base.words import Word, joint_word, stand_ins_in_words
from dpspec.blocks.space import Dataset, Pair
from dpspec.extension.hooks import Registry
from dpspec.grammar.mechanism import RELEASES_ITS_LAW
from dpspec.grammar.spec import PrivacySpec
from dpspec.specfile.document import SpecDocument
from dpspec.verifier.exhaustive import MOST_WALKED, refute_on
from dpspec.verifier.law_check import OF_FEW_RECORDS
from dpspec.verifier.miniatures import EFFORT
from dpspec.verifier.obligations import Obligation, claims, obligation_of, recorded_outcome
from dpspec.verifier.verdict import Outcome, Verdict, witness_in_words

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

UNDER_ASSUMPTIONS = " under assumptions"
"""The end of the words for a status that rests on more than what the mechanism's author states of it."""


def failure_code(standings: Iterable[Standing | None]) -> int:
    """The exit code of an answer next to which the status of claims is shown: 4 where a plugin failed, so that one was not
    checked, else 0.

    >>> failure_code([None, Standing(word=Word.UNDECIDED, reason="")]), failure_code([Standing(word=Word.PLUGIN, reason="")])
    (0, 4)
    """
    return max((one.word.exit_code for one in standings if one is not None and one.word is Word.PLUGIN), default=0)


@attrs.frozen(kw_only=True)
class Standing:
    """The status of a claim.

    Args:
        word: verified, derived, miniature, recorded, unchecked, undecided, refuted or plugin (not verified, for a plugin failed).
        reason: the scope and result of the verification, or why there was none.
        verdicts: the verdicts behind it: one on the whole space, or one for each miniature.
        constant: the Lipschitz constant that is proved of the mechanism on the whole space of the claim, at most that of the
            budget; None where the claim is not verified there.
        assumptions: the assumptions of the verdicts that decide the status, each once.
        stand_ins: the blocks that the file makes up: the status is one of them, and of no real release.
    """

    word: Word
    reason: str
    verdicts: tuple[Verdict, ...] = ()
    constant: Number | None = None
    assumptions: tuple[str, ...] = ()
    stand_ins: tuple[str, ...] = ()

    @property
    def premises(self) -> tuple[str, ...]:
        """The assumptions besides those that the mechanism's author stated its law, and its structure, as they are."""
        return tuple(text for text in self.assumptions if text != RELEASES_ITS_LAW and text not in OF_FEW_RECORDS)

    @property
    def is_conditional(self) -> bool:
        """Whether the status has premises: it is then never stated without them, or the words that there are some."""
        decided = self.word.is_good or self.is_false or self.word is Word.MINIATURE
        return decided and bool(self.premises or self.stand_ins)

    @property
    def suffix(self) -> str:
        """What follows a word for the status, such as *verified*, where it rests on assumptions."""
        return UNDER_ASSUMPTIONS if self.is_conditional else ""

    @property
    def label(self) -> str:
        """The status in a few words, for a table."""
        return self.word.label + self.suffix

    @property
    def words(self) -> str:
        """The status as the beginning of a sentence, which `detail` ends."""
        return STANDING_WORDS[self.word] + self.suffix

    @property
    def detail(self) -> str:
        """The reason, and the premises."""
        about = f"; about {stand_ins_in_words(self.stand_ins)}" if self.stand_ins else ""
        return f"{self.reason}{about}" + "".join(f"; assumes: {text}" for text in self.premises)

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
        """In words: the status of the claim, the reason, and the premises."""
        return f"{self.words}: {self.detail}"

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
        stated = claims(document, effort=effort, most=limit)
        found += (judgement.judge(registry, progress) for judgement in stated if not judgement.missing())
    except DpspecError as fault:
        word = Word.PLUGIN if fault.exit_code == Word.PLUGIN.exit_code else Word.UNDECIDED
        return Standing(word=word, reason=str(fault), stand_ins=document.stand_ins)
    refuted = _refuted_on(document, also, registry)
    found += [] if refuted is None else [refuted]
    state = standing_from(document, found, grown=effort > 0)
    large = None if most is None else _too_large(document, most)
    open_ones = [verdict for verdict in state.verdicts if verdict.outcome is Outcome.UNDECIDED]
    if large is not None and state.word is Word.UNDECIDED and open_ones:
        return Standing(word=Word.UNCHECKED, reason=large, stand_ins=document.stand_ins)
    return state


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
    recorded = recorded_outcome(document)
    if not isinstance(tried, Verdict):
        return None
    return attrs.evolve(obligation_of("claim", tried, recorded, document.spec), spec=document.spec)


def standing_from(document: SpecDocument, found: Sequence[Obligation], *, grown: bool) -> Standing:
    """The status of a claim whose obligations were verified, with the sizes of miniatures raised or not."""
    if not found:
        reason = "the file names no mechanism that would satisfy it"
        return Standing(word=Word.UNCHECKED, reason=reason, stand_ins=document.stand_ins)
    words = [_of_claim(obligation) for obligation in found]
    worst = joint_word(words)
    reason = next(_reason(one) for one, word in zip(found, words, strict=True) if word is worst)
    assumptions = _assumptions(found, worst)
    if worst is Word.MINIATURE and not grown:
        reason += "; dpspec verify checks whether the constant grows with what they lower"
    if document.unaccounted and (worst.is_good or worst is Word.MINIATURE):
        steps = "; ".join(map(str, document.unaccounted))
        worst, reason = Word.UNDECIDED, f"the mechanism keeps it ({reason}), but the guarantee does not cover: {steps}"
    verdicts = tuple(one.verdict for one in found if one.verdict is not None)
    return Standing(
        word=worst, reason=reason, verdicts=verdicts, constant=_proved_constant(document, found, worst),
        assumptions=assumptions, stand_ins=document.stand_ins,
    )  # fmt: skip


def _assumptions(found: Sequence[Obligation], word: Word) -> tuple[str, ...]:
    """The assumptions of the verdicts that decide a status: of all that verify, or of those that refute."""
    deciding = Outcome.REFUTED if word in (Word.REFUTED, Word.RECORDED) else Outcome.VERIFIED
    if deciding is Outcome.VERIFIED and not (word.is_good or word is Word.MINIATURE):
        return ()
    verdicts = [one.verdict for one in found if one.verdict is not None and one.verdict.outcome is deciding]
    return tuple(dict.fromkeys(text for verdict in verdicts for text in verdict.assumptions))


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
