"""Moves inside a universe that cannot be listed: integer kernels, and the changes of a dataset that they give.

Write L = {v in Z^n : A v = 0}. Three sets of moves are distinguished by what they connect, for tables x >= 0 (or with
l <= x <= u) and the *fibre* F(x) = {x' in the box : A x' = A x}, which is a universe of the invariant A:

* a **lattice basis** generates L: every x' in F(x) is x plus an integer combination of it. Steps of single basis vectors
  connect F(x) only without the sign constraint (Sturmfels, Groebner Bases and Convex Polytopes, 1996).
* a **Markov basis** connects every F(x) of non-negative tables by steps inside F(x)
  (Diaconis and Sturmfels, Annals of Statistics 26, 1998). None is computed here; the next set contains one.
* the **Graver basis** is the set of v in L, v != 0, that are no sum of two nonzero vectors of L with the signs of v. Every
  v in L is a sum of Graver elements with its signs. Applied to v = x' - x, each partial sum stays between x and x' in
  every coordinate, so the Graver basis connects every F(x), for every box l <= x <= u.

A *move* changes a dataset and keeps the invariants. Three kinds, for marginals and other invariants that add up over cells:

* **Differences.** With A the rows of the invariants over any finite list of cells, every pair of one universe whose datasets
  live on those cells reads x = w + v^-, x' = w + v^+ for exactly one kernel vector v, A v = 0, and one common part w >= 0;
  and every such pair lies in one universe. (v = x' - x, w = min(x, x').) So drawing v from a lattice basis, and w, needs no
  connectedness: it reaches every pair. `kernel_of` gives v over cells that may be a few out of billions.
* **Exchanges** of the values of some attributes between two records that agree on others: `exchange_groups` finds them from
  the names of the attributes alone. When the marginals are decomposable they connect every universe (`exchanges_connect`).
* **Graver moves** (`dpspec.blocks.moves`) connect every universe of any integer linear invariants, also when counts are
  bounded, but can be listed for few cells only.

Simple exchanges do not suffice in general: for 2 x 2 x 2 tables with all two-way margins there are none, and the only move
up to sign changes all eight cells (degree 4).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from flint import fmpz_mat

from dpspec.base.errors import NotEnumerableError
from dpspec.blocks.invariant import Invariant
from dpspec.blocks.parts import CellCounts, Collections
from dpspec.blocks.space import Attribute, DatasetSpace

Vector = tuple[int, ...]

REDUCED = 600
"""A lattice basis of more coordinates than this is not shortened (LLL takes seconds there)."""


def kernel_basis(rows: Sequence[Sequence[int]], columns: int) -> tuple[Vector, ...]:
    """A basis of {v in Z^columns : A v = 0}, shortest vectors first.

    Exact: when the reduced echelon form is integral its free columns give a basis, otherwise the rows of the Hermite form of
    [A^T | I] that vanish on A^T do. Either is shortened by LLL, whose steps are unimodular.

    >>> kernel_basis(((1, 1, 1),), 3)
    ((1, -1, 0), (1, 0, -1))
    >>> kernel_basis(((2, 3),), 2)
    ((3, -2),)
    """
    return _kernel_basis(tuple(sorted({tuple(row) for row in rows if any(row)})), columns)


@lru_cache(maxsize=4096)
def _kernel_basis(rows: tuple[Vector, ...], columns: int) -> tuple[Vector, ...]:
    found = _identity(columns) if not rows else (_free_columns(rows, columns) or _by_hermite_form(rows, columns))
    if rows and found and columns <= REDUCED:
        found = _lists(fmpz_mat(found).lll())
    return tuple(sorted((_signed(vector) for vector in found), key=_length))


def _identity(columns: int) -> list[list[int]]:
    return [[int(place == other) for other in range(columns)] for place in range(columns)]


def _lists(matrix: Any) -> list[list[int]]:
    return [[int(entry) for entry in row] for row in matrix.tolist()]


def _signed(vector: Sequence[int]) -> Vector:
    """The vector or its opposite, whichever has a positive first entry."""
    first = next((entry for entry in vector if entry), 0)
    return tuple(-entry for entry in vector) if first < 0 else tuple(vector)


def _length(vector: Vector) -> tuple[int, Vector]:
    return sum(map(abs, vector)), vector


def _free_columns(rows: Sequence[Vector], columns: int) -> list[list[int]] | None:
    """The basis e_j - sum_i R[i, j] e_(pivot of i) over the free columns j, when R, the echelon form, is integral."""
    echelon, denominator, rank = fmpz_mat([list(row) for row in rows]).rref()
    reduced = [[divmod(int(entry), int(denominator)) for entry in row] for row in _lists(echelon)[:rank]]
    if any(rest for row in reduced for _, rest in row):
        return None
    pivots = [next(place for place, (entry, _) in enumerate(row) if entry) for row in reduced]
    basis = []
    for free in sorted(set(range(columns)) - set(pivots)):
        vector = [0] * columns
        vector[free] = 1
        for pivot, row in zip(pivots, reduced, strict=True):
            vector[pivot] = -row[free][0]
        basis.append(vector)
    return basis


def _by_hermite_form(rows: Sequence[Vector], columns: int) -> list[list[int]]:
    height = len(rows)
    augmented = [[*(row[place] for row in rows), *unit] for place, unit in enumerate(_identity(columns))]
    hermite = _lists(fmpz_mat(augmented).hnf())
    return [row[height:] for row in hermite if not any(row[:height])]


def graver_basis(rows: Sequence[Sequence[int]], columns: int, *, most: int = 400) -> tuple[Vector, ...]:
    """The Graver basis of A, one of each pair +-v, shortest first, by Pottier's completion.

    Raises:
        NotEnumerableError: when more than `most` vectors come up (the bases grow very fast with the number of columns).

    >>> graver_basis(((1, 2, 1),), 3)
    ((1, 0, -1), (0, 1, -2), (1, -1, 1), (2, -1, 0))
    """
    start = kernel_basis(rows, columns)
    found: set[Vector] = {sign for vector in start for sign in (vector, _opposite(vector))}
    pending = [(one, two) for one in found for two in found]
    while pending:
        one, two = pending.pop()
        rest = _normal_form(tuple(a + b for a, b in zip(one, two, strict=True)), found)
        if rest is None:
            continue
        fresh = (rest, _opposite(rest))
        pending += [(new, old) for new in fresh for old in found]
        found |= set(fresh)
        if len(found) > 2 * most:
            raise NotEnumerableError(
                "graver basis", f"has more than {most} moves", "walk by the lattice basis, or hold fewer cells", value=columns
            )
    minimal = {vector for vector in found if not any(other != vector and _conforms(other, vector) for other in found)}
    return tuple(sorted({_signed(vector) for vector in minimal}, key=_length))


def _opposite(vector: Vector) -> Vector:
    return tuple(-entry for entry in vector)


def _conforms(part: Vector, whole: Vector) -> bool:
    """Whether 0 <= part <= whole or 0 >= part >= whole in every coordinate."""
    return all(0 <= a <= b or b <= a <= 0 for a, b in zip(part, whole, strict=True))


def _normal_form(vector: Vector, basis: Iterable[Vector]) -> Vector | None:
    """The remainder of a vector after conforming basis vectors are subtracted; None for nothing."""
    basis = tuple(basis)
    while any(vector):
        part = next((other for other in basis if _conforms(other, vector)), None)
        if part is None:
            return vector
        vector = tuple(a - b for a, b in zip(vector, part, strict=True))
    return None


# --- moves of datasets ----------------------------------------------------------------------------


Multiplicities = Mapping[Hashable, int]


# --- differences -----------------------------------------------------------------------------------


def rows_over(invariants: Sequence[Invariant], cells: Sequence[Hashable], space: DatasetSpace) -> list[Vector]:
    """The rows over some cells of those invariants that add up over cells; `adds_up` says which do."""
    return [row for invariant in invariants for row in invariant.rows_over(cells, space) or ()]


def adds_up(invariant: Invariant, space: DatasetSpace) -> bool:
    """Whether the value of the invariant is a sum over the cells of the dataset, so that kernel moves keep it."""
    cells = CellCounts.found_in(space)
    cell = None if cells is None else cells.first_cell()
    return cell is not None and invariant.rows_over((cell,), space) is not None


def kernel_of(
    invariants: Sequence[Invariant], cells: Sequence[Hashable], space: DatasetSpace, *, keep_total: bool = False
) -> tuple[Vector, ...]:
    """A lattice basis of the changes over the given cells that keep the invariants which add up, shortest first.

    Args:
        keep_total: also keep the number of cells of the dataset.

    >>> from dpspec.blocks.invariant import LinearMap
    >>> from dpspec.blocks.vectors import BitVectors
    >>> kernel_of((LinearMap(rows=((1,) * 1000,)),), (3, 77), BitVectors(length=1000))
    ((1, -1),)
    """
    rows = rows_over(invariants, cells, space)
    if keep_total:
        rows.append((1,) * len(cells))
    return kernel_basis(rows, len(cells))


def changed(counts: Multiplicities, cells: Sequence[Hashable], vector: Iterable[int]) -> Counter[Hashable]:
    """Counts after a kernel vector over some cells was added; entries may be negative."""
    after = Counter(counts)
    for cell, step in zip(cells, vector, strict=True):
        after[cell] += step
    return Counter({cell: count for cell, count in after.items() if count})


# --- exchanges -------------------------------------------------------------------------------------


def exchange_groups(
    invariants: Sequence[Invariant], space: DatasetSpace, agreed: frozenset[str] = frozenset()
) -> tuple[frozenset[str], ...]:
    """Groups of attributes whose values two records may exchange when they agree on the attributes `agreed`.

    A marginal with attributes a keeps its value when the exchanged set holds all of a - agreed or nothing of it: the two
    records then have the same projections before and after, in one order or the other. A nested attribute moves with the one it
    lies within. So the groups are the connected components of the hypergraph with edges a - agreed; () when some
    invariant is no marginal of the space's records.

    >>> from dpspec.blocks.invariant import Marginal
    >>> from dpspec.blocks.records import UnorderedRecords
    >>> space = UnorderedRecords(attributes=[{"name": name, "count": 2} for name in "jlk"])
    >>> held = Marginal(attributes=("j", "l")), Marginal(attributes=("j", "k"))
    >>> [sorted(group) for group in exchange_groups(held, space, frozenset("j"))], len(exchange_groups(held, space))
    ([['l'], ['k']], 1)
    """
    margins = [invariant.margin(space) for invariant in invariants]
    if Collections.found_in(space) is None:
        return ()
    attributes = space.attributes_of(space.units[0])
    groups = [frozenset({a.name}) for a in attributes if a.name not in agreed]
    for edge in (*margins, *(frozenset({a.name, a.within}) for a in attributes if a.within)):
        if edge is None:
            return ()
        wanted = edge - agreed
        joined = [group for group in groups if group & wanted]
        if len(joined) > 1:
            groups = [group for group in groups if not group & wanted]
            groups.append(frozenset(name for group in joined for name in group))
    return tuple(groups)


def exchanges(
    left: Hashable, right: Hashable, invariants: Sequence[Invariant], space: DatasetSpace
) -> Iterator[tuple[Hashable, Hashable]]:
    """The pairs of cells that result from two cells of a dataset by exchanging one group of values; no cell is ever listed."""
    collections = Collections.found_in(space)
    if collections is None:
        return
    unit = space.units[0]
    names = tuple(a.name for a in space.attributes_of(unit))
    one, two = (collections.records_of_cell(cell, unit)[0] for cell in (left, right))
    agreed = frozenset(name for name, a, b in zip(names, one, two, strict=True) if a == b)
    groups = exchange_groups(invariants, space, agreed)
    for group in groups if len(groups) > 1 else ():
        moved = tuple(zip(names, one, two, strict=True))
        yield (
            collections.cell_of(tuple(b if name in group else a for name, a, b in moved)),
            collections.cell_of(tuple(a if name in group else b for name, a, b in moved)),
        )


def exchanges_connect(invariants: Sequence[Invariant], space: DatasetSpace) -> str | None:
    """A reason why exchanges connect every universe of the invariants, or None when none is known.

    Holds for marginals of the largest unit, without conditions, that together see every attribute and whose attribute sets,
    closed under nesting, form an acyclic hypergraph: they are then the margins of a decomposable model, for which exchanges
    between two records that agree on a separator are a Markov basis (Dobra, Bernoulli 9(6), 2003; for
    two margins of one table Diaconis and Sturmfels 1998). The combinations that nesting forbids lie inside one margin,
    where a zero count is held anyway. c_Swap = (match x rest, match x swap) is of this kind (Bailie, Gong and Meng 2023).
    """
    if not invariants or Collections.found_in(space) is None:
        return None
    unit = space.units[0]
    tables = [table for invariant in invariants if (table := invariant.as_marginal()) is not None]
    plain = len(tables) == len(invariants) and all(table.unit == unit and not table.where for table in tables)
    attributes = space.attributes_of(unit)
    edges = [_closed(frozenset(table.attributes), attributes) for table in tables]
    if not plain or {a.name for a in attributes} != frozenset().union(*edges) or not _is_acyclic(edges):
        return None
    return "the margins are those of a decomposable model (Dobra 2003)"


def _closed(names: frozenset[str], attributes: Sequence[Attribute]) -> frozenset[str]:
    """With each attribute also every coarser one."""
    found = set(names)
    for attribute in reversed(attributes):
        if attribute.name in found and attribute.within is not None:
            found.add(attribute.within)
    return frozenset(found)


def _is_acyclic(edges: Sequence[frozenset[str]]) -> bool:
    """Graham's reduction: drop what lies in one edge only, and edges inside others, until nothing changes."""
    left = list(edges)
    while True:
        seen = Counter(name for edge in left for name in edge)
        cut = [frozenset(name for name in edge if seen[name] > 1) for edge in left]
        kept = [edge for edge in dict.fromkeys(cut) if edge and not any(edge < other for other in cut)]
        if kept == left:
            return not kept
        left = kept
