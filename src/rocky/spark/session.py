"""Sessions: a Spark of our own, quiet and with the settings that Rocky pins; and its connectors.

One process has at most one Spark driver. If one is running already, a connection shares it through
a session of its own; who started it stops it, and of several threads of ours the last one.

Rocky reads and writes tables by their location and needs Delta's connector only to register them in
Spark's catalogue. How long a registration lasts is the catalogue's affair; that of a local Spark
without a metastore ends with the session. For S3 Spark needs a client that it comes without:
without the look here, the first model would fail with the name of a Java class. Through Connect
nobody can look: the server's administrator has to know.
"""

import atexit
import shutil
import signal
import sys
import tempfile
import threading
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

from py4j.protocol import Py4JError
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from rocky.errors import AdapterUnusable, SparkUnavailable
from rocky.language.names import quote_name, quote_text
from rocky.project.configuration.blocks import Adapter
from rocky.spark.connection import (
    Connection,
    adopt_session,
    check_master,
    check_version,
    is_classic,
    kind_of,
    open_remote,
    silence_refusals,
    silent_master,
)
from rocky.spark.deadline import DeadlinePassed, within
from rocky.spark.driver import STARTING, Driver
from rocky.spark.failures import SPARK_ERRORS, classify_failure
from rocky.spark.heartbeat import Heartbeat
from rocky.spark.interface import FailureKind
from rocky.spark.java import OWN_JAR, choose_java
from rocky.spark.jvm import Jvm, launch_jvm, start_failure
from rocky.spark.output import blamed_settings
from rocky.spark.settings import check_conf, process_environment, start_settings

DEFAULT_MASTER: Final = "local[*]"
ANALYSER: Final = "local[1]"
SESSION_SECONDS: Final = {"local": 300, "cluster": 600}
"""How long a JVM that is up may take to have a session, which a cluster may let it wait for."""
_STOP_SECONDS: Final = 60

# Analysis makes no tasks, and a few partitions keep the odd local job short.
SMALL: Final[Mapping[str, str]] = {
    "spark.driver.memory": "1g",
    "spark.sql.shuffle.partitions": "1",
}


def connect_spark(adapter: Adapter, root: Path) -> Connection:
    """The Spark that `[adapter]` asks for. Relative paths in its settings start at `root`.

    Raises SparkUnavailable, AdapterUnusable.
    """
    if adapter.master and adapter.remote:
        raise AdapterUnusable(
            "`[adapter]` has both `master` and `remote`: keep the one that models run on"
        )
    check_conf(adapter.conf)
    if adapter.remote:
        return open_remote(adapter.remote, adapter.conf, process_environment())
    master = adapter.master or DEFAULT_MASTER
    asked = {"spark.master": master, **adapter.conf}
    if adapter.conf:
        # Paths in settings start there.
        asked["folder of the project"] = str(root.absolute())
    with STARTING:
        ours = _OURS[-1] if _OURS else None
        if ours is not None and ours.is_running:
            return ours.connect(asked, adapter.conf)
        running = SparkContext._active_spark_context  # noqa: SLF001 - asking must not start one
        if running is not None:
            return _share_driver(running, adapter)
        check_master(master)
        session, jvm = _start(master, adapter.conf, root, record=True)
        driver = Driver(session, kind_of(master), jvm, asked, _Stop(session, jvm))
        _OURS[:] = [driver]
        return driver.connect(asked, adapter.conf)


_OURS: Final[list[Driver]] = []
"""The driver that was started here last."""


@contextmanager
def open_session() -> Iterator[SparkSession]:
    """A session that is stopped at the end. Raises SparkUnavailable, also where Spark runs."""
    with STARTING:
        running = SparkContext._active_spark_context  # noqa: SLF001 - as above
        if running is not None:
            raise SparkUnavailable(
                "Spark's analyser needs a Spark of its own, and this process runs one on"
                f" `{running.master}` already: stop that, or ask in another process"
            )
        session, jvm = _start(ANALYSER, SMALL, Path.cwd(), record=False)
    stop = _Stop(session, jvm)
    try:
        yield session
    finally:
        with STARTING:
            stop()


