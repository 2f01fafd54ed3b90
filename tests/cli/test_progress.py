"""The progress bar: only on a terminal, only for long work, never in the result."""

from __future__ import annotations

import io
import sys

import pytest

from dpspec.report import terminal
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
