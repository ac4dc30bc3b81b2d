"""Diagnostics as programs get them."""

from rocky.diagnostics import Code, Diagnostic, Edit, Fix, FixSafety, Label
from rocky.diagnostics.diagnostic import SourceText, Span
from rocky.operations.findings import describe_findings
from rocky.operations.report import encode_report

TEXT = SourceText("models/a.sql", "SELECT\n  bad,\n  worse\nFROM t\n")
TEXTS = {TEXT.path: TEXT}
FOUND = Diagnostic(
    Code.UNKNOWN_COLUMN,
    "no column `bad` in scope",
    Span(9, 12),
    TEXT.path,
    condition="UNRESOLVED_COLUMN.WITH_SUGGESTION",
    labels=(Label(Span(27, 28), "not here"), Label(None, "nor there")),
    help="there is a column `dab`",
    fix=Fix("rename it", (Edit(Span(9, 12), "dab"),), FixSafety.SAFE),
    model="a",
)


def test_json_carries_offsets_and_lines_of_every_place():
    expected = {
        "code": "E003",
        "name": "unknown-column",
        "severity": "error",
        "message": "no column `bad` in scope",
        "condition": "UNRESOLVED_COLUMN.WITH_SUGGESTION",
        "model": "a",
        "span": {
            "file": "models/a.sql",
            "line": 2,
            "col": 3,
            "end_line": 2,
            "end_col": 6,
            "start": 9,
            "end": 12,
        },
        "labels": [
            {
                "message": "not here",
                "span": {
                    "file": "models/a.sql",
                    "line": 4,
                    "col": 6,
                    "end_line": 4,
                    "end_col": 7,
                    "start": 27,
                    "end": 28,
                },
            },
            {"message": "nor there", "span": None},
        ],
        "help": "there is a column `dab`",
        "notes": [],
        "suggestion": None,
        "fix": {
            "title": "rename it",
            "safety": "safe",
            "edits": [
                {
                    "span": {
                        "file": "models/a.sql",
                        "line": 2,
                        "col": 3,
                        "end_line": 2,
                        "end_col": 6,
                        "start": 9,
                        "end": 12,
                    },
                    "text": "dab",
                }
            ],
        },
        "suppressible": False,
    }
    assert [expected] == [encode_report(each) for each in describe_findings([FOUND], TEXTS)]


def test_json_without_the_text_keeps_the_offsets_and_leaves_the_lines_null():
    span = describe_findings([FOUND], {})[0].span

    expected = ("models/a.sql", None, None, 9, 12)
    assert expected == (span.file, span.line, span.end_col, span.start, span.end)


def test_a_function_serves_as_texts_as_well_as_a_mapping():
    expected, found = describe_findings([FOUND], TEXTS), describe_findings([FOUND], TEXTS.get)

    assert list(expected) == list(found)
