"""An independent checker of proofs of claims: each step is computed anew from the data of a verdict, by code of its own.

The premises are the claim, as the text of a specification, and how the mechanism is made, as its views. From these

* *sensitivity*: the records are cut down to a few categories of each attribute (those that a condition names, all where they are
  listed, and two more below each coarser one), every pair of them is looked at, and what it moves must be among the changes that
  the proof lists. Which tables a pair keeps is told by three bits for each table (counted before, counted after, same cell),
  and the bits of attributes that do not lie in each other are joined by "and", so that no product is ever listed;
* *noise*: d_Pr of every listed change, by closed forms;
* *sample*, *path*, *post-process* and the budget: the hypotheses of the theorems.

What is not known here is *not rechecked*, and said so; it never counts as true.
"""

from __future__ import annotations

import functools
import itertools
import json
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

import attrs
from flint import arb

from dpspec.base.errors import DerivationFileError
from dpspec.checker.check import CheckedStep, blocks_of, read_json, typed
from dpspec.checker.pairs import METRICS, Rejected, UnknownFormula, need
from dpspec.checker.premises import (
    ExactValue,
    JsonTable,
    at_most,
    determined,
    exponential,
    fraction,
    least_and_most,
    linear,
    product,
    rational,
    read,
    surely,
)

RECHECKED, NOT_RECHECKED, WRONG = "rechecked", "not rechecked", "wrong"

MOST_LEAVES = 400
"""Attributes that lie in each other in more ways than this are not looked through."""

MOST_MOVES = 200_000
"""Larger records that change their members in more ways than this are not looked through."""

_UNREADABLE = (KeyError, TypeError, ValueError, ArithmeticError, AttributeError, IndexError, StopIteration)
"""What comes of data that is not of the shape of a proof."""

BUDGETS = {"mult": "epsilon", "mult-delta": "epsilon", "d-nor": "rho", "renyi": "epsilon", "hockey-stick": "delta"}
"""How the budget of an output divergence is named, where it is its Lipschitz constant (the root of it for d-nor)."""

Moves = Counter[tuple[str, int]]
"""Which answers move: a noise as text, and by how much; how often."""


@attrs.frozen(kw_only=True)
class RecheckedProof:
    """What the checker says of one proof.

    Args:
        name: the file and the obligation that it is about.
        steps: each step, rechecked, not rechecked, or wrong.
    """

    name: str
    steps: tuple[CheckedStep, ...]

    @property
    def accepted(self) -> bool:
        """Whether every step was rechecked."""
        return all(step.status == RECHECKED for step in self.steps)


def check_proofs(path: str | Path) -> tuple[RecheckedProof, ...]:
    """Check every proof in the output of `dpspec verify --format json`.

    Raises:
        DerivationFileError: no file, no JSON, or no proof in it.
        DerivationTooLongError: the file is too large.
    """
    data = read_json(path)
    if not isinstance(data, dict) or data.get("command") != "verify":
        raise DerivationFileError("command", "must be verify", "write the file with: dpspec verify FILES --format json")
    found = [
        RecheckedProof(name=f"{row['path']}: {one['name']}", steps=check_proof(one))
        for row in typed(data, "files", list)
        for one in row.get("obligations", ())
        if (one.get("verdict") or {}).get("proof")
    ]
    if not found:
        raise DerivationFileError("files", "hold no proof", "verify files whose claims are derived", value=str(path))
    return tuple(found)


def check_proof(obligation: JsonTable) -> tuple[CheckedStep, ...]:
    """Check the steps of one proof, and that they show the claim.

    Args:
        obligation: an obligation of a file, as `dpspec verify --format json` writes it.
    """
    rows: list[JsonTable] = obligation["verdict"]["proof"]
    names = [row.get("step", "") for row in rows]
    if not isinstance(obligation.get("claim"), str):
        return tuple(CheckedStep(rule=name, status=NOT_RECHECKED, reason="the claim has no form in a file") for name in names)
    if names[:2] != ["sensitivity", "noise"] or len(set(names)) < len(names):
        reason = "the theorem is not known here" if names == ["theorem"] else "no proof from views begins so"
        status = NOT_RECHECKED if names == ["theorem"] else WRONG
        return tuple(CheckedStep(rule=name, status=status, reason=reason) for name in names)
    steps = {row["step"]: row.get("data") for row in rows}
    proof = _Proven(claim=blocks_of(obligation["claim"], "claim"), steps=steps, outcome=str(obligation["verdict"].get("outcome")))
    return tuple(_checked(name, proof) for name in [*names, *(["path"] if proof.lacks_path else []), "budget"])


