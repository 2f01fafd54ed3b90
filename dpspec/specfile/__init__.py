"""Specification files: TOML to objects and back, with every fault on its line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpspec.base.lazy import late_names

if TYPE_CHECKING:
    from dpspec.specfile.blocks import BLOCK_KINDS as BLOCK_KINDS
    from dpspec.specfile.deployment import (
        BlockProvenance as BlockProvenance,
        Deployment as Deployment,
        PublishedSource as PublishedSource,
        UnaccountedStep as UnaccountedStep,
    )
    from dpspec.specfile.document import (
        SCHEMA as SCHEMA,
        Coverage as Coverage,
        Expectation as Expectation,
        Ledger as Ledger,
        LedgerPart as LedgerPart,
        Miniature as Miniature,
        PromisedBeside as PromisedBeside,
        RecordedChange as RecordedChange,
        RecordedClaim as RecordedClaim,
        SecretMechanism as SecretMechanism,
        SecretParameter as SecretParameter,
        SpecDocument as SpecDocument,
    )
    from dpspec.specfile.reader import (
        DEPTH_LIMIT as DEPTH_LIMIT,
        SIZE_LIMIT as SIZE_LIMIT,
        SUFFIX as SUFFIX,
        check_ids as check_ids,
        new_spec as new_spec,
        read as read,
        read_text as read_text,
        spec_files as spec_files,
    )
    from dpspec.specfile.schema import language_schema as language_schema
    from dpspec.specfile.writer import to_toml as to_toml

_HOMES = {
    "dpspec.specfile.blocks": ("BLOCK_KINDS",),
    "dpspec.specfile.deployment": ("BlockProvenance", "Deployment", "PublishedSource", "UnaccountedStep"),
    "dpspec.specfile.document": (
        "SCHEMA",
        "Coverage",
        "Expectation",
        "Ledger",
        "LedgerPart",
        "Miniature",
        "PromisedBeside",
        "RecordedChange",
        "RecordedClaim",
        "SecretMechanism",
        "SecretParameter",
        "SpecDocument",
    ),
    "dpspec.specfile.reader": (
        "DEPTH_LIMIT",
        "SIZE_LIMIT",
        "SUFFIX",
        "check_ids",
        "new_spec",
        "read",
        "read_text",
        "spec_files",
    ),
    "dpspec.specfile.schema": ("language_schema",),
    "dpspec.specfile.writer": ("to_toml",),
}
__all__ = [name for names in _HOMES.values() for name in names]
__getattr__, __dir__ = late_names(__name__, _HOMES)
