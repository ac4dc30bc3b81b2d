"""The models of the shop as a graph, and the way one column takes through it."""

from collections import defaultdict
from itertools import combinations, pairwise
from statistics import mean

from rocky.api import Workspace
from tools.pictures.shop import Shop
from tools.pictures.svg import Picture

COLUMN = ("fct_revenue", "amount")
BOX = (160, 40)
GAP = (46, 16)
BEND = 6
MARGIN = 24
TOP = 58
SIZE = 12
FILLS = {"source": "plain", "seed": "amber-soft", "model": "blue-soft"}
SWEEPS = 8
"""Rounds of sorting a layer by its neighbours; more change nothing for graphs that fit a page."""

Edge = tuple[str, str]
Route = tuple[str, ...]
Place = tuple[float, float]


def draw_lineage(shop: Shop) -> Picture:
    """The whole graph, with the columns that a number is made of marked in it."""
    workspace = shop.workspace()
    kinds = _kinds(workspace)
    edges = sorted({edge for name in kinds for edge in workspace.lineage(name).graph})
    trace = workspace.lineage(".".join(COLUMN)).trace
    columns = {COLUMN[0]: COLUMN[1]} | {each.source.model: each.source.column for each in trace}
    ways = {(each.source.model, each.target.model): each.transform for each in trace}
    layers, routes = _layers(list(kinds), edges)
    layers = _arrange(layers, list(routes.values()))
    height = max(_height(layer, kinds) for layer in layers)
    picture = Picture(
        "The lineage graph of the shop",
        f"{len(kinds)} boxes from sources and seeds on the left to reports on the right, with an"
        f" arrow from each table to each model that reads it. The way of {'.'.join(COLUMN)} is"
        " marked: "
        + ", ".join(
            f"{source} to {target} ({how})" for (source, target), how in reversed(ways.items())
        )
        + ".",
        2 * MARGIN + len(layers) * BOX[0] + (len(layers) - 1) * GAP[0],
        round(TOP + MARGIN + height),
    )
    places = _places(layers, kinds, height)
    _heading(picture)
    for edge in [edge for edge in edges if edge not in ways] + list(ways):
        _arrow(picture, [places[name] for name in routes[edge]], marked=edge in ways)
    for name, kind in kinds.items():
        _box(picture, places[name], name, kind, columns.get(name))
    return picture


def _kinds(workspace: Workspace) -> dict[str, str]:
    listed = workspace.list()
    return {each.name: each.kind for each in (*listed.sources, *listed.seeds, *listed.models)}


def _layers(names: list[str], edges: list[Edge]) -> tuple[list[list[str]], dict[Edge, Route]]:
    """The names by layers, and the way of each edge: a bend for every layer that it crosses.

    A name is one layer behind the last that it reads; what reads nothing is just before its first
    reader. A bend is a name of its own, so that it is arranged like the boxes.
    """
    reads = defaultdict(list)
    read_by = defaultdict(list)
    for source, target in edges:
        reads[target].append(source)
        read_by[source].append(target)

    def depth(name: str) -> int:
        if not reads[name]:
            return (
                min((depth(each) for each in read_by[name] if len(reads[each]) > 1), default=1) - 1
            )
        return max(_depth(each) for each in reads[name]) + 1

    def _depth(name: str) -> int:
        return max((_depth(each) + 1 for each in reads[name]), default=0)

    at = {name: depth(name) for name in names}
    layers: list[list[str]] = [[] for _ in range(max(at.values()) + 1)]
    for name in names:
        layers[at[name]].append(name)
    routes = {}
    for source, target in edges:
        bends = [f"{source} {target} {number}" for number in range(at[source] + 1, at[target])]
        for number, bend in enumerate(bends, at[source] + 1):
            layers[number].append(bend)
        routes[source, target] = (source, *bends, target)
    return layers, routes


