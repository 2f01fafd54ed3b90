"""`verify --cache`: the same bytes as without it, and a change of anything that a result depends on finds no result."""

from __future__ import annotations

import importlib
import json
import os
import shutil
from pathlib import Path

import pytest

from dpspec import api
from dpspec.base.words import Word
from dpspec.cli import cache as engine
from dpspec.cli.cache import ResultCache, installation


@pytest.fixture
def counted(monkeypatch):
    """The files that are verified, rather than read from the cache."""
    seen, real = [], api.verify_file

    def verify_file(path, **asked):
        seen.append(Path(path).name)
        return real(path, **asked)

    monkeypatch.setattr(api, "verify_file", verify_file)
    return seen


@pytest.fixture
def same_code(monkeypatch):
    """The installation is not hashed in every run: a test of its own hashes it."""
    monkeypatch.setattr(engine, "installation", lambda: f"{os.environ.get('DPSPEC_BLOCK_PLUGINS', ''):0<64}")


@pytest.fixture
def verified(run, response, tmp_path, counted, same_code):
    """A file, and a function that verifies it with the cache."""
    path = response()

    def again(*options: str, file: Path = path, **environment: str):
        return run("verify", file, "--cache", tmp_path / "cache", *options, **environment)

    again.path = path
    again()
    counted.clear()
    return again


def test_a_second_run_verifies_nothing_and_prints_the_same(run, verified, counted) -> None:
    fresh = run("verify", verified.path)
    counted.clear()
    kept = verified()
    assert (kept.out, kept.code) == (fresh.out, fresh.code)
    assert counted == []
    assert kept.err == "1 of 1 result from the cache\n"


def test_a_refuted_claim_stays_refuted(run, response, tmp_path, counted) -> None:
    wrong = response(epsilon="ln(2)")
    runs = [run("verify", wrong, "--cache", tmp_path / "cache", "--format", "json") for _ in range(2)]
    assert counted == [wrong.name]
    assert [ran.code for ran in runs] == [1, 1]
    assert runs[0].out == runs[1].out
    assert json.loads(runs[1].out)["files"][0]["outcome"] == "refuted"


def test_a_changed_file_is_verified(verified, counted) -> None:
    verified.path.write_text(verified.path.read_text(encoding="utf-8").replace("ln(3)", "ln(2)"), encoding="utf-8")
    assert verified().code == 1
    assert counted == [verified.path.name]


def test_another_path_is_another_result(verified, counted, tmp_path) -> None:
    copy = tmp_path / "copy.dpspec.toml"
    copy.write_bytes(verified.path.read_bytes())
    assert str(copy) in verified(file=copy).out
    assert counted == [copy.name]


ASKED = {
    "verbose": (["--verbose"], {}), "format": (["--format", "json"], {}), "release": (["--release"], {}),
    "width": ([], {"COLUMNS": "60"}), "plugins": ([], {"DPSPEC_BLOCK_PLUGINS": "x"}),
}  # fmt: skip


@pytest.mark.parametrize(("options", "environment"), ASKED.values(), ids=ASKED)
def test_what_is_asked_and_the_environment_change_the_result(verified, counted, options, environment) -> None:
    verified(*options, **environment)
    assert counted == [verified.path.name]
    counted.clear()
    verified()
    assert counted == [], "the result of before is still there"


