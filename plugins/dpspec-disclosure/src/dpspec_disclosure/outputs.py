"""Output checking: a folder of tables to be published, checked against a file of disclosure rules.

Where a table contains nothing but the numbers to publish, a number breaks the rules if no cell at all could be published as this
number. Where it also states the content of each cell, a number breaks them if this cell is not published as this number. A
suppressed cell breaks no rule: more may be suppressed than must be, to protect other cells. The broken steps are the fewest
that, left out, would allow the number.

A number that breaks a rule is confidential, and so is the content of its cell: messages state row, column and rule, and no value.
"""

from __future__ import annotations

import csv
import itertools
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import attrs

from dpspec.plugin import errors, params
from dpspec.plugin.applications import JsonData, Word, count, harmless, raise_all, read_bytes, worst_word
from dpspec_disclosure.audit import AuditedCell, CellStatus, audit_populations, cell_lines
from dpspec_disclosure.linked_tables import Later, TableCell, read_cells, separate_measures
from dpspec_disclosure.rule_steps import CellContents
from dpspec_disclosure.rules import DisclosingTable, MoreDisclosing, RuleComparison, RuleFile
from dpspec_disclosure.table_files import ADVICE, MOST_BYTES, TableFaults, at_line, opened, whole_number

MOST_SHOWN = 1000
"""The number of broken cells of a table that are reported one by one; all are counted."""


@attrs.frozen(kw_only=True)
class BrokenCell:
    """A number that the rules do not allow.

    Args:
        line: the line in the file; row: the row below the header.
        column: the name of the column.
        steps: the places of the steps that are broken, from 0; none where no steps left out would allow the number for its cell.
    """

    line: int
    row: int
    column: str
    steps: tuple[int, ...]


@attrs.frozen(kw_only=True)
class CheckedOutput:
    """One table checked against the rules.

    Args:
        path: the file.
        cells: the number of cells; suppressed: the number of suppressed ones.
        has_contents: whether the table states the content of the cells.
        broken: the first broken cells; broken_cells: how many there are.
        unjudged: the indices of the steps that need the content of a cell, where the table does not state it.
        steps: the number of steps.
        exposed: the suppressed cells that can be recomputed, or that are not protected as the rules require.
        unaudited: why suppressed cells were not audited, or how many were not decided; empty where all were.
        measures: the names of its number columns, which are not held against each other; empty where an attribute names them.
    """

    path: str
    cells: int
    suppressed: int
    has_contents: bool
    broken: tuple[BrokenCell, ...]
    broken_cells: int
    unjudged: tuple[int, ...]
    steps: int
    exposed: tuple[AuditedCell, ...] = ()
    unaudited: str = ""
    measures: tuple[str, ...] = ()

    @property
    def word(self) -> Word:
        """Refuted, unchecked, undecided, or holds."""
        if self.broken_cells or self.exposed:
            return Word.REFUTED
        if not self.cells or len(self.unjudged) == self.steps:
            return Word.UNCHECKED
        return Word.UNDECIDED if self.unjudged or self.unaudited else Word.HOLDS


@attrs.frozen(kw_only=True)
class CheckedFolder:
    """A folder of tables held to the rules.

    Args:
        rules: the rules.
        tables: what was found of each table.
        passed_over: files that are no *.csv; nothing is known of them.
    """

    rules: RuleFile
    tables: tuple[CheckedOutput, ...]
    passed_over: tuple[str, ...]

    @property
    def word(self) -> Word:
        return worst_word(table.word for table in self.tables)


def check_outputs(folder: Path, rules: RuleFile, progress: Callable[[int, int], None] | None = None) -> CheckedFolder:
    """Hold every *.csv in a folder, and in the folders in it, to the rules.

    Args:
        progress: called with (tables done, tables in all).

    Raises:
        errors.TableError: no folder, no table in it, or a table that cannot be read; the faults of all tables together.
    """
    if not folder.is_dir():
        raise errors.TableError("folder", "is no directory", "name the folder of the tables", value=str(folder))
    inside = sorted(path for path in folder.rglob("*") if not path.is_dir() or path.is_symlink())
    paths = [path for path in inside if path.suffix.lower() == ".csv"]
    if not paths:
        rule = "holds no *.csv, so nothing can be checked"
        raise errors.TableError("folder", rule, "write the tables as CSV", value=str(folder))
    judge = CellJudge(rules)
    tables: list[CheckedOutput] = []
    faults: list[errors.DpspecError] = []
    for done, path in enumerate(paths, start=1):
        found = _checked(path, judge)
        tables += [one for one in found if isinstance(one, CheckedOutput)]
        faults += [one for one in found if isinstance(one, errors.DpspecError)]
        if progress is not None:
            progress(done, len(paths))
    raise_all(faults)
    tables = audited(tables, rules)
    return CheckedFolder(rules=rules, tables=tuple(tables), passed_over=tuple(str(path) for path in inside if path not in paths))


