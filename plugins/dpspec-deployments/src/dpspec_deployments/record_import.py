"""A record of the deployments registry as a specification file: only what the record states, nothing is guessed.

A record says in words which datasets there are, what is published exactly and what one change is. Those blocks hold places in
the file, each marked as assumed, until a person fills them in; the space carries the name of the record, so that the promises of
two records are never held to be about the same datasets. The record's variant and numbers become the output divergence and the
budget where they say one thing; what does not fit stays a text, and the budget is not stated. Every text that has no place in the
language is stored under its path in ``[deployment.prose]``, so that the record can be written again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from dpspec import DpspecError
from dpspec.plugin import ParameterError
from dpspec.plugin.applications import (
    SUFFIX,
    JsonData,
    ReleaseError,
    UnreadableFileError,
    YamlError,
    check_ids,
    count,
    raise_all,
    read_text,
    write_whole,
)
from dpspec_deployments.record import (
    FIELDS,
    FORMER_TABLES,
    PARAMETERS,
    URLS,
    RegistryRecord,
    UnquotedScalar,
    read_record,
    registry_checks,
    url_has_shape,
)
from dpspec_deployments.yaml import YamlFile, decimal_text, read_yaml

if TYPE_CHECKING:
    from dpspec.plugin import Registry

KIND_WORDS = {
    "Summary statistics": "statistics", "Machine learning model": "model", "Dataset": "dataset",
    "Synthetic data": "synthetic-data", "Interactive API": "interactive", "SQL queries": "queries",
}  # fmt: skip
RELEASE_WORDS = {"One release": "one", "Many releases": "many"}

HOMES: dict[str, tuple[str, dict[str, str] | None]] = {
    "basic.name": ("product", None),
    "basic.data_curators": ("publisher", None),
    "basic.publication_date": ("published", None),
    "basic.data_product_region": ("region", None),
    "basic.data_product_type": ("kind", KIND_WORDS),
    "basic.data_product_sector": ("sector", {}),
    "basic.intended_use": ("use", None),
    "deployment_model.model_name": ("trust", {}),
    "deployment_model.release_type": ("release", RELEASE_WORDS),
    "deployment_model.data_source_type": ("data", {}),
    "deployment_model.access_type": ("access", {}),
}
"""The fields of a record that [deployment] has, and their words there; with an empty table the same word in lower case."""


@attrs.frozen(kw_only=True)
class RegistryVariant:
    """A variant of the registry as an output divergence.

    Args:
        divergence: the registered name of the output divergence.
        parameters: the numbers of a record that are its own; none where the record lacks one, so that it cannot be read back.
    """

    divergence: str
    parameters: frozenset[str] = frozenset()


VARIANTS = {
    "Pure DP": RegistryVariant(divergence="mult", parameters=frozenset({"epsilon"})),
    "Approximate DP": RegistryVariant(divergence="mult-delta", parameters=frozenset({"epsilon", "delta"})),
    "Zero-concentrated DP": RegistryVariant(divergence="d-nor", parameters=frozenset({"rho"})),
    "Renyi DP": RegistryVariant(divergence="renyi"),
}
"""The variants that correspond to an output divergence, for reading and for writing records."""
_LEFT_OUT = "left out"
RECORD = "record"
"""The id of the record among the sources of the file."""


@attrs.frozen(kw_only=True)
class ImportWarning:
    """A warning about a record that can be read.

    Args:
        code: the kind of it, lower-kebab.
        field: the path in the record.
        line: the line in its file.
        message: what is odd.
    """

    code: str
    field: str
    line: int
    message: str


@attrs.frozen(kw_only=True)
class RecordGap:
    """A statement that a person must add.

    Args:
        field: a block of the specification, or the path of a field of the record.
        message: what is missing, and where the record's words about it are.
    """

    field: str
    message: str


@attrs.frozen(kw_only=True)
class ImportedRecord:
    """One record as a specification.

    Args:
        path: the file of the record.
        id: the id of the specification.
        text: the specification file.
        warnings: what is odd about the record.
        gaps: what a person must fill in.
    """

    path: str
    id: str
    text: str
    warnings: tuple[ImportWarning, ...]
    gaps: tuple[RecordGap, ...]

    @property
    def file_name(self) -> str:
        """The name of the specification file: that of the record, in the house's letters."""
        return f"{Path(self.path).stem.lower().replace('_', '-')}{SUFFIX}"


