"""Attackers on published counts (thesis, chapter 2): a block, a block in a larger group, a record unique at several levels.

A release changes the belief of an attacker about which of two laws it came from; here the change is averaged over the release.

P is the law under what is true, Q the one under the alternative, p the prior probability of the truth. An outcome with the
privacy loss L = ln(dP/dQ) moves the belief in the truth to sigma(logit p + L) (Kazan 2025, Theorem 27); the functions here
average over L under P.

The worst mean posterior, and the most right bets, that an output divergence allows within a bound, are enclosed.

Let g(q) be the largest P(S) over events with Q(S) = q that is allowed; g is concave. The pair of laws whose best tests have just
that power is at least as informative as every allowed pair (Blackwell), so it has the largest mean of any convex function of the
likelihood ratio. g is evaluated at levels that get denser where the result is still open. Between two of them the likelihood
ratio lies between the slopes next door, which encloses what the piece can add.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import attrs
from flint import arb, ctx

from dpspec.plugin import (
    AttackerModel,
    Bracket,
    Exact,
    Floats,
    Integer,
    Items,
    Mechanism,
    Number,
    OutputDivergence,
    PrivacySpec,
    RiskStatement,
    Sense,
    define,
    errors,
    exact,
    late_module,
    laws,
    ln,
    memoize,
    number,
    params,
    risks,
)
from dpspec_attackers.semantics import pure_bound, said
from dpspec_attackers.worlds import IN_DOUBT

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    np = late_module("numpy")

_STEP = Fraction(1, 1 << 11)
"""The grid of privacy losses on which several releases are added up."""
_BEND = Fraction(1, 10)
"""A bound of the second derivative of the logistic function, which is 1/(6 sqrt 3) = 0.0962... at most."""
_ROUNDING = Fraction(1, 1 << 50)


def read_prior(prior: exact.NumberLike) -> Fraction:
    """A prior probability of the truth as a fraction.

    Raises:
        CertainTargetError: for 0 and 1: such an attacker learns nothing.
        ParameterError: outside [0, 1].
    """
    return IN_DOUBT.read(prior, "prior")


def believed(prior: Fraction, loss: arb) -> arb:
    """sigma(logit p + L) = p / (p + (1 - p) e^-L), also for an infinite loss."""
    if loss.is_finite():
        return 1 / (1 + exact.ball((1 - prior) / prior) * (-loss).exp())
    return arb(1) if loss > 0 else arb(0)


def as_probability(value: arb) -> Bracket:
    """A ball around a probability as a bracket inside [0, 1]."""
    found = Bracket.around(value, least=0)
    if value <= 1:
        return found
    return Bracket(lower=min(found.lower, number(1)), upper=min(found.upper, number(1)))


def expected_posterior(pair: laws.Dichotomy, prior: exact.NumberLike, *, precision: int = 64) -> Bracket:
    """E_P[ p P / (p P + (1 - p) Q) ]: the mean belief in the truth after the release (Kazan 2025, equations 2.5 and 2.6).

    It is exact for finitely many rational atoms. One release is summed cell by cell. Several independent releases are added up
    on a grid of losses, every atom split between its two neighbours so that its mean stays: the error of that is at most
    h^2/8 max|sigma''| for each release, h the step of the grid. A pair that is only known between two others is bracketed by
    theirs: p t^2/(p t + 1 - p) is convex in t = dP/dQ, so that processing the release never raises the mean.

    Args:
        pair: (P, Q), P the truth.
        prior: p.

    Raises:
        ParameterError: when the prior is not in (0, 1).
        NoFormulaError: when the pair cannot be cut into cells.

    >>> from dpspec.plugin import FiniteLaw
    >>> toss = FiniteLaw.bernoulli("3/4").against(FiniteLaw.bernoulli("1/4"))
    >>> str(expected_posterior(toss, "1/2"))
    '5/8'
    """
    p = read_prior(prior)
    atoms = laws.exact_atoms_of(pair)
    if atoms is not None:
        return Bracket.exactly(sum((a * p * a / (p * a + (1 - p) * b) for a, b in atoms if a), Fraction(0)))
    if pair.below() is not pair:
        low, high = (expected_posterior(end, p, precision=precision) for end in (pair.below(), pair.above()))
        return Bracket(lower=low.lower, upper=max(low.lower, high.upper))
    parts = [part for part, times in laws.releases_of(pair) for _ in range(times)]
    return _of_cells(parts[0], p, precision) if len(parts) == 1 else _of_several(parts, p, precision)


def expected_risk(pair: laws.Dichotomy, prior: exact.NumberLike, *, precision: int = 64) -> Bracket:
    """The mean factor by which the belief in the truth grows: `expected_posterior` over p; at least 1 (Kazan 2025)."""
    p = read_prior(prior)
    return expected_posterior(pair, p, precision=precision).scaled(1 / p)


def right_when_true(pair: laws.Dichotomy, prior: exact.NumberLike, *, precision: int = 64) -> Bracket:
    """P(posterior > 1/2): the probability that a bet on the likelier alternative is right (Kazan 2025). A tie is no bet.

    >>> from dpspec.plugin import FiniteLaw
    >>> toss = FiniteLaw.bernoulli("3/4").against(FiniteLaw.bernoulli("1/4"))
    >>> str(right_when_true(toss, "1/2")), str(right_when_true(toss, "1/4"))
    ('3/4', '0')
    """
    p = read_prior(prior)
    return laws.PrivacyLoss(pair).above(ln((1 - p) / p), precision=precision)


def right_on_average(pair: laws.Dichotomy, prior: exact.NumberLike, *, precision: int = 64) -> Bracket:
    """max over events S of p P(S) + (1 - p) (1 - Q(S)): how often the same bet is right when the truth is drawn from the prior.

    With t = (1 - p)/p it is 1 - p + p H, where H = sup P(S) - t Q(S), a hockey stick; for p > 1/2 that of the other direction.

    >>> from dpspec.plugin import FiniteLaw
    >>> toss = FiniteLaw.bernoulli("3/4").against(FiniteLaw.bernoulli("1/4"))
    >>> str(right_on_average(toss, "1/2")), str(right_on_average(toss, "1/8"))
    ('3/4', '7/8')
    """
    p = read_prior(prior)
    if 2 * p > 1:
        return right_on_average(pair.reverse(), 1 - p, precision=precision)
    stick = pair.hockey_stick(ln((1 - p) / p), precision=precision)
    return Bracket(lower=stick.lower * p + (1 - p), upper=stick.upper * p + (1 - p))


def _of_cells(pair: laws.Dichotomy, prior: Fraction, precision: int) -> Bracket:
    with ctx.workprec(precision + 32):
        cells = pair.cells(precision)
        low = sum((cell.p * believed(prior, cell.low) for cell in cells), arb(0))
        high = sum((cell.p * believed(prior, cell.high) for cell in cells), arb(0))
        return as_probability(low.union(high))


def _of_several(parts: Sequence[laws.Dichotomy], prior: Fraction, precision: int) -> Bracket:
    """The sum of several losses on the grid, as floats whose errors are bounded: all terms are positive."""
    from scipy.special import expit

    masses, start, lost, terms = np.ones(1), 0, Fraction(0), 0
    spread = Fraction(0)
    for part in parts:
        places, weights, missing, width = _on_grid(part, precision)
        lost, spread, terms = lost + missing, spread + width, terms + len(places) + 4
        low = int(places.min())
        summed = np.zeros(len(masses) + int(places.max()) - low)
        for place, weight in zip(places - low, weights, strict=True):
            summed[place : place + len(masses)] += weight * masses
        masses, start = summed, start + low
    logit = math.log(prior / (1 - prior))
    losses = (start + np.arange(len(masses))) * float(_STEP)
    total = Fraction(float(np.sum(masses * expit(losses + logit))))
    relative = (terms + Fraction(math.ceil(math.log2(len(masses)))) + 64) * _ROUNDING
    error = len(parts) * _STEP**2 * _BEND / 8 + spread / 4 + relative * total
    lower, upper = max(prior, total - error), min(Fraction(1), total + error + lost)
    return Bracket(lower=number(lower), upper=number(upper))


def _on_grid(pair: laws.Dichotomy, precision: int) -> tuple[NDArray[np.int64], Floats, Fraction, Fraction]:
    """Grid places and their masses, the mass whose loss is not known, and the width of the cells on average."""
    found: dict[int, float] = {}
    lost = spread = Fraction(0)
    for cell in pair.cells(precision):
        mass = exact.dyadic(cell.p.upper())
        if not (cell.low.is_finite() and cell.high.is_finite()):
            lost += mass
            continue
        middle = exact.dyadic((cell.low / 2 + cell.high / 2).mid())
        spread += mass * exact.dyadic((cell.high - cell.low).upper())
        place = math.floor(middle / _STEP)
        share = float(middle / _STEP - place)
        found[place] = found.get(place, 0.0) + float(mass) * (1 - share)
        found[place + 1] = found.get(place + 1, 0.0) + float(mass) * share
    places = sorted(found)
    return np.array(places, dtype=np.int64), np.array([found[place] for place in places]), lost, spread


# --- the worst of all pairs -----------------------------------------------------------------------


_PRECISION = 96
_MOST_LEVELS = 4000
_PASSES = 40
_WIDTH = Fraction(1, 10**5)
_START = tuple(Fraction(1, 1 << i) for i in range(48, 0, -1))


@attrs.frozen
class _Piece:
    """The part of g between two levels: its masses p and q, and bounds of dP/dQ on it."""

    level: Fraction
    p: arb
    q: arb
    least: arb
    most: arb


def worst_posterior(divergence: OutputDivergence, bound: Number, prior: exact.NumberLike) -> Bracket:
    """The largest E_P[ p P / (p P + (1 - p) Q) ] over all laws with d_Pr(P, Q) <= bound, in a bracket.

    Args:
        divergence: d_Pr, whose `largest_probability` is g.
        bound: in units of `lipschitz`.
        prior: p.

    Raises:
        NoFormulaError: when the divergence does not say g.

    >>> from dpspec_divergences import Mult
    >>> worst_posterior(Mult(), number("ln(3)"), "1/2").upper.decimal()
    '0.625'
    """
    p = read_prior(prior)
    if bound.is_infinite:
        return Bracket.exactly(1)
    if pure_bound(divergence, bound) == 0:
        return Bracket.exactly(p)
    with ctx.workprec(_PRECISION):
        levels = sorted({*_START, *(1 - level for level in _START)} | {Fraction(0), Fraction(1)})
        powers = {level: _power(divergence, bound, level) for level in levels}
        for _ in range(_PASSES):
            pieces = _pieces(levels, powers)
            ends = [_ends(piece, p) for piece in pieces]
            gaps = [(exact.dyadic((high - low).upper()), piece) for (low, high), piece in zip(ends, pieces, strict=True)]
            wide = [piece for gap, piece in gaps if gap > _WIDTH / len(pieces)]
            if sum(gap for gap, _ in gaps) <= _WIDTH or not wide or len(levels) > _MOST_LEVELS:
                break
            levels = _refined(levels, {piece.level for piece in wide}, powers, divergence, bound)
        apart = laws.positive(powers[Fraction(0)])
        low, high = (sum((pair[side] for pair in ends), apart) for side in (0, 1))
        return as_probability(low.lower().union(high.upper()))


def worst_bet(divergence: OutputDivergence, bound: Number, prior: exact.NumberLike) -> Bracket:
    """The largest max over S of p P(S) + (1 - p) (1 - Q(S)) over all laws with d_Pr(P, Q) <= bound, in a bracket.

    The probability that a bet on the likelier alternative is right, when the truth is drawn from the prior.

    >>> from dpspec_divergences import Mult
    >>> worst_bet(Mult(), number("ln(3)"), "1/2").upper.decimal()
    '0.75'
    """
    p = read_prior(prior)
    if bound.is_infinite:
        return Bracket.exactly(1)
    with ctx.workprec(_PRECISION):
        levels = sorted({*_START, *(1 - level for level in _START)} | {Fraction(0), Fraction(1)})
        powers = {level: _power(divergence, bound, level) for level in levels}
        least, most = max(p, 1 - p), Fraction(1)
        for _ in range(_PASSES):
            pieces = _pieces(levels, powers)
            shown = (
                exact.dyadic((exact.ball(p) * powers[level] + exact.ball((1 - p) * (1 - level))).lower()) for level in levels
            )
            least = max(least, *shown)
            tops = [(_top(piece, powers[piece.level], p), piece) for piece in pieces]
            most = max(least, *(top for top, _ in tops))
            open_pieces = {piece.level for top, piece in tops if top > least + _WIDTH}
            if not open_pieces or len(levels) > _MOST_LEVELS:
                break
            levels = _refined(levels, open_pieces, powers, divergence, bound)
        return Bracket(lower=number(min(least, Fraction(1))), upper=number(min(most, Fraction(1))))


@memoize(maxsize=1 << 14)
def _power(divergence: OutputDivergence, bound: Number, level: Fraction) -> arb:
    """g at a level, at least the level itself."""
    if level == 1:
        return arb(1)
    with ctx.workprec(_PRECISION):
        return divergence.largest_probability(exact.ball(level), bound.enclose(_PRECISION)).max(exact.ball(level)).min(arb(1))


def _refined(
    levels: Sequence[Fraction], chosen: set[Fraction], powers: dict[Fraction, arb], divergence: OutputDivergence, bound: Number
) -> list[Fraction]:
    """The levels with the middles of the chosen pieces, at which g is added to `powers`."""
    new = [(low + high) / 2 for low, high in itertools.pairwise(levels) if low in chosen]
    powers.update({level: _power(divergence, bound, level) for level in new})
    return sorted([*levels, *new])


def _pieces(levels: Sequence[Fraction], powers: dict[Fraction, arb]) -> list[_Piece]:
    steps = list(itertools.pairwise(levels))
    masses = [(laws.positive(powers[high] - powers[low]), exact.ball(high - low)) for low, high in steps]
    slopes = [p / q for p, q in masses]
    before = [arb.pos_inf(), *slopes[:-1]]
    after = [*slopes[1:], arb(0)]
    return [
        _Piece(low, p, q, laws.positive(least.lower()), most.upper())
        for (low, _), (p, q), least, most in zip(steps, masses, after, before, strict=True)
    ]


def _mean(ratio: arb, prior: Fraction) -> arb:
    """p t^2 / (p t + 1 - p): what an outcome with dP/dQ = t adds to the mean posterior, per unit of Q; convex in t."""
    return exact.ball(prior) * ratio**2 / (exact.ball(prior) * ratio + exact.ball(1 - prior))


def _ends(piece: _Piece, prior: Fraction) -> tuple[arb, arb]:
    """What a piece adds: at least that of its mean ratio (Jensen), at most that of its extreme ratios (the chord)."""
    low = piece.q * _mean(piece.p / piece.q, prior)
    at_least = _mean(piece.least, prior)
    rise = piece.p - piece.least * piece.q
    if not piece.most.is_finite():
        return low, (piece.q * at_least + laws.positive(rise))
    width = piece.most - piece.least
    if not width > 0:
        return low, (piece.q * _mean(piece.most, prior)).max(low)
    return low, piece.q * at_least + laws.positive(rise) * (_mean(piece.most, prior) - at_least) / width


def _top(piece: _Piece, start: arb, prior: Fraction) -> Fraction:
    """An upper bound of p g(q) + (1 - p) (1 - q) on a piece, g being below the two lines that its neighbours continue."""
    p, rest = exact.ball(prior), exact.ball(1 - prior)
    base = p * start + rest * (1 - exact.ball(piece.level))
    end = base + p * piece.p - rest * piece.q
    bounds = [base, end]
    if not piece.most.is_finite():
        bounds.append(end - (p * piece.least - rest) * piece.q)
    elif piece.most - piece.least > 0:
        place = laws.positive((piece.p - piece.least * piece.q) / (piece.most - piece.least)).min(piece.q)
        bounds.append(base + (p * piece.most - rest) * place)
    else:
        bounds.append(base + (p * piece.most - rest) * piece.q)
    return max(exact.dyadic(value.upper()) for value in bounds)


# --- shared by the attackers ----------------------------------------------------------------------


Place = tuple[tuple[str, str], ...]
Settings = tuple[tuple[Place, OutputDivergence, Number], ...]
"""The settings of statements: a place with the divergence and the bound that hold there."""

QUANTITIES = ("mean posterior of the truth", "mean posterior by prior", "right bets")
"""What is stated, in the order in which it is shown."""
PRIORS = ("1/2", "1/5", "1/10", "1/50")


@define
class CountAttacker(AttackerModel):
    """Base class of the attackers on counts: for every prior of the truth, the mean posterior, its ratio, and the right bets."""

    priors: Annotated[tuple[Fraction, ...], Items(IN_DOUBT, least=1)] = PRIORS  # type: ignore[assignment]
    distance: Annotated[Number, Exact(0, "inf", open_low=True, open_high=True)] = 1  # type: ignore[assignment]

    def settings(self, divergence: OutputDivergence, bound: Number) -> Settings:
        """The indices in display order, for candidates whose laws have a bounded divergence."""
        return (((), divergence, bound),)

    def worst_case(self, spec: PrivacySpec) -> tuple[RiskStatement, ...]:
        return by_quantity(risks.candidates_within(spec, self.distance).stated(partial(self.allowed, spec.output_divergence)))

    def allowed(self, given: OutputDivergence, bound: Number) -> tuple[RiskStatement, ...]:
        """What holds of all laws within a bound of a divergence."""
        return by_quantity(
            statement
            for place, divergence, joint in self.settings(given, bound)
            for statement in self.statements(
                place,
                Sense.AT_MOST,
                f"mean over the least private pair of laws that {divergence.in_words()} allows (Blackwell); {self.source}",
                partial(worst_posterior, divergence, joint),
                partial(worst_bet, divergence, joint),
            )
        )

    def beside(self, spec: PrivacySpec, own: Callable[[], Iterable[RiskStatement]]) -> tuple[RiskStatement, ...]:
        """The published facts in addition to a mechanism's own law, which is evaluated only where they leave candidates."""
        found = risks.candidates_within(spec, self.distance)
        certain = tuple(found.published(partial(self.allowed, spec.output_divergence)))
        asked = found.bound is not None or bool(getattr(self, "datasets", ()))
        return by_quantity((*certain, *found.left_open(own() if asked else ())))

    def of_pairs(self, place: Place, relation: Sense, theorem: str, pairs: Sequence[laws.Dichotomy]) -> tuple[RiskStatement, ...]:
        """The statements about given pairs of laws: the largest value of each quantity."""
        return self.statements(
            place,
            relation,
            theorem,
            lambda p: exact.largest(expected_posterior(pair, p) for pair in pairs),
            lambda p: exact.largest(right_on_average(pair, p) for pair in pairs),
        )

    def statements(
        self,
        place: Place,
        relation: Sense,
        theorem: str,
        posterior: Callable[[Fraction], Bracket],
        bet: Callable[[Fraction], Bracket],
    ) -> tuple[RiskStatement, ...]:
        """One statement for every prior and quantity."""
        made = []
        for p in self.priors:
            mean = posterior(p)
            for quantity, value in zip(QUANTITIES, (mean, mean.scaled(1 / p), bet(p)), strict=True):
                at = (("prior", str(p)), *place, ("distance", str(self.distance)))
                most = 1 / p if quantity == QUANTITIES[1] else 1
                made.append(said(quantity, at, relation, value, theorem, self.assumption, trivial=most))
        return by_quantity(made)


