"""The law of one exchange, against permutations that are written out, and its two computations against each other."""

from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction

import pytest
from dpspec_census.swap_constant import derangement_constant, permutation_constant
from dpspec_census.swap_law import EXACT_SIZE, ExchangePair, _atoms, exchange_law

from dpspec.plugin import Bracket, ParameterError, exact, laws

HALF = Fraction(1, 2)
RATES = [Fraction(rate) for rate in ("0", "1/20", "1/2", "2/3", "19/20", "1")]
Table = tuple[tuple[int, int], ...]


def written_out(values: list[int], rate: Fraction, derange: bool, rests: list[int] | None = None) -> dict[Table, Fraction]:
    """The law of the table of (rest, swap) pairs, from every selection of records and every permutation of it."""
    rests = list(range(len(values))) if rests is None else rests
    law: Counter[Table] = Counter()
    for size in range(len(values) + 1):
        if derange and size == 1:
            continue
        for chosen in itertools.combinations(range(len(values)), size):
            orders = [
                order
                for order in itertools.permutations(chosen)
                if not derange or all(one != other for one, other in zip(chosen, order, strict=True))
            ]
            for order in orders:
                moved = list(values)
                for one, other in zip(chosen, order, strict=True):
                    moved[one] = values[other]
                share = rate**size * (1 - rate) ** (len(values) - size) / len(orders)
                law[tuple(sorted(zip(rests, moved, strict=True)))] += share
    total = sum(law.values())
    return {table: mass / total for table, mass in law.items() if mass}


def ratios(one: dict[Table, Fraction], other: dict[Table, Fraction]) -> list[tuple[Fraction, Fraction]]:
    """Masses by the value of the likelihood ratio."""
    found: dict[Fraction, list[Fraction]] = {}
    for table in {*one, *other}:
        p, q = one.get(table, Fraction(0)), other.get(table, Fraction(0))
        held = found.setdefault(p / (p + q), [Fraction(0), Fraction(0)])
        held[0] += p
        held[1] += q
    return sorted((p, q) for p, q in found.values())


@pytest.mark.parametrize("derange", [True, False])
@pytest.mark.parametrize("rate", RATES, ids=str)
@pytest.mark.parametrize("size", [2, 3, 4, 5, 6])
def test_explicit_permutations(size: int, rate: Fraction, derange: bool) -> None:
    values = list(range(size))
    exchanged = [1, 0, *values[2:]]
    expected = ratios(written_out(values, rate, derange), written_out(exchanged, rate, derange))
    atoms = laws.exact_atoms_of(exchange_law(size, rate, derange=derange))
    assert atoms is not None
    assert sorted(atoms) == expected


@pytest.mark.parametrize("derange", [True, False])
def test_repeated_values_tell_less(derange: bool) -> None:
    """Every pair of tables of a universe with repeated values that differ by one exchange, at several levels and epsilons."""
    whole = exchange_law(5, Fraction(1, 3), derange=derange)
    for rests in ([0, 0, 1, 1, 2], [0, 1, 1, 1, 1], [0, 1, 2, 3, 4]):
        for values in ([0, 0, 1, 1, 2], [0, 1, 1, 1, 1], [0, 1, 2, 2, 3]):
            here = written_out(values, Fraction(1, 3), derange, rests)
            for i, j in itertools.combinations(range(5), 2):
                turned = list(values)
                turned[i], turned[j] = values[j], values[i]
                there = written_out(turned, Fraction(1, 3), derange, rests)
                pair = laws.FiniteDichotomy.of(ratios(here, there))
                if sorted(zip(rests, values, strict=True)) == sorted(zip(rests, turned, strict=True)):
                    assert pair.is_identical  # the exchange is no change
                for one in (pair, pair.reverse()):
                    for level in ("0", "1/100", "1/20", "1/2"):
                        assert laws.largest_power(one, level).upper <= laws.largest_power(whole, level).lower
                    for epsilon in ("0", "ln(5/4)", "ln(2)", "ln(3)", "ln(9)"):
                        assert one.hockey_stick(exact.number(epsilon)).upper <= whole.hockey_stick(exact.number(epsilon)).lower


