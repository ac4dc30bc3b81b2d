"""A cluster of real processes: the executors do the work, not the driver."""

import pytest

from rocky.spark.class_data import SWITCH
from rocky.spark.java import choose_java
from tests.spark.scripts import run_script

# The driver, a master, two workers and an executor of each are JVMs of their own, but for the
# master and the workers, which live in the driver's.
CLUSTER = """
import json, sys
from pathlib import Path
from pyspark.sql.functions import udf
from rocky.project.adapter import Adapter
from rocky.spark.jobs import jobs_of
from rocky.spark.session import connect_spark

conf = {"spark.driver.memory": "1g", "spark.scheduler.minRegisteredResourcesRatio": "1.0"}
adapter = Adapter(master="local-cluster[2,1,1024]", conf=conf)
connection = connect_spark(adapter, Path(sys.argv[1]))
session, jobs = connection.session, jobs_of(connection)
driver = int(session._jvm.java.lang.ProcessHandle.current().pid())
table = str(Path(sys.argv[1]) / "table")
with jobs.tagged("write"):
    session.range(0, 100000, 1, 8).selectExpr(
        "id", "CAST(reflect('java.lang.ProcessHandle', 'current') AS INT) AS process"
    ).write.parquet(table)
store = session.sparkContext._jsc.sc().statusStore()
(job,) = jobs._jobs("write")
executors = {}
for stage in job["stageIds"]:
    summaries = jobs._read(store.executorSummary(stage, 0))
    executors |= {name: each["outputRecords"] for name, each in summaries.items()}
python = udf(lambda _: sys.executable, "string")
print(json.dumps({
    "kind": connection.kind,
    "executors": executors,
    "processes": [row.process for row in session.read.parquet(table).select("process").distinct().collect()],
    "driver": driver,
    "tasks": jobs.metrics("write").tasks,
    "cpu": jobs.metrics("write").executor_cpu_ms,
    "python": [row[0] for row in session.range(1).select(python("id")).collect()] == [sys.executable],
}))
connection.close()
"""


@pytest.mark.spark
@pytest.mark.server
def test_on_a_cluster_the_executors_write_and_the_driver_does_not(tmp_path):
    if choose_java().from_wheel:
        pytest.skip("executors are started by Spark's launcher: the wheel's Java lacks a module")
    seen = run_script(CLUSTER, str(tmp_path), env={"SPARK_HOME": None, SWITCH: "off"}).answer

    assert "cluster" == seen["kind"]
    assert 100_000 == sum(seen["executors"].values())
    assert "driver" not in seen["executors"]
    assert seen["driver"] not in seen["processes"]
    assert len(seen["executors"]) == len(seen["processes"])
    assert (8, True, True) == (seen["tasks"], seen["cpu"] > 0, seen["python"])
