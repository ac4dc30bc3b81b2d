"""Addresses of Spark: what is in them, and whether anybody answers there.

Spark itself goes on trying for minutes. One attempt to open a socket says in a moment what is
wrong; it is not made where a proxy may stand between us and the server.
"""

import os
import socket
from collections.abc import Iterator
from typing import Final
from urllib.parse import urlsplit

from rocky.errors import AdapterUnusable, SparkUnavailable

CONNECT_PORT: Final = 15002
_SECONDS: Final = 15
_PROXIES: Final = ("grpc_proxy", "https_proxy", "http_proxy", "HTTPS_PROXY", "HTTP_PROXY")


def check_remote(remote: str) -> None:
    """Raise AdapterUnusable for what is no Connect address, SparkUnavailable if none answers."""
    parts = urlsplit(remote)
    if parts.scheme != "sc" or not parts.hostname:
        raise AdapterUnusable(
            f'`remote = "{remote}"` is not an address of Spark Connect: write `sc://host:port`'
        )
    if not any(os.environ.get(name) for name in _PROXIES):
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
        socket.create_connection((host, port), timeout=_SECONDS).close()
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
