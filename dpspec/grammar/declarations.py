"""Test what the five blocks of a specification say of themselves on a few examples, before an engine or a rule relies on it.

Engines skip work because a class declares a property: one order of each pair where distances are symmetric, bounds that add up
along paths for a metric, integers instead of exact numbers for a `score`, one number for the budgets of all universes. The
conformance tests check these declarations thoroughly, but a plugin may never have run them. Here they are checked on three laws
and on the datasets of a small space, once for each block and space. Types are checked as well (an exact number, a bracket, a
hashable value), and so are repeated calls, and the table that an invariant claims to be. A false declaration is a defect of the
plugin and raises an error; it is no verdict.
"""

from __future__ import annotations

import itertools
import operator
import random
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from fractions import Fraction
from functools import lru_cache
from typing import NoReturn

import attrs
from flint import arb, ctx

from dpspec.base.errors import DpspecError, IncompatibleBlocksError, NoFormulaError, NotInSpaceError, PluginContractError
from dpspec.base.exact import ZERO, Bracket, Number, number
from dpspec.base.log_linear import ball
from dpspec.base.memo import is_hashable, memoize
from dpspec.blocks.budget import Budget, amount_in
from dpspec.blocks.input_divergence import Bound, InputDivergence
from dpspec.blocks.invariant import Invariant
from dpspec.blocks.multiverse import LevelSets, Multiverse, Trivial, Universe
from dpspec.blocks.output_divergence import OutputDivergence
from dpspec.blocks.parts import MOST_RECORDS, Changes, NumberLists, listing_size, sizes_of, smallest_datasets
from dpspec.blocks.space import Dataset, DatasetSpace, Record
from dpspec.grammar.spec import PrivacySpec, check_number
from dpspec.laws.atoms import FiniteDichotomy
from dpspec.laws.law import FiniteLaw

WEIGHTS = ((1, 2, 5), (3, 3, 2), (6, 1, 1))
"""Three laws on three outcomes by their weights. No pair of them is the reverse of another up to a renaming of outcomes, and the
second law lies between the others."""
LAWS = tuple(FiniteLaw.from_weights(dict(enumerate(weights))) for weights in WEIGHTS)
"""The same as laws of the outcomes 0, 1 and 2."""
LONGER = tuple(FiniteLaw.from_weights(dict(enumerate(weights))) for weights in ((4, 3, 2, 1), (1, 2, 3, 4)))
"""Two laws on four outcomes, two of which are likelier under each of them: no event of one outcome is the largest."""
POST_PROCESSINGS = ((0, 0, 1, 2), (0, 1, 1, 2), (0, 0, 1, 1), (0, 1, 0, 1), (1, 2, 3, 0))
"""What their outcomes become: some are merged, or all are renamed."""
BUDGETS = tuple(map(number, ("0", "1/10", "1", "3")))
DATASETS = 7
"""The number of datasets of a small space that are compared with each other."""
LABELLED = 60
"""The number of datasets of a small space whose universes are compared with the list of universes."""
MOST_LISTED = 2_000
"""Datasets of a larger space are not listed: even the first of them may take long."""
_BITS, _FINE = 128, 192
AUTHOR = "report it to the author of the plugin"


def check_declared(spec: PrivacySpec) -> None:
    """Check what the blocks of a specification, and the invariants of its multiverse, declare.

    Raises:
        PluginContractError: for a declaration that an example contradicts; it names the block or the invariant.
    """
    if not _is_large(spec.space):
        check_listed(spec.space)
    _once(_check_output, spec.output_divergence)
    _once(_on_small_spaces, _check_distances, spec.input_divergence, spec.space)
    _once(_on_small_spaces, _check_apart_inside, spec.multiverse, spec.space, spec.input_divergence)
    _once(_check_steps, spec.input_divergence, spec.space)
    for invariant in spec.multiverse.induced_by() or ():
        _once(_on_small_spaces, _check_values, invariant, spec.space)
    _once(_on_small_spaces, _check_multiverse, spec.multiverse, spec.space)
    _once(_on_small_spaces, _check_budget, spec.multiverse, spec.space, spec.budget)


def check_listed(space: DatasetSpace) -> None:
    """Check that a finite space lists each of its datasets once: a statement about all of them rests on the list.

    Raises:
        PluginContractError: when the list and `cardinality` disagree, or a listed dataset is not in its canonical form.
    """
    _once(_check_listed, space)


def _check_listed(space: DatasetSpace) -> None:
    size = space.cardinality()
    if size is None or sizes_of(space)[0] > MOST_RECORDS:
        return
    for x in _spread(listed_datasets(space), DATASETS):
        try:
            canonical = space.dataset(x)
        except NotInSpaceError as refusal:
            rule = f"lists a dataset that it refuses: {refusal}"
            raise PluginContractError(f"space {space.name}", rule, AUTHOR, value=repr(x)) from refusal
        if canonical != x:
            rule = "lists a dataset that is not in its canonical form"
            raise PluginContractError(f"space {space.name}", f"{rule}: {canonical} is", AUTHOR, value=repr(x))


