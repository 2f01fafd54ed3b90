"""Mechanisms that choose: the most common cell, the first count above a threshold, the keys that are common enough to be shown.

What they release depends on all counts at once, so their views bound a change from above by what it can do at most, and from
below by laws that are computed for two datasets.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, cast

import attrs

from dpspec.plugin import (
    Attribute,
    Dataset,
    DatasetSpace,
    Exact,
    IncompatibleBlocksError,
    Integer,
    Invariant,
    Law,
    Marginal,
    Mechanism,
    Number,
    Rational,
    Registered,
    Table,
    UnorderedRecords,
    define,
    errors,
    grammar,
    laws,
    ln,
    number,
)
from dpspec_noise.additive import answers_on

if TYPE_CHECKING:
    from dpspec.plugin import Randomness

LISTED = 100_000
"""A choice is made among at most so many cells."""

MOST_INTEGRATED = 64
"""With more cells the law of the first one above a threshold is not integrated for a pair."""


def response(loss: Number) -> tuple[Law, Law]:
    """The pair from which every pair of laws whose log-ratios lie within a loss can be simulated: randomised response
    (Kairouz, Oh and Viswanath 2015, Theorem 2)."""
    high = laws.exact_exponential(loss)
    return laws.finite_law({1: high, 0: 1}, normalise=True), laws.finite_law({1: 1, 0: high}, normalise=True)


def _span(counts: grammar.CountChanges) -> int:
    """By how much two counts may move apart; all others stay."""
    return max((0, *counts)) - min((0, *counts))


class _OfOneTable(Mechanism):
    """What the mechanisms that look at one table of counts share."""

    query: Invariant

    def check(self, space: DatasetSpace) -> None:
        self.query.check(space)
        self.query.check_answers(space)
        if type(self.query) is not Marginal:
            raise IncompatibleBlocksError(
                f"mechanism {self.name}", "chooses among the cells of a marginal", value=str(self.query)
            )
        sizes = {a.name: a.size for a in space.attributes_of(self.query.unit)}
        cells = math.prod(sizes[name] for name in self.query.attributes)
        if cells > LISTED:
            raise errors.NotEnumerableError(f"mechanism {self.name}", f"chooses among {LISTED:,} cells at most", value=cells)
        self.labels(space)

    def counted(self, dataset: Dataset, space: DatasetSpace) -> dict[str, int]:
        """The counts by the labels of their cells."""
        known = space.dataset(dataset)
        return dict(zip(self.labels(space), self.query.answers(known, space), strict=True))

    def labels(self, space: DatasetSpace) -> tuple[str, ...]:
        """The labels of the cells, by which an output tells them apart."""
        labels = self.query.labels(space)
        if len(set(labels)) < len(labels):
            rule, advice = "has two cells with one label, which no output tells apart", "rename a category"
            raise IncompatibleBlocksError(f"mechanism {self.name}", rule, advice, value=str(self.query))
        return labels


# --- the exponential mechanism --------------------------------------------------------------------


@define
class ExponentialMechanism(_OfOneTable):
    """One cell of a table is chosen, with P(c) proportional to e^(rate n_c) (McSherry and Talwar 2007).

    With rate epsilon/(2 Delta) it satisfies epsilon-DP for counts that change by Delta at most, with rate epsilon/Delta where
    they all change in one direction, as for one record added. It is what a noisy maximum with Gumbel noise is.

    Args:
        query: the table.
        rate: the weight of one record, in nats.

    >>> people = UnorderedRecords(attributes=(Attribute(name="colour", categories=("red", "blue")),))
    >>> mechanism = ExponentialMechanism(query=Marginal(attributes=("colour",)), rate="ln(2)")
    >>> mechanism.law((("red",),), people)
    FiniteLaw({'red': 2/3, 'blue': 1/3})
    """

    name: ClassVar[str] = "exponential"

    query: Annotated[Invariant, Registered("invariants")]
    rate: Annotated[Number, Exact(0, "inf", open_high=True)]

    def __attrs_post_init__(self) -> None:
        laws.exact_exponential(self.rate)  # refuses what has no exact powers

    def law(self, dataset: Dataset, space: DatasetSpace) -> Law:
        weights: dict[Hashable, laws.Weight] = {
            cell: laws.exact_exponential(self.rate * count) for cell, count in self.counted(dataset, space).items()
        }
        return laws.finite_law(weights, normalise=True)

    def structure(self, space: DatasetSpace) -> grammar.Structure | None:
        self.check(space)
        return grammar.Structure(views=(Chosen(cast("Marginal", self.query), self.rate, len(self.query.labels(space))),))

    def release(self, table: Table, space: DatasetSpace, source: Randomness) -> Table:
        """The chosen cell, drawn exactly: with bits read on until they decide."""
        self.check(space)
        rows = answers_on(table, (self.query,), space)
        most = max(count for _, _, count in rows)
        weights = [laws.exact_exponential(self.rate * (count - most)) for _, _, count in rows]
        chosen = _drawn(weights, source)
        attribute = Attribute(name="cell", categories=tuple(dict.fromkeys(cell for _, cell, _ in rows)))
        return Table.from_records([(rows[chosen][1],)], (attribute,))

    @classmethod
    def examples(cls) -> Iterable[tuple[ExponentialMechanism, DatasetSpace]]:
        """What the conformance kit checks it with."""
        yield cls(query=_COLOURS, rate=number("1/2")), _people()
        yield cls(query=_COLOURS, rate=ln(3)), _people()


@attrs.frozen
class Chosen(grammar.View):
    """The cell that an exponential mechanism chooses.

    Log-ratios of two laws lie in an interval as long as the rate times the span of the changes: by the weights alone they lie in
    one of this length, and the normalisers shift it so that it holds 0 (McSherry and Talwar 2007).

    Args:
        table: the cells.
        rate: the weight of one record.
        cells: how many cells there are.
    """

    table: Marginal
    rate: Number
    cells: int

    def data(self) -> dict[str, Any]:
        return {**super().data(), "kind": "Chosen", "rate": str(self.rate), "cells": self.cells}

    @property
    def tells_more_by_more(self) -> bool:
        return True

    def changed(self, counts: grammar.CountChanges) -> tuple[grammar.Case, ...]:
        span = _span(counts) if self.cells > 1 else 0
        return ((response(self.rate * span),) if span else (),)

    def companions(self) -> tuple[int, ...]:
        """So many records in one cell that hardly another one is chosen."""
        if self.rate == 0:
            return (0,)
        return (0, min(2_000, math.ceil((16 + math.log(self.cells)) / float(self.rate))))

    def between(self, before: Sequence[Hashable], after: Sequence[Hashable], space: DatasetSpace) -> grammar.Case:
        counts = [Counter(cell for cell in side if cell is not None) for side in (before, after)]
        known = list({**counts[0], **counts[1]})
        others = self.cells - len(known)
        found = []
        for count in counts:
            weights: dict[Hashable, laws.Weight] = {cell: laws.exact_exponential(self.rate * count[cell]) for cell in known}
            found.append(laws.finite_law({**weights, "any other": others} if others else weights, normalise=True))
        return ((found[0], found[1]),)


def _drawn(weights: Sequence[laws.Exponential], source: Randomness) -> int:
    """An index with probability exactly proportional to the weights: a uniform number is read on until it lies in one part."""
    from flint import arb, ctx

    low, bits = 0, 0
    while True:
        low, bits = low << 64 | int(source.words(1)[0]), bits + 64
        with ctx.workprec(bits + 128):
            parts = [weight.enclose(bits + 128) for weight in weights]
            total, ends = sum(parts, arb(0)), arb(0)
            for place, part in enumerate(parts):
                begin, ends = ends, ends + part
                scale = arb(1 << bits)
                if (begin / total * scale).upper() <= low and (
                    place + 1 == len(parts) or (ends / total * scale).lower() >= low + 1
                ):
                    return place


# --- sparse vector --------------------------------------------------------------------------------


@define
class AboveThreshold(_OfOneTable):
    """The first cell whose noisy count is at or above a noisy threshold, counts with Lap(query scale), threshold with
    Lap(threshold scale): the sparse vector technique with one positive answer (Dwork et al. 2009; Lyu, Su and Li 2017).

    With counts that change by Delta at most the loss is at most Delta (1/threshold_scale + 2/query_scale), and
    Delta (1/threshold_scale + 1/query_scale) where all change in one direction.

    Args:
        query: the table whose cells are asked in their order.
        threshold: what a count is held against.
        threshold_scale, query_scale: the scales of the noise.
    """

    name: ClassVar[str] = "above-threshold"

    query: Annotated[Invariant, Registered("invariants")]
    threshold: Annotated[Fraction, Rational()]
    threshold_scale: Annotated[Fraction, Rational(0, open_low=True)]
    query_scale: Annotated[Fraction, Rational(0, open_low=True)]

    def law(self, dataset: Dataset, space: DatasetSpace) -> Law:
        return self.first(list(self.counted(dataset, space).values()))

    def first(self, counts: Sequence[int]) -> Law:
        """The law of the number of the first cell above, for some counts."""
        return laws.first_above(
            counts, threshold=self.threshold, threshold_scale=self.threshold_scale, query_scale=self.query_scale
        )

    def structure(self, space: DatasetSpace) -> grammar.Structure | None:
        self.check(space)
        return grammar.Structure(views=(FirstAboveThreshold(cast("Marginal", self.query), self),))

    @classmethod
    def examples(cls) -> Iterable[tuple[AboveThreshold, DatasetSpace]]:
        """What the conformance kit checks it with."""
        yield cls(query=_COLOURS, threshold=Fraction(1), threshold_scale=Fraction(2), query_scale=Fraction(4)), _people()


@attrs.frozen
class FirstAboveThreshold(grammar.View):
    """The number of the first noisy count above a noisy threshold.

    Args:
        table: the cells, in order.
        mechanism: the scales.
    """

    table: Marginal
    mechanism: AboveThreshold

    def data(self) -> dict[str, Any]:
        scales = {"threshold_scale": str(self.mechanism.threshold_scale), "query_scale": str(self.mechanism.query_scale)}
        return {**super().data(), "kind": "FirstAboveThreshold", **scales}

    @property
    def tells_more_by_more(self) -> bool:
        return True

    def changed(self, counts: grammar.CountChanges) -> tuple[grammar.Case, ...]:
        """The threshold is shifted by the largest change up or down, the one count that is above by the whole span, at most."""
        if not counts:
            return ((),)
        most, one_way = max(map(abs, counts)), min(counts) >= 0 or max(counts) <= 0
        by_count = most if one_way else _span(counts)
        loss = number(most / self.mechanism.threshold_scale) + number(Fraction(by_count) / self.mechanism.query_scale)
        return ((response(loss),),)

    def between(self, before: Sequence[Hashable], after: Sequence[Hashable], space: DatasetSpace) -> grammar.Case | None:
        labels = self.table.labels(space)
        if len(labels) > MOST_INTEGRATED:
            return None
        found = []
        for side in (before, after):
            counts = Counter(" x ".join(map(str, cell)) or "total" for cell in side if isinstance(cell, tuple))
            found.append(self.mechanism.first([counts[label] for label in labels]))
        return ((found[0], found[1]),)


# --- unknown keys ---------------------------------------------------------------------------------


@define
class ThresholdRelease(_OfOneTable):
    """Noisy counts of the cells that occur, shown where they are at or above a threshold: keys that nobody listed before.

    t_c = n_c + W_c for n_c > 0, with two-sided geometric W, shown if t_c >= threshold; a cell with n_c = 0 is never shown. That
    one record shows a new key has probability P(1 + W >= threshold), so no claim without a delta holds (Korolova, Kenthapadi,
    Mishra and Ntoulas 2009).

    Args:
        query: the table of keys.
        ratio: r of the noise, P(w) = (1-r)/(1+r) r^|w|.
        threshold: the least number that is shown.
    """

    name: ClassVar[str] = "threshold-release"

    query: Annotated[Invariant, Registered("invariants")]
    ratio: Annotated[Fraction, Rational(0, 1, open_low=True, open_high=True)]
    threshold: Annotated[int, Integer()]

    def law(self, dataset: Dataset, space: DatasetSpace) -> Law:
        """The shown cells: independent answers, None where nothing is shown."""
        return laws.product([laws.push_forward(self._noisy(n), self._shown) if n else laws.FiniteLaw.point(None)
                             for n in self.counted(dataset, space).values()])  # fmt: skip

    def _noisy(self, count: int) -> Law:
        return laws.TwoSidedGeometricLaw(count, ln(1 / self.ratio))

    def _shown(self, value: int) -> int | None:
        return value if value >= self.threshold else None

    def reaches(self, count: int, least: int) -> Fraction:
        """P(count + W >= least), exactly."""
        r, gap = self.ratio, least - count
        return r**gap / (1 + r) if gap > 0 else 1 - r ** (1 - gap) / (1 + r)

    def structure(self, space: DatasetSpace) -> grammar.Structure | None:
        return grammar.Structure(views=(ShownCounts(cast("Marginal", self.query), self),))

    def check(self, space: DatasetSpace) -> None:
        self.query.check(space)
        self.query.check_answers(space)
        if type(self.query) is not Marginal:
            raise IncompatibleBlocksError(f"mechanism {self.name}", "shows the cells of a marginal", value=str(self.query))

    def release(self, table: Table, space: DatasetSpace, source: Randomness) -> Table:
        """The keys that are shown, with their noisy counts."""
        from dpspec_noise.additive import noisy_table
        from dpspec_noise.gaussian import Geometric

        self.check(space)
        rows = [row for row in answers_on(table, (self.query,), space) if row[2] > 0]
        noise = Geometric(queries=(self.query,), ratio=self.ratio).draw(len(rows), source)
        noisy = ((query, cell, count + int(w)) for (query, cell, count), w in zip(rows, noise, strict=True))
        return noisy_table(row for row in noisy if row[2] >= self.threshold)

    @classmethod
    def examples(cls) -> Iterable[tuple[ThresholdRelease, DatasetSpace]]:
        """What the conformance kit checks it with."""
        yield cls(query=_COLOURS, ratio=Fraction(1, 3), threshold=2), _people()


@attrs.frozen
class ShownCounts(grammar.View):
    """Noisy counts of cells that occur, shown from a threshold on.

    Args:
        table: the cells.
        mechanism: noise and threshold.
    """

    table: Marginal
    mechanism: ThresholdRelease

    def data(self) -> dict[str, Any]:
        shown = {"ratio": str(self.mechanism.ratio), "threshold": self.mechanism.threshold}
        return {**super().data(), "kind": "ShownCounts", **shown}

    @property
    def tells_more_by_more(self) -> bool:
        return True

    def changed(self, counts: grammar.CountChanges) -> tuple[grammar.Case, ...]:
        """Each cell that changes is new (or gone), or stays and has another noisy count, from which what is shown is computed."""
        cases: list[grammar.Case] = [()]
        for change in counts:
            cases = [(*case, pair) for case in cases for pair in self._either(change)]
        return tuple(cases)

    def _either(self, change: int) -> tuple[grammar.LawPair, ...]:
        size, law = abs(change), self.mechanism._noisy
        new = (laws.FiniteLaw.point("hidden"), self._new(size))
        stays = (law(0), law(size))
        return tuple(pair if change > 0 else (pair[1], pair[0]) for pair in (new, stays))

    def _new(self, size: int) -> Law:
        chance = self.mechanism.reaches(size, self.mechanism.threshold)
        return laws.FiniteLaw.of({"shown": chance, "hidden": 1 - chance})

    def companions(self) -> tuple[int, ...]:
        return (0, max(1, min(self.mechanism.threshold, 2_000)))

    def between(self, before: Sequence[Hashable], after: Sequence[Hashable], space: DatasetSpace) -> grammar.Case:
        ours, theirs = Counter(before), Counter(after)
        found = []
        for cell in {**ours, **theirs}:
            if cell is not None and ours[cell] != theirs[cell]:
                top = max(ours[cell], theirs[cell], self.mechanism.threshold)
                found.append((self._answer(ours[cell], top), self._answer(theirs[cell], top)))
        return tuple(found)

    def _answer(self, count: int, top: int) -> Law:
        """What is shown of a count; numbers from `top` on, among which the ratio of two laws is one, are one outcome."""
        if count == 0:
            return laws.FiniteLaw.point("hidden")
        least, reaches = self.mechanism.threshold, self.mechanism.reaches
        chances: dict[Hashable, Fraction] = {"hidden": 1 - reaches(count, least), "more": reaches(count, top)}
        chances |= {value: reaches(count, value) - reaches(count, value + 1) for value in range(least, top)}
        return laws.FiniteLaw.of(chances)


_COLOURS = Marginal(attributes=("colour",))


def _people() -> UnorderedRecords:
    return UnorderedRecords(attributes=(Attribute(name="colour", categories=("red", "blue")),), most=2)
