"""The words for how a claim stands and how a file or a run ends, with the exit code of each: the only table of both.

A claim *stands* somewhere between verified and never checked; a file, or one thing that it states, *holds* or does not.
Texts, JSON, JUnit reports, pytest items and exit codes all take their words from here.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable


class Word(enum.Enum):
    """One word, the exit code that it stands for, how it is told in a few words, and in a sentence for a reader."""

    # what a claim is
    VERIFIED = ("verified", 0, "verified", "checked on the whole space, and true")
    DERIVED = ("derived", 0, "verified by a derivation", "follows from verified claims by the rules of inference")
    # what a file, or one thing in it, is
    HOLDS = ("holds", 0, "holds", "checked, and true")
    VALID = ("valid", 0, "valid", "can be read; nothing was judged")
    # both
    MINIATURE = (
        "miniature",
        7,
        "holds on miniatures only",
        "true on each miniature that was walked; the whole space was not, and the claim itself is not shown",
    )
    RECORDED = (
        "recorded",
        6,
        "recorded as refuted, and is",
        "false, as its file says: a claim on record that nothing may rely on",
    )
    UNCHECKED = ("unchecked", 5, "nothing was checked", "never checked: nothing is known about it")
    UNDECIDED = ("undecided", 3, "undecided", "looked at, and not decided: it may be false")
    REFUTED = ("refuted", 1, "refuted", "false: two datasets of one universe show it")
    MISSED = ("missed", 1, "FAILS", "not what the file states: a printed number, or what it records of a claim")
    PLUGIN = ("plugin", 4, "a plugin failed", "not judged: a plugin, library or worker failed")
    INVALID = ("invalid", 2, "invalid", "not judged: the input has a fault")

    def __init__(self, word: str, exit_code: int, told: str, sentence: str) -> None:
        self.word, self.exit_code, self.told, self.sentence = word, exit_code, told, sentence

    @property
    def is_good(self) -> bool:
        """Whether something was checked and is true, without a reserve: the words with exit code 0."""
        return self.exit_code == 0


SEVEREST_FIRST = (2, 4, 1, 3, 5, 7, 6, 0)
"""The exit codes, the worst first: what cannot be used, what broke, what is false, and then how little is known."""

ACCEPTABLE = (Word.RECORDED, Word.MINIATURE, Word.UNCHECKED, Word.UNDECIDED)
"""What `--accept` may count as success: what is not refuted, and known for what it is."""


def worst_code(codes: Iterable[int]) -> int:
    """The exit code of several things; 0 for none.

    >>> worst_code([0, 7, 6]), worst_code([5, 3, 1])
    (7, 1)
    """
    return min(codes, key=lambda code: SEVEREST_FIRST.index(code) if code in SEVEREST_FIRST else -1, default=0)


def joint_word(words: Iterable[Word]) -> Word:
    """How a claim stands that needs several to be true: false as soon as one of them is, on record or not.

    >>> joint_word([Word.MINIATURE, Word.RECORDED]).told, joint_word([Word.MINIATURE, Word.VERIFIED]).told
    ('recorded as refuted, and is', 'holds on miniatures only')
    """
    found = list(words)
    return next((word for word in (Word.REFUTED, Word.RECORDED) if word in found), None) or worst_word(found)


def worst_word(words: Iterable[Word]) -> Word:
    """The word of the worst; of nothing at all: that nothing was checked.

    >>> worst_word([Word.HOLDS, Word.MINIATURE]).told, worst_word([]).told
    ('holds on miniatures only', 'nothing was checked')
    """
    found = list(words)
    return min(found, key=lambda word: SEVEREST_FIRST.index(word.exit_code), default=Word.UNCHECKED)
