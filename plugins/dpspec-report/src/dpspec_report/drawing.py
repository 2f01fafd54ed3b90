"""Pictures as SVG text, saved as SVG, PNG or PDF: the one drawing layer of dpspec.

The text is the drawing: groups, rectangles, circles, paths and letters, in the colours of a theme. So a picture in a page has
letters that can be searched and colours that follow the page, takes a few kilobytes, and is the same byte for byte every time.
PNG needs resvg, the extra `dpspec[png]`; PDF needs matplotlib, the extra `dpspec[pdf]`, which draws the same shapes (`pdf`).

resvg draws letters only in a font that is named and that the machine has, and
omits them silently otherwise; so a font is searched by drawing one letter, and its absence is an error.
"""

from __future__ import annotations

import io
import math
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import attrs

from dpspec.plugin.applications import Figure, MissingLibraryError, PictureError, in_markup as escape, write_bytes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FAMILIES = ("DejaVu Sans", "Arial", "Liberation Sans", "Helvetica", "Noto Sans", "Segoe UI", "FreeSans", "Cantarell")
"""Fonts without serifs, one of which most machines have."""
ZOOM = 2
"""Pixels of a PNG for one of the SVG, so that the small letters are legible."""
_LETTER = '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20" font-family="sans-serif">{}</svg>'
_NEEDS = {".svg": ("", ""), ".png": ("resvg_py", "png"), ".pdf": ("matplotlib", "pdf")}
"""For each ending the library that it needs, and the extra that brings it."""


@attrs.frozen
class Picture:
    """A file that a picture goes into.

    Args:
        path: the file; ends in .svg, .png or .pdf.

    Raises:
        PictureError: it ends in something else.
        MissingLibraryError: it ends in .png or .pdf, and the library for that is not installed.

    >>> Picture(Path("risk.gif"))
    Traceback (most recent call last):
    dpspec.base.errors.PictureError: picture=risk.gif: is none of .svg, .png and .pdf: choose one of these endings
    """

    path: Path = attrs.field(converter=Path)

    def __attrs_post_init__(self) -> None:
        if self._ending not in _NEEDS:
            raise PictureError("picture", "is none of .svg, .png and .pdf", "choose one of these endings", value=str(self.path))
        library, extra = _NEEDS[self._ending]
        if library and find_spec(library) is None:
            raise MissingLibraryError("picture", library, f"dpspec[{extra}]", "choose the ending .svg", value=str(self.path))

    @property
    def _ending(self) -> str:
        return self.path.suffix.lower()

    def save(self, figure: Figure) -> None:
        """Write the figure, whole or not at all.

        Raises:
            PictureError: the file is a PNG, and the machine has no font for it.
            ReleaseError: it cannot be written there.
        """
        made: Mapping[str, Callable[[str], bytes]] = {".svg": str.encode, ".png": png, ".pdf": pdf}
        write_bytes(self.path, made[self._ending](figure.svg))


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
    # Where a font is missing the library draws no letter and reports no error.
    blank = svg_to_bytes(svg_string=_LETTER.format(""))
    for family in FAMILIES:
        font: Mapping[str, Any] = {"sans_serif_family": family, "font_dirs": folders}
        if svg_to_bytes(svg_string=_LETTER.format('<text y="15">M</text>'), **font) != blank:
            return font
    raise PictureError(
        "font", "none is found to write with", f"install one of {', '.join(FAMILIES[:3])}, or choose the ending .svg"
    )


# --- PDF ------------------------------------------------------------------------------------------


_SPACE = "{http://www.w3.org/2000/svg}"
_POINTS = 72 / 96
"""Points for one pixel."""
_ANCHORS = {"start": "left", "middle": "center", "end": "right"}


