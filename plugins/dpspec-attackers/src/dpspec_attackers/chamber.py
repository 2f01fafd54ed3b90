"""The minimal information chamber (Bailie et al. 2024): dependence between records, and its effect on a Bayesian bound.

As printed, the chamber of record i is a Markov boundary C of X_i with X_i itself, c = |C| + 1, and epsilon-privacy is said to
hold exactly when every posterior is within e^(-c epsilon) and e^(c epsilon) of its prior. That is false: of n equal records each
other one is a Markov boundary by itself, so that c = 2, while the ratio approaches e^(n epsilon). What is true: take c as
the size of the *family* of i, the smallest set of records with i in it that is independent of all others. Given X_i, the law of
the output averages over the family and over the others separately, and changing X_i changes c records at most.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Annotated, Any, ClassVar

from dpspec.plugin import (
    AttackerModel,
    Bracket,
    Dataset,
    Integer,
    Mechanism,
    Number,
    PrivacySpec,
    RiskStatement,
    Sense,
    Text,
    define,
    errors,
    exact,
    number,
    risks,
)
from dpspec_attackers.semantics import exponential, pure_bound, said
from dpspec_attackers.worlds import Weighted, World, WrittenPrior, check_uncertain, prior_on, replacing

Joint = Mapping[tuple[Any, ...], Fraction]
MOST, LEAST = "posterior by prior, largest", "posterior by prior, smallest"


@define
class InformationChamber(AttackerModel):
    """An attacker whose prior ties the target's record to some others, and who learns through all of them.

    Args:
        prior: pairs [dataset, probability] that sum to 1; condition it on what is public.
        position: which record is the target's, from 0.
        chamber: family, the corrected number of records; or printed, the Markov boundary with the record, which is refuted.
    """

    name: ClassVar[str] = "information-chamber"
    title: ClassVar[str] = "has a prior that ties the record to some others"
    knowledge: ClassVar[str] = (
        "a prior over whole datasets, conditioned on what is public; the mechanism, but not its random bits"
    )
    target: ClassVar[str] = "the target's record, in any way"
    observation: ClassVar[str] = "the whole release"
    assumption: ClassVar[str] = "the prior as given"
    source: ClassVar[str] = "Bailie et al. 2024, minimal information chamber and theorem on information chambers"

    prior: Annotated[WrittenPrior, Weighted()]
    position: Annotated[int, Integer(0)] = 0
    chamber: Annotated[str, Text(("family", "printed"))] = "family"

    def named_datasets(self) -> tuple[object, ...]:
        return tuple(dataset for dataset, _ in self.prior)

    def worst_case(self, spec: PrivacySpec) -> tuple[RiskStatement, ...]:
        """Over the universes that the prior allows: what their facts do to the belief, exactly, times the bound there."""
        prior = prior_on(spec, self.prior)
        beliefs, allowed = _beliefs(prior, self.position), risks.Allowed(spec)
        most, least, sizes = Bracket.exactly(0), Bracket.exactly(1), set[int]()
        for inside in _by_published(prior, allowed):
            size, pure = self._inside(spec, inside, allowed)
            if pure.is_infinite:
                rule = "bounds no likelihood ratio, so that no posterior is bounded by its prior"
                raise errors.AttackerMisfitError(
                    f"output divergence {spec.output_divergence.name}", rule, "ask about pure privacy"
                )
            sizes.add(size)
            known = _beliefs(inside, self.position)
            moved = [known.get(record, Fraction(0)) / before for record, before in beliefs.items()]
            most = max(most, exponential(pure).scaled(max(moved)), key=lambda value: value.upper)
            least = min(least, exponential(-pure).scaled(min(moved)), key=lambda value: value.lower)
        listed = ", ".join(map(str, sorted(sizes)))
        form = "as published, and refuted" if self.chamber == "printed" else "corrected"
        theorem = f"Bailie et al. 2024, theorem on information chambers, {form}, c = {listed}"
        held = "the prior as given, in which the record belongs to {} that are correlated".format(
            listed.replace(", ", " or ")
        )
        if spec.multiverse.induced_by():
            theorem = f"what is published updates the prior, exactly; then {theorem}"
            held = f"{held} once the published facts are known: {spec.multiverse}"
        return (
            said(MOST, (), Sense.AT_MOST, most, theorem, held),
            said(LEAST, (), Sense.AT_LEAST, least, theorem, held, trivial=0),
        )

    def _inside(self, spec: PrivacySpec, prior: Mapping[Dataset, Fraction], allowed: risks.Allowed) -> tuple[int, Number]:
        """The size of the chamber, and the privacy loss that changing it can show, for a prior inside one universe."""
        joint = _joint(prior)
        together = family(joint, self.position)
        size = len(together) if self.chamber == "family" else markov_boundary(joint, self.position) + 1
        if spec.multiverse.induced_by() == ():
            bound = risks.candidates_within(spec, replacing(spec)).bound
            return size, exact.INFINITY if bound is None else pure_bound(spec.output_divergence, bound) * size
        losses = [
            pure_bound(spec.output_divergence, allowed.between(left, right))
            for left, right in itertools.combinations(joint, 2)
            if all(a == b or place in together for place, (a, b) in enumerate(zip(left, right, strict=True)))
        ]
        return size, max(losses, default=number(0))

    def under(self, mechanism: Mechanism, spec: PrivacySpec) -> tuple[RiskStatement, ...]:
        world = World.of(mechanism, spec, self.prior, self.position)
        for record in world.records:
            check_uncertain(world.belief(record), f"the target's record {record}")
        ratios = [value for record in world.records for value in world.posterior_to_prior(record).values()]
        return (
            said(MOST, (), Sense.EQUALS, max(ratios), "exact Bayes", self.assumption),
            said(LEAST, (), Sense.EQUALS, min(ratios), "exact Bayes", self.assumption),
        )


def _by_published(prior: Mapping[Dataset, Fraction], allowed: risks.Allowed) -> Iterator[dict[Dataset, Fraction]]:
    """The prior given each possible value of what is published."""
    for value in dict.fromkeys(map(allowed.published, prior)):
        held = {dataset: mass for dataset, mass in prior.items() if allowed.published(dataset) == value}
        total = sum(held.values())
        yield {dataset: mass / total for dataset, mass in held.items()}


def _beliefs(prior: Mapping[Dataset, Fraction], position: int) -> dict[Hashable, Fraction]:
    """The law of the target's record."""
    return {record: mass for (record,), mass in _marginal(_joint(prior), (position,)).items()}


