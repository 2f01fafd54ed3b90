"""Every field of a verified file is recomputed by the checker of proofs, or listed as believed.

Each field of the JSON that `dpspec verify` writes is falsified in turn: other numbers, other texts, entries removed, doubled and
turned, and unknown keys. The changed file must not be accepted, unless the field is listed as believed, or the changed statement
is true as well, which `TRUE_ANYWAY` says field by field.
"""

from __future__ import annotations

import copy
import functools
import itertools
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from dpspec_checker.answers import check_proof
from dpspec_checker.errors import CheckerError
from dpspec_checker.numbers import Rejected
from dpspec_checker.proofs import RecheckedProof, check_proofs
from dpspec_checker.statements import SpecificationFile

from dpspec import read
from dpspec.base.exact import number
from dpspec.report.json import file_report
from dpspec.verifier.document import verify_document
from dpspec.verifier.proof import on_pair

ROOT = Path(__file__).parents[3]
SPECS = ROOT / "specs"
Keys = tuple[str | int, ...]
Data = dict[str, Any]

DEFAULT = (
    "mechanisms/laplace-table-add-remove", "mechanisms/local-k-ary-one", "mechanisms/gaussian-delta-replace-one",
    "mechanisms/sampled-tenth", "mechanisms/users-once-a-page",
)  # fmt: skip
"""A proof of each shape: a path, reports in their places, two ends that differ, a sample, and records in larger ones."""


@functools.cache
def verified(name: str) -> Data:
    """What `dpspec verify --format json` writes about a file; the path is that of the file on this disk."""
    path = SPECS / f"{name}.dpspec.toml"
    row = file_report(str(path), verify_document(read(path)))
    found: Data = json.loads(json.dumps({"format": 1, "command": "verify", "exit_code": 0, "files": [row]}))
    return found


def rechecked(data: Data, folder: Path) -> RecheckedProof | None:
    """What the checker says of the only proof of a file; None where it finds none."""
    path = folder / "v.json"
    path.write_text(json.dumps(data))
    try:
        found = check_proofs(path)
    except CheckerError:  # a refusal ends with exit code 2, which accepts nothing
        return None
    return next((proof for proof in found if not proof.accepted), found[0])


# --- falsified --------------------------------------------------------------------------------------------


def fields(value: Any, keys: Keys = ()) -> Iterator[tuple[Keys, Any]]:
    """Every field, the tables and lists too; of long lists the first entries and the last."""
    yield keys, value
    if isinstance(value, dict):
        for key, entry in value.items():
            yield from fields(entry, (*keys, key))
    elif isinstance(value, list):
        for place in sorted({*range(min(len(value), 3)), len(value) - 1} - {-1}):
            yield from fields(value[place], (*keys, place))


def falsified(value: Any) -> Iterator[tuple[str, Any]]:
    """Other values of a field, each with what was done."""
    if isinstance(value, bool):
        yield "turned", not value
    elif isinstance(value, int):
        yield from (("raised", value + 1), ("lowered", value - 1), ("none", None))
    elif value is None:
        yield from (("a number", 1), ("a text", "something"))
    elif isinstance(value, str):
        yield from _other_texts(value)
    elif isinstance(value, list):
        if value:
            yield from (("first removed", value[1:]), ("last removed", value[:-1]), ("first doubled", [value[0], *value]))
        if value != value[::-1]:
            yield "turned", value[::-1]
        yield "extended", [*value, "something"]
    elif isinstance(value, dict):
        for key in value:
            yield f"without {key}", {k: v for k, v in value.items() if k != key}
        yield "unknown key", {**value, "unknown": "something"}


def _other_texts(value: str) -> Iterator[tuple[str, str]]:
    try:
        exact = number(value)
    except Exception:  # no number
        yield "another text", f"other {value}"
        for found in list(re.finditer(r"\d+(\.\d+)?", value))[:12]:
            yield f"another number at {found.start()}", f"{value[: found.start()]}{Decimal(found[0]) + 1}{value[found.end() :]}"
        yield "emptied", ""
    else:
        if exact != 0 and not exact.is_infinite:
            yield from (("doubled", str(exact * 2)), ("halved", str(exact * number("1/2"))))
        yield from (("no number", "something"), ("infinite", "inf"), ("nothing", "0"), ("one", "1"))


