"""Whole runs on a Spark that is not in this process: Spark Connect, and a cluster's executors."""

import json
import os
import threading
import time
from pathlib import Path

import deltalake
import pyarrow as pa
import pytest
from benchmarks.twenty_models import CONFIG as TWENTY
from benchmarks.twenty_models import MODELS, write_project
from pyspark.sql.connect.session import SparkSession

import rocky
from rocky.errors import AdapterUnusable, SparkUnavailable
from rocky.project.configuration.blocks import Adapter
from rocky.spark.connection import Connection, adopt_session
from rocky.spark.failures import SPARK_ERRORS
from rocky.spark.frame import fields_of
from rocky.spark.interface import Layout
from rocky.spark.java import choose_java
from rocky.spark.jobs import jobs_of
from rocky.spark.rows_hash import ROWS, read_hash
from rocky.spark.session import connect_spark
from rocky.spark.writer import _read_back, write_staged
from tests.spark.projects import CONFIG, build, data_files, errors_of, table_folder, write_files
from tests.spark.projects import write_rows as put_rows
from tests.spark.scripts import run_script
from tests.spark.servers import ConnectServer

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.server]

ORDERS = 300


def files_of(root: Path, names=tuple(MODELS)) -> dict[str, set[str]]:
    return {name: data_files(table_folder(root, name)) for name in names}


def twenty_on(folder: Path, adapter: str) -> Path:
    """The project of twenty models, on another Spark."""
    root = write_project(folder / "project", orders=ORDERS)
    config = TWENTY.replace('master = "local[2]"', adapter)
    assert config != TWENTY
    (root / "rocky.toml").write_text(config)
    return root


@pytest.fixture(scope="module")
def local(tmp_path_factory, spark) -> dict[str, set[str]]:
    """The files of the twenty models as one local core writes them."""
    root = write_project(tmp_path_factory.mktemp("local") / "project", orders=ORDERS)
    assert {} == errors_of(build(root, spark))
    return files_of(root)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    started = ConnectServer(tmp_path_factory.mktemp("server"))
    yield started
    started.kill()


