"""Comments, strings and names in quotes end where Spark ends them, for whoever looks at a text."""

import pytest

from rocky.diagnostics.suppression import find_allows
from rocky.language.placeholders import find_placeholders
from rocky.language.quotes import find_quotes, find_unclosed, on_one_line, only_code
from rocky.language.syntax.parser import ParsedQuery, SyntaxProblem, parse_query
from rocky.language.syntax.references import fill_placeholders
from rocky.language.syntax.tidy_sql import same_pieces, tidy_sql
from rocky.language.syntax.transpiler import call_at


def columns(sql: str) -> list[str]:
    parsed = parse_query(sql)
    assert isinstance(parsed, ParsedQuery)
    return [each.alias_or_name for each in parsed.tree.expressions]


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        # Asked of Spark 4.1: a backslash right before the break goes on, one before `\r\n` ends.
        ("SELECT 1 AS a -- c \\\n, 2 AS b", ["a"]),
        ("SELECT 1 AS a -- c \\\n, 2 AS b\n, 3 AS c", ["a", "c"]),
        ("SELECT 1 AS a -- c \\\r\n, 2 AS b", ["a", "b"]),
        ("SELECT 1 AS a -- c \\ \n, 2 AS b", ["a", "b"]),
        ("SELECT 1 AS a -- c \r, 2 AS b", ["a", "b"]),
        ("SELECT '--\\\n' AS a, 2 AS b", ["a", "b"]),
        ("SELECT 1 FROM FROM t", ["FROM"]),
        ("SELECT r'\\' AS a, 1 AS b FROM t GROUP -- '\n BY a", ["a", "b"]),
    ],
)
def test_a_query_has_the_columns_that_spark_gives_it(sql, expected):
    assert expected == columns(sql)


def test_what_a_comment_swallows_is_no_code():
    sql = "SELECT @a() -- c:\\\n + @b()\n + @c()"

    assert "SELECT @a()" + " " * 15 + "\n + @c()" == only_code(sql)
    assert len(sql) == len(on_one_line(sql))


@pytest.mark.parametrize(
    ("sql", "mark"),
    [
        ("SELECT 1 /* a /* b */", "/*"),
        ("SELECT 'a", "'"),
        ("SELECT r'a\\", "r'"),
        ("SELECT `a", "`"),
        ("SELECT 'a\\'", "'"),
        ("SELECT 1 -- a", None),
        ("SELECT r'a\\'", None),
        ("SELECT 1 /* a /* b */ */", None),
    ],
)
def test_what_has_no_end_is_told_where_it_begins(sql, mark):
    found = find_unclosed(sql)

    assert mark == (None if found is None else sql[slice(*found)])
    problem = parse_query(sql)
    assert (mark is not None) is isinstance(problem, SyntaxProblem)
    if isinstance(problem, SyntaxProblem):
        assert (found, True) == (problem.span, problem.message.endswith("never closed"))


@pytest.mark.parametrize(
    ("sql", "stands"),
    [
        ("SELECT /*+ BROADCAST(t) */ /* c */ /*+ COALESCE(1) */ id FROM t", True),
        ("SELECT '/*+ x */' AS a", True),
        ("FROM t |> SELECT /*+ COALESCE(1) */ id", True),
        ("FROM t |> SELECT /*+ BROADCAST(t), COALESCE(1) */ DISTINCT id |> WHERE id > 0", True),
        # A hint within a comment is text: the comment ends where the hint would.
        ("SELECT /* a /*+ b */ id FROM t", True),
        ("SELECT /* a /* b /*+ c */ */ /*+ COALESCE(1) */ id FROM t", True),
        ("SELECT 1 /* /*+ x */ */ AS id", False),
        ("SELECT id /*+ BROADCAST(t) */ FROM t", False),
        ("SELECT DISTINCT /*+ BROADCAST(t) */ id FROM t", False),
        ("/*+ BROADCAST(t) */ SELECT id FROM t", False),
    ],
)
def test_a_hint_stands_behind_select_or_is_refused_as_spark_does(sql, stands):
    assert stands is isinstance(parse_query(sql), ParsedQuery)


@pytest.mark.parametrize(
    ("sql", "filled"),
    [
        ("SELECT r'\\', @start_date", "SELECT r'\\', 'S'"),
        ("SELECT r'\\', '@start_date'", "SELECT r'\\', '@start_date'"),
        ("SELECT /* a /* b */ @start_date */ @end_date", "SELECT /* a /* b */ @start_date */ 'E'"),
        ("SELECT 1 -- \\\n@start_date", "SELECT 1 -- \\\n@start_date"),
    ],
)
def test_an_interval_is_filled_in_where_it_is_code(sql, filled):
    assert filled == fill_placeholders(sql, "S", "E")
    assert (filled != sql) is bool(find_placeholders(sql))


def test_an_allow_is_found_where_spark_has_a_comment():
    assert () == find_allows("SELECT 1\n, 2 -- c \\\n'-- rocky: allow(W001)'", "m.sql")
    assert 1 == len(find_allows("SELECT 1 -- c \r-- rocky: allow(W001)", "m.sql"))


def test_a_call_ends_with_its_parenthesis():
    assert "f(r'\\', 1)" == call_at("SELECT f(r'\\', 1), ')'", 7)
    assert "f(/* ) /* ) */ ) */ 1)" == call_at("SELECT f(/* ) /* ) */ ) */ 1)", 7)


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        (
            "select r'\\' as a, 'x  \n\n\n\n from' as b",
            "SELECT r'\\' AS a, 'x  \n\n\n\n from' AS b\n",
        ),
        ("select 1 as a -- c:\\  \n, 2 as b", "SELECT 1 AS a -- c:\\ \n, 2 AS b\n"),
        ("select 1 as a -- c:\\\r\n, 2 as b", "SELECT 1 AS a -- c:\\ \n, 2 AS b\n"),
        ("select 1 as a -- c:\\\n, from\n, 2 as b", "SELECT 1 AS a -- c:\\\n, from\n, 2 AS b\n"),
    ],
)
def test_a_tidy_text_ends_its_strings_and_comments_where_it_did(sql, expected):
    tidy = tidy_sql(sql)

    assert not isinstance(tidy, SyntaxProblem)
    assert expected == tidy.text
    assert same_pieces(sql, tidy.text)
    assert tidy == tidy_sql(tidy.text)
    assert columns(sql) == columns(tidy.text)


def test_all_of_a_text_is_found_once():
    sql = "a'b\\'c'--d\\\ne\n/*f/*g*/h*/`i`r'\\'/*+ j */"

    assert ["'b\\'c'", "--d\\\ne", "/*f/*g*/h*/", "`i`", "r'\\'", "/*+ j */"] == [
        sql[slice(*each.span)] for each in find_quotes(sql)
    ]
