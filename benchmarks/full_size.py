"""Claims at full size: the 2020 redistricting file, and what 8,100,000 blocks cost beside 8.

    python benchmarks/full_size.py --write benchmarks/full_size.json

Goals: `check` and `verify` of the persons of 2020 cost the same for 8 and for 8,100,000 blocks (a ratio of at most 1.25), each
file of specs/census-2020 is verified in 10 s and 500 MB. Every time is the processor time of a fresh process, the best of three,
large and small in turn.
"""

from __future__ import annotations

import argparse
import json
import platform
import re
import resource
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

SPECS = Path(__file__).parents[1] / "specs" / "census-2020"
RATIO, SECONDS, MEGABYTES = 1.25, 10.0, 500.0


def spent(command: str, path: Path) -> float:
    """Processor seconds of `dpspec COMMAND FILE` in a process of its own."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "dpspec", command, str(path)], stdout=subprocess.DEVNULL, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def small(path: Path, folder: Path) -> Path:
    """The same file with as few nodes as the hierarchy can have and still branch at every level: 8 blocks."""
    text = path.read_text(encoding="utf-8")
    counts = {"state": 2, "county": 3, "tract": 4, "block-group": 6, "block": 8}
    for name, count in counts.items():
        text = re.sub(rf'(name = "{name}", count = )\d+', rf"\g<1>{count}", text)
    written = folder / path.name
    written.write_text(text, encoding="utf-8")
    return written


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path)
    arguments = parser.parse_args()
    large, rows, missed = SPECS / "pl-persons.dpspec.toml", [], False
    with tempfile.TemporaryDirectory() as folder:
        few = small(large, Path(folder))
        for command in ("check", "verify"):
            pairs = [(spent(command, large), spent(command, few)) for _ in range(3)]
            whole, tiny = (min(times) for times in zip(*pairs, strict=True))
            rows.append({"line": f"{command}, 8,100,000 blocks", "seconds": round(whole, 3), "with_8": round(tiny, 3)})
            missed |= whole > RATIO * tiny
    for path in sorted(SPECS.glob("*.dpspec.toml")):
        seconds = min(spent("verify", path) for _ in range(3))
        rows.append({"line": f"verify {path.name}", "seconds": round(seconds, 3)})
        missed |= seconds > SECONDS
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    missed |= memory > MEGABYTES
    for row in rows:
        print(row)
    print(f"largest process: {memory:.0f} MB of {MEGABYTES:.0f}")
    if arguments.write is not None:
        found = {"python": platform.python_version(), "dpspec": version("dpspec"), "lines": rows, "megabytes": round(memory)}
        arguments.write.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
