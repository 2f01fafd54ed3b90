"""`dpspec explain flavours`: the family as a table, as JSON and as a picture."""

import re
import xml.etree.ElementTree as ElementTree

import pytest

from dpspec import installed


@pytest.mark.slow
def test_every_flavour_stands_in_the_table(run):
    out = run("explain", "flavours").out
    for entry in installed().registry:
        if entry.kind == "flavours":
            assert entry.name in out


@pytest.mark.slow
def test_the_implications_are_told(run):
    data = run("explain", "flavours", "--format", "json").json("explain")["family"]
    names = {flavour["name"] for flavour in data["flavours"]}
    assert {name for pair in data["implications"] for name in pair} <= names
    assert ["pure-dp", "approximate-dp"] in data["implications"]


@pytest.mark.slow
def test_the_picture_is_svg_with_a_box_for_each(run, tmp_path):
    target = tmp_path / "family.svg"
    data = run("explain", "flavours", "--picture", target, "--format", "json").json("explain")["family"]
    root = ElementTree.parse(target).getroot()
    shown = " ".join(root.itertext())  # equivalent flavours share a box, which names all of them
    letters = re.sub(r"[^a-z0-9]", "", shown)
    assert [one["name"] for one in data["flavours"] if re.sub("[^a-z0-9]", "", one["name"]) not in letters] == []
    arrows = {(a, b) for a, b in data["implications"]}
    names = [one["name"] for one in data["flavours"]]
    boxes = {frozenset(other for other in names if other == name or {(name, other), (other, name)} <= arrows) for name in names}
    groups = {"".join(one["changes"][:1]) for one in data["flavours"]}
    assert len([node for node in root.iter() if node.tag.endswith("rect")]) == 1 + len(boxes) + len(groups)
    assert list(tmp_path.iterdir()) == [target]


def test_only_flavours_have_a_picture(run, tmp_path):
    ran = run("explain", "hamming", "--picture", tmp_path / "x.svg")
    assert ran.code == 2
    assert "dpspec explain flavours" in ran.err


@pytest.mark.slow
def test_a_picture_that_cannot_be_written_says_so(run, tmp_path):
    (tmp_path / "file").write_text("")
    ran = run("explain", "flavours", "--picture", tmp_path / "file" / "x.svg")
    assert ran.code == 2
    assert "cannot be written" in ran.err


@pytest.mark.slow
def test_flavours_are_compared_on_one_instance_where_they_can_be_stated_there(run):
    data = run("explain", "flavours", "--format", "json").json("explain")["family"]
    space_of = {flavour["name"]: flavour["instance"]["space"] for flavour in data["flavours"]}
    common = {name for name, space in space_of.items() if space == space_of["pure-dp"]}
    assert {"blowfish", "free-lunch-privacy", "individual-dp", "invariants-dp", "generic-dp", "renyi-dp"} <= common
    assert all(space_of[a] == space_of[b] for a, b in data["implications"])
    assert ["pure-dp", "invariants-dp"] in data["implications"]
    assert ["free-lunch-privacy", "pure-dp"] in data["implications"]
    assert ["pure-dp", "free-lunch-privacy"] not in data["implications"]
    out = run("explain", "flavours").out
    assert f"on {space_of['pure-dp']}" in out
