"""Three packages that do harm when they are imported: all functions that draw are found, and no harm is done outside."""

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


def found_in(target, **options):
    value = hunt(target, yes=True, seconds=1, **options).value
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
    value = hunt(target, yes=True, seconds=1).value
    outcomes = {one.plan.drawing.place: (one.outcome, one.reason) for one in value.functions}
    assert {place: outcome for place, (outcome, _) in outcomes.items()} == {
        "mixed:noisy_count": "broken", "plain:noisy_count": "verified", "statistics:noisy_count": "broken",
    }  # fmt: skip
    assert "mixed.py imports random, which is a module of its folder, and of Python or" in outcomes["mixed:noisy_count"][1]
    assert "a module of Python or of dpspec is called statistics as well" in outcomes["statistics:noisy_count"][1]
    untouched(seen, target, before)


@needs_jail
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
    outcomes = found_in(target)
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
