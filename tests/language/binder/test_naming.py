"""Names of un-aliased columns, recorded from Spark 4.1: an expression and the name Spark gives it."""

import pytest

from rocky import check_sql

TABLE = """
    a INT, b INT NOT NULL, i BIGINT, s STRING, r STRING, d DATE, d2 DATE, ts TIMESTAMP, x DOUBLE,
    arr ARRAY<INT>, arr2 ARRAY<STRUCT<u: INT, v: STRING>>, m MAP<STRING, INT>, bo BOOLEAN,
    st STRUCT<u: INT, v: STRING>, bin BINARY, `odd col` INT, iv INTERVAL DAY TO SECOND
"""

LITERALS = [
    ("1", "1"),
    ("1L", "1"),
    ("-1.5D", "-1.5"),
    ("1.50", "1.50"),
    ("1e10D", "1.0E10"),
    ("1e-5", "1.0E-5"),
    ("0.1F", "0.1"),
    ("1e36BD", "1000000000000000000000000000000000000"),
    ("'it''s'", "it's"),
    ("true", "true"),
    ("null", "NULL"),
    ("X'abcdef'", "X'ABCDEF'"),
    ("date '2020-1-5'", "DATE '2020-01-05'"),
    ("timestamp '2020-01-01'", "TIMESTAMP '2020-01-01 00:00:00'"),
    ("timestamp_ntz '2020-01-01 10:00:00'", "TIMESTAMP_NTZ '2020-01-01 10:00:00'"),
    ("time '10:00:00.5'", "TIME '10:00:00.5'"),
    ("interval '1' day", "INTERVAL '1' DAY"),
    ("interval 1 day 2 hours", "INTERVAL '1 02' DAY TO HOUR"),
    ("interval 90 minutes", "INTERVAL '90' MINUTE"),
    ("interval '1.5' second", "INTERVAL '01.5' SECOND"),
    ("interval 3 months 2 years", "INTERVAL '2-3' YEAR TO MONTH"),
    ("interval '-1 02:03:04' day to second", "INTERVAL '-1 02:03:04' DAY TO SECOND"),
]
OPERATORS = [
    ("a + 1", "(a + 1)"),
    ("-a", "(- a)"),
    ("-(1)", "(- 1)"),
    ("+a", "(+ a)"),
    ("a - b * 2", "(a - (b * 2))"),
    ("a div b", "(a div b)"),
    ("s || r || 'x'", "concat(concat(s, r), x)"),
    ("a <> b", "(NOT (a = b))"),
    ("a is distinct from b", "(NOT (a <=> b))"),
    ("bo is not true", "(NOT (bo <=> true))"),
    ("not a is null", "(NOT (a IS NULL))"),
    ("a is not null", "(a IS NOT NULL)"),
    ("a in (1, 2)", "(a IN (1, 2))"),
    ("a not in (1, 2)", "(NOT (a IN (1, 2)))"),
    ("a between 1 and 2", "between(a, 1, 2)"),
    ("s like 'a!%' escape '!'", "s LIKE a!% ESCAPE '!'"),
    ("s not like 'a%'", "(NOT s LIKE a%)"),
    ("s rlike 'a.*'", "RLIKE(s, a.*)"),
    ("s ilike any ('a', 'b')", "likeany(lower(s))"),
    ("~a", "~a"),
    ("a >>> 1", "(a >>> 1)"),
    ("a = 1 and b = 2 and bo and s = 'x'", "(((a = 1) AND (b = 2)) AND (bo AND (s = x)))"),
    ("a > 1.5", "(a > 1)"),
    ("a >= 1.5", "(a >= 2)"),
    ("1.5 > a", "(2 > a)"),
]
MOMENTS = [
    ("d + 1", "date_add(d, 1)"),
    ("1 + d", "date_add(d, 1)"),
    ("d - 1", "date_sub(d, 1)"),
    ("d - d2", "(d - d2)"),
    ("d + interval 1 day", "date_add(d, extractansiintervaldays(INTERVAL '1' DAY))"),
    ("d - interval 1 day", "date_add(d, (- extractansiintervaldays(INTERVAL '1' DAY)))"),
    ("d + interval '1' month", "d + INTERVAL '1' MONTH"),
    ("d + interval '2' hour", "d + INTERVAL '02' HOUR"),
    ("ts - interval '1' hour", "ts - INTERVAL '01' HOUR"),
    ("'2020-01-01' + interval 1 day", "2020-01-01 + INTERVAL '1' DAY"),
    ("2 * iv", "(iv * 2)"),
]
CASTS = [
    ("cast(a as string)", "a"),
    ("try_cast(s as int)", "s"),
    ("cast(st.u as string)", "CAST(st.u AS STRING)"),
    ("upper(cast(a as string))", "upper(CAST(a AS STRING))"),
    ("a::string || 'x'", "concat(CAST(a AS STRING), x)"),
    ("abs(int(s))", "abs(s)"),
    ("size(cast(arr as array<string>))", "size(arr)"),
    ("upper(cast(s as varchar(10)))", "upper(CAST(s AS STRING))"),
]
PATHS = [
    ("st.u", "u"),
    ("p.st.u + 1", "(st.u + 1)"),
    ("(st).u", "u"),
    ("arr2[0].u", "arr2[0].u"),
    ("arr2.u", "u"),
    ("m.k", "k"),
    ("m.k + 1", "(m[k] + 1)"),
    ("m['k']", "m[k]"),
    ("st['u']", "st.u"),
    ("A + B", "(A + B)"),
    ("`odd col` + 1", "(odd col + 1)"),
]
CALLS = [
    ("count(*)", "count(1)"),
    ("count(distinct a, b)", "count(DISTINCT a, b)"),
    ("sum(a) filter (where b > 1)", "sum(a) FILTER (WHERE (b > 1))"),
    ("mean(a)", "mean(a)"),
    ("array_agg(a)", "collect_list(a)"),
    ("first_value(a) ignore nulls", "first(a)"),
    ("first(a, true)", "first(a)"),
    ("percentile_approx(a, 0.5)", "percentile_approx(a, 0.5, 10000)"),
    (
        "percentile_cont(0.5) within group (order by a desc)",
        "percentile_cont(0.5) WITHIN GROUP (ORDER BY a DESC)",
    ),
    ("mode() within group (order by a)", "mode() WITHIN GROUP (ORDER BY a DESC)"),
    (
        "string_agg(distinct s) within group (order by s)",
        "listagg(DISTINCT s, NULL) WITHIN GROUP (ORDER BY s ASC NULLS FIRST)",
    ),
    ("substr(s, 1)", "substr(s, 1, 2147483647)"),
    ("substring(s from 1 for 2)", "substring(s, 1, 2)"),
    ("position('a' in s)", "locate(a, s, 1)"),
    ("trim(leading 'x' from s)", "TRIM(LEADING x FROM s)"),
    ("extract(year from d)", "extract(year FROM d)"),
    ("dateadd(month, 2, ts)", "timestampadd(month, 2, ts)"),
    ("ceil(x)", "CEIL(x)"),
    ("log(x)", "LOG(E(), x)"),
    ("if(a > 1, b, 0)", "(IF((a > 1), b, 0))"),
    ("isnull(a)", "(a IS NULL)"),
    ("nvl(a, b)", "nvl(a, b)"),
    ("split(s, ',')", "split(s, ,, -1)"),
    ("mask(s)", "mask(s, X, x, n, NULL)"),
    ("to_char(a, '99')", "to_char(a, 99)"),
    ("rpad(bin, 3)", "rpad(bin, 3, X'00')"),
    ("current_date", "current_date()"),
    ("struct(a as x, b)", "struct(a AS x, b)"),
    ("(a + 1, s)", "named_struct(col1, (a + 1), s, s)"),
    (
        "transform(arr, (v, j) -> v + j)",
        "transform(arr, lambdafunction((namedlambdavariable() + namedlambdavariable()), "
        "namedlambdavariable(), namedlambdavariable()))",
    ),
    (
        "aggregate(arr, 0, (acc, v) -> acc + v)",
        "aggregate(arr, 0, lambdafunction((namedlambdavariable() + namedlambdavariable()), "
        "namedlambdavariable(), namedlambdavariable()), "
        "lambdafunction(namedlambdavariable(), namedlambdavariable()))",
    ),
    ("case a when 1 then 'x' else null end", "CASE WHEN (a = 1) THEN x ELSE NULL END"),
    ("from_json(s, 'a INT').a", "from_json(s).a"),
]
WINDOWS = [
    ("sum(a) over ()", "sum(a) OVER (ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)"),
    (
        "sum(a) over (order by b, s desc)",
        "sum(a) OVER (ORDER BY b ASC NULLS FIRST, s DESC NULLS LAST RANGE BETWEEN "
        "UNBOUNDED PRECEDING AND CURRENT ROW)",
    ),
    (
        "row_number() over (partition by b order by a)",
        "row_number() OVER (PARTITION BY b ORDER BY a ASC NULLS FIRST ROWS BETWEEN "
        "UNBOUNDED PRECEDING AND CURRENT ROW)",
    ),
    (
        "lag(a) over (order by b)",
        "lag(a, 1, NULL) OVER (ORDER BY b ASC NULLS FIRST ROWS BETWEEN -1 FOLLOWING AND -1 "
        "FOLLOWING)",
    ),
    (
        "lead(a, 2, 5) over (order by b desc nulls last)",
        "lead(a, 2, 5) OVER (ORDER BY b DESC NULLS LAST ROWS BETWEEN 2 FOLLOWING AND 2 FOLLOWING)",
    ),
    (
        "sum(a) over (order by b rows between 1 preceding and 2 following)",
        "sum(a) OVER (ORDER BY b ASC NULLS FIRST ROWS BETWEEN 1 PRECEDING AND 2 FOLLOWING)",
    ),
    (
        "sum(a) over (order by i range between 1 preceding and 1 following)",
        "sum(a) OVER (ORDER BY i ASC NULLS FIRST RANGE BETWEEN (- 1) FOLLOWING AND 1 FOLLOWING)",
    ),
    (
        "max(a) over (partition by b) + 1",
        "(max(a) OVER (PARTITION BY b ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED "
        "FOLLOWING) + 1)",
    ),
]
SUBQUERIES = [
    ("(select max(a) from p)", "scalarsubquery()"),
    ("(select max(q.a) from p q where q.b = p.b and q.a > p.a)", "scalarsubquery(b, a)"),
    ("exists (select p.a from p q where q.b = p.b)", "exists(a, b)"),
    ("a in (select a from p)", "(a IN (listquery()))"),
    ("(a, b) in (select a, b from p)", "(named_struct('a', a, 'b', b) IN (listquery()))"),
]


