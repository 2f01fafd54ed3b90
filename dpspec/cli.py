"""The command line: `dpspec check | verify | compare | convert | ledger | lint | release | explain | plugins | new | schema | ...`.

No logic lives here: a command reads its arguments, calls the library, and prints a report. Results go to stdout, talk
and progress to stderr. Whatever a command needs is imported when it runs, so that ``dpspec --help`` answers at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from dpspec.errors import DpspecError
from dpspec.face import Face, formatted, worst

if TYPE_CHECKING:
    from pathlib import Path

    from dpspec.extension import Registry
    from dpspec.specfile.document import SpecDocument


@click.group(cls=Face, context_settings={"help_option_names": ["-h", "--help"]}, no_args_is_help=True)
@click.version_option(package_name="dpspec", prog_name="dpspec")
def main() -> None:
    """Write down a differential privacy guarantee, verify it, compare it.

    \b
    Exit codes: 0 holds, 1 refuted or an expectation missed, 2 bad input or
    usage, 3 undecided, 4 a needed plugin failed.

    Example: dpspec verify specs
    """


_PATHS = click.argument("paths", metavar="FILES_OR_DIRS...", nargs=-1, required=True, type=click.Path(path_type=str))


@main.command(short_help="Read specification files and report every fault.")
@_PATHS
@formatted
def check(paths: tuple[str, ...], as_json: bool) -> int:
    """Read specification files: syntax, schema, names, fit of the blocks. Nothing is computed.

    Files that are checked together must have different ids. A directory stands for every *.dpspec.toml directly in it.

    Example: dpspec check specs/randomised-response.dpspec.toml
    """
    from dpspec.api import read_spec
    from dpspec.report import json, text
    from dpspec.specfile.reader import check_ids

    seen: dict[str, SpecDocument] = {}

    def one(path: Path, registry: Registry) -> tuple[int, str, dict[str, Any], str]:
        found = read_spec(path, registry)
        check_ids((seen.setdefault(found.id, found), found))
        return 0, "valid", json.checked(str(path), found), text.checked(str(path), found)

    return _each_file("check", paths, as_json, one)


@main.command(short_help="Judge what specification files state.")
@click.argument("paths", metavar="FILES_OR_DIRS...", nargs=-1, type=click.Path(path_type=str))
@click.option("--witnesses", metavar="DIR", type=click.Path(), help="Write a witness file for every refuted claim.")
@click.option("--replay", metavar="FILE", type=click.Path(), help="Judge the two datasets of a witness file again.")
@click.option("--function", metavar="MODULE:NAME", help="Judge this plain function against the five blocks of one file.")
@click.option("--seed", type=click.IntRange(min=0), help="With --function: the seed of all draws.  [default: 0]")
@click.option("--error", metavar="P", help="... the probability of refuting a true claim.  [default: 1e-9]")
@click.option("--draws", type=click.IntRange(min=1), help="... how often it may be called.  [default: 800000]")
@click.option("--seconds", metavar="S", help="... a limit on the time.")
@click.option("--bits", is_flag=True, default=None, help="... also look at which doubles can be reached.")
@formatted
def verify(
    paths: tuple[str, ...], witnesses: str | None, replay: str | None, function: str | None, as_json: bool, **sampling: Any
) -> int:
    """Judge what specification files state: the claim of the mechanism, and every printed number.

    A directory stands for every *.dpspec.toml directly in it.

    With --function, a plain function (dataset, numpy Generator) -> output is judged against the five blocks of one
    FILE, and nothing else that the file states. MODULE is looked for in the current directory first.

    \b
    Examples:
      dpspec verify specs
      dpspec verify survey.dpspec.toml --function survey:survey --seed 1
      dpspec verify specs --witnesses found
      dpspec verify --replay found/survey-claim-0a1b2c3d.json
    """
    from dpspec.api import verify_file
    from dpspec.report import json, text
    from dpspec.report.terminal import Work
    from dpspec.verify.function import Sampling, load_function

    given = {name: value for name, value in sampling.items() if value is not None}
    _go_together(paths, witnesses, replay, function, given)
    if replay is not None:
        return _replay(replay, function, as_json)
    named = None if function is None else load_function(function, Sampling(**given))
    with Work("verifying") as work:

        def one(path: Path, registry: Registry) -> tuple[int, str, dict[str, Any], str]:
            work.entitle(path.name)
            try:
                found = verify_file(path, registry, progress=work, function=named, witnesses=witnesses)
            finally:
                work.rest()
            outcome = found.outcome.value
            return _CODES[outcome], outcome, json.file_report(str(path), found), text.file_report(str(path), found)

        return _each_file("verify", paths, as_json, one)


_CODES = {"verified": 0, "refuted": 1, "undecided": 3}


def _go_together(
    paths: tuple[str, ...], witnesses: str | None, replay: str | None, function: str | None, sampling: dict[str, Any]
) -> None:
    """Refuse what does not go together."""
    from pathlib import Path

    if replay is not None and (paths or witnesses is not None or sampling):
        raise click.UsageError("--replay FILE stands alone, or with --function: everything else is in the file")
    if replay is None and not paths:
        raise click.UsageError("Missing argument 'FILES_OR_DIRS...'.")
    if function is None and sampling:
        raise click.UsageError(f"--{next(iter(sampling))} belongs to --function MODULE:NAME: name the function, or leave it out")
    if function is not None and replay is None and (len(paths) > 1 or Path(paths[0]).is_dir()):
        raise click.UsageError("--function is judged against one FILE: give the file that states its claim")


def _replay(path: str, function: str | None, as_json: bool) -> int:
    from dpspec.extension import installed
    from dpspec.report import json, text
    from dpspec.report.terminal import Work
    from dpspec.verify.function import load_function
    from dpspec.verify.replay import replay

    named = None if function is None else load_function(function).call
    with Work("replaying") as work:
        found = replay(path, registry=installed().registry, mechanism=named, progress=work)
    code = _CODES[found.outcome.value]
    click.echo(json.document("verify", code, json.replayed(path, found)) if as_json else text.replayed(path, found))
    return code


Judged = tuple[int, str, dict[str, Any], str]
"""An exit code, an outcome, and the two reports of one file."""


def _each_file(command: str, paths: tuple[str, ...], as_json: bool, judge: Callable[[Path, Registry], Judged]) -> int:
    """Judge every file, whatever happens to the others; print each result as soon as it is there."""
    from dpspec.extension import installed
    from dpspec.report import json, text
    from dpspec.specfile.reader import spec_files

    registry = installed().registry
    codes, outcomes, results = [], [], []
    done: set[Path] = set()

    def tell(judged: Judged) -> None:
        code, outcome, data, words = judged
        codes.append(code)
        outcomes.append(outcome)
        results.append(data)
        if not as_json:
            click.echo(words)

    def attempt(path: str | Path, call: Callable[[], Judged]) -> None:
        try:
            tell(call())
        except DpspecError as fault:
            code = worst(single["exit_code"] for single in json.errors(fault))
            outcome = {4: "plugin", 3: "undecided"}.get(code, "invalid")
            tell((code, outcome, json.failed(str(path), outcome, fault), text.failed(str(path), outcome, fault)))
            click.echo(text.error_lines(fault, str(path)), err=True)

    for path in paths:
        try:
            files = spec_files(path)
        except DpspecError as fault:
            attempt(path, lambda fault=fault: _raise(fault))  # type: ignore[misc]
            continue
        for file in [file for file in files if file not in done]:
            done.add(file)
            attempt(file, lambda file=file: judge(file, registry))  # type: ignore[misc]
    code = worst(codes)
    if as_json:
        click.echo(json.document(command, code, {"files": results}))
    elif len(outcomes) > 1:
        click.echo(text.summary(outcomes))
    return code


def _raise(fault: DpspecError) -> Judged:
    raise fault


@main.command(short_help="Does one specification imply the other?")
@click.argument("left", metavar="A", type=click.Path())
@click.argument("right", metavar="B", type=click.Path())
@click.option("--derivation", metavar="FILE", type=click.Path(), help="Write the derivation of A => B, else of B => A, as JSON.")
@formatted
def compare(left: str, right: str, derivation: str | None, as_json: bool) -> int:
    """Compare two specifications: does one imply the other, and what separates them?

    Exits with 0 when both directions were answered, with 3 when one stayed unknown.

    \b
    Example:
      dpspec compare specs/topdown-2020-pl.dpspec.toml \\
                     specs/swapping-2020-county-tract.dpspec.toml
    """
    from dpspec.api import compare_specs, write_derivation
    from dpspec.extension import installed
    from dpspec.params import collect
    from dpspec.report import comparison, json
    from dpspec.report.terminal import Work
    from dpspec.specfile.reader import read

    registry = installed().registry
    first, second = collect([lambda: read(left, registry), lambda: read(right, registry)])
    with Work("comparing"):
        found = compare_specs(first.spec, second.spec, registry)
    code = json.comparison_exit_code(found)
    if derivation is not None:
        click.echo(write_derivation(found, derivation, registry), err=True)
    if as_json:
        click.echo(json.document("compare", code, json.comparison(found, (first.id, second.id))))
    else:
        click.echo(comparison.text(found, first, second))
    return code


@main.command("check-derivation", short_help="Is every step of a derivation true?")
@click.argument("path", metavar="FILE", type=click.Path())
@click.option("--trust", multiple=True, metavar="RULE", help="Accept the steps of this rule, which the checker does not know.")
@formatted
def check_derivation(path: str, trust: tuple[str, ...], as_json: bool) -> int:
    """Check a derivation step by step, with a checker that shares no code with what found it.

    Exits with 0 when every step is accepted, with 1 when one is rejected or unchecked, with 2 when FILE is no derivation.

    \b
    Examples:
      dpspec compare specs/topdown-2020-pl.dpspec.toml \\
                     specs/topdown-2020-dhc.dpspec.toml --derivation d.json
      dpspec check-derivation d.json
    """
    from dpspec.checker.check import check_file
    from dpspec.report import derivation, json

    found = check_file(path, trust)
    code = 0 if found.accepted else 1
    click.echo(json.document("check-derivation", code, derivation.data(path, found)) if as_json else derivation.text(path, found))
    return code


@main.command(short_help="What do several releases of one data collection spend together?")
@click.argument("paths", metavar="FILES_OR_DIRS...", nargs=-1, required=True, type=click.Path(path_type=str))
@click.option("--like", metavar="FILE", type=click.Path(), help="State the total about the space and in the unit of this file.")
@click.option("--out", metavar="FILE", type=click.Path(), help="Write the total as a specification file.")
@formatted
def ledger(paths: tuple[str, ...], like: str | None, out: str | None, as_json: bool) -> int:
    """Add up the specifications of one data collection: one specification that all releases satisfy together.

    Universes intersect, so that invariants unite; distances and output divergences go to a common one; budgets add up
    there. A directory stands for every *.dpspec.toml directly in it. Exits with 2 when the files do not compose, and
    says what is missing.

    \b
    Examples:
      dpspec ledger specs/ledger-2020
      dpspec ledger specs/topdown-2020-pl-persons.dpspec.toml \\
                    specs/safetab-2020-ddhc-a.dpspec.toml --out both.dpspec.toml
    """
    from pathlib import Path

    from dpspec import ledger as engine
    from dpspec.extension import installed
    from dpspec.files import write_whole
    from dpspec.report import json
    from dpspec.report import ledger as words
    from dpspec.report.terminal import Work

    registry = installed().registry
    with Work("adding up"):
        found = engine.compose_files(paths, registry, like)
    if out is not None:
        write_whole(Path(out), engine.composed_text(found, Path(out), registry))
    click.echo(json.document("ledger", 0, words.data(found, out)) if as_json else words.text(found))
    return 0


@main.command(short_help="What is a budget in another standard?")
@click.argument("given", metavar="NAME=VALUE...", nargs=-1, required=True)
@click.option("--to", required=True, metavar="NAME", help="The wanted budget (epsilon, rho, mu), or an output divergence.")
@click.option("--delta", metavar="P", help="... at this delta, in (0, 1).")
@click.option("--order", metavar="A", help="... at this Renyi order, above 1.")
@click.option("--at", "further", multiple=True, metavar="NAME=VALUE", help="... with this other parameter of its divergence.")
@click.option("--from", "divergence", metavar="NAME", help="The output divergence of the given budget, where it is not clear.")
@click.option("--mechanism", metavar="KIND", help="The noise is known: gaussian or discrete-gaussian, for one count.")
@formatted
def convert(given: tuple[str, ...], to: str, further: tuple[str, ...], as_json: bool, **named: str | None) -> int:
    """Convert a budget to another standard, by every formula that is known, the best first.

    The first NAME=VALUE is the budget, the others are parameters of its divergence. Each number names its formula and
    says in which sense it is tight. It holds for neighbours, datasets at distance 1.

    \b
    Examples:
      dpspec convert rho=2.63 --to epsilon --delta 1e-10
      dpspec convert epsilon=1 delta=1e-6 --to distance
      dpspec convert rho=2.63 --to epsilon --delta 1e-10 --mechanism gaussian
    """
    from dpspec.compare.quantities import convert as converted
    from dpspec.compare.quantities import equations
    from dpspec.extension import installed
    from dpspec.report import conversion, json

    at = {name: value for name in ("delta", "order") if (value := named[name]) is not None}
    found = converted(
        installed().registry, equations(given), to, at | equations(further),
        divergence=named["divergence"], mechanism=named["mechanism"],
    )  # fmt: skip
    click.echo(json.document("convert", 0, conversion.data(found)) if as_json else conversion.text(found))
    return 0


@main.command(short_help="What is well formed and still misleading?")
@_PATHS
@click.option("--explained", is_flag=True, help="Show the findings too that a file explains.")
@formatted
def lint(paths: tuple[str, ...], explained: bool, as_json: bool) -> int:
    """Look for what is wrong or easily misread: numbers that do not recompute, units that do not fit, vacuous promises.

    A directory stands for every *.dpspec.toml directly in it. Files that are given together are seen together, so that the
    parts of a ledger are compared with their own files. A file says in [[explained]] what is meant to stand. Exits with 1
    when something is found that nobody explains.

    \b
    Examples:
      dpspec lint specs
      dpspec lint specs specs/ledger-2020 --explained
    """
    from dpspec.extension import installed
    from dpspec.lint import lint as look
    from dpspec.report import json
    from dpspec.report import lint as words
    from dpspec.report.terminal import Work
    from dpspec.specfile.reader import spec_files

    files = list(dict.fromkeys(file for path in paths for file in spec_files(path)))
    with Work("linting"):
        found = look(files, installed().registry)
    code = 1 if any(single.explained is None for single in found) else 0
    told = json.document("lint", code, words.data(found, files)) if as_json else words.text(found, files, explained=explained)
    click.echo(told)
    return code


@main.command(short_help="List what is installed.")
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
    click.echo(json.document("plugins", code, json.plugins(found)) if as_json else text.plugins(found))
    return code


@main.command("check-plugin", short_help="Run the conformance checks on a plugin.")
@click.argument("name")
@click.option("--level", type=click.Choice(["fast", "full"]), default="fast", show_default=True, help="full also draws samples.")
@click.option("--expect", "expected", multiple=True, metavar="CHECK=REASON", help="A check that is known to fail, and why.")
@formatted
def check_plugin(name: str, level: str, expected: tuple[str, ...], as_json: bool) -> int:
    """Run the conformance checks on the plugin NAME: its import, names, parameters, divergences, invariants, mechanisms.

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
    click.echo(json.document("check-plugin", code, data) if as_json else conformance.text(name, found))
    return code


