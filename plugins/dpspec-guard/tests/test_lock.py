"""`dpspec lock` and `dpspec verify --locked`: what changed is found, what did not is not verified again."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner
from dpspec_guard import lock as lock_module
from dpspec_guard.engine import engine
from dpspec_guard.lock import LockError, read_lock

import dpspec as dp
from dpspec import DpspecError
from dpspec.base.errors import PluginContractError
from dpspec.cli import main

SPECS = Path("specs").resolve()
SMALL = [
    SPECS / "randomised-response.dpspec.toml",
    SPECS / "gaussian-lecture.dpspec.toml",
    *sorted((SPECS / "mechanisms").glob("laplace-*.dpspec.toml"))[:4],
    *sorted((SPECS / "flavours").glob("*.dpspec.toml"))[:6],
]
BASES = tomllib.loads(Path(__file__).with_name("changes.toml").read_text(encoding="utf-8"))["bases"]


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder with three specifications: one verified, one of which nothing is checked, and one refuted on record."""
    (tmp_path / "specs").mkdir()
    (tmp_path / "specs" / "weekly.dpspec.toml").write_text(BASES["weekly"], encoding="utf-8")
    (tmp_path / "specs" / "survey.dpspec.toml").write_text(BASES["survey"], encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def edit(place, before, after, name="weekly"):
    path = place / "specs" / f"{name}.dpspec.toml"
    text = path.read_text(encoding="utf-8")
    assert before in text
    path.write_text(text.replace(before, after), encoding="utf-8")


def codes(found):
    return [(finding["code"], finding["file"]) for finding in found["findings"]]


@pytest.fixture
def counted(monkeypatch):
    """How many files are verified."""
    seen = []
    real = lock_module.verify_document

    def counting(document, **given):
        seen.append(Path(document.path).name)
        return real(document, **given)

    monkeypatch.setattr(lock_module, "verify_document", counting)
    return seen


def test_what_did_not_change_is_not_verified_again(place, counted):
    dp.lock("specs")
    assert len(counted) == 2
    counted.clear()
    assert dp.verify_locked().exit_code == 0
    assert counted == []
    edit(place, "schema = 1", "schema = 1  # of the language")
    found = dp.verify_locked()
    assert (found.exit_code, counted, found["edited"]) == (0, ["weekly.dpspec.toml"], ["specs/weekly.dpspec.toml"])
    counted.clear()
    assert dp.verify_locked(everything=True).exit_code == 0
    assert len(counted) == 2


def test_another_engine_verifies_everything_and_fails_nothing(place, counted):
    dp.lock("specs")
    path = place / "dpspec.lock"
    path.write_text(re.sub(r'("name": "dpspec-noise".*"sha256": ")[0-9a-f]{64}', rf"\g<1>{'0' * 64}", path.read_text()))
    counted.clear()
    found = dp.verify_locked()
    assert (found.exit_code, len(counted), [part["name"] for part in found["engine"]]) == (0, 2, ["dpspec-noise"])


def test_a_package_that_was_added_or_removed_is_another_engine(place):
    dp.lock("specs")
    path = place / "dpspec.lock"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(line for line in lines if '"dpspec-noise"' not in line))
    assert [part["before"] for part in dp.verify_locked()["engine"]] == ["none"]


@pytest.mark.parametrize(
    ("before", "after", "code"),
    [
        ('keep_probability = "3/4"', 'keep_probability = "4/5"', "worse"),
        ('keep_probability = "3/4"', 'keep_probability = "2/3"', "changed"),
        ('[budget]\nepsilon = "ln(3)"', '[budget]\nepsilon = "ln(4)"', "changed"),
        ('verdict = "verified"', 'verdict = "refuted"', "worse"),
        ("length = 3", "length = 2", "changed"),
    ],
)
def test_another_result_is_found(place, before, after, code):
    dp.lock("specs")
    edit(place, before, after)
    found = dp.verify_locked()
    assert (found.exit_code, codes(found)) == (1, [(code, "specs/weekly.dpspec.toml")])


