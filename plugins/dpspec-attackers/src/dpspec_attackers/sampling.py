"""Attackers on the release of a secret sample: the outsider, the nosy neighbour and the journalist (Bailie et al. 2024).

Of n people a share f is drawn at random without replacement, and a mechanism with epsilon-privacy sees the sample alone. Who does
not know who was drawn meets epsilon' = ln(1 + f (e^epsilon - 1)) only. The nosy neighbour knows that a certain person was drawn,
and the journalist takes somebody who was: against both it is epsilon, and so it is against everybody if the sample is no secret.

The sample has to come in random order, or the mechanism must not look at the order: the argument replaces one person of a sample
by another, and where the order of the population is kept that moves everybody between them too.
"""

from __future__ import annotations

import itertools
from abc import abstractmethod
from collections.abc import Hashable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from typing import Annotated, Any, ClassVar

from flint import ctx

from dpspec.plugin import (
    AttackerModel,
    Bracket,
    Exact,
    FiniteLaw,
    Integer,
    Mechanism,
    Number,
    PrivacySpec,
    Rational,
    RiskStatement,
    Sense,
    blocks,
    define,
    errors,
    exact,
    laws,
    ln,
    number,
    risks,
)
from dpspec_attackers.semantics import BITS, exponential, loss_bound, pure_bound, said
from dpspec_attackers.worlds import ANY, replacement_distance, replacing, seen

ODDS = "posterior odds by prior odds"
LOSS = "privacy loss that it can meet"
MOST_WORLDS = 4096


def amplified(epsilon: Number, share: Fraction) -> Bracket:
    """ln(1 + f (e^epsilon - 1)): the budget of a mechanism on a secret sample (the exact form; Bailie et al. 2024).

    >>> from dpspec.plugin import number
    >>> str(amplified(ln(3), Fraction(1, 2))), amplified(number(1), Fraction(1, 10)).upper.decimal()
    ('ln(2)', '0.158565')
    """
    ratio = laws.rational_exponential(epsilon)
    if ratio is not None:
        return Bracket.exactly(ln(1 + share * (ratio - 1)))
    with ctx.workprec(BITS):
        return Bracket.around((1 + exact.ball(share) * epsilon.enclose(BITS).expm1()).log(), least=0)


