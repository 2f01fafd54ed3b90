"""Writing a release: read again and compared before it is moved to its place, atomic for every file, with a report.

Every file is read again and compared with the drawn table, value by value. What a mechanism says that it keeps is checked on
that table, which cannot be written to any more, by code that knows nothing of the mechanism. How far a release is from its table
is for the agency alone, since that reads the confidential table:

For every table of one or two attributes, N_c the true and M_c the released count of cell c:

    MAPE = 100 / |C| * sum over c in C of |M_c - N_c| / N_c,      C the cells with N_c > 0   (Bailie, Gong and Meng 2023)
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import os
from collections.abc import Iterator, Mapping, Sequence, Sized
from pathlib import Path
from typing import Any

import attrs
import numpy as np

from dpspec.plugin import DatasetSpace, Marginal, Table, answers, grammar, tables
from dpspec.plugin.applications import REPORT, WARNING, Registry, ReleaseError, log
from dpspec.plugin.releases import (
    Countable,
    DpspecError,
    Formats,
    PluginContractError,
    TableSource,
    count_cells,
    files_of,
    flags,
    format_of,
    formats_of,
    private_folder,
    whole,
)
from dpspec_release.accuracy import margin_column, with_margins
from dpspec_release.batches import MOST_RECORDS, WrittenTable, write_batches
from dpspec_release.draw import GO_ON, Release, randomness
from dpspec_release.kept import FoundKept, check_kept

# --- distance from the table ----------------------------------------------------------------------


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
        mape: the mean absolute percentage error over these, in percent; None where there are none.
        mean_absolute_error: the mean of |M_c - N_c| over all cells.
        largest_error: the largest |M_c - N_c|.
        hidden: how many cells the release does not show; they are in none of these numbers.
    """

    unit: str
    attributes: tuple[str, ...]
    cells: int
    mape: float | None
    mean_absolute_error: float
    largest_error: int
    hidden: int = 0


def distances(before: Countable, after: Countable, unit: str) -> Iterator[Distance]:
    """All tables of one or two attributes that both have.

    Args:
        unit: what a record is.
    """
    for table in compared_tables(before, after, unit):
        true, released = (given.cells(table.attributes).every() for given in (before, after))
        yield _distance(unit, table.attributes, true, released)


def compared_tables(before: Countable, after: Countable, unit: str) -> list[Marginal]:
    """All tables of one or two attributes that both have, but for those of too many cells."""
    shared = [a.name for a in before.attributes if a in after.attributes]
    every = itertools.chain(((name,) for name in shared), itertools.combinations(shared, 2))
    return [Marginal(attributes=names, unit=unit) for names in every if before.domain(names) <= MOST_CELLS]


def answer_distances(release: Release) -> Iterator[Distance | tuple[str, str]]:
    """The distances of released noisy answers from the true counts, for the tables of counts that the mechanism measures; of a
    table that is not compared, its name and why."""
    before, after, space = release.given, release.output.main, release.document.spec.space
    if len(after) > MOST_CELLS:
        yield "all tables", f"more than {MOST_CELLS:,} numbers were released"
        return
    if not answers.has_answers(after):
        yield "all tables", "the numbers are not listed by query"
        return
    structure = None
    with contextlib.suppress(DpspecError, grammar.NoStructure):
        structure = grammar.stated_structure(release.mechanism, space)
    views = {str(view.table): view.table for view in (() if structure is None else structure.views)}
    value, query = after.attribute(answers.VALUE), after.attribute(answers.QUERY)
    written = list(value.values())
    for place, name in enumerate(query.values()):
        codes = after.codes[answers.VALUE][after.codes[answers.QUERY] == place]
        table = views.get(name)
        records = None if table is None else _records_of(table, before, space)
        if table is None or records is None:
            yield name, "it is no table of counts of these records"
            continue
        counts = records.cells(table.attributes, table.where).by_category()
        true = np.asarray([counts.get(tuple(map(str, cell)), 0) for cell in table.cells(space)], dtype=np.int64)
        released = [written[code] for code in codes.tolist()]
        shown = np.asarray([bool(number) for number in released], dtype=bool)
        if len(true) != len(released) or not shown.any():
            yield name, "its cells are not those of the table" if shown.any() else "none of its numbers is shown"
            continue
        numbers = np.asarray([int(number) for number in released if number], dtype=np.int64)
        found = _distance(table.unit, table.attributes, true[shown], numbers)
        yield attrs.evolve(found, hidden=int(len(shown) - shown.sum()))


