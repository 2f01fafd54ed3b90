"""`dpspec release`: real tables, invariants asked independently, files that are whole or absent."""

from __future__ import annotations

import csv
import errno
import hashlib
import json
import os
import signal
import stat
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from dpspec_release import draw as release_draw
from dpspec_release.draw import Options, ReleasePlace, draw
from dpspec_release.write import write

import dpspec as dp
from dpspec import installed
from dpspec.api import read
from dpspec.base.errors import PluginContractError, RefutedReleaseError, ReleaseError, UnverifiedReleaseError
from dpspec.base.words import Word
from dpspec.grammar.mechanism import Kept, Mechanism
from dpspec.specfile.table_input import WARNING
from dpspec.verifier.standing import Standing, standing

SPEC = """\
schema = 1
id = "swap"
title = "Counties swapped between households of equal tenure"
[space]
type = "records"
unit = "household"
attributes = [
  { name = "tenure", categories = ["owned", "rented"] },
  { name = "county", categories = ["a", "b", "c"] },
  { name = "persons", categories = ["1", "2", "3"] },
]
[multiverse]
invariants = [
  { type = "marginal", unit = "household", attributes = ["tenure", "county"] },
  { type = "marginal", unit = "household", attributes = ["tenure", "persons"] },
  { type = "marginal", unit = "household", attributes = ["county"], where = { tenure = ["rented"] } },
]
[input_divergence]
type = "hamming"
unit = "household"
[output_divergence]
type = "mult"
[budget]
epsilon = "inf"
[mechanism]
type = "permutation-swapping"
match = ["tenure"]
swap = ["county"]
swap_rate = "1/2"
"""


@pytest.fixture
def spec(tmp_path):
    path = tmp_path / "swap.dpspec.toml"
    path.write_text(SPEC, encoding="utf-8")
    return path


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "in.csv"
    rows = [(i, "owned" if i % 3 else "rented", "abc"[i % 7 % 3], str(1 + i % 5 % 3)) for i in range(300)]
    path.write_text("persons,tenure,county\n" + "".join(f"{p},{t},{c}\n" for _, t, c, p in rows), encoding="utf-8")
    return path


def records(path):
    with path.open(encoding="utf-8") as handle:
        return [tuple(row[name] for name in ("tenure", "county", "persons")) for row in csv.DictReader(handle)]


def test_a_release_holds_its_invariants_and_changes_the_rest(run, spec, table, tmp_path):
    ran = run("release", spec, table, "--out", tmp_path / "out", "--unverified")
    assert ran.code == 0
    before, after = records(table), records(tmp_path / "out" / "released.csv")
    for kept in ((0, 1), (0, 2)):
        assert Counter(tuple(r[i] for i in kept) for r in before) == Counter(tuple(r[i] for i in kept) for r in after)
    assert Counter(before) != Counter(after)
    assert "holds in all 6 cells" in ran.out
    assert "holds in all 3 cells" in ran.out


def test_the_report_describes_the_release(run, spec, table, tmp_path):
    data = run("release", spec, table, "--out", tmp_path / "out", "--unverified", "--format", "json").json("release")
    released = (tmp_path / "out" / "released.csv").read_bytes()
    assert data["released"] == [{"file": "released.csv", "records": 300, "sha256": hashlib.sha256(released).hexdigest()}]
    assert not data["fit_for_publication"], "the space is infinite, so the claim is undecided"
    assert data["claim"]["verdict"] == "undecided"
    assert data["specification"]["text"] == SPEC
    assert data["specification"]["sha256"] == hashlib.sha256(SPEC.encode()).hexdigest()
    assert data["records"] == 300
    written = json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))
    assert written == {key: value for key, value in data.items() if key not in ("command", "exit_code")} | {"format": 2}
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [WARNING, "released.csv", "report.json"]


def test_a_seeded_release_is_reproducible_and_says_that_it_is_unfit(run, spec, table, tmp_path):
    first = run("release", spec, table, "--out", tmp_path / "1", "--unverified", "--seed", 7, "--format", "json").json("release")
    second = run("release", spec, table, "--out", tmp_path / "2", "--unverified", "--seed", 7, "--format", "json").json("release")
    other = run("release", spec, table, "--out", tmp_path / "3", "--unverified", "--seed", 8, "--format", "json").json("release")
    assert first["released"] == second["released"] != other["released"]
    assert not first["fit_for_publication"]
    assert "NOT FIT FOR PUBLICATION" in first["warning"]
    marker = tmp_path / "1" / WARNING
    assert "NOT FIT FOR PUBLICATION" in marker.read_text(encoding="utf-8")
    assert "NOT FIT FOR PUBLICATION" in run("release", spec, table, "--out", tmp_path / "1", "--seed", 7, "--unverified").err
    assert "drawn from a seed" in marker.read_text(encoding="utf-8")
    run("release", spec, table, "--out", tmp_path / "1", "--unverified")
    assert "drawn from a seed" not in marker.read_text(encoding="utf-8")