def _checked(name: str, proof: _Proven) -> CheckedStep:
    check = _STEPS.get(name)
    try:
        if check is None:
            raise UnknownFormula("the step is not known here")
        return CheckedStep(rule=name, status=RECHECKED, reason=check(proof))
    except Rejected as problem:
        return CheckedStep(rule=name, status=WRONG, reason=str(problem))
    except UnknownFormula as problem:
        return CheckedStep(rule=name, status=NOT_RECHECKED, reason=str(problem))
    except _UNREADABLE as problem:
        return CheckedStep(rule=name, status=NOT_RECHECKED, reason=f"cannot be read: {type(problem).__name__}: {problem}")


# --- the premises --------------------------------------------------------------------------------


@attrs.frozen(kw_only=True, slots=False, eq=False)
class _Proven:
    """A claim with the data of the steps that are to prove it."""

    claim: JsonTable
    steps: JsonTable
    outcome: str

    @property
    def sensitivity(self) -> JsonTable:
        return typed(self.steps, "sensitivity", dict)  # type: ignore[no-any-return]

    @property
    def changes(self) -> list[JsonTable]:
        return typed(self.sensitivity, "changes", list)  # type: ignore[no-any-return]

    @cached_property
    def prices(self) -> tuple[str, int, int | None, int | None]:
        """The unit, the price of a record replaced, of one added, and what neighbours can afford: from the claim alone."""
        return _prices(self.claim["input_divergence"])

    @property
    def kinds(self) -> list[tuple[int, bool]]:
        """Records replaced, and added, as far as neighbours can afford them; of sampled records none is replaced."""
        _, replaced, added, within = self.prices
        kinds = [(replaced, False)] if self.rate == 1 else []
        kinds += [] if added is None else [(added, True)]
        return [kind for kind in kinds if within is None or kind[0] <= within]

    @property
    def rate(self) -> Fraction:
        """How many of the records take part."""
        return fraction(self.steps["sample"]["rate"]) if "sample" in self.steps else Fraction(1)

    @property
    def is_single(self) -> bool:
        """Whether neighbours differ by one change only."""
        within = self.prices[3]
        return (
            within is not None
            and 2 * min((price for price, is_added in self.kinds if self.seen[is_added]), default=within) > within
        )

    @cached_property
    def seen(self) -> dict[bool, list[list[str]]]:
        """For records replaced, and added: what becomes of one in each view, for every pair that keeps the tables."""
        space, unit, kept = self.claim["space"], self.prices[0], list(self.sensitivity["kept"])
        records = _Records.of(space, unit, [*(view["table"] for view in self.views), *kept])
        parts = [*(records.own_part(view["table"]) for view in self.views), *kept]
        _nested(records, kept)
        found: dict[bool, list[list[str]]] = {False: [], True: []}
        for _, is_added in self.kinds:
            for state in records.states(parts, is_added=is_added):
                sides = [_relation(*(bool(bits >> place & 1) for bits in state)) for place in range(len(parts))]
                if all(side in ("stays", "outside") for side in sides[len(self.views) :]):
                    found[is_added].append(sides[: len(self.views)])
        return found

    @property
    def lacks_path(self) -> bool:
        try:
            return "path" not in self.steps and not self.is_single
        except (Rejected, UnknownFormula, *_UNREADABLE):
            return False

    @property
    def invariants(self) -> list[JsonTable]:
        known = self.claim["multiverse"]
        if "type" in known:
            raise UnknownFormula(f"universes of type {known['type']} are not known here")
        return list(known["invariants"])

    @cached_property
    def views(self) -> list[JsonTable]:
        """The views whose answers can differ inside a universe."""
        moving = []
        for view in self.sensitivity["views"]:
            if view["kind"] not in ("NoisyCount", "Report"):
                raise UnknownFormula(f"a view of kind {view['kind']} is not known here")
            table = {"type": "marginal", **view["table"]}
            bare = view["kind"] == "NoisyCount" and "contributions" not in view
            if view["fixed"] is False:
                moving.append(view)
                continue
            if not (bare and determined(table, self.invariants, self.claim["space"])):
                raise UnknownFormula(f"a view of {_told(table)} is said to be fixed, which is not seen")
        return moving

    @cached_property
    def answers(self) -> list[tuple[str, int]]:
        """The noise and the shift of each answer that some change moves."""
        return [_answer(before, after) for before, after in self.sensitivity["answers"]]

    def moves(self, places: list[int]) -> Moves:
        """The answers that a case moves."""
        need(all(isinstance(place, int) and place >= 0 for place in places), "an answer is no number")
        return Counter(self.answers[place] for place in places)