@main.command(short_help="Draw one release of a real table.")
@click.argument("spec", type=click.Path())
@click.argument("table", type=click.Path())
@click.option("--out", required=True, metavar="DIR", type=click.Path(), help="Where released.csv and report.json are written.")
@click.option("--seed", type=click.IntRange(min=0), help="For tests and audits: the release is then NOT fit for publication.")
@formatted
def release(spec: str, table: str, out: str, seed: int | None, as_json: bool) -> int:
    """Draw one release of TABLE by the mechanism of SPEC and write it to DIR.

    TABLE is a CSV file with a header, or a registered table such as massachusetts-1940. Random bits come from
    the operating system. Both files are written whole or not at all.

    \b
    Example:
      dpspec release specs/swapping-1940-massachusetts.dpspec.toml \\
                     massachusetts-1940 --out out
    """
    import signal
    from pathlib import Path

    from dpspec import release as engine
    from dpspec.api import read_spec
    from dpspec.extension import installed
    from dpspec.report import json, text
    from dpspec.report.terminal import Work

    signal.signal(signal.SIGTERM, signal.default_int_handler)
    document = read_spec(spec)
    with Work("releasing"):
        drawn = engine.draw(document, table, installed().registry, seed)
        data = engine.write(drawn, Path(out))
    click.echo(json.document("release", 0, data) if as_json else text.released(data, out))
    if seed is not None:
        click.echo(engine.UNFIT, err=True)
    return 0


