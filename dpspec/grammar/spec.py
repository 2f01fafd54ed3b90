"""The specification: the five-tuple (X, multiverse, d_X, d_Pr, eps_D) as one object (Bailie et al. 2024).

A mechanism with laws P_x satisfies it when, for every universe D and all x, x' in D,

    d_Pr(P_x, P_x') <= eps_D d_X(x, x').
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import attrs

from dpspec.base.display import Showable
from dpspec.base.errors import (
    BudgetParameterError,
    EmptyLedgerError,
    IncompatibleBlocksError,
    MixedLedgerError,
    NotInUniverseError,
    PluginContractError,
)
from dpspec.base.exact import ZERO, Number, number
from dpspec.base.memo import key_of, memoize
from dpspec.base.params import collect
from dpspec.base.work import spend
from dpspec.blocks.budget import Budget, amount_in
from dpspec.blocks.input_divergence import InputDivergence
from dpspec.blocks.multiverse import Multiverse, Universe, miniatures, shared_labels
from dpspec.blocks.output_divergence import EitherOrder, OutputDivergence
from dpspec.blocks.parts import listing_size
from dpspec.blocks.space import Dataset, DatasetSpace

_BLOCKS: dict[str, type] = {
    "space": DatasetSpace,
    "multiverse": Multiverse,
    "input_divergence": InputDivergence,
    "output_divergence": OutputDivergence,
    "budget": Budget,
}

_WORK_OF_A_DISTANCE = 3
"""Units of work of a distance between two small datasets."""


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
        """d_X(x, x').

        Raises:
            PluginContractError: when the divergence returns something else than an exact number of at least 0.
        """
        spend(_WORK_OF_A_DISTANCE)
        found = self.input_divergence.distance(left, right, self.space)
        check_number(found, self.input_divergence.name, "a distance")
        return found

    @property
    def covers_both_orders(self) -> bool:
        """Whether what is promised of x against x' is promised of x' against x, since d_X or d_Pr is symmetric."""
        return self.input_divergence.is_symmetric or self.output_divergence.is_symmetric

    @property
    def of_unordered_pairs(self) -> PrivacySpec:
        """What is promised of two datasets whose order is not known: the specification itself, or a weaker one where it does not
        cover both orders."""
        return self if self.covers_both_orders else self.replace(output_divergence=EitherOrder(self.output_divergence))

    def amount(self, universe: Universe) -> Number:
        """The budget of a universe, in units of its parameter.

        Raises:
            BudgetNotKnownError: when some datasets of the universe are given, and the budget depends on all of them.
            PluginContractError: when the budget returns something else than an exact number of at least 0.
        """
        value = amount_in(self.budget, universe, self.multiverse, self.space)
        check_number(value, f"budget {self.budget.name}", f"{self.budget.parameter} of a universe")
        return value

    def bound(self, universe: Universe) -> Number:
        """The Lipschitz constant that the budget allows in a universe.

        Raises:
            BudgetNotKnownError: when some datasets of the universe are given, and the budget depends on all of them.
            PluginContractError: when the budget or the divergence returns something else than an exact number of at least 0.
        """
        value = self.amount(universe)
        found = self.output_divergence.lipschitz(self.budget.parameter, value)
        check_number(found, self.output_divergence.name, "a Lipschitz constant")
        return found

    def allowance(self, left: Dataset, right: Dataset) -> Number:
        """The bound on the divergence of the laws of two datasets: the least eps_D d_X(x, x') over the universes that contain
        both.

        Raises:
            NotInSpaceError: when one of them is no dataset of the space.
            NotInUniverseError: when no universe holds both, so that nothing is promised about the pair.
        """
        first, second = self.space.dataset(left), self.space.dataset(right)
        shared = shared_labels(self.multiverse, first, second, self.space)
        if not shared:
            raise NotInUniverseError(
                "pair of datasets", "lies in no common universe, so nothing is promised about it", str(self.multiverse)
            )
        distance = self.distance(first, second)
        if distance == 0 or distance.is_infinite:
            return distance
        return min(self.bound(Universe(label=label, datasets=(first, second), is_whole=False)) * distance for label in shared)

    def replace(self, **blocks: Any) -> PrivacySpec:
        """The same specification with some blocks exchanged."""
        return attrs.evolve(self, **blocks)


def check_number(found: object, subject: str, what: str) -> None:
    """Raise PluginContractError unless what a plugin returned is an exact number of at least 0.

    Args:
        found: what it returned.
        subject: the block.
        what: what it was to return, such as "a distance".
    """
    if type(found) is not Number or ((found.rational_part < 0 or found.logs) and found < ZERO):
        raise PluginContractError(
            subject, f"returns {what} that is no exact number of at least 0",
            'return dpspec.plugin.number(...), such as number("3/2")', value=repr(found),
        )  # fmt: skip


def blocks_of(spec: PrivacySpec) -> dict[str, Any]:
    """The five blocks by their names."""
    return {field.name: getattr(spec, field.name) for field in attrs.fields(PrivacySpec)}


def key_of_blocks(spec: PrivacySpec) -> tuple[object, ...]:
    """A dictionary key that is equal for equal blocks, also where a block of a plugin cannot be hashed."""
    return tuple(map(key_of, blocks_of(spec).values()))


# --- bounded and unbounded neighbours -----------------------------------------------------------------


LOOKED_AT = 60
"""The number of datasets of a small space that are searched for a pair of different sizes at finite distance."""


def check_kinds(parts: Sequence[tuple[str, PrivacySpec]]) -> None:
    """Raise EmptyLedgerError for no parts, and MixedLedgerError for bounded and unbounded neighbours in one ledger.

    Args:
        parts: the name of each release, and the specification that it promises to satisfy.
    """
    if not parts:
        raise EmptyLedgerError("ledger", "holds no part", "give the specifications of one data collection")
    kinds: dict[bool, tuple[str, PrivacySpec]] = {}
    for name, spec in parts:
        compares = compares_sizes(spec)
        if compares is not None:
            kinds.setdefault(compares, (name, spec))
    if len(kinds) == 2:
        (unbounded, free), (bounded, fixed) = kinds[True], kinds[False]
        raise MixedLedgerError(
            "ledger",
            f"mixes unbounded neighbours ({unbounded}: {free.input_divergence.in_words()}) "
            f"with bounded ones ({bounded}: {fixed.input_divergence.in_words()})",
            "say with --like FILE in which of the two the total is meant, or state all parts in one of them",
        )


def compares_sizes(spec: PrivacySpec) -> bool | None:
    """Whether datasets of different size are compared (unbounded neighbours) or never (bounded ones).

    Seen on small spaces: two datasets of one universe with unequal numbers of records are all at infinite distance, or some are
    not. None when no two such datasets share a universe. A distance that says no unit is bounded when it is so for some unit.
    """
    counted = spec.input_divergence.counted_unit()
    units = spec.space.units if counted is None else (counted,)
    answers = {
        _compares(spec.space, spec.multiverse, spec.input_divergence, unit) for unit in units if not spec.space.fixes_size(unit)
    }
    return next((answer for answer in (False, True) if answer in answers), None)


@memoize(maxsize=256)
def _compares(space: DatasetSpace, multiverse: Multiverse, divergence: InputDivergence, unit: str) -> bool | None:
    """The answer, remembered: the releases of one data collection share their blocks."""
    met = False
    for left, right in _pairs(space, multiverse):
        if len(space.records(left, unit)) == len(space.records(right, unit)):
            continue
        if multiverse.share_universe(left, right, space):
            met = True
            if not divergence.distance(left, right, space).is_infinite:
                return True
    return False if met else None


def _pairs(space: DatasetSpace, multiverse: Multiverse) -> Iterator[tuple[Dataset, Dataset]]:
    size = listing_size(space)
    listed = size is not None and size <= LOOKED_AT
    for small in [space] if listed else miniatures(multiverse.induced_by() or (), space, 2):
        yield from itertools.combinations(itertools.islice(small.datasets(), LOOKED_AT), 2)


# --- what every mechanism satisfies ---------------------------------------------------------------


def least_constant(spec: PrivacySpec) -> Number | None:
    """The least Lipschitz constant that the budget allows in a universe; None where no number is known to be that small."""
    budget = spec.budget.least()
    return None if budget is None else spec.output_divergence.lipschitz(spec.budget.parameter, budget)


def allowed_to_all(spec: PrivacySpec, constant: Number | None = None) -> str | None:
    """Why every mechanism satisfies a specification, in words, by what its divergences declare; None where that is not known.

    Args:
        spec: the specification.
        constant: asked of this Lipschitz constant, in place of the one that its budget allows.

    Different datasets are at least `least_distance` apart, so that the budget allows at least a certain d_Pr between their laws.
    Every pair of laws is within an infinite one, and within one whose `event_bounds` allow every event a probability of 1.
    """
    bound = least_constant(spec) if constant is None else constant
    least = spec.input_divergence.least_distance(spec.space)
    if bound is None or least is None or bound == 0:
        return None
    allowed = bound * least
    tried = (one for one in (min(number(1), allowed), allowed) if not one.is_infinite)
    enough = next((one for one in tried if _allows_all(spec.output_divergence, one)), None)
    if enough is not None:
        return f"{spec.output_divergence.in_words()} is at most {enough} between any two laws"
    return "an infinite budget allows any two laws" if allowed.is_infinite else None


def _allows_all(divergence: OutputDivergence, bound: Number) -> bool:
    """Whether d_Pr <= bound for all laws, since every event may have any probability."""
    events = divergence.event_bounds(bound)
    return events is not None and all(slack >= 1 for _, slack in events)
