"""The page on TopDown and swapping is what the command prints, and its numbers are those of the sources and of a hand."""

from __future__ import annotations

import math
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from dpspec.base.exact import ln
from reproductions import topdown_vs_swapping
from reproductions.topdown_vs_swapping import main

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "topdown-vs-swapping.md"


def printed(*options: str) -> str:
    ran = CliRunner().invoke(main, ["--specs", str(ROOT / "specs"), *options])
    assert ran.exit_code == 0, ran.output
    return ran.stdout


@pytest.fixture(scope="module")
def page() -> str:
    return printed()


def rows(page: str, heading: str) -> list[list[str]]:
    """The first table under a heading, without its head."""
    under = page.split(f"# {heading}", 1)[1]
    table = re.search(r"(?:^\|.*\n)+", under, re.MULTILINE)
    assert table is not None
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table[0].splitlines()[2:]]


@pytest.mark.long
def test_the_page_is_what_the_command_prints(page) -> None:
    """Fix with: python -m reproductions.topdown_vs_swapping > docs/topdown-vs-swapping.md"""
    assert PAGE.read_text(encoding="utf-8") == page


def test_a_limit_of_an_attacker_is_not_rounded_below_the_truth() -> None:
    """ln 2 = 0.693147..., and ln 5 = 1.609437...: to the nearest decimal both are smaller."""
    for loss, said in ((ln(2), "at most e^0.6932"), (ln(5), "at most e^1.61"), (None, "no bound")):
        assert topdown_vs_swapping._odds(SimpleNamespace(loss=loss)) == said  # type: ignore[arg-type]


@pytest.mark.reference("B-N3")
def test_the_six_schemes_are_those_of_the_source(page) -> None:
    source = [
        ("13,680,081", "19.38", "16.43"), ("3,653,802", "18.06", "15.11"), ("3,445,076", "18.00", "15.05"),
        ("853,003", "16.60", "13.66"), ("21,535", "12.92", "9.98"), ("11,691", "12.31", "9.37"),
    ]  # fmt: skip
    found = rows(page, "The promises as stated")
    assert [tuple(row[2:5]) for row in found] == source
    assert all(row[5:] == ["no", "no"] for row in found)


def test_yardstick_1_by_hand(page) -> None:
    """epsilon = ln((b + 1)(1 - p)/p); rho = (epsilon/2) tanh(epsilon); TopDown has 15.29 N^2, by parts
    (2.56 + 4.96) N^2 + 0.07 + 7.70, N = 10.
    """
    for row, stratum in zip(rows(page, "Common measure 1"), (13680081, 3653802, 3445076, 853003, 21535, 11691), strict=True):
        epsilons = [math.log((stratum + 1) * (1 - p) / p) for p in (0.05, 0.5)]
        low, high = (epsilon / 2 * math.tanh(epsilon) for epsilon in epsilons)
        assert row[1:6] == [f"{low:.2f}", f"{high:.2f}", "1,529", "759.77", "1,529"]
        assert len(row) == 6


def test_verified_claims_are_compared(page) -> None:
    found = rows(page, "Verified claims")
    assert [row[1:] for row in found] == [["verified", "verified", "no", "no"]] * 6
    assert "smaller one" not in page


def test_yardstick_2_by_hand(page) -> None:
    """Two households exchanged: 2 epsilon, and 15.29 (2 N)^2; epsilon at delta = 1e-10 is below rho + 2 sqrt(10 rho ln 10)."""
    for row, stratum in zip(rows(page, "Common measure 2"), (13680081, 3653802, 3445076, 853003, 21535, 11691), strict=True):
        pure = 2 * math.log((stratum + 1) * 19)
        assert row[1:3] == [f"{pure * math.tanh(pure / 2):.2f}", "6,116"]
        assert float(row[3]) <= pure + 0.005
        assert 6116 < float(row[4].replace(",", "")) < 6116 + 2 * math.sqrt(6116 * math.log(1e10))


def test_the_answer_is_at_the_top_and_names_its_numbers(page) -> None:
    answer = page.split("## The promises as stated")[0]
    named = (
        "12 of 12",
        "rho = 15.29",
        "per person",
        "12.31 to 19.38",
        "per household",
        "rho = 1,529",
        "rho =\n  6.16 to 9.69",
        "759.77",
    )
    assert all(words in answer for words in ("Neither promise contains the other", "no finite budget", *named))
    assert "accepts 36 of 36" in " ".join(page.split())
    assert "share a universe of the swap in 6 of 6" in " ".join(page.split())


@pytest.mark.long
def test_the_assumption_can_be_another_one() -> None:
    """With at most 2 persons TopDown's stated rho is 61.16."""
    found = printed("--largest-household", "2", "--delta", "1e-6")
    assert {row[3] for row in rows(found, "Common measure 1")} == {"61.16"}
    assert "N = 2 persons" in found
    assert "delta = 1e-6" in found


def test_bad_input(tmp_path) -> None:
    for options in (["--largest-household", "0"], ["--specs", str(tmp_path / "none")], ["--delta", "2"]):
        assert CliRunner().invoke(main, options).exit_code != 0
