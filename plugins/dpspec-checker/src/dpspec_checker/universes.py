"""Reads the tables of spaces, universes and budgets in files for the checker.

The records of few categories are for the checker of proofs: those that conditions name, and two more below each coarser one.
The tables that a pair of records preserves are encoded by three bits for each table (counted before, counted after, same cell);
the bits of attributes that do not lie in each other are joined by "and", so that no product is ever listed.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import attrs
from flint import fmpz_mat

from dpspec_checker.numbers import ExactValue, JsonTable, UnknownFormula, at_most, fraction, linear, need, product, read

RecordList = tuple[tuple[str, ...], ...]

# --- budgets -------------------------------------------------------------------------------------


def least_and_most(spec: JsonTable, *, as_written: bool = False) -> tuple[ExactValue, ExactValue]:
    """The least and the largest Lipschitz constant of a budget over all universes; `as_written` the numbers themselves."""
    if spec["budget"].get("type") == "by-value" and spec["multiverse"].get("type") not in ("one-record", "with-and-without"):
        raise UnknownFormula("universes of other types are not named by a record")
    amounts = list(_amounts(spec["budget"], spec["space"]))
    if not as_written and spec["output_divergence"]["type"] == "d-nor":
        amounts = [attrs.evolve(amount, root=True) for amount in amounts]  # rho means sqrt(rho)
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
    elif kind == "swapping" and "largest_stratum" in budget and not budget.get("rates"):
        yield _swapping(fraction(budget["swap_rate"]), budget["largest_stratum"], budget.get("form", "s23-full"))
    else:
        raise UnknownFormula(f"a budget of type {kind} is not known here")


def _by_value(budget: JsonTable, value: str) -> ExactValue:
    rise = product(read(budget["rate"]), read(value))
    if rise is None:
        raise UnknownFormula("the rate of the budget has no exact product")
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


def least_between(spec: JsonTable) -> ExactValue | None:
    """What a swapping budget is at least in every universe of two different datasets; None where it is not seen, or for another.

    Such datasets differ in a stratum of at least two records, where the invariants fix the tables of strata by each attribute: if
    all its records were alike in one of them, these tables would determine all of them.
    """
    budget = spec["budget"]
    if budget.get("type") != "swapping" or "largest_stratum" in budget or spec["output_divergence"]["type"] == "d-nor":
        return None
    if not _fixes_each_attribute(spec, budget.get("unit", "household"), list(budget.get("match", []))):
        return None
    form = budget.get("form", "s23-full")
    found = [_swapping(fraction(each["swap_rate"]), 2, form) for each in (budget, *budget.get("rates", ()))]
    return next(a for a in found if all(at_most(a, b) for b in found))


def least_apart(spec: JsonTable) -> int:
    """The least positive distance of two datasets of one universe, as far as it is seen: the invariants fix each single table."""
    divergence = spec["input_divergence"]
    far = {"hamming": 2, "symmetric-difference": 4}.get(divergence["type"], 1)
    return far if far > 1 and _fixes_each_attribute(spec, divergence.get("unit", "person"), []) else 1


def _fixes_each_attribute(spec: JsonTable, unit: str, given: list[str]) -> bool:
    """Whether the invariants fix the table of `given` by a for each attribute a of the unit that the datasets consist of."""
    space, multiverse = spec["space"], spec["multiverse"]
    households = space["type"] == "households"
    if space["type"] not in ("records", "contingency-tables", "households") or "type" in multiverse:
        return False
    if unit != ("household" if households else space.get("unit", "person")):
        return False
    names = [a["name"] for a in space["household" if households else "attributes"]] + (["members"] if households else [])
    tables = [[*given, *([] if name in given else [name])] for name in names]
    held = multiverse.get("invariants", [])
    return bool(names) and set(given) <= set(names) and all(
        determined({"type": "marginal", "unit": unit, "attributes": table}, held, space) for table in tables
    )


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
    """The same attributes in the same order, some with fewer categories, nesting ignored."""
    holding = {a.get("within") for a in larger}

    def one(a: JsonTable, b: JsonTable) -> bool:
        free = a["name"] == b["name"] not in holding and "within" not in a and "within" not in b
        counted = "count" in a and "count" in b and a["count"] <= b["count"]
        return a == b or (free and (counted or (_size(a) < _size(b) and set(categories_of(a)) <= set(categories_of(b)))))

    return len(smaller) == len(larger) and all(one(a, b) for a, b in zip(smaller, larger, strict=True))


def _size(attribute: JsonTable) -> int:
    return int(attribute["count"]) if "count" in attribute else len(attribute["categories"])


def categories_of(attribute: JsonTable) -> list[str]:
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
    ours, theirs = (_narrowing(table, space) for table in (fine, wanted))
    narrower = all(a in theirs and set(theirs[a]) <= set(ours[a]) for a in ours)
    needed = {*wanted["attributes"], *(a for a in theirs if set(theirs[a]) != set(ours.get(a, ())))}
    return narrower and needed <= _seen(fine, space)


def _where(marginal: JsonTable) -> dict[str, list[str]]:
    """The condition of a marginal, which is written as a table or as pairs."""
    return dict(marginal.get("where", {}))


def _narrowing(marginal: JsonTable, space: JsonTable) -> dict[str, list[str]]:
    """Its condition without the attributes of which every category is named: they leave no record out."""
    tables = {a["name"]: a for a in _all_attributes(space)}
    return {name: named for name, named in _where(marginal).items() if not _is_whole(named, tables.get(name))}


def _is_whole(named: list[str], attribute: JsonTable | None) -> bool:
    return attribute is not None and len(set(named)) == _size(attribute) and set(named) == set(categories_of(attribute))


def _all_attributes(space: JsonTable) -> list[JsonTable]:
    return [a for key in ("attributes", "household", "person") for a in space.get(key, [])]


def _seen(marginal: JsonTable, space: JsonTable) -> set[str]:
    """Its attributes, those of one category, every coarser one, and with the members of a household all that is known of them."""
    within = {a["name"]: a.get("within") for a in _all_attributes(space)}
    seen, waiting = {a["name"] for a in _all_attributes(space) if _size(a) == 1}, list(marginal["attributes"])
    while waiting:
        name = waiting.pop()
        seen.add(name)
        waiting += [within[name]] if within.get(name) else []
    return seen | ({a["name"] for a in space["person"]} if "members" in seen else set())


def _in_parts(wanted: JsonTable, marginals: list[JsonTable], space: JsonTable) -> bool:
    """Whether it is the sum of tables with disjoint conditions on one attribute, each of which is determined."""
    where = _where(wanted)
    tables = {a["name"]: a for a in _all_attributes(space)}
    for name in {a for other in marginals for a in _where(other)} & set(tables):
        groups = {frozenset(_where(other)[name]) for other in marginals if name in _where(other)}
        whole = frozenset(where.get(name) or categories_of(tables[name]))
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
    elif kind == "star" and _adds_records(multiverse, spec["space"]) and "centres" in multiverse:
        yield from (
            (*pair, of_universe(spec, None)) for x in multiverse["centres"] for pair in _neighbours(_dataset(x), spec["space"])
        )
    else:
        raise UnknownFormula(f"universes of type {kind} are not listed here")


def _adds_records(multiverse: JsonTable, space: JsonTable) -> bool:
    """Whether neighbours are multisets with one record more or less; records in an order have a place each."""
    return bool(multiverse["relation"]["type"] == "add-remove" and space["type"] == "records")


def _neighbours(centre: RecordList, space: JsonTable) -> Iterator[tuple[RecordList, RecordList]]:
    """The centre with each dataset that has one record more or less."""
    for kind in itertools.product(*(categories_of(a) for a in space["attributes"])):
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
    return [(label, [frozen(x) for x in held]) for label, held in pairs]


def _dataset(value: list[list[str]]) -> RecordList:
    return tuple(sorted(tuple(record) for record in value))


def frozen(value: Any) -> Any:
    """A value with tuples in place of lists."""
    return tuple(frozen(entry) for entry in value) if isinstance(value, list) else value


def of_universe(spec: JsonTable, label: Any, record: tuple[str, ...] | None = None) -> ExactValue:
    """The Lipschitz constant of one universe."""
    budget = spec["budget"]
    if "universe" in budget:
        (row,) = (row for row in budget["universe"] if frozen(row["label"]) == label)
        budget = {key: value for key, value in row.items() if key != "label"}
    elif budget.get("type") == "by-value" and record is not None:
        names = [a["name"] for a in spec["space"]["attributes"]]
        value = record[names.index(budget["attribute"])]
        amount = _by_value(budget, value)
        return attrs.evolve(amount, root=True) if spec["output_divergence"]["type"] == "d-nor" else amount
    least, most = least_and_most({**spec, "budget": budget})
    if not at_most(most, least):
        raise UnknownFormula("the budget of one universe is not one number")
    return least


# --- records of few categories --------------------------------------------------------------------


MOST_LEAVES = 400
"""Attributes that lie in each other in more ways than this are not looked through."""


def table_text(table: JsonTable) -> str:
    return f"{table['unit']} by {' x '.join(table['attributes']) or 'nothing'}"


def need_table(table: JsonTable, space: JsonTable) -> None:
    """Reject a table with an attribute or a category that the space does not have, or with one twice."""
    known = {a["name"]: a for a in _attributes(space, table["unit"])}
    names, where = table["attributes"], table["where"]
    if "members" in names or not {*names, *where} <= set(known):
        raise UnknownFormula("a table looks at more than attributes")
    need(len(set(names)) == len(names), "a table has an attribute twice")
    for name, of in where.items():
        need(len(set(of)) == len(of), f"a condition names a category of {name} twice")
        need(all(is_category(known[name], category) for category in of), f"a condition names no category of {name}")


def is_category(attribute: JsonTable, category: Any) -> bool:
    if "categories" in attribute:
        return category in attribute["categories"]
    counted = isinstance(category, str) and category.isascii() and category.isdecimal() and str(int(category)) == category
    return counted and int(category) < attribute["count"]


Leaf = dict[str, Any]
"""A category of each of some attributes that lie in each other: a name, or a place below the coarser one."""


@attrs.frozen
class FewRecords:
    """The records of a unit with few categories: for each attribute that lies in none, the ways to choose those in it."""

    trees: list[list[Leaf]]
    names: frozenset[str]

    @classmethod
    def of(cls, space: JsonTable, unit: str, tables: list[JsonTable]) -> FewRecords:
        """The categories that tables name, and two more below each coarser one.

        A pair of records shows to tables only which categories are equal and which are named: two others are enough for that.
        """
        known = {a["name"]: a for a in _attributes(space, unit)}
        every = {a["name"] for a in _all_attributes(space)} | set(known)
        if not every >= {name for table in tables for name in (*table["attributes"], *table["where"])}:
            raise UnknownFormula("a table looks at more than attributes")
        conditions = [(name, set(of)) for table in tables for name, of in table["where"].items() if name in known]
        looked = {name for table in tables for name in table["attributes"] if name in known} | {name for name, _ in conditions}
        for name in reversed(_outer_first(known)):
            if name in looked and known[name].get("within") is not None:
                looked.add(known[name]["within"])
        named: dict[str, set[str]] = {name: set() for name in looked}
        for name, of in conditions:
            named[name] |= of
        for name in reversed([n for n in _outer_first(known) if n in looked]):
            named[name] |= _listed(known[name])
            outer = known[name].get("within")
            if outer is not None:
                named[outer] |= {parent_of(known[name], known[outer], category) for category in named[name]}
        roots = [name for name in known if name in looked and known[name].get("within") is None]
        trees = []
        for root in roots:
            leaves = list(_leaves(root, None, known, named))
            if len(leaves) > MOST_LEAVES:
                raise UnknownFormula(f"{root} and what lies in it have {len(leaves)} kinds")
            trees.append(leaves)
        return cls(trees, frozenset(known))

    def own_part(self, table: JsonTable) -> JsonTable:
        """What a table looks at in these records, where it counts smaller ones."""
        return {
            "unit": table["unit"],
            "attributes": [name for name in table["attributes"] if name in self.names],
            "where": {name: of for name, of in table["where"].items() if name in self.names},
        }

    def states(self, tables: list[JsonTable], *, is_added: bool) -> set[tuple[int, int, int]]:
        """For each pair of records three numbers, with a bit for each table: counted before, counted after, in the same cell."""
        every = (1 << len(tables)) - 1
        found = {(0 if is_added else every, every, every)}
        for leaves in self.trees:
            inside = [
                sum(all(n not in leaf or leaf[n] in of for n, of in t["where"].items()) << i for i, t in enumerate(tables))
                for leaf in leaves
            ]  # fmt: skip
            if is_added:
                found = {(0, after & bits, every) for _, after, _ in found for bits in set(inside)}
                continue
            pairs = {
                (inside[i], inside[j], sum(all(a.get(n) == b.get(n) for n in t["attributes"]) << k for k, t in enumerate(tables)))
                for (i, a), (j, b) in itertools.product(enumerate(leaves), repeat=2)
            }
            found = {(x & a, y & b, z & c) for x, y, z in found for a, b, c in pairs}
        return found

    def cells(self, tables: list[JsonTable]) -> Iterator[list[Any]]:
        """For each record the cell of each table that it lies in, None outside of all."""
        looked = {name for table in tables for name in (*table["attributes"], *table["where"])}
        trees = [leaves for leaves in self.trees if looked & set(leaves[0])]
        for chosen in itertools.product(*trees):
            record = {name: category for leaf in chosen for name, category in leaf.items()}
            yield [
                tuple(record[name] for name in table["attributes"])
                if all(record[name] in of for name, of in table["where"].items()) else None
                for table in tables
            ]  # fmt: skip


def need_nested(records: FewRecords, kept: list[JsonTable]) -> None:
    """Any two cells of the kept tables are disjoint, or one lies in the other: cell by cell."""
    for pair in itertools.combinations(kept, 2):
        ours, theirs, both = Counter[Any](), Counter[Any](), Counter[Any]()
        for one, other in records.cells(list(pair)):
            ours[one] += 1
            theirs[other] += 1
            both[one, other] += 1
        crossed = any(
            times < min(ours[one], theirs[other]) for (one, other), times in both.items() if one is not None and other is not None
        )
        need(not crossed, f"cells of {table_text(pair[0])} cross those of {table_text(pair[1])}")


def _attributes(space: JsonTable, unit: str) -> list[JsonTable]:
    kind = space["type"]
    if kind == "bit-vectors":
        return [{"name": "bit", "categories": ["0", "1"]}]
    if kind == "households":
        return list(space["household"]) + (list(space["person"]) if unit == "person" else [])
    if kind not in ("records", "ordered-records", "contingency-tables") or space.get("unit", "person") != unit:
        raise UnknownFormula(f"the {unit} records of the space {kind} are not known here")
    return list(space["attributes"])


def _outer_first(known: dict[str, JsonTable]) -> list[str]:
    def depth(name: str) -> int:
        within = known[name].get("within")
        return 0 if within is None else 1 + depth(within)

    return sorted(known, key=depth)


def _listed(attribute: JsonTable) -> set[str]:
    if len(attribute.get("categories", ())) > MOST_LEAVES:
        raise UnknownFormula(f"{attribute['name']} has too many categories by name")
    return set(attribute.get("categories", ()))


def parent_of(attribute: JsonTable, outer: JsonTable, category: str) -> str:
    """The category of the coarser attribute; without a list they are dealt out evenly and in order."""
    listed = attribute.get("categories")
    place = listed.index(category) if listed else int(category)
    if attribute.get("parents"):
        return str(attribute["parents"][place])
    chosen = place * _size(outer) // _size(attribute)
    return str(outer["categories"][chosen] if outer.get("categories") else chosen)


def _children(attribute: JsonTable, outer: JsonTable, category: str) -> int:
    """How many categories lie in one of the coarser attribute."""
    if attribute.get("parents"):
        return list(attribute["parents"]).count(category)
    place = list(outer["categories"]).index(category) if outer.get("categories") else int(category)
    start, end = (-(-each * _size(attribute) // _size(outer)) for each in (place, place + 1))
    return end - start


def _leaves(name: str, above: Any, known: dict[str, JsonTable], named: dict[str, set[str]]) -> Iterator[Leaf]:
    """The ways to choose a category of an attribute, below one of the coarser attribute, and of those that lie in it."""
    attribute, outer = known[name], known[name].get("within")
    inside: list[Any] = [c for c in sorted(named[name]) if outer is None or parent_of(attribute, known[outer], c) == above]
    others = _size(attribute) - len(named[name])
    if outer is not None and _size(attribute) <= _size(known[outer]):
        others = min(others, 1)
    if outer is not None and isinstance(above, str):
        others = min(others, _children(attribute, known[outer], above) - len(inside))
    inside += [(above, place) for place in range(min(others, 2))]
    inner = [other for other in named if known[other].get("within") == name]
    for category in inside:
        for below in itertools.product(*(list(_leaves(other, category, known, named)) for other in inner)):
            yield {name: category, **{key: value for leaf in below for key, value in leaf.items()}}


# --- members of a household -----------------------------------------------------------------------


def member_part(table: JsonTable, space: JsonTable) -> JsonTable:
    """What a table looks at in the members of a household."""
    inner = {a["name"] for a in space["person"]}
    if "members" in table["attributes"]:
        raise UnknownFormula("tables of the whole composition are not known here")
    return {
        "attributes": [name for name in table["attributes"] if name in inner],
        "where": {name: of for name, of in table["where"].items() if name in inner},
    }


def counted_members(view: JsonTable, look: JsonTable, space: JsonTable) -> tuple[int | None, int, int]:
    """Into how many cells the counted members fall (None for any number), how many they are, and how many in one cell."""
    sizes = {a["name"]: len(a.get("categories", ())) or a["count"] for a in space["person"]}
    cells = 1
    for name in look["attributes"]:
        cells *= len(look["where"][name]) if name in look["where"] else sizes[name]
    most = [space["members"]] if "members" in space else []
    in_cell = []
    single = {name for name, of in view["table"]["where"].items() if len(of) == 1}
    for bound in view.get("contributions", ()):
        most += [] if bound["most"] is None else [bound["most"]]
        if bound["in_cell"] is not None and set(bound["by"]) <= {*view["table"]["attributes"], *single}:
            in_cell.append(bound["in_cell"])
    most += [min(in_cell) * cells] if in_cell and not most else []
    need(bool(most), "a household may hold any number of persons")
    return cells, min(most), min([*in_cell, *most])


MOST_MEMBERS, MOST_PARTS = 200, 20_000
"""No more members are counted, and no more ways to share them among cells are listed."""


def shifts_of_members(how: str, cells: int | None, most: int, in_cell: int) -> set[tuple[int, ...]]:
    """The largest shifts of counts: a smaller one can be simulated from it, since the noise is log-concave."""
    places = 2 * most if cells is None else min(cells, 2 * most)

    if most > MOST_MEMBERS:
        raise UnknownFormula(f"households of {most} counted members have too many ways to change")

    def full(sign: int, into: int) -> list[tuple[int, ...]]:
        found = list(itertools.islice(_parts(min(most, in_cell * into), into, in_cell), MOST_PARTS + 1))
        if len(found) > MOST_PARTS:
            raise UnknownFormula(f"households of {most} counted members have too many ways to change")
        return [tuple(sign * part for part in parts) for parts in found]

    if how == "comes":
        return set(full(1, places))
    if how == "goes":
        return set(full(-1, places))
    if how == "moves":
        return {(*gone, *come) for gone in full(-1, places) for come in full(1, places)}
    return {
        (*gone, *come) for split in range(places + 1) for gone in full(-1, split) for come in full(1, places - split)
    }  # fmt: skip


def _parts(number: int, into: int, largest: int) -> Iterator[tuple[int, ...]]:
    """A number as a sum of at most so many parts, none larger than the one before."""
    if number == 0:
        yield ()
    elif into > 0:
        for first in range(min(number, largest), 0, -1):
            if first * into < number:
                break
            yield from ((first, *rest) for rest in _parts(number - first, into - 1, first))


# --- numbers and hash values of categories ----------------------------------------------------------

MOST_HASHED = 1 << 18
"""No more hash values than this are computed."""


def _attribute(space: JsonTable, name: str) -> JsonTable:
    return next(a for a in _all_attributes(space) if a["name"] == name)


def attribute_size(space: JsonTable, name: str) -> int:
    """The number of categories of an attribute."""
    return _size(_attribute(space, name))


def value_range(table: JsonTable, space: JsonTable) -> tuple[int, int]:
    """The least and the largest number among the categories of the only attribute of a table that are counted."""
    (name,) = table["attributes"]
    attribute = _attribute(space, name)
    chosen = table["where"].get(name)
    if not chosen and "count" in attribute:
        return 0, int(attribute["count"]) - 1
    numbers = [int(category) for category in chosen or attribute["categories"]]
    return min(numbers), max(numbers)


def most_distinguishing(hashes: list[list[int]], width: int, size: int) -> int:
    """The largest number of some hash functions, polynomials modulo 2^31 - 1 reduced to a width, that distinguish two
    categories."""
    if size * len(hashes) > MOST_HASHED:
        raise UnknownFormula("too many categories to see how many hash functions tell two of them apart")
    kinds = {_hashed(hashes, width, value) for value in range(size)}
    if len(kinds) ** 2 * len(hashes) > 16 * MOST_HASHED:
        raise UnknownFormula("too many kinds of categories to hold each against all others")
    pairs = itertools.combinations(kinds, 2)
    return max((sum(a != b for a, b in zip(*pair, strict=True)) for pair in pairs), default=0)


def _hashed(hashes: list[list[int]], width: int, value: int) -> tuple[int, ...]:
    return tuple(sum(c * value**power for power, c in enumerate(own)) % (2**31 - 1) % width for own in hashes)


def hash_values(hashes: list[list[int]], width: int, space: JsonTable, name: str, category: str) -> tuple[int, ...]:
    """The hash values of a category, by its number."""
    listed = _attribute(space, name).get("categories")
    return _hashed(hashes, width, listed.index(category) if listed else int(category))