# --- what follows of suppressed cells -------------------------------------------------------------


def audited(tables: Sequence[CheckedOutput], rules: RuleFile) -> list[CheckedOutput]:
    """The tables with what their published numbers say of their suppressed cells: each by itself, or linked ones together."""
    if not rules.columns.linked:
        return [one for table in tables for one in _audited_together([table], rules)]
    return _audited_together(tables, rules)


def _audited_together(tables: Sequence[CheckedOutput], rules: RuleFile) -> list[CheckedOutput]:
    if not any(table.suppressed for table in tables) or any(table.broken_cells for table in tables):
        return list(tables)  # a number that breaks the rules leaves no total open
    try:
        cells = [cell for table in tables for cell in read_cells(Path(table.path), rules)]
        if _are_disjoint(cells, rules):
            return list(tables)
        found = list(audit_populations([cells], rules, Later(), lambda cell: required(cell, rules)))
    except errors.DpspecError as fault:
        reason = params.each(fault)[0]
        text = f"{reason.subject} {reason.rule}"
        return [attrs.evolve(table, unaudited=text) if table.suppressed else table for table in tables]
    has_contents = rules.columns.published is not None
    broken = [cell for one in found for cell in one.cells if _is_exposed(cell, has_contents)]
    open_ = [cell.cell.path for one in found for cell in one.cells if cell.is_undecided]
    contradicts = any(one.contradiction is not None for one in found)
    made = []
    for table in tables:
        number = open_.count(table.path)
        unaudited = "no table has these numbers" if contradicts else f"{count(number, 'cell')} not decided" if number else ""
        exposed = tuple(cell for cell in broken if cell.cell.path == table.path)
        made.append(attrs.evolve(table, exposed=exposed, unaudited=unaudited if table.suppressed else ""))
    return made


def _are_disjoint(cells: Sequence[TableCell], rules: RuleFile) -> bool:
    """Whether no record is in two cells, and nothing is known of a suppressed one: then no number says anything of another cell.

    So it is of a table without totals and hierarchies, however large.
    """
    named = {tuple(name for name, _ in cell.codes) for cell in cells}
    differ = len({(cell.measure, cell.codes) for cell in cells}) == len(cells)  # linked tables may publish one cell twice
    return (
        differ and not rules.codes and len(named) == 1 and not any(cell.suppressed and cell.allowed is not None for cell in cells)
    )


def _is_exposed(cell: AuditedCell, has_contents: bool) -> bool:
    """Whether a suppressed cell falls short: a sensitive one of what is required; without stated contents, any that is known."""
    return cell.protected is False if has_contents else cell.status is CellStatus.RECOMPUTED


def required(cell: TableCell, rules: RuleFile) -> tuple[int, int] | None:
    """The total of a suppressed cell, and how much more and less it must possibly hold; None where its row does not say, or no
    rule calls it sensitive."""
    if rules.columns.contributors is None or not cell.suppressed:
        return None
    contents = stated_contents(cell, rules)
    gap = rules.missing(contents)
    return None if gap is None else (contents.total, gap)


def stated_contents(cell: TableCell, rules: RuleFile) -> CellContents:
    """What the row of a cell says is in it.

    Raises:
        errors.TableError: what it says cannot be.
    """
    header = list(cell.row)
    faults: list[errors.TableError] = []
    contents = _contents(list(cell.row.values()), header, _places(header, rules), rules, faults.append)
    if contents is None:
        fault = faults[0] if faults else errors.TableError("row", "has contents that cannot be")
        fault.file, fault.line = cell.path, cell.line
        raise fault
    return contents


