"""An independent checker of proofs of claims: each step is computed anew from the data of a verdict, by code of its own.

The premises are the claim, as the text of a specification, and how the mechanism is made, as its views. From these

* *sensitivity*: the records are cut down to a few categories of each attribute (those that a condition names, all where they are
  listed, and two more below each coarser one), every pair of them is checked, and the counts that it changes must be among the
  changes that the proof lists. The tables that a pair preserves are encoded by three bits for each table (counted before, counted
  after, same cell), and the bits of attributes that do not lie in each other are joined by "and", so that no product is ever
  listed;
* *noise*: d_Pr of every listed change, by closed forms;
* *sample*, *path*, *post-process* and the budget: the hypotheses of the theorems.

What is not known here is *not rechecked*, and said so; it never counts as true.
"""

from __future__ import annotations

import functools
import itertools
import json
import math
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

import attrs

from dpspec_checker.check import CheckedStep, blocks_of, typed
from dpspec_checker.errors import CheckerError, DerivationFileError
from dpspec_checker.json_files import read_json
from dpspec_checker.noise import (
    LOSSES,
    NEVER,
    SURE,
    ExponentialQuotient,
    Moves,
    divergence_below,
    noise_text,
    pair_text,
    response,
    sketch_pair,
    two_laws,
)
from dpspec_checker.numbers import ExactValue, JsonTable, Rejected, UnknownFormula, at_most, fraction, linear, need, product, read
from dpspec_checker.pairs import METRICS
from dpspec_checker.statements import (
    EXIT_CODES,
    SpecificationFile,
    StatedVerdict,
    believed,
    check_constant,
    check_order,
    check_pair,
    check_scope,
    check_words,
    need_known,
    unknown_keys,
    worst_code,
)
from dpspec_checker.tied_parts import Collection, TiedParts, TooManyError, covers, in_groups
from dpspec_checker.universes import (
    FewRecords,
    attribute_size,
    counted_members,
    determined,
    least_and_most,
    member_part,
    most_distinguishing,
    need_nested,
    need_table,
    shifts_of_members,
    table_text,
    value_range,
)

RECHECKED, NOT_RECHECKED, WRONG = "rechecked", "not rechecked", "wrong"


UNPROVED = "file without a proof, not checked"
"""How the line begins that names a file of the same output of which nothing was checked."""
MOST_MOVES = 200_000
"""Larger records that change their members in more ways than this are not looked through."""

_UNREADABLE = (KeyError, TypeError, ValueError, ArithmeticError, AttributeError, IndexError, StopIteration)
"""What comes of data that is not of the shape of a proof."""

BUDGETS = {
    "mult": "epsilon", "mult-delta": "epsilon", "d-nor": "rho", "renyi": "epsilon", "hockey-stick": "delta",
    "total-variation": "distance",
}  # fmt: skip
"""How the budget of an output divergence is named, where it is its Lipschitz constant (the root of it for d-nor)."""


@attrs.frozen(kw_only=True)
class RecheckedProof:
    """The result of the checker for one proof.

    Args:
        name: the file and the obligation that it is about.
        steps: each step, and what the verdict states in addition to them: rechecked, not rechecked, or wrong.
        believed: what the proof rests on and was not checked, one line each.
    """

    name: str
    steps: tuple[CheckedStep, ...]
    believed: tuple[str, ...] = ()

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
    files = [_table(row, "files") for row in typed(data, "files", list)]
    found = [proof for row in files for proof in _proofs_of(row, Path(path).parent)]
    if not found:
        raise DerivationFileError("files", "hold no proof", "verify files whose claims are derived", value=str(path))
    run = _attempt("exit code", lambda: _exit_code(data))
    unknown = (*unknown_keys("run", data), *(f"{UNPROVED}: {text}" for text in _without_proof(files)))
    return tuple(attrs.evolve(proof, steps=(*proof.steps, run), believed=(*proof.believed, *unknown)) for proof in found)


def _without_proof(files: Sequence[JsonTable]) -> list[str]:
    """The files of which no obligation has a proof, with the outcome that is stated of each."""
    proved = (any((one.get("verdict") or {}).get("proof") for one in row.get("obligations") or ()) for row in files)
    unproved = [row for row, has_proof in zip(files, proved, strict=True) if not has_proof]
    return [" ".join(f"{row.get('path')} ({row.get('outcome')})".split()) for row in unproved]


