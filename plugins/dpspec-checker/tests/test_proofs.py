"""The checker of proofs accepts what is derived, says what it does not know, and accepts no corruption of what it knows."""

from __future__ import annotations

import copy
import functools
import itertools
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner
from dpspec_checker.errors import DerivationFileError
from dpspec_checker.numbers import UnknownFormula
from dpspec_checker.proofs import _of_members, check_proof, check_proofs

import dpspec as dp
from dpspec import read
from dpspec.api import as_document
from dpspec.base.exact import number
from dpspec.cli import main
from dpspec.report.json import file_report, output_schema
from dpspec.verifier.document import verify_document

SPECS = Path(__file__).parents[3] / "specs"

FALSIFIED = (
    "mechanisms/laplace-levels-replace-one", "mechanisms/geometric-adults-add-remove", "mechanisms/gaussian-delta-replace-one",
    "mechanisms/laplace-total-published", "mechanisms/laplace-two-apart", "mechanisms/sampled-tenth",
    "mechanisms/sampled-gaussian", "mechanisms/response-3-of-4", "mechanisms/users-five-views", "mechanisms/families-two-tables",
    "mechanisms/users-once-a-page-delta",
    "mechanisms/users-once-a-page", "mechanisms/levels-regions-published", "census-2020/pl-housing-units",
    "mechanisms/mean-of-two", "mechanisms/sum-replaced", "mechanisms/kinds-replaced", "mechanisms/most-common-added",
    "mechanisms/first-above", "mechanisms/keys-from-twenty", "mechanisms/local-k-ary-one", "mechanisms/local-concentrated-bits",
    "mechanisms/local-delta", "mechanisms/local-renyi", "mechanisms/local-variation", "mechanisms/local-sketch-collided",
    "mechanisms/local-sketch",
)  # fmt: skip


AT_ONCE = ("mechanisms/laplace-levels-replace-one", "mechanisms/sampled-tenth", "mechanisms/local-k-ary-one")
"""The proofs of which every field is falsified by default; the others are long."""


@functools.cache
def proved(name: str) -> dict[str, Any]:
    """The obligation of a file that is proved, as JSON data."""
    report = file_report(name, verify_document(read(SPECS / f"{name}.dpspec.toml")))
    found: dict[str, Any] = json.loads(json.dumps(report["obligations"][0]))
    return found


def statuses(obligation: dict[str, Any]) -> dict[str, str]:
    return {step.rule: step.status for step in check_proof(obligation)}


EVERY = [f"{folder}/{path.name.removesuffix('.dpspec.toml')}" for folder in ("mechanisms", "census-2020")
         for path in sorted((SPECS / folder).glob("*.toml"))]  # fmt: skip


@pytest.mark.spread(12, slow=12)
@pytest.mark.parametrize("name", [
    *(pytest.param(name, marks=pytest.mark.slow) if name == "mechanisms/first-above" else name for name in FALSIFIED),
    "mechanisms/rounded-afterwards",
    *(pytest.param(name, marks=pytest.mark.long) for name in EVERY if name not in FALSIFIED),
])  # fmt: skip
def test_what_is_derived_is_rechecked(name: str) -> None:
    obligation = proved(name)
    if not obligation["verdict"]["proof"]:
        assert obligation["verdict"]["outcome"] == "refuted"
        return
    rest = {"pair": "not rechecked"} if name.startswith(("mechanisms/first-above", "mechanisms/noisy-max")) else {}
    found = statuses(obligation)
    assert found == dict.fromkeys(found, "rechecked") | rest, check_proof(obligation)


# --- falsified -----------------------------------------------------------------------------------


def less(text: str) -> str:
    """A slightly smaller number."""
    return str(number(text) * Fraction(999, 1000))


def few(places: Sequence[int]) -> list[int]:
    """All of a few, else some at both ends."""
    return list(places) if len(places) <= 8 else [*places[:4], *places[-2:]]


