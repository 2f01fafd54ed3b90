"""Graphs, points, policies and listed pairs against the definitions, by brute force; and their flavours."""

import itertools
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest
from dpspec_divergences import (
    AddRemove,
    Hamming,
    HammingOrdered,
    Mult,
    Neighbour,
    Path,
    SymmetricDifference,
    UserMetric,
    UserRelation,
)
from dpspec_flavours.mechanisms import NearbyDataset
from dpspec_flavours.networks.blowfish import Blowfish, ListedPairs, Policy, PolicyNeighbours
from dpspec_flavours.networks.graphs import EdgeDP, Graphs, NodeDistance, NodeDP, degrees, least_cover
from dpspec_flavours.networks.points import GeoIndistinguishability, Metric, MetricPoints
from dpspec_noise import Geometric
from hypothesis import given, strategies as st

from dpspec import installed
from dpspec.api import compare
from dpspec.base.errors import DpspecError, IncompatibleBlocksError, NotEnumerableError, NotInSpaceError, ParameterError
from dpspec.base.exact import INFINITY, Number, ln, number, sqrt
from dpspec.blocks.budget import UniformBudget
from dpspec.blocks.invariant import LinearMap, Marginal
from dpspec.blocks.multiverse import LevelSets
from dpspec.blocks.records import OrderedRecords, UnorderedRecords
from dpspec.blocks.space import Attribute
from dpspec.blocks.vectors import BitVectors
from dpspec.comparison.compare import Answer
from dpspec.grammar.spec import PrivacySpec
from dpspec.specfile import read, read_text, to_toml
from dpspec.specfile.document import flavour_document
from dpspec.verifier.entry import verify_claim
from dpspec.verifier.verdict import Outcome

BLOCKS = {
    kind: tuple(cls for cls in installed().registry.classes(kind) if cls.__module__.startswith("dpspec_flavours.networks"))
    for kind in ("flavours", "multiverses", "budgets", "mechanisms")
}

REGISTRY = installed().registry
PAY = Attribute(name="pay", categories=("low", "mid", "high"))
LINE = (("low", "mid"), ("mid", "high"))
ALL_ON_THREE = [Graphs(nodes=("a", "b", "c"), absent=absent) for absent in (False, True)] + [
    Graphs(nodes=("a", "b"), absent=True, directed=True),
    Graphs(nodes=("a", "b", "c"), directed=True, most_degree=1),
    Graphs(nodes=("a", "b", "c"), directed=True, most_degree=2),
    Graphs(nodes=("a", "b", "c"), absent=True, most_degree=1),
    Graphs(nodes=("a", "b", "c", "d"), most_degree=2),
]


# --- graphs ----------------------------------------------------------------------------------------


def brute_graphs(space: Graphs) -> set[Any]:
    found = set()
    for size in range(len(space.nodes) + 1):
        for present in itertools.combinations(space.nodes, size):
            if not space.absent and size < len(space.nodes):
                continue
            pairs = [(a, b) for a in present for b in present if a != b and (space.directed or a < b)]
            for chosen in itertools.product((0, 1), repeat=len(pairs)):
                edges = tuple(pair for pair, bit in zip(pairs, chosen, strict=True) if bit)
                ends = [end for edge in edges for end in edge]
                if space.most_degree is None or all(ends.count(node) <= space.most_degree for node in present):
                    found.add((present, edges))
    return found


@pytest.mark.parametrize("space", ALL_ON_THREE, ids=str)
def test_a_space_of_graphs_lists_every_graph_once_in_order(space: Graphs) -> None:
    listed = list(space.datasets())
    assert len(listed) == len(set(listed)) == space.cardinality()
    assert set(listed) == brute_graphs(space)
    assert listed == sorted(listed, key=space.order)
    assert [space.magnitude(graph) for graph in listed] == sorted(map(space.magnitude, listed))


@pytest.mark.parametrize("space", ALL_ON_THREE, ids=str)
def test_coordinates_are_those_of_the_graph(space: Graphs) -> None:
    for graph in space.datasets():
        assert space.dataset(graph) == graph
        assert space.from_vector(space.vector(graph)) == graph
        for unit in space.units if space.absent else ("edge",):
            counted = [
                r
                for cell, n in zip(space.cells(), space.vector(graph), strict=True)
                for r in space.records_of_cell(cell, unit) * n
            ]
            assert sorted(counted) == sorted(space.records(graph, unit))