def family(prior: Joint, position: int) -> frozenset[int]:
    """The smallest set of positions with this one that is independent of all others.

    >>> half = Fraction(1, 2)
    >>> sorted(family({(0, 0, 0): half, (1, 1, 1): half}, 0)), markov_boundary({(0, 0, 0): half, (1, 1, 1): half}, 0)
    ([0, 1, 2], 1)
    """
    length = len(next(iter(prior)))
    rest = [place for place in range(length) if place != position]
    for size in range(length):
        for others in itertools.combinations(rest, size):
            held = frozenset({position, *others})
            if _independent(prior, held, frozenset(range(length)) - held):
                return held
    raise AssertionError("all records together are independent of none")


def markov_boundary(prior: Joint, position: int) -> int:
    """The size of a smallest set C of other positions with P(X_i | all others) = P(X_i | X_C)."""
    rest = [place for place in range(len(next(iter(prior)))) if place != position]
    for size in range(len(rest) + 1):
        for chosen in itertools.combinations(rest, size):
            if _screens(prior, position, chosen, rest):
                return size
    raise AssertionError("all other records together screen the target")


def _screens(prior: Joint, position: int, chosen: Iterable[int], rest: Iterable[int]) -> bool:
    """Whether P(x_i, x_rest) P(x_chosen) = P(x_i, x_chosen) P(x_rest) for every value of the target that occurs."""
    chosen, rest = tuple(chosen), tuple(rest)
    whole, part = _marginal(prior, (position, *rest)), _marginal(prior, (position, *chosen))
    all_rest, all_chosen = _marginal(prior, rest), _marginal(prior, chosen)
    places = [rest.index(place) for place in chosen]
    values = {key[0] for key in whole}
    return all(
        whole.get((value, *others), 0) * all_chosen[seen] == part.get((value, *seen), 0) * mass
        for others, mass in all_rest.items()
        for value in values
        for seen in [tuple(others[place] for place in places)]
    )


def _independent(prior: Joint, held: frozenset[int], others: frozenset[int]) -> bool:
    left, right = tuple(sorted(held)), tuple(sorted(others))
    one, two, both = _marginal(prior, left), _marginal(prior, right), _marginal(prior, (*left, *right))
    return all(both.get((*a, *b), 0) == p * q for a, p in one.items() for b, q in two.items())


def _marginal(prior: Joint, places: tuple[int, ...]) -> dict[tuple[Any, ...], Fraction]:
    found: dict[tuple[Any, ...], Fraction] = {}
    for dataset, mass in prior.items():
        key = tuple(dataset[place] for place in places)
        found[key] = found.get(key, Fraction(0)) + mass
    return found


def _joint(prior: Mapping[Hashable, Fraction]) -> Joint:
    if not all(isinstance(dataset, tuple) for dataset in prior) or len({len(d) for d in prior}) != 1:  # type: ignore[arg-type]
        raise errors.AttackerMisfitError(
            "prior", "must be on datasets of ordered records, all of one size", "name their positions"
        )
    return prior  # type: ignore[return-value]
