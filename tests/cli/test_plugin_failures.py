"""A claim that could not be checked, as a plugin failed, ends every command that shows its status with 4."""

from __future__ import annotations

import json

import pytest

from dpspec.base.errors import PluginContractError
from dpspec.verifier import exhaustive

ASKED = [
    ["explain", "FILE"], ["explain", "FILE", "--audience", "public"], ["explain", "FILE", "--audience", "technical"],
    ["label", "FILE"], ["ledger", "FILE"], ["ledger", "FILE", "--cap", "1/100"], ["compose", "FILE", "--delta", "1e-6"],
    ["compare", "FILE", "FILE"],
]  # fmt: skip


@pytest.mark.parametrize("words", ASKED, ids=" ".join)
def test_an_answer_next_to_a_claim_that_was_not_checked(run, response, monkeypatch, words):
    def fails(*given, **named):
        raise PluginContractError("mechanism other", "raised ValueError: wrong", "report it to its author")

    given = [str(response()) if word == "FILE" else word for word in words]
    assert run(*given).code == (1 if "--cap" in words else 0)
    monkeypatch.setattr(exhaustive, "computed_law", fails)
    assert run(*given).code == 4
    shown = run(*given, "--format", "json")
    assert (shown.code, json.loads(shown.out)["exit_code"]) == (4, 4)
