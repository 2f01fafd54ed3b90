"""The checker of derivations is apart from what finds them, and what has to be trusted of it is small."""

import ast
import sys
from pathlib import Path

from tests.meta.trees import imports, tree

CORE = Path(__file__).parents[2] / "dpspec"
FILES = {path.stem: path for path in (CORE / "checker").glob("*.py")}
KERNEL = ("check", "numbers")
"""The chain of steps, the side condition of every rule, and the arithmetic; the others are facts about named blocks."""
FACTS = ("constants", "universes", "conversions", "pairs", "noise")
"""The other modules; each knows at most those before it."""
READERS = ("json_files",)
"""What reads a file, and knows nothing of what is in it."""
PROOFS = ("attained", "stated", "proofs")
"""What checks proofs of claims and what a verdict states, by the same facts and beside the kernel."""


def imported(path):
    for node in imports(path):
        yield from [node.module] if isinstance(node, ast.ImportFrom) else (alias.name for alias in node.names)


def lines_of_code(path):
    """Without docstrings, comments and blank lines."""
    texts = [node for node in ast.walk(tree(path)) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)]
    documented = {line for node in texts for line in range(node.lineno, node.end_lineno + 1)}
    code = enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
    return sum(1 for line, text in code if text.strip() and not text.strip().startswith("#") and line not in documented)


def test_the_kernel_is_under_400_lines():
    assert sum(lines_of_code(FILES[name]) for name in KERNEL) < 400


def test_it_stands_on_the_standard_library_two_packages_and_the_errors():
    assert [
        f"{name} imports {module}"
        for name, path in FILES.items()
        for module in imported(path)
        if module.partition(".")[0] not in {*sys.stdlib_module_names, "attrs", "flint"}
        and not module.startswith(("dpspec.checker.", "dpspec.base.errors"))
    ] == []


def test_facts_stand_on_the_arithmetic_and_on_facts_before_them():
    assert set(FILES) == {*KERNEL, *FACTS, *READERS, *PROOFS, "__init__"}
    assert [
        f"{name} imports {module}"
        for place, name in enumerate(FACTS)
        for module in imported(FILES[name])
        if module.startswith("dpspec.") and module not in {f"dpspec.checker.{below}" for below in ("numbers", *FACTS[:place])}
    ] == []


def test_nothing_that_finds_derivations_knows_the_checker():
    users = {path.relative_to(CORE).parts[0] for path in CORE.rglob("*.py") if any("checker" in m for m in imported(path))}
    assert users <= {"checker", "commands.py", "cli", "deployments", "report", "api.py", "__init__.py"}
