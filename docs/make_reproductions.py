"""Regenerate docs/reproductions: tables with the printed value beside the recomputed one, figures as data and as pictures.

    python docs/make_reproductions.py [--out DIR]

A page is a list of tables and charts, made by a module of docs/reproduce. What differs from the print is said to differ, and
why, in the words of the errata.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from reproduce import PAGES

OUT = Path(__file__).parent / "reproductions"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=OUT, help="where the pages go")
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    for page in PAGES:
        for name, text in page().files().items():
            (out / name).write_text(text, encoding="utf-8")
            sys.stdout.write(f"{out / name}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
