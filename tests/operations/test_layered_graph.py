"""The picture of a graph: well-formed, layered, escaped, bounded, and honest about what it leaves."""

import re
import time
from xml.etree import ElementTree as ET

from rocky.operations.graph.layered_graph import MOST, Graph, Node, render_svg

SVG = "{http://www.w3.org/2000/svg}"


def drawn(graph: Graph) -> ET.Element:
    return ET.fromstring(render_svg(graph))


def graph(*edges: tuple[str, str], focus: str | None = None, **kinds: str) -> Graph:
    names = dict.fromkeys(name for edge in edges for name in edge)
    nodes = {name: Node(name, kinds.get(name, "model")) for name in names}
    return Graph("a graph", nodes, [(*edge, "") for edge in edges], focus)


def boxes(picture: ET.Element) -> dict[str, ET.Element]:
    """The box of each node by what it says when it is pointed at."""
    return {
        group.find(f"{SVG}title").text: box
        for group in picture.iter(f"{SVG}g")
        if (box := group.find(f"{SVG}rect")) is not None and group.find(f"{SVG}title") is not None
    }


def test_what_a_node_comes_from_stands_left_of_it():
    edges = [("a", "b"), ("b", "c"), ("a", "c"), ("late", "c"), ("c", "d")]
    found = boxes(drawn(graph(*edges)))
    x = {name.split()[1]: float(box.get("x")) for name, box in found.items()}

    assert all(x[source] < x[target] for source, target in edges)
    assert x["late"] == x["b"], "as near to its reader as it can"


def test_boxes_do_not_lie_on_each_other():
    edges = [(f"s{i}", f"m{j}") for i in range(6) for j in range(6) if (i + j) % 2]
    edges += [(f"m{j}", "end") for j in range(6)] + [("s0", "end")]
    found = list(boxes(drawn(graph(*edges))).values())
    areas = [tuple(float(box.get(key)) for key in ("x", "y", "width", "height")) for box in found]

    for index, (x, y, width, height) in enumerate(areas):
        for x2, y2, width2, height2 in areas[:index]:
            apart = x + width <= x2 or x2 + width2 <= x or y + height <= y2 or y2 + height2 <= y
            assert apart


def test_names_and_labels_are_text_and_never_markup():
    evil = '</text><script>alert("1")</script>\x00\ud800&'
    nodes = {"a": Node(evil, 'x" onload="y', above=evil), "b": Node("b")}
    text = render_svg(Graph(evil, nodes, [("a", "b", evil)], "a"))
    picture = ET.fromstring(text)

    assert "<script" not in text
    assert not any("onload" in each.attrib for each in picture.iter())
    assert "alert" in "".join(picture.itertext())


def test_a_large_graph_is_cut_and_says_so():
    chain = [(f"m{i}", f"m{i + 1}") for i in range(499)]
    picture = drawn(graph(*chain, focus="m250"))
    said = [each.text for each in picture.iter(f"{SVG}text")]

    assert MOST == len(boxes(picture))
    assert "model m250" in boxes(picture)
    assert "80 of 500 are drawn, the nearest to m250; 420 are left out" in said
    assert 2 == said.count("+1"), "at both ends one neighbour is missing"


def test_without_a_focus_the_nodes_with_the_most_edges_are_drawn():
    star = [("hub", f"m{i}") for i in range(3000)]
    before = time.process_time()
    picture = drawn(graph(*star))

    assert time.process_time() - before < 2
    assert "model hub" in boxes(picture)
    assert "+2921" in [each.text for each in picture.iter(f"{SVG}text")]


def test_a_circle_and_an_empty_graph_are_drawn_too():
    assert {"model a", "model b", "model c"} == set(
        boxes(drawn(graph(("a", "b"), ("b", "a"), ("a", "a"), ("b", "c"))))
    )
    assert {} == boxes(drawn(Graph("nothing", {})))


def test_it_has_its_own_ground_and_colours_for_dark_and_leaves_the_page_alone():
    text = render_svg(graph(("a", "b")))
    style = re.search("<style>(.*)</style>", text).group(1)

    assert 'class="ground"' in text
    assert "prefers-color-scheme:dark" in style
    # Inside a page a style is the page's: every rule is about this picture only.
    rules = re.findall(
        r"([^{}]+)\{[^{}]*\}", style.replace("@media(prefers-color-scheme:dark){", "")
    )
    assert all(rule.strip().startswith(".rocky-graph") for rule in rules)
    assert "http" not in text.replace('xmlns="http://www.w3.org/2000/svg"', "")