def _arrange(layers: list[list[str]], routes: list[Route]) -> list[list[str]]:
    """The layers, each sorted by where its neighbours stand, so that few arrows cross."""
    beside = defaultdict(list)
    for route in routes:
        for source, target in pairwise(route):
            beside[source].append(target)
            beside[target].append(source)
    best, fewest = layers, _crossings(layers, routes)
    for _ in range(SWEEPS):
        for number, layer in enumerate(layers):
            at = _shares(layers)
            layers[number] = sorted(layer, key=lambda name: mean(at[each] for each in beside[name]))
        if (crossings := _crossings(layers, routes)) < fewest:
            best, fewest = [list(layer) for layer in layers], crossings
    return best


def _shares(layers: list[list[str]]) -> dict[str, float]:
    """Where each name stands in its layer, from 0 to 1."""
    return {
        name: (number + 0.5) / len(layer) for layer in layers for number, name in enumerate(layer)
    }


def _crossings(layers: list[list[str]], routes: list[Route]) -> int:
    at = _shares(layers)
    depth = {name: number for number, layer in enumerate(layers) for name in layer}
    legs = sorted({leg for route in routes for leg in pairwise(route)})
    return sum(
        depth[a] == depth[c] and (at[a] - at[c]) * (at[b] - at[d]) < 0
        for (a, b), (c, d) in combinations(legs, 2)
    )


def _height(layer: list[str], kinds: dict[str, str]) -> float:
    return sum((BOX[1] if name in kinds else BEND) + GAP[1] for name in layer) - GAP[1]


def _places(layers: list[list[str]], kinds: dict[str, str], height: float) -> dict[str, Place]:
    """The middle of the left side of every box and bend; a short layer stands in the middle."""
    places: dict[str, Place] = {}
    for column, layer in enumerate(layers):
        y = TOP + (height - _height(layer, kinds)) / 2
        for name in layer:
            tall = BOX[1] if name in kinds else BEND
            places[name] = (MARGIN + column * (BOX[0] + GAP[0]), y + tall / 2)
            y += tall + GAP[1]
    return places


def _heading(picture: Picture) -> None:
    picture.text((MARGIN, 34), ".".join(COLUMN), "green", mono=True, bold=True)
    picture.text((MARGIN + 156, 34), "and the columns it is made of", "green")
    x = picture.width - MARGIN - 214
    for number, kind in enumerate(FILLS):
        picture.box((x + 76 * number, 23), (14, 14), FILLS[kind], round_by=3)
        picture.text((x + 76 * number + 20, 34), kind, "quiet", size=SIZE)


def _arrow(picture: Picture, stops: list[Place], *, marked: bool) -> None:
    bend = GAP[0] * 0.6
    path = f"M{stops[0][0] + BOX[0]:g},{stops[0][1]:g}"
    for (x, y), (to_x, to_y) in pairwise(stops):
        end = to_x - 1 if (to_x, to_y) == stops[-1] else to_x
        path += f" C{x + BOX[0] + bend:g},{y:g} {to_x - bend:g},{to_y:g} {end:g},{to_y:g}"
        path += "" if (to_x, to_y) == stops[-1] else f" H{to_x + BOX[0]:g}"
    picture.line(path, "green" if marked else "line", width=2.5 if marked else 1.5, arrow=True)


def _box(picture: Picture, place: Place, name: str, kind: str, column: str | None) -> None:
    x, y = place
    colours = ("green-soft", "green") if column else (FILLS[kind], "line")
    picture.box((x, y - BOX[1] / 2), BOX, colours[0], edge=colours[1])
    middle = x + BOX[0] / 2
    lift = y - 3 if column else y + 5
    picture.text((middle, lift), name, size=SIZE, mono=True, anchor="middle")
    if column:
        words = f".{column}"
        picture.text(
            (middle, y + 13), words, "green", size=SIZE, mono=True, bold=True, anchor="middle"
        )
