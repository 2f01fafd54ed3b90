"""The candidate datasets of an attacker: those that exact publications distinguish, and those that the mechanism protects.

An attacker wants to distinguish two candidate datasets x, x', one of which is the confidential one. The invariants of the
multiverse are published exactly, so that an invariant c with c(x) != c(x') distinguishes the two *with certainty*, whatever the
mechanism and the budget. The budget is a bound inside a universe only: eps_D d_X(x, x') for the distances that occur there. Two
datasets that share no universe and that no invariant distinguishes are not compared: the specification promises nothing for them.

`CandidatePairs` are the pairs of one universe that are evaluated. The change of an attacker's belief by one released outcome is
exact (Bailie, Gong, Meng and Drechsler 2024).

For a prior pi over datasets, a secret (a set of datasets, such as "record 1 is a 1") and an outcome t of a finite law:

    LR(t)       = Pr(t | secret) / Pr(t | not secret),        theta = pi(secret),
    C_theta(t)  = pi(secret | t) / pi(secret) = LR / (LR theta + 1 - theta).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from fractions import Fraction

import attrs

from dpspec.base.errors import (
    AttackerMisfitError,
    DpspecError,
    NoFormulaError,
    NotEnumerableError,
    NotReachedError,
    ParameterError,
    count,
)
from dpspec.base.exact import INFINITY, Bracket, Number, NumberLike, largest, number
from dpspec.base.memo import is_hashable, key_of, memoize
from dpspec.base.work import spent
from dpspec.blocks.invariant import Invariant
from dpspec.blocks.multiverse import LevelSets, Multiverse, Universe
from dpspec.blocks.parts import listing_size
from dpspec.blocks.space import Dataset, DatasetSpace, Pair
from dpspec.grammar.attacker import RiskStatement, Sense
from dpspec.grammar.declarations import check_declared, listed_datasets
from dpspec.grammar.mechanism import Mechanism
from dpspec.grammar.plugin_calls import computed_law
from dpspec.grammar.spec import PrivacySpec
from dpspec.grammar.trial_datasets import pairs_of_one_record, trial_groups
from dpspec.laws.dichotomy import Dichotomy
from dpspec.laws.law import FiniteLaw, Law
from dpspec.laws.work import WORK_OF_A_LAW, size_of

MOST_LISTED = 256
"""A space of at most so many datasets is walked whole."""
DISTINGUISHED, OPEN, UNPROMISED = "distinguished by what is published", "left open by what is published", "in no common universe"
"""The places of statements about the three kinds of candidates."""
DIFFERING = "the candidates differ in what is published"
"""The assumption of what is known for certain."""

KeptPair = Callable[[Dataset, Dataset], bool]
"""Whether two datasets are candidates."""

_ASKED: ContextVar[KeptPair | None] = ContextVar("asked", default=None)


@contextmanager
def asked_about(keep: KeptPair) -> Iterator[None]:
    """Restrict what attackers compare inside a `with` block to pairs for which a condition holds in one order or the other."""
    token = _ASKED.set(lambda left, right: keep(left, right) or keep(right, left))
    try:
        yield
    finally:
        _ASKED.reset(token)


def asked_for(keep: KeptPair | None) -> KeptPair | None:
    """A condition on pairs together with that of `asked_about`; None where there is none at all."""
    asked = _ASKED.get()
    if asked is None or keep is None:
        return keep or asked
    return lambda left, right: keep(left, right) and asked(left, right)


About = Callable[[Number], Iterable[RiskStatement]]
"""The statements for a bound on the divergence of the laws of the two candidates."""


@attrs.frozen(kw_only=True)
class Candidates:
    """The bounds of a specification on pairs of candidates.

    Args:
        distinguishing: the invariants in which two such candidates differ that were found; all invariants where it is proved
            that all candidates differ in some of them, and no two were found.
        is_listed: whether the pairs were listed, so that each kind is said to occur only if it does.
        may_differ: whether further candidates may differ in what is published, although none were found.
        unpromised: whether some may be in no common universe although no publication distinguishes them.
        bound: the largest d_Pr(P_x, P_x') that is allowed for the others, or a number above it; None when there are no others.
        reason: why there are no others, where that was not seen by listing.
    """

    distinguishing: tuple[Invariant, ...] = ()
    is_listed: bool
    may_differ: bool = False
    unpromised: bool = False
    bound: Number | None
    reason: str = ""

    @property
    def publications(self) -> str:
        """The invariants that distinguish candidates, in words."""
        return "; ".join(str(invariant) for invariant in self.distinguishing)

    @property
    def is_plain(self) -> bool:
        """Whether all candidates are in one universe, so that the budget speaks about each pair."""
        return not self.distinguishing and not self.unpromised and not self.may_differ

    def stated(self, about: About) -> tuple[RiskStatement, ...]:
        """Statements for every mechanism: first on the candidates that publications distinguish, then on the others.

        Args:
            about: the statements for a bound of d_Pr; at infinity it says what is known about laws that nothing keeps together,
                which is what certainty means.
        """
        return (*self.published(about), *self.left_open(() if self.bound is None else about(self.bound)))

    def published(self, about: About) -> Iterator[RiskStatement]:
        """Statements on candidates that the invariants distinguish with certainty, and on pairs for which nothing is promised."""
        if self.distinguishing:
            nothing = "" if self.bound is not None else "; no two candidates are left open"
            because = f": {self.reason}" if self.reason else ""
            for said in about(INFINITY):
                yield attrs.evolve(
                    said,
                    at=(*said.at, ("candidates", DISTINGUISHED)),
                    relation=Sense.EQUALS,
                    theorem=f"known for certain, published exactly: {self.publications}{nothing}{because}",
                    assumption=self._with(said, DIFFERING),
                )
        if self.unpromised:
            for said in about(INFINITY):
                yield attrs.evolve(
                    said,
                    at=(*said.at, ("candidates", UNPROMISED)),
                    theorem="no universe holds both, so that nothing is promised about them",
                    assumption=self._with(said, "the candidates are in no common universe"),
                )

    def left_open(self, statements: Iterable[RiskStatement]) -> Iterator[RiskStatement]:
        """Statements about candidates of one universe, at their place."""
        for said in statements:
            if self.is_plain:
                yield said
                continue
            yield attrs.evolve(
                said,
                at=(*said.at, ("candidates", OPEN)),
                assumption=self._with(said, "both candidates are in one universe"),
            )

    def _with(self, said: RiskStatement, condition: str) -> str:
        """The assumption of a statement with one more; unseen candidates may not exist."""
        known = self.is_listed or (condition == DIFFERING and not self.reason)
        unseen = "" if known else " (the datasets are too many to see whether there are such)"
        return f"{condition}{unseen}" if said.assumption == "none" else f"{said.assumption}; {condition}{unseen}"


def candidates_within(spec: PrivacySpec, distance: NumberLike = 1, keep: KeptPair | None = None) -> Candidates:
    """Pairs of different datasets whose distance is at most a bound, in one order or the other.

    Of a space that can be walked they are listed, and the bound is that of the distances which occur inside universes. Otherwise
    the bound is the largest that a pair within the distance could have.

    Args:
        spec: the specification.
        distance: the largest distance, in the unit of the input divergence.
        keep: only pairs (x, x') for which this holds.

    Raises:
        NotReachedError: when no two datasets are so near.
        AttackerMisfitError: when budgets differ by universe and the universes cannot be listed.
    """
    reach = number(distance, "distance")
    check_declared(spec)
    if not is_small(spec):
        return _by_structure(spec, reach, keep)
    keep = asked_for(keep)
    near = measured_datasets(spec).near(reach)
    found = candidates_among(spec, (pair for pair in near if keep is None or keep(*pair) or keep(pair[1], pair[0])))
    if found.bound is None and found.is_plain:
        rule = f"holds no two such candidates within distance {reach}"
        raise NotReachedError(f"space {spec.space.name}", rule, "ask about a larger distance")
    return found


def is_small(spec: PrivacySpec) -> bool:
    """Whether all datasets of the space may be walked."""
    size = listing_size(spec.space)
    return size is not None and size <= MOST_LISTED


def candidates_among(spec: PrivacySpec, pairs: Iterable[Pair]) -> Candidates:
    """The same for pairs that are given."""
    allowed, seen = Allowed(spec), dict[Invariant, None]()
    unpromised, bounds = False, set[Number]()
    for left, right in pairs:
        if allowed.share(left, right):
            bounds.add(allowed.between(left, right))
        elif apart := allowed.distinguishing(left, right):
            seen.update(dict.fromkeys(apart))
        else:
            unpromised = True
    return Candidates(distinguishing=tuple(seen), is_listed=True, unpromised=unpromised, bound=max(bounds, default=None))


class Allowed:
    """The allowed divergence of the laws of two datasets, where the published values of each dataset are computed once."""

    def __init__(self, spec: PrivacySpec) -> None:
        self._spec = spec
        self._labels: dict[Dataset, frozenset[Hashable]] = {}
        self._published: dict[Dataset, tuple[Hashable, ...]] = {}
        self._constants: dict[Hashable, Number] = {}

    def published(self, dataset: Dataset) -> tuple[Hashable, ...]:
        """The values of the invariants: what is known of a dataset before the mechanism speaks."""
        if dataset not in self._published:
            held = self._spec.multiverse.induced_by() or ()
            self._published[dataset] = tuple(invariant.value(dataset, self._spec.space) for invariant in held)
        return self._published[dataset]

    def distinguishing(self, left: Dataset, right: Dataset) -> tuple[Invariant, ...]:
        """The invariants in which the two differ."""
        held = self._spec.multiverse.induced_by() or ()
        sides = zip(held, self.published(left), self.published(right), strict=True)
        return tuple(invariant for invariant, here, there in sides if here != there)

    def share(self, left: Dataset, right: Dataset) -> frozenset[Hashable]:
        """The labels of the universes that hold both."""
        return self._of(left) & self._of(right)

    def between(self, left: Dataset, right: Dataset) -> Number:
        """A bound of d_Pr of the two laws in both orders; infinity when they share no universe.

        Where d_X differs by order, one order bounds both if d_Pr is symmetric; else only the larger one does.
        """
        if left == right:
            return number(0)
        universes = self.share(left, right)
        distances = {self._spec.distance(left, right)}
        if not self._spec.input_divergence.is_symmetric:
            distances.add(self._spec.distance(right, left))
        distance = min(distances) if self._spec.output_divergence.is_symmetric else max(distances)
        if not universes or distance.is_infinite:
            return INFINITY
        return distance if distance == 0 else min(self._constant(label, left) * distance for label in universes)

    def _of(self, dataset: Dataset) -> frozenset[Hashable]:
        if dataset not in self._labels:
            self._labels[dataset] = frozenset(self._spec.multiverse.labels(dataset, self._spec.space))
        return self._labels[dataset]

    def _constant(self, label: Hashable, member: Dataset) -> Number:
        if label not in self._constants:
            self._constants[label] = self._spec.bound(Universe(label=label, datasets=(member,), is_whole=False))
        return self._constants[label]


def _by_structure(spec: PrivacySpec, reach: Number, keep: KeptPair | None) -> Candidates:
    """Bounds without a list: a bound above every pair within reach, and facts in which some pair differs."""
    least = spec.input_divergence.least_distance(spec.space)
    if least is not None and least > reach:
        rule = f"holds no two different datasets within distance {reach}: the least is {least}"
        raise NotReachedError(f"space {spec.space.name}", rule, "ask about a larger distance")
    held = spec.multiverse.induced_by()
    reason = None if not held else singles_fixed(spec, reach)
    near = (pair for pair in pairs_tried(spec) if _is_within(spec, *pair, reach))
    found = differing_invariants(spec, (pair for pair in near if keep is None or keep(*pair) or keep(pair[1], pair[0])))
    return Candidates(
        distinguishing=found or (held or () if reason is not None else ()),
        is_listed=False,
        may_differ=bool(held),
        unpromised=held is None,
        bound=None if reason is not None else _largest(spec, reach),
        reason=reason or "",
    )


def pairs_tried(spec: PrivacySpec) -> Iterator[Pair]:
    """Pairs of datasets of a space too large to list, where a published fact may distinguish the two."""
    return itertools.chain(pairs_of_one_record(spec), ((group[0], group[1]) for group in trial_groups(spec)[1:]))


def differing_invariants(spec: PrivacySpec, pairs: Iterable[Pair]) -> tuple[Invariant, ...]:
    """The invariants in which the two datasets of some pair differ: only of these is anything known for certain."""
    held, allowed = spec.multiverse.induced_by() or (), Allowed(spec)
    seen: dict[Invariant, None] = {}
    for left, right in pairs if held else ():
        seen.update(dict.fromkeys(allowed.distinguishing(left, right)))
        if len(seen) == len(set(held)):
            break
    return tuple(invariant for invariant in held if invariant in seen)


def _is_within(spec: PrivacySpec, left: Dataset, right: Dataset, reach: Number) -> bool:
    if left == right:
        return False
    back = not spec.input_divergence.is_symmetric
    return spec.distance(left, right) <= reach or (back and spec.distance(right, left) <= reach)


def _largest(spec: PrivacySpec, reach: Number) -> Number:
    """A number above eps_D d_X(x, x') for all pairs within reach."""
    if not spec.covers_both_orders:
        return INFINITY
    value, unpublished = spec.budget.uniform(), spec.budget.unpublished()
    if value is None and unpublished is not None:
        raise AttackerMisfitError("budget", f"is not known: {unpublished}", "state a number")
    if value is not None:
        constant = spec.output_divergence.lipschitz(spec.budget.parameter, value)
    elif spec.multiverse.is_listed:
        constant = max(spec.bound(universe) for universe in spec.multiverse.universes(spec.space))
    else:
        rule = "differs by universe, and there are too many universes to look for the largest"
        raise AttackerMisfitError("budget", rule, "name a dataset of the universe that is meant: --universe-of TABLE")
    return constant if reach == 1 else constant * reach


def singles_fixed(spec: PrivacySpec, reach: Number) -> str | None:
    """The reason why no universe contains two different datasets within a distance below 2; None where none is found.

    If every count of records of a unit changes by less than 2 (`InputDivergence.counted_unit`), then at most one record was
    exchanged for another. When tables of that unit which are published together show every attribute, each cell of theirs that
    loses the old record must gain the new one, so that the two agree in every attribute: they are the same record.
    """
    unit = spec.input_divergence.counted_unit()
    if unit is None or reach >= 2 or spec.space.is_ordered or not spec.space.is_told_by(unit):
        return None
    tables = [table for held in spec.multiverse.induced_by() or () if (table := held.as_marginal()) is not None]
    whole = [table for table in tables if table.unit == unit and not table.where]
    wanted = {attribute.name for attribute in spec.space.attributes_of(unit)}
    if not whole or not wanted <= {name for table in whole for name in table.attributes}:
        return None
    return f"one {unit} record cannot change alone without a change of a published table"


# --- pairs ----------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class CandidatePairs:
    """Ordered pairs of datasets within a distance, both in one universe.

    Args:
        pairs: the pairs (x, x').
        complete: whether these are all of the specification.
        scope: which they are, in words.
    """

    pairs: tuple[tuple[Dataset, Dataset], ...]
    complete: bool
    scope: str

    def compare(self, mechanism: Mechanism, spec: PrivacySpec) -> ComparedPairs:
        """The pairs of laws of a mechanism; those that simulate each other, once.

        Laws and pairs of laws are shared by all attackers of one mechanism. Where these are not all pairs, those are left out
        whose laws cannot be listed. No further pair is compared when the work exceeds `MOST_WORK`: what is found is then a bound.

        Raises:
            NotEnumerableError, NoFormulaError: when the law of no pair is known, or that of one of all pairs.
        """
        table = laws_of(mechanism, spec)
        distinct: dict[Hashable, Dichotomy] = {}
        sizes, met, read = dict[int, int](), set[tuple[int, int]](), set[int]()
        fault: DpspecError | None = None
        work = compared = 0
        for left, right in self.pairs:
            if work > MOST_WORK:
                break
            compared += 1
            try:
                mine, theirs = table.law(left), table.law(right)
            except (NotEnumerableError, NoFormulaError) as problem:
                if self.complete:
                    raise
                fault, work = problem, work + WORK_OF_A_LAW
                continue
            for law in (mine, theirs):
                if id(law) not in sizes:
                    sizes[id(law)] = size_with_entries(law)
                    work += work_of_law(law)
            work += sum(table.excess(dataset) for dataset in (left, right) if id(dataset) not in read)
            read |= {id(left), id(right)}
            if (id(mine), id(theirs)) in met:
                continue
            met.add((id(mine), id(theirs)))
            pair = table.pair(mine, theirs)
            signature = key_of(pair.signature())
            work += sizes[id(mine)] + sizes[id(theirs)] + (0 if signature in distinct else FUNCTIONALS * pair.work)
            distinct.setdefault(signature, pair)
        if not distinct and fault is not None:
            raise fault
        is_whole = compared == len(self.pairs)
        return ComparedPairs(
            pairs=tuple(distinct.values()),
            complete=self.complete and is_whole,
            scope=self.scope if is_whole else f"{self.scope}; {compared:,} compared, more would exceed the limit of work",
        )

    def only(self, keep: KeptPair) -> CandidatePairs:
        """The pairs for which a condition holds; the same object when it holds for all."""
        kept = tuple(pair for pair in self.pairs if keep(*pair))
        if len(kept) == len(self.pairs):
            return self
        return attrs.evolve(self, pairs=kept, scope=f"{self.scope}, of these {len(kept):,} that are candidates")


@attrs.frozen(kw_only=True)
class ComparedPairs:
    """Pairs of laws that an attacker distinguishes.

    Args:
        pairs: the pairs of laws, in both orders, without those that are simulated by another one.
        complete: whether these are all of the specification; otherwise a number that is found among them is a bound.
        scope: which they are, in words.
        above: pairs of laws of which one has at least the divergence of any pair of the specification; () where none are known.
        distance: the distance of the datasets, where it is not the requested one.
        exchanged: the attributes that two records exchange, where the datasets differ by one exchange.
    """

    pairs: tuple[Dichotomy, ...]
    complete: bool
    scope: str
    above: tuple[Dichotomy, ...] = ()
    distance: Number | None = None
    exchanged: tuple[str, ...] = ()

    @property
    def sense(self) -> Sense:
        """The relation of the largest number of these pairs to that of all pairs."""
        if not self.pairs:
            return Sense.AT_MOST
        return Sense.EQUALS if self.complete or self.above else Sense.AT_LEAST

    def largest(self, functional: Callable[[Dichotomy], Bracket]) -> Bracket:
        """The largest value of a functional that data processing never raises; a bracket of it where pairs above are known."""
        found = largest(functional(pair) for pair in self.pairs) if self.pairs else None
        if not self.above:
            return found or largest(())
        most = largest(functional(pair) for pair in self.above)
        return most if found is None else Bracket(lower=min(found.lower, most.upper), upper=most.upper)


MOST_WORK = 3 << 20
"""Work after which an attacker compares no further pair of laws, in units of one atom of a finite pair (`Dichotomy.work`): about
three seconds on the machine where they were measured."""
LAW_FACTOR, FUNCTIONALS = 4, 16
"""So many units cost one outcome of a law that is computed; so many functionals an attacker evaluates, about."""


class SharedLaws:
    """The laws of a mechanism on the datasets of a specification, and the pairs of them, each computed once."""

    def __init__(self, mechanism: Mechanism, space: DatasetSpace) -> None:
        self._mechanism, self._space = mechanism, space
        self._known: dict[Dataset, Law | DpspecError] = {}
        self._found: dict[int, tuple[Dataset, Law | DpspecError]] = {}
        self._equal: dict[Law, Law] = {}
        self._pairs: dict[tuple[int, int], Dichotomy] = {}
        self._excess: dict[Dataset, int] = {}

    def law(self, dataset: Dataset) -> Law:
        """The law on a dataset, the same object for equal laws.

        Raises:
            NotEnumerableError, NoFormulaError: it is not known.
        """
        if id(dataset) not in self._found:  # a long dataset is hashed once
            if dataset not in self._known:
                self._known[dataset] = self._computed(dataset)
            self._found[id(dataset)] = dataset, self._known[dataset]
        found = self._found[id(dataset)][1]
        if isinstance(found, DpspecError):
            raise found.with_traceback(None)
        return found

    def _computed(self, dataset: Dataset) -> Law | DpspecError:
        before = spent()
        try:
            law = computed_law(self._mechanism, dataset, self._space)
        except (NotEnumerableError, NoFormulaError) as fault:
            return fault.with_traceback(None)
        self._excess[dataset] = max(0, spent() - before - work_of_law(law))
        return self._equal.setdefault(law, law) if is_hashable(law) else law

    def excess(self, dataset: Dataset) -> int:
        """The work of computing the law on a dataset beyond `work_of_law`, such as of an integer program for each dataset."""
        return self._excess.get(dataset, 0)

    def pair(self, mine: Law, theirs: Law) -> Dichotomy:
        """The pair of two laws of this table.

        Raises:
            NoFormulaError: they cannot be compared.
        """
        key = id(mine), id(theirs)
        if key not in self._pairs:
            self._pairs[key] = mine.against(theirs)
        return self._pairs[key]


@memoize(maxsize=2)
def _kept_laws(mechanism: Mechanism, space: DatasetSpace) -> SharedLaws:
    return SharedLaws(mechanism, space)


def laws_of(mechanism: Mechanism, spec: PrivacySpec) -> SharedLaws:
    """The laws of a mechanism on the space of a specification, shared by the attackers that are evaluated one after the other."""
    return _kept_laws(mechanism, spec.space)


def pairs_within(spec: PrivacySpec, distance: NumberLike = 1, datasets: Iterable[Dataset] | None = None) -> CandidatePairs:
    """The ordered pairs of different datasets whose distance is at most a bound; of a large space, some of them.

    Args:
        spec: the specification.
        distance: the largest distance, in the unit of the input divergence.
        datasets: look only at these.

    Raises:
        NotReachedError: when there is none among the datasets that are searched.
        NotEnumerableError: when no dataset of the space can be listed.
    """
    reach = number(distance, "distance")
    if datasets is None:
        measured, found = measured_datasets(spec), _pairs_within(spec, reach)
    else:
        measured = MeasuredDatasets.of(spec, (tuple(dict.fromkeys(spec.space.dataset(x) for x in datasets)),))
        found = measured.within(reach, spec)
    if not measured.groups:
        rule = "has too many datasets to be listed, so a mechanism's own law is evaluated for named datasets only"
        advice = f"write --set 'datasets=[X, Y]', each as `dpspec explain {spec.space.name}` says"
        raise NotEnumerableError(f"space {spec.space.name}", rule, advice)
    looked = len(measured.datasets)
    if not found:
        rule = f"holds no two datasets of one universe within distance {reach} among the {looked:,} that were checked"
        raise NotReachedError("space", rule, "name others (--set 'datasets=[X, Y]'), or ask about a larger distance")
    complete = datasets is None and is_small(spec)
    scope = "all" if complete else "only"
    return CandidatePairs(
        pairs=found, complete=complete, scope=f"{scope} {count(len(found), 'ordered pair')} of {looked:,} datasets"
    )


@memoize(maxsize=4)
def _pairs_within(spec: PrivacySpec, reach: Number) -> tuple[Pair, ...]:
    """The pairs of the datasets that are tried where none are named."""
    return measured_datasets(spec).within(reach, spec)


@attrs.frozen
class MeasuredDatasets:
    """Groups of datasets, and the distances of any two of one group.

    Args:
        datasets: all of them, each once.
        groups: which of them are compared with each other, by their place.
        distances: for two places, the smaller one first, the distance of the two datasets: the smaller one of both orders, since
            an attacker compares the two laws both ways.
    """

    datasets: tuple[Dataset, ...]
    groups: tuple[tuple[int, ...], ...]
    distances: Mapping[tuple[int, int], Number]

    @classmethod
    def of(cls, spec: PrivacySpec, groups: Iterable[Sequence[Dataset]]) -> MeasuredDatasets:
        places: dict[Dataset, int] = {}
        numbered = tuple(tuple(places.setdefault(dataset, len(places)) for dataset in group) for group in groups)
        datasets, both_ways = tuple(places), not spec.input_divergence.is_symmetric
        distances: dict[tuple[int, int], Number] = {}
        for group in numbered:
            for one, other in itertools.combinations(sorted(group), 2):
                if (one, other) not in distances:
                    left, right = datasets[one], datasets[other]
                    forth = spec.distance(left, right)
                    distances[one, other] = min(forth, spec.distance(right, left)) if both_ways else forth
        return cls(datasets, numbered, distances)

    def near(self, reach: Number) -> Iterator[Pair]:
        """The unordered pairs of a group whose distance in one order is at most a bound."""
        return (
            (self.datasets[one], self.datasets[other]) for (one, other), distance in self.distances.items() if distance <= reach
        )

    def within(self, reach: Number, spec: PrivacySpec) -> tuple[Pair, ...]:
        """The ordered pairs in one universe whose distance in one order is at most a bound."""
        shared = _sharing(spec)
        near = {
            places: shared(self.datasets[places[0]], self.datasets[places[1]])
            for places, distance in self.distances.items()
            if distance <= reach
        }
        ordered = dict.fromkeys(
            places for group in self.groups for places in itertools.permutations(group, 2) if near.get((min(places), max(places)))
        )
        return tuple((self.datasets[one], self.datasets[other]) for one, other in ordered)


@memoize(maxsize=4)
def measured_datasets(spec: PrivacySpec) -> MeasuredDatasets:
    """The datasets that attackers compare where none are named: all of a space that can be listed, else those that are tried."""
    return MeasuredDatasets.of(spec, (tuple(listed_datasets(spec.space)),) if is_small(spec) else trial_groups(spec))


def _sharing(spec: PrivacySpec) -> Callable[[Dataset, Dataset], object]:
    """Whether some universe holds both datasets, the labels of each looked up once; as the multiverse answers it by itself."""
    if type(spec.multiverse).share_universe not in (Multiverse.share_universe, LevelSets.share_universe):
        return lambda left, right: spec.multiverse.share_universe(left, right, spec.space)
    return Allowed(spec).share


# --- what one outcome does to a belief ------------------------------------------------------------


PriorWeights = Mapping[Dataset, Fraction]
SecretEvent = Callable[[Dataset], bool]


def relative_risk(likelihood_ratio: Fraction, theta: Fraction) -> Fraction:
    """C_theta = LR / (LR theta + 1 - theta): the factor by which the belief in the secret grows.

    At theta = 0 it is the limit LR, its extreme value.

    >>> relative_risk(Fraction(3), Fraction(1, 4))
    Fraction(2, 1)
    """
    if not 0 <= theta <= 1 or likelihood_ratio < 0:
        raise ParameterError("theta", "must lie in [0, 1], and the likelihood ratio must not be negative", value=theta)
    return likelihood_ratio / (likelihood_ratio * theta + 1 - theta)


def likelihood(
    mechanism: Mechanism, space: DatasetSpace, prior: PriorWeights, secret: SecretEvent, outcome: Hashable
) -> Fraction:
    """Pr(T = outcome | secret), averaged over the prior given the secret.

    Raises:
        ParameterError: when the prior gives the secret no mass, or the law is not finite.
    """
    held = {x: mass for x, mass in prior.items() if secret(x) and mass}
    if not held:
        raise ParameterError("prior", "gives the secret no mass, so nothing can be conditioned on it")
    return sum((mass * _probability(mechanism, space, x, outcome) for x, mass in held.items()), Fraction(0)) / sum(held.values())


def likelihood_ratio(
    mechanism: Mechanism, space: DatasetSpace, prior: PriorWeights, secret: SecretEvent, outcome: Hashable
) -> Fraction:
    """LR(t) of a secret against its contrary; raises ParameterError where the contrary rules the outcome out."""
    against = likelihood(mechanism, space, prior, lambda x: not secret(x), outcome)
    if not against:
        raise ParameterError("outcome", "cannot happen when the secret is false: the ratio is infinite", value=outcome)
    return likelihood(mechanism, space, prior, secret, outcome) / against


def _probability(mechanism: Mechanism, space: DatasetSpace, dataset: Dataset, outcome: Hashable) -> Fraction:
    law = computed_law(mechanism, dataset, space)
    if not isinstance(law, FiniteLaw):
        raise ParameterError("law", "must be finite for an exact posterior", value=type(law).__name__)
    return law.probability(outcome)


LONG_OUTCOME = 64
"""An outcome of so many entries costs about twice as much as a number: all its entries are read when it is looked up."""


def size_with_entries(law: Law) -> int:
    """`size_of`, with long outcomes counted by their entries: reports can be lists of thousands of bits."""
    first = next((outcome for factor in law.factors() for outcome in getattr(factor, "support", ())[:1]), None)
    return size_of(law) * (1 + _entries(first) // LONG_OUTCOME)


def _entries(outcome: object) -> int:
    """About how many entries an outcome has, those of its first entry taken for all."""
    return len(outcome) * _entries(outcome[0]) if isinstance(outcome, tuple) and outcome else 1


def work_of_law(law: Law) -> int:
    """The work of computing a law, in the units of `MOST_WORK`."""
    return LAW_FACTOR * (WORK_OF_A_LAW + size_with_entries(law))
