"""Reads tables of numbers to publish from CSV files of whole numbers, and reports faults line by line.

No value of a table is in any message.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator

from dpspec.plugin import errors

MOST_BYTES = 200_000_000
"""The largest table that is read."""
_FAULTS_SHOWN = 5
_NUMBER = re.compile(r"\+?([0-9]+)(?:\.0*)?")
_DECIMAL = re.compile(r"\+?[0-9]*\.[0-9]+(?:[eE][+-]?[0-9]+)?")
_LONGEST = 18
ADVICE = "write a whole number, or a marker of suppression that [tables] names"


def opened(content: bytes) -> tuple[list[str], Iterator[tuple[int, list[str]]]]:
    """The header, and the rows with their lines; one byte order mark of UTF-8 in front is no part of the header."""
    if len(content) > MOST_BYTES:
        raise errors.TableError("table", f"is larger than {MOST_BYTES:,} bytes", "publish it in parts")
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise errors.TableError("table", "begins with the byte order mark of UTF-16", "save it as UTF-8")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        fault = errors.TableError("text", "is not UTF-8", "save it as UTF-8")
        raise at_line(content.count(b"\n", 0, problem.start) + 1, fault) from None
    if "\0" in text:
        raise at_line(text.count("\n", 0, text.index("\0")) + 1, errors.TableError("text", "holds a zero byte", "save it as CSV"))
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    header = [name.strip() for name in next(reader, [])]
    if not any(header):
        raise at_line(1, errors.TableError("header", "is missing", "name the columns in the first line"))
    if any(not name for name in header[1:]):
        raise at_line(1, errors.TableError("header", "has a column without a name", "name every column"))
    twice = next((name for place, name in enumerate(header) if name in header[:place]), None)
    if twice is not None:
        raise at_line(1, errors.TableError("header", "names a column twice", "name every column once", value=twice))
    if "\ufeff" in "".join(header):
        advice = "leave one at the beginning of the file, or none"
        raise at_line(1, errors.TableError("header", "holds a byte order mark", advice))
    return header, ((reader.line_num, row) for row in reader)


def at_line(line: int, fault: errors.TableError) -> errors.TableError:
    fault.line = line
    return fault


def whole_number(written: str) -> int | str:
    """A whole number, or the fault of the text; the fault does not contain the value."""
    found = _NUMBER.fullmatch(written)
    if found is not None:
        return int(found[1]) if len(found[1]) <= _LONGEST else f"has more than {_LONGEST} digits"
    if not written:
        return "is empty"
    if written.startswith("-") and (_NUMBER.fullmatch(written[1:]) or _DECIMAL.fullmatch(written[1:])):
        return "is negative"
    return "is no whole number" if _DECIMAL.fullmatch(written) else "is no number"


class TableFaults:
    """The faults of one table: the first ones, and the number of all."""

    def __init__(self, path: str) -> None:
        self.path, self.number, self.first = path, 0, list[errors.DpspecError]()

    def add(self, fault: errors.DpspecError, line: int | None) -> None:
        self.number += 1
        fault.file, fault.line = self.path, line
        if len(self.first) < _FAULTS_SHOWN:
            self.first.append(fault)

    def at(self, line: int) -> Callable[[errors.TableError], None]:
        """Takes the faults of one line."""
        return lambda fault: self.add(fault, line)

    def shown(self) -> list[errors.DpspecError]:
        if self.number > len(self.first):
            rule = f"has {self.number - len(self.first):,} more faults"
            more = errors.TableError("table", rule, "correct the first, and see the others")
            more.file = self.path
            return [*self.first, more]
        return self.first
