"""The public score: its data files are well formed, its page is up to date, and no recorded or fresh answer is false."""

import ast
import csv
import functools
import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

import dpspec as dp
from benchmarks.wild import results
from benchmarks.wild.entry import HERE, IDIOMS, MECHANISMS, Idiom, read
from benchmarks.wild.run import LIBRARIES, is_installed, judged
from benchmarks.wild.vectors import OUTCOMES, VECTORS, Vector

ROOT = Path(__file__).parents[2]
FRESH = (
    "counts.count_laplace", "responses.two_coins", "choices.noisy_max_laplace",
    "counts.count_scale_is_epsilon", "seeds.count_with_a_fixed_seed", "responses.ones_are_kept",
)  # fmt: skip
"""Three correct functions, and three wrong ones, which are checked in the default run."""
QUICK = [vector for vector in VECTORS if "* " not in vector.mechanism]
"""Vectors of one release, each of which takes milliseconds."""


def by_label(label: str) -> Idiom:
    return next(idiom for idiom in IDIOMS if idiom.label == label)


@functools.cache
def functions_of(module: str) -> set[str]:
    """The functions that the file of a module defines; a file is parsed once for all of its entries."""
    tree = ast.parse((ROOT / Path(*module.split("."))).with_suffix(".py").read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


# --- the data files -------------------------------------------------------------------------------


def test_there_is_as_much_as_the_page_says():
    assert len(IDIOMS) >= 200
    assert len(MECHANISMS) >= 40
    assert len(VECTORS) >= 300
    correct = sum(idiom.truth == "correct" for idiom in IDIOMS)
    assert 0.55 < correct / len(IDIOMS) < 0.75


@pytest.mark.parametrize("idioms", [IDIOMS, MECHANISMS], ids=["idioms", "mechanisms"])
def test_every_entry_names_a_function_a_claim_a_reason_and_an_origin(idioms):
    assert len({idiom.label for idiom in idioms}) == len(idioms)
    for idiom in idioms:
        assert idiom.name in functions_of(idiom.module), idiom.label
        owner, _, path = idiom.origin.partition(" ")
        assert owner.count("/") == 1, idiom.label
        assert path, idiom.label
        assert idiom.why, idiom.label
        assert idiom.spec().budget, idiom.label


@pytest.mark.parametrize("folder", ["idioms", "mechanisms"])
def test_no_function_is_left_out(folder):
    """A function that takes a dataset is an entry; helpers take something else."""
    known = {(idiom.module.rpartition(".")[2], idiom.name) for idiom in (*IDIOMS, *MECHANISMS)}
    for path in (HERE / folder).glob("*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef):
                first = node.args.args[0].arg
                others = [argument.arg for argument in node.args.args[1:]]
                if first in {"data", "x", "answers", "queries", "counts"} and others in ([], ["rng"]):
                    assert (path.stem, node.name) in known, f"{path.stem}.{node.name}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[defaults]\nspace = "bits"\n[functions]\nf = {}\n', "has the keys"),
        (
            '[defaults]\nspace = "bits"\ndistance = "add-remove"\nstandard = "mult"\nbudget = { epsilon = "1" }\nwhy = "w"\n'
            'origin = "o/r p"\n[functions]\nf = { truth = "perhaps" }\n',
            "the truth of f",
        ),
    ],
)
def test_a_file_with_a_fault_is_refused(tmp_path, text, message):
    (tmp_path / "spaces.toml").write_text('[bits]\ntype = "value-lists"\nvalues = [0, 1]\n', encoding="utf-8")
    (tmp_path / "some.toml").write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        list(read(tmp_path))


# --- the answers ----------------------------------------------------------------------------------


@pytest.mark.spread(0, slow=2)
@pytest.mark.parametrize("label", FRESH)
def test_some_functions_have_the_outcome_that_they_should_have(label):
    idiom = by_label(label)
    line = judged(idiom, 30)
    assert line["outcome"] == ("verified" if idiom.truth == "correct" else "refuted"), line


@pytest.mark.parametrize("vector", QUICK[::10], ids=lambda vector: vector.label)
def test_some_numbers_of_other_projects_are_not_contradicted(vector):
    assert vector.compared()[0] in OUTCOMES[:-1]


@pytest.mark.parametrize("vectors", [
    pytest.param(VECTORS[::4], marks=pytest.mark.slow), pytest.param(VECTORS, marks=pytest.mark.long),
], ids=["a quarter", "all"])  # fmt: skip
def test_no_number_of_other_projects_is_contradicted(vectors):
    assert [vector.label for vector in vectors if vector.compared()[0] not in OUTCOMES[:-1]] == []


