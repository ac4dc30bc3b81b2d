"""A real Valkey or Redis server on loopback, on a free port and with nothing kept on disk."""

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

PASSWORD = "valkey-secret/that nobody sees"
_SECONDS = 20


def server_binary() -> str | None:
    return shutil.which("valkey-server") or shutil.which("redis-server")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def valkey_server(folder: Path, *options: str) -> Iterator[int]:
    """The port of a server that has begun to answer; skips where there is no server."""
    binary = server_binary()
    if binary is None:
        pytest.skip("needs a server: apt-get install redis-server")
    port = free_port()
    command = [binary, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly"]
    process = subprocess.Popen(
        [*command, "no", "--dir", str(folder), *options],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        deadline = time.monotonic() + _SECONDS
        while not _answers(port):
            assert process.poll() is None, "the server ended at once"
            assert time.monotonic() < deadline, "the server did not begin to answer"
            time.sleep(0.02)
        yield port
    finally:
        process.kill()
        process.wait(_SECONDS)


def _answers(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1) as connection:
            connection.sendall(b"PING\r\n")
            return bool(connection.recv(64))
    except OSError:
        return False