def changed(data: Data, keys: Keys, value: Any) -> Data:
    made = copy.deepcopy(data)
    here: Any = made
    for key in keys[:-1]:
        here = here[key]
    here[keys[-1]] = value
    return made


def name_of(keys: Keys) -> str:
    return ".".join("*" if isinstance(key, int) else key for key in keys)


PROOF = "files.*.obligations.*.verdict.proof.*"
ESCAPED = re.escape(PROOF)
LISTED = {
    f"{PROOF}.says": "wording of the steps", f"{PROOF}.citation": "wording of the steps",
    "files.*.obligations.*.verdict.assumptions": "assumption:", "files.*.obligations.*.verdict.findings": "finding, not checked",
    "files.*.obligations.*.verdict.provenance": "provenance, not checked",
}  # fmt: skip
"""The fields that are believed, and how the output of the command lists them."""


def is_listed(keys: Keys, what: str, proof: RecheckedProof) -> bool:
    """Whether a change is in a field that the command lists as not checked."""
    name = name_of(keys)
    if what == "unknown key":
        return any(line.endswith("not checked: unknown") for line in proof.believed) or name == ""
    line = next((line for field, line in LISTED.items() if name == field or name.startswith(f"{field}.")), None)
    return line is not None and any(one.startswith(line) for one in proof.believed)


TRUE_ANYWAY = (
    (r"files: first doubled", "each copy is checked"),
    (rf"{ESCAPED}.data.bounds.\*: (doubled|one)", "a bound below the largest may be larger than it has to be"),
    (rf"{ESCAPED}.data.changes.\*.moves: turned", "the answers that a change moves have no order"),
    (rf"{ESCAPED}.data.answers: first doubled", "an answer that no change moves"),
    (rf"{ESCAPED}.data.(answers.\*|answers|views.\*.laws): turned", "laws that are mirror images of each other"),
    (rf"{ESCAPED}.data.views.\*.(table.(attributes|where)|contributions|hashes|width).*", "a view is a listed premise"),
    (rf"{ESCAPED}.data.views: turned", "the views have no order"),
    (rf"{ESCAPED}.data.views.\*.(least|most): (raised|lowered)", "an end of a sum that no change reaches"),
    (rf"{ESCAPED}.data.changes.\*.members: turned", "the answers that a member moves have no order"),
    (rf"{ESCAPED}.data.changes.\*.times: lowered", "a change of members that move nothing, however often"),
    (rf"{ESCAPED}.data.changes.\*.moves.*", "a change that is dominated by another one need not be listed"),
)
"""Changes after which the statement is true all the same, and why."""


def still_attained(name: str, data: Data, keys: Keys) -> bool:
    """Whether a changed pair shows the same constant, by the engine, which shares no code with the checker."""
    if "attained" not in keys:
        return False
    universe = data["files"][0]["obligations"][0]["verdict"]["universes"][0]
    document = read(SPECS / f"{name}.dpspec.toml")
    left, right = (document.spec.space.dataset(value) for value in universe["attained"])
    assert document.mechanism is not None
    found = on_pair(document.mechanism, document.spec, (left, right))
    low, high = (number(universe["constant"][end]) for end in ("lower", "upper"))
    return found is not None and found.constant.lower <= high and low <= found.constant.upper


