"""The checker imports nothing of dpspec, and all lines that have to be trusted are counted."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.meta.trees import imports, tree

SOURCE = Path(__file__).parents[1] / "src" / "dpspec_checker"
FILES = {path.stem: path for path in SOURCE.glob("*.py")}
KERNEL = ("numbers", "check")
"""The chain of steps, the side condition of every rule, and the arithmetic."""
FACTS = ("constants", "domains", "universes", "conversions", "pairs", "noise", "tied_parts")
"""Facts about named blocks; each knows at most those before it."""
READERS = ("errors", "json_files")
"""What reads a file, and knows nothing of its contents."""
PROOFS = ("lower_bound", "statements", "proofs")
"""What checks proofs of claims and what a verdict states, by the same facts."""
TABLES = ("cell_bounds",)
"""What checks ranges of cells, by whole numbers alone."""
ANSWERS = ("answers",)
"""What turns verdicts of the checker into data, text and an exit code."""
TRUSTED = (*KERNEL, *FACTS, *READERS, *PROOFS, *TABLES, *ANSWERS)
"""Every module whose fault can make the checker accept what is false."""
NOT_TRUSTED = ("__init__", "command")
"""Names, and the options of the command line."""
MOST_TRUSTED_LINES = 4120
"""Lines of code of all trusted modules: without docstrings, comments and blank lines."""


def imported(path: Path) -> Iterator[str]:
    for node in imports(path):
        yield from [node.module or ""] if isinstance(node, ast.ImportFrom) else (alias.name for alias in node.names)


def lines_of_code(path: Path) -> int:
    """Without docstrings, comments and blank lines."""
    texts = [node for node in ast.walk(tree(path)) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)]
    documented = {line for node in texts for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)}
    code = enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
    return sum(1 for line, text in code if text.strip() and not text.strip().startswith("#") and line not in documented)


def test_every_trusted_line_is_counted() -> None:
    assert set(FILES) == {*TRUSTED, *NOT_TRUSTED}
    assert sum(lines_of_code(FILES[name]) for name in TRUSTED) <= MOST_TRUSTED_LINES


def test_it_imports_the_standard_library_two_packages_and_itself() -> None:
    """`click` in addition where commands are declared; nothing of dpspec anywhere."""
    allowed = {*sys.stdlib_module_names, "attrs", "flint", "dpspec_checker"}
    assert [
        f"{name} imports {module}"
        for name, path in FILES.items()
        for module in imported(path)
        if module.partition(".")[0] not in (allowed | {"click"} if name == "command" else allowed)
    ] == []


def test_facts_depend_on_the_arithmetic_and_on_facts_before_them() -> None:
    assert [
        f"{name} imports {module}"
        for place, name in enumerate(FACTS)
        for module in imported(FILES[name])
        if module.startswith("dpspec") and module not in {f"dpspec_checker.{below}" for below in ("numbers", *FACTS[:place])}
    ] == []
