"""Counters of work, taken from outside: the product contains none.

`counted(work)` runs a function and counts what it does. The counts depend on neither the clock nor the load nor the number of
cores, so a gate can compare them exactly:

* `calls`: calls of functions of dpspec and of its plugins. A generator that resumes counts, and so does a pattern that is
  enumerated, a pair that is evaluated, a law that is multiplied, as long as Python does it.
* `rows sorted`: elements of the arrays that are sorted, ranked or made unique.
* `rows scanned`: elements of the arrays that are counted, searched, compared or joined.
* `points transformed`: elements of the arrays that go through a Fourier transform; what a product of laws on a grid costs.
* `words drawn`: random words of 64 bits that a sampler reads.
* `patterns`, `laws multiplied`, `pairs evaluated`: calls of the functions in NAMED, which do exactly this.
* `bytes`: the largest amount of memory that Python and numpy hold at once, from `tracemalloc`. It varies by some kilobytes.

What native libraries do inside one call (Polars, FLINT) is not seen here; the time ratios see it.
"""

from __future__ import annotations

import functools
import gc
import importlib
import os
import sys
import threading
import tracemalloc
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import CodeType, FrameType
from typing import Any
from unittest import mock

import numpy as np
import scipy.fft
import scipy.signal

NAMED = {
    "patterns": ("dpspec.verifier.changes:replacements", "dpspec.verifier.changes:farthest", "dpspec.verifier.components:_extend"),
    "laws multiplied": ("dpspec.laws.atoms:FiniteDichotomy.product", "dpspec.laws.products:product_of"),
    "pairs evaluated": ("dpspec.comparison.compare:compare",),
}
"""Counter to the functions whose calls it counts; for a generator, what it yields. A test says when one is gone."""

WAITING = ("dpspec_code.sandbox:_MessageReader._is_over", "dpspec_code.child_process:_is_over")
"""What is asked again and again while another process works: it and what it calls are not counted, as how often depends on the load."""

OWN = (f"{os.sep}dpspec{os.sep}", f"{os.sep}dpspec_")
"""What the path of a module of dpspec or of one of its plugins contains."""

METHODS = {
    "sort": "rows sorted", "argsort": "rows sorted", "partition": "rows sorted", "argpartition": "rows sorted",
    "searchsorted": "rows scanned",
}  # fmt: skip
"""Methods of arrays; functions of numpy such as `np.sort` call them."""

FUNCTIONS = {
    (np, "unique"): "rows sorted", (np, "lexsort"): "rows sorted", (np, "bincount"): "rows scanned",
    (np, "array_equal"): "rows scanned", (np, "concatenate"): "rows scanned",
    **{(module, name): "points transformed" for module in (np.fft, scipy.fft) for name in ("fft", "rfft", "ifft", "irfft")},
    (scipy.signal, "fftconvolve"): "points transformed",
}  # fmt: skip
"""Functions whose first argument, or whose arrays in it, are counted."""


def elements(given: Any) -> int:
    """The number of elements of an array, or of all arrays in a sequence."""
    return sum(map(elements, given)) if isinstance(given, list | tuple) else int(np.size(given))


def counted(work: Callable[[], object]) -> dict[str, int]:
    """Run a function and count what it does; zeros are left out."""
    found: Counter[str] = Counter()
    named = {code_of(path): name for name, paths in NAMED.items() for path in paths if path.split(":")[0] in sys.modules}
    waiting = {code_of(path) for path in WAITING if path.split(":")[0] in sys.modules}
    own: dict[CodeType, bool] = {}
    asked_by: defaultdict[int, list[FrameType]] = defaultdict(list)

    def seen(frame: FrameType, event: str, argument: Any) -> None:
        asked = asked_by[threading.get_ident()]
        if event == "return" and asked and asked[-1] is frame:
            asked.pop()
        elif event == "call" and frame.f_code in waiting:
            asked.append(frame)
        elif asked:
            return
        elif event == "call":
            code = frame.f_code
            if code not in own:
                own[code] = any(part in code.co_filename for part in OWN)
            if own[code]:
                found["calls"] += 1
                if code in named:
                    found[named[code]] += 1
        elif event == "c_call" and argument.__name__ in METHODS and isinstance(argument.__self__, np.ndarray):
            found[METHODS[argument.__name__]] += argument.__self__.size

    def uncounted() -> None:
        """What a child of the function does is not counted: a wrapped function of numpy is none that plain code may call."""
        sys.setprofile(None)
        threading.setprofile(None)
        wrapped.close()

    with _functions_counted(found) as wrapped:
        os.register_at_fork(after_in_child=uncounted)
        threading.setprofile(seen)
        sys.setprofile(seen)
        try:
            work()
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
    return {name: count for name, count in sorted(found.items()) if count}


@contextmanager
def _functions_counted(found: Counter[str]) -> Iterator[ExitStack]:
    """Count the functions of numpy and scipy, and the words that the generators of a release hand out."""
    from dpspec.base.randomness import KeyedPlaces, KeyedRandomness

    def watched(owner: Any, name: str, counter: str, size: Callable[..., int]) -> Any:
        original = getattr(owner, name)

        @functools.wraps(original)
        def call(*given: Any, **options: Any) -> Any:
            found[counter] += size(*given)
            return original(*given, **options)

        return mock.patch.object(owner, name, call)

    with ExitStack() as stack:
        for (owner, name), counter in FUNCTIONS.items():
            stack.enter_context(watched(owner, name, counter, lambda given, *_: elements(given)))
        stack.enter_context(watched(KeyedRandomness, "words", "words drawn", lambda _, count: int(count)))
        stack.enter_context(watched(KeyedPlaces, "words_at", "words drawn", lambda *given: np.size(given[-1])))
        yield stack


def largest_memory(work: Callable[[], object]) -> int:
    """The bytes that a function holds at most at once, above what was there before."""
    gc.collect()
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def code_of(path: str) -> CodeType:
    """The code of a function named as `module:Class.function`."""
    module, _, names = path.partition(":")
    found: Any = importlib.import_module(module)
    for name in names.split("."):
        found = getattr(found, name)
    code: CodeType = getattr(found, "__func__", found).__code__
    return code
