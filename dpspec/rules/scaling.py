"""How a budget changes when a divergence is exchanged for one that is bounded by a constant times it."""

from __future__ import annotations

from dpspec.blocks.budget import Budget, BudgetTable, UniformBudget
from dpspec.blocks.output_divergence import OutputDivergence
from dpspec.exact import Number, number, rounded_product


def rescaled(budget: Budget, source: OutputDivergence, target: OutputDivergence, factor: Number) -> Budget | None:
    """The budget of `target` whose Lipschitz constants are `factor` times those of a budget of `source`, rounded up.

    None for a budget that is neither one number nor a table of numbers, unless it may stay as it is.
    """
    if source == target and factor == 1:
        return budget
    parameter = budget.parameter if source == target else target.budget_parameters[0]

    def grown(value: Number) -> Number:
        return target.budget_for(parameter, rounded_product(source.lipschitz(budget.parameter, value), factor))

    value = budget.uniform()
    if value is not None:
        return UniformBudget(parameter=parameter, value=grown(number(value)))
    values = budget.by_label()
    if values is not None:
        return BudgetTable(parameter=parameter, values=tuple((label, grown(entry)) for label, entry in values))
    return budget if source == target and factor <= 1 else None
