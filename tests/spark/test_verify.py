"""`compile --verify spark`: Spark agrees with the playground, and a disagreement is seen."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from rocky.analysis.compilation import Compilation
from rocky.cli.app import main
from rocky.compiler.passes import compile_project
from rocky.language.datatypes.types import BIGINT, INT, array
from rocky.language.ir import ModelIr
from rocky.language.syntax.references import fill_placeholders
from rocky.project import load_project
from rocky.spark.analyser import analyse_project

pytestmark = pytest.mark.spark

CONFIG = '[pipeline.main]\ntype = "transformation"\nmodels = "models/**"\ntarget = {{ catalog = "{catalog}" }}\n'
SOURCES = """
[[source]]
name = "raw.orders"
columns = [
  {{ name = "id", type = "bigint", nullable = false }},
  {{ name = "tags", type = "array<struct<key: string, value: int NOT NULL>>" }},
]
[[source]]
name = "{catalog}.crm.people"
columns = [ {{ name = "id", type = "bigint", nullable = false }}, {{ name = "name", type = "char(5)" }} ]
"""


def compile_files(root: Path, files: dict[str, str], catalog: str = "spark_catalog") -> Compilation:
    texts = {
        "rocky.toml": CONFIG.format(catalog=catalog),
        "sources/raw.toml": SOURCES.format(catalog=catalog),
        **files,
    }
    for path, text in texts.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    return compile_project(load_project(root, env={}), cache=False)


def with_model(compilation: Compilation, key: str, ir: ModelIr) -> Compilation:
    return replace(compilation, models={**compilation.models, key: ir})


def seen(found):
    return [
        (each.model, each.column, each.what, each.ours, each.spark) for each in found.differences
    ]


def test_spark_agrees_on_every_column_of_the_playground(spark, tmp_path):
    CliRunner().invoke(main, ["playground", str(tmp_path / "shop")], catch_exceptions=False)
    project = load_project(tmp_path / "shop", env={})
    found = analyse_project(compile_project(project, cache=False), session=spark)

    assert [] == seen(found)
    assert len(project.models) == found.models
    assert () == found.skipped


@pytest.mark.parametrize("catalog", ["spark_catalog", "lake"])
def test_names_of_one_two_and_three_parts_are_found(spark, tmp_path, catalog):
    files = {
        "models/a.sql": "SELECT raw.orders.id, orders.tags FROM raw.orders",
        "models/b.sql": f"SELECT people.id FROM {catalog}.crm.people",
        "models/c.sql": f"SELECT a.id, x.id AS again FROM a JOIN {catalog}.default.b AS x ON x.id = a.id",
        "models/d.sql": "WITH a AS (SELECT 1 AS one) SELECT one FROM a",
    }
    found = analyse_project(compile_files(tmp_path, files, catalog), session=spark)

    assert [] == seen(found)
    assert (4, 6) == (found.models, found.columns)


def test_a_wrong_name_type_and_nullability_are_each_reported_once(spark, tmp_path):
    files = {
        "models/a.sql": "SELECT id, id AS same, 1 AS one FROM raw.orders",
        "models/b.sql": "SELECT id, same, one FROM a",
    }
    compilation = compile_files(tmp_path, files)
    ir = compilation.models["a"]
    first, second, third = ir.columns
    wrong = (
        replace(first, type=INT),
        replace(second, name="other"),
        replace(third, nullable=True),
    )
    found = analyse_project(
        with_model(compilation, "a", replace(ir, columns=wrong)), models=["a"], session=spark
    )

    assert [
        ("a", "id", "type", "int", "bigint"),
        ("a", "other", "name", "other", "same"),
        ("a", "one", "nullability", "nullable", "not null"),
    ] == seen(found)


def test_nullability_inside_a_type_counts(spark, tmp_path):
    compilation = compile_files(
        tmp_path, {"models/a.sql": "SELECT array(id) AS ids FROM raw.orders"}
    )
    ir = compilation.models["a"]
    wrong = replace(ir.columns[0], type=array(BIGINT, True))
    found = analyse_project(
        with_model(compilation, "a", replace(ir, columns=(wrong,))), session=spark
    )
    ((_, _, what, ours, theirs),) = seen(found)

    assert "type" == what
    assert (True, False) == (json.loads(ours)["containsNull"], json.loads(theirs)["containsNull"])


def test_a_missing_column_is_reported_with_both_lists(spark, tmp_path):
    compilation = compile_files(tmp_path, {"models/a.sql": "SELECT id, tags FROM raw.orders"})
    ir = compilation.models["a"]
    found = analyse_project(
        with_model(compilation, "a", replace(ir, columns=ir.columns[:1])), session=spark
    )

    assert [("a", None, "list of columns", "id", "id, tags")] == seen(found)


def test_a_model_only_spark_refuses_is_a_difference_with_its_condition(spark, tmp_path):
    compilation = compile_files(tmp_path, {"models/a.sql": "SELECT nope FROM raw.orders"})
    silenced = replace(compilation, diagnostics=())
    found = analyse_project(silenced, session=spark)
    ((model, column, what, ours, theirs),) = seen(found)

    assert ("a", None, "acceptance", "accepted") == (model, column, what, ours)
    assert theirs.startswith("refused, UNRESOLVED_COLUMN.WITH_SUGGESTION")


def test_a_model_only_rocky_refuses_is_a_difference_too(spark, tmp_path):
    files = {"models/a.sql": "SELECT id FROM raw.orders", "models/b.sql": "SELECT nope FROM a"}
    compilation = compile_files(tmp_path, files)
    (error,) = compilation.diagnostics
    blamed = replace(compilation, diagnostics=(replace(error, model="a"),))
    found = analyse_project(blamed, models=["a"], session=spark)

    assert [("a", None, "acceptance", f"refused, E003: {error.message}", "accepted")] == seen(found)


def test_what_both_refuse_is_not_compared_and_neither_are_its_readers(spark, tmp_path):
    files = {"models/a.sql": "SELECT nope FROM raw.orders", "models/b.sql": "SELECT nope FROM a"}
    found = analyse_project(compile_files(tmp_path, files), session=spark)

    assert [] == seen(found)
    assert not found.agrees
    assert (
        ("a", "it has errors, and Spark refuses it too (UNRESOLVED_COLUMN.WITH_SUGGESTION)"),
        ("b", "it reads `a`, which has no schema"),
    ) == found.skipped


def test_a_statement_that_is_no_query_is_never_run(spark, tmp_path):
    compilation = compile_files(tmp_path, {"models/a.sql": "CREATE DATABASE made_by_a_model"})
    analyse_project(replace(compilation, diagnostics=()), session=spark)

    assert not spark.catalog.databaseExists("made_by_a_model")


def test_the_command_reports_agreement_and_leaves_standard_output_clean(
    spark, tmp_path, monkeypatch
):
    compile_files(tmp_path, {"models/a.sql": "SELECT id FROM raw.orders"})
    monkeypatch.chdir(tmp_path)
    # The command starts and stops a session of its own; here it is lent the shared one.
    monkeypatch.setattr("rocky.spark.analyser.open_session", lambda: Lent(spark))
    text = CliRunner().invoke(main, ["compile", "--verify", "spark", "-o", "table"])
    document = json.loads(
        CliRunner().invoke(main, ["compile", "--verify", "spark", "-o", "json"]).stdout
    )

    assert 0 == text.exit_code
    assert "agrees on the names, types and nullability of 1 column of 1 model" in text.stdout
    assert document["verify"]["agrees"]

    (tmp_path / "models/broken.sql").write_text("SELECT id,, status FROM raw.orders")
    text = CliRunner().invoke(main, ["compile", "--verify", "spark", "-o", "table"])
    document = json.loads(
        CliRunner().invoke(main, ["compile", "--verify", "spark", "-o", "json"]).stdout
    )
    assert 1 == text.exit_code
    assert "no difference from Spark" in text.stdout
    assert "in 1 column of 1 model; 1 model not compared" in text.stdout
    assert "agrees" not in text.stdout
    verified = document["verify"]
    assert (False, 1, 0, 1) == (
        verified["agrees"],
        verified["models"],
        verified["differing"],
        len(verified["skipped"]),
    )


class Lent:
    def __init__(self, session):
        self.session = session

    def __enter__(self):
        return self.session

    def __exit__(self, *reason):
        return False


def test_placeholders_are_filled_outside_of_strings_and_comments():
    sql = "SELECT '@start_date', x -- @end_date\nFROM t WHERE d >= @START_DATE AND d < @end_date"

    assert (
        "SELECT '@start_date', x -- @end_date\nFROM t WHERE d >= '2000-01-01' AND d < '2000-01-02'"
    ) == fill_placeholders(sql)


def test_spark_agrees_about_the_nineteen_faults_and_their_near_misses(spark, repository):
    project = load_project(repository / "examples" / "faults", env={})
    found = analyse_project(compile_project(project, cache=False), session=spark)

    assert [] == seen(found)
    assert len(project.models) == found.models + len(found.skipped)
    assert all(
        why.startswith("it has errors, and Spark refuses it too") for _, why in found.skipped
    )
