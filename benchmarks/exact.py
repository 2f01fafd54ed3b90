"""What the exact engine and certified numerics compute in the lines of the benchmarks: laws, pairs of laws, densities."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from dpspec_census import stratum as stratum_law
from dpspec_census.swapping import Swapping
from dpspec_code.automatic import enumerate_law
from dpspec_divergences import AddRemove, Mult, MultDelta, Neighbour

from dpspec.blocks.budget import UniformBudget
from dpspec.blocks.lists import ValueLists
from dpspec.blocks.multiverse import Trivial
from dpspec.grammar.mechanism import Mechanism
from dpspec.grammar.spec import PrivacySpec
from dpspec.laws import FiniteDichotomy, FiniteLaw, GaussianLaw
from dpspec.laws.enclosures import IntegralLaw, first_above
from dpspec.verifier.entry import verify_claim
from dpspec.verifier.verdict import Outcome
from reproductions.swapping_universes import MECHANISMS, RATES, Margins, judge, partitions, tables


def small_universes(most_records: int, most_categories: int = 3) -> list[Margins]:
    """Every universe of one stratum, all margins, none left out by symmetry."""
    sizes = range(1, most_records + 1)
    listed = {n: [p for p in partitions(n) if len(p) <= most_categories] for n in sizes}
    return [margins for n in sizes for margins in itertools.product(listed[n], repeat=2)]


def judge_rate(mechanism: type[Swapping], rate: Fraction, most_records: int) -> tuple[int, int]:
    """All small universes under one mechanism and one rate: how many verdicts, and how many refuted."""
    verdicts = [outcome for margins in small_universes(most_records) for outcome in judge(mechanism, rate, (margins,)).verdicts]
    return len(verdicts), verdicts.count(Outcome.REFUTED)


def swapping(_: Path, most_records: int) -> str:
    """One-stratum swapping with up to so many records and 3 categories a side: both algorithms, six rates, all pairs."""
    found = [judge_rate(*task, most_records) for task in itertools.product(MECHANISMS, RATES)]
    judged, refuted = (sum(column) for column in zip(*found, strict=True))
    return f"{len(small_universes(most_records))} universes, {judged} verdicts, {refuted} refuted"


def derangements_two() -> str:
    """Derangement swapping of n = 4 records, two categories a side, some of them empty: all pairs of all universes."""
    return _deranged([(k, 4 - k) for k in range(5)])


def derangements_three() -> str:
    """The same, up to three categories a side."""
    return _deranged([margin for margin in partitions(4) if len(margin) <= 3])


def derangements_all() -> str:
    """The same, every universe there is of four records: up to four categories a side."""
    return _deranged(list(partitions(4)))


def _deranged(margins: Sequence[tuple[int, ...]]) -> str:
    """Laws and largest ratio of all pairs of all universes with these margins."""
    compared, best = 0, (1, 1)
    for rests, swaps in itertools.product(margins, repeat=2):
        kinds = list(itertools.product(range(len(rests)), range(len(swaps))))
        cells = [tuple(map(table.count, kinds)) for table in tables((rests, swaps))]
        laws = [stratum_law.derangement_weights(x, len(swaps), 1, 1) for x in cells]
        rows = [tuple([law.get(y, 0) for y in cells]) for law in laws]
        for i, j in itertools.combinations(range(len(cells)), 2):
            top, bottom = FiniteDichotomy(rows[i], rows[j], sum(rows[i]), sum(rows[j])).largest_ratio()
            compared += 1
            if top * best[1] > best[0] * bottom:
                best = top, bottom
    return f"{len(margins) ** 2} universes, {compared} pairs, largest ratio {Fraction(*best)}"


def shuffle() -> str:
    """Randomised response on 8 bits, shuffled: all 2,048 ordered neighbour pairs."""
    laws = {bits: _shuffled(sum(bits)) for bits in itertools.product((0, 1), repeat=8)}
    constants = set()
    for bits, place in itertools.product(laws, range(8)):
        neighbour = (*bits[:place], 1 - bits[place], *bits[place + 1 :])
        constants.add(str(Mult().between(laws[bits], laws[neighbour])))
    return f"{len(laws) * 8} pairs, {len(constants)} different losses"


def _shuffled(ones: int) -> FiniteLaw:
    """How many ones come out: a sum of two binomials."""
    weights = [0] * 9
    for kept, flipped in itertools.product(range(ones + 1), range(8 - ones + 1)):
        ways = math.comb(ones, kept) * math.comb(8 - ones, flipped)
        weights[kept + flipped] += ways * 3 ** (kept + 8 - ones - flipped)
    return FiniteLaw.from_weights(dict(enumerate(weights)))


def plain_code() -> str:
    """The swapping listing on 4 records, written as plain code with two redraw loops: its exact law."""
    law = enumerate_law(_swapped, ((0, 0), (0, 0), (1, 1), (1, 1)))
    return str(law)


def _swapped(records: Any, rng: Any) -> Any:
    while True:
        chosen = [i for i in range(len(records)) if rng.random() < 0.5]
        if len(chosen) != 1:
            break
    while True:
        order = rng.permutation(len(chosen))
        if all(order[i] != i for i in range(len(chosen))):
            break
    values = [records[chosen[k]][1] for k in order]
    swapped = list(records)
    for i, value in zip(chosen, values, strict=True):
        swapped[i] = (records[i][0], value)
    return sum(value for rest, value in swapped if rest == 0)


CLASSIC = Fraction(math.sqrt(2 * math.log(1250)) / 10) ** 2
"""The variance of the classic Gaussian calibration at epsilon = 10, delta = 1/1000, as its double."""


def classic_gaussian() -> str:
    """P16: delta(10) of the classic calibration at epsilon = 10, where 1/1000 is claimed."""
    spent = GaussianLaw(0, CLASSIC).against(GaussianLaw(1, CLASSIC)).hockey_stick(10, precision=64)
    assert spent.lower > Fraction(1, 1000)
    return f"delta(10) = {spent}: refuted"


class Classic(Mechanism):
    """The number of records with the noise of the classic calibration."""

    name = "classic-gaussian"

    def law(self, dataset: Any, space: Any) -> GaussianLaw:
        return GaussianLaw(len(dataset), CLASSIC)


def classic_claim() -> str:
    """P16 as a claim through the one entry: up to one record, every pair."""
    spec = PrivacySpec(
        space=ValueLists(values=(0,), least=0, most=1, ordered=False),
        multiverse=Trivial(),
        input_divergence=Neighbour(relation=AddRemove()),
        output_divergence=MultDelta(delta="1/1000"),
        budget=UniformBudget(parameter="epsilon", value=10),
    )
    verdict = verify_claim(Classic(), spec)
    assert verdict.outcome is Outcome.REFUTED
    return f"epsilon at 1/1000 = {verdict.constant}: refuted"


def sparse_vector() -> str:
    """P37: the loss of sparse vector, variant 4, from its densities: all outcomes, both ways, one pair."""
    left, right = _variant_four((4, 4, 4, 4, 2)), _variant_four((3, 3, 3, 3, 3))
    ways = [one.against(two).max_log_ratio(precision=64) for one, two in ((left, right), (right, left))]
    loss = max(ways, key=lambda bracket: float(bracket.lower))
    width = float((loss.upper.enclose(128) - loss.lower.enclose(128)).upper())
    assert width < 1e-15
    return f"loss = {float(loss.lower):.16g}, width {width:.1e}"


def long_sparse_vector(_: Path, queries: int) -> str:
    """The same for more queries, with one outcome more than there are queries."""
    left, right = _variant_four((4,) * (queries - 1) + (2,)), _variant_four((3,) * queries)
    return f"loss = {right.against(left).max_log_ratio(precision=64)}"


def _variant_four(answers: tuple[int, ...]) -> IntegralLaw:
    return first_above(answers, threshold=0, threshold_scale=4, query_scale="4/3")
