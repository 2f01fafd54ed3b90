"""What libraries write to standard output and error is captured and reported in one line."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from dpspec.cli.library_output import KEPT, LibraryOutput

SCRIPT = """
import os, signal, sys, time, warnings
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell starts commands in the background with SIGINT ignored
import click
from dpspec.cli import main
from dpspec.cli.framework import say

@click.command()
def floods():
    for _ in range(64985):
        os.write(2, b"allocator: \\x1b]0;t\\x07 cell 17\\n")
    warnings.warn("divide by zero")
    say("the answer")
    say("a message", err=True)

@click.command()
def panics():
    os.write(2, b"thread 'x' panicked at src/reader.rs:12:5:\\ncell 17 is wrong\\n" * 74)
    raise BaseException("panic")

@click.command()
def solves():
    import ctypes
    os.write(1, b"solver: cell 17\\n")
    say("the answer")
    ctypes.CDLL(None).puts(b"solver: cell 18")  # the C library holds it back, as the output is no terminal

@click.command()
def speaks():
    say("a message", err=True)

@click.command("synth")
@click.argument("ending")
def reads_a_table(ending):
    os.write(2, b"memory allocation of 17 bytes failed\\n" * 64985)
    say("begun")
    sys.stdout.flush()
    if ending == "abort":
        os.abort()
    if ending == "interrupt":
        raise KeyboardInterrupt
    if ending == "exit":
        os._exit(0)
    if ending == "later":
        import atexit
        atexit.register(os._exit, 0)
        return 1
    if ending == "stuck":  # as in a call of a library, which Python does not interrupt
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGUSR1})
    if ending in ("wait", "stuck"):
        open("worker", "w").write(str(os.getpid()))
        time.sleep(600)
    return int(ending)

if "stuck" in sys.argv:
    from dpspec.cli import library_output
    library_output.GRACE = 0.0
for command in (floods, panics, solves, speaks, reads_a_table):
    main.add_command(command)
main(prog_name="dpspec")
"""


def ran(*command, **environment):
    return subprocess.run(
        [sys.executable, "-c", SCRIPT, *command], capture_output=True, text=True, check=False, env={**os.environ, **environment}
    )


def test_a_flood_is_one_line_and_messages_are_shown():
    done = ran("floods")
    message, note = done.stderr.splitlines()
    assert (done.returncode, done.stdout, message) == (0, "the answer\n", "a message")
    assert note.startswith("note: libraries wrote 64,98")
    assert "cell 17" not in note


def test_a_panic_is_placed_and_its_lines_are_shown_where_they_are_asked_for():
    done = ran("panics")
    assert done.returncode == 4
    assert "148 lines to standard output or error (a panic in src/reader.rs:12:5)" in done.stderr
    assert "cell 17" not in done.stderr
    asked = ran("panics", DPSPEC_TRACEBACK="1").stderr
    assert "cell 17" in asked
    assert asked.count("\n") < 60


@pytest.mark.skipif(os.name != "posix", reason="the C library of Windows has another name")
def test_a_line_of_a_solver_is_no_part_of_the_answer():
    done = ran("solves")
    assert (done.returncode, done.stdout) == (0, "the answer\n")
    assert done.stderr.startswith("note: libraries wrote 2 lines to standard output or error, not shown")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="commands run in this process")
@pytest.mark.parametrize(("ending", "code"), [("abort", 4), ("exit", 4), ("later", 1), ("interrupt", 130), ("0", 0), ("3", 3)])
def test_a_command_outlives_the_library(ending, code):
    """A plugin that ended the process with exit code 0 let a false claim pass."""
    done = ran("synth", ending)
    assert (done.returncode, done.stdout) == (code, "begun\n"), done.stderr
    assert "libraries wrote 64,985 lines" in done.stderr
    assert ("ended the process (SIGABRT)" in done.stderr) == (ending == "abort")
    assert ("ended the process before the command did" in done.stderr) == (ending == "exit")
    assert done.stderr.count("\n") <= 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="commands run in this process")
@pytest.mark.parametrize(
    ("number", "code", "ending"),
    [
        (signal.SIGINT, 130, "wait"), (signal.SIGTERM, 143, "wait"), (signal.SIGKILL, -9, "wait"),
        (signal.SIGINT, 130, "stuck"), (signal.SIGTERM, 143, "stuck"),
    ],
)  # fmt: skip
def test_a_signal_ends_a_command(tmp_path, number, code, ending):
    """Also one that is in a call of a library: it waited for the end of that, which may take hours."""
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT, "synth", ending], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path
    ) as done:
        assert done.stdout.readline() == b"begun\n"
        while not (tmp_path / "worker").exists() or not (tmp_path / "worker").read_text(encoding="ascii"):
            time.sleep(0.01)
        done.send_signal(number)
        assert done.stdout.read() == b""  # nobody holds it open: the child has ended as well
        assert (b"its process was killed" in done.stderr.read()) == (ending == "stuck")
        assert done.wait() == code


def test_nothing_is_said_of_nothing():
    assert ran("speaks").stderr == "a message\n"


@pytest.mark.parametrize("whole", [False, True])
def test_what_is_kept_is_bounded_and_harmless(whole):
    found = LibraryOutput()
    for _ in range(100):
        found.take(b"\x1b[31m" * 10_000 + b"\n")
    assert len(found.begins) == KEPT
    text = found.summary(whole=whole)
    assert "100 lines" in text
    assert "\x1b" not in text
    assert len(text) < 6000
