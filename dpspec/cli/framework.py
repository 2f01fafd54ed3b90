"""Common behaviour of all commands: ``--format``, exit codes, progress, and error handling.

Exit codes: 0 holds; 1 refuted or an expectation missed; 2 bad input or usage; 3 undecided; 4 a plugin, library or worker failed;
5 nothing was checked; 6 known false (confirmed); 7 holds on miniatures only (`dpspec.base.words`).
4 is also a fault of dpspec itself. Further codes: 130 interrupted, 141 the reader of the output has closed it.
"""

from __future__ import annotations

import errno
import gc
import inspect
import io
import os
import signal
import sys
import traceback
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import nullcontext
from copy import copy
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import click
from click.shell_completion import CompletionItem

from dpspec.base.errors import (
    DpspecError,
    Faults,
    LibraryError,
    MissingPackageError,
    OwnFaultError,
    PluginContractError,
    PluginLoadError,
    UnreadableFileError,
    count,
    harmless_page,
)
from dpspec.base.jobs import FEW, in_order, jobs_for
from dpspec.base.lazy import at
from dpspec.base.streams import answers, own_answers
from dpspec.base.words import JudgedFile, Word, worst_code
from dpspec.cli.library_output import captured, run_in_child
from dpspec.extension.packages import COMMANDS, SERVERS, Contribution, contributed, missing_package, plugin_of, renderer

if TYPE_CHECKING:
    from dpspec.base.display import Showable
    from dpspec.cli.cache import ResultCache
    from dpspec.report.figures import FigureFile
    from dpspec.report.terminal import Work
    from dpspec.specfile.document import SpecDocument


_FORMAT, _TRACEBACK = "dpspec.format", "dpspec.traceback"
_SARIF = "sarif"
_USAGE, _INTERRUPTED, _UNREAD = 2, 130, 141
_COLLECTED = 200_000, 30, 1_000
"""A command makes a hundred thousand objects that stay to its end: to look for cycles among them takes a tenth of its start."""

Command = TypeVar("Command", bound=Callable[..., Any])