@pytest.mark.skipif(os.name == "nt" or sys.platform == "darwin", reason="these are no names there")
def test_files_of_any_name_are_locked(place):
    """U+2028 and U+0085 end a line for `splitlines`, so the lock could not be read; a name that is no UTF-8 was not written."""
    for number, name in enumerate([b"a\xe2\x80\xa8b", b"c\xc2\x85d", b"e\nf", b"x\xff"]):
        Path(os.fsdecode(b"specs/" + name + b".dpspec.toml")).write_text(BASES["weekly"].replace('"weekly"', f'"w{number}"'))
    dp.lock("specs")
    found = dp.verify_locked()
    assert (found.exit_code, len(found.value.files), found["verified"]) == (0, 6, [])


@pytest.mark.skipif(os.name == "nt", reason="needs links")
def test_a_link_keeps_its_name_however_it_is_given(place):
    """`specs/../link` was locked as the file that it led to, so that another target was not seen."""
    link = place / "link.dpspec.toml"
    link.symlink_to("specs/weekly.dpspec.toml")
    (place / "all").symlink_to(place)
    for given in ("link.dpspec.toml", "specs/../link.dpspec.toml", place / "all" / "link.dpspec.toml"):
        assert [file.file for file in dp.lock(given).value.files] in (["link.dpspec.toml"], ["all/link.dpspec.toml"])
    link.unlink()
    link.symlink_to("specs/survey.dpspec.toml")
    assert codes(dp.verify_locked()) == [("changed", "all/link.dpspec.toml")]
    found = dp.lock(place / "all" / "specs" / "weekly.dpspec.toml", lock=place / "specs" / "dpspec.lock")
    assert [file.file for file in found.value.files] == ["weekly.dpspec.toml"]


def test_new_and_missing_files(place):
    dp.lock("specs")
    (place / "specs" / "weekly.dpspec.toml").rename(place / "specs" / "other.dpspec.toml")
    found = dp.verify_locked()
    assert codes(found) == [("new", "specs/other.dpspec.toml"), ("missing", "specs/weekly.dpspec.toml")]
    assert found.exit_code == 1


def test_all_files_of_a_folder_that_is_gone_are_missing(place):
    dp.lock("specs")
    for file in (place / "specs").iterdir():
        file.unlink()
    (place / "specs").rmdir()
    assert {code for code, _ in codes(dp.verify_locked())} == {"missing"}


def test_paths_without_files_are_no_success(place):
    """A path that is wrong in CI passed: no file was as locked."""
    dp.lock("specs")
    (place / "empty").mkdir()
    with pytest.raises(DpspecError, match="hold no file") as fault:
        dp.verify_locked("empty")
    assert fault.value.exit_code == 2
    lock = place / "dpspec.lock"
    lock.write_text('{"dpspec-lock": 1, "paths": []}\n', encoding="utf-8")
    with pytest.raises(DpspecError, match="hold no file"):
        dp.verify_locked()


def test_paths_restrict_what_is_compared(place):
    dp.lock("specs")
    edit(place, 'keep_probability = "3/4"', 'keep_probability = "4/5"')
    assert dp.verify_locked("specs/survey.dpspec.toml").exit_code == 0
    assert dp.verify_locked("specs/weekly.dpspec.toml").exit_code == 1


def test_a_plugin_that_fails_is_no_fault_of_the_file(place, monkeypatch):
    """The advice was to correct the file, where the law of a plugin's mechanism does not sum to 1."""
    dp.lock("specs")
    failed = PluginContractError("mechanism hello-count", "law() returned no probability distribution", "correct the plugin")
    monkeypatch.setattr(lock_module, "_all_judged", lambda files, *_: iter([failed for _ in files]))
    found = dp.verify_locked(everything=True)
    assert found.exit_code == 4
    assert {one["advice"] for one in found["findings"]} == {"correct the plugin or library that failed"}