def by_quantity(statements: Iterable[RiskStatement]) -> tuple[RiskStatement, ...]:
    """The statements about one quantity side by side."""
    return tuple(sorted(statements, key=lambda statement: QUANTITIES.index(statement.quantity)))


# --- attackers ------------------------------------------------------------------------------------


@define
class BlockKnowledge(CountAttacker):
    """An attacker who knows all records of a block but one, and reads a count with noise (Kazan 2025).

    Shown are the posterior of what is true, averaged over the release (Kazan 2025, equations 2.5 and 2.6), the factor by which
    that exceeds the prior, and how often a bet on what seems likelier is right when the truth is drawn from the prior. One
    realised posterior can be larger.

    Args:
        priors: p, the prior probability of what is true, in (0, 1).
        distance: the largest distance of the two candidate datasets, in the unit of the input divergence.
        datasets: the candidate datasets, for the mechanism's own law; by default all, or the smallest of a large space.

    >>> from dpspec_divergences.routes import pure_spec
    >>> attacker = BlockKnowledge(priors=["1/2"])
    >>> [said.value.upper.decimal(4) for said in attacker.worst_case(pure_spec(epsilon="ln(3)"))]
    ['0.625', '1.25', '0.75']
    """

    name: ClassVar[str] = "block-knowledge"
    title: ClassVar[str] = "knows everybody in the block but one"
    knowledge: ClassVar[str] = (
        "all records of the block but the target's, and a prior probability p of what is true of the target"
    )
    target: ClassVar[str] = "whether the target is counted"
    observation: ClassVar[str] = "the whole release, of which a noisy count of the block is a part"
    assumption: ClassVar[str] = "the other records are known exactly, and the prior of what is true is p"
    source: ClassVar[str] = "Kazan 2025, Section 2.3.1, equations 2.3 and 2.5 to 2.8"

    datasets: Annotated[tuple[object, ...], Items(params.Data())] = ()

    def named_datasets(self) -> tuple[object, ...]:
        return self.datasets

    def under(self, mechanism: Mechanism, spec: PrivacySpec) -> tuple[RiskStatement, ...]:
        return self.beside(spec, partial(self._own, mechanism, spec))

    def _own(self, mechanism: Mechanism, spec: PrivacySpec) -> tuple[RiskStatement, ...]:
        looked = risks.pairs_within(spec, self.distance, self.datasets or None).compare(mechanism, spec)
        return self.of_pairs((), looked.sense, f"exact Bayes (Kazan 2025, equations 2.5 and 2.6), {looked.scope}", looked.pairs)


