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
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Final, Literal
from urllib.parse import urlsplit

from pyspark.errors import PySparkException
from pyspark.logger import PySparkLogger
from pyspark.sql import SparkSession

from rocky.errors import AdapterUnusable, SparkUnavailable
from rocky.language.functions.catalogue import SPARK_VERSION
from rocky.spark.deadline import DeadlinePassed, within
from rocky.spark.failures import as_unseen, classify_failure
from rocky.spark.interface import Failure, FailureKind
from rocky.spark.jvm import Jvm
from rocky.spark.jvm_end import JvmEnd
from rocky.spark.settings import (
    OF_A_SESSION,
    RECORDED,
    check_conf,
    explicit_settings,
    process_environment,
    session_settings,
    set_variable,
)

CONNECT_PORT: Final = 15002
_ADDRESS: Final = ("master", "remote")
"""Where an address is written; a project has one of the two."""
_SOCKET_SECONDS: Final = 15
_NAME_SECONDS: Final = 30
"""How long a look at an address may take, the lookup of its name included."""
_SERVER_SECONDS: Final = 60
"""How long a server that was reached may take to greet us."""
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


def silent_master(master: str, output: str) -> SparkUnavailable | None:
    """What to say of a Spark that gave up because what listens there is no master; else None."""
    # What it raises by then is about something else.
    if "All masters are unresponsive" not in output:
        return None
    return SparkUnavailable(
        f"nothing at `{master}` answers as a Spark master",
        settings=("master",),
        advice="check the address: the port is the master's own (7077), not that of its page",
        output=output,
    )


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
        within(_NAME_SECONDS, lambda: _try_socket(host, port))
    except socket.gaierror as failure:
        raise SparkUnavailable(
            f"`{host}` is not a known host: check the address of {what}", settings=_ADDRESS
        ) from failure
    except ConnectionRefusedError as failure:
        raise SparkUnavailable(
            f"nothing listens at `{host}:{port}`: start {what} there or correct the address",
            settings=_ADDRESS,
        ) from failure
    except OSError as failure:
        reason = failure.strerror or str(failure) or "no answer"
        raise SparkUnavailable(
            f"`{host}:{port}` cannot be reached ({reason}): check the address of {what}",
            settings=_ADDRESS,
        ) from failure


def _try_socket(host: str, port: int) -> None:
    socket.create_connection((host, port), timeout=_SOCKET_SECONDS).close()


Kind = Literal["local", "cluster", "connect"]
_HADOOP: Final = "spark.hadoop."
_LOGGERS: Final = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
_BRIDGE: Final = ("py4j/java_gateway.py", "py4j/clientserver.py")


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
    jvm: Jvm | None = None

    def explain(self, failure: BaseException) -> Failure:
        """What a failure on this connection means; how a Spark of our own ended helps.

        A server that was lost is not waited for again, whatever it is still asked.
        """
        found = classify_failure(failure)
        if found.kind is FailureKind.MISSING_FILE and self.kind != "local":
            return as_unseen(found)
        if found.kind not in (FailureKind.CONNECTION_LOST, FailureKind.OUT_OF_MEMORY):
            return found
        if found.kind is FailureKind.CONNECTION_LOST and self.kind == "connect":
            _set_few_retries(self.session)
        end = self.ending(wait=True)
        if end is None:
            return found
        kind = FailureKind.OUT_OF_MEMORY if end.out_of_memory else FailureKind.CONNECTION_LOST
        return Failure(kind, end.message, found.condition)

    def ending(self, *, wait: bool = False) -> JvmEnd | None:
        """How a Spark of our own ended; None while it runs, and for one of others.

        One whose connection is lost may take a moment to be gone: `wait` for it.
        """
        return None if self.jvm is None else self.jvm.ending(wait=wait)

    @property
    def output(self) -> str:
        """What a Spark of our own has printed."""
        return "" if self.jvm is None else self.jvm.output

    def close(self) -> None:
        """Stop what was started for this connection; a second call does nothing."""
        self.stop()


def adopt_session(session: Any, conf: Mapping[str, str] | None = None) -> Connection:
    """A connection through the caller's own session, classic or Connect, which stays as it is.

    Raises SparkUnavailable for another version of Spark and for one that was stopped,
    AdapterUnusable for a setting of `conf` that cannot be changed any more.
    """
    conf = conf or {}
    check_conf(conf)
    _check_session(session)
    if is_classic(session):
        own: Any = SparkSession(session.sparkContext, session._jsparkSession.cloneSession())  # noqa: SLF001
        apply_conf(own, conf)
        return connection_of(own, kind_of(session.sparkContext.master), _stop_nothing)
    own = session.cloneSession()
    own.release_session_on_close = True
    apply_conf(own, conf)
    return connection_of(own, "connect", own.stop)