class OpenGroup(click.Group):
    """A group of commands to which packages contribute.

    Args:
        inside: the entry-point group after ``dpspec.commands``, and the words before a command: `new` for ``dpspec new``.
    """

    def __init__(self, *args: Any, inside: str = "", **extra: Any) -> None:
        super().__init__(*args, **extra)
        self._inside = inside

    def _contributed(self) -> Mapping[str, Contribution]:
        return contributed(f"{COMMANDS}.{self._inside}" if self._inside else COMMANDS)

    def _served(self) -> Mapping[str, Contribution]:
        return {} if self._inside else contributed(SERVERS)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*self.commands, *sorted({*self._contributed(), *self._served()} - {*self.commands})]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """A command of dpspec, or one that a package contributes; a package cannot replace a command of dpspec."""
        own = super().get_command(ctx, cmd_name)
        if own is not None:
            return _traced(own)
        place = self._contributed().get(cmd_name)
        if place is not None:
            return _traced(_answering(_imported(place)))
        place = self._served().get(cmd_name)
        return None if place is None else _imported(place)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is named first; one of a first-party package that is not installed names this package."""
        words = f"{self._inside} {args[0]}".strip()
        package = missing_package(words, "commands") if self.get_command(ctx, args[0]) is None else None
        if package is not None:
            raise MissingPackageError(f"command {words}", package)
        return super().resolve_command(ctx, args)

    def every_command(self) -> dict[str, click.Command]:
        """All commands by name, those that packages contribute among them, in the order of the help."""
        context = click.Context(self)
        found = {name: self.get_command(context, name) for name in self.list_commands(context)}
        return {name: command for name, command in found.items() if command is not None}


def _imported(place: Contribution) -> click.Command:
    """A contributed command, or one that raises why there is none; what its package prints is no part of an answer or help."""
    try:
        with own_answers():
            command: click.Command = place.load()
    except PluginLoadError as fault:
        reason = fault

        def fails(**_: object) -> NoReturn:
            raise reason

        given = click.Argument(["words"], nargs=-1, type=click.UNPROCESSED)
        settings = {"ignore_unknown_options": True, "help_option_names": []}
        return click.Command(None, settings, fails, [given], short_help=str(fault))
    return command


class CommandLine(OpenGroup):
    """The group of commands; turns every error into a message and an exit code."""

    def main(self, *args: Any, standalone_mode: bool = True, **extra: Any) -> Any:
        """Run a command from the shell: whatever happens ends in one line and in an exit code of the table above.

        What click would do by itself ends an interruption, and an output that closed, with 1.
        """
        if not standalone_mode:
            return self._run(*args, **extra)
        _open_streams()
        # What an output has no letter for is written as an escape: a code page, as of a pipe on Windows, has no sign for <=.
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
                stream.reconfigure(errors="backslashreplace")
        if level := os.environ.get("DPSPEC_LOG"):  # events from this level on, info or debug, go to stderr
            import logging

            known = logging.getLevelNamesMapping()
            logging.basicConfig(level=known.get(level.upper(), logging.INFO), format="%(name)s: %(message)s", stream=sys.stderr)
        gc.set_threshold(*_COLLECTED)
        # A command runs in a child, where a library that ends the process does not decide how the command ends; help needs none.
        name = sys.argv[1] if len(sys.argv) > 1 else ""
        serves = name not in self.commands and name in contributed(SERVERS)
        ran = run_in_child(lambda: self._exit_code(*args, **extra)) if name and name[0] != "-" and not serves else None
        if ran is None:
            with captured(wanted=not serves) as output:  # an editor reads what a server writes
                code: int | None = self._exit_code(*args, **extra)
        else:
            code, output = ran
        given = sys.argv[1:] if not args or args[0] is None else args[0]
        noted = output.summary(whole=_wants_traceback(None) or "--traceback" in given)
        if noted:
            say(noted, err=True)
        sys.exit(_ended_early(code, output.unfinished) if code is None or code < 0 else code)

    def _exit_code(self, *args: Any, **extra: Any) -> int:
        """The exit code of a command, whatever happens in it."""
        try:
            code = self._run(*args, **extra)
        except click.ClickException as fault:
            _show(fault)
            return _USAGE
        except (click.Abort, KeyboardInterrupt, EOFError):
            say("interrupted", err=True)
            return _INTERRUPTED
        except SystemExit as ended:
            code = ended.code
        except BaseException as problem:  # before or after a command: its arguments, the help
            code = _report(None, problem) if isinstance(problem, DpspecError) else _unforeseen(None, problem)
        return code if isinstance(code, int) else 0

    def _run(self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any) -> Any:
        return super().main(args, prog_name, standalone_mode=False, **extra)

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """The context of a command, whose defaults are those of the project (`dpspec.cli.settings`)."""
        from dpspec.cli.settings import defaults_of, project_settings

        name = next((one for one in args if not one.startswith("-")), "")
        # Help is printed in a project whose settings are wrong as well.
        settings = {} if not name or {"-h", "--help"} & {*args} else project_settings()
        command = self.get_command(click.Context(self), name) if settings else None
        if command is not None:
            extra.setdefault("default_map", {name: defaults_of(command, name, settings)})
        return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            code = super().invoke(ctx)
            if sys.stdout is not None:  # the process has an output
                sys.stdout.flush()
        except DpspecError as fault:
            code = _report(ctx, fault)
        except click.exceptions.Exit:
            raise
        except click.ClickException as fault:
            _show(fault)
            code = _USAGE
        except (KeyboardInterrupt, click.Abort):
            say("interrupted", err=True)
            code = _INTERRUPTED
        except BaseException as problem:
            code = _unforeseen(ctx, problem)
        ctx.exit(code if isinstance(code, int) else 0)


def _traced(command: click.Command) -> click.Command:
    """A command with ``--traceback``, whose answer has nothing in it that other code prints; of a group each of its commands."""
    if isinstance(command, OpenGroup) or any(one.name == "traceback" for one in command.params):
        return command
    if isinstance(command, click.Group):
        command.commands = {name: _traced(inner) for name, inner in command.commands.items()}
        return command

    def remember(ctx: click.Context, _: click.Parameter, value: bool) -> None:
        ctx.meta[_TRACEBACK] = value or ctx.meta.get(_TRACEBACK, False)

    words = "Show the Python traceback of an error. Text from libraries may quote data."
    option = click.Option(["--traceback"], is_flag=True, expose_value=False, is_eager=True, callback=remember, help=words)
    command.params = [*command.params, option]
    run = command.callback
    if run is not None:

        def answer(*args: Any, **given: Any) -> Any:
            with own_answers():
                return run(*args, **given)

        command.callback = wraps(run)(answer)
    return command


def _wants_traceback(ctx: click.Context | None) -> bool:
    """Whether tracebacks are to be shown: by ``--traceback``, or by an environment variable."""
    return bool(os.environ.get("DPSPEC_TRACEBACK")) or (ctx is not None and bool(ctx.meta.get(_TRACEBACK)))


def _answering(given: click.Command) -> click.Command:
    """A contributed command with ``--format``, which prints what its callback returns; of a group each of its commands.

    A command may have `formats`, which make texts of an answer by the names of further formats; `asks`, for an interactive
    command; and `counts`, the title of its progress and the plural of what is counted. A callback with an argument `progress`
    is called with one, and one with an argument `jobs` gets the option of this name.
    """
    # What the package gives stays as it is: it is loaded once, and may be asked for again.
    command = copy(given)
    if isinstance(command, click.Group):
        command.commands = {name: _answering(inner) for name, inner in command.commands.items()}
        return command
    command.params = list(command.params)
    ask = command.callback
    if ask is None:
        raise PluginContractError(f"command {command.name}", "has nothing to run", "give a click command with a callback")
    formats: Mapping[str, Callable[[Any], str]] = getattr(command, "formats", {})
    title, unit = getattr(command, "counts", (str(command.name), None))
    takes_progress = "progress" in inspect.signature(ask).parameters

    def run(as_json: bool, **arguments: Any) -> int:
        from dpspec.report.pages import answering
        from dpspec.report.terminal import Work

        with nullcontext() if getattr(command, "asks", False) else Work(title, unit=unit) as work:
            answer = answering(ask)(**arguments, **({"progress": work} if takes_progress else {}))
        chosen = click.get_current_context().meta[_FORMAT]
        if chosen in formats:
            say(formats[chosen](answer))
            return int(answer.exit_code)
        return emit(answer, as_json)

    command.callback = run
    words = "Output format. `dpspec schema output` prints the JSON schema."
    command = _with_formats(command, ("text", "json", *formats), words)
    return jobs_option(command) if "jobs" in inspect.signature(ask).parameters else command


_FROM_OUTSIDE = {
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGPIPE") if hasattr(signal, name)
}  # fmt: skip
"""Signals that end a command, and are no fault."""


def _ended_early(code: int | None, unfinished: str) -> int:
    """The exit code of a command whose process was ended by a signal, of which this is the negative number, or by itself.

    Args:
        code: the negative number; None where it ended itself.
        unfinished: whose code was being loaded then; empty for none.
    """
    if unfinished and (code is None or -code not in _FROM_OUTSIDE):
        rule = "did not end" if code is not None and -code == getattr(signal, "SIGPROF", 0) else "ended the process"
        return _report(None, PluginLoadError(unfinished, f"{rule} while it was loaded", "correct or uninstall it"))
    if code is None:
        rule, advice = "ended the process before the command did", "a library or a plugin did so: run the command without it"
        return _report(None, LibraryError("library", rule, advice))
    name = signal.Signals(-code).name if -code in {*signal.Signals} else f"signal {-code}"
    if -code in _FROM_OUTSIDE:
        return 128 - code
    cause = "the system, or a library that ran out of memory" if name == "SIGKILL" else "a library"
    return _report(None, LibraryError("library", f"ended the process ({name})", f"{cause} did so: check the file, or make room"))


def _open_streams() -> None:
    """Open the standard descriptors that are closed: a file with such a number would take what libraries write."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest number that is free
    if sys.stderr is None:
        sys.stderr = sys.__stderr__ = open(2, "w", encoding="utf-8", closefd=False)  # type: ignore[misc]  # noqa: SIM115


