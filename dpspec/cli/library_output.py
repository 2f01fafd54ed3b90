"""Output of libraries to standard error and standard output while a command runs: captured, and reported in one line.

A library that panics, or an allocator that runs out of memory, writes hundreds or thousands of lines to file descriptor 2. They
may quote cells of a table, which are confidential, and control codes. A solver that writes a line to descriptor 1 makes an answer
in JSON unreadable. Here both descriptors lead into a pipe of which the beginning is kept and the rest is counted, while answers
and messages of dpspec itself go to the terminal by copies of the descriptors. What other code prints by `sys.stdout` while a
command runs goes into the pipe as well (`dpspec.base.streams`).

A command runs in a child process, which sends its exit code. Code of others that ends the child before, by an abort or by
`os._exit(0)`, does not decide how the command ends: this process reports it.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import io
import math
import mmap
import os
import re
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, NoReturn

from dpspec.base import streams
from dpspec.base.errors import count, harmless
from dpspec.base.time_limits import NOTE, Note, unfinished

KEPT = 1 << 14
"""Bytes that are kept of what is written."""
LINES_SHOWN = 20
"""Lines that are shown on request."""
_JOINED = 1.0
"""Seconds to wait for the end of the pipe: a process that a library started may hold it open."""


_PANIC = re.compile(rb"panicked at (?:[^\n]*, )?([A-Za-z0-9_./-]{1,200}:\d{1,9}(?::\d{1,9})?)")
"""The location of a panic of a library written in Rust: a place in its source, which contains no data."""


class LibraryOutput:
    """Captured output of libraries. (No attrs class: `dpspec --help` imports this module.)

    Args:
        begins: its first bytes.
        lines: how many lines there were.

    Attributes:
        unfinished: whose code was being loaded when the process ended; empty for none.
    """

    def __init__(self, begins: bytes = b"", lines: int = 0) -> None:
        self.begins, self.lines = begins, lines
        self.unfinished = ""

    def take(self, part: bytes) -> None:
        """Add a part of it; no more than the beginning is kept."""
        self.begins += part[: KEPT - len(self.begins)]
        self.lines += part.count(b"\n")

    def summary(self, *, whole: bool) -> str:
        """One line about it, with its beginning on request; empty for nothing.

        >>> LibraryOutput(b"thread panicked", 148).summary(whole=False).partition(",")[0]
        'note: libraries wrote 148 lines to standard output or error'
        """
        if not self.begins.strip():  # the space of a prompt is nothing
            return ""
        wrote = f"note: libraries wrote {count(max(self.lines, 1), 'line')} to standard output or error"
        panic = _PANIC.search(self.begins)
        if panic is not None:
            wrote += f" (a panic in {harmless(panic[1].decode('ascii'))})"
        if not whole:
            return f"{wrote}, not shown as they may quote data; --traceback shows them"
        text = harmless(self.begins.decode("utf-8", "replace")).splitlines()
        return "\n".join([f"{wrote}, beginning with:", *(f"  {line[:200]}" for line in text[:LINES_SHOWN])])


@contextlib.contextmanager
def captured(*, wanted: bool = True) -> Iterator[LibraryOutput]:
    """Capture what libraries write to the output and error of the process, each where `sys` has no other stream for it.

    Args:
        wanted: whether to capture it.
    """
    found = LibraryOutput()
    if not wanted or not _is_own(sys.stderr, 2):
        yield found
        return
    shown, own = warnings.showwarning, [number for number in _STREAMS if _is_own(getattr(sys, _STREAMS[number]), number)]
    before = [(number, os.dup(number), getattr(sys, _STREAMS[number])) for number in own]
    received, sent = os.pipe()
    drain = _draining(received, found)
    _redirect(sent)
    try:
        yield found
    finally:
        warnings.showwarning, streams.printed = shown, None
        _flush_c()
        for number, terminal, stream in before:
            with contextlib.suppress(OSError, ValueError):
                getattr(sys, _STREAMS[number]).flush()
            _replace(number, stream)
            os.dup2(terminal, number)
            os.close(terminal)
        drain.join(_JOINED)


_STREAMS = {1: "stdout", 2: "stderr"}
"""The streams that are captured, by their descriptors."""


def _is_own(stream: Any, number: int) -> bool:
    """Whether this is the stream of the process with a descriptor, and no other stream has replaced it."""
    if stream is None or stream is not getattr(sys, f"__{_STREAMS[number]}__"):
        return False
    try:
        return int(getattr(stream, "fileno", lambda: -1)()) == number
    except (OSError, ValueError):
        return False


def _replace(number: int, stream: Any) -> None:
    """Let `sys` have another stream. The one in `__stdout__` is asked for the width of the terminal."""
    setattr(sys, _STREAMS[number], stream)
    setattr(sys, f"__{_STREAMS[number]}__", stream)


def _flush_c() -> None:
    """Write what the C library holds back, before its descriptors lead to the terminal again.

    Whatever calls C has imported ctypes, as numpy does; `dpspec --help` need not import it.
    """
    ctypes = sys.modules.get("ctypes")
    if ctypes is not None and os.name == "posix":
        ctypes.CDLL(None).fflush(None)


def _redirect(sent: int) -> None:
    """Let descriptors 1 and 2 lead into a pipe, and `sys.stdout` and `sys.stderr` to where these led."""
    for number, name in _STREAMS.items():
        stream = getattr(sys, name)
        if not _is_own(stream, number):
            continue
        stream.flush()
        raw = os.fdopen(os.dup(number), "wb", 0)
        opened: io.TextIOBase
        os.dup2(sent, number)
        if number == 2:
            opened = io.TextIOWrapper(raw, stream.encoding, "backslashreplace", line_buffering=True, write_through=True)
        else:
            buffer = io.BufferedWriter(raw)
            opened = io.TextIOWrapper(buffer, stream.encoding, stream.errors, line_buffering=stream.line_buffering)
        _replace(number, opened)
    os.close(sent)
    streams.printed = streams.Pipe(2)
    vars(warnings)["showwarning"] = _warn


def _draining(received: int, found: LibraryOutput) -> threading.Thread:
    """A thread that reads a pipe to its end."""
    drain = threading.Thread(target=_drain, args=(received, found), daemon=True)
    drain.start()
    return drain


_PASSED_ON = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT")
"""Signals that end the child in the place of this process."""
_INTERRUPT = (signal.SIGINT, signal.SIGTERM)
_BY_KERNEL = 0x80
"""si_code of a signal that the terminal sends: the child, of the same group, gets it too."""
_KILLED = (
    "the command was in a call of a library when it was interrupted, which did not return in time: its process was killed; "
    "a budget that it had reserved in an account stays reserved"
)
_PR_SET_PDEATHSIG = 1
GRACE = 30.0
"""Seconds after an interruption in which a command may end by itself, to undo what it had begun. A call of a library, as of a
solver, ends only with its work, and Python sees no signal before. An account waits for another writer for 10 s."""


def run_in_child(work: Callable[[], int]) -> tuple[int | None, LibraryOutput] | None:
    """Run a command in a child of this process, and capture what libraries write there.

    Args:
        work: the command; returns its exit code.

    Returns:
        the exit code, negative for the number of a signal that ended the child, or None where the child ended before the command
        did, and the output; or None where the system has no such children, or `sys.stderr` is not the one of the process:
        nothing was run then. A child that does not end within `GRACE` seconds of an interruption is killed: what it writes is
        whole or absent, as after a failure of the machine.
    """
    if not (hasattr(os, "fork") and hasattr(signal, "sigwaitinfo") and _is_own(sys.stderr, 2)):
        return None
    found, place = LibraryOutput(), mmap.mmap(-1, NOTE)
    received, sent = os.pipe()
    result, reply = os.pipe()
    _flush()
    waited = {getattr(signal, name) for name in _PASSED_ON}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {*waited, signal.SIGCHLD, signal.SIGUSR1})
    gc.freeze()  # the child would copy what is there, to look for garbage
    child = os.fork()
    if not child:
        os.close(received)
        os.close(result)
        _count_interruptions()
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        _end_with_parent()
        unfinished.place = place
        _redirect(sent)
        code = work()
        os.write(reply, bytes([code & 0xFF]))
        _end(code)
    os.close(sent)
    os.close(reply)
    drain = _draining(received, found)
    try:
        status = _wait_for(child, waited)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    drain.join(_JOINED)
    found.unfinished = Note(place).read()
    os.set_blocking(result, False)  # a process that the child has left behind may hold the other end
    with os.fdopen(result, "rb", 0) as pipe:
        answer = pipe.read(1)
    return (-os.WTERMSIG(status) if os.WIFSIGNALED(status) else answer[0] if answer else None), found


def _wait_for(child: int, waited: set[int]) -> int:
    """The wait status of a child, to which blocked signals are passed on; it is killed where an interruption does not end it."""
    interrupted, deadline = 0, math.inf
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            break
        got = _next_signal({*waited, signal.SIGCHLD}, deadline)
        if got is None:
            os.kill(child, signal.SIGKILL)
            deadline = math.inf
            with contextlib.suppress(OSError, ValueError):
                sys.stderr.write(f"note: {_KILLED}\n")
            continue
        if got.si_signo in waited and got.si_code != _BY_KERNEL:
            os.kill(child, signal.SIGUSR1 if got.si_signo == signal.SIGINT else got.si_signo)
        if got.si_signo in _INTERRUPT and not interrupted and signal.getsignal(got.si_signo) != signal.SIG_IGN:
            interrupted, deadline = got.si_signo, time.monotonic() + GRACE
    killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
    return interrupted if interrupted and killed else status  # the status of a process that this signal ended


def _next_signal(numbers: set[int], deadline: float) -> Any:
    """The next of some blocked signals; None where none comes until a time of the monotonic clock."""
    if math.isinf(deadline):
        return signal.sigwaitinfo(numbers)
    return signal.sigtimedwait(numbers, max(0.0, deadline - time.monotonic()))


def _count_interruptions() -> None:
    """An interruption of the whole group comes twice, by itself and from the parent, as SIGUSR1: it is one."""
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        signal.signal(signal.SIGUSR1, signal.SIG_IGN)
        return
    seen = {signal.SIGINT: 0, signal.SIGUSR1: 0}

    def interrupt(number: int, frame: FrameType | None) -> None:
        before = max(seen.values())
        seen[signal.Signals(number)] += 1
        if max(seen.values()) > before:
            signal.default_int_handler(signal.SIGINT, frame)

    for number in seen:
        signal.signal(number, interrupt)


def _flush() -> None:
    """Write what the streams of Python hold back; a process may have no output."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()


def _end(code: int) -> NoReturn:
    """End this process as the interpreter would at the end of its program; the caller of the command goes on in the parent."""
    threading._shutdown()  # type: ignore[attr-defined]  # the threads that are waited for
    atexit._run_exitfuncs()
    _flush()
    os._exit(code & 0xFF)


def _end_with_parent() -> None:
    """Let the kernel end this process when its parent is killed, where it can."""
    if sys.platform == "linux":
        import ctypes

        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _drain(descriptor: int, found: LibraryOutput) -> None:
    with contextlib.suppress(OSError):
        while part := os.read(descriptor, 1 << 16):
            found.take(part)
    with contextlib.suppress(OSError):
        os.close(descriptor)


def _warn(message: Warning | str, category: type[Warning], filename: str, lineno: int, *_: Any, **__: Any) -> None:
    """A warning of Python, as of numpy about a division by zero, is what a library writes as well."""
    with contextlib.suppress(OSError):
        os.write(2, warnings.formatwarning(message, category, filename, lineno).encode("utf-8", "backslashreplace"))
