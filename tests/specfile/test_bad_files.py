"""Every file of specs/bad fails with the code that it is named for, on the line that it marks, and with nothing else."""

from pathlib import Path

import pytest

from dpspec.base import errors
from dpspec.base.errors import DpspecError, IncompatibleBlocksError
from dpspec.base.params import each
from dpspec.extension import installed
from dpspec.specfile import read, read_text, spec_files

BAD = Path(__file__).parents[2] / "specs" / "bad"
FILES = spec_files(BAD)
MARK = "# <- fault"

CODES_WITHOUT_FILE = {
    "spec-file",  # no such file, a directory: nothing to store (test_limits)
    "spec",  # the base class
    "not-writable",  # writing, not reading
    "refuted-part",  # a ledger is well formed whatever its parts claim (tests/cli/test_ledger.py)
}


def faults_of(path: Path) -> tuple[DpspecError, ...]:
    with pytest.raises(DpspecError) as caught:
        read(path, installed().registry)
    return each(caught.value)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name.split(".")[0])
def test_the_file_has_its_fault_and_no_other(path: Path) -> None:
    (fault,) = faults_of(path)
    assert fault.code == path.name.split("--")[0]
    marked = [line for line, text in enumerate(path.read_text().splitlines(), 1) if MARK in text]
    assert fault.line == (marked[0] if marked else 1)
    assert fault.file == str(path)
    assert str(fault).startswith(f"{path}:{fault.line}: ")
    assert fault.exit_code == 2


def test_every_code_of_a_specification_file_has_a_bad_file() -> None:
    known = {cls.code for cls in vars(errors).values() if isinstance(cls, type) and issubclass(cls, errors.SpecError)}
    shared = {"parameter", "incompatible-blocks", "not-in-space", "unknown-name"}
    assert {path.name.split("--")[0] for path in FILES} == (known - CODES_WITHOUT_FILE) | shared


def test_all_bad_files_are_refused_together_as_one(tmp_path: Path) -> None:
    """The faults of independent tables come together, each on its own line."""
    text = (
        'schema = 1\nid = "Bad"\ntitle = "x"\ncolour = "red"\n[space]\ntype = "bit-vectors"\nlength = 3\n'
        '[multiverse]\ninvariants = [\n  { type = "marginal", attributes = ["county"] },\n]\n'
        '[input_divergence]\ntype = "hamming-ordered"\nunit = "household"\n'
        '[output_divergence]\ntype = "mult"\n[budget]\nrho = 1\n'
        '[[expect]]\nwhat = "x"\nepsilon = true\ntolerance = -1\nbecause = "y"\nroute = { type = "sum", numbers = [] }\n'
    )
    path = tmp_path / "several.dpspec.toml"
    path.write_text(text)
    found = [(fault.line, fault.code) for fault in faults_of(path)]
    assert found == [
        (2, "parameter"), (4, "unknown-key"), (10, "incompatible-blocks"), (14, "incompatible-blocks"),
        (18, "budget-parameter"), (21, "parameter"), (22, "parameter"), (24, "parameter"),
    ]  # fmt: skip


def test_a_fault_that_a_miniature_inherits_is_told_once() -> None:
    path = BAD / "incompatible-blocks--invariant-over-unknown-attribute.dpspec.toml"
    text = path.read_text() + '\n[[miniature]]\ntitle = "small"\n[miniature.space]\ntype = "bit-vectors"\nlength = 2\n'
    from dpspec.specfile import read_text

    with pytest.raises(DpspecError) as caught:
        read_text(text, installed().registry)
    assert [fault.line for fault in each(caught.value)] == [16]


def test_a_budget_table_without_a_universe_says_so(tmp_path: Path) -> None:
    """The file was invalid with one fault, *cannot be read*, and no reason."""
    path = tmp_path / "empty.dpspec.toml"
    text = (FILES[0].parent / "missing-key--no-budget.dpspec.toml").read_text().replace(MARK, "")
    path.write_text(f"{text}\n[budget]\nuniverse = []\n")
    (fault,) = faults_of(path)
    assert (fault.code, fault.subject) == ("missing-key", "budget.universe")


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        (("a", "b"), None),
        (("a", "b", "single"), None),
        (("a", "c"), 'names a universe that the specification does not have: known: a, b, single'),
        (("a", "single"), "has no entry for this universe"),
    ],
)
def test_a_budget_table_names_the_universes_of_the_file(labels: tuple[str, ...], said: str | None) -> None:
    """`check` accepted a misspelt label, and every other command failed on the universe that was meant."""
    text = (
        'schema = 1\nid = "x"\ntitle = "x"\n[space]\ntype = "bit-vectors"\nlength = 2\n[multiverse]\ntype = "explicit"\n'
        "universes_by_label = { a = [[0, 0], [0, 1]], b = [[1, 0], [1, 1]], single = [[0, 0]] }\n"
        '[input_divergence]\ntype = "hamming-ordered"\n[output_divergence]\ntype = "mult"\n'
    )
    text += "".join(f'[[budget.universe]]\nlabel = "{label}"\nepsilon = 1\n' for label in labels)
    if said is None:
        assert read_text(text, installed().registry).spec.budget.parameter == "epsilon"
        return
    with pytest.raises(IncompatibleBlocksError, match=said):
        read_text(text, installed().registry)


def test_an_unknown_name_may_be_the_fault_of_a_failed_plugin() -> None:
    from dpspec.extension import load_plugins
    from dpspec.specfile import read_text

    class Broken:
        def __getattr__(self, name: str) -> object:
            raise RuntimeError("broken on purpose")

    registry = load_plugins(names=[], modules=[("broken", Broken())]).registry
    text = (BAD / "unknown-name--no-such-mechanism.dpspec.toml").read_text()
    with pytest.raises(DpspecError) as caught:
        read_text(text, registry)
    assert {fault.code for fault in each(caught.value)} == {"unknown-name"}
    assert {fault.exit_code for fault in each(caught.value)} == {4}
    assert caught.value.exit_code == 4
    assert "broken failed to load" in str(caught.value)
