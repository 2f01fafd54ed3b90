"""The strong membership attacker: knows all other records, and tests whether one person is in the data (Kazan 2025).

The pairs are datasets with and without one record: what a specification allows about them, and which there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import Annotated, ClassVar

import attrs
from dpspec_divergences.counting import AddRemove, SymmetricDifference, exchange

from dpspec.plugin import (
    AttackerModel,
    Bracket,
    Dataset,
    Items,
    Mechanism,
    Number,
    PrivacySpec,
    Rational,
    RiskStatement,
    Sense,
    define,
    errors,
    exact,
    grammar,
    number,
    risks,
)
from dpspec_attackers.membership.posterior import (
    difference_bound,
    highest_posterior,
    highest_ratio,
    loss_bound,
    lowest_posterior,
    one_sided_loss,
    prior_of,
    two_sided_loss,
)
from dpspec_attackers.numeric import as_bracket
from dpspec_attackers.semantics import said
from dpspec_attackers.worlds import replacement_distance


def inclusion_distance(spec: PrivacySpec) -> tuple[Number, str]:
    """The largest distance of two datasets that differ by one record added or removed, and the unit of that record.

    Raises:
        AttackerMisfitError: when the space fixes the number of records, or the distance of such datasets is not known to be
            finite.
    """
    divergence = spec.input_divergence
    relation = getattr(divergence, "relation", None)
    unit = divergence.counted_unit() or getattr(divergence if relation is None else relation, "unit", None)
    if unit is None or unit not in spec.space.units:
        rule = "counts no records of one unit, so that it is not said whose membership is protected"
        raise errors.AttackerMisfitError(f"input_divergence {divergence.name}", rule, "use symmetric-difference with a unit")
    advice = "ask an attacker about values, or protect records that are added or removed (symmetric-difference)"
    if spec.space.fixes_size(unit):
        rule = f"fixes the number of {unit} records: no one is in or out of the data"
        raise errors.AttackerMisfitError(f"space {spec.space.name}", rule, advice)
    if relation is not None and AddRemove(unit=unit).within(relation) is not None:
        return number(1), unit
    found = grammar.distance_bound(divergence, SymmetricDifference(unit=unit), spec.space)
    if found is None or found[0].is_infinite:
        rule = f"promises nothing about datasets with one {unit} record more or less"
        raise errors.AttackerMisfitError(f"input_divergence {divergence.name}", rule, advice)
    return found[0], unit


def inclusion_candidates(spec: PrivacySpec) -> risks.Candidates:
    """What a specification says about a dataset with and without one record."""
    distance, unit = inclusion_distance(spec)

    def by_one(left: Dataset, right: Dataset) -> bool:
        return sum(exchange(left, right, spec.space, unit)) == 1

    return risks.candidates_within(spec, distance, by_one)


def inclusion_pairs(spec: PrivacySpec) -> risks.CandidatePairs:
    """The ordered pairs of datasets of one universe that differ by one record.

    Raises:
        NotReachedError: when there is none.
    """
    distance, unit = inclusion_distance(spec)
    near = risks.pairs_within(spec, distance)

    def by_one(left: Dataset, right: Dataset) -> bool:
        return sum(exchange(left, right, spec.space, unit)) == 1

    kept = near.only(by_one)
    if not kept.pairs:
        raise errors.NotReachedError("space", f"holds no two datasets of one universe that differ by one {unit} record")
    return attrs.evolve(kept, scope=f"{near.scope}, of these {len(kept.pairs)} with one {unit} record more or less")


def one_sided_losses(
    pairs: risks.CandidatePairs, mechanism: Mechanism, spec: PrivacySpec, failure: Fraction
) -> tuple[Bracket, Bracket]:  # fmt: skip
    """The largest ln(P_x/P_x') but with probability `failure`: where x has the record, which speaks for it, and where x' has.

    A mechanism may speak for it and hardly ever against it: what only a dataset without the record gives excludes the record, and
    does not show that some record is there.
    """
    unit = inclusion_distance(spec)[1]
    sizes = {dataset: len(spec.space.records(dataset, unit)) for pair in pairs.pairs for dataset in pair}
    ordered = dict.fromkeys(pair if sizes[pair[0]] > sizes[pair[1]] else pair[::-1] for pair in pairs.pairs)
    both = (tuple(ordered), tuple(pair[::-1] for pair in ordered))
    rise, fall = (
        attrs.evolve(pairs, pairs=way).compare(mechanism, spec).largest(partial(one_sided_loss, failure=failure)) for way in both
    )
    return rise, fall


def value_pairs(spec: PrivacySpec) -> risks.CandidatePairs:
    """The ordered pairs of datasets of one universe in which one record differs, where records may also be left out.

    They are at most twice as far apart as datasets with and without a record.
    """
    distance, unit = inclusion_distance(spec)

    def one(left: Dataset, right: Dataset) -> bool:
        return exchange(left, right, spec.space, unit) == (1, 1)

    return risks.pairs_within(spec, distance * 2).only(one)


def _replacement(spec: PrivacySpec) -> Number:
    """The largest distance of two datasets of one size in which one record differs.

    Raises:
        AttackerMisfitError: when it is not known to be finite.
    """
    found = replacement_distance(spec)
    if found.is_infinite or spec.input_divergence.counted_unit() is None:
        rule = "does not state the distance of two datasets in which one record differs"
        raise errors.AttackerMisfitError(f"input_divergence {spec.input_divergence.name}", rule, "use hamming with a unit")
    return found


def replacement_candidates(spec: PrivacySpec) -> risks.Candidates:
    """What a specification says about two datasets of one size in which one record differs."""
    unit = spec.input_divergence.counted_unit() or ""

    def one(left: Dataset, right: Dataset) -> bool:
        return exchange(left, right, spec.space, unit) == (1, 1)

    return risks.candidates_within(spec, _replacement(spec), one)


def replacement_pairs(spec: PrivacySpec) -> risks.CandidatePairs:
    """The ordered pairs of datasets of one universe in which one record differs, and nothing else."""
    unit = spec.input_divergence.counted_unit() or ""
    near = risks.pairs_within(spec, _replacement(spec))

    def one(left: Dataset, right: Dataset) -> bool:
        return exchange(left, right, spec.space, unit) == (1, 1)

    return near.only(one)


# --- the attacker ---------------------------------------------------------------------------------


PRIORS = (Fraction(1, 100), Fraction(1, 10), Fraction(1, 2))


@define
class StrongMembership(AttackerModel):
    """An attacker who knows every other record and the value of the target's record, and tests whether it is included.

    Each statement holds for every outcome but those of total probability `failure`, whether the target is in the data or not.

    Args:
        priors: probabilities of membership that the attacker believes before, in (0, 1).
        failure: the probability with which a statement may fail; it has to be above the delta of approximate privacy, and above
            0 for concentrated privacy.

    >>> attacker = StrongMembership(priors=["1/2"], failure="1/20")
    >>> attacker.failure
    Fraction(1, 20)
    """

    name: ClassVar[str] = "strong-membership"
    title: ClassVar[str] = "knows all other records, and asks whether one is in the data"
    knowledge: ClassVar[str] = "every other record, the target's own, and a prior probability that it is included"
    target: ClassVar[str] = "whether the target's record is in the data"
    observation: ClassVar[str] = "the whole release; of several, all of them on the same data"
    assumption: ClassVar[str] = "the attacker knows every other record"
    source: ClassVar[str] = (
        "Kazan 2025, Sections 5.3.1 and 5.4.4, Theorems 27 to 29, 31 and 35, Lemma 30, Corollaries 32 to 34 and 36 to 38"
    )
    in_panel: ClassVar[bool] = True

    priors: Annotated[tuple[Fraction, ...], Items(Rational(0, 1), least=1)] = PRIORS
    failure: Annotated[Fraction, Rational(0, 1, open_high=True)] = Fraction(0)

    def __attrs_post_init__(self) -> None:
        for prior in self.priors:
            prior_of(prior)

    def worst_case(self, spec: PrivacySpec) -> tuple[RiskStatement, ...]:
        return inclusion_candidates(spec).stated(partial(self._allowed, spec))

    def _allowed(self, spec: PrivacySpec, bound: Number) -> tuple[RiskStatement, ...]:
        if bound.is_infinite:
            return self._said(Sense.AT_MOST, Bracket.exactly(exact.INFINITY), "nothing bounds the privacy loss")
        divergence = spec.output_divergence
        budget = divergence.budget_for(divergence.budget_parameters[0], bound)  # rho, where the bound is its root
        return self._said(Sense.AT_MOST, *loss_bound(divergence, budget, self.failure))

    def under(self, mechanism: Mechanism, spec: PrivacySpec) -> tuple[RiskStatement, ...]:
        found = inclusion_candidates(spec)
        certain = tuple(found.published(partial(self._allowed, spec)))
        if found.bound is None:
            return certain
        pairs = inclusion_pairs(spec)
        looked = pairs.compare(mechanism, spec)
        loss = looked.largest(partial(two_sided_loss, failure=self.failure))
        rise, fall = one_sided_losses(pairs, mechanism, spec, self.failure)
        own = self._said(looked.sense, loss, f"Kazan 2025, Theorem 27, {looked.scope}", rise, fall)
        return (*certain, *found.left_open(own))

    def _said(
        self, relation: Sense, loss: Bracket, theorem: str, rise: Bracket | None = None, fall: Bracket | None = None
    ) -> tuple[RiskStatement, ...]:  # fmt: skip
        """The statements from the largest loss either way, and from the largest one that speaks for membership, or against it."""
        rise, fall = loss if rise is None else rise, loss if fall is None else fall
        often = (("probability", str(1 - self.failure)),)
        falling = {Sense.AT_MOST: Sense.AT_LEAST, Sense.AT_LEAST: Sense.AT_MOST}.get(relation, relation)

        def one(
            quantity: str, at: Sequence[tuple[str, str]], value: Bracket, way: Sense, trivial: exact.NumberLike | None = None
        ) -> RiskStatement:
            return said(quantity, (*at, *often), way, value, theorem, self.assumption, trivial=trivial)

        certain = []
        for prior in self.priors:
            at = (("prior", str(prior)),)
            certain += [
                one("largest posterior of membership", at, highest_posterior(prior, rise), relation, 1),
                one("least posterior of membership", at, lowest_posterior(prior, fall), falling, 0),
                one("largest posterior by prior", at, highest_ratio(prior, rise), relation, 1 / prior),
            ]
        worst = one("largest change of the posterior", (("prior", "any"),), difference_bound(loss), relation, 1)
        return (*certain, worst, one("privacy loss", (), as_bracket(loss), relation))
