"""The publications that dpspec takes something from: who wrote what, what is taken, and which registered names cite it.

`sources.toml` in this folder is the list. A source is identified by its key, by its authors with or without the year, and by any
one of its authors where that is unambiguous. A name cites a source when its class does, in its docstring or in what
it declares (`citation`, `source`, `reference`), as "Bun and Steinke 2016" or "Bun and Steinke, TCC 2016, Definition 1.1".
"""

from __future__ import annotations

import contextlib
import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

import attrs
from rich.table import Table
from rich.text import Text

from dpspec.base.errors import DpspecError, UnknownNameError
from dpspec.base.types import JsonData
from dpspec.extension.hooks import singular
from dpspec.report.page import PageParts
from dpspec.report.terminal import FAINT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rich.console import RenderableType

    from dpspec.extension.hooks import Registry

_JOINING = {"and", "et", "al", "the"}
_DECLARED = ("citation", "source", "reference", "theorem")


@attrs.frozen(kw_only=True)
class Fact:
    """A fact that dpspec takes from a publication.

    Args:
        where: the theorem, section or table; empty where the publication as a whole is meant.
        says: what it says, in our words.
    """

    where: str
    says: str


@attrs.frozen(kw_only=True)
class Publication:
    """A publication.

    Args:
        key: its key in `sources.toml`.
        authors: all of them, or the first "et al.".
        year: of the publication.
        title: its title.
        facts: what dpspec takes from it.
    """

    key: str
    authors: str
    year: int
    title: str
    facts: tuple[Fact, ...] = ()

    def __str__(self) -> str:
        return f"{self.authors} {self.year}"

    def words(self) -> list[str]:
        """The names of the authors, in their order."""
        return _words(self.authors)

    def is_cited_in(self, text: str) -> bool:
        """Whether a text cites it: its authors, or the first "et al." where that means no other source; then the year."""
        return str(self.year) in text and _citation(self).search(" ".join(text.split())) is not None


@cache
def _citation(source: Publication) -> re.Pattern[str]:
    names = re.split(r", | and ", source.authors)
    alike = [one for one in sources() if one.words()[0] == source.words()[0] and one.year == source.year]
    first = [f"{names[0]} et al."] if len(names) > 2 and len(alike) == 1 else []
    authors = "|".join(map(re.escape, [source.authors, *first]))
    # Between the authors and the year a venue may be named, as in "Bun and Steinke, TCC 2016".
    return re.compile(rf"(?<!\w)(?:{authors}),?(?: [^;()]{{0,60}})? ?\(?{source.year}\b")


@cache
def sources() -> tuple[Publication, ...]:
    """All of them, in the order of their keys."""
    data = tomllib.loads(files("dpspec.report").joinpath("sources.toml").read_text(encoding="utf-8"))
    return tuple(
        Publication(
            key=key,
            authors=row["authors"],
            year=row["year"],
            title=row["title"],
            facts=tuple(Fact(where=where, says=says) for where, says in row.get("facts", ())),
        )
        for key, row in data.items()
    )


def named(name: str) -> Publication | None:
    """The source that a name, or a citation, means; None where it means none.

    >>> [str(named(name)) for name in ("bun-steinke-2016", "Bun and Steinke 2016", "Steinke and Bun", "Warner")]
    ['Bun and Steinke 2016', 'Bun and Steinke 2016', 'Bun and Steinke 2016', 'Warner 1965']
    >>> str(named("Bun and Steinke, TCC 2016, Definition 1.1"))
    'Bun and Steinke 2016'

    Raises:
        UnknownNameError: it means several.
    """
    for source in sources():
        if name == source.key:
            return source
    words = _words(name)
    authors, years = {word for word in words if not word.isdigit()}, {int(word) for word in words if word.isdigit()}
    fitting = [one for one in sources() if authors and authors <= set(one.words()) and years <= {one.year}]
    if "et al" in name.lower():
        fitting = [one for one in fitting if one.words()[0] == words[0]]
    in_order = [one for one in fitting if one.words() == [word for word in words if not word.isdigit()]]
    exact = [one for one in fitting if authors == set(one.words())]
    found = in_order or exact or fitting or [one for one in sources() if one.is_cited_in(name)]
    if len(found) > 1:
        raise UnknownNameError("name", "means several sources", f"write one of {', '.join(one.key for one in found)}", value=name)
    return found[0] if found else None


def _words(text: str) -> list[str]:
    return [word for word in re.findall(r"[^\W_]+", text.lower()) if word not in _JOINING]


def citing(source: Publication, registry: Registry) -> Iterator[tuple[str, str]]:
    """The registered names that cite it, with their kind; a plugin that cannot be loaded cites nothing."""
    for entry in registry:
        with contextlib.suppress(DpspecError):
            declared = (getattr(entry.cls, name, "") for name in _DECLARED)
            texts = (entry.cls.__doc__ or "", *(text for text in declared if isinstance(text, str)))
            if any(map(source.is_cited_in, texts)):
                yield entry.name, singular(entry.kind)


def source_data(source: Publication, registry: Registry) -> JsonData:
    """A source as JSON data."""
    return {
        "key": source.key,
        "authors": source.authors,
        "year": source.year,
        "title": source.title,
        "facts": [{"where": fact.where, "says": fact.says} for fact in source.facts],
        "cited_by": [{"name": name, "kind": kind} for name, kind in citing(source, registry)],
    }


def source_parts(data: JsonData) -> PageParts:
    """The same as text."""
    parts: list[RenderableType] = [
        Text.assemble((f"{data['authors']} {data['year']}", "bold"), f"  source, {data['key']}"), "", data["title"],
    ]  # fmt: skip
    if data["facts"]:
        parts += ["", Text("What dpspec takes from it", "bold"), _rows((row["where"], row["says"]) for row in data["facts"])]
    if data["cited_by"]:
        kinds = dict.fromkeys(row["kind"] for row in data["cited_by"])
        of_kind = ((kind, ", ".join(row["name"] for row in data["cited_by"] if row["kind"] == kind)) for kind in kinds)
        parts += ["", Text("Cited by", "bold"), _rows(of_kind)]
    return parts


def _rows(rows: Iterable[tuple[str, str]]) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style=FAINT, overflow="fold", max_width=40)
    table.add_column(overflow="fold")
    for left, right in rows:
        table.add_row(left or "as a whole", right)
    return table
