"""Who judges plain functions: the package that is installed, and whose word a verdict rests on."""

from __future__ import annotations

from typing import Any

import pytest
from dpspec_code.judge import CodeJudge

import dpspec as dp
from dpspec.base.errors import MissingPackageError, PluginContractError
from dpspec.verifier import functions
from dpspec.verifier.functions import FunctionJudge, OthersJudge, Sampling, function_judge
from dpspec.verifier.verdict import Outcome, Verdict
from tests.verify.toys import bits_spec


def flip(bits: Any, rng: Any) -> Any:
    return [bit ^ int(rng.random() < 0.25) for bit in bits]


class Careless(CodeJudge):
    """A stranger's judge, to which everything is private."""

    def verify(self, *_: Any, **__: Any) -> Verdict:
        return Verdict(outcome=Outcome.VERIFIED, method="careless", scope="everything")


def test_the_judge_of_this_package_is_the_installed_one() -> None:
    judge: FunctionJudge = function_judge()
    assert type(judge) is CodeJudge


def test_a_verdict_of_another_judge_says_so() -> None:
    judge = OthersJudge(Careless(), "stranger 1.0")
    found = judge.verify(flip, bits_spec(length=2, epsilon="1/9"), Sampling(), datasets=None, registry=None, progress=None)
    assert "stranger 1.0 checks plain functions correctly" in found.assumptions


def test_what_is_no_verdict_is_a_fault_of_the_other_judge() -> None:
    class Wordy(CodeJudge):
        def verify(self, *_: Any, **__: Any) -> Any:
            return "verified"

    judge = OthersJudge(Wordy(), "stranger 1.0")
    with pytest.raises(PluginContractError, match="must return a Verdict"):
        judge.verify(flip, bits_spec(length=2, epsilon=1), Sampling(), datasets=None, registry=None, progress=None)


def test_without_a_judge_the_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(functions, "contributed", lambda _: {})
    monkeypatch.setattr(functions, "missing_package", lambda *_: "dpspec-code")
    functions.function_judge.cache_clear()
    try:
        with pytest.raises(MissingPackageError, match="pip install dpspec-code"):
            dp.verify(flip, bits_spec(length=2, epsilon=1))
    finally:
        functions.function_judge.cache_clear()
