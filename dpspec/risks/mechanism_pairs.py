"""Pairs of laws of a mechanism that attackers compare, on spaces that are too large to list.

Three sources are tried, the most exact first: all datasets of a small space; a theorem about the mechanism
(`Mechanism.nearest_laws`); the two datasets for which a proof of its claim computed the largest divergence, whose laws follow
from the structure of the mechanism. Where none applies, the smallest datasets of the space are tried.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar

import attrs

from dpspec.base.errors import AttackerMisfitError, DpspecError, NotReachedError
from dpspec.base.exact import INFINITY, Number, NumberLike, number
from dpspec.blocks.budget import UniformBudget
from dpspec.blocks.space import Dataset, Pair
from dpspec.grammar.mechanism import Mechanism, stated_structure
from dpspec.grammar.sizes import NoStructure
from dpspec.grammar.spec import PrivacySpec
from dpspec.grammar.structure import Structure
from dpspec.grammar.views import cells_of
from dpspec.laws.dichotomy import Dichotomy
from dpspec.laws.products import product_of
from dpspec.risks.candidates import Candidates, ComparedPairs, KeptPair, asked_for, candidates_within, is_small, pairs_within

BEFORE = "the noisy answers alone"
FARTHEST = "the datasets that a proof finds farthest apart"


@attrs.frozen(kw_only=True)
class Evidence:
    """The known facts about a specification when its risk is computed.

    Args:
        pairs: pairs of datasets with a large divergence, from a proof of the claim.
        dataset: the dataset whose universe is meant; None for all universes.
        scope: a description of the pairs, in words.
        complete: whether no candidates in question have a larger divergence.
        is_inside: whether pairs of datasets are compared only in a universe that holds the dataset, since budgets differ.
    """

    pairs: tuple[Pair, ...] = ()
    dataset: Dataset | None = None
    scope: str = FARTHEST
    complete: bool = False
    is_inside: bool = False


_EVIDENCE: ContextVar[Evidence] = ContextVar("evidence", default=Evidence())  # noqa: B039 - it is frozen


@contextmanager
def evidence(
    pairs: Iterable[Pair] = (), dataset: Dataset | None = None, scope: str = FARTHEST, *, complete: bool = False,
    is_inside: bool = False,
) -> Iterator[None]:  # fmt: skip
    """Provide evidence to attackers inside a `with` block; see `Evidence`."""
    found = Evidence(pairs=tuple(pairs), dataset=dataset, scope=scope, complete=complete, is_inside=is_inside)
    token = _EVIDENCE.set(found)
    try:
        yield
    finally:
        _EVIDENCE.reset(token)


def own_pairs(
    mechanism: Mechanism,
    spec: PrivacySpec,
    distance: NumberLike = 1,
    datasets: Sequence[object] | None = None,
    keep: KeptPair | None = None,
) -> ComparedPairs:
    """The pairs of laws of a mechanism on datasets of one universe whose distance is at most a bound.

    Args:
        mechanism, spec: the mechanism and the specification.
        distance: the largest distance, in the unit of the input divergence.
        datasets: only these.
        keep: only datasets (x, x') for which this holds.

    Raises:
        NotReachedError, NotEnumerableError, NoFormulaError: as `pairs_within` and `CandidatePairs.compare`.
    """
    reach, keep = number(distance, "distance"), asked_for(keep)
    inside = _inside(spec)
    if datasets is None and not is_small(spec):
        for found in (_by_theorem(mechanism, spec, reach, keep), _by_proof(mechanism, spec, reach, keep, inside)):
            if found is not None:
                return found
    looked = pairs_within(spec, reach, datasets)
    if inside is not None:
        kept = tuple(pair for pair in looked.pairs if inside(*pair))
        if not kept:
            rule = f"holds no two datasets of the universe that is meant within distance {reach}, among those that were checked"
            raise NotReachedError("space", rule, "ask about a larger distance, or about another universe")
        scope = f"{looked.scope}, of these {len(kept):,} in the universe that is meant"
        looked = attrs.evolve(looked, pairs=kept, scope=scope)
    return (looked if keep is None else looked.only(keep)).compare(mechanism, spec)


def _inside(spec: PrivacySpec) -> KeptPair | None:
    """Whether two datasets are in a universe with the one that is meant; None where they may be in any."""
    known = _EVIDENCE.get()
    if known.dataset is None or not known.is_inside:
        return None
    meant = frozenset(spec.multiverse.labels(known.dataset, spec.space))
    held: dict[Dataset, frozenset[Hashable]] = {}

    def labels(dataset: Dataset) -> frozenset[Hashable]:
        if dataset not in held:
            held[dataset] = meant.intersection(spec.multiverse.labels(dataset, spec.space))
        return held[dataset]

    return lambda left, right: not labels(left).isdisjoint(labels(right))


def nearest_pairs(mechanism: Mechanism, spec: PrivacySpec) -> ComparedPairs | None:
    """The pairs of laws on the nearest datasets of a universe, by a theorem about the mechanism; None where there is none."""
    if "nearest_laws" not in vars(type(mechanism)):  # a subclass may have other laws than the theorem is about
        return None
    found = mechanism.nearest_laws(spec, _EVIDENCE.get().dataset)
    if found is None or not (found.pairs or found.above):
        return None
    scope = f"{found.scope} ({found.citation})"
    return ComparedPairs(
        pairs=found.pairs, complete=False, scope=scope, above=found.above, distance=found.distance, exchanged=found.exchanged
    )  # fmt: skip


def published_within(spec: PrivacySpec, distance: NumberLike, keep: KeptPair | None = None) -> Candidates:
    """`candidates_within`; where budgets differ by universe, what is published of the candidates, without a bound of others."""
    try:
        return candidates_within(spec, distance, keep)
    except AttackerMisfitError:
        if spec.budget.uniform() is not None:
            raise
        nothing = UniformBudget(parameter=spec.output_divergence.budget_parameters[0], value=INFINITY)
        return candidates_within(spec.replace(budget=nothing), distance, keep)


def _by_theorem(mechanism: Mechanism, spec: PrivacySpec, reach: Number, keep: KeptPair | None) -> ComparedPairs | None:
    """The pairs of the nearest datasets: at larger distances they give lower bounds."""
    found = None if keep is not None else nearest_pairs(mechanism, spec)
    if found is None or found.distance is None or reach < found.distance:
        return None
    if reach == found.distance:
        return found
    return attrs.evolve(found, above=(), distance=reach) if found.pairs else None


def _by_proof(
    mechanism: Mechanism, spec: PrivacySpec, reach: Number, keep: KeptPair | None, inside: KeptPair | None
) -> ComparedPairs | None:  # fmt: skip
    """The pairs of a proof; where their distance is too large, pairs of one of the datasets and the empty one."""
    structure = structure_of(mechanism, spec)
    if structure is None or structure.is_sampled:
        return None
    known = _EVIDENCE.get()
    tried = list(known.pairs)
    with suppress(DpspecError):
        empty = spec.space.dataset(())
        tried += [(dataset, empty) for pair in tried[:] for dataset in pair]
    for left, right in tried:
        far = min(spec.distance(left, right), spec.distance(right, left))
        if not 0 < far <= reach or not spec.multiverse.share_universe(left, right, spec.space):
            continue
        if keep is not None and not (keep(left, right) or keep(right, left)):
            continue
        if inside is not None and not inside(left, right):
            continue
        pair = pair_of_views(structure, spec, left, right)
        if pair is not None:
            published = structure.publishes_views
            scope = known.scope if published else f"{known.scope}, {BEFORE}"
            complete = known.complete and published and (left, right) in known.pairs
            return ComparedPairs(pairs=(pair, pair.reverse()), complete=complete, scope=scope)
    return None


def structure_of(mechanism: Mechanism, spec: PrivacySpec) -> Structure | None:
    """The structure of a mechanism, as its own class states it: a derived class may have changed its law."""
    try:
        return stated_structure(mechanism, spec.space)
    except NoStructure:
        return None


def pair_of_views(structure: Structure, spec: PrivacySpec, left: Dataset, right: Dataset) -> Dichotomy | None:
    """The laws of all answers of a structure on two datasets; None where some answer is of another kind on the two.

    What is computed from the answers and from what both datasets have in common is a post-processing of them.
    """
    cases = []
    for view in structure.views:
        before, after = (cells_of(view, side, spec.space) for side in (left, right))
        case = view.between(before, after, spec.space)
        if case is None:
            return None
        cases.append(case)
    return product_of(one.against(other) for case in cases for one, other in case)
