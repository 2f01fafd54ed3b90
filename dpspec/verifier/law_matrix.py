"""The finite laws of a universe as one matrix of integer weights, whose farthest pair is found on integers alone.

The row of a dataset x holds the weights of P_x over the outcomes of the whole universe. Where the output divergence has a
`score`, a rational number that grows with it, the largest divergence among many pairs is found without computing a divergence,
and only the pair that attains it needs an exact `Number`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import attrs

from dpspec.blocks.output_divergence import OutputDivergence
from dpspec.laws.atoms import FiniteDichotomy
from dpspec.laws.law import FiniteLaw, Law

IndexPair = tuple[int, int]
"""Two places in a list of datasets."""


@attrs.frozen
class LawMatrix:
    """Weights rows[x][o] over totals[x], by the place x of a dataset."""

    rows: Mapping[int, tuple[int, ...]]
    totals: Mapping[int, int]

    @classmethod
    def of(cls, laws: Mapping[int, Law]) -> LawMatrix | None:
        """The table of some laws; None when one is not finite.

        >>> LawMatrix.of({0: FiniteLaw.point("a"), 1: FiniteLaw.uniform("ab")})
        LawMatrix(rows={0: (1, 0), 1: (1, 1)}, totals={0: 1, 1: 2})
        """
        finite = {place: law for place, law in laws.items() if isinstance(law, FiniteLaw)}
        if len(finite) < len(laws):
            return None
        outcomes = dict.fromkeys(outcome for law in finite.values() for outcome in law.weights)
        rows = {place: tuple([law.weights.get(outcome, 0) for outcome in outcomes]) for place, law in finite.items()}
        return cls(rows, {place: law.total for place, law in finite.items()})

    def pair(self, left: int, right: int) -> FiniteDichotomy:
        """The laws of two rows."""
        return FiniteDichotomy(self.rows[left], self.rows[right], self.totals[left], self.totals[right])

    def farthest(self, pairs: Iterable[IndexPair], divergence: OutputDivergence) -> IndexPair | None:
        """The first of the pairs at which the divergence is largest; None when it has no score.

        >>> class Ratio(OutputDivergence):
        ...     def evaluate(self, pair, *, precision=64):
        ...         return pair.max_log_ratio(precision=precision)
        ...     def score(self, pair):
        ...         return pair.largest_ratio()
        >>> table = LawMatrix.of({0: FiniteLaw.bernoulli("1/2"), 1: FiniteLaw.bernoulli("1/3"), 2: FiniteLaw.bernoulli("1/4")})
        >>> table.farthest([(0, 1), (0, 2), (1, 2)], Ratio())
        (0, 2)
        """
        best, top, bottom = None, -1, 1
        for pair in pairs:
            score = divergence.score(self.pair(*pair))
            if score is None:
                return None
            if score[0] * bottom > top * score[1]:
                best, (top, bottom) = pair, score
        return best
