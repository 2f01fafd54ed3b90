"""What the site has that docs/ has not: the parts of pages that are made of the program, and docstrings as Sphinx reads them.

A page asks for a part by a line of its own, ``<!-- site: glossary -->``; PARTS says which there are.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import site_api

DOCS = Path(__file__).parent
ROOT = DOCS.parent
MADE = Path(os.environ.get("DPSPEC_SITE_MADE", ROOT / "out" / "site-made"))
"""Where pictures lie until the site takes them."""
BROUGHT = {ROOT / "CONTRIBUTING.md": "contributing.md", ROOT / "CHANGELOG.md": "changes.md"}
ORPHANS = re.compile(r"deployments/(?!README$)")
NOTEBOOKS = re.compile(r"notebooks/(?!index$)")
LINK = re.compile(r"\]\(([^)#\s]+)(#[^)]*)?\)")
ASKS = re.compile(r"^<!-- site: ([\w ./-]+) -->$", re.MULTILINE)


class UnreadFormulaError(Exception):
    """A formula of a page has a command that is not converted."""


class NoSuchPartError(Exception):
    """A page asks for a part that nobody makes."""


def fill(_app: object, docname: str, content: list[str]) -> None:
    """Put the parts where a page asks for them, and turn links that lead out of docs/ to the page of the site that has it."""
    text = ASKS.sub(lambda found: _part(found[1], docname), content[0])
    content[0] = LINK.sub(lambda found: f"]({_inside(docname, found[1])}{found[2] or ''})", text)
    if NOTEBOOKS.match(docname):
        name = docname.partition("/")[2]
        told = f'\n\n<a href="{name}.ipynb" download>This page as a notebook</a>: [how it is opened](../install.md#notebooks).\n'
        content[0] = re.sub(r"^# .*$", lambda found: found[0] + told, content[0], count=1, flags=re.MULTILINE)
    if ORPHANS.match(docname):
        content[0] = f"---\norphan: true\n---\n\n{content[0]}"


def own_nodes(_app: object, doctree: Any) -> None:
    """Let each node belong to the document of its page.

    Docstrings are read as a document of their own, whose settings hold the whole environment of the build: with them it would be
    stored once for each page, a megabyte and a half, and read again.
    """
    for node in doctree.findall():
        node.document = doctree


def write_notebooks(app: Any, exception: Exception | None) -> None:
    """The notebooks as Jupyter opens them, beside their pages; and all of them in one archive, with the files that they read."""
    from myst_nb.core.read import read_myst_markdown_notebook
    from nbformat import write

    if exception is not None:
        return
    for docname in filter(NOTEBOOKS.match, app.env.found_docs):
        text = (DOCS / f"{docname}.md").read_text(encoding="utf-8")
        made = read_myst_markdown_notebook(text.replace('"../../specs', '"specs'))
        for place, cell in enumerate(made.cells):
            cell["id"] = f"cell-{place}"
        write(made, Path(app.outdir) / f"{docname}.ipynb")
    folder = Path(app.outdir) / "notebooks"
    folder.mkdir(exist_ok=True)
    read = {f"notebooks/specs/{path.relative_to(ROOT / 'specs')}": path for path in (ROOT / "specs").rglob("*.dpspec.toml")}
    _pack(folder / "notebooks.zip", {**{f"notebooks/{path.name}": path for path in folder.glob("*.ipynb")}, **read})


def _inside(docname: str, target: str) -> str:
    """What a link leads to on the site: a page from outside of docs/ has one there, and so have the folders of specs/."""
    folder = (DOCS / docname).parent
    path = (folder / target).resolve() if "://" not in target else DOCS
    if path in BROUGHT:
        return os.path.relpath(DOCS / BROUGHT[path], folder).replace(os.sep, "/")
    if path.is_dir() and path.is_relative_to(ROOT / "specs"):
        return os.path.relpath(DOCS / "specifications.md", folder).replace(os.sep, "/")
    return target


def brought(name: str) -> Iterator[str]:
    """A page of the repository that lies outside of docs/."""
    yield re.sub(r"\]\(docs/", "](", (ROOT / name).read_text(encoding="utf-8"))


def _part(asked: str, docname: str) -> str:
    name, *arguments = asked.split()
    if name not in PARTS:
        raise NoSuchPartError(f"{docname}: <!-- site: {asked} -->: there is no part {name}; there are {', '.join(PARTS)}")
    return "\n".join(PARTS[name](*arguments))


# --- Glossary, specifications ---------------------------------------------------------------------


def glossary() -> Iterator[str]:
    """Every word of glossary.toml, by the alphabet."""
    words = tomllib.loads((ROOT / "dpspec" / "report" / "glossary.toml").read_text(encoding="utf-8"))["word"]
    for word in sorted(words, key=lambda word: word["name"].casefold()):
        yield f"## {word['name']}\n"
        if word.get("also"):
            yield f"*Also: {', '.join(word['also'])}.*\n"
        yield f"{_plain(word['definition'])}\n\nIn dpspec: {_plain(word['in_dpspec'])}\n"
        if word.get("command"):
            yield f"```sh\n{word['command']}\n```\n"


def _plain(text: str) -> str:
    """Text without Markdown in it but for `code`: stars and brackets of formulas stay what they are."""
    pieces = re.split(r"(`[^`]*`)", text)
    return "".join(piece if piece.startswith("`") else re.sub(r"([*_<>\[\]|\\$])", r"\\\1", piece) for piece in pieces)


def specifications() -> Iterator[str]:
    """Every specification file of the repository, by folder, with its title."""
    folders: dict[Path, list[Path]] = {}
    for path in sorted((ROOT / "specs").rglob("*.dpspec.toml")):
        if "bad" not in path.relative_to(ROOT).parts:
            folders.setdefault(path.parent, []).append(path)
    for folder, paths in folders.items():
        yield f"## {folder.relative_to(ROOT).as_posix()}\n\n| file | title |\n|---|---|"
        for path in paths:
            title = tomllib.loads(path.read_text(encoding="utf-8")).get("title", "")
            link = f"../{path.relative_to(ROOT).as_posix()}"
            yield f"| [{path.name.removesuffix('.dpspec.toml')}]({link}) | {_plain(title)} |"
        yield ""


# --- To take away ---------------------------------------------------------------------------------


def wheels() -> Iterator[str]:
    """dpspec and its plugins, built now into a folder of the site, as links: pip finds them by the address of the page.

    The same sources give the same bytes (`packaging/wheels.py`); `SHA256SUMS` is in the same folder.
    """
    command = [sys.executable, str(ROOT / "packaging" / "wheels.py"), str(MADE / "wheels")]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)  # noqa: S603 - nothing of it is given from outside
    yield from links((MADE / "wheels").glob("*.whl"))


def links(built: Iterable[Path]) -> Iterator[str]:
    """A list of links to wheels in the folder `wheels` beside the page."""
    for wheel in sorted(built):
        yield f'* <a href="wheels/{wheel.name}" download>{wheel.name}</a>'


def archive(folder: str, up: str = "") -> Iterator[str]:
    """A folder of the repository as one file; `up` leads from the page to the top of the site."""
    home = ROOT / folder
    found = {path for path in home.rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    MADE.mkdir(parents=True, exist_ok=True)
    _pack(MADE / f"{home.name}.zip", {path.relative_to(home.parent).as_posix(): path for path in found})
    yield f'<a href="{up}{home.name}.zip" download>{home.name}.zip</a>'


def _pack(archived: Path, files: dict[str, Path]) -> None:
    """Files under their names there, the same bytes every time."""
    with zipfile.ZipFile(archived, "w", zipfile.ZIP_DEFLATED) as made:
        for name in sorted(files):
            made.writestr(zipfile.ZipInfo(name), files[name].read_bytes(), zipfile.ZIP_DEFLATED)


# --- Docstrings -----------------------------------------------------------------------------------

_SECTION = re.compile(r"^(Args|Returns|Yields|Example|Examples|Note):$")
_MARKED = re.compile(r"(``.+?``|`[^`]+`)")


def docstring_as_rst(*given: Any) -> None:
    """Docstrings are plain text with `code`: stars, bars and underscores are told from markup, and formulas set apart."""
    *_, lines = given
    lines[:] = list(_rst_lines(_with_raises_in_words(lines)))


def _with_raises_in_words(lines: list[str]) -> Iterator[str]:
    """What is raised is told in sentences, often several errors on one line: a paragraph, not a list."""
    before = None
    for line in lines:
        head, told = re.match(r"(Raises:)?(.*)", line).groups()
        if head:
            before = "Raises "
            yield ""
        if before is not None and (head or line.startswith("    ")):
            if told.strip():
                yield before + re.sub(r"\b(\w+Error|Faults)\b", r"`\1`", told.strip())
                before = ""
        else:
            before = None if line.strip() else before
            yield line


def _rst_lines(lines: list[str]) -> Iterator[str]:
    section = doctest = block = False
    before = ""
    for line in lines:
        indented = line.startswith("    ")
        doctest = line.lstrip().startswith(">>>") or (doctest and line.strip() != "")
        if line.strip() and not indented:
            section, block = bool(_SECTION.match(line)), False
        elif indented and not section and not block and not before.strip():
            block = True
            yield "::"
            yield ""
        yield line if doctest or block or (section and _SECTION.match(line)) else _as_rst(line)
        before = line


def _as_rst(text: str) -> str:
    bullet = re.match(r"\s*[*-] ", text)
    start = bullet.end() if bullet else 0
    return text[:start] + "".join(
        f"``{piece.strip('`')}``" if _MARKED.fullmatch(piece) else re.sub(r"([*|\\])|(_)(?=\W|$)", r"\\\1\2", piece)
        for piece in _MARKED.split(text[start:])
    )


# --- Pictures -------------------------------------------------------------------------------------

PICTURES = {
    "family": (["explain", "flavours"], "The published definitions, by the block that each one changes, and which implies which"),
    "tester": (
        ["risk", "specs/randomised-response.dpspec.toml", "--attacker", "tester"],
        "The largest power of a test at every level, under the promise and under the mechanism",
    ),
    "order": (["compare", "specs/census-2020"], "Which promises about the 2020 redistricting file contain which"),
}
"""Pictures that dpspec draws when the site is built: the command, and what is seen."""


def picture(name: str) -> Iterator[str]:
    """A picture drawn now, into the folder that the site takes its further files from, with the command that draws it."""
    from dpspec.cli import main

    command, seen = PICTURES[name]
    MADE.mkdir(parents=True, exist_ok=True)
    drawn = MADE / f"{name}.svg"
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as said, contextlib.chdir(ROOT):
        main([*command, "--picture", str(drawn)], standalone_mode=False)
    if not drawn.is_file():
        raise NoSuchPartError(f"picture {name}: dpspec {' '.join(command)} drew nothing: {said.getvalue()}")
    yield f'<div class="diagram" tabindex="0"><img src="{name}.svg" alt="{seen}"></div>\n\n'
    yield f"{seen}: `dpspec {' '.join(command)} --picture {name}.svg`.\n"


# --- Navigation -----------------------------------------------------------------------------------


def same_sidebar(_app: object, pagename: str, _template: str, context: dict[str, Any], _doctree: object) -> None:
    """Pages of deployments and of Python names are in no table of contents: one sidebar a folder, made once and not 500 times."""
    make = context.get("toctree")
    if make is None or not (ORPHANS.match(pagename) or site_api.OBJECT_PAGES.match(pagename)):
        return

    def once(**options: object) -> str:
        key = f"{pagename.count('/')} {sorted(options.items())!r}"
        if key not in _sidebars:
            _sidebars[key] = make(**options)
        return _sidebars[key]

    context["toctree"] = once


_sidebars: dict[str, str] = {}



def edit_link(app: Any, pagename: str, _template: str, context: dict[str, Any], _doctree: object) -> None:
    """The file that a page is made from, as a link into the repository; a page of a Python name leads to its source."""
    repository = app.config.dpspec_repository.rstrip("/")
    if not repository or "page_source_suffix" not in context:
        return
    brought_from = {page.removesuffix(".md"): path.name for path, page in BROUGHT.items()}
    path = site_api.sources.get(pagename) or brought_from.get(pagename) or f"docs/{pagename}.md"
    context["theme_source_edit_link"] = f"{repository}/edit/{app.config.dpspec_branch}/{path}"
    context["theme_source_view_link"] = f"{repository}/blob/{app.config.dpspec_branch}/{path}"


# --- Mathematics ----------------------------------------------------------------------------------


def as_mathml(text: str, display: str) -> str:
    """A formula in LaTeX as MathML, which browsers typeset without a script; LaTeX that is not read is an error of the page."""
    from latex2mathml.converter import convert

    made = convert(text.replace(r"\lvert", r"\left|").replace(r"\rvert", r"\right|"), display=display)
    if UNREAD.search(made):
        raise UnreadFormulaError(f"cannot read the formula {text.strip()!r}: the command {UNREAD.search(made)[0]} is unknown")
    return BEFORE_FUNCTION.sub(rf"\1{THIN}", AFTER_FUNCTION.sub(rf"\1{THIN}", OPERATOR.sub(r"<mi>\1</mi>", made)))


THIN = '<mspace width="0.1667em" />'
OPERATOR = re.compile(r'<mo(?: movablelimits="true")?>(max|min|sup|inf|lim|Pr)</mo>')
"""Names of functions that the converter writes as operators, which browsers surround with wide spaces."""
FUNCTION = r"<mi>(?:ln|log|exp|max|min|sup|inf|lim|Pr)</mi>"
WITH_INDEX = rf"<(msub|munder)>{FUNCTION}(?:(?!</\2>).)*</\2>"
AFTER_FUNCTION = re.compile(rf"({WITH_INDEX}(?=<m(?!o))|(?<!<msub>)(?<!<munder>){FUNCTION}(?=<m(?!o)))")
BEFORE_FUNCTION = re.compile(rf"(</(?:mi|mn|mfrac|mstyle|msup|msub)>)(?={FUNCTION})")
"""Where LaTeX sets a thin space: between a function and what it is applied to, and between a factor and a function."""

UNREAD = re.compile(r"(?<=<mi>)\\\w+|(?<=<mi>)&(?=</mi>)")
"""What latex2mathml leaves in its output for a command that it does not know, or a column outside of a table."""


def inline_formula(writer: Any, node: Any) -> None:
    """Write an inline formula."""
    from docutils.nodes import SkipNode

    writer.body.append(as_mathml(node.astext(), "inline"))
    raise SkipNode


def displayed_formula(writer: Any, node: Any) -> None:
    """Write a displayed formula, which scrolls by itself where it is wider than the page."""
    from docutils.nodes import SkipNode

    writer.body.append(f'<div class="formula" tabindex="0">{as_mathml(node.astext(), "block")}</div>')
    raise SkipNode


# --- Measured -------------------------------------------------------------------------------------


def measured(*begins: str) -> Iterator[str]:
    """The lines of benchmarks/results.json whose names begin with one of these, all without one: time, memory, ratio, goals."""
    results = json.loads((ROOT / "benchmarks" / "results.json").read_text(encoding="utf-8"))
    lines = {name: line for name, line in results["lines"].items() if name.startswith(begins or ("",))}
    if not lines:
        yield "*Not recorded yet: `python -m benchmarks --write` measures it.*\n"
        return
    yield "| line | processor time | memory | beside a calibration | beside a peer | goal |\n|---|---|---|---|---|---|"
    for name, line in lines.items():
        goals = ", ".join(_goal(what, goal, line) for what, goal in line["goals"].items())
        named = "the plain loop" if line.get("peer") in OWN_PEERS else line.get("peer")
        peer = "" if line["peer_ratio"] is None else f"{line['peer_ratio']:.3g} x {named}"
        beside = f"{line['ratio']:.3g} x {CALIBRATIONS[line['calibration']]}"
        cost = f"{_seconds(line['seconds'])} | {line['megabytes']:,} MB"
        yield f"| {line['what']} (`{name}`) | {cost} | {beside} | {peer} | {goals} |"
    recorded: dict[str, list[str]] = {}
    for name, line in lines.items():
        if "reason" in line:
            recorded.setdefault(line["reason"], []).append(f"`{name}`")
    reasons = [f"* {', '.join(names)}: {reason}" for reason, names in recorded.items()]
    yield from ("", *reasons) if reasons else ()
    yield _origin(results, lines)


def growth() -> Iterator[str]:
    """How processor time grows with each size that has a bound, and memory with the number of records."""
    results = json.loads((ROOT / "benchmarks" / "results.json").read_text(encoding="utf-8"))
    yield "| line | sizes | time grows as size to the power | at most | bytes a record |\n|---|---|---|---|---|"
    for name, line in results["growth"].items():
        sizes = f"{line['sizes'][0]:,} to {line['sizes'][-1]:,}"
        bound = "" if line["bound"] is None else f"{line['bound']:g}"
        yield f"| `{name}` | {sizes} | {line['exponent']:.2f} | {bound} | {line.get('bytes_per_record', '')} |"
    yield _origin(results, results["growth"])


def memory() -> Iterator[str]:
    """The peaks of benchmarks/memory.json: of the smallest and the largest table, and their ratio."""
    lines = json.loads((ROOT / "benchmarks" / "memory.json").read_text(encoding="utf-8"))["lines"]
    yield "| release | files | `--memory`, address space | smaller table | larger table | ratio |\n|---|---|---|---|---|---|"
    for line in lines.values():
        (least, most), (small, large) = ((values[0], values[-1]) for values in (line["sizes"], line["megabytes"]))
        allowed = "none" if line["memory"] is None else f"{line['memory']:,} MB"
        limits = f"{allowed}, {line['limit'] / 2**30:g} GiB"
        peaks = f"{least:,} {line['of']}: {small:,} MB | {most:,}: {large:,} MB"
        yield f"| `{line['what']}` | {line['files']} | {limits} | {peaks} | {large / small:.2f} |"
    taken = "; ".join(sorted({f"{line['date']}, commit {line['commit']}" for line in lines.values()}))
    yield f"\n*Measured by `python -m benchmarks.memory` and `python -m benchmarks.cells`: {taken}.*\n"


def first_minutes() -> Iterator[str]:
    """The table of benchmarks/first-minutes.json: seconds, commands and lines of each user at each milestone."""
    results = json.loads((ROOT / "benchmarks" / "first-minutes.json").read_text(encoding="utf-8"))
    yield f"| from nothing to | {' | '.join(results['users'])} |\n|{'---|' * (len(results['users']) + 1)}"
    for name, reached in results["milestones"].items():
        yield f"| {name} | {' | '.join(f'{seconds} s, {commands}, {lines}' for seconds, commands, lines in reached)} |"
    machine = f"{results['machine']}, Python {results['python']}"
    yield f"\n*Measured by `python benchmarks/first_minutes.py`: {results['date']}. {machine}.*\n"


CALIBRATIONS = {"import numpy": "`import numpy`", "copy": "a copy of 1 GiB", "sort": "a stable sort of 10^7 words"}
OWN_PEERS = ("polars", "dpspec", "dpspec_census")
"""The libraries of peers that are no package of someone else's."""


