from rocky.diagnostics import Code, Diagnostic
from rocky.diagnostics.diagnostic import Span, in_reading_order


def found(path, start, message):
    span = Span(start, start + 1) if start is not None else None
    return Diagnostic(Code.TYPE_ERROR, message, span, path)


def test_findings_are_read_file_by_file_and_down_each_file():
    findings = [
        found(None, None, "1"),
        found("rocky.toml", 9, "2"),
        found("b.sql", 20, "5"),
        found("a.sql", 3, "7"),
        found("b.sql", 5, "4"),
        found("b.sql", None, "3"),
        found("b.sql", 20, "6"),
    ]

    assert list("1234567") == [each.message for each in in_reading_order(findings)]


def test_nothing_found_is_nothing_to_read():
    assert [] == in_reading_order(())
