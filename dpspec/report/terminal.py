"""What the text output is drawn with: a page of limited width, and a progress bar that only long work shows."""

from __future__ import annotations

import io
import os
import shutil
import sys
import threading
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from dpspec.harmless import harmless
from dpspec.verify.words import Word

NARROWEST, WIDEST, PIPED = 40, 120, 100
"""Columns: the range used on a terminal, and the width when the output is not one."""

PATIENCE = 2.0
"""Seconds after which work gets a progress bar."""

GOOD, BAD, OPEN, FAINT = "green", "bold red", "yellow", "dim"

_STYLES = {0: GOOD, 1: BAD, 2: BAD, 4: BAD}


def marked(word: Word) -> tuple[str, str]:
    """A word as it is told, and its style: green only for what was checked and is true."""
    return word.told, _STYLES.get(word.exit_code, OPEN)


def _on_terminal() -> bool:
    """Whether somebody looks: a process may have no output at all."""
    return sys.stdout is not None and sys.stdout.isatty()


def width() -> int:
    """The columns to write for."""
    if not _on_terminal() and "COLUMNS" not in os.environ:
        return PIPED
    return max(NARROWEST, min(WIDEST, shutil.get_terminal_size().columns))


def drawn(*parts: RenderableType) -> str:
    """The parts as one text without trailing blanks; coloured on a terminal unless NO_COLOR is set."""
    page = io.StringIO()
    coloured = _on_terminal()
    console = Console(file=page, width=width(), force_terminal=coloured, highlight=False, markup=False, emoji=False)
    for part in parts:
        console.print(_Harmless(part), soft_wrap=isinstance(part, Text) and part.no_wrap is True)
    return "\n".join(line.rstrip() for line in page.getvalue().splitlines())


class _Harmless:
    """A renderable of which nothing is a command to the terminal but what rich says itself."""

    def __init__(self, inner: RenderableType) -> None:
        self._inner = inner

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for segment in console.render(self._inner, options):
            yield segment if segment.control else Segment(harmless(segment.text, keep="\n"), segment.style)


def headline(subject: str, mark: str, style: str, rest: str = "") -> Text:
    """A line that is never broken, however long its path or command is: it can be copied, and read by a program."""
    return Text.assemble((harmless(subject, keep=""), "bold"), ": ", (mark, style), harmless(rest, keep=""), no_wrap=True)


def grid(*, indent: int = 0) -> Table:
    """Two columns without lines: labels, and texts that wrap under themselves."""
    table = Table.grid(padding=(0, 2 if indent == 0 else 1, 0, 0))
    if indent:
        table.add_column(width=indent - 1)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    return table


class Work(AbstractContextManager["Work"]):
    """Work in progress; on a terminal it shows a bar on stderr once it has taken more than two seconds.

    Args:
        title: what is being worked on.
        unit: what is counted, in the plural; the bar then shows the count, the rate, and the time that remains.
    """

    def __init__(self, title: str, *, unit: str | None = None) -> None:
        self._title, self._unit, self._lock = harmless(title, keep=""), unit, threading.Lock()
        self._bar: Progress | None = None
        self._task: Any = None
        self._timer: threading.Timer | None = None
        self._done, self._total = 0, 0

    def __enter__(self) -> Work:
        self._start()
        return self

    def __call__(self, done: int, total: int) -> None:
        """Tell how far the work is; a total of 0 is one that is not known."""
        with self._lock:
            self._done, self._total = done, total
            if self._bar is not None:
                self._bar.update(self._task, completed=done, total=total or None)

    def entitle(self, title: str) -> None:
        """Tell what is being worked on."""
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
        if _on_terminal():
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
            told = (
                (TaskProgressColumn(), TimeElapsedColumn()) if self._unit is None else (Rate(self._unit), TimeRemainingColumn())
            )
            columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), *told)
            stderr = Console(stderr=True)
            self._bar = Progress(*columns, console=stderr, transient=True, redirect_stdout=False, redirect_stderr=False)
            self._task = self._bar.add_task(self._title, total=self._total or None, completed=self._done)
            self._bar.start()


class Rate(ProgressColumn):
    """How much is done, of how much, and how much of it in a second, as far as each is known.

    Args:
        unit: what is counted, in the plural.
    """

    def __init__(self, unit: str) -> None:
        super().__init__()
        self._unit = unit

    def render(self, task: Task) -> Text:
        if task.total is None and not task.completed:
            return Text("")
        whole = "" if task.total is None else f" of {task.total:,.0f}"
        rate = "" if task.speed is None else f", {task.speed:,.0f}/s"
        return Text(f"{task.completed:,.0f}{whole} {self._unit}{rate}", style="progress.data.speed")