def _goal(what: str, goal: float, line: dict[str, Any]) -> str:
    said = {
        "seconds": _seconds(goal),
        "megabytes": f"{goal:,.0f} MB",
        "peer_ratio": f"{goal:g} x the peer",
        "ratio": f"{goal:g} x {CALIBRATIONS[line['calibration']]}",
    }[what]
    return f"{said} ({'missed' if what in line['missed'] else 'met'})"


def _seconds(value: float) -> str:
    return f"{value:.3g} s" if value >= 1 else f"{value * 1000:.3g} ms"


def _origin(results: dict[str, Any], lines: dict[str, Any]) -> str:
    """When, of which commits and on which machine."""
    taken = sorted({(line["date"], line["commit"]) for line in lines.values()})
    machine = results["machine"]
    when = "; ".join(f"{date}, commit {commit}" for date, commit in taken)
    return (
        f"\n*Measured by `python -m benchmarks`: {when}. {machine['processor']}, {machine['processors']} processors, "
        f"{machine['system']}, Python {machine['python']}.*\n"
    )


PARTS = {
    "measured": measured, "growth": growth, "memory": memory, "first-minutes": first_minutes, "glossary": glossary,
    "specifications": specifications, "api": site_api.tables,
    "file": brought, "picture": picture, "wheels": wheels, "archive": archive,
}  # fmt: skip
