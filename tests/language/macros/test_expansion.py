"""A macro becomes SQL that means what it says, whatever stands around the call."""

import pytest

from rocky.diagnostics import Code
from rocky.diagnostics.diagnostic import Span
from rocky.language.macros.expansion import Expansion
from tests.language.macros.libraries import expanded, expansion, faults, library

DIVIDE = "CREATE MACRO div_or_null(a EXPRESSION, b EXPRESSION) RETURN @a / nullif(@b, 0)"
SHARE = "CREATE MACRO share(a EXPRESSION, b EXPRESSION) RETURN @div_or_null(@a * 100, @b)"


def test_an_argument_is_one_operand_whatever_stands_beside_it():
    assert "SELECT ((a + b) / nullif((c - 1), 0)) * 2" == expanded(
        "SELECT @div_or_null(a + b, c - 1) * 2", DIVIDE
    )
    assert "SELECT 1 - (9-(-5))" == expanded(
        "SELECT 1 - @less(-5)", "CREATE MACRO less(n LITERAL) RETURN 9-@n"
    )


def test_a_call_without_operators_around_it_needs_no_parentheses():
    assert "SELECT a, (b / nullif(c, 0)) AS d" == expanded(
        "SELECT a, @div_or_null(b, c) AS d", DIVIDE
    )
    assert "SELECT round(a, 2) AS b" == expanded(
        "SELECT @cents(a) AS b", "CREATE MACRO cents(a EXPRESSION) RETURN round(@a, 2)"
    )


def test_what_follows_a_call_does_not_become_part_of_the_macro():
    total = "CREATE MACRO total(a EXPRESSION) RETURN sum(@a)"

    assert "SELECT (sum(a)) OVER (PARTITION BY b)" == expanded(
        "SELECT @total(a) OVER (PARTITION BY b)", total
    )
    assert "SELECT (sum(a)) FILTER (WHERE b)" == expanded(
        "SELECT @total(a) FILTER (WHERE b)", total
    )


def test_macros_call_macros_also_in_arguments():
    assert "SELECT (((a / nullif(b, 0)) * 100) / nullif(c, 0))" == expanded(
        "SELECT @share(@div_or_null(a, b), c)", SHARE, DIVIDE
    )


def test_a_field_of_a_parameter_is_a_field_and_not_a_column_of_a_table():
    city = "CREATE MACRO city(a EXPRESSION) RETURN upper(@a.city)"

    assert "SELECT upper((address).city)" == expanded("SELECT @city(address)", city)


def test_a_type_with_commas_is_one_argument_and_comparisons_are_no_types():
    cast = "CREATE MACRO to(a EXPRESSION, t TYPE) RETURN CAST(@a AS @t)"

    assert "SELECT CAST(a AS map<string, array<int>>)" == expanded(
        "SELECT @to(a, map<string, array<int>>)", cast
    )
    assert "SELECT CAST((a < b) AS int), CAST((c > d) AS int)" == expanded(
        "SELECT @to(a < b, int), @to(c > d, int)", cast
    )


def test_a_parameter_of_a_lambda_never_catches_a_column_of_the_caller():
    bump = "CREATE MACRO bump(xs EXPRESSION, d EXPRESSION) RETURN transform(@xs, x -> x.a + @d)"

    assert "SELECT transform(xs, x__bump -> x__bump.a + x)" == expanded("SELECT @bump(xs, x)", bump)


def test_an_own_name_is_one_that_the_caller_has_nowhere():
    bump = "CREATE MACRO bump(xs EXPRESSION) RETURN transform(@xs, x -> x + 1)"

    assert "SELECT transform(x__bump, x__bump_2 -> x__bump_2 + 1)" == expanded(
        "SELECT @bump(x__bump)", bump
    )


def test_the_same_call_twice_is_the_same_text_twice():
    bump = "CREATE MACRO bump(xs EXPRESSION) RETURN transform(@xs, x -> x + 1)"
    once = expanded("@bump(a)", bump)

    assert f"SELECT {once}, count(*) FROM t GROUP BY {once}" == expanded(
        "SELECT @bump(a), count(*) FROM t GROUP BY @bump(a)", bump
    )