def _prices(divergence: JsonTable) -> tuple[str, int, int | None, int | None]:
    kind = divergence["type"]
    if kind == "within-distance":
        unit, replaced, added, within = _prices(divergence["of"])
        need(within is None, "neighbours of neighbours are not known")
        return unit, replaced, added, int(divergence["most"])
    related = kind == "neighbour"
    of = divergence["relation"] if related else divergence
    known: dict[str, tuple[int, int | None]] = {
        "hamming": (1, None), "hamming-ordered": (1, None), "symmetric-difference": (2, 1),
        "replace-one": (1, None), "add-remove": (2, 1), "differ-in-one-position": (1, None),
    }  # fmt: skip
    if of["type"] not in known or related != (of["type"] in ("replace-one", "add-remove", "differ-in-one-position")):
        raise UnknownFormula(f"the input divergence {kind} is not known here")
    return of.get("unit", "person"), *known[of["type"]], 1 if related else None


def _told(table: JsonTable) -> str:
    return f"{table['unit']} by {' x '.join(table['attributes']) or 'nothing'}"


def _noise(law: JsonTable) -> str:
    return json.dumps({key: value for key, value in law.items() if key != "center"}, sort_keys=True)


def _answer(before: JsonTable, after: JsonTable) -> tuple[str, int]:
    if "center" not in before:  # two laws of any kind
        return json.dumps([before, after], sort_keys=True), 0
    need(_noise(before) == _noise(after), "an answer changes its noise")
    shift = Fraction(after["center"]) - Fraction(before["center"])
    need(shift.denominator == 1, "a count moves by a part")
    return _noise(before), int(shift)


# --- sensitivity ---------------------------------------------------------------------------------


def _sensitivity(proof: _Proven) -> str:
    """Every change that keeps the tables is among those that are listed."""
    stated, prices = proof.sensitivity, proof.prices
    need((stated["unit"], stated["replaced"], stated["added"], stated["within"]) == prices, f"the prices are {prices[1:]}")
    for change in proof.changes:
        kind = change["price"], change["added"]
        need(
            isinstance(kind[1], bool) and kind in proof.kinds,
            f"no change that neighbours can afford costs {kind[0]}",
        )
    unit, kept = prices[0], list(stated["kept"])
    for table in kept:
        seen = determined({"type": "marginal", **table}, proof.invariants, proof.claim["space"]) and table["unit"] == unit
        need(seen, f"{_told(table)} is not seen to be invariant")
    in_place = [view for view in proof.views if view["kind"] == "Report"]
    if in_place:
        kind = proof.claim["input_divergence"]
        ordered = kind.get("relation", kind.get("of", kind))["type"] in ("hamming-ordered", "differ-in-one-position")
        need(ordered and not kept, "records are answered for in their places")
    need(proof.rate == 1 or not kept, "records of a sample are not counted by an invariant")
    own = [view for view in proof.views if view["table"]["unit"] == unit]
    inner = [view for view in proof.views if view["table"]["unit"] != unit]
    if inner and (unit, {view["table"]["unit"] for view in inner}) != ("household", {"person"}):
        raise Rejected(f"records of the unit {unit} do not determine those of {_told(inner[0]['table'])}")
    for _, is_added in proof.kinds:
        listed = _Listed.of(proof, is_added=is_added)
        for sides in proof.seen[is_added]:
            moved = list(zip(proof.views, sides, strict=True))
            at_once = _at_once([(view, how) for view, how in moved if view in own])
            listed.hold(at_once, _of_members([(view, how) for view, how in moved if view in inner], proof.claim["space"]))
    every = sum(map(len, proof.seen.values()))
    return f"each of {every} kinds of change is among the {len(proof.changes)} that are listed"


def _relation(before: bool, after: bool, same: bool) -> str:
    """What becomes of a record in a table, from the bits: counted before, counted after, in the same cell."""
    if not before and not after:
        return "outside"
    return "comes" if not before else "goes" if not after else "stays" if same else "moves"


def _at_once(moved: list[tuple[JsonTable, str]]) -> Moves:
    """The answers of views that count the record itself."""
    found: Moves = Counter()
    for view, how in moved:
        if view["kind"] == "Report":
            if how not in ("moves", "stays"):
                raise UnknownFormula("a record that is not answered for is not known here")
            found.update([_answer(*view["laws"])] if how == "moves" else [])
            continue
        found.update((_noise(view["noise"]), shift) for shift in _SHIFTS[how])
    return found


