"""The checker's own constants between divergences, from their tables alone: d <= c d', and d_Pr' <= k d_Pr."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterator
from fractions import Fraction
from typing import Any

from flint import arb

from dpspec_checker.numbers import ExactValue, at_most, exponential, fraction, product, rational, read, surely

JsonTable = dict[str, Any]

NEIGHBOURS = ("neighbour", "within-distance")
"""The input divergences that are 0, 1 or infinity, as conversions need them."""

WHOLE = ("hamming", "hamming-ordered", "symmetric-difference", "path", "window-events")
"""Input divergences whose finite values are whole numbers: they count records, steps or windows."""

# --- input divergences ---------------------------------------------------------------------------

MEASURES = {"replace-one": "hamming", "add-remove": "symmetric-difference", "differ-in-one-position": "hamming-ordered"}
_PERSON = {"unit": "person"}


def input_constant(smaller: JsonTable, larger: JsonTable, space: JsonTable, fixed: Collection[str] = ()) -> ExactValue | None:
    """A constant c with d <= c d' on the space; None when none is known here.

    Args:
        smaller, larger, space: the tables of the two divergences and of the space.
        fixed: the units of which all datasets that are compared have equally many, whatever the space allows.
    """
    if larger["type"] == "within-distance":
        return _within_distance(smaller, larger, space, fixed)
    if smaller["type"] == "within-distance" and larger["type"] == "neighbour":  # 1 or infinity, both of them
        known = input_constant(smaller["of"], larger, space, fixed)
        return read(1) if known is not None and at_most(known, read(smaller["most"])) else None
    found = [c for c in _input_constants({**_PERSON, **smaller}, {**_PERSON, **larger}, space, fixed) if c is not None]
    return next((c for c in found if all(at_most(c, other) for other in found)), None)


def _within_distance(d: JsonTable, e: JsonTable, space: JsonTable, fixed: Collection[str]) -> ExactValue | None:
    """Against neighbours at a bounded distance: as much as against the distance itself, times the largest one."""
    cut = d["type"] == "within-distance"
    known = input_constant(d["of"] if cut else d, e["of"], space, fixed)
    reach = None if known is None else product(known, read(e["most"]))
    return (read(1) if reach is not None and at_most(reach, read(d["most"])) else None) if cut else reach


def _input_constants(d: JsonTable, e: JsonTable, space: JsonTable, fixed: Collection[str]) -> Iterator[ExactValue | None]:
    if d == e:
        yield read(1)
    kinds = d["type"], e["type"]
    if kinds[1] in ("neighbour", "path"):
        if kinds[0] in ("neighbour", "path") and (kinds[0] == "path" or kinds[1] == "neighbour"):
            yield read(1) if _included(e["relation"], d["relation"]) else None
        measure = _measure(e)
        if measure is not None and kinds[0] != "neighbour":
            yield input_constant(d, measure, space, fixed)
        return
    if kinds[0] == "path" and _measure(d) is not None:
        if _is_measure(d, space):
            yield input_constant(_measure(d) or {}, e, space, fixed)
        elif kinds[1] == "hamming-ordered" and {**_PERSON, **d["relation"]} == {**e, "type": "replace-one"}:
            yield read(1)
    if set(kinds) <= _COUNTING:
        yield _counting(d, e, space, fixed)
    elif "personal-weights" in kinds:
        yield _weights(d, e)
    elif "window-events" in kinds:
        yield _windows(d, e, space)
    elif "node-distance" in kinds and space["type"] == "graphs":
        yield _nodes(d, e, space)


def _included(smaller: JsonTable, larger: JsonTable) -> bool:
    ours, theirs = ({**_PERSON, **relation} for relation in (smaller, larger))
    return ours == theirs or (ours["type"] == "differ-in-one-position" and {**ours, "type": "replace-one"} == theirs)


def _measure(d: JsonTable) -> JsonTable | None:
    kind = MEASURES.get(d["relation"]["type"])
    return None if kind is None else {**_PERSON, **d["relation"], "type": kind}


def _is_measure(d: JsonTable, space: JsonTable) -> bool:
    """Whether the shortest paths are counted by the measure of their steps: the space holds all datasets of its kind."""
    step, kind = {**_PERSON, **d["relation"]}, space["type"]
    if kind in ("bit-vectors", "ordered-records"):
        return bool(step["type"] == "differ-in-one-position" and step["unit"] == space.get("unit", "person"))
    whole = kind in ("records", "contingency-tables") and step["unit"] == space.get("unit", "person")
    varies = "most" not in space or space.get("least", 0) < space["most"]
    return (whole or (kind == "households" and step["unit"] == "household")) and (step["type"] == "replace-one" or varies)


_COUNTING = {"hamming", "symmetric-difference", "hamming-ordered"}


def _counting(d: JsonTable, e: JsonTable, space: JsonTable, fixed: Collection[str] = ()) -> ExactValue | None:
    (mine, unit), (theirs, per) = (d["type"], d["unit"]), (e["type"], e["unit"])
    most = most_changed(space, unit, per)
    halved = theirs == "symmetric-difference"
    if mine == "symmetric-difference":
        if unit == per:
            return read(2)
        return None if most is None else read(max(most, 1) * (1 if halved else 2))
    if mine != "hamming":
        return None
    if unit == per and theirs == "hamming-ordered":
        return read(1)
    if not (unit in fixed or fixes_size(space, unit)) or most is None:
        return None
    return ExactValue(Fraction(most, 2 if halved else 1))


def fixes_size(space: JsonTable, unit: str) -> bool:
    """Whether all datasets have equally many records of the unit."""
    if space["type"] == "event-streams":
        return unit == "user" or (unit == "user-window" and "window" in space)
    own = "household" if space["type"] == "households" else space.get("unit", "person")
    records = ("records", "ordered-records", "contingency-tables", "households")
    fixed = space["type"] in records and "most" in space and space.get("least", 0) == space["most"]
    return bool(unit == own and (fixed or space["type"] == "bit-vectors"))


def most_changed(space: JsonTable, unit: str, per: str) -> int | None:
    """The largest number of records of the unit that one record of the other unit changes."""
    if unit == per:
        return 1
    if space["type"] == "households":
        members: int | None = space.get("members")
        return members if (unit, per) == ("person", "household") else None
    if space["type"] != "event-streams":
        return None
    order = ["user", *(["user-window"] if "window" in space else []), "event"]
    if unit not in order or per not in order:
        return None
    times, window, each = space["times"], min(space.get("window", space["times"]), space["times"]), space.get("per_time", 1)
    if order.index(unit) < order.index(per):
        return 2 if per == "event" else 1
    return int(-(-times // window) if unit == "user-window" else (times if per == "user" else window) * each)


def _weights(d: JsonTable, e: JsonTable) -> ExactValue | None:
    """Sums of weights over the positions that differ, against each other and against their number."""
    mine, theirs = ([read(w) for w in table.get("weights", [1])] for table in (d, e))
    counted = [table["type"] == "hamming-ordered" for table in (d, e)]
    if d["unit"] != e["unit"] or not {d["type"], e["type"]} <= {"personal-weights", "hamming-ordered"}:
        return None
    if counted[1]:
        return next(w for w in mine if all(at_most(other, w) for other in mine))
    if counted[0]:
        least = next(w for w in theirs if all(at_most(w, other) for other in theirs))
        return None if least.logs or least.root or least.infinite else ExactValue(1 / least.plain)
    lower = len(mine) == len(theirs) and all(at_most(a, b) for a, b in zip(mine, theirs, strict=True))
    return read(1) if lower else None


def _windows(d: JsonTable, e: JsonTable, space: JsonTable) -> ExactValue | None:
    """Least numbers of windows of w times that cover all changes, against counts of events, users and stretches of time."""
    if d["type"] == e["type"]:
        return read(-(-e["width"] // d["width"]))
    if space["type"] != "event-streams":
        return None
    other = e if d["type"] == "window-events" else d
    unit, halved = other["unit"], other["type"] == "symmetric-difference"
    stretch = {"user": space["times"], "user-window": min(space.get("window", space["times"]), space["times"]), "event": 1}[unit]
    if other["type"] not in ("hamming", "symmetric-difference") or (unit == "user-window" and "window" not in space):
        return None
    if d["type"] == "window-events":
        return ExactValue(Fraction(-(-stretch // d["width"]) * (1 if halved else 2), 2 if fixes_size(space, unit) else 1))
    slots = min(e["width"], space["times"])
    if fixes_size(space, unit):
        touched = min(slots, len(space["users"])) if unit == "user" else slots
        return read(2 * touched if halved else touched)
    return read(2 * slots * space.get("per_time", 1)) if halved else None


def _nodes(d: JsonTable, e: JsonTable, space: JsonTable) -> ExactValue | None:
    """Nodes that change with their edges, against each other and against numbers of edges."""
    possible, absent = (len(space["nodes"]) - 1) * (2 if space.get("directed") else 1), space.get("absent", False)
    most, removed = min(possible, space.get("most_degree", possible)), [t.get("removal_only", False) for t in (d, e)]
    if d["type"] == e["type"]:
        return ExactValue(Fraction(1, 1 if absent else 2)) if removed[1] else read(2)
    if d["type"] == "node-distance":
        units = ("element",) if absent else ("edge", "element")
        known = [_counting({"type": "symmetric-difference", "unit": unit}, e, space) for unit in units if e["unit"] == unit]
        known += [read(1) for unit in units if e == {"type": "symmetric-difference", "unit": unit}]
        least = [c for c in known if c is not None]
        return None if not least else ExactValue((2 if removed[0] else 1) * min(c.plain for c in least))
    if d["type"] != "symmetric-difference" or d["unit"] not in ("edge", "element"):
        return None
    stays = Fraction(min(possible, 2 * most), 2 if removed[1] else 1)
    return ExactValue(max(stays, Fraction(most + (d["unit"] == "element"))) if absent else stays)


# --- output divergences --------------------------------------------------------------------------


def output_constant(old: JsonTable, new: JsonTable, constant: ExactValue) -> str | None:
    """Why d_Pr' <= k d_Pr for the stated k; None when that is not seen here."""
    source, target = _kind(old), _kind(new)
    if (source, target) in _OUTPUT:
        reason, holds = _OUTPUT[source, target]
        return reason if holds(old, new, constant) else None
    if target == "hockey-stick":  # never above the total variation
        return output_constant(old, {"type": "total-variation"}, constant)
    return None