def _table(row: Any, where: str) -> JsonTable:
    if not isinstance(row, dict):
        raise DerivationFileError(where, "must hold tables only")
    return row


def _exit_code(data: JsonTable) -> str:
    """The exit code is that of the worst file, or 0 where what is left was accepted."""
    codes = [EXIT_CODES[row["outcome"]] for row in data["files"]]
    needed, given = worst_code(codes), data["exit_code"]
    accepted = given == 0 and set(codes) <= {0, 3, 5, 6, 7}
    need(type(given) is int and (given == needed or accepted), f"the exit code is {given}, and that of the files {needed}")
    need(data["format"] == 1, "the format is not known here")
    return f"exit code {given}"


def _proofs_of(row: JsonTable, beside: Path) -> list[RecheckedProof]:
    """The proofs of one file, each with what the file has to say of it."""
    obligations = [_table(one, "obligations") for one in row.get("obligations") or ()]
    proved = [one for one in obligations if _table(one.get("verdict") or {}, "verdict").get("proof")]
    for one in proved:
        for step in typed(one["verdict"], "proof", list):
            typed(_table(step, "proof"), "step", str)
    if not proved:
        return []
    others = [f"{one.get('name')}: {one.get('outcome')}" for one in obligations if one not in proved]
    try:
        file: SpecificationFile | UnknownFormula | Rejected = SpecificationFile.found(row.get("path"), beside)
    except (UnknownFormula, Rejected) as problem:
        file = problem

    def of_file(check: Callable[[SpecificationFile], str]) -> str:
        if isinstance(file, Exception):
            raise file
        return check(file)

    whole = [
        _attempt("file", lambda: of_file(lambda found: found.check_title(row))),
        _attempt("outcome", lambda: of_file(lambda found: found.check_outcome(row))),
    ]
    found = []
    for one in proved:
        claim = _attempt(
            "claim",
            lambda one=one: of_file(lambda file: file.check_claim(one, blocks_of(one["claim"], "claim"))),  # type: ignore[misc]
        )
        steps = (*check_proof(one), *whole, claim)
        lines = (*believed(one), *_not_checked(steps), *unknown_keys("file", row))
        lines += tuple(f"without a proof, not checked: {other}" for other in others)
        found.append(RecheckedProof(name=f"{row.get('path')}: {one.get('name')}", steps=steps, believed=lines))
    return found


def _not_checked(steps: Sequence[CheckedStep]) -> list[str]:
    """The steps that are not rechecked, by their names: they are assumptions of the proof."""
    return [f"{step.rule}, not checked: {step.reason}" for step in steps if step.status == NOT_RECHECKED]


def check_proof(obligation: JsonTable) -> tuple[CheckedStep, ...]:
    """Check the steps of one proof, that they show the claim, and what the verdict states in addition.

    Args:
        obligation: an obligation of a file, as `dpspec verify --format json` writes it.
    """
    rows: list[JsonTable] = obligation["verdict"]["proof"]
    names = [row.get("step", "") for row in rows]
    if not isinstance(obligation.get("claim"), str):
        return tuple(CheckedStep(rule=name, status=NOT_RECHECKED, reason="the claim has no form in a file") for name in names)
    if names[:2] != ["sensitivity", "noise"] or len(set(names)) < len(names):
        status, reason = _of_another_kind(names)
        return tuple(CheckedStep(rule=name, status=status, reason=reason) for name in names)
    steps = {row["step"]: row.get("data") for row in rows}
    proof = _Proven(claim=blocks_of(obligation["claim"], "claim"), steps=steps, outcome=str(obligation["verdict"].get("outcome")))

    stated = StatedVerdict(claim=proof.claim, steps=steps, obligation=obligation)
    further = {
        "constant": lambda: check_constant(stated), "pair": lambda: check_pair(stated, proof.views, proof.rate),
        "scope": lambda: check_scope(stated),
        "order": lambda: check_order(names), "words": lambda: check_words(rows),
    }  # fmt: skip
    checked = [_checked(name, proof) for name in [*names, *(["path"] if proof.lacks_path else []), "budget"]]
    return (*checked, *(_attempt(name, check) for name, check in further.items()))


def _of_another_kind(names: list[str]) -> tuple[str, str]:
    """What is said of the steps of a proof that is none from views."""
    if names == ["theorem"]:
        return NOT_RECHECKED, "the theorem is not known here"
    if names[:1] == ["structure"]:
        return NOT_RECHECKED, "it is read off code, which is not in this file"
    return WRONG, "no proof from views begins so"