_SHIFTS = {"outside": (), "stays": (), "comes": (1,), "goes": (-1,), "moves": (-1, 1)}


def _of_members(moved: list[tuple[JsonTable, str]], space: JsonTable) -> list[list[Moves]]:
    """What the views of the members of a household may see, for each group of views that see the same."""
    groups: dict[str, tuple[str, JsonTable, list[JsonTable]]] = {}
    for view, how in moved:
        if how == "outside":
            continue
        look = _member_part(view["table"], space)
        key = json.dumps([look, view.get("contributions", []), how], sort_keys=True)
        groups.setdefault(key, (how, look, []))[2].append(view)
    found = []
    for how, look, views in groups.values():
        cells, most, in_cell = _limits(views[0], look, space)
        shifts = _shifts(how, cells, most, in_cell)
        noises = [_noise(view["noise"]) for view in views]
        found.append([Counter((noise, shift) for noise in noises for shift in one) for one in shifts])
    return found


def _member_part(table: JsonTable, space: JsonTable) -> JsonTable:
    inner = {a["name"] for a in space["person"]}
    if "members" in table["attributes"]:
        raise UnknownFormula("tables of the whole composition are not known here")
    return {
        "attributes": [name for name in table["attributes"] if name in inner],
        "where": {name: of for name, of in table["where"].items() if name in inner},
    }


def _limits(view: JsonTable, look: JsonTable, space: JsonTable) -> tuple[int | None, int, int]:
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


def _shifts(how: str, cells: int | None, most: int, in_cell: int) -> set[tuple[int, ...]]:
    """The largest shifts of counts: a smaller one can be simulated from it, since the noise is log-concave."""
    places = 2 * most if cells is None else min(cells, 2 * most)

    def full(sign: int, into: int) -> list[tuple[int, ...]]:
        return [tuple(sign * part for part in parts) for parts in _parts(min(most, in_cell * into), into, in_cell)]

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


@attrs.frozen
class _Listed:
    """The changes that a proof lists for one kind, and whether another one is among them."""

    plain: list[Moves]
    grouped: list[list[list[Moves]]]
    exact: set[frozenset[tuple[tuple[str, int], int]]]

    @classmethod
    def of(cls, proof: _Proven, *, is_added: bool) -> _Listed:
        plain: list[Moves] = []
        grouped: list[list[list[Moves]]] = []
        for change in proof.changes:
            if change["added"] is not is_added:
                continue
            if change["times"] or change["members"]:
                raise UnknownFormula("members that change one after the other are not known here")
            if change["groups"]:
                need(not change["moves"], "a change by groups of views has no other answers")
                groups = [[proof.moves(case) for case in cases] for cases in change["groups"]]
                grouped.append(groups)
            else:
                plain.append(proof.moves(change["moves"]))
        return cls(plain, grouped, {frozenset(moves.items()) for moves in plain})

    def hold(self, at_once: Moves, groups: list[list[Moves]]) -> None:
        """Reject a proof in which a change is missing."""
        if groups and self.grouped and any(self._by_group([[at_once], *groups], listed) for listed in self.grouped):
            return
        ways = 1
        for group in groups:
            ways *= len(group)
        if ways > MOST_MOVES:
            raise UnknownFormula(f"members change in {ways} ways")
        for chosen in itertools.product(*groups):
            moves = sum(chosen, at_once.copy())
            if moves and frozenset(moves.items()) not in self.exact:
                smaller = bool(groups) and any(_dominates(one, moves) for one in self.plain)
                need(smaller, f"a change is not listed that moves {sum(moves.values())} answers")

    def _by_group(self, groups: list[list[Moves]], listed: list[list[Moves]]) -> bool:
        """Whether each group of views is one of those listed, in some order."""
        wanted = [group for group in groups if any(group)]
        if len(wanted) > len(listed):
            return False
        if not wanted:
            return True
        fits = [place for place, cases in enumerate(listed) if all(one in cases or not one for one in wanted[0])]
        return any(self._by_group(wanted[1:], listed[:place] + listed[place + 1 :]) for place in fits)


def _dominates(large: Moves, small: Moves) -> bool:
    """Whether each shift of the one is at most one of the other, with the same noise and in the same direction."""
    for noise, sign in {(noise, shift > 0) for noise, shift in small}:
        one, other = (
            sorted((abs(s) for n, s in moves.elements() if n == noise and (s > 0) == sign), reverse=True)
            for moves in (large, small)
        )
        if len(one) < len(other) or any(a < b for a, b in zip(one, other, strict=False)):
            return False
    return True