@define
class _Sampled(AttackerModel):
    """What the three attackers share."""

    target: ClassVar[str] = "the record of one person"
    observation: ClassVar[str] = "the release made from the sample, and not the sample"
    source: ClassVar[str] = "Bailie et al. 2024, attackers, likelihood ratio and relative risk, amplification by sampling"

    share: Annotated[Fraction, Rational(0, 1, open_low=True)] | None = None
    population: Annotated[int, Integer(1)] | None = None
    distance: Annotated[Number, Exact(0, "inf", open_low=True, open_high=True)] | None = None

    @abstractmethod
    def loss(self, epsilon: Number, spec: PrivacySpec) -> Bracket:
        """The largest privacy loss against the attacker, where the mechanism meets epsilon for a replaced record."""

    @abstractmethod
    def laws(self, mechanism: Mechanism, spec: PrivacySpec) -> Iterator[tuple[FiniteLaw, FiniteLaw]]:
        """The pairs of laws that the attacker tells apart, for small populations."""

    def worst_case(self, spec: PrivacySpec) -> tuple[RiskStatement, ...]:
        found = risks.candidates_within(spec, self._reach(spec))
        several = pure_bound(spec.output_divergence, number(1))
        if several.is_infinite and (found.bound is None or loss_bound(spec.output_divergence, found.bound).is_infinite):
            rule = "bounds no likelihood ratio, and the amplification is stated for pure privacy"
            raise errors.AttackerMisfitError(f"output divergence {spec.output_divergence.name}", rule, "ask about pure privacy")
        return found.stated(partial(self._allowed, spec))

    def _reach(self, spec: PrivacySpec) -> Number:
        """How far apart two samples are in which one record is replaced, whichever it is and wherever it comes to lie.

        Raises:
            AttackerMisfitError: the given distance is known to be too small for some.
        """
        reach = replacing(spec, self.distance)
        known = replacement_distance(spec)
        if known > reach and (not known.is_infinite or risks.is_small(spec)):
            rule = f"is that of some replaced records only: others are at distance {known}"
            raise errors.AttackerMisfitError("distance", rule, "leave it out", value=str(reach))
        return reach

    def _allowed(self, spec: PrivacySpec, bound: Number) -> tuple[RiskStatement, ...]:
        epsilon = loss_bound(spec.output_divergence, bound)
        loss = Bracket.exactly(epsilon) if epsilon.is_infinite else self.loss(epsilon, spec)
        odds = Bracket(lower=exponential(loss.lower).lower, upper=exponential(loss.upper).upper)
        known = f"{self.assumption}; a record replaced is at distance {self._reach(spec)} at most"
        if spec.multiverse.induced_by():
            known = f"{known}; what is published of the sample is the same for every sample in question"
        return (
            said(LOSS, (), Sense.AT_MOST, loss, "Bailie et al. 2024, amplification by sampling, in its exact form", known),
            said(
                ODDS,
                (),
                Sense.AT_MOST,
                odds,
                "Bailie et al. 2024, likelihood ratio and relative risk, amplification by sampling",
                known,
            ),
        )

    def under(self, mechanism: Mechanism, spec: PrivacySpec) -> tuple[RiskStatement, ...]:
        """What is published of the sample is seen with the release, so that it may tell two populations apart."""
        found = risks.candidates_within(spec, self._reach(spec))
        place = () if found.is_plain else (("candidates", ANY),)
        loss = exact.largest(one.against(other).max_log_ratio() for one, other in self.laws(mechanism, spec))
        odds = Bracket(lower=exponential(loss.lower).lower, upper=exponential(loss.upper).upper)
        theorem = f"all samples from every population of {self.population}"
        return (
            said(LOSS, place, Sense.EQUALS, loss, theorem, self.assumption),
            said(ODDS, place, Sense.EQUALS, odds, theorem, self.assumption),
        )

    def _share(self, spec: PrivacySpec) -> Fraction:
        if self.population is None:
            if self.share is None:
                raise errors.AttackerMisfitError("share", "is not known", 'give share = "1/10", or the population')
            return self.share
        return Fraction(self._drawn(spec, self.population), self.population)

    def _drawn(self, spec: PrivacySpec, population: int) -> int:
        """The size of the sample.

        Raises:
            AttackerMisfitError: it is larger than the population, or has another share of it than is given.
        """
        drawn = len(next(_datasets(spec)))
        if drawn > population:
            raise errors.AttackerMisfitError("population", f"is smaller than the sample of {drawn}", value=population)
        found = Fraction(drawn, population)
        if self.share not in (None, found):
            rule = f"is not that of a sample of {drawn} from a population of {population}, which is {found}"
            raise errors.AttackerMisfitError("share", rule, "leave out the share or the population", value=str(self.share))
        return drawn

    def _populations(self, spec: PrivacySpec) -> tuple[tuple[Hashable, ...], list[tuple[Hashable, ...]], int]:
        """The records that occur, every population but for its first record, and the size of the sample."""
        if self.population is None:
            raise errors.NotReachedError(
                "population", "is not known, so that no sample can be drawn from it", "give population = 3"
            )
        size = blocks.listing_size(spec.space)
        if size is None or size > MOST_WORLDS:
            rule = f"has more than {MOST_WORLDS:,} datasets, so that not all records are known"
            raise errors.NotEnumerableError(f"space {spec.space.name}", rule, "ask about fewer records or categories")
        drawn, held = self._drawn(spec, self.population), list(_datasets(spec))
        records = tuple(dict.fromkeys(record for dataset in held for record in dataset))
        if len(records) ** self.population > MOST_WORLDS:
            rule = f"has more than {MOST_WORLDS:,} datasets"
            raise errors.NotEnumerableError("population", rule, "ask about fewer people or records", value=self.population)
        return records, list(itertools.product(records, repeat=self.population - 1)), drawn