class _Stop:
    """Stops a session and its JVM, once. Until then the JVM is watched."""

    def __init__(self, session: SparkSession, jvm: Jvm | None) -> None:
        self._session = session
        self._jvm = jvm
        self._heartbeat = None if jvm is None else Heartbeat(jvm)
        self._done = False

    def __call__(self) -> None:
        if self._done:
            return
        self._done = True
        if self._heartbeat is not None:
            self._heartbeat.stop()
        try:
            # pyspark warns of a JVM that is gone; it is what was wanted.
            with suppress(Py4JError, OSError), warnings.catch_warnings(action="ignore"):
                within(_STOP_SECONDS, self._session.stop)
        except DeadlinePassed:
            if self._jvm is not None:
                self._jvm.kill()
        finally:
            if self._jvm is not None:
                self._jvm.end()


def _share_driver(running: SparkContext, adapter: Adapter) -> Connection:
    """A session of our own on a Spark that runs in this process already."""
    if adapter.master and kind_of(adapter.master) != kind_of(running.master):
        raise AdapterUnusable(
            f'`master = "{adapter.master}"` cannot be started, because this process already runs'
            f" Spark on `{running.master}`: stop that one first, or pass its session"
        )
    return adopt_session(SparkSession(running), adapter.conf)


def _start(
    master: str, conf: Mapping[str, str], root: Path, *, record: bool
) -> tuple[SparkSession, Jvm | None]:
    """A session on a master, and the JVM if one had to be launched for it."""
    settings = start_settings(conf, local=kind_of(master) == "local")
    settings["spark.master"] = master
    settings.setdefault("spark.app.name", "rocky")
    jvm, environment = None, process_environment()
    if SparkContext._gateway is None:  # noqa: SLF001 - a JVM outlives the sessions in it
        java = choose_java(environment)
        jvm = launch_jvm(java, settings, root, environment, record=record)
        scratch = jvm.scratch
    else:
        scratch = Path(tempfile.mkdtemp(prefix="rocky-spark-"))
        atexit.register(shutil.rmtree, scratch, ignore_errors=True)
    # Tables of Spark's own catalogue are never Rocky's; they must not land in the project.
    settings.setdefault("spark.sql.warehouse.dir", str(scratch / "catalogue"))
    watch = _StartWatch(jvm, SESSION_SECONDS[kind_of(master)])
    try:
        with watch:
            session = _session(settings, environment)
    except (PySparkException, Py4JError, OSError, RuntimeError) as failure:
        # Before the JVM ends: it has to be asked what the exception says.
        refused = _refusal(failure, jvm, master, conf, watch)
        if jvm is not None:
            jvm.end()
        raise refused from failure
    try:
        home = environment.get("SPARK_HOME")
        hint = f": unset SPARK_HOME, which is `{home}`" if home else ""
        check_version(session.version, "what was started", hint)
    except SparkUnavailable:
        _Stop(session, jvm)()
        raise
    return session, jvm


class _StartWatch:
    """Ends a JVM whose start takes too long: whoever waits for an answer of it gets an error."""

    def __init__(self, jvm: Jvm | None, seconds: float) -> None:
        self.seconds = seconds
        self.expired = False
        self._jvm = jvm
        self._timer = threading.Timer(seconds, self._expire)
        self._timer.daemon = True

    def __enter__(self) -> None:
        if self._jvm is not None:
            self._timer.start()

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()

    def _expire(self) -> None:
        self.expired = True
        if self._jvm is not None:
            self._jvm.kill()


