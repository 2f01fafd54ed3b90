"""How long the first minutes of a new user take the machine: the table of docs/first-minutes.md, from first-minutes.json.

    python docs/make_site.py && python benchmarks/first_minutes.py out/site

For each of three users: a new environment in an empty folder, dpspec installed from the site by the address of its page, then the
blocks of that user's tutorial in their order, until there is a report; last the first notebook. What is counted are seconds of
the commands, commands, and lines to copy or edit. Nobody's time to read and to type is in it.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import attrs

ROOT = Path(__file__).parents[1]
WRITTEN = Path(__file__).with_name("first-minutes.json")
sys.path.insert(0, str(ROOT))

from tests.packaging.test_tutorial import DOCS, FENCE, FILE, edit  # noqa: E402

USERS = {"engineer": "engineer", "office": "statistician at an office", "student": "student"}
NEEDED = {"engineer": ["pip install pytest"]}
"""What a tutorial lets its reader install besides."""
FIRST_CELL = "jupyter nbconvert --to notebook --execute first-verdict.ipynb --output done.ipynb"
"""What stands for opening the notebook and running it: it starts a kernel, as the browser does."""


@attrs.define
class Walk:
    """One user, from an empty folder.

    Args:
        folder: where that user works.
        seconds: of the commands until now.
        commands: how many were typed.
        lines: how many were copied or edited.
        milestones: what was reached, with the three numbers there.
    """

    folder: Path
    seconds: float = 0.0
    commands: int = 0
    lines: int = 0
    milestones: dict[str, tuple[float, int, int]] = attrs.field(factory=dict)

    def type(self, line: str, program: str | None = None) -> None:
        """Type one command; that dpspec or pytest refutes or refuses something (1, 2) is part of a tutorial."""
        words = shlex.split(line)
        words[0] = str(self.folder / "env" / "bin" / words[0]) if program is None else program
        path = f"{self.folder / 'env' / 'bin'}{os.pathsep}{os.environ['PATH']}"
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("DPSPEC_", "PYTHON"))}
        begun = time.perf_counter()
        done = subprocess.run(words, cwd=self.folder, env={**kept, "PATH": path}, capture_output=True, text=True, check=False)
        self.seconds += time.perf_counter() - begun
        self.commands += 1
        print(f"  {time.perf_counter() - begun:6.1f} s  {line}", file=sys.stderr)
        if done.returncode not in ((0, 1, 2) if line.startswith(("dpspec", "python -m pytest", "python ")) else (0,)):
            sys.exit(f"{line}\n{done.stdout}{done.stderr}")

    def reached(self, what: str) -> None:
        """Note the numbers where something is there for the first time."""
        self.milestones.setdefault(what, (self.seconds, self.commands, self.lines))

    def follow(self, page: Path) -> None:
        """The blocks of a page in their order, until there is a report."""
        own = False
        for language, text in FENCE.findall(page.read_text(encoding="utf-8")):
            if language == "diff":
                edit(self.folder, text)
                self.lines += text.count("\n+")
            elif language != "text" and (named := FILE.match(text)):
                (self.folder / named[1]).write_text(text, encoding="utf-8")
                self.lines += text.count("\n") - 1
                own = own or named[1].endswith(".py")
            for line in text.splitlines() if language == "sh" else ():
                self.type(line)
                if "verify" in line:
                    self.reached("first verdict")
                if own:
                    self.reached("own function refuted")
                if " report " in line:
                    self.reached("report")
                    return


def walk(user: str, site: Path, folder: Path) -> Walk:
    """One user's way through the site."""
    made = Walk(folder)
    made.type("python -m venv env", sys.executable)
    made.type(f'pip install "dpspec[standard]" --find-links {(site / "install.html").as_uri()}')
    made.reached("installed")
    made.follow(DOCS / "install.md")
    for line in NEEDED.get(user, ()):
        made.type(line)
    made.follow(DOCS / "tutorials" / f"{user}.md")
    made.type("pip install notebook")
    notebook = (site / "notebooks" / "first-verdict.ipynb").read_bytes()
    (folder / "first-verdict.ipynb").write_bytes(notebook)
    made.type(FIRST_CELL)
    made.reached("notebook cell")
    return made


def main() -> None:
    """Walk, and write the numbers that the page shows."""
    parser = argparse.ArgumentParser(description="Measure the first minutes of three users.")
    parser.add_argument("site", type=Path, help="the folder of the site")
    site = parser.parse_args().site.resolve()
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors (load {os.getloadavg()[0]:.0f})"
    date = datetime.datetime.now(datetime.UTC).date().isoformat()
    milestones: dict[str, list[tuple[int, int, int]]] = {}
    for user in USERS:
        with tempfile.TemporaryDirectory() as folder:
            for what, (seconds, commands, lines) in walk(user, site, Path(folder)).milestones.items():
                milestones.setdefault(what, []).append((round(seconds), commands, lines))
    found = {"date": date, "machine": machine, "python": platform.python_version(), "users": list(USERS.values()), "milestones": milestones}
    part = WRITTEN.with_suffix(".part")
    part.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    os.replace(part, WRITTEN)
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
