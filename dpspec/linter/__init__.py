"""The linter: named findings on misleading statements in well-formed specification files, each with its line and advice."""

from dpspec.linter.finding import Finding, Severity, declared_findings
from dpspec.linter.look import lint

__all__ = ["Finding", "Severity", "declared_findings", "lint"]
