"""Checks of mechanisms: on every dataset of small spaces. What they claim is judged and reported, not required to hold."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from typing import Any

import numpy as np
from flint import arb

from dpspec.blocks.households import MEMBERS
from dpspec.blocks.space import Dataset, DatasetSpace
from dpspec.errors import DpspecError, NoRouteError, ReleaseError
from dpspec.laws.finite import FiniteLaw
from dpspec.laws.law import Law
from dpspec.laws.route import AtomicLaw
from dpspec.mechanism import Claim
from dpspec.randomness import Randomness, SeededRandomness
from dpspec.table import Table
from dpspec.testing.check import Context, NotApplicable, PlacedSubject, check, require
from dpspec.testing.subjects import small_spaces
from dpspec.verify.exhaustive import verify

KIND = "mechanisms"
DRAWS = 3_000
REPEATED = 56
FALSE_ALARM = 1e-9
"""A right sampler fails `check_release_agrees_with_the_law` with at most this probability, for each dataset."""
_LISTED = 0.99
_WINDOWS, _BITS = 1, 10
_ADDED = 1_000
"""At the fast level a longer window is not added up; laws of fewer and narrower answers are."""


@check(KIND)
def check_law_is_normalised(subject: PlacedSubject, context: Context) -> None:
    """`law` gives a `Law` for every dataset; a finite one has positive weights that sum to exactly 1 (B-D1).

    A law of smaller mass hides the outcomes that tell datasets apart. For an infinite law with atoms, its window is added up.
    """
    for place, x in enumerate(subject.compared):
        law = subject.thing.law(x, subject.space)
        require(isinstance(law, Law), f"law({x}) = {law!r} is no Law")
        if isinstance(law, FiniteLaw):
            exact = sum(law.weights.values()) == law.total and all(weight > 0 for weight in law.weights.values())
            require(exact, f"law({x}) has the weights {dict(law.weights)} over {law.total}")
        elif isinstance(law, AtomicLaw) and place < _WINDOWS:
            _check_window(law, x, context)


def _check_window(law: AtomicLaw, x: Dataset, context: Context) -> None:
    try:
        outcomes = law.window(_BITS)
    except NoRouteError:  # a law on the line
        return
    if context.level == "fast" and len(outcomes) > _ADDED:
        return
    mass = sum((law.mass(outcome, 64) for outcome in outcomes), arb(0))
    require(not mass > 1 and not mass < _LISTED, f"the window of law({x}) has the mass {mass}")


@check(KIND)
def check_law_is_the_same_every_time(subject: PlacedSubject, context: Context) -> None:
    """`law` is a function of the dataset (B-D1). A law that remembers or draws is no law, and its verdict no verdict."""
    for x in subject.compared:
        first, second = subject.thing.law(x, subject.space), subject.thing.law(x, subject.space)
        require(first == second, f"law({x}) was {first}, then {second}")


@check(KIND)
def check_strangers_are_refused(subject: PlacedSubject, context: Context) -> None:
    """`law` raises for what is no dataset of the space, best a NotInSpaceError. Otherwise a slip becomes a number.

    Any exception will do: the engine reports it with the name of the plugin. A law for a stranger is never noticed.
    """
    for stranger in _strangers(subject.space):
        try:
            law = subject.thing.law(stranger, subject.space)
        except Exception:  # noqa: S112 - refused
            continue
        require(False, f"law({stranger!r}) = {law}, though that is no dataset of the space")


def _strangers(space: DatasetSpace) -> Iterator[Dataset]:
    """Values that the space does not take: a text, and a dataset of every other small space."""
    others = (x for other in small_spaces() for x in list(other.datasets())[-1:])
    for value in ("no dataset", *others):
        try:
            space.dataset(value)
        except DpspecError:
            yield value


# --- releases ------------------------------------------------------------------------------------


def _release(subject: PlacedSubject, x: Dataset, seed: int) -> Table:
    """One release of a dataset as a table of its records."""
    return _release_from(subject, x, SeededRandomness(seed))


def _release_from(subject: PlacedSubject, x: Dataset, source: Randomness) -> Table:
    space = subject.space
    try:
        return subject.thing.release(_table(x, space), space, source)  # type: ignore[no-any-return]
    except ReleaseError as refusal:
        raise NotApplicable(str(refusal)) from refusal


def _table(x: Dataset, space: DatasetSpace) -> Table:
    """The dataset as microdata of its largest unit; spaces whose records are no rows of categories have none."""
    if not space.units:
        raise NotApplicable("the space has no records")
    attributes = space.attributes_of(space.units[0])
    if any(a.name == MEMBERS for a in attributes):
        raise NotApplicable("the records of the space are no rows of categories")
    return Table.from_records(space.records(x, space.units[0]), attributes)


def _rows(table: Table, *, ordered: bool) -> Hashable:
    """The rows of a table of labels; sorted when their order means nothing."""
    return tuple(table.records() if ordered else sorted(table.records()))


def _observed(state: Callable[[], Any]) -> Any:
    return repr(state())


@check(KIND)
def check_release_draws_from_its_source_alone(subject: PlacedSubject, context: Context) -> None:
    """`release` takes its random bits from the given source: equal seeds give equal tables, and no global generator moves.

    A mechanism that draws elsewhere is not covered by the exact samplers, and a seeded audit of it means nothing.
    """
    for x in subject.datasets[-2:]:
        before = _observed(random.getstate), _observed(np.random.get_state)
        tables = [_release(subject, x, seed) for seed in (1, 1)]
        require(before == (_observed(random.getstate), _observed(np.random.get_state)), "it moves a global random generator")
        first, second = (_rows(table, ordered=True) for table in tables)
        require(first == second, f"two releases of {x} from one seed differ: {first} and {second}")


@check(KIND)
def check_releases_of_one_source_differ(subject: PlacedSubject, context: Context) -> None:
    """A source is spent once: what is drawn from it a second time is drawn afresh (statistical).

    56 releases of a dataset from one source must not be all equal where of 56 from sources of their own no more than 28 agree.
    A right sampler, whose likeliest release has probability p, fails with probability at most max over p of
    P(Bin(56, p) <= 28) p^55 < 1e-10; one that repeats itself, and has p <= 1/4, passes with probability below 1e-4.
    """
    for x in subject.datasets[-1:]:
        one = SeededRandomness(1)
        drawn = (_rows(_release_from(subject, x, one), ordered=subject.space.is_ordered) for _ in range(REPEATED))
        first = next(drawn)
        if next(drawn) != first or _often_alike(subject, x) or any(rows != first for rows in drawn):
            continue
        require(False, f"{REPEATED} releases of {x} from one source are all {first}, those of other sources are not")


def _often_alike(subject: PlacedSubject, x: Dataset) -> bool:
    """Whether more than half of the releases from sources of their own are one and the same."""
    seen: Counter[Hashable] = Counter()
    for seed in range(REPEATED):
        seen[_rows(_release(subject, x, seed), ordered=subject.space.is_ordered)] += 1
        if 2 * max(seen.values()) > REPEATED:
            return True
    return False


@check(KIND, level="full")
def check_release_agrees_with_the_law(subject: PlacedSubject, context: Context) -> None:
    """`release` draws from `law` (statistical; asked where the outcomes are datasets of the space).

    3,000 draws of each of three datasets. By Hoeffding, a right sampler fails with probability at most 1e-9 for each; a wrong
    one that is off by 0.13 or more at some outcome (of at most 40) passes with probability at most 1e-9.
    """
    for x in subject.datasets[-3:]:
        law = subject.thing.law(x, subject.space)
        if not isinstance(law, FiniteLaw):
            raise NotApplicable("its laws are not finite")
        expected = _rows_by_outcome(law, subject.space)
        seen = Counter(_rows(_release(subject, x, seed), ordered=subject.space.is_ordered) for seed in range(DRAWS))
        allowed = math.sqrt(math.log(2 * len(expected) / FALSE_ALARM) / (2 * DRAWS))
        for rows, times in seen.items():
            require(rows in expected, f"a release of {x} is {rows}, which the law calls impossible")
            off = abs(times / DRAWS - expected[rows])
            require(
                off <= allowed, f"{rows} came {times} times in {DRAWS} releases of {x}, its probability is {expected[rows]:.4f}"
            )
        for rows, chance in expected.items():
            require(rows in seen or chance <= allowed, f"{rows} never came, its probability is {chance:.4f}")


def _rows_by_outcome(law: FiniteLaw, space: DatasetSpace) -> dict[Hashable, float]:
    expected: dict[Hashable, float] = {}
    for outcome, probability in law.probabilities():
        try:
            table = _table(space.dataset(outcome), space)
        except DpspecError as refusal:
            raise NotApplicable("its outcomes are no datasets of the space") from refusal
        rows = _rows(table, ordered=space.is_ordered)
        expected[rows] = expected.get(rows, 0.0) + float(probability)
    return expected


# --- claims --------------------------------------------------------------------------------------


@check(KIND)
def check_claims_can_be_judged(subject: PlacedSubject, context: Context) -> str:
    """Every claim names its source and is about the space, and the engine reaches a verdict. The verdicts are reported.

    A printed theorem may be wrong: that a claim is refuted is no fault of the plugin. That it cannot be judged is.
    """
    found = []
    for claim in subject.thing.claims(subject.space):
        require(isinstance(claim, Claim), f"{claim!r} is no Claim")
        require(bool(claim.label and claim.source), f"the claim {claim.label!r} names no label or no source")
        require(claim.spec.space == subject.space, f"{claim.label} is about another space")
        found.append(f"{claim.label} is {verify(subject.thing, claim.spec).outcome.value}")
    return "; ".join(found)
