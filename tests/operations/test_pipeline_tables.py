"""Models see what the project's own pipelines write: types, order, lineage, reuse, selection."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from rocky.errors import RockyError
from rocky.ledger.readers.history import open_history_reader
from rocky.operations.branch.lifecycle import CreateRequest, create
from rocky.operations.branch.promotion import PromoteRequest, promote
from rocky.operations.changes.diff import DiffRequest, diff
from rocky.operations.check.compile import CompileRequest, compile_models
from rocky.operations.execution.apply import ApplyRequest, apply
from rocky.operations.execution.run import run
from rocky.operations.execution.run_report import ModelsRun
from rocky.operations.graph.lineage import LineageRequest, lineage
from rocky.operations.graph.list import ListRequest, list_project
from rocky.operations.page.docs import DocsRequest, docs
from rocky.operations.plan import plan
from rocky.operations.proof.replay import ReplayRequest, replay
from rocky.operations.rows.show import ShowRequest, show
from rocky.operations.workspace import Workspace, compile_workspace
from rocky.plan.refusals import plan_checked
from rocky.plan.request import RunRequest
from rocky.run.engine import spark
from tests.operations.sites import read_site
from tests.pipelines.lakes import ORDERS, LakeProject, at
from tests.run.memory_engine import MemoryEngine
from tests.run.runs import write

MODEL = "models/by_day.sql"
DECLARED = """
[[source]]
name = "five.orders"
format = "parquet"
path = "lake/five/src__acme__shopify/orders"
columns = [
  { name = "id", type = "bigint", nullable = false },
  { name = "amount", type = "double" },
  { name = "mail", type = "string", classification = "pii" },
]
"""


@pytest.fixture
def lake(tmp_path: Path, monkeypatch) -> LakeProject:
    """A lake of one table that is copied, a model beside it, and no second pipeline."""

    @contextmanager
    def open_memory(adapter, root, spark=None, functions=None) -> Iterator[MemoryEngine]:
        yield MemoryEngine(root)

    monkeypatch.setattr(spark, "open_project_engine", open_memory)
    made = LakeProject(tmp_path)
    made.put([{"id": 1, "amount": 2.5, "synced": at(1)}])
    write(tmp_path, {MODEL: f"SELECT id, amount FROM {ORDERS}"})
    return made


def workspace_of(lake: LakeProject) -> Workspace:
    return Workspace(lake.root)


def columns_of(lake: LakeProject, model: str = "by_day") -> list[tuple[str, str, bool]]:
    compilation = compile_workspace(workspace_of(lake))
    assert [] == [
        each.message for each in compilation.diagnostics if each.severity.value == "error"
    ]
    columns = compilation.models[model].columns
    return [(each.name, str(each.type), each.nullable) for each in columns]


def test_before_the_first_copy_a_table_is_there_with_unknown_columns(lake):
    report = compile_models(workspace_of(lake), CompileRequest())

    assert [("id", "unknown", True), ("amount", "unknown", True)] == columns_of(lake)
    assert [(ORDERS, "bronze")] == [
        (each.name, each.pipeline) for each in report.summary.unknown_tables
    ]


@pytest.mark.slow
def test_one_run_copies_and_builds_and_afterwards_the_types_are_those_of_the_copy(lake):
    report = run(workspace_of(lake), RunRequest())

    assert [("bronze", 0), ("models", 0)] == [
        (each.pipeline, each.ending.exit_code) for each in report.pipelines
    ]
    assert [("id", "bigint", True), ("amount", "double", True)] == columns_of(lake)
    assert ((1, 2.5),) == show(workspace_of(lake), ShowRequest("by_day")).values


def test_a_table_may_be_called_without_its_catalog(lake):
    write(lake.root, {MODEL: "SELECT id FROM staging__shopify.orders"})
    report = run(workspace_of(lake), RunRequest())

    assert 0 == report.exit_code
    assert [("id", "bigint", True)] == columns_of(lake)


def test_the_types_that_were_unknown_when_a_run_began_are_known_to_its_models(lake):
    write(lake.root, {MODEL: f"SELECT id, nope FROM {ORDERS}"})
    report = run(workspace_of(lake), RunRequest())

    (_, models) = report.pipelines
    assert "ErrorsFound" == models.ending.error.kind
    assert ["E003"] == [each.code for each in models.ending.error.diagnostics]


@pytest.mark.slow
def test_a_reader_is_reused_while_the_copy_is_the_same_and_built_when_it_is_not(lake):
    run(workspace_of(lake), RunRequest())
    again = run(workspace_of(lake), RunRequest())
    lake.put([{"id": 2, "amount": 1.0, "synced": at(2)}], file="part-1.parquet")
    changed = run(workspace_of(lake), RunRequest())

    def built(report) -> list[str]:
        ending = report.pipelines[-1].ending
        assert isinstance(ending, ModelsRun)
        return [each.execution.decision for each in ending.result.outcomes]

    assert [["reuse"], ["build"]] == [built(again), built(changed)]
    assert 2 == len(show(workspace_of(lake), ShowRequest("by_day")).values)


@pytest.mark.slow
def test_a_reader_is_known_by_the_content_of_the_copy_and_can_be_replayed_from_it(lake):
    run(workspace_of(lake), RunRequest())
    reader = open_history_reader(lake.state)
    assert reader is not None
    with reader:
        (execution,) = reader.runs()[0].models_executed
    (read,) = execution.inputs
    assert (ORDERS, ORDERS) == (read.name, read.target)
    assert read.rows_hash is not None


@pytest.mark.slow
def test_a_name_that_a_copied_schema_does_not_have_is_an_error(lake):
    run(workspace_of(lake), RunRequest())
    write(lake.root, {MODEL: f"SELECT id FROM {ORDERS}s"})
    found = compile_workspace(workspace_of(lake)).diagnostics

    assert ["E002"] == [each.code.value for each in found]
    assert f"there is `{ORDERS}`" == found[0].help


def test_the_declaration_of_what_is_copied_gives_types_before_the_first_copy(lake):
    lake.reconfigure(
        'timestamp_column = "synced"',
        'timestamp_column = "synced"\n'
        'metadata_columns = [ { name = "_tenant", type = "STRING", value = "{tenant}" } ]',
    )
    write(lake.root, {"sources/five.toml": DECLARED, MODEL: f"SELECT * FROM {ORDERS}"})

    assert [
        ("id", "bigint", True),
        ("amount", "double", True),
        ("mail", "string", True),
        ("_tenant", "string", True),
    ] == columns_of(lake)


def test_columns_that_only_the_copy_has_come_after_the_declared_ones(lake):
    run(workspace_of(lake), RunRequest(pipeline="bronze"))
    write(lake.root, {"sources/five.toml": DECLARED, MODEL: f"SELECT * FROM {ORDERS}"})

    assert ["id", "amount", "mail", "synced"] == [name for name, _, _ in columns_of(lake)]


def test_lineage_goes_through_a_copy_to_what_it_was_copied_from(lake):
    write(lake.root, {"sources/five.toml": DECLARED})
    up = lineage(workspace_of(lake), LineageRequest("by_day.amount"))
    down = lineage(workspace_of(lake), LineageRequest("five.orders", downstream=True))

    assert [(ORDERS, "amount"), ("five.orders", "amount")] == [
        (each.source.model, each.source.column) for each in up.trace
    ]
    assert {("five.orders", ORDERS), (ORDERS, "by_day")} == set(down.graph)


def test_what_is_said_of_a_column_that_is_copied_is_said_of_its_copy(lake):
    write(lake.root, {"sources/five.toml": DECLARED})
    table = compile_workspace(workspace_of(lake)).project.sources[ORDERS]

    assert {"mail": ("pii",)} == dict(table.classification)


@pytest.mark.slow
def test_tables_of_pipelines_are_listed_and_selected(lake):
    run(workspace_of(lake), RunRequest())
    (listed,) = list_project(workspace_of(lake), ListRequest("sources")).sources
    below = list_project(workspace_of(lake), ListRequest(None, ("pipeline:bronze+",)))
    by_name = list_project(workspace_of(lake), ListRequest(None, ("source:staging__*.orders+1",)))

    assert (ORDERS, "table", "bronze", "last_copy", 1, 3) == (
        listed.name,
        listed.kind,
        listed.pipeline,
        listed.columns_from,
        listed.downstream,
        listed.columns,
    )
    assert listed.as_of is not None
    for report in (below, by_name):
        assert [ORDERS, "by_day"] == [each.name for each in (*report.sources, *report.models)]


@pytest.mark.slow
def test_declared_once_more_as_a_source_a_table_is_what_is_declared(lake):
    path = f"warehouse/{ORDERS.replace('.', '/')}"
    source = f'[[source]]\nname = "{ORDERS}"\nformat = "delta"\npath = "{path}"\n'
    source += 'columns = [ { name = "id", type = "int" } ]\n'
    write(lake.root, {"sources/bronze.toml": source, MODEL: f"SELECT * FROM {ORDERS}"})
    report = run(workspace_of(lake), RunRequest())

    assert ["bronze", "models"] == [each.pipeline for each in report.pipelines]
    assert 0 == report.exit_code
    assert [("id", "int", True)] == columns_of(lake)


@pytest.mark.slow
def test_models_run_after_the_pipelines_they_read_wherever_they_are_written(lake):
    config = (lake.root / "rocky.toml").read_text()
    silver = '[pipeline.silver]\nmodels = "models/**"\n'
    write(
        lake.root,
        {"rocky.toml": config.replace("[pipeline.bronze]", f"{silver}\n[pipeline.bronze]", 1)},
    )
    report = run(workspace_of(lake), RunRequest())

    assert ["bronze", "silver"] == [each.pipeline for each in report.pipelines]


def test_a_reader_is_not_run_when_the_pipeline_it_reads_fails(lake):
    lake.reconfigure('timestamp_column = "synced"', 'timestamp_column = "nope"')
    report = run(workspace_of(lake), RunRequest())

    assert ["Skipped"] == [each.ending.status for each in report.pipelines[1:]]


def test_a_reader_alone_says_which_pipeline_has_to_run_first(lake):
    report = run(workspace_of(lake), RunRequest(("by_day",)))

    assert isinstance(report.run, ModelsRun)
    assert [f"rocky.toml: `{ORDERS}` is not there yet: pipeline `bronze` writes it"] == [
        each.error for each in report.run.errors
    ]
    (found,) = report.run.errors[0].diagnostics
    assert "`rocky run --pipeline bronze` does" == found.help


@pytest.mark.slow
def test_a_compile_with_pipelines_loads_neither_arrow_nor_sqlite(lake):
    run(workspace_of(lake), RunRequest())
    code = (
        "import sys; from pathlib import Path;"
        "from rocky.operations.workspace import Workspace, compile_workspace;"
        f"found = compile_workspace(Workspace(Path({str(lake.root)!r})));"
        "assert not found.has_errors;"
        "print([x for x in ('pyarrow', 'sqlite3', 'obstore', 'deltalake', 'pyspark')"
        " if x in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert "[]\n" == done.stdout


def test_a_changed_declaration_of_what_is_copied_is_told_to_the_readers_of_the_copy(lake):
    write(lake.root, {"sources/five.toml": DECLARED})
    _git(lake, ("init", "-q"), ("add", "-A"), ("commit", "-qm", "base"))
    changed = DECLARED.replace(
        'name = "amount", type = "double"', 'name = "amount", type = "string"'
    )
    write(lake.root, {"sources/five.toml": changed})
    report = diff(workspace_of(lake), DiffRequest("HEAD"))

    assert {"five.orders", ORDERS} == {each.table.model_name for each in report.inputs}
    (reader,) = report.models
    assert ("by_day", ["amount"]) == (
        reader.table.model_name,
        [each.column_name for each in reader.column_changes],
    )


LOAD = """
[pipeline.files]
type = "load"
source_dir = "files"
target = { catalog = "c", schema = "files" }
"""
HISTORY = """
[pipeline.history]
type = "snapshot"
unique_key = ["id"]
updated_at = "synced"
source = { catalog = "acme_warehouse", schema = "staging__shopify", table = "orders" }
target = { catalog = "c", schema = "histories", table = "orders" }
"""
QUALITY = """
[pipeline.quality]
type = "quality"
tables = [ { catalog = "acme_warehouse", schema = "staging__shopify", table = "orders" } ]