# --- records of few categories -------------------------------------------------------------------


Leaf = dict[str, Any]
"""A category of each of some attributes that lie in each other: a name, or a place below the coarser one."""


@attrs.frozen
class _Records:
    """The records of a unit with few categories: for each attribute that lies in none, the ways to choose those in it."""

    trees: list[list[Leaf]]
    names: frozenset[str]

    @classmethod
    def of(cls, space: JsonTable, unit: str, tables: list[JsonTable]) -> _Records:
        """The categories that tables name, and two more below each coarser one.

        A pair of records shows to tables only which categories are equal and which are named: two others are enough for that.
        """
        known = {a["name"]: a for a in _attributes(space, unit)}
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
                named[outer] |= {_parent(known[name], known[outer], category) for category in named[name]}
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


def _nested(records: _Records, kept: list[JsonTable]) -> None:
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
        need(not crossed, f"cells of {_told(pair[0])} cross those of {_told(pair[1])}")


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


def _parent(attribute: JsonTable, outer: JsonTable, category: str) -> str:
    """The category of the coarser attribute; without a list they are dealt out evenly and in order."""
    listed = attribute.get("categories")
    place = listed.index(category) if listed else int(category)
    if attribute.get("parents"):
        return str(attribute["parents"][place])
    chosen = place * _size(outer) // _size(attribute)
    return str(outer["categories"][chosen] if outer.get("categories") else chosen)


def _size(attribute: JsonTable) -> int:
    return len(attribute.get("categories", ())) or int(attribute["count"])


def _leaves(name: str, above: Any, known: dict[str, JsonTable], named: dict[str, set[str]]) -> Iterator[Leaf]:
    """The ways to choose a category of an attribute, below one of the coarser attribute, and of those that lie in it."""
    attribute, outer = known[name], known[name].get("within")
    inside: list[Any] = [c for c in sorted(named[name]) if outer is None or _parent(attribute, known[outer], c) == above]
    others = _size(attribute) - len(named[name])
    several = outer is None or _size(attribute) > _size(known[outer])
    inside += [(above, place) for place in range(min(others, 2 if several else 1))]
    inner = [other for other in named if known[other].get("within") == name]
    for category in inside:
        for below in itertools.product(*(list(_leaves(other, category, known, named)) for other in inner)):
            yield {name: category, **{key: value for leaf in below for key, value in leaf.items()}}


# --- noise ---------------------------------------------------------------------------------------


def _noise_step(proof: _Proven) -> str:
    """Every stated bound is at least d_Pr of its change, per unit of d_X, and the largest is the largest."""
    stated, chosen = typed(proof.steps, "noise", dict), proof.claim["output_divergence"]
    bounds = [read(text) for text in stated["bounds"]]
    need(len(bounds) == len(proof.changes), "there is not one bound for each change")
    largest, within = read(stated["largest"]), proof.prices[3]
    need(all(at_most(bound, largest) for bound in bounds), "a bound is above the largest")
    for change, bound in zip(proof.changes, bounds, strict=True):
        times = Fraction(1) if proof.is_single else Fraction(1 if within is None else within, change["price"])
        case = _worst(change, proof)
        seen = bound.infinite or _divergence(chosen, proof.rate)(case, times, bound)
        need(seen, f"d_Pr of a change that moves {sum(case.values())} answers is above {bound}")
    return f"d_Pr of each of {len(bounds)} kinds of change, at most {stated['largest']}"


def _worst(change: JsonTable, proof: _Proven) -> Moves:
    """The answers that a change moves; of groups of views the case with the largest loss of each."""
    if change["times"] or change["members"]:
        raise UnknownFormula("members that change one after the other are not known here")
    moves = proof.moves(change["moves"])
    kind = proof.claim["output_divergence"]["type"]
    for cases in change["groups"]:
        if kind not in _LOSSES or proof.rate < 1:
            raise UnknownFormula("views are composed by a rule that is not known here")
        listed = [proof.moves(case) for case in cases]
        losses = [_LOSSES[kind](case) for case in listed]
        worst = next(case for case, loss in zip(listed, losses, strict=True) if all(at_most(other, loss) for other in losses))
        moves = moves + worst
    return moves


def _law(noise: str) -> JsonTable:
    found: JsonTable = json.loads(noise)
    return found


