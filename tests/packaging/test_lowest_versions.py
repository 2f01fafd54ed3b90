"""The lowest versions that the distributions ask for, installed together: what the metadata promises is tried."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import venv

import pytest

from tests.packaging.conftest import FIRST_PARTY, ROOT, Clean

pytestmark = pytest.mark.long

TRIED = ("tests/unit/test_exact.py", "tests/unit/test_params.py", "tests/laws/test_sandwich.py", "tests/ledger/test_composing.py")
UNREACHABLE = ("from versions: none", "connection", "Connection", "timed out", "Temporary failure")
"""What pip says where there is no index; a version that does not exist is a wrong bound, and fails."""


def bounds() -> dict[str, str]:
    """The lower bound of every library that the core and the plugins need; of several the highest."""
    found: dict[str, str] = {}
    for folder in FIRST_PARTY:
        project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        for need in project["dependencies"]:
            name, bound = re.fullmatch(r"([\w-]+)>=([\d.]+)(?:,.*)?", need).groups()
            if not name.startswith("dpspec"):
                found[name] = max(found.get(name, "0"), bound, key=lambda text: [int(part) for part in text.split(".")])
    return found


@pytest.fixture(scope="module")
def lowest(wheels, tmp_path_factory):
    """An environment with the lowest versions, the wheels, and a test runner that bears with them."""
    home = tmp_path_factory.mktemp("lowest")
    venv.create(home, symlinks=True, with_pip=False)
    pip = [sys.executable, "-m", "pip", "--python", str(home), "install", "--quiet", "--disable-pip-version-check"]
    pinned = [f"{name}=={bound}" for name, bound in bounds().items()]
    done = subprocess.run(
        [*pip, "--only-binary", ":all:", *pinned, "pytest", "pytest-xdist"], capture_output=True, text=True, check=False
    )
    if done.returncode and any(words in done.stderr for words in UNREACHABLE):
        pytest.skip(f"no index of packages has the lowest versions: {done.stderr.strip().splitlines()[-1]}")
    assert done.returncode == 0, done.stderr
    subprocess.run([*pip, "--no-index", "--find-links", str(wheels), "dpspec[standard]"], check=True)
    return Clean(home, tmp_path_factory.mktemp("work"))


def test_every_bound_is_a_version():
    assert {"attrs", "numpy", "polars", "python-flint", "scipy"} <= set(bounds())


def test_the_commands_run(lowest):
    pair = (ROOT / "specs" / f"{name}.dpspec.toml" for name in ("topdown-2020-pl", "swapping-2020-county-tract"))
    compared = lowest.run("dpspec", "compare", *map(str, pair))
    assert compared.code == 0, compared.err
    verified = lowest.run("dpspec", "verify", str(ROOT / "specs" / "randomised-response.dpspec.toml"))
    assert verified.code == 0, verified.err
    plugins = lowest.run("dpspec", "plugins")
    assert plugins.code == 0, plugins.err
    assert "fail" not in plugins.out


def test_a_selection_of_the_tests_passes(lowest):
    lowest.work = ROOT
    done = lowest.run("pytest", "-q", "-n", "0", "-p", "no:cacheprovider", *TRIED, PYTHONDONTWRITEBYTECODE="1")
    assert done.code == 0, done.out[-2000:] + done.err
