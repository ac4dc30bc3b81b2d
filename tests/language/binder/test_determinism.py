"""A query is called deterministic only when no order of rows can change its result."""

import pytest

import rocky

TABLE = {"raw.o": "m string, c string collate UTF8_LCASE, d double, a int, at timestamp"}


def reasons(expression: str, tmp_path) -> tuple[str, ...]:
    for folder in ("models", "sources"):
        (tmp_path / folder).mkdir()
    (tmp_path / "rocky.toml").write_text('[pipeline.p]\nmodels = "models/**"\n')
    columns = ", ".join(
        f'{{ name = "{each.split(" ", 1)[0]}", type = "{each.split(" ", 1)[1]}" }}'
        for each in TABLE["raw.o"].split(", ")
    )
    (tmp_path / "sources/raw.toml").write_text(
        f'[[source]]\nname = "raw.o"\ncolumns = [{columns}]\n'
    )
    (tmp_path / "models/x.sql").write_text(f"SELECT {expression} AS x FROM raw.o\n")
    compilation = rocky.compile_project(rocky.load_project(tmp_path), cache=False)
    return compilation.models["x"].determinism


@pytest.mark.parametrize(
    "expression",
    [
        "array_sort(collect_set(m))",
        "sort_array(collect_list(a))",
        "sort_array(collect_list(at), false)",
        "ARRAY_SORT(array_agg(m) FILTER (WHERE a > 1))",
    ],
)
def test_what_is_sorted_after_it_was_collected_is_deterministic(expression, tmp_path):
    assert () == reasons(expression, tmp_path)


@pytest.mark.parametrize(
    ("expression", "name"),
    [
        ("collect_list(m)", "collect_list"),
        ("array_sort(collect_set(m), (l, r) -> 1)", "collect_set"),
        # 0.0 and -0.0 sort as equal, and so do `a` and `A` here.
        ("sort_array(array_agg(d))", "array_agg"),
        ("sort_array(collect_list(c))", "collect_list"),
        ("sort_array(collect_list(struct(d)))", "collect_list"),
        ("sort_array(transform(collect_list(m), e -> concat(e, '!')))", "collect_list"),
        ("array_sort(array(first(m)))", "first"),
    ],
)
def test_what_may_come_in_any_order_is_not(expression, name, tmp_path):
    assert (f"order: `{name}` depends on the order of rows",) == reasons(expression, tmp_path)


@pytest.mark.parametrize(
    "expression",
    [
        "timestamp 'now' > at",
        "CAST(' TODAY ' AS date)",
        "at > 'yesterday'",
        "timestamp '10:30'",
        "current_user()",
        "session_user()",
        "current_schema()",
        "(SELECT count(*) FROM raw.o TABLESAMPLE (10 PERCENT))",
        "(SELECT count(*) FROM (SELECT a FROM raw.o) s TABLESAMPLE (10 PERCENT) REPEATABLE (1))",
    ],
)
def test_what_depends_on_when_and_by_whom_it_is_asked_is_not_deterministic(expression, tmp_path):
    assert 1 <= len(reasons(expression, tmp_path))


@pytest.mark.parametrize(
    "expression", ["timestamp '2026-01-31 10:30:00'", "date 'epoch'", "CAST('10:30' AS string)"]
)
def test_a_date_that_is_written_out_is_deterministic(expression, tmp_path):
    assert () == reasons(expression, tmp_path)
