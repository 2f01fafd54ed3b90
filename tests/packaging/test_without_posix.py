"""Without fork, interval timers, owners, fcntl and resource, as on Windows: everything imports, and gives an answer."""

import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from dpspec.base import time_limits

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "tests" / "packaging" / "without_posix.py"
RESPONSE = ROOT / "specs" / "randomised-response.dpspec.toml"

TABLE = "sex,age\n" + "".join(f"{'fm'[i % 2]},{i % 7}\n" for i in range(60))
CODE = """\
def wrong(answers, generator):
    return list(answers)

def endless(answers, generator):
    while sum(answers) > 1:
        pass
    return [answer ^ int(generator.random() < 0.25) for answer in answers]
"""


def without(folder, *arguments):
    return subprocess.run(
        [sys.executable, str(SCRIPT), *map(str, arguments)],
        cwd=folder,
        capture_output=True,
        encoding="cp1252",
        check=False,
        timeout=300,
    )


@pytest.mark.slow
def test_a_file_is_read_and_judged(tmp_path):
    done = without(tmp_path, "verify", RESPONSE)
    assert (done.returncode, "holds" in done.stdout) == (0, True), done.stderr


@pytest.mark.slow
def test_a_table_is_drafted_and_released_twice(tmp_path):
    (tmp_path / "t.csv").write_text(TABLE, encoding="utf-8")
    assert without(tmp_path, "new", "spec", "--from", "t.csv", "--no-ask").returncode == 0
    for _ in range(2):
        done = without(tmp_path, "release", "t.dpspec.toml", "t.csv", "--out", "out")
        assert done.returncode == 0, done.stderr
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"released.csv", "report.json"}


@pytest.mark.long
@pytest.mark.parametrize(("name", "code", "seconds"), [("wrong", 1, "600"), ("endless", 3, "3")])
def test_code_is_judged_and_what_does_not_end_is_cut(tmp_path, name, code, seconds):
    (tmp_path / "code.py").write_text(CODE, encoding="utf-8")
    done = without(tmp_path, "verify", RESPONSE, "--function", f"code:{name}", "--seconds", seconds)
    assert done.returncode == code, done.stdout + done.stderr
    assert "at fault" not in done.stderr


@pytest.mark.slow
def test_every_module_imports():
    listed = "import pkgutil, dpspec\nnames = [m.name for m in pkgutil.walk_packages(dpspec.__path__, 'dpspec.')]\n"
    script = (
        f"import sys; sys.path.insert(0, {str(SCRIPT.parent)!r}); import without_posix; without_posix.take_away()\n{listed}"
        "import importlib\n[importlib.import_module(n) for n in names if not n.endswith('__main__')]\nprint(len(names))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 100


@pytest.mark.slow
def test_what_a_code_page_has_no_letter_for_is_an_escape(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", "from dpspec.cli import main; from dpspec.cli.framework import say; import click\n"
         "main.add_command(click.Command('letters', callback=lambda: say('a \\u2264 b')))\nmain(['letters'])"],
        capture_output=True, check=False, env={"PYTHONIOENCODING": "cp1252", "PYTHONPATH": ":".join(sys.path)},
    )  # fmt: skip
    assert (done.returncode, done.stdout.strip()) == (0, b"a \\u2264 b"), done.stderr


def test_a_thread_cuts_a_call_and_nothing_else():
    """The fallback for systems without interval timers: each call that does not end is cut once, and no other one."""
    running, cut, right = -1, [], 0
    with time_limits._cutting_by_thread(lambda: running, 0.02):
        for number in range(40):
            running = number
            try:
                if number % 10 == 3:
                    while True:
                        pass
                right += 1
            except time_limits.Cut:
                cut.append(number)
            running = -1
    assert (cut, right) == ([3, 13, 23, 33], 36)
    until = time.process_time() + 0.1
    while time.process_time() < until:  # nothing strikes afterwards
        pass
    assert threading.active_count() < 20


def test_a_lock_is_taken_once_where_there_are_locks(tmp_path, monkeypatch):
    from dpspec.base import files

    with (tmp_path / "lock").open("w") as one, (tmp_path / "lock").open("w") as other:
        files.lock(one.fileno())
        with pytest.raises(BlockingIOError):
            files.lock(other.fileno())
        monkeypatch.setitem(sys.modules, "fcntl", None)

        class Windows:
            LK_NBLCK = 2

            @staticmethod
            def locking(handle, mode, length):
                raise PermissionError(13, "Permission denied")

        monkeypatch.setitem(sys.modules, "msvcrt", Windows)
        with pytest.raises(BlockingIOError):
            files.lock(other.fileno())
        monkeypatch.setitem(sys.modules, "msvcrt", None)
        files.lock(other.fileno())


@pytest.mark.parametrize("cut", [False, True])
def test_a_trace_function_runs_after_calls_were_watched(cut):
    """A cut that was taken back left the interpreter's loop interrupted for ever: code under a debugger did not go on.

    In a process of its own, whose time limit protects against the hang alone.
    """
    script = (
        "import sys\nfrom dpspec.base import time_limits\nrunning = -1\n"
        "try:\n"
        "    with time_limits._cutting_by_thread(lambda: running, 0.02):\n"
        f"        running = {int(cut)} or -1\n"
        "        while running > 0:\n            pass\n"
        "except time_limits.Cut:\n    pass\n"
        "running = -1\n"
        "sys.settrace(lambda *given: None)\n"
        "print((lambda: 'goes on')())\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=600)
    assert (done.returncode, done.stdout) == (0, "goes on\n"), done.stderr
