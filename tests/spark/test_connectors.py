"""Spark's own connectors, where they have been fetched: Delta's reads what we write, S3 holds it."""

import json
from decimal import Decimal
from pathlib import Path

import deltalake
import pyarrow as pa
import pytest

from rocky.errors import AdapterUnusable
from rocky.spark.session import CONNECTOR_HELP
from rocky.store.delta.log import write_checkpoint
from rocky.store.warehouse import open_warehouse
from tests.servers.s3 import s3_server
from tests.spark.jars import DELTA, HADOOP_AWS, S3, S3_EXCLUDED, require_packages
from tests.spark.projects import CONFIG, build, errors_of, table_folder, write_files, write_rows
from tests.spark.scripts import run_script
from tests.store.tables import Name

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.server]

SOURCE = """\
[[source]]
name = "raw.events"
format = "parquet"
path = "data"
columns = [
  { name = "id", type = "bigint", nullable = false },
  { name = "at", type = "timestamp" },
  { name = "note", type = "string", classification = "internal" },
  { name = "price", type = "decimal(10,2)" },
]
"""
EVENTS = pa.schema(
    [
        ("id", pa.int64()),
        ("at", pa.timestamp("us", "UTC")),
        ("note", pa.string()),
        ("price", pa.decimal128(10, 2)),
    ]
)
WITH = "---toml\n[strategy]\n{}\n---\n{}\n"
ALL = "SELECT id, at, note, price FROM raw.events"
APPENDED = WITH.format('type = "incremental"\ntimestamp_column = "at"', ALL)
MERGED = WITH.replace("---toml", '---toml\nowner = "crm"').format(
    'type = "merge"\nunique_key = ["id"]', "SELECT id, note, price FROM raw.events"
)
WIDER = MERGED.replace("id, note, price FROM", "id, note, price, at FROM")
PARTS = """\
---toml
[format_options]
partition_by = ["note"]
---
SELECT id, note, named_struct('p', price, 'all', array(id, NULL)) AS nested,
  map('at', CAST(at AS timestamp_ntz)) AS times
FROM raw.events
"""
MODELS = {"appended": APPENDED, "merged": MERGED, "parts": PARTS}


def put(root: Path, first: int, note: str | None) -> None:
    rows = [
        {
            "id": each,
            "at": (1_700_000_000 + each) * 1_000_000,
            "note": note if each % 2 else "é/=%",
            "price": Decimal(each).scaleb(-1) if each else None,
        }
        for each in range(first, first + 4)
    ]
    write_rows(root / "data/events.parquet", EVENTS, rows)


def project(root: Path, config: str = CONFIG) -> Path:
    files = {f"models/{name}.sql": text for name, text in MODELS.items()}
    return write_files(root, {"rocky.toml": config, "sources/raw.toml": SOURCE, **files})


# Every table as the connector reads it, now and at its first version; JSON is Spark's own.
READ = """
import json, sys
from pathlib import Path
import rocky
from rocky.project.configuration.blocks import Adapter
from rocky.spark.session import connect_spark

conf = {"spark.driver.memory": "1g", "spark.databricks.delta.snapshotPartitions": "1", **json.loads(sys.argv[2])}
connection = connect_spark(Adapter(master="local[2]", conf=conf), Path(sys.argv[1]))
session, read, noted = connection.session, {}, {}

def rows(frame):
    return sorted(row[0] for row in frame.selectExpr("to_json(struct(*), map('ignoreNullFields', 'false'))").collect())

for name in json.loads(sys.argv[3]):
    path = f"{sys.argv[1]}/warehouse/spark_catalog/default/{name}"
    delta = session.read.format("delta")
    read[name] = [rows(delta.load(path)), rows(delta.option("versionAsOf", 0).load(path))]
    noted[name] = {each.name: each.metadata for each in session.read.format("delta").load(path).schema if each.metadata}
    said = session.sql(f"SHOW TBLPROPERTIES delta.`{path}`").collect()
    noted[name][""] = {row[0]: row[1] for row in said if row[0] in ("rocky.owner", "rocky.classification")}
report = rocky.open(sys.argv[1], spark=session).run().run.result
errors = {each.step.name: each.execution.error for each in report.outcomes if each.execution.error}
listed = {name: session.table(f"spark_catalog.default.{name}").count() for name in json.loads(sys.argv[3])}
listed["over"] = session.table("spark_catalog.default.over").count()
connection.close()
print(json.dumps([read, errors, listed, noted]))
"""
DELTA_CONF = {
    "spark.jars.packages": DELTA,
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
}


