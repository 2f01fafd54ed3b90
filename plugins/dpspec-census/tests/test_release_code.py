"""The very code of `release`, run by the exact engine: its law is that of the listing, and it keeps its claim."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from dpspec_census import DerangementSwapping, PermutationSwapping
from dpspec_code.automatic import ReleaseCode, enumerate_law, release_function

from dpspec.base.params import define
from dpspec.blocks.records import UnorderedRecords
from dpspec.grammar.workers import Output
from dpspec.verifier.entry import verify_claim
from dpspec.verifier.exhaustive import verify
from dpspec.verifier.verdict import Outcome

KINDS = [{"name": "tenure", "count": 2}, {"name": "county", "count": 2}]
SPACE = UnorderedRecords(attributes=KINDS, unit="household", most=3)
MATCHED = UnorderedRecords(attributes=[{"name": "size", "count": 2}, *KINDS], unit="household", most=3)


@pytest.mark.spread(4)
@pytest.mark.reference("B-A3")
@pytest.mark.reference("B-A4")
@pytest.mark.parametrize("kind", [DerangementSwapping, PermutationSwapping])
@pytest.mark.parametrize("rate", ["1/5", "3/4", "1"])
def test_the_release_code_has_exactly_the_law(kind, rate):
    mechanism = kind(swap=["county"], swap_rate=rate)
    for dataset in SPACE.datasets():
        if dataset:
            assert enumerate_law(release_function(mechanism, SPACE), dataset, read=False) == mechanism.law(dataset, SPACE)


@pytest.mark.reference("B-S9")
def test_so_it_does_with_strata_and_four_records():
    mechanism = DerangementSwapping(match=["size"], swap=["county"], swap_rate="1/3")
    space = UnorderedRecords(attributes=MATCHED.attributes, unit="household", most=5)
    for dataset in (
        (("0", "0", "0"), ("0", "1", "1"), ("1", "0", "0"), ("1", "1", "1"), ("1", "1", "0")),
        (("0", "0", "0"), ("0", "0", "0"), ("0", "1", "1"), ("0", "1", "1")),
    ):
        known = space.dataset(dataset)
        assert enumerate_law(release_function(mechanism, space), known, read=False) == mechanism.law(known, space)


@pytest.mark.reference("B-T11")
def test_the_release_code_meets_its_claim():
    space = UnorderedRecords(attributes=KINDS, unit="household", most=3, least=1)
    mechanism = DerangementSwapping(swap=["county"], swap_rate="1/5")
    for claim in mechanism.claims(space):
        assert verify(ReleaseCode(mechanism), claim.spec).outcome is Outcome.VERIFIED


@define
class Looking(DerangementSwapping):
    """Does not swap where no record has a county like its tenure: a look at the data beyond the invariants."""

    name = "looking"

    def run(self, table, space, run):
        alike = table.codes["tenure"] == table.codes["county"]
        return DerangementSwapping.run(self, table, space, run) if alike.any() else Output(tables={"released": table})


@pytest.mark.long
def test_a_release_that_reads_more_than_it_may_is_refuted():
    space = UnorderedRecords(attributes=KINDS, unit="household", most=3, least=1)
    wrong = Looking(swap=["county"], swap_rate="1/5")
    claim = DerangementSwapping(swap=["county"], swap_rate=Fraction(1, 5)).claims(space)[0]
    verdict = verify_claim(release_function(wrong, space), claim.spec)
    assert verdict.outcome is Outcome.REFUTED
    assert verdict.witness is not None


def test_under_numpy_s_generator_the_release_is_keyed_by_it():
    mechanism = DerangementSwapping(swap=["county"], swap_rate="1/2")
    function = release_function(mechanism, SPACE)
    dataset = (("0", "0"), ("0", "1"), ("1", "1"))
    outcomes = {seed: function(dataset, np.random.default_rng(seed)) for seed in range(30)}
    assert outcomes == {seed: function(dataset, np.random.default_rng(seed)) for seed in range(30)}
    assert len(set(outcomes.values())) > 1
