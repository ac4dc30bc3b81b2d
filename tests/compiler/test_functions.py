"""Declared functions in a compile: what is seen through them, and what a change binds again."""

import subprocess
import sys
from pathlib import Path

import pytest

import rocky
from rocky.analysis.changes.models import Side
from rocky.compiler.fingerprints import fingerprints_of, ir_text_of
from rocky.language.binder.logic.digests import NO_RENAMES
from rocky.plan.refusals import refusing_findings
from rocky.plan.request import RunRequest, plan_request
from tests.compiler.projects import assert_as_if_cold, compiled, edit, write

SHOP = {
    "rocky.toml": "",
    "sources/raw.toml": """\
[[source]]
name = "raw.orders"
columns = [
  { name = "id", type = "bigint", nullable = false },
  { name = "kind", type = "int", nullable = false },
  { name = "amount", type = "decimal(12,2)" },
  { name = "name", type = "string" },
]
""",
    "functions/net.sql": (
        "CREATE FUNCTION net(amount DECIMAL(12,2), kind INT, unused INT DEFAULT 1)\n"
        "RETURNS DECIMAL(12,2) RETURN CASE WHEN kind = 1 THEN amount ELSE taxed(amount) END"
    ),
    "functions/taxed.sql": (
        "CREATE FUNCTION taxed(x DECIMAL(12,2)) RETURNS DECIMAL(12,2) RETURN x / 1.19"
    ),
    "functions/one_more.sql": "CREATE FUNCTION one_more(x BIGINT) RETURNS BIGINT RETURN x + 1",
    "functions/code.toml": """\
[[function]]
name = "slug"
kind = "python"
module = "lib.text"
attribute = "slug"
parameters = [ { name = "text", type = "string" } ]
returns = "string"
deterministic = true
""",
    "lib/text.py": "from lib.parts import low\n\n\ndef slug(text):\n    return low(text)\n",
    "lib/parts.py": "def low(text):\n    return text.lower()\n",
    "models/nets.sql": (
        "SELECT one_more(id) AS more, net(amount, kind) AS net,\n"
        "  net(amount, 1, unused => kind) AS other FROM raw.orders"
    ),
    "models/slugs.sql": "SELECT id, slug(name) AS slug FROM raw.orders",
    "models/plain.sql": "SELECT id FROM raw.orders",
}


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    write(tmp_path, SHOP)
    assert () == compiled(tmp_path).diagnostics
    return tmp_path


def edges(compilation, model: str, column: str) -> set[tuple[str, str]]:
    found = compilation.models[model].column(column)
    assert found is not None
    return {(edge.column, edge.kind) for edge in found.edges}


def hashes(root: Path) -> dict[str, tuple[str, str]]:
    compilation = compiled(root)
    return {
        key: tuple(each) for key, each in fingerprints_of(compilation, compilation.models).items()
    }


def changed(before: dict, after: dict) -> set[str]:
    return {key for key in before if before[key] != after[key]}


def test_types_nullability_and_lineage_go_through_a_body(shop):
    compilation = compiled(shop)
    columns = {
        each.name: (str(each.type), each.nullable) for each in compilation.models["nets"].columns
    }

    assert {
        "more": ("bigint", False),
        "net": ("decimal(12,2)", True),
        "other": ("decimal(12,2)", True),
    } == columns
    assert {("amount", "conditional"), ("kind", "conditional")} == edges(compilation, "nets", "net")
    # What a body does not use is no source.
    assert {("amount", "conditional")} == edges(compilation, "nets", "other")
    assert {("name", "expression")} == edges(compilation, "slugs", "slug")
    assert ("net", "one_more") == compilation.models["nets"].functions


def test_a_changed_body_is_another_recipe_and_another_skip_hash_also_through_other_functions(shop):
    before = hashes(shop)
    edit(shop, "functions/taxed.sql", "1.19", "1.2")
    after = hashes(shop)

    assert {"nets"} == changed(before, after)
    assert all(one != other for one, other in zip(before["nets"], after["nets"], strict=True))
    assert_as_if_cold(shop)


def test_what_a_module_imports_is_part_of_a_function(shop):
    before = hashes(shop)
    edit(shop, "lib/parts.py", "lower", "upper")

    assert {"slugs"} == changed(before, hashes(shop))
    assert_as_if_cold(shop)


def test_comments_and_white_space_of_a_body_change_nothing(shop):
    before = hashes(shop)
    edit(shop, "functions/taxed.sql", "RETURN x / 1.19", "RETURN -- without tax\n  x /  1.19")

    assert before == hashes(shop)


def test_a_model_without_functions_has_the_fingerprint_it_had_before_there_were_any(tmp_path):
    plain = {name: text for name, text in SHOP.items() if "functions" not in name}
    plain |= {"models/nets.sql": "SELECT 1 AS x", "models/slugs.sql": "SELECT 1 AS x"}
    write(tmp_path, plain)
    before = hashes(tmp_path)["plain"]
    compilation = compiled(tmp_path)
    assert '"functions"' not in ir_text_of(compilation, "plain")

    write(tmp_path, SHOP)
    assert before == hashes(tmp_path)["plain"]
    assert '"functions":[{"digest":"' in ir_text_of(compiled(tmp_path), "slugs")


