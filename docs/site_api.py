"""The Python reference of the site: topics with a table of names, and a page for each name, from docstrings.

The pages of names are written into `docs/api/` when Sphinx starts, as sphinx.ext.autosummary writes its own; Git ignores them.
"""

from __future__ import annotations

import importlib
import inspect
import re
import shutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
ROOT = DOCS.parent
PACKAGES = ("dpspec", "dpspec.plugin")
"""The two modules that programs import from; a name that is in both is described under the first."""
FOLDERS = ("classes", "functions", "modules", "values")
"""The folders of pages by kind of object: `Marginal` and `marginal` would be one file where upper and lower case are the same."""
OBJECT_PAGES = re.compile(rf"api/(?:{'|'.join(FOLDERS)})/")
TOPICS = (
    ("Commands as functions", ("dpspec.api", "dpspec.commands", "commands of packages")),
    ("Specifications and claims", ("dpspec.constructors", "dpspec.grammar.spec", "dpspec.grammar.mechanism", "dpspec.specfile")),
    ("Dataset spaces", (
        "spaces", "dpspec.blocks.space", "dpspec.blocks.records", "dpspec.blocks.vectors", "dpspec.blocks.lists",
        "dpspec.blocks.bounded",
    )),
    ("Invariants and universes", ("invariants", "multiverses", "dpspec.blocks.invariant", "dpspec.blocks.multiverse")),
    ("Input divergences", ("relations", "input_divergences", "dpspec.blocks.input_divergence")),
    ("Output divergences", ("output_divergences", "dpspec.blocks.output_divergence")),
    ("Budgets", ("budgets", "dpspec.blocks.budget")),
    ("Mechanisms", ("mechanisms",)),
    ("Published definitions", ("flavours",)),
    ("Attackers and tolerances", ("attackers", "tolerances", "dpspec.grammar.attacker")),
    ("Any kind, by its registered name", ("any kind",)),
    ("Laws and exact numbers", ("dpspec.laws", "dpspec.base.exact")),
    ("Verdicts, answers and errors", ("dpspec.verifier", "dpspec.comparison", "dpspec.report", "dpspec.base.errors")),
    ("Rules of inference", ("dpspec.grammar.rule",)),
    (
        "Tables and workers",
        (
            *("dpspec.grammar.tables", "dpspec.grammar.table_files", "dpspec.grammar.sorting", "dpspec.grammar.cell_stream"),
            "dpspec.grammar.workers",
        ),
    ),
    ("Parameters of plugin classes", ("dpspec.base.params",)),
    ("Registration", ("dpspec.extension", "pluggy")),
    ("Other names", ("",)),
)  # fmt: skip
"""The heading of a name, by the module or the kind of plugin that it is from; the first that fits is taken."""


def topics(module: str) -> dict[str, dict[str, Any]]:
    """The names of a module by topic, those of an earlier module of PACKAGES left out."""
    public = importlib.import_module(module)
    earlier = {name for other in PACKAGES[: PACKAGES.index(module)] for name in importlib.import_module(other).__all__}
    left = {name: getattr(public, name) for name in public.__all__ if not name.startswith("__") and name not in earlier}
    homes = {name: home(thing) for name, thing in left.items()}
    if module == "dpspec":
        for name, kind in constructors().items():
            left.setdefault(name, getattr(public, name))
            homes.setdefault(name, kind)
    found: dict[str, dict[str, Any]] = {}
    for heading, wanted in TOPICS:
        names = sorted((name for name in left if homes[name].startswith(wanted)), key=lambda name: (name.casefold(), name))
        if names:
            found[heading] = {name: left.pop(name) for name in names}
    return found


def constructors() -> dict[str, str]:
    """The functions that registered classes and installed packages add to `dpspec`, with the kind of each."""
    from dpspec.constructors import BY_KIND, KINDS
    from dpspec.extension.loader import installed
    from dpspec.extension.packages import FUNCTIONS, contributed

    kinds = dict.fromkeys(contributed(FUNCTIONS), "commands of packages") | dict.fromkeys(BY_KIND, "any kind")
    for entry in installed().registry:
        if entry.kind in KINDS:
            kinds.setdefault(entry.name.replace("-", "_"), entry.kind)
    return kinds


def home(thing: object) -> str:
    """The module that an object is from."""
    return thing.__name__ if inspect.ismodule(thing) else getattr(thing, "__module__", None) or ""