def listed_datasets(space: DatasetSpace) -> list[Dataset]:
    """The datasets of a finite space, each once. Each list is checked: the next one may be shorter.

    Raises:
        PluginContractError: when the list and `cardinality` disagree, or a dataset has no hash.
    """
    size, subject = space.cardinality(), f"space {space.name}"
    if type(size) is not int or size < 0:
        raise PluginContractError(subject, "has a cardinality that is no whole number of at least 0", AUTHOR, value=repr(size))
    listed = list(itertools.islice(space.datasets(), size + 1))
    unhashable = next((x for x in listed if not is_hashable(x)), None)
    if unhashable is not None:
        raise PluginContractError(subject, "lists a dataset that has no hash", "list tuples", value=repr(unhashable))
    if len(listed) != size or len(set(listed)) != size:
        found = "at least " * (len(listed) > size) + f"{len(listed):,} datasets, {len(set(listed)):,} of them different"
        raise PluginContractError(subject, f"lists {found}, and its cardinality is {size:,}", AUTHOR)
    return listed


def listed_universes(multiverse: Multiverse, space: DatasetSpace) -> list[Universe]:
    """Every universe of a finite space, in the order of its smallest dataset: what is said of all pairs rests on the list.

    A class may list its universes in a way of its own. Then they have to be those of the labels.

    Raises:
        PluginContractError: when the list and the labels disagree, or `listed_datasets` raises it.
    """
    members: dict[Hashable, list[Dataset]] = {}
    for x in listed_datasets(space):
        for label in labels_of(multiverse, x, space):
            members.setdefault(label, []).append(x)
    if type(multiverse).universes is Multiverse.universes:
        return [Universe(label=label, datasets=tuple(held)) for label, held in members.items()]
    found, seen = list(multiverse.universes(space)), set[Hashable]()
    for universe in found:
        if not isinstance(universe, Universe) or not isinstance(universe.datasets, tuple):
            rule = "lists a universe that is no Universe with a tuple of datasets"
            raise PluginContractError(f"multiverse {multiverse.name}", rule, AUTHOR, value=repr(universe))
        if universe.label in seen:
            _refuse_multiverse(multiverse, f"lists two universes with the label {universe.label}")
        seen.add(universe.label)
        _check_members(multiverse, universe, members.get(universe.label, []))
    for label in members.keys() - seen:
        _refuse_multiverse(multiverse, f"lists no universe with the label {label}, which {members[label][0]} has")
    return found


def _check_members(multiverse: Multiverse, universe: Universe, labelled: Sequence[Dataset]) -> None:
    held, wanted = set(universe.datasets), set(labelled)
    for x in wanted - held:
        _refuse_multiverse(multiverse, f"labels {x} with {universe.label}, and does not list it there")
    for x in held - wanted:
        _refuse_multiverse(multiverse, f"lists {x} in the universe {universe.label}, which is none of its labels")
    if len(held) != len(universe.datasets):
        _refuse_multiverse(multiverse, f"lists a dataset twice in the universe {universe.label}")


def labels_of(multiverse: Multiverse, dataset: Dataset, space: DatasetSpace) -> tuple[Hashable, ...]:
    """The labels of the universes that hold a dataset.

    Raises:
        PluginContractError: when they are no tuple of different values that have a hash. A generator would be empty when it is
            read again, and a text would be one universe for each character.
    """
    found = multiverse.labels(dataset, space)
    if not isinstance(found, tuple) or not is_hashable(found) or len(set(found)) != len(found):
        rule = f"gives {dataset} labels that are no tuple of different values with a hash"
        raise PluginContractError(f"multiverse {multiverse.name}", rule, 'return a tuple, such as ("X",)', value=repr(found))
    return found


def _once(check: Callable[..., None], *arguments: object) -> None:
    """Run a check once for equal arguments; each time for arguments that have no hash."""
    try:
        hash(arguments)
    except TypeError:
        check(*arguments)
        return
    _remembered(check, *arguments)


@lru_cache(maxsize=512)
def _remembered(check: Callable[..., None], *arguments: object) -> None:
    check(*arguments)


def _check_output(divergence: OutputDivergence) -> None:
    try:
        _check_budgets(divergence)
    except PluginContractError:
        raise
    except DpspecError:  # a constant without an exact form
        pass
    try:
        found = dict(_compared(divergence))
        _check_post_processing(divergence)
        _check_events(divergence, found)
        _check_probabilities(divergence, found)
        _check_worst_pairs(divergence, found)
        _check_composed(divergence, found)
    except PluginContractError:
        raise
    except DpspecError:  # it has no formula for these laws, and is used on others
        return
    if divergence.is_symmetric:
        for one, other in itertools.combinations(range(len(WEIGHTS)), 2):
            there, back = found[one, other], found[other, one]
            if there.lower > back.upper or back.lower > there.upper:
                _refuse(divergence, "is_symmetric", f"d(P, Q) = {there} and d(Q, P) = {back}")
    if divergence.is_metric:
        for first, middle, last in itertools.permutations(range(len(WEIGHTS))):
            far, near, rest = found[first, last], found[first, middle], found[middle, last]
            if _exceeds(far, near, rest):
                _refuse(divergence, "is_metric", f"d(P, R) = {far} is above d(P, Q) + d(Q, R) = {near} + {rest}")
    _check_score(divergence, found)


def _compared(divergence: OutputDivergence) -> Iterator[tuple[tuple[int, int], Bracket]]:
    for one, other in itertools.permutations(range(len(WEIGHTS)), 2):
        found = divergence.between(LAWS[one], LAWS[other])
        if not isinstance(found, Bracket) or found.lower < ZERO:
            rule = "returns a divergence that is no bracket of numbers of at least 0"
            advice = "return dpspec.plugin.Bracket(lower=..., upper=...)"
            raise PluginContractError(divergence.name, rule, advice, value=repr(found))
        again = divergence.between(LAWS[one], LAWS[other])
        if again.lower > found.upper or found.lower > again.upper:
            raise PluginContractError(divergence.name, f"returns {found} and then {again} for the same two laws", AUTHOR)
        yield (one, other), found


