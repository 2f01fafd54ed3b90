"""Flavours that depend on the content of records."""


import pytest
from dpspec_divergences import Mult
from dpspec_flavours.streams.record_flavours import OneSidedDP

from dpspec.verifier.exhaustive import verify


@pytest.mark.reference("K-D43")
def test_both_ways_would_ask_too_much_of_a_one_sided_mechanism() -> None:
    """One record: the sample of open records keeps the directed promise and breaks the symmetric one."""
    spec, sample = OneSidedDP().spec(), OneSidedDP().satisfied_by().mechanism
    assert verify(sample, spec).outcome.value == "verified"
    verdict = verify(sample, spec.replace(output_divergence=Mult()))
    assert verdict.outcome.value == "refuted"
    assert verdict.witness is not None
    assert (verdict.witness.left, verdict.witness.right) == ((("secret",),), (("open",),))


def test_a_one_way_witness_shows_the_event_of_its_direction() -> None:
    witness = verify(OneSidedDP().broken_by().mechanism, OneSidedDP().spec()).witness
    assert witness is not None
    assert witness.event is not None
    assert (witness.event.left.lower, witness.event.right.lower) == (1, 0)
