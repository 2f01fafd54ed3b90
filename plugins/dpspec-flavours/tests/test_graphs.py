"""Graphs as datasets, and the distances of edges and of nodes, against the definitions by brute force; and their flavours."""

import itertools
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest
from dpspec_divergences import (
    AddRemove,
    Hamming,
    Mult,
    Neighbour,
    Path,
    SymmetricDifference,
    UserRelation,
)
from dpspec_flavours.networks.graphs import EdgeDP, Graphs, NodeDistance, NodeDP, degrees, least_cover
from dpspec_noise import Geometric
from hypothesis import given, strategies as st

from dpspec import installed
from dpspec.api import compare
from dpspec.base.errors import IncompatibleBlocksError, NotInSpaceError, ParameterError
from dpspec.base.exact import Number, ln
from dpspec.blocks.budget import UniformBudget
from dpspec.blocks.invariant import LinearMap, Marginal
from dpspec.blocks.multiverse import LevelSets
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


def test_a_large_graph_is_read_from_its_edges(monkeypatch):
    space = Graphs(nodes=tuple(f"n{place}" for place in range(40)))
    monkeypatch.setattr(Graphs, "possible_edges", lambda *given: pytest.fail("all edges are listed"))
    assert space.from_counts({("n1", "n2"): 1, ("n0", "n3"): 1, ("n0", "n1"): 0})[1] == (("n0", "n3"), ("n1", "n2"))
    with pytest.raises(NotInSpaceError):
        space.from_counts({("n1", "n2"): 2})