@pytest.fixture
def remote(server) -> str:
    """The address of a server that runs."""
    return server.address


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch):
    for name in ("grpc_proxy", "https_proxy", "http_proxy", "HTTPS_PROXY", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.exhaustive
def test_a_run_through_connect_leaves_the_bytes_that_a_local_run_leaves(local, remote, tmp_path):
    root = twenty_on(tmp_path, f'remote = "{remote}"')

    report = build(root, None)

    assert {} == errors_of(report)
    assert local == files_of(root)
    assert "SPARK_CONNECT_MODE_ENABLED" not in os.environ


PYTHON_MODEL = """\
from pyspark.sql import functions as F


def model(events):
    return events.select("id", F.upper(F.col("note")).alias("loud"))
"""
SOURCE = """\
[[source]]
name = "raw.events"
format = "parquet"
path = "data"
columns = [
  { name = "id", type = "bigint", nullable = false },
  { name = "note", type = "string" },
]
"""
MERGED = """\
---toml
[strategy]
type = "merge"
unique_key = ["id"]
---
SELECT id, note FROM raw.events
"""
EVENTS = pa.schema([("id", pa.int64()), ("note", pa.string())])


def test_strategies_and_python_models_run_on_the_callers_connect_session(remote, tmp_path):
    root = write_files(
        tmp_path,
        {
            "sources/raw.toml": SOURCE,
            "models/merged.sql": MERGED,
            "models/loud.py": PYTHON_MODEL,
            "models/loud.toml": 'inputs = { events = "raw.events" }\n'
            'output = [{ name = "id", type = "bigint", nullable = false },'
            ' { name = "loud", type = "string" }]\n',
        },
    )
    mine = SparkSession(connection=remote)
    mine.conf.set("spark.sql.session.timeZone", "Europe/Paris")

    put_rows(root / "data/1.parquet", EVENTS, [{"id": n, "note": "old"} for n in range(3)])
    first = build(root, mine)
    put_rows(root / "data/1.parquet", EVENTS, [{"id": n, "note": "new"} for n in range(2, 5)])
    second = build(root, mine)

    assert {} == {**errors_of(first), **errors_of(second)}
    merged = deltalake.DeltaTable(str(table_folder(root, "merged"))).to_pyarrow_table()
    loud = deltalake.DeltaTable(str(table_folder(root, "loud"))).to_pyarrow_table()
    assert [(0, "old"), (1, "old"), (2, "new"), (3, "new"), (4, "new")] == sorted(
        (row["id"], row["note"]) for row in merged.to_pylist()
    )
    assert ["NEW"] * 3 == loud["loud"].to_pylist()
    assert "Europe/Paris" == mine.conf.get("spark.sql.session.timeZone")
    assert [] == mine.catalog.listTables()
    mine.stop()


FUNCTION_MODEL = """\
from pyspark.sql import functions as F


def model(events):
    @F.udf("bigint", useArrow=False)
    def twice(n):
        return 2 * n

    return events.select(twice("id").alias("id"))
"""


def test_a_python_model_with_functions_of_its_own_runs_on_a_server(remote, tmp_path):
    root = write_files(
        tmp_path / "project",
        {
            "sources/raw.toml": SOURCE,
            "models/doubled.py": FUNCTION_MODEL,
            "models/doubled.toml": 'inputs = { events = "raw.events" }\n',
        },
    )
    config = (root / "rocky.toml").read_text()
    (root / "rocky.toml").write_text(
        config.replace('type = "spark"\n', f'type = "spark"\nremote = "{remote}"\n', 1)
    )
    put_rows(root / "data/1.parquet", EVENTS, [{"id": n, "note": None} for n in (1, 2)])

    assert {} == errors_of(build(root, None))
    assert [2, 4] == sorted(row["id"] for row in rocky.open(root).show("doubled").rows)


def test_frames_of_the_callers_connect_session_carry_what_they_read(remote, tmp_path):
    root = write_files(
        tmp_path,
        {
            "models/a.sql": "SELECT 1 AS id, '{x}' AS x\n",
            "models/b.sql": "SELECT id, x FROM a WHERE x = '{x}'\n",
            "models/b.toml": 'strategy = "view"\n',
        },
    )
    mine = SparkSession(connection=remote)
    opened = rocky.open(root, spark=mine)
    assert 0 == opened.run("a").exit_code
    frames = [
        opened.table("a"),
        opened.table("b"),
        opened.sql("SELECT id, x FROM a JOIN b USING (id, x)"),
    ]
    (root / "models/a.sql").write_text("SELECT 2 AS id, 'y' AS x\n")
    assert 0 == opened.run("a").exit_code

    assert [[(1, "{x}")]] * 3 == [[tuple(row) for row in each.collect()] for each in frames]
    frames[2].createOrReplaceTempView("mine")
    assert 1 == mine.table("mine").count()
    mine.catalog.dropTempView("mine")
    assert [] == mine.catalog.listTables()
    mine.stop()


def test_what_a_busy_server_does_not_tell_of_a_write_is_read_from_the_files(spark, tmp_path):
    rows = spark.sql("SELECT id, IF(id % 3 = 0, NULL, map(id, array(-0.0d))) AS m FROM range(50)")
    fields = fields_of(rows)
    folder = (tmp_path / "_staging" / "one").as_uri()

    staged = write_staged(rows, folder, Layout(("id",), canonical=True, pieces=2), fields)
    read = _read_back(spark, folder, fields)

    assert (staged.rows, staged.rows_hash) == (read[ROWS], read_hash(read))


def test_where_nobody_answers_no_table_is_written(tmp_path):
    config = CONFIG.replace("[adapter]", '[adapter]\nremote = "sc://127.0.0.1:1"')
    root = write_files(tmp_path, {"rocky.toml": config, "models/one.sql": "SELECT 1 AS n\n"})

    with pytest.raises(SparkUnavailable, match=r"nothing listens at `127\.0\.0\.1:1`"):
        build(root, None)

    # Only the ledger has left its mark.
    assert ["_rocky"] == [path.name for path in (root / "warehouse").iterdir()]


# Ctrl-C as soon as Spark is at work: the query would take hours.
CANCEL = """
import json, os, signal, sys
import rocky

class Impatient:
    asked = False
    def queued(self, run_id, steps): pass
    def started(self, step): pass
    def retried(self, step, attempt): pass
    def finished(self, outcome): pass
    def progress(self, step, done, known):
        if known and not self.asked:
            self.asked = True
            os.kill(os.getpid(), signal.SIGINT)

report = rocky.open(sys.argv[1], listener=Impatient()).run().run.result
print(json.dumps([report.exit_code, {each.step.name: each.execution.status.value for each in report.outcomes}]))
"""


def test_an_interrupt_cancels_what_the_server_is_doing(remote, tmp_path):
    long = "SELECT count(*) AS n FROM range(9000000) AS a, range(9000000) AS b WHERE a.id * 3 = b.id - a.id * 5\n"
    config = CONFIG.replace("[adapter]", f'[adapter]\nremote = "{remote}"')
    root = write_files(tmp_path, {"rocky.toml": config, "models/long.sql": long})

    code, ended = run_script(CANCEL, str(root)).answer

    assert 130 == code
    assert "success" not in ended.values()
    assert not (table_folder(root, "long") / "_delta_log").exists()


# The hashing function is made to say which process it runs in. It is sent to executors as it is.
CLUSTER = """
import json, os, sys
import rocky
from rocky.store.parquet import digest

examine = digest.LocalHasher.__call__
seen = sys.argv[2]

def examine_and_tell(self, path):
    with open(seen, "a") as file:
        file.write(json.dumps([os.getpid(), os.path.basename(os.getcwd())]) + "\\n")
    return examine(self, path)

digest.LocalHasher.__call__ = examine_and_tell
report = rocky.open(sys.argv[1]).run().run.result
used = [each.execution.metrics for each in report.outcomes if each.execution.metrics]
print(json.dumps([
    os.getpid(),
    {each.step.name: each.execution.error for each in report.outcomes if each.execution.error},
    [min(each.tasks for each in used), min(each.executor_cpu_ms for each in used)],
]))
"""


@pytest.mark.exhaustive
def test_on_a_cluster_executors_name_the_files_by_the_bytes_that_a_local_run_gives(local, tmp_path):
    if choose_java(os.environ).from_wheel:
        pytest.skip("executors are started by Spark's launcher: the wheel's Java lacks a module")
    root = twenty_on(tmp_path, 'master = "local-cluster[2,1,1024]"')
    with (root / "rocky.toml").open("a") as config:
        config.write('\n[adapter.conf]\n"spark.driver.memory" = "1g"\n')
    seen = tmp_path / "seen"

    driver, errors, used = run_script(
        CLUSTER, str(root), str(seen), env={"SPARK_HOME": None}
    ).answer

    assert {} == errors
    assert local == files_of(root)
    assert all(each > 0 for each in used), "what executors use is counted"
    hashed = [json.loads(line) for line in seen.read_text().splitlines()]
    assert sum(len(files) for files in local.values()) <= len(hashed)
    assert driver not in {process for process, _ in hashed}
    # An executor works in a folder that is called by its number.
    assert {"0", "1"} >= {folder for _, folder in hashed}


def kind_of_failure(connection: Connection, call) -> str:
    with pytest.raises(SPARK_ERRORS) as failure:
        call()
    return connection.explain(failure.value).kind.value


def noop(frame) -> None:
    frame.write.format("noop").mode("overwrite").save()


@pytest.fixture
def connection(remote, tmp_path, capfd):
    """A connection with a setting of its own. Nothing may be printed."""
    conf = {"spark.sql.shuffle.partitions": "3"}
    opened = connect_spark(Adapter(remote=remote, conf=conf), tmp_path)
    yield opened
    opened.close()
    assert ("", "") == tuple(capfd.readouterr())


def test_settings_are_those_of_rocky_and_the_project(connection, remote, tmp_path):
    settings = connection.facts.settings

    assert "connect" == connection.kind
    assert "true" == settings["spark.sql.ansi.enabled"]
    assert "TIMESTAMP_MICROS" == settings["spark.sql.parquet.outputTimestampType"]
    assert [("${env:PATH}",)] == connection.session.sql("SELECT '${env:PATH}'").collect()
    assert "3" == connection.session.conf.get("spark.sql.shuffle.partitions")
    with pytest.raises(
        AdapterUnusable, match=r"`spark\.executor\.memory` cannot be set on a Spark"
    ):
        connect_spark(Adapter(remote=remote, conf={"spark.executor.memory": "3g"}), tmp_path)


def test_what_a_server_tells_of_jobs_and_failures_is_understood(connection):
    session, jobs = connection.session, jobs_of(connection)
    with jobs.tagged("read"):
        drawn = session.range(0, 50_000, 1, 2).selectExpr("uuid() AS u")
        rows = drawn.groupBy("u").count().count()
    done, known = jobs.progress("read")
    divided = session.range(3).selectExpr("1 / (id - 1)")

    assert 50_000 == rows
    assert 0 <= done <= known
    assert (None, None) == (jobs.metrics("read").executor_cpu_ms, jobs.metrics("never").tasks)
    assert "data_error" == kind_of_failure(connection, lambda: noop(divided))
    assert "query_rejected" == kind_of_failure(
        connection, lambda: session.sql("SELECT nope").schema
    )


def test_a_query_is_cancelled_by_its_tag(connection):
    jobs, ended = jobs_of(connection), []
    sleep = "java_method('java.lang.Thread', 'sleep', 600000L + id)"

    def wait_for_ever() -> None:
        with jobs.tagged("slow"):
            asleep = connection.session.range(0, 1, 1, 1).selectExpr(sleep)
            ended.append(kind_of_failure(connection, lambda: noop(asleep)))

    thread = threading.Thread(target=wait_for_ever)
    thread.start()
    while not jobs.progress("slow")[1]:
        time.sleep(0.05)
    jobs.cancel("slow")
    thread.join()

    assert ["cancelled"] == ended


def test_the_callers_connect_session_stays_as_it_was(remote):
    mine = SparkSession(connection=remote)
    mine.conf.set("spark.sql.session.timeZone", "Europe/Paris")
    adopted = adopt_session(mine)
    adopted.session.range(3).createOrReplaceTempView("of_rocky")

    assert ("connect", "UTC") == (
        adopted.kind,
        adopted.facts.settings["spark.sql.session.timeZone"],
    )
    adopted.close()
    assert "Europe/Paris" == mine.conf.get("spark.sql.session.timeZone")
    assert not mine.catalog.tableExists("of_rocky")
    mine.stop()


def test_a_server_that_dies_is_a_connection_lost(connection, server):
    session = connection.session
    server.kill()
    session.client.set_retry_policies([])

    assert "connection_lost" == kind_of_failure(connection, session.range(3).count)
    session.release_session_on_close = False
