"""The law of code that draws noise, and how two such laws are compared: by aligning the draws.

On a dataset x the code is a tree T_x: it draws W with independent, known laws, takes a branch by conditions on W, and ends in an
output that is an expression in W.

**Theorem.** Let T_x(w) = T_x'(w + delta) for almost all w: the same branches, with equal chances, and equal outputs. Then
(P_x, P_x') is an image of the pair (law of W, law of W shifted by delta), so that d_Pr(P_x, P_x') is at most that of this pair, under
every output divergence (data processing).

*Proof.* P_x is the law of T_x(W) = T_x'(W + delta), P_x' that of T_x'(W); T_x' is one map.

The conditions and outputs of both trees are compared expression by expression, which gives linear equations for delta: expressions e
and e' agree after the shift when they are the same functions of affine parts, and for the affine parts a.W + c and a.W + c' one has
a.delta = c - c'. Where W can be computed from the output, the map is one to one and the bound is attained.

**Of noise that only occurs together.** A difference of two geometric or exponential draws of one size is two-sided geometric or
Laplace; a sum of Gaussians is Gaussian. Two draws are joined when every expression of both trees holds them in one ratio.

**Pure differential privacy, leaf by leaf.** Let each leaf of T_x have a shift of its own under which its conditions imply those of
a leaf of T_x' with the same output, different leaves going to different ones. Then for every set S

    P_x(S) = sum over leaves of the integral of 1[output in S] f(w)  <=  e^cost P_x'(S),

where cost is the largest of sum_i |delta_i| / scale_i over the leaves (of the sizes of exponential noise, whose shift must not be
negative), plus the logarithm of the ratio of the chances of the leaves (Dwork and Roth 2014, Theorem 3.23 and Claim 3.9; Zhang and
Kifer 2017).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import attrs

from dpspec.base.errors import NoFormulaError
from dpspec.base.exact import ln
from dpspec.laws.atoms import IDENTICAL, Between
from dpspec.laws.continuous import GaussianLaw, LaplaceLaw
from dpspec.laws.dichotomy import Dichotomy
from dpspec.laws.enclosed import Chance
from dpspec.laws.integers import TwoSidedGeometricLaw
from dpspec.laws.law import Law
from dpspec.laws.products import product_of
from dpspec.verifier.automatic.noise import Affine, Applied, Draws, Expression, Hole, Leaf, Noise, fits
from dpspec.verifier.observed import Observed

Shift = Mapping[Noise, Fraction]


# --- the laws of draws ----------------------------------------------------------------------------


def shifted(noise: Noise, shift: Fraction) -> Dichotomy | None:
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
    return None


_JOINED = {"geometric": "two-sided geometric", "exponential": "laplace"}


def _joined(first: Noise, second: Noise, ratio: Fraction) -> Noise | None:
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
    """A leaf with its chance, its affine expressions taken out in order.

    Args:
        chance: the probability of the choices on the way that noise does not decide.
        frame: the conditions and the output without the numbers that a shift can change.
        parts: the affine expressions.
        outputs: how many of the last ones stand in the output itself.
    """

    chance: Chance
    frame: Hashable
    parts: tuple[Affine, ...]
    outputs: tuple[Affine, ...] | None


def branch(leaf: Leaf, chance: Chance) -> Branch:
    """A leaf taken apart."""
    parts: list[Affine] = []
    conditions = tuple((_frame(one.left, parts), one.relation, one.holds) for one in leaf.conditions)
    outputs: list[Expression] = []
    seen = _opened(leaf.seen, parts, outputs)
    plain = tuple(one for one in outputs if isinstance(one, Affine))
    return Branch(chance, (conditions, seen), tuple(parts), plain if len(plain) == len(outputs) else None)


def _frame(expression: Hashable, parts: list[Affine]) -> Hashable:
    """An expression without its constants, which go to `parts` with the terms."""
    if isinstance(expression, Affine):
        parts.append(expression)
        return ("affine", expression.terms)
    if isinstance(expression, Applied):
        return (expression.function, *(_frame(argument, parts) for argument in expression.arguments))
    return expression


def _opened(seen: Hashable, parts: list[Affine], outputs: list[Expression]) -> Hashable:
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
        leaves: where its runs end, with the chances of choices other than by noise.
        symbolic: whether draws of `geometric` count among the noise.
    """

    leaves: tuple[tuple[Leaf, Chance], ...]
    symbolic: bool = False

    def explains(self, seen: Hashable, draws: Draws) -> Leaf | None:
        """The first leaf in which a run with these draws may have ended, having shown this."""
        return next((leaf for leaf, _ in self.leaves if fits(leaf, seen, draws)), None)

    def against(self, other: Law) -> Dichotomy:
        if self is other:
            return IDENTICAL
        if not isinstance(other, NoisyLaw):
            raise NoFormulaError("law of drawn noise", "is compared with laws of the same code only", "have it sampled")
        ours, theirs = joined_trees(self.branches(), other.branches())
        found = aligned(ours, theirs)
        if found is None:
            raise NoFormulaError("law of drawn noise", "is not a shift of the noise of the other dataset", "have it sampled")
        return found

    def with_counts(self, counts: Mapping[Noise, int]) -> NoisyLaw:
        """The law on a dataset with these counts, of a tree for all datasets."""
        leaves = tuple(
            (Leaf(_counted(leaf.seen, counts), tuple(attrs.evolve(c, left=_counted(c.left, counts)) for c in leaf.conditions)), chance)
            for leaf, chance in self.leaves
        )
        return NoisyLaw(leaves, self.symbolic)

    def branches(self) -> tuple[Branch, ...]:
        """The leaves taken apart."""
        return tuple(branch(leaf, chance) for leaf, chance in self.leaves)


