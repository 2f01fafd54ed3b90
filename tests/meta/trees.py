"""The syntax of source files, read once for all static checks."""

from __future__ import annotations

import ast
import functools
from pathlib import Path


@functools.cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@functools.cache
def imports(path: Path) -> tuple[ast.Import | ast.ImportFrom, ...]:
    """The imports of a file, wherever in it: inside functions and for types only, too."""
    return tuple(node for node in ast.walk(tree(path)) if isinstance(node, (ast.Import, ast.ImportFrom)))
