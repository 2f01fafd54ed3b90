"""Checks of rules, conversions, routes and flavours.

Rules are checked by brute force over mechanisms with few datasets and outcomes.

A step (S, S') says that every mechanism that satisfies S satisfies S'. So a mechanism is taken first, and the budget of S is made
the least that it keeps; whatever a rule then concludes has to be true of it.

Flavours: their documentation, and that the engine distinguishes their two examples.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache
from random import Random
from typing import Any

import attrs

from dpspec.base.errors import DpspecError, NoFormulaError
from dpspec.base.exact import Bracket, Number, number
from dpspec.blocks.budget import UniformBudget
from dpspec.blocks.multiverse import Trivial
from dpspec.blocks.output_divergence import OutputDivergence
from dpspec.blocks.records import UnorderedRecords
from dpspec.blocks.space import Attribute, Dataset, DatasetSpace
from dpspec.blocks.vectors import BitVectors
from dpspec.grammar.flavour import Flavour
from dpspec.grammar.rule import Conversion, Rule, Step
from dpspec.grammar.spec import PrivacySpec
from dpspec.laws.law import FiniteLaw, Law
from dpspec.specfile.document import flavour_document
from dpspec.specfile.reader import read_text
from dpspec.specfile.writer import to_toml
from dpspec.testing.check import CheckFailedError, ClassSubject, Context, NotApplicable, ValueSubject, check, exceeds, require
from dpspec.testing.checks.mechanism import random_pairs
from dpspec.verifier.exhaustive import verify
from dpspec.verifier.verdict import Outcome

RULES, ROUTE = "rules", "routes"
PREMISES, GOALS = 16, 10
"""The number of premises that are tried for each rule, and of goals for each of them."""

LawTable = Mapping[Dataset, FiniteLaw]


@cache
def worlds() -> tuple[tuple[DatasetSpace, tuple[LawTable, ...]], ...]:
    """Small spaces, each with a part of it, and mechanisms on them."""
    sex = Attribute(name="sex", categories=("f", "m"))
    spaces = BitVectors(length=2), UnorderedRecords(attributes=(sex,), most=2), UnorderedRecords(attributes=(sex,), most=1)
    return tuple((space, tuple(_mechanisms(space))) for space in spaces)


def _mechanisms(space: DatasetSpace) -> Iterator[LawTable]:
    """The data kept with some odds, the data shown now and then, their size with noise, two laws at random, and nothing."""
    datasets = list(space.datasets())
    for odds in (2, 5):
        yield {x: FiniteLaw.from_weights({y: odds if x == y else 1 for y in datasets}) for x in datasets}
    whole = FiniteLaw.uniform(datasets)
    yield {x: FiniteLaw.mixture([Fraction(1, 10), Fraction(9, 10)], [FiniteLaw.point(("seen", x)), whole]) for x in datasets}
    yield {x: FiniteLaw.from_weights({t: 3 ** (2 - abs(t - space.magnitude(x))) for t in range(3)}) for x in datasets}
    source = Random("mechanisms")
    for _ in range(2):
        yield {x: FiniteLaw.from_weights({t: source.randint(1, 9) for t in range(3)}) for x in datasets}
    yield dict.fromkeys(datasets, whole)


# --- what a mechanism keeps ----------------------------------------------------------------------


def compared_pairs(spec: PrivacySpec) -> Iterator[tuple[Any, Dataset, Dataset, Number]]:
    """Every compared pair with its universe and its distance."""
    for universe in spec.multiverse.universes(spec.space):
        for x, y in itertools.permutations(universe.datasets, 2):
            distance = spec.distance(x, y)
            if not distance.is_infinite:
                yield universe, x, y, distance


def fitted(laws: LawTable, frame: PrivacySpec) -> PrivacySpec | None:
    """The specification with the least budget that the laws keep; None when no finite one is, or it is not known."""
    constants = [number(0)]
    try:
        for _, x, y, distance in compared_pairs(frame):
            found = frame.output_divergence.between(laws[x], laws[y]).upper
            if found.is_infinite or (distance == 0 and found > 0):
                return None
            constants += [found / distance] if distance > 0 else []
        parameter = frame.output_divergence.budget_parameters[0]
        value = frame.output_divergence.budget_for(parameter, max(constants))
        return frame.replace(budget=UniformBudget(parameter=parameter, value=value))
    except DpspecError:  # a quotient without an exact form, or laws that the divergence cannot compare
        return None


def broken(law: Callable[[Dataset], Law], spec: PrivacySpec, largest: int | None = None) -> str:
    """A pair on which the laws certainly break the specification, in words; "" when there is none.

    Args:
        law: the law of each dataset.
        spec: the specification.
        largest: the largest datasets that are compared; None for all.
    """
    for universe, x, y, distance in compared_pairs(spec):
        if largest is not None and max(map(spec.space.magnitude, (x, y))) > largest:
            continue
        found = spec.output_divergence.between(law(x), law(y)).lower
        bound = spec.bound(universe)
        if lies_above(found, bound, distance):
            return f"d_Pr = {found} > {bound} x {distance} on {x} and {y}"
    return ""


def lies_above(found: Number, bound: Number, distance: Number) -> bool:
    """Whether found > bound x distance for certain; a distance or bound of 0 demands equal laws."""
    if distance == 0 or bound == 0:
        return found > 0
    return not bound.is_infinite and bool(found.enclose(128) > bound.enclose(128) * distance.enclose(128))


# --- rules ---------------------------------------------------------------------------------------


def _premises(rule: Rule, context: Context) -> Iterator[tuple[LawTable, PrivacySpec, Random]]:
    """Mechanisms with specifications that they just keep, drawn from all registered blocks; a formula chooses where it starts."""
    source = context.random(rule.name)
    outputs = context.values("output_divergences")
    if isinstance(rule, Conversion):
        outputs = tuple(output for output in outputs if output.name == rule.source)
    for _ in range(context.times(PREMISES // 12 if isinstance(rule, Conversion) else PREMISES) if outputs else 0):
        space, mechanisms = source.choice(worlds())
        laws = source.choice(mechanisms)
        inputs, universes = context.placed("input_divergences", space), context.placed("multiverses", space)
        output = source.choice(outputs)
        try:
            frame = PrivacySpec(
                space=space,
                multiverse=source.choice((Trivial(), *universes)),
                input_divergence=source.choice(inputs),
                output_divergence=output,
                budget=UniformBudget(parameter=output.budget_parameters[0], value=number(1)),
            )
            premise = fitted(laws, frame)
        except (DpspecError, NoFormulaError):
            continue
        if premise is not None:
            yield laws, premise, source


def _goals(premise: PrivacySpec, context: Context, source: Random) -> Iterator[PrivacySpec]:
    """Specifications that differ in one block, or in the budget."""
    smaller = [space for space, _ in worlds() if space != premise.space]
    output = source.choice(context.values("output_divergences"))
    first, value = premise.budget.parameter, premise.budget.uniform() or number(0)
    for blocks in (
        {"space": source.choice(smaller)},
        {"multiverse": source.choice((Trivial(), *context.placed("multiverses", premise.space)))},
        {"input_divergence": source.choice(context.placed("input_divergences", premise.space))},
        {"output_divergence": output, "budget": UniformBudget(parameter=output.budget_parameters[0], value=number(7))},
        {"budget": UniformBudget(parameter=first, value=value + 1 if value.is_rational else number(50))},
    ):
        try:
            yield premise.replace(**blocks)
        except DpspecError:  # blocks that do not go together
            continue


def _steps(subject: ValueSubject, context: Context) -> Iterator[tuple[LawTable, PrivacySpec, Step]]:
    for laws, premise, source in _premises(subject.thing, context):
        for _ in range(GOALS // 5):
            for goal in _goals(premise, context, source):
                for step in itertools.islice(subject.thing.propose(premise, goal), 5):
                    yield laws, premise, step


@check(RULES)
def check_steps_start_at_the_premise(subject: ValueSubject, context: Context) -> None:
    """Each step that `propose` gives starts at the premise, in the rule's own name, and says why and by whom it is true."""
    for _, premise, step in _steps(subject, context):
        require(step.before == premise, f"a step of {subject.thing.name} starts elsewhere than asked")
        require(step.rule == subject.thing.name, f"a step is proposed in the name of {step.rule}")
        require(bool(step.reason and step.citation), "a step gives no reason or no citation")