def test_ctes_and_aliases_of_a_macro_never_catch_those_of_the_caller():
    newest = """CREATE MACRO newest(t TABLE, k COLUMN) RETURN
WITH r AS (SELECT *, row_number() OVER w AS n FROM @t AS o WINDOW w AS (PARTITION BY o.@k))
SELECT r.* FROM r JOIN dims ON dims.k = r.k WHERE n = 1"""

    assert """WITH r AS (SELECT 1 AS k) SELECT * FROM (WITH r__newest AS (SELECT *, row_number() OVER \
w__newest AS n FROM r AS o__newest WINDOW w__newest AS (PARTITION BY o__newest.k))
SELECT r__newest.* FROM r__newest JOIN dims AS dims__newest ON dims__newest.k = r__newest.k \
WHERE n = 1) AS x""" == expanded(
        "WITH r AS (SELECT 1 AS k) SELECT * FROM @newest(r, k) AS x", newest
    )


def test_a_cte_that_reads_a_table_of_its_own_name_still_reads_the_table():
    clean = """CREATE MACRO clean(x LITERAL) RETURN
WITH orders AS (SELECT * FROM orders WHERE a > @x) SELECT * FROM orders"""

    assert (
        "SELECT * FROM (WITH orders__clean AS (SELECT * FROM orders AS orders__clean WHERE a > 1)"
        " SELECT * FROM orders__clean)"
    ) == expanded("SELECT * FROM @clean(1)", clean)


def test_hints_and_full_names_follow_the_tables_they_name():
    joined = """CREATE MACRO joined(t TABLE) RETURN
SELECT /*+ BROADCAST(rates) */ raw.rates.rate FROM @t JOIN raw.rates ON raw.rates.c = @t.c"""

    assert (
        "SELECT * FROM (SELECT /*+ BROADCAST(rates__joined) */ rates__joined.rate"
        " FROM o AS t__joined JOIN raw.rates AS rates__joined ON rates__joined.c = t__joined.c)"
    ) == expanded("SELECT * FROM @joined(o)", joined)


def test_the_names_of_a_macro_are_renamed_also_in_what_it_passes_on():
    outer = "CREATE MACRO outer_one(xs EXPRESSION) RETURN transform(@xs, x -> @inner_one(x))"
    inner = "CREATE MACRO inner_one(v EXPRESSION) RETURN aggregate(array(@v), 0, (x, y) -> x + @v)"

    assert (
        "SELECT transform(a, x__outer_one -> aggregate(array(x__outer_one), 0,"
        " (x__inner_one, y__inner_one) -> x__inner_one + x__outer_one))"
    ) == expanded("SELECT @outer_one(a)", outer, inner)


def test_a_query_can_be_the_argument_of_a_query():
    some = "CREATE MACRO some(t TABLE, n LITERAL) RETURN SELECT * FROM @t LIMIT @n"

    assert (
        "SELECT * FROM (SELECT * FROM (SELECT * FROM o AS t__some LIMIT 2) AS t__some LIMIT 1)"
    ) == expanded("SELECT * FROM @some(@some(o, 2), 1)", some)


def test_a_literal_may_stand_where_only_a_text_can():
    since = "CREATE MACRO since(d LITERAL) RETURN DATE @d"

    assert "SELECT (DATE '2026-01-01')" == expanded("SELECT @since('2026-01-01')", since)


@pytest.mark.parametrize("comment", ["-- @nobody(1)\n", "/* @nobody(1) */", "'@nobody(1)'"])
def test_nothing_is_called_in_comments_and_texts(comment):
    text = f"SELECT {comment} @one()"

    assert f"SELECT {comment} (1)" == expanded(text, "CREATE MACRO one() RETURN 1")


def test_a_placeholder_of_an_interval_is_no_parameter():
    recent = "CREATE MACRO recent(d COLUMN) RETURN @d >= @start_date AND @d < @end_date"

    assert "SELECT 1 WHERE (day >= @start_date AND day < @end_date)" == expanded(
        "SELECT 1 WHERE @recent(day)", recent
    )


# ------------------------------------------------------------------ places


def test_a_place_in_a_macro_is_the_call_and_a_line_of_the_macro():
    found = expansion("SELECT 1 + @share(a, b)", SHARE, DIVIDE)
    at = found.text.index("nullif")
    span = Span(at, at + len("nullif"))

    assert "@share(a, b)" == "SELECT 1 + @share(a, b)"[slice(*found.written(span))]
    assert [
        ("macros/share.sql", "@div_or_null(@a * 100, @b)"),
        ("macros/div_or_null.sql", "nullif"),
    ] == [(label.path, _text(label)) for label in found.labels(span)]


def _text(label) -> str:
    source = {"macros/share.sql": SHARE, "macros/div_or_null.sql": DIVIDE}[label.path]
    return source[slice(*label.span)]


