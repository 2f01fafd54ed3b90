"""The swapping theorem judged universe by universe: exact constant, claimed budget, verdict (Bailie, Gong and Meng 2023).

    python -m reproductions.swapping_universes > docs/swapping-universes.md

A universe of c_Swap is given by its margins: in each stratum the counts of the rest categories and of the swap
categories. Renaming categories, exchanging the strata, or exchanging the two margins changes neither laws nor distances, so
one universe stands for each class of such renamings.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction

import attrs
from dpspec_census.swapping import DerangementSwapping, PermutationSwapping, Swapping

from dpspec.base.exact import Number
from dpspec.blocks.records import UnorderedRecords
from dpspec.blocks.space import Attribute, Dataset
from dpspec.grammar.mechanism import Claim
from dpspec.verifier.exhaustive import verify
from dpspec.verifier.verdict import Outcome, Verdict

RATES = tuple(Fraction(text) for text in ("1/10", "1/4", "1/2", "3/5", "3/4", "9/10"))
MECHANISMS: tuple[type[Swapping], ...] = (DerangementSwapping, PermutationSwapping)

Margins = tuple[tuple[int, ...], tuple[int, ...]]
"""The counts by rest and by swap category of one stratum, each in descending order."""


@attrs.frozen(kw_only=True)
class JudgedUniverse:
    """One universe under one mechanism and swap rate.

    Args:
        strata: its margins.
        datasets: how many tables it holds.
        constant: the exact Lipschitz constant.
        budgets: what each printed form of the theorem claims, by label.
        verdicts: whether the constant is within it.
        pair: two tables at which the constant is attained.
    """

    strata: tuple[Margins, ...]
    datasets: int
    constant: Number
    budgets: tuple[tuple[str, Number], ...]
    verdicts: tuple[Outcome, ...]
    pair: tuple[Dataset, Dataset] | None


def partitions(total: int, largest: int | None = None) -> Iterator[tuple[int, ...]]:
    """The ways to write a number as a sum of positive ones, in descending order.

    >>> list(partitions(3))
    [(3,), (2, 1), (1, 1, 1)]
    """
    if total == 0:
        yield ()
    for first in range(min(total, largest or total), 0, -1):
        yield from ((first, *rest) for rest in partitions(total - first, first))


def universes() -> Iterator[tuple[Margins, ...]]:
    """Every universe of one stratum with up to 5 records, and of two strata with up to 3 records each."""
    for records in range(1, 6):
        yield from ((margins,) for margins in _margins(records))
    small = [margins for records in range(1, 4) for margins in _margins(records)]
    yield from itertools.combinations_with_replacement(small, 2)


def _margins(records: int) -> list[Margins]:
    return list(itertools.combinations_with_replacement(partitions(records), 2))


def tables(margins: Margins) -> Iterator[tuple[tuple[int, int], ...]]:
    """All tables with these margins, as tuples of (rest, swap) pairs of category numbers."""
    rests, swaps = margins

    def fill(rest: int, left: tuple[int, ...]) -> Iterator[tuple[tuple[int, int], ...]]:
        if rest == len(rests):
            yield ()
            return
        for chosen in itertools.combinations_with_replacement(range(len(left)), rests[rest]):
            after = tuple(count - chosen.count(k) for k, count in enumerate(left))
            if min(after) >= 0:
                for others in fill(rest + 1, after):
                    yield (*((rest, k) for k in chosen), *others)

    return fill(0, swaps)


def judge(cls: type[Swapping], rate: Fraction, strata: Sequence[Margins]) -> JudgedUniverse:
    """The exact constant of one universe, held against every printed form of the theorem."""
    space, datasets = instance(strata)
    mechanism = cls(match=("stratum",), swap=("swap",), swap_rate=rate)
    claims = mechanism.claims(space)
    verdicts = [_verdict(mechanism, claim, datasets) for claim in claims]
    found = verdicts[0].universes[0]
    return JudgedUniverse(
        strata=tuple(strata),
        datasets=len(datasets),
        constant=found.constant.lower,
        budgets=tuple((c.label, v.universes[0].bound) for c, v in zip(claims, verdicts, strict=True)),
        verdicts=tuple(verdict.outcome for verdict in verdicts),
        pair=found.attained,
    )


def instance(strata: Sequence[Margins]) -> tuple[UnorderedRecords, tuple[Dataset, ...]]:
    """A space that holds the universe, and the universe's tables as datasets of it."""
    sizes = {"stratum": len(strata), "rest": max(len(rests) for rests, _ in strata), "swap": max(len(s) for _, s in strata)}
    attributes = tuple(Attribute(name=name, count=count) for name, count in sizes.items())
    space = UnorderedRecords(attributes=attributes, unit="household")
    by_stratum = [
        [tuple((str(j), str(rest), str(swap)) for rest, swap in table) for table in tables(margins)]
        for j, margins in enumerate(strata)
    ]
    chosen = itertools.product(*by_stratum)
    return space, tuple(space.dataset(itertools.chain.from_iterable(parts)) for parts in chosen)


