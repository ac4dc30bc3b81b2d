"""Connections: a Spark to run on, whoever started it.

The session of a connection is always one of Rocky's own. A session that was handed in is cloned:
the caller's settings and temporary views are seen, and what Rocky sets or makes is not seen by
the caller. `close` stops what Rocky started and nothing else.
"""

import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from pyspark.errors import PySparkException
from pyspark.logger import PySparkLogger
from pyspark.sql import SparkSession

from rocky.catalog.functions import SPARK_VERSION
from rocky.errors import AdapterUnusable, SparkUnavailable
from rocky.spark.failure_kinds import Failure
from rocky.spark.failures import classify_failure
from rocky.spark.settings import OF_A_SESSION, RECORDED, check_conf, session_settings

Kind = Literal["local", "cluster", "connect"]
_HADOOP: Final = "spark.hadoop."
_EXPLICIT: Final = ("spark.sql.", "spark.jars", "spark.submit.pyFiles")
_TAIL: Final = 64 * 1024


@dataclass(frozen=True, slots=True)
class SparkFacts:
    """What can change a result: Spark's version, and settings as they really are in force.

    `java_version` is None where it cannot be asked: on Spark Connect. `explicit` are settings that
    somebody has set, whatever they mean.
    """

    spark_version: str
    java_version: str | None
    settings: Mapping[str, str]
    explicit: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class Connection:
    """A session to run on. `local` means that the driver's machine does all the work."""

    session: Any
    kind: Kind
    facts: SparkFacts
    stop: Callable[[], None]
    log: Path | None = None

    def explain(self, failure: BaseException) -> Failure:
        """What a failure on this connection means; what a Spark of our own printed helps."""
        return classify_failure(failure, _tail(self.log))

    def close(self) -> None:
        """Stop what was started for this connection; a second call does nothing."""
        self.stop()


def adopt_session(session: Any, conf: Mapping[str, str] | None = None) -> Connection:
    """A connection through the caller's own session, classic or Connect, which stays as it is.

    Raises SparkUnavailable for another version of Spark, AdapterUnusable for a setting of `conf`
    that cannot be changed any more.
    """
    conf = conf or {}
    check_conf(conf)
    check_version(session.version, "the session that was handed in")
    if is_classic(session):
        own: Any = SparkSession(session.sparkContext, session._jsparkSession.cloneSession())  # noqa: SLF001
        apply_conf(own, conf)
        return connection_of(own, kind_of(session.sparkContext.master), _nothing)
    own = session.cloneSession()
    own.release_session_on_close = True
    apply_conf(own, conf)
    return connection_of(own, "connect", own.stop)


def connection_of(
    session: Any, kind: Kind, stop: Callable[[], None], log: Path | None = None
) -> Connection:
    """A connection whose facts are what the session says."""
    silence_refusals()
    settings = {name: str(session.conf.get(name)) for name in RECORDED}
    java = None
    if is_classic(session):
        java = session.sparkContext._jvm.System.getProperty("java.version")  # noqa: SLF001
    explicit = {
        name: value for name, value in session.conf.getAll.items() if name.startswith(_EXPLICIT)
    }
    facts = SparkFacts(session.version, java, settings, explicit)
    return Connection(session, kind, facts, stop, log)


def apply_conf(session: Any, conf: Mapping[str, str]) -> None:
    """Set what is pinned and what the project asks for on a session that is already running.

    Raises AdapterUnusable for a setting of the project that this session cannot change.
    """
    pinned = {setting.name: setting for setting in OF_A_SESSION}
    for name, value in _running_names(session_settings(conf)):
        if session.conf.get(name, None) == value:
            continue
        try:
            session.conf.set(name, value)
        except PySparkException as refusal:
            if name in pinned and not pinned[name].held:
                continue
            raise AdapterUnusable(
                f"`{name}` cannot be set on a Spark that is already running: set it where that"
                " Spark is started, or leave it out of `[adapter.conf]`"
            ) from refusal


def _running_names(settings: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Settings under the names a running session takes: Hadoop's have a prefix only at a start."""
    for name, value in settings.items():
        yield name, value
        if name.startswith(_HADOOP):
            yield name.removeprefix(_HADOOP), value


def silence_refusals() -> None:
    """Keep refused queries off standard error, where pyspark writes them: they are answers."""
    PySparkLogger.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL + 1)


def check_version(version: str, where: str, hint: str = "") -> None:
    """Raise SparkUnavailable unless a Spark is of the version that the compiler speaks of."""
    if not version.startswith(f"{SPARK_VERSION}."):
        raise SparkUnavailable(
            f"{where} is Spark {version}, and Rocky speaks of Spark {SPARK_VERSION}{hint}"
        )


def is_classic(session: Any) -> bool:
    return isinstance(session, SparkSession)


def kind_of(master: str) -> Kind:
    """Where the tasks of a master run. `local-cluster` has executors of its own."""
    return "local" if master == "local" or master.startswith("local[") else "cluster"


def _tail(log: Path | None) -> str:
    """The end of a log: a JVM that ends says why in its last lines."""
    if log is None or not log.is_file():
        return ""
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - _TAIL))
        return file.read().decode(errors="replace")


def _nothing() -> None:
    """The caller's Spark is the caller's to stop."""
