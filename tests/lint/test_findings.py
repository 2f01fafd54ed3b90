"""Every kind of finding has files in specs/lint that trigger it alone, on the marked lines; specs has only explained ones."""

from pathlib import Path

import pytest

from dpspec.base.errors import DpspecError, PluginError, SpecFileError
from dpspec.blocks import multiverse
from dpspec.extension import installed, load_plugins
from dpspec.linter import Severity, declared_findings, findings, lint
from dpspec.linter.finding import finding
from dpspec.linter.look import EXPLAINS_NOTHING

SPECS = Path(__file__).parents[2] / "specs"
BAD = SPECS / "lint"
SINGLE = sorted(BAD.glob("*.toml"))
FOLDERS = sorted(path for path in BAD.iterdir() if path.is_dir())
MARK = "# <- finding"


def marked(path):
    return [(str(path), line) for line, text in enumerate(path.read_text().splitlines(), 1) if MARK in text]


@pytest.mark.spread(6)
@pytest.mark.parametrize("path", SINGLE, ids=lambda path: path.name.split(".")[0])
def test_the_file_has_its_finding_and_no_other(path):
    found = lint([path], installed().registry)
    assert {single.code for single in found} == {path.name.split("--")[0]}
    assert [(single.file, single.line) for single in found] == marked(path)
    assert all(single.explained is None and single.message and single.advice for single in found)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_the_files_together_have_their_finding_and_no_other(folder):
    found = lint([folder], installed().registry)
    assert [single.code for single in found] == [folder.name]
    assert [(single.file, single.line) for single in found] == [at for path in sorted(folder.iterdir()) for at in marked(path)]


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_alone_the_same_files_have_none(folder):
    """What is found is found between files."""
    for path in folder.iterdir():
        assert lint([path], installed().registry) == ()


def test_every_kind_of_finding_has_a_file():
    known = {declared.code for declared in declared_findings() if not declared.needs_table} | {EXPLAINS_NOTHING, "ledger"}
    assert {path.name.split("--")[0] for path in SINGLE} | {folder.name for folder in FOLDERS} == known


EXPLAINED = {
    ("safetab-2020-ddhc-a", "constant-for-budget"),
    *((f"topdown-2020-{name}", "looser-conversion") for name in ("pl", "dhc", "pl-dhc")),
    *((f"topdown-2020-{name}", "unit-of-product") for name in ("pl", "dhc", "pl-dhc")),
    *((f"topdown-2020-{file}-{part}", "looser-conversion") for file in ("pl", "dhc") for part in ("persons", "housing-units")),
    ("topdown-2020-pl-dhc", "constant-for-budget"),
    *((f"{file}-{part}", "looser-conversion") for file in ("pl", "dhc") for part in ("persons", "housing-units")),
    ("ddhc-a", "constant-for-budget"),
    ("pl-persons", "does-not-recompute"),
    *((path.name.split(".")[0], "no-such-pair") for path in SPECS.glob("swapping-*.toml") if "pre-noise" not in path.name),
    *((flavour, "no-such-pair") for flavour in ("invariants-dp", "induced-subspace-dp", "integer-subspace-dp")),
}


@pytest.mark.slow
@pytest.mark.reference("B-X1", "B-X5", "B-X6", "K-E6", "K-E7")
def test_the_specifications_have_only_what_is_explained():
    found = lint([SPECS, SPECS / "flavours", SPECS / "ledger-2020"], installed().registry)
    assert {(Path(single.file).name.split(".")[0], single.code) for single in found} == EXPLAINED
    assert [single for single in found if single.explained is None] == []


@pytest.mark.reference("K-E6", "K-E7", "Z-X5")
def test_the_errata_of_the_census_allocation():
    """Printed, and what the fractions give."""
    found = lint([SPECS / "ledger-2020" / "pl-persons.dpspec.toml"], installed().registry)
    wrong = [single for single in found if single.code == "does-not-recompute"]
    told = [(single.message.split(" is printed")[0], single.message.rsplit(" ", 1)[1]) for single in wrong]
    assert told == [
        ("rho = 0.952", "1.0102901"), ("rho = 0.945", "1.0021515"), ("rho = 1.32", "1.3786839"), ("rho = 0.555", "0.6115915"),
        ("rho = 0.969", "1.0265114"), ("rho = 0.968", "1.0257854"), ("rho = 0.0175", "0.0019079265"),
        ("epsilon = 17.91", "17.915283"),
    ]  # fmt: skip
    assert {single.explained for single in wrong} == {
        "the printed sums leave something out", "no entry of the tables is near the printed number", "17.9153 rounds up",
    }  # fmt: skip


