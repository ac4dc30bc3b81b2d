"""Declarations of functions: each key acts or is refused, each fault is at its own place."""

import os
from pathlib import Path

import pytest

import rocky
from rocky.project.function_statements import StatementFault, parse_statement

PYTHON = """\
[[function]]
name = "slug"
kind = "python"
module = "functions.text"
attribute = "slug"
parameters = [ { name = "text", type = "string" } ]
returns = "string"
"""


def load(root: Path, files: dict[str, str]) -> rocky.Project:
    for name, text in {"rocky.toml": "", "models/m.sql": "SELECT 1 AS x", **files}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return rocky.load_project(root, env={})


def found(root: Path, toml: str, **files: str) -> list[str]:
    more = {"functions/text.py": "def slug(text):\n    return text\n", **files}
    project = load(root, {"functions/f.toml": toml, **more})
    told = []
    for each in project.diagnostics:
        line, column = project.texts[each.path or ""].position(each.span.start if each.span else 0)
        told.append(f"{each.path}:{line}:{column} {each.message}")
    return told


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            'returns = "string"',
            'returns = "strng"',
            "functions/f.toml:7:12 `strng` is not a Spark type",
        ),
        (
            'returns = "string"',
            "",
            "functions/f.toml:1:1 function `slug` does not say what it gives",
        ),
        (
            'returns = "string"',
            'returns = "varchar(3)"',
            "functions/f.toml:7:11 `varchar(3)` cannot be the type of a function",
        ),
        (
            'kind = "python"',
            'kind = "phyton"',
            "functions/f.toml:3:8 `phyton` is not one of",
        ),
        ('name = "slug"', 'name = "text.slug"', "functions/f.toml:2:8 a function that is made"),
        (
            'name = "slug"',
            'name = "the slug"',
            "functions/f.toml:2:8 `the slug` cannot be the name",
        ),
        ('"functions.text"', '"functions.txt"', "functions/f.toml:4:10 there is no module"),
        ('"functions.text"', '"../text"', "functions/f.toml:4:10 there is no module"),
        (
            'attribute = "slug"',
            'attribute = "slog"',
            "functions/f.toml:5:13 the module `functions/text.py` defines no `slog`",
        ),
        (
            'attribute = "slug"\n',
            "",
            "functions/f.toml:1:1 a function of kind `python` needs `attribute`",
        ),
        (
            "[[function]]",
            "[function]",
            "functions/f.toml:1:1 `function` must be written `[[function]]`",
        ),
        (
            "returns =",
            "body = 'x'\nreturns =",
            "functions/f.toml:7:1 `body` is not for a function of kind",
        ),
        (
            "returns =",
            "jar = 'x.jar'\nreturns =",
            "functions/f.toml:7:1 `jar` is not for a function of",
        ),
        (
            "returns =",
            "aggregate = true\nreturns =",
            "functions/f.toml:7:1 `aggregate` is not for a",
        ),
        ("returns =", "nulable = true\nreturns =", "functions/f.toml:7:1 unknown key `nulable`"),
        (
            'type = "string" }',
            'type = "string", default = "1" }',
            "functions/f.toml:6:50 only a SQL function has defaults that Rocky knows",
        ),
        (
            'type = "string" }',
            'type = "string" }, { name = "TEXT", type = "int" }',
            "functions/f.toml:6:61 parameter `TEXT` is declared twice",
        ),
        (
            'type = "string" }',
            'type = "string", optional = true }, { name = "b", type = "int" }',
            "functions/f.toml:6:78 `b` cannot be left out, and `text` before it can",
        ),
        (
            "returns =",
            "columns = [ { name = 'a', type = 'int' } ]\nreturns =",
            "functions/f.toml:7:1 a function gives a value (`returns`) or rows (`columns`), not both",
        ),
    ],
)
def test_what_is_wrong_with_a_block_is_said_at_its_key(tmp_path, old, new, said):
    assert old in PYTHON
    told = found(tmp_path, PYTHON.replace(old, new))

    assert 1 == len(told)
    assert told[0].startswith(said.partition(" ")[0])
    assert said.partition(" ")[2] in told[0]