def _refusal(
    failure: BaseException,
    jvm: Jvm | None,
    master: str,
    conf: Mapping[str, str],
    watch: _StartWatch,
) -> SparkUnavailable:
    """Why there is no session, in Spark's words, and which settings it is about."""
    output = jvm.output if jvm is not None else ""
    asked = {"master": master, **conf}
    if watch.expired:
        said = f"Spark did not start on `{master}` in {watch.seconds:g} seconds"
        return start_failure(said, output, asked)
    silent = silent_master(master, output)
    if silent is not None:
        return silent
    said = f"Spark would not start on `{master}`"
    known = classify_failure(failure)
    if jvm is not None and known.kind is FailureKind.CONNECTION_LOST:
        # It gave up before it was asked anything; why is in its log only.
        return start_failure(said, output, asked, jvm.ending(wait=True))
    blamed, advice = blamed_settings(known.message, asked)
    return SparkUnavailable(
        f"{said}: {known.message}", settings=blamed, advice=advice, output=output
    )


def _session(settings: Mapping[str, str], environment: Mapping[str, str]) -> SparkSession:
    conf: Any = SparkConf()
    for name, value in settings.items():
        conf.set(name, value)
    silence_refusals()
    # Not the builder: it would turn to Spark Connect when the environment names a remote.
    with _own_interrupts():
        context = SparkContext(conf=conf)
    context.setLogLevel("ERROR")
    python = _python(settings, environment)
    if python is not None:
        context.pythonExec = python
    if kind_of(settings["spark.master"]) == "cluster":
        # The driver has it on its class path; executors fetch it with their first task.
        context._jsc.addJar(OWN_JAR.as_uri())  # noqa: SLF001 - not in Python
    session = SparkSession(context)
    for name, value in settings.items():
        # Spark takes only names that begin with its own from a start.
        if not name.startswith("spark."):
            session.conf.set(name, value)
    return session


@contextmanager
def _own_interrupts() -> Iterator[None]:
    """Ctrl-C stays ours: a Spark context would cancel every job and leave nothing recorded."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _python(settings: Mapping[str, str], environment: Mapping[str, str]) -> str | None:
    """The Python of the executors; None leaves the choice to pyspark."""
    if "PYSPARK_PYTHON" in environment:
        return None
    named = settings.get("spark.pyspark.python")
    if named is None and settings["spark.master"].startswith("local"):
        # On this machine it is the one we run in: `python3` may be another, without pyspark.
        return sys.executable
    return named


DELTA_PACKAGE: Final = "io.delta:delta-spark_4.1_2.13:4.4.0"
_EXTENSION: Final = "io.delta.sql.DeltaSparkSessionExtension"
_CATALOGUE: Final = "org.apache.spark.sql.delta.catalog.DeltaCatalog"
_SETTINGS: Final = {
    "spark.jars.packages": DELTA_PACKAGE,
    "spark.sql.extensions": _EXTENSION,
    "spark.sql.catalog.spark_catalog": _CATALOGUE,
}
CONNECTOR_HELP: Final = "configure Delta's connector in `[adapter.conf]`: " + ", ".join(
    f'`"{name}" = "{value}"`' for name, value in _SETTINGS.items()
)


def has_connector(session: Any) -> bool:
    """Whether Delta's own connector is part of a session."""
    return _EXTENSION in (session.conf.get("spark.sql.extensions", None) or "")


def open_catalogue(session: Any) -> None:
    """Make a session of ours ready to register tables. Raises AdapterUnusable when it cannot."""
    catalogue = session.conf.get("spark.sql.catalog.spark_catalog", None) or ""
    if not has_connector(session) or catalogue in ("", "builtin"):
        raise AdapterUnusable(f"`register = true` needs Delta's connector: {CONNECTOR_HELP}")
    # The connector replays a log in fifty tasks, however short it is; ours have checkpoints.
    session.conf.set("spark.databricks.delta.snapshotPartitions", "2")


