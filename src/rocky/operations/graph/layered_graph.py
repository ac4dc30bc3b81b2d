"""A layered graph as SVG: nodes in columns from left to right, each right of what it comes from.

The text is whole in itself: no script, no font, no address. It has its own ground, so it can be
read on a page of any colour, and turns dark where the reader's system is. A large graph is cut to
the nodes that matter most; the picture says how many were left out, and at each node how many of
its neighbours.
"""

import html
import re
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

MOST: Final = 80
"""So many nodes are drawn."""
_MOST_EDGES: Final = 400
_LABELS: Final = 24
"""With more edges than this what is said of them is seen when they are pointed at."""
_LONGEST: Final = 34
_LETTER, _HEIGHT, _GAP, _BETWEEN, _MARGIN = 7.3, 40, 14, 76, 16
_SWEEPS: Final = 6
_NO_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

_STYLE: Final = (
    ".rocky-graph{max-width:100%;height:auto;font:12px ui-monospace,Menlo,Consolas,monospace}"
    ".rocky-graph .ground{fill:#fff;stroke:#d0d7de}"
    ".rocky-graph .edge{fill:none;stroke:#8c959f;stroke-width:1.4}"
    ".rocky-graph .box{fill:#ddf4ff;stroke:#0969da}"
    ".rocky-graph .source .box{fill:#dafbe1;stroke:#1a7f37}"
    ".rocky-graph .seed .box{fill:#fff8c5;stroke:#9a6700}"
    ".rocky-graph .import .box{fill:#fbefff;stroke:#8250df}"
    ".rocky-graph .focus .box{stroke-width:3}"
    ".rocky-graph text{fill:#1f2328}"
    ".rocky-graph .quiet{fill:#59636e;font-size:10px}"
    "@media(prefers-color-scheme:dark){"
    ".rocky-graph .ground{fill:#0d1117;stroke:#3d444d}"
    ".rocky-graph .edge{stroke:#6e7681}"
    ".rocky-graph .box{fill:#0c2d4d;stroke:#4493f8}"
    ".rocky-graph .source .box{fill:#0f2f1a;stroke:#3fb950}"
    ".rocky-graph .seed .box{fill:#332701;stroke:#d29922}"
    ".rocky-graph .import .box{fill:#2b1a4a;stroke:#ab7df8}"
    ".rocky-graph text{fill:#f0f6fc}"
    ".rocky-graph .quiet{fill:#9198a1}}"
)


@dataclass(frozen=True, slots=True)
class Node:
    """A box: its `label`, what stands small above it, and its kind, which gives the colour."""

    label: str
    kind: str = "model"
    above: str = ""


@dataclass(frozen=True, slots=True)
class Graph:
    """Nodes by key, edges with what is said of them, and the node that was asked about, if one."""

    title: str
    nodes: Mapping[str, Node]
    edges: Sequence[tuple[str, str, str]] = ()
    focus: str | None = None


def render_svg(graph: Graph) -> str:
    """The graph as SVG text; all that names and labels hold is escaped."""
    kept = _kept(graph)
    edges = [each for each in graph.edges if each[0] in kept and each[1] in kept]
    edges = [each for each in edges if each[0] != each[1]]
    hidden_edges = max(0, len(edges) - _MOST_EDGES)
    edges = edges[:_MOST_EDGES]
    lanes = _Lanes(kept, edges)
    places = lanes.places({key: _width(graph.nodes[key]) for key in kept})
    width = max((place.x + place.width for place in places.values()), default=0) + 2 * _MARGIN
    height = max((place.y + _HEIGHT for place in places.values()), default=0) + 2 * _MARGIN
    notes = _notes(graph, kept, hidden_edges)
    height += 16 * len(notes)
    width = max(width, *(len(each) * 6.2 + 2 * _MARGIN for each in notes), 120)
    said = escape(graph.title)
    parts = [
        '<svg xmlns="http://www.w3.org/2000/svg" class="rocky-graph" role="img"'
        f' width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}"'
        f' aria-label="{said}">',
        f"<title>{said}</title><style>{_STYLE}</style>",
        f'<rect class="ground" x=".5" y=".5" width="{width - 1:.0f}" height="{height - 1:.0f}"'
        ' rx="6"/>',
        f'<g transform="translate({_MARGIN} {_MARGIN})">',
    ]
    parts += _draw_edges(lanes.ways, places, labelled=len(edges) <= _LABELS)
    missing = _missing(graph, kept)
    parts += [_draw_node(graph, key, places[key], missing) for key in kept]
    parts += ["</g>"]
    below = height - _MARGIN / 2 - 16 * (len(notes) - 1)
    parts += [
        f'<text class="quiet" x="{_MARGIN}" y="{below + 16 * index:.0f}">{escape(each)}</text>'
        for index, each in enumerate(notes)
    ]
    return "".join([*parts, "</svg>"])


