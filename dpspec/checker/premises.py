"""What the checker reads from the tables of specifications: exact numbers, and spaces, universes and budgets.

Its numbers are its own: a + sum of c_p ln(p) over primes p, the square root of one, or infinity.

The logarithms of different primes are linearly independent over the rationals, and no rational but 0 is among their rational
combinations (Lindemann), so that this form is unique: two numbers are equal exactly when they are written alike.
"""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from fractions import Fraction
from functools import reduce
from typing import Any

import attrs
from flint import arb, ctx, fmpq, fmpz, fmpz_mat

PRECISIONS = (64, 256, 1024, 4096)

JsonTable = dict[str, Any]
RecordList = tuple[tuple[str, ...], ...]


@attrs.frozen
class ExactValue:
    """A nonnegative number, or the difference of two on the way."""

    plain: Fraction = Fraction(0)
    logs: tuple[tuple[int, Fraction], ...] = ()
    root: bool = False
    infinite: bool = False

    def ball(self) -> arb:
        """An enclosure at the working precision."""
        if self.infinite:
            return arb.pos_inf()
        form = sum((rational(c) * arb(p).log() for p, c in self.logs), rational(self.plain))
        return form.nonnegative_part().sqrt() if self.root else form

    def under(self) -> ExactValue:
        """The number without its square root."""
        return attrs.evolve(self, root=False)

    def __str__(self) -> str:
        with ctx.workprec(64):
            return f"about {float(self.ball().mid()):.10g}"


def rational(value: Fraction) -> arb:
    return arb(fmpq(value.numerator, value.denominator))


def linear(parts: Iterable[tuple[Fraction, ExactValue]]) -> ExactValue:
    """The sum of c v over numbers v without a root."""
    plain, logs = Fraction(0), dict[int, Fraction]()
    for factor, value in parts:
        plain += factor * value.plain
        for prime, c in value.logs:
            logs[prime] = logs.get(prime, Fraction(0)) + factor * c
    return ExactValue(plain, tuple(sorted((prime, c) for prime, c in logs.items() if c)))


def product(left: ExactValue, right: ExactValue) -> ExactValue | None:
    """The exact product where it has this form."""
    zero = ExactValue()
    if left.infinite or right.infinite:
        return None if zero in (left, right) else ExactValue(infinite=True)
    if left.logs and right.logs:
        return None
    one, other = (left, right) if right.logs else (right, left)  # one is rational, or the root of a rational
    if not one.root and not other.root:
        return linear([(one.plain, other)])
    if not other.root and other.logs:
        return None
    squared = other.under() if other.root else ExactValue(other.plain**2)
    return attrs.evolve(linear([(one.plain if one.root else one.plain**2, squared)]), root=True)


def at_most(left: ExactValue, right: ExactValue) -> bool:
    """Whether left <= right: equality by the form, strict inequality by balls; False when neither is seen."""
    if right.infinite or left.infinite:
        return right.infinite
    if left.root == right.root:
        left, right = left.under(), right.under()
    elif not left.logs and not right.logs:
        left, right = (v.under() if v.root else ExactValue(v.plain**2) for v in (left, right))
    return left == right or surely(lambda: left.ball() < right.ball(), lambda: left.ball() > right.ball())


def within_numbers(factors: list[ExactValue], limit: ExactValue) -> bool:
    """Whether a product of nonnegative numbers is at most a limit."""
    exact: ExactValue | None = ExactValue(Fraction(1))
    for factor in factors:
        exact = None if exact is None else product(exact, factor)
    if exact is not None:
        return at_most(exact, limit)

    def total() -> arb:
        return reduce(lambda a, b: a * b, (factor.ball() for factor in factors))

    return limit.infinite or surely(lambda: total() < limit.ball(), lambda: total() > limit.ball())


def exponential(value: ExactValue) -> Fraction | None:
    """e^v where it is a rational number of no more than a few thousand digits."""
    if value.plain or value.root or value.infinite or any(k.denominator != 1 for _, k in value.logs):
        return None
    if sum(abs(k) * prime.bit_length() for prime, k in value.logs) > 10_000:
        return None
    return math.prod((Fraction(prime) ** int(k) for prime, k in value.logs), start=Fraction(1))


