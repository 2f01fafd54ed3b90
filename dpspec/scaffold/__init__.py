"""`dpspec new plugin`: a small complete distribution with one mechanism, one output divergence, a specification and a test.

The files beside this module are its templates; in them @NAME@ is the plugin's name (hello), @MODULE@ its module
(dpspec_hello) and @CLASS@ the beginning of its class names (Hello).
"""

from __future__ import annotations

import keyword
import re
from importlib.resources import files
from pathlib import Path

from dpspec.base.errors import ParameterError, ReleaseError
from dpspec.base.files import write_folder, write_whole
from dpspec.specfile.reader import SCHEMA_BESIDE

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")

_SUFFIX = ".dpspec.toml"
_FILES = {
    "README.md.in": "README.md",
    "pyproject.toml.in": "pyproject.toml",
    "plugin.py.in": "src/@MODULE@/__init__.py",
    "py.typed.in": "src/@MODULE@/py.typed",
    "claim.dpspec.toml.in": "@NAME@.dpspec.toml",
    "test_plugin.py.in": "tests/test_@MODULE@.py",
}


def plugin_files(name: str) -> dict[str, str]:
    """The files of a new plugin: path inside its folder to text.

    Raises:
        ParameterError: the name is not lower-kebab, or is a word of Python.

    >>> sorted(plugin_files("hello"))[0]
    'README.md'
    """
    if not _NAME.fullmatch(name) or keyword.iskeyword(name):
        raise ParameterError("name", "must be lower-kebab", "such as my-mechanisms", value=name)
    words = {"@NAME@": name, "@MODULE@": f"dpspec_{name.replace('-', '_')}", "@CLASS@": name.title().replace("-", "")}
    found = {}
    for template, path in _FILES.items():
        text = files("dpspec.scaffold").joinpath(template).read_text(encoding="utf-8")
        found[_filled(path, words)] = _filled(text, words)
    return found


def _filled(text: str, words: dict[str, str]) -> str:
    for mark, word in words.items():
        text = text.replace(mark, word)
    return text


def write_plugin(name: str, directory: Path) -> Path:
    """Write a new plugin into ``directory/dpspec-NAME``; the folder appears with all its files or not at all.

    Raises:
        ReleaseError: the folder exists already, or cannot be written.
    """
    texts = plugin_files(name)
    target = directory / f"dpspec-{name}"
    write_folder(target, texts)
    return target


def examples() -> dict[str, str]:
    """The specifications that ship with dpspec: name to text. They need the standard plugins.

    >>> "randomised-response" in examples()
    True
    """
    found = files("dpspec.scaffold").joinpath("examples").iterdir()
    texts = {file.name: file.read_text(encoding="utf-8") for file in found if file.name.endswith(_SUFFIX)}
    return {name.removesuffix(_SUFFIX): texts[name] for name in sorted(texts)}


def write_spec(text: str, path: Path) -> None:
    """Write a new specification; an existing file is never overwritten."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as handle:
            handle.write(text)
    except FileExistsError:
        raise ReleaseError("file", "exists already", "choose another name or --dir", value=str(path)) from None
    except OSError as problem:
        raise ReleaseError("file", f"cannot be written ({problem.strerror})", "choose another --dir", value=str(path)) from None


def write_schema(directory: Path) -> list[Path]:
    """Put the JSON schema of specifications where a new file of this directory looks for it, unless one is there.

    Returns:
        the file, where it was written.
    """
    path = directory / SCHEMA_BESIDE
    if path.exists():
        return []
    write_whole(path, files("dpspec.specfile").joinpath(path.name).read_text(encoding="utf-8"))
    return [path]
