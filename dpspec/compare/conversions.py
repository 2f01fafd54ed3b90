"""Paths of conversions: every way from a budget of one output divergence to a budget of another, each step a named formula.

The graph has output divergences as nodes and `Conversion`s as arrows. A path takes the upper end of each step's bracket on to the
next, so that its number is on the safe side; the lower ends are taken along to tell how much of the width is rounding.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import attrs

from dpspec.blocks.output_divergence import OutputDivergence
from dpspec.conversion import Conversion
from dpspec.exact import Bracket, Number

LONGEST = 3
"""Paths have at most this many steps: longer ones only lose more."""


@attrs.frozen(kw_only=True)
class Leg:
    """One step: the formula, the divergence that it leads to, and the budget there."""

    conversion: Conversion
    target: OutputDivergence
    value: Bracket


@attrs.frozen(kw_only=True)
class Path:
    """A chain of formulas from a budget to a budget of another divergence.

    Args:
        source: the divergence that it starts from.
        legs: its steps, at least one.
    """

    source: OutputDivergence
    legs: tuple[Leg, ...]

    @property
    def value(self) -> Bracket:
        """The budget that it ends with; every mechanism with the budget of the start has it, at the upper end."""
        return self.legs[-1].value

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(leg.conversion.name for leg in self.legs)

    @property
    def known(self) -> tuple[Conversion, ...]:
        """The steps that need to know the mechanism."""
        return tuple(leg.conversion for leg in self.legs if leg.conversion.mechanism is not None)

    @property
    def tight(self) -> bool:
        """Whether a mechanism attains the number: a tight step, after steps that say exactly what the mechanism is."""
        *before, last = self._attained
        return last and all(before) and all(leg.conversion.mechanism is not None for leg in self.legs[:-1])

    @property
    def _attained(self) -> tuple[bool, ...]:
        """Whether each step is tight between the divergences that it joins."""
        sources = (self.source, *(leg.target for leg in self.legs))
        return tuple(leg.conversion.attained(source, leg.target) for source, leg in zip(sources, self.legs, strict=False))

    @property
    def sense(self) -> str:
        """In which sense it is tight, or why it is not."""
        *before, last = self.legs
        if self.tight or not before:
            return last.conversion.sense
        if all(self._attained):
            return "each step is attained, by another mechanism"
        open_ = (leg.conversion for leg, attained in zip(self.legs, self._attained, strict=True) if not attained)
        return "; ".join(f"{conversion.name}: {conversion.sense}" for conversion in open_)


def paths(
    conversions: Iterable[Conversion], source: OutputDivergence, value: Number, goal: OutputDivergence, *, known: bool = False
) -> tuple[Path, ...]:
    """Every path from a budget to a divergence, the least number first, and after them those that need to know the mechanism.

    Two paths through the same formulas that differ in a parameter on the way (a Renyi order) are one, with its best parameter.

    Args:
        conversions: the arrows.
        source: the divergence to start from.
        value: a budget of it, in the first of its `budget_parameters`.
        goal: the divergence to reach, with its parameters.
        known: whether the mechanism is known, so that the formulas that need it rank with the others.
    """
    best: dict[tuple[str, ...], Path] = {}
    arrows = tuple(conversions)
    for found in _walk(arrows, Path(source=source, legs=()), Bracket.exactly(value), goal):
        before = best.get(found.names)
        if before is None or found.value.upper < before.value.upper:
            best[found.names] = found
    return tuple(sorted(best.values(), key=lambda path: _rank(path, known)))


def _walk(arrows: Sequence[Conversion], so_far: Path, value: Bracket, goal: OutputDivergence) -> Iterator[Path]:
    here = so_far.legs[-1].target if so_far.legs else so_far.source
    visited = {so_far.source.name, *(leg.target.name for leg in so_far.legs)}
    for arrow in arrows:
        if arrow.source != here.name:
            continue
        for target in arrow.targets(here, goal):
            if target.name in visited and target != goal:
                continue
            found = _converted(arrow, here, value, target)
            if found is None:
                continue
            longer = attrs.evolve(so_far, legs=(*so_far.legs, Leg(conversion=arrow, target=target, value=found)))
            if target == goal:
                yield longer
            elif len(longer.legs) < LONGEST:
                yield from _walk(arrows, longer, found, goal)


def _converted(arrow: Conversion, here: OutputDivergence, value: Bracket, target: OutputDivergence) -> Bracket | None:
    """The bracket of the formula over a bracket; None when it says nothing, or nothing finite."""
    top = arrow.convert(here, value.upper, target)
    if top is None or top.upper.is_infinite or value.is_exact:
        return None if top is None or top.upper.is_infinite else top
    bottom = arrow.convert(here, value.lower, target)
    lower = top.lower if bottom is None else min(bottom.lower, top.lower)
    return Bracket(lower=lower, upper=top.upper)


def _rank(path: Path, known: bool) -> tuple[bool, Number, int, tuple[str, ...]]:
    return bool(path.known) and not known, path.value.upper, len(path.legs), path.names