def unprotected(folder: Path, rules: RuleFile) -> tuple[list[TableCell], list[CellContents]]:
    """The cells of the tables of a folder, with their true numbers, and the content of each.

    Raises:
        errors.TableError: a table cannot be read, or a cell has no number.
        errors.DisclosureRuleError: the rules need contents that [tables] does not name.
    """
    columns = rules.columns
    if columns.published is None and rules.kind == "magnitudes":
        advice = "name published, contributors, total and largest in [tables]"
        raise errors.DisclosureRuleError("tables", "do not say what is in the cells", advice)
    number = columns.total if rules.kind == "magnitudes" else columns.contributors
    plain = attrs.evolve(rules, steps=())
    paths = sorted(path for path in folder.rglob("*") if path.suffix.lower() == ".csv")
    if not paths:
        raise errors.TableError("folder", "holds no *.csv", "name the folder of the tables", value=str(folder))
    cells: list[TableCell] = []
    faults: list[errors.DpspecError] = []
    for path in paths:
        try:
            cells += read_cells(path, plain, number)
        except errors.DpspecError as fault:
            faults += params.each(fault)
    raise_all(faults)
    for cell in cells:
        if cell.allowed is None or len(cell.allowed) != 1 or cell.allowed[0][0] != cell.allowed[0][1]:
            unknown = errors.TableError(
                f"column {cell.column}", "has a cell without its number", "give the tables before protection"
            )
            unknown.file, unknown.line = cell.path, cell.line
            raise unknown
    if columns.published is not None:
        cells = [attrs.evolve(cell, column=columns.published) for cell in cells]
        return cells, [stated_contents(cell, rules) for cell in cells]
    exact = [cell.allowed[0][0] for cell in cells if cell.allowed is not None]
    return cells, [CellContents.of_count(value, rules.looks_at) for value in exact]


# --- one cell -------------------------------------------------------------------------------------


class CellJudge:
    """The steps that a published number breaks: the fewest that, left out, would allow it, for any cell or for a known one."""

    def __init__(self, rules: RuleFile) -> None:
        self.rules = rules
        places = range(len(rules.steps))
        silent = rules.kind == "magnitudes" and rules.columns.published is None
        self.unjudged = tuple(place for place in places if silent and rules.steps[place].reads != "value")
        judged = [place for place in places if place not in self.unjudged]
        self.left_out = [frozenset(some) for size in range(len(places) + 1) for some in itertools.combinations(judged, size)]
        self.start = rules.onset + rules.spread
        self.possible: dict[frozenset[int], frozenset[int | None]] = {}

    def of_number(self, number: int) -> tuple[int, ...] | None:
        """The steps that a number breaks, whatever is in its cell; None where it breaks none."""
        alike = number if number < self.start else self.start + (number - self.start) % self.rules.period
        return self._least(lambda chosen: alike in self._possible(chosen))

    def of_cell(self, number: int, cell: CellContents) -> tuple[int, ...] | None:
        """The steps that a number breaks as that of this cell; None where it breaks none, () where no steps left out allow it."""
        return self._least(lambda chosen: number in self.rules.outcomes(cell, chosen))

    def _least(self, allowed: Callable[[frozenset[int]], bool]) -> tuple[int, ...] | None:
        for chosen in self.left_out:
            if allowed(chosen):
                return tuple(sorted(chosen)) if chosen else None
        return ()

    def _possible(self, chosen: frozenset[int]) -> frozenset[int | None]:
        """What can be published without some steps, up to where it repeats."""
        if chosen not in self.possible:
            skipped = chosen.union(self.unjudged)
            cells = (CellContents.of_count(n, self.rules.looks_at) for n in range(self.rules.decisive + 1))
            self.possible[chosen] = frozenset(value for cell in cells for value in self.rules.outcomes(cell, skipped))
        return self.possible[chosen]


# --- one table ------------------------------------------------------------------------------------


def _checked(path: Path, judge: CellJudge) -> list[CheckedOutput | errors.DpspecError]:
    """A table checked against the rules, or its fault."""
    faults = TableFaults(str(path))
    found = None
    try:
        content = read_bytes(path, MOST_BYTES)
        header, rows = opened(content)
        places = _places(header, judge.rules)
        found = _judged(header, rows, places, judge, faults)
    except errors.DpspecError as fault:
        faults.add(fault, fault.line)
    except csv.Error as problem:
        faults.add(errors.TableError("table", f"is no CSV ({problem})", "write it as comma-separated values"), None)
    return [*faults.shown()] if faults.number or found is None else [found]


