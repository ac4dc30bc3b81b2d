"""The full rendering, drawn out: what a user reads is what is asserted."""

import re
from textwrap import dedent

import pytest

from rocky.diagnostics import Code, Diagnostic, Label, Severity
from rocky.diagnostics.diagnostic import SourceText, Span
from rocky.diagnostics.render import render_full, render_summary


def span_of(text: str, part: str, nth: int = 1) -> Span:
    """The span of the nth occurrence of a part of a text."""
    start = -1
    for _ in range(nth):
        start = text.index(part, start + 1)
    return Span(start, start + len(part))


def draw(diagnostic: Diagnostic, *texts: SourceText, colour: bool = False) -> str:
    return render_full([diagnostic], {text.path: text for text in texts}, colour=colour)


def picture(text: str) -> str:
    return dedent(text).lstrip("\n") + "\n"


ORDERS = SourceText("models/orders.sql", "-- one row an order\nSELECT order_idd FROM raw.orders\n")


def test_a_diagnostic_shows_its_line_with_carets_under_the_exact_span():
    found = Diagnostic(
        Code.UNKNOWN_COLUMN,
        "no column `order_idd` in scope",
        span_of(ORDERS.text, "order_idd"),
        ORDERS.path,
        condition="UNRESOLVED_COLUMN.WITH_SUGGESTION",
        help="there is a column `order_id`",
    )

    expected = picture("""
        error[E003 unknown-column]: no column `order_idd` in scope
         --> models/orders.sql:2:8
          |
        2 | SELECT order_idd FROM raw.orders
          |        ^^^^^^^^^
          = help: there is a column `order_id`
          = note: Spark: UNRESOLVED_COLUMN.WITH_SUGGESTION
    """)
    assert expected == draw(found, ORDERS)


def test_labels_on_the_same_line_hang_their_messages_below_from_right_to_left():
    text = SourceText("m.sql", "SELECT 1 FROM a JOIN b ON a.id = b.name")
    found = Diagnostic(
        Code.INCOMPARABLE_TYPES,
        "`bigint` and `array<string>` do not compare",
        span_of(text.text, "a.id = b.name"),
        text.path,
        labels=(
            Label(span_of(text.text, "a.id"), "bigint"),
            Label(span_of(text.text, "b.name"), "array<string>"),
        ),
    )

    expected = picture("""
        error[E001 incomparable-types]: `bigint` and `array<string>` do not compare
         --> m.sql:1:27
          |
        1 | SELECT 1 FROM a JOIN b ON a.id = b.name
          |                           ^^^^^^^^^^^^^ array<string>
          |                           |
          |                           bigint
    """)
    assert expected == draw(found, text)


def test_two_labels_beside_a_caret_each_keep_their_place():
    text = SourceText("m.sql", "SELECT id FROM a, b")
    found = Diagnostic(
        Code.AMBIGUOUS_COLUMN,
        "`id` could be two columns",
        span_of(text.text, "id"),
        text.path,
        labels=(
            Label(span_of(text.text, "a", 1), "`a` has one"),
            Label(span_of(text.text, "b"), "`b` has one"),
        ),
    )

    expected = picture("""
        error[E004 ambiguous-column]: `id` could be two columns
         --> m.sql:1:8
          |
        1 | SELECT id FROM a, b
          |        ^^      -  - `b` has one
          |                |
          |                `a` has one
    """)
    assert expected == draw(found, text)


def test_a_label_on_another_line_shares_the_snippet_with_dots_between():
    lines = ["SELECT amount", "FROM raw.orders", "WHERE true", "GROUP BY region"]
    text = SourceText("m.sql", "\n".join(["", *[""] * 8, *lines]))
    found = Diagnostic(
        Code.INVALID_AGGREGATION,
        "`amount` is neither grouped nor aggregated",
        span_of(text.text, "amount"),
        text.path,
        labels=(Label(span_of(text.text, "region"), "the grouping is here"),),
    )

    expected = picture("""
        error[E007 invalid-aggregation]: `amount` is neither grouped nor aggregated
          --> m.sql:10:8
           |
        10 | SELECT amount
           |        ^^^^^^
        ...
        13 | GROUP BY region
           |          ------ the grouping is here
    """)
    assert expected == draw(found, text)


def test_a_label_in_another_file_gets_a_snippet_of_its_own():
    other = SourceText("contracts/orders.contract.toml", 'name = "id"\ntype = "bigint"\n')
    found = Diagnostic(
        Code.CONTRACT_TYPE_MISMATCH,
        "`order_idd` is string, promised bigint",
        span_of(ORDERS.text, "order_idd"),
        ORDERS.path,
        labels=(Label(span_of(other.text, '"bigint"'), "promised here", other.path),),
    )

    expected = picture("""
        error[E011 contract-type-mismatch]: `order_idd` is string, promised bigint
         --> models/orders.sql:2:8
          |
        2 | SELECT order_idd FROM raw.orders
          |        ^^^^^^^^^
         ::: contracts/orders.contract.toml:2:8
          |
        2 | type = "bigint"
          |        -------- promised here
    """)
    assert expected == draw(found, ORDERS, other)


