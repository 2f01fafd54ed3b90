"""Build the wheels of dpspec and its first-party plugins, the same bytes from the same sources, with their SHA-256.

    python packaging/wheels.py FOLDER

Every file in a wheel has one date: that of SOURCE_DATE_EPOCH, or 1 January 1980 where it is not set, which is the earliest date
that a zip archive can state. So the bytes depend neither on when and where the wheels are built nor on when files were checked
out. The wheels are built from copies, so that nothing is left in the sources. It needs flit_core, and neither pip nor a network.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EARLIEST = "315532800"
"""1 January 1980 in seconds since 1970."""

LEFT_OUT = {"tests", "plugins", "docs", "specs", "benchmarks", "reproductions", "packaging", "build", "dist"}
"""Folders of a checkout that are in no wheel."""

BUILD = """
import os, sys
from flit_core.buildapi import build_wheel
for folder in sys.argv[2:]:
    os.chdir(folder)
    build_wheel(sys.argv[1])
"""
"""One process builds all: to start a process takes longer than to build a wheel."""


def left_out(project: Path) -> Callable[[str, list[str]], set[str]]:
    """What is not copied of a project: folders at its top that are in no wheel, and bytecode anywhere."""

    def ignored(folder: str, names: list[str]) -> set[str]:
        top = LEFT_OUT | {name for name in names if name.startswith(".")} if Path(folder) == project else set()
        return {name for name in names if name in top or name == "__pycache__" or name.endswith(".pyc")}

    return ignored


def projects() -> list[Path]:
    """The folders of the core and of every first-party plugin."""
    return [ROOT, *sorted(path.parent for path in (ROOT / "plugins").glob("*/pyproject.toml"))]


def build(target: Path) -> list[Path]:
    """Build all wheels into a folder, with a file SHA256SUMS as `sha256sum --check` reads it."""
    target.mkdir(parents=True, exist_ok=True)
    dated = {**os.environ, "SOURCE_DATE_EPOCH": os.environ.get("SOURCE_DATE_EPOCH") or EARLIEST}
    with tempfile.TemporaryDirectory() as folder:
        copies = [
            str(shutil.copytree(project, Path(folder) / str(place), ignore=left_out(project)))
            for place, project in enumerate(projects())
        ]
        command = [sys.executable, "-c", BUILD, str(target.resolve()), *copies]
        subprocess.run(command, check=True, cwd=folder, env=dated)  # noqa: S603 - nothing of it is given from outside
    built = sorted(target.glob("*.whl"))
    lines = [f"{hashlib.sha256(wheel.read_bytes()).hexdigest()}  {wheel.name}\n" for wheel in built]
    (target / "SHA256SUMS").write_text("".join(lines), encoding="utf-8")
    return built


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the wheels go")
    built = build(parser.parse_args().folder)
    sys.stdout.write("".join(f"{wheel.name}\n" for wheel in built))
    return 0


if __name__ == "__main__":
    sys.exit(main())
