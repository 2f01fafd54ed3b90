"""Test set-up for the whole checkout: profiles, and `pytest --references`.

pytest                          what runs by default: about ten minutes on two processors
pytest --profile slow           that, and the tests marked slow
pytest --profile slow -m slow   these alone: what .ci/run adds
pytest --profile long           everything: also the tests marked long, and more examples of Hypothesis
"""

from __future__ import annotations

import gc
import hashlib
import os
import signal
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

collect_ignore = [
    "specs/bad", "specs/lint", "specs/deployments", "dpspec/specfile/new.dpspec.toml", "dpspec/scaffold/examples",
]  # fmt: skip
"""Specification files that must fail, those that tests/specfile/test_deployments.py judges, the template of new ones, and those
that are copies of files in specs (a test says so)."""

REFERENCE_IDS = Path(__file__).parent / "tests" / "reference-ids.txt"
REFERENCE_REASONS = REFERENCE_IDS.with_name("reference-reasons.txt")
"""Why an ID has no test: a line for each, the ID and the reason."""

LEFT_OUT = {"fast": {"slow", "long"}, "slow": {"long"}, "long": set[str]()}
"""Profile to the marks of the tests that it leaves out."""

ENDLESS = {"fast": 600.0}
"""Profile to the seconds of processor time after which a test is taken not to end: far above what any test takes on a slow
machine, so that no test fails because of the machine."""

for _library in ("OPENBLAS", "OMP", "MKL"):  # before numpy is imported; processes that tests start inherit it
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")
"""xdist has a worker for each processor already. Threads of OpenBLAS wait for each other busily: on processors that are all in
use they take several times the processor time of what they compute."""

os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
"""Without bytecode each process compiles all that it imports, and each worker of xdist rewrites all tests: twice the processor
time of collection and of each start of the program. A test sees dpspec as users have it."""

for name, examples in {"fast": 60, "slow": 60, "long": 1000}.items():
    settings.register_profile(name, derandomize=True, database=None, deadline=None, max_examples=examples)
settings.load_profile("fast")


@pytest.fixture(autouse=True)
def _typed_at_a_prompt(doctest_namespace: dict[str, object]) -> None:
    """What an example defines belongs to whoever types it: plain code of dpspec itself would not be read."""
    doctest_namespace["__name__"] = "__main__"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("dpspec")
    group.addoption("--references", action="store_true", help="print which reference IDs the tests cover, and which they do not")
    told = "fast (default); slow: also the tests marked slow; long: all, with more examples"
    group.addoption("--profile", choices=tuple(LEFT_OUT), default="fast", help=told)


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    if config.getoption("--references"):
        config.option.collectonly = True  # before the workers of xdist are asked for


def pytest_configure(config: pytest.Config) -> None:
    if hasattr(config, "workerinput"):
        os.environ.pop("COLUMNS", None)  # xdist sets it; what the tests print would be wrapped elsewhere than without it
    settings.load_profile(config.getoption("--profile"))


class EndlessError(BaseException):
    """Raised inside a test that does not end: no `except Exception` swallows it, Hypothesis does not try its example again."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[object]:
    """A mistake that makes code run for ever fails a test; it does not stop all of them.

    The timer is the one that neither the engine nor a test uses. It does not see processes that a test starts.
    """
    seconds = ENDLESS.get(item.config.getoption("--profile"))
    if seconds is None or not hasattr(signal, "setitimer"):
        return (yield)

    def late(*_: object) -> None:
        raise EndlessError(f"more than {seconds:g} s of processor time: does it end?")

    before = signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        return (yield)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[object]:
    """What is collected stays until the end: the collector of garbage need not walk over it while it grows."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()  # nor afterwards, and a forked process copies none of it
        gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what lies outside a spread as slow or long; then leave out what the profile does not run."""
    for item, mark in outside_spreads(items):
        item.add_marker(mark)
    unwanted = LEFT_OUT[config.getoption("--profile")]
    left_out = [item for item in items if any(item.get_closest_marker(mark) for mark in unwanted)]
    if left_out and not config.getoption("--references"):
        config.hook.pytest_deselected(items=left_out)
        gone = set(left_out)
        items[:] = [item for item in items if item not in gone]


def outside_spreads(items: Iterable[pytest.Item]) -> Iterator[tuple[pytest.Item, str]]:
    """The items of tests marked spread(size) that are not among the `size` kept ones of their test, each with its mark: slow; of
    spread(size, slow=number) only so many are, and those after them are long.

    The digest of its name chooses an item: the same ones on every machine, of all values of all parameters alike, and a new
    parameter moves few of the others.
    """
    tests: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item.get_closest_marker("spread") and not any(item.get_closest_marker(mark) for mark in ("slow", "long")):
            tests[item.nodeid.partition("[")[0]].append(item)
    for members in tests.values():
        marker = members[0].get_closest_marker("spread")
        size = marker.args[0] if marker else 0
        slow = marker.kwargs.get("slow", len(members)) if marker else 0
        ordered = sorted(members, key=lambda item: hashlib.sha256(item.nodeid.encode()).digest())
        yield from ((item, "slow" if place < slow else "long") for place, item in enumerate(ordered[size:]))


def covered(items: Iterable[pytest.Item]) -> dict[str, list[str]]:
    """Reference ID to the tests that name it; parameters of one test are counted once."""
    found: dict[str, list[str]] = defaultdict(list)
    for item in items:
        test = item.nodeid.partition("[")[0]
        for marker in item.iter_markers("reference"):
            for name in marker.args:
                if test not in found[name]:
                    found[name].append(test)
    return found


def reasons() -> dict[str, str]:
    """Reference ID to the reason why no test has it."""
    lines = REFERENCE_REASONS.read_text(encoding="utf-8").splitlines()
    return dict(line.split(maxsplit=1) for line in lines)


@pytest.hookimpl(tryfirst=True)
def pytest_report_collectionfinish(config: pytest.Config, items: list[pytest.Item]) -> list[str]:
    if not config.getoption("--references"):
        return []
    found = covered(items)
    known = REFERENCE_IDS.read_text(encoding="utf-8").split()
    lines = [f"{name:8} {test}" for name in known for test in found.get(name, ())]
    unknown = sorted(set(found) - set(known))
    lines += [f"{name:8} (not in tests/reference-ids.txt) {test}" for name in unknown for test in found[name]]
    missing, why = [name for name in known if name not in found], reasons()
    lines += [f"{len(known) - len(missing)} of {len(known)} reference IDs are covered", "not covered, with a reason:"]
    lines += [f"{name:8} {why[name]}" for name in missing if name in why] or ["none"]
    lines += ["not covered, without a reason:", " ".join(name for name in missing if name not in why) or "none"]
    items.clear()
    return lines