def _records_of(table: Marginal, before: Countable, space: DatasetSpace) -> Countable | None:
    """The records of which a table counts some; None where the given table does not hold them."""
    found: Countable | None = before
    if len(space.units) > 1 and table.unit != space.units[0]:
        found = before.of_members() if isinstance(before, Table) and before.members is not None else None
    if found is None or not {*table.attributes, *dict(table.where)} <= {a.name for a in found.attributes}:
        return None
    return found


def _distance(unit: str, names: Sequence[str], true: Any, released: Any) -> Distance:
    error = np.abs(released - true)
    cells = np.flatnonzero(true)
    return Distance(
        unit=unit,
        attributes=tuple(names),
        cells=len(cells),
        mape=float(100 * np.mean(error[cells] / true[cells])) if len(cells) else None,
        mean_absolute_error=float(error.mean()),
        largest_error=int(error.max()),
    )


def write_utility(release: Release) -> dict[str, Any]:
    """Write utility.json and, where a table was compared, utility.svg into the confidential folder; returns what was written.

    Raises:
        ReleaseError: it cannot be written.
    """
    every = list(_of_all_units(release))
    found = [one for one in every if isinstance(one, Distance)]
    left_out = [{"table": one[0], "reason": one[1]} for one in every if not isinstance(one, Distance)]
    data = {
        "warning": NOTE, "tables": [attrs.asdict(d) for d in found], "left_out": left_out,
        "stated_by_mechanism": dict(release.output.confidential),
    }  # fmt: skip
    folder = release.place.private
    try:
        private_folder(folder)
        (folder / FILES[1]).unlink(missing_ok=True)  # of an earlier release
        texts = (json.dumps(data, indent=2) + "\n", *([picture(found)] if found else []))
        for name, text in zip(FILES, texts, strict=False):
            with whole(folder / name, 0o600) as part:
                part.write_text(text, encoding="utf-8")
    except OSError as problem:
        raise ReleaseError("directory", f"cannot be written ({problem.strerror})", value=str(folder)) from None
    return {"folder": str(folder), **data}


def _of_all_units(release: Release) -> Iterator[Distance | tuple[str, str]]:
    """The distances of the records, and of the persons with the attributes of their households."""
    units = release.document.spec.space.units or ("record",)
    unit = str(getattr(release.mechanism, "unit", units[0]))
    if release.written and answers.has_numbers(release.main):
        yield "all tables", "the numbers were not held"
        return
    if release.written:
        yield from _of_files(release, release.written[0], unit)
        yield from ((f"all tables of {units[1]}", "they were not held") for _ in release.written[1:])
        return
    before, after = release.given, release.output.main
    if answers.has_numbers(after):
        yield from answer_distances(release)
        return
    if not isinstance(before, Table):  # of counts nothing is compared record by record
        return
    yield from distances(before, after, unit)
    if before.members is not None and after.members is not None:
        own = {a.name for a in before.attributes}
        persons = distances(before.of_members(), after.of_members(), units[1])
        yield from (found for found in persons if not own.issuperset(found.attributes))


def _of_files(release: Release, written: WrittenTable, unit: str) -> Iterator[Distance]:
    """The distances of a release that was written in batches: both tables are read once more, and counted."""
    asked = compared_tables(release.given, written.counted, unit)
    file = release.place.public / written.path.name
    after = count_cells(TableSource.of(file, release.main.attributes, written.formats), asked)
    before = release.given if release.source is None else count_cells(release.source, asked)
    yield from distances(before, after, unit)


def forget_utility(folder: Path) -> None:
    """Remove what an earlier release left in the confidential folder: it says nothing about this one."""
    for name in FILES:
        (folder / name).unlink(missing_ok=True)


