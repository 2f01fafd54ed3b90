"""The conformance tests: every check on every subject of a plugin, from Python, pytest, or ``dpspec check-plugin NAME``.

    from dpspec.testing import parametrize

    @parametrize("my-plugin")
    def test_conformance(case):
        case.run()

A check that does not apply to a subject says so, and why.
"""

from __future__ import annotations

import enum
import importlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.metadata import entry_points
from typing import Any

import attrs
from rich.text import Text

from dpspec.base.errors import ParameterError, PluginContractError, UnknownNameError, count, raised_at
from dpspec.base.params import did_you_mean
from dpspec.base.types import Progress
from dpspec.extension.hooks import GROUP, Entry
from dpspec.extension.loader import PluginInfo, Plugins, installed, load_plugins
from dpspec.report.terminal import BAD, FAINT, GOOD, OPEN, drawn, grid
from dpspec.testing import checks as _declares_all_checks  # noqa: F401
from dpspec.testing.check import Check, ClassSubject, Context, NotApplicable, PluginSubject, Subjects, declared_checks

LEVELS = ("fast", "full")
CORE = "dpspec.extension.standard"


class Status(enum.Enum):
    """The result of a check."""

    PASSED = "passed"
    FAILED = "failed"
    EXPECTED_FAILURE = "expected failure"
    UNEXPECTED_PASS = "unexpected pass"  # noqa: S105 - no password
    NOT_APPLICABLE = "not applicable"

    @property
    def is_fault(self) -> bool:
        """Whether the plugin, or its list of expected failures, has to be fixed."""
        return self in (Status.FAILED, Status.UNEXPECTED_PASS)


@attrs.frozen(kw_only=True)
class CheckResult:
    """The result of one check on one subject.

    Args:
        check: the name of the check.
        subject: the subject in words.
        status: how it ended.
        detail: the finding, the reason why the check does not apply, or why the failure was expected.
    """

    check: str
    subject: str
    status: Status
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.status.value}: {self.check} of {self.subject}" + (f": {self.detail}" if self.detail else "")


@attrs.frozen(kw_only=True)
class CheckCase:
    """One check on one subject, not run yet."""

    check: Check
    subject: Any
    context: Context

    def __str__(self) -> str:
        return f"{self.check.name}[{self.subject}]"

    def run(self) -> str:
        """Run the check; returns what it reports.

        Raises:
            CheckFailedError: the subject lacks the property.
            NotApplicable: the check does not apply to the subject.
        """
        excluded = self.check.excluded(self.subject)
        if excluded:
            raise NotApplicable(excluded)
        return self.check.call(self.subject, self.context) or ""

    def result(self) -> CheckResult:
        """Run the check, whatever happens."""
        status, detail = Status.PASSED, ""
        try:
            detail = self.run()
        except NotApplicable as reason:
            status, detail = Status.NOT_APPLICABLE, str(reason)
        except AssertionError as failure:
            status, detail = Status.FAILED, str(failure)
        except Exception as problem:  # a plugin may raise anything; that is a result, too
            status, detail = Status.FAILED, f"{type(problem).__name__}: {problem} ({raised_at(problem)})"
        return CheckResult(check=self.check.name, subject=str(self.subject), status=status, detail=detail)


def cases(plugin: str, *, level: str = "fast", module: Any = None) -> Iterator[CheckCase]:
    """Every check with every subject of a plugin that it is meant for.

    Args:
        plugin: the name of an installed plugin, or of `module`; or a name that one plugin registers, for that alone.
        level: "full" adds checks that draw samples, and more examples.
        module: a module or object with hook implementations that is not installed.

    Raises:
        UnknownNameError: no plugin of this name is installed, and no plugin or more than one registers it.
    """
    if level not in LEVELS:
        raise UnknownNameError("level", "is not known", f"write {' or '.join(LEVELS)}", value=level)
    plugins = installed() if module is None else load_plugins(modules=[(plugin, module)])
    info = _named(plugins, plugin)
    built = _of_installed() if module is None else Subjects(registry=plugins.registry)
    subjects = attrs.evolve(built, level=level)  # it shares what was built already
    context = Context(
        registry=plugins.registry, level=level, placed=subjects.placed, values=subjects.values, members=subjects.members
    )
    for check in declared_checks():
        if check.level == "fast" or level == "full":
            for subject in _subjects(check.kind, info, module, subjects):
                yield CheckCase(check=check, subject=subject, context=context)


