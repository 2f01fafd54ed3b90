"""How far a release is from its table: for the agency alone, since it reads the confidential table.

For every table of one or two attributes, N_c the true and M_c the released count of cell c:

    MAPE = 100 / |C| * sum over c in C of |M_c - N_c| / N_c,      C the cells with N_c > 0   (B-N5)
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import numpy as np

from dpspec.errors import ReleaseError
from dpspec.files import private_folder, whole
from dpspec.release.draw import Release
from dpspec.table import Table

NOTE = "NOT FOR PUBLICATION: computed from the confidential table, and covered by no guarantee."
FILES = ("utility.json", "utility.svg")
MOST_CELLS = 1 << 22
"""Tables with more cells are left out."""


@attrs.frozen(kw_only=True)
class Distance:
    """The distance of one table of the release from the true one.

    Args:
        unit: what the table counts.
        attributes: the attributes of the table.
        cells: how many of its cells are not empty in truth.
        mape: the mean absolute percentage error over these, in percent.
        mean_absolute_error: the mean of |M_c - N_c| over all cells.
        largest_error: the largest |M_c - N_c|.
    """

    unit: str
    attributes: tuple[str, ...]
    cells: int
    mape: float
    mean_absolute_error: float
    largest_error: int


def distances(before: Table, after: Table, unit: str) -> Iterator[Distance]:
    """All tables of one or two attributes that both have.

    Args:
        unit: what a record is.
    """
    shared = [a.name for a in before.attributes if a in after.attributes]
    pairs = itertools.chain(((name,) for name in shared), itertools.combinations(shared, 2))
    for names in pairs:
        if before.domain(names) <= MOST_CELLS:
            true, released = (np.bincount(t.key(names), minlength=t.domain(names)) for t in (before, after))
            error = np.abs(released - true)
            cells = np.flatnonzero(true)
            yield Distance(
                unit=unit,
                attributes=tuple(names),
                cells=len(cells),
                mape=float(100 * np.mean(error[cells] / true[cells])) if len(cells) else 0.0,
                mean_absolute_error=float(error.mean()),
                largest_error=int(error.max()),
            )


def write_utility(release: Release) -> dict[str, Any]:
    """Write utility.json and utility.svg into the confidential folder of the release; returns what was written.

    Raises:
        ReleaseError: it cannot be written.
    """
    found = list(_of_all_units(release))
    data = {"warning": NOTE, "tables": [attrs.asdict(d) for d in found], "told_by_mechanism": dict(release.output.confidential)}
    folder = release.place.private
    try:
        private_folder(folder)
        for name, text in zip(FILES, (json.dumps(data, indent=2) + "\n", picture(found)), strict=True):
            with whole(folder / name, 0o600) as part:
                part.write_text(text, encoding="utf-8")
    except OSError as problem:
        raise ReleaseError("directory", f"cannot be written ({problem.strerror})", value=str(folder)) from None
    return {"folder": str(folder), **data}


def _of_all_units(release: Release) -> Iterator[Distance]:
    """The distances of the records, and of the persons with the attributes of their households."""
    before, after = release.given, release.output.main
    units = release.document.spec.space.units or ("record",)
    unit = str(getattr(release.mechanism, "unit", units[0]))
    yield from distances(before, after, unit)
    if before.members is not None and after.members is not None:
        own = {a.name for a in before.attributes}
        persons = distances(before.of_members(), after.of_members(), units[1])
        yield from (found for found in persons if not own.issuperset(found.attributes))


def forget_utility(folder: Path) -> None:
    """Remove what an earlier release left in the confidential folder: it says nothing about this one."""
    for name in FILES:
        (folder / name).unlink(missing_ok=True)


def picture(found: list[Distance]) -> str:
    """One bar for the MAPE of each table, the largest first, as SVG."""
    from xml.sax.saxutils import escape

    ranked = sorted(found, key=lambda d: -d.mape)[:40]
    largest = max((d.mape for d in ranked), default=0.0) or 1.0
    step, left, width = 22, 300, 420
    bars = []
    for place, distance in enumerate(ranked):
        y, length = 64 + place * step, width * distance.mape / largest
        label = escape(f"{distance.unit}: {' x '.join(distance.attributes)}")
        bars.append(
            f'<text x="{left - 8}" y="{y + 12}" text-anchor="end">{label}</text>'
            f'<rect x="{left}" y="{y}" width="{length:.1f}" height="15" fill="#4477aa"/>'
            f'<text x="{left + length + 6:.1f}" y="{y + 12}">{distance.mape:.3g} %</text>'
        )
    height = 80 + step * len(ranked)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="820" height="{height}" font-family="sans-serif" font-size="12">'
        f'<rect width="820" height="{height}" fill="white"/>'
        f'<text x="16" y="24" font-size="15">Mean absolute percentage error of the released tables</text>'
        f'<text x="16" y="44" fill="#aa3377">{NOTE}</text>{"".join(bars)}</svg>\n'
    )
