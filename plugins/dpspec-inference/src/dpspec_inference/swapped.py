"""The model `swapped-table`: counts of the confidential table from a swapped one, unbiased, with standard errors.

In a stratum of m records let sigma be the permutation of a swap. Its law does not change when records are renamed, so that a
record keeps its values with one probability s and gets those of each other record with the probability a = (1 - s)/(m - 1). For a
set R of records and a set C of swap values, with N of R's records having a value in C, r = |R| and c values in C in the stratum,

    E T = s N + a (r c - N),          N^ = (T - a r c)/(s - a)

for the released count T. r and c are published: the swap changes neither. The variance of T is a sum over pairs of records of R,
whose probabilities depend on the pattern of the pair alone: both stay, one stays, they exchange, or move elsewhere. With the
five probabilities of `patterns`, and N in place of the estimate, the variance of N^ is Var T / (s - a)^2. Strata are independent.
(Bailie, Gong and Meng 2023 state the algorithms.)
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import attrs
import numpy as np
from dpspec_census import DerangementSwapping, PairSwapping, PermutationSwapping, SwapScheme
from scipy.stats import binom, norm

from dpspec.plugin import Items, Mechanism, Rational, Table, Text, define, errors, is_a, tables
from dpspec_inference.model import Estimate, Inference, InferenceModel, ReleasedData, misfit, unknown_name

if TYPE_CHECKING:
    from dpspec.plugin import Floats

KINDS: dict[str, type[Mechanism]] = {
    "derange": DerangementSwapping,
    "permute": PermutationSwapping,
    "pair": PairSwapping,
}
NEEDS = "use derangement-swapping, permutation-swapping or pair-swapping"
MOST_CELLS = 100_000
EXACT_DERANGEMENTS = 25
"""From so many selected records on, k (k - 1) D(k - 2)/D(k) is 1 to the last digit of a double."""


@attrs.frozen(kw_only=True)
class Patterns:
    """The probabilities that a swap of m records does one of five things to two records i and j, in order.

    Args:
        size: m.
        stays: i keeps its values.
        both_stay: both keep theirs.
        one_stays: i keeps its own, j does not.
        exchange: i gets those of j, and j those of i.
        chain: i gets those of j, and j those of a third record; the same for the other way round.
        apart: both get those of further records.
    """

    size: int
    stays: float
    both_stay: float
    one_stays: float
    exchange: float
    chain: float
    apart: float

    @property
    def moves_to(self) -> float:
        """a: the probability that a record gets the values of one other record."""
        return (1 - self.stays) / (self.size - 1) if self.size > 1 else 0.0


@lru_cache(maxsize=4096)
def patterns(kind: str, size: int, rate: Fraction) -> Patterns:
    """The five probabilities of a swap algorithm for a stratum of a size.

    With k selected records, which move as a uniform derangement, permutation or matching: i and j are among them with
    probability k (k - 1)/(m (m - 1)).

    >>> found = patterns("derange", 2, Fraction(1, 5))
    >>> round(found.stays, 12) == round(16 / 17, 12), round(found.exchange, 12) == round(1 / 17, 12)
    (True, True)
    """
    chosen = np.arange(size + 1)
    masses = binom.pmf(chosen, size, float(rate))
    if kind == "derange" and size >= 1:
        masses[1] = 0.0
    total = masses.sum()
    if not total > 0:
        raise errors.UndeterminedModelError("swap", "always redraws: one record alone is selected", "state another rate")
    masses /= total
    inner = [_of_selected(kind, int(k)) for k in chosen if masses[k] > 0]
    weights = masses[masses > 0]
    counts = chosen[masses > 0].astype(float)
    stays_if, both_if, exchange_if, chain_if = (np.array(column) for column in zip(*inner, strict=True))
    if size < 2:
        return Patterns(size=size, stays=1.0, both_stay=1.0, one_stays=0.0, exchange=0.0, chain=0.0, apart=0.0)
    pairs = size * (size - 1)
    stays = float((weights * ((size - counts) + counts * stays_if)).sum() / size)
    left = size - counts
    two, mixed, none = counts * (counts - 1) / pairs, counts * left / pairs, left * (left - 1) / pairs
    both = float((weights * (none + 2 * mixed * stays_if + two * both_if)).sum())
    exchange, chain = float((weights * two * exchange_if).sum()), float((weights * two * chain_if).sum())
    one = stays - both
    return Patterns(
        size=size, stays=stays, both_stay=both, one_stays=one, exchange=exchange, chain=chain,
        apart=1 - both - 2 * one - exchange - 2 * chain,
    )  # fmt: skip


@lru_cache(maxsize=1 << 16)
def _of_selected(kind: str, k: int) -> tuple[float, float, float, float]:
    """Of k selected records: one stays; both of two stay; they exchange; i gets j's, which gets those of a third one."""
    if k < 2:  # one record alone keeps its values
        return 1.0, 1.0, 0.0, 0.0
    if kind == "permute":
        two = 1 / (k * (k - 1))
        # sigma(j) is uniform over what is left once sigma(i) = j: i with one share of k - 1, j itself never, k - 2 others
        return 1 / k, two, two, (k - 2) * two
    if kind == "derange":
        exchange = _derangements(k - 2) / _derangements(k) if k < EXACT_DERANGEMENTS else 1 / (k * (k - 1))
        return 0.0, 0.0, exchange, 1 / (k - 1) - exchange
    if k % 2 == 0:
        return 0.0, 0.0, 1 / (k - 1), 0.0
    return 1 / k, 0.0, 1 / k, 0.0  # a uniform one of them is kept; two of the others are matched with (k - 2)/k * 1/(k - 2)


