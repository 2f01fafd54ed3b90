"""Mechanisms that choose: the most common cell, the first count above a threshold, the keys that are common enough to be shown.

Their output depends on all counts at once. So their views bound the effect of a change from above by its largest possible value,
and from below by laws that are computed for two datasets.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
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
    ParameterError,
    Rational,
    Registered,
    Table,
    Text,
    UnorderedRecords,
    answers,
    define,
    errors,
    exact,
    grammar,
    late_module,
    laws,
    ln,
    number,
    tables,
)
from dpspec_noise.additive import check_members, counts_of_queries, true_answers

if TYPE_CHECKING:
    import numpy as np
    from flint import arb

    from dpspec.plugin import Randomness
else:
    np = late_module("numpy")

LISTED = 100_000
"""A choice is made among at most so many cells."""

MOST_ALIKE = 200
"""The largest number of further equal records that are tried with those that change, where a law is integrated."""

MOST_INTEGRATED = 64
"""With more cells the law of the first one above a threshold is not integrated for a pair."""

MOST_SUMMED, MOST_SUMMED_TERMS = 48, 2_000
"""With more cells, or more terms before they are gathered, the law of the largest noisy count is not exact but enclosed: it is a
sum of as many powers of e with as many digits, and comparing two such sums exactly takes minutes at a thousand cells."""

MOST_PLACES, FEW_PLACES = 48, 6
"""With geometric noise the law depends on the order of the cells, and takes work cubic in their number: it is exact for few of
them, enclosed for at most so many (0.3 s), and not computed for more."""

MOST_ENCLOSED = 10_000
"""With more cells the law of the largest noisy count is not listed: to compare two such laws takes seconds."""

BITS = 192
"""Probabilities that are enclosed are known with an error of about 2^-192."""


def response(loss: Number) -> tuple[Law, Law]:
    """The pair from which every pair of laws whose log-ratios lie within a loss can be simulated: randomised response
    (Kairouz, Oh and Viswanath 2015, Theorem 2)."""
    high = laws.exact_exponential(loss)
    return laws.finite_law({1: high, 0: 1}, normalise=True), laws.finite_law({1: 1, 0: high}, normalise=True)


def _span(counts: grammar.CountChanges) -> int:
    """The largest change of the difference of two counts, while all other counts are constant."""
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

    def answers_queries(self) -> bool:
        """As of `grammar.AnswersQueries`."""
        return True

    def check_table(self, table: tables.Countable, space: DatasetSpace) -> None:
        check_members(table, (self.query,), space)

    def counted(self, dataset: Dataset, space: DatasetSpace) -> dict[str, int]:
        """The counts by the labels of their cells."""
        known = space.dataset(dataset)
        return dict(zip(self.labels(space), self.query.answers(known, space), strict=True))

    def labels(self, space: DatasetSpace) -> tuple[str, ...]:
        """The labels of the cells, by which an output identifies them."""
        labels = self.query.labels(space)
        if len(set(labels)) < len(labels):
            rule, advice = "has two cells with one label, which no output distinguishes", "rename a category"
            raise IncompatibleBlocksError(f"mechanism {self.name}", rule, advice, value=str(self.query))
        return labels

    def released(self, place: int, space: DatasetSpace) -> Table:
        """The released table: the chosen cell, without a number."""
        cells = answers.cells_of(self.query, space).rows([place])
        return answers.answer_table([cells], [0], hidden=np.ones(1, dtype=np.bool_), status=answers.CHOSEN)


class _OneCell(_OfOneTable):
    """What the mechanisms that always release one cell of a table share."""

    def check(self, space: DatasetSpace) -> None:
        super().check(space)
        if not self.labels(space):
            rule, advice = "chooses among no cells: none meets the conditions", "give each attribute in `where` a category"
            raise IncompatibleBlocksError(f"mechanism {self.name}", rule, advice, value=str(self.query))


# --- the exponential mechanism --------------------------------------------------------------------


@define
class ExponentialMechanism(_OneCell):
    """One cell of a table is chosen, with P(c) proportional to e^(rate n_c) (McSherry and Talwar 2007).

    With rate epsilon/(2 Delta) it satisfies epsilon-DP for counts that change by Delta at most, with rate epsilon/Delta where
    they all change in one direction, as for one added record. It equals report-noisy-max with Gumbel noise.

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

    def counts_read(self, attributes: Sequence[Attribute], space: DatasetSpace) -> tuple[Marginal, ...] | None:
        return counts_of_queries((self.query,), attributes, space)

    def release(self, table: tables.Countable, space: DatasetSpace, source: Randomness) -> Table:
        """The chosen cell, drawn exactly: with bits read on until they decide."""
        self.check(space)
        return self.released(_drawn(self.rate, true_answers(table, self.query, space), source), space)

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


