"""Remotes: sessions on a Spark Connect server.

pyspark's client needs packages that plain pyspark does not bring, so it is imported when a
`remote` is asked for. A client is made without becoming pyspark's default session: that one is
the caller's.
"""

from collections.abc import Mapping
from importlib import import_module
from typing import Any, Final

from pyspark.errors import PySparkException

from rocky.errors import AdapterUnusable, SparkUnavailable
from rocky.spark.addresses import check_remote
from rocky.spark.connections import Connection, apply_conf, check_version, connection_of

# The client would try again for ten minutes before it says that a server does not answer.
_FIRST_CALL_RETRIES: Final = 2


def open_remote(remote: str, conf: Mapping[str, str]) -> Connection:
    """A connection to a Spark Connect server. Raises SparkUnavailable, AdapterUnusable."""
    sessions, retries = _client_modules()
    check_remote(remote)
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
        sessions = import_module("pyspark.sql.connect.session")
        retries = import_module("pyspark.sql.connect.client.retries")
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
