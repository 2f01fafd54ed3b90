"""Building blocks of text output: pages, progress bars, values in words, and the claim status.

Blocks, numbers and datasets are shortened to be readable, and exact where that is short. The claim status is displayed for
technical readers, for the public, and as JSON data, wherever a claim is mentioned.
"""

from __future__ import annotations

import io
import os
import shutil
import sys
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.protocol import rich_cast
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from dpspec.base.errors import count, harmless
from dpspec.base.exact import LONGEST_EXACT, Bracket, Number, limit_in_words, number, rounded_down, rounded_up
from dpspec.base.log_linear import ending_decimal
from dpspec.base.params import parameters
from dpspec.base.streams import answers
from dpspec.base.words import Word
from dpspec.blocks.input_divergence import InputDivergence, Relation
from dpspec.blocks.output_divergence import OutputDivergence
from dpspec.blocks.parts import own_attributes, wording_of
from dpspec.blocks.space import Attribute, Dataset, DatasetSpace

if TYPE_CHECKING:
    from types import TracebackType

    from rich.progress import Progress

    from dpspec.base.types import JsonData
    from dpspec.blocks.budget import Budget
    from dpspec.blocks.multiverse import Multiverse
    from dpspec.grammar.spec import PrivacySpec
    from dpspec.verifier.standing import Standing

NARROWEST, WIDEST, PIPED = 40, 120, 100
"""Columns: the range used on a terminal, and the width when the output is not one."""

PATIENCE = 2.0
"""Seconds after which work gets a progress bar."""

GOOD, BAD, OPEN, FAINT = "green", "bold red", "yellow", "dim"

_STYLES = {0: GOOD, 1: BAD, 2: BAD, 4: BAD}


def marked(word: Word) -> tuple[str, str]:
    """The label of a status word, and its style: green only for what was checked and is true."""
    return word.label, _STYLES.get(word.exit_code, OPEN)


def on_terminal() -> bool:
    """Whether the output is a terminal: a process may have no output at all."""
    output = answers()
    return output is not None and output.isatty()


def width() -> int:
    """The columns to write for."""
    if not on_terminal() and "COLUMNS" not in os.environ:  # Python would take 80 for a pipe
        return PIPED
    return max(NARROWEST, min(WIDEST, shutil.get_terminal_size().columns))


def drawn(*parts: RenderableType, plain: bool = False) -> str:
    """The parts as one text without trailing blanks; coloured on a terminal unless NO_COLOR is set, or it is to be `plain`."""
    page = io.StringIO()
    coloured = on_terminal() and not plain
    console = Console(
        file=page, width=width(), force_terminal=coloured, force_jupyter=False, highlight=False, markup=False, emoji=False
    )  # in a notebook, too, it is drawn here: rich would show it there and then
    for part in map(rich_cast, parts):
        unbroken = isinstance(part, Text) and part.no_wrap is True
        console.print(_HarmlessText(part), soft_wrap=unbroken, crop=False)  # an escape is longer than the character it shows
    return "\n".join(line.rstrip() for line in page.getvalue().splitlines())


class _HarmlessText:
    """A renderable of which nothing is a command to the terminal but what rich says itself."""

    def __init__(self, inner: RenderableType) -> None:
        self._inner = inner

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for segment in console.render(self._inner, options):
            yield segment if segment.control else Segment(harmless(segment.text, keep="\n"), segment.style)


def headline(subject: str, mark: str, style: str, rest: str = "") -> Text:
    """A line that is never broken, however long its path or command is: it can be copied, and read by a program."""
    return Text.assemble((harmless(subject, keep=""), "bold"), ": ", (mark, style), harmless(rest, keep=""), no_wrap=True)


def grid(*, indent: int = 0, style: str = "") -> Table:
    """Two columns without lines: labels in a style, and texts that wrap under themselves."""
    table = Table.grid(padding=(0, 2 if indent == 0 else 1, 0, 0))
    if indent:
        table.add_column(width=indent - 1)
    table.add_column(no_wrap=True, style=style)
    table.add_column(overflow="fold")
    return table