def _pure(case: Moves) -> ExactValue:
    """The largest log-likelihood ratio: |shift| times the decay of each Laplace or geometric noise."""
    parts = []
    for (noise, shift), times in case.items():
        law = _law(noise)
        if isinstance(law, list):
            parts.append((Fraction(times), _of_two(law)))
        elif law["family"] in ("LaplaceLaw", "TwoSidedGeometricLaw"):
            parts.append((Fraction(abs(shift) * times), read(law["decay"])))
        elif law["family"] in ("GaussianLaw", "DiscreteGaussianLaw"):
            return ExactValue(infinite=True)
        else:
            raise UnknownFormula(f"noise of the family {law['family']} is not known here")
    if any(value.root for _, value in parts):
        raise UnknownFormula("a sum of roots has no exact form here")
    return linear(parts)


def _of_two(laws: Any) -> ExactValue:
    """The largest log-ratio of two laws on finitely many outcomes."""
    if {law["family"] for law in laws} != {"FiniteLaw"} or set(laws[0]["weights"]) != set(laws[1]["weights"]):
        raise UnknownFormula("two laws on other outcomes are not known here")
    sums = [sum(map(Fraction, law["weights"].values())) for law in laws]
    one, other = ({t: Fraction(w) / whole for t, w in law["weights"].items()} for law, whole in zip(laws, sums, strict=True))
    return read(f"ln({max(max(one[t] / other[t], other[t] / one[t]) for t in one)})")


def _concentrated(case: Moves) -> ExactValue:
    """rho: shift^2 / (2 variance) of each Gaussian, discrete or not (Canonne, Kamath and Steinke 2020, Proposition 5)."""
    parts = []
    for (noise, shift), times in case.items():
        law = _law(noise)
        family = "" if isinstance(law, list) else law["family"]
        if family == "DiscreteGaussianLaw":
            parts.append((Fraction(shift**2 * times, 2) / fraction(law["variance"]), ExactValue(Fraction(1))))
        elif family == "GaussianLaw":
            parts.append((Fraction(shift**2 * times, 2), read(law["accuracy"])))
        else:
            raise UnknownFormula(f"the concentration of noise of the family {family} is not known here")
    if any(value.root for _, value in parts):
        raise UnknownFormula("a sum of roots has no exact form here")
    return linear(parts)


_LOSSES: dict[str, Callable[[Moves], ExactValue]] = {"mult": _pure, "d-nor": _concentrated}
"""What adds up over independent answers."""

Shown = Callable[[Moves, Fraction, ExactValue], bool]
"""Whether a number of times d_Pr of a case is seen to be at most a bound."""


def _divergence(chosen: JsonTable, rate: Fraction) -> Shown:
    kind = chosen["type"]
    if rate < 1 and kind not in ("mult", "mult-delta"):
        raise UnknownFormula(f"{kind} of a sample is not known here")
    if kind == "mult":
        return _mult if rate == 1 else _mult_of_sample(rate)
    if kind == "d-nor":
        return _d_nor
    if kind == "renyi":
        order = fraction(chosen["order"])
        return lambda case, times, bound: _once(times) and _renyi(case, order, bound)
    if kind == "mult-delta":
        delta = fraction(chosen["delta"])
        return lambda case, times, bound: _once(times) and _excess_below(case, bound, ExactValue(delta), rate)
    if kind == "hockey-stick":
        return lambda case, times, bound: _once(times) and _excess_below(case, read(chosen["epsilon"]), bound, rate)
    raise UnknownFormula(f"the output divergence {kind} is not known here")


def _mult(case: Moves, times: Fraction, bound: ExactValue) -> bool:
    loss = _pure(case)
    return at_most(loss if loss.infinite else linear([(times, loss)]), bound)


def _d_nor(case: Moves, times: Fraction, bound: ExactValue) -> bool:
    root = attrs.evolve(_concentrated(case), root=True)
    scaled = product(ExactValue(times), root)
    return scaled is not None and at_most(scaled, bound)


def _mult_of_sample(rate: Fraction) -> Shown:
    """ln(1 + q (e^L - 1)) (Balle, Barthe and Gaboardi 2018, Theorem 9)."""

    def shown(case: Moves, times: Fraction, bound: ExactValue) -> bool:
        loss = _pure(case)
        ratio = exponential(loss)
        if ratio is not None:
            return at_most(linear([(times, read(f"ln({1 + rate * (ratio - 1)})"))]), bound)
        if loss.infinite:
            return False

        def sampled() -> arb:
            return rational(times) * (1 + rational(rate) * (loss.ball().exp() - 1)).log()

        return _decided(lambda: sampled() < bound.ball(), lambda: sampled() > bound.ball())

    return shown