def surely(holds: Callable[[], bool], fails: Callable[[], bool] = lambda: False) -> bool:
    """Whether a strict comparison of balls holds at some precision."""
    for precision in PRECISIONS:
        with ctx.workprec(precision):
            if holds():
                return True
            if fails():
                return False
    return False


_TERM = re.compile(r"\s*([+-]?)\s*(?:([0-9./eE]+(?:(?<=[eE])-[0-9]+)?)\s*\*?\s*)?(?:ln\(([0-9./eE-]+)\))?\s*")


def read(text: Any) -> ExactValue:
    """A nonnegative number as specification files write it; ValueError for anything else."""
    value = _read(text)
    if surely(lambda: value.ball() < 0):
        raise ValueError(f"{text!r} is negative")
    return value


def fraction(text: Any) -> Fraction:
    """A number that has to be rational."""
    value = read(text)
    if value.logs or value.root or value.infinite:
        raise ValueError(f"{text!r} is no rational number")
    return value.plain


def _read(text: Any) -> ExactValue:
    if isinstance(text, bool) or not isinstance(text, (int, Decimal, str)):
        raise ValueError(f"{text!r} is no number")
    if not isinstance(text, str):
        return ExactValue(Fraction(text))
    if len(text) > 2000:
        raise ValueError("a number of more than 2000 digits")
    if text in ("inf", "infinity"):
        return ExactValue(infinite=True)
    if text.startswith("sqrt(") and text.endswith(")"):
        return attrs.evolve(_read(text[5:-1]), root=True)
    parts, place = [], 0
    while place < len(text):
        match = _TERM.match(text, place)
        if match is None or match.end() == place or not (match[2] or match[3]) or (place and not match[1]):
            raise ValueError(f"{text!r} is no number")
        sign = -1 if match[1] == "-" else 1
        parts.append(
            (sign * _fraction(match[2] or "1"), _logarithm(_fraction(match[3])) if match[3] else ExactValue(Fraction(1)))
        )
        place = match.end()
    if not parts:
        raise ValueError("an empty text is no number")
    return linear(parts)


def _fraction(text: str) -> Fraction:
    if abs(int(text.lower().partition("e")[2] or 0)) > 1000:
        raise ValueError(f"{text!r} is too large")
    return Fraction(text) if "/" in text else Fraction(Decimal(text))


def _logarithm(argument: Fraction) -> ExactValue:
    if argument <= 0:
        raise ValueError("ln takes a positive number")
    signed = ((argument.numerator, 1), (argument.denominator, -1))
    return linear(
        (Fraction(sign * int(k)), ExactValue(logs=((int(p), Fraction(1)),))) for n, sign in signed for p, k in fmpz(n).factor()
    )


# --- budgets -------------------------------------------------------------------------------------


def least_and_most(spec: JsonTable, *, as_written: bool = False) -> tuple[ExactValue, ExactValue]:
    """The least and the largest Lipschitz constant of a budget over all universes; `as_written` the numbers themselves."""
    amounts = list(_amounts(spec["budget"], spec["space"]))
    if not as_written and spec["output_divergence"]["type"] == "d-nor":
        amounts = [attrs.evolve(amount, root=True) for amount in amounts]  # rho stands for sqrt(rho)
    least = next(a for a in amounts if all(at_most(a, b) for b in amounts))
    return least, next(a for a in amounts if all(at_most(b, a) for b in amounts))