def test_the_number_of_graphs_of_bounded_degree_is_the_known_one() -> None:
    # Matchings of the complete graph on n nodes: 1, 2, 4, 10, 26, 76 (involutions); on 8 nodes 764.
    assert [Graphs(nodes=tuple("abcdefgh"[:n]), most_degree=1).cardinality() for n in (1, 2, 3, 4, 5, 6, 8)] == [
        1,
        2,
        4,
        10,
        26,
        76,
        764,
    ]
    assert Graphs(nodes=tuple(map(str, range(25))), most_degree=1).cardinality() is None
    assert Graphs(nodes=tuple(map(str, range(40)))).cardinality() == 2**780


def test_a_graph_is_read_in_any_order_and_from_a_file() -> None:
    space = Graphs(nodes=("n10", "n9", "n8"))
    assert space.dataset([["n8", "n9", "n10"], [["n8", "n10"], ["n9", "n10"]]]) == (
        ("n10", "n9", "n8"),
        (("n10", "n9"), ("n10", "n8")),
    )


@pytest.mark.parametrize(
    ("value", "word"),
    [
        ("ab", "pair"),
        ([["a", "b", "c"]], "pair"),
        ([["a", "b", "c"], 7], "pair"),
        ([["a", "b", "x"], []], "no such node"),
        ([["a", "b", "b"], []], "twice"),
        ([["a", "b"], []], "absent = true"),
        ([["a", "b", "c"], [["a", "a"]]], "different nodes"),
        ([["a", "b", "c"], [["a"]]], "different nodes"),
        ([["a", "b", "c"], [["a", "d"]]], "present"),
        ([["a", "b", "c"], [["a", "b"], ["b", "a"]]], "an edge twice"),
        ([["a", "b", "c"], [["a", "b"], ["a", "c"]]], "at most 1 edges"),
    ],
)
def test_what_is_no_graph_is_refused(value: Any, word: str) -> None:
    with pytest.raises(NotInSpaceError, match=word):
        Graphs(nodes=("a", "b", "c"), most_degree=1).dataset(value)


def test_bad_graph_parameters_and_vectors() -> None:
    with pytest.raises(ParameterError, match="twice"):
        Graphs(nodes=("a", "a"))
    with pytest.raises(NotInSpaceError, match="0 or 1"):
        Graphs(nodes=("a", "b")).from_vector((2,))
    with pytest.raises(NotInSpaceError, match="present"):
        Graphs(nodes=("a", "b"), absent=True).from_vector((1, 0, 1))
    with pytest.raises(IncompatibleBlocksError, match="use the space graphs"):
        NodeDistance().check(BitVectors(length=2))


@pytest.mark.reference("B-D12")
def test_symmetric_difference_of_edges_is_the_edge_distance_and_of_elements_counts_nodes_too() -> None:
    space = Graphs(nodes=("a", "b", "c"), absent=True)
    for (v, e), (w, f) in itertools.product(space.datasets(), repeat=2):
        assert SymmetricDifference(unit="edge").distance((v, e), (w, f), space) == len(set(e) ^ set(f))
        assert SymmetricDifference(unit="element").distance((v, e), (w, f), space) == len(set(e) ^ set(f)) + len(set(v) ^ set(w))


def by_definition(left: Any, right: Any, space: Graphs, *, twice: bool) -> int:
    """The least cost of a set of nodes outside which the graphs agree, over all sets."""
    (v, e), (w, f) = left, right
    costs = []
    for size in range(len(space.nodes) + 1):
        for chosen in map(set, itertools.combinations(space.nodes, size)):
            apart = any(edge for edge in set(e) ^ set(f) if chosen.isdisjoint(edge))
            if set(v) - chosen == set(w) - chosen and not apart:
                costs.append(sum(2 if twice and node in v and node in w else 1 for node in chosen))
    return min(costs)


