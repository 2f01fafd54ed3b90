"""Count the work of the lines: each line and size in a fork of one process, so that no line finds what another has cached.

    python -m benchmarks.counting [--ends] [LINE ...]

Prints the counters as JSON, with --ends at the smallest and the largest size alone. Forks rather than new processes, since an
import of dpspec costs more than most counts; where the system cannot fork, nothing is counted.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import traceback
from collections.abc import Collection
from typing import Any

from benchmarks.counters import counted, largest_memory
from benchmarks.lines import LINES
from benchmarks.measure import ROOT, Line, caches, environment, temporary
from benchmarks.results import ends

ENDS = "--ends"


def main(arguments: Collection[str]) -> dict[str, dict[str, Any]]:
    """The sizes of each line with counters, and the value of each counter at each size."""
    import dpspec_noise.samplers  # noqa: F401
    import polars  # noqa: F401

    import dpspec.cli  # noqa: F401
    from dpspec.extension import installed

    _ = installed().registry
    names, at_ends = {*arguments} - {ENDS}, ENDS in arguments
    return {name: of_line(line, at_ends) for name, line in LINES.items() if not names or name in names}


def of_line(line: Line, at_ends: bool) -> dict[str, Any]:
    """The counters of one line at each of its sizes, or at the first and the last one alone."""
    each, sizes = [], ends(line.counted) if at_ends else list(line.counted)
    for size in sizes:
        begin = sum(os.times()[:4])
        each.append(in_fork(line, size))
        print(f"{line.name} {size}: counted in {sum(os.times()[:4]) - begin:.1f} s", file=sys.stderr)
    if line.command is not None and line.counted == (1,):
        each[0]["modules"] = modules(line)
    names = sorted(set().union(*each))
    return {"sizes": sizes, "counts": {name: [counts.get(name, 0) for counts in each] for name in names}}


def in_fork(line: Line, size: int) -> dict[str, int]:
    """The counters of a line at one size: after a run at the smallest size, with empty caches."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(2, 1)  # native code prints to the standard output, which holds the counters
        try:
            with os.fdopen(writing, "w", encoding="utf-8") as pipe, temporary() as folder:
                first, again = folder / "first", folder / "again"
                first.mkdir()
                again.mkdir()
                line.run(first, min(line.counted))()
                emptied()
                found = counted(line.run(folder, size))
                emptied()
                found["bytes"] = largest_memory(line.run(again, size))
                pipe.write(json.dumps(found))
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8") as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    if not text:
        raise RuntimeError(f"{line.name} at size {size}: could not be counted; see the traceback above")
    found: dict[str, int] = json.loads(text)
    return found


def emptied() -> None:
    for cache in caches():
        cache.cache_clear()


def modules(line: Line) -> int:
    """How many modules a command imports in a process of its own."""
    code = (
        "import sys; from pathlib import Path; from benchmarks.measure import dpspec; "
        "before = len(sys.modules); dpspec(sys.argv[2:], Path(sys.argv[1])); print(len(sys.modules) - before)"
    )
    with temporary() as folder:
        assert line.command is not None
        arguments = [sys.executable, "-c", code, str(folder), *line.command(folder, 1)]
        done = subprocess.run(arguments, cwd=ROOT, env=environment(), capture_output=True, text=True, check=True)
    return int(done.stdout)


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1:])))
