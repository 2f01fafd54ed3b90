"""Whether code seeds the generators of whole modules: draws from `random` and `numpy.random` are random only where nothing does.

A seed in the function itself is detected when the function runs. One that is set elsewhere, when a module is imported or by a
function that is not called here, is searched in the text of the module and of the modules of the user's that it names. Libraries
are trusted.
"""

from __future__ import annotations

import ast
import functools
import inspect
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

SEEDING = frozenset({"seed", "set_state", "setstate", "set_bit_generator"})
"""Functions and methods that set the state of a generator."""


def place_of_seed(function: Callable[..., Any]) -> str | None:
    """The file and line where a module that the function may use sets the state of a generator; None for none.

    Returns:
        also where the text of the module cannot be read, what is missing.

    >>> place_of_seed(place_of_seed) is None
    True
    """
    begin = inspect.unwrap(function)
    while isinstance(begin, functools.partial):
        begin = inspect.unwrap(begin.func)
    return next(filter(None, map(_place_in, _modules_of(str(getattr(begin, "__module__", ""))))), None)


def _modules_of(name: str) -> Iterator[types.ModuleType | None]:
    """A module and the user's modules that can be reached by names in it; None for one that is not there."""
    waiting, seen = [name], set[str]()
    while waiting:
        name = waiting.pop()
        if name in seen or (seen and _is_library(name)):
            continue
        seen.add(name)
        module = sys.modules.get(name)
        yield module
        for held in [] if module is None else [*vars(module).values()]:
            kind = type(held)  # what an object says of itself may be code of its own
            is_named = issubclass(kind, (types.FunctionType, type))
            found = held.__name__ if issubclass(kind, types.ModuleType) else (held if is_named else kind).__module__
            if isinstance(found, str):
                waiting.append(found)


def _is_library(name: str) -> bool:
    root = name.partition(".")[0]
    if (root in sys.stdlib_module_names and root != "__main__") or root.startswith("dpspec"):
        return True
    file = getattr(sys.modules.get(name), "__file__", None)
    return file is None or "site-packages" in file or "dist-packages" in file


def _place_in(module: types.ModuleType | None) -> str | None:
    if module is None:
        return "a module that is not imported"
    cells = vars(module).get("In") if module.__name__ == "__main__" else None  # of a notebook, what was typed
    try:
        text = inspect.getsource(module) if cells is None else "\n".join(map(str, cells))
    except (OSError, TypeError):
        return f"{module.__name__}, whose text cannot be read,"
    try:
        nodes = [*ast.walk(ast.parse(text))]
    except SyntaxError:  # a cell with a command of the notebook
        return f"{module.__name__}, whose text cannot be read,"
    line = min((one.lineno for node in nodes for one in _seeds(node)), default=None)
    return None if line is None else f"{module.__name__}, line {line},"


def _seeds(node: ast.AST) -> Iterator[ast.expr | ast.stmt]:
    if isinstance(node, ast.Attribute) and node.attr in SEEDING:
        yield node
    if isinstance(node, ast.Attribute) and node.attr == "random_state" and isinstance(node.ctx, ast.Store):  # of scipy.stats
        yield node
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in SEEDING:
        yield node
    if isinstance(node, ast.ImportFrom) and any(name.name in SEEDING for name in node.names):
        yield node