def test_a_file_that_cannot_be_read(place):
    dp.lock("specs")
    edit(place, "schema = 1", "schema = ")
    found = dp.verify_locked()
    assert (found.exit_code, [code for code, _ in codes(found)]) == (2, ["unreadable"])
    before = (place / "dpspec.lock").read_bytes()
    with pytest.raises(dp.DpspecError):
        dp.lock("specs")
    assert (place / "dpspec.lock").read_bytes() == before


def test_a_refuted_file_fails_as_long_as_it_is_refuted(place):
    """The lock records what was found. It excuses nothing."""
    edit(place, 'keep_probability = "3/4"', 'keep_probability = "4/5"')
    assert dp.lock("specs").exit_code == 0
    assert dp.verify_locked().exit_code == 1
    edit(place, 'verdict = "verified"', 'verdict = "refuted"')
    dp.lock("specs")
    assert dp.verify_locked().exit_code == 6
    assert dp.verify_locked(accept=["recorded"]).exit_code == 0


def test_a_lock_that_was_edited_by_hand_is_found_by_all_alone(place):
    edit(place, 'keep_probability = "3/4"', 'keep_probability = "4/5"')
    dp.lock("specs")
    path = place / "dpspec.lock"
    path.write_text(path.read_text().replace('"refuted"', '"holds"').replace('"standing": "holds"', '"standing": "verified"'))
    assert dp.verify_locked().exit_code == 0
    assert codes(dp.verify_locked(everything=True)) == [("worse", "specs/weekly.dpspec.toml")]


def test_a_proof_that_the_checker_rejects_is_worse(tmp_path, monkeypatch):
    (tmp_path / "a.dpspec.toml").write_bytes((SPECS / "randomised-response.dpspec.toml").read_bytes())
    monkeypatch.chdir(tmp_path)
    dp.lock(".")
    assert [file.proof for file in read_lock(Path("dpspec.lock")).files] == ["accepted"]
    monkeypatch.setattr(lock_module, "contributed", lambda _: {})
    found = dp.verify_locked(everything=True)
    assert codes(found) == [("worse", "a.dpspec.toml")]
    assert "proof accepted -> not installed" in found["findings"][0]["message"]


def test_the_lock_is_one_sorted_line_for_each_file(place):
    dp.lock("specs")
    first = (place / "dpspec.lock").read_text()
    dp.lock("specs")
    assert (place / "dpspec.lock").read_text() == first
    rows = [json.loads(line) for line in first.splitlines()]
    assert [row["file"] for row in rows if "file" in row] == ["specs/survey.dpspec.toml", "specs/weekly.dpspec.toml"]
    dp.lock("specs/weekly.dpspec.toml", "specs/survey.dpspec.toml", "specs")
    assert (place / "dpspec.lock").read_text().splitlines()[1:] == first.splitlines()[1:]


@pytest.mark.spread(1, slow=1)
@pytest.mark.parametrize("seed", ["0", "1"])
def test_another_process_writes_the_same_lines(place, seed):
    dp.lock("specs")
    first = (place / "dpspec.lock").read_text()
    called = [sys.executable, "-m", "dpspec", "lock", "specs"]
    subprocess.run(called, check=True, capture_output=True, env={**os.environ, "PYTHONHASHSEED": seed, "COLUMNS": "40"})
    assert (place / "dpspec.lock").read_text() == first


def test_the_lock_lies_above_what_it_locks(place, monkeypatch):
    with pytest.raises(dp.DpspecError, match="outside"):
        dp.lock("specs", lock="inner/dpspec.lock")
    dp.lock("specs/weekly.dpspec.toml", lock="specs/dpspec.lock")
    assert [file.file for file in read_lock(Path("specs/dpspec.lock")).files] == ["weekly.dpspec.toml"]
    assert dp.verify_locked(lock="specs/dpspec.lock").exit_code == 0


