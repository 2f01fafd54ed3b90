"""The result of both commands: the verdict of the checker on a file, as data, as text, and as an exit code."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import attrs

from dpspec_checker import cell_bounds
from dpspec_checker.check import Checked, check_file
from dpspec_checker.proofs import UNPROVED, RecheckedProof, check_proofs

NARROWEST, WIDEST, PIPED = 40, 120, 100
"""Columns of the text: the range on a terminal, and the width elsewhere; the same as those of dpspec."""
MOST_BELIEVED = 20
"""So many lines of what is believed are shown; the data has all."""

_GOOD, _BAD, _OPEN, _FAINT, _BOLD = "32", "1;31", "33", "2", "1"
_STYLES = {"accepted": _GOOD, "trusted": _OPEN, "unchecked": _OPEN, "rejected": _BAD}


@attrs.frozen(kw_only=True)
class CheckerAnswer:
    """The answer of a command.

    Args:
        command: its name.
        exit_code: 0 where everything was accepted, 5 where everything that could be checked was, else 1.
        content: the answer as data: texts, numbers, lists and tables.
        words: makes the text.
        value: the verdicts as objects.
    """

    command: str
    exit_code: int
    content: dict[str, Any]
    words: Callable[[], str]
    value: Any

    def __str__(self) -> str:
        return self.words()


def check_derivation(path: str | Path, trust: Iterable[str] = ()) -> CheckerAnswer:
    """Check a derivation file step by step.

    Args:
        path: what ``dpspec compare A B --derivation FILE`` wrote.
        trust: rules whose steps are accepted although the checker does not know them.

    Raises:
        CheckerError: the file is not a derivation that can be read.
    """
    found = check_file(path, tuple(trust))
    steps = [{"rule": step.rule, "status": step.status, "reason": step.reason} for step in found.steps]
    return CheckerAnswer(
        command="check-derivation",
        exit_code=0 if found.accepted else 1,
        content={"path": str(path), "accepted": found.accepted, "steps": steps},
        words=lambda: _derivation_text(str(path), found),
        value=found,
    )


def check_proof(path: str | Path) -> CheckerAnswer:
    """Check the proofs of verdicts step by step, and what the verdicts state.

    Args:
        path: what ``dpspec verify --format json`` wrote.

    Raises:
        CheckerError: the file is not such an output, or holds no proof.
    """
    found = check_proofs(path)
    accepted = all(proof.accepted for proof in found)
    proofs = [
        {
            "name": proof.name, "accepted": proof.accepted,
            "steps": [{"step": step.rule, "status": step.status, "reason": step.reason} for step in proof.steps],
            "believed": list(proof.believed),
        }
        for proof in found
    ]  # fmt: skip
    return CheckerAnswer(
        command="check-proof",
        exit_code=1 if not accepted else 5 if _without_proof(found) else 0,
        content={"path": str(path), "accepted": accepted, "proofs": proofs},
        words=lambda: _proofs_text(str(path), found),
        value=found,
    )


def check_bounds(path: str | Path) -> CheckerAnswer:
    """Check the certificate of an audit of published tables: every range of a cell, without the solver that found it.

    Args:
        path: what ``dpspec rules audit --certificate FILE`` wrote.

    Raises:
        CheckerError: the file is not a certificate that can be read.
    """
    found = cell_bounds.check_file(path)
    accepted = all(claim.accepted for claim in found)
    claims = [{"cell": claim.label, "accepted": claim.accepted, "reason": claim.reason} for claim in found]
    return CheckerAnswer(
        command="check-bounds",
        exit_code=0 if accepted else 1,
        content={"path": str(path), "accepted": accepted, "claims": claims},
        words=lambda: _bounds_text(str(path), found),
        value=found,
    )


# --- text -----------------------------------------------------------------------------------------


def printable(text: str) -> str:
    r"""The text with every character that a terminal would obey, or that hides others, written as an escape.

    >>> printable("a\x1b]0;b\u202ec")
    'a\\x1b]0;b\\u202ec'
    """
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else one.encode("unicode_escape", "surrogatepass").decode("ascii") for one in text)


def _derivation_text(path: str, found: Checked) -> str:
    word, style = ("accepted", _GOOD) if found.accepted else ("not accepted", _BAD)
    head = f"{_styled(printable(path) + ': ', _BOLD)}{_styled(word, style)}, {_count(len(found.steps), 'step')}"
    rows = [
        ((f"  {place}", ""), (step.status, _STYLES[step.status]), (step.rule, _FAINT), (step.reason, ""))
        for place, step in enumerate(found.steps, start=1)
    ]
    return "\n".join([head, *_aligned(rows)])


def _bounds_text(path: str, found: Sequence[cell_bounds.CheckedClaim]) -> str:
    """How many claims follow, and those that do not."""
    wrong = [claim for claim in found if not claim.accepted]
    word, style = ("not accepted", _BAD) if wrong else ("accepted", _GOOD)
    good = len(found) - len(wrong)
    head = f"{_styled(printable(path) + ': ', _BOLD)}{_styled(word, style)}, {good} of {_count(len(found), 'claim')} recomputed"
    rows = [(("  rejected", _BAD), (printable(claim.label), _FAINT), (claim.reason, "")) for claim in wrong]
    return "\n".join([head, *_aligned(rows), "assumed: the statements are what the tables publish"])


def _proofs_text(path: str, found: Sequence[RecheckedProof]) -> str:
    """All steps of a single proof; of several only those that were not rechecked."""
    lines = []
    for proof in found:
        word, style = ("rechecked", _GOOD) if proof.accepted else ("not rechecked as a whole", _BAD)
        shown = [step for step in proof.steps if len(found) == 1 or step.status != "rechecked"]
        lines.append(f"{_styled(printable(proof.name), _BOLD)}: {_styled(word, style)}")
        lines += _aligned([((f"  {step.status}", ""), (step.rule, _FAINT), (step.reason, "")) for step in shown])
    good = sum(proof.accepted for proof in found)
    others = len(_without_proof(found))
    unchecked = f"; {_count(others, 'file')} without a proof, not checked" if others else ""
    lines.append(f"{printable(path)}: {good} of {_count(len(found), 'proof')} rechecked{unchecked}")
    return "\n".join([*lines, *_believed_lines(found)])


def _without_proof(found: Sequence[RecheckedProof]) -> list[str]:
    """The lines that name the files of which nothing was checked; each proof of an output has them."""
    return [line for line in found[0].believed if line.startswith(UNPROVED)]


def _believed_lines(found: Sequence[RecheckedProof]) -> Iterator[str]:
    """What is believed: line by line for one proof, by kind for several."""
    if len(found) == 1:
        every = [f"  {printable(line)}" for line in found[0].believed]
    else:
        kinds = Counter(kind for proof in found for kind in dict.fromkeys(line.partition(":")[0] for line in proof.believed))
        every = [f"  {printable(kind)} ({_count(times, 'proof')})" for kind, times in kinds.items() if kind != UNPROVED]
        every += [f"  {printable(line)}" for line in _without_proof(found)]
    yield "Believed, not checked:"
    yield from every[:MOST_BELIEVED]
    if len(every) > MOST_BELIEVED:
        yield f"  and {len(every) - MOST_BELIEVED} more lines: --format json"


def _aligned(rows: Sequence[Sequence[tuple[str, str]]]) -> Iterator[str]:
    """Rows of (text, style) in columns separated by two blanks; the last column is wrapped under itself."""
    safe = [[(printable(text), style) for text, style in row] for row in rows]
    widths = [max(len(text) for text, _ in column) for column in zip(*(row[:-1] for row in safe), strict=True)]
    start = sum(width + 2 for width in widths)
    for *cells, (reason, _) in safe:
        sized = zip(cells, widths, strict=True)
        padded = (_styled(text, style) + " " * (width - len(text) + 2) for (text, style), width in sized)
        lines = textwrap.wrap(reason, max(_width() - start, NARROWEST // 2), break_on_hyphens=False) or [""]
        yield ("".join(padded) + lines[0]).rstrip()
        yield from (" " * start + line for line in lines[1:])


def _width() -> int:
    if not _on_terminal() and "COLUMNS" not in os.environ:
        return PIPED
    return max(NARROWEST, min(WIDEST, shutil.get_terminal_size().columns))


def _styled(text: str, style: str) -> str:
    return f"\x1b[{style}m{text}\x1b[0m" if style and _on_terminal() and not os.environ.get("NO_COLOR") else text


def _on_terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()


def _count(amount: int, noun: str) -> str:
    return f"{amount:,} {noun if amount == 1 else noun + 's'}"