[pipeline.quality.checks]
enabled = true
quarantine = { enabled = true, mode = "split" }

[[pipeline.quality.checks.assertions]]
name = "amount_known"
type = "not_null"
column = "amount"
"""


def add(lake: LakeProject, settings: str) -> None:
    config = lake.root / "rocky.toml"
    config.write_text(config.read_text() + settings)


def endings(report) -> list[tuple[str, int]]:
    return [(each.pipeline, each.ending.exit_code) for each in report.pipelines]


@pytest.mark.slow
def test_what_files_are_loaded_into_is_read_by_models(lake):
    add(lake, LOAD)
    write(
        lake.root, {"files/people.csv": "id,name\n1,Ada\n", MODEL: "SELECT * FROM c.files.people"}
    )
    report = run(workspace_of(lake), RunRequest())

    assert {("bronze", 0), ("files", 0), ("models", 0)} == set(endings(report))
    assert "models" == endings(report)[-1][0]
    assert ["id", "name"] == [name for name, _, _ in columns_of(lake)]


@pytest.mark.slow
def test_a_history_is_kept_after_what_it_is_a_history_of_and_read_after_that(lake):
    add(lake, HISTORY)
    write(lake.root, {MODEL: "SELECT id, valid_from FROM c.histories.orders"})
    report = run(workspace_of(lake), RunRequest())

    assert [("bronze", 0), ("history", 0), ("models", 0)] == endings(report)
    assert [("id", "bigint", True), ("valid_from", "timestamp", False)] == columns_of(lake)


def test_a_history_of_what_is_declared_has_its_types_before_it_is_kept(lake):
    add(lake, HISTORY)
    write(
        lake.root,
        {"sources/five.toml": DECLARED, MODEL: "SELECT id, mail, valid_to FROM c.histories.orders"},
    )
    found = lineage(workspace_of(lake), LineageRequest("by_day.mail"))

    assert [
        ("id", "bigint", True),
        ("mail", "string", True),
        ("valid_to", "timestamp", True),
    ] == columns_of(lake)
    assert ["c.histories.orders", ORDERS, "five.orders"] == [
        each.source.model for each in found.trace
    ]


@pytest.mark.slow
def test_a_model_that_reads_the_history_of_another_runs_before_it_when_both_need_each_other(lake):
    add(
        lake,
        HISTORY.replace(
            'source = { catalog = "acme_warehouse", schema = "staging__shopify", table = "orders" }',
            'source = { catalog = "spark_catalog", schema = "default", table = "current" }',
        )
        + '[pipeline.silver]\nmodels = "models/**"\n',
    )
    write(
        lake.root,
        {
            "models/current.sql": f"SELECT id, synced FROM {ORDERS}",
            MODEL: "SELECT id FROM c.histories.orders",
        },
    )
    told: list[str] = []
    first = run(replace(workspace_of(lake), warn=told.append), RunRequest())
    again = run(workspace_of(lake), RunRequest())

    assert ["pipelines read from each other: `history`, `silver`"] == [
        each.partition(";")[0] for each in told
    ]
    assert [("bronze", 0), ("silver", 2), ("history", 0)] == endings(first)
    assert [("bronze", 0), ("silver", 0), ("history", 0)] == endings(again)


@pytest.mark.slow
def test_rows_that_quality_lets_pass_and_sets_aside_are_read_by_models(lake):
    add(lake, QUALITY)
    write(
        lake.root,
        {
            MODEL: f"SELECT id FROM {ORDERS}__valid",
            "models/bad.sql": f"SELECT id, _error_amount_known AS why FROM {ORDERS}__quarantine",
        },
    )
    lake.put([{"id": 2, "amount": None, "synced": at(2)}], file="part-1.parquet")
    report = run(workspace_of(lake), RunRequest())
    listed = list_project(workspace_of(lake), ListRequest("sources")).sources

    assert ["bronze", "quality", "models"] == [name for name, _ in endings(report)]
    assert [("id", "bigint", True)] == columns_of(lake)
    assert ((1,),) == show(workspace_of(lake), ShowRequest("by_day")).values
    assert {
        ORDERS: "bronze",
        f"{ORDERS}__valid": "quality",
        f"{ORDERS}__quarantine": "quality",
    } == {each.name: each.pipeline for each in listed}


def test_what_only_a_catalogue_could_list_may_be_read_and_is_unknown(lake):
    lake.reconfigure('path = "lake"\n', 'type = "catalog"\n')
    write(lake.root, {MODEL: "SELECT id FROM any_warehouse.staging__crm.people"})
    report = compile_models(workspace_of(lake), CompileRequest())

    assert [("id", "unknown", True)] == columns_of(lake)
    assert [("any_warehouse.staging__crm.people", "bronze")] == [
        (each.name, each.pipeline) for each in report.summary.unknown_tables
    ]
    write(lake.root, {MODEL: "SELECT id FROM any_warehouse.other.people"})
    assert ["E002"] == [
        each.code.value for each in compile_workspace(workspace_of(lake)).diagnostics
    ]


@pytest.mark.slow
def test_what_is_left_of_a_model_that_is_gone_is_nobodys(lake):
    run(workspace_of(lake), RunRequest())
    write(lake.root, {"models/other.sql": "SELECT id FROM spark_catalog.default.by_day"})
    (lake.root / MODEL).unlink()

    assert ["E002"] == [
        each.code.value for each in compile_workspace(workspace_of(lake)).diagnostics
    ]


@pytest.mark.slow
def test_on_a_branch_models_read_the_copies_of_the_branch(lake):
    run(workspace_of(lake), RunRequest())
    create(workspace_of(lake), CreateRequest("feature"))
    branch = workspace_of(lake).on_branch("feature")
    lake.put([{"id": 2, "amount": 1.0, "synced": at(2)}], file="part-1.parquet")
    report = run(branch, RunRequest())

    assert 0 == report.exit_code
    assert 2 == len(show(branch, ShowRequest("by_day")).values)
    assert 1 == len(show(workspace_of(lake), ShowRequest("by_day")).values)


def test_a_copy_is_shown_by_its_name(lake):
    run(workspace_of(lake), RunRequest(pipeline="bronze"))

    assert 1 == len(show(workspace_of(lake), ShowRequest(ORDERS)).rows)


@pytest.mark.slow
def test_a_plan_over_what_is_not_copied_yet_is_made_and_applied(lake):
    planned = plan(workspace_of(lake), RunRequest())
    applied = apply(workspace_of(lake), ApplyRequest(planned.plan_id))

    assert 0 == applied.result.exit_code
    assert [("bronze", 0), ("models", 0)] == endings(applied.result)
    assert 0 == run(workspace_of(lake), RunRequest()).exit_code


@pytest.mark.slow
@pytest.mark.parametrize("keep_going", [False, True])
def test_a_plan_does_not_build_what_its_own_copy_shows_to_break_a_contract(lake, keep_going):
    promised = '[[columns]]\nname = "id"\ntype = "bigint"\n[[columns]]\nname = "{}"\ntype = "{}"\n'
    texts = {
        "models/by_day.contract.toml": promised.format("amount", "string"),
        "models/other.sql": "SELECT 1 AS one",
    }
    write(lake.root, texts)
    # Nothing is copied yet, so nobody knows that the column is a double.
    planned = plan(workspace_of(lake), RunRequest(keep_going=keep_going))
    applied = apply(workspace_of(lake), ApplyRequest(planned.plan_id))

    (_, models) = applied.result.pipelines
    assert (2, False) == (applied.result.exit_code, applied.success)
    assert "ErrorsFound" == models.ending.error.kind
    (found,) = models.ending.error.diagnostics
    assert "is `double`, its contract promises `string`" in found.message
    with pytest.raises(RockyError):
        show(workspace_of(lake), ShowRequest("by_day"))


@pytest.mark.slow
def test_under_a_key_models_without_a_pipeline_are_run_once(lake):
    first = run(workspace_of(lake), RunRequest(idempotency_key="night"))
    again = run(workspace_of(lake), RunRequest(idempotency_key="night"))

    assert [("bronze", 0), ("models", 0)] == endings(first)
    assert ["SkippedIdempotent"] * 2 == [each.ending.status for each in again.pipelines]


@pytest.mark.slow
def test_a_reader_is_built_again_from_the_version_of_the_copy_it_has_read(lake):
    report = run(workspace_of(lake), RunRequest())
    lake.put([{"id": 2, "amount": 1.0, "synced": at(2)}], file="part-1.parquet")
    run(workspace_of(lake), RunRequest())
    made = report.pipelines[-1].ending
    assert isinstance(made, ModelsRun)
    replayed = replay(workspace_of(lake), ReplayRequest(made.run_id, execute=True))

    assert ["bit_exact"] == [each.verdict.value for each in replayed.models]


def test_a_damaged_copy_is_not_read(lake):
    run(workspace_of(lake), RunRequest(pipeline="bronze"))
    (file,) = (lake.root / "warehouse" / ORDERS.replace(".", "/")).glob(
        f"{'[0-9a-f]' * 64}.parquet"
    )
    file.write_bytes(b"x" * file.stat().st_size)
    report = run(workspace_of(lake), RunRequest(("by_day",)))

    assert isinstance(report.run, ModelsRun)
    assert ["by_day"] == [each.model for each in report.run.errors]
    assert "is damaged: its bytes do not match its name" in str(report.run.errors[0].error)


def test_pipelines_are_listed_with_those_they_read_from(lake):
    add(lake, HISTORY + '[pipeline.silver]\nmodels = "models/**"\n')
    listed = list_project(workspace_of(lake), ListRequest("pipelines")).pipelines

    assert {"bronze": (), "history": ("bronze",), "silver": ("bronze",)} == {
        each.name: each.reads_from for each in listed
    }


@pytest.mark.slow
def test_a_copy_with_a_commit_that_no_run_made_is_not_read(lake):
    run(workspace_of(lake), RunRequest())
    folder = lake.root / "warehouse" / ORDERS.replace(".", "/")
    log = folder / "_delta_log"
    (log / f"{1:020}.json").write_text('{"commitInfo":{"timestamp":1,"operation":"DELETE"}}\n')
    report = run(workspace_of(lake), RunRequest(("by_day",)))

    assert isinstance(report.run, ModelsRun)
    assert ["by_day"] == [each.model for each in report.run.errors]


@pytest.mark.slow
def test_of_very_many_copies_those_are_looked_at_whose_names_stand_somewhere(lake, monkeypatch):
    lake.put([{"id": 1, "amount": 2.5, "synced": at(1)}], "unread")
    run(workspace_of(lake), RunRequest())
    monkeypatch.setattr("rocky.pipelines.target_tables.MANY", 1)
    found = compile_workspace(workspace_of(lake))

    assert [ORDERS] == list(found.project.sources)
    assert [("id", "bigint", True), ("amount", "double", True)] == columns_of(lake)
    # What is there is known, also where it was not looked at: another name is a mistake.
    write(lake.root, {MODEL: "SELECT id FROM acme_warehouse.staging__shopify.nope"})
    assert ["E002"] == [
        each.code.value for each in compile_workspace(workspace_of(lake)).diagnostics
    ]


@pytest.mark.slow
def test_a_promoted_copy_stays_its_pipelines_and_is_not_built_again(lake):
    write(lake.root, {".gitignore": "warehouse/\n.rocky*\nlake/\n"})
    _git(lake, ("init", "-q"), ("add", "-A"), ("commit", "-qm", "base"))
    run(workspace_of(lake), RunRequest())
    create(workspace_of(lake), CreateRequest("feature"))
    lake.put([{"id": 2, "amount": 1.0, "synced": at(2)}], file="part-1.parquet")
    run(workspace_of(lake).on_branch("feature"), RunRequest())
    promote(workspace_of(lake), PromoteRequest("feature"))
    (listed,) = list_project(workspace_of(lake), ListRequest("sources")).sources
    after = run(workspace_of(lake), RunRequest())

    assert (ORDERS, "bronze", "last_copy") == (listed.name, listed.pipeline, listed.columns_from)
    assert 2 == len(show(workspace_of(lake), ShowRequest("by_day")).values)
    ending = after.pipelines[-1].ending
    assert isinstance(ending, ModelsRun)
    assert ["reuse"] == [each.execution.decision for each in ending.result.outcomes]


def _git(lake: LakeProject, *commands: tuple[str, ...]) -> None:
    for command in commands:
        subprocess.run(
            ["git", "-c", "user.name=n", "-c", "user.email=e@x", *command],
            cwd=lake.root,
            check=True,
        )


@pytest.mark.slow
def test_models_of_two_pipelines_run_before_and_after_a_history_of_the_first(lake):
    add(
        lake,
        HISTORY.replace(
            'source = { catalog = "acme_warehouse", schema = "staging__shopify", table = "orders" }',
            'source = { catalog = "spark_catalog", schema = "default", table = "current" }',
        )
        + '[pipeline.marts]\nmodels = "models/marts/**"\n\n'
        + '[pipeline.staging]\nmodels = "models/staging/**"\n',
    )
    (lake.root / MODEL).unlink()
    write(
        lake.root,
        {
            "models/staging/current.sql": f"SELECT id, synced FROM {ORDERS}",
            "models/marts/by_day.sql": "SELECT id FROM c.histories.orders",
        },
    )
    report = run(workspace_of(lake), RunRequest())

    assert [("bronze", 0), ("staging", 0), ("history", 0), ("marts", 0)] == endings(report)


def test_the_site_has_a_copy_as_what_it_is_with_its_pipeline_and_what_it_was_copied_from(lake):
    write(lake.root, {"sources/five.toml": DECLARED})
    report = docs(workspace_of(lake), DocsRequest())
    index, details = read_site(Path(report.folder))
    names = [each["name"] for each in index["tables"]]
    copy = next(each for each in index["tables"] if each["name"] == ORDERS)

    assert (1, "table", "bronze") == (report.tables, copy["kind"], copy["pipeline"])
    (above,) = copy["reads"]
    assert "source" == index["tables"][above]["kind"]
    (amount,) = [each for each in details[ORDERS]["columns"] if each["name"] == "amount"]
    assert [[above, "amount", "direct"]] == amount["sources"]
    assert [[names.index("by_day"), "amount", "direct"]] == amount["readers"]


def test_readers_of_a_copy_are_not_held_up_by_a_declaration_that_cannot_be_read(lake):
    config = (lake.root / "rocky.toml").read_text()
    (lake.root / "rocky.toml").write_text(f'[compile]\nundeclared = "unknown"\n\n{config}')
    (lake.root / "sources").mkdir(exist_ok=True)
    (lake.root / "sources/own.toml").write_bytes(b"\xff")

    _, found = plan_checked(compile_workspace(workspace_of(lake)), RunRequest(("by_day",)))

    assert () == found


def test_lineage_names_a_copy_of_unknown_columns_and_the_run_that_makes_them_known(lake):
    found = lineage(workspace_of(lake), LineageRequest("by_day.amount"))

    assert (ORDERS, "by_day", "rocky run --pipeline bronze") in [
        (each.source, each.target, each.command) for each in found.unknown
    ]


def test_a_wrong_use_of_a_column_of_a_copy_is_told_although_no_file_has_its_place(lake):
    declared = DECLARED.replace('"amount", type = "double"', '"amount", type = "date"')
    wrong = f"SELECT abs(amount) AS amount FROM {ORDERS}"
    write(lake.root, {"sources/five.toml": declared, MODEL: wrong})

    assert "E005" in [each.code for each in compile_workspace(workspace_of(lake)).diagnostics]
