"""Addresses of Spark: one clear line when nobody answers there, or not as Spark Connect."""

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
    assert no_spark.startswith("the server at `127.0.0.1:PORT` does not answer as Spark Connect: ")
    assert "\n" not in no_spark


SILENT = (
    SAID
    + """
import socket, time
from rocky.spark import connection

connection._SERVER_SECONDS = 2
began = time.monotonic()
with socket.create_server(("127.0.0.1", 0)) as silent:
    port = silent.getsockname()[1]
    answer = said(f"sc://127.0.0.1:{port}/;token=hunter2").replace(str(port), "PORT")
print(json.dumps([answer, time.monotonic() - began]))
"""
)


@pytest.mark.slow
@pytest.mark.server
def test_a_server_that_takes_the_call_and_says_nothing_is_given_up():
    answer, seconds = run_script(SILENT).answer

    assert (
        "the server at `127.0.0.1:PORT` does not answer as Spark Connect: no answer in 2 seconds"
    ) == answer
    assert seconds < 60