def picture(found: list[Distance]) -> str:
    """One bar for the MAPE of each table, the largest first, as SVG."""
    from xml.sax.saxutils import escape

    ranked = sorted(((one, one.mape) for one in found if one.mape is not None), key=lambda pair: -pair[1])[:40]
    largest = max((mape for _, mape in ranked), default=0.0) or 1.0
    step, left, width = 22, 300, 420
    bars = []
    for place, (distance, mape) in enumerate(ranked):
        y, length = 64 + place * step, width * mape / largest
        label = escape(f"{distance.unit}: {' x '.join(distance.attributes)}")
        bars.append(
            f'<text x="{left - 8}" y="{y + 12}" text-anchor="end">{label}</text>'
            f'<rect x="{left}" y="{y}" width="{length:.1f}" height="15" fill="#4477aa"/>'
            f'<text x="{left + length + 6:.1f}" y="{y + 12}">{mape:.3g} %</text>'
        )
    height = 80 + step * len(ranked)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="820" height="{height}" font-family="sans-serif" font-size="12">'
        f'<rect width="820" height="{height}" fill="white"/>'
        f'<text x="16" y="24" font-size="15">Mean absolute percentage error of the released tables</text>'
        f'<text x="16" y="44" fill="#aa3377">{NOTE}</text>{"".join(bars)}</svg>\n'
    )


# --- writing --------------------------------------------------------------------------------------


FORMAT = 2
"""The version of the report."""


def write(release: Release, registry: Registry, directory: Path) -> dict[str, Any]:
    """Write the tables and report.json, each whole or not at all; returns the report.

    The tables are written in the confidential folder, read again and compared with what was drawn, value by value. So what
    the mechanism and the invariants preserve is checked on the tables in memory, which are those of the files. Only then the
    files are placed in `directory`. An interruption leaves the old files, or the new ones, or some of each, which the next run
    into the same folder makes whole; the report holds the digests of its tables, so a table and a report of two different runs
    cannot be taken for one. What is unfit is marked by a further file and inside the tables where the format can.

    Raises:
        ReleaseError: the directory cannot be written, or is not that of the draw.
        PluginContractError: what was written is not what was drawn, or does not keep what it must.
    """
    place = release.place
    if directory.resolve() != place.public:
        raise ReleaseError("--out", "is not the folder that was drawn for", value=str(directory))
    try:
        data, files = _prepared(release, formats_of(registry))
        forget_utility(place.private)
        place.place(files)
        if release.guard is not None:
            release.guard.commit(files)
    except OSError as problem:
        rule = f"cannot be written ({problem.strerror or problem})"
        advice = "choose another --out" if release.run is None else GO_ON
        if place.is_half_placed:
            rule = f"was written in part ({problem.strerror or problem})"
            advice = "give the same --out again: the next release writes the rest first"
        raise ReleaseError("directory", rule, advice, value=str(directory)) from None
    else:
        if release.run is not None:
            release.run.finish()
        log("release", "INFO", "%s: %d records released", release.document.id, data["records"])
        return data
    finally:
        try:
            place.leave()
        except KeyboardInterrupt:  # a library told of an interruption itself, and that of the signal comes after it
            place.leave()
            raise


def _prepared(release: Release, formats: Formats) -> tuple[dict[str, Any], dict[str, str]]:
    """The report, and the digests of all files of the release, which are ready to be placed."""
    ready = release.place.ready
    private_folder(ready)
    warning = release.warning
    files: dict[str, str] = {}
    if warning is not None:
        files[WARNING] = _written(ready / WARNING, warning + "\n")
    listed = []
    for written in release.written:
        files[written.path.name] = _read_back(written, formats)
        listed.append(_listed(written.path.name, written.counted, files))
    named = {name: table for part in release.output.tables.items() for name, table in files_of(*part).items()}
    if release.accuracy is not None:
        named = with_margins(named, release.accuracy)
    for name, table in named.items():
        file = f"{name}{release.suffix}"
        files[file] = _table(table, ready / file, formats, {} if warning is None else {"dpspec": warning})
        listed.append(_listed(file, table, files))
    for name, stream in release.output.streams.items():
        file = f"{name}{release.suffix}"
        files[file] = _stream(stream, ready / file, formats, {} if warning is None else {"dpspec": warning})
        listed.append(_listed(file, stream, files))
    data = described(release, listed, _kept(release))
    if release.accuracy is not None:
        data["margins"] = {"column": margin_column(release.accuracy.level), "level": str(release.accuracy.level)}
    files[REPORT] = _written(ready / REPORT, json.dumps({"format": FORMAT, **data}, indent=2) + "\n")
    return data, files


