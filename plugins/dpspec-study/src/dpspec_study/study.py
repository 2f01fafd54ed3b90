"""`dpspec study`: the steps from a table to a recommended design, each of them a command of its own.

    draft        dpspec new spec          the space, from the columns of the table
    frontier     dpspec tradeoff          risk and error of each design, and its parameter at the target risk
    verdicts     dpspec verify            whether each promise holds, for data of any size
    margins      dpspec accuracy          the margins of error that follow from laws
    exposure     dpspec exposure          what is determined by the tables that a swap publishes exactly
    label        dpspec label             one page for the people in the data, of the recommended design

Everything is written to a temporary folder next to the target, which only its owner can open, and is renamed at the end.
"""

from __future__ import annotations

import csv
import io
import math
import shlex
import shutil
import tempfile
from collections.abc import Mapping
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import attrs
from dpspec_disclosure.design_risk import WORST
from dpspec_disclosure.tradeoff import Tradeoff, TradePoint, outer_end
from dpspec_report.page import document as html_document

import dpspec as dp
from dpspec import CommandAnswer, SpecDocument
from dpspec.plugin import ParameterError, errors, exact
from dpspec.plugin.applications import Progress, ReleaseError, file_report_data, json_written, outcome_summary, parse, to_toml
from dpspec.plugin.releases import table_file, table_name
from dpspec_study.designs import Proposal, proposals
from dpspec_study.page import report
from dpspec_study.question import MOST_CELLS, Question, read_question
from dpspec_study.recommendation import HEADS, StudiedDesign, rows
from dpspec_study.result import Margins, Study

AnyPath: TypeAlias = str | Path
RUNS, SEED = 20, 0
DRAFT, SPECIFICATIONS, CONFIDENTIAL = "draft", "specifications", "confidential"
STEPS = ("draft", "designs", "frontier", "verdicts", "margins", "exposure", "label", "report")
FEW = 2
"""So many columns are taken where no question names them."""


def study(
    table: AnyPath | Any,
    question: AnyPath | Mapping[str, Any] | None = None,
    *,
    out: AnyPath,
    codebook: AnyPath | None = None,
    runs: int = RUNS,
    seed: int = SEED,
    progress: Progress | None = None,
) -> CommandAnswer:
    """Compare seven designs of a release at equal attacker risk, and recommend one: ``dpspec study``. `value` is a `Study`.

    Recommended is the design with the least expected error among those whose promise is verified on the whole space and whose
    risk in the worst universe is proved to be at most the target. The risk is the power of the best test, at a
    level, between two tables that differ by one exchange of values between two records.

    Args:
        table: a table file, or a data frame (pandas, polars, pyarrow).
        question: what is to be published, as a TOML file or a mapping (`dpspec_study.question`); without it, the table of counts
            of the first two columns.
        out: the folder of the study, which must not exist. Its folder ``confidential`` holds what is computed from the table.
        codebook: a CSV with column, value, label: categories that were public before the data.
        runs: how many releases are simulated of a design whose law is not known.
        seed: the seed of these runs.
        progress: called with (steps done, steps in all).

    Returns:
        the recommendation, the designs with their risks and errors, and the commands of the steps.

    Raises:
        ReleaseError: the folder exists, or cannot be written.
        TableError and its kin: the table cannot be read, or has no such column.
        MissingKeyError, UnknownKeyError, WrongShapeError, ParameterError: the question is none.
        NotEnumerableError: the table of counts has too many cells.
    """
    target = Path(out)
    if target.exists() or target.is_symlink():
        raise ReleaseError("folder", "exists already", "choose another name or place", value=str(out))
    asked = None if question is None else read_question(question)
    named = None if question is None or isinstance(question, Mapping) else str(question)
    report = progress or (lambda *_: None)
    with table_file(table) as file:
        begun = _begun(target)
        try:
            work = _Work(
                file=Path(file),
                name=table_name(table),
                out=str(out),
                folder=begun / target.name,
                codebook=codebook,
                runs=runs,
                seed=seed,
            )
            found = work.studied(asked, report)
            work.write(found)
            report(len(STEPS), len(STEPS))
            (begun / target.name).rename(target)  # the whole study, or none where it was interrupted
        except OSError as problem:
            rule = f"cannot be written ({problem.strerror or type(problem).__name__})"
            raise ReleaseError("folder", rule, "choose another place", value=str(out)) from None
        finally:
            shutil.rmtree(begun, ignore_errors=True)
    data = study_data(found, named)
    return CommandAnswer("study", found.exit_code, data, partial(study_text, found), value=found)


