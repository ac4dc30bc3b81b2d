"""What an allow covers, what it cannot silence, and what is said of one that does nothing."""

from textwrap import dedent

import pytest

from rocky.diagnostics import Code, Diagnostic, Severity
from rocky.diagnostics.diagnostic import Span
from rocky.diagnostics.suppression import apply_suppressions, find_allows

PATH = "models/a.sql"


def sql(text: str) -> str:
    return dedent(text).lstrip("\n")


def finding(text: str, part: str, code: Code = Code.UNNAMED_OUTPUT) -> Diagnostic:
    start = text.index(part)
    return Diagnostic(code, "x", Span(start, start + len(part)), PATH, Severity.WARNING)


def outcome(text: str, *diagnostics: Diagnostic, **levels: str) -> list[str]:
    """What is left, each as `code@the text of its span`."""
    allows = {PATH: find_allows(text, PATH)}
    names = {name.replace("_", "-"): level for name, level in levels.items()}
    kept = apply_suppressions(diagnostics, allows, names)
    return [
        f"{found.code.value}@{text[found.span.start : found.span.end] if found.span else ''}"
        for found in kept
    ]


@pytest.mark.parametrize(
    "name", ["W021", "w021", "unnamed-output", "Unnamed-Output", " W020,W021 "]
)
def test_an_allow_after_sql_covers_its_own_line(name):
    text = f"SELECT\n  a + b, -- rocky: allow({name})\n  c + d\nFROM t"
    left = outcome(
        text,
        finding(text, "a + b"),
        finding(text, "c + d"),
        finding(text, "t", Code.STRING_AGGREGATION),
    )

    assert "W021@a + b" not in left
    assert "W021@c + d" in left


def test_an_allow_alone_on_a_line_covers_the_next_line_of_sql():
    text = sql("""
        SELECT
          -- rocky: allow(W021)
          -- the sum is only a check

          a + b,
          c + d
        FROM t
    """)

    assert ["W021@c + d"] == outcome(text, finding(text, "a + b"), finding(text, "c + d"))


def test_an_allow_before_the_first_token_covers_the_whole_model():
    text = "/* why */\n-- rocky: allow(unnamed-output)\nSELECT a + b,\n  c + d FROM t"
    nowhere = Diagnostic(Code.UNNAMED_OUTPUT, "x", None, PATH, Severity.WARNING)

    assert [] == outcome(text, finding(text, "a + b"), finding(text, "c + d"), nowhere)


def test_a_line_allow_does_not_cover_a_finding_without_a_place():
    text = "SELECT a -- rocky: allow(W021)\nFROM t"
    nowhere = Diagnostic(Code.UNNAMED_OUTPUT, "x", None, PATH, Severity.WARNING)

    assert ["W021@", "W022@W021"] == outcome(text, nowhere)


def test_one_comment_may_allow_several_codes():
    text = "SELECT sum(s) -- rocky: allow(W020, unnamed-output) because\nFROM t"

    assert [] == outcome(
        text, finding(text, "sum(s)"), finding(text, "sum(s)", Code.STRING_AGGREGATION)
    )


@pytest.mark.parametrize(
    "comment",
    [
        "-- Rocky:allow( W021 )",
        "-- ROCKY: ALLOW(w021)",
        "-- rocky : allow(W021)",
        "/* rocky: allow(W021) */",
        "/*rocky:allow(W021), because\n of two lines */",
    ],
)
def test_an_allow_may_be_in_any_case_and_in_a_block_comment(comment):
    text = f"SELECT a + b, {comment}\n c + d FROM t"

    assert ["W021@c + d"] == outcome(text, finding(text, "a + b"), finding(text, "c + d"))


def test_a_block_comment_that_stands_alone_covers_the_next_line():
    text = "SELECT a + b,\n/* rocky: allow(W021) */\nc + d FROM t"

    assert ["W021@a + b"] == outcome(text, finding(text, "a + b"), finding(text, "c + d"))


@pytest.mark.parametrize(
    "text",
    [
        "SELECT '-- rocky: allow(W021)', a + b FROM t",
        "SELECT a + b -- Rocky : a film\nFROM t",
        'SELECT "it\'s -- rocky: allow(W021)", a + b FROM t',
        "SELECT 'it\\'s -- rocky: allow(W021)', a + b FROM t",
        "SELECT `-- rocky: allow(W021)`, a + b FROM t",
        "/* /* */ -- rocky: allow(W021) */ SELECT a + b FROM t",
        "SELECT /* -- rocky: allow(W021) */ a + b FROM t",
    ],
)
def test_text_that_only_looks_like_an_allow_is_none(text):
    assert ["W021@a + b"] == outcome(text, finding(text, "a + b"))


