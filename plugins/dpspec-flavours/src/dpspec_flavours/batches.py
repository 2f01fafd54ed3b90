"""Releases about the batches of a dataset: every record is in exactly one of them, as in an epoch of a training run.

Many training loops shuffle the records, cut them into batches of one size, and account for the batches as if each record were in
each batch with a probability of its own. These are two mechanisms. In shuffled batches a record is certain to be used, and what a
batch holds otherwise is known when the other records are (Chua, Ghazi, Kamath, Kumar, Manurangsi, Sinha and Zhang 2024).
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, ClassVar, cast

import attrs
from dpspec_noise import Geometric

from dpspec.plugin import (
    Attribute,
    Dataset,
    DatasetSpace,
    IncompatibleBlocksError,
    Integer,
    Law,
    Marginal,
    Mechanism,
    Registered,
    Text,
    UnorderedRecords,
    blocks,
    define,
    grammar,
    is_a,
    laws,
    params,
)

if TYPE_CHECKING:
    from dpspec.plugin import Record

MOST_BATCHES = 10**7
LISTED = 1 << 6
"""At most so many ways to put the records into batches are listed: the law is a mixture of as many products."""


@define
class Batched(Mechanism):
    """T(batch 1), ..., T(batch B) with independent randomness, where each record is in one batch, and no one knows in which.

    * ``shuffled``: the records are put in a random order and cut into B batches of one size.
    * ``independent``: each record goes to a batch that is drawn uniformly, independently of all others (balls and bins).

    From above: given in which batch each record is, a record changes what is released about one batch. So all releases together
    cost at most what one release about all records costs, for a record replaced and, where batches are drawn independently, for
    one added or removed; d_Pr of two mixtures with the same weights is at most the largest d_Pr of their parts. What batches hide
    is not counted: no pair of laws is proved to bound it. From below, for Gaussian noise on one number, by the largest output
    (Chua et al. 2024). Between the two the verdict is undecided.

    Args:
        mechanism: T, on the space of batches.
        batches: B, the number of batches.
        assignment: shuffled, or independent.

    >>> from dpspec.plugin import Attribute, Marginal, UnorderedRecords
    >>> space = UnorderedRecords(attributes=(Attribute(name="kind", categories=("a", "b")),), least=6, most=6)
    >>> count = Geometric(queries=(Marginal(attributes=(), where={"kind": ("a",)}),), ratio="1/2")
    >>> Batched(mechanism=count, batches=3, assignment="shuffled").batch_space(space).most
    2
    """

    name: ClassVar[str] = "batched"

    mechanism: Annotated[Mechanism, Registered("mechanisms")]
    batches: Annotated[int, Integer(1, MOST_BATCHES)]
    assignment: Annotated[str, Text(("shuffled", "independent"))]

    def batch_space(self, space: DatasetSpace) -> DatasetSpace:
        """The space of the batches of the datasets of a space."""
        if not is_a(space, UnorderedRecords):
            rule = "puts records into batches, and a dataset of this space is no collection of records without an order"
            raise IncompatibleBlocksError(f"mechanism {self.name}", rule, "use the space records", value=space.name)
        least, most = blocks.sizes_of(space)
        if self.assignment == "shuffled":
            if least != most or least % self.batches:
                rule = f"cuts the records into {self.batches} batches of one size, and the space does not fix such a number"
                advice = "state it: least and most records, a multiple of the number of batches"
                raise IncompatibleBlocksError(f"mechanism {self.name}", rule, advice, value=space.name)
            least = most = least // self.batches
        else:
            least = least if self.batches == 1 else 0
        return params.evolve(space, least=least, most=most)

    def check(self, space: DatasetSpace) -> None:
        self.mechanism.check(self.batch_space(space))

    def law(self, dataset: Dataset, space: DatasetSpace) -> Law:
        """Of records that are all alike but one, in any number; of others where the ways to put them into batches are few."""
        records, within = list(cast("Sequence[Record]", space.dataset(dataset))), self.batch_space(space)

        def about(batch: Sequence[Record]) -> Law:
            return self.mechanism.law(within.dataset(list(batch)), within)

        if self.batches == 1:
            return about(records)
        known = self._in_one_batch(records)
        if known is not None and not self._is_listed(len(records)):
            plain, other = (about(batch) for batch in known)
            return laws.InOneOf(plain, other, self.batches)
        if not self._is_listed(len(records)):
            return laws.InBatches(self.mechanism, tuple(sorted(records, key=repr)), self.batches, self.assignment)
        ways = Counter(self._ways(records))
        every = sum(ways.values())
        made = {batch: about(batch) for batch in {batch for way in ways for batch in way}}
        parts = [laws.product([made[batch] for batch in way]) for way in ways]
        return laws.mixture([Fraction(times, every) for times in ways.values()], parts)

    def _in_one_batch(self, records: Sequence[Record]) -> tuple[list[Record], list[Record]] | None:
        """What all batches hold but one, and what that one holds, where records are alike but for one."""
        size = len(records) // self.batches
        counts = Counter(records).most_common()
        if self.assignment == "independent":
            return ([], list(records)) if len(records) <= 1 else None
        if len(counts) > 2 or (len(counts) == 2 and counts[1][1] > 1) or not records:
            return None
        same = [counts[0][0]] * size
        return same, [*same[1:], counts[-1][0]]

    def _is_listed(self, count: int) -> bool:
        """Whether the ways are listed to put so many records, or two where that is more, into batches."""
        if count > LISTED:  # two batches at least
            return False
        if self.assignment == "independent":
            return bool(self.batches ** max(count, 2) <= LISTED)
        return bool(math.factorial(count) <= LISTED * math.factorial(count // self.batches) ** self.batches)

    def _ways(self, records: Sequence[Record]) -> Iterator[tuple[tuple[Record, ...], ...]]:
        """Each equally likely way to put the records into batches."""
        count, every = len(records), range(self.batches)
        size = count // self.batches
        for places in itertools.product(every, repeat=count):
            if self.assignment == "independent" or all(places.count(place) == size for place in every):
                at = list(zip(records, places, strict=True))
                yield tuple(tuple(sorted((record for record, its in at if its == place), key=repr)) for place in every)

    def reduced(self, space: DatasetSpace) -> Batched:
        """One batch, about which the mechanism releases what it does: the law of several batches is made of that."""
        return params.evolve(self, mechanism=self.mechanism.reduced(space), batches=1)

    def structure(self, space: DatasetSpace) -> grammar.Structure:
        """The views of the mechanism about all records, unpublished: they bound from above what batches show of one record."""
        found = grammar.stated_structure(self.mechanism, self.batch_space(space))
        reasons = {
            f"the mechanism {self.mechanism.name} does not say how it is made": found is None,
            "it reads facts about batches, which universes do not fix": found is not None and bool(found.reads),
            "it draws a sample of each batch": found is not None and found.is_sampled,
            "it answers for each record in its place": found is not None and any(view.by_record for view in found.views),
        }
        reason = next((reason for reason, is_so in reasons.items() if is_so), None)
        if found is None or reason is not None:
            raise grammar.NoStructure(str(reason))
        return attrs.evolve(found.restated(of=self.mechanism, by=self), publishes_views=False, hypotheses=(), is_mixture=True)

    @classmethod
    def examples(cls) -> Iterable[tuple[Batched, DatasetSpace]]:
        """What the conformance kit checks it with."""
        count = Geometric(queries=(Marginal(attributes=()),), ratio=Fraction(1, 3))
        colour = Attribute(name="colour", categories=("red", "blue"))
        yield cls(mechanism=count, batches=2, assignment="independent"), UnorderedRecords(attributes=(colour,), most=2)
