"""The files of the code on which verdicts depend: those of each package that contributes to dpspec, however it is installed.

An installed package lists its files. One that is installed from a folder (pip install -e, by any build tool) lists a path or a
finder at most, and its modules may have changed, or be new, since. There every module next to those that are known counts. So do
the packages that it requires, if they are installed from a folder as well.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from importlib.machinery import all_suffixes
from importlib.metadata import Distribution, distributions, packages_distributions
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote, urlsplit

from dpspec.extension.packages import GROUP, is_first_party

_LEFT_OUT = ("venv", "node_modules", "__pycache__")
_COMPILED = (".pyc", ".pyo")
_CODE = re.compile(r"^(?!__editable__).*\.(?:py|so|pyd)\"?(?:,.*)?$", re.MULTILINE)
"""A file of code in the list of an installed package; finders of setuptools are none."""
_OF_DPSPEC = (".dpspec.toml", ".lock")
"""Files in the folder of a project that are what is verified, or what is written about it."""


class Sources:
    """The installed packages at one moment."""

    def __init__(self) -> None:
        self._owners = packages_distributions()
        self._installed = {_normalised(one.name): one for one in distributions() if one.metadata["Name"]}

    @cached_property
    def contributing(self) -> Mapping[str, frozenset[str]]:
        """The top modules of each package that has entry points of dpspec, and of the kernel."""
        found: dict[str, set[str]] = {"dpspec": {"dpspec"}}
        for one in self._installed.values():
            tops = {point.module.partition(".")[0] for point in one.entry_points if point.group.partition(".")[0] == GROUP}
            if tops:
                found.setdefault(one.name, set()).update(tops)
        return {name: frozenset(tops | self._listed(name)) for name, tops in found.items()}

    @cached_property
    def required_folders(self) -> tuple[str, ...]:
        """The packages that contributing ones require, directly or not, and that are installed from a folder."""
        found, todo, seen = [], [*self.contributing], {_normalised(name) for name in self.contributing}
        while todo:
            one = self._installed.get(_normalised(todo.pop()))
            for required in requirements(one) if one is not None else ():
                if _normalised(required) not in seen:
                    seen.add(_normalised(required))
                    todo.append(required)
                    library = self._installed.get(_normalised(required))
                    if library is not None and _is_from_folder(library) and not _is_of_the_system(library):
                        found.append(library.name)
        return tuple(sorted(found))

    def files(self, name: str) -> Iterator[tuple[str, Path]]:
        """The files of a package: the name of each below that of its top module, and its path."""
        tops, one = self.contributing.get(name) or self._listed(name), self._installed.get(_normalised(name))
        found = {path: label for label, path in _modules((top, place) for top in sorted(tops) for place in _places(top))}
        if one is not None and not is_first_party(name) and _is_from_folder(one):
            for root in sorted(_roots(one, tops)):
                found = {path: label for label, path in self._beside(root, name)} | found
        yield from sorted((label, path) for path, label in found.items())

    def _listed(self, name: str) -> set[str]:
        return {top for top, owners in self._owners.items() if name in owners and top.isidentifier()}

    def _beside(self, root: Path, name: str) -> Iterator[tuple[str, Path]]:
        """The files of all modules in a folder that belong to no other package, and the data next to modules of one file."""
        places, data, has_files = [], [], False
        for place in sorted(root.iterdir()):
            top = place.name.partition(".")[0]
            if not top or _is_left_out(place.relative_to(root)) or {*self._owners.get(top, ())} - {name}:
                continue
            if place.is_dir() and top.isidentifier() and top == place.name and any(place.rglob("*.py")):
                places.append((top, place))
            elif place.is_file() and place.name.endswith(tuple(all_suffixes())):
                places.append((top, place))
                has_files = True
            elif place.is_file() and not place.name.endswith(_OF_DPSPEC):
                data.append((place.name, place))
        yield from _modules(places)
        yield from data if has_files else ()


def requirements(one: Distribution) -> list[str]:
    """The names of the packages that a package always requires."""
    given = (text for text in one.requires or () if "extra ==" not in text)
    return [re.split(r"[\s<>=!~;\[(]", text, maxsplit=1)[0] for text in given]


def source_folder(one: Distribution) -> Path | None:
    """The folder that a package is installed from, where Python imports it from there and pip has recorded it."""
    try:
        origin = json.loads(one.read_text("direct_url.json") or "{}")
    except ValueError:
        return None
    url = urlsplit(origin.get("url", ""))
    return Path(unquote(url.path)) if origin.get("dir_info", {}).get("editable") and url.scheme == "file" else None


def contents(place: Path, pattern: str = "*") -> Iterator[Path]:
    """The files at a place; what Python compiles, hidden folders and environments of Python are left out."""
    for file in [place] if place.is_file() else sorted(place.rglob(pattern)):
        if not _is_left_out(file.relative_to(place)) and file.suffix not in _COMPILED and file.is_file():
            yield file


def _is_left_out(inside: Path) -> bool:
    return any(part.startswith(".") or part in _LEFT_OUT for part in inside.parts)


def _modules(places: Iterable[tuple[str, Path]]) -> Iterator[tuple[str, Path]]:
    """The files of modules, by the place of each: a folder or one file."""
    for top, place in places:
        for file in contents(place):
            yield f"{top}/{file.name if file == place else file.relative_to(place).as_posix()}", file


def _places(top: str) -> list[Path]:
    """The folders of a package, or the file of a module."""
    try:
        spec = find_spec(top)
    except (ImportError, ValueError):
        return []
    if spec is None:
        return []
    folders = [Path(place) for place in spec.submodule_search_locations or ()]
    return folders or ([Path(spec.origin)] if spec.has_location and spec.origin is not None else [])


def _is_from_folder(one: Distribution) -> bool:
    """Whether a package is imported from a folder, or does not list its files."""
    if source_folder(one) is not None:
        return True
    listed = one.read_text("RECORD") or one.read_text("installed-files.txt")
    return listed is None or not _CODE.search(listed)


def _is_of_the_system(one: Distribution) -> bool:
    """Whether a package lists no files where installed ones are, as Linux distributions have it: its version counts."""
    listed = one.read_text("RECORD") is not None or source_folder(one) is not None
    return not listed and Path(str(one.locate_file("."))).resolve().name in ("site-packages", "dist-packages")


def _roots(one: Distribution, tops: Iterable[str]) -> set[Path]:
    """The folders on the path of Python that hold the modules of a package."""
    found = {place.parent for top in tops for place in _places(top)}
    folder = source_folder(one)
    if not found and folder is not None:
        found = {Path(path) for path in sys.path if path and Path(path).is_relative_to(folder)}
    return {place for place in found if place.is_dir()}


def _normalised(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