def _verdict(mechanism: Swapping, claim: Claim, datasets: tuple[Dataset, ...]) -> Verdict:
    return verify(mechanism, claim.spec, datasets=datasets)


def judge_all(cls: type[Swapping], rate: Fraction) -> list[JudgedUniverse]:
    """Every universe under one mechanism and one rate."""
    return [judge(cls, rate, strata) for strata in universes()]


def name(strata: Sequence[Margins]) -> str:
    """A universe in words: rest counts x swap counts of each stratum.

    >>> name((((2, 1), (1, 1, 1)),))
    '2+1 x 1+1+1'
    """
    return "; ".join(f"{'+'.join(map(str, rests))} x {'+'.join(map(str, swaps))}" for rests, swaps in strata)


def report(found: dict[tuple[str, Fraction], list[JudgedUniverse]]) -> Iterator[str]:
    """The lines of the page."""
    yield from _HEAD.splitlines()
    for cls in MECHANISMS:
        columns = {rate: found[cls.name, rate] for rate in RATES}
        yield from ("", f"## {cls.name}", "", *_summary(columns), "")
        yield "| universe | tables | " + " | ".join(f"p = {rate}" for rate in RATES) + " |"
        yield "|---|---|" + "---|" * len(RATES)
        for row in zip(*columns.values(), strict=True):
            yield f"| {name(row[0].strata)} | {row[0].datasets} | " + " | ".join(map(_cell, row)) + " |"


def _cell(judged: JudgedUniverse) -> str:
    """The constant, the budgets (one where all forms agree), and the verdict where it is not `verified`."""
    budgets = dict.fromkeys(str(budget) for _, budget in judged.budgets)
    text = f"{judged.constant} / {', '.join(budgets)}"
    refuted = [label for (label, _), verdict in zip(judged.budgets, judged.verdicts, strict=True) if verdict is Outcome.REFUTED]
    return f"**{text}: refuted**" if refuted else text


def _summary(columns: dict[Fraction, list[JudgedUniverse]]) -> Iterator[str]:
    for rate, rows in columns.items():
        for place, (label, _) in enumerate(rows[0].budgets):
            verdicts = [row.verdicts[place] for row in rows]
            refuted, tight = verdicts.count(Outcome.REFUTED), sum(row.constant == row.budgets[place][1] > 0 for row in rows)
            yield f"* p = {rate}, {label}: {len(rows) - refuted} verified ({tight} tight), {refuted} refuted."


_HEAD = """# The swapping theorem, universe by universe

`python -m reproductions.swapping_universes > docs/swapping-universes.md` generates this page, and a test compares it with the
result.

Each row is one universe of the swapping invariants: the counts by rest and by swap category in each stratum. For example,
`2+1 x 1+1+1` has two records of one rest category and one of another, and three different swap values. The page lists every
universe of one stratum with up to 5 records, and of two strata with up to 3 records each. Universes with the same
laws and distances count as one: they differ only in the names of categories, the order of strata or the order of the two margins.

Each cell is *exact Lipschitz constant / claimed budget*. The constant is the largest d_MULT / d_Ham over all pairs of tables
of the universe, with the unordered Hamming distance on records. The budget is that of the published theorem (Bailie, Gong and
Meng 2023, swapping theorem), with b recomputed for the universe. Where two published forms give two budgets, both are listed.
A cell in bold
exceeds a budget: the theorem as published is false for that mechanism there."""


def main() -> None:
    """Write the page to standard output."""
    tasks = [(cls, rate) for cls in MECHANISMS for rate in RATES]
    with ProcessPoolExecutor() as pool:
        results = pool.map(judge_all, *zip(*tasks, strict=True))
        found = {(cls.name, rate): rows for (cls, rate), rows in zip(tasks, results, strict=True)}
    sys.stdout.writelines(f"{line}\n" for line in report(found))


if __name__ == "__main__":
    main()
