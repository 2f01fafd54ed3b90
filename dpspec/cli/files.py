"""The commands on files, names and plugins: `check`, `verify`, `lint`, `explain`, `schema`, `plugins`, `check-plugin`, `new`."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from dpspec.base.errors import DpspecError, LibraryError, harmless
from dpspec.base.jobs import FEW_READ
from dpspec.base.words import ACCEPTABLE, JudgedFile, Word, worst_code
from dpspec.cli.framework import (
    PATHS,
    OpenGroup,
    SpecPath,
    each_file,
    emit,
    formatted,
    is_sarif,
    jobs_option,
    named,
    one_of,
    picture_option,
    reasoned,
    reviewed,
    say,
    say_data,
    warn_of_parts,
)

if TYPE_CHECKING:
    from dpspec.report.figures import FigureFile
    from dpspec.report.pages import CommandAnswer
    from dpspec.report.terminal import Work
    from dpspec.verifier.functions import NamedFunction


@click.command(short_help="Read specification files and report every fault.")
@PATHS
@jobs_option
@reviewed
def check(paths: tuple[str, ...], jobs: int | None, as_json: bool) -> int:
    """Check the syntax, schema and names of specification files, and whether their blocks fit together. Nothing is computed.

    Files that are checked together must have different ids. A directory means all *.dpspec.toml files directly in it.

    Example: dpspec check specs/randomised-response.dpspec.toml
    """
    from dpspec.report.terminal import Work
    from dpspec.specfile.reader import duplicate_id

    seen: dict[str, str] = {}

    def together(path: str | Path, judged: JudgedFile) -> None:
        first = seen.setdefault(judged[1]["id"], str(path))
        if first != str(path):
            raise duplicate_id(judged[1]["id"], str(path), first)

    with Work("checking") as work:
        return each_file("check", paths, as_json, _checked, jobs=jobs, few=FEW_READ, together=together, work=work)


def _checked(path: Path, _: Work | None) -> JudgedFile:
    """One file of `check`, without the others."""
    from dpspec.commands import checked
    from dpspec.extension import installed

    return checked(path, installed().registry, {})


def _accepted(_: click.Context, __: click.Parameter, value: str | None) -> tuple[Word, ...]:
    """The words of ``--accept``, separated by commas."""
    known = {word.word: word for word in ACCEPTABLE}
    given = [] if value is None else value.split(",")
    for name in given:
        if name not in known:
            raise click.BadParameter(f"{name!r} is none of {', '.join(known)}; what is refuted or invalid cannot be accepted")
    return tuple(known[name] for name in given)


@click.command(short_help="Verify what specification files state.")
@click.argument("paths", metavar="FILES_OR_DIRS...", nargs=-1, type=SpecPath(path_type=str))
@click.option("--witnesses", metavar="DIR", type=click.Path(), help="Write a witness file for every refuted claim.")
@click.option("--replay", metavar="FILE", type=click.Path(), help="Check the two datasets of a witness file again.")
@click.option("--function", metavar="MODULE:NAME", help="Verify this plain function against the five blocks of one file.")
@click.option("--release", is_flag=True, help="Verify the code that releases tables, on every outcome of its randomness.")
@click.option(
    "--accept",
    metavar="WORD,...",
    callback=_accepted,
    help="Treat these verdicts as success: recorded, miniature, unchecked, undecided.",
)
@click.option("--seed", type=click.IntRange(min=0), help="With --function, the seed of all draws.  [default: 0]")
@click.option("--error", metavar="P", help="With --function, the largest probability of refuting a true claim.  [default: 1e-9]")
@click.option(
    "--draws", type=click.IntRange(min=1), help="With --function, the largest number of calls.  [default: until --seconds end]"
)
@click.option("--seconds", metavar="S", help="With --function, the processor time in seconds.  [default: 30]")
@click.option(
    "--loss", metavar="L", help="With --function, fail unless the search can detect a privacy loss of L per unit distance."
)
@click.option("--mass", metavar="P", help="With --loss, the probability of the events to detect.  [default: 0.05]")
@click.option("--power", metavar="P", help="With --loss, the probability of detection.  [default: 0.99]")
@click.option(
    "--dataset", metavar="ADAPTER", help="With --function, the form in which it receives datasets: pandas, numpy, dicts, ..."
)
@click.option("--generator", metavar="ADAPTER", help="With --function, the source of its randomness: random, system, ...")
@click.option("--bits", is_flag=True, default=None, help="With --function, also check which doubles can occur.")
@click.option(
    "--by-value", is_flag=True, default=None, help="With --function, compare outcomes by value: 0 equals numpy.int64(0)."
)
@click.option("--locked", is_flag=True, help="Compare with dpspec.lock and verify only what changed since.")
@click.option("--all", "everything", is_flag=True, help="With --locked, also verify unchanged files.")
@click.option("--cache", metavar="DIR", help="Keep the results of files in DIR, and use them again while nothing changes.")
@jobs_option
@reasoned
@reviewed
def verify(  # noqa: PLR0917 - one argument for each option
    paths: tuple[str, ...],
    witnesses: str | None,
    replay: str | None,
    function: str | None,
    release: bool,
    accept: tuple[Word, ...],
    locked: bool,
    everything: bool,
    cache: str | None,
    jobs: int | None,
    verbose: bool,
    as_json: bool,
    **sampling: Any,
) -> int:
    """Verify what specification files state: the claim of the mechanism, and every printed number.

    A directory means all *.dpspec.toml files directly in it. Many files are verified in parallel. The output is the same as with
    one job, in the order of the files.

    With --function, a plain function (dataset, numpy Generator) -> output is checked against the five blocks of one FILE. Other
    statements of the file are not checked. MODULE is searched in the current directory first. The annotations of the function
    (pandas.DataFrame, random.Random, ...), or --dataset and --generator, determine the form of its arguments. `dpspec plugins`
    lists the adapters and generators.

    With --release, the law of the mechanism is computed from the code that releases real tables, not from its declaration.

    With --locked, files are compared with the lock that `dpspec lock` wrote. New, missing or worse files fail. Unchanged files
    are not verified again, unless a package of dpspec changed. Without FILES_OR_DIRS, the files of the lock are compared.

    With --cache, the results of files that did not change are read from DIR, if nothing that is installed has changed since. The
    output is the same. It is not used with --function or --witnesses. Trust the folder as you trust the installation.

    \b
    Examples:
      dpspec verify specs
      dpspec verify specs --cache .dpspec-cache
      dpspec verify survey.dpspec.toml --function survey:survey --seed 1
      dpspec verify survey.dpspec.toml --function survey:table --dataset pandas
      dpspec verify specs --jobs 4
      dpspec verify --locked
      dpspec verify specs --witnesses found
      dpspec verify specs/swapping-derangement.dpspec.toml --release
      dpspec verify --replay found/survey-claim-0a1b2c3d.json
    """
    from dpspec.report.terminal import Work

    if release and (replay is not None or function is not None):
        raise click.UsageError("--release verifies the mechanism of the file: leave out --function and --replay")
    given = {name: value for name, value in sampling.items() if value is not None}
    if locked or everything:
        return _locked(paths, locked, everything, accept, jobs, as_json)
    if replay is not None and (paths or witnesses is not None or given):
        raise click.UsageError("--replay FILE takes no other options than --function: everything else is in the file")
    if replay is None and not paths:
        raise click.UsageError("Missing argument 'FILES_OR_DIRS...'.")
    if function is None and given:
        raise click.UsageError(f"--{next(iter(given))} belongs to --function MODULE:NAME: name the function, or leave it out")
    if function is not None and replay is None and (len(paths) > 1 or Path(paths[0]).is_dir()):
        raise click.UsageError("--function is verified against one FILE: give the file that states its claim")
    if replay is not None and is_sarif():
        raise click.UsageError("--format sarif describes files, and --replay checks two datasets: take --format json")
    if replay is not None:
        return _replay(replay, function, as_json)
    named: NamedFunction | None = None
    raised: tuple[type[DpspecError], ...] = ()
    if function is not None:  # what samples functions is read for them alone
        from dpspec.verifier.functions import FunctionError, NamedFunction, Sampling

        named, raised = NamedFunction(path=function, sampling=Sampling(**given)), (FunctionError,)
    judge = partial(_judged, as_json=as_json, verbose=verbose, function=named, release=release, witnesses=witnesses)
    if cache is None or witnesses is not None or named is not None:  # what is written, or code that is not installed
        with Work("verifying") as work:
            return each_file("verify", paths, as_json, judge, accept, raised=raised, jobs=jobs, work=work)
    from dpspec.cli.cache import cache_at

    asked = {"as_json": as_json, "verbose": verbose, "release": release}
    with cache_at(cache, asked, partial(say, err=True)) as results, Work("verifying") as work:
        return each_file("verify", paths, as_json, judge, accept, jobs=jobs, cache=results, work=work)


def _locked(  # noqa: PLR0917 - one argument for each option
    paths: tuple[str, ...], locked: bool, everything: bool, accept: tuple[Word, ...], jobs: int | None, as_json: bool
) -> int:
    """Compare files with the lock, which another package reads and writes.

    The paths that a project sets for `verify` are left out, as the lock has paths of its own.
    """
    from dpspec.extension.packages import function
    from dpspec.report.pages import answering
    from dpspec.report.terminal import Work

    if not locked:
        raise click.UsageError("--all belongs to --locked: add it, or leave this out")
    ctx = click.get_current_context()
    typed = [name for name in ctx.params if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE]
    for name in (name for name in typed if name not in ("paths", "locked", "everything", "accept", "jobs", "as_json", "verbose")):
        raise click.UsageError(f"--locked compares files with the lock: leave out --{name.replace('_', '-')}")
    compare = answering(function("verify_locked", "option --locked"))
    with Work("verifying", unit="files") as work:
        words = [word.word for word in accept]
        found = compare(*(paths if "paths" in typed else ()), everything=everything, accept=words, jobs=jobs, progress=work)
    if not as_json:
        return emit(found, as_json)
    say_data(found.command, found.exit_code, found.content)
    return int(found.exit_code)


def _judged(path: Path, work: Work | None, *, as_json: bool, verbose: bool, **asked: Any) -> JudgedFile:
    """One file of `verify`."""
    from dpspec.api import verify_file
    from dpspec.report import json, pages

    found = verify_file(path, progress=work, **asked)
    if as_json:
        return found.word, json.file_report(str(path), found), ""
    return found.word, {}, pages.printed(found, verbose=verbose)


@click.command(short_help="Find the least budget of a mechanism or function.")
@click.argument("spec", metavar="FILE", type=SpecPath())
@click.option("--function", metavar="MODULE:NAME", help="Measure this plain function instead of the mechanism of FILE.")
@click.option("--seed", type=click.IntRange(min=0), help="With --function, the seed of all draws.  [default: 0]")
@click.option("--seconds", metavar="S", help="With --function, the processor time in seconds.  [default: 30]")
@click.option(
    "--dataset", metavar="ADAPTER", help="With --function, the form in which it receives datasets: pandas, numpy, dicts, ..."
)
@click.option("--generator", metavar="ADAPTER", help="With --function, the source of its randomness: random, system, ...")
@formatted
def measure(spec: str, function: str | None, as_json: bool, **sampling: Any) -> int:
    """Find the least budget with which a mechanism or function satisfies the blocks of FILE. The result is a bracket: a budget
    that is proved to suffice, and one that two datasets show not to suffice. The budget in FILE is not used.

    A function runs in a sandbox. Exits with 3 if no upper bound is proved.

    \b
    Examples:
      dpspec measure specs/randomised-response.dpspec.toml
      dpspec measure survey.dpspec.toml --function survey:survey
    """
    from dpspec import commands
    from dpspec.api import read
    from dpspec.report.terminal import Work

    given = {name: value for name, value in sampling.items() if value is not None}
    if function is None and given:
        raise click.UsageError(f"--{next(iter(given))} belongs to --function MODULE:NAME: name the function, or leave it out")
    document = read(spec)
    warn_of_parts((document,), "the budget is")
    with Work("measuring") as work:
        found = commands.measure(function, document, progress=work, **given)
    return emit(found, as_json)


def _replay(path: str, function: str | None, as_json: bool) -> int:
    from dpspec.api import replay
    from dpspec.report import json, pages
    from dpspec.report.terminal import Work
    from dpspec.verifier.functions import NamedFunction

    named = None if function is None else NamedFunction(path=function)
    with Work("replaying") as work:
        found = replay(path, named, progress=work)
    code = Word[found.outcome.name].exit_code
    say(json.document("verify", code, json.replayed(found)) if as_json else pages.printed(found))
    return code


# --- `dpspec lint`, `explain` and `schema` --------------------------------------------------------


@click.command(short_help="Find misleading statements in valid files.")
@PATHS
@click.option("--explained", is_flag=True, help="Also show findings that the file explains.")
@click.option("--table", metavar="TABLE", help="Also check what the exact tables of this confidential table disclose.")
@jobs_option
@reviewed
def lint(paths: tuple[str, ...], explained: bool, table: str | None, jobs: int | None, as_json: bool) -> int:
    """Find statements that are wrong or easily misread: numbers that cannot be recomputed, units that do not fit, vacuous
    guarantees.

    A directory means all *.dpspec.toml files directly in it. Files that are given together are checked together: the parts of a
    ledger are compared with their own files. A file lists accepted findings in [[explained]]. Exits with 1 if a finding is not
    explained, and with 4 if a file ended the process that checked it.

    \b
    Examples:
      dpspec lint specs
      dpspec lint specs specs/ledger-2020 --explained
      dpspec lint specs/swapping-1940-massachusetts.dpspec.toml --table massachusetts-1940
    """
    from dpspec.extension import installed
    from dpspec.linter import lint as look
    from dpspec.report import findings
    from dpspec.report.terminal import Work
    from dpspec.specfile.reader import spec_files

    files = list(dict.fromkeys(file for path in paths for file in spec_files(path)))
    with Work("linting"):
        found = look(files, installed().registry, table, jobs=jobs)
    ended = LibraryError.code, LibraryError.exit_code
    code = worst_code(ended[1] if single.code == ended[0] else 1 for single in found if single.explained is None)
    if as_json:
        say_data("lint", code, findings.lint_data(found, files))
    else:
        say(findings.lint_text(found, files, explained=explained))
    return code


@click.command(short_help="Explain a name, term, error code or file.")
@click.argument("name", metavar="NAME_OR_FILE", shell_complete=named())
@picture_option("With `flavours`, write a figure of the family")
@click.option("--audience", type=click.Choice(["public", "technical"]), help="With a FILE, the readers of the explanation.")
@click.option(
    "--language",
    metavar="LANGUAGE",
    shell_complete=one_of("dpspec.report.audience:catalogue"),
    help="With --audience public, the language: en, de or fr. The last two are drafts.",
)
@click.option(
    "--without",
    metavar="INVARIANT",
    help="With a FILE, explain the guarantee without this invariant, given by its number from 1 or its text.",
)
@click.option(
    "--universe-of",
    metavar="TABLE",
    help="With --audience, the source of the universe that determines the budget: a table or a report.json.",
)
@formatted
def explain(name: str, picture: FigureFile | None, as_json: bool, **asked: str | None) -> int:
    """Explain NAME: a registered name, an error code or a term; or explain a specification FILE in words.

    The name `flavours` lists all registered definitions of differential privacy, by the block that each one changes. With
    --audience, the explanation of FILE is for the people in the data or for reviewers, and includes what an attacker can achieve.

    \b
    Examples:
      dpspec explain hamming
      dpspec explain zCDP
      dpspec explain flavours --picture flavours.svg
      dpspec explain unknown-key
      dpspec explain "Bun and Steinke 2016"
      dpspec explain specs/randomised-response.dpspec.toml
      dpspec explain specs/topdown-2020-pl.dpspec.toml --audience public
      dpspec explain specs/topdown-2020-pl.dpspec.toml --audience public --language de
      dpspec explain specs/swapping-derangement.dpspec.toml --audience public \\
                     --universe-of households.csv
      dpspec explain specs/topdown-2020-pl.dpspec.toml --without "person by state"
    """
    from dpspec import commands
    from dpspec.report.terminal import Work

    if asked["language"] is not None and asked["audience"] != "public":
        raise click.UsageError(f"--language {asked['language']}: goes with --audience public")
    if asked["universe_of"] is not None and asked["audience"] is None:
        raise click.UsageError("--universe-of: goes with --audience; without one, use dpspec risk FILE --universe-of TABLE")
    if picture is not None and name != "flavours":
        raise click.UsageError(
            f"--picture shows the flavours, not {name}; write: dpspec explain flavours --picture {picture.path}"
        )
    with Work("looking it up"):
        found = commands.explain(name, **asked)
    if picture is not None:
        found.plot().save(picture.path)
    return emit(found, as_json)


@click.command(short_help="Print the JSON schema of spec files or of results.")
@click.argument("of", type=click.Choice(["spec", "output"]), default="spec")
@formatted
def schema(of: str, as_json: bool) -> int:  # noqa: ARG001 - a schema is JSON in either format
    """Print a JSON schema: of specification files with the installed plugins, or of the output of `--format json`.

    The schema is JSON in either format.

    Example: dpspec schema output
    """
    import json as stdlib

    from dpspec import commands

    say(stdlib.dumps(commands.schema(of), indent=2))
    return 0


# --- `dpspec plugins` and `check-plugin` ----------------------------------------------------------


@click.command(short_help="List installed plugins.")
@formatted
def plugins(as_json: bool) -> int:
    """List the plugins: name, distribution, version, state and registered names.

    \b
    DPSPEC_LOAD_PLUGINS=a,b loads only these; DPSPEC_BLOCK_PLUGINS=c leaves c out.

    Example: dpspec plugins
    """
    from dpspec import commands

    return emit(commands.plugins(), as_json)


def _plugin_names(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    from dpspec.extension import installed

    known = {entry.provenance.plugin for entry in installed().registry} | {entry.name for entry in installed().registry}
    return sorted(name for name in known if name.startswith(incomplete))


@click.command("check-plugin", short_help="Run the conformance checks on a plugin.")
@click.argument("name", shell_complete=_plugin_names)
@click.option(
    "--level",
    type=click.Choice(["fast", "full"]),
    default="fast",
    show_default=True,
    help="Checks to run: the fast ones, or with `full` also those that draw samples.",
)
@click.option(
    "--expect", "expected", multiple=True, metavar="CHECK=REASON", help="Check that is expected to fail, with the reason."
)
@formatted
def check_plugin(name: str, level: str, expected: tuple[str, ...], as_json: bool) -> int:
    """Run the conformance checks on the plugin NAME: its import, names, parameters, and blocks, mechanisms, rules of every kind.

    NAME may also be a registered name, such as hamming. Then only the object with this name is checked.

    Exits with 1 if a check fails, or if an expected failure passes.

    Example: dpspec check-plugin noise
    """
    from dpspec import commands
    from dpspec.report.terminal import Work
    from dpspec.testing.conformance import reasons

    with Work("checking") as work:
        found = commands.check_plugin(name, level, reasons(expected), progress=work)
    return emit(found, as_json)


# --- `dpspec new spec` and `new plugin` -----------------------------------------------------------


@click.group(cls=OpenGroup, inside="new", short_help="Create a specification or a plugin.")
def new() -> None:
    """Create a specification or a plugin from a commented template.

    Example: dpspec new spec my-release
    """


_DIR = click.option("--dir", "directory", default=".", show_default=True, type=click.Path(), help="Output folder.")


@new.command("spec", short_help="Create a commented specification, optionally from a table.")
@click.argument("name", required=False)
@click.option("--from", "table", metavar="TABLE", type=click.Path(), help="Table whose columns become the space.")
@click.option(
    "--column", "columns", multiple=True, metavar="NAME", help="With --from, use this column and no other. May be repeated."
)
@click.option("--codebook", metavar="FILE", type=click.Path(), help="With --from, a CSV file of categories: column,value,label.")
@click.option("--within", multiple=True, metavar="FINER=COARSER", help="With --from, nest one attribute in another.")
@click.option("--no-ask", is_flag=True, help="With --from, do not ask about nested attributes; write them as comments.")
@click.option("--unit", metavar="WORD", help="With --from, the unit of one record.  [default: person]")
@_DIR
@formatted
def new_spec(  # noqa: PLR0917 - one argument for each option
    name: str | None,
    table: str | None,
    columns: tuple[str, ...],
    codebook: str | None,
    within: tuple[str, ...],
    no_ask: bool,
    unit: str | None,
    directory: str,
    as_json: bool,
) -> int:
    """Write NAME.dpspec.toml: a commented specification that passes `dpspec check`.

    With --from, the space is drafted from TABLE (.csv, .parquet, .arrow; with extras .sav, .dta, .xlsx, and a query in .sql):
    attributes, categories, bands of numbers. NAME defaults to the name of the table. The command asks whether attributes that
    look nested, as geographies do, are nested; an empty answer means no. Categories that are read from confidential data disclose
    facts about them. The file marks such categories, and `dpspec lint` warns.

    \b
    Examples:
      dpspec new spec my-release
      dpspec new spec --from survey.csv
      dpspec new spec households --from survey.parquet --codebook codes.csv --within tract=county --no-ask
    """
    from dpspec import commands
    from dpspec.report.terminal import Work

    if table is None and name is None:
        raise click.UsageError("Missing argument 'NAME', or option '--from TABLE'.")
    if table is None and (columns or codebook or within or unit):
        raise click.UsageError("--column, --codebook, --within and --unit belong to --from TABLE")
    with Work("reading") as work:

        def asked(question: str) -> bool | None:
            """The answer to a question on the terminal; None where the input ends."""
            work.rest()
            for _ in range(3):
                say(f"{harmless(question)} [y/N] ", err=True, nl=False)
                line = sys.stdin.readline() if sys.stdin is not None else ""
                if not line:
                    say("", err=True)
                    return None
                if line.strip().lower() in ("y", "yes"):
                    return True
                if line.strip().lower() in ("", "n", "no"):
                    return False
                say("answer y or n", err=True)
            return False

        found = commands.new_spec(
            name, directory, table=table, columns=columns, codebook=codebook, within=within, unit=unit or "person",
            ask=None if no_ask else asked,
        )  # fmt: skip
    return emit_begun(found, as_json)


@new.command("plugin", short_help="Create a small, complete plugin.")
@click.argument("name")
@_DIR
@click.option(
    "--kind", metavar="KIND", shell_complete=one_of("dpspec.scaffold:PLUGIN_KINDS"),
    help="Kind of plugin, such as space or attacker.",
)  # fmt: skip
@formatted
def new_plugin(name: str, directory: str, kind: str | None, as_json: bool) -> int:
    """Write dpspec-NAME: a distribution with one class, a specification that uses it, and tests.

    The default is a mechanism and an output divergence. KIND is one of space, multiverse, invariant, relation, input-divergence,
    output-divergence, budget, mechanism, flavour, attacker, tolerance, route, table, format, workers, adapter, generator, rule.

    \b
    Examples:
      dpspec new plugin hello
      dpspec new plugin hello --kind attacker
    """
    from dpspec import commands

    return emit_begun(commands.new_plugin(name, directory, kind), as_json)


@click.command(short_help="List or copy example specifications.")
@click.argument("names", metavar="[NAME]...", nargs=-1, shell_complete=one_of("dpspec.scaffold:examples"))
@click.option("--dir", "directory", metavar="DIR", type=click.Path(), help="Copy all examples, or those named, into this folder.")
@formatted
def examples(names: tuple[str, ...], directory: str | None, as_json: bool) -> int:
    """List the specifications that are part of dpspec, or copy them into a folder. They need the standard plugins: pip install
    "dpspec[standard]".

    \b
    Examples:
      dpspec examples
      dpspec examples --dir specs
    """
    from dpspec import commands

    emit(commands.examples(*names, directory=directory), as_json)
    if directory is None and not as_json:
        say(f"next: dpspec examples {' '.join([*names, '--dir'])} specs writes them into the folder specs", err=True)
    return 0


def emit_begun(found: CommandAnswer, as_json: bool) -> int:
    """Print what was written, and what comes next."""
    for line in found.value.get("said", ()):
        say(line, err=True)
    emit(found, as_json)
    if not as_json:
        say(f"next: {found['next']}", err=True)
    return 0
