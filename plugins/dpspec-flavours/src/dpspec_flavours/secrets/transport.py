"""Which pairs a coupling of two finite laws needs: the bottleneck of a transport, by maximal flows in integers."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Sequence

from dpspec.exact import INFINITY, Number
from dpspec.laws.finite import FiniteLaw, Outcome


def bottleneck(left: FiniteLaw, right: FiniteLaw, distance: Callable[[Outcome, Outcome], Number]) -> Number:
    """The least w such that some coupling of the two laws only joins outcomes at distance at most w; infinity when none does.

    >>> from dpspec.exact import number
    >>> die, coin = FiniteLaw.uniform(range(4)), FiniteLaw.uniform([0, 3])
    >>> str(bottleneck(die, coin, lambda x, y: number(abs(x - y))))
    '1'
    """
    supply = [weight * right.total for weight in left.weights.values()]
    demand = [weight * left.total for weight in right.weights.values()]
    table = [[distance(x, y) for y in right.support] for x in left.support]
    finite = sorted({d for row in table for d in row if not d.is_infinite})
    low, high = 0, len(finite)  # the answer is finite[low..high], where finite[len] stands for infinity
    while low < high:
        middle = (low + high) // 2
        edges = [[y for y, d in enumerate(row) if d <= finite[middle]] for row in table]
        if is_coupled(supply, demand, edges):
            high = middle
        else:
            low = middle + 1
    return finite[low] if low < len(finite) else INFINITY


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
