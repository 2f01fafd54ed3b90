"""A sandbox for a user's module: it is imported, and its functions are called, in a process of its own.

    this process     reads typed messages (JSON lines), measures time, decides the exit code; it never runs the user's code
      supervisor     a fork of it, in a session of its own: no terminal; ends the worker and all that the worker started
        worker       a fork of that: imports the module, and does the work

What the worker may do to itself (end, hang, print, patch modules, close files) reaches this process as a message, or as an end
without one. The worker hands back JSON data, never pickled objects, so that reading an answer runs none of its code.

This protects from mistakes and from ordinary misbehaviour. It is no jail: code that is written to attack dpspec runs with the
rights of the user, as it does everywhere.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import json
import os
import select
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, NoReturn

import attrs

import dpspec
from dpspec import DpspecError
from dpspec.plugin.judges import (
    LibraryError,
    OwnFaultError,
    Progress,
    account_of,
    allow_own_acts,
    error_from_data,
    error_to_data,
    harmless,
    own_acts_allowed,
)
from dpspec_code.child_process import (
    PATIENCE,
    cut_print,
    describe_end,
    fork,
    limit_memory,
    print_file,
    printed_text,
    redirect,
)
from dpspec_code.fingerprint import Fingerprint, ProcessSettings, explained
from dpspec_code.trial import BrokenChannelError

POLL = 0.1
"""Seconds between two measurements of the time that a worker had."""
MOST_BYTES = 64_000_000
"""Bytes of messages that are read from a worker; a verdict on a large space takes a few hundred thousand."""
SLACK, RESERVE = 2.0, 30.0
"""A worker that has loaded a module bounds its own work; it is ended after this many times its seconds and so many more."""

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_exit, _write, _dumps = os._exit, os.write, json.dumps  # the user's module may replace them


@attrs.frozen(kw_only=True)
class SandboxResult:
    """The result of the work of a sandbox.

    Args:
        data: the result; None where there is none.
        ended: how the worker ended before it had a result; empty where it had one.
        late: whether it was ended because its time was over.
        loaded: whether it was past loading.
        printed: how what it wrote to standard output and error begins.
    """

    data: Any = None
    ended: str = ""
    late: bool = False
    loaded: bool = False
    printed: str = ""


class Channel:
    """The worker's end of the channel."""

    def __init__(self, descriptor: int, token: str) -> None:
        self._descriptor, self._token = descriptor, token
        os.register_at_fork(after_in_child=self._close)  # what the worker starts has no part in it

    def _close(self) -> None:
        with contextlib.suppress(OSError):
            os.close(self._descriptor)
        self._descriptor = -1

    def send(self, kind: str, content: Any = None) -> None:
        """Send one typed message."""
        data = memoryview(_dumps([self._token, kind, content]).encode() + b"\n")
        while data:
            data = data[_write(self._descriptor, data) :]

    def progress(self, done: int, of: int) -> None:
        """Report progress."""
        self.send("progress", [int(done), int(of)])


def run_sandboxed(
    load: Callable[[], Any],
    work: Callable[[Any, Progress], Any],
    *,
    about: str,
    seconds: float,
    progress: Progress | None = None,
) -> SandboxResult:
    """Load something foreign and work with it, in a sandbox.

    Args:
        about: what is loaded, such as `module:name`, for errors.
        load: imports the user's code; it may take `seconds`.
        work: takes what was loaded, and a function that reports progress; returns JSON data. It bounds its own time by `seconds`.
        seconds: processor time, or time asleep.
        progress: called in this process.

    Raises:
        DpspecError: what the work raised. FunctionPatchesError: the loaded code replaces parts of dpspec or of a library that it
        computes with. LibraryError, OwnFaultError: it failed otherwise. BrokenChannelError: its messages make no sense.
    """
    received, sent = os.pipe()
    report_end, report_start = os.pipe()
    held, hold = os.pipe()  # the supervisor ends everything once this process has closed `hold`, or has died
    token = os.urandom(16).hex()  # code that writes into a descriptor by accident cannot guess it
    job = _Job(load=load, work=work, about=about, seconds=seconds, token=token)
    with print_file() as printed:
        supervisor = fork()
        if not supervisor:
            for descriptor in (received, report_end, hold):
                os.close(descriptor)
            _supervise(job, sent, report_start, held, printed)
        for descriptor in (sent, report_start, held):
            os.close(descriptor)
        try:
            reader = _MessageReader(received=received, report_end=report_end, job=job, printed=printed, progress=progress)
            outcome = reader.outcome()
        finally:  # also when this process was interrupted
            for descriptor in (hold, received):
                os.close(descriptor)
            status = _rest(report_end)
            with allow_own_acts():
                os.waitpid(supervisor, 0)
        return reader.finished(outcome, status)


