"""The linter: named findings on misleading statements in well-formed specification files, each with its line and advice."""

from dpspec.linter import findings, ledgers, printed_numbers
from dpspec.linter.finding import Finding, Severity, declared_findings
from dpspec.linter.look import lint

DECLARING = (findings, printed_numbers, ledgers)
"""The modules whose functions are the kinds of finding: each declares its own."""

__all__ = ["Finding", "Severity", "declared_findings", "lint"]
