"""A connection: a Spark to run on, whoever started it, here or on a Spark Connect server.

The session of a connection is always one of Rocky's own. A session that was handed in is cloned:
the caller's settings and temporary views are seen, and what Rocky sets or makes is not seen by the
caller. `close` stops what Rocky started and nothing else.

pyspark's Connect client needs packages that plain pyspark does not bring, so it is imported when a
`remote` is asked for. Spark itself goes on trying for minutes when nobody answers; one attempt to
open a socket says in a moment what is wrong, and is not made where a proxy may stand in between.

Whose columns `pyspark.sql.functions` makes, the classic API's or Connect's, pyspark asks the
environment of the whole process (`function_mode`): a process cannot run on both at one moment.
"""

import logging
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any, Final, Literal
from urllib.parse import urlsplit

from pyspark.errors import PySparkException
from pyspark.errors import utils as pyspark_errors
from pyspark.logger import PySparkLogger
from pyspark.sql import SparkSession

from rocky.errors import AdapterUnusable, SparkUnavailable
from rocky.language.functions.catalogue import SPARK_VERSION
from rocky.spark.failures import classify_failure
from rocky.spark.interface import Failure
from rocky.spark.settings import (
    OF_A_SESSION,
    RECORDED,
    check_conf,
    process_environment,
    session_settings,
    set_variable,
)

CONNECT_PORT: Final = 15002
_SOCKET_SECONDS: Final = 15
_PROXIES: Final = ("grpc_proxy", "https_proxy", "http_proxy", "HTTPS_PROXY", "HTTP_PROXY")


def check_remote(remote: str, environment: Mapping[str, str]) -> None:
    """Raise AdapterUnusable for what is no Connect address, SparkUnavailable if none answers."""
    parts = urlsplit(remote)
    if parts.scheme != "sc" or not parts.hostname:
        raise AdapterUnusable(
            f'`remote = "{remote}"` is not an address of Spark Connect: write `sc://host:port`'
        )
    if not any(environment.get(name) for name in _PROXIES):
        check_reachable(parts.hostname, parts.port or CONNECT_PORT, "Spark Connect")


def check_master(master: str) -> None:
    """Raise SparkUnavailable when a standalone master cannot be reached."""
    failures = []
    for host, port in _masters(master):
        try:
            check_reachable(host, port, "a Spark master")
        except SparkUnavailable as failure:
            failures.append(failure)
        else:
            # With several masters, one that answers is enough: the others may be standing by.
            return
    if failures:
        raise failures[0]


def _masters(master: str) -> Iterator[tuple[str, int]]:
    """The hosts and ports of `spark://one:7077,two:7077`; nothing for other kinds of master."""
    if not master.startswith("spark://"):
        return
    for part in master.removeprefix("spark://").split(","):
        address = urlsplit(f"spark://{part}")
        if not address.hostname or not address.port:
            raise AdapterUnusable(f'`master = "{master}"` lacks a port: write `spark://host:7077`')
        yield address.hostname, address.port


def check_reachable(host: str, port: int, what: str) -> None:
    """Raise SparkUnavailable unless something listens there."""
    try:
        socket.create_connection((host, port), timeout=_SOCKET_SECONDS).close()
    except socket.gaierror as failure:
        raise SparkUnavailable(
            f"`{host}` is not a known host: check the address of {what}"
        ) from failure
    except ConnectionRefusedError as failure:
        raise SparkUnavailable(
            f"nothing listens at `{host}:{port}`: start {what} there or correct the address"
        ) from failure
    except OSError as failure:
        reason = failure.strerror or str(failure) or "no answer"
        raise SparkUnavailable(
            f"`{host}:{port}` cannot be reached ({reason}): check the address of {what}"
        ) from failure


Kind = Literal["local", "cluster", "connect"]
_HADOOP: Final = "spark.hadoop."
_EXPLICIT: Final = ("spark.sql.", "spark.jars", "spark.submit.pyFiles")
_LOG_TAIL_LINES: Final = 64 * 1024


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
        return classify_failure(failure, _log_tail(self.log))

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
        return connection_of(own, kind_of(session.sparkContext.master), _stop_nothing)
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
    """Keep failed queries off standard error, where pyspark writes their traces."""
    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        PySparkLogger.getLogger(name).setLevel(logging.CRITICAL + 1)


