"""The least epsilon that a risk profile asks for, by branch and bound over the priors: certified, where no closed form is known.

r <= r* says 1/r*(p, q) <= G(p, q, y) with y = e^-epsilon and G = p q + p (1 - q) y^2 + (1 - p) y, which never falls in q nor in y
and is linear in p. So for a profile that never grows with p or q, in a box [p0, p1] x [q0, q1],

    epsilon(p, q) >= min over p' in {p0, p1} of the epsilon at (p', q0) for the ratio r*(p1, q1):

one evaluation of the closed form of Z-T5 at two points, in ball arithmetic. No box is dropped but by this bound.
"""

from __future__ import annotations

import heapq
from fractions import Fraction
from itertools import count
from typing import TYPE_CHECKING

import attrs
from flint import arb, ctx

from dpspec.errors import ProfileBelowOneError, ProfileNotMonotoneError
from dpspec.exact import INFINITY, Bracket, dyadic, number
from dpspec_attackers.profiles.bayes import Place, decay_root

if TYPE_CHECKING:
    from dpspec_attackers.profiles.profile import RiskProfile

PRECISION = 96
CLOSE = 1e-9
"""The width in epsilon at which the search ends."""
MOST_BOXES = 6_000
"""Where it ends before, with a wider bracket that is as certain."""
NOTHING_ASKED = 2.0**-64
"""Where y is certainly below it, nothing that matters is asked for."""


@attrs.frozen
class _Box:
    p_low: Fraction
    p_high: Fraction
    q_low: Fraction
    q_high: Fraction

    def halves(self) -> tuple[_Box, _Box]:
        """Cut across the longer side, at a point whose denominator stays small."""
        if self.p_high - self.p_low >= self.q_high - self.q_low:
            p = (self.p_low + self.p_high) / 2
            return attrs.evolve(self, p_high=p), attrs.evolve(self, p_low=p)
        q = (self.q_low + self.q_high) / 2
        return attrs.evolve(self, q_high=q), attrs.evolve(self, q_low=q)

    @property
    def is_point(self) -> bool:
        return self.p_low == self.p_high and self.q_low == self.q_high


class _Search:
    """The state: boxes by their largest possible y, and the largest y that some attacker certainly asks for."""

    def __init__(self, profile: RiskProfile) -> None:
        self.profile = profile
        self.asked: dict[Place, Fraction | None] = {}
        self.best, self.place = arb(0), (profile.where().p_high, profile.where().q_high)

    def ratio(self, p: Fraction, q: Fraction) -> Fraction | None:
        """r*(p, q), asked once for each place and checked there."""
        if (p, q) not in self.asked:
            found = self.profile.tolerated(p, q)
            if found is not None and found < 1:
                raise ProfileBelowOneError(
                    self.profile.name, "must be at least 1: some outcome always raises the belief",
                    "tolerate at least the prior itself", value=f"{found} at p = {p}, q = {q}",
                )  # fmt: skip
            self.asked[p, q] = found
        return self.asked[p, q]

    def attain(self, p: Fraction, q: Fraction) -> None:
        """Take note of what one attacker asks for."""
        ratio = self.ratio(p, q)
        if ratio is not None:
            found = decay_root(p, q, 1 / ratio, PRECISION)
            if found.lower() > self.best.lower():
                self.best, self.place = found, (p, q)

    def bound(self, box: _Box) -> arb | None:
        """No attacker of the box asks for a larger y; None where the box asks for nothing."""
        corner = self.ratio(box.p_high, box.q_high)
        for p, q in ((box.p_low, box.q_high), (box.p_high, box.q_low)):
            if p and q:
                self._check(self.ratio(p, q), corner, (p, q), (box.p_high, box.q_high))
        if corner is None:
            return None
        return decay_root(box.p_low, box.q_low, 1 / corner, PRECISION).max(
            decay_root(box.p_high, box.q_low, 1 / corner, PRECISION)
        )

    def _check(self, small: Fraction | None, large: Fraction | None, at: Place, beyond: Place) -> None:
        if small is not None and (large is None or large > small):
            shown = "nothing" if large is None else f"{float(large):.6g}"
            raise ProfileNotMonotoneError(
                self.profile.name, "must not tolerate more for a larger prior",
                "make it fall with p and q, or ask for one region after the other and take the least epsilon",
                value=f"{float(small):.6g} at ({at[0]}, {at[1]}), {shown} at ({beyond[0]}, {beyond[1]})",
            )  # fmt: skip


def least_epsilon(profile: RiskProfile) -> tuple[Bracket, Place, str]:
    """The infimum of epsilon over the region of a profile in a bracket, the priors that bind, and what it rests on.

    Raises:
        ProfileBelowOneError: when r* < 1 somewhere it was evaluated.
        ProfileNotMonotoneError: when r* was seen to grow with p or q.
    """
    where = profile.where()
    search, order = _Search(profile), count()
    root = _Box(where.p_low, where.p_high, where.q_low, where.q_high)
    with ctx.workprec(PRECISION):
        waiting: list[tuple[float, int, arb, _Box]] = []

        def enter(box: _Box) -> None:
            for p in {box.p_low, box.p_high}:
                for q in {box.q_low, box.q_high}:
                    if p and q:
                        search.attain(p, q)
            most = search.bound(box)
            if most is not None and most.upper() > search.best.lower():
                heapq.heappush(waiting, (-float(most.upper()), next(order), most.upper(), box))

        enter(root)
        most = search.best.upper()
        while waiting:
            _, _, most, box = heapq.heappop(waiting)
            if box.is_point or most <= search.best.lower() * (1 + CLOSE) or most < NOTHING_ASKED or next(order) > MOST_BOXES:
                break
            for half in box.halves():
                enter(half)
        else:
            most = search.best.upper()
        return _bracket(search.best, most.max(search.best.upper())), search.place, _RESTS_ON


_RESTS_ON = "Z-T5, Z-T47; r* never grows with p or q (checked where it was evaluated)"


def _bracket(least: arb, most: arb) -> Bracket:
    """epsilon = -ln y for the y between two ends."""
    if most == 0:
        return Bracket.exactly(INFINITY)
    lower = number(dyadic((-most.log()).lower()))
    upper = INFINITY if not least > 0 else number(dyadic((-least.log()).upper()))
    return Bracket(lower=max(lower, number(0)), upper=max(upper, number(0)))