def is_covered(data: Data, keys: Keys) -> bool:
    """Whether each change that moves the answer of a field is covered by a listed one that does not, so that none is needed."""
    if "answers" not in keys or keys[-1] != "center":
        return False
    place, proof = int(keys[keys.index("answers") + 1]), data
    for key in keys[: keys.index("answers")]:
        proof = proof[key]

    def shifts(change: Data) -> list[tuple[str, Fraction]]:
        pairs = [proof["answers"][move] for move in change["moves"]]
        return sorted((one["decay"], abs(Fraction(one["center"]) - Fraction(other["center"]))) for one, other in pairs)

    def covers(large: Data, small: Data) -> bool:
        same = all(large[name] == small[name] for name in ("added", "members", "times", "groups"))
        ours, theirs = shifts(large), shifts(small)
        cheap = large["price"] <= small["price"] and len(ours) == len(theirs)
        return same and cheap and all(a[0] == b[0] and a[1] >= b[1] for a, b in zip(ours, theirs, strict=True))

    moving = [change for change in proof["changes"] if place in change["moves"]]
    others = [change for change in proof["changes"] if place not in change["moves"]]
    return all(any(covers(other, change) for other in others) for change in moving)


def true_anyway(keys: Keys, what: str) -> bool:
    return any(re.fullmatch(pattern, f"{name_of(keys)}: {what}") for pattern, _ in TRUE_ANYWAY)


def names_a_copy(keys: Keys, value: Any, other: Any) -> bool:
    """Whether another path is that of a copy of the file, such as one in a second checkout beside this one."""
    return keys[-1] == "path" and Path(other).is_file() and Path(other).read_bytes() == Path(value).read_bytes()


def accepted_changes(name: str, folder: Path, step: int) -> tuple[Counter[str], list[str]]:
    """What became of each change of a field, or of each third one and so on, and those that are accepted although nothing says
    so."""
    data, counted, wrong = verified(name), Counter[str](), []
    by_field: dict[str, list[tuple[Keys, Any, str, Any]]] = defaultdict(list)
    for keys, value in fields(data):
        by_field[name_of(keys)] += [(keys, value, what, other) for what, other in falsified(value)]
    for keys, value, what, other in itertools.chain.from_iterable(changes[::step] for changes in by_field.values()):
        if not keys or other == value or names_a_copy(keys, value, other):
            continue
        made = changed(data, keys, other)
        proof = rechecked(made, folder)
        if proof is None or not proof.accepted:
            counted["rejected"] += 1
        elif is_listed(keys, what, proof):
            counted["listed as believed"] += 1
        elif true_anyway(keys, what) or is_covered(data, keys) or still_attained(name, made, keys):
            counted["true anyway"] += 1
        else:
            wrong.append(f"{name}: {'.'.join(map(str, keys))}: {what}")
    return counted, wrong


def assert_every_change_is_found(name: str, folder: Path, step: int = 1) -> Counter[str]:
    proof = rechecked(verified(name), folder)
    assert proof is not None
    assert proof.accepted, [step for step in proof.steps if step.status != "rechecked"]
    counted, wrong = accepted_changes(name, folder, step)
    assert not wrong, "\n".join(wrong)
    assert counted["rejected"] > counted["listed as believed"] > 0
    return counted


