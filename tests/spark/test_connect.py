"""Spark Connect and addresses: one clear line when nobody answers, and a real server that does."""

import socket

import pytest

from rocky.errors import AdapterUnusable, SparkUnavailable
from rocky.spark.connection import check_master, check_remote
from tests.spark.scripts import run_script


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch):
    for name in ("grpc_proxy", "https_proxy", "http_proxy", "HTTPS_PROXY", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)


def check_without_proxy(address: str) -> None:
    check_remote(address, {})


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


@pytest.mark.parametrize(
    ("check", "address", "what"),
    [
        (check_without_proxy, "sc://127.0.0.1:{port}", "Spark Connect"),
        (check_master, "spark://127.0.0.1:{port}", "a Spark master"),
    ],
)
def test_a_refused_connection_is_one_line_that_names_the_address(check, address, what):
    port = free_port()
    with pytest.raises(SparkUnavailable) as refused:
        check(address.format(port=port))

    assert (
        f"nothing listens at `127.0.0.1:{port}`: start {what} there or correct the address"
    ) == str(refused.value)


def test_a_host_that_is_not_known_is_named():
    with pytest.raises(SparkUnavailable) as refused:
        check_without_proxy("sc://no-such-host.invalid")

    assert (
        "`no-such-host.invalid` is not a known host: check the address of Spark Connect"
    ) == str(refused.value)


def test_nothing_is_asked_where_a_proxy_may_stand_in_between():
    check_remote(f"sc://127.0.0.1:{free_port()}", {"https_proxy": "http://proxy"})


@pytest.mark.parametrize(
    ("check", "address"),
    [
        (check_without_proxy, "localhost:15002"),
        (check_without_proxy, "http://localhost"),
        (check_master, "spark://localhost"),
    ],
)
def test_what_is_no_address_is_refused_with_the_shape_of_one(check, address):
    with pytest.raises(AdapterUnusable, match=r"write `(sc://host:port|spark://host:7077)`"):
        check(address)


def test_of_several_masters_one_that_answers_is_enough():
    with socket.create_server(("127.0.0.1", 0)) as standing_by:
        port = standing_by.getsockname()[1]
        check_master(f"spark://127.0.0.1:{free_port()},127.0.0.1:{port}")
        check_master("yarn")


SAID = """
import json, sys
from pathlib import Path
from rocky.errors import RockyError
from rocky.project.configuration.blocks import Adapter
from rocky.spark.session import connect_spark

def said(remote):
    try:
        connect_spark(Adapter(remote=remote), Path.cwd())
    except RockyError as failure:
        return str(failure)
"""


@pytest.mark.slow
def test_without_the_packages_of_connect_the_extra_is_named():
    hide = "import sys; sys.modules['grpc'] = None\n"
    answer = run_script(hide + SAID + "print(json.dumps(said('sc://127.0.0.1:1')))").answer

    assert answer.startswith(
        "`remote` needs the packages of Spark Connect: pip install 'rocky-spark[connect]'"
    )
    assert "\n" not in answer


# A server that speaks Spark Connect and says that it is another version, or says nothing of use.
OTHER = (
    SAID
    + """
from concurrent.futures import ThreadPoolExecutor
import grpc
from pyspark.sql.connect import proto
from pyspark.sql.connect.proto import base_pb2_grpc

class Older(base_pb2_grpc.SparkConnectServiceServicer):
    def AnalyzePlan(self, request, context):
        answer = proto.AnalyzePlanResponse(session_id=request.session_id)
        answer.spark_version.version = "3.5.1"
        return answer
    def ReleaseSession(self, request, context):
        return proto.ReleaseSessionResponse(session_id=request.session_id)

def answers(service):
    server = grpc.server(ThreadPoolExecutor(2))
    base_pb2_grpc.add_SparkConnectServiceServicer_to_server(service, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        return said(f"sc://127.0.0.1:{port}").replace(str(port), "PORT")
    finally:
        server.stop(None)

print(json.dumps([answers(Older()), answers(base_pb2_grpc.SparkConnectServiceServicer())]))
"""
)


@pytest.mark.slow
@pytest.mark.server
def test_a_server_of_another_version_and_one_that_is_no_spark_are_each_one_line():
    older, no_spark = run_script(OTHER).answer

    assert (
        "the server at `sc://127.0.0.1:PORT` is Spark 3.5.1, and Rocky needs Spark 4.1"
    ) == older
    assert no_spark.startswith(
        "the server at `sc://127.0.0.1:PORT` does not answer as Spark Connect: "
    )
    assert "\n" not in no_spark