def _listed(file: str, table: Sized, files: Mapping[str, str]) -> dict[str, Any]:
    return {"file": file, "records": len(table), "sha256": files[file]}


def _written(path: Path, text: str) -> str:
    _private(path)
    path.write_text(text, encoding="utf-8")
    return hashlib.sha256(text.encode()).hexdigest()


def _private(path: Path) -> None:
    os.close(os.open(path, flags("O_WRONLY", "O_CREAT", "O_EXCL", "O_CLOEXEC"), 0o600))


def _table(table: Table, path: Path, formats: Formats, notes: Mapping[str, str]) -> str:
    """Write a table, read it again and compare it with what was drawn; returns its digest."""
    format_ = format_of(path, formats)
    _private(path)
    format_.write(table, path, notes)
    if not format_.holds(path, table):
        raise _not_read_back(format_)
    return _digest(path)


def _stream(stream: tables.TableStream, path: Path, formats: Formats, notes: Mapping[str, str]) -> str:
    """Write a table as it is made, read it again and compare it with what was made; returns its digest."""
    _private(path)
    return _read_back(write_batches(stream.attributes, stream.regrouped(MOST_RECORDS), path, formats, notes), formats)


def _read_back(written: WrittenTable, formats: Formats) -> str:
    """Read a table that was written as it was drawn, and compare it with what was drawn; returns its digest."""
    if not written.is_read_back():
        raise _not_read_back(format_of(written.path, formats))
    return _digest(written.path)


def _not_read_back(format_: tables.TableFormat) -> PluginContractError:
    rule = "does not read what it has written"
    return PluginContractError(f"format {format_.name}", rule, "nothing was written; report it to the plugin's author")


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _kept(release: Release) -> tuple[FoundKept, ...]:
    """Properties of the input table that the release preserves, other than its invariants, compared when it was drawn."""
    if release.written:
        return release.written[0].kept
    columns = tuple(a.name for a in release.given.attributes)
    kept, given = release.mechanism.keeps(columns), release.given
    if not isinstance(given, Table):  # a mechanism that keeps something of its records reads more than counts
        return ()
    return tuple(check_kept(one, given, release.output.main, release.mechanism.name) for one in kept)


def described(release: Release, files: list[dict[str, Any]], kept: tuple[FoundKept, ...]) -> dict[str, Any]:
    """The report in the folder of the released tables; it may be published with them."""
    from importlib.metadata import version

    origin = {"plugin": release.origin.plugin, "distribution": release.origin.distribution, "version": release.origin.version}
    document, judged = release.document, release.standing
    return {
        "specification": {
            "id": document.id,
            "title": document.title,
            "path": None if document.path is None else Path(document.path).name,
            "sha256": document.sha256,
            "text": document.text,
        },
        "budget": str(document.spec.budget),
        "claim": {
            "verdict": judged.word.word,
            "sentence": judged.sentence,
            "assumptions": list(judged.assumptions),
            "scopes": [verdict.scope for verdict in judged.verdicts],
            "released_unverified": not judged.word.is_good,
        },
        "assumptions": list(release.assumptions),
        "not_released": [str(part) for part in document.parts],
        "mechanism": {"name": release.mechanism.name, "parameters": repr(release.mechanism), **origin},
        "dpspec": version("dpspec"),
        "table": Path(release.name).name,
        "records": len(release.main),
        "workers": release.workers,
        "randomness": randomness(release.seed),
        "fit_for_publication": not release.unfit,
        "warning": release.warning,
        "invariants": [found.data() for found in release.held],
        "exposure": release.exposed.public_data(),
        "kept": [found.data() for found in kept],
        "stated_by_mechanism": dict(release.output.report),
        "released": files,
    }