def _drawn(rate: Number, counts: Sequence[int], source: Randomness) -> int:
    """A place with probability proportional to e^(rate n): a uniform number is read on until it lies in one part.

    The weights are enclosed. Exact ones have as many digits as their count, and an error about them would show a count.
    """
    from flint import arb, ctx

    low, bits, top = 0, 0, max(counts)
    while True:
        low, bits = low << 64 | int(source.words(1)[0]), bits + 64
        with ctx.workprec(bits + 128):
            known = {count: (rate.enclose(bits + 128) * (count - top)).exp() for count in {*counts}}
            parts = [known[count] for count in counts]
            total, ends = sum(parts, arb(0)), arb(0)
            for place, part in enumerate(parts):
                begin, ends = ends, ends + part
                scale = arb(1 << bits)
                if (begin / total * scale).upper() <= low and (
                    place + 1 == len(parts) or (ends / total * scale).lower() >= low + 1
                ):
                    return place


# --- report noisy max -----------------------------------------------------------------------------


NOISES = ("laplace", "exponential", "geometric")

_Sum = Mapping[tuple[int, Fraction], Fraction]
"""sum of a y^k e^(rate s), by (k, s): the integrands, with y = e^(rate z) or a uniform number."""


@define
class NoisyMax(_OneCell):
    """The cell whose noisy count is the largest: report noisy max.

    Counts that all change in one direction, by at most Delta, cost rate Delta; others cost the rate times the span of the
    changes. For given noise of the others a cell is chosen from some threshold of its own noise on, and the change shifts that
    by no more (Dwork and Roth 2014, Claim 3.9; Ding, Kifer, Sayed, Steinke, Wang, Xiao and Zhang 2021). With exponential noise it
    is permute-and-flip (McKenna and Sheldon 2020), and some pair attains the bound; with the others pairs come as near as one
    likes.

    Args:
        query: the table.
        noise: `laplace`, density rate/2 e^(-rate |w|); `exponential`, density rate e^(-rate w) for w >= 0; or `geometric`, on the
            integers, P(w) proportional to e^(-rate |w|). Of equal noisy counts the first in the order of the table is chosen.
        rate: the loss in nats for each count, 1/scale of the noise: r + ln(q), r and q rational; rational for `laplace`.

    >>> people = UnorderedRecords(attributes=(Attribute(name="colour", categories=("red", "blue")),))
    >>> for noise, rate in (("exponential", "ln(2)"), ("geometric", "ln(2)")):
    ...     NoisyMax(query=Marginal(attributes=("colour",)), noise=noise, rate=rate).law((("blue",),), people)
    FiniteLaw({'red': 1/4, 'blue': 3/4})
    FiniteLaw({'red': 11/27, 'blue': 16/27})
    """

    name: ClassVar[str] = "noisy-max"

    query: Annotated[Invariant, Registered("invariants")]
    noise: Annotated[str, Text(NOISES)]
    rate: Annotated[Number, Exact(0, "inf", open_low=True, open_high=True)]

    def __attrs_post_init__(self) -> None:
        laws.exact_exponential(self.rate)  # refuses what has no exact powers
        if self.noise == "laplace" and not self.rate.is_rational:
            raise ParameterError("rate", "must be rational for laplace noise, so that the law is exact", value=str(self.rate))

    def law(self, dataset: Dataset, space: DatasetSpace) -> Law:
        counted = self.counted(dataset, space)
        return _law_of_counts(self, tuple(counted.items()))

    def probabilities(self, counts: Sequence[int]) -> list[CellProbability]:
        """P(c) of each cell, exactly where that takes few terms, and otherwise as an enclosure.

        Raises:
            NoFormulaError: more cells than `MOST_ENCLOSED`, or `MOST_PLACES` with geometric noise.
        """
        most = MOST_PLACES if self.noise == "geometric" else MOST_ENCLOSED
        if len(counts) > most:
            rule = f"is computed for at most {most:,} cells with {self.noise} noise"
            raise errors.NoFormulaError(
                "law of the largest noisy count", rule, "take a table with fewer cells", value=len(counts)
            )
        if self.noise == "geometric":
            return _probabilities_by_place(self, tuple(counts))
        known = _probabilities_by_count(self, frozenset(Counter(counts).items()))
        return [known[count] for count in counts]

    def _exponential(self, own: int, counts: Mapping[int, int]) -> laws.Exponential:
        """p integral over u in [0, 1] of the product of (1 - p_j u) over the others, p_j = e^(rate (n_j - max n))."""
        top, integrand = max(counts), _ONE
        for count, many in counts.items():
            integrand = _multiplied(integrand, _binomial(1, Fraction(count - top), Fraction(-1), many - (count == own)))
        return self._value(_gathered(((0, s + own - top), a / (k + 1)) for (k, s), a in integrand.items()))

    def _laplace(self, own: int, counts: Mapping[int, int]) -> laws.Exponential:
        """The integral of f(z - n) and the product of F(z - n_j) over the others, between any two neighbouring counts."""
        ends = [None, *sorted(counts), None]
        found: list[tuple[Fraction, Fraction]] = []
        for low, high in itertools.pairwise(ends):
            is_right = low is not None and low >= own
            integrand: _Sum = {(-1, Fraction(own)) if is_right else (1, Fraction(-own)): Fraction(1, 2)}
            for count, many in counts.items():
                others = many - (count == own)
                if low is not None and count <= low:
                    factor = _binomial(-1, Fraction(count), Fraction(-1, 2), others)
                else:
                    factor = {(others, Fraction(-count * others)): Fraction(1, 2**others)}
                integrand = _multiplied(integrand, factor)
            for (k, s), a in integrand.items():
                if k == 0 and low is not None and high is not None:
                    found.append((s, a * self.rate.as_fraction() * (high - low)))
                elif k:
                    found += [(s + k * high, a / k)] if high is not None else []
                    found += [(s + k * low, -a / k)] if low is not None else []
        return self._value(_gathered(((0, s), a) for s, a in found))

    def _geometric(self, own: int, counts: Sequence[int], r: Any) -> Any:
        """The sum over t of P(n + W = t) times the product of P(n_j + W < t) over cells before, of P(n_j + W <= t) later.

        Args:
            own, counts: the place of the cell, and the counts of all cells.
            r: e^(-rate), as an element of Q(e^x) or as a ball; so is the result.
        """
        low, high, found = min(counts), max(counts), 0 * r
        for t in range(low, high + 2):
            found += self._chosen_at(own, counts, t, r)
        below = self._chosen_at(own, counts, low - 1, r)  # from here on down each is r^cells of the one above
        found += below / (1 - r ** len(counts))
        # above, each is (1 - r)/(1 + r) r^(t - n) prod_j (1 - r^(t - n_j + a_j)/(1 + r)), a polynomial in r^t, for t >= high + 2
        zero = 0 * r
        series: dict[int, Any] = {1: r ** (high + 2 - counts[own]) * (1 - r) / (1 + r)}
        for place, count in enumerate(counts):
            if place != own:
                by = -(r ** (high + 2 - count + (place > own))) / (1 + r)
                series = {k: series.get(k, zero) + series.get(k - 1, zero) * by for k in range(1, max(series) + 2)}
        return sum((a / (1 - r**k) for k, a in series.items()), found)

    def _chosen_at(self, own: int, counts: Sequence[int], t: int, r: Any) -> Any:
        """P(the cell is chosen, with a noisy count of t)."""
        found = (1 - r) / (1 + r) * r ** abs(t - counts[own])
        for place, count in enumerate(counts):
            if place != own:
                most = t - count - (place < own)  # the largest noise of the other
                found *= 1 - r ** (most + 1) / (1 + r) if most >= 0 else r**-most / (1 + r)
        return found

    def _value(self, terms: _Sum) -> laws.Exponential:
        return laws.total(laws.exact_exponential(self.rate * number(s)) * a for (_, s), a in terms.items())

    def structure(self, space: DatasetSpace) -> grammar.Structure | None:
        self.check(space)
        return grammar.Structure(views=(NoisyLargest(cast("Marginal", self.query), self, len(self.query.labels(space))),))

    def counts_read(self, attributes: Sequence[Attribute], space: DatasetSpace) -> tuple[Marginal, ...] | None:
        return counts_of_queries((self.query,), attributes, space)

    def release(self, table: tables.Countable, space: DatasetSpace, source: Randomness) -> Table:
        """The chosen cell; noise on the line is drawn bit by bit, until it decides."""
        self.check(space)
        counts = true_answers(table, self.query, space)
        if self.noise == "geometric":
            from dpspec_noise.gaussian import Geometric

            noise = Geometric(queries=(self.query,), epsilon=self.rate).draw(len(counts), source)
            noisy = [count + int(w) for count, w in zip(counts, noise, strict=True)]
            place = noisy.index(max(noisy))
        else:
            place = self._largest(counts, source)
        return self.released(place, space)

    def _largest(self, counts: Sequence[int], source: Randomness) -> int:
        """The place of the largest n + F^-1(U), each U uniform, of which more bits are read as long as two may be the largest."""
        from flint import arb, ctx

        words, bits = dict.fromkeys(range(len(counts)), 0), 0
        while True:
            fresh = source.words(len(words))
            words = {place: word << 64 | int(more) for (place, word), more in zip(words.items(), fresh, strict=True)}
            bits += 64
            with ctx.workprec(bits + 64):
                scale = arb(1 << bits)
                ends = {
                    place: [counts[place] + self._quantile(arb(word + side) / scale) for side in (0, 1)]
                    for place, word in words.items()
                }
                highest = functools.reduce(arb.max, (low.lower() for low, _ in ends.values()))
            words = {place: word for place, word in words.items() if ends[place][1].upper() >= highest}
            if len(words) == 1:
                return next(iter(words))

    def _quantile(self, u: arb) -> arb:
        """F^-1 of the noise at a number from 0 to 1."""
        from flint import arb, ctx

        rate = self.rate.enclose(int(ctx.prec))
        rest = 1 - u
        if self.noise == "exponential":
            return -rest.log() / rate if rest > 0 else arb.pos_inf()
        if u <= arb("0.5"):
            return (2 * u).log() / rate if u > 0 else arb.neg_inf()
        return -(2 * rest).log() / rate if rest > 0 else arb.pos_inf()

    @classmethod
    def examples(cls) -> Iterable[tuple[NoisyMax, DatasetSpace]]:
        """What the conformance kit checks it with."""
        for noise in NOISES:
            yield cls(query=_COLOURS, noise=noise, rate=number("1/2")), _people()


