"""`dpspec hunt`: the functions of a repository or package that draw noise, each with what it claims and a verdict.

find     modules, draws      by static analysis; nothing is imported
plan     claims, shapes      the claim, the datasets, the neighbours; the user is asked for missing parts
check    jail, checks        `dpspec verify --function`, in a jail
write    a folder            report, answers, and for each function a specification and a test
"""

from __future__ import annotations

import os
import tomllib
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from dpspec import CommandAnswer
from dpspec.plugin import ParameterError
from dpspec.plugin.applications import Progress, ReleaseError, read_bytes, write_folder
from dpspec_hunt import jail
from dpspec_hunt.checks import check, facts_in_words, slug, specification, wrapper
from dpspec_hunt.draws import Drawing, drawings
from dpspec_hunt.modules import modules_of
from dpspec_hunt.page import answers_text, data_of, report, text_of
from dpspec_hunt.plans import Plan, plan
from dpspec_hunt.results import Checked, Hunt, Outcome

AnyPath: TypeAlias = str | Path
Asker: TypeAlias = Callable[[Plan], Mapping[str, Any] | None]
SECONDS = 10.0
MOST_SECONDS = 3600.0


def hunt(
    target: AnyPath,
    *,
    out: AnyPath | None = None,
    answers: AnyPath | Mapping[str, Any] | None = None,
    yes: bool = False,
    seconds: float = SECONDS,
    trusted: bool = False,
    ask: Asker | None = None,
    progress: Progress | None = None,
) -> CommandAnswer:
    """Find functions that draw noise, infer what they claim, and check each: ``dpspec hunt``. `value` is a `Hunt`.

    A function is held against the blocks that its text, its parameters and its use of the dataset suggest. A verdict says no more
    than that: it is about this space, these neighbours and these numbers, and the guesses among them are listed with it.

    Args:
        target: a file, a folder, or the name of an installed package.
        out: a new folder for the report, the answers, and for each function a specification and a test.
        answers: what the functions claim, as a TOML file or a mapping: a table for each `module:name`.
        yes: accept guesses; they are marked.
        seconds: processor time for each function.
        trusted: where there is no jail, run the code with the rights of this process.
        ask: called with a plan whose guesses are to be accepted; returns further answers, or None to leave the function out.
        progress: called with (functions done, functions in all).

    Returns:
        the functions with their verdicts.

    Raises:
        ParameterError: there is no such target, or an answer makes no sense.
        ReleaseError: the folder exists, or cannot be written.

    >>> import tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> source = "def total(count, epsilon, rng):\\n    return count + rng.laplace(0, 1 / epsilon)\\n"
    >>> _ = (folder / "survey.py").write_text(source)
    >>> found = hunt(folder).value
    >>> [(one.plan.drawing.place, str(one.outcome)) for one in found.functions]
    [('survey:total', 'asked')]
    """
    if not 0 < seconds <= MOST_SECONDS:
        raise ParameterError("seconds", f"is not above 0 and at most {MOST_SECONDS:g}", "write --seconds 10", value=str(seconds))
    if out is not None and (Path(out).exists() or Path(out).is_symlink()):
        raise ReleaseError("folder", "exists already", "choose another name or place", value=str(out))
    said = _answers(answers)
    source = modules_of(str(target))
    found = drawings(source.modules)
    if unknown := [place for place in said if place not in {one.place for one in found}]:
        raise ParameterError(
            "answers", "names no function that draws", 'write ["module:name"] as the report has it', value=unknown[0]
        )
    no_jail = jail.reason_for_none()
    check_one = partial(_checked, yes=yes, ask=ask, seconds=seconds, jailed=not no_jail, runs=trusted or not no_jail)
    checked = []
    for done, drawing in enumerate(found):
        if progress is not None:
            progress(done, len(found))
        checked.append(check_one(drawing, said.get(drawing.place, {})))
    if progress is not None:
        progress(len(found), len(found))
    result = Hunt(
        target=str(target), files=len(source.modules), unread=source.unread, functions=tuple(checked), accepted=yes,
        no_jail="" if trusted else no_jail,
    )  # fmt: skip
    if out is not None:
        write_folder(Path(out), _files(result, Path(out)))
    return CommandAnswer("hunt", result.exit_code, data_of(result), partial(text_of, result), value=result)


