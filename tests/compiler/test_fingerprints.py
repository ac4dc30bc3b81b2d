"""Fingerprints can be checked by anyone who has the JSON, and change when a row can."""

import json
from pathlib import Path

import pytest
from blake3 import blake3

import rocky
from rocky.compiler.fingerprints import Fingerprints, fingerprints_of, ir_text_of

SQL = """\
WITH big AS (SELECT o.id, o.amount FROM raw.orders AS o WHERE o.amount > 10)
SELECT b.id, sum(b.amount) AS total, struct(b.id AS k, 'Größe' AS `näme`) AS s
FROM big AS b GROUP BY b.id
"""


def compiled(root: Path, sql: str, sidecar: str = "") -> rocky.Compilation:
    (root / "models").mkdir(exist_ok=True)
    (root / "sources").mkdir(exist_ok=True)
    (root / "rocky.toml").write_text(
        '[pipeline.p]\ntype = "transformation"\nmodels = "models/**"\n'
    )
    (root / "sources/raw.toml").write_text(
        '[[source]]\nname = "raw.orders"\n'
        'columns = [{ name = "id", type = "bigint", nullable = false }, '
        '{ name = "amount", type = "decimal(10,2)" }]\n'
    )
    (root / "models/m.sql").write_text(sql, encoding="utf-8")
    (root / "models/m.toml").write_text(sidecar)
    return rocky.compile_project(rocky.load_project(root), cache=False)


def hashes(compilation: rocky.Compilation) -> Fingerprints:
    return fingerprints_of(compilation, ["m"])["m"]


def test_the_recipe_is_the_blake3_of_the_canonical_json_of_the_document(tmp_path):
    sidecar = '[strategy]\ntype = "merge"\nunique_key = ["id"]\n'
    compilation = compiled(tmp_path, SQL, sidecar)
    canonical = json.dumps(
        json.loads(ir_text_of(compilation, "m")),
        sort_keys=True,
        separators=(",", ":"),
        ensure_ascii=False,
    )

    assert blake3(canonical.encode()).hexdigest() == hashes(compilation).recipe
    assert "null" not in canonical.replace('"nullable"', "")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("SELECT b.id", "select   b.id"),
        ("FROM big AS b GROUP", "FROM big AS b -- all of them\nGROUP"),
        ("big", "large"),
        ("o.", "x."),
    ],
)
def test_cosmetics_change_the_recipe_and_not_the_skip_hash(tmp_path, before, after):
    sql = SQL.replace(before, after).replace(
        "raw.orders AS o", f"raw.orders AS {after[0]}" if before == "o." else "raw.orders AS o"
    )
    first, second = compiled(tmp_path, SQL), compiled(tmp_path, sql)

    assert () == second.diagnostics
    assert hashes(first).recipe != hashes(second).recipe
    assert hashes(first).skip_hash == hashes(second).skip_hash


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("> 10", "> 11"),
        ("> 10", ">= 10"),
        ("sum(", "max("),
        ("AS total", "AS sums"),
        ("Größe", "größe"),
    ],
)
def test_what_can_change_a_row_changes_the_skip_hash(tmp_path, before, after):
    first, second = compiled(tmp_path, SQL), compiled(tmp_path, SQL.replace(before, after))

    assert () == second.diagnostics
    assert hashes(first).skip_hash != hashes(second).skip_hash


def test_how_the_table_is_written_changes_the_skip_hash(tmp_path):
    first = compiled(tmp_path, SQL)
    second = compiled(tmp_path, SQL, '[strategy]\ntype = "merge"\nunique_key = ["id"]\n')

    assert hashes(first).skip_hash != hashes(second).skip_hash


def test_what_people_say_of_a_model_is_in_no_hash(tmp_path):
    before = hashes(compiled(tmp_path, SQL))
    said = (
        'description = "totals"\nowner = "sales"\ntags = ["nightly"]\nmeta = { a = 1 }\n'
        '[columns.total]\ndescription = "the sum"\n'
    )

    assert before == hashes(compiled(tmp_path, SQL, said))