CellProbability = laws.Exponential | tuple[Fraction, Fraction]
"""A probability: an exact number, or its bounds from below and from above."""


@functools.lru_cache(maxsize=256)
def _law_of_counts(mechanism: NoisyMax, counted: tuple[tuple[Hashable, int], ...]) -> Law:
    """The law on counts of cells; the same object for the same counts, so that enclosed laws are known to be equal."""
    return _listed_law(dict(zip(dict(counted), mechanism.probabilities([count for _, count in counted]), strict=True)))


def _listed_law(probabilities: Mapping[Hashable, CellProbability]) -> Law:
    """The law with these probabilities: exact where all of them are."""
    known = {outcome: probability for outcome, probability in probabilities.items() if not isinstance(probability, tuple)}
    if len(known) == len(probabilities):
        return laws.finite_law(known)
    return laws.EnclosedLaw({outcome: _bounds(probability) for outcome, probability in probabilities.items()})


def _bounds(probability: CellProbability) -> tuple[Fraction, Fraction]:
    if isinstance(probability, tuple):
        return probability
    known = probability.enclose(BITS)
    return max(exact.dyadic(known.lower()), Fraction(0)), min(exact.dyadic(known.upper()), Fraction(1))


@functools.lru_cache(maxsize=256)
def _probabilities_by_count(mechanism: NoisyMax, held: frozenset[tuple[int, int]]) -> Mapping[int, CellProbability]:
    """P(c) of a cell by its count, where laplace or exponential noise is added: other datasets have the same counts elsewhere."""
    counts = dict(sorted(held))
    if sum(counts.values()) > MOST_SUMMED or math.prod(many + 1 for many in counts.values()) > MOST_SUMMED_TERMS:
        enclosed = _enclosed_laplace if mechanism.noise == "laplace" else _enclosed_exponential
        return {count: enclosed(mechanism.rate, count, counts) for count in counts}
    probability = mechanism._laplace if mechanism.noise == "laplace" else mechanism._exponential
    return {count: probability(count, counts) for count in counts}