def _amounts(budget: JsonTable, space: JsonTable) -> Iterator[ExactValue]:
    kind = budget.get("type")
    if kind is None and "universe" in budget:
        yield from (next(read(v) for key, v in row.items() if key != "label") for row in budget["universe"])
    elif kind is None:
        (text,) = budget.values()
        yield read(text)
    elif kind == "by-part":
        yield from (read(row["value"]) for row in budget["values"])
        yield from ([read(budget["otherwise"])] if "otherwise" in budget else [])
    elif kind == "by-value":
        values = next(a["categories"] for a in space["attributes"] if a["name"] == budget["attribute"])
        yield from (_by_value(budget, value) for value in values)
    elif kind == "swapping" and "largest_stratum" in budget:
        yield _swapping(fraction(budget["swap_rate"]), budget["largest_stratum"], budget.get("form", "s23-full"))
    else:
        raise ValueError(f"a budget of type {kind} is not known here")


def _by_value(budget: JsonTable, value: str) -> ExactValue:
    rise = product(read(budget["rate"]), read(value))
    if rise is None:
        raise ValueError("the rate of the budget has no exact product")
    return linear([(Fraction(1), read(budget.get("base", 0))), (Fraction(1), rise)])


def _swapping(rate: Fraction, stratum: int, form: str) -> ExactValue:
    """The printed budget of the swapping theorem (Bailie, Gong and Meng 2023): max(ln o, ln((b+1)/o)), o = p/(1-p)."""
    if form == "s23-full" and stratum == 0:
        return ExactValue()
    if rate in (0, 1):
        return ExactValue(infinite=True)
    odds = rate / (1 - rate)
    return read(f"ln({max(odds, (stratum + 1) / odds)})")


def fewer_strata(budget: JsonTable, other: JsonTable) -> bool:
    """Whether two budgets are the swapping theorem at equal rates in (0, 1), the first read from fewer strata of each universe.

    Its full form takes the largest stratum b with two different records, the others the largest of all; ln o and ln((b+1)/o) do
    not fall in b, and where p <= 1/2 the larger of them is the second, as the short form has it.
    """
    if not budget.get("type") == other.get("type") == "swapping":
        return False
    rates = [fraction(each["swap_rate"]) for each in (budget, *budget.get("rates", ()))]
    if not all(0 < rate < 1 for rate in rates) or (other.get("form") == "s23-short" and max(rates) > Fraction(1, 2)):
        return False
    same = {**budget, "form": "", "unit": budget.get("unit", "household"), "swap_rate": read(budget["swap_rate"])}
    others = {**other, "form": "", "unit": other.get("unit", "household"), "swap_rate": read(other["swap_rate"])}
    return same == others and "largest_stratum" not in same and budget.get("form", "s23-full") == "s23-full"


# --- spaces --------------------------------------------------------------------------------------


def part_of(smaller: JsonTable, larger: JsonTable, *, same_cells: bool) -> bool:
    """Whether all datasets of one space are datasets of the other, made of the same records.

    Args:
        same_cells: whether the kinds of records have to be the same ones too.
    """
    kind = larger["type"]
    rest = {
        "records": ("attributes",), "ordered-records": ("attributes",), "contingency-tables": (),
        "households": ("household", "person"), "integer-counts": (),
    }  # fmt: skip
    if kind not in rest or smaller["type"] != kind:
        return False
    ranges = (("least", "most"), ("none", "members")) if kind == "households" else (("least", "most"),)
    if kind == "integer-counts":
        ranges = (("low", "high"),)
    free = {*rest[kind], *itertools.chain.from_iterable(ranges)}
    same = all(smaller.get(key) == larger.get(key) for key in {*smaller, *larger} - free)
    inside = all(_inside(smaller, larger, low, high) for low, high in ranges)
    fewer = all(_fewer(smaller[key], larger[key]) for key in rest[kind]) if not same_cells else True
    return same and inside and fewer and (not same_cells or all(smaller[key] == larger[key] for key in rest[kind]))


def _inside(smaller: JsonTable, larger: JsonTable, low: str, high: str) -> bool:
    above = high not in larger or (high in smaller and smaller[high] <= larger[high])
    return bool(larger.get(low, 0) <= smaller.get(low, 0) and above)


