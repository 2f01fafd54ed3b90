"""Names of types that more than one module uses: arrays of numbers, JSON data, and the callback of long work.

The names of arrays are texts for the type checker, so that this module is read without numpy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Floats: TypeAlias = "npt.NDArray[np.float64]"
Integers: TypeAlias = "npt.NDArray[np.int64]"
"""Whole numbers as they are computed with: codes, counts, places."""
AnyIntegers: TypeAlias = "npt.NDArray[np.integer[Any]]"
"""Whole numbers of whatever width a column has."""
Mask: TypeAlias = "npt.NDArray[np.bool_]"

JsonData = dict[str, Any]
"""A table of JSON, ready to be written."""

Progress = Callable[[int, int], object]
"""Called with the work done and the work in all, in one unit of the caller's choice (records, nodes, pairs)."""
