"""The tables of disclosure risk for block counts, recomputed from the configuration beside what is printed."""

from fractions import Fraction

import pytest
from dpspec_census.configuration_2020 import LEVEL_SHARES, LEVELS

from dpspec.extension import installed
from dpspec.reason.conversions import convert
from reproductions.block_risk import DETAILED, budgets, detailed_rho, marginal_risks, markdown, released_counts, unique_at


@pytest.mark.reference("Z-O2", "Z-N2.2")
def test_the_budgets_of_the_detailed_cells():
    expected = (0.050938, 0.050488, 0.051378, 0.050416, 0.246485, 0.099226)
    assert [float(detailed_rho(level)) for level in LEVELS] == pytest.approx(expected, abs=1e-6)
    assert all(entry.agrees for entry in budgets())


@pytest.mark.reference("Z-O3", "Z-N2.1", "Z-N2.3", "Z-S14")
def test_the_cells_and_the_shares():
    assert DETAILED.cells == 2 * 2 * 8 * 63 == 2016
    assert 2 * 6 * 8 * 9 == 864
    assert sum(share * 4099 for share in LEVEL_SHARES["person"]) == 4099


@pytest.mark.reference("Z-O1", "Z-T1", "Z-X5", "Z-N2.2")
def test_the_reported_conversion_is_cut_off():
    """rho + 2 sqrt(rho ln(1/delta)) at rho = 2.56 and delta = 1e-10 is 17.9153, which rounds to 17.92; 17.91 is printed."""
    found = convert(installed().registry, {"rho": "2.56"}, "epsilon", {"delta": "1e-10"})
    simple = next(path for path in found.paths if path.names == ("zcdp-to-approximate",))
    assert float(simple.value.upper) == pytest.approx(17.91528, abs=1e-5)
    assert round(float(simple.value.upper), 2) == 17.92


@pytest.mark.reference("Z-N2.4", "Z-X1", "Z-O4", "Z-O5", "Z-O6", "Z-O7")
def test_the_table_of_released_counts():
    """Only the probabilities differ, all five: they are printed for the wrong count."""
    entries = released_counts()
    assert len(entries) == 5 * (1 + 5 + 5)
    assert [entry.place for entry in entries if not entry.agrees] == [f"probability of {x}" for x in range(1, 6)]


@pytest.mark.reference("Z-N2.5", "Z-O8", "Z-O9")
def test_the_table_of_marginal_risks():
    assert all(entry.agrees for entry in marginal_risks())


@pytest.mark.reference("Z-F2.7", "Z-O28")
def test_risk_by_levels():
    found = {entry.place: float(entry.value.lower) for entry in unique_at(("1/2", "1/10"))}
    tenth = [1.1676, 1.6284, 1.7276, 1.8297, 1.9309, 2.0334]
    assert [found[f"{count} levels, prior 1/10"] for count in range(1, 7)] == pytest.approx(tenth, abs=6e-5)


def test_a_table_as_text():
    text = markdown(released_counts()[:2])
    assert text.splitlines()[2] == "| probability of 1 | 0.177721 | 0.161 | differs |"
    assert len(text.splitlines()) == 4
    assert Fraction("0.161") != released_counts()[0].value.lower
