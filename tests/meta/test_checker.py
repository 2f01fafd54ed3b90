"""The checker of derivations is apart from what finds them, and what has to be trusted of it is small."""

import ast
import sys
from pathlib import Path

CORE = Path(__file__).parents[2] / "dpspec"
FILES = {path.stem: path for path in (CORE / "checker").glob("*.py")}
BELOW = ("facts", "constants", "conversions", "pairs", "check")
"""From the ground up: arithmetic and what is read from tables, facts about named blocks, the chain of steps."""

END_OF_ARITHMETIC = "# --- what the checker reads"
"""The kernel is `check`, with the side condition of every rule, and of `facts` the arithmetic, which ends here."""


def imported(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module


def lines_of_code(source):
    """Without docstrings, imports, comments and blank lines."""
    tree = ast.parse(source)
    texts = [node for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)]
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    left_out = {line for node in (*texts, *imports) for line in range(node.lineno, node.end_lineno + 1)}
    code = enumerate(source.splitlines(), 1)
    return sum(1 for line, text in code if text.strip() and not text.strip().startswith("#") and line not in left_out)


def test_the_kernel_is_under_370_lines():
    chain, facts = (FILES[name].read_text(encoding="utf-8") for name in ("check", "facts"))
    arithmetic, mark, _ = facts.partition(END_OF_ARITHMETIC)
    assert mark
    assert lines_of_code(chain) + lines_of_code(arithmetic) < 370


def test_it_stands_on_the_standard_library_two_packages_and_the_errors():
    assert [
        f"{name} imports {module}"
        for name, path in FILES.items()
        for module in imported(path)
        if module.partition(".")[0] not in {*sys.stdlib_module_names, "attrs", "flint"}
        and not module.startswith(("dpspec.checker.", "dpspec.base.errors"))
    ] == []


def test_its_modules_stand_on_those_before_them():
    assert set(FILES) == {*BELOW, "__init__"}
    assert [
        f"{name} imports {module}"
        for place, name in enumerate(BELOW)
        for module in imported(FILES[name])
        if module.startswith("dpspec.checker") and module not in {f"dpspec.checker.{below}" for below in BELOW[:place]}
    ] == []


def test_nothing_that_finds_derivations_knows_the_checker():
    users = {path.relative_to(CORE).parts[0] for path in CORE.rglob("*.py") if any("checker" in m for m in imported(path))}
    assert users <= {"checker", "cli", "report", "api.py", "__init__.py"}
