"""The tables of docs/swapping-theorem.md: printed budgets of swaps beside their exact constants, from the specification files.

    python -m reproductions.swapping_theorem

writes them into the page, between its marks (Bailie, Gong and Meng 2023; Bailie et al. 2024 for the printed numbers).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import cast

from dpspec_census.swap_budget import SwappingBudget, nominal_budget
from dpspec_census.swap_constant import sizes_refuted
from dpspec_census.swapping import DerangementSwapping, PermutationSwapping, Swapping

from dpspec.api import read
from dpspec.base.exact import Bracket, Number
from dpspec.base.params import evolve

ROOT = Path(__file__).parents[1]
PAGE, SPECS = ROOT / "docs" / "swapping-theorem.md", ROOT / "specs"
SCHEMES = ("state-county", "state-size-county", "county-tract", "county-size-tract", "blockgroup-block", "blockgroup-size-block")
RATES = tuple(Fraction(text) for text in ("51/100", "11/20", "57/100", "59/100", "3/5", "2/3", "3/4", "9/10", "19/20", "99/100"))
LARGEST_1940 = 264_331
DECIMALS = 9


def sizes() -> Iterator[str]:
    """Where the form of 2024 is false for permutations, at some rates."""
    yield "| p | o | false for permutations at the sizes n |"
    yield "|---|---|---|"
    for rate in RATES:
        ranges = sizes_refuted(rate, "s24")
        said = ", ".join(
            str(least) if least == most else f"{least} to {most}" if most else f"{least} and more" for least, most in ranges
        )
        yield f"| {rate} | {rate / (1 - rate)} | {said or 'none'} |"


def schemes_2020() -> Iterator[str]:
    """The six schemes at both rates."""
    yield "| scheme | largest stratum | p | printed | exact, derangement | over | exact, permutation | over |"
    yield "|---|---|---|---|---|---|---|---|"
    for name in SCHEMES:
        budget = cast("SwappingBudget", read(SPECS / f"swapping-2020-{name}.dpspec.toml").spec.budget)
        size = cast("int", budget.largest_stratum)
        document = read(SPECS / "swapping-2020" / f"swapping-2020-{name}-by-universe.dpspec.toml")
        deranges = cast("DerangementSwapping", document.mechanism)
        for rate in (budget.swap_rate, Fraction(1, 2)):
            printed = nominal_budget(size, rate)
            cells = [name, f"{size:,}", str(rate), _decimal(printed)]
            for mechanism in (evolve(deranges, swap_rate=rate), _permuting(deranges, rate)):
                stratum = mechanism.constants().strata(document.spec.space)[0]
                found = mechanism.constant(document.spec.space, {stratum: size}).value
                cells += [_certain(found), _excess(printed, found)]
            yield f"| {' | '.join(cells)} |"


def massachusetts_1940() -> Iterator[str]:
    """The four rates of 1940: with values enough, and with the two tenures of the file."""
    document = read(SPECS / "swapping-1940-massachusetts.dpspec.toml")
    mechanism, size = cast("DerangementSwapping", document.mechanism), LARGEST_1940
    yield "| p | printed | exact with five values a side | over | with two tenures: at least | at most |"
    yield "|---|---|---|---|---|---|"
    for rate in (Fraction(1, 100), Fraction(1, 20), Fraction(1, 10), Fraction(1, 2)):
        swap, printed = evolve(mechanism, swap_rate=rate), nominal_budget(size, rate)
        whole = swap.stratum_constant(size, rate).value
        found = swap.constant(document.spec.space, {("2",): size}).value
        ends = f"{_decimal(found.lower, 4)} | {_decimal(found.upper, 4)}"
        yield f"| {rate} | {_decimal(printed)} | {_certain(whole)} | {_excess(printed, whole)} | {ends} |"


def _permuting(mechanism: Swapping, rate: Fraction) -> PermutationSwapping:
    return PermutationSwapping(match=mechanism.match, swap=mechanism.swap, swap_rate=rate, unit=mechanism.unit)


def _decimal(value: Number, places: int = DECIMALS) -> str:
    """So many decimals, rounded from an enclosure of 200 bits."""
    return f"{float(value.enclose(200).mid()):.{places}f}"


def _certain(bracket: Bracket) -> str:
    """Decimals that both ends share."""
    lower, upper = _decimal(bracket.lower), _decimal(bracket.upper)
    if lower != upper:
        raise ValueError(f"{bracket} is wider than {DECIMALS} decimals")
    return lower


def _excess(printed: Number, found: Bracket) -> str:
    if not printed > found.upper:
        return "**false**" if found.lower > printed else "tight"
    return f"{float((printed - found.upper).enclose(200).mid()):.2g}"


MADE = {"sizes": sizes, "schemes-2020": schemes_2020, "massachusetts-1940": massachusetts_1940}


def page(text: str) -> str:
    """The page with its tables made anew."""
    for name, table in MADE.items():
        begin, end = f"<!-- made: {name} -->", f"<!-- end: {name} -->"
        before, _, rest = text.partition(begin)
        _, found, after = rest.partition(end)
        if not found:
            raise ValueError(f"{PAGE.name} has no place for {name}")
        text = before + "\n".join((begin, *table(), end)) + after
    return text


def main() -> None:
    """Write the tables into the page."""
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    sys.stdout.write(f"{PAGE.relative_to(ROOT)}\n")


if __name__ == "__main__":
    main()