@attrs.frozen
class ColumnPlaces:
    """The columns of a table: the numbers to publish, and the contents of cells."""

    numbers: tuple[int, ...]
    contributors: int | None = None
    total: int | None = None
    largest: tuple[int, ...] = ()


def _places(header: Sequence[str], rules: RuleFile) -> ColumnPlaces:
    columns = rules.columns
    if columns.published is None:
        labels = columns.labels or header[:1]
        numbers = tuple(place for place, name in enumerate(header) if name not in labels)
        if not numbers:
            raise at_line(1, errors.TableError("header", "has no column of numbers", "name fewer labels in [tables]"))
        return ColumnPlaces(numbers)
    needs_sizes = any(step.reads == "sizes" for step in rules.steps)
    if rules.kind == "magnitudes" and columns.total is None:
        raise errors.TableError("rules", "of magnitudes need the column total in addition to contributors", "name it in [tables]")
    if rules.kind == "magnitudes" and needs_sizes and len(columns.largest) < rules.looks_at:
        rule = f"need the {rules.looks_at} largest contributions of a cell"
        raise errors.TableError("rules", rule, "name so many columns as largest in [tables]", value=len(columns.largest))
    wanted = [name for name in (columns.published, columns.contributors, columns.total, *columns.largest) if name is not None]
    missing = [name for name in wanted if name not in header]
    if missing:
        raise at_line(1, errors.TableError("header", "lacks a column that the rules name in [tables]", value=", ".join(missing)))
    at = {name: place for place, name in enumerate(header)}
    return ColumnPlaces(
        (at[columns.published],), at[str(columns.contributors)], None if columns.total is None else at[columns.total],
        tuple(at[name] for name in columns.largest),
    )  # fmt: skip


def _judged(
    header: Sequence[str], rows: Iterator[tuple[int, list[str]]], places: ColumnPlaces, judge: CellJudge, faults: TableFaults
) -> CheckedOutput:
    """Every cell of a table held to the rules; what cannot be read goes into `faults`."""
    columns = judge.rules.columns
    markers = frozenset([*columns.suppressed, *([""] if columns.blank else [])])
    broken: list[BrokenCell] = []
    cells = suppressed = broken_cells = number_of_row = 0
    for line, row in rows:
        if not row:
            continue
        number_of_row += 1
        if len(row) != len(header):
            faults.add(errors.TableError(f"row {number_of_row}", f"has {len(row)} fields instead of {len(header)}"), line)
            continue
        contents = None
        if places.contributors is not None:
            contents = _contents(row, header, places, judge.rules, faults.at(line))
            if contents is None:
                continue
        for place in places.numbers:
            written = row[place].strip()
            cells += 1
            if written in markers:
                suppressed += 1
                continue
            number = whole_number(written)
            if isinstance(number, str):
                faults.add(errors.TableError(f"row {number_of_row}, column {header[place]}", number, ADVICE), line)
                continue
            steps = judge.of_number(number) if contents is None else judge.of_cell(number, contents)
            if steps is not None:
                broken_cells += 1
                if len(broken) < MOST_SHOWN:
                    broken.append(BrokenCell(line=line, row=number_of_row, column=header[place], steps=steps))
    return CheckedOutput(
        path=faults.path, cells=cells, suppressed=suppressed, has_contents=places.contributors is not None, broken=tuple(broken),
        broken_cells=broken_cells, unjudged=judge.unjudged, steps=len(judge.rules.steps),
        measures=() if columns.across is not None else tuple(header[place] for place in places.numbers),
    )  # fmt: skip


def _contents(
    row: Sequence[str], header: Sequence[str], places: ColumnPlaces, rules: RuleFile, fault: Callable[[errors.TableError], None]
) -> CellContents | None:
    """The stated content of the cell of a row; None where it is impossible."""

    def read(place: int) -> int | None:
        number = whole_number(row[place].strip())
        if isinstance(number, int):
            return number
        fault(errors.TableError(f"column {header[place]}", number, "write a whole number"))
        return None

    contributors = read(places.contributors or 0)
    if contributors is None:
        return None
    if rules.kind == "counts":
        return CellContents.of_count(contributors, rules.looks_at)
    total = read(places.total or 0)
    written = [place for place in places.largest if row[place].strip()]
    listed = [read(place) for place in written]
    sizes = sorted((size for size in listed if size is not None), reverse=True)
    if total is None or len(sizes) < len(listed):
        return None
    rest, others = total - sum(sizes), contributors - len(sizes)
    fits = others >= 0 and rest >= 0 and (others or not rest) and (not sizes or rest <= others * sizes[-1])
    if not fits or len(sizes) < min(len(places.largest), contributors):
        rule = "has contributions that cannot be: their number, the largest of them and the total do not fit together"
        columns = f"columns {', '.join(rules.columns.largest)}"
        fault(errors.TableError(columns, rule, "write the largest ones, and leave the others empty"))
        return None
    return CellContents(contributors, total, tuple(sizes[: rules.looks_at]))