@pytest.mark.reference("B-D30")
@pytest.mark.parametrize("space", ALL_ON_THREE, ids=str)
@pytest.mark.parametrize("removal_only", [False, True])
def test_node_distance_is_the_cheapest_set_of_changed_nodes(space: Graphs, removal_only: bool) -> None:
    distance = NodeDistance(removal_only=removal_only)
    for left, right in itertools.product(space.datasets(), repeat=2):
        assert distance.distance(left, right, space) == by_definition(left, right, space, twice=removal_only)


def without(graph: Any, node: str) -> Any:
    return tuple(n for n in graph[0] if n != node), tuple(edge for edge in graph[1] if node not in edge)


@pytest.mark.parametrize("bound", [None, 1])
def test_removal_distance_is_the_path_metric_of_nodes_that_join_or_leave(bound: int | None) -> None:
    space = Graphs(nodes=("a", "b", "c"), absent=True, most_degree=bound)
    one_less = UserRelation(function=lambda x, y: any(without(x, n) == y for n in x[0]), label="a node leaves")
    for left, right in itertools.combinations(space.datasets(), 2):
        assert Path(relation=one_less).distance(left, right, space) == NodeDistance(removal_only=True).distance(
            left, right, space
        )


def test_node_distance_is_the_path_metric_of_one_changed_node() -> None:
    space = Graphs(nodes=("a", "b", "c"), absent=True)
    differ = UserRelation(function=lambda x, y: any(without(x, n) == without(y, n) for n in "abc"), label="one node changes")
    for left, right in itertools.combinations(space.datasets(), 2):
        assert Path(relation=differ).distance(left, right, space) == NodeDistance().distance(left, right, space)


edge_lists = st.lists(
    st.tuples(st.sampled_from("abcdefgh"), st.sampled_from("abcdefgh")).filter(lambda e: e[0] < e[1]), max_size=12
)


@given(edge_lists)
def test_least_cover_against_all_sets(edges: list[tuple[str, str]]) -> None:
    covers = (set(s) for k in range(9) for s in itertools.combinations("abcdefgh", k))
    assert least_cover(edges) == len(next(cover for cover in covers if all(cover & set(edge) for edge in edges)))


def test_the_distance_of_large_graphs() -> None:
    nodes = tuple(f"n{i:03d}" for i in range(200))
    space = Graphs(nodes=nodes)
    star = space.dataset((nodes, [(nodes[0], other) for other in nodes[1:]]))
    ring = space.dataset((nodes, [(nodes[i - 1], nodes[i]) for i in range(200)]))
    empty = space.dataset((nodes, []))
    assert NodeDistance().distance(star, empty, space) == 1
    assert SymmetricDifference(unit="edge").distance(star, empty, space) == 199
    assert NodeDistance().distance(ring, empty, space) == 100


# --- bounds against each other ---------------------------------------------------------------------

GRAPH_DISTANCES = (
    NodeDistance(),
    NodeDistance(removal_only=True),
    SymmetricDifference(unit="edge"),
    SymmetricDifference(unit="element"),
    Hamming(unit="edge"),
    Neighbour(relation=AddRemove(unit="edge")),
    Path(relation=AddRemove(unit="element")),
)


def stated(less: Any, more: Any, space: Any) -> Number | None:
    known = less.bounded_by(more, space) or more.bounds(less, space)
    return None if known is None else known[0]


def holds(less: Any, more: Any, factor: Number, space: Any) -> Iterator[bool]:
    for x, y in itertools.combinations(space.datasets(), 2):
        wide = more.distance(x, y, space)
        yield wide.is_infinite or less.distance(x, y, space) <= wide * factor


@pytest.mark.parametrize("space", ALL_ON_THREE, ids=str)
def test_bounds_between_distances_of_graphs_hold(space: Graphs) -> None:
    told = 0
    for less, more in itertools.permutations(GRAPH_DISTANCES, 2):
        factor = stated(less, more, space)
        if factor is not None:
            told += 1
            assert all(holds(less, more, factor, space)), (less, more, factor)
    assert told >= 10


