"""Copies of classified columns: masked before anything of them is written, by patterns of names."""

import json
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from rocky.analysis.classification import classify
from rocky.analysis.compliance import environments_of, find_protection
from rocky.analysis.disclosure import Disclosure
from rocky.compiler.passes import compile_project
from rocky.diagnostics import Code
from rocky.errors import InputNotBuilt, RockyError, StoreUnreadable
from rocky.pipelines.target_tables import with_pipeline_tables
from rocky.plan.steps import plan_steps
from rocky.project import load_project
from rocky.project.configuration.strategies import Snapshot
from rocky.run.checks.freshness import read_newest
from rocky.run.engine.sql import column_list
from rocky.run.materialize.build import Build, Built
from rocky.run.materialize.incremental import watermark_of
from rocky.run.materialize.workspace import Outcome, commit_replacement, open_workspace
from rocky.run.prepare.mask_changes import refuse_otherwise_masked
from rocky.run.prepare.pins import pin_inputs
from rocky.store.delta.snapshot import WATERMARK
from rocky.store.warehouse import open_warehouse
from tests.pipelines.lakes import ORDERS, LakeProject, at, statuses
from tests.pipelines.loads.folders import ORDERS as LOADED_ORDERS
from tests.pipelines.loads.folders import LoadProject
from tests.run.runs import write

ANNA, BERT = "anna.smith@example.com", "bert.jones@example.com"
PATTERNS = """
[pipeline.bronze.classification]
"*.email" = "pii"
"*.*_email" = "pii"

[mask]
pii = "redact"
"""
CUSTOMERS = "acme_warehouse.staging__shopify.customers"


class SeenLake(LakeProject):
    """A lake whose project sees what its pipelines write, as one that is run by a command does."""

    def load(self):
        return with_pipeline_tables(load_project(self.root, env=self.env))


def load_first(build: Build, strategy: Snapshot) -> Built:
    """A stand-in for a history: every row as the first version of itself."""
    with open_workspace(build) as workspace:
        workspace.bind_source(build.query)
        sql = (
            f"SELECT {column_list(workspace.names)}, synced AS valid_from,"
            " NULL::TIMESTAMPTZ AS valid_to, TRUE AS is_current, 'x' AS snapshot_id"
            f" FROM {workspace.source}"
        )
        written = workspace.write(sql, build.columns, build.layout, frozenset())
        outcome = Outcome(written.files, written.rows_hash)
        committed = commit_replacement(build, build.table.snapshot(), build.columns, outcome)
    return Built(build.query or "", (committed,), written.rows, written.rows_hash, "replaced")


def person(number: int, email: str, **more: object) -> dict[str, object]:
    return {"id": number, "email": email, "synced": at(number), **more}


@pytest.fixture
def lake(tmp_path: Path) -> LakeProject:
    made = LakeProject(tmp_path, more=PATTERNS)
    made.put([person(1, ANNA)])
    return made


def traces(root: Path, *values: str) -> list[str]:
    """The files of a project, but for its source and settings, in which a text stands."""
    ours = [root / "warehouse", *root.glob(".rocky*")]
    files = [each for top in ours for each in (top.rglob("*") if top.is_dir() else [top])]
    return [
        f"{each}: {value}"
        for each in files
        if each.is_file()
        for value in values
        if value.encode() in each.read_bytes()
    ]


def errors(report) -> dict[str, str]:
    found = {each.step.name: each.execution.error for each in report.run.outcomes}
    return {name: error for name, error in found.items() if error is not None}


def emails(lake: LakeProject, name: str = ORDERS) -> list[object]:
    return [row["email"] for row in lake.rows(name)]


def compiled(root: Path):
    project = with_pipeline_tables(load_project(root, env={}))
    return compile_project(project, jobs=1, cache=False)