def test_what_the_file_promises_besides_is_said_not_to_be_released(run, spec, table, tmp_path):
    first = run("release", spec, table, "--out", tmp_path / "0", "--unverified", "--format", "json").json("release")
    assert first["not_released"] == []
    spec.write_text(f'{SPEC}[[part]]\ntitle = "the owned"\nbudget = {{ epsilon = "inf" }}\n', encoding="utf-8")
    ran = run("release", spec, table, "--out", tmp_path / "1", "--unverified")
    assert "the owned: the file promises it too, and it is not released here" in ran.out
    assert json.loads((tmp_path / "1" / "report.json").read_text(encoding="utf-8"))["not_released"] == ["the owned"]


VERIFIED = """\
schema = 1
id = "warner"
title = "Randomised response of three people"
[space]
type = "bit-vectors"
length = 3
[multiverse]
invariants = []
[input_divergence]
type = "hamming-ordered"
unit = "person"
[output_divergence]
type = "mult"
[budget]
epsilon = "{epsilon}"
[mechanism]
type = "randomised-response"
keep_probability = "3/4"
"""


@pytest.fixture
def bits(tmp_path):
    path = tmp_path / "bits.csv"
    path.write_text("bit\n1\n0\n1\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(("seed", "fit"), [((), True), (("--seed", 3), False)])
def test_a_verified_claim_and_no_seed_make_it_fit(run, bits, tmp_path, seed, fit):
    path = tmp_path / "warner.dpspec.toml"
    path.write_text(VERIFIED.format(epsilon="ln(3)"), encoding="utf-8")
    ran = run("release", path, bits, "--out", tmp_path / "out", *seed, "--format", "json")
    data = ran.json("release")
    assert data["fit_for_publication"] is fit is (data["warning"] is None)
    assert data["claim"]["verdict"] == "verified"
    assert data["claim"]["scopes"]
    assert (tmp_path / "out" / WARNING).exists() is not fit


def test_nothing_is_released_under_an_undecided_claim(run, spec, table, tmp_path):
    """The exit code is that of `verify`, and no file is left."""
    assert run("verify", spec).code == 3
    ran = run("release", spec, table, "--out", tmp_path / "out", "--format", "json")
    assert ran.code == 3
    assert "--unverified" in ran.out + ran.err
    assert "undecided" in ran.out + ran.err
    assert not (tmp_path / "out").exists()
    assert not list(tmp_path.glob("out*"))
    with pytest.raises(UnverifiedReleaseError) as raised:
        dp.release(spec, table, tmp_path / "out")
    assert raised.value.exit_code == 3
    assert not list(tmp_path.glob("out*"))


def test_what_is_released_unverified_is_marked_everywhere(run, spec, table, tmp_path):
    ran = run("release", spec, table, "--out", tmp_path / "out", "--unverified", "--format", "json")
    data = ran.json("release")
    assert ran.code == 0
    assert data["claim"]["released_unverified"]
    assert not data["fit_for_publication"]
    assert data["claim"]["verdict"] == "undecided"
    assert data["claim"]["sentence"] == standing(read(spec), installed().registry).sentence
    assert data["claim"]["sentence"] in data["warning"]
    assert data["warning"] in (tmp_path / "out" / WARNING).read_text(encoding="utf-8")
    again = dp.release(spec, table, tmp_path / "again", unverified=True, seed=1)
    assert again["claim"] == data["claim"]


@pytest.mark.parametrize(
    ("word", "code"), [(Word.UNDECIDED, 3), (Word.UNCHECKED, 5), (Word.MINIATURE, 7), (Word.PLUGIN, 4)], ids=str
)
def test_each_claim_that_is_not_verified_needs_the_option(monkeypatch, run, bits, tmp_path, word, code):
    path = tmp_path / "warner.dpspec.toml"
    path.write_text(VERIFIED.format(epsilon="ln(3)"), encoding="utf-8")
    claim = Standing(word=word, reason="as the test says")
    monkeypatch.setattr(sys.modules["dpspec_release.draw"], "standing", lambda *_: claim)
    with pytest.raises(UnverifiedReleaseError) as raised:
        dp.release(path, bits, tmp_path / "out")
    assert raised.value.exit_code == code
    released = dp.release(path, bits, tmp_path / "out", unverified=True)
    assert not released["fit_for_publication"]
    assert released["claim"]["released_unverified"]


@pytest.mark.parametrize("word", [Word.REFUTED, Word.RECORDED], ids=str)
def test_no_option_releases_under_a_false_claim(monkeypatch, bits, tmp_path, word):
    path = tmp_path / "warner.dpspec.toml"
    path.write_text(VERIFIED.format(epsilon="ln(3)"), encoding="utf-8")
    claim = Standing(word=word, reason="as the test says")
    monkeypatch.setattr(sys.modules["dpspec_release.draw"], "standing", lambda *_: claim)
    with pytest.raises(RefutedReleaseError):
        dp.release(path, bits, tmp_path / "out", unverified=True)
    assert not list(tmp_path.glob("out*"))


def test_a_verified_release_says_so(run, bits, tmp_path):
    path = tmp_path / "warner.dpspec.toml"
    path.write_text(VERIFIED.format(epsilon="ln(3)"), encoding="utf-8")
    data = run("release", path, bits, "--out", tmp_path / "out", "--unverified", "--format", "json").json("release")
    assert not data["claim"]["released_unverified"]
    assert data["fit_for_publication"]


@pytest.mark.parametrize("recorded", ["", '[claim]\nverdict = "refuted"\nbecause = "too small"\n'])
def test_a_refuted_claim_is_not_released(run, bits, tmp_path, recorded):
    """Nor one that is filed as refuted: exit 1 and nothing written."""
    path = tmp_path / "warner.dpspec.toml"
    path.write_text(VERIFIED.format(epsilon="1") + recorded, encoding="utf-8")
    before = sorted(tmp_path.iterdir())
    ran = run("release", path, bits, "--out", tmp_path / "out")
    assert ran.code == 1
    assert ("known to be false" if recorded else "refuted") in ran.err
    assert ran.err.count("\n") == 1
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("persons,tenure\n1,owned\n", "county"),
        ("persons,tenure,county,extra\n1,owned,a,x\n", "extra"),
        ("persons,tenure,county\n1,owned,\n", "is missing"),
        ("persons,tenure,county\n-1,owned,a\n", "row 1, column persons: is no category of the space: one of 1, 2, 3"),
        ("persons,tenure,county\n1,ownd,a\n", "row 1, column tenure: is no category of the space: one of owned, rented"),
        ("persons,tenure,county\n1,owned\n", "is missing"),
        ("persons,tenure,county\n1,owned,a,b\n", "cannot be read"),
        ("persons,tenure,county\n", "no records"),
        ("", "empty"),
    ],
)
def test_a_table_that_does_not_fit_is_refused(run, spec, tmp_path, text, message):
    path = tmp_path / "bad.csv"
    path.write_text(text, encoding="utf-8")
    ran = run("release", spec, path, "--out", tmp_path / "out", "--unverified")
    assert ran.code == 2
    assert message in ran.err
    assert not (tmp_path / "out").exists()