@pytest.mark.reference("B-D30")
def test_edges_and_nodes_bound_each_other_by_the_best_constants() -> None:
    fixed, leaving = Graphs(nodes=("a", "b", "c", "d")), Graphs(nodes=("a", "b", "c", "d"), absent=True)
    edge, node, removal = SymmetricDifference(unit="edge"), NodeDistance(), NodeDistance(removal_only=True)
    assert stated(edge, node, fixed) == stated(edge, node, leaving) == 3
    assert stated(edge, removal, leaving) == 3
    assert stated(edge, removal, fixed) == Fraction(3, 2)
    assert stated(node, edge, fixed) == 1
    assert stated(node, edge, leaving) is None  # a node without edges leaves, and no edge changes
    assert stated(SymmetricDifference(unit="element"), removal, leaving) == 4
    bounded = Graphs(nodes=tuple("abcdefgh"), absent=True, most_degree=2)
    assert stated(edge, removal, bounded) == 2
    assert stated(edge, node, bounded) == 4  # a node that stays may exchange two edges for two others
    assert stated(edge, node, Graphs(nodes=tuple("abc"), directed=True)) == 4


def epsilon(value: Any) -> UniformBudget:
    return UniformBudget(parameter="epsilon", value=value)


def test_the_comparison_engine_uses_the_bounds() -> None:
    spec = EdgeDP().spec()
    node = spec.replace(input_divergence=NodeDistance(), budget=epsilon(ln(4)))
    assert compare(spec, node).forward.answer is Answer.IMPLIES  # epsilon per edge gives 2 epsilon per node of three
    assert compare(spec, node.replace(budget=epsilon(ln(3)))).forward.answer is not Answer.IMPLIES
    assert compare(node.replace(budget=epsilon(ln(2))), spec).forward.answer is Answer.IMPLIES


def test_specifications_on_points_are_compared_and_separated() -> None:
    spec = GeoIndistinguishability().spec()
    manhattan = spec.replace(input_divergence=Metric(norm="manhattan"), budget=epsilon(ln(2)))
    found = compare(spec.replace(budget=epsilon(ln(2))), manhattan)
    assert found.forward.answer is Answer.IMPLIES
    assert found.backward.answer is not Answer.IMPLIES


def test_a_separation_with_records_without_attributes_is_told() -> None:
    spec = NodeDP().spec().replace(input_divergence=SymmetricDifference(unit="element"), budget=epsilon(ln(2)))
    found = compare(spec, spec.replace(budget=epsilon(ln("3/2"))))
    assert found.forward.answer is Answer.SEPARATED


# --- queries on graphs with mechanisms that never heard of them -------------------------------------------------


def test_degrees_and_counts_of_edges_are_plain_queries() -> None:
    space = Graphs(nodes=("a", "b", "c"))
    path = space.dataset([["a", "b", "c"], [["a", "b"], ["b", "c"]]])
    assert degrees(space).answers(path, space) == (1, 2, 1)
    assert Marginal(attributes=(), unit="edge").answers(path, space) == (2,)
    assert Marginal(attributes=(), unit="node").answers(path, space) == (3,)
    directed = Graphs(nodes=("a", "b", "c"), directed=True)
    assert Marginal(attributes=("from",), unit="edge").answers((("a", "b", "c"), (("b", "a"), ("b", "c"))), directed) == (0, 2, 0)


def test_edge_privacy_with_the_degrees_public_is_a_multiverse_of_invariants() -> None:
    space = Graphs(nodes=tuple("abcd"))
    spec = EdgeDP().spec().replace(space=space, multiverse=LevelSets(invariants=(degrees(space),)))
    count = Geometric(queries=(Marginal(attributes=(), unit="edge"),), ratio=Fraction(1, 2), unit="edge")
    assert verify_claim(count, spec).constant.lower == 0  # the degrees tell the number of edges
    one = Geometric(queries=(LinearMap(rows=((1, 0, 0, 0, 0, 0),), label="edge a-b"),), ratio=Fraction(1, 2), unit="edge")
    assert verify_claim(one, spec).constant.lower == ln(2) / 4  # a switch exchanges two edges for two others


# --- points ----------------------------------------------------------------------------------------

coordinates = st.fractions(-5, 5, max_denominator=6)


