"""The syntax of source files, read once for all static checks."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from pathlib import Path


@functools.cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@functools.cache
def imports(path: Path) -> tuple[ast.Import | ast.ImportFrom, ...]:
    """The imports of a file, wherever in it: inside functions and for types only, too."""
    return tuple(node for node in statements(tree(path)) if isinstance(node, (ast.Import, ast.ImportFrom)))


def statements(code: ast.Module) -> Iterator[ast.AST]:
    """Every statement, and the parts of statements that hold others; expressions, most of the nodes, are passed over."""
    left: list[ast.AST] = [code]
    while left:
        node = left.pop()
        yield node
        for field in ("body", "orelse", "finalbody", "handlers", "cases"):
            inner = getattr(node, field, ())
            left += inner if isinstance(inner, list) else ()