# --- output ---------------------------------------------------------------------------------------


def checked_data(found: CheckedFolder) -> JsonData:
    """A checked folder, as data."""
    steps = [step.name for step in found.rules.steps]
    return {
        "rules": found.rules.id,
        "outcome": found.word.word,
        "tables": [
            {
                "path": table.path,
                "outcome": table.word.word,
                "cells": table.cells,
                "suppressed": table.suppressed,
                "contents": table.has_contents,
                "broken_cells": table.broken_cells,
                "broken": [
                    {"line": one.line, "row": one.row, "column": one.column, "steps": [place + 1 for place in one.steps],
                     "rules": [steps[place] for place in one.steps]}
                    for one in table.broken
                ],
                "exposed": [
                    {"line": one.cell.line, "column": one.cell.column, "cell": dict(one.cell.codes),
                     "recomputed": one.range.is_known}
                    for one in table.exposed
                ],
                "unaudited": table.unaudited,
                "unjudged": [{"step": place + 1, "rule": steps[place]} for place in table.unjudged],
            }
            for table in found.tables
        ],
        "passed_over": list(found.passed_over),
    }  # fmt: skip


_TEXT_SHOWN = 20


def checked_text(found: CheckedFolder) -> str:
    """The same for people: the answer first, then each table."""
    rules = found.rules
    lines = [f"{found.word.label}: {count(len(found.tables), 'table')} held to {rules.id} ({harmless(rules.title, keep='')})"]
    if found.passed_over:
        lines.append(f"  not read, because they are no *.csv: {', '.join(found.passed_over)}")
    for table in found.tables:
        means = "is what the rules publish for its cell" if table.has_contents else "is one that the rules can publish"
        shown = table.cells - table.suppressed
        lines.append(f"{table.path}: {table.word.label}; {count(table.cells, 'cell')}, {table.suppressed:,} suppressed")
        if table.broken_cells:
            lines.append(f"  {count(table.broken_cells, 'number')} of {shown:,} that the rules do not allow")
        elif table.word in (Word.HOLDS, Word.UNDECIDED):
            lines.append(f"  every number {means}")
        for one in table.broken[:_TEXT_SHOWN]:
            broken = "; ".join(
                f"step {place + 1}, {rules.steps[place].name}: {rules.steps[place].formula}" for place in one.steps
            )
            broken = broken or "not what is in the cell, whichever steps are left out"
            lines.append(f"  {table.path}:{one.line}: row {one.row}, column {one.column}: {broken}")
        if table.broken_cells > _TEXT_SHOWN:
            lines.append(f"  and {table.broken_cells - _TEXT_SHOWN:,} more; --format json lists up to {MOST_SHOWN:,}")
        for cell in table.exposed[:_TEXT_SHOWN]:
            place = f"{table.path}:{cell.cell.line}: column {cell.cell.column}"
            short = [f"{place}: the suppressed cell is not protected as the rules require"]
            lines += [f"  {line}" for line in (cell_lines(cell) if cell.range.is_known else short)]
        if len(table.exposed) > _TEXT_SHOWN:
            lines.append(f"  and {len(table.exposed) - _TEXT_SHOWN:,} more suppressed cells; --format json lists them")
        if table.unaudited:
            lines.append(f"  suppressed cells not audited: {table.unaudited}")
        lines += [
            f"  not checked: step {place + 1}, {rules.steps[place].name}: the table does not say what is in its cells"
            for place in table.unjudged
        ]
    if rules.columns.linked and any(table.suppressed for table in found.tables):
        lines += separate_measures(name for table in found.tables for name in table.measures)
    return "\n".join(lines)


