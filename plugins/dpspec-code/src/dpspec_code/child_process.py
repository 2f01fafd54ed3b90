"""Runs untrusted code in a child process: its side effects stay there, and the way it ends is reported.

The child is a fork, so that any function can be handed to it, a lambda too. Its standard output and error go to a file of their
own; its result, or its exception, comes back by a pipe. On systems without fork the code runs in this process.

Time is what the work had (`Stopwatch`): on a processor, or asleep, but not in the queue for a processor, so that a busy machine
changes nothing, and work that waits for ever ends. The kernel ends a child that has used its part of a processor; the parent
one that has slept too long. What it started goes with it.

Only the return value of a function is verified. An act with effects elsewhere, such as writing a file, starting a process or
sending a message, is blocked (`Act`) and reported: no effect remains.
"""

from __future__ import annotations

import contextlib
import faulthandler
import io
import mmap
import os
import pickle
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import IO, Any, Generic, TypeVar

import attrs

from dpspec.plugin.judges import NOTE, Note, Progress, Stopwatch, account_of, allow_own_acts, own_acts_allowed

Result = TypeVar("Result")

CAN_FORK = hasattr(os, "fork") and sys.platform != "win32"
_SHOWN, _MOST_PRINTED = 1 << 16, 1 << 24


@attrs.frozen(kw_only=True)
class Returned(Generic[Result]):
    """The result of a child process.

    Args:
        value: the result; None where the process ended without one.
        printed: what was written to standard output and error.
        ended: how the process ended before its work was done; empty where it was not.
        late: whether it was ended because its time was over.
        note: the step during which it ended, by `note`.
        act: the blocked side effect; empty for none.
    """

    value: Result | None
    printed: str = ""
    ended: str = ""
    note: str = ""
    act: str = ""
    late: bool = False


# --- time -----------------------------------------------------------------------------------------


_slept = 0.0
"""Seconds that children of this process were asleep, until they ended."""


