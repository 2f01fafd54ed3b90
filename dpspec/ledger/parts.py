"""The parts of a ledger, and whether their neighbours are of one kind."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import attrs

from dpspec.blocks.determination import miniatures
from dpspec.blocks.space import Dataset
from dpspec.errors import EmptyLedgerError, MixedLedgerError
from dpspec.spec import PrivacySpec

LOOKED_AT = 60
"""So many datasets of a small space are looked at to see whether datasets of different size are ever compared."""


@attrs.frozen(kw_only=True)
class Part:
    """One release of a data collection.

    Args:
        id: its name.
        spec: the specification it satisfies.
    """

    id: str
    spec: PrivacySpec


def check_parts(parts: Sequence[Part]) -> None:
    """Raise EmptyLedgerError for no parts, and MixedLedgerError for bounded and unbounded neighbours in one ledger."""
    if not parts:
        raise EmptyLedgerError("ledger", "holds no part", "give the specifications of one data collection")
    kinds: dict[bool, Part] = {}
    for part in parts:
        compares = compares_sizes(part.spec)
        if compares is not None:
            kinds.setdefault(compares, part)
    if len(kinds) == 2:
        unbounded, bounded = kinds[True], kinds[False]
        raise MixedLedgerError(
            "ledger",
            f"mixes unbounded neighbours ({unbounded.id}: {unbounded.spec.input_divergence}) "
            f"with bounded ones ({bounded.id}: {bounded.spec.input_divergence})",
            "say with --like FILE in which of the two the total is meant, or state all parts in one of them",
        )


def compares_sizes(spec: PrivacySpec) -> bool | None:
    """Whether datasets of different size are compared (unbounded neighbours) or never (bounded ones).

    Seen on small spaces: two datasets of one universe with unequal numbers of records are all at infinite distance, or some are
    not. None when no two such datasets share a universe, or the input divergence counts no unit.
    """
    unit = spec.input_divergence.counted_unit()
    if unit is None or spec.space.fixes_size(unit):
        return None
    met = False
    for left, right in _pairs(spec):
        if len(spec.space.records(left, unit)) == len(spec.space.records(right, unit)):
            continue
        if spec.multiverse.share_universe(left, right, spec.space):
            met = True
            if not spec.distance(left, right).is_infinite:
                return True
    return False if met else None


def _pairs(spec: PrivacySpec) -> Iterator[tuple[Dataset, Dataset]]:
    size = spec.space.cardinality()
    spaces = (
        [spec.space] if size is not None and size <= LOOKED_AT else miniatures(spec.multiverse.invariants or (), spec.space, 2)
    )
    for space in spaces:
        yield from itertools.combinations(itertools.islice(space.datasets(), LOOKED_AT), 2)