@attrs.frozen(kw_only=True)
class _Job:
    """What a sandbox does.

    Args:
        load, work, about, seconds: as for `run_sandboxed`.
        token: what every message of the worker begins with.
    """

    load: Callable[[], Any]
    work: Callable[[Any, Progress], Any]
    about: str
    seconds: float
    token: str = attrs.field(repr=False)


# --- this process ---------------------------------------------------------------------------------


@attrs.define(kw_only=True)
class _MessageReader:
    """Reads the messages of a worker, and measures the time that it had."""

    received: int
    report_end: int
    job: _Job
    printed: IO[bytes]
    progress: Progress | None
    loaded: bool = False
    _begun: float = attrs.field(factory=time.monotonic)
    _waited: dict[int, float] = attrs.field(factory=dict)
    _worker: int = 0

    def outcome(self) -> tuple[str, Any] | None:
        """The last message; None where the worker ended without a result, `late` where its time was over."""
        line = b""
        self._worker = int(_line(self.report_end) or 0)
        while True:
            ready, _, _ = select.select([self.received], [], [], POLL)
            if ready:
                part = os.read(self.received, 1 << 16)
                if not part:
                    return None
                *lines, line = (line + part).split(b"\n")
                for each in lines:
                    message = self._message(each)
                    if message[0] in ("result", "fault", "failure"):
                        return message
                    self._take(message)
                if len(line) > MOST_BYTES:
                    raise self._broken("writes without end")
            if self._is_over():
                return "late", None

    def _take(self, message: tuple[str, Any]) -> None:
        kind, content = message
        if kind == "loaded" and not self.loaded:
            self.loaded, self._begun, self._waited = True, time.monotonic(), {}
        elif kind == "progress" and isinstance(content, list) and [type(number) for number in content] == [int, int]:
            if self.progress is not None:
                self.progress(*content)
        else:
            raise self._broken("writes")

    def _message(self, line: bytes) -> tuple[str, Any]:
        if len(line) > MOST_BYTES:
            raise self._broken("writes without end")
        token, kind, content = self.decoded(lambda: _three(json.loads(line)))
        if token != self.job.token:
            raise self._broken("writes")
        return str(kind), content

    def decoded(self, read: Callable[[], Any]) -> Any:
        """What is read of a worker's message.

        Raises:
            BrokenChannelError: it makes no sense.
        """
        return decoded(read, self.job.about)

    def _broken(self, does: str) -> BrokenChannelError:
        return _broken(does, self.job.about)

    def _is_over(self) -> bool:
        cut_print(self.printed)
        passed, limit = time.monotonic() - self._begun, 1.05 * self.job.seconds + POLL
        if self.loaded:
            limit = SLACK * self.job.seconds + RESERVE
        if passed <= limit:
            return False
        if not self._worker or account_of(self._worker) is None:
            return passed > PATIENCE * (limit + 1)
        return passed - self._queued() > limit

    def _queued(self) -> float:
        """Seconds that the worker, or what it waits for, waited for a processor, as far as that was seen."""
        for process in _tree(self._worker):
            account = account_of(process)
            if account is not None:
                self._waited[process] = max(self._waited.get(process, 0.0), account[1])
        return sum(self._waited.values())

    def finished(self, message: tuple[str, Any] | None, status: str) -> SandboxResult:
        """What the work came to."""
        text = printed_text(self.printed)
        kind: str = "ended" if message is None else message[0]
        content: Any = None if message is None else message[1]
        if kind == "result":
            return SandboxResult(data=content, loaded=True, printed=text)
        if kind == "fault":
            raise self.decoded(lambda: error_from_data(content))
        if kind == "failure":
            raise _failure(self.decoded(lambda: {key: str(content[key]) for key in ("name", "place", "own")}), self.job.about)
        code = int(status) if status.lstrip("-").isdigit() else 0
        late = kind == "late" or code == -signal.SIGXCPU
        return SandboxResult(ended=describe_end(code), late=late, loaded=self.loaded, printed=text)


