"""The tables that a specification publishes exactly, and the records of a table that they determine by themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dpspec.plugin import Marginal, blocks, errors, tables
from dpspec_disclosure.exposure import Exposed, Share
from dpspec_disclosure.knowledge import Geography
from dpspec_disclosure.margins import margins_of

if TYPE_CHECKING:
    from dpspec import DatasetSpace, PrivacySpec


def published_tables(spec: PrivacySpec) -> tuple[Marginal, ...]:
    """The tables of counts that hold the universes together.

    Raises:
        IncompatibleBlocksError: the universes are given otherwise.
    """
    invariants = spec.multiverse.invariants
    if invariants is None:
        raise errors.IncompatibleBlocksError("exposure", "needs universes that invariants give, not a list of them")
    if not spec.space.units:
        raise errors.IncompatibleBlocksError("exposure", "needs a space of records", value=spec.space.name)
    margins = [invariant.as_marginal() for invariant in invariants]
    strange = [str(invariant) for invariant, margin in zip(invariants, margins, strict=True) if margin is None]
    if strange:
        raise errors.IncompatibleBlocksError("exposure", "knows tables of counts only", value="; ".join(strange))
    return tuple(margin for margin in margins if margin is not None)


def unit_of_records(space: DatasetSpace, published: Sequence[Marginal]) -> str:
    """The unit of the records of a table, all of whose published tables look at attributes of its own.

    Raises:
        IncompatibleBlocksError: some table counts the members of a record, or the space holds no two equal records.
    """
    unit = space.units[0]
    own = {a.name for a in blocks.own_attributes(space, unit)}
    inner = [str(m) for m in published if m.unit != unit or not {*m.attributes, *(a for a, _ in m.where)} <= own]
    if inner:
        advice = f"describe the {space.units[-1]} records as a table of their own"
        rule = f"reads tables of {unit} records, not of their members"
        raise errors.IncompatibleBlocksError("exposure", rule, advice, value="; ".join(inner))
    counting = blocks.counting_cells(space)
    if counting is None or counting.cell_range() != (0, None):
        raise errors.IncompatibleBlocksError("exposure", "needs a space in which records may be equal", value=space.name)
    return unit


def exposed_records(spec: PrivacySpec, given: tables.Countable) -> Share:
    """How many records of a table the exact tables determine in all attributes; as `exposure` counts them.

    Raises:
        IncompatibleBlocksError, NotEnumerableError: as `exposure`.
    """
    published = published_tables(spec)
    unit = unit_of_records(spec.space, published)
    if not published or unit not in spec.space.units:
        return Share(yes=0, undecided=0, of=len(given))
    margins = margins_of(given, published, blocks.sizes_of(spec.space))
    return Exposed(margins, Geography(attributes=given.attributes)).fixed_cells().determined
