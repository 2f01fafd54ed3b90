"""Whether neighbours are bounded or unbounded, and whether those of several releases are of one kind."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from functools import lru_cache

from dpspec.base.errors import EmptyLedgerError, MixedLedgerError
from dpspec.blocks.input_divergence import InputDivergence
from dpspec.blocks.multiverse import Multiverse, miniatures
from dpspec.blocks.space import Dataset, DatasetSpace
from dpspec.grammar.spec import PrivacySpec

LOOKED_AT = 60
"""So many datasets of a small space are looked at to see whether datasets of different size are ever compared."""


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


@lru_cache(maxsize=256)
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
    size = space.cardinality()
    listed = size is not None and size <= LOOKED_AT
    for small in [space] if listed else miniatures(multiverse.induced_by() or (), space, 2):
        yield from itertools.combinations(itertools.islice(small.datasets(), LOOKED_AT), 2)
