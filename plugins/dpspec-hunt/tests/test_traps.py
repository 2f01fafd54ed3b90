"""Three packages that do harm when they are imported: all functions that draw are found, and no harm is done outside."""

import py_compile
import subprocess
import sys

import pytest
from dpspec_hunt import checks, hunt as hunting, jail
from dpspec_hunt.hunt import hunt

needs_jail = pytest.mark.skipif(bool(jail.reason_for_none()), reason=f"no jail here: {jail.reason_for_none()}")

HARM = """\
import ctypes, os, socket, subprocess, sys, threading
VICTIM, TRACE = {victim!r}, {trace!r}

def attempt(act):
    try:
        act()
    except BaseException:
        pass

attempt(lambda: os.remove(VICTIM))
attempt(lambda: open(VICTIM, "w").close())
attempt(lambda: ctypes.CDLL(None).unlink(VICTIM.encode()))
attempt(lambda: open(TRACE + "-written", "w").close())
attempt(lambda: socket.create_connection(("127.0.0.1", 9), 1))
def bind():
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(TRACE + "-socket")
attempt(bind)
attempt(lambda: subprocess.run([sys.executable, "-c", "open(%r, 'w')" % (TRACE + "-started",)]))
attempt(lambda: os.system("touch " + TRACE + "-shell"))
"""
STAY = """\
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        import time
        while True:
            attempt(lambda: open(TRACE + "-late", "w").close())
            time.sleep(0.05)
    os._exit(0)
os.wait()
"""
COUNT = '''
def noisy_count(records, epsilon, rng):
    """Is epsilon-DP when one record is added or removed; records are 0 or 1."""
    return sum(records) + rng.laplace(0, 1 / epsilon)
'''
INNER = '''
from .noise import lap
from ._harm import loaded

class Release:
    """Counts that are epsilon-DP."""

    def __init__(self, epsilon=1.0, rng=None):
        self.epsilon, self.rng = epsilon, rng

    def total(self, records):
        return len(records) + self._noise(1)

    def _noise(self, sensitivity):
        return lap(self.rng, sensitivity / self.epsilon)

    @staticmethod
    def flip(bits, rng):
        return [bit ^ int(rng.random() < 0.25) for bit in bits]

    def plain(self, records):
        return len(records)

def shifted(value, epsilon, rng):
    return value + Release(epsilon, rng)._noise(1)

def not_one(value):
    return value + 1
'''


def package(folder, files):
    for name, text in files.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    return folder


@pytest.fixture
def harm(tmp_path):
    """The text that does harm, and the folder in which it would be seen."""
    seen = tmp_path / "seen"
    seen.mkdir()
    (seen / "victim").write_text("as it was")
    return HARM.format(victim=str(seen / "victim"), trace=str(seen / "trace")), seen


def found_in(target, seconds=60, **options):
    value = hunt(target, yes=True, seconds=seconds, **options).value
    return {one.plan.drawing.place: one.outcome for one in value.functions}


def untouched(seen, repository, before):
    assert [path.name for path in seen.iterdir()] == ["victim"]
    assert (seen / "victim").read_text() == "as it was"
    assert sorted(repository.rglob("*")) == before


@needs_jail
def test_files_sockets_and_processes_at_import(tmp_path, harm):
    """The harm is done by the module itself; its functions are checked all the same."""
    text, seen = harm
    target = package(tmp_path / "first", {"counts.py": text + STAY + COUNT, "sitecustomize.py": text, "usercustomize.py": text})
    before = sorted(target.rglob("*"))
    assert found_in(target) == {"counts:noisy_count": "verified"}
    untouched(seen, target, before)


@needs_jail
def test_modules_that_are_called_as_those_of_python_and_of_dpspec(tmp_path, harm):
    """A `random` and a `numpy` in the folder are not imported by dpspec; what imports one of them is not judged."""
    text, seen = harm
    files = dict.fromkeys(("random.py", "numpy.py", "click.py", "dpspec.py", "attrs.py", "_harm.py", "json/__init__.py"), text)
    files["plain.py"] = COUNT
    files["mixed.py"] = "import random\n" + COUNT.replace("rng.laplace(0, 1 / epsilon)", "random.gauss(0, 1 / epsilon)")
    files["statistics.py"] = COUNT
    target = package(tmp_path / "second", files)
    before = sorted(target.rglob("*"))
    value = hunt(target, yes=True, seconds=60).value
    outcomes = {one.plan.drawing.place: (one.outcome, one.reason) for one in value.functions}
    assert {place: outcome for place, (outcome, _) in outcomes.items()} == {
        "mixed:noisy_count": "broken", "plain:noisy_count": "verified", "statistics:noisy_count": "broken",
    }  # fmt: skip
    assert "mixed.py imports random, which is a module of its folder, and of Python or" in outcomes["mixed:noisy_count"][1]
    assert "a module of Python or of dpspec is called statistics as well" in outcomes["statistics:noisy_count"][1]
    untouched(seen, target, before)