def _line(descriptor: int) -> bytes:
    """One line, of which the end is a line feed or the end of the pipe."""
    read = b""
    while not read.endswith(b"\n"):
        part = os.read(descriptor, 1)
        if not part:
            break
        read += part
    return read


def _rest(descriptor: int) -> str:
    """What is left in a pipe until its other end is closed."""
    read = b""
    while part := os.read(descriptor, 4096):
        read += part
    os.close(descriptor)
    return read.decode("ascii", "replace").strip()


def _three(parts: Any) -> tuple[Any, Any, Any]:
    token, kind, content = parts
    return token, kind, content


def decoded(read: Callable[[], Any], about: str) -> Any:
    """What is read of a worker's message.

    Raises:
        BrokenChannelError: it makes no sense.
    """
    try:
        return read()
    except (ValueError, TypeError, KeyError, AttributeError, LookupError, RecursionError):
        raise _broken("writes", about) from None


def _broken(does: str, about: str) -> BrokenChannelError:
    rule = f"{does} into the channel by which the result of its process comes back"
    return BrokenChannelError("function", rule, "leave open files alone that the module did not open", value=about)


def _failure(content: dict[str, str], about: str) -> DpspecError:
    """What the worker raised that is no error of dpspec; of memory and of user's code that is said."""
    name, place = harmless(content["name"]), harmless(content["place"])
    if content["own"] == "True":
        return OwnFaultError("dpspec", f"is at fault ({name} in {place})", "please report this line and the command")
    return LibraryError("function", f"raised {name} outside of a call ({place})", "fix the module", value=about)


def _tree(root: int) -> Iterator[int]:
    """A process and its descendants, as far as the kernel reports them."""
    waiting = [root]
    while waiting:
        process = waiting.pop()
        yield process
        waiting += _children(process)


def _children(process: int | str) -> list[int]:
    found: list[int] = []
    with contextlib.suppress(OSError):
        for path in Path(f"/proc/{process}/task").glob("*/children"):
            found += map(int, path.read_text(encoding="ascii").split())
    return found


# --- the supervisor -------------------------------------------------------------------------------


