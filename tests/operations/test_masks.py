"""Masks as operations tell and hold them: planned, printed, bound to a plan, and refused."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import rocky
from rocky.analysis.column_masks import digest_of
from rocky.analysis.masks.copies import CopiedTables
from rocky.compiler.passes import compile_project
from rocky.errors import InvalidRequest, RockyError
from rocky.language.datatypes.types import BIGINT, STRING, StructField, varchar
from rocky.pipelines.generated_models import (
    GeneratedModel,
    GeneratedSource,
    compile_generated,
    find_errors,
    generate_project,
    plan_generated,
)
from rocky.project.configuration.strategies import FullRefresh
from rocky.project.models import Target

KEY = "a key of tests that is long enough"
EMAIL = "anna.smith@example.com"
CONFIG = """
[mask]
pii = "hash"

[mask.dev]
pii = "redact"

[governance]
hash_key = "${MASK_KEY}"
"""
SOURCE = """
[[source]]
name = "people"
path = "lake/src__acme__crm/people"
format = "parquet"
columns = [ { name = "email", type = "string", classification = "pii" } ]
"""
PIPELINE = """
[pipeline.bronze]
type = "replication"
[pipeline.bronze.source]
path = "lake"
[pipeline.bronze.source.schema_pattern]
prefix = "src__"
separator = "__"
components = ["tenant", "connector"]
[pipeline.bronze.target]
catalog_template = "{tenant}"
schema_template = "{connector}"
"""


@pytest.fixture
def shop(tmp_path):
    files = {
        "rocky.toml": CONFIG,
        "sources/people.toml": SOURCE,
        "models/customers.sql": "SELECT email FROM people",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    folder = tmp_path / "lake" / "src__acme__crm" / "people"
    folder.mkdir(parents=True)
    pq.write_table(pa.table({"email": [EMAIL]}), folder / "a.parquet")
    return tmp_path


def opened(root, **others):
    return rocky.open(root, env={"MASK_KEY": KEY}, progress=False, **others)


def test_a_plan_says_what_is_masked_by_what_and_where_that_holds(shop):
    plan = opened(shop).plan()
    elsewhere = opened(shop, mask_env="dev").plan()

    (action,) = plan.run.mask_actions
    assert ("customers", "email", ("pii",), "hash", "write") == (
        action.model,
        action.column,
        action.tags,
        action.resolved_strategy,
        action.level,
    )
    assert ["redact"] == [each.resolved_strategy for each in elsewhere.run.mask_actions]
    assert plan.plan_id != elsewhere.plan_id


def test_a_kept_plan_holds_neither_the_key_nor_another_environment(shop):
    plan = opened(shop, mask_env="dev").plan()
    kept = [each.read_bytes() for each in (shop / ".rocky").rglob("*") if each.is_file()]

    assert kept
    assert not any(KEY.encode() in each for each in kept)
    (shop / "rocky.toml").write_text(CONFIG + '[mask.test]\npii = "null"\n')
    with pytest.raises(InvalidRequest, match="made with `mask_env='dev'`"):
        opened(shop, mask_env="test").apply(plan.plan_id)


def test_the_sql_that_is_given_out_is_masked_and_has_no_key(shop):
    (model,) = opened(shop).emit_sql("customers").models

    assert "rocky_keyed_hash(`email`) AS `email`" in model.sql
    assert KEY not in json.dumps(rocky.to_dict(opened(shop).emit_sql("customers")))


def test_the_sql_of_another_engine_would_be_clear_and_is_refused(shop):
    with pytest.raises(RockyError, match="its values would be clear"):
        opened(shop).emit_sql("customers", dialect="duckdb")


def test_a_text_of_some_length_is_masked_as_a_copy_stores_it(shop):
    pattern = '[pipeline.bronze.classification]\n"*.note" = "pii"\n'
    (shop / "rocky.toml").write_text(CONFIG + PIPELINE + pattern)
    project = rocky.load_project(shop, env={"MASK_KEY": KEY})
    known = CopiedTables(compile_project(project, jobs=1, cache=False))
    source = GeneratedSource(
        "raw.orders", (StructField("note", varchar(2), True),), "parquet", "orders"
    )
    sql, target = f"SELECT note FROM {source.sql_name}", Target("c", "s", "orders")
    model = GeneratedModel(target, sql, FullRefresh(), (source,), columns=("note",))

    plan = plan_generated(known, "bronze", [model])
    assert {} == find_errors(plan)
    stored = [StructField("note", STRING, True)]
    assert known.digest("bronze", target, stored) == digest_of(plan.compilation.masks.of(model.key))


def test_masks_do_not_keep_a_pipeline_from_copying_other_tables(shop):
    project = rocky.load_project(shop, env={"MASK_KEY": KEY})
    known = CopiedTables(compile_project(project, jobs=1, cache=False))
    source = GeneratedSource("raw.orders", (StructField("id", BIGINT, True),), "parquet", "orders")
    model = GeneratedModel(
        Target("c", "s", "orders"), f"SELECT id FROM {source.sql_name}", FullRefresh(), (source,)
    )

    assert {} == find_errors(plan_generated(known, "bronze", [model]))
    assert () == compile_generated(generate_project(known, "bronze", [model])).diagnostics
