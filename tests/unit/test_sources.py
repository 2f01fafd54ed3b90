"""Every file of a plugin's code counts, however it is installed: verdicts are kept as long as none of them changes."""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import json
import sys
from pathlib import Path

import pytest

from dpspec.extension.sources import Sources


class Finder:
    """As setuptools writes one for projects whose folders are no path of Python."""

    def __init__(self, known: dict[str, Path]) -> None:
        self.known = known

    def find_spec(self, name, path=None, target=None):
        place = self.known.get(name)
        return None if place is None else importlib.util.spec_from_file_location(name, place)


def project(folder: Path, site: Path, name: str = "fake", *, listed, editable, entry="fake_plugin", **more: str) -> None:
    """The data of a distribution that is imported from a folder."""
    about = site / f"{name}-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n{more.pop('requires', '')}", "utf-8")
    if entry:
        (about / "entry_points.txt").write_text(f"[dpspec]\nfake = {entry}\n", encoding="utf-8")
    if listed is not None:
        (about / "RECORD").write_text(listed, encoding="utf-8")
    if editable:
        origin = {"url": folder.as_uri(), "dir_info": {"editable": True}}
        (about / "direct_url.json").write_text(json.dumps(origin), encoding="utf-8")
    for file, text in more.items():
        (about / f"{file}.txt").write_text(text, encoding="utf-8")


def paths(name: str = "fake") -> set[str]:
    importlib.invalidate_caches()
    return {path.name for _, path in Sources().files(name)}


def modules(folder: Path) -> None:
    """A plugin of one file with a second module, a package with data, and what is no code."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "fake_plugin.py").write_text("import fake_second\n", encoding="utf-8")
    (folder / "fake_second.py").write_text("a = 1\n", encoding="utf-8")
    (folder / "fake_table.csv").write_text("a\n", encoding="utf-8")
    (folder / "fake_package").mkdir()
    (folder / "fake_package" / "part.py").write_text("a = 1\n", encoding="utf-8")
    (folder / "fake_package" / "numbers.json").write_text("[]", encoding="utf-8")
    (folder / "fake_package" / "__pycache__").mkdir()
    (folder / "fake_package" / "__pycache__" / "part.pyc").write_bytes(b"")
    (folder / "figures").mkdir()
    (folder / "figures" / "a.svg").write_text("", encoding="utf-8")
    for other in ("dpspec.lock", "claim.dpspec.toml", ".hidden.py"):
        (folder / other).write_text("", encoding="utf-8")


CODE = {"fake_plugin.py", "fake_second.py", "fake_table.csv", "part.py", "numbers.json"}
STYLES = {
    "setuptools": {"listed": "__editable__.fake-1.0.pth,sha256=1,1\n", "editable": True, "top_level": "fake_plugin\n"},
    "setuptools, a finder": {"listed": "__editable___fake_1_0_finder.py,,\n__editable__.fake-1.0.pth,,\n", "editable": True},
    "hatch": {"listed": "_fake.pth,sha256=1,1\nfake-1.0.dist-info/METADATA,,\n", "editable": True},
    "flit": {"listed": "fake.pth,,\n", "editable": True},
    "a path by hand": {"listed": "", "editable": False},
    "no list": {"listed": None, "editable": False},
}


@pytest.mark.parametrize("style", STYLES)
def test_all_modules_of_a_plugin_that_is_imported_from_a_folder_count(tmp_path, monkeypatch, style):
    """The module of its entry point did alone: a claim that had become false stayed *as locked*, and *holds* from the cache."""
    source, site = tmp_path / "checkout" / "src", tmp_path / "site"
    modules(source)
    project(source.parent, site, **STYLES[style])
    monkeypatch.syspath_prepend(str(site))
    if "finder" in style:
        monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, Finder({"fake_plugin": source / "fake_plugin.py"})])
    else:
        monkeypatch.syspath_prepend(str(source))
    assert paths() == CODE


def test_what_belongs_to_another_package_does_not_count(tmp_path, monkeypatch):
    modules(tmp_path)
    project(tmp_path, tmp_path, listed=None, editable=False)
    project(tmp_path, tmp_path, "other", listed="fake_second.py,,\n", editable=False, entry="")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert paths() == CODE - {"fake_second.py"}


def test_an_installed_package_has_the_modules_that_it_lists(tmp_path, monkeypatch):
    modules(tmp_path)
    project(tmp_path, tmp_path, listed="fake_plugin.py,,\nfake_package/part.py,,\n", editable=False)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert paths() == {"fake_plugin.py", "part.py", "numbers.json"}


def test_every_part_of_a_namespace_counts(tmp_path, monkeypatch):
    for part in ("one", "two"):
        folder = tmp_path / part / "fake_space" / part
        folder.mkdir(parents=True)
        (folder / f"{part}.py").write_text("", encoding="utf-8")
        monkeypatch.syspath_prepend(str(tmp_path / part))
    project(tmp_path / "one", tmp_path / "site", listed="_fake.pth,,\n", editable=True, entry="fake_space.one")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    assert paths() == {"one.py", "two.py"}


def test_what_a_plugin_requires_from_a_folder_counts(tmp_path, monkeypatch):
    """Directly or not; installed libraries count by their versions."""
    modules(tmp_path / "checkout")
    needs = "Requires-Dist: fake_helper>=1\n"
    project(tmp_path / "checkout", tmp_path / "site", listed="_fake.pth,,\n", editable=True, requires=needs)
    for name, requires in (("fake-helper", "Requires-Dist: fake.deeper; python_version > '3'\n"), ("fake-deeper", "")):
        source = tmp_path / name
        source.mkdir()
        (source / f"{name.replace('-', '_')}.py").write_text("", encoding="utf-8")
        project(source, tmp_path / "site", name, listed=f"_{name}.pth,,\n", editable=True, entry="", requires=requires)
    for folder in ("checkout", "fake-helper", "fake-deeper", "site"):
        monkeypatch.syspath_prepend(str(tmp_path / folder))
    importlib.invalidate_caches()
    assert Sources().required_folders == ("fake-deeper", "fake-helper")
    assert paths("fake-deeper") == {"fake_deeper.py"}
