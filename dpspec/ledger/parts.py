"""The parts of a ledger."""

from __future__ import annotations

import attrs

from dpspec.spec import PrivacySpec
from dpspec.verify.standing import Standing


@attrs.frozen(kw_only=True)
class Part:
    """One release of a data collection.

    Args:
        id: its name.
        spec: the specification it promises to satisfy.
        standing: how the claim stands that it does, where that was looked at.
    """

    id: str
    spec: PrivacySpec
    standing: Standing | None = attrs.field(default=None, eq=False)
