"""Workspaces in several threads of one process: one Spark, stopped by the last, or a clear refusal."""

import pytest

from tests.spark.projects import write_files
from tests.spark.scripts import OWN_SPARK, run_script

pytestmark = pytest.mark.spark

CONNECTIONS = """
import json
from pathlib import Path

from rocky.errors import AdapterUnusable, SparkUnavailable
from rocky.project.configuration.blocks import Adapter
from rocky.spark.connection import adopt_session
from rocky.spark.java import has_driver
from rocky.spark.session import connect_spark, open_session

one = connect_spark(Adapter(master="local[1]"), Path("/tmp"))
two = connect_spark(Adapter(master="local[1]"), Path("/"))
two.session.range(3).createOrReplaceTempView("of_two")
said = []
try:
    connect_spark(Adapter(master="local[1]", conf={"spark.sql.mapKeyDedupPolicy": "LAST_WIN"}), Path("/tmp"))
except AdapterUnusable as refused:
    said.append(str(refused))
try:
    with open_session():
        pass
except SparkUnavailable as refused:
    said.append(str(refused))
apart = not one.session.catalog.tableExists("of_two")
one.close()
one.close()
alive = two.session.table("of_two").count()
two.close()
try:
    adopt_session(two.session)
except SparkUnavailable as refused:
    said.append(str(refused))
print(json.dumps([said, apart, alive, has_driver()]))
"""

RUNS = """
import json, sys
from threading import Thread
from pathlib import Path

import rocky
from rocky.spark.java import has_driver

found = {}

def work(root):
    try:
        found[root] = rocky.open(root).run().exit_code
    except BaseException as error:
        found[root] = repr(error)

threads = [Thread(target=work, args=(each,)) for each in sys.argv[1:]]
[each.start() for each in threads]
[each.join() for each in threads]
print(json.dumps([list(found.values()), has_driver()]))
"""


@pytest.mark.sampled(OWN_SPARK)
def test_threads_share_one_spark_and_the_last_one_stops_it():
    (other, analyser, stopped), apart, alive, is_left = run_script(CONNECTIONS).answer

    assert "started with another `spark.sql.mapKeyDedupPolicy`" in other or "folder" in other
    assert "a process has one Spark only" in other
    assert "needs a Spark of its own" in analyser
    assert "the session that was handed in was stopped" in stopped
    assert (True, 3, False) == (apart, alive, is_left)


@pytest.mark.sampled(OWN_SPARK)
def test_two_workspaces_run_at_once_in_threads(tmp_path):
    files = {"models/a.sql": "SELECT 1 AS id", "models/b.sql": "SELECT id + 1 AS id FROM a"}
    roots = [str(write_files(tmp_path / name, files)) for name in ("one", "two")]

    assert [[0, 0], False] == run_script(RUNS, *roots).answer