def test_an_unknown_table_suggests(run, spec, tmp_path):
    ran = run("release", spec, "massachusets-1940", "--out", tmp_path / "out", "--unverified")
    assert ran.code == 2
    assert "did you mean massachusetts-1940" in ran.err


def test_a_registered_table_of_other_columns_is_refused(run, spec, tmp_path):
    ran = run("release", spec, "massachusetts-1940", "--out", tmp_path / "out", "--unverified")
    assert ran.code == 2
    assert "other columns or categories" in ran.err


def test_a_mechanism_without_a_sampler_is_refused(run, tmp_path):
    path = tmp_path / "publish.dpspec.toml"
    head, _, _ = SPEC.partition("[mechanism]")
    invariant = '{ type = "marginal", unit = "household", attributes = ["county"] }'
    path.write_text(f'{head}[mechanism]\ntype = "release-invariants"\ninvariants = [{invariant}]\n', encoding="utf-8")
    table = tmp_path / "in.csv"
    table.write_text("persons,tenure,county\n1,owned,a\n", encoding="utf-8")
    ran = run("release", path, table, "--out", tmp_path / "out", "--unverified")
    assert ran.code == 2
    assert "no exact sampler" in ran.err


# --- a mechanism that breaks its promise ---------------------------------------------------------


class Breaking(Mechanism):
    """Changes one record's county, and states that it does not."""

    name = "breaking"
    unit = "household"

    def keeps(self, columns):
        return (Kept(attributes=("tenure", "county")),)

    def law(self, dataset, space):
        raise NotImplementedError

    def release(self, table, space, source):
        county = table.codes["county"].copy()
        county[0] = (county[0] + 1) % 3
        return table.replace({"county": county})