def say(text: str, *, err: bool = False, nl: bool = True) -> None:
    """Print a text, the only way in which a command does: whatever is in it, nothing of it is a command to the terminal."""
    if err or answers() is not None:
        click.echo(harmless_page(text), None if err else answers(), nl, err)


def warn_of_parts(documents: Sequence[SpecDocument], what: str) -> None:
    """Say of products that only their first promise is evaluated."""
    for document in documents:
        if document.parts:
            say(f"{document.id}: {what} about its first promise alone, and not about those of its parts", err=True)


def emit(found: Showable, as_json: bool, verbose: bool = False) -> int:
    """Print an answer, as text or as JSON; the exit code of its command, where it has one."""
    from dpspec.report import json, pages

    say(json.written(found.to_dict()) if as_json else pages.printed(found, verbose=verbose))
    for note in getattr(found, "notes", ()):
        say(note, err=True)
    return getattr(found, "exit_code", 0)


def _show(fault: click.ClickException) -> None:
    words = io.StringIO()
    fault.show(words)
    say(words.getvalue().rstrip("\n"), err=True)


def _unforeseen(ctx: click.Context | None, problem: BaseException) -> int:  # noqa: PLR0911 - one end for each cause
    """Handle an exception that is no error of dpspec: a closed pipe, a full disk or memory, a panicked library, an internal
    fault."""
    if isinstance(problem, OSError):  # where the output takes no more, Python would flush it at exit and end with its own code
        try:
            sys.stdout.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(problem, BrokenPipeError):
        return _UNREAD
    foreign = None if isinstance(problem, OSError | MemoryError) else plugin_of(problem)
    if isinstance(problem, SystemExit | GeneratorExit):
        rule, advice = "ended the process", "report it to its author, with the command"
        if foreign is not None:
            return _report(ctx, PluginContractError(f"plugin {foreign[0]}", f"{rule} ({foreign[1]})", advice))
        return _report(ctx, LibraryError("library", rule, advice))
    if isinstance(problem, MemoryError):
        return _report(ctx, LibraryError("memory", "is full", "give the process more, or ask for less"))
    if isinstance(problem, OSError) and problem.errno in _OF_A_PATH:
        path = str(problem.filename or "")
        return _report(ctx, UnreadableFileError("file", f"cannot be used ({problem.strerror})", "check the path", value=path))
    if isinstance(problem, OSError):
        rule = f"refused ({problem.strerror or type(problem).__name__})"
        return _report(ctx, LibraryError("system", rule, "make room, or see to permissions"))
    last = traceback.extract_tb(problem.__traceback__)[-1]
    place = f"{type(problem).__name__} in {Path(last.filename).name}, line {last.lineno}"
    if not isinstance(problem, Exception):
        return _report(ctx, LibraryError("library", f"panicked ({place})", "report it to its authors, with the command"))
    if foreign is not None:
        rule = f"raised {type(problem).__name__} ({foreign[1]})"
        return _report(ctx, PluginContractError(f"plugin {foreign[0]}", rule, "report it to its author, with the command"))
    own = OwnFaultError("dpspec", f"is at fault ({place})", _REPORTED)
    own.__cause__ = problem
    return _report(ctx, own)