def _check_post_processing(divergence: OutputDivergence) -> None:
    """Renaming and merging outcomes must not raise it: proofs about noisy answers cover whatever is computed from them."""
    for pair in itertools.permutations(LONGER):
        before = divergence.between(*pair)
        for images in POST_PROCESSINGS:
            after = divergence.between(*(law.push_forward(images.__getitem__) for law in pair))
            if after.lower > before.upper:
                rule = f"is raised from {before} to {after} by post-processing, so that no promise survives it"
                raise PluginContractError(divergence.name, rule, "the author of the plugin has to define it by likelihood ratios")


def _check_events(divergence: OutputDivergence, found: Mapping[tuple[int, int], Bracket]) -> None:
    """What it says about single events, about likelihood ratios, about equal laws and about mixtures has to be true."""
    for (one, other), there in found.items():
        left, right = LAWS[one], LAWS[other]
        both = max(there.upper, found[other, one].upper)
        if divergence.separates_laws() and there.upper == 0:
            _refuse(divergence, "separates_laws", "two different laws are at 0 from each other")
        loss = divergence.largest_loss(both)
        if loss is not None and left.against(right).max_log_ratio().lower > loss:
            text = f"laws at d = {both} differ by {left.against(right).max_log_ratio()} on an event"
            _refuse(divergence, "largest_loss", f"{text}, and {loss} is declared")
        for bound in BUDGETS:
            lines = divergence.event_bounds(bound)
            if lines is None:
                continue
            pairs = ((left, right), (right, left)) if divergence.is_symmetric else ((left, right),)
            kept = all(keeps_line(*pair, *line) for pair in pairs for line in lines)
            if there.lower > bound if kept else there.upper <= bound:
                where = "within" if kept else "beyond"
                _refuse(divergence, "event_bounds", f"d = {there}, and by single events it is {where} {bound}")
    if divergence.keeps_mixtures:
        halves = Fraction(1, 2), Fraction(1, 2)
        for first, middle, last in itertools.permutations(range(len(WEIGHTS))):
            parts = found[first, middle], found[middle, last]
            mixed = divergence.between(
                FiniteLaw.mixture(halves, (LAWS[first], LAWS[middle])), FiniteLaw.mixture(halves, (LAWS[middle], LAWS[last]))
            )
            if mixed.lower > max(part.upper for part in parts):
                _refuse(divergence, "keeps_mixtures", f"{parts[0]} and {parts[1]} become {mixed}")


def _check_probabilities(divergence: OutputDivergence, found: Mapping[tuple[int, int], Bracket]) -> None:
    """No event may be likelier than the `largest_probability`: limits of attackers and tests on samples rest on it."""
    for (one, other), there in found.items():
        if there.upper.is_infinite:
            continue
        for event in itertools.chain.from_iterable(itertools.combinations(range(len(WEIGHTS[0])), size) for size in (1, 2)):
            p, q = (sum((LAWS[law].probability(o) for o in event), Fraction(0)) for law in (one, other))
            with ctx.workprec(_FINE):
                try:
                    most = divergence.largest_probability(ball(q), there.upper.enclose(_FINE))
                except NoFormulaError:
                    continue
                if ball(p) > most:
                    text = f"an event of probability {q} has {p} under another law at d = {there}, and {most} is declared"
                    _refuse(divergence, "largest_probability", text)


def _check_worst_pairs(divergence: OutputDivergence, found: Mapping[tuple[int, int], Bracket]) -> None:
    """No pair of laws within a budget, in both orders, may have a larger delta than the worst pair at any epsilon."""
    for (one, other), there in found.items():
        bound = max(there.upper, found[other, one].upper)
        try:
            worst = None if bound.is_infinite else divergence.worst_pairs(bound)
        except NoFormulaError:  # the budget is too large for it
            continue
        if worst is None:
            continue
        for epsilon in BUDGETS:
            reached, most = (pair.hockey_stick(epsilon) for pair in (LAWS[one].against(LAWS[other]), worst[1]))
            if reached.lower > most.upper:
                text = f"laws at d = {bound} have delta {reached} at epsilon = {epsilon}, and the worst pair {most}"
                _refuse(divergence, "worst_pairs", text)


def keeps_line(left: FiniteLaw, right: FiniteLaw, power: Number, slack: Number) -> bool:
    """Whether P(S) <= e^power Q(S) + slack for every event S: the worst one holds the outcomes with P(o) > e^power Q(o)."""
    with ctx.workprec(_FINE):
        ratio, free = power.enclose(_FINE).exp(), slack.enclose(_FINE)
        terms = [ball(left.probability(o)) - ratio * ball(right.probability(o)) for o in {*left.support, *right.support}]
        return not sum((term for term in terms if term > 0), arb(0)) > free


def _check_composed(divergence: OutputDivergence, found: Mapping[tuple[int, int], Bracket]) -> None:
    """The total of two budgets has to cover the joint law of two outputs."""
    first = divergence.budget_parameters[0]
    for (one, other), (two, another) in (((0, 1), (0, 1)), ((0, 1), (1, 2)), ((0, 2), (2, 0))):
        amounts = [divergence.budget_for(first, found[pair].upper) for pair in ((one, other), (two, another))]
        joint = None if any(amount.is_infinite for amount in amounts) else divergence.composed([(divergence, a) for a in amounts])
        if joint is None:
            continue
        allowed = joint.divergence.lipschitz(joint.divergence.budget_parameters[0], joint.value)
        left, right = (FiniteLaw.product([LAWS[a], LAWS[b]]) for a, b in ((one, two), (other, another)))
        reached = joint.divergence.between(left, right)
        if reached.lower > allowed:
            _refuse(divergence, "composed", f"releases of {amounts[0]} and {amounts[1]} are {reached} together, above {allowed}")


