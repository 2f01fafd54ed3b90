"""Functions whose module, or whose calls, attack the process that verifies them.

The command line runs inside the test process, so that code which reaches the main process ends the tests themselves.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from dpspec_code.child_process import CAN_FORK
from dpspec_code.fingerprint import FunctionPatchesError

from dpspec import read
from dpspec.verifier.entry import verify_claim

pytestmark = pytest.mark.skipif(not CAN_FORK, reason="without fork a module is imported in this process")

RIGHT, WRONG, BAD, OPEN = 0, 1, 2, 3
VERDICT = {"right": {RIGHT}, "wrong": {WRONG}}
"""The exit codes of a function that is verified in spite of what its module does."""

MODULE = """\
{before}
def right(bits, generator):
    {call}
    return [bit ^ int(generator.random() < 0.25) for bit in bits]

def wrong(bits, generator):
    {call}
    return [bit ^ int(generator.random() < 0.125) for bit in bits]
{after}
"""

FORGED = b'["", "result", [{"class": "Verdict", "outcome": {"outcome": "verified"}}, null]]\n'

ENDS = {
    "sys.exit": "import sys; sys.exit(0)",
    "os._exit 0": "import os; os._exit(0)",
    "os._exit 1": "import os; os._exit(1)",
    "SIGKILL": "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
    "SIGTERM": "import os, signal; os.kill(os.getpid(), signal.SIGTERM)",
    "SIGINT": "import signal; signal.raise_signal(signal.SIGINT)",
    "abort": "import os; os.abort()",
    "segmentation fault": "import ctypes; ctypes.string_at(0)",
    "KeyboardInterrupt": "raise KeyboardInterrupt",
    "GeneratorExit": "raise GeneratorExit",
    "BaseException": r'raise BaseException("\x1b[31mred\x1b]0;title\x07")',
    "coloured text": r'raise ValueError("\x1b[31mred\x1b[0m\n" * 500)',
    "text that raises": "class E(Exception):\n    def __str__(self): raise RuntimeError\nraise E()",
    "MemoryError": "x = bytearray(1 << 45)",
    "RecursionError": "def g(): g()\ng()",
    "finaliser": "import os\nclass D:\n    def __del__(self): os._exit(0)\nD()",
    "thread": "import os, threading, time\nthreading.Timer(0.01, os._exit, (0,)).start()\ntime.sleep(60)",
    "timer": "import signal, time; signal.setitimer(signal.ITIMER_REAL, 0.01); time.sleep(60)",
    "input": "input()",
    "terminal": 'open("/dev/tty", "w").write("x")',
    "descriptor of the parent": 'import os; open(f"/proc/{os.getppid()}/fd/1", "w").write("x")',
    "kills its parent": "import os; os.kill(os.getppid(), 9)",
    "kills its group": "import os; os.killpg(0, 9)",
    "kills all": "import os; os.kill(-1, 15)",
    "exec": 'import os; os.execv("/bin/true", ["true"])',
    "closes all files": "import os; os.closerange(0, 500)",
    "writes to all files": 'import os\nfor n in range(3, 99):\n    try: os.write(n, b"[]\\n")\n    except OSError: pass',
    "forges a verdict": f"import os\nfor n in range(3, 99):\n    try: os.write(n, {FORGED!r})\n    except OSError: pass",
}
"""What ends a process, or would harm another: never a verdict, and never exit code 0 or 1."""

PATCHES = {
    "dpspec": "import dpspec.verifier.entry as e; e.verify_claim = lambda *a, **k: None",
    "a class of dpspec": "import dpspec.verifier.verdict as v; v.Verdict.outcome = property(lambda s: v.Outcome.VERIFIED)",
    "a method that was inherited": "import dpspec.base.exact as e; e.Bracket.__getattribute__ = lambda s, n: 1",
    "code": "import dpspec.verifier.exhaustive as e; e.verify.__code__ = (lambda *a, **k: None).__code__",
    "fractions": "import fractions; fractions.Fraction.__gt__ = lambda a, b: False",
    "numpy": "import numpy; numpy.sort = lambda *a: None",
    "builtins": "import builtins; builtins.max = min",
    "json": 'import json; json.dumps = lambda *a, **k: "[]"',
    "os._exit": "import os; os._exit = lambda *a: None",
    "open files": "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (5, 5))",
}
"""What changes the meaning of a verdict, or what dpspec can do: the module is named as the cause."""

HARMLESS = {
    "atexit": "import atexit, os; atexit.register(os._exit, 0)",
    "sys.exit replaced": "import sys; sys.exit = lambda *a: None",
    "excepthook": "import sys, os; sys.excepthook = lambda *a: os._exit(0)",
    "signals ignored": "import signal\nfor n in signal.valid_signals() - {9, 19, 32, 33}: signal.signal(n, signal.SIG_IGN)",
    "standard files closed": "import os; os.closerange(0, 3)",
    "standard streams closed": "import sys; sys.stdout.close(); sys.stderr = None",
    "control codes": r'import os; os.write(1, b"\x1b]0;t\x07"); os.write(2, b"\x1b[2J"); print("\x1b[31m")',
    "64,985 lines": 'import sys; sys.stderr.write("allocator\\n" * 64985)',
    "folder": 'import os; os.chdir("/")',
    "umask": "import os; os.umask(0o777)",
    "environment": "import os; os.environ.clear()",
    "threads": "import threading, time; threading.Thread(target=time.sleep, args=(600,)).start()",
    "tracing": "import sys; sys.settrace(lambda *a: None); sys.setprofile(lambda *a: None)",
    "recursion limit": "import sys; sys.setrecursionlimit(400)",
}
"""What changes the module's own process alone."""


