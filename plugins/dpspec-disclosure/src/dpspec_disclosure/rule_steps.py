"""The steps of disclosure control, each with the set of values that it can publish for one cell.

F(c), the set of the values that a step can publish for a cell c, is a number or several, or nothing (`None`: the cell is
suppressed). Some steps read the contributions to the cell; others read the value, as changed by the steps before.
"""

from __future__ import annotations

import csv
import io
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Annotated, ClassVar

import attrs

from dpspec.plugin import Integer, Rational, Text, define, errors, exact, params
from dpspec.plugin.applications import decoded, read_bytes

CellOutcomes = frozenset[int | None]
"""The possible published values of a cell; None where it is suppressed."""

HANDBOOK = "Hundepool et al. 2012, Statistical Disclosure Control"


@attrs.frozen
class CellContents:
    """The contributions to one cell.

    Args:
        count: the number of contributions.
        total: X.
        largest: x_1 >= x_2 >= ..., as many as the steps look at.
    """

    count: int
    total: int
    largest: tuple[int, ...]

    @classmethod
    def of_count(cls, count: int, kept: int) -> CellContents:
        """A cell of a table of counts: so many contributions of 1."""
        return cls(count, count, (1,) * min(count, kept))


# --- the steps ------------------------------------------------------------------------------------


class RuleStep(ABC):
    """One step of a chain; made with `define` and written in a file under its `name`."""

    name: ClassVar[str]
    source: ClassVar[str]
    reads: ClassVar[str] = "value"
    """The input of a step: the published "value", the number of "contributors", or the "sizes" of contributions."""

    @abstractmethod
    def outcomes(self, cell: CellContents, value: int) -> CellOutcomes:
        """What can be published in place of a value that the steps before have made of the cell."""

    @property
    @abstractmethod
    def formula(self) -> str:
        """The step with its parameters, in one line."""

    def beside(self, folder: Path) -> RuleStep:
        """The step of a file in this folder, with the data that it names read."""
        return self

    def missing(self, cell: CellContents, values: Collection[int]) -> int | None:
        """How much more, and less, a cell that the step calls sensitive must possibly hold to be protected; None for others.

        Of the rules on contributions: by so much the total falls short of one that is not sensitive, and at least 1
        (Fischetti and Salazar 2000).

        Args:
            cell: the cell.
            values: what the steps before can have made of it.
        """
        return None

    @property
    def looks_at(self) -> int:
        """The number of the largest contributions that it reads."""
        return 0

    @property
    def onset(self) -> int:
        """In tables of counts, from this count and value on nothing is suppressed, and the outcomes repeat by `period`."""
        return 0

    @property
    def spread(self) -> int:
        """The largest difference of a published number from the value."""
        return 0

    @property
    def period(self) -> int:
        """From the onset on, adding this number to the value adds it to the outcomes."""
        return 1


@define
class ThresholdStep(RuleStep):
    """The minimum frequency rule: a cell of at least one and fewer than n contributions is suppressed.

    Args:
        least: n.
    """

    name: ClassVar[str] = "threshold"
    source: ClassVar[str] = f"{HANDBOOK}, chapter 4"
    reads: ClassVar[str] = "contributors"

    least: Annotated[int, Integer(1)]

    def outcomes(self, cell: CellContents, value: int) -> CellOutcomes:
        return _hidden_where(0 < cell.count < self.least, value)

    def missing(self, cell: CellContents, values: Collection[int]) -> int | None:
        return 1 if 0 < cell.count < self.least else None

    @property
    def formula(self) -> str:
        return f"suppressed where 0 < contributions < {self.least}"

    @property
    def onset(self) -> int:
        return self.least


