"""What every engine has in common: parts in their order, a few under way, the errors of kernels, equal versions everywhere."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeAlias, TypeVar

from dpspec.plugin import errors, workers

Handle = TypeVar("Handle")
Result: TypeAlias = "workers.Columns | Exception"

ROUNDS = 4
"""Parts for each worker: enough that none is idle for long, few enough that a part outweighs its transport."""
AHEAD = 2
"""Parts that are under way for each worker; memory grows with it, here and there."""


def processors() -> int:
    """How many processors this process may use."""
    from dpspec.plugin import applications  # with numpy, which a list of all workers does without

    return applications.processors()


def in_order(
    submit: Callable[[workers.Columns], Handle],
    result: Callable[[Handle], workers.Columns],
    parts: Iterable[workers.Columns],
    most: Callable[[], int],
) -> Iterator[workers.Columns]:
    """The results of parts in their order.

    Args:
        submit: gives a part to a worker.
        result: waits for its result.
        parts: cut one by one, when a worker can soon use them.
        most: how many parts may be under way now.
    """
    waiting: deque[Handle] = deque()
    for part in parts:
        waiting.append(submit(part))
        if len(waiting) >= most():
            yield result(waiting.popleft())
    while waiting:
        yield result(waiting.popleft())


def attempt(kernel: workers.Kernel, part: workers.Columns) -> Result:
    """The kernel's result, or what it raised: an engine would write that to its log, and an error names confidential values."""
    try:
        return kernel(part)
    except Exception as problem:
        return problem
    except BaseException as problem:  # a library that panics, which an engine would take for the end of the worker
        return errors.LibraryError(
            "worker", f"ended by {type(problem).__name__} in a kernel", "report it to the library's authors"
        )


def raised(found: Result) -> workers.Columns:
    """The result of a part.

    Raises:
        Exception: what its kernel raised.
    """
    if isinstance(found, Exception):
        raise found
    return found


def given_up(name: str) -> errors.WorkersError:
    """The error of a part that no worker survived."""
    rule, advice = "lost every worker that one of the parts was given to", "look whether the workers have memory enough"
    return errors.WorkersError("workers", rule, advice, value=name)


def cannot_run(name: str, problem: Exception) -> errors.WorkersError:
    """The error of workers that fail before the kernel runs, as where dpspec is missing. What they say may quote data."""
    rule = f"cannot run the kernel ({type(problem).__name__})"
    return errors.WorkersError("workers", rule, "install dpspec, its plugins and the same Python on every worker", value=name)


# --- versions -------------------------------------------------------------------------------------


def versions() -> dict[str, str]:
    """The versions on which the bytes of a release depend."""
    from importlib.metadata import distributions

    found = {str(d.name): d.version for d in distributions()}
    return {name: version for name, version in found.items() if name == "numpy" or name.startswith("dpspec")}


def check_versions(worker: str, found: Mapping[str, str], here: Mapping[str, str]) -> None:
    """The same kernel must mean the same everywhere: equal versions of numpy and of all that begins with dpspec.

    Args:
        worker: its name in the message.
        found: the versions of a worker.
        here: those of the process that gives it work.

    Raises:
        WorkersError: they differ.
    """
    for name in sorted(here.keys() | found.keys()):
        if here.get(name) != found.get(name):
            rule = f"has {name} {found.get(name, '(missing)')}, here it is {here.get(name, '(missing)')}"
            raise errors.WorkersError(worker, rule, "install the same versions on every worker")


def attempt_with(here: Mapping[str, str], kernel: workers.Kernel, part: workers.Columns) -> Result:
    """`attempt`, where the worker has the versions of the process that gives it work: any worker may get any part."""
    try:
        check_versions("worker", versions(), here)
    except errors.WorkersError as problem:
        return problem
    return attempt(kernel, part)
