"""Policies and listed pairs against shortest paths that are searched here."""

import itertools
from typing import Any

import pytest
from dpspec_divergences import (
    HammingOrdered,
    Neighbour,
    Path,
)
from dpspec_flavours.networks.blowfish import Blowfish, ListedPairs, Policy, PolicyNeighbours
from hypothesis import given, strategies as st

from dpspec.base.errors import IncompatibleBlocksError, NotEnumerableError, NotInSpaceError, ParameterError
from dpspec.base.exact import INFINITY, Number, ln
from dpspec.blocks.invariant import Marginal
from dpspec.blocks.multiverse import LevelSets
from dpspec.blocks.records import OrderedRecords, UnorderedRecords
from dpspec.blocks.space import Attribute
from dpspec.blocks.vectors import BitVectors
from dpspec.verifier.entry import verify_claim
from dpspec.verifier.verdict import Outcome

PAY = Attribute(name="pay", categories=("low", "mid", "high"))
LINE = (("low", "mid"), ("mid", "high"))


def stated(less: Any, more: Any, space: Any) -> Number | None:
    known = less.bounded_by(more, space) or more.bounds(less, space)
    return None if known is None else known[0]


# --- listed pairs ----------------------------------------------------------------------------------


@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)).filter(lambda p: p[0] != p[1]), min_size=1, max_size=8))
def test_paths_along_listed_pairs_are_those_of_the_graph(pairs: list[tuple[int, int]]) -> None:
    space = BitVectors(length=3)
    listed = list(space.datasets())
    relation = ListedPairs(pairs=tuple((listed[i], listed[j]) for i, j in pairs))
    far = {(i, j): 0 if i == j else 99 for i in range(8) for j in range(8)}
    for i, j in pairs:
        far[i, j] = far[j, i] = 1
    for k, i, j in itertools.product(range(8), repeat=3):  # Floyd and Warshall
        far[i, j] = min(far[i, j], far[i, k] + far[k, j])
    for (i, j), steps in far.items():
        assert Path(relation=relation).distance(listed[i], listed[j], space) == (steps if steps < 99 else INFINITY)
        near = Neighbour(relation=relation).distance(listed[i], listed[j], space)
        assert near == (min(steps, 1) if steps <= 1 else INFINITY)


def test_listed_pairs_are_read_in_the_form_of_the_space_and_checked() -> None:
    sex = Attribute(name="sex", categories=("f", "m"))
    space = UnorderedRecords(attributes=(sex,), most=2)
    relation = ListedPairs(pairs=[[[["m"], ["f"]], [["m"]]]])
    assert relation.related((("m",),), (("f",), ("m",)), space)
    with pytest.raises(ParameterError, match="two datasets"):
        ListedPairs(pairs=[[[0, 1]]])
    with pytest.raises(ParameterError, match="two different"):
        ListedPairs(pairs=[[[["m"], ["f"]], [["f"], ["m"]]]]).check(space)
    with pytest.raises(NotInSpaceError, match="bits"):
        ListedPairs(pairs=[[[0], [2]]]).check(BitVectors(length=1))


# --- policies --------------------------------------------------------------------------------------


@pytest.mark.slow
@given(st.lists(st.sampled_from(list(itertools.combinations(range(5), 2))), min_size=1, max_size=7, unique=True))
def test_policy_distance_is_the_sum_of_shortest_paths_and_bounds_hold(edges: list[tuple[int, int]]) -> None:
    kind = Attribute(name="kind", categories=("v0", "v1", "v2", "v3", "v4"))
    space, policy = (
        OrderedRecords(attributes=(kind,), least=1, most=2),
        Policy(edges=tuple((f"v{i}", f"v{j}") for i, j in edges)),
    )
    far = {(i, j): 0 if i == j else 99 for i in range(5) for j in range(5)}
    for i, j in edges:
        far[i, j] = far[j, i] = 1
    for k, i, j in itertools.product(range(5), repeat=3):
        far[i, j] = min(far[i, j], far[i, k] + far[k, j])
    for left, right in itertools.product(space.datasets(), repeat=2):
        ours, theirs = ([int(record[0][1]) for record in space.records(x, "person")] for x in (left, right))
        total = sum(map(far.__getitem__, zip(ours, theirs, strict=True))) if len(ours) == len(theirs) else 99
        assert policy.distance(left, right, space) == (total if total < 99 else INFINITY)
    diameter = max(far.values())
    assert stated(policy, HammingOrdered(), space) == (diameter if diameter < 99 else None)
    assert stated(HammingOrdered(), policy, space) == 1


