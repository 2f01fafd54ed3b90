"""The client of the browser leaves no process and no folder behind, however its start fails."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

import pytest

from tests.report import browser

BROWSER = f"""#!{sys.executable}
import os, subprocess, sys, time
home = next(word.partition("=")[2] for word in sys.argv if word.startswith("--user-data-dir="))
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
with open({{told!r}}, "w") as file:
    file.write(f"{{{{os.getpid()}}}} {{{{child.pid}}}}")
if {{dies}}:
    sys.exit(3)
with open(os.path.join(home, "DevToolsActivePort"), "w") as file:
    file.write("1")
time.sleep(600)
"""


def runs(process: int) -> bool:
    """Whether a process is there, and not only waited for."""
    status = Path(f"/proc/{process}/stat")
    return status.exists() and status.read_text().rpartition(")")[2].split()[0] != "Z"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are looked up in /proc")
@pytest.mark.parametrize(("dies", "raises"), [(True, "did not start .exit code 3."), (False, "refused")])
def test_a_start_that_fails_leaves_nothing(tmp_path, monkeypatch, dies, raises):
    told, program, home = tmp_path / "told", tmp_path / "browser", tmp_path / "homes"
    home.mkdir()
    program.write_text(BROWSER.format(told=str(told), dies=dies), encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setattr(browser, "CHROMIUM", str(program))
    monkeypatch.setattr(tempfile, "tempdir", str(home))
    with pytest.raises((OSError, RuntimeError), match=raises), browser.Browser():
        raise AssertionError("no page is there")
    processes = [int(one) for one in told.read_text().split()]
    assert len(processes) == 2
    assert os.getpid() not in processes
    deadline = time.monotonic() + 300  # a signal takes effect when the process has its turn
    while any(map(runs, processes)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(runs, processes))
    assert not list(home.iterdir())