def _checked(name: str, proof: _Proven) -> CheckedStep:
    def check() -> str:
        if name not in _STEPS:
            raise UnknownFormula("the step is not known here")
        if name in proof.steps:
            need_known(name, proof.steps[name])
        return _STEPS[name](proof)

    return _attempt(name, check)


def _attempt(name: str, check: Callable[[], str]) -> CheckedStep:
    """What becomes of a check."""
    try:
        return CheckedStep(rule=name, status=RECHECKED, reason=check())
    except Rejected as problem:
        return CheckedStep(rule=name, status=WRONG, reason=str(problem))
    except UnknownFormula as problem:
        return CheckedStep(rule=name, status=NOT_RECHECKED, reason=str(problem))
    except (*_UNREADABLE, CheckerError) as problem:
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
        if "sample" not in self.steps:
            return Fraction(1)
        if "size" in self.steps["sample"]:
            raise UnknownFormula("a sample of a fixed size is not known here")
        if "rates" in self.steps["sample"]:
            raise UnknownFormula("samples that views draw by themselves are not known here")
        return fraction(self.steps["sample"]["rate"])

    @property
    def is_single(self) -> bool:
        """Whether neighbours differ by one change only."""
        within = self.prices[3]
        if self.in_groups:
            return within is not None
        return (
            within is not None
            and 2 * min((price for price, is_added in self.kinds if self.is_possible(is_added=is_added)), default=within) > within
        )

    @property
    def is_one_change(self) -> bool:
        """Whether neighbours cannot afford two changes, whatever the tables allow."""
        within = self.prices[3]
        return within is not None and 2 * min((price for price, _ in self.kinds), default=within) > within

    @property
    def in_groups(self) -> bool:
        """Whether several records change in their places at once."""
        by_record = any(view["kind"] in BY_RECORD for view in self.views)
        return by_record and not self.is_one_change and any(change["price"] > 1 for change in self.changes)

    @cached_property
    def seen(self) -> dict[bool, list[list[str]]]:
        """For records replaced, and added: what becomes of one in each view, for every pair that keeps the tables."""
        space, unit, kept = self.claim["space"], self.prices[0], list(self.sensitivity["kept"])
        records = FewRecords.of(space, unit, [*(view["table"] for view in self.views), *kept])
        parts = [*(records.own_part(view["table"]) for view in self.views), *kept]
        if not self.is_one_change and not self.in_groups:  # several keep the tables one by one only where cells are nested
            need_nested(records, kept)
        found: dict[bool, list[list[str]]] = {False: [], True: []}
        for _, is_added in self.kinds:
            for state in records.states(parts, is_added=is_added):
                sides = [_relation(*(bool(bits >> place & 1) for bits in state)) for place in range(len(parts))]
                if all(side in ("stays", "outside") for side in sides[len(self.views) :]):
                    found[is_added].append(sides[: len(self.views)])
        return found

    @property
    def by_parts(self) -> bool:
        """Whether all views count the records that change themselves, so that tied parts of what they read are independent."""
        return not self.in_groups and all(view["table"]["unit"] == self.prices[0] for view in self.views)

    @property
    def only_largest(self) -> bool:
        """Whether the proof lists the largest changes, and not every one."""
        return bool(self.sensitivity.get("largest_only", False))

    @property
    def has_situations(self) -> bool:
        """Whether some view may see one change in several ways, of which the largest are listed."""
        space = self.claim["space"]
        return any(
            len(view_answers(view, how, space)) > 1 for view in self.views if view["kind"] not in BY_RECORD for how in _SHIFTS
        )

    @cached_property
    def joined(self) -> dict[bool, TiedParts]:
        """For records replaced, and added: the tables that read them."""
        space, unit, kept = self.claim["space"], self.prices[0], list(self.sensitivity["kept"])
        tables = [*(view["table"] for view in self.views), *kept]
        records = FewRecords.of(space, unit, tables)
        if not self.is_one_change:
            need_nested(records, kept)
        answers = functools.cache(lambda place, how: view_answers(self.views[place], how, space))
        return {
            is_added: TiedParts(
                records=records, tables=tables, views=len(self.views), answers=answers, is_added=is_added,
                only_largest=self.only_largest,
            )
            for _, is_added in self.kinds
        }  # fmt: skip

    @cached_property
    def tied(self) -> dict[bool, tuple[list[set[Collection]], bool]]:
        """For records replaced, and added: what each tied part moves, and whether that is so, or a bound from each view alone."""
        found = {}
        for is_added, parts in self.joined.items():
            try:
                found[is_added] = parts.parts(), True
            except TooManyError:
                if not self.only_largest:
                    raise UnknownFormula("a tied part has too many kinds of change to list each of them") from None
                found[is_added] = parts.each_view_alone(), False
        return found

    def is_possible(self, *, is_added: bool) -> bool:
        """Whether some record may be replaced, or added, so that the tables are kept."""
        return all(self.tied[is_added][0]) if self.by_parts else bool(self.seen[is_added])

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
            if view["kind"] not in (*COUNTING, *BY_RECORD):
                raise UnknownFormula(f"a view of kind {view['kind']} is not known here")
            need(Fraction(view.get("noise", {}).get("center", 0)) == 0, "the noise of a view is not centered at 0")
            need_table(view["table"], self.claim["space"])
            table = {"type": "marginal", **view["table"]}
            bare = view["kind"] in COUNTING and "contributions" not in view
            if view["fixed"] is False:
                moving.append(view)
                continue
            if not (bare and self.rate == 1 and determined(table, self.invariants, self.claim["space"])):
                raise UnknownFormula(f"a view of {table_text(table)} is said to be fixed, which is not seen")
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


