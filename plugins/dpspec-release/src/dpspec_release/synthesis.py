"""Public test tables of any size, written as they are made."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs

from dpspec.plugin import Table
from dpspec.plugin.applications import Progress, Registry, ReleaseError, did_you_mean
from dpspec.plugin.releases import SEED, SizedBuilder, TableError, format_of, formats_of, whole


@attrs.frozen(kw_only=True)
class Synthesised:
    """A table that was made.

    Args:
        builder: what made it.
        rows: how many records it has.
        seed: of its random part.
        path: where it is.
    """

    builder: SizedBuilder
    rows: int
    seed: int
    path: str

    def data(self) -> dict[str, Any]:
        """The result as data."""
        return {"table": described(self.builder), "rows": self.rows, "seed": self.seed, "path": self.path}


def described(builder: SizedBuilder) -> dict[str, Any]:
    """What a builder makes, as data."""
    columns = [{"name": a.name, "categories": a.size} for a in builder.attributes]
    return {"name": builder.name, "rows": builder.own_size, "columns": columns, "source": builder.source}


def builders(registry: Registry) -> tuple[SizedBuilder, ...]:
    """The registered builders of tables of any size."""
    made = (builder().sized() for builder in sorted(registry.classes("tables"), key=lambda cls: str(cls.name)))
    return tuple(builder for builder in made if builder is not None)


def synthesise(
    registry: Registry, name: str, path: Path, *, rows: int | None = None, seed: int | None = None, progress: Progress
) -> Synthesised:
    """Make a table and write it, whole or not at all, in the format that the ending of the file names.

    Args:
        rows: how many records; without it the builder's own size.
        seed: of the random part; without it `SEED`, so that the table is the same everywhere.
        progress: called with the number of generated records, and of all.

    Raises:
        TableError: there is no such table, or no such format.
        ReleaseError: the file cannot be written.
    """
    known = {builder.name: builder for builder in builders(registry)}
    if name not in known:
        raise TableError("table", "is no table of any size", did_you_mean(name, known), value=name)
    builder = known[name]
    made = Synthesised(
        builder=builder,
        rows=builder.own_size if rows is None else rows,
        seed=SEED if seed is None else seed,
        path=str(path),
    )
    format_ = format_of(path, {suffix: one for suffix, one in formats_of(registry).items() if not one.is_read_only})
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole(path) as part:
            batches = _with_progress(builder.batches(made.rows, made.seed), made.rows, progress)
            format_.write_batches(builder.attributes, batches, part, {})
    except OSError as problem:
        raise ReleaseError("file", f"cannot be written ({problem.strerror})", "choose another --out", value=str(path)) from None
    return made


def _with_progress(batches: Iterator[Table], rows: int, progress: Progress) -> Iterator[Table]:
    done = 0
    for batch in batches:
        yield batch
        done += len(batch)
        progress(done, rows)