def check_version(version: str, where: str, hint: str = "") -> None:
    """Raise SparkUnavailable unless a Spark is of the version that the compiler speaks of."""
    if not version.startswith(f"{SPARK_VERSION}."):
        raise SparkUnavailable(
            f"{where} is Spark {version}, and Rocky needs Spark {SPARK_VERSION}{hint}"
        )


def is_classic(session: Any) -> bool:
    return isinstance(session, SparkSession)


_NOTED: Final = "_enable_debugging_cache"


@contextmanager
def active_session(session: Any) -> Iterator[None]:
    """Let a session be the active one of this thread inside, as it is in a script of its own.

    pyspark notes which line made an expression only where a session is active, and remembers that
    there was none the first time it looked.
    """
    if not is_classic(session):
        yield
        return
    sessions = session._jvm.SparkSession  # noqa: SLF001 - the public API sets none
    before = sessions.getActiveSession()
    sessions.setActiveSession(session._jsparkSession)  # noqa: SLF001
    if getattr(pyspark_errors, _NOTED, True) is False:
        setattr(pyspark_errors, _NOTED, None)
    try:
        yield
    finally:
        if before.isDefined():
            sessions.setActiveSession(before.get())
        else:
            sessions.clearActiveSession()


def kind_of(master: str) -> Kind:
    """Where the tasks of a master run. `local-cluster` has executors of its own."""
    return "local" if master == "local" or master.startswith("local[") else "cluster"


def _log_tail(log: Path | None) -> str:
    """The end of a log: a JVM that ends says why in its last lines."""
    if log is None or not log.is_file():
        return ""
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - _LOG_TAIL_LINES))
        return file.read().decode(errors="replace")


def _stop_nothing() -> None:
    """The caller's Spark is the caller's to stop."""


# The client would try again for ten minutes before it says that a server does not answer.
_FIRST_CALL_RETRIES: Final = 2


def open_remote(remote: str, conf: Mapping[str, str], environment: Mapping[str, str]) -> Connection:
    """A connection to a Spark Connect server. Raises SparkUnavailable, AdapterUnusable."""
    sessions, retries = _client_modules()
    check_remote(remote, environment)
    try:
        session: Any = sessions.SparkSession(connection=remote)
    except PySparkException as failure:
        raise AdapterUnusable(f'`remote = "{remote}"`: {_first_line(failure)}') from failure
    usual = session.client.get_retry_policies()
    session.client.set_retry_policies([retries.DefaultPolicy(max_retries=_FIRST_CALL_RETRIES)])
    try:
        version = session.version
        check_version(version, f"the server at `{remote}`")
        session.client.set_retry_policies(usual)
        apply_conf(session, conf)
        return connection_of(session, "connect", session.stop)
    except PySparkException as failure:
        _abandon(session)
        raise SparkUnavailable(
            f"the server at `{remote}` does not answer as Spark Connect: {_first_line(failure)}"
        ) from failure
    except (SparkUnavailable, AdapterUnusable):
        session.stop()
        raise


def _client_modules() -> tuple[Any, Any]:
    try:
        # An extra: not everybody has the client's packages.
        from pyspark.sql.connect import session as sessions  # noqa: PLC0415
        from pyspark.sql.connect.client import retries  # noqa: PLC0415
    except ImportError as missing:
        raise SparkUnavailable(
            "`remote` needs the packages of Spark Connect: pip install 'rocky-spark[connect]'"
            f" ({_first_line(missing)})"
        ) from missing
    return sessions, retries


def _abandon(session: Any) -> None:
    """Close a client whose server does not answer: releasing the session would wait for it."""
    session.release_session_on_close = False
    session.stop()


def _first_line(failure: BaseException) -> str:
    lines = str(failure).strip().splitlines()
    return lines[0].strip() if lines else type(failure).__name__


_MODE: Final = "SPARK_CONNECT_MODE_ENABLED"
_mode_lock: Final = Lock()
_mode_users: Final[list[str | None]] = []
"""One entry for each connection in use; the first remembers what the environment said before."""


@contextmanager
def function_mode(*, connect: bool) -> Iterator[None]:
    """Let pyspark's functions fit a kind of session inside, and be as they were after."""
    with _mode_lock:
        before = process_environment().get(_MODE)
        _mode_users.append(_mode_users[0] if _mode_users else before)
        set_variable(_MODE, "1" if connect else None)
    try:
        yield
    finally:
        with _mode_lock:
            before = _mode_users.pop()
            if not _mode_users:
                set_variable(_MODE, before)