@check(RULES)
def check_steps_are_true_of_every_mechanism(subject: ValueSubject, context: Context) -> None:
    """A mechanism that keeps the premise keeps the conclusion: brute force over small mechanisms, whose budgets are the least.

    A rule of which one step is false makes `compare`, ledgers and yardsticks say *implies* where it is not so.
    """
    if isinstance(subject.thing, Conversion):
        raise NotApplicable("formulas are tried on pairs of laws")
    for laws, premise, step in _steps(subject, context):
        if set(step.after.space.datasets()) <= set(laws):
            found = broken(laws.__getitem__, step.after)
            require(
                not found,
                f"from {_spec_in_words(premise)} follows {_spec_in_words(step.after)}, and a mechanism breaks it: {found}",
            )


def _spec_in_words(spec: PrivacySpec) -> str:
    return f"{spec.output_divergence}, {spec.input_divergence}, {spec.multiverse}, {spec.budget}"


# --- conversions ---------------------------------------------------------------------------------


def _conversion(subject: ValueSubject) -> Conversion:
    if not isinstance(subject.thing, Conversion):
        raise NotApplicable("it is no formula between output divergences")
    if subject.thing.mechanism is not None:
        raise NotApplicable(f"it needs to know the mechanism, {subject.thing.mechanism}")
    return subject.thing


