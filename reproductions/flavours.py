"""Write the file of every flavour: `python -m reproductions.flavours specs/flavours`."""

from __future__ import annotations

import argparse
from pathlib import Path

from dpspec import installed
from dpspec.extension import Registry
from dpspec.grammar.flavour import Flavour
from dpspec.specfile.document import flavour_document
from dpspec.specfile.writer import to_toml


def text_of(flavour: Flavour, registry: Registry) -> str:
    """The file of one flavour."""
    return f"# Written by python -m reproductions.flavours; the class is {type(flavour).__name__}.\n" + to_toml(
        flavour_document(flavour), registry
    )


def main() -> None:
    """Write one file for each flavour of this distribution."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path)
    directory = parser.parse_args().directory
    directory.mkdir(parents=True, exist_ok=True)
    for cls in installed().registry.classes("flavours"):
        (directory / f"{cls.name}.dpspec.toml").write_text(text_of(cls(), installed().registry), encoding="utf-8")


if __name__ == "__main__":
    main()
