"""The forms machines read: concise lines, GitHub commands."""

from rocky.diagnostics import Code, Diagnostic, Edit, Fix, FixSafety, Label, Severity
from rocky.diagnostics.diagnostic import SourceText, Span
from rocky.diagnostics.render import render_concise, render_github

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
NOWHERE = Diagnostic(Code.UNNAMED_OUTPUT, "50% of,\nit: all", severity=Severity.WARNING)


def test_concise_is_one_line_each_even_when_the_message_is_not():
    expected = (
        "models/a.sql:2:3: error[E003] no column `bad` in scope\n"
        "<sql>: warning[W021] 50% of, it: all\n"
    )
    assert expected == render_concise([FOUND, NOWHERE], TEXTS)


def test_github_names_the_place_and_escapes_what_would_end_the_command():
    expected = (
        "::error file=models/a.sql,line=2,endLine=2,col=3,endColumn=5,title=E003 unknown-column"
        "::no column `bad` in scope%0Ahelp: there is a column `dab`\n"
        "::warning title=W021 unnamed-output::50%25 of,%0Ait: all\n"
    )
    assert expected == render_github([FOUND, NOWHERE], TEXTS)


def test_github_escapes_commas_and_colons_in_a_path():
    found = Diagnostic(Code.UNUSABLE_FILE, "x", None, "models/a,b:c.sql")

    assert render_github([found], {}).startswith("::error file=models/a%2Cb%3Ac.sql,title=")