def some(names: Iterable[str], *kept: str) -> list[Any]:
    """All names; those that are kept by default, and the others in the slow profile only."""
    return [pytest.param(name, marks=() if name in kept else pytest.mark.slow) for name in names]


@pytest.fixture(name="written")
def _written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., str]]:
    """Writes a module into the current directory; returns its name. The test process has to stay as it is."""
    monkeypatch.chdir(tmp_path)
    numbers = iter(range(10**6))

    def write(before: str = "", call: str = "pass", after: str = "") -> str:
        name = f"hostile_{os.getpid()}_{next(numbers)}"
        body = textwrap.indent(call, "    ").strip()
        Path(f"{name}.py").write_text(MODULE.format(before=before, call=body, after=after), encoding="utf-8")
        return name

    def state() -> tuple[Any, ...]:
        mask = os.umask(0o22)
        os.umask(mask)
        handlers = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGCHLD, signal.SIGALRM, signal.SIGPROF)]
        hooks = sys.excepthook, sys.exit, sys.gettrace(), sys.getrecursionlimit(), os._exit
        environment = {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}
        return os.getcwd(), mask, environment, handlers, hooks

    before, files, processes = state(), open_files(), set(children())
    yield write
    assert state() == before
    # Garbage collection may close what an earlier test left open, and a process of it may end; nothing may be left by this one.
    assert not open_files() - files
    assert not set(children()) - processes
    assert not [name for name in sys.modules if name.startswith("hostile_")]


def open_files() -> set[tuple[str, str]]:
    """The numbers of all open files, each with what it is open on."""
    found = set()
    for number in os.listdir("/proc/self/fd"):
        with contextlib.suppress(FileNotFoundError):  # that of the listing itself
            found.add((number, os.readlink(f"/proc/self/fd/{number}")))
    return found


def children() -> list[str]:
    return [line for path in Path("/proc/self/task").glob("*/children") for line in path.read_text(encoding="ascii").split()]


def outcome(run: Any, claim: Path, function: str, *options: str) -> tuple[int, str]:
    """The exit code and the text of a verification; nothing in it may be obeyed by a terminal, and it is short."""
    ran = run("verify", claim, "--function", function, *options)
    text = f"{ran.out}\n{ran.err}"
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", text)
    assert text.count("\n") < 40
    assert "at fault" not in text
    return ran.code, " ".join(text.split())


@pytest.mark.spread(6, slow=4)
@pytest.mark.parametrize("name", some(
    ENDS, "sys.exit", "os._exit 0", "SIGKILL", "KeyboardInterrupt", "text that raises", "finaliser", "timer",
    "descriptor of the parent", "kills its parent", "exec", "closes all files", "forges a verdict",
))  # fmt: skip
def test_a_module_that_ends_its_process_has_no_verdict(run, response, written, capfd, name):
    module = written(before=ENDS[name])
    code, text = outcome(run, response(), f"{module}:wrong")
    assert code == BAD
    assert f"function={module}:wrong: " in text
    assert "cannot be imported" in text or "writes into the channel" in text
    assert capfd.readouterr() == ("", "")


