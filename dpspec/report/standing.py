"""How a claim stands, as it is told wherever the claim is spoken of: to technical readers, to the public, and as JSON data."""

from __future__ import annotations

from rich.text import Text

from dpspec.report.terminal import marked
from dpspec.verify.standing import TOLD, Standing
from dpspec.verify.words import Word

PUBLIC = {
    Word.VERIFIED: "It was checked, case by case, that the release described here keeps its promise.",
    Word.DERIVED: "It was checked, step by step, that the releases described here keep this promise together.",
    Word.MINIATURE: (
        "That the release keeps its promise was checked on small examples only, and holds there. For real data it is not shown. "
        "The limits below are those of a release that keeps the promise."
    ),
    Word.RECORDED: (
        "The promise told below is known to be false: the release described here does not keep it. The limits below are those of "
        "a release that would; this one can tell more about you."
    ),
    Word.UNCHECKED: (
        "Nobody has checked here that any release keeps this promise. The limits below are those of a release that keeps it."
    ),
    Word.UNDECIDED: (
        "It was looked at whether the release keeps its promise, and the question stayed open: it may not. The limits below are "
        "those of a release that keeps it."
    ),
    Word.PLUGIN: (
        "Whether the release keeps its promise could not be checked, for a part of the checking program failed. The limits below "
        "are those of a release that keeps it."
    ),
}
PUBLIC[Word.REFUTED] = PUBLIC[Word.RECORDED]
"""For each standing what the people in the data are told before anything else."""


def data(found: Standing) -> dict[str, str]:
    """The word and the sentence."""
    return {"word": found.word.word, "sentence": found.sentence}


def line(found: Standing) -> Text:
    """The sentence, its beginning in the style of the word."""
    told = TOLD[found.word]
    return Text.assemble((told, marked(found.word)[1]), f": {found.reason}")
