"""Foreign code in a child: its time, what it does beside returning, and what it leaves behind."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from dpspec_code import child_process as module
from dpspec_code.child_process import CAN_FORK, run_in_child
from dpspec_code.trial import FunctionActsError, FunctionReturnsError

from dpspec import read
from dpspec.base import time_limits
from dpspec.base.errors import DpspecError
from dpspec.base.time_limits import Stopwatch, allow_own_acts
from dpspec.verifier.entry import verify_claim

pytestmark = pytest.mark.skipif(not CAN_FORK, reason="foreign code runs in this process")

CLAIM = """
schema = 1
id = "bits"
title = "bits"
space = { type = "bit-vectors", length = 2 }
input_divergence = { type = "hamming-ordered" }
output_divergence = { type = "mult" }
budget = { epsilon = 1 }
"""


@pytest.fixture(name="spec")
def _spec(tmp_path: Path) -> Any:
    path = tmp_path / "bits.dpspec.toml"
    path.write_text(CLAIM)
    return read(path).spec


@pytest.mark.skipif(not Path("/proc/self/schedstat").exists(), reason="the kernel does not tell who waits")
def test_work_that_sleeps_has_the_time_of_work_that_runs() -> None:
    """Without it the child would sleep for ten minutes."""
    ended = run_in_child(lambda tell: time.sleep(600), seconds=0.3)
    assert ended.late
    clock = module.Clock(60)
    run_in_child(lambda tell: time.sleep(0.4), seconds=5)
    assert 0.3 < clock.spent() < 30


def test_waiting_for_a_processor_is_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two seconds on the wall of which one was spent in the queue, and none on a processor: one second asleep."""
    times = iter([(0.0, 0.0), (0.0, 1.0)])
    walls = iter([0.0, 2.0])
    monkeypatch.setattr(time_limits, "account_of", lambda process: next(times))
    monkeypatch.setattr(module.time, "process_time", lambda: 5.0)
    monkeypatch.setattr(module.time, "monotonic", lambda: next(walls))
    assert Stopwatch(60).spent() == pytest.approx(1.0)


def test_what_a_child_started_ends_with_it() -> None:
    def starts(tell: Any) -> int:
        with allow_own_acts():  # as code does that is not seen by audit hooks
            return subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]).pid

    started = run_in_child(starts).value
    assert isinstance(started, int)
    for _ in range(6000):  # what was killed takes a moment to die
        if _is_gone(started):
            break
        time.sleep(0.05)
    assert _is_gone(started)


def _is_gone(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0] == "Z"
    except OSError:
        return True


def test_what_is_printed_without_end_does_not_fill_the_disk() -> None:
    with module.print_file() as printed:
        printed.write(b"x" * (module._MOST_PRINTED + 1))
        assert not module._is_over(os.getpid(), time.monotonic(), printed, None)
        printed.write(b"y")
        printed.flush()
        assert os.fstat(printed.fileno()).st_size == module._SHOWN + 1


def _write(path: str) -> None:
    with open(path, "a", encoding="utf-8") as file:
        file.write("x")


ACTS: dict[str, Callable[[str], Any]] = {
    "open": _write,
    "os.open": lambda path: os.open(path, os.O_CREAT | os.O_WRONLY),
    "Path.touch": lambda path: Path(path).touch(),
    "tempfile": lambda path: tempfile.NamedTemporaryFile(delete=False),  # noqa: SIM115
    "os.mkdir": os.mkdir,
    "shutil.copy": lambda path: shutil.copy(__file__, path),
    "subprocess": lambda path: subprocess.Popen(["true"]),
    "os.system": lambda path: os.system("true"),  # noqa: S605
    "os.fork": lambda path: os.fork() or os._exit(0),
    "socket": lambda path: socket.create_connection(("127.0.0.1", 9)),
    "os.kill": lambda path: os.kill(os.getppid(), signal.SIGTERM),
}


@pytest.mark.spread(12, slow=12)
@pytest.mark.parametrize("name", list(ACTS))
@pytest.mark.parametrize("quietly", [False, True])
def test_a_function_that_does_more_than_to_return_is_bad_input(name: str, quietly: bool, tmp_path: Path, spec: Any) -> None:
    kept = sorted(tmp_path.iterdir())

    def releases(bits: Any, rng: Any) -> int:
        try:
            ACTS[name](str(tmp_path / "left"))
        except OSError:
            if not quietly:
                raise
        return int(rng.random() < 0.5)

    with pytest.raises(FunctionActsError, match="it was not let"):
        verify_claim(releases, spec, draws=50)
    assert sorted(tmp_path.iterdir()) == kept


@pytest.mark.parametrize("later", [(0, 1), (1, 1)])
def test_an_act_on_some_datasets_only_is_bad_input_as_well(later: Any, tmp_path: Path, spec: Any) -> None:
    def releases(bits: Any, rng: Any) -> int:
        if tuple(bits) == later:
            _write(str(tmp_path / "left"))
        return 0

    with pytest.raises(FunctionActsError):
        verify_claim(releases, spec, draws=50)


def test_reading_and_threads_are_no_acts(spec: Any) -> None:
    def releases(bits: Any, rng: Any) -> int:
        worker = threading.Thread(target=lambda: Path(__file__).read_text(encoding="utf-8"))
        worker.start()
        worker.join()
        return int(rng.random() < 0.5)

    assert verify_claim(releases, spec, draws=50).method == "sampled"


@pytest.mark.parametrize("made", [lambda: (one for one in [1]), lambda: iter([1]), lambda: lambda: 1, lambda: map(abs, [1])])
def test_what_has_not_been_computed_is_bad_input(made: Callable[[], Any], spec: Any) -> None:
    with pytest.raises(FunctionReturnsError, match="return the values"):
        verify_claim(lambda bits, rng: made(), spec, draws=50)


def test_a_list_that_ends_in_a_generator_now_and_then_is_judged(spec: Any) -> None:
    found = verify_claim(lambda bits, rng: iter([1]) if sum(bits) else [1], spec, draws=5000)
    assert found.outcome.value == "refuted"


def test_the_error_names_the_function(spec: Any) -> None:
    def writer(bits: Any) -> None:
        _write("left")

    with pytest.raises(DpspecError, match=r"writer: does more .*open\('left'\)"):
        verify_claim(writer, spec, draws=50)
