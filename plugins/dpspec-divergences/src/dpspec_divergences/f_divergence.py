"""f-divergences, one way, the other way or both: D_f(P||Q) = sum q f(p/q) of a pair seen as a dichotomy, and their generators f.

Each is written so that f >= 0 with f(1) = 0, which adds a multiple of t - 1 to the usual form and changes no divergence; outcomes
that are left out then only lower the sum. An outcome with q = 0 counts p f'(inf), one with p = 0 counts q f(0).
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Annotated, ClassVar

import attrs
from flint import arb, ctx

from dpspec.plugin import (
    Bound,
    Bracket,
    Items,
    Number,
    OutputDivergence,
    ParameterError,
    Rational,
    Text,
    blocks,
    define,
    errors,
    exact,
    grammar,
    is_a,
    laws,
    ln,
    number,
)
from dpspec_divergences.output import Named, Renyi, TotalVariation, both_ways, is_pure

_LARGEST_EXACT = 512
"""An exact sum has at most this many summands."""


@attrs.frozen(kw_only=True)
class Generator:
    """A convex f on [0, inf) with f(1) = 0 and f >= 0.

    Args:
        name: its usual name.
        at_zero: f(0).
        slope: f'(inf), the limit of f(t)/t.
        term: q f(p/q) of two positive rationals, exactly; None when it has no exact form.
        ball: f(t) of a ball of positive numbers.
        is_symmetric: whether D_f(P||Q) = D_f(Q||P).
        bends_at_one: whether f is straight on no interval around 1, so that D_f(P||Q) = 0 for equal laws alone.
    """

    name: str
    at_zero: Number
    slope: Number
    term: Callable[[Fraction, Fraction], Number | None]
    ball: Callable[[arb], arb]
    is_symmetric: bool = False
    bends_at_one: bool = True

    @property
    def largest(self) -> Number:
        """f(0) + f'(inf): D_f of disjoint laws, and the least c with D_f <= c times the total variation."""
        return self.at_zero + self.slope

    def divergence(self, pair: laws.Dichotomy, precision: int) -> Bracket:
        """D_f(P||Q): exact where every term is, else in a bracket.

        Raises:
            NoFormulaError: when the pair has neither finitely many atoms nor cells.
        """
        if pair.is_identical:
            return laws.NOTHING
        if pair.below() is not pair:
            low, high = self.divergence(pair.below(), precision), self.divergence(pair.above(), precision)
            return Bracket(lower=low.lower, upper=high.upper)
        atoms = laws.exact_atoms_of(pair)
        if atoms is not None:
            return self._of_atoms(atoms, precision)
        with ctx.workprec(precision + 32):
            cells = pair.cells(precision)
            least = sum((self._least(cell) for cell in laws.merge(cells)), arb(0))
            most = sum((self._most(cell) for cell in laws.spread(cells)), arb(0))
            upper = Bracket.around(most, least=0).upper
            return Bracket(lower=min(Bracket.around(least, least=0).lower, upper), upper=upper)

    def binary(self, p: arb, q: arb) -> arb:
        """D_f of the laws (p, 1 - p) and (q, 1 - q)."""
        return self._mass(p, q) + self._mass(1 - p, 1 - q)

    def _of_atoms(self, atoms: Sequence[tuple[Fraction, Fraction]], precision: int) -> Bracket:
        if self.slope.is_infinite and any(not q for _, q in atoms):
            return Bracket.exactly(exact.INFINITY)
        if self.at_zero.is_infinite and any(not p for p, _ in atoms):
            return Bracket.exactly(exact.INFINITY)
        terms = [self._term(p, q) for p, q in atoms] if len(atoms) <= _LARGEST_EXACT else [None]
        known = [term for term in terms if term is not None]
        if len(known) == len(terms):
            return Bracket.exactly(sum(known, exact.ZERO))
        with ctx.workprec(precision + 32):
            return Bracket.around(sum((self._mass(exact.ball(p), exact.ball(q)) for p, q in atoms), arb(0)), least=0)

    def _term(self, p: Fraction, q: Fraction) -> Number | None:
        if not q:
            return self.slope * p
        return self.term(p, q) if p else self.at_zero * q

    def _mass(self, p: arb, q: arb) -> arb:
        """q f(p/q) of two balls; all that is possible where one of them is not known to be positive."""
        if p > 0 and q > 0:
            return q * self.ball(p / q)
        if p.is_zero() or q.is_zero():
            return _times(self.at_zero, q) if p.is_zero() else _times(self.slope, p)
        return (_times(self.slope, p) + _times(self.at_zero, q)).union(arb(0)) if p >= 0 and q >= 0 else arb.pos_inf()

    def _least(self, cell: laws.Cell) -> arb:
        """A lower bound on a cell merged to one atom, by Jensen's inequality."""
        if cell.p > 0 and cell.q > 0:
            return (cell.q * self.ball(cell.p / cell.q)).lower()
        if cell.q.is_zero():
            return _times(self.slope, cell.p).lower()
        return _times(self.at_zero, cell.q).lower() if cell.p.is_zero() else arb(0)

    def _most(self, cell: laws.Cell) -> arb:
        """An upper bound on a cell, by the chord of f over the range of its ratio."""
        low, high = cell.low, cell.high
        if cell.q.is_zero():
            return _times(self.slope, cell.p).upper()
        if cell.p.is_zero():
            return _times(self.at_zero, cell.q).upper()
        if low.is_finite() and high.is_finite():
            return (cell.q * self.ball(low.exp()).max(self.ball(high.exp()))).upper()
        if high.is_finite():
            share = cell.p / high.exp()
            return (_times(self.at_zero, laws.positive(cell.q - share)) + share * self.ball(high.exp())).upper()
        if low.is_finite():
            rest = laws.positive(cell.p - low.exp() * cell.q)
            return (cell.q * self.ball(low.exp()) + _times(self.slope, rest)).upper()
        return (_times(self.at_zero, cell.q) + _times(self.slope, cell.p)).upper()


