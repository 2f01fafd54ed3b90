"""The strength of the evidence for a claim, for every claim status."""

from __future__ import annotations

from dpspec.plugin.applications import Word

RANKS = {
    Word.VERIFIED: 4, Word.DERIVED: 4, Word.MINIATURE: 3, Word.UNCHECKED: 2, Word.UNDECIDED: 2, Word.PLUGIN: 2,
    Word.RECORDED: 1, Word.REFUTED: 1,
}  # fmt: skip
"""How much is known in favour of a claim. Known false is least, on record or not: `--accept recorded` excuses nothing here."""

__all__ = ["RANKS"]
