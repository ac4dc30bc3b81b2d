"""Servers that keep a state for several machines, started once."""

import uuid
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.servers.faults import http_faults
from tests.servers.s3 import s3_environment, s3_server
from tests.servers.valkey import PASSWORD, valkey_server

pytest.register_assert_rewrite("tests.pipelines.histories.replications")


@pytest.fixture(scope="session")
def s3_settings() -> Iterator[dict[str, str]]:
    # The proxy makes one step of a condition and a put, as a real server does.
    with s3_server() as address, http_faults(address) as server:
        yield s3_environment(server.url)


@pytest.fixture(scope="session")
def valkey_settings(tmp_path_factory) -> Iterator[dict[str, str]]:
    folder: Path = tmp_path_factory.mktemp("valkey")
    with valkey_server(folder, "--requirepass", PASSWORD) as port:
        yield {"VALKEY_URL": f"redis://:{quote(PASSWORD, safe='')}@127.0.0.1:{port}/0"}


@pytest.fixture
def prefix() -> str:
    return uuid.uuid4().hex
