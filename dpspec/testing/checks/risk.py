"""Checks of attacker models and of tolerated risks.

Attackers: limits against brute-force Bayes on small worlds, published facts, a mechanism inside its limits.

The worlds are the bit vectors of two people with the number of positions as distance: with nothing published, with the number
of ones, and with one bit. Their mechanisms are random laws on three outcomes; the budget is read off the laws, which use it up:
so a limit that is a little too low is seen.

Tolerances: a recommendation is a budget, never rounded up, and says what it rests on.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import suppress
from fractions import Fraction
from random import Random
from typing import Any, TypeVar, cast

import attrs

from dpspec.base.errors import DpspecError, PluginContractError
from dpspec.base.exact import Number, ln, number
from dpspec.base.params import build, parameters
from dpspec.blocks.budget import UniformBudget
from dpspec.blocks.input_divergence import InputDivergence
from dpspec.blocks.invariant import LinearMap
from dpspec.blocks.multiverse import LevelSets, Multiverse, Trivial
from dpspec.blocks.output_divergence import OutputDivergence
from dpspec.blocks.space import Dataset, DatasetSpace
from dpspec.blocks.vectors import BitVectors
from dpspec.grammar.attacker import AttackerModel, Recommendation, Sense, Tolerance
from dpspec.grammar.mechanism import Mechanism
from dpspec.grammar.spec import PrivacySpec
from dpspec.laws.law import FiniteLaw
from dpspec.risks import risk
from dpspec.risks.candidates import DISTINGUISHED
from dpspec.testing.check import ClassSubject, Context, NotApplicable, check, require

ATTACKERS = "attackers"
PUBLISHED: tuple[Multiverse, ...] = (
    Trivial(),
    LevelSets(invariants=(LinearMap(rows=((1, 1),), label="number of ones"),)),
    LevelSets(invariants=(LinearMap(rows=((1, 0),), label="the first bit"),)),
)
WEIGHTS = (1, 1, 2, 4)
Reply = TypeVar("Reply")


@attrs.frozen
class ListedWorld(Mechanism):
    """A mechanism by its laws."""

    laws: dict[Dataset, FiniteLaw]

    name = "listed"

    def law(self, dataset: Dataset, space: DatasetSpace) -> FiniteLaw:
        """P_x, as it was given."""
        return self.laws[space.dataset(dataset)]


@attrs.frozen(kw_only=True)
class SmallWorld:
    """A specification and a mechanism that satisfies it."""

    spec: PrivacySpec
    mechanism: ListedWorld


def _plain(context: Context, kind: str) -> Iterator[Any]:
    """Objects of the classes of a kind that can be made without parameters."""
    for entry in context.registry.usable(kind):
        if attrs.has(entry.cls) and not any(p.required for p in parameters(entry.cls)):
            with suppress(DpspecError):
                yield build(entry.cls, {}, entry.name)


def _pure(context: Context) -> OutputDivergence:
    """The divergence that is the largest log-ratio, by what it says of itself."""
    one = number(1)
    for divergence in _plain(context, "output_divergences"):
        if divergence.is_symmetric and divergence.separates_laws() and divergence.largest_loss(one) == one:
            return cast("OutputDivergence", divergence)
    raise NotApplicable("no registered output divergence bounds the log-ratio by its budget")


def _positions(context: Context, space: DatasetSpace) -> InputDivergence:
    """The distance that counts positions, by its values."""
    zero, one, both = (0, 0), (0, 1), (1, 1)
    for distance in _plain(context, "input_divergences"):
        try:
            distance.check(space)
        except DpspecError:
            continue
        steps = [
            distance.distance(zero, one, space),
            distance.distance(zero, both, space),
            distance.distance(one, one[::-1], space),
        ]
        if distance.is_metric and distance.counted_unit() is not None and steps == [1, 2, 2]:
            return cast("InputDivergence", distance)
    raise NotApplicable("no registered input divergence counts positions")


def worlds(context: Context, name: str, times: int) -> Iterator[SmallWorld]:
    """Random ones, the same in every run, under pure privacy of positions."""
    space = BitVectors(length=2)
    positions, pure = _positions(context, space), _pure(context)
    for multiverse in PUBLISHED:
        generator = Random(f"{name} {multiverse}")
        for _ in range(times):
            laws = {x: FiniteLaw.from_weights(dict(enumerate(generator.choices(WEIGHTS, k=3)))) for x in space.datasets()}
            spec = PrivacySpec(
                space=space,
                multiverse=multiverse,
                input_divergence=positions,
                output_divergence=pure,
                budget=UniformBudget(parameter="epsilon", value=_budget(laws, multiverse, positions, space)),
            )
            yield SmallWorld(spec=spec, mechanism=ListedWorld(laws))


def _budget(laws: dict[Dataset, FiniteLaw], multiverse: Multiverse, positions: InputDivergence, space: DatasetSpace) -> Number:
    """The largest log-ratio by distance over all pairs of a universe: the least budget, which the laws use up."""
    return max(
        (
            ln(max(left.probability(o) / right.probability(o) for o in left.support))
            * (1 / positions.distance(x, y, space).as_fraction())
            for (x, left), (y, right) in itertools.permutations(laws.items(), 2)
            if multiverse.share_universe(x, y, space)
        ),
        default=number(0),
    )


def _made(subject: ClassSubject) -> AttackerModel:
    """With its defaults, of lists the first entry: one place is as good as many, and sooner computed."""
    cls = subject.entry.cls
    lists = {p.name: p.default for p in parameters(cls) if not p.required and isinstance(p.default, tuple) and p.default}
    try:
        made: AttackerModel = build(cls, {name: list(value[:1]) for name, value in lists.items()}, subject.entry.name)
    except DpspecError as fault:
        raise NotApplicable(f"it needs parameters: {fault}") from fault
    return made


def _answers(ask: Callable[[SmallWorld], Reply], asked: Iterator[SmallWorld]) -> Iterator[tuple[SmallWorld, Reply]]:
    """The statements in each world that the attacker fits: one that it refuses does not excuse it from the others."""
    answered, refused = False, "nothing was asked"
    for world in asked:
        try:
            said = ask(world)
        except PluginContractError:
            raise
        except DpspecError as fault:
            refused = str(fault)
            continue
        answered = True
        yield world, said
    if not answered:
        raise NotApplicable(f"it does not fit bits: {refused}")


@check(ATTACKERS)
def check_attacker_holds_its_own_mechanisms(subject: ClassSubject, context: Context) -> None:
    """A mechanism that satisfies a specification is never beyond the attacker's worst case, whatever is published.

    A failure means that the limit is below the truth, that the attacker forgets what is published exactly, or that it makes a
    statement without its theorem or its assumption.
    """
    attacker = _made(subject)
    compared = False
    asked = worlds(context, str(subject), context.times(1))
    for world, report in _answers(lambda world: risk(world.spec, attacker, world.mechanism), asked):
        compared = compared or any(row.own and row.worst for row in report.rows)
        for row in report.exceeded:
            own, worst = row.own[0].value, row.worst[0].value
            require(False, f"{row.quantity} {dict(row.at)}: {own} of a mechanism beyond {worst}, under {world.spec.multiverse}")
    if not compared:
        raise NotApplicable("it says nothing about a mechanism next to the worst case")


@check(ATTACKERS)
def check_attacker_knows_what_is_published(subject: ClassSubject, context: Context) -> None:
    """Where one bit is published and the budget is 0, something is said that is not said where nothing is published.

    With nothing published nothing can be learned under a budget of 0; a published bit is known for certain. So an attacker who
    says nothing else, or less, ignores what is published.
    """
    attacker = _made(subject)
    world = next(worlds(context, str(subject), 1))
    said = []
    for multiverse in PUBLISHED[::2]:
        spec = world.spec.replace(multiverse=multiverse, budget=UniformBudget(parameter="epsilon", value=number(0)))
        try:
            statements = attacker.worst_case(spec)
        except DpspecError as fault:
            raise NotApplicable(f"it does not fit bits: {fault}") from fault
        said.append({(row.quantity, str(row.value), row.relation) for row in statements})
    require(bool(said[1] - said[0]), "says nothing under a budget of 0 with a published bit that it does not say without")


@check(ATTACKERS)
def check_attacker_limits_brute_force_bayes(subject: ClassSubject, context: Context) -> None:
    """No stated probability, power or posterior of a test of two datasets is exceeded by the best attack, computed from the laws.

    What is seen is the published value together with the output. For statements measured at one level or one prior between two
    datasets at distance 1: the largest power at the level, and the posterior from the prior.
    """
    attacker = _made(subject)
    compared = 0
    asked = worlds(context, f"bayes {subject}", context.times(1))
    for world, statements in _answers(lambda world: attacker.worst_case(world.spec), asked):
        for statement in statements:
            at = dict(statement.at)
            truth = _truth(world, statement.quantity, at)
            if truth is None or statement.relation is Sense.AT_LEAST:
                continue
            compared += 1
            require(
                number(truth) <= statement.value.upper,
                f"{statement.quantity} {at}: {truth} is learned, and {statement.value} is said, under {world.spec.multiverse}",
            )
    if not compared:
        raise NotApplicable("it makes no statement about a power or a posterior between two datasets")


def _truth(world: SmallWorld, quantity: str, at: dict[str, str]) -> Fraction | None:
    """The largest power or posterior between neighbours of the kind that a statement speaks about."""
    conditional = at.get("candidates") == DISTINGUISHED
    values = []
    for x, y in itertools.permutations(world.mechanism.laws, 2):
        apart = world.spec.multiverse.labels(x, world.spec.space) != world.spec.multiverse.labels(y, world.spec.space)
        if world.spec.distance(x, y) > 1 or (apart != conditional and "candidates" in at):
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


# --- tolerances -----------------------------------------------------------------------------------


TOLERANCES = "tolerances"


def _asked(subject: ClassSubject, context: Context) -> tuple[Tolerance, Recommendation]:
    """A tolerance and what it recommends: of its defaults, and for what is required the first values that do."""
    cls = subject.entry.cls
    required = [p for p in parameters(cls) if p.required]
    choices = [context.members(p.domain) for p in required]
    for place in range(max(map(len, choices), default=1)):
        given = {p.name: values[place % len(values)] for p, values in zip(required, choices, strict=True) if values}
        try:
            made: Tolerance = build(cls, given, subject.entry.name)
            return made, made.recommend()
        except DpspecError:
            continue
    raise NotApplicable("no values of its parameters were found with which it recommends something")


@check(TOLERANCES)
def check_tolerance_recommends_a_budget(subject: ClassSubject, context: Context) -> None:
    """The recommended budget is not negative, and its reason, assumption and binding requirement are named."""
    _, found = _asked(subject, context)
    require(found.value.lower >= 0, f"recommends {found.parameter} = {found.value}")
    for part in ("parameter", "binding", "method", "theorem", "assumption"):
        require(bool(getattr(found, part).strip()), f"does not say its {part}")


@check(TOLERANCES)
def check_tolerance_rounds_down(subject: ClassSubject, context: Context) -> None:
    """The budget as it is stated is not above the exact one: rounded up it would break what is tolerated."""
    _, found = _asked(subject, context)
    require(number(found.stated) <= found.value.lower, f"states {found.stated} for {found.value}")


@check(TOLERANCES)
def check_tolerance_answers_the_same_twice(subject: ClassSubject, context: Context) -> None:
    """A tolerated risk fixes the budget before any data are seen, so that asking again, it or its like, gives the same one."""
    tolerance, found = _asked(subject, context)
    for again in (tolerance.recommend(), _asked(subject, context)[1]):
        require(again == found, f"recommends {again.parameter} = {again.value} when it is evaluated again, after {found.value}")
