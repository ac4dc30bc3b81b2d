"""Macros of a project: what they are made of counts for those who call them, and for nobody else."""

import pytest

from rocky.compiler.fingerprints import fingerprints_of
from rocky.compiler.passes import compile_project
from rocky.diagnostics.diagnostic import Span
from rocky.language.macros.expansion import Expansion
from rocky.project import load_project
from rocky.project.macros import load_macros
from rocky.project.user_cache import cache_place
from tests.project.projects import finding, findings, load

SOURCES = """
[[source]]
name = "raw.orders"
path = "data/orders"
format = "parquet"
columns = [
  { name = "id", type = "bigint", nullable = false },
  { name = "amount", type = "double" },
  { name = "quantity", type = "int" },
]
"""
PRICE = "CREATE MACRO price(a EXPRESSION, q EXPRESSION)\nRETURN @a / nullif(@q, 0)\n"
FILES = {
    "sources/raw.toml": SOURCES,
    "macros/price.sql": PRICE,
    "macros/unused.sql": "CREATE MACRO unused(a EXPRESSION) RETURN @a + 1\n",
    "models/prices.sql": "SELECT id, @price(amount, quantity) AS price FROM raw.orders\n",
    "models/plain.sql": "SELECT id, amount FROM raw.orders\n",
}


def compiled(root):
    return compile_project(load_project(root, env={}, remember=True))


def hashes(root):
    return fingerprints_of(compiled(root), ["prices", "plain"])


def test_types_and_lineage_see_through_a_macro(tmp_path):
    load(tmp_path, FILES)
    prices = compiled(tmp_path).models["prices"]

    assert [("id", "bigint", False), ("price", "double", True)] == [
        (each.name, str(each.type), each.nullable) for each in prices.columns
    ]
    assert {"amount", "quantity"} == {edge.column for edge in prices.columns[1].edges}


def test_a_changed_macro_changes_its_callers_and_nobody_else(tmp_path):
    load(tmp_path, FILES)
    before = hashes(tmp_path)
    load(tmp_path, FILES | {"macros/price.sql": PRICE.replace("0)", "1)")})
    after = hashes(tmp_path)

    assert before["plain"] == after["plain"]
    assert before["prices"].skip_hash != after["prices"].skip_hash
    assert before["prices"].recipe != after["prices"].recipe


def test_a_changed_macro_that_nobody_calls_changes_nothing(tmp_path):
    load(tmp_path, FILES)
    before = hashes(tmp_path)
    load(tmp_path, FILES | {"macros/unused.sql": "CREATE MACRO unused(a EXPRESSION) RETURN @a"})

    assert before == hashes(tmp_path)
    assert 0 == compiled(tmp_path).statistics.bound


@pytest.mark.parametrize(
    "text",
    [
        PRICE.replace("RETURN", "-- what one costs\nRETURN  "),
        PRICE.replace("@a / ", "@a\n  /  /* shared */ "),
        PRICE.replace("CREATE MACRO", "create macro").replace("nullif", "NULLIF"),
        PRICE.replace("RETURN", "COMMENT 'what one costs'\nRETURN"),
        PRICE.replace("a EXPR", "x EXPR").replace("@a", "@x"),
    ],
    ids=["comment", "white space", "case", "description", "name of a parameter"],
)
def test_cosmetics_of_a_macro_rebuild_nobody(tmp_path, text):
    load(tmp_path, FILES)
    before = hashes(tmp_path)
    load(tmp_path, FILES | {"macros/price.sql": text})

    assert before["prices"].skip_hash == hashes(tmp_path)["prices"].skip_hash


def test_a_macro_and_its_text_written_out_are_the_same_query(tmp_path):
    load(tmp_path, FILES)
    before = hashes(tmp_path)
    written = "SELECT id, (amount / nullif(quantity, 0)) AS price FROM raw.orders"
    load(tmp_path, FILES | {"models/prices.sql": written})

    assert before["prices"].skip_hash == hashes(tmp_path)["prices"].skip_hash