@pytest.mark.slow
@given(st.lists(st.tuples(coordinates, coordinates, coordinates), min_size=2, max_size=3, unique=True), st.data())
def test_norms_and_their_bounds_on_points(places: list[tuple[Fraction, ...]], data: st.DataObject) -> None:
    space = MetricPoints(points=tuple((f"p{i}", place) for i, place in enumerate(places)))
    (a, b) = data.draw(st.permutations([f"p{i}" for i in range(len(places))]))[:2]
    steps = [abs(u - v) for u, v in zip(space.places()[a], space.places()[b], strict=True)]
    euclid = Metric().distance((a,), (b,), space)
    assert euclid.squared() == sum(s * s for s in steps)
    assert Metric(norm="manhattan").distance((a,), (b,), space) == sum(steps)
    assert Metric(norm="maximum").distance((a,), (b,), space) == max(steps)
    assert Metric(length=Fraction(1, 3)).distance((a,), (b,), space) == euclid * 3
    metrics = [Metric(norm=norm, length=length) for norm in ("euclidean", "manhattan", "maximum") for length in (1, "2/3")]
    for less, more in itertools.permutations([*metrics, HammingOrdered(unit="location")], 2):
        factor = stated(less, more, space)
        assert factor is not None
        assert all(holds(less, more, factor, space)), (less, more, factor)


def test_constants_between_norms_are_the_best_ones() -> None:
    space = MetricPoints(grid=(2, 2, 2))
    euclid, manhattan, largest = (Metric(norm=norm) for norm in ("euclidean", "manhattan", "maximum"))
    assert stated(euclid, manhattan, space) == stated(largest, euclid, space) == 1
    assert stated(manhattan, euclid, space) == stated(euclid, largest, space) == sqrt(3)
    assert stated(manhattan, largest, space) == 3
    assert stated(manhattan, HammingOrdered(unit="location"), space) == 3
    assert stated(HammingOrdered(unit="location"), manhattan, space) == 1
    assert stated(Metric(length=1000), Metric(), space) == Fraction(1, 1000)


def test_trajectories_add_up_or_take_the_largest_step() -> None:
    space = MetricPoints(grid=(3,), count=3)
    added, farthest = Metric(norm="manhattan"), Metric(norm="manhattan", over="maximum")
    assert added.distance(("0", "1", "2"), ("2", "1", "1"), space) == 3
    assert farthest.distance(("0", "1", "2"), ("2", "1", "1"), space) == 2
    assert stated(added, farthest, space) == 3
    assert stated(farthest, added, space) == 1
    assert stated(HammingOrdered(unit="location"), farthest, space) == 3
    for less, more in itertools.permutations((added, farthest, HammingOrdered(unit="location")), 2):
        assert all(holds(less, more, stated(less, more, space), space))  # type: ignore[arg-type]
    with pytest.raises(IncompatibleBlocksError, match="cannot add euclidean"):
        Metric().check(space)


@pytest.mark.parametrize(
    ("parameters", "word"),
    [
        ({}, "either points or a grid"),
        ({"points": {"a": [0]}, "grid": [2]}, "either points or a grid"),
        ({"points": [["a", [0]], ["a", [1]]]}, "twice"),
        ({"points": {"a": [0], "b": [0, 1]}}, "equally many"),
        ({"points": {"a": [0], "b": [0]}}, "different places"),
    ],
)
def test_bad_points(parameters: dict[str, Any], word: str) -> None:
    with pytest.raises(ParameterError, match=word):
        MetricPoints(**parameters)


def test_what_is_no_location_is_refused() -> None:
    space = MetricPoints(points={"home": [0], "work": [2]})
    for value, word in (("home", "list of 1 names"), (["home", "work"], "list of 1"), (["hom"], "did you mean home")):
        with pytest.raises(NotInSpaceError, match=word):
            space.dataset(value)
    with pytest.raises(IncompatibleBlocksError, match="metric-points"):
        Metric().check(BitVectors(length=1))


@pytest.mark.reference("B-D30")
def test_the_nearby_dataset_keeps_twice_its_rate_per_unit_of_every_metric() -> None:
    space = MetricPoints(points={"a": [0, 0], "b": [1, 2], "c": ["1/2", -1], "d": [3, 3]})
    for norm in ("euclidean", "manhattan", "maximum"):
        metric = Metric(norm=norm)
        spec = GeoIndistinguishability().spec().replace(space=space, input_divergence=metric, budget=epsilon(number("1/2")))
        assert verify_claim(NearbyDataset(distance=metric, rate=number("1/4")), spec).outcome is Outcome.VERIFIED


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


