"""Statements of a file other than its claim: the deployment, the provenance of each block, and what the claim does not cover.

Nothing here is verified. A `Deployment` records that a data release was published; a `PublishedSource` is where it is documented;
a `BlockProvenance` states whether a block is in the source or is ours; an `UnaccountedStep` is a step that was applied to the
data outside of the guarantee. Dates and identifiers are checked for their shape, never looked up.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import attrs

from dpspec.base.errors import DuplicateIdError, MissingKeyError, ParameterError
from dpspec.base.params import FAILED, Domain, Integer, Items, Pairs, Text, define, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hypothesis.strategies import SearchStrategy

    from dpspec.specfile.maker import Maker

BLOCKS = ("space", "multiverse", "input_divergence", "output_divergence", "budget", "mechanism")
"""The subjects of provenance: the five blocks and the mechanism."""

# --- shapes ---------------------------------------------------------------------------------------


@attrs.frozen
class TextShape(Domain):
    """A text of a given form; the form alone is checked.

    Args:
        pattern: what the whole text matches.
        words: the form, for people.
        example: a text that has it.
    """

    pattern: str
    words: str
    example: str

    def read(self, value: Any, subject: str) -> str:
        if not isinstance(value, str) or re.fullmatch(self.pattern, value) is None:
            raise ParameterError(subject, f"must be {self.words}", f"such as {self.example}", value=_shown(value))
        return value

    def describe(self) -> str:
        return self.words

    def schema(self) -> dict[str, Any]:
        return {"type": "string", "pattern": f"^(?:{self.pattern})$", "description": self.words}

    def strategy(self) -> SearchStrategy[Any]:
        from hypothesis import strategies as st

        return st.just(self.example)


@attrs.frozen
class CalendarDate(Domain):
    """A day, a month or a year of the calendar: ``2021-08-12``, ``2021-08``, ``2021``; stored as that text."""

    def read(self, value: Any, subject: str) -> str:
        if type(value) is datetime.date:  # a datetime is one as well for isinstance, and no day
            return value.isoformat()
        text = str(value) if type(value) is int else value
        found = re.fullmatch(r"([0-9]{4})(?:-([0-9]{2})(?:-([0-9]{2}))?)?", text) if isinstance(text, str) else None
        try:
            if found is not None:
                datetime.date(*(int(part or 1) for part in found.groups()))
                return str(text)
        except ValueError:  # the 30th of February, month 13, year 0
            pass
        advice = "write 2021-08-12, 2021-08 or 2021"
        raise ParameterError(subject, "must be a date of the calendar", advice, value=_shown(value))

    def describe(self) -> str:
        return "date: a day, a month or a year"

    def schema(self) -> dict[str, Any]:
        return {"type": ["string", "integer"], "description": self.describe()}

    def strategy(self) -> SearchStrategy[Any]:
        from hypothesis import strategies as st

        return st.sampled_from(("2021-08-12", "2021-08", "2021"))


@attrs.frozen
class OneOrMore(Items):
    """A text, or a list of texts; stored as a tuple."""

    def read(self, value: Any, subject: str) -> tuple[Any, ...]:
        return (self.item.read(value, subject),) if isinstance(value, str) else super().read(value, subject)

    def describe(self) -> str:
        return f"{self.item.describe()}, or a list of them"

    def schema(self) -> dict[str, Any]:
        return {"anyOf": [self.item.schema(), super().schema()]}


def _shown(value: Any) -> str:
    return value.isoformat() if isinstance(value, (datetime.date, datetime.time)) else str(value)


KEBAB = TextShape(r"[a-z0-9]+(-[a-z0-9]+)*", "lower-kebab", "census-registry-record")
DOI = TextShape(r"10\.[0-9]{4,9}/[^\s]+", "a DOI without a prefix", "10.1257/pandp.20191109")
ARXIV = TextShape(
    r"[0-9]{2}(0[1-9]|1[0-2])\.[0-9]{4,5}(v[1-9][0-9]*)?|[a-z-]+(\.[A-Z]{2})?/[0-9]{2}(0[1-9]|1[0-2])[0-9]{3}(v[1-9][0-9]*)?",
    "an arXiv number without a prefix",
    "2204.08986",
)
URL = TextShape(
    r"https?://[^\s/?#.]+(\.[^\s/?#.]+)+([/?#][^\s]*)?",
    "an address that begins with http:// or https://",
    "https://example.org/a",
)
PERIOD = TextShape(
    r"([1-9][0-9]{0,3} )?(hour|day|week|month|quarter|year|release|session)s?",
    "a period: hour, day, week, month, quarter, year, release or session, with a number before it where there are several",
    "day, or 14 days",
)
SOURCE_IDS = OneOrMore(KEBAB)

KINDS_OF_PRODUCT = ("statistics", "model", "dataset", "synthetic-data", "interactive", "queries")
SECTORS = ("technology", "healthcare", "education", "government", "energy", "finance", "other")
TRUST = ("local", "central", "shuffle", "federated", "varies")

# --- the records ----------------------------------------------------------------------------------


@define
class Deployment:
    """A release that was published with a promise, as its publisher describes it.

    Args:
        publisher: who published it; one or several.
        product: what was published.
        published: when, or when first: a day, a month or a year.
        year: when, or when first, where no more than the year is to be said.
        region: who or what it describes, or whose law applies.
        kind: what it is: statistics, model, dataset, synthetic-data, interactive, queries.
        sector: technology, healthcare, education, government, energy, finance, other.
        use: what it is for, in one line.
        trust: who has access to the raw data: only the person (local), the publisher (central), a party that cannot link them to
            persons (shuffle), each device its own (federated), or it varies.
        release: one release, or many.
        data: static, or dynamic, when they change while releases go on.
        access: interactive, when analysts ask; non-interactive, when all is published.
        period: after what time the budget is renewed, such as ``day`` or ``14 days``; ``release``: for every release.
        units: the meaning of the units of the blocks, where a dataset space has names of its own for them: a household of the
            file may represent the actions of one user in one day.
        prose: further texts of the publisher or of a registry by their names, kept as they are.

    >>> Deployment(publisher="A statistical office", product="Births", published="2024-03").in_year
    2024
    """

    publisher: Annotated[tuple[str, ...], OneOrMore(Text(), 1)]
    product: Annotated[str, Text()]
    published: Annotated[str | None, CalendarDate()] = None
    year: Annotated[int | None, Integer(1800, 2999)] = None
    region: Annotated[str | None, Text()] = None
    kind: Annotated[str | None, Text(KINDS_OF_PRODUCT)] = None
    sector: Annotated[str | None, Text(SECTORS)] = None
    use: Annotated[str | None, Text()] = None
    trust: Annotated[str | None, Text(TRUST)] = None
    release: Annotated[str | None, Text(("one", "many"))] = None
    data: Annotated[str | None, Text(("static", "dynamic"))] = None
    access: Annotated[str | None, Text(("interactive", "non-interactive"))] = None
    period: Annotated[str | None, PERIOD] = None
    units: Annotated[tuple[tuple[str, str], ...], Pairs(Text())] = ()
    prose: Annotated[tuple[tuple[str, str], ...], Pairs(Text())] = ()

    def __attrs_post_init__(self) -> None:
        if self.published is None and self.year is None:
            raise MissingKeyError("published", "is missing", 'write published = "2021-08-12", or year = 2021')
        if self.published is not None and self.year not in (None, int(self.published[:4])):
            raise ParameterError(
                "year", f"is not that of {self.published}, when it was published", "leave it out", value=self.year
            )

    @property
    def in_year(self) -> int:
        """The year in which it was published, or first published."""
        return int(self.published[:4]) if self.year is None and self.published is not None else int(self.year or 0)

    @property
    def when(self) -> str:
        """When it was published, as closely as it is known."""
        return self.published or str(self.year)


@define
class PublishedSource:
    """A publication that is the source of statements of a file.

    Args:
        id: what provenance calls it.
        title, publisher: of the document.
        author: who wrote it; one or several.
        year, date: when it was published, or the state of it that was read.
        read: when it was read.
        doi, arxiv, url: identifiers, without prefixes; their format is checked, and they are never looked up.
        version, page: which state of it, and where in it.
        licence: under which it may be used.
        note: whatever else should be known of it.
    """

    id: Annotated[str | None, KEBAB] = None
    title: Annotated[str | None, Text()] = None
    author: Annotated[tuple[str, ...], OneOrMore(Text())] = ()
    publisher: Annotated[tuple[str, ...], OneOrMore(Text())] = ()
    year: Annotated[str | None, CalendarDate()] = None
    date: Annotated[str | None, CalendarDate()] = None
    read: Annotated[str | None, CalendarDate()] = None
    doi: Annotated[str | None, DOI] = None
    arxiv: Annotated[str | None, ARXIV] = None
    url: Annotated[str | None, URL] = None
    version: Annotated[str | None, Text()] = None
    page: Annotated[str | None, Text()] = None
    licence: Annotated[str | None, Text()] = None
    note: Annotated[str | None, Text()] = None

    def __attrs_post_init__(self) -> None:
        if not (self.title or self.doi or self.arxiv or self.url):
            raise MissingKeyError("title", "is missing", "say what can be read: a title, doi, arxiv or url")

    def __str__(self) -> str:
        where = (self.doi and f"doi:{self.doi}", self.arxiv and f"arXiv:{self.arxiv}", self.url)
        parts = (
            ", ".join(self.author),
            self.title,
            ", ".join(self.publisher),
            self.date or self.year,
            self.version,
            self.page,
            *where,
        )
        return ", ".join(part for part in parts if part)


@define
class BlockProvenance:
    """The origin of a block of a file.

    Args:
        block: which of the five, or the mechanism.
        how: stated by the source; inferred from it by us; assumed by us, where the source is silent.
        source: the ids of the sources.
        because: what it was inferred from, or why just this was assumed.

    >>> print(BlockProvenance(block="input_divergence", how="assumed", because="the source does not say"))
    the input divergence is assumed: the source does not say
    """

    block: Annotated[str, Text(BLOCKS)]
    how: Annotated[str, Text(("stated", "inferred", "assumed"))]
    source: Annotated[tuple[str, ...], SOURCE_IDS] = ()
    because: Annotated[str | None, Text()] = None

    def __attrs_post_init__(self) -> None:
        if self.how == "stated" and not self.source:
            raise MissingKeyError("source", "is missing", "name the id of the [[source]] that states it")
        if self.how != "stated" and self.because is None:
            raise MissingKeyError("because", "is missing", f"say why it is {self.how}")

    @property
    def is_ours(self) -> bool:
        """Whether no source says so."""
        return self.how == "assumed"

    def __str__(self) -> str:
        where = f" ({', '.join(self.source)})" if self.source else ""
        return f"the {self.block.replace('_', ' ')} is {self.how}{where}" + (f": {self.because}" if self.because else "")


@define
class UnaccountedStep:
    """A step that was applied to the data or to the release, and that the guarantee does not cover.

    Args:
        step: what was done.
        effect: which part of the promise it undoes.
        touches: the blocks that would have to be others if it were counted.
        source: the ids of the sources.
    """

    step: Annotated[str, Text()]
    effect: Annotated[str, Text()]
    touches: Annotated[tuple[str, ...], OneOrMore(Text(BLOCKS))] = ()
    source: Annotated[tuple[str, ...], SOURCE_IDS] = ()

    def __str__(self) -> str:
        return f"{self.step}: {self.effect}"


@attrs.frozen(kw_only=True)
class Facts:
    """The four together."""

    deployment: Deployment | None = None
    sources: tuple[PublishedSource, ...] = ()
    provenance: tuple[BlockProvenance, ...] = ()
    unaccounted: tuple[UnaccountedStep, ...] = ()


# --- reading --------------------------------------------------------------------------------------


def read_facts(maker: Maker, data: Mapping[str, Any], rows: Mapping[str, list[tuple[int, Mapping[str, Any]]]]) -> Facts:
    """The facts of a file; every fault goes to the log of the maker, with its line.

    Args:
        maker: what makes objects of tables.
        data: the file.
        rows: the tables of the arrays ``source`` and ``unaccounted``, each with its place.
    """
    deployment = _made(maker, Deployment, data["deployment"], "deployment") if "deployment" in data else None
    sources = [_made(maker, PublishedSource, row, f"source[{place}]") for place, row in rows["source"]]
    steps = [_made(maker, UnaccountedStep, row, f"unaccounted[{place}]") for place, row in rows["unaccounted"]]
    provenance = tuple(_provenance(maker, data["provenance"])) if "provenance" in data else ()
    single = data.get("source")
    known = {str(single["id"])} if isinstance(single, Mapping) and "id" in single else set()
    for place, row in rows["source"]:  # the ids of faulty sources too: what refers to one has no further fault
        path, id = f"source[{place}]", row.get("id")
        if id in known:
            maker.fail(DuplicateIdError(f"{path}.id", "names a source twice", "give each its own id", value=id), path)
        elif isinstance(id, str):
            known.add(id)
    named = [(f"provenance.{one.block}", one.source) for one in provenance]
    named += [(f"unaccounted[{place}]", step.source) for (place, _), step in zip(rows["unaccounted"], steps, strict=True) if step]
    for path, ids in named:
        for id in ids:
            if id not in known:
                advice = did_you_mean(id, known) or 'give the [[source]] its name: id = "..."'
                maker.fail(ParameterError(f"{path}.source", "is the id of no [[source]]", advice, value=id), path)
    return Facts(
        deployment=deployment,
        sources=tuple(source for source in sources if source is not None),
        provenance=provenance,
        unaccounted=tuple(step for step in steps if step is not None),
    )


def _made(maker: Maker, cls: type, value: Any, path: str) -> Any:
    """An object of a declared class, or None with its faults in the log."""
    table = maker.table(value, path)
    made = FAILED if table is None else maker.make(cls, table, path)
    return None if made is FAILED else made


def _provenance(maker: Maker, value: Any) -> Iterator[BlockProvenance]:
    table = maker.table(value, "provenance") or {}
    maker.known_keys(table, dict.fromkeys(BLOCKS), "provenance")
    for block in (block for block in BLOCKS if block in table):
        row = maker.table(table[block], f"provenance.{block}")
        if row is None or not maker.known_keys(row, dict.fromkeys(("how", "source", "because")), f"provenance.{block}"):
            continue
        made = _made(maker, BlockProvenance, {"block": block, **row}, f"provenance.{block}")
        if made is not None:
            yield made