def _answer(before: JsonTable, after: JsonTable) -> tuple[str, int]:
    if "center" not in before:
        return two_laws(before, after), 0
    need(noise_text(before) == noise_text(after), "an answer changes its noise")
    shift = Fraction(after["center"]) - Fraction(before["center"])
    if shift.denominator > 1:
        raise UnknownFormula("answers that move by fractions are not known here")
    return noise_text(before), int(shift)


# --- sensitivity ---------------------------------------------------------------------------------


def _sensitivity(proof: _Proven) -> str:
    """Every change that keeps the tables is among those that are listed."""
    stated, prices = proof.sensitivity, proof.prices
    need((stated["unit"], stated["replaced"], stated["added"], stated["within"]) == prices, f"the prices are {prices[1:]}")
    for change in proof.changes:
        kind = change["price"], change["added"]
        need(
            isinstance(kind[1], bool) and (kind in proof.kinds or (proof.in_groups and not kind[1])),
            f"no change that neighbours can afford costs {kind[0]}",
        )
    unit, kept = prices[0], list(stated["kept"])
    for table in kept:
        seen = determined({"type": "marginal", **table}, proof.invariants, proof.claim["space"]) and table["unit"] == unit
        need(seen, f"{table_text(table)} is not seen to be invariant")
    in_place = [view for view in proof.views if view["kind"] in BY_RECORD]
    if in_place:
        kind = proof.claim["input_divergence"]
        ordered = kind.get("relation", kind.get("of", kind))["type"] in ("hamming-ordered", "differ-in-one-position")
        need(ordered and (proof.is_one_change or proof.in_groups or not kept), "records are answered for in their places")
    need(proof.rate == 1 or not kept, "records of a sample are not counted by an invariant")
    own = [view for view in proof.views if view["table"]["unit"] == unit]
    inner = [view for view in proof.views if view["table"]["unit"] != unit]
    need(not any("contributions" in view for view in own), "which records are counted depends on others")
    if inner and (unit, {view["table"]["unit"] for view in inner}) != ("household", {"person"}):
        raise Rejected(f"records of the unit {unit} do not determine those of {table_text(inner[0]['table'])}")
    if proof.in_groups:
        return _in_places(proof)
    if proof.by_parts:
        return _by_parts(proof)
    for _, is_added in proof.kinds:
        if any(change["times"] for change in proof.changes if change["added"] is is_added):
            _one_by_one(proof, own, inner, is_added=is_added)
            continue
        listed = _Listed.of(proof, is_added=is_added)
        for sides in proof.seen[is_added]:
            moved = list(zip(proof.views, sides, strict=True))
            seen = [view_answers(view, how, proof.claim["space"]) for view, how in moved if view in own]
            at_once: Moves = sum((cases[0] for cases in seen if len(cases) == 1), Counter())
            members = _of_members([(view, how) for view, how in moved if view in inner], proof.claim["space"])
            listed.hold(at_once, [*(cases for cases in seen if len(cases) > 1), *members])
    every = sum(map(len, proof.seen.values()))
    return f"each of {every} kinds of change is among the {len(proof.changes)} that are listed"