def _kind(divergence: JsonTable) -> str:
    """The name of a divergence, equal for those that are the same function of two laws."""
    if divergence["type"] == "mult-delta" and read(divergence["delta"]) == ExactValue():
        return "mult"
    if divergence["type"] == "hockey-stick" and read(divergence["epsilon"]) == ExactValue():
        return "total-variation"
    if divergence["type"] == "f-divergence":
        return "total-variation" if divergence["generator"] == "total-variation" else str(divergence["generator"])
    return str(divergence["type"])


Holds = Callable[[JsonTable, JsonTable, ExactValue], bool]


def _least(value: Any) -> Holds:
    return lambda _old, _new, k: at_most(read(value), k)


def _ordered(key: str, falls: bool) -> Holds:
    """k >= 1, and the parameter falls (or grows) from the old divergence to the new one."""
    return lambda old, new, k: (
        at_most(read(1), k) and at_most(*((read(new[key]), read(old[key])) if falls else (read(old[key]), read(new[key]))))
    )


def _share(_old: JsonTable, new: JsonTable, k: ExactValue) -> bool:
    """(e^m - e^epsilon)/((e^m + 1) m) <= k for all m > epsilon, on short intervals; it is below 1/m, and at most 1/2."""
    if at_most(ExactValue(Fraction(1, 2)), k):
        return True
    start = read(new["epsilon"])

    def holds() -> bool:
        low, free = start.ball(), start.ball().exp()
        while low > 0 and not k.ball() * low > 1:
            high = low * (1 + rational(Fraction(1, 4096)))
            if not (high.exp() - free) / ((high.exp() + 1) * low) < k.ball():
                return False
            low = high
        return bool(low > 0)

    return surely(holds)