def record_files(paths: Iterable[str]) -> tuple[Path, ...]:
    """The record files that paths mean: themselves, or the *.yaml directly in a directory, sorted.

    Raises:
        UnreadableFileError: a directory holds none.
    """
    found: list[Path] = []
    for path in map(Path, paths):
        held = sorted(path.glob("*.yaml")) if path.is_dir() else [path]
        if not held:
            raise UnreadableFileError("directory", "holds no file *.yaml", "check the path", value=str(path))
        found += held
    return tuple(dict.fromkeys(found))


def import_record(path: Path, registry: Registry) -> ImportedRecord:
    """The specification of one record file.

    Raises:
        as `read_yaml`, and every fault of `read_record`, with their lines.
    """
    file = read_yaml(path)
    record = record_in(file)
    made = _Import(file, record)
    text = made.text()
    read_text(
        text, registry, f"{path} (as a specification)"
    )  # what this module writes is a specification, whatever the record holds
    return ImportedRecord(path=str(path), id=made.id, text=text, warnings=tuple(made.warnings()), gaps=tuple(made.gaps()))


def import_records(paths: Iterable[Path], registry: Registry) -> tuple[ImportedRecord, ...]:
    """The specifications of record files; all faults of all files together.

    Raises:
        Faults: of any file, or two records that are the same specification.
    """
    faults: list[DpspecError] = []
    found: list[ImportedRecord] = []
    for path in paths:
        try:
            found.append(import_record(path, registry))
        except DpspecError as fault:
            faults.append(fault)
    raise_all([single for fault in faults for single in getattr(fault, "faults", (fault,))])
    check_ids(tuple(read_text(one.text, registry, one.path) for one in found))
    return tuple(found)


def write_records(found: Iterable[ImportedRecord], folder: Path) -> tuple[Path, ...]:
    """Write the specifications into a folder; no file is overwritten, and where one is in the way none is written.

    Raises:
        ReleaseError: a file exists already, two records have one file name, or the folder cannot be written.
    """
    targets = {one: folder / one.file_name for one in found}
    seen: set[Path] = set()
    for path in targets.values():
        if path.exists() or path in seen:
            rule = "is the file of two records" if path in seen else "exists already"
            raise ReleaseError("file", rule, "choose another --out, or move it away: nothing was written", value=str(path))
        seen.add(path)
    for one, path in targets.items():
        write_whole(path, one.text)
    return tuple(targets.values())


def record_in(file: YamlFile) -> RegistryRecord:
    """The record of a YAML file.

    Raises:
        the faults of `read_record`, each with its line.
    """
    faults: list[DpspecError] = []

    def fail(fault: DpspecError, path: str) -> None:
        fault.file, fault.line = file.path, file.line(path)
        faults.append(fault)

    record = read_record(file.data, fail)
    raise_all(sorted(faults, key=lambda fault: fault.line or 0))
    if record is None:  # no fault, yet no record: cannot happen while every failure is reported
        raise YamlError("file", "is no record")
    return record


# --- one record -----------------------------------------------------------------------------------


_LEVEL = re.compile(r"([a-z]+(?:-[a-z]+)*?)(?:[- ]level)?")
_WHOLE_USER = re.compile(r"\b(user|individual|person|people|customer|member)s?\b", re.IGNORECASE)
_PART_OF_USER = re.compile(r"\b(day|week|month|year|hour|session|event|visit|query|record)\b", re.IGNORECASE)
_DAILY = re.compile(r"\b(daily|per[- ]day|(each|every|single) (user-)?day|24 hours)\b", re.IGNORECASE)
_UNFINISHED = re.compile(r"\bTODO\b|\bFIXME\b")
_ARXIV = re.compile(r"https?://(?:www\.)?arxiv\.org/(?:abs|pdf|html)/([0-9]{4}\.[0-9]{4,5}(?:v[1-9][0-9]*)?)(?:\.pdf)?")
_DOI = re.compile(r"https?://(?:dx\.)?doi\.org/(10\.[0-9]{4,9}/\S+)")

_WORDS_OF = {
    "space": "dp_variant.data_domain",
    "multiverse": "dp_variant.unprotected_quantities",
    "input_divergence": "privacy_loss.privacy_unit_details",
    "mechanism": "implementation.mechanisms",
}
"""Where a record speaks of a block in words."""
_ASKED = {
    "space": "which datasets there are: the type of [space] and its attributes, in place of the stand-in",
    "multiverse": "what is published exactly, as invariants; or that nothing is",
    "input_divergence": "what one change is: added or removed, or replaced, and of which unit",
    "mechanism": "the mechanism, if its claim is to be verified",
}