@pytest.mark.parametrize(
    ("block", "said"),
    [
        (
            'kind = "sql"\nbody = "x"\nnullable = true',
            "`nullable` is not for a function of kind `sql`",
        ),
        ('kind = "sql"\nbody = "x"\ndeterministic = true', "Rocky works out itself"),
        ('kind = "sql"', "a function of kind `sql` needs `body`"),
        (
            'kind = "java"\nclass = "a.B"\nreturns = "int"\njar = "no.jar"',
            "the jar `no.jar` cannot be read",
        ),
        ('kind = "java"\nreturns = "int"', "a function of kind `java` needs `class`"),
        (
            'kind = "pandas"\nmodule = "a"\nattribute = "b"\ncolumns = []',
            "`columns` is not for a function",
        ),
        ('kind = "catalog"\ncolumns = []', "a function that gives rows has columns"),
    ],
)
def test_what_a_kind_does_not_have_is_refused_and_what_it_needs_is_asked_for(tmp_path, block, said):
    told = found(tmp_path, f'[[function]]\nname = "f"\n{block}\n')

    assert any(said in each for each in told), told


JAVA = '[[function]]\nname = "f"\nkind = "java"\nclass = "a.B"\nreturns = "int"\njar = "{}"\n'


@pytest.mark.parametrize(
    ("jar", "said"),
    [
        ("{outside}/x.jar", "the jar `{outside}/x.jar` lies outside the project"),
        ("../outside/x.jar", "the jar `../outside/x.jar` lies outside the project"),
        ("lib/link.jar", "the jar `lib/link.jar` lies outside the project"),
        ("lib/folder/x.jar", "the jar `lib/folder/x.jar` lies outside the project"),
        ("../outside/none.jar", "the jar `../outside/none.jar` lies outside the project"),
        ("/dev/zero", "the jar `/dev/zero` lies outside the project"),
        ("lib/pipe.jar", "the jar `lib/pipe.jar` is not a file"),
        ("lib", "the jar `lib` is not a file"),
        ("lib/loop.jar", "the jar `lib/loop.jar` cannot be read: "),
        ("lib/\\u0000.jar", "cannot be read: embedded null byte"),
    ],
)
def test_a_jar_that_is_no_file_of_the_project_is_refused_at_its_line(tmp_path, jar, said):
    outside, lib = tmp_path / "outside", tmp_path / "project/lib"
    outside.mkdir()
    lib.mkdir(parents=True)
    (outside / "x.jar").write_bytes(b"jar")
    (lib / "link.jar").symlink_to(outside / "x.jar")
    (lib / "folder").symlink_to(outside)
    (lib / "loop.jar").symlink_to(lib / "loop.jar")
    os.mkfifo(lib / "pipe.jar")
    (told,) = found(tmp_path / "project", JAVA.format(jar.format(outside=outside)))

    assert told.startswith("functions/f.toml:6:7 ")
    assert said.format(outside=outside) in told


@pytest.mark.parametrize("jar", ["lib/x.jar", "lib/../lib/x.jar", "link.jar"])
def test_a_jar_of_the_project_may_be_a_link_in_it_and_the_project_too(tmp_path, jar):
    lib = tmp_path / "project/lib"
    lib.mkdir(parents=True)
    (lib / "x.jar").write_bytes(b"jar")
    (tmp_path / "project/link.jar").symlink_to("lib/x.jar")
    (tmp_path / "way").symlink_to(tmp_path / "project")

    assert [] == found(tmp_path / "way", JAVA.format(jar))


