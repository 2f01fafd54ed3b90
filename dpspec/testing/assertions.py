"""Claims in ordinary tests: `assert_satisfies(mechanism, spec)`, and `assert_not_refuted(function, spec, loss=...)`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dpspec.base.errors import ParameterError
from dpspec.extension.loader import installed
from dpspec.grammar.functions import PlainFunction
from dpspec.grammar.mechanism import Mechanism
from dpspec.grammar.spec import PrivacySpec
from dpspec.report.text import verdict_lines
from dpspec.specfile.document import SpecDocument
from dpspec.specfile.reader import as_document
from dpspec.verifier.entry import verify_claim
from dpspec.verifier.functions import PowerError
from dpspec.verifier.verdict import Outcome, Verdict

UNDECIDED = "fail", "pass"
"""What becomes of a test whose claim could not be decided."""
_LABEL = 9


class ClaimNotHeld(AssertionError):
    """A mechanism does not satisfy a specification, or that could not be decided; carries the verdict."""

    def __init__(self, text: str, verdict: Verdict) -> None:
        super().__init__(text)
        self.verdict = verdict


def assert_satisfies(
    mechanism: Mechanism | PlainFunction,
    spec: PrivacySpec | SpecDocument | str | Path,
    *,
    undecided: str = "fail",
    **options: Any,
) -> Verdict:
    """Fail unless the mechanism satisfies the specification; the message has the bound and the smallest witness.

    Args:
        mechanism: the mechanism to verify, or a plain function (dataset, numpy Generator) -> output. A function that has
            too many paths to be enumerated is sampled; it can then be refuted, and is undecided otherwise.
        spec: the specification, a read file, or the path of one. Of a file with its own mechanism, only the blocks are used.
        undecided: "fail", or "pass" to accept a claim that was not refuted.
        options: further options of the engine (`seed`, `error`, `draws`, `seconds`).

    Raises:
        ClaimNotHeld: an AssertionError; `verdict` has everything that was found.
    """
    __tracebackhide__ = True
    if undecided not in UNDECIDED:
        raise ParameterError("undecided", f"must be {' or '.join(UNDECIDED)}", value=undecided)
    spec = as_document(spec, installed().registry, "specification").spec
    verdict = verify_claim(mechanism, spec, **options)
    if verdict.outcome is Outcome.REFUTED or (verdict.outcome is Outcome.UNDECIDED and undecided != "pass"):
        name = getattr(mechanism, "name", None) or getattr(mechanism, "__name__", "the mechanism")
        head = f"{name} does not satisfy the specification" if verdict.outcome is Outcome.REFUTED else "undecided"
        raise ClaimNotHeld(verdict_text(verdict, spec, note=head), verdict)
    return verdict


def assert_not_refuted(
    function: PlainFunction,
    spec: PrivacySpec | SpecDocument | str | Path,
    *,
    loss: Any,
    mass: Any = "0.05",
    power: Any = "0.99",
    **options: Any,
) -> Verdict:
    """Fail unless the function passes a search that would have found a fault of a stated size.

    The guarantee of the search: for each pair and event that was tested, a loss per unit distance of at least `loss`,
    with the event of probability at least `mass` on one dataset and its complement on the other, is refuted with probability
    `power`. The verdict states the number of pairs and events; from draws alone it stays undecided. (Where the law can be
    derived from the code, the verdict is the one of that law.)

    Args:
        function: a plain function (dataset, numpy Generator) -> output.
        spec: the specification, a read file, or the path of one.
        loss: in the units of the budget, above it.
        mass, power: see above.
        options: further options of the engine (`seed`, `error`, `draws`, `seconds`, `datasets`).

    Raises:
        ClaimNotHeld: it is refuted, or the search was not close enough; `verdict` has the complete result.
    """
    __tracebackhide__ = True
    spec = as_document(spec, installed().registry, "specification").spec
    name = getattr(function, "__name__", "the function")
    try:
        verdict = verify_claim(function, spec, loss=loss, mass=mass, power=power, **options)
    except PowerError as missing:
        open_ = Verdict(outcome=Outcome.UNDECIDED, method="sampled", scope="too few draws", reason=str(missing))
        raise ClaimNotHeld(verdict_text(open_, spec, note=f"{name} was not checked closely enough"), open_) from None
    if verdict.outcome is Outcome.REFUTED:
        raise ClaimNotHeld(verdict_text(verdict, spec, note=f"{name} does not satisfy the specification"), verdict)
    if verdict.outcome is Outcome.UNDECIDED and not verdict.reason.startswith("not refuted: a loss"):
        raise ClaimNotHeld(verdict_text(verdict, spec, note="undecided"), verdict)
    return verdict


def verdict_text(verdict: Verdict, spec: PrivacySpec, *, note: str = "") -> str:
    """A verdict in a few lines: how it was reached, the constant against the bound, the witness."""
    lines = [note or verdict.outcome.value]
    lines += [f"  {label:{_LABEL}}{text}" for label, text in verdict_lines(verdict, spec)]
    return "\n".join(lines)


def verdict_properties(verdict: Verdict) -> Iterator[tuple[str, str]]:
    """The properties of a verdict in a machine-readable report: pairs (name, text)."""
    yield "outcome", verdict.outcome.value
    yield "method", verdict.method
    yield "scope", verdict.scope
    if verdict.reason:
        yield "reason", verdict.reason
    if verdict.universes:
        yield "constant", verdict.constant_in_words.removeprefix("constant ")
        yield "bound", ", ".join(dict.fromkeys(str(result.bound) for result in verdict.universes))
    if verdict.witness is not None:
        yield "witness", str(verdict.witness)
    for finding in verdict.findings:
        yield "finding", f"{finding.code}: {finding.text}"
    for assumption in verdict.assumptions:
        yield "assumes", assumption
    yield "plugins", ", ".join(sorted({str(origin) for _, _, origin in verdict.provenance}))
