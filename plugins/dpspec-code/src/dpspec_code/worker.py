"""``python -m dpspec_code.worker``: verify a named function in a new process, on systems without fork.

Reads what to verify from standard input (pickled by the process that started it), and writes the verdict as JSON into a file.
Nothing of what the module does to its own process reaches the one that prints the verdict.
"""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from dpspec import DpspecError, installed
from dpspec.plugin import PrivacySpec
from dpspec.plugin.judges import NamedFunction, error_to_data, judge_claim, text_of, to_data
from dpspec_code.functions import adapted, load_function

LATE = 75
"""The exit code of a worker whose time is over: EX_TEMPFAIL."""
START = 60.0
"""Seconds for a new process to import dpspec."""
_exit = os._exit  # the user's module may replace it


def run_worker(function: NamedFunction, spec: PrivacySpec) -> tuple[Any, int]:
    """Verify a function in a new process.

    Args:
        function: where it is, and how it is sampled.
        spec: the claim.

    Returns:
        its message, None for none, and its exit code.
    """
    seconds = float(function.sampling.seconds)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "message.json"
        given = pickle.dumps((function.path, function.sampling, spec, str(path)))
        try:
            done = subprocess.run(
                [sys.executable, "-P", "-m", "dpspec_code.worker"],
                input=given,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=3 * seconds + START,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return None, LATE
        return (json.loads(path.read_bytes()) if path.exists() else None), done.returncode


def _end_when_late(seconds: float, loaded: threading.Event) -> None:
    """End this process when the module is not loaded in its time, on a processor or asleep."""
    begun = time.monotonic()
    while not loaded.wait(0.05):
        if time.monotonic() - begun > seconds:
            _exit(LATE)


def main() -> None:
    """Execute the request from standard input."""
    path, sampling, spec, target = pickle.loads(sys.stdin.buffer.read())  # noqa: S301 - of the process that started this one
    registry, loaded = installed().registry, threading.Event()
    watch = threading.Thread(target=_end_when_late, args=(float(sampling.seconds), loaded), daemon=True)
    watch.start()
    try:
        call = load_function(path, sampling).call
        assert call is not None  # noqa: S101 - it was loaded
        call = adapted(call, spec.space, dataset=sampling.dataset, generator=sampling.generator, registry=registry)
        loaded.set()
        verdict = judge_claim(call, spec, registry=registry, **sampling.keywords)
        message: dict[str, Any] = {"verdict": to_data((verdict, None), displayed=True)}
    except DpspecError as fault:
        message = {"fault": error_to_data(fault)}
    except BaseException as problem:
        message = {"failure": f"{type(problem).__name__}: {text_of(problem)}"}
    Path(target).write_text(json.dumps(message), encoding="utf-8")
    _exit(0)


if __name__ == "__main__":
    main()
