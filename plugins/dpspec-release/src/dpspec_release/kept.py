"""What a release keeps of its table, checked by code that knows nothing of the mechanism."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np

from dpspec.plugin import Table
from dpspec.plugin.releases import Kept, PluginContractError
from dpspec_release.keys import household_keys, record_keys, same_multiset


@attrs.frozen(kw_only=True)
class FoundKept:
    """What was found of one such statement.

    Args:
        kept: the statement in words.
        records: how many records were compared.
    """

    kept: str
    records: int

    def data(self) -> dict[str, Any]:
        """The entry of the report; what is not kept is never reported, but refused."""
        return {"kept": self.kept, "records": self.records}


def check_kept(kept: Kept, before: Table, after: Table, mechanism: str) -> FoundKept:
    """Compare the records of two tables in the columns that do not move.

    Raises:
        PluginContractError: they are others.
    """
    if changed(kept, before, after):
        raise PluginContractError(
            f"mechanism {mechanism}", f"does not keep {kept}", "nothing was written; report it to the plugin's author"
        )
    seen = kept if before.members is not None else attrs.evolve(kept, members=False)
    return FoundKept(kept=str(seen), records=len(before))


def changed(kept: Kept, before: Table, after: Table) -> bool:
    """Whether two tables differ in what is kept: as multisets of records, or record by record where these are in order."""
    if len(before) != len(after) or any(before.attribute(name) != after.attribute(name) for name in kept.attributes):
        return True
    if kept.in_order:
        return not all(np.array_equal(before.codes[name], after.codes[name]) for name in kept.attributes)
    if kept.members and (before.members is None or after.members is None):
        return before.members is not after.members
    keys = record_keys((before, after), kept.attributes)
    if kept.members and before.members is not None and after.members is not None:
        held = before.members, after.members
        if held[0].table.attributes != held[1].table.attributes:
            return True
        keys = household_keys(keys, held, (len(before), len(after)))
    return not same_multiset(keys, len(before))
