"""Moves inside universes: kernel lattices, Graver bases and exchanges, against brute force on small universes."""

import itertools
import random
from collections import defaultdict

import pytest
from flint import fmpz_mat

from dpspec.base.errors import NotEnumerableError, NotInSpaceError
from dpspec.blocks.invariant import FunctionInvariant, LinearMap, Marginal
from dpspec.blocks.moves import (
    adds_up,
    changed,
    exchange_groups,
    exchanges,
    exchanges_connect,
    graver_basis,
    kernel_basis,
    kernel_of,
)
from dpspec.blocks.multisets import children
from dpspec.blocks.records import ContingencyTables, OrderedRecords, UnorderedRecords
from dpspec.blocks.space import Attribute
from dpspec.blocks.vectors import BitVectors, IntegerCounts


def margins(sets, names="abc"):
    return tuple(Marginal(attributes=tuple(s)) for s in sets)


def records(sizes, **rest):
    return UnorderedRecords(attributes=[{"name": name, "count": size} for name, size in zip("abc", sizes, strict=False)], **rest)


def fibres(space, invariants):
    held = defaultdict(set)
    for dataset in space.datasets():
        held[tuple(invariant.value(dataset, space) for invariant in invariants)].add(dataset)
    return list(held.values())


def components(fibre, steps):
    left, count = set(fibre), 0
    while left:
        pending, count = [left.pop()], count + 1
        while pending:
            for reached in steps(pending.pop()):
                assert reached in fibre, "a move left the universe"
                if reached in left:
                    left.discard(reached)
                    pending.append(reached)
    return count


def by_exchange(space, invariants):
    def steps(dataset):
        held = space.cells_of(dataset)
        for i, j in itertools.combinations(range(len(held)), 2):
            for one, two in exchanges(held[i], held[j], invariants, space):
                others = [cell for place, cell in enumerate(held) if place not in (i, j)]
                yield space.of((*others, one, two))

    return steps


def by_vectors(space, vectors):
    def steps(dataset):
        for vector in vectors:
            for sign in (1, -1):
                try:
                    yield space.from_counts(changed(space.counts(dataset), space.cells(), [sign * v for v in vector]))
                except NotInSpaceError:
                    continue

    return steps


# --- lattices ----------------------------------------------------------------------------------------


def test_a_kernel_basis_generates_every_integer_kernel_vector_and_nothing_else():
    source = random.Random(5)
    for _ in range(60):
        columns = source.randint(1, 6)
        rows = [[source.randint(-4, 4) for _ in range(columns)] for _ in range(source.randint(0, 3))]
        basis = kernel_basis(rows, columns)
        rank = fmpz_mat(rows).rank() if rows else 0
        assert len(basis) == columns - rank
        assert all(sum(a * v for a, v in zip(row, vector, strict=True)) == 0 for row in rows for vector in basis)
        if basis:
            # A sublattice of full rank is the whole kernel exactly when the gcd of its maximal minors is 1 (Smith form).
            factors = fmpz_mat([list(vector) for vector in basis]).snf()
            assert all(int(factors[i, i]) == 1 for i in range(len(basis)))


@pytest.mark.slow
def test_a_kernel_of_five_hundred_cells_is_exact_and_short():
    sizes = (5, 10, 10)
    cells = list(itertools.product(*map(range, sizes)))
    pairs = [(0, 1), (0, 2), (1, 2)]
    rows = [
        [int((cell[i], cell[j]) == value) for cell in cells]
        for i, j in pairs
        for value in itertools.product(range(sizes[i]), range(sizes[j]))
    ]
    basis = kernel_basis(rows, len(cells))
    assert len(basis) == 4 * 9 * 9
    assert {sum(map(abs, vector)) for vector in basis} == {8}
    product = fmpz_mat(rows) * fmpz_mat([list(vector) for vector in basis]).transpose()
    assert not any(any(row) for row in product.tolist())


def test_graver_bases_of_known_configurations():
    def count(sizes, sets):
        space = records(sizes)
        return len(graver_basis([r for m in margins(sets) for r in m.rows_over(space.cells(), space)], len(space.cells())))

    assert count((3, 3), "ab") == 15  # the cycles of the complete bipartite graph K_{3,3}: nine of length 4, six of length 6
    assert count((2, 2, 2), ["ab", "ac", "bc"]) == 1
    with pytest.raises(NotEnumerableError):
        graver_basis([list(range(1, 9))], 8, most=20)


def test_a_graver_basis_is_the_set_of_vectors_that_do_not_split():
    rows = ((1, 2, 3),)
    inside = [v for v in itertools.product(range(-6, 7), repeat=3) if v[0] + 2 * v[1] + 3 * v[2] == 0 and any(v)]

    def conforms(u, v):
        return u != v and all(0 <= a <= b or b <= a <= 0 for a, b in zip(u, v, strict=True))

    minimal = {v for v in inside if not any(conforms(u, v) for u in inside)}
    found = graver_basis(rows, 3)
    assert {v for vector in found for v in (vector, tuple(-a for a in vector))} == minimal


