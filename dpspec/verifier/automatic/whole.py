"""Plain code on a space that nobody can list: its tree for all datasets at once, and the constant that follows.

The code is run once on a dataset whose counts N_v are symbols. Where it gets through, its output is T(N, W), one tree for all
datasets.

**Theorem.** Let, for every change e of one record (added, removed or replaced), delta(e) solve the linear equations

    a.delta = b.e     for every affine expression a.W + b.N + c in the conditions and outputs of T.

Then T(N, w) = T(N', w + delta(N - N')) with delta linear, and d_Pr(P_x, P_x') <= K d_X(x, x') for

    K = max over changes e of d_Pr(law of W + delta(e), law of W) / price of e,

if d_Pr is a metric, or d_X a neighbour relation that allows one change.

*Proof.* Aligning the draws (`dpspec.verifier.automatic.aligned`) bounds d_Pr(P_x, P_x') by the pair of W + delta(N - N') and
W, and N - N' is a sum of changes e_1, e_2, ... whose prices add up to at most d_X. The law of W + delta(e_1) + delta(e_2) is
that of W + delta(e_1), shifted; so by the triangle inequality the divergences add up to at most K times the prices (Dwork,
McSherry, Nissim and Smith 2006). What the universes fix is used where it is the number of records; otherwise more changes are
allowed than there are.

A pair of datasets that differ by the costliest change shows how far the constant reaches.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterator, Mapping
from fractions import Fraction
from typing import Any

import attrs

from dpspec.base.exact import INFINITY, ZERO, Bracket, Number
from dpspec.blocks.input_divergence import RecordSteps
from dpspec.blocks.invariant import Marginal
from dpspec.blocks.multiverse import seen_to_fix
from dpspec.blocks.parts import Entries
from dpspec.blocks.space import Dataset, presented
from dpspec.grammar.spec import PrivacySpec
from dpspec.laws.atoms import IDENTICAL
from dpspec.laws.dichotomy import Dichotomy
from dpspec.laws.products import product_of
from dpspec.verifier.automatic.aligned import (
    Branch,
    NoisyLaw,
    Shift,
    joined_trees,
    shifted,
    solve_shift,
)  # fmt: skip
from dpspec.verifier.automatic.arrays import SymbolicDataset
from dpspec.verifier.automatic.noise import COUNT, Affine, NoiseDraw
from dpspec.verifier.automatic.sampler import Draw, enumerate_law
from dpspec.verifier.derived import EVERY, METHOD, ONE_PAIR, WHOLE
from dpspec.verifier.verdict import Outcome, ProofStep, UniverseResult, Verdict, Witness

MOST_KINDS = 2_000
MOST_CHANGES = 20_000
PRECISION = 128
ROUNDING = Fraction(1, 1 << 40)
"""What a number loses, relatively and at most, when it is computed in doubles."""

KindChange = tuple[int | None, int | None]
"""The kind of the record that goes and of the one that comes; None where there is none."""


class NoConstant(Exception):
    """Why no constant follows from the structure of code."""


@attrs.frozen(kw_only=True)
class WholeTree:
    """Plain code as one tree for all datasets.

    Args:
        dataset: all datasets at once.
        law: where its runs end, in symbols of the counts.
    """

    dataset: SymbolicDataset
    law: NoisyLaw

    def on(self, dataset: Dataset) -> NoisyLaw:
        """The law on one dataset."""
        given = presented(dataset)
        counts = given if self.dataset.is_counts else [sum(_same(one, kind) for one in given) for kind in self.dataset.kinds]
        return self.law.with_counts({NoiseDraw(-place - 1, COUNT, Fraction(0)): count for place, count in enumerate(counts)})


def _same(entry: Any, kind: Any) -> bool:
    """Whether an entry is of a kind: written alike, so that NaN is, and 1 is not 1.0."""
    return type(entry) is type(kind) and repr(entry) == repr(kind)


def whole_tree(function: Draw, spec: PrivacySpec, *, most_paths: int) -> WholeTree:
    """The tree of code for all datasets of a space.

    Raises:
        NoConstant: the space has no symbolic form, or the output does not depend on noise.
        NotEnumerableError: the code asks for more than sums and counts.
    """
    entries = Entries.found_in(spec.space)
    if entries is None:
        raise NoConstant(f"{spec.space.name} has no form in which only the counts are unknown")
    kinds = entries.entries()
    if kinds is None or len(kinds) > MOST_KINDS:
        raise NoConstant(f"an entry may be of more than {MOST_KINDS:,} kinds")
    dataset = SymbolicDataset(kinds, entries.lists_counts())
    law = enumerate_law(function, dataset, most_paths=most_paths, symbolic=True)
    if not isinstance(law, NoisyLaw):
        raise NoConstant("what it returns depends on no noise that is read off")
    return WholeTree(dataset=dataset, law=law)


@attrs.frozen(kw_only=True)
class WholeProof:
    """What the tree of some code says of a claim.

    Args:
        tree: the tree.
        spec: the claim.
        steps: the input divergence as a price of changes.
        keeps_size: whether all datasets of a universe have equally many records.
    """

    tree: WholeTree
    spec: PrivacySpec
    steps: RecordSteps
    keeps_size: bool

    @classmethod
    def of(cls, tree: WholeTree, spec: PrivacySpec) -> WholeProof:
        """The proof to be made; raises NoConstant where the claim is not of this form."""
        steps = spec.input_divergence.record_steps(spec.space)
        if steps is None or steps.unit not in spec.space.units or steps.unit != spec.space.units[0]:
            raise NoConstant(f"{spec.input_divergence} is not known as a price of changing the entries")
        known = spec.multiverse.induced_by() or ()
        fixed = seen_to_fix(known, Marginal(attributes=(), unit=steps.unit), spec.space) is not None
        return cls(tree=tree, spec=spec, steps=steps, keeps_size=fixed or spec.space.fixes_size(steps.unit))

    # -- from above -------------------------------------------------------------------------------

    def largest(self) -> tuple[Number, KindChange, Shift]:
        """K with a change that needs it, and its shift.

        Raises:
            NoConstant: no shift undoes some change, or single changes do not add up.
        """
        branches, _ = joined_trees(self.tree.law.branches(), ())
        changes = list(self._changes())
        self._check_path([price for _, price in changes])
        best: tuple[Number, KindChange, Shift] | None = None
        seen: dict[Any, Number] = {}
        for change, price in changes:
            shift = self._shift(branches, change)
            key = (tuple(sorted(shift.items())), price)
            if key not in seen:
                seen[key] = self._per_unit(self._pair(shift), price)
                if best is None or seen[key] > best[0]:
                    best = seen[key], change, shift
        if best is None:
            raise NoConstant("no change of one record keeps the universes")
        return best

    def _changes(self) -> Iterator[tuple[KindChange, int]]:
        """Every change of one record with its price."""
        kinds = range(len(self.tree.dataset.kinds))
        within = self.steps.within
        if self.steps.added is not None and not self.keeps_size and (within is None or self.steps.added <= within):
            yield from (((None, kind), self.steps.added) for kind in kinds)
        if within is None or self.steps.replaced <= within:
            if len(kinds) ** 2 > MOST_CHANGES:
                raise NoConstant(f"records may be replaced in more than {MOST_CHANGES:,} ways")
            yield from (((gone, come), self.steps.replaced) for gone, come in itertools.permutations(kinds, 2))

    def _check_path(self, prices: list[int]) -> None:
        within = self.steps.within
        one = within is not None and 2 * min(prices, default=0) > within
        if not one and not self.spec.output_divergence.is_metric:
            raise NoConstant("d_Pr is no metric and more than one record may change")

    def _shift(self, branches: list[Branch], change: KindChange) -> dict[NoiseDraw, Fraction]:
        gone, come = change
        moved: dict[int, int] = {}
        for kind, by in ((gone, -1), (come, 1)):
            if kind is not None:
                moved[-kind - 1] = moved.get(-kind - 1, 0) + by
        equations = [_equation(part, moved) for branch in branches for part in branch.parts]
        found = solve_shift(equations)
        if found is None:
            raise NoConstant(f"no shift of the noise undoes {self._words(change)}")
        return {noise: by for noise, by in found.items() if by}

    def _pair(self, shift: Shift) -> Dichotomy:
        pairs = [shifted(noise, by) for noise, by in shift.items()]
        known = [pair for pair in pairs if pair is not None]
        if len(known) < len(pairs):
            raise NoConstant("noise that has an end, or an unknown law, is not hidden by a shift")
        return product_of(known) if known else IDENTICAL

    def _per_unit(self, pair: Dichotomy, price: int) -> Number:
        divergence = self.spec.output_divergence
        found = max(divergence.evaluate(one, precision=PRECISION).upper for one in (pair, pair.reverse()))
        if found.is_infinite:
            return INFINITY
        scale = Fraction(1, price if self.steps.within is None else 1)
        return found * scale

    # -- from below -------------------------------------------------------------------------------

    def datasets(self, change: KindChange) -> tuple[Dataset, Dataset] | None:
        """Two datasets of one universe that differ by a change."""
        entries, space = self.tree.dataset.kinds, self.spec.space
        least = self._least()
        gone, come = change
        base = [kind for kind in (gone, come) if kind is not None][:1] * max(least - (gone is not None), 0)
        left, right = [*base, *([gone] if gone is not None else [])], [*base, *([come] if come is not None else [])]
        try:
            made = Entries.needed_in(space)
            one, two = (made.from_entries([entries[place] for place in side]) for side in (left, right))
        except Exception:
            return None
        ours, theirs = (set(self.spec.multiverse.labels(dataset, space)) for dataset in (one, two))
        return (one, two) if ours & theirs else None

    def _least(self) -> int:
        return Entries.needed_in(self.spec.space).least_entries()

    def below(self, function: Draw, change: KindChange, *, most_paths: int) -> tuple[Bracket, Witness] | None:
        """d_Pr per unit of a pair, from the laws of the code on its two datasets, and the pair as a witness of it."""
        pair = self.datasets(change)
        distance = INFINITY if pair is None else self.spec.distance(*pair)
        if pair is None or distance.is_infinite or distance == 0:
            return None
        laws = [enumerate_law(function, presented(dataset), most_paths=most_paths, symbolic=True) for dataset in pair]
        divergence = self.spec.output_divergence.evaluate(laws[0].against(laws[1]), precision=PRECISION)
        lower = divergence.lower
        if distance != 1 and not lower.is_infinite:
            lower = Bracket.around(divergence.lower.enclose() / distance.enclose()).lower
        label = next(one for one in self._labels(pair[0]) if one in self._labels(pair[1]))
        shown = Witness(universe=label, left=pair[0], right=pair[1], distance=distance, divergence=divergence, bound=self.bound)
        return Bracket(lower=lower, upper=INFINITY), shown

    def _labels(self, dataset: Dataset) -> list[Hashable]:
        return list(self.spec.multiverse.labels(dataset, self.spec.space))

    def _words(self, change: KindChange) -> str:
        gone, come = (None if place is None else self.tree.dataset.kinds[place] for place in change)
        if gone is None:
            return f"{come!r} added"
        return f"{gone!r} replaced by {come!r}"

    # -- the verdict ------------------------------------------------------------------------------

    @property
    def bound(self) -> Number:
        """The least Lipschitz constant that the budget allows in a universe."""
        budget = self.spec.budget.least()
        if budget is None:
            raise NoConstant("no number is known that the budget of every universe is at least")
        return self.spec.output_divergence.lipschitz(self.spec.budget.parameter, budget)

    def verdict(self, function: Draw, *, most_paths: int) -> Verdict:
        """Verified where K is within the budget, refuted where a pair is beyond it."""
        upper, change, shift = self.largest()
        found = self.below(function, change, most_paths=most_paths)
        if found is None:
            raise NoConstant("no two datasets of one universe were found that differ by the costliest change")
        lower, shown = found[0].lower, found[1]
        if lower > upper:
            raise NoConstant("a pair lies beyond what was proved, so that one of the two is wrong")
        if lower > self.bound and self.spec.budget.uniform() is not None:
            result = self._result(Bracket(lower=lower, upper=INFINITY), Outcome.REFUTED, shown)
            return Verdict(outcome=Outcome.REFUTED, method=METHOD, scope=ONE_PAIR, universes=(result,), witness=shown)
        outcome = Outcome.VERIFIED if upper <= self.bound else Outcome.UNDECIDED
        constant = Bracket.exactly(upper) if lower == upper else Bracket(lower=max(lower, ZERO), upper=upper)
        reason = "" if outcome is Outcome.VERIFIED else f"the constant is at most {upper}, by aligning the noise"
        if reason and not upper.is_infinite and upper <= self.bound * (1 + ROUNDING):
            reason += f"; {self.bound} is below that by less than the rounding of doubles: write what is meant, such as ln(2)"
        return Verdict(
            outcome=outcome, method=METHOD, scope=WHOLE, reason=reason,
            universes=(self._result(constant, outcome, shown),), proof=self._steps(change, shift, upper),
        )  # fmt: skip

    def _result(self, constant: Bracket, outcome: Outcome, shown: Witness) -> UniverseResult:
        return UniverseResult(
            label=EVERY, datasets=None, pairs=None, constant=constant, bound=self.bound, outcome=outcome,
            attained=(shown.left, shown.right),
        )  # fmt: skip

    def _steps(self, change: KindChange, shift: Shift, upper: Number) -> tuple[ProofStep, ...]:
        moved = ", ".join(f"draw {noise.number} ({noise.kind}) by {by}" for noise, by in sorted(shift.items())) or "nothing"
        return (
            ProofStep(
                step="structure",
                says="run on counts that are symbols, the code reads its dataset through sums and counts alone",
                citation="",
            ),
            ProofStep(
                step="sensitivity",
                says=f"the costliest change, {self._words(change)}, is undone by moving {moved}",
                citation="Dwork, McSherry, Nissim and Smith 2006",
            ),
            ProofStep(step="noise", says=f"so the constant is at most {upper} per unit", citation="data processing"),
        )


def _equation(part: Affine, moved: Mapping[int, int]) -> tuple[dict[NoiseDraw, Fraction], Fraction]:
    """a.delta = b.e for the affine part a.W + b.N + c."""
    noise = {one: factor for one, factor in part.terms if not one.is_count}
    changed = sum((factor * moved.get(one.number, 0) for one, factor in part.terms if one.is_count), Fraction(0))
    return noise, changed
