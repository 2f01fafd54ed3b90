"""The stored derivations: `python -m tests.compare.stored` writes tests/compare/derivations/*.json anew."""

from __future__ import annotations

from pathlib import Path

from dpspec.api import read
from dpspec.extension import installed
from dpspec.reason.search import derive

ROOT = Path(__file__).parents[2]
FOLDER = Path(__file__).with_name("derivations")

PAIRS = (
    ("specs/topdown-2020-pl-persons", "specs/topdown-2020-pl-dhc"),
    ("specs/gaussian-standard", "specs/gaussian-lecture-corrected"),
    ("specs/swapping-derangement", "specs/swapping-permutation"),
    ("specs/flavours/amplification-by-sampling", "specs/flavours/zero-concentrated-dp"),
    ("specs/flavours/amplification-by-sampling", "specs/flavours/personalised-budgets"),
    ("specs/flavours/amplification-by-sampling", "specs/flavours/personalised-dp"),
    ("specs/flavours/amplification-by-sampling", "specs/flavours/f-dp"),
    ("specs/flavours/approximate-dp", "specs/flavours/hockey-stick-dp"),
    ("specs/flavours/blowfish-constraints", "specs/flavours/generic-dp"),
    ("specs/flavours/generic-dp", "specs/flavours/blowfish-constraints"),
    ("specs/flavours/f-dp", "specs/flavours/f-divergence-privacy"),
    ("specs/flavours/f-dp", "specs/flavours/renyi-dp"),
    ("specs/flavours/personalised-budgets", "specs/flavours/personalised-dp"),
    ("specs/flavours/personalised-budgets", "specs/flavours/f-divergence-privacy"),
    ("specs/flavours/personalised-budgets", "specs/flavours/hockey-stick-dp"),
    ("specs/flavours/pure-dp", "specs/flavours/gaussian-dp"),
    ("specs/flavours/pure-dp", "specs/flavours/hockey-stick-dp"),
    ("specs/flavours/f-dp", "specs/flavours/zero-concentrated-dp"),
    ("specs/flavours/renyi-dp", "specs/flavours/f-divergence-privacy"),
    ("specs/flavours/renyi-dp", "specs/flavours/hockey-stick-dp"),
    ("specs/flavours/per-record-dp", "specs/flavours/per-instance-dp"),
    ("specs/flavours/per-instance-dp", "specs/flavours/individual-dp"),
    ("specs/flavours/user-level-dp", "specs/flavours/w-event-dp"),
    ("specs/flavours/user-window-dp", "specs/flavours/event-level-dp"),
)
"""Premise and conclusion, by file."""


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for old in FOLDER.glob("*.json"):
        old.unlink()
    for premise, conclusion in PAIRS:
        first, second = (read(ROOT / f"{path}.dpspec.toml") for path in (premise, conclusion))
        found = derive(first.spec, second.spec)
        assert found is not None, (premise, conclusion)
        name = f"{first.id}-implies-{second.id}.json"
        (FOLDER / name).write_text(found.text(installed().registry), encoding="utf-8")


if __name__ == "__main__":
    main()
