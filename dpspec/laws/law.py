"""Laws: what a mechanism does to one dataset, P_x, the distribution of its output (B-D1)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from dpspec.errors import ParameterError

if TYPE_CHECKING:
    from dpspec.laws.dichotomy import Dichotomy


class NotALaw(ParameterError):
    """Weights that are no probability distribution: one is negative, or they do not sum to exactly 1."""

    code = "not-a-law"


class Law(ABC):
    """P_x, the distribution of the output on one dataset.

    Laws are values: equal laws are equal objects, and all of them are hashable.
    """

    @abstractmethod
    def against(self, other: Law) -> Dichotomy:
        """The pair (P, Q) of this law and another one, seen through its likelihood ratio.

        Raises:
            NoRouteError: when no exact or bracketed way is known to compare the two.
        """
