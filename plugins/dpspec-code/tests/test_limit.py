"""Cutting calls: once each, and never the one who handles the cut."""

import contextlib
import gc
import signal
import sys
import time
import weakref

import pytest
from dpspec_code.sampled.engine import refute

from dpspec.base import time_limits
from dpspec.base.time_limits import Cut, cutting
from dpspec.verifier.verdict import Outcome
from tests.sampled.toys import BIT, claim, response


def spin(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def test_a_call_is_cut_once_however_long_its_handler_takes():
    with cutting(lambda: 7, 0.01):
        with pytest.raises(Cut):
            spin(5)
        spin(0.1)
        signal.raise_signal(signal.SIGALRM)
        signal.raise_signal(signal.SIGALRM)


def test_the_next_call_is_cut_again():
    number = [0]
    with cutting(lambda: number[0], 0.01):
        for _ in range(3):
            with pytest.raises(Cut):
                spin(5)
            number[0] += 1


def test_nothing_is_cut_between_calls():
    with cutting(lambda: -1, 0.01):
        spin(0.1)


@pytest.mark.parametrize("reported", [True, False])
def test_a_call_that_sleeps_is_cut(monkeypatch, reported):
    """Also where the kernel does not report the time in the queue for a processor, as on macOS."""
    monkeypatch.setattr(time_limits, "WALL", 0.05)
    if not reported:
        monkeypatch.setattr(time_limits, "account_of", lambda process: None)
    with cutting(lambda: 7, 0.01), pytest.raises(Cut) as cut:
        time.sleep(600)
    assert cut.value.waited


def test_a_call_that_waits_for_a_processor_is_not_cut(monkeypatch):
    """On a busy machine the clock goes on while others have the processors: that is no fault of the call."""

    class Queued(time_limits.Stopwatch):
        def spent(self):
            return 0.0

    monkeypatch.setattr(time_limits, "Stopwatch", Queued)
    with cutting(lambda: 7, 600):
        for _ in range(20):
            signal.raise_signal(signal.SIGALRM)


def test_ticks_at_any_moment_never_break_a_run():
    """On a machine under load both timers strike anywhere in a call, in what handles it, and between two calls."""
    calls, right = [0], response(1.0)

    def struck(x, rng):
        calls[0] += 1
        if calls[0] % 400 == 0:
            signal.raise_signal(signal.SIGALRM)
            signal.raise_signal(signal.SIGVTALRM)
            signal.raise_signal(signal.SIGVTALRM)
        return right(x, rng)

    assert refute(struck, claim(BIT, epsilon=1), seed=3, draws=4_000).outcome is Outcome.UNDECIDED
    assert calls[0] >= 1_000


def test_a_cut_that_is_lost_is_made_again():
    """What is raised in `__del__`, or while garbage is collected, is ignored by the interpreter; so the call would never end."""

    class Loses:
        def __del__(self):
            with contextlib.suppress(Cut):  # as the interpreter does
                while True:
                    pass

    cuts = []
    try:
        with cutting(lambda: 3, 0.01):
            held = Loses()
            del held
            while True:
                pass
    except Cut:
        cuts.append("again")
    assert cuts == ["again"]


def test_a_cut_in_a_callback_of_a_weak_reference_is_made_again_and_not_printed(monkeypatch):
    """Sets of weak references have one; pytest makes a failure of what is printed."""

    def removed(reference):
        signal.raise_signal(signal.SIGVTALRM)
        signal.raise_signal(signal.SIGVTALRM)

    class Held:
        pass

    lost = []
    monkeypatch.setattr(sys, "unraisablehook", lost.append)
    with cutting(lambda: 7, 600):
        held = Held()
        reference = weakref.ref(held, removed)
        del held
        assert reference() is None
        with pytest.raises(Cut):
            signal.raise_signal(signal.SIGVTALRM)
    assert lost == []
    assert sys.unraisablehook == lost.append


def test_a_callback_of_the_collector_is_not_cut(monkeypatch):
    """Hypothesis has one; what is raised in it is printed, and pytest makes a failure of it. The call is cut afterwards."""

    def noticed(phase, info):
        signal.raise_signal(signal.SIGVTALRM)
        signal.raise_signal(signal.SIGVTALRM)

    lost = []
    monkeypatch.setattr(sys, "unraisablehook", lost.append)
    gc.callbacks.append(noticed)
    try:
        with cutting(lambda: 7, 600):
            gc.collect()
            gc.callbacks.remove(noticed)
            with pytest.raises(Cut):
                signal.raise_signal(signal.SIGVTALRM)
    finally:
        with contextlib.suppress(ValueError):
            gc.callbacks.remove(noticed)
    assert lost == []
