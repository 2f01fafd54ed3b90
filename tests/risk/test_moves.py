"""`risk --move` and `--exchange`: changes of a whole unit, against counts that are worked out by hand."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

import dpspec as dp
from dpspec.base.errors import AttackerMisfitError, NoFormulaError, NotReachedError, ParameterError

SPECS = Path(__file__).parents[2] / "specs"
VARIANCE = 8


def blocks_by_race(*invariants: dict, members: int = 4, attributes: tuple[str, ...] = ("block", "race")):
    """Counts of persons with discrete Gaussian noise of variance 8."""
    return dp.build(
        space={
            "type": "households", "members": members,
            "household": [{"name": "tract", "count": 2}, {"name": "block", "count": 4, "within": "tract"},
                          {"name": "tenure", "categories": ["owned", "rented"]}],
            "person": [{"name": "race", "categories": ["a", "b", "c"]}],
        },
        multiverse={"invariants": list(invariants)},
        input_divergence={"type": "hamming", "unit": "person"} if invariants else
        {"type": "symmetric-difference", "unit": "person"},
        output_divergence={"type": "d-nor"}, budget={"rho": "100"},
        mechanism={"type": "discrete-gaussian", "sensitivities": ["1"], "variance": str(VARIANCE),
                   "queries": [{"type": "marginal", "attributes": list(attributes), "unit": "person"}]},
    )  # fmt: skip


def rho_of(found) -> Fraction:
    return next(row.own[0].value.lower for row in found.rows if row.quantity.startswith("rho of")).as_fraction()


def gaussian(*changes: int) -> Fraction:
    """The rho of independent discrete Gaussian noise on counts that change so: half of the sum of squares by the variance."""
    return Fraction(sum(change * change for change in changes), 2 * VARIANCE)


TOTAL = {"type": "marginal", "attributes": [], "unit": "person"}


@pytest.mark.parametrize("members", [1, 3])
def test_a_household_that_moves_changes_two_cells_by_its_size(members: int) -> None:
    document = blocks_by_race(TOTAL)
    for within in (None, "tract"):
        found = dp.risk(document, move=["block"], within=within, members=members)
        assert rho_of(found) == gaussian(-members, members)
        assert {said.relation.value for row in found.rows for said in row.own if row.quantity.startswith("power against")} == {
            "at least"
        }


@pytest.mark.parametrize("members", [1, 2])
def test_an_exchange_of_two_kinds_changes_four_cells(members: int) -> None:
    """With the persons of each block held fixed, households of equal size and different race exchange blocks."""
    by_block = {"type": "marginal", "attributes": ["block"], "unit": "person"}
    document = blocks_by_race(by_block)
    with pytest.raises(NotReachedError, match="person by block"):
        dp.risk(document, move=["block"], members=members)
    found = dp.risk(document, exchange=["block"], members=members)
    assert rho_of(found) == gaussian(-members, members, -members, members)
    assert not found.exceeded


def test_an_exchange_of_blocks_within_a_tract_moves_no_table_of_tracts() -> None:
    document = blocks_by_race(TOTAL, attributes=("tract", "race"))
    with pytest.raises(AttackerMisfitError, match="within"):
        dp.risk(document, exchange=["block"], within="race")
    found = dp.risk(document, exchange=["block"], within="tract")
    assert rho_of(found) == 0


def test_an_exchange_of_a_swap_is_that_of_its_theorem() -> None:
    swap = SPECS / "swapping-derangement.dpspec.toml"
    found = dp.risk(swap, exchange=["county"])
    own = {dict(row.at)["level"]: row.own[0].value.lower for row in found.rows if row.quantity == "power"}
    rate = Fraction(3, 5)  # in the limit of a lone record: seen for certain unless it was selected
    assert own["1/20"] == 1 - rate + rate / 20
    with pytest.raises(NoFormulaError, match="an exchange of county, not of tenure"):
        dp.risk(swap, exchange=["tenure"])


@pytest.mark.parametrize(
    ("given", "fault", "match"),
    [
        ({"move": ["race"]}, AttackerMisfitError, "^move=race: is no attribute"),
        ({"exchange": ["block"], "members": 5}, AttackerMisfitError, "from 0 to 4"),
        ({"move": ["block"], "change": ["0"]}, ParameterError, "two categories"),
        ({"move": ["block"], "secret": ["race"]}, ParameterError, "does not go with"),
        ({"secret": ["race"], "members": 2}, ParameterError, "members"),
        ({"members": 2}, ParameterError, "belongs to"),
    ],
)
def test_what_does_not_fit(given: dict, fault: type[Exception], match: str) -> None:
    with pytest.raises(fault, match=match):
        dp.risk(blocks_by_race(TOTAL), **given)
