import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocky.project.toml.parser import locate_keys, parse_plain
from tests.project.projects import findings, helps, load

TEXT = """\
title = "x" # a comment = 1
a.b = 2
[target]
catalog = "lake"
"quoted key" = 1
[[source]]
name = "one"
columns = [ { name = "id", type = "bigint" }, # [ { name = "no" } ]
  { name = "v", nested = { deep = [1, 2] } },
]
[[source]]
name = '''two
lines'''
[source.options]
when = 2020-01-01 10:00:00
var = ${X:-1}
last = true
"""


@pytest.mark.parametrize(
    ("keys", "key", "value"),
    [
        (("title",), "title", '"x"'),
        (("a", "b"), "b", "2"),
        (("target",), "target", "[target]"),
        (("target", "catalog"), "catalog", '"lake"'),
        (("target", "quoted key"), '"quoted key"', "1"),
        (("source", 0), "source", "[[source]]"),
        (("source", 0, "name"), "name", '"one"'),
        (("source", 0, "columns", 0, "type"), "type", '"bigint"'),
        (("source", 0, "columns", 1), None, '{ name = "v", nested = { deep = [1, 2] } }'),
        (("source", 0, "columns", 1, "nested", "deep", 1), None, "2"),
        (("source", 1, "name"), "name", "'''two\nlines'''"),
        (("source", 1, "options", "when"), "when", "2020-01-01 10:00:00"),
        (("source", 1, "options", "var"), "var", "${X:-1}"),
        (("source", 1, "options", "last"), "last", "true"),
    ],
)
def test_every_key_and_value_has_its_place(keys, key, value):
    place = locate_keys(TEXT)[keys]

    assert value == TEXT[place.value.start : place.value.end]
    if key:
        assert key == TEXT[place.key.start : place.key.end]


def all_paths(value, path=()):
    if path:
        yield path
    items = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, one in items:
        yield from all_paths(one, (*path, key))


def test_the_places_are_those_of_the_parsed_keys():
    text = TEXT.replace("${X:-1}", "1")

    assert set(all_paths(tomllib.loads(text))) == set(locate_keys(text)) | {("a",)}


@given(st.text(alphabet="ab=[]{}\"'#.,\n\\$ 1", max_size=60))
def test_looking_for_places_never_fails(text):
    locate_keys(text)


LINES = st.sampled_from(
    [
        "", " ", "# note", "a = 1", "a = 01", 'b = "x"', 'b="x" # y', 'c = ["p", "q",]', "c = []", 'c = ["p" "q"]',
        "[t]", "[u] # z", "[t.u]", "[[v]]", "d = true", "d = truely", 'e = "\\n"', "f = 'l'", 'g = """', "h.i = 1",
        'j = "', "k = 1.5", "l = -1", "m = 99999999999999999999", "=", 'n = "\t"', "\to = 1", "p = 1979-05-27", "t = 1",
        'q = "a" "b"', "r = [", "]", 's = ["x"', "é = 1", 'u = "é"', "v = 1_000", "w = 0",
    ]
)  # fmt: skip


@given(st.lists(LINES, max_size=6), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_the_plain_reader_agrees_with_the_full_one_or_gives_up(lines, end, final):
    text = end.join(lines) + (end if final else "")
    plain = parse_plain(text)

    if plain is not None:
        assert tomllib.loads(text) == plain


@given(st.text(alphabet='ab=[]"#,\n\\\r\t 01', max_size=40))
def test_the_plain_reader_never_accepts_what_the_full_one_refuses(text):
    plain = parse_plain(text)

    if plain is not None:
        assert tomllib.loads(text) == plain


def test_a_common_sidecar_is_plain():
    text = '# orders\nname = "o"\ndepends_on = ["a", "b"]\n\n[strategy]\ntype = "merge"\nunique_key = ["id"]\n'

    assert tomllib.loads(text) == parse_plain(text)


@pytest.mark.parametrize(
    ("text", "expected", "help_text"),
    [
        ('a = "x\n', "1:7 'x' ", None),
        ("[pipeline.p\n", "1:12 ", None),
        (
            'models\t"x"\n',
            "1:8 '\"x\"' not valid TOML: expected '=' after a key in a key/value pair",
            "there is a tab on this line; write `key = value`",
        ),
        (
            "[a]\nx = abc\n",
            "2:5 'abc' not valid TOML: invalid value",
            'texts need quotes: `key = "text"`',
        ),
        (
            "[a]\n[a]\n",
            "2:3 ']' not valid TOML: cannot declare `a` twice",
            "keep one of the two",
        ),
    ],
)
def test_a_syntax_error_says_what_and_where(tmp_path, text, expected, help_text):
    project = load(tmp_path, {"rocky.toml": text})
    first = findings(project)[0]

    if help_text:
        assert f"E018 rocky.toml:{expected}" == first
        assert help_text == helps(project)[0]
    else:
        assert first.startswith(f"E018 rocky.toml:{expected[:2]}")


def test_a_syntax_error_after_windows_line_ends_is_at_its_line(tmp_path):
    project = load(tmp_path, {"rocky.toml": "[a]\r\n\r\nx = abc\r\n"})

    assert "E018 rocky.toml:3:5 'abc' not valid TOML: invalid value" == findings(project)[0]