_OF_A_PATH = (
    errno.ENAMETOOLONG, errno.EACCES, errno.EPERM, errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.EROFS, errno.ELOOP,
    errno.EINVAL,
)  # fmt: skip
_REPORTED = "please report this line and the command; --traceback shows more"


def _report(ctx: click.Context | None, fault: DpspecError) -> int:
    """The error on stderr, and for --format json as a document on stdout."""
    faults = fault.faults if isinstance(fault, Faults) else (fault,)
    for single in faults:
        if _wants_traceback(ctx):
            say("".join(traceback.format_exception(single)).rstrip("\n"), err=True)
        say(str(single), err=True)
    code = worst_code(single.exit_code for single in faults)
    if ctx is not None and ctx.meta.get(_FORMAT) in ("json", _SARIF):
        from dpspec.report import json

        say_data("error", code, {"errors": json.errors(fault)})
    return code


def picture_option(drawn: str) -> Callable[[Command], Command]:
    """Add ``--picture FILE`` with its help; a file whose format is unknown is refused before any work."""

    def chosen(_: click.Context, __: click.Parameter, value: str | None) -> FigureFile | None:
        if value is None:
            return None
        from dpspec.report.figures import figure_file

        return figure_file(value)

    words = f"{drawn} to FILE (SVG, PNG or PDF)."
    return click.option("--picture", metavar="FILE", type=click.Path(), callback=chosen, help=words)


def formatted(command: Command) -> Command:
    """Add ``--format``; the choice also decides the form of error messages."""
    return _with_formats(command, ("text", "json"), "Output format. `dpspec schema output` prints the JSON schema.")


def reasoned(command: Command) -> Command:
    """Add ``--verbose``: the answer comes first anyway, and then all reasons."""
    return click.option("-v", "--verbose", is_flag=True, help="Show the full reasoning: steps, theorems, what was checked.")(
        command
    )


