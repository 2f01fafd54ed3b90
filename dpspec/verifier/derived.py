"""Verifying a claim on the whole space, however large: a proof from the structure of the mechanism, and one pair of datasets.

The structure says that the output is made of independent views of the records, and of what is computed from them and from facts
that the universe fixes. Then

1. *sensitivity*: two datasets of a universe at distance d are joined by changes of one record, each of which keeps the
   invariants, of total price d (`dpspec.structure.changes`); each change is of one of finitely many patterns;
2. *noise*: a change moves a few answers of some views. All others have equal laws and cancel, so d_Pr of the change is that of
   the product of the laws of these few answers, which the exact engine computes;
3. *path*: where d_Pr is a metric, d_Pr(P_x, P_x') is at most the sum over the changes, and so at most d times the largest
   quotient of d_Pr and price over the patterns. The laws on the way need not be those of datasets: counts may be anything.
   Between neighbours there is one change, and d_Pr may be anything;
4. *post-process*: what is computed from the views and from facts that are equal for x and x' adds nothing (data processing).

The largest quotient bounds the constant from above. From below it is bounded by a pair of datasets of the space, in one
universe, on which d_Pr and d_X are computed. Where the two meet, the constant is exact. Dwork, McSherry, Nissim and Smith 2006
(sensitivity); Bailie, Gong and Meng 2023 (inside universes).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache, partial

import attrs

from dpspec.base.errors import DpspecError, PluginContractError, count
from dpspec.base.exact import INFINITY, ZERO, Bracket, Number, number
from dpspec.base.params import stands
from dpspec.blocks.input_divergence import RecordSteps
from dpspec.blocks.invariant import Invariant, Marginal
from dpspec.blocks.multiverse import determines
from dpspec.blocks.output_divergence import OutputDivergence
from dpspec.blocks.parts import Changes
from dpspec.blocks.space import Dataset, DatasetSpace, Pair, Record
from dpspec.extension.hooks import Registry
from dpspec.extension.loader import origins
from dpspec.grammar.mechanism import Mechanism
from dpspec.grammar.spec import PrivacySpec, blocks_of
from dpspec.grammar.structure import CellMove, LawPair, ProvedBound, Structure, View
from dpspec.laws.products import product_of
from dpspec.structure.changes import (
    MOST_PATTERNS,
    Pattern,
    SeenAttributes,
    added_to,
    additions,
    laminar_parts,
    pairs_of,
    records_of,
    replacements,
    seen_by,
)
from dpspec.verifier.exhaustive import NOTHING, PRECISIONS, computed_law, guarded, per_unit, verify
from dpspec.verifier.verdict import Outcome, ProofStep, UniverseResult, Verdict, Witness

EVERY = "every universe"
"""The label of what holds in all universes of a space that nobody lists."""

CROSSED = 20
"""So many patterns of two records are tried with exchanges."""

ALIKE = 8
"""So many patterns are kept of those that the views do not tell apart."""

MANY = (1, 2, 8, 64)
"""So many records of a smaller unit change at once, where a larger one changes."""

PAIRS_TRIED = 200
"""So many patterns are turned into datasets, the farthest apart first."""


ExchangedRecords = tuple[tuple[Record, ...], tuple[Record, ...]]
"""The records that go, and those that come."""


@attrs.frozen(kw_only=True)
class RecordChange:
    """A change of one record as the views see it.

    Args:
        patterns: what becomes of its attributes, in some of the ways that the views do not tell apart.
        price: what it adds to d_X.
        laws: the laws of the answers that change.
        is_added: whether the record is added (or removed), not replaced.
    """

    patterns: tuple[Pattern, ...]
    price: int
    laws: tuple[LawPair, ...]
    is_added: bool = False


@attrs.frozen(kw_only=True)
class Missing:
    """A step of the proof that cannot be taken.

    Args:
        step: its name.
        reason: why.
    """

    step: str
    reason: str

    def __str__(self) -> str:
        return f"the step {self.step} is missing: {self.reason}"


class _MissingStep(Exception):
    def __init__(self, step: str, reason: str) -> None:
        super().__init__(step)
        self.missing = Missing(step=step, reason=reason)


@attrs.frozen(kw_only=True)
class _Seen:
    """A pair of datasets with what was computed on it."""

    left: Dataset
    right: Dataset
    distance: Number
    divergence: Bracket

    @property
    def ratio(self) -> Bracket:
        return per_unit(self.divergence, self.distance)


def derive(mechanism: Mechanism, spec: PrivacySpec, *, registry: Registry | None = None) -> Verdict | Missing:
    """Judge a claim on the whole space by the structure of the mechanism.

    Returns:
        A verdict: verified by the proof, or refuted by a pair, or undecided with the gap between the two; or the step that is
        missing, where there is no proof and no pair that refutes.

    Raises:
        IncompatibleBlocksError: when the mechanism does not fit the space.
        PluginContractError: when the mechanism or a divergence raises, or the mechanism has another law than its structure says.
    """
    mechanism.check(spec.space)
    structure = _structure(mechanism, spec)
    if isinstance(structure, Missing):
        return structure
    found = _by_theorem(mechanism, spec) if structure is None else _by_structure(mechanism, structure, spec)
    if isinstance(found, Missing):
        return found
    provenance = origins({"mechanism": mechanism, **blocks_of(spec)}, registry)
    return attrs.evolve(found, provenance=provenance, assumptions=mechanism.assumes)


def _by_structure(mechanism: Mechanism, structure: Structure, spec: PrivacySpec) -> Verdict | Missing:
    """Judge a claim by the views that the output is made of."""
    bound = _bound(spec)
    if bound is None:
        return Missing(step="budget", reason="it is not the same number in all universes")
    proof = _Proof(structure=structure, spec=spec, bound=bound)
    try:
        found = proof.verdict()
    except _MissingStep as at:
        beside = proof.beside()
        if beside is None:
            return at.missing
        found = beside
    _tried(mechanism, structure, spec, found)
    return found


def _structure(mechanism: Mechanism, spec: PrivacySpec) -> Structure | Missing | None:
    """How the mechanism is made, as its own class states it."""
    structure: Structure | None = guarded(mechanism.name, lambda: mechanism.structure(spec.space))
    if structure is not None and "structure" not in vars(type(mechanism)):
        return Missing(step="structure", reason=f"what {mechanism.name} says of how it is made is that of another mechanism")
    return structure


def on_pair(mechanism: Mechanism, spec: PrivacySpec, pair: Pair) -> Verdict | None:
    """Judge a claim on two datasets by how the mechanism is made; None where it does not say so, or views do not compare them.

    It needs no law of the whole output, which may have billions of answers.
    """
    structure, bound = _structure(mechanism, spec), _bound(spec)
    if structure is None or isinstance(structure, Missing) or bound is None:
        return None
    proof = _Proof(structure=structure, spec=spec, bound=bound)
    seen = proof.judged(*pair, PRECISIONS[-1])
    if seen is None:
        return None
    if seen.ratio.lower > proof.bound:
        return attrs.evolve(proof.refuted(seen), assumptions=mechanism.assumes)
    outcome = Outcome.VERIFIED if seen.ratio.upper <= proof.bound else Outcome.UNDECIDED
    return Verdict(
        outcome=outcome, method=METHOD, scope=ONE_PAIR, assumptions=mechanism.assumes,
        universes=(proof.result(seen.ratio, outcome, pair),),
    )  # fmt: skip


@attrs.frozen(kw_only=True)
class _Proof:
    """The upper bound from the structure, the lower one from a pair."""

    structure: Structure
    spec: PrivacySpec
    bound: Number

    def verdict(self) -> Verdict:
        steps = self._steps()
        columns = self._columns(steps.unit)
        family, changes = self._changes(steps, columns)
        for precision in PRECISIONS:
            costs = self._costs(steps, changes, precision)
            upper = self._upper(costs)
            lower = self._lower(steps, columns, costs, precision)
            if lower is not None and lower.ratio.lower > self.bound:
                return self.refuted(lower)
            exact = all(cost.is_exact for _, cost in costs) and (lower is None or lower.ratio.is_exact)
            if upper <= self.bound or exact:
                break
        if not self._adds_up(steps, changes):
            name = self.spec.output_divergence.name
            raise _MissingStep("path", f"{name} is no metric, so that bounds for single changes do not add up")
        proof = self._told(steps, family, changes, upper)
        return self._decided(proof, upper, lower) if lower is not None else self._thinned(proof, upper, steps, columns, costs)

    def _thinned(
        self, proof: tuple[ProofStep, ...], upper: Number, steps: RecordSteps, columns: SeenAttributes,
        costs: Sequence[tuple[RecordChange, Bracket]],
    ) -> Verdict:  # fmt: skip
        """The verdict where a pair is too large to be written down: with one that leaves out what both datasets share."""
        space, known = self.spec.space, self._invariants
        part = Changes.found_in(space)
        smaller = None if part is None else part.thinned()
        lower = None
        if smaller is not None and known is not None and all(invariant.as_marginal() is not None for invariant in known):
            lower = attrs.evolve(self, spec=self.spec.replace(space=smaller))._lower(steps, columns, costs, PRECISIONS[0])
        if lower is None:
            return Verdict(outcome=Outcome.UNDECIDED, method=METHOD, scope=WHOLE, reason=f"{NOTHING} was found")
        if lower.ratio.lower > self.bound:
            reason = f"the constant is at least {lower.ratio.lower}, shown by a pair that is too large to be written down"
            return Verdict(outcome=Outcome.UNDECIDED, method=METHOD, scope=WHOLE, reason=reason)
        return self._decided(proof, upper, lower, written=False)

    # -- what the proof needs ---------------------------------------------------------------------

    def _steps(self) -> RecordSteps:
        """The price of changing records; where it does not fit the views, the step that is missing."""
        divergence, space, views = self.spec.input_divergence, self.spec.space, self.structure.views
        steps = divergence.record_steps(space) if stands(divergence, "record_steps", "distance") else None
        if steps is None:
            raise _MissingStep("sensitivity", f"{divergence} is not known as a price of changing records")
        for other in dict.fromkeys(view.table for view in views if view.table.unit != steps.unit):
            raise _MissingStep("sensitivity", f"records of the unit {steps.unit} do not determine {other}")
        if self._is_by_record and not (steps.in_place and space.is_ordered):
            raise _MissingStep(
                "sensitivity", "each record is answered for in its place, which the input divergence does not keep"
            )
        if self.structure.reads:
            known = self._invariants
            fixed = None if known is None else determines(known, self.structure.reads, space)
            if fixed is None or fixed.answer is not True:
                reason = "universes are given without invariants" if fixed is None else fixed.reason
                raise _MissingStep("post-process", f"it reads facts that universes are not known to fix: {reason}")
        return steps

    @property
    def _invariants(self) -> tuple[Invariant, ...] | None:
        return _invariants(self.spec)

    @property
    def _is_by_record(self) -> bool:
        return any(view.by_record for view in self.structure.views)

    def _columns(self, unit: str) -> SeenAttributes:
        tables = (view.table for view in self.structure.views if view.table.unit == unit)
        return SeenAttributes.of((*tables, *self._fixed(unit)), self.spec.space, unit)

    def beside(self) -> Verdict | None:
        """A refutation by records of another unit than that of d_X: what they change may cost little, or nothing at all."""
        steps = self.spec.input_divergence.record_steps(self.spec.space)
        units = dict.fromkeys(view.table.unit for view in self.structure.views)
        for times, unit in itertools.product(MANY, sorted(units, key=lambda unit: steps is not None and unit == steps.unit)):
            columns = self._columns(unit)
            for pattern in itertools.islice(replacements(columns), PAIRS_TRIED if times == 1 else CROSSED):
                records = records_of(pattern, columns, self.spec.space, unit)
                one, other = (records[:1], records[1:]) if records is not None else ((), ())
                exchanges = ((one * times, other * times), (other * times, one * times))
                found = self._better(None, exchanges, unit, PRECISIONS[0])
                if found is not None and found.ratio.lower > self.bound:
                    return self.refuted(found)
        return None

    def _fixed(self, unit: str) -> tuple[Marginal, ...]:
        """The invariants that are tables of the unit; leaving others out allows more changes, never fewer."""
        known = (invariant.as_marginal() for invariant in self._invariants or ())
        return tuple(dict.fromkeys(table for table in known if table is not None and table.unit == unit))

    # -- from above -------------------------------------------------------------------------------

    def _changes(self, steps: RecordSteps, columns: SeenAttributes) -> tuple[tuple[Marginal, ...], tuple[RecordChange, ...]]:
        """The laminar part of the invariants that gives the least bound, with the changes that it allows."""
        parts = [()] if self._is_by_record else laminar_parts(self._fixed(steps.unit), self.spec.space, steps.unit)
        allowed = [(part, self._allowed(steps, columns, part)) for part in parts]
        if len(allowed) == 1:
            return allowed[0]
        return min(allowed, key=lambda part: self._upper(self._costs(steps, part[1], PRECISIONS[0])))

    def _allowed(self, steps: RecordSteps, columns: SeenAttributes, family: Sequence[Marginal]) -> tuple[RecordChange, ...]:
        """Every change that keeps a laminar family and that neighbours can afford, once for each thing that the views see."""
        found: dict[tuple[bool, tuple[int, ...]], RecordChange] = {}
        numbers: dict[LawPair, int] = {}  # equal laws have one number, so that what looks the same is found quickly

        @cache
        def moved(place: int, seen: CellMove) -> tuple[int, ...]:
            laws = self.structure.views[place].changed(seen)
            if laws is None:
                raise _MissingStep("noise", "what is released changes its kind with the number of records")
            return tuple(numbers.setdefault(pair, len(numbers)) for pair in laws)

        every = self._fixed(steps.unit)
        options = [(steps.replaced, False, replacements(columns))]
        if steps.added is not None:
            options.append((steps.added, True, additions(columns)))
        for price, is_added, patterns in options:
            if steps.within is not None and price > steps.within:
                continue
            see = added_to if is_added else seen_by
            for place, pattern in enumerate(patterns):
                if place > MOST_PATTERNS:
                    raise _MissingStep("sensitivity", f"conditions cut the records into more than {MOST_PATTERNS:,} patterns")
                if any(see(table, pattern, columns) is not CellMove.NOTHING for table in family):
                    continue
                parts = (moved(i, see(view.table, pattern, columns)) for i, view in enumerate(self.structure.views))
                key = is_added, tuple(sorted(itertools.chain.from_iterable(parts)))
                alike = found.get(key)
                if alike is None:
                    known = list(numbers)
                    alike = RecordChange(patterns=(), price=price, laws=tuple(known[n] for n in key[1]), is_added=is_added)
                keeps = all(see(table, pattern, columns) is CellMove.NOTHING for table in every)
                if len(alike.patterns) < (2 * ALIKE if keeps else ALIKE):  # those that keep all tables come first
                    found[key] = attrs.evolve(alike, patterns=(pattern, *alike.patterns) if keeps else (*alike.patterns, pattern))
        return tuple(found.values())

    def _adds_up(self, steps: RecordSteps, changes: Sequence[RecordChange]) -> bool:
        """Whether bounds for single changes bound all pairs: there is one change between neighbours, or d_Pr is a metric."""
        chosen = self.spec.output_divergence
        return _is_single(steps, changes) or (chosen.is_metric and stands(chosen, "is_metric", "evaluate", "between"))

    def _costs(self, steps: RecordSteps, changes: Sequence[RecordChange], precision: int) -> list[tuple[RecordChange, Bracket]]:
        """Each change with the quotient of d_Pr and price, the costliest first."""
        single = _is_single(steps, changes)
        found = []
        for change in changes:
            apart = self._apart(change.laws, precision)
            if change.is_added or not self.spec.output_divergence.is_symmetric:
                apart |= self._apart(tuple((after, before) for before, after in change.laws), precision)
            if not single:
                apart = per_unit(apart, number(change.price)).scaled(1 if steps.within is None else steps.within)
            found.append((change, apart))
        return sorted(found, key=lambda pair: pair[1].upper, reverse=True)

    def _upper(self, costs: Sequence[tuple[RecordChange, Bracket]]) -> Number:
        return max((cost.upper for _, cost in costs), default=ZERO)

    def _apart(self, laws: Sequence[LawPair], precision: int) -> Bracket:
        """d_Pr of the answers that change."""
        return _divergence(self.spec.output_divergence, tuple(laws), precision)

    # -- from below -------------------------------------------------------------------------------

    def _lower(
        self, steps: RecordSteps, columns: SeenAttributes, costs: Sequence[tuple[RecordChange, Bracket]], precision: int
    ) -> _Seen | None:
        """The pair of one universe with the largest quotient that is found; none is looked for that cannot have a larger one."""
        best: _Seen | None = None
        for change, cost in costs[:PAIRS_TRIED]:
            if best is not None and best.ratio.lower >= cost.upper:
                return best
            for pattern in change.patterns:
                records = records_of(pattern, columns, self.spec.space, steps.unit)
                exchanges = () if records is None else self._exchanged(records, change, steps)
                found = self._better(None, exchanges, steps.unit, precision)
                if found is not None:
                    best = found if best is None or found.ratio.lower > best.ratio.lower else best
                    break
        return self._better(best, self._crossed(columns, steps.unit), steps.unit, precision)

    def _better(self, best: _Seen | None, exchanges: Iterable[ExchangedRecords], unit: str, precision: int) -> _Seen | None:
        """The best pair so far, or a better one that differs in such records."""
        for gone, come in exchanges:
            pairs = (self.judged(*pair, precision) for pair in pairs_of(gone, come, self.spec.space, unit))
            found = next((pair for pair in pairs if pair is not None), None)
            if found is not None and (best is None or found.ratio.lower > best.ratio.lower):
                best = found
        return best

    def _exchanged(self, records: tuple[Record, Record], change: RecordChange, steps: RecordSteps) -> Iterator[ExchangedRecords]:
        """A record added or replaced, as often as neighbours allow it; in sequences also two that change places."""
        gone, come = ((), records[1:]) if change.is_added else (records[:1], records[1:])
        yield gone, come
        if change.is_added and not self.spec.output_divergence.is_symmetric:
            yield come, gone
        times = 1 if steps.within is None else steps.within // change.price
        if times > 1:
            yield gone * times, come * times
        if self.spec.space.is_ordered and not change.is_added:
            yield records, records[::-1]

    def _crossed(self, columns: SeenAttributes, unit: str) -> Iterator[ExchangedRecords]:
        """Two records that differ as much as they can and exchange what one invariant looks at, as several tables ask for."""
        tables, space = self._fixed(unit), self.spec.space
        apart = sorted(
            itertools.islice(replacements(columns), MOST_PATTERNS), key=lambda p: sum(kept.equal for kept in p.values())
        )
        names = [a.name for a in space.attributes_of(unit)]
        for pattern in apart[:CROSSED] if len(tables) > 1 else ():
            records = records_of(pattern, columns, space, unit)
            if records is None:
                continue
            for moved in (columns.moved_with(table, space.attributes_of(unit)) for table in tables):
                turned = (records, records[::-1])
                yield records, tuple(tuple(b if n in moved else a for n, a, b in zip(names, *two, strict=True)) for two in turned)

    def judged(self, left: Dataset, right: Dataset, precision: int) -> _Seen | None:
        """What is known of a pair; None where nothing is asked of it, or the views do not compare it."""
        space = self.spec.space
        if not self.structure.publishes_views:
            return None  # what is computed from the views may hide the difference
        if left == right or not self.spec.multiverse.share_universe(left, right, space):
            return None
        distance = self.spec.distance(left, right)
        if distance.is_infinite:
            return None
        found: list[LawPair] = []
        for view in self.structure.views:
            cell = cache(partial(view.table.cell_of, space=space))  # many records are alike
            before, after = ([cell(record) for record in space.records(x, view.table.unit)] for x in (left, right))
            laws = view.between(before, after)
            if laws is None:
                return None
            found += laws
        apart = self._apart(found, precision)
        return None if distance == 0 and apart.upper == 0 else _Seen(left=left, right=right, distance=distance, divergence=apart)

    # -- the verdict ------------------------------------------------------------------------------

    def refuted(self, found: _Seen) -> Verdict:
        label = next(
            label for label in self.spec.multiverse.labels(found.left, self.spec.space)
            if label in self.spec.multiverse.labels(found.right, self.spec.space)
        )  # fmt: skip
        witness = Witness(
            universe=label,
            left=found.left,
            right=found.right,
            distance=found.distance,
            divergence=found.divergence,
            bound=self.bound,
        )
        result = self.result(Bracket(lower=found.ratio.lower, upper=INFINITY), Outcome.REFUTED, (found.left, found.right))
        return Verdict(
            outcome=Outcome.REFUTED, method=METHOD, scope=ONE_PAIR, universes=(result,),
            witness=witness,
        )  # fmt: skip

    def _decided(self, proof: tuple[ProofStep, ...], upper: Number, lower: _Seen, *, written: bool = True) -> Verdict:
        if lower.ratio.lower > upper:  # one of the two is wrong, and nothing may be built on either
            rule = f"a pair has {lower.ratio.lower} per unit, beyond the {upper} that was proved"
            raise PluginContractError("structure", rule, "report it with the file", value=f"{lower.left}, {lower.right}")
        constant = Bracket(lower=lower.ratio.lower, upper=upper)
        outcome = Outcome.VERIFIED if upper <= self.bound else Outcome.UNDECIDED
        reason = f"the constant lies between {constant.lower} (a pair) and {constant.upper} (the proof)"
        return Verdict(
            outcome=outcome, method=METHOD, scope=WHOLE, reason="" if outcome is Outcome.VERIFIED else reason, proof=proof,
            universes=(self.result(constant, outcome, (lower.left, lower.right) if written else None),),
        )  # fmt: skip

    def result(self, constant: Bracket, outcome: Outcome, attained: tuple[Dataset, Dataset] | None) -> UniverseResult:
        return UniverseResult(
            label=EVERY, datasets=None, pairs=None, constant=constant, bound=self.bound, outcome=outcome, attained=attained
        )

    def _told(
        self, steps: RecordSteps, family: Sequence[Marginal], changes: Sequence[RecordChange], upper: Number
    ) -> tuple[ProofStep, ...]:
        """The steps of the proof, in words."""
        kept = f" that keep {'; '.join(map(str, family))}" if family else ""
        added = f", added or removed for {steps.added}" if steps.added is not None else ""
        limit = "" if steps.within is None else f", for at most {steps.within} in all between neighbours"
        replaced = f"each one {steps.unit} record replaced for {steps.replaced}{added}{limit}"
        most = max((len(change.laws) for change in changes), default=0)
        views = len(self.structure.views)
        told = [
            ProofStep(
                step="sensitivity",
                says=f"datasets of a universe are joined by changes{kept}: {replaced}; {count(len(changes), 'kind')} of "
                f"change, each of which moves at most {most} of the answers of {count(views, 'view')}",
                citation="Dwork, McSherry, Nissim and Smith 2006, Definition 2; Bailie, Gong and Meng 2023",
            ),
            ProofStep(
                step="noise",
                says=f"{self.spec.output_divergence} of the answers that move is at most {upper} per unit",
                citation="",
            ),
        ]
        if not _is_single(steps, changes):
            says = f"{self.spec.output_divergence.name} is a metric, so bounds for the changes between two datasets add up"
            told.append(ProofStep(step="path", says=says, citation="Bailie, Gong and Meng 2023"))
        if self.structure.reads:
            says = "what else is released is computed from these answers and from facts that each universe fixes"
            told.append(ProofStep(step="post-process", says=says, citation="Bailie, Gong and Meng 2023, last step of TopDown"))
        return tuple(told)


def _by_theorem(mechanism: Mechanism, spec: PrivacySpec) -> Verdict | Missing:
    """Judge a claim by a theorem about the mechanism, whose pair the exact engine judges."""
    found = guarded(mechanism.name, lambda: mechanism.proved(spec)) if "proved" in vars(type(mechanism)) else None
    if found is None:
        return Missing(step="structure", reason=f"the mechanism {mechanism.name} does not say how it is made")
    shown = None if found.pair is None else verify(mechanism, spec, datasets=found.pair)
    if shown is not None and shown.outcome is Outcome.REFUTED:
        return attrs.evolve(shown, method=METHOD, scope=ONE_PAIR)
    unfit = _unfit(found, spec)
    if unfit:
        return Missing(step="theorem", reason=unfit)
    if shown is None or all(result.is_vacuous for result in shown.universes):
        return Verdict(outcome=Outcome.UNDECIDED, method=METHOD, scope=WHOLE, reason=f"{NOTHING} was found")
    result = UniverseResult(
        label=EVERY, datasets=None, pairs=None, constant=Bracket(lower=shown.constant.lower, upper=INFINITY), bound=INFINITY,
        outcome=Outcome.VERIFIED, attained=found.pair,
    )  # fmt: skip
    proof = (ProofStep(step="theorem", says=found.says, citation=found.citation),)
    return Verdict(outcome=Outcome.VERIFIED, method=METHOD, scope=WHOLE, universes=(result,), proof=proof)


def _bound(spec: PrivacySpec) -> Number | None:
    """The Lipschitz constant that the budget allows in every universe; None where it differs."""
    budget = spec.budget.uniform() if stands(spec.budget, "uniform", "at") else None
    return None if budget is None else spec.output_divergence.lipschitz(spec.budget.parameter, budget)


def _invariants(spec: PrivacySpec) -> tuple[Invariant, ...] | None:
    """The invariants that hold in every universe; None where they are not told, or told of other universes than these."""
    universes = spec.multiverse
    return universes.invariants if stands(universes, "invariants", "labels", "share_universe") else None


def _unfit(found: ProvedBound, spec: PrivacySpec) -> str:
    """Why a theorem does not show a claim; empty where it does."""
    if (found.input_divergence, found.output_divergence) != (spec.input_divergence, spec.output_divergence):
        return f"it is about {found.output_divergence} and {found.input_divergence}"
    known = _invariants(spec)
    inside = None if known is None else determines(known, found.invariants, spec.space)
    if inside is None or inside.answer is not True:
        return "it is about the universes of other invariants"
    return "" if found.holds else found.says


FEW_ANSWERS = 1_000
"""With at most so many answers, the law that the mechanism states is held against its structure."""


def _tried(mechanism: Mechanism, structure: Structure, spec: PrivacySpec, found: Verdict) -> None:
    """Hold the law of the mechanism against its structure, on the pair of the verdict, where the law is small."""
    pair = next((result.attained for result in found.universes), None)
    if pair is None or sum(_answers(view, pair[0], spec.space) for view in structure.views) > FEW_ANSWERS:
        return
    try:
        before, after = (computed_law(mechanism, dataset, spec) for dataset in pair)
        apart = per_unit(spec.output_divergence.between(before, after), spec.distance(*pair))
    except PluginContractError:
        raise
    except DpspecError:  # the law is not to be had on this space
        return
    known_apart = found.universes[0].constant
    if apart.upper < known_apart.lower or apart.lower > known_apart.upper:
        rule = f"has another law than its structure says: {apart} against {known_apart} per unit on one pair"
        raise PluginContractError(f"mechanism {mechanism.name}", rule, "report it to the plugin's author", value=str(pair))


def _answers(view: View, dataset: Dataset, space: DatasetSpace) -> int:
    """How many answers a view gives."""
    if view.by_record:
        return len(space.records(dataset, view.table.unit))
    sizes = {a.name: a.size for a in space.attributes_of(view.table.unit)}
    return math.prod(sizes[name] for name in view.table.attributes)


WHOLE, ONE_PAIR, METHOD = "the whole space", "one pair of the whole space", "derived"


def _is_single(steps: RecordSteps, changes: Sequence[RecordChange]) -> bool:
    """Whether neighbours differ by one change only."""
    least = min((change.price for change in changes), default=0)
    return steps.within is not None and 2 * least > steps.within


@lru_cache(maxsize=1 << 14)
def _divergence(chosen: OutputDivergence, laws: tuple[LawPair, ...], precision: int) -> Bracket:
    pair = guarded("structure", lambda: product_of(before.against(after) for before, after in laws))
    found: Bracket = guarded(chosen.name, lambda: chosen.evaluate(pair, precision=precision))
    return found