def _derangements(k: int) -> int:
    found = [1, 0]
    for i in range(2, k + 1):
        found.append((i - 1) * (found[-1] + found[-2]))
    return found[k]


def variance_of_count(law: Patterns, held: float, rows: float, columns: float) -> float:
    """Var T for a table cell: of `rows` records in R, `held` have a value in C, and `columns` records of the stratum do.

    Sum over i and j in R of P(sigma(i) in C, sigma(j) in C): with e = [value of i in C], each term is a product of counts.
    """
    n, r, c, m = held, rows, columns, law.size
    one = law.stays * n + law.moves_to * (r * c - n)
    if m < 2:
        return 0.0
    # ordered pairs i != j of R, by whether their own values lie in C
    in_in, in_out, out_out = n * (n - 1), n * (r - n), (r - n) * (r - n - 1)
    total = law.both_stay * in_in
    if m > 2:
        third = 1 / (m - 2)
        # i stays and j gets a third one's, or the other way round
        total += 2 * law.one_stays * third * (in_in * (c - 2) + in_out * (c - 1))
        # i gets j's values, and j those of a third one
        total += 2 * law.chain * third * (in_in * (c - 2) + in_out * (c - 1))
    total += law.exchange * in_in
    if m > 3:
        fourth = 1 / ((m - 2) * (m - 3))
        total += law.apart * fourth * (
            in_in * (c - 2) * (c - 3) + 2 * in_out * (c - 1) * (c - 2) + out_out * c * (c - 1)
        )  # fmt: skip
    return max(one + total - one**2, 0.0)


