"""Numbers of other projects' test suites, compared with the accountants of dpspec."""

from __future__ import annotations

import attrs


@attrs.frozen(kw_only=True)
class Vector:
    """A published number."""

    label: str
    expected: str

    def compared(self) -> tuple[str, str]:
        """The outcome and our number."""
        return "not expressible", ""


VECTORS: tuple[Vector, ...] = ()
