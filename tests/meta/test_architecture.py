"""The house plan as a test: few files, few floors, arrows that point down, no circle, one meaning for each name."""

from __future__ import annotations

import ast
import collections
import functools
import graphlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.meta.trees import imports, tree

ROOT = Path(__file__).parents[2]

FLOORS = [
    ("dpspec.base",),
    ("dpspec.laws",),
    ("dpspec.blocks",),
    ("dpspec.extension", "dpspec.grammar"),
    ("dpspec.risks", "dpspec.specfile"),
    ("dpspec.reason", "dpspec.scaffold", "dpspec.verifier"),
    ("dpspec.comparison", "dpspec.linter"),
    ("dpspec.report",),
    ("dpspec.api", "dpspec.constructors", "dpspec.testing"),
    ("dpspec.commands", "dpspec.plugin"),
    ("dpspec", "dpspec.cli", "dpspec.pytest_plugin"),
    ("dpspec.__main__",),
]
"""From the ground up. What stands on one line is apart: none imports another, except inside one package."""

FACES = (
    "dpspec", "dpspec.plugin", "dpspec.plugin.applications", "dpspec.plugin.judges", "dpspec.plugin.releases", "dpspec.testing",
)  # fmt: skip
"""What a plugin may import."""


def sources() -> dict[str, Path]:
    """Every module of the core and of the first-party plugins, by name."""
    roots = [ROOT / "dpspec", *(path for path in (ROOT / "plugins").glob("*/src/*") if path.is_dir())]
    found = {}
    for root in roots:
        for path in sorted(root.rglob("*.py")):
            parts = path.relative_to(root.parent).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


SOURCES = sources()
MODULES = {name: path for name, path in SOURCES.items() if name.partition(".")[0] == "dpspec"}


def component(module: str) -> str:
    """The entry of FLOORS that a module belongs to."""
    return ".".join(module.split(".")[:2])


def floor(module: str) -> int:
    for height, names in enumerate(FLOORS):
        if component(module) in names:
            return height
    raise AssertionError(f"{module} stands on no floor: add it to FLOORS")


def imported(module: str) -> Iterator[str]:
    """The modules of the house that a file imports, wherever in it: inside functions and for types only, too."""
    for node in imports(SOURCES[module]):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in SOURCES)
        elif node.module in SOURCES:
            assert node.level == 0, "imports are absolute"
            inner = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (name if name in SOURCES else node.module for name in inner)


@functools.cache
def arrows() -> dict[str, set[str]]:
    return {name: set(imported(name)) - {name} for name in SOURCES}


def test_the_house_is_small():
    assert len(list((ROOT / "dpspec").glob("*.py"))) <= 8
    assert len(FLOORS) <= 12


@pytest.mark.slow
def test_imports_go_down():
    above = [
        f"{module} imports {target}"
        for module in MODULES
        for target in arrows()[module]
        if component(module) != component(target) and floor(target) >= floor(module)
    ]
    assert above == []


def test_there_is_no_circle_between_files():
    graphlib.TopologicalSorter(arrows()).prepare()


def test_a_circle_would_be_found():
    sorter = graphlib.TopologicalSorter({"a": {"b"}, "b": {"a"}})
    try:
        sorter.prepare()
    except graphlib.CycleError:
        return
    raise AssertionError("a circle goes unseen")


def test_no_module_name_is_used_more_than_twice_in_a_package():
    """Two packages may use the same noun."""
    names = collections.Counter((name.partition(".")[0], path.stem) for name, path in SOURCES.items() if path.stem != "__init__")
    assert {name: times for name, times in names.items() if times > 2} == {}


def meanings() -> dict[str, dict[str, list[str]]]:
    """Every name of a class or of an alias on the first level of a module: what it stands for, and where."""
    found: dict[str, dict[str, list[str]]] = collections.defaultdict(lambda: collections.defaultdict(list))
    for module in SOURCES:
        for node in tree(SOURCES[module]).body:
            if isinstance(node, ast.ClassDef):
                found[node.name][f"class of {module}"].append(module)
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and _is_type(node.targets[0].id):
                found[node.targets[0].id][ast.unparse(node.value)].append(module)
    return found


