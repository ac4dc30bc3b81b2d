"""Tables of a real PostgreSQL: found, described and copied; nobody sees the password."""

import json

import pytest

from tests.servers.postgres import PASSWORD, USER, postgres_server
from tests.spark.jars import POSTGRES, require_packages
from tests.spark.scripts import run_script

SCRIPT = """
import json, sys
from pathlib import Path
from rocky.errors import RockyError
from rocky.pipelines.replication.opening import open_discovery
from rocky.pipelines.replication.routing import route_tables
from rocky.project import load_project
from rocky.project.adapter import Adapter
from rocky.run.spark_engine import SparkEngine
from rocky.spark.session import connect_spark

root, package, password = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
project = load_project(root, env={"PG_PASSWORD": password})
assert not project.diagnostics, [each.message for each in project.diagnostics]
pipeline = project.config.pipeline["bronze"]
connection = connect_spark(Adapter(conf={"spark.jars.packages": package}), root)
engine = SparkEngine(connection, root)
discovered = open_discovery(pipeline, root, {}, lambda: engine).discover(None)
routing = route_tables(pipeline, discovered)
said = {
    "targets": [each.target.full_name for each in routing.tables],
    "unmatched": list(routing.unmatched),
    "shown": repr((pipeline, routing)),
}
orders = next(each.found for each in routing.tables if each.target.table == "orders")
columns = engine.describe(orders.declare())
said["columns"] = [f"{each.name} {each.type}" for each in columns]
engine.views.bind_source("orders", orders.declare(columns))
some = engine.frame("SELECT id, note FROM orders WHERE synced > TIMESTAMP '2026-01-01 00:00:00' AND synced <= TIMESTAMP '2026-01-02 00:00:00' ORDER BY id")
said["rows"] = engine.rows(some, 10)
said["plan"] = some._jdf.queryExecution().executedPlan().toString()
wrong = pipeline._replace(source=pipeline.source._replace(options={"user": "rocky", "password": "wrong-secret"}))
try:
    open_discovery(wrong, root, {}, lambda: engine).discover(None)
except RockyError as error:
    said["refused"] = str(error)
connection.close()
print(json.dumps(said))
"""
CONFIG = """\
[pipeline.bronze]
type = "replication"
[pipeline.bronze.source]
url = "{url}"
options = {{ user = "{user}", password = "${{PG_PASSWORD}}" }}
schema_pattern = {{ prefix = "src__", separator = "__", components = ["tenant"] }}
[pipeline.bronze.target]
catalog_template = "lake"
schema_template = "{{tenant}}"
"""
TABLES = """
CREATE SCHEMA src__acme; CREATE SCHEMA "src__Big Co"; CREATE SCHEMA other;
CREATE TABLE src__acme.orders (
  id bigint PRIMARY KEY, note varchar(20), amount numeric(12,2), synced timestamptz);
INSERT INTO src__acme.orders VALUES
  (1, 'early', 1.5, '2026-01-01 00:00:00+00'), (2, 'inside', 2.5, '2026-01-01 12:00:00+00'),
  (3, 'end', 3.5, '2026-01-02 00:00:00+00'), (4, 'late', 4.5, '2026-01-02 00:00:01+00');
CREATE TABLE "src__Big Co"."Odd Table" (id int);
CREATE TABLE other.ignored (id int);
"""


@pytest.mark.spark
def test_tables_of_postgresql_are_found_and_read_with_the_bounds_pushed_down(tmp_path):
    require_packages(POSTGRES)
    with postgres_server() as server:
        server.run(TABLES)
        (tmp_path / "rocky.toml").write_text(CONFIG.format(url=server.url, user=USER))
        ran = run_script(SCRIPT, str(tmp_path), POSTGRES, PASSWORD)
    said = ran.answer

    assert ["lake.Big Co.Odd Table", "lake.acme.orders"] == said["targets"]
    assert ["other", "public"] == sorted({*said["unmatched"], "public"})
    assert [
        "id bigint",
        "note varchar(20)",
        "amount decimal(12,2)",
        "synced timestamp",
    ] == said["columns"]
    assert [[2, "inside"], [3, "end"]] == said["rows"]
    assert "PushedFilters: [*IsNotNull(synced), *GreaterThan(synced" in said["plan"]
    assert "cannot be listed" in said["refused"]
    for secret in (PASSWORD, "wrong-secret"):
        assert secret not in json.dumps(said)
        assert secret not in ran.out + ran.err
