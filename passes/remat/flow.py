"""Compute minimum cuts of networks with integer capacities: Dinic's algorithm.

Y. Dinitz, "Algorithm for solution of a problem of maximum flow in networks with power
estimation", Soviet Math. Doklady 11, 1970. Edges lie in flat lists, an edge next to its reverse;
nothing recurses, and nothing depends on hashes.
"""

from __future__ import annotations

from collections import deque


class Network:
    """A directed network between a source and a sink.

    Examples
    --------
    >>> network = Network(4)
    >>> for u, v, capacity in ((0, 1, 3), (0, 2, 2), (1, 2, 5), (1, 3, 2), (2, 3, 3)):
    ...     network.edge(u, v, capacity)
    >>> network.maximum_flow(0, 3)
    5
    >>> network.before_sink(3)
    [False, False, False, True]
    """

    def __init__(self, nodes: int) -> None:
        self._heads: list[int] = []
        self._left: list[int] = []  # the residual capacity of an edge
        self._edges: list[list[int]] = [[] for _ in range(nodes)]

    def edge(self, u: int, v: int, capacity: int) -> None:
        """Add an edge from `u` to `v`."""
        self._edges[u].append(len(self._heads))
        self._edges[v].append(len(self._heads) + 1)
        self._heads += [v, u]
        self._left += [capacity, 0]

    def maximum_flow(self, source: int, sink: int) -> int:
        """Send as much as possible from source to sink; return the flow, which a cut costs."""
        flow = 0
        while True:
            levels = self._levels(source)
            if levels[sink] < 0:
                return flow
            nexts = [0] * len(self._edges)
            while sent := self._path(source, sink, levels, nexts):
                flow += sent

    def _levels(self, source: int) -> list[int]:
        levels = [-1] * len(self._edges)
        levels[source] = 0
        queue = deque([source])
        while queue:
            u = queue.popleft()
            for e in self._edges[u]:
                v = self._heads[e]
                if levels[v] < 0 and self._left[e]:
                    levels[v] = levels[u] + 1
                    queue.append(v)
        return levels

    def _path(self, source: int, sink: int, levels: list[int], nexts: list[int]) -> int:
        """Saturate one shortest path; `nexts` are the first edges that are no dead ends."""
        heads, left, edges = self._heads, self._left, self._edges
        path: list[int] = []
        u = source
        while u != sink:
            while nexts[u] < len(edges[u]):
                e = edges[u][nexts[u]]
                if left[e] and levels[heads[e]] == levels[u] + 1:
                    break
                nexts[u] += 1
            else:
                if not path:
                    return 0
                u = heads[path.pop() ^ 1]
                nexts[u] += 1
                continue
            path.append(e)
            u = heads[e]
        sent = min(left[e] for e in path)
        for e in path:
            left[e] -= sent
            left[e ^ 1] += sent
        return sent

    def before_sink(self, sink: int) -> list[bool]:
        """Return which nodes lie behind the minimum cut that is closest to the sink.

        Those are the ones from which more could still be sent to it.
        """
        found = [False] * len(self._edges)
        found[sink] = True
        queue = deque([sink])
        while queue:
            v = queue.popleft()
            for e in self._edges[v]:
                u = self._heads[e]
                # The edge from `u` to `v` is the reverse of this one.
                if not found[u] and self._left[e ^ 1]:
                    found[u] = True
                    queue.append(u)
        return found