def test_own_names_of_a_macro_are_cosmetics(tmp_path):
    top = "CREATE MACRO top(t TABLE) RETURN SELECT x.id FROM @t AS x WHERE x.amount > 1"
    files = FILES | {"macros/top.sql": top, "models/prices.sql": "SELECT id FROM @top(raw.orders)"}
    load(tmp_path, files)
    before = hashes(tmp_path)
    load(tmp_path, files | {"macros/top.sql": top.replace("x", "longer")})

    assert before["prices"].skip_hash == hashes(tmp_path)["prices"].skip_hash


def test_a_finding_in_a_macro_is_told_at_the_call_and_at_its_line(tmp_path):
    files = FILES | {
        "models/prices.sql": "---toml\nname = 'prices'\n---\nSELECT\n  @price(array(1), 2) AS p\n"
    }
    project = load(tmp_path, files)
    (found,) = [each for each in compile_project(project, cache=False).diagnostics if each.labels]
    (label,) = [each for each in found.labels if each.path is not None]

    assert finding(project, found).startswith("E005 models/prices.sql:5:3 '@price(array(1), 2)'")
    assert "macros/price.sql" == label.path
    assert "@a / nullif(@q, 0" == PRICE[slice(*label.span)].removesuffix(")")


def test_variables_are_filled_in_macros_and_in_arguments(tmp_path):
    files = FILES | {
        "macros/price.sql": PRICE.replace("0)", "@var(least, 0) + nope(1))"),
        "models/prices.sql": "SELECT id, @price(amount, @var(q)) AS price FROM raw.orders",
    }
    load(tmp_path, files)
    project = load_project(tmp_path, env={}, variables={"q": "7", "least": "5"})

    assert (
        "SELECT id, (amount / nullif(7, 5 + nope(1))) AS price FROM raw.orders"
        == project.models["prices"].sql
    )
    assert frozenset({"q", "least"}) == project.variables
    (found,) = compile_project(project, cache=False).diagnostics
    (label,) = found.labels
    assert "nope(1)" == files["macros/price.sql"][slice(*label.span)]


def test_a_macro_without_the_value_of_its_variable_blocks_its_callers_alone(tmp_path):
    project = load(tmp_path, FILES | {"macros/price.sql": PRICE.replace("0)", "@var(least))")})

    assert [
        "E028 macros/price.sql:2:24 '@var(least)' the variable `least` has no value"
    ] == findings(project)
    assert {"prices"} == project.blocked


def test_macros_are_found_in_folders_and_never_twice(tmp_path):
    project = load(
        tmp_path,
        FILES
        | {"macros/money/cents.sql": "CREATE MACRO cents() RETURN 1", "macros/x/price.sql": PRICE},
    )

    assert {"price", "unused", "cents"} == set(project.macros)
    assert [
        "E070 macros/x/price.sql:1:14 'price' there is a macro `price` in `macros/price.sql` already"
    ] == findings(project)


def test_a_macro_is_no_model_whatever_the_pattern_says(tmp_path):
    project = load(tmp_path, FILES | {"rocky.toml": '[pipeline.shop]\nmodels = "**"\n'})

    assert {"prices", "plain"} == set(project.models)


def test_what_is_no_text_is_told_and_blocks_its_callers_without_a_word(tmp_path):
    project = load(tmp_path, FILES | {"macros/price.sql": b"\xff\xfe"})

    assert ["E017"] == [each.code for each in project.diagnostics]
    assert {"prices"} == project.blocked


def test_a_project_without_macros_pays_for_no_parser(tmp_path):
    load(tmp_path, {"models/a.sql": "SELECT '@x(1)' AS a"})
    macros = load_macros(str(tmp_path), {}, lambda _: None)

    assert macros._library is None


