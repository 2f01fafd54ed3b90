"""The JSON schema (draft 2020-12) of specification files, generated from the declared parameters of the registry.

It serves editors, which complete and check a file with it while it is written. It says what each table may hold;
what JSON schema cannot say (blocks that fit together, sums, exact ranges of quoted numbers) the reader alone checks.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpspec.base.params import NUMBER_SCHEMA, object_schema, parameters
from dpspec.extension import KINDS, Registry, load_plugins
from dpspec.grammar.tables import TableLayout
from dpspec.specfile.blocks import BLOCK_KINDS, OF_PART
from dpspec.specfile.deployment import BLOCKS, BlockProvenance, Deployment, PublishedSource, UnaccountedStep
from dpspec.specfile.document import QUANTITIES, SCHEMA, VERDICTS

if TYPE_CHECKING:
    from collections.abc import Iterable

DRAFT = "https://json-schema.org/draft/2020-12/schema"
FILE = f"spec-{SCHEMA}.schema.json"
"""The checked-in schema of the core and first-party language, in the folder of this module."""

FIRST_PARTY = ("attackers", "census", "divergences", "flavours", "noise")
"""The plugins of this repository, whose language the checked-in schema describes together with the core's."""

_TEXT: dict[str, Any] = {"type": "string", "minLength": 1}
_HASH: dict[str, Any] = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
_OF_CHANGE = ("from", "to", "because", "approved_by")


def language_schema(registry: Registry) -> dict[str, Any]:
    """The schema of everything that the registry lets a file say.

    >>> from dpspec.extension import load_plugins
    >>> language_schema(load_plugins(names=[]).registry)["properties"]["schema"]
    {'const': 1}
    """
    blocks: dict[str, Any] = {block: {"$ref": f"#/$defs/{kind}-table"} for block, kind in BLOCK_KINDS.items()}
    invariants_only = _object({"invariants": _list({"$ref": "#/$defs/invariants"})}, ["invariants"])
    blocks["multiverse"] = {"anyOf": [blocks["multiverse"], invariants_only]}
    budgets = ("amount", "budget-by-universe", "budget-not-stated", "budget-bounds")
    blocks["budget"] = {"anyOf": [*({"$ref": f"#/$defs/{name}"} for name in budgets), blocks["budget"]]}
    blocks["mechanism"] = {"$ref": "#/$defs/mechanisms-table"}
    ranges = [{"required": ["secret", *keys]} for keys in (("at_least", "at_most"), ("one_of",))]
    secret = {"type": "object", "properties": {"secret": {"const": True}}, "oneOf": ranges}
    with_secret = {"type": "object", "required": ["type"], "not": {"additionalProperties": {"not": secret}}}
    required = [block for block in BLOCK_KINDS if block != "multiverse"]
    of_part = {key: domain.schema() for key, domain in OF_PART.items()}
    source = {**object_schema(PublishedSource), "anyOf": _either(("title", "doi", "arxiv", "url"))}
    # The key of a provenance names its block. It is stated in a source, or it says why it is in none.
    origin = {key: value for key, value in object_schema(BlockProvenance)["properties"].items() if key != "block"}
    is_stated = {"properties": {"how": {"const": "stated"}}}
    needed = {"if": is_stated, "then": {"required": ["source"]}, "else": {"required": ["because"]}}
    provenance = {**_object(origin, ["how"]), **needed}
    properties = {
        "schema": {"const": SCHEMA},
        "id": {"type": "string", "pattern": "^[a-z0-9]+(-[a-z0-9]+)*$"},
        "title": _TEXT,
        **blocks,
        "mechanism": {"anyOf": [blocks["mechanism"], with_secret]},
        "claim": _object({"verdict": {"enum": list(VERDICTS)}, "because": _TEXT, "source": _TEXT}, ["verdict", "because"]),
        "ledger": _object({"parts": _list({"$ref": "#/$defs/ledger-part"})}, ["parts"]),
        "miniature": _list(_object({"title": _TEXT, **blocks}, ["title", "space"])),
        "counterexample": _list(
            _object({"title": _TEXT, "because": _TEXT, "mechanism": blocks["mechanism"]}, ["title", "because", "mechanism"])
        ),
        "expect": _list({"$ref": "#/$defs/expectation"}),
        "explained": _list(_object({"finding": _TEXT, "because": _TEXT}, ["finding", "because"])),
        "change": _list(_object({"from": _HASH, "to": _HASH, "because": _TEXT, "approved_by": _TEXT}, [*_OF_CHANGE])),
        "source": {"anyOf": [{"type": "object", "additionalProperties": {"type": ["string", "integer"]}}, _list(source)]},
        "deployment": {**object_schema(Deployment), "anyOf": _either(("published", "year"))},
        "provenance": _object(dict.fromkeys(BLOCKS, provenance), []),
        "part": _list({**_object({"title": _TEXT, **of_part, **blocks}, ["title"]), "anyOf": _either(BLOCK_KINDS)}),
        "unaccounted": _list(object_schema(UnaccountedStep)),
        "table": object_schema(TableLayout),
    }
    return {
        "$schema": DRAFT,
        "title": f"dpspec specification, schema version {SCHEMA}",
        **_object(properties, ["schema", "id", "title", *required]),
        "$defs": {**_kinds(registry), **_records(registry)},
    }


