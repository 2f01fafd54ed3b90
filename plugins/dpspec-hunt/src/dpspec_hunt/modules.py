"""The modules of a file, a folder or an installed package, as syntax trees: nothing is imported."""

from __future__ import annotations

import ast
import os
import re
import warnings
from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from importlib.machinery import PathFinder
from pathlib import Path

import attrs

from dpspec.plugin import ParameterError

MOST_BYTES = 1 << 20
"""A larger file is made by a program, and not read."""
MOST_FILES = 20_000
SKIPPED = frozenset({"__pycache__", "node_modules", "site-packages", "build", "dist", "test", "tests", "testing"})
"""Folders that are not looked into, and those whose names begin with a dot, and environments."""


@attrs.frozen(kw_only=True, slots=False)
class Module:
    """A module.

    Args:
        name: as it is imported.
        path: its file.
        shown: the file as it is shown.
        root: the folder from which it is imported.
        text: its source.
        tree: its syntax tree.
        label: as it is named in answers: its name, or its file where another module has the same name.
    """

    name: str
    path: Path
    shown: str
    root: Path
    text: str = attrs.field(repr=False)
    tree: ast.Module = attrs.field(repr=False, eq=False)
    label: str = ""

    @cached_property
    def lines(self) -> list[str]:
        """The lines of its source, as Python counts them."""
        return re.split(r"\r\n|\r|\n", self.text)

    @cached_property
    def constants(self) -> dict[str, object]:
        """Names that are given one constant at its top, and nothing else."""
        found: dict[str, list[ast.expr | None]] = {}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                found.setdefault(node.id, []).append(None)
        once = {name for name, places in found.items() if len(places) == 1}
        return {
            node.targets[0].id: node.value.value
            for node in self.tree.body
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name)
            and node.targets[0].id in once and isinstance(node.value, ast.Constant)
        }  # fmt: skip

    @property
    def package(self) -> str:
        """The package that relative imports of it begin at."""
        return self.name if self.path.name == "__init__.py" else self.name.rpartition(".")[0]


@attrs.frozen(kw_only=True)
class Found:
    """The modules, and the files that were not read, each with the reason."""

    modules: tuple[Module, ...]
    unread: tuple[tuple[str, str], ...]


def modules_of(target: str) -> Found:
    """The modules of a target.

    Args:
        target: a file, a folder, or the name of an installed package, which is looked up without importing it.

    Raises:
        ParameterError: there is no such file, folder or package.
    """
    place = Path(target)
    if not place.exists():
        place = _installed(target)
    modules, unread = [], []
    base = place if place.is_dir() else place.parent
    for count, path in enumerate(_files(place)):
        shown = path.relative_to(base).as_posix()
        if count >= MOST_FILES:
            unread.append((shown, f"more than {MOST_FILES:,} files: name a folder of them"))
            break
        try:
            modules.append(_read(path, shown))
        except _UnreadError as problem:
            unread.append((shown, str(problem)))
    seen = Counter(module.name for module in modules)
    labelled = (attrs.evolve(m, label=m.name if seen[m.name] == 1 else m.shown) for m in modules)
    return Found(modules=tuple(labelled), unread=tuple(unread))


class _UnreadError(Exception):
    """Why a file is not read."""


def _installed(name: str) -> Path:
    """The folder or file of a package, by the paths of this interpreter alone."""
    top, *parts = name.split(".")
    spec = PathFinder.find_spec(top) if top.isidentifier() else None
    if spec is None:
        raise ParameterError(
            "target", "is neither a file, nor a folder, nor an installed package", "name one of these", value=name
        )
    places = [Path(place) for place in spec.submodule_search_locations or ()]
    if not places and spec.origin is not None:
        places = [Path(spec.origin)]
    for place in places:
        found = place.joinpath(*parts)
        for candidate in (found, found.with_suffix(".py")):
            if candidate.exists():
                return candidate
    raise ParameterError("target", "has no source in Python", "name a folder", value=name)


def _files(place: Path) -> Iterator[Path]:
    """The files in Python, in a fixed order; links to folders are not followed."""
    if place.is_file():
        yield place
        return
    for folder, folders, files in os.walk(place):
        folders[:] = sorted(name for name in folders if not _is_skipped(Path(folder) / name))
        for name in sorted(files):
            if name.endswith(".py") and not name.startswith("test_") and not name.endswith("_test.py") and name != "conftest.py":
                yield Path(folder) / name


def _is_skipped(folder: Path) -> bool:
    return folder.name.startswith(".") or folder.name in SKIPPED or (folder / "pyvenv.cfg").exists()


def _read(path: Path, shown: str) -> Module:
    try:
        if not path.is_file() or path.stat().st_size > MOST_BYTES:
            raise _UnreadError(f"is larger than {MOST_BYTES:,} bytes" if path.is_file() else "is no file")
        data = path.read_bytes()
    except OSError as problem:
        raise _UnreadError(problem.strerror or type(problem).__name__) from None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes and the like are for its authors
            tree = ast.parse(data)
            text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise _UnreadError("is not in UTF-8") from None
    except (SyntaxError, ValueError, RecursionError, MemoryError) as problem:
        raise _UnreadError(f"is no Python of this version ({type(problem).__name__})") from None
    root, names = path.absolute().parent, [] if path.name == "__init__.py" else [path.stem]
    while (root / "__init__.py").exists():
        names.insert(0, root.name)
        root = root.parent
    return Module(name=".".join(names), path=path.absolute(), shown=shown, root=root, text=text, tree=tree)