# --- flavours --------------------------------------------------------------------------------------

CONSTANTS = {
    "generic-dp": (ln(4), ln(16)),
    "edge-dp": (ln(2), ln(4)),
    "node-dp": (ln(4), ln(16)),
    "network-dp": (ln(2), ln(4)),
    "blowfish": (ln(2), ln(4)),
    "blowfish-constraints": (ln(4), ln(16)),
    "metric-dp": (None, ln(4)),
    "geo-indistinguishability": (None, None),
}


@pytest.mark.spread(3, slow=2)
@pytest.mark.reference("B-D30")
@pytest.mark.parametrize("cls", BLOCKS["flavours"], ids=lambda cls: cls.name)
def test_a_flavour_is_kept_by_one_mechanism_and_broken_by_the_other(cls: Any) -> None:
    flavour = cls()
    spec = flavour.spec()
    kept, broken = (verify_claim(example.mechanism, spec) for example in (flavour.satisfied_by(), flavour.broken_by()))
    assert (kept.outcome, broken.outcome) == (Outcome.VERIFIED, Outcome.REFUTED)
    assert broken.witness is not None
    assert max(spec.space.magnitude(x) for x in (broken.witness.left, broken.witness.right)) <= 3
    for found, constant in zip((kept, broken), CONSTANTS[flavour.name], strict=True):
        assert constant is None or (found.constant.is_exact and found.constant.lower == constant)


@pytest.mark.parametrize("cls", BLOCKS["flavours"], ids=lambda cls: cls.name)
def test_the_file_of_a_flavour_is_up_to_date_and_reads_back(cls: Any, request: pytest.FixtureRequest) -> None:
    document = flavour_document(cls())
    assert read_text(to_toml(document, REGISTRY), REGISTRY) == document
    path = request.config.rootpath / "specs" / "flavours" / f"{cls.name}.dpspec.toml"
    assert read(path, REGISTRY) == document


@pytest.mark.slow
@pytest.mark.reference("B-D30")
def test_bounded_degree_is_what_node_privacy_of_the_edge_count_costs() -> None:
    """On four nodes with degrees up to 1, 2: one changed node changes the count by 1, 2; the noise has to grow with it."""
    for bound in (1, 2):
        spec = PrivacySpec(
            space=Graphs(nodes=tuple("abcd"), most_degree=bound),
            multiverse=LevelSets(invariants=()),
            input_divergence=NodeDistance(),
            output_divergence=Mult(),
            budget=epsilon(ln(2) * bound),
        )
        count = Geometric(queries=(Marginal(attributes=(), unit="edge"),), ratio=Fraction(1, 2), unit="edge")
        assert verify_claim(count, spec).constant.lower == ln(2) * bound


def test_a_metric_written_in_python_is_the_same_as_the_block() -> None:
    space, metric = MetricPoints(grid=(3, 2)), Metric(norm="manhattan")
    again = UserMetric(function=lambda x, y: metric.distance(x, y, space), label="again")
    spec = GeoIndistinguishability().spec().replace(space=space)
    mechanism = NearbyDataset(distance=metric, rate=number("1/2"))
    first, second = (verify_claim(mechanism, spec.replace(input_divergence=d)).constant for d in (metric, again))
    assert first == second


def test_errors_are_all_of_dpspec() -> None:
    for broken in (
        lambda: Graphs(nodes=()),
        lambda: Policy(edges=[["a"]]),
        lambda: Metric(norm="taxi"),
        lambda: Metric(length=0),
    ):
        with pytest.raises(DpspecError):
            broken()


def test_a_large_graph_is_read_from_its_edges(monkeypatch):
    space = Graphs(nodes=tuple(f"n{place}" for place in range(40)))
    monkeypatch.setattr(Graphs, "possible_edges", lambda *given: pytest.fail("all edges are listed"))
    assert space.from_counts({("n1", "n2"): 1, ("n0", "n3"): 1, ("n0", "n1"): 0})[1] == (("n0", "n3"), ("n1", "n2"))
    with pytest.raises(NotInSpaceError):
        space.from_counts({("n1", "n2"): 2})
