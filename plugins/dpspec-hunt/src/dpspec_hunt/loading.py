"""The import of the module of a function: that file and no other, with modules of Python and of dpspec unchanged.

A folder may hold a module called `random` or `numpy`, or a package that is installed in another version as well. Inside the
jail the folder comes first, as it does for its authors, except for names that dpspec needs itself. A module of the folder
that imports one of these is not checked, since it would be handed another module than it is by its authors.
"""

from __future__ import annotations

import ast
import importlib.metadata
import inspect
import operator
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader, all_suffixes
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

_NAME = re.compile(r"[A-Za-z0-9_.-]+")


class SourceLoader(SourceFileLoader):
    """Loads a module from its source; compiled code next to it may be of another source, and is not read."""

    def path_stats(self, path: str | bytes) -> Mapping[str, Any]:
        """Nothing that compiled code could be compared with."""
        raise OSError("no compiled code is read")


class RootFinder(MetaPathFinder):
    """Finds the modules of a folder before those of the same name elsewhere, with all that is inside of them.

    Args:
        root: the folder.
        names: the modules in it that are found here.
    """

    def __init__(self, root: Path, names: frozenset[str]) -> None:
        self.root, self.names = root, names

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """The place of a module of the folder."""
        if fullname.partition(".")[0] not in self.names:
            return None
        found = PathFinder.find_spec(fullname, [str(self.root)] if path is None else path)
        if found is None or (path is None and found.loader is None and PathFinder.find_spec(fullname)):
            return None
        if type(found.loader) is SourceFileLoader and found.origin is not None:
            found.loader = SourceLoader(fullname, found.origin)
        return found


def enter(root: str, module: str) -> None:
    """Let modules of a folder be imported.

    Raises:
        ImportError: the module that is meant has the name of one that dpspec needs.
    """
    place = Path(root)
    if any(path and Path(path).resolve() == place.resolve() for path in sys.path):
        return
    names = _names(place)
    fixed = frozenset(name for name in names if _is_needed(name))
    top = module.partition(".")[0]
    if top in fixed:
        raise ImportError(f"a module of Python or of dpspec is called {top} as well")
    sys.meta_path.insert(0, RootFinder(place, names - fixed))
    _shadowed[place] = fixed


_shadowed: dict[Path, frozenset[str]] = {}
"""Folder to its modules that are not found there."""


def confirm(module: str, path: str, name: str, first: int, last: int) -> None:
    """Check that what was imported is what was read.

    Args:
        module, path: the module, and the file that was read.
        name: of the function, inside the module.
        first, last: its lines; 0 for a function with decorators, which may be of any file.

    Raises:
        ImportError: it is another one.
    """
    found = sys.modules[module]
    if not _is_file(getattr(found, "__file__", None), path):
        raise ImportError(f"another module is called {module}, and was imported in its place")
    function = operator.attrgetter(name)(found)
    function = inspect.unwrap(getattr(function, "__func__", function))
    if last and not (
        isinstance(function, FunctionType)
        and _is_file(function.__code__.co_filename, path)
        and first <= function.__code__.co_firstlineno <= last
    ):
        raise ImportError(f"{name} is replaced by another object after it was defined at line {first}")
    for root, fixed in _shadowed.items():
        for other in list(sys.modules.values()):
            file = getattr(other, "__file__", None)
            if fixed and isinstance(file, str) and file.endswith(".py") and Path(file).is_relative_to(root):
                _confirm_imports(file, fixed)


def _confirm_imports(file: str, fixed: frozenset[str]) -> None:
    """Check that a module of the folder imports none that is found elsewhere in its place."""
    for name in _imports(ast.parse(Path(file).read_bytes())):
        if name in fixed:
            raise ImportError(
                f"{Path(file).name} imports {name}, which is a module of its folder, and of Python or dpspec as well"
            )


def _imports(tree: ast.Module) -> Iterator[str]:
    """The top modules that a module imports by absolute names."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (part.name.partition(".")[0] for part in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            yield node.module.partition(".")[0]


def _is_file(found: object, path: str) -> bool:
    return isinstance(found, str) and Path(found).exists() and Path(found).samefile(path)


def _names(root: Path) -> frozenset[str]:
    """What can be imported from a folder: its modules, and its folders."""
    suffixes = tuple(all_suffixes())
    found = set()
    for entry in root.iterdir():
        name = entry.name.partition(".")[0]
        if name.isidentifier() and (entry.is_dir() or entry.name.endswith(suffixes)):
            found.add(name)
    return frozenset(found)


def _is_needed(name: str) -> bool:
    """Whether a module of this name belongs to Python or to dpspec, which may not have imported it yet."""
    if name in sys.stdlib_module_names or name in sys.builtin_module_names or name in sys.modules:
        return True
    if PathFinder.find_spec(name) is None:
        return False
    owners = importlib.metadata.packages_distributions().get(name, ())
    return bool({_normal(owner) for owner in owners} & _required())


def _required() -> frozenset[str]:
    """The distributions of dpspec, and what they need, extras as well."""
    installed = {_normal(found.metadata["Name"]): found for found in importlib.metadata.distributions() if found.metadata["Name"]}
    waiting = [name for name in installed if name == "dpspec" or name.startswith("dpspec-")]
    seen = set(waiting)
    while waiting:
        for line in installed[waiting.pop()].requires or ():
            matched = _NAME.match(line)
            name = _normal(matched.group()) if matched else ""
            if name in installed and name not in seen:
                seen.add(name)
                waiting.append(name)
    return frozenset(seen)


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
