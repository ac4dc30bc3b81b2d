import pytest

from rocky.compiler.graph import scan_references, topological_levels


@pytest.mark.parametrize(
    ("sql", "names"),
    [
        ("SELECT * FROM Orders", {("orders",)}),
        ("SELECT * FROM a.b.c JOIN d.e ON 1 = 1", {("a", "b", "c"), ("d", "e")}),
        ("SELECT * FROM a AS x, b y,\n c", {("a",), ("b",), ("c",)}),
        ("WITH t AS (SELECT 1 FROM u) SELECT * FROM t", {("t",), ("u",)}),
        ("SELECT * FROM `a`.`b c`", {("a", "b")}),
        ("SELECT * FROM ` , , x`", {("",), ("x",)}),
        ("SELECT 1", set()),
    ],
)
def test_the_scan_finds_names_where_a_table_may_stand(sql, names):
    assert names == scan_references(sql)


def test_levels_come_after_all_they_read():
    upstream = {"c": ["a", "b"], "b": ["a"], "a": ["raw.t"], "d": ["d"]}

    assert ([["a", "d"], ["b"], ["c"]], []) == topological_levels("abcd", upstream)


def test_what_stands_in_or_behind_a_cycle_is_left_over():
    upstream = {"a": ["b"], "b": ["a"], "c": ["b"], "d": []}

    assert ([["d"]], ["a", "b", "c"]) == topological_levels("abcd", upstream)
