"""Checks of input divergences: on all pairs (and triples) of datasets of small spaces."""

from __future__ import annotations

from collections import Counter

from dpspec.blocks.input_divergence import InputDivergence
from dpspec.blocks.space import Dataset, DatasetSpace
from dpspec.errors import DpspecError
from dpspec.exact import Number
from dpspec.testing.check import Context, PlacedSubject, check, exceeds, exceeds_times, require

KIND = "input_divergences"


@check(KIND)
def check_distance_to_itself_is_zero(subject: PlacedSubject, context: Context) -> None:
    """d_X(x, x) = 0 (B-D5). Otherwise a claim would allow one dataset two different laws."""
    for x in subject.datasets:
        found = subject.thing.distance(x, x, subject.space)
        require(found == 0, f"d({x}, {x}) = {found}")


@check(KIND)
def check_distance_is_a_nonnegative_number(subject: PlacedSubject, context: Context) -> None:
    """d_X is an exact `Number`, at least 0; infinity is allowed (B-D5). A negative distance makes every budget negative."""
    for x, y in subject.pairs():
        found = subject.thing.distance(x, y, subject.space)
        require(isinstance(found, Number), f"d({x}, {y}) = {found!r} is no Number")
        require(found >= 0, f"d({x}, {y}) = {found} is negative")


@check(KIND, when="is_symmetric")
def check_distance_is_symmetric(subject: PlacedSubject, context: Context) -> None:
    """d_X(x, x') = d_X(x', x) when `is_symmetric` is declared. Engines then look at one of the two orders only."""
    for x, y in subject.pairs():
        there, back = subject.thing.distance(x, y, subject.space), subject.thing.distance(y, x, subject.space)
        require(there == back, f"d({x}, {y}) = {there}, but d({y}, {x}) = {back}; declare is_symmetric = False")


@check(KIND, when="is_metric")
def check_distance_obeys_the_triangle_inequality(subject: PlacedSubject, context: Context) -> None:
    """d_X(x, z) <= d_X(x, y) + d_X(y, z) when `is_metric` is declared. Bounds along paths rest on it (B-S2)."""
    table = {(x, y): subject.thing.distance(x, y, subject.space) for x, y in subject.pairs()}
    for (x, z), far in table.items():
        for y in subject.compared:
            detour = (table[x, y], table[y, z])
            require(not exceeds(far, *detour), f"d({x}, {z}) = {far}, above {detour[0]} + {detour[1]} by way of {y}")


@check(KIND)
def check_least_distance_is_a_lower_bound(subject: PlacedSubject, context: Context) -> None:
    """`least_distance` m: 0 < m <= d_X(x, x') for all different datasets. Comparison divides by it."""
    least = subject.thing.least_distance(subject.space)
    if least is None:
        return
    require(least > 0, f"least_distance = {least} is not positive")
    for x, y in subject.pairs():
        found = subject.thing.distance(x, y, subject.space)
        require(x == y or not exceeds(least, found), f"d({x}, {y}) = {found} is below least_distance = {least}")


@check(KIND, when="is_integral")
def check_integral_distances_are_whole_numbers(subject: PlacedSubject, context: Context) -> None:
    """Every finite d_X(x, x') is a whole number when `is_integral` is declared. Comparison counts changes in steps of 1."""
    for x, y in subject.pairs():
        found = subject.thing.distance(x, y, subject.space)
        whole = found.is_infinite or (found.is_rational and found.as_fraction().denominator == 1)
        require(whole, f"d({x}, {y}) = {found} is no whole number")


@check(KIND)
def check_distance_is_bounded_as_stated(subject: PlacedSubject, context: Context) -> None:
    """`bounded_by(other)` = c: d_X <= c other on all pairs; `bounds(other)`: other <= c d_X. Implications rest on it (B-T22)."""
    for other in context.placed(KIND, subject.space):
        _require_bound(subject, subject.thing, other, subject.thing.bounded_by(other, subject.space))
        _require_bound(subject, other, subject.thing, subject.thing.bounds(other, subject.space))


def _require_bound(
    subject: PlacedSubject, smaller: InputDivergence, larger: InputDivergence, stated: tuple[Number, str] | None
) -> None:
    if stated is None:
        return
    factor, reason = stated
    for x, y in subject.pairs():
        less, more = smaller.distance(x, y, subject.space), larger.distance(x, y, subject.space)
        require(
            not exceeds_times(less, factor, more),
            f"d({x}, {y}) = {less} of {smaller}, above {factor} x {more} of {larger}, in spite of: {reason}",
        )


@check(KIND)
def check_counted_unit_moves_no_faster_than_the_distance(subject: PlacedSubject, context: Context) -> None:
    """`counted_unit` u: |q(x) - q(x')| <= d_X(x, x') for every count q of the records of u. Tests of one record rest on it."""
    unit = subject.thing.counted_unit()
    if unit is None:
        return
    for x, y in subject.pairs():
        moved = _largest_move(x, y, unit, subject.space)
        found = subject.thing.distance(x, y, subject.space)
        require(moved is None or not found < moved, f"d({x}, {y}) = {found}, but some count of {unit} records moves by {moved}")


def _largest_move(x: Dataset, y: Dataset, unit: str, space: DatasetSpace) -> int | None:
    """The largest |q(x) - q(x')| over all properties of records: all that rise, or all that fall."""
    try:
        before, after = Counter(space.records(x, unit)), Counter(space.records(y, unit))
    except DpspecError:
        return None
    return max((after - before).total(), (before - after).total())
