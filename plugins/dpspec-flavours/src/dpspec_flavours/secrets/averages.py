"""Mechanisms that are averages of another one: over the distribution that an element represents, and over random samples.

A free simulator requires of a mechanism that all its laws lie close to one law (coupled worlds, Bassily et al. 2013).

For a secret t with laws P_t, epsilon-coupled-worlds privacy without other records requires *some* law Q with
d(P_t, Q) <= epsilon for all t. A five-tuple requires that the P_t be close to each other, two at a time.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Sized
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, cast

import attrs
from dpspec_divergences import Mult
from dpspec_noise import RandomisedResponse
from dpspec_noise.samplers import rational_coins

from dpspec.plugin import (
    BitVectors,
    Dataset,
    DatasetSpace,
    FiniteLaw,
    IncompatibleBlocksError,
    Integer,
    Items,
    Law,
    Mechanism,
    Number,
    ParameterError,
    Rational,
    Registered,
    Table,
    blocks,
    define,
    errors,
    grammar,
    is_a,
    late_module,
    laws,
    ln,
    number,
    params,
    tables,
    workers,
)
from dpspec_flavours.secrets.spaces import DataLawSpace, Secrets

if TYPE_CHECKING:
    import numpy as np
else:
    np = late_module("numpy")

LISTED = 1 << 14
"""A dataset may have at most this many samples."""

TRIED_SIZES = 64
"""Samples of so many sizes, the smallest, and of the largest are looked for in the space of the samples."""


@attrs.frozen
class _With:
    """The additional output; a value, so that two images under it are known to be equal."""

    known: Any

    def __call__(self, output: Any) -> Any:
        return self.known, output


@define
class Averaged(Mechanism):
    """A mechanism on random data: P_x = sum over z of Pi_x(z) M(z), with Pi_x the law of the data of an element x.

    Args:
        mechanism: M, on the base space.
        seen: positions of records that the attacker sees in addition to the output: a passive attacker, whose background is
            random.

    >>> space = list(Secrets.examples())[0]
    >>> mechanism = Averaged(mechanism=RandomisedResponse(keep_probability="3/4"))
    >>> mechanism.law(("first is 1", "copy"), space)
    FiniteLaw({(1, 1): 9/16, (1, 0): 3/16, (0, 1): 3/16, (0, 0): 1/16})
    """

    name: ClassVar[str] = "averaged"

    mechanism: Annotated[Mechanism, Registered("mechanisms")]
    seen: Annotated[tuple[int, ...], Items(Integer(0))] = ()

    def check(self, space: DatasetSpace) -> None:
        known = _laws_of(self, space)
        base = known.base
        self.mechanism.check(base)
        if self.seen and not base.is_ordered:
            rule = f"shows records by their positions, and the datasets of {base.name} have none"
            raise IncompatibleBlocksError(f"mechanism {self.name}", rule, "leave out `seen`", value=self.seen)
        data = (cast("tuple[Any, ...]", each) for law in known.laws().values() for each in law.support)
        if self.seen and max(self.seen) >= (longest := max(map(len, data))):
            rule = f"shows a record at a position that no data have: they have at most {longest} records, counted from 0"
            raise IncompatibleBlocksError(f"mechanism {self.name}", rule, "name another position in `seen`", value=max(self.seen))

    def law(self, dataset: Dataset, space: DatasetSpace) -> Law:
        known = _laws_of(self, space)
        probabilities = dict(known.data_law(dataset).probabilities())
        return laws.mixture(list(probabilities.values()), [self._on(data, known.base) for data in probabilities])

    def _on(self, data: Dataset, base: DatasetSpace) -> Law:
        law = self.mechanism.law(data, base)
        records = cast("tuple[Any, ...]", data)
        return laws.push_forward(law, _With(tuple(records[place : place + 1] for place in self.seen))) if self.seen else law

    @classmethod
    def examples(cls) -> Iterable[tuple[Averaged, DatasetSpace]]:
        """What the conformance kit checks it with."""
        response = RandomisedResponse(keep_probability=Fraction(3, 4))
        for space in Secrets.examples():
            yield cls(mechanism=response), space
            yield cls(mechanism=response, seen=(1,)), space


def _laws_of(mechanism: Mechanism, space: DatasetSpace) -> DataLawSpace:
    if not is_a(space, DataLawSpace):
        rule = "averages over the data that an element of the space represents"
        advice = "use a space of data laws, or the inner mechanism itself"
        raise IncompatibleBlocksError(f"mechanism {mechanism.name}", rule, advice, value=space.name)
    return space


@define
class Subsampled(Mechanism):
    """A mechanism on a random sample of the records; the dataset is the frame before sampling (Bailie et al. 2024).

    P_x = sum over samples s of Pr(s) M(x_s). With each record kept independently with probability p, an eps-DP mechanism for one
    record added or removed becomes ln(1 + p (e^eps - 1))-DP; for one record replaced that is so with a fixed share p = m/n of the
    records (Balle, Barthe and Gaboardi 2018). Both need an M that does not look at the order: a sample without a record has its
    later records at other places. Neither holds when the sample is published (Bailie et al. 2024).

    Args:
        mechanism: M, on the space of samples.
        rate: p, the probability with which each record is kept, or
        size: m, how many records are drawn without replacement (all, where there are fewer).
        samples: the space of the samples, such as one of fewer records; without it, that of the datasets with as many records as
            a sample may have.
        publishes_sample: whether the positions of the sampled records are published, too.

    >>> half = Subsampled(mechanism=RandomisedResponse(keep_probability="3/4"), size=1, samples=BitVectors(length=1))
    >>> half.law((0, 1), BitVectors(length=2))
    FiniteLaw({(0,): 1/2, (1,): 1/2})
    """

    name: ClassVar[str] = "subsampled"

    mechanism: Annotated[Mechanism, Registered("mechanisms")]
    rate: Annotated[Fraction, Rational(0, 1)] | None = None
    size: Annotated[int, Integer(0)] | None = None
    samples: Annotated[DatasetSpace, Registered("spaces")] | None = None
    publishes_sample: Annotated[bool, params.Truth()] = False

    def __attrs_post_init__(self) -> None:
        if (self.rate is None) == (self.size is None):
            raise ParameterError(self.name, "needs either a rate or a size", 'write rate = "1/2" or size = 1')

    def sampled(self, space: DatasetSpace) -> DatasetSpace:
        """The space of the samples of the datasets of a space.

        >>> ten = Subsampled(mechanism=RandomisedResponse(keep_probability="3/4"), size=10)
        >>> ten.sampled(BitVectors(length=1_000))
        BitVectors(length=10, unit='person')
        """
        return self.samples or blocks.resized(space, *self._range(space)) or space

    def _range(self, space: DatasetSpace) -> tuple[int, int | None]:
        """The least and the largest number of records of a sample."""
        least, most = blocks.sizes_of(space)
        if self.size is not None:
            return min(self.size, least), self.size if most is None else min(self.size, most)
        return least if self.rate == 1 else 0, 0 if self.rate == 0 else most

    def check(self, space: DatasetSpace) -> None:
        samples = self.sampled(space)
        self.mechanism.check(samples)
        if self.publishes_sample and not space.is_ordered:
            rule = f"publishes positions, and the datasets of {space.name} have none"
            raise IncompatibleBlocksError(f"mechanism {self.name}", rule, "use an ordered space")
        for dataset in grammar.first_datasets(space):
            entries = blocks.presented(dataset)
            count = len(entries) if isinstance(entries, Sized) else None
            if count is None or not space.units or count != len(space.records(dataset, space.units[0])):
                rule = "draws records, and a dataset of this space is no sequence of its records"
                raise IncompatibleBlocksError(f"mechanism {self.name}", rule, "use a space of records", value=space.name)
            sizes = self._sizes(count)
            for size in (*sizes[:TRIED_SIZES], *sizes[TRIED_SIZES:][-1:]):  # all of a large dataset would be quadratic work
                samples.dataset(list(cast("Any", dataset))[:size])

    def of_all_records(self) -> Subsampled:
        """The same mechanism with as few draws as possible: a secret sample of a secret sample is one sample of the records.

        Records that are kept with probability p, and then with probability q, are kept with probability p q, independently of
        each other; of m records drawn without replacement, m' drawn without replacement are min(m, m') of all. A fixed number of
        records that were kept with a probability is neither.

        >>> inner = Subsampled(mechanism=RandomisedResponse(keep_probability="3/4"), rate="1/2")
        >>> Subsampled(mechanism=inner, rate="1/3").of_all_records().rate
        Fraction(1, 6)
        """
        kept, drawn, of = self.rate, self.size, self.mechanism
        is_secret = self.samples is None and not self.publishes_sample
        own = type(self) is Subsampled  # a class below it may draw otherwise
        while own and is_secret and type(of) is Subsampled and of.samples is None and not of.publishes_sample:
            if kept is not None and of.rate is not None:
                kept *= of.rate
            elif drawn is not None and of.size is not None:
                drawn = min(drawn, of.size)
            else:
                break
            of = of.mechanism
        return self if of is self.mechanism else params.evolve(self, mechanism=of, rate=kept, size=drawn)

    def law(self, dataset: Dataset, space: DatasetSpace) -> Law:
        if (direct := self.of_all_records()) is not self:
            return direct.law(dataset, space)
        probabilities = self._samples(space.dataset(dataset), space)
        samples = self.sampled(space)
        answers = {sample: self.mechanism.law(sample, samples) for _, sample in probabilities}
        parts = [
            answers[sample] if places is None else laws.push_forward(answers[sample], _With(places))
            for places, sample in probabilities
        ]
        return laws.mixture(list(probabilities.values()), parts)

    def reduced(self, space: DatasetSpace) -> Subsampled:
        """Samples of records of the reduced space; one record where the size of samples is fixed, so that some are left out."""
        return params.evolve(self, samples=None, size=None if self.size is None else min(self.size, 1))

    def structure(self, space: DatasetSpace) -> grammar.Structure:
        """The views of the mechanism, of randomly sampled records; none where the sample is published, or of others.

        Where the mechanism draws a sample, too, the two are one sample of the records, as in `of_all_records`.
        """
        found = grammar.stated_structure(self.mechanism, self.sampled(space))
        reasons = {
            f"the mechanism {self.mechanism.name} does not say how it is made": found is None,
            "the space of its samples is not known to have the records of the space": not self._has_records_of(space),
            "the space of its samples is not known to have all samples": not self._has_samples_of(space),
            "it publishes which records are in the sample": self.publishes_sample,
            "it reads facts about the sample, which universes do not fix": found is not None and bool(found.reads),
            "it draws a sample of a sample": found is not None and found.is_sampled and not self._continues(found),
        }
        reason = next((reason for reason, is_so in reasons.items() if is_so), None)
        if found is None or reason is not None:
            raise grammar.NoStructure(str(reason))
        stated = found.restated(of=self.mechanism, by=self)
        if self.rate is not None:
            return attrs.evolve(stated, sampled=self.rate * found.sampled)
        drawn = self.size if found.drawn is None else min(found.drawn, self.size or 0)
        return attrs.evolve(stated, drawn=drawn, drawn_by=self)

    def _continues(self, found: grammar.Structure) -> bool:
        """Whether the sample that the mechanism draws and the one of this mechanism are together one sample of the same kind."""
        if any(view.on_sample for view in found.views):
            return False
        if self.rate is not None:
            return found.drawn is None
        return found.sampled == 1 and found.drawn_by == self.mechanism

    def answers_queries(self) -> bool:
        return grammar.answers_queries(self.mechanism)

    def check_release(self, space: DatasetSpace) -> None:
        if self.publishes_sample or not self._has_records_of(space):
            rule = "releases tables only where the sample is secret and its records are those of the space"
            raise errors.ReleaseError(self.name, rule, "leave out `samples` and `publishes_sample`")
        self.mechanism.check_release(self.sampled(space))

    def run(self, table: Table, space: DatasetSpace, run: workers.Run) -> workers.Output:
        """What the mechanism releases about a sample, which is drawn exactly and not kept."""
        self.check_release(space)
        self.check_table(table, space)
        if self.size is None:
            kept = rational_coins(run.source, self.rate or Fraction(0), len(table))
        else:
            kept = np.zeros(len(table), dtype=np.bool_)
            kept[run.source.permutation(len(table))[: self.size]] = True
        made = self.mechanism.run(table.rows(kept), self.sampled(space), run)
        # What is reported with the tables may state what is fixed of all records, and not of a sample.
        return workers.Output(tables=made.tables, streams=made.streams)

    def check_table(self, table: tables.Countable, space: DatasetSpace) -> None:
        """Refuse a table of the members of records: a sample has whole records."""
        names, outer = {a.name for a in table.attributes}, space.units[0]
        if any({a.name for a in space.attributes_of(unit)} == names for unit in space.units[1:]):
            rule = f"draws a sample of {outer} records, and the table has none"
            raise errors.TableError("table", rule, f"give a folder with the {outer} records and their members")

    def _has_records_of(self, space: DatasetSpace) -> bool:
        """Whether samples differ from the datasets of the space in the number of their records alone."""
        of = self.sampled(space)
        same = of.units == space.units and of.is_ordered == space.is_ordered
        return same and all(of.attributes_of(unit) == space.attributes_of(unit) for unit in space.units)

    def _has_samples_of(self, space: DatasetSpace) -> bool:
        """Whether samples have as many records as the datasets of their space may have."""
        (least, most), (low, high) = self._range(space), blocks.sizes_of(self.sampled(space))
        return low <= least and (high is None or (most is not None and most <= high))

    def _samples(self, dataset: Dataset, space: DatasetSpace) -> dict[tuple[Any, Dataset], Fraction]:
        """Every sample of a dataset with its probability, distinguished by its positions when these are published."""
        records, samples = cast("tuple[Any, ...]", dataset), self.sampled(space)
        drawn: Counter[tuple[Any, tuple[Any, ...]]] = Counter()
        by_size: dict[int, Fraction] = {}
        for places, probability in self._drawn(len(records)):
            drawn[places if self.publishes_sample else None, tuple(records[place] for place in places)] += 1
            by_size[len(places)] = probability  # samples of one size are equally likely
        probabilities: dict[tuple[Any, Dataset], Fraction] = {}
        for (places, sample), times in drawn.items():
            key = places, samples.dataset(list(sample))
            probabilities[key] = probabilities.get(key, Fraction(0)) + times * by_size[len(sample)]
        return probabilities

    def _sizes(self, count: int) -> Sequence[int]:
        """How many of a number of records there may be in a sample."""
        if self.size is not None:
            return [min(self.size, count)]
        return {Fraction(0): [0], Fraction(1): [count]}.get(self.rate or Fraction(0), range(count + 1))

    def _drawn(self, count: int) -> Iterator[tuple[tuple[int, ...], Fraction]]:
        """The positions of every sample of a number of records, with its probability."""
        sizes = self._sizes(count)
        fewest = max(min(size, count - size) for size in (sizes[0], sizes[-1], sizes[len(sizes) // 2]))
        amount = 0 if 1 << fewest > LISTED else sum(math.comb(count, size) for size in sizes)  # there are at least 2^fewest
        if not amount or amount > LISTED:
            rule = f"has more than {LISTED} samples of {count} records"
            raise errors.NotEnumerableError(f"mechanism {self.name}", rule, "take fewer records")
        for size in sizes:
            probability = Fraction(1, amount) if self.rate is None else self.rate**size * (1 - self.rate) ** (count - size)
            for places in itertools.combinations(range(count), size) if probability else ():
                yield places, probability

    @classmethod
    def examples(cls) -> Iterable[tuple[Subsampled, DatasetSpace]]:
        """What the conformance kit checks it with."""
        response, one, two = RandomisedResponse(keep_probability=Fraction(3, 4)), BitVectors(length=1), BitVectors(length=2)
        for published in (False, True):
            yield cls(mechanism=response, size=1, samples=one, publishes_sample=published), two


# --- free simulators ------------------------------------------------------------------------------


def radius(laws: Sequence[FiniteLaw]) -> Number:
    """The least epsilon such that one law Q has |ln(P_t(o)/Q(o))| <= epsilon for all laws P_t and outcomes o.

    Q(o) has to lie between max_t P_t(o) e^-epsilon and min_t P_t(o) e^epsilon, and these have room for a law exactly when

        epsilon >= 1/2 max over t, t' of mult(P_t, P_t'),
        e^epsilon >= sum over o of max_t P_t(o),    e^epsilon >= 1 / sum over o of min_t P_t(o).

    Infinite when two laws have different supports.

    >>> law = FiniteLaw.bernoulli
    >>> str(radius([law("1/4"), law("3/4")])), str(radius([law("1/100"), law("3/100")]))
    ('ln(2)', '1/2*ln(3)')
    """
    support = {outcome for law in laws for outcome in law.support}
    if any(len(law.support) < len(support) for law in laws):
        return number("inf")
    columns = [[law.probability(outcome) for law in laws] for outcome in support]
    most, least = sum(map(max, columns), Fraction(0)), sum(map(min, columns), Fraction(0))
    return max(diameter(laws) * number("1/2"), ln(most), ln(1 / least))


def diameter(laws: Sequence[FiniteLaw]) -> Number:
    """The largest distance `mult` of two of the laws: what a five-tuple sees of them.

    >>> str(diameter([FiniteLaw.bernoulli("1/4"), FiniteLaw.bernoulli("3/4")]))
    'ln(3)'
    """
    return max((Mult().between(one, two).upper for one in laws for two in laws), default=number(0))
