"""Neighbour relations of secrets, and distances of two distributions of data.

A coupling of two finite laws needs certain pairs: the bottleneck of a transport, found by maximal flows in integers.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Annotated, ClassVar, cast

from dpspec_divergences import HammingOrdered

from dpspec.plugin import (
    Bound,
    Dataset,
    DatasetSpace,
    FiniteLaw,
    IncompatibleBlocksError,
    InputDivergence,
    Items,
    Number,
    ParameterError,
    Registered,
    Relation,
    Text,
    define,
    exact,
    is_a,
    laws,
    number,
    params,
)
from dpspec_flavours.secrets.spaces import DataLaws, DataLawSpace, Element, Secrets


def bottleneck(left: FiniteLaw, right: FiniteLaw, distance: Callable[[laws.OutputValue, laws.OutputValue], Number]) -> Number:
    """The least w such that some coupling of the two laws only joins outcomes at distance at most w; infinity when none does.

    >>> from dpspec.plugin import number
    >>> die, coin = FiniteLaw.uniform(range(4)), FiniteLaw.uniform([0, 3])
    >>> str(bottleneck(die, coin, lambda x, y: number(abs(x - y))))
    '1'
    """
    supply = [weight * right.total for weight in left.weights.values()]
    demand = [weight * left.total for weight in right.weights.values()]
    table = [[distance(x, y) for y in right.support] for x in left.support]
    finite = sorted({d for row in table for d in row if not d.is_infinite})
    low, high = 0, len(finite)  # the answer is finite[low..high], where finite[len] means infinity
    while low < high:
        middle = (low + high) // 2
        edges = [[y for y, d in enumerate(row) if d <= finite[middle]] for row in table]
        if is_coupled(supply, demand, edges):
            high = middle
        else:
            low = middle + 1
    return finite[low] if low < len(finite) else exact.INFINITY


def is_coupled(supply: Sequence[int], demand: Sequence[int], edges: Sequence[Sequence[int]]) -> bool:
    """Whether all of the supply reaches the demand along the edges (place in supply -> places in demand); equal totals."""
    open_demand = list(demand)
    flow = [[0] * len(open_demand) for _ in supply]
    for start, amount in enumerate(supply):
        left = amount
        while left:
            path = _path(start, open_demand, flow, edges)
            if path is None:
                return False
            back = [(x, y) for (_, y), (x, _) in itertools.pairwise(path)]
            sent = min([left, open_demand[path[-1][1]], *(flow[x][y] for x, y in back)])
            for x, y in path:
                flow[x][y] += sent
            for x, y in back:
                flow[x][y] -= sent
            open_demand[path[-1][1]] -= sent
            left -= sent
    return True


def _path(
    start: int, open_demand: Sequence[int], flow: Sequence[Sequence[int]], edges: Sequence[Sequence[int]]
) -> list[tuple[int, int]] | None:
    """The edges forward of a shortest path to open demand, breadth first; between two of them it runs back along a flow."""
    paths: dict[int, list[tuple[int, int]]] = {start: []}
    queue, reached = deque([start]), set[int]()
    while queue:
        x = queue.popleft()
        for y in edges[x]:
            if y in reached:
                continue
            reached.add(y)
            path = [*paths[x], (x, y)]
            if open_demand[y]:
                return path
            for other, row in enumerate(flow):
                if row[y] and other not in paths:
                    paths[other] = path
                    queue.append(other)
    return None


# --- relations and distances ----------------------------------------------------------------------


@define
class DiscriminativePairs(Relation):
    """Two secrets of a listed pair, for the same attacker: the same prior and the same background (Pufferfish).

    (s, theta) ~ (s', theta') when theta = theta' and {s, s'} is listed. `neighbour` of it is the definition of Kifer and
    Machanavajjhala 2014, `path` of it counts the steps in the graph of secrets.

    Args:
        pairs: pairs of labels: of secrets, or of data laws.

    >>> relation, space = DiscriminativePairs(pairs=[["first is 0", "first is 1"]]), list(Secrets.examples())[0]
    >>> relation.related(("first is 0", "copy"), ("first is 1", "copy"), space)
    True
    >>> relation.related(("first is 0", "copy"), ("first is 1", "coins"), space)
    False
    """

    name: ClassVar[str] = "discriminative-pairs"
    is_symmetric: ClassVar[bool] = True

    pairs: Annotated[tuple[tuple[str, ...], ...], Items(Items(Text()), least=1)]

    def __attrs_post_init__(self) -> None:
        for pair in self.pairs:
            if len(set(pair)) != 2 or len(pair) != 2:
                raise ParameterError("pairs", "must hold two different labels each", value=pair)

    def check(self, space: DatasetSpace) -> None:
        known = {element[0] for element in _data_laws(self.name, space).laws()}
        for label in (label for pair in self.pairs for label in pair):
            if label not in known:
                rule = f"names what the space {space.name} does not distinguish"
                raise IncompatibleBlocksError(f"relation {self.name}", rule, params.did_you_mean(label, known), value=label)

    def related(self, left: Dataset, right: Dataset, space: DatasetSpace) -> bool:
        (one, *ours), (two, *theirs) = cast("Element", left), cast("Element", right)
        return ours == theirs and {one, two} in self.edges()

    def within(self, other: Relation) -> str | None:
        if not is_a(other, DiscriminativePairs) or not self.edges() <= other.edges():
            return None
        return "every pair of secrets that is listed here is listed there"

    def edges(self) -> frozenset[frozenset[str]]:
        """The pairs without an order."""
        return frozenset(map(frozenset, self.pairs))

    def in_words(self) -> str:
        return f"a secret replaced by the other one of its pair: {'; '.join(' or '.join(pair) for pair in self.pairs)}"

    def __str__(self) -> str:
        return f"{self.name} ({'; '.join(' | '.join(pair) for pair in self.pairs)})"

    @classmethod
    def examples(cls) -> Iterable[DiscriminativePairs]:
        """What the conformance kit checks it with."""
        yield cls(pairs=(("first is 0", "first is 1"),))
        yield cls(pairs=(("quarter", "half"),))


@define
class DataVariation(InputDivergence):
    """Total variation of the data: d(x, x') = sup over events A of |Pi_x(A) - Pi_x'(A)|.

    At most 1; 0 for two elements that represent the same law. By data processing, every mechanism on the data is 1-Lipschitz
    from this distance to `total-variation`.

    >>> str(DataVariation().distance(("quarter",), ("half",), list(DataLaws.examples())[0]))
    '1/4'
    """

    name: ClassVar[str] = "data-variation"
    is_symmetric: ClassVar[bool] = True
    is_metric: ClassVar[bool] = True

    def check(self, space: DatasetSpace) -> None:
        _data_laws(self.name, space)

    def distance(self, left: Dataset, right: Dataset, space: DatasetSpace) -> Number:
        laws = _data_laws(self.name, space)
        ours, theirs = laws.data_law(left), laws.data_law(right)
        gains = (ours.probability(z) - theirs.probability(z) for z in ours.support)
        return number(sum((gain for gain in gains if gain > 0), Fraction(0)))

    def bounded_by(self, other: InputDivergence, space: DatasetSpace) -> Bound | None:
        if self == other:
            return number(1), "the same input divergence"
        if is_a(other, DataWasserstein):
            least = other.distance_of_data.least_distance(_data_laws(self.name, space).base)
            if least is not None and least.is_rational:
                reason = f"data that differ are at least {least} apart, and some coupling of different laws is needed"
                return number(1 / least.as_fraction()), reason
        least = other.least_distance(space)
        if least is None or not least.is_rational:
            return None
        return number(1 / least.as_fraction()), f"it is at most 1, and {other} is at least {least}"

    def in_words(self) -> str:
        return "the law of the data changed by 1 in total variation"

    def __str__(self) -> str:
        return self.name


@define
class DataWasserstein(InputDivergence):
    """The infinity-Wasserstein distance of the data: how far records must move for one law of the data to become the other.

    d(x, x') = inf over couplings (Z, Z') of Pi_x and Pi_x' of the largest distance of Z and Z' (Song, Wang and Chaudhuri 2017).
    A mechanism that is eps-Lipschitz from the distance of datasets to `mult` is eps-Lipschitz from this one when averaged: for a
    coupling, P_x(S) = E M(Z)(S) <= e^(eps d) E M(Z')(S).

    Args:
        distance_of_data: the distance of two datasets of the base space.

    >>> d = DataWasserstein(distance_of_data=HammingOrdered())
    >>> str(d.distance(("quarter",), ("half",), list(DataLaws.examples())[0]))
    '1'
    """

    name: ClassVar[str] = "data-wasserstein"

    distance_of_data: Annotated[InputDivergence, Registered("input_divergences")]

    @property
    def is_symmetric(self) -> bool:  # type: ignore[override]
        return self.distance_of_data.is_symmetric

    @property
    def is_metric(self) -> bool:  # type: ignore[override]
        return self.distance_of_data.is_metric

    def check(self, space: DatasetSpace) -> None:
        self.distance_of_data.check(_data_laws(self.name, space).base)

    def distance(self, left: Dataset, right: Dataset, space: DatasetSpace) -> Number:
        laws = _data_laws(self.name, space)
        ours, theirs = laws.data_law(left), laws.data_law(right)
        if ours == theirs:
            return number(0)
        return bottleneck(ours, theirs, lambda x, y: self.distance_of_data.distance(x, y, laws.base))

    def least_distance(self, space: DatasetSpace) -> Number | None:
        laws = _data_laws(self.name, space)
        different: set[FiniteLaw] = set(laws.laws().values())
        return self.distance_of_data.least_distance(laws.base) if len(different) == len(laws.laws()) else None

    def bounded_by(self, other: InputDivergence, space: DatasetSpace) -> Bound | None:
        if self == other:
            return number(1), "the same input divergence"
        if not is_a(other, DataWasserstein):
            return None
        found = self.distance_of_data.bounded_by(other.distance_of_data, _data_laws(self.name, space).base)
        return None if found is None else (found[0], f"on the data themselves: {found[1]}")

    def in_words(self) -> str:
        return f"the law of the data moved everywhere by at most: {self.distance_of_data.in_words()}"

    def __str__(self) -> str:
        return f"{self.name} ({self.distance_of_data})"

    @classmethod
    def examples(cls) -> Iterable[tuple[DataWasserstein, DatasetSpace]]:
        """What the conformance kit checks it with."""
        for space in (*DataLaws.examples(), *Secrets.examples()):
            yield cls(distance_of_data=HammingOrdered()), space


def _data_laws(name: str, space: DatasetSpace) -> DataLawSpace:
    if not is_a(space, DataLawSpace):
        rule = "compares what the data may be, and the elements of this space are the data"
        raise IncompatibleBlocksError(name, rule, "use a space of data laws, such as secrets", value=space.name)
    return space