@cache
def _of_installed() -> Subjects:
    """The objects of the installed plugins, which are built once for all their checks."""
    return Subjects(registry=installed().registry)


def _named(plugins: Plugins, name: str) -> PluginInfo:
    """The plugin of a name; or, for a name that is registered, its plugin with what is registered under that name alone."""
    entries = tuple(e for e in plugins.registry if name in (e.name, e.qualified_name))
    owners = {e.provenance for e in entries}
    if len(owners) != 1 or any(info.provenance.plugin == name for info in plugins.infos):
        return _info(plugins, name)
    return attrs.evolve(_info(plugins, owners.pop().plugin), entries=entries)


def _info(plugins: Plugins, name: str) -> PluginInfo:
    for info in reversed(plugins.infos):
        if info.provenance.plugin == name:
            return info
    known = [info.provenance.plugin for info in plugins.infos]
    raise UnknownNameError("plugin", "is not installed", did_you_mean(name, known), value=name)


def _subjects(kind: str, info: PluginInfo, module: Any, built: Subjects) -> Iterator[Any]:
    if kind == "plugins":
        yield _plugin(info, module)
        return
    entries = [entry for entry in info.entries if entry.fault is None]  # the faults are on record with the plugin
    if kind == "classes":
        yield from (ClassSubject(entry=entry) for entry in entries)
    elif kind == "values":
        yield from (subject for entry in entries for subject in built.value_subjects(entry))
    elif kind in ("flavours", "attackers", "tolerances"):
        yield from (ClassSubject(entry=entry) for entry in entries if entry.kind == kind)
    else:
        make = _MADE.get(kind, Subjects.placed_subjects)
        yield from (subject for entry in entries if entry.kind == kind for subject in make(built, entry))


_MADE: dict[str, Callable[[Subjects, Entry], Iterator[Any]]] = {
    "output_divergences": Subjects.value_subjects,
    "budgets": Subjects.value_subjects,
    "routes": Subjects.value_subjects,
    "spaces": Subjects.space_subjects,
    **dict.fromkeys(("rules", "tables", "formats", "workers", "adapters", "generators"), Subjects.plain_subjects),
}
"""The constructors of the subjects of a kind, where they need no dataset space."""


def _plugin(info: PluginInfo, module: Any) -> PluginSubject:
    if module is not None:
        return PluginSubject(info=info, module=module, importable=getattr(getattr(module, "__spec__", None), "name", None))
    name = info.provenance.plugin
    paths = [point.module for point in entry_points(group=GROUP) if point.name == name]
    path = paths[0] if paths else CORE
    try:
        return PluginSubject(info=info, module=importlib.import_module(path), importable=path)
    except Exception:  # the fault is on record in the info, where check_plugin_loads finds it
        return PluginSubject(info=info, module=None, importable=None)


def run_checks(
    plugin: str, *, level: str = "fast", expected_failures: Mapping[str, str] | None = None, module: Any = None,
    progress: Progress | None = None,
) -> tuple[CheckResult, ...]:  # fmt: skip
    """Run every check on a plugin and collect what became of them.

    Args:
        plugin, level, module: as `cases`.
        expected_failures: names of checks that are known to fail, each with the reason. A check that then passes on every
            subject is an unexpected pass.
        progress: called with (checks done, checks in all).

    Raises:
        UnknownNameError: no such plugin, or an expected failure of a check that does not exist.
    """
    expected = dict(expected_failures or {})
    known = [check.name for check in declared_checks()]
    for name in expected:
        if name not in known:
            raise UnknownNameError("check", "does not exist", did_you_mean(name, known), value=name)
    pending = list(cases(plugin, level=level, module=module))
    results = []
    for done, case in enumerate(pending, start=1):
        result = case.result()
        if result.status is Status.FAILED and result.check in expected:
            detail = f"{expected[result.check]}: {result.detail}"
            result = attrs.evolve(result, status=Status.EXPECTED_FAILURE, detail=detail)
        results.append(result)
        if progress is not None:
            progress(done, len(pending))
    failed = {result.check for result in results if result.status is Status.EXPECTED_FAILURE}
    for name, reason in expected.items():
        if name not in failed:
            detail = f"no subject fails it any more; it was expected because {reason}"
            results.append(CheckResult(check=name, subject=plugin, status=Status.UNEXPECTED_PASS, detail=detail))
    return tuple(results)


