"""The strongest attacker, who knows every record but the target's, and the attacker with any prior.

The one learns about the target's record (Bailie, Gong, Meng and Drechsler 2024; Kifer et al. 2022); for the other, dependence
between records included, it is what the target's own record reveals (Kifer et al. 2022).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import partial
from typing import Annotated, ClassVar

import attrs

from dpspec.plugin import (
    AttackerModel,
    Bracket,
    Exact,
    Integer,
    Items,
    Mechanism,
    Number,
    OutputDivergence,
    PrivacySpec,
    Rational,
    RiskStatement,
    Sense,
    Text,
    blocks,
    define,
    errors,
    exact,
    laws,
    ln,
    number,
    params,
    risks,
)
from dpspec_attackers.knowledge import AnyPriorTrueRecord, Knowledge, OthersKnownPredicted, OthersKnownTrueRecord, WorstCase
from dpspec_attackers.semantics import (
    FACTORS,
    NO_BOUND,
    PRIORS,
    at,
    exponential,
    growth,
    loss_bound,
    posterior,
    pure_bound,
    said,
)
from dpspec_attackers.worlds import (
    ANY,
    IN_DOUBT,
    Counterfactual,
    Weighted,
    World,
    WrittenPrior,
    check_compared,
    check_uncertain,
    dropped,
    replaced,
    replacement_distance,
    replacing,
    target,
)

ODDS = "posterior odds by prior odds"
POSTERIOR = "posterior belief in one of two candidates"
TRUE = "probability that belief in the truth grows by the factor"
PREDICTED = "predicted probability that belief in one record grows by the factor"


@define
class StrongestAttacker(AttackerModel):
    """An attacker who knows all records but the target's, has a prior on that one, and sees the release.

    Posterior odds are prior odds times the likelihood ratio, so that the log-odds move by the privacy loss: by epsilon at most
    under pure privacy, and under other standards by more, with a probability that is bounded:

        P(ratio >= F | true record) <= D(F),    P(ratio >= F | prediction) <= D(F)/F,

    with D(F) the largest P(S) of two allowed laws and an event with P(S) >= F Q(S). The second holds because predicting the
    outcome means drawing it from the mixture that the ratio has below. Both are attained by some mechanism at some prior.

    Args:
        priors: beliefs in a candidate before the release, in (0, 1).
        factors: growths of the belief, above 1.
        distance: the distance of two datasets with different candidates, in the unit of the input divergence.
        datasets: the datasets that are evaluated for the mechanism's own law; by default all, or the smallest of a large space.

    >>> from dpspec_divergences.routes import zcdp_spec
    >>> [str(said.value) for said in StrongestAttacker(priors=["1/2"], factors=["2"]).worst_case(zcdp_spec(rho=1))][:2]
    ['inf', '1']
    """

    name: ClassVar[str] = "strongest"
    title: ClassVar[str] = "knows everybody else and learns about one record"
    knowledge: ClassVar[str] = "every record but the target's, and any prior on that one; the mechanism, but not its random bits"
    target: ClassVar[str] = "the target's record"
    observation: ClassVar[str] = "the whole release, processed in any way"
    assumption: ClassVar[str] = "the other records are known; probabilities are those of the outcome, as each row states"
    source: ClassVar[str] = (
        "Bailie et al. 2024, attackers, likelihood ratio and relative risk, strongest attacker; Kifer et al. 2022, Sections 5, "
        "7.3 and 7.4.1"
    )
    in_panel: ClassVar[bool] = True

    priors: Annotated[tuple[Fraction, ...], Items(IN_DOUBT)] = PRIORS  # type: ignore[assignment]
    factors: Annotated[tuple[Fraction, ...], Items(Rational(1, open_low=True))] = FACTORS  # type: ignore[assignment]
    distance: Annotated[Number, Exact(0, "inf", open_low=True, open_high=True)] = 1  # type: ignore[assignment]
    datasets: Annotated[tuple[object, ...], Items(params.Data())] = ()

    def named_datasets(self) -> tuple[object, ...]:
        return self.datasets

    def worst_case(self, spec: PrivacySpec) -> tuple[RiskStatement, ...]:
        return risks.candidates_within(spec, self.distance).stated(partial(self._allowed, spec.output_divergence))

    def _allowed(self, divergence: OutputDivergence, bound: Number) -> Iterator[RiskStatement]:
        ratio = exponential(loss_bound(divergence, bound))
        yield from self._about(
            Sense.AT_MOST, ratio, "Kifer et al. 2022, Section 5; Bailie et al. 2024: log-odds move by the privacy loss"
        )
        grown = {factor: growth(divergence, bound, factor) for factor in self.factors}
        every, true, seen = (
            "exact over all mechanisms (Kifer et al. 2022, Definition 5.4)",
            OthersKnownTrueRecord,
            OthersKnownPredicted,
        )
        for factor, value in grown.items():
            theorem, known = f"{true.theorem}, {every}", self._about_class(true)
            yield said(TRUE, at(factor=factor), Sense.AT_MOST, value, theorem, known, trivial=1)
        for factor, value in grown.items():
            theorem, known, share = f"{seen.theorem}, {every}", self._about_class(seen), value.scaled(1 / factor)
            yield said(PREDICTED, at(factor=factor), Sense.AT_MOST, share, theorem, known, trivial=1 / factor)

    def under(self, mechanism: Mechanism, spec: PrivacySpec) -> tuple[RiskStatement, ...]:
        found, about = risks.published_within(spec, self.distance), partial(self._allowed, spec.output_divergence)
        if found.bound is None and not self.datasets:
            nearest = risks.nearest_pairs(mechanism, spec)
            own = [] if nearest is None else self._at(nearest)._own(nearest)
        else:
            own = self._own(risks.own_pairs(mechanism, spec, self.distance, self.datasets or None))
        return (*found.published(about), *found.left_open(own))

    def _at(self, nearest: risks.ComparedPairs) -> StrongestAttacker:
        """The same attacker with candidates at the least distance of two datasets of a universe."""
        return params.evolve(self, distance=nearest.distance)

    def _own(self, looked: risks.ComparedPairs) -> list[RiskStatement]:
        """What some pairs of laws do to beliefs."""
        loss = looked.largest(lambda pair: pair.max_log_ratio())
        ratio = Bracket(lower=exponential(loss.lower).lower, upper=exponential(loss.upper).upper)
        statements = list(self._about(looked.sense, ratio, f"the largest likelihood ratio, {looked.scope}"))
        for factor in self.factors if looked.pairs else ():  # a tail may be larger for laws that are nearer
            grown = exact.largest(_tail(ln(factor), pair) for pair in looked.pairs)
            theorem = f"tail of the privacy loss, the limit of a small prior, {looked.scope}"
            known = self._about_class(OthersKnownTrueRecord)
            statements.append(said(TRUE, at(factor=factor), Sense.AT_LEAST, grown, theorem, known, trivial=1))
        return statements

    def _apart(self) -> str:
        return f"datasets with different candidates are at distance {self.distance} at most"

    def _about_class(self, known: type[Knowledge]) -> str:
        return f"{known.assumption()}; {self._apart()}"

    def _about(self, relation: Sense, ratio: Bracket, theorem: str) -> Iterator[RiskStatement]:
        known = f"the other records are known; {self._apart()}"
        yield said(ODDS, (), relation, ratio, theorem, known)
        for prior in self.priors:
            yield said(
                POSTERIOR,
                at(prior=prior),
                relation,
                posterior(ratio, prior),
                f"{theorem}; Bailie et al. 2024, strongest attacker",
                known,
                trivial=1,
            )


def _tail(loss: Number, pair: laws.Dichotomy) -> Bracket:
    """P(privacy loss >= a number)."""
    return laws.PrivacyLoss(pair).above(loss)


# --- any prior ------------------------------------------------------------------------------------


MOST = "posterior with the record by posterior without it, largest"
LEAST = "posterior with the record by posterior without it, smallest"
PRIOR = "posterior by prior, largest"
TAIL = "probability that the record increases belief in the truth by the factor"
ORDER = (MOST, LEAST, PRIOR, TAIL)


@define
class ArbitraryPrior(AttackerModel):
    """An attacker with any prior over whole datasets, who compares the release with one that does not use the target's record.

    The ratio of the two posteriors of the target's record is what that record causes; under pure privacy it lies within
    e^-epsilon and e^epsilon for every prior when the record is replaced by a draw from what the others let one expect, and within
    e^(-2 epsilon) and e^(2 epsilon) for a fixed default record or none. Posterior by prior is another thing: it has no bound that
    does not grow with the number of records, since others may disclose the target (Bailie et al. 2024; Kifer et al. 2022).

    Args:
        prior: pairs [dataset, probability] that sum to 1, for the mechanism's own law; uniform without it.
        position: which record is the target's, from 0.
        counterfactual: the replacement of the target's record when it is not used: sampled, default or dropped.
        default: the default record.
        factors: growths of the belief, above 1.
        distance: the distance of two datasets with different candidates, in the unit of the input divergence; that of a
            replaced record where the size of the data is fixed.

    >>> from dpspec_divergences.routes import zcdp_spec
    >>> [str(said.value) for said in ArbitraryPrior(factors=[]).worst_case(zcdp_spec(rho=1))]
    ['inf', '0', 'inf']
    """

    name: ClassVar[str] = "arbitrary-prior"
    title: ClassVar[str] = "has any prior, and compares with a release that does not use the record"
    knowledge: ClassVar[str] = "a prior over whole datasets, records dependent or not; the mechanism, but not its random bits"
    target: ClassVar[str] = "the target's record, as far as the release of that record reveals it"
    observation: ClassVar[str] = "the whole release, processed in any way"
    assumption: ClassVar[str] = "the same prior in both worlds; for probabilities, that it is right"
    source: ClassVar[str] = (
        "Kifer et al. 2022, Sections 7.1 to 7.3 and 7.4.2, footnote 13; Bailie et al. 2024, two dependent records, general "
        "prior, what is promised"
    )
    in_panel: ClassVar[bool] = True

    prior: Annotated[WrittenPrior, Weighted()] = "uniform"  # type: ignore[assignment]
    position: Annotated[int, Integer(0)] = 0
    counterfactual: Annotated[str, Text(tuple(way.value for way in Counterfactual))] = "sampled"
    default: Annotated[object, params.Data()] | None = None
    factors: Annotated[tuple[Fraction, ...], Items(Rational(1, open_low=True))] = FACTORS  # type: ignore[assignment]
    distance: Annotated[Number, Exact(0, "inf", open_low=True, open_high=True)] | None = None

    def named_datasets(self) -> tuple[object, ...]:
        return tuple(dataset for dataset, _ in self.prior)

    def __attrs_post_init__(self) -> None:
        if self.way is Counterfactual.DEFAULT and self.default is None:
            rule = "needs a record that represents the target's"
            raise errors.CounterfactualError("counterfactual", rule, "name it as default", value=self.counterfactual)
        if self.way is not Counterfactual.DEFAULT and self.default is not None:
            rule = f"belongs to counterfactual = default, not to {self.counterfactual}"
            raise errors.CounterfactualError("default", rule, "set counterfactual=default, or leave it out", value=self.default)

    @property
    def way(self) -> Counterfactual:
        """Which world without the record is meant."""
        return Counterfactual(self.counterfactual)

    def worst_case(self, spec: PrivacySpec) -> tuple[RiskStatement, ...]:
        if self.way is Counterfactual.DROPPED and all(spec.space.fixes_size(unit) for unit in spec.space.units):
            rule = "leaves the record out, and all datasets have one size"
            raise errors.CounterfactualError("counterfactual", rule, "use sampled or default", value=self.counterfactual)
        caused, known = self._candidates(spec), partial(self._caused, spec)
        statements = (*caused.stated(known), *self._wholes(spec).stated(partial(self._by_prior, spec)))
        return tuple(sorted(statements, key=lambda statement: ORDER.index(statement.quantity)))

    def _candidates(self, spec: PrivacySpec) -> risks.Candidates:
        """The pairs that a bound connects: a record replaced by another, or left out."""
        if self.way is not Counterfactual.DROPPED:
            return replaced(spec, self.position, self.distance)
        step = self._step(spec)
        if not risks.is_small(spec):
            return risks.candidates_within(spec, step)
        pairs = ((x, smaller) for x in spec.space.datasets() if (smaller := dropped(spec, x, self.position)) is not None)
        return risks.candidates_among(spec, [(x, y) for x, y in pairs if spec.distance(x, y) <= step])

    def _caused(self, spec: PrivacySpec, bound: Number) -> Iterator[RiskStatement]:
        """The effect of the target's own record, for a bounded divergence of the laws with it and without it."""
        divergence, twice = spec.output_divergence, self.way is not Counterfactual.SAMPLED
        pure = loss_bound(divergence, bound)
        size = pure if pure.is_infinite or not twice else pure * 2
        theorem = f"Kifer et al. 2022, {'footnote 13, e^(2 epsilon)' if twice else 'Section 7.3, e^epsilon'}"
        least = 0 if size.is_infinite else exponential(-size)
        step = "left out" if self.way is Counterfactual.DROPPED else "replaced"
        whose, apart = target(spec, self.position), f"a record {step} is at distance {self._step(spec)}"
        known = f"{whose}{WorstCase.assumption()}; {apart}"
        yield said(MOST, (), Sense.AT_MOST, exponential(size), theorem, known)
        yield said(LEAST, (), Sense.AT_LEAST, least, theorem, known, trivial=0)
        if not twice and divergence.keeps_mixtures:
            theorem = (
                "as Theorem 3 of Kifer et al. 2022 for class c, since mixing over the others keeps the bound; "
                "sharper than their Section 7.4.2"
            )
            right = f"{whose}{AnyPriorTrueRecord.assumption()}; {apart}"
            for factor in self.factors:
                value = growth(divergence, bound, factor)
                yield said(TAIL, at(factor=factor), Sense.AT_MOST, value, theorem, right, trivial=1)

    def _step(self, spec: PrivacySpec) -> Number:
        """The distance of the datasets that a bound connects: a record replaced, or left out."""
        if self.way is Counterfactual.DROPPED and self.distance is None:
            return number(1)
        return replacing(spec, self.distance)

    def _wholes(self, spec: PrivacySpec) -> risks.Candidates:
        """Two whole datasets of one size that differ in the target's record, and in any others.

        Without invariants one becomes the other by replacing at most n records, each step within the promise (taking one out and
        another in, where records are left out). Where there are some, the way would leave the universe, and only the distance of
        the two themselves counts.
        """
        space, held = spec.space, spec.multiverse.induced_by()
        length = _most_records(spec)
        chain = exact.INFINITY
        if held == () and length is not None:
            chain = self._allowed_step(spec) * number(length)
        if not risks.is_small(spec) or not space.is_ordered:
            apart, one_number = self._apart(spec), spec.budget.uniform() is not None
            if held and length is not None and spec.input_divergence.is_metric and one_number and not apart.is_infinite:
                chain = risks.candidates_within(spec, apart * number(length)).bound or exact.INFINITY
            return risks.Candidates(
                distinguishing=risks.differing_invariants(spec, filter(self._of_one_size, risks.pairs_tried(spec))),
                is_listed=False,
                may_differ=bool(held),
                unpromised=held is None,
                bound=chain,
            )
        datasets = [x for x in space.datasets() if isinstance(x, tuple) and self.position < len(x)]
        pairs = itertools.combinations(datasets, 2)
        found = risks.candidates_among(
            spec, ((x, y) for x, y in pairs if len(x) == len(y) and x[self.position] != y[self.position])
        )
        return found if found.bound is None else attrs.evolve(found, bound=min(found.bound, chain))

    def _apart(self, spec: PrivacySpec) -> Number:
        """A bound of the distance of two datasets of one size in which one record differs: as it is known, else as given."""
        known = replacement_distance(spec)
        if not known.is_infinite or self._is_known(spec):
            return known
        if self.way is Counterfactual.DROPPED:
            return self._step(spec) * 2
        return exact.INFINITY if self.distance is None else self.distance

    def _is_known(self, spec: PrivacySpec) -> bool:
        """Whether the distance of a replaced record is known of all datasets, so that none is assumed."""
        return spec.space.is_ordered and risks.is_small(spec)

    def _allowed_step(self, spec: PrivacySpec) -> Number:
        """What the promise allows for one record replaced, whichever it is: directly, or by leaving it out and adding another."""
        apart, allowed = self._apart(spec), []
        if not apart.is_infinite:
            allowed.append(risks.candidates_within(spec, apart).bound or number(0))
        if self._is_known(spec):
            left_out = [
                (x, smaller)
                for x in spec.space.datasets()
                for place in range(len(x) if isinstance(x, tuple) else 0)
                if (smaller := dropped(spec, x, place)) is not None
            ]
            bound = risks.candidates_among(spec, left_out).bound if left_out else None
            allowed += [] if bound is None else [bound * 2]
        return min(allowed, default=exact.INFINITY)

    def _of_one_size(self, pair: tuple[object, object]) -> bool:
        """Whether two datasets have one size, and another record at the position of the target."""
        one, other = pair
        if not isinstance(one, tuple) or not isinstance(other, tuple) or len(one) != len(other):
            return False
        return self.position < len(one) and one[self.position] != other[self.position]

    def _by_prior(self, spec: PrivacySpec, bound: Number) -> Iterator[RiskStatement]:
        pure = pure_bound(spec.output_divergence, bound)
        known = f"{target(spec, self.position)}any prior on datasets of one size"
        if not self._is_known(spec) and replacement_distance(spec).is_infinite and not self._apart(spec).is_infinite:
            known = f"{known}; a record replaced is at distance {self._apart(spec)} at most"
        if pure.is_infinite:
            reason = "Kifer et al. 2022, Section 7.1: no bound exists"
            if not loss_bound(spec.output_divergence, bound).is_infinite:
                reason = "no bound of several changes is known"
            yield said(PRIOR, (), Sense.AT_MOST, NO_BOUND, reason, known)
            return
        theorem = (
            "Bailie et al. 2024, general prior: e^(n epsilon), approached when all records are equal; "
            "n epsilon what the furthest two may be apart"
        )
        yield said(PRIOR, (), Sense.AT_MOST, exponential(pure), theorem, known)

    def under(self, mechanism: Mechanism, spec: PrivacySpec) -> tuple[RiskStatement, ...]:
        world = World.of(mechanism, spec, self.prior, self.position)
        check_compared(spec, world, self._step(spec), self.way)
        for record in world.records:
            check_uncertain(world.belief(record), f"the target's record {record}")
        whole = tuple(self._own([world]))
        if not spec.multiverse.induced_by():
            return whole
        caused, prior = (attrs.evolve(found, is_listed=True) for found in (self._candidates(spec), self._wholes(spec)))
        if caused.is_plain:  # the record never shows in what is published, which may tell of the others all the same
            shown = tuple(statement for statement in whole if statement.quantity == PRIOR)
            plain = tuple(statement for statement in whole if statement.quantity != PRIOR)
        else:
            shown, plain = whole, ()
        certain = (attrs.evolve(statement, at=(*statement.at, ("candidates", ANY))) for statement in shown)
        inside = [part for part in world.by_universe() if not self._tells(part)]
        own = tuple(self._own(inside)) if inside else ()
        kinds = {statement.quantity for statement in shown}
        left = ((prior if one.quantity == PRIOR else caused, one) for one in own if one.quantity in kinds)
        return (*plain, *certain, *(said for found, one in left for said in found.left_open([one])))

    def _tells(self, world: World) -> bool:
        """Whether published facts distinguish the world without the target's record from the one with it."""
        return any(world.tells(others, record, self.way, self.default) for others, record in world.prior)

    def _own(self, worlds: Sequence[World]) -> Iterator[RiskStatement]:
        """The extremes over some worlds."""
        ratios = [(world, r, world.ratios(r, self.way, self.default)) for world in worlds for r in world.records]
        values = [value for _, _, held in ratios for value in held.values()]
        theorem, known = "exact Bayes (Kifer et al. 2022)", "the prior as given" if self.prior else "the uniform prior"
        highest = NO_BOUND if None in values else Bracket.exactly(max(value for value in values if value is not None))
        lowest = min((value for value in values if value is not None), default=exact.INFINITY)
        yield said(MOST, (), Sense.EQUALS, highest, theorem, known)
        yield said(LEAST, (), Sense.EQUALS, lowest, theorem, known)
        most = max(value for world, r, _ in ratios for value in world.posterior_to_prior(r).values())
        yield said(PRIOR, (), Sense.EQUALS, most, "exact Bayes (Bailie et al. 2024)", known)
        for factor in self.factors:
            probabilities = [probability(world, r, held, factor) for world, r, held in ratios]
            worst, right = f"{theorem}, the worst record", f"{known}, and right"
            yield said(TAIL, at(factor=factor), Sense.EQUALS, max(probabilities), worst, right, trivial=1)


def _most_records(spec: PrivacySpec) -> int | None:
    """The largest number of records of a dataset, of the unit whose replacement has a distance; None where it is not bounded."""
    space, counted = spec.space, spec.input_divergence.counted_unit()
    most, units = blocks.sizes_of(space)[1], space.units
    if len(units) < 2 or counted == units[0]:
        return most
    inside = None if counted is None else blocks.nesting_of(space).most_within(counted, units[0])
    return None if most is None or inside is None else most * inside


def probability(world: World, record: object, ratios: dict[object, Fraction | None], factor: Fraction) -> Fraction:
    """P(ratio >= factor | the record is the true one)."""
    law = world.given_record(record)
    return sum((law.get(o, Fraction(0)) for o, value in ratios.items() if value is None or value >= factor), Fraction(0))