def _checked(
    drawing: Drawing, said: Mapping[str, Any], *, yes: bool, ask: Asker | None, seconds: float, jailed: bool, runs: bool
) -> Checked:  # fmt: skip
    """Plan a function, ask where guesses are not accepted, and check it where code may be run."""
    made = plan(drawing, said)
    if made.spec is not None and made.guesses and not yes:
        more = None if ask is None else ask(made)
        if more is None:
            missing = ", ".join(dict.fromkeys(guess.subject for guess in made.guesses))
            return Checked(plan=made, outcome=Outcome.ASKED, reason=f"to confirm: {missing}")
        made = plan(drawing, {**said, **more, "arguments": {**said.get("arguments", {}), **more.get("arguments", {})}})
    if made.spec is None:
        asks = made.is_mechanism and not said.get("skip")
        return Checked(plan=made, outcome=Outcome.ASKED if asks else Outcome.UNCHECKED, reason=made.reason)
    if not runs:
        return Checked(plan=made, outcome=Outcome.ASKED, reason="was not run, as there is no jail")
    return check(made, seconds, jailed=jailed)


def _answers(given: AnyPath | Mapping[str, Any] | None) -> dict[str, Mapping[str, Any]]:
    """Answers by function."""
    if given is None:
        return {}
    if isinstance(given, Mapping):
        data = dict(given)
    else:
        try:
            data = tomllib.loads(read_bytes(Path(given)).decode())
        except ValueError as problem:  # no TOML, or not in UTF-8
            why = f"is no TOML: {problem}"
            raise ParameterError("answers", why, "write a table for each function", value=str(given)) from None
    for place, answer in data.items():
        if not isinstance(answer, Mapping):
            raise ParameterError("answers", "is no table", 'write ["module:name"] and the answers below it', value=str(place))
    return data


def _files(found: Hunt, out: Path) -> dict[str, str]:
    """What is written: path inside the folder to text."""
    texts = {"report.md": report(found), "answers.toml": answers_text(found)}
    roots: set[Path] = set()
    taken: set[str] = set()
    modules = {one.plan.drawing.module.path: one.plan.drawing.module.name for one in found.functions}
    seen = Counter(modules.values())
    for one in found.functions:
        if one.plan.spec is None:
            continue
        stem, number = slug(one.plan), 2
        name = stem
        while name.lower() in taken:
            name, number = f"{stem}_{number}", number + 1
        taken.add(name.lower())
        texts[f"specifications/{name}.dpspec.toml"] = specification(one.plan)
        module = one.plan.drawing.module
        if seen[module.name] == 1:  # of two modules with one name Python imports the same
            texts[f"tests/called_{name}.py"] = wrapper(one.plan)
            texts[f"tests/test_{name}.py"] = _test(one, name)
            roots.add(module.root)
    if roots:
        tests = out.absolute() / "tests"
        places = sorted(Path(os.path.relpath(root, tests)).as_posix() for root in roots)
        lines = ['"""Where the functions are imported from."""', "", "import sys", "from pathlib import Path", ""]
        lines += [f"sys.path.insert(0, str((Path(__file__).parent / {place!r}).resolve()))" for place in places]
        texts["tests/conftest.py"] = "\n".join([*lines, "sys.path.insert(0, str(Path(__file__).parent))", ""])
    return texts


def _test(one: Checked, name: str) -> str:
    facts = [f"# {line}" for line in facts_in_words(one.plan)]
    found = f"# found by dpspec hunt: {one.outcome}" + ("" if one.outcome is Outcome.VERIFIED else f": {one.reason}"[:160])
    return "\n".join([
        '"""The function keeps what it is taken to claim."""', "", "from pathlib import Path", "",
        f"from called_{name} import judged", "", "from dpspec.testing import assert_satisfies", "",
        f'SPECIFICATION = Path(__file__).parents[1] / "specifications" / "{name}.dpspec.toml"', "", *facts, found, "", "",
        "def test_it_keeps_its_claim():", "    assert_satisfies(judged, SPECIFICATION)", "",
    ])  # fmt: skip