@pytest.mark.parametrize(
    "text",
    [
        "", "nothing", "[]", "5\n", '{"dpspec-lock": 2, "paths": []}', '{"dpspec-lock": 1}',
        '{"dpspec-lock": 1, "paths": "specs"}', '{"dpspec-lock": 1, "paths": []}\n5\n',
        '{"dpspec-lock": 1, "paths": []}\n{"file": "a"}\n',
        '{"dpspec-lock": 1, "paths": []}\n[]\n', '{"dpspec-lock": 1, "paths": [1]}', "[" * 100_000, "\xff",
    ],
)  # fmt: skip
def test_what_is_no_lock(place, text):
    (place / "dpspec.lock").write_bytes(text.encode("latin-1"))
    with pytest.raises(LockError):
        dp.verify_locked()


def test_a_lock_with_a_file_twice_is_refused(place):
    dp.lock("specs")
    path = place / "dpspec.lock"
    path.write_text(path.read_text() + path.read_text().splitlines()[-1] + "\n")
    with pytest.raises(LockError):
        dp.verify_locked()


def test_a_path_of_the_lock_that_leads_outside_is_refused(place, tmp_path_factory):
    other = tmp_path_factory.mktemp("other")
    (other / "a.dpspec.toml").write_text(BASES["weekly"], encoding="utf-8")
    dp.lock("specs")
    path = place / "dpspec.lock"
    path.write_text(path.read_text().replace('"paths": ["specs"]', f'"paths": ["{other}"]'))
    with pytest.raises(dp.DpspecError, match="outside"):
        dp.verify_locked()


def test_the_engine_has_every_package_with_its_content():
    parts = {part.name: part for part in engine()}
    assert all(len(parts[name].sha256) == 64 for name in ("dpspec", "dpspec-guard", "dpspec-checker", "dpspec-noise"))
    assert {"python", "numpy", "python-flint"} <= {*parts}


