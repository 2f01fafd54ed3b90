"""dpspec plugin: table files through Polars."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpspec.plugin import Names, hookimpl, late_names

if TYPE_CHECKING:
    from dpspec_tables.formats import Arrow as Arrow, Csv as Csv, Parquet as Parquet
    from dpspec_tables.sources import Excel as Excel, Query as Query
    from dpspec_tables.statistical import Dta as Dta, Sav as Sav

DPSPEC_API = 1

NAMES: Names = {
    "formats": {
        "csv": "dpspec_tables.formats:Csv",
        "parquet": "dpspec_tables.formats:Parquet",
        "arrow": "dpspec_tables.formats:Arrow",
        "spss": "dpspec_tables.statistical:Sav",
        "stata": "dpspec_tables.statistical:Dta",
        "excel": "dpspec_tables.sources:Excel",
        "sql": "dpspec_tables.sources:Query",
    },
}
"""What this plugin brings; each is imported when something names it."""


@hookimpl
def dpspec_names() -> Names:
    return NAMES


_HOMES = {
    "dpspec_tables.formats": ("Arrow", "Csv", "Parquet"),
    "dpspec_tables.sources": ("Excel", "Query"),
    "dpspec_tables.statistical": ("Dta", "Sav"),
}
__all__ = [name for names in _HOMES.values() for name in names]
__getattr__, __dir__ = late_names(__name__, _HOMES)
