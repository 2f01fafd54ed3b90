"""Code of other packages that is imported or registers: it may not end, or raise anything, and is reported with its name."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import types
from pathlib import Path

import pytest

from dpspec import load_plugins
from dpspec.base.errors import PluginLoadError
from dpspec.base.time_limits import cutting
from dpspec.extension import packages
from dpspec.plugin import hookimpl

NEVER = """
import signal
while True:
    signal.raise_signal(signal.SIGVTALRM)  # as the timer does: no test waits for it
"""
posix = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs signals")


def never():
    exec(NEVER)  # noqa: S102


def never_as_text():
    class Endless(Exception):
        def __str__(self):
            never()
            return ""

    raise Endless


@hookimpl
def never_registers(register):
    never()


@posix
@pytest.mark.parametrize("wrong", [{"dpspec_register_mechanisms": never_registers}, {"dpspec_names": hookimpl(never_as_text)}])
def test_a_plugin_that_does_not_end_while_it_registers_is_cut_and_the_others_are_loaded(wrong):
    module = types.SimpleNamespace(DPSPEC_API=1, **wrong)
    plugins = load_plugins(names=[], modules=[("endless", module), ("right", types.SimpleNamespace(DPSPEC_API=1))])
    assert [info.status for info in plugins.infos] == ["loaded", "failed", "loaded"]
    assert str(plugins.infos[1].error).startswith("plugin endless: did not end within 10 s while it was loaded (")
    assert plugins.infos[1].error.exit_code == 4


@posix
def test_a_class_that_does_not_end_while_it_is_imported_is_cut(tmp_path, monkeypatch):
    (tmp_path / "endless_class.py").write_text(NEVER, encoding="ascii")
    monkeypatch.syspath_prepend(tmp_path)
    names = {"mechanisms": {"endless": "endless_class:Endless"}}
    plugins = load_plugins(modules=[("slow", types.SimpleNamespace(DPSPEC_API=1, dpspec_names=hookimpl(lambda: names)))])
    with pytest.raises(PluginLoadError, match=r"plugin slow: did not end .*endless_class.py:4"):
        plugins.registry.get("mechanisms", "endless")


@pytest.mark.parametrize("raised", [BaseException("all"), SystemExit(0), GeneratorExit()])
def test_whatever_a_plugin_raises_is_its_fault(raised):
    def registers(register):
        raise raised

    module = types.SimpleNamespace(DPSPEC_API=1, dpspec_register_rules=hookimpl(registers))
    error = load_plugins(names=[], modules=[("raises", module)]).infos[1].error
    assert isinstance(error, PluginLoadError)
    assert f"plugin raises: raised {type(raised).__name__}" in str(error)


@posix
def test_first_party_packages_have_no_timer():
    timers = [signal.getitimer(signal.ITIMER_VIRTUAL)]
    with packages.loading("dpspec-noise", "plugin noise"):
        timers.append(signal.getitimer(signal.ITIMER_VIRTUAL))
    assert timers[0] == timers[1]


@posix
def test_an_inner_limit_gives_the_timer_back():
    with cutting(lambda: -1, 500.0):
        with packages.loading("others", "plugin other"):
            assert signal.getitimer(signal.ITIMER_VIRTUAL)[1] == packages.LOAD
        assert signal.getitimer(signal.ITIMER_VIRTUAL)[1] == 500.0


PACKAGES = {
    "prints": """
import os, sys
print("printed")
sys.stdout.write("written")
sys.__stdout__.write("by the other name")
os.write(1, b"of the process\\n")
sys.stdout.close()
""",
    "replaces": "import io, sys\nsys.stdout = io.StringIO()\n",
    "leaves": "import os\nos._exit(0)\n",
    "struck": "import os, signal\nos.kill(os.getpid(), signal.SIGPROF)\n",  # as the kernel does where nothing else ends it
}


def installed_in(folder: Path, name: str, group: str, content: str) -> dict[str, str]:
    """The environment in which a package is installed that has one module of its name."""
    (folder / f"{name}.py").write_text(content, encoding="ascii")
    about = folder / f"{name}-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", encoding="ascii")
    (about / "entry_points.txt").write_text(f"[{group}]\n{name} = {name}{':command' * (group != 'dpspec')}\n", encoding="ascii")
    return {**os.environ, "PYTHONPATH": str(folder), "DPSPEC_LOAD_PLUGINS": name}


def ran(environment, *command):
    line = [sys.executable, "-m", "dpspec", *command]
    return subprocess.run(line, capture_output=True, text=True, check=False, env=environment, stdin=subprocess.DEVNULL)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="commands run in this process")
@pytest.mark.parametrize(("name", "code", "said"), [
    ("prints", 0, "note: libraries wrote 2 lines"), ("replaces", 0, ""),
    ("leaves", 4, "plugin leaves: ended the process while it was loaded: correct or uninstall it\n"),
    ("struck", 4, "plugin struck: did not end while it was loaded: correct or uninstall it\n"),
])  # fmt: skip
def test_what_a_plugin_prints_or_how_it_ends_the_process_is_no_answer(tmp_path, name, code, said):
    done = ran(installed_in(tmp_path, name, "dpspec", PACKAGES[name]), "plugins", "--format", "json")
    assert (done.returncode, done.stderr[: len(said)]) == (code, said)
    assert bool(done.stderr) == bool(said)
    assert done.stdout.startswith('{\n  "format": 1,') == (code == 0)


def test_a_command_that_cannot_be_imported_is_fatal_only_to_itself(tmp_path):
    environment = installed_in(tmp_path, "broken", "dpspec.commands", "print('printed')\nraise ValueError('wrong')\n")
    fault = "package broken: raised ValueError: wrong (broken.py:2): correct or uninstall it\n"
    shown = ran(environment, "--help")
    assert (shown.returncode, "broken  " in shown.stdout, "printed" in shown.stdout) == (0, True, False)
    asked = ran(environment, "broken", "--some", "thing", "--format", "json")
    assert (asked.returncode, asked.stdout[:2]) == (4, "{\n")
    assert asked.stderr.startswith(fault)