def test_functions_of_a_broken_file_stay_known(tmp_path):
    project = load(
        tmp_path,
        {
            "functions/f.toml": PYTHON + "\n= broken\n",
            "models/m.sql": "SELECT slug('a') AS x",
        },
    )
    compilation = rocky.compile_project(project, cache=False)

    assert ["E017"] == [each.code.value for each in compilation.diagnostics]


def test_a_statement_is_read_with_everything_that_spark_allows_around_it():
    told = parse_statement(
        "/* a */ create or replace temp function if not exists `My``F`(\n"
        "  a array<struct<x: int, y: decimal(3,1)>> comment 'it''s', b int default greatest(1, 2)\n"
        ") returns map<string, int> language sql contains sql not deterministic comment 'all'\n"
        "return map('a', b) -- end\n;\n"
    )

    assert "My`F" == told.name.text
    assert ["array<struct<x: int, y: decimal(3,1)>>", "int"] == [
        each.type.text for each in told.parameters
    ]
    assert [None, "greatest(1, 2)"] == [
        each.default and each.default.text for each in told.parameters
    ]
    assert "it's" == told.parameters[0].comment
    assert told.returns is not None
    assert ("map<string, int>", False, "all") == (
        told.returns.text,
        told.deterministic,
        told.comment,
    )
    assert "map('a', b)" == told.body.text


@pytest.mark.parametrize(
    ("text", "at", "said"),
    [
        ("SELECT 1", 0, "CREATE is expected after the beginning"),
        ("CREATE FUNCTION s.f() RETURN 1", 17, "its name has no schema"),
        ("CREATE FUNCTION f(a) RETURN 1", 19, "the type of `a` is expected"),
        ("CREATE FUNCTION f(a INT NOT NULL) RETURN 1", 24, "`a` cannot be NOT NULL"),
        ("CREATE FUNCTION f() RETURNS INT LANGUAGE PYTHON RETURN 1", 41, "only LANGUAGE SQL"),
        ("CREATE FUNCTION f AS 'a.B' USING JAR 'x'", 18, "`(` is expected after `f`"),
        ("CREATE FUNCTION f() RETURNS INT", 30, "RETURN is expected, and the text ends"),
        ("CREATE FUNCTION f() RETURN", 25, "an expression is expected after RETURN"),
        ("CREATE FUNCTION f() RETURN 1; SELECT 2", 28, "holds one statement"),
    ],
)
def test_what_is_wrong_with_a_statement_is_said_at_its_place(text, at, said):
    with pytest.raises(StatementFault, match=said.replace("(", r"\(")) as fault:
        parse_statement(text)

    assert at == fault.value.span.start


def test_a_file_has_the_name_of_its_function(tmp_path):
    project = load(tmp_path, {"functions/f.sql": "CREATE FUNCTION g(x INT) RETURN x"})

    assert ["the file declares `g` and is called `f.sql`"] == [
        each.message for each in project.diagnostics
    ]


def test_loading_does_not_run_the_code_of_a_function(tmp_path):
    code = f"open({str(tmp_path / 'ran')!r}, 'w')\n\n\ndef slug(text):\n    return text\n"

    assert [] == found(tmp_path, PYTHON, **{"functions/text.py": code})
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        # In a raw text a backslash ends nothing, and what follows is no comment.
        ("concat(r'\\', '--a')", "concat(r'\\', '--b')"),
        ("concat(r'\\', '/*a*/', x)", "concat(r'\\', '/*b*/', x)"),
        ("x -- c\\ \n || 'a'", "x -- c\\\n || 'a'"),
    ],
)
def test_another_body_is_another_function_whatever_its_texts_look_like(tmp_path, before, after):
    def digest(name, body):
        statement = f"CREATE FUNCTION f(x STRING) RETURNS STRING RETURN {body}\n"
        return load(tmp_path / name, {"functions/f.sql": statement}).functions["f"].signature.digest

    assert digest("a", before) != digest("b", after)
    commented = f"{before} /* a /* b */ c */ -- d"
    assert digest("a", before) == digest("c", commented)
