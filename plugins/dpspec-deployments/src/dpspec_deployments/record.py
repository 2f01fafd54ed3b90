"""A record of the Differential Privacy Deployments Registry: its fields, and one record as a value.

The registry (opendp/deployments-registry-data) keeps one record for each deployment, under a schema without a version number. Its
fields are stated here once, as of 2026-07-15; former names of fields are read as well. A record is kept as
pairs of dotted path and value, in the order of the schema: texts, lists of texts, and numbers as exact decimals.

`read_record` is the only judge of what a record may hold, whether it comes from a YAML file or is made of a specification. It is
stricter than the registry's JSON schema in three things: a required text is not empty; numbers are not negative, a delta is at
most 1; the two details that the schema lets be anything are texts. An empty text elsewhere is a field that is left out.

`registry_checks` implements the requirements of the registry's check script on a record's file: its name, its quoting, its
LaTeX, its addresses. The script requests every address; here only the format of an address is checked, and
no request is made.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

import attrs

from dpspec import DpspecError
from dpspec.plugin import ParameterError
from dpspec.plugin.applications import (
    MissingKeyError,
    RecordVersionError,
    RegistryCheckError,
    UnknownKeyError,
    WrongShapeError,
    did_you_mean,
)

NUMERAL = re.compile(r"[-+]?(?:(?:0|[1-9][0-9]{0,39})(?:\.[0-9]{0,60})?|\.[0-9]{1,60})(?:[eE][-+]?[0-9]{1,2})?")
"""A decimal number of at most 100 digits; 010 is none, which YAML takes for 8."""

_UNWRITTEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
"""What no text of a record holds: characters that a terminal obeys, and those that files cannot carry."""
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")

FieldValue = str | int | Decimal | tuple[str, ...]
"""The value of a field."""


@attrs.frozen(kw_only=True)
class UnquotedScalar:
    """An unquoted scalar of YAML that is no plain word.

    Args:
        written: exactly as in the file.
        looks: what YAML 1.1 takes it for; "text" for a number like 1e-5, which it does not know as one.
    """

    written: str
    looks: str

    def __str__(self) -> str:
        return self.written


@attrs.frozen(kw_only=True)
class RecordField:
    """One field of the schema.

    Args:
        path: the dotted path below ``deployment``, or one of url_slug, status, tier.
        kind: text, choice, date, texts, number, number-or-text, or tier.
        choices: the values that a choice may have.
        required: whether every record has it.
        tier: the tier that requires it.
        formerly: the name of the last part of its path before July 2026.
    """

    path: str
    kind: str = "text"
    choices: tuple[str, ...] = ()
    required: bool = False
    tier: int = 1
    formerly: str | None = None

    @property
    def name(self) -> str:
        return self.path.rpartition(".")[2]


_STATUS = ("Converted", "Draft", "Pending", "Changes Required", "Approved", "Approved (Update Requested)", "Approved (Pending)")
_PRODUCTS = ("Summary statistics", "Machine learning model", "Dataset", "Synthetic data", "Interactive API", "SQL queries")
_SECTORS = ("Technology", "Healthcare", "Education", "Government", "Energy", "Finance")
_VARIANTS = ("Pure DP", "Approximate DP", "Zero-concentrated DP", "Renyi DP", "Custom")
_MODELS = ("Local", "Central", "Shuffle", "Federated", "Varies")


def _choice(
    path: str, choices: tuple[str, ...], *, tier: int = 2, required: bool = False, formerly: str | None = None
) -> RecordField:
    return RecordField(path=path, kind="choice", choices=choices, tier=tier, required=required, formerly=formerly)


def _text(path: str, tier: int = 3, formerly: str | None = None) -> RecordField:
    return RecordField(path=path, tier=tier, formerly=formerly)


FIELDS: tuple[RecordField, ...] = (
    RecordField(path="url_slug", required=True),
    _choice("status", _STATUS, tier=1, required=True),
    RecordField(path="tier", kind="tier", required=True),
    RecordField(path="basic.name", required=True),
    RecordField(path="basic.data_curators", kind="texts", required=True),
    RecordField(path="basic.intended_use", required=True),
    _choice("basic.data_product_type", _PRODUCTS, tier=1, required=True),
    RecordField(path="basic.data_product_region", required=True),
    RecordField(path="basic.description", required=True),
    RecordField(path="basic.publication_date", kind="date", required=True),
    _choice("basic.data_product_sector", _SECTORS, tier=1),
    _choice("dp_variant.variant_name", _VARIANTS, formerly="name"),
    _text("dp_variant.data_domain"),
    _text("dp_variant.unprotected_quantities"),
    _text("privacy_loss.privacy_unit", tier=2),
    _text("privacy_loss.privacy_unit_details", formerly="privacy_unit_description"),
    RecordField(path="privacy_loss.privacy_parameters.epsilon", kind="number", tier=2),
    RecordField(path="privacy_loss.privacy_parameters.delta", kind="number-or-text", tier=2),
    RecordField(path="privacy_loss.privacy_parameters.rho", kind="number", tier=2),
    _text("privacy_loss.privacy_parameters_details", formerly="privacy_parameters_description"),
    _choice("deployment_model.model_name", _MODELS),
    _text("deployment_model.model_name_details", formerly="model_name_description"),
    _text("deployment_model.actors"),
    _choice("deployment_model.release_type", ("One release", "Many releases")),
    _text("deployment_model.release_type_details", formerly="release_type_description"),
    _choice("deployment_model.data_source_type", ("Static", "Dynamic")),
    _text("deployment_model.data_source_type_details", formerly="data_source_type_description"),
    _choice("deployment_model.access_type", ("Interactive", "Non-interactive")),
    _text("deployment_model.access_type_details", formerly="access_type_description"),
    _text("accounting.post_processing"),
    _text("accounting.composition"),
    _text("implementation.preprocessing_and_hyperparameter_tuning", formerly="pre_processing_eda_hyperparameter_tuning"),
    _text("implementation.mechanisms"),
    _text("implementation.justification"),
    _text("administrative.sources", tier=1),
    _text("administrative.notes", tier=1),
    RecordField(path="administrative.registry_authors", kind="texts"),
)
"""The fields in the order of the schema; `registry_authors` is required where there is a table `administrative`."""

FORMER_TABLES = {"product": "basic", "dp_flavor": "dp_variant", "model": "deployment_model", "resources": "administrative"}
"""What tables were called before July 2026."""
PARAMETERS = "privacy_loss.privacy_parameters"
TOP = ("url_slug", "status", "tier")

_BY_PATH = {field.path: field for field in FIELDS}
_TABLES = tuple(dict.fromkeys(field.path.partition(".")[0] for field in FIELDS if "." in field.path))

_OTHER_VERSIONS = {
    "a later": (
        "deployment.administrative.evidence_sources", "deployment.administrative.status", "deployment.administrative.tier",
        "deployment.privacy_loss.number_of_privacy_units", "deployment.deployment_model.trust_assumptions",
        "deployment.implementation.composition", "deployment.implementation.post_processing", "deployment.implementation.utility",
        "deployment.implementation.additional_information",
    ),
    "an earlier": (
        "approved", "registry_author", "registry_authors", "deployment.short_name", "deployment.name", "deployment.data_curator",
        "deployment.publication_date", "deployment.deployment_model.model_type", "deployment.deployment_model.is_many_release",
        "deployment.deployment_model.is_dynamic", "deployment.deployment_model.is_interactive",
        "deployment.deployment_model.interactivity", "deployment.dp_variant.input_metric",
        "deployment.dp_variant.bound_on_input_distance", "deployment.dp_variant.output_measure",
        "deployment.dp_variant.bound_on_output_distance",
    ),
    "an unknown": ("schema", "version", "schema_version"),
}  # fmt: skip
"""Fields that only records of other versions of the schema have; the schema itself has no number."""


@attrs.frozen(kw_only=True)
class RegistryRecord:
    """One record.

    Args:
        values: pairs of the path of a field and what it holds, in the order of `FIELDS`.
    """

    values: tuple[tuple[str, FieldValue], ...]

    def get(self, path: str) -> FieldValue | None:
        """What a field holds; None where the record leaves it out."""
        return dict(self.values).get(path)

    def text(self, path: str) -> str:
        """The text of a field; empty where the record leaves it out."""
        value = self.get(path)
        return value if isinstance(value, str) else ""

    def texts(self) -> Iterator[tuple[str, str]]:
        """Every text with its path, those in lists included."""
        for path, value in self.values:
            for place, entry in enumerate(value if isinstance(value, tuple) else ()):
                yield f"{path}[{place}]", entry
            if isinstance(value, str):
                yield path, value


def record_of(values: Mapping[str, FieldValue]) -> RegistryRecord:
    """The record of these values, in the order of the schema."""
    return RegistryRecord(values=tuple((field.path, values[field.path]) for field in FIELDS if field.path in values))


def nested(record: RegistryRecord) -> dict[str, Any]:
    """The record as the mappings of its YAML file."""
    found: dict[str, Any] = {}
    for path, value in record.values:
        parts = path.split(".") if path in TOP else ["deployment", *path.split(".")]
        table = found
        for part in parts[:-1]:
            table = table.setdefault(part, {})
        table[parts[-1]] = value
    found.setdefault("deployment", {})
    return found


# --- reading --------------------------------------------------------------------------------------


Fail = Callable[[DpspecError, str], None]
"""Takes a fault, and the path of what it is about."""


def read_record(data: Mapping[str, Any], fail: Fail) -> RegistryRecord | None:
    """The record that the mappings of a YAML file hold; every fault is handed to `fail`, and then there is no record."""
    reader = _RecordReader(fail)
    reader.read(data)
    return None if reader.failed else record_of(reader.values)


_FIELDS_ADVICE = "docs/registry.md lists the fields"


class _RecordReader:
    """Reads the tables of one record in turn, so that a fault in one field does not hide the others."""

    def __init__(self, fail: Fail) -> None:
        self._fail = fail
        self.values: dict[str, FieldValue] = {}
        self.failed = False
        self._read: dict[str, Callable[[RecordField, Any, str], FieldValue | None]] = {
            "text": self._text, "choice": self._choice, "date": self._date, "texts": self._texts, "number": self._number,
            "number-or-text": self._delta, "tier": self._tier,
        }  # fmt: skip

    def fail(self, fault: DpspecError, path: str) -> None:
        self.failed = True
        self._fail(fault, path)

    def read(self, data: Mapping[str, Any]) -> None:
        if self._states_another_version(data):
            return
        for key, value in data.items():
            if key in TOP:
                self._field(_BY_PATH[key], value, key)
            elif key != "deployment":
                self._unknown(key, key, (*TOP, "deployment"))
        deployment = data.get("deployment")
        if not isinstance(deployment, Mapping):
            fault = WrongShapeError("deployment", f"must be a mapping, not {_shape(deployment)}", "it holds basic and the others")
            missing = MissingKeyError("deployment", "is missing", "a record has url_slug, status, tier and deployment")
            if "deployment" in data or not self.failed:  # an unknown key may be meant for it
                self.fail(fault if "deployment" in data else missing, "deployment")
            return
        tables: set[str] = set()
        for key, value in deployment.items():
            shown, name = f"deployment.{key}", FORMER_TABLES.get(key, key)
            if name not in _TABLES:
                self._unknown(shown, key, _TABLES)
            elif name in tables:
                self.fail(UnknownKeyError(shown, f"occurs twice, under both names of {name}", "keep one"), shown)
            else:
                tables.add(name)
                self._table(name, value, shown)
        self._check_required(tables)

    def _states_another_version(self, data: Mapping[str, Any]) -> bool:
        """Whether a field is there that only another version of the schema has; one fault says so, not one for each field."""
        deployment = data.get("deployment")
        held = {"": ("", data), "deployment": ("deployment.", deployment)}
        for key, value in deployment.items() if isinstance(deployment, Mapping) else ():
            held.setdefault(f"deployment.{FORMER_TABLES.get(key, key)}", (f"deployment.{key}.", value))
        for which, paths in _OTHER_VERSIONS.items():
            for path in paths:
                table, _, key = path.rpartition(".")
                shown, fields = held.get(table, ("", None))
                if isinstance(fields, Mapping) and key in fields:
                    rule = f"makes this a record of {which} version of the registry's schema"
                    advice = "that of July 2026 is read, in both its namings: convert the record"
                    self.fail(RecordVersionError(shown + key, rule, advice), shown + key)
                    return True
        return False

    def _table(self, table: str, value: Any, shown: str) -> None:
        if not isinstance(value, Mapping):
            self.fail(
                WrongShapeError(shown, f"must be a table, not {_shape(value)}", "write its fields in it, or leave it out"), shown
            )
            return
        below = {field.name: field for field in FIELDS if field.path.rpartition(".")[0] == table}
        former = {field.formerly: field for field in below.values() if field.formerly}
        for key, entry in value.items():
            path = f"{shown}.{key}"
            field = below.get(key) or former.get(key)
            if f"{table}.{key}" == PARAMETERS:
                self._table(PARAMETERS, entry, path)
            elif field is None:
                self._unknown(path, key, below)
            elif field.path in self.values:
                self.fail(UnknownKeyError(path, f"occurs twice, under both names of {field.name}", "keep one"), path)
            else:
                self._field(field, entry, path)

    def _unknown(self, path: str, key: str, known: Any) -> None:
        self.fail(UnknownKeyError(path, "is no field of a record", did_you_mean(key, known) or _FIELDS_ADVICE), path)

    def _field(self, field: RecordField, value: Any, path: str) -> None:
        read = self._read[field.kind](field, value, path)
        if read is not None and (read != "" or field.required):
            self.values[field.path] = read

    def _check_required(self, tables: set[str]) -> None:
        wanted = [field.path for field in FIELDS if field.required]
        if "administrative" in tables:
            wanted.append("administrative.registry_authors")
        for path in wanted:
            if path not in self.values and not self.failed:
                shown = path if path in TOP else f"deployment.{path}"
                self.fail(MissingKeyError(shown, "is missing", "every record has it"), shown)

    # -- values -----------------------------------------------------------------------------------

    def _text(self, field: RecordField, value: Any, path: str) -> str | None:
        if isinstance(value, UnquotedScalar) and value.looks == "text":
            value = value.written
        if not isinstance(value, str):
            is_written = isinstance(value, UnquotedScalar) and value.looks != "nothing"
            advice = "quote it" if is_written else "write a text, or leave the field out"
            self.fail(WrongShapeError(path, f"must be a text, not {_shape(value)}", advice, value=str(value)), path)
            return None
        found = _UNWRITTEN.search(value)
        if found is not None:
            self.fail(ParameterError(path, f"holds the character U+{ord(found[0]):04X}", "take it out"), path)
            return None
        if value.strip():
            return value
        if field.required or field.kind == "texts":
            self.fail(ParameterError(path, "is empty", "every record has it"), path)
            return None
        return ""

    def _choice(self, field: RecordField, value: Any, path: str) -> str | None:
        read = self._text(field, value, path)
        if read and read not in field.choices:
            advice = did_you_mean(read, field.choices) or f"write one of {', '.join(field.choices)}"
            self.fail(ParameterError(path, "is none of the registry's words", advice, value=read), path)
            return None
        return read

    def _date(self, field: RecordField, value: Any, path: str) -> str | None:
        if isinstance(value, UnquotedScalar) and value.looks == "date":
            rule = "is a date to YAML, and the registry wants a text"
            self.fail(WrongShapeError(path, rule, f"write '{value}'", value=str(value)), path)
            return None
        read = self._text(field, value, path)
        if read is None:
            return None
        try:
            if not _DATE.fullmatch(read) or not read.isascii():
                raise ValueError
            datetime.date.fromisoformat(read)
        except ValueError:
            self.fail(ParameterError(path, "is no date", "write YYYY-MM-DD, with 01 for what is not known", value=read), path)
            return None
        return read

    def _texts(self, field: RecordField, value: Any, path: str) -> tuple[str, ...] | None:
        if not isinstance(value, list | tuple) or not value:
            rule = f"must be a list of texts, not {_shape(value)}" if value != [] else "must hold at least one text"
            self.fail(WrongShapeError(path, rule, "write each in a line of its own: - 'name'"), path)
            return None
        read = [self._text(field, entry, f"{path}[{place}]") for place, entry in enumerate(value)]
        return tuple(entry for entry in read if entry is not None)

    def _number(self, field: RecordField, value: Any, path: str) -> Decimal | None:
        written = str(value) if isinstance(value, UnquotedScalar | Decimal) else None
        if isinstance(value, str):
            rule, advice = "is a text, and a number belongs here", "leave the quotes out"
            if not NUMERAL.fullmatch(value):
                rule, advice = "is no number", "write a decimal number, or leave the field out"
            self.fail(WrongShapeError(path, rule, advice, value=value), path)
            return None
        if written is None or not NUMERAL.fullmatch(written):
            shape = f"not {_shape(value)}" if written is None else "such as 2.64 or 1.0e-10"
            self.fail(
                WrongShapeError(
                    path,
                    f"must be a decimal number, {shape}",
                    "40 digits before the point, 60 behind it, an exponent of two",
                    value=str(value),
                ),
                path,
            )
            return None
        return self._in_range(field, Decimal(written), path)

    def _in_range(self, field: RecordField, number: Decimal, path: str) -> Decimal | None:
        if number < 0 or (field.name == "delta" and number > 1):
            rule = "is no probability" if field.name == "delta" else "is below 0"
            self.fail(ParameterError(path, rule, "write it as it was published", value=str(number)), path)
            return None
        return number

    def _delta(self, field: RecordField, value: Any, path: str) -> Decimal | str | None:
        """A number, a formula in words, or a number that is a text: YAML 1.1 makes one of 1e-5."""
        if isinstance(value, str) and NUMERAL.fullmatch(value):
            return self._in_range(field, Decimal(value), path)
        if isinstance(value, str):
            return self._text(field, value, path)
        return self._number(field, value, path)

    def _tier(self, field: RecordField, value: Any, path: str) -> int | None:
        written = str(value) if isinstance(value, UnquotedScalar) or type(value) is int else None
        if written not in ("1", "2", "3"):
            self.fail(
                ParameterError(path, "must be 1, 2 or 3, unquoted", "it says how complete the record is", value=str(value)), path
            )
            return None
        return int(written)


def _shape(value: Any) -> str:
    """What a value is, in words."""
    if isinstance(value, UnquotedScalar):
        return {"nothing": "nothing", "text": "a number"}.get(value.looks, f"a {value.looks}")
    return next((word for kind, word in _SHAPES.items() if isinstance(value, kind)), "a number")


_SHAPES: dict[type, str] = {Mapping: "a table", list: "a list", tuple: "a list", str: "a text", bool: "a truth value"}


# --- the registry's check script ------------------------------------------------------------------


FILE_NAME = re.compile(r"[a-z0-9_]+\.yaml")
URLS = re.compile(r'https?://[^ \t\n,;)"]+')
"""The pattern of addresses in the script, anywhere in a text."""
_DOUBLED = re.compile(r"\\\\[^()]")
_ADDRESS = re.compile(r"https?://[\w-]+(?:\.[\w-]+)+(?::[0-9]{1,5})?(?:[/?#]\S*)?")


def registry_checks(
    name: str, record: RegistryRecord, folded: Sequence[int] = ()
) -> Iterator[tuple[RegistryCheckError, str, int | None]]:
    """What the script would refuse: the fault, the path that it is about, and the line where that is known.

    Args:
        name: the name of the file, without its folder.
        record: the record in it.
        folded: the lines on which its folded blocks begin.
    """
    if FILE_NAME.fullmatch(name) is None:
        rule = "is no name of a record"
        yield RegistryCheckError("file", rule, "lower-case letters, digits and _ before .yaml", value=name), "", 1
    for line in folded:
        yield RegistryCheckError("block", "is folded (>), which loses its line ends", "write | in its place"), "", line
    for path, text in record.texts():
        doubled = _DOUBLED.search(text)
        if doubled is not None:
            rule = f"holds {doubled[0]!a}"
            yield (
                RegistryCheckError(path, rule, "two backslashes precede only ( or ); LaTeX between them has one"),
                path,
                None,
            )
        for url in URLS.findall(text):
            if not url_has_shape(url):
                yield RegistryCheckError(path, "holds an address without the shape of one", "correct it", value=url), path, None


def url_has_shape(url: str) -> bool:
    """Whether an address has a host with a dot in it, and no blanks.

    >>> url_has_shape("https://example.org/a"), url_has_shape("https://localhost"), url_has_shape("http://")
    (True, False, False)
    """
    return _ADDRESS.fullmatch(url) is not None