@pytest.mark.spread(2, slow=2)
@pytest.mark.parametrize("step", [3, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", DEFAULT)
def test_every_field_is_recomputed_or_listed(name: str, step: int, tmp_path: Path) -> None:
    """Each third change of every field, the first one always, or each change."""
    assert_every_change_is_found(name, tmp_path, step)


@pytest.mark.spread(0, slow=1)
@pytest.mark.parametrize("name", [
    "mechanisms/laplace-levels-replace-one", "mechanisms/users-once-a-page-delta", "mechanisms/mean-of-two",
    "mechanisms/kinds-replaced", "mechanisms/local-sketch", "mechanisms/families-two-tables",
    "mechanisms/keys-from-twenty", "mechanisms/sampled-gaussian",
    "mechanisms/most-common-added",
])  # fmt: skip
def test_every_field_of_more_proofs_is_recomputed_or_listed(name: str, tmp_path: Path) -> None:
    assert_every_change_is_found(name, tmp_path)


# --- what is no other value of a field --------------------------------------------------------------------

PARTS = "deployments/wikimedia-editors-monthly"
"""A file with a claim and two parts, each with a proof."""


def test_every_proof_of_a_file_with_parts_is_checked_against_its_own_part(tmp_path: Path) -> None:
    data = verified(PARTS)
    proof = rechecked(data, tmp_path)
    assert proof is not None
    assert proof.accepted
    obligations = data["files"][0]["obligations"]
    proved = [place for place, one in enumerate(obligations) if (one["verdict"] or {}).get("proof")]
    assert len(proved) == 3
    for one, other in itertools.permutations(proved, 2):  # the proof of one part as that of another
        made = copy.deepcopy(data)
        moved = copy.deepcopy(obligations[one])
        made["files"][0]["obligations"][other] = {**moved, "name": obligations[other]["name"]}
        again = rechecked(made, tmp_path)
        assert again is None or not again.accepted or obligations[one]["claim"] == obligations[other]["claim"]


def test_no_obligation_of_a_file_can_be_left_out_or_stand_for_another(tmp_path: Path) -> None:
    """Without the refuted promise of a file, *holds* was accepted as its outcome: it is the worst of those that are listed."""
    data = verified(PARTS)
    obligations = data["files"][0]["obligations"]
    places = range(len(obligations))
    assert len({one["name"].partition(":")[0] for one in obligations}) > 2
    forged = [[obligations[other] for other in places if other != place] for place in places]
    forged += [[*obligations, {**obligations[-1], "name": "number: one more"}]]
    for one, other in itertools.permutations(places, 2):
        again = {**obligations[one], "name": f"{obligations[one]['name']} (2)"}
        forged.append([again if place == other else obligations[place] for place in places])
    for listed in forged:
        row = {**data["files"][0], "obligations": listed}
        with pytest.raises(Rejected):
            SpecificationFile.found(row["path"], tmp_path).check_outcome(row)


def test_an_outcome_says_how_many_obligations_are_believed(tmp_path: Path) -> None:
    """One without a proof may be relabelled; *holds* depends on it."""
    proof = rechecked(verified("randomised-response"), tmp_path)
    assert proof is not None
    outcome = next(step for step in proof.steps if step.rule == "outcome")
    assert outcome.reason == "holds, the whole space, where what is believed of 1 of 2 obligations is right"
    assert any(line.startswith("without a proof, not checked: claim on miniature") for line in proof.believed)


EQUAL_CLAIMS = {
    "pure, added": ("filtered-elderly", "geometric-adults-add-remove", "geometric-table-add-remove", "geometric-total-add-remove",
                    "rounded-afterwards"),
    "pure, replaced": ("kinds-replaced", "laplace-adults-replace-one", "laplace-levels-replace-one", "sum-replaced",
                       "weights-replaced"),
    "zCDP": ("discrete-gaussian-adults-add-remove", "gaussian-adults-add-remove", "gaussian-table-add-remove"),
}  # fmt: skip
"""Files of specs/mechanisms that claim the same of mechanisms with other pairs."""


@pytest.mark.parametrize("names", EQUAL_CLAIMS.values(), ids=EQUAL_CLAIMS)
def test_the_pair_of_another_proof_is_accepted_only_where_it_attains_the_constant(names: tuple[str, ...], tmp_path: Path) -> None:
    """Claims and constants may be equal: the pair of another mechanism is recomputed, and accepted where it attains."""
    keys: Keys = ("files", 0, "obligations", 0, "verdict", "universes", 0, "attained")
    pairs = {name: dict(fields(verified(f"mechanisms/{name}")))[keys] for name in names}
    counted = Counter[str]()
    for name, other in itertools.permutations(names, 2):
        if pairs[name] == pairs[other]:
            continue
        made = changed(verified(f"mechanisms/{name}"), keys, pairs[other])
        found = rechecked(made, tmp_path)
        assert found is not None
        hides = any("does not hide the difference which attains the constant" in line for line in found.believed)
        attains = still_attained(f"mechanisms/{name}", made, keys)
        assert attains or hides or not found.accepted, (name, other)
        assert found.accepted or not attains, (name, other)
        counted["accepted" if found.accepted else "rejected"] += 1
    assert min(counted["accepted"], counted["rejected"]) > 0


def test_the_file_is_the_one_that_was_verified(tmp_path: Path) -> None:
    """Another file, a changed one, a missing one, and one in the folder of the verdict."""
    source = SPECS / "mechanisms" / "laplace-table-add-remove.dpspec.toml"
    (tmp_path / "own.dpspec.toml").write_bytes(source.read_bytes())
    data = copy.deepcopy(verified("mechanisms/laplace-table-add-remove"))
    data["files"][0]["path"] = "own.dpspec.toml"
    found = rechecked(data, tmp_path)
    assert found is not None
    assert found.accepted
    (tmp_path / "own.dpspec.toml").write_text(source.read_text() + "# a comment\n")
    changed_file = rechecked(data, tmp_path)
    assert changed_file is not None
    assert [step.rule for step in changed_file.steps if step.status == "wrong"] == ["file"]
    for path, status in ((str(SPECS / "mechanisms" / "geometric-table-add-remove.dpspec.toml"), "wrong"),
                         ("missing.dpspec.toml", "not rechecked"), (str(tmp_path), "not rechecked"),
                         ("a" * 5000, "not rechecked")):  # fmt: skip
        data["files"][0]["path"] = path
        other = rechecked(data, tmp_path)
        assert other is not None
        assert {step.rule: step.status for step in other.steps}["file"] == status


def test_files_without_a_proof_are_named(tmp_path: Path) -> None:
    """A refuted file that is said to hold, next to one with a proof: nothing was said of it."""
    data = copy.deepcopy(verified("mechanisms/laplace-table-add-remove"))
    claim = {"name": "claim", "outcome": "holds"}
    data["files"].append({"path": "false.dpspec.toml", "outcome": "holds", "obligations": [claim]})
    path = tmp_path / "v.json"
    path.write_text(json.dumps(data))
    answer = check_proof(path)
    assert answer.exit_code == 5  # nothing was checked of that file
    assert "file without a proof, not checked: false.dpspec.toml (holds)" in answer.content["proofs"][0]["believed"]
    assert "1 of 1 proof rechecked; 1 file without a proof, not checked" in str(answer)


def test_a_wrong_proof_comes_before_a_file_without_one(tmp_path: Path) -> None:
    """The codes in the order of all commands: 1 before 5; a file with proofs alone is 0."""
    data = copy.deepcopy(verified("mechanisms/laplace-table-add-remove"))
    path = tmp_path / "v.json"
    path.write_text(json.dumps(data))
    assert check_proof(path).exit_code == 0
    data["files"].append({"path": "other.dpspec.toml", "outcome": "unchecked", "obligations": []})
    data["files"][0]["title"] = "another"
    path.write_text(json.dumps(data))
    assert check_proof(path).exit_code == 1


def test_texts_of_a_file_begin_no_line_of_the_answer(tmp_path: Path) -> None:
    data = copy.deepcopy(verified("mechanisms/laplace-table-add-remove"))
    data["files"][0]["obligations"][0]["verdict"]["assumptions"] = ["one\nv.json: 5 of 5 proofs rechecked"]
    proof = rechecked(data, tmp_path)
    assert proof is not None
    assert any("one v.json: 5 of 5" in line for line in proof.believed)
    assert not any("\n" in line for line in proof.believed)


@pytest.mark.parametrize(("old", "new"), [
    ('"tight": true', '"tight": false, "tight": true'), ('"exit_code": 0', '"exit_code": NaN'),
])  # fmt: skip
def test_a_key_stands_once_and_numbers_are_numbers(old: str, new: str, tmp_path: Path) -> None:
    path = tmp_path / "v.json"
    text = json.dumps(verified("mechanisms/laplace-table-add-remove"))
    assert old in text
    path.write_text(text.replace(old, new))
    with pytest.raises(CheckerError, match="is no JSON"):
        check_proofs(path)
