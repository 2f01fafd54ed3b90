"""Runs in stages: killed anywhere, they go on to the bytes of an uninterrupted run, and never draw for other input."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import ClassVar

import attrs
import numpy as np
import pytest
from dpspec_release.draw import Options, ReleasePlace, draw
from dpspec_release.write import write

from dpspec import installed
from dpspec.api import read
from dpspec.base.errors import ReleaseError, TableError, WorkersError
from dpspec.blocks.space import Attribute
from dpspec.grammar.mechanism import Mechanism
from dpspec.grammar.tables import Table
from dpspec.grammar.workers import Folder, NoCheckpoints, Output

SPEC = """\
schema = 1
id = "stages"
title = "Noise in stages"
[space]
type = "records"
unit = "person"
attributes = [{ name = "age", count = 100 }]
[multiverse]
invariants = []
[input_divergence]
type = "hamming"
unit = "person"
[output_divergence]
type = "mult"
[budget]
epsilon = "inf"
[mechanism]
type = "release-invariants"
invariants = [{ type = "marginal", unit = "person", attributes = ["age"] }]
"""


class Killed(BaseException):
    """What ends a run from outside."""


class Staged(Mechanism):
    """Three stages, each adding words to the ages; two drawn in a row, one by place; it can be killed at each."""

    name: ClassVar[str] = "staged"
    resumable: ClassVar[bool] = True
    unit = "person"
    dies: ClassVar[tuple[int, str] | None] = None
    drawn: ClassVar[list[int]] = []

    def law(self, dataset, space):
        raise NotImplementedError

    def __repr__(self):
        return "Staged()"

    def run(self, table, space, run):
        ages, draws = table.codes["age"].astype(np.int64), run.source.placed()
        for stage in range(3):
            self.perhaps(stage, "before")
            kept = run.checkpoints.load(f"stage-{stage}")
            if kept is None:
                self.drawn.append(stage)
                words = draws.spawn("stage", stage).words(len(ages)) if stage < 2 else draws.words_at(0, np.arange(len(ages)))
                ages = (ages + (words % np.uint64(50)).astype(np.int64)) % 100
                self.perhaps(stage, "drawn")
                run.checkpoints.save(f"stage-{stage}", {"ages": ages})
            else:
                ages = kept["ages"]
        return Output(tables={"noisy": Table(attributes=(Attribute(name="age", count=100),), codes={"age": ages})})

    def perhaps(self, stage, when):
        if type(self).dies == (stage, when):
            raise Killed


@pytest.fixture
def spec(tmp_path):
    path = tmp_path / "s.dpspec.toml"
    path.write_text(SPEC, encoding="utf-8")
    return path


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "in.csv"
    path.write_text("age\n" + "".join(f"{i * 7 % 100}\n" for i in range(50)), encoding="utf-8")
    return path


@pytest.fixture(autouse=True)
def quiet(monkeypatch):
    monkeypatch.setattr(Staged, "dies", None)
    monkeypatch.setattr(Staged, "drawn", [])


def release(spec, table, out, **options):
    document, registry = attrs.evolve(read(spec), mechanism=Staged()), installed().registry
    drawn = draw(document, str(table), registry, out, Options(unverified=True, **options))
    return write(drawn, registry, out)


def unfinished(out):
    """The folder of the unfinished run of a release."""
    return ReleasePlace(out, out / "no table").unfinished


def killed(monkeypatch, spec, table, out, when=(1, "drawn"), **options):
    monkeypatch.setattr(Staged, "dies", when)
    with pytest.raises(Killed):
        release(spec, table, out, **options)
    monkeypatch.setattr(Staged, "dies", None)


@pytest.mark.parametrize("when", [(stage, moment) for stage in range(3) for moment in ("before", "drawn")])
def test_a_killed_run_goes_on_to_the_same_bytes(monkeypatch, spec, table, tmp_path, when):
    whole, out = tmp_path / "whole", tmp_path / "out"
    release(spec, table, whole, seed=9)
    Staged.drawn.clear()
    killed(monkeypatch, spec, table, out, when, seed=9)
    assert not out.exists()
    release(spec, table, out, seed=9, resume=True)
    assert {path.name: path.read_bytes() for path in out.iterdir()} == {path.name: path.read_bytes() for path in whole.iterdir()}
    again = 1 if when[1] == "drawn" else 0
    assert len(Staged.drawn) == 3 + again, "a finished stage is not drawn again"


def test_a_run_of_the_operating_system_goes_on_with_its_own_key(monkeypatch, spec, table, tmp_path):
    out = tmp_path / "out"
    killed(monkeypatch, spec, table, out, (2, "before"))
    key, kept = ((unfinished(out) / name).read_bytes() for name in ("key", "stage-1.npz"))
    killed(monkeypatch, spec, table, out, (2, "before"), resume=True)
    assert ((unfinished(out) / "key").read_bytes(), (unfinished(out) / "stage-1.npz").read_bytes()) == (key, kept)
    assert release(spec, table, out, resume=True)["randomness"] == "operating system"
    assert Staged.drawn == [0, 1, 2]
    assert sorted(path.name for path in out.iterdir()) == ["NOT-FIT-FOR-PUBLICATION.txt", "noisy.csv", "report.json"]


def test_the_key_is_for_its_owner_alone(monkeypatch, spec, table, tmp_path):
    killed(monkeypatch, spec, table, tmp_path / "out")
    folder = unfinished(tmp_path / "out")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / "key").stat().st_mode) == 0o600
    assert len((folder / "key").read_bytes()) == 32


def test_a_run_is_begun_once(monkeypatch, spec, table, tmp_path):
    killed(monkeypatch, spec, table, tmp_path / "out")
    with pytest.raises(ReleaseError, match="lies there already"):
        release(spec, table, tmp_path / "out")


@pytest.mark.parametrize("changed", ["table", "specification", "randomness", "version"])
def test_a_run_of_other_input_is_refused_and_kept(monkeypatch, spec, table, tmp_path, changed):
    out = tmp_path / "out"
    killed(monkeypatch, spec, table, out, seed=9)
    if changed == "table":
        table.write_text(table.read_text(encoding="utf-8").replace("7\n", "8\n", 1), encoding="utf-8")
    if changed == "specification":
        spec.write_text(SPEC + "# other\n", encoding="utf-8")
    if changed == "version":
        monkeypatch.setattr("dpspec_release.draw.version", lambda name: "9.9")
    with pytest.raises(ReleaseError, match=f"was begun with another {changed};"):
        release(spec, table, out, seed=None if changed == "randomness" else 9, resume=True)
    assert (unfinished(out) / "key").exists()
    assert not (out / "noisy.csv").exists()


def test_a_seeded_run_never_ends_as_one_fit_for_publication(monkeypatch, spec, table, tmp_path):
    killed(monkeypatch, spec, table, tmp_path / "out", seed=9)
    with pytest.raises(ReleaseError, match="another randomness"):
        release(spec, table, tmp_path / "out", resume=True)
    assert not release(spec, table, tmp_path / "out", seed=9, resume=True)["fit_for_publication"]


def test_nothing_to_go_on_with_is_said(spec, table, tmp_path):
    with pytest.raises(ReleaseError, match="is not there: begin without --resume"):
        release(spec, table, tmp_path / "out", resume=True)


@pytest.mark.parametrize("missing", ["key", "run.json"])
def test_a_run_killed_while_it_began_or_ended_is_begun_anew(monkeypatch, spec, table, tmp_path, missing):
    out = tmp_path / "out"
    killed(monkeypatch, spec, table, out)
    (unfinished(out) / missing).unlink()
    with pytest.raises(ReleaseError, match="is not there"):
        release(spec, table, out, resume=True)
    release(spec, table, out)
    assert not unfinished(out).exists()


def test_a_write_that_fails_leaves_the_run_to_go_on_with(monkeypatch, spec, table, tmp_path):
    out = tmp_path / "out"
    csv = installed().registry.get("formats", "csv")

    def full(self, table, path, notes):
        path.write_text("ag", encoding="utf-8")
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as during:
        during.setattr(csv, "write", full)
        with pytest.raises(ReleaseError, match=r"cannot be written \(No space left on device\)"):
            release(spec, table, out, seed=9)
    assert unfinished(out).exists()
    assert not out.exists()
    Staged.drawn.clear()
    release(spec, table, out, seed=9, resume=True)
    assert Staged.drawn == []


@pytest.mark.parametrize(
    ("fault", "kept"), [(TableError("counts", "contradict each other"), False), (WorkersError("dask", "lost a part"), True)]
)
def test_refused_input_leaves_nothing_to_go_on_with(monkeypatch, spec, table, tmp_path, fault, kept):
    def refuse(self, stage, when):
        if (stage, when) == (1, "before"):
            raise fault

    monkeypatch.setattr(Staged, "perhaps", refuse)
    with pytest.raises(type(fault)):
        release(spec, table, tmp_path / "out", seed=9)
    assert unfinished(tmp_path / "out").exists() == kept


# --- the folder ----------------------------------------------------------------------------------


def test_arrays_come_back_as_they_were(tmp_path):
    folder = Folder(tmp_path / "f", {"table": "t"})
    folder.begin(bytes(32))
    arrays = {"counts": np.arange(5), "none": np.zeros((0, 3)), "flags": np.asarray([True, False])}
    assert folder.load("one") is None
    folder.save("one", arrays)
    found = folder.load("one")
    assert found.keys() == arrays.keys()
    assert all(np.array_equal(found[name], arrays[name]) and found[name].dtype == arrays[name].dtype for name in arrays)
    assert json.loads(Path(tmp_path / "f" / "run.json").read_text(encoding="utf-8")) == {"format": 2, "table": "t"}
    folder.finish()
    assert not (tmp_path / "f").exists()


def test_without_a_folder_nothing_is_kept():
    NoCheckpoints().save("one", {})
    assert NoCheckpoints().load("one") is None


def test_a_run_whose_files_cannot_be_written_goes_on(monkeypatch, spec, table, tmp_path):
    """Another --out was advised, where the budget is spent once more."""

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(installed().registry.get("formats", "csv"), "write", full)
        with pytest.raises(ReleaseError, match=r"No space left on device.*: make room and go on with --resume"):
            release(spec, table, tmp_path / "out", seed=9)
    release(spec, table, tmp_path / "out", seed=9, resume=True)
    assert Staged.drawn == [0, 1, 2], "nothing was drawn again"
