"""`dpspec plugins` and `check-plugin`: what is installed, and whether it conforms."""

from __future__ import annotations

import click

from dpspec.cli.face import formatted, say


@click.command(short_help="List what is installed.")
@formatted
def plugins(as_json: bool) -> int:
    """List the plugins: name, distribution, version, state, and what each registers.

    \b
    DPSPEC_LOAD_PLUGINS=a,b loads only these; DPSPEC_BLOCK_PLUGINS=c leaves c out.

    Example: dpspec plugins
    """
    from dpspec.extension import installed
    from dpspec.report import json, text

    found = installed()
    code = 4 if found.faults() else 0
    say(json.document("plugins", code, json.plugins(found)) if as_json else text.plugins(found))
    return code


@click.command("check-plugin", short_help="Run the conformance checks on a plugin.")
@click.argument("name")
@click.option("--level", type=click.Choice(["fast", "full"]), default="fast", show_default=True, help="full also draws samples.")
@click.option("--expect", "expected", multiple=True, metavar="CHECK=REASON", help="A check that is known to fail, and why.")
@formatted
def check_plugin(name: str, level: str, expected: tuple[str, ...], as_json: bool) -> int:
    """Run the conformance checks on the plugin NAME: its import, names, parameters, and blocks, mechanisms, rules of every kind.

    NAME may also be a registered name, such as hamming: then what is registered under it alone is checked.

    Exits with 1 when a check fails, or when an expected failure passes after all.

    Example: dpspec check-plugin noise
    """
    from dpspec.report import json
    from dpspec.report.terminal import Work
    from dpspec.testing import conformance
    from dpspec.testing.kit import reasons, run_checks

    with Work("checking") as work:
        found = run_checks(name, level=level, expected_failures=reasons(expected), progress=work)
    data = conformance.data(name, found)
    code = 0 if data["conforms"] else 1
    say(json.document("check-plugin", code, data) if as_json else conformance.text(name, found))
    return code
