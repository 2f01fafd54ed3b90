"""Certificates of cell bounds: right ones are accepted, and each changed number is rejected, against a list of all tables."""

from __future__ import annotations

import copy
import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from dpspec_checker.cell_bounds import check_file
from dpspec_checker.errors import DerivationFileError, DerivationVersionError

TOTAL, FIRST = {"0": 1, "1": 1}, {"0": 1}
"""x0 + x1 is between 3 and 5, and x0 is 2 or more."""


def leaf(*multipliers: list[Any], empty: bool = False) -> dict[str, Any]:
    return {"multipliers": list(multipliers), "empty": empty}


def certificate() -> dict[str, Any]:
    """x1 is between 0 and 3: x1 = (x0 + x1) - x0 <= 5 - 2."""
    return {
        "certificate": "cell-bounds",
        "version": 1,
        "systems": [
            {
                "cells": 2,
                "statements": [{"terms": terms(TOTAL), "allowed": [[3, 5]]}, {"terms": terms(FIRST), "allowed": [[2, None]]}],
                "contradiction": None,
                "claims": [
                    {
                        "label": "x1", "terms": terms({"1": 1}), "low": 0, "high": 3, "exact": True,
                        "least": {"table": [3, 0], "proof": leaf()},
                        "most": {"table": [2, 3], "proof": leaf([0, "1"], [1, "-1"])},
                    }
                ],
            }
        ],
    }  # fmt: skip


def terms(given: dict[str, int]) -> Any:
    return [[int(cell), factor] for cell, factor in given.items()]


def checked(data: Any, folder: Path) -> list[bool]:
    path = folder / "certificate.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    return [claim.accepted for claim in check_file(path)]


def test_a_right_certificate_is_accepted(tmp_path: Path) -> None:
    assert checked(certificate(), tmp_path) == [True]
    tables = [x for x in itertools.product(range(7), repeat=2) if 3 <= sum(x) <= 5 and x[0] >= 2]
    assert (min(x[1] for x in tables), max(x[1] for x in tables)) == (0, 3)


def changed(*path: Any, value: Any) -> dict[str, Any]:
    data = copy.deepcopy(certificate())
    at: Any = data["systems"][0]
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return data


CLAIM = ("claims", 0)


@pytest.mark.parametrize(
    "data",
    [
        changed(*CLAIM, "high", value=2), changed(*CLAIM, "high", value=4), changed(*CLAIM, "low", value=1),
        changed(*CLAIM, "most", "table", value=[3, 3]), changed(*CLAIM, "most", "table", value=[2, 2]),
        changed(*CLAIM, "most", "table", value=[2, 3, 0]), changed(*CLAIM, "least", "table", value=[4, -1]),
        changed(*CLAIM, "most", "proof", value=leaf([0, "1"])), changed(*CLAIM, "most", "proof", value=leaf([0, "2"], [1, "-1"])),
        changed(*CLAIM, "most", "proof", value=leaf([0, "1"], [1, "1"])), changed(*CLAIM, "most", "proof",
        value=leaf(empty=True)),
        changed("statements", 0, "allowed", value=[[3, 6]]), changed("statements", 1, "allowed", value=[[1, None]]),
        changed(*CLAIM, "terms", value=terms({"0": 1})),
    ],
)  # fmt: skip
def test_a_changed_certificate_is_rejected(data: Any, tmp_path: Path) -> None:
    assert checked(data, tmp_path) == [False]


def test_a_bound_that_is_not_called_exact_may_be_wider(tmp_path: Path) -> None:
    wide = changed(*CLAIM, "high", value=4)
    wide["systems"][0]["claims"][0]["exact"] = False
    assert checked(wide, tmp_path) == [True]


def test_a_split_may_lose_nothing(tmp_path: Path) -> None:
    """x1 <= 3 by the cases x0 <= 3 and x0 >= 4; with a gap between them a table is lost."""
    proof = leaf([0, "1"], [1, "-1"])
    split = {"split": terms(FIRST), "below": 3, "above": 4, "left": proof, "right": proof}
    assert checked(changed(*CLAIM, "most", "proof", value=split), tmp_path) == [True]
    assert checked(changed(*CLAIM, "most", "proof", value={**split, "above": 5}), tmp_path) == [False]
    by_case = {**split, "right": leaf([0, "1"], [2, "-1"])}  # in the second case x0 >= 4, so x1 <= 1
    assert checked(changed(*CLAIM, "most", "proof", value=by_case), tmp_path) == [True]
    wrong_case = {**split, "left": leaf([0, "1"], [2, "-1"])}  # x0 <= 3 has no lower end
    assert checked(changed(*CLAIM, "most", "proof", value=wrong_case), tmp_path) == [False]


def test_contradictions(tmp_path: Path) -> None:
    """x0 + x1 <= 5 and x0 >= 6 leave no table."""
    none = changed("statements", 1, "allowed", value=[[6, None]])
    none["systems"][0]["contradiction"] = leaf([0, "1"], [1, "-1"], empty=True)
    assert checked(none, tmp_path) == [True]
    none["systems"][0]["statements"][1]["allowed"] = [[5, None]]
    assert checked(none, tmp_path) == [False]


def test_files_that_are_none(tmp_path: Path) -> None:
    for data, error in (
        ([], DerivationFileError), ({**certificate(), "version": 2}, DerivationVersionError),
        ({**certificate(), "version": True}, DerivationVersionError), ({**certificate(), "systems": []}, DerivationFileError),
        (changed("cells", value="two"), DerivationFileError), (changed("claims", value=None), DerivationFileError),
    ):  # fmt: skip
        with pytest.raises(error):
            checked(data, tmp_path)