@functools.lru_cache(maxsize=256)
def _probabilities_by_place(mechanism: NoisyMax, counts: tuple[int, ...]) -> list[CellProbability]:
    """P(c) of each cell with geometric noise."""
    from flint import ctx

    places = range(len(counts))
    if len(counts) <= FEW_PLACES:
        r = laws.exact_exponential(-mechanism.rate)
        return [mechanism._geometric(place, counts, r) for place in places]
    precision = BITS + 8 * len(counts)  # terms of alternating sums exceed the sum by less than 4 bits for each cell
    with ctx.workprec(precision):
        ratio = laws.exact_exponential(-mechanism.rate).enclose(precision)
        return [_ends(mechanism._geometric(place, counts, ratio)) for place in places]


def _enclosed_laplace(rate: Number, own: int, counts: Mapping[int, int]) -> tuple[Fraction, Fraction]:
    """P(c) of a cell with laplace noise: the integral of f(z - n) and the product of F(z - n_j) over the others.

    The integrand is entire between two neighbouring counts, where Arb's quadrature encloses it. Where the noise of the cell
    is farther out than `far` it has less than 2^-BITS of its probability on each side.
    """
    from flint import arb, ctx

    far = math.ceil(BITS * Fraction(7, 10) / rate.as_fraction())  # ln 2 < 7/10
    ends = sorted({*counts, min(counts) - far, max(counts) + far})
    with ctx.workprec(BITS + 64):
        speed, total = rate.enclose(BITS + 64), arb(0)
        for low, high in itertools.pairwise(ends):
            total += _piece(speed, own, counts, low, high)
        return _ends(total + arb(2) ** -BITS + arb(0, arb(2) ** -BITS))