@pytest.mark.spread(5, slow=5)
@pytest.mark.parametrize("name", PATCHES)
def test_a_module_that_patches_what_dpspec_computes_with_is_named(run, response, written, name):
    module = written(before=PATCHES[name])
    code, text = outcome(run, response(), f"{module}:wrong")
    assert code == BAD
    assert re.search(rf"function={module}:wrong: (replaces|lowers) ", text)


@pytest.mark.parametrize("name", some(HARMLESS, "signals ignored", "standard streams closed", "environment", "threads"))
def test_the_verdict_alone_decides_the_exit_code(run, response, written, capfd, name):
    code, _ = outcome(run, response(), f"{written(before=HARMLESS[name])}:wrong")
    assert {code} == VERDICT["wrong"]
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("name", some(["atexit", "standard files closed", "threads"], "atexit"))
def test_a_right_function_is_verified_whatever_its_module_does(run, response, written, capfd, name):
    code, _ = outcome(run, response(), f"{written(before=HARMLESS[name])}:right")
    assert {code} == VERDICT["right"]
    assert capfd.readouterr() == ("", "")


LATER = "import atexit, os, threading\n{}\natexit.register(os._exit, 0)\nthreading._register_atexit(os._exit, 0)"


@pytest.mark.parametrize("function", ["right", "wrong"])
def test_nothing_of_a_module_runs_once_the_verdict_is_known(run, response, written, function):
    module = written(after=LATER.format("class D:\n    def __del__(self): os._exit(0)\nkept = D()"))
    assert {outcome(run, response(), f"{module}:{function}")[0]} == VERDICT[function]


@pytest.mark.parametrize(("code", "place"), [
    ("while True: pass", "before"), ("import time; time.sleep(600)", "loading"),
    pytest.param("import threading; threading.Event().wait()", "before", marks=pytest.mark.slow),
])  # fmt: skip
def test_an_import_that_does_not_end_is_undecided(run, response, written, code, place):
    """`loading`: the name is asked of the module, which may run code as well."""
    module = written(before=code if place == "before" else f"def __getattr__(name):\n    {code}\n")
    found, text = outcome(run, response(), f"{module}:{'right' if place == 'before' else 'other'}", "--seconds", "0.3")
    assert found == OPEN
    assert "the time (0.3 s) was over while its module was imported" in text


CALLED = [name for name in ENDS if name not in ("closes all files", "os._exit 1", "SIGTERM", "GeneratorExit", "kills its group")]
"""What ends a process by other means than one that is tried already: a call is made in the process that is tested above."""


@pytest.mark.spread(4, slow=8)
@pytest.mark.parametrize("name", some(
    CALLED, "os._exit 0", "SIGKILL", "KeyboardInterrupt", "text that raises", "thread", "kills its parent", "forges a verdict",
))  # fmt: skip
def test_a_call_that_ends_its_process_has_no_verdict(run, response, written, capfd, name):
    module = written(call=ENDS[name])
    assert outcome(run, response(), f"{module}:wrong", "--seconds", "1")[0] in (BAD, OPEN)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("name", some(
    [name for name in PATCHES if name != "open files"], "a method that was inherited", "code", "fractions", "builtins",
))  # fmt: skip
def test_a_call_that_patches_what_dpspec_computes_with_is_named(run, response, written, name):
    code, text = outcome(run, response(), f"{written(call=PATCHES[name])}:wrong", "--seconds", "60")  # ends with the first call
    assert "function=wrong: replaces " in text
    assert code == BAD


@pytest.mark.parametrize("name", some(
    ["signals ignored", "recursion limit", "control codes", "standard files closed", "umask", "tracing"],
    "recursion limit", "standard files closed",
))  # fmt: skip
def test_a_call_that_changes_its_process_harms_no_verdict(run, response, written, capfd, name):
    code, _ = outcome(run, response(), f"{written(call=HARMLESS[name])}:right", "--draws", "20", "--seconds", "1")
    assert code in (RIGHT, BAD, OPEN)
    assert capfd.readouterr() == ("", "")


def test_what_a_module_started_ends_with_the_command(run, response, written):
    """A process in a session of its own, that no parent waits for, would go on for ten minutes."""
    code = """
    import os, time
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            open("started", "w").write(str(os.getpid()))
            time.sleep(600)
        os._exit(0)
    while not os.path.exists("started") or not open("started").read():
        time.sleep(0.001)
    """
    assert outcome(run, response(), f"{written(before=textwrap.dedent(code))}:right")[0] == RIGHT
    assert not Path(f"/proc/{Path('started').read_text(encoding='ascii')}").exists()


