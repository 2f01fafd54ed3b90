"""docs/pictures.md: every command of the page makes a picture that it shows, and the pictures are well formed."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from dpspec.cli import main

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def made():
    found = importlib.util.spec_from_file_location("make_pictures", ROOT / "docs" / "make_pictures.py")
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def test_the_pictures_of_the_page_are_those_of_its_commands(made):
    shown = set(re.findall(r"!\[[^\]]+\]\(([^)]+)\)", made.PAGE.read_text(encoding="utf-8")))
    drawn = {made.picture(words).relative_to(ROOT / "docs").as_posix() for words in made.commands()}
    assert shown == drawn
    assert drawn == {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs" / "gallery").iterdir()}
    for name in drawn:
        root = ElementTree.parse(ROOT / "docs" / name).getroot()
        assert root.get("role") == "img"
        assert root.get("aria-label")


def test_the_commands_of_the_page_are_commands(made):
    for words in made.commands():
        context = main.every_command()[words[0]].make_context(words[0], list(words[1:]))
        assert all((ROOT / path).exists() for path in context.params.get("paths", ()))