# --- connectedness -----------------------------------------------------------------------------------


@pytest.mark.reference("B-D23")
@pytest.mark.parametrize("size", [2, 3, 4, 5])
def test_exchanges_connect_every_universe_of_one_stratum(size):
    space, held = records((3, 3), least=size, most=size), margins("ab")
    assert exchanges_connect(held, space) is not None
    assert all(components(fibre, by_exchange(space, held)) == 1 for fibre in fibres(space, held))


def test_exchanges_connect_decomposable_margins_and_nested_attributes():
    space, chain = records((2, 2, 2), least=4, most=4), margins(["ab", "bc"])
    assert exchanges_connect(chain, space) is not None
    assert all(components(fibre, by_exchange(space, chain)) == 1 for fibre in fibres(space, chain))
    places = [
        Attribute(name="county", count=2), Attribute(name="tract", count=4, within="county"), Attribute(name="age", count=2),
    ]  # fmt: skip
    nested = UnorderedRecords(attributes=places, least=4, most=4)
    swapped = Marginal(attributes=("county", "tract")), Marginal(attributes=("county", "age"))
    assert exchanges_connect(swapped, nested) is not None
    assert all(components(fibre, by_exchange(nested, swapped)) == 1 for fibre in fibres(nested, swapped))


def test_where_exchanges_fail_the_move_of_degree_four_connects():
    space, held = records((2, 2, 2), least=4, most=4), margins(["ab", "ac", "bc"])
    assert exchanges_connect(held, space) is None
    assert all(len(exchange_groups(held, space, frozenset(k))) <= 1 for r in range(3) for k in itertools.combinations("abc", r))
    universes = fibres(space, held)
    split = [fibre for fibre in universes if components(fibre, by_exchange(space, held)) > 1]
    assert len(split) == 1
    (move,) = kernel_of(held, space.cells(), space)
    assert sorted(move) == [-1] * 4 + [1] * 4
    assert all(components(fibre, by_vectors(space, [move])) == 1 for fibre in universes)


@pytest.mark.slow
def test_graver_moves_connect_general_integer_maps_where_a_lattice_basis_may_not():
    source, broken = random.Random(11), 0
    for _ in range(12):
        rows = tuple(tuple(source.randint(-2, 3) for _ in range(4)) for _ in range(source.randint(1, 2)))
        space, held = IntegerCounts(length=4, high=3), (LinearMap(rows=rows),)
        lattice, graver = kernel_basis(rows, 4), graver_basis(rows, 4)
        for fibre in fibres(space, held):
            assert components(fibre, by_vectors(space, graver)) == 1
            broken += components(fibre, by_vectors(space, lattice)) > 1
    assert broken > 0


@pytest.mark.slow
def test_every_pair_of_a_universe_is_a_kernel_vector_and_a_common_part():
    space, held = records((2, 2, 2), least=0, most=4), margins(["ab", "ac", "bc"])
    cells = space.cells()
    lattice = {tuple(v) for v in ([a * m for m in kernel_of(held, cells, space)[0]] for a in range(-4, 5))}
    for one, two in itertools.combinations(space.datasets(), 2):
        left, right = space.counts(one), space.counts(two)
        together = all(invariant.value(one, space) == invariant.value(two, space) for invariant in held)
        assert together == (tuple(right[cell] - left[cell] for cell in cells) in lattice)


# --- what adds up ------------------------------------------------------------------------------------


def test_what_adds_up_over_cells_and_what_does_not():
    bits = BitVectors(length=1000)
    assert adds_up(Marginal(attributes=("bit",)), bits)
    assert len(kernel_of((Marginal(attributes=("bit",)),), (0, 5, 9), bits)) == 2
    assert not adds_up(FunctionInvariant(function=sum, label="sum"), bits)
    ordered = OrderedRecords(attributes=[{"name": "a", "count": 10**6}])
    assert adds_up(Marginal(attributes=("a",)), ordered)
    assert not adds_up(LinearMap(rows=((1,),)), ordered)
    tables = ContingencyTables(attributes=[{"name": "a", "count": 3}], most=4)
    assert kernel_of((LinearMap(rows=((1, 2, 3),)),), tables.cells(), tables, keep_total=True) == ((1, -2, 1),)


def test_children_of_a_category_agree_with_its_parents():
    for size, above in ((7, 3), (12, 4), (5, 5), (10, 3)):
        coarser, finer = Attribute(name="a", count=above), Attribute(name="b", count=size, within="a")
        for parent in coarser.values():
            assert list(children(finer, parent, coarser)) == [i for i in range(size) if finer.parent(str(i), coarser) == parent]
    named = Attribute(name="b", categories=("x", "y", "z"), within="a", parents=("1", "0", "1"))
    assert list(children(named, "1", Attribute(name="a", count=2))) == [0, 2]
