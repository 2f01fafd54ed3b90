"""`dpspec new plugin NAME --kind KIND`: a plugin of every kind from its scaffold alone, installed next to dpspec from wheels.

Each scaffold passes its own tests (conformance, a claim that holds and one that is refuted), its name is explained, and its
specification is verified and compared.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from dpspec.extension.hooks import KINDS
from dpspec.scaffold import PLUGIN_KINDS
from tests.packaging.conftest import Clean

pytestmark = pytest.mark.slow

NAMES = {kind: f"my-{kind}" for kind in PLUGIN_KINDS}

USED = """
import json, sys
import dpspec as dp
from dpspec.extension import installed
found = {}
for kind, plugin in json.loads(sys.argv[1]).items():
    file = f"dpspec-{plugin}/{plugin}.dpspec.toml"
    (entry,) = [entry for entry in installed().registry if entry.provenance.plugin == plugin]
    document = dp.read(file)
    verdict = None if document.mechanism is None else dp.verify(document.mechanism, document.spec).outcome.value
    answer = dp.compare(file, file).to_dict()
    found[kind] = [entry.kind, entry.name in str(dp.explain(entry.name)), verdict, answer["relation"]]
print(json.dumps(found))
"""


MADE = """
import json, sys
from dpspec.cli import main
for kind, name in json.loads(sys.argv[1]).items():
    try:
        main(["new", "plugin", name, "--kind", kind])
    except SystemExit as end:
        assert not end.code, (kind, end.code)
"""


@pytest.fixture(scope="module")
def scaffolds(clean: Clean) -> Iterator[Clean]:
    """All scaffolds, installed: the first one written by the command itself, the others by one process that calls it."""
    (kind, name), *others = NAMES.items()
    for words in (["dpspec", "new", "plugin", name, "--kind", kind], ["python", "-c", MADE, json.dumps(dict(others))]):
        done = clean.run(*words)
        assert done.code == 0, done.err
    clean.install(*(clean.work / f"dpspec-{name}" for name in NAMES.values()))
    yield clean
    clean.uninstall(*(f"dpspec-{name}" for name in NAMES.values()))


def test_there_is_a_scaffold_for_every_kind() -> None:
    assert list(PLUGIN_KINDS.values()) == list(KINDS)


def test_each_plugin_is_registered_explained_verified_and_compared(scaffolds: Clean) -> None:
    done = scaffolds.run("python", "-c", USED, json.dumps(NAMES))
    assert done.code == 0, done.err
    found = json.loads(done.out)
    functions = {"adapter", "generator"}  # these are for plain functions, which the tests of the scaffold verify
    for kind, registered in PLUGIN_KINDS.items():
        assert found[kind] == [registered, True, None if kind in functions else "verified", "equivalent"]


@pytest.mark.parametrize("kind", [
    pytest.param(kind, marks=pytest.mark.long) if place % 3 else kind for place, kind in enumerate(PLUGIN_KINDS)
])  # fmt: skip
def test_the_tests_of_the_scaffold_pass(scaffolds: Clean, kind: str) -> None:
    tests = scaffolds.work / f"dpspec-{NAMES[kind]}" / "tests"
    done = scaffolds.run("python", "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tests), together=True)
    assert done.code == 0, done.out
