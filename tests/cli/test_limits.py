"""Absurd input under a limit of memory: a finding or a compile, never a traceback, a kill or more.

Each runs in a process of its own that may have one gibibyte more than it begins with, and is ended
when it works for ever.
"""

import json
import os
import resource
import sys
from pathlib import Path

import pytest

from rocky.cli.app import main
from tests.cli.conftest import CONFIG, ORDERS
from tests.processes import run_process

pytestmark = pytest.mark.slow

GIBIBYTE = 1 << 30
MOST_SECONDS = 120
"""Of work, after which the system ends a process that would go on for ever."""
LEVELS = 30
LIMIT = "E005 a type is longer than 250,000 characters in this query"


def compile_limited() -> None:
    """A task: `rocky compile` in the working folder, with a gibibyte more than it begins with."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * os.sysconf("SC_PAGE_SIZE") + GIBIBYTE
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))
    sys.argv = ["rocky", "compile", "-o", "json"]
    main()


@pytest.fixture
def found(tmp_path):
    """The findings of a project, as `CODE message`."""

    def compile_files(files):
        for path, text in {"rocky.toml": CONFIG, "sources/raw.toml": ORDERS, **files}.items():
            target = tmp_path / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
        code, out, err = run_process(compile_limited, cwd=tmp_path)
        answer = json.loads(out)
        assert "error" not in answer, answer["error"]
        assert "Traceback" not in err
        listed = [f"{each['code']} {each['message']}" for each in answer["diagnostics"]]
        assert code == int(any(each.startswith("E") for each in listed))
        return listed

    return compile_files


def chain(first, step, last):
    """A query whose named subqueries each read the one before."""
    named = [f"c0 AS ({first})"]
    named += [f"c{at} AS ({step.format(before=f'c{at - 1}')})" for at in range(1, LEVELS)]
    return f"WITH {', '.join(named)} {last} FROM c{LEVELS - 1}\n"


def nested(opening, inner, closing, times):
    return opening * times + inner + closing * times


STRUCTS = chain(
    "SELECT struct(1 AS a, 2 AS b) AS s",
    "SELECT struct(s AS a, s AS b) AS s FROM {before}",
    "SELECT s",
)
JOINS = chain("SELECT 1 AS a", "SELECT * FROM {before} x CROSS JOIN {before} y", "SELECT 1 AS one")
STARS = chain("SELECT 1 AS a", "SELECT *, * FROM {before}", "SELECT 1 AS one")
TEXTS = ", ".join(["'x' AS a0", *(f"concat(a{n - 1}, a{n - 1}) AS a{n}" for n in range(1, 30))])

DEEP_TYPE = "E009 this type nests deeper than 100 levels"
COLUMNS = "E040 there are more than 150,000 columns in this query"
REFUSED = {
    "array": (f"CAST(NULL AS {nested('ARRAY<', 'INT', '>', 1500)})", DEEP_TYPE),
    "map": (f"CAST(NULL AS {nested('MAP<INT, ', 'INT', '>', 1500)})", DEEP_TYPE),
    "struct": (f"CAST(NULL AS {nested('STRUCT<a: ', 'INT', '>', 1500)})", DEEP_TYPE),
    "unclosed": (f"CAST(NULL AS {'ARRAY<' * 1500}", DEEP_TYPE),
    "arrays": (
        nested("array(", "1", ")", 1000),
        "E005 a type nests deeper than 100 levels in this query",
    ),
    "number": ("9" * 100_000, "E009 a decimal literal has at most 38 digits"),
    "interval": (
        f"INTERVAL '{'9' * 100_000}' DAY",
        "E009 an interval of more than 1,000 characters",
    ),
    "parentheses": ("(" * 200_000, "E009 the query is nested too deeply"),
}


@pytest.mark.sampled
@pytest.mark.parametrize(("value", "said"), REFUSED.values(), ids=REFUSED)
def test_a_value_that_nobody_means_is_one_finding(found, value, said):
    assert [said] == found({"models/a.sql": f"SELECT {value} AS x FROM raw.orders\n"})


QUERIES = {"structs": (STRUCTS, LIMIT), "joins": (JOINS, COLUMNS), "stars": (STARS, COLUMNS)}


@pytest.mark.parametrize(("query", "said"), QUERIES.values(), ids=QUERIES)
def test_what_doubles_thirty_times_is_one_finding(found, query, said):
    assert [said] == found({"models/a.sql": query})


def test_structs_that_double_from_model_to_model_are_found(found):
    models = {"models/m0.sql": "SELECT struct(1 AS a, 2 AS b) AS s\n"}
    for at in range(1, LEVELS):
        models[f"models/m{at}.sql"] = f"SELECT struct(s AS a, s AS b) AS s FROM m{at - 1}\n"

    assert {LIMIT} == set(found(models))


ACCEPTED = {
    "array": f"CAST(NULL AS {nested('ARRAY<', 'INT', '>', 100)}) AS x",
    "case": nested("CASE WHEN order_id > 1 THEN ", "1", " END", 600) + " AS x",
    "functions": nested("coalesce(", "1", ")", 1000) + " AS x",
    "list": f"order_id IN ({', '.join(map(str, range(50_000)))}) AS x",
    "name": "1 AS " + "a" * 1_000_000,
    "subqueries": nested("(SELECT ", "1", ")", 400) + " AS x",
    "casts": "1" + "::INT" * 3000 + " AS x",
    "texts": TEXTS,
}


@pytest.mark.sampled
@pytest.mark.parametrize("items", ACCEPTED.values(), ids=ACCEPTED)
def test_what_is_only_long_compiles(found, items):
    assert [] == found({"models/a.sql": f"SELECT {items} FROM raw.orders\n"})


DOTTED = ".".join(["a"] * 20_000)
PARTS = "a key has more than 100 parts"
DIGITS = "a number or bare key has 1,000 characters or more"
DEEP = "`rocky.toml` nests values too deeply"
TOML = {
    "key": ("rocky.toml", f"{CONFIG}{DOTTED} = 1\n", f"E018 {PARTS}"),
    "table": ("rocky.toml", f"{CONFIG}[{DOTTED}]\n", f"E018 {PARTS}"),
    "quoted": ("rocky.toml", CONFIG + '"a" . ' * 20_000 + "a = 1\n", f"E018 {PARTS}"),
    "sidecar": ("models/a.toml", f"{DOTTED} = 1\n", f"E017 {PARTS}"),
    "digits": ("rocky.toml", f"{CONFIG}x = {'9' * 100_000}\n", f"E018 {DIGITS}"),
    "hexadecimal": ("rocky.toml", f"{CONFIG}x = 0x{'f' * 100_000}\n", f"E018 {DIGITS}"),
    "lists": ("rocky.toml", f"{CONFIG}x = {nested('[', '', ']', 20_000)}\n", f"E018 {DEEP}"),
    "tables": ("rocky.toml", f"{CONFIG}x = {nested('{a = ', '1', '}', 20_000)}\n", f"E018 {DEEP}"),
}


@pytest.mark.parametrize(("path", "text", "said"), TOML.values(), ids=TOML)
def test_toml_that_nobody_means_is_one_finding(found, path, text, said):
    assert [said] == found({"models/a.sql": "SELECT 1 AS one\n", path: text})


def test_dots_and_digits_in_strings_and_comments_are_nobodys_business(found):
    text = f'{CONFIG}# {DOTTED} {"9" * 5000}\n[vars]\nfirst = "{DOTTED}"\n' + (
        f"second = '''\n{DOTTED}\n'''\n"
    )
    files = {"models/a.sql": "SELECT 1 AS one\n", "rocky.toml": text}

    assert not [each for each in found(files) if PARTS in each or DIGITS in each]


def test_a_deep_type_of_a_source_is_a_finding_at_its_place(found):
    column = f'{{ name = "x", type = "{nested("array<", "int", ">", 1500)}" }}'
    source = f'[[source]]\nname = "raw.a"\ncolumns = [{column}]\n'
    files = {"models/a.sql": "SELECT 1 AS one\n", "sources/raw.toml": source}

    assert ["E017 a type nests deeper than 100 levels"] == found(files)


FORMATS = ["avro", "binaryFile", "csv", "delta", "json", "orc", "parquet", "text", "xml"]


@pytest.mark.parametrize("kind", FORMATS)
def test_files_read_by_their_path_are_found_at_compile(rocky, write, kind):
    write({"models/a.sql": f"SELECT * FROM {kind}.`/lake/orders` AS o\n"})
    (finding,) = rocky("compile").json["diagnostics"]

    assert "E002" == finding["code"]
    assert "by their place, which is not a declared source" in finding["message"]
    assert "declare a source" in finding["help"]
    start = len("SELECT * FROM ")
    span = finding["span"]
    assert (start, start + len(f"{kind}.`/lake/orders`")) == (span["start"], span["end"])


def test_a_schema_that_is_called_like_a_format_is_a_schema(rocky, write):
    source = ORDERS.replace("raw.orders", "json.orders")
    write({"sources/raw.toml": source, "models/a.sql": "SELECT order_id FROM json.`orders`\n"})

    assert [] == rocky("compile").json["diagnostics"]