@attrs.frozen
class _Standard:
    """What the variant and the numbers say: an output divergence, a budget, and how each is known."""

    divergence: dict[str, str]
    budget: dict[str, str] | None
    how: str
    because: str
    used: frozenset[str] = frozenset()


class _Import:
    """One record on its way into a specification."""

    def __init__(self, file: YamlFile, record: RegistryRecord) -> None:
        self.file, self.record = file, record
        self.given = {
            name: value for name in ("epsilon", "delta", "rho") if (value := record.get(f"{PARAMETERS}.{name}")) is not None
        }
        self.id = re.sub("[^a-z0-9]+", "-", record.text("url_slug").lower()).strip("-")
        if not self.id:
            fault = ParameterError("url_slug", "holds no letter or digit", "it names the record", value=record.text("url_slug"))
            fault.file, fault.line = file.path, file.line("url_slug")
            raise fault
        self.standard = self._standard()

    # -- the blocks -------------------------------------------------------------------------------

    def _standard(self) -> _Standard:
        """The output divergence and the budget; where variant and numbers disagree, what both readings allow."""
        variant, names = self.record.text("dp_variant.variant_name"), set(self.given)
        delta = self.given.get("delta")
        small = isinstance(delta, Decimal) and delta < 1 and "epsilon" in names
        approximate = {
            "type": VARIANTS["Approximate DP"].divergence,
            "delta": decimal_text(delta) if isinstance(delta, Decimal) else "",
        }
        pure, concentrated = ({"type": VARIANTS[name].divergence} for name in ("Pure DP", "Zero-concentrated DP"))
        with_delta = "the record says Pure DP and gives a delta: both readings imply the promise with the delta"
        only_rho = "the record names no variant; rho is the number of zero-concentrated privacy alone"
        only_delta = "the record names no variant; epsilon with a delta is approximate privacy"
        readings: tuple[tuple[bool, dict[str, str], str, str, set[str]], ...] = (
            (variant == "Pure DP" and "epsilon" in names and not delta, pure, "stated", "", {"epsilon"}),
            (variant == "Pure DP" and small, approximate, "inferred", with_delta, {"epsilon"}),
            (variant == "Approximate DP" and small, approximate, "stated", "", {"epsilon", "delta"}),
            (variant == "Zero-concentrated DP" and "rho" in names, concentrated, "stated", "", {"rho"}),
            (not variant and names == {"rho"}, concentrated, "inferred", only_rho, {"rho"}),
            (not variant and names == {"epsilon", "delta"} and small, approximate, "inferred", only_delta, {"epsilon"}),
        )
        for fits, divergence, how, because, used in readings:
            if fits:
                name = "rho" if "rho" in used else "epsilon"
                value = self.given[name]
                budget = {name: decimal_text(value)} if isinstance(value, Decimal) else None
                return _Standard(divergence, budget, how, because, frozenset(used))
        if variant in ("Pure DP", "Zero-concentrated DP"):
            return _Standard({"type": VARIANTS[variant].divergence}, None, "stated", "")
        said = f"the record says {variant}" if variant else "the record names no variant"
        missing = {
            "Approximate DP": " and no number for its delta",
            "Renyi DP": " and no order",
            "Custom": " and defines it in words",
        }
        return _Standard(pure, None, "assumed", f"{said}{missing.get(variant, '')}: pure privacy holds the place")

    def unit(self) -> str:
        """The unit as the record calls it, where that is one word or several with hyphens."""
        found = _LEVEL.fullmatch(self.record.text("privacy_loss.privacy_unit").lower().strip())
        return found[1] if found else "record"

    def provenance(self) -> dict[str, dict[str, Any]]:
        """How each block is known."""
        silent = "the record leaves it out"
        found: dict[str, dict[str, Any]] = {}
        for block in ("space", "multiverse", "input_divergence"):
            text = self.record.text(_WORDS_OF[block])
            words = f"the record's words are in deployment.prose.{_WORDS_OF[block]}" if text else silent
            found[block] = {"how": "assumed", "because": f"holds the place until a person fills it in: {words}"}
        standard = self.standard
        found["output_divergence"] = _known(standard.how, standard.because)
        lacking = "the record gives no number for this output divergence"
        found["budget"] = _known("stated", "") if standard.budget else _known("assumed", lacking)
        return found

    # -- the file ---------------------------------------------------------------------------------

    def text(self) -> str:
        """The specification file."""
        unit, provenance = self.unit(), self.provenance()
        title = " ".join(self.record.text("basic.name").split())
        texts = [self.record.text("dp_variant.variant_name"), self.record.text("privacy_loss.privacy_unit"), *self._numbers()]
        words = "; ".join(" ".join(word.split()) for word in texts if word) or "nothing of its promise"
        assumed = any(one["how"] == "assumed" for one in provenance.values())
        explained = [("assumed-block", "the blocks hold places until a person fills them in")] if assumed else []
        explained += [] if self.standard.budget else [("no-number", "the record gives no number that is a budget of its variant")]
        because = f"a record of the registry holds words and no mechanism; it says: {words}"
        parts = [
            "# Made from a record of the deployments registry. What is assumed holds a place: dpspec registry import lists it.",
            f"schema = 1\nid = {_quoted(self.id)}\ntitle = {_quoted(title)}",
            _table("space", {"type": "records", "unit": unit, "attributes": [{"name": self.id, "count": 2}]}),
            _table("multiverse", {"invariants": []}),
            _table("input_divergence", {"type": "symmetric-difference", "unit": unit}),
            _table("output_divergence", self.standard.divergence),
            _table("budget", self.standard.budget or {"stated": False}),
            _table("claim", {"verdict": "undecided", "because": because}),
            *(_table("[explained]", {"finding": code, "because": why}) for code, why in explained),
            _table("deployment", self.deployment()),
            _table("deployment.prose", self.prose()),
            *(_table("[source]", source) for source in self.sources()),
            _table("provenance", provenance),
        ]
        return "\n\n".join(parts) + "\n"

    def _numbers(self) -> Iterator[str]:
        for name, value in self.given.items():
            yield f"{name} = {decimal_text(value) if isinstance(value, Decimal) else value}"

    def deployment(self) -> dict[str, Any]:
        """The fields of [deployment]."""
        found: dict[str, Any] = {}
        for path, (key, words) in HOMES.items():
            value = self.record.get(path)
            if value is not None:
                word = str(value) if words is None else words.get(str(value), str(value).lower())
                found[key] = list(value) if isinstance(value, tuple) else word
        return found

    def prose(self) -> dict[str, str]:
        """Every text of the record that has no other place, under its path; the table is sorted, as the reader keeps it."""
        found: dict[str, str] = {}
        for path, value in self.record.values:
            name = path.removeprefix(f"{PARAMETERS}.")
            if (
                path in HOMES
                or (path == "dp_variant.variant_name" and self.standard.how == "stated")
                or name in self.standard.used
            ):
                continue
            if isinstance(value, tuple):
                found |= {f"{path}[{place}]": entry for place, entry in enumerate(value)}
            else:
                found[path] = decimal_text(value) if isinstance(value, Decimal) else str(value)
        return dict(sorted(found.items()))

    def sources(self) -> Iterator[dict[str, str]]:
        """The record itself, and what it names under `sources` by an address."""
        slug = " ".join(self.record.text("url_slug").split())
        yield {
            "id": RECORD,
            "title": f"Record {slug} of the Differential Privacy Deployments Registry",
            "publisher": "OpenDP",
            "url": "https://github.com/opendp/deployments-registry-data",
        }
        listed: set[str] = set()
        for found in URLS.findall(self.record.text("administrative.sources")):
            url = found.rstrip(".'>]*")  # the full stop or quotation mark that ends the sentence
            if url in listed or not url_has_shape(url):
                continue
            listed.add(url)
            arxiv, doi = _ARXIV.fullmatch(url), _DOI.fullmatch(url)
            yield {"arxiv": arxiv[1]} if arxiv else {"doi": doi[1]} if doi else {"url": url}

    # -- messages about the file --------------------------------------------------------------------

    def warnings(self) -> Iterator[ImportWarning]:
        """What is odd about the record."""
        variant, names = self.record.text("dp_variant.variant_name"), set(self.given)
        delta = self.given.get("delta")
        if variant == "Pure DP" and delta is not None and delta != 0:
            yield self._warning(
                "pure-with-delta", f"{PARAMETERS}.delta", "Pure DP has no delta: one of the two is not what is meant"
            )
        if variant == "Approximate DP" and "delta" not in names:
            yield self._warning(
                "approximate-without-delta", "dp_variant.variant_name", "Approximate DP promises nothing without a delta"
            )
        if isinstance(delta, str):
            yield self._warning("delta-in-words", f"{PARAMETERS}.delta", f"the delta is no number: {delta}")
        own = VARIANTS[variant].parameters if variant in VARIANTS else frozenset({"epsilon", "delta"} if not variant else ())
        if names - own and len(names) > 1:
            message = f"{', '.join(sorted(names))} together: which of them is the promise, and which were converted from it?"
            yield self._warning("several-parameters", PARAMETERS, message)
        if names and own and variant and not names & own:
            yield self._warning(
                "other-parameter", PARAMETERS, f"{variant} is stated by {' and '.join(sorted(own))}, which is not given"
            )
        if names and not variant:
            yield self._warning("no-variant", PARAMETERS, "numbers without the name of a variant")
        for name, value in self._written():
            if (
                isinstance(value, str | UnquotedScalar)
                and isinstance(self.given.get(name), Decimal)
                and getattr(value, "looks", "text") == "text"
            ):
                message = f"{value} is a text to YAML 1.1: write {decimal_text(Decimal(str(value)))}"
                yield self._warning("number-as-text", f"{PARAMETERS}.{name}", message)
        yield from self._about_time()
        kind, access = self.record.text("basic.data_product_type"), self.record.text("deployment_model.access_type")
        if kind == "Interactive API" and access == "Non-interactive":
            yield self._warning("interactive-api", "deployment_model.access_type", "an Interactive API that is Non-interactive")
        for fault, path, line in registry_checks(Path(self.file.path).name, self.record, self.file.folded):
            yield ImportWarning(
                code="registry-check", field=path, line=line or self._line(path), message=f"{fault.subject}: {fault.rule}"
            )
        if self._former():
            yield ImportWarning(code="former-naming", field="deployment", line=self._line(""), message=f"read: {self._former()}")

    def _about_time(self) -> Iterator[ImportWarning]:
        unit = self.record.text("privacy_loss.privacy_unit")
        if not _WHOLE_USER.search(unit) or _PART_OF_USER.search(unit):
            return
        for path in (
            "deployment_model.release_type_details", "accounting.composition", "privacy_loss.privacy_parameters_details",
            "privacy_loss.privacy_unit_details",
        ):  # fmt: skip
            found = _DAILY.search(self.record.text(path))
            if found is not None:
                message = f"the unit is {unit}, and {path} says {found[0]!r}: does the budget renew every day?"
                yield self._warning("user-level-resets", "privacy_loss.privacy_unit", message)
                return

    def _written(self) -> Iterator[tuple[str, Any]]:
        """The parameters as written in the file."""
        table = self.file.data.get("deployment", {}).get("privacy_loss", {}).get("privacy_parameters", {})
        yield from table.items()

    def _former(self) -> str:
        """What is called by a former name in the file."""
        deployment = self.file.data["deployment"]
        found = [f"{old} as {new}" for old, new in FORMER_TABLES.items() if old in deployment]
        for field in FIELDS:
            table = field.path.rpartition(".")[0]
            held = deployment.get(table) or next(
                (deployment.get(old) for old, new in FORMER_TABLES.items() if new == table), None
            )
            if field.formerly and isinstance(held, dict) and field.formerly in held:
                found.append(f"{field.formerly} as {field.name}")
        return ", ".join(found)

    def _warning(self, code: str, path: str, message: str) -> ImportWarning:
        return ImportWarning(code=code, field=path, line=self._line(path), message=" ".join(message.split()))

    def _line(self, path: str) -> int:
        """The line of a path of the current naming."""
        whole = f"deployment.{path}"
        for old, new in FORMER_TABLES.items():
            if whole not in self.file.lines and path.partition(".")[0] == new and f"deployment.{old}" in self.file.lines:
                whole = f"deployment.{old}.{path.partition('.')[2]}"
        return self.file.line(path if path in self.file.lines else whole)

    def gaps(self) -> Iterator[RecordGap]:
        """What a person must fill in: blocks first, then fields of the record."""
        for block, asked in _ASKED.items():
            stated = self.record.text(_WORDS_OF[block])
            where = f"; the record's words: deployment.prose.{_WORDS_OF[block]}" if stated else "; the record says nothing of it"
            yield RecordGap(field=block, message=asked + where)
        if self.standard.how != "stated":
            yield RecordGap(field="output_divergence", message=f"how two laws are compared; {self.standard.because}")
        if self.standard.budget is None:
            given = "; ".join(self._numbers()) or "the record gives no number"
            yield RecordGap(field="budget", message=f"the number; {given}")
        tier = self.record.get("tier")
        for field in FIELDS:
            held = self.record.get(field.path)
            if (
                held is None
                and field.tier <= (tier if isinstance(tier, int) else 1)
                and not field.path.startswith(PARAMETERS + ".")
            ):
                yield RecordGap(field=field.path, message=f"{_LEFT_OUT}; tier {field.tier} asks for it")
        for path, text in self.record.texts():
            if _UNFINISHED.search(text):
                yield RecordGap(field=path, message="unfinished: the text says TODO")


