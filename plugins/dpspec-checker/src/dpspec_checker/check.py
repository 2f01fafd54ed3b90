"""An independent checker of derivations: it reads the JSON and the texts in it, and shares no code with what found them.

A derivation is a chain of steps S -> S'. The checker looks at each step on its own, in the plain tables of the two specification
texts: it knows the side condition of every rule by name, has its own numbers (`dpspec_checker.numbers`), and believes nothing
that the file says in words. A rule that it does not know is *unchecked*, and trusted only by name.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from fractions import Fraction
from pathlib import Path
from typing import Any

import attrs

from dpspec_checker.constants import NEIGHBOURS, WHOLE, input_constant, output_constant
from dpspec_checker.conversions import CONVERSIONS, ON_PAIRS, SLOW, grown_at_most
from dpspec_checker.domains import outside_domain
from dpspec_checker.errors import DerivationChainError, DerivationFileError, DerivationTooLongError, DerivationVersionError
from dpspec_checker.json_files import read_json, toml_tables
from dpspec_checker.numbers import ExactValue, Rejected, UnknownFormula, at_most, linear, need, read, within_numbers
from dpspec_checker.pairs import BLOCKS, METRICS, event_by_event, not_granted, pair_by_pair, separates_laws
from dpspec_checker.universes import (
    compared_pairs,
    determined,
    fewer_strata,
    fixed_units,
    least_and_most,
    least_apart,
    least_between,
    part_of,
    shared_bounds,
)

VERSION = 1
MOST_STEPS = 1000
"""Longer derivations are refused unread: none that dpspec finds has more than a few steps."""

JsonTable = dict[str, Any]


@attrs.frozen(kw_only=True)
class CheckedStep:
    """The result of the checker for one step: accepted, rejected, unchecked, or trusted, and why."""

    rule: str
    status: str
    reason: str


@attrs.frozen(kw_only=True)
class Checked:
    """The result of the checker for a derivation."""

    steps: tuple[CheckedStep, ...]

    @property
    def accepted(self) -> bool:
        """Whether every step is accepted, or trusted by name."""
        return all(step.status in ("accepted", "trusted") for step in self.steps)


def check_file(path: str | Path, trust: Collection[str] = ()) -> Checked:
    """Check a derivation file.

    Raises:
        DerivationFileError: no file, no JSON, or not of the shape of a derivation.
        DerivationVersionError, DerivationTooLongError, DerivationChainError: see there.
    """
    return check_derivation(read_json(path), trust)


def check_derivation(data: Any, trust: Collection[str] = ()) -> Checked:
    """Check a derivation given as JSON data.

    Args:
        data: what `Derivation.data` gives.
        trust: names of rules whose steps are accepted without a check, when the checker does not know them.

    Raises:
        as `check_file`.
    """
    if not isinstance(data, dict) or data.get("format") != "dpspec-derivation":
        raise DerivationFileError("format", "must be dpspec-derivation", "write it with: dpspec compare A B --derivation FILE")
    if data.get("version") != VERSION or isinstance(data["version"], bool):
        raise DerivationVersionError("version", f"this dpspec reads version {VERSION}", value=data.get("version"))
    rows = typed(data, "steps", list)
    if len(rows) > MOST_STEPS:
        raise DerivationTooLongError("steps", f"must not be more than {MOST_STEPS}", value=len(rows))
    here = blocks_of(typed(data, "premise", str), "premise")
    checked = []
    for place, row in enumerate(rows):
        where = f"steps[{place}]"
        if not isinstance(row, dict):
            raise DerivationFileError(where, "must be a table")
        before, after = (blocks_of(typed(row, key, str, where), f"{where}.{key}") for key in ("before", "after"))
        if before != here:
            raise DerivationChainError(f"{where}.before", "is not where the step before it ends")
        checked.append(_step(row, before, after, where, trust))
        here = after
    if here != blocks_of(typed(data, "conclusion", str), "conclusion"):
        raise DerivationChainError("conclusion", "is not where the last step ends")
    return Checked(steps=tuple(checked))


def typed(row: JsonTable, key: str, kind: type, where: str = "") -> Any:
    if not isinstance(row.get(key), kind):
        raise DerivationFileError(f"{where}.{key}".lstrip("."), f"is missing, or no {kind.__name__}")
    return row[key]


def blocks_of(text: str, where: str) -> JsonTable:
    """The five blocks of a specification text; a multiverse that is not written is one universe."""
    try:
        data = toml_tables(text)
    except ValueError as problem:
        raise DerivationFileError(where, f"is no specification ({problem})") from None
    data.setdefault("multiverse", {"invariants": []})
    missing = [block for block in BLOCKS if not isinstance(data.get(block), dict)]
    if missing or data.get("schema") != 1:
        raise DerivationFileError(
            where, f"must be a specification of schema 1 with its blocks, and lacks {missing or 'the schema'}"
        )
    wrong = outside_domain(data["output_divergence"])
    if wrong:
        raise DerivationFileError(f"{where}.output_divergence", wrong, "no specification has such a divergence")
    return {block: data[block] for block in BLOCKS}


def _step(row: JsonTable, before: JsonTable, after: JsonTable, where: str, trust: Collection[str]) -> CheckedStep:
    rule, block = typed(row, "rule", str, where), typed(row, "block", str, where)
    parameters = typed(row, "parameters", dict, where)
    check = RULES.get(rule)
    if check is None:
        status = "trusted" if rule in trust else "unchecked"
        reason = (
            "not known here, trusted by name" if rule in trust else f"the checker does not know this rule; see --trust {rule}"
        )
        return CheckedStep(rule=rule, status=status, reason=reason)
    try:
        reason = check(before, after, parameters, block)
    except Rejected as problem:
        return CheckedStep(rule=rule, status="rejected", reason=str(problem))
    except UnknownFormula as problem:
        return CheckedStep(rule=rule, status="unchecked", reason=str(problem))
    except (KeyError, TypeError, ValueError, ArithmeticError, AttributeError, IndexError) as problem:
        return CheckedStep(rule=rule, status="rejected", reason=f"cannot be read: {type(problem).__name__}: {problem}")
    return CheckedStep(rule=rule, status="accepted", reason=reason)


# --- requirements of every rule ------------------------------------------------------------------


def _changes(before: JsonTable, after: JsonTable, block: str, stated: str, also: tuple[str, ...] = ()) -> None:
    """The step changes the block that it states, and in addition at most some others."""
    need(stated == block.replace("_", " "), f"the step is said to change the {stated}, and the rule changes the {block}")
    need(before[block] != after[block], f"the {block} stays the same")
    others = [other for other in BLOCKS if other not in (block, *also) and before[other] != after[other]]
    need(not others, f"{', '.join(others)} must stay the same")


def _no_parameters(parameters: JsonTable) -> None:
    need(not parameters, "the rule has no parameters")


def _uniform(spec: JsonTable) -> ExactValue:
    """The Lipschitz constant of a budget that is one number."""
    low, high = least_and_most(spec)
    need(at_most(high, low), "the budget is not one number")
    return low


def _rescaled(before: JsonTable, after: JsonTable, constant: ExactValue) -> None:
    """Every Lipschitz constant of the second budget is at least `constant` times that of the first."""
    rows = [spec["budget"].get("universe") for spec in (before, after)]
    if rows[0] is None or rows[1] is None:
        (low, high), (least, _) = least_and_most(before), least_and_most(after)
        stays = before["budget"] == after["budget"] and before["output_divergence"] == after["output_divergence"]
        enough = (stays and at_most(constant, read(1))) or (at_most(high, low) and within_numbers([constant, high], least))
        need(enough, f"the budget is not seen to be {constant} times the old one")
        return
    need([row["label"] for row in rows[0]] == [row["label"] for row in rows[1]], "the budgets are for other universes")
    for old, new in zip(*rows, strict=True):
        given, allowed = (_uniform({**spec, "budget": _amount(row)}) for spec, row in ((before, old), (after, new)))
        need(within_numbers([constant, given], allowed), f"the budget of {old['label']} is too small")


def _amount(row: JsonTable) -> JsonTable:
    return {key: value for key, value in row.items() if key != "label"}


# --- the rules -----------------------------------------------------------------------------------

StepCheck = Callable[[JsonTable, JsonTable, JsonTable, str], str]


def _larger_budget(before: JsonTable, after: JsonTable, parameters: JsonTable, block: str) -> str:
    _no_parameters(parameters)
    _changes(before, after, "budget", block)
    need(all("universe" not in spec["budget"] for spec in (before, after)), "a table is compared by larger-budgets")
    given, allowed = _uniform(before), _uniform(after)
    need(at_most(given, allowed), f"{given} is not known to be at most {allowed}")
    return f"{given} <= {allowed}"


def _larger_budgets(before: JsonTable, after: JsonTable, parameters: JsonTable, block: str) -> str:
    _no_parameters(parameters)
    _changes(before, after, "budget", block)
    several = any(key in spec["budget"] for spec in (before, after) for key in ("universe", "type"))
    need(several, "two single numbers are compared by larger-budget")
    rows = [spec["budget"].get("universe") for spec in (before, after)]
    if rows[0] is not None and rows[1] is not None:
        old = {repr(row["label"]): _uniform({**before, "budget": _amount(row)}) for row in rows[0]}
        new = {repr(row["label"]): _uniform({**after, "budget": _amount(row)}) for row in rows[1]}
        if not set(new) <= set(old) or not all(at_most(old[label], new[label]) for label in new):
            return _on_listed_pairs(before, after, "a budget is smaller")
        return f"no smaller in {len(new)} universes"
    if fewer_strata(before["budget"], after["budget"]):
        return "one theorem at one swap rate grows with the stratum, and the strata of two different records are among all"
    least = least_between(after)
    if least is not None:
        need(at_most(least_and_most(before)[1], least), "the largest budget is above that of a stratum of two records")
        return "universes with two different datasets have a stratum of at least two records"
    if not at_most(least_and_most(before)[1], least_and_most(after)[0]):
        return _on_listed_pairs(before, after, "the largest budget is above the least new one")
    return "the largest budget is at most the least new one"


def _on_listed_pairs(before: JsonTable, after: JsonTable, otherwise: str) -> str:
    """On a small space, no pair of datasets that the second specification compares is granted more by the first one."""
    try:
        beyond = not_granted(before, after)
    except UnknownFormula as unknown:
        raise Rejected(f"{otherwise}, and {unknown}") from None
    need(beyond is None, f"{otherwise}: {beyond}")
    return "no pair of datasets at a finite distance is granted more"


def _finer_universes(before: JsonTable, after: JsonTable, parameters: JsonTable, block: str) -> str:
    _no_parameters(parameters)
    _changes(before, after, "multiverse", block)
    _uniform(before)
    if before["multiverse"] == {"invariants": []}:
        return "the whole space was one universe"
    coarse, fine = (spec["multiverse"] for spec in (before, after))
    need("type" not in coarse and "type" not in fine, "the universes are not those of invariants")
    for wanted in coarse["invariants"]:
        if not determined(wanted, fine["invariants"], before["space"]):
            return _on_listed_pairs(before, after, f"nothing is seen to determine {wanted}")
    return f"{len(coarse['invariants'])} invariants are determined by the others"


def _listed_universes(before: JsonTable, after: JsonTable, parameters: JsonTable, block: str) -> str:
    _no_parameters(parameters)
    _changes(before, after, "multiverse", block, ("budget",))
    try:
        beyond = not_granted(before, after)
    except UnknownFormula:  # the space is too large to be listed: each pair of a universe that is written out
        pairs = ((x, y) for x, y, allowed in compared_pairs(after) if not _shared(before, x, y, allowed))
        beyond = next(pairs, None)
    need(beyond is None, f"{beyond} share no universe of the premise with a budget that small")
    return "any two datasets that are compared share a universe of the premise"


def _shared(before: JsonTable, left: Any, right: Any, allowed: ExactValue) -> bool:
    return any(at_most(given, allowed) for given in shared_bounds(before, left, right))


def _smaller_space(before: JsonTable, after: JsonTable, parameters: JsonTable, block: str) -> str:
    _no_parameters(parameters)
    _changes(before, after, "space", block)
    _uniform(before)
    need("type" not in before["multiverse"], "the universes are not those of invariants")
    linear = any(invariant["type"] != "marginal" for invariant in before["multiverse"]["invariants"])
    need(part_of(after["space"], before["space"], same_cells=linear), "the space is not seen to be a part of the old one")
    given = before["input_divergence"]
    kind = given.get("relation", given).get("type") if given["type"] in ("neighbour", "path") else given["type"]
    known = ("hamming", "symmetric-difference", "hamming-ordered", "replace-one", "add-remove", "differ-in-one-position")
    need(kind in known, f"{kind} is not known to look at the two datasets only")
    return "fewer datasets, the same records"


def _input_domination(before: JsonTable, after: JsonTable, parameters: JsonTable, block: str, inside: bool = False) -> str:
    """`inside`: only where the invariants determine how many records of a unit each dataset of a universe has."""
    need(set(parameters) == {"constant"}, "the rule has the one parameter constant")
    _changes(before, after, "input_divergence", block, ("budget",))
    constant, ends = read(parameters["constant"]), (before["input_divergence"], after["input_divergence"], before["space"])
    anyway, known = input_constant(*ends), input_constant(*ends, fixed_units(before) if inside else ())
    need(known is not None and at_most(known, constant), f"{constant} is not seen to be a constant, known is {known or 'none'}")
    need(not inside or anyway is None or not at_most(anyway, constant), "it holds on the whole space: input-domination")
    _rescaled(before, after, constant)
    return f"d <= {known} d'"


def _neighbours_to_paths(before: JsonTable, after: JsonTable, parameters: JsonTable, block: str) -> str:
    _no_parameters(parameters)
    _changes(before, after, "input_divergence", block)
    old, new = before["input_divergence"], after["input_divergence"]
    need(old["type"] == "neighbour" and new == {**old, "type": "path"}, "must go from neighbours to their paths")
    need(before["multiverse"] == {"invariants": []}, "paths may leave a universe that is not the whole space")
    need(before["output_divergence"]["type"] in METRICS, "the output divergence is not known to obey the triangle inequality")
    return "the triangle inequality along paths inside the one universe"


def _output_domination(before: JsonTable, after: JsonTable, parameters: JsonTable, block: str) -> str:
    need(set(parameters) == {"constant"}, "the rule has the one parameter constant")
    _changes(before, after, "output_divergence", block, ("budget",))
    constant = read(parameters["constant"])
    said = output_constant(before["output_divergence"], after["output_divergence"], constant)
    need(said is not None, f"{constant} is not seen to be a constant between the two output divergences")
    _rescaled(before, after, constant)
    return f"d_Pr' <= {constant} d_Pr: {said}"


def _approximate_groups(before: JsonTable, after: JsonTable, parameters: JsonTable, block: str) -> str:
    _changes(before, after, "input_divergence", block, ("output_divergence", "budget"))
    steps: Any = parameters.get("steps")
    need(set(parameters) == {"steps"} and type(steps) is int and 1 <= steps <= 10_000, "the rule has the one parameter steps")
    given, new = before["input_divergence"], after["input_divergence"]
    need(
        given["type"] == "neighbour" and new["type"] in ("neighbour", "within-distance"), "must go from neighbours to neighbours"
    )
    need(before["multiverse"] == {"invariants": []}, "paths may leave a universe that is not the whole space")
    kinds = {spec["output_divergence"]["type"] for spec in (before, after)}
    need(kinds == {"mult-delta"}, "the output divergence is not that of approximate privacy")
    known = input_constant({**given, "type": "path"}, new, before["space"])
    need(known is not None and at_most(known, read(steps)), f"one new neighbour is not known to be at most {steps} old ones away")
    old, allowed = _uniform(before), _uniform(after)
    need(within_numbers([read(steps), old], allowed), f"the budget is below {steps} times the old one")
    given_delta, delta = (read(spec["output_divergence"]["delta"]) for spec in (before, after))
    need(grown_at_most(given_delta, delta, old, steps), "delta is below the old one times the sum of e^(i epsilon)")
    return f"{steps} neighbours in a row"


def _equal_laws(before: JsonTable, after: JsonTable, parameters: JsonTable, block: str) -> str:
    _no_parameters(parameters)
    _changes(before, after, "output_divergence", block, ("budget",))
    need(_uniform(before) == ExactValue(), "the budget is not 0")
    need(separates_laws(before["output_divergence"]), "laws at 0 from each other are not known to be equal")
    least_and_most(after)
    return "equal laws are at 0 by every output divergence"


def _conversion(rule: str) -> StepCheck:
    source, target, holds = ON_PAIRS[rule]

    def check(before: JsonTable, after: JsonTable, parameters: JsonTable, block: str) -> str:
        need(set(parameters) <= {"apart"}, "the rule has the one parameter apart")
        apart: Any = parameters.get("apart", 1)
        _changes(before, after, "output_divergence", block, ("budget",))
        kind = before["input_divergence"]["type"]
        need(kind in NEIGHBOURS or (rule in SLOW and kind in WHOLE), "conversions need the distances of neighbours")
        seen = type(apart) is int and 1 <= apart <= least_apart(before)
        need(seen, f"datasets of one universe are not seen to be {apart} apart")
        need(apart == 1 or kind not in NEIGHBOURS, "neighbours are at distance 1")
        old, new = before["output_divergence"], after["output_divergence"]
        need((old["type"], new["type"]) == (source, target), f"the rule leads from {source} to {target}")
        amounts = []
        for spec in (before, after):
            low, high = least_and_most(spec, as_written=True)
            need(at_most(high, low), "the budget is not one number")
            # at that distance: so many times the Lipschitz constant, and rho is the square of one
            times = apart**2 if spec["output_divergence"]["type"] == "d-nor" else apart
            amounts.append(low if apart == 1 else linear([(Fraction(times), low)]))
        need(apart == 1 or not any(amount.root or amount.infinite for amount in amounts), "the budget has no exact multiple")
        enough = holds(amounts[0], old, amounts[1], new)
        if not enough and rule not in CONVERSIONS:
            raise UnknownFormula(f"the checker does not follow {rule} to {amounts[1]}")
        need(enough, f"{amounts[1]} is not seen to be at least the formula at {amounts[0]}")
        return f"{amounts[1]} is at least the formula at {amounts[0]}"

    return check


RULES: dict[str, StepCheck] = {
    "larger-budget": _larger_budget,
    "larger-budgets": _larger_budgets,
    "finer-universes": _finer_universes,
    "listed-universes": _listed_universes,
    "smaller-space": _smaller_space,
    "input-domination": _input_domination,
    "domination-inside-universes": lambda old, new, given, block: _input_domination(old, new, given, block, inside=True),
    "neighbours-to-paths": _neighbours_to_paths,
    "output-domination": _output_domination,
    "approximate-groups": _approximate_groups,
    "pair-by-pair": pair_by_pair,
    "event-by-event": event_by_event,
    "equal-laws": _equal_laws,
    **{rule: _conversion(rule) for rule in ON_PAIRS},
}
"""Every rule that is known here, with the check of its side condition."""