@pytest.mark.long
@pytest.mark.parametrize("idiom", [*IDIOMS, *MECHANISMS], ids=lambda idiom: idiom.label)
def test_no_answer_is_false(idiom):
    if not is_installed(idiom):
        pytest.skip("a library that is not installed")
    assert (idiom.truth, judged(idiom, 30)["outcome"]) not in results.FALSE


def vector(mechanism: str, expected: str, *, sense: str = "exact", **at: str) -> Vector:
    quantity = "delta" if "epsilon" in at else "epsilon"
    return Vector(
        label="a.b.1", source="a b", mechanism=mechanism, direction="both", quantity=quantity, at=at, expected=expected,
        accuracy="1e-6", sense=sense,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("given", "outcome"),
    [
        (vector("laplace(1, 1)", "0.39346934", epsilon="0"), "agrees"),
        (vector("laplace(1, 1)", "0.4", epsilon="0"), "contradiction"),
        (vector("laplace(1, 1)", "0.3", epsilon="0", sense="bound"), "contradiction"),
        (vector("laplace(1, 1)", "0.4", epsilon="0", sense="bound"), "tighter"),
        (vector("gaussian(1, 1) * 4", "9", delta="1e-5", sense="bound"), "contradiction"),
        (vector("staircase(1, 1)", "0.4", epsilon="0"), "not expressible"),
    ],
)
def test_how_a_number_is_compared(given, outcome):
    assert given.compared()[0] == outcome


@pytest.mark.parametrize(
    ("noise", "sense", "outcome"),
    [("1", "exact", "agrees"), ("2", "exact", "contradiction"), ("2", "bound", "tighter"), ("0.5", "bound", "contradiction")],
)
def test_how_the_least_noise_is_compared(noise, sense, outcome):
    given = Vector(
        label="a.b.1", source="a b", mechanism="gaussian({published}, 1)", direction="rising", quantity="noise",
        at={"epsilon": "1", "delta": "0.12693674"}, expected=noise, accuracy="1e-3", sense=sense,
    )  # fmt: skip
    assert given.compared()[0] == outcome


# --- what is recorded -----------------------------------------------------------------------------


def test_everything_is_recorded_and_nothing_false():
    found = results.read()
    assert set(found["functions"]) == {idiom.label for idiom in IDIOMS}
    assert set(found["libraries"]) == {idiom.label for idiom in MECHANISMS}
    assert set(found["vectors"]) == {vector.label for vector in VECTORS}
    for idiom in IDIOMS:
        assert found["functions"][idiom.label]["truth"] == idiom.truth, idiom.label
    assert results.false_answers(found) == []


def test_false_answers_are_found_in_each_kind():
    lines = {
        "functions": {"f": {"truth": "correct", "outcome": "refuted"}, "g": {"truth": "wrong", "outcome": "refuted"}},
        "libraries": {"h": {"truth": "wrong", "outcome": "verified"}, "i": {"truth": "correct", "outcome": "undecided"}},
        "vectors": {"v": {"outcome": "contradiction"}, "w": {"outcome": "tighter"}},
    }
    assert [text.partition(":")[0] for text in results.false_answers(lines)] == ["f", "h", "v"]
    assert results.summary(lines, "2026-01-01", "0")["false"] == 3


def test_the_trend_ends_with_what_is_recorded():
    with results.TREND.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    last = rows[-1]
    counted = results.summary(results.read(), last["date"], last["commit"])
    assert last == {name: str(value) for name, value in counted.items()}


def test_the_page_is_up_to_date():
    spec = importlib.util.spec_from_file_location("make_score", ROOT / "docs" / "make_score.py")
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    assert made.page() == (ROOT / "docs" / "score.md").read_text(encoding="utf-8"), "run python docs/make_score.py"


@pytest.mark.slow
def test_the_command_runs_and_ends_with_zero():
    command = [sys.executable, "-m", "benchmarks.wild", "--kind", "functions", "--only", "two_coins", "--seconds", "10"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "responses.two_coins" in done.stdout
    assert "no false answer" in done.stdout


def test_a_library_that_is_not_installed_is_left_out(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    left = [idiom for idiom in MECHANISMS if is_installed(idiom)]
    assert left == []
    assert {idiom.module.rpartition(".")[2] for idiom in MECHANISMS} == set(LIBRARIES)
    assert is_installed(by_label("counts.count_laplace"))


def test_a_claim_is_written_as_a_user_writes_it():
    idiom = by_label("counts.count_laplace")
    written = dp.spec(
        space=dp.value_lists(values=(0, 1, 2, 3), ordered=False), distance="add-remove", standard="pure-dp", epsilon=1
    )
    assert idiom.spec() == written
