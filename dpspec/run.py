"""One run of a mechanism on a real table: what it is given besides the table, and what comes out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import attrs

from dpspec.checkpoints import Checkpoints, NoCheckpoints
from dpspec.engine import Embedded, Engine
from dpspec.randomness import Randomness
from dpspec.table import Table

Progress = Callable[[int, int], object]
"""Called with the work done and the work in all, in one unit of the caller's choice (records, nodes)."""


def nobody(done: int, total: int) -> None:
    """Nobody is watching."""


@attrs.frozen(kw_only=True)
class Run:
    """What a mechanism may use while it releases a table.

    Args:
        source: the only source of randomness.
        engine: what runs its kernels.
        checkpoints: where finished stages are kept, so that an interrupted run can go on.
        progress: told how far the work is.
    """

    source: Randomness
    engine: Engine = attrs.field(factory=Embedded)
    checkpoints: Checkpoints = attrs.field(factory=NoCheckpoints)
    progress: Progress = nobody


@attrs.frozen(kw_only=True)
class Output:
    """What a run gives.

    Args:
        tables: the released tables by name, the main one first; each becomes a file of that name.
        report: what may be published beside them: functions of the released tables and of the invariants alone.
        confidential: what helps the agency and must not be published, since it says more than the released tables do.
    """

    tables: Mapping[str, Table]
    report: Mapping[str, Any] = attrs.field(factory=dict)
    confidential: Mapping[str, Any] = attrs.field(factory=dict)

    @property
    def main(self) -> Table:
        """The table of which the invariants are asked."""
        return next(iter(self.tables.values()))
