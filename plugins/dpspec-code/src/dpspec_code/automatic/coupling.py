"""The law of code that draws noise, and bounds on the divergence of two such laws: by a coupling that shifts the draws.

On a dataset x the code is a tree T_x: it draws W with independent, known laws, takes a branch by conditions on W, and ends in an
output that is an expression in W.

**Theorem.** Let T_x(w) = T_x'(w + delta) for almost all w: the same branches, with equal probabilities, and equal outputs. Then
(P_x, P_x') is an image of the pair of the laws of W + delta and W, so that d_Pr(P_x, P_x') is at most that of this pair,
under every output divergence (data processing).

*Proof.* P_x is the law of T_x(W) = T_x'(W + delta), P_x' that of T_x'(W); T_x' is one map.

The conditions and outputs of both trees are compared expression by expression, which gives linear equations for delta:
expressions e and e' agree after the shift when they are the same functions of affine parts, and for the affine parts a.W + c and
a.W + c' one has a.delta = c - c'. Where W can be computed from the output, the map is one to one and the bound is attained.

**Another shift at each end.** Let every end l of T_x have a shift delta_l of its own, under which its conditions imply those of
an end of T_x' with the same probability and output, different ends going to different ones. Then for all sets S

    P_x(S) = sum over l of the integral over its region of 1[output in S] f(w)  <=  e^K P_x'(S),

K the largest over l of sum_i |delta_l,i| / scale_i for Laplace noise, and for exponential and Gumbel noise, whose shifts must not
be negative.

*Proof.* f(w) <= e^K f(w + delta_l), the shifted region of l lies in that of its partner with the same output, and the regions
of T_x' are disjoint (Dwork and Roth 2014, Theorem 3.23 and Claim 3.9, for the sparse vector technique and the noisy
maximum). For Gumbel noise f(w) / f(w + delta) = exp(delta - e^-w (1 - e^-delta)), at most e^delta for delta >= 0. A pair of
laws whose log-ratios lie between -K' and K can be simulated from two coins (Kairouz, Oh and Viswanath 2015).

The least cost is a linear program. Its solution in doubles is rounded to fractions and then checked exactly.

**Of noise that only occurs together.** A difference of two geometric or exponential draws of one size is two-sided geometric or
Laplace; a sum of Gaussians is Gaussian. Two draws are joined when every expression of both trees holds them in one ratio.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

import attrs

from dpspec.plugin import Law, laws, ln, number
from dpspec.plugin.judges import (
    IDENTICAL,
    Between,
    Dichotomy,
    Enclosed,
    Exponential,
    FiniteDichotomy,
    GaussianLaw,
    LaplaceLaw,
    NoFormulaError,
    Observed,
    Probability,
    TwoSidedGeometricLaw,
    UnionDichotomy,
    exact_exponential,
    finite_law,
    mixture,
    product_of,
)
from dpspec_code.automatic.formulas import (
    FLOORED,
    Affine,
    Applied,
    Condition,
    Draws,
    Hole,
    NoiseDraw,
    NoiseFormula,
    NoiseTerms,
    TreeEnd,
    affine_of,
    fits,
    holes_of,
    is_about_data,
    sum_of_squares,
)

Shift = Mapping[NoiseDraw, Fraction]


# --- the laws of draws ----------------------------------------------------------------------------


def shifted(noise: NoiseDraw, shift: Fraction) -> Dichotomy | None:  # noqa: PLR0911 (one line per kind)
    """The pair of the laws of W and W + shift; None where one is not absolutely continuous to the other, or not known."""
    if shift == 0 or noise.size == 0:
        return IDENTICAL if shift == 0 else None
    if noise.kind == "laplace":
        return LaplaceLaw(0, noise.size).against(LaplaceLaw(shift, noise.size))
    if noise.kind == "normal":
        return GaussianLaw(0, noise.size).against(GaussianLaw(shift, noise.size))
    if noise.kind == "two-sided geometric" and shift.denominator == 1:
        decay = ln(1 / (1 - noise.size))
        return TwoSidedGeometricLaw(0, decay).against(TwoSidedGeometricLaw(int(shift), decay))
    if noise.kind == "discrete laplace" and shift.denominator == 1:
        slope = number(1 / noise.size)
        return TwoSidedGeometricLaw(0, slope).against(TwoSidedGeometricLaw(int(shift), slope))
    if noise.kind == "discrete normal" and shift.denominator == 1:
        return laws.DiscreteGaussianLaw(0, noise.size).against(laws.DiscreteGaussianLaw(int(shift), noise.size))
    if noise.kind == "logistic":
        return _of_logistic(abs(shift) / noise.size)
    if noise.kind == "cauchy":
        return _of_cauchy(abs(shift) / noise.size)
    return None


_FAR = Fraction(40)
"""So many scales from its center, half-lines show the log-ratio of two logistic laws up to e^-40."""


def _of_logistic(shift: Fraction) -> Dichotomy:
    """Two logistic laws whose centers differ by a shift: between a half-line far away, and two coins with the extreme log-ratios.

    With f(w) = e^-w / (1 + e^-w)^2, the derivative of ln f is -tanh(w/2), so that ln f(w) - ln f(w + d) lies between -d and d.
    """
    probabilities = [1 / (exact_exponential(Fraction(0)) + exact_exponential(_FAR + by)) for by in (Fraction(0), shift)]
    far, farther = (
        finite_law({1: probability, 0: exact_exponential(Fraction(0)) - probability}) for probability in probabilities
    )
    return Between((far.against(farther),), (two_coins(shift, shift),))


def _of_cauchy(shift: Fraction) -> Dichotomy:
    """Two Cauchy laws whose centers differ by d, from above: the ratio of their densities is at most (d/2 + sqrt(d^2/4 + 1))^2.

    The largest value of (1 + (w + d)^2) / (1 + w^2) is attained where w^2 + d w = 1.
    """
    square = shift**2 / 4 + 1
    root = Fraction(math.isqrt(math.ceil(square * (1 << 200))) + 1, 1 << 100)
    return Between((IDENTICAL,), (_coins((shift / 2 + root) ** 2, (shift / 2 + root) ** 2),))


def pair_of(shift: Shift) -> Dichotomy | None:
    """The pair of the laws of W and W + delta, for independent draws W; None where one is not known."""
    normal = [(noise, by) for noise, by in shift.items() if noise.kind == "normal" and noise.size and by]
    others = [(noise, by) for noise, by in shift.items() if by and (noise, by) not in normal]
    pairs = [shifted(noise, by) for noise, by in others]
    if normal:  # as one draw of variance 1 that is moved by the length of the vector
        square = sum_of_squares([by for _, by in normal], [noise.size for noise, _ in normal])
        pairs.append(GaussianLaw(0, 1 / square).against(GaussianLaw(1, 1 / square)))
    known = [pair for pair in pairs if pair is not None]
    if len(known) < len(pairs):
        return None
    return product_of(known) if known else IDENTICAL


_JOINED = {"geometric": "two-sided geometric", "exponential": "laplace", FLOORED: "discrete laplace"}


def _joined(first: NoiseDraw, second: NoiseDraw, ratio: Fraction) -> NoiseDraw | None:
    """The law of first + ratio second, where it has a name."""
    if first.kind != second.kind:
        return None
    if first.kind in _JOINED and ratio == -1 and first.size == second.size:
        return attrs.evolve(first, kind=_JOINED[first.kind])
    if first.kind == "normal":
        return attrs.evolve(first, size=first.size + ratio**2 * second.size)
    return None


# --- trees ----------------------------------------------------------------------------------------


@attrs.frozen
class Branch:
    """A leaf with its probability, and its affine expressions listed in order.

    Args:
        probability: the probability of the choices on the path that noise does not decide.
        frame: the conditions and the output without the numbers that a shift can change.
        parts: the affine expressions.
        senses: for each -1 or 1 where only a condition requires that it is below 0, or not; else 0.
        outputs: the expressions in the output itself; None where the output depends on another one, too.
        is_conditioned: whether noise decides that the run ends here.
    """

    probability: Probability
    frame: Hashable
    parts: tuple[Affine, ...]
    senses: tuple[int, ...]
    outputs: tuple[Affine, ...] | None
    is_conditioned: bool


def branch(leaf: TreeEnd, probability: Probability) -> Branch:
    """A leaf split into its parts."""
    parts: list[Affine] = []
    senses: list[int] = []
    conditions = []
    for one in leaf.conditions:
        conditions.append((_frame(one.left, parts), one.relation, one.holds))
        free = isinstance(one.left, Affine) and one.relation == "lt"
        senses += [(-1 if one.holds else 1) if free else 0] * (len(parts) - len(senses))
    outputs: list[NoiseFormula] = []
    seen = _opened(leaf.seen, parts, outputs)
    plain = tuple(one for one in outputs if isinstance(one, Affine))
    shown = plain if len(plain) == len(outputs) else None
    senses += [0] * (len(parts) - len(senses))
    return Branch(probability, (tuple(conditions), seen), tuple(parts), tuple(senses), shown, bool(conditions))


def _frame(expression: Hashable, parts: list[Affine]) -> Hashable:
    """An expression without its constants, which go to `parts` with the terms."""
    if isinstance(expression, Affine):
        parts.append(expression)
        return ("affine", expression.terms)
    if isinstance(expression, Applied):
        return (expression.function, *(_frame(argument, parts) for argument in expression.arguments))
    return expression


def _opened(seen: Hashable, parts: list[Affine], outputs: list[NoiseFormula]) -> Hashable:
    """An output without the expressions in its holes."""
    if isinstance(seen, Hole):
        outputs.append(seen.expression)
        return ("hole", seen.kind, _frame(seen.expression, parts))
    if isinstance(seen, Observed):
        return ("observed", seen.kind, _opened(seen.content, parts, outputs))
    if isinstance(seen, tuple):
        return ("tuple", tuple(_opened(part, parts, outputs) for part in seen))
    return ("seen", seen)


@attrs.frozen(eq=False)
class NoisyLaw(Law):
    """The law of the output of a tree.

    Args:
        leaves: the ends of its runs, with the probabilities of choices other than by noise.
        symbolic: whether draws of `geometric` count among the noise.
        runs: where its runs end, where leaves hold draws in place of several (`dpspec_code.automatic.inversion`); else empty.
    """

    leaves: tuple[tuple[TreeEnd, Probability], ...]
    symbolic: bool = False
    runs: tuple[tuple[TreeEnd, Probability], ...] = ()

    def explains(self, seen: Hashable, draws: Draws) -> TreeEnd | None:
        """The first leaf in which a run with these draws may have ended, having shown this."""
        return next((leaf for leaf, _ in self.runs or self.leaves if fits(leaf, seen, draws)), None)

    def against(self, other: Law) -> Dichotomy:
        if self is other:
            return IDENTICAL
        if not isinstance(other, NoisyLaw):
            raise NoFormulaError("law of drawn noise", "is compared with laws of the same code only", "have it sampled")
        ours, theirs = joined_trees(self.branches(), other.branches())
        found = by_choices(ours, theirs) or aligned(ours, theirs)
        if found is None or isinstance(found, Between):
            bounds = [pair.above() for pair in (found, end_by_end(ours, theirs)) if pair is not None]
            known = single_numbers(ours, theirs)
            if known is not None and (not bounds or isinstance(known, FiniteDichotomy)):  # others take long
                return known
            below = IDENTICAL if found is None else found.below()
            found = Between((below,), tuple(bounds)) if bounds else None
        if found is None:
            raise NoFormulaError("law of drawn noise", "is not a shift of the noise of the other dataset", "have it sampled")
        return found

    def with_counts(self, counts: Mapping[NoiseDraw, int]) -> NoisyLaw:
        """The law on a dataset with these counts, of a tree for all datasets."""
        listed = [[(_with_counts(leaf, counts), probability) for leaf, probability in ends] for ends in (self.leaves, self.runs)]
        leaves, runs = (tuple(raced(leaf, probability) for leaf, probability in ends if leaf is not None) for ends in listed)
        return NoisyLaw(leaves, self.symbolic, runs)

    def plain(self) -> Law | None:
        """The law as one of finitely many outcomes; None where an end depends on noise."""
        probabilities: dict[Hashable, Exponential | Fraction | int] = {}
        for leaf, probability in self.leaves:
            if leaf.conditions or any(True for _ in holes_of(leaf.seen)) or isinstance(probability, Enclosed):
                return None
            probabilities[leaf.seen] = probabilities[leaf.seen] + probability if leaf.seen in probabilities else probability
        return finite_law(probabilities)

    def branches(self) -> tuple[Branch, ...]:
        """The leaves split into their parts."""
        return tuple(branch(leaf, probability) for leaf, probability in self.leaves)


def _with_counts(leaf: TreeEnd, counts: Mapping[NoiseDraw, int]) -> TreeEnd | None:
    """An end on a dataset; None where its conditions on the dataset do not hold."""
    conditions = []
    for condition in leaf.conditions:
        left = _counted(condition.left, counts)
        if not is_about_data(condition):
            conditions.append(attrs.evolve(condition, left=left))
        elif (left.constant < 0 if condition.relation == "lt" else left.constant == 0) is not condition.holds:
            return None
    return TreeEnd(_counted(leaf.seen, counts), tuple(conditions), leaf.made)


def _counted(value: Any, counts: Mapping[NoiseDraw, int]) -> Any:
    """An output or an expression with numbers for counts."""
    if isinstance(value, Affine):
        constant = sum((factor * counts[one] for one, factor in value.terms if one.is_count), value.constant)
        return Affine(constant, tuple((one, factor) for one, factor in value.terms if not one.is_count))
    if isinstance(value, Applied):
        return attrs.evolve(value, arguments=tuple(_counted(one, counts) for one in value.arguments))
    if isinstance(value, Hole):
        return attrs.evolve(value, expression=_counted(value.expression, counts))
    if isinstance(value, Observed):
        return attrs.evolve(value, content=_counted(value.content, counts), parts=None)
    return tuple(_counted(one, counts) for one in value) if isinstance(value, tuple) else value


def by_choices(ours: Sequence[Branch], theirs: Sequence[Branch]) -> Dichotomy | None:
    """The pair of two trees whose ends are chosen without regard to noise: at most that in which the choice is seen."""
    matched = match(ours, theirs)
    if (
        matched is None
        or len(matched) == 1
        or any(one.is_conditioned or not isinstance(one.probability, Fraction) for one in ours)
    ):
        return None
    pairs = [aligned([one], [other]) for one, other in matched]
    known = [pair for pair in pairs if pair is not None]
    if len(known) < len(pairs):
        return None
    union = UnionDichotomy(tuple(Fraction(one.probability) for one in ours), tuple(known))  # type: ignore[arg-type]
    is_exact = not any(_may_look_alike(one.frame, other.frame) for one, other in itertools.combinations(ours, 2))
    return union if is_exact else Between((IDENTICAL,), (union,))


# --- the largest of numbers with Gumbel noise -----------------------------------------------------


def raced(leaf: TreeEnd, probability: Probability) -> tuple[TreeEnd, Probability]:
    """An end without the Gumbel noise that only decides which of several numbers is the largest, and its probability.

    P(c_j + W_j < c_i + W_i for all j) = e^(c_i/s) / sum of all e^(c/s) for Gumbel noise of one scale s (Yellott 1977).
    """
    inside = [part for one in (*(c.left for c in leaf.conditions), *holes_of(leaf.seen)) for part in affine_of(one)]
    uses = Counter(noise for part in inside for noise, _ in part.terms)
    for winner in sorted(noise for noise in uses if noise.kind == "gumbel"):
        behind = [(one, gap) for one in leaf.conditions if (gap := _behind(one, winner)) is not None]
        if len(behind) != uses[winner] or any(uses[loser] > 1 for _, (loser, _) in behind):
            continue
        others = [exact_exponential(gap) for _, (_, gap) in behind]
        share = 1 / sum(others, exact_exponential(Fraction(0)))
        kept = tuple(one for one in leaf.conditions if not any(one is raced for raced, _ in behind))
        whole = probability * share if isinstance(probability, Enclosed) else share * probability
        return raced(attrs.evolve(leaf, conditions=kept), whole)
    return leaf, probability


def _behind(condition: Condition, winner: NoiseDraw) -> tuple[NoiseDraw, Fraction] | None:
    """The other draw V and d/s of a condition s (V - W) + d < 0 on two draws of Gumbel noise, W the winner; or None."""
    left = condition.left
    if not isinstance(left, Affine) or condition.relation != "lt" or len(left.terms) != 2:
        return None
    left = left if condition.holds else left.scaled(Fraction(-1))
    terms = dict(left.terms)
    factor = terms.pop(winner, Fraction(0))
    ((loser, other),) = terms.items() if len(terms) == 1 else (((winner, Fraction(0)),))
    if loser.kind != "gumbel" or loser.size != winner.size or factor >= 0 or other != -factor:
        return None
    return loser, left.constant / (other * winner.size)


# --- mixtures of single numbers -------------------------------------------------------------------


_MOST_WHOLE = 500
"""The largest number of whole numbers between the centers of noise that are distinguished."""


def single_numbers(ours: Sequence[Branch], theirs: Sequence[Branch]) -> Dichotomy | None:
    """The pair of two trees that end in one number with noise each, by coins alone: of mixtures of laws that are known.

    Two-sided geometric noise of one ratio has likelihood ratios that are constant beyond all centers, so the pair is finite.
    """
    trees = [[_number(one) for one in tree] for tree in (ours, theirs)]
    found = [one for tree in trees for one in tree]
    if None in found or len({kind for one in found if one is not None for kind in one[:1]}) > 1:
        return None
    mixed = [[(probability, law) for _, probability, law in filter(None, tree)] for tree in trees]
    parts = [law for tree in mixed for _, law in tree]
    if all(isinstance(law, TwoSidedGeometricLaw) for law in parts):
        return _of_geometric(mixed)
    if any(isinstance(law, TwoSidedGeometricLaw) for law in parts):
        return None
    laws = [mixture([probability for probability, _ in tree], [law for _, law in tree]) for tree in mixed]
    try:
        return laws[0].against(laws[1])
    except NoFormulaError:
        return None


def _number(one: Branch) -> tuple[str, Fraction, Law] | None:  # noqa: PLR0911 (one line per kind)
    """The type, probability and law of a number with one draw of noise that a branch outputs; None for any other output."""
    shown = one.frame[1] if isinstance(one.frame, tuple) else None
    if one.is_conditioned or not isinstance(one.probability, Fraction) or one.outputs is None or len(one.outputs) != 1:
        return None
    if not isinstance(shown, tuple) or shown[:1] != ("hole",) or len(one.outputs[0].terms) != 1:
        return None
    center, ((noise, factor),) = one.outputs[0].constant, one.outputs[0].terms
    if noise.kind == "laplace" and noise.size:
        return shown[1], one.probability, LaplaceLaw(center, abs(factor) * noise.size)
    if noise.kind == "normal" and noise.size:
        return shown[1], one.probability, GaussianLaw(center, factor**2 * noise.size)
    if noise.kind == "two-sided geometric" and abs(factor) == 1 and center.denominator == 1 and 0 < noise.size < 1:
        return shown[1], one.probability, TwoSidedGeometricLaw(int(center), ln(1 / (1 - noise.size)))
    if noise.kind == "discrete laplace" and abs(factor) == 1 and center.denominator == 1:
        return shown[1], one.probability, TwoSidedGeometricLaw(int(center), number(1 / noise.size))
    return None


def _of_geometric(mixed: Sequence[Sequence[tuple[Fraction, Any]]]) -> Dichotomy | None:
    """The pair of two mixtures of two-sided geometric laws, where their ratio is one number: tails, and what lies between."""
    laws = [law for tree in mixed for _, law in tree]
    centers = [law.center for law in laws]
    low, high = min(centers), max(centers)
    if len({law.decay for law in laws}) > 1 or laws[0].ratio is None or high - low > _MOST_WHOLE:
        return None
    cells = [lambda law: 1 - law.at_least(low + 1), lambda law: law.at_least(high)] if low < high else [lambda _: Fraction(1)]
    cells += [lambda law, k=k: law.probability(k) for k in range(low + 1, high)]
    masses = [[sum((probability * cell(law) for probability, law in tree), Fraction(0)) for cell in cells] for tree in mixed]
    return FiniteDichotomy.of(zip(masses[0], masses[1], strict=True))


_WHOLE = ("int", "np.int64")


def _may_look_alike(one: Hashable, other: Hashable) -> bool:
    """Whether two ends may show the same with positive probability; a whole number that is drawn may be any other one."""
    holes = [frame[1] for frame in (one, other) if isinstance(frame, tuple) and frame[:1] == ("hole",)]
    if holes:
        return holes[0] == holes[-1] if len(holes) == 2 else holes[0] in _WHOLE
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(itertools.starmap(_may_look_alike, zip(one, other, strict=True)))
    return one == other


def aligned(ours: Sequence[Branch], theirs: Sequence[Branch]) -> Dichotomy | None:
    """The pair of two trees, one of which is the other with shifted noise."""
    matched = match(ours, theirs)
    if matched is None:
        return None
    equations = [
        (dict(mine.terms), mine.constant - its.constant)
        for one, other in matched
        for mine, its in zip(one.parts, other.parts, strict=True)
    ]
    shift = solve_shift(equations)
    if shift is None:
        return None
    whole = pair_of(shift)
    if whole is None:
        return None
    return whole if whole.is_identical or _shows_noise(matched, shift) else Between((IDENTICAL,), (whole,))


def end_by_end(ours: Sequence[Branch], theirs: Sequence[Branch]) -> Dichotomy | None:
    """A dominating pair for two trees with another shift at each end: two coins whose log-ratios are the costs both ways."""
    costs = [_cost(one, other) for one, other in ((ours, theirs), (theirs, ours))]
    if None in costs:
        return None
    there, back = (cost for cost in costs if cost is not None)
    return Between((IDENTICAL,), (two_coins(there, back),))


def two_coins(there: Fraction, back: Fraction) -> Dichotomy:
    """The pair of two coins with log-ratios from minus `back` to `there`, which dominates all such pairs."""
    return _coins(exact_exponential(there), exact_exponential(back))


def _coins(ups: Any, downs: Any) -> Dichotomy:
    """The same, with the ratios themselves."""
    whole = ups * downs - 1
    if whole == 0:
        return IDENTICAL
    heads = (downs - 1) / whole
    coins = [finite_law({1: probability, 0: 1 - probability}) for probability in (ups * heads, heads)]
    return coins[0].against(coins[1])


def _cost(ours: Sequence[Branch], theirs: Sequence[Branch]) -> Fraction | None:
    """The largest of the costs of the ends; None where some end has no shift."""
    matched = match(ours, theirs)
    costs = [] if matched is None else [least_cost(one, other) for one, other in matched]
    known = [cost for cost in costs if cost is not None]
    return max(known) if known and len(known) == len(costs) else None


_PER_SCALE = ("laplace", "exponential", "gumbel", "logistic", "cauchy")
"""Noise whose log-density changes by at most 1 per scale, downwards or in both directions: that of Cauchy by 2w / (1 + w^2)."""
_UPWARDS = ("exponential", "gumbel")
"""Noise that costs by / scale when it is moved up, and has no bound when it is moved down."""


def least_cost(one: Branch, other: Branch) -> Fraction | None:
    """The least sum of |delta_i| / scale_i under which the conditions of an end imply those of another; None where there is none.

    Every condition a.w + c < 0 that holds requires a.delta <= c - c', one that does not a.delta >= c - c', and all
    numbers of outputs and of known functions require equality.
    """
    return cheapest_shift(
        tuple(
            (mine.terms, sense, mine.constant - its.constant)
            for mine, its, sense in zip(one.parts, other.parts, one.senses, strict=True)
        )
    )


AskedOfShift = tuple[NoiseTerms, int, Fraction]
"""Terms, whether they may be at most (-1), at least (1) or must be equal to (0) a number, and the number."""
_ROUNDED = 1_000


@lru_cache(maxsize=1 << 14)
def cheapest_shift(asked: tuple[AskedOfShift, ...]) -> Fraction | None:
    """The cost of a cheap shift that satisfies the constraints, with noise whose density falls by at most e^(cost); or None."""
    noises = sorted({noise for terms, _, _ in asked for noise, _ in terms})
    if any(noise.kind not in _PER_SCALE for noise in noises):
        return None
    shift = _cheapest(asked, noises) if noises else {}
    for terms, sense, room in asked:
        moved = sum((factor * shift[noise] for noise, factor in terms), Fraction(0))
        if (sense <= 0 and moved > room) or (sense >= 0 and moved < room):
            return None
    if any(noise.kind in _UPWARDS and by < 0 for noise, by in shift.items()):
        return None
    return sum((abs(by) / noise.size for noise, by in shift.items()), Fraction(0))


def _cheapest(asked: Sequence[AskedOfShift], noises: Sequence[NoiseDraw]) -> dict[NoiseDraw, Fraction]:
    """A cheap shift, near the solution of the linear program; zeros where doubles find none."""
    from scipy.optimize import linprog

    ups, downs = range(len(noises)), range(len(noises), 2 * len(noises))
    prices = [1 / float(noise.size) for noise in noises] * 2
    upper: list[tuple[list[float], float]] = []
    for terms, sense, room in asked:
        row = [float(dict(terms).get(noise, 0)) for noise in noises]
        whole = [*row, *(-entry for entry in row)]
        upper += [(whole, float(room))] if sense <= 0 else []
        upper += [([-entry for entry in whole], -float(room))] if sense >= 0 else []
    bounds = [(0, None)] * len(noises) + [(0, 0 if noise.kind in _UPWARDS else None) for noise in noises]
    found = linprog(prices, A_ub=[row for row, _ in upper] or None, b_ub=[room for _, room in upper] or None, bounds=bounds)
    if found.x is None:
        return dict.fromkeys(noises, Fraction(0))
    solved = [found.x[up] - found.x[down] for up, down in zip(ups, downs, strict=True)]
    return {noise: Fraction(by).limit_denominator(_ROUNDED) for noise, by in zip(noises, solved, strict=True)}


def match(ours: Sequence[Branch], theirs: Sequence[Branch]) -> list[tuple[Branch, Branch]] | None:
    """Each branch with one of the other tree that has its frame and its probability; None where there is none."""
    waiting: dict[Hashable, list[Branch]] = {}
    for one in theirs:
        waiting.setdefault((one.frame, one.probability), []).append(one)
    found = []
    for mine in ours:
        same = waiting.get((mine.frame, mine.probability))
        if not same:
            return None
        found.append((mine, same.pop(0)))
    return found if len(ours) == len(theirs) else None


Equation = tuple[dict[NoiseDraw, Fraction], Fraction]


def solve_shift(equations: Iterable[Equation]) -> dict[NoiseDraw, Fraction] | None:
    """A solution delta of linear equations a.delta = d, or None; what they leave open is 0.

    >>> w = NoiseDraw(1, "laplace", Fraction(1))
    >>> solve_shift([({w: Fraction(2)}, Fraction(1))])[w], solve_shift([({}, Fraction(1))])
    (Fraction(1, 2), None)
    """
    solved: dict[NoiseDraw, Equation] = {}
    for terms, constant in equations:
        row, right = dict(terms), constant
        for noise in [n for n in row if n in solved]:
            factor = row.pop(noise)
            other, theirs = solved[noise]
            right -= factor * theirs
            for name, by in other.items():
                row[name] = row.get(name, Fraction(0)) - factor * by
        row = {name: by for name, by in row.items() if by}
        if not row:
            if right:
                return None
            continue
        noise = min(row, key=lambda one: (one.kind in ("geometric", "exponential", "gumbel"), one))
        pivot = row.pop(noise)
        new: Equation = ({name: by / pivot for name, by in row.items()}, right / pivot)
        for known, (others, theirs) in list(solved.items()):
            if noise in others:
                factor = others.pop(noise)
                merged = dict(others)
                for name, by in new[0].items():
                    merged[name] = merged.get(name, Fraction(0)) - factor * by
                solved[known] = ({n: b for n, b in merged.items() if b}, theirs - factor * new[1])
        solved[noise] = new
    return {noise: right for noise, (_, right) in solved.items()}


def _shows_noise(matched: Sequence[tuple[Branch, Branch]], shift: Shift) -> bool:
    """Whether all noise that is shifted can be computed from the output of the only leaf."""
    if len(matched) != 1 or matched[0][0].outputs is None:
        return False
    outputs = matched[0][0].outputs
    noises = sorted({noise for one in outputs for noise, _ in one.terms})
    rows: list[dict[NoiseDraw, Fraction]] = []
    for one in outputs:
        row = dict(one.terms)
        for known in rows:
            lead = min(known)
            if lead in row:
                factor = row[lead] / known[lead]
                row = {n: row.get(n, Fraction(0)) - factor * known.get(n, Fraction(0)) for n in {*row, *known}}
                row = {n: by for n, by in row.items() if by}
        if row:
            rows.append(row)
    return len(rows) == len(noises) and all(noise in noises for noise, by in shift.items() if by)


# --- noise that only occurs together --------------------------------------------------------------


def joined_trees(ours: Sequence[Branch], theirs: Sequence[Branch]) -> tuple[list[Branch], list[Branch]]:
    """Both trees with draws joined that all their expressions hold in one ratio."""
    while True:
        parts = [part for one in (*ours, *theirs) for part in one.parts]
        step = one_to_join(parts)
        if step is None:
            return list(ours), list(theirs)
        ours, theirs = ([_rewritten(one, *step) for one in tree] for tree in (ours, theirs))


def one_to_join(parts: Iterable[Affine]) -> tuple[NoiseDraw, NoiseDraw, NoiseDraw] | None:
    """Two draws, and the one that replaces both."""
    seen: dict[NoiseDraw, set[int]] = {}
    terms = list(dict.fromkeys(part.terms for part in parts))
    for place, one in enumerate(terms):
        for noise, _ in one:
            seen.setdefault(noise, set()).add(place)
    noises = sorted(seen)
    for i, first in enumerate(noises):
        for second in noises[i + 1 :]:
            if seen[first] != seen[second] or first.kind != second.kind:
                continue
            found = {dict(terms[place])[second] / dict(terms[place])[first] for place in seen[first]}
            together = _joined(first, second, found.pop()) if len(found) == 1 else None
            if together is not None:
                return first, second, together
    return None


def _rewritten(one: Branch, first: NoiseDraw, second: NoiseDraw, together: NoiseDraw) -> Branch:
    def part(affine: Affine) -> Affine:
        return affine.joined(first, second, together)

    def frame(value: Hashable) -> Hashable:
        if isinstance(value, tuple):
            if len(value) == 2 and value[0] == "affine":
                return ("affine", part(Affine(Fraction(0), value[1])).terms)
            return tuple(frame(inner) for inner in value)
        return value

    outputs = None if one.outputs is None else tuple(map(part, one.outputs))
    return attrs.evolve(one, frame=frame(one.frame), parts=tuple(map(part, one.parts)), outputs=outputs)