@main.command(short_help="Say what a name, an error code or a file means.")
@click.argument("name", metavar="NAME_OR_FILE")
@click.option("--picture", metavar="FILE", type=click.Path(), help="With flavours: also draw the family as SVG into FILE.")
@formatted
def explain(name: str, picture: str | None, as_json: bool) -> int:
    """Say what NAME means: anything registered, or an error code; or tell a specification FILE in words.

    The name flavours stands for all registered definitions of differential privacy, by the block that each one changes.

    \b
    Examples:
      dpspec explain hamming
      dpspec explain flavours --picture flavours.svg
      dpspec explain unknown-key
      dpspec explain specs/randomised-response.dpspec.toml
    """
    from pathlib import Path

    from dpspec.api import read_spec
    from dpspec.extension import installed
    from dpspec.files import write_whole
    from dpspec.report import explain as words
    from dpspec.report import family, json

    if name == "flavours":
        data = family.family(installed().registry)
        if picture is not None:
            write_whole(Path(picture), family.picture(data))
        click.echo(json.document("explain", 0, {"family": data}) if as_json else family.text(data))
        return 0
    if picture is not None:
        raise click.UsageError(f"--picture draws the flavours, not {name}; write: dpspec explain flavours --picture {picture}")
    if Path(name).is_file() or name.endswith(".toml"):
        data = words.document(read_spec(name), installed().registry)
        click.echo(json.document("explain", 0, {"file": data}) if as_json else words.document_text(data))
        return 0
    found = words.explain(name, installed().registry)
    click.echo(json.document("explain", 0, {"meanings": found}) if as_json else words.named_text(found))
    return 0


@main.group(short_help="Begin a specification or a plugin.")
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
        click.echo(json.document("new", 0, {"written": list(map(str, written)), "next": then}))
    else:
        click.echo("\n".join(f"wrote {path}" for path in written))
        click.echo(f"next: {then}", err=True)
    return 0


@main.command(short_help="Print the JSON schema of spec files or of results.")
@click.argument("of", type=click.Choice(["spec", "output"]), default="spec")
@formatted
def schema(of: str, as_json: bool) -> int:  # noqa: ARG001 - a schema is JSON in either format
    """Print a JSON schema: of specification files with the installed plugins, or of the results of `--format json`.

    A schema is JSON in either format.

    Example: dpspec schema output
    """
    import json as stdlib

    from dpspec.extension import installed
    from dpspec.report import json
    from dpspec.specfile.schema import language_schema

    found = language_schema(installed().registry) if of == "spec" else json.output_schema()
    click.echo(stdlib.dumps(found, indent=2))
    return 0