# A real server in a JVM of its own, and everything a run does with it.
SERVER = """
import json, os, socket, subprocess, sys, tempfile, threading, time
from pathlib import Path
from pyspark.find_spark_home import _find_spark_home
from rocky.errors import RockyError
from rocky.project.configuration.blocks import Adapter
from rocky.spark.connection import adopt_session
from rocky.spark.failures import classify_failure, SPARK_ERRORS
from rocky.spark.java import choose_java
from rocky.spark.jobs import jobs_of
from rocky.spark.jvm import jvm_options
from rocky.spark.session import connect_spark

folder = Path(sys.argv[1])
java, jars = choose_java(os.environ), Path(_find_spark_home()) / "jars" / "*"
with socket.create_server(("127.0.0.1", 0)) as free:
    port = free.getsockname()[1]
settings = {
    "spark.master": "local[2]", "spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1",
    "spark.connect.grpc.binding.port": port, "spark.connect.progress.reportInterval": "100ms",
    "spark.sql.warehouse.dir": folder / "catalogue",
}
server = subprocess.Popen(
    [
        java.program, "-Xmx1g", *jvm_options(java, {}), "-cp", str(jars),
        "org.apache.spark.deploy.SparkSubmit",
        *(word for name, value in settings.items() for word in ("--conf", f"{name}={value}")),
        "--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "spark-internal",
    ],
    stdout=(folder / "log").open("w"), stderr=subprocess.STDOUT, cwd=folder,
)

def failure_of(call):
    try:
        call()
    except (RockyError, *SPARK_ERRORS) as failure:
        return str(failure) if isinstance(failure, RockyError) else classify_failure(failure)

def noop(frame):
    frame.write.format("noop").mode("overwrite").save()

try:
    while True:
        assert server.poll() is None, (folder / "log").read_text()
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            break
        except OSError:
            time.sleep(0.2)
    remote = f"sc://127.0.0.1:{port}"
    conf = {"spark.sql.shuffle.partitions": "3"}
    connection = connect_spark(Adapter(remote=remote, conf=conf), Path.cwd())
    session, jobs, seen = connection.session, jobs_of(connection), {}
    seen["kind"] = connection.kind
    seen["settings"] = dict(connection.facts.settings)
    seen["shuffle"] = session.conf.get("spark.sql.shuffle.partitions")
    with jobs.tagged("write"):
        session.range(0, 500000, 1, 2).selectExpr("id", "uuid() AS u").write.parquet(str(folder / "t"))
    with jobs.tagged("read"):
        seen["rows"] = session.read.parquet(str(folder / "t")).groupBy("u").count().count()
    seen["unknown"] = jobs.metrics("read").executor_cpu_ms
    seen["never"] = jobs.metrics("never").tasks
    done, known = jobs.progress("read")
    seen["progress"] = 0 <= done <= known
    seen["data"] = failure_of(lambda: noop(session.range(3).selectExpr("1 / (id - 1)"))).kind.value
    seen["refused"] = failure_of(lambda: session.sql("SELECT nope").schema).kind.value
    static = Adapter(remote=remote, conf={"spark.executor.memory": "3g"})
    seen["static"] = failure_of(lambda: connect_spark(static, Path.cwd()))
    cancelled = []
    def slow():
        sleep = "java_method('java.lang.Thread', 'sleep', 600000L + id)"
        with jobs.tagged("slow"):
            cancelled.append(failure_of(lambda: noop(session.range(0, 1, 1, 1).selectExpr(sleep))))
    thread = threading.Thread(target=slow)
    thread.start()
    while not jobs.progress("slow")[1]:
        time.sleep(0.05)
    jobs.cancel("slow")
    thread.join()
    seen["cancelled"] = cancelled[0].kind.value
    from pyspark.sql.connect.session import SparkSession
    mine = SparkSession(connection=remote)
    mine.conf.set("spark.sql.session.timeZone", "Europe/Paris")
    adopted = adopt_session(mine)
    adopted.session.range(3).createOrReplaceTempView("of_rocky")
    seen["adopted"] = [adopted.kind, adopted.facts.settings["spark.sql.session.timeZone"]]
    adopted.close()
    seen["zone"] = mine.conf.get("spark.sql.session.timeZone")
    seen["hidden"] = not mine.catalog.tableExists("of_rocky")
    mine.stop()
    server.kill()
    server.wait()
    session.client.set_retry_policies([])
    seen["lost"] = failure_of(lambda: session.range(3).count()).kind.value
    session.release_session_on_close = False
    connection.close()
    print(json.dumps(seen))
finally:
    server.kill()
    server.wait()
"""


@pytest.mark.spark
@pytest.mark.server
def test_a_run_through_spark_connect_is_isolated_counted_and_can_be_cancelled(tmp_path):
    said = run_script(SERVER, str(tmp_path))
    seen = said.answer

    assert "" == said.err
    assert ("connect", "3", 500_000) == (seen["kind"], seen["shuffle"], seen["rows"])
    assert "true" == seen["settings"]["spark.sql.ansi.enabled"]
    assert "TIMESTAMP_MICROS" == seen["settings"]["spark.sql.parquet.outputTimestampType"]
    assert (None, None, True) == (seen["unknown"], seen["never"], seen["progress"])
    assert ("data_error", "query_rejected", "cancelled", "connection_lost") == (
        seen["data"],
        seen["refused"],
        seen["cancelled"],
        seen["lost"],
    )
    assert seen["static"].startswith("`spark.executor.memory` cannot be set on a Spark that is")
    assert (["connect", "UTC"], "Europe/Paris", True) == (
        seen["adopted"],
        seen["zone"],
        seen["hidden"],
    )
