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
from dpspec.specfile.reader import check_ids, read, read_text, spec_files
from dpspec.specfile.text import SUFFIX

__all__ = [
    "SCHEMA", "SUFFIX", "Expectation", "Ledger", "LedgerPart", "Miniature", "RecordedClaim", "SpecDocument", "check_ids",
    "read", "read_text", "spec_files",
]  # fmt: skip