def test_a_compile_binds_again_only_what_calls_a_changed_function(shop):
    assert 0 == compiled(shop).statistics.bound
    edit(shop, "functions/one_more.sql", "x + 1", "x + 2")
    assert 1 == compiled(shop).statistics.bound
    write(shop, {"functions/new_one.sql": "CREATE FUNCTION new_one(x INT) RETURN x"})
    assert 0 == compiled(shop).statistics.bound
    edit(shop, "functions/one_more.sql", "BIGINT RETURN", "STRING RETURN")
    found = compiled(shop)
    assert "string" == str(found.models["nets"].columns[0].type)


def test_a_function_that_comes_or_goes_is_noticed_by_its_callers_alone(shop):
    text = (shop / "functions/one_more.sql").read_text()
    (shop / "functions/one_more.sql").unlink()
    gone = compiled(shop)
    assert ["E006"] == [each.code.value for each in gone.diagnostics]
    assert 1 == gone.statistics.bound

    write(shop, {"functions/one_more.sql": text})
    back = compiled(shop)
    assert () == back.diagnostics
    assert 1 == back.statistics.bound


def test_findings_of_bodies_are_remembered_and_a_warm_compile_loads_no_parser(shop):
    edit(shop, "functions/one_more.sql", "x + 1", "y + 1")
    first = compiled(shop)
    assert ["E003"] == [each.code.value for each in first.diagnostics]
    program = (
        "import sys, rocky\n"
        "found = rocky.compile_project(rocky.load_project(sys.argv[1], env={}))\n"
        "print([each.code.value for each in found.diagnostics], 'sqlglot' in sys.modules)"
    )

    said = subprocess.run(
        [sys.executable, "-c", program, str(shop)], text=True, capture_output=True, check=True
    )

    assert "['E003'] False" == said.stdout.strip()


def test_volatility_is_seen_through_bodies_and_code_is_trusted_only_on_its_word(shop):
    write(
        shop,
        {
            "functions/chance.sql": "CREATE FUNCTION chance(x INT) RETURN rand() * x",
            "functions/luck.sql": "CREATE FUNCTION luck(x INT) RETURN chance(x) + 1",
            "functions/vague.sql": "CREATE FUNCTION vague(x INT) NOT DETERMINISTIC RETURN x",
            "models/a.sql": "SELECT luck(1) AS x",
            "models/b.sql": "SELECT vague(1) AS x",
        },
    )
    edit(shop, "functions/code.toml", "deterministic = true\n", "")
    models = compiled(shop).models

    assert (
        "volatile: `rand` gives a new value on every run, in function `chance`, in function `luck`",
    ) == models["a"].determinism
    assert ("volatile: function `vague` is NOT DETERMINISTIC",) == models["b"].determinism
    assert ("volatile: function `slug` is not declared `deterministic = true`",) == models[
        "slugs"
    ].determinism
    assert models["nets"].deterministic


def test_code_that_can_run_other_code_makes_its_callers_volatile(shop):
    edit(shop, "lib/parts.py", "return text.lower()", "return eval(text)")

    assert ("volatile: function `slug`: `eval` in `lib/parts.py` can run any code",) == compiled(
        shop
    ).models["slugs"].determinism


def test_an_unusable_declaration_is_reported_once_and_not_at_its_callers(shop):
    edit(shop, "functions/net.sql", "RETURNS DECIMAL(12,2)", "RETURNS DECMAL(12,2)")
    found = compiled(shop).diagnostics

    assert [("E060", "functions/net.sql")] == [(each.code.value, each.path) for each in found]


def test_columns_that_a_changed_function_computes_have_changed(shop):
    before = rocky.compile_project(rocky.load_project(shop, env={}), cache=False)
    edit(shop, "functions/one_more.sql", "x + 1", "x + 2")
    after = rocky.compile_project(rocky.load_project(shop, env={}), cache=False)
    one, other = (Side(each).logic("nets", NO_RENAMES).columns for each in (before, after))

    assert one is not None
    assert other is not None
    assert [False, True, True] == [a == b for a, b in zip(one, other, strict=True)]


def test_an_undeclared_function_is_taken_in_from_too_where_the_project_says_so(shop):
    write(
        shop,
        {
            "rocky.toml": '[compile]\nundeclared = "unknown"\n',
            "models/rows.sql": "SELECT * FROM rows_of_the_catalogue(1)",
            "models/near.sql": "SELECT one_mor(1) AS x",
        },
    )
    found = compiled(shop)

    assert [("E006", "models/near.sql")] == [
        (each.code.value, each.path) for each in found.diagnostics
    ]
    assert not found.models["rows"].known
    assert not found.models["rows"].deterministic


def refused(root: Path, *select: str) -> list[str]:
    plan = plan_request(compiled(root), RunRequest(select=select))
    return [each.path or "" for each in refusing_findings(plan)]


def test_a_run_is_refused_for_errors_of_the_functions_it_calls_and_for_no_others(shop):
    edit(shop, "functions/taxed.sql", "x / 1.19", "y / 1.19")
    assert ["functions/taxed.sql"] == refused(shop, "nets")
    assert [] == refused(shop, "slugs")

    edit(shop, "functions/net.sql", "RETURNS DECIMAL", "RETURNS DECMAL")
    assert {"functions/net.sql"} <= set(refused(shop, "nets"))
    edit(shop, "functions/code.toml", '"lib.text"', '"lib.txt"')
    assert ["functions/code.toml"] == refused(shop, "slugs")
    assert [] == refused(shop, "plain")
