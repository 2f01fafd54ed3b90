"""What keeps the budget of a release is asked before anything is drawn, and told what was written."""

from __future__ import annotations

import hashlib
import json
from typing import ClassVar

import attrs
import pytest
from dpspec_release.draw import GuardedRun, Options, draw
from dpspec_release.write import write

from dpspec import installed
from dpspec.api import read
from dpspec.base.errors import ParameterError, ReleaseError, TableError

from .test_resume import SPEC, Killed, Staged, unfinished


class Refused(ParameterError):
    """What a guard raises."""


@attrs.define
class Recorder:
    """A guard that writes down what it is asked, and refuses one thing."""

    log: list[str]
    refuses: str = ""
    committed: dict[str, str] = attrs.field(factory=dict)

    token = "charge 7"  # noqa: S105 - the name of a reservation

    def _asked(self, name):
        self.log.append(name)
        if name == self.refuses:
            raise Refused(name, "is refused")

    def reserve(self, document):
        assert document.id == "stages"
        self._asked("reserve")

    def resume(self, document, token):
        assert (document.id, token) == ("stages", self.token)
        self._asked("resume")

    def draw(self):
        self._asked("draw")

    def abandon(self):
        self._asked("abandon")

    def commit(self, files):
        self._asked("commit")
        self.committed = dict(files)


class Logged(Staged):
    """The same mechanism, which says when it draws."""

    name = "logged"
    log: ClassVar[list[str]] = []

    def run(self, table, space, run):
        self.log.append("mechanism")
        return super().run(table, space, run)


class Unstaged(Logged):
    """One that cannot go on."""

    name = "unstaged"
    resumable = False


@pytest.fixture
def files(tmp_path, monkeypatch):
    spec, table = tmp_path / "s.dpspec.toml", tmp_path / "in.csv"
    spec.write_text(SPEC, encoding="utf-8")
    table.write_text("age\n1\n2\n3\n", encoding="utf-8")
    monkeypatch.setattr(Logged, "log", [])
    monkeypatch.setattr(Staged, "dies", None)
    return spec, table, tmp_path / "out"


def release(files, guard, *, mechanism=Logged, **options):
    spec, table, out = files
    document = attrs.evolve(read(spec), mechanism=mechanism())
    drawn = draw(document, str(table), installed().registry, out, Options(unverified=True, guard=guard, **options))
    return write(drawn, installed().registry, out)


@pytest.mark.parametrize("mechanism", [Logged, Unstaged])
def test_the_order_and_the_hashes(files, mechanism):
    guard = Recorder(Logged.log)
    release(files, guard, mechanism=mechanism)
    assert Logged.log == ["reserve", "draw", "mechanism", "commit"]
    out = files[2]
    assert guard.committed == {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in out.iterdir()}
    assert {"report.json", "noisy.csv"} < set(guard.committed)


class Unsampled(Logged):
    """One of which it is known without a table that it releases none."""

    name = "unsampled"

    def check_release(self, space):
        raise ReleaseError(self.name, "has no exact sampler")


def test_what_is_never_released_is_neither_read_nor_reserved(files):
    """The budget of a release with noise on the line was spent, although it cannot be drawn."""
    files[1].unlink()
    with pytest.raises(ReleaseError, match="has no exact sampler"):
        release(files, Recorder(Logged.log), mechanism=Unsampled)
    assert Logged.log == []


def test_what_cannot_be_reserved_is_not_drawn(files):
    with pytest.raises(Refused):
        release(files, Recorder(Logged.log, "reserve"))
    assert Logged.log == ["reserve"]
    assert not files[2].exists()


def test_what_is_not_recorded_as_drawn_is_not_drawn(files):
    """Whether the record was made is not known, so nothing is given back."""
    with pytest.raises(Refused):
        release(files, Recorder(Logged.log, "draw"))
    assert Logged.log == ["reserve", "draw"]
    assert not files[2].exists()


def test_a_release_that_ends_before_it_draws_gives_back(files, monkeypatch):
    monkeypatch.setattr(Staged, "dies", (0, "drawn"))
    with pytest.raises(Killed):
        release(files, Recorder([]))
    Logged.log.clear()
    with pytest.raises(ReleaseError, match="lies there already"):  # an unfinished run is there
        release(files, Recorder(Logged.log))
    assert Logged.log == ["reserve", "abandon"]


def test_a_release_that_ends_after_it_draws_gives_nothing_back(files, monkeypatch):
    monkeypatch.setattr(Staged, "dies", (0, "before"))
    with pytest.raises(Killed):
        release(files, Recorder(Logged.log))
    assert Logged.log == ["reserve", "draw", "mechanism"]


def test_what_is_wrong_with_the_input_is_found_before_anything_is_reserved(files):
    files[1].write_text("age\n1\nx\n", encoding="utf-8")
    with pytest.raises(TableError):
        release(files, Recorder(Logged.log))
    assert Logged.log == []


