"""A plain function that is given as `module:name` on the command line is imported and verified in a sandbox.

The process that prints the verdict, and ends with its exit code, imports nothing of the user.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs

from dpspec import Outcome, Verdict
from dpspec.plugin import PrivacySpec, Registry
from dpspec.plugin.judges import (
    Event,
    LibraryError,
    NamedFunction,
    Notice,
    PlainFunction,
    Progress,
    error_from_data,
    from_data,
    harmless,
    judge_claim,
    to_data,
)
from dpspec_code import worker
from dpspec_code.case import ENDS, LATE
from dpspec_code.child_process import CAN_FORK, describe_end
from dpspec_code.functions import adapted, cannot_import, load_function
from dpspec_code.sandbox import SandboxResult, decoded, run_sandboxed
from dpspec_code.worker import run_worker

_SHOWN, _MANY = 60, 2000

SandboxedWork = Callable[[PlainFunction, Progress], tuple[Verdict, Event | None]]


def verify_named(
    function: NamedFunction, spec: PrivacySpec, *, registry: Registry | None = None, progress: Progress | None = None
) -> Verdict:
    """Verify whether a plain function satisfies a specification.

    Args:
        function: where it is, how it is sampled, and the function itself where it was imported already.
        spec: the claim.
        registry: where the provenance of the blocks is looked up.
        progress: called with (done, in all).

    Raises:
        as `judge_claim`; FunctionError: it cannot be imported.
    """

    def work(call: PlainFunction, report: Progress) -> tuple[Verdict, None]:
        return judge_claim(call, spec, registry=registry, progress=report, **function.sampling.keywords), None

    if function.call is not None:
        return work(function.call, progress or _silent)[0]
    if not CAN_FORK:
        return _in_new_process(function, spec)
    return in_sandbox(function, spec, work, registry=registry, progress=progress)[0]


def in_sandbox(
    function: NamedFunction, spec: PrivacySpec, work: SandboxedWork, *, registry: Registry | None, progress: Progress | None
) -> tuple[Verdict, Event | None]:
    """Import a function in a sandbox, and work with it there.

    Args:
        function: where it is; it is imported and fitted to the space in its `seconds`.
        spec: the claim.
        work: takes the function, and a function that reports progress; bounds its own time by the same `seconds`.
        registry: where its adapters are looked up.
        progress: called with (done, in all).

    Returns:
        what the work returned; an undecided verdict where the process ended, or its time was over.
    """
    sampling = function.sampling

    def load() -> PlainFunction:
        call = load_function(function.path, sampling).call
        assert call is not None  # noqa: S101 - it was loaded
        return adapted(call, spec.space, dataset=sampling.dataset, generator=sampling.generator, registry=registry)

    if not CAN_FORK:
        return work(load(), progress or _silent)
    found = run_sandboxed(
        load,
        lambda call, report: to_data(_without_spec(*work(call, report)), displayed=True),
        about=function.path,
        seconds=float(sampling.seconds),
        progress=progress,
    )
    notices = _printed(found.printed)
    if found.data is None:
        return _undecided(function, found, notices), None
    verdict, event = decoded(lambda: _checked(from_data(found.data)), function.path)
    return attrs.evolve(_harmless(verdict), findings=(*_harmless(verdict).findings, *notices)), event


def _in_new_process(function: NamedFunction, spec: PrivacySpec) -> Verdict:
    """The verdict of a worker that was started anew, where processes cannot be forked; without progress."""
    message, code = run_worker(function, spec)
    if message is None:
        late = code == worker.LATE
        ended = SandboxResult(ended=describe_end(code), late=late, loaded=False)
        return _undecided(function, ended, ())
    if "fault" in message:
        raise decoded(lambda: error_from_data(message["fault"]), function.path)
    if "failure" in message:
        raise LibraryError("function", f"raised outside of a call: {harmless(message['failure'])}", "fix it", value=function.path)
    verdict, _ = decoded(lambda: _checked(from_data(message["verdict"])), function.path)
    return _harmless(verdict)


def _silent(_done: int, _of: int) -> None:
    """Progress that no one sees."""


def _without_spec(verdict: Verdict, event: Event | None) -> tuple[Verdict, Event | None]:
    return attrs.evolve(verdict, spec=None), event


def _checked(content: Any) -> tuple[Verdict, Event | None]:
    """The answer of a sandbox, of the types that it has to have."""
    verdict, event = content
    if type(verdict) is not Verdict or type(verdict.outcome) is not Outcome or type(event) not in (Event, type(None)):
        raise TypeError("a verdict and an event")
    return verdict, event


def _harmless(verdict: Verdict) -> Verdict:
    """The same with nothing in its texts that a terminal would obey: they quote what the function raised and printed."""
    findings = tuple(Notice(code=harmless(one.code), text=harmless(one.text)) for one in verdict.findings)
    return attrs.evolve(
        verdict,
        findings=findings,
        assumptions=tuple(map(harmless, verdict.assumptions)),
        method=harmless(verdict.method),
        scope=harmless(verdict.scope),
        reason=harmless(verdict.reason),
    )


def _undecided(function: NamedFunction, found: SandboxResult, notices: tuple[Notice, ...]) -> Verdict:
    """What is known of a function whose process ended without a verdict."""
    if not found.loaded and not found.late:
        raise cannot_import(function.path, f"it ended its process {found.ended}")
    when = "while it was verified" if found.loaded else "while its module was imported"
    if found.late:
        seconds = float(function.sampling.seconds)
        text = f"the time ({seconds:g} s) was over {when}"
    else:
        text = f"the function's module ended its process {found.ended} {when}"
    ended = Notice(code=LATE if found.late else ENDS, text=text)
    return Verdict(outcome=Outcome.UNDECIDED, method="none", scope="nothing", reason=text, findings=(ended, *notices))


def _printed(text: str) -> tuple[Notice, ...]:
    """What a module prints outside of calls is shown in one line, and not sent to the terminal."""
    if not text:
        return ()
    lines = text.count("\n") + (not text.endswith("\n"))
    many = f"more than {lines // 1000 * 1000:,}" if lines > _MANY else f"{lines:,}"  # only the beginning is kept
    shown = repr(text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}...")
    more = f" ({many} lines)" if lines > 1 else ""
    return (Notice(code="prints-on-import", text=f"the module writes {shown}{more} to the output while it is imported"),)
