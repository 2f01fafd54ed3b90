"""The bar of long work: how much is done, the time that it took, and the time that remains."""

from __future__ import annotations

from rich.console import Console
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
from rich.text import Text


def progress_bar(unit: str | None) -> Progress:
    """A bar on stderr.

    Args:
        unit: what is counted, in the plural: the bar then shows the count and the rate; None for a share of the whole.
    """
    columns_shown = (TaskProgressColumn(), TimeElapsedColumn()) if unit is None else (Rate(unit),)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), *columns_shown, Remaining())
    return Progress(*columns, console=Console(stderr=True), transient=True, redirect_stdout=False, redirect_stderr=False)


class Remaining(TimeRemainingColumn):
    """The time that remains, where it is known how much there is to do."""

    def render(self, task: Task) -> Text:
        return Text("") if task.total is None else super().render(task).append(" left")


class Rate(ProgressColumn):
    """The progress and its rate per second, as far as each is known.

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
