"""Audit of published tables: what their numbers say together of each suppressed cell.

A suppressed cell is *recomputed* where only one number fits, *open* where several do. The range is that of `FeasibleSet`: over
all tables of whole numbers that fit what all tables publish, margins, linked tables, hierarchies, rounding and earlier releases
included. Two ways to recompute a cell are named by the published cells they use:

    by subtraction   the cell is a sum of published cells, each with a factor
    by bounds        one sum of published cells is at least, another at most the cell, since no cell is below 0

Of a cell that the rules call sensitive more is required: by how much more, and less, it must possibly hold
(`RuleFile.missing`; Fischetti and Salazar 2000). No number of a table, published or not, is in a message or in the result as text
or data. The certificate has them: it is as confidential as the suppressed cells that can be recomputed.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import attrs

from dpspec.plugin import errors
from dpspec.plugin.applications import JsonData, Word, count, raise_all
from dpspec_disclosure.feasible_tables import FeasibleSet, Largest, Leaf, Multipliers, Node, NoTableFits, Range, Split, Terms
from dpspec_disclosure.linked_tables import Later, Population, TableCell, cell_name, populations, read_cells, separate_measures
from dpspec_disclosure.published_attackers import PublishedAttack, attack_published
from dpspec_disclosure.rules import RuleFile

MOST_SHOWN = 1000
MOST_TERMS_SHOWN = 12


class CellStatus(enum.StrEnum):
    """What was proved of the value of a suppressed cell."""

    RECOMPUTED = "recomputed"
    OPEN = "open"
    UNDECIDED = "undecided"


@attrs.frozen(kw_only=True)
class AuditedCell:
    """The possible range of a suppressed cell.

    Args:
        cell: the cell.
        range: its range.
        recomputed: the published cells that sum to it, each with its factor; None for none.
        bounds: where it is recomputed by bounds, the published cells of the lower and of the upper one.
        protected: whether it can be as much more, and less, as is required of it; None where nothing is, or it was not decided.
        required: whether more is required than that it is not known.
    """

    cell: TableCell
    range: Range
    recomputed: tuple[tuple[str, Fraction], ...] | None = None
    bounds: tuple[tuple[str, ...], tuple[str, ...]] | None = None
    protected: bool | None = None
    required: bool = False

    @property
    def status(self) -> CellStatus:
        """What was proved of its value."""
        if self.range.is_known:
            return CellStatus.RECOMPUTED
        possible = -self.range.least.value != self.range.most.value
        return CellStatus.OPEN if possible or self.range.most.direction is not None else CellStatus.UNDECIDED

    @property
    def is_undecided(self) -> bool:
        """Whether it was neither proved nor refuted that it is open, or protected as is required."""
        return self.status is CellStatus.UNDECIDED or (self.required and self.protected is None)

    @property
    def width(self) -> int | None:
        """How many values are left, at most; None for no limit."""
        return None if self.range.high is None else self.range.high - self.range.low + 1


@attrs.frozen(kw_only=True)
class AuditedPopulation:
    """The suppressed cells of one measure.

    Args:
        measure: what is added up; empty where it has no name.
        population: its cells and statements.
        cells: what is known of each suppressed cell.
        contradiction: why no table fits, and the published cells of which that is true; None where one fits.
    """

    measure: str
    population: Population
    cells: tuple[AuditedCell, ...]
    contradiction: tuple[Node, tuple[str, ...]] | None = None


@attrs.frozen(kw_only=True)
class AuditedTables:
    """Tables that were audited together.

    Args:
        rules: how they are read.
        releases: the folders, in the order of time.
        tables: the number of tables.
        populations: what was found.
        attacks: the results of attackers on a secret, for each measure; empty without a secret.
    """

    rules: RuleFile
    releases: tuple[str, ...]
    tables: int
    populations: tuple[AuditedPopulation, ...]
    attacks: tuple[PublishedAttack, ...] = ()

    @property
    def cells(self) -> tuple[AuditedCell, ...]:
        return tuple(cell for one in self.populations for cell in one.cells)

    @property
    def word(self) -> Word:
        """Refuted where a cell is recomputed or falls short of what is required."""
        if any(cell.status is CellStatus.RECOMPUTED or cell.protected is False for cell in self.cells):
            return Word.REFUTED
        if any(one.certain for one in self.attacks):
            return Word.REFUTED
        if any(one.contradiction is not None for one in self.populations):
            return Word.UNDECIDED
        if any(cell.is_undecided for cell in self.cells):
            return Word.UNDECIDED
        if any(one.undecided for one in self.attacks):
            return Word.UNDECIDED
        return Word.HOLDS if self.cells or self.attacks else Word.UNCHECKED


@attrs.frozen(kw_only=True)
class AttackQuestion:
    """The secret and the knowledge of an attack on one person.

    Args:
        secret: the attribute.
        known: the attributes whose codes they know of the target.
        records: a file of the records, for the attacker who knows all but one; None for none.
    """

    secret: str
    known: tuple[str, ...] = ()
    records: Path | None = None


def audit_tables(
    folders: Sequence[Path], rules: RuleFile, later: str = "same", question: AttackQuestion | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> AuditedTables:  # fmt: skip
    """What the tables of some folders say together of their suppressed cells.

    Args:
        folders: one release each, the first one first; every *.csv in them, and in the folders inside, is a table of the
            population.
        rules: how tables are written, and what the rules leave open for a number.
        later: how the population of a release follows from the one before: same, grows, any, or changes=N.
        question: what attackers want to learn of one person; of one release.
        progress: called with (cells done, cells in all).

    Raises:
        errors.TableError: a folder or table that cannot be read; the faults of all together.
        errors.NotEnumerableError: there are too many combinations of codes.
    """
    relation = Later(later)
    releases: list[list[TableCell]] = []
    faults: list[errors.DpspecError] = []
    tables = 0
    for folder in folders:
        paths = [folder] if folder.is_file() else sorted(path for path in folder.rglob("*") if path.suffix.lower() == ".csv")
        if not paths:
            rule = "holds no *.csv, so nothing can be audited" if folder.is_dir() else "is no directory and no table"
            faults.append(errors.TableError("folder", rule, "name the folder of the tables", value=str(folder)))
        cells: list[TableCell] = []
        for path in paths:
            tables += 1
            try:
                cells += read_cells(path, rules)
            except errors.Faults as several:
                faults += several.faults
            except errors.DpspecError as fault:
                faults.append(fault)
        releases.append(cells)
    raise_all(faults)
    if question is not None and len(folders) > 1:
        raise errors.ParameterError("secret", "is about one release", "audit one folder at a time")
    found = tuple(audit_populations(releases, rules, relation, progress=progress))
    attacks = [
        attack_published(one.population, question.secret, question.known, question.records)
        for one in found
        if question is not None and one.contradiction is None
    ]
    return AuditedTables(
        rules=rules, releases=tuple(str(folder) for folder in folders), tables=tables, populations=found, attacks=tuple(attacks)
    )  # fmt: skip


Need = Callable[[TableCell], tuple[int, int] | None]
"""How much more and less a suppressed cell must possibly hold than which number: (number, amount)."""


def audit_populations(
    releases: Sequence[Sequence[TableCell]], rules: RuleFile, later: Later, need: Need = lambda _: None,
    progress: Callable[[int, int], None] | None = None,
) -> Iterator[AuditedPopulation]:  # fmt: skip
    """The suppressed cells of each measure; `need` says what is required of one."""
    found = list(populations(releases, rules, later))
    number = sum(cell.suppressed for one in found for cell, _ in one.cells)
    done = 0
    for one in found:
        cells: list[AuditedCell] = []
        try:
            one.feasible.table()
            for cell, terms in one.cells:
                if cell.suppressed:
                    cells.append(_audited(one.feasible, cell, terms, need(cell)))
                    done += 1
                    if progress is not None:
                        progress(done, number)
        except NoTableFits as problem:
            yield AuditedPopulation(
                measure=one.measure, population=one, cells=(), contradiction=(problem.proof, _named(one.feasible, problem.proof))
            )
        else:
            yield AuditedPopulation(measure=one.measure, population=one, cells=tuple(cells))


def _audited(feasible: FeasibleSet, cell: TableCell, terms: Terms, need: tuple[int, int] | None) -> AuditedCell:
    found = feasible.range_of(terms)
    recomputed = bounds = None
    if found.is_known:
        factors = feasible.recomputed(terms)
        if factors is not None:
            recomputed = tuple((feasible.statements[place].label, factor) for place, factor in factors)
        elif found.least.proof is not None and found.most.proof is not None:
            bounds = _named(feasible, found.least.proof), _named(feasible, found.most.proof)
    return AuditedCell(
        cell=cell, range=found, recomputed=recomputed, bounds=bounds,
        protected=_is_protected(found, need), required=need is not None,
    )  # fmt: skip


def _is_protected(found: Range, need: tuple[int, int] | None) -> bool | None:
    """Whether the range reaches as far as is required in both directions; None where that was not decided."""
    if need is None:
        return None
    total, amount = need
    least, most = max(0, total - amount), total + amount
    if found.low > least or (found.high is not None and found.high < most):
        return False
    up = found.most.direction is not None or found.most.value >= most
    return True if up and -found.least.value <= least else None


def _named(feasible: FeasibleSet, node: Node) -> tuple[str, ...]:
    """The published cells that a proof uses."""
    places = named_places(node, len(feasible.statements))
    return tuple(dict.fromkeys(feasible.statements[place].label for place in places))


def named_places(node: Node, statements: int) -> tuple[int, ...]:
    """The places of the statements that a proof uses, of so many in all."""
    used: dict[int, None] = {}
    pending = [node]
    while pending:
        one = pending.pop()
        if isinstance(one, Split):
            pending += [one.left, one.right]
        else:
            used |= dict.fromkeys(place for place, _ in one.multipliers if place < statements)
    return tuple(used)


# --- the certificate ------------------------------------------------------------------------------


def certificate(found: AuditedTables) -> dict[str, Any]:
    """What a checker needs to recompute every range: the statements, and for each claim its trees and tables.

    It holds the numbers of the tables, and so of cells that can be recomputed.
    """
    return {"certificate": "cell-bounds", "version": 1, "systems": [_system(one) for one in found.populations]}


def _system(one: AuditedPopulation) -> dict[str, Any]:
    feasible = one.population.feasible
    terms = {id(cell): sums for cell, sums in one.population.cells}
    data: dict[str, Any] = {
        "measure": one.measure,
        "cells": feasible.cells,
        "statements": [
            {"label": each.label, "terms": [list(term) for term in each.terms], "allowed": [list(part) for part in each.allowed]}
            for each in feasible.statements
        ],
        "claims": [_claim(cell, feasible, terms[id(cell.cell)]) for cell in one.cells],
    }
    if one.contradiction is not None:
        data["contradiction"] = _node(one.contradiction[0])
    return data


def _claim(cell: AuditedCell, feasible: FeasibleSet, terms: Terms) -> dict[str, Any]:
    found = cell.range
    factors = feasible.recomputed(terms) if cell.recomputed is not None else None
    return {
        "label": cell.cell.label, "terms": [list(term) for term in terms], "low": found.low, "high": found.high,
        "exact": found.is_exact, "least": _end(found.least), "most": _end(found.most), "recomputed": _factors(factors),
    }  # fmt: skip


def _end(end: Largest) -> dict[str, Any]:
    proof = Leaf(()) if end.proof is None else end.proof
    direction = None if end.direction is None else list(end.direction)
    return {"proof": _node(proof), "table": list(end.attained), "direction": direction}


def _factors(factors: Multipliers | None) -> list[list[Any]] | None:
    return None if factors is None else [[place, str(factor)] for place, factor in factors]


def _node(node: Node) -> dict[str, Any]:
    if isinstance(node, Leaf):
        return {"empty": node.empty, "multipliers": _factors(node.multipliers)}
    left, right = _node(node.left), _node(node.right)
    return {"split": [list(term) for term in node.terms], "below": node.below, "above": node.above, "left": left, "right": right}


# --- output ---------------------------------------------------------------------------------------


def audit_data(found: AuditedTables) -> JsonData:
    """An audit, as data; without any number of a table."""
    return {
        "rules": found.rules.id,
        "outcome": found.word.word,
        "releases": list(found.releases),
        "tables": found.tables,
        "suppressed": len(found.cells),
        "recomputed": sum(cell.status is CellStatus.RECOMPUTED for cell in found.cells),
        "contradictions": [
            {"measure": one.measure, "cells": list(one.contradiction[1])}
            for one in found.populations
            if one.contradiction is not None
        ],
        "cells": [_cell_data(cell) for cell in found.cells[:MOST_SHOWN]],
        "attacks": [_attack_data(one) for one in found.attacks],
    }


def _attack_data(one: PublishedAttack) -> JsonData:
    rest = one.all_but_one
    return {
        "secret": one.secret,
        "known": list(one.known),
        "targets": len(one.targets),
        "certain": [dict(target.known) for target in one.targets if target.certain],
        "undecided": one.undecided,
        "baseline_percent": _percent(one.baseline),
        "largest_gain_percent": _percent(one.gain),
        "all_but_one": None
        if rest is None
        else {"determined": rest.determined, "records": rest.records, "mean_belief_percent": _percent(rest.belief)},
    }


def _percent(share: Fraction) -> int:
    """In whole percent, downwards: a share in full would be a cell of the table."""
    return int(100 * share)


def _cell_data(cell: AuditedCell) -> JsonData:
    return {
        "path": cell.cell.path, "line": cell.cell.line, "column": cell.cell.column, "cell": dict(cell.cell.codes),
        "outcome": cell.status, "possible_values": cell.width, "protected": cell.protected,
        "sums": None if cell.recomputed is None else [{"cell": name, "factor": str(factor)} for name, factor in cell.recomputed],
        "bounds": None if cell.bounds is None else {"at_least": list(cell.bounds[0]), "at_most": list(cell.bounds[1])},
    }  # fmt: skip


def audit_text(found: AuditedTables) -> str:
    """The same for people: the answer first."""
    cells = found.cells
    known = [cell for cell in cells if cell.status is CellStatus.RECOMPUTED]
    short = [cell for cell in cells if cell.protected is False and cell.status is not CellStatus.RECOMPUTED]
    undecided = sum(cell.is_undecided for cell in cells)
    lines = [f"{found.word.label}: {len(known):,} of {count(len(cells), 'suppressed cell')} can be recomputed"]
    lines.append(f"  from {count(found.tables, 'table')} in {count(len(found.releases), 'release')}, read by {found.rules.id}")
    contradictions = [one.contradiction[1] for one in found.populations if one.contradiction is not None]
    lines += [f"no table has these numbers: {_joined(labels)}" for labels in contradictions]
    for cell in known[:MOST_SHOWN]:
        lines += cell_lines(cell)
    for cell in short[:MOST_SHOWN]:
        lines.append(f"{cell.cell.path}:{cell.cell.line}: {cell.cell.label} is not protected as the rules require")
    if undecided:
        lines.append(f"undecided: {count(undecided, 'suppressed cell')}")
    widths = [cell.width for cell in cells if cell.status is CellStatus.OPEN and cell.width is not None]
    if widths:
        lines.append(f"of the others, the least protected has at most {min(widths):,} possible values")
    for one in found.attacks:
        lines += _attack_lines(one)
    if cells or found.attacks:
        lines.append("assumed: the listed categories are all there are, and all tables of a release count one population")
        lines += separate_measures(one.measure for one in found.populations)
    return "\n".join(lines)


def _attack_lines(one: PublishedAttack) -> Iterator[str]:
    known = ", ".join(one.known) or "nothing"
    yield f"{one.secret}, for an attacker who knows {known} of a person:"
    targets = count(len(one.targets), "combination") if one.known else count(len(one.targets), "group")
    yield f"  certain for {one.certain:,} of {targets} of known codes"
    yield from (f"    {cell_name(target.known)}" for target in one.targets[:MOST_SHOWN] if target.certain)
    gain = f"with them for up to {_percent(one.gain)} % more"
    yield f"  the best guess without them is right for at least {_percent(one.baseline)} %; {gain}"
    if one.undecided:
        yield f"  undecided for {one.undecided:,}"
    if one.all_but_one is not None:
        rest = one.all_but_one
        yield f"  who knows all other records in addition knows it of {rest.determined:,} of {count(rest.records, 'record')}"
        yield f"  and believes in the true one to {_percent(rest.belief)} % on average, from a uniform belief"


def cell_lines(cell: AuditedCell) -> Iterator[str]:
    """How a cell is recomputed."""
    yield f"{cell.cell.path}:{cell.cell.line}: column {cell.cell.column}: the suppressed cell can be recomputed"
    if cell.recomputed is not None:
        yield f"  = {_sum_text(cell.recomputed)}"
    elif cell.bounds is not None:
        low, high = cell.bounds
        yield f"  at least by {_joined(low)}" if low else "  at least by 0, since no cell is negative"
        yield f"  at most by {_joined(high)}"


def _sum_text(parts: Sequence[tuple[str, Fraction]]) -> str:
    shown = sorted(parts, key=lambda part: part[1] < 0)[:MOST_TERMS_SHOWN]
    words: list[str] = []
    for place, (label, factor) in enumerate(shown):
        sign = "- " if factor < 0 else "+ " if place else ""
        words.append(f"{sign}{'' if abs(factor) == 1 else f'{abs(factor)} x '}{label}")
    more = f" and {len(parts) - len(shown):,} more" if len(parts) > len(shown) else ""
    return " ".join(words) + more


def _joined(labels: Sequence[str]) -> str:
    more = f" and {len(labels) - MOST_TERMS_SHOWN:,} more" if len(labels) > MOST_TERMS_SHOWN else ""
    return "; ".join(labels[:MOST_TERMS_SHOWN]) + more