def bullet(words: str) -> Table:
    """An entry of a list, whose text wraps under itself."""
    rows = Table.grid(padding=(0, 1, 0, 0))
    rows.add_column(no_wrap=True)
    rows.add_column(overflow="fold")
    rows.add_row("-", words)
    return rows


class Work(AbstractContextManager["Work"]):
    """Work in progress; on a terminal it shows a bar on stderr once it has taken more than two seconds.

    Args:
        title: what is being worked on.
        unit: what is counted, in the plural; the bar then shows the count, the rate, and the time that remains.
    """

    def __init__(self, title: str, *, unit: str | None = None) -> None:
        # The lock: a timer shows the bar in a thread of its own.
        self._title, self._unit, self._lock = harmless(title, keep=""), unit, threading.Lock()
        self._bar: Progress | None = None
        self._task: Any = None
        self._timer: threading.Timer | None = None
        self._done, self._total = 0, 0

    def __enter__(self) -> Work:
        self._start()
        return self

    def __call__(self, done: int, total: int) -> None:
        """Report the progress; a total of 0 means unknown."""
        with self._lock:
            self._done, self._total = done, total
            if self._bar is not None:
                self._bar.update(self._task, completed=done, total=total or None)

    def entitle(self, title: str) -> None:
        """Report the current task."""
        with self._lock:
            title = harmless(title, keep="")
            self._title, self._done, self._total = title, 0, 0
            if self._bar is not None:
                # A task that had a total cannot lose it, so a new one takes its place.
                self._bar.remove_task(self._task)
                self._task = self._bar.add_task(title, total=None)
        self._start()

    def rest(self) -> None:
        """Take the bar away before a result is printed on the same terminal; `entitle` begins anew."""
        if on_terminal():
            self._stop()

    def __exit__(self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None) -> None:
        self._stop()

    def _start(self) -> None:
        if self._timer is None and sys.stderr is not None and sys.stderr.isatty():
            self._timer = threading.Timer(PATIENCE, self._show)
            self._timer.daemon = True
            self._timer.start()

    def _stop(self) -> None:
        with self._lock:
            timer, self._timer = self._timer, None
            bar, self._bar = self._bar, None
        if timer is not None:
            timer.cancel()
        if bar is not None:
            bar.stop()

    def _show(self) -> None:
        with self._lock:
            if self._timer is None:
                return
            from dpspec.report.bar import progress_bar  # most commands end before a bar is shown

            self._bar = progress_bar(self._unit)
            self._task = self._bar.add_task(self._title, total=self._total or None, completed=self._done)
            self._bar.start()


# --- things in words ------------------------------------------------------------------------------


def number_in_words(value: Number | Fraction | int) -> str:
    """An exact number as people write it.

    >>> from dpspec.base.exact import ln, number, sqrt
    >>> [number_in_words(value) for value in (number("263/100"), ln(3), sqrt("2.63"), number("1/3"))]
    ['2.63', 'ln(3) (about 1.09861)', 'sqrt(263/100) (about 1.62173)', '1/3 (about 0.333333)']
    """
    if not isinstance(value, Number):
        value = Number(rational_part=Fraction(value))
    if value.is_infinite:
        return "infinity"
    if value.is_rational:
        short = ending_decimal(value.as_fraction())
        if short is not None and len(short) <= LONGEST_EXACT:
            return short
    exact = str(value)
    approximate = f"about {value.decimal()}"
    return f"{exact} ({approximate})" if len(exact) <= LONGEST_EXACT else approximate


def at_most_in_words(value: Number, equal: str = "") -> str:
    """A budget or another limit: in exact form while that is short, with its decimals, else rounded up.

    Args:
        value: the number.
        equal: the text before an exact number, such as "= ".
    """
    words = number_in_words(value)
    return limit_in_words(value) if words.startswith("about ") else f"{equal}{words}"


def at_least_in_words(value: Number) -> str:
    """A number that something needs at least: in exact form while that is short, with its decimals, else rounded down.

    >>> from dpspec.base.exact import number
    >>> at_least_in_words(number("1/3")), at_least_in_words(number(Fraction(2, 3**70)))
    ('1/3 (about 0.333333)', '7.98991E-34')
    """
    words = number_in_words(value)
    return rounded_down(value, 6) if words.startswith("about ") else words