def labels(lake: LakeProject, name: str = ORDERS) -> tuple[dict, dict]:
    """What the log of a copy says of the table, and of its columns."""
    folder = lake.root / "warehouse" / name.replace(".", "/") / "_delta_log"
    said = [
        json.loads(line)
        for each in sorted(folder.glob("*.json"))
        for line in each.read_text().splitlines()
    ]
    newest = [each["metaData"] for each in said if "metaData" in each][-1]
    fields = json.loads(newest["schemaString"])["fields"]
    shown = ("rocky.owner", "rocky.classification")
    table = {key: newest["configuration"].get(key) for key in shown}
    return table, {
        each["name"]: each["metadata"]["rocky.classification"]
        for each in fields
        if "rocky.classification" in each["metadata"]
    }


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["incremental", "full_refresh", "merge"])
def test_no_file_of_a_copy_holds_a_clear_value_of_a_column_that_a_pattern_tags(tmp_path, strategy):
    lake = LakeProject(tmp_path, f'strategy = "{strategy}"\nmerge_keys = ["id"]', PATTERNS)
    if strategy != "merge":
        lake.reconfigure('merge_keys = ["id"]', "")
    lake.put([person(1, ANNA)])
    first = lake.run()
    lake.put([person(1, ANNA), person(2, BERT)])
    lake.run()

    assert {ORDERS: "success"} == statuses(first)
    assert ["***", "***"] == emails(lake)
    assert [] == traces(tmp_path, ANNA, BERT, ANNA[:12])


def test_without_a_mask_the_search_for_clear_values_would_find_them(tmp_path):
    lake = LakeProject(tmp_path, more=PATTERNS.replace("redact", "none"))
    lake.put([person(1, ANNA)])
    lake.run()

    assert [ANNA] == emails(lake)
    assert traces(tmp_path, ANNA)


@pytest.mark.slow
def test_a_column_that_arrives_later_is_masked_from_its_first_row_and_reloads_nothing(lake):
    lake.run()
    lake.put([person(2, BERT, work_email=BERT)], file="part-1.parquet")

    report = lake.run()

    assert {ORDERS: "success"} == statuses(report)
    assert 1 == report.run.outcomes[0].execution.rows_affected
    assert {None, "***"} == {row["work_email"] for row in lake.rows()}
    assert [] == traces(lake.root, ANNA, BERT)


@pytest.mark.slow
def test_another_mask_copies_a_table_again_that_has_nothing_new(lake):
    lake.run()
    lake.reconfigure('pii = "redact"', 'pii = "truncate(4)"')

    report = lake.run()

    assert ["anna"] == emails(lake)
    assert "its masks changed" in report.run.outcomes[0].execution.reason
    assert (ORDERS,) == lake.run().run.unchanged


@pytest.mark.slow
def test_a_pattern_that_is_added_masks_what_was_copied_clear(tmp_path):
    lake = LakeProject(tmp_path, more=PATTERNS.replace('"*.email" = "pii"\n', ""))
    lake.put([person(1, ANNA)])
    lake.run()
    assert [ANNA] == emails(lake)

    lake.reconfigure('"*.*_email" = "pii"', '"*.*_email" = "pii"\n"orders.EMAIL" = "pii"')
    lake.run()

    assert ["***"] == emails(lake)


def test_a_watermark_that_a_pattern_tags_fails_its_table_alone_before_anything_is_read(lake):
    lake.reconfigure('"*.*_email" = "pii"', '"orders.synced" = "pii"')
    lake.put([person(1, ANNA)], "customers")

    report = lake.run()

    assert {CUSTOMERS: "success", ORDERS: "failed"} == statuses(report)
    assert (
        "`synced` is the watermark, and masked by `redact` it cannot be" in errors(report)[ORDERS]
    )


def test_a_mask_that_does_not_fit_a_copied_column_fails_its_table_alone(lake):
    lake.reconfigure(
        '"*.*_email" = "pii"', '"*.email" = "pii"\n"orders.id" = "number"'.split("\n")[1]
    )
    lake.reconfigure("[mask]", '[mask]\nnumber = "partial"')
    lake.put([person(1, ANNA)], "customers")

    report = lake.run()

    assert {CUSTOMERS: "success", ORDERS: "failed"} == statuses(report)
    assert "cannot be masked by `partial`" in errors(report)[ORDERS]


def test_the_log_of_a_copy_has_its_owner_and_its_tags(lake):
    lake.reconfigure(
        'timestamp_column = "synced"', 'timestamp_column = "synced"\nowner = "data@x.y"'
    )
    lake.run()

    table, columns = labels(lake)
    assert {"rocky.owner": "data@x.y", "rocky.classification": "pii"} == table
    assert {"email": "pii"} == columns