def _check_budgets(divergence: OutputDivergence) -> None:
    """A larger budget allows no less, and the budget for a constant allows the constant."""
    for parameter in divergence.budget_parameters:
        constants = [divergence.lipschitz(parameter, value) for value in BUDGETS]
        if any(small > large for small, large in itertools.pairwise(constants)) or constants[0] < ZERO:
            text = f"{parameter} = {', '.join(map(str, BUDGETS))} mean {', '.join(map(str, constants))}"
            raise PluginContractError(divergence.name, f"has a `lipschitz` that falls or is negative: {text}", AUTHOR)
        for constant in constants:
            budget = divergence.budget_for(parameter, constant)
            if budget < ZERO or divergence.lipschitz(parameter, budget) < constant:
                rule = f"has a `budget_for` that is too small: {parameter} = {budget} for the constant {constant}, and it means"
                raise PluginContractError(divergence.name, f"{rule} {divergence.lipschitz(parameter, budget)}", AUTHOR)


def _pair(one: int, other: int) -> FiniteDichotomy:
    return FiniteDichotomy(WEIGHTS[one], WEIGHTS[other], sum(WEIGHTS[one]), sum(WEIGHTS[other]))


def _exceeds(far: Bracket, near: Bracket, rest: Bracket) -> bool:
    if near.upper.is_infinite or rest.upper.is_infinite:
        return False
    if far.lower.is_infinite:
        return True
    return bool(far.lower.enclose(_BITS) > near.upper.enclose(_BITS) + rest.upper.enclose(_BITS))


def _check_score(divergence: OutputDivergence, found: Mapping[tuple[int, int], Bracket]) -> None:
    """A larger score has to mean a larger divergence."""
    scores = {key: divergence.score(_pair(*key)) for key in found}
    for (one, ours), (other, theirs) in itertools.permutations(scores.items(), 2):
        if ours is None or theirs is None:
            continue
        if ours[0] * theirs[1] < theirs[0] * ours[1] and found[one].lower > found[other].upper:
            _refuse(divergence, "score", f"d = {found[one]} for the smaller score, {found[other]} for the larger")


def _on_small_spaces(
    check: Callable[..., None], block: InputDivergence | Invariant | Multiverse, space: DatasetSpace, *more: object
) -> None:
    """Run a check of a block on each small space; where that is not the one that it is for, what cannot be read says nothing.

    A function in Python may be a table of the datasets of its own space, and raise anything for others.

    Args:
        check: a function of the block, of what else it needs, and of a space.
        block: the block that has to be defined on the spaces.
        space: the space that the block is for.
        more: what else the check needs.
    """
    for where in _small(block, space):
        try:
            check(block, *more, where)
        except PluginContractError:
            raise
        except Exception:
            if where is space:
                raise


def _check_distances(divergence: InputDivergence, where: DatasetSpace) -> None:
    listed = _listed(where)
    found = {(x, y): _distance(divergence, x, y, where) for x, y in itertools.permutations(listed, 2)}
    least, unit = divergence.least_distance(where), divergence.counted_unit()
    for x in listed:
        if _distance(divergence, x, x, where) != ZERO:
            rule = f"returns a distance above 0 from a dataset to itself: x = {x}"
            raise PluginContractError(divergence.name, rule, AUTHOR)
    for (x, y), there in found.items():
        if divergence.is_symmetric and there != found[y, x]:
            _refuse(divergence, "is_symmetric", f"d(x, x') = {there} and d(x', x) = {found[y, x]} for x = {x}, x' = {y}")
        is_near = there.is_infinite or there == 1
        if divergence.is_neighbour_form and not is_near:
            _refuse(divergence, "is_neighbour_form", f"d(x, x') = {there} for x = {x}, x' = {y}")
        if least is not None and there < least:
            _refuse(divergence, "least_distance", f"d(x, x') = {there} is below {least} for x = {x}, x' = {y}")
        if unit is not None and there < _largest_move(x, y, unit, where):
            _refuse(divergence, "counted_unit", f"d(x, x') = {there}, and a count of {unit} records moves by more: {x}, {y}")
        is_whole = there.is_infinite or (there.is_rational and there.as_fraction().denominator == 1)
        if divergence.is_integral and not is_whole:
            _refuse(divergence, "is_integral", f"d(x, x') = {there} for x = {x}, x' = {y}")
        if not there.is_infinite:
            _check_price(divergence, x, y, there, where)
    fault = fault_in_unit_price(divergence, found, where)
    if fault is not None:
        _refuse(divergence, "unit_price", fault)
    _check_path_form(divergence, where)
    for x, y, z in itertools.permutations(listed, 3) if divergence.is_metric else ():
        if _exceeds(*(Bracket.exactly(found[pair]) for pair in ((x, z), (x, y), (y, z)))):
            _refuse(divergence, "is_metric", f"d(x, z) is above d(x, y) + d(y, z) for x = {x}, y = {y}, z = {z}")


