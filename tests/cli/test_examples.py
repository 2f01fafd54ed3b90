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


def test_without_the_standard_plugins_python_tells_the_way_too(monkeypatch):
    import dpspec as dp
    from dpspec.base.errors import DpspecError
    from dpspec.extension import load_plugins, loader

    alone = load_plugins(names=[])
    monkeypatch.setattr(loader, "installed", lambda: alone)
    monkeypatch.setattr("dpspec.constructors.installed", lambda: alone)
    with pytest.raises(AttributeError, match=r"dpspec\[standard\]"):
        dp.no_such_mechanism  # noqa: B018
    with pytest.raises(DpspecError, match=r"distance=hamming: .*dpspec\[standard\](?s:.)*standard=pure: .*dpspec\[standard\]"):
        dp.spec(space=dp.bit_vectors(length=3), distance="hamming", standard="pure", epsilon=1)


def test_a_list_says_how_to_get_the_files(run, tmp_path):
    assert run("examples").err == "next: dpspec examples --dir specs writes them into the folder specs\n"
    assert "dpspec examples randomised-response --dir specs" in run("examples", "randomised-response").err
    assert "next:" not in run("examples", "--dir", tmp_path / "new").err


@pytest.mark.parametrize(
    ("named", "advice"),
    [
        ("warnr.dpspec.toml", "did you mean warner.dpspec.toml?"),
        ("warner", "did you mean warner.dpspec.toml?"),
        ("foldr", "did you mean folder?"),
        ("other.dpspec.toml", "check the path"),
        ("nowhere/warner.dpspec.toml", "check the path"),
        ("tabl.csv", "check the path"),
    ],
)
def test_a_file_that_is_not_there_names_the_one_that_is_meant(run, tmp_path, named, advice):
    (tmp_path / "folder").mkdir()
    for name in ("warner.dpspec.toml", "table.csv"):
        (tmp_path / name).write_text("", encoding="utf-8")
    ran = run("verify", tmp_path / named)
    assert (ran.code, ran.err.rstrip().endswith(f"does not exist: {advice}")) == (2, True), ran.err


def test_a_folder_is_no_witness(run, tmp_path):
    ran = run("verify", "--replay", tmp_path)
    assert (ran.code, ran.err) == (2, f"file={tmp_path}: is a folder: name a file in it\n")


def test_a_name_like_no_other_may_be_of_a_plugin(run, tmp_path):
    text = examples()["randomised-response"].replace('type = "mult"', 'type = "zzz"')
    (tmp_path / "x.dpspec.toml").write_text(text, encoding="utf-8")
    assert "if it is from a plugin, install that" in run("check", tmp_path / "x.dpspec.toml").err
