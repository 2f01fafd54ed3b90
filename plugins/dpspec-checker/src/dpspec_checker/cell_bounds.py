"""Ranges of cells that published tables leave open: certificates of `dpspec rules audit`, recomputed in whole numbers.

A certificate lists statements l <= a x <= h about cells x >= 0 that are whole numbers, and claims about sums t x of cells. A
claim has for each end a tree that shows that nothing lies beyond it, and a table that attains it. Both are recomputed here; the
solver that found them is not needed. That the statements are what the tables publish must be compared by the owner of the tables:
their labels name file and cell.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import attrs

from dpspec_checker.errors import DerivationFileError, DerivationTooLongError, DerivationVersionError
from dpspec_checker.json_files import read_json

VERSION = 1
MOST_NODES = 100_000
"""Trees with more nodes than this are refused."""

Terms = dict[int, int]
Row = tuple[Terms, int | None, int | None]


class WrongStep(Exception):
    """The reason why a claim does not follow."""


@attrs.frozen(kw_only=True)
class CheckedClaim:
    """The result of the checker for one claim: whether it follows, and otherwise why not."""

    label: str
    accepted: bool
    reason: str


def check_file(path: str | Path) -> tuple[CheckedClaim, ...]:
    """Check a certificate file.

    Raises:
        DerivationFileError, DerivationVersionError, DerivationTooLongError: no certificate that can be read.
    """
    data = read_json(path)
    if not isinstance(data, dict) or data.get("certificate") != "cell-bounds":
        advice = "give what `dpspec rules audit --certificate FILE` wrote"
        raise DerivationFileError("file", "is no certificate of cell bounds", advice)
    if data.get("version") != VERSION or isinstance(data.get("version"), bool):
        raise DerivationVersionError("version", f"this checker reads version {VERSION}", value=data.get("version"))
    found: list[CheckedClaim] = []
    for place, system in enumerate(_list(data.get("systems"), "systems"), start=1):
        try:
            checked = _System(_table(system, f"system {place}"))
            found += checked.claims()
        except (KeyError, TypeError, ValueError, RecursionError, ZeroDivisionError) as problem:
            if isinstance(problem, DerivationFileError | DerivationTooLongError):
                raise
            raise DerivationFileError(f"system {place}", "does not have the shape of a certificate") from None
    if not found:
        raise DerivationFileError("file", "holds no claim")
    return tuple(found)


class _System:
    """The statements of a certificate, and the claims about them."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.data = data
        self.cells = _whole(data["cells"])
        listed = _list(data["statements"], "statements")
        self.allowed = [(self._terms(one["terms"]), _intervals(one["allowed"])) for one in listed]
        self.nodes = 0

    def claims(self) -> list[CheckedClaim]:
        if self.data.get("contradiction") is not None:
            return [self._checked("no table fits", lambda: self._tree(self.data["contradiction"], {}, [], None))]
        claims = _list(self.data["claims"], "claims")
        return [self._checked(str(claim["label"]), lambda claim=claim: self._claim(claim)) for claim in claims]

    def _checked(self, label: str, check: Any) -> CheckedClaim:
        try:
            check()
        except WrongStep as problem:
            return CheckedClaim(label=label, accepted=False, reason=str(problem))
        return CheckedClaim(label=label, accepted=True, reason="follows from the statements")

    def _claim(self, claim: Mapping[str, Any]) -> None:
        terms = self._terms(claim["terms"])
        negative = {cell: -factor for cell, factor in terms.items()}
        low, high = _whole(claim["low"]), None if claim["high"] is None else _whole(claim["high"])
        self._end(claim["least"], negative, -low, claim["exact"] is True)
        self._end(claim["most"], terms, high, claim["exact"] is True)
        if claim.get("recomputed") is not None:
            self._recomputed(claim["recomputed"], terms, low, high)

    def _end(self, end: Mapping[str, Any], terms: Terms, bound: int | None, exact: bool) -> None:
        table = [_whole(number) for number in _list(end["table"], "table")]
        if len(table) != self.cells or any(number < 0 for number in table):
            raise WrongStep("a table has another number of cells, or negative ones")
        values = [_sum(one, table) for one, _ in self.allowed]
        if not all(_holds(value, allowed) for value, (_, allowed) in zip(values, self.allowed, strict=True)):
            raise WrongStep("a table does not fit the statements")
        if bound is not None:
            self._tree(end["proof"], terms, [], bound)
            if exact and _sum(terms, table) != bound:
                raise WrongStep("an end is called exact, and its table does not attain it")
        elif exact:
            self._grows([_whole(step) for step in _list(end["direction"], "direction")], values, terms)

    def _grows(self, ray: list[int], values: list[int], terms: Terms) -> None:
        """The table and any number of times the direction fit, and the sum grows with them."""
        if len(ray) != self.cells or any(step < 0 for step in ray) or _sum(terms, ray) <= 0:
            raise WrongStep("a direction does not make the sum grow")
        for (one, allowed), value in zip(self.allowed, values, strict=True):
            moved = _sum(one, ray)
            if moved < 0 or (moved > 0 and not (allowed[-1][1] is None and value >= allowed[-1][0])):
                raise WrongStep("a direction leaves the statements")

    def _recomputed(self, factors: Any, terms: Terms, low: int, high: int | None) -> None:
        """The sum is that of statements which are exact, each with its factor."""
        left: dict[int, Fraction] = {cell: Fraction(factor) for cell, factor in terms.items()}
        value = Fraction(0)
        for place, text in _list(factors, "recomputed"):
            one, allowed = self.allowed[_index(place, len(self.allowed))]
            factor = _fraction(text)
            if allowed[0][0] != allowed[-1][1]:
                raise WrongStep("a sum that recomputes is not exact")
            value += factor * allowed[0][0]
            for cell, one_factor in one.items():
                left[cell] = left.get(cell, Fraction(0)) - factor * one_factor
        if any(left.values()) or not (value == low == high):
            raise WrongStep("the sums named do not recompute the cell")

    # --- trees ------------------------------------------------------------------------------------

    def _tree(self, node: Any, terms: Terms, splits: list[Row], bound: int | None) -> None:
        """No table of a node has more than `bound`; with no bound, there is no table."""
        pending = [(node, splits)]
        while pending:
            node, above = pending.pop()
            self.nodes += 1
            if self.nodes > MOST_NODES:
                raise DerivationTooLongError("certificate", f"has more than {MOST_NODES:,} nodes")
            if "split" in node:
                form, below, start = self._terms(node["split"]), _whole(node["below"]), _whole(node["above"])
                if not self._loses_nothing(form, below, start):
                    raise WrongStep("a split loses numbers that are allowed")
                pending += [(node["left"], [*above, (form, None, below)]), (node["right"], [*above, (form, start, None)])]
            else:
                empty = node["empty"] is True
                found = self._leaf(node["multipliers"], {} if empty else terms, above)
                if empty and not found < 0:
                    raise WrongStep("a leaf that is called empty is not")
                if not empty and (bound is None or found >= bound + 1):
                    raise WrongStep("a leaf does not bound the sum")

    def _loses_nothing(self, form: Terms, below: int, start: int) -> bool:
        return start <= below + 1 or any(
            one == form and all((end is not None and end <= below) or low >= start for low, end in allowed)
            for one, allowed in self.allowed
        )

    def _leaf(self, multipliers: Any, terms: Terms, splits: list[Row]) -> Fraction:
        """sum_r y_r (h_r where y_r > 0, else l_r), which is at least t x in every table of whole numbers at least 0."""
        left: dict[int, Fraction] = {cell: Fraction(factor) for cell, factor in terms.items()}
        total = Fraction(0)
        for place, text in _list(multipliers, "multipliers"):
            number = _index(place, len(self.allowed) + len(splits))
            if number < len(self.allowed):
                one, allowed = self.allowed[number]
                row: Row = (one, allowed[0][0], allowed[-1][1])
            else:
                row = splits[number - len(self.allowed)]
            factor = _fraction(text)
            end = row[2] if factor > 0 else row[1]
            if end is None:
                raise WrongStep("a multiplier uses an end that a statement does not have")
            total += factor * end
            for cell, value in row[0].items():
                left[cell] = left.get(cell, Fraction(0)) - factor * value
        if any(value > 0 for value in left.values()):
            raise WrongStep("the multipliers of a leaf do not cover every cell")
        return total

    # --- reading ----------------------------------------------------------------------------------

    def _terms(self, data: Any) -> Terms:
        found: Terms = {}
        for cell, factor in _list(data, "terms"):
            place = _index(cell, self.cells)
            if place in found:
                raise DerivationFileError("terms", "name a cell twice")
            found[place] = _whole(factor)
        return found