def _by_parts(proof: _Proven) -> str:
    """Every change is listed, or where the largest are, one that covers it, or one by groups that covers each tied part."""
    count = 0
    if "largest_only" in proof.sensitivity:
        stated = proof.sensitivity["tied"]
        need(proof.sensitivity["largest_only"] is True, "it is not said whether smaller changes are left out")
        need(type(stated["patterns"]) is int and type(stated["attributes"]) is int, "the largest tied part has no size")
        tied = max(parts.attributes() for parts in proof.joined.values())
        need(stated["attributes"] >= tied, f"a tied part has {tied} attributes")
    for _, is_added in proof.kinds:
        parts, is_exact = proof.tied[is_added]
        count += sum(map(len, parts))
        if not all(parts):
            continue
        listed = _Listed.of(proof, is_added=is_added)
        groups = [[[frozenset(case.items()) for case in group] for group in change] for change in listed.grouped]
        if groups:
            need(proof.only_largest, "views that count the record itself are composed where the largest changes are listed")
        if any(in_groups(parts, one) for one in groups):
            continue
        whole = TiedParts(
            records=FewRecords([], frozenset()), tables=[], views=0, answers=lambda *_: [], is_added=is_added,
            only_largest=proof.only_largest,
        )  # fmt: skip
        try:
            sums = whole.together(parts)
        except TooManyError:
            raise UnknownFormula("the tied parts have too many kinds of change together") from None
        covered = proof.only_largest or proof.has_situations
        for one in sums:
            if not one or one in listed.exact or (covered and any(covers(other, one) for other in listed.exact)):
                continue
            if not is_exact:
                raise UnknownFormula("a tied part is too large to see whether all of its changes are listed")
            need(False, f"a change is not listed that moves {sum(times for _, times in one)} answers")
    return f"each of {count} kinds of change in tied parts is among the {len(proof.changes)} that are listed"


def _in_places(proof: _Proven) -> str:
    """Records that change in their places, of which those that break an invariant never come alone.

    Under a limit of the number of places, all that change at once are listed. Without one, those that keep the tables are listed
    one by one, and all in twos and threes, to which any number from two on adds up.
    """
    space, unit, within = proof.claim["space"], proof.prices[0], proof.prices[3]
    need(all(view["kind"] in BY_RECORD for view in proof.views), "some records are counted, not answered for in their places")
    need(
        all(change[key] in (0, []) for change in proof.changes for key in ("times", "members", "groups")),
        "nothing lies in a place",
    )
    listed = {(change["price"], frozenset(proof.moves(change["moves"]).items())) for change in proof.changes}
    tables = [view["table"] for view in proof.views]
    records = FewRecords.of(space, unit, tables)
    every = {
        frozenset(_at_once([
            (view, _relation(*(bool(bits >> place & 1) for bits in state))) for place, view in enumerate(proof.views)
        ], space).items())
        for state in records.states(tables, is_added=False)
    }  # fmt: skip
    for sides in proof.seen[False] if within is None else ():
        one = _at_once(list(zip(proof.views, sides, strict=True)), space)
        need((1, frozenset(one.items())) in listed, "a change that keeps the tables is not listed")
    for size in (2, 3) if within is None else (within,):
        for chosen in itertools.combinations_with_replacement(every, size):
            together = sum((Counter(dict(one)) for one in chosen), Counter[tuple[str, int]]())
            need((size, frozenset(together.items())) in listed, f"a change of {size} records is not listed")
    return f"{len(every)} kinds of change of one record, and all that change together, are among the {len(proof.changes)} listed"


def _relation(before: bool, after: bool, same: bool) -> str:
    """What becomes of a record in a table, from the bits: counted before, counted after, in the same cell."""
    if not before and not after:
        return "outside"
    return "comes" if not before else "goes" if not after else "stays" if same else "moves"


def _at_once(moved: list[tuple[JsonTable, str]], space: JsonTable) -> Moves:
    """The answers of views that count the record itself, where a change of a cell has one outcome only."""
    found: Moves = Counter()
    for view, how in moved:
        cases = view_answers(view, how, space)
        if len(cases) > 1:
            raise UnknownFormula(f"a view of kind {view['kind']} together with members that change one by one is not known here")
        found += cases[0]
    return found