def _piece(speed: arb, own: int, counts: Mapping[int, int], low: int, high: int) -> arb:
    """The part of the integral between two neighbouring ends."""
    from flint import acb, arb

    def integrand(z: acb, _analytic: bool) -> acb:
        rises, falls = (speed * z).exp(), (-speed * z).exp()
        value = speed / 2 * (falls * (speed * own).exp() if low >= own else rises * (-speed * own).exp())
        for count, many in counts.items():
            others = many - (count == own)
            if others:
                below = 1 - falls * (speed * count).exp() / 2 if low >= count else rises * (-speed * count).exp() / 2
                value *= below**others
        return value

    return acb.integral(integrand, acb(low), acb(high), abs_tol=arb(2) ** (-BITS - 16)).real


def _enclosed_exponential(rate: Number, own: int, counts: Mapping[int, int]) -> tuple[Fraction, Fraction]:
    """P(c) of a cell with exponential noise: p times the integral over u in [0, 1] of the product of (1 - p_j u) over the others,
    p_j = e^(rate (n_j - max n))."""
    from flint import acb, arb, ctx

    top = max(counts)
    with ctx.workprec(BITS + 64):
        steps = {count: laws.exact_exponential(rate * (count - top)).enclose(BITS + 64) for count in counts}

        def integrand(u: acb, _analytic: bool) -> acb:
            value = acb(1)
            for count, many in counts.items():
                value *= (1 - steps[count] * u) ** (many - (count == own))
            return value

        found = acb.integral(integrand, acb(0), acb(1), abs_tol=arb(2) ** (-BITS - 16)).real
        return _ends(steps[own] * found)


