"""SPSS and Stata files through pyreadstat, with their value labels for a codebook: `pip install "dpspec-tables[statistics]"`.

Such files hold numbers where they mean categories; whole ones are read as whole numbers, so that the code 1 is "1". A file is
read whole: they are made by programs that hold it whole, too.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar

import attrs

from dpspec.plugin import errors, tables
from dpspec_tables.formats import PolarsFormat, readable

if TYPE_CHECKING:
    import polars as pl


def _library(path: Path) -> ModuleType:
    """The library that reads these files.

    Raises:
        MissingLibraryError: it is not installed.
    """
    try:
        import pyreadstat
    except ImportError:
        brings, instead = "dpspec-tables[statistics]", "save the table as CSV"
        raise errors.MissingLibraryError(path.name, "pyreadstat", brings, instead) from None
    module: ModuleType = pyreadstat
    return module


class PyreadstatFormat(PolarsFormat):
    """Base class of the formats of statistical packages."""

    @abstractmethod
    def read(self, library: ModuleType, path: Path, **options: Any) -> tuple[Mapping[str, Any], Any]:
        """The columns and what the file says about them."""

    def scan(self, path: Path) -> pl.LazyFrame:
        import polars as pl

        columns, _ = self.read(_library(path), path)
        return pl.DataFrame([whole(pl.Series(name, values, strict=False)) for name, values in columns.items()]).lazy()

    def header(self, path: Path) -> tuple[str, ...]:
        library = _library(path)
        with readable(path):
            return tuple(self.read(library, path, metadataonly=True)[1].column_names)

    def describe(self, path: Path, columns: Sequence[str], most: int) -> tuple[int, tuple[tables.ColumnSeen, ...]]:
        rows, seen = super().describe(path, columns, most)
        labels = self.read(_library(path), path, metadataonly=True)[1].variable_value_labels
        return rows, tuple(attrs.evolve(one, labels=dict(_codebook(labels.get(one.name, {})))) for one in seen)

    def sink(self, frame: pl.LazyFrame, path: Path, notes: Mapping[str, str]) -> None:
        self.write_frame(frame.collect(), path, {})

    def write_frame(self, frame: pl.DataFrame, path: Path, notes: Mapping[str, str]) -> None:
        import polars as pl

        self.write_columns(_library(path), frame.with_columns(pl.col(pl.Enum).cast(pl.String)), path)

    @abstractmethod
    def write_columns(self, library: ModuleType, frame: pl.DataFrame, path: Path) -> None:
        """Write a frame of texts and whole numbers."""


def whole(values: pl.Series) -> pl.Series:
    """A column of doubles as whole numbers, where all are; what is not a number is missing."""
    if not values.dtype.is_float():
        return values
    values = values.fill_nan(None)
    whole = bool((values.round() == values).all(ignore_nulls=True)) and (values.abs().max() or 0) < 1 << 53  # type: ignore[operator]
    return values.cast(int) if whole else values


def _codebook(labels: Mapping[Any, str]) -> Iterator[tuple[str, str]]:
    for value, label in labels.items():
        whole = isinstance(value, float) and value.is_integer()
        if str(label).strip():
            yield str(int(value)) if whole else str(value), str(label).strip()


class Sav(PyreadstatFormat):
    """SPSS files, with their value labels for a codebook."""

    name: ClassVar[str] = "spss"
    suffixes: ClassVar[tuple[str, ...]] = (".sav", ".zsav")

    def read(self, library: ModuleType, path: Path, **options: Any) -> tuple[Mapping[str, Any], Any]:
        columns, meta = library.read_sav(str(path), output_format="dict", **options)
        return columns, meta

    def write_columns(self, library: ModuleType, frame: pl.DataFrame, path: Path) -> None:
        library.write_sav(frame, str(path))


class Dta(PyreadstatFormat):
    """Stata files, with their value labels for a codebook."""

    name: ClassVar[str] = "stata"
    suffixes: ClassVar[tuple[str, ...]] = (".dta",)

    def read(self, library: ModuleType, path: Path, **options: Any) -> tuple[Mapping[str, Any], Any]:
        columns, meta = library.read_dta(str(path), output_format="dict", **options)
        return columns, meta

    def write_columns(self, library: ModuleType, frame: pl.DataFrame, path: Path) -> None:
        library.write_dta(frame, str(path))


__all__ = ["Dta", "PyreadstatFormat", "Sav", "whole"]
