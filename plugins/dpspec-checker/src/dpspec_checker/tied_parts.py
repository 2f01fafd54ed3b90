"""The changes of many tables by one record, for the checker of proofs: tied parts by themselves, then together.

Two attributes are tied when a table reads both, or one lies in the other. Within a tied part the kinds of records are joined one
tree of attributes after the other; a table is evaluated as soon as its last tree is joined, and forgotten. The answers that move
are collected for each state of the tables that are still open. Where a proof lists the largest changes only, collections that
others cover are left out on the way: a larger shift of even, log-concave noise simulates a smaller one in either direction, and
more answers simulate fewer.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable

import attrs

from dpspec_checker.noise import Moves
from dpspec_checker.numbers import JsonTable
from dpspec_checker.universes import FewRecords

MOST_STEPS = 300_000
"""Records of one tied part are joined in at most so many steps."""

MOST_COLLECTIONS = 1_500
"""At most so many collections of answers are kept in one place."""

Collection = frozenset[tuple[tuple[str, int], int]]
"""The answers that move, with multiplicities."""

Answers = Callable[[int, str], list[Moves]]
"""The changes of the answers of a view, by its index, when a record stays, moves, comes or goes: one or several cases."""


class TooManyError(Exception):
    """Raised where a tied part is too large to be joined."""


@attrs.frozen(kw_only=True)
class TiedParts:
    """The kinds of records of a unit, with the tables that read them.

    Args:
        records: the kinds of records.
        tables: what each view reads, then what each invariant does.
        views: how many of them are views.
        answers: the answers of a view.
        is_added: whether a record is added, not replaced.
        only_largest: whether collections that others cover are left out.
    """

    records: FewRecords
    tables: list[JsonTable]
    views: int
    answers: Answers
    is_added: bool
    only_largest: bool

    def parts(self) -> list[set[Collection]]:
        """The collections of each tied part."""
        reads = self._reads()
        return [self._of_part(own, numbers, reads) for own, numbers in self._groups(reads)]

    def attributes(self) -> int:
        """How many attributes the largest tied part has."""
        sizes = [len(leaves[0]) for leaves in self.records.trees]
        return max((sum(sizes[tree] for tree in own) for own, _ in self._groups(self._reads())), default=0)

    def _reads(self) -> list[set[int]]:
        """For each table the trees of attributes that it reads."""
        trees = [set(leaves[0]) for leaves in self.records.trees]
        return [{place for place, names in enumerate(trees) if names & _names(table)} for table in self.tables]

    def _groups(self, reads: list[set[int]]) -> list[tuple[set[int], list[int]]]:
        """The tied parts: their trees, and the tables that read them."""
        groups: list[tuple[set[int], list[int]]] = []
        for number, own in enumerate(reads):
            met = [group for group in groups if group[0] & own] if own else []
            rest = [group for group in groups if group not in met]
            groups = [*rest, (own.union(*(group[0] for group in met)), [n for group in met for n in group[1]] + [number])]
        return groups

    def together(self, parts: Iterable[set[Collection]]) -> set[Collection]:
        """All parts at once."""
        found: set[Collection] = {frozenset()}
        for part in parts:
            found = self._fewer({_sum(one, other) for one in found for other in part})
        return found

    def each_view_alone(self) -> list[set[Collection]]:
        """A bound where parts are too large: each view may see whatever it can see by itself, and invariants exclude nothing."""
        hows = ("outside", "comes") if self.is_added else ("outside", "stays", "comes", "goes", "moves")
        found = []
        for place in range(self.views):
            bare = not self.tables[place]["where"]
            able = [how for how in hows if not bare or how in (("comes",) if self.is_added else ("stays", "moves"))]
            found.append(self._fewer({_collection(moves) for how in able for moves in self.answers(place, how)}))
        return found

    def _of_part(self, trees: set[int], numbers: list[int], reads: list[set[int]]) -> set[Collection]:
        left = {number: set(reads[number]) for number in numbers}
        found: dict[tuple[int, int, int], set[Collection]] = {(-1, -1, -1): {frozenset()}}
        waiting, steps = set(trees), 0
        found = self._closed(found, [number for number in numbers if not left[number]])
        while waiting:
            started = [number for number in numbers if left[number] and left[number] != reads[number]]
            near = {tree for number in started for tree in left[number]} or waiting
            tree = min(near, key=lambda t: (sum(t in left[n] and n not in started for n in numbers), t))
            waiting.discard(tree)
            own = [number for number in numbers if tree in left[number]]
            pairs = self._pairs(tree, own)
            steps += len(pairs) * sum(map(len, found.values()))
            if steps > MOST_STEPS:
                raise TooManyError
            joined: dict[tuple[int, int, int], set[Collection]] = {}
            for (x, y, z), sums in found.items():
                for a, b, c in pairs:
                    joined.setdefault((x & a, y & b, z & c), set()).update(sums)
            for number in own:
                left[number].discard(tree)
            found = self._closed(joined, [number for number in own if not left[number]])
        return set().union(*found.values())

    def _pairs(self, tree: int, numbers: list[int]) -> set[tuple[int, int, int]]:
        """For each two kinds of records of a tree the bits of the tables: counted before, counted after, in the same cell."""
        kinds = []
        for leaf in self.records.trees[tree]:
            bits = -1
            for number in numbers:
                if any(name in leaf and leaf[name] not in of for name, of in self.tables[number]["where"].items()):
                    bits &= ~(1 << number)
            kinds.append((bits, [tuple(leaf.get(name) for name in self.tables[n]["attributes"]) for n in numbers]))
        if self.is_added:
            return {(0, bits, -1) for bits, _ in kinds}
        alike = {(bits, tuple(cells)) for bits, cells in kinds}
        if len(alike) ** 2 * len(numbers) > MOST_STEPS:
            raise TooManyError
        found = set()
        for (ours, cells), (theirs, others) in itertools.product(alike, repeat=2):
            same = -1
            for number, one, other in zip(numbers, cells, others, strict=True):
                same &= -1 if one == other else ~(1 << number)
            found.add((ours, theirs, same))
        return found

    def _closed(
        self, states: dict[tuple[int, int, int], set[Collection]], numbers: list[int]
    ) -> dict[tuple[int, int, int], set[Collection]]:  # fmt: skip
        """Evaluate the tables of which every attribute was joined, and forget them."""
        done = sum(1 << number for number in numbers)
        found: dict[tuple[int, int, int], set[Collection]] = {}
        for (x, y, z), sums in states.items():
            moved: list[Collection] = [frozenset()]
            for number in numbers:
                before, after, same = (bool(bits >> number & 1) for bits in (0 if self.is_added else x, y, z))
                how = _how(before, after, same)
                if number < self.views:
                    cases = {_collection(moves) for moves in self.answers(number, how)}
                    moved = [_sum(one, case) for one in moved for case in cases]
                elif how not in ("stays", "outside"):
                    moved = []
            if moved:
                into = found.setdefault((x | done, y | done, z | done), set())
                into |= {_sum(one, other) for one in sums for other in moved} if numbers else sums
        return {state: self._fewer(sums) for state, sums in found.items()}

    def _fewer(self, sums: set[Collection]) -> set[Collection]:
        if self.only_largest and len(sums) > 1:
            largest: list[Collection] = []
            for one in sorted(sums, key=lambda s: -sum(times for _, times in s)):
                if not any(covers(other, one) for other in largest):
                    largest.append(one)
            sums = set(largest)
        if len(sums) > MOST_COLLECTIONS:
            raise TooManyError
        return sums


def covers(large: Collection, small: Collection) -> bool:
    """Whether for each noise the shifts of the one are, largest first, at most those of the other, in whatever direction.

    >>> covers(frozenset({(("laplace", -2), 1), (("laplace", 1), 1)}), frozenset({(("laplace", 1), 2)}))
    True
    >>> covers(frozenset({(("laplace", 2), 1)}), frozenset({(("laplace", 1), 2)}))
    False
    """
    if small <= large:
        return True
    for noise in {noise for (noise, _), _ in small}:
        ours, theirs = (
            sorted((abs(shift) for (n, shift), times in side if n == noise for _ in range(times)), reverse=True)
            for side in (large, small)
        )
        if len(ours) < len(theirs) or any(a < b for a, b in zip(ours, theirs, strict=False)):
            return False
    return True


def in_groups(parts: list[set[Collection]], groups: list[list[Collection]]) -> bool:
    """Whether each tied part has a group of its own that covers every collection of the part."""
    free = list(groups)
    for part in sorted(parts, key=len, reverse=True):
        if part <= {frozenset()}:
            continue
        fitting = [group for group in free if all(not one or any(covers(case, one) for case in group) for one in part)]
        if not fitting:
            return False
        free.remove(min(fitting, key=lambda group: sum(times for case in group for _, times in case)))
    return True


def _names(table: JsonTable) -> set[str]:
    return {*table["attributes"], *table["where"]}


def _collection(moves: Moves) -> Collection:
    return frozenset(moves.items())


def _sum(one: Collection, other: Collection) -> Collection:
    if not one or not other:
        return one or other
    total: Counter[tuple[str, int]] = Counter(dict(one))
    total.update(dict(other))
    return frozenset(total.items())


def _how(before: bool, after: bool, same: bool) -> str:
    """What becomes of a record in a table."""
    if before and after:
        return "stays" if same else "moves"
    return "goes" if before else "comes" if after else "outside"
