"""Symmetries of a mechanism: pairs of datasets that need not be compared, since a renaming carries them into another pair.

A `Symmetry` is a claim like any other: on the universe at hand it is checked that the law of every renamed dataset is the
renamed law, and that every pair goes to a pair at the same distance. A declaration that fails is the mechanism's fault.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dpspec.base.errors import DpspecError, PluginContractError
from dpspec.blocks.space import Dataset
from dpspec.grammar.mechanism import Symmetry
from dpspec.laws.law import FiniteLaw, Law
from dpspec.verifier.law_matrix import IndexPair

Permutation = tuple[int, ...]
"""The image of each index of the universe."""


def permutations(
    symmetries: Sequence[Symmetry], datasets: Sequence[Dataset], law: Callable[[Dataset], Law], subject: str
) -> tuple[Permutation, ...]:
    """The symmetries that map the universe to itself, as permutations of its places, each checked on every law.

    Raises:
        PluginContractError: when a renamed dataset does not have the renamed law.
    """
    places = {dataset: place for place, dataset in enumerate(datasets)}
    found: dict[Permutation, None] = {}
    for symmetry in symmetries:
        images = [_image(symmetry, dataset) for dataset in datasets]
        turned = tuple(places[image] for image in images if image in places)
        if len(set(turned)) < len(datasets) or turned in found or turned == tuple(range(len(datasets))):
            continue
        for dataset, image in zip(datasets, images, strict=True):
            here, there = law(dataset), law(image)
            if isinstance(here, FiniteLaw) and here.push_forward(symmetry.outcome) != there:
                rule = f"declares the symmetry {symmetry.label}, but it does not turn the law of {dataset} into that of {image}"
                raise PluginContractError(subject, rule, "report it to the plugin's author")
        found[turned] = None
    return tuple(found)


def _image(symmetry: Symmetry, dataset: Dataset) -> Dataset:
    """The renamed dataset; None when it lies outside the space."""
    try:
        return symmetry.dataset(dataset)
    except DpspecError:
        return None


def orbits(pairs: Sequence[IndexPair], turns: Sequence[Permutation], *, ordered: bool, subject: str) -> list[list[int]]:
    """The pairs of one distance in groups that the permutations carry into one another, each led by its first pair.

    >>> orbits([(0, 1), (0, 2), (1, 2)], [(1, 0, 2)], ordered=False, subject="toy")
    [[0], [1, 2]]

    Raises:
        PluginContractError: when a pair goes to a pair at another distance.
    """
    places = {pair: place for place, pair in enumerate(pairs)}
    groups: list[list[int]] = []
    seen: set[int] = set()
    for start in range(len(pairs)):
        if start in seen:
            continue
        seen.add(start)
        group, pending = [], [start]
        while pending:
            place = pending.pop()
            group.append(place)
            for turn in turns:
                left, right = turn[pairs[place][0]], turn[pairs[place][1]]
                image = (left, right) if ordered or left < right else (right, left)
                if image not in places:
                    raise PluginContractError(subject, "declares a symmetry that changes distances", "report it to its author")
                if places[image] not in seen:
                    seen.add(places[image])
                    pending.append(places[image])
        groups.append(sorted(group))
    return groups
