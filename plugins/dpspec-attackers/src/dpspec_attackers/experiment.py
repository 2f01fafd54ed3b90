r"""`dpspec attack`: how often an attack on a release is right, with the target's record in the data and without it.

A target is a record of the confidential table. The attacker knows some of its attributes, sees a release, and names the secret.
The *counterfactual* is the same attack on a release of the table without the target's record: what is right there was learned
from the others, and is no effect of the target's own data. The *gain* is the difference of the two.

On tables of up to `FEW_RECORDS` records whose laws are finite all outputs are listed, and every number is exact. Otherwise the
experiment is simulated: targets are drawn uniformly with replacement, and each has two releases of its own. Then the results are
independent and identically distributed, and the intervals of Clopper and Pearson (1934) hold for them. Let n_10 of n targets be
right with the record alone, and n_01 without it alone. With intervals for both, each at half of the error probability,

    low(n_10) - high(n_01)  <=  gain  <=  high(n_10) - low(n_01).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

import dpspec as dp
from dpspec.plugin import (
    AttackGuess,
    AttackScene,
    Dataset,
    FiniteLaw,
    Marginal,
    Mechanism,
    ParameterError,
    PrivacySpec,
    Randomness,
    Record,
    Table,
    TableAttacker,
    errors,
    grammar,
    number,
    params,
    randomness,
    risks,
)
from dpspec.plugin.applications import Grid, PageParts, Piece, level_in_words

if TYPE_CHECKING:
    from dpspec import CommandAnswer, SpecDocument
    from dpspec.plugin.applications import Progress

FEW_RECORDS = 4
"""Up to so many records the laws of a table are listed, where they are finite."""
MOST_TARGETS = 10_000
"""The largest number of targets of one experiment."""
TARGETS = 200
CONFIDENCE = Fraction(19, 20)
_GRID = 1 << 20
"""Ends of intervals are multiples of 2**-20, rounded outwards."""

Interval = tuple[Fraction, Fraction]
Cells = Mapping[Marginal, Mapping[tuple[str, ...], int]]


def clopper_pearson(hits: int, of: int, confidence: Fraction = CONFIDENCE) -> Interval:
    """The interval of Clopper and Pearson (1934) for a probability, with ends that are rounded outwards.

    All p with P(X >= hits) > a and P(X <= hits) > a, where X is binomial (of, p) and a is half of the error probability. Tails
    are sums of integers, so that nothing is rounded but the ends.

    Args:
        hits, of: how often an event occurred, in so many independent trials.
        confidence: the probability with which the interval contains p, at least.

    >>> [round(float(end), 4) for end in clopper_pearson(0, 1000)]
    [0.0, 0.0037]
    """
    tail = (1 - confidence) / 2
    low = Fraction(0) if hits == 0 else _last(lambda a: _upper_tail(hits, of, a) <= tail)
    high = Fraction(1) if hits == of else 1 - _last(lambda a: _upper_tail(of - hits, of, a) <= tail)
    return low, high


def _last(holds: Callable[[int], bool]) -> Fraction:
    """The largest point of the grid at which something holds that holds up to some point."""
    low, high = 0, _GRID
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return Fraction(low, _GRID)


def _upper_tail(hits: int, of: int, a: int) -> Fraction:
    """P(X >= hits) of a binomial X with probability a / 2**20, exactly."""
    b, total, term = _GRID - a, 0, math.comb(of, hits) * a**hits
    powers = [1]
    for _ in range(of - hits):
        powers.append(powers[-1] * b)
    for count in range(hits, of + 1):
        total += term * powers[of - count]
        term = term * (of - count) * a // (count + 1) if count < of else 0
    return Fraction(total, _GRID**of)


# --- what is found --------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class AttackScore:
    """The success rate of an attack in one of the two worlds.

    Args:
        value: the share of targets whose secret is named, exactly or as simulated; a guess among k values counts 1/k where it is
            exact, and is drawn where it is simulated.
        interval: that of Clopper and Pearson; the value twice where it is exact.
        hits: the number of targets; None where the value is exact.
        claims, true_claims: how often the attacker claims to have identified the target, and is right then: an expected number of
            targets where the value is exact.
    """

    value: Fraction
    interval: Interval
    hits: int | None
    claims: Fraction
    true_claims: Fraction


@attrs.frozen(kw_only=True)
class AttackResult:
    """The result of one attacker.

    Args:
        attacker: the attacker with its parameters.
        with_record, without_record: the two worlds.
        gain, gain_interval: the difference, and an interval for it.
        undecided: for how many targets the attack did not end in one of the worlds; they count as wrong at the lower ends and as
            right at the upper ones.
    """

    attacker: TableAttacker
    with_record: AttackScore
    without_record: AttackScore
    gain: Fraction
    gain_interval: Interval
    undecided: int


@attrs.frozen(kw_only=True)
class _Trial:
    """One target in one world: how likely it is right (None: undecided), is claimed, and is claimed rightly."""

    right: Fraction | None
    claims: Fraction
    true_claims: Fraction


@attrs.frozen(kw_only=True)
class _World:
    """What an attacker sees of one release."""

    scene: AttackScene
    probability: Fraction = Fraction(1)


# --- the experiment -------------------------------------------------------------------------------


def attack(
    specification: SpecDocument | PrivacySpec | str | Path,
    table: str | Path,
    *,
    secret: Iterable[str],
    known: Iterable[str] | None = None,
    attacker: str | TableAttacker | None = None,
    release: str | Path | None = None,
    targets: int = TARGETS,
    seed: int | None = None,
    confidence: Any = CONFIDENCE,
    progress: Progress | None = None,
) -> CommandAnswer:
    r"""How often attacks on a release name a secret, compared with a release without the target's record.

    The score of an attack is the share of targets whose secret it names. Its gain is score with the record minus score without.

    Args:
        specification: a specification with a mechanism, or its file.
        table: the confidential table. Only totals over its records are in the answer.
        secret: the attributes that the attacker wants.
        known: the attributes of the target that the attacker knows; without them, all others.
        attacker: a registered attacker of tables, or its name; without it, all that fit.
        release: the directory of a release of this table. Then the numbers with the record are about this release; without it,
            each target has a release of its own.
        targets: the number of targets that are drawn, with replacement, from 1 to 10,000.
        seed: the seed of all draws, for tests and audits; without it, the generator of the operating system.
        confidence: the probability with which each interval holds, in (0, 1).
        progress: called with (targets done, in all).

    Returns:
        for each attacker `with`, `without` and `gain`: exact on tables of up to four records, otherwise simulated with intervals.

    Raises:
        UnknownNameError: an attribute or attacker that is not known.
        ParameterError: the secret is known to the attacker, or a number is out of its range.
        TableError: the table does not fit the space, or the release does not hold its exact tables.
        AttackerMisfitError: the attacker, or each of them, does not fit the release.
        NotEnumerableError: the attack would list too much.

    Source: Garfinkel, Abowd and Martindale 2019; the counterfactual as in Bailie et al. 2024.

    >>> import dpspec as dp
    >>> [name for name in dp.installed().registry.names("attackers") if name in ("nearest-donor", "integer-program")]
    ['integer-program', 'nearest-donor']
    """
    document = dp.read(specification) if isinstance(specification, str | Path) else specification
    spec = document if isinstance(document, PrivacySpec) else document.spec
    mechanism = None if isinstance(document, PrivacySpec) else document.mechanism
    if mechanism is None or isinstance(document, PrivacySpec):
        raise ParameterError("specification", "names no mechanism, so that nothing is released", "add a [mechanism]")
    sure, count = _checked(confidence, targets)
    if not spec.space.units:
        rule = "has no records, so that there is no target in it"
        raise errors.AttackerMisfitError(f"space {spec.space.name}", rule, "give a specification of records")
    given = _plain(dp.read_table(document, table), "TABLE")
    if not len(given):
        raise errors.TableError("TABLE", "has no records", "give a table with records")
    _check_counterfactual(given, spec)
    wanted, background = _attributes(given, secret, known)
    drawn = None if release is None else _released(document, release, given, spec)
    attackers = _attackers(attacker)
    run = _Experiment(
        spec=spec, mechanism=mechanism, table=given, secret=wanted, known=background, release=drawn, targets=count,
        confidence=sure, source=randomness.SystemRandomness() if seed is None else randomness.SeededRandomness(seed),
    )  # fmt: skip
    found, refused = run.results(attackers, progress)
    if not found:
        raise next(iter(refused.values()))
    name = document.id
    data = {
        "specification": name,
        "table": {"unit": spec.space.units[0], "records": len(given), "outside": risks.lies_outside(given, spec)},
        "release": drawn is not None,
        "secret": list(wanted),
        "known": list(background),
        "about": "this table",
        "method": "exact" if run.is_exact else "simulated",
        "targets": len(given) if run.is_exact else count,
        "seed": None if run.is_exact else seed,
        "confidence": str(sure),
        "attacks": [_result_data(one) for one in found],
        "not_run": [{"attacker": who, "reason": str(fault)} for who, fault in refused.items()],
    }
    code = 3 if any(one.undecided for one in found) else 0
    return dp.CommandAnswer("attack", code, data, partial(_parts, data, found), value=tuple(found))


def _checked(confidence: Any, targets: int) -> tuple[Fraction, int]:
    value = number(confidence, "confidence")
    if not (value.is_rational and 0 < value < 1):
        raise ParameterError("confidence", "must be a rational number in (0, 1)", "such as 0.95", value=str(confidence))
    if isinstance(targets, bool) or not isinstance(targets, int) or not 1 <= targets <= MOST_TARGETS:
        raise ParameterError("targets", f"must be a whole number from 1 to {MOST_TARGETS:,}", value=targets)
    return value.as_fraction(), targets


def _check_counterfactual(table: Table, spec: PrivacySpec) -> None:
    """Refuse a table that is no dataset of the space without one of its records: nothing is said of a release of it."""
    try:
        risks.check_dataset(table.rows(np.arange(len(table)) > 0), spec.space, spec.space.units[0])
    except errors.NotInSpaceError:
        rule = "has no dataset with one record fewer, so that an attack without the target's record has no release"
        advice = "give a space that allows one record fewer"
        raise errors.AttackerMisfitError(f"space {spec.space.name}", rule, advice) from None


def _plain(table: Table, name: str) -> Table:
    if table.members is not None:
        rule = "holds households together with their persons"
        raise errors.AttackerMisfitError(name, rule, "describe one unit as a table of its own")
    return table


def _attributes(
    table: Table, secret: Iterable[str], known: Iterable[str] | None
) -> tuple[tuple[str, ...], tuple[str, ...]]:  # fmt: skip
    """The secret and the known attributes."""
    names = [attribute.name for attribute in table.attributes]
    wanted = tuple(dict.fromkeys(secret))
    if not wanted:
        raise ParameterError("secret", "names no attribute", f"name some of {', '.join(names)}")
    background = tuple(name for name in names if name not in wanted) if known is None else tuple(dict.fromkeys(known))
    for name in (*wanted, *background):
        if name not in names:
            raise errors.UnknownNameError("attribute", "is none of the table", params.did_you_mean(name, names), value=name)
    outer = {attribute.name: attribute.within for attribute in table.attributes}

    def above(name: str) -> set[str]:
        within = outer.get(name)
        return {name} if within is None else {name, *above(within)}

    implied = set().union(*(above(name) for name in background)) if background else set()
    both = [name for name in wanted if name in implied]
    if both:
        if known is None:  # a coarser attribute within the secret determines it
            background = tuple(name for name in background if not set(wanted) & above(name))
            return wanted, background
        raise ParameterError("secret", "is known by what the attacker knows", "take it out of `known`", value=", ".join(both))
    return wanted, background


def _attackers(given: str | TableAttacker | None) -> list[TableAttacker]:
    registry = dp.installed().registry
    if isinstance(given, TableAttacker):
        return [given]
    kinds = {str(kind.name): kind for kind in registry.classes("attackers") if issubclass(kind, TableAttacker)}
    if given is None:
        return [params.build(kind, {}, name) for name, kind in sorted(kinds.items())]
    if given not in kinds:
        advice = params.did_you_mean(given, kinds) or f"known: {', '.join(sorted(kinds))}"
        raise errors.UnknownNameError("attacker", "is no attacker of tables", advice, value=given)
    return [params.build(kinds[given], {}, given)]


def _released(document: SpecDocument, release: str | Path, table: Table, spec: PrivacySpec) -> Table:
    """The records of a release, which has the exact tables of the confidential one."""
    from dpspec.plugin.applications import REPORT, dataset_of

    place = Path(release)
    report = place / REPORT
    if not report.is_file():
        advice = "give the directory that dpspec release wrote"
        raise errors.TableError("--release", f"holds no {REPORT}", advice, value=place.name)
    dataset = dataset_of(str(report), spec.space, dp.installed().registry, document.layout)
    records = spec.space.records(dataset, spec.space.units[0])
    found = Table.from_records(records, table.attributes)
    before, after = _published(spec, table), _published(spec, found)
    for fact, cells in before.items():
        if cells != after[fact]:
            rule = f"differs from TABLE in what is published exactly: {fact}"
            raise errors.TableError("--release", rule, "give a release of this table", value=place.name)
    return found


def _published(spec: PrivacySpec, table: Table) -> Cells:
    """The exact tables of the unit, counted in a table."""
    names = {attribute.name for attribute in table.attributes}
    facts = (invariant.as_marginal() for invariant in spec.multiverse.induced_by() or ())
    return {
        fact: _cells(fact, table) for fact in facts
        if fact is not None and fact.unit == spec.space.units[0] and fact.mentions().keys() <= names
    }  # fmt: skip


def _cells(fact: Marginal, table: Table) -> Mapping[tuple[str, ...], int]:
    kept = np.ones(len(table), dtype=bool)
    for name, categories in fact.where:
        held = np.asarray([category in categories for category in table.attribute(name).values()])
        kept &= held[table.codes[name]]
    counted = table.rows(kept).counts(fact.attributes)
    return {cell: count for cell, count in counted.items() if count}


@attrs.frozen(kw_only=True, eq=False)
class _Experiment:
    """One experiment.

    Args:
        spec, mechanism: what is attacked.
        table: the confidential table.
        secret, known: the attributes.
        release: a release that is given; None where each target has its own.
        targets, confidence: how many targets are drawn, and how sure each interval is.
        source: where random numbers are drawn.
    """

    spec: PrivacySpec
    mechanism: Mechanism
    table: Table
    secret: tuple[str, ...]
    known: tuple[str, ...]
    release: Table | None
    targets: int
    confidence: Fraction
    source: Randomness
    _laws: dict[Dataset, FiniteLaw] = attrs.field(factory=dict, init=False)

    @property
    def is_exact(self) -> bool:
        """Whether all outputs are listed."""
        return self.release is None and len(self.table) <= FEW_RECORDS and self._law_of(self.table) is not None

    def results(
        self, attackers: Sequence[TableAttacker], progress: Progress | None
    ) -> tuple[list[AttackResult], dict[str, errors.DpspecError]]:
        """What each attacker achieves, and why others were not run."""
        trials: dict[str, list[tuple[Fraction, _Trial, _Trial]]] = {one.name: [] for one in attackers}
        refused: dict[str, errors.DpspecError] = {}
        cases = list(self._exact_cases()) if self.is_exact else self._drawn_cases(progress)
        for weight, row, here, there in cases:
            known, truth = self._target(row)
            for one in attackers:
                if one.name in refused:
                    continue
                try:
                    trials[one.name].append((weight, self._tried(one, here, known, truth), self._tried(one, there, known, truth)))
                except (errors.AttackerMisfitError, errors.NotEnumerableError) as fault:
                    refused[one.name] = fault
            if len(refused) == len(attackers):
                break
        found = [self._result(one, trials[one.name]) for one in attackers if one.name not in refused]
        return found, refused

    def _target(self, row: int) -> tuple[dict[str, str], Record]:
        names = (*self.known, *self.secret)
        record = [self.table.attribute(name).category(int(self.table.codes[name][row])) for name in names]
        return dict(zip(self.known, record, strict=False)), tuple(record[len(self.known) :])

    def _without(self, row: int) -> Table:
        kept = np.ones(len(self.table), dtype=bool)
        kept[row] = False
        return self.table.rows(kept)

    # -- exact ------------------------------------------------------------------------------------

    def _law_of(self, table: Table) -> FiniteLaw | None:
        """The law of the release of a table; None where it is not finite."""
        dataset = self.spec.space.dataset(list(table.records()))
        if dataset not in self._laws:
            law = self.mechanism.law(dataset, self.spec.space)
            if not isinstance(law, FiniteLaw):
                return None
            self._laws[dataset] = law
        return self._laws[dataset]

    def _exact_cases(self) -> Iterator[tuple[Fraction, int, list[_World], list[_World]]]:
        here = self._worlds(self.table)
        for row in range(len(self.table)):
            yield Fraction(1, len(self.table)), row, here, self._worlds(self._without(row))

    def _worlds(self, table: Table) -> list[_World]:
        """Every output, with its probability."""
        law = self._law_of(table)
        if law is None:
            raise errors.NotEnumerableError("attack", "needs finite laws of the table with and without a record")
        published = _published(self.spec, table)
        return [
            _World(scene=self._scene(len(table), published, self._as_records(output), output), probability=probability)
            for output, probability in law.probabilities()
        ]

    def _as_records(self, output: object) -> Table | None:
        """An output as records, where it is a dataset of the space."""
        space = self.spec.space
        try:
            records = space.records(space.dataset(output), space.units[0])
            return Table.from_records(records, self.table.attributes)
        except errors.DpspecError:
            return None

    def _scene(self, size: int, published: Cells, released: Table | None, output: object) -> AttackScene:
        return AttackScene(
            spec=self.spec, mechanism=self.mechanism, size=size, published=published, released=released, output=output
        )  # fmt: skip

    # -- simulated --------------------------------------------------------------------------------

    def _drawn_cases(self, progress: Progress | None) -> Iterator[tuple[Fraction, int, list[_World], list[_World]]]:
        rows = self.source.below(len(self.table), self.targets).tolist()
        places = self.source.placed()
        published = _published(self.spec, self.table)
        for done, row in enumerate(rows, 1):
            others = self._without(row)
            drawn = self.release
            if drawn is None:
                drawn = self._draw(self.table, places.spawn("with", done))
            here = self._scene(len(self.table), published, drawn, self._as_output(drawn))
            left = self._draw(others, places.spawn("without", done))
            there = self._scene(len(others), _published(self.spec, others), left, self._as_output(left))
            yield Fraction(1), row, [_World(scene=here)], [_World(scene=there)]
            if progress is not None:
                progress(done, len(rows))

    def _draw(self, table: Table, source: Randomness) -> Table:
        return grammar.released(self.mechanism, table, self.spec.space, source)

    def _as_output(self, released: Table) -> object:
        """The released records as an outcome of the law, where they are few and of the space."""
        names = [attribute.name for attribute in self.table.attributes]
        if len(released) > FEW_RECORDS * 2 or [attribute.name for attribute in released.attributes] != names:
            return None
        try:
            return self.spec.space.dataset(list(released.records()))
        except errors.DpspecError:
            return None

    # -- scores -----------------------------------------------------------------------------------

    def _tried(self, attacker: TableAttacker, worlds: Sequence[_World], known: Mapping[str, str], truth: Record) -> _Trial:
        """The probability of being right over the worlds, and whether that is claimed."""
        right, claims, true = Fraction(0), Fraction(0), Fraction(0)
        for world in worlds:
            said = self._guess(attacker, world.scene, known)
            if said.undecided:
                return _Trial(right=None, claims=Fraction(0), true_claims=Fraction(0))
            share = self._share(said, truth)
            right += world.probability * share
            claims += world.probability * said.is_claim
            true += world.probability * share * said.is_claim
        return _Trial(right=right, claims=claims, true_claims=true)

    def _guess(self, attacker: TableAttacker, scene: AttackScene, known: Mapping[str, str]) -> AttackGuess:
        """What an attacker says; of an error of its own the message is left out, as it may quote the target."""
        subject = f"attacker {attacker.name}"
        try:
            said = attacker.guess(scene, known, self.secret)
        except (errors.DpspecError, MemoryError):
            raise
        except Exception as problem:
            rule = f"raised {type(problem).__name__} in guess() ({errors.raised_at(problem)})"
            raise errors.PluginContractError(subject, rule, errors.TO_ITS_AUTHOR) from None
        if not isinstance(said, AttackGuess):
            raise errors.PluginContractError(subject, "guess() must return an AttackGuess", value=type(said).__name__)
        return said

    def _share(self, said: AttackGuess, truth: Record) -> Fraction:
        """How likely the guess is right; where outputs are drawn, the guess among several values is drawn, too."""
        many = len(said.best) if said.best else math.prod(self.table.attribute(name).size for name in self.secret)
        may_be = truth in said.best or not said.best
        if self.is_exact:
            return Fraction(may_be, many)
        return Fraction(int(may_be and int(self.source.below(many, 1)[0]) == 0))

    def _result(self, attacker: TableAttacker, trials: Sequence[tuple[Fraction, _Trial, _Trial]]) -> AttackResult:
        undecided = sum(here.right is None or there.right is None for _, here, there in trials)
        if self.is_exact:
            with_record, without = (self._exact(((w, trial[side]) for w, *trial in trials)) for side in (0, 1))
            gain = with_record.value - without.value
            interval = with_record.interval[0] - without.interval[1], with_record.interval[1] - without.interval[0]
        else:
            with_record = self._simulated([here for _, here, _ in trials])
            without = self._simulated([there for _, _, there in trials])
            gain = with_record.value - without.value
            interval = self._gain([(here.right, there.right) for _, here, there in trials])
        return AttackResult(
            attacker=attacker, with_record=with_record, without_record=without, gain=gain, gain_interval=interval,
            undecided=undecided,
        )  # fmt: skip

    def _exact(self, trials: Iterable[tuple[Fraction, _Trial]]) -> AttackScore:
        rows = list(trials)
        low = sum((w * (one.right or 0) for w, one in rows), Fraction(0))
        high = sum((w * (1 if one.right is None else one.right) for w, one in rows), Fraction(0))
        return AttackScore(
            value=low, interval=(low, high), hits=None, claims=sum((one.claims for _, one in rows), Fraction(0)),
            true_claims=sum((one.true_claims for _, one in rows), Fraction(0)),
        )  # fmt: skip

    def _simulated(self, trials: Sequence[_Trial]) -> AttackScore:
        hits, of = sum(int(one.right or 0) for one in trials), len(trials)
        most = hits + sum(one.right is None for one in trials)
        low, high = clopper_pearson(hits, of, self.confidence)[0], clopper_pearson(most, of, self.confidence)[1]
        return AttackScore(
            value=Fraction(hits, of), interval=(low, high), hits=hits,
            claims=sum((one.claims for one in trials), Fraction(0)),
            true_claims=sum((one.true_claims for one in trials), Fraction(0)),
        )  # fmt: skip

    def _gain(self, pairs: Sequence[tuple[Fraction | None, Fraction | None]]) -> Interval:
        """An interval of the difference from the pairs in which one world alone is right."""
        of, each = len(pairs), 1 - (1 - self.confidence) / 2
        more = [sum(here in ones and there in zeros for here, there in pairs) for ones, zeros in _SURE_AND_POSSIBLE]
        less = [sum(there in ones and here in zeros for here, there in pairs) for ones, zeros in _SURE_AND_POSSIBLE]
        low = clopper_pearson(more[0], of, each)[0] - clopper_pearson(less[1], of, each)[1]
        high = clopper_pearson(more[1], of, each)[1] - clopper_pearson(less[0], of, each)[0]
        return low, high


_SURE_AND_POSSIBLE = (({1}, {0}), ({1, None}, {0, None}))
"""Right in one world and wrong in the other: for certain, and possibly, where the attack did not end."""


# --- as data and as text --------------------------------------------------------------------------


def _result_data(one: AttackResult) -> dict[str, Any]:
    return {
        "attacker": str(one.attacker.name),
        "title": one.attacker.title,
        "knowledge": one.attacker.knowledge,
        "observation": one.attacker.observation,
        "assumption": one.attacker.assumption,
        "with": _score_data(one.with_record),
        "without": _score_data(one.without_record),
        "gain": {"value": str(one.gain), "lower": str(one.gain_interval[0]), "upper": str(one.gain_interval[1])},
        "undecided": one.undecided,
    }


def _score_data(one: AttackScore) -> dict[str, Any]:
    return {
        "value": str(one.value),
        "lower": str(one.interval[0]),
        "upper": str(one.interval[1]),
        "hits": one.hits,
        "claims": str(one.claims),
        "true_claims": str(one.true_claims),
    }


def _percent(value: Fraction, rounded: Callable[[Fraction], int] = round) -> str:
    return f"{rounded(value * 1000) / 10:g} %"


def _points(value: Fraction, rounded: Callable[[Fraction], int] = round) -> str:
    return f"{rounded(value * 1000) / 10:+g}"


def _parts(data: Mapping[str, Any], found: Sequence[AttackResult]) -> PageParts:
    exact = data["method"] == "exact"
    known = exact and not any(one.undecided for one in found)  # then no number has an interval
    shown = [one for one in found if one.gain_interval[0] > 0]
    best = max(shown or found, key=lambda one: one.gain)  # another one may have gained more by accident
    records, unit, outside = (data["table"][key] for key in ("records", "unit", "outside"))
    head = f"Most is gained by {best.attacker.name}: the target's own record adds {_points(best.gain)} percentage points"
    if known and best.gain <= 0:
        head = "No attack that was run is right more often because of the target's own record"
    elif not known:
        ends = f"between {_points(best.gain_interval[0], math.floor)} and {_points(best.gain_interval[1], math.ceil)}"
        head += f", {ends}"
        if not shown:
            head = "No attack was shown to gain by the target's own record: "
            head += f"that of {best.attacker.name} gains {ends} percentage points"
        elif any(one.gain > best.gain for one in found):
            head = head.replace("Most is gained by", "An attack that was shown to gain is", 1)
    parts: list[Piece] = [
        f"{head}.",
        "",
        f"{data['specification']}, this table: {records:,} {unit} {'record' if records == 1 else 'records'}. "
        f"Secret: {', '.join(data['secret'])}. "
        f"Known of the target: {', '.join(data['known']) or 'nothing'}.",
        *([f"This table {risks.OUTSIDE}."] if outside else []),
        "",
    ]
    heads = ("attacker", "right with the record", "right without it", "gain in points", "claims with (right)", "without (right)")
    rows: list[tuple[str, ...]] = []
    for one in found:
        scores = [
            _percent(s.value) if known else f"{_percent(s.value)} ({_ends(s.interval, _percent)})"
            for s in (one.with_record, one.without_record)
        ]
        ends = "" if known else f" ({_ends(one.gain_interval, _points)})"
        claims = [f"{_short(s.claims)} ({_short(s.true_claims)})" for s in (one.with_record, one.without_record)]
        rows.append((str(one.attacker.name), *scores, f"{_points(one.gain)}{ends}", *claims))
    parts.append(Grid(caption="The attackers", heads=heads, rows=tuple(rows)))
    parts += [f"  {one.attacker.name}: {one.undecided} targets undecided" for one in found if one.undecided]
    parts += [f"  {one['attacker']} not run: {one['reason']}" for one in data["not_run"]]
    sure = level_in_words(Fraction(data["confidence"]))
    how = (
        "Exact for this table: all outputs and all targets are listed; a guess among k values counts 1/k."
        if exact else
        f"Simulated for this table: {data['targets']:,} targets drawn with replacement, "
        + ("the given release with the record, " if data["release"] else "each with a release of its own with the record, ")
        + f"and one of its own without it; {_seed(data['seed'])}. Intervals of {sure} each (Clopper and Pearson 1934)."
    )  # fmt: skip
    return [*parts, "", how, "These totals are confidential: they depend on the table, and no promise covers them."]


def _seed(seed: int | None) -> str:
    return "no seed" if seed is None else f"seed {seed}"


def _ends(interval: Interval, words: Callable[..., str]) -> str:
    return f"{words(interval[0], math.floor)} to {words(interval[1], math.ceil)}"


def _short(value: Fraction) -> str:
    return f"{round(value * 100) / 100:g}"