def test_an_unread_place_of_a_macro_is_never_outside_of_a_file(tmp_path):
    project = load(tmp_path, FILES)
    model = project.models["prices"]
    for start in range(len(model.sql)):
        for end in range(start + 1, len(model.sql) + 1):
            span = model.place_in_file(Span(start, end))

            assert 0 <= span.start < span.end <= len(model.text)
            for label in model.labels_in_macros(Span(start, end)):
                assert 0 <= label.span.start < label.span.end <= len(PRICE)


# ------------------------------------------------------------------ what is remembered


def remembered(root):
    """The project as a second load has it, and whether that has expanded anything."""
    load_project(root, env={}, remember=True)
    macros = load_macros(str(root), {}, lambda _: None, remember=True)
    found = {
        name: macros.expand((root / f"models/{name}.sql").read_text())
        for name in ("prices", "plain")
    }
    return found, macros._library is not None


def test_a_second_load_expands_nothing_and_knows_the_same_places(tmp_path):
    first = load(tmp_path, FILES).models["prices"].expanded
    found, worked = remembered(tmp_path)
    again = found["prices"]

    assert not worked
    assert None is found["plain"]
    assert (first.text, first.macros, first.bans) == (again.text, again.macros, again.bans)
    for start in range(len(first.text)):
        for end in range(start + 1, len(first.text) + 1):
            span = Span(start, end)
            assert first.written(span) == again.written(span)
            assert first.labels(span) == again.labels(span)


def test_a_comment_in_a_macro_moves_the_places_that_are_remembered(tmp_path):
    wrong = FILES | {"models/prices.sql": "SELECT @price(array(1), 2) AS p FROM raw.orders"}
    load(tmp_path, wrong)
    compiled(tmp_path)
    load(tmp_path, wrong | {"macros/price.sql": f"-- of one piece\n{PRICE}"})
    compilation = compiled(tmp_path)
    (found,) = compilation.diagnostics
    (label,) = [each for each in found.labels if each.path is not None]

    assert (3, 8) == compilation.project.texts["macros/price.sql"].position(label.span.start)


def test_what_is_wrong_with_a_macro_is_told_at_each_load(tmp_path):
    broken = FILES | {"macros/price.sql": PRICE.replace("@q", "@w")}
    load(tmp_path, broken)
    told = [[each.message for each in compiled(tmp_path).diagnostics] for _ in range(3)]

    assert [["the macro `price` has no parameter `w`"]] * 3 == told
    load(tmp_path, FILES)
    assert () == compiled(tmp_path).diagnostics


def test_what_is_wrong_with_a_call_is_told_at_each_load(tmp_path):
    load(tmp_path, FILES | {"models/prices.sql": "SELECT @price(1) AS p"})
    told = [[each.code for each in compiled(tmp_path).diagnostics] for _ in range(3)]

    assert [["E072"]] * 3 == told


def test_no_value_of_a_variable_is_kept(tmp_path):
    files = FILES | {
        "models/prices.sql": "SELECT @price(amount, 'hunter2-@var(q)') AS price FROM raw.orders",
        "models/plain.sql": "SELECT @price(amount, 2) AS price FROM raw.orders",
    }
    load(tmp_path, files)
    for _ in range(2):
        load_project(tmp_path, env={}, remember=True, variables={"q": "s3cret"})
    kept = cache_place(tmp_path).folder / "expansions.bin"

    assert b"s3cret" not in kept.read_bytes()
    assert b"amount" in kept.read_bytes()


def test_what_looks_like_a_comment_in_a_text_of_a_macro_stays(tmp_path):
    macro = r"CREATE MACRO tag(a EXPRESSION) RETURN concat(r'\', '/* no */', @a) -- /* a note"
    load(tmp_path, FILES | {"macros/tag.sql": macro})
    found = load_macros(str(tmp_path), {}, print).expand("SELECT @tag(x)")

    assert isinstance(found, Expansion)
    assert r"SELECT concat(r'\', '/* no */', x)" == found.text