class Raising(Breaking):
    """Fails while it draws."""

    def release(self, table, space, source):
        raise ZeroDivisionError("of its own")


class Wrong(Breaking):
    """Returns something else than a table."""

    def release(self, table, space, source):
        return np.zeros(3)


@pytest.mark.parametrize(
    ("cls", "message"), [(Breaking, "does not hold the invariant"), (Raising, "ZeroDivisionError"), (Wrong, "return a Table")]
)
def test_a_mechanism_that_breaks_its_contract_is_named(spec, table, tmp_path, cls, message):
    import attrs

    document = attrs.evolve(read(spec), mechanism=cls())
    with pytest.raises(PluginContractError, match=message) as raised:
        draw(document, str(table), installed().registry, tmp_path / "out", Options(unverified=True))
    assert "breaking" in str(raised.value)
    assert raised.value.exit_code == 4


# --- interruptions -------------------------------------------------------------------------------


@pytest.mark.parametrize("problem", [KeyboardInterrupt, OSError(28, "No space left on device")])
def test_an_interrupted_write_leaves_what_was_there(monkeypatch, spec, table, tmp_path, problem):
    registry = installed().registry
    release = draw(read(spec), str(table), registry, tmp_path / "out", Options(unverified=True))
    write(release, registry, tmp_path / "out")
    old = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}

    def half(self, table, path, notes):
        path.write_text("persons,ten", encoding="utf-8")
        raise problem

    monkeypatch.setattr(registry.get("formats", "csv"), "write", half)
    with pytest.raises((KeyboardInterrupt, ReleaseError)):
        write(release, registry, tmp_path / "out")
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == old


