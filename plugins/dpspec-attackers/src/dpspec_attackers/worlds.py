"""Exact Bayes in small worlds: what is believed with the target's record in the release, and without it (Kifer et al. 2022).

With prior masses P(d, r) of the other records d and the target's record r, and laws M(d, r) of the output,

    N_act(r) = sum_d P(d, r) M(d, r),    N_cf(r) = sum_d P(d, r) M'(d),    ratio(r) = (N_act(r)/Z_act) / (N_cf(r)/Z_cf),

M'(d) the law of the world without the target's record: `Counterfactual` says which one. What is seen of a dataset is what the
invariants publish of it together with what the mechanism draws, so that beliefs are first updated by the universe, exactly.

Priors over datasets are written as pairs of a dataset and its probability, which sum to exactly one.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable, Iterator, Mapping
from enum import Enum
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import attrs
from dpspec_divergences.counting import HammingOrdered

from dpspec.plugin import (
    Dataset,
    FiniteLaw,
    Mechanism,
    Number,
    PrivacySpec,
    Rational,
    blocks,
    errors,
    exact,
    grammar,
    params,
    risks,
    spend,
)

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy


WrittenPrior = tuple[tuple[Any, Fraction], ...]
"""Datasets with their probabilities; empty for the uniform prior over all datasets."""


@attrs.frozen
class InDoubt(Rational):
    """The prior of what an attacker wants to know: a rational strictly between 0 and 1; the ends have an error of their own."""

    def read(self, value: Any, subject: str) -> Fraction:
        if exact.rational(value, subject) in (0, 1):
            raise errors.CertainTargetError(
                subject, "leaves nothing to learn: it is certain before the release", value=str(value)
            )
        return super().read(value, subject)


IN_DOUBT = InDoubt(0, 1, open_low=True, open_high=True)


@attrs.frozen
class Weighted(params.Domain):
    """A list of pairs [dataset, probability] whose probabilities are exact, not negative, and sum to one."""

    python = "str | Mapping[Any, NumberLike] | Sequence[tuple[Any, NumberLike]]"

    def read(self, value: Any, subject: str) -> WrittenPrior:
        if (isinstance(value, str) and value == "uniform") or (isinstance(value, tuple) and not value):
            return ()
        pairs = list(value.items()) if isinstance(value, Mapping) else value
        if isinstance(pairs, str) or not isinstance(pairs, Iterable):
            raise errors.PriorError(subject, f"must be {errors.with_article(self.describe())}", "or write uniform", value=value)
        held: dict[Any, Fraction] = {}
        for pair in pairs:
            if not isinstance(pair, (list, tuple)) or len(pair) != 2:
                raise errors.PriorError(subject, "must consist of pairs [dataset, probability]", value=pair)
            dataset, mass = params.Data().read(pair[0], subject), exact.rational(pair[1], subject)
            if mass < 0:
                raise errors.PriorError(f"{subject} of {dataset}", "must not be negative", "it is a probability", value=str(mass))
            if dataset in held:
                raise errors.PriorError(f"{subject} of {dataset}", "is given twice", "write the sum")
            held[dataset] = mass
        if sum(held.values()) != 1:
            rule = "must sum to exactly 1"
            raise errors.PriorError(subject, rule, 'write exact ratios such as "1/3"', value=str(sum(held.values(), Fraction(0))))
        return tuple((dataset, mass) for dataset, mass in held.items() if mass)

    def describe(self) -> str:
        return "list of pairs [dataset, probability] that sum to 1"

    def schema(self) -> dict[str, Any]:
        return {"type": ["array", "string"]}

    def strategy(self) -> SearchStrategy[Any]:
        from hypothesis import strategies as st

        return st.just(())


def prior_on(spec: PrivacySpec, prior: WrittenPrior) -> dict[Dataset, Fraction]:
    """The prior over canonical datasets of the space; the uniform one where none is given.

    Raises:
        PriorError: for what is no dataset of the space, or in different universes, where nothing is promised.
        NotEnumerableError: when there are too many datasets for a uniform prior.
    """
    if prior:
        return {spec.space.dataset(dataset): mass for dataset, mass in prior}
    size = blocks.listing_size(spec.space)
    if size is None or size > risks.MOST_LISTED:
        rule = "has too many datasets for a uniform prior"
        raise errors.NotEnumerableError(f"space {spec.space.name}", rule, "give a prior: pairs [dataset, probability]")
    return {dataset: Fraction(1, size) for dataset in spec.space.datasets()}


Split = tuple[Hashable, Hashable]
"""The other records, and the record of the target."""


def split(spec: PrivacySpec, dataset: Dataset, position: int) -> Split:
    """A dataset as the other records and the target's.

    Raises:
        AttackerMisfitError: when the space has no order, so that no position is a person, or no such position.
    """
    if not spec.space.is_ordered or not isinstance(dataset, tuple):
        rule = "has no positions, so that no record is the target's"
        raise errors.AttackerMisfitError(f"space {spec.space.name}", rule, "use a space of ordered records")
    if not 0 <= position < len(dataset):
        raise errors.AttackerMisfitError("position", f"must be from 0 to {len(dataset) - 1}", value=position)
    return (*dataset[:position], None, *dataset[position + 1 :]), dataset[position]


def target(spec: PrivacySpec, position: int) -> str:
    """Whose record it is, as the beginning of an assumption: what is published, or the distance, may treat places differently."""
    return f"the target's is record {position + 1}; " if spec.space.is_ordered else ""


def joined(others: Hashable, record: Hashable) -> tuple[Any, ...]:
    """The dataset of other records (None at the target's place) and the target's record."""
    return tuple(record if entry is None else entry for entry in others)  # type: ignore[attr-defined]


def replacing(spec: PrivacySpec, given: Number | None = None) -> Number:
    """How far apart two datasets are that differ in the record at one position: as given, or the largest that is met.

    One where replacing a record is one step, two where it is a removal and an addition.

    Raises:
        CounterfactualError: when the size may change, so that replacing a record is no neighbour by itself, and no distance is
            given; also when nothing is promised about a replaced record.
        AttackerMisfitError: when the space has no positions.
    """
    if given is not None:
        return given
    space = spec.space
    if not space.is_ordered:
        rule = "has no positions, so that no record is the target's"
        raise errors.AttackerMisfitError(f"space {space.name}", rule, "use a space of ordered records, or give the distance")
    if not all(space.fixes_size(unit) for unit in space.units):
        rule = "is replaced by another, and the size of the data is not known to stay"
        raise errors.CounterfactualError(
            "the target's record", rule, "give the distance of a replacement, or a space of one size"
        )
    step = replacement_distance(spec)
    if step.is_infinite:
        rule = "may be replaced by one at infinite distance, about which nothing is promised"
        raise errors.CounterfactualError("the target's record", rule, "ask about a distance of replaced records")
    return step


def replacement_distance(spec: PrivacySpec) -> Number:
    """A bound of the distance of two datasets of one size in which one record differs, in either order.

    The largest one, where all datasets of ordered records can be listed; else what the input divergence says in comparison with
    the number of positions that differ; infinity where it says nothing.
    """
    space, divergence = spec.space, spec.input_divergence
    if space.is_ordered and risks.is_small(spec):
        pairs = ((x, y) for x, y in itertools.permutations(space.datasets(), 2) if _differ_once(x, y))
        return max((spec.distance(x, y) for x, y in pairs), default=exact.INFINITY)
    unit = divergence.counted_unit()
    found = None if unit is None else grammar.distance_bound(divergence, HammingOrdered(unit=unit), space)
    return exact.INFINITY if found is None else found[0]


def _differ_once(left: Dataset, right: Dataset) -> bool:
    """Whether two datasets of ordered records have one length, and differ in one of them."""
    if not isinstance(left, tuple) or not isinstance(right, tuple) or len(left) != len(right):
        return False
    return len([None for one, other in zip(left, right, strict=True) if one != other]) == 1


def replaced(spec: PrivacySpec, position: int, given: Number | None = None) -> risks.Candidates:
    """Two candidates for the record at a position, the others the same: by distance where that is given.

    Of a space that can be walked the pairs are listed; of a larger one they are those within the distance of `replacing`.

    Raises:
        AttackerMisfitError, CounterfactualError: as `replacing`, and where the space has no such position.
        NotReachedError: when no record can be replaced by another.
    """
    reach = replacing(spec, given)
    if not spec.space.is_ordered:
        return risks.candidates_within(spec, reach)
    if not risks.is_small(spec):
        return risks.candidates_within(spec, reach, partial(_differ_at, position))
    by_others: dict[Hashable, list[Dataset]] = {}
    for dataset in spec.space.datasets():
        if isinstance(dataset, tuple) and position < len(dataset):
            by_others.setdefault(split(spec, dataset, position)[0], []).append(dataset)
    pairs = [pair for held in by_others.values() for pair in itertools.combinations(held, 2)]
    if given is not None:
        pairs = [pair for pair in pairs if spec.distance(*pair) <= given or spec.distance(pair[1], pair[0]) <= given]
    if not pairs:
        raise errors.NotReachedError(
            f"record {position}", "can be replaced by no other within the distance", "name another position"
        )
    return risks.candidates_among(spec, pairs)


def _differ_at(position: int, left: Dataset, right: Dataset) -> bool:
    """Whether two datasets differ in the record at a position, and in nothing else."""
    if not isinstance(left, tuple) or not isinstance(right, tuple) or len(left) != len(right):
        return False
    return [place for place, (one, other) in enumerate(zip(left, right, strict=True)) if one != other] == [position]


def check_uncertain(mass: Fraction, what: str) -> None:
    """Raise CertainTargetError for a prior of 0 or 1 on what the attacker wants to know."""
    if mass in (0, 1):
        raise errors.CertainTargetError(f"prior of {what}", "is certain, so that nothing is left to learn", value=str(mass))


# --- worlds ---------------------------------------------------------------------------------------


Masses = dict[Hashable, Fraction]
ANY = "any, what is published known too"
"""The place of statements about a prior that may cross universes: the published facts update it, then the release."""


class Counterfactual(Enum):
    """The three worlds without the target's record (Kifer et al. 2022, Section 7.2)."""

    DROPPED = "dropped"
    """Option 1: the record is left out, and the dataset is smaller."""
    DEFAULT = "default"
    """Option 2: it is replaced by one fixed record."""
    SAMPLED = "sampled"
    """Option 3, the one adopted: it is replaced by a draw from what the others let one expect, P(r | d)."""


@attrs.frozen(kw_only=True)
class World:
    """A finite world.

    Args:
        prior: the masses P(d, r), all positive.
        laws: the law of what is seen for every (d, r), and for (d, None), the record left out, where that is defined: pairs
            (what the invariants publish, output of the mechanism); the output alone where nothing is published.
        published: what the invariants publish of the same datasets.
    """

    prior: Mapping[Split, Fraction]
    laws: Mapping[Split, FiniteLaw]
    published: Mapping[Split, Hashable] = attrs.field(factory=dict)

    @classmethod
    def of(cls, mechanism: Mechanism, spec: PrivacySpec, prior: WrittenPrior, position: int) -> World:
        """The world of a mechanism on ordered records, the target at a position.

        Raises:
            NoFormulaError: when a law is not finite.
        """
        held = prior_on(spec, prior)
        masses = {split(spec, dataset, position): mass for dataset, mass in held.items() if mass}
        if len({len(d) for d, _ in masses}) > 1:  # type: ignore[arg-type]
            rule = "holds datasets of several sizes: where a record is replaced, the size has to stay"
            raise errors.CounterfactualError("prior", rule, "condition it on one size")
        datasets = {(d, r): joined(d, r) for d, _ in masses for _, r in masses}
        datasets |= {(d, None): smaller for d, _ in masses if (smaller := _dropped(spec, d)) is not None}
        canonical = {pair: spec.space.dataset(dataset) for pair, dataset in datasets.items()}
        allowed = risks.Allowed(spec)
        return cls(
            prior=masses,
            laws={pair: seen(mechanism, spec, dataset, allowed) for pair, dataset in canonical.items()},
            published={pair: allowed.published(dataset) for pair, dataset in canonical.items()},
        )

    def by_universe(self) -> Iterator[World]:
        """The worlds that are left when the published facts are known, one for each of their possible values."""
        for value in dict.fromkeys(self.published.get(pair) for pair in self.prior):
            held = {pair: mass for pair, mass in self.prior.items() if self.published.get(pair) == value}
            total = sum(held.values())
            yield attrs.evolve(self, prior={pair: mass / total for pair, mass in held.items()})

    def tells(self, others: Hashable, record: Hashable, way: Counterfactual, default: Hashable = None) -> bool:
        """Whether what is published differs between the world with the record and the one without it."""
        if way is Counterfactual.SAMPLED:
            rivals = [(others, r) for r in self.given_others(others)]
        else:
            rivals = [(others, default if way is Counterfactual.DEFAULT else None)]
        return any(self.published.get(rival) != self.published.get((others, record)) for rival in rivals)

    @property
    def records(self) -> tuple[Hashable, ...]:
        """The records of positive prior probability."""
        return tuple(dict.fromkeys(record for _, record in self.prior))

    def belief(self, record: Hashable) -> Fraction:
        """P(r), before the release."""
        return sum((mass for (_, r), mass in self.prior.items() if r == record), Fraction(0))

    def given_others(self, others: Hashable) -> dict[Hashable, Fraction]:
        """P(r | d)."""
        held = {r: mass for (d, r), mass in self.prior.items() if d == others}
        total = sum(held.values())
        return {r: mass / total for r, mass in held.items()}

    def actual(self, record: Hashable) -> Masses:
        """N_act(r), by outcome."""
        total: Masses = {}
        for (d, r), mass in self.prior.items():
            if r == record:
                _add(total, dict(self.laws[d, r].probabilities()), mass)
        return total

    def counterfactual(self, record: Hashable, way: Counterfactual, default: Hashable = None) -> Masses:
        """N_cf(r), by outcome.

        Raises:
            CounterfactualError: when the world without the record is not defined.
        """
        total: Masses = {}
        for (d, r), mass in self.prior.items():
            if r == record:
                _add(total, self._without(d, way, default), mass)
        return total

    def _without(self, others: Hashable, way: Counterfactual, default: Hashable) -> Masses:
        if way is Counterfactual.SAMPLED:
            replaced: Masses = {}
            for r, mass in self.given_others(others).items():
                _add(replaced, dict(self.laws[others, r].probabilities()), mass)
            return replaced
        chosen = default if way is Counterfactual.DEFAULT else None
        if (others, chosen) not in self.laws:
            rule = f"has no {way.value} record: the mechanism has no law there"
            advice = "name the default record" if way is Counterfactual.DEFAULT else "a fixed size cannot lose a record"
            raise errors.CounterfactualError("counterfactual", rule, advice)
        return dict(self.laws[others, chosen].probabilities())

    def marginal(self, way: Counterfactual | None = None, default: Hashable = None) -> Masses:
        """The law of the output, in the actual world (None) or in one without the record."""
        total: Masses = {}
        for record in self.records:
            _add(total, self.actual(record) if way is None else self.counterfactual(record, way, default), Fraction(1))
        return total

    def ratios(
        self, record: Hashable, way: Counterfactual = Counterfactual.SAMPLED, default: Hashable = None
    ) -> dict[Hashable, Fraction | None]:
        """The posterior in the actual world by that in the counterfactual one, for every possible outcome; None for infinity."""
        here, z_here = self.actual(record), self.marginal()
        there, z_there = self.counterfactual(record, way, default), self.marginal(way, default)
        zero = Fraction(0)
        return {
            outcome: (here.get(outcome, zero) / z) / (there[outcome] / z_there[outcome]) if there.get(outcome) else None
            for outcome, z in z_here.items()
            if here.get(outcome) or there.get(outcome)
        }

    def posterior_to_prior(self, record: Hashable) -> dict[Hashable, Fraction]:
        """P(r | outcome) / P(r), for every possible outcome."""
        here, before = self.actual(record), self.belief(record)
        return {outcome: here.get(outcome, Fraction(0)) / z / before for outcome, z in self.marginal().items()}

    def given_record(self, record: Hashable) -> Masses:
        """The law of the output when the record is the true one, the others drawn from P(d | r)."""
        before = self.belief(record)
        return {outcome: mass / before for outcome, mass in self.actual(record).items()}


_WORK_OF_A_PRODUCT = 5
"""Units of work of a product and a sum of fractions."""


def _add(total: Masses, part: Mapping[Hashable, Fraction], factor: Fraction) -> None:
    spend(_WORK_OF_A_PRODUCT * len(part))
    for outcome, mass in part.items():
        total[outcome] = total.get(outcome, Fraction(0)) + factor * mass


def dropped(spec: PrivacySpec, dataset: Dataset, position: int) -> tuple[object, ...] | None:
    """The dataset without its record at a position; None where it has none, or the space no such dataset."""
    if not isinstance(dataset, tuple) or position >= len(dataset):
        return None
    return _dropped(spec, split(spec, dataset, position)[0])


def _dropped(spec: PrivacySpec, others: Hashable) -> tuple[object, ...] | None:
    """The dataset without the target; None where the space has no such dataset."""
    try:
        return cast("tuple[object, ...]", spec.space.dataset(tuple(entry for entry in others if entry is not None)))  # type: ignore[attr-defined]
    except errors.NotInSpaceError:
        return None


def seen(mechanism: Mechanism, spec: PrivacySpec, dataset: Dataset, allowed: risks.Allowed) -> FiniteLaw:
    """The law of what is seen of a dataset: what the invariants publish of it, and what the mechanism draws.

    Raises:
        NoFormulaError: when the law of the mechanism is not finite.
    """
    law = mechanism.law(dataset, spec.space)
    if not isinstance(law, FiniteLaw):
        rule = "is not a finite law, so that no exact posterior is known"
        raise errors.NoFormulaError(type(law).__name__, rule, "use a mechanism with finitely many outcomes")
    if not spec.multiverse.induced_by():
        return law
    public = allowed.published(dataset)
    return FiniteLaw.from_weights({(public, outcome): weight for outcome, weight in law.weights.items()})


def check_compared(spec: PrivacySpec, world: World, distance: Number, way: Counterfactual) -> None:
    """Raise AttackerMisfitError where candidates that nothing published tells apart are not compared, or only further apart."""
    allowed = risks.Allowed(spec)
    for others in {d for d, _ in world.prior}:
        datasets = [spec.space.dataset(joined(others, record)) for record in world.given_others(others)]
        smaller = _dropped(spec, others)
        pairs = list(itertools.combinations(datasets, 2))
        if way is Counterfactual.DROPPED and smaller is not None:
            pairs = [(dataset, smaller) for dataset in datasets]
        for left, right in pairs:
            if allowed.distinguishing(left, right):
                continue
            apart = min(spec.distance(left, right), spec.distance(right, left))
            if apart.is_infinite or not allowed.share(left, right):
                rule = "allows two datasets that the specification does not compare, about which nothing is promised"
                raise errors.AttackerMisfitError("prior", rule, "condition it on one universe, and on one size")
            if apart > distance:
                rule = f"allows two datasets at distance {apart}, and bounds are requested for distance {distance}"
                raise errors.AttackerMisfitError("prior", rule, f"set distance={apart}")
