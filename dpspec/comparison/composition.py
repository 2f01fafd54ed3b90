"""One specification for several releases of one data collection: their composition, and the ledger of what each part spends.

Each T_i satisfies (X_i, D_i, d_i, d_Pr_i, eps_i). Each is led by true steps to the common refinement of the universes, to one
distance and one output divergence; there the output divergence says what the joint release (T_1, ..., T_n) spends. The noise of
the parts is independent; a later part may depend on what the earlier ones have shown.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from dpspec import laws
from dpspec.base.display import Showable
from dpspec.base.errors import DpspecError, NoCompositionError, NoFormulaError, ParameterError, RefutedPartError, count
from dpspec.base.exact import Bracket, Number, NumberLike, limit_in_words, number
from dpspec.base.memo import distinct, key_of
from dpspec.base.params import Exact, Integer, Items, Rational, collect, raise_all
from dpspec.base.words import Word
from dpspec.blocks.budget import UniformBudget
from dpspec.blocks.multiverse import LevelSets, Multiverse, Trivial
from dpspec.blocks.output_divergence import Composed, WorstPairs, total
from dpspec.blocks.parts import nesting_of
from dpspec.comparison.separations import check_foreign, exact_judge
from dpspec.extension import Registry, installed
from dpspec.grammar.declarations import check_declared
from dpspec.grammar.spec import check_kinds
from dpspec.laws.law import FiniteLaw
from dpspec.reason.rules import constant_of, fixed_units
from dpspec.reason.search import Derivation, moved, rules_of
from dpspec.specfile.document import Ledger, LedgerPart, SpecDocument
from dpspec.specfile.reader import SUFFIX, Shared, check_ids, is_id, read as read_file, spec_files
from dpspec.specfile.writer import to_toml
from dpspec.verifier.standing import Standing, claim_of, standing

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dpspec.blocks.space import DatasetSpace
    from dpspec.grammar.rule import Rule, Step
    from dpspec.grammar.spec import PrivacySpec


@attrs.frozen(kw_only=True)
class Part:
    """One release of a data collection.

    Args:
        id: its name.
        spec: the specification it promises to satisfy.
        standing: the status of its claim, where it was checked.
        besides: further statements of its file: assumptions, steps outside of the guarantee, a budget that renews, further
            promises.
        times: how often it is released, each time with noise of its own.
        stand_ins: the blocks of its file that are made up; what is proved of them is proved of no release.
    """

    id: str
    spec: PrivacySpec
    standing: Standing | None = attrs.field(default=None, eq=False)
    besides: tuple[str, ...] = attrs.field(default=(), eq=False)
    times: int = 1
    stand_ins: tuple[str, ...] = attrs.field(default=(), eq=False)

    @property
    def name(self) -> str:
        """Its id, with how often it is released where that is not once."""
        return self.id if self.times == 1 else f"{self.id} ({self.times:,} times)"

    @property
    def is_proved(self) -> bool:
        """Whether its promise is proved of the release: of no other one that stands in for it."""
        return self.standing is not None and self.standing.word is Word.VERIFIED and not self.stand_ins

    @property
    def proved(self) -> PrivacySpec:
        """The specification with the constant that is proved of the mechanism, where that is below the budget promised.

        Both are true of a verified mechanism: it satisfies the same four blocks with the smaller budget. Where the mechanism or
        the space stands in for what is not known, the release itself is known by its promise alone.
        """
        spec = self.spec
        constant = None if self.standing is None or not self.is_proved else self.standing.constant
        value = spec.budget.uniform()
        if constant is None or value is None:
            return spec
        parameter, standard = spec.budget.parameter, spec.output_divergence
        if not constant < standard.lipschitz(parameter, number(value)):
            return spec
        return spec.replace(budget=UniformBudget(parameter=parameter, value=standard.budget_for(parameter, constant)))


# --- composition ----------------------------------------------------------------------------------


MOST_TIMES = 10**6
ADVICE = "state the missing number in [space], or name common blocks with --like FILE"


@attrs.frozen(kw_only=True)
class LedgerLine:
    """One part with the steps that lead it to the common blocks.

    Args:
        part: the part as stated.
        steps: one true step for each block that changes; every step begins where the one before it ends.
    """

    part: Part
    steps: tuple[Step, ...] = ()

    @property
    def spec(self) -> PrivacySpec:
        """The part in the common blocks."""
        return self.steps[-1].after if self.steps else self.part.spec

    @property
    def spent(self) -> Number:
        """The total of all of its releases there, where these numbers add up."""
        return self.amount * self.part.times

    @property
    def amount(self) -> Number:
        """The budget of one release there, in the first number that the output divergence takes."""
        spec, value = self.spec, self.spec.budget.uniform()
        if value is None:
            why = spec.budget.unpublished() or "differs by universe"
            raise NoCompositionError("budget", why, "state one number for all universes", value=self.part.id)
        first = spec.output_divergence.budget_parameters[0]
        if spec.budget.parameter == first:
            return number(value)
        return spec.output_divergence.budget_for(first, spec.output_divergence.lipschitz(spec.budget.parameter, number(value)))


@attrs.frozen(kw_only=True)
class Composition(Showable):
    """The parts of a ledger as one specification.

    Args:
        lines: the parts, each led to the common blocks.
        spec: what the releases satisfy together.
        rule: what adds up.
        citation: where that is proved.
        proved: the same with the constants that are proved of verified parts, where these are below the budgets promised;
            None where no part has one, or they do not compose.
    """

    lines: tuple[LedgerLine, ...]
    spec: PrivacySpec
    rule: str
    citation: str
    proved: Composition | None = attrs.field(default=None, eq=False, repr=False)

    @property
    def best(self) -> Composition:
        """The composition as proved, where there is one; otherwise as promised."""
        return self if self.proved is None else self.proved

    @property
    def plain_sum(self) -> Number | None:
        """The sum of the budgets as stated, when all are one kind of number: what adding up printed figures gives."""
        budgets = [line.part.spec.budget for line in self.lines]
        values = [budget.uniform() for budget in budgets]
        if len({budget.parameter for budget in budgets}) > 1 or any(value is None for value in values):
            return None
        pairs = zip(values, self.lines, strict=True)
        return total(number(value) * line.part.times for value, line in pairs if value is not None)

    def losses(self) -> tuple[str, ...]:
        """The losses of the conversion, part by part, and the reason why the published figures do not simply add up."""
        return tuple(_losses(self))


def compose(parts: Sequence[Part], *, like: PrivacySpec | None = None, rules: Sequence[Rule] | None = None) -> Composition:
    """One specification for several releases of one data collection.

    Args:
        parts: the releases; their noise is independent.
        like: a specification whose space and input divergence the total is stated in; without it they are those of a part.
        rules: by which the parts are led to common blocks; without them, all that are registered.

    Raises:
        EmptyLedgerError: no parts.
        MixedLedgerError: bounded and unbounded neighbours together, and `like` does not say which are meant.
        NoCompositionError: there are no common blocks; says what is missing.

    >>> from dpspec.extension import installed
    >>> from dpspec.specfile import new_spec, read_text
    >>> survey = read_text(new_spec("survey"), installed().registry).spec
    >>> found = compose([Part(id="first wave", spec=survey), Part(id="second wave", spec=survey)])
    >>> str(survey.budget), str(found.spec.budget), found.rule
    ('epsilon = ln(3)', 'epsilon = 2*ln(3)', 'epsilon adds')
    """
    known = rules_of(installed().registry) if rules is None else rules
    found = _added(_aligned(tuple(parts), like, known), known)
    _check_foreign(found.lines, known)
    return found


def _check_foreign(lines: Sequence[LedgerLine], rules: Sequence[Rule]) -> None:
    """Look for mechanisms that contradict the rules of plugins by which parts are led to common blocks.

    Raises:
        ContradictedError: one of the rules is false.
    """
    for derivation in distinct(Derivation(premise=line.part.spec, steps=line.steps) for line in lines):
        check_foreign(derivation, rules, exact_judge())


def _aligned(listed: tuple[Part, ...], like: PrivacySpec | None, known: Sequence[Rule]) -> tuple[LedgerLine, ...]:
    """The parts, led to one space, to the common refinement of their universes, and to one distance.

    Equal specifications are led there once, as the first part that states them.
    """
    for spec in (*(part.spec for part in listed), *(() if like is None else (like,))):
        check_declared(spec)
    if like is None or not listed:
        check_kinds([(part.id, part.spec) for part in listed])
    keys = [key_of(part.spec) for part in listed]
    first: dict[object, Part] = {}
    for key, part in zip(keys, listed, strict=True):
        first.setdefault(key, part)
    led = dict(zip(first, _led(tuple(first.values()), like, known), strict=True))
    return tuple(attrs.evolve(led[key], part=part) for key, part in zip(keys, listed, strict=True))


def _led(parts: tuple[Part, ...], like: PrivacySpec | None, known: Sequence[Rule]) -> tuple[LedgerLine, ...]:
    """The parts, led to common blocks one by one."""
    space, refinement = _common_space(parts, like), _refinement(parts)
    refined = [_refined(part, space, refinement, known) for part in parts]
    inputs = [like.input_divergence] if like is not None else distinct(part.spec.input_divergence for part in parts)
    gaps: list[str] = []
    for divergence in inputs:
        lines, lacking = _all_moved(refined, "input_divergence", refined[0].spec.replace(input_divergence=divergence), known)
        if not lacking:
            return lines
        gaps += lacking
    raise NoCompositionError("input divergence", "; ".join(dict.fromkeys(gaps)), ADVICE)


def _common_space(parts: tuple[Part, ...], like: PrivacySpec | None) -> DatasetSpace:
    """The space that every other one includes."""
    candidates = [like.space] if like is not None else distinct(part.spec.space for part in parts)
    for space in candidates:
        if all(part.spec.space == space or part.spec.space.includes(space) for part in parts):
            return space
    names = ", ".join(f"{part.id} ({part.spec.space.name})" for part in parts)
    raise NoCompositionError("space", f"no space is known to be a part of all others: {names}", "describe one data collection")


def _refined(part: Part, space: DatasetSpace, multiverse: object, rules: Sequence[Rule]) -> LedgerLine:
    line = LedgerLine(part=part)
    for block, value in (("space", space), ("multiverse", multiverse)):
        steps = moved(line.spec, block, line.spec.replace(**{block: value}), rules)
        if steps is None:
            raise NoCompositionError(block, f"no rule leads {part.id} to the common one", "see dpspec explain no-composition")
        line = attrs.evolve(line, steps=line.steps + steps)
    return line


def _all_moved(
    lines: Sequence[LedgerLine], block: str, goal: PrivacySpec, rules: Sequence[Rule]
) -> tuple[tuple[LedgerLine, ...], tuple[str, ...]]:
    """The lines with a block of the goal, and what is missing where no rule leads there."""
    reached: list[LedgerLine] = []
    lacking: list[str] = []
    found: dict[object, tuple[Step, ...] | None] = {}
    for line in lines:
        spec = line.spec
        key = key_of(spec)
        if key not in found:
            found[key] = moved(spec, block, goal, rules)
        steps = found[key]
        if steps is None:
            lacking += _missing(line.part, spec, goal)
        else:
            reached.append(attrs.evolve(line, steps=line.steps + steps))
    return tuple(reached), tuple(lacking)


def _added(lines: tuple[LedgerLine, ...], rules: Sequence[Rule]) -> Composition:
    """The sum in an output divergence in which the budgets add up: as they are stated, or in one that bounds no less."""
    divergences = distinct(line.spec.output_divergence for line in lines)
    for divergence in divergences:
        promised = [((line.spec.output_divergence, line.amount), line.part.times) for line in lines]
        stated = divergence.composed([one for one, times in promised for _ in range(times)])
        if stated is not None:
            return _composition(lines, stated)
    for divergence in divergences:
        budget = UniformBudget(parameter=divergence.budget_parameters[0], value=number(0))
        goal = lines[0].spec.replace(output_divergence=divergence, budget=budget)
        reached, lacking = _all_moved(lines, "output_divergence", goal, rules)
        every = [] if lacking else [one for line in reached for one in [(divergence, line.amount)] * line.part.times]
        found = None if lacking else divergence.composed(every)
        if found is not None:
            return _composition(reached, found)
    if len(divergences) == 1 and divergences[0].composed([(divergences[0], lines[0].amount)]) is not None:
        rule = f"{divergences[0]} has a total for fewer of these releases, and none for all of them"
        advice = "from deltas that add to 1 or more nothing follows; ask dpspec compose for an epsilon at a delta"
        raise NoCompositionError("budget", rule, advice)
    names = ", ".join(map(str, divergences))
    rule = f"none of {names} bounds the others and says how its budgets add up"
    raise NoCompositionError("output divergence", rule, "state all parts in one that does")


def _composition(lines: tuple[LedgerLine, ...], found: Composed) -> Composition:
    budget = UniformBudget(parameter=found.divergence.budget_parameters[0], value=found.value)
    spec = lines[0].spec.replace(output_divergence=found.divergence, budget=budget)
    return Composition(lines=lines, spec=spec, rule=found.rule, citation=found.citation)


def allows_everything(spec: PrivacySpec) -> bool:
    """Whether any two laws are within the budget for a unit of distance: every pair is a post-processing of two disjoint laws."""
    constant = constant_of(spec)
    if constant is None:
        return False
    try:
        return spec.output_divergence.between(FiniteLaw.point(0), FiniteLaw.point(1)).upper <= constant
    except NoFormulaError:
        return False


_NOTHING = "the total promises nothing: any two distributions of the output are within it"


def _losses(found: Composition) -> Iterator[str]:
    if allows_everything(found.best.spec):
        yield _NOTHING
    elif allows_everything(found.spec):
        yield f"as promised, {_NOTHING}"
    yield from _lost_by(found.lines)
    plain, given = found.plain_sum, found.spec.budget.uniform()
    if plain is not None and plain != given:
        units = {line.part.spec.input_divergence.in_words() for line in found.lines}
        total_unit = found.spec.input_divergence.in_words()
        why = f"they are for {' and '.join(sorted(units))}" if units != {total_unit} else "they do not add up"
        why += f", and the total is for {total_unit}" if total_unit not in units else ""
        enough = given is not None and given < plain  # such as mu, whose squares add: a larger number is a budget, too
        compared = "more than the total" if enough else "no budget of the whole"
        yield f"the numbers as stated add up to {plain.plain()}, which is {compared}: {why}"


def _lost_by(lines: Sequence[LedgerLine]) -> Iterator[str]:
    """The losses on the way to the common blocks, and what the files say beside their promises."""
    for line in lines:
        for step in line.steps:
            if step.block == "space":
                yield f"{line.part.id}: promised for a smaller dataset space only ({step.reason})"
            elif step.block == "multiverse":
                yield f"{line.part.id}: promised inside the smaller universes of all parts only"
            elif step.parameters.get("constant") != "1":
                exchanged = f"{_block(step.after, step.block)} instead of {_block(step.before, step.block)}"
                how = f"at a factor of {step.parameters['constant']}" if "constant" in step.parameters else f"by {step.rule}"
                yield f"{line.part.id}: {exchanged}, {how}: {_said(step.before)} becomes {_said(step.after)} ({step.reason})"
    yield from (f"{line.part.id}: {text}" for line in lines for text in line.part.besides)


def _block(spec: PrivacySpec, name: str) -> str:
    """A block in words."""
    if name == "input divergence":
        return spec.input_divergence.in_words()
    return spec.output_divergence.in_words() if name == "output divergence" else str(getattr(spec, name.replace(" ", "_")))


def _said(spec: PrivacySpec) -> str:
    value = spec.budget.uniform()
    return str(spec.budget) if value is None else f"{spec.budget.parameter} {limit_in_words(value, '= ')}"


def _refinement(parts: tuple[Part, ...]) -> Multiverse:
    """The common refinement: universes intersect, so invariants unite (Bailie et al. 2024).

    Raises:
        NoCompositionError: universes that no invariants induce meet other ones.
    """
    proper = distinct(p.spec.multiverse for p in parts if p.spec.multiverse.induced_by() != ())
    if len(proper) <= 1:
        return proper[0] if proper else Trivial()
    united = []
    for part in parts:
        held = part.spec.multiverse.induced_by()
        if held is None:
            raise NoCompositionError(
                "multiverse",
                f"the universes of {part.id} are induced by no invariants, and those of other parts differ",
                "state them by invariants, or list the intersections as universes",
                value=str(part.spec.multiverse),
            )
        united += [invariant for invariant in held if invariant not in united]
    return LevelSets(invariants=tuple(united))


def _missing(part: Part, spec: PrivacySpec, goal: PrivacySpec) -> Iterator[str]:
    """The missing bound for a part whose input divergence is not bounded by that of the goal."""
    ours, theirs = spec.input_divergence.in_words(), goal.input_divergence.in_words()
    yield f"{part.id}: unknown how many changes of the part ({ours}) make one of the total ({theirs}) at most"
    inner, outer = spec.input_divergence.counted_unit(), goal.input_divergence.counted_unit()
    if inner is None or outer is None:
        return
    units = spec.space.units
    if inner in units and outer in units and units.index(outer) > units.index(inner):
        return
    if nesting_of(spec.space).most_changed(inner, outer) is None:
        yield f"the space states no largest number of {inner}s that one {outer} holds"
    elif inner not in fixed_units(spec):
        yield f"the number of {inner}s differs inside a universe"


# --- by privacy losses ----------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class PrivacyAccount(Showable):
    """The total privacy loss on two datasets at distance 1 of one universe: P(S) <= e^epsilon Q(S) + delta for every event.

    It holds for all mechanisms that keep the parts' promises, also where a later one depends on what the earlier ones have shown.

    Args:
        lines: the parts, each led to common universes and one distance.
        times: how often each is released.
        given: delta or epsilon, the one that is given, and its value.
        value: the other one, from the worst pairs of the promises.
    """

    lines: tuple[LedgerLine, ...]
    times: tuple[int, ...]
    given: tuple[str, Number]
    value: Bracket

    @property
    def wanted(self) -> str:
        """The computed parameter: epsilon or delta."""
        return "epsilon" if self.given[0] == "delta" else "delta"

    def losses(self) -> tuple[str, ...]:
        """The losses of the conversion, part by part, and what the files say beside their promises."""
        nothing = self.value.upper >= 1 if self.wanted == "delta" else self.value.upper.is_infinite
        return (*([_NOTHING] if nothing else []), *_lost_by(self.lines))


def account(
    parts: Sequence[Part],
    times: Sequence[int],
    *,
    delta: NumberLike | None = None,
    epsilon: NumberLike | None = None,
    like: PrivacySpec | None = None,
    rules: Sequence[Rule] | None = None,
) -> PrivacyAccount:
    """Count releases together by their privacy losses: the product of worst pairs is the worst pair of all releases.

    With (P*, Q*) a pair that simulates every pair of laws that a promise allows, independent copies of these pairs simulate the
    joint laws, and the losses ln(dP*/dQ*) add. That is tight for these pairs, where epsilons and deltas added up are not
    (Kairouz, Oh and Viswanath 2015; Dong, Roth and Su 2022, Theorem 3.2).

    Args:
        parts: the releases, with independent noise.
        times: how often each is released.
        delta: the delta at which epsilon is computed.
        epsilon: the epsilon at which delta is computed, instead.
        like, rules: as in `compose`.

    Raises:
        ParameterError: neither or both of delta and epsilon are given, or one outside its range.
        NoCompositionError: there are no common blocks, or a promise that has no worst pair.

    >>> from dpspec.extension import installed
    >>> from dpspec.specfile import new_spec, read_text
    >>> survey = Part(id="survey", spec=read_text(new_spec("survey"), installed().registry).spec)
    >>> found = account([survey], [100], delta="1e-6")
    >>> str(survey.spec.budget), found.value.upper.decimal()
    ('epsilon = ln(3)', '94.2899')
    """
    if (delta is None) == (epsilon is None):
        raise ParameterError("delta", "or epsilon has to be given, and not both", "write --delta 1e-6")
    often = Items(Integer(1, MOST_TIMES)).read(times, "times")
    if len(often) != len(parts):
        raise ParameterError("times", "must be one number for each release", value=len(often))
    known = rules_of(installed().registry) if rules is None else rules
    lines = _aligned(tuple(parts), like, known)
    _check_foreign(lines, known)
    found: dict[object, tuple[WorstPairs, int]] = {}
    for line, n in zip(lines, often, strict=True):
        key = key_of(line.spec)
        pairs, before = found[key] if key in found else (_worst_pairs(line), 0)
        found[key] = pairs, before + n
    low, high = (laws.compose([(pairs[end], n) for pairs, n in found.values()]) for end in (0, 1))
    if delta is not None:
        slack = Rational(0, 1, open_high=True).read(delta, "delta")
        given, value = ("delta", number(slack)), Bracket(lower=low.epsilon_at(slack).lower, upper=high.epsilon_at(slack).upper)
    else:
        loss = Exact(0, "inf", open_high=True).read(epsilon, "epsilon")
        given, value = ("epsilon", loss), Bracket(lower=low.hockey_stick(loss).lower, upper=high.hockey_stick(loss).upper)
    return PrivacyAccount(lines=lines, times=often, given=given, value=value)


_DISJOINT = FiniteLaw.point(0).against(FiniteLaw.point(1))
"""Two laws that are told apart with certainty."""


def _worst_pairs(line: LedgerLine) -> WorstPairs:
    divergence = line.spec.output_divergence
    if line.amount.is_infinite:  # every pair of laws is allowed, whatever the divergence is
        return _DISJOINT, _DISJOINT
    found = divergence.worst_pairs(line.amount)
    if found is None:
        rule = f"of {line.part.id} is {divergence.in_words()}, for which no pair of laws is the worst of all that it allows"
        advice = "add up such budgets with dpspec ledger, and convert the sum with dpspec convert"
        raise NoCompositionError("output divergence", rule, advice)
    return found


def account_files(
    given: Sequence[str],
    registry: Registry,
    like: str | None = None,
    *,
    as_promised: bool = False,
    **asked: NumberLike | None,
) -> PrivacyAccount:
    """The account of the releases that texts mean: a file or directory, or ``FILE=N`` for a release that is made N times.

    Raises:
        ParameterError: a number of times that is no whole number above 0.
        RefutedPartError: for each part whose claim is refuted, unless they are counted as promised.
        what reading a file and `account` raise.
    """
    documents, times = documents_with_times(given, registry)
    frame = None if like is None else read_file(like, registry).spec
    return account_of(documents, times, registry, frame, as_promised=as_promised, **asked)


def account_of(
    documents: Sequence[SpecDocument],
    times: Sequence[int],
    registry: Registry,
    like: PrivacySpec | None = None,
    *,
    as_promised: bool = False,
    **asked: NumberLike | None,
) -> PrivacyAccount:
    """The account of specifications that are read; otherwise as `account_files`."""
    parts = _kept(documents, registry, as_promised=as_promised)
    return account(parts, times, like=like, rules=rules_of(registry), **asked)


def documents_with_times(given: Sequence[str], registry: Registry) -> tuple[tuple[SpecDocument, ...], tuple[int, ...]]:
    """The specifications that texts mean, and how often each is released: a file or directory, or ``FILE=N`` for N times.

    A file that is named several times is released so many times in all.

    Raises:
        ParameterError: a number of times that is no whole number from 1 to a million.
        what `documents_of` raises.
    """
    often: dict[Path, int] = {}
    for text in given:
        path, sign, written = text.rpartition("=")
        if not sign or Path(text).exists():
            path, times = text, 1
        else:
            times = Integer(1, MOST_TIMES).read(written, f"times of {path}")
        for file in spec_files(path):
            often[file] = often.get(file, 0) + times
    return documents_of([str(file) for file in often], registry), tuple(often.values())


# --- from files to files --------------------------------------------------------------------------


def documents_of(paths: Sequence[str], registry: Registry) -> tuple[SpecDocument, ...]:
    """The specification files that paths mean, each once, with ids that differ.

    Raises:
        SpecFileError, SpecError and its kin: a path or file that cannot be read; faults of several files come as `Faults`.
    """
    files = dict.fromkeys(file for path in paths for file in spec_files(path))
    shared: Shared = {}
    found: tuple[SpecDocument, ...] = tuple(collect(partial(read_file, file, registry, shared=shared) for file in files))
    check_ids(found)
    return found


def compose_files(given: Sequence[str], registry: Registry, like: str | None = None, *, as_promised: bool = False) -> Composition:
    """The composition of all specifications that texts mean; each part has its claim status.

    Args:
        given: files, directories, which mean their specification files, or ``FILE=N`` for N releases under one file.
        registry: what the names in the files mean.
        like: a file whose space and input divergence the total is stated in.
        as_promised: add the promises whose claims are refuted too.

    Raises:
        RefutedPartError: for each part whose claim is refuted, unless they are added as promised.
        what reading a file and `compose` raise.
    """
    documents, times = documents_with_times(given, registry)
    frame = None if like is None else read_file(like, registry).spec
    return add_up(documents, registry, frame, times=times, as_promised=as_promised)


def add_up(
    documents: Sequence[SpecDocument],
    registry: Registry,
    like: PrivacySpec | None = None,
    *,
    times: Sequence[int] | None = None,
    as_promised: bool = False,
) -> Composition:
    """The composition of specifications that are read, each released so many times; otherwise as `compose_files`.

    Raises:
        ParameterError: the times are not as many as the specifications, or not from 1 to a million.
    """
    often = Items(Integer(1, MOST_TIMES)).read([1] * len(documents) if times is None else times, "times")
    if len(often) != len(documents):
        raise ParameterError("times", f"must be {len(documents)} numbers, one for each release", value=len(often))
    kept, rules = _kept(documents, registry, as_promised=as_promised), rules_of(registry)
    parts = tuple(attrs.evolve(part, times=n) for part, n in zip(kept, often, strict=True))
    promised = compose(parts, like=like, rules=rules)
    return promised if as_promised else attrs.evolve(promised, proved=_as_proved(promised, parts, like, rules))


def _as_proved(
    promised: Composition, parts: tuple[Part, ...], like: PrivacySpec | None, rules: Sequence[Rule]
) -> Composition | None:
    """The composition with proved constants, where it is stated in the same blocks and spends less."""
    lowered = tuple(attrs.evolve(part, spec=part.proved) for part in parts)
    if lowered == parts:
        return None
    try:
        found = compose(lowered, like=like, rules=rules)
    except DpspecError:  # a sum of proved constants without common blocks
        return None
    same = found.spec.replace(budget=promised.spec.budget) == promised.spec
    given, proved = promised.spec.budget.uniform(), found.spec.budget.uniform()
    comparable = same and promised.spec.budget.parameter == found.spec.budget.parameter
    return found if comparable and given is not None and proved is not None and proved < given else None


def _kept(documents: Sequence[SpecDocument], registry: Registry, *, as_promised: bool) -> tuple[Part, ...]:
    parts = parts_of(documents, registry)
    if not as_promised:
        advice = "leave it out, correct the claim, or add what was promised with --as-promised"
        raise_all(
            [
                RefutedPartError(f"part {part.id}", f"does not keep what it promises: {part.standing}", advice)
                for part in parts
                if part.standing is not None and part.standing.is_false
            ]
        )
    return parts


def composed_text(found: Composition, path: Path, registry: Registry) -> str:
    """The composition as the text of the file at `path`, whose name gives the id."""
    name = path.name.removesuffix(SUFFIX)
    releases = sum(line.part.times for line in found.lines)
    title = f"{count(releases, 'release')} together: {', '.join(line.part.name for line in found.lines)}"
    if not is_id(name):
        raise ParameterError("out", f"must be named lower-kebab{SUFFIX}", f"such as total-2020{SUFFIX}", value=path.name)
    return to_toml(composed_document(found, id=name, title=title), registry)


def parts_of(documents: Sequence[SpecDocument], registry: Registry | None = None) -> tuple[Part, ...]:
    """One part for each file, with the status of its claim; equal claims are verified once."""
    standings: dict[object, Standing] = {}
    parts = []
    for document in documents:
        claim = key_of(claim_of(document))
        if claim not in standings:
            standings[claim] = standing(document, registry)
        one = standings[claim]
        limits = [f"it rests on an assumption: {assumption}" for assumption in document.assumed]
        limits += [f"its guarantee does not cover: {step}" for step in document.unaccounted]
        period = None if document.deployment is None else document.deployment.period
        limits += [f"its budget is renewed after every {period}; each listed release counts for one {period}"] if period else []
        also = [f"{part}, {_beside(part.spec, document.spec)}" for part in document.parts]
        limits += [f"it also promises, outside of the total: {promise}" for promise in also]
        parts.append(Part(id=document.id, spec=document.spec, standing=one, besides=tuple(limits), stand_ins=document.stand_ins))
    return tuple(parts)


def _beside(spec: PrivacySpec, main: PrivacySpec) -> str:
    """A further promise of a file: its number, standard and unit, and its universes where they are others."""
    text = f"{spec.budget} by {spec.output_divergence.in_words()}; one change: {spec.input_divergence.in_words()}"
    return text if spec.multiverse == main.multiverse else f"{text}; inside {spec.multiverse}"


def composed_document(found: Composition, *, id: str, title: str) -> SpecDocument:
    """The composition as a specification file; with a ledger when the parts add up to the total in its own number.

    It states the total as proved, where constants are proved of the parts, and names the total as promised.
    """
    promised, found = found, found.best
    amounts = tuple(LedgerPart(id=line.part.id, amount=line.spent) for line in found.lines)
    value = found.spec.budget.uniform()
    try:
        adds_up = sum((part.amount for part in amounts[1:]), start=amounts[0].amount) == value
    except DpspecError:  # a sum without an exact form
        adds_up = False
    steps = {
        f"{line.part.id}-{place}": f"{step.rule}: {step.reason} ({step.citation})"
        for line in found.lines
        for place, step in enumerate(line.steps, 1)
    }
    standings = {
        f"{line.part.id}-standing": line.part.standing.sentence for line in found.lines if line.part.standing is not None
    }
    limits = {f"{line.part.id}-limit-{place}": text for line in found.lines for place, text in enumerate(line.part.besides, 1)}
    summary = f"composed from {', '.join(line.part.name for line in found.lines)}: {found.rule} ({found.citation})"
    if found is not promised:
        summary += f"; with proved constants, where {promised.spec.budget} is promised"
    return SpecDocument(
        id=id,
        title=title,
        spec=found.spec,
        ledger=Ledger(parameter=found.spec.budget.parameter, parts=amounts) if adds_up else None,
        source=(("document", summary), *standings.items(), *limits.items(), *steps.items()),
    )