def first_party_schema() -> str:
    """The text of the checked-in schema, whatever else is installed."""
    registry = load_plugins(names=FIRST_PARTY).registry
    return json.dumps(language_schema(registry), indent=1, ensure_ascii=False) + "\n"


def _kinds(registry: Registry) -> dict[str, Any]:
    """For every kind: the table of one of its objects, and the forms that may replace it inside another table."""
    defined: dict[str, Any] = {}
    for kind in KINDS:
        if kind in ("rules", "adapters", "generators"):  # they do not occur in files
            continue
        entries = registry.usable(kind)
        tables = []
        for entry in entries:
            own = object_schema(entry.cls)
            keys = {"type": {"enum": [entry.name, entry.qualified_name]}, **own["properties"]}
            text = next((line.strip() for line in (entry.cls.__doc__ or "").splitlines() if line.strip()), "")
            tables.append({"title": entry.name, "description": text, **_object(keys, ["type", *own["required"]])})
        defined[f"{kind}-table"] = {"oneOf": tables} if tables else {"not": {}}
        plain = [entry for entry in entries if not any(p.required for p in parameters(entry.cls))]
        bare = [name for entry in plain for name in (entry.name, entry.qualified_name)]
        inside: list[dict[str, Any]] = [{"$ref": f"#/$defs/{kind}-table"}]
        defined[kind] = {"anyOf": [*inside, {"enum": bare}] if bare else inside}
    return defined


def _records(registry: Registry) -> dict[str, Any]:
    quantities = sorted({name for cls in registry.classes("output_divergences") for name in cls.budget_parameters})
    labelled = [_object({"label": {}, q: NUMBER_SCHEMA}, ["label", q]) for q in quantities]
    expectation = {"what": _TEXT, "tolerance": NUMBER_SCHEMA, "because": _TEXT, "route": {"$ref": "#/$defs/routes"}}
    amounts = [_object({q: NUMBER_SCHEMA}, [q]) for q in quantities]
    bounds = [{**_object({"at_least": amount, "at_most": amount}, []), "minProperties": 1} for amount in amounts]
    return {
        "amount": _one_of(amounts),
        "budget-not-stated": _object({"stated": {"const": False}}, ["stated"]),
        "budget-bounds": _one_of(bounds),
        "budget-by-universe": _object({"universe": _list(_one_of(labelled))}, ["universe"]),
        "ledger-part": _one_of(_object({"id": _TEXT, q: NUMBER_SCHEMA}, ["id", q]) for q in quantities),
        "expectation": _one_of(
            _object({**expectation, q: NUMBER_SCHEMA, "corrected": NUMBER_SCHEMA}, [*expectation, q]) for q in QUANTITIES
        ),
    }


def _either(keys: Iterable[str]) -> list[dict[str, Any]]:
    return [{"required": [key]} for key in keys]


def _object(properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _list(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


def _one_of(choices: Iterable[dict[str, Any]]) -> dict[str, Any]:
    listed = list(choices)
    return {"oneOf": listed} if listed else {"not": {}}


if __name__ == "__main__":
    Path(__file__).with_name(FILE).write_text(first_party_schema(), encoding="utf-8")
