"""An oracle for attackers: small worlds, and what somebody who knows everything that is published really learns, in fractions.

A world is a small specification with a mechanism that satisfies it: the budget is computed from the laws, so that it is often
just enough. A question is put to an attacker model of the package and answered here by summing over datasets and outcomes. What
is observed is (c(x), output), c the invariants: no code of `dpspec.risks` takes part.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from fractions import Fraction
from random import Random
from typing import Any

import attrs
from dpspec_attackers.chamber import InformationChamber
from dpspec_attackers.counts import BlockKnowledge, Hierarchical, Uniqueness
from dpspec_attackers.full_knowledge import ArbitraryPrior, StrongestAttacker
from dpspec_attackers.independent_records import IndependentRecord
from dpspec_attackers.membership import StrongMembership
from dpspec_attackers.sampling import NosyNeighbour, Outsider
from dpspec_attackers.tester import AttributeRestricted, CompoundTester, FrequentistTester
from dpspec_divergences import HammingOrdered, Mult, MultDelta, TotalVariation
from dpspec_divergences.counting import AddRemove, DifferInOnePosition, Hamming, ReplaceOne, SymmetricDifference
from dpspec_divergences.paths import Neighbour
from dpspec_flavours.streams.personal import MultOneWay

from dpspec.base.exact import INFINITY, ln, number
from dpspec.base.params import define
from dpspec.blocks.budget import UniformBudget
from dpspec.blocks.input_divergence import InputDivergence
from dpspec.blocks.invariant import LinearMap, Marginal
from dpspec.blocks.multiverse import ExplicitUniverses, LevelSets, Trivial
from dpspec.blocks.records import OrderedRecords, UnorderedRecords
from dpspec.blocks.space import Attribute
from dpspec.blocks.vectors import BitVectors
from dpspec.grammar.attacker import AttackerModel, RiskStatement, Sense
from dpspec.grammar.mechanism import Mechanism
from dpspec.grammar.spec import PrivacySpec
from dpspec.laws.law import FiniteLaw

F = Fraction
Law = dict[Any, Fraction]
TOLD, OPEN, STRANGE = "distinguished by what is published", "left open by what is published", "in no common universe"


@define
class Lopsided(InputDivergence):
    """Positions that differ; twice as far towards the smaller dataset. No metric, and not symmetric."""

    name = "lopsided"
    is_symmetric = False
    is_metric = False

    def distance(self, left, right, space):
        apart = sum(a != b for a, b in zip(left, right, strict=True))
        return number(2 * apart if left > right else apart)


@define
class Blind(InputDivergence):
    """Positions that differ, the last one not counted: different datasets may be at distance 0."""

    name = "blind"
    is_metric = False

    def distance(self, left, right, space):
        return number(sum(a != b for a, b in zip(left[:-1], right[:-1], strict=True)))


@attrs.frozen
class Listed(Mechanism):
    """A mechanism by its laws."""

    laws: dict
    name = "listed"

    def law(self, dataset, space):
        return FiniteLaw.of(self.laws[dataset])

    def check(self, space):
        return


@attrs.frozen(kw_only=True)
class World:
    """A specification with laws that satisfy it."""

    spec: PrivacySpec
    laws: dict[Any, Law]

    @property
    def datasets(self) -> list[Any]:
        return list(self.laws)

    def public(self, x: Any) -> Any:
        """c(x)."""
        return tuple(c.value(x, self.spec.space) for c in self.spec.multiverse.invariants or ())

    def seen(self, x: Any) -> Law:
        """The law of (c(x), output)."""
        return {(self.public(x), o): p for o, p in self.laws[x].items()}

    def kind(self, pairs: list[tuple[Any, Any]]) -> str:
        """How candidates stand: told apart if any two are, strangers if any two are, else open."""
        found = set()
        for x, y in pairs:
            if self.public(x) != self.public(y):
                found.add(TOLD)
            elif not _share(self.spec, x, y):
                found.add(STRANGE)
        return TOLD if TOLD in found else STRANGE if STRANGE in found else OPEN

    def near(self, x: Any, y: Any, reach: int) -> bool:
        return x != y and min(self.spec.distance(x, y), self.spec.distance(y, x)) <= reach


def _share(spec: PrivacySpec, x: Any, y: Any) -> bool:
    return bool(set(spec.multiverse.labels(x, spec.space)) & set(spec.multiverse.labels(y, spec.space)))


# --- worlds ------------------------------------------------------------------------------------------------


def world(lot: Random) -> World:
    """A random one."""
    space, distance = _space(lot)
    datasets = list(space.datasets())
    multiverse = _multiverse(lot, space, datasets)
    divergence = lot.choice(
        [Mult(), Mult(), Mult(), MultOneWay(), MultDelta(delta=lot.choice(["1/10", "9/10", "1/3"])), TotalVariation()]
    )
    spec = PrivacySpec(
        space=space, multiverse=multiverse, input_divergence=distance, output_divergence=divergence,
        budget=UniformBudget(parameter=divergence.budget_parameters[0], value=0),
    )  # fmt: skip
    for attempt in range(4):
        laws = _laws(lot, spec, datasets, flat=attempt == 3)
        value = _budget(spec, laws)
        if value is not None:
            return World(spec=spec.replace(budget=UniformBudget(parameter=spec.budget.parameter, value=value)), laws=laws)
    return world(lot)


def _space(lot: Random) -> tuple[Any, InputDivergence]:
    kind = lot.randrange(6)
    if kind < 2:
        chosen = lot.choice(
            [HammingOrdered(), HammingOrdered(), Hamming(), Neighbour(relation=DifferInOnePosition()), Lopsided(), Blind()]
        )
        return BitVectors(length=lot.choice([1, 2, 2, 3])), chosen
    letter = Attribute(name="letter", categories=("a", "b", "c")[: lot.choice([2, 3])])
    if kind < 4:
        size = lot.choice([1, 2, 2])
        chosen = lot.choice(
            [HammingOrdered(), Hamming(), SymmetricDifference(), Lopsided(), Neighbour(relation=DifferInOnePosition())]
        )
        return OrderedRecords(attributes=(letter,), least=size, most=size), chosen
    least = lot.choice([0, 0, 1, 2])
    chosen = lot.choice([SymmetricDifference(), Hamming(), Neighbour(relation=AddRemove()), Neighbour(relation=ReplaceOne())])
    return UnorderedRecords(attributes=(letter,), least=least, most=max(2, least)), chosen


def _multiverse(lot: Random, space: Any, datasets: list[Any]) -> Any:
    draw = lot.random()
    if draw < 0.3:
        return Trivial()
    if draw < 0.4:
        parts = [lot.sample(datasets, lot.randint(1, len(datasets))) for _ in range(lot.choice([1, 2]))]
        return ExplicitUniverses(universes_by_label=tuple((str(i), tuple(part)) for i, part in enumerate(parts)))
    cells = None if space.is_ordered and not isinstance(space, BitVectors) else space.cells()
    if cells is None or (lot.random() < 0.4 and not isinstance(space, BitVectors)):
        letters = space.attributes_of("person")[0].categories
        where = {"letter": tuple(lot.sample(letters, lot.randint(1, len(letters))))} if lot.random() < 0.6 else {}
        return LevelSets(
            invariants=(Marginal(attributes=lot.choice([(), ("letter",)]), unit="person", where=tuple(where.items())),)
        )
    rows = tuple(tuple(lot.choice([0, 1, 1, 2]) for _ in cells) for _ in range(lot.choice([1, 1, 2])))
    return LevelSets(invariants=(LinearMap(rows=rows),))


def _laws(lot: Random, spec: PrivacySpec, datasets: list[Any], *, flat: bool) -> dict[Any, Law]:
    """Laws on 2 or 3 outcomes: at random, or at the ends of what a ratio allows, or equal in each universe."""
    outcomes, high = range(lot.choice([2, 3])), lot.choice([2, 3, 5])
    style = "flat" if flat else lot.choice(["random", "ends", "ends", "flat"])
    by_universe: dict[Any, Law] = {}

    def drawn() -> Law:
        weights = [lot.randint(1, 5) if style == "random" else lot.choice([1, high]) for _ in outcomes]
        return {o: F(w, sum(weights)) for o, w in zip(outcomes, weights, strict=True)}

    laws = {}
    for x in datasets:
        label = () if isinstance(spec.multiverse, ExplicitUniverses) else spec.multiverse.labels(x, spec.space)
        laws[x] = by_universe.setdefault(label, drawn()) if style == "flat" else drawn()
    return laws


def _budget(spec: PrivacySpec, laws: dict[Any, Law]) -> Any:
    """The least budget of the laws, up to rounding of roots; None where no finite one is enough."""
    found = F(0) if isinstance(spec.output_divergence, TotalVariation) else F(1)
    for x, y in itertools.permutations(laws, 2):
        distance = spec.distance(x, y)
        if not _share(spec, x, y) or distance.is_infinite:
            continue
        steps, needed = int(float(distance)), _needed(spec.output_divergence, laws[x], laws[y])
        if spec.output_divergence.is_symmetric:
            needed = max(needed, _needed(spec.output_divergence, laws[y], laws[x]))
        neutral = F(0) if isinstance(spec.output_divergence, TotalVariation) else F(1)
        if steps == 0 and needed > neutral:
            return None
        if steps:
            each = needed / steps if neutral == 0 else _root_above(needed, steps)
            found = max(found, each)
    return found if isinstance(spec.output_divergence, TotalVariation) else ln(found) if found != 1 else number(0)


def _needed(divergence: Any, p: Law, q: Law) -> Fraction:
    """e^d_Pr for (approximate) pure privacy, d_Pr for total variation, of P against Q."""
    if isinstance(divergence, TotalVariation):
        return sum((max(p[o] - q[o], F(0)) for o in p), F(0))
    ratios = sorted({F(1), *(p[o] / q[o] for o in p if p[o] > q[o])})
    if not isinstance(divergence, MultDelta):
        return ratios[-1]
    for low, high in itertools.pairwise([*ratios, ratios[-1] + 1]):
        held = [o for o in p if p[o] > low * q[o]]
        mass, against = sum((p[o] for o in held), F(0)), sum((q[o] for o in held), F(0))
        if mass - low * against <= divergence.delta:
            return low
        crossing = (mass - divergence.delta) / against
        if low <= crossing <= high:
            return crossing
    return ratios[-1]


def _root_above(value: Fraction, steps: int) -> Fraction:
    """A fraction whose power is at least the value, and nearly it."""
    if steps == 1:
        return value
    found = F(round(float(value) ** (1 / steps) * 10**6), 10**6)
    while found**steps < value:
        found += F(1, 10**6)
    return found


# --- what is learned ---------------------------------------------------------------------------------------


def mix(parts: list[tuple[Fraction, Law]]) -> Law:
    total: Law = {}
    for weight, law in parts:
        for o, p in law.items():
            total[o] = total.get(o, F(0)) + weight * p
    return total


def power(p: Law, q: Law, level: Fraction) -> Fraction:
    """The largest P(S) of a randomised S with Q(S) = level."""
    left, gained = level, F(0)
    atoms = sorted({*p, *q}, key=lambda o: (q.get(o, F(0)) > 0, -p.get(o, F(0)) / q[o] if q.get(o) else 0))
    for o in atoms:
        a, b = p.get(o, F(0)), q.get(o, F(0))
        if b <= left:
            left, gained = left - b, gained + a
        else:
            return gained + a * left / b
    return gained


def variation(p: Law, q: Law) -> Fraction:
    return sum((max(a - q.get(o, F(0)), F(0)) for o, a in p.items()), F(0))


def top_ratio(p: Law, q: Law) -> Fraction | None:
    """The largest P/Q; None for infinity."""
    ratios = [a / q[o] if q.get(o) else None for o, a in p.items() if a]
    return None if None in ratios else max(ratios)


@attrs.frozen(kw_only=True)
class Question:
    """One quantity of one attacker in one world.

    Args:
        attacker: the model that is asked.
        quantity, at: of the statement.
        kind: which candidates the prior of the question allows.
        value: the truth; None for infinity.
        least: whether the statement is a lower limit.
    """

    attacker: AttackerModel
    quantity: str
    at: dict[str, str]
    kind: str
    value: Fraction | None
    least: bool = False


def limit(question: Question, statements: tuple[RiskStatement, ...]) -> RiskStatement | None:
    """The statement that speaks about the candidates of a question; None where nothing at all is said about its quantity."""
    matching = [s for s in statements if s.quantity == question.quantity and question.at.items() <= dict(s.at).items()]
    kinds = {dict(s.at).get("candidates"): s for s in matching}
    if not kinds:
        return None
    if question.kind in kinds:
        return kinds[question.kind]
    if set(kinds) == {None}:
        return kinds[None]
    raise AssertionError(f"nothing is said about candidates {question.kind}: only {sorted(map(str, kinds))}")


def holds(question: Question, said: RiskStatement) -> bool:
    """Whether the limit is not beyond the truth."""
    if said.relation is Sense.EQUALS and question.kind != TOLD:
        return False
    if question.least:
        return question.value is not None and said.value.lower <= number(question.value)
    return number(question.value) <= said.value.upper if question.value is not None else said.value.upper == INFINITY


def attained(question: Question, said: RiskStatement) -> bool:
    """Whether the truth is the limit, to 1 in 100,000."""
    end = said.value.lower if question.least else said.value.upper
    if question.value is None or end.is_infinite:
        return question.value is None and end.is_infinite
    return abs(float(end) - float(question.value)) <= 1e-5 * max(float(question.value), 1e-9)


# --- questions ---------------------------------------------------------------------------------------------


def _prior(lot: Random) -> Fraction:
    return F(lot.randint(1, 19), 20)


def pairs_near(w: World, lot: Random) -> Iterator[tuple[Any, Any, int]]:
    reach = lot.choice([1, 1, 1, 2])
    found = [(x, y) for x, y in itertools.permutations(w.datasets, 2) if w.near(x, y, reach)]
    lot.shuffle(found)
    yield from ((x, y, reach) for x, y in found[:3])


def ask_tester(w: World, lot: Random) -> Iterator[Question]:
    for x, y, reach in pairs_near(w, lot):
        level = _prior(lot)
        attacker = FrequentistTester(levels=[level], distance=reach)
        kind, p, q = w.kind([(x, y)]), w.seen(x), w.seen(y)
        yield Question(attacker=attacker, quantity="power", at={"level": str(level)}, kind=kind, value=power(p, q, level))
        gain = "advantage of the best test, power minus level"
        yield Question(attacker=attacker, quantity=gain, at={}, kind=kind, value=variation(p, q))


def ask_restricted(w: World, lot: Random) -> Iterator[Question]:
    name = w.spec.space.attributes_of("person")[0].name
    for x, y, reach in pairs_near(w, lot):
        if w.spec.space.magnitude(x) != w.spec.space.magnitude(y) and not isinstance(w.spec.space, BitVectors):
            continue
        level = _prior(lot)
        attacker = AttributeRestricted(attributes=[name], levels=[level], distance=reach)
        value, kind = power(w.seen(x), w.seen(y), level), w.kind([(x, y)])
        secret, at = "power against the secret attributes", {"level": str(level)}
        yield Question(attacker=attacker, quantity=secret, at=at, kind=kind, value=value)


def ask_strongest(w: World, lot: Random) -> Iterator[Question]:
    for x, y, reach in pairs_near(w, lot):
        prior, factor = _prior(lot), F(lot.choice([5, 6, 8, 12, 20]), 4)
        attacker = StrongestAttacker(priors=[prior], factors=[factor], distance=reach)
        kind, p, q = w.kind([(x, y)]), w.seen(x), w.seen(y)
        top = top_ratio(p, q)
        after = F(1) if top is None else prior * top / (prior * top + 1 - prior)
        yield Question(attacker=attacker, quantity="posterior odds by prior odds", at={}, kind=kind, value=top)
        yield Question(
            attacker=attacker,
            quantity="posterior belief in one of two candidates",
            at={"prior": str(prior)},
            kind=kind,
            value=after,
        )
        grown = [o for o in p if p[o] >= factor * (prior * p[o] + (1 - prior) * q.get(o, F(0)))]
        true, seen = sum((p[o] for o in grown), F(0)), sum((prior * p[o] + (1 - prior) * q.get(o, F(0)) for o in grown), F(0))
        at = {"factor": str(factor)}
        yield Question(
            attacker=attacker, quantity="probability that belief in the truth grows by the factor", at=at, kind=kind, value=true
        )
        predicted = "predicted probability that belief in one record grows by the factor"
        yield Question(attacker=attacker, quantity=predicted, at=at, kind=kind, value=seen)


def _bayes_means(p: Law, q: Law, prior: Fraction) -> tuple[Fraction, Fraction]:
    """The mean posterior of the truth P, and how often the better bet is right."""
    mean = sum((a * prior * a / (prior * a + (1 - prior) * q.get(o, F(0))) for o, a in p.items() if a), F(0))
    right = sum((max(prior * p.get(o, F(0)), (1 - prior) * q.get(o, F(0))) for o in {*p, *q}), F(0))
    return mean, right


def _counted(attacker: AttackerModel, at: dict[str, str], kind: str, p: Law, q: Law, prior: Fraction) -> Iterator[Question]:
    mean, right = _bayes_means(p, q, prior)
    at = {"prior": str(prior), **at}
    yield Question(attacker=attacker, quantity="mean posterior of the truth", at=at, kind=kind, value=mean)
    yield Question(attacker=attacker, quantity="mean posterior by prior", at=at, kind=kind, value=mean / prior)
    yield Question(attacker=attacker, quantity="right bets", at=at, kind=kind, value=right)


def ask_block(w: World, lot: Random) -> Iterator[Question]:
    for x, y, reach in itertools.islice(pairs_near(w, lot), 1):
        prior = F(1, lot.choice([2, 5, 10]))
        kind, p, q = w.kind([(x, y)]), w.seen(x), w.seen(y)
        yield from _counted(BlockKnowledge(priors=[prior], distance=reach), {}, kind, p, q, prior)
        if isinstance(w.spec.output_divergence, Mult):
            twice = [{(a, b): law[a] * law[b] for a in law for b in law} for law in (p, q)]
            yield from _counted(Uniqueness(priors=[prior], distance=reach, levels=[2]), {"levels": "2"}, kind, *twice, prior)


def ask_hierarchical(w: World, lot: Random) -> Iterator[Question]:
    found = list(pairs_near(w, lot))
    if not found:
        return
    prior, reach = F(1, lot.choice([2, 5])), found[0][2]
    pairs = [(x, y) for x, y, _ in found]
    weights = [lot.randint(1, 4) for _ in pairs]
    p, q = (mix([(F(n, sum(weights)), w.seen(pair[side])) for n, pair in zip(weights, pairs, strict=True)]) for side in (0, 1))
    yield from _counted(Hierarchical(priors=[prior], distance=reach), {}, w.kind(pairs), p, q, prior)


def _joint(w: World, lot: Random) -> dict[Any, Fraction]:
    style = lot.choice(["any", "any", "few", "one universe"])
    held = w.datasets
    if style == "few":
        held = lot.sample(held, min(len(held), 2))
    elif style == "one universe":
        chosen = lot.choice(held)
        held = [x for x in held if w.public(x) == w.public(chosen)]
    weights = {x: lot.choice([1, 1, 2, 50]) for x in held}
    return {x: F(n, sum(weights.values())) for x, n in weights.items()}


def _others(x: Any) -> Any:
    return x[1:]


def ask_arbitrary(w: World, lot: Random) -> Iterator[Question]:
    """Any joint prior: posterior by prior of the first record, and posterior by that of a release without the record."""
    if not w.spec.space.is_ordered:
        return
    joint, factor = _joint(w, lot), F(lot.choice([5, 8, 12]), 4)
    records = {x[0] for x in joint}
    if len(records) < 2:
        return
    attacker = ArbitraryPrior(factors=[factor])
    whole = mix([(m, w.seen(x)) for x, m in joint.items()])
    pairs = [(x, y) for x, y in itertools.combinations(joint, 2)]
    caused = [(x, y) for x, y in pairs if _others(x) == _others(y)]
    for r in records:
        before = sum((m for x, m in joint.items() if x[0] == r), F(0))
        here = mix([(m, w.seen(x)) for x, m in joint.items() if x[0] == r])
        moved = max(here[o] / whole[o] / before for o in here)
        wholes = [(x, y) for x, y in pairs if (x[0] == r) != (y[0] == r)]
        yield Question(attacker=attacker, quantity="posterior by prior, largest", at={}, kind=w.kind(wholes), value=moved)
        if not caused:  # the others settle the record, so that releasing it adds nothing
            continue
        without: Law = {}
        for x, m in joint.items():
            if x[0] == r:
                rivals = {y: k for y, k in joint.items() if _others(y) == _others(x)}
                total = sum(rivals.values())
                without = mix([(F(1), without), *((m * k / total, w.seen(y)) for y, k in rivals.items())])
        ratios = {o: here.get(o, F(0)) / without[o] if without.get(o) else None for o in {*here, *without}}
        values = list(ratios.values())
        kind = w.kind(caused)
        most = None if None in values else max(values)
        name = "posterior with the record by posterior without it, {}"
        yield Question(attacker=attacker, quantity=name.format("largest"), at={}, kind=kind, value=most)
        least = min(value for value in values if value is not None)
        yield Question(attacker=attacker, quantity=name.format("smallest"), at={}, kind=kind, value=least, least=True)
        tail = sum((here[o] / before for o in here if ratios[o] is None or ratios[o] >= factor), F(0))
        chance = "probability that the record increases belief in the truth by the factor"
        yield Question(attacker=attacker, quantity=chance, at={"factor": str(factor)}, kind=kind, value=tail)


def ask_chamber(w: World, lot: Random) -> Iterator[Question]:
    """A prior that is given: the limits are for it alone."""
    if not w.spec.space.is_ordered or not isinstance(w.spec.output_divergence, Mult):
        return
    joint = _joint(w, lot)
    records = {x[0] for x in joint}
    if len(records) < 2:
        return
    attacker = InformationChamber(prior=[[x, m] for x, m in joint.items()])
    whole = mix([(m, w.seen(x)) for x, m in joint.items()])
    for r in records:
        before = sum((m for x, m in joint.items() if x[0] == r), F(0))
        here = mix([(m, w.seen(x)) for x, m in joint.items() if x[0] == r])
        ratios = [here.get(o, F(0)) / whole[o] / before for o in whole]
        yield Question(attacker=attacker, quantity="posterior by prior, largest", at={}, kind=OPEN, value=max(ratios))
        yield Question(
            attacker=attacker, quantity="posterior by prior, smallest", at={}, kind=OPEN, value=min(ratios), least=True
        )


def ask_compound(w: World, lot: Random) -> Iterator[Question]:
    if not w.spec.space.is_ordered:
        return
    one, other = lot.sample(sorted({x[0] for x in w.datasets}, key=str), 2)
    rests = list({_others(x) for x in w.datasets})
    rests = lot.sample(rests, lot.randint(1, len(rests)))
    weights = [lot.randint(1, 4) for _ in rests]
    level = _prior(lot)
    sides = [[(r, *rest) for rest in rests] for r in (one, other)]
    p, q = (mix([(F(n, sum(weights)), w.seen(x)) for n, x in zip(weights, side, strict=True)]) for side in sides)
    kind = w.kind(list(zip(*sides, strict=True)))
    attacker = CompoundTester(levels=[level])
    yield Question(attacker=attacker, quantity="power", at={"level": str(level)}, kind=kind, value=power(p, q, level))


def ask_sampled(w: World, lot: Random) -> Iterator[Question]:
    """Two populations of 2 or 3 that differ in one person, of which a sample is drawn in random order."""
    if not w.spec.space.is_ordered or not isinstance(w.spec.output_divergence, Mult):
        return
    size, records = len(w.datasets[0]), sorted({r for x in w.datasets for r in x}, key=str)
    population = size + lot.choice([0, 1])
    rest = [lot.choice(records) for _ in range(population - 1)]
    one, other = lot.sample(records, 2)
    for attacker, first in ((Outsider(population=population), False), (NosyNeighbour(), True)):
        sides = []
        for r in (one, other):
            people = [r, *rest]
            places = [c for c in itertools.permutations(range(population), size) if 0 in c or not first]
            sides.append([tuple(people[i] for i in c) for c in places])
        p, q = (mix([(F(1, len(side)), w.seen(x)) for x in side]) for side in sides)
        kind = w.kind(list(itertools.combinations({*sides[0], *sides[1]}, 2)))
        yield Question(attacker=attacker, quantity="posterior odds by prior odds", at={}, kind=kind, value=top_ratio(p, q))


def ask_membership(w: World, lot: Random) -> Iterator[Question]:
    """Whether a record more is in the data; records are a collection."""
    if w.spec.space.is_ordered or not isinstance(w.spec.output_divergence, Mult):
        return
    found = [(x, y) for x in w.datasets for y in w.datasets if len(y) == len(x) + 1 and not _less(x, y)]
    for small, large in lot.sample(found, min(2, len(found))):
        prior = _prior(lot)
        attacker, kind = StrongMembership(priors=[prior]), w.kind([(small, large)])
        p, q = w.seen(large), w.seen(small)
        after = [prior * p.get(o, F(0)) / (prior * p.get(o, F(0)) + (1 - prior) * q.get(o, F(0))) for o in {*p, *q}]
        at = {"prior": str(prior)}
        yield Question(attacker=attacker, quantity="largest posterior of membership", at=at, kind=kind, value=max(after))
        yield Question(
            attacker=attacker, quantity="least posterior of membership", at=at, kind=kind, value=min(after), least=True
        )
        yield Question(attacker=attacker, quantity="largest posterior by prior", at=at, kind=kind, value=max(after) / prior)
        change = max(abs(value - prior) for value in after)
        yield Question(attacker=attacker, quantity="largest change of the posterior", at={}, kind=kind, value=change)


def _less(small: Any, large: Any) -> list[Any]:
    """What of the small collection is missing in the large one."""
    left = list(large)
    return [r for r in small if r not in left or left.remove(r)]


def ask_independent(w: World, lot: Random) -> Iterator[Question]:
    """A belief about the others that depends on nothing, one about the value, and one about inclusion."""
    space = w.spec.space
    letters = [(c,) for c in space.attributes_of("person")[0].categories] if not isinstance(space, BitVectors) else [0, 1]
    inclusion = F(1) if space.is_ordered else lot.choice([F(1), F(1, 2), F(1, 4)])
    add: Callable[[Any, Any], Any] = (lambda d, r: (r, *d)) if space.is_ordered else (lambda d, r: tuple(sorted((r, *d))))
    known = set(w.datasets)
    rests = {x[1:] for x in known} if space.is_ordered else {x for x in known if all(add(x, r) in known for r in letters)}
    rests = [d for d in rests if all(add(d, r) in known for r in letters)]
    if not rests:
        return
    rests = lot.sample(rests, lot.randint(1, min(2, len(rests))))
    others = {d: F(1, len(rests)) for d in rests}
    weights = {r: lot.randint(1, 4) for r in letters}
    value = {r: F(n, sum(weights.values())) for r, n in weights.items()}
    secret = lot.choice(letters)
    places = [(m * inclusion * v, add(d, r), r) for d, m in others.items() for r, v in value.items()]
    if inclusion < 1:
        places += [(m * (1 - inclusion), d, None) for d, m in others.items()]
    whole = mix([(m, w.seen(x)) for m, x, _ in places])
    here = mix([(m, w.seen(x)) for m, x, r in places if r == secret])
    before = inclusion * value[secret]
    after = max(here[o] / whole[o] for o in here)
    kind = w.kind([(x, y) for _, x, _ in places for _, y, _ in places])
    attacker = IndependentRecord(inclusion=inclusion, value=value[secret])
    yield Question(attacker=attacker, quantity="posterior, largest", at={}, kind=kind, value=after)
    yield Question(attacker=attacker, quantity="posterior by prior, largest", at={}, kind=kind, value=after / before)


ASKED: tuple[Callable[[World, Random], Iterator[Question]], ...] = (
    ask_tester, ask_restricted, ask_strongest, ask_block, ask_hierarchical, ask_arbitrary, ask_chamber, ask_compound, ask_sampled,
    ask_membership, ask_independent,
)  # fmt: skip


def questions(w: World, lot: Random) -> Iterator[Question]:
    """A few questions of every attacker that is at home in a world."""
    for ask in ASKED:
        yield from ask(w, lot)
