"""Pictures as files: the ending decides, letters come out, and what is missing is said before anything is written."""

from __future__ import annotations

import struct
import sys

import pytest

from dpspec.base.errors import PictureError
from dpspec.report import pictures as picture
from dpspec.report.pictures import ZOOM, CurveLine, CurvePanel, Picture, png, svg

CHART = svg("Risk", [CurvePanel(title="power", axis="level", lines=(CurveLine(name="α ≤ ε", points=((0.1, 0.2), (0.5, 0.6))),))])
TITLE = slice(20 * ZOOM, 36 * ZOOM), slice(56 * ZOOM, 90 * ZOOM)
"""Rows and columns of the word Risk."""


def test_svg_is_kept_as_it_is(tmp_path):
    Picture(tmp_path / "a.SVG").save(CHART)
    assert (tmp_path / "a.SVG").read_text(encoding="utf-8") == CHART


def test_png_has_twice_the_size_and_letters(tmp_path):
    pytest.importorskip("resvg_py")
    Picture(tmp_path / "a.png").save(CHART)
    found = (tmp_path / "a.png").read_bytes()
    assert found[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", found[16:24]) == (2 * (520 + 2 * 56 + 40), 2 * (300 + 2 * 56 + 18 + 56))
    assert list(tmp_path.iterdir()) == [tmp_path / "a.png"]
    image = pytest.importorskip("PIL.Image").open(tmp_path / "a.png").convert("L")
    rows, columns = TITLE
    letters = image.crop((columns.start, rows.start, columns.stop, rows.stop))
    assert sum(letters.histogram()[:100]) > 100, "the word Risk is not there"


def test_without_a_font_there_is_no_picture(tmp_path, monkeypatch):
    pytest.importorskip("resvg_py")
    monkeypatch.setattr(picture, "FAMILIES", ("No Such Font", "Nor This One"))
    with pytest.raises(PictureError, match="install one of No Such Font, Nor This One"):
        Picture(tmp_path / "a.png").save(CHART)
    assert list(tmp_path.iterdir()) == []


def test_fonts_of_the_machine_are_found_without_matplotlib(monkeypatch):
    pytest.importorskip("resvg_py")
    with_it = png(CHART)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    try:
        assert abs(len(png(CHART)) / len(with_it) - 1) < 0.5
    except PictureError as error:  # a machine without fonts, as many containers are
        assert error.subject == "font"  # noqa: PT017


def test_png_without_the_library_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    with pytest.raises(PictureError, match=r"pip install resvg_py \(the extra dpspec\[png\]\)"):
        Picture("a.png")
    assert Picture("a.svg").path.name == "a.svg"


@pytest.mark.parametrize("name", ["a.pdf", "a", "png", ".svg"])
def test_other_endings_are_refused(name):
    with pytest.raises(PictureError, match=r"neither \.svg nor \.png"):
        Picture(name)
