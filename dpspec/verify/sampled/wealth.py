"""Betting against the claim: an any-time valid test of one pair, many of which share one wealth.

An account bets on fresh draws of its pair with what its earlier draws taught it: before every round it chooses an event and an
alternative, and each draw multiplies its stake by a certified e-variable. Under the claim the expected wealth never grows, at any
stopping time (Ville). The j-th account that is opened holds 1/(j(j+1)) of the wealth, so that all together start with at most 1
and P(any account times its share ever reaches 1/error) <= error.
"""

from __future__ import annotations

import math

import attrs

from dpspec.verify.sampled.calls import Calls
from dpspec.verify.sampled.null import Null
from dpspec.verify.sampled.outputs import Outcomes
from dpspec.verify.sampled.pairs import Pair
from dpspec.verify.sampled.search import Found, search

SHARES = (1.0, 0.6, 0.3)
"""Each account splits its stake over these distances from the null to the estimate, for estimates err."""
HOPE = 2.0
_ROUNDING = 1e-6
MOST_REMEMBERED = 20_000
_LARGEST_STEP = 12_000


def weight(opened: int) -> float:
    """ln of the share of the account opened as number 1, 2, ...: 1/(j(j+1)), which add up to 1."""
    return -math.log(opened * (opened + 1))


@attrs.define(eq=False)
class Account:
    """A stake on one pair.

    Args:
        pair: x and x'.
        null: what the claim allows for the pair.
        label: names the account in the seeds.
        log_share: ln of its part of the common wealth.
        left, right: draws from x and x' that have been seen.
        both_ways: whether the event may be more probable under x'.
    """

    pair: Pair
    null: Null
    label: str
    log_share: float
    left: Outcomes
    right: Outcomes
    both_ways: bool = True
    found: Found | None = None
    fixed: bool = False
    stakes: list[float] = attrs.field(factory=lambda: [-math.log(len(SHARES))] * len(SHARES))
    spent: int = 0
    rounds: int = 0
    _searched: int = 0

    @property
    def log_wealth(self) -> float:
        """ln of the account's wealth, its share of the common wealth included."""
        top = max(self.stakes)
        if top == -math.inf:
            return top
        return top + math.log(sum(math.exp(stake - top) for stake in self.stakes)) + self.log_share - _ROUNDING

    @property
    def seen(self) -> int:
        """The draws that count for the present event."""
        return len(self.left) + len(self.right) if self.found is None else sum(self.found.sizes)

    def choose(self) -> None:
        """Choose the event for the next round; the old one stays unless another grows clearly faster."""
        old = self.found
        if old is not None and (self.fixed or self.seen < 1.4 * self._searched):
            return
        fresh = search(self.left, self.right, self.null, both_ways=self.both_ways)
        fresh = None if fresh is None else fresh.regrown(self.null)
        if old is None or (fresh is not None and fresh.event != old.event and fresh.growth > 1.2 * old.growth):
            self.found = fresh
        self._searched = self.seen

    def prospects(self) -> tuple[float, float]:
        """The growth per draw: as estimated, and at HOPE standard errors to its favour."""
        if self.found is None:
            return 0.0, 0.0
        p, q = self.found.alternative
        n, m = self.found.sizes[::-1] if self.found.turned else self.found.sizes
        far = self.null.rate(
            min(p + HOPE * math.sqrt(p * (1 - p) / n), 1 - 1e-6), max(q - HOPE * math.sqrt(q * (1 - q) / m), 1e-6)
        )
        return self.found.growth, far

    def step(self, calls: Calls, count: int) -> None:
        """One round: choose on the past, bet on `count` fresh draws."""
        self.choose()
        bets = (None,) * len(SHARES) if self.found is None else self.null.bets(*self.found.alternative, SHARES)
        self.rounds += 1
        stage = f"{self.label}-{self.rounds}"
        heads = calls.coin(f"{self.pair.left!r}|{self.pair.right!r}|{stage}", count)
        fresh = calls.draw(self.pair.left, stage, heads), calls.draw(self.pair.right, stage, count - heads)
        self.spent += count
        if self.found is not None:
            hits = self.found.event.count(fresh[0]), self.found.event.count(fresh[1])
            cells = (hits[0], heads - hits[0], hits[1], count - heads - hits[1])
            turned = (cells[2], cells[3], cells[0], cells[1]) if self.found.turned else cells
            self.stakes = [
                stake if bet is None else stake + bet.log_wealth(turned) for stake, bet in zip(self.stakes, bets, strict=True)
            ]
            self.found = self.found.extended(hits, (heads, count - heads), self.null)
        self.left, self.right = _latest(self.left + fresh[0]), _latest(self.right + fresh[1])

    def next_step(self, needed: float, room: int) -> int:
        """How many draws the next round takes: half of what was seen, or what the estimate says is missing."""
        rate = 0.0 if self.found is None else self.found.growth
        wanted = max(200, self.seen // 2)
        if rate > 0 and self.rounds:
            wanted = min(wanted, max(150, int(1.2 * (needed - self.log_wealth) / rate)))
        return max(1, min(wanted, _LARGEST_STEP, room))


def _latest(outcomes: Outcomes) -> Outcomes:
    surplus = len(outcomes) - MOST_REMEMBERED
    return outcomes.part(surplus) if surplus > 0 else outcomes