def docname(name: str, thing: object) -> str:
    """The page of a name, from the top of docs/."""
    kinds = (inspect.ismodule(thing), inspect.isclass(thing), inspect.isroutine(thing) or inspect.isfunction(thing))
    folder = ("modules", "classes", "functions", "values")[(*kinds, True).index(True)]
    return f"api/{folder}/{name}"


def tables(module: str) -> Iterator[str]:
    """A section for each topic of a module, with the first line of each docstring."""
    yield f"```{{eval-rst}}\n.. py:module:: {module}\n```\n"
    for heading, names in topics(module).items():
        yield f"## {heading}\n\n| name | |\n|---|---|"
        for name, thing in names.items():
            yield f"| [`{name}`](../{docname(name, thing)}.md) | {first_line(thing)} |"
        yield ""
    earlier = PACKAGES[: PACKAGES.index(module)]
    if earlier:
        public = importlib.import_module(module)
        both = sorted(set(public.__all__) & {name for other in earlier for name in importlib.import_module(other).__all__})
        things = {name: getattr(public, name) for name in both if not name.startswith("__")}
        links = ", ".join(f"[`{name}`](../{docname(name, thing)}.md)" for name, thing in things.items())
        yield f"## Also in `{earlier[0]}`\n\n{links}.\n"


def first_line(thing: object) -> str:
    """The first line of a docstring, as text of a table; a value that has none of its own has its type."""
    own = inspect.ismodule(thing) or inspect.isclass(thing) or inspect.isroutine(thing)
    line = (inspect.getdoc(thing) or "").partition("\n")[0] if own else f"A value of the type {type(thing).__name__}."
    pieces = re.split(r"(`+[^`]+`+)", line)
    return "".join(
        f"`{piece.strip('`')}`".replace("|", "\\|") if piece.startswith("`") else re.sub(r"([*_<>\[\]|\\$])", r"\\\1", piece)
        for piece in pieces
    )


def write_pages(app: Any) -> None:
    """Write a page for each name into the folder `api` of the sources."""
    for folder in FOLDERS:
        shutil.rmtree(Path(app.srcdir) / "api" / folder, ignore_errors=True)
    for module in PACKAGES:
        for heading, names in topics(module).items():
            for name, thing in names.items():
                path = Path(app.srcdir) / f"{docname(name, thing)}.md"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text("\n".join(page(module, heading, name, thing)), encoding="utf-8")
                sources[docname(name, thing)] = source(module, name, thing)


def remove_pages(folder: Path = DOCS) -> None:
    """Remove the pages that `write_pages` wrote."""
    for name in FOLDERS:
        shutil.rmtree(folder / "api" / name, ignore_errors=True)


sources: dict[str, str] = {}
"""The file that each page of a name is made from, from the top of the repository."""


def page(module: str, heading: str, name: str, thing: object) -> Iterator[str]:
    """The page of one name: where it belongs, and its docstring."""
    place = re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-")
    yield f"---\norphan: true\n---\n\n# {name}\n"
    yield f"[{module}](../{module.rpartition('.')[2]}.md) › [{heading}](../{module.rpartition('.')[2]}.md#{place})\n"
    yield "```{eval-rst}"
    if inspect.ismodule(thing):
        yield f".. py:data:: {module}.{name}\n\n   The module ``{thing.__name__}``.\n"
        yield from (f"   {line}".rstrip() for line in module_lines(thing))
    elif inspect.isclass(thing):
        yield f".. autoclass:: {module}.{name}\n   :members:\n   :show-inheritance:\n"
    elif inspect.isroutine(thing):
        yield f".. autofunction:: {module}.{name}\n"
    else:
        yield f".. autodata:: {module}.{name}\n"
    yield "```\n"


def module_lines(thing: object) -> list[str]:
    """The docstring of a module, as reStructuredText."""
    from site_parts import docstring_as_rst

    lines = (inspect.getdoc(thing) or "").splitlines()
    docstring_as_rst(lines)
    return lines


def source(module: str, name: str, thing: Any) -> str:
    """The file of the repository that an object is written in; that of the public module where it has none of its own."""
    written = registered().get(name, thing) if inspect.isroutine(thing) else thing
    try:
        path = Path(inspect.getsourcefile(written) or "")
    except TypeError:  # a value, which no file is known of
        path = Path(importlib.import_module(module).__file__ or "")
    return path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else "dpspec/__init__.py"


@cache
def registered() -> dict[str, type]:
    """The class that each constructor makes."""
    from dpspec.constructors import KINDS
    from dpspec.extension.loader import installed

    return {entry.name.replace("-", "_"): entry.cls for entry in reversed(list(installed().registry)) if entry.kind in KINDS}