def test_in_a_raw_string_a_backslash_is_a_letter_so_the_quote_after_it_closes_it():
    text = "SELECT r'\\', a + b -- rocky: allow(W021)\nFROM t"

    assert [] == outcome(text, finding(text, "a + b"))


def test_an_error_that_would_fail_in_spark_stays_and_its_allow_is_reported():
    text = "SELECT bad -- rocky: allow(E003)\nFROM t"
    found = finding(text, "bad", Code.UNKNOWN_COLUMN)

    assert ["E003@bad", "W022@E003"] == outcome(text, found)


def test_a_finding_with_a_spark_condition_stays_even_if_its_code_is_adjustable():
    text = "SELECT bad -- rocky: allow(W021)\nFROM t"
    found = Diagnostic(Code.UNNAMED_OUTPUT, "x", Span(7, 10), PATH, condition="SOME_CONDITION")

    assert ["W021@bad"] == outcome(text, found)


def test_an_allow_that_silences_nothing_is_reported_with_a_fix_that_removes_it():
    text = "SELECT a -- rocky: allow(W021)\nFROM t"
    (found,) = apply_suppressions([], {PATH: find_allows(text, PATH)}, {})

    assert (Code.UNUSED_ALLOW, Severity.WARNING) == (found.code, found.severity)
    assert "nothing on this line is reported as `W021`" == found.message
    assert found.fix is not None
    (edit,) = found.fix.edits
    assert "SELECT a \nFROM t" == text[: edit.span.start] + edit.text + text[edit.span.end :]


def test_in_a_model_that_does_not_compile_an_unused_allow_is_not_reported():
    text = "SELECT a + b -- rocky: allow(W021)\n, bad FROM t"
    found = finding(text, "bad", Code.UNKNOWN_COLUMN)

    assert ["E003@bad"] == outcome(text, found)


def test_an_unknown_code_is_reported_with_the_nearest_one():
    text = "SELECT a -- rocky: allow(selct-star)\nFROM t"
    (found,) = apply_suppressions([], {PATH: find_allows(text, PATH)}, {})

    assert "`selct-star` is not a diagnostic code" == found.message
    assert "did you mean `select-star`?" == found.help


@pytest.mark.parametrize(
    "comment", ["-- rocky: alow(W021)", "-- rocky: allow", "-- rocky: allow()"]
)
def test_a_comment_for_rocky_that_is_no_allow_is_reported(comment):
    text = f"SELECT a {comment}\nFROM t"

    assert [f"W022@{comment}"] == outcome(text)


def test_prose_that_mentions_rocky_is_left_alone():
    assert () == find_allows("-- see rocky: it explains\nSELECT 1", PATH)


def test_the_projects_level_allows_lowers_and_raises():
    text = "SELECT a + b FROM t"
    found = finding(text, "a + b")

    assert [] == outcome(text, found, unnamed_output="allow")
    (raised,) = apply_suppressions([found], {}, {"W021": "error"})
    assert Severity.ERROR == raised.severity


def test_a_files_level_wins_over_the_projects():
    found = finding("SELECT a + b FROM t", "a + b")
    kept = apply_suppressions(
        [found], {}, {"W021": "error"}, {PATH: {Code.UNNAMED_OUTPUT: "allow"}}
    )

    assert [] == kept


def test_the_projects_level_cannot_silence_what_would_fail_in_spark():
    text = "SELECT bad FROM t"

    assert ["E003@bad"] == outcome(text, finding(text, "bad", Code.UNKNOWN_COLUMN), E003="allow")


def test_unused_allows_can_be_allowed_but_not_by_themselves():
    allowed = "-- rocky: allow(unused-allow)\nSELECT a -- rocky: allow(W021)\nFROM t"
    alone = "-- rocky: allow(unused-allow)\nSELECT a FROM t"

    assert [] == outcome(allowed)
    assert ["W022@unused-allow"] == outcome(alone)
    assert [] == outcome(alone, W022="allow")


def test_an_allow_does_not_reach_another_file():
    text = "-- rocky: allow(W021)\nSELECT a + b"
    elsewhere = Diagnostic(Code.UNNAMED_OUTPUT, "x", Span(0, 1), "models/b.sql", Severity.WARNING)
    kept = apply_suppressions([elsewhere], {PATH: find_allows(text, PATH)}, {})

    assert [Code.UNNAMED_OUTPUT, Code.UNUSED_ALLOW] == [found.code for found in kept]


def test_front_matter_is_skipped_when_the_caller_says_where_it_ends():
    text = '---toml\nname = "it\'s"\n---\n-- rocky: allow(W021)\nSELECT a + b'
    (allow,) = find_allows(text, PATH, start=text.index("-- rocky"))

    assert allow.whole_model
