"""Proofs of a claim on the whole space, however large, from the structure of the mechanism; and one pair of datasets from below.

The structure decomposes the output into independent views of the records, and into values computed from them and from facts
that the universe fixes. Then

1. *sensitivity*: two datasets of a universe at distance d are joined by changes of one record, of total price d;
2. *noise*: d_Pr of a change is that of the few answers that it moves (both in `dpspec.verifier.sensitivity`);
3. *sample*: where each record is sampled with a probability below 1, a change has an effect only if its record is sampled;
4. *path*: where d_Pr is a metric, d_Pr(P_x, P_x') is at most the sum over the changes, and so at most d times the largest
   quotient of d_Pr and price over the patterns. The laws on the way need not be those of datasets: counts may be anything.
   Between neighbours there is one change, and d_Pr may be anything;
5. *post-process*: what is computed from the views and from facts that are equal for x and x' adds nothing (data processing).

The largest quotient bounds the constant from above. From below it is bounded by a pair of datasets of the space, in one
universe, on which d_Pr and d_X are computed (`dpspec.verifier.lower_bound`). Where the two meet, the constant is exact. Dwork,
McSherry, Nissim and Smith 2006 (sensitivity); Bailie, Gong and Meng 2023 (inside universes).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from functools import partial
from typing import NoReturn

import attrs

from dpspec.base.errors import (
    BudgetNotKnownError,
    ContradictedError,
    DpspecError,
    IncompatibleBlocksError,
    NotInSpaceError,
    PluginContractError,
    count,
)
from dpspec.base.exact import INFINITY, ZERO, Bracket, Number, in_few_digits, rounded_down, rounded_up
from dpspec.blocks.budget import stands_for
from dpspec.blocks.invariant import Marginal
from dpspec.blocks.multiverse import Universe, determines, shared_labels
from dpspec.blocks.space import Dataset, DatasetSpace, Pair, exchanged_records
from dpspec.extension.hooks import Registry
from dpspec.extension.loader import origins
from dpspec.grammar.declarations import check_declared
from dpspec.grammar.mechanism import Mechanism
from dpspec.grammar.plugin_calls import computed_law, guarded
from dpspec.grammar.sizes import NoStructure
from dpspec.grammar.spec import PrivacySpec, blocks_of, least_constant
from dpspec.grammar.structure import ProvedBound, Structure, own_samples, structure_for
from dpspec.grammar.views import DrawnView, SampledView, View, table_data
from dpspec.laws.law import FiniteLaw, Law
from dpspec.verifier.changes import pairs_of
from dpspec.verifier.exhaustive import PRECISIONS, as_guarantee, per_unit, verify, without_number
from dpspec.verifier.law_check import cell_count, compare_law, compare_theorem
from dpspec.verifier.lower_bound import Attaining, SeenPair
from dpspec.verifier.sensitivity import Cost, Missing, MissingStep, RecordChange, Sensitivity, for_replaced
from dpspec.verifier.verdict import Outcome, ProofStep, UniverseResult, Verdict, Witness

EVERY = "every universe"
"""The label of results for all universes of a space that is too large to list."""

WHOLE, ONE_PAIR, METHOD = "the whole space", "one pair of the whole space", "derived"

OTHER_SPACE = (
    "the law was compared with the structure on a smaller space only: on this space it is unknown on the pair of the verdict"
)
"""The assumption of a proof where the mechanism raises an error for its own law on the space of the claim."""

MANY_OTHERS = 50
"""The number of further records that are added to a pair, so that a law which depends on the number of records is detected."""

NO_PAIR = "the proof needs two datasets of one universe at a finite distance, and found none"
NOT_COMPUTED = "a bound follows from the structure, but the laws of no pair of datasets were computed that would confirm it"
UNCONFIRMED = (
    "the constant is an upper bound from the structure: the laws on this space are too large to compute for a pair of datasets, "
    "and law and structure were compared on a smaller space only"
)
"""The assumption of a proof where datasets at finite distance exist, but nothing bounds the constant from below."""

ANOTHER = "any other outcome"
"""The alternative to the outcome that is tested: all other outputs."""

FEW_ANSWERS = 1_000
"""With at most so many answers, the law that the mechanism states is held against its structure."""

MOST_LISTED = 10_000
"""With at most so many answers, it is tried whether the mechanism has a law on a pair at all: to make one takes about 0.1 s."""

MOST_WITHOUT_LAW = 20
"""The number of pairs that are tried until the mechanism has a law on one."""

FEW_MIXED = 2
"""The same for a mixture over samples, whose outcomes have to be listed together: their number grows with every answer."""


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
    check_declared(spec)
    if spec.budget.unpublished() is not None:
        return _without_number(mechanism, spec, registry)
    structure = _structure(mechanism, spec)
    if isinstance(structure, Missing):
        return structure
    found = _by_theorem(mechanism, spec) if structure is None else _by_structure(mechanism, structure, spec)
    if isinstance(found, Missing):
        return found
    provenance = origins({"mechanism": mechanism, **blocks_of(spec)}, registry)
    return attrs.evolve(found, provenance=provenance, assumptions=(*mechanism.assumes, *found.assumptions))


def _without_number(mechanism: Mechanism, spec: PrivacySpec, registry: Registry | None) -> Verdict | Missing:
    """The same where no number is published that anybody could rely on."""
    found = derive(mechanism, spec.replace(budget=stands_for(spec.budget, INFINITY)), registry=registry)
    if isinstance(found, Missing):
        return found

    def judge(closed: PrivacySpec) -> Verdict:
        again = derive(mechanism, closed, registry=registry)
        if isinstance(again, Missing):
            return Verdict(outcome=Outcome.UNDECIDED, method="none", scope="nothing", reason=str(again))
        return again

    return without_number(spec, judge)


def on_pair(mechanism: Mechanism, spec: PrivacySpec, pair: Pair) -> Verdict | None:
    """Judge a claim on two datasets by how the mechanism is made; None where it does not say so, or views do not compare them.

    It needs no law of the whole output, which may have billions of answers.
    """
    structure, bound = _structure(mechanism, spec), least_constant(spec)
    if structure is None or isinstance(structure, Missing) or bound is None or not structure.publishes_views:
        return None
    proof = _Proof.of(mechanism, structure, spec, bound)
    try:
        seen = proof.attaining.judged(*pair, PRECISIONS[-1])
    except MissingStep:
        return None
    if seen is None:
        return None
    own = proof.bound_of(seen)
    if seen.ratio.lower > own:
        return attrs.evolve(proof.refuted(seen), assumptions=mechanism.assumes)
    outcome = Outcome.VERIFIED if seen.ratio.upper <= own else Outcome.UNDECIDED
    return Verdict(
        outcome=outcome, method=METHOD, scope=ONE_PAIR, assumptions=mechanism.assumes,
        universes=(proof.result(seen.ratio, outcome, pair),),
    )  # fmt: skip


def _structure(mechanism: Mechanism, spec: PrivacySpec) -> Structure | Missing | None:
    """The structure of the mechanism, as its own class states it; of hypotheses those that it states for itself."""
    structure: Structure | NoStructure | None = guarded(mechanism.name, lambda: structure_for(mechanism, spec.space))
    if structure is not None and "structure" not in vars(type(mechanism)):
        own = type(mechanism).__name__
        reason = f"{mechanism.name} inherits structure(), which is about another law: define it in class {own}"
        return Missing(step="structure", reason=reason)
    if isinstance(structure, NoStructure):
        return None if "proved" in vars(type(mechanism)) else Missing(step="structure", reason=structure.reason)
    return structure if structure is None else for_replaced(structure, spec)


def _by_structure(mechanism: Mechanism, structure: Structure, spec: PrivacySpec) -> Verdict | Missing:
    """Judge a claim by the views that the output is made of."""
    bound = least_constant(spec)
    if bound is None:
        return Missing(step="budget", reason="no number is known that the budget of every universe is at least")
    proof = _Proof.of(mechanism, structure, spec, bound)
    try:
        found = proof.verdict()
    except MissingStep as at:
        try:
            beside = proof.attaining.beside(bound, PRECISIONS[0])
        except MissingStep:
            return at.missing
        if beside is None or not proof.refutes(beside):
            return at.missing
        found = proof.refuted(beside)
    if found.outcome is Outcome.VERIFIED:
        undefined = _undefined(mechanism, proof, found)
        if undefined:
            return Missing(step="law", reason=undefined)
    elsewhere = _tried(mechanism, structure, proof, found)
    comparison = compare_law(mechanism, structure, spec)
    believed = comparison.assumptions(elsewhere, of_one_pair=found.outcome is Outcome.REFUTED)
    found = attrs.evolve(found, assumptions=(*found.assumptions, *believed))
    return _only_if_compared(found, comparison.missing("structure"))


def _from_below(value: Number) -> str:
    """A lower bound in a sentence: in exact form while that is short."""
    exact = in_few_digits(value)
    return rounded_down(value, 7) if exact.startswith("about ") else exact


def _from_above(value: Number) -> str:
    """An upper bound in a sentence: in exact form while that is short."""
    exact = in_few_digits(value)
    return rounded_up(value, 7) if exact.startswith("about ") else exact


def _only_if_compared(found: Verdict, missing: str) -> Verdict:
    """The verdict; undecided where it rests on a statement of the mechanism's author that was not compared with a law.

    A plugin registers, it does not decide: what only its author says is not reported as holding. The bound is part of the reason.
    """
    if found.outcome is not Outcome.VERIFIED or not missing:
        return found
    bound = found.constant.upper
    reason = missing if bound.is_infinite else f"the constant would be at most {_from_above(bound)}, but {missing}"
    return Verdict(outcome=Outcome.UNDECIDED, method=METHOD, scope=WHOLE, reason=reason)


@attrs.frozen(kw_only=True)
class _Proof:
    """The upper bound from the structure, the lower one from a pair, and the least Lipschitz constant that a budget allows."""

    spec: PrivacySpec
    bound: Number
    sensitivity: Sensitivity
    attaining: Attaining

    @classmethod
    def of(cls, mechanism: Mechanism, structure: Structure, spec: PrivacySpec, bound: Number) -> _Proof:
        """The goal of the proof; the laws of the mechanism are computed only where its views are not published, and few."""
        known = Sensitivity(structure=structure, spec=spec)
        asked = None if structure.publishes_views else partial(_small_law, mechanism, structure, spec)
        return cls(spec=spec, bound=bound, sensitivity=known, attaining=Attaining(sensitivity=known, law=asked))

    @property
    def structure(self) -> Structure:
        return self.sensitivity.structure

    def verdict(self) -> Verdict:
        """Both bounds, at growing precision until they decide."""
        known = self.sensitivity
        family, changes = known.changes()
        for precision in PRECISIONS:
            costs = known.costs(changes, precision)
            upper = known.upper(costs)
            lower = self.attaining.best(costs, precision) or self.attaining.filled(costs, precision)
            if lower is not None and self.refutes(lower):
                return self.refuted(lower)
            exact = all(cost.is_exact for _, cost in costs) and (lower is None or lower.ratio.is_exact)
            if upper <= self.bound or exact:
                break
        if not known.is_single(changes) and not known.is_metric:
            words = self.spec.output_divergence.in_words()
            raise MissingStep("path", f"{words} is no metric, so that bounds for single changes do not add up")
        if not known.are_bounded_together(changes, upper):
            words = self.spec.output_divergence.in_words()
            raise MissingStep("sample", f"{words} is not bounded for several kinds of changes in a sample of a fixed size")
        written = lower is not None
        if lower is None:
            lower = self.attaining.thinned(costs, PRECISIONS[0])
        if lower is not None:
            return self._decided(self._steps(family, costs), upper, lower, written=written)
        pair = next(self.attaining.pairs(changes), None)
        if pair is None:
            return Verdict(outcome=Outcome.UNDECIDED, method=METHOD, scope=WHOLE, reason=NO_PAIR)
        if known.sizes or known.is_sampled or not self.structure.publishes_views:
            return Verdict(outcome=Outcome.UNDECIDED, method=METHOD, scope=WHOLE, reason=NOT_COMPUTED)
        unknown = SeenPair(
            left=pair[0], right=pair[1], distance=self.spec.distance(*pair), divergence=Bracket(lower=ZERO, upper=INFINITY)
        )
        found = self._decided(self._steps(family, costs), upper, unknown, written=False)
        reason = found.reason and f"the constant is at most {_from_above(upper)} (the proof), and no pair bounds it from below"
        return attrs.evolve(found, reason=reason, assumptions=(UNCONFIRMED,))

    def bound_of(self, found: SeenPair) -> Number:
        """The Lipschitz constant that the budget allows in the universe of a pair, the least where several hold it."""
        return min(bound for _, bound in self._bounds(found))

    def _bounds(self, found: SeenPair) -> list[tuple[object, Number]]:
        """The universes that hold both datasets of a pair, each with the Lipschitz constant that its budget allows."""
        if self.spec.budget.uniform() is not None:
            return [(label, self.bound) for label in self._labels(found)]
        pair = found.left, found.right
        held = [Universe(label=label, datasets=pair, is_whole=False) for label in self._labels(found)]
        try:
            return [(universe.label, self.spec.bound(universe)) for universe in held]
        except BudgetNotKnownError:  # a pair refutes a budget that is known alone
            return [(universe.label, INFINITY) for universe in held]

    def _labels(self, found: SeenPair) -> Sequence[object]:
        """The universes that hold both datasets of a pair."""
        return shared_labels(self.spec.multiverse, found.left, found.right, self.spec.space)

    def refutes(self, found: SeenPair) -> bool:
        """Whether a pair is beyond what the budget of its universe allows."""
        return found.ratio.lower > self.bound and found.ratio.lower > self.bound_of(found)

    def refuted(self, found: SeenPair) -> Verdict:
        """The verdict of a pair that refutes."""
        label, bound = min(self._bounds(found), key=lambda held: held[1])
        witness = Witness(
            universe=label, left=found.left, right=found.right, distance=found.distance, divergence=found.divergence, bound=bound
        )
        result = self.result(Bracket(lower=found.ratio.lower, upper=INFINITY), Outcome.REFUTED, (found.left, found.right))
        return Verdict(outcome=Outcome.REFUTED, method=METHOD, scope=ONE_PAIR, universes=(result,), witness=witness)

    def _decided(self, proof: tuple[ProofStep, ...], upper: Number, lower: SeenPair, *, written: bool) -> Verdict:
        if lower.ratio.lower > upper:  # one of the two is wrong, and nothing may be built on either
            rule = f"a pair has {lower.ratio.lower} per unit, beyond the {upper} that was proved"
            raise PluginContractError("structure", rule, "report it with the file", value=f"{lower.left}, {lower.right}")
        constant = Bracket(lower=lower.ratio.lower, upper=upper)
        outcome = Outcome.VERIFIED if upper <= self.bound else Outcome.UNDECIDED
        least = _from_below(constant.lower)
        reason = f"the constant lies between {least} (a pair) and {_from_above(constant.upper)} (the proof)"
        if not written and lower.ratio.lower > self.bound:
            reason = f"the constant is at least {least}, shown by a pair that is too large to be written down"
        return Verdict(
            outcome=outcome, method=METHOD, scope=WHOLE, reason="" if outcome is Outcome.VERIFIED else reason, proof=proof,
            universes=(self.result(constant, outcome, (lower.left, lower.right) if written else None),),
        )  # fmt: skip

    def result(self, constant: Bracket, outcome: Outcome, attained: tuple[Dataset, Dataset] | None) -> UniverseResult:
        """The result for all universes together."""
        return UniverseResult(
            label=EVERY, datasets=None, pairs=None, constant=constant, bound=self.bound, outcome=outcome, attained=attained
        )

    def _steps(self, family: Sequence[Marginal], costs: Sequence[Cost]) -> tuple[ProofStep, ...]:
        """The steps of the proof, in words and as data."""
        chosen, reads, changes = self.spec.output_divergence, self.structure.reads, [change for change, _ in costs]
        bounds = [Bracket.exactly(0), *(cost for _, cost in costs)]
        largest = max(bounds, key=lambda cost: cost.upper).ends()[1]
        steps = [
            ProofStep(
                step="sensitivity", says=self._joined(family, changes),
                citation="Dwork, McSherry, Nissim and Smith 2006, Definition 2; Bailie, Gong and Meng 2023",
                data=self.sensitivity.data(family, changes),
            ),
            ProofStep(
                step="noise", citation="",
                says=f"the laws of the answers that move are at most {largest} apart per unit, by {chosen.in_words()}",
                data={"bounds": [cost.ends()[1] for cost in bounds[1:]], "largest": largest},
            ),
        ]  # fmt: skip
        if self.sensitivity.sizes:
            steps.append(self._sizes())
        if self.sensitivity.is_sampled:
            steps.append(self._sample())
        if not self.sensitivity.is_single(changes):
            says = f"{chosen.in_words()} is a metric, so bounds for the changes between two datasets add up"
            steps.append(ProofStep(step="path", says=says, citation="Bailie, Gong and Meng 2023", data={"metric": chosen.name}))
        if reads or not self.structure.publishes_views:
            fixed = " and from facts that each universe fixes" if reads else ""
            says = f"what {'else ' if self.structure.publishes_views else ''}is released is computed from these answers{fixed}"
            known = [fact.as_marginal() for fact in reads]
            facts = [str(fact) if table is None else table_data(table) for fact, table in zip(reads, known, strict=True)]
            source = "Bailie, Gong and Meng 2023, last step of TopDown"
            steps.append(ProofStep(step="post-process", says=says, citation=source, data={"reads": facts}))
        return tuple(steps)

    def _sizes(self) -> ProofStep:
        """The numbers of records that the bounds of single answers depend on."""
        known = self.sensitivity.sizes
        says = "; ".join(f"for {table} {words} are read of every dataset" for table, words in known)
        listed = [{"table": table_data(table), "least": low, "most": high} for (table, _), (low, high) in known.items()]
        return ProofStep(step="sizes", says=says, citation="", data={"records": listed})

    def _sample(self) -> ProofStep:
        """The sampling of the records."""
        size, least, citation = self.structure.drawn, self.sensitivity.least, "Balle, Barthe and Gaboardi 2018"
        own = own_samples(self.structure)
        rates = sorted({str(view.rate) for view in own if isinstance(view, SampledView)})
        sizes = sorted({view.size for view in own if isinstance(view, DrawnView)})
        if sizes:
            others = f", or of each record with probability {', '.join(rates)}" if rates else ""
            of = " or ".join(map(str, sizes))
            drawn = f"each release draws a sample of {of} of at least {least} records{others}"
            says = f"{drawn}; one pair of laws bounds each release"
            source = f"{citation}, sampling without replacement; Zhu, Dong and Wang 2022, Theorem 10"
            return ProofStep(step="sample", says=says, citation=source, data={"sizes": sizes, "rates": rates, "least": least})
        if rates:
            says = f"a record takes part in each sample with probability {', '.join(rates)}, which the bound takes into account"
            return ProofStep(step="sample", says=says, citation=citation, data={"rates": rates})
        if size is None:
            says = f"a record takes part with probability {self.structure.sampled}, which the bound takes into account"
            return ProofStep(step="sample", says=says, citation=citation, data={"rate": str(self.structure.sampled)})
        says = (
            f"{size} of at least {least} records take part; samples with and without a record differ in one that is replaced, "
            f"and a record replaced takes part with probability {self.sensitivity.share(is_added=False)} at most"
        )
        return ProofStep(
            step="sample", says=says, citation=f"{citation}, sampling without replacement", data={"size": size, "least": least}
        )

    def _joined(self, family: Sequence[Marginal], changes: Sequence[RecordChange]) -> str:
        """The path that joins two datasets."""
        steps = self.sensitivity.steps
        kept = f" that keep {'; '.join(map(str, family))}" if family else ""
        added = f", added or removed for {steps.added}" if steps.added is not None else ""
        limit = "" if steps.within is None else f", for at most {steps.within} in all between neighbours"
        most = max((change.answers for change in changes), default=0)
        times = max((change.times for change in changes), default=0)
        each = f", and those of each of at most {times} records inside it" if times else ""
        tied = self.sensitivity.tied_part()
        if tied is not None:
            size = f"{count(tied['attributes'], 'attribute')} ({count(tied['patterns'], 'partial pattern')})"
            each += f"; changes are left out that larger ones cover, and the largest tied part has {size}"
            if not self.sensitivity.is_attained:
                each += ", too many to pass at once: what its parts see separately is added up"
        return (
            f"datasets of a universe are joined by changes{kept}: each one {steps.unit} record replaced for "
            f"{steps.replaced}{added}{limit}; {count(len(changes), 'kind')} of change, each of which moves at most {most} of the "
            f"answers of {count(len(self.structure.views), 'view')}{each}"
        )


def _by_theorem(mechanism: Mechanism, spec: PrivacySpec) -> Verdict | Missing:
    """Judge a claim by a theorem about the mechanism, whose pair the exact engine judges."""
    found = guarded(mechanism.name, lambda: mechanism.proved(spec)) if "proved" in vars(type(mechanism)) else None
    if found is None:
        return Missing(step="structure", reason=f"the mechanism {mechanism.name} does not say how it is made")
    shown = None if found.pair is None else _on_pair_of(found, mechanism, spec)
    if shown is not None and shown.outcome is Outcome.REFUTED:
        return attrs.evolve(shown, method=METHOD, scope=ONE_PAIR)
    unfit = _unfit(found, spec)
    if unfit:
        return Missing(step="theorem", reason=unfit)
    comparison = compare_theorem(mechanism, spec, found.invariants)
    compared = shown is not None and not all(result.is_vacuous for result in shown.universes)
    reached = shown.constant if shown is not None and compared else found.reached
    if reached is None:
        return Verdict(outcome=Outcome.UNDECIDED, method=METHOD, scope=WHOLE, reason=NO_PAIR)
    result = UniverseResult(
        label=EVERY, datasets=None, pairs=None, constant=Bracket(lower=reached.lower, upper=INFINITY), bound=INFINITY,
        outcome=Outcome.VERIFIED, attained=found.pair if compared else None,
    )  # fmt: skip
    proof = (ProofStep(step="theorem", says=found.says, citation=found.citation),)
    verdict = Verdict(
        outcome=Outcome.VERIFIED, method=METHOD, scope=WHOLE, universes=(result,), proof=proof,
        assumptions=comparison.assumptions(),
    )  # fmt: skip
    return _only_if_compared(verdict, comparison.missing("theorem"))


def on_pair_of_theorem(mechanism: Mechanism, spec: PrivacySpec, pair: Pair) -> Verdict | None:
    """Judge a claim on the pair of a theorem, of which the probabilities of one outcome are known; None for any other pair."""
    found = guarded(mechanism.name, lambda: mechanism.proved(spec)) if "proved" in vars(type(mechanism)) else None
    if found is None or found.pair is None or found.probabilities is None or set(found.pair) != set(pair):
        return None
    return as_guarantee(_on_pair_of(found, mechanism, spec), spec, pair)


def _on_pair_of(found: ProvedBound, mechanism: Mechanism, spec: PrivacySpec) -> Verdict:
    """The verdict on the pair of a theorem: by its laws, or by those of whether one outcome is released."""
    assert found.pair is not None  # noqa: S101 - ensured by the caller
    if found.probabilities is None:
        return verify(mechanism, spec, datasets=found.pair)
    laws: dict[Dataset, Law] = {
        dataset: FiniteLaw.of({found.outcome: probability, ANOTHER: 1 - probability})
        for dataset, probability in zip(found.pair, found.probabilities, strict=True)
    }
    shown = verify(mechanism, spec, datasets=found.pair, laws=laws)
    if shown.witness is None or shown.witness.event is None:
        return shown
    event = attrs.evolve(shown.witness.event, expression=None)  # which is about the words of the outcome
    return attrs.evolve(shown, witness=attrs.evolve(shown.witness, event=event))


def _unfit(found: ProvedBound, spec: PrivacySpec) -> str:
    """The reason why a theorem does not prove a claim; empty where it does."""
    if (found.input_divergence, found.output_divergence) != (spec.input_divergence, spec.output_divergence):
        return f"it is about {found.output_divergence.in_words()}, for {found.input_divergence.in_words()}"
    known = spec.multiverse.induced_by()
    inside = None if known is None else determines(known, found.invariants, spec.space)
    if inside is None or inside.answer is not True:
        return "it is about the universes of other invariants"
    return "" if found.holds else found.says


def _small_law(mechanism: Mechanism, structure: Structure, spec: PrivacySpec, dataset: Dataset) -> Law | None:
    """P_x, where it is to be had on this space and has few answers."""
    few = FEW_MIXED if structure.is_sampled else FEW_ANSWERS
    if sum(_answers(view, dataset, spec.space) for view in structure.views) > few:
        return None
    try:
        return computed_law(mechanism, dataset, spec.space)
    except PluginContractError:
        raise
    except DpspecError:
        return None


def _undefined(mechanism: Mechanism, proof: _Proof, found: Verdict) -> str:
    """The reason why a mechanism has no law on any pair that was tried; empty where it has, or may have, one on some pair.

    A proof about laws that are defined nowhere is about nothing, and what the mechanism releases is something else.
    """

    def pairs() -> Iterator[Pair]:
        yield from (result.attained for result in found.universes if result.attained is not None)
        yield from proof.attaining.pairs(proof.sensitivity.changes()[1])

    reason = ""
    for pair in itertools.islice(pairs(), MOST_WITHOUT_LAW):
        reasons = [_no_law(mechanism, proof, dataset) for dataset in pair]
        if not any(reasons):
            return ""
        reason = reason or next(filter(None, reasons))
    return reason and f"the mechanism has no law on one dataset at least of each pair that was tried: {reason}"


def _no_law(mechanism: Mechanism, proof: _Proof, dataset: Dataset) -> str:
    """The reason why the mechanism has no law on a dataset of the space; empty where it has one, or where it is too large."""
    few = FEW_MIXED if proof.structure.is_sampled else MOST_LISTED
    if sum(_answers(view, dataset, proof.spec.space) for view in proof.structure.views) > few:
        return ""
    try:
        computed_law(mechanism, dataset, proof.spec.space)
    except (NotInSpaceError, IncompatibleBlocksError) as fault:
        return str(fault)
    except PluginContractError:
        raise
    except DpspecError:
        return ""
    return ""


def _tried(mechanism: Mechanism, structure: Structure, proof: _Proof, found: Verdict) -> tuple[str, ...]:
    """Compare the law of the mechanism with its structure on the space itself, where the law is small: on the pair of the
    verdict, and on the same pair with many further records.

    Returns:
        what the verdict takes for granted, where the law cannot be computed on that pair although it has few answers.
    """
    spec = proof.spec
    pair = next((result.attained for result in found.universes), None)
    if pair is None:
        return ()
    if sum(_answers(view, pair[0], spec.space) for view in structure.views) > FEW_ANSWERS:
        return ()
    of_structure = found.universes[0].constant
    of_law = _of_law(mechanism, structure, spec, pair)
    if of_law is None:
        return (OTHER_SPACE,)
    if of_law.upper < of_structure.lower or of_law.lower > of_structure.upper:
        _raise_other_law(mechanism, pair, of_law, of_structure)
    if found.outcome is Outcome.VERIFIED and not structure.is_sampled and not any(view.by_record for view in structure.views):
        for crowded in _beside_many(proof, pair):
            of_law = _of_law(mechanism, structure, spec, crowded)
            if of_law is not None and of_law.lower > of_structure.upper:
                _raise_other_law(mechanism, crowded, of_law, of_structure)
    return ()


def _of_law(mechanism: Mechanism, structure: Structure, spec: PrivacySpec, pair: Pair) -> Bracket | None:
    """d_Pr per unit of d_X of the laws of a pair; None where they cannot be computed or compared."""
    before, after = (_small_law(mechanism, structure, spec, dataset) for dataset in pair)
    if before is None or after is None:
        return None
    try:
        return per_unit(spec.output_divergence.between(before, after), spec.distance(*pair))
    except PluginContractError:
        raise
    except DpspecError:  # what is released has no divergence that can be computed
        return None


def _raise_other_law(mechanism: Mechanism, pair: Pair, of_law: Bracket, of_structure: Bracket) -> NoReturn:
    rule = f"has another law than its structure says: {of_law} against {of_structure} per unit on one pair"
    raise ContradictedError(f"mechanism {mechanism.name}", rule, "report it to the plugin's author", value=str(pair))


def _beside_many(proof: _Proof, pair: Pair) -> Iterator[Pair]:
    """The same change of records, and one record added, next to many others, all alike, where that is a pair of one universe."""
    spec, unit = proof.spec, proof.sensitivity.steps.unit
    gone, come = exchanged_records(*pair, unit, spec.space)
    one = (*gone, *come)[:1]
    others = one * MANY_OTHERS
    for ours_too, theirs_too in ((gone, come), ((), one)):
        for left, right in itertools.islice(pairs_of(others + ours_too, others + theirs_too, spec.space, unit), 1):
            shared = left != right and spec.multiverse.share_universe(left, right, spec.space)
            if shared and not spec.distance(left, right).is_infinite:
                yield left, right


def _answers(view: View, dataset: Dataset, space: DatasetSpace) -> int:
    """The number of answers of a view."""
    if view.by_record:
        return len(space.records(dataset, view.table.unit))
    return cell_count(view, space)
