"""The accuracy of what a file releases, as reports show it: computed by the package that releases tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpspec.base.errors import DpspecError
from dpspec.base.types import JsonData
from dpspec.extension.packages import RENDERERS, contributed

if TYPE_CHECKING:
    from pathlib import Path

    from dpspec.specfile.document import SpecDocument


def margins(document: SpecDocument, released: Path | None = None) -> JsonData | None:
    """The accuracy of a file, and of a release under it, as the package that releases tables computes it.

    Args:
        document: the file.
        released: the folder of a release under this file.

    Returns:
        what the renderer ``margins`` answers: `tables`, `unknown`, `joint`, and for people `heads`, `rows`, `plain`, `notes`,
        `largest_count`; with a release also `published`.
        None where no package contributes it, or where the file names no mechanism.
    """
    found = contributed(RENDERERS).get("margins")
    if found is None or document.mechanism is None:
        return None
    try:
        return dict(found.load()(document, released))
    except DpspecError as fault:
        unknown = [{"table": "all", "reason": str(fault)}]
        empty: JsonData = {"tables": [], "heads": [], "rows": [], "plain": [], "notes": [], "largest_count": None}
        return empty | {"unknown": unknown, "joint": None, "published": None}
