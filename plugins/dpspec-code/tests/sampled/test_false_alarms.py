"""How often a true claim is refuted: tight right mechanisms at error 1e-2, and the same counting on a broken engine.

At error a the number of refutations in n runs of tight right mechanisms is at most Binomial(n, a). The shorter run takes
10 x 25 = 250 runs and allows 13 (a larger count has probability 4e-7 at a rate of exactly 1 %); the long one takes 20,000 runs
on each of the ten, 200,000 in all, and allows 271 on each (a larger count has probability 7e-7 at a rate of exactly 1 %).
"""

from __future__ import annotations

import math

import pytest
from dpspec_code.sampled import engine as engine_module, search as wealth
from dpspec_code.sampled.engine import refute
from dpspec_code.sampled.null import Bet, Null

from dpspec.blocks.lists import ValueLists
from dpspec.verifier.verdict import Outcome
from tests.sampled.toys import BIT, claim, geometric_count, laplace_count, response

PAIR = ValueLists(values=(0,), most=1, ordered=False)


def k_ary(k: int, epsilon: float):
    """The truth among k values, else another one: tight at epsilon."""
    keep = math.exp(epsilon) / (math.exp(epsilon) + k - 1)
    return lambda x, rng: int(x[0] if rng.random() < keep else (x[0] + 1 + rng.integers(k - 1)) % k)


def unary(k: int, epsilon: float):
    """One-hot bits, each kept at epsilon/2: tight at epsilon."""
    keep = math.exp(epsilon / 2) / (1 + math.exp(epsilon / 2))
    return lambda x, rng: tuple(int((x[0] == place) ^ (rng.random() >= keep)) for place in range(k))


def gap(delta: float):
    """The record, with probability delta: tight at (0, delta)."""
    return lambda x, rng: len(x) if rng.random() < delta else -1


THREE = ValueLists(values=(0, 1, 2), least=1, most=1)
TIGHT = [
    (response(1.0), claim(BIT, epsilon=1)),
    (response(0.1), claim(BIT, epsilon="0.1")),
    (k_ary(3, 2.0), claim(THREE, epsilon=2)),
    (unary(3, 1.0), claim(THREE, epsilon=1)),
    (laplace_count(1.0), claim(PAIR, epsilon=1)),
    (geometric_count(0.5), claim(PAIR, epsilon="ln(2)")),
    (geometric_count(math.exp(-2)), claim(PAIR, epsilon=2)),
    (gap(0.1), claim(PAIR, epsilon=0, d_pr=("mult-delta", {"delta": "0.1"}))),
    (gap(0.3), claim(PAIR, epsilon="0.3", d_pr=("total-variation", {}), parameter="distance")),
    (lambda x, rng: len(x) + rng.normal(), claim(PAIR, epsilon="0.5", d_pr=("d-nor", {}), parameter="rho")),
]


def alarms(runs: int, draws: int, of=tuple(TIGHT)) -> int:
    """How many of `runs` runs on each tight right mechanism refute."""
    return sum(
        refute(function, spec, seed=seed, error="1e-2", draws=draws).outcome is Outcome.REFUTED
        for function, spec in of
        for seed in range(runs)
    )


@pytest.mark.long
@pytest.mark.statistical
def test_true_claims_are_refuted_no_more_often_than_the_error_says():
    assert alarms(25, 1_500) <= 13


@pytest.mark.long
@pytest.mark.statistical
@pytest.mark.parametrize("place", range(len(TIGHT)))
def test_true_claims_are_refuted_no_more_often_than_the_error_says_in_200_000_runs(place):
    count = alarms(20_000, 1_500, of=TIGHT[place : place + 1])
    print(f"{count} of 20,000 runs on mechanism {place} refute")
    assert count <= 271


@pytest.mark.long
@pytest.mark.statistical
def test_an_engine_that_does_not_divide_by_the_certified_mean_is_caught(monkeypatch):
    """A bet of twice its fair pay, undivided: the count above must go far over its limit."""

    def greedy(self: Null, p1: float, q1: float, shares: tuple[float, ...] = (1.0,)) -> tuple[Bet, ...]:
        return (Bet((1.2, 1.0, 1.0, 1.0), 1.0),) * len(shares)

    monkeypatch.setattr(Null, "bets", greedy)
    assert alarms(4, 1_500) > 15


@pytest.mark.long
@pytest.mark.statistical
def test_an_engine_that_bets_on_draws_it_has_seen_is_caught(monkeypatch):
    """Choosing the event on the very draws that are bet on: seen by the same count."""
    step = wealth.Account.step

    def peeking(self, calls, count):
        stakes, spent = list(self.stakes), self.spent
        step(self, calls, count)
        if self.found is not None:
            found = wealth.search(self.left, self.right, self.null, both_ways=self.both_ways)
            if found is not None:
                bets = self.null.bets(*found.alternative, wealth.SHARES)
                a, b = found.hits
                cells = (a, found.sizes[0] - a, b, found.sizes[1] - b)
                cells = (*cells[2:], *cells[:2]) if found.turned else cells
                self.stakes = [s if bet is None else s + bet.log_wealth(cells) for s, bet in zip(stakes, bets, strict=True)]
        assert self.spent > spent

    monkeypatch.setattr(engine_module.Account, "step", peeking)
    assert alarms(4, 1_500) > 4
