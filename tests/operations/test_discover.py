"""Discoveries without Spark: what files tell, what a pipeline reads, and what is kept of it."""

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rocky.cli.commands.discover import render_source
from rocky.errors import InvalidRequest, NothingSelected
from rocky.operations.check.compile import CompileRequest, compile_models
from rocky.operations.execution.run import run
from rocky.operations.sources.discover import DiscoverRequest, discover
from rocky.operations.workspace import Workspace, compile_workspace
from rocky.plan.request import RunRequest
from rocky.project.schema_cache import place_of
from rocky.project.sources import undeclared_source
from rocky.run.engine import spark
from tests.pipelines.lakes import ORDERS, LakeProject, at
from tests.run.memory_engine import MemoryEngine
from tests.run.runs import write
from tests.store.iceberg_tables import field, metadata_of, put

CONFIG = '[compile]\nundeclared = "unknown"\n\n[adapter]\n\n[pipeline.p]\nmodels = "models/**"\n'
SOURCES = """
[[source]]
name = "raw.sizes"
format = "parquet"
path = "sizes"

[[source]]
name = "crm.people"
format = "parquet"
path = "people"
columns = [ { name = "id", type = "int" } ]
"""
SCHEMA = ".rocky/schemas/raw.sizes.json"
LAKE_TABLE = "five.src__acme__shopify.orders"


@pytest.fixture
def started(monkeypatch) -> list[str]:
    """Every start of Spark; an engine without a JVM takes its place."""
    starts: list[str] = []

    @contextmanager
    def open_memory(adapter, root, spark=None, functions=None) -> Iterator[MemoryEngine]:
        starts.append("started")
        yield MemoryEngine(root)

    monkeypatch.setattr(spark, "open_project_engine", open_memory)
    return starts


@pytest.fixture
def shop(tmp_path: Path, started) -> Workspace:
    write(
        tmp_path,
        {
            "rocky.toml": CONFIG,
            "sources/raw.toml": SOURCES,
            "models/m.sql": "SELECT id, size FROM raw.sizes",
        },
    )
    for name in ("sizes", "people"):
        (tmp_path / name).mkdir()
        rows = {"id": pa.array([1], pa.int64()), "size": ["x"]}
        pq.write_table(pa.table(rows), tmp_path / name / "a.parquet")
    return Workspace(tmp_path)


@pytest.fixture
def lake(tmp_path: Path, started) -> LakeProject:
    made = LakeProject(tmp_path)
    made.put([{"id": 1, "amount": 2.5, "synced": at(1)}])
    write(tmp_path, {"models/m.sql": f"SELECT id, amount FROM {ORDERS}"})
    return made


def types_of(workspace: Workspace, model: str = "m") -> list[tuple[str, str]]:
    columns = compile_workspace(workspace, discovered=True).models[model].columns
    return [(each.name, str(each.type)) for each in columns]


def root_of(workspace: Workspace) -> Path:
    assert workspace.config is not None
    return workspace.config


def test_parquet_and_delta_are_told_by_their_files_and_spark_does_not_start(shop, started):
    told: list[tuple[int, int, str, str | None]] = []
    report = discover(
        shop,
        DiscoverRequest(),
        looked=lambda number, of, each: told.append((number, of, each.name, each.asked)),
    )

    assert [(1, 2, "raw.sizes", "files"), (2, 2, "crm.people", "files")] == told
    assert [("raw.sizes", "untyped"), ("crm.people", "changed")] == [
        (each.name, each.status) for each in report.sources
    ]
    assert [("id", "bigint", True), ("size", "string", True)] == [
        (each.name, each.type, each.nullable) for each in report.sources[0].columns
    ]
    assert [] == started