def _one_by_one(proof: _Proven, own: list[JsonTable], inner: list[JsonTable], *, is_added: bool) -> None:
    """Households whose members change one after the other: what each of them does is listed, and they are as many as may be.

    The members counted before are paired with those counted after, and the rest are added or removed: no more steps than are
    counted at most, each of which moves what one member moves. Reflected shifts have the same d_Pr. Where the largest changes are
    listed only, one of them covers both what the household moves and what each member moves.
    """
    space, kept = proof.claim["space"], list(proof.sensitivity["kept"])
    need(proof.claim["output_divergence"]["type"] in METRICS, "bounds for single members add up for metrics only")
    if len({json.dumps(view.get("contributions", []), sort_keys=True) for view in inner}) != 1:
        raise UnknownFormula("views count different members")
    most = max(counted_members(view, member_part(view["table"], space), space)[1] for view in inner)
    listed = [
        (proof.moves(change["moves"]), proof.moves(change["members"])) for change in proof.changes
        if change["added"] is is_added and change["times"] >= most and not change["groups"]
    ]  # fmt: skip
    exact = {(frozenset(once.items()), frozenset(each.items())) for once, each in listed}
    held: set[tuple[Collection, Collection]] = set()
    tables = [*(view["table"] for view in own), *kept, *(view["table"] for view in inner)]
    first, last = len(own), len(own) + len(kept)
    for state in FewRecords.of(space, "person", tables).states(tables, is_added=is_added):
        sides = [tuple(bool(bits >> place & 1) for bits in state) for place in range(len(tables))]
        if any(_relation(*side) not in ("stays", "outside") for side in sides[first:last]):
            continue
        moved = [(view, _relation(*side)) for view, side in zip(own, sides[:first], strict=True)]
        once = frozenset(_at_once(moved, space).items())
        for before, after in ((True, True), (True, False), (False, True)):
            hows = [_relation(b and before, a and after, same) for b, a, same in sides[last:]]
            each = _at_once(list(zip(inner, hows, strict=True)), space)
            if (once, frozenset(each.items())) in held:
                continue
            turned = Counter({(noise, -shift): times for (noise, shift), times in each.items()})
            seen = any((once, frozenset(one.items())) in exact for one in (each, turned))
            seen = seen or (not each and (not once or any(once == known for known, _ in exact)))
            if not seen and proof.only_largest:
                seen = any(covers(known, once) and covers(all_of, frozenset(each.items())) for known, all_of in exact)
            need(seen, f"what one member moves is not listed: {sum(each.values())} answers")
            held.add((once, frozenset(each.items())))


def _of_members(moved: list[tuple[JsonTable, str]], space: JsonTable) -> list[list[Moves]]:
    """What the views of the members of a household may see, for each group of views that see the same."""
    groups: dict[str, tuple[str, JsonTable, list[JsonTable]]] = {}
    for view, how in moved:
        if view["kind"] != "NoisyCount":
            raise UnknownFormula(f"members seen by a view of kind {view['kind']} are not known here")
        if how == "outside":
            continue
        look = member_part(view["table"], space)
        key = json.dumps([look, view["table"]["where"], view.get("contributions", []), how], sort_keys=True)
        groups.setdefault(key, (how, look, []))[2].append(view)
    found = []
    for how, look, views in groups.values():
        cells, most, in_cell = counted_members(views[0], look, space)
        if in_cell < most and any(view.get("may_be_coarser") for view in views):
            raise UnknownFormula("members that are in different cells may be in one cell of the coarser table that is published")
        shifts = shifts_of_members(how, cells, most, in_cell)
        noises = [noise_text(view["noise"]) for view in views]
        found.append([Counter((noise, shift) for noise in noises for shift in one) for one in shifts])
    return found


BY_RECORD, COUNTING = ("Report", "CountMeanSketch"), (
    "NoisyCount", "NoisySum", "NoisyDistinct", "Chosen", "NoisyLargest", "FirstAboveThreshold", "ShownCounts",
)  # fmt: skip
"""Views that answer for each record in its place, and those that see the counts of cells."""

_SHIFTS = {"outside": (), "stays": (), "comes": (1,), "goes": (-1,), "moves": (-1, 1)}


