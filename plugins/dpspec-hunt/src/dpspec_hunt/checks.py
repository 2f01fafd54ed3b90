"""The check of a plan: `dpspec verify --function` in a jail, with what it printed as a result."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

import dpspec as dp
from dpspec.plugin.applications import to_toml
from dpspec_hunt.modules import Module
from dpspec_hunt.plans import Plan

PATIENCE, RESERVE = 20, 120
"""A check bounds its own processor time; it is ended after this many times its seconds and so many more, however it waited."""
MOST_OUTPUT = 32 << 20
ANNOTATIONS = {
    "numpy": "np.ndarray",
    "pandas-series": "pd.Series",
    "random": "random.Random",
    "random-state": "np.random.RandomState",
    "torch": "torch.Generator",
}
"""Adapter to the annotation by which a function asks for it."""
IMPORTS = {"np": "import numpy as np", "pd": "import pandas as pd", "random": "import random", "torch": "import torch"}


@attrs.frozen(kw_only=True)
class Checked:
    """What came of a check.

    Args:
        plan: what was checked.
        outcome: verified, refuted, undecided, broken (it cannot be run), asked (a guess was not accepted) or unchecked.
        reason: why, in one line; for a verdict what the engine said.
        verdict: the verdict of the engine as data; None without one.
    """

    plan: Plan
    outcome: str
    reason: str = ""
    verdict: Mapping[str, Any] | None = None


def slug(plan: Plan) -> str:
    """A name for the files of a plan, which is a name in Python."""
    return re.sub(r"\W+", "_", plan.drawing.place)


def wrapper(plan: Plan) -> str:
    """The source of a function of a dataset and a generator that calls the function of a plan."""
    data, chances = ANNOTATIONS.get(plan.dataset, ""), ANNOTATIONS.get(plan.generator, "")
    imports = [IMPORTS[kind.partition(".")[0]] for kind in dict.fromkeys((data, chances)) if kind]
    parameters = ["x" + (f": {data}" if data else "")]
    if plan.uses_generator:
        parameters.append("rng" + (f": {chances}" if chances else ""))
    drawing = plan.drawing
    name = drawing.node.name if drawing.owner is None else drawing.owner.name
    lines = [
        f'"""{drawing.place}, as a function of a dataset{" and a generator" if plan.uses_generator else ""}."""', "",
        *dict.fromkeys(imports), *([""] if imports else []), f"from {drawing.module.name} import {name}", "", "",
        f"def judged({', '.join(parameters)}):", f"    return {plan.call}", "",
    ]  # fmt: skip
    return "\n".join(lines)


def specification(plan: Plan) -> str:
    """The specification of a plan, as a file."""
    assert plan.spec is not None
    lines = [f"# {line}" for line in facts_in_words(plan)]
    name = slug(plan).replace("_", "-").strip("-").lower()
    return "\n".join([*lines, to_toml(plan.spec, dp.installed().registry, id=name, title=f"What {plan.drawing.place} claims")])


def facts_in_words(plan: Plan) -> list[str]:
    """A line for each fact."""
    return [f"{fact.about} = {fact.value} ({'a guess: ' if fact.is_guess else ''}{fact.why})" for fact in plan.facts]


def check(plan: Plan, seconds: float, *, jailed: bool = True) -> Checked:
    """Check a plan.

    Args:
        plan: with a specification.
        seconds: of processor time.
        jailed: whether nothing of the code can change a file, open a socket or be seen outside. Without, it has the rights of this process.
    """
    with tempfile.TemporaryDirectory(prefix="dpspec-hunt-") as folder:
        scratch = Path(folder)
        (scratch / f"{slug(plan)}.py").write_text(wrapper(plan), encoding="utf-8")
        (scratch / "claim.dpspec.toml").write_text(specification(plan), encoding="utf-8")
        command = [
            "verify",
            "claim.dpspec.toml",
            "--function",
            f"{slug(plan)}:judged",
            "--seconds",
            f"{seconds:g}",
            "--format",
            "json",
        ]
        code, printed = _run(command, scratch, plan.drawing.module, seconds, jailed=jailed)
    return _read(plan, code, printed)


def _run(command: Sequence[str], scratch: Path, module: Module, seconds: float, *, jailed: bool) -> tuple[int, bytes]:
    """The exit code and the output of a command; what it started is gone afterwards."""
    words = [
        sys.executable,
        "-I",
        "-m",
        "dpspec_hunt.jail",
        "locked" if jailed else "open",
        str(scratch),
        str(module.root),
        module.name,
        *command,
    ]
    environment = {
        "PATH": os.defpath,
        "HOME": str(scratch),
        "TMPDIR": str(scratch),
        "LANG": "C.UTF-8",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            words,
            cwd=scratch,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            code = process.wait(timeout=PATIENCE * seconds + RESERVE)
        except subprocess.TimeoutExpired:
            code = -signal.SIGKILL
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                pass
            process.wait()
        output.seek(0)
        return code, output.read(MOST_OUTPUT)


def _read(plan: Plan, code: int, printed: bytes) -> Checked:
    """What a command printed, as a result; it may have been written by the code that was judged, and is not believed to be well formed."""
    try:
        data = json.loads(printed)
        if data["command"] == "error":
            return Checked(plan=plan, outcome="broken", reason=_one_line(data["errors"][0]["message"]))
        obligation = data["files"][0]["obligations"][0]
        verdict = obligation["verdict"]
        outcome = verdict["outcome"]
    except (ValueError, LookupError, TypeError):
        said = _one_line(printed[:200].decode("utf-8", "replace"))
        return Checked(
            plan=plan,
            outcome="broken",
            reason=f"its check ended with exit code {code} and no result" + (f": {said}" if said else ""),
        )
    if outcome not in {"verified", "refuted", "undecided"}:
        return Checked(plan=plan, outcome="broken", reason=_one_line(str(outcome)))
    return Checked(plan=plan, outcome=outcome, reason=_one_line(verdict["reason"] or obligation["detail"]), verdict=verdict)


def _one_line(text: object) -> str:
    return " ".join(str(text).split())
