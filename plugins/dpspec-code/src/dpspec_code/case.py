"""Judging a plain function: the strongest method that applies is taken.

    a plain function, few datasets         exhaustive, on the laws read off its code by enumeration, which real runs have to fit
    a plain function, anything else        sampled: it can be refuted, never verified

All that is done about a plain function shares one budget of processor time: a first enumeration of few runs, a first round of
draws (so that what is plainly wrong is refuted early), then its choices to the end, a second opinion, and draws with all that is
left. How far a stage goes is bounded by numbers of runs and draws, so that the same stage decides on every machine; the time of
a stage only ends what would leave nothing to the others.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from functools import partial
from types import FunctionType
from typing import Any, cast

import attrs

from dpspec import DpspecError, Outcome, Verdict
from dpspec.plugin import AdaptedFunction, Dataset, DatasetAdapter, DatasetSpace, LibraryModels, PrivacySpec, Registry, number
from dpspec.plugin.judges import (
    EVERY,
    METHOD,
    NOTHING,
    WHOLE,
    NoFormulaError,
    NotEnumerableError,
    Notice,
    PlainFunction,
    PowerError,
    Progress,
    ProofStep,
    Sampling,
    compared_by_value,
    count,
    presented,
    verify_exhaustively,
)
from dpspec_code.automatic import Sampler
from dpspec_code.automatic.entries import answers_by_entry, answers_one_by_one, claim_of_one_entry, padded
from dpspec_code.automatic.postprocessing import CutFunction, cuts, follows
from dpspec_code.automatic.rewriting import prepare
from dpspec_code.automatic.sampler import ENUMERATES, NOISE, RunCounter, RunLimitError, enumerate_law
from dpspec_code.automatic.symbolic import ROUNDING, NoConstant, WholeProof, whole_tree
from dpspec_code.bits import refute_bits
from dpspec_code.child_process import Clock, Result, Returned, note, run_in_child
from dpspec_code.crosscheck import MOST_DATASETS, compared_by_runs, second_opinion
from dpspec_code.fingerprint import Fingerprint, ProcessSettings, explained
from dpspec_code.functions import adapted, name_of
from dpspec_code.refutation import exceeding_pair
from dpspec_code.sampled.calls import Function, datasets as tried_datasets
from dpspec_code.sampled.engine import cover, refute
from dpspec_code.sampled.witness import Fault
from dpspec_code.trial import FunctionActsError, FunctionReturnsError, refuse, shape, trial

ENUMERATED = 500
"""A plain function is enumerated on spaces of at most this many datasets."""
PATHS = 3_000
"""... and when no dataset needs more runs than this."""
FIRST_RUNS, FIRST_PAIRS = 2_000, 5_000
"""The first enumeration ends after so many runs, and compares at most so many pairs of datasets: about half a second."""
FIRST_DRAWS = 20_000
"""So many draws are made before a function that takes more runs is enumerated to the end: about one second."""
PARTS = {
    "first calls": 0.2, "in two": 0.15, "choices": 0.45, "pairs": 0.4, "event": 0.3, "second opinion": 0.5, "sampling": 0.95,
    "covered": 0.4, "bits": 0.3, "first draws": 0.2,
}  # fmt: skip
"""The part of the time left that a stage may take; sampling has some to spare for its report."""
LISTED = 130
"""Datasets of the first calls in a space too large to list."""
FOLLOWED = 26
"""... on which a function is compared with its parts."""
ENDS = "ends-process"
LATE = "out-of-time"
TOO_LONG = "to enumerate its choices takes longer than its part of the time"
DOUBTED = "a second opinion differs"
MODEL = "model of "
"""How an assumption about a model of a library begins."""
MODELS_DIFFER = "the models of its libraries are not what these do here"
MOST_COMPARED = 2
"""On so many datasets a function is compared with its models."""


def judge_function(
    function: Function,
    spec: PrivacySpec,
    sampling: Sampling,
    *,
    datasets: tuple[Dataset, ...] | None = None,
    registry: Registry | None = None,
    progress: Progress | None = None,
) -> Verdict:
    """Whether a function satisfies a specification, by the strongest method that applies.

    Args:
        function: of a dataset, and of a generator where it takes one.
        spec: the claim.
        sampling: how it is tried.
        datasets: look at these alone.
        registry: where adapters and the provenance of the blocks are looked up.
        progress: called with (done, in all).

    Returns:
        A verdict; its method is exhaustive, sampled, or none. When a function was sampled, the reason says why.
    """
    fitted = adapted(function, spec.space, dataset=sampling.dataset, generator=sampling.generator, registry=registry)
    case = _Case(function=fitted, spec=spec, datasets=datasets, registry=registry, progress=progress, sampling=sampling)
    with compared_by_value(sampling.by_value):
        found = _with_assumptions(case.judged(), fitted)
    return attrs.evolve(found, assumptions=(*found.assumptions, BY_VALUE)) if sampling.by_value else found


_WholeReading = tuple[Verdict | str | None, dict[Dataset, Any], dict[Dataset, Any]]

BY_VALUE = "outcomes are compared by value: no observer sees the type of a number, nor more of an exception than type and message"


def _with_assumptions(found: Verdict, function: PlainFunction) -> Verdict:
    """The verdict with the assumptions about the function's source of randomness."""
    if not isinstance(function, AdaptedFunction) or found.method == "none":
        return found
    source = function.generator
    findings = found.findings
    if not source.replays:
        text = "the function draws where no seed reaches: no call of it can be made again, and another run draws anew"
        findings = (*findings, Notice(code="not-replayable", text=text))
    return attrs.evolve(found, assumptions=(*found.assumptions, *source.assumptions), findings=findings)