def compared_data(found: RuleComparison) -> JsonData:
    """A comparison of two chains, as data."""

    def examples(pair: tuple[DisclosingTable, DisclosingTable] | None) -> JsonData | None:
        return None if pair is None else {"smallest": _example_data(pair[0]), "sharpest": _example_data(pair[1])}

    return {
        "first": found.first.id,
        "second": found.second.id,
        "kind": found.first.kind,
        "tells_more": found.answer.value,
        "looked_at": found.looked_at,
        "by_first": examples(found.by_first),
        "by_second": examples(found.by_second),
    }


def _example_data(example: DisclosingTable) -> JsonData:
    return {
        "cell": list(example.cell),
        "question": example.question[0],
        "own": example.question[1] if example.question[0] == "others" else None,
        "published": example.shown,
        "possible": list(example.known),
        "possible_up_to": example.limit,
        "other": [{"published": value, "possible": list(known)} for value, known in example.others],
    }


def compared_text(found: RuleComparison) -> str:
    """The same for people."""
    one, two = found.first.id, found.second.id
    answer = {
        MoreDisclosing.FIRST: f"{one} lets more be inferred than {two}",
        MoreDisclosing.SECOND: f"{two} lets more be inferred than {one}",
        MoreDisclosing.BOTH: f"neither: each of {one} and {two} tells what the other does not",
        MoreDisclosing.NEITHER: f"{one} and {two} let the same be inferred",
    }[found.answer]
    lines = [answer, f"scope: {found.looked_at}"]
    if found.first.kind == "magnitudes":
        lines.append("  a difference is one; that none was found is so for these cells")
    else:
        lines.append("  what is so of every count is so of every table with its margins, each cell being treated by itself")
    for pair, teller, other in ((found.by_first, one, two), (found.by_second, two, one)):
        if pair is not None:
            lines += [f"{teller} tells what {other} does not", *_example_lines("smallest table", pair[0], teller, other)]
            lines += _example_lines("sharpest", pair[1], teller, other) if pair[1] != pair[0] else []
    return "\n".join(lines)


def _example_lines(title: str, example: DisclosingTable, teller: str, other: str) -> Iterator[str]:
    cell = ", ".join(map(str, example.cell)) or "nothing"
    asked = "" if example.question[0] == "total" else f", asked by the contributor of {example.question[1]} for the largest other"
    yield f"  {title}: one cell that holds {cell}{asked}"
    for name, value, known in ((teller, example.shown, example.known), *((other, *answer) for answer in example.others)):
        listed = " and larger ones that are not listed" if example.open_ended(value) else ""
        yield f"    {name} publishes {_value(value)}: {ranges(known)}{listed}"


def _value(value: int | None) -> str:
    return "nothing (suppressed)" if value is None else str(value)


def ranges(numbers: Sequence[int]) -> str:
    """Numbers in ascending order, those in sequence as a range.

    >>> ranges((0, 1, 2, 5, 7, 8))
    '0 to 2, 5, 7 to 8'
    """
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][1] == number - 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(str(low) if low == high else f"{low} to {high}" for low, high in runs)


def rules_data(rules: RuleFile) -> JsonData:
    """A chain of rules, as data."""
    return {
        "path": rules.path,
        "id": rules.id,
        "title": rules.title,
        "kind": rules.kind,
        "source": rules.source,
        "steps": [
            {"rule": step.name, "definition": _definition(step), "formula": step.formula, "source": step.source}
            for step in rules.steps
        ],
        "inferred": [{"published": value, "possible": list(known)} for value, known in rules.first_inferred()],
    }


def rules_text(rules: RuleFile) -> str:
    """The same for people."""
    lines = [f"{rules.id}: {harmless(rules.title, keep='')}", f"for tables of {rules.kind}; steps in this order:"]
    for place, step in enumerate(rules.steps, start=1):
        lines += [f"  {place}. {step.name}: {step.formula}", f"     {_definition(step)} ({step.source})"]
    inferred = rules.first_inferred()
    if inferred:
        lines.append("what a published number says of the count:")
        lines += [f"  {_value(value)}: {ranges(known)}" for value, known in inferred]
    return "\n".join(lines)


def _definition(step: object) -> str:
    """The first paragraph of the docstring of its class."""
    return " ".join((type(step).__doc__ or "").split("\n\n")[0].split())