def reasons(pairs: Iterable[str]) -> dict[str, str]:
    """Expected failures from texts CHECK=REASON.

    >>> reasons(["check_plugin_loads=needs a licence"])
    {'check_plugin_loads': 'needs a licence'}
    """
    found = {}
    for pair in pairs:
        name, _, reason = pair.partition("=")
        if not reason.strip():
            raise ParameterError("expect", "needs a reason", "write CHECK=REASON", value=pair)
        found[name.strip()] = reason.strip()
    return found


def check_plugin(plugin: str, **options: Any) -> tuple[CheckResult, ...]:
    """As `run_checks`, and raise when anything has to be fixed.

    Raises:
        PluginContractError: names every check that failed, with its subject.
    """
    results = run_checks(plugin, **options)
    faults = [result for result in results if result.status.is_fault]
    if faults:
        raise PluginContractError(f"plugin {plugin}", "does not conform", "\n".join(map(str, faults)))
    return results


def parametrize(plugin: str, *, level: str = "fast", module: Any = None) -> Any:
    """A pytest decorator: one test with the argument `case` for each check and subject; a test calls ``case.run()``.

    Cases that are excluded by what their class declares are left out.
    """
    import pytest

    chosen = [case for case in cases(plugin, level=level, module=module) if not case.check.excluded(case.subject)]
    return pytest.mark.parametrize("case", chosen, ids=[str(case) for case in chosen])


# --- results --------------------------------------------------------------------------------------


_MARKS = {
    Status.PASSED: ("passed", GOOD), Status.FAILED: ("FAILED", BAD), Status.EXPECTED_FAILURE: ("expected", OPEN),
    Status.UNEXPECTED_PASS: ("PASSED AFTER ALL", BAD), Status.NOT_APPLICABLE: ("not asked", FAINT),
}  # fmt: skip
SHOWN = 3
"""Failing subjects that are shown of each check; JSON has all of them."""


def data(plugin: str, results: Sequence[CheckResult]) -> dict[str, Any]:
    """Every result, for programs."""
    listed = [{"check": r.check, "subject": r.subject, "status": r.status.value, "detail": r.detail} for r in results]
    return {"plugin": plugin, "conforms": not any(r.status.is_fault for r in results), "results": listed}


def text(plugin: str, results: Sequence[CheckResult]) -> str:
    """One line for each check, and what was found where one fails."""
    rows = grid(indent=2)
    for name in dict.fromkeys(result.check for result in results):
        same = [result for result in results if result.check == name]
        worst = next(status for status in _WORST_FIRST if any(r.status is status for r in same))
        mark, style = _MARKS[worst]
        found = Counter(result.status for result in same)
        tally = ", ".join(f"{found[status]:,} {status.value}" for status in _WORST_FIRST if found[status])
        rows.add_row("", Text(mark, style), f"{name.removeprefix('check_').replace('_', ' ')}: {tally}")
        for result in [r for r in same if r.status is worst and worst not in (Status.PASSED, Status.NOT_APPLICABLE)][:SHOWN]:
            rows.add_row("", "", Text(f"{result.subject}: {result.detail}"))
    faults = sum(result.status.is_fault for result in results)
    verdict = Text(f"{count(faults, 'result')} to be fixed", BAD) if faults else Text("conforms", GOOD)
    return drawn(Text.assemble((plugin, "bold"), ": ", verdict), rows)


_WORST_FIRST = (Status.FAILED, Status.UNEXPECTED_PASS, Status.EXPECTED_FAILURE, Status.PASSED, Status.NOT_APPLICABLE)