def _named(name: str, context: Context) -> list[OutputDivergence]:
    return [divergence for divergence in context.values("output_divergences") if divergence.name == name][:2]


def _converted(formula: Conversion, source: OutputDivergence, value: Number, target: OutputDivergence) -> Bracket | None:
    if not any(goal == target for goal in formula.targets(source, target)):
        return None
    found = formula.convert(source, value, target)
    require(found is None or not found.upper < found.lower, f"{formula.name} gives the empty bracket {found}")
    return found


@check(RULES)
def check_formulas_hold_for_every_pair_of_laws(subject: ValueSubject, context: Context) -> None:
    """d(P, Q) <= t gives d'(P, Q) <= f(t): on random pairs, t being the budget that the pair just has. `convert` rests on it."""
    formula = _conversion(subject)
    for source, target in itertools.product(_named(formula.source, context), _named(formula.target, context)):
        for left, right in random_pairs(context, formula.name):
            both = [source.between(*pair).upper for pair in ((left, right), (right, left))]
            value = source.budget_for(source.budget_parameters[0], max(both))
            found = None if value.is_infinite else _converted(formula, source, value, target)
            if found is not None:
                allowed = target.lipschitz(target.budget_parameters[0], found.upper)
                reached = target.between(left, right).lower
                if exceeds(reached, allowed):
                    pair = f"P = {left}, Q = {right}"
                    raise CheckFailedError(f"d = {reached} of {target}, above {allowed} that {value} of {source} allows: {pair}")


@check(RULES)
def check_formulas_slow_down_where_that_is_said(subject: ValueSubject, context: Context) -> None:
    """f(t)/t never rises with t, as Lipschitz constants, when `slows` is declared:

    only then does f hold for whole distances, too.
    """
    formula = _conversion(subject)
    if not formula.slows:
        raise NotApplicable("slows is false")
    grid = [Fraction(n, 10) for n in (1, 3, 7, 10, 15, 20, 40, 80)]
    for source, target in itertools.product(_named(formula.source, context), _named(formula.target, context)):
        first, then = source.budget_parameters[0], target.budget_parameters[0]
        found = [_converted(formula, source, source.budget_for(first, number(t)), target) for t in grid]
        slopes: Sequence[tuple[Fraction, Number, Number]] = [
            (t, target.lipschitz(then, f.lower), target.lipschitz(then, f.upper))
            for t, f in zip(grid, found, strict=True)
            if f is not None and not f.upper.is_infinite
        ]
        for (small, _, before), (large, after, _) in itertools.pairwise(slopes):
            rises = bool(after.enclose(128) / number(large).enclose(128) > before.enclose(128) / number(small).enclose(128))
            require(not rises, f"f({large})/{large} is above f({small})/{small}, from {source} to {target}")


# --- routes --------------------------------------------------------------------------------------


def _specs(context: Context) -> Iterator[PrivacySpec]:
    """Specifications with one budget of each kind."""
    space = BitVectors(length=2)
    distance = next(iter(context.placed("input_divergences", space)))
    for output in context.values("output_divergences"):
        for parameter in output.budget_parameters:
            budget = UniformBudget(parameter=parameter, value=number(Fraction(1, 2)))
            yield PrivacySpec(
                space=space, multiverse=Trivial(), input_divergence=distance, output_divergence=output, budget=budget
            )


