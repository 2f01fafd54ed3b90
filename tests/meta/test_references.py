"""Every known fact of the reference digests has a test or a reason, and no reason is stale; read from the source of the tests."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
KNOWN = (ROOT / "tests" / "reference-ids.txt").read_text(encoding="utf-8").split()
REASONS = [line.split(maxsplit=1) for line in (ROOT / "tests" / "reference-reasons.txt").read_text(encoding="utf-8").splitlines()]
PLACES = ("tests", "plugins", "dpspec", "docs")


MARKS = ("pytest.mark.reference", "theorem")
"""What names IDs: the mark, and the declaration of a theorem of tests.risk.theorems, which becomes one."""


def is_mark(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) in MARKS


def named(node: ast.Call) -> set[str]:
    """The IDs of one mark; `f"K-O54{letter}"` stands for every known ID that begins so."""
    texts = [part for part in ast.walk(node) if isinstance(part, ast.Constant | ast.JoinedStr)]
    plain = {part.value for part in texts if isinstance(part, ast.Constant) and str(part.value) in KNOWN}
    begun = [part.values[0].value for part in texts if isinstance(part, ast.JoinedStr)]  # type: ignore[attr-defined]
    return plain | {name for name in KNOWN if any(name.startswith(start) for start in begun)}


def marked() -> set[str]:
    found: set[str] = set()
    for place in PLACES:
        for path in (ROOT / place).rglob("test_*.py"):
            text = path.read_text(encoding="utf-8")
            if any(f"{mark}(" in text for mark in MARKS):
                found |= {name for node in ast.walk(ast.parse(text)) if is_mark(node) for name in named(node)}  # type: ignore
    return found


def test_every_id_has_a_test_or_a_reason():
    assert set(KNOWN) - marked() == {name for name, _ in REASONS}


def test_reasons_are_words_about_known_ids_each_given_once():
    names = [name for name, _ in REASONS]
    assert len(set(names)) == len(names)
    assert set(names) <= set(KNOWN)
    assert all(len(reason.split()) > 3 for _, reason in REASONS)


def test_an_id_is_listed_once():
    assert len(set(KNOWN)) == len(KNOWN)


@pytest.mark.parametrize("kind", ["K-D", "K-T", "K-A", "Z-D", "Z-T", "Z-A"])
def test_definitions_theorems_and_algorithms_are_listed_without_a_gap(kind):
    """The digests number them from 1 on; the last numbers are theirs."""
    last = {"K-D": 43, "K-T": 32, "K-A": 14, "Z-D": 50, "Z-T": 62, "Z-A": 24}[kind]
    assert {name for name in KNOWN if re.fullmatch(rf"{kind}\d+", name)} == {f"{kind}{place}" for place in range(1, last + 1)}
