from rocky.analysis.lineage import ColumnRef, Hop, Lineage, RowHop
from rocky.language.datatypes.types import INT
from rocky.language.ir import Edge, Influence, ModelIr, OutputColumn


def model(name, columns, influences=()):
    """A model from {"column": ["table.column kind", ...]}."""
    made = tuple(
        OutputColumn(column, INT, True, tuple(edge(text) for text in edges))
        for column, edges in columns.items()
    )
    shaping = tuple(
        Influence(*text.split()[0].rsplit(".", 1), text.split()[1]) for text in influences
    )
    return ModelIr(name, made, True, (), shaping)


def edge(text):
    place, kind = text.split()
    return Edge(*place.rsplit(".", 1), kind)


def lineage(*models, tables=None):
    return Lineage({each.name.lower(): each for each in models}, tables or {})


def test_values_are_followed_to_the_sources_in_order_of_distance():
    graph = lineage(
        model("Mart", {"total": ["mid.x aggregate"]}),
        model("mid", {"x": ["raw.t.a expression", "raw.t.b cast"]}),
        tables={"raw.T": ["A", "b"]},
    )
    trace = graph.trace(ColumnRef("Mart", "total"), "upstream")

    assert (
        Hop(ColumnRef("mid", "x"), ColumnRef("Mart", "total"), "aggregate"),
        Hop(ColumnRef("raw.T", "A"), ColumnRef("mid", "x"), "expression"),
        Hop(ColumnRef("raw.T", "b"), ColumnRef("mid", "x"), "cast"),
    ) == trace.hops


def test_names_are_compared_without_case_and_come_back_as_declared():
    graph = lineage(model("Mart", {"Total": ["RAW.T.a direct"]}), tables={"raw.t": ["A"]})

    assert [ColumnRef("raw.t", "A")] == [
        hop.source for hop in graph.hops_into(ColumnRef("MART", "total"))
    ]
    assert [ColumnRef("Mart", "Total")] == [
        hop.target for hop in graph.hops_from(ColumnRef("Raw.T", "a"))
    ]


def test_a_column_is_reached_with_the_strongest_kind_on_any_path():
    graph = lineage(
        model("top", {"x": ["left.x direct", "right.x direct"]}),
        model("left", {"x": ["base.x cast"]}),
        model("right", {"x": ["base.x window"]}),
        model("base", {"x": ["raw.x direct"]}),
    )
    reached = graph.trace(ColumnRef("top", "x"), "upstream").reached

    assert "window" == reached[ColumnRef("base", "x")] == reached[ColumnRef("raw", "x")]
    assert "direct" == reached[ColumnRef("left", "x")]


def test_downstream_is_upstream_read_the_other_way():
    models = (
        model("top", {"x": ["mid.y direct"], "z": ["mid.y expression"]}),
        model("mid", {"y": ["raw.t.a direct"]}),
    )
    trace = lineage(*models).trace(ColumnRef("raw.t", "a"), "downstream")

    assert {ColumnRef("mid", "y"), ColumnRef("top", "x"), ColumnRef("top", "z")} == set(
        trace.reached
    )


def test_influences_are_kept_apart_from_values():
    graph = lineage(
        model("top", {"x": ["mid.x direct"]}, ["mid.flag filter"]),
        model("mid", {"x": ["raw.a direct"], "flag": ["raw.b direct"]}, ["raw.c join"]),
    )
    up = graph.trace(ColumnRef("top", "x"), "upstream")
    down = graph.trace(ColumnRef("raw", "b"), "downstream")

    assert {ColumnRef("mid", "x"), ColumnRef("raw", "a")} == set(up.reached)
    assert (
        RowHop(ColumnRef("mid", "flag"), "top", "filter"),
        RowHop(ColumnRef("raw", "c"), "mid", "join"),
    ) == up.influences
    assert {ColumnRef("mid", "flag")} == set(down.reached)
    assert (RowHop(ColumnRef("mid", "flag"), "top", "filter"),) == down.influences


def test_a_cycle_is_walked_once():
    graph = lineage(model("a", {"x": ["b.x direct"]}), model("b", {"x": ["a.x direct"]}))

    assert 2 == len(graph.trace(ColumnRef("a", "x"), "upstream").hops)
    assert 2 == len(graph.trace(ColumnRef("a", "x"), "downstream").hops)


def test_many_paths_are_walked_in_linear_time():
    layers = [
        model(f"m{index}", {"x": [f"m{index + 1}.x direct", f"m{index + 1}.y cast"],
                            "y": [f"m{index + 1}.x cast", f"m{index + 1}.y window"]})
        for index in range(2000)
    ]  # fmt: skip
    trace = lineage(*layers).trace(ColumnRef("m0", "x"), "upstream")

    assert 2 + 4 * 1999 == len(trace.hops)


def test_a_column_of_a_source_comes_from_nowhere():
    trace = lineage(tables={"raw.t": ["a"]}).trace(ColumnRef("raw.t", "a"), "upstream")

    assert ((), {}, ()) == (trace.hops, trace.reached, trace.influences)