def _intervals(data: Any) -> list[tuple[int, int | None]]:
    found = [(_whole(low), None if high is None else _whole(high)) for low, high in _list(data, "allowed")]
    ends = [high for _, high in found[:-1]]
    apart = all(end is not None and end < low for end, (low, _) in zip(ends, found[1:], strict=True))
    if not found or not apart or any(high is not None and high < low for low, high in found):
        raise DerivationFileError("allowed", "must be intervals in ascending order")
    return found


def _holds(value: int, allowed: list[tuple[int, int | None]]) -> bool:
    return any(low <= value and (high is None or value <= high) for low, high in allowed)


def _sum(terms: Terms, table: Sequence[int]) -> int:
    return sum(factor * table[cell] for cell, factor in terms.items())


def _list(data: Any, subject: str) -> list[Any]:
    if not isinstance(data, list):
        raise DerivationFileError(subject, "must be a list")
    return data


def _table(data: Any, subject: str) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise DerivationFileError(subject, "must be a table")
    return data


def _whole(data: Any) -> int:
    if not isinstance(data, int) or isinstance(data, bool):
        raise DerivationFileError("number", "must be whole")
    return data


def _fraction(data: Any) -> Fraction:
    if not isinstance(data, str) or not re.fullmatch(r"-?[0-9]{1,400}(/[1-9][0-9]{0,400})?", data):
        raise DerivationFileError("multiplier", "must be a fraction in a text")
    return Fraction(data)


def _index(data: Any, size: int) -> int:
    place = _whole(data)
    if not 0 <= place < size:
        raise DerivationFileError("index", "names nothing in the certificate")
    return place
