"""A claim that the walk through a space leaves undecided is proved, if there is a proof; an empty truth is not."""

from typing import Any

import pytest

import dpspec as dp
from dpspec.blocks.invariant import Marginal
from dpspec.blocks.multiverse import ExplicitUniverses
from dpspec.blocks.records import UnorderedRecords
from dpspec.blocks.space import Attribute
from dpspec.grammar.mechanism import ReleaseInvariants
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


@pytest.mark.parametrize(
    "universes",
    [(), (("none", ()),), (("one", ((("a",),),)),), (("one", ((("a",),),)), ("other", ((("b",),),)))],
    ids=["no universe", "an empty one", "one of one dataset", "two of one dataset"],
)
def test_where_no_two_datasets_are_compared_nothing_is_verified(universes: tuple[tuple[str, tuple[Any, ...]], ...]) -> None:
    """A release of the data themselves, of which a claim that says nothing could be said, too."""
    space = UnorderedRecords(attributes=(Attribute(name="kind", categories=("a", "b")),), least=1, most=1)
    held = ExplicitUniverses(universes_by_label=universes)
    spec = dp.spec(space=space, distance="hamming", standard="pure", epsilon=0).replace(multiverse=held)
    exact = ReleaseInvariants(invariants=(Marginal(attributes=("kind",)),))
    found = mechanisms.judged(exact, spec)
    assert (found.outcome, found.reason) == (Outcome.UNDECIDED, NOTHING)