def _ends(value: arb) -> tuple[Fraction, Fraction]:
    """The bounds of a probability that is enclosed by a ball."""
    return max(exact.dyadic(value.lower()), Fraction(0)), min(exact.dyadic(value.upper()), Fraction(1))


_ONE: _Sum = {(0, Fraction(0)): Fraction(1)}


def _gathered(terms: Iterable[tuple[tuple[int, Fraction], Fraction]]) -> _Sum:
    found: dict[tuple[int, Fraction], Fraction] = {}
    for key, a in terms:
        found[key] = found.get(key, Fraction(0)) + a
    return {key: a for key, a in found.items() if a}


def _multiplied(one: _Sum, other: _Sum) -> _Sum:
    return _gathered(((k + m, s + t), a * b) for (k, s), a in one.items() for (m, t), b in other.items())


def _binomial(k: int, s: Fraction, a: Fraction, power: int) -> _Sum:
    """(1 + a y^k e^(rate s))^power."""
    return {(k * n, s * n): math.comb(power, n) * a**n for n in range(power + 1)}


@attrs.frozen
class NoisyLargest(grammar.View):
    """The cell with the largest noisy count.

    Args:
        table: the cells, in order.
        mechanism: the noise.
        cells: how many cells there are.
    """

    table: Marginal
    mechanism: NoisyMax
    cells: int

    def data(self) -> dict[str, Any]:
        noise = {"noise_name": self.mechanism.noise, "rate": str(self.mechanism.rate), "cells": self.cells}
        return {**super().data(), "kind": "NoisyLargest", **noise}

    @property
    def tells_more_by_more(self) -> bool:
        return True

    def changed(self, counts: grammar.CountChanges) -> tuple[grammar.Case, ...]:
        """The threshold that the noise of a cell has to pass moves by the span of the changes at most, as do their log-ratios."""
        span = _span(counts) if self.cells > 1 else 0
        return ((response(self.mechanism.rate * span),) if span else (),)

    def companions(self) -> tuple[int, ...]:
        """So many records in one cell that hardly another one is chosen."""
        far = (16 + math.log(self.cells)) / float(self.mechanism.rate)
        return (0, 2, min(2_000 if self.mechanism.noise != "geometric" else 64, math.ceil(far)))

    def between(self, before: Sequence[Hashable], after: Sequence[Hashable], space: DatasetSpace) -> grammar.Case | None:
        counts = [
            Counter(" x ".join(map(str, cell)) or "total" for cell in side if isinstance(cell, tuple)) for side in (before, after)
        ]
        # under other noise cells that are alike are equally likely, and any of the others represents all of them
        places = self.mechanism.noise == "geometric"
        if self.cells > (MOST_PLACES if places else LISTED):
            return None
        labels = list(self.mechanism.query.labels(space)) if places else list({**counts[0], **counts[1]})
        found = [_representative(self.mechanism, labels, [count[label] for label in labels], self.cells) for count in counts]
        return ((found[0], found[1]),)


def _representative(mechanism: NoisyMax, labels: Sequence[str], listed: Sequence[int], cells: int) -> Law:
    """The law of the chosen cell, where cells without records that are not listed are one outcome."""
    others = cells - len(labels)
    if not others:
        return _law_of_counts(mechanism, tuple(zip(labels, listed, strict=True)))
    return _law_of_merged(mechanism, tuple(zip(labels, listed, strict=True)), others)


@functools.lru_cache(maxsize=256)
def _law_of_merged(mechanism: NoisyMax, counted: tuple[tuple[str, int], ...], others: int) -> Law:
    held = Counter(count for _, count in counted) + Counter({0: others})
    known = _probabilities_by_count(mechanism, frozenset(held.items()))
    probabilities: dict[Hashable, CellProbability] = {label: known[count] for label, count in counted}
    each = known[0]
    if isinstance(each, tuple):
        probabilities["any other"] = (each[0] * others, min(each[1] * others, Fraction(1)))
    else:
        probabilities["any other"] = each * others
    return _listed_law(probabilities)


# --- sparse vector --------------------------------------------------------------------------------


