"""The picture of docs/architecture.md: the packages of the core by floor, from the imports in the code.

python docs/make_architecture.py
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

from dpspec.report.diagrams import DiagramBox, diagram_svg, reduced

ROOT = Path(__file__).parents[1]
SAYS = {
    "base": "errors, exact numbers, parameters, files, randomness",
    "checker": "reads derivations with its own arithmetic",
    "extension": "hooks, loader, registry of late names",
    "laws": "P_x, likelihood ratios, trade-off curves",
    "scaffold": "new plugins and specifications",
    "blocks": "the five blocks",
    "grammar": "specification, mechanism, attacker, rule, table",
    "risks": "candidates, limits, attackers' questions",
    "specfile": "TOML to objects and back",
    "plugin": "the face for authors",
    "reason": "rules, conversions, search, derivation",
    "structure": "changes of records in a universe",
    "verifier": "the engines: exhaustive, derived, sampled, plain code",
    "comparison": "implied, separated, unknown; yardsticks",
    "composition": "ledgers",
    "exchange": "records of the deployments registry",
    "linter": "findings",
    "releases": "a release of a real table",
    "report": "text, JSON, pictures, pages",
    "constructors": "what a file can name, made in Python",
    "api": "one function for each question",
    "commands": "the commands as functions",
    "dpspec": "the face for users",
    "deployments": "catalogue, evidence, labels",
    "testing": "kit, strategies, assertions",
    "cli": "the command line",
    "pytest_plugin": "specification files as tests",
    "__main__": "python -m dpspec",
}


def component(parts: tuple[str, ...]) -> str:
    return parts[1] if len(parts) > 1 and parts[1] != "__init__" else "dpspec"


def arrows() -> dict[str, set[str]]:
    """For each package of the core those that it imports, wherever in a file and for whatever reason."""
    found: dict[str, set[str]] = {}
    for path in sorted((ROOT / "dpspec").rglob("*.py")):
        own = component(path.relative_to(ROOT).with_suffix("").parts)
        targets = found.setdefault(own, set())
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [f"{node.module}.{a.name}" for a in node.names] if isinstance(node, ast.ImportFrom) else []
            names += [a.name for a in node.names] if isinstance(node, ast.Import) else []
            parts = [tuple(name.split(".")) for name in names if name.split(".")[0] == "dpspec"]
            known = [component(p) for p in parts if len(p) > 1 and p[1] in SAYS]
            targets |= set(known) if known or not parts else {"dpspec"}
    return {name: targets - {name} for name, targets in found.items()}


def floors(imported: dict[str, set[str]]) -> list[list[str]]:
    """The packages by the longest chain of imports below them."""
    height: dict[str, int] = {}

    def of(name: str) -> int:
        if name not in height:
            height[name] = 1 + max((of(below) for below in imported.get(name, ())), default=0)
        return height[name]

    top = max(map(of, imported))
    return [sorted(name for name in imported if of(name) == level) for level in range(1, top + 1)]


def picture() -> str:
    imported = arrows()
    rows = {
        f"floor {level}": [DiagramBox(key=name, title=name, text=SAYS[name]) for name in names]
        for level, names in enumerate(floors(imported), 1)
    }
    drawn = reduced([(below, name) for name, targets in sorted(imported.items()) for below in sorted(targets)])
    return diagram_svg(rows, drawn, "Packages of dpspec by floor: an arrow leads to what stands on it")


if __name__ == "__main__":
    (ROOT / "docs" / "architecture.svg").write_text(picture(), encoding="utf-8")
    sys.stdout.write(f"{len(floors(arrows()))} floors\n")
