"""Pictures as files: the ending decides, letters come out, and what is missing is said before anything is written."""

from __future__ import annotations

import re
import struct
import sys
from xml.etree import ElementTree

import pytest
from dpspec_report import drawing as picture
from dpspec_report.charts import chart
from dpspec_report.drawing import THEMES, ZOOM, Picture, pdf, png, text_width, wrapped
from dpspec_report.page import document
from hypothesis import given, strategies as st

from dpspec.base.errors import MissingLibraryError, PictureError
from dpspec.report.figures import CurveLine, CurvePanel
from dpspec.report.page import Page

LINE = CurveLine(name="α ≤ ε", points=((0.1, 0.2), (0.5, 0.6)))
FIGURE = chart("Risk", [CurvePanel(title="power", axis="level", lines=(LINE,))])
CHART = FIGURE.svg
TITLE = slice(14 * ZOOM, 32 * ZOOM), slice(26 * ZOOM, 60 * ZOOM)
"""Rows and columns of the word Risk."""


def test_svg_is_kept_as_it_is(tmp_path):
    Picture(tmp_path / "a.SVG").save(FIGURE)
    assert (tmp_path / "a.SVG").read_text(encoding="utf-8") == CHART


def test_png_has_twice_the_size_and_letters(tmp_path):
    pytest.importorskip("resvg_py")
    Picture(tmp_path / "a.png").save(FIGURE)
    found = (tmp_path / "a.png").read_bytes()
    assert found[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", found[16:24]) == tuple(
        2 * int(ElementTree.fromstring(CHART).get(side)) for side in ("width", "height")
    )
    assert list(tmp_path.iterdir()) == [tmp_path / "a.png"]
    image = pytest.importorskip("PIL.Image").open(tmp_path / "a.png").convert("L")
    rows, columns = TITLE
    letters = image.crop((columns.start, rows.start, columns.stop, rows.stop))
    assert sum(letters.histogram()[:100]) > 100, "the word Risk is not there"


def test_without_a_font_there_is_no_picture(tmp_path, monkeypatch):
    library = pytest.importorskip("resvg_py")
    monkeypatch.setattr(picture, "FAMILIES", ("No Such Font", "Nor This One"))
    monkeypatch.setattr(library, "svg_to_bytes", lambda **_: b"blank")  # as on a machine without fonts
    with pytest.raises(PictureError, match="install one of No Such Font, Nor This One"):
        Picture(tmp_path / "a.png").save(FIGURE)
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
    with pytest.raises(MissingLibraryError, match=r'resvg_py, .*: pip install "dpspec\[png\]", or'):
        Picture("a.png")
    assert Picture("a.svg").path.name == "a.svg"


@pytest.mark.parametrize("name", ["a.gif", "a", "pdf", ".svg"])
def test_other_endings_are_refused(name):
    with pytest.raises(PictureError, match=r"none of \.svg, \.png and \.pdf"):
        Picture(name)


def test_pdf_without_the_library_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingLibraryError, match=r'matplotlib, .*: pip install "dpspec\[pdf\]", or'):
        Picture("a.pdf")


@pytest.mark.slow
def test_a_pdf_has_the_size_of_the_picture_and_its_letters(tmp_path):
    pytest.importorskip("matplotlib")
    Picture(tmp_path / "a.pdf").save(FIGURE)
    found = (tmp_path / "a.pdf").read_bytes()
    assert found.startswith(b"%PDF-")
    width, height = (float(size) for size in re.search(rb"/MediaBox \[ 0 0 ([\d.]+) ([\d.]+) \]", found).groups())
    root = ElementTree.fromstring(CHART)
    assert (width, height) == pytest.approx((0.75 * float(root.get("width")), 0.75 * float(root.get("height"))), abs=0.01)
    assert found == pdf(CHART), "the same picture gives the same bytes"


def test_a_shape_that_the_pdf_cannot_show_is_an_error():
    pytest.importorskip("matplotlib")
    with pytest.raises(PictureError, match="holds a ellipse"):
        pdf(CHART.replace("</svg>", '<ellipse cx="1"/></svg>'))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_letters_stand_out_from_their_ground(theme):
    """A contrast of at least 4.5 to 1 (WCAG 2.2, AA), on the paper and on every box."""
    palette = THEMES[theme]
    grounds = (palette.paper, *palette.fills)
    for letters in (palette.ink, palette.faint, palette.good, palette.bad):
        assert min(contrast(letters, ground) for ground in grounds) >= 4.5, letters
    for colour in palette.colours:  # small letters on the paper, or those of the paper on a bar
        assert contrast(colour, palette.paper) >= 4.5, colour
    found = re.findall(r"--(open|link):(#[0-9a-f]{6})", document(Page(title="", pieces=())))
    for place, (_, colour) in enumerate(found):
        paper = THEMES["dark"].paper if place in (2, 3) else THEMES["light"].paper
        assert contrast(colour, paper) >= 4.5, colour


def contrast(one, other):
    def light(colour):
        parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((light(one), light(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@given(st.text(max_size=200), st.integers(30, 400), st.integers(8, 20), st.integers(0, 3))
def test_wrapped_lines_fit_and_lose_nothing(text, room, size, most):
    lines = wrapped(text, room, size, most)
    assert not most or len(lines) <= most
    wide = [line for line in lines if len(line) > 1 and text_width(line, size) > room + size]
    assert wide == []
    if not most:
        assert "".join("".join(lines).split()) == "".join(text.split())