@define
class Uniqueness(CountAttacker):
    """An attacker who knows that the target is unique at several levels, and reads a count at each of them (Kazan 2025).

    The specification is what the release of *one* level keeps; l levels are l such releases with their own noise.

    Args:
        priors: p, the prior probability of the true value, in (0, 1).
        distance: the largest distance of the two candidate datasets, in the unit of the input divergence.
        levels: numbers of levels, at least 1 each.
        datasets: the candidate datasets, for the mechanism's own law; by default all, or the smallest of a large space.

    >>> from dpspec_divergences.routes import pure_spec
    >>> attacker = Uniqueness(priors=["1/2"], levels=[1, 2])
    >>> [said.value.upper.decimal(4) for said in attacker.worst_case(pure_spec(epsilon="ln(3)"))][:2]
    ['0.625', '0.82']
    """

    name: ClassVar[str] = "uniqueness"
    title: ClassVar[str] = "knows that the target is unique at several levels"
    knowledge: ClassVar[str] = (
        "all variables of the target but one, that they are unique at each level, and a prior p of the true value"
    )
    target: ClassVar[str] = "the one unknown variable of the target"
    observation: ClassVar[str] = "one release for every level"
    assumption: ClassVar[str] = (
        "the releases of the levels have independent noise and each keeps the specification; the prior is p"
    )
    source: ClassVar[str] = "Kazan 2025, Section 2.6.3"

    levels: Annotated[tuple[int, ...], Items(Integer(1), least=1)] = (1, 2, 3, 4, 5, 6)
    datasets: Annotated[tuple[object, ...], Items(params.Data())] = ()

    def named_datasets(self) -> tuple[object, ...]:
        return self.datasets

    def settings(self, divergence: OutputDivergence, bound: Number) -> Settings:
        if bound.is_infinite:
            return tuple(((("levels", str(count)),), divergence, bound) for count in self.levels)
        parameter = divergence.budget_parameters[0]
        budget = divergence.budget_for(parameter, bound)
        made = []
        for count in self.levels:
            joint = divergence.composed([(divergence, budget)] * count)
            if joint is None:
                rule = f"{divergence.in_words()} does not say what {count} releases spend together"
                raise errors.AttackerMisfitError("output divergence", rule, "ask about a divergence with a composition theorem")
            total = joint.divergence.lipschitz(joint.divergence.budget_parameters[0], joint.value)
            made.append(((("levels", str(count)),), joint.divergence, total))
        return tuple(made)

    def under(self, mechanism: Mechanism, spec: PrivacySpec) -> tuple[RiskStatement, ...]:
        return self.beside(spec, partial(self._own, mechanism, spec))

    def _own(self, mechanism: Mechanism, spec: PrivacySpec) -> tuple[RiskStatement, ...]:
        looked = risks.pairs_within(spec, self.distance, self.datasets or None).compare(mechanism, spec)
        return by_quantity(
            said
            for count in self.levels
            for said in self.of_pairs(
                (("levels", str(count)),),
                looked.sense,
                f"exact Bayes for independent releases (Kazan 2025, Section 2.6.3), {looked.scope}",
                [laws.compose([(pair, count)]) for pair in looked.pairs],
            )
        )