@pytest.mark.spread(5, slow=5)
@pytest.mark.parametrize("derange", [True, False])
@pytest.mark.parametrize("rate", ["1/1000", "1/20", "1/2", "9/10", "48/49"])
def test_the_enclosure_holds_the_exact_law(rate: str, derange: bool) -> None:
    size, p = EXACT_SIZE + 1, Fraction(rate)
    precise = laws.FiniteDichotomy.of(_atoms(size, p, derange=derange))
    near = exchange_law(size, p, derange=derange)
    assert isinstance(near, ExchangePair)

    def holds(found: Bracket, known: Bracket, width: str) -> None:
        assert found.lower <= known.upper
        assert known.lower <= found.upper
        assert float(found.upper) - float(found.lower) <= float(width)

    for level in ("1/100", "1/20", "1/2"):
        holds(laws.largest_power(near, level), laws.largest_power(precise, level), "1e-9")
    for epsilon in ("0", "1", "3", "6"):
        holds(near.hockey_stick(exact.number(epsilon)), precise.hockey_stick(exact.number(epsilon)), "1e-9")
    holds(near.max_log_ratio(), precise.max_log_ratio(), "1e-12")
    holds(near.renyi(2), precise.renyi(2), "1e-9")
    holds(near.concentration(), precise.concentration(), "0.01")


@pytest.mark.parametrize("derange", [True, False])
@pytest.mark.parametrize("rate", ["1/200", "1/20", "1/2", "9/10", "199/200", "399/400"])
def test_wide_ranges_hold_the_exact_law(rate: str, derange: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """With few single numbers and few ranges the sums over ranges and the tails carry the weight."""
    from dpspec_census import swap_law

    size, p = 400, Fraction(rate)
    precise = swap_law._cells(size, p, derange=derange, precision=64)
    monkeypatch.setattr(swap_law, "RANGES", 5)
    wide = laws.Sandwich.of(lambda precision: swap_law._cells(size, p, derange=derange, precision=precision))
    narrow = laws.Sandwich.of(lambda _: precise)
    for level in ("1/100", "1/20"):
        one, other = laws.largest_power(wide, level), laws.largest_power(narrow, level)
        assert one.lower <= other.upper
        assert other.lower <= one.upper


@pytest.mark.parametrize(("constant", "derange"), [(derangement_constant, True), (permutation_constant, False)])
def test_the_largest_ratio_is_that_of_the_constant(constant, derange: bool) -> None:
    for size in (2, 4, 5, 10, 30):
        for rate in ("1/20", "1/2", "9/10", "99/100"):
            p = Fraction(rate)
            assert exchange_law(size, p, derange=derange).max_log_ratio() == constant(size, p).value.scaled(2)


def test_the_numbers_of_eight_records() -> None:
    pair = exchange_law(8, HALF, derange=True)
    assert round(float(laws.largest_power(pair, "1/20").lower), 7) == 0.4507893
    assert round(float(pair.total_variation().lower), 7) == 0.6127409


def test_permutations_agree_exactly_when_both_are_selected() -> None:
    """Given that i and j are selected, a uniform permutation and its product with tau have one law: the variation is 1 - p^2."""
    for size, rate in ((2, "1/3"), (7, "1/20"), (40, "9/10"), (5, "0")):
        p = Fraction(rate)
        assert exchange_law(size, p, derange=False).total_variation() == Bracket.exactly(1 - p * p)


@pytest.mark.parametrize("derange", [True, False])
@pytest.mark.parametrize("rate", ["1/20", "1/2"])
def test_thirteen_million_records(rate: str, derange: bool) -> None:
    p = Fraction(rate)
    pair = exchange_law(13_680_081, p, derange=derange)
    found = laws.largest_power(pair, "1/20")
    assert float(found.upper) - float(found.lower) < 1e-6
    assert abs(float(found.upper) - min(1.0, 1.05 - float(p) ** 2)) < 1e-6
    assert pair.total_variation().lower <= 1 - p * p + Fraction(1, 10**9)


def test_what_says_nothing() -> None:
    for size in (0, 1):
        assert exchange_law(size, HALF, derange=True).is_identical
    assert exchange_law(9, Fraction(1), derange=False).is_identical
    assert exchange_law(10**6, Fraction(0), derange=True).total_variation() == Bracket.exactly(1)
    with pytest.raises(ParameterError, match="swap_rate"):
        exchange_law(9, Fraction(3, 2), derange=True)


def test_everything_deranged() -> None:
    for size in (EXACT_SIZE + 1, EXACT_SIZE + 2):
        near = exchange_law(size, Fraction(1), derange=True)
        precise = laws.FiniteDichotomy.of(_atoms(size, Fraction(1), derange=True))
        found, known = near.total_variation(), precise.total_variation()
        assert found.lower <= known.lower <= found.upper
        assert near.max_log_ratio().lower.is_infinite
