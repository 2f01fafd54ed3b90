"""A claim that the walk through a space leaves undecided is proved, if there is a proof; an empty truth is not."""

import pytest

import dpspec as dp
from dpspec.verifier import mechanisms
from dpspec.verifier.exhaustive import NOTHING, WIDE
from dpspec.verifier.verdict import Outcome, Verdict

SPEC = dp.spec(space=dp.records(colour=3, most=2), distance="add-remove", standard="pure", epsilon=1)
COUNTS = dp.laplace(queries=dp.marginal(attributes="colour"), epsilon=1)


@pytest.mark.parametrize(("reason", "outcome"), [(WIDE, Outcome.VERIFIED), (NOTHING, Outcome.UNDECIDED)])
def test_brackets_that_hold_the_bound_leave_it_to_a_proof(
    monkeypatch: pytest.MonkeyPatch, reason: str, outcome: Outcome
) -> None:
    walked = Verdict(outcome=Outcome.UNDECIDED, method="exhaustive", scope="all pairs", reason=reason)
    monkeypatch.setattr(mechanisms, "verify", lambda *_, **__: walked)
    assert mechanisms.judged(COUNTS, SPEC).outcome is outcome


def test_a_false_claim_is_not_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    walked = Verdict(outcome=Outcome.UNDECIDED, method="exhaustive", scope="all pairs", reason=WIDE)
    monkeypatch.setattr(mechanisms, "verify", lambda *_, **__: walked)
    false = dp.spec(space=dp.records(colour=3, most=2), distance="add-remove", standard="pure", epsilon="0.9")
    assert mechanisms.judged(COUNTS, false).outcome is Outcome.REFUTED
