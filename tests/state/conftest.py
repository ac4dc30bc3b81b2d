"""Servers for the tests of remote state: started once, and never used under one name twice."""

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from rocky.store.location import locate
from rocky.store.objects import Objects, open_objects
from tests.servers.faults import HttpFaults, TcpFaults, http_faults, tcp_faults
from tests.servers.s3 import BUCKET, s3_environment, s3_server
from tests.servers.valkey import PASSWORD, valkey_server


@pytest.fixture(scope="session")
def s3_address() -> Iterator[str]:
    with s3_server() as address:
        yield address


@pytest.fixture(scope="session")
def valkey_port(tmp_path_factory) -> Iterator[int]:
    folder: Path = tmp_path_factory.mktemp("valkey")
    with valkey_server(folder, "--requirepass", PASSWORD) as port:
        yield port


@pytest.fixture
def s3(s3_address) -> Iterator[HttpFaults]:
    """The bucket's server, which can be made to fail."""
    with http_faults(s3_address) as faults:
        yield faults


@pytest.fixture
def valkey(valkey_port) -> Iterator[TcpFaults]:
    """The Valkey server, which can be made to fail."""
    with tcp_faults(valkey_port) as faults:
        yield faults


@pytest.fixture
def prefix() -> str:
    return uuid.uuid4().hex


@pytest.fixture
def bucket(s3_address, prefix) -> Objects:
    """What lies in the bucket below the prefix, past all that can be made to fail."""
    return open_objects(locate(f"s3://{BUCKET}/{prefix}", Path(), s3_environment(s3_address)))