def _times(factor: Number, mass: arb) -> arb:
    """factor x mass, 0 for a mass of 0."""
    return arb(0) if mass.is_zero() or factor == 0 else factor.enclose(ctx.prec) * mass


# --- generators by name ---------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class _ByRenyi(Generator):
    """One that is a function of a Renyi divergence, which every pair of laws knows about itself."""

    def divergence(self, pair: laws.Dichotomy, precision: int) -> Bracket:
        if self.name == KL:
            return pair.renyi(1, precision=precision)
        if laws.exact_atoms_of(pair) is not None:
            return super().divergence(pair, precision)
        found = pair.renyi(2, precision=precision)
        return Bracket(lower=_expm1(found.lower, precision).lower, upper=_expm1(found.upper, precision).upper)


def _expm1(value: Number, precision: int) -> Bracket:
    exact = laws.rational_exponential(value)
    if exact is not None:
        return Bracket.exactly(exact - 1)
    with ctx.workprec(precision + 32):
        return Bracket.around(value.enclose(precision + 32).expm1(), least=0)


def _half(value: arb) -> arb:
    return value / 2


def _squared(value: arb) -> arb:
    """The square also of a ball around 0, which `**` does not give."""
    return value * value


def _hellinger_term(p: Fraction, q: Fraction) -> Number | None:
    root = laws.rational_root(p * q, 2)
    return None if root is None else number((p + q) / 2 - root)


def _jensen_shannon_term(p: Fraction, q: Fraction) -> Number:
    return ln(2 * p / (p + q)) * (p / 2) + ln(2 * q / (p + q)) * (q / 2)


KL = "kl"
_LN2 = ln(2)
_HALF, _ONE = number(Fraction(1, 2)), number(1)

