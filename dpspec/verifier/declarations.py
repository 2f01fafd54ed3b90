"""Test the declared properties of the divergences and invariants of a claim on a few examples, before an engine relies on them.

Engines skip work because a class declares a property: one order of each pair where distances are symmetric, bounds that add up
along paths for a metric, integers instead of exact numbers for a `score`. The conformance tests check these declarations
thoroughly, but a plugin may never have run them. Here they are checked on three laws and on the datasets of a small space, once
for each divergence and space. Types are checked as well (an exact number, a bracket, a hashable value), and so are repeated
calls, and the table that an invariant claims to be. A false declaration is a defect of the plugin and raises an error; it is no
verdict.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from dpspec.base.errors import DpspecError, PluginContractError
from dpspec.base.exact import ZERO, Bracket, Number, number
from dpspec.blocks.input_divergence import InputDivergence
from dpspec.blocks.invariant import Invariant
from dpspec.blocks.output_divergence import OutputDivergence
from dpspec.blocks.parts import Changes
from dpspec.blocks.space import Dataset, DatasetSpace
from dpspec.grammar.spec import PrivacySpec
from dpspec.laws.atoms import FiniteDichotomy

WEIGHTS = ((1, 2, 5), (3, 3, 2), (6, 1, 1))
"""Three laws on three outcomes by their weights. No pair of them is the reverse of another up to a renaming of outcomes, and the
second law lies between the others."""
DATASETS = 7
"""The number of datasets of a small space that are compared with each other."""
MOST_LISTED = 2_000
"""Datasets of a larger space are not listed: even the first of them may take long."""
_BITS = 128
AUTHOR = "report it to the author of the plugin"


def check_declared(spec: PrivacySpec) -> None:
    """Check what the two divergences and the invariants of a claim declare.

    Raises:
        PluginContractError: for a declaration that an example contradicts; it names the divergence or the invariant.
    """
    _once(_check_output, spec.output_divergence)
    _once(_on_small_spaces, _check_distances, spec.input_divergence, spec.space)
    for invariant in spec.multiverse.induced_by() or ():
        _once(_on_small_spaces, _check_values, invariant, spec.space)


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
        found = dict(_compared(divergence))
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
        found = divergence.evaluate(_pair(one, other))
        if not isinstance(found, Bracket) or found.lower < ZERO:
            rule = "returns a divergence that is no bracket of numbers of at least 0"
            advice = "return dpspec.plugin.Bracket(lower=..., upper=...)"
            raise PluginContractError(divergence.name, rule, advice, value=repr(found))
        again = divergence.evaluate(_pair(one, other))
        if again.lower > found.upper or found.lower > again.upper:
            raise PluginContractError(divergence.name, f"returns {found} and then {again} for the same two laws", AUTHOR)
        yield (one, other), found


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


def _on_small_spaces(check: Callable[[Any, DatasetSpace], None], block: InputDivergence | Invariant, space: DatasetSpace) -> None:
    """Run a check on each small space; where the datasets are those of another one, what a block cannot read says nothing.

    A function in Python may be a table of the datasets of its own space, and raise anything for others.
    """
    for where in _small(block, space):
        try:
            check(block, where)
        except PluginContractError:
            raise
        except Exception:
            if where is space:
                raise


def _check_distances(divergence: InputDivergence, where: DatasetSpace) -> None:
    listed = _listed(where)
    found = {(x, y): _distance(divergence, x, y, where) for x, y in itertools.permutations(listed, 2)}
    for (x, y), there in found.items():
        if divergence.is_symmetric and there != found[y, x]:
            _refuse(divergence, "is_symmetric", f"d(x, x') = {there} and d(x', x) = {found[y, x]} for x = {x}, x' = {y}")
        is_whole = there.is_infinite or (there.is_rational and there.as_fraction().denominator == 1)
        if divergence.is_integral and not is_whole:
            _refuse(divergence, "is_integral", f"d(x, x') = {there} for x = {x}, x' = {y}")
        if not there.is_infinite:
            _check_price(divergence, x, y, there, where)
    for x, y, z in itertools.permutations(listed, 3) if divergence.is_metric else ():
        if _exceeds(*(Bracket.exactly(found[pair]) for pair in ((x, z), (x, y), (y, z)))):
            _refuse(divergence, "is_metric", f"d(x, z) is above d(x, y) + d(y, z) for x = {x}, y = {y}, z = {z}")


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


def _distance(divergence: InputDivergence, x: Dataset, y: Dataset, space: DatasetSpace) -> Number:
    found, again = (divergence.distance(x, y, space) for _ in range(2))
    if not isinstance(found, Number) or found < ZERO:
        rule = "returns a distance that is no exact number of at least 0"
        advice = 'return dpspec.plugin.number(...), such as number("3/2")'
        raise PluginContractError(divergence.name, rule, advice, value=repr(found))
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


def _listed(space: DatasetSpace) -> tuple[Dataset, ...]:
    """A few datasets of a small space, spread over the first ones."""
    listed = tuple(itertools.islice(space.datasets(), 4 * DATASETS))
    return listed[:: max(1, len(listed) // DATASETS)]


def check_reverse(divergence: InputDivergence, x: Dataset, y: Dataset, there: Number, space: DatasetSpace) -> None:
    """Compare the distance of two datasets with that in the other order, where the two are declared to be equal."""
    back = divergence.distance(y, x, space)
    if there != back:
        _refuse(divergence, "is_symmetric", f"d(x, x') = {there} and d(x', x) = {back} for x = {x}, x' = {y}")


def _small(block: InputDivergence | Invariant, space: DatasetSpace) -> Iterator[DatasetSpace]:
    """The space itself, where its datasets are quick to list, and the space with few categories and records."""
    size = space.cardinality()
    if size is not None and size <= MOST_LISTED:
        yield space
    part = Changes.found_in(space)
    names = [attribute.name for unit in space.units for attribute in space.attributes_of(unit)]
    smaller = None if part is None else part.reduced(dict.fromkeys(names[:2], frozenset()), 3)
    if smaller is None:
        return
    try:
        block.check(smaller)
    except PluginContractError:
        raise
    except DpspecError:  # it is defined on spaces with all categories or sizes only
        return
    yield smaller


def _refuse(divergence: InputDivergence | OutputDivergence, declared: str, found: str) -> None:
    rule = f"declares {declared}, and that is false: {found}"
    raise PluginContractError(divergence.name, rule, f"the author of the plugin has to remove the declaration of {declared}")
