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
from collections import Counter
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

ASKED, FOREIGN = "asked", "foreign"
"""Kinds of functions that are not counted: those of WAITING, and those that are not of dpspec."""

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
    # A code object is hashed over all its names and constants at each lookup, so it is found by its identity, and kept alive for that.
    kinds: dict[int, tuple[CodeType, str]] = {}

    def kind_of(code: CodeType) -> tuple[CodeType, str]:
        if code in waiting:
            kind = ASKED
        elif not any(part in code.co_filename for part in OWN):
            kind = FOREIGN
        else:
            kind = named.get(code, "calls")
        return kinds.setdefault(id(code), (code, kind))

    def of_thread(*first: Any) -> None:
        """Count in this thread from its first event on; each thread has its own stack of what is asked again and again."""
        asked: list[FrameType] = []

        def seen(frame: FrameType, event: str, argument: Any) -> None:
            if event == "c_call":
                if not asked and isinstance(argument.__self__, np.ndarray) and argument.__name__ in METHODS:
                    found[METHODS[argument.__name__]] += argument.__self__.size
            elif event == "call":
                code = frame.f_code
                kind = (kinds.get(id(code)) or kind_of(code))[1]
                if kind is FOREIGN:
                    return
                if kind is ASKED:
                    asked.append(frame)
                elif not asked:
                    found["calls"] += 1
                    if kind != "calls":
                        found[kind] += 1
            elif asked and event == "return" and asked[-1] is frame:
                asked.pop()

        if first:
            seen(*first)
        sys.setprofile(seen)

    def uncounted() -> None:
        """What a child of the function does is not counted: a wrapped function of numpy is none that plain code may call."""
        sys.setprofile(None)
        threading.setprofile(None)
        wrapped.close()

    with _functions_counted(found) as wrapped:
        os.register_at_fork(after_in_child=uncounted)
        threading.setprofile(of_thread)
        of_thread()
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
    """The bytes that a function holds at most at once, above what was there before.

    What its children hold is not part of it, and they draw several times slower while their memory is traced.
    """
    gc.collect()
    tracemalloc.start()
    os.register_at_fork(after_in_child=tracemalloc.stop)
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
