"""The zoo of black boxes, where it lies beside the checkout: a few in the default run, all of them in the long one."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType

import pytest

from dpspec.verifier.verdict import Outcome

ROOT = Path(__file__).parents[4]
ZOO = Path(os.environ.get("DPSPEC_ZOO", ROOT.parent / "shared" / "reference" / "mechanism_zoo.py"))
HARD = {"P14", "P16", "P63"}
"""Seen only on last bits, or only with hundreds of millions or millions of draws."""

needs_zoo = pytest.mark.skipif(not ZOO.is_file(), reason="the zoo is not there: set DPSPEC_ZOO to its path")


def adapter() -> ModuleType:
    """The benchmark, with the modules beside it importable."""
    if str(ROOT / "benchmarks") not in sys.path:
        sys.path.append(str(ROOT / "benchmarks"))
    found = importlib.util.spec_from_file_location("benchmark_zoo", ROOT / "benchmarks" / "zoo.py")
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


@needs_zoo
@pytest.mark.parametrize("name", [
    "P45", "P48", "P66",
    *(pytest.param(name, marks=pytest.mark.long) for name in ("P02", "P60", "P12", "P70", "P72", "P73")),
])  # fmt: skip
def test_an_easy_wrong_one_is_refuted_with_a_witness_no_larger_than_the_listed_one(name):
    benchmark = adapter()
    zoo = benchmark.load(str(ZOO)).ZOO
    _, verdict, _ = benchmark.judged(name, zoo, 0, 200_000)
    assert verdict.outcome is Outcome.REFUTED
    pair = (verdict.witness.left, verdict.witness.right)
    assert benchmark.entries(pair) <= benchmark.entries(zoo[name].witness[:2])


@needs_zoo
@pytest.mark.parametrize("name", [
    "P08", "P42", "P71", *(pytest.param(name, marks=pytest.mark.long) for name in ("P24", "P59", "P65")),
])  # fmt: skip
def test_a_right_one_is_not_refuted(name):
    benchmark = adapter()
    assert benchmark.judged(name, benchmark.load(str(ZOO)).ZOO, 0, 40_000)[1].outcome is not Outcome.REFUTED


@needs_zoo
@pytest.mark.parametrize(
    ("name", "outcome"),
    [
        pytest.param("P14", Outcome.REFUTED, marks=pytest.mark.long),
        ("P16", Outcome.REFUTED),
        ("P63", Outcome.REFUTED),
        pytest.param("P37", Outcome.REFUTED, marks=pytest.mark.slow),
        ("P15", Outcome.VERIFIED),
        ("P42", Outcome.VERIFIED),
        ("P54", Outcome.VERIFIED),
    ],
)
def test_with_its_law_or_its_last_bits(name, outcome):
    benchmark = adapter()
    zoo = benchmark.load(str(ZOO))
    assert benchmark.judged_by_law(name, zoo.ZOO, benchmark.zoo_laws.laws(zoo).get(name))[1].outcome is outcome


@needs_zoo
@pytest.mark.long
def test_the_whole_zoo_with_laws():
    benchmark = adapter()
    zoo = benchmark.load(str(ZOO))
    laws = benchmark.zoo_laws.laws(zoo)
    outcomes = {name: benchmark.judged_by_law(name, zoo.ZOO, laws.get(name))[1].outcome for name in zoo.ZOO}
    refuted = {name for name, outcome in outcomes.items() if outcome is Outcome.REFUTED}
    assert refuted == {name for name, entry in zoo.ZOO.items() if entry.verdict != "ok"}


@needs_zoo
@pytest.mark.long
def test_the_whole_zoo():
    benchmark = adapter()
    zoo = benchmark.load(str(ZOO)).ZOO
    outcomes = {name: benchmark.judged(name, zoo, 0, None)[1].outcome for name in zoo}
    wrong = {name for name in zoo if zoo[name].verdict != "ok"}
    refuted = {name for name, outcome in outcomes.items() if outcome is Outcome.REFUTED}
    assert not refuted - wrong
    assert wrong - refuted <= HARD


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("list over {0,1,None}, length 2", (0, 1, None)),
        ("list over {-1,+1}, length 5, two ballots per record", (-1, 1)),
        ("one value in {0..3}", (0, 1, 2, 3)),
        ("list of keys from {a..e}, one per person", ("a", "b", "c", "d", "e")),
        ("list of integers in 0..10, length 3", tuple(range(11))),
        ("list of subsets of {0,1,2} (at most 1 tags each)", ((), (0,), (1,), (2,))),
        ("4 records (block in {0,1}, value in {0,1})", (0, 1)),
    ],
)
def test_descriptions_are_read(text, values):
    assert adapter().values_of(text) == values