@pytest.mark.parametrize("problem", [KeyboardInterrupt, OSError(28, "No space left on device")])
@pytest.mark.parametrize("placed", [0, 1, 2])
def test_files_that_were_placed_in_part_are_placed_by_the_next_run(monkeypatch, spec, table, tmp_path, problem, placed):
    """What was not placed was removed: a report of one run lay by the table of another, and no run made them whole."""
    registry, out = installed().registry, tmp_path / "out"
    write(draw(read(spec), str(table), registry, out, Options(unverified=True, seed=1)), registry, out)
    old = {path.name: path.read_bytes() for path in out.iterdir()}
    release = draw(read(spec), str(table), registry, out, Options(unverified=True, seed=2))
    move, moved = Path.replace, []

    def some(self, target):
        if Path(target).parent == out:
            if len(moved) == placed:
                raise problem
            moved.append(self.name)
        return move(self, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", some)
        with pytest.raises((KeyboardInterrupt, ReleaseError)) as raised:
            write(release, registry, out)
    if isinstance(problem, OSError):
        assert "was written in part" in str(raised.value)
    assert len(moved) == placed
    assert {name for name, content in old.items() if (out / name).read_bytes() != content} <= {*moved}
    again = ReleasePlace(out, tmp_path / "no table")
    again.open()
    again.leave()
    report = json.loads((out / "report.json").read_text(encoding="utf-8"))
    assert report["randomness"] == "seed 2"
    assert all(hashlib.sha256((out / row["file"]).read_bytes()).hexdigest() == row["sha256"] for row in report["released"])
    assert not release.place.is_half_placed


def test_files_are_placed_in_a_folder_on_another_disk(monkeypatch, spec, table, tmp_path):
    """A file cannot be moved into a folder where another disk is mounted: the budget was spent, and no run placed the release."""
    registry, out, move = installed().registry, tmp_path / "out", Path.replace

    def within_one_disk(self, target):
        if Path(target).parent == out and self.parent != out:
            raise OSError(errno.EXDEV, "Invalid cross-device link")
        return move(self, target)

    monkeypatch.setattr(Path, "replace", within_one_disk)
    release = draw(read(spec), str(table), registry, out, Options(unverified=True, seed=2))
    write(release, registry, out)
    report = json.loads((out / "report.json").read_text(encoding="utf-8"))
    assert all(hashlib.sha256((out / row["file"]).read_bytes()).hexdigest() == row["sha256"] for row in report["released"])
    assert {path.name for path in out.iterdir()} == {"report.json", WARNING, *(row["file"] for row in report["released"])}
    assert {path.name for path in release.place.private.iterdir()} == {"lock", "placed.json"}


def test_a_folder_that_is_read_only_is_found_before_anything_is_drawn(monkeypatch, spec, table, tmp_path):
    """It was found when the files were placed: the budget was spent, and the next run into the folder spends it again."""
    (tmp_path / "out").mkdir()
    monkeypatch.setattr(os, "access", lambda path, mode: (path, mode) != (tmp_path / "out", os.W_OK))
    with pytest.raises(ReleaseError, match=r"cannot be written \(no files may be made in it\): choose another --out"):
        draw(read(spec), str(table), installed().registry, tmp_path / "out", Options(unverified=True))
    assert not (tmp_path / "out.confidential").exists()


def test_a_run_has_no_lock_that_another_run_has_removed(monkeypatch, tmp_path):
    """A run that waited on the file of a run that ended had a lock that no third run saw."""
    first, second, third = (ReleasePlace(tmp_path / "out", tmp_path / "no table") for _ in range(3))
    first.open()
    take, taken = release_draw.lock, []

    def late(handle):
        if not taken:
            first.leave()
        taken.append(handle)
        take(handle)

    monkeypatch.setattr(release_draw, "lock", late)
    second.open()
    assert stat.S_IMODE(second.private.stat().st_mode) == 0o700
    with pytest.raises(ReleaseError, match="by another run"):
        third.open()
    second.leave()
    assert not second.private.exists()


@pytest.mark.spread(0, slow=2)
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM], ids=lambda how: how.name)
def test_a_killed_release_leaves_the_old_file_or_a_whole_new_one(specs, tmp_path, how):
    out = tmp_path / "out"
    out.mkdir()
    (out / "released.csv").write_text("old\n", encoding="utf-8")
    command = ["release", str(specs / "swapping-1940-massachusetts.dpspec.toml"), "massachusetts-1940", "--out", str(out)]
    piped = subprocess.PIPE
    process = subprocess.Popen([sys.executable, "-m", "dpspec", *command], stdout=piped, stderr=piped, text=True)
    waiting = threading.Event()
    while process.poll() is None and not any(map(begun, parts(out))):
        waiting.wait(0.001)
    process.send_signal(how)
    _, err = process.communicate()
    released = (out / "released.csv").read_text(encoding="utf-8")
    assert released == "old\n" or released.count("\n") == 1_144_425
    if how is not signal.SIGKILL:
        assert process.returncode in (0, 130), err
        assert not parts(out)
        assert "Traceback" not in err


def parts(directory: Path) -> list[Path]:
    """What is being written: in the confidential folder, where nobody else sees it."""
    ready = directory.with_name(f"{directory.name}.confidential") / "ready"
    return [ready / name for name in (os.listdir(ready) if ready.is_dir() else ())]


def begun(part: Path) -> bool:
    try:
        return part.stat().st_size > 0
    except FileNotFoundError:
        return False


SAMPLED = """\
schema = 1
id = "sampled"
title = "Suppressed counts of an empty sample"
space = { type = "records", most = 3, attributes = [{ name = "sex", categories = ["f", "m"] }] }
multiverse = { invariants = [] }
input_divergence = { type = "symmetric-difference" }
output_divergence = { type = "mult" }
budget = { epsilon = "inf" }
[mechanism]
type = "subsampled"
rate = 0
mechanism = { type = "cell-suppression", tables = [["sex"]], threshold = 3 }
"""


def test_an_empty_sample_of_a_mechanism_without_structure_is_released(tmp_path, run):
    (tmp_path / "spec.dpspec.toml").write_text(SAMPLED)
    (tmp_path / "table.csv").write_text("sex\nf\nm\n")
    words = ["release", tmp_path / "spec.dpspec.toml", tmp_path / "table.csv", "--out", tmp_path / "out", "--utility"]
    assert run(*words).code == 0
    assert [row["value"] for row in csv.DictReader((tmp_path / "out" / "released.csv").read_text().splitlines())] == ["0", "0"]
