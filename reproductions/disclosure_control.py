"""What is true of disclosure control, as a page: ``python -m reproductions.disclosure_control > docs/disclosure-control.md``."""

from __future__ import annotations

import itertools
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import attrs
import click
from dpspec_census.disclosure.suppression import SUPPRESSED, CellSuppression
from dpspec_census.disclosure.tables import small_space

from dpspec.base.errors import count
from dpspec.blocks.parts import wording_of
from dpspec.blocks.space import DatasetSpace
from dpspec.extension import installed
from dpspec.specfile import SpecDocument, read, spec_files
from dpspec.verifier.exhaustive import verify
from dpspec.verifier.verdict import Verdict

THRESHOLDS = (2, 3)
MOST = 6
"""The suppressed tables that are compared are all of two regions and two ages with up to so many persons."""

INTRODUCTION = """# Statistical disclosure control: what each method guarantees

`python -m reproductions.disclosure_control > docs/disclosure-control.md` generates this page, and a test compares it with the
result.

Statistical agencies have protected tables and files for decades by methods that state no epsilon. These methods are
mechanisms nevertheless: each has a law P_x, so the five blocks apply to it. Each line of the table is a file of
`specs/disclosure`, verified by the exact engine on every pair of a small space. The claims filed as *refuted* are known to be
false, and the witness shows why. The output divergence is `mult` (pure differential privacy). The input divergence counts
replaced records of the unit.

* *What the mechanism can publish* defines universes: two datasets are in one universe if their laws have the same support.
  Inside a universe a finite law has a finite constant for every pair. Between two universes the divergence is infinite. For a
  mechanism without randomness the universes are the level sets of its output, and the constant is 0. Such a mechanism
  promises nothing about what it publishes, and everything about the rest (Bailie, Gong and Meng 2023, theorem on the
  universes of invariants).
* *One universe: the whole space* is the usual setting of differential privacy. None of these methods has a finite budget there.
* The refuted claims state epsilon = 1000 in place of any finite number. The constant found is infinity.
"""

READINGS = """
## Cell keys: drawn for each release, or kept

If its record keys are drawn for the release, the method is random (`cell-key`). Agencies draw the keys once and keep them
with the records, so that the same cell is always changed in the same way. Then anyone who holds the file holds the keys, and
the release is a function of the file (`kept-cell-key`). The guarantee of `cell-key` therefore protects only against those who
do not have the keys. In both cases an empty cell stays empty and a change is bounded, so the published number limits the true
one with certainty.

## Large tables

`conventional-rounding`, `random-rounding`, `cell-key` and `kept-cell-key` release tables of any number of cells, also of more
than memory holds ([scale](scale.md)). `controlled-rounding` and `cell-suppression` search through all cells together. They
accept tables whose attributes have at most 1,000,000 combinations. The law of any of these methods is listed for at most so
many. A claim about a larger table stays undecided.
"""


@attrs.frozen
class Known:
    """How much of what a rule suppresses is known after all, over all small tables.

    Args:
        threshold: of the rule.
        outputs: how many different published tables have a suppressed cell, and their total not.
        cells: how many suppressed cells these have.
        audited: of how many the published numbers leave a single value.
        pinned: of how many the published numbers, the rule and the program together do.
    """

    threshold: int
    outputs: int
    cells: int
    audited: int
    pinned: int


def known(threshold: int) -> Known:
    """What the auditor finds, beside what the level sets of the output say."""
    tables = (("region", "age"), ("region",), ("age",), ())
    mechanism, space = CellSuppression(tables=tables, threshold=threshold), small_space(most=MOST)
    layout = mechanism.layout(space)
    held: dict[Any, set[tuple[int, ...]]] = defaultdict(set)
    for x in space.datasets():
        held[tuple(itertools.chain.from_iterable(mechanism.output(x, space)))].add(
            layout.published(mechanism.base_counts(x, space))
        )
    shown = [output for output in held if SUPPRESSED in output and output[-1] != SUPPRESSED]
    places = [(output, place) for output in shown for place, number in enumerate(output) if number == SUPPRESSED]
    audited = sum(exposure.is_known for output in shown for exposure in mechanism.audited(output, space))
    pinned = sum(len({numbers[place] for numbers in held[output]}) == 1 for output, place in places)
    return Known(threshold, len(shown), len(places), audited, pinned)


def page(documents: Sequence[SpecDocument]) -> Iterator[str]:
    """The lines of the page."""
    yield INTRODUCTION
    yield "| mechanism | universe | unit | claimed | filed as | constant found | pairs compared | witness |"
    yield "|---|---|---|---|---|---|---|---|"
    with click.progressbar(documents, label="judging", file=sys.stderr) as judged:
        yield from (_row(document) for document in judged)
    yield READINGS
    yield from _suppression()


def _row(document: SpecDocument) -> str:
    spec = document.spec
    if document.mechanism is None or document.claim is None:
        raise ValueError(f"{document.id} has no mechanism or no claim")
    verdict = verify(document.mechanism, spec)
    if verdict.outcome.value != document.claim.verdict:
        raise ValueError(f"{document.id} is {verdict.outcome.value}, and filed as {document.claim.verdict}")
    pairs, compared = sum(result.pairs for result in verdict.universes), len(verdict.universes) - len(verdict.vacuous)
    cells = [
        f"[{document.mechanism.name}](../specs/disclosure/{document.id}.dpspec.toml)", str(spec.multiverse),
        str(spec.input_divergence.counted_unit()), str(spec.budget), document.claim.verdict, str(verdict.constant),
        f"{pairs:,} in {count(compared, 'universe')}", _witness(verdict, spec.space),
    ]  # fmt: skip
    return f"| {' | '.join(cells)} |"


def _witness(verdict: Verdict, space: DatasetSpace) -> str:
    found = verdict.witness
    if found is None or found.event is None:
        return ""
    left, right = wording_of(space).in_words(found.left, found.right)
    return f"{left} against {right}: {found.event.text} has probability {found.event.left} against {found.event.right}"


def _suppression() -> Iterator[str]:
    yield f"""## What suppression leaves open

The auditor of `cell-suppression` computes the least and the largest value of every suppressed cell from the published
numbers. Complementary suppression ensures that the two always differ. But an attacker may also know the rule: sensitive cells
are below the threshold, and a known program chose the other cells. Then the possible datasets are those with the same output.
The next table covers all tables of two regions by two ages with margins and up to {MOST} persons. It counts the published
tables that have a suppressed cell and show their total.

| threshold | published tables | suppressed cells | known to the auditor | known to an attacker with rule and program |
|---|---|---|---|---|"""
    for found in map(known, THRESHOLDS):
        yield f"| {found.threshold} | {found.outputs} | {found.cells} | {found.audited} | {found.pinned} |"
    yield """
The interval of an auditor describes one attacker without knowledge of the method. It is not a budget, and does not compose with a
second release."""


@click.command()
@click.option("--specs", type=click.Path(file_okay=False, path_type=Path), default=Path("specs/disclosure"), show_default=True,
              help="The directory of the specification files.")  # fmt: skip
def main(specs: Path) -> None:
    """Print what each method of disclosure control guarantees, as a Markdown page."""
    documents = [read(path, installed().registry) for path in spec_files(specs)]
    click.echo("\n".join(page(documents)))


if __name__ == "__main__":
    main()