def _is_type(name: str) -> bool:
    return name[:1].isupper() and not name.isupper()


def test_no_class_or_alias_of_a_package_means_two_things():
    """An alias may be written in several files when it is the same there; another package may use the same noun."""
    twice = {}
    for name, things in meanings().items():
        packages = [package for modules in things.values() for package in {".".join(module.split(".")[:2]) for module in modules}]
        if len(packages) > len(set(packages)):
            twice[name] = dict(things)
    assert twice == {}


def test_the_core_names_no_plugin():
    plugins = [path.parent.name for path in (ROOT / "plugins").glob("*/pyproject.toml")]
    words = [*plugins, *(name.replace("-", "_") for name in plugins)]
    found = [(module, word) for module, path in MODULES.items() for word in words if word in path.read_text(encoding="utf-8")]
    assert found == []


def test_plugins_import_the_faces_alone():
    """Imports in their examples too, so that everything else of the core may move."""
    deeper = []
    for module in SOURCES.keys() - MODULES.keys():
        deeper += [f"{module} imports {target}" for target in arrows()[module] if target in MODULES and target not in FACES]
        shown = re.findall(r">>> (?:from|import) (dpspec[.\w]*)", SOURCES[module].read_text(encoding="utf-8"))
        deeper += [f"{module} shows {name}" for name in shown if name in MODULES and name not in FACES]
    assert deeper == []


def late_faces() -> list[str]:
    return [name for name in SOURCES if "= late_names(__name__, _HOMES" in SOURCES[name].read_text(encoding="utf-8")]


def test_late_names_are_what_type_checkers_see():
    """A name that is loaded late stands in a table for Python and in imports for type checkers: they are the same."""
    wrong = []
    for module in late_faces():
        homes: set[tuple[str, str]] = set()
        typed: set[tuple[str, str]] = set()
        for node in ast.walk(tree(SOURCES[module])):
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "_HOMES":
                homes = {(home, name) for home, names in ast.literal_eval(node.value).items() for name in names}
            elif isinstance(node, ast.ImportFrom):
                typed |= {(node.module or "", alias.name) for alias in node.names}
        wrong += [f"{module}: {home}.{name}" for home, name in homes - typed]
    assert wrong == []


def test_every_late_name_is_there():
    import importlib

    missing = []
    for module in late_faces():
        found = importlib.import_module(module)
        missing += [f"{module}.{name}" for name in found.__all__ if not hasattr(found, name)]
    assert missing == []


def test_every_registered_place_is_the_class_of_its_name():
    from dpspec import installed

    wrong = [entry for entry in installed().registry if getattr(entry.cls, "name", entry.name) != entry.name]
    assert wrong == []


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


def test_no_file_names_a_machine():
    named = []
    for path in TEXTS:
        text = path.read_text(encoding="utf-8")
        found = re.search(r"(?<![\w.!])/(?:home|root|work|opt|tmp|Users|usr)/|pypi\.|pythonhosted|files\.python", text)
        if found is not None:
            named.append(f"{path.relative_to(ROOT)}, line {text.count(chr(10), 0, found.start()) + 1}")
    assert named == []


def test_every_requirement_has_one_exact_version():
    constrained = dict(line.split("==") for line in _lines("constraints.txt"))
    constrained = {name.lower().replace("_", "-"): version for name, version in constrained.items()}
    files = [f"requirements{kind}.txt" for kind in ("", "-test", "-lint", "-docs")]
    for line in (line for file in files for line in _lines(file)):
        if not line.startswith("-"):
            assert line.lower().replace("_", "-") in constrained, line
    declared = re.findall(r'"([a-z-]+)>=', (ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert {name for name in declared if name not in constrained and not name.startswith("dpspec-")} == set()


def test_every_first_party_plugin_is_installed_by_the_requirements():
    listed = [line.removeprefix("-e ") for line in _lines("requirements.txt") if line.startswith("-e plugins/")]
    assert sorted(listed) == sorted(f"plugins/{path.parent.name}" for path in (ROOT / "plugins").glob("*/pyproject.toml"))


def _lines(file: str) -> list[str]:
    lines = (ROOT / file).read_text(encoding="utf-8").splitlines()
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]
