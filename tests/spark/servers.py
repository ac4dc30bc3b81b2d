"""A Spark Connect server in a process of its own, for tests that run through one."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from pyspark.find_spark_home import _find_spark_home

from rocky.spark.java import choose_java
from rocky.spark.jvm import jvm_options

START_SECONDS = 300


@contextmanager
def connect_server(folder: Path, conf: Mapping[str, str] | None = None) -> Iterator[str]:
    """The address of a server that is ended afterwards; what it printed is in `folder/log`."""
    folder.mkdir(parents=True, exist_ok=True)
    java, jars = choose_java(os.environ), Path(_find_spark_home()) / "jars" / "*"
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    settings = {
        "spark.master": "local[2]",
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
        "spark.connect.progress.reportInterval": "100ms",
        "spark.sql.warehouse.dir": str(folder / "catalogue"),
        **(conf or {}),
    }
    options = [word for name, value in settings.items() for word in ("--conf", f"{name}={value}")]
    environment = {name: text for name, text in os.environ.items() if name != "SPARK_REMOTE"}
    # The server's own: executors must find pyspark, and need not find Rocky.
    environment |= {"PYSPARK_PYTHON": sys.executable, "PYTHONPATH": ""}
    with (folder / "log").open("w") as log:
        server = subprocess.Popen(
            [
                *(java.program, "-Xmx1g", *jvm_options(java, {}), "-cp", str(jars)),
                *("org.apache.spark.deploy.SparkSubmit", *options, "--class"),
                *("org.apache.spark.sql.connect.service.SparkConnectServer", "spark-internal"),
            ],
            stdout=log,
            stderr=subprocess.STDOUT,
            cwd=folder,
            env=environment,
        )
    try:
        _wait(server, port, folder / "log")
        yield f"sc://127.0.0.1:{port}"
    finally:
        server.kill()
        server.wait()


def _wait(server: subprocess.Popen, port: int, log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        assert server.poll() is None, log.read_text()
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.2)
        else:
            return
    raise AssertionError(f"no server after {START_SECONDS} seconds: {log.read_text()}")