@define
class DominanceStep(RuleStep):
    """The (n, k) rule: a cell is suppressed whose n largest contributions are more than k percent of its total.

    Args:
        contributions: n.
        percent: k, in (0, 100].
    """

    name: ClassVar[str] = "dominance"
    source: ClassVar[str] = f"{HANDBOOK}, chapter 4"
    reads: ClassVar[str] = "sizes"

    contributions: Annotated[int, Integer(1)]
    percent: Annotated[Fraction, Rational(0, 100, open_low=True)]

    def outcomes(self, cell: CellContents, value: int) -> CellOutcomes:
        return _hidden_where(100 * sum(cell.largest[: self.contributions]) > self.percent * cell.total, value)

    def missing(self, cell: CellContents, values: Collection[int]) -> int | None:
        gap = sum(cell.largest[: self.contributions]) * 100 / self.percent - cell.total
        return max(1, math.ceil(gap)) if gap > 0 else None

    @property
    def formula(self) -> str:
        terms = "x_1" if self.contributions == 1 else f"x_1 + ... + x_{self.contributions}"
        return f"suppressed where {terms} > {self.percent}/100 X"

    @property
    def looks_at(self) -> int:
        return self.contributions

    @property
    def onset(self) -> int:
        return math.ceil(100 * self.contributions / self.percent)


@define
class PPercentStep(RuleStep):
    """The p-percent rule: a cell is suppressed whose second largest contributor could estimate the largest to within p percent.

    The second subtracts its own contribution from the total, X - x_2, which is too large by what all others hold.

    Args:
        percent: p, above 0.
    """

    name: ClassVar[str] = "p-percent"
    source: ClassVar[str] = f"{HANDBOOK}, chapter 4"
    reads: ClassVar[str] = "sizes"

    percent: Annotated[Fraction, Rational(0, open_low=True)]

    def outcomes(self, cell: CellContents, value: int) -> CellOutcomes:
        first = cell.largest[0] if cell.count else 0
        return _hidden_where(100 * (cell.total - sum(cell.largest[:2])) < self.percent * first, value)

    def missing(self, cell: CellContents, values: Collection[int]) -> int | None:
        gap = self.percent / 100 * (cell.largest[0] if cell.count else 0) - (cell.total - sum(cell.largest[:2]))
        return max(1, math.ceil(gap)) if gap > 0 else None

    @property
    def formula(self) -> str:
        return f"suppressed where X - x_1 - x_2 < {self.percent}/100 x_1"

    @property
    def looks_at(self) -> int:
        return 2

    @property
    def onset(self) -> int:
        return 2 + math.ceil(self.percent / 100)


@define
class RedactionStep(RuleStep):
    """Small values are suppressed, those that the steps before have made included.

    Args:
        up_to: the largest value that is suppressed.
        least: the smallest one; with 1, none stays 0.
    """

    name: ClassVar[str] = "redaction"
    source: ClassVar[str] = "OpenSAFELY documentation, statistical disclosure control (2026)"

    up_to: Annotated[int, Integer(0)]
    least: Annotated[int, Integer(0)] = 0

    def __attrs_post_init__(self) -> None:
        if self.least > self.up_to:
            rule = "is above up_to, so that nothing is suppressed"
            raise errors.DisclosureRuleError("least", rule, "lower it", value=self.least)

    def outcomes(self, cell: CellContents, value: int) -> CellOutcomes:
        return _hidden_where(self.least <= value <= self.up_to, value)

    def missing(self, cell: CellContents, values: Collection[int]) -> int | None:
        return 1 if any(self.least <= value <= self.up_to for value in values) else None

    @property
    def formula(self) -> str:
        return f"suppressed where {self.least} <= value <= {self.up_to}"

    @property
    def onset(self) -> int:
        return self.up_to + 1