def view_answers(view: JsonTable, how: str, space: JsonTable) -> list[Moves]:
    """What one record changes in the answers of a view that counts it: one or several cases, of which each may occur.

    A smaller shift of noise with a log-concave law, or no shift at all, can be simulated from a larger one and is left out.
    """
    shifts, kind = _SHIFTS[how], view["kind"]
    if kind in BY_RECORD:
        if how not in ("moves", "stays"):
            raise UnknownFormula("a record that is not answered for is not known here")
        return [Counter([(_two_report_laws(view, space), 0)] if how == "moves" else [])]
    if kind == "NoisyCount":
        return [Counter((noise_text(view["noise"]), shift) for shift in shifts)]
    if not shifts:
        return [Counter()]
    return _VIEWS[kind](view, shifts, space)


def _two_report_laws(view: JsonTable, space: JsonTable) -> str:
    """The laws of one report of two categories."""
    if view["kind"] == "Report":
        return two_laws(*view["laws"])
    size, hashes, distinguishing = attribute_size(space, view["table"]["attributes"][0]), view["hashes"], view["telling"]
    if distinguishing != len(hashes):  # the number of all functions is always a bound
        need(
            distinguishing >= most_distinguishing(hashes, view["width"], size), "more hash functions distinguish some categories"
        )
    return sketch_pair(read(view["epsilon"]), Fraction(distinguishing, len(hashes)))


def _sum_answers(view: JsonTable, shifts: tuple[int, ...], space: JsonTable) -> list[Moves]:
    """A record that comes adds a number of the range, one that goes takes one away."""
    low, high = (min(max(end, view["least"]), view["most"]) for end in value_range(view["table"], space))
    ends = [sign * end for sign in shifts for end in (low, high)]
    up, down = (high - low, low - high) if len(shifts) == 2 else (max(ends), min(ends))
    return [Counter({(noise_text(view["noise"]), by): 1} if by else {}) for by in (max(up, 0), min(down, 0))]


def _kind_answers(view: JsonTable, shifts: tuple[int, ...], _: JsonTable) -> list[Moves]:
    """A record that comes may be the first of its kind, one that goes the last."""
    noise = noise_text(view["noise"])
    return [Counter(), *(Counter({(noise, by): 1}) for by in shifts)]


def _chosen_answers(view: JsonTable, shifts: tuple[int, ...], space: JsonTable) -> list[Moves]:
    """Log-ratios lie within the rate times the span of the changes (McSherry and Talwar 2007)."""
    loss = linear([(Fraction(len(shifts)), read(view["rate"]))])
    cells = math.prod(attribute_size(space, name) for name in view["table"]["attributes"])
    need(view["cells"] == cells > 1, f"a choice is made among {cells} cells")
    return [Counter({(response(loss), 0): 1} if loss != ExactValue() else {})]


def _largest_answers(view: JsonTable, shifts: tuple[int, ...], space: JsonTable) -> list[Moves]:
    """For given noise of the others a cell is chosen from some threshold of its own noise on, which moves by the span of the
    changes at most; the density of the noise changes by e^rate for each count (Dwork and Roth 2014, Claim 3.9)."""
    if view["noise_name"] not in ("laplace", "exponential", "geometric"):
        raise UnknownFormula(f"the noise {view['noise_name']} is not known here")
    return _chosen_answers(view, shifts, space)


def _first_answers(view: JsonTable, shifts: tuple[int, ...], _: JsonTable) -> list[Moves]:
    """Given the noisy threshold, a count that moves by one changes the probability of an outcome by e^(1/query scale) at most."""
    loss = len(shifts) / fraction(view["query_scale"])
    return [Counter({(response(ExactValue(loss)), 0): 1})]


def _shown_answers(view: JsonTable, shifts: tuple[int, ...], _: JsonTable) -> list[Moves]:
    """A cell that changes is new or gone, or its noisy count moves (Korolova, Kenthapadi, Mishra and Ntoulas 2009)."""
    ratio, threshold = fraction(view["ratio"]), int(view["threshold"])
    need(0 < ratio < 1, "the ratio of the noise is not between 0 and 1")
    shown = ratio ** (threshold - 1) / (1 + ratio) if threshold > 1 else 1 - ratio ** (2 - threshold) / (1 + ratio)
    noise = noise_text({"family": "TwoSidedGeometricLaw", "decay": f"ln({1 / ratio})"})
    new = pair_text([(SURE, ExponentialQuotient.read(str(1 - shown))), (NEVER, ExponentialQuotient.read(str(shown)))])
    gone = pair_text([(ExponentialQuotient.read(str(1 - shown)), SURE), (ExponentialQuotient.read(str(shown)), NEVER)])
    each = [[Counter({(noise, by): 1}), Counter({(new if by > 0 else gone, 0): 1})] for by in shifts]
    return [sum(chosen, Counter()) for chosen in itertools.product(*each)]


