"""What is well formed and still misleading in specification files: named findings, each with its line and what to do."""

from dpspec.linter.finding import Finding, Severity, declared_findings
from dpspec.linter.findings import lint

__all__ = ["Finding", "Severity", "declared_findings", "lint"]
