"""`dpspec new plugin`: a small complete distribution with a specification and tests, for one kind of plugin or as an example.

The files next to this module are its templates: those of the example with one mechanism and one output divergence, and in
`kinds` three for each kind, KIND.py.in, KIND.toml.in and KIND.test.py.in. In them @NAME@ is the plugin's name (hello), @MODULE@
its module (dpspec_hello) and @CLASS@ the beginning of its class names (Hello).
"""

from __future__ import annotations

import keyword
import re
import tomllib
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType

from dpspec.base.errors import ParameterError, ReleaseError
from dpspec.base.files import write_folder, write_whole
from dpspec.base.params import did_you_mean
from dpspec.extension.hooks import KINDS, singular
from dpspec.specfile.reader import SCHEMA_BESIDE

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")

_SUFFIX = ".dpspec.toml"
_SHARED = {"pyproject.toml.in": "pyproject.toml", "py.typed.in": "src/@MODULE@/py.typed"}
_FIRST_STEPS = {
    "README.md.in": "README.md",
    "plugin.py.in": "src/@MODULE@/__init__.py",
    "claim.dpspec.toml.in": "@NAME@.dpspec.toml",
    "test_plugin.py.in": "tests/test_@MODULE@.py",
}

PLUGIN_KINDS: Mapping[str, str] = MappingProxyType({singular(kind).replace(" ", "-"): kind for kind in KINDS})
"""The values of ``--kind``, and the kind that is registered."""

def plugin_files(name: str, kind: str | None = None) -> dict[str, str]:
    """The files of a new plugin: path inside its folder to text.

    Args:
        name: its name, lower-kebab.
        kind: one of `PLUGIN_KINDS`; None for an example with a mechanism and an output divergence.

    Raises:
        ParameterError: the name is not lower-kebab, or is a word of Python; there is no such kind.

    >>> sorted(plugin_files("hello"))[0]
    'README.md'
    >>> "class HelloRankings(DatasetSpace)" in plugin_files("hello", "space")["src/dpspec_hello/__init__.py"]
    True
    """
    if not _NAME.fullmatch(name) or keyword.iskeyword(name):
        raise ParameterError("name", "must be lower-kebab", "such as my-mechanisms", value=name)
    if kind is not None and kind not in PLUGIN_KINDS:
        raise ParameterError("kind", "is no kind of plugin", did_you_mean(kind, list(PLUGIN_KINDS)), value=kind)
    words = {"@NAME@": name, "@MODULE@": f"dpspec_{name.replace('-', '_')}", "@CLASS@": name.title().replace("-", "")}
    folder = files("dpspec.scaffold")
    # The requirements of a plugin of each kind, and the command that uses it.
    index = tomllib.loads(folder.joinpath("kinds", "index.toml").read_text(encoding="utf-8"))
    templates = dict(_SHARED)
    notes = index["example"] if kind is None else {**index["other"], **index.get(kind, {})}
    if kind is None:
        templates.update(_FIRST_STEPS)
    else:
        templates["kinds/README.md.in"] = "README.md"
        templates[f"kinds/{kind}.py.in"] = "src/@MODULE@/__init__.py"
        templates[f"kinds/{kind}.toml.in"] = "@NAME@.dpspec.toml"
        templates[f"kinds/{kind}.test.py.in"] = "tests/test_@MODULE@.py"
        words = {"@COMMAND@": notes["command"], "@KIND@": kind.replace("-", " "), **words}
    words["@NEEDS@"] = "".join(f', "{need}"' for need in notes["needs"])
    return {
        _filled(path, words): _filled(folder.joinpath(*template.split("/")).read_text(encoding="utf-8"), words)
        for template, path in templates.items()
    }


def _filled(text: str, words: dict[str, str]) -> str:
    for mark, word in words.items():
        text = text.replace(mark, word)
    return text


def write_plugin(name: str, directory: Path, kind: str | None = None) -> Path:
    """Write a new plugin into ``directory/dpspec-NAME``; the folder appears with all its files or not at all.

    Raises:
        ReleaseError: the folder exists already, or cannot be written.
    """
    texts = plugin_files(name, kind)
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
