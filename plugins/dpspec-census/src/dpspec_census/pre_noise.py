"""Swapping after noise: each swap value is first replaced by a uniform one with probability r, and then the records are swapped.

Let N_x be the law of the table after the first step: independently for each record, with probability r its swap values are drawn
uniformly from all joint values that are possible with its other values, the old ones included. With the law S_z of the swap

    P_x = sum over z of N_x(z) S_z.

The table of match x held values stays what it is and is an invariant. That of match x swap values is none, since values are
replaced: a claim whose universes hold it fixed speaks of fewer datasets than the release distinguishes. Where r is positive,
every table with the same match x held values can come out of every other, so that the constant is finite in these larger
universes, which no swap alone achieves:

    Proposition. In the universes of match x held, d_MULT(P_x, P_x') <= ln(1 + k (1 - r)/r) d_Ham(x, x') at any size, where k is
    the largest number of joint values that are possible with the other values of a record. One record attains it.

Proof. The two tables have equally many records with each held value, so that those that they do not share can be paired to differ
in swap values alone: d_Ham of them. Each pair is replaced by w with r/k + (1 - r) [w is the old value], a ratio of at most
(r/k + 1 - r)/(r/k); records are replaced independently, and the swap reads their result alone (data processing). A single record
is not moved by the swap.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, ClassVar

import attrs

from dpspec.plugin import (
    Attribute,
    Dataset,
    DatasetSpace,
    IncompatibleBlocksError,
    Law,
    Marginal,
    Mechanism,
    PrivacySpec,
    Rational,
    Record,
    Registered,
    Table,
    UnorderedRecords,
    blocks,
    define,
    errors,
    grammar,
    is_a,
    late_module,
    laws,
    ln,
    workers,
)
from dpspec_census.swap_budget import SwapScheme
from dpspec_census.swap_pair import values_of, with_coarser
from dpspec_census.swapping import PermutationSwapping, Swapping

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from dpspec.plugin import Randomness
else:
    np = late_module("numpy")

MOST_RECORDS = 7
"""The law is listed for datasets of at most so many records."""
MOST_TABLES = 1 << 14
"""The first step may lead to at most so many tables."""
MOST_VALUES = 1 << 20
"""The swapped attributes may have at most so many joint values for one record."""
MOST_OUTER = 1 << 12
"""So many categories of coarser attributes are looked through for the constant."""


@define
class PreNoise(Mechanism):
    """Replace the swap values of each record by uniform ones with probability r, then swap.

    With r = 0 this is the swap itself. A drawn value may be the old one: a record changes with probability r (k - 1)/k at most, k
    being the number of joint values that are possible with its other values.

    Args:
        mechanism: the swap, derangement-swapping, permutation-swapping, pair-swapping or risk-swapping.
        rate: r, the probability with which the swap values of a record are replaced.

    >>> from dpspec.plugin import UnorderedRecords
    >>> from dpspec_census import PermutationSwapping
    >>> space = UnorderedRecords(attributes=[{"name": "tenure", "count": 2}, {"name": "county", "count": 2}], unit="household")
    >>> noisy = PreNoise(mechanism=PermutationSwapping(swap=["county"], swap_rate="1/5"), rate="1/2")
    >>> str(noisy.law((("0", "0"),), space).probability((("0", "1"),)))
    '1/4'
    """

    name: ClassVar[str] = "pre-noise"

    mechanism: Annotated[Mechanism, Registered("mechanisms")]
    rate: Annotated[Fraction, Rational(0, 1)]

    def __attrs_post_init__(self) -> None:
        if not is_a(self.mechanism, Swapping):
            rule = "is no swap whose values can be replaced first"
            advice = "name derangement-swapping, permutation-swapping, pair-swapping or risk-swapping"
            raise errors.ParameterError("mechanism", rule, advice, value=self.mechanism.name)

    @property
    def _swap(self) -> Swapping:
        assert is_a(self.mechanism, Swapping)  # noqa: S101 - checked by the constructor
        return self.mechanism

    def check(self, space: DatasetSpace) -> None:
        self._swap.check(space)
        attributes, swapped = space.attributes_of(self._swap.unit), self._swap.swap
        for attribute in attributes:
            if attribute.within in swapped and attribute.name not in swapped:
                rule = f"would tear {attribute.name} from {attribute.within}, which is replaced"
                raise IncompatibleBlocksError(f"mechanism {self.name}", rule, "swap both", value=attribute.name)

    def check_release(self, space: DatasetSpace) -> None:
        self._swap.check_release(space)

    # -- the constant at any size -------------------------------------------------------------------

    def proved(self, spec: PrivacySpec) -> grammar.ProvedBound | None:
        """The proposition above, of claims with one budget; None where nothing is replaced, or values are too many to count."""
        from dpspec_divergences import Hamming, Mult

        space, value = spec.space, spec.budget.uniform()
        if not self.rate or value is None or blocks.Multisets.found_in(space) is None or spec.output_divergence != Mult():
            return None
        values = SwapValues.of(self._swap.scheme(), space)
        outer = values.widest()
        if outer is None:
            return None
        widest = len(values.joint_values(outer))
        constant = ln(1 + widest * (1 - self.rate) / self.rate)
        return grammar.ProvedBound(
            holds=constant <= spec.output_divergence.lipschitz(spec.budget.parameter, value),
            invariants=self.invariants(space),
            input_divergence=Hamming(unit=self._swap.unit),
            output_divergence=Mult(),
            pair=self._shown(spec, values, outer),
            says=f"each record gets one of {widest} values or fewer with probability {self.rate}: ln(1 + {widest} (1 - r)/r)",
            citation="docs/swapping-as-practised.md",
        )

    def _shown(self, spec: PrivacySpec, values: SwapValues, outer: Record) -> tuple[Dataset, Dataset] | None:
        """Two tables of one universe: one record with two swap values, or two records that exchange them; None of neither."""
        scheme, space = values.scheme, spec.space
        drawn = values.joint_values(outer)[:2]
        fixed = with_coarser(dict(zip(values.outer, outer, strict=True)), values.attributes)
        held = [*itertools.islice(values_of((*scheme.match, *scheme.rest(space)), values.attributes, fixed, space), MOST_OUTER)]
        if not held or len(drawn) < 2:
            return None

        def table(*records: tuple[Record, Record]) -> Dataset:
            split = len(scheme.match)
            joined = (scheme.joined(kept[:split], [(kept[split:], value)], space) for kept, value in records)
            return scheme.dataset(itertools.chain.from_iterable(joined), space)

        (one, other), first = drawn, held[0]
        for tables in (
            [[(first, one)], [(first, other)]],
            *([[(first, one), (second, other)], [(first, other), (second, one)]] for second in held[1:]),
        ):
            try:
                left, right = (table(*records) for records in tables)
            except errors.DpspecError:  # the datasets of the space have more records
                continue
            if spec.multiverse.share_universe(left, right, space):
                return left, right
        return None

    # -- the law ------------------------------------------------------------------------------------

    def law(self, dataset: Dataset, space: DatasetSpace) -> Law:
        self.check(space)
        records = space.records(space.dataset(dataset), self._swap.unit)
        if len(records) > MOST_RECORDS:
            rule = f"is listed for at most {MOST_RECORDS} records"
            raise errors.NotEnumerableError(f"law of {self.name}", rule, "name smaller datasets")
        scheme = self._swap.scheme()
        probabilities = self._replaced(scheme, dataset, space)
        tables = {scheme.dataset(held, space): probability for held, probability in probabilities.items()}
        return laws.mixture(list(tables.values()), [self._swap.law(table, space) for table in tables])

    def _replaced(self, scheme: SwapScheme, dataset: Dataset, space: DatasetSpace) -> dict[tuple[Record, ...], Fraction]:
        """N_x: the records after the first step, in order, with their probability."""
        values = SwapValues.of(scheme, space)
        found: Counter[tuple[Record, ...]] = Counter({(): 1})
        for match, pairs in scheme.strata(space.dataset(dataset), space).items():
            for rest, swap in pairs:
                others = dict(zip((*scheme.match, *scheme.rest(space)), (*match, *rest), strict=True))
                drawn = values.joint_values(tuple(others[name] for name in values.outer))
                one: Counter[Record] = Counter({value: self.rate / len(drawn) for value in drawn} if self.rate else {})
                one[swap] += 1 - self.rate  # type: ignore[assignment]
                whole = {
                    scheme.joined(match, [(rest, value)], space)[0]: probability
                    for value, probability in one.items()
                    if probability
                }
                fuller: Counter[tuple[Record, ...]] = Counter()
                for (done, probability), (record, more) in itertools.product(found.items(), whole.items()):
                    fuller[tuple(sorted((*done, record), key=repr))] += probability * more
                if len(fuller) > MOST_TABLES:
                    rule = f"leads to more than {MOST_TABLES:,} tables before the swap"
                    raise errors.NotEnumerableError(f"law of {self.name}", rule, "name smaller datasets, or fewer categories")
                found = fuller
        return {records: Fraction(probability) for records, probability in found.items()}

    # -- real tables --------------------------------------------------------------------------------

    def release(self, table: Table, space: DatasetSpace, source: Randomness) -> Table:
        """One table whose swap values were replaced and exchanged; nothing else changes."""
        return self.run(table, space, workers.Run(source=source)).main

    def keeps(self, columns: tuple[str, ...]) -> tuple[grammar.Kept, ...]:
        """Records without the swapped attributes, each with its members. The swapped values are not stored."""
        return (grammar.Kept(attributes=tuple(name for name in columns if name not in self._swap.swap), members=True),)

    def run(self, table: Table, space: DatasetSpace, run: workers.Run) -> workers.Output:
        """One table; the number of records with new values is reported to the agency only, like the number of selected ones."""
        self.check(space)
        source = run.source.placed().spawn("pre-noise")
        chosen = source.bernoulli(self.rate, len(table))
        columns = {name: table.codes[name].copy() for name in self._swap.swap}
        values = SwapValues.of(self._swap.scheme(), space)
        for rows, codes in values.drawn(table, np.flatnonzero(chosen), source):
            for name, column in zip(self._swap.swap, codes.T, strict=True):
                columns[name][rows] = column
        swapped = self._swap.run(table.replace(columns), space, run)
        confidential = {**(swapped.confidential or {}), "records with new values": int(chosen.sum())}
        sizes = {name: swapped.report[name] for name in _FROM_WHAT_IS_HELD}
        report = {**sizes, "swapped after noise, rate": str(self.rate), "budget of this universe": []}
        return workers.Output(tables=swapped.tables, report=report, confidential=confidential)

    @classmethod
    def examples(cls) -> Iterator[tuple[PreNoise, DatasetSpace]]:
        """What the conformance kit checks it with."""
        attributes = (Attribute(name="tenure", count=2), Attribute(name="county", count=2))
        for swap_rate, rate in ((Fraction(1, 5), Fraction(1, 2)), (Fraction(0), Fraction(1)), (Fraction(1, 2), Fraction(0))):
            swap = PermutationSwapping(swap=("county",), swap_rate=swap_rate)
            yield cls(mechanism=swap, rate=rate), UnorderedRecords(attributes=attributes, unit="household", most=3)

    def invariants(self, space: DatasetSpace) -> tuple[Marginal, ...]:
        """The table of match x held values, which alone stays what it is.

        >>> from dpspec.plugin import UnorderedRecords
        >>> from dpspec_census import PairSwapping
        >>> space = UnorderedRecords(attributes=[{"name": "kin", "count": 2}, {"name": "place", "count": 2}], unit="household")
        >>> [str(one) for one in PreNoise(mechanism=PairSwapping(swap=["place"], swap_rate="1/5"), rate="1/2").invariants(space)]
        ['household by kin']
        """
        self.check(space)
        return self._swap.scheme().invariants(space)[:1]


_FROM_WHAT_IS_HELD = (
    "unit", "match", "swap", "swap rate", "other rates", "strata", "strata of one record", "largest stratum",
)  # fmt: skip
"""The report of a swap, which depends on match and held values alone."""


@attrs.frozen
class SwapValues:
    """The joint values that the swapped attributes of a record can have, given its other values.

    Args:
        scheme: the variables of the swap.
        space: the space.
        outer: the attributes outside the swap in which swapped ones lie: what the joint values depend on.
    """

    scheme: SwapScheme
    space: DatasetSpace
    outer: tuple[str, ...]

    @classmethod
    def of(cls, scheme: SwapScheme, space: DatasetSpace) -> SwapValues:
        """Those of a swap."""
        lies_in = (a.within for a in space.attributes_of(scheme.unit) if a.name in scheme.swap)
        return cls(scheme=scheme, space=space, outer=tuple(dict.fromkeys(n for n in lies_in if n and n not in scheme.swap)))

    @property
    def attributes(self) -> dict[str, Attribute]:
        """The attributes of a record, by name."""
        return {a.name: a for a in self.space.attributes_of(self.scheme.unit)}

    def joint_values(self, outer: Record) -> list[Record]:
        """The joint values that lie in one category of each attribute in `outer`, in the order of the swap."""
        attributes, fixed = self.attributes, dict(zip(self.outer, outer, strict=True))
        found = list(itertools.islice(values_of(self.scheme.swap, attributes, fixed, self.space), MOST_VALUES + 1))
        if len(found) > MOST_VALUES:
            rule = f"have more than {MOST_VALUES:,} joint values"
            raise errors.NotEnumerableError("the swapped attributes", rule, "swap fewer attributes")
        return found

    def widest(self) -> Record | None:
        """The categories of `outer` with the most joint values in them; None where there are too many to look at."""
        attributes = self.attributes
        if math.prod(attributes[name].size for name in self.outer) > MOST_OUTER:
            return None
        every = values_of(self.outer, attributes, {}, self.space)
        return max(every, key=lambda outer: len(self.joint_values(outer)), default=None)

    def drawn(
        self, table: Table, rows: npt.NDArray[np.int64], source: Randomness
    ) -> Iterator[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]]:
        """Uniform joint values for some rows of a table: rows, and for each a code of each swapped attribute."""
        attributes, keys = self.attributes, table.key(self.outer)[rows]
        for key in np.unique(keys).tolist():
            own = rows[keys == key]
            outer = tuple(attributes[name].category(int(table.codes[name][own[0]])) for name in self.outer)
            values = self.joint_values(outer)
            columns = [attributes[name] for name in self.scheme.swap]
            listed = np.array([[a.index(v) for a, v in zip(columns, value, strict=True)] for value in values], dtype=np.int64)
            yield own, listed[source.below(len(values), len(own))]