def reviewed(command: Command) -> Command:
    """The same for a command whose result can be shown at the lines of a file."""
    help_text = "Output format. SARIF is for code review and editors; `dpspec schema output` prints the JSON schema."
    return _with_formats(command, ("text", "json", _SARIF), help_text)


def _with_formats(command: Command, formats: Sequence[str], words: str) -> Command:
    def remember(ctx: click.Context, _: click.Parameter, value: str) -> bool:
        if value == _SARIF:  # where no package writes it, the error comes before any work, and as text
            _sarif()
        ctx.meta[_FORMAT] = value
        return value != "text"

    option = click.option(
        "--format", "as_json", type=click.Choice(formats), default="text", show_default=True,
        callback=remember, is_eager=True, help=words,
    )  # fmt: skip
    return option(command)


def is_sarif() -> bool:
    """Whether the output format is SARIF."""
    ctx = click.get_current_context(silent=True)
    return ctx is not None and ctx.meta.get(_FORMAT) == _SARIF


def _sarif() -> Callable[[Sequence[Mapping[str, Any]]], Mapping[str, Any]]:
    """The renderer that makes a SARIF log of documents."""
    made: Callable[[Sequence[Mapping[str, Any]]], Mapping[str, Any]] = renderer(_SARIF, f"format {_SARIF}")
    return made


def say_data(command: str, code: int, content: Mapping[str, Any]) -> None:
    """Print the result of a command as data: as JSON, or as SARIF if that is the output format."""
    from dpspec.report import json

    if not is_sarif():
        say(json.document(command, code, content))
        return
    say(json.written(_sarif()([{"command": command, "exit_code": code, **content}])))


# --- commands on many files -----------------------------------------------------------------------


class SpecPath(click.Path):
    """A path of specifications; shells complete files *.dpspec.toml and folders."""

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        from dpspec.specfile.reader import SUFFIX

        folder, _, begun = incomplete.rpartition("/")
        found: list[str] = []
        for path in sorted(Path(folder or ("/" if incomplete.startswith("/") else ".")).glob("*")):
            if path.name.startswith(begun) and (begun or not path.name.startswith(".")):
                name = incomplete[: len(incomplete) - len(begun)] + path.name
                found += [f"{name}/"] if path.is_dir() else [name] if path.name.endswith(SUFFIX) else []
        if len(found) == 1 and found[0].endswith("/"):  # go on inside, where there is nothing to choose
            found += [item.value for item in self.shell_complete(ctx, param, found[0])]
        return [CompletionItem(name) for name in found]


