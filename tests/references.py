"""The known facts: where each is printed, what it says, and which test carries it; read from the source of the tests.

`reference-ids.txt` lists the IDs, `reference-sources.toml` says of each what it is and where it is printed, and
`reference-reasons.txt` why one has no test. docs/make_reference.py makes docs/reference/sources.md of them.
"""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import attrs

ROOT = Path(__file__).parents[1]
KNOWN = (ROOT / "tests" / "reference-ids.txt").read_text(encoding="utf-8").split()
REASONS = [line.split(maxsplit=1) for line in (ROOT / "tests" / "reference-reasons.txt").read_text(encoding="utf-8").splitlines()]
PLACES = ("tests", "plugins", "dpspec", "docs", "reproductions")

MARKS = ("pytest.mark.reference", "theorem")
"""What names IDs: the mark, and the declaration of a theorem of tests.risk.theorems, which becomes one."""


@attrs.frozen(kw_only=True)
class Reference:
    """A known fact.

    Args:
        name: its ID.
        source: the key of its source in dpspec/report/sources.toml.
        where: the place in the source; empty for the source as a whole.
        says: what it says, in our words.
        worked_out: whether the source does not print it: it follows from what stands there, or is said about it.
    """

    name: str
    source: str
    where: str
    says: str
    worked_out: bool


def references() -> list[Reference]:
    """All of them, in the order of the table."""
    data = tomllib.loads((ROOT / "tests" / "reference-sources.toml").read_text(encoding="utf-8"))
    return [
        Reference(name=name, source=source, where=where, says=says, worked_out=bool(rest))
        for name, (source, where, says, *rest) in data.items()
    ]


def is_mark(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) in MARKS


def named(node: ast.Call) -> set[str]:
    """The IDs of one mark; `f"K-O54{letter}"` stands for every known ID that begins so."""
    texts = [part for part in ast.walk(node) if isinstance(part, ast.Constant | ast.JoinedStr)]
    plain = {part.value for part in texts if isinstance(part, ast.Constant) and str(part.value) in KNOWN}
    begun = [part.values[0].value for part in texts if isinstance(part, ast.JoinedStr)]  # type: ignore[attr-defined]
    return plain | {name for name in KNOWN if any(name.startswith(start) for start in begun)}


@cache
def carriers() -> dict[str, tuple[str, ...]]:
    """The tests that carry each ID, as `tests/oracle/test_file.py::test_name`."""
    found: dict[str, dict[str, None]] = {}
    for place in PLACES:
        for path in sorted((ROOT / place).rglob("test_*.py")):
            text = path.read_text(encoding="utf-8")
            if not any(f"{mark}(" in text for mark in MARKS):
                continue
            for test, node in _marks(ast.parse(text), ""):
                carrier = f"{path.relative_to(ROOT).as_posix()}::{test}" if test else path.relative_to(ROOT).as_posix()
                for name in named(node):
                    found.setdefault(name, {})[carrier] = None
    return {name: tuple(tests) for name, tests in found.items()}


def _marks(node: ast.AST, test: str) -> Iterator[tuple[str, ast.Call]]:
    """Every mark with the function or class that it decorates; with nothing where it stands by itself."""
    for child in ast.iter_child_nodes(node):
        inside = child.name if isinstance(child, ast.FunctionDef | ast.ClassDef) and not test else test
        if is_mark(child):
            yield inside, child  # type: ignore[misc]
        yield from _marks(child, inside)