def bracket_in_words(value: Bracket) -> str:
    """An exact value as itself; a bracket by the digits that both its ends share.

    >>> bracket_in_words(Bracket.exactly("1/4"))
    '0.25'
    """
    if value.is_exact:
        return number_in_words(value.lower)
    if value.upper.is_infinite:
        return f"at least {rounded_down(value.lower, 6)}"
    if value.lower.decimal(9) == value.upper.decimal(9):
        return f"about {value.lower.decimal()}"
    return f"between {end_in_words(value.lower, 9, up=False)} and {end_in_words(value.upper, 9, up=True)}"


ROUNDING = 1e-12
"""A number whose relative difference from a short decimal is at most this differs from it by the width of the brackets alone, and
is shown as that decimal; but what is below 1 is never shown as 1."""


def end_in_words(value: Number, digits: int, *, up: bool) -> str:
    """One end of a bracket as a decimal of so many digits, rounded outward.

    >>> from dpspec.base.exact import number
    >>> [end_in_words(number(text), 6, up=False) for text in ("0.66666699", "0.25", "0.14999999999999999")]
    ['0.666666', '0.25', '0.15']
    """
    short = value.decimal(digits)
    if not value.is_infinite and float(short) != 1 and abs(float(value) - float(short)) <= ROUNDING * abs(float(short)):
        return short
    return rounded_up(value, digits) if up else rounded_down(value, digits)


def level_in_words(level: Fraction) -> str:
    """A level of confidence in percent, rounded down: what is said to hold so often does, and nothing in 100 %.

    >>> level_in_words(Fraction(19, 20)), level_in_words(1 - Fraction(1, 10**20))
    ('95 %', '99.9999 %')
    """
    return f"{rounded_down(number(100 * level), 6)} %"


def probability_in_words(value: Bracket) -> str:
    """A probability: as a fraction where that is short.

    >>> probability_in_words(Bracket.exactly("3/4"))
    '3/4'
    """
    exact = str(value.lower)
    return exact if value.is_exact and len(exact) <= LONGEST_EXACT else bracket_in_words(value)


# --- blocks --------------------------------------------------------------------------------------


def thing_in_words(thing: object) -> str:
    """A divergence as statisticians call it, another block as it describes itself; else as in a file."""
    words = thing.in_words() if isinstance(thing, (InputDivergence, OutputDivergence, Relation)) else ""
    return words if words not in ("", getattr(thing, "name", "")) else thing_by_name(thing)


def thing_by_name(thing: object) -> str:
    """A block by its own text, else its registered name with its parameters: what a file calls it."""
    if type(thing).__str__ is not object.__str__:
        return str(thing)
    name = str(getattr(thing, "name", type(thing).__name__))
    declared = parameters(type(thing))
    given = [(p.name, getattr(thing, p.name)) for p in declared if p.required or getattr(thing, p.name) != p.default]
    return name if not given else f"{name} ({', '.join(f'{key} {value_in_words(value)}' for key, value in given)})"


def value_in_words(value: Any) -> str:
    """The value of a parameter."""
    if isinstance(value, (Number, Fraction)):
        return number_in_words(value)
    if isinstance(value, tuple):
        return "; ".join(value_in_words(entry) for entry in value)
    if isinstance(value, Attribute):
        return attribute_in_words(value)
    return str(value) if isinstance(value, (str, int)) else thing_in_words(value)


def attribute_in_words(attribute: Attribute) -> str:
    """An attribute with the number of its categories."""
    return f"{attribute.name} ({attribute.size:,})"


def space_in_words(space: DatasetSpace) -> list[str]:
    """A dataset space: its kind, its size, and the attributes of its units."""
    lines = [space.name.replace("-", " ") + wording_of(space).extent()]
    seen: set[str] = set()
    for unit in reversed(space.units) if len(space.units) > 1 else space.units:
        attributes = own_attributes(space, unit)
        if attributes and unit not in seen:
            seen.add(unit)
            lines.append(f"{unit}: {', '.join(attribute_in_words(a) for a in attributes)}")
    return lines


