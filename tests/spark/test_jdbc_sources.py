"""Tables of a real PostgreSQL: found, described and copied; nobody sees the password."""

import json

import deltalake
import pytest

from tests.servers.postgres import PASSWORD, USER, postgres_server
from tests.spark.jars import postgres_driver
from tests.spark.scripts import OWN_SPARK, run_script

SCRIPT = """
import json, os, subprocess, sys
from pathlib import Path
from rocky.compiler.passes import compile_project
from rocky.errors import RockyError
from rocky.pipelines.pipeline_run import run_pipeline
from rocky.pipelines.replication.source import open_discovery
from rocky.pipelines.replication.routes import route_tables
from rocky.project import load_project
from rocky.run.prepare.caller import observe_origin
from rocky.run.prepare.caller import Caller
from rocky.plan.request import RunRequest
from rocky.run.engine.spark import SparkEngine
from rocky.spark.session import connect_spark

root, password, client, later = Path(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3]), sys.argv[4]
env = {"PG_PASSWORD": password}
project = load_project(root, env=env)
assert not project.diagnostics, [each.message for each in project.diagnostics]
pipeline = project.config.pipeline["bronze"]
connection = connect_spark(project.config.adapter["default"], root)
engine = SparkEngine(connection, root)
routing = route_tables(pipeline, open_discovery(pipeline, root, {}, lambda: engine).discover(None))
said = {
    "targets": [each.target.full_name for each in routing.tables],
    "unmatched": list(routing.unmatched),
    "shown": repr((pipeline, routing)),
}
orders = next(each.found for each in routing.tables if each.target.table == "orders")
columns = engine.describe(orders.declare())
said["columns"] = [f"{each.name} {each.type}" for each in columns]
engine.views.bind_source("orders", orders.declare(columns))
some = engine.frame("SELECT id FROM orders WHERE synced > TIMESTAMP '2026-01-01 00:00:00'")
said["plan"] = some._jdf.queryExecution().executedPlan().toString()
means = Caller(root / "state.db", observe_origin(root, env), env, spark=connection.session)
compilation = compile_project(project, jobs=1, cache=False)

def copy():
    report = run_pipeline(compilation, "bronze", RunRequest(parallel=1, filters=("tenant=acme",)), means)
    return {
        each.step.name: [each.execution.error, [f"{one.column} {one.grade}" for one in each.execution.drift]]
        for each in report.run.outcomes
    }

said["first"] = copy()
subprocess.run([*client, later], check=True, capture_output=True, env={**os.environ, "PGPASSWORD": password})
said["second"] = copy()
wrong = pipeline._replace(source=pipeline.source._replace(options={"user": "rocky", "password": "wrong-secret"}))
try:
    open_discovery(wrong, root, {}, lambda: engine).discover(None)
except RockyError as error:
    said["refused"] = str(error)
connection.close()
print(json.dumps(said))
"""
CONFIG = """\
[adapter.conf]
{driver}
[pipeline.bronze]
type = "replication"
timestamp_column = "synced"
[pipeline.bronze.source]
url = "{url}"
options = {{ user = "{user}", password = "${{PG_PASSWORD}}" }}
schema_pattern = {{ prefix = "src__", separator = "__", components = ["tenant"] }}
[pipeline.bronze.target]
catalog_template = "lake"
schema_template = "{{tenant}}"
[pipeline.bronze.classification]
"orders.note" = "pii"
"*.EXT*" = "pii"
[mask]
pii = "redact"
"""
TABLES = """
CREATE SCHEMA src__acme; CREATE SCHEMA "src__Big Co"; CREATE SCHEMA other;
CREATE TABLE src__acme.orders (
  id bigint PRIMARY KEY, note varchar(20), pieces int, amount numeric(12,2), synced timestamptz);
INSERT INTO src__acme.orders VALUES
  (1, 'first', 1, 1.5, '2026-01-01 00:00:00+00'), (2, 'second', 2, 2.5, '2026-01-02 00:00:00+00');
CREATE TABLE "src__Big Co"."Odd Table" (id int);
CREATE TABLE other.ignored (id int);
"""
LATER = """
INSERT INTO src__acme.orders VALUES (3, 'third', 3, 3.5, '2026-01-03 00:00:00+00');
ALTER TABLE src__acme.orders ALTER pieces TYPE bigint;
ALTER TABLE src__acme.orders DROP COLUMN note;
ALTER TABLE src__acme.orders ADD extra text DEFAULT 'x';
"""


@pytest.mark.spark
@pytest.mark.sampled(OWN_SPARK)
def test_tables_of_postgresql_are_copied_by_their_watermark_and_their_drift_is_graded(tmp_path):
    driver = postgres_driver()
    with postgres_server() as server:
        server.run(TABLES)
        config = CONFIG.format(driver=driver, url=server.url, user=USER)
        (tmp_path / "rocky.toml").write_text(config)
        client = json.dumps(server.client)
        ran = run_script(SCRIPT, str(tmp_path), PASSWORD, client, LATER)
    said = ran.answer

    assert ["lake.Big Co.Odd Table", "lake.acme.orders"] == said["targets"]
    assert ["other"] == said["unmatched"]
    assert [
        "id bigint",
        "note varchar(20)",
        "pieces int",
        "amount decimal(12,2)",
        "synced timestamp",
    ] == said["columns"]
    assert "PushedFilters: [*IsNotNull(synced), *GreaterThan(synced" in said["plan"]
    assert {"lake.acme.orders": [None, []]} == said["first"]
    drift = ["note grace", "pieces widen", "extra add"]
    assert {"lake.acme.orders": [None, drift]} == said["second"]
    copied = deltalake.DeltaTable(str(tmp_path / "warehouse/lake/acme/orders")).to_pyarrow_table()
    rows = sorted((row["id"], row["note"], row["extra"]) for row in copied.to_pylist())
    # Both are classified: one from the first copy on, one from the day on which it arrived.
    assert [(1, "***", None), (2, "***", None), (3, None, "***")] == rows
    assert "int64" == str(copied.schema.field("pieces").type)
    assert "cannot be listed" in said["refused"]
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    for secret in (PASSWORD, "wrong-secret"):
        assert secret not in ran.out + ran.err
        assert [] == [path for path in written if secret.encode() in path.read_bytes()]