@pytest.mark.reference("B-D30", "B-D13")
def test_a_complete_policy_is_the_hamming_distance_and_a_subgraph_is_farther() -> None:
    space = OrderedRecords(attributes=(PAY,), most=2)
    line, complete = Policy(edges=LINE), Policy(edges=(*LINE, ("low", "high")))
    for left, right in itertools.product(space.datasets(), repeat=2):
        assert complete.distance(left, right, space) == HammingOrdered().distance(left, right, space)
    assert stated(complete, line, space) == 1
    assert stated(line, complete, space) == 2
    assert stated(line, Policy(edges=LINE[:1]), space) == 1
    assert stated(Policy(edges=LINE[:1]), line, space) is None


def test_policies_on_records_of_several_attributes_and_bad_ones() -> None:
    sex = Attribute(name="sex", categories=("f", "m"))
    space = OrderedRecords(attributes=(sex, PAY), most=1)
    policy = Policy(edges=[[["f", "low"], ["f", "mid"]], [["f", "mid"], ["m", "mid"]]])
    policy.check(space)
    assert policy.distance((("f", "low"),), (("m", "mid"),), space) == 2
    with pytest.raises(ParameterError, match="two different values"):
        Policy(edges=[["low", "low"]])
    with pytest.raises(IncompatibleBlocksError, match="sex, pay"):
        Policy(edges=[["low", "mid"]]).check(space)
    with pytest.raises(NotInSpaceError, match="pay"):
        Policy(edges=[[["f", "low"], ["f", "lots"]]]).check(space)
    with pytest.raises(IncompatibleBlocksError, match="positions"):
        Policy(edges=LINE).check(UnorderedRecords(attributes=(PAY,), most=1))


@pytest.mark.reference("B-S1")
def test_an_invariant_leaves_the_policy_distance_as_it_is() -> None:
    """With the number of mid public, the histogram passes at ln 2: low and high are two steps apart, and two counts change."""
    flavour = Blowfish()
    histogram, held = flavour.broken_by().mechanism, Marginal(attributes=(), where={"pay": ["mid"]})
    found = verify_claim(histogram, flavour.spec().replace(multiverse=LevelSets(invariants=(held,))))
    assert found.outcome is Outcome.VERIFIED
    assert found.constant.lower == ln(2)


def test_policy_neighbours_without_constraints_are_at_distance_one() -> None:
    space = OrderedRecords(attributes=(PAY,), least=2, most=2)
    relation, policy = PolicyNeighbours(edges=LINE), Policy(edges=LINE)
    for left, right in itertools.permutations(space.datasets(), 2):
        assert relation.related(left, right, space) == (policy.distance(left, right, space) == 1)


def by_the_paper(left: Any, right: Any, level: list[Any], edges: set[frozenset[str]]) -> bool:
    """He et al. 2014, word by word, on sequences of single categories."""

    def moved(x: Any, y: Any) -> set[Any]:
        return {(i, a, b) for i, ((a,), (b,)) in enumerate(zip(x, y, strict=True)) if a != b}

    def secrets(x: Any, y: Any) -> set[Any]:
        return {entry for entry in moved(x, y) if frozenset(entry[1:]) in edges}

    mine = secrets(left, right)
    if not mine or left not in level or right not in level:
        return False
    for third in level:
        theirs = secrets(left, third)
        if theirs and (theirs < mine or (theirs == mine and moved(left, third) < moved(left, right))):
            return False
    return True


@pytest.mark.reference("B-D30")
@pytest.mark.parametrize("held", ["low", "mid", "high"])
def test_policy_neighbours_under_a_public_count(held: str) -> None:
    space, edges = OrderedRecords(attributes=(PAY,), least=3, most=3), {frozenset(edge) for edge in LINE}
    public = Marginal(attributes=(), where={"pay": [held]})
    relation = PolicyNeighbours(edges=LINE, constraints=(public,))
    some = 0
    for left, right in itertools.permutations(space.datasets(), 2):
        level = [x for x in space.datasets() if public.value(x, space) == public.value(left, space)]
        expected = by_the_paper(left, right, level, edges)
        assert relation.related(left, right, space) == expected, (left, right)
        some += expected
    assert some > 0


def test_policy_neighbours_refuse_what_they_cannot_list() -> None:
    with pytest.raises(NotEnumerableError, match="smaller space"):
        PolicyNeighbours(edges=[["0", "1"]]).check(BitVectors(length=12))
    with pytest.raises(NotEnumerableError, match="smaller space"):
        PolicyNeighbours(edges=LINE).check(OrderedRecords(attributes=(PAY,)))