def _begun(target: Path) -> Path:
    """A private folder next to the target, in which its folder is prepared."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        # On the file system of the target, where it can be renamed in one step.
        begun = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
        (begun / target.name).mkdir()
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or "this is no path"
        raise ReleaseError("folder", f"cannot be written ({reason})", "choose another place", value=str(target)) from None
    return begun


# --- the steps ------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class _Work:
    """One study in its folder.

    Args:
        file: the table.
        name: its name.
        out: the requested folder.
        folder: the folder in which it is prepared.
        codebook, runs, seed: as in `study`.
    """

    file: Path
    name: str
    out: str
    folder: Path
    codebook: AnyPath | None
    runs: int
    seed: int

    def studied(self, asked: Question | None, report: Progress) -> Study:
        """All steps but the report."""
        for name in (SPECIFICATIONS, CONFIDENTIAL):
            (self.folder / name).mkdir()
        (self.folder / CONFIDENTIAL).chmod(0o700)  # what is computed from the table is for its owner alone
        report(0, len(STEPS))
        tables, warnings, question = self.draft(asked)
        document = dp.build(**tables)
        attributes = document.spec.space.attributes_of(question.unit)
        cells = math.prod(a.size for a in attributes if a.name in question.columns)
        _check(question, {a.name: a.size for a in attributes}, cells)
        report(1, len(STEPS))
        proposed = proposals(tables, attributes, question)
        for proposal in proposed:
            self.specify(proposal, proposal.tables)
        report(2, len(STEPS))
        frontier = self.frontier(proposed, question)
        report(3, len(STEPS))
        designs = tuple(self.judged(*pair) for pair in zip(proposed, frontier.curves, strict=True))
        report(4, len(STEPS))
        margins = tuple(self.margins(design) for design in designs)
        report(5, len(STEPS))
        determined = self.determined()
        report(6, len(STEPS))
        found = Study(
            table=(self.name, frontier.table[2]), question=question, cells=cells, designs=designs, frontier=frontier,
            margins=margins, determined=determined, warnings=warnings, steps=(), folder=self.out,
        )  # fmt: skip
        if found.best is not None:
            self.put("label.html", html_document(dp.label(self.path(found.best.name)).page()))
        report(7, len(STEPS))
        return attrs.evolve(found, steps=tuple(self.steps(found, proposed)))

    def path(self, name: str) -> Path:
        """The file of a design."""
        return self.folder / SPECIFICATIONS / f"{name}.dpspec.toml"

    def put(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text, encoding="utf-8")

    def draft(self, asked: Question | None) -> tuple[dict[str, Any], tuple[str, ...], Question]:
        """The drafted file as data, its warnings, and the question in the names of its attributes.

        Raises:
            ParameterError: a column of the question can be no attribute.
        """
        unit = "person" if asked is None else asked.unit
        wanted = self.first_columns(unit) if asked is None else asked.every
        made = dp.new_spec(DRAFT, self.folder, table=self.file, columns=wanted, codebook=self.codebook, unit=unit)
        warnings = tuple(made.content.get("warnings", ()))
        tables = parse((self.folder / f"{DRAFT}.dpspec.toml").read_text(encoding="utf-8"))
        names = {one.get("column", one["name"]): one["name"] for one in tables["space"]["attributes"]}
        lost = [column for column in wanted if column not in names]
        if lost:
            rule = next((line for line in warnings if lost[0] in line), "is left out of the draft")
            raise ParameterError("columns", f"names a column that cannot be published: {rule}", "name others", value=lost[0])
        if asked is None:
            return tables, warnings, read_question({"columns": [names[column] for column in wanted]})
        columns, exchange, match = (tuple(names[one] for one in some) for some in (asked.columns, asked.exchange, asked.match))
        return tables, warnings, attrs.evolve(asked, columns=columns, exchange=exchange, match=match)

    def first_columns(self, unit: str) -> tuple[str, ...]:
        """The first columns of the table that can be attributes.

        Raises:
            ParameterError: there are too few.
        """
        with tempfile.TemporaryDirectory(dir=self.folder) as apart:
            dp.new_spec(DRAFT, apart, table=self.file, codebook=self.codebook, unit=unit)
            drafted = dp.read(Path(apart) / f"{DRAFT}.dpspec.toml").spec.space.attributes_of(unit)
        usable = [a.column or a.name for a in drafted if a.size > 1]
        if len(usable) < FEW:
            rule = f"has {len(usable)} columns with several categories, and a table of counts needs {FEW}"
            raise ParameterError("table", rule, "give a table with more columns")
        return tuple(usable[:FEW])

    def specify(self, proposal: Proposal, tables: Mapping[str, Any]) -> SpecDocument:
        """Write the file of a design."""
        document = dp.build(**tables)
        lines = ["# Proposed by dpspec study; the space is that of the draft."]
        if document.layout is not None and document.layout.observed:
            lines.append("# CAREFUL: categories were READ OFF THE TABLE, and are published with this file; dpspec lint has them.")
        if proposal.varied:
            lines.append("# The parameter was solved for at the risk that the question names.")
        text = "\n".join([*lines, to_toml(document, dp.installed().registry)])
        self.path(proposal.name).write_text(text, encoding="utf-8")
        return document

    def frontier(self, proposed: tuple[Proposal, ...], question: Question) -> Tradeoff:
        """Risk and error of each design, and its parameter at the target risk."""
        answer = dp.tradeoff(
            *(self.path(one.name) for one in proposed), table=self.file, statistic=question.statistic, metric=question.metric,
            risk=question.measure, vary=[one.vary for one in proposed if one.vary], at_risk=question.risk,
            exchange=question.exchange, runs=self.runs, seed=self.seed, out=self.folder / CONFIDENTIAL / "frontier.svg",
            cells=self.folder / CONFIDENTIAL / "errors-by-cell.csv",
        )  # fmt: skip
        content = {**answer.content, "table": {**answer.content["table"], "name": self.name}}
        self.put(f"{CONFIDENTIAL}/frontier.json", json_written({"format": 1, "command": "tradeoff", **content}) + "\n")
        found: Tradeoff = answer.value
        return found

    def judged(self, proposal: Proposal, curve: Any) -> StudiedDesign:
        """A design at the target risk, and the verdict on its file."""
        solved = curve.solved.get(WORST)
        value: Fraction | None = None
        unsolved, point = "", curve.points[0]
        if proposal.varied and isinstance(solved, TradePoint) and solved.value is not None:
            value, point = solved.value, solved
            self.specify(proposal, proposal.at(solved.value))
        elif proposal.varied:
            unsolved = str(solved)
        return StudiedDesign(
            proposal=proposal, value=value, unsolved=unsolved, point=point, report=dp.verify(self.path(proposal.name))
        )

    def margins(self, design: StudiedDesign) -> Margins:
        """The margins of error of a design that follow from its law."""
        found = dp.accuracy(self.path(design.name))
        if not found["tables"]:
            return Margins(design=design.name, reason="; ".join(one["reason"] for one in found["unknown"]))
        (one, *_) = found.value.tables
        ends = [None if bracket is None else exact.rounded_up(bracket.upper, 6) for bracket in (one.margin, one.margin_of_all)]
        counts = "all true counts" if one.is_of_all_counts else "true counts from 0 to 200"
        worst = f"the largest over {counts}" if one.source == "counts" else ""
        reason = "; ".join(filter(None, (worst, one.note)))
        return Margins(design=design.name, margin=ends[0], margin_of_all=ends[1], reason=reason)

    def determined(self) -> tuple[int, int, int] | None:
        """How many records the exact tables of the swap determine, as `dpspec exposure` counts them."""
        document = dp.read(self.path("swapping"))
        try:
            share = dp.exposed_records(document.spec, dp.read_table(document, self.file))
        except (errors.IncompatibleBlocksError, errors.NotEnumerableError):
            return None
        return share.yes, share.undecided, share.of

    def steps(self, found: Study, proposed: tuple[Proposal, ...]) -> list[tuple[str, str]]:
        """Each step with the command that repeats it."""
        quoted = shlex.quote
        question, table, out = found.question, quoted(self.name), self.out
        folder = quoted(f"{out}/{SPECIFICATIONS}")
        files = " ".join(quoted(f"{out}/{SPECIFICATIONS}/{one.name}.dpspec.toml") for one in proposed)
        columns = " ".join(f"--column {quoted(column)}" for column in self.columns_of(question))
        book = "" if self.codebook is None else f" --codebook {quoted(str(self.codebook))}"
        exchange = quoted(",".join(question.exchange))
        vary = " ".join(f"--vary {one.vary}" for one in proposed if one.vary)
        swap = quoted(f"{out}/{SPECIFICATIONS}/swapping.dpspec.toml")
        steps = [
            ("the draft", f"dpspec new spec {DRAFT} --from {table} {columns}{book} --unit {quoted(question.unit)} --no-ask"),
            (
                "risk, error and parameters",
                f"dpspec tradeoff {files} --table {table} --statistic {quoted(question.statistic)} --metric {question.metric} "
                f"--risk {question.measure} --exchange {exchange} {vary} --at-risk {question.risk} --runs {self.runs} "
                f"--seed {self.seed} --out frontier.svg --cells errors-by-cell.csv",
            ),
            ("verdicts", f"dpspec verify {folder} --accept recorded"),
            *((f"margins of {one.design}", f"dpspec accuracy {quoted(f'{out}/{SPECIFICATIONS}/{one.design}.dpspec.toml')}")
              for one in found.margins if one.margin is not None),
            ("what the exact tables of the swap determine", f"dpspec exposure {swap} {table} --secret {exchange}"),
        ]  # fmt: skip
        if found.best is not None:
            best = quoted(f"{out}/{SPECIFICATIONS}/{found.best.name}.dpspec.toml")
            steps.append(("label", f"dpspec label {best}"))
            steps.append(("the release, when it is decided", f"dpspec release {best} {table} --out release"))
        return steps

    def columns_of(self, question: Question) -> list[str]:
        """The columns of the table behind the attributes of a question, in the order of the draft."""
        drafted = dp.read(self.folder / f"{DRAFT}.dpspec.toml").spec.space.attributes_of(question.unit)
        by_name = {a.name: a.column or a.name for a in drafted}
        return [by_name[name] for name in question.every]

    def write(self, found: Study) -> None:
        """The reports and tables."""
        verdicts = [
            file_report_data(f"{SPECIFICATIONS}/{one.name}.dpspec.toml", one.report) for one in found.designs
        ]  # fmt: skip
        self.put("verdicts.json", json_written({"format": 1, "files": verdicts}) + "\n")
        self.put("README.txt", _readme(found))
        self.put(f"{CONFIDENTIAL}/report.txt", study_text(found) + "\n")
        self.put(f"{CONFIDENTIAL}/report.html", html_document(report(found)))
        table = io.StringIO()
        writer = csv.writer(table, lineterminator="\n")
        writer.writerow([*HEADS, "margin_95", "margin_95_of_all"])
        for row, one in zip(rows(found.designs, found.question), found.margins, strict=True):
            writer.writerow([*row, one.margin or "", one.margin_of_all or ""])
        self.put(f"{CONFIDENTIAL}/designs.csv", table.getvalue())


def _check(question: Question, sizes: Mapping[str, int], cells: int) -> None:
    """Raise for a table of counts that cannot be studied."""
    if cells > MOST_CELLS:
        rule = f"make a table of {cells:,} cells, and at most {MOST_CELLS:,} are studied"
        raise errors.NotEnumerableError("columns", rule, "name fewer columns, or group categories with --codebook")
    single = [name for name in (*question.exchange, *question.held) if sizes[name] < 2]
    if single:
        rule = "has one category alone, so that no exchange changes a number"
        raise ParameterError("column", rule, "name another one", value=single[0])


def _readme(found: Study) -> str:
    """What is in the folder, and what of it may be published."""
    lines = [
        "A study of designs, made by dpspec study.",
        "",
        f"{CONFIDENTIAL}/     NOT FOR PUBLICATION: computed from the confidential table, and covered by no guarantee.",
        "    report.html, report.txt   the recommendation, and what was compared",
        "    designs.csv               the designs, their risks, errors and margins",
        "    errors-by-cell.csv        the expected error of every cell",
        "    frontier.svg, .json       risk against error",
        f"{SPECIFICATIONS}/   the designs, one file each",
        "verdicts.json     what was found of each promise",
        "label.html        a page for the people in the data, of the recommended design",
        f"{DRAFT}.dpspec.toml  the draft of the space",
        "",
        "Before a specification is published: replace categories that were read off the table (dpspec lint names them). The rate",
        "of the swap was solved for the sizes of the strata of this table, which a swap publishes exactly. Which design is best",
        "was found on the confidential table.",
    ]
    return "\n".join([*lines, *(f"warning: {warning}" for warning in found.warnings), ""])


# --- the answer -----------------------------------------------------------------------------------


def study_data(found: Study, question: str | None) -> dict[str, Any]:
    """What ``--format json`` prints."""
    asked = found.question
    return {
        "table": {"name": found.table[0], "records": found.table[1]},
        "question": {
            "path": question, "columns": list(asked.columns), "exchange": list(asked.exchange), "match": list(asked.match),
            "risk": str(asked.risk), "level": str(asked.level), "metric": asked.metric, "unit": asked.unit,
        },
        "cells": found.cells,
        "recommended": None if found.best is None else found.best.name,
        "recommendation": list(found.recommendation),
        "designs": [design_data(one, margin, asked) for one, margin in zip(found.designs, found.margins, strict=True)],
        "determined_by_the_swap": (
            None if found.determined is None else dict(zip(("records", "undecided", "of"), found.determined, strict=True))
        ),
        "warnings": list(found.warnings),
        "steps": [{"step": step, "command": command} for step, command in found.steps],
        "folder": found.folder,
    }  # fmt: skip


def design_data(one: StudiedDesign, margin: Margins, asked: Question) -> dict[str, Any]:
    """A design as data; both ends of its risk are rounded outward."""
    error, risk = one.point.error, one.point.risks[WORST]
    value = risk.value
    bounds = [] if value is None else [outer_end(value.lower, -1), outer_end(value.upper, 1)]
    return {
        "name": one.name,
        "parameter": one.proposal.varied or None,
        "value": None if one.value is None else str(one.value),
        "outcome": one.report.word.word,
        "verdict": one.verdict,
        "risk": None if value is None else {"sense": risk.sense, "bounds": bounds},
        "error": {"kind": error.kind, "value": error.value, "runs": error.runs, "cells_left_out": error.left_out},
        "margin_95": margin.margin,
        "recommendable": not one.why_not(asked.risk),
        "why_not": one.why_not(asked.risk) or None,
    }  # fmt: skip


def study_text(found: Study) -> str:
    """What the command prints, and the text of the report: the first five lines are the recommendation."""
    lines = [*found.recommendation, ""]
    heads = ("design", "parameter", "verdict", "risk, worst case", f"error ({found.question.metric})")
    table = [heads, *((row[0], row[1], row[3], row[4], row[6]) for row in rows(found.designs, found.question))]
    widths = [max(len(row[place]) for row in table) for place in range(len(heads))]
    lines += ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in table]
    lines += ["", *(f"warning: {warning}" for warning in found.warnings)]
    lines += [
        f"{outcome_summary([one.report.word for one in found.designs])}",
        f"wrote {found.folder}: the report is {found.folder}/{CONFIDENTIAL}/report.html",
        "The numbers are computed from the confidential table: they are for the office, not for publication.",
    ]
    return "\n".join(lines)