def _renyi(case: Moves, order: Fraction, bound: ExactValue) -> bool:
    """The sum over the answers (van Erven and Harremoes 2014, Theorem 28): order times rho for Gaussians, and for P, Q of decay u
    a shift of c apart, with a the order, the logarithm of the sum of P^a Q^(1-a) over a - 1, where for Laplace noise it is
    a/(2a-1) e^((a-1) u c) + (a-1)/(2a-1) e^(-a u c) (Mironov 2017, Proposition 6), for geometric noise a sum of c + 1 terms.
    """
    gaussian = Counter({move: times for move, times in case.items() if "Gaussian" in move[0]})
    others = [(_law(noise), abs(shift), times) for (noise, shift), times in (case - gaussian).items()]
    exact = linear([(order, _concentrated(gaussian))])
    if not others:
        return at_most(exact, bound)
    if any(isinstance(law, list) or law["family"] not in ("LaplaceLaw", "TwoSidedGeometricLaw") for law, _, _ in others):
        raise UnknownFormula("the Renyi divergence of some noise is not known here")
    a = rational(order)

    def single(law: JsonTable, shift: int) -> arb:
        decay = read(law["decay"]).ball()
        ends = ((a - 1) * decay * shift).exp(), (-a * decay * shift).exp()
        if law["family"] == "LaplaceLaw":
            return (a * ends[0] + (a - 1) * ends[1]) / (2 * a - 1)
        ratio = (-decay).exp()
        inner = sum(((-decay * (a * k + (1 - a) * (shift - k))).exp() for k in range(1, shift)), arb(0))
        return ((ends[0] + ends[1]) / (1 - ratio) + inner) * (1 - ratio) / (1 + ratio)

    def every() -> arb:
        return exact.ball() + sum((times * single(law, c).log() for law, c, times in others), arb(0)) / (a - 1)

    return _decided(lambda: every() < bound.ball(), lambda: every() > bound.ball())


def _decided(holds: Callable[[], bool], fails: Callable[[], bool]) -> bool:
    """A strict comparison of balls; what no precision decides is not known."""
    if surely(holds, fails):
        return True
    if surely(fails):
        return False
    raise UnknownFormula("the bound is met so closely that no precision decides it")


def _once(times: Fraction) -> bool:
    if times != 1:
        raise UnknownFormula("bounds of this output divergence do not add up")
    return True


def _excess_below(case: Moves, loss: ExactValue, delta: ExactValue, rate: Fraction) -> bool:
    """Whether P(S) <= e^loss Q(S) + delta for all S, in both directions, at a rate of sampling.

    The mixture (1 - q) P + q Q of what is released without and with the record: against P it is q times the excess of Q over P
    at 1 + (e^loss - 1)/q (Balle, Barthe and Gaboardi 2018, Theorem 2), and P against it is a times that at e^loss q/a, with
    a = 1 - e^loss (1 - q), none where a is not positive.
    """
    if not case or loss.infinite or (delta == ExactValue() and at_most(_pure(case), loss) and rate == 1):
        return True
    if (
        rate == 1
        and case.total() == 1
        and "LaplaceLaw" in next(iter(case))[0]
        and delta.plain < 1
        and not (delta.logs or delta.root)
    ):
        least = linear([(Fraction(1), _pure(case)), (Fraction(-2), read(f"ln({1 / (1 - delta.plain)})"))])
        return at_most(least, loss)  # 1 - e^((loss - pure)/2) is at most delta from here on
    exact = _exact_excess(case, loss) if rate == 1 else None
    if exact is not None:
        return at_most(ExactValue(max(exact, Fraction(0))), delta)
    excess = _excess(case)

    def forward() -> arb:
        return rational(rate) * excess((1 + (loss.ball().exp() - 1) / rational(rate)).log())

    def backward() -> arb:
        left = 1 - loss.ball().exp() * rational(1 - rate)
        if left > 0:
            return left * excess((loss.ball().exp() * rational(rate) / left).log())
        return arb(0) if left < 0 or rate == 1 else left.abs_upper()

    return _decided(
        lambda: forward() < delta.ball() and (rate == 1 or backward() < delta.ball()),
        lambda: forward() > delta.ball() or (rate < 1 and backward() > delta.ball()),
    )


