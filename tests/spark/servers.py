"""A Spark Connect server in a process of its own, for tests that run through one."""

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

from pyspark.find_spark_home import _find_spark_home

from rocky.spark.java import choose_java, class_archive_for
from rocky.spark.jvm import jvm_options
from rocky.spark.settings import start_settings

START_SECONDS = 300


class ConnectServer:
    """A server that is started when somebody asks for its address, and again after a `kill`.

    What it printed is in `folder/log`.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        self._port = 0

    @property
    def address(self) -> str:
        if self._process is None:
            self._start()
        return f"sc://127.0.0.1:{self._port}"

    def kill(self) -> None:
        """End the server at once, if there is one."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def _start(self) -> None:
        java, jars = choose_java(os.environ), Path(_find_spark_home()) / "jars"
        flags = jvm_options(java, start_settings({}, local=True))
        # Class data that a run has left starts a server sooner too.
        classes = class_archive_for(java, jars, flags, os.environ)
        if classes is not None and classes.exists:
            flags = [*classes.options(), *flags]
        with socket.create_server(("127.0.0.1", 0)) as free:
            self._port = free.getsockname()[1]
        settings = {
            "spark.master": "local[2]",
            "spark.ui.enabled": "false",
            "spark.driver.host": "127.0.0.1",
            "spark.connect.grpc.binding.port": str(self._port),
            "spark.connect.progress.reportInterval": "100ms",
            "spark.sql.warehouse.dir": str(self._folder / "catalogue"),
        }
        options = [
            word for name, value in settings.items() for word in ("--conf", f"{name}={value}")
        ]
        environment = {name: text for name, text in os.environ.items() if name != "SPARK_REMOTE"}
        # The server's own: executors must find pyspark, and need not find Rocky.
        environment |= {"PYSPARK_PYTHON": sys.executable, "PYTHONPATH": ""}
        log = self._folder / "log"
        with log.open("w") as printed:
            self._process = subprocess.Popen(
                [
                    *(java.program, "-Xmx1g", *flags, "-cp", str(jars / "*")),
                    *("org.apache.spark.deploy.SparkSubmit", *options, "--class"),
                    *("org.apache.spark.sql.connect.service.SparkConnectServer", "spark-internal"),
                ],
                stdout=printed,
                stderr=subprocess.STDOUT,
                cwd=self._folder,
                env=environment,
            )
        _wait(self._process, self._port, log)


def _wait(server: subprocess.Popen[bytes], port: int, log: Path) -> None:
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