def _check_session(session: Any) -> None:
    """Raises SparkUnavailable for one that was stopped since, or is of another version."""
    context = session.sparkContext if is_classic(session) else None
    if context is not None and (context._jsc is None or context._jsc.sc().isStopped()):  # noqa: SLF001
        raise SparkUnavailable(
            "the session that was handed in was stopped; open the project with one that runs"
        )
    check_version(session.version, "the session that was handed in")


def borrow_session(session: Any) -> Connection:
    """The caller's own session itself, to which nothing is done. Raises SparkUnavailable."""
    _check_session(session)
    kind = kind_of(session.sparkContext.master) if is_classic(session) else "connect"
    return connection_of(session, kind, _stop_nothing)


def connection_of(
    session: Any, kind: Kind, stop: Callable[[], None], jvm: Jvm | None = None
) -> Connection:
    """A connection whose facts are what the session says."""
    silence_refusals()
    settings = {name: str(session.conf.get(name)) for name in RECORDED}
    java = None
    if is_classic(session):
        java = session.sparkContext._jvm.System.getProperty("java.version")  # noqa: SLF001
    facts = SparkFacts(session.version, java, settings, explicit_settings(session))
    return Connection(session, kind, facts, stop, jvm)


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
                " Spark is started, or leave it out of `[adapter.conf]`",
                settings=(name,),
            ) from refusal


def _running_names(settings: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Settings under the names a running session takes: Hadoop's have a prefix only at a start."""
    for name, value in settings.items():
        yield name, value
        if name.startswith(_HADOOP):
            yield name.removeprefix(_HADOOP), value


def silence_refusals() -> None:
    """Keep refused queries and lost connections off standard error, where their stacks go.

    Both are raised as well, and told by whoever asked.
    """
    for name in _LOGGERS:
        PySparkLogger.getLogger(name).setLevel(logging.CRITICAL + 1)
    logging.getLogger().addFilter(_is_of_others)


def _is_of_others(record: logging.LogRecord) -> bool:
    """Whether a record of the root logger is of others than the bridge to the JVM."""
    return not record.pathname.endswith(_BRIDGE)


def check_version(version: str, where: str, hint: str = "") -> None:
    """Raise SparkUnavailable unless a Spark is of the version that the compiler speaks of."""
    if not version.startswith(f"{SPARK_VERSION}."):
        raise SparkUnavailable(
            f"{where} is Spark {version}, and Rocky needs Spark {SPARK_VERSION}{hint}"
        )


def is_classic(session: Any) -> bool:
    return isinstance(session, SparkSession)


def kind_of(master: str) -> Kind:
    """Where the tasks of a master run. `local-cluster` has executors of its own."""
    return "local" if master == "local" or master.startswith("local[") else "cluster"


def _stop_nothing() -> None:
    """The caller's Spark is the caller's to stop."""


# The client would try again for ten minutes before it says that a server does not answer.
_FEW_RETRIES: Final = 2


def open_remote(remote: str, conf: Mapping[str, str], environment: Mapping[str, str]) -> Connection:
    """A connection to a Spark Connect server. Raises SparkUnavailable, AdapterUnusable."""
    sessions, _ = _client_modules()
    check_remote(remote, environment)
    try:
        session: Any = sessions.SparkSession(connection=remote)
    except PySparkException as failure:
        raise AdapterUnusable(f'`remote = "{remote}"`: {_first_line(failure)}') from failure
    usual = session.client.get_retry_policies()
    _set_few_retries(session)
    try:
        # A server that takes the call and says nothing is waited for without end.
        version = within(_SERVER_SECONDS, lambda: session.version)
        check_version(version, f"the server at `{remote}`")
        session.client.set_retry_policies(usual)
        apply_conf(session, conf)
        return connection_of(session, "connect", session.stop)
    except (PySparkException, DeadlinePassed) as failure:
        _abandon(session)
        raise SparkUnavailable(
            f"the server at `{_host_of(remote)}` does not answer as Spark Connect:"
            f" {classify_failure(failure).message}",
            settings=("remote",),
            advice="check the address, and that Spark Connect runs there",
        ) from failure
    except (SparkUnavailable, AdapterUnusable):
        session.stop()
        raise


def _set_few_retries(session: Any) -> None:
    _, retries = _client_modules()
    session.client.set_retry_policies([retries.DefaultPolicy(max_retries=_FEW_RETRIES)])


def _host_of(remote: str) -> str:
    """The host and the port: what follows may hold a token."""
    parts = urlsplit(remote)
    return f"{parts.hostname}:{parts.port or CONNECT_PORT}"


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
    with suppress(DeadlinePassed):
        within(_SOCKET_SECONDS, session.stop)


def _first_line(failure: BaseException) -> str:
    return next(iter(str(failure).strip().splitlines()), type(failure).__name__).strip()


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
