"""Every two files of specs/, in both directions: an answer, and nothing in it that is merely believed.

Derivations go to the independent checker. Both halves of a separation are run once more by the engine, and its two laws are
held against each other here.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator

import pytest
from dpspec_checker.check import check_derivation

from dpspec.api import compare, read
from dpspec.blocks.space import Dataset
from dpspec.comparison import families as outside
from dpspec.comparison.compare import Answer, Direction
from dpspec.comparison.one_schema import restated
from dpspec.comparison.separations import Separation
from dpspec.extension import installed
from dpspec.grammar.spec import PrivacySpec
from dpspec.reason.small_spaces import allowance
from dpspec.specfile import SpecDocument, spec_files
from dpspec.verifier.exhaustive import verify
from dpspec.verifier.verdict import Outcome

REGISTRY = installed().registry


def documents(folder: str) -> list[SpecDocument]:
    return [read(path, REGISTRY) for path in spec_files(folder)]


Compared = tuple[tuple[str, str], PrivacySpec, PrivacySpec, Direction]


def directions(pairs: Iterable[tuple[SpecDocument, SpecDocument]]) -> Iterator[Compared]:
    """Names of A and B, both on one schema as they are compared, and what is said about A => B: each pair in both directions."""
    for left, right in pairs:
        found = compare(left.spec, right.spec, REGISTRY)
        first, second, _ = restated(left.spec, right.spec)
        yield (left.id, right.id), first, second, found.forward
        yield (right.id, left.id), second, first, found.backward


def every_pair(folder: str) -> Iterator[tuple[SpecDocument, SpecDocument]]:
    return itertools.combinations(documents(folder), 2)


def confirm(premise: PrivacySpec, conclusion: PrivacySpec, direction: Direction) -> None:
    """Check an answer again, by what did not find it."""
    if direction.answer is Answer.IMPLIES:
        assert direction.derivation is not None
        assert (direction.derivation.premise, direction.derivation.conclusion) == (premise, conclusion)
        checked = check_derivation(direction.derivation.data(REGISTRY))
        assert checked.accepted, checked
    elif direction.answer is Answer.SEPARATED:
        assert direction.separation is not None
        separates(premise, conclusion, direction.separation)
    else:
        assert direction.tried
        assert any(step.holds is not True and step.reason for step in direction.steps)


def separates(premise: PrivacySpec, conclusion: PrivacySpec, found: Separation) -> None:
    first = verify(found.run, premise, datasets=found.instance)
    assert first.outcome is Outcome.VERIFIED
    assert len(first.vacuous) < len(first.universes), "the premise compares nothing there"
    pair = found.left, found.right
    assert verify(found.run, conclusion, datasets=pair).outcome is Outcome.REFUTED
    assert any(too_far(found, conclusion, ordered) for ordered in (pair, pair[::-1]))
    lacked = [x for x in pair if not outside.has(premise.space, conclusion.space, x)]
    assert {*pair} - {*lacked} <= {*found.instance}
    assert (found.kind == "space") == bool(lacked)


def too_far(found: Separation, conclusion: PrivacySpec, pair: tuple[Dataset, Dataset]) -> bool:
    laws = [found.run.law(conclusion.space.dataset(x), conclusion.space) for x in pair]
    return conclusion.output_divergence.between(*laws).lower > allowance(conclusion, pair).upper


UNDECIDED = {
    ("swapping-1940-massachusetts", "swapping-by-risk"),
    ("swapping-1940-massachusetts", "swapping-by-risk-cells"),
    ("swapping-1940-massachusetts", "swapping-pairs-three"),
    ("swapping-1940-massachusetts", "swapping-pre-noise"),
    ("swapping-derangement", "swapping-by-risk"),
    ("swapping-derangement", "swapping-by-risk-cells"),
    ("swapping-permutation", "swapping-by-risk"),
    ("swapping-permutation", "swapping-by-risk-cells"),
}
"""Swaps with other invariants, on spaces without a limit: no rule is known, and no mechanism that was tried separates them."""


@pytest.mark.slow
@pytest.mark.reference("B-T22", "B-T10")
def test_every_pair_of_specifications_is_decided_or_says_what_was_tried() -> None:
    counted, undecided = Counter[Answer](), set[tuple[str, str]]()
    for pair, premise, conclusion, direction in directions(every_pair("specs")):
        confirm(premise, conclusion, direction)
        counted[direction.answer] += 1
        if direction.answer is Answer.UNKNOWN:
            undecided.add(pair)
    assert counted == {Answer.IMPLIES: 18, Answer.SEPARATED: 624, Answer.UNKNOWN: 8}
    assert undecided == UNDECIDED


@pytest.mark.slow
@pytest.mark.reference("B-T22")
def test_every_pair_of_flavours_is_decided_or_says_what_was_tried() -> None:
    counted = Counter[Answer]()
    for _, premise, conclusion, direction in directions(every_pair("specs/flavours")):
        confirm(premise, conclusion, direction)
        counted[direction.answer] += 1
    assert counted == {Answer.IMPLIES: 62, Answer.SEPARATED: 2687, Answer.UNKNOWN: 7}


@pytest.mark.slow
def test_every_specification_against_every_flavour() -> None:
    for pair, premise, conclusion, direction in directions(itertools.product(documents("specs"), documents("specs/flavours"))):
        assert direction.answer is not Answer.UNKNOWN, (pair, direction.tried)
        confirm(premise, conclusion, direction)
