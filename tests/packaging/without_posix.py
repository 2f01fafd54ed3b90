"""A system without fork, timers that signal, owners and POSIX modules, as far as Python sees it: a stand-in for Windows.

    python tests/packaging/without_posix.py verify FILE ...

It takes away, after the standard library has been imported, what Windows does not have, and then runs the command line.
"""

import asyncio
import concurrent.futures
import multiprocessing.connection
import multiprocessing.util
import os
import signal
import subprocess
import sys
import tempfile
import types

GONE_MODULES = ("fcntl", "resource", "pwd", "grp", "termios", "posix_ipc", "syslog")
GONE_OF_OS = (
    "fork", "forkpty", "getuid", "geteuid", "getgid", "setsid", "setpgid", "getpgid", "killpg", "waitid", "WNOHANG", "wait3",
    "wait4", "nice", "getloadavg", "sched_getaffinity", "sched_setaffinity", "O_NONBLOCK", "O_CLOEXEC", "O_NOFOLLOW",
    "O_DIRECTORY", "chown", "fchmod", "fchown", "mkfifo", "register_at_fork", "statvfs",
)  # fmt: skip
GONE_OF_SIGNAL = (
    "setitimer", "getitimer", "alarm", "pause", "SIGALRM", "SIGVTALRM", "SIGPROF", "SIGKILL", "SIGCHLD", "SIGPIPE", "SIGUSR1",
    "SIGUSR2", "pthread_sigmask", "sigwait",
)  # fmt: skip
KEPT = (asyncio, concurrent.futures, multiprocessing.connection, multiprocessing.util, subprocess, tempfile)


def take_away() -> None:
    """Take away what Windows does not have; what is part of the standard library's own work stays."""
    for name in ("os", "signal"):  # Windows waits for a process, and ends it, by other means
        setattr(subprocess, name, types.SimpleNamespace(**vars(getattr(subprocess, name))))
    for name in GONE_MODULES:
        sys.modules[name] = None
    for name in GONE_OF_OS:
        if hasattr(os, name):
            delattr(os, name)
    for name in GONE_OF_SIGNAL:
        if hasattr(signal, name):
            delattr(signal, name)


if __name__ == "__main__":
    sys.path.insert(0, os.getcwd())
    sys.stdout.reconfigure(encoding="cp1252")
    sys.stderr.reconfigure(encoding="cp1252")
    take_away()
    from dpspec.cli import main

    main(sys.argv[1:], prog_name="dpspec")
