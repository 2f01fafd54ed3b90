"""Common yardsticks: the strongest specifications that two others both imply, in blocks that they share.

What both imply speaks about datasets of both spaces, and about pairs of datasets that share a universe of both: so the space is a
part of both, and the universes are intersections. Invariants unite there, and those that others determine are left out.

In fixed blocks (X, D, d_X, d_Pr) a smaller budget is a stronger promise. If A implies budget a there, and B implies b, both imply
max(a, b), and nothing smaller follows *from these two derivations*. So "strongest" means: the least budget that the registered
rules derive, one step for each block. That it is the least one that holds is not claimed; conversions that are tight are marked.

An `Attack` compares what the two promises allow one attacker, on the datasets that the yardstick compares.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction

import attrs

from dpspec.base.errors import NoYardstickError
from dpspec.base.exact import INFINITY, Bracket, Number, number
from dpspec.base.params import build, parameters
from dpspec.blocks.budget import UniformBudget
from dpspec.blocks.input_divergence import InputDivergence, WithinDistance
from dpspec.blocks.multiverse import LevelSets, Multiverse, Trivial, miniatures
from dpspec.blocks.output_divergence import OutputDivergence
from dpspec.blocks.parts import listing_size
from dpspec.blocks.space import Dataset, DatasetSpace
from dpspec.comparison.gaps import gaps
from dpspec.comparison.separations import check_foreign, exact_judge
from dpspec.extension import Registry
from dpspec.grammar.rule import Conversion, Rule
from dpspec.grammar.spec import PrivacySpec
from dpspec.reason.rules import LargerBudget, constant_of, determined
from dpspec.reason.search import MOVING_BLOCKS, Derivation, moved, search
from dpspec.risks.attack_bounds import power_at_step

LOOKED_AT, PAIRS = 600, 5000
"""The number of datasets of a small space, and of pairs, that are searched for two of one universe at a small distance."""


@attrs.frozen(kw_only=True)
class CommonBlocks:
    """A common measure: four blocks of a specification, whose budget is to be computed for each side.

    Args:
        space, multiverse: common to both specifications.
        inputs: input divergences to try, the first first.
        outputs: output divergences to try.
    """

    space: DatasetSpace
    multiverse: Multiverse
    inputs: tuple[InputDivergence, ...]
    outputs: tuple[OutputDivergence, ...]


def found_blocks(
    left: PrivacySpec,
    right: PrivacySpec,
    *,
    registry: Registry,
    space: DatasetSpace | None = None,
    at: Mapping[str, str] | None = None,
    within: int | None = None,
) -> CommonBlocks:
    """The candidates that are tried by default.

    Args:
        left, right: the two specifications.
        registry: where conversions and output divergences are looked up.
        space: a part of both spaces; without it one of the two.
        at: parameters of further output divergences, such as {"delta": "1e-10"}: the first registered one is tried that
            conversions reach and that takes these.
        within: the largest distance of the neighbours that conversions need; without it the least at which small datasets of
            one universe differ.

    Raises:
        NoYardstickError: there is no common space, or no common refinement.
        ParameterError: a parameter outside its domain.
    """
    shared = common_space(left, right, space)
    multiverse = common_multiverse(left, right, shared)
    plain = dict.fromkeys((left.input_divergence, right.input_divergence))
    inputs = [*plain]
    for divergence in plain:
        most = within or _least_seen(divergence, multiverse, shared)
        if most is not None and not divergence.is_neighbour_form:
            inputs.append(WithinDistance(of=divergence, most=most))
    outputs = dict.fromkeys((left.output_divergence, right.output_divergence))
    outputs |= dict.fromkeys(_reached(outputs, registry, at or {}))
    return CommonBlocks(space=shared, multiverse=multiverse, inputs=tuple(inputs), outputs=tuple(outputs))


def common_space(left: PrivacySpec, right: PrivacySpec, wanted: DatasetSpace | None = None) -> DatasetSpace:
    """A space that both spaces include: the requested one, else one of the two."""
    spaces = (left.space, right.space)
    for space in spaces if wanted is None else (wanted,):
        if all(other == space or other.includes(space) is not None for other in spaces):
            return space
    raise NoYardstickError(
        "space",
        "neither dataset space is known to be a part of the other, so that nothing speaks about the datasets of both",
        "state both specifications on one space (the attributes of one may be missing in the other)",
    )


def common_multiverse(left: PrivacySpec, right: PrivacySpec, space: DatasetSpace) -> Multiverse:
    """The common refinement: universes intersect, so invariants unite (Bailie et al. 2024), but for those that the others
    determine."""
    if left.multiverse == right.multiverse:
        return left.multiverse
    held = [spec.multiverse.induced_by() for spec in (left, right)]
    if held[0] is None or held[1] is None:
        if () in held:
            return left.multiverse if held[0] is None else right.multiverse
        raise NoYardstickError(
            "multiverse",
            "universes that no invariants induce are intersected with the whole space only",
            "state them by invariants",
            value=str((left if held[0] is None else right).multiverse),
        )
    kept = list(dict.fromkeys((*held[0], *held[1])))
    for invariant in tuple(kept):
        others = tuple(other for other in kept if other != invariant)
        if determined(others, (invariant,), space).answer is True:
            kept = list(others)
    for spec in (left, right):
        if tuple(kept) == spec.multiverse.induced_by():
            return spec.multiverse
    return LevelSets(invariants=tuple(kept)) if kept else Trivial()


def _least_seen(divergence: InputDivergence, multiverse: Multiverse, space: DatasetSpace) -> int | None:
    """The least distance, rounded up to a whole number, of different datasets of one universe, as small datasets show it."""
    size = listing_size(space)
    listed = size is not None and size <= LOOKED_AT
    universes: dict[Hashable, set[Dataset]] = {}
    for small in [space] if listed else miniatures(multiverse.induced_by() or (), space, 2, varied=True):
        for dataset in itertools.islice(small.datasets(), LOOKED_AT):
            for label in multiverse.labels(dataset, space):
                universes.setdefault(label, set()).add(dataset)
    pairs = (pair for held in universes.values() for pair in itertools.combinations(sorted(held, key=space.order), 2))
    distances = [divergence.distance(left, right, space) for left, right in itertools.islice(pairs, PAIRS)]
    found = [distance for distance in distances if distance > 0 and not distance.is_infinite]
    least = min(found, default=None)
    return None if least is None else next(n for n in itertools.count(1) if least <= n)


def _reached(given: Iterable[OutputDivergence], registry: Registry, at: Mapping[str, str]) -> Iterator[OutputDivergence]:
    """The first registered divergence that takes these parameters, among those to which conversions lead from all given ones."""
    if not at:
        return
    arrows = [rule for rule in registry.classes("rules") if issubclass(rule, Conversion)]
    ends: list[Collection[str]] = [{one.name, *(arrow.target for arrow in arrows if arrow.source == one.name)} for one in given]
    for divergence in registry.classes("output_divergences"):
        if not all(divergence.name in names for names in ends):
            continue
        named = {p.name for p in parameters(divergence)}
        if {p.name for p in parameters(divergence) if p.required} <= set(at) <= named:
            yield build(divergence, at, divergence.name)
            return


# --- yardsticks -----------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class YardstickSide:
    """The promise of one of the two specifications in the blocks of a yardstick.

    Args:
        derivation: the steps from the specification to these blocks; its conclusion has the least budget that was derived.
        missing: where no rule leads there, what is missing; empty otherwise.
        tight: the names of the conversions on the way that some mechanism attains, between neighbours.
    """

    derivation: Derivation
    missing: tuple[str, ...] = ()
    tight: tuple[str, ...] = ()

    @property
    def reaches(self) -> bool:
        return not self.missing

    @property
    def budget(self) -> Number | None:
        """Its budget there, in the first number that the output divergence takes; None when it does not get there."""
        spec = self.derivation.conclusion
        constant = constant_of(spec)
        if self.missing or constant is None:
            return None
        first, value = spec.output_divergence.budget_parameters[0], spec.budget.uniform()
        if spec.budget.parameter == first and value is not None:
            return number(value)
        return spec.output_divergence.budget_for(first, constant)


@attrs.frozen(kw_only=True)
class Yardstick:
    """One choice of blocks, and what two specifications promise in them.

    Args:
        spec: the blocks with the larger of the two budgets, infinite where one side does not reach them.
        left, right: the two sides.
        follows_from: the index of a found yardstick that implies this one; None when none does.
    """

    spec: PrivacySpec
    left: YardstickSide
    right: YardstickSide
    follows_from: int | None = None

    @property
    def is_common(self) -> bool:
        """Whether both specifications imply it, with a finite budget."""
        return self.left.reaches and self.right.reaches

    def proofs(self) -> tuple[Derivation, Derivation]:
        """For a common yardstick: the derivation of it, joint budget and all, from each of the two specifications."""
        return self._proof(self.left.derivation), self._proof(self.right.derivation)

    def _proof(self, derivation: Derivation) -> Derivation:
        larger = tuple(LargerBudget().propose(derivation.conclusion, self.spec))
        return derivation.then(Derivation(premise=derivation.conclusion, steps=larger[:1]))


def yardsticks(left: PrivacySpec, right: PrivacySpec, blocks: CommonBlocks, rules: Sequence[Rule]) -> tuple[Yardstick, ...]:
    """Every choice of blocks that at least one of two specifications reaches: first those that both imply, strongest first.

    Args:
        left, right: the two specifications.
        blocks: what to try.
        rules: the registered rules, of which the steps are, and which say which yardstick follows from which.

    >>> from dpspec.reason.search import rules_of
    >>> from dpspec.extension import installed
    >>> from dpspec.specfile import new_spec, read_text
    >>> from dpspec.comparison.yardstick import found_blocks
    >>> survey = read_text(new_spec("survey"), installed().registry).spec
    >>> twice = survey.replace(budget=UniformBudget(parameter="epsilon", value="2*ln(3)"))
    >>> blocks = found_blocks(survey, twice, registry=installed().registry)
    >>> best = yardsticks(survey, twice, blocks, rules_of(installed().registry))[0]
    >>> str(best.left.budget), str(best.right.budget), str(best.spec.budget)
    ('ln(3)', '2*ln(3)', 'epsilon = 2*ln(3)')
    """
    found = []
    for divergence in blocks.inputs:
        for standard in blocks.outputs:
            budget = UniformBudget(parameter=standard.budget_parameters[0], value=INFINITY)
            frame = PrivacySpec(
                space=blocks.space, multiverse=blocks.multiverse, input_divergence=divergence, output_divergence=standard,
                budget=budget,
            )  # fmt: skip
            one, two = (_side(spec, frame, rules) for spec in (left, right))
            if one.reaches or two.reaches:
                worst = max(INFINITY if side.budget is None else side.budget for side in (one, two))
                joint = frame.replace(budget=UniformBudget(parameter=budget.parameter, value=worst))
                found.append(Yardstick(spec=joint, left=one, right=two))
    common = [one for one in found if one.is_common]
    return (*_ranked(common, rules), *(one for one in found if not one.is_common))


def _side(spec: PrivacySpec, frame: PrivacySpec, rules: Sequence[Rule]) -> YardstickSide:
    derivation = Derivation(premise=spec, steps=())
    for block in MOVING_BLOCKS:
        here = derivation.conclusion
        steps = moved(here, block, frame, rules)
        if steps is None:
            return YardstickSide(derivation=derivation, missing=tuple(_missing(here, frame, block, rules)))
        derivation = derivation.then(Derivation(premise=here, steps=steps))
    check_foreign(derivation, rules, exact_judge())
    if constant_of(derivation.conclusion) is None:
        why = derivation.conclusion.budget.unpublished() or "a budget that differs by universe is no single number"
        return YardstickSide(derivation=derivation, missing=(why,))
    known = {rule.name: rule for rule in rules if isinstance(rule, Conversion)}
    near = [step for step in derivation.steps if step.before.input_divergence.is_neighbour_form and step.rule in known]
    ends = [(step.rule, step.before.output_divergence, step.after.output_divergence) for step in near]
    return YardstickSide(
        derivation=derivation, tight=tuple(name for name, start, end in ends if known[name].attained(start, end))
    )


def _missing(here: PrivacySpec, frame: PrivacySpec, block: str, rules: Sequence[Rule]) -> Iterator[str]:
    """The missing conversion in the block at which the path ends."""
    reasons = [gap.reason for gap in gaps(here, frame, rules) if gap.block == block.replace("_", " ") and gap.holds is not True]
    yield from reasons or [f"no rule changes the {block.replace('_', ' ')} so far"]


def _ranked(found: Sequence[Yardstick], rules: Sequence[Rule]) -> Iterator[Yardstick]:
    """The yardsticks that no other one implies, then the others, each with the index of one that does."""

    def implies(one: Yardstick, other: Yardstick) -> bool:
        found = search(one.spec, other.spec, rules) if one is not other else None
        if found is None or not found.arrived:
            return False
        check_foreign(found.derivation, rules, exact_judge())
        return True

    below = {i: [j for j, other in enumerate(found) if implies(other, one)] for i, one in enumerate(found)}
    first = [i for i, held in below.items() if all(i in below[j] and i < j for j in held)]
    places = [*first, *(i for i in below if i not in first)]
    for i in places:
        above = next((places.index(j) for j in below[i] if j in first), None)
        yield attrs.evolve(found[i], follows_from=None if i in first else above)


# --- attacks --------------------------------------------------------------------------------------


LEVEL = Fraction(1, 20)
"""Five false alarms in a hundred."""


@attrs.frozen(kw_only=True)
class Attack:
    """One promise against an attacker who tests two datasets at distance 1.

    Args:
        spec: the promise in the common universes and distance, in its own output divergence: nothing is lost by conversion.
        power: the largest power of a test of the level, over all mechanisms that keep it; None where the budget is no number.
        loss: the largest |ln| of a likelihood ratio, by e to which posterior odds may differ from prior odds; None when
            the promise bounds none.
    """

    spec: PrivacySpec
    power: Bracket | None
    loss: Number | None


def attacks(found: Sequence[Yardstick], level: Fraction = LEVEL) -> tuple[tuple[Attack, Attack], ...]:
    """For each input divergence of a common yardstick, what the two sides allow the attacker there."""
    first = {one.spec.input_divergence: one for one in reversed([one for one in found if one.is_common])}
    return tuple((_attack(one.left, level), _attack(one.right, level)) for one in reversed(first.values()))


def _attack(side: YardstickSide, level: Fraction) -> Attack:
    chain = [side.derivation.premise, *(step.after for step in side.derivation.steps)]
    spec = next(one for one in reversed(chain) if one.output_divergence == side.derivation.premise.output_divergence)
    constant = constant_of(spec)
    if constant is None:
        return Attack(spec=spec, power=None, loss=None)
    power, loss = power_at_step(spec, constant, level), spec.output_divergence.largest_loss(constant)
    return Attack(spec=spec, power=power, loss=loss if spec.covers_both_orders else None)
