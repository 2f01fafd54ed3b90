"""dpspec plugin: table files through Polars."""

from __future__ import annotations

from dpspec.extension import hookimpl
from dpspec.extension.hooks import Register
from dpspec_tables.formats import Arrow, Csv, Parquet

__all__ = ["Arrow", "Csv", "Parquet"]

DPSPEC_API = 1


@hookimpl
def dpspec_register_formats(register: Register) -> None:
    for format_ in (Csv, Parquet, Arrow):
        register(format_)