def _fewer(smaller: list[JsonTable], larger: list[JsonTable]) -> bool:
    """The same attributes in the same order, some with fewer categories and apart from all nesting."""
    holding = {a.get("within") for a in larger}

    def one(a: JsonTable, b: JsonTable) -> bool:
        free = a["name"] == b["name"] not in holding and "within" not in a and "within" not in b
        counted = "count" in a and "count" in b and a["count"] <= b["count"]
        return a == b or (free and (counted or (_size(a) < _size(b) and set(_categories(a)) <= set(_categories(b)))))

    return len(smaller) == len(larger) and all(one(a, b) for a, b in zip(smaller, larger, strict=True))


def _size(attribute: JsonTable) -> int:
    return int(attribute["count"]) if "count" in attribute else len(attribute["categories"])


def _categories(attribute: JsonTable) -> list[str]:
    return list(attribute["categories"]) if "categories" in attribute else [str(i) for i in range(attribute["count"])]


# --- invariants ----------------------------------------------------------------------------------


def determined(wanted: JsonTable, held: list[JsonTable], space: JsonTable) -> bool:
    """Whether the value of an invariant follows from those of others, by the forms in which they are written."""
    if wanted in held:
        return True
    if wanted["type"] == "linear-map":
        rows = [row for other in held if other["type"] == "linear-map" for row in other["rows"]]
        return bool(rows) and fmpz_mat([*rows, *wanted["rows"]]).rank() == fmpz_mat(rows).rank()
    marginals = [other for other in held if other["type"] == "marginal"]
    if wanted["type"] != "marginal":
        return False
    return any(_coarser(other, wanted, space) for other in marginals) or _in_parts(wanted, marginals, space)


def fixed_units(spec: JsonTable) -> list[str]:
    """The units of which all datasets of one universe have equally many records, since the invariants determine the total."""
    held, space = spec["multiverse"], spec["space"]
    units = ("household", "person") if space["type"] == "households" else (space.get("unit", "person"),)
    totals: dict[str, JsonTable] = {unit: {"type": "marginal", "unit": unit, "attributes": []} for unit in units}
    return [unit for unit in units if "type" not in held and determined(totals[unit], held["invariants"], space)]


def _coarser(fine: JsonTable, wanted: JsonTable, space: JsonTable) -> bool:
    """Whether one table is a coarser one of the other: nothing is left out that it counts, and all that it looks at is seen."""
    if fine.get("unit", "person") != wanted.get("unit", "person") and "members" not in fine["attributes"]:
        return False
    ours, theirs = _where(fine), _where(wanted)
    narrower = all(a in theirs and set(theirs[a]) <= set(ours[a]) for a in ours)
    needed = {*wanted["attributes"], *(a for a in theirs if set(theirs[a]) != set(ours.get(a, ())))}
    return narrower and needed <= _seen(fine, space)


def _where(marginal: JsonTable) -> dict[str, list[str]]:
    """The condition of a marginal, which is written as a table or as pairs."""
    return dict(marginal.get("where", {}))


def _seen(marginal: JsonTable, space: JsonTable) -> set[str]:
    """Its attributes, every coarser one, and with the members of a household all that is known of them."""
    tables = [a for key in ("attributes", "household", "person") for a in space.get(key, [])]
    within = {a["name"]: a.get("within") for a in tables}
    seen, waiting = set[str](), list(marginal["attributes"])
    while waiting:
        name = waiting.pop()
        seen.add(name)
        waiting += [within[name]] if within.get(name) else []
    return seen | ({a["name"] for a in space["person"]} if "members" in seen else set())


def _in_parts(wanted: JsonTable, marginals: list[JsonTable], space: JsonTable) -> bool:
    """Whether it is the sum of tables with disjoint conditions on one attribute, each of which is determined."""
    where = _where(wanted)
    tables = {a["name"]: a for key in ("attributes", "household", "person") for a in space.get(key, [])}
    for name in {a for other in marginals for a in _where(other)} & set(tables):
        groups = {frozenset(_where(other)[name]) for other in marginals if name in _where(other)}
        whole = frozenset(where.get(name) or _categories(tables[name]))
        for count in range(2, len(groups) + 1):
            for chosen in itertools.combinations(groups, count):
                if sum(map(len, chosen)) == len(whole) and frozenset().union(*chosen) == whole:
                    parts = [{**wanted, "where": {**where, name: sorted(group)}} for group in chosen]
                    if all(any(_coarser(other, part, space) for other in marginals) for part in parts):
                        return True
    return False