def test_a_pattern_that_names_no_table_is_an_error_at_its_line(lake):
    lake.reconfigure('"*.*_email" = "pii"', 'email = "pii"')

    (found,) = load_project(lake.root, env={}).diagnostics
    assert "`email` does not say of which tables a column is meant" == found.message
    assert '`"*.email"`' in found.help


def test_a_pattern_that_fits_no_column_of_any_table_is_told(lake):
    lake.reconfigure('"*.*_email" = "pii"', '"*.emial" = "pii"')

    first, again = lake.run(), lake.run()

    for report in (first, again):
        (said,) = [each for each in report.run.warnings if "`*.emial`" in each]
        assert "fits no column" in said
        assert "did you mean `email`?" in said
    assert not [each for each in first.run.warnings if "`*.email`" in each]


def test_models_take_a_masked_copy_as_masked_and_are_not_masked_twice(lake):
    lake.reconfigure('pii = "redact"', 'pii = "partial"')
    lake.reconfigure(
        'catalog_template = "{tenant}_warehouse"', 'catalog_template = "spark_catalog"'
    )
    write(lake.root, {"models/mails.sql": "SELECT email FROM staging__shopify.orders"})

    found = compiled(lake.root)

    assert [] == [each.message for each in found.diagnostics if each.severity.name == "ERROR"]
    assert {} == dict(found.masks.of("mails"))


def test_a_model_behind_a_copy_is_another_table_with_another_mask_of_the_copy(lake):
    lake.reconfigure(
        'catalog_template = "{tenant}_warehouse"', 'catalog_template = "spark_catalog"'
    )
    write(lake.root, {"models/mails.sql": "SELECT email FROM staging__shopify.orders"})

    def told() -> object:
        return compiled(lake.root).masks.above.get("mails")

    first = told()
    lake.run()

    assert first == told()
    lake.reconfigure('pii = "redact"', 'pii = "partial"')
    assert first != told()
    lake.reconfigure('pii = "partial"', 'pii = "none"')
    assert told() is None


def test_what_compliance_says_of_a_copy_is_what_a_run_does(lake):
    lake.run()
    found = compiled(lake.root)

    (column,) = find_protection(found, classify(found), environments_of(found.project))
    assert (ORDERS, "email", "masked", "write") == (
        column.table,
        column.column,
        column.envs[0].state,
        column.envs[0].level,
    )


@pytest.mark.slow
def test_a_model_does_not_read_a_copy_that_was_written_with_other_masks(lake):
    lake.reconfigure(
        'catalog_template = "{tenant}_warehouse"', 'catalog_template = "spark_catalog"'
    )
    write(lake.root, {"models/mails.sql": "SELECT email FROM staging__shopify.orders"})
    lake.run()
    warehouse = open_warehouse("warehouse", base=lake.root)

    def prepare():
        plan = plan_steps(compiled(lake.root), ["mails"])
        refuse_otherwise_masked(plan, pin_inputs(plan, warehouse), warehouse)

    prepare()
    lake.reconfigure('pii = "redact"', 'pii = "truncate(4)"')
    with pytest.raises(InputNotBuilt, match="`rocky run --pipeline bronze`"):
        prepare()
    lake.run()
    prepare()


LOADED = """
[pipeline.bronze.classification]
"orders.email" = "pii"

[mask]
pii = "redact"
"""


@pytest.mark.slow
def test_what_is_loaded_is_masked_and_so_is_what_is_loaded_later(tmp_path):
    project = LoadProject(tmp_path, more=LOADED)
    project.put_text("one.csv", f"id,email\n1,{ANNA}\n")
    project.run()
    project.put_text("two.csv", f"id,email\n2,{BERT}\n")
    report = project.run()

    assert {LOADED_ORDERS: "success"} == statuses(report)
    assert ["***", "***"] == emails(project, LOADED_ORDERS)
    assert [] == traces(tmp_path, ANNA, BERT)
    assert {"email": "pii"} == labels(project, LOADED_ORDERS)[1]