def multiverse_in_words(multiverse: Multiverse) -> list[str]:
    """The universes; invariants one by one."""
    held = multiverse.induced_by()
    if not held:
        return [thing_in_words(multiverse)]
    return [f"datasets that agree on {count(len(held), 'invariant')}:", *(f"- {invariant}" for invariant in held)]


def budget_in_words(budget: Budget) -> str:
    """The budget with the name of its number."""
    value = budget.uniform()
    if value is None or budget.bounds() is not None:
        return thing_in_words(budget)
    return f"{budget.parameter} {at_most_in_words(value, '= ')}"


def budget_in_short(budget: Budget) -> str:
    """The budget for a box or a column: exact where that is short, else a decimal that is not below it."""
    value, words = budget.uniform(), budget_in_words(budget)
    if value is None or len(words) <= LONGEST_EXACT:
        return words
    return str(budget) if len(str(budget)) <= LONGEST_EXACT // 2 else f"{budget.parameter} at most {rounded_up(value, 6)}"


def part_in_words(part: PrivacySpec, beside: PrivacySpec) -> str:
    """A further promise of a file in a line: its number, its standard and one change of it, which need not be those of the file.

    Args:
        part: the further promise.
        beside: the promise that the file begins with; the universes of a part are named where they are others.
    """
    by, change = thing_in_words(part.output_divergence), thing_in_words(part.input_divergence)
    text = f"{budget_in_words(part.budget)} by {by}; one change: {change}"
    if part.multiverse == beside.multiverse:
        return text
    held = part.multiverse.induced_by()
    return f"{text}; inside universes of: {'; '.join(map(str, held)) if held else thing_in_words(part.multiverse)}"


def blocks_in_words(spec: PrivacySpec, in_words: Callable[[object], str] = thing_in_words) -> dict[str, list[str]]:
    """The five blocks, each as lines; the divergences as given, in words or by their names."""
    budget = [budget_in_words(spec.budget)]
    value = spec.budget.uniform()
    if value is not None:
        constant = spec.output_divergence.lipschitz(spec.budget.parameter, value)
        if constant != value:
            budget.append(f"Lipschitz constant {at_most_in_words(constant)}")
    attributes = [line.split("), ") for line in space_in_words(spec.space)]
    universes = multiverse_in_words(spec.multiverse)
    if len(universes) > MOST_LISTED + 1:
        universes = [*universes[:MOST_LISTED], f"- and {len(universes) - MOST_LISTED} more"]
    return {
        "dataset space": [
            "), ".join(parts)
            if len(parts) <= MOST_LISTED
            else f"{'), '.join(parts[:MOST_LISTED])}), and {len(parts) - MOST_LISTED:,} more"
            for parts in attributes
        ],
        "multiverse": universes,
        "input divergence": [in_words(spec.input_divergence)],
        "output divergence": [in_words(spec.output_divergence)],
        "budget": budget,
    }


MOST_LISTED = 40
"""A block of a table lists so many invariants or attributes; of more, the file is the place to read them all."""


# --- datasets ------------------------------------------------------------------------------------


def pair_in_words(left: Dataset, right: Dataset, space: DatasetSpace) -> tuple[str, str]:
    """Two datasets, with all values of their records.

    >>> from dpspec.blocks.records import UnorderedRecords
    >>> sex = Attribute(name="sex", categories=("f", "m"))
    >>> pair_in_words((("f",), ("f",)), (("f",), ("m",)), UnorderedRecords(attributes=(sex,)))
    ('2 x (sex f)', '(sex f), (sex m)')
    """
    return wording_of(space).in_words(left, right)


# --- claim status --------------------------------------------------------------------------------


def standing_data(found: Standing) -> JsonData:
    """The word, the sentence, and all assumptions of the verdicts behind it."""
    return {"word": found.word.word, "sentence": found.sentence, "assumptions": list(found.assumptions)}


def standing_line(found: Standing) -> Text:
    """The sentence, its beginning in the style of the word."""
    return Text.assemble((found.words, marked(found.word)[1]), f": {found.detail}")