@needs_jail
@pytest.mark.long
def test_a_package_that_hangs_ends_and_raises(tmp_path, harm):
    """A loop, an end of the process and an exception at import; all functions are found, and the hunt ends."""
    text, seen = harm
    files = {
        "pkg/__init__.py": "", "pkg/noise.py": "def lap(rng, scale):\n    return rng.laplace(0, scale)\n",
        "pkg/_harm.py": text + "loaded = True\n", "pkg/inner.py": INNER,
        "pkg/loop.py": "while True:\n    pass\n" + COUNT, "pkg/end.py": "import os\nos._exit(0)\n" + COUNT,
        "pkg/raises.py": "raise SystemExit(0)\n" + COUNT,
    }  # fmt: skip
    target = package(tmp_path / "third", files)
    before = sorted(target.rglob("*"))
    outcomes = found_in(target, seconds=15)  # all of which the loop takes
    assert outcomes == {
        "pkg.end:noisy_count": outcomes["pkg.end:noisy_count"],
        "pkg.inner:Release.total": "verified",
        "pkg.inner:Release._noise": "unchecked",
        "pkg.inner:Release.flip": outcomes["pkg.inner:Release.flip"],
        "pkg.inner:shifted": "verified",
        "pkg.loop:noisy_count": outcomes["pkg.loop:noisy_count"],
        "pkg.noise:lap": "unchecked",
        "pkg.raises:noisy_count": "broken",
    }
    assert outcomes["pkg.end:noisy_count"] in {"undecided", "broken"}
    assert outcomes["pkg.loop:noisy_count"] in {"undecided", "broken"}
    untouched(seen, target, before)


FORGE = """\
import glob, json, os
FORGED = json.dumps({"command": "verify", "files": [{"obligations": [{"detail": "", "verdict": {
    "outcome": "verified", "reason": "", "scope": "all", "constant": {"lower": "1", "upper": "1"}, "assumptions": [],
    "witness": None,
}}]}]}).encode()
for descriptor in range(64):
    try:
        os.write(descriptor, FORGED)
    except OSError:
        pass
above = open(f"/proc/{os.getppid()}/stat").read().rpartition(")")[2].split()[1]
for path in [path for process in ("self", os.getppid(), above) for path in glob.glob(f"/proc/{process}/fd/*")]:
    try:
        with open(path, "wb", buffering=0) as file:
            file.write(FORGED)
    except OSError:
        pass
"""
REWRITE = """\
claim = open("claim.dpspec.toml").read()
open("claim.dpspec.toml", "w").write(claim.replace("epsilon = 1", "epsilon = 100"))
open("dpspec_hunt_checked.py", "w").write("def judged(x): return 0")
"""
DECORATOR = "from functools import wraps\n@(lambda f: wraps(f)(lambda *a, **k: f(*a, **k)))\n"
REPLACE = "globals()['noisy_count'] = lambda records, epsilon, rng: 0\n"


@needs_jail
def test_the_verdict_is_about_the_function_that_was_read_and_written_by_dpspec(tmp_path):
    """Results written into all descriptors, a claim that is changed, a function that is replaced: none is verified."""
    wrong = COUNT.replace("1 / epsilon", "0.1 / epsilon")
    target = package(
        tmp_path / "fourth", {"forge.py": FORGE + wrong, "rewrite.py": REWRITE + wrong, "replace.py": wrong + REPLACE}
    )
    value = hunt(target, yes=True, seconds=60).value
    outcomes = {one.plan.drawing.place: (one.outcome, one.reason) for one in value.functions}
    assert {place: outcome for place, (outcome, _) in outcomes.items()} == {
        "forge:noisy_count": "broken", "rewrite:noisy_count": "refuted", "replace:noisy_count": "broken",
    }  # fmt: skip
    assert "is replaced by another object" in outcomes["replace:noisy_count"][1]


@needs_jail
@pytest.mark.slow
def test_the_function_that_was_read_is_found_beside_others_and_behind_a_decorator(tmp_path):
    target = package(tmp_path / "fourth", {
        "pkg/__init__.py": "", "pkg/random.py": "def gauss(mean, deviation): return 0\n",
        "pkg/own.py": "from .random import gauss\n" + COUNT,
        "pkg/decorated.py": COUNT.replace("1 / epsilon", "0.1 / epsilon").replace("def noisy", DECORATOR + "def noisy"),
    })  # fmt: skip
    assert found_in(target) == {"pkg.own:noisy_count": "verified", "pkg.decorated:noisy_count": "refuted"}


@needs_jail
def test_compiled_code_beside_a_source_is_not_run(tmp_path):
    """Bytecode that claims to be of a source need not be of it."""
    target = package(tmp_path / "fifth", {"counts.py": COUNT.replace("1 / epsilon", "0.1 / epsilon")})
    other = package(tmp_path / "other", {"counts.py": COUNT})
    place = target / "__pycache__" / f"counts.{sys.implementation.cache_tag}.pyc"
    py_compile.compile(
        str(other / "counts.py"), cfile=str(place), dfile=str(target / "counts.py"),
        invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH, doraise=True,
    )  # fmt: skip
    assert found_in(target) == {"counts:noisy_count": "refuted"}


def test_without_a_jail_nothing_is_run(tmp_path, harm, monkeypatch):
    text, seen = harm
    monkeypatch.setattr(hunting.jail, "reason_for_none", lambda: "none here")
    monkeypatch.setattr(checks, "_run", lambda *_, **__: pytest.fail("it was run"))
    target = package(tmp_path / "first", {"counts.py": text + COUNT})
    answer = hunt(target, yes=True)
    assert answer.exit_code == 3
    assert [one.reason for one in answer.value.functions] == ["was not run, as there is no jail"]
    assert "nothing was run: there is no jail here: none here" in answer.words()
    assert [path.name for path in seen.iterdir()] == ["victim"]


def test_the_harm_is_real(tmp_path, harm):
    """Outside a jail the text does what it tries to."""
    text, seen = harm
    subprocess.run([sys.executable, "-c", text], check=True)
    assert not (seen / "victim").exists()
    assert {"trace-written", "trace-started", "trace-shell", "trace-socket"} <= {path.name for path in seen.iterdir()}