def knots_of(divergence: JsonTable) -> list[tuple[Fraction, Fraction]] | None:
    """The knots (level, error) of a curve, or of max(0, 1 - delta - e^epsilon a, e^-epsilon (1 - delta - a)).

    A file may list them in any order, and a level twice: the lowest error counts.
    """
    if "curve" in divergence:
        lowest: dict[Fraction, Fraction] = {}
        for level, error in ((fraction(level), fraction(error)) for level, error in divergence["curve"]):
            lowest[level] = min(error, lowest.get(level, error))
        return sorted(lowest.items())
    ratio, top = exponential(read(divergence["epsilon"])), 1 - fraction(divergence.get("delta", 0))
    if ratio is None:
        return None
    ends = [(top, Fraction(0)), (Fraction(1), Fraction(0))]
    return [(Fraction(0), top), (top / (1 + ratio), top / (1 + ratio)), *(ends[1:] if top == 1 else ends)]


def _advantage(old: JsonTable, _new: JsonTable, k: ExactValue) -> bool:
    knots = knots_of(old)
    return knots is not None and at_most(ExactValue(max(1 - a - b for a, b in knots)), k)


def _steps_in_mu(scale: ExactValue) -> Holds:
    """The curve lies above that of N(0, 1) and N(mu, 1) for mu = k / scale: Phi^-1(1 - a) - Phi^-1(b) <= mu at its knots."""

    def holds(old: JsonTable, _new: JsonTable, k: ExactValue) -> bool:
        def mu(a: Fraction, b: Fraction) -> arb:
            root = arb(2).sqrt()
            return root * (rational(1 - 2 * a).erfinv() - rational(2 * b - 1).erfinv())

        knots = knots_of(old)
        if knots is None or any(a * b == 0 and a + b != 1 for a, b in knots):
            return False
        inner = [knot for knot in knots if 0 not in knot]
        return all(surely(lambda a=a, b=b: mu(a, b) * scale.ball() < k.ball()) for a, b in inner)  # type: ignore[misc]

    return holds