# ---------------------------------------------------------------------- what is drawn


def _kept(graph: Graph) -> dict[str, None]:
    """The nodes that are drawn: the nearest to the focus, or those with the most edges."""
    if len(graph.nodes) <= MOST:
        return dict.fromkeys(graph.nodes)
    beside: dict[str, list[str]] = {key: [] for key in graph.nodes}
    for source, target, _ in graph.edges:
        beside[source].append(target)
        beside[target].append(source)
    if graph.focus is None:
        chosen = set(sorted(beside, key=lambda key: (-len(beside[key]), key))[:MOST])
        return {key: None for key in graph.nodes if key in chosen}
    found, waiting = {graph.focus: None}, deque([graph.focus])
    while waiting and len(found) < MOST:
        for each in beside[waiting.popleft()]:
            if each not in found and len(found) < MOST:
                found[each] = None
                waiting.append(each)
    return {key: None for key in graph.nodes if key in found}


def _missing(graph: Graph, kept: Iterable[str]) -> dict[str, list[int]]:
    """Of each node how many of its neighbours are left out: on its left, on its right."""
    drawn = set(kept)
    found: dict[str, list[int]] = {}
    for source, target, _ in graph.edges:
        if target in drawn and source not in drawn:
            found.setdefault(target, [0, 0])[0] += 1
        if source in drawn and target not in drawn:
            found.setdefault(source, [0, 0])[1] += 1
    return found


def _notes(graph: Graph, kept: Mapping[str, None], hidden_edges: int) -> list[str]:
    """What is said below the picture of what it leaves out."""
    notes = []
    left_out = len(graph.nodes) - len(kept)
    if left_out:
        focus = graph.focus and graph.nodes[graph.focus]
        which = f"the nearest to {focus.label}" if focus else "those with the most edges"
        notes.append(
            f"{len(kept)} of {len(graph.nodes):,} are drawn, {which}; {left_out:,} are left out"
        )
    if hidden_edges:
        notes.append(f"{hidden_edges:,} edges between these are left out")
    return notes