@pytest.mark.slow
def test_a_load_whose_masks_changed_is_refused_until_all_of_it_is_loaded_again(tmp_path):
    project = LoadProject(tmp_path, more=LOADED)
    project.put_text("one.csv", f"id,email\n1,{ANNA}\n")
    project.run()
    project.reconfigure('pii = "redact"', 'pii = "truncate(4)"')

    refused = project.run()
    whole = project.run(full_refresh=True)

    assert "`--full-refresh` replaces the table" in errors(refused)[LOADED_ORDERS]
    assert {LOADED_ORDERS: "success"} == statuses(whole)
    assert ["anna"] == emails(project, LOADED_ORDERS)


def test_the_contract_of_a_load_gives_tags_that_are_masked(tmp_path):
    project = LoadProject(tmp_path, 'contract = "orders.toml"', '[mask]\npii = "redact"\n')
    contract = '[[columns]]\nname = "email"\ntype = "string"\nclassification = "pii"\n'
    write(tmp_path, {"orders.toml": contract})
    project.put_text("one.csv", f"id,email\n1,{ANNA}\n")
    project.run()

    assert ["***"] == emails(project, LOADED_ORDERS)
    assert "pii" == compiled(tmp_path).masks.of(LOADED_ORDERS)["email"].tags[0]


QUALITY = """
[pipeline.check]
type = "quality"
tables = [ { catalog = "acme_warehouse", schema = "staging__shopify", table = "orders" } ]
[pipeline.check.checks]
enabled = true
assertions = [ { type = "not_null", column = "email" } ]
quarantine = { enabled = true }
"""


@pytest.mark.slow
def test_quarantine_of_a_masked_copy_holds_its_masks_and_not_masks_of_masks(tmp_path):
    lake = SeenLake(tmp_path, more=PATTERNS.replace("redact", "partial") + QUALITY)
    lake.put([person(1, ANNA), person(2, None)])
    assert {} == errors(lake.run())
    report = lake.run(pipeline="check")

    assert {f"{ORDERS}__quarantine": "success", f"{ORDERS}__valid": "success"} == statuses(report)
    assert ["an***om"] == emails(lake, f"{ORDERS}__valid")
    assert [None] == emails(lake, f"{ORDERS}__quarantine")
    assert {"email": "pii"} == labels(lake, f"{ORDERS}__valid")[1]


def test_quarantine_does_not_copy_rows_that_were_written_with_other_masks(tmp_path):
    lake = SeenLake(tmp_path, more=PATTERNS.replace("redact", "none") + QUALITY)
    lake.put([person(1, ANNA)])
    lake.run()
    lake.reconfigure('pii = "none"', 'pii = "redact"')

    report = lake.run(pipeline="check")

    assert "it was written with other masks than it has now" in report.run.failed_sources[ORDERS]
    assert [] == list(tmp_path.rglob("*__valid"))


def test_a_foreign_table_that_is_classified_is_put_aside_masked(tmp_path):
    quality = QUALITY.replace("acme_warehouse", "spark_catalog").replace("staging__shopify", "crm")
    lake = SeenLake(tmp_path, more='[mask]\npii = "redact"\n' + quality)
    folder = tmp_path / "warehouse/spark_catalog/crm/orders"
    write_deltalake(str(folder), pa.table({"id": [1], "email": [ANNA]}))
    source = '[[source]]\nname = "crm.orders"\ncolumns = [ { name = "email", type = "string",'
    write(tmp_path, {"sources/crm.toml": f'{source} classification = "pii" }} ]\n'})
    report = lake.run(pipeline="check")

    assert {"success"} == set(statuses(report).values())
    assert ["***"] == emails(lake, "spark_catalog.crm.orders__valid")


HISTORY = """
[pipeline.kept]
type = "snapshot"
unique_key = ["id"]
updated_at = "synced"
source = { catalog = "acme_warehouse", schema = "staging__shopify", table = "orders" }
target = { catalog = "acme_warehouse", schema = "staging__shopify", table = "orders_history" }
"""


