"""Comments and texts in a call are what Spark takes them for, and hide nothing of a macro."""

import pytest

from rocky.diagnostics import Code
from rocky.diagnostics.diagnostic import Span
from tests.language.macros.libraries import expanded, expansion, faults

LESS = "CREATE MACRO less(price EXPRESSION, rate EXPRESSION) RETURN @price * (1 - @rate)"


@pytest.mark.parametrize(
    "call",
    [
        "@less(\n  price  -- the gross price\n  , 0.1)",
        "@less(price, -- the rate\n  0.1 -- of 2026\n)",
        "@less( /* gross, */ price /* of one */, /* ( */ 0.1 /* ) */)",
        "@less(-- gross\nprice, rate -- of 2026\n => -- ten percent\n 0.1)",
        "@less /* than all */ (price, 0.1)",
    ],
)
def test_a_comment_around_an_argument_hides_nothing_of_the_macro(call):
    assert "SELECT (price * (1 - 0.1)) AS net" == expanded(f"SELECT {call} AS net", LESS)


def test_a_comment_inside_of_an_argument_hides_nothing_either():
    assert "SELECT ((gross\n - tax) * (1 - (a + b))) AS net" == expanded(
        "SELECT @less(gross -- all of it\n - tax -- of the state\n, a/* and */+ b) AS net", LESS
    )
    assert "SELECT ((p * (1 - 0.1)) * (1 - 0.2))" == expanded(
        "SELECT @less(@less(p, -- first\n 0.1) -- then\n, 0.2)", LESS
    )


def test_a_comment_in_a_name_or_a_type_changes_nothing_of_its_kind():
    some = "CREATE MACRO some(t TABLE, k COLUMN) RETURN SELECT @k FROM @t"
    cast = "CREATE MACRO to(a EXPRESSION, t TYPE) RETURN CAST(@a AS @t)"

    assert "SELECT * FROM (SELECT k FROM raw. orders AS t__some)" == expanded(
        "SELECT * FROM @some(-- all\nraw./* the */orders -- of them\n, k -- its key\n)", some
    )
    assert "SELECT CAST(a AS map<string,\n int>)" == expanded(
        "SELECT @to(a, map<string, -- key\n int> -- value\n)", cast
    )


def test_an_argument_that_is_only_a_comment_is_none():
    assert [(Code.MACRO_ARGUMENT, "the argument for `price` is empty")] == faults(
        "SELECT @less(-- price\n, 1)", LESS
    )


def test_a_hint_in_an_argument_stays():
    query = "(SELECT /*+ BROADCAST(r) */ max(a) FROM r)"

    assert f"SELECT ({query} * (1 - 0))" == expanded(f"SELECT @less({query}, 0)", LESS)


def test_a_place_after_a_comment_in_an_argument_is_its_own():
    text = "SELECT @less(gross /* all */ - bad, 1)"
    found = expansion(text, LESS)
    at = found.text.index("bad")

    assert "bad" == text[slice(*found.written(Span(at, at + 3)))]


@pytest.mark.parametrize(
    "quoted",
    [
        r"r'\' AS a, '@less(1, 2)'",
        r"""R"\" AS a, "@less(1, 2)" """,
        r"r'@less(1, 2)\'",
        r"bar'\'@less(1, 2)'",
        "/* a /* b */ @less(1, 2) */",
        "/*/* @less(1, 2) */ @less(1, 2) */ 1,",
    ],
)
def test_nothing_is_called_in_what_spark_reads_as_a_text_or_a_comment(quoted):
    assert f"SELECT {quoted} (1 * (1 - 2))" == expanded(f"SELECT {quoted} @less(1, 2)", LESS)


def test_a_raw_text_is_one_argument():
    assert r"SELECT ((r',\') * (1 - (r'\)')))" == expanded(r"SELECT @less(r',\', r'\)')", LESS)


@pytest.mark.parametrize(
    "between", [" ", " /* of it */ ", " -- of it\n ", " /* a /* b */ */ /**/ "]
)
@pytest.mark.parametrize("after", ["OVER (PARTITION BY k)", "FILTER (WHERE k > 0)", "[0]", "('x')"])
def test_what_follows_a_call_is_not_read_with_the_macro(between, after):
    total = "CREATE MACRO total(x EXPRESSION) RETURN sum(@x)"

    assert f"SELECT (sum(qty)){between}{after}" == expanded(
        f"SELECT @total(qty){between}{after}", total
    )