def test_a_span_over_many_lines_shows_its_first_and_last_line():
    text = SourceText("m.sql", "SELECT (\n  SELECT a,\n    b\n  FROM t\n) FROM u\n")
    found = Diagnostic(Code.INVALID_SUBQUERY, "two columns", Span(7, 37), text.path)

    expected = picture("""
        error[E039 invalid-subquery]: two columns
         --> m.sql:1:8
          |
        1 | SELECT (
          |        ^
        ...
        5 | ) FROM u
          | ^
    """)
    assert expected == draw(found, text)


def test_carets_stand_right_after_tabs_wide_and_combining_characters():
    text = SourceText("m.sql", "\tSELECT '日本', 'e\u0301', bad")
    found = Diagnostic(Code.UNKNOWN_COLUMN, "no", span_of(text.text, "bad"), text.path)

    shown, carets = draw(found, text).splitlines()[3:5]

    assert "1 |     SELECT '日本', 'e\u0301', bad" == shown
    # Four cells of tab, and the two ideographs fill two cells each.
    assert "  | " + " " * (4 + len("SELECT '") + 4 + len("', 'e', ")) + "^^^" == carets


def test_an_escape_sequence_in_a_model_never_reaches_the_terminal():
    text = SourceText("m.sql", "SELECT '\x1b[31m', bad")
    found = Diagnostic(Code.UNKNOWN_COLUMN, "no", span_of(text.text, "bad"), text.path)

    assert "\x1b" not in draw(found, text)


def test_a_very_long_line_is_clipped_around_the_span():
    text = SourceText("m.sql", "SELECT " + "x, " * 400 + "bad, " + "y, " * 400 + "1")
    found = Diagnostic(Code.UNKNOWN_COLUMN, "no", span_of(text.text, "bad"), text.path)

    shown, carets = draw(found, text).splitlines()[3:5]
    start = carets.index("^")

    assert "bad" == shown[start : start + carets.count("^")]
    assert len(shown) < 140
    assert (shown[4:7], shown[-3:]) == ("...", "...")


def test_a_span_longer_than_the_window_is_cut_with_it():
    text = SourceText("m.sql", "SELECT " + "x" * 1000)
    found = Diagnostic(Code.UNKNOWN_COLUMN, "no", Span(7, 1007), text.path)

    assert max(len(line) for line in draw(found, text).splitlines()) < 140


@pytest.mark.parametrize("offset", [0, 18, 19, 20, 53, 500])
def test_an_empty_span_anywhere_still_gets_one_caret(offset):
    found = Diagnostic(Code.SYNTAX_ERROR, "ends too soon", Span(offset, offset), ORDERS.path)

    assert 1 == draw(found, ORDERS).count("^")


def test_without_the_text_the_place_and_the_labels_are_still_named():
    found = Diagnostic(
        Code.UNKNOWN_TABLE,
        "no table `x`",
        Span(3, 4),
        "models/gone.sql",
        labels=(Label(Span(1, 2), "declared here", "sources/gone.toml"),),
    )

    expected = picture("""
        error[E002 unknown-table]: no table `x`
         --> models/gone.sql
          = note: declared here (sources/gone.toml)
    """)
    assert expected == draw(found)


def test_a_diagnostic_without_a_place_is_a_headline_and_its_notes():
    found = Diagnostic(Code.UNUSABLE_CONFIG, "no models", help="add one\nunder models/")

    expected = picture("""
        error[E018 unusable-config]: no models
          = help: add one
                  under models/
    """)
    assert expected == draw(found)


def test_sql_that_is_no_file_is_shown_under_a_stand_in_path():
    text = SourceText("<sql>", "SELECT bad")
    found = Diagnostic(Code.UNKNOWN_COLUMN, "no column `bad`", Span(7, 10))

    assert " --> <sql>:1:8\n  |\n1 | SELECT bad\n  |        ^^^\n" in draw(found, text)


def test_colour_changes_nothing_but_escape_codes():
    found = Diagnostic(
        Code.STRING_AGGREGATION,
        "sum of a string",
        span_of(ORDERS.text, "order_idd"),
        ORDERS.path,
        Severity.WARNING,
        labels=(Label(span_of(ORDERS.text, "raw.orders"), "from here"),),
        help="cast it",
    )
    coloured = draw(found, ORDERS, colour=True)

    assert "\x1b[1;33m^^^^^^^^^\x1b[0m" in coloured
    assert draw(found, ORDERS) == re.sub(r"\x1b\[[0-9;]*m", "", coloured)


def test_the_summary_counts_each_severity_and_says_nothing_of_absent_ones():
    error = Diagnostic(Code.UNKNOWN_COLUMN, "x")
    warning = Diagnostic(Code.UNNAMED_OUTPUT, "x", severity=Severity.WARNING)

    assert "2 errors, 1 warning in 3 models" == render_summary([error, warning, error], 3)
    assert "1 warning in 1 model" == render_summary([warning], 1)
    assert "no errors in 10,000 models" == render_summary([], 10_000)
