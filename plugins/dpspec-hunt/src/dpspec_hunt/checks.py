"""The check of a plan: `dpspec verify --function` in a jail, with what it printed as a result."""

from __future__ import annotations

import contextlib
import json
import keyword
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import dpspec as dp
from dpspec.plugin.applications import to_toml
from dpspec_hunt.plans import Plan
from dpspec_hunt.results import Checked, Outcome

PATIENCE, RESERVE = 20, 120
"""A check bounds its own processor time; it is ended after this many times its seconds and so many more, however it waited."""
MOST_OUTPUT = 32 << 20
VERDICTS = {str(outcome): outcome for outcome in (Outcome.VERIFIED, Outcome.REFUTED, Outcome.UNDECIDED)}
"""What `dpspec verify` may say."""
CHECKED = "dpspec_hunt_checked"
"""The module of a check, which no folder has."""
ANNOTATIONS = {
    "numpy": "np.ndarray",
    "pandas-series": "pd.Series",
    "random": "random.Random",
    "random-state": "np.random.RandomState",
    "torch": "torch.Generator",
}
"""Adapter to the annotation by which a function requests it."""
IMPORTS = {"np": "import numpy as np", "pd": "import pandas as pd", "random": "import random", "torch": "import torch"}


def slug(plan: Plan) -> str:
    """A name for the files of a plan, in letters of ASCII, digits and underscores; two plans may have the same."""
    return re.sub(r"[^A-Za-z0-9]+", "_", plan.drawing.place).strip("_") or "function"


def wrapper(plan: Plan, *, guarded: bool = False) -> str:
    """The source of a function of a dataset and a generator that calls the function of a plan.

    Args:
        plan: of which function.
        guarded: whether it checks that what is imported is the file that was read.
    """
    data, randomness = ANNOTATIONS.get(plan.dataset, ""), ANNOTATIONS.get(plan.generator, "")
    imports = [IMPORTS[kind.partition(".")[0]] for kind in dict.fromkeys((data, randomness)) if kind]
    parameters = ["x" + (f": {data}" if data else "")]
    if plan.uses_generator:
        parameters.append("rng" + (f": {randomness}" if randomness else ""))
    drawing = plan.drawing
    module, top = drawing.module.name, drawing.name.partition(".")[0]
    if all(part.isidentifier() and not keyword.iskeyword(part) for part in module.split(".")):
        target = [f"from {module} import {top} as target"]
    else:
        imports.append("from importlib import import_module")
        target = ["", f"target = import_module({module!r}).{top}"]
    before, after = _guard(plan) if guarded else ([], [])
    about = " ".join(re.findall(r"[\w.:]+", drawing.place))
    lines = [
        f'"""{about}, as a function of a dataset{" and a generator" if plan.uses_generator else ""}."""', "",
        *before, *dict.fromkeys(imports), *([""] if imports else []), *target, *after, "", "",
        f"def judged({', '.join(parameters)}):", f"    return target{plan.call.removeprefix(top)}", "",
    ]  # fmt: skip
    return "\n".join(lines)


def _guard(plan: Plan) -> tuple[list[str], list[str]]:
    """Lines before and after the import of a function that let no other be imported in its place."""
    module, node = plan.drawing.module, plan.drawing.node
    first, last = (node.lineno, node.end_lineno or node.lineno) if not node.decorator_list else (0, 0)
    said = f"{module.name!r}, {str(module.path)!r}, {plan.drawing.name!r}, {first}, {last}"
    return (
        ["from dpspec_hunt.loading import confirm, enter", "", f"enter({str(module.root)!r}, {module.name!r})"],
        ["", f"confirm({said})"],
    )


def specification(plan: Plan) -> str:
    """The specification of a plan, as a file."""
    assert plan.spec is not None  # noqa: S101 - only such plans are checked
    lines = [f"# {line}" for line in facts_in_words(plan)]
    name = slug(plan).replace("_", "-").lower()
    title = f"What {_one_line(plan.drawing.place)} claims"
    return "\n".join([*lines, to_toml(plan.spec, dp.installed().registry, id=name, title=title)])


