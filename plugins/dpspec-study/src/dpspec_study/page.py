"""The report of a study as a page: the recommendation first, then what it rests on, then the commands."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dpspec_disclosure.design_risk import WORST
from dpspec_disclosure.tradeoff import figure
from dpspec_disclosure.utility import METRICS

from dpspec.plugin.applications import Bullets, CaptionedFigure, Grid, Heading, Mood, Page, Piece, Sentence, count
from dpspec_study.recommendation import HEADS, error_text, risk_text, rows

if TYPE_CHECKING:
    from dpspec_study.result import Study

CONFIDENTIAL = "Confidential: computed from the table, covered by no guarantee, and not for publication."


def report(found: Study) -> Page:
    """The page of a study."""
    title = f"Designs for the table {' x '.join(found.question.columns)}"
    return Page(title=title, pieces=tuple(_pieces(found)), foot=CONFIDENTIAL)


def _pieces(found: Study) -> Iterator[Piece]:
    """The recommendation, what it rests on, and what it does not show."""
    for place, line in enumerate(found.recommendation):  # five sentences, the first words of each set off
        mark, _, words = line.partition(": ")
        mood: Mood = "" if place else "open" if found.best is None else "good"
        yield Sentence(words=words, mark=f"{mark}:", mood=mood)
    name, records = found.table
    yield Sentence(words=f"{CONFIDENTIAL} The table {name} has {count(records, 'record')}.", mark="Note", mood="open")

    yield Heading(words="The designs", anchor="designs")
    named = METRICS[found.question.metric]
    yield Sentence(
        words=f"Error: {named}, expected over the randomness of the release, of {count(found.cells, 'cell')}. Risk: the power of "
        "the best test, in the worst case over all data that the row of the design names, and for this table. The risks of noise "
        "and swapping are brought to the one that was asked for; the others have no parameter that does so."
    )
    listed = tuple(rows(found.designs, found.question))
    best: Mood = "good"
    other: Mood = ""
    moods = tuple(best if one is found.best else other for one in found.designs)
    yield Grid(caption="Designs, promises, risks and errors", heads=HEADS, rows=listed, moods=moods, stacks=True)
    protects = [(one.name, one.point.risks[WORST]) for one in found.designs]
    yield Bullets(items=tuple(
        f"{name}: {risk_text(risk)}, for {risk.protects}" if risk.value is not None else f"{name}: not known: {risk.reason}"
        for name, risk in protects
    ))  # fmt: skip
    simulated = [one.name for one in found.designs if one.point.error.runs]
    if simulated:
        yield Sentence(
            words=f"The error of {', '.join(simulated)} is the mean of {found.frontier.runs} simulated releases (seed "
            f"{found.frontier.seed}), with a confidence interval of about 95 %. The other known errors are exact."
        )

    yield Heading(words="Risk against error", anchor="frontier")
    yield CaptionedFigure(
        figure=figure(found.frontier, size="page", theme="page"),
        caption="Each line is a design over its parameter; dashed: the risk for this table alone. Designs whose risk is not "
        "known, or whose error is not, are not drawn. The numbers are in frontier.json.",
    )

    yield Heading(words="How accurate the published numbers are", anchor="accuracy")
    yield Sentence(
        words="The margin of a number holds in 95 % of releases, and the margin of all for all numbers at once. It follows from "
        "the law of the mechanism; errors-by-cell.csv has the expected error of every cell."
    )
    margins = [
        (one.design, one.margin or "not known", one.margin_of_all or "not known", one.reason or "-") for one in found.margins
    ]  # fmt: skip
    yield Grid(
        caption="Margins of error at 95 %", heads=("design", "margin", "margin of all", "note"), rows=tuple(margins), stacks=True
    )

    yield Heading(words="What is published exactly", anchor="exact")
    swap = next(one for one in found.designs if one.name == "swapping")
    held = swap.report.document.spec.multiverse.induced_by() or ()
    yield Sentence(
        words=f"A swap publishes {' and '.join(map(str, held))} exactly, and promises nothing about what these show. "
        "Noise publishes nothing exactly."
    )
    if found.determined is None:
        yield Sentence(words="How many records these tables determine is not known.")
    else:
        determined, undecided, of = found.determined
        rest = f" {count(undecided, 'record')} are undecided." if undecided else ""
        yield Sentence(words=f"They determine {determined:,} of {count(of, 'record')} in all columns of the study.{rest}")

    yield Heading(words="What this does not show", anchor="limits")
    second = next((one for one in found.designs if one.unsolved), None)
    items = [
        "Which design is best was found on the confidential table; the choice itself may disclose facts about it.",
        "The risk is that of one exchange. Other changes, such as one record that is replaced, are compared by dpspec risk.",
        "One table of counts is studied. Several products together promise less: dpspec ledger adds them up.",
        "The worst case of a swap is that of data whose strata have the sizes of this table's; that of noise is over all data.",
        *(f"Draft: {warning}." for warning in found.warnings),
    ]
    if second is not None:
        items.append(f"{second.name}: {second.unsolved}; its row shows {error_text(second.point.error)} at its first parameter.")
    yield Bullets(items=tuple(items))

    yield Heading(words="The steps", anchor="steps")
    yield Sentence(words="Each step is one command, typed where the study was made:")
    yield Grid(caption="Steps and commands", heads=("step", "command"), rows=found.steps, stacks=True)
