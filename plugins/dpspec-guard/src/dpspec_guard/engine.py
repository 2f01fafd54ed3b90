"""Dependencies of a verdict other than the file: the packages that read and verify it, by version and content."""

from __future__ import annotations

import hashlib
import platform
import re
from collections.abc import Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, distributions, entry_points, packages_distributions, requires, version
from importlib.util import find_spec
from pathlib import Path

import attrs

from dpspec import installed

_ENTRY_POINTS = "dpspec"
_LEFT_OUT = ("__pycache__", ".pyc", ".pyo")


@attrs.frozen(kw_only=True, order=True)
class EnginePart:
    """One package, or the version of Python.

    Args:
        name: the distribution.
        version: its version.
        sha256: of all files of its modules; "" for libraries, of which the version alone is recorded.
        status: of each of its plugins: loaded, blocked or failed; "" where it has none.
    """

    name: str
    version: str
    sha256: str = ""
    status: str = ""


@cache
def engine() -> tuple[EnginePart, ...]:
    """The packages that contribute to dpspec, the libraries that they require, and Python, sorted by name.

    >>> [part.name for part in engine()] == sorted(part.name for part in engine())
    True
    """
    status: dict[str, str] = {}
    for info in installed().infos:
        state = f"{info.provenance.plugin} {info.status}"
        status[info.provenance.distribution] = ", ".join(filter(None, (status.get(info.provenance.distribution), state)))
    modules: dict[str, set[str]] = {"dpspec": {"dpspec"}}
    for point in _points():
        modules.setdefault(point[0], set()).add(point[1])
    for top, owners in packages_distributions().items():  # a distribution may have further modules than those of its entry points
        for name in {*owners} & {*modules} if top.isidentifier() else ():
            modules[name].add(top)
    found = [
        EnginePart(name=name, version=_version(name), sha256=_content(sorted(tops)), status=status.get(name, ""))
        for name, tops in modules.items()
    ]
    libraries = {_required(text) for name in modules for text in _requirements(name) if "extra ==" not in text}
    found += [EnginePart(name=name, version=_version(name)) for name in libraries - {*modules}]
    found.append(EnginePart(name="python", version=".".join(platform.python_version_tuple()[:2])))
    return tuple(sorted(found))


def _requirements(name: str) -> list[str]:
    try:
        return requires(name) or []
    except PackageNotFoundError:
        return []


def _required(text: str) -> str:
    """The distribution that a requirement names."""
    return re.split(r"[\s<>=!~;\[(]", text, maxsplit=1)[0]


def _points() -> Iterator[tuple[str, str]]:
    """The distribution and the top module of each entry point of dpspec."""
    for group in {point.group for found in distributions() for point in found.entry_points}:
        if group == _ENTRY_POINTS or group.startswith(f"{_ENTRY_POINTS}."):
            for point in entry_points(group=group):
                if point.dist is not None:
                    yield point.dist.name, point.module.partition(".")[0]


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def _content(modules: list[str]) -> str:
    """The SHA-256 of the files of some modules: of each its path inside the module, its length and its bytes."""
    digest = hashlib.sha256()
    for name in modules:
        found = find_spec(name)
        places = [] if found is None else [Path(place) for place in found.submodule_search_locations or ()]
        files = [file for place in places for file in sorted(place.rglob("*")) if file.is_file()]
        if found is not None and not places and found.origin is not None:  # a module that is one file
            files, places = [Path(found.origin)], [Path(found.origin).parent]
        for file in files:
            if not set(file.parts) & {*_LEFT_OUT} and file.suffix not in _LEFT_OUT:
                content = file.read_bytes()
                inside = next(file.relative_to(place) for place in places if file.is_relative_to(place)).as_posix()
                digest.update(f"{name}/{inside}\0{len(content)}\0".encode())
                digest.update(content)
    return digest.hexdigest()


__all__ = ["EnginePart", "engine"]