def pdf(svg: str) -> bytes:
    """An SVG text of this module as a PDF with shapes and letters, drawn by matplotlib.

    Raises:
        PictureError: it holds something that no picture of dpspec has.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    root = ElementTree.fromstring(svg)  # noqa: S314 - what dpspec has just written itself
    left, top, width, height = (float(number) for number in root.get("viewBox", "").split())
    zoom = float(root.get("width", width)) / width * _POINTS
    page = Figure(figsize=(width * zoom / 72, height * zoom / 72))
    axes = page.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    axes.set_xlim(left, left + width)
    axes.set_ylim(top + height, top)
    _draw(axes, root, {}, zoom)
    made = io.BytesIO()
    fonts: Any = {"font.family": ["DejaVu Sans", *FAMILIES[1:]], "pdf.fonttype": 42, "text.parse_math": False}
    with mpl.rc_context(fonts):
        page.savefig(made, format="pdf", metadata={"CreationDate": None})
    return made.getvalue()


def _draw(axes: Axes, node: ElementTree.Element, inherited: Mapping[str, str], zoom: float) -> None:
    """One element and those in it, each with the attributes of those around it."""
    given = {**inherited, **{key: value for key, value in node.attrib.items() if key not in ("x", "y", "id")}}
    moved = re.fullmatch(r"translate\((-?[\d.]+),(-?[\d.]+)\)", node.get("transform", ""))
    if node.tag == f"{_SPACE}g" and moved:
        given["dx"] = str(float(inherited.get("dx", 0)) + float(moved[1]))
        given["dy"] = str(float(inherited.get("dy", 0)) + float(moved[2]))
    kind = node.tag.removeprefix(_SPACE)
    if kind in ("svg", "g"):
        for inner in node:
            _draw(axes, inner, given, zoom)
    elif kind == "text":
        _letters(axes, node, given, zoom)
    elif kind not in ("title", "desc"):
        _shape(axes, kind, node, given, zoom)


def _place(given: Mapping[str, str], x: float, y: float) -> tuple[float, float]:
    return x + float(given.get("dx", 0)), y + float(given.get("dy", 0))


def _letters(axes: Axes, node: ElementTree.Element, given: Mapping[str, str], zoom: float) -> None:
    x, y = _place(given, float(node.get("x", 0)), float(node.get("y", 0)))
    turned = re.fullmatch(r"rotate\((-?[\d.]+) -?[\d.]+ -?[\d.]+\)", node.get("transform", ""))
    axes.text(
        x, y, node.text or "", fontsize=float(given["font-size"]) * zoom, color=given.get("fill", "#000000"),
        fontweight=given.get("font-weight", "normal"), ha=_ANCHORS[given.get("text-anchor", "start")], va="baseline",
        rotation=-float(turned[1]) if turned else 0, rotation_mode="anchor",
    )  # fmt: skip


def _shape(axes: Axes, kind: str, node: ElementTree.Element, given: Mapping[str, str], zoom: float) -> None:
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path as Outline

    corners = [(code, _place(given, *at)) for code, at in _outline(kind, node)]
    codes = [{"M": Outline.MOVETO, "L": Outline.LINETO, "C": Outline.CURVE4}[code] for code, _ in corners]
    fill, stroke = given.get("fill", "#000000"), given.get("stroke", "none")
    dash = [float(part) * zoom for part in given.get("stroke-dasharray", "").split()]
    patch = PathPatch(
        Outline([at for _, at in corners], codes), facecolor=fill, edgecolor=stroke,
        linewidth=float(given.get("stroke-width", 1)) * zoom if stroke != "none" else 0,
        linestyle=(0, dash) if dash else "solid", capstyle="butt",
    )  # fmt: skip
    if "fill-opacity" in given and fill != "none":
        patch.set_facecolor((*patch.get_facecolor()[:3], float(given["fill-opacity"])))
    axes.add_patch(patch)


def _outline(kind: str, node: ElementTree.Element) -> list[tuple[str, tuple[float, float]]]:
    """The corners of a shape, each with how one gets there."""

    def numbers(*names: str) -> list[float]:
        return [float(node.get(name, 0)) for name in names]

    if kind == "rect":
        x, y, w, h = numbers("x", "y", "width", "height")
        return [("M", (x, y)), ("L", (x + w, y)), ("L", (x + w, y + h)), ("L", (x, y + h)), ("L", (x, y))]
    if kind == "circle":
        x, y, r = numbers("cx", "cy", "r")
        around = [(x + r * math.cos(turn * math.pi / 16), y + r * math.sin(turn * math.pi / 16)) for turn in range(33)]
        return [("L" if place else "M", at) for place, at in enumerate(around)]
    if kind in ("polyline", "polygon"):
        pairs = [tuple(map(float, pair.split(","))) for pair in node.get("points", "").split()]
        found = [("L" if place else "M", (x, y)) for place, (x, y) in enumerate(pairs)]
        return found if kind == "polyline" else [*found, ("L", found[0][1])]
    if kind == "path":
        return _followed(node.get("d", ""))
    raise PictureError("picture", f"holds a {kind}, which the PDF cannot show", "choose the ending .svg")


def _followed(path: str) -> list[tuple[str, tuple[float, float]]]:
    """A path of M, L, H, V, C, h and v as corners, closed by Z.

    >>> _followed("M1 2h3v-1")
    [('M', (1.0, 2.0)), ('L', (4.0, 2.0)), ('L', (4.0, 1.0))]
    >>> _followed("M1 2V3Z")
    [('M', (1.0, 2.0)), ('L', (1.0, 3.0)), ('L', (1.0, 2.0))]
    """
    found: list[tuple[str, tuple[float, float]]] = []
    x, y = 0.0, 0.0
    for command, rest in re.findall(r"([MLHVChvZ])([^MLHVChvZ]*)", path):
        given = [float(part) for part in re.findall(r"-?[\d.]+", rest)]
        if command in "HVhvZ":
            along, down = (given[0] if command in of else None for of in ("Hh", "Vv"))
            x, y = found[0][1] if command == "Z" else (x, y)
            x = x if along is None else along + (x if command == "h" else 0.0)
            y = y if down is None else down + (y if command == "v" else 0.0)
            found.append(("L", (x, y)))
            continue
        for place in range(0, len(given), 2):
            x, y = given[place], given[place + 1]
            found.append((command, (x, y)))
    return found


# --- themes and sizes -----------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class PictureTheme:
    """The colours of a theme.

    Args:
        paper, ink, faint, grid, edge: the ground, letters, small letters, lines behind, lines around.
        colours: of series, one after the other.
        fills: of boxes, one after the other.
        good, bad: of what holds, and of what does not.
    """

    paper: str
    ink: str
    faint: str
    grid: str
    edge: str
    colours: tuple[str, ...]
    fills: tuple[str, ...]
    good: str
    bad: str


LIGHT = PictureTheme(
    paper="#ffffff", ink="#1b1b1b", faint="#444444", grid="#e6e6e6", edge="#8a8a8a",
    colours=("#1f4e9c", "#b3541e", "#2f7d4f", "#7b3f8c", "#7d6010", "#2b6d77", "#a02c4b", "#555555"),
    fills=("#eef3fb", "#f3f8ec", "#fdf3e3", "#f9eef4", "#eef7f7", "#f5f2ec"), good="#1e6b3c", bad="#a3262a",
)  # fmt: skip
DARK = PictureTheme(
    paper="#15181d", ink="#f2f2f2", faint="#c6cad1", grid="#343a42", edge="#7d8691",
    colours=("#8ab4f8", "#f4a675", "#7fd1a0", "#d3a6e6", "#e3c86f", "#7fd3de", "#f595ae", "#c0c0c0"),
    fills=("#1d2a40", "#223122", "#3a2f1c", "#3a2431", "#1f3436", "#33302a"), good="#7fd1a0", bad="#ff9a94",
)  # fmt: skip


def page_colours(palette: PictureTheme) -> str:
    """The colours as properties of a style sheet, for pictures of the theme `page`.

    >>> page_colours(LIGHT)[:30]
    '--paper:#ffffff;--ink:#1b1b1b;'
    """
    found = {f"--{name}": getattr(palette, name) for name in ("paper", "ink", "faint", "grid", "edge", "good", "bad")}
    for name, series in (("colour", palette.colours), ("fill", palette.fills)):
        found |= {f"--{name}-{place}": colour for place, colour in enumerate(series)}
    return "".join(f"{name}:{colour};" for name, colour in found.items())


PAGE = PictureTheme(
    paper="var(--paper)", ink="var(--ink)", faint="var(--faint)", grid="var(--grid)", edge="var(--edge)",
    colours=tuple(f"var(--colour-{place})" for place in range(len(LIGHT.colours))),
    fills=tuple(f"var(--fill-{place})" for place in range(len(LIGHT.fills))), good="var(--good)", bad="var(--bad)",
)  # fmt: skip
THEMES = {"light": LIGHT, "dark": DARK, "page": PAGE}


@attrs.frozen(kw_only=True)
class PictureSize:
    """The size of a chart.

    Args:
        width, height: in pixels; a height of 0 is what one chart below the other needs.
        zoom: pixels for one unit; letters are 10 to 15 units high.
    """

    width: int
    height: int = 0
    zoom: float = 1


SIZES = {
    "page": PictureSize(width=672),
    "slide": PictureSize(width=1280, height=720, zoom=1.75),
    "column": PictureSize(width=340),
    "poster": PictureSize(width=2400, height=1500, zoom=3.1),
}
"""A figure in a page, a slide of 16 by 9, a column of a journal (9 cm), half an A1 poster."""


BOLD = 1.14
"""How much wider bold letters are."""


def text_width(text: str, size: float) -> float:
    """About how wide a text is, rather more: a wide letter is as wide as high, any other about 0.6 of that."""
    return size * sum(1.0 if unicodedata.east_asian_width(letter) in "WF" else 0.59 for letter in text)


def wrapped(text: str, room: float, size: float, most: int = 0) -> list[str]:
    """The text in lines that fit into a width; words that do not are broken; after the `most`th line it is cut.

    >>> wrapped("a text of words", 60, 10), wrapped("abcdefghijkl", 40, 10), wrapped("one two three", 40, 10, 1)
    (['a text of', 'words'], ['abcdef', 'ghijkl'], ['one t…'])
    """
    fits = max(1, int(room / text_width("x", size)))
    lines: list[str] = []
    line = ""
    for word in text.split():
        rest = word
        while rest:
            joined = f"{line} {rest}" if line else rest
            if text_width(joined, size) <= room:
                line, rest = joined, ""
            elif line:
                lines.append(line)
                line = ""
            else:
                head = rest[:fits] if text_width(rest[:fits], size) <= room else rest[: max(1, fits // 2)]
                head = head[:cut] if (cut := head.rfind("-") + 1) > len(head) // 3 else head
                lines.append(head)
                rest = rest[len(head) :]
    lines += [line] if line or not lines else []
    if most and len(lines) > most:
        last = " ".join(lines[most - 1 :])[: max(1, fits - 1)].rstrip()
        return [*lines[: most - 1], last + "\N{HORIZONTAL ELLIPSIS}"]
    return lines


def head_of(title: str, alt: str, width: float, height: float, palette: PictureTheme, zoom: float = 1) -> Iterator[str]:  # noqa: PLR0917
    """The beginning of a figure: its size, what it shows for readers who do not see it, its ground."""
    name = escape(f"{title}. {alt}")
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width * zoom:g}" height="{height * zoom:g}" '
        f'viewBox="0 0 {width:g} {height:g}" font-family="sans-serif" role="img" aria-label="{name}">'
    )
    yield f"<title>{escape(title)}</title>"
    yield f"<desc>{escape(alt)}</desc>"
    yield f'<rect width="{width:g}" height="{height:g}" fill="{palette.paper}"/>'


def written(x: float, y: float, text: str, size: float, colour: str, more: str = "") -> str:  # noqa: PLR0917 - as in SVG
    """Letters at a place, on their line."""
    given = f" {more}" if more else ""
    return f'<text x="{x:g}" y="{y:g}" font-size="{size:g}" fill="{colour}"{given}>{escape(text)}</text>'
