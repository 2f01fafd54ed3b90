"""Make docs/deployments: a page for each real deployment on file, and a front page with what the catalogue shows.

    python docs/make_deployments.py [--folder specs/deployments] [--out docs/deployments]

Nothing on the front page is typed: each finding is counted from the files when the pages are made, and a test counts again.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path

from dpspec_deployments.catalogue import (
    ENTRY_BLOCKS,
    VERDICT_WORDS,
    CatalogueEntry,
    by_unit,
    catalogue_of,
    one_of,
    short_budget,
    tally,
)

from dpspec.base.errors import DpspecError, count, harmless
from dpspec.base.exact import number
from dpspec.base.types import JsonData
from dpspec.blocks.units import longer_units, read_unit
from dpspec.comparison.composition import compose, documents_of, parts_of
from dpspec.extension import installed
from dpspec.reason.rules import promise_for
from dpspec.report.explain import file_data
from dpspec.report.terminal import blocks_in_words, budget_in_words, number_in_words, part_in_words, thing_in_words
from dpspec.report.yardsticks import power_in_words
from dpspec.specfile.document import Expectation

ROOT = Path(__file__).parents[1]
FOLDER, OUT = ROOT / "specs" / "deployments", ROOT / "docs" / "deployments"
MADE = "Made by `python docs/make_deployments.py`"
BLOCK_NAMES = {block: block.replace("_", " ") for block in ENTRY_BLOCKS}
LONGEST = 600

Finding = tuple[str, list[str]]
Entries = Sequence[CatalogueEntry]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=FOLDER, help="the files")
    parser.add_argument("--out", type=Path, default=OUT, help="where the pages go")
    arguments = parser.parse_args()
    entries = load(arguments.folder)
    arguments.out.mkdir(parents=True, exist_ok=True)
    texts = {"README.md": front(entries), **{f"{entry.id}.md": page(entry) for entry in entries}}
    for old in arguments.out.glob("*.md"):
        if old.name not in texts:
            old.unlink()
    for name, text in texts.items():
        (arguments.out / name).write_text(text, encoding="utf-8")
    sys.stdout.write(f"{len(texts)} pages in {arguments.out}\n")
    return 0


def load(folder: Path = FOLDER) -> tuple[CatalogueEntry, ...]:
    """The entries of the catalogue, by their ids."""
    registry = installed().registry
    entries = catalogue_of(documents_of([str(folder)], registry), registry)
    return tuple(sorted(entries, key=lambda entry: entry.id))


def plain(text: str) -> str:
    """A text that is nothing but text in a table of Markdown."""
    once = " ".join(harmless(text, keep="").split())
    for sign in "\\`*_[]<>|":
        once = once.replace(sign, f"\\{sign}")
    return once if len(once) <= LONGEST else f"{once[:LONGEST]} ..."


def link(entry: CatalogueEntry) -> str:
    return f"[{entry.id}]({entry.id}.md)"


# --- one deployment -------------------------------------------------------------------------------


def stamp(entry: CatalogueEntry) -> str:
    """The line by which a page knows the file that it was made from."""
    return f"{MADE} from `specs/deployments/{entry.id}.dpspec.toml`, SHA-256 `{entry.document.sha256}`."


def page(entry: CatalogueEntry) -> str:
    """The page of a deployment."""
    document, made = entry.document, entry.deployment
    told = file_data(document, entry.registry, entry.standing)
    lines = [f"# {plain(document.title)}", "", f"[All deployments](README.md). {stamp(entry)}", "", "| | |", "|---|---|"]
    facts = {
        "publisher": ", ".join(made.publisher), "product": made.product, "published": made.when, "region": made.region,
        "for": made.use, "trust model": made.trust, "releases": made.release, "access": made.access,
        "the budget is renewed after each": made.period,
    }  # fmt: skip
    lines += [f"| {key} | {plain(value)} |" for key, value in facts.items() if value]
    lines += [
        "",
        "## What is promised",
        "",
        plain(told["promise"]),
        "",
        "| block | what the file says | how it is known |",
        "|---|---|---|",
    ]
    blocks = dict(zip(ENTRY_BLOCKS, [*blocks_in_words(entry.spec).values()], strict=False))
    if entry.spec.multiverse.induced_by():
        blocks["multiverse"] = [str(invariant) for invariant in entry.spec.multiverse.induced_by() or ()]
    mechanism = document.mechanism or document.secret
    blocks |= {"mechanism": [thing_in_words(mechanism)]} if mechanism is not None else {}
    for block, words in blocks.items():
        lines.append(f"| {BLOCK_NAMES[block]} | {plain(one_of('; '.join(words), document))} | {origin(entry, block)} |")
    for part in document.parts:
        lines += [
            "",
            f"Besides: {plain(str(part))}: {plain(one_of(part_in_words(part.spec, document.spec), document))}.",
        ]
    lines += ["", "## Claim status", "", f"**{entry.words}**: {plain(entry.standing.sentence)}."]
    if entry.verdict == "stand-in":
        ours = " and ".join(BLOCK_NAMES[block] for block in entry.document.stand_ins)
        lines += ["", f"What was verified is a stand-in: the {ours} {'are' if ' and ' in ours else 'is'} assumed."]
    power = entry.lines[0].power
    if power is not None:
        lines += [
            "",
            "If the promise is kept, a test of level 5% between two datasets at distance 1 of one universe has a power of "
            f"{power_in_words(power)}.",
        ]
    lines += [*numbers(told), *outside(entry)]
    lines += ["", "## Sources", "", *(f"- {plain(str(source))}" for source in document.sources)]
    again = f"dpspec verify specs/deployments/{entry.id}.dpspec.toml"
    return "\n".join([*lines, "", "## Again", "", f"    {again}", f"    {again.replace('verify', 'label')}", ""])


def origin(entry: CatalogueEntry, block: str) -> str:
    """How a block is known, and from where."""
    found = next((one for one in entry.document.provenance if one.block == block), None)
    if found is None:
        return "not told"
    where = f" ({', '.join(found.source)})" if found.source else ""
    return plain(f"{found.how}{where}{'' if found.because is None else f': {found.because}'}")


def numbers(told: JsonData) -> Iterator[str]:
    if not told["numbers"]:
        return
    yield from ("", "## Printed numbers, computed again", "", "| what | printed | computed | by | |", "|---|---|---|---|---|")
    for row in told["numbers"]:
        low = row["recomputed"]["lower"]
        shown = number_in_words(number(low)) if len(low) < 20 else number(low).decimal(8)
        word = {True: "comes out", False: "does not come out", None: "cannot be told"}[row["reproduced"]]
        printed = f"{row['parameter']} = {number(row['printed']).plain()}"
        yield f"| {plain(row['what'])} | {plain(printed)} | {plain(shown)} | {row['route']} | {word}: {plain(row['because'])} |"


def outside(entry: CatalogueEntry) -> Iterator[str]:
    if entry.document.unaccounted:
        yield from ("", "## What the promise does not cover", "")
        yield from (f"- {plain(str(step))}" for step in entry.document.unaccounted)


# --- what the catalogue shows ---------------------------------------------------------------------


def findings(entries: Entries) -> Iterator[Finding]:
    """What the files show together; each counted from them."""
    for find in FINDINGS:
        title, lines = find(entries)
        if lines:
            yield title, lines


def how_they_stand(entries: Entries) -> Finding:
    lines = [f"{VERDICT_WORDS[verdict]}: {n}" for verdict, n in tally(entries).items()]
    checked = [entry for entry in entries if entry.verdict in ("verified", "stand-in")]
    return (
        f"{len(checked)} of {len(entries)} files are verified, {_are(tally(entries).get('verified', 0))} without a stand-in",
        lines,
    )


def _are(n: int) -> str:
    return f"{n} of them"


def conversions(entries: Entries) -> Finding:
    """Which formula gives each printed epsilon at a delta."""
    given: dict[str, list[str]] = defaultdict(list)
    for entry, row in _numbers(entries):
        simple = [formula for formula in row["formulas"] if not formula["needs"] and len(formula["rules"]) == 1]
        if row["parameter"] != "epsilon" or not simple or row["corrected"]:
            continue
        names = " and ".join(formula["rules"][0] for formula in simple if formula["reproduced"]) or "none of the known formulas"
        given[names].append(f"{number(row['printed']).plain()} ({link(entry)})")
    rows = sorted(given.items(), key=lambda one: (-len(one[1]), one[0]))
    lines = [f"{names}: {len(found)}: {', '.join(found)}" for names, found in rows]
    return f"Printed epsilons at a delta come from {count(len(given), 'formula')}", lines


def misprints(entries: Entries) -> Finding:
    lines = [
        f"{link(entry)}: {plain(one.what)}: printed {one.printed.plain()}, {one.route.name} gives {right} ({plain(one.because)})"
        for entry, one, right in _errata(entries)
        if one.route.name != "sum"
    ]
    return f"{count(len(lines), 'printed number')} cannot be computed from the numbers beside them", lines


def sums(entries: Entries) -> Finding:
    rows = [one for _, one in _once(entries) if one.route.name == "sum"]
    lines = [
        f"{link(entry)}: {plain(one.what)}: printed {one.printed.plain()}, the parts add up to {right} ({plain(one.because)})"
        for entry, one, right in _errata(entries)
        if one.route.name == "sum"
    ]
    return f"{len(lines)} of {len(rows)} printed sums are not the sum of their parts", lines


def _once(entries: Entries) -> Iterator[tuple[CatalogueEntry, Expectation]]:
    """Every printed number, one that several files repeat of one product only once."""
    seen = set()
    for entry in entries:
        for one in entry.document.expectations:
            key = (entry.deployment.publisher, entry.deployment.in_year, one.what, one.printed.plain(), one.corrected is None)
            if key not in seen:
                seen.add(key)
                yield entry, one


def _errata(entries: Entries) -> Iterator[tuple[CatalogueEntry, Expectation, str]]:
    """The misprints on file that are ones: computed again, the corrected number comes out and the printed one does not."""
    for entry, one in _once(entries):
        if one.corrected is not None and one.is_met_by(one.value(entry.spec)):
            yield entry, one, one.corrected.plain()


def unsaid(entries: Entries) -> Finding:
    rows = []
    for block in ENTRY_BLOCKS:
        times = Counter(
            entry.how(block) for entry in entries if block != "mechanism" or entry.document.mechanism or entry.document.secret
        )
        told = ", ".join(f"{times[how]} {how}" for how in ("stated", "inferred", "assumed", "untold") if times[how])
        rows.append((times["assumed"], f"{BLOCK_NAMES[block]}: {told}"))
    none = sum(1 for entry in entries if entry.document.mechanism is None and entry.document.secret is None)
    rows.append((none, f"no mechanism that could be judged: {none} of {len(entries)}"))
    relation = sum(entry.how("input_divergence") != "stated" for entry in entries)
    return f"For {relation} of {len(entries)} files no source says in so many words what one change is", [
        row for _, row in rows
    ]


def false_as_written(entries: Entries) -> Finding:
    """Promises of a publisher that are refuted, each with the file that says what does hold."""
    lines = []
    for entry in entries:
        if entry.verdict in ("recorded", "refuted") and entry.how("budget") != "assumed":
            holds = [one for one in entries if one is not entry and _product(one) == _product(entry) and _is_kept(one)]
            beside = f"; what does hold: {', '.join(map(link, holds))}" if holds else ""
            because = "" if entry.document.claim is None else plain(entry.document.claim.because)
            lines.append(f"{link(entry)}: {because}{beside}")
    return f"{count(len(lines), 'promise')} that a source makes or implies are false as written", lines


def _is_kept(entry: CatalogueEntry) -> bool:
    return entry.verdict in ("verified", "stand-in")


def _product(entry: CatalogueEntry) -> tuple[object, ...]:
    """What the files of one product have in common: a promise as written, and the one that could be made."""
    return entry.deployment.publisher, entry.deployment.product


def no_budget_holds(entries: Entries) -> Finding:
    """Methods without a promised number: what they do not keep over all data, and what they keep inside their own outputs."""
    lines = []
    for entry in entries:
        if entry.verdict in ("recorded", "refuted") and entry.how("budget") == "assumed":
            kept = [one for one in entries if one is not entry and _product(one) == _product(entry) and _is_kept(one)]
            beside = (
                f"; inside universes of equal facts: {', '.join(f'{link(one)} keeps {short_budget(one.spec)}' for one in kept)}"
            )
            lines.append(f"{link(entry)}: not even {short_budget(entry.spec)}{beside if kept else ''}")
    return f"{count(len(lines), 'method')} without a published number keep none of these over all data (stand-ins)", lines


def not_covered(entries: Entries) -> Finding:
    held = [entry for entry in entries if entry.document.unaccounted]
    lines = [f"{link(entry)}: {plain(str(step))}" for entry in held for step in entry.document.unaccounted]
    return f"{len(held)} of {len(entries)} name {count(len(lines), 'step')} that the promise does not cover", lines


def begins_anew(entries: Entries) -> Finding:
    periods = Counter(entry.deployment.period for entry in entries if entry.deployment.period is not None)
    lines = [f"again after each {period}: {n}" for period, n in periods.most_common()]
    for entry in entries:
        unit = entry.unit
        words = None if unit is None else read_unit(unit)
        if unit is None or words is None or words.time is None:
            continue
        month = f"{'-'.join(words.parts)}-month"
        if month in longer_units(unit):
            found = promise_for(entry.spec, month, called=unit)
            if found.budget is not None:
                lines.append(f"{_per(entry)} is at most {plain(budget_in_words(found.budget))} per {month}")
    return f"{sum(periods.values())} of {len(entries)} renew their budget; for a month the promise is another one", lines


def no_number(entries: Entries) -> Finding:
    lines = [
        f"{link(entry)}: {plain(str(entry.spec.budget.unpublished()))}"
        for entry in entries
        if entry.spec.budget.unpublished() is not None
    ]
    return f"{len(lines)} of {len(entries)} publish no number to rely on", lines


def exact_facts(entries: Entries) -> Finding:
    held = [entry for entry in entries if entry.invariants]
    none = [entry for entry in entries if entry.invariants == ()]
    times = Counter(entry.how("multiverse") for entry in none)
    lines = [f"facts published exactly in the file: {len(held)}: {', '.join(map(link, held))}"]
    lines += [f"none in the file: {len(none)}, of which {', '.join(f'{n} {how}' for how, n in times.most_common())}"]
    return f"{len(held)} of {len(entries)} publish facts without noise; for {times['assumed']} nobody says", lines


def one_test(entries: Entries) -> Finding:
    """The power of one test, unit by unit."""
    lines = []
    entries = [entry for entry in entries if entry.how("budget") != "assumed"]
    for group in by_unit(entries):
        if len(group.published) > 1:
            first, last = group.published[0], group.published[-1]
            lines.append(
                f"per {plain(group.unit)}, {plain(group.distance)}: {count(len(group.published), 'promise')}, from "
                f"{power_in_words(first.power)} ({link(first.entry)}) to {power_in_words(last.power)} ({link(last.entry)})"
            )
    powers = [line.power for entry in entries for line in entry.lines if line.power is not None]
    weak = sum(power.lower >= Fraction(99, 100) for power in powers)
    return (
        f"{weak} of {len(powers)} numbers from sources would let a test of level 5% have a power of 99% and more",
        lines,
    )


def same_people(entries: Entries) -> Finding:
    """Two releases of the same events, added up."""
    pair = [entry for entry in entries if entry.id in ("wikimedia-editors-weekly", "wikimedia-editors-monthly")]
    if len(pair) < 2:
        return "The same people in two releases", []
    lines, adds = [], True
    try:
        found = compose(parts_of([entry.document for entry in pair]))
        lines.append(f"together: {plain(str(found.spec.budget))} for {plain(thing_in_words(found.spec.input_divergence))}")
    except DpspecError as fault:
        adds = False
        lines.append(f"{' and '.join(map(link, pair))}: {plain(str(fault))}")
    for entry in pair:
        unit = entry.unit or ""
        for longer in longer_units(unit):
            said = promise_for(entry.spec, longer, called=unit)
            if said.budget is not None and longer.endswith("-month"):
                lines.append(f"{_per(entry)} is at most {plain(budget_in_words(said.budget))} per {longer}")
        lines.append(_per(entry))
    answer = "add up" if adds else "do not add up"
    return f"The same editors are in a weekly and a monthly file; as they are filed the two {answer}", lines


def _per(entry: CatalogueEntry) -> str:
    return f"{link(entry)}: {short_budget(entry.spec)} per {entry.unit}"


def trust(entries: Entries) -> Finding:
    times = Counter(entry.deployment.trust or "not told" for entry in entries)
    return "Who sees the data as they are", [f"{model}: {n}" for model, n in times.most_common()]


def _numbers(entries: Entries) -> Iterator[tuple[CatalogueEntry, JsonData]]:
    once = {(entry.id, one.what) for entry, one in _once(entries)}
    for entry in entries:
        told = file_data(entry.document, entry.registry, entry.standing)["numbers"] if entry.document.expectations else ()
        for one, row in zip(entry.document.expectations, told, strict=True):
            if (entry.id, one.what) in once:
                yield entry, {**row, "corrected": one.corrected is not None}


FINDINGS: tuple[Callable[[Entries], Finding], ...] = (
    how_they_stand, conversions, misprints, sums, unsaid, false_as_written, no_budget_holds, not_covered, begins_anew, no_number,
    exact_facts, one_test, same_people, trust,
)  # fmt: skip


def front(entries: Entries) -> str:
    """The front page."""
    products = {(entry.deployment.publisher, entry.deployment.product) for entry in entries}
    lines = [
        "# What is promised out there",
        "",
        f"{count(len(entries), 'file')} about {len(products)} real products, each read and judged when this page was made.",
        f"{MADE}. What a file assumes is ours, and each page says what. The page grades nobody; `dpspec catalogue` "
        "answers questions about the files.",
        "",
        "## What they show",
    ]
    for place, (title, rows) in enumerate(findings(entries), 1):
        lines += ["", f"### {place}. {title}", "", *(f"- {row}" for row in rows)]
    lines += ["", "## All of them", "", "| | publisher | year | per | number | how it stands |", "|---|---|---|---|---|---|"]
    for entry in entries:
        made = entry.deployment
        cells = (
            link(entry),
            plain(", ".join(made.publisher)),
            str(made.in_year),
            plain(entry.unit or ""),
            plain(short_budget(entry.spec)),
            entry.words,
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    sys.exit(main())
