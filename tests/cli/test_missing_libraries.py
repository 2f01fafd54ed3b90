"""Each optional library that is not there: one line that says what to install, exit code 2, and nothing is written."""

import re
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RESPONSE = ROOT / "specs" / "randomised-response.dpspec.toml"
SWAP = ROOT / "specs" / "swapping-derangement.dpspec.toml"
FUNCTION = "def told(table: 'pyarrow.Table', generator):\n    return 0\n"
CALLS = [
    ("pyreadstat", "dpspec-tables[statistics]", ["new", "spec", "--from", "t.sav"]),
    ("pyreadstat", "dpspec-tables[statistics]", ["new", "spec", "--from", "t.dta"]),
    ("pyreadstat", "dpspec-tables[statistics]", ["release", RESPONSE, "t.sav", "--out", "out"]),
    ("openpyxl", "dpspec-tables[excel]", ["new", "spec", "--from", "t.xlsx"]),
    ("duckdb", "dpspec-tables[sql]", ["release", RESPONSE, "t.sql", "--out", "out"]),
    ("duckdb", "dpspec-release[spill]", ["release", SWAP, "t.csv", "--out", "out", "--memory", "1MB"]),
    ("matplotlib", "dpspec[pdf]", ["curve", RESPONSE, "--out", "a.pdf"]),
    ("matplotlib", "dpspec[pdf]", ["compare", RESPONSE, RESPONSE, "--picture", "a.pdf"]),
    ("resvg_py", "dpspec[png]", ["curve", RESPONSE, "--out", "a.png"]),
    ("resvg_py", "dpspec[png]", ["risk", RESPONSE, "--picture", "a.png"]),
    ("resvg_py", "dpspec[png]", ["explain", "flavours", "--picture", "a.png"]),
    ("yaml", "dpspec-deployments[registry]", ["registry", "import", "record.yaml", "--out", "out"]),
    ("pyarrow", "pyarrow", ["verify", RESPONSE, "--function", "told:told"]),
]
NAMES = {"yaml": "PyYAML"}


@pytest.mark.parametrize(("library", "brings", "command"), CALLS)
def test_a_missing_library_is_one_line_and_nothing_is_written(run, tmp_path, monkeypatch, library, brings, command):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    for name in [name for name in sys.modules if name.partition(".")[0] == library]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, library, None)
    for name in ("t.sav", "t.dta", "t.xlsx", "t.sql", "t.csv", "record.yaml"):
        Path(name).write_bytes(b"a: 1\n")
    Path("told.py").write_text(FUNCTION, encoding="utf-8")
    before = set(tmp_path.rglob("*"))
    done = run(*command)
    assert (done.code, done.err.count("\n")) == (2, 1), done
    assert not done.out or command[0] == "verify"  # which has a line for each file
    assert NAMES.get(library, library) in done.err
    assert re.search(rf'pip install "?{re.escape(brings)}"?', done.err), done.err
    assert {path for path in tmp_path.rglob("*") if "__pycache__" not in path.parts} == before


def test_every_extra_is_tried():
    projects = [ROOT / "pyproject.toml", *(ROOT / "plugins").glob("*/pyproject.toml")]
    extras = set()
    for path in projects:
        project = tomllib.loads(path.read_text(encoding="utf-8"))["project"]
        extras |= {f"{project['name']}[{extra}]" for extra in project.get("optional-dependencies", {})}
    elsewhere = {
        "dpspec[standard]": "plugins, without which names are unknown",
        "dpspec-engines[dask]": "plugins/dpspec-engines/tests: only a mechanism with long work starts its workers",
        "dpspec-engines[ray]": "the same",
        "dpspec-engines[spark]": "the same",
        "dpspec-adapters[opendp]": "asked for in Python, plugins/dpspec-adapters/tests",
        "dpspec-adapters[diffprivlib]": "never imported by dpspec: the code that is judged imports it",
        "dpspec-adapters[dp-accounting]": "asked for in Python, plugins/dpspec-adapters/tests",
        "dpspec-accounts[postgresql]": "plugins/dpspec-accounts/tests: a database that is not there",
        "dpspec-census[plots]": "what `reproductions` draws with",
    }
    assert extras == {brings for _, brings, _ in CALLS if "[" in brings} | set(elsewhere)
