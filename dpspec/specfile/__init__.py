"""Specification files: TOML to objects and back, with every fault on its line."""

from dpspec.specfile.document import (
    SCHEMA,
    Expectation,
    Ledger,
    LedgerPart,
    Miniature,
    RecordedClaim,
    SpecDocument,
)
from dpspec.specfile.reader import SUFFIX, check_ids, new_spec, read, read_text, spec_files
from dpspec.specfile.schema import language_schema
from dpspec.specfile.writer import to_toml

__all__ = [
    "SCHEMA", "SUFFIX", "Expectation", "Ledger", "LedgerPart", "Miniature", "RecordedClaim", "SpecDocument", "check_ids",
    "language_schema", "new_spec", "read", "read_text", "spec_files", "to_toml",
]  # fmt: skip