@pytest.mark.slow
def test_a_history_of_a_masked_copy_is_masked_as_the_copy_is(tmp_path, monkeypatch):
    monkeypatch.setattr("rocky.run.materialize.strategy.snapshot", load_first)
    patterns = '[pipeline.kept.classification]\n"orders_history.emial" = "pii"\n'
    config = PATTERNS.replace("redact", "partial") + HISTORY + patterns
    lake = SeenLake(tmp_path, more=config)
    lake.put([person(1, ANNA)])
    lake.run()
    report = lake.run(pipeline="kept")

    assert {f"{ORDERS}_history": "success"} == statuses(report)
    assert ["an***om"] == emails(lake, f"{ORDERS}_history")
    assert {"email": "pii"} == labels(lake, f"{ORDERS}_history")[1]
    assert "fits no column" in report.run.warnings[0]


def test_a_source_that_is_declared_and_copied_is_masked_by_its_tags(tmp_path):
    lake = SeenLake(tmp_path, more='[mask]\npii = "redact"\n')
    columns = '{ name = "id", type = "bigint" }, { name = "synced", type = "timestamp" },'
    text = (
        '[[source]]\nname = "raw.orders"\nformat = "parquet"\n'
        'path = "lake/five/src__acme__shopify/orders"\n'
        f'columns = [ {columns} {{ name = "email", type = "string", classification = "pii" }} ]\n'
    )
    write(tmp_path, {"sources/raw.toml": text})
    lake.put([person(1, ANNA)])
    lake.run()

    assert ["***"] == emails(lake)
    assert [] == traces(tmp_path, ANNA)


def test_values_of_a_copied_column_are_hidden_where_only_a_pattern_tells_of_it(lake):
    looking = Disclosure(compile_project(load_project(lake.root, env={}), jobs=1, cache=False))

    hidden, shown = looking.in_stored("some.other.table", ["work_email", "id"])
    assert ("pii",) == tuple(each.tag for each in hidden)
    assert () == shown


def test_a_mask_that_does_not_fit_a_declared_copy_is_an_error_and_a_last_copy_a_warning(lake):
    lake.reconfigure('"*.*_email" = "pii"', '"orders.id" = "number"')
    lake.run()
    lake.reconfigure("[mask]", '[mask]\nnumber = "partial"')

    (found,) = [each for each in compiled(lake.root).diagnostics if each.code is Code.MASK_UNFIT]
    assert "pipeline `bronze` cannot write" in found.message
    assert "WARNING" == found.severity.name


def test_clear_values_of_a_source_do_not_meet_masked_ones_of_a_copy_in_one_column(lake):
    lake.reconfigure('pii = "redact"', 'pii = "partial"')
    lake.reconfigure(
        'catalog_template = "{tenant}_warehouse"', 'catalog_template = "spark_catalog"'
    )
    lake.run()
    source = '[[source]]\nname = "raw.people"\ncolumns = [ { name = "email", type = "string",'
    both = "SELECT email FROM staging__shopify.orders UNION ALL SELECT email FROM raw.people"
    write(
        lake.root,
        {"sources/raw.toml": f'{source} classification = "pii" }} ]\n', "models/mails.sql": both},
    )

    found = {each.code for each in compiled(lake.root).diagnostics}
    assert Code.MASKED_AND_CLEAR in found


def test_a_load_that_replaces_its_table_does_so_when_only_its_masks_changed(tmp_path):
    project = LoadProject(tmp_path, "options = { truncate_first = true }", LOADED)
    project.put_text("one.csv", f"id,email\n1,{ANNA}\n")
    project.run()
    project.reconfigure('pii = "redact"', 'pii = "truncate(4)"')
    project.run()

    assert ["anna"] == emails(project, LOADED_ORDERS)


def test_neither_a_watermark_nor_a_time_that_cannot_be_read_is_quoted(lake):
    lake.run()
    stored = lake.snapshot()
    broken = replace(stored, configuration={**stored.configuration, WATERMARK: '{"value": "1987"}'})

    with pytest.raises(StoreUnreadable) as refused:
        watermark_of(broken, "synced")
    assert "1987" not in str(refused.value)
    with pytest.raises(RockyError) as refused:
        read_newest(("+12345-06-07 00:00:00", 0))
    assert "12345" not in str(refused.value)
