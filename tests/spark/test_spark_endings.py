"""Real JVMs that will not start, are killed or hang: what is told, recorded and kept."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rocky.operations.records.history import HistoryRequest, history
from rocky.operations.workspace import Workspace
from tests.run.runs import verify
from tests.spark.projects import write_files
from tests.spark.scripts import OWN_SPARK, SOURCES, run_script

pytestmark = [pytest.mark.spark, pytest.mark.slow]

SLOW = "SELECT count(*) AS n FROM range(4000000000) AS t CROSS JOIN range(1000) AS u JOIN a ON a.id = t.id % 2\n"
CONFIG = """\
[adapter]
type = "spark"
master = "local[1]"
warehouse = "warehouse"

[adapter.conf]
"spark.driver.memory" = "512m"
"spark.app.name" = "${NAME}"
"""


def rocky(root: Path, *arguments: str) -> subprocess.Popen[str]:
    with (root / "err.txt").open("w") as err:
        return subprocess.Popen(
            [sys.executable, "-m", "rocky.cli", "-c", str(root), "-o", "table", *arguments],
            stdout=subprocess.PIPE,
            stderr=err,
            text=True,
            env={**os.environ, "PYTHONPATH": str(SOURCES), "NAME": "hunter2hunter2"},
        )


def jvms_below(process: int) -> list[int]:
    """The JVMs among a process and all its children."""
    found = []
    for each in Path("/proc").glob("[0-9]*"):
        try:
            stat, name = (each / "stat").read_text(), (each / "comm").read_text().strip()
        except OSError:
            continue
        parent = int(stat.rpartition(")")[2].split()[1])
        if parent == process:
            found += [int(each.name)] if name == "java" else []
            found += jvms_below(int(each.name))
    return found


def wait_until(text: str, path: Path, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 300
    while text not in path.read_text():
        assert process.poll() is None, path.read_text()
        assert time.monotonic() < deadline, path.read_text()
        time.sleep(0.1)


@pytest.mark.sampled(OWN_SPARK)
def test_a_jvm_killed_in_mid_run_leaves_a_whole_account(tmp_path):
    root = write_files(
        tmp_path,
        {
            "rocky.toml": CONFIG,
            "models/a.sql": "SELECT id FROM range(2)\n",
            "models/b.sql": SLOW,
            "models/c.sql": "SELECT n FROM b\n",
        },
    )
    process = rocky(root, "run")
    wait_until("built  a", root / "err.txt", process)
    time.sleep(0.5)
    (jvm,) = jvms_below(process.pid)
    os.kill(jvm, signal.SIGKILL)
    out, _ = process.communicate(timeout=120)
    (run,) = history(Workspace(root, environment=os.environ), HistoryRequest()).runs
    log = root / ".rocky" / "logs" / f"{run.run_id}.log"

    assert 2 == process.returncode, out
    assert "error: b: Spark's process was killed (SIGKILL)\n" in out
    assert (
        "error: Spark's process was killed (SIGKILL) while building `b`; what was built before is"
        " recorded\n"
    ) in out
    assert f"log: .rocky/logs/{run.run_id}.log\n" in out
    assert {"a": "success", "b": "failed", "c": "skipped"} == {
        each.model_name: each.status.value for each in run.models
    }
    assert [] == verify(root)
    assert "Traceback" in log.read_text()
    assert "hunter2" not in log.read_text()
    assert "Traceback" not in out + (root / "err.txt").read_text()


# Each try is a whole run of a project in a process of its own, one after the other.
STARTS = """
import json, sys
from pathlib import Path
import rocky
from rocky.errors import RockyError
from rocky.spark import jvm, session

session.SESSION_SECONDS = {"local": 300, "cluster": 600}
root, told = Path(sys.argv[1]), {}
for name, config in json.loads(sys.argv[2]).items():
    (root / "rocky.toml").write_text(config)
    jvm.START_SECONDS = 4 if name == "hangs" else 300
    try:
        rocky.open(root).run()
        told[name] = "it ran"
    except RockyError as failure:
        told[name] = str(failure)
print(json.dumps(told))
"""
IVY = """\
<ivysettings>
  <settings defaultResolver="here"/>
  <resolvers><filesystem name="here"><artifact pattern="{root}/[module]-[revision].jar"/></filesystem></resolvers>