def of_project(
    folder: Path, version: str = "1.0", entry: str = "[dpspec]\nfake = fake\n", record: str = "fake/x.py,sha256=1,1"
) -> None:
    """A distribution that brings a plugin."""
    info = folder / "fake-1.0.dist-info"
    info.mkdir(exist_ok=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: fake\nVersion: {version}\n", encoding="utf-8")
    (info / "RECORD").write_text(record, encoding="utf-8")
    (info / "entry_points.txt").write_text(entry, encoding="utf-8")
    (folder / "fake").mkdir(exist_ok=True)


@pytest.mark.slow
def test_every_part_of_the_installation_counts(tmp_path, monkeypatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    of_project(tmp_path)
    package, source = tmp_path / "fake", tmp_path / "checkout"
    (package / "__init__.py").write_text("a = 1\n", encoding="utf-8")
    importlib.invalidate_caches()
    seen = [installation()]

    def changed(what: str) -> None:
        importlib.invalidate_caches()
        seen.append(installation())
        assert len(set(seen)) == len(seen), what

    assert installation() == seen[0]
    (package / "__init__.py").write_text("a = 2\n", encoding="utf-8")
    changed("the code of a plugin")
    (package / "inner").mkdir()
    (package / "inner" / "numbers.toml").write_text("a = 1\n", encoding="utf-8")
    changed("a data file of a plugin")
    of_project(tmp_path, version="1.1")
    changed("a version")
    of_project(tmp_path, version="1.1", record="fake/x.py,sha256=2,1")
    changed("the hash of an installed file")
    of_project(tmp_path, version="1.1", entry="")
    changed("an entry point")
    source.mkdir()
    (source / "helper.py").write_text("b = 1\n", encoding="utf-8")
    origin = {"url": source.as_uri(), "dir_info": {"editable": True}}
    (tmp_path / "fake-1.0.dist-info" / "direct_url.json").write_text(json.dumps(origin), encoding="utf-8")
    changed("a distribution that is installed from a folder")
    (source / "helper.py").write_text("b = 2\n", encoding="utf-8")
    changed("the code in this folder")
    monkeypatch.setattr("sys.version", "4.0")
    changed("the version of Python")
    monkeypatch.setattr("platform.machine", lambda: "other")
    changed("the machine")
    monkeypatch.setenv("PYTHONPATH", "elsewhere")
    changed("the path of Python")
    before = len(seen)
    (package / "__pycache__").mkdir()
    (package / "__pycache__" / "x.pyc").write_bytes(b"x")
    assert installation() == seen[before - 1], "what Python compiles is no change"


def test_a_further_module_of_a_plugin_counts(tmp_path, monkeypatch) -> None:
    """Only the module of its entry point did: a claim held from the cache when the module that it imports had changed."""
    monkeypatch.syspath_prepend(str(tmp_path))
    of_project(tmp_path, record="fake/__init__.py,,\nfake_helper.py,,\n../bin/x.py,,\n")
    seen = set()
    for text in ("a = 1", "a = 2"):
        (tmp_path / "fake_helper.py").write_text(text, encoding="utf-8")
        importlib.invalidate_caches()
        seen.add(installation())
    assert len(seen) == 2


DAMAGES = [lambda text: text[:-9], lambda text: text.replace(b"HOLDS", b"VALID"), lambda _: b"", lambda _: b"[]"]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_result_is_computed_again(verified, counted, tmp_path, damage) -> None:
    (entry,) = (tmp_path / "cache").rglob("*.json")
    whole = entry.read_bytes()
    entry.write_bytes(damage(whole))
    assert verified().code == 0
    assert counted == [verified.path.name]
    assert entry.read_bytes() == whole


def test_errors_are_not_kept(run, tmp_path, counted, same_code) -> None:
    broken = tmp_path / "broken.dpspec.toml"
    broken.write_text("schema = 1\n", encoding="utf-8")
    for _ in range(2):
        assert run("verify", broken, tmp_path / "absent.dpspec.toml", "--cache", tmp_path / "cache").code == 2
    assert counted == [broken.name] * 2
    assert not list((tmp_path / "cache").rglob("*.json"))
    with ResultCache(tmp_path / "cache", {}, print) as results:
        for word in Word:
            results.write(broken, results.entry(broken), (word, {}, ""))
            kept = results.read(results.entry(broken)) is not None
            assert kept is (word in engine.KEPT)
            for entry in (tmp_path / "cache").rglob("*.json"):
                entry.unlink()
    assert not {Word.PLUGIN, Word.INVALID} & set(engine.KEPT)


def test_a_file_that_changes_while_it_is_verified_is_not_kept(tmp_path) -> None:
    path = tmp_path / "a"
    path.write_text("1", encoding="utf-8")
    with ResultCache(tmp_path / "cache", {}, print) as results:
        entry = results.entry(path)
        path.write_text("2", encoding="utf-8")
        results.write(path, entry, (Word.HOLDS, {}, ""))
        assert results.read(entry) is None


def test_results_are_dropped_where_the_code_changed_meanwhile(tmp_path, monkeypatch) -> None:
    path = tmp_path / "a"
    path.write_text("1", encoding="utf-8")
    hashes = iter(("a" * 64, "b" * 64))
    monkeypatch.setattr(engine, "installation", lambda: next(hashes))
    with ResultCache(tmp_path / "cache", {}, print) as results:
        results.write(path, results.entry(path), (Word.HOLDS, {}, ""))
        assert list((tmp_path / "cache").rglob("*.json"))
    assert not list((tmp_path / "cache").rglob("*.json"))


def test_the_results_of_old_installations_are_removed(tmp_path, monkeypatch) -> None:
    for place in range(engine.INSTALLATIONS + 3):
        monkeypatch.setattr(engine, "installation", lambda place=place: f"{place:064d}"[::-1])
        with ResultCache(tmp_path, {}, print) as results:
            os.utime(results._results, (place, place))
    assert len(list(tmp_path.iterdir())) == engine.INSTALLATIONS


def test_known_and_new_files_keep_their_order(run, response, tmp_path, specs, same_code) -> None:
    files = [specs / "randomised-response.dpspec.toml", tmp_path / "absent.dpspec.toml", response()]
    fresh = run("verify", *files)
    run("verify", files[2], "--cache", tmp_path / "cache")
    mixed = run("verify", *files, "--cache", tmp_path / "cache")
    assert (mixed.out, mixed.code) == (fresh.out, fresh.code)
    assert mixed.err == fresh.err + "1 of 3 results from the cache\n"


def test_a_cache_that_is_a_file_is_refused(run, response, tmp_path) -> None:
    (tmp_path / "cache").write_text("mine", encoding="utf-8")
    ran = run("verify", response(), "--cache", tmp_path / "cache")
    assert ran.code == 2
    assert "is a file" in ran.err
    assert (tmp_path / "cache").read_text(encoding="utf-8") == "mine"


def removed(folder: Path) -> None:
    shutil.rmtree(folder)


def replaced(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.write_text("mine", encoding="utf-8")


def emptied(folder: Path) -> None:
    for inside in folder.iterdir():
        shutil.rmtree(inside)


@pytest.mark.parametrize("lose", [removed, replaced, emptied])
@pytest.mark.parametrize("at", ["the first file", "the last file", "the end"])
def test_a_folder_that_disappears_changes_no_answer(run, response, tmp_path, specs, monkeypatch, same_code, lose, at) -> None:
    files, folder = [specs / "randomised-response.dpspec.toml", response()], tmp_path / "cache"
    fresh, real, written, seen = run("verify", *files), api.verify_file, ResultCache.write, []

    def verify_file(path, **asked):
        seen.append(path)
        if len(seen) == {"the first file": 1, "the last file": 2}.get(at):
            lose(folder)
        return real(path, **asked)

    def write(self, *args):
        written(self, *args)
        if at == "the end" and len(seen) == 2:
            lose(folder)

    monkeypatch.setattr(api, "verify_file", verify_file)
    monkeypatch.setattr(ResultCache, "write", write)
    ran = run("verify", *files, "--cache", folder)
    assert (ran.out, ran.code, len(seen)) == (fresh.out, fresh.code, 2)
    assert ran.err.count("warning") == ran.err.count("\n") == (0 if (at, lose) == ("the end", emptied) else 1)
    assert not list(folder.rglob("*.json"))
    assert folder.is_file() is (lose is replaced)
    assert folder.exists() is (lose is not removed)


@pytest.mark.parametrize("place", ["file/cache", "x" * 300])
def test_a_folder_that_cannot_be_made_changes_no_answer(run, response, tmp_path, same_code, place) -> None:
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    fresh, ran = run("verify", response()), run("verify", response(), "--cache", tmp_path / place)
    assert (ran.out, ran.code) == (fresh.out, fresh.code)
    assert ran.err.count("warning") == ran.err.count("\n") == 1


def test_a_file_of_the_installation_that_disappears_drops_the_results(tmp_path, monkeypatch) -> None:
    path, calls = tmp_path / "a", []

    def hashed():
        calls.append(1)
        if len(calls) > 1:
            raise FileNotFoundError(2, "No such file or directory")
        return "a" * 64

    path.write_text("1", encoding="utf-8")
    monkeypatch.setattr(engine, "installation", hashed)
    with ResultCache(tmp_path / "cache", {}, print) as results:
        results.write(path, results.entry(path), (Word.HOLDS, {}, ""))
    assert not list((tmp_path / "cache").rglob("*.json"))