NAMED: dict[str, Generator] = {
    generator.name: generator
    for generator in (
        _ByRenyi(
            name=KL, at_zero=_ONE, slope=exact.INFINITY,
            term=lambda p, q: ln(p / q) * p - p + q, ball=lambda t: t * t.log() - t + 1,
        ),
        _ByRenyi(
            name="chi-squared", at_zero=_ONE, slope=exact.INFINITY,
            term=lambda p, q: number((p - q) ** 2 / q), ball=lambda t: _squared(t - 1),
        ),
        Generator(
            name="hellinger", at_zero=_HALF, slope=_HALF, is_symmetric=True,
            term=_hellinger_term, ball=lambda t: _half(_squared(t.sqrt() - 1)),
        ),
        Generator(
            name="jensen-shannon", at_zero=_LN2 / 2, slope=_LN2 / 2, is_symmetric=True,
            term=_jensen_shannon_term, ball=lambda t: _half(t * t.log() - (1 + t) * _half(1 + t).log()),
        ),
        Generator(
            name="triangular", at_zero=_ONE, slope=_ONE, is_symmetric=True,
            term=lambda p, q: number((p - q) ** 2 / (p + q)), ball=lambda t: _squared(t - 1) / (t + 1),
        ),
        Generator(
            name="total-variation", at_zero=_HALF, slope=_HALF, is_symmetric=True,
            term=lambda p, q: number(abs(p - q) / 2), ball=lambda t: _half(abs(t - 1)),
        ),
    )
}  # fmt: skip
"""The generators that have a name: t ln t, (t - 1)^2, (sqrt(t) - 1)^2 / 2, t ln t / 2 - (1 + t)/2 ln((1 + t)/2),
(t - 1)^2/(t + 1) and |t - 1|/2, each up to a multiple of t - 1."""

PIECEWISE = "piecewise-linear"
Knots = tuple[tuple[Fraction, ...], ...]


@functools.lru_cache(maxsize=256)
def piecewise_linear(knots: Knots) -> Generator:
    """The generator that is linear between its knots (t, f(t)) and goes on straight after the last.

    Raises:
        ParameterError: when the knots are on no convex function on [0, inf) with f(1) = 0.

    >>> hockey_stick = piecewise_linear(((Fraction(0), Fraction(0)), (Fraction(2), Fraction(0)), (Fraction(3), Fraction(1))))
    >>> str(hockey_stick.slope), str(hockey_stick.term(Fraction(3, 4), Fraction(1, 4)))
    ('1', '1/4')
    """
    if len(knots) < 2 or any(len(knot) != 2 for knot in knots) or knots[0][0] != 0:
        raise ParameterError("knots", "must be at least two pairs (t, f(t)), the first at t = 0", "give [[0, 1], [1, 0], [2, 0]]")
    lines = []
    for (t, value), (after, later) in itertools.pairwise(knots):
        if after <= t:
            raise ParameterError("knots", "must have increasing t", value=str(after))
        rise = (later - value) / (after - t)
        lines.append((value - rise * t, rise))
    if any(second[1] < first[1] for first, second in itertools.pairwise(lines)):
        raise ParameterError("knots", "must lie on a convex function", "only convex generators obey data processing")
    if max(a + b for a, b in lines) != 0:
        raise ParameterError(
            "knots", "must give f(1) = 0", "subtract f(1) from every value", value=str(max(a + b for a, b in lines))
        )
    tangent = max(rise for start, rise in lines if start + rise == 0)
    flat = tuple((start + tangent, rise - tangent) for start, rise in lines)

    def term(p: Fraction, q: Fraction) -> Number:
        return number(max(start * q + rise * p for start, rise in flat))

    def of_ball(t: arb) -> arb:
        return functools.reduce(arb.max, (exact.ball(start) + exact.ball(rise) * t for start, rise in flat))

    return Generator(
        name=PIECEWISE, at_zero=number(flat[0][0]), slope=number(flat[-1][1]), term=term, ball=of_ball,
        bends_at_one=len({rise for start, rise in lines if start + rise == 0}) > 1,
    )  # fmt: skip


