"""What the comparison of TopDown with the swapping schemes of 2020 consists of: the setting, each scheme, and a telling pair."""

from __future__ import annotations

import attrs

from dpspec import Comparison
from dpspec.exact import Number
from dpspec.ledger import Composition
from dpspec.spec import PrivacySpec
from dpspec.yardstick import Yardstick


@attrs.frozen(kw_only=True)
class Setting:
    """What is assumed and chosen: the largest household, in persons, and the delta of approximate privacy."""

    largest_household: int
    delta: str


@attrs.frozen(kw_only=True)
class Scheme:
    """One swapping scheme against TopDown.

    Args:
        name: of the scheme.
        match: the attributes that form its strata.
        swaps: its specification at swap rates 5 % and 50 %.
        comparison: TopDown (left) with it at 5 % (right).
        yardsticks: of TopDown as stated with it, at 5 % and 50 %.
        parts: TopDown added up part by part, per household.
        by_parts: of that with the scheme at 5 %.
        accepted: of each common yardstick at 5 %, whether the checker accepts both derivations.
    """

    name: str
    match: tuple[str, ...]
    swaps: tuple[PrivacySpec, ...]
    comparison: Comparison
    yardsticks: tuple[tuple[Yardstick, ...], ...]
    parts: Composition
    by_parts: tuple[Yardstick, ...]
    accepted: tuple[bool, ...]

    @property
    def common(self) -> tuple[Yardstick, ...]:
        """The common yardsticks at swap rate 5 %."""
        return tuple(one for one in self.yardsticks[0] if one.is_common)

    def per_household(self, place: int = 0) -> Yardstick:
        """The yardstick on all distances, in the output divergence of TopDown, at one of the two rates."""
        return self._of(self.yardsticks[place], neighbours=False)

    def per_household_by_parts(self) -> Yardstick:
        return self._of(self.by_parts, neighbours=False)

    def exchanged(self) -> tuple[Yardstick, Yardstick]:
        """On neighbours: in the output divergence of TopDown, and in the one that is neither's own."""
        near = [one for one in self.common if one.spec.input_divergence.is_neighbour_form]
        own = (self.comparison.left.output_divergence, self.comparison.right.output_divergence)
        return self._of(self.common, neighbours=True), next(one for one in near if one.spec.output_divergence not in own)

    def _of(self, found: tuple[Yardstick, ...], *, neighbours: bool) -> Yardstick:
        standard = self.comparison.left.output_divergence
        common = (one for one in found if one.is_common and one.spec.output_divergence == standard)
        return next(one for one in common if one.spec.input_divergence.is_neighbour_form == neighbours)


@attrs.frozen(kw_only=True)
class Pair:
    """Two datasets in words, whether they share a universe of the swap, and how far apart they are."""

    words: tuple[str, str]
    together: bool
    households: Number
    persons: Number


def told(value: Number | None) -> str:
    """A number with two decimals, or as the whole number that it is.

    >>> from dpspec.exact import ln, number
    >>> told(number(1529)), told(ln(3))
    ('1,529', '1.10')
    """
    if value is None:
        return "none"
    whole = not value.is_infinite and value.is_rational and value.as_fraction().denominator == 1
    return f"{float(value):,.0f}" if whole else f"{float(value):,.2f}"
