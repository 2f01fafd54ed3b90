"""The order of many specifications: who implies whom, who is equivalent, and the arrows that a picture needs.

S <= S' in strength when S' implies S. Implication is reflexive and transitive, so equivalent specifications form classes and the
classes a partial order; its Hasse diagram has an arrow from a class to each one that it implies with none between.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence

import attrs

from dpspec.compare.comparison import Answer, Comparison
from dpspec.errors import ParameterError
from dpspec.spec import PrivacySpec

Compare = Callable[[PrivacySpec, PrivacySpec], Comparison]
Progress = Callable[[int, int], None]


@attrs.frozen(kw_only=True)
class Order:
    """The answers of all pairs of specifications.

    Args:
        names: what the specifications are called.
        answers: in row i and column j whether i implies j; on the diagonal it does.
        comparisons: of each pair i < j, in the order of `itertools.combinations`.
        settled: the cells (i, j) that no comparison answered and others did, each with the k through which.
    """

    names: tuple[str, ...]
    answers: tuple[tuple[Answer, ...], ...]
    comparisons: tuple[Comparison, ...]
    settled: tuple[tuple[int, int, int], ...] = ()

    def __len__(self) -> int:
        return len(self.names)

    def implies(self, i: int, j: int) -> bool:
        return self.answers[i][j] is Answer.IMPLIES

    @property
    def unknown(self) -> tuple[tuple[int, int], ...]:
        """The pairs i, j of which it is not known whether i implies j."""
        every = itertools.permutations(range(len(self)), 2)
        return tuple((i, j) for i, j in every if self.answers[i][j] is Answer.UNKNOWN)

    @property
    def classes(self) -> tuple[tuple[int, ...], ...]:
        """The specifications that imply each other, together; in the order of their first ones."""
        found: dict[int, list[int]] = {}
        for i in range(len(self)):
            first = next(j for j in range(i + 1) if self.implies(i, j) and self.implies(j, i))
            found.setdefault(first, []).append(i)
        return tuple(map(tuple, found.values()))

    @property
    def covers(self) -> tuple[tuple[int, int], ...]:
        """The arrows of the Hasse diagram, as places in `classes`: a implies b, and no third class lies between."""
        firsts = [members[0] for members in self.classes]
        below = [{b for b, j in enumerate(firsts) if a != b and self.implies(i, j)} for a, i in enumerate(firsts)]
        return tuple((a, b) for a, held in enumerate(below) for b in sorted(held) if not any(b in below[c] for c in held))

    @property
    def levels(self) -> tuple[tuple[int, ...], ...]:
        """The classes by the length of the longest chain of arrows that leads to them, so that every arrow goes onwards."""
        depth = [0] * len(self.classes)
        for _ in depth:
            for a, b in self.covers:
                depth[b] = max(depth[b], depth[a] + 1)
        return tuple(tuple(c for c, d in enumerate(depth) if d == level) for level in range(max(depth, default=-1) + 1))


def order(specs: Sequence[tuple[str, PrivacySpec]], compare: Compare, progress: Progress | None = None) -> Order:
    """Compare every two specifications.

    Args:
        specs: names and specifications, at least one.
        compare: what compares two of them.
        progress: called with (done, in all).

    Raises:
        ParameterError: for no specification, or a name that comes twice.
    """
    names = tuple(name for name, _ in specs)
    if not names or len(set(names)) < len(names):
        raise ParameterError("specifications", "must be at least one, each with a name of its own", value=", ".join(names))
    pairs = list(itertools.combinations(range(len(names)), 2))
    answers = [[Answer.IMPLIES if i == j else Answer.UNKNOWN for j in range(len(names))] for i in range(len(names))]
    comparisons = []
    for done, (i, j) in enumerate(pairs):
        found = compare(specs[i][1], specs[j][1])
        answers[i][j], answers[j][i] = found.forward.answer, found.backward.answer
        comparisons.append(found)
        if progress is not None:
            progress(done + 1, len(pairs))
    settled = tuple(_settle(answers))
    return Order(names=names, answers=tuple(map(tuple, answers)), comparisons=tuple(comparisons), settled=settled)


def _settle(answers: list[list[Answer]]) -> Iterator[tuple[int, int, int]]:
    """Answer what others answer: i => k => j gives i => j; k => i with k =/=> j, and j => k with i =/=> k, give i =/=> j."""
    size = range(len(answers))
    again = True
    while again:
        again = False
        for i, j in itertools.permutations(size, 2):
            if answers[i][j] is not Answer.UNKNOWN:
                continue
            for k in (k for k in size if k not in (i, j)):
                if answers[i][k] is answers[k][j] is Answer.IMPLIES:
                    answers[i][j] = Answer.IMPLIES
                elif (answers[k][i] is Answer.IMPLIES and answers[k][j] is Answer.SEPARATED) or (
                    answers[j][k] is Answer.IMPLIES and answers[i][k] is Answer.SEPARATED
                ):
                    answers[i][j] = Answer.SEPARATED
                else:
                    continue
                again = True
                yield i, j, k
                break
