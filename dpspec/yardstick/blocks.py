"""The blocks in which two specifications can be held against each other: one space, one multiverse, and candidates for the rest.

What both imply speaks about datasets of both spaces, and about pairs of datasets that share a universe of both: so the space is a
part of both, and the universes are intersections. Invariants unite there, and those that others determine are left out.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping

import attrs

from dpspec.blocks.determination import miniatures
from dpspec.blocks.input_divergence import InputDivergence
from dpspec.blocks.multiverse import LevelSets, Multiverse, Trivial
from dpspec.blocks.output_divergence import OutputDivergence
from dpspec.blocks.space import Dataset, DatasetSpace
from dpspec.blocks.within_distance import WithinDistance
from dpspec.conversion import Conversion
from dpspec.errors import NoYardstickError
from dpspec.extension import Registry
from dpspec.params import build, parameters
from dpspec.rules.universes import determined
from dpspec.spec import PrivacySpec

LOOKED_AT, PAIRS = 600, 5000
"""So many datasets of a small space are looked at to find two of one universe that are close together, and so many pairs."""


@attrs.frozen(kw_only=True)
class Blocks:
    """Four blocks of a yardstick; its budget is what has to be found.

    Args:
        space, multiverse: common to both specifications.
        inputs: input divergences to try, the first first.
        outputs: output divergences to try.
    """

    space: DatasetSpace
    multiverse: Multiverse
    inputs: tuple[InputDivergence, ...]
    outputs: tuple[OutputDivergence, ...]


def found_blocks(
    left: PrivacySpec,
    right: PrivacySpec,
    *,
    registry: Registry,
    space: DatasetSpace | None = None,
    at: Mapping[str, str] | None = None,
    within: int | None = None,
) -> Blocks:
    """The candidates that are tried when nobody chooses them.

    Args:
        left, right: the two specifications.
        registry: where conversions and output divergences are looked up.
        space: a part of both spaces; without it one of the two.
        at: parameters of further output divergences, such as {"delta": "1e-10"}: the first registered one is tried that
            conversions reach and that takes these.
        within: the largest distance of the neighbours that conversions need; without it the least at which small datasets of
            one universe differ.

    Raises:
        NoYardstickError: there is no common space, or no common refinement.
        ParameterError: a parameter outside its domain.
    """
    shared = common_space(left, right, space)
    multiverse = common_multiverse(left, right, shared)
    plain = dict.fromkeys((left.input_divergence, right.input_divergence))
    inputs = [*plain]
    for divergence in plain:
        most = within or _least_seen(divergence, multiverse, shared)
        if most is not None and not divergence.is_neighbour_form:
            inputs.append(WithinDistance(of=divergence, most=most))
    outputs = dict.fromkeys((left.output_divergence, right.output_divergence))
    outputs |= dict.fromkeys(_reached(outputs, registry, at or {}))
    return Blocks(space=shared, multiverse=multiverse, inputs=tuple(inputs), outputs=tuple(outputs))


def common_space(left: PrivacySpec, right: PrivacySpec, wanted: DatasetSpace | None = None) -> DatasetSpace:
    """A space that both spaces include: the one that is asked for, else one of the two."""
    spaces = (left.space, right.space)
    for space in spaces if wanted is None else (wanted,):
        if all(other == space or other.includes(space) is not None for other in spaces):
            return space
    raise NoYardstickError(
        "space",
        "neither dataset space is known to be a part of the other, so that nothing speaks about the datasets of both",
        "state both specifications on one space (the attributes of one may be missing in the other)",
    )


def common_multiverse(left: PrivacySpec, right: PrivacySpec, space: DatasetSpace) -> Multiverse:
    """The common refinement: universes intersect, so invariants unite (B-D7), but for those that the others determine."""
    if left.multiverse == right.multiverse:
        return left.multiverse
    held = [spec.multiverse.invariants for spec in (left, right)]
    if held[0] is None or held[1] is None:
        if () in held:
            return left.multiverse if held[0] is None else right.multiverse
        raise NoYardstickError(
            "multiverse",
            "universes that no invariants induce are intersected with the whole space only",
            "state them by invariants",
            value=str((left if held[0] is None else right).multiverse),
        )
    kept = list(dict.fromkeys((*held[0], *held[1])))
    for invariant in tuple(kept):
        others = tuple(other for other in kept if other != invariant)
        if determined(others, (invariant,), space).answer is True:
            kept = list(others)
    for spec in (left, right):
        if tuple(kept) == spec.multiverse.invariants:
            return spec.multiverse
    return LevelSets(invariants=tuple(kept)) if kept else Trivial()


def _least_seen(divergence: InputDivergence, multiverse: Multiverse, space: DatasetSpace) -> int | None:
    """The least distance, rounded up to a whole number, of different datasets of one universe, as small datasets show it."""
    size = space.cardinality()
    listed = size is not None and size <= LOOKED_AT
    universes: dict[Hashable, set[Dataset]] = {}
    for small in [space] if listed else miniatures(multiverse.invariants or (), space, 2):
        for dataset in itertools.islice(small.datasets(), LOOKED_AT):
            for label in multiverse.labels(dataset, space):
                universes.setdefault(label, set()).add(dataset)
    pairs = (pair for held in universes.values() for pair in itertools.combinations(sorted(held, key=space.order), 2))
    distances = [divergence.distance(left, right, space) for left, right in itertools.islice(pairs, PAIRS)]
    found = [distance for distance in distances if distance > 0 and not distance.is_infinite]
    least = min(found, default=None)
    return None if least is None else next(n for n in itertools.count(1) if least <= n)


def _reached(given: Iterable[OutputDivergence], registry: Registry, at: Mapping[str, str]) -> Iterator[OutputDivergence]:
    """The first registered divergence that takes these parameters, among those to which conversions lead from all given ones."""
    if not at:
        return
    arrows = [entry.cls for entry in registry if entry.kind == "rules" and issubclass(entry.cls, Conversion)]
    ends: list[Collection[str]] = [{one.name, *(arrow.target for arrow in arrows if arrow.source == one.name)} for one in given]
    for entry in registry:
        if entry.kind != "output_divergences" or not all(entry.name in names for names in ends):
            continue
        named = {p.name for p in parameters(entry.cls)}
        if {p.name for p in parameters(entry.cls) if p.required} <= set(at) <= named:
            yield build(entry.cls, at, entry.name)
            return