def falsified(original: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The proof with one field changed, each in turn, so that it does not hold any more, and what was changed."""

    def copied() -> tuple[dict[str, Any], dict[str, Any]]:
        one = copy.deepcopy(original)
        return one, {step["step"]: step["data"] for step in one["verdict"]["proof"]}

    steps = {step["step"]: step["data"] for step in original["verdict"]["proof"]}
    sensitivity, noise = steps["sensitivity"], steps["noise"]
    moving = few([place for place, change in enumerate(sensitivity["changes"]) if change["moves"] or change["members"]])
    for place in moving:
        one, data = copied()
        data["noise"]["bounds"][place] = less(noise["bounds"][place])
        if noise["bounds"][place] != "0":
            yield f"noise.bounds[{place}] lowered", one
    one, data = copied()
    data["noise"]["largest"] = less(noise["largest"])
    if noise["largest"] != "0":
        yield "noise.largest lowered", one
    one, data = copied()
    data["noise"]["bounds"].append("0")
    yield "noise.bounds of no change", one
    by_members = any(view["table"]["unit"] != sensitivity["unit"] for view in sensitivity["views"])
    for place in moving[:1] if by_members else moving:  # smaller changes of members may be left out
        one, data = copied()
        del data["sensitivity"]["changes"][place], data["noise"]["bounds"][place]
        rest = [number(bound) for bound in data["noise"]["bounds"]]
        data["noise"]["largest"] = str(max(rest, default=number(0)))
        yield f"changes[{place}] left out", one
    for place in few(range(len(sensitivity["changes"]))):
        for key, value in (("price", sensitivity["changes"][place]["price"] + 1), ("added", None), ("times", 1)):
            one, data = copied()
            data["sensitivity"]["changes"][place][key] = value
            yield f"changes[{place}].{key}", one
    for place in moving[:1] if by_members else moving:
        one, data = copied()
        change = data["sensitivity"]["changes"][place]
        change["moves" if change["moves"] else "members"].pop()
        yield f"changes[{place}].moves", one
    for place in few(range(len(sensitivity["answers"]))):
        pair = sensitivity["answers"][place]
        for side, law in enumerate(pair):
            for key in law:
                one, data = copied()
                given = data["sensitivity"]["answers"][place][side]
                given[key] = _other(given[key])
                yield f"answers[{place}][{side}].{key}", one
    for place, view in enumerate(sensitivity["views"]):
        for key in view.get("noise", {}):
            if key == "center":
                continue
            one, data = copied()
            given = data["sensitivity"]["views"][place]["noise"]
            given[key] = _other(given[key])
            if not view["fixed"]:
                yield f"views[{place}].noise.{key}", one
        for key, value in (("kind", "Other"), ("fixed", not view["fixed"])):
            one, data = copied()
            data["sensitivity"]["views"][place][key] = value
            yield f"views[{place}].{key}", one
        one, data = copied()
        data["sensitivity"]["views"][place]["table"]["unit"] = "planet"
        yield f"views[{place}].table.unit", one
        for key, value in view.items():
            if key not in ("kind", "table", "noise", "fixed", "contributions", "laws"):
                one, data = copied()
                data["sensitivity"]["views"][place][key] = 1 if key == "cells" else [[0, 1]] if key == "hashes" else _other(value)
                yield f"views[{place}].{key}", one
        for side, law in enumerate(view.get("laws", ())):
            for key in law:
                one, data = copied()
                given = data["sensitivity"]["views"][place]["laws"][side]
                given[key] = _other(given[key])
                yield f"views[{place}].laws[{side}].{key}", one
        if view["table"]["unit"] == sensitivity["unit"] and not view["fixed"] and view["kind"] == "NoisyCount":
            one, data = copied()
            data["sensitivity"]["views"][place]["contributions"] = [{"most": 1, "in_cell": None, "by": [], "where": {}}]
            yield f"views[{place}].contributions of its own unit", one
        for number_of, bound in enumerate(view.get("contributions", ())):
            if bound["most"] is not None:
                one, data = copied()
                data["sensitivity"]["views"][place]["contributions"][number_of]["most"] += 1
                yield f"views[{place}].contributions[{number_of}].most", one
    one, data = copied()
    looked = {"attributes": sensitivity["views"][0]["table"]["attributes"], "unit": sensitivity["unit"], "where": {}}
    data["sensitivity"]["kept"].append(looked)
    if not any(view["fixed"] and view["table"] == looked for view in sensitivity["views"]):
        yield "kept with one more", one
    for place in range(len(sensitivity["kept"])):
        one, data = copied()
        del data["sensitivity"]["kept"][place]
        yield f"kept[{place}] left out", one
    for key, value in (("unit", "planet"), ("replaced", sensitivity["replaced"] + 1), ("added", 5), ("within", 7)):
        one, data = copied()
        data["sensitivity"][key] = value
        yield f"sensitivity.{key}", one
    if "path" in steps:
        one, data = copied()
        data["path"]["metric"] = "mult-delta"
        yield "path.metric", one
    if "sample" in steps:
        for rate in ("2", "0.9", "1"):
            one, data = copied()
            data["sample"]["rate"] = rate
            yield f"sample.rate = {rate}", one
    if "post-process" in steps:
        one, data = copied()
        data["post-process"]["reads"].append({"attributes": [sensitivity["views"][-1]["table"]["attributes"][-1]], "unit":
                                              sensitivity["unit"], "where": {}})  # fmt: skip
        yield "post-process.reads", one
    for place, step in enumerate(original["verdict"]["proof"]):
        one, _ = copied()
        if step["step"] != "post-process":  # which adds nothing
            del one["verdict"]["proof"][place]
            yield f"{step['step']} left out", one
        one, _ = copied()
        one["verdict"]["proof"][place]["data"] = {}
        if step["step"] != "post-process":
            yield f"{step['step']} without data", one
        one, _ = copied()
        one["verdict"]["proof"][place]["step"] = "magic"
        yield f"{step['step']} by another name", one
    line = next(line for line in original["claim"].split("[budget]")[1].splitlines() if "=" in line)
    name, _, value = line.partition(" = ")
    one, _ = copied()
    one["claim"] = one["claim"].replace(
        line, f'{name} = "{less(noise["largest"]) if name != "rho" else less(json.loads(value))}"'
    )
    if noise["largest"] != "0" and (name == "rho" or noise["largest"] == json.loads(value)):
        yield "budget", one
    one, _ = copied()
    one["claim"] = None
    yield "claim", one
    one, _ = copied()
    one["verdict"]["outcome"] = "undecided"
    yield "outcome", one


def _other(value: Any) -> Any:
    if isinstance(value, dict):
        first, *rest = value
        changed = str(int(value[first]) + 1) if value[first].isdecimal() else f"1/2*{value[first]}"
        return {**{key: value[key] for key in rest}, first: changed}
    try:
        return str(number(value) * 2 + 1)
    except Exception:  # the name of a family
        return f"other {value}"


TRUE_ANYWAY = {
    "mechanisms/levels-regions-published: views[0].fixed": "the view stays where it is, since the table is kept",
    "mechanisms/levels-regions-published: kept[0] left out": "the counties move alike in all regions",
    "mechanisms/users-five-views: changes[3].times": "a change that moves nothing, however often",
    "mechanisms/families-two-tables: changes[4].times": "a change that moves nothing, however often",
    "mechanisms/first-above: views[0].threshold_scale": "one count that changes shows no more, whatever the threshold has",
    "mechanisms/mean-of-two: changes[1] left out": "a sum and a count that move show more than the count alone",
    "mechanisms/mean-of-two: changes[1].moves": "the same change is listed beside it",
    "mechanisms/local-sketch-collided: views[0].epsilon": "no function tells any two categories apart",
    "mechanisms/local-sketch: views[0].width": "all functions are taken to tell categories apart",
    "census-2020/pl-housing-units: kept[0] left out": "the same changes are left",
    "census-2020/pl-housing-units: kept[1] left out": "the same changes are left",
}
"""Changed fields with which the proof is still one, since it leans on less."""


@pytest.mark.parametrize("names", [AT_ONCE, pytest.param(FALSIFIED, marks=pytest.mark.long)])
def test_every_field_falsified_is_rejected(names: Sequence[str]) -> None:
    tried: Counter[str] = Counter()
    accepted = []
    for name in names:
        for what, one in falsified(proved(name)):
            tried[name] += 1
            if set(statuses(one).values()) == {"rechecked"} and f"{name}: {what}" not in TRUE_ANYWAY:
                accepted.append(f"{name}: {what}")
    print(f"{tried.total()} fields of {len(tried)} proofs falsified, {len(TRUE_ANYWAY)} true anyway, {len(accepted)} accepted")
    assert not accepted, "\n".join(accepted)


# --- the command ---------------------------------------------------------------------------------


def _concentrated(section: re.Match[str]) -> str:
    """Laplace noise under concentrated privacy, of which the checker knows nothing."""
    return {
        "output_divergence": '[output_divergence]\ntype = "d-nor"\n\n', "budget": '[budget]\nrho = "100"\n\n',
        "claim": '[claim]\nverdict = "verified"\nbecause = "a large budget"\nsource = "ours"\n\n',
    }[section[1]]  # fmt: skip


def test_the_command(tmp_path: Path) -> None:
    run, path = CliRunner(), tmp_path / "v.json"
    unknown = tmp_path / "concentrated.dpspec.toml"
    known = SPECS / "mechanisms" / "laplace-table-add-remove.dpspec.toml"
    unknown.write_text(re.sub(r"\[(output_divergence|budget|claim)\][^[]*", _concentrated, known.read_text()))
    specs = [str(known), str(unknown)]
    path.write_text(run.invoke(main, ["verify", specs[0], "--format", "json"]).stdout)
    good = run.invoke(main, ["check-proof", str(path)])
    assert (good.exit_code, "1 of 1 proof rechecked" in good.stdout) == (0, True)
    path.write_text(run.invoke(main, ["verify", *specs, "--format", "json"]).stdout)
    half = run.invoke(main, ["check-proof", str(path), "--format", "json"])
    data = json.loads(half.stdout)
    jsonschema.Draft202012Validator({**output_schema(), "oneOf": [{"$ref": "#/$defs/check-proof"}]}).validate(data)
    assert (half.exit_code, [proof["accepted"] for proof in data["proofs"]]) == (1, [True, False])
    assert "1 of 2 proofs rechecked" in run.invoke(main, ["check-proof", str(path)]).stdout


@pytest.mark.parametrize("text", ["{", "[]", '{"command": "verify", "files": []}', '{"command": "compare"}'])
def test_what_holds_no_proof_is_told(tmp_path: Path, text: str) -> None:
    path = tmp_path / "v.json"
    path.write_text(text)
    with pytest.raises(DerivationFileError):
        check_proofs(path)
    assert CliRunner().invoke(main, ["check-proof", str(path)]).exit_code == 2


def test_a_proof_that_is_read_off_code_is_told_as_such_and_not_as_wrong() -> None:
    proof = [{"step": name, "says": "", "citation": ""} for name in ("structure", "sensitivity", "noise", "post-process")]
    steps = check_proof({"claim": "", "verdict": {"outcome": "verified", "proof": proof}})
    assert {step.status for step in steps} == {"not rechecked"}
    assert "read off code" in steps[0].reason


SEVERAL_CHANGES = (
    "mechanisms/laplace-table-add-remove", "mechanisms/levels-regions-published", "mechanisms/families-two-tables",
    "mechanisms/local-k-ary-one", "mechanisms/users-once-a-page", "mechanisms/sum-replaced", "mechanisms/most-common-added",
)  # fmt: skip
"""Claims for several changes of records, each of another kind of space, view or distance."""


@pytest.mark.parametrize("name", SEVERAL_CHANGES)
def test_a_proof_without_its_path_step_is_wrong(name: str, tmp_path: Path) -> None:
    one = copy.deepcopy(proved(name))
    steps = one["verdict"]["proof"]
    assert "path" in [step["step"] for step in steps]
    one["verdict"]["proof"] = [step for step in steps if step["step"] != "path"]
    assert statuses(one)["path"] == "wrong"
    data = {"format": 1, "command": "verify", "exit_code": 0, "files": [{"path": name, "outcome": "holds", "obligations": [one]}]}
    path = tmp_path / "v.json"
    path.write_text(json.dumps(data))
    found = CliRunner().invoke(main, ["check-proof", str(path)])
    assert (found.exit_code, "the step is missing: more than one record may change" in found.stdout) == (1, True)


@pytest.mark.parametrize("name", [
    "mechanisms/laplace-table-add-remove", "mechanisms/sampled-tenth", "mechanisms/rounded-afterwards",
])  # fmt: skip
def test_a_proof_that_was_shortened_or_put_together_is_not_accepted(name: str) -> None:
    """Every part of the steps alone, every other order, and the steps of another proof."""
    original, other = proved(name), proved("mechanisms/gaussian-delta-replace-one")
    steps = original["verdict"]["proof"]
    rows = [list(chosen) for size in range(1, len(steps) + 1) for chosen in itertools.permutations(steps, size)]
    rows += [[step if place != at else foreign for at, step in enumerate(steps)]
             for place in range(len(steps)) for foreign in other["verdict"]["proof"]]  # fmt: skip
    tried = 0
    for chosen in rows:
        if chosen == steps or chosen == [step for step in steps if step["step"] != "post-process"]:  # which adds nothing
            continue
        tried += 1
        one = copy.deepcopy(original)
        one["verdict"]["proof"] = copy.deepcopy(chosen)
        assert set(statuses(one).values()) != {"rechecked"}, [step["step"] for step in chosen]
    assert tried >= len(steps)


# --- what is not known here -------------------------------------------------------------------------


UNCHECKED = {
    "mechanisms/first-above": {"pair"}, "mechanisms/noisy-max-laplace": {"pair"}, "mechanisms/noisy-max-geometric": {"pair"},
    "mechanisms/shuffled-thousand": {"sensitivity", "noise", "pair"},
}  # fmt: skip


def recheck(name: str, tmp_path: Path, text: str = "") -> dict[str, Any]:
    """What `dpspec check-proof` prints about the proof of a file, or of a copy with another text."""
    path = SPECS / f"{name}.dpspec.toml"
    if text:
        path = tmp_path / path.name
        path.write_text(text, encoding="utf-8")
    report = file_report(str(path), verify_document(read(path)))
    data = {"format": 1, "command": "verify", "exit_code": 0, "files": [report]}
    written = tmp_path / "verdict.json"
    written.write_text(json.dumps(data), encoding="utf-8")
    found = CliRunner().invoke(main, ["check-proof", str(written), "--format", "json"])
    result: dict[str, Any] = json.loads(found.stdout)
    return result["proofs"][0]  # type: ignore[no-any-return]


@pytest.mark.spread(2, slow=2)
@pytest.mark.parametrize("name", UNCHECKED)
def test_what_is_not_rechecked_is_listed_as_believed_by_name(name: str, tmp_path: Path) -> None:
    proof = recheck(name, tmp_path)
    open_steps = {step["step"] for step in proof["steps"] if step["status"] == "not rechecked"}
    assert open_steps == UNCHECKED[name]
    assert not proof["accepted"]
    for step in open_steps:
        assert any(line.startswith(f"{step}, not checked: ") for line in proof["believed"]), step


def test_one_universe_that_is_named_is_the_claim_of_the_file(tmp_path: Path) -> None:
    """`multiverse = { type = "trivial" }` and no invariants are the same multiverse; the claim was said to be another one."""
    name = "mechanisms/geometric-adults-add-remove"
    text = (SPECS / f"{name}.dpspec.toml").read_text(encoding="utf-8")
    assert "[multiverse]\ninvariants = []" in text
    proof = recheck(name, tmp_path, text=text.replace("[multiverse]\ninvariants = []", '[multiverse]\ntype = "trivial"'))
    assert proof["accepted"], proof["steps"]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"least": 1001}, "fewer records than 1001"),
        ({"most": 10**6}, "more records than 1000000"),
        ({"table": {"attributes": ["answer"], "unit": "person", "where": {"answer": ["yes"]}}}, "no view has the table"),
        ({"least": "1000"}, "fewer records"),
    ],
)
def test_numbers_of_records_that_the_space_does_not_give_are_wrong(change: dict[str, Any], reason: str) -> None:
    obligation = copy.deepcopy(proved("mechanisms/shuffled-thousand"))
    assert statuses(obligation)["sizes"] == "rechecked"
    (row,) = next(step for step in obligation["verdict"]["proof"] if step["step"] == "sizes")["data"]["records"]
    row.update(change)
    (found,) = [step for step in check_proof(obligation) if step.rule == "sizes"]
    assert found.status == "wrong"
    assert reason in found.reason


def test_numbers_of_records_under_a_condition_are_wrong() -> None:
    obligation = copy.deepcopy(proved("mechanisms/shuffled-thousand"))
    steps = {step["step"]: step["data"] for step in obligation["verdict"]["proof"]}
    where = {"answer": ["0"]}
    steps["sizes"]["records"][0]["table"]["where"] = where
    steps["sensitivity"]["views"][0]["table"]["where"] = where
    (found,) = [step for step in check_proof(obligation) if step.rule == "sizes"]
    assert (found.status, "there may be none" in found.reason) == ("wrong", True)


@pytest.mark.parametrize("key", ["rate", "cells", "noise_name"])
def test_the_view_of_a_noisy_maximum_is_rechecked(key: str) -> None:
    obligation = copy.deepcopy(proved("mechanisms/noisy-max-laplace"))
    assert {statuses(obligation)[step] for step in ("sensitivity", "noise")} == {"rechecked"}
    steps = {step["step"]: step["data"] for step in obligation["verdict"]["proof"]}
    steps["sensitivity"]["views"][0][key] = {"rate": "1", "cells": 3, "noise_name": "gaussian"}[key]
    assert statuses(obligation)["sensitivity"] != "rechecked"


def test_members_whose_changes_are_covered_are_rechecked_and_not_without_what_covers_them() -> None:
    """Ten persons of a household change one by one; only the largest of what one of them moves are listed."""
    obligation = copy.deepcopy(proved("census-2020/pl-together-per-household"))
    assert set(statuses(obligation).values()) == {"rechecked"}
    sensitivity = next(step["data"] for step in obligation["verdict"]["proof"] if step["step"] == "sensitivity")
    most = max(len(change["members"]) for change in sensitivity["changes"])
    sensitivity["changes"] = [change for change in sensitivity["changes"] if len(change["members"]) < most]
    assert statuses(obligation)["sensitivity"] == "wrong"


def test_samples_that_views_draw_are_not_rechecked_and_never_called_wrong():
    """Views that are repeated or draw a sample of their own are not known here; the sentences about them are read."""
    gaussian = dp.gaussian(queries=[dp.marginal(attributes=[])], variance=4)
    steps = [dp.repeated(mechanism=dp.subsampled(mechanism=gaussian, rate=rate), times=50) for rate in ("1/100", "1/7")]
    promise = dp.spec(space=dp.records(kind=2), distance="add-remove", standard="approximate", epsilon=9, delta="1e-5")
    for mechanism in (steps[0], dp.composed(parts=steps)):
        report = file_report("training", verify_document(as_document(promise, "training", mechanism=mechanism)))
        obligation = json.loads(json.dumps(report["obligations"][0]))
        assert obligation["verdict"]["outcome"] == "verified"
        found = {step.rule: step for step in check_proof(obligation)}
        assert "wrong" not in {step.status for step in found.values()}
        assert found["noise"].status == "not rechecked"
        assert found["sensitivity"].reason == "a view of kind RepeatedView is not known here"
        spoken = json.loads(json.dumps(obligation).replace("with probability 1/100", "with probability 1/1000"))
        assert {step.rule for step in check_proof(spoken) if step.status == "wrong"} == {"words"}


def test_members_in_different_cells_are_not_counted_where_a_coarser_table_may_be_published():
    """At most one of a household in each cell may be two in one cell of the coarser table: what the cells see is no bound."""
    space = {"type": "households", "household": [], "person": [{"name": "sex", "count": 2}], "members": 2}
    noise = {"family": "DiscreteGaussianLaw", "center": "0", "variance": "5/2"}
    view = {"kind": "NoisyCount", "table": {"attributes": ["sex"], "unit": "person", "where": {}}, "noise": noise}
    limit = {"contributions": [{"most": None, "in_cell": 1, "by": ["sex"], "where": {}}]}
    ((two_cells,),) = _of_members([({**view, **limit}, "comes")], space)
    assert sum(two_cells.values()) == 2
    assert _of_members([({**view, "may_be_coarser": True}, "comes")], space) == _of_members([(view, "comes")], space)
    with pytest.raises(UnknownFormula, match="coarser"):
        _of_members([({**view, **limit, "may_be_coarser": True}, "comes")], space)
