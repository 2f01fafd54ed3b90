"""Mixin for values that display themselves: as terminal text, as HTML in a notebook, as Markdown, as data, or as a figure.

The layout of a value is defined in the report layer, which is far above the values. The mixin therefore stores the location of
the page functions as text, and imports them when a value is first displayed. Computing a verdict imports no report code.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from dpspec.base.lazy import at

if TYPE_CHECKING:
    from pathlib import Path

    from dpspec.base.types import JsonData

PAGES = "dpspec.report.pages:page_of"
"""The location of the function that makes the page of a value, its `ShownPage`."""


class Plot(Protocol):
    """A figure that a notebook displays and that can be saved: `dpspec.Figure`."""

    @property
    def svg(self) -> str:
        """As SVG text."""

    def save(self, path: str | Path) -> None:
        """Write it, as SVG, PNG or PDF by the ending of the file."""


class ShownPage(Protocol):
    """The page of a value, in every output format."""

    def text(self, *, coloured: bool = False) -> str:
        """As the command line prints it."""

    def html(self) -> str:
        """As part of an HTML page, with the figure where there is one."""

    def markdown(self) -> str:
        """As Markdown."""

    def data(self) -> JsonData:
        """The data that ``--format json`` prints."""

    def plot(self) -> Plot:
        """The figure; raises PictureError where there is none."""


class Showable:
    """A value that people look at: `str` of it is what the command line prints, `repr` is what Python has made."""

    __slots__ = ()

    def shown(self, *, verbose: bool = False) -> ShownPage:
        """The page of the value.

        Args:
            verbose: with all reasons, as ``--verbose`` prints it.
        """
        page: ShownPage = at(PAGES)(self, verbose=verbose)
        return page

    def __str__(self) -> str:
        return self.shown().text()

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)

    def _repr_html_(self) -> str:
        return self.shown().html()

    def to_text(self, *, verbose: bool = False) -> str:
        """The text that the command line prints; with `verbose` the text of ``--verbose``."""
        return self.shown(verbose=verbose).text()

    def to_dict(self) -> dict[str, Any]:
        """The data that ``--format json`` prints."""
        return self.shown().data()

    def to_markdown(self, *, verbose: bool = False) -> str:
        """The same as `str`, as Markdown."""
        return self.shown(verbose=verbose).markdown()

    def plot(self) -> Plot:
        """The figure of the value; a notebook displays it, ``save("file.svg")`` writes it.

        Raises:
            PictureError: a value of this kind has none.
        """
        return self.shown().plot()
