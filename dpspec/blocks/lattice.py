"""Integer kernels: the vectors v with A v = 0, as a lattice and as a set of moves.

Write L = {v in Z^n : A v = 0}. Three sets of moves are told apart by what they connect, for tables x >= 0 (or with
l <= x <= u) and the *fibre* F(x) = {x' in the box : A x' = A x}, which is a universe of the invariant A:

* a **lattice basis** generates L: every x' in F(x) is x plus an integer combination of it. Steps of single basis vectors
  connect F(x) only without the sign constraint (Sturmfels, Groebner Bases and Convex Polytopes, 1996).
* a **Markov basis** connects every F(x) of non-negative tables by steps inside F(x) (Diaconis and Sturmfels, Annals of
  Statistics 26, 1998). None is computed here; the next set contains one.
* the **Graver basis** is the set of v in L, v != 0, that are no sum of two nonzero vectors of L with the signs of v. Every
  v in L is a sum of Graver elements with its signs. Applied to v = x' - x, each partial sum stays between x and x' in
  every coordinate, so the Graver basis connects every F(x), for every box l <= x <= u.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from flint import fmpz_mat

from dpspec.errors import NotEnumerableError

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
    """What is left of a vector after conforming basis vectors are subtracted; None for nothing."""
    basis = tuple(basis)
    while any(vector):
        part = next((other for other in basis if _conforms(other, vector)), None)
        if part is None:
            return vector
        vector = tuple(a - b for a, b in zip(vector, part, strict=True))
    return None