def _excess(case: Moves) -> Callable[[arb], arb]:
    """sup over S of P(S) - e^loss Q(S), as a function of the loss."""
    laws = [_law(noise) for noise, _ in case]
    families = {"" if isinstance(law, list) else law["family"] for law in laws}
    if families == {"GaussianLaw"}:  # Balle and Wang 2018, Theorem 8
        rho = _concentrated(case)

        def gaussian(loss: arb) -> arb:
            mu = (2 * rho.ball()).sqrt()
            return _below(mu / 2 - loss / mu) - loss.exp() * _below(-mu / 2 - loss / mu)

        return gaussian
    if families == {"LaplaceLaw"} and case.total() == 1:
        pure = _pure(case)

        def laplace(loss: arb) -> arb:
            rest = 1 - ((loss - pure.ball()) / 2).exp()
            return rest.nonnegative_part()

        return laplace
    if families == {"TwoSidedGeometricLaw"} and case.total() == 1:  # the best event is a cut {X <= k}, by the monotone ratio
        ((_, shift),) = case
        decay = read(laws[0]["decay"])

        def geometric(loss: arb) -> arb:
            return functools.reduce(
                lambda one, other: one.max(other), _cuts((-decay.ball()).exp(), loss.exp(), abs(shift)), arb(0)
            )

        return geometric
    raise UnknownFormula(f"the excess of {case.total()} answers with noise of {', '.join(sorted(families))} is not known here")


def _cuts(ratio: Any, factor: Any, shift: int) -> list[Any]:
    """P(X <= k) - factor Q(X <= k) for two geometric laws of a ratio, at a distance, and every k between their centers."""

    def upto(k: int) -> Any:
        return 1 - ratio ** (k + 1) / (1 + ratio) if k >= 0 else ratio**-k / (1 + ratio)

    return [upto(k) - factor * upto(k - shift) for k in range(shift)]


def _exact_excess(case: Moves, loss: ExactValue) -> Fraction | None:
    """The same where it is a rational number: of one geometric answer, with e^decay and e^loss rational."""
    law = _law(next(iter(case))[0])
    if isinstance(law, list) or law["family"] != "TwoSidedGeometricLaw" or case.total() > 1:
        return None
    ratio, factor = exponential(read(law["decay"])), exponential(loss)
    if ratio is None or factor is None:
        return None
    return max(_cuts(1 / ratio, factor, abs(next(iter(case))[1])), default=Fraction(0))


def _below(value: arb) -> arb:
    """The standard normal distribution function."""
    return (-value / arb(2).sqrt()).erfc() / 2


# --- the other steps -----------------------------------------------------------------------------


def _sample(proof: _Proven) -> str:
    rate, (_, replaced, added, within) = proof.rate, proof.prices
    need(0 <= rate <= 1, "the rate is no probability")
    need(added is not None and (within is None or within < replaced), "sampled records are added or removed, not replaced")
    return f"a record takes part with probability {rate}"


def _path(proof: _Proven) -> str:
    kind = proof.claim["output_divergence"]["type"]
    need("path" in proof.steps, "the step is missing: more than one record may change")
    need(proof.steps["path"]["metric"] == kind, f"the claim is about {kind}")
    need(kind in METRICS, f"{kind} is not known to obey the triangle inequality")
    return f"{kind} obeys the triangle inequality"


def _post_process(proof: _Proven) -> str:
    for fact in proof.steps["post-process"]["reads"]:
        if not isinstance(fact, dict):
            raise UnknownFormula(f"{fact} is no table of counts")
        seen = determined({"type": "marginal", **fact}, proof.invariants, proof.claim["space"])
        need(seen, f"nothing is seen to fix {_told(fact)}")
    return f"{len(proof.steps['post-process']['reads'])} facts are fixed by the invariants"


def _budget(proof: _Proven) -> str:
    kind, budget = proof.claim["output_divergence"]["type"], proof.claim["budget"]
    keys = {key for row in budget.get("universe", [budget]) for key in row} - {"label"}
    if "type" not in budget and keys != {BUDGETS.get(kind, "")}:
        raise UnknownFormula(f"the budget of {kind} is not known here")
    need(proof.outcome == "verified", f"the verdict is {proof.outcome}")
    largest, least = read(proof.steps["noise"]["largest"]), least_and_most(proof.claim)[0]
    need(at_most(largest, least), f"{largest} is not seen to be at most {least}")
    return f"{proof.steps['noise']['largest']} is within the budget"


_STEPS: dict[str, Callable[[_Proven], str]] = {
    "sensitivity": _sensitivity, "noise": _noise_step, "sample": _sample, "path": _path, "post-process": _post_process,
    "budget": _budget,
}  # fmt: skip