# ---------------------------------------------------------------------- where it is drawn


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a box is. One without a width is a point that a long edge goes through."""

    x: float
    y: float
    width: float


class _Lanes:
    """The columns of a graph. An edge across several has a point of its own in each between."""

    def __init__(self, nodes: Iterable[str], edges: Sequence[tuple[str, str, str]]) -> None:
        self._rank = _ranks(list(nodes), edges)
        self.ways: list[tuple[list[str], str]] = []
        """Each edge as the keys it goes through, left to right, and what is said of it."""
        self._columns: list[list[str]] = [
            [] for _ in range(max(self._rank.values(), default=0) + 1)
        ]
        for key, rank in self._rank.items():
            self._columns[rank].append(key)
        self._points: set[str] = set()
        for number, (source, target, said) in enumerate(edges):
            low, high = self._rank[source], self._rank[target]
            if high <= low:
                # Part of a circle, which only a broken project has.
                self.ways.append(([source, target], said))
                continue
            between = [f"\0{number}:{rank}" for rank in range(low + 1, high)]
            for key, rank in zip(between, range(low + 1, high), strict=True):
                self._columns[rank].append(key)
                self._points.add(key)
            self.ways.append(([source, *between, target], said))

    def places(self, widths: Mapping[str, float]) -> dict[str, _Place]:
        """Where everything is, with few crossings."""
        self._order()
        heights = {key: 10 if key in self._points else _HEIGHT for key in self._all()}
        tallest = max((self._extent(each, heights) for each in self._columns), default=0)
        found: dict[str, _Place] = {}
        x = 0.0
        for column in self._columns:
            wide = max((widths.get(key, 0) for key in column), default=0)
            y = (tallest - self._extent(column, heights)) / 2
            for key in column:
                # A point lies where the middle of a box would.
                top = y - _HEIGHT / 2 + heights[key] / 2
                found[key] = _Place(x, top, widths.get(key, wide))
                y += heights[key] + _GAP
            x += wide + _BETWEEN
        return found

    def _all(self) -> Iterable[str]:
        return (key for column in self._columns for key in column)

    def _extent(self, column: Sequence[str], heights: Mapping[str, int]) -> int:
        return sum(heights[key] + _GAP for key in column) - _GAP

    def _order(self) -> None:
        """Each column by where its neighbours are, forth and back: few edges cross then."""
        left: dict[str, list[str]] = {}
        right: dict[str, list[str]] = {}
        for keys, _ in self.ways:
            for here, there in pairwise(keys):
                right.setdefault(here, []).append(there)
                left.setdefault(there, []).append(here)
        for sweep in range(_SWEEPS):
            columns = self._columns if sweep % 2 == 0 else self._columns[::-1]
            beside = left if sweep % 2 == 0 else right
            for one, column in pairwise(columns):
                at = {key: index / max(1, len(one)) for index, key in enumerate(one)}
                own = {key: index / max(1, len(column)) for index, key in enumerate(column)}
                weight = {}
                for key in column:
                    near = [at[each] for each in beside.get(key, ()) if each in at]
                    weight[key] = sum(near) / len(near) if near else own[key]
                column.sort(key=weight.__getitem__)


def _ranks(nodes: Sequence[str], edges: Sequence[tuple[str, str, str]]) -> dict[str, int]:
    """The column of each node: one right of the last that it comes from.

    What nothing comes into stands as near to what it goes to as it can.
    """
    onward: dict[str, list[str]] = {key: [] for key in nodes}
    waits = dict.fromkeys(nodes, 0)
    for source, target, _ in edges:
        onward[source].append(target)
        waits[target] += 1
    first = [key for key in nodes if not waits[key]]
    rank = dict.fromkeys(nodes, 0)
    ready = deque(first)
    while ready:
        key = ready.popleft()
        for each in onward[key]:
            rank[each] = max(rank[each], rank[key] + 1)
            waits[each] -= 1
            if not waits[each]:
                ready.append(each)
    for key in first:
        if onward[key]:
            rank[key] = max(0, min(rank[each] for each in onward[key]) - 1)
    return rank


def _width(node: Node) -> float:
    longest = max(len(_cut(node.label)), len(_cut(node.above)) * 0.85)
    return longest * _LETTER + 22


# ---------------------------------------------------------------------- what it looks like


def _draw_edges(
    ways: Iterable[tuple[list[str], str]], places: Mapping[str, _Place], *, labelled: bool
) -> list[str]:
    parts, labels = [], []
    for keys, said in ways:
        start = places[keys[0]]
        x, y = start.x + start.width, start.y + _HEIGHT / 2
        path = [f"M{x:.1f} {y:.1f}"]
        for key in keys[1:]:
            place = places[key]
            is_end = key == keys[-1]
            x2, y2 = place.x, place.y + _HEIGHT / 2
            bend = max(24.0, (x2 - x) / 2) if x2 > x else 60.0
            path.append(f"C{x + bend:.1f} {y:.1f} {x2 - bend:.1f} {y2:.1f} {x2:.1f} {y2:.1f}")
            x, y = (x2, y2) if is_end else (x2 + place.width, y2)
            if not is_end:
                path.append(f"L{x:.1f} {y:.1f}")
        parts.append(f'<g><path class="edge" d="{"".join(path)}"/>')
        parts.append(f'<path class="edge" d="M{x - 6:.1f} {y - 4:.1f}L{x:.1f} {y:.1f}')
        parts.append(f'L{x - 6:.1f} {y + 4:.1f}"/>')
        parts.append(f"<title>{escape(said)}</title></g>" if said else "</g>")
        if said and labelled:
            labels.append(
                f'<text class="quiet" text-anchor="end" x="{x - 9:.1f}" y="{y - 4:.1f}">'
                f"{escape(said)}</text>"
            )
    return parts + labels


def _draw_node(graph: Graph, key: str, place: _Place, missing: Mapping[str, Sequence[int]]) -> str:
    node = graph.nodes[key]
    x, y, middle = place.x, place.y, place.x + place.width / 2
    full = f"{node.above}.{node.label}" if node.above else node.label
    focus = " focus" if key == graph.focus else ""
    parts = [
        f'<g class="{escape(node.kind)}{focus}"><title>{escape(node.kind)} {escape(full)}</title>'
        f'<rect class="box" x="{x:.1f}" y="{y:.1f}" width="{place.width:.1f}" height="{_HEIGHT}"'
        ' rx="5"/>'
    ]
    above = node.above or (node.kind if node.kind != "model" else "")
    if above:
        parts.append(_line("quiet", middle, y + 15, _cut(above)))
    parts.append(_line("", middle, y + (30 if above else 24), _cut(node.label)))
    left, right = missing.get(key, (0, 0))
    if left:
        parts.append(f'<text class="quiet" text-anchor="end" x="{x - 3:.1f}" y="{y + 9:.1f}">')
        parts.append(f"+{left}</text>")
    if right:
        parts.append(f'<text class="quiet" x="{x + place.width + 3:.1f}" y="{y + 9:.1f}">')
        parts.append(f"+{right}</text>")
    return "".join([*parts, "</g>"])


def _line(kind: str, x: float, y: float, text: str) -> str:
    named = f' class="{kind}"' if kind else ""
    return f'<text{named} text-anchor="middle" x="{x:.1f}" y="{y:.1f}">{escape(text)}</text>'


def escape(text: str) -> str:
    """A text for XML, without what XML cannot hold."""
    return html.escape(_NO_XML.sub("\N{REPLACEMENT CHARACTER}", text))


def _cut(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}\N{HORIZONTAL ELLIPSIS}"
