"""What commands on small files import: heavy libraries are imported when something is computed with them.

A process of its own runs each command and lists its modules. numpy is named by a module inside it: a stand-in is not the library.
"""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SWAPPING, RESPONSE = "specs/swapping-permutation.dpspec.toml", "specs/randomised-response.dpspec.toml"
HEAVY = {"numpy._core", "scipy", "polars", "hypothesis", "pyarrow", "cryptography", "dpspec_code.sampled.engine"}


def imported(code: str, *arguments: str) -> set[str]:
    """The modules of a process that has run some code."""
    written = f"{code}\nimport sys\nprint('modules', *sorted(sys.modules))"
    run = subprocess.run(
        [sys.executable, "-c", written, *arguments], cwd=ROOT, capture_output=True, text=True, check=True, timeout=600
    )
    return set(run.stdout.rpartition("modules ")[2].split())


def commanded(*arguments: str) -> set[str]:
    return imported("import sys\nfrom dpspec.cli import main\nmain(sys.argv[1:], standalone_mode=False)", *arguments)


@pytest.mark.parametrize(
    "arguments", [("check", SWAPPING), ("verify", SWAPPING), ("compare", SWAPPING, RESPONSE)], ids=lambda given: given[0]
)
def test_a_command_on_small_files_imports_no_heavy_library(arguments):
    assert commanded(*arguments) & HEAVY == set()


def test_what_samples_functions_would_be_seen():
    assert {"numpy._core", "dpspec_code.sampled.engine"} <= imported("import dpspec_code.judge")


def test_every_registered_class_is_imported_without_a_heavy_library():
    loaded = imported("from dpspec.extension import installed\nfor entry in installed().registry: entry.cls")
    assert loaded & HEAVY == set()
    assert {"dpspec_noise.additive", "dpspec_census.swapping", "dpspec_tables.formats"} <= loaded