@attrs.frozen(kw_only=True)
class _Case:
    """A plain function and what is claimed of it. Each stage runs in a child process of its own, that starts from here."""

    function: Function
    spec: PrivacySpec
    datasets: tuple[Any, ...] | None
    registry: Registry | None
    progress: Progress | None
    sampling: Sampling
    clock: Clock = attrs.field(init=False)
    fingerprint: Fingerprint = attrs.field(factory=Fingerprint.taken, eq=False, repr=False)
    settings: ProcessSettings = attrs.field(factory=ProcessSettings.taken, eq=False, repr=False)

    @clock.default
    def _starts(self) -> Clock:
        return Clock(float(self.sampling.seconds))

    def judged(self) -> Verdict:
        """Enumerated and crosschecked, or else sampled; observations on the way are added to the verdict."""
        findings = self._first_calls()
        if any(finding.code in (ENDS, LATE) for finding in findings):
            return self._undecided(findings[-1].text, findings)
        exact = self._enumerated(findings, PARTS["choices"] * self.clock.left(), most_runs=FIRST_RUNS)
        if exact is None:
            found = self._drawn(findings, PARTS["first draws"] * self.clock.left(), draws=FIRST_DRAWS)
            if found is not None and found.outcome is Outcome.REFUTED:
                return attrs.evolve(found, findings=_each_once((*findings, *found.findings)))
        if not isinstance(exact, Verdict):
            in_two = self._by_post_processing(PARTS["in two"] * self.clock.left())
            exact = self._beyond(findings, exact) if in_two is None else in_two
        if isinstance(exact, Verdict):
            return attrs.evolve(exact, findings=_each_once((*findings, *exact.findings)))
        covering = self.sampling.loss is not None
        found = self._drawn(findings, PARTS["covered" if covering else "sampling"] * self.clock.left())
        if found is None:
            return self._undecided(f"{findings[-1].text}; nor was it verified: {exact}", findings)
        found = attrs.evolve(found, findings=_each_once((*findings, *found.findings)))
        if covering and found.outcome is Outcome.UNDECIDED and found.method == "sampled":
            found = self._covered(found)
        if found.outcome is not Outcome.UNDECIDED or found.reason == exact:
            return found
        return attrs.evolve(found, reason=f"{found.reason}; nor was it verified: {exact}")

    def _beyond(self, findings: list[Notice], exact: str | None) -> Verdict | str:
        """Refuted by the laws of a pair, or why nothing is decided; choices that took too long are enumerated to the end."""
        part = PARTS["pairs"] / (2 if exact is None else 1)
        found: Verdict | str | None = self._exceeding_pair(part * self.clock.left())
        if found is None:
            found = self._enumerated(findings, PARTS["choices"] * self.clock.left()) if exact is None else exact
        return TOO_LONG if found is None else found

    def _drawn(
        self, findings: list[Notice], seconds: float, only: tuple[Dataset, ...] | None = None, draws: int | None = None
    ) -> Verdict | None:
        """The verdict on draws, on some datasets or with so many draws only where that is said; None where the function ended
        their process."""
        if seconds <= 0:  # the machine may have slept
            findings.append(Notice(code=LATE, text="the time was over before it was sampled"))
            return None
        datasets = only or self.datasets
        most = min((limit for limit in (draws, self.sampling.draws) if limit is not None), default=None)
        sampled = self._apart(lambda report: self._sampled(report, seconds, datasets, most), seconds=_at_most(seconds))
        findings += _printed(sampled.printed)
        if sampled.value is None:
            findings.append(_ends(sampled, "while it was sampled"))
        return sampled.value

    def _covered(self, found: Verdict) -> Verdict:
        """What was not refuted, with the faults that would have been found; on other draws, with half of the error."""
        sampling, seconds = self.sampling, PARTS["sampling"] * self.clock.left()
        fault = Fault(loss=number(sampling.loss or 0), mass=sampling.mass, power=sampling.power)
        asked = self._apart(
            lambda _: cover(
                self.function, self.spec, fault, seed=sampling.seed, error=sampling.error / 2, datasets=self.datasets,
                seconds=seconds,
            ),
            seconds=_at_most(seconds),
        )  # fmt: skip
        if isinstance(asked.value, Verdict):
            return attrs.evolve(asked.value, provenance=found.provenance, findings=found.findings)
        if asked.value is None or asked.value.why:
            why = _ends(asked, "while it was checked closely").text if asked.value is None else asked.value.why
            subject = f"a loss of {sampling.loss} at events of mass {float(sampling.mass):.4g}"
            raise PowerError("function", f"was not refuted, but {subject} could have been missed", why)
        return attrs.evolve(found, reason=f"not refuted: {asked.value.text}", scope=f"{found.scope}, and as many as that takes")

    def _undecided(self, reason: str, findings: Iterable[Notice]) -> Verdict:
        return Verdict(outcome=Outcome.UNDECIDED, method="none", scope="nothing", reason=reason, findings=_each_once(findings))

    def _apart(self, work: Callable[[Progress], Result], *, seconds: float) -> Returned[Result]:
        """What some work in a child process came to; a function that does more than to return something is bad input."""

        def unpatched(report: Progress) -> Result:
            try:
                result = work(report)
            except DpspecError:
                raise
            except Exception as problem:
                cause = explained(problem, self.fingerprint, self.settings, name_of(self.function))
                raise (problem if cause is None else cause) from None
            self.fingerprint.check(name_of(self.function))
            return result

        found = run_in_child(unpatched, self.progress, seconds=seconds)
        if found.act:
            rule = f"does more than to return something: it calls {found.act}"
            advice = "it was not let: return what is released, and write or send it where the function is called"
            raise FunctionActsError("function", rule, advice, value=name_of(self.function))
        return found

    # -- first calls --------------------------------------------------------------------------------

    def _first_calls(self) -> list[Notice]:
        """What the first calls show; a function that only raises is bad input."""
        listed = self._looked_at()
        if isinstance(self.function, AdaptedFunction):  # what cannot be written is no output of the function
            for dataset in listed:
                self.function.handed(presented(dataset))
        seconds = PARTS["first calls"] * self.clock.seconds
        tried = self._apart(lambda _: trial(self.function, listed, seed=self.sampling.seed, seconds=seconds / 2), seconds=seconds)
        findings = _printed(tried.printed)
        if tried.value is None:
            return [*findings, _ends(tried, "in its first calls")]
        if tried.value.is_defect:
            raise refuse(name_of(self.function), tried.value, _shape(self.function, listed, tried.value.crash))
        if tried.value.lazy:
            rule = f"returns something of type {tried.value.lazy}, of which no value is seen"
            advice = "return the values: list(...) of what it yields, or what it would compute"
            raise FunctionReturnsError("function", rule, advice, value=name_of(self.function))
        if tried.value.unseen:
            findings.append(Notice(code="unseen", text=f"of what it returns only the type is seen: {tried.value.unseen}"))
        if tried.value.crash:
            on = f"raised on {tried.value.raised} of {count(tried.value.datasets, 'dataset')} in the first calls"
            findings.append(Notice(code="raises", text=f"{on}: {tried.value.crash}"))
        return findings

    def _looked_at(self) -> list[Dataset]:
        """The datasets of the first calls."""
        space = self.spec.space
        if self.datasets is not None:
            return [space.dataset(dataset) for dataset in self.datasets]
        size = space.cardinality()
        if size is not None and size <= ENUMERATED:
            return list(space.datasets())
        return tried_datasets(self.spec, self.sampling.seed, LISTED)

    # -- enumerated ---------------------------------------------------------------------------------

    def _enumerated(self, findings: list[Notice], seconds: float, *, most_runs: int | None = None) -> Verdict | str | None:
        """The verdict on the law that is read off the code, or why there is none to rely on; None where that takes more runs
        than it may."""
        function = readable(self.function)
        if isinstance(function, FunctionType):  # to ask another object for its code may run code of its own
            prepare(function)
        size = self.spec.space.cardinality() if self.datasets is None else len(self.datasets)
        if function is None or size is None or size > ENUMERATED:
            by_entry = self._entry_by_entry(seconds, most_runs)
            return self._on_whole_space(findings, seconds, most_runs) if by_entry is None else by_entry
        if most_runs is not None and size * (size - 1) // 2 > FIRST_PAIRS:
            whole = self._on_whole_space([], seconds, most_runs) if self.datasets is None else None
            return whole if isinstance(whole, Verdict) and whole.outcome is Outcome.VERIFIED else None
        ran = self._apart(lambda report: self._read_off(report, most_runs), seconds=seconds)
        if ran.value is None:
            return _unread(ran, findings, "while its choices were enumerated")
        found, laws = ran.value
        if found is None or isinstance(found, str):
            return found and self._by_symbols(found, seconds, most_runs)
        if found.outcome is Outcome.REFUTED:
            return self._exceeded(found, laws)
        unseen = "it was never seen to draw from the generator that it is given"
        return self._confirmed(found, laws) if _draws(laws.values()) else unseen

    def _by_symbols(self, why: str, seconds: float, most_runs: int | None) -> Verdict | str:
        """Verified on symbols of all datasets, which may show what doubles of one dataset do not; else the reason for no
        verdict."""
        whole = self._on_whole_space([], seconds, most_runs) if self.datasets is None else None
        return whole if isinstance(whole, Verdict) and whole.outcome is Outcome.VERIFIED else why

    def _on_whole_space(self, findings: list[Notice], seconds: float, most_runs: int | None) -> Verdict | str | None:
        """The verdict on the tree of the code for all datasets at once, or why there is none; None where that takes more runs
        than it may."""
        above = f"the space has more than {ENUMERATED} datasets"
        if readable(self.function) is None:
            return "its randomness comes from a source that enumeration does not see"
        if self._opaque_adapter is not None:
            return f"{above}, and no {self._opaque_adapter.name} represents all of them at once"
        ran = self._apart(lambda report: self._read_whole(report, most_runs), seconds=seconds)
        if ran.value is None:
            return _unread(ran, findings, "while it was run on symbols")
        found, laws, long = ran.value
        if found is None or isinstance(found, str):
            return found and f"{above}, and {found}"
        if found.outcome is Outcome.REFUTED:
            return self._exceeded(found, laws)
        return self._confirmed(found, laws, long) if found.outcome is Outcome.VERIFIED else f"{above}, and {found.reason}"

    def _entry_by_entry(self, seconds: float, most_runs: int | None) -> Verdict | None:
        """Verified on lists of one entry, where the code answers for each entry by itself; else None."""
        claim = claim_of_one_entry(self.spec) if answers_by_entry(self.function) and self.datasets is None else None
        if claim is None:
            return None
        alone = attrs.evolve(self, spec=claim)
        ran = alone._apart(lambda report: alone._read_off(report, most_runs), seconds=seconds)
        found, laws = ran.value or ("", {})
        if not isinstance(found, Verdict) or found.outcome is not Outcome.VERIFIED or not _draws(laws.values()):
            return None
        found = alone._confirmed(found, laws)
        chosen = self._looked_at()[:: max(1, LISTED // FOLLOWED)]
        given = [partial(presented, dataset) for dataset in chosen]
        seed = self.sampling.seed
        same = self._apart(lambda _: answers_one_by_one(self.function, given, seed), seconds=self.clock.left()).value
        if found.outcome is not Outcome.VERIFIED or not same:
            return None
        return _of_all_lists(found, self.spec.space, is_shown=all(map(_returns, laws.values())))

    def _by_post_processing(self, seconds: float) -> Verdict | None:
        """Verified, where that is read off a part of the code of which the rest is post-processing."""
        clock = Clock(seconds)
        for cut in _cuts(self.function) if self.datasets is None else ():
            part = attrs.evolve(self, function=cut.first)
            by_entry = part._entry_by_entry(clock.left(), None)
            if by_entry is not None and self._follows(cut, clock.left()):
                return _after(by_entry, cut)
            ran: Returned[_WholeReading] = part._apart(part._read_whole, seconds=clock.left())
            found, laws, long = ran.value or ("", {}, {})
            if isinstance(found, Verdict) and found.outcome is Outcome.VERIFIED and self._follows(cut, clock.left()):
                found = part._confirmed(found, laws, long)
                if found.outcome is Outcome.VERIFIED:
                    return _after(found, cut)
            if not clock.left():
                break
        return None

    def _follows(self, cut: CutFunction, seconds: float) -> bool:
        """Whether real runs of the function show what its two parts show one after the other."""
        chosen = self._looked_at()[:: max(1, LISTED // FOLLOWED)]
        given = [partial(presented, dataset) for dataset in chosen] * 2
        return bool(self._apart(lambda _: follows(self.function, cut, given, self.sampling.seed), seconds=seconds).value)

    @property
    def _form(self) -> Callable[[Any], Any] | None:
        """What the function is handed for a list of entries; None for the list."""
        if not isinstance(self.function, AdaptedFunction) or self.function.dataset is None:
            return None
        return self.function.handed

    @property
    def _opaque_adapter(self) -> DatasetAdapter | None:
        """The form that it is handed a dataset in, where that is not made entry by entry and has no symbol for all at once."""
        form = self.function.dataset if isinstance(self.function, AdaptedFunction) else None
        return None if form is None or form.by_entry else form

    def _read_whole(self, _report: Progress, most_runs: int | None = None) -> _WholeReading:
        """The verdict on all datasets, with the laws that its tree has on some, the smallest among them, and on long ones; no
        verdict where that takes more runs than it may."""
        function, counter = cast("Function", readable(self.function)), None if most_runs is None else RunCounter(most_runs)
        try:
            models = models_of(self.function)
            tree = whole_tree(function, self.spec, most_paths=PATHS, form=self._form, counter=counter, models=models)
            found = self._by_models(WholeProof.of(tree, self.spec).verdict())
        except RunLimitError:
            return None, {}, {}
        except (NoConstant, NotEnumerableError, NoFormulaError) as problem:
            return str(problem), {}, {}
        listed = sorted(self._looked_at(), key=self.spec.space.order)
        spaced = (
            listed[:6] if tree.probabilities else listed[:: max(1, len(listed) // 6)]
        )  # coins of each entry, listed one by one
        chosen = dict.fromkeys([*(found.universes[0].attained or ()), *listed[:1], *spaced])
        long = () if tree.probabilities else tree.long_datasets(self.spec)
        laws = {dataset: tree.on(dataset) for dataset in list(chosen)[:MOST_DATASETS]}
        return found, laws, {dataset: tree.on(dataset) for dataset in long if dataset not in laws}

    def _read_off(self, report: Progress, most_runs: int | None = None) -> tuple[Verdict | str | None, dict[Dataset, Any]]:
        """The verdict by enumeration, with the law of each dataset that was evaluated; no verdict where that takes more runs than
        it may."""
        counter = None if most_runs is None else RunCounter(most_runs)
        try:
            return self._read_both_ways(report, counter)
        except RunLimitError:
            return None, {}

    def _read_both_ways(self, report: Progress, counter: RunCounter | None) -> tuple[Verdict | str, dict[Dataset, Any]]:
        """The same, where draws of `geometric` are symbols, or else choices."""
        first = FunctionSampler(self.function, "function", most_paths=PATHS, symbolic=True, counter=counter)
        found, laws = self._with_law(first, report)
        if laws or "geometric" not in first.drew:
            return found, laws
        second = FunctionSampler(self.function, "function", most_paths=PATHS, counter=counter)
        other, laws = self._with_law(second, report)
        return (other if isinstance(other, Verdict) or isinstance(found, Verdict) else found), laws

    def _with_law(self, sampler: FunctionSampler, report: Progress) -> tuple[Verdict | str, dict[Dataset, Any]]:
        """The same, where draws of `geometric` are symbols or choices."""
        space = self.spec.space
        try:
            found = verify_exhaustively(sampler, self.spec, datasets=self.datasets, registry=self.registry, progress=report)
            if found.outcome is Outcome.VERIFIED and len(found.vacuous) == len(found.universes):
                return NOTHING, {}
            found = self._by_models(found)
            if found.outcome is Outcome.UNDECIDED:
                return found.reason, {}
            if found.outcome is Outcome.REFUTED:
                pair = () if found.witness is None else (found.witness.left, found.witness.right)
                laws = {dataset: sampler.law(dataset, space) for dataset in pair}
                doubted = stands_in(self.function) or any(hasattr(law, "explains") for law in laws.values())
                return found, laws if doubted else {}
            looked_at = space.datasets() if self.datasets is None else map(space.dataset, self.datasets)
            return found, {dataset: sampler.law(dataset, space) for dataset in looked_at}
        except RunLimitError:
            raise
        except (NotEnumerableError, NoFormulaError) as problem:
            return str(problem), {}

    def _by_models(self, found: Verdict) -> Verdict:
        """A verdict with what it assumes of the models of libraries that were read."""
        models = models_of(self.function)
        return found if models is None else attrs.evolve(found, assumptions=(*found.assumptions, *models.assumptions()))

    def _exceeding_pair(self, seconds: float) -> Verdict | None:
        """Refuted by the laws of the code on one pair of datasets, where nothing was decided of the whole space."""
        if readable(self.function) is None or self.datasets is not None:
            return None
        ran = self._apart(lambda _: self._looked_for(seconds), seconds=_at_most(seconds))
        if ran.value is None:
            return None
        found, laws, wrapping = ran.value
        exceeded = None if found is None else self._exceeded(found, laws)
        if isinstance(exceeded, Verdict) and exceeded.outcome is Outcome.REFUTED:
            return exceeded
        for pair in wrapping:  # numpy warns where integers wrap around, and code that warns is not read
            drawn = self._drawn([], PARTS["event"] * self.clock.left(), pair)
            if drawn is not None and drawn.outcome is Outcome.REFUTED:
                return drawn
        return None

    def _looked_for(self, seconds: float) -> tuple[Verdict | None, dict[Dataset, Any], list[tuple[Dataset, Dataset]]]:
        """A pair beyond the claim with its laws, from one tree for all datasets where there is one; and pairs of datasets between
        which integers of the code wrap around."""
        space, function = self.spec.space, cast("Function", readable(self.function))
        sampler = FunctionSampler(self.function, "function", most_paths=PATHS, symbolic=True)

        def law_on(dataset: Dataset) -> Any:
            return sampler.law(dataset, space)

        given: list[tuple[Dataset, Dataset]] = []
        if self._opaque_adapter is None:
            with contextlib.suppress(NoConstant, NotEnumerableError, NoFormulaError):
                models = models_of(self.function)
                tree = whole_tree(function, self.spec, most_paths=PATHS, form=self._form, models=models)
                if tree.dataset.bound.is_exact:
                    law_on = law_on if tree.probabilities else tree.on
                else:
                    given = list(WholeProof.of(tree, self.spec).pairs_at_the_end())
        found = exceeding_pair(law_on, self.spec, seed=self.sampling.seed, seconds=0.9 * seconds, given=given)
        if isinstance(found, str):
            return None, {}, given
        laws = {dataset: law_on(dataset) for dataset in found[1]}
        return self._by_models(found[0]), laws, given

    def _exceeded(self, found: Verdict, laws: dict[Dataset, Any]) -> Verdict | str:
        """Refuted; by laws of noise with an event that draws show, or else where the function behaves as its code was read.

        The latter includes runs with a replaced generator: a function that inspects its arguments behaves differently there.
        """
        if _by_rounding(found):
            return "the excess is within the rounding of doubles"
        if not laws:
            return attrs.evolve(found, assumptions=ENUMERATES)
        if any(hasattr(law, "explains") for law in laws.values()):
            pair = None if found.witness is None else (found.witness.left, found.witness.right)
            sampled = self._drawn([], PARTS["event"] * self.clock.left(), pair)
            if sampled is not None and sampled.outcome is Outcome.REFUTED:
                return sampled
        confirmed = self._confirmed(found, laws)
        return confirmed if confirmed.outcome is Outcome.REFUTED else confirmed.reason

    def _confirmed(self, found: Verdict, laws: dict[Dataset, Any], long: dict[Dataset, Any] | None = None) -> Verdict:
        """Decided only where the real function, run with numpy's generator, does what was read off its code."""
        chosen = _selection(found, list(laws))
        seed, space = self.sampling.seed, self.spec.space
        seconds = PARTS["second opinion"] * self.clock.left()
        asked = self._apart(
            lambda _: second_opinion(
                _modelled(self.function),
                space,
                {x: laws[x] for x in chosen},
                seed=seed,
                of=len(laws),
                seconds=0.9 * seconds,
                long=long,
            ),
            seconds=seconds,
        )
        if asked.value is None:
            ended = _ends(asked, "in the second opinion")
            return attrs.evolve(found, outcome=Outcome.UNDECIDED, reason=f"{DOUBTED}: {ended.text}", findings=(ended,))
        opinion = asked.value
        findings = [*found.findings, *_printed(opinion.printed or asked.printed)]
        findings += [Notice(code="reaches-outside", text=f"it returns, and also calls {name}") for name in opinion.reaches]
        if opinion.mutated:
            text = "the function changed the dataset that it was given (every call gets a fresh copy)"
            findings.append(Notice(code="mutates-dataset", text=text))
        reasons = [f"{DOUBTED}: {opinion.misfit}"] if opinion.misfit else []
        if opinion.misfit:
            findings.append(Notice(code="second-opinion", text=f"{opinion.misfit} ({opinion.scope})"))
        if opinion.reaches:
            reasons.append(f"in addition to returning, it calls {opinion.reaches[0]}: what it sends there was not checked")
        if not reasons and models_of(self.function) is not None and any(one.startswith(MODEL) for one in found.assumptions):
            reasons += self._against_library(chosen)
        if asked.printed:
            reasons.append("it writes to standard error or to the terminal itself: what it writes there was not checked")
        noisy = any(hasattr(law, "explains") for law in laws.values())
        judged = attrs.evolve(found, assumptions=(*found.assumptions, *(NOISE if noisy else ()), *ENUMERATES))
        if noisy and self.sampling.bits and not reasons:
            kept = PARTS["bits"] * self.clock.left()
            on_doubles = self._apart(lambda _: self._on_doubles(self.sampling.error, kept), seconds=_at_most(kept)).value
            if on_doubles is not None and on_doubles.outcome is Outcome.REFUTED:
                return attrs.evolve(on_doubles, provenance=found.provenance)
        if reasons:
            return attrs.evolve(judged, outcome=Outcome.UNDECIDED, reason="; ".join(reasons), findings=tuple(findings))
        return attrs.evolve(judged, scope=f"{found.scope}; second opinion: {opinion.scope}", findings=tuple(findings))

    def _against_library(self, chosen: list[Dataset]) -> list[str]:
        """Why the models are not what the libraries do here, seen by runs; nothing where they may be."""
        seed, seconds = self.sampling.seed, PARTS["second opinion"] * self.clock.left()
        asked = self._apart(
            lambda _: compared_by_runs(
                self.function, _modelled(self.function), chosen[:MOST_COMPARED], seed=seed, seconds=0.9 * seconds
            ),
            seconds=seconds,
        )
        if asked.value is None:
            return [_ends(asked, "where it was compared with the models of its libraries").text]
        return [f"{MODELS_DIFFER}: {asked.value}"] if asked.value else []

    # -- sampled ------------------------------------------------------------------------------------

    def _sampled(self, report: Progress, seconds: float, datasets: tuple[Dataset, ...] | None, draws: int | None) -> Verdict:
        """Refuted on draws, or undecided; with `bits` half of the error, and some of the time, is kept for the last bits."""
        sampling = self.sampling
        kept = PARTS["bits"] * seconds if sampling.bits else 0.0
        ways = (2 if sampling.bits else 1) * (1 if sampling.loss is None else 2)
        limits: dict[str, Any] = {"seed": sampling.seed, "error": sampling.error / ways}
        found = refute(
            self.function, self.spec, datasets=datasets, registry=self.registry, progress=report,
            seconds=seconds - kept, draws=draws, bits=sampling.bits, **limits,
        )  # fmt: skip
        if sampling.bits and found.outcome is Outcome.UNDECIDED:
            on_doubles = self._on_doubles(limits["error"], kept)
            return attrs.evolve(on_doubles, provenance=found.provenance) if on_doubles.outcome is Outcome.REFUTED else found
        return found

    def _on_doubles(self, error: Fraction, seconds: float) -> Verdict:
        """Refuted by which doubles can be reached, or undecided."""
        pairs = None if self.datasets is None else itertools.combinations(self.datasets, 2)
        seed, draws = self.sampling.seed, self.sampling.draws
        return refute_bits(self.function, self.spec, given=pairs, error=error, seed=seed, draws=draws, seconds=seconds)


@attrs.frozen
class FunctionSampler(Sampler):
    """A sampler of a plain function, handed what it wants; it says on which dataset its choices are enumerated.

    Args:
        known: the laws that were read off before, by how the dataset is written: 1 and True are equal.
        counter: counts the runs on all datasets together.
    """

    _asides = frozenset({"law", "known", "counter"})  # which stays what it is

    known: dict[str, Any] = attrs.field(factory=dict, eq=False, repr=False)
    counter: RunCounter | None = attrs.field(default=None, eq=False, repr=False)

    def law(self, dataset: Dataset, space: DatasetSpace) -> Any:
        written = repr(dataset)
        if written not in self.known:
            self.known[written] = self._read_off(dataset)
        return self.known[written]

    def _read_off(self, dataset: Dataset) -> Any:
        note(f"its choices on {dataset}")
        function = readable(self.function)
        if function is None:
            raise NotEnumerableError("sampler", "draws where enumeration does not see it", "have it sampled")
        given = presented(dataset)
        handed = self.function.handed(given) if isinstance(self.function, AdaptedFunction) else given
        return enumerate_law(
            function, handed, most_paths=self.most_paths, symbolic=self.symbolic, drew=self.drew, counter=self.counter,
            models=models_of(self.function),
        )  # fmt: skip


def models_of(function: PlainFunction) -> LibraryModels | None:
    """Models of the libraries that a function may call."""
    return function.generator.models() if isinstance(function, AdaptedFunction) else None


def _modelled(function: PlainFunction) -> PlainFunction:
    """The function where models draw in place of libraries."""
    if not isinstance(function, AdaptedFunction) or function.generator.models() is None:
        return function
    source = function.generator.modelled()
    return AdaptedFunction(function.function, function.space, function.dataset, source, takes=function.takes)


def stands_in(function: PlainFunction) -> bool:
    """Whether code is read with something else than the generator that the function gets."""
    return isinstance(function, AdaptedFunction) and function.readable not in (None, function.function)


def _cuts(function: PlainFunction) -> Iterator[CutFunction]:
    """The ways to cut a function; the first part of an adapted one is adapted as it is."""
    if not isinstance(function, AdaptedFunction):
        yield from cuts(function)
        return
    for cut in cuts(function.function, function.takes):
        first = AdaptedFunction(cut.first, function.space, function.dataset, function.generator, takes=function.takes)
        yield attrs.evolve(cut, first=first)


def readable(function: PlainFunction) -> PlainFunction | None:
    """The function whose code is analysed; None where its randomness cannot be observed."""
    return function.readable if isinstance(function, AdaptedFunction) else function


def _shape(function: PlainFunction, listed: list[Dataset], crash: str) -> str:
    """How a dataset looks to the function, in words; with what to say where it may want another form."""
    if not isinstance(function, AdaptedFunction) or function.dataset is None or not listed:
        other = "; an annotation or --dataset selects another form" if crash.startswith("AttributeError") else ""
        return f"{shape(listed)}{other}"
    handed = function.handed(presented(listed[0]))
    shown = " ".join(repr(handed).split())
    return f"a dataset is a {type(handed).__name__} such as {shown[:200]}"


def _selection(found: Verdict, datasets: list[Dataset]) -> list[Dataset]:
    """For the second opinion: where the constants are attained, and others evenly spaced."""
    if len(datasets) <= MOST_DATASETS:
        return datasets
    attained = [dataset for result in found.universes for dataset in result.attained or ()]
    spaced = [datasets[round(k * (len(datasets) - 1) / (MOST_DATASETS - 1))] for k in range(MOST_DATASETS)]
    first = list(dict.fromkeys(attained))[: MOST_DATASETS // 2]
    return list(dict.fromkeys([*first, *spaced]))[:MOST_DATASETS]


def _draws(laws: Iterable[Any]) -> bool:
    """Whether some law is that of code that was seen to draw."""
    return any(hasattr(law, "explains") or len(law.support) > 1 for law in laws)


def _returns(law: Any) -> bool:
    """Whether a law is known to have no exception among its outcomes."""
    outcomes = getattr(law, "support", None)
    return outcomes is not None and not any(str(getattr(one, "kind", "")).startswith(("raises", "printed")) for one in outcomes)


def _of_all_lists(found: Verdict, space: DatasetSpace, *, is_shown: bool) -> Verdict:
    """What was verified on lists of one entry, as it holds of all lists."""
    (result,) = found.universes
    pair = [padded(dataset, space) for dataset in result.attained or ()]
    attained = (pair[0], pair[1]) if is_shown and len(pair) == 2 and None not in pair else None
    whole = attrs.evolve(result, label=EVERY, datasets=None, pairs=None, attained=attained)
    alone = ProofStep(
        step="structure",
        says="each entry of the output is computed of one entry of the dataset, with draws of its own: a list of one entry "
        f"has the constant {result.constant}",
        citation="data processing",
    )
    second = found.scope.partition(";")[2]
    return attrs.evolve(
        found, method=METHOD, scope=f"{WHOLE};{second}" if second else WHOLE, proof=(*found.proof, alone),
        universes=(whole if attained else whole.at_most(),),
    )  # fmt: skip


def _after(found: Verdict, cut: CutFunction) -> Verdict:
    """What was verified of the first part of a function, as it holds of the function."""
    rest = ProofStep(
        step="post-process",
        says=f"the rest, {count(cut.lines, 'line')}, computes with what was returned before, and reads nothing else",
        citation="Dwork and Roth 2014, Proposition 2.1",
    )
    whole = tuple(result.at_most() for result in found.universes)
    return attrs.evolve(found, universes=whole, proof=(*found.proof, rest))


def _printed(text: str) -> list[Notice]:
    """The printed text of a function is visible to anyone who sees the program's output."""
    if not text:
        return []
    shown = repr(text if len(text) <= 60 else f"{text[:57]}...")
    advice = "anyone who sees the output of the program sees it too"
    return [Notice(code="prints", text=f"the function writes {shown} to the output of the program; {advice}")]


def _ends(child: Returned[Any], when: str) -> Notice:
    about = f" ({child.note})" if child.note else ""
    if child.late:
        return Notice(code=LATE, text=f"the time was over {when}{about}: one call takes long, or waits")
    return Notice(code=ENDS, text=f"the function ended its process {child.ended} {when}{about}")


def _unread(child: Returned[Any], findings: list[Notice], when: str) -> str:
    """Why nothing was read off the code in a child process, which is a finding where the function ended the process."""
    if child.late:
        return TOO_LONG
    findings.append(_ends(child, when))
    return findings[-1].text


def _at_most(seconds: float) -> float:
    """When a stage is ended that ends by itself after `seconds`, unless a call does not return: late, for slow machines."""
    return 1.1 * seconds + 0.5


def _each_once(findings: Iterable[Notice]) -> tuple[Notice, ...]:
    """Findings, but only the first of those that every stage would repeat."""
    kept: dict[object, Notice] = {}
    for finding in findings:
        kept.setdefault(finding.code if finding.code in ("prints", ENDS, LATE) else finding, finding)
    return tuple(kept.values())


def _by_rounding(found: Verdict) -> bool:
    """Whether every excess is smaller than what a claim loses in doubles, so that nothing is refuted: 0.6931471805599453 is below
    ln(2)."""
    return all(result.constant.lower <= result.bound * (1 + ROUNDING) for result in found.universes)