def _known(how: str, because: str) -> dict[str, Any]:
    return {"how": how, **({"source": [RECORD]} if how != "assumed" else {}), **({"because": because} if because else {})}


# --- output ---------------------------------------------------------------------------------------


def import_data(found: ImportedRecord, written: Path) -> JsonData:
    """What became of one record, as data."""
    return {
        "path": found.path,
        "id": found.id,
        "written": str(written),
        "warnings": [attrs.asdict(warning) for warning in found.warnings],
        "fill_in": [attrs.asdict(gap) for gap in found.gaps],
    }


def import_text(found: ImportedRecord, written: Path) -> str:
    """The same for people."""
    lines = [f"{found.path} -> {written}"]
    lines += [f"  warning: {found.path}:{one.line}: {one.field}: {one.message} ({one.code})" for one in found.warnings]
    left = [one.field for one in found.gaps if one.message.startswith(_LEFT_OUT)]
    lines += [f"  fill in {one.field}: {one.message}" for one in found.gaps if one.field not in left]
    lines += [f"  the record leaves out: {', '.join(left)}"] if left else []
    return "\n".join(lines)


def missing_by_field(found: Sequence[ImportedRecord]) -> dict[str, list[str]]:
    """For each block and field that a person must fill in, the records that lack it; what most lack first."""
    lacking: dict[str, list[str]] = {}
    for one in found:
        for field in dict.fromkeys(gap.field for gap in one.gaps):
            lacking.setdefault(field, []).append(one.id)
    return dict(sorted(lacking.items(), key=lambda item: (-len(item[1]), item[0])))