_ROUNDED: Mapping[str, tuple[str, Callable[[int, int], int]]] = {
    "nearest": ("b floor((2n + b) / (2b))", lambda n, b: (2 * n + b) // (2 * b) * b),
    "down": ("b floor(n / b)", lambda n, b: n // b * b),
    "up": ("b ceil(n / b)", lambda n, b: -(-n // b) * b),
    "midpoint": ("b ceil(n / b) - floor(b / 2), and 0 for 0", lambda n, b: -(-n // b) * b - b // 2 if n else 0),
}


@define
class RoundingStep(RuleStep):
    """Values go to a multiple of a base b: the nearest one and up where two are equally near, or as `to` says.

    Args:
        base: b.
        to: nearest, down, up; or midpoint, the middle of the b values that go up to the same multiple.
    """

    name: ClassVar[str] = "rounding"
    source: ClassVar[str] = "Willenborg and de Waal 2001, Elements of Statistical Disclosure Control"

    base: Annotated[int, Integer(1, 1000)]
    to: Annotated[str, Text(tuple(_ROUNDED))] = "nearest"

    def outcomes(self, cell: CellContents, value: int) -> CellOutcomes:
        return frozenset({_ROUNDED[self.to][1](value, self.base)})

    @property
    def formula(self) -> str:
        return f"n -> {_ROUNDED[self.to][0]}, b = {self.base}"

    @property
    def onset(self) -> int:
        return 1

    @property
    def spread(self) -> int:
        return self.base

    @property
    def period(self) -> int:
        return self.base


@define
class RandomRoundingStep(RuleStep):
    """Values are rounded at random to one of the two adjacent multiples of a base b; multiples stay.

    Args:
        base: b.
    """

    name: ClassVar[str] = "random-rounding"
    source: ClassVar[str] = RoundingStep.source

    base: Annotated[int, Integer(1, 1000)]

    def outcomes(self, cell: CellContents, value: int) -> CellOutcomes:
        return frozenset({value // self.base * self.base, -(-value // self.base) * self.base})

    @property
    def formula(self) -> str:
        return f"n -> b floor(n / b) or b ceil(n / b), b = {self.base}"

    @property
    def spread(self) -> int:
        return self.base

    @property
    def period(self) -> int:
        return self.base


@define
class PerturbationStep(RuleStep):
    """The cell-key method: a value changes by what its row of a perturbation table gives for the key of the cell.

    Every change of the row with a key, or a probability above 0, is possible; keys that cells share are ignored.

    Args:
        file: the perturbation table, a CSV file in the folder of the rule file: columns pcv, ckey, pvalue (count, key, change),
            or i, v, p (count, change, probability).
        cycle: counts beyond the last row go through the last so many rows again and again; 1 for the last row.
        changes: the possible changes for 0, 1, ..., as the file has them.
    """

    name: ClassVar[str] = "cell-key"
    source: ClassVar[str] = "Thompson, Broadfoot and Elazar 2013"

    file: Annotated[str, Text()]
    cycle: Annotated[int, Integer(1, 10_000)] = 1
    changes: tuple[frozenset[int], ...] = ()

    def beside(self, folder: Path) -> PerturbationStep:
        """The step with its table read."""
        if Path(self.file).name != self.file:
            raise errors.DisclosureRuleError("file", "must be the name of a file next to the rule file", value=self.file)
        changes = read_perturbations(folder / self.file)
        if self.cycle >= len(changes):
            raise errors.DisclosureRuleError("cycle", f"is more than the {len(changes) - 1} rows of the table", value=self.cycle)
        return params.evolve(self, changes=changes)

    def outcomes(self, cell: CellContents, value: int) -> CellOutcomes:
        last = len(self.changes) - 1
        row = value if value <= last else last - (last - value) % self.cycle
        return frozenset(value + change for change in self.changes[row])

    @property
    def formula(self) -> str:
        return f"n -> n + d, d of the row of n in {self.file} ({len(self.changes) - 1} counts, by at most {self.spread})"

    @property
    def onset(self) -> int:
        return max(1, len(self.changes) - self.cycle)

    @property
    def spread(self) -> int:
        return max(abs(change) for row in self.changes for change in row)

    @property
    def period(self) -> int:
        return self.cycle


def _hidden_where(sensitive: bool, value: int) -> CellOutcomes:
    return frozenset({None if sensitive else value})


STEPS: Mapping[str, type[RuleStep]] = {
    cls.name: cls
    for cls in (
        ThresholdStep, DominanceStep, PPercentStep, RedactionStep, RoundingStep, RandomRoundingStep, PerturbationStep,
    )
}  # fmt: skip
"""The steps by the names that files use."""

MOST_TABLE_BYTES = 20_000_000
_COLUMNS = (("pcv", "ckey", "pvalue"), ("i", "v", "p"))
_ROUNDED_AWAY = Fraction(1, 100)


def read_perturbations(path: Path) -> tuple[frozenset[int], ...]:
    """The possible changes of 0, 1, ... from a published perturbation table.

    Raises:
        errors.DisclosureRuleError: it is no such table, with the line.
        UnreadableFileError, NotAFileError: it cannot be read.
    """
    rows: dict[int, dict[int, Fraction]] = {}
    line = 1
    try:
        content = read_bytes(path, MOST_TABLE_BYTES)
        if len(content) > MOST_TABLE_BYTES:
            raise errors.DisclosureRuleError("perturbation table", f"is larger than {MOST_TABLE_BYTES:,} bytes")
        reader = csv.reader(io.StringIO(decoded(content), newline=""))
        header = [name.strip().strip('"').lower() for name in next(reader, [])]
        names = next((names for names in _COLUMNS if set(names) <= set(header)), None)
        if names is None or len(set(header)) != len(header):
            rule = "needs the columns pcv, ckey, pvalue or i, v, p, each once"
            raise errors.DisclosureRuleError("perturbation table", rule, value=", ".join(header))
        places = [header.index(name) for name in names]
        for entry in reader:
            line = reader.line_num
            if len(entry) != len(header):
                raise errors.DisclosureRuleError("row", f"has {len(entry)} fields instead of {len(header)}")
            _take(rows, names, [entry[place].strip() for place in places])
        line = 1
        return _checked(rows, names == _COLUMNS[0])
    except (errors.DpspecError, csv.Error) as problem:
        no_csv = errors.DisclosureRuleError("perturbation table", f"is no CSV ({problem})")
        fault = problem if isinstance(problem, errors.DpspecError) else no_csv
        fault.file, fault.line = str(path), fault.line or line
        raise fault from None


def _take(rows: dict[int, dict[int, Fraction]], names: Sequence[str], written: Sequence[str]) -> None:
    """One line of a perturbation table: by key the change, or by change the probability."""
    count, second = (_whole(text, name) for text, name in zip(written[:2], names, strict=False))
    third = Fraction(_whole(written[2], names[2])) if names[2] == "pvalue" else exact.rational(written[2], names[2])
    row = rows.setdefault(count, {})
    if second in row:
        raise errors.DisclosureRuleError(names[1], f"stands twice for the count {count}", value=second)
    if names[2] == "p" and not 0 <= third <= 1:
        raise errors.DisclosureRuleError("p", "must be a probability", value=str(third))
    row[second] = third


def _checked(rows: dict[int, dict[int, Fraction]], keyed: bool) -> tuple[frozenset[int], ...]:
    """The changes by count, the row of 0 added where there is none."""
    if not rows or min(rows) < 0 or max(rows) == 0 or set(range(1, max(rows) + 1)) - set(rows):
        raise errors.DisclosureRuleError("perturbation table", "needs a row for each of the counts 1, 2, ... up to its last")
    if keyed and len({frozenset(row) for row in rows.values()}) > 1:
        raise errors.DisclosureRuleError("perturbation table", "must have the same cell keys for every count")
    for count, row in rows.items():
        if not keyed and abs(sum(row.values(), Fraction(-1))) > _ROUNDED_AWAY:
            rule = "must have probabilities that sum to 1, but for what rounding takes"
            raise errors.DisclosureRuleError(f"count {count}", rule, value=str(float(sum(row.values()))))
    rows.setdefault(0, {0: Fraction(0 if keyed else 1)})
    found = [
        frozenset(int(d) for d in row.values()) if keyed else frozenset(d for d, p in row.items() if p)
        for _, row in sorted(rows.items())
    ]
    for count, changes in enumerate(found):
        if count + min(changes) < 0:
            raise errors.DisclosureRuleError(f"count {count}", "must not be published as a negative number", value=min(changes))
    return tuple(found)


def _whole(text: str, subject: str) -> int:
    if not re.fullmatch(r"[+-]?[0-9]{1,9}", text):
        raise errors.DisclosureRuleError(subject, "must be a whole number", value=text)
    return int(text)
