"""Picture files: the SVG text of a chart or diagram as it is, or as a PNG of twice its size; the ending of the file decides.

PNG needs resvg, the extra `dpspec[png]`. It draws letters only in a font that it is told to take and that the machine has, and
leaves them out without a word otherwise; so a font is looked for, by drawing one letter, and its absence is an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import attrs

from dpspec.errors import PictureError
from dpspec.files import write_bytes

FAMILIES = ("DejaVu Sans", "Arial", "Liberation Sans", "Helvetica", "Noto Sans", "Segoe UI", "FreeSans", "Cantarell")
"""Fonts without serifs, one of which most machines have."""
ZOOM = 2
"""Pixels of a PNG for one of the SVG, so that the small letters are legible."""
_LETTER = '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20" font-family="sans-serif">{}</svg>'


@attrs.frozen
class Picture:
    """A file that a picture goes into.

    Args:
        path: the file; ends in .svg or .png.

    Raises:
        PictureError: it ends in something else, or in .png where resvg is not installed.

    >>> Picture(Path("risk.pdf"))
    Traceback (most recent call last):
    dpspec.errors.PictureError: picture=risk.pdf: is neither .svg nor .png: choose one of these endings
    """

    path: Path = attrs.field(converter=Path)

    def __attrs_post_init__(self) -> None:
        ending = self.path.suffix.lower()
        if ending not in {".svg", ".png"}:
            raise PictureError("picture", "is neither .svg nor .png", "choose one of these endings", value=str(self.path))
        if ending == ".png" and find_spec("resvg_py") is None:
            advice = "pip install resvg_py (the extra dpspec[png]), or choose the ending .svg"
            raise PictureError("picture", "needs resvg_py, which is not installed", advice, value=str(self.path))

    def save(self, svg: str) -> None:
        """Write the picture, whole or not at all.

        Raises:
            PictureError: the file is a PNG, and the machine has no font for it.
            ReleaseError: it cannot be written there.
        """
        write_bytes(self.path, png(svg) if self.path.suffix.lower() == ".png" else svg.encode())


def png(svg: str) -> bytes:
    """An SVG text as a PNG.

    Raises:
        PictureError: the machine has no font for it.
    """
    from resvg_py import svg_to_bytes

    return svg_to_bytes(svg_string=svg, zoom=ZOOM, **_font())


def _font() -> Mapping[str, Any]:
    """The first font that draws a letter; those that matplotlib brings count too."""
    from resvg_py import svg_to_bytes

    brought = find_spec("matplotlib")
    places = (brought and brought.submodule_search_locations) or ()
    folders = [str(Path(place) / "mpl-data/fonts/ttf") for place in places]
    blank = svg_to_bytes(svg_string=_LETTER.format(""))
    for family in FAMILIES:
        font: Mapping[str, Any] = {"sans_serif_family": family, "font_dirs": folders}
        if svg_to_bytes(svg_string=_LETTER.format('<text y="15">M</text>'), **font) != blank:
            return font
    raise PictureError(
        "font", "none is found to write with", f"install one of {', '.join(FAMILIES[:3])}, or choose the ending .svg"
    )