def test_a_place_in_an_argument_is_the_argument_alone():
    text = "SELECT 1 + @share(a, bad + 1)"
    found = expansion(text, SHARE, DIVIDE)
    at = found.text.index("bad")

    assert Span(text.index("bad"), text.index("bad") + 3) == found.written(Span(at, at + 3))
    assert () == found.labels(Span(at, at + 3))


def test_a_place_around_a_call_has_nothing_to_do_with_the_macro():
    text = "SELECT 1 + @share(a, b) > 2"
    found = expansion(text, SHARE, DIVIDE)
    whole = Span(found.text.index("1"), len(found.text))

    assert Span(7, len(text)) == found.written(whole)
    assert () == found.labels(whole)


def test_a_text_without_calls_around_keeps_its_places():
    text = "SELECT @share(a, b), c FROM t"
    found = expansion(text, SHARE, DIVIDE)
    at = found.text.index("c FROM")

    assert Span(text.index("c FROM"), text.index("c FROM") + 1) == found.written(Span(at, at + 1))


# ------------------------------------------------------------------ faults


def test_a_parameter_is_passed_on_only_to_one_that_takes_its_kind():
    named = "CREATE MACRO named(c COLUMN) RETURN upper(@c)"
    passes = "CREATE MACRO passes(e EXPRESSION) RETURN @named(@e)"

    assert [(Code.MACRO_ARGUMENT, "`c` takes a COLUMN, and `@e` is an EXPRESSION")] == faults(
        "SELECT @passes(a)", named, passes
    )


def test_every_wrong_call_of_a_text_is_told_and_a_broken_macro_once():
    broken = "CREATE MACRO broken(a EXPRESSION) RETURN @b"

    assert [
        (Code.UNKNOWN_MACRO, "no macro `x1`"),
        (Code.UNKNOWN_MACRO, "no macro `x2`"),
        (Code.UNUSABLE_MACRO, "the macro `broken` has no parameter `b`"),
    ] == faults("SELECT @x1(1), @broken(1), @broken(2), @x2(3)", broken)


def test_a_call_that_is_not_closed_is_told():
    assert [(Code.MACRO_ARGUMENT, "the call of `one` is not closed")] == faults(
        "SELECT @one(1", "CREATE MACRO one() RETURN 1"
    )


def test_units_and_functions_without_parentheses_are_no_columns():
    age = "CREATE MACRO age(d EXPRESSION) RETURN datediff(DAY, @d, current_date)"

    assert "SELECT datediff(DAY, born, current_date)" == expanded("SELECT @age(born)", age)


# ------------------------------------------------------------------ odd texts


@pytest.mark.slow
def test_a_text_that_is_nested_deeply_is_expanded_and_one_beyond_all_stacks_is_told():
    one = "CREATE MACRO one() RETURN 1"
    deep = "(" * 400 + "@one()" + ")" * 400

    assert deep.replace("@one()", "(1)") == expanded(f"SELECT {deep}", one).removeprefix("SELECT ")
    absurd = "(" * 60_000 + "@one()" + ")" * 60_000
    assert [(Code.SYNTAX_ERROR, "the query is nested too deeply")] == faults(
        f"SELECT {absurd}", one
    )


@pytest.mark.parametrize(
    "text",
    [
        "@one",
        "@one(",
        "@one()@one()",
        "@one(())",
        "@one(')",
        '@one(")',
        "@one(/*",
        "@one(--",
        "@one(`)",
        "@one(@one(@one(",
        "@one(1 => 2)",
        "@one(x =>)",
        "@one(=>)",
        "@one(,)",
        "@one(map<)",
        "@one(>>)",
        "@one(])",
        "@one([)]",
        "@ one()",
        "@@one()",
        "@one ()",
        "@é()",
        "@one(\x00)",
        "SELECT @one() FROM",
        "SELECT @one() @one() FROM @one() @one()",
        "@one(a.)",
        "@one(.a)",
        "@one(1e)",
        "@one(1e.5BD)",
        "@one($$)",
        "@one({{ x }})",
        "@one(SELECT)",
        "@one(SELECT 1; SELECT 2)",
        "@one(1;)",
    ],
)
def test_what_is_no_sql_is_expanded_or_told_and_never_stops_a_compile(text):
    some = "CREATE MACRO one(x EXPRESSION DEFAULT 1, t TABLE DEFAULT a) RETURN (SELECT @x FROM @t)"
    found = library(some).expand(text)

    assert isinstance(found, Expansion | list)
    if isinstance(found, Expansion):
        for start in range(len(found.text)):
            span = found.written(Span(start, start + 1))
            assert 0 <= span.start <= span.end <= len(text)
