"""The specifications that ship in the wheel."""

from pathlib import Path

import pytest

from dpspec.scaffold import examples

SPECS = Path(__file__).parents[2] / "specs"


def test_they_are_those_of_the_checkout():
    for name, text in examples().items():
        assert text == (SPECS / f"{name}.dpspec.toml").read_text(encoding="utf-8")


def test_they_are_listed_and_written(run, tmp_path):
    listed = run("examples", "--format", "json").json("examples")
    assert {row["name"] for row in listed["examples"]} == set(examples())
    assert listed["written"] == []
    ran = run("examples", "--dir", tmp_path / "new")
    assert ran.code == 0
    assert {path.name for path in (tmp_path / "new").iterdir()} == {f"{name}.dpspec.toml" for name in examples()}
    assert run("check", tmp_path / "new").code == 0


def test_one_by_name_and_no_file_is_overwritten(run, tmp_path):
    assert run("examples", "randomised-response", "--dir", tmp_path).code == 0
    again = run("examples", "randomised-response", "--dir", tmp_path)
    assert again.code == 2
    assert "exists already" in again.err
    assert "did you mean randomised-response?" in run("examples", "randomized-response", "--dir", tmp_path).err


def test_without_the_standard_plugins_the_way_to_them_is_told():
    from dpspec.base.errors import DpspecError
    from dpspec.extension import load_plugins
    from dpspec.specfile import read

    with pytest.raises(DpspecError, match=r"dpspec\[standard\]"):
        read(SPECS / "randomised-response.dpspec.toml", load_plugins(names=[]).registry)
