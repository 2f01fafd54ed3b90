"""What is measured of docs/architecture.md: the figure of the packages of the kernel by layer, and the table of all packages.

python docs/make_architecture.py
"""

from __future__ import annotations

import ast
import itertools
import re
import statistics
import sys
from collections import Counter
from pathlib import Path

from dpspec.report.figures import DiagramBox, diagram, reduced

ROOT = Path(__file__).parents[1]
SAYS = {
    "base": "errors, exact numbers, parameters, files, randomness",
    "extension": "hooks, loader, lazy registry of names",
    "laws": "P_x, likelihood ratios, trade-off curves",
    "scaffold": "new plugins and specifications",
    "blocks": "the five blocks",
    "grammar": "specification, mechanism, attacker, rule, table",
    "risks": "candidates, limits, standard attackers",
    "specfile": "TOML to objects and back",
    "plugin": "the public API for authors",
    "reason": "rules, conversions, search, derivation",
    "structure": "changes of records in a universe",
    "verifier": "the engines: exhaustive, derived, sampled, plain code",
    "comparison": "implied, separated, unknown; common measures; ledgers",
    "exchange": "tables and rules of disclosure control",
    "linter": "findings",
    "report": "text, JSON, content of figures",
    "constructors": "a function for each registered name",
    "api": "a function for each main command",
    "commands": "the commands as functions",
    "dpspec": "the public API for users",
    "testing": "conformance tests, strategies, assertions",
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


def layers(imported: dict[str, set[str]]) -> list[list[str]]:
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
    boxes = [
        DiagramBox(key=name, title=name, text=SAYS[name], number=f"layer {level}")
        for level, names in enumerate(layers(imported), 1)
        for name in names
    ]
    drawn = reduced([(below, name) for name, targets in sorted(imported.items()) for below in sorted(targets)])
    return diagram(boxes, drawn, "Packages of dpspec by layer: an arrow leads from a package to one that imports it").svg


# --- the table of all packages --------------------------------------------------------------------

PAGE = ROOT / "docs" / "architecture.md"
BEGIN, END = "<!-- measured by docs/make_architecture.py -->", "<!-- end of what is measured -->"


def packages() -> dict[str, Path]:
    """The folder of the sources of every package: the kernel first."""
    found = {path.parents[1].name: path for path in sorted((ROOT / "plugins").glob("*/src/*")) if path.is_dir()}
    return {"dpspec": ROOT / "dpspec", **found}


def lines_of_code(path: Path) -> int:
    """Lines without docstrings, comments and blank lines."""
    text = path.read_text(encoding="utf-8")
    texts = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)]
    left_out = {line for node in texts for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)}
    lines = enumerate(text.splitlines(), 1)
    return sum(1 for number, line in lines if line.strip() and not line.strip().startswith("#") and number not in left_out)


def kernel_names(folder: Path) -> set[str]:
    """The names that a package imports from the kernel, each with its module."""
    found = set()
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "dpspec":
                found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def table() -> str:
    """Files, lines, lines of code, and names of the kernel that are used, for every package."""
    rows = ["| package | files | lines | lines of code | names it imports from the kernel |", "|---|--:|--:|--:|--:|"]
    for name, folder in packages().items():
        files = sorted(folder.rglob("*.py"))
        lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files)
        crossing = "" if name == "dpspec" else str(len(kernel_names(folder)))
        rows.append(f"| `{name}` | {len(files)} | {lines:,} | {sum(map(lines_of_code, files)):,} | {crossing} |")
    return "\n".join(rows)


def called_once(tree: ast.Module) -> tuple[list[ast.FunctionDef], list[ast.FunctionDef]]:
    """The private functions of a module, and those of them that its code names in one place."""
    used = Counter(node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load))
    private = [node for node in tree.body if isinstance(node, ast.FunctionDef) and re.match("_[^_]", node.name)]
    return private, [node for node in private if used[node.name] == 1]


def is_comment(line: str) -> bool:
    return line.strip().startswith("#") or "  # " in line


def own_tests(name: str, folder: Path) -> set[str]:
    """The names of modules of which a package has a test file among its own tests."""
    home = ROOT if name == "dpspec" else folder.parents[1]
    return {path.stem.removeprefix("test_") for path in (home / "tests").rglob("test_*.py")}


def style() -> str:
    """What is measured of all code: private functions with one use, comments, and modules with a test file of their name."""
    rows = []
    for title, names in (("kernel", ["dpspec"]), ("other packages", [name for name in packages() if name != "dpspec"])):
        files = [path for name in names for path in sorted(packages()[name].rglob("*.py"))]
        texts = {path: path.read_text(encoding="utf-8") for path in files}
        found = [called_once(ast.parse(text)) for text in texts.values()]
        private, once = (list(itertools.chain.from_iterable(kind)) for kind in zip(*found, strict=True))
        length = statistics.median((node.end_lineno or node.lineno) - node.lineno + 1 for node in once)
        lines = [line for text in texts.values() for line in text.splitlines()]
        modules = [
            path.stem in tests
            for name in names
            for tests in [own_tests(name, packages()[name])]
            for path in packages()[name].rglob("*.py")
            if path.stem not in ("__init__", "__main__")
        ]
        rows.append(
            f"| {title} | {len(private):,} | {len(once) / len(private):.0%} | {length:.0f} | "
            f"{sum(map(is_comment, lines)) / len(lines):.1%} | {sum(modules) / len(modules):.0%} |"
        )
    head = "| | private functions | with one use | median lines of these | lines with a comment | modules with own tests |"
    return "\n".join([head, "|---|--:|--:|--:|--:|--:|", *rows])


def page() -> str:
    """The page with its tables measured anew."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    return f"{before}{BEGIN}\n\n{table()}\n\n{style()}\n\n{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    (ROOT / "docs" / "architecture.svg").write_text(picture(), encoding="utf-8")
    sys.stdout.write(f"{len(layers(arrows()))} layers\n")