def test_spark_is_started_once_for_what_files_do_not_tell(shop, started):
    write(root_of(shop), {"a.csv": "x\n1\n", "b.csv": "y\n1\n"})
    more = "".join(
        f'\n[[source]]\nname = "csv.{name}"\nformat = "csv"\npath = "{name}.csv"\n' for name in "ab"
    )
    write(root_of(shop), {"sources/csv.toml": more})
    report = discover(shop, DiscoverRequest())

    assert ["started"] == started
    assert ["spark", "spark", "files", "files"] == [each.asked for each in report.sources]


def test_what_is_kept_gives_types_where_nobody_declares_any(shop):
    before = types_of(shop)
    report = discover(shop, DiscoverRequest(cache=True))
    summary = compile_models(shop, CompileRequest()).summary

    assert ([("id", "unknown"), ("size", "unknown")], (SCHEMA,)) == (before, report.cached)
    assert [("id", "bigint"), ("size", "string")] == types_of(shop)
    assert [("raw.sizes", False)] == [(each.name, each.is_old) for each in summary.cached_tables]
    assert "*\n" == (root_of(shop) / ".rocky/schemas/.gitignore").read_text()
    assert SOURCES == (root_of(shop) / "sources/raw.toml").read_text()


def test_what_is_kept_never_goes_over_a_declaration(shop):
    discover(shop, DiscoverRequest(cache=True))
    declared = SOURCES.replace(
        'path = "sizes"\n', 'path = "sizes"\ncolumns = [ { name = "id", type = "string" } ]\n'
    )
    write(root_of(shop), {"sources/raw.toml": declared, "models/m.sql": "SELECT * FROM raw.sizes"})

    assert [("id", "string")] == types_of(shop)
    assert () == compile_models(shop, CompileRequest()).summary.cached_tables


def test_where_undeclared_tables_are_errors_they_stay_errors(shop):
    discover(shop, DiscoverRequest(cache=True))
    write(root_of(shop), {"rocky.toml": CONFIG.replace('"unknown"', '"error"')})

    assert compile_workspace(shop, discovered=True).has_errors


def test_a_table_that_nobody_declares_has_the_kept_columns_while_it_is_read(shop):
    kept = {
        "format_version": 1,
        "name": "hive.orders",
        "discovered_at": datetime.now(UTC).isoformat(),
        "place": _place_of_table("hive.orders"),
        "pipeline": None,
        "parts": [],
        "columns": [{"name": "total", "type": "decimal(10,2)", "nullable": False}],
    }
    write(
        root_of(shop),
        {
            ".rocky/schemas/hive.orders.json": json.dumps(kept),
            "models/m.sql": "SELECT total FROM hive.orders",
        },
    )

    assert [("total", "decimal(10,2)")] == types_of(shop)
    write(root_of(shop), {"models/m.sql": "SELECT 1 AS one"})
    assert "hive.orders" not in compile_workspace(shop, discovered=True).project.sources


def _place_of_table(name: str) -> str:
    return place_of(undeclared_source(name, "rocky.toml"))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda kept: "{", "it is not a schema that this version wrote"),
        (lambda kept: kept.replace("bigint", "big int"), "it is not a schema that this version"),
        (lambda kept: kept.replace('_version": 1', '_version": 2'), "it is not a schema that this"),
        (
            lambda kept: kept.replace('"place": "', '"place": "x'),
            "of another place than `raw.sizes`",
        ),
    ],
)
def test_a_kept_schema_that_cannot_be_believed_is_said_and_not_taken(shop, change, said):
    discover(shop, DiscoverRequest(cache=True))
    path = root_of(shop) / SCHEMA
    path.write_text(change(path.read_text()))
    summary = compile_models(shop, CompileRequest()).summary

    assert [("id", "unknown"), ("size", "unknown")] == types_of(shop)
    ((file, why),) = [(each.file, each.why) for each in summary.ignored_schemas]
    assert SCHEMA == file
    assert said in why