class Clock(Stopwatch):
    """The time that this process ran from now on, and that its children had that have ended; while it waits for them none passes.

    >>> Clock(30.0).left() <= 30.0
    True
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._start_used = _used()

    def spent(self) -> float:
        """Seconds since the start."""
        return _used() - self._start_used


def _used() -> float:
    try:
        import resource
    except ImportError:  # no such module on systems without fork, where there are no children either
        return time.process_time()
    return time.process_time() + sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2]) + _slept


# --- side effects -----------------------------------------------------------------------------------


class Act(PermissionError):
    """Foreign code would do something that is seen by others than who gets what it returns; it is not let."""


_CHANGES = frozenset({
    "os.chmod", "os.chown", "os.exec", "os.fork", "os.forkpty", "os.killpg", "os.link", "os.mkdir", "os.posix_spawn",
    "os.remove", "os.rename", "os.rmdir",
    "os.spawn", "os.symlink", "os.system", "os.truncate", "os.utime", "pty.spawn", "shutil.copyfile", "shutil.move",
    "shutil.rmtree", "socket.bind", "socket.connect", "socket.sendmsg", "socket.sendto", "subprocess.Popen",
})  # fmt: skip
"""The audit events of acts that are refused whatever they are about; `open` and `os.kill` depend on it."""

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def _refused(event: str, args: tuple[Any, ...]) -> None:
    """The audit hook of a child: what is an act, and not one of this module, is noted and refused."""
    if own_acts_allowed() or not (
        event in _CHANGES or (event == "open" and _writes(*args)) or (event == "os.kill" and args[0] != os.getpid())
    ):
        return
    about = next((str(part) for part in args if isinstance(part, (str, bytes, Path))), "")
    act = f"{event}({about!r})" if about else event
    _acts.write(act)
    raise Act(f"{act} is not allowed: dpspec checks what a function returns")


def _writes(path: object, mode: object, flags: object) -> bool:
    if isinstance(path, int) or path in (os.devnull, os.devnull.encode()):
        return False
    return bool(isinstance(mode, str) and set(mode) & set("wax+")) or bool(isinstance(flags, int) and flags & _WRITING)


_note, _acts = Note(), Note()


def note(text: str) -> None:
    """Record the next step; it is reported where the process ends in the middle of it."""
    _note.write(text)


PATIENCE = 20
"""Where the kernel does not report the waiting time, a child may take so many times its seconds, and as many more."""

_LOOK = 0.1
"""Seconds between two looks at what a child has had, and has printed."""

_LINGERS = 2.0
"""A child that has said all, or can say nothing any more, is ended after so many seconds."""


def run_in_child(
    work: Callable[[Progress], Result], progress: Progress | None = None, *, seconds: float | None = None
) -> Returned[Result]:
    """Run `work` in a child process, and hand back what it returns or raises.

    Args:
        work: takes a progress callback; returns something that can be pickled.
        progress: called in this process with the progress of the work.
        seconds: processor time that the child may take; the kernel then ends it, whatever it does.

    Raises:
        whatever the work raises.

    >>> run_in_child(lambda tell: 6 * 7).value
    42
    >>> run_in_child(lambda tell: os._exit(3)).ended
    'with exit code 3'
    >>> run_in_child(lambda tell: [None for _ in iter(int, 1)], seconds=0.05).late
    True
    """
    report = progress or (lambda _done, _all: None)
    if not CAN_FORK:
        return Returned(value=work(report))
    receiver, sender = Pipe(duplex=False)
    before, acted = _note.place, _acts.place
    _note.place, _acts.place = mmap.mmap(-1, NOTE), mmap.mmap(-1, NOTE)
    try:
        with print_file() as printed, receiver:
            child = _fork()
            if not child:
                receiver.close()
                _serve(work, sender, printed, seconds)
            sender.close()
            kind, content, status = _watched(child, receiver, report, printed, seconds)
            noted, act, text = _note.read(), _acts.read(), printed_text(printed)
    finally:
        _note.place, _acts.place = before, acted
    if kind == "failure":
        raise content
    if kind == "result":
        return Returned(value=content, printed=text, act=act)
    late = kind == "late" or (kind == "ended" and seconds is not None and status == -signal.SIGPROF)
    return Returned(value=None, printed=text, ended=content or describe_end(status), note=noted, late=late, act=act)


def print_file() -> IO[bytes]:
    """A file for what is printed: what is written to it is appended, also after it was cut."""
    import fcntl

    with allow_own_acts():
        printed = tempfile.TemporaryFile()  # noqa: SIM115 (it is closed by the caller)
    fcntl.fcntl(printed, fcntl.F_SETFL, fcntl.fcntl(printed, fcntl.F_GETFL) | os.O_APPEND)
    return printed


def fork() -> int:
    """A copy of this process: 0 in the copy."""
    with warnings.catch_warnings(), allow_own_acts():
        warnings.simplefilter("ignore", DeprecationWarning)  # other threads of ours hold no lock that the child needs
        return os.fork()


def _fork() -> int:
    child = fork()
    if child:
        with contextlib.suppress(OSError):
            os.setpgid(child, child)  # what it starts belongs to it, and ends with it
    return child


def _watched(
    child: int, receiver: Connection, report: Progress, printed: IO[bytes], seconds: float | None
) -> tuple[str, Any, int]:  # fmt: skip
    """What came of a child, and how it ended; with all that it started it is gone afterwards."""
    global _slept  # noqa: PLW0603
    begun = time.monotonic()
    try:
        kind, content = _received(receiver, report, lambda: _is_over(child, begun, printed, seconds))
        if kind == "late":
            with allow_own_acts():
                os.kill(child, signal.SIGKILL)
        _ends_soon(child)
        account = account_of(child)
        _slept += 0.0 if account is None else max(0.0, time.monotonic() - begun - sum(account))
    finally:  # also when this process was interrupted
        with contextlib.suppress(ProcessLookupError, PermissionError), allow_own_acts():
            os.killpg(child, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError), allow_own_acts():
            os.kill(child, signal.SIGKILL)
        status = _status(child)
    return kind, content, status


def _status(child: int) -> int:
    """The exit status of a child; 0 where SIGCHLD is ignored, and the system reports none."""
    try:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    except ChildProcessError:
        return 0


def _ends_soon(child: int) -> None:
    """Wait for the end of a child that has nothing more to say; it stays, so that its account can be read."""
    until = time.monotonic() + _LINGERS
    with contextlib.suppress(ChildProcessError):  # SIGCHLD is ignored, by this process or by code that it called
        while time.monotonic() < until and os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
            time.sleep(0.001)


MOST_MEMORY = 1 << 32
"""Bytes that a child may allocate beyond what it has when it begins: a function that takes more than that exhausts memory."""


def limit_memory() -> None:
    """Let this process allocate no more than MOST_MEMORY, where the kernel keeps such a limit."""
    with contextlib.suppress(ImportError, OSError, ValueError, IndexError, AttributeError):
        import resource

        used = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[5]) * resource.getpagesize()
        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        most = used + MOST_MEMORY if hard < 0 else min(used + MOST_MEMORY, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (most, hard))


def cut_print(printed: IO[bytes]) -> None:
    """Keep no more than the beginning of what is printed without end."""
    if os.fstat(printed.fileno()).st_size > _MOST_PRINTED:
        os.ftruncate(printed.fileno(), _SHOWN)


def _is_over(child: int, begun: float, printed: IO[bytes], seconds: float | None) -> bool:
    """Whether a child has had its time; what it prints without end is cut on the way."""
    cut_print(printed)
    if seconds is None:
        return False
    passed, account = time.monotonic() - begun, account_of(child)
    return passed > PATIENCE * (seconds + 1) if account is None else passed - account[1] > 1.05 * seconds + _LOOK


def _serve(work: Callable[[Progress], Any], sender: Connection, printed: IO[bytes], seconds: float | None) -> None:
    """The child's whole life."""
    status = 1
    try:
        with contextlib.suppress(OSError):
            os.setpgid(0, 0)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        if seconds is not None:
            signal.signal(signal.SIGPROF, signal.SIG_DFL)  # which ends the process, also in the middle of foreign code
            signal.setitimer(signal.ITIMER_PROF, max(seconds, 1e-3))
        redirect(printed)
        limit_memory()
        sys.dont_write_bytecode = True
        sys.addaudithook(_refused)
        try:
            message = ("result", work(lambda done, of: sender.send(("progress", (done, of)))))
        except KeyboardInterrupt:  # not from the keyboard, which ends this process by its signal
            message = ("ended", "by a KeyboardInterrupt of its own")
        except BaseException as problem:  # it is raised again in the calling process
            message = ("failure", problem)
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        sender.send_bytes(_pickled(*message))
        status = 0
    finally:
        os._exit(status)