def test_a_run_goes_on_under_its_charge(files, monkeypatch):
    monkeypatch.setattr(Staged, "dies", (1, "drawn"))
    with pytest.raises(Killed):
        release(files, Recorder(Logged.log))
    monkeypatch.setattr(Staged, "dies", None)
    Logged.log.clear()
    with pytest.raises(ReleaseError, match="was charged to an account"):
        release(files, None, resume=True)
    with pytest.raises(Refused):
        release(files, Recorder(Logged.log, "resume"), resume=True)
    assert Logged.log == ["resume"]
    release(files, Recorder(Logged.log), resume=True)
    assert Logged.log == ["resume", "resume", "draw", "mechanism", "commit"]
    assert not unfinished(files[2]).exists()


def test_a_run_without_an_account_does_not_go_on_in_one(files, monkeypatch):
    monkeypatch.setattr(Staged, "dies", (1, "drawn"))
    with pytest.raises(Killed):
        release(files, None)
    monkeypatch.setattr(Staged, "dies", None)
    with pytest.raises(ReleaseError, match="was not begun with an account"):
        release(files, Recorder(Logged.log), resume=True)
    assert Logged.log == ["mechanism"]


@pytest.mark.parametrize("at_begin", [False, True])
def test_a_run_that_ended_before_it_drew_belongs_to_its_account(files, monkeypatch, at_begin):
    """Ended between its key and its charge, it was said to have no account: what followed this advice was never charged.

    Where its charge was given back, it stayed all the same: to begin anew was refused in favour of --resume, and that as well.
    """

    def ended(*_, **__):
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(*((GuardedRun, "begin") if at_begin else (Recorder, "draw")), ended)
        with pytest.raises(Killed):
            release(files, Recorder(Logged.log))
    assert "mechanism" not in Logged.log
    assert ("abandon" in Logged.log) is at_begin
    Logged.log.clear()
    if at_begin:
        assert not unfinished(files[2]).exists()
        release(files, Recorder(Logged.log))
        assert Logged.log == ["reserve", "draw", "mechanism", "commit"]
        return
    with pytest.raises(ReleaseError, match="was charged to an account"):
        release(files, None, resume=True)
    Logged.log.clear()
    release(files, Recorder(Logged.log), resume=True)
    assert Logged.log == ["resume", "draw", "mechanism", "commit"]


def test_a_commit_that_fails_leaves_the_run_to_be_repeated(files):
    """The files are placed; the charge stays drawn, and a run that goes on commits them."""
    with pytest.raises(Refused):
        release(files, Recorder(Logged.log, "commit"))
    assert json.loads((files[2] / "report.json").read_text())["records"] == 3
    again = Recorder(Logged.log)
    release(files, again, resume=True)
    assert again.committed


PERSONS = """\
schema = 1
id = "stages"
title = "Counts of persons"
[space]
type = "households"
members = 3
household = [{ name = "block", categories = ["a", "b"] }]
person = [{ name = "sex", categories = ["f", "m"] }]
[multiverse]
invariants = []
[input_divergence]
type = "symmetric-difference"
unit = "household"
[output_divergence]
type = "mult"
[budget]
epsilon = "inf"
[mechanism]
"""
BY_SEX = 'type = "geometric", ratio = "1/2", queries = [{ type = "marginal", attributes = ["sex"] }], unit = "household"'
BY_BLOCK = BY_SEX.replace('["sex"]', '["block"], unit = "household"')


@pytest.mark.parametrize(
    ("mechanism", "fault"),
    [
        pytest.param(BY_SEX.replace("], unit", "]\nunit").replace(", ratio", "\nratio").replace(", queries", "\nqueries"),
                     "reads more", id="counts"),
        pytest.param(f'type = "bounded"\nmost = 2\nmechanism = {{ {BY_SEX} }}', "without members", id="bounded"),
        pytest.param(f'type = "composed"\nparts = [{{ {BY_BLOCK} }}, {{ {BY_SEX} }}]', "reads more", id="composed"),
        pytest.param(f'type = "subsampled"\nrate = "1/2"\nmechanism = {{ {BY_SEX} }}', "reads more", id="subsampled"),
        pytest.param(
            f'type = "repeated"\ntimes = 2\nmechanism = {{ type = "bounded", most = 1, mechanism = {{ {BY_SEX} }} }}',
            "without members", id="repeated",
        ),
    ],
)  # fmt: skip
def test_households_without_persons_are_refused_before_a_budget_is_reserved(tmp_path, mechanism, fault):
    """They were refused by the mechanism as it ran, when the charge could not be given back."""
    spec, table, log = tmp_path / "s.dpspec.toml", tmp_path / "in.csv", []
    spec.write_text(PERSONS + mechanism, encoding="utf-8")
    table.write_text("block\na\nb\n", encoding="utf-8")
    with pytest.raises(TableError, match=fault):
        draw(read(spec), str(table), installed().registry, tmp_path / "out", Options(unverified=True, guard=Recorder(log)))
    assert log == []
