"""The tutorial's plugin as a stranger would meet it: built, installed into a clean environment, found, verified, compared."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from dpspec.scaffold import plugin_files
from tests.packaging.conftest import FIRST_PARTY

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
HELLO = ROOT / "docs" / "examples" / "dpspec-hello"


def test_the_tutorials_plugin_is_what_the_command_writes():
    files = (path for path in HELLO.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    assert {str(path.relative_to(HELLO)): path.read_text(encoding="utf-8") for path in files} == plugin_files("hello")


@pytest.fixture(scope="module")
def hello(clean, tmp_path_factory):
    folder = shutil.copytree(HELLO, tmp_path_factory.mktemp("hello") / HELLO.name, ignore=shutil.ignore_patterns("__pycache__"))
    clean.install(folder)
    yield folder
    clean.uninstall("dpspec-hello")


def test_the_environment_uses_its_own_copies(clean):
    done = clean.run("python", "-c", "import dpspec, dpspec_census; print(dpspec.__file__, dpspec_census.__file__)")
    assert all(path.startswith(str(clean.home)) for path in done.out.split()), done


def test_it_is_made_of_wheels_alone(clean):
    """No distribution came from a folder, and the checkout is on no path."""
    asked = (
        "import sys; from importlib.metadata import distributions\n"
        "ours = [one for one in distributions() if one.name.startswith('dpspec') and one.name != 'dpspec-hello']\n"
        "print(len(ours), [one.name for one in ours if one.read_text('direct_url.json')])\n"
        "print(*sys.path, sep='\\n')"
    )
    first, *paths = clean.run("python", "-c", asked).out.splitlines()
    assert first == f"{len(FIRST_PARTY)} []"
    assert not [path for path in paths if path == str(ROOT) or path.startswith(f"{ROOT}{os.sep}")]


def test_dpspec_finds_it(clean, hello):
    done = clean.run("dpspec", "plugins", "--format", "json")
    assert done.code == 0, done
    found = {plugin["plugin"]: plugin for plugin in json.loads(done.out)["plugins"]}
    assert found["hello"]["distribution"] == "dpspec-hello"
    assert found["hello"]["registers"] == {"output_divergences": ["hello-chi-squared"], "mechanisms": ["hello-count"]}
    assert clean.run("dpspec", "explain", "hello-count").out.startswith("hello-count  mechanism, from dpspec-hello 0.1.0")


def test_dpspec_verifies_with_it(clean, hello):
    done = clean.run("dpspec", "verify", str(hello), "--format", "json")
    assert done.code == 0, done
    (file,) = json.loads(done.out)["files"]
    (obligation,) = file["obligations"]
    assert obligation["verdict"]["constant"] == {"lower": "ln(5)", "upper": "ln(5)"}
    assert "dpspec-hello" in {entry["distribution"] for entry in obligation["verdict"]["provenance"]}


@pytest.mark.parametrize(("budget", "code"), [("12/5", 0), ("2.39", 1)])
def test_its_divergence_judges(clean, hello, tmp_path, budget, code):
    """12/5 = (1/2)^2 / (1/8) + (1/2)^2 / (5/8) is the exact constant."""
    path = chi_squared(hello, tmp_path, budget)
    done = clean.run("dpspec", "verify", str(path))
    assert done.code == code, done
    assert (": refuted" in done.out) == bool(code)


def test_dpspec_compares_with_it(clean, hello, tmp_path):
    strict, loose = chi_squared(hello, tmp_path, "1"), chi_squared(hello, tmp_path, "2")
    done = clean.run("dpspec", "compare", str(strict), str(loose), "--format", "json")
    assert done.code in (0, 3), done
    data = json.loads(done.out)
    assert data["forward"]["answer"] == "implies"
    assert data["blocks"]["left"]["output_divergence"] == ["hello-chi-squared"]


def chi_squared(hello, tmp_path, budget):
    text = (hello / "hello.dpspec.toml").read_text(encoding="utf-8")
    text = text.replace('type = "mult"', 'type = "hello-chi-squared"').replace('epsilon = "ln(5)"', f'chi_squared = "{budget}"')
    path = tmp_path / f"chi-{budget.replace('/', '-')}.dpspec.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_its_own_test_passes(clean, hello):
    done = clean.run("python", "-m", "pytest", "-q", "-p", "no:cacheprovider", str(hello / "tests"))
    assert done.code == 0, done.out


def test_a_new_plugin_works_at_once(clean, tmp_path):
    done = clean.run("dpspec", "new", "plugin", "second-try", "--dir", str(tmp_path))
    assert done.code == 0, done
    folder = tmp_path / "dpspec-second-try"
    clean.install(folder)
    try:
        assert clean.run("dpspec", "verify", str(folder)).code == 0
        assert clean.run("python", "-m", "pytest", "-q", "-p", "no:cacheprovider", str(folder / "tests")).code == 0
    finally:
        clean.uninstall("dpspec-second-try")
