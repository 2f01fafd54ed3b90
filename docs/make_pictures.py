"""Regenerate docs/gallery: runs the commands of docs/pictures.md.

python docs/make_pictures.py
"""

from __future__ import annotations

import os
import re
import shlex
import sys
from pathlib import Path

from dpspec.cli import main

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "pictures.md"


def commands() -> list[list[str]]:
    """The words of each command of the page, without the first."""
    blocks = re.findall(r"```sh\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    return [shlex.split(line)[1:] for block in blocks for line in block.strip().splitlines()]


def picture(words: list[str]) -> Path:
    """The file that a command writes."""
    return ROOT / words[1 + next(place for place, word in enumerate(words) if word in ("--out", "--picture"))]


if __name__ == "__main__":
    os.chdir(ROOT)
    for command in commands():
        if main(command, standalone_mode=False) not in (None, 0, 3):
            sys.exit(f"failed: {shlex.join(command)}")