def register_table(session: Any, name: tuple[str, str, str], uri: str) -> None:
    """Make the table at `uri` known by its name. Raises AdapterUnusable when another has it."""
    catalog, schema, table = map(quote_name, name)
    full = f"{catalog}.{schema}.{table}"
    shown = ".".join(name)
    try:
        if not session.catalog.tableExists(full):
            session.sql(f"CREATE SCHEMA IF NOT EXISTS {catalog}.{schema}")
            session.sql(f"CREATE TABLE IF NOT EXISTS {full} USING DELTA LOCATION {quote_text(uri)}")
        described = session.sql(f"DESCRIBE EXTENDED {full}").where("col_name = 'Location'")
        found = [str(row[1]) for row in described.collect()]
    except SPARK_ERRORS as error:
        raise AdapterUnusable(
            f"`{shown}` is built and could not be registered in Spark's catalogue:"
            f" {classify_failure(error).message}"
        ) from error
    if [_plain_path(each) for each in found] != [_plain_path(uri)]:
        raise AdapterUnusable(
            f"`{shown}` in Spark's catalogue is another table, at `{''.join(found)}`:"
            " drop it there, or leave out `register = true`"
        )


_MARK: Final = "rocky.view"
"""The property of views that are Rocky's to replace."""
_NO_VIEWS: Final = ("MISSING_CATALOG_ABILITY", "UNSUPPORTED_FEATURE.CATALOG_OPERATION")


def register_view(session: Any, name: tuple[str, str, str], sql: str) -> str | None:
    """Make a query known as a view of this name; why its catalogue holds no views, or None.

    Raises AdapterUnusable when something else has the name, or the view cannot be made.
    """
    full, shown = ".".join(map(quote_name, name)), ".".join(name)
    try:
        if session.catalog.tableExists(full):
            properties = session.sql(f"SHOW TBLPROPERTIES {full}").collect()
            if not any(row[0] == _MARK for row in properties):
                raise AdapterUnusable(
                    f"`{shown}` in Spark's catalogue is a table, or a view that Rocky did not make:"
                    " drop it there, or leave out `register = true`"
                )
        else:
            session.sql(f"CREATE SCHEMA IF NOT EXISTS {quote_name(name[0])}.{quote_name(name[1])}")
        session.sql(f"CREATE OR REPLACE VIEW {full} TBLPROPERTIES ('{_MARK}' = 'true') AS\n{sql}")
    except SPARK_ERRORS as error:
        failure = classify_failure(error)
        if (failure.condition or "").startswith(_NO_VIEWS):
            return f"the catalogue `{name[0]}` holds no views"
        raise AdapterUnusable(
            f"the view `{shown}` could not be registered in Spark's catalogue: {failure.message}"
        ) from error
    return None


def _plain_path(uri: str) -> str:
    """A place without the ways to write one: `file:/a` and `file:///a` are the same."""
    scheme, _, rest = unquote(uri).partition(":")
    return f"{scheme}:{rest.strip('/')}"


_S3_SCHEMES: Final = ("s3", "s3a")
_S3_CLIENT: Final = "org.apache.hadoop.fs.s3a.S3AFileSystem"
_S3_PACKAGE: Final = "org.apache.hadoop:hadoop-aws"


def check_object_store(session: Any, warehouse: str) -> None:
    """Raise AdapterUnusable when a classic session has no client for the warehouse's place."""
    scheme, mark, _ = warehouse.partition("://")
    if not mark or scheme not in _S3_SCHEMES or not is_classic(session):
        return
    jvm: Any = session.sparkContext._jvm  # noqa: SLF001 - nothing public tells which classes there are
    if jvm.org.apache.spark.util.Utils.classIsLoadable(_S3_CLIENT):
        return
    version = jvm.org.apache.hadoop.util.VersionInfo.getVersion()
    raise AdapterUnusable(
        f'`warehouse = "{warehouse}"` needs Hadoop\'s client for S3, which this Spark lacks:'
        f' add `"spark.jars.packages" = "{_S3_PACKAGE}:{version}"` to `[adapter.conf]`'
    )
