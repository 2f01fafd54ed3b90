"""Broken plugins through the command line, installed as a distribution with an entry point: none is verified, all are rejected.

A plugin is laid out as pip would unpack it: a module, its metadata and its entry point. One process verifies all files.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import attrs
import pytest

from dpspec.base.errors import PluginContractError
from dpspec.extension import Registry
from dpspec.extension.loader import load_plugins
from dpspec.specfile.document import SpecDocument
from dpspec.specfile.writer import to_toml
from dpspec.verifier.entry import verify_claim
from dpspec.verifier.verdict import Outcome
from tests.verify import broken_blocks, broken_mechanisms

MODULES = {"broken-blocks": broken_blocks, "broken-mechanisms": broken_mechanisms}
RIGHT = {"broken-asymmetric", "broken-one-sided", "test-correct", "broken-exact-by-sex", "broken-noisy-by-sex"}
"""What is registered beside and is as it says."""
CLAIMS = [
    *broken_blocks.claims(),
    *((f"{mechanism.name}-{place}", mechanism, spec) for place, (mechanism, spec) in enumerate(broken_mechanisms.BROKEN)),
]


@attrs.frozen
class Ran:
    """What a command printed as JSON.

    Args:
        code: its exit code.
        data: the JSON.
        errors: what it wrote to standard error.
    """

    code: int
    data: Any
    errors: str


def laid_out(folder: Path, name: str, module: ModuleType) -> None:
    """A distribution of one module in a folder."""
    made = name.replace("-", "_")
    info = folder / f"{made}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(f"[dpspec]\n{name} = {made}\n", encoding="utf-8")
    assert module.__file__ is not None
    (folder / f"{made}.py").write_text(Path(module.__file__).read_text(encoding="utf-8"), encoding="utf-8")


@pytest.fixture(scope="module")
def registry() -> Registry:
    return load_plugins(modules=list(MODULES.items())).registry


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("distributions")
    for name, module in MODULES.items():
        laid_out(folder, name, module)
    return folder


def dpspec(folder: Path, *arguments: object) -> Ran:
    """Run the command in a process of its own, with the distributions of a folder."""
    path = os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH", ""))))
    done = subprocess.run(
        [sys.executable, "-m", "dpspec", *map(str, arguments), "--format", "json"],
        env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "Traceback" not in done.stderr, done.stderr
    return Ran(done.returncode, json.loads(done.stdout), done.stderr)


@pytest.mark.parametrize(
    ("name", "mechanism", "spec"), broken_blocks.claims(), ids=lambda value: value if isinstance(value, str) else ""
)
def test_a_broken_block_verifies_nothing(name: str, mechanism: Any, spec: Any) -> None:
    try:
        found = verify_claim(mechanism, spec)
    except PluginContractError as fault:
        blocks = (spec.input_divergence, spec.output_divergence, *(spec.multiverse.induced_by() or ()), mechanism)
        assert any(block.name in str(fault) for block in blocks), str(fault)  # noqa: PT017 - a refutation is as good
    else:
        assert found.outcome is not Outcome.VERIFIED


def test_no_false_claim_of_an_installed_plugin_is_verified(installed: Path, registry: Registry, tmp_path: Path) -> None:
    """`dpspec verify FILE ...`: each file is refuted or undecided, or its plugin is named as the cause."""
    paths = {}
    for place, (name, mechanism, spec) in enumerate(CLAIMS):
        document = SpecDocument(id=f"claim-{place}", title=name, spec=spec, mechanism=mechanism)
        paths[name] = tmp_path / f"{place:02}.dpspec.toml"
        paths[name].write_text(to_toml(document, registry), encoding="utf-8")
    ran = dpspec(installed, "verify", *paths.values())
    assert ran.code != 0
    outcomes = {name: file["outcome"] for name, file in zip(paths, ran.data["files"], strict=True)}
    assert len(outcomes) == len(CLAIMS)
    assert [name for name, outcome in outcomes.items() if outcome not in {"refuted", "undecided", "plugin"}] == []
    for name, file in zip(paths, ran.data["files"], strict=True):
        if file["outcome"] == "plugin":
            (error,) = file["errors"]
            assert error["code"] in {"plugin-contract", "contradicted"}, (name, error)
            assert "broken-" in error["message"] or "test-" in error["message"], (name, error)


@pytest.mark.long
@pytest.mark.parametrize("name", MODULES)
def test_conformance_rejects_each_broken_class(name: str, installed: Path) -> None:
    ran = dpspec(installed, "check-plugin", name)
    assert ran.code == 1
    rows = [(row["subject"].partition(" ")[0], row["status"]) for row in ran.data["results"]]
    failed = {subject for subject, status in rows if status == "failed"}
    entries = load_plugins(modules=[(name, MODULES[name])]).registry
    registered = {entry.name for entry in entries if entry.provenance.plugin == name}
    assert failed == registered - RIGHT
    assert registered & RIGHT <= {subject for subject, status in rows if status == "passed"}