def test_a_further_module_of_a_distribution_is_part_of_the_engine(tmp_path, monkeypatch):
    """Only the module of the entry point was: a claim was *as locked* when the module that it imports had changed."""
    info, helper = tmp_path / "fake-1.0.dist-info", tmp_path / "fake_helper" / "__init__.py"
    for folder in (info, helper.parent, tmp_path / "fake"):
        folder.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: fake\nVersion: 1.0\n", encoding="utf-8")
    (info / "RECORD").write_text("fake/__init__.py,,\nfake_helper/__init__.py,,\n../bin/x.py,,\n", encoding="utf-8")
    (info / "entry_points.txt").write_text("[dpspec]\nfake = fake\n", encoding="utf-8")
    (tmp_path / "fake" / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    seen = set()
    for text in ("a = 1", "a = 2"):
        helper.write_text(text, encoding="utf-8")
        seen.update(part.sha256 for part in engine.__wrapped__() if part.name == "fake")
    assert len(seen) == 2


# --- the command ----------------------------------------------------------------------------------


def test_both_commands(place):
    schema, run = dp.schema("output"), CliRunner()
    done = run.invoke(main, ["lock", "specs", "--format", "json"])
    jsonschema.Draft202012Validator(schema).validate(json.loads(done.stdout))
    for options, code in (([], 0), (["--all"], 0)):
        done = run.invoke(main, ["verify", "--locked", *options])
        assert (done.exit_code, done.stdout.splitlines()[0].startswith("2 files: as locked")) == (code, True)
    edit(place, 'keep_probability = "3/4"', 'keep_probability = "4/5"')
    done = run.invoke(main, ["verify", "--locked", "specs", "--format", "json"])
    jsonschema.Draft202012Validator(schema).validate(json.loads(done.stdout))
    log = json.loads(run.invoke(main, ["verify", "--locked", "--format", "sarif"]).stdout)
    assert [result["ruleId"] for result in log["runs"][0]["results"]] == ["verify-locked/worse"]


@pytest.mark.parametrize(
    "words",
    [["--all", "specs"], ["--locked", "--release"], ["--locked", "--verbose", "--seed", "1"], ["--locked", "--function", "a:b"]],
)
def test_options_that_do_not_go_together(place, words):
    dp.lock("specs")
    assert CliRunner().invoke(main, ["verify", *words]).exit_code == 2


def test_what_a_project_sets_for_verify_does_not_restrict_the_lock(place):
    dp.lock("specs")
    (place / "pyproject.toml").write_text('[tool.dpspec]\njobs = 2\npaths = ["specs/survey.dpspec.toml"]\n', encoding="utf-8")
    edit(place, 'keep_probability = "3/4"', 'keep_probability = "4/5"')
    done = CliRunner().invoke(main, ["verify", "--locked"])
    assert (done.exit_code, "weekly.dpspec.toml: worse" in done.stdout) == (1, True)


def test_without_a_lock(place):
    done = CliRunner().invoke(main, ["verify", "--locked"])
    told = "lock=dpspec.lock: cannot be read (No such file or directory): write it: dpspec lock PATHS"
    assert (done.exit_code, done.stderr.strip()) == (2, told)


def test_another_wording_is_no_other_result(place, monkeypatch):
    """A version of dpspec that words its sentences differently finds the same."""
    dp.lock("specs")
    real = lock_module.file_report_data

    def reworded(path, report):
        data = real(path, report)
        for one in data["obligations"]:
            one["detail"] = "other words"
            one["verdict"]["reason"] = "other words"
        return data

    monkeypatch.setattr(lock_module, "file_report_data", reworded)
    assert dp.verify_locked(everything=True).exit_code == 0


# --- random edits, against a full verification ----------------------------------------------------


def result(path):
    """What `dp.verify` finds, told by its own texts; None for a file that cannot be read."""
    try:
        report = dp.verify(path)
    except dp.DpspecError:
        return None
    rows = []
    for one in report.obligations:
        verdict = one.verdict
        steps = () if verdict is None else verdict.proof
        proof = [(step.step, json.dumps(step.data, sort_keys=True, default=str)) for step in steps]
        told = None if verdict is None else (verdict.outcome, str(verdict.constant), verdict.method, str(verdict.witness))
        rows.append((one.name, one.word, str(one.value), told, proof))
    return report.word, report.scope, rows


def edited(text, draw):
    """A text with one random edit: a number, a word, a line, or a letter."""
    lines = text.splitlines()
    kind = draw.randrange(6)
    place = draw.randrange(len(lines))
    numbers = list(re.finditer(r"\d+", text))
    if kind <= 2 and numbers:
        found = draw.choice(numbers)
        return text[: found.start()] + str(max(0, int(found[0]) + draw.choice([-1, 1, 2]))) + text[found.end() :]
    if kind == 3:
        return "\n".join(lines[:place] + lines[place + 1 :]) + "\n"
    if kind == 4:
        return "\n".join([*lines[:place], f"# {draw.random()}", *lines[place:]]) + "\n"
    words = list(re.finditer(r'"[a-z-]+"', text))
    found, other = draw.choice(words), draw.choice(words)
    return text[: found.start()] + other[0] + text[found.end() :]


@pytest.mark.spread(2, slow=2)
@pytest.mark.parametrize("base", [
    pytest.param(path, marks=pytest.mark.long if name in ("blowfish", "bootstrap-dp") else (), id=name)
    for path in SMALL for name in [path.name.partition(".")[0]]
])  # fmt: skip
def test_random_edits_that_change_a_result_are_found(base, tmp_path, monkeypatch):
    """The oracle verifies the whole file; of a change in verdict, constant, proof or witness none is missed."""
    draw = random.Random(base.name)
    path = tmp_path / base.name
    text = base.read_text(encoding="utf-8")
    path.write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    dp.lock(base.name)
    before, changed = result(path), 0
    for _ in range(17):
        path.write_text(edited(text, draw), encoding="utf-8")
        after = result(path)
        found = dp.verify_locked()
        kinds = {code for code, _ in codes(found)}
        if after is None:
            assert kinds == {"unreadable"}
        elif after != before:
            changed += 1
            assert kinds & {"worse", "changed"}
            assert found.exit_code == 1
        else:
            assert kinds <= {"changed"}, found["findings"]  # the promise may be another one with the same result
    path.write_text(text, encoding="utf-8")
    assert dp.verify_locked()["verified"] == []