def missing_text(found: Sequence[ImportedRecord]) -> str:
    """The same for people, with the number of records."""
    lacking = missing_by_field(found)
    if not lacking:
        return f"nothing is missing in {count(len(found), 'record')}"
    width = len(str(len(found)))
    lines = [f"missing in {count(len(found), 'record')}, by field:"]
    return "\n".join([*lines, *(f"  {len(records):>{width}} of {len(found)}  {field}" for field, records in lacking.items())])


# --- TOML -----------------------------------------------------------------------------------------


def _table(name: str, rows: dict[str, Any]) -> str:
    return "\n".join([f"[{name}]", *(f"{_key(key)} = {_toml(value)}" for key, value in rows.items())])


def _key(key: str) -> str:
    return key if re.fullmatch("[A-Za-z0-9_-]+", key) else _quoted(key)


def _toml(value: Any) -> str:
    write = next((write for kind, write in _WRITTEN.items() if isinstance(value, kind)), _prose)
    return write(value)


def _inline(rows: dict[str, Any]) -> str:
    return "{ " + ", ".join(f"{_key(key)} = {_quoted(v) if isinstance(v, str) else _toml(v)}" for key, v in rows.items()) + " }"


def _list(entries: list[Any]) -> str:
    return "[" + ", ".join(_quoted(entry) if isinstance(entry, str) else _toml(entry) for entry in entries) + "]"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")  # JSON allows it as it is, TOML does not


def _prose(text: str) -> str:
    """A text as it is read best: several lines as lines, backslashes as they are.

    >>> print(_prose("a\\nb"), _prose("(x)"))
    '''
    a
    b''' "(x)"
    """
    if "'" * 3 in text or text.endswith("'") or ("\n" not in text and "'" in text):
        return _quoted(text)
    if "\n" in text:
        return f"'''\n{text}'''"
    return f"'{text}'" if "\\" in text or '"' in text else _quoted(text)


_WRITTEN: dict[type, Any] = {bool: lambda value: "true" if value else "false", int: str, dict: _inline, list: _list}
"""How plain values are written; bool precedes int, of which it is a subclass."""
