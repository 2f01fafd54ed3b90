"""Checks of a plugin as a whole: what importing it does, and what it registers."""

from __future__ import annotations

import inspect
import json
import os
import re
import subprocess
import sys
from collections import Counter
from functools import cache

from dpspec.errors import UnknownHookError
from dpspec.extension.hookspecs import KINDS, PREFIX
from dpspec.params import parameters
from dpspec.testing.check import ClassSubject, Context, NotApplicable, PluginSubject, check, require

KIND, CLASS = "plugins", "classes"
_KEBAB = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_PATIENCE = 120

_WATCH = """
import json, os, random, sys
import numpy
import dpspec.testing.subjects, dpspec.release
seen = {"files": [], "network": [], "random": []}
watching = False
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
def hook(event, args):
    if not watching:
        return
    if event == "open" and args[0] != os.devnull and args[2] and args[2] & WRITING:
        seen["files"].append(f"opens {args[0]} for writing")
    elif event in ("os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.truncate", "os.link", "os.symlink", "os.chmod"):
        seen["files"].append(f"{event} {args[0]}")
    elif event.startswith("socket.") or event == "urllib.Request":
        seen["network"].append(event)
sys.dont_write_bytecode = True
sys.addaudithook(hook)
before = repr(random.getstate()), repr(numpy.random.get_state())
watching = True
__import__(sys.argv[1])
watching = False
if before != (repr(random.getstate()), repr(numpy.random.get_state())):
    seen["random"].append("moves a global random generator")
print(json.dumps(seen))
"""


@cache
def _traces(module: str) -> dict[str, list[str]]:
    """What importing a module did in a fresh interpreter."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(  # noqa: S603 - this interpreter, with a module that is installed anyway
        [sys.executable, "-c", _WATCH, module], env=environment, capture_output=True, text=True, check=False, timeout=_PATIENCE
    )
    if done.returncode != 0:
        raise NotApplicable(f"it cannot be imported in a fresh interpreter: {done.stderr.strip().splitlines()[-1:]}")
    found: dict[str, list[str]] = json.loads(done.stdout.splitlines()[-1])
    return found


def _trace(subject: PluginSubject, what: str) -> list[str]:
    if subject.importable is None:
        raise NotApplicable("it is an object made in a program, not a module")
    return _traces(subject.importable)[what]


@check(KIND)
def check_import_leaves_files_alone(subject: PluginSubject, context: Context) -> None:
    """Importing the plugin writes, moves or removes no file. Every command that loads plugins would do it."""
    found = _trace(subject, "files")
    require(not found, f"importing {subject.importable} {'; '.join(found)}")


@check(KIND)
def check_import_leaves_the_network_alone(subject: PluginSubject, context: Context) -> None:
    """Importing the plugin opens no connection. A verdict must not depend on who answers."""
    found = _trace(subject, "network")
    require(not found, f"importing {subject.importable} uses the network: {', '.join(sorted(set(found)))}")


@check(KIND)
def check_import_leaves_random_state_alone(subject: PluginSubject, context: Context) -> None:
    """Importing the plugin neither seeds nor draws from a global generator. Other people's experiments depend on it."""
    found = _trace(subject, "random")
    require(not found, f"importing {subject.importable} {'; '.join(found)}")


@check(KIND)
def check_plugin_loads(subject: PluginSubject, context: Context) -> None:
    """The plugin imports and registers without a fault. A failed plugin is fatal to every file that needs its names."""
    fault = subject.info.error
    require(fault is None or isinstance(fault, UnknownHookError), str(fault))


@check(KIND)
def check_hooks_are_known(subject: PluginSubject, context: Context) -> None:
    """Every function dpspec_... of the module is a hook, under its decorator. A misspelt one would silently never be called."""
    known = {PREFIX + kind for kind in KINDS}
    for name in dir(subject.module):
        hook = getattr(subject.module, name)
        if name.startswith("dpspec_") and callable(hook):
            require(name in known, f"{name} is no hook")
            require(hasattr(hook, "dpspec_impl"), f"{name} lacks @hookimpl")


@check(KIND)
def check_interface_version_is_stated(subject: PluginSubject, context: Context) -> None:
    """`DPSPEC_API` says which plugin interface the module was written for, so that a later core can tell."""
    stated = getattr(subject.module, "DPSPEC_API", None)
    require(type(stated) is int, f"DPSPEC_API = {stated!r}; write the number of the interface, such as DPSPEC_API = 1")


@check(KIND)
def check_names_are_unique(subject: PluginSubject, context: Context) -> None:
    """No other installed plugin registers a name of the same kind: files would have to write plugin:name."""
    taken = Counter((entry.kind, entry.name) for entry in context.registry)
    for entry in subject.info.entries:
        require(taken[entry.kind, entry.name] == 1, f"{entry.name} is registered by another plugin too")


@check(CLASS)
def check_name_is_kebab(subject: ClassSubject, context: Context) -> None:
    """The registered name is lower-kebab in plain letters and is the `name` of the class, which verdicts and errors quote."""
    name = subject.entry.name
    require(_KEBAB.fullmatch(name) is not None, f"{name!r} is not lower-kebab, such as my-mechanism")
    own = getattr(subject.thing, "name", None)
    require(own == name, f"registered as {name!r}, but name = {own!r}")


@check(CLASS)
def check_class_is_documented(subject: ClassSubject, context: Context) -> None:
    """The class has a docstring of its own that names every declared parameter. `dpspec explain` prints it."""
    text = inspect.cleandoc(subject.thing.__dict__.get("__doc__") or "")
    require(bool(text), f"{subject.thing.__name__} has no docstring")
    inherited = "\n".join(inspect.cleandoc(cls.__doc__ or "") for cls in subject.thing.__mro__)
    missing = [p.name for p in parameters(subject.thing) if not re.search(rf"\b{p.name}\b", inherited)]
    require(not missing, f"the docstring does not name {', '.join(missing)}")
