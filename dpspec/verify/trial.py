"""A first look at a plain function: a few calls, so that a crash is told as a crash before anybody speaks of privacy.

A function that raises in every call, whatever the dataset, is bad input: wrong for the space, or unfinished. One that raises
now and then is judged, exceptions being outcomes, and what it raised is told beside the verdict.
"""

from __future__ import annotations

import itertools
import traceback
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np

from dpspec.blocks.space import Dataset, DatasetSpace
from dpspec.errors import DpspecError
from dpspec.plural import count
from dpspec.verify.apart import note
from dpspec.verify.limit import Cut, cutting

FIRST = 24
"""Datasets that are looked at; more only while every call raises."""
MOST = 500
CALLS = 64
"""Calls in all before a function is said to raise always, at least."""
LIMIT = 1.0
FRAMES = 3


class FunctionRaisesError(DpspecError):
    """A plain function raises in every call, on every dataset that was tried: it does not fit the space, or is not finished."""

    code = "function-raises"


@attrs.frozen(kw_only=True)
class Trial:
    """What the first calls showed.

    Args:
        calls, datasets: how many calls were made, on how many datasets.
        returned: how many of them returned something.
        raised: on how many datasets a call raised.
        cut: whether one of them did not end.
        crash: the first exception, with its place in the code and the dataset; empty for none.
    """

    calls: int
    datasets: int
    returned: int
    raised: int
    cut: bool
    crash: str = ""

    @property
    def always(self) -> bool:
        """Whether every call raised."""
        return bool(self.crash) and not self.returned and not self.cut


def trial(function: Callable[[Any, Any], Any], space: DatasetSpace, datasets: Iterable[Dataset], *, seed: int = 0) -> Trial:
    """Call the function a few times on the first datasets; while it only raises, on more of them."""
    calls = returned = raised = looked = 0
    crash, inside, cut = "", False, False
    held: Sequence[Dataset] = list(itertools.islice(datasets, MOST))
    each = max(2, -(-CALLS // max(len(held), 1)))
    with cutting(lambda: calls if inside else -1, LIMIT):
        for place, dataset in enumerate(held):
            if cut or (returned and place >= FIRST):
                break
            looked, failed = place + 1, False
            note(f"a first call on {dataset}")
            for turn in range(each):
                handed = space.presented(dataset)
                calls, inside = calls + 1, True
                try:
                    function(handed, np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, place, turn]))))
                    inside, returned = False, returned + 1
                except Cut:  # a call that does not end is told by those who come after
                    inside, cut = False, True
                    break
                except BaseException as problem:
                    inside, failed = False, True
                    crash = crash or f"{_where(problem)}, on {space.presented(dataset)!r}"
                if returned and turn:
                    break
            raised += failed
    return Trial(calls=calls, datasets=looked, returned=returned, raised=raised, cut=cut, crash=crash)


def shape(space: DatasetSpace, datasets: Iterable[Dataset]) -> str:
    """How a dataset looks to a plain function, in words."""
    dataset = next(iter(datasets), None)
    if dataset is None:
        return ""
    given = space.presented(dataset)
    if not isinstance(given, (list, tuple)):
        return f"a dataset is a {type(given).__name__} such as {given!r}"
    kinds = " or ".join(dict.fromkeys(type(part).__name__ for part in given))
    return f"a dataset is a {type(given).__name__}{f' of {kinds}' if kinds else ''} such as {given!r}"


def _where(problem: BaseException) -> str:
    """The exception with the last frames that led to it."""
    frames = traceback.extract_tb(problem.__traceback__)[1:][-FRAMES:]
    places = [f"{Path(frame.filename).name}:{frame.lineno} in {frame.name}: {frame.line or '?'}" for frame in frames]
    said = " ".join(f"{type(problem).__name__}: {problem}".split())[:200].rstrip(": ")
    return f"{said} ({' > '.join(places)})" if places else said


def refuse(name: str, found: Trial, told: str) -> FunctionRaisesError:
    """The error for a function that raises always.

    Args:
        name: of the function.
        found: its trial.
        told: the shape of a dataset.
    """
    rule = f"raised in all of {count(found.calls, 'call')} on {count(found.datasets, 'dataset')}: {found.crash}"
    return FunctionRaisesError("function", rule, f"{told}; mend the function, or name the file that it is written for", value=name)