def test_a_kept_schema_that_is_old_is_used_and_said_to_be_old(shop):
    discover(shop, DiscoverRequest(cache=True))
    path = root_of(shop) / SCHEMA
    kept = json.loads(path.read_text())
    kept["discovered_at"] = (datetime.now(UTC) - timedelta(days=9)).isoformat()
    path.write_text(json.dumps(kept))
    summary = compile_models(shop, CompileRequest()).summary

    assert [("raw.sizes", True)] == [(each.name, each.is_old) for each in summary.cached_tables]


def test_what_was_kept_is_no_part_of_how_a_run_reads_a_source(shop):
    discover(shop, DiscoverRequest(cache=True))
    seen = compile_workspace(shop, discovered=True).project.sources["raw.sizes"]
    built = compile_workspace(shop).project.sources["raw.sizes"]

    assert (2, 0, 0) == (len(seen.columns), len(seen.as_read().columns), len(built.columns))


def test_a_pipeline_of_models_means_what_its_models_read(shop):
    report = discover(shop, DiscoverRequest(pipeline="p"))

    assert ["raw.sizes"] == [each.name for each in report.sources]


def test_schemas_are_chosen_by_pattern_and_one_that_is_none_is_refused(shop):
    report = discover(shop, DiscoverRequest(schemas=("c*",)))

    assert ["crm.people"] == [each.name for each in report.sources]
    with pytest.raises(NothingSelected, match="no source is of a schema `rew`; did you mean `raw`"):
        discover(shop, DiscoverRequest(schemas=("rew",)))


def test_a_pipeline_that_copies_means_all_that_its_source_has(lake):
    report = discover(Workspace(lake.root), DiscoverRequest(pipeline="bronze", write=True))
    text = (lake.root / "sources/src__acme__shopify.toml").read_text()

    assert [(LAKE_TABLE, "undeclared", "bronze")] == [
        (each.name, each.status, each.pipeline) for each in report.sources
    ]
    assert 'format = "parquet"\npath = "lake/five/src__acme__shopify/orders"\n' in text
    assert [("id", "bigint"), ("amount", "double")] == types_of(Workspace(lake.root))
    again = discover(Workspace(lake.root), DiscoverRequest(pipeline="bronze"))
    assert ["same"] == [each.status for each in again.sources]


def test_what_will_be_copied_is_known_to_readers_of_the_copy_once_it_is_kept(lake):
    workspace = Workspace(lake.root)
    discover(workspace, DiscoverRequest(pipeline="bronze", cache=True))
    summary = compile_models(workspace, CompileRequest()).summary

    assert [("id", "bigint"), ("amount", "double")] == types_of(workspace)
    assert ([ORDERS], ()) == (
        [each.name for each in summary.cached_tables],
        summary.unknown_tables,
    )


def test_what_was_kept_of_another_source_is_not_taken(lake):
    workspace = Workspace(lake.root)
    discover(workspace, DiscoverRequest(pipeline="bronze", cache=True))
    (lake.root / "lake").rename(lake.root / "pond")
    lake.reconfigure('path = "lake"', 'path = "pond"')
    summary = compile_models(workspace, CompileRequest()).summary

    assert [("id", "unknown"), ("amount", "unknown")] == types_of(workspace)
    assert ["pipeline `bronze` copies from another place now"] == [
        each.why for each in summary.ignored_schemas
    ]


def test_the_copy_itself_goes_before_what_was_kept_of_its_source(lake):
    workspace = Workspace(lake.root)
    discover(workspace, DiscoverRequest(pipeline="bronze", cache=True))
    run(workspace, RunRequest(pipeline="bronze"))

    assert () == compile_models(workspace, CompileRequest()).summary.cached_tables


def test_what_contradicts_itself_is_refused(lake):
    with pytest.raises(InvalidRequest, match="use one of them"):
        discover(Workspace(lake.root), DiscoverRequest(write=True, cache=True))
    with pytest.raises(NothingSelected, match="no pipeline `bronce`; did you mean `bronze`"):
        discover(Workspace(lake.root), DiscoverRequest(pipeline="bronce"))


