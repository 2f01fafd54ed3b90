"""`dpspec new spec` and `new plugin`: beginnings from a template."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from dpspec.cli.face import formatted, say

if TYPE_CHECKING:
    from pathlib import Path


@click.group(short_help="Begin a specification or a plugin.")
def new() -> None:
    """Begin a specification or a plugin from a commented template.

    Example: dpspec new spec my-release
    """


_DIR = click.option("--dir", "directory", default=".", show_default=True, type=click.Path(), help="Where to write it.")


@new.command("spec", short_help="Write a commented specification.")
@click.argument("name")
@_DIR
@formatted
def new_spec(name: str, directory: str, as_json: bool) -> int:
    """Write NAME.dpspec.toml: a commented specification that passes `dpspec check`.

    Example: dpspec new spec my-release
    """
    from pathlib import Path

    from dpspec.scaffold import write_spec
    from dpspec.specfile.template import new_spec as template

    path = Path(directory) / f"{name}.dpspec.toml"
    write_spec(template(name), path)
    return _begun([path], f"dpspec check {path}", as_json)


@new.command("plugin", short_help="Write a small complete plugin.")
@click.argument("name")
@_DIR
@formatted
def new_plugin(name: str, directory: str, as_json: bool) -> int:
    """Write dpspec-NAME: a distribution with a mechanism, an output divergence, a specification and a test.

    Example: dpspec new plugin hello
    """
    from pathlib import Path

    from dpspec.scaffold import write_plugin

    folder = write_plugin(name, Path(directory))
    written = sorted(path for path in folder.rglob("*") if path.is_file())
    return _begun(written, f"pip install -e {folder} && dpspec verify {folder}", as_json)


def _begun(written: list[Path], then: str, as_json: bool) -> int:
    from dpspec.report import json

    if as_json:
        say(json.document("new", 0, {"written": list(map(str, written)), "next": then}))
    else:
        say("\n".join(f"wrote {path}" for path in written))
        say(f"next: {then}", err=True)
    return 0