</ivysettings>
"""
_HEAD = '[adapter]\ntype = "spark"\nwarehouse = "warehouse"\n'


def config_of(*settings: str, master: str = "local[1]") -> str:
    return f'{_HEAD}master = "{master}"\n[adapter.conf]\n' + "\n".join(settings) + "\n"


@pytest.mark.sampled(OWN_SPARK)
def test_a_spark_that_will_not_start_says_why_where_and_what_to_do(tmp_path):
    root = write_files(tmp_path, {"models/a.sql": "SELECT 1 AS id\n"})
    ivy = root / "ivy.xml"
    ivy.write_text(IVY.format(root=root))
    configs = {
        "heap": config_of('"spark.driver.memory" = "100000t"'),
        "options": config_of('"spark.driver.extraJavaOptions" = "-agentlib:nowhere"'),
        "package": config_of(
            '"spark.jars.packages" = "org.nowhere:nothing_2.13:1.0"',
            f'"spark.jars.ivySettings" = "{ivy}"',
        ),
        "hangs": config_of(
            '"spark.driver.extraJavaOptions" = "-agentlib:jdwp=transport=dt_socket,server=y,suspend=y"'
        ),
    }
    told = run_script(STARTS, str(root), json.dumps(configs)).answer
    lines = {name: text.splitlines() for name, text in told.items()}

    assert lines["heap"][0].startswith("Spark would not start: Could not reserve enough space for ")
    assert "  --> rocky.toml:6: `spark.driver.memory = 100000t`" == lines["heap"][1]
    assert "  = help: write a size such as `2g` that the machine has" == lines["heap"][2]
    assert "Spark would not start: Could not find agent library nowhere" in lines["options"][0]
    assert (
        "  --> rocky.toml:6: `spark.driver.extraJavaOptions = -agentlib:nowhere`" in told["options"]
    )
    assert (
        "Spark would not start: unresolved dependency: org.nowhere#nothing_2.13;1.0: not found"
    ) == lines["package"][0]
    assert (
        "  --> rocky.toml:6: `spark.jars.packages = org.nowhere:nothing_2.13:1.0`"
        in told["package"]
    )
    assert lines["hangs"][0].startswith("Spark did not start in 4 seconds: ")
    logs = {path.name: path.read_text() for path in (root / ".rocky" / "logs").glob("*.log")}
    assert len(configs) == len(logs)
    assert any("unresolved dependency" in text for text in logs.values())
    for text in told.values():
        assert "  = log: .rocky/logs/run-" in text
    runs = history(Workspace(root, environment=os.environ), HistoryRequest(audit=True)).runs
    assert set(told.values()) == {run.audit.reason for run in runs}


HANG = """
import json, os, signal, socket, threading
from pathlib import Path
from rocky.errors import SparkUnavailable
from rocky.project.configuration.blocks import Adapter
from rocky.spark import session
from rocky.spark.failures import SPARK_ERRORS
from rocky.spark.heartbeat import Heartbeat

session.SESSION_SECONDS = {"local": 300, "cluster": 3}
conf = {"spark.driver.memory": "512m"}
told = {}
with socket.create_server(("127.0.0.1", 0)) as silent:
    port = silent.getsockname()[1]
    try:
        session.connect_spark(Adapter(master=f"spark://127.0.0.1:{port}", conf=conf), Path.cwd())
    except SparkUnavailable as failure:
        told["master"], told["port"] = str(failure), port
connection = session.connect_spark(Adapter(master="local[1]", conf=conf), Path.cwd())
try:
    # Of an error in an expression of the DataFrame API, pyspark logs the whole stack.
    frame = connection.session.range(3)
    frame.select(frame.id / (frame.id - frame.id)).collect()
except SPARK_ERRORS as failure:
    told["data"] = connection.explain(failure).kind.value
threading.Timer(0.5, lambda: os.killpg(connection.jvm.process.pid, signal.SIGSTOP)).start()
Heartbeat(connection.jvm, silence=1, tick=0.2)
try:
    connection.session.range(10**15).selectExpr("sum(id * 2)").collect()
except (*SPARK_ERRORS, OSError) as failure:
    told["silence"] = connection.explain(failure).message
connection.close()
print(json.dumps(told))
"""


@pytest.mark.sampled(OWN_SPARK)
def test_a_master_that_says_nothing_and_a_jvm_that_hangs_are_given_up():
    said = run_script(HANG)
    told = said.answer

    assert told["master"].startswith(
        f"Spark did not start on `spark://127.0.0.1:{told['port']}` in 3 seconds: "
    )
    assert "Spark's process did not answer for 1 seconds and was ended" == told["silence"]
    assert ("data_error", "") == (told["data"], said.err)


NO_MASTER = """
import json
import threading
from http.server import HTTPServer, SimpleHTTPRequestHandler
from pathlib import Path
from rocky.errors import SparkUnavailable
from rocky.project.configuration.blocks import Adapter
from rocky.spark import session

page = HTTPServer(("127.0.0.1", 0), SimpleHTTPRequestHandler)
threading.Thread(target=page.serve_forever, daemon=True).start()
master = f"spark://127.0.0.1:{page.server_port}"
try:
    session.connect_spark(Adapter(master=master), Path.cwd())
except SparkUnavailable as failure:
    print(json.dumps([str(failure).replace(master, "MASTER"), failure.settings, failure.advice]))
"""


@pytest.mark.exhaustive
def test_what_listens_and_is_no_master_is_told_as_that():
    message, settings, advice = run_script(NO_MASTER).answer

    assert ("nothing at `MASTER` answers as a Spark master", ["master"]) == (message, settings)
    assert advice.startswith("check the address: the port is the master's own (7077)")


MEMORY = """
import json
from pathlib import Path
from rocky.project.configuration.blocks import Adapter
from rocky.spark import session
from rocky.spark.failures import SPARK_ERRORS

conf = {"spark.driver.memory": "512m", "spark.sql.shuffle.partitions": "1"}
connection = session.connect_spark(Adapter(master="local[1]", conf=conf), Path.cwd())
try:
    connection.session.range(2000).selectExpr("collect_list(concat(id, repeat('x', 1000000)))").collect()
except (*SPARK_ERRORS, OSError) as failure:
    found = connection.explain(failure)
connection.close()
print(json.dumps([found.kind.value, found.message]))
"""


@pytest.mark.exhaustive
def test_a_heap_that_is_full_is_told_as_out_of_memory():
    kind, message = run_script(MEMORY).answer

    assert "out_of_memory" == kind
    assert "ut of memory" in message or "OutOfMemory" in message or "heap" in message
