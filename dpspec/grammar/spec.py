"""The specification: the five-tuple (X, multiverse, d_X, d_Pr, eps_D) as one object (Bailie et al. 2024).

A mechanism with laws P_x satisfies it when, for every universe D and all x, x' in D,

    d_Pr(P_x, P_x') <= eps_D d_X(x, x').
"""

from __future__ import annotations

from typing import Any

import attrs

from dpspec.base.errors import BudgetParameterError, IncompatibleBlocksError, NotInUniverseError
from dpspec.base.exact import Number
from dpspec.base.params import collect
from dpspec.base.shown import Showable
from dpspec.blocks.budget import Budget
from dpspec.blocks.input_divergence import InputDivergence
from dpspec.blocks.multiverse import Multiverse, Universe
from dpspec.blocks.output_divergence import OutputDivergence
from dpspec.blocks.space import Dataset, DatasetSpace

_BLOCKS: dict[str, type] = {
    "space": DatasetSpace,
    "multiverse": Multiverse,
    "input_divergence": InputDivergence,
    "output_divergence": OutputDivergence,
    "budget": Budget,
}


@attrs.frozen(kw_only=True)
class PrivacySpec(Showable):
    """A differential privacy specification.

    Args:
        space: X, what can be protected.
        multiverse: the universes inside which protection is promised.
        input_divergence: d_X, with its unit.
        output_divergence: d_Pr, the standard of protection.
        budget: eps_D, its intensity.

    Raises:
        IncompatibleBlocksError, BudgetParameterError: when the blocks do not fit together; several misfits at once
            come as `Faults`.
    """

    space: DatasetSpace
    multiverse: Multiverse
    input_divergence: InputDivergence
    output_divergence: OutputDivergence
    budget: Budget

    def __attrs_post_init__(self) -> None:
        for block, kind in _BLOCKS.items():
            given = getattr(self, block)
            if not isinstance(given, kind):
                raise IncompatibleBlocksError(block, f"must be a {kind.__name__}", value=given)
        collect(
            (
                lambda: self.multiverse.check(self.space),
                lambda: self.input_divergence.check(self.space),
                self._check_budget,
            )
        )

    def _check_budget(self) -> None:
        accepted = self.output_divergence.budget_parameters
        if self.budget.parameter not in accepted:
            raise BudgetParameterError(
                f"budget.{self.budget.parameter}",
                f"the output divergence {self.output_divergence.name} takes {' or '.join(accepted)}",
                f'write {accepted[0]} = "..."',
            )

    def distance(self, left: Dataset, right: Dataset) -> Number:
        """d_X(x, x')."""
        return self.input_divergence.distance(left, right, self.space)

    def bound(self, universe: Universe) -> Number:
        """The Lipschitz constant that the budget allows in a universe."""
        return self.output_divergence.lipschitz(self.budget.parameter, self.budget.at(universe, self.space))

    def allowance(self, left: Dataset, right: Dataset) -> Number:
        """How far the laws of two datasets may be apart: the least eps_D d_X(x, x') over the universes that hold both.

        Raises:
            NotInSpaceError: when one of them is no dataset of the space.
            NotInUniverseError: when no universe holds both, so that nothing is promised about the pair.
        """
        first, second = self.space.dataset(left), self.space.dataset(right)
        shared = [u for u in self.multiverse.labels(first, self.space) if u in self.multiverse.labels(second, self.space)]
        if not shared:
            raise NotInUniverseError(
                "pair of datasets", "lies in no common universe, so nothing is promised about it", str(self.multiverse)
            )
        distance = self.distance(first, second)
        if distance == 0 or distance.is_infinite:
            return distance
        return min(self.bound(Universe(label=label, datasets=(first, second))) * distance for label in shared)

    def replace(self, **blocks: Any) -> PrivacySpec:
        """The same specification with some blocks exchanged."""
        return attrs.evolve(self, **blocks)


def blocks_of(spec: PrivacySpec) -> dict[str, Any]:
    """The five blocks by their names."""
    return {field.name: getattr(spec, field.name) for field in attrs.fields(PrivacySpec)}
