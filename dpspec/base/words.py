"""The words for the status of a claim and the outcome of a file or run, with their exit codes: the only table of both.

The status of a claim ranges from verified to unchecked; a file, or one of its statements, holds or fails.
Texts, JSON, JUnit reports, pytest items and exit codes all use these words.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from typing import Any


class Word(enum.Enum):
    """One word, its exit code, its label, and a sentence that explains it."""

    # what a claim is
    VERIFIED = ("verified", 0, "verified", "checked on the whole space, and true")
    DERIVED = ("derived", 0, "verified by a derivation", "follows from verified claims by the rules of inference")
    # what a file, or one thing in it, is
    HOLDS = ("holds", 0, "holds", "checked, and true")
    VALID = ("valid", 0, "valid", "well formed; nothing was checked")
    # both
    MINIATURE = (
        "miniature",
        7,
        "holds on miniatures only",
        "true on every small space that was checked; not proved for the whole space",
    )
    RECORDED = (
        "recorded",
        6,
        "known false (confirmed)",
        "false, as its file records: do not rely on it",
    )
    UNCHECKED = ("unchecked", 5, "nothing was checked", "never checked: it may be false")
    UNDECIDED = ("undecided", 3, "undecided", "checked without a decision: it may be false")
    REFUTED = ("refuted", 1, "refuted", "false: two datasets of one universe are a counterexample")
    MISSED = ("missed", 1, "FAILS", "different from what the file states: a number, or the status of a claim")
    PLUGIN = ("plugin", 4, "a plugin failed", "not checked: a plugin, library or worker failed")
    INVALID = ("invalid", 2, "invalid", "not checked: the input has an error")

    def __init__(self, word: str, exit_code: int, label: str, sentence: str) -> None:
        self.word, self.exit_code, self.label, self.sentence = word, exit_code, label, sentence

    @property
    def is_good(self) -> bool:
        """Whether something was checked and is true, without a reserve: the words with exit code 0."""
        return self.exit_code == 0


SEVEREST_FIRST = (2, 4, 1, 3, 5, 7, 6, 0)
"""The exit codes, the worst first: what cannot be used, what broke, what is false, and then how little is known."""

ACCEPTABLE = (Word.RECORDED, Word.MINIATURE, Word.UNCHECKED, Word.UNDECIDED)
"""The status words that `--accept` may count as success: known ones that are not refuted."""


def worst_code(codes: Iterable[int]) -> int:
    """The exit code of several things; 0 for none.

    >>> worst_code([0, 7, 6]), worst_code([5, 3, 1])
    (7, 1)
    """
    return min(codes, key=lambda code: SEVEREST_FIRST.index(code) if code in SEVEREST_FIRST else -1, default=0)


def joint_word(words: Iterable[Word]) -> Word:
    """The status of a claim that needs several claims: false as soon as one of them is.

    >>> joint_word([Word.MINIATURE, Word.RECORDED]).label, joint_word([Word.MINIATURE, Word.VERIFIED]).label
    ('known false (confirmed)', 'holds on miniatures only')
    """
    found = list(words)
    return next((word for word in (Word.REFUTED, Word.RECORDED) if word in found), None) or worst_word(found)


def worst_word(words: Iterable[Word]) -> Word:
    """The word of the worst; of nothing at all: that nothing was checked.

    >>> worst_word([Word.HOLDS, Word.MINIATURE]).label, worst_word([]).label
    ('holds on miniatures only', 'nothing was checked')
    """
    found = list(words)
    return min(found, key=lambda word: SEVEREST_FIRST.index(word.exit_code), default=Word.UNCHECKED)


def stand_ins_in_words(blocks: Sequence[str]) -> str:
    """What numbers of a mechanism are about where the file makes up blocks of it.

    >>> stand_ins_in_words(["space", "mechanism"])
    'the space and the mechanism of the file, in place of what is not published'
    """
    return f"the {' and the '.join(blocks)} of the file, in place of what is not published"


JudgedFile = tuple[Word, dict[str, Any], str]
"""How one file ended, and its two reports, as data and as text; of which the one that is not printed may be empty."""