_VIEWS: dict[str, Callable[[JsonTable, tuple[int, ...], JsonTable], list[Moves]]] = {
    "NoisySum": _sum_answers, "NoisyDistinct": _kind_answers, "Chosen": _chosen_answers, "NoisyLargest": _largest_answers,
    "FirstAboveThreshold": _first_answers, "ShownCounts": _shown_answers,
}  # fmt: skip


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
        if change["times"]:
            need(
                bound.infinite or _below_by_members(change, proof, times, bound), f"d_Pr of a change of members is above {bound}"
            )
            continue
        case = _worst(change, proof)
        seen = bound.infinite or divergence_below(chosen, proof.rate)(case, times, bound)
        need(seen, f"d_Pr of a change that moves {sum(case.values())} answers is above {bound}")
    return f"d_Pr of each of {len(bounds)} kinds of change, at most {stated['largest']}"


def _below_by_members(change: JsonTable, proof: _Proven, times: Fraction, bound: ExactValue) -> bool:
    """Whether d_Pr of what changes at once, composed with as many times that of one member, is at most a bound."""
    kind, number = proof.claim["output_divergence"]["type"], int(change["times"])
    if kind not in LOSSES or proof.rate < 1 or change["groups"]:
        raise UnknownFormula("members that change one after the other are not known here")
    once, each = (LOSSES[kind](proof.moves(change[key])) for key in ("moves", "members"))
    if once.infinite or each.infinite:
        return False
    loss = linear([(Fraction(1), once), (Fraction(number if kind == "mult" else number**2), each)])
    scaled = product(ExactValue(times), attrs.evolve(loss, root=kind == "d-nor"))
    return scaled is not None and at_most(scaled, bound)


def _worst(change: JsonTable, proof: _Proven) -> Moves:
    """The answers that a change moves; of groups of views the case with the largest loss of each."""
    if change["times"] or change["members"]:
        raise UnknownFormula("members that change one after the other are not known here")
    moves = proof.moves(change["moves"])
    kind = proof.claim["output_divergence"]["type"]
    for cases in change["groups"]:
        if kind not in LOSSES or proof.rate < 1:
            raise UnknownFormula("views are composed by a rule that is not known here")
        listed = [proof.moves(case) for case in cases]
        losses = [LOSSES[kind](case) for case in listed]
        worst = next(case for case, loss in zip(listed, losses, strict=True) if all(at_most(other, loss) for other in losses))
        moves = moves + worst
    return moves


# --- the other steps -----------------------------------------------------------------------------


def _sizes(proof: _Proven) -> str:
    """The numbers of records that bounds of single answers hold for are those that the space gives.

    They are records of the largest unit, all of them: of those that meet a condition, of members, and of samples, there may be
    none.
    """
    space, rows = proof.claim["space"], typed(proof.steps["sizes"], "records", list)
    need(bool(rows), "no number of records is stated")
    need("sample" not in proof.steps, "of the records of a sample there may be none")
    unit = "household" if space["type"] == "households" else space.get("unit", "person")
    if space["type"] not in ("records", "ordered-records", "households"):
        raise UnknownFormula(f"the numbers of records in a space of type {space['type']} are not known here")
    for row in rows:
        table, least, most = row["table"], row["least"], row["most"]
        views = [view for view in proof.sensitivity["views"] if view["table"] == table]
        need(any("contributions" not in view for view in views), "no view has the table")
        need(table["unit"] == unit, f"there may be any number of records of the unit {table['unit']}")
        for name, categories in table.get("where", {}).items():
            whole = len(set(categories)) == attribute_size(space, name)
            need(whole or not least, f"of the records with some categories of {name} there may be none")
        need(type(least) is int and least <= space.get("least", 0), f"a dataset may have fewer records than {least}")
        limit = space.get("most")
        need(most is None or (limit is not None and limit <= most), f"a dataset may have more records than {most}")
    return f"each of {len(rows)} stated ranges of numbers of records follows from the space"


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
        need(seen, f"nothing is seen to fix {table_text(fact)}")
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
    "sensitivity": _sensitivity, "noise": _noise_step, "sizes": _sizes, "sample": _sample, "path": _path,
    "post-process": _post_process, "budget": _budget,
}  # fmt: skip
