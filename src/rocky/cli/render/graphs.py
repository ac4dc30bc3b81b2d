"""Graphs to draw: Graphviz' DOT and Mermaid. An edge is (from, to, label); labels may be empty."""

from collections.abc import Sequence

Edges = Sequence[tuple[str, str, str]]


def render_dot(edges: Edges, nodes: Sequence[str] = ()) -> str:
    """A DOT digraph, left to right."""
    lines = ["digraph lineage {", "  rankdir=LR;", "  node [shape=box];"]
    lines += [f"  {_dot(node)};" for node in nodes]
    for source, target, label in edges:
        suffix = f" [label={_dot(label)}]" if label else ""
        lines.append(f"  {_dot(source)} -> {_dot(target)}{suffix};")
    return "\n".join([*lines, "}", ""])


def _dot(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def render_mermaid(edges: Edges, nodes: Sequence[str] = ()) -> str:
    """A Mermaid flowchart. Its ids must be plain words, so names stand in the labels."""
    names = dict.fromkeys([*nodes, *(name for edge in edges for name in edge[:2])])
    ids = {name: f"n{index}" for index, name in enumerate(names)}
    lines = ["flowchart LR"]
    lines += [f"  {ids[name]}[{_mermaid(name)}]" for name in names]
    for source, target, label in edges:
        arrow = f"-->|{_mermaid(label)}|" if label else "-->"
        lines.append(f"  {ids[source]} {arrow} {ids[target]}")
    return "\n".join([*lines, ""])


def _mermaid(text: str) -> str:
    escaped = text.replace('"', "#quot;")
    return f'"{escaped}"'
