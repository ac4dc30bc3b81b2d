"""Secrets that are written plainly in a settings file do not reach its excerpts."""

import pytest

from rocky.diagnostics import Code, Diagnostic
from rocky.diagnostics.diagnostic import SourceText, Span
from rocky.diagnostics.render import render_full


def excerpt(text: str, path: str = "rocky.toml") -> str:
    """The lines under the place, for a diagnostic about all of a text."""
    found = Diagnostic(Code.UNUSABLE_CONFIG, "wrong", Span(0, len(text)), path)
    return render_full([found], {path: SourceText(path, text)})


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ('valkey_ulr = "redis://:lit@127.0.0.1/0"', 'valkey_ulr = "redis://:***@127.0.0.1/0"'),
        ('url = "redis://u:p@q/w@host/0"', 'url = "redis://u:*****@host/0"'),
        ('url = "jdbc:x?password=b&c=d"', 'url = "jdbc:x?password=*&c=d"'),
        ('url = "abfs://x;AccountKey=bcd;e=f"', 'url = "abfs://x;AccountKey=***;e=f"'),
        ('url = "https://x?key=bcd"', 'url = "https://x?key=***"'),
        (
            'optoins = { user = "r", password = "js1" }',
            'optoins = { user = "r", password = "***" }',
        ),
        ('"fs.s3a.access.key" = "AK"', '"fs.s3a.access.key" = "**"'),
        ("PRIVATE_KEY = 'ab'", "PRIVATE_KEY = '**'"),
        ("token = 12", "token = **"),
        ('tokens = ["a"]', "tokens = *****"),
        ("jdbc_pasword = 'ab'", "jdbc_pasword = '**'"),
        ('password = "abc"d" # x', "password = ***********"),
        ('password = "abc', "password = ****"),
        ('password = "${PW:-ab}"', 'password = "*********"'),
    ],
)
def test_a_secret_is_starred_whatever_the_line_is_wrong_about(line, shown):
    assert f"1 | {shown}\n" in excerpt(line)


@pytest.mark.parametrize(
    "line",
    [
        'password = "${PW}"',
        "password = ${PW} # of the warehouse",
        'valkey_url = "redis://:${PW}@host"',
        'unique_key = ["id"]',
        'unique_key=["id"]',
        "unique_key=[ 'id' ]",
        "unique_key=id",
        'merge = { unique_key=["id"], type="merge" }',
        'source = { path = "lake", catalog = "five" }',
        'target = { schema = "s" }',
        'password = ""',
    ],
)
def test_what_is_no_secret_is_shown_as_it_is(line):
    assert f"1 | {line}\n" in excerpt(line)


def test_a_secret_of_several_lines_is_starred_on_each():
    drawn = excerpt('secret = """xy\nyz\nzx"""')

    assert [] == [each for each in ("xy", "yz", "zx") if each in drawn]


def test_only_settings_are_starred():
    assert "1 | password = 'x'\n" in excerpt("password = 'x'", "m.sql")


def test_the_carets_stay_under_their_place():
    text = 'options = { password = "abc", usr = "r" }'
    at = text.index("usr")
    found = Diagnostic(Code.UNUSABLE_CONFIG, "unknown key", Span(at, at + 3), "rocky.toml")
    drawn = render_full([found], {"rocky.toml": SourceText("rocky.toml", text)}).splitlines()

    assert '1 | options = { password = "***", usr = "r" }' == drawn[3]
    assert drawn[3].index("usr") == drawn[4].index("^^^")
