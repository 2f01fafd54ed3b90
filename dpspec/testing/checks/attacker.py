"""Checks of attacker models: limits against brute-force Bayes on small worlds, published facts, a mechanism inside its limits.

The worlds are the bit vectors of two people with the number of positions as distance: with nothing published, with the number
of ones, and with one bit. Their mechanisms are random laws on three outcomes; the budget is read off the laws.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from random import Random
from typing import cast

import attrs

from dpspec.attacker import AttackerModel, Relation, RiskStatement
from dpspec.blocks.budget import UniformBudget
from dpspec.blocks.input_divergence import InputDivergence
from dpspec.blocks.invariant import LinearMap
from dpspec.blocks.multiverse import LevelSets, Multiverse, Trivial
from dpspec.blocks.output_divergence import OutputDivergence
from dpspec.blocks.space import Dataset, DatasetSpace
from dpspec.blocks.vectors import BitVectors
from dpspec.errors import DpspecError
from dpspec.exact import Number, ln, number
from dpspec.laws.finite import FiniteLaw
from dpspec.mechanism import Mechanism
from dpspec.params import build, parameters
from dpspec.risk import risk
from dpspec.spec import PrivacySpec
from dpspec.testing.check import ClassSubject, Context, NotApplicable, check, require

KIND = "attackers"
PUBLISHED: tuple[Multiverse, ...] = (
    Trivial(),
    LevelSets(invariants=(LinearMap(rows=((1, 1),), label="number of ones"),)),
    LevelSets(invariants=(LinearMap(rows=((1, 0),), label="the first bit"),)),
)
WEIGHTS = (1, 1, 2, 4)


@attrs.frozen
class Listed(Mechanism):
    """A mechanism by its laws."""

    laws: dict[Dataset, FiniteLaw]

    name = "listed"

    def law(self, dataset: Dataset, space: DatasetSpace) -> FiniteLaw:
        """P_x, as it was given."""
        return self.laws[space.dataset(dataset)]


@attrs.frozen(kw_only=True)
class World:
    """A specification and a mechanism that satisfies it."""

    spec: PrivacySpec
    mechanism: Listed


def _pure(context: Context) -> OutputDivergence:
    """The divergence that is the largest log-ratio, by what it says of itself."""
    one = number(1)
    for divergence in context.values("output_divergences"):
        if divergence.is_symmetric and divergence.separates_laws() and divergence.largest_loss(one) == one:
            return cast("OutputDivergence", divergence)
    raise NotApplicable("no registered output divergence bounds the log-ratio by its budget")


def _positions(context: Context, space: DatasetSpace) -> InputDivergence:
    """The distance that counts positions, by its values."""
    zero, one, both = (0, 0), (0, 1), (1, 1)
    for distance in context.placed("input_divergences", space):
        steps = [distance.distance(zero, one, space), distance.distance(zero, both, space), distance.distance(one, one[::-1], space)]
        if distance.is_metric and distance.counted_unit() is not None and steps == [1, 2, 2]:
            return cast("InputDivergence", distance)
    raise NotApplicable("no registered input divergence counts positions")


def worlds(context: Context, name: str, times: int) -> Iterator[World]:
    """Random ones, the same in every run, under pure privacy of positions."""
    space = BitVectors(length=2)
    for multiverse in PUBLISHED:
        lot = Random(f"{name} {multiverse}")
        for _ in range(times):
            laws = {x: FiniteLaw.from_weights(dict(enumerate(lot.choices(WEIGHTS, k=3)))) for x in space.datasets()}
            spec = PrivacySpec(
                space=space,
                multiverse=multiverse,
                input_divergence=_positions(context, space),
                output_divergence=_pure(context),
                budget=UniformBudget(parameter="epsilon", value=_budget(laws, multiverse, space)),
            )
            yield World(spec=spec, mechanism=Listed(laws))


def _budget(laws: dict[Dataset, FiniteLaw], multiverse: Multiverse, space: DatasetSpace) -> Number:
    """The largest log-ratio of two laws of one universe, which is enough whatever their distance; 0 where all are equal."""
    ratios = [
        left.probability(o) / right.probability(o)
        for (x, left), (y, right) in itertools.permutations(laws.items(), 2)
        if multiverse.share_universe(x, y, space)
        for o in left.support
    ]
    return number(0) if max(ratios, default=Fraction(1)) == 1 else ln(max(ratios))


def _made(subject: ClassSubject) -> AttackerModel:
    """With its defaults, of lists the first entry: one place is as good as many, and sooner computed."""
    cls = subject.entry.cls
    lists = {p.name: p.default for p in parameters(cls) if not p.required and isinstance(p.default, tuple) and p.default}
    try:
        made: AttackerModel = build(cls, {name: list(value[:1]) for name, value in lists.items()}, subject.entry.name)
    except DpspecError as fault:
        raise NotApplicable(f"it needs parameters: {fault}") from fault
    return made


def _asked(attacker: AttackerModel, spec: PrivacySpec) -> tuple[RiskStatement, ...]:
    try:
        return attacker.worst_case(spec)
    except DpspecError as fault:
        raise NotApplicable(f"it does not fit bits: {fault}") from fault


@check(KIND)
def check_attacker_holds_its_own_mechanisms(subject: ClassSubject, context: Context) -> None:
    """A mechanism that satisfies a specification is never beyond the attacker's worst case, whatever is published.

    A failure means that the limit is below the truth, or that the attacker forgets what is published exactly.
    """
    attacker = _made(subject)
    for world in worlds(context, str(subject), context.times(1)):
        try:
            report = risk(world.spec, attacker, world.mechanism)
        except DpspecError as fault:
            raise NotApplicable(f"it does not fit bits: {fault}") from fault
        for row in report.exceeded:
            own, worst = row.own[0].value, row.worst[0].value
            require(False, f"{row.quantity} {dict(row.at)}: {own} of a mechanism beyond {worst}, under {world.spec.multiverse}")


@check(KIND)
def check_attacker_knows_what_is_published(subject: ClassSubject, context: Context) -> None:
    """Where one bit is published and the budget is 0, what is said is not the same as where nothing is published.

    With nothing published nothing can be learned under a budget of 0; a published bit is known for certain. So a limit that
    stays the same in every row ignores what is published.
    """
    attacker = _made(subject)
    said = []
    for multiverse in PUBLISHED[::2]:
        world = next(worlds(context, str(subject), 1))
        budget = UniformBudget(parameter="epsilon", value=number(0))
        spec = world.spec.replace(multiverse=multiverse, budget=budget)
        said.append({(row.quantity, str(row.value), row.relation) for row in _asked(attacker, spec)})
    require(said[0] != said[1], "says the same under a budget of 0 whether a bit is published or not")


@check(KIND)
def check_attacker_limits_brute_force_bayes(subject: ClassSubject, context: Context) -> None:
    """No stated chance, power or posterior of a test of two datasets is exceeded by the best attack, computed from the laws.

    What is seen is the published value together with the output. For statements measured at one level or one prior between two
    datasets at distance 1: the largest power at the level, and the posterior from the prior.
    """
    attacker = _made(subject)
    compared = 0
    for world in worlds(context, f"bayes {subject}", context.times(1)):
        for statement in _asked(attacker, world.spec):
            at = dict(statement.at)
            truth = _truth(world, statement.quantity, at)
            if truth is None or statement.relation is Relation.AT_LEAST:
                continue
            compared += 1
            require(
                number(truth) <= statement.value.upper,
                f"{statement.quantity} {at}: {truth} is learned, and {statement.value} is said, under {world.spec.multiverse}",
            )
    if not compared:
        raise NotApplicable("it makes no statement about a power or a posterior between two datasets")


def _truth(world: World, quantity: str, at: dict[str, str]) -> Fraction | None:
    """The largest power or posterior between neighbours of the kind that a statement speaks about."""
    told = "told apart" in at.get("candidates", "")
    values = []
    for x, y in itertools.permutations(world.mechanism.laws, 2):
        apart = world.spec.multiverse.labels(x, world.spec.space) != world.spec.multiverse.labels(y, world.spec.space)
        if world.spec.distance(x, y) > 1 or (apart != told and "candidates" in at):
            continue
        left, right = world.mechanism.laws[x], world.mechanism.laws[y]
        if quantity == "power" and "level" in at:
            values.append(Fraction(1) if apart else _power(left, right, Fraction(at["level"])))
        elif quantity.startswith("posterior belief") and "prior" in at:
            values.append(Fraction(1) if apart else _posterior(left, right, Fraction(at["prior"])))
    return max(values, default=None)


def _power(left: FiniteLaw, right: FiniteLaw, level: Fraction) -> Fraction:
    """The largest P(S) over randomised events with Q(S) = level: the most telling outcomes first."""
    gained = Fraction(0)
    for o in sorted(left.support, key=lambda o: right.probability(o) / left.probability(o)):
        share = min(Fraction(1), level / right.probability(o))
        gained, level = gained + share * left.probability(o), level - share * right.probability(o)
    return gained


def _posterior(left: FiniteLaw, right: FiniteLaw, prior: Fraction) -> Fraction:
    """The largest posterior of P against Q."""
    return max(
        prior * left.probability(o) / (prior * left.probability(o) + (1 - prior) * right.probability(o)) for o in left.support
    )