def names(select: str) -> list[str]:
    return [column.name for column in check_sql(f"SELECT {select} FROM p", {"p": TABLE}).columns]


@pytest.mark.parametrize(("expression", "name"), LITERALS)
def test_a_literal_prints_its_value_and_never_its_quotes(expression: str, name: str) -> None:
    assert names(expression) == [name]


@pytest.mark.parametrize(("expression", "name"), OPERATORS)
def test_an_operator_prints_as_spark_resolved_it(expression: str, name: str) -> None:
    assert names(expression) == [name]


@pytest.mark.parametrize(("expression", "name"), MOMENTS)
def test_arithmetic_on_dates_prints_the_function_behind_it(expression: str, name: str) -> None:
    assert names(expression) == [name]


@pytest.mark.parametrize(("expression", "name"), CASTS)
def test_only_casts_the_author_wrote_print(expression: str, name: str) -> None:
    assert names(expression) == [name]


@pytest.mark.parametrize(("expression", "name"), PATHS)
def test_a_column_prints_without_its_qualifier_and_a_field_with_its_column(
    expression: str, name: str
) -> None:
    assert names(expression) == [name]


@pytest.mark.parametrize(("expression", "name"), CALLS)
def test_a_call_prints_the_arguments_spark_fills_in(expression: str, name: str) -> None:
    assert names(expression) == [name]


@pytest.mark.parametrize(("expression", "name"), WINDOWS)
def test_a_window_function_prints_the_frame_nobody_wrote(expression: str, name: str) -> None:
    assert names(expression) == [name]


@pytest.mark.parametrize(("expression", "name"), SUBQUERIES)
def test_a_subquery_prints_the_outer_columns_it_reads(expression: str, name: str) -> None:
    assert names(expression) == [name]


def test_an_alias_used_later_in_the_list_prints_as_a_lateral_reference() -> None:
    assert names("a AS q, q + 1") == ["q", "(lateralAliasReference(q) + 1)"]


def test_naming_a_column_reports_nothing_twice() -> None:
    found = check_sql("SELECT upper(nosuch) + 1 FROM p", {"p": TABLE})

    assert [each.condition for each in found.diagnostics] == ["UNRESOLVED_COLUMN.WITH_SUGGESTION"]


def test_a_star_among_arguments_prints_the_columns_it_means() -> None:
    found = check_sql("SELECT concat_ws('-', *) FROM q", {"q": "a STRING, b STRING"})

    assert [column.name for column in found.columns] == ["concat_ws(-, a, b)"]