def test_a_column_that_is_called_like_a_variable_is_declared_as_what_it_is(shop, monkeypatch):
    """Else whoever names columns would have secrets of a later run written into names."""
    name = "${AWS_SECRET_ACCESS_KEY}"
    rows = {name: pa.array([1], pa.int64()), "$${B}": ["x"]}
    pq.write_table(pa.table(rows), root_of(shop) / "sizes" / "a.parquet")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hidden")

    for _ in range(2):
        discover(shop, DiscoverRequest(("raw.sizes",), write=True))
        workspace = Workspace(root_of(shop), environment={"AWS_SECRET_ACCESS_KEY": "hidden"})
        source = compile_workspace(workspace).project.sources["raw.sizes"]
        assert [name, "$${B}"] == [each.name for each in source.columns]


def test_a_change_is_one_line_whatever_its_column_is_called(shop):
    rows = {"id\nwrote sources/all.toml\x1b[2J": pa.array([1], pa.int64())}
    pq.write_table(pa.table(rows), root_of(shop) / "sizes" / "a.parquet")
    (found,) = discover(shop, DiscoverRequest(("raw.sizes",))).sources

    head, *lines = render_source(found).split("\n")
    assert ["  + id␊wrote sources/all.toml␛[2J bigint"] == lines
    assert head.startswith("raw.sizes (sources/raw.toml)")


@pytest.mark.parametrize(
    "at",
    ["9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00+14:00", "yesterday", "", 5, "9000-01-01"],
)
def test_a_kept_schema_of_a_time_that_no_clock_says_is_not_taken(shop, at):
    discover(shop, DiscoverRequest(cache=True))
    path = root_of(shop) / SCHEMA
    path.write_text(json.dumps({**json.loads(path.read_text()), "discovered_at": at}))

    assert [SCHEMA] == _ignored(shop, "it is not a schema that this version wrote")


@pytest.mark.parametrize("kind", ["link", "pipe", "folder", "linked folder"])
def test_a_kept_schema_that_is_no_file_of_its_folder_is_not_taken(shop, tmp_path, kind):
    discover(shop, DiscoverRequest(cache=True))
    path = root_of(shop) / SCHEMA
    moved = tmp_path / "elsewhere"
    (path.parent if kind == "linked folder" else path).rename(moved)
    if kind == "link":
        path.symlink_to(moved)
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.parent.symlink_to(moved)

    assert SCHEMA in _ignored(shop, "it is no regular file of this folder")


def test_a_kept_schema_that_git_has_is_not_taken(shop):
    discover(shop, DiscoverRequest(cache=True))
    folder = root_of(shop)
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    assert [("id", "bigint"), ("size", "string")] == types_of(shop)
    subprocess.run(["git", "add", "-f", SCHEMA], cwd=folder, check=True)

    assert [SCHEMA] == _ignored(shop, "it is in git")


def _ignored(shop: Workspace, why: str) -> list[str]:
    """The files that are not taken for a reason; none of them gives types."""
    summary = compile_models(shop, CompileRequest()).summary
    assert [("id", "unknown"), ("size", "unknown")] == types_of(shop)
    return [each.file for each in summary.ignored_schemas if why in each.why]


def test_an_iceberg_table_is_told_by_its_metadata_and_declared_without_spark(shop, started):
    root = root_of(shop)
    fields = [field(1, "id", "long", required=True), field(2, "at", "timestamptz")]
    put(root / "lake/events", 3, metadata_of(fields), hint="3")
    (root / "sources/lake.toml").write_text(
        '[[source]]\nname = "lake.events"\nformat = "iceberg"\npath = "lake/events"\n'
    )
    report = discover(shop, DiscoverRequest(("lake.events",), write=True))

    assert [] == started
    assert ["files"] == [each.asked for each in report.sources]
    assert [("id", "bigint", False), ("at", "timestamp", True)] == [
        (each.name, str(each.type), each.nullable)
        for each in compile_workspace(shop).project.sources["lake.events"].columns
    ]
