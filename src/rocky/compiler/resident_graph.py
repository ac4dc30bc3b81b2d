"""The resident graph: who reads whom, kept in step with edits without looking at every model.

A model's level is the length of the longest way down to it: the order of a project lists its
levels, each sorted. Where a model reads something else, only its own level can change, and those of
its readers. Cycles have no levels: where there are any, the graph is made anew.
"""

from bisect import bisect_left, insort
from collections.abc import Iterable, Mapping
from itertools import chain

from rocky.compiler.graph import ModelGraph, graph_of, topological_levels


class ResidentGraph:
    """A graph that follows edits; `graph` is never changed, only replaced."""

    def __init__(self, names: Iterable[str], graph: ModelGraph) -> None:
        self.graph = graph
        self._names = frozenset(names)
        self._number()

    def _number(self) -> None:
        self._levels, left_over = topological_levels(self._names, self.graph.upstream)
        self._has_cycles = bool(left_over)
        self._level = {name: at for at, names in enumerate(self._levels) for name in names}

    def follow(self, changed: Mapping[str, tuple[str, ...] | None]) -> ModelGraph:
        """The graph with what some models read now; None for one of which nothing is known."""
        upstream = dict(self.graph.upstream)
        downstream = dict(self.graph.downstream)
        for name, reads in changed.items():
            old = set(upstream.pop(name, ()))
            if reads is not None:
                upstream[name] = reads
            new = set(reads or ())
            for each in old - new:
                left = tuple(one for one in downstream[each] if one != name)
                downstream[each] = left
                if not left:
                    del downstream[each]
            for each in new - old:
                downstream[each] = tuple(sorted((*downstream.get(each, ()), name)))
        self.graph = ModelGraph(upstream, downstream, self.graph.order)
        if self._has_cycles or not self._move(changed):
            self.graph = graph_of(self._names, upstream)
            self._number()
        else:
            self.graph = self.graph._replace(order=tuple(chain.from_iterable(self._levels)))
        return self.graph

    def _move(self, changed: Iterable[str]) -> bool:
        """Put models, and those that read them, on their levels; False where there is a cycle."""
        waiting = [name for name in changed if name in self._names]
        while waiting:
            name = waiting.pop()
            reads = self.graph.upstream.get(name, ())
            above = [self._level[each] for each in reads if each in self._level and each != name]
            level = max(above, default=-1) + 1
            if level >= len(self._names):
                return False
            before = self._level[name]
            if level == before:
                continue
            row = self._levels[before]
            del row[bisect_left(row, name)]
            while len(self._levels) <= level:
                self._levels.append([])
            insort(self._levels[level], name)
            self._level[name] = level
            waiting += self.graph.downstream.get(name, ())
        while self._levels and not self._levels[-1]:
            self._levels.pop()
        return True
