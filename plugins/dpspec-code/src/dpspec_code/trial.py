"""Trial of a plain function: a few calls, so that a crash is reported as a crash and not as a privacy verdict.

A function that raises in every call on most of the datasets is a defect of the function or of the call: it is wrong for the
space, or unfinished. It is reported as such, and no privacy verdict is given. A function that raises now and then, or on few
datasets, is verified, exceptions being outcomes, and its exceptions are reported with the verdict. A defect as well is a function
that returns what has not been computed yet, and one that does more than to return something.
"""

from __future__ import annotations

import itertools
import math
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from pathlib import Path
from types import FunctionType, MethodType
from typing import Any

import attrs
import numpy as np

from dpspec import DpspecError
from dpspec.plugin import Dataset
from dpspec.plugin.judges import Cut, UnobservableError, count, observed, presented, text_of
from dpspec_code.child_process import note
from dpspec_code.clock import SYSTEM_CLOCK, SearchClock

FIRST = 24
"""The number of datasets that are tried; more only while every call raises."""
MOST = 500
CALLS = 64
"""Calls in all before a function is said to raise always, at least."""
AGAIN = 8
"""Calls on a dataset on which all raise, at least. A function that raises half of the time does so in all of them with
probability 1/256."""
LIMIT = 1.0
FRAMES = 3


class FunctionRaisesError(DpspecError):
    """A plain function raises in every call on most of the datasets: it does not fit the space, or is unfinished."""

    code = "function-raises"


@attrs.frozen(kw_only=True)
class Trial:
    """The result of the first calls.

    Args:
        calls, datasets: how many calls were made, on how many datasets.
        returned: how many of them returned something.
        raised: on how many datasets a call raised.
        failing: on how many datasets every call raised.
        cut: whether one of them did not end.
        crash: the first exception, with its place in the code and the dataset; empty for none.
        unseen: what was returned that cannot be compared, with why; empty where something could be.
        lazy: the type of what was returned where that has not been computed yet, as a generator; empty otherwise.
    """

    calls: int
    datasets: int
    returned: int
    raised: int
    failing: int
    cut: bool
    crash: str = ""
    unseen: str = ""
    lazy: str = ""

    @property
    def is_defect(self) -> bool:
        """Whether every call raised on more than half of the datasets."""
        return bool(self.crash) and not self.cut and 2 * self.failing > self.datasets


def trial(
    function: Callable[[Any, Any], Any],
    datasets: Iterable[Dataset],
    *,
    seed: int = 0,
    seconds: float | None = None,
    clock: SearchClock = SYSTEM_CLOCK,
) -> Trial:
    """Call the function a few times on the first datasets; while it only raises, on more of them; until its time is over."""
    watch = clock.watch(seconds or math.inf)
    calls = returned = raised = failing = looked = 0
    crash, inside, cut = "", False, False
    unseen: list[str] = []
    lazy: list[str] = []
    held: Sequence[Dataset] = list(itertools.islice(datasets, MOST))
    each = max(2, -(-CALLS // max(len(held), 1)))
    with clock.cutting(lambda: calls if inside else -1, LIMIT):
        for place, dataset in enumerate(held):
            if cut or (returned and place >= FIRST) or (looked and not watch.left()):
                break
            looked, failed, fine = place + 1, False, False
            note(f"a first call on {dataset}")
            for turn in range(max(each, AGAIN)):
                handed = presented(dataset)
                calls, inside = calls + 1, True
                try:
                    output = function(handed, np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, place, turn]))))
                    inside, returned, fine = False, returned + 1, True
                    unseen += _unseen(output)
                    lazy += [_kind(output)] if isinstance(output, _LAZY) else []
                except Cut:  # a call that does not end is reported by later stages
                    inside, cut = False, True
                    break
                except BaseException as problem:  # it is reported, not handled
                    inside, failed = False, True
                    crash = crash or f"{_where(problem)}, on {presented(dataset)!r}"
                if fine and turn:
                    break
            raised += failed
            failing += failed and not fine
    unread, late = (found[0] if found and len(found) == returned else "" for found in (unseen, lazy))
    return Trial(
        calls=calls,
        datasets=looked,
        returned=returned,
        raised=raised,
        failing=failing,
        cut=cut,
        crash=crash,
        unseen=unread,
        lazy=late,
    )


_LAZY = (Iterator, Awaitable, AsyncIterator, FunctionType, MethodType)
"""A value that computes its content on demand."""


def _kind(output: object) -> str:
    return type(output).__name__


def _unseen(output: Any) -> list[str]:
    """Why an output cannot be compared; nothing where it can."""
    try:
        observed(output)
    except UnobservableError as problem:
        return [f"{problem.subject} {problem.rule}: {problem.advice}"]
    return []


def shape(datasets: Iterable[Dataset]) -> str:
    """How a dataset looks to a plain function, in words."""
    dataset = next(iter(datasets), None)
    if dataset is None:
        return ""
    given = presented(dataset)
    if not isinstance(given, (list, tuple)):
        return f"a dataset is a {type(given).__name__} such as {given!r}"
    kinds = " or ".join(dict.fromkeys(type(part).__name__ for part in given))
    return f"a dataset is a {type(given).__name__}{f' of {kinds}' if kinds else ''} such as {given!r}"


def _where(problem: BaseException) -> str:
    """The exception with the last frames that led to it."""
    frames = traceback.extract_tb(problem.__traceback__)[1:][-FRAMES:]
    places = [f"{Path(frame.filename).name}:{frame.lineno} in {frame.name}: {frame.line or '?'}" for frame in frames]
    said = f"{type(problem).__name__}: {text_of(problem)}"[:200].rstrip(": ")
    return f"{said} ({' > '.join(places)})" if places else said


class FunctionReturnsError(DpspecError):
    """A plain function returns what has not been computed yet, so that nothing of it is seen: a generator, a coroutine."""

    code = "function-returns"


class FunctionActsError(DpspecError):
    """A plain function writes files, starts processes or reaches the network: such effects are not part of the verified
    outcome."""

    code = "function-acts"


class BrokenChannelError(DpspecError):
    """A user's module wrote into, or closed, the channel by which the result of its process comes back."""

    code = "broken-channel"


def refuse(name: str, found: Trial, message: str) -> FunctionRaisesError:
    """The error for a function that raises on most datasets.

    Args:
        name: of the function.
        found: its trial.
        message: what is said of the shape of a dataset.
    """
    on = count(found.datasets, "dataset")
    where = f"all of {count(found.calls, 'call')} on {on}" if not found.returned else f"every call on {found.failing} of {on}"
    rule = f"raised in {where}: {found.crash}"
    advice = f"{message}; correct the function, or name the specification file that it is written for"
    return FunctionRaisesError("function", rule, advice, value=name)
