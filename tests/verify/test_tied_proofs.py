"""Proofs by tied parts are checked again by code that shares nothing with what finds them, and forged ones are rejected."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from dpspec_checker.proofs import check_proof
from dpspec_checker.tied_parts import covers, in_groups

from dpspec import read
from dpspec.report.json import file_report
from dpspec.verifier import components
from dpspec.verifier.document import verify_document

Proof = dict[str, Any]


Table = tuple[list[str], dict[str, list[str]], int]


def specification(tables: list[Table], attributes: int, distance: str, kept: str = "") -> str:
    """Laplace noise on tables, each with the loss 1/k of one count for its number k."""
    names = ", ".join(f'{{ name = "a{k}", count = 4 }}' for k in range(attributes))

    def part(looked: list[str], where: dict[str, list[str]], scale: int) -> str:
        condition = ", ".join(f"{name} = {json.dumps(of)}" for name, of in where.items())
        query = f'{{ type = "marginal", attributes = {json.dumps(looked)}, where = {{ {condition} }} }}'
        return f'{{ type = "laplace", queries = [{query}], epsilon = "1/{scale}" }}'

    parts = ",\n  ".join(part(*table) for table in tables)
    return (
        'schema = 1\nid = "tied"\ntitle = "tables that are tied"\n'
        f'[space]\ntype = "records"\nattributes = [{names}]\n[multiverse]\ninvariants = [{kept}]\n'
        f'[input_divergence]\n{distance}\n[output_divergence]\ntype = "mult"\n[budget]\nepsilon = "100"\n'
        f'[mechanism]\ntype = "composed"\nparts = [\n  {parts},\n]\n'
    )


SYMMETRIC, HAMMING = 'type = "symmetric-difference"', 'type = "hamming"'
ONE_WAY = [([f"a{k}"], {}, k + 1) for k in range(5)]
CHAIN = [([f"a{k}", f"a{k + 1}"], {}, k + 1) for k in range(4)]
STAR = [(["a0", f"a{k}"], {}, k + 1) for k in range(1, 5)]
COUNTS = [([], {f"a{k}": [value]}, k + 1 + 5 * place) for k in range(4) for place, value in enumerate("12")]
KEPT = '{ type = "marginal", attributes = ["a1"] }'


def proved(text: str, folder: Path) -> Proof:
    path = folder / "tied.dpspec.toml"
    path.write_text(text, encoding="utf-8")
    report = file_report(str(path), verify_document(read(path)))
    found: Proof = json.loads(json.dumps(report["obligations"][0]))
    assert found["verdict"]["proof"], found["verdict"]
    return found


def data(proof: Proof, step: str) -> Any:
    return next(row["data"] for row in proof["verdict"]["proof"] if row["step"] == step)


def statuses(proof: Proof) -> dict[str, str]:
    return {step.rule: step.status for step in check_proof(proof)}


@pytest.mark.parametrize(
    ("tables", "distance", "kept"),
    [(ONE_WAY, HAMMING, ""), (CHAIN, HAMMING, KEPT), (STAR, SYMMETRIC, ""), (COUNTS, SYMMETRIC, "")],
    ids=["one-way", "chain", "star", "counts"],
)
@pytest.mark.parametrize("listed", [128, 0])
def test_a_proof_by_tied_parts_is_rechecked(
    tables: Any, distance: str, kept: str, listed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(components, "LISTED", listed)
    proof = proved(specification(tables, 5, distance, kept), tmp_path)
    assert ("largest_only" in data(proof, "sensitivity")) is (listed == 0 or tables is COUNTS)
    assert set(statuses(proof).values()) == {"rechecked"}, check_proof(proof)


def largest(proof: Proof) -> int:
    changes = data(proof, "sensitivity")["changes"]
    return max(range(len(changes)), key=lambda place: len(changes[place]["moves"]))


def without_largest(proof: Proof) -> None:
    """The largest change is dropped, and with it what it costs."""
    place = largest(proof)
    del data(proof, "sensitivity")["changes"][place], data(proof, "noise")["bounds"][place]
    data(proof, "noise")["largest"] = max(data(proof, "noise")["bounds"] or ["0"])


def a_part_less(proof: Proof) -> None:
    """One answer of the largest change is left out."""
    data(proof, "sensitivity")["changes"][largest(proof)]["moves"].pop()


def every_one_is_listed(proof: Proof) -> None:
    """The largest changes are said to be all."""
    del data(proof, "sensitivity")["largest_only"], data(proof, "sensitivity")["tied"]


def a_smaller_part(proof: Proof) -> None:
    data(proof, "sensitivity")["tied"]["attributes"] -= 1


def a_smaller_bound(proof: Proof) -> None:
    data(proof, "noise")["bounds"] = ["1/1000" for _ in data(proof, "noise")["bounds"]]
    data(proof, "noise")["largest"] = "1/1000"


FORGED: tuple[Callable[[Proof], None], ...] = (
    without_largest, a_part_less, every_one_is_listed, a_smaller_part, a_smaller_bound,
)  # fmt: skip


@pytest.mark.parametrize("tables", [ONE_WAY, CHAIN], ids=["one-way", "chain"])
def test_forged_proofs_of_the_largest_changes_are_rejected(
    tables: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    monkeypatch.setattr(components, "LISTED", 0)
    proof = proved(specification(tables, 5, HAMMING), tmp_path)
    for forge in FORGED:
        forged = copy.deepcopy(proof)
        forge(forged)
        found = statuses(forged)
        assert "wrong" in (found["sensitivity"], found["noise"]), (forge.__name__, check_proof(forged))


def test_parts_that_are_composed_are_rechecked_and_forged_ones_rejected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    monkeypatch.setattr(components, "LISTED", 0)
    monkeypatch.setattr(components, "INCOMPARABLE", 2)
    proof = proved(specification(COUNTS, 5, 'type = "neighbour"\nrelation = { type = "add-remove" }'), tmp_path)
    (change,) = [one for one in data(proof, "sensitivity")["changes"] if one["groups"]]
    assert len(change["groups"]) >= 4
    assert set(statuses(proof).values()) == {"rechecked"}, check_proof(proof)
    groups = change["groups"]
    moving = [place for place, group in enumerate(groups) if any(group)]
    merged = [[case for place in moving[:2] for case in groups[place]], *(groups[place] for place in moving[2:])]
    worst = [[case for case in group if case] for group in groups]
    for forged_groups in (
        [groups[place] for place in moving[1:]],  # a part dropped
        merged,  # two parts merged as alternatives, which happen together
        [[case for case in group if case][:0] or [[]] if place == moving[0] else group for place, group in enumerate(groups)],
        [[group[0]] if place == moving[0] and len(group) > 1 else group for place, group in enumerate(worst)],  # a case dropped
    ):
        forged = copy.deepcopy(proof)
        next(one for one in data(forged, "sensitivity")["changes"] if one["groups"])["groups"] = forged_groups
        assert statuses(forged)["sensitivity"] == "wrong", forged_groups


def test_what_covers_what() -> None:
    one, two = frozenset({(("n", 1), 1)}), frozenset({(("n", -1), 2)})
    assert covers(two, one)
    assert not covers(one, two)
    assert not covers(frozenset({(("other", 1), 3)}), one)
    assert in_groups([{one}, {two}], [[two], [one]])
    assert not in_groups([{one}, {two}], [[two]])
    assert not in_groups([{one}, {two}], [[one], [one]])
