"""Write dpspec/__init__.pyi: what editors and type checkers see of `dpspec` with the standard plugins.

python docs/make_face.py

The functions that make registered things are found when they are first used, so that no editor could see them; this stub has
them with types, defaults and docstrings. What a stranger's plugin brings is of any type.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

from dpspec import installed
from dpspec.base.lazy import at
from dpspec.constructors import BY_KIND, GROUPS, KINDS, documentation, signature
from dpspec.extension.hooks import BASES, Entry
from dpspec.extension.packages import FUNCTIONS, contributed

ROOT = Path(__file__).parents[1]
STUB = ROOT / "dpspec" / "__init__.pyi"
HEAD = '''"""dpspec: differential privacy specifications as objects that are written, verified, compared and explained.

Made by python docs/make_face.py, for editors and type checkers, with all first-party packages installed. What another package
than dpspec brings says so in its first line ("Package dpspec-noise."); without the package, the name is an AttributeError that
says what to install.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

'''
BASE = {kind: at(BASES[kind]) for kind in KINDS}


def stub() -> str:
    """The whole text."""
    source = (ROOT / "dpspec" / "__init__.py").read_text(encoding="utf-8")
    block = source[source.index("if TYPE_CHECKING:\n") + len("if TYPE_CHECKING:\n") : source.index("\n_HOMES = ")]
    imports = textwrap.dedent(block).strip()
    listed = set(re.findall(r"(\w+) as \w+", imports))
    wanted = {(cls.__module__, cls.__name__) for cls in BASE.values()} | {("dpspec.base.exact", "NumberLike")}
    more = [f"from {module} import {name}" for module, name in sorted(wanted) if name not in listed]
    known = listed | {name for _, name in wanted} | {"str", "int"}
    entries = [entry for entry in installed().registry if entry.kind in KINDS]
    made = [_function(entry, known) for entry in entries]
    made += [_contributed(name, place) for name, place in contributed(FUNCTIONS).items()]
    by_kind = [
        f'def {word}(name: str, /, **given: Any) -> {BASE[kind].__name__}:\n    """A registered {word.replace("_", " ")} by its '
        f'name, with its parameters."""'
        for word, kind in BY_KIND.items()
    ]
    groups = [_group(kind, [entry for entry in entries if entry.kind == kind], known) for kind in GROUPS]
    parts = [HEAD + imports + "\n" + "\n".join(more), "__version__: str", "def __getattr__(name: str) -> Any: ..."]
    return "\n\n".join([*parts, *sorted(by_kind), *sorted(made), *groups]) + "\n"


def _group(kind: str, entries: list[Entry], known: set[str]) -> str:
    """The constructors of one kind as static methods; their documentation is that of the function of the same name."""
    named = {entry.name.replace("-", "_"): entry for entry in entries}
    name = "_" + "".join(part.title() for part in kind.split("_"))
    methods = [
        textwrap.indent(f"@staticmethod\ndef {method}({_arguments(entry, known)}) -> {BASE[kind].__name__}: ...", "    ")
        for method, entry in sorted(named.items())
    ]
    text = f'    """The constructors of {kind.replace("_", " ")}."""\n'
    return "\n".join([f"class {name}:", text, *methods, "", f"{kind}: {name}"])


def _function(entry: Entry, known: set[str]) -> str:
    text = documentation(entry.cls, installed().registry)
    name = entry.name.replace("-", "_")
    return _definition(name, _arguments(entry, known), BASE[entry.kind].__name__, entry.provenance.distribution, text)


def _arguments(entry: Entry, known: set[str]) -> str:
    taken = []
    for p in signature(entry.cls).parameters.values():
        stars = "**" if p.kind is inspect.Parameter.VAR_KEYWORD else ""
        default = "" if stars or p.default is inspect.Parameter.empty else " = ..."
        taken.append(f"    {stars}{p.name}: {_type(str(p.annotation), known)}{default},")
    return "\n    *,\n" + "\n".join(taken) + "\n" if taken else ""


def _contributed(name: str, place: EntryPoint) -> str:
    """A function of a package; the types of its arguments are those of another module, so any here."""
    function = place.load()
    given = inspect.signature(function)
    default = {p.name: p.default if p.default is inspect.Parameter.empty else ... for p in given.parameters.values()}
    taken = [p.replace(annotation=Any, default=default[p.name]) for p in given.parameters.values()]
    written = str(inspect.Signature(taken)).removeprefix("(").removesuffix(")").replace("Ellipsis", "...")
    package = "" if place.dist is None else place.dist.name
    return _definition(name, written, _returned(function), package, inspect.getdoc(function) or "")


def _returned(function: Any) -> str:
    """The type of what a contributed function returns: an answer, also of a class of the package, a text, a specification."""
    name = str(inspect.signature(function).return_annotation)
    if name == "CommandAnswer" or "command" in getattr(function.__globals__.get(name), "__annotations__", ()):
        return "CommandAnswer"
    return name if name in ("str", "SpecDocument") else "Any"


def _definition(name: str, arguments: str, returns: str, package: str, text: str) -> str:
    text = text.strip().replace("\\", "\\\\").replace('"""', "'''")
    if package != "dpspec":
        text = f"Package {package}. {text}"
    told = "\n".join(f"    {part}".rstrip() for line in text.splitlines() for part in _wrapped(line))
    return f'def {name}({arguments}) -> {returns}:\n    """{told.strip()}\n    """'


def _type(written: str, known: set[str]) -> str:
    """The type, where a class that is in no face may be anything."""
    return re.sub(r"\b(\w+) \| Mapping\[str, Any\]", lambda m: m[0] if m[1] in known else "Any", written)


def _wrapped(line: str) -> list[str]:
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    return textwrap.wrap(line, 120, subsequent_indent=indent if line.startswith(" ") else "") or [""]


if __name__ == "__main__":
    STUB.write_text(stub(), encoding="utf-8")
