"""The tables of a specification file that record what is published: claim, ledger, expectations, explanations, source."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from dpspec.blocks.budget import Budget
from dpspec.errors import DuplicateIdError, EmptyLedgerError, LedgerError, MissingKeyError, NegativePartError, WrongShapeError
from dpspec.exact import Number
from dpspec.params import Exact, Rational, Text
from dpspec.specfile.blocks import BlockReader
from dpspec.specfile.document import QUANTITIES, VERDICTS, Expectation, Explanation, Ledger, LedgerPart, RecordedClaim
from dpspec.specfile.maker import FAILED, Maker, misspelt, shape_of

_TOLERANCE = Rational(0)
_PRINTED = Exact()


class RecordReader:
    """Reads the recorded statements of a file."""

    def __init__(self, maker: Maker) -> None:
        self.maker, self.log = maker, maker.log

    def text(self, table: Mapping[str, Any], key: str, path: str, *, required: bool = True, choices: tuple[str, ...] = ()) -> str:
        """A text of a table; "" with a fault in the log when it is none."""
        shown = f"{path}.{key}" if path else key
        if key not in table:
            if required and key not in misspelt(table, (key,)):
                self.log.add(MissingKeyError(shown, "is missing", "give a text"), path)
            return ""
        read = self.maker.value(Text(choices), table[key], shown)
        return "" if read is FAILED else str(read)

    def claim(self, data: Mapping[str, Any]) -> RecordedClaim | None:
        """The table [claim]."""
        if "claim" not in data:
            return None
        table = self.maker.table(data["claim"], "claim")
        if table is None:
            return None
        self.maker.known_keys(table, dict.fromkeys(("verdict", "because", "source")), "claim")
        return RecordedClaim(
            verdict=self.text(table, "verdict", "claim", choices=VERDICTS),
            because=self.text(table, "because", "claim"),
            source=self.text(table, "source", "claim", required=False) or None,
        )

    def source(self, data: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
        """The table [source]: texts and dates under any key."""
        if "source" not in data:
            return ()
        table = self.maker.table(data["source"], "source")
        pairs = []
        for key, value in (table or {}).items():
            if isinstance(value, (datetime.date, datetime.time)):
                pairs.append((key, value.isoformat()))
            elif isinstance(value, str):
                pairs.append((key, value))
            else:
                fault = WrongShapeError(f"source.{key}", f"must be a text, not a {shape_of(value)}", "quote it", value=value)
                self.log.add(fault, "source")
        return tuple(pairs)

    # -- ledger -----------------------------------------------------------------------------------

    def ledger(self, data: Mapping[str, Any], budget: Budget | None, blocks: BlockReader) -> Ledger | None:
        """The table [ledger], whose parts must add up to the budget exactly."""
        if "ledger" not in data:
            return None
        table = self.maker.table(data["ledger"], "ledger")
        if table is None:
            return None
        self.maker.known_keys(table, {"parts": None}, "ledger")
        before = self.log.found
        rows = blocks.rows(table, "parts", "ledger")
        if not rows and self.log.found == before:
            self.log.add(EmptyLedgerError("ledger.parts", "holds no part", 'write parts = [{ id = "...", <number> }]'), "ledger")
        total = None if budget is None else budget.uniform()
        if budget is None or total is None:
            if budget is not None:
                self.log.add(LedgerError("ledger", "needs a budget that is one number", "state it in [budget]"), "ledger")
            return None
        parts = [self._part(row, f"ledger.parts[{place}]", budget.parameter) for place, row in rows]
        self._check_distinct(rows)
        if self.log.found > before:
            return None
        ledger = Ledger(parameter=budget.parameter, parts=tuple(part for part in parts if part is not None))
        self._check_sum(ledger, total)
        return ledger

    def _part(self, row: Mapping[str, Any], path: str, parameter: str) -> LedgerPart | None:
        self.maker.known_keys(row, {"id": None, parameter: None}, path)
        identity = self.text(row, "id", path)
        if parameter not in row:
            self.log.add(MissingKeyError(f"{path}.{parameter}", "is missing", "give the share of this part"), path)
            return None
        amount = self.maker.value(_PRINTED, row[parameter], f"{path}.{parameter}")
        if amount is FAILED:
            return None
        if amount < 0:
            fault = NegativePartError(f"{path}.{parameter}", "is below 0", "a part spends 0 or more", value=row[parameter])
            self.log.add(fault, path)
            return None
        return LedgerPart(id=identity, amount=amount)

    def _check_distinct(self, rows: list[tuple[int, Mapping[str, Any]]]) -> None:
        seen: set[str] = set()
        for place, row in rows:
            identity = row.get("id")
            if isinstance(identity, str) and identity in seen:
                path = f"ledger.parts[{place}].id"
                self.log.add(DuplicateIdError(path, "names a part twice", "give each part its own id", value=identity), path)
            elif isinstance(identity, str):
                seen.add(identity)

    def _check_sum(self, ledger: Ledger, budget: Number) -> None:
        def add_up() -> None:
            total = sum((part.amount for part in ledger.parts[1:]), start=ledger.parts[0].amount)
            if total != budget:
                rule = f"the parts add up to {ledger.parameter} = {total.plain()}, the budget is {budget.plain()}"
                raise LedgerError("ledger", rule, "state the parts and the total as published, or no ledger")

        self.log.attempt("ledger", add_up)

    # -- expectations -----------------------------------------------------------------------------

    def expectations(self, data: Mapping[str, Any], blocks: BlockReader) -> tuple[Expectation, ...]:
        """The tables [[expect]]."""
        made = [self._expectation(row, f"expect[{place}]") for place, row in blocks.rows(data, "expect")]
        return tuple(expectation for expectation in made if expectation is not None)

    def _expectation(self, row: Mapping[str, Any], path: str) -> Expectation | None:
        before = self.log.found
        self.maker.known_keys(row, dict.fromkeys(("what", *QUANTITIES, "corrected", "tolerance", "because", "route")), path)
        what, because = self.text(row, "what", path), self.text(row, "because", path)
        named = [key for key in QUANTITIES if key in row]
        if len(named) != 1:
            rule = "names no printed number" if not named else f"names {len(named)} printed numbers"
            self.log.add(MissingKeyError(path, rule, f"write one of {', '.join(QUANTITIES)}"), path)
        printed = [self.maker.value(_PRINTED, row[key], f"{path}.{key}") for key in named]
        tolerance = self._required(row, "tolerance", path, "say how far off the printed number may be, 0 for not at all")
        if tolerance is not FAILED:
            tolerance = self.maker.value(_TOLERANCE, tolerance, f"{path}.tolerance")
        route = self._required(row, "route", path, 'name the formula: route = { type = "...", ... }')
        if route is not FAILED:
            route = self.maker.registered("routes", route, f"{path}.route")
        corrected = self.maker.value(_PRINTED, row["corrected"], f"{path}.corrected") if "corrected" in row else None
        if self.log.found > before:
            return None
        return Expectation(
            what=what, parameter=named[0], printed=printed[0], tolerance=Fraction(tolerance), because=because, route=route,
            corrected=corrected,
        )  # fmt: skip

    def _required(self, row: Mapping[str, Any], key: str, path: str, advice: str) -> Any:
        if key in row:
            return row[key]
        self.log.add(MissingKeyError(f"{path}.{key}", "is missing", advice), path)
        return FAILED

    # -- linter -----------------------------------------------------------------------------------

    def explanations(self, data: Mapping[str, Any], blocks: BlockReader) -> tuple[Explanation, ...]:
        """The tables [[explained]]."""
        found = []
        for place, row in blocks.rows(data, "explained"):
            path = f"explained[{place}]"
            self.maker.known_keys(row, dict.fromkeys(("finding", "because")), path)
            found.append(Explanation(finding=self.text(row, "finding", path), because=self.text(row, "because", path)))
        return tuple(found)