# --- universes by list ---------------------------------------------------------------------------


def compared_pairs(spec: JsonTable) -> Iterator[tuple[Any, Any, ExactValue]]:
    """The pairs of datasets of every universe, with its budget, for universes that are written out."""
    multiverse, kind = spec["multiverse"], spec["multiverse"].get("type")
    if kind == "explicit":
        for label, held in explicit(multiverse):
            yield from ((x, y, of_universe(spec, label)) for x, y in itertools.combinations(held, 2))
    elif kind == "with-and-without":
        for pair in multiverse["pairs"]:
            less, record = _dataset(pair["dataset"]), tuple(pair["record"])
            yield less, tuple(sorted((*less, record))), of_universe(spec, (record, less), record)
    elif kind == "star" and multiverse["relation"]["type"] == "add-remove" and "centres" in multiverse:
        yield from (
            (*pair, of_universe(spec, None)) for x in multiverse["centres"] for pair in _neighbours(_dataset(x), spec["space"])
        )
    else:
        raise ValueError(f"universes of type {kind} are not listed here")


def _neighbours(centre: RecordList, space: JsonTable) -> Iterator[tuple[RecordList, RecordList]]:
    """The centre with each dataset that has one record more or less."""
    for kind in itertools.product(*(_categories(a) for a in space["attributes"])):
        if kind in centre and len(centre) > space.get("least", 0):
            less = list(centre)
            less.remove(kind)
            yield tuple(less), centre
        if "most" not in space or len(centre) < space["most"]:
            yield centre, tuple(sorted((*centre, kind)))


def shared_bounds(spec: JsonTable, left: Any, right: Any) -> Iterator[ExactValue]:
    """The budget of every universe that holds both datasets."""
    multiverse, kind = spec["multiverse"], spec["multiverse"].get("type")
    if kind == "explicit":
        yield from (of_universe(spec, label) for label, held in explicit(multiverse) if left in held and right in held)
        return
    less, more = sorted((left, right), key=len)
    surplus = list((Counter(more) - Counter(less)).elements())
    if kind not in ("with-and-without", "one-record") or len(surplus) != 1 or Counter(less) - Counter(more):
        return
    listed = [(tuple(pair["record"]), _dataset(pair["dataset"])) for pair in multiverse.get("pairs", [])]
    if kind == "one-record" or (surplus[0], less) in listed:
        yield of_universe(spec, (surplus[0], less), surplus[0])


def explicit(multiverse: JsonTable) -> list[tuple[Any, list[Any]]]:
    rows = multiverse["universes_by_label"]
    pairs = rows.items() if isinstance(rows, dict) else rows
    return [(label, [_frozen(x) for x in held]) for label, held in pairs]


def _dataset(value: list[list[str]]) -> RecordList:
    return tuple(sorted(tuple(record) for record in value))


def _frozen(value: Any) -> Any:
    return tuple(_frozen(entry) for entry in value) if isinstance(value, list) else value


def of_universe(spec: JsonTable, label: Any, record: tuple[str, ...] | None = None) -> ExactValue:
    """The Lipschitz constant of one universe."""
    budget = spec["budget"]
    if "universe" in budget:
        (row,) = (row for row in budget["universe"] if _frozen(row["label"]) == label)
        budget = {key: value for key, value in row.items() if key != "label"}
    elif budget.get("type") == "by-value" and record is not None:
        names = [a["name"] for a in spec["space"]["attributes"]]
        value = record[names.index(budget["attribute"])]
        amount = _by_value(budget, value)
        return attrs.evolve(amount, root=True) if spec["output_divergence"]["type"] == "d-nor" else amount
    least, most = least_and_most({**spec, "budget": budget})
    if not at_most(most, least):
        raise ValueError("the budget of one universe is not one number")
    return least