@check(ROUTE)
def check_route_gives_a_number(subject: ValueSubject, context: Context) -> None:
    """`value` is a `Bracket`, the same every time, or a refusal with a reason.

    Printed numbers are compared with both its ends.
    """
    for spec in _specs(context):
        try:
            found, again = subject.thing.value(spec), subject.thing.value(spec)
        except DpspecError:  # another budget is needed
            continue
        require(isinstance(found, Bracket), f"value is {found!r}, which is no Bracket")
        require(not found.upper < found.lower, f"the bracket {found} is empty")
        require(found == again, f"value was {found}, then {again}")


@check(ROUTE)
def check_route_answers_its_question(subject: ValueSubject, context: Context) -> None:
    """The value answers `question`: laws within the given budget are within the value in the other divergence."""
    asked = 0
    for spec in _specs(context):
        try:
            question, value = subject.thing.question(spec), subject.thing.value(spec)
        except DpspecError:
            continue
        if question is None:
            continue
        asked += 1
        given = question.source.lipschitz(question.source.budget_parameters[0], question.value)
        allowed = question.goal.lipschitz(question.goal.budget_parameters[0], value.upper)
        extreme = ((answers.law(0), answers.law(1)) for answers in question.source.extremal(given))
        inside = (pair for pair in random_pairs(context, "route") if not question.source.between(*pair).upper > given)
        for left, right in itertools.chain(extreme, inside):
            reached = question.goal.between(left, right).lower
            require(not exceeds(reached, allowed), f"d = {reached} of {question.goal}, above {allowed}; P = {left}, Q = {right}")
    if not asked:
        raise NotApplicable("it answers no question between output divergences")


# --- flavours -------------------------------------------------------------------------------------


FLAVOURS = "flavours"
SMALL = 3
"""A witness has at most this many records on either side."""


def _made(subject: ClassSubject) -> Flavour:
    made: Flavour = subject.thing()
    return made


@check(FLAVOURS)
def check_flavour_says_where_it_comes_from(subject: ClassSubject, context: Context) -> None:
    """A flavour has a title, a citation, and names the blocks that it changes as `PrivacySpec` names them."""
    flavour = _made(subject)
    require(bool(flavour.title and flavour.citation), "title or citation is empty")
    blocks = {field.name for field in attrs.fields(PrivacySpec)}
    unknown = set(flavour.changes) - blocks
    require(not unknown, f"changes names {', '.join(sorted(unknown))}, which is no block")


@check(FLAVOURS)
def check_flavour_is_satisfied_by_its_example(subject: ClassSubject, context: Context) -> None:
    """The engine verifies the mechanism that is said to satisfy the flavour, and some pair is compared."""
    flavour = _made(subject)
    verdict = verify(flavour.satisfied_by().mechanism, flavour.spec(), registry=context.registry)
    require(verdict.outcome is Outcome.VERIFIED, f"{verdict.outcome.value}: {verdict.witness or verdict.reason}")
    require(len(verdict.vacuous) < len(verdict.universes), "every universe is vacuous, so that anything satisfies it")


@check(FLAVOURS)
def check_flavour_is_broken_by_its_example(subject: ClassSubject, context: Context) -> None:
    """Two datasets of at most 3 records refute the mechanism that is said to break the flavour; in full, by the engine."""
    flavour = _made(subject)
    spec = flavour.spec()
    mechanism = flavour.broken_by().mechanism
    if context.level == "fast":  # that d_Pr is certainly above its bound needs no telling event
        mechanism.check(spec.space)
        if broken(cache(lambda x: mechanism.law(x, spec.space)), spec, SMALL):
            return
    verdict = verify(mechanism, spec, registry=context.registry)
    require(verdict.outcome is Outcome.REFUTED, f"{verdict.outcome.value}: constant {verdict.constant}")
    if verdict.witness is not None:
        largest = max(spec.space.magnitude(x) for x in (verdict.witness.left, verdict.witness.right))
        require(largest <= SMALL, f"the witness has {largest} records: {verdict.witness}")


@check(FLAVOURS)
def check_flavour_can_be_written_to_a_file(subject: ClassSubject, context: Context) -> None:
    """The file of a flavour reads back as an equal specification. A flavour that exists only in code cannot be shared."""
    document = flavour_document(_made(subject))
    again = read_text(to_toml(document, context.registry), context.registry)
    require(again == document, "its file reads back as something else")
