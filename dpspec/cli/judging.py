"""`dpspec check` and `dpspec verify`: what files state, read and judged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from dpspec.cli.each import PATHS, Judged, each_file
from dpspec.cli.face import formatted, say
from dpspec.verify.words import ACCEPTABLE, Word

if TYPE_CHECKING:
    from pathlib import Path

    from dpspec.extension import Registry
    from dpspec.specfile.document import SpecDocument


@click.command(short_help="Read specification files and report every fault.")
@PATHS
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

    def one(path: Path, registry: Registry) -> Judged:
        found = read_spec(path, registry)
        check_ids((seen.setdefault(found.id, found), found))
        return Word.VALID, json.checked(str(path), found), text.checked(str(path), found)

    return each_file("check", paths, as_json, one)


def _accepted(_: click.Context, __: click.Parameter, value: str | None) -> tuple[Word, ...]:
    """The words of ``--accept``, separated by commas."""
    known = {word.word: word for word in ACCEPTABLE}
    given = [] if value is None else value.split(",")
    for name in given:
        if name not in known:
            raise click.BadParameter(f"{name!r} is none of {', '.join(known)}; what is refuted or invalid cannot be accepted")
    return tuple(known[name] for name in given)


@click.command(short_help="Judge what specification files state.")
@click.argument("paths", metavar="FILES_OR_DIRS...", nargs=-1, type=click.Path(path_type=str))
@click.option("--witnesses", metavar="DIR", type=click.Path(), help="Write a witness file for every refuted claim.")
@click.option("--replay", metavar="FILE", type=click.Path(), help="Judge the two datasets of a witness file again.")
@click.option("--function", metavar="MODULE:NAME", help="Judge this plain function against the five blocks of one file.")
@click.option("--release", is_flag=True, help="Judge the code that releases tables, run on every choice of its randomness.")
@click.option(
    "--accept",
    metavar="WORD,...",
    callback=_accepted,
    help="Words that count as success: recorded, miniature, unchecked, undecided.",
)
@click.option("--seed", type=click.IntRange(min=0), help="With --function: the seed of all draws.  [default: 0]")
@click.option("--error", metavar="P", help="... the probability of refuting a true claim.  [default: 1e-9]")
@click.option("--draws", type=click.IntRange(min=1), help="... how often it may be called.  [default: 800000]")
@click.option("--seconds", metavar="S", help="... a limit on the time.")
@click.option("--bits", is_flag=True, default=None, help="... also look at which doubles can be reached.")
@formatted
def verify(  # noqa: PLR0917 - one argument for each option
    paths: tuple[str, ...],
    witnesses: str | None,
    replay: str | None,
    function: str | None,
    release: bool,
    accept: tuple[Word, ...],
    as_json: bool,
    **sampling: Any,
) -> int:
    """Judge what specification files state: the claim of the mechanism, and every printed number.

    A directory stands for every *.dpspec.toml directly in it.

    With --function, a plain function (dataset, numpy Generator) -> output is judged against the five blocks of one
    FILE, and nothing else that the file states. MODULE is looked for in the current directory first.

    With --release, the mechanism's law is not taken from what it states of itself, but read off the code that
    releases real tables.

    \b
    Examples:
      dpspec verify specs
      dpspec verify survey.dpspec.toml --function survey:survey --seed 1
      dpspec verify specs --witnesses found
      dpspec verify specs/swapping-derangement.dpspec.toml --release
      dpspec verify --replay found/survey-claim-0a1b2c3d.json
    """
    from dpspec.api import verify_file
    from dpspec.report import json, text
    from dpspec.report.terminal import Work
    from dpspec.verify.function import Sampling, load_function

    if release and (replay is not None or function is not None):
        raise click.UsageError("--release judges the file's own mechanism: leave out --function and --replay")
    given = {name: value for name, value in sampling.items() if value is not None}
    _go_together(paths, witnesses, replay, function, given)
    if replay is not None:
        return _replay(replay, function, as_json)
    named = None if function is None else load_function(function, Sampling(**given))
    with Work("verifying") as work:

        def one(path: Path, registry: Registry) -> Judged:
            work.entitle(path.name)
            try:
                found = verify_file(path, registry, progress=work, function=named, release=release, witnesses=witnesses)
            finally:
                work.rest()
            return found.word, json.file_report(str(path), found), text.file_report(str(path), found)

        return each_file("verify", paths, as_json, one, accept)


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
    code = Word[found.outcome.name].exit_code
    say(json.document("verify", code, json.replayed(path, found)) if as_json else text.replayed(path, found))
    return code