def _counted(value: Any, counts: Mapping[Noise, int]) -> Any:
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
    pairs = [shifted(noise, by) for noise, by in shift.items() if by]
    known = [pair for pair in pairs if pair is not None]
    if len(known) < len(pairs):
        return None
    whole = product_of(known) if known else IDENTICAL
    return whole if whole.is_identical or _shows_noise(matched, shift) else Between((IDENTICAL,), (whole,))


def match(ours: Sequence[Branch], theirs: Sequence[Branch]) -> list[tuple[Branch, Branch]] | None:
    """Each branch with one of the other tree that has its frame and its chance; None where there is none."""
    waiting: dict[Hashable, list[Branch]] = {}
    for one in theirs:
        waiting.setdefault((one.frame, one.chance), []).append(one)
    found = []
    for mine in ours:
        same = waiting.get((mine.frame, mine.chance))
        if not same:
            return None
        found.append((mine, same.pop(0)))
    return found if len(ours) == len(theirs) else None


Equation = tuple[dict[Noise, Fraction], Fraction]


def solve_shift(equations: Iterable[Equation]) -> dict[Noise, Fraction] | None:
    """A solution delta of linear equations a.delta = d, or None; what they leave open is 0.

    >>> w = Noise(1, "laplace", Fraction(1))
    >>> solve_shift([({w: Fraction(2)}, Fraction(1))])[w], solve_shift([({}, Fraction(1))])
    (Fraction(1, 2), None)
    """
    solved: dict[Noise, Equation] = {}
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
    rows: list[dict[Noise, Fraction]] = []
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
        step = _one_to_join(parts)
        if step is None:
            return list(ours), list(theirs)
        ours, theirs = ([_rewritten(one, *step) for one in tree] for tree in (ours, theirs))


def _one_to_join(parts: Iterable[Affine]) -> tuple[Noise, Noise, Noise] | None:
    """Two draws, and the one that stands for both."""
    seen: dict[Noise, set[int]] = {}
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


def _rewritten(one: Branch, first: Noise, second: Noise, together: Noise) -> Branch:
    def part(affine: Affine) -> Affine:
        terms = dict(affine.terms)
        factor = terms.pop(first, None)
        terms.pop(second, None)
        if factor is not None:
            terms[together] = factor
        return Affine(affine.constant, tuple(sorted(terms.items())))

    def frame(value: Hashable) -> Hashable:
        if isinstance(value, tuple):
            if len(value) == 2 and value[0] == "affine":
                return ("affine", part(Affine(Fraction(0), value[1])).terms)
            return tuple(frame(inner) for inner in value)
        return value

    outputs = None if one.outputs is None else tuple(map(part, one.outputs))
    return Branch(one.chance, frame(one.frame), tuple(map(part, one.parts)), outputs)