@define
class Hierarchical(CountAttacker):
    """An attacker who does not know the other blocks, but has a prior about them (Kazan 2025).

    Mixtures of laws with the same weights are no easier to distinguish than the laws themselves, since the largest allowed power
    is concave in the level. So a bound for an attacker who knows all others holds here too, *if* the belief about the others is
    the same whichever is true of the target. That is so for a uniform prior of the group's count given the block's; a prior that
    is uniform up to a fixed number is not of that kind.

    Args:
        priors: p, the prior probability of what is true of the target, in (0, 1).
        distance: the largest distance of a dataset and its contrary, in the unit of the input divergence.
        worlds: pairs (x, x') of datasets, equally likely: the same others, and what is true of the target or its contrary;
            without them, in a small space of vectors, the target is the first entry, of whose values the worst two are taken,
            and the others are anything.

    >>> from dpspec_divergences.routes import pure_spec
    >>> said = Hierarchical(priors=["1/2"]).worst_case(pure_spec(epsilon="ln(3)"))[0]
    >>> said.value.upper.decimal(4), said.assumption
    ('0.625', 'the belief about the other records does not depend on what is true of the target')
    """

    name: ClassVar[str] = "hierarchical"
    title: ClassVar[str] = "does not know the other blocks, but has a prior about them"
    knowledge: ClassVar[str] = "a prior of the target, and one of all others"
    target: ClassVar[str] = "whether the target is counted in its block"
    observation: ClassVar[str] = "the whole release: counts of the block, of the other blocks, and of the group around them"
    assumption: ClassVar[str] = "the belief about the other records does not depend on what is true of the target"
    source: ClassVar[str] = "Kazan 2025, Sections 2.3.2, 2.8 and 2.9, equations 2.16 to 2.19"

    worlds: Annotated[tuple[tuple[object, ...], ...], Items(Items(params.Data(), least=2))] = ()

    def under(self, mechanism: Mechanism, spec: PrivacySpec) -> tuple[RiskStatement, ...]:
        return self.beside(spec, partial(self._own, mechanism, spec))

    def _own(self, mechanism: Mechanism, spec: PrivacySpec) -> tuple[RiskStatement, ...]:
        groups = [self._named(spec)] if self.worlds else self._by_first_entry(spec)
        sizes = sorted({len(worlds) for worlds in groups})
        several = f"{sizes[0]} to {sizes[-1]}" if len(sizes) > 1 else str(sizes[0])
        worst = "" if self.worlds else ", the worst two values of the target"
        theorem = (
            f"exact Bayes for mixtures over {several} equally likely sets of others (Kazan 2025, equations 2.16 to 2.19){worst}"
        )
        return self.of_pairs((), Sense.EQUALS, theorem, [self._mixed(mechanism, spec, worlds) for worlds in groups])

    def _named(self, spec: PrivacySpec) -> list[tuple[Any, Any]]:
        pairs = [(spec.space.dataset(pair[0]), spec.space.dataset(pair[1])) for pair in self.worlds]
        for truth, contrary in pairs:
            shared = spec.multiverse.share_universe(truth, contrary, spec.space)
            if not shared or spec.distance(truth, contrary) > self.distance:
                rule = f"holds a pair of datasets that are not of one universe within distance {self.distance}"
                raise errors.NotReachedError("worlds", rule, "name pairs (x, x') that are neighbours")
        return pairs

    @staticmethod
    def _mixed(mechanism: Mechanism, spec: PrivacySpec, worlds: Sequence[tuple[Any, Any]]) -> laws.Dichotomy:
        """The laws of the release where one thing is true of the target, and where the contrary is, over the others."""
        shares = [Fraction(1, len(worlds))] * len(worlds)
        truth, contrary = (laws.mixture(shares, [mechanism.law(pair[side], spec.space) for pair in worlds]) for side in (0, 1))
        return truth.against(contrary)

    def _by_first_entry(self, spec: PrivacySpec) -> list[list[tuple[Any, Any]]]:
        """For each two values of the first entry, in both orders, the pairs of datasets that differ in it alone."""
        if not spec.space.is_ordered:
            rule = f"cannot be read off a space of {spec.space.name}, which has no first entry"
            raise errors.AttackerMisfitError("worlds", rule, "name pairs (x, x') of datasets that differ in the target alone")
        found = risks.pairs_within(spec, self.distance)
        if not found.complete:
            rule = "are too many to list, so that the others cannot be anything"
            raise errors.NotEnumerableError(f"datasets of {spec.space.name}", rule, "name pairs: --set 'worlds=[[X, Y]]'")
        groups: dict[tuple[Any, Any], list[tuple[Any, Any]]] = {}
        pairs: Sequence[tuple[Any, Any]] = found.pairs
        for one, other in pairs:
            is_moved = len(one) == len(other) and one[1:] == other[1:] and one[0] != other[0]
            if is_moved and spec.distance(one, other) <= self.distance:  # candidates are near in one of the two orders
                groups.setdefault((one[0], other[0]), []).append((one, other))
        if not groups:
            rule = f"has no two datasets of one universe within distance {self.distance} that differ in the first entry alone"
            raise errors.NotReachedError(f"space {spec.space.name}", rule, "name pairs: --set 'worlds=[[X, Y]]'")
        return list(groups.values())