@define
class AboveThreshold(_OfOneTable):
    """The first cell whose noisy count is at or above a noisy threshold, counts with Lap(query scale), threshold with
    Lap(threshold scale): the sparse vector technique with one positive answer (Dwork et al. 2009; Lyu, Su and Li 2017).

    With counts that change by Delta at most the loss is at most Delta (1/threshold_scale + 2/query_scale), and
    Delta (1/threshold_scale + 1/query_scale) where all change in one direction. Cells of one table do not change all at once: one
    record added costs 1/query_scale, one replaced 2/query_scale, whatever the threshold has.

    Args:
        query: the table whose cells are tested in their order.
        threshold: the count that each answer is compared with.
        threshold_scale, query_scale: the scales of the noise, in counts.
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
        """The sum of what each count can do, or the threshold is shifted by the largest change, and one count by the span.

        Given the noisy threshold, a count enters the probability of an outcome by the probability that it is below it, or not
        below it, or not at all; a shift of Laplace noise changes either by e^(shift / query scale) at most.
        """
        if not counts:
            return ((),)
        most, one_way = max(map(abs, counts)), min(counts) >= 0 or max(counts) <= 0
        by_count, scale = most if one_way else _span(counts), self.mechanism.query_scale
        loss = min(sum(map(abs, counts)) / scale, most / self.mechanism.threshold_scale + by_count / scale)
        return ((response(number(loss)),),)

    def companions(self) -> tuple[int, ...]:
        """So many records in one cell that its count lies below the noisy threshold by the noise of the count alone."""
        mechanism = self.mechanism
        far = math.ceil(abs(mechanism.threshold) + 8 * max(mechanism.query_scale, mechanism.threshold_scale))
        return (0, min(far, MOST_ALIKE))

    def between(self, before: Sequence[Hashable], after: Sequence[Hashable], space: DatasetSpace) -> grammar.Case | None:
        labels = self.mechanism.query.labels(space)  # a condition on records leaves all cells, some without records
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
    """Noisy counts of the cells that occur, shown if they are at or above a threshold: for keys that are not known beforehand.

    t_c = n_c + W_c for n_c > 0, with two-sided geometric W, shown if t_c >= threshold; a cell with n_c = 0 is never shown. That
    one record shows a new key has probability P(1 + W >= threshold), so no claim without a delta holds (Korolova, Kenthapadi,
    Mishra and Ntoulas 2009).

    Args:
        query: the table of keys.
        ratio: r of the noise, the ratio of the probabilities of consecutive values, P(w) = (1-r)/(1+r) r^|w|.
        threshold: the least noisy count that is shown.
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

    def counts_read(self, attributes: Sequence[Attribute], space: DatasetSpace) -> tuple[Marginal, ...] | None:
        return counts_of_queries((self.query,), attributes, space)

    def release(self, table: tables.Countable, space: DatasetSpace, source: Randomness) -> Table:
        """The keys that are shown, with their noisy counts."""
        from dpspec_noise.gaussian import Geometric

        self.check(space)
        counts = np.asarray(true_answers(table, self.query, space), dtype=np.int64)
        kept = np.flatnonzero(counts > 0)
        noisy = counts[kept] + Geometric(queries=(self.query,), ratio=self.ratio).draw(len(kept), source)
        shown = noisy >= self.threshold
        return answers.answer_table([answers.cells_of(self.query, space).rows(kept[shown])], noisy[shown])

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
        """Each cell that changes appears (or disappears), or has another noisy count, from which the shown value is computed."""
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
        probability = self.mechanism.reaches(size, self.mechanism.threshold)
        return laws.FiniteLaw.of({"shown": probability, "hidden": 1 - probability})

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
        """The shown value of a count; numbers from `top` on, for which the ratio of two laws is constant, are one outcome."""
        if count == 0:
            return laws.FiniteLaw.point("hidden")
        least, reaches = self.mechanism.threshold, self.mechanism.reaches
        probabilities: dict[Hashable, Fraction] = {"hidden": 1 - reaches(count, least), "more": reaches(count, top)}
        probabilities |= {value: reaches(count, value) - reaches(count, value + 1) for value in range(least, top)}
        return laws.FiniteLaw.of(probabilities)


_COLOURS = Marginal(attributes=("colour",))


def _people() -> UnorderedRecords:
    return UnorderedRecords(attributes=(Attribute(name="colour", categories=("red", "blue")),), most=2)