@define
class Outsider(_Sampled):
    """The attacker who knows every record of the population, but not which of them are in the sample.

    Args:
        share: the share of the population that is drawn, in (0, 1].
        population: how many records it has, from which the share follows; needed for the mechanism's own law.
        distance: how far apart two samples are in which one record is replaced; where the size of the data is fixed it is found.
    """

    name: ClassVar[str] = "sampling-outsider"
    title: ClassVar[str] = "does not know who is in the sample"
    knowledge: ClassVar[str] = "all records of the population but one; not who was drawn"
    assumption: ClassVar[str] = "the sample is drawn at random without replacement, in random order, and stays secret"

    def loss(self, epsilon: Number, spec: PrivacySpec) -> Bracket:
        return amplified(epsilon, self._share(spec))

    def laws(self, mechanism: Mechanism, spec: PrivacySpec) -> Iterator[tuple[FiniteLaw, FiniteLaw]]:
        records, others, size = self._populations(spec)
        for rest in others:
            known = [sampled(mechanism, spec, (record, *rest), size) for record in records]
            yield from itertools.permutations(known, 2)


@define
class _Insider(_Sampled):
    def loss(self, epsilon: Number, spec: PrivacySpec) -> Bracket:
        return Bracket.exactly(epsilon)

    def laws(self, mechanism: Mechanism, spec: PrivacySpec) -> Iterator[tuple[FiniteLaw, FiniteLaw]]:
        """The first person is in the sample; who else is, is not known."""
        records, others, size = self._populations(spec)
        for rest in others:
            known = [sampled(mechanism, spec, (record, *rest), size, first=True) for record in records]
            yield from itertools.permutations(known, 2)


@define
class NosyNeighbour(_Insider):
    """The attacker who knows that a certain person is in the sample.

    Args:
        share: the share of the population that is drawn, in (0, 1].
        population: how many records it has, from which the share follows; needed for the mechanism's own law.
        distance: how far apart two samples are in which one record is replaced; where the size of the data is fixed it is found.
    """

    name: ClassVar[str] = "nosy-neighbour"
    title: ClassVar[str] = "knows that the target is in the sample"
    knowledge: ClassVar[str] = "all records of the population but one, and that this one was drawn"
    assumption: ClassVar[str] = "the target is known to be in the sample: sampling does not help"


@define
class Journalist(_Insider):
    """The attacker who targets any person in the sample, whichever it is.

    Args:
        share: the share of the population that is drawn, in (0, 1].
        population: how many records it has, from which the share follows; needed for the mechanism's own law.
        distance: how far apart two samples are in which one record is replaced; where the size of the data is fixed it is found.
    """

    name: ClassVar[str] = "journalist"
    title: ClassVar[str] = "takes anybody who is in the sample"
    knowledge: ClassVar[str] = "all records of the population except that of one sampled person"
    assumption: ClassVar[str] = "the target is chosen among those in the sample: sampling does not help"


def sampled(
    mechanism: Mechanism,
    spec: PrivacySpec,
    people: Sequence[Hashable],
    size: int,
    *,
    first: bool = False,
    shuffled: bool = True,
) -> FiniteLaw:
    """The law of the mechanism on a random sample.

    Args:
        mechanism, spec: what is released from a sample.
        people: the records of the population.
        size: how many are drawn.
        first: only samples that hold the first person.
        shuffled: whether the sample is in random order; else in that of the population, for which amplification fails.
    """
    draw = itertools.permutations if shuffled else itertools.combinations
    chosen = [places for places in draw(range(len(people)), size) if 0 in places or not first]
    allowed = risks.Allowed(spec)
    laws = [seen(mechanism, spec, spec.space.dataset(tuple(people[place] for place in places)), allowed) for places in chosen]
    return FiniteLaw.mixture([Fraction(1, len(laws))] * len(laws), laws)


def _datasets(spec: PrivacySpec) -> Iterator[Any]:
    """The samples, all of one size and in an order."""
    space = spec.space
    if not space.is_ordered or not all(space.fixes_size(unit) for unit in space.units):
        rule = "holds no samples of one known size in an order"
        raise errors.AttackerMisfitError(
            f"space {space.name}", rule, "describe the sample by bit-vectors or ordered-records of one size"
        )
    size = space.cardinality()
    if size is None or size > MOST_WORLDS:
        yield from itertools.islice(space.datasets(), 1)
        return
    yield from space.datasets()
