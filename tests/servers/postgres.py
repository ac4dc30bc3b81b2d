"""A real PostgreSQL on loopback, with a password and a database, made for one test."""

import os
import secrets
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

PASSWORD = "pg-secret-that-nobody-sees"
USER = "rocky"
_UNPRIVILEGED = "postgres"
_WAIT_SECONDS = 30


@dataclass(frozen=True)
class Postgres:
    """A server that runs."""

    port: int
    binaries: Path

    @property
    def url(self) -> str:
        return f"jdbc:postgresql://127.0.0.1:{self.port}/postgres"

    @property
    def client(self) -> list[str]:
        """The server's own client, which wants a statement; `PGPASSWORD` holds the password."""
        return [
            *(str(self.binaries / "psql"), "-h", "127.0.0.1", "-p", str(self.port)),
            *("-U", USER, "-d", "postgres", "-v", "ON_ERROR_STOP=1", "-qAt", "-c"),
        ]

    def run(self, sql: str) -> str:
        command, env = [*self.client, sql], {**os.environ, "PGPASSWORD": PASSWORD}
        return subprocess.run(command, check=True, capture_output=True, text=True, env=env).stdout


@contextmanager
def postgres_server() -> Iterator[Postgres]:
    """A server; the test is skipped where PostgreSQL is not installed."""
    binaries = _binaries()
    # PostgreSQL refuses to run as root, and its user has to reach the folder.
    owner = _UNPRIVILEGED if os.getuid() == 0 else None
    folder = Path(tempfile.mkdtemp(prefix="rocky-postgres-"))
    try:
        secret = folder / "password"
        secret.write_text(PASSWORD)
        if owner is not None:
            shutil.chown(folder, owner)
            shutil.chown(secret, owner)
        initialise = [
            *(str(binaries / "initdb"), "-D", str(folder / "data"), "-U", USER, "-E", "UTF8"),
            *("-A", "scram-sha-256", f"--pwfile={secret}", "--no-sync", "--locale=C"),
        ]
        subprocess.run(initialise, check=True, capture_output=True, user=owner, cwd=folder)
        with _running(binaries, folder, owner) as server:
            yield server
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _running(binaries: Path, folder: Path, owner: str | None) -> Iterator[Postgres]:
    port = _free_port()
    command = [
        *(str(binaries / "postgres"), "-D", str(folder / "data"), "-p", str(port)),
        *("-c", "listen_addresses=127.0.0.1", "-c", f"unix_socket_directories={folder}"),
        *("-c", "fsync=off"),
    ]
    with (folder / f"log-{secrets.token_hex(4)}").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, user=owner, cwd=folder)
        try:
            server = Postgres(port, binaries)
            _wait(server, process)
            yield server
        finally:
            process.terminate()
            process.wait(_WAIT_SECONDS)


def _wait(server: Postgres, process: "subprocess.Popen[bytes]") -> None:
    until = time.monotonic() + _WAIT_SECONDS
    while process.poll() is None and time.monotonic() < until:
        try:
            server.run("SELECT 1")
        except subprocess.CalledProcessError:
            time.sleep(0.05)
        else:
            return
    raise RuntimeError("PostgreSQL did not start")


def _binaries() -> Path:
    """The folder of the newest server."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if found:
        return found[-1].parent
    on_path = shutil.which("initdb")
    if on_path is None:
        pytest.skip("needs PostgreSQL: as root, `apt-get install postgresql`")
    return Path(on_path).parent


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