def _pickled(kind: str, content: Any) -> bytes:
    try:
        data = pickle.dumps((kind, content))
        pickle.loads(data)  # noqa: S301 (our own bytes)
    except Exception as problem:
        if kind == "result":
            raise
        data = pickle.dumps((kind, RuntimeError(f"{type(content).__name__}: {content} ({problem})")))
    return data


def redirect(printed: IO[bytes]) -> None:
    """Let standard output and error of this process go to a file, and its standard input be empty."""
    faulthandler.disable()  # it may hold a copy of the terminal
    for descriptor in (1, 2):
        os.dup2(printed.fileno(), descriptor)
    out = io.TextIOWrapper(os.fdopen(1, "wb", 0, closefd=False), "utf-8", "backslashreplace", write_through=True)
    sys.stdout = sys.stderr = sys.__stdout__ = sys.__stderr__ = out  # type: ignore[misc]
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)


def _received(receiver: Connection, report: Progress, is_over: Callable[[], bool]) -> tuple[str, Any]:
    """How it went (result, failure, ended or late), and what belongs to it."""
    while True:
        try:
            if not receiver.poll(_LOOK):
                if is_over():
                    return "late", "by waiting too long"
                continue
            kind, content = receiver.recv()
        except (EOFError, OSError, pickle.UnpicklingError):
            return "ended", ""
        if kind != "progress":
            return kind, content
        report(*content)
        if is_over():
            return "late", "by waiting too long"


def describe_end(code: int) -> str:
    """How a process ended, by its exit status: negative for a signal."""
    if code >= 0:
        return f"with exit code {code}"
    try:
        name = signal.Signals(-code)
    except ValueError:
        return f"by signal {-code}"
    if code == -signal.SIGPROF:
        return "when its time was over"
    words = {signal.SIGSEGV: "a segmentation fault", signal.SIGABRT: "an abort", signal.SIGKILL: "a kill"}
    return f"by {words.get(name, 'a signal')} ({name.name})"


def printed_text(printed: IO[bytes]) -> str:
    """How what was printed begins."""
    printed.seek(0)
    return printed.read(_SHOWN).decode("utf-8", "replace")


# --- a process in which the code was never called -------------------------------------------------


class Spare(Generic[Result]):
    """A copy of this process as it is now, from which questions are answered later, each by a fresh copy of it.

    Args:
        answer: takes a question that can be pickled, and returns something that can be.

    >>> seen = [1]
    >>> with Spare(lambda extra: seen + [extra]) as spare:
    ...     seen.append(2)
    ...     spare.ask(3)
    [1, 3]
    """

    def __init__(self, answer: Callable[[Any], Result]) -> None:
        self._answer = answer
        self._child = 0
        self._line: Connection | None = None

    def __enter__(self) -> Spare[Result]:
        if CAN_FORK:
            self._line, theirs = Pipe()
            with print_file() as printed:
                self._child = _fork()
                if not self._child:
                    self._line.close()
                    self._wait(theirs, printed)
            theirs.close()
        return self

    def _wait(self, line: Connection, printed: IO[bytes]) -> None:
        """The main loop of the copy: fork for every request."""
        try:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            redirect(printed)
            while True:
                question = line.recv()
                try:
                    line.send((True, run_in_child(lambda _, asked=question: self._answer(asked)).value))  # type: ignore[misc]
                except Exception as problem:
                    line.send((False, repr(problem)))
        finally:
            os._exit(0)

    def ask(self, question: Any) -> Result | None:
        """The answer of a fresh copy; None where there is none, as when the copy ended in the middle of it."""
        if self._line is None:
            return None
        try:
            self._line.send(question)
            answered, answer = self._line.recv()
        except (EOFError, OSError):
            return None
        found: Result | None = answer if answered else None
        return found

    def __exit__(self, *_: object) -> None:
        if self._line is not None:
            self._line.close()
            with contextlib.suppress(ProcessLookupError), allow_own_acts():
                os.kill(self._child, signal.SIGKILL)
            _status(self._child)
            self._line = None
