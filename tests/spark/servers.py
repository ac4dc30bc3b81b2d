"""Sparks in processes of their own, for tests that run on one: a Spark Connect server, a standalone cluster."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from pyspark.find_spark_home import _find_spark_home

from rocky.spark.java import choose_java, class_archive_for
from rocky.spark.jvm import jvm_options
from rocky.spark.settings import start_settings

START_SECONDS = 300


class ConnectServer:
    """A server that is started when somebody asks for its address, and again after a `kill`.

    What it printed is in `folder/log`. `settings` are Spark's, and go before those of a test's server.
    """

    def __init__(self, folder: Path, settings: Mapping[str, str] | None = None) -> None:
        self._folder = folder
        self._settings = settings or {}
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
            **self._settings,
        }
        options = [
            word for name, value in settings.items() for word in ("--conf", f"{name}={value}")
        ]
        environment = {name: text for name, text in os.environ.items() if name != "SPARK_REMOTE"}
        # The server's own: executors must find pyspark, and need not find Rocky.
        environment["PYTHONPATH"] = ""
        environment["PYSPARK_PYTHON"] = self._settings.get("spark.pyspark.python", sys.executable)
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


class StandaloneCluster:
    """A standalone master and workers on loopback, one core each; executors die with their worker.

    Executors are started as `python` says, which need have nothing installed.
    """

    def __init__(self, folder: Path, python: Path, workers: int = 2, memory: str = "1g") -> None:
        self._folder = folder
        self._python = python
        self._memory = memory
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._port, page = _free_port(), _free_port()
        self._start(
            *("master", "master.Master", "127.0.0.1"),
            *("--port", str(self._port), "--webui-port", str(page)),
        )
        _wait(self._processes["master"], self._port, folder / "master.log")
        self.workers = [f"worker-{number}" for number in range(workers)]
        self.mend()

    @property
    def address(self) -> str:
        return f"spark://127.0.0.1:{self._port}"

    @property
    def groups(self) -> dict[str, int]:
        """The process group of each worker and its executors, to be killed."""
        return {name: self._processes[name].pid for name in self.workers}

    def mend(self) -> None:
        """Start workers that are not running."""
        for name in self.workers:
            running = self._processes.get(name)
            if running is None or running.poll() is not None:
                self._start_worker(name)

    def stop(self) -> None:
        for process in self._processes.values():
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def _start_worker(self, name: str) -> None:
        log = self._folder / f"{name}.log"
        self._start(
            name,
            "worker.Worker",
            # A host of its own: Spark tries a slow task again on another one only.
            f"127.0.0.{self.workers.index(name) + 2}",
            *("--cores", "1", "--memory", self._memory, "--webui-port", str(_free_port())),
            *("--work-dir", str(self._folder / name), self.address),
        )
        deadline = time.monotonic() + START_SECONDS
        while "Successfully registered with master" not in log.read_text():
            assert self._processes[name].poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.2)

    def _start(self, name: str, main: str, host: str, *arguments: str) -> None:
        java, home = choose_java(os.environ), Path(_find_spark_home())
        scala = next((home / "jars").glob("spark-core_*.jar")).name.split("_")[1].partition("-")[0]
        kept = ("HOME", "LANG", "TMPDIR")
        environment = {each: os.environ[each] for each in kept if each in os.environ}
        # A machine of its own: no Rocky, none of its libraries, and a Python that has none either.
        environment |= {
            "JAVA_HOME": str(java.home),
            "SPARK_HOME": str(home),
            "SPARK_SCALA_VERSION": scala,
            "SPARK_NO_DAEMONIZE": "1",
            "PATH": f"{self._python.parent}:/usr/bin:/bin",
        }
        with (self._folder / f"{name}.log").open("w") as log:
            self._processes[name] = subprocess.Popen(
                [
                    *(java.program, "-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"),
                    *jvm_options(java, {}),
                    *("-cp", str(home / "jars" / "*"), f"org.apache.spark.deploy.{main}"),
                    *("--host", host, *arguments),
                ],
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=self._folder,
                env=environment,
                start_new_session=True,
            )


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])
