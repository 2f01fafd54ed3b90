"""The pages say what the program does."""

from __future__ import annotations

import importlib.util
import re
import runpy
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import click
import pytest

from dpspec import Outcome, installed
from dpspec.api import read
from dpspec.base.lazy import at
from dpspec.blocks.parts import PARTS, Wording
from dpspec.extension import KINDS
from dpspec.extension.hooks import BASES
from dpspec.extension.packages import COMMANDS, contributed
from dpspec.verifier.entry import verify_claim

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def maker():
    spec = importlib.util.spec_from_file_location("make_reference", ROOT / "docs" / "make_reference.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_the_generated_pages_are_up_to_date():
    """If one is not: run python docs/make_reference.py"""
    made = maker().PAGES
    assert {"errors.md", "hooks.md", "cli.md", "checks.md", "lint.md", "parts.md", "sources.md"} <= set(made)
    kept = {page: (ROOT / "docs" / "reference" / page).read_text(encoding="utf-8") for page in made}
    assert [page for page, make in made.items() if kept[page] != make()] == []


def test_the_table_of_methods_says_of_each_what_it_opens():
    """Each method of each base class has a line, and no line is of a method that is gone."""
    from dpspec.cli import main

    made = maker()
    for kind in KINDS:
        assert set(made.OPENS[kind]) == set(made.overridable(at(BASES[kind]))), kind
    assert set(made.OPENS) == set(KINDS)
    for part in PARTS:
        opened = re.findall(r"^        ([a-z, ]+): ", part.__doc__.partition("Opens:")[2], re.MULTILINE)
        assert opened, part
        assert set(", ".join(opened).split(", ")) <= {*main.commands, *contributed(COMMANDS), "tests"}, part
        assert part.__abstractmethods__ or part is Wording, part


def test_the_pages_name_every_error_hook_and_command():
    from dpspec.base.errors import error_classes
    from dpspec.cli import main

    folder = ROOT / "docs" / "reference"
    pages = {name: (folder / name).read_text(encoding="utf-8") for name in ("errors.md", "hooks.md", "cli.md")}
    for cls in error_classes():
        if cls.__module__.partition(".")[0] == "dpspec":
            assert f"| `{cls.code}` | {cls.exit_code} |" in pages["errors.md"]
    for kind in KINDS:
        assert f"\n## `dpspec_register_{kind}(" in pages["hooks.md"]
    for name, command in main.commands.items():
        assert f"\n## `dpspec {name}`\n" in pages["cli.md"]
        if isinstance(command, click.Group):
            assert all(f"\n## `dpspec {name} {inner}`\n" in pages["cli.md"] for inner in command.commands)


def test_error_codes_are_told_apart():
    from dpspec.base.errors import error_classes

    codes = [cls.code for cls in error_classes() if cls.__module__.partition(".")[0] == "dpspec"]
    inherited = {"spec", "plugin", "dpspec-error"}
    assert len(codes) == len(set(codes)), sorted(code for code in codes if codes.count(code) > 1)
    assert inherited <= set(codes)


# --- README --------------------------------------------------------------------------------------


def test_the_readme_has_the_two_commands():
    assert re.findall(r"^pip install -r .*$", README, re.MULTILINE) == [
        "pip install -r requirements.txt && "
        "dpspec compare specs/topdown-2020-pl-persons.dpspec.toml "
        "specs/swapping-2020/swapping-2020-county-tract-by-universe.dpspec.toml",
        "pip install -r requirements-test.txt && pytest",
    ]


@pytest.mark.parametrize(("budget", "outcome"), [('"ln(3)"', Outcome.VERIFIED), ("1", Outcome.REFUTED)])
def test_the_specification_in_the_readme_holds(tmp_path, budget, outcome):
    (text,) = re.findall(r"^```toml\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    path = tmp_path / "warner.dpspec.toml"
    path.write_text(text.replace('"ln(3)"', budget), encoding="utf-8")
    document = read(path, installed().registry)
    assert verify_claim(document.mechanism, document.spec).outcome is outcome


def test_the_readme_is_short():
    """A first page is read whole: at most 900 words, code included."""
    assert len(README.split()) <= 900


def test_the_first_test_of_the_readme_fails_as_printed(tmp_path):
    """The output of the first screen is what the tool prints, and the change that the README names makes the test pass."""
    code, printed = re.search(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```$", README, re.MULTILINE | re.DOTALL).groups()
    assert len([line for line in code.splitlines() if line]) <= 8
    assert len(printed.splitlines()) <= 10
    (tmp_path / "test_randomised.py").write_text(code, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=short", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stdout
    said = "\n".join(line.removeprefix("E   ") for line in done.stdout.splitlines())
    assert all(line in said for line in printed.splitlines()), done.stdout
    assert "0.75 in place of 0.8 the test passes" in README
    mended = tmp_path / "randomised_and_mended.py"
    mended.write_text(code.replace("0.8", "0.75"), encoding="utf-8")
    tests = [value for name, value in runpy.run_path(str(mended)).items() if name.startswith("test_")]
    assert len(tests) == 1
    tests[0]()


def test_the_landing_page_begins_like_the_readme():
    """So the test above is about both."""
    page = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    assert re.findall(r"^```(?:python|text)\n.*?^```$", page, re.MULTILINE | re.DOTALL)[:2] == re.findall(
        r"^```(?:python|text)\n.*?^```$", README, re.MULTILINE | re.DOTALL
    )[:2]


def test_the_mechanism_of_the_readme_is_that_of_the_example():
    """What the README shows of the plugin, line for line, without the docstring and the check."""
    (shown,) = re.findall(r"^```python\n(@define.*?)^```$", README, re.MULTILINE | re.DOTALL)
    whole = (ROOT / "docs" / "examples" / "dpspec-hello" / "src" / "dpspec_hello" / "__init__.py").read_text(encoding="utf-8")
    assert [line for line in shown.splitlines() if line not in whole.splitlines()] == []


def test_the_comparison_of_the_readme_is_what_the_command_prints():
    command = re.search(r"^pip install .* && dpspec (compare .*)$", README, re.MULTILINE)[1]
    (shown,) = re.findall(r"^```text\n(Relation: .*?)^```$", README, re.MULTILINE | re.DOTALL)
    words = [sys.executable, "-m", "dpspec", *command.split()]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
    assert " ".join(done.stdout.split()).startswith(" ".join(shown.split()))  # lines are broken at the width of the terminal


def test_links_lead_somewhere():
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    assert len(pages) > 15
    assert [
        f"{page.relative_to(ROOT)} links to {target}"
        for page in pages
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8"))
        if "://" not in target and not (page.parent / target).exists()
    ] == []


@pytest.mark.slow
def test_the_module_docstring_of_dpspec_is_true():
    import dpspec

    code = "\n".join(line[4:] for line in dpspec.__doc__.splitlines() if line.startswith("    "))
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[0] == "verified"


def made(name: str) -> ModuleType:
    """A script of docs as a module."""
    found = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_the_picture_of_the_architecture_is_up_to_date():
    """If it is not: run python docs/make_architecture.py"""
    assert (ROOT / "docs" / "architecture.svg").read_text(encoding="utf-8") == made("make_architecture").picture()


def test_every_package_is_in_the_table_of_the_architecture():
    """Its figures are measured when the page is made. If a package is missing: run python docs/make_architecture.py"""
    module = made("make_architecture")
    text = module.PAGE.read_text(encoding="utf-8")
    assert re.findall(r"^\| `(dpspec[\w-]*)` \|", text, re.MULTILINE) == list(module.packages())


def test_what_first_party_packages_bring_is_up_to_date():
    """If it is not: run python docs/make_packages.py"""
    module = made("make_packages")
    assert module.TABLE.read_text(encoding="utf-8") == module.table()