def _check_apart_inside(multiverse: Multiverse, divergence: InputDivergence, where: DatasetSpace) -> None:
    """Datasets of one universe at a positive distance have to be as far apart as the divergence says."""
    divergence.check(where)
    least = divergence.apart_inside(multiverse, where)
    for x, y in itertools.permutations(_listed(where), 2) if least > 1 else ():
        there = _distance(divergence, x, y, where)
        if 0 < there < least and multiverse.share_universe(x, y, where):
            names = dict.fromkeys(block.name for block in (divergence, *(multiverse.induced_by() or (multiverse,))))
            rule = f"one of them says that different datasets of one universe are at least {least} apart, and that is false"
            raise PluginContractError(", ".join(names), f"{rule}: d(x, x') = {there} for x = {x}, x' = {y}", AUTHOR)


def _check_steps(divergence: InputDivergence, space: DatasetSpace) -> None:
    fault = fault_in_steps(divergence, space)
    if fault is not None:
        _refuse(divergence, "number_steps", fault)


def fault_in_steps(divergence: InputDivergence, space: DatasetSpace) -> str | None:
    """A pair of lists of numbers whose difference is no sum of as many `number_steps` as stated, or that is not among
    `numbers_within`; None where a few lists show none.
    """
    part = NumberLists.found_in(space)
    if part is None or part.places() == 0:
        return None
    places, (low, high) = part.places(), part.bounds()
    steps, within = divergence.number_steps(places), divergence.numbers_within(places, 2)
    if steps is None and within is None:
        return None
    values = range(low, low + 3 if high is None else min(low + 3, high + 1))
    chosen = sorted({0, places // 2, places - 1})
    lists = []
    for entries in itertools.product(values, repeat=len(chosen)):
        held = dict(zip(chosen, entries, strict=True))
        lists.append(tuple(held.get(place, low) for place in range(places)))
    single = None if steps is None else _Steps.of(steps)
    double = None if within is None else set(within)
    for x, y in itertools.permutations(lists, 2):
        there = _distance(divergence, space.dataset(x), space.dataset(y), space)
        if there.is_infinite or not there < 3:
            continue
        moved = tuple(after - before for before, after in zip(x, y, strict=True))
        if single is not None and not (there >= 1 and (single.has(moved) or (there >= 2 and single.has_sum(moved)))):
            return f"d(x, x') = {there}, and x' - x is no sum of at most so many steps, for x = {x}, x' = {y}"
        if double is not None and ZERO < there <= 2 and moved not in double:
            return f"d(x, x') = {there}, and x' - x is not among `numbers_within` 2, for x = {x}, x' = {y}"
    return None


@attrs.frozen
class _Steps:
    """Vectors by a number that is linear in them: thousands of steps of a thousand places are not subtracted one by one."""

    weights: tuple[int, ...]
    held: Mapping[int, Set[tuple[int, ...]]]

    @classmethod
    def of(cls, steps: Sequence[tuple[int, ...]]) -> _Steps:
        drawn, held = random.Random(0), dict[int, set[tuple[int, ...]]]()
        found = cls(tuple(drawn.getrandbits(60) for _ in range(max(map(len, steps), default=0))), held)
        for step in steps:
            held.setdefault(found.key(step), set()).add(step)
        return found

    def key(self, vector: tuple[int, ...]) -> int:
        """The sum of the entries, each as often as its weight says: of different vectors it may be the same."""
        return sum(map(operator.mul, vector, self.weights))

    def has(self, vector: tuple[int, ...]) -> bool:
        """Whether the vector is a step."""
        return vector in self.held.get(self.key(vector), ())

    def has_sum(self, vector: tuple[int, ...]) -> bool:
        """Whether the vector is the sum of two steps."""
        key = self.key(vector)
        return any(
            tuple(map(operator.add, one, other)) == vector
            for first, steps in self.held.items()
            for other in self.held.get(key - first, ())
            for one in steps
        )


def fault_in_unit_price(divergence: InputDivergence, pairs: Iterable[tuple[Dataset, Dataset]], space: DatasetSpace) -> str | None:
    """Two datasets farther apart than the `unit_price` allows for the records in which they differ; None where there are none.

    Of a neighbour form, steps of a path are counted, and nothing is compared.
    """
    price, unit = divergence.unit_price(space), divergence.counted_unit()
    if price is None or unit is None or divergence.is_neighbour_form:
        return None
    resized = list[bool]()
    found = list[tuple[Dataset, Dataset, int, Number]]()
    for x, y in pairs:
        ours, theirs = (space.records(each, unit) for each in (x, y))
        apart = divergence.distance(x, y, space)
        if len(ours) != len(theirs):
            resized.append(not apart.is_infinite)
            changes = len(theirs) - len(ours) if _lies_in(ours, theirs, space) else 0
        elif space.is_ordered:
            changes = sum(one != other for one, other in zip(ours, theirs, strict=True))
        else:
            changes = (Counter(ours) - Counter(theirs)).total()
        found.append((x, y, changes, apart))
    comes_and_goes = any(resized) if resized else not space.fixes_size(unit)
    for x, y, changes, apart in found:
        same_size = len(space.records(x, unit)) == len(space.records(y, unit))
        counted = changes * 2 if comes_and_goes and same_size else changes  # replaced: one goes and one comes
        if counted and not apart.is_infinite and _exceeds_times(apart, number(counted), price):
            return f"d({x}, {y}) = {apart}, and {counted} changes of a {unit} record cost {price} each"
    return None


def _lies_in(few: Sequence[Record], many: Sequence[Record], space: DatasetSpace) -> bool:
    """Whether records are among others, in an ordered space in the same order: those that come move none of them."""
    if not space.is_ordered:
        return not Counter(few) - Counter(many)
    left = iter(many)
    return all(record in left for record in few)


def _check_path_form(divergence: InputDivergence, where: DatasetSpace) -> None:
    """What it calls the length of a shortest path has to be at least that of some path of neighbours: promises follow paths."""
    path, size = divergence.path_form() if divergence.is_neighbour_form else None, where.cardinality()
    if path is None or size is None or size > LABELLED:
        return
    path.check(where)
    datasets = tuple(where.datasets())
    for start in _spread(datasets, DATASETS):
        steps, last = {start: 0}, [start]
        while last:
            last = [y for y in datasets if y not in steps and any(_distance(divergence, x, y, where) == 1 for x in last)]
            steps |= dict.fromkeys(last, 1 + max(steps.values()))
        for x in datasets:
            there = _distance(path, start, x, where)
            if not there.is_infinite and (x not in steps or there < steps[x]):
                found = f"{steps[x]} steps" if x in steps else "no path"
                _refuse(divergence, "path_form", f"{path} is {there} and there is {found} from x = {start} to x' = {x}")


def _largest_move(x: Dataset, y: Dataset, unit: str, space: DatasetSpace) -> int:
    """The largest change of a count of records: all that come, or all that go."""
    ours, theirs = (Counter(space.records(dataset, unit)) for dataset in (x, y))
    return max((theirs - ours).total(), (ours - theirs).total())


def _check_price(divergence: InputDivergence, x: Dataset, y: Dataset, there: Number, space: DatasetSpace) -> None:
    """The changes of records between two datasets at a finite distance have to cost at most that distance."""
    steps = divergence.record_steps(space)
    if steps is None:
        return
    ours, theirs = (Counter(space.records(dataset, steps.unit)) for dataset in (x, y))
    gone, come = (ours - theirs).total(), (theirs - ours).total()
    price = steps.price(gone, come)
    if price is None:
        _refuse(divergence, "record_steps", f"datasets of different sizes are at distance {there}: x = {x}, x' = {y}")
    elif price > (there if steps.within is None else number(steps.within)):
        _refuse(divergence, "record_steps", f"changes of price {price} lead to distance {there}: x = {x}, x' = {y}")


def _check_multiverse(multiverse: Multiverse, where: DatasetSpace) -> None:
    """Labels, the list of universes, shared universes and invariants have to say the same of the same datasets."""
    datasets = _spread(tuple(itertools.islice(where.datasets(), MOST_LISTED)), LABELLED)
    labels = {x: set(labels_of(multiverse, x, where)) for x in datasets}
    for x in datasets:
        if set(multiverse.labels(x, where)) != labels[x]:
            _refuse_multiverse(multiverse, f"gives a dataset other labels in a second call: {x}")
    if type(multiverse).universes is not Multiverse.universes and not _is_large(where):
        listed_universes(multiverse, where)
    invariants = multiverse.induced_by()
    for x, y in itertools.combinations(_spread(datasets, DATASETS), 2):
        shared = not labels[x].isdisjoint(labels[y])
        if bool(multiverse.share_universe(x, y, where)) is not shared:
            _refuse_multiverse(multiverse, f"has a `share_universe` that contradicts its labels: x = {x}, x' = {y}")
        if invariants is not None and shared is not all(c.value(x, where) == c.value(y, where) for c in invariants):
            _refuse_multiverse(multiverse, f"states invariants that do not induce its universes: x = {x}, x' = {y}")


def _is_large(space: DatasetSpace) -> bool:
    size = listing_size(space)
    return size is None or size > MOST_LISTED


def _refuse_multiverse(multiverse: Multiverse, rule: str) -> NoReturn:
    raise PluginContractError(f"multiverse {multiverse.name}", rule, AUTHOR)


def _check_budget(multiverse: Multiverse, budget: Budget, where: DatasetSpace) -> None:
    """What it says of all universes has to be true of each: one number, a lower bound, a list, a published bound."""
    held: dict[Hashable, list[Dataset]] = {}
    for x in _listed(where):
        for label in multiverse.labels(x, where):
            held.setdefault(label, []).append(x)
    stated = dict(budget.by_label() or ())
    for label, datasets in held.items():
        universe = Universe(label=label, datasets=tuple(datasets), is_whole=False)
        try:
            found, again = (amount_in(budget, universe, multiverse, where) for _ in range(2))
            between = budget.least_between(multiverse, where) if len(datasets) > 1 else None
        except PluginContractError:
            raise
        except DpspecError:  # no number for this universe, or none that is published
            continue
        check_number(found, f"budget {budget.name}", f"{budget.parameter} of a universe")
        one, most = budget.uniform(), (budget.bounds() or (None, None))[1]
        for said, true in (
            ("another number in a second call", found == again),
            (f"{one} for all universes", one is None or one == found),
            (f"at most {most}", most is None or found <= most),
            (f"{stated.get(label)} in its list", stated.get(label, found) == found),
            *((f"at least {low}", low is None or low <= found) for low in (budget.least(), between and between[0])),
        ):
            if not true:
                rule = f"says {said}, and {budget.parameter} = {found} in the universe {label}"
                raise PluginContractError(f"budget {budget.name}", rule, AUTHOR)


# --- what one block says of another ---------------------------------------------------------------


def distance_bound(
    smaller: InputDivergence,
    larger: InputDivergence,
    space: DatasetSpace,
    *,
    multiverse: Multiverse | None = None,
    inside: DatasetSpace | None = None,
) -> Bound | None:
    """A constant c with d(x, x') <= c d'(x, x') as either of the two divergences states it, with the reason; None when unknown.

    It is checked on a few datasets.

    Args:
        smaller, larger: d and d'.
        space: the space of the datasets.
        multiverse: the universes that x and x' have to share; without it, x and x' are any datasets.
        inside: the space as two datasets of one universe see it, which is what the divergences are asked about then.

    Raises:
        PluginContractError: when it is false; one of the two divergences says so.
    """
    where = space if inside is None else inside
    try:
        known = smaller.bounded_by(larger, where) or larger.bounds(smaller, where)
    except PluginContractError:
        raise
    except Exception:
        if inside is None:
            raise
        return None  # what a universe fixes is known of a space that need not be of their kind, such as graphs
    if known is not None:
        _check_bound(known, smaller, larger)
        shared = Trivial() if multiverse is None else multiverse
        _once(_on_small_spaces, _check_distances_bounded, smaller, space, larger, known[0], shared)
    return known


def _check_bound(known: object, smaller: InputDivergence | OutputDivergence, larger: InputDivergence | OutputDivergence) -> None:
    """A stated bound has to be a constant and its reason."""
    names = f"{smaller.name}, {larger.name}"
    if not isinstance(known, tuple) or len(known) != 2 or not isinstance(known[1], str):
        rule = f"one of the two states a bound of {smaller} by {larger} that is no pair of a constant and a reason"
        raise PluginContractError(names, rule, 'return (number(1), "why")', value=repr(known))
    check_number(known[0], names, "a constant by which one is bounded by the other")


def _check_distances_bounded(
    smaller: InputDivergence, larger: InputDivergence, factor: Number, multiverse: Multiverse, where: DatasetSpace
) -> None:
    try:
        larger.check(where)
        multiverse.check(where)
        pairs = [pair for pair in itertools.permutations(_listed(where), 2) if multiverse.share_universe(*pair, where)]
        found = [(x, y, _distance(smaller, x, y, where), _distance(larger, x, y, where)) for x, y in pairs]
    except PluginContractError:
        raise
    except DpspecError:  # one of them is not defined on the smaller space
        return
    for x, y, less, more in found:
        if _exceeds_times(less, factor, more):
            rule = f"one of the two says that {smaller} is at most {factor} times {larger}, and that is false"
            text = f"{less} against {more} for x = {x}, x' = {y}"
            raise PluginContractError(f"{smaller.name}, {larger.name}", f"{rule}: {text}", AUTHOR)


def divergence_bound(smaller: OutputDivergence, larger: OutputDivergence) -> Bound | None:
    """A constant c with d(P, Q) <= c d'(P, Q) as either of the two divergences states it, with the reason; None when unknown.

    It is checked on three laws.

    Raises:
        PluginContractError: when it is false; one of the two divergences says so.
    """
    known = smaller.bounded_by(larger) or larger.bounds(smaller)
    if known is not None:
        _check_bound(known, smaller, larger)
        _once(_check_divergences_bounded, smaller, larger, known[0])
    return known


def _check_divergences_bounded(smaller: OutputDivergence, larger: OutputDivergence, factor: Number) -> None:
    for one, other in itertools.permutations(LAWS, 2):
        try:
            less, more = smaller.between(one, other), larger.between(one, other)
        except PluginContractError:
            raise
        except DpspecError:  # one of them has no formula for these laws
            return
        if _exceeds_times(less.lower, factor, more.upper):
            rule = f"one of the two says that {smaller} is at most {factor} times {larger}, and that is false"
            raise PluginContractError(f"{smaller.name}, {larger.name}", f"{rule}: {less} against {more} for two laws", AUTHOR)


def _exceeds_times(less: Number, factor: Number, more: Number) -> bool:
    if factor == 0 or more == 0:
        return less > ZERO
    if factor.is_infinite or more.is_infinite:
        return False
    return less.is_infinite or bool(less.enclose(_BITS) > factor.enclose(_BITS) * more.enclose(_BITS))


def check_part(divergence: InputDivergence, whole: DatasetSpace, part: DatasetSpace) -> None:
    """Check on a few datasets that one space is a part of another, made of the same records, on which distances do not shrink.

    Raises:
        PluginContractError: when it is false: the larger space or the divergence says so.
    """
    _once(_check_part, divergence, whole, part)


def _check_part(divergence: InputDivergence, whole: DatasetSpace, part: DatasetSpace) -> None:
    if _is_large(part):
        return
    listed = _listed(part)
    for x in listed:
        try:
            same = whole.dataset(x) == x and all(whole.records(x, unit) == part.records(x, unit) for unit in part.units)
        except NotInSpaceError:
            same = False
        except IncompatibleBlocksError:  # a space without records
            continue
        if not same:
            rule = f"says that it includes the space {part.name}, and has not its dataset {x} with the same records"
            raise PluginContractError(f"space {whole.name}", rule, AUTHOR)
    for x, y in itertools.permutations(listed, 2):
        near, far = _distance(divergence, x, y, part), _distance(divergence, x, y, whole)
        if near < far:
            _refuse(divergence, "grows_on_subspaces", f"d(x, x') = {near} on a part and {far} on the whole for x = {x}, x' = {y}")


def check_budget_within(one: Budget, other: Budget, multiverse: Multiverse, space: DatasetSpace) -> None:
    """Check in a few universes that a budget is at most another.

    Raises:
        PluginContractError: when it is false; the first budget says so.
    """
    _on_small_spaces(_check_budget_within, multiverse, space, one, other)


def _check_budget_within(multiverse: Multiverse, one: Budget, other: Budget, where: DatasetSpace) -> None:
    for x in _listed(where):
        for label in multiverse.labels(x, where):
            universe = Universe(label=label, datasets=(x,), is_whole=False)
            try:
                ours, theirs = (amount_in(budget, universe, multiverse, where) for budget in (one, other))
            except PluginContractError:
                raise
            except DpspecError:  # no number for this universe
                continue
            if ours > theirs:
                rule = f"says that it is at most {other}, and is {ours} against {theirs} in the universe {label}"
                raise PluginContractError(f"budget {one.name}", rule, AUTHOR)


def check_determined(fine: Sequence[Invariant], coarse: Sequence[Invariant], space: DatasetSpace) -> None:
    """Check on a few datasets that the values of some invariants determine those of others.

    Raises:
        PluginContractError: when they do not; one of the invariants says so.
    """
    _on_small_spaces(_check_determined, LevelSets(invariants=(*fine, *coarse)), space, fine, coarse)


def _check_determined(_: Multiverse, fine: Sequence[Invariant], coarse: Sequence[Invariant], where: DatasetSpace) -> None:
    seen: dict[Hashable, tuple[Dataset, Hashable]] = {}
    for x in _spread(tuple(itertools.islice(where.datasets(), MOST_LISTED)), LABELLED):
        value = tuple(invariant.value(x, where) for invariant in coarse)
        twin, same = seen.setdefault(tuple(invariant.value(x, where) for invariant in fine), (x, value))
        if value != same:
            names = ", ".join(dict.fromkeys(invariant.name for invariant in (*fine, *coarse)))
            rule = "one of them says that it is determined by others or determines them, and that is false"
            raise PluginContractError(f"invariants {names}", f"{rule}: {twin} and {x} agree in the others only", AUTHOR)


def _distance(divergence: InputDivergence, x: Dataset, y: Dataset, space: DatasetSpace) -> Number:
    found, again = (divergence.distance(x, y, space) for _ in range(2))
    check_number(found, divergence.name, "a distance")
    if found != again:
        rule = f"returns {found} and then {again} for the same two datasets: x = {x}, x' = {y}"
        raise PluginContractError(divergence.name, rule, AUTHOR)
    return found


def _check_values(invariant: Invariant, where: DatasetSpace) -> None:
    """Its value has a hash and is the same in each call; datasets have equal values exactly where the table has that it is."""
    table, values = invariant.as_marginal(), dict[Dataset, Hashable]()
    for x in _listed(where):
        values[x], again = (invariant.value(x, where) for _ in range(2))
        try:
            hash(values[x])
        except TypeError as fault:
            rule = f"returns a value that has no hash: {fault}"
            raise PluginContractError(f"invariant {invariant.name}", rule, "return a tuple", value=repr(values[x])) from fault
        if values[x] != again:
            rule = f"returns {values[x]} and then {again} for the same dataset {x}"
            raise PluginContractError(f"invariant {invariant.name}", rule, AUTHOR)
    if table is None:
        return
    for x, y in itertools.combinations(values, 2):
        if (values[x] == values[y]) != (table.value(x, where) == table.value(y, where)):
            rule = f"says that it is the table {table}, and is not: x = {x}, x' = {y}"
            raise PluginContractError(f"invariant {invariant.name}", rule, AUTHOR)


@memoize(maxsize=64)
def _listed(space: DatasetSpace) -> tuple[Dataset, ...]:
    """A few datasets of a small space, spread over the first ones."""
    return _spread(tuple(itertools.islice(smallest_datasets(space), 4 * DATASETS)), DATASETS)


def _spread(listed: Sequence[Dataset], number_of: int) -> tuple[Dataset, ...]:
    return tuple(listed[:: max(1, len(listed) // number_of)])


def check_reverse(divergence: InputDivergence, x: Dataset, y: Dataset, there: Number, space: DatasetSpace) -> None:
    """Compare the distance of two datasets with that in the other order, where the two are declared to be equal."""
    back = divergence.distance(y, x, space)
    if there != back:
        _refuse(divergence, "is_symmetric", f"d(x, x') = {there} and d(x', x) = {back} for x = {x}, x' = {y}")


def _small(block: InputDivergence | Invariant | Multiverse, space: DatasetSpace) -> Iterator[DatasetSpace]:
    """The space itself, where its datasets are quick to list, and the space with few categories and records."""
    size = space.cardinality()
    if size is not None and size <= MOST_LISTED:
        yield space
    smaller = _reduced(space)
    if smaller is None:
        return
    try:
        block.check(smaller)
    except PluginContractError:
        raise
    except DpspecError:  # it is defined on spaces with all categories or sizes only
        return
    yield smaller


@memoize(maxsize=16)
def _reduced(space: DatasetSpace) -> DatasetSpace | None:
    """The space with few categories and records, on which each of hundreds of invariants is checked."""
    part = Changes.found_in(space)
    names = [attribute.name for unit in space.units for attribute in space.attributes_of(unit)]
    return None if part is None else part.reduced(dict.fromkeys(names[:2], frozenset()), 3)


def _refuse(divergence: InputDivergence | OutputDivergence, declared: str, found: str) -> None:
    rule = f"declares {declared}, and that is false: {found}"
    raise PluginContractError(divergence.name, rule, f"the author of the plugin has to remove the declaration of {declared}")
