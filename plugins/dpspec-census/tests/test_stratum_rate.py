"""Swap rates by stratum: the law, the code that releases, the budget, and the report agree."""

from __future__ import annotations

from fractions import Fraction

import attrs
import pytest
from dpspec_census import DerangementSwapping, PermutationSwapping, SwappingBudget, nominal_budget
from dpspec_code.automatic import enumerate_law, release_function
from dpspec_divergences import MultDelta

from dpspec.base.errors import DpspecError, NotInSpaceError, ParameterError
from dpspec.base.randomness import SeededRandomness
from dpspec.blocks.records import UnorderedRecords
from dpspec.grammar.tables import Table
from dpspec.grammar.workers import Run
from dpspec.verifier.entry import verify_claim
from dpspec.verifier.exhaustive import verify
from dpspec.verifier.verdict import Outcome

SPACE = UnorderedRecords(
    attributes=[
        {"name": "size", "categories": ["small", "large"]},
        {"name": "tenure", "count": 2},
        {"name": "county", "count": 2},
    ],
    unit="household",
    most=4,
)
OWN = [{"stratum": ["large"], "swap_rate": "2/5"}]
DATASET = SPACE.dataset([("small", "0", "0"), ("small", "1", "1"), ("large", "0", "0"), ("large", "1", "1")])


def swapping(kind=DerangementSwapping, rates=OWN, **others):
    return kind(match=["size"], swap=["county"], swap_rate="1/5", rates=rates, **others)


@pytest.mark.reference("B-A3")
@pytest.mark.reference("B-A4")
@pytest.mark.parametrize("kind", [DerangementSwapping, PermutationSwapping])
def test_the_release_code_has_the_law(kind):
    law = enumerate_law(release_function(swapping(kind), SPACE), DATASET, read=False)
    assert law == swapping(kind).law(DATASET, SPACE)
    assert law != swapping(kind, rates=[]).law(DATASET, SPACE)


def test_each_stratum_follows_its_own_rate():
    """B-O41 in each stratum: moved with odds p^2/(1-p)^2 of the two-record stratum."""
    law = swapping().law(DATASET, SPACE)
    moved = SPACE.dataset([("small", "0", "0"), ("small", "1", "1"), ("large", "0", "1"), ("large", "1", "0")])
    one, two = Fraction(1, 5), Fraction(2, 5)
    stays = (1 - one) ** 2 / ((1 - one) ** 2 + one**2)
    assert law.probability(moved) == stays * two**2 / ((1 - two) ** 2 + two**2)


@pytest.mark.reference("B-T11")
def test_the_claim_holds_and_not_with_the_rate_of_the_others_alone():
    claim = swapping(rates=[{"stratum": ["large"], "swap_rate": "1/50"}]).claims(SPACE)[0]
    mechanism = swapping(rates=[{"stratum": ["large"], "swap_rate": "1/50"}])
    assert verify_claim(mechanism, claim.spec).outcome is Outcome.VERIFIED
    forgetful = claim.spec.replace(budget=SwappingBudget(match=["size"], swap_rate="1/5"))
    assert verify_claim(mechanism, forgetful).outcome is Outcome.REFUTED


@pytest.mark.reference("B-D24")
def test_the_report_tells_the_largest_budget_of_a_stratum():
    records = [("small", str(i % 2), "0") for i in range(10)] + [("large", "0", str(i % 2)) for i in range(5)]
    table = Table.from_records(records, SPACE.attributes)
    wide = UnorderedRecords(attributes=SPACE.attributes, unit="household")
    rates = [{"stratum": ["large"], "swap_rate": "1/50"}]
    report = swapping(rates=rates).run(table, wide, Run(source=SeededRandomness(1))).report
    told = report["budget of this universe"][0]
    assert nominal_budget(5, Fraction(1, 50)) > nominal_budget(10, Fraction(1, 5))
    assert told["epsilon"] == str(nominal_budget(5, Fraction(1, 50)))
    assert report["other rates"] == {"large": "1/50"}


@pytest.mark.parametrize(
    ("rates", "error"),
    [
        ([{"stratum": ["large", "x"], "swap_rate": "1/5"}], ParameterError),
        ([*OWN, *OWN], ParameterError),
        ([{"stratum": ["large"], "swap_rate": "3/2"}], ParameterError),
        ([{"stratum": ["huge"], "swap_rate": "1/5"}], NotInSpaceError),
    ],
)
def test_rates_that_do_not_fit_are_refused(rates, error):
    with pytest.raises(error):
        swapping(rates=rates).check(SPACE)


def test_one_largest_stratum_goes_with_one_rate():
    with pytest.raises(DpspecError, match="one number for one rate"):
        SwappingBudget(match=["size"], swap_rate="1/5", rates=OWN, largest_stratum=7)


def test_a_stratum_with_its_own_rate_is_no_renaming_of_another():
    """A divergence that has no score over the whole law uses the declared symmetries, each checked on every law."""
    space = UnorderedRecords(
        attributes=[{"name": "match", "count": 2}, {"name": "rest", "count": 2}, {"name": "swap", "count": 2}], least=4, most=4
    )
    swap = DerangementSwapping(
        match=["match"], swap=["swap"], swap_rate="1/2", unit="person", rates=[{"stratum": ["1"], "swap_rate": "1/10"}]
    )
    spec = attrs.evolve(swap.claims(space)[0].spec, output_divergence=MultDelta(delta="1/100"))
    assert verify(swap, spec).outcome is Outcome.VERIFIED
    assert not any(symmetry.label.startswith("match") for symmetry in swap.symmetries(space))