def facts_in_words(plan: Plan) -> list[str]:
    """A line for each fact."""
    return [_one_line(f"{fact.subject} = {fact.value} ({'a guess: ' if fact.is_guess else ''}{fact.why})") for fact in plan.facts]


def check(plan: Plan, seconds: float, *, jailed: bool = True) -> Checked:
    """Check a plan.

    Args:
        plan: with a specification.
        seconds: of processor time.
        jailed: whether nothing of the code can change a file, open a socket or be seen outside. Without, it has the rights of
            this process.
    """
    with tempfile.TemporaryDirectory(prefix="dpspec-hunt-") as folder:
        scratch = Path(folder)
        (scratch / f"{CHECKED}.py").write_text(wrapper(plan, guarded=True), encoding="utf-8")
        (scratch / "claim.dpspec.toml").write_text(specification(plan), encoding="utf-8")
        function = f"{CHECKED}:judged"
        command = ["verify", "claim.dpspec.toml", "--function", function, "--seconds", f"{seconds:g}", "--format", "json"]
        code, printed = _run(command, scratch, seconds, jailed=jailed)
    return _read(plan, code, printed)


def _run(command: Sequence[str], scratch: Path, seconds: float, *, jailed: bool) -> tuple[int, bytes]:
    """The exit code and the output of a command; what it started is gone afterwards."""
    words = [sys.executable, "-I", "-m", "dpspec_hunt.jail", "locked" if jailed else "open", str(scratch), *command]
    environment = {
        "PATH": os.defpath,
        "HOME": str(scratch),
        "TMPDIR": str(scratch),
        "LANG": "C.UTF-8",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(  # noqa: S603 - this interpreter, with arguments that are no code
            words, cwd=scratch, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.DEVNULL,
            start_new_session=True,
        )  # fmt: skip
        try:
            code = process.wait(timeout=PATIENCE * seconds + RESERVE)
        except subprocess.TimeoutExpired:
            code = -int(signal.SIGTERM)
        finally:
            _end(process)
        output.seek(0)
        return code, output.read(MOST_OUTPUT)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process and its group: in a jail nothing leaves it."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _read(plan: Plan, code: int, printed: bytes) -> Checked:
    """What a command printed, as a result."""
    try:
        data = json.loads(printed)
        if data["command"] == "error":
            return Checked(plan=plan, outcome=Outcome.BROKEN, reason=_one_line(data["errors"][0]["message"]))
        file = data["files"][0]
        if "errors" in file:
            return Checked(plan=plan, outcome=Outcome.BROKEN, reason=_one_line(file["errors"][0]["message"]))
        obligation = file["obligations"][0]
        verdict = obligation["verdict"]
        word = str(verdict["outcome"])
        reason = _one_line(verdict["reason"] or obligation["detail"])
    except (ValueError, LookupError, TypeError):
        said = _one_line(printed[:200].decode("utf-8", "replace"))
        reason = f"its check ended with exit code {code} and no result" + (f": {said}" if said else "")
        return Checked(plan=plan, outcome=Outcome.BROKEN, reason=reason)
    outcome = VERDICTS.get(word)
    if outcome is None:
        return Checked(plan=plan, outcome=Outcome.BROKEN, reason=_one_line(word))
    if outcome is Outcome.VERIFIED and _says_nothing(verdict):
        return Checked(plan=plan, outcome=Outcome.ASKED, reason=SAYS_NOTHING)
    return Checked(plan=plan, outcome=outcome, reason=reason, verdict=verdict)


SAYS_NOTHING = "its output does not depend on the data of this space, so that nothing was checked: say values that matter"


def _says_nothing(verdict: Mapping[str, Any]) -> bool:
    """Whether a function was proved to be constant on the whole space."""
    return (verdict.get("constant") or {}).get("upper") == "0"


def _one_line(text: object) -> str:
    return " ".join(str(text).split())
