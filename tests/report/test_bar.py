"""The progress bar: only on a terminal, only for long work, never in the result."""

from __future__ import annotations

import io
import re
import sys

import pytest
from rich.console import Console

from dpspec.report import terminal
from dpspec.report.bar import progress_bar
from dpspec.report.terminal import Work


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_no_bar_off_a_terminal(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    with Work("verifying") as work:
        work(1, 2)
        assert work._timer is None
    assert stream.getvalue() == ""


def test_short_work_shows_nothing(monkeypatch):
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    with Work("verifying") as work:
        work(1, 2)
    assert stream.getvalue() == ""


@pytest.mark.parametrize("told_before", [True, False])
def test_long_work_shows_how_far_it_is(monkeypatch, told_before):
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    with Work("verifying") as work:
        if told_before:
            work(1, 4)
        work._show()  # what the timer does once patience is over
        work.entitle("second file")
        work(2, 4)
    assert "second file" in stream.getvalue()


def shown(monkeypatch, *calls, unit="records"):
    """The last line that a terminal gets to see, without colours."""
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "140")
    with Work("reading", unit=unit) as work:
        work._show()
        for call in calls:
            call(work)
        console = Console(file=io.StringIO(), width=140)
        console.print(work._bar.get_renderable())
        return console.file.getvalue()


def test_what_is_counted_is_shown_with_its_total_and_the_time_that_remains(monkeypatch):
    line = shown(monkeypatch, lambda work: work(1_000_000, 4_000_000), lambda work: work(2_000_000, 4_000_000))
    assert re.search(r"reading .* 2,000,000 of 4,000,000 records, [\d,]+/s (\d+:)+\d\d", line)


def test_the_time_that_remains_is_that_of_the_rate():
    """Ten records in 20 seconds: the other 90 take three minutes more. The clock is set by hand."""
    now = [0.0]
    bar = progress_bar("records")
    bar.get_time = lambda: now[0]
    task = bar.add_task("reading", total=100)
    for _ in range(10):
        now[0] += 2
        bar.advance(task, 1)
    console = Console(file=io.StringIO(), width=140)
    console.print(bar.get_renderable())
    assert "10 of 100 records" in console.file.getvalue()
    assert "0:03:00 left" in console.file.getvalue()


def test_a_total_that_is_not_known_is_not_shown_nor_kept(monkeypatch):
    assert re.search(r"reading .* 7 records\b", shown(monkeypatch, lambda work: work(7, 0)))
    line = shown(monkeypatch, lambda work: work(7, 9), lambda work: work.entitle("writing"))
    assert "writing" in line
    assert "records" not in line
    line = shown(monkeypatch, lambda work: work(7, 9), lambda work: work.entitle("drawing"), lambda work: work(5, 0))
    assert " 5 records" in line


def test_other_work_shows_its_share(monkeypatch):
    line = shown(monkeypatch, lambda work: work(1, 4), unit=None)
    assert "25%" in line
    assert "/s" not in line


def test_patience_is_two_seconds():
    assert terminal.PATIENCE == 2.0


def test_the_bar_never_catches_a_result(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setenv("TERM", "xterm")
    with Work("verifying") as work:
        work._show()
        print("a result")
    assert capsys.readouterr().out == "a result\n"


def test_the_bar_rests_while_a_result_is_printed(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setattr(sys, "stdout", Terminal())
    with Work("verifying") as work:
        work._show()
        work.rest()
        assert work._bar is None
        work.entitle("next")
        assert work._timer is not None