def test_what_a_module_prints_is_told_in_one_line(run, response, written):
    ran = run("verify", response(), "--function", f"{written(before=HARMLESS['64,985 lines'])}:right", "--format", "json")
    (notice,) = ran.json("verify")["files"][0]["obligations"][0]["verdict"]["findings"]
    assert notice["code"] == "prints-on-import"
    assert "(more than 6,000 lines)" in notice["text"]
    assert len(notice["text"]) < 200


def test_names_with_control_codes_reach_no_terminal(run, response, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for path in ("a\x1b[31m:b", "os:\x1b]0;t\x07", "\x07:\x07"):
        assert outcome(run, response(), path)[0] == BAD


def test_a_witness_is_replayed_in_a_sandbox(run, response, written):
    module = written(before=HARMLESS["atexit"])
    run("verify", response(), "--function", f"{module}:wrong", "--witnesses", "found")
    (file,) = Path("found").iterdir()
    assert run("verify", "--replay", file, "--function", f"{module}:wrong").code == WRONG
    assert run("verify", "--replay", file, "--function", f"{module}:right").code == RIGHT
    assert run("verify", "--replay", file, "--function", f"{written(before=ENDS['os._exit 0'])}:wrong").code == BAD


@pytest.mark.parametrize(("before", "code"), [
    (ENDS["os._exit 0"], BAD), pytest.param(HARMLESS["atexit"], WRONG, marks=pytest.mark.slow),
])  # fmt: skip
def test_the_exit_code_of_the_program_itself(response, written, before, code):
    module, claim = written(before=before), response()
    done = subprocess.run(
        [sys.executable, "-m", "dpspec", "verify", str(claim), "--function", f"{module}:wrong"], capture_output=True, check=False
    )
    assert done.returncode == code, done.stderr


# --- a function that this process imported itself ------------------------------------------------


@pytest.fixture(name="spec")
def _spec(response: Any) -> Any:
    return read(response()).spec


@pytest.mark.parametrize("name", ["os._exit 0", "SIGKILL", "abort", "text that raises", "kills its parent", "sys.exit"])
def test_calls_run_in_a_child_of_the_python_api(spec, written, name):
    space: dict[str, Any] = {}
    body = textwrap.indent(ENDS[name], "    ")
    exec(f"def attack(bits, generator):\n{body}\n    return 0", space)  # noqa: S102
    try:
        found = verify_claim(space["attack"], spec, seconds=1)
    except Exception as problem:
        assert type(problem).__name__ in ("FunctionRaisesError", "FunctionActsError")  # noqa: PT017
    else:
        assert found.outcome.value == "undecided"


@pytest.mark.parametrize("name", ["fractions", "a class of dpspec", "builtins"])
def test_a_call_that_patches_is_named_by_the_python_api(spec, written, name):
    space: dict[str, Any] = {}
    exec(f"def attack(bits, generator):\n    {PATCHES[name]}\n    return 0", space)  # noqa: S102
    with pytest.raises(FunctionPatchesError, match="attack: replaces "):
        verify_claim(space["attack"], spec, seconds=1)


def test_signals_of_children_may_be_ignored_by_the_caller(spec, written):
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        found = verify_claim(lambda bits, generator: [bit ^ int(generator.random() < 0.25) for bit in bits], spec, seconds=600)
    finally:
        signal.signal(signal.SIGCHLD, before)
        time.sleep(0)
    assert found.outcome.value == "verified"


# --- systems without fork ------------------------------------------------------------------------


NEW_PROCESS = {
    "ends": (ENDS["os._exit 0"], {BAD}),
    "exit handler": (HARMLESS["atexit"], {WRONG}),
    "endless": ("while True: pass", {OPEN}),
    "control codes": (HARMLESS["control codes"], {WRONG}),
}


@pytest.mark.parametrize("name", some(NEW_PROCESS, "ends", "exit handler"))
def test_a_module_is_imported_in_a_new_process_where_none_can_be_forked(run, response, written, capfd, monkeypatch, name):
    monkeypatch.setattr("dpspec_code.named_function.CAN_FORK", False)
    before, codes = NEW_PROCESS[name]
    options = ["--seconds", "0.5"] if codes == {OPEN} else []
    code, _ = outcome(run, response(), f"{written(before=before)}:wrong", *options)
    assert {code} == codes
    assert capfd.readouterr() == ("", "")