def _steepest(old: JsonTable, _new: JsonTable, k: ExactValue) -> bool:
    """Each step multiplies likelihood ratios by at most the steepest fall of the curve, which falls from 1 on."""
    knots = knots_of(old)
    if knots is None or knots[0][1] != 1:
        return False
    falls = [(b - d) / (c - a) for (a, b), (c, d) in itertools.pairwise(knots)]
    return min(falls) > 0 and at_most(read(f"ln({max(falls)})"), k)


_HALF_ROOT = "sqrt(1/2)"
_OUTPUT: dict[tuple[str, str], tuple[str, Holds]] = {
    ("mult", "mult"): ("mult-delta at delta = 0 is mult (Dwork, Kenthapadi, McSherry, Mironov and Naor 2006)", _least(1)),
    ("mult", "mult-delta"): ("a delta only relaxes", _least(1)),
    ("mult-delta", "mult-delta"): ("a larger delta only relaxes", _ordered("delta", falls=False)),
    ("mult", "mult-one-way"): ("one of its directions", _least(1)),
    ("mult", "d-nor"): ("epsilon-DP implies (epsilon^2/2)-zCDP", _least(_HALF_ROOT)),
    ("mult", "renyi"): ("D_alpha never exceeds the largest log-ratio", _least(1)),
    ("renyi", "renyi"): ("D_alpha never decreases in alpha", _ordered("order", falls=True)),
    ("renyi", "kl"): ("D_1 <= D_alpha", _least(1)),
    ("mult", "kl"): ("a mean of log-ratios is at most the largest", _least(1)),
    ("mult", "total-variation"): ("tanh(epsilon/2) <= epsilon/2", _least("1/2")),
    ("d-nor", "total-variation"): ("Pinsker", _least(_HALF_ROOT)),
    ("total-variation", "total-variation"): ("the same", _least(1)),
    ("mult", "hockey-stick"): ("(e^m - e^epsilon)/((e^m + 1) m) <= k", _share),
    ("hockey-stick", "hockey-stick"): ("a larger epsilon only relaxes", _ordered("epsilon", falls=False)),
    ("mult", "gaussian-trade-off"): (
        "2 Phi^-1(e^m/(1 + e^m)) is concave with slope sqrt(pi/2) at 0",
        lambda _old, _new, k: surely(lambda: (arb.pi() / 2).sqrt() < k.ball()),
    ),
    ("gaussian-trade-off", "d-nor"): ("two Gaussians mu apart are (mu^2/2)-concentrated", _least(_HALF_ROOT)),
    ("gaussian-trade-off", "total-variation"): (
        "2 Phi(mu/2) - 1 <= mu/sqrt(2 pi)",
        lambda _old, _new, k: surely(lambda: 1 / (2 * arb.pi()).sqrt() < k.ball()),
    ),
    ("trade-off", "mult"): ("the steepest fall of the curve", _steepest),
    ("trade-off", "total-variation"): ("the advantage of the curve", _advantage),
    ("trade-off", "gaussian-trade-off"): ("Gaussian curves compose by adding mu", _steps_in_mu(ExactValue(Fraction(1)))),
    ("trade-off", "d-nor"): ("the mu of the curve over sqrt(2)", _steps_in_mu(read(_HALF_ROOT))),
}
"""What is known of each pair of output divergences: the reason, and whether a stated constant is large enough."""