def test_deltas_own_connector_reads_every_kind_of_table_and_tables_are_registered(spark, tmp_path):
    require_packages(DELTA)
    root = project(tmp_path, CONFIG.replace("[adapter]", "[adapter]\nregister = true"))
    plain = CONFIG
    (root / "rocky.toml").write_text(plain)
    for first, note in ((0, "old"), (2, None), (4, "new")):
        put(root, first, note)
        if first == 4:
            (root / "models/merged.sql").write_text(WIDER)
        assert {} == errors_of(build(root, spark))
    warehouse = open_warehouse("warehouse", base=root)
    log = warehouse.table(Name("spark_catalog", "default", "merged")).log
    assert write_checkpoint(log, 2) is None
    put(root, 5, "last")
    assert {} == errors_of(build(root, spark))
    (root / "rocky.toml").write_text(plain.replace("[adapter]", "[adapter]\nregister = true"))
    (root / "models/over.sql").write_text("SELECT id FROM merged")
    (root / "models/over.toml").write_text('[strategy]\ntype = "view"\n')

    answer = run_script(READ, str(root), json.dumps(DELTA_CONF), json.dumps(list(MODELS))).answer
    read, errors, listed, noted = answer

    assert {} == errors
    assert listed["merged"] == listed["over"]
    tag = {"rocky.classification": "internal"}
    assert {"note": tag, "": tag | {"rocky.owner": "crm"}} == noted["merged"]
    for name in MODELS:
        folder = str(table_folder(root, name))
        for found, version in zip(read[name], (None, 0), strict=True):
            frame = spark.read.parquet(*deltalake.DeltaTable(folder, version=version).file_uris())
            text = "to_json(struct(*), map('ignoreNullFields', 'false'))"
            assert sorted(row[0] for row in frame.selectExpr(text).collect()) == found
        assert deltalake.DeltaTable(folder).to_pyarrow_table().num_rows == listed[name]


def test_without_the_connector_nothing_is_built_that_was_to_be_registered(spark, tmp_path):
    config = CONFIG.replace("[adapter]", "[adapter]\nregister = true")
    root = write_files(tmp_path, {"rocky.toml": config, "models/one.sql": "SELECT 1 AS n\n"})

    with pytest.raises(AdapterUnusable) as refused:
        build(root, spark)

    assert f"`register = true` needs Delta's connector: {CONNECTOR_HELP}" == str(refused.value)
    assert not (root / "warehouse/spark_catalog").exists()


def test_without_hadoops_client_for_s3_it_is_said_what_to_add(spark, tmp_path, monkeypatch):
    # There is no such bucket to look for unfinished promotions and erasures in.
    monkeypatch.setattr("rocky.run.prepare.claims.has_journal", lambda *_: False)
    config = CONFIG.replace('"warehouse"', '"s3://bucket/tables"')
    root = write_files(tmp_path, {"rocky.toml": config, "models/one.sql": "SELECT 1 AS n\n"})

    with pytest.raises(AdapterUnusable) as refused:
        build(root, spark)

    assert (
        '`warehouse = "s3://bucket/tables"` needs Hadoop\'s client for S3, which this Spark lacks:'
        f' add `"spark.jars.packages" = "{HADOOP_AWS}"` to `[adapter.conf]`'
    ) == str(refused.value)


@pytest.fixture
def bucket():
    """The settings of an S3 on loopback with a bucket."""
    with s3_server("lake") as endpoint:
        yield {
            "spark.hadoop.fs.s3a.endpoint": endpoint,
            "spark.hadoop.fs.s3a.endpoint.region": "us-east-1",
            "spark.hadoop.fs.s3a.access.key": "key",
            "spark.hadoop.fs.s3a.secret.key": "secret",
            "spark.hadoop.fs.s3a.path.style.access": "true",
        }


RUNS = """
import json, sys
from pathlib import Path
import rocky
from rocky.project.configuration.blocks import Adapter
from rocky.spark.session import connect_spark

root = Path(sys.argv[1])
conf = json.loads(sys.argv[2])
connection = connect_spark(Adapter(master="local[2]", conf=conf), root)
errors = []
for data in sorted((root / "later").iterdir()):
    (root / "data/events.parquet").write_bytes(data.read_bytes())
    report = rocky.open(root, spark=connection.session).run().run.result
    errors += [each.execution.error for each in report.outcomes if each.execution.error]
connection.close()
print(json.dumps(errors))
"""


def test_a_warehouse_in_s3_is_replaced_appended_and_merged(bucket, tmp_path):
    require_packages(*S3.split(","))
    conf = {
        **bucket,
        "spark.driver.memory": "1g",
        "spark.jars.packages": S3,
        "spark.jars.excludes": S3_EXCLUDED,
    }
    lines = "".join(f'"{name}" = "{value}"\n' for name, value in conf.items())
    config = CONFIG.replace('"warehouse"', '"s3://lake/ware house"') + f"\n[adapter.conf]\n{lines}"
    root = project(tmp_path, config)
    (root / "later").mkdir()
    for first, note in ((0, "old"), (2, "new")):
        put(root, first, note)
        (root / "data/events.parquet").rename(root / f"later/{first}.parquet")

    assert [] == run_script(RUNS, str(root), json.dumps(conf)).answer

    options = {
        "aws_endpoint": bucket["spark.hadoop.fs.s3a.endpoint"],
        "aws_access_key_id": "key",
        "aws_secret_access_key": "secret",
        "aws_region": "us-east-1",
        "aws_allow_http": "true",
    }
    ids = {}
    for name in MODELS:
        uri = f"s3://lake/ware house/spark_catalog/default/{name}"
        table = deltalake.DeltaTable(uri, storage_options=options)
        ids[name] = sorted(table.to_pyarrow_table()["id"].to_pylist())
    assert {"appended": list(range(6)), "merged": list(range(6)), "parts": [2, 3, 4, 5]} == ids