def test_an_explanation_explains_only_its_own_kind(tmp_path):
    text = (BAD / "looser-conversion--the-simple-formula.dpspec.toml").read_text()
    path = tmp_path / "explained.dpspec.toml"
    path.write_text(text + '[[explained]]\nfinding = "looser-conversion"\nbecause = "as printed"\n')
    assert [single.explained for single in lint([path], installed().registry)] == ["as printed"]
    path.write_text(text + '[[explained]]\nfinding = "several-deltas"\nbecause = "as printed"\n')
    found = lint([path], installed().registry)
    assert {(single.code, single.explained) for single in found} == {("looser-conversion", None), (EXPLAINS_NOTHING, None)}


def test_an_erratum_that_recomputes_after_all_is_no_excuse(tmp_path):
    """`corrected` has to be what the route gives; else the finding stands."""
    text = (BAD / "does-not-recompute--a-misprint.dpspec.toml").read_text()
    path = tmp_path / "erratum.dpspec.toml"
    for corrected, because in (("0.0019", "printed to four decimals"), ("0.0025", None)):
        path.write_text(text.replace('rho = "0.0175"', f'rho = "0.0175"\ncorrected = "{corrected}"'))
        assert [single.explained for single in lint([path], installed().registry)] == [because]


@pytest.mark.reference("B-S11")
@pytest.mark.parametrize(("distance", "count"), [("hamming", 1), ("symmetric-difference", 0)])
def test_a_distance_that_compares_all_sizes_fixes_none(tmp_path, distance, count):
    text = (BAD / "fixed-invariant--the-total-size.dpspec.toml").read_text().replace('"hamming"', f'"{distance}"')
    path = tmp_path / "sizes.dpspec.toml"
    path.write_text(text)
    assert len(lint([path], installed().registry)) == count


def test_every_fault_of_a_file_is_a_finding_with_its_line():
    found = lint([SPECS / "bad" / "unknown-key--misspelt-block.dpspec.toml"], installed().registry)
    assert "unknown-key" in {single.code for single in found}
    assert {single.severity for single in found} == {Severity.ERROR}


def test_a_failed_plugin_is_no_finding(tmp_path):
    class Broken:
        def __getattr__(self, name):
            raise RuntimeError("broken on purpose")

    registry = load_plugins(names=[], modules=[("broken", Broken())]).registry
    with pytest.raises(DpspecError) as caught:
        lint([SPECS / "randomised-response.dpspec.toml"], registry)
    assert caught.value.exit_code == PluginError.exit_code


def test_a_path_that_does_not_exist():
    with pytest.raises(SpecFileError):
        lint(["nowhere.dpspec.toml"], installed().registry)


def test_a_kind_of_finding_needs_a_docstring_and_a_code_of_its_own():
    with pytest.raises(DpspecError, match="needs a code of its own and a docstring"):

        @finding("nameless", Severity.ERROR)
        def look(file, context):
            yield from ()

    with pytest.raises(DpspecError, match="needs a code of its own and a docstring"):

        @finding("vacuous", Severity.ERROR)
        def again(file, context):
            """Twice."""
            yield from ()


def test_invariants_are_held_against_each_other_within_a_limit_of_work(monkeypatch):
    """Hundreds of them would take minutes; what is found before the limit stays."""
    file = SPECS / "lint" / "fixed-invariant--the-last-of-two-counts.dpspec.toml"
    found = [single.message for single in lint([file], installed().registry) if single.code == "fixed-invariant"]
    assert found
    assert all("is already fixed by" in message for message in found)
    findings._determined.cache_clear()
    multiverse._in_row_space.cache_clear()
    monkeypatch.setattr(findings, "MOST_OF_INVARIANTS", 0)
    (cut,) = (single.message for single in lint([file], installed().registry) if single.code == "fixed-invariant")
    assert "were not all held against each other" in cut
