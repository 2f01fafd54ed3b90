"""Dependencies of a verdict other than the file: the packages that read and verify it, by version and content."""

from __future__ import annotations

import hashlib
import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution, version

import attrs

from dpspec import installed
from dpspec.plugin.applications import Sources, requirements


@attrs.frozen(kw_only=True, order=True)
class EnginePart:
    """One package, or the version of Python.

    Args:
        name: the distribution.
        version: its version.
        sha256: of all files of its modules; "" for libraries that are not installed from a folder, of which the version alone is
            recorded.
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
    sources = Sources()
    found = [
        EnginePart(name=name, version=_version(name), sha256=_content(sources, name), status=status.get(name, ""))
        for name in (*sources.contributing, *sources.required_folders)
    ]
    named = {part.name for part in found}
    libraries = {text for name in sources.contributing for text in _requirements(name)}
    found += [EnginePart(name=name, version=_version(name)) for name in libraries - named]
    found.append(EnginePart(name="python", version=".".join(platform.python_version_tuple()[:2])))
    return tuple(sorted(found))


def _requirements(name: str) -> list[str]:
    try:
        return requirements(distribution(name))
    except PackageNotFoundError:
        return []


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def _content(sources: Sources, name: str) -> str:
    """The SHA-256 of the files of a package: of each its path below its top module, its length and its bytes."""
    digest = hashlib.sha256()
    for label, file in sources.files(name):
        content = file.read_bytes()
        digest.update(f"{label}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()


__all__ = ["EnginePart", "engine"]
