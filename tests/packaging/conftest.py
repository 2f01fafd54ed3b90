"""Clean environments: distributions built and installed with pip, without a network."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator
from pathlib import Path

import attrs
import pytest

ROOT = Path(__file__).parents[2]
FIRST_PARTY = (ROOT, *sorted(path.parent for path in (ROOT / "plugins").glob("*/pyproject.toml")))
NOT_LINKED = ("dpspec", "__editable__", "_virtualenv", "distutils-precedence")
"""What is left out of the links to the environment that runs the tests: dpspec comes from the checkout alone."""


@attrs.frozen
class Done:
    """What a program gave back."""

    code: int
    out: str
    err: str


@attrs.define
class Clean:
    """A virtual environment of its own.

    Args:
        home: its folder.
        work: the directory that programs run in.
        laid_beside: further folders with distributions in them.
    """

    home: Path
    work: Path
    laid_beside: tuple[Path, ...] = ()

    def run(self, *command: str, together: bool = False, **environment: str) -> Done:
        """A program of the environment, without a shell; `dpspec` and `python` are its own.

        Args:
            command: its words.
            together: errors stand in `out`, too.
            environment: variables.
        """
        program = str(self.home / "bin" / command[0])
        inherited = {key: value for key, value in os.environ.items() if not key.startswith(("DPSPEC_", "PYTHON"))}
        inherited["PYTHONPATH"] = os.pathsep.join(map(str, self.laid_beside))
        inherited["PATH"] = f"{self.home / 'bin'}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            [program, *command[1:]], cwd=self.work, env={**inherited, **environment}, text=True, check=False,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT if together else subprocess.PIPE,
        )  # fmt: skip
        return Done(done.returncode, done.stdout, done.stderr or "")

    def install(self, *sources: Path | str) -> None:
        """Build and install distributions from source, with nothing taken from an index; `-e` before a folder leaves it there."""
        options = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check"]
        subprocess.run(
            [sys.executable, "-m", "pip", "--python", str(self.home), "install", *options, *map(str, sources)],
            check=True, capture_output=True, cwd=self.work,
        )  # fmt: skip

    def install_wheels(self, folder: Path, *requirements: str) -> None:
        """Install what is required from wheels of a folder. What no test imports is not compiled."""
        options = ["--quiet", "--no-compile", "--no-index", "--find-links", str(folder), "--disable-pip-version-check"]
        subprocess.run(
            [sys.executable, "-m", "pip", "--python", str(self.home), "install", *options, *requirements],
            check=True, capture_output=True, cwd=self.work,
        )  # fmt: skip

    def uninstall(self, *names: str) -> None:
        subprocess.run(
            [sys.executable, "-m", "pip", "--python", str(self.home), "uninstall", "--quiet", "--yes", *names],
            check=True, capture_output=True, cwd=self.work,
        )  # fmt: skip


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheels of dpspec and its first-party plugins, and their SHA-256.

    The script calls the build backend that pip calls. pip starts two processes for each package and takes ten times as long;
    `.ci/run` installs all packages from their sources with pip.
    """
    folder = tmp_path_factory.mktemp("wheels")
    subprocess.run([sys.executable, str(ROOT / "packaging" / "wheels.py"), str(folder)], check=True, capture_output=True)
    return folder


def environment_without_dpspec(home: Path, work: Path) -> Clean:
    """An environment in which third-party libraries are linked, one by one, and nothing else is."""
    venv.create(home, symlinks=True, with_pip=False)
    inside = next((home / "lib").glob("python*/site-packages"))
    outside = Path(sys.modules["attrs"].__file__ or "").parents[1]
    for library in outside.iterdir():
        if not library.name.startswith(NOT_LINKED) and library.suffix != ".pth":
            (inside / library.name).symlink_to(library)
    return Clean(home, work)


@pytest.fixture(scope="session")
def clean(wheels: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clean]:
    """`dpspec[standard]` from wheels alone, outside the checkout."""
    home, work = tmp_path_factory.mktemp("clean"), tmp_path_factory.mktemp("work")
    environment = environment_without_dpspec(home, work)
    environment.install_wheels(wheels, "dpspec[standard]")
    yield environment
    shutil.rmtree(home)


@pytest.fixture
def third_party(clean: Clean, tmp_path: Path) -> Iterator[object]:
    """Lays a distribution with one plugin module beside the environment, as pip would unpack it; takes it away afterwards."""
    folder = tmp_path / "beside"

    def install(distribution: str, plugin: str, text: str) -> None:
        module = distribution.replace("-", "_")
        info = folder / f"{module}-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n", encoding="utf-8")
        (info / "entry_points.txt").write_text(f"[dpspec]\n{plugin} = {module}\n", encoding="utf-8")
        (folder / f"{module}.py").write_text(text, encoding="utf-8")

    clean.laid_beside = (folder,)
    yield install
    clean.laid_beside = ()
