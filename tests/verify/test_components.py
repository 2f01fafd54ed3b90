"""The largest changes of one record by tied parts: the same as by looking at every pair of records, and in linear time."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import attrs
import pytest
from dpspec_divergences import AddRemove, DNor, Hamming, Mult, Neighbour, ReplaceOne, SymmetricDifference

from dpspec import Attribute, Marginal, PrivacySpec, Trivial, UniformBudget, UnorderedRecords
from dpspec.base.exact import number
from dpspec.blocks.multiverse import LevelSets
from dpspec.grammar.structure import Structure
from dpspec.grammar.views import NoisyCount
from dpspec.laws.continuous import GaussianLaw, LaplaceLaw
from dpspec.laws.law import Law
from dpspec.verifier import components
from dpspec.verifier.changes import SeenAttributes, farthest, replacements
from dpspec.verifier.exhaustive import PRECISIONS
from dpspec.verifier.laminar import laminar_parts
from dpspec.verifier.lower_bound import Attaining
from dpspec.verifier.sensitivity import Sensitivity

Record = tuple[str, ...]


@attrs.frozen
class Noise:
    """Laplace noise of a scale, or Gaussian noise of a variance."""

    scale: int
    is_gaussian: bool = False

    def __call__(self, center: int) -> Law:
        return GaussianLaw(center, self.scale) if self.is_gaussian else LaplaceLaw(center, self.scale)

    def loss(self, shift: int) -> Fraction:
        """What one answer adds: to d_Pr, or for Gaussian noise to its square."""
        return Fraction(shift * shift, 2 * self.scale) if self.is_gaussian else Fraction(abs(shift), self.scale)


DISTANCES = (SymmetricDifference(), Hamming(), Neighbour(relation=AddRemove()), Neighbour(relation=ReplaceOne()))


def random_table(rng: random.Random, attributes: tuple[Attribute, ...]) -> Marginal:
    names = [a.name for a in attributes]
    conditions = {}
    for a in rng.sample(attributes, rng.choice((0, 0, 1, 1, 2)) if len(attributes) > 1 else rng.choice((0, 1))):
        every = list(a.values())
        conditions[a.name] = tuple(rng.sample(every, rng.randint(1, max(1, len(every) - 1))))
    return Marginal(attributes=tuple(rng.sample(names, rng.choice((0, 1, 1, 2)))), where=conditions)


def random_claim(seed: int) -> tuple[Structure, PrivacySpec, tuple[Noise, ...]]:
    """Views, invariants and a distance on records of few attributes, of which one may lie in another."""
    rng = random.Random(seed)
    attributes = [Attribute(name=f"a{k}", count=rng.randint(2, 4)) for k in range(rng.randint(2, 4))]
    if rng.random() < 0.3:
        outer = attributes[0]
        attributes.append(Attribute(name="inner", count=outer.size * 2, within=outer.name))
    space = UnorderedRecords(attributes=tuple(attributes))
    is_gaussian = rng.random() < 0.3
    noises = tuple(Noise(rng.choice((1, 2, 3)), is_gaussian) for _ in range(rng.randint(1, 4)))
    views = tuple(NoisyCount(random_table(rng, space.attributes), noise) for noise in noises)
    fixed = tuple(random_table(rng, space.attributes) for _ in range(rng.choice((0, 0, 1, 1, 2, 3))))
    spec = PrivacySpec(
        space=space,
        multiverse=LevelSets(invariants=fixed) if fixed else Trivial(),
        input_divergence=rng.choice(DISTANCES),
        output_divergence=DNor() if is_gaussian else Mult(),
        budget=UniformBudget(parameter="rho" if is_gaussian else "epsilon", value=1),
    )
    return Structure(views=views), spec, noises


def kinds(space: UnorderedRecords) -> list[Record]:
    """Every record, from the definition of nested attributes alone: equally many categories in each coarser one, in order."""
    names, sizes = [a.name for a in space.attributes], {a.name: a.size for a in space.attributes}

    def is_record(chosen: tuple[int, ...]) -> bool:
        both = zip(space.attributes, chosen, strict=True)
        return all(a.within is None or chosen[names.index(a.within)] == value * sizes[a.within] // a.size for a, value in both)

    every = itertools.product(*(range(a.size) for a in space.attributes))
    return [tuple(map(str, chosen)) for chosen in every if is_record(chosen)]


def counts(table: Marginal, records: list[Record], space: UnorderedRecords) -> Counter[tuple[str, ...]]:
    names = [a.name for a in space.attributes]
    return Counter(
        tuple(record[names.index(name)] for name in table.attributes)
        for record in records if all(record[names.index(name)] in of for name, of in table.where)
    )  # fmt: skip


def shifts(table: Marginal, left: list[Record], right: list[Record], space: UnorderedRecords) -> list[int]:
    ours, theirs = counts(table, left, space), counts(table, right, space)
    return [theirs[cell] - ours[cell] for cell in {**ours, **theirs} if theirs[cell] != ours[cell]]


def loss(structure: Structure, noises: tuple[Noise, ...], left: list[Record], right: list[Record], space: Any) -> Fraction:
    both = zip(structure.views, noises, strict=True)
    return sum((noise.loss(s) for view, noise in both for s in shifts(view.table, left, right, space)), Fraction(0))


def by_every_pair(
    known: Sensitivity, family: tuple[Marginal, ...], noises: tuple[Noise, ...]
) -> Iterator[tuple[int, bool, Fraction]]:  # fmt: skip
    """For each change of one record that keeps the invariants: its price, whether a record is added, and what it costs."""
    space, steps = known.spec.space, known.steps
    every = kinds(space)
    pairs = [(steps.replaced, [one], [other]) for one in every for other in every]
    pairs += [(steps.added, [], [one]) for one in every] if steps.added is not None else []
    for price, left, right in pairs:
        affordable = steps.within is None or price <= steps.within
        if affordable and not any(shifts(table, left, right, space) for table in family):
            yield price, not left, loss(known.structure, noises, left, right, space)


def check(seed: int, *, is_exact: bool = True) -> None:
    """Compare with every pair of records; a bound that is not exact may be larger, and its pair attains less."""
    structure, spec, noises = random_claim(seed)
    known = Sensitivity(structure=structure, spec=spec)
    family, changes = known.changes()
    costs, within = known.costs(changes, PRECISIONS[0]), known.steps.within
    is_gaussian, expected = noises[0].is_gaussian, Fraction(0)
    for price, _, cost in by_every_pair(known, family, noises):
        times = Fraction(1) if known.is_single(changes) else Fraction(within or 1, price)
        expected = max(expected, cost * times * (times if is_gaussian else 1))
    upper = known.upper(costs)
    squared = upper * upper if is_gaussian else upper
    nested = any(a.within is not None for a in spec.space.attributes)
    larger = nested or not is_exact
    assert squared == number(expected) or (larger and squared >= number(expected)), (seed, upper, expected)
    pair = Attaining(sensitivity=known).best(costs, PRECISIONS[0])
    if pair is None:
        return
    left, right = list(pair.left), list(pair.right)
    for table in (invariant.as_marginal() for invariant in spec.multiverse.induced_by() or ()):
        assert not shifts(table, left, right, spec.space), seed
    apart = loss(structure, noises, left, right, spec.space)
    divergence = pair.divergence.upper * pair.divergence.upper if is_gaussian else pair.divergence.upper
    assert divergence == number(apart), seed
    gone, come = Counter(left) - Counter(right), Counter(right) - Counter(left)
    moved = max(gone.total(), come.total()) if known.steps.added is None else gone.total() + come.total()
    assert pair.distance == moved, seed
    assert pair.ratio.lower <= upper, seed
    if is_exact and not (spec.multiverse.induced_by() or nested):
        assert pair.ratio.lower == upper, seed


def test_random_claims_have_the_constant_of_every_pair_of_records() -> None:
    for seed in range(24):
        check(seed)


def test_smaller_changes_may_be_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(components, "LISTED", 0)
    for seed in range(60, 64):
        check(seed)


@pytest.mark.parametrize(("limit", "value"), [("INCOMPARABLE", 1), ("MOST_WORK", 12), ("MOST_WORK", 3)])
def test_parts_that_are_too_large_are_bounded_from_above(limit: str, value: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(components, limit, value)
    monkeypatch.setattr(components, "LISTED", 0)
    monkeypatch.setattr(components, "LEAST_WORK", value)
    for seed in range(90, 95):
        check(seed, is_exact=False)


@pytest.mark.long
def test_many_random_claims_have_the_constant_of_every_pair_of_records() -> None:
    for seed in range(24, 2_060):
        check(seed)


# --- many attributes -------------------------------------------------------------------------------


def noisy(tables: list[Marginal], distance: Any, attributes: int, fixed: tuple[Marginal, ...] = ()) -> Sensitivity:
    """Laplace noise of the scales 1, 2, ... on tables of records of many attributes."""
    space = UnorderedRecords(attributes=tuple(Attribute(name=f"a{k}", count=5) for k in range(attributes)))
    views = tuple(NoisyCount(table, Noise(place + 1)) for place, table in enumerate(tables))
    spec = PrivacySpec(
        space=space, multiverse=LevelSets(invariants=fixed) if fixed else Trivial(), input_divergence=distance,
        output_divergence=Mult(), budget=UniformBudget(parameter="epsilon", value=1),
    )  # fmt: skip
    return Sensitivity(structure=Structure(views=views), spec=spec)


def table(*names: str, **where: tuple[str, ...]) -> Marginal:
    return Marginal(attributes=names, where=where)


MANY = 48
CHAIN = [table(f"a{k}", f"a{k + 1}") for k in range(MANY - 1)]
CASES: dict[str, tuple[list[Marginal], int]] = {
    "one-way": ([table(f"a{k}") for k in range(MANY)], 2),
    "chain": (CHAIN, 2),
    "star": ([table("a0", f"a{k}") for k in range(1, MANY)], 2),
    "tree": ([table(f"a{(k - 1) // 2}", f"a{k}") for k in range(1, MANY)], 2),
    "ring": ([*CHAIN, table("a0", f"a{MANY - 1}")], 2),
    "one wide table": ([table(*(f"a{k}" for k in range(MANY)))], 2),
    "single counts": ([table(**{f"a{k}": ("1",)}) for k in range(MANY)], 1),
    "counts in a chain": ([table(**{f"a{k}": ("1",), f"a{k + 1}": ("1", "2")}) for k in range(MANY - 1)], 1),
}


@pytest.mark.spread(4, slow=4)
@pytest.mark.parametrize("name", CASES)
def test_the_constant_of_many_attributes_is_found_and_attained(name: str) -> None:
    tables, cells = CASES[name]
    known = noisy(tables, Neighbour(relation=ReplaceOne()), MANY)
    costs = known.costs(known.changes()[1], PRECISIONS[0])
    assert known.upper(costs) == number(sum(Fraction(cells, k + 1) for k in range(len(tables))))
    pair = Attaining(sensitivity=known).best(costs, PRECISIONS[0])
    assert pair is not None
    assert pair.ratio.lower == known.upper(costs)


def test_alternatives_of_many_attributes_are_composed() -> None:
    tables = [table(**{f"a{k}": (value,)}) for k in range(MANY) for value in "12"]
    known = noisy(tables, Neighbour(relation=AddRemove()), MANY)  # an added record meets one of two conditions
    costs = known.costs(known.changes()[1], PRECISIONS[0])
    expected = number(sum(Fraction(1, 2 * k + 1) for k in range(MANY)))
    assert known.upper(costs) == expected
    pair = Attaining(sensitivity=known).best(costs, PRECISIONS[0])
    assert pair is not None
    assert pair.ratio.lower == expected


def test_invariants_of_many_attributes_exclude_what_they_fix() -> None:
    fixed = tuple(table(f"a{k}") for k in range(0, MANY, 2))
    known = noisy(CHAIN, Neighbour(relation=ReplaceOne()), MANY, fixed)
    costs = known.costs(known.changes()[1], PRECISIONS[0])
    pair = Attaining(sensitivity=known).best(costs, PRECISIONS[0])
    assert pair is not None
    assert pair.ratio.lower == known.upper(costs) == number(sum(Fraction(2, k + 1) for k in range(MANY - 1)))
    changed = [place for place, (a, b) in enumerate(zip(pair.left[0], pair.right[0], strict=True)) if a != b]
    assert changed == list(range(1, MANY, 2))


@pytest.mark.slow
def test_tables_that_tie_all_attributes_are_bounded_and_attained() -> None:
    tables = [table(f"a{i}", f"a{j}") for i in range(20) for j in range(i)]
    known = noisy(tables, Neighbour(relation=ReplaceOne()), 20)
    costs = known.costs(known.changes()[1], PRECISIONS[0])
    pair = Attaining(sensitivity=known).best(costs, PRECISIONS[0])
    assert pair is not None
    assert not known.is_attained
    assert pair.ratio.lower == known.upper(costs)  # every attribute changes


def test_patterns_come_with_those_first_that_keep_the_fewest_attributes() -> None:
    for seed in range(20):
        structure, spec, _ = random_claim(seed)
        columns = SeenAttributes.of([view.table for view in structure.views], spec.space, "person")
        every = sorted(replacements(columns), key=lambda pattern: sum(kept.equal for kept in pattern.values()))
        assert list(farthest(columns)) == every


def test_laminar_parts_are_the_largest_ones() -> None:
    space = UnorderedRecords(attributes=tuple(Attribute(name=f"a{k}", count=3) for k in range(4)))
    for seed in range(60):
        rng = random.Random(seed)
        tables = list(dict.fromkeys(random_table(rng, space.attributes) for _ in range(rng.randint(0, 5))))

        def fits(part: tuple[Marginal, ...]) -> bool:
            return all(laminar_parts(pair, space, "person") == [pair] for pair in itertools.combinations(part, 2))

        parts = [part for size in range(len(tables), -1, -1) for part in itertools.combinations(tables, size) if fits(part)]
        expected = [part for part in parts if not any(set(part) < set(other) for other in parts)]
        assert laminar_parts(tables, space, "person") == expected