@define
class SwappedTable(InferenceModel):
    """Counts of the confidential table from a swapped one: unbiased, with standard errors.

    Args:
        attributes: of the estimated table; without them the swapped and the held attributes.
        level: of the normal intervals.
    """

    name: ClassVar[str] = "swapped-table"
    title: ClassVar[str] = "counts of the confidential table, from a swapped one"
    source: ClassVar[str] = "Bailie, Gong and Meng 2023, permutation swapping"

    attributes: Annotated[tuple[str, ...], Items(Text())] = ()
    level: Annotated[Fraction, Rational(0, 1, open_low=True, open_high=True)] = Fraction(19, 20)

    def infer(self, released: ReleasedData) -> Inference:
        kind, mechanism = self._kind(released)
        scheme: SwapScheme = mechanism.scheme()
        space = released.spec.space
        names = [a.name for a in space.attributes_of(mechanism.unit)]
        wanted = self.attributes or (*scheme.swap, *scheme.rest(space))
        for name in wanted:
            if name not in names:
                raise unknown_name("attribute", name, names)
        table = released.table_with(*dict.fromkeys((*scheme.match, *wanted)))
        cells, strata = self.estimated(kind, mechanism, scheme, table, wanted)
        reach = float(norm.ppf((1 + float(self.level)) / 2))
        estimates = tuple(
            Estimate(
                name=", ".join(cell), value=value, variance=variance, over="the swap",
                interval=(value - reach * math.sqrt(variance), value + reach * math.sqrt(variance)),
            )
            for cell, (value, variance) in cells
        )
        return Inference(
            law=f"{getattr(mechanism, 'name', kind)} at rate {mechanism.swap_rate}"
            + (" and the rates of its strata" if mechanism.rates else ""),
            estimates=estimates,
            facts=(("records", Fraction(len(table))), ("strata", Fraction(strata))),
            level=self.level,
            method="moments of the stated law of permutations; the variances at the estimates",
            error="double precision; the estimates are unbiased, the intervals normal, so of approximate level",
            assumptions=("the totals by stratum of what is held and of what is swapped are those of the confidential table",),
        )

    def _kind(self, released: ReleasedData) -> tuple[str, Any]:
        for kind, cls in KINDS.items():
            if is_a(released.mechanism, cls):
                return kind, released.mechanism
        raise misfit(self.name, released.mechanism, NEEDS)

    def estimated(
        self, kind: str, mechanism: Any, scheme: SwapScheme, table: Table, wanted: Sequence[str]
    ) -> tuple[list[tuple[tuple[str, ...], tuple[float, float]]], int]:
        """For each cell of the table its estimate and variance, and the number of strata.

        Raises:
            UndeterminedModelError: in some stratum of more than one record, staying is as likely as any other record's values.
        """
        swapped = [name for name in wanted if name in scheme.swap]
        held = [name for name in wanted if name not in scheme.swap]
        if table.domain(wanted) > MOST_CELLS:
            raise errors.TableError("attributes", f"make more than {MOST_CELLS:,} cells", "name fewer")
        columns, rows = table.key(swapped), table.key(held)
        strata = table.key(scheme.match)
        width, height = table.domain(swapped), table.domain(held)
        rates = mechanism.rates_of(table)
        value, variance = np.zeros((height, width)), np.zeros((height, width))
        order = np.argsort(strata, kind="stable")
        ends = np.flatnonzero(np.diff(strata[order])) + 1
        pieces = np.split(order, ends)
        for piece in pieces:
            rate = rates.own.get(int(strata[piece[0]]), rates.default)
            law = patterns(kind, len(piece), rate)
            flat = np.bincount(rows[piece] * width + columns[piece], minlength=height * width)
            counts = flat.reshape(height, width).astype(float)
            if not swapped or not held:  # a published total
                value += counts
                continue
            r, c = counts.sum(axis=1, keepdims=True), counts.sum(axis=0, keepdims=True)
            gap = law.stays - law.moves_to
            live = np.argwhere((r > 0) & (c > 0))
            if len(piece) > 1 and abs(gap) < 1e-12:
                rule = "is not determined by the release: in a stratum, keeping its values is as likely as getting another's"
                raise errors.UndeterminedModelError("table", rule, "release with another swap rate")
            value += (counts - law.moves_to * r * c) / gap
            for i, j in live:
                known = float(np.clip((counts[i, j] - law.moves_to * r[i, 0] * c[0, j]) / gap, 0, min(r[i, 0], c[0, j])))
                variance[i, j] += variance_of_count(law, known, float(r[i, 0]), float(c[0, j])) / gap**2
        return _labelled(table, wanted, scheme, value, variance), len(pieces)

    @classmethod
    def examples(cls) -> Iterator[tuple[InferenceModel, ReleasedData]]:
        import dpspec as dp

        people = [("county", ["n", "s"]), ("tenure", ["o", "r"]), ("size", ["1", "2"])]
        document = dp.build(
            space={"type": "records", "unit": "household", "attributes": [{"name": n, "categories": c} for n, c in people]},
            multiverse={"invariants": [
                {"type": "marginal", "unit": "household", "attributes": ["size", other]} for other in ("tenure", "county")
            ]},
            input_divergence={"type": "hamming", "unit": "household"},
            output_divergence={"type": "mult"},
            budget={"type": "swapping", "match": ["size"], "swap_rate": "1/4", "form": "s23-full", "unit": "household"},
            mechanism={
                "type": "derangement-swapping", "match": ["size"], "swap": ["county"], "swap_rate": "1/4", "unit": "household",
            },
        )  # fmt: skip
        assert document.mechanism is not None  # noqa: S101 - stated above
        attributes = tuple(document.spec.space.attributes_of("household"))
        rows = [(i % 2, (i // 2) % 3 == 0, i % 5 < 3) for i in range(60)]
        codes = {a.name: tables.compact(np.array([int(row[k]) for row in rows]), a.size) for k, a in enumerate(attributes)}
        table = Table(attributes=attributes, codes=codes)
        yield cls(), ReleasedData(spec=document.spec, mechanism=document.mechanism, tables=(table,))


def _labelled(
    table: Table, wanted: Sequence[str], scheme: SwapScheme, value: Floats, variance: Floats
) -> list[tuple[tuple[str, ...], tuple[float, float]]]:
    swapped = [name for name in wanted if name in scheme.swap]
    held = [name for name in wanted if name not in scheme.swap]
    lists = {name: [str(v) for v in table.attribute(name).values()] for name in wanted}
    sizes = {name: len(values) for name, values in lists.items()}
    found = []
    for i in range(value.shape[0]):
        for j in range(value.shape[1]):
            codes = {**_codes(i, held, sizes), **_codes(j, swapped, sizes)}
            found.append((tuple(lists[name][codes[name]] for name in wanted), (float(value[i, j]), float(variance[i, j]))))
    return found


def _codes(key: int, names: Sequence[str], sizes: dict[str, int]) -> dict[str, int]:
    found = {}
    for name in reversed(names):
        key, found[name] = divmod(key, sizes[name])
    return found