# --- the divergence -------------------------------------------------------------------------------


_BISECTIONS = 50


_SPOKEN = {
    KL: "Kullback-Leibler divergence",
    "chi-squared": "chi-squared divergence",
    "hellinger": "squared Hellinger distance",
    "jensen-shannon": "Jensen-Shannon divergence",
    "triangular": "triangular discrimination",
    "total-variation": "total variation distance as an f-divergence",
}
"""What statisticians call the divergences of the named generators."""


@define
class FDivergence(Named):
    """An f-divergence: D_f(P||Q) = sum over outcomes of q f(p/q), of a convex f with f(1) = 0.

    An outcome with q = 0 counts p f'(inf), which is infinite for kl and chi-squared; one with p = 0 counts q f(0). The direction
    is part of the divergence: D_f(P||Q) and D_f(Q||P) differ for most f, and the second of two datasets plays Q. It is no metric.
    It is exact for `chi-squared`, `triangular`, `total-variation` and `piecewise-linear` on rational atoms, which give rational
    numbers, and for `kl` and `jensen-shannon`, which give logarithms. Its budget is the `divergence`, in nats for the last two
    (Barthe and Olmedo 2013; Barber and Duchi 2014).

    Args:
        generator: kl: t ln t. chi-squared: (t - 1)^2. hellinger: (sqrt(t) - 1)^2 / 2, the *squared* Hellinger distance.
            jensen-shannon: the mean of the two divergences kl from the mixture. triangular: (t - 1)^2 / (t + 1).
            total-variation: |t - 1| / 2. piecewise-linear: by its knots. The largest values are inf, inf, 1, ln 2, 2 and 1.
        direction: forward, D_f(P||Q); backward, D_f(Q||P); both, the larger of the two.
        knots: pairs (t, f(t)) of a piecewise linear generator, t a ratio of probabilities, from t = 0 on,
            straight after the last; f(1) = 0.

    >>> from dpspec.plugin import FiniteLaw
    >>> laws = FiniteLaw.bernoulli("3/4"), FiniteLaw.bernoulli("1/4")
    >>> [str(FDivergence(generator=name, direction="forward").between(*laws)) for name in ("kl", "chi-squared", "triangular")]
    ['1/2*ln(3)', '4/3', '1/2']
    """

    name: ClassVar[str] = "f-divergence"
    keeps_mixtures: ClassVar[bool] = True
    budget_parameters: ClassVar[tuple[str, ...]] = ("divergence",)

    generator: Annotated[str, Text((*NAMED, PIECEWISE))]
    direction: Annotated[str, Text(("forward", "backward", "both"))]
    knots: Annotated[Knots, Items(Items(Rational()))] = ()

    def __attrs_post_init__(self) -> None:
        if (self.generator == PIECEWISE) != bool(self.knots):
            raise ParameterError("knots", f"belong to the generator {PIECEWISE}, and to no other", value=self.generator)
        if self.knots:
            piecewise_linear(self.knots)

    @property
    def convex(self) -> Generator:
        """The generator itself."""
        return piecewise_linear(self.knots) if self.knots else NAMED[self.generator]

    @property
    def is_symmetric(self) -> bool:  # type: ignore[override]  # of this class it depends on the parameters
        return self.direction == "both" or self.convex.is_symmetric

    def evaluate(self, pair: laws.Dichotomy, *, precision: int = 64) -> Bracket:
        def forward(way: laws.Dichotomy) -> Bracket:
            return self.convex.divergence(way, precision)

        if self.direction == "both" and not self.convex.is_symmetric:
            return both_ways(pair, forward)
        return forward(pair.reverse() if self.direction == "backward" else pair)

    def separates_laws(self) -> bool:
        """By Jensen's inequality D_f(P||Q) = 0 for other laws than equal ones exactly where f is straight around 1."""
        return self.convex.bends_at_one

    def event_bounds(self, bound: Number) -> blocks.EventBounds | None:
        """Those of the total variation; of others where no laws are beyond the bound."""
        if self.generator == "total-variation":
            return ((exact.ZERO, bound),)
        return ((exact.ZERO, number(1)),) if bound >= self.convex.largest else None

    def largest_probability(self, q: arb, bound: arb) -> arb:
        """By bisection on the laws (p, 1 - p) and (q, 1 - q), in ball arithmetic; concave in q, since D_f is jointly convex."""
        low, high = q, arb(1)
        if self._binary(high, q) <= bound:
            return high
        for _ in range(_BISECTIONS):
            middle = ((low + high) / 2).mid()
            value = self._binary(middle, q)
            if not (value > bound or value <= bound):
                break
            low, high = (low, middle) if value > bound else (middle, high)
        return low.union(high)

    def _binary(self, p: arb, q: arb) -> arb:
        forth, back = self.convex.binary(p, q), self.convex.binary(q, p)
        return {"forward": forth, "backward": back, "both": forth.max(back)}[self.direction]

    def _bounded(self, other: OutputDivergence) -> Bound | None:
        if is_a(other, FDivergence) and (other.generator, other.knots) == (self.generator, self.knots):
            return (number(1), "one direction of the same divergence") if other.is_symmetric else None
        if self.generator == KL and is_a(other, Renyi):
            return number(1), "the Kullback-Leibler divergence is D_1, and D_alpha never decreases in alpha"
        if self.generator == KL and is_pure(other):
            return number(1), "a mean of log-ratios is at most the largest"
        return by_total_variation(self.convex.largest, "D_f is at most f(0) + f'(inf) times the total variation", other)

    def bounds(self, other: OutputDivergence) -> Bound | None:
        if self.generator == "total-variation" and is_a(other, TotalVariation):
            return number(1), "it is the total variation"
        return None

    def composed(self, parts: blocks.SpentBudgets) -> blocks.Composed | None:
        """Of the Kullback-Leibler divergence and the total variation; chi-squared multiplies, and of others nothing is known."""
        rules = {KL: "nats add", "total-variation": "the distance adds, at most"}
        if self.generator not in rules:
            return None
        return blocks.added(self, parts, rules[self.generator], "the chain rule: each part given those before it")

    def in_words(self) -> str:
        how = {"forward": "", "backward": ", backward", "both": ", in both directions"}[self.direction]
        knots = "; ".join(f"{t}: {value}" for t, value in self.knots)
        return _SPOKEN.get(self.generator, f"piecewise linear f-divergence, knots {knots}") + how

    def __str__(self) -> str:
        knots = "; ".join(f"{t}: {value}" for t, value in self.knots)
        return f"{self.name} ({self.generator}{' ' + knots if knots else ''}, {self.direction})"

    @classmethod
    def examples(cls) -> Iterable[FDivergence]:
        """What the conformance kit checks it with."""
        zero, one = Fraction(0), Fraction(1)
        yield cls(generator="kl", direction="forward")
        yield cls(generator="chi-squared", direction="backward")
        yield cls(generator="kl", direction="both")
        yield cls(generator="hellinger", direction="both")
        yield cls(generator="jensen-shannon", direction="forward")
        yield cls(generator=PIECEWISE, direction="forward", knots=((zero, one), (one, zero), (3 * one, one)))


def by_total_variation(most: Number, reason: str, other: OutputDivergence) -> Bound | None:
    """The bound of a divergence that is at most `most` times the total variation against one that bounds the latter."""
    variation = TotalVariation()
    known = grammar.divergence_bound(variation, other)
    if known is None or most.is_infinite:
        return None
    factor, why = known
    try:
        constant = most * factor
    except errors.NumericalError:  # such as ln(2) x sqrt(1/2)
        constant = Bracket.around(most.enclose() * factor.enclose(), least=0).upper
    return constant, reason if other == variation else f"{reason}; {why}"
