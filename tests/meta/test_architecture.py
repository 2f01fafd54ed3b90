"""The house plan as a test: a file imports only from floors below its own, and no circle exists."""

from __future__ import annotations

import ast
import functools
import graphlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CORE = ROOT / "dpspec"

FLOORS = [
    ("dpspec.base.errors",),
    ("dpspec.base.errors", "dpspec.base.errors"),
    ("dpspec.base.files",),
    ("dpspec.base.randomness",),
    ("dpspec.checker",),
    ("dpspec.base.exact",),
    ("dpspec.base.exact",),
    ("dpspec.base.exact",),
    ("dpspec.base.exact",),
    ("dpspec.base.params",),
    ("dpspec.base.params",),
    ("dpspec.laws",),
    ("dpspec.blocks",),
    ("dpspec.grammar.tables", "dpspec.grammar.workers", "dpspec.grammar.workers"),
    ("dpspec.grammar.tables", "dpspec.grammar.workers"),
    ("dpspec.grammar.tables",),
    ("dpspec.grammar.spec",),
    ("dpspec.grammar.mechanism", "dpspec.grammar.rule", "dpspec.grammar.tables", "dpspec.grammar.rule"),
    ("dpspec.grammar.rule", "dpspec.reason.rules"),
    ("dpspec.grammar.mechanism", "dpspec.grammar.attacker"),
    ("dpspec.grammar.attacker",),
    ("dpspec.extension",),
    ("dpspec.specfile",),
    ("dpspec.verifier", "dpspec.comparison", "dpspec.risks"),
    ("dpspec.composition", "dpspec.releases"),
    ("dpspec.linter", "dpspec.comparison.yardstick", "dpspec.releases.synthesis"),
    ("dpspec.api",),
    ("dpspec.report", "dpspec.scaffold"),
    ("dpspec.testing",),
    ("dpspec.cli", "dpspec.pytest_plugin"),
    ("dpspec", "dpspec.__main__"),
]
"""From the ground up. Modules on one line are apart: none of them imports another, except inside one package."""

INDEPENDENT = ("dpspec.verifier", "dpspec.comparison", "dpspec.risks")


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in sorted(CORE.rglob("*.py"))}


def component(module: str) -> str:
    """The line entry of FLOORS that a module belongs to."""
    if module in ("dpspec", "dpspec.__main__"):
        return module
    return ".".join(module.split(".")[:2])


def floor(module: str) -> int:
    for height, names in enumerate(FLOORS):
        if component(module) in names:
            return height
    raise AssertionError(f"{module} stands on no floor: add it to FLOORS")


def imported(path: Path, *, anywhere: bool = True) -> Iterator[str]:
    """The core modules that a file imports: anywhere in it, or only those it needs in order to be imported itself."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    skipped: set[ast.AST] = set()
    for node in ast.walk(tree):
        for_types = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        if not anywhere and (for_types or isinstance(node, ast.FunctionDef)):
            skipped |= set(ast.walk(node))
        if node in skipped:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in MODULES)
        elif isinstance(node, ast.ImportFrom) and node.module in MODULES:
            assert node.level == 0, "imports are absolute"
            inner = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (name if name in MODULES else node.module for name in inner)


@functools.cache
def arrows(*, anywhere: bool = True) -> dict[str, set[str]]:
    return {name: set(imported(path, anywhere=anywhere)) - {name} for name, path in MODULES.items()}


@pytest.mark.parametrize("module", MODULES)
def test_imports_go_down(module):
    for target in arrows()[module]:
        same = component(module) == component(target)
        assert same or floor(target) < floor(module), f"{module} imports {target}, which is not below it"


def test_no_module_needs_itself_to_be_imported():
    graphlib.TopologicalSorter(arrows(anywhere=False)).prepare()


def test_there_is_no_circle_between_packages():
    """However late an import comes: inside a function, or for types only."""
    packages: dict[str, set[str]] = {}
    for module, targets in arrows().items():
        packages.setdefault(component(module), set()).update(component(target) for target in targets)
    graphlib.TopologicalSorter({name: targets - {name} for name, targets in packages.items()}).prepare()


def test_a_circle_would_be_found():
    with pytest.raises(graphlib.CycleError):
        graphlib.TopologicalSorter({"a": {"b"}, "b": {"a"}}).prepare()


@pytest.mark.parametrize("engine", INDEPENDENT)
def test_no_engine_knows_another(engine):
    others = set(INDEPENDENT) - {engine}
    for module, targets in arrows().items():
        if component(module) == engine:
            assert not {component(target) for target in targets} & others


@pytest.mark.parametrize("module", MODULES)
def test_the_core_names_no_plugin(module):
    text = MODULES[module].read_text(encoding="utf-8")
    plugins = [path.parent.name for path in (ROOT / "plugins").glob("*/pyproject.toml")]
    for plugin in plugins:
        assert plugin not in text
        assert plugin.replace("-", "_") not in text


def test_plugins_use_the_public_interface_only():
    for path in (ROOT / "plugins").glob("*/src/**/*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "dpspec":
                private = [alias.name for alias in node.names if alias.name.startswith("_")]
                assert not private, f"{path.name} imports {private} from {node.module}"
                above = ("dpspec.cli", "dpspec.report", "dpspec.verifier", "dpspec.comparison", "dpspec.api")
                is_command = "__main__" in path.read_text(encoding="utf-8")
                assert is_command or not (node.module or "").startswith(above), f"{path.name} imports {node.module}"


def test_no_exported_name_is_a_module_too():
    """`dpspec.name` would be the one or the other, depending on what was imported before."""
    import dpspec

    assert not {f"dpspec.{name}" for name in dpspec.__all__} & set(MODULES)


# --- the checkout --------------------------------------------------------------------------------

TEXTS = [
    path
    for pattern in ("*.md", "*.toml", "*.txt", "dpspec/**/*", "plugins/**/*", "docs/**/*", "specs/**/*.toml", ".ci/*")
    for path in ROOT.glob(pattern)
    if path.is_file() and path.suffix in {"", ".md", ".toml", ".txt", ".py", ".json", ".in"} and "__pycache__" not in path.parts
]


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_file_names_a_machine(path):
    text = path.read_text(encoding="utf-8")
    found = re.search(r"(?<![\w.!])/(?:home|root|work|opt|tmp|Users|usr)/|pypi\.|pythonhosted|files\.python", text)
    assert found is None, f"line {text.count(chr(10), 0, found.start()) + 1 if found else 0}"


def test_every_requirement_has_one_exact_version():
    constrained = dict(line.split("==") for line in _lines("constraints.txt"))
    constrained = {name.lower().replace("_", "-"): version for name, version in constrained.items()}
    wanted = [line for file in ("requirements.txt", "requirements-test.txt", "requirements-lint.txt") for line in _lines(file)]
    for line in wanted:
        if not line.startswith("-"):
            assert line.lower().replace("_", "-") in constrained, line
    declared = re.findall(r'"([a-z-]+)>=', (ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert {name for name in declared if name not in constrained} == set()


def test_every_first_party_plugin_is_installed_by_the_requirements():
    listed = [line.removeprefix("-e ") for line in _lines("requirements.txt") if line.startswith("-e plugins/")]
    assert sorted(listed) == sorted(f"plugins/{path.parent.name}" for path in (ROOT / "plugins").glob("*/pyproject.toml"))


def _lines(file: str) -> list[str]:
    lines = (ROOT / file).read_text(encoding="utf-8").splitlines()
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]
