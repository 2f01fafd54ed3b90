"""A specification file as a record of the deployments registry: in its own words, or in words derived from its blocks.

Texts from a record are written unchanged: ``[deployment]`` and ``[deployment.prose]`` hold them. Where the file has no words of
its own, they are derived from a block, if the file states that block: an assumed or inferred block is not attributed to the
publisher.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from dpspec import DpspecError
from dpspec.plugin import ParameterError
from dpspec.plugin.applications import (
    FilePositions,
    JsonData,
    MissingKeyError,
    OwnFaultError,
    ReleaseError,
    budget_in_words,
    multiverse_in_words,
    parameters,
    parse,
    part_in_words,
    raise_all,
    space_in_words,
    thing_in_words,
    write_whole,
)
from dpspec_deployments.record import (
    FIELDS,
    PARAMETERS,
    RegistryRecord,
    read_record,
    registry_checks,
)
from dpspec_deployments.record_import import HOMES, RECORD, VARIANTS, record_in
from dpspec_deployments.yaml import read_yaml_text, to_yaml

if TYPE_CHECKING:
    from dpspec import SpecDocument

_KNOWN = {field.path: field for field in FIELDS}
_DECIMAL = re.compile(r"[0-9]{1,100}(\.[0-9]{1,100})?(e[+-]?[0-9]{1,3})?")
_AUTHOR = re.compile(r"administrative\.registry_authors\[([0-9]{1,3})\]")


@attrs.frozen(kw_only=True)
class ExportedRecord:
    """One specification as a record.

    Args:
        record: the record.
        text: its YAML file.
        made: the fields whose words were made of blocks.
        left_out: what of the file no field of a record holds.
    """

    record: RegistryRecord
    text: str
    made: tuple[str, ...]
    left_out: tuple[str, ...]


def export_record(document: SpecDocument, name: str, authors: tuple[str, ...] = ()) -> ExportedRecord:
    """The record of a specification.

    Args:
        document: the specification.
        name: the name of the YAML file.
        authors: who writes the record, where the file does not say it.

    Raises:
        Faults: of a field that the registry requires and the file does not have, or that its schema or its check script rejects.
    """
    made = _Export(document, authors)
    faults: list[DpspecError] = []

    def fail(fault: DpspecError, path: str) -> None:
        fault.file, fault.line = document.path, made.line(path.removeprefix("deployment."))
        faults.append(fault)

    data = made.data(fail)
    record = None if faults else read_record(data, fail)
    for found, path, _ in registry_checks(name, record) if record is not None else ():
        fail(found, path)
    raise_all(faults)
    if record is None:  # no fault, yet no record: cannot happen while every failure is reported
        raise OwnFaultError("record", "cannot be made of the file")
    text = to_yaml(record)
    # The text is what is published: it is read back as any record of a stranger.
    if record_in(read_yaml_text(text, name)) != record:
        raise OwnFaultError("record", "is not read back as it was written", "please report the file")
    return ExportedRecord(record=record, text=text, made=tuple(made.made), left_out=tuple(made.left_out()))


def write_record(found: ExportedRecord, path: Path) -> None:
    """Write the file of a record; an existing file is not overwritten.

    Raises:
        ReleaseError: it exists already, or cannot be written.
    """
    if path.exists():
        raise ReleaseError("file", "exists already", "choose another --out, or move it away", value=str(path))
    write_whole(path, found.text)


_DETAILS, _MECHANISMS = "privacy_loss.privacy_parameters_details", "implementation.mechanisms"
_COMPOSITION, _STEPS = "accounting.composition", "implementation.preprocessing_and_hyperparameter_tuning"
_BLOCK_WORDS = {
    "space": ("dp_variant.data_domain",),
    "multiverse": ("dp_variant.unprotected_quantities",),
    "input_divergence": ("privacy_loss.privacy_unit", "privacy_loss.privacy_unit_details"),
    "output_divergence": ("dp_variant.variant_name",),
    "budget": (f"{PARAMETERS}.epsilon", f"{PARAMETERS}.rho", _DETAILS),
    "mechanism": (_MECHANISMS,),
}
"""The fields of a record that say each block."""


class _Export:
    """One specification on its way into a record."""

    def __init__(self, document: SpecDocument, authors: tuple[str, ...]) -> None:
        self.document, self.authors = document, authors
        self.prose = dict(document.deployment.prose) if document.deployment else {}
        self.how = {one.block: one.how for one in document.provenance}
        self.made: list[str] = []
        text = document.text or ""
        self.positions = FilePositions.of(text, parse(text))

    def line(self, path: str) -> int:
        """The line in the specification file that a field of the record comes from."""
        home = HOMES.get(path.partition("[")[0])
        for place in (f"deployment.prose.{path}", f"deployment.{home[0]}" if home else "", "deployment.prose", "deployment"):
            if place in self.positions.lines:
                return self.positions.lines[place]
        return 1

    def states(self, block: str) -> bool:
        """Whether the file states a block, and neither infers nor assumes it."""
        return self.how.get(block, "stated") == "stated"

    # -- the record -------------------------------------------------------------------------------

    def data(self, fail: Callable[[DpspecError, str], None]) -> dict[str, Any]:
        """The mappings of the YAML file, not verified yet."""
        values: dict[str, Any] = self._from_deployment(fail)
        values |= self._from_prose(fail)
        authors = [text for _, text in sorted(self._authors())] or list(self.authors)
        if authors:
            values["administrative.registry_authors"] = authors
        for path, words in self._words():
            if path not in values and words:
                values[path] = words
                self.made.append(path)
        for name, number in self._numbers():
            path = f"{PARAMETERS}.{name}"
            if path in values and values[path] != number:
                rule = f"is {values[path]} among the record's words, and {number} in the blocks"
                fail(ParameterError(f"deployment.prose.{path}", rule, "correct one of them"), path)
            values[path] = number
        self._complete(values, fail)
        found: dict[str, Any] = {"deployment": {}}
        for path, value in values.items():
            *tables, key = path.split(".")
            table = found["deployment"] if tables else found
            for part in tables:
                table = table.setdefault(part, {})
            table[key] = value
        return found

    def _from_deployment(self, fail: Callable[[DpspecError, str], None]) -> dict[str, Any]:
        deployment = self.document.deployment
        if deployment is None:
            fail(
                MissingKeyError("deployment", "is missing", "a record says who published what, and when: write [deployment]"), ""
            )
            return {}
        found: dict[str, Any] = {}
        for path, (key, words) in HOMES.items():
            value = getattr(deployment, key)
            if key == "published":
                found[path] = "-".join([*(value or str(deployment.year)).split("-"), "01", "01"][:3])  # 01 for what is not known
            elif isinstance(value, tuple):
                found[path] = list(value)
            elif value is not None and value != "other":
                choices = {choice.lower(): choice for choice in _KNOWN[path].choices}
                theirs = {ours: word for word, ours in (words or {}).items()}
                found[path] = value if words is None else (theirs or choices).get(value, value)
            elif _KNOWN[path].required:
                fail(MissingKeyError(f"deployment.{key}", "is missing", "every record has it"), path)
        return found

    def _from_prose(self, fail: Callable[[DpspecError, str], None]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for path, text in self.prose.items():
            field = _KNOWN.get(path)
            if field is None or field.kind == "texts":
                continue
            if path in HOMES:
                fail(
                    ParameterError(f"deployment.prose.{path}", f"is in [deployment] as {HOMES[path][0]}", "take it out"), path
                )
            elif field.kind in ("number", "number-or-text") and _DECIMAL.fullmatch(text):
                found[path] = Decimal(text)
            else:
                found[path] = int(text) if field.kind == "tier" and text in ("1", "2", "3") else text
        return found

    def _authors(self) -> Iterator[tuple[int, str]]:
        for path, text in self.prose.items():
            found = _AUTHOR.fullmatch(path)
            if found is not None:
                yield int(found[1]), text

    def _complete(self, values: dict[str, Any], fail: Callable[[DpspecError, str], None]) -> None:
        """What every record has and no block says."""
        values.setdefault("url_slug", self.document.id)
        values.setdefault("status", "Draft")
        if "basic.description" not in values:
            values["basic.description"] = self.document.title
            self.made.append("basic.description")
        if any(path.startswith("administrative.") for path in values) and "administrative.registry_authors" not in values:
            rule = "is missing"
            fail(
                MissingKeyError("registry_authors", rule, "say who writes the record: --author NAME"),
                "administrative.registry_authors",
            )
        reached = 3
        for field in FIELDS:
            # A tier requires none of the numbers, which are those of the variant, nor details and notes.
            is_required = not field.path.startswith(PARAMETERS) and not field.path.endswith(("_details", ".notes"))
            if field.path not in values and field.path != "tier" and is_required:
                reached = min(reached, max(field.tier - 1, 1))
        values.setdefault("tier", reached)

    # -- words made of blocks ----------------------------------------------------------------------

    def _words(self) -> Iterator[tuple[str, str]]:
        """What the blocks that the file states say, field by field."""
        document, spec = self.document, self.document.spec
        if self.states("output_divergence"):
            names = {variant.divergence: name for name, variant in VARIANTS.items()}
            yield "dp_variant.variant_name", names.get(spec.output_divergence.name, "Custom")
        if self.states("space"):
            yield "dp_variant.data_domain", "\n".join(space_in_words(spec.space))
        if self.states("multiverse"):
            yield "dp_variant.unprotected_quantities", "\n".join(multiverse_in_words(spec.multiverse))
        if self.states("input_divergence"):
            unit = spec.input_divergence.counted_unit()
            yield "privacy_loss.privacy_unit", f"{unit}-level" if unit else thing_in_words(spec.input_divergence)
            yield "privacy_loss.privacy_unit_details", f"One change: {thing_in_words(spec.input_divergence)}"
        yield _DETAILS, "\n".join(self._details())
        if document.ledger is not None:
            parts = [f"- {part.id}: {document.ledger.parameter} = {part.amount.plain()}" for part in document.ledger.parts]
            yield _COMPOSITION, "\n".join(["The parts add up to the budget:", *parts])
        if document.unaccounted:
            steps = "\n".join(f"- {step}" for step in document.unaccounted)
            yield _STEPS, f"Outside of the guarantee:\n{steps}"
        mechanism = document.mechanism or document.secret
        if mechanism is not None and self.states("mechanism"):
            yield _MECHANISMS, thing_in_words(mechanism)
        yield "administrative.sources", "\n".join(f"- {source}" for source in document.sources if source.id != RECORD)

    def _details(self) -> Iterator[str]:
        """What of the promise the numbers of a record cannot say."""
        document, spec = self.document, self.document.spec
        if self.states("output_divergence") and not self._variant_says_standard():
            yield f"The standard is {thing_in_words(spec.output_divergence)}."
        if self.states("budget") and not self._number_says_budget():
            yield budget_in_words(spec.budget)
        if document.deployment is not None and document.deployment.period is not None:
            yield f"The budget is renewed after each {document.deployment.period}."
        if document.parts and self.states("budget"):
            yield "Also promised:"
            yield from (f"- {part}: {part_in_words(part.spec, spec)}" for part in document.parts)

    def _variant_says_standard(self) -> bool:
        """Whether the registry has a variant for the output divergence, and a number for each of its parameters."""
        divergence = self.document.spec.output_divergence
        known = any(variant.divergence == divergence.name for variant in VARIANTS.values())
        return known and {one.name for one in parameters(type(divergence))} <= dict(self._numbers()).keys()

    def _number_says_budget(self) -> bool:
        """Whether a number of the record is the budget, and not one end of a range that is published."""
        budget = self.document.spec.budget
        return budget.parameter in dict(self._numbers()) and budget.bounds() is None

    def _numbers(self) -> Iterator[tuple[str, Decimal]]:
        """The numbers of the record that the blocks state; one that is no decimal is stated in words alone."""
        spec = self.document.spec
        value = spec.budget.uniform()
        if self.states("budget") and value is not None and spec.budget.unpublished() is None:
            decimal = _finite(value.as_fraction()) if value.is_rational else None
            if decimal is not None and spec.budget.parameter in ("epsilon", "rho"):
                yield spec.budget.parameter, decimal
        delta = getattr(spec.output_divergence, "delta", None)
        if isinstance(delta, Fraction) and self.states("output_divergence"):
            decimal = _finite(delta)
            if decimal is not None:
                yield "delta", decimal

    def left_out(self) -> Iterator[str]:
        """What of the file no field of a record holds."""
        document = self.document
        held = {
            "claim": document.claim, "miniature": document.miniatures, "counterexample": document.counterexamples,
            "expect": document.expectations, "explained": document.explained, "provenance": document.provenance,
            "source": document.source,
        }  # fmt: skip
        yield from (table for table, value in held.items() if value)
        yield from (block for block in _BLOCK_WORDS if not self._holds(block))
        if document.ledger is not None and _COMPOSITION not in self.made:
            yield "ledger"
        if document.unaccounted and _STEPS not in self.made:
            yield "unaccounted"
        own_words = _DETAILS not in self.made
        if document.parts and (own_words or not self.states("budget")):
            yield "part"
        if document.deployment is not None and document.deployment.period is not None and own_words:
            yield "deployment.period"
        if document.secret is not None and _MECHANISMS not in self.made:
            yield "mechanism.secret"
        yield from (f"deployment.prose.{path}" for path in self.prose if path not in _KNOWN and not _AUTHOR.fullmatch(path))


    def _holds(self, block: str) -> bool:
        """Whether the record says a block: in words that were made of it, or in words of the file about it."""
        document, paths = self.document, _BLOCK_WORDS[block]
        if any(path in self.prose for path in paths):
            return True
        if block == "mechanism" and document.mechanism is None:
            return True  # one with secret parameters has a line of its own
        if block == "budget":
            unpublished = document.spec.budget.unpublished() is not None
            return unpublished or self._number_says_budget() or _DETAILS in self.made
        made = any(path in self.made for path in paths) and self.states(block)
        return made and (block != "output_divergence" or self._variant_says_standard() or _DETAILS in self.made)


def _finite(value: Fraction) -> Decimal | None:
    """The decimal that is exactly this ratio, where it ends.

    >>> _finite(Fraction(263, 100)), _finite(Fraction(1, 3))
    (Decimal('2.63'), None)
    """
    twos = fives = 0
    rest = value.denominator
    while rest % 2 == 0 and twos <= 400:
        rest, twos = rest // 2, twos + 1
    while rest % 5 == 0 and fives <= 400:
        rest, fives = rest // 5, fives + 1
    digits = max(twos, fives)
    if rest != 1 or digits > 400:
        return None
    figures = tuple(map(int, str(abs(value.numerator) * 10**digits // value.denominator)))
    return None if len(figures) > 200 else Decimal((int(value < 0), figures, -digits))  # no operation of Decimal: those round


# --- output -----------------------------------------------------------------------------------------


def export_data(found: ExportedRecord, path: str, written: Path) -> JsonData:
    """What was written, as data."""
    return {
        "path": path, "written": str(written), "tier": found.record.get("tier"), "made": list(found.made),
        "left_out": list(found.left_out),
    }  # fmt: skip


def export_text(found: ExportedRecord, written: Path) -> str:
    """The same for people."""
    lines = [
        f"wrote {written}: a record of tier {found.record.get('tier')}, as the registry's schema and its check script want it"
    ]
    if found.made:
        lines.append(f"  made of the blocks: {', '.join(found.made)}")
    if found.left_out:
        lines.append(f"  in no field of a record: {', '.join(found.left_out)}")
    return "\n".join(lines)