def _control_process(option: int, value: int) -> None:
    """A request to the kernel about this process, where there is such a thing."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)


def _let_go_of_files(*kept: int) -> None:
    """Let all files that were open before lead nowhere: copies of the terminal, pipes of the caller.

    Their descriptors stay taken, so that an object of the caller that closes one closes no file of this process.
    """
    null = os.open(os.devnull, os.O_RDWR)
    with contextlib.suppress(OSError):
        for name in os.listdir("/proc/self/fd"):
            if int(name) > 2 and int(name) not in kept:
                with contextlib.suppress(OSError):
                    os.dup2(null, int(name))


def _silence() -> None:
    """Let this process have no part in the terminal."""
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)


def _supervise(job: _Job, sent: int, report_start: int, held: int, printed: IO[bytes]) -> NoReturn:
    """The supervisor's whole life: it runs none of the user's code."""
    try:
        with contextlib.suppress(OSError):
            os.setsid()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            signal.signal(number, signal.SIG_IGN)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        _control_process(_PR_SET_CHILD_SUBREAPER, 1)
        worker = fork()
        if not worker:
            os.close(report_start)
            os.close(held)
            _serve(job, sent, printed)
        os.close(sent)
        _silence()
        os.write(report_start, b"%d\n" % worker)
        status = _waited(worker, held)
        _end_children(worker)
        os.write(report_start, b"%d\n" % status)
    finally:
        _exit(0)


def _waited(worker: int, held: int) -> int:
    """The exit status of the worker, which is ended when no process waits for it any more."""
    watched = [held]
    with contextlib.suppress(OSError, AttributeError):
        watched.append(os.pidfd_open(worker))
    while True:
        ready, _, _ = select.select(watched, [], [], 60 if len(watched) > 1 else 0.02)
        if held in ready:
            with contextlib.suppress(OSError), allow_own_acts():
                os.kill(worker, signal.SIGKILL)
            return os.waitstatus_to_exitcode(os.waitpid(worker, 0)[1])
        process, status = os.waitpid(worker, os.WNOHANG)
        if process:
            return os.waitstatus_to_exitcode(status)


def _end_children(worker: int) -> None:
    """End what the worker started and left: its process group, and where the kernel hands them over all others as well."""
    with contextlib.suppress(OSError):
        os.killpg(worker, signal.SIGKILL)
    for _ in range(10_000):
        for process in _children("self"):
            with contextlib.suppress(OSError):
                os.kill(process, signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


# --- the worker -----------------------------------------------------------------------------------


def _serve(job: _Job, sent: int, printed: IO[bytes]) -> NoReturn:
    """The worker's whole life."""
    status = 1
    try:
        with contextlib.suppress(OSError):
            os.setpgid(0, 0)
        _control_process(_PR_SET_PDEATHSIG, signal.SIGKILL)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            signal.signal(number, signal.SIG_DFL)
        _limit(job.seconds)
        redirect(printed)
        _let_go_of_files(sent, printed.fileno())
        channel, fingerprint, settings = Channel(sent, job.token), Fingerprint.taken(), ProcessSettings.taken()
        sys.addaudithook(_guard)
        try:
            loaded = job.load()
            settings.restore(job.about)
            redirect(printed)
            fingerprint.check(job.about)
            channel.send("loaded")
            message: tuple[str, Any] = "result", job.work(loaded, channel.progress)
        except DpspecError as fault:
            message = "fault", error_to_data(fault)
        except BaseException as problem:
            cause = explained(problem, fingerprint, settings, job.about)
            message = ("failure", _described(problem)) if cause is None else ("fault", error_to_data(cause))
        channel.send(*message)
        status = 0
    finally:
        _exit(status)


def _limit(seconds: float) -> None:
    """Bounds that the kernel keeps: processor time of each process of the worker, and no core dumps."""
    import resource

    limit_memory()
    most = int(SLACK * seconds + RESERVE) + 1
    for kind, wanted in ((resource.RLIMIT_CPU, most), (resource.RLIMIT_CORE, 0)):
        with contextlib.suppress(OSError, ValueError, OverflowError):
            hard = resource.getrlimit(kind)[1]
            least = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
            resource.setrlimit(kind, (least, least))


def _guard(event: str, args: tuple[Any, ...]) -> None:
    """The audit hook of a worker: other processes and open terminals are out of reach while a module is imported, too."""
    if event in ("os.exec", "os.kill", "os.killpg", "open"):
        if own_acts_allowed():
            return
        if event in ("os.kill", "os.killpg") and args[0] == (os.getpid() if event == "os.kill" else os.getpgrp()):
            return
        if event == "open" and not (_is_device(args[0]) and (args[1] is None or set(args[1]) & set("wax+") or args[2] & 3)):
            return
        raise PermissionError(errno.EPERM, f"{event} is not allowed in the sandbox of dpspec")


def _is_device(path: object) -> bool:
    if not isinstance(path, (str, bytes, os.PathLike)):
        return False
    text = os.fsdecode(path)
    return text.startswith(("/proc/", "/dev/")) and text not in ("/dev/null", "/dev/zero") and not text.startswith("/dev/shm/")  # noqa: S108


OWN = (Path(__file__).parent, Path(dpspec.__file__).parent)
"""The folders of the code of dpspec that runs in a sandbox."""


def _described(problem: BaseException) -> dict[str, Any]:
    """An exception that is no error of dpspec, and whether it was raised by code of dpspec."""
    frames = traceback.extract_tb(problem.__traceback__)
    last = frames[-1] if frames else None
    place = f"{Path(last.filename).name}, line {last.lineno}" if last is not None else ""
    own = last is not None and any(Path(last.filename).is_relative_to(folder) for folder in OWN)
    return {"name": type(problem).__name__, "place": place, "own": own}
