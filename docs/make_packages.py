"""Write dpspec/extension/first_party.toml: what each first-party package brings, so that dpspec can say what to install.

python docs/make_packages.py
"""

from __future__ import annotations

import tomllib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from dpspec import installed
from dpspec.extension.packages import COMMANDS, FUNCTIONS, JUDGES, RENDERERS, SERVERS

ROOT = Path(__file__).parents[1]
TABLE = ROOT / "dpspec" / "extension" / "first_party.toml"


def table() -> str:
    """The whole text."""
    lines = ["# What each first-party package brings. Made by python docs/make_packages.py."]
    for path in sorted((ROOT / "plugins").glob("*/pyproject.toml")):
        project = tomllib.loads(path.read_text(encoding="utf-8"))["project"]
        lines += ["", f"[{project['name']}]", *_brings(project["name"], project.get("entry-points", {}))]
    return "\n".join(lines) + "\n"


def _brings(package: str, points: dict[str, dict[str, str]]) -> Iterator[str]:
    brings: dict[str, set[str]] = defaultdict(set)
    brings["commands"].update(points.get(COMMANDS, ()), points.get(SERVERS, ()))
    nested = {group: names for group, names in points.items() if group.startswith(f"{COMMANDS}.")}
    brings["commands"].update(f"{group.removeprefix(f'{COMMANDS}.')} {name}" for group, names in nested.items() for name in names)
    brings["functions"].update(points.get(FUNCTIONS, ()))
    brings["judges"].update(points.get(JUDGES, ()))
    brings["renderers"].update(points.get(RENDERERS, ()))
    for entry in installed().registry:
        if entry.provenance.distribution == package:
            brings["classes"].add(entry.place.partition(":")[2])
            brings[entry.kind].add(entry.name)
    for kind, names in brings.items():
        if names:
            yield f"{kind} = ["
            yield from (f'    "{name}",' for name in sorted(names))
            yield "]"


if __name__ == "__main__":
    TABLE.write_text(table(), encoding="utf-8")