def named(*kinds: str) -> Callable[[click.Context, click.Parameter, str], list[CompletionItem]]:
    """Completes registered names of these kinds; without any, whatever `dpspec explain` knows."""

    def complete(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
        from dpspec.extension import installed

        registry = installed().registry
        known = {name for kind in kinds for name in registry.names(kind)}
        if not kinds:
            from dpspec.base.errors import error_classes
            from dpspec.report.explain import glossary

            known = {entry.name for entry in registry} | {cls.code for cls in error_classes()}
            known |= {str(word["name"]) for word in glossary()}
        return [CompletionItem(name) for name in sorted(known) if name.lower().startswith(incomplete.lower())]

    return complete


def one_of(place: str) -> Callable[[click.Context, click.Parameter, str], list[str]]:
    """Completes names from a place, ``module:name``: a collection, or the function that gives one; imported when it is needed."""

    def complete(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
        found: Any = at(place)
        return [name for name in (found() if callable(found) else found) if name.startswith(incomplete)]

    return complete


PATHS = click.argument("paths", metavar="FILES_OR_DIRS...", nargs=-1, required=True, type=SpecPath(path_type=str))


def jobs_option(command: Command) -> Command:
    """Add ``--jobs N``."""
    words = "Number of processes, each for one file at a time.  [default: one for each processor where there are many files]"
    return click.option("-j", "--jobs", metavar="N", type=click.IntRange(min=1), help=words)(command)


def each_file(
    command: str,
    paths: tuple[str, ...],
    as_json: bool,
    judge: Callable[[Path, Work | None], JudgedFile],
    accepted: Collection[Word] = (),
    *,
    raised: tuple[type[DpspecError], ...] = (),
    jobs: int | None = 1,
    few: int = FEW,
    together: Callable[[str | Path, JudgedFile], None] | None = None,
    cache: ResultCache | None = None,
    work: Work | None = None,
) -> int:
    """Judge every file, whatever happens to the others; print each result as soon as it and those before it are there.

    Args:
        judge: says how a file ended; for more than one job a function of a module, which other processes call without `work`.
        raised: errors that are about the command, and no fault of a file.
        jobs: so many files at once; None for one for each processor.
        few: up to so many files the default is one process.
        together: called in this process with each file in order and how it ended; raises what is wrong of it among the others.
        cache: where results are kept, and used again.
        work: shows how far the work is.

    Returns:
        the exit code of the worst word, where those that are accepted count as success.
    """
    from dpspec.report import text
    from dpspec.specfile.reader import spec_files

    files: list[tuple[str | Path, DpspecError | None]] = []
    known: set[Path] = set()
    for path in paths:
        try:
            found = [file for file in spec_files(path) if file not in known]
        except DpspecError as fault:
            files.append((path, fault))
        else:
            known.update(found)
            files += [(file, None) for file in found]
    entries = [None if cache is None or fault is not None else cache.entry(Path(path)) for path, fault in files]
    known_results = [None if cache is None else cache.read(entry) for entry in entries]
    left = [file for file, known_result in zip(files, known_results, strict=True) if known_result is None]
    at_once = jobs_for(jobs, len(left), few)
    attempt = _Attempt(judge, raised, work if at_once == 1 else None)
    computed = in_order(attempt, left, at_once, _lost) if left else iter(())
    words: list[Word] = []
    results = []
    for (given, _), entry, known_result in zip(files, entries, known_results, strict=True):
        judged = next(computed) if known_result is None else (known_result, "")
        if cache is not None and known_result is None and not judged[1]:
            cache.write(Path(given), entry, judged[0])
        (word, data, page), faults = judged if together is None else _among(given, judged, together)
        words.append(word)
        results.append(data)
        if work is not None:
            work.rest()
        if not as_json:
            say(page)
        if faults:
            say(faults, err=True)
        if work is not None and at_once > 1:
            work.entitle(f"{command}, {at_once} files at once")
            work(len(words), len(files))
    code = worst_code(word.exit_code for word in words if word not in accepted)
    if as_json:
        say_data(command, code, {"files": results})
    elif len(words) > 1:
        say(text.summary(words))
    if cache is not None and cache.found:
        say(f"{cache.found} of {count(len(files), 'result')} from the cache", err=True)
    return code


class _Attempt:
    """Judges a file, and reports a fault of it as its result, with the lines for standard error."""

    def __init__(
        self, judge: Callable[[Path, Work | None], JudgedFile], raised: tuple[type[DpspecError], ...], work: Work | None
    ) -> None:
        self._judge, self._raised, self._work = judge, raised, work

    def __call__(self, given: tuple[str | Path, DpspecError | None]) -> tuple[JudgedFile, str]:
        path, unreadable = given
        if unreadable is not None:
            return _failed(path, unreadable)
        if self._work is not None:
            self._work.entitle(Path(path).name)
        try:
            return self._judge(Path(path), self._work), ""
        except self._raised:
            raise
        except DpspecError as fault:
            return _failed(path, fault)


def _among(
    path: str | Path, found: tuple[JudgedFile, str], together: Callable[[str | Path, JudgedFile], None]
) -> tuple[JudgedFile, str]:  # fmt: skip
    """The result of a file among others; a file with a fault of its own is returned unchanged."""
    judged, faults = found
    if not faults:
        try:
            together(path, judged)
        except DpspecError as fault:
            return _failed(path, fault)
    return found


def _failed(path: str | Path, fault: DpspecError) -> tuple[JudgedFile, str]:
    from dpspec.commands import word_of
    from dpspec.report import json, text

    word = word_of(worst_code(single["exit_code"] for single in json.errors(fault)))
    judged = word, json.failed(str(path), word, fault), text.failed(str(path), word, fault)
    return judged, text.error_lines(fault, str(path))


def _lost(given: tuple[str | Path, DpspecError | None]) -> tuple[JudgedFile, str]:
    """The result of a file whose process was ended."""
    rule = "ended the process that checked this file"
    return _failed(given[0], LibraryError("library", rule, "verify it alone with --jobs 1, or free memory"))
